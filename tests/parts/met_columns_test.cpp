// MetColumns: the columns of a std::set, and their places in it, of rows of every length around those whose columns are
// compared at once and those whose are marked instead.
#include <random>
#include <set>

#include "ops/spgemm/spgemm_host_met_columns.hpp"
#include "support/catch.hpp"

using namespace kkc::spgemm;

namespace {

// uint8_t: its count of rows begins anew every 255 rows.
struct Int16 {
  using I = int16_t;
  using Count = uint8_t;
};
struct Int32 {
  using I = int32_t;
  using Count = uint32_t;
};
struct Int64 {
  using I = int64_t;
  using Count = uint16_t;
};

}  // namespace

TEMPLATE_TEST_CASE("columns that rows meet are those of a set, with their places", "", Int16, Int32, Int64) {
  using I = typename TestType::I;
  using Columns = MetColumns<I, typename TestType::Count>;
  constexpr int64_t cols = 3000, before = 7;
  std::mt19937 random(7);
  Columns met_columns(cols);
  for (int repeat = 0; repeat < 120; ++repeat)
    for (const int64_t products : {0, 1, 7, 8, 9, 16, 17, 63, 64, 65, 66, 200, 2000}) {
      const int64_t width = repeat % 2 == 0 ? cols : std::max<int64_t>(1, products / 2);
      std::uniform_int_distribution<int64_t> any(cols - width, cols - 1);
      std::vector<I> met(static_cast<size_t>(products));
      for (I& column : met) column = static_cast<I>(any(random));
      const std::set<I> expected(met.begin(), met.end());

      auto row = met_columns.begin(products);
      for (const I column : met) row.meet(column);
      REQUIRE(row.size() == static_cast<int64_t>(expected.size()));
      std::vector<I> columns(expected.size() + static_cast<size_t>(Columns::more_room));
      met_columns.end(row, before, columns.data());

      columns.resize(expected.size());
      CHECK(std::equal(columns.begin(), columns.end(), expected.begin(), expected.end()));
      bool placed = true;
      for (const I column : met) placed &= columns[met_columns.place_of(column) - before] == column;
      CHECK(placed);
    }
}
