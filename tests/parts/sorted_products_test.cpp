// SortedProducts: the columns of a std::set, and each product's place in them, for every number of products around
// those that fill vectors, in rows of B of any lengths.
#include <random>
#include <set>

#include "ops/spgemm/spgemm_host_sorted_products.hpp"
#include "support/catch.hpp"

using namespace kkc::spgemm;

#if defined(__AVX512F__) || defined(__AVX2__)
namespace {

/// Rows that follow each other, all of them named by the row of A.
struct Rows {
  std::vector<int32_t> entries;
  std::vector<int64_t> starts = {0};
  const int32_t* indices = nullptr;
  int64_t base = 0, nnz = 0;

  int64_t size() const { return std::ssize(starts) - 1; }
  int64_t column(int64_t k) const { return k; }
  int64_t begin(int64_t row) const { return starts[static_cast<size_t>(row)]; }
  int64_t end(int64_t row) const { return begin(row + 1); }
};

struct NothingAhead {
  void fetch(const Rows&, int64_t, const int32_t*) const {}
};

}  // namespace

TEST_CASE("columns of sorted products are those of a set, with their places") {
  std::mt19937 random(7);
  for (const int64_t cols : {int64_t{1}, int64_t{40}, int64_t{3000}, int64_t{1} << 23})
    for (const int64_t products : {1,  2,  7,  8,  9,  15, 16,  17,  24,  25,  31,  32,  33,  40, 41,
                                   48, 63, 64, 65, 96, 97, 100, 128, 129, 192, 193, 200, 255, 256})
      for (const int32_t base : {0, 1}) {
        REQUIRE(SortedProducts::takes<int32_t>(products, cols));
        Rows b;
        b.base = base;
        std::uniform_int_distribution<int64_t> any(0, cols - 1);
        for (int64_t left = products, row = 0; left > 0; ++row) {
          const int64_t length = std::min<int64_t>(left, row % 4 == 0 ? 0 : static_cast<int64_t>(random() % 40));
          for (int64_t e = 0; e < length; ++e) {
            // The last column, and some twice.
            const auto again = [&] { return b.entries[random() % b.entries.size()]; };
            b.entries.push_back(b.entries.empty()   ? static_cast<int32_t>(cols - 1 + base)
                                : random() % 5 == 0 ? again()
                                                    : static_cast<int32_t>(any(random) + base));
          }
          b.starts.push_back(std::ssize(b.entries));
          left -= length;
        }
        b.indices = b.entries.data();
        b.nnz = std::ssize(b.entries);
        std::set<int64_t> expected;
        for (const int32_t entry : b.entries) expected.insert(entry - base);

        const auto room = static_cast<size_t>(products + SortedProducts::lanes);
        std::vector<int32_t> columns(room);
        std::vector<uint16_t> places(room);
        const int64_t count = SortedProducts::make(b, b, NothingAhead{}, products, columns.data(), places.data());
        columns.resize(static_cast<size_t>(count));
        places.resize(static_cast<size_t>(products));
        CHECK(std::equal(columns.begin(), columns.end(), expected.begin(), expected.end()));
        bool placed = true;
        for (size_t p = 0; p < places.size(); ++p)
          placed &= places[p] < columns.size() && columns[places[p]] == b.entries[p] - base;
        CHECK(placed);
      }
}
#endif

TEST_CASE("products are sorted where a column and a product's number fill 31 bits at most") {
  CHECK_FALSE(SortedProducts::takes<int64_t>(16, 100));
  CHECK_FALSE(SortedProducts::takes<int32_t>(0, 100));
  CHECK_FALSE(SortedProducts::takes<int32_t>(257, 100));
  CHECK_FALSE(SortedProducts::takes<int32_t>(256, (int64_t{1} << 23) + 1));
  CHECK(SortedProducts::takes<int32_t>(256, int64_t{1} << 23) == ColumnVectors::suit<int32_t>());
}
