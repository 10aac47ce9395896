// spgemm: matrices with entries whose product has none, for A names only empty rows of B.
#include "support/catch.hpp"

#include "support/spgemm_case.hpp"

using namespace kkc_test;

namespace {

struct Sizes {
  int64_t rows, inner, cols;
};

/// Rows of up to `longest` columns from `begin` up to `end`; like: all of the same ones.
HostCsr<double> rows_between(Random& random, int64_t rows, int64_t cols, int64_t begin, int64_t end, int64_t longest,
                             bool like) {
  HostCsr<double> A;
  A.cols = cols;
  for (; A.rows < rows; ++A.rows) {
    const int64_t count = like ? longest : random_int(random, 0, longest);
    for (int64_t k = 0; k < count; ++k)
      A.indices.push_back(like ? begin + k % (end - begin) : random_int(random, begin, end - 1));
    A.offsets.push_back(A.nnz());
  }
  A.values = random_vector<double>(random, A.indices.size());
  return A;
}

/// Rows from `first` on have up to `longest` entries, those before none.
HostCsr<double> rows_from(Random& random, int64_t rows, int64_t cols, int64_t first, int64_t longest) {
  HostCsr<double> B = rows_between(random, rows - first, cols, 0, cols, longest, longest == 1);
  B.offsets.insert(B.offsets.begin(), static_cast<size_t>(first), 0);
  B.rows = rows;
  return B;
}

}  // namespace

TEST_CASE("spgemm: operands with entries, a product without", "[spgemm]") {
  for (const Visit& visit : visits()) {
    if (!has_kernels<double>(visit.device, "spgemm")) continue;
    const Context ctx(visit.device, visit.options);
    for (const std::string& implementation : implementations(visit.device, "spgemm")) {
      Random random(seed());
      for (const auto& [rows, inner, cols] :
           {Sizes{2, 150, 1}, Sizes{40, 2000, 30}, Sizes{1000, 60, 2000}, Sizes{1500, 1500, 1500}})
        for (const bool like : {false, true})
          for (const int64_t longest_a : {1, 7, 300})
            for (const int64_t longest_b : {1, 5})
              for (const bool masked : {false, true}) {
                const HostCsr<double> A = rows_between(random, rows, inner, 0, inner / 2, longest_a, like),
                                      B = rows_from(random, inner, cols, inner / 2, longest_b);
                const HostCsr<double> mask = rows_between(random, rows, cols, 0, cols, 3, false);
                SpgemmCase<double> c;
                c.implementation = implementation;
                c.beta = 0.5;
                c.sorted = longest_a != 7;
                INFO("seed " << seed() << ", " << name(visit.device) << ", " << rows << " x " << inner << " x " << cols
                             << ", rows of up to " << longest_a << " and " << longest_b << (like ? " like" : "")
                             << (masked ? ", masked, " : ", ") << c.text());
                const auto wrong = run_case(ctx, c, A, B, masked ? &mask : nullptr, random);
                if (wrong) REQUIRE(*wrong == "");
              }
    }
  }
}
