// Items that are alike, numbered: rows of B by their shapes, rows of C by those of the rows of B that they reach
// (spgemm_host_classes.hpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "core/parts.hpp"
#include "device/hash_accumulator.hpp"
#include "device/host_shared_parts.hpp"

namespace kkc::spgemm {

inline constexpr int32_t no_class = -1;

/// Classes met so far.
struct Classes {
  std::vector<int64_t> members;  // one of each class
  std::vector<int32_t> after;    // the class that was met after it: grids and aggregates repeat themselves
  std::vector<int64_t> met_in;   // the last block of items
  std::vector<uint64_t> hashes;
  std::vector<int32_t> table = std::vector<int32_t>(256, no_class);  // by hash, at most half full

  template <class S>
  int32_t find(uint64_t h, int64_t item, const S& same) const {
    for (size_t slot = slot_of(h); table[slot] != no_class; slot = (slot + 1) % table.size()) {
      const auto id = static_cast<size_t>(table[slot]);
      if (hashes[id] == h && same(members[id], item)) return table[slot];
    }
    return no_class;
  }
  int32_t add(uint64_t h, int64_t item) {
    const auto id = static_cast<int32_t>(members.size());
    members.push_back(item);
    after.push_back(id);
    met_in.push_back(-1);
    hashes.push_back(h);
    if (2 * members.size() > table.size())
      place_all(2 * table.size());
    else
      place(id);
    return id;
  }
  /// Keeps the first `count`.
  void forget_others(size_t count) {
    members.resize(count);
    after.resize(count);
    met_in.resize(count);
    hashes.resize(count);
    for (size_t id = 0; id < count; ++id)
      if (static_cast<size_t>(after[id]) >= count) after[id] = static_cast<int32_t>(id);
    place_all(table.size());
  }

 private:
  size_t slot_of(uint64_t h) const { return (h ^ h >> 32) % table.size(); }
  void place(int32_t id) {
    size_t slot = slot_of(hashes[static_cast<size_t>(id)]);
    while (table[slot] != no_class) slot = (slot + 1) % table.size();
    table[slot] = id;
  }
  void place_all(size_t slots) {
    table.assign(slots, no_class);
    for (size_t id = 0; id < members.size(); ++id) place(static_cast<int32_t>(id));
  }
};

/// Items that are looked through together, of many.
inline constexpr int64_t classify_block = 4096;
/// The same of n items: few are so many blocks that each of many threads has one.
constexpr int64_t classified_together(int64_t n) {
  return n < 32 * classify_block ? classify_block / 4 : classify_block;
}

/// Items of a block that are looked at first: where more than 7 of 8 of them are like none before, it has no class.
constexpr int64_t classify_looked_at(int64_t block_items) { return block_items / 8; }
/// Classes of these, in a sample, from which on items must come as foreseen: else finding classes costs too much.
inline constexpr int64_t few_kinds = 64;

/// The class of an item, by what followed the one before it last time, else by its hash.
struct Foreseen {
  int32_t last = no_class;
  int64_t unforeseen = 0;

  template <class Hash, class Same>
  int32_t find(Classes& met, int64_t i, const Hash& hash, const Same& same) {
    const auto is = [&](int32_t id) { return same(met.members[static_cast<size_t>(id)], i); };
    const int32_t before = last;
    if (before == no_class || !is(last = met.after[static_cast<size_t>(before)])) {
      if (before == no_class || last == before || !is(last = before)) {
        ++unforeseen;
        const uint64_t h = hash(i);
        last = met.find(h, i, same);
        if (last == no_class) last = met.add(h, i);
      }
      if (before != no_class) met.after[static_cast<size_t>(before)] = last;
    }
    return last;
  }
  /// Whether classes are worth it, of the first items of a block, of `kinds`.
  bool worth(int64_t items, int64_t kinds, int64_t few) const { return kinds <= few || 2 * unforeseen <= items; }
};

/// Whether items 0..n-1 may have classes, by the first of eight blocks from all over: false where in none of these they
/// are worth it, or where so many were met in one block only that all blocks would have more than `most`; twice as many
/// where they are few beside the items and these are `large`, to which classes are worth more. same(i, j) is an
/// equivalence, hash(i) equal for equivalent items. Items that are trivial(i), to which classes are worth little, are
/// looked at nowhere, unless all blocks are full of them.
template <class Hash, class Same, class Trivial>
bool some_alike(Queue& queue, int64_t n, int32_t most, bool large, const Hash& hash, const Same& same,
                const Trivial& trivial) {
  constexpr int64_t sampled = 8, fewest_looked_at = 16, fewest_items = 512;
  if (n < fewest_items) return true;
  const int64_t usual = n > (sampled - 1) * classify_block ? classify_block : classified_together(n),
                block_items = std::min(usual, n / sampled),
                looked_at = std::max(classify_looked_at(block_items), fewest_looked_at),
                blocks = (n + block_items - 1) / block_items;
  std::vector<Classes> met(sampled);
  std::atomic<bool> worth{false}, any{false};
  std::atomic<int64_t> items_seen{0};
  deal(queue, sampled, [&](int64_t, int64_t sample) {
    const int64_t begin = part_begin(blocks, sampled, sample) * block_items, end = std::min(n, begin + looked_at);
    Classes& mine = met[static_cast<size_t>(sample)];
    Foreseen foreseen;
    int64_t items = 0;
    for (int64_t i = begin; i < end; ++i) {
      if (trivial(i)) continue;
      foreseen.find(mine, i, hash, same);
      ++items;
    }
    items_seen += items;
    if (16 * items < end - begin) return;
    any = true;
    if (foreseen.worth(items, std::ssize(mine.members), looked_at / 8)) worth = true;
  });
  if (!worth && any) return false;
  int64_t kinds_seen = 0;
  // Of each kind, told by its hash alone, in how many blocks it was met.
  HashAccumulator<int64_t, int32_t> blocks_of(sampled * looked_at);
  for (const Classes& mine : met) {
    kinds_seen += std::ssize(mine.members);
    if (2 * std::ssize(mine.members) > looked_at) continue;  // their block has hardly a class
    for (const uint64_t h : mine.hashes) blocks_of.add(static_cast<int64_t>(h >> 1), 1);
  }
  int64_t lone = 0;
  blocks_of.for_each([&](int64_t, int32_t count) { lone += count == 1 ? 1 : 0; });
  // A few are those of a grid's border.
  const int64_t spared = large && 16 * kinds_seen <= items_seen ? 2 : 1;
  return lone <= few_kinds || lone * (n / (sampled * looked_at)) <= spared * most;
}

/// Numbers the classes of items 0..n-1: id(i) = the class, or no_class. Blocks of items of which most differ have no
/// class; of more than `most` classes the first count, of four times as many none. Returns the first item of each
/// class. The same for any number of threads. same(i, j) is an equivalence, hash(i) equal for equivalent items; items
/// i + 1..alike(i, limit) - 1, below the limit, are known to be like i, and are not compared.
template <class Hash, class Same, class Alike, class Id>
std::vector<int64_t> classify(Queue& queue, int64_t n, int32_t most, const Hash& hash, const Same& same,
                              const Alike& alike, const Id& id_of) {
  constexpr int64_t unread = -1;
  const int64_t block_items = classified_together(n), looked_at = classify_looked_at(block_items);
  const int64_t blocks = (n + block_items - 1) / block_items;
  const int64_t workers = std::max<int64_t>(1, std::min<int64_t>(queue.concurrency(), blocks));
  const size_t bound = 4 * static_cast<size_t>(most);
  const auto end_of = [&](int64_t block) { return std::min(n, (block + 1) * block_items); };
  // Whether the block's items are alike.
  const auto read = [&](int64_t block, int64_t end, Classes& mine) {
    const int64_t begin = block * block_items;
    int64_t met = 0;  // classes in this block
    Foreseen foreseen;
    for (int64_t i = begin, next = begin; i < end; i = next) {
      if (i - begin == looked_at && 8 * met > 7 * looked_at && blocks > 1) return false;
      const int32_t last = foreseen.find(mine, i, hash, same);
      if (std::exchange(mine.met_in[static_cast<size_t>(last)], block) != block) ++met;
      next = alike(i, i - begin < looked_at ? std::min(end, begin + looked_at) : end);
      for (int64_t like = i; like < next; ++like) id_of(like) = last;
    }
    return 2 * met <= end - begin || blocks == 1;
  };
  const auto none = [&] {
    for (int64_t i = 0; i < n; ++i) id_of(i) = no_class;
    return std::vector<int64_t>();
  };

  std::vector<Classes> found(static_cast<size_t>(workers));
  std::vector<int64_t> reader(static_cast<size_t>(blocks), unread);  // the worker whose classes a block's ids mean
  std::atomic<bool> too_many{false};
  deal_in_order(queue, blocks, [&](int64_t worker, int64_t block) {
    if (too_many) return;
    Classes& mine = found[static_cast<size_t>(worker)];
    const size_t before = mine.members.size();
    if (read(block, end_of(block), mine))
      reader[static_cast<size_t>(block)] = worker;
    else
      mine.forget_others(before);
    if (mine.members.size() > bound) too_many = true;
  });
  if (too_many) return none();

  // A worker's blocks ascend, so that its members are its first ones.
  struct Member {
    int64_t item;
    size_t worker, id;
  };
  std::vector<Member> members;
  std::vector<std::vector<int32_t>> renamed(static_cast<size_t>(workers));
  const auto before = [](const Member& a, const Member& b) { return a.item < b.item; };
  for (size_t worker = 0; worker < found.size(); ++worker) {
    renamed[worker].resize(found[worker].members.size());
    const auto merged = std::ssize(members);
    for (size_t id = 0; id < found[worker].members.size(); ++id)
      members.push_back({found[worker].members[id], worker, id});
    std::inplace_merge(members.begin(), members.begin() + merged, members.end(), before);
  }
  // The first member that each is like: threads look for those of their part of the hashes.
  std::vector<size_t> first_like(members.size());
  host_parts_checked<Host>(queue, workers, [&](int64_t part) {
    Classes mine;
    std::vector<size_t> first;  // of the classes
    for (size_t m = 0; m < members.size(); ++m) {
      const auto& [item, worker, number] = members[m];
      const uint64_t h = found[worker].hashes[number];
      if (static_cast<int64_t>((h >> 32) % static_cast<uint64_t>(workers)) != part) continue;
      int32_t id = mine.find(h, item, same);
      if (id == no_class) {
        id = mine.add(h, item);
        first.push_back(m);
      }
      first_like[m] = first[static_cast<size_t>(id)];
    }
  });
  std::vector<int64_t> all;
  std::vector<int32_t> ids(members.size());
  for (size_t m = 0; m < members.size(); ++m) {
    const auto& [item, worker, number] = members[m];
    if (first_like[m] == m) {
      ids[m] = static_cast<int32_t>(all.size());
      all.push_back(item);
    }
    const int32_t id = ids[first_like[m]];
    renamed[worker][number] = id < most ? id : no_class;
  }
  if (all.size() > bound) return none();
  host_parts<Host>(queue, workers, [&](int64_t part) {
    for (int64_t block = part; block < blocks; block += workers) {
      const int64_t worker = reader[static_cast<size_t>(block)];
      for (int64_t i = block * block_items; i < end_of(block); ++i) {
        int32_t& id = id_of(i);
        id = worker == unread ? no_class : renamed[static_cast<size_t>(worker)][static_cast<size_t>(id)];
      }
    }
  });
  if (all.size() > static_cast<size_t>(most)) all.resize(static_cast<size_t>(most));
  return all;
}

}  // namespace kkc::spgemm
