// levels: rows of a triangle by their level, for host threads, where blocks of neighbouring rows
// (levels_host_blocks.hpp) would be single rows: what tells such apart would take longer than they do.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/memory.hpp"
#include "device/host_bucket.hpp"
#include "device/host_parallel.hpp"
#include "ops/levels/levels_host_level_search.hpp"
#include "ops/levels/levels_host_schedule.hpp"

namespace kkc::levels {

/// Of a sample: entries of a row in the mean, and whether most need the row right before them.
struct RowSample {
  int64_t entries;
  bool chained;
};
template <class Rows>
RowSample sample_rows(const Rows& rows, int64_t n, bool ascending) {
  constexpr int64_t looks = 1024, most = 256;  // of a row: one long row does not tell of the others
  const int64_t count = std::min(looks, n);
  int64_t entries = 0, chained = 0;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t row = part_begin(n, count, k), begin = rows.begin(row), end = rows.end(row);
    entries += std::min(end - begin, most);
    bool found = false;
    for (int64_t p = begin; p < end; ++p) found |= rows.column(p) == (ascending ? row - 1 : row + 1);
    chained += found;
  }
  return {entries / std::max<int64_t>(1, count), 2 * chained > count};
}

/// Parts that a thread counts and deals side by side: it seldom counts where it just has, which it would wait for.
inline constexpr int64_t parts_in_turns = 4;

/// Whether counters of each part for so many keys cost little; by length, also whether levels are so large that rows of
/// one which lie side by side, but go to several threads, are few.
inline bool worth_in_turns(int64_t n, int64_t keys, int threads) { return 2 * keys * parts_in_turns * threads <= n; }

/// f(part, row) for the rows of parts_in_turns parts of all n from `first_part` on, the parts in turns.
template <class F>
void each_in_turns(int64_t n, int64_t parts, int64_t first_part, const F& f) {
  std::array<int64_t, parts_in_turns + 1> begin;
  int64_t shortest = n;
  for (size_t part = 0; part <= parts_in_turns; ++part) {
    begin[part] = part_begin(n, parts, first_part + static_cast<int64_t>(part));
    if (part > 0) shortest = std::min(shortest, begin[part] - begin[part - 1]);
  }
  for (int64_t i = 0; i < shortest; ++i)
    for (size_t part = 0; part < parts_in_turns; ++part) f(part, begin[part] + i);
  for (size_t part = 0; part < parts_in_turns; ++part)
    for (int64_t row = begin[part] + shortest; row < begin[part + 1]; ++row) f(part, row);
}

/// Rows by level, those of a level as they lie. starts: becomes the levels' bounds.
template <class Dev, class I>
void deal_by_level(Queue& queue, I* key, int64_t n, int64_t levels, int threads, I* row_at,
                   std::vector<int64_t>& starts) {
  const auto first = [=](int64_t part) { return part_begin(n, threads, part); };
  host_parts<Dev>(queue, threads, [&](int64_t part) {
    for (int64_t i = first(part); i < first(part + 1); ++i) key[i] >>= length_bits;
  });
  host_bucket<Dev>(queue, key, 0, levels, threads, starts.data(), first, [&](int64_t part, const auto& next) {
    for (int64_t i = first(part); i < first(part + 1); ++i) row_at[next(i)] = static_cast<I>(i);
  });
}

/// The same by parts in turns. by_length: a part's rows of a level by their lengths; neighbours stay near each other.
/// Returns where those of each level, part, and length begin, and the end: BlockSchedule::length_starts.
template <class Dev, bool by_length, class I>
std::vector<int64_t> deal_in_turns(Queue& queue, const I* key, int64_t n, int64_t levels, int threads, I* row_at,
                                   std::vector<int64_t>& starts) {
  constexpr int shift = by_length ? 0 : length_bits;
  constexpr int64_t lengths = lengths_of_level >> shift;
  const int64_t parts = parts_in_turns * threads;
  const auto keys = static_cast<size_t>(levels * lengths);
  std::vector<std::vector<int64_t>> counted(static_cast<size_t>(parts));  // then where the next one goes
  const auto each_of = [&](int64_t thread, const auto& f) {               // f(part's counter, row)
    std::array<int64_t*, parts_in_turns> counters;
    for (size_t part = 0; part < parts_in_turns; ++part)
      counters[part] = counted[static_cast<size_t>(thread) * parts_in_turns + part].data();
    each_in_turns(n, parts, thread * parts_in_turns,
                  [&f, counters, key](size_t part, int64_t row) { f(counters[part][key[row] >> shift], row); });
  };
  host_parts_checked<Dev>(queue, threads, [&](int64_t thread) {
    for (size_t part = 0; part < parts_in_turns; ++part)
      counted[static_cast<size_t>(thread) * parts_in_turns + part].assign(keys, 0);
    each_of(thread, [](int64_t& count, int64_t) { ++count; });
  });
  std::vector<int64_t> length_starts(keys * static_cast<size_t>(parts) + 1);
  int64_t at = 0, *begin = length_starts.data();
  for (int64_t level = 0; level < levels; ++level) {
    starts[static_cast<size_t>(level)] = at;
    for (auto& of_part : counted) {
      int64_t* const counts = of_part.data() + level * lengths;
      for (int64_t length = 0; length < lengths; ++length) {
        *begin++ = at;
        at += std::exchange(counts[length], at);
      }
    }
  }
  starts.back() = *begin = at;
  host_parts<Dev>(queue, threads, [&](int64_t thread) {
    each_of(thread, [row_at](int64_t& next, int64_t row) { row_at[next++] = static_cast<I>(row); });
  });
  return length_starts;
}

/// Fills in `made` and returns true where rows are short, levels few, and these are faster, by threads or by one, than
/// one thread's rows as they lie. alike: rows_alike() of all rows; the rest as for schedule_blocks().
template <class Dev, class I, class Rows>
bool schedule_row_levels(Queue& queue, const std::shared_ptr<const Memory>& memory, const Rows& rows, int64_t n,
                         bool ascending, int threads, const BlockCost& cost, int64_t alike, BlockSchedule& made) {
  // Rows of a level, in the mean; where neighbours are chained, blocks of these have fewer levels to wait for.
  constexpr int64_t fewest = 64, fewest_of_any = 16;
  const int64_t fewest_chained = std::max<int64_t>(512, 128 * threads);
  constexpr int64_t alone_in_level = 3;  // so many rows are not worth a level of their own
  // Beside its entries, of a row and of one among others alike, by one thread as they lie; of a level; of a wait, and
  // of one for unknowns that one thread would have in its own cache, as all else, but have to come from another's.
  constexpr int64_t row_work = 20, alike_work = 4, level_work = 60, wait_work = 4, cached_wait_work = 24;
  constexpr int64_t cached_bytes = 1792 * 1024;
  if (n == 0 || 10 * alike > 9 * n) return false;
  const RowSample sample = sample_rows(rows, n, ascending);
  if (sample.entries >= cost.level_entries || (sample.chained && !cost.any_rows)) return false;
  const int64_t fewest_rows = sample.chained ? fewest_chained : cost.any_rows ? fewest_of_any : fewest;
  const Buffer of_row(memory, Space::host, static_cast<size_t>(n) * sizeof(I));
  I* const key = of_row.as<I>();
  Buffer lengths(memory, Space::host, static_cast<size_t>(n) * sizeof(BlockSchedule::Length));
  auto* const length = lengths.as<BlockSchedule::Length>();
  std::vector<int64_t> longest;
  using Search = LevelSearch<I, Rows>;
  if (!Search(rows, n, ascending, key, length)
           .find(std::min<int64_t>(n / fewest_rows, Search::most_levels), sample.chained, longest))
    return false;
  const int64_t count = std::ssize(longest);
  Buffer order(memory, Space::host, static_cast<size_t>(n) * sizeof(I));
  I* const row_at = order.as<I>();
  std::vector<int64_t> starts(static_cast<size_t>(count) + 1), length_starts;
  if (worth_in_turns(n, count * lengths_of_level, threads))
    length_starts = deal_in_turns<Dev, true>(queue, key, n, count, threads, row_at, starts);
  else if (worth_in_turns(n, count, threads))
    deal_in_turns<Dev, false>(queue, key, n, count, threads, row_at, starts);
  else
    deal_by_level<Dev>(queue, key, n, count, threads, row_at, starts);
  // Of rows in this order, before each `apart`th one.
  constexpr int64_t apart = 16;
  const auto before = std::make_unique_for_overwrite<int64_t[]>(static_cast<size_t>(n / apart) + 1);
  before[0] = 0;
  host_parts<Dev>(queue, threads, [&](int64_t part) {
    for (int64_t k = part_begin(n / apart, threads, part), end = part_begin(n / apart, threads, part + 1); k < end;
         ++k) {
      int64_t sum = apart * cost.level_row;
      for (int64_t i = k * apart; i < (k + 1) * apart; ++i) sum += length[row_at[i]];
      before[static_cast<size_t>(k) + 1] = sum;
    }
  });
  std::partial_sum(before.get(), before.get() + n / apart + 1, before.get());
  const auto work_before = [&](int64_t i) {
    int64_t sum = before[static_cast<size_t>(i / apart)] + i % apart * cost.level_row;
    for (int64_t k = i / apart * apart; k < i; ++k) sum += length[row_at[k]];
    return sum;
  };

  struct Phase {
    int64_t begin, end;  // levels
    bool serial;
  };
  const auto start = [&](int64_t at) { return starts[static_cast<size_t>(at)]; };
  const auto work_of = [&](int64_t l) { return work_before(start(l + 1)) - work_before(start(l)); };
  const auto alone_of = [&](int64_t l, int64_t work) {  // by one thread
    const int64_t count_of_rows = start(l + 1) - start(l);
    return work + (count_of_rows <= alone_in_level ? (cost.lone_row - cost.level_row) * count_of_rows : level_work);
  };
  const int64_t entries = work_before(n) - cost.level_row * n,
                bytes = entries * static_cast<int64_t>(sizeof(double) + sizeof(I)) +
                        n * static_cast<int64_t>(2 * sizeof(double) + 2 * sizeof(I)),
                wait = bytes <= cached_bytes ? cached_wait_work : wait_work;
  std::vector<Phase> phases;
  int64_t shared = 0, by_one = 0, serial_rows = 0;
  for (int64_t l = 0; l < count;) {
    int64_t end = l, sum = 0, work = 0;
    for (; end < count; ++end) {
      work = work_of(end);
      if (threads > 1 && work >= least_phase_work) break;
      sum += alone_of(end, work);
    }
    const bool serial = end > l;
    if (!serial) ++end;
    phases.push_back({l, end, serial});
    by_one += serial ? sum : alone_of(l, work);
    shared += (serial ? sum : std::max(work / threads, longest[static_cast<size_t>(l)])) + wait * phase_work(threads);
    if (serial) serial_rows += start(end) - start(l);
    l = end;
  }
  const int64_t alone =
      work_before(n) + (row_work - cost.level_row) * (n - alike) - (cost.level_row - alike_work) * alike;
  if (4 * std::min(shared, by_one) >= 3 * alone) return false;
  if (by_one <= shared) {
    phases = {{0, count, true}};
    serial_rows = n;
    threads = 1;
  }
  made.threads = threads;
  made.blocks = n;
  made.levels = count;
  made.phases = std::ssize(phases);
  made.serial_rows = serial_rows;
  made.shares.resize(static_cast<size_t>(threads));
  for (int thread = 0; thread < threads; ++thread) {
    auto& share = made.shares[static_cast<size_t>(thread)];
    for (const Phase& phase : phases) {
      if (phase.serial) {
        for (int64_t l = phase.begin; thread == 0 && l < phase.end;) {
          const auto alone_at = [&](int64_t at) { return start(at + 1) - start(at) <= alone_in_level; };
          const int64_t from = start(l);
          const bool several = alone_at(l);
          for (++l; several && l < phase.end && alone_at(l);) ++l;
          if (several) {
            std::sort(row_at + from, row_at + start(l));
            if (!ascending) std::reverse(row_at + from, row_at + start(l));
          }
          share.blocks.push_back({from, start(l) - from, several ? several_levels : 0});
        }
      } else {
        const int64_t from = work_before(start(phase.begin)), work = work_before(start(phase.end)) - from;
        const auto bound = [&](int part) {  // of the phase's work
          if (part == 0 || part == threads) return start(part == 0 ? phase.begin : phase.end);
          const int64_t wanted = from + part_begin(work, threads, part),
                        k = std::upper_bound(before.get(), before.get() + n / apart + 1, wanted) - before.get() - 1;
          return std::clamp(k * apart, start(phase.begin), start(phase.end));
        };
        const int64_t begin = bound(thread), end = bound(thread + 1);
        if (begin < end) share.blocks.push_back({begin, end - begin, 0});
      }
      share.ends.push_back(std::ssize(share.blocks));
    }
  }
  made.order = std::move(order);
  made.lengths = std::move(lengths);
  made.length_starts = std::move(length_starts);
  made.find_next();
  return true;
}

}  // namespace kkc::levels
