// coo_to_csr, GPUs: entries dealt to rows by a stable radix sort, then rows sorted (ops/sort_rows).
#pragma once

#include "core/dispatch.hpp"
#include "core/error.hpp"
#include "device/gpu_bucket.hpp"
#include "device/gpu_rows.hpp"
#include "ops/coo_to_csr/coo_to_csr.hpp"
#include "ops/sort_rows/sort_rows.hpp"

namespace kkc::coo_to_csr {
namespace gpu_parts {

inline constexpr unsigned long long none = ~0ull;

struct StartBad {
  static constexpr int threads = 32;
  unsigned long long* bad;  // [2]
  __device__ void operator()() const {
    if (threadIdx.x < 2) bad[threadIdx.x] = none;
  }
};

/// target[k] = element k of a view - base; `bad` becomes the first of those outside 0..limit-1.
template <class I, class In>
struct ReadIndices {
  static constexpr int threads = 256;
  const In* from;
  int64_t stride, n, base, limit;
  I* target;
  unsigned long long* bad;

  __device__ void operator()() const {
    const int64_t k = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (k >= n) return;
    const int64_t index = from[k * stride];
    const bool outside = index < base || index - base >= limit;
    if (outside) atomicMin(bad, static_cast<unsigned long long>(k));
    target[k] = outside ? I{0} : static_cast<I>(index - base);
  }
};

template <class I>
void read_indices(Queue& queue, const DenseRef& view, int64_t base, int64_t limit, I* target, unsigned long long* bad) {
  const auto start = [&]<class In>(const In* from) {
    using Kernel = ReadIndices<I, In>;
    gpu::launch(queue, gpu::blocks_for(view.extents[0], Kernel::threads), Kernel::threads, 0,
                Kernel{from, view.strides[0], view.extents[0], base, limit, target, bad});
  };
  if (view.scalar == Scalar::i32)
    start(static_cast<const int32_t*>(view.data));
  else
    start(static_cast<const int64_t*>(view.data));
}

inline void refuse_bad(Queue& queue, const DenseRef& view, unsigned long long k, int64_t base, int64_t limit,
                       const char* argument) {
  if (k == none) return;
  const auto at = static_cast<int64_t>(k) * view.strides[0];
  int64_t value = 0;
  if (view.scalar == Scalar::i32) {
    int32_t narrow = 0;
    queue.copy(&narrow, static_cast<const int32_t*>(view.data) + at, sizeof narrow);
    queue.synchronize();
    value = narrow;
  } else {
    queue.copy(&value, static_cast<const int64_t*>(view.data) + at, sizeof value);
    queue.synchronize();
  }
  fail(KKC_STATUS_INDEX_OUT_OF_RANGE, argument, "[", k, "] is ", value, ", expected ", base, " to ", limit - 1 + base);
}

template <class I, class O>
std::unique_ptr<EntryMap> make_typed(const Desc& desc, Queue& queue) {
  const int64_t n = desc.entries;
  const auto array = [&](int64_t count, size_t bytes_each) {
    return Buffer(Memory::in_order(desc.memory), Space::device, static_cast<size_t>(count) * bytes_each);
  };
  auto places = shared_array<O>(desc.memory, Space::device, n);
  const Buffer offsets = array(desc.rows + 1, sizeof(O)), dealt = array(n, sizeof(I));
  {
    const Buffer row = array(n, sizeof(I)), col = array(n, sizeof(I)), bad = array(2, sizeof(unsigned long long));
    auto* const bad_entries = bad.as<unsigned long long>();
    gpu::launch(queue, 1, StartBad::threads, 0, StartBad{bad_entries});
    read_indices(queue, desc.row_indices, desc.base, desc.rows, row.as<I>(), bad_entries);
    read_indices(queue, desc.col_indices, desc.base, desc.cols, col.as<I>(), bad_entries + 1);
    unsigned long long found[2];
    queue.copy(found, bad_entries, sizeof found);
    queue.synchronize();
    refuse_bad(queue, desc.row_indices, found[0], desc.base, desc.rows, "row_indices");
    refuse_bad(queue, desc.col_indices, found[1], desc.base, desc.cols, "col_indices");
    gpu::bucket(queue, desc.memory, row.as<I>(), 0, desc.rows, n, offsets.as<O>(), places->template as<O>());
    gpu::pick(queue, col.as<I>(), places->template as<O>(), n, dealt.as<I>());
  }
  const CsrRef A{desc.pair, Scalar::none, 0, desc.rows, desc.cols, n, offsets.data(), dealt.data(), nullptr};
  auto map = std::make_unique<EntryMap>(sort_rows::sorted_pattern(queue, desc.memory, A, desc.add_duplicates));
  if (map->positions) {
    auto composed = shared_array<O>(desc.memory, Space::device, n);
    gpu::pick(queue, places->template as<O>(), map->positions->template as<O>(), n, composed->template as<O>());
    map->positions = std::move(composed);
  } else {
    map->positions = std::move(places);
  }
  return map;
}

inline std::unique_ptr<EntryMap> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<EntryMap> map;
  dispatch_index_pair(IndexPairs{}, desc.pair, [&](auto pair) {
    using P = decltype(pair);
    map = make_typed<typename P::ordinal, typename P::offset>(desc, queue);
  });
  return map;
}

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu() {
  return {{"gpu"}, true, gpu_parts::unsupported, gpu_parts::make};
}

}  // namespace kkc::coo_to_csr
