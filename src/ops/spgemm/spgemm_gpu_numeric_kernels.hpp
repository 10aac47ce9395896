// Values of C. Sums stand in shared memory and are added to by plain +=: the lanes that add at the same time run along
// one row of B, whose columns are distinct, so no two of them meet, and the order of additions is that of A's row: the
// same bits in each run (floating-point atomics in shared memory are compare-and-swap loops). Where a product belongs
// is kept from the symbolic phase (its slot), looked up in a hash of the row's columns (Nagasaka et al., ICPP'17), or
// counted in a bitmap of the columns of a stretch of a long row (Parger et al., "spECK", PPoPP'20, section 4.3, keep
// sums for all columns of a stretch instead).
#pragma once

#include "core/operands.hpp"
#include "spgemm_gpu_block.hpp"
#include "spgemm_gpu_plan_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

/// C's values: alpha times a sum plus beta times what was there.
template <class T>
struct Values {
  T* data;
  Offsets offsets;  // of C
  Factor<T> alpha, beta;
};

template <class T>
struct Coefficients {
  T alpha, beta;
  __device__ explicit Coefficients(const Values<T>& v) : alpha(v.alpha.get()), beta(v.beta.get()) {}
  __device__ bool live() const { return !gpu::is_zero(alpha); }
  __device__ void finish(T& target, const T& sum) const {
    const T scaled = live() ? gpu::multiply(alpha, sum) : T{};
    target = gpu::is_zero(beta) ? scaled : gpu::multiply_add(beta, target, scaled);
  }
  /// Leaves the caches to B.
  __device__ void finish_once(T& target, const T& sum) const {
    const T scaled = live() ? gpu::multiply(alpha, sum) : T{};
    gpu::store_once(&target, gpu::is_zero(beta) ? scaled : gpu::multiply_add(beta, gpu::load_once(&target), scaled));
  }
};

/// For each row a list of its products' places in C's row: its own, or that of its class.
struct SlotLists {
  const uint16_t* slots;
  const int64_t* begins;
  const uint16_t* number_of;  // null: a list for each row

  __device__ const uint16_t* of(int64_t i) const { return slots + begins[number_of != nullptr ? number_of[i] : i]; }
};

/// A thread a row, for rows of at most `longest` entries: the sums of a warp's 32 rows lie in shared memory as they
/// will in C. Longer ones are left as they are.
template <class Left, class T, class I>
struct ThreadRows {
  static constexpr int threads = 128;
  Left A;
  RightValues<T, I> B;
  Values<T> C;
  SlotLists lists;
  int64_t rows;
  int32_t longest;

  static size_t shared_bytes(int block, int32_t longest) {
    return static_cast<size_t>(block) * static_cast<size_t>(longest + 1) * sizeof(T);
  }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    T* const all = reinterpret_cast<T*>(shared) + warp * 32 * (longest + 1);
    const int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.x + warp * 32, i = first + lane;
    if (first >= rows) return;
    const int64_t begin = C.offsets.at(i < rows ? i : rows), end = C.offsets.at(i < rows ? i + 1 : rows);
    const int64_t from = gpu::shuffle_from(begin, 0, 32);
    const bool is_long = end - begin > longest;
    const auto length = is_long ? 0 : static_cast<int32_t>(end - begin);
    const bool beside_long = gpu::ballot32(is_long) != 0;
    auto place = static_cast<int32_t>(begin - from);
    if (beside_long) place = gpu::subgroup_scan(length, 32) - length;
    // Rows of even length would meet in the same banks.
    const int pad = 1 - (gpu::shuffle_from(length, 0, 32) & 1);
    T* const sums = all + place + pad * lane;
    const Coefficients<T> c(C);
    for (int32_t j = 0; j < length; ++j) sums[j] = T{};
    if (i < rows && !is_long && c.live()) multiply(A.row(i), lists.of(i), sums);
    gpu::sync32();
    const auto total = static_cast<int32_t>(gpu::shuffle_from(end, 31, 32) - from);
    if (pad == 0 && !beside_long) {
      for (int32_t j = lane; j < total; j += 32) c.finish(C.data[from + j], all[j]);
    } else {
      for (int r = 0; r < 32; ++r) {
        const int64_t at = gpu::shuffle_from(begin, r, 32);
        const int32_t count = gpu::shuffle_from(length, r, 32);
        const T* const row = all + gpu::shuffle_from(place, r, 32) + pad * r;
        for (int32_t j = lane; j < count; j += 32) c.finish(C.data[at + j], row[j]);
      }
    }
  }

  __device__ void multiply(const LeftRow& row, const uint16_t* slot, T* sums) const {
    constexpr int batch = sizeof(T) <= 8 ? 8 : 4;
    I next{};
    if (row.length > 0) next = A.column(row, 0);
    for (int32_t k = 0; k < row.length; ++k) {
      const int64_t begin = B.B.begin(next);
      const auto count = static_cast<int32_t>(B.B.end(next) - begin);
      const T a = A.value(row, k);
      if (k + 1 < row.length) next = A.column(row, k + 1);
      for (int32_t p = 0; p < count; p += batch) {
        T b[batch];
        uint16_t s[batch];
#pragma unroll
        for (int u = 0; u < batch; ++u)
          if (p + u < count) {
            b[u] = B.value(begin + p + u);
            s[u] = slot[p + u];
          }
#pragma unroll
        for (int u = 0; u < batch; ++u)
          if (p + u < count) sums[s[u]] = gpu::multiply_add(a, b[u], sums[s[u]]);
      }
      slot += count;
    }
  }
};

/// The part of a row of B that a subgroup takes next.
struct Segment {
  int64_t begin;
  int32_t count;
  int32_t product;  // the first's number, for slots
};

/// What a subgroup has in shared memory for the rows of B that it is at: one segment and factor a lane.
template <class T>
struct Segments {
  Segment* segments;
  T* factors;
  static constexpr size_t bytes = sizeof(Segment) + sizeof(T);  // a lane
};

/// Runs along the segments of the warp's subgroups: 8 lanes or more, segments without entries behind the last.
/// key_of(p, product) reads where an entry of B belongs; add(key, a, b) adds a b there.
template <class T, class I, class Key, class Add>
__device__ inline void along(const RightValues<T, I>& B, const Segments<T>& s, int used, int32_t longest, int lane,
                             int lanes, bool distinct, const Key& key_of, const Add& add) {
  constexpr int batch = sizeof(T) <= 8 ? 8 : 4;
  if (distinct && longest <= lanes) {
    for (int q = 0; q < used; q += batch) {
      T b[batch];
      int32_t key[batch], count[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const Segment segment = s.segments[q + u];
        count[u] = segment.count;
        if (lane < segment.count) {
          b[u] = B.value(segment.begin + lane);
          key[u] = key_of(segment.begin + lane, segment.product + lane);
        }
      }
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        if (lane < count[u]) add(key[u], s.factors[q + u], b[u]);
        gpu::sync32();
      }
    }
    return;
  }
  const auto add_all = [&](bool there, int32_t key, const T& factor, const T& b) {
    if (distinct) {
      if (there) add(key, factor, b);
      return;
    }
    for (int l = 0; l < lanes; ++l) {
      if (l == lane && there) add(key, factor, b);
      gpu::sync32();
    }
  };
  // The first entries of several segments, then the rest of each.
  constexpr int few = batch / 2;
  for (int q = 0; q < used; q += few) {
    T b[few];
    int32_t key[few];
#pragma unroll
    for (int u = 0; u < few; ++u) {
      const Segment segment = s.segments[q + u];
      if (lane < segment.count) {
        b[u] = B.value(segment.begin + lane);
        key[u] = key_of(segment.begin + lane, segment.product + lane);
      }
    }
#pragma unroll
    for (int u = 0; u < few; ++u) {
      const Segment segment = s.segments[q + u];
      const T factor = s.factors[q + u];
      add_all(lane < segment.count, key[u], factor, b[u]);
      const int32_t most = lanes == 32 ? segment.count : warp_max(segment.count);
      for (int32_t t = lane + lanes; t - lane < most; t += few * lanes) {
        T c[few];
        int32_t place[few];
#pragma unroll
        for (int v = 0; v < few; ++v)
          if (t + v * lanes < segment.count) {
            c[v] = B.value(segment.begin + t + v * lanes);
            place[v] = key_of(segment.begin + t + v * lanes, segment.product + t + v * lanes);
          }
#pragma unroll
        for (int v = 0; v < few; ++v) add_all(t + v * lanes < segment.count, place[v], factor, c[v]);
      }
      gpu::sync32();
    }
  }
}

/// The row of B that entry k of `row` names, and its factor.
template <class Left, class T, class I>
__device__ inline Segment segment_of(const Left& A, const LeftRow& row, const RightValues<T, I>& B, int32_t k,
                                     T& factor) {
  Segment segment{0, 0, 0};
  if (k < row.length) {
    const int64_t j = A.column(row, k);
    segment.begin = B.B.begin(j);
    segment.count = static_cast<int32_t>(B.B.end(j) - segment.begin);
    factor = A.value(row, k);
  }
  return segment;
}

/// Its columns low..high.
template <class T, class I>
__device__ inline Segment cut_to(const RightValues<T, I>& B, const Segment& segment, I low, I high) {
  const int64_t end = segment.begin + segment.count, begin = B.B.lower(segment.begin, end, low);
  return {begin, static_cast<int32_t>(B.B.lower(begin, end, high + 1) - begin), 0};
}

/// A subgroup a row, or a piece of one. Slots: the sums lie as they will in C. Else: at the hashed places of C's
/// columns; products whose column is not there are left out.
template <class Left, class T, class I, bool Slots>
struct SubgroupRows {
  static constexpr int threads = 128, blocks_per_sm = sizeof(T) <= 8 ? 8 : 5;
  Left A;
  RightValues<T, I> B;
  Values<T> C;
  SlotLists lists;
  const I* columns;     // of C
  const int32_t* list;  // null: all rows
  const Piece* pieces;  // instead of rows; or null
  int64_t count;
  int32_t lanes_log2;
  int32_t places;  // of a subgroup; a power of two without slots
  bool distinct;   // B's rows ascend strictly

  static size_t shared_bytes(int block, int lanes_log2, int32_t places) {
    const auto groups = static_cast<size_t>(block >> lanes_log2);
    return static_cast<size_t>(block) * Segments<T>::bytes +
           groups * (static_cast<size_t>(places) * (sizeof(T) + (Slots ? 0 : 4)));
  }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    const int lanes = 1 << lanes_log2, lane = static_cast<int>(threadIdx.x) & (lanes - 1),
              group = static_cast<int>(threadIdx.x) >> lanes_log2, block = static_cast<int>(blockDim.x),
              groups = block >> lanes_log2;
    Segments<T> s;
    s.segments = reinterpret_cast<Segment*>(shared);
    s.factors = reinterpret_cast<T*>(s.segments + block);
    T* const sums = s.factors + block + group * places;
    const HashedKeys table{reinterpret_cast<int32_t*>(s.factors + block + groups * places) + group * places,
                           static_cast<uint32_t>(places - 1)};
    s.segments += group * lanes;
    s.factors += group * lanes;
    const int64_t item = static_cast<int64_t>(blockIdx.x) * groups + group;
    const bool mine = item < count;
    int64_t i = 0, at = 0;
    int32_t length = 0;
    bool cut = false;
    I low{}, high{};
    LeftRow row{0, 0, 0};
    if (mine) {
      i = item;
      if (pieces != nullptr)
        i = pieces[item].row;
      else if (list != nullptr)
        i = list[item];
      at = C.offsets.at(i);
      const int64_t all = C.offsets.at(i + 1) - at;
      length = static_cast<int32_t>(all);
      if (pieces != nullptr) {
        const Piece piece = pieces[item];
        at += piece.first;
        length = piece.length;
        cut = distinct && length < all;
        low = columns[at];
        high = columns[at + length - 1];
      }
      row = A.row(i);
    }
    const Coefficients<T> c(C);
    if constexpr (Slots) {
      for (int32_t j = lane; j < length; j += lanes) sums[j] = T{};
    } else {
      for (int32_t j = lane; j < places; j += lanes) {
        sums[j] = T{};
        table.keys[j] = HashedKeys::empty;
      }
      gpu::sync32();
      for (int32_t j = lane; j < length; j += lanes) table.insert(static_cast<int32_t>(columns[at + j]));
    }
    gpu::sync32();

    if (c.live()) {
      const uint16_t* slots = nullptr;
      if constexpr (Slots) slots = lists.of(i);
      int32_t product = 0;
      const int32_t chunks = warp_max((row.length + lanes - 1) / lanes);
      for (int32_t chunk = 0; chunk < chunks; ++chunk) {
        Segment segment = segment_of(A, row, B, chunk * lanes + lane, s.factors[lane]);
        if constexpr (!Slots) {
          if (cut) segment = cut_to(B, segment, low, high);
        }
        if constexpr (Slots) {
          const int32_t inclusive = gpu::subgroup_scan(segment.count, lanes);
          segment.product = product + inclusive - segment.count;
          product += gpu::shuffle_from(inclusive, lanes - 1, lanes);
        }
        s.segments[lane] = segment;
        const int used = highest_lane(segment.count > 0, lanes);
        const int32_t longest = warp_max(segment.count);
        gpu::sync32();
        along(
            B, s, used, longest, lane, lanes, distinct,
            [&](int64_t p, int32_t number) {
              if constexpr (Slots)
                return static_cast<int32_t>(slots[number]);
              else
                return static_cast<int32_t>(B.B.column(p));
            },
            [&](int32_t key, const T& a, const T& b) {
              int32_t place = key;
              if constexpr (!Slots) place = table.find(key);
              if (Slots || place >= 0) sums[place] = gpu::multiply_add(a, b, sums[place]);
            });
      }
    }
    for (int32_t j = lane; j < length; j += lanes) {
      if constexpr (Slots)
        c.finish(C.data[at + j], sums[j]);
      else
        c.finish(C.data[at + j], sums[table.find(static_cast<int32_t>(columns[at + j]))]);
    }
  }
};

/// A warp a piece of a long row: a bitmap of the columns of a stretch of the row and how many of them lie before each
/// word, so that a column's place is counted without searching.
template <class Left, class T, class I>
struct RankedPieces {
  static constexpr int threads = sizeof(T) <= 8 ? 128 : 64, blocks_per_sm = 4;
  static constexpr int32_t capacity = 768;  // entries of a piece
  static constexpr int32_t words = 768;     // of 64 columns
  Left A;
  RightValues<T, I> B;
  Values<T> C;
  const I* columns;
  const Piece* pieces;
  int64_t count;
  bool distinct;

  static constexpr size_t warp_bytes = 32 * Segments<T>::bytes + capacity * sizeof(T) + words * 10;
  static constexpr size_t shared_bytes = threads / 32 * warp_bytes;

  __device__ void operator()() const {
    extern __shared__ char shared[];
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    const int64_t item = static_cast<int64_t>(blockIdx.x) * (threads / 32) + warp;
    if (item >= count) return;
    Segments<T> s;
    s.segments = reinterpret_cast<Segment*>(shared + warp * warp_bytes);
    s.factors = reinterpret_cast<T*>(s.segments + 32);
    T* const sums = s.factors + 32;
    auto* const bits = reinterpret_cast<uint64_t*>(sums + capacity);
    auto* const ranks = reinterpret_cast<uint16_t*>(bits + words);
    const Piece piece = pieces[item];
    const int64_t row_at = C.offsets.at(piece.row) + piece.first;
    const LeftRow row = A.row(piece.row);
    const Coefficients<T> c(C);

    for (int32_t first = 0; first < piece.length;) {
      const int64_t at = row_at + first;
      const I base = columns[at] / 64 * 64;
      int32_t length = piece.length - first;
      if (columns[at + length - 1] - base >= 64 * words) {  // as many entries as the bitmap holds
        int32_t begin = 1, end = length;
        while (begin < end) {
          const int32_t middle = (begin + end) / 2;
          if (columns[at + middle] - base < 64 * words)
            begin = middle + 1;
          else
            end = middle;
        }
        length = begin;
      }
      const I high = columns[at + length - 1];
      const auto used_words = static_cast<int32_t>((high - base) / 64 + 1);
      gpu::sync32();
      for (int32_t w = lane; w < used_words; w += 32) bits[w] = 0;
      for (int32_t j = lane; j < length; j += 32) sums[j] = T{};
      gpu::sync32();
      for (int32_t j = lane; j < length; j += 32) {
        const auto column = static_cast<int32_t>(columns[at + j] - base);
        atomicOr(reinterpret_cast<uint32_t*>(bits) + column / 32, 1u << (column & 31));
        if (j == 0 || static_cast<int32_t>(columns[at + j - 1] - base) / 64 != column / 64)
          ranks[column / 64] = static_cast<uint16_t>(j);
      }
      gpu::sync32();
      if (c.live()) multiply(row, base, high, s, sums, bits, ranks, lane);
      for (int32_t j = lane; j < length; j += 32) c.finish(C.data[at + j], sums[j]);
      first += length;
    }
  }

  __device__ void multiply(const LeftRow& row, I base, I high, const Segments<T>& s, T* sums, const uint64_t* bits,
                           const uint16_t* ranks, int lane) const {
    for (int32_t k = lane; k - lane < row.length; k += 32) {
      T factor{};
      Segment segment = segment_of(A, row, B, k, factor);
      if (distinct) segment = cut_to(B, segment, base, high);
      // Empty ones are left out.
      const uint32_t some = gpu::ballot32(segment.count > 0);
      const int used = __popc(some);
      if (segment.count > 0) {
        const int to = __popc(some & ((1u << lane) - 1));
        s.segments[to] = segment;
        s.factors[to] = factor;
      }
      if (lane >= used) s.segments[lane].count = 0;
      const int32_t longest = warp_max(segment.count);
      gpu::sync32();
      along(
          B, s, used, longest, lane, 32, distinct,
          [&](int64_t p, int32_t) {
            const I column = B.B.column(p);
            return column < base || column > high ? -1 : static_cast<int32_t>(column - base);
          },
          [&](int32_t column, const T& a, const T& b) {
            if (column < 0) return;
            const uint64_t word = bits[column / 64], bit = uint64_t{1} << (column & 63);
            if ((word & bit) == 0) return;
            const int place = ranks[column / 64] + __popcll(word & (bit - 1));
            sums[place] = gpu::multiply_add(a, b, sums[place]);
          });
    }
  }
};

}  // namespace kkc::spgemm::gpu_parts
