// spgemm on hosts: rows that are like no other, of few columns, whose products meet often.
#include "support/catch.hpp"

#include <algorithm>
#include <numeric>

#include "support/aggregates_case.hpp"

using namespace kkc_test;

namespace {

/// A B by host_binned is what loops give, with random values and bases.
template <class T>
void check_binned(const Context& ctx, Random& random, kkc_index_pair_t pair, HostCsr<T>& A, HostCsr<T>& B) {
  A.values = random_vector<T>(random, A.indices.size());
  B.values = random_vector<T>(random, B.indices.size());
  SpgemmCase<T> c;
  c.implementation = "host_binned";
  c.pair = c.pair_c = pair;
  c.base_a = static_cast<int32_t>(random() % 2);
  c.base_b = static_cast<int32_t>(random() % 2);
  INFO("seed " << seed() << ", " << name(ctx.device()) << ", " << c.text());
  const auto wrong = run_case(ctx, c, A, B, no_mask<T>, random);
  REQUIRE(wrong);
  REQUIRE(*wrong == "");
}

/// f(context, index pair, random numbers) on hosts.
template <class T, class F>
void on_hosts(const F& f) {
  for (const auto& [device, options] : hosts<T>()) {
    const Context ctx(device, options);
    Random random(seed());
    INFO(options);
    for (const kkc_index_pair_t pair : all_index_pairs)
      if (supported(device, "spgemm", pair, scalar_tag<T>)) f(ctx, pair, random);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("spgemm: unlike rows of as many columns as vectors hold, and one more or less", "[spgemm]", float,
                   double, std::complex<double>) {
  using T = TestType;
  on_hosts<T>([](const Context& ctx, kkc_index_pair_t pair, Random& random) {
    HostCsr<T> A, B;
    B.cols = 5000;
    std::vector<int64_t> all(static_cast<size_t>(B.cols));
    std::iota(all.begin(), all.end(), 0);
    // A row of C has the columns of one row of B, and again half of them, in any order.
    for (const int64_t columns :
         {0,   1,   2,   15,  16,  17,  31,  32,  33,  47,  48,  49,  63,  64,  65,  72,  80,  81,  96,
          100, 112, 113, 127, 128, 129, 150, 177, 200, 209, 225, 240, 241, 255, 256, 257, 700, 1500})
      for (int repeat = 0; repeat < 5; ++repeat) {
        std::shuffle(all.begin(), all.end(), random);
        for (const int64_t count : {columns, columns / 2}) {
          B.indices.insert(B.indices.end(), all.begin(), all.begin() + count);
          if (random() % 2 == 0) std::sort(B.indices.end() - count, B.indices.end());
          A.indices.push_back(B.rows++);
          B.offsets.push_back(B.nnz());
        }
        A.offsets.push_back(A.nnz());
        ++A.rows;
      }
    A.cols = B.rows;
    check_binned(ctx, random, pair, A, B);
  });
}

TEST_CASE("spgemm: more unlike rows than stamps", "[spgemm]") {
  using T = double;
  Random random(seed());
  constexpr int64_t n = 70000;
  HostCsr<T> A, B;
  A.rows = A.cols = B.rows = n;
  B.cols = 2000000;
  for (int64_t i = 0; i < n; ++i) {
    // Columns that no row before has met, most of them; some products meet.
    for (const int64_t j : {i, (i + 1) % n, i}) A.indices.push_back(j);
    for (int k = 0; k < 2; ++k) B.indices.push_back(random_int(random, 0, B.cols - 1));
    A.offsets.push_back(A.nnz());
    B.offsets.push_back(B.nnz());
  }
  for (const kkc_device_t device : {KKC_DEVICE_SERIAL, KKC_DEVICE_OPENMP})
    if (supported(device, "spgemm", KKC_INDEX_32_32, KKC_TYPE_F64))
      check_binned(Context(device), random, KKC_INDEX_32_32, A, B);
}

TEMPLATE_TEST_CASE("spgemm: unlike rows whose columns lie close to each other", "[spgemm]", float, double,
                   std::complex<double>) {
  using T = TestType;
  on_hosts<T>([](const Context& ctx, kkc_index_pair_t pair, Random& random) {
    HostCsr<T> A, B;
    B.cols = 60'000;
    for (; B.rows < 900; ++B.rows) {
      // Runs of columns, over the ends of blocks; seldom in no order, or nearly everywhere.
      const bool is_wide = B.rows % 300 == 7;
      for (int64_t run = is_wide ? 400 : random_int(random, 0, 3); run > 0; --run) {
        const int64_t length = is_wide ? 3 : random_int(random, 8, 70),
                      first = random_int(random, 0, is_wide ? B.cols - length : 12) * (is_wide ? 1 : 4200);
        for (int64_t k = 0; k < length; ++k) B.indices.push_back(std::min(first + k, B.cols - 1));
      }
      const auto row = B.indices.begin() + B.offsets.back();
      if (B.rows % 7 == 0)
        std::shuffle(row, B.indices.end(), random);
      else
        std::sort(row, B.indices.end());
      B.offsets.push_back(B.nnz());
    }
    A.cols = B.rows;
    for (; A.rows < 300; ++A.rows) {
      const int64_t most = A.rows % 50 == 5 ? 900 : 60;  // many blocks, and more products than are collected so
      for (int64_t k = random_int(random, 0, most); k > 0; --k) A.indices.push_back(random_int(random, 0, A.cols - 1));
      A.offsets.push_back(A.nnz());
    }
    check_binned(ctx, random, pair, A, B);
  });
}

TEMPLATE_TEST_CASE("spgemm: few long rows that name many short ones, alike or not", "[spgemm]", float, double,
                   std::complex<double>) {
  using T = TestType;
  on_hosts<T>([](const Context& ctx, kkc_index_pair_t pair, Random& random) {
    for (const bool alike : {false, true}) {
      HostCsr<T> A, B;
      A.cols = B.rows = 9000;
      B.cols = 700;
      for (int64_t i = 0; i < B.rows; ++i) {
        for (int64_t k = 0, count = alike ? 3 : random_int(random, 0, 6); k < count; ++k)
          B.indices.push_back(alike ? i % 90 + 7 * k : random_int(random, 0, B.cols - 1));
        B.offsets.push_back(B.nnz());
      }
      for (; A.rows < 90; ++A.rows) {
        for (int64_t k = 0, count = alike ? 100 : random_int(random, 0, 200); k < count; ++k)
          A.indices.push_back(alike ? A.rows + 90 * k : random_int(random, 0, A.cols - 1));
        A.offsets.push_back(A.nnz());
      }
      check_binned(ctx, random, pair, A, B);
    }
  });
}
