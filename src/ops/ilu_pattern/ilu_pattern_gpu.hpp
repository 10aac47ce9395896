// ilu_pattern, GPUs: A's own pattern, or its lower triangle, is found on the device; levels of fill and missing
// diagonal entries are found on the host, from a copy of the pattern with sorted rows.
#pragma once

#include <vector>

#include "core/dispatch.hpp"
#include "device/gpu_scan.hpp"
#include "ops/ilu_pattern/ilu_pattern_fill.hpp"
#include "ops/sort_rows/sort_rows.hpp"

namespace kkc::ilu_pattern {
namespace gpu_parts {

/// Where each row's diagonal entry lies or would lie; the first row that lacks it.
template <class I, class O>
struct FindDiagonal {
  static constexpr int threads = 256;
  const O* offsets;
  const I* indices;
  int64_t rows;
  O* diagonal;
  unsigned long long* missing;

  __device__ void operator()() const {
    const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= rows) return;
    O low = offsets[i], high = offsets[i + 1];
    const O end = high;
    while (low < high) {
      const O middle = low + (high - low) / 2;
      if (indices[middle] < i)
        low = middle + 1;
      else
        high = middle;
    }
    diagonal[i] = low;
    if (low == end || indices[low] != i) atomicMin(missing, static_cast<unsigned long long>(i));
  }
};

/// Entries of a row's lower triangle.
template <class O>
struct CountLower {
  static constexpr int threads = 256;
  const O *offsets, *diagonal;
  int64_t rows;
  O* counts;

  __device__ void operator()() const {
    const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < rows) counts[i] = diagonal[i] - offsets[i] + 1;
  }
};

/// The lower triangle's columns and sources; a row is dealt to `lanes` neighbouring threads.
template <class I, class O>
struct CopyLower {
  static constexpr int threads = 256, lanes = 8;
  const O* offsets;
  const I* indices;
  int64_t rows;
  const O* to;
  I* columns;
  O *sources, *diagonal;

  __device__ void operator()() const {
    const int64_t i = (int64_t{blockIdx.x} * threads + threadIdx.x) / lanes;
    if (i >= rows) return;
    const O first = to[i], count = to[i + 1] - first, from = offsets[i];
    for (O k = threadIdx.x % lanes; k < count; k += lanes) {
      columns[first + k] = indices[from + k];
      sources[first + k] = from + k;
    }
    if (threadIdx.x % lanes == 0) diagonal[i] = first + count - 1;
  }
};

/// Rows one after another.
struct OneThread {
  static int64_t parts() { return 1; }
  template <class F>
  void operator()(int64_t count, F&& f) const {
    for (int64_t part = 0; part < count; ++part) f(part);
  }
};

template <class I, class O>
class Maker {
 public:
  Maker(const Desc& desc, Queue& queue) : desc_(desc), queue_(queue), rows_(desc.A.rows) {}

  FactorPattern make() {
    const EntryMap sorted = sort_rows::sorted_pattern(queue_, desc_.memory, desc_.A, true);
    FactorPattern made;
    made.positions = sorted.positions;
    made.starts = sorted.starts;
    const auto diagonal = array<O>(rows_);
    const int64_t missing = find_diagonal(sorted, diagonal->template as<O>());
    if (missing < rows_ && !desc_.add_missing) fail_missing(missing);
    if (missing < rows_ || desc_.level > 0) {
      fill_on_host(sorted, made);
    } else if (desc_.lower) {
      keep_lower(sorted, diagonal->template as<O>(), made);
    } else {
      made.nnz = sorted.nnz;
      made.offsets = sorted.offsets;
      made.indices = sorted.indices;
      made.diagonal = diagonal;
    }
    return made;
  }

 private:
  template <class T>
  std::shared_ptr<const Buffer> array(int64_t count) const {
    return shared_array<T>(desc_.memory, Space::device, count);
  }
  template <class To, class From>
  std::shared_ptr<const Buffer> uploaded(const std::vector<From>& from) const {
    const std::vector<To> converted(from.begin(), from.end());
    auto to = array<To>(static_cast<int64_t>(converted.size()));
    if (!converted.empty()) queue_.copy(to->data(), converted.data(), to->bytes());
    queue_.synchronize();
    return to;
  }
  template <class T>
  std::vector<T> downloaded(const void* from, int64_t count) const {
    std::vector<T> to(static_cast<size_t>(count));
    if (count > 0) queue_.copy(to.data(), from, to.size() * sizeof(T));
    queue_.synchronize();
    return to;
  }

  int64_t find_diagonal(const EntryMap& sorted, O* diagonal) const {
    const Buffer first(desc_.memory, Space::device, sizeof(unsigned long long));
    auto missing = static_cast<unsigned long long>(rows_);
    queue_.copy(first.data(), &missing, sizeof missing);
    gpu::launch_over(queue_, rows_,
                     FindDiagonal<I, O>{sorted.offsets->template as<O>(), sorted.indices->template as<I>(), rows_,
                                        diagonal, first.as<unsigned long long>()});
    queue_.copy(&missing, first.data(), sizeof missing);
    queue_.synchronize();
    return static_cast<int64_t>(missing);
  }

  void keep_lower(const EntryMap& sorted, const O* diagonal, FactorPattern& made) const {
    made.offsets = array<O>(rows_ + 1);
    O* const offsets = made.offsets->template as<O>();
    gpu::prepare_scan<O, O>(queue_);
    const Buffer scratch(desc_.memory, Space::device, std::max<size_t>(gpu::scan_scratch_bytes<O>(rows_), 1));
    gpu::launch_over(queue_, rows_, CountLower<O>{sorted.offsets->template as<O>(), diagonal, rows_, offsets});
    gpu::exclusive_scan(queue_, static_cast<const O*>(offsets), offsets, rows_, scratch.data());
    made.nnz = static_cast<int64_t>(gpu::read_back<O>(queue_, offsets + rows_));
    made.indices = array<I>(made.nnz);
    made.sources = array<O>(made.nnz);
    made.diagonal = array<O>(rows_);
    gpu::launch_over(queue_, rows_ * CopyLower<I, O>::lanes,
                     CopyLower<I, O>{sorted.offsets->template as<O>(), sorted.indices->template as<I>(), rows_, offsets,
                                     made.indices->template as<I>(), made.sources->template as<O>(),
                                     made.diagonal->template as<O>()});
    queue_.synchronize();
  }

  void fill_on_host(const EntryMap& sorted, FactorPattern& made) const {
    const auto offsets = downloaded<O>(sorted.offsets->data(), rows_ + 1);
    const auto columns = downloaded<I>(sorted.indices->data(), sorted.nnz);
    const OneThread run;
    const Builder<I, O, OneThread> builder(desc_, offsets.data(), columns.data(), run);
    std::vector<O> diagonal(static_cast<size_t>(rows_));
    static_cast<void>(builder.find_diagonal(diagonal.data()));
    const LeveledRows<I> rows = builder.build(diagonal.data());
    std::vector<O> sources(rows.columns.size());
    builder.find_sources(rows, sources.data());
    made.nnz = static_cast<int64_t>(rows.columns.size());
    made.offsets = uploaded<O>(rows.offsets);
    made.indices = uploaded<I>(rows.columns);
    made.diagonal = uploaded<O>(rows.diagonal);
    made.sources = uploaded<O>(sources);
  }

  const Desc& desc_;
  Queue& queue_;
  int64_t rows_;
};

inline FactorPattern make(const Desc& desc, Queue& queue) {
  FactorPattern made;
  dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto pair) {
    using Pair = decltype(pair);
    made = Maker<typename Pair::ordinal, typename Pair::offset>(desc, queue).make();
  });
  return made;
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu() {
  return {{"gpu"}, gpu_parts::make};
}

}  // namespace kkc::ilu_pattern
