// Copies on GPUs: runs by the device's copy, planes of two different orders through shared memory, anything else one
// word a thread.
#pragma once

#include <algorithm>

#include "device/gpu_launch.hpp"
#include "device/strided_for.hpp"
#include "view_copy.hpp"
#include "view_copy_gpu_kernels.hpp"
#include "view_copy_shape.hpp"

namespace kkc::view_copy {

inline constexpr int64_t short_side = 32;                      // planes with a shorter side are copied by rows
inline constexpr size_t rows_shared_bytes = size_t{52} << 10;  // of copies by rows

template <class Word>
void transpose_tiles(Queue& queue, const Plane& plane, const Outer& outer, int64_t planes, Word* to, const Word* from) {
  using Kernel = TransposeTile<Word>;
  const int64_t tiles_i = (plane.extent_i + Kernel::side_i - 1) / Kernel::side_i;
  const int64_t tiles_j = (plane.extent_j + Kernel::side_j - 1) / Kernel::side_j;
  gpu::launch(queue, gpu::blocks_for(planes * tiles_i * tiles_j, 1), Kernel::threads, 0,
              Kernel{to, from, plane, outer, static_cast<uint32_t>(tiles_i), static_cast<uint32_t>(tiles_j)});
}

template <class Word>
void transpose_rows(Queue& queue, const Plane& plane, const Outer& outer, int64_t planes, Word* to, const Word* from) {
  using Kernel = TransposeRows<Word>;
  Kernel kernel{};
  kernel.to = to;
  kernel.from = from;
  kernel.outer = outer;
  kernel.read_rows = plane.extent_i < plane.extent_j;
  kernel.rows = std::max(plane.extent_i, plane.extent_j);
  kernel.width = static_cast<int>(std::min(plane.extent_i, plane.extent_j));
  kernel.pitch = kernel.width | 1;
  kernel.by_width = Divider(static_cast<uint32_t>(kernel.width));
  kernel.from_row = kernel.read_rows ? plane.source_j : plane.source_i;
  kernel.from_short = kernel.read_rows ? plane.source_i : plane.source_j;
  kernel.to_row = kernel.read_rows ? plane.destination_j : plane.destination_i;
  kernel.to_short = kernel.read_rows ? plane.destination_i : plane.destination_j;
  // Enough rows for many loads a thread, few enough for full occupancy.
  const size_t row_bytes = sizeof(Word) * static_cast<size_t>(kernel.pitch);
  kernel.height_log2 = 8;
  while (row_bytes << kernel.height_log2 > rows_shared_bytes) --kernel.height_log2;
  while (row_bytes << (kernel.height_log2 + 1) <= rows_shared_bytes / 2) ++kernel.height_log2;
  kernel.blocks = ((kernel.rows - 1) >> kernel.height_log2) + 1;
  gpu::launch(queue, gpu::blocks_for(planes * kernel.blocks, 1), Kernel::threads, row_bytes << kernel.height_log2,
              kernel);
}

template <class Dev, class Word>
void copy_words(Queue& queue, const Shape& shape, void* destination, const void* source) {
  const Walk<2>& walk = shape.walk;
  auto* const to = static_cast<Word*>(destination);
  const auto* const from = static_cast<const Word*>(source);
  const int di = shape.source_fastest;
  const int64_t sides[2] = {walk.extents[0], walk.extents[di]};
  const int64_t shorter = std::min(sides[0], sides[1]), longer = std::max(sides[0], sides[1]);
  if (shape.same_order() || (shorter < short_side && longer < 2 * short_side)) {
    strided_for<Dev>(queue, walk, CopyWords<Word>{to, from});
    return;
  }
  const Plane plane{walk.extents[di],   walk.extents[0],     walk.strides[1][di],
                    walk.strides[1][0], walk.strides[0][di], walk.strides[0][0]};
  Outer outer{};
  for (int d = 1; d < walk.rank; ++d) {
    if (d == di) continue;
    outer.extents[outer.rank] = walk.extents[d];
    outer.to[outer.rank] = walk.strides[0][d];
    outer.from[outer.rank] = walk.strides[1][d];
    ++outer.rank;
  }
  const int64_t planes = walk.count / (plane.extent_i * plane.extent_j);
  if (shorter < short_side)
    transpose_rows(queue, plane, outer, planes, to, from);
  else
    transpose_tiles(queue, plane, outer, planes, to, from);
}

template <class Dev>
void run_gpu(Queue& queue, void*, const Args& args) {
  const Shape shape = shape_of(args.source, args.destination);
  void* const to = args.destination.data;
  const void* const from = args.source.data;
  if (shape.walk.contiguous()) {
    queue.copy(to, from, static_cast<size_t>(shape.walk.count) * static_cast<size_t>(shape.word));
    return;
  }
  switch (shape.word) {
    case 1: return copy_words<Dev, WordOf<1>::type>(queue, shape, to, from);
    case 4: return copy_words<Dev, WordOf<4>::type>(queue, shape, to, from);
    case 8: return copy_words<Dev, WordOf<8>::type>(queue, shape, to, from);
    default: return copy_words<Dev, WordOf<16>::type>(queue, shape, to, from);
  }
}

template <class Dev>
void prepare_gpu(Queue& queue) {
  prepare_kokkos(Dev{});
  const auto one = [&]<class Word>(Type<Word>) {
    gpu::prepare<TransposeTile<Word>>(queue);
    gpu::prepare<TransposeRows<Word>>(queue, rows_shared_bytes);
    prepare_strided_for<Dev, 2, CopyWords<Word>>(queue);
  };
  one(Type<WordOf<1>::type>{});
  one(Type<WordOf<4>::type>{});
  one(Type<WordOf<8>::type>{});
  one(Type<WordOf<16>::type>{});
}

template <class Dev>
constexpr Implementation gpu() {
  return {{"gpu", &prepare_gpu<Dev>}, &run_gpu<Dev>};
}

}  // namespace kkc::view_copy
