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

  // Bounds: each range of buckets from 0, then moved behind the buckets before.
  offsets[0] = 0;
  std::vector<O> totals(static_cast<size_t>(parts) + 1, 0);
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    O sum = 0;
    for (int64_t b = part_begin(buckets, parts, part), end = part_begin(buckets, parts, part + 1); b < end; ++b) {
      for (Counters& of : counters)
        if (b >= of.begin && b < of.end()) {
          O& slot = of.next[static_cast<size_t>(b - of.begin)];
          const O n = slot;
          slot = sum;
          sum += n;
        }
      offsets[b + 1] = sum;
    }
    totals[static_cast<size_t>(part) + 1] = sum;
  });
  std::partial_sum(totals.begin(), totals.end(), totals.begin());
  if (parts > 1)
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      const O shift = totals[static_cast<size_t>(part)];
      const int64_t begin = part_begin(buckets, parts, part), end = part_begin(buckets, parts, part + 1);
      for (int64_t b = begin; b < end; ++b) offsets[b + 1] += shift;
      for (Counters& of : counters)
        for (int64_t b = std::max(begin, of.begin); b < std::min(end, of.end()); ++b)
          of.next[static_cast<size_t>(b - of.begin)] += shift;
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
