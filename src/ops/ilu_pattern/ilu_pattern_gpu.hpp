// ilu_pattern, GPUs: unions of rows, on the device alone.
#pragma once

#include <limits>

#include "core/dispatch.hpp"
#include "ilu_pattern_gpu_rows.hpp"
#include "ops/ilu_pattern/ilu_pattern.hpp"
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

/// sources[k]: place in A of entry k of the factors, -1 where A has none; a row is dealt to `lanes` neighbouring
/// threads.
template <class I, class O>
struct FindSources {
  static constexpr int threads = 256, lanes = 8;
  RowsView<I> A, factors;
  int64_t rows;
  O* sources;

  __device__ void operator()() const {
    const int64_t i = (int64_t{blockIdx.x} * threads + threadIdx.x) / lanes;
    if (i >= rows) return;
    for (int64_t k = factors.offsets[i] + threadIdx.x % lanes; k < factors.offsets[i + 1]; k += lanes)
      sources[k] = static_cast<O>(place_of(A.columns, A.offsets[i], A.offsets[i + 1], factors.columns[k]));
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
      fill(sorted, *diagonal, missing == rows_, made);
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
  std::shared_ptr<const Buffer> converted(const Buffer& from, int64_t count) const {
    auto to = array<To>(count);
    gpu::launch_over(queue_, count, Convert<To, From>{from.as<From>(), count, to->template as<To>()});
    return to;
  }

  int64_t find_diagonal(const EntryMap& sorted, O* diagonal) const {
    const Buffer first(Memory::in_order(desc_.memory), Space::device, sizeof(unsigned long long));
    gpu::write(queue_, first.data(), static_cast<unsigned long long>(rows_));
    gpu::launch_over(queue_, rows_,
                     FindDiagonal<I, O>{sorted.offsets->template as<O>(), sorted.indices->template as<I>(), rows_,
                                        diagonal, first.as<unsigned long long>()});
    return static_cast<int64_t>(gpu::read_back<unsigned long long>(queue_, first.data()));
  }

  void keep_lower(const EntryMap& sorted, const O* diagonal, FactorPattern& made) const {
    made.offsets = array<O>(rows_ + 1);
    O* const offsets = made.offsets->template as<O>();
    gpu::launch_over(queue_, rows_, CountLower<O>{sorted.offsets->template as<O>(), diagonal, rows_, offsets});
    made.nnz = static_cast<int64_t>(gpu::exclusive_scan_total(queue_, offsets, offsets, rows_));
    made.indices = array<I>(made.nnz);
    made.sources = array<O>(made.nnz);
    made.diagonal = array<O>(rows_);
    gpu::launch_over(queue_, rows_ * CopyLower<I, O>::lanes,
                     CopyLower<I, O>{sorted.offsets->template as<O>(), sorted.indices->template as<I>(), rows_, offsets,
                                     made.indices->template as<I>(), made.sources->template as<O>(),
                                     made.diagonal->template as<O>()});
    queue_.synchronize();
  }

  /// Missing diagonal entries, and levels of fill one after another for all rows at once (ilu_pattern_fill.hpp says why
  /// that is enough).
  void fill(const EntryMap& sorted, const Buffer& diagonal, bool has_diagonals, FactorPattern& made) const {
    const RowUnions<I> unions(queue_, desc_.memory, rows_);
    const auto refuse = [](int64_t entries) {
      if (sizeof(O) == 4)
        require(entries < std::numeric_limits<int32_t>::max(), KKC_STATUS_OVERFLOW, "the factors have ", entries,
                " entries, more than A's index pair counts");
    };
    DeviceRows<I> A;
    A.rows = rows_;
    A.nnz = sorted.nnz;
    A.offsets = converted<int64_t, O>(*sorted.offsets, rows_ + 1);
    A.diagonal = converted<int64_t, O>(diagonal, rows_);
    A.columns = sorted.indices;
    DeviceRows<I> rows = A;
    if (!has_diagonals) rows = unions.make({A.view(), {}, desc_.lower, 0}, false, refuse);
    // Without entries of the levels above `highest`, pairs reach no level above twice that plus one.
    for (int32_t level = 1, highest = 0; level <= desc_.level && level <= 2 * highest + 1; ++level) {
      DeviceRows<I> next = unions.make({rows.view(), {}, false, level}, true, refuse);
      if (next.nnz > rows.nnz) highest = level;
      rows = std::move(next);
    }
    made.nnz = rows.nnz;
    made.offsets = converted<O, int64_t>(*rows.offsets, rows_ + 1);
    made.diagonal = converted<O, int64_t>(*rows.diagonal, rows_);
    made.indices = rows.columns;
    made.sources = array<O>(rows.nnz);
    gpu::launch_over(queue_, rows_ * FindSources<I, O>::lanes,
                     FindSources<I, O>{A.view(), rows.view(), rows_, made.sources->template as<O>()});
    queue_.synchronize();
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
