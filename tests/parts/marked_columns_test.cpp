// MarkedColumns: the columns of a std::set, and their places in it, of rows of every length around those of vectors,
// one row after the other with columns here and there.
#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "ops/spgemm/spgemm_host_marked_columns.hpp"
#include "support/catch.hpp"

using namespace kkc::spgemm;

namespace {

template <class M, class I>
std::vector<int64_t> places(const MarkedColumns<I>& marked, const std::vector<I>& met, I base) {
  std::vector<std::byte> bytes((met.size() + MarkedColumns<I>::more_room) * sizeof(M));
  marked.template place<M>(met.data(), static_cast<int64_t>(met.size()), base, bytes.data());
  std::vector<int64_t> found(met.size());
  for (size_t k = 0; k < met.size(); ++k) {
    M place;
    std::memcpy(&place, bytes.data() + k * sizeof(M), sizeof(M));
    found[k] = place;
  }
  return found;
}

}  // namespace

TEMPLATE_TEST_CASE("columns that rows mark are those of a set, with their places", "", int32_t, int64_t) {
  using I = TestType;
  std::mt19937 random(7);
  for (const int64_t cols : {1, 63, 64, 65, 3000}) {
    MarkedColumns<I> marked(cols);
    for (int repeat = 0; repeat < 60; ++repeat)
      for (const int64_t products : {1, 15, 16, 17, 31, 32, 33, 255, 256, 257, 2000}) {
        const I base = static_cast<I>(repeat % 3 == 0 ? 1 : 0);
        const int64_t width = repeat % 2 == 0 ? cols : std::clamp<int64_t>(products / 2, 1, cols);
        std::uniform_int_distribution<int64_t> any(cols - width, cols - 1);
        std::vector<I> met(static_cast<size_t>(products));
        for (I& column : met) column = static_cast<I>(any(random) + base);
        std::set<I> known;
        for (const I column : met) known.insert(static_cast<I>(column - base));
        const std::vector<I> expected(known.begin(), known.end());

        std::vector<I> columns(expected.size() + MarkedColumns<I>::more_room);
        const int64_t count =
            marked.collect(met.data(), products, base, expected.front(), expected.back(), columns.data());
        REQUIRE(count == static_cast<int64_t>(expected.size()));
        columns.resize(expected.size());
        CHECK(columns == expected);

        std::vector<int64_t> expected_places;
        for (const I column : met)
          expected_places.push_back(std::lower_bound(expected.begin(), expected.end(), column - base) -
                                    expected.begin());
        CHECK(places<uint16_t>(marked, met, base) == expected_places);
        if (count <= 256) CHECK(places<uint8_t>(marked, met, base) == expected_places);
      }
  }
}
