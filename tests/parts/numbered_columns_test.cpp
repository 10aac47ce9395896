// NumberedColumns: the columns of a std::set, and the places of a search in it, of rows of every length around those
// that are compared at once and those that are marked instead.
#include <random>
#include <set>

#include "ops/spgemm/spgemm_host_numbered_columns.hpp"
#include "support/catch.hpp"

using namespace kkc::spgemm;

// int16_t: its numbers begin anew every few hundred rows.
TEMPLATE_TEST_CASE("numbered columns are those of a set, with their places", "", int16_t, int32_t, int64_t) {
  using I = TestType;
  constexpr int64_t cols = 3000, before = 7;
  constexpr auto more = static_cast<size_t>(NumberedColumns<I>::compared_at_once);
  std::mt19937 random(7);
  NumberedColumns<I> numbered(cols);
  int64_t numbers_given = 0;
  for (int repeat = 0; repeat < 120; ++repeat)
    for (const int64_t products : {0, 1, 7, 8, 9, 16, 17, 63, 64, 65, 66, 200, 2000}) {
      const int64_t width = repeat % 2 == 0 ? cols : std::max<int64_t>(1, products / 2);
      std::uniform_int_distribution<int64_t> any(cols - width, cols - 1);
      std::vector<I> met(static_cast<size_t>(products));
      for (I& column : met) column = static_cast<I>(any(random));
      const std::set<I> expected(met.begin(), met.end());

      auto row = numbered.begin(products);
      std::vector<typename NumberedColumns<I>::Number> numbers;
      for (const I column : met) numbers.push_back(row.number_of(column));
      REQUIRE(row.size() == static_cast<int64_t>(expected.size()));
      const auto first = numbered.next();
      std::vector<uint32_t> ranks(expected.size() + more);
      std::vector<I> columns(expected.size() + more);
      numbered.end(row, before, ranks.data(), columns.data());
      numbered.forget();
      numbers_given += static_cast<int64_t>(expected.size());

      columns.resize(expected.size());
      CHECK(std::equal(columns.begin(), columns.end(), expected.begin(), expected.end()));
      bool placed = true;
      for (size_t k = 0; k < met.size(); ++k)
        placed &= columns[static_cast<size_t>(ranks[static_cast<size_t>(numbers[k] - first)]) - before] == met[k];
      CHECK(placed);
    }
  CHECK(numbers_given > 2 * std::numeric_limits<int16_t>::max());
}
