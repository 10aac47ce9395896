// Levels of rows of few entries: those of one row after the other, and rows dealt by them.
#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "ops/levels/levels_host_row_levels.hpp"
#include "parts/parts_queue.hpp"
#include "support/catch.hpp"

using namespace kkc;
using namespace kkc::levels;

namespace {

template <class I, class O>
struct Pattern {
  std::vector<O> offsets;
  std::vector<I> indices;
  O less;         // the first offset
  I first_index;  // base of indices
};

/// What HostTriangle::Rows has that the search reads.
template <class I, class O>
struct Rows {
  const Pattern<I, O>* of;
  int64_t begin(int64_t row) const { return static_cast<int64_t>(begins()[row] - of->less); }
  int64_t end(int64_t row) const { return static_cast<int64_t>(ends()[row] - of->less); }
  int64_t column(int64_t entry) const { return static_cast<int64_t>(indices()[entry]) - base(); }
  const O* begins() const { return of->offsets.data(); }
  const O* ends() const { return of->offsets.data() + 1; }
  O begin_base() const { return of->less; }
  O end_base() const { return of->less; }
  const I* indices() const { return of->indices.data(); }
  int64_t base() const { return static_cast<int64_t>(of->first_index); }
};

using Needed = std::function<std::vector<int64_t>(int64_t step)>;  // steps before it

template <class I, class O>
Pattern<I, O> pattern(int64_t n, bool ascending, const Needed& needed, O less, I base) {
  Pattern<I, O> made{{less}, {}, less, base};
  for (int64_t row = 0; row < n; ++row) {
    std::vector<int64_t> columns = needed(ascending ? row : n - 1 - row);
    for (int64_t& step : columns) step = ascending ? step : n - 1 - step;
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (const int64_t column : columns) made.indices.push_back(static_cast<I>(column) + base);
    made.offsets.push_back(static_cast<O>(made.indices.size()) + less);
  }
  return made;
}

template <class I, class O>
void check(int64_t n, bool ascending, const Needed& needed, const std::string& name) {
  const Pattern<I, O> all = pattern<I, O>(n, ascending, needed, O{1}, I{1});
  const Rows<I, O> rows{&all};
  std::vector<int64_t> level(static_cast<size_t>(n));
  std::vector<int64_t> expected_longest;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t row = ascending ? step : n - 1 - step;
    int64_t& mine = level[static_cast<size_t>(row)];
    for (int64_t p = rows.begin(row); p < rows.end(row); ++p)
      mine = std::max(mine, level[static_cast<size_t>(rows.column(p))] + 1);
    if (mine >= std::ssize(expected_longest)) expected_longest.resize(static_cast<size_t>(mine) + 1);
    if (const int64_t length = rows.end(row) - rows.begin(row); length > 32)
      expected_longest[static_cast<size_t>(mine)] = std::max(expected_longest[static_cast<size_t>(mine)], length);
  }
  const int64_t levels = std::ssize(expected_longest);
  for (const bool chained : {false, true}) {
    INFO(name << ", " << n << " rows, " << (ascending ? "ascending" : "descending") << ", chained " << chained);
    std::vector<I> key(static_cast<size_t>(n), I{-1});
    std::vector<BlockSchedule::Length> length(static_cast<size_t>(n));
    std::vector<int64_t> longest;
    using Search = LevelSearch<I, Rows<I, O>>;
    REQUIRE(Search(rows, n, ascending, key.data(), length.data()).find(levels, chained, longest));
    CHECK(longest == expected_longest);
    bool same = true;
    for (int64_t row = 0; row < n; ++row) {
      const auto at = static_cast<size_t>(row);
      const int64_t entries = rows.end(row) - rows.begin(row);
      same = same && static_cast<int64_t>(key[at]) == level[at] * 32 + std::min<int64_t>(entries, 31) &&
             length[at] == entries;
    }
    REQUIRE(same);
    // Others have more counters than is worth while.
    for (const int threads : {1, 2, 3}) {
      if (chained || 64 * levels > n) break;
      testing::PartsQueue queue(threads);
      std::vector<I> order(static_cast<size_t>(n), I{-1}), by_level = order, in_turns = order, levels_only = key;
      std::vector<int64_t> starts(static_cast<size_t>(levels) + 1), same_starts = starts;
      const std::vector<int64_t> length_starts =
          deal_in_turns<Host, true>(queue, key.data(), n, levels, threads, order.data(), starts);
      deal_in_turns<Host, false>(queue, key.data(), n, levels, threads, in_turns.data(), same_starts);
      REQUIRE(starts == same_starts);
      deal_by_level<Host>(queue, levels_only.data(), n, levels, threads, by_level.data(), same_starts);
      REQUIRE(starts == same_starts);
      REQUIRE(in_turns == by_level);
      for (int64_t l = 0; l < levels; ++l) {
        const int64_t begin = starts[static_cast<size_t>(l)], end = starts[static_cast<size_t>(l) + 1];
        // Any part of a level, too.
        for (const int64_t from : {begin, begin + (end - begin) / 3}) {
          int64_t at = from;
          each_length(length_starts, {from, end - from, 0}, [&](int64_t of_rows, int64_t count) {
            for (; count > 0; --count, ++at)
              same = same && (key[static_cast<size_t>(order[static_cast<size_t>(at)])] & 31) == of_rows;
          });
          same = same && at == end;
        }
        std::vector<I> rows_of(order.begin() + begin, order.begin() + end);
        std::sort(rows_of.begin(), rows_of.end());
        same = same && std::equal(rows_of.begin(), rows_of.end(), by_level.begin() + begin);
        for (const I row : rows_of) same = same && level[static_cast<size_t>(row)] == l;
      }
      REQUIRE(same);
    }
    if (levels > 1) CHECK(!Search(rows, n, ascending, key.data(), length.data()).find(levels - 1, chained, longest));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("levels of rows of few entries are those of one row after the other", "",
                   (std::pair<int32_t, int32_t>), (std::pair<int32_t, int64_t>), (std::pair<int64_t, int64_t>)) {
  using I = typename TestType::first_type;
  using O = typename TestType::second_type;
  std::mt19937 random(5);
  const auto some = [&random](int64_t step, int64_t count, int64_t back) {
    std::vector<int64_t> needed;
    for (int64_t e = 0; step > 0 && e < count; ++e)
      needed.push_back(step - 1 - static_cast<int64_t>(random()) % std::min(step, back));
    return needed;
  };
  for (const bool ascending : {true, false})
    for (const int64_t n : {1, 15, 16, 17, 31, 1025, 2500}) {
      const auto with = [&](const char* name, const Needed& needed) { check<I, O>(n, ascending, needed, name); };
      with("no entries", [](int64_t) { return std::vector<int64_t>(); });
      with("a chain", [](int64_t step) { return step == 0 ? std::vector<int64_t>() : std::vector<int64_t>{step - 1}; });
      with("up to three", [&](int64_t step) { return some(step, step % 4, n); });
      with("near ones", [&](int64_t step) { return some(step, 1 + step % 3, 20); });
      with("up to forty", [&](int64_t step) { return some(step, step % 41, n); });
      with("long rows", [&](int64_t step) { return some(step, step % 50 == 49 ? 300 : 1, n); });
      with("the first row", [](int64_t step) { return std::vector<int64_t>(step % 5 == 0 ? 0 : 1, 0); });
    }
}
