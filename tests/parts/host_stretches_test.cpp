// Stretches of rows along a line: where they end by comparing entries one by one.
#include <algorithm>
#include <random>
#include <vector>

#include "ops/spgemm/spgemm_host_stretches.hpp"
#include "support/catch.hpp"

using namespace kkc;

namespace {

template <class I, class O>
CsrRef pattern_of(const std::vector<O>& offsets, const std::vector<I>& indices, int32_t base) {
  CsrRef A{};
  A.base = base;
  A.rows = static_cast<int64_t>(offsets.size()) - 1;
  A.nnz = static_cast<int64_t>(indices.size());
  A.offsets = offsets.data();
  A.indices = indices.data();
  return A;
}

}  // namespace

TEMPLATE_TEST_CASE("stretches end before the first row that is not the one before it, moved by one", "", int32_t,
                   int64_t) {
  using I = TestType;
  using O = int64_t;
  std::mt19937 random(11);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int repeat = 0; repeat < 300; ++repeat) {
    const int base = below(2), most = repeat % 3 == 0 ? 40 : 6;
    std::vector<O> offsets{base};
    std::vector<I> indices, row;
    while (offsets.size() < 400) {
      // A row of other columns, or one entry of the row off, or the row before moved by one; long stretches too.
      const int change = below(repeat % 2 == 0 ? 200 : 6);
      for (I& column : row) ++column;
      if (change == 0) {
        row.resize(static_cast<size_t>(below(most)));
        for (I& column : row) column = static_cast<I>(base + below(1000));
      } else if (change == 1 && !row.empty()) {
        row[static_cast<size_t>(below(static_cast<int>(row.size())))] += 1;
      } else if (change == 2) {
        row.push_back(static_cast<I>(base + below(1000)));
      }
      indices.insert(indices.end(), row.begin(), row.end());
      offsets.push_back(static_cast<O>(indices.size()) + base);
    }
    const HostPatternRef<I, O> A(pattern_of(offsets, indices, base));
    const auto follows = [&](int64_t i) {
      const int64_t length = A.end(i) - A.begin(i);
      if (A.end(i - 1) - A.begin(i - 1) != length) return false;
      for (int64_t k = 0; k < length; ++k)
        if (A.column(A.begin(i) + k) != A.column(A.begin(i - 1) + k) + 1) return false;
      return true;
    };
    bool right = true;
    for (int64_t first = 0; first < A.rows; ++first)
      for (const int64_t limit : {first + 1, std::min(A.rows, first + 1 + below(200)), A.rows}) {
        int64_t end = first + 1;
        while (end < limit && follows(end)) ++end;
        right &= spgemm::end_of_stretch(A, first, limit) == end;
      }
    INFO("repeat " << repeat);
    REQUIRE(right);
  }
}
