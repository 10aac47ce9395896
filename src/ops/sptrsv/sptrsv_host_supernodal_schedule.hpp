// sptrsv, host_supernodal: who solves which supernode when. Supernodes that depend on each other and on nobody else
// (subtrees of a direct solver's elimination tree) go to one thread, the others by levels (Yamazaki, Rajamanickam,
// Ellingwood, "Performance portable supernode-based sparse triangular solver for manycore architectures", ICPP 2020,
// section 3).
#pragma once

#include "ops/levels/levels_host_runner.hpp"
#include "ops/sptrsv/sptrsv_supernodes.hpp"

namespace kkc::sptrsv::host_supernodal_parts {

/// Numbers in blocks that a phase of several threads must hold.
inline constexpr int64_t least_phase_work = 12000;
/// Subtrees of a thread, about.
inline constexpr int64_t subtrees_a_thread = 6;

template <class I>
int64_t work_of(const Supernodes<I>& nodes, int64_t s) {
  return nodes.width(s) * nodes.length(s) + 64;
}

/// The subtree of each supernode, -1 for those that go by levels. By columns no subtree needs another supernode; by
/// rows none is needed by another.
template <class I>
std::vector<int64_t> subtrees_of(const Supernodes<I>& nodes, int64_t most_work) {
  const int64_t count = nodes.count();
  std::vector<int64_t> parent(static_cast<size_t>(count)), work(static_cast<size_t>(count));
  std::vector<char> apart(static_cast<size_t>(count), 0);
  std::iota(parent.begin(), parent.end(), int64_t{0});
  const auto root = [&](int64_t s) {
    while (parent[static_cast<size_t>(s)] != s) {
      parent[static_cast<size_t>(s)] = parent[static_cast<size_t>(parent[static_cast<size_t>(s)])];
      s = parent[static_cast<size_t>(s)];
    }
    return s;
  };
  // Those that a supernode has on the side of its subtree.
  std::vector<int64_t> from(static_cast<size_t>(count) + 2, 0), before;
  for (int64_t s = 0; s < count; ++s) nodes.each_neighbour(s, [&](int64_t t) { ++from[static_cast<size_t>(t) + 2]; });
  for (size_t i = 2; i < from.size(); ++i) from[i] += from[i - 1];
  before.resize(static_cast<size_t>(from.back()));
  for (int64_t s = 0; s < count; ++s)
    nodes.each_neighbour(s, [&](int64_t t) { before[static_cast<size_t>(from[static_cast<size_t>(t) + 1]++)] = s; });
  std::vector<int64_t> roots, seen_by(static_cast<size_t>(count), -1);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t s = nodes.by_columns ? i : count - 1 - i;
    const auto low = before.begin() + from[static_cast<size_t>(s)],
               high = before.begin() + from[static_cast<size_t>(s) + 1];
    int64_t sum = work_of(nodes, s);
    bool fits = true;
    roots.clear();
    for (auto t = low; t != high && fits; ++t) {
      fits = apart[static_cast<size_t>(*t)] == 0;
      const int64_t r = root(*t);
      if (seen_by[static_cast<size_t>(r)] != s) {
        seen_by[static_cast<size_t>(r)] = s;
        roots.push_back(r);
        sum += work[static_cast<size_t>(r)];
      }
      fits = fits && sum <= most_work;
    }
    apart[static_cast<size_t>(s)] = !fits;
    if (!fits) continue;
    for (const int64_t r : roots) parent[static_cast<size_t>(r)] = s;
    work[static_cast<size_t>(s)] = sum;
  }
  std::vector<int64_t> subtree(static_cast<size_t>(count));
  for (int64_t s = 0; s < count; ++s)
    subtree[static_cast<size_t>(s)] = apart[static_cast<size_t>(s)] != 0 ? -1 : root(s);
  return subtree;
}

/// Blocks of supernodes.
template <class I>
levels::BlockSchedule schedule(const Supernodes<I>& nodes, int threads) {
  levels::BlockSchedule made;
  const int64_t count = nodes.count();
  made.threads = threads;
  made.levels = nodes.levels;
  made.blocks = count;
  made.shares.resize(static_cast<size_t>(threads));
  using Lists = std::vector<std::vector<int64_t>>;
  const auto add_phase = [&](Lists& lists) {
    for (size_t thread = 0; thread < lists.size(); ++thread) {
      auto& share = made.shares[thread];
      auto& list = lists[thread];
      std::sort(list.begin(), list.end());
      const size_t begin = share.blocks.size();
      for (const int64_t s : list)
        if (share.blocks.size() > begin && share.blocks.back().first + share.blocks.back().count == s)
          ++share.blocks.back().count;
        else
          share.blocks.push_back({s, 1, 0});
      share.ends.push_back(static_cast<int64_t>(share.blocks.size()));
      list.clear();
    }
    ++made.phases;
  };
  // Groups of supernodes with their work, to threads: the largest first, to whoever has least.
  struct Group {
    int64_t work;
    std::vector<int64_t> members;
  };
  Lists lists(static_cast<size_t>(threads));
  const auto deal = [&](std::vector<Group>& groups) {
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.work > b.work; });
    std::vector<int64_t> load(static_cast<size_t>(threads), 0);
    for (const Group& group : groups) {
      const auto least = static_cast<size_t>(std::min_element(load.begin(), load.end()) - load.begin());
      load[least] += group.work;
      lists[least].insert(lists[least].end(), group.members.begin(), group.members.end());
    }
    add_phase(lists);
  };

  int64_t total = 0;
  for (int64_t s = 0; s < count; ++s) total += work_of(nodes, s);
  std::vector<int64_t> subtree(static_cast<size_t>(count), 0);
  if (threads > 1) subtree = subtrees_of(nodes, total / (threads * subtrees_a_thread));
  std::vector<Group> trees(static_cast<size_t>(count));
  Lists by_level(static_cast<size_t>(nodes.levels));
  for (int64_t s = 0; s < count; ++s) {
    const int64_t tree = subtree[static_cast<size_t>(s)];
    if (tree < 0) {
      by_level[static_cast<size_t>(nodes.level[static_cast<size_t>(s)])].push_back(s);
      continue;
    }
    trees[static_cast<size_t>(tree)].members.push_back(s);
    trees[static_cast<size_t>(tree)].work += work_of(nodes, s);
  }
  std::erase_if(trees, [](const Group& tree) { return tree.members.empty(); });
  const auto add_levels = [&] {
    bool alone = false;  // the phase that is open belongs to one thread
    for (const auto& level : by_level) {
      if (level.empty()) continue;
      std::vector<Group> groups;
      int64_t sum = 0;
      for (const int64_t s : level) {
        groups.push_back({work_of(nodes, s), {s}});
        sum += groups.back().work;
      }
      if (level.size() == 1 || sum < least_phase_work) {
        lists[0].insert(lists[0].end(), level.begin(), level.end());
        for (const int64_t s : level) made.serial_rows += nodes.width(s);
        alone = true;
        continue;
      }
      if (alone) add_phase(lists);
      alone = false;
      deal(groups);
    }
    if (alone) add_phase(lists);
  };
  if (!nodes.by_columns) add_levels();
  if (!trees.empty()) deal(trees);
  if (nodes.by_columns) add_levels();

  for (auto& share : made.shares) {
    share.next.assign(static_cast<size_t>(made.phases) + 1, static_cast<int32_t>(made.phases));
    for (int64_t p = made.phases - 1; p >= 0; --p)
      share.next[static_cast<size_t>(p)] =
          share.end(p) > share.begin(p) ? static_cast<int32_t>(p) : share.next[static_cast<size_t>(p) + 1];
  }
  return made;
}

}  // namespace kkc::sptrsv::host_supernodal_parts
