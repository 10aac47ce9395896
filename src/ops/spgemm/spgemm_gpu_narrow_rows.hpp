// Columns of C's rows that lie near each other, as in meshes whose numbering follows neighbourhood: a warp a row, which
// marks its window of columns in a bitmap (the dense accumulation of Parger et al., "spECK", PPoPP'20, section 4.3, for
// a window instead of all columns). That puts columns in order and, by counting bits, gives each product's place.
#pragma once

#include "spgemm_gpu_flat_rows.hpp"
#include "spgemm_gpu_found.hpp"
#include "spgemm_gpu_symbolic_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

/// Words of 32 columns from the row's first column to its last.
struct Window {
  int32_t first, words;
};

/// Of the rows that have windows, zero at first.
struct WindowSums {
  int64_t words, products;
  int64_t again;  // products that are gone through once more, for windows that are longer than a bitmap
  int32_t longest, unused;
};

/// The windows of rows of more than `least` and at most `most` products. B's rows ascend.
template <class Left, class I>
struct FindWindows {
  static constexpr int threads = 256;
  static constexpr int32_t longest_a = 8192, widest = 0x7ffffffe;  // a longer row of A is not looked at
  Left A;
  Pattern<I> B;
  int64_t rows;
  const int32_t* bounds;
  int32_t least, most, bitmap_words, lanes_log2;
  Window* windows;
  WindowSums* sums;

  __device__ void operator()() const {
    __shared__ WindowSums block;
    if (threadIdx.x == 0) block = {};
    __syncthreads();
    const int lanes = 1 << lanes_log2;
    const int64_t of_warp = (int64_t{blockIdx.x} * threads + (threadIdx.x & ~31u)) >> lanes_log2,
                  step = int64_t{gridDim.x} * (threads >> lanes_log2);
    WindowSums mine{};
    for (int64_t first = of_warp; first < rows; first += step) {
      const int64_t i = first + ((threadIdx.x & 31u) >> lanes_log2);
      const int32_t products = i < rows ? bounds[i] : 0;
      if (const bool wanted = products > least && products <= most; gpu::ballot32(wanted) != 0)
        look(wanted, i, products, static_cast<int>(threadIdx.x) & (lanes - 1), lanes, mine);
    }
    mine.longest = warp_max(mine.longest);
    for (int64_t* sum : {&mine.words, &mine.products, &mine.again}) *sum = gpu::subgroup_sum(*sum, 32);
    if ((threadIdx.x & 31u) == 0) add(block, mine);
    __syncthreads();
    if (threadIdx.x == 0 && block.products > 0) add(*sums, block);
  }

 private:
  __device__ void look(bool wanted, int64_t i, int32_t products, int lane, int lanes, WindowSums& mine) const {
    LeftRow row{0, 0, 0};
    if (wanted) row = A.row(i);
    int32_t low = 0x7fffffff, high = 0;
    if (row.length <= longest_a) {
#pragma unroll 2
      for (int32_t k = lane; k < row.length; k += lanes) {
        const int64_t j = A.column(row, k), begin = B.begin(j), end = B.end(j);
        if (begin == end) continue;
        const auto first = static_cast<int32_t>(B.column(begin) >> block_log2),
                   last = static_cast<int32_t>(B.column(end - 1) >> block_log2);
        low = first < low ? first : low;
        high = last > high ? last : high;
      }
    } else {
      low = 0;
      high = widest;
    }
    for (int mask = lanes >> 1; mask > 0; mask >>= 1) {
      const int32_t other_low = gpu::shuffle_xor(low, mask, lanes), other_high = gpu::shuffle_xor(high, mask, lanes);
      low = other_low < low ? other_low : low;
      high = other_high > high ? other_high : high;
    }
    if (!wanted || lane != 0) return;
    const Window window{low, high - low + 1};
    windows[i] = window;
    mine.words += window.words;
    mine.products += products;
    mine.again += int64_t{products} * ((window.words + bitmap_words - 1) / bitmap_words - 1);
    mine.longest = window.words > mine.longest ? window.words : mine.longest;
  }

  /// Others add to it at the same time.
  __device__ static void add(WindowSums& to, const WindowSums& part) {
    const auto more = [](int64_t& sum, int64_t n) {
      atomicAdd(reinterpret_cast<unsigned long long*>(&sum), static_cast<unsigned long long>(n));
    };
    more(to.words, part.words);
    more(to.products, part.products);
    more(to.again, part.again);
    atomicMax(&to.longest, part.longest);
  }
};

/// A warp a row. Fill: columns, and product slots if they are kept.
template <class Left, class I, bool Fill>
struct NarrowRows {
  static constexpr int threads = 128, warps = threads / 32;
  static constexpr int32_t most_words = 2048;  // of a bitmap: longer windows are gone through in slices
  Left A;
  Pattern<I> B;
  const int32_t* list;  // null: all
  int64_t count;
  const Window* windows;
  SymbolicTarget<I> target;
  int32_t words;  // of a warp's bitmap, a multiple of 32

  size_t shared_bytes() const { return warps * (32 * sizeof(int64_t) + static_cast<size_t>(words) * (Fill ? 6 : 4)); }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    const int64_t item = static_cast<int64_t>(blockIdx.x) * warps + warp;
    if (item >= count) return;
    auto* const begins = reinterpret_cast<int64_t*>(shared) + warp * 32;
    auto* const bits = reinterpret_cast<uint32_t*>(shared + warps * 32 * sizeof(int64_t)) + warp * words;
    auto* const ranks = reinterpret_cast<uint16_t*>(bits + (warps - warp) * words) + warp * words;
    const int64_t i = list != nullptr ? list[item] : item;
    const LeftRow row = A.row(i);
    const Window window = windows[i];
    int32_t before = 0;
    for (int32_t done = 0; done < window.words; done += words) {
      const int32_t first = window.first + done, used = min(words, window.words - done);
      for (int32_t w = lane; w < used; w += 32) bits[w] = 0;
      gpu::sync32();
      const auto word_of = [&](int32_t column) { return static_cast<uint32_t>((column >> block_log2) - first); };
      const auto bit_of = [](int32_t column) { return 1u << (static_cast<uint32_t>(column) & 31u); };
      walk_columns(A, row, B, begins, lane, [&](bool there, int32_t, int32_t column) {
        if (const uint32_t w = word_of(column); there && w < static_cast<uint32_t>(used))
          atomicOr(bits + w, bit_of(column));
      });
      gpu::sync32();
      if constexpr (!Fill) {
        for (int32_t w = lane; w < used; w += 32) before += __popc(bits[w]);
      } else {
        before += write(bits, ranks, first, used, before, target.columns + target.offsets.at(i) + before, lane);
        if (target.slots == nullptr) continue;
        gpu::sync32();
        uint16_t* const slots = target.slots + target.slot_begins[i];
        walk_columns(A, row, B, begins, lane, [&](bool there, int32_t product, int32_t column) {
          if (const uint32_t w = word_of(column); there && w < static_cast<uint32_t>(used))
            slots[product] = static_cast<uint16_t>(ranks[w] + __popc(bits[w] & (bit_of(column) - 1)));
        });
      }
      gpu::sync32();
    }
    if constexpr (!Fill) {
      before = gpu::subgroup_sum(before, 32);
      if (lane == 0) target.counts[i] = before;
    }
  }

 private:
  /// The slice's columns to `out`, and how many of the row's lie before each word; returns how many it wrote.
  __device__ int32_t write(const uint32_t* bits, uint16_t* ranks, int32_t first, int32_t used, int32_t before, I* out,
                           int lane) const {
    int32_t written = 0;
    for (int32_t w = 0; w < used; w += 32) {
      const uint32_t word = w + lane < used ? bits[w + lane] : 0;
      const int32_t inclusive = gpu::subgroup_scan(__popc(word), 32), rank = written + inclusive - __popc(word);
      ranks[w + lane] = static_cast<uint16_t>(before + rank);
      const int32_t total = gpu::shuffle_from(inclusive, 31, 32);
      if (total <= few) {
        write_bits(out + rank, first + w + lane, word);
      } else {
        I* to = out + written;
        for (int s = 0; s < 32; ++s) {
          const uint32_t bits_of_word = gpu::shuffle_from(word, s, 32);
          if ((bits_of_word >> lane & 1u) != 0)
            to[__popc(bits_of_word & ((1u << lane) - 1))] = (static_cast<I>(first + w + s) << block_log2) + lane;
          to += __popc(bits_of_word);
        }
      }
      written += total;
    }
    return written;
  }
  static constexpr int32_t few = 96;  // columns of 32 words, which each lane writes its own of
};

/// What is known of rows' windows.
struct Windows {
  Buffer each;        // Window[rows]; empty: rows are too wide
  int32_t words = 0;  // of a bitmap

  const Window* data() const { return each.as<Window>(); }
  bool there() const { return each.data() != nullptr; }
};

/// Those of the rows of more than `least` and at most `most` products, if bitmaps of them are worth it.
template <class Left, class I>
Windows find_windows(Queue& queue, const Problem<Left, I>& p, const int32_t* bounds, int32_t least, int32_t most) {
  using F = FindWindows<Left, I>;
  constexpr int32_t most_words = NarrowRows<Left, I, true>::most_words;
  Windows windows;
  windows.each = p.template array<Window>(p.rows);
  const Buffer sums = p.template array<WindowSums>(1);
  clear(queue, sums);
  const int lanes = lanes_log2_for(p.nnz_a, p.rows);
  launch_round(
      queue, p.rows << lanes,
      F{p.A, p.B.B, p.rows, bounds, least, most, most_words, lanes, windows.each.as<Window>(), sums.as<WindowSums>()});
  const auto found = read_back<WindowSums>(queue, sums.data());
  windows.words = (std::min(found.longest, most_words) + 31) / 32 * 32;
  // A product by a hash costs as much as several words, or as going through it several times.
  if (found.words > 4 * found.products || found.again > 3 * found.products) windows.each = Buffer();
  return windows;
}

}  // namespace kkc::spgemm::gpu_parts
