// Rows of the factors that have the columns of the row before, as in dense blocks and where points have several
// unknowns (i-nodes): where such a row needs another of them, what it loses stands at known places.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/dispatch.hpp"
#include "device/gpu_warp.hpp"
#include "ilu_gpu_pattern.hpp"

namespace kkc::ilu::gpu_parts {

struct Inodes {
  Buffer bits;  // one for each row
  int64_t count = 0;
};

/// Of lu, rows that have the columns of the row before; of cholesky, these and their own. A warp a row.
template <Form form, class I, class O>
struct MarkInodes {
  static constexpr int threads = 256, rows_of_block = threads / 32;
  const O* offsets;
  const I* indices;
  int64_t rows;
  uint8_t* bits;  // a byte for each block
  uint32_t* count;

  __device__ void operator()() const {
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) / 32;
    const uint32_t bit = is_alike(int64_t{blockIdx.x} * rows_of_block + warp, lane) ? 1u << warp : 0;
    __shared__ uint32_t all;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    if (lane == 0 && bit != 0) atomicOr(&all, bit);
    __syncthreads();
    if (threadIdx.x != 0) return;
    bits[blockIdx.x] = static_cast<uint8_t>(all);
    if (all != 0) atomicAdd(count, static_cast<uint32_t>(__popc(all)));
  }

 private:
  __device__ bool is_alike(int64_t i, int lane) const {
    if (i == 0 || i >= rows) return false;
    const O before = offsets[i - 1], begin = offsets[i], end = offsets[i + 1], same = begin - before;
    if (end - begin != same + (form == Form::lu ? 0 : 1)) return false;
    bool alike = true;
    for (O e = static_cast<O>(lane); e < same && alike; e += 32) alike = indices[before + e] == indices[begin + e];
    return gpu::ballot32(!alike) == 0;
  }
};

/// What a row loses of one that it needs, in the mean: of lu U, of cholesky L.
template <Form form>
int64_t mean_part(const Desc& desc) {
  return desc.factors.nnz / (form == Form::lu ? 2 : 1) / desc.A.rows;
}

/// Where rows are so long, gpu_sync_free takes several entries of a lane at once.
inline constexpr int64_t wide_part = 32;

template <Form form>
std::shared_ptr<const Inodes> inodes_of(const Desc& desc, Queue& queue) {
  if (desc.found_inodes == nullptr)
    dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto pair) {
      using I = typename decltype(pair)::ordinal;
      using O = typename decltype(pair)::offset;
      using Mark = MarkInodes<form, I, O>;
      auto rows = std::make_shared<Inodes>();
      const unsigned words = gpu::blocks_for(desc.A.rows, 32);
      rows->bits = Buffer(Memory::in_order(desc.memory), Space::device, (words + 1) / 2 * 8);
      const Buffer count(Memory::in_order(desc.memory), Space::device, 8);
      gpu::clear_words(queue, count.data(), count.bytes());
      gpu::launch(queue, words * (32 / Mark::rows_of_block), Mark::threads, 0,
                  Mark{desc.factors.offsets->template as<O>(), desc.factors.indices->template as<I>(), desc.A.rows,
                       rows->bits.template as<uint8_t>(), count.as<uint32_t>()});
      rows->count = gpu::read_back<uint32_t>(queue, count.data());
      desc.found_inodes = std::move(rows);
    });
  return std::static_pointer_cast<const Inodes>(desc.found_inodes);
}

/// What speaks against programs and tables: long rows that are mostly alike are factored faster without, by plans that
/// take a fraction of the time.
template <Form form>
std::string inodes_unsupported(const Desc& desc, Queue& queue) {
  if (mean_part<form>(desc) < wide_part) return {};
  const int64_t alike = inodes_of<form>(desc, queue)->count;
  if (8 * alike < 7 * desc.A.rows) return {};
  return cat("takes long rows of which less than seven of eight have the columns of the row before, ", alike, " of ",
             desc.A.rows, " have");
}

}  // namespace kkc::ilu::gpu_parts
