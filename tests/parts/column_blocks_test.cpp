// each_block: runs of a row's columns, one after the other, are the row; in any order, with columns twice.
#include <bit>
#include <random>

#include "ops/spgemm/spgemm_host_blocks.hpp"
#include "support/catch.hpp"

using namespace kkc::spgemm;

namespace {

/// The columns of a row's runs, and their number.
template <int width>
std::pair<std::vector<int32_t>, int64_t> unfolded(const kkc::HostPatternRef<int32_t, int32_t>& B, int64_t j) {
  std::vector<int32_t> columns;
  int64_t runs = 0;
  each_block<width>(B, j, [&](int64_t block, int64_t first, uint64_t bits) {
    CHECK(first == B.begin(j) + std::ssize(columns));
    for (++runs; bits != 0; bits &= bits - 1)
      columns.push_back(static_cast<int32_t>(block * width + std::countr_zero(bits) + B.base));
  });
  return {columns, runs};
}

}  // namespace

TEST_CASE("runs of a row's columns are the row") {
  std::mt19937 random(11);
  for (const int32_t base : {0, 1})
    for (const bool ordered : {true, false}) {
      std::vector<int32_t> offsets{base}, indices;
      constexpr int64_t rows = 300, cols = 400;
      for (int64_t j = 0; j < rows; ++j) {
        std::vector<int32_t> row;
        for (int64_t e = static_cast<int64_t>(random() % 90); e > 0; --e)
          row.push_back(static_cast<int32_t>(random() % cols) + base);
        if (ordered) {
          std::sort(row.begin(), row.end());
          row.erase(std::unique(row.begin(), row.end()), row.end());
        }
        indices.insert(indices.end(), row.begin(), row.end());
        offsets.push_back(static_cast<int32_t>(indices.size()) + base);
      }
      kkc::CsrRef ref{};
      ref.rows = rows;
      ref.cols = cols;
      ref.nnz = std::ssize(indices);
      ref.base = base;
      ref.offsets = offsets.data();
      ref.indices = indices.data();
      const kkc::HostPatternRef<int32_t, int32_t> B(ref);
      for (int64_t j = 0; j < rows; ++j) {
        const std::vector<int32_t> row(indices.begin() + B.begin(j), indices.begin() + B.end(j));
        const auto [by_8, runs_8] = unfolded<8>(B, j);
        const auto [by_64, runs_64] = unfolded<64>(B, j);
        CHECK(by_8 == row);
        CHECK(by_64 == row);
        CHECK(runs_64 <= runs_8);
        if (ordered) CHECK(runs_64 <= cols / 64 + 1);
      }
    }
}
