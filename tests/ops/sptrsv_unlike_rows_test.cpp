// sptrsv: short rows and long ones in the same levels, of every length around those at which they are cut.
#include "support/catch.hpp"

#include "support/sptrsv_case.hpp"

using namespace kkc_test;

namespace {

/// Levels of these many rows. A row needs one of the level before, if there is one, and others of all before; one in
/// `each` is as long as one of `lengths`, the others have up to `most` entries.
std::vector<std::vector<int64_t>> unlike_rows(Random& random, const std::vector<int64_t>& widths, int64_t most,
                                              int64_t each, const std::vector<int64_t>& lengths) {
  std::vector<std::vector<int64_t>> left;
  int64_t before = 0, longs = 0;
  for (const int64_t width : widths) {
    const auto begin = static_cast<int64_t>(left.size());
    for (int64_t i = 0; i < width; ++i) {
      std::vector<int64_t> columns;
      if (begin > 0) {
        const bool is_long = random_int(random, 1, each) == 1;
        const int64_t length = is_long ? lengths[static_cast<size_t>(longs++) % lengths.size()]
                                       : random_int(random, 1, std::max<int64_t>(1, most));
        columns.push_back(random_int(random, before, begin - 1));
        if (is_long)
          for (int64_t c = random_int(random, 0, std::max<int64_t>(0, begin - length)); c < begin; ++c) {
            if (static_cast<int64_t>(columns.size()) == length) break;
            if (c != columns[0]) columns.push_back(c);
          }
        while (static_cast<int64_t>(columns.size()) < std::min(length, most))
          columns.push_back(random_int(random, 0, begin - 1));
        std::sort(columns.begin(), columns.end());
        columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
      }
      left.push_back(std::move(columns));
    }
    before = begin;
  }
  return left;
}

const std::vector<int64_t> border_lengths{9,   1100, 16,  17,  33,  64,  65,  128, 129, 130,
                                          256, 257,  258, 384, 385, 386, 512, 513, 769, 2000};

}  // namespace

TEMPLATE_TEST_CASE("sptrsv: short rows and long ones in the same levels", "[sptrsv]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(seed());
  const std::vector<int64_t> wide(8, 2500), unlike{3000, 40, 1, 5, 2500, 1, 1, 700, 33, 3000, 2, 900};
  for (const int64_t most : {1, 3, 8, 20, 50})
    for (const auto& widths : {wide, unlike}) {
      const auto left = unlike_rows(random, widths, most, 60, border_lengths);
      for (const kkc_uplo_t uplo : {KKC_UPLO_LOWER, KKC_UPLO_UPPER})
        for (const kkc_diag_t diag : {KKC_DIAG_STORED, KKC_DIAG_UNIT}) {
          const auto A = triangle_of<T>(random, left, uplo, diag, {});
          for (const Visit& visit : visits()) {
            if (!has_kernels<T>(visit.device, "sptrsv")) continue;
            if (!is_gpu(visit.device) && most != 3 && most != 20) continue;  // they are cut on GPUs
            const Context ctx(visit.device, visit.options);
            for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_HERMITIAN}) {
              SptrsvCase<T> c;
              c.op = op;
              c.uplo = uplo;
              c.diag = diag;
              c.base = 1;
              c.alpha = T(-2);
              c.in_place = op == KKC_OP_HERMITIAN;
              INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ' ' << c.text()
                           << ", up to " << most << " entries in " << widths.size() << " levels");
              std::string info;
              const auto wrong = run_case(ctx, c, A, random, &info);
              REQUIRE(wrong);
              REQUIRE(*wrong == "");
              if (visit.device != KKC_DEVICE_CUDA || op != KKC_OP_NONE) continue;
              INFO(info);
              CHECK(number_in(info, "rows_by_warps").value_or(0) > 0);
              CHECK(number_in(info, "segments").value_or(0) > 0);
              c.alpha = T(0);
              CHECK(run_case(ctx, c, A, random).value_or("refused") == "");
            }
          }
        }
    }
}

TEST_CASE("sptrsv: zeros on the diagonals of long rows and of short ones are reported", "[sptrsv][gpu]") {
  Random random(seed());
  const auto left = unlike_rows(random, std::vector<int64_t>(6, 2000), 3, 100, {300, 700});
  auto A = triangle_of<double>(random, left, KKC_UPLO_LOWER, KKC_DIAG_STORED, {});
  int64_t first = -1, zeros = 0;
  for (const bool is_long : {false, true})
    for (int64_t row = 2500; row < A.rows; row += 3)
      if ((A.offsets[static_cast<size_t>(row) + 1] - A.offsets[static_cast<size_t>(row)] > 250) == is_long) {
        A.values[static_cast<size_t>(A.offsets[static_cast<size_t>(row) + 1] - 1)] = 0;
        if (first < 0 || row < first) first = row;
        ++zeros;
        break;
      }
  REQUIRE(zeros == 2);
  for (const kkc_device_t device : devices()) {
    if (device != KKC_DEVICE_CUDA || !has_kernels<double>(device, "sptrsv")) continue;
    INFO("seed " << seed());
    const Context ctx(device);
    const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
    SpmvVectors<double> b(ctx, Lie::vector, A.rows, 1, 0.0), x(ctx, Lie::vector, A.rows, 1, 0.0);
    Plan plan;
    ok(kkc_sptrsv_plan(ctx, KKC_OP_NONE, KKC_UPLO_LOWER, KKC_DIAG_STORED, A_device, b, x, nullptr, plan.out()));
    REQUIRE(number_in(info_of_plan(plan), "rows_by_warps").value_or(0) > 0);
    b.set(random_vector<double>(random, static_cast<size_t>(A.rows)));
    const double alpha = 1;
    ok(kkc_sptrsv_execute(plan, &alpha, A_device, b, x));
    int64_t where = -1, count = 0;
    CHECK(kkc_plan_check(plan, &where, &count) == KKC_STATUS_ZERO_PIVOT);
    CHECK(where == first);
    CHECK(count == 2);
  }
}
