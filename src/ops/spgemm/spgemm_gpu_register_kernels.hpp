// Values of C for rows of classes, of moderate length: sums stand in registers, lane l of a warp holds those of places
// l, l + 32, ... of C's row. A table kept for each class says for entry k of A's row and each place which entry of B's
// row is added there; where columns of C and of B run on together, as on grids and bands, lanes read neighbours.
#pragma once

#include "spgemm_gpu_numeric_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

/// Bytes of a word belong to places that are 32 apart, words of a lane to places 128 apart.
inline constexpr int places_of_word = 128, most_place_words = 3;
inline constexpr int32_t no_entry = 255;

/// number -> entry k of A's row -> word -> lane
struct PlaceTable {
  const uint32_t* words;
  const uint16_t* number_of;
  int32_t longest_a;

  __device__ const uint32_t* of(int64_t i, int words_a_lane) const {
    return words + static_cast<int64_t>(number_of[i]) * longest_a * words_a_lane * 32;
  }
};

/// Makes the table from the products' places in C's row. A block a class, whose row A names; B's rows ascend.
template <class Left, class I>
struct PlaceEntries {
  static constexpr int threads = 128;
  Left A;
  Pattern<I> B;
  const uint16_t* slots;
  const int64_t* begins;
  int32_t longest_a, words;
  uint32_t* table;

  __device__ void operator()() const {
    const LeftRow row = A.row(blockIdx.x);
    uint32_t* const mine = table + static_cast<int64_t>(blockIdx.x) * longest_a * words * 32;
    const auto at = static_cast<int32_t>(threadIdx.x);
    for (int32_t w = at; w < row.length * words * 32; w += threads) mine[w] = ~0u;
    __syncthreads();
    const uint16_t* slot = slots + begins[blockIdx.x];
    auto* bytes = reinterpret_cast<uint8_t*>(mine);
    for (int32_t k = 0; k < row.length; ++k) {
      const int64_t j = A.column(row, k);
      const auto count = static_cast<int32_t>(B.end(j) - B.begin(j));
      for (int32_t p = at; p < count; p += threads) {
        const int32_t place = slot[p];
        bytes[(place / places_of_word * 32 + (place & 31)) * 4 + (place / 32 & 3)] = static_cast<uint8_t>(p);
      }
      slot += count;
      bytes += words * places_of_word;
    }
  }
};

template <class Left, class T, class I, int Words>
struct RegisterRows {
  static constexpr int threads = 128, blocks_per_sm = sizeof(T) * Words <= 8 ? 6 : sizeof(T) * Words <= 16 ? 4 : 3;
  Left A;
  RightValues<T, I> B;
  Values<T> C;
  PlaceTable table;
  int64_t rows;

  struct alignas(16) Step {
    const T* row;  // of B
    T factor;
  };

  __device__ void operator()() const {
    __shared__ Step all[threads];
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    const int64_t i = static_cast<int64_t>(blockIdx.x) * (threads / 32) + warp;
    if (i >= rows) return;
    Step* const steps = all + warp * 32;
    T sums[Words * 4] = {};
    const Coefficients<T> c(C);
    if (c.live()) {
      const LeftRow row = A.row(i);
      const uint32_t* words = table.of(i, Words) + lane;
      for (int32_t k = lane; k - lane < row.length; k += 32) {
        T factor{};
        if (k < row.length) {
          factor = A.value(row, k);
          steps[lane] = {B.values + B.B.begin(A.column(row, k)), factor};
        }
        gpu::sync32();
        const int used = row.length - (k - lane) < 32 ? row.length - (k - lane) : 32;
        if (gpu::ballot32(!gpu::is_finite(factor)) == 0)
          multiply<true>(steps, used, words, sums);
        else
          multiply<false>(steps, used, words, sums);
        words += used * Words * 32;
        gpu::sync32();
      }
    }
    const int64_t at = C.offsets.at(i);
    const auto length = static_cast<int32_t>(C.offsets.at(i + 1) - at);
#pragma unroll
    for (int q = 0; q < Words * 4; ++q)
      if (q * 32 + lane < length) c.finish(C.data[at + q * 32 + lane], sums[q]);
  }

  /// Finite factors leave a sum as it is where they meet a zero, so that nothing need be left out: it never is -0.
  template <bool Finite>
  __device__ static void multiply(const Step* steps, int used, const uint32_t* words, T* sums) {
    constexpr int batch = Words == 1 && sizeof(T) <= 8 ? 4 : Words <= 2 ? 2 : 1;
    int k = 0;
    for (; k + batch <= used; k += batch) add<Finite, batch>(steps + k, words + k * Words * 32, sums);
    for (; k < used; ++k) add<Finite, 1>(steps + k, words + k * Words * 32, sums);
  }

  /// All loads come before the sums.
  template <bool Finite, int batch>
  __device__ static void add(const Step* steps, const uint32_t* words, T* sums) {
    constexpr int held = Words * 4;
    uint32_t places[batch * Words];
    T b[batch * held], factors[batch];
#pragma unroll
    for (int w = 0; w < batch * Words; ++w) places[w] = words[w * 32];
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      const T* const row = steps[u].row;
      factors[u] = steps[u].factor;
#pragma unroll
      for (int q = 0; q < held; ++q) {
        const uint32_t entry = entry_of(places, u * held + q);
        b[u * held + q] = T{};
        if (entry != no_entry) b[u * held + q] = gpu::load_constant(row + entry);
      }
    }
#pragma unroll
    for (int u = 0; u < batch; ++u)
#pragma unroll
      for (int q = 0; q < held; ++q)
        if (Finite || entry_of(places, u * held + q) != no_entry)
          sums[q] = gpu::multiply_add(factors[u], b[u * held + q], sums[q]);
  }
  __device__ static uint32_t entry_of(const uint32_t* places, int at) { return places[at / 4] >> (at % 4 * 8) & 255u; }
};

}  // namespace kkc::spgemm::gpu_parts
