// sptrsv: supernodes of a triangle, neighbouring unknowns whose rows (or columns) have the same pattern outside their
// own block (Ng, Peyton, "Block sparse Cholesky algorithms on advanced uniprocessor computers", SIAM J. Sci. Comput.
// 14(5), 1993), amalgamated where that pads little (Ashcraft, Grimes, "The influence of relaxed supernode partitions
// on the multifrontal method", ACM TOMS 15(4), 1989). Steps number the unknowns in the order of their solution.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

namespace kkc::sptrsv {

/// Numbers without values at first: whoever writes one first touches its page.
template <class T>
struct Unset : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Unset<U>;
  };
  template <class U, class... A>
  void construct(U* at, A&&... from) {
    if constexpr (sizeof...(A) == 0)
      ::new (static_cast<void*>(at)) U;
    else
      ::new (static_cast<void*>(at)) U(std::forward<A>(from)...);
  }
};

/// The triangle off its diagonal, row by row: what a step needs, strictly ascending.
template <class I>
struct StepPattern {
  std::vector<int64_t> offsets{0};
  std::vector<I, Unset<I>> columns;
  int64_t steps() const { return static_cast<int64_t>(offsets.size()) - 1; }
  const I* begin(int64_t step) const { return columns.data() + offsets[static_cast<size_t>(step)]; }
  const I* end(int64_t step) const { return columns.data() + offsets[static_cast<size_t>(step) + 1]; }
  int64_t length(int64_t step) const { return end(step) - begin(step); }
};

template <class I>
struct Supernodes {
  bool by_columns = false;          // columns share their pattern: outer are the steps that need them; else rows do
  std::vector<I> first;             // step of each supernode, and the number of steps
  std::vector<I> owner;             // of each step
  std::vector<int64_t> outer_from;  // of each supernode, and the end
  std::vector<I> outer;             // steps outside the supernode's own, ascending
  std::vector<I> level;
  int64_t levels = 0, nonzeros = 0, dense = 0;  // dense: numbers in all blocks

  int64_t count() const { return static_cast<int64_t>(first.size()) - 1; }
  int64_t width(int64_t s) const { return first[static_cast<size_t>(s) + 1] - first[static_cast<size_t>(s)]; }
  int64_t outer_count(int64_t s) const {
    return outer_from[static_cast<size_t>(s) + 1] - outer_from[static_cast<size_t>(s)];
  }
  int64_t length(int64_t s) const { return width(s) + outer_count(s); }
  const I* outer_begin(int64_t s) const { return outer.data() + outer_from[static_cast<size_t>(s)]; }
  const I* outer_end(int64_t s) const { return outer.data() + outer_from[static_cast<size_t>(s) + 1]; }
  /// Calls f(other) for each supernode in which `s` has outer steps.
  template <class F>
  void each_neighbour(int64_t s, const F& f) const {
    int64_t last = -1;
    for (const I* o = outer_begin(s); o < outer_end(s); ++o) {
      const auto other = static_cast<int64_t>(owner[static_cast<size_t>(*o)]);
      if (other != last) f(other);
      last = other;
    }
  }
};

namespace supernode_parts {

/// One of `parts` ranges of `items`.
constexpr int64_t range_begin(int64_t items, int64_t parts, int64_t part) {
  return items / parts * part + std::min(items % parts, part);
}

/// joins[i]: whether step i + 1 continues step i's supernode. run(parts, f) calls f(part) for each part.
template <class I, class Run>
int64_t joins_of_rows(const StepPattern<I>& M, std::vector<char>& joins, int64_t parts, const Run& run) {
  const int64_t n = std::max<int64_t>(M.steps() - 1, 0);
  std::vector<int64_t> sums(static_cast<size_t>(parts));
  run(parts, [&](int64_t part) {
    int64_t sum = 0;
    for (int64_t i = range_begin(n, parts, part); i < range_begin(n, parts, part + 1); ++i) {
      const bool join = M.length(i + 1) == M.length(i) + 1 && M.end(i + 1)[-1] == i &&
                        std::equal(M.begin(i), M.end(i), M.begin(i + 1));
      joins[static_cast<size_t>(i)] = join;
      sum += join;
    }
    sums[static_cast<size_t>(part)] = sum;
  });
  return std::accumulate(sums.begin(), sums.end(), int64_t{0});
}
template <class I, class Run>
int64_t joins_of_columns(const StepPattern<I>& M, std::vector<char>& joins, int64_t parts, const Run& run) {
  const int64_t n = M.steps();
  struct Counts {
    std::vector<I> entries, both;  // of each column; both: rows that have the next one, too
  };
  std::vector<Counts> of_parts(static_cast<size_t>(parts));
  run(parts, [&](int64_t part) {
    auto& [entries, both] = of_parts[static_cast<size_t>(part)];
    entries.assign(static_cast<size_t>(n), 0);
    both.assign(static_cast<size_t>(n), 0);
    for (int64_t i = range_begin(n, parts, part); i < range_begin(n, parts, part + 1); ++i)
      for (const I* c = M.begin(i); c < M.end(i); ++c) {
        ++entries[static_cast<size_t>(*c)];
        if (c + 1 < M.end(i) && c[1] == *c + 1) ++both[static_cast<size_t>(*c)];
      }
  });
  auto &entries = of_parts.front().entries, &both = of_parts.front().both;
  run(parts, [&](int64_t part) {
    for (size_t other = 1; other < of_parts.size(); ++other)
      for (int64_t i = range_begin(n, parts, part); i < range_begin(n, parts, part + 1); ++i) {
        entries[static_cast<size_t>(i)] += of_parts[other].entries[static_cast<size_t>(i)];
        both[static_cast<size_t>(i)] += of_parts[other].both[static_cast<size_t>(i)];
      }
  });
  int64_t sum = 0;
  for (size_t i = 0; i + 1 < static_cast<size_t>(n); ++i) {
    const int64_t next = static_cast<int64_t>(i) + 1;
    const bool join = M.length(next) > 0 && M.end(next)[-1] == static_cast<I>(i) && both[i] == entries[i + 1] &&
                      entries[i] == entries[i + 1] + 1;
    joins[i] = join;
    sum += join;
  }
  return sum;
}

/// A supernode on the way.
template <class I>
struct Draft {
  int64_t first, end, nonzeros;
  std::vector<I> outer;
  int64_t dense() const {
    const int64_t w = end - first;
    return w * (w + 1) / 2 + w * static_cast<int64_t>(outer.size());
  }
};

inline double most_padding(int64_t width) { return width <= 8 ? 0.3 : width <= 24 ? 0.15 : 0.05; }

/// Joins b to its neighbour a where they depend on each other and little is padded.
template <class I>
bool amalgamate(Draft<I>& a, const Draft<I>& b, bool by_columns, int64_t most_width) {
  const int64_t width = b.end - a.first;
  if (width > most_width) return false;
  const auto& crossing = by_columns ? a.outer : b.outer;
  const int64_t from = by_columns ? b.first : a.first, to = by_columns ? b.end : a.end;
  const auto low = std::lower_bound(crossing.begin(), crossing.end(), static_cast<I>(from)),
             high = std::lower_bound(low, crossing.end(), static_cast<I>(to));
  if (low == high) return false;
  Draft<I> both{a.first, b.end, a.nonzeros + b.nonzeros, {}};
  // What is left of the crossing one lies on one side of the gap.
  std::vector<I> rest(crossing.begin(), low);
  rest.insert(rest.end(), high, crossing.end());
  const auto& other = by_columns ? b.outer : a.outer;
  const auto most = static_cast<int64_t>(rest.size() + other.size()),
             least = static_cast<int64_t>(std::max(rest.size(), other.size()));
  const auto too_much = [&](int64_t outside) {
    const auto dense = static_cast<double>(width * (width + 1) / 2 + width * outside);
    return dense - static_cast<double>(both.nonzeros) > most_padding(width) * dense;
  };
  if (too_much(least)) return false;
  both.outer.reserve(static_cast<size_t>(most));
  std::set_union(rest.begin(), rest.end(), other.begin(), other.end(), std::back_inserter(both.outer));
  if (too_much(static_cast<int64_t>(both.outer.size()))) return false;
  a = std::move(both);
  return true;
}

}  // namespace supernode_parts

/// by_columns where columns make fewer supernodes than rows. No supernode is wider than most_width. run(parts, f) calls
/// f(part) for each part; what is found does not depend on their number.
template <class I, class Run>
Supernodes<I> find_supernodes(const StepPattern<I>& M, int64_t most_width, int64_t parts, const Run& run) {
  using supernode_parts::Draft;
  Supernodes<I> made;
  const int64_t n = M.steps();
  std::vector<char> of_rows(static_cast<size_t>(n), 0), of_columns(static_cast<size_t>(n), 0);
  const int64_t row_joins = supernode_parts::joins_of_rows(M, of_rows, parts, run),
                column_joins = supernode_parts::joins_of_columns(M, of_columns, parts, run);
  made.by_columns = column_joins > row_joins;
  const std::vector<char>& joins = made.by_columns ? of_columns : of_rows;

  std::vector<Draft<I>> exact;
  made.owner.resize(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || joins[static_cast<size_t>(i) - 1] == 0 || i - exact.back().first >= most_width)
      exact.push_back({i, i, 0, {}});
    exact.back().end = i + 1;
    made.owner[static_cast<size_t>(i)] = static_cast<I>(exact.size() - 1);
  }
  for (int64_t i = 0; made.by_columns && i < n; ++i) {
    I last = made.owner[static_cast<size_t>(i)];
    for (const I* c = M.begin(i); c < M.end(i); ++c) {
      const I s = made.owner[static_cast<size_t>(*c)];
      auto& outer = exact[static_cast<size_t>(s)].outer;
      if (s == last || s == made.owner[static_cast<size_t>(i)]) continue;
      last = s;
      outer.push_back(static_cast<I>(i));
    }
  }
  if (!made.by_columns)
    for (Draft<I>& s : exact) s.outer.assign(M.begin(s.first), M.end(s.first));
  for (Draft<I>& s : exact) s.nonzeros = s.dense();

  std::vector<Draft<I>> stack;
  for (Draft<I>& s : exact) {
    stack.push_back(std::move(s));
    while (stack.size() > 1 &&
           supernode_parts::amalgamate(stack[stack.size() - 2], stack.back(), made.by_columns, most_width))
      stack.pop_back();
  }
  made.outer_from.assign(1, 0);
  for (const Draft<I>& s : stack) {
    const auto index = static_cast<I>(made.first.size());
    made.first.push_back(static_cast<I>(s.first));
    std::fill(made.owner.begin() + s.first, made.owner.begin() + s.end, index);
    made.outer.insert(made.outer.end(), s.outer.begin(), s.outer.end());
    made.outer_from.push_back(static_cast<int64_t>(made.outer.size()));
    made.nonzeros += s.nonzeros;
    made.dense += (s.end - s.first) * (s.end - s.first + static_cast<int64_t>(s.outer.size()));
  }
  made.first.push_back(static_cast<I>(n));

  made.level.assign(static_cast<size_t>(made.count()), 0);
  for (int64_t s = 0; s < made.count(); ++s) {
    I& mine = made.level[static_cast<size_t>(s)];
    made.each_neighbour(s, [&](int64_t other) {
      I& its = made.level[static_cast<size_t>(other)];
      if (made.by_columns)
        its = std::max<I>(its, static_cast<I>(mine + 1));
      else
        mine = std::max<I>(mine, static_cast<I>(its + 1));
    });
    made.levels = std::max<int64_t>(made.levels, mine + 1);
  }
  return made;
}

/// The same by the calling thread alone.
template <class I>
Supernodes<I> find_supernodes(const StepPattern<I>& M, int64_t most_width) {
  return find_supernodes(M, most_width, 1, [](int64_t, const auto& f) { f(int64_t{0}); });
}

}  // namespace kkc::sptrsv
