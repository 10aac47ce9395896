// HostPairs: the pairs of each row are those that looking at all entries of both rows finds, whatever the type of
// indices; rows that are too long, or need one that is, have none.
#include <map>
#include <random>
#include <set>

#include "ops/ilu/ilu_host_pairs.hpp"
#include "parts/parts_queue.hpp"
#include "support/catch.hpp"

using namespace kkc::ilu;
using kkc::testing::PartsQueue;

namespace {

using Rows = std::vector<std::set<int64_t>>;

/// Rows with a diagonal entry and `count(i)` others, of which Cholesky's factors hold those before it.
template <class F>
Rows random_rows(int64_t n, Form form, F&& count) {
  std::mt19937 random(5);
  Rows rows(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    row.insert(i);
    const int64_t end = form == Form::lu ? n : i + 1;
    for (int64_t e = count(i); e > 0; --e) row.insert(static_cast<int64_t>(random() % static_cast<uint64_t>(end)));
  }
  return rows;
}

template <class I, class O>
struct Csr {
  std::vector<O> offsets = {0}, diagonal;
  std::vector<I> indices;

  explicit Csr(const Rows& rows) {
    for (int64_t i = 0; i < std::ssize(rows); ++i) {
      for (const int64_t j : rows[static_cast<size_t>(i)]) {
        if (j == i) diagonal.push_back(static_cast<O>(indices.size()));
        indices.push_back(static_cast<I>(j));
      }
      offsets.push_back(static_cast<O>(indices.size()));
    }
  }
  LowerRows<I, O> lower() const { return {offsets.data(), diagonal.data(), indices.data(), std::ssize(diagonal)}; }
};

template <class I, class O>
void check(const Rows& rows, Form form, bool complete) {
  PartsQueue queue(3);
  const Csr<I, O> csr(rows);
  const HostPairs<I, O> pairs(queue, form, csr.lower());
  REQUIRE_FALSE(pairs.empty());
  CHECK(pairs.complete() == complete);
  int64_t wrong = 0, all = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const O first = csr.offsets[i];
    const auto row = pairs.of(static_cast<int64_t>(i));
    const auto long_row = [&](size_t k) { return rows[k].size() > 65535; };
    bool known = !long_row(i);
    for (O p = first; p < csr.diagonal[i]; ++p)
      known = known && !long_row(static_cast<size_t>(csr.indices[static_cast<size_t>(p)]));
    CHECK(row.known == known);
    if (!known) continue;
    std::map<int64_t, int64_t> place;
    for (O p = first; p < csr.offsets[i + 1]; ++p) place[csr.indices[static_cast<size_t>(p)]] = p - first;
    const HostPair* pair = row.pairs;
    for (O p = first; p < csr.diagonal[i]; ++p) {
      const auto k = static_cast<size_t>(csr.indices[static_cast<size_t>(p)]);
      const O base = form == Form::lu ? csr.diagonal[k] : csr.offsets[k],
              begin = form == Form::lu ? csr.diagonal[k] + 1 : csr.offsets[k],
              end = form == Form::lu ? csr.offsets[k + 1] : csr.diagonal[k];
      int64_t count = 0;
      for (O q = begin; q < end; ++q) {
        const auto met = place.find(csr.indices[static_cast<size_t>(q)]);
        if (met == place.end()) continue;
        if (count++ < row.counts[p - first]) {
          wrong += pair->own != met->second || pair->needed != q - base;
          ++pair;
        }
      }
      wrong += count != row.counts[p - first];
      all += count;
    }
  }
  CHECK(wrong == 0);
  CHECK(pairs.count() == all);
}

}  // namespace

TEST_CASE("pairs of entries in the same column are found") {
  for (const Form form : {Form::lu, Form::cholesky})
    for (const int64_t n : {1, 40, 700, 5000}) {
      const Rows rows = random_rows(n, form, [&](int64_t i) { return i % 97 == 96 ? n / 8 : i % (n < 100 ? 3 : 9); });
      check<int32_t, int32_t>(rows, form, true);
      check<int32_t, int64_t>(rows, form, true);
      check<int64_t, int64_t>(rows, form, true);
    }
}

TEST_CASE("rows without pairs: longer ones than two bytes count, and those that need them") {
  constexpr int64_t n = 70'000;
  Rows rows = random_rows(n, Form::lu, [](int64_t i) { return i % 3; });
  for (int64_t j = 0; j < n; ++j) {
    rows[20].insert(j);
    rows[n - 1].insert(j);
  }
  check<int32_t, int32_t>(rows, Form::lu, false);
}

TEST_CASE("rows that share most columns keep no pairs") {
  PartsQueue queue(2);
  Rows rows(300);
  for (auto& row : rows)
    for (int64_t j = 0; j < 300; ++j) row.insert(j);
  const Csr<int32_t, int32_t> csr(rows);
  CHECK((HostPairs<int32_t, int32_t>(queue, Form::lu, csr.lower()).empty()));
}

TEST_CASE("a sample of rows that misleads ends in no pairs, not in some") {
  // The rows between those that are looked at have all columns.
  PartsQueue queue(2);
  Rows rows(2048);
  for (int64_t i = 0; i < 2048; ++i)
    if (i % 3 == 1)
      rows[static_cast<size_t>(i)].insert(i);
    else
      for (int64_t j = 0; j < 2048; ++j) rows[static_cast<size_t>(i)].insert(j);
  const Csr<int32_t, int32_t> csr(rows);
  CHECK((HostPairs<int32_t, int32_t>(queue, Form::lu, csr.lower()).empty()));
}
