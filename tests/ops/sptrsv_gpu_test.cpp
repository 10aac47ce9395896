// sptrsv, mostly on GPUs: deep chains, lines of grids, levels wider than a device, rows of 10^5 entries, rows of one
// warp that need each other, zero pivots.
#include "support/catch.hpp"

#include "support/sptrsv_case.hpp"

using namespace kkc_test;

namespace {

/// The given columns left of the diagonal, with values that keep solutions of any depth small.
HostCsr<double> lower_of(Random& random, const std::vector<std::vector<int64_t>>& left) {
  HostCsr<double> A;
  A.rows = A.cols = static_cast<int64_t>(left.size());
  A.offsets.assign(1, 0);
  for (size_t row = 0; row < left.size(); ++row) {
    for (const int64_t column : left[row]) {
      A.indices.push_back(column);
      A.values.push_back(random_value<double>(random) / static_cast<double>(left[row].size() + 1));
    }
    A.indices.push_back(static_cast<int64_t>(row));
    A.values.push_back(detail::away_from_zero<double>(random));
    A.offsets.push_back(static_cast<int64_t>(A.indices.size()));
  }
  return A;
}

/// Every row needs the one before and `width` - 1 others near by.
std::vector<std::vector<int64_t>> band(int64_t rows, int64_t width) {
  std::vector<std::vector<int64_t>> left(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t c = std::max<int64_t>(0, row - width); c < row; ++c) left[static_cast<size_t>(row)].push_back(c);
  return left;
}

/// A wide part, a long narrow one that looks back into it, and a wide one again.
std::vector<std::vector<int64_t>> hourglass(Random& random, int64_t wide, int64_t narrow) {
  std::vector<std::vector<int64_t>> left(static_cast<size_t>(2 * wide + narrow));
  for (int64_t row = 0; row < 2 * wide + narrow; ++row) {
    auto& columns = left[static_cast<size_t>(row)];
    if (row >= wide && row < wide + narrow) {
      columns = {random_int(random, 0, wide - 1), row - random_int(random, 2, 40), row - 1};
      if (row % 11 == 0) columns.pop_back();
    } else if (row > wide) {
      columns = {random_int(random, 0, wide + narrow - 1)};
    } else if (row > wide / 2) {
      columns = {random_int(random, 0, wide / 2)};
    }
    std::erase_if(columns, [&](int64_t c) { return c < 0 || c >= row; });
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  }
  return left;
}

template <class F>
void on_each_implementation(F&& f) {
  for (const Visit& visit : visits()) {
    if (!has_kernels<double>(visit.device, "sptrsv")) continue;
    const Context ctx(visit.device, visit.options);
    for (const std::string& implementation : implementations(visit.device, "sptrsv")) {
      INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ' ' << implementation);
      f(ctx, implementation);
    }
  }
}

void run(const Context& ctx, const std::string& implementation, const HostCsr<double>& A, kkc_op_t op, int64_t vectors,
         Random& random) {
  SptrsvCase<double> c;
  c.implementation = implementation;
  c.op = op;
  c.vectors = vectors;
  if (vectors > 1) c.b_lie = c.x_lie = Lie::right;
  c.values_kept = true;
  INFO(c.text() << ", " << A.rows << " rows, " << A.nnz() << " entries");
  const auto wrong = run_case(ctx, c, A, random);
  if (wrong) REQUIRE(*wrong == "");
}

}  // namespace

TEST_CASE("sptrsv: chains that are longer than any buffer of theirs", "[sptrsv]") {
  Random random(seed());
  const HostCsr<double> chain = lower_of(random, band(20000, 1)), wide_band = lower_of(random, band(3000, 40)),
                        glass = lower_of(random, hourglass(random, 9000, 3000));
  on_each_implementation([&](const Context& ctx, const std::string& implementation) {
    for (const HostCsr<double>* A : {&chain, &wide_band, &glass})
      for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE})
        for (const int64_t vectors : {1, 3}) run(ctx, implementation, *A, op, vectors, random);
  });
}

TEST_CASE("sptrsv: levels wider than a device", "[sptrsv]") {
  Random random(seed());
  std::vector<std::vector<int64_t>> left(450000);
  for (size_t row = 200000; row < left.size(); ++row)
    left[row] = {random_int(random, 0, row < 400000 ? 199999 : 399999)};
  const HostCsr<double> A = lower_of(random, left);
  on_each_implementation([&](const Context& ctx, const std::string& implementation) {
    run(ctx, implementation, A, KKC_OP_NONE, 1, random);
    run(ctx, implementation, A, KKC_OP_HERMITIAN, 2, random);
  });
}

TEST_CASE("sptrsv: lines of grids, and what only begins like one", "[sptrsv]") {
  Random random(seed());
  for (const int64_t line : {50, 101, 700})
    for (const bool broken : {false, true}) {
      const int64_t rows = 72000 / line * line + (broken ? line / 3 : 0);
      std::vector<std::vector<int64_t>> left(static_cast<size_t>(rows));
      for (int64_t row = 1; row < rows; ++row) {
        auto& columns = left[static_cast<size_t>(row)];
        if (row >= line) columns.push_back(row - line);
        if (row % line != 0) columns.push_back(row - 1);
        if (!broken || row < rows / 2) continue;
        columns = {random_int(random, 0, row - 1), random_int(random, std::max<int64_t>(0, row - 90), row - 1)};
        std::sort(columns.begin(), columns.end());
        columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
      }
      const HostCsr<double> A = lower_of(random, left);
      on_each_implementation([&](const Context& ctx, const std::string& implementation) {
        for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE}) run(ctx, implementation, A, op, 1, random);
      });
    }
}

TEST_CASE("sptrsv: rows of 10^5 entries", "[sptrsv]") {
  Random random(seed());
  constexpr int64_t rows = 100000;
  std::vector<std::vector<int64_t>> left(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row) {
    if (row >= rows - 3)
      for (int64_t c = 0; c < row; ++c) left[static_cast<size_t>(row)].push_back(c);
    else if (row % 5 != 0)
      left[static_cast<size_t>(row)].push_back(row - 1);
  }
  const HostCsr<double> A = lower_of(random, left);
  on_each_implementation([&](const Context& ctx, const std::string& implementation) {
    for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE}) run(ctx, implementation, A, op, 1, random);
  });
}

TEST_CASE("sptrsv: zero pivots are reported and stop nobody", "[sptrsv]") {
  Random random(seed());
  HostCsr<double> A = lower_of(random, band(5000, 3));
  for (const int64_t row : {17, 1700, 4999})
    A.values[static_cast<size_t>(A.offsets[static_cast<size_t>(row) + 1] - 1)] = 0;
  on_each_implementation([&](const Context& ctx, const std::string& implementation) {
    DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
    for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE}) {
      SpmvVectors<double> b(ctx, Lie::vector, A.rows, 1, 0.0), x(ctx, Lie::vector, A.rows, 1, 0.0);
      Plan plan;
      const std::string options = "{\"values\": \"kept\", \"implementation\": \"" + implementation + "\"}";
      const kkc_status_t planned =
          kkc_sptrsv_plan(ctx, op, KKC_UPLO_LOWER, KKC_DIAG_STORED, A_device, b, x, Options(options), plan.out());
      if (planned == KKC_STATUS_NOT_SUPPORTED) continue;
      ok(planned);
      ok(kkc_sptrsv_set_values(plan, A_device));
      b.set(random_vector<double>(random, static_cast<size_t>(A.rows)));
      const double alpha = 1;
      for (int repeat = 0; repeat < 2; ++repeat) {
        const kkc_status_t executed = kkc_sptrsv_execute(plan, &alpha, A_device, b, x);
        int64_t where = -1, count = 0;
        if (executed == KKC_STATUS_SUCCESS) {  // GPUs
          CHECK(kkc_plan_check(plan, &where, &count) == KKC_STATUS_ZERO_PIVOT);
          CHECK(where == 17);
          CHECK(count == 3);
          ok(kkc_plan_check(plan, &where, &count));
        } else {
          CHECK(executed == KKC_STATUS_ZERO_PIVOT);
          CHECK(std::string(kkc_last_error()).find("row 17 ") != std::string::npos);
        }
      }
    }
  });
}
