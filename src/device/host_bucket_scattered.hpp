// Entries dealt to buckets by key, stable, for keys in no order: entries go to groups of neighbouring buckets first, so
// that few places are written at a time, then each group is dealt within the caches (a most-significant-digit radix
// sort of two levels; Polychroniou, Ross, "A comprehensive study of main-memory partitioning", SIGMOD'14). The same
// result as host_bucket.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "device/host_parallel.hpp"

namespace kkc {

/// Whether dealing by these keys, 0..buckets or 1..buckets, writes all over memory: of the cache lines of counters that
/// runs of entries touch, how many are new.
template <class O, class Key>
bool keys_scatter(Queue& queue, const Key* keys, int64_t n, int64_t buckets) {
  using U = std::make_unsigned_t<Key>;
  constexpr int64_t run = 2048, runs = 16, per_line = 64 / static_cast<int64_t>(sizeof(O));  // a power of two
  if (buckets * static_cast<int64_t>(sizeof(O)) < (int64_t{1} << 18) || n < runs * run) return false;
  const auto run_begin = [&](int64_t r) { return keys + part_begin(n - run, runs, r); };
  // Most keys ascend for long: no more lines than changes.
  int64_t changes = 0;
  for (int64_t r = 0; r < runs; ++r) {
    const Key* const from = run_begin(r);
    uint32_t here = 1;  // counted by vectors
    for (int64_t k = 1; k < run; ++k) here += static_cast<U>(from[k] ^ from[k - 1]) >= static_cast<U>(per_line) ? 1 : 0;
    changes += here;
  }
  if (changes <= runs * run / 4) return false;
  const auto line_of = [](Key key) { return static_cast<uint64_t>(key) / static_cast<uint64_t>(per_line); };
  const int64_t parts = std::min<int64_t>(queue.concurrency(), runs);
  std::atomic<int64_t> all{0};
  host_parts_checked<Host>(queue, parts, [&](int64_t part) {
    std::vector<uint64_t> met(static_cast<size_t>(buckets / per_line / 64 + 2), 0);  // a bit a line, of one run
    int64_t distinct = 0;
    for (int64_t r = part; r < runs; r += parts) {
      const Key* const from = run_begin(r);
      for (int64_t k = 0; k < run; ++k) {
        uint64_t& word = met[line_of(from[k]) / 64];
        const uint64_t bit = uint64_t{1} << line_of(from[k]) % 64;
        distinct += (word & bit) == 0 ? 1 : 0;
        word |= bit;
      }
      for (int64_t k = 0; k < run; ++k) met[line_of(from[k]) / 64] = 0;
    }
    all += distinct;
  });
  return all > runs * run / 4;
}

template <class I, class O>
struct ScatteredItem {
  I key, companion;
  O entry;
};

/// Part p has the entries first(p)..first(p + 1) - 1; visit(part, f) calls f(entry, companion) for each of them in
/// ascending order. offsets[buckets + 1] becomes the buckets' bounds; place k gets entry positions[k] and its
/// companion.
template <class Dev, class I, class O, class Visit>
void host_bucket_scattered(Queue& queue, ScatteredItem<I, O>* items, const I* keys, int64_t base, int64_t buckets,
                           int64_t n, int64_t parts, O* offsets, O* positions, I* companions, const Visit& visit) {
  using Item = ScatteredItem<I, O>;
  // Small ones: a part that counts in few groups meets one again before processors have foreseen it.
  const int64_t wanted = std::clamp<int64_t>(n / 1024, 16, 512);
  const auto shift = static_cast<int>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(1, buckets / wanted))));
  const int64_t groups = ((buckets - 1) >> shift) + 1;
  const auto key_of = [&](int64_t entry) { return static_cast<int64_t>(keys[entry]) - base; };

  // next[part][group]: where a part's entries of a group go, behind those of earlier parts.
  std::vector<int64_t> next(static_cast<size_t>(parts * groups), 0), bounds(static_cast<size_t>(groups) + 1, 0);
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    int64_t* const mine = next.data() + part * groups;
    visit(part, [&](int64_t entry, I) { ++mine[key_of(entry) >> shift]; });
  });
  int64_t sum = 0;
  for (int64_t g = 0; g < groups; ++g) {
    bounds[static_cast<size_t>(g)] = sum;
    for (int64_t part = 0; part < parts; ++part) {
      int64_t& slot = next[static_cast<size_t>(part * groups + g)];
      const int64_t count = slot;
      slot = sum;
      sum += count;
    }
  }
  bounds[static_cast<size_t>(groups)] = sum;
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    int64_t* const mine = next.data() + part * groups;
    visit(part, [&](int64_t entry, I companion) {
      const int64_t key = key_of(entry);
      items[mine[key >> shift]++] = {static_cast<I>(key), companion, static_cast<O>(entry)};
    });
  });

  host_parts_checked<Dev>(queue, parts, [&](int64_t part) {
    std::vector<O> places(size_t{1} << shift);
    for (int64_t g = part; g < groups; g += parts) {
      const int64_t low = g << shift, count = std::min(buckets - low, int64_t{1} << shift);
      const Item *const from = items + bounds[static_cast<size_t>(g)], *const to =
                                                                           items + bounds[static_cast<size_t>(g) + 1];
      std::fill(places.begin(), places.end(), O{0});
      for (const Item* item = from; item < to; ++item)
        ++places[static_cast<size_t>(static_cast<int64_t>(item->key) - low)];
      O place = static_cast<O>(from - items);
      for (int64_t b = 0; b < count; ++b) {
        offsets[low + b] = place;
        const O entries = places[static_cast<size_t>(b)];
        places[static_cast<size_t>(b)] = place;
        place += entries;
      }
      for (const Item* item = from; item < to; ++item) {
        const O at = places[static_cast<size_t>(static_cast<int64_t>(item->key) - low)]++;
        positions[at] = item->entry;
        companions[at] = item->companion;
      }
    }
  });
  offsets[buckets] = static_cast<O>(n);
}

}  // namespace kkc
