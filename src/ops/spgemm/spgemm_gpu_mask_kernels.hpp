// C under a mask: which of the mask's entries have a product. A warp takes a piece of the mask's row into a hash and
// marks the columns that it meets (masked products: Azad, Buluc, Gilbert, "Parallel triangle counting and enumeration
// using matrix algebra", IPDPSW'15, section IV).
#pragma once

#include "spgemm_gpu_block.hpp"
#include "spgemm_gpu_plan_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

/// The rows of the unit matrix: times a pattern they give its rows in order, without duplicates.
template <class I>
struct UnitLeft {
  const int32_t* list;

  __device__ LeftRow row(int64_t i) const { return {list != nullptr ? list[i] : i, 0, 1}; }
  __device__ I column(const LeftRow& row, int32_t) const { return static_cast<I>(row.row); }
};

/// Lengths of rows.
struct RowLengths {
  static constexpr int threads = 256;
  Offsets offsets;
  int64_t rows;
  int32_t* lengths;

  __device__ void operator()() const {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i < rows) lengths[i] = static_cast<int32_t>(offsets.at(i + 1) - offsets.at(i));
  }
};

/// hits[p] = 1 for those of the mask's entries that have a product, and their number in each row.
template <class Left, class I>
struct MarkHits {
  static constexpr int threads = 128;
  static constexpr int32_t places = 2048, capacity = 1024;  // of a warp's table; a piece
  Left A;
  PlainRight<I> B;
  Pattern<I> mask;  // ascends strictly
  const Piece* pieces;
  int64_t count;
  bool distinct;  // B's rows ascend
  uint8_t* hits;
  int32_t* counts;  // zero

  static constexpr size_t warp_bytes = places * 4 + places / 8;
  static constexpr size_t shared_bytes = threads / 32 * warp_bytes;

  __device__ void operator()() const {
    extern __shared__ char shared[];
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    const int64_t item = static_cast<int64_t>(blockIdx.x) * (threads / 32) + warp;
    if (item >= count) return;
    const Piece piece = pieces[item];
    int32_t size = 32;
    while (size < 2 * piece.length) size *= 2;
    const HashedKeys table{reinterpret_cast<int32_t*>(shared + static_cast<size_t>(warp) * warp_bytes),
                           static_cast<uint32_t>(size - 1)};
    auto* const met = reinterpret_cast<uint32_t*>(table.keys + places);
    const int64_t row_at = mask.begin(piece.row), at = row_at + piece.first;
    for (int32_t j = lane; j < size; j += 32) table.keys[j] = HashedKeys::empty;
    for (int32_t j = lane; j < size / 32; j += 32) met[j] = 0;
    gpu::sync32();
    for (int32_t j = lane; j < piece.length; j += 32) table.insert(static_cast<int32_t>(mask.column(at + j)));
    gpu::sync32();

    const I low = mask.column(at), high = mask.column(at + piece.length - 1);
    const LeftRow row = A.row(piece.row);
    const auto mark = [&](int64_t p) {
      const int32_t place = table.find(static_cast<int32_t>(B.B.column(p)));
      if (place >= 0 && (met[place / 32] >> (place & 31) & 1u) == 0) atomicOr(&met[place / 32], 1u << (place & 31));
    };
    for (int32_t first = 0; first < row.length; first += 32) {
      int64_t begin = 0, end = 0;
      if (first + lane < row.length) {
        const int64_t j = A.column(row, first + lane);
        begin = B.begin(j);
        end = B.end(j);
        if (distinct) {
          begin = B.B.lower(begin, end, low);
          end = B.B.lower(begin, end, high + 1);
        }
      }
      for (uint32_t some = gpu::ballot32(begin < end); some != 0; some &= some - 1) {
        const int q = __ffs(static_cast<int>(some)) - 1;
        const int64_t from = gpu::shuffle_from(begin, q, 32), to = gpu::shuffle_from(end, q, 32);
        for (int64_t p = from + lane; p < to; p += 32) mark(p);
      }
    }
    gpu::sync32();
    int32_t found = 0;
    for (int32_t j = lane; j < piece.length; j += 32) {
      const int32_t place = table.find(static_cast<int32_t>(mask.column(at + j)));
      const uint32_t hit = met[place / 32] >> (place & 31) & 1u;
      hits[at + j] = static_cast<uint8_t>(hit);
      found += static_cast<int32_t>(hit);
    }
    found = gpu::subgroup_sum(found, 32);
    if (lane == 0 && found > 0) atomicAdd(&counts[piece.row], found);
  }
};

/// The mask's entries that were hit, in order. A warp a row.
template <class I>
struct KeepHits {
  static constexpr int threads = 256;
  Pattern<I> mask;
  const uint8_t* hits;
  Offsets offsets;  // of C
  I* columns;

  __device__ void operator()() const {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x) / 32;
    if (i >= mask.rows) return;
    I* out = columns + offsets.at(i);
    const int64_t end = mask.end(i);
    for (int64_t p = mask.begin(i) + lane; p - lane < end; p += 32) {
      const bool hit = p < end && hits[p] != 0;
      const uint32_t all = gpu::ballot32(hit);
      if (hit) out[__popc(all & ((1u << lane) - 1))] = mask.column(p);
      out += __popc(all);
    }
  }
};

}  // namespace kkc::spgemm::gpu_parts
