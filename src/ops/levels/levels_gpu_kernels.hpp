// Kernels of levels on GPUs: rows in their natural order, without launches or barriers between levels. A level is its
// own flag: 0 says that it is not known yet, and readers ask again (Liu et al., "A synchronization-free algorithm for
// parallel sparse triangular solves", Euro-Par 2016, section 3). Blocks take tickets, so that the rows before a block's
// are always running or done, whatever order the device starts blocks in.
#pragma once

#include <cstdint>
#include <type_traits>

#include "levels_gpu_grid.hpp"

namespace kkc::levels::gpu_parts {

/// In device memory; StartLevels begins them.
struct Counts {
  unsigned long long missing;  // the first row without a diagonal entry; none: ~0
  unsigned long long entries;  // of the triangle without its diagonal
  unsigned long long highest;  // level + 1
  unsigned long long crowded;  // entries in rows of more than a given number
  unsigned ticket;
  unsigned unparted;

  __device__ static Counts none() { return {~0ull, 0, 0, 0, 0, 0}; }
};

/// What a lane, and then the lanes of a row, learn of where the row's entries lie.
template <class O>
struct Places {
  static constexpr O none = static_cast<O>(~std::make_unsigned_t<O>{} >> 1);
  O last_left = -1, first_diagonal = none, last_diagonal = -1, first_right = none;

  /// In any order of the places.
  __device__ void note(O place, bool left, bool diagonal) {
    if (left) {
      last_left = max(last_left, place);
    } else if (diagonal) {
      first_diagonal = min(first_diagonal, place);
      last_diagonal = max(last_diagonal, place);
    } else {
      first_right = min(first_right, place);
    }
  }
  __device__ void join(int lanes) {
    for (int mask = lanes >> 1; mask > 0; mask >>= 1)
      add(gpu::shuffle_xor(last_left, mask, 32), gpu::shuffle_xor(first_diagonal, mask, 32),
          gpu::shuffle_xor(last_diagonal, mask, 32), gpu::shuffle_xor(first_right, mask, 32));
  }
  /// What others learned of the row, members in their order.
  __device__ void add(O left, O first, O last, O right) {
    last_left = max(last_left, left);
    first_diagonal = min(first_diagonal, first);
    last_diagonal = max(last_diagonal, last);
    first_right = min(first_right, right);
  }
  __device__ bool present() const { return first_diagonal != none; }
  __device__ bool parted() const {
    return last_left < min(first_diagonal, first_right) && last_diagonal < first_right &&
           (!present() || first_diagonal == last_diagonal);
  }
  __device__ O code(O end) const {
    return present() ? first_diagonal : static_cast<O>(~(first_right == none ? end : first_right));
  }
};

template <class I>
struct StartLevels {
  static constexpr int threads = 256;
  I* level;
  int64_t rows;
  Counts* counts;

  __device__ void operator()() const {
    const int64_t first = int64_t{blockIdx.x} * threads + threadIdx.x;
    for (int64_t i = first; i < rows; i += int64_t{gridDim.x} * threads) level[i] = 0;
    if (first == 0) *counts = Counts::none();
  }
};

/// Where the diagonals lie, and what the rows are like: a row for `1 << lanes_log2` lanes.
template <class I, class O>
struct FindDiagonals {
  static constexpr int threads = 256, most_giants = 64;
  static constexpr O giant_row = 2048;  // rows of more entries take the whole block
  const O* offsets;
  const I* indices;
  int64_t rows;
  int32_t base;
  bool lower;
  int lanes_log2;
  O long_row;     // rows of more entries take the whole warp
  int64_t crowd;  // entries of a crowded row, more than
  O* diagonal;
  I* level;  // null, or where FindLevels begins: 1 for rows that depend on none, else 0
  Counts* counts;

  __device__ void operator()() const { run(blockIdx.x, gridDim.x); }
  __device__ void run(unsigned block, unsigned blocks) const {
    __shared__ unsigned long long entries, crowded;
    __shared__ int64_t giants[most_giants];
    __shared__ int giant_count;
    if (threadIdx.x == 0) entries = crowded = giant_count = 0;
    __syncthreads();
    const int lane = static_cast<int>(threadIdx.x) & 31, each = 32 >> lanes_log2;
    unsigned long long mine = 0, mine_crowded = 0;
    const int64_t step = int64_t{blocks} * (threads / 32) * each;
    for (int64_t first = (int64_t{block} * (threads / 32) + threadIdx.x / 32) * each; first < rows; first += step)
      find(first + (lane >> lanes_log2), lane, giants, &giant_count, mine, mine_crowded);
    __syncthreads();
    const int count = min(giant_count, most_giants);
    for (int g = 0; g < count; ++g) find_giant(giants[g], mine, mine_crowded);
    mine = gpu::subgroup_sum(mine, 32);
    mine_crowded = gpu::subgroup_sum(mine_crowded, 32);
    if (lane == 0) {
      atomicAdd(&entries, mine);
      atomicAdd(&crowded, mine_crowded);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    atomicAdd(&counts->entries, entries);
    if (crowded != 0) atomicAdd(&counts->crowded, crowded);
  }

 private:
  /// Rows of many entries are left to the whole block, as long as there is room in its list.
  __device__ void find(int64_t row, int lane, int64_t* giants, int* giant_count, unsigned long long& entries,
                       unsigned long long& crowded) const {
    const int lanes = 1 << lanes_log2, e = lane & (lanes - 1);
    const bool valid = row < rows, writes = valid && e == 0;
    const O begin = valid ? offsets[row] - base : 0, end = valid ? offsets[row + 1] - base : 0;
    const bool whole_warp = end - begin > long_row;
    bool given = false;
    if (writes && whole_warp && end - begin > giant_row) {
      const int at = atomicAdd(giant_count, 1);
      given = at < most_giants;
      if (given) giants[at] = row;
    }
    Places<O> places;
    const auto note = [&](O p, int64_t of, Places<O>& found) {
      const int64_t column = static_cast<int64_t>(indices[p]) - base;
      found.note(p, column < of, column == of);
    };
    if (!whole_warp)
      for (O p = begin + e; p < end; p += lanes) note(p, row, places);
    for (uint32_t longs = gpu::ballot32(writes && whole_warp && !given); longs != 0; longs &= longs - 1) {
      const int leader = __ffs(static_cast<int>(longs)) - 1;
      const O from = gpu::shuffle_from(begin, leader, 32), to = gpu::shuffle_from(end, leader, 32);
      const int64_t of = gpu::shuffle_from(row, leader, 32);
      Places<O> found;
#pragma unroll 4
      for (O p = from + lane; p < to; p += 32) note(p, of, found);
      gpu::sync32();
      found.join(32);
      if (lane - e == leader) places = found;
    }
    gpu::sync32();
    places.join(lanes);
    if (writes && !given) keep(row, begin, end, places, entries, crowded);
  }

  /// By all threads of the block.
  __device__ void find_giant(int64_t row, unsigned long long& entries, unsigned long long& crowded) const {
    __shared__ O parts[threads / 32][4];
    constexpr int batch = 8;
    const O begin = offsets[row] - base, end = offsets[row + 1] - base;
    Places<O> places;
    for (O first = begin; first < end; first += threads * batch) {
      I columns[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const O p = first + static_cast<O>(u * threads) + static_cast<O>(threadIdx.x);
        if (p < end) columns[u] = indices[p];
      }
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const O p = first + static_cast<O>(u * threads) + static_cast<O>(threadIdx.x);
        const int64_t column = static_cast<int64_t>(columns[u]) - base;
        if (p < end) places.note(p, column < row, column == row);
      }
    }
    places.join(32);
    O* const mine = parts[threadIdx.x / 32];
    if (threadIdx.x % 32 == 0) {
      mine[0] = places.last_left;
      mine[1] = places.first_diagonal;
      mine[2] = places.last_diagonal;
      mine[3] = places.first_right;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int i = 1; i < threads / 32; ++i) places.add(parts[i][0], parts[i][1], parts[i][2], parts[i][3]);
      keep(row, begin, end, places, entries, crowded);
    }
    __syncthreads();
  }

  __device__ void keep(int64_t row, O begin, O end, const Places<O>& places, unsigned long long& entries,
                       unsigned long long& crowded) const {
    diagonal[row] = places.code(end);
    if (level != nullptr) level[row] = lower ? places.last_left < 0 : places.first_right == Places<O>::none;
    if (!places.parted()) counts->unparted = 1;
    if (!places.present() && static_cast<unsigned long long>(row) < gpu::load_fresh(&counts->missing))
      atomicMin(&counts->missing, static_cast<unsigned long long>(row));
    const O place = places.present() ? places.first_diagonal : min(places.first_right, end);
    entries += static_cast<unsigned long long>(lower ? place - begin : end - place - places.present());
    if (end - begin > crowd) crowded += static_cast<unsigned long long>(end - begin);
  }
};

/// A row for `1 << lanes_log2` lanes of a warp. Rows of one warp may depend on each other: chains of neighbours, which
/// grids have, are added up by a scan over the warp; else such a row waits for the next look at its dependencies. A
/// warp takes `chunk` rows, one group after the other: where each group needs the one before it that costs nothing, and
/// so many more rows are under way at once.
template <class I, class O, int deep>
struct FindLevels {
  static constexpr int threads = 128, warps = threads / 32, batch = 4;
  // Nanoseconds between looks that found nothing: others need the issue slots. Where rows have several lanes, so many
  // more for each lane that waits, the longer it lasts: looks of rows that wait far behind the others would take all of
  // the second-level cache's bandwidth.
  static constexpr unsigned nap = 200, nap_of_lane = 100, nap_grows_by = 10;
  const O* offsets;
  const I* indices;
  int64_t rows, taken;  // the first `taken` in their order
  int32_t base;
  bool lower, parted;
  int lanes_log2;
  int64_t chunk;
  I* level;           // level + 1; 0: not known yet
  const O* diagonal;  // as Levels::diagonal
  Counts* counts;
  O long_row;  // rows of more entries take the whole warp, `deep` a lane at a time

  /// Rows count in the order in which they are taken.
  __device__ int64_t turned(int64_t row) const { return lower ? row : rows - 1 - row; }

  __device__ void operator()() const {
    __shared__ unsigned ticket;
    __shared__ I known[warps][32];  // by first lane of the row
    if (threadIdx.x == 0) ticket = atomicAdd(&counts->ticket, 1u);
    __syncthreads();
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int64_t begin = (static_cast<int64_t>(ticket) * warps + warp) * chunk, end = min(taken, begin + chunk);
    const int64_t each = 32 >> lanes_log2;
    for (int64_t first = begin; first < end; first += each) {
      if (first + each < end) ask_for(first + each, min(end, first + 2 * each) - 1);
      find(first, end, known[warp]);
    }
  }

 private:
  /// Brings the columns of a group's rows into the second-level cache.
  __device__ void ask_for(int64_t first, int64_t last) const {
    const int64_t a = turned(first), b = turned(last);
    const O from = offsets[min(a, b)] - base, to = offsets[max(a, b) + 1] - base;
    constexpr O line = static_cast<O>(128 / sizeof(I));
    for (O p = from + static_cast<O>(threadIdx.x & 31u) * line; p < to; p += 32 * line) gpu::prefetch(indices + p);
  }

  __device__ void find(int64_t first, int64_t end_row, I* known) const {
    const int lanes = 1 << lanes_log2, each = 32 >> lanes_log2;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int r = lane >> lanes_log2, e = lane & (lanes - 1), at = r << lanes_log2;  // at: the row's first lane
    const int64_t q = first + r;
    const bool valid = q < end_row;
    const int64_t row = valid ? turned(q) : 0;
    O begin = valid ? offsets[row] - base : 0, end = valid ? offsets[row + 1] - base : 0;
    if (parted && valid) {
      const O place = diagonal[row];
      if (lower)
        end = place < 0 ? static_cast<O>(~place) : place;
      else
        begin = place < 0 ? static_cast<O>(~place) : static_cast<O>(place + 1);
    }

    I mine = 1;          // level + 1 as far as it is known
    uint32_t inner = 0;  // first lanes of the warp's rows that this one still waits for
    // Entry k of a row: those far from the diagonal first, as their levels are known first.
    const auto nth = [&](O k, O from, O to) { return lower ? static_cast<O>(from + k) : static_cast<O>(to - 1 - k); };
    O next = e;
    const O count = end - begin;
    const auto classify = [&](I index, int64_t q_of, uint32_t& within) -> I {
      const int64_t column = static_cast<int64_t>(index) - base, qc = turned(column);
      if (qc >= q_of) return -1;
      if (qc < first) return static_cast<I>(column);
      within |= 1u << (static_cast<int>(qc - first) << lanes_log2);
      return -1;
    };

    // Long rows take the whole warp: what they depend on outside it is waited for here, the rest below. Each goes as
    // far as it finds what it needs, then the next one's turn comes: none waits for another one's way through its
    // entries.
    O reached = 0;
    for (uint32_t longs = gpu::ballot32(e == 0 && count > long_row); longs != 0;) {
      for (uint32_t turns = longs; turns != 0; turns &= turns - 1) {
        const int holder = __ffs(static_cast<int>(turns)) - 1;
        const O from = gpu::shuffle_from(begin, holder, 32), to = gpu::shuffle_from(end, holder, 32);
        const int64_t q_of = first + (holder >> lanes_log2);
        const bool alone = (longs & (longs - 1)) == 0;
        uint32_t within = 0;
        I highest = 1;
        const O entries = to - from;
        O k = gpu::shuffle_from(reached, holder, 32);
        // Columns of the entries from k on, before their levels are asked for: the way to both takes as long.
        I columns[deep], waits[deep];
        const auto fetch = [&] {
#pragma unroll
          for (int u = 0; u < deep; ++u) {
            const O at_k = k + static_cast<O>(32 * u + lane);
            if (at_k < entries) columns[u] = indices[nth(at_k, from, to)];
          }
          const O later = k + static_cast<O>(32 * deep * 4) + static_cast<O>(deep * lane);
          if (later < entries) gpu::prefetch(indices + nth(later, from, to));
        };
        const auto classify_all = [&] {
#pragma unroll
          for (int u = 0; u < deep; ++u)
            waits[u] = k + static_cast<O>(32 * u + lane) < entries ? classify(columns[u], q_of, within) : I{-1};
        };
        fetch();
        for (bool open = false; !open && k < entries;) {
          classify_all();
          k += static_cast<O>(32 * deep);
          fetch();
          do {
            I value[deep];
#pragma unroll
            for (int u = 0; u < deep; ++u) value[u] = waits[u] >= 0 ? gpu::load_fresh(level + waits[u]) : I{0};
            open = false;
#pragma unroll
            for (int u = 0; u < deep; ++u) {
              if (value[u] != 0) {
                highest = max(highest, static_cast<I>(value[u] + 1));
                waits[u] = -1;
              }
              open = open || waits[u] >= 0;
            }
            open = gpu::ballot32(open) != 0;
          } while (open && alone);
          if (open) k -= static_cast<O>(32 * deep);
        }
        for (int mask = 16; mask > 0; mask >>= 1) {
          highest = max(highest, gpu::shuffle_xor(highest, mask, 32));
          within |= gpu::shuffle_xor(within, mask, 32);
        }
        if (holder == at) {
          mine = max(mine, highest);
          inner |= within;
          reached = k;
          next = count;
        }
        if (k >= entries) longs &= ~(1u << holder);
      }
    }

    const uint32_t all = gpu::ballot32(valid && e == 0);
    uint32_t finals = 0;
    I waits[batch];
    int open = 0;
    unsigned in_vain = 0;  // looks since one found something
    bool changed = true;   // of what the rows below are decided by, since that was done last
#pragma unroll
    for (int u = 0; u < batch; ++u) waits[u] = -1;
    while (finals != all) {
      if (open == 0 && next < count) {
        changed = true;
#pragma unroll
        for (int u = 0; u < batch; ++u) {
          const O k = next + static_cast<O>(u << lanes_log2);
          waits[u] = k < count ? classify(indices[nth(k, begin, end)], q, inner) : I{-1};
          open += waits[u] >= 0;
        }
        next += static_cast<O>(batch << lanes_log2);
      }
      I value[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u) value[u] = waits[u] >= 0 ? gpu::load_fresh(level + waits[u]) : I{0};
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (value[u] != 0) {
          mine = max(mine, static_cast<I>(value[u] + 1));
          waits[u] = -1;
          --open;
          changed = true;
        }
      if (gpu::ballot32(changed) == 0) {
        const auto waiting = static_cast<unsigned>(__popc(gpu::ballot32(open != 0)));
        ++in_vain;
        gpu::pause(lanes == 1 ? nap : max(nap, waiting * min(nap_of_lane, in_vain * nap_grows_by)));
        continue;
      }
      in_vain = 0;
      bool ready = open == 0 && next >= count;
      for (int mask = lanes >> 1; mask > 0; mask >>= 1) {
        mine = max(mine, gpu::shuffle_xor(mine, mask, 32));
        inner |= gpu::shuffle_xor(inner, mask, 32);
        ready = gpu::shuffle_xor(static_cast<int>(ready), mask, 32) != 0 && ready;
      }
      for (uint32_t done = inner & finals; done != 0; done &= done - 1)
        mine = max(mine, static_cast<I>(known[__ffs(static_cast<int>(done)) - 1] + 1));
      inner &= ~finals;

      // Runs of rows each of which waits for the one before it, whatever else of the run it needs: the highest of
      // (level of k + distance from k) over the run up to the row.
      const bool linked = r > 0 && (inner >> (at - lanes) & 1u) != 0;
      const uint32_t heads = gpu::ballot32(!linked) & (at + lanes == 32 ? ~0u : (1u << (at + lanes)) - 1);
      const int head = (31 - __clz(static_cast<int>(heads))) & ~(lanes - 1);
      const uint32_t run = ((1u << at) - 1) & ~((1u << head) - 1);  // before the row itself
      const uint32_t blocked = gpu::ballot32(!ready || (inner & ~run) != 0);
      const bool final = valid && e == 0 && (finals >> at & 1u) == 0 && (blocked & (run | 1u << at)) == 0;
      I height = static_cast<I>(mine - r);
      for (int by = 1; by < each; by <<= 1) {
        const I below = gpu::shuffle_up(height, by << lanes_log2, 32);
        if (((r - by) << lanes_log2) >= head) height = max(height, below);
      }
      height = static_cast<I>(height + r);
      if (final) {
        *static_cast<volatile I*>(level + row) = height;
        known[lane] = height;
        mine = height;
      }
      gpu::sync32();
      const uint32_t now = gpu::ballot32(final);
      finals |= now;
      changed = now != 0;
    }

    I highest = valid && e == 0 ? mine : I{0};
    for (int mask = 16; mask > 0; mask >>= 1) highest = max(highest, gpu::shuffle_xor(highest, mask, 32));
    if (lane == 0 && static_cast<unsigned long long>(highest) > gpu::load_fresh(&counts->highest))
      atomicMax(&counts->highest, static_cast<unsigned long long>(highest));
  }
};

/// One of the last rows in their order, of very many entries, when all before it are known. By any number of blocks.
template <class I, class O>
struct FindLastLevel {
  static constexpr int threads = 256;
  const O* offsets;
  const I* indices;
  int64_t row;
  int32_t base;
  bool lower;
  I* level;  // as in FindLevels
  Counts* counts;

  __device__ void operator()() const {
    const O begin = offsets[row] - base, end = offsets[row + 1] - base;
    I mine = 1;
    const O step = static_cast<O>(gridDim.x) * threads;
#pragma unroll 4
    for (O p = begin + static_cast<O>(blockIdx.x * threads + threadIdx.x); p < end; p += step) {
      const int64_t column = static_cast<int64_t>(indices[p]) - base;
      if (lower ? column < row : column > row) mine = max(mine, static_cast<I>(level[column] + 1));
    }
    for (int mask = 16; mask > 0; mask >>= 1) mine = max(mine, gpu::shuffle_xor(mine, mask, 32));
    if ((threadIdx.x & 31u) != 0) return;
    using Word = std::conditional_t<sizeof(I) == 4, int, long long>;
    atomicMax(reinterpret_cast<Word*>(level + row), static_cast<Word>(mine));
    if (static_cast<unsigned long long>(mine) > gpu::load_fresh(&counts->highest))
      atomicMax(&counts->highest, static_cast<unsigned long long>(mine));
  }
};

}  // namespace kkc::levels::gpu_parts
