// spgemm on hosts: rows of very many products beside each other, which different threads make.
#include "support/catch.hpp"

#include <utility>

#include "support/aggregates_case.hpp"

using namespace kkc_test;

namespace {

constexpr int64_t rows = 30000, first_long = 777, second_long = 778, last_long = 780, dense_of_B = 4000;

/// Most rows have an entry; three near each other have 90 000 products and more with long_rows_right(). The second of
/// them has few entries, the row before the last one none.
template <class T>
HostCsr<T> long_rows_left(Random& random) {
  HostCsr<T> A;
  A.rows = A.cols = rows;
  for (int64_t i = 0; i < rows; ++i) {
    if (i == second_long) {
      for (const int64_t k : {int64_t{0}, dense_of_B, int64_t{90}, dense_of_B, dense_of_B, dense_of_B, dense_of_B})
        A.indices.push_back(k);
    } else if (i == first_long || i == last_long) {
      // Ascending, and in any order with columns twice.
      for (int64_t k = 0; k < rows; ++k)
        if (k != dense_of_B) A.indices.push_back(i == first_long ? k : random_int(random, 0, dense_of_B - 1));
    } else if (i != last_long - 1) {
      A.indices.push_back(random_int(random, dense_of_B + 1, rows - 1));
    }
    A.offsets.push_back(A.nnz());
  }
  A.values = random_vector<T>(random, A.indices.size());
  return A;
}

/// Three entries in most rows, in neighbouring columns for a part of them; all columns in one row, none in others.
template <class T>
HostCsr<T> long_rows_right(Random& random, int64_t cols) {
  HostCsr<T> B;
  B.rows = rows;
  B.cols = cols;
  for (int64_t i = 0; i < rows; ++i) {
    if (i == dense_of_B)
      for (int64_t k = 0; k < cols; ++k) B.indices.push_back(k);
    else if (i % 100 != 99)
      for (int64_t e = 0; e < 3; ++e)
        B.indices.push_back(i < rows / 2 ? std::min(cols - 1, i / 64 + e) : random_int(random, 0, cols - 1));
    B.offsets.push_back(B.nnz());
  }
  B.values = random_vector<T>(random, B.indices.size());
  return B;
}

}  // namespace

TEMPLATE_TEST_CASE("spgemm: long rows beside each other have the same bits for any number of threads", "[spgemm]",
                   float, double, std::complex<double>) {
  using T = TestType;
  Random random(seed());
  const HostCsr<T> A = long_rows_left<T>(random);
  for (const int64_t cols : {rows, int64_t{70001}}) {
    const HostCsr<T> B = long_rows_right<T>(random, cols);
    SpgemmCase<T> c;
    c.implementation = "host_binned";
    c.base_a = static_cast<int32_t>(random() % 2);
    c.base_b = static_cast<int32_t>(random() % 2);
    c.sorted = random() % 4 != 0;
    for (const T beta : {T(0), T(0.5)}) {
      c.beta = beta;
      const Random same = random;
      std::vector<T> expected;
      for (const auto& [device, options] : {std::pair{KKC_DEVICE_SERIAL, ""},
                                            {KKC_DEVICE_OPENMP, R"({"threads": 3})"},
                                            {KKC_DEVICE_OPENMP, R"({"threads": 16})"}}) {
        if (!has_kernels<T>(device, "spgemm")) continue;
        const Context ctx(device, options);
        INFO("seed " << seed() << ", " << name(device) << ' ' << options << ", " << cols << " columns, " << c.text());
        Random numbers = same;
        std::vector<T> bits;
        const auto wrong = run_case(ctx, c, A, B, no_mask<T>, numbers, c.sorted ? &bits : nullptr, 4);
        REQUIRE(wrong);
        REQUIRE(*wrong == "");
        if (expected.empty()) expected = bits;
        CHECK(bits == expected);
      }
    }
  }
}
