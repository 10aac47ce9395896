// Values of A B on GPUs where every row of B has exactly one entry, so that entry j of B's values is row j's: C's entry
// sums the products of some entries of A's row. Rows of one class have the same distances from the row to the columns
// and sum the same places of A's row, so that neither A's columns nor B's pattern are read; without classes the plan
// keeps the products of each entry of C. Each sum has one thread and a fixed order.
#pragma once

#include "device/gpu_bulk.hpp"
#include "spgemm_gpu_numeric_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

/// An entry of a class's row: its column minus the row; and a place, see who reads it.
struct alignas(8) ClassEntry {
  int32_t distance;
  uint32_t place;
};

/// Where a class's row has its diagonal entry: in A's row, and in C's (the entry to which it adds).
struct alignas(8) ClassDiagonal {
  int32_t place, entry;
};

/// Rows of A B as they are. A policy that scales gives rows s(i) (A B)(i, :) + B(i, :), where s(i) is of(i, A(i, i),
/// whether to note what is wrong with it), see spgemm_jacobi.
template <class T>
struct AsMultiplied {
  static constexpr bool scales = false;
};

/// Classes' entries lie this far apart: whole lines for a warp that runs along a long row, eight for a thread.
__host__ __device__ constexpr int64_t class_pitch(int32_t longest) {
  const int32_t unit = longest <= 32 ? 8 : 32;
  return (longest + unit - 1) / unit * unit;
}
inline constexpr int32_t entries_ahead = 16;  // that are read behind the last class's

/// How a class's row is walked: along the entries of a class that leads, see DescribeClasses.
struct alignas(16) ClassWalk {
  int32_t first, shift;  // of the leader's entries; to its distances
  ClassDiagonal diagonal;
};
/// The entries of C that two sums belong to; the same twice where there is but one.
struct alignas(2) WalkEnds {
  uint8_t low, high;
};
/// A bit for each of 32 products: it belongs to the higher sum; it is the last of the leader's entry of C.
struct alignas(8) WalkBits {
  uint32_t high, last;
};
inline constexpr int32_t longest_walked_row = 96;
__host__ __device__ constexpr int32_t words_of_walk(int32_t longest) { return (longest + 31) / 32; }

/// A thread a row: a warp's rows of A come to shared memory as they lie, the sums leave from there. The lanes walk
/// along the entries of A in one order, though rows of neighbouring classes sum them differently: each has two sums at
/// once. Rows of even lengths are spread over the banks by gaps; odd ones are as they lie, where gaps would bring them
/// together again, so that the device may copy them in bulk.
template <class T, class Scale, bool gaps, int batch>
struct AggregateWalks {
  static constexpr int threads = 128;
  static constexpr bool bulk = gpu::has_bulk_copies && !gaps;
  Offsets offsets;  // of A
  const T *a, *b;
  Values<T> C;
  const uint16_t* classes;
  const ClassEntry* entries;  // of each class, in the order of C's columns; place: in A's row
  const ClassWalk* walks;     // of each class
  const WalkBits* bits;       // of each class
  const WalkEnds* ends;       // of each class: where the leader's entries of C end
  int64_t rows;
  int32_t longest, longest_c;  // rows of A and C
  Scale scale;

  struct alignas(16) Two {
    ClassEntry e[2];
  };
  static constexpr int line = sizeof(T) < 16 ? 16 / sizeof(T) : 1;  // elements that a bulk copy keeps together
  static_assert(batch <= entries_ahead);

  /// Small where rows are copied in bulk: shared memory is free again only when all warps of a block have ended.
  static int block_for(int32_t longest) {
    if (gaps) return threads;
    return longest <= 32 && gpu::device != Device::hip ? 32 : 64;
  }
  /// One element in 17 is left out.
  __host__ __device__ static int32_t spread(int32_t element) { return gaps ? element + (element >> 4) : element; }
  __host__ __device__ static int32_t room_of(int32_t longest) {
    return (spread(32 * longest) + 2 * line) / line * line;
  }
  __host__ __device__ static int32_t room_of_sums(int32_t longest_c) {
    return (32 * longest_c + line - 1) / line * line;
  }
  static size_t shared_bytes(int block, int32_t longest, int32_t longest_c) {
    return static_cast<size_t>(block / 32) * static_cast<size_t>(room_of(longest) + room_of_sums(longest_c)) *
           sizeof(T);
  }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    [[maybe_unused]] __shared__ gpu::BulkCopy copies[threads / 32];
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    const int32_t room = room_of(longest);
    T* staged = reinterpret_cast<T*>(shared) + warp * (room + room_of_sums(longest_c));
    T* const sums = staged + room;
    const int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.x + warp * 32, i = first + lane;
    if (first >= rows) return;
    const int64_t row = i < rows ? i : rows, next = i < rows ? i + 1 : rows;
    const int64_t begin = offsets.at(row), end = offsets.at(next);
    const int64_t begin_c = C.offsets.at(row), end_c = C.offsets.at(next);
    const int32_t of = i < rows ? classes[i] : 0;
    const int64_t from = gpu::shuffle_from(begin, 0, 32), from_c = gpu::shuffle_from(begin_c, 0, 32);
    const auto total = static_cast<int32_t>(gpu::shuffle_from(end, 31, 32) - from),
               total_c = static_cast<int32_t>(gpu::shuffle_from(end_c, 31, 32) - from_c);
    const Coefficients<T> c(C);
    if (c.live()) {
      if constexpr (bulk) {
        staged += static_cast<int32_t>(reinterpret_cast<uintptr_t>(a + from) / sizeof(T) % line);
        copies[warp].begin(staged, a + from, total, lane);
      } else {
        stage(staged, from, total, lane);
      }
      const auto length = static_cast<int32_t>(end - begin);
      ClassWalk walk{};
      if (length > 0) walk = walks[of];
      if constexpr (bulk) copies[warp].wait();
      gpu::sync32();
      if (length > 0)
        multiply(i, of, walk, staged, static_cast<int32_t>(begin - from), length, sums + (begin_c - from_c));
      gpu::sync32();
    }
    for (int32_t e = lane; e < total_c; e += 32) c.finish(C.data[from_c + e], c.live() ? sums[e] : T{});
  }

  __device__ void stage(T* staged, int64_t from, int32_t total, int lane) const {
    constexpr int at_once = sizeof(T) <= 8 ? 8 : 4;
    for (int32_t e = lane; e < total; e += 32 * at_once) {
      T x[at_once];
#pragma unroll
      for (int u = 0; u < at_once; ++u)
        if (e + u * 32 < total) x[u] = gpu::load_once(a + from + e + u * 32);
#pragma unroll
      for (int u = 0; u < at_once; ++u)
        if (e + u * 32 < total) staged[spread(e + u * 32)] = x[u];
    }
  }

  /// The entries of a class are as many as batches take: those too many are added to a sum that is not written.
  __device__ void multiply(int64_t i, int32_t of, const ClassWalk& walk, const T* staged, int32_t at, int32_t length,
                           T* out) const {
    const Two* two = reinterpret_cast<const Two*>(entries + walk.first);
    const int32_t from = static_cast<int32_t>(i) + walk.shift;
    const WalkBits* word = bits + of * words_of_walk(longest);
    const WalkEnds* end = ends + of * longest;
    [[maybe_unused]] T factor{}, own{};
    if constexpr (Scale::scales) {
      factor = scale.of(i, staged[spread(at + walk.diagonal.place)], true);
      own = b[i];
    }
    T low{}, high{};
    WalkBits now{};
    WalkEnds to = *end;
    Two e[batch / 2];
#pragma unroll
    for (int u = 0; u < batch / 2; ++u) e[u] = two[u];
    for (int32_t p = 0; p < length; p += batch) {
      if ((p & 31) == 0) now = *word++;
      T x[batch], y[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        y[u] = b[from + e[u / 2].e[u % 2].distance];
        x[u] = staged[spread(at + static_cast<int32_t>(e[u / 2].e[u % 2].place))];
      }
      two += batch / 2;
#pragma unroll
      for (int u = 0; u < batch / 2; ++u) e[u] = two[u];
      if ((now.last & ((1u << batch) - 1)) == 0) {
#pragma unroll
        for (int u = 0; u < batch; ++u) add_product((now.high >> u & 1u) != 0, x[u], y[u], low, high);
      } else {
#pragma unroll
        for (int u = 0; u < batch; ++u) {
          add_product((now.high >> u & 1u) != 0, x[u], y[u], low, high);
          if ((now.last >> u & 1u) == 0) continue;
          if constexpr (Scale::scales) {
            low = gpu::multiply(factor, low);
            if (to.low == walk.diagonal.entry) low = gpu::add(own, low);
            high = gpu::multiply(factor, high);
            if (to.high == walk.diagonal.entry) high = gpu::add(own, high);
          }
          out[to.low] = low;
          if (to.high != to.low) out[to.high] = high;
          low = high = T{};
          to = *++end;
        }
      }
      now.high >>= batch;
      now.last >>= batch;
    }
  }

  __device__ static void add_product(bool is_high, const T& x, const T& y, T& low, T& high) {
    if (is_high)
      high = gpu::multiply_add(x, y, high);
    else
      low = gpu::multiply_add(x, y, low);
  }
};

inline constexpr int32_t share_gaps = 16;

/// What a lane sums of a class's row: `count` products from shared memory's `at` on, the entries of C from `entry` on.
struct alignas(8) ClassShare {
  uint16_t at, count, entry, product;  // product: the first, in the order of C's columns
};
inline constexpr int32_t longest_aggregate_row = 256;  // of A; rows of classes are not longer
inline constexpr int32_t staged_entries = 704;         // of a warp's rows

/// Where a long row's products lie in shared memory: an odd number apart from the next row's, with room for gaps that
/// leave lanes' shares at different banks.
__host__ __device__ constexpr int32_t staged_pitch(int32_t longest) { return (longest + share_gaps) | 1; }

/// For longer rows: a warp runs along each of its rows and leaves the products in shared memory in the order of C's
/// columns; then each row has so many lanes, each of them a run of C's entries.
template <class T, class Scale>
struct AggregateLongRows {
  static constexpr int threads = 128, blocks_per_sm = sizeof(T) > 8 ? 4 : 7;
  Offsets offsets;
  const T *a, *b;
  Values<T> C;
  const uint16_t* classes;
  const ClassEntry* entries;  // of each class, in the order of A's row; place: in shared memory
  const uint32_t* ends;       // of each class and lane: a bit for each product of its share: its entry's last
  const ClassShare* shares;   // of each class and lane
  const ClassDiagonal* diagonals;
  int64_t rows;
  int32_t longest, longest_c;
  int32_t lanes_log2;  // of a row
  Scale scale;

  struct alignas(16) Slot {
    int32_t row, begin, entries;
    uint16_t length, at;  // at: elements of shared memory
  };
  __host__ __device__ static int32_t words_of(int32_t longest) { return (longest + 31) / 32; }
  static size_t shared_bytes(int block, int lanes_log2, int32_t longest, int32_t longest_c) {
    const auto rows = static_cast<size_t>(block >> lanes_log2);
    return rows * (sizeof(Slot) + static_cast<size_t>(staged_pitch(longest) + longest_c) * sizeof(T));
  }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5,
              warps = static_cast<int>(blockDim.x) >> 5;
    const int lanes = 1 << lanes_log2, part = lane & (lanes - 1), own_slot = lane >> lanes_log2,
              slots_of_warp = 32 >> lanes_log2;
    Slot* const slots = reinterpret_cast<Slot*>(shared) + warp * slots_of_warp;
    T* const staged = reinterpret_cast<T*>(reinterpret_cast<Slot*>(shared) + warps * slots_of_warp) +
                      warp * slots_of_warp * (staged_pitch(longest) + longest_c);
    T* const sums = staged + slots_of_warp * staged_pitch(longest);
    const int64_t first = (static_cast<int64_t>(blockIdx.x) * warps + warp) * slots_of_warp, i = first + own_slot;
    if (first >= rows) return;
    const int64_t row = i < rows ? i : rows, next = i < rows ? i + 1 : rows;
    const int64_t begin = offsets.at(row), end = offsets.at(next);
    const int64_t begin_c = C.offsets.at(row), end_c = C.offsets.at(next);
    const int64_t from_c = gpu::shuffle_from(begin_c, 0, 32);
    const auto total_c = static_cast<int32_t>(gpu::shuffle_from(end_c, 31, 32) - from_c);
    const Coefficients<T> c(C);
    if (c.live()) {
      const int32_t of = i < rows ? classes[i] : 0, at = own_slot * staged_pitch(longest);
      if (part == 0)
        slots[own_slot] = {static_cast<int32_t>(i), static_cast<int32_t>(begin),
                           of * static_cast<int32_t>(class_pitch(longest)), static_cast<uint16_t>(end - begin),
                           static_cast<uint16_t>(staged + at - reinterpret_cast<T*>(shared))};
      gpu::sync32();
      multiply(slots, slots_of_warp, reinterpret_cast<T*>(shared), lane);
      gpu::sync32();
      if (end > begin) add_up(i, of, begin, part, lanes, staged + at, sums + (begin_c - from_c));
      gpu::sync32();
    }
    for (int32_t e = lane; e < total_c; e += 32) c.finish(C.data[from_c + e], c.live() ? sums[e] : T{});
  }

  /// Two rows at a time, so that enough loads are under way. Neighbouring rows often have the same columns, as the
  /// unknowns of a point do: a lane reads B's value again only where its column is another than in the row before.
  __device__ void multiply(const Slot* slots, int slots_of_warp, T* elements, int lane) const {
    constexpr int rows_at_once = 2, chunks = sizeof(T) <= 8 ? 3 : 2;
    static_assert(rows_at_once * longest_aggregate_row <= staged_entries);
    T y[chunks];
    int32_t column[chunks];  // that y was read for
#pragma unroll
    for (int u = 0; u < chunks; ++u) column[u] = -1;
    for (int slot = 0; slot < slots_of_warp; slot += rows_at_once) {
      Slot s[rows_at_once];
#pragma unroll
      for (int r = 0; r < rows_at_once; ++r) s[r] = slots[slot + r];
      for (int32_t k = lane; k < longest + lane; k += 32 * chunks) {
        T x[rows_at_once][chunks];
        ClassEntry e[rows_at_once][chunks];
#pragma unroll
        for (int r = 0; r < rows_at_once; ++r) {
          const T* const row = a + (s[r].begin + k);
          const ClassEntry* const entry = entries + (s[r].entries + k);
#pragma unroll
          for (int u = 0; u < chunks; ++u)
            if (k + u * 32 < s[r].length) {
              x[r][u] = gpu::load_once(row + u * 32);
              e[r][u] = entry[u * 32];
            }
        }
#pragma unroll
        for (int r = 0; r < rows_at_once; ++r) {
#pragma unroll
          for (int u = 0; u < chunks; ++u)
            if (k + u * 32 < s[r].length) {
              const int32_t j = s[r].row + e[r][u].distance;
              if (j != column[u]) y[u] = b[j];
              column[u] = j;
            }
#pragma unroll
          for (int u = 0; u < chunks; ++u)
            if (k + u * 32 < s[r].length) elements[s[r].at + e[r][u].place] = gpu::multiply(x[r][u], y[u]);
        }
      }
    }
  }

  __device__ void add_up([[maybe_unused]] int64_t i, int32_t of, [[maybe_unused]] int64_t begin, int part, int lanes,
                         const T* products, T* out) const {
    const ClassShare share = shares[of * lanes + part];
    const int32_t count = share.count;
    if (count == 0) return;
    [[maybe_unused]] T factor{}, own{};
    [[maybe_unused]] T* diagonal = nullptr;
    if constexpr (Scale::scales) {
      const ClassDiagonal d = diagonals[of];
      diagonal = out + d.entry;
      own = b[i];
      factor = scale.of(i, a[begin + d.place], share.product == 0);  // one lane begins there
    }
    out += share.entry;
    products += share.at;
    const uint32_t* const words = ends + (of * lanes + part) * words_of(longest);
    constexpr int batch = 4;
    uint32_t bits = 0;
    T sum{};
    for (int32_t p = 0; p < count; p += batch) {
      if ((p & 31) == 0) bits = words[p >> 5];
      T x[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (p + u < count) x[u] = products[p + u];
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (p + u < count) {
          sum = gpu::add(sum, x[u]);
          if ((bits >> u & 1u) != 0) {
            if constexpr (Scale::scales) {
              sum = gpu::multiply(factor, sum);
              if (out == diagonal) sum = gpu::add(own, sum);
            }
            *out++ = sum;
            sum = T{};
          }
        }
      bits >>= batch;
    }
  }
};

}  // namespace kkc::spgemm::gpu_parts
