// What the rows of each class sum, from the row that stands for it: see AggregateWalks and AggregateLongRows.
#pragma once

#include "spgemm_gpu_aggregates_plan_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

/// What classes' rows are, at the places of the table.
struct ClassRows {
  int32_t* counts;      // entries of C's row
  int32_t* columns;     // of C's row, relative
  int64_t* columns_at;  // where they begin
  ClassEntry* entries;
  ClassDiagonal* diagonals;
  // Rows that are walked.
  ClassWalk* walks;
  WalkBits* bits;
  WalkEnds* walk_ends;
  // Longer ones.
  uint32_t* ends;
  ClassShare* shares;
};

/// A block a place of the table.
template <class I>
struct DescribeClasses {
  static constexpr int threads = 128, warps = threads / 32;
  static constexpr int near = 8;  // rows on each side that may lead
  Pattern<I> A;
  SingleEntries<I> B;
  AggregateTable table;
  const uint16_t* classes;
  int32_t longest, lanes_log2;
  bool walked;
  ClassRows to;

  /// Of a class's row, in shared memory.
  struct Row {
    int64_t i;
    int32_t of, length, entries, first;  // first: distance of the first column
    const Meeting* meetings;
    const int32_t *ranks, *entry_of;  // of its entries: among products, entry of C
    const int32_t *heads, *lasts;     // whether its column's first and last
    const int32_t *starts, *head_at;  // of entries of C: their first product, and where in the row
    int32_t* scratch;                 // [warps * longest]
  };
  size_t shared_bytes() const { return (static_cast<size_t>(longest) * (8 + warps) + 1) * sizeof(int32_t); }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    __shared__ int32_t entries, diagonals;
    const unsigned long long word = table.words[blockIdx.x];
    if (word == 0 || *static_cast<volatile int32_t*>(&table.state->failed) != 0) return;
    auto* const meetings = reinterpret_cast<Meeting*>(shared);
    int32_t* const heads = reinterpret_cast<int32_t*>(meetings + longest);
    int32_t *const ranks = heads + longest, *const entry_of = ranks + longest, *const head_at = entry_of + longest,
                   *const lasts = head_at + longest, *const scratch = lasts + longest,
                   *const starts = scratch + warps * longest;
    const auto of = static_cast<int32_t>(blockIdx.x);
    const int64_t i = AggregateTable::row_of(word), begin = A.begin(i);
    const auto length = static_cast<int32_t>(A.end(i) - begin), thread = static_cast<int32_t>(threadIdx.x);
    if (thread == 0) entries = diagonals = 0;
    const int32_t base = length > 0 ? B.column(static_cast<int64_t>(A.column(begin))) : 0;
    for (int32_t k = thread; k < length; k += threads) {
      const auto j = static_cast<int64_t>(A.column(begin + k));
      meetings[k] = {static_cast<int32_t>(j - i), B.column(j) - base};
    }
    __syncthreads();
    for (int32_t k = thread; k < length; k += threads) {
      bool head = true;
      for (int32_t other = 0; other < k; ++other) head = head && meetings[other].column != meetings[k].column;
      heads[k] = head ? 1 : 0;
      if (head) atomicAdd(&entries, 1);
      if (meetings[k].distance == 0) atomicAdd(&diagonals, 1);
    }
    __syncthreads();
    for (int32_t k = thread; k < length; k += threads) {
      const Meeting m = meetings[k];
      int32_t rank = 0, entry = 0;
      bool last = true;
      for (int32_t other = 0; other < length; ++other) {
        const int32_t column = meetings[other].column;
        rank += column < m.column || (column == m.column && other < k) ? 1 : 0;
        entry += column < m.column ? heads[other] : 0;
        last = last && (column != m.column || other <= k);
      }
      ranks[k] = rank;
      entry_of[k] = entry;
      if (heads[k] != 0) {
        to.columns[static_cast<int64_t>(of) * longest + entry] = m.column;
        starts[entry] = rank;
        head_at[entry] = k;
      }
      if (m.distance == 0) to.diagonals[of] = {k, entry};
      to.entries[of * class_pitch(longest) + (walked ? rank : k)] = {m.distance, static_cast<uint32_t>(k)};
      lasts[k] = last ? 1 : 0;
    }
    __syncthreads();
    const Row row{i,        of,      length,   entries, length > 0 ? meetings[0].distance : 0,
                  meetings, ranks,   entry_of, heads,   lasts,
                  starts,   head_at, scratch};
    if (walked)
      describe_walk(row, diagonals);
    else
      describe_shares(row);
    if (thread != 0) return;
    to.counts[of] = entries;
    to.columns_at[of] = static_cast<int64_t>(of) * longest;
    atomicMax(&table.state->longest, entries);
    if (diagonals == 0) table.state->missing = 1;
    if (diagonals > 1) table.state->repeated = 1;
  }

  // ---- rows that are walked ----

  /// A row near the one that stands for a class.
  struct Leader {
    int32_t of, first;  // its class, distance of its first column
    int32_t parts;      // its entries of C; none: it cannot lead
  };

  /// The class may walk as any near row's class does that has the same distances and of whose entries of C each sums
  /// the products of one or two of this one's. Rows between must have the same distances too: they lie in one line of
  /// a grid. The fewest entries lead, so that the rows of the line walk alike.
  __device__ void describe_walk(const Row& row, int32_t diagonals) const {
    __shared__ Leader leaders[2 * near + 1];
    __shared__ WalkBits bits[longest_walked_row / 32];
    __shared__ int32_t chosen;
    const auto thread = static_cast<int32_t>(threadIdx.x), warp = thread >> 5, lane = thread & 31;
    for (int32_t c = warp; c <= 2 * near; c += warps) {
      const Leader found = c == near ? Leader{row.of, row.first, row.entries}
                                     : leader_at(row, row.i + (c - near), row.scratch + warp * longest, lane);
      if (lane == 0) leaders[c] = found;
      gpu::sync32();
    }
    if (thread < longest_walked_row / 32) bits[thread] = {0, 0};
    __syncthreads();
    if (thread == 0) {
      int32_t best = near;
      const auto look_at = [&](int32_t c) {
        const Leader l = leaders[c], b = leaders[best];
        if (l.parts > 0 && (l.parts < b.parts || (l.parts == b.parts && l.of < b.of))) best = c;
        return l.parts >= 0;
      };
      for (int32_t c = near - 1; c >= 0 && look_at(c);) --c;
      for (int32_t c = near + 1; c <= 2 * near && look_at(c);) ++c;
      chosen = best;
    }
    __syncthreads();
    const Leader leader = leaders[chosen];
    static_assert(warps >= 3);
    int32_t *const columns = row.scratch, *const heads = columns + longest, *const low = heads + longest;
    const int64_t begin = A.begin(row.i + (chosen - near));
    for (int32_t k = thread; k < row.length; k += threads)
      columns[k] = B.column(static_cast<int64_t>(A.column(begin + k)));
    __syncthreads();
    for (int32_t k = thread; k < row.length; k += threads) {
      bool head = true;
      int32_t lowest = row.entry_of[k];
      for (int32_t other = 0; other < row.length; ++other) {
        if (columns[other] != columns[k]) continue;
        head = head && other >= k;
        lowest = row.entry_of[other] < lowest ? row.entry_of[other] : lowest;
      }
      heads[k] = head ? 1 : 0;
      low[k] = lowest;
    }
    __syncthreads();
    WalkEnds* const ends = to.walk_ends + row.of * longest;
    for (int32_t k = thread; k < row.length; k += threads) {
      int32_t rank = 0, part = 0;
      bool last = true, alone = true;  // the leader's entry has the products of entry k's alone
      for (int32_t other = 0; other < row.length; ++other) {
        const bool before = columns[other] < columns[k];
        rank += before || (columns[other] == columns[k] && other < k) ? 1 : 0;
        part += before ? heads[other] : 0;
        if (columns[other] != columns[k]) continue;
        last = last && other <= k;
        alone = alone && row.entry_of[other] == row.entry_of[k];
      }
      const bool high = row.entry_of[k] != low[k];
      if (high) atomicOr(&bits[rank >> 5].high, 1u << (rank & 31));
      if (last) atomicOr(&bits[rank >> 5].last, 1u << (rank & 31));
      if (row.heads[k] == 0) continue;
      // The lower entry is its column's first somewhere, too, and writes what nobody else does.
      if (high)
        ends[part].high = static_cast<uint8_t>(row.entry_of[k]);
      else
        ends[part].low = static_cast<uint8_t>(row.entry_of[k]);
      if (alone) ends[part].high = static_cast<uint8_t>(row.entry_of[k]);
    }
    __syncthreads();
    if (thread < words_of_walk(longest)) to.bits[row.of * words_of_walk(longest) + thread] = bits[thread];
    for (int32_t k = row.length + thread; k < row.length + entries_ahead && k < class_pitch(longest); k += threads)
      to.entries[row.of * class_pitch(longest) + k] = {row.first, 0};
    if (thread == 0) {
      ClassWalk& walk = to.walks[row.of];
      walk.first = static_cast<int32_t>(leader.of * class_pitch(longest));
      walk.shift = row.first - leader.first;
      walk.diagonal = diagonals > 0 ? to.diagonals[row.of] : ClassDiagonal{0, 0};
    }
  }

  /// All lanes of a warp. parts: -1 where the distances differ, 0 where the products are dealt otherwise.
  __device__ Leader leader_at(const Row& row, int64_t j, int32_t* columns, int32_t lane) const {
    if (j < 0 || j >= A.rows || row.length == 0) return {0, 0, -1};
    const int64_t begin = A.begin(j);
    if (A.end(j) - begin != row.length) return {0, 0, -1};
    const auto first = static_cast<int32_t>(A.column(begin));
    bool same = true;
    for (int32_t k = lane; k < row.length; k += 32) {
      const auto column = static_cast<int32_t>(A.column(begin + k));
      same = same && column - first == row.meetings[k].distance - row.first;
      columns[k] = B.column(column);
    }
    if (gpu::ballot32(!same) != 0) return {0, 0, -1};
    gpu::sync32();
    bool fits = true;
    for (int32_t k = lane; k < row.length; k += 32) fits = fits && columns[k] == columns[row.head_at[row.entry_of[k]]];
    int32_t parts = 0;
    for (int32_t e = lane; e < row.entries; e += 32) {
      int32_t joined = 0;
      bool head = true;
      for (int32_t other = 0; other < row.entries; ++other)
        if (columns[row.head_at[other]] == columns[row.head_at[e]]) {
          ++joined;
          head = head && other >= e;
        }
      fits = fits && joined <= 2;
      parts += head ? 1 : 0;
    }
    parts = gpu::subgroup_sum(parts, 32);
    if (gpu::ballot32(!fits) != 0) parts = 0;
    return {classes[j], first - static_cast<int32_t>(j), parts};
  }

  // ---- longer rows ----

  __device__ void describe_shares(const Row& row) const {
    __shared__ ClassShare shares[32];
    const auto thread = static_cast<int32_t>(threadIdx.x);
    const int32_t lanes = 1 << lanes_log2, words = (longest + 31) / 32;
    uint32_t* const ends = to.ends + row.of * lanes * words;
    for (int32_t w = thread; w < lanes * words; w += threads) ends[w] = 0;
    if (thread < lanes) {
      const int32_t first = first_of_share(thread, row), behind = first_of_share(thread + 1, row);
      const int32_t product = first < row.entries ? row.starts[first] : row.length;
      const int32_t stop = behind < row.entries ? row.starts[behind] : row.length;
      shares[thread] = {static_cast<uint16_t>(product), static_cast<uint16_t>(stop - product),
                        static_cast<uint16_t>(first), static_cast<uint16_t>(product)};
    }
    __syncthreads();
    if (thread == 0) leave_gaps(shares, lanes, row.length);
    __syncthreads();
    if (thread < lanes) to.shares[row.of * lanes + thread] = shares[thread];
    for (int32_t k = thread; k < row.length; k += threads) {
      ClassEntry& e = to.entries[row.of * class_pitch(longest) + k];
      const int32_t rank = row.ranks[k];
      int32_t lane = 0;
      while (rank >= shares[lane].product + shares[lane].count) ++lane;
      const int32_t of_share = rank - shares[lane].product;
      if (row.lasts[k] != 0) atomicOr(ends + lane * words + (of_share >> 5), 1u << (of_share & 31));
      e.place = static_cast<uint32_t>(shares[lane].at + of_share);
    }
  }

  /// The first entry that begins behind an equal share of the products.
  __device__ int32_t first_of_share(int32_t lane, const Row& row) const {
    const int32_t share = lane * row.length >> lanes_log2;
    int32_t entry = 0;
    while (entry < row.entries && row.starts[entry] < share) ++entry;
    return entry;
  }

  /// Shares that lanes read in step begin at different residues of 16, the distance of rows being odd: 16 / lanes
  /// apart.
  __device__ void leave_gaps(ClassShare* shares, int32_t lanes, int32_t length) const {
    const int32_t apart = lanes < 16 ? 16 / lanes : 1;
    int32_t gaps = 0;
    uint32_t taken = 0;
    for (int32_t lane = 0; lane < lanes; ++lane) {
      if ((lane & 15) == 0) taken = 0;
      if (shares[lane].count == 0) continue;
      int32_t gap = 0;
      const auto is_taken = [&](int32_t at) { return at % apart != 0 || (taken >> (at & 15) & 1u) != 0; };
      while (gap < 16 && is_taken(shares[lane].product + gaps + gap)) ++gap;
      if (length + gaps + gap <= staged_pitch(longest)) gaps += gap;
      const int32_t at = shares[lane].product + gaps;
      taken |= 1u << (at & 15);
      shares[lane].at = static_cast<uint16_t>(at);
    }
  }
};

}  // namespace kkc::spgemm::gpu_parts
