// spgemm on hosts: rows that follow each other along a line, and what interrupts them: rows that are empty, of another
// length, in another order, or have one column elsewhere, in A and in B.
#include "support/catch.hpp"

#include <algorithm>
#include <vector>

#include "support/aggregates_case.hpp"

using namespace kkc_test;

namespace {

/// Row i has columns i + steps, as far as they exist; about one row in `often` is spoilt.
template <class T>
HostCsr<T> spoilt_band(Random& random, int64_t rows, int64_t cols, const std::vector<int64_t>& steps, int64_t often) {
  HostCsr<T> A;
  A.cols = cols;
  while (A.rows < rows) {
    std::vector<int64_t> columns;
    for (const int64_t step : steps)
      if (A.rows + step >= 0 && A.rows + step < cols) columns.push_back(A.rows + step);
    if (random_int(random, 0, often - 1) == 0 && !columns.empty()) switch (random_int(random, 0, 3)) {
        case 0: columns.clear(); break;
        case 1: columns.pop_back(); break;
        case 2: std::reverse(columns.begin(), columns.end()); break;
        default:
          columns[static_cast<size_t>(random_int(random, 0, std::ssize(columns) - 1))] =
              random_int(random, 0, cols - 1);
      }
    A.indices.insert(A.indices.end(), columns.begin(), columns.end());
    A.offsets.push_back(A.nnz());
    ++A.rows;
  }
  A.values = random_vector<T>(random, A.indices.size());
  return A;
}

template <class T>
void check(const Context& ctx, const std::string& where, SpgemmCase<T> c, const HostCsr<T>& A, const HostCsr<T>& B,
           Random& random) {
  c.implementation = "host_binned";
  c.base_a = static_cast<int32_t>(random() % 2);
  c.base_b = static_cast<int32_t>(random() % 2);
  INFO("seed " << seed() << ", " << where << ", " << A.rows << " x " << A.cols << ", " << c.text());
  const auto wrong = run_case(ctx, c, A, B, no_mask<T>, random);
  REQUIRE(wrong);
  REQUIRE(*wrong == "");
}

}  // namespace

TEMPLATE_TEST_CASE("spgemm: stretches of rows along a line, and what interrupts them", "[spgemm]", float, double,
                   std::complex<double>) {
  using T = TestType;
  for (const auto& [device, options] : hosts<T>()) {
    const Context ctx(device, options);
    const std::string where = std::string(name(device)) + ' ' + options;
    Random random(seed());
    for (const kkc_index_pair_t pair : all_index_pairs) {
      if (!supported(device, "spgemm", pair, scalar_tag<T>)) continue;
      SpgemmCase<T> c;
      c.pair = c.pair_c = pair;
      for (const int64_t often : {8, 100, 100000})
        for (const int64_t rows : {50, 1000, 9000}) {
          const auto A = spoilt_band<T>(random, rows, rows + 20, {-30, -1, 0, 1, 30}, often);
          check(ctx, where, c, A, spoilt_band<T>(random, rows + 20, rows, {-17, 0, 4, 5}, often), random);
          // Rows of one entry, a part of them empty.
          check(ctx, where, c, spoilt_band<T>(random, rows, rows, {0}, often), A, random);
          check(ctx, where, c, A, spoilt_band<T>(random, rows + 20, rows, {3}, often), random);
        }
      // More columns than are made before they leave together.
      std::vector<int64_t> near(60), far(50);
      for (size_t k = 0; k < near.size(); ++k) near[k] = 2 * static_cast<int64_t>(k);
      for (size_t k = 0; k < far.size(); ++k) far[k] = 121 * static_cast<int64_t>(k);
      check(ctx, where, c, spoilt_band<T>(random, 200, 6500, far, 50), spoilt_band<T>(random, 6500, 7000, near, 3000),
            random);
    }
  }
}

TEST_CASE("spgemm: rows of a grid above those of an identity, times their transpose", "[spgemm]") {
  for (const auto& [device, options] : hosts<double>()) {
    const Context ctx(device, options);
    Random random(seed());
    for (const int64_t across : {7, 90}) {
      // Lines of A are two points shorter than those of its columns, so that each has classes of its own.
      HostCsr<double> A;
      const int64_t wide = across + 2;
      A.cols = wide * wide;
      const auto end_row = [&] {
        A.offsets.push_back(A.nnz());
        ++A.rows;
      };
      for (int64_t y = 1; y <= across; ++y)
        for (int64_t x = 1; x <= across; ++x) {
          for (const int64_t step : {-wide, int64_t{-1}, int64_t{0}, int64_t{1}, wide})
            A.indices.push_back(y * wide + x + step);
          end_row();
        }
      for (int64_t j = 0; j < A.cols; ++j) {
        A.indices.push_back(j);
        end_row();
      }
      A.values = random_vector<double>(random, A.indices.size());
      SpgemmCase<double> c;
      c.op_b = KKC_OP_TRANSPOSE;
      check(ctx, std::string(name(device)) + ' ' + options, c, A, A, random);
    }
  }
}
