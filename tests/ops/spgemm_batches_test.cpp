// spgemm with aggregates, where rows of A are made many at a time.
#include "support/catch.hpp"

#include <algorithm>
#include <iterator>

#include "support/aggregates_case.hpp"

using namespace kkc_test;

TEMPLATE_TEST_CASE("spgemm: rows of which no two are alike have the bits of few rows by themselves", "[spgemm]", float,
                   double, std::complex<double>) {
  using T = TestType;
  constexpr int64_t cols = 70000;
  for (const auto& [device, options] : hosts<T>()) {
    const Context ctx(device, options);
    Random random(seed());
    for (const int64_t longest :
         {0, 1, 16, 17, 63, 64, 65, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193, 66000})
      for (const uint64_t empty : {0, 5, 100}) {
        const auto rows_of = [&](const std::vector<int64_t>& lengths) {
          HostCsr<T> A;
          A.cols = cols;
          A.rows = static_cast<int64_t>(lengths.size());
          for (const int64_t length : lengths) {
            const int64_t first = random_int(random, 0, cols - length), each = 2 * length + first < cols ? 2 : 1;
            // Short rows meet few aggregates many times, or all once.
            constexpr int64_t widths[] = {6, 20, 40, cols};
            const int64_t width = widths[random() % std::size(widths)], from = random_int(random, 0, cols - width);
            for (int64_t k = 0; k < length; ++k)
              A.indices.push_back(length < 100 ? random_int(random, from, from + width - 1) : first + k * each);
            A.offsets.push_back(A.nnz());
          }
          A.values = random_vector<T>(random, A.indices.size());
          return A;
        };
        std::vector<int64_t> lengths;  // enough rows that are like none before, then the long one
        for (int64_t row = 0; row < 160; ++row) lengths.push_back(random_int(random, 1, 40));
        lengths.push_back(longest);
        for (int64_t row = 0; row < 40; ++row) lengths.push_back(random_int(random, 0, 20));
        const auto A = rows_of(lengths);
        auto B = aggregates<T>(random, cols, cols, empty);
        int64_t next = 0;
        for (int64_t& column : B.indices) column = next++ / 2;
        SpgemmCase<T> c;
        c.implementation = "host_aggregates";
        c.alpha = random_value<T>(random);
        c.beta = random() % 2 == 0 ? T(0) : random_value<T>(random);
        for (const kkc_index_pair_t pair : all_index_pairs)
          if (supported(device, "spgemm", pair, scalar_tag<T>) && (random() % 2 == 0 || pair == KKC_INDEX_32_32))
            c.pair = c.pair_c = pair;
        c.base_a = static_cast<int32_t>(random() % 2);
        INFO("seed " << seed() << ", " << name(device) << ' ' << options << ", a row of " << longest << ", " << empty
                     << " % empty, " << c.text());
        const auto wrong = run_case(ctx, c, A, B, no_mask<T>, random);
        REQUIRE(wrong);
        REQUIRE(*wrong == "");

        const DeviceCsr<T> b(ctx, B, c.pair, c.base_b);
        const auto product = [&](int64_t begin, int64_t end) {
          HostCsr<T> part;
          part.cols = cols;
          part.rows = end - begin;
          const int64_t from = A.offsets[static_cast<size_t>(begin)], to = A.offsets[static_cast<size_t>(end)];
          for (int64_t row = begin; row < end; ++row)
            part.offsets.push_back(A.offsets[static_cast<size_t>(row) + 1] - from);
          part.indices.assign(A.indices.begin() + from, A.indices.begin() + to);
          part.values.assign(A.values.begin() + from, A.values.begin() + to);
          const DeviceCsr<T> a(ctx, part, c.pair, c.base_a);
          Plan plan;
          ok(kkc_spgemm_plan(ctx, KKC_OP_NONE, a, KKC_OP_NONE, b, nullptr, c.pair_c, Options(c.options()), plan.out()));
          const OutputMatrix<T> C(ctx, c, plan, part.rows, B.cols);
          int64_t nnz = 0;
          ok(kkc_plan_output_nnz(plan, &nnz));
          C.set(std::vector<T>(static_cast<size_t>(nnz), T(3)));
          ok(kkc_spgemm_execute(plan, &c.alpha, a, b, &c.beta, C));
          return download<T>(ctx, C).values;
        };
        std::vector<T> pieces;
        for (int64_t row = 0; row < A.rows; row += 100) {
          const auto piece = product(row, std::min(row + 100, A.rows));
          pieces.insert(pieces.end(), piece.begin(), piece.end());
        }
        CHECK(product(0, A.rows) == pieces);
      }
  }
}
