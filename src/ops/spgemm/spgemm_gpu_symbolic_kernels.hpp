// Columns of C's rows: hash tables of (block of 32 columns, mask) in shared memory, one for a subgroup or a block of
// threads (Nagasaka, Nukada, Matsuoka, "High-performance and memory-saving sparse general matrix-matrix multiplication
// for NVIDIA Pascal GPU", ICPP'17, section III), and bitmaps of columns where rows are dense (Parger et al., "spECK",
// PPoPP'20, section 4.3). Blocks are put in order by a bitmap of themselves, or by a bitonic sort where they lie far
// apart; the masks give the order inside a block, so columns come out sorted.
#pragma once

#include "device/gpu_bitonic.hpp"
#include "spgemm_gpu_block.hpp"

namespace kkc::spgemm::gpu_parts {

/// Blocks of columns and their masks.
struct BlockTable : HashedKeys {
  uint32_t* masks;

  __device__ void clear(int thread, int threads) const {
    struct alignas(16) Four {
      int32_t e[4];
    };
    auto* const wide_keys = reinterpret_cast<Four*>(keys);
    auto* const wide_masks = reinterpret_cast<Four*>(masks);
    for (uint32_t i = static_cast<uint32_t>(thread); i <= mask / 4; i += static_cast<uint32_t>(threads)) {
      wide_keys[i] = {{empty, empty, empty, empty}};
      wide_masks[i] = {};
    }
  }
  /// How many columns are new; whether the block is.
  __device__ int32_t unite(int32_t block, uint32_t bits, uint32_t& place, bool& fresh) const {
    int32_t before;
    place = insert(block, before);
    fresh = before == empty;
    return __popc(bits & ~atomicOr(masks + place, bits));
  }
};

/// Where the symbolic phase writes. Counting: counts. Filling: columns, and product slots if they are kept.
template <class I>
struct SymbolicTarget {
  int32_t* counts;
  Offsets offsets;
  I* columns;
  const int64_t* slot_begins;
  uint16_t* slots;    // null: not kept
  int32_t any_order;  // rows of so many columns or fewer may come as the tables have them
};

template <class I>
__device__ inline void write_bits(I* out, int32_t block, uint32_t mask) {
  for (; mask != 0; mask &= mask - 1)
    *out++ = (static_cast<I>(block) << block_log2) + static_cast<I>(__ffs(static_cast<int>(mask)) - 1);
}

/// A subgroup a row, for rows of few blocks: at most four places of the table a lane.
template <class Left, class I, bool Fill>
struct HashRowsSubgroup {
  static constexpr int threads = 128;
  Left A;
  PlainRight<I> B;
  const int32_t* list;  // null: all
  int64_t count;
  SymbolicTarget<I> target;
  int32_t lanes_log2, table_log2;

  static constexpr size_t shared_bytes(int lanes_log2, int table_log2) {
    return static_cast<size_t>(threads >> lanes_log2) * (size_t{10} << table_log2);
  }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    const int lanes = 1 << lanes_log2, lane = static_cast<int>(threadIdx.x) & (lanes - 1),
              group = static_cast<int>(threadIdx.x) >> lanes_log2;
    const uint32_t places = 1u << table_log2;
    int32_t* const keys = reinterpret_cast<int32_t*>(shared) + 2 * places * static_cast<uint32_t>(group);
    uint32_t* const masks = reinterpret_cast<uint32_t*>(keys + places);
    uint16_t* const befores = reinterpret_cast<uint16_t*>(shared + 8 * places * (threads >> lanes_log2)) +
                              places * static_cast<uint32_t>(group);  // columns before each place's block
    const BlockTable table{{keys, places - 1}, masks};
    const int64_t item = static_cast<int64_t>(blockIdx.x) * (threads >> lanes_log2) + group;
    const bool mine = item < count;
    int64_t i = 0;
    LeftRow row{0, 0, 0};
    if (mine) {
      i = list != nullptr ? list[item] : item;
      row = A.row(i);
    }
    table.clear(lane, lanes);
    gpu::sync32();
    int32_t found = 0;
    walk<false>(A, row, B, lane, lanes, 0, 1, [&](bool there, int32_t, int32_t block, uint32_t mask) {
      uint32_t place;
      bool fresh;
      if (there) found += table.unite(block, mask, place, fresh);
    });
    gpu::sync32();
    if constexpr (!Fill) {
      found = gpu::subgroup_sum(found, lanes);
      if (mine && lane == 0) target.counts[i] = found;
    } else {
      I* const out = mine ? target.columns + target.offsets.at(i) : nullptr;
      constexpr int most = 4;
      int32_t before[most] = {};
      if (target.any_order > 0) {  // no row here is longer
        int32_t running = 0;
#pragma unroll
        for (int e = 0; e < most; ++e) {
          const uint32_t t = static_cast<uint32_t>(lane + e * lanes);
          const int32_t columns = t < places ? __popc(masks[t]) : 0, inclusive = gpu::subgroup_scan(columns, lanes);
          before[e] = running + inclusive - columns;
          running += gpu::shuffle_from(inclusive, lanes - 1, lanes);
        }
      } else {
        for (uint32_t s = 0; s < places; ++s) {
          const uint32_t key = static_cast<uint32_t>(keys[s]);
          const int32_t columns = __popc(masks[s]);
#pragma unroll
          for (int e = 0; e < most; ++e) {
            const uint32_t t = static_cast<uint32_t>(lane + e * lanes);
            if (t < places && key < static_cast<uint32_t>(keys[t])) before[e] += columns;
          }
        }
      }
#pragma unroll
      for (int e = 0; e < most; ++e) {
        const uint32_t t = static_cast<uint32_t>(lane + e * lanes);
        if (t >= places || masks[t] == 0) continue;
        befores[t] = static_cast<uint16_t>(before[e]);
        write_bits(out + before[e], keys[t], masks[t]);
      }
      gpu::sync32();
      if (target.slots == nullptr) return;
      uint16_t* const slots = mine ? target.slots + target.slot_begins[i] : nullptr;
      walk<true>(A, row, B, lane, lanes, 0, 1, [&](bool there, int32_t product, int32_t block, uint32_t bit) {
        if (!there) return;
        const int place = table.find(block);
        slots[product] = static_cast<uint16_t>(befores[place] + __popc(masks[place] & (bit - 1)));
      });
    }
  }
};

/// What ordering a block's table needs in shared memory besides it.
struct OrderSpace {
  uint16_t* list;     // [places]: places that are taken, as they were
  uint16_t* sorted;   // [places]: the same in ascending order of blocks
  uint16_t* befores;  // [places]: columns before each place's block; where the list was
  uint32_t* present;  // [words]: bitmap of blocks
  uint16_t* ranks;    // [words]
  int32_t words;
  uint32_t* products;  // where each product's block is, and its bit; if slots are kept
};

enum class Phase { count, fill, classes };

/// Rows that stand for a class of rows: room is taken as it is needed.
struct ClassTarget {
  int32_t* counts;      // columns of each class's row
  int32_t* bases;       // column to which its columns are relative
  int64_t* columns_at;  // where they begin
  int64_t* slots_at;
  int64_t* products;
  int32_t* columns;
  uint16_t* slots;
  unsigned long long* cursors;  // [2], zero: of columns and slots
  int64_t columns_room, slots_room;
  int32_t* failed;
};

/// A block of threads a row.
template <class Left, class I, Phase phase, int Threads>
struct HashRowsBlock {
  static constexpr int threads = Threads;
  Left A;
  PlainRight<I> B;
  const int32_t* list;
  SymbolicTarget<I> target;
  ClassTarget classes;
  int32_t table_log2;
  int32_t order_words;
  int32_t most_products;  // of a row, if slots are kept; else 0

  size_t shared_bytes() const {
    if (phase == Phase::count) return size_t{4} << table_log2;
    return (size_t{12} << table_log2) + static_cast<size_t>(order_words) * 6 + static_cast<size_t>(most_products) * 4;
  }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    __shared__ int32_t sums[33];
    __shared__ int32_t low, high, used;
    __shared__ unsigned long long at[2], products;
    constexpr int warps = Threads / 32;
    const int thread = static_cast<int>(threadIdx.x), lane = thread & 31, warp = thread >> 5;
    const uint32_t places = 1u << table_log2;
    int32_t* const keys = reinterpret_cast<int32_t*>(shared);
    uint32_t* const masks = reinterpret_cast<uint32_t*>(keys + places);
    const BlockTable table{{keys, places - 1}, masks};
    const OrderSpace space = order_space(shared, places);
    const int64_t i = list != nullptr ? list[blockIdx.x] : blockIdx.x;
    const LeftRow row = A.row(i);
    if (thread == 0) {
      low = 0x7fffffff;
      high = -1;
      used = 0;
      products = 0;
    }
    int32_t least = 0x7fffffff, most = -1, found = 0, all;
    if constexpr (phase == Phase::count) {
      // Single columns: one atomic operation each.
      table.HashedKeys::clear(thread, Threads);
      __syncthreads();
      walk<false>(A, row, RightColumns<I>{B.B}, lane, 32, warp, warps,
                  [&](bool there, int32_t, int32_t column, uint32_t) {
                    int32_t before = 0;
                    if (there) table.insert(column, before);
                    if (there && before == HashedKeys::empty) ++found;
                  });
      block_scan(found, sums, all);
      if (thread == 0) target.counts[i] = all;
      return;
    }
    table.clear(thread, Threads);
    __syncthreads();
    walk<phase == Phase::fill>(
        A, row, B, lane, 32, warp, warps, [&](bool there, int32_t product, int32_t block, uint32_t mask) {
          uint32_t place = 0;
          bool fresh = false;
          // A class's row may have more blocks than the table; by then it has given up.
          if (phase == Phase::classes && *static_cast<volatile int32_t*>(&used) > static_cast<int32_t>(places) * 3 / 4)
            there = false;
          if (there) {
            found += table.unite(block, mask, place, fresh);
            if (phase == Phase::fill && target.slots != nullptr)
              space.products[product] = place << block_log2 | static_cast<uint32_t>(__ffs(static_cast<int>(mask)) - 1);
          }
          const uint32_t new_ones = gpu::ballot32(fresh);
          if (new_ones == 0) return;
          int32_t at = 0;
          if (lane == 0) at = atomicAdd(&used, __popc(new_ones));
          at = gpu::shuffle_from(at, 0, 32) + __popc(new_ones & ((1u << lane) - 1));
          if (!fresh) return;
          space.list[at] = static_cast<uint16_t>(place);
          least = block < least ? block : least;
          most = block > most ? block : most;
        });
    most = warp_max(most);
    least = -warp_max(-least);
    if (lane == 0) {
      atomicMin(&low, least);
      atomicMax(&high, most);
    }
    __syncthreads();

    if constexpr (phase == Phase::classes) {
      block_scan(found, sums, all);
      if (!take_room(i, row, all, used > static_cast<int32_t>(places) * 3 / 4, at, &products)) return;
    }
    if constexpr (phase != Phase::count) {
      const int32_t blocks = used;
      bool ordered = true;
      if constexpr (phase == Phase::fill)
        ordered = target.offsets.at(i + 1) - target.offsets.at(i) > int64_t{target.any_order};
      if (ordered) {
        order(table, space, blocks, low, high, sums);
      } else {
        for (int32_t r = thread; r < blocks; r += Threads) space.sorted[r] = space.list[r];
        __syncthreads();
      }
      const auto each = [&](const auto& write) {
        int32_t running = 0;
        for (int32_t first = 0; first < blocks; first += Threads) {
          const int32_t r = first + thread;
          const int place = r < blocks ? space.sorted[r] : 0;
          const uint32_t mask = r < blocks ? masks[place] : 0;
          int32_t all;
          const int32_t before = running + block_scan(__popc(mask), sums, all);
          if (r < blocks) space.befores[place] = static_cast<uint16_t>(before);
          write(before, keys[place], mask);
          running += all;
        }
        __syncthreads();
      };
      uint16_t* slots = nullptr;
      if constexpr (phase == Phase::fill) {
        I* const out = target.columns + target.offsets.at(i);
        each([&](int32_t before, int32_t block, uint32_t mask) { write_bits(out + before, block, mask); });
        if (target.slots != nullptr) slots = target.slots + target.slot_begins[i];
      } else {
        const int32_t base = classes.bases[i];
        int32_t* const out = classes.columns + at[0];
        each([&](int32_t before, int32_t block, uint32_t mask) {
          for (int32_t* to = out + before; mask != 0; mask &= mask - 1)
            *to++ = (block << block_log2) + (__ffs(static_cast<int>(mask)) - 1) - base;
        });
        slots = classes.slots + at[1];
      }
      if constexpr (phase == Phase::classes) {
        walk<true>(A, row, B, lane, 32, warp, warps, [&](bool there, int32_t product, int32_t block, uint32_t bit) {
          if (!there) return;
          const int place = table.find(block);
          slots[product] = static_cast<uint16_t>(space.befores[place] + __popc(masks[place] & (bit - 1)));
        });
      } else if (slots != nullptr) {
        const auto count = static_cast<int32_t>(target.slot_begins[i + 1] - target.slot_begins[i]);
        for (int32_t p = thread; p < count; p += Threads) {
          const uint32_t product = space.products[p], place = product >> block_log2;
          slots[p] = static_cast<uint16_t>(space.befores[place] + __popc(masks[place] & ((1u << (product & 31u)) - 1)));
        }
      }
    }
  }

  __device__ OrderSpace order_space(char* shared, uint32_t places) const {
    OrderSpace s;
    s.present = reinterpret_cast<uint32_t*>(shared + 8 * static_cast<size_t>(places));
    s.sorted = reinterpret_cast<uint16_t*>(s.present + order_words);
    s.list = s.befores = s.sorted + places;
    s.ranks = s.befores + places;
    s.words = order_words;
    s.products = reinterpret_cast<uint32_t*>(s.ranks);
    s.ranks = reinterpret_cast<uint16_t*>(s.products + most_products);
    return s;
  }

  /// Whether the class's columns and slots have room; then where.
  __device__ bool take_room(int64_t i, const LeftRow& row, int32_t found, bool full, unsigned long long* at,
                            unsigned long long* products) const {
    int64_t sum = 0;
    for (int32_t k = static_cast<int32_t>(threadIdx.x); k < row.length; k += Threads) {
      const int64_t j = A.column(row, k);
      sum += B.end(j) - B.begin(j);
    }
    atomicAdd(products, static_cast<unsigned long long>(sum));
    __syncthreads();
    if (threadIdx.x == 0) {
      at[0] = atomicAdd(&classes.cursors[0], static_cast<unsigned long long>(found));
      at[1] = atomicAdd(&classes.cursors[1], *products);
      classes.counts[i] = found;
      classes.columns_at[i] = static_cast<int64_t>(at[0]);
      classes.slots_at[i] = static_cast<int64_t>(at[1]);
      classes.products[i] = static_cast<int64_t>(*products);
    }
    __syncthreads();
    const bool fits =
        !full && found <= 0xffff &&
        at[0] + static_cast<unsigned long long>(found) <= static_cast<unsigned long long>(classes.columns_room) &&
        at[1] + *products <= static_cast<unsigned long long>(classes.slots_room);
    if (!fits && threadIdx.x == 0) *classes.failed = 1;
    return fits;
  }

  /// Fills space.sorted.
  __device__ void order(const BlockTable& table, const OrderSpace& s, int32_t blocks, int32_t low, int32_t high,
                        int32_t* sums) const {
    const auto thread = static_cast<int32_t>(threadIdx.x);
    const int32_t words = blocks > 0 ? (high >> 5) - (low >> 5) + 1 : 0;
    if (words <= s.words) {
      for (int32_t w = thread; w < words; w += Threads) s.present[w] = 0;
      __syncthreads();
      for (int32_t r = thread; r < blocks; r += Threads) {
        const int32_t key = table.keys[s.list[r]];
        atomicOr(&s.present[(key >> 5) - (low >> 5)], 1u << (static_cast<uint32_t>(key) & 31u));
      }
      __syncthreads();
      const int32_t run = (words + Threads - 1) / Threads, begin = thread * run;
      int32_t mine = 0, all;
      for (int32_t w = begin; w < begin + run && w < words; ++w) mine += __popc(s.present[w]);
      int32_t before = block_scan(mine, sums, all);
      for (int32_t w = begin; w < begin + run && w < words; ++w) {
        s.ranks[w] = static_cast<uint16_t>(before);
        before += __popc(s.present[w]);
      }
      __syncthreads();
      for (int32_t r = thread; r < blocks; r += Threads) {
        const uint16_t place = s.list[r];
        const int32_t key = table.keys[place], w = (key >> 5) - (low >> 5);
        const uint32_t below = (1u << (static_cast<uint32_t>(key) & 31u)) - 1;
        s.sorted[s.ranks[w] + __popc(s.present[w] & below)] = place;
      }
      __syncthreads();
      return;
    }
    int32_t size = 2;
    while (size < blocks) size *= 2;
    for (int32_t r = thread; r < size; r += Threads) s.sorted[r] = r < blocks ? s.list[r] : 0xffff;
    const auto key_of = [&](uint16_t place) {
      return place == 0xffff ? ~0u : static_cast<uint32_t>(table.keys[place]);
    };
    gpu::bitonic_sort_shared(s.sorted, size, [&](uint16_t a, uint16_t b) { return key_of(a) < key_of(b); });
  }
};

/// A block of threads a row: the row's columns as bits in shared memory, in slices of so many words.
template <class Left, class I, bool Fill>
struct BitmapRows {
  static constexpr int threads = 512;
  Left A;
  PlainRight<I> B;
  const int32_t* list;
  SymbolicTarget<I> target;
  int64_t words;  // of a row
  int32_t slice;  // a multiple of threads

  __device__ void operator()() const {
    extern __shared__ char shared[];
    __shared__ int32_t sums[33];
    uint32_t* const bits = reinterpret_cast<uint32_t*>(shared);
    constexpr int warps = threads / 32;
    const int thread = static_cast<int>(threadIdx.x), lane = thread & 31, warp = thread >> 5;
    const int64_t i = list != nullptr ? list[blockIdx.x] : blockIdx.x;
    const LeftRow row = A.row(i);
    I* out = nullptr;
    if constexpr (Fill) out = target.columns + target.offsets.at(i);
    int32_t found = 0;
    for (int64_t first = 0; first < words; first += slice) {
      for (int w = thread; w < slice; w += threads) bits[w] = 0;
      __syncthreads();
      walk<false>(A, row, B, lane, 32, warp, warps, [&](bool there, int32_t, int32_t block, uint32_t mask) {
        const int64_t w = block - first;
        if (there && w >= 0 && w < slice) atomicOr(&bits[w], mask);
      });
      __syncthreads();
      if constexpr (!Fill) {
        for (int w = thread; w < slice; w += threads) found += __popc(bits[w]);
        __syncthreads();
      } else {
        out += write(bits, first, out, warp, lane, sums);
      }
    }
    if constexpr (!Fill) {
      int32_t all;
      block_scan(found, sums, all);
      if (thread == 0) target.counts[i] = all;
    }
  }

  /// Each warp has a run of words; returns how many columns the block wrote.
  __device__ int32_t write(const uint32_t* bits, int64_t first, I* out, int warp, int lane, int32_t* sums) const {
    const int run = slice / (threads / 32);
    const uint32_t* const words_of_warp = bits + warp * run;
    int32_t mine = 0, all;
    for (int w = lane; w < run; w += 32) mine += __popc(words_of_warp[w]);
    // Lanes of a warp lie together in the scan, so its first lane's place is the warp's.
    const int32_t before = block_scan(mine, sums, all);
    I* to = out + gpu::shuffle_from(before, 0, 32);
    const I column = static_cast<I>(first + warp * run) << block_log2;
    for (int w = 0; w < run; w += 32) {
      const uint32_t word = words_of_warp[w + lane];
      if (gpu::ballot32(word != 0) == 0) continue;
      const int32_t inclusive = gpu::subgroup_scan(__popc(word), 32);
      const int32_t total = gpu::shuffle_from(inclusive, 31, 32);
      if (total <= 96) {
        write_bits(to + inclusive - __popc(word), static_cast<int32_t>((column >> block_log2) + w + lane), word);
      } else {
        int32_t at = 0;
        for (int s = 0; s < 32; ++s) {
          const uint32_t bits_of_word = gpu::shuffle_from(word, s, 32);
          if ((bits_of_word >> lane & 1u) != 0)
            to[at + __popc(bits_of_word & ((1u << lane) - 1))] = column + static_cast<I>((w + s) * 32 + lane);
          at += __popc(bits_of_word);
        }
      }
      to += total;
    }
    __syncthreads();
    return all;
  }
};

}  // namespace kkc::spgemm::gpu_parts
