// Entries dealt to buckets by key, stable: a counting sort in parts. Each part counts the keys of its entries and
// places them behind those of earlier parts (Wang, Liu, Hou, Feng, "Parallel transposition of sparse matrices", ICS'16,
// ScanTrans), with counters for no more keys than its entries reach. The same result for any number of parts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "device/host_parallel.hpp"

namespace kkc {

/// keys[i] - base is the bucket of entry i, 0..buckets-1. Part p has the entries first(p)..first(p + 1) - 1. offsets
/// [buckets + 1] becomes the buckets' bounds. place(part, next) then runs for every part and asks next(entry) once for
/// each of its entries, in ascending order, where the entry goes; next(entry, n) for n entries of one key at once.
template <class Dev, class Key, class O, class First, class Place>
void host_bucket(Queue& queue, const Key* keys, int64_t base, int64_t buckets, int64_t parts, O* offsets,
                 const First& first, const Place& place) {
  /// Where a part's entries of a key go next; keys begin..begin + next.size() - 1.
  struct Counters {
    int64_t begin = 0;
    std::vector<O> next;
    int64_t end() const { return begin + static_cast<int64_t>(next.size()); }
  };
  std::vector<Counters> counters(static_cast<size_t>(parts));
  host_parts_checked<Dev>(queue, parts, [&](int64_t part) {
    const Key *const from = keys + first(part), *const to = keys + first(part + 1);
    if (from == to) return;
    Counters& mine = counters[static_cast<size_t>(part)];
    Key low = *from, high = *from;
    for (const Key* key = from; key < to; ++key) {
      low = std::min(low, *key);
      high = std::max(high, *key);
    }
    mine.begin = static_cast<int64_t>(low) - base;
    mine.next.assign(static_cast<size_t>(static_cast<int64_t>(high) - static_cast<int64_t>(low) + 1), 0);
    O* const next = mine.next.data();
    for (const Key* key = from; key < to; ++key) ++next[static_cast<int64_t>(*key) - static_cast<int64_t>(low)];
  });

  // Bounds, of each range of buckets from 0. Counters become entries of the same key in earlier parts.
  offsets[0] = 0;
  O* const ends = offsets + 1;
  std::vector<O> totals(static_cast<size_t>(parts) + 1, 0);
  const auto each_counter = [&](int64_t begin, int64_t end, auto&& f) {  // of buckets begin..end-1: loops for vectors
    for (Counters& of : counters)
      if (const int64_t low = std::max(begin, of.begin), high = std::min(end, of.end()); low < high)
        f(of.next.data() + (low - of.begin), low, high - low);
  };
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    const int64_t begin = part_begin(buckets, parts, part), end = part_begin(buckets, parts, part + 1);
    std::fill(ends + begin, ends + end, O{0});
    each_counter(begin, end, [ends](O* __restrict next, int64_t low, int64_t count) {
      O* __restrict const sums = ends + low;
      for (int64_t b = 0; b < count; ++b) {
        const O n = next[b];
        next[b] = sums[b];
        sums[b] += n;
      }
    });
    totals[static_cast<size_t>(part) + 1] = std::accumulate(ends + begin, ends + end, O{0});
  });
  std::partial_sum(totals.begin(), totals.end(), totals.begin());
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    const int64_t begin = part_begin(buckets, parts, part), end = part_begin(buckets, parts, part + 1);
    O sum = totals[static_cast<size_t>(part)];
    for (int64_t b = begin; b < end; ++b) ends[b] = sum += ends[b];
    each_counter(begin, end, [&](O* __restrict next, int64_t low, int64_t count) {
      // The bucket before the first one is another part's.
      const int64_t skipped = low == begin ? 1 : 0;
      if (skipped != 0) *next += totals[static_cast<size_t>(part)];
      const O* __restrict const starts = offsets + low;
      for (int64_t b = skipped; b < count; ++b) next[b] += starts[b];
    });
  });

  host_parts<Dev>(queue, parts, [&](int64_t part) {
    Counters& mine = counters[static_cast<size_t>(part)];
    O* const next = mine.next.data();
    const int64_t shift = base + mine.begin;
    place(part, [&](int64_t from, O n = 1) {
      O& slot = next[static_cast<int64_t>(keys[from]) - shift];
      const O to = slot;
      slot += n;
      return to;
    });
  });
}

}  // namespace kkc
