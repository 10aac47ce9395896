// ilu and ic where rows are eliminated alike, on grids, and where they are not: rows of every length, chains, levels of
// one row, executes that repeat bit by bit.
#include "support/catch.hpp"

#include <set>

#include "support/ilu_case.hpp"

using namespace kkc_test;

namespace {

using Rows = std::vector<std::vector<int64_t>>;

void put_in_order(std::vector<int64_t>& columns) {
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
}

/// Columns of a box of points with `unknowns` each; `box`: a point's neighbours are 26, not 6.
Rows grid(int64_t nx, int64_t ny, int64_t nz, bool box, int64_t unknowns = 1) {
  Rows rows;
  for (int64_t z = 0; z < nz; ++z)
    for (int64_t y = 0; y < ny; ++y)
      for (int64_t x = 0; x < nx; ++x) {
        std::vector<int64_t> columns;
        for (int64_t c = -1; c <= 1; ++c)
          for (int64_t b = -1; b <= 1; ++b)
            for (int64_t a = -1; a <= 1; ++a) {
              const bool inside = x + a >= 0 && x + a < nx && y + b >= 0 && y + b < ny && z + c >= 0 && z + c < nz;
              if (!inside || (!box && std::abs(a) + std::abs(b) + std::abs(c) > 1)) continue;
              for (int64_t u = 0; u < unknowns; ++u)
                columns.push_back((((z + c) * ny + y + b) * nx + x + a) * unknowns + u);
            }
        for (int64_t u = 0; u < unknowns; ++u) rows.push_back(columns);
      }
  return rows;
}

/// Row i needs up to `most` rows before it, and as many need it as its columns right of the diagonal say.
Rows lower_heavy(Random& random, int64_t n, int64_t most) {
  Rows rows(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    row.push_back(i);
    const int64_t count = std::min(i, random_int(random, 0, 3) == 0 ? most : random_int(random, 0, 2));
    for (int64_t j = i - count; j < i; ++j) row.push_back(j);
    if (i + 1 < n) row.push_back(random_int(random, i + 1, n - 1));
    std::sort(row.begin(), row.end());
  }
  return rows;
}

/// Points that meet others anywhere, most of them near by; every unknown of a point meets all of theirs.
Rows points(Random& random, int64_t count, int64_t unknowns, int64_t neighbours) {
  std::vector<std::set<int64_t>> meets(static_cast<size_t>(count));
  for (int64_t p = 0; p < count; ++p) {
    meets[static_cast<size_t>(p)].insert(p);
    for (int64_t k = 0; k < neighbours; ++k) {
      const bool far = random_int(random, 0, 9) == 0;
      const int64_t q =
          far ? random_int(random, 0, count - 1) : std::clamp<int64_t>(p + random_int(random, -20, 20), 0, count - 1);
      meets[static_cast<size_t>(p)].insert(q);
      meets[static_cast<size_t>(q)].insert(p);
    }
  }
  Rows rows;
  for (const auto& others : meets) {
    std::vector<int64_t> columns;
    for (const int64_t q : others)
      for (int64_t u = 0; u < unknowns; ++u) columns.push_back(q * unknowns + u);
    for (int64_t u = 0; u < unknowns; ++u) rows.push_back(columns);
  }
  return rows;
}

/// Random values, the diagonal ones larger than the others of their row and column.
template <class T>
HostCsr<T> with_values(Random& random, const Rows& rows, Form form) {
  using R = typename RealOf<T>::type;
  HostCsr<T> A;
  A.rows = A.cols = static_cast<int64_t>(rows.size());
  size_t longest = 0;
  for (const auto& row : rows) longest = std::max(longest, row.size());
  for (int64_t i = 0; i < A.rows; ++i) {
    for (const int64_t j : rows[static_cast<size_t>(i)]) {
      A.indices.push_back(j);
      const auto diagonal = T(static_cast<R>(3 * static_cast<int64_t>(longest) + i % 5));
      A.values.push_back(i == j ? (form == Form::lu && i % 3 == 1 ? -diagonal : diagonal) : random_value<T>(random));
    }
    A.offsets.push_back(A.nnz());
  }
  return A;
}

template <class F>
void on_each_implementation(F&& f) {
  for (const Visit& visit : visits())
    for (const Form form : {Form::lu, Form::cholesky}) {
      if (!has_kernels<double>(visit.device, name(form))) continue;
      const Context ctx(visit.device, visit.options);
      for (const std::string& implementation : implementations(visit.device, name(form))) {
        INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", " << name(form) << ' '
                     << implementation);
        f(ctx, form, implementation);
      }
    }
}

template <class T>
void check_rows(const Context& ctx, Form form, const std::string& implementation, const Rows& rows, int level,
                kkc_index_pair_t pair = KKC_INDEX_32_32) {
  Random random(seed());
  FactorCase<T> c;
  c.form = form;
  c.implementation = implementation;
  c.pair = pair;
  c.level = form == Form::lu ? level : 0;
  INFO(rows.size() << " rows, level " << c.level << ", pair " << pair);
  const auto wrong = run_case(ctx, c, with_values<T>(random, rows, form));
  if (wrong) REQUIRE(*wrong == "");
}

/// The largest entry of |A - L U| (A - L L^T) on the factors' pattern, by sums over stored entries.
double largest_residual(const HostCsr<double>& A, const HostCsr<double>& F, Form form) {
  std::vector<double> row(static_cast<size_t>(A.rows));
  std::vector<int64_t> met;  // columns in which the row may hold something
  const auto at = [](int64_t k) { return static_cast<size_t>(k); };
  double largest = 0;
  for (int64_t i = 0; i < A.rows; ++i) {
    const int64_t begin = F.offsets[at(i)], end = F.offsets[at(i + 1)];
    if (form == Form::lu) {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t k = F.indices[at(p)];
        if (k > i) break;
        for (int64_t q = F.offsets[at(k)]; q < F.offsets[at(k + 1)]; ++q) {
          const int64_t j = F.indices[at(q)];
          if (j < k) continue;
          double& sum = row[at(j)];
          if (sum == 0) met.push_back(j);
          sum += (k < i ? F.values[at(p)] : 1) * F.values[at(q)];
        }
      }
    } else {
      std::vector<std::pair<int64_t, double>> sums;
      for (int64_t p = begin; p < end; ++p) row[at(F.indices[at(p)])] = F.values[at(p)];
      for (int64_t p = begin; p < end; ++p) {
        const int64_t j = F.indices[at(p)];
        double sum = 0;
        for (int64_t q = F.offsets[at(j)]; q < F.offsets[at(j + 1)]; ++q)
          sum += row[at(F.indices[at(q)])] * F.values[at(q)];
        sums.push_back({j, sum});
      }
      for (const auto& [j, sum] : sums) {
        row[at(j)] = sum;
        met.push_back(j);
      }
    }
    for (int64_t p = A.offsets[at(i)]; p < A.offsets[at(i + 1)]; ++p)
      if (form == Form::lu || A.indices[at(p)] <= i)
        largest = std::max(largest, std::abs(row[at(A.indices[at(p)])] - A.values[at(p)]));
    for (const int64_t j : met) row[at(j)] = 0;
    met.clear();
  }
  return largest;
}

/// Rows of zeros and of NaNs, one at a time, in a matrix of 630 rows.
void check_breakdowns(const Context& ctx, Form form, const std::string& implementation, const Rows& rows) {
  Random random(seed());
  const HostCsr<double> A = with_values<double>(random, rows, form);
  DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
  Plan plan;
  Matrix F;
  const kkc_status_t planned =
      plan_factors(form, ctx, A_device, R"({"implementation": ")" + implementation + "\"}", plan.out());
  if (planned == KKC_STATUS_NOT_SUPPORTED && implementation == "gpu_programs") return;  // unlike rows
  ok(planned);
  ok(kkc_plan_create_output(plan, F.out()));
  for (const int64_t row : {0, 1, 2, 3, 100, 101, 629})
    for (const double value : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
      INFO("row " << row << ", " << value);
      std::vector<double> values = A.values;
      std::fill(values.begin() + A.offsets[static_cast<size_t>(row)],
                values.begin() + A.offsets[static_cast<size_t>(row) + 1], value);
      A_device.values().set(values);
      const Outcome end = outcome(form, ctx, plan, A_device, F);
      CHECK(end.status == (value == 0 ? KKC_STATUS_ZERO_PIVOT : KKC_STATUS_BREAKDOWN));
      if (is_gpu(ctx.device()))
        CHECK(end.row == row);
      else
        CHECK_THAT(end.sentence, ContainsSubstring("row " + std::to_string(row) + " "));
    }
  A_device.values().set(A.values);
  REQUIRE(outcome(form, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
  CHECK(largest_residual(A, download<double>(ctx, F), form) < 1e-11);
}

}  // namespace

TEST_CASE("ilu, ic: rows of grids are factored alike", "[ilu][ic]") {
  on_each_implementation([](const Context& ctx, Form form, const std::string& implementation) {
    const Rows star = grid(19, 15, 1, false), cube = grid(8, 7, 6, false), box = grid(7, 6, 6, true),
               plane = grid(17, 14, 1, true), elastic = grid(5, 4, 4, true, 3);
    for (const int level : {0, 1}) {
      for (const Rows* rows : {&star, &cube, &box, &plane}) check_rows<double>(ctx, form, implementation, *rows, level);
      check_rows<double>(ctx, form, implementation, elastic, level);
    }
    if (has_kernels<std::complex<double>>(ctx.device(), name(form)))
      for (const Rows* rows : {&cube, &box, &elastic})
        check_rows<std::complex<double>>(ctx, form, implementation, *rows, 0);
    if (has_kernels<float>(ctx.device(), name(form)))
      for (const Rows* rows : {&cube, &elastic}) check_rows<float>(ctx, form, implementation, *rows, 0);
    for (const kkc_index_pair_t pair : {KKC_INDEX_32_64, KKC_INDEX_64_64})
      if (supported(ctx.device(), name(form), pair, scalar_tag<double>))
        for (const Rows* rows : {&cube, &box, &elastic}) check_rows<double>(ctx, form, implementation, *rows, 0, pair);
  });
}

TEST_CASE("ilu, ic: rows of every length, most of them left of the diagonal", "[ilu][ic]") {
  on_each_implementation([](const Context& ctx, Form form, const std::string& implementation) {
    Random random(seed());
    // With the diagonal entry and one right of it: lengths around those that a group of lanes takes.
    for (const int64_t most : {0, 1, 5, 6, 7, 8, 13, 14, 15, 16, 29, 30, 31, 32, 33, 64, 150})
      check_rows<double>(ctx, form, implementation, lower_heavy(random, 200, most), 0);
  });
}

TEST_CASE("ilu, ic: points of any number of unknowns", "[ilu][ic]") {
  on_each_implementation([](const Context& ctx, Form form, const std::string& implementation) {
    for (const int64_t unknowns : {2, 3, 4, 5, 9}) {
      const Rows rows = grid(6, 5, 4, true, unknowns), line = grid(40, 1, 1, false, unknowns);
      for (const Rows* some : {&rows, &line}) check_rows<double>(ctx, form, implementation, *some, 0);
      if (has_kernels<float>(ctx.device(), name(form))) check_rows<float>(ctx, form, implementation, line, 0);
      check_rows<double>(ctx, form, implementation, line, 1);
    }
  });
}

TEST_CASE("ilu, ic: points in no order, of any number of unknowns", "[ilu][ic]") {
  on_each_implementation([](const Context& ctx, Form form, const std::string& implementation) {
    for (const int64_t unknowns : {1, 2, 3, 4, 6})
      for (const int64_t neighbours : {1, 3, 9}) {
        Random random(seed());
        const Rows rows = points(random, 420 / unknowns, unknowns, neighbours);
        for (const int level : {0, 1}) check_rows<double>(ctx, form, implementation, rows, level);
        if (has_kernels<float>(ctx.device(), name(form))) check_rows<float>(ctx, form, implementation, rows, 0);
        if (has_kernels<std::complex<double>>(ctx.device(), name(form)))
          check_rows<std::complex<double>>(ctx, form, implementation, rows, 0);
        if (supported(ctx.device(), name(form), KKC_INDEX_64_64, scalar_tag<double>))
          check_rows<double>(ctx, form, implementation, rows, 0, KKC_INDEX_64_64);
      }
  });
}

TEST_CASE("ilu: hosts eliminate rows with the same columns together", "[ilu]") {
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || !has_kernels<double>(visit.device, "ilu")) continue;
    const Context ctx(visit.device, visit.options);
    for (const int64_t unknowns : {1, 3}) {
      Random random(seed());
      const HostCsr<double> A = with_values<double>(random, points(random, 900, unknowns, 4), Form::lu);
      const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
      Plan plan;
      ok(plan_factors(Form::lu, ctx, A_device, "{}", plan.out()));
      const std::string info = info_of_plan(plan);
      CHECK_THAT(info, ContainsSubstring("\"programs\":0"));
      // Neighbouring points may meet the same ones, too.
      if (unknowns == 1) CHECK_THAT(info, ContainsSubstring("\"joint_rows\":0"));
      if (unknowns == 3) CHECK_THAT(info, !ContainsSubstring("\"joint_rows\":0"));
    }
  }
}

TEST_CASE("ilu, ic: breakdowns are told row by row where rows are eliminated together", "[ilu][ic]") {
  on_each_implementation([](const Context& ctx, Form form, const std::string& implementation) {
    Random random(seed());
    // Points: of three unknowns, of one, of one with long rows.
    for (const Rows& rows :
         {grid(7, 6, 5, true, 3), points(random, 210, 3, 4), points(random, 630, 1, 4), points(random, 630, 1, 30)})
      check_breakdowns(ctx, form, implementation, rows);
  });
}

TEST_CASE("ilu: pivots without an inverse of enough digits", "[ilu]") {
  on_each_implementation([](const Context& ctx, Form form, const std::string& implementation) {
    if (form != Form::lu) return;
    Random random(seed());
    const HostCsr<double> A = with_values<double>(random, grid(6, 5, 4, true, 3), form);
    for (const int exponent : {1014, -1029}) {  // the largest pivots are about 2^8: 2^1022 and 2^-1021
      HostCsr<double> scaled = A;
      for (double& value : scaled.values) value = std::ldexp(value, exponent);
      const DeviceCsr<double> A_device(ctx, scaled, KKC_INDEX_32_32, 0);
      Plan plan;
      Matrix F;
      ok(plan_factors(form, ctx, A_device, R"({"implementation": ")" + implementation + "\"}", plan.out()));
      ok(kkc_plan_create_output(plan, F.out()));
      REQUIRE(outcome(form, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
      HostCsr<double> got = download<double>(ctx, F);
      for (int64_t i = 0; i < got.rows; ++i)
        for (int64_t p = got.offsets[static_cast<size_t>(i)]; p < got.offsets[static_cast<size_t>(i) + 1]; ++p)
          if (got.indices[static_cast<size_t>(p)] >= i)
            got.values[static_cast<size_t>(p)] = std::ldexp(got.values[static_cast<size_t>(p)], -exponent);
      INFO("2^" << exponent);
      CHECK(largest_residual(A, got, form) < 1e-11);
    }
  });
}

TEST_CASE("ilu, ic: deep chains and rows that need none", "[ilu][ic]") {
  on_each_implementation([](const Context& ctx, Form form, const std::string& implementation) {
    check_rows<double>(ctx, form, implementation, grid(500, 1, 1, false), 0);
    check_rows<double>(ctx, form, implementation, grid(1, 1, 400, true), 2);
    Rows diagonal(300);
    for (size_t i = 0; i < diagonal.size(); ++i) diagonal[i] = {static_cast<int64_t>(i)};
    check_rows<double>(ctx, form, implementation, diagonal, 0);
  });
}

TEST_CASE("ilu, ic: many rows give the same bits in every execute", "[ilu][ic]") {
  Random shape(seed());
  const Rows matrices[] = {grid(140, 120, 1, false),
                           grid(26, 25, 24, false),
                           grid(19, 18, 17, true),
                           grid(9, 9, 8, true, 3),
                           points(shape, 9000, 3, 4),
                           points(shape, 20'000, 1, 4),
                           points(shape, any_gpu() ? 20'000 : 9000, 1, 30)};
  on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
    if (implementation == "reference") return;
    for (const Rows& rows : matrices) {
      Random random(seed());
      const HostCsr<double> A = with_values<double>(random, rows, form);
      INFO(A.rows << " rows");
      const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
      Plan plan;
      Matrix F;
      const kkc_status_t status =
          plan_factors(form, ctx, A_device, R"({"implementation": ")" + implementation + "\"}", plan.out());
      if (status == KKC_STATUS_NOT_SUPPORTED && implementation == "gpu_programs") continue;  // unlike rows
      ok(status);
      if (implementation == "gpu_programs") CHECK(info_of_plan(plan).find("\"programs\"") != std::string::npos);
      ok(kkc_plan_create_output(plan, F.out()));
      std::vector<double> first;
      for (int repeat = 0; repeat < 3; ++repeat) {
        REQUIRE(outcome(form, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
        const HostCsr<double> got = download<double>(ctx, F);
        if (repeat == 0) {
          first = got.values;
          CHECK(largest_residual(A, got, form) < 1e-11);
        }
        CHECK(std::memcmp(got.values.data(), first.data(), first.size() * sizeof(double)) == 0);
      }
    }
  });
}

TEST_CASE("ilu, ic: a few rows of very many entries among short ones", "[ilu][ic]") {
  // More than a GPU's block holds; the first long row lies right of the diagonal for the most part, and others need it.
  constexpr int64_t n = 25'000;
  Random random(seed());
  Rows rows(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    const bool is_long = i == 4000 || i == 15'000 || i == 15'001 || i == n - 1;
    for (int64_t k = is_long ? 14'000 : 8; k > 0; --k)
      row.push_back(is_long ? random_int(random, 0, n - 1)
                            : std::clamp<int64_t>(i + random_int(random, -300, 300), 0, n - 1));
    if (i % 500 == 3) row.push_back(4000);
    row.push_back(i);
    put_in_order(row);
  }
  on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
    Random again(seed());
    const HostCsr<double> A = with_values<double>(again, rows, form);
    const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
    Plan plan;
    Matrix F;
    const kkc_status_t status =
        plan_factors(form, ctx, A_device, R"({"implementation": ")" + implementation + "\"}", plan.out());
    if (status == KKC_STATUS_NOT_SUPPORTED) return;  // those that say so
    ok(status);
    if (implementation == "gpu_sync_free") CHECK_THAT(info_of_plan(plan), !ContainsSubstring("\"rows_by_blocks\":0"));
    ok(kkc_plan_create_output(plan, F.out()));
    for (int run = 0; run < 2; ++run) {
      REQUIRE(outcome(form, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
      CHECK(largest_residual(A, download<double>(ctx, F), form) < 1e-9);
    }
  });
}

TEST_CASE("ilu, ic: rows of blocks that share all columns but a few, which hosts hold in registers", "[ilu][ic]") {
  Random random(seed());
  constexpr int64_t n = 700;
  Rows rows(static_cast<size_t>(n));
  for (int64_t begin = 0, end; begin < n; begin = end) {
    end = std::min(n, begin + random_int(random, 5, 27));
    for (int64_t i = begin; i < end; ++i) {
      auto& row = rows[static_cast<size_t>(i)];
      row.push_back(i);
      for (int64_t j = begin; j < end; ++j)
        if (random_int(random, 0, 11) != 0) row.push_back(j);
      for (int64_t k = random_int(random, 0, 3); k > 0; --k)
        row.push_back(std::clamp<int64_t>(i + random_int(random, -60, 60), 0, n - 1));
      put_in_order(row);
    }
  }
  on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
    check_rows<double>(ctx, form, implementation, rows, 0);
    check_rows<double>(ctx, form, implementation, rows, 0, KKC_INDEX_64_64);
    check_rows<float>(ctx, form, implementation, rows, 0);
  });
}

TEST_CASE("ilu, ic: hosts spread rows that are alone and share much over all columns", "[ilu][ic]") {
  Random random(seed());
  constexpr int64_t n = 900;
  Rows rows(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    row.push_back(i);
    for (int64_t j = std::max<int64_t>(i - 60, 0); j < std::min(n, i + 60); ++j)
      if (random_int(random, 0, 9) < 7) row.push_back(j);
    for (int64_t j = i; i == 100 && j < n; ++j) row.push_back(j);  // some that need it are searched for in it
    if (i > 800 && i < 804) row = {100, 101, i - 1, i};
    put_in_order(row);
  }
  std::vector<double> first[2];
  on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
    if (implementation != "host_rows") return;
    Random again(seed());
    HostCsr<double> A = with_values<double>(again, rows, form);
    const auto factor = [&](const std::string& by) {
      const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
      Plan plan;
      Matrix F;
      ok(plan_factors(form, ctx, A_device, R"({"implementation": ")" + by + "\"}", plan.out()));
      if (by == implementation) CHECK_THAT(info_of_plan(plan), ContainsSubstring("\"spread_rows\":900"));
      ok(kkc_plan_create_output(plan, F.out()));
      const Outcome end = outcome(form, ctx, plan, A_device, F);
      if (end.status != KKC_STATUS_SUCCESS) return end;
      const HostCsr<double> got = download<double>(ctx, F);
      CHECK(largest_residual(A, got, form) < 1e-11);
      auto& of_others = first[form == Form::lu];
      if (of_others.empty()) of_others = got.values;
      CHECK(got.values == of_others);  // with any number of threads
      return end;
    };
    CHECK(factor(implementation).status == KKC_STATUS_SUCCESS);
    // Only rows that have its column, too, are spoilt.
    A.values[static_cast<size_t>(form == Form::lu ? A.offsets[501] - 1 : A.offsets[500])] =
        std::numeric_limits<double>::quiet_NaN();
    const std::string sentence = factor(implementation).sentence;
    CHECK_THAT(sentence, ContainsSubstring("row 500 (counted from 0), the first of "));
    CHECK(sentence == factor("reference").sentence);
    for (int64_t p = A.offsets[400]; A.indices[static_cast<size_t>(p)] <= 400; ++p)
      A.values[static_cast<size_t>(p)] = 0;
    CHECK(factor(implementation).sentence == factor("reference").sentence);
  });
}

TEST_CASE("ilu, ic: hosts factor rows longer than two bytes count among short ones that are not alike", "[ilu][ic]") {
  constexpr int64_t n = 67'000;
  Random random(seed());
  Rows rows(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    row.push_back(i);
    for (int64_t k = i == 40 || i == n - 1 ? 0 : 2; k > 0; --k)
      row.push_back(std::clamp<int64_t>(i + random_int(random, -9, 9), 41, n - 2));
    if (i % 1000 == 999) row.push_back(40);
    for (int64_t j = 0; (i == 40 || i == n - 1) && j < n; ++j) row.push_back(j);
    put_in_order(row);
  }
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || visit.options.empty()) continue;  // three threads
    const Context ctx(visit.device, visit.options);
    for (const Form form : {Form::lu, Form::cholesky}) {
      if (!has_kernels<double>(visit.device, name(form))) continue;
      HostCsr<double> A = with_values<double>(random, rows, form);
      for (int64_t i = 0; i < n; ++i)  // so small that each product counts
        for (int64_t p = A.offsets[static_cast<size_t>(i)]; p < A.offsets[static_cast<size_t>(i) + 1]; ++p) {
          double& value = A.values[static_cast<size_t>(p)];
          if (A.indices[static_cast<size_t>(p)] == i)
            value = 4;
          else if (i == 40 || i == n - 1)
            value /= 100;
        }
      const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
      Plan plan;
      Matrix F;
      ok(plan_factors(form, ctx, A_device, "{}", plan.out()));
      CHECK_THAT(info_of_plan(plan), !ContainsSubstring("\"pairs\":0"));
      ok(kkc_plan_create_output(plan, F.out()));
      REQUIRE(outcome(form, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
      CHECK(largest_residual(A, download<double>(ctx, F), form) < 1e-11);
    }
  }
}

TEST_CASE("ilu, ic: rows of columns that hardly meet, on GPUs", "[ilu][ic][gpu]") {
  constexpr int64_t n = 60000;
  Random random(seed());
  INFO("seed " << seed());
  Rows rows(n);
  for (int64_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    row = {i};
    for (int k = 0; k < 13; ++k) row.push_back(random_int(random, 0, n - 1));
    put_in_order(row);
  }
  on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
    if (!is_gpu(ctx.device()) || implementation != "gpu_sync_free") return;
    const HostCsr<double> A = with_values<double>(random, rows, form);
    const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
    Plan plan;
    ok(plan_factors(form, ctx, A_device, R"({"implementation": "gpu_sync_free"})", plan.out()));
    Matrix F;
    ok(kkc_plan_create_output(plan, F.out()));
    REQUIRE(outcome(form, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
    CHECK(largest_residual(A, download<double>(ctx, F), form) < 1e-11);
  });
}

TEST_CASE("ilu, ic: where rows are eliminated in too many ways, gpu_programs says so", "[ilu][ic]") {
  Random random(seed());
  Rows rows(20000);
  for (int64_t i = 0; i < 20000; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    row = {i, random_int(random, 0, 19999), random_int(random, 0, 19999)};
    put_in_order(row);
  }
  on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
    if (implementation != "gpu_programs") return;
    const HostCsr<double> A = with_values<double>(random, rows, form);
    const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
    Plan plan, other;
    CHECK(plan_factors(form, ctx, A_device, R"({"implementation": "gpu_programs"})", plan.out()) ==
          KKC_STATUS_NOT_SUPPORTED);
    CHECK_THAT(kkc_last_error(), ContainsSubstring("rows are eliminated in different ways"));
    const HostCsr<double> dense = with_values<double>(random, grid(1, 1, 1, true, 300), form);
    const DeviceCsr<double> dense_device(ctx, dense, KKC_INDEX_32_32, 0);
    Plan none;
    if (form == Form::lu) {
      CHECK(plan_factors(form, ctx, dense_device, R"({"implementation": "gpu_programs"})", none.out()) ==
            KKC_STATUS_NOT_SUPPORTED);
      CHECK_THAT(kkc_last_error(), ContainsSubstring("takes rows of at most 224 entries on average"));
    }
    // One row after the other.
    Rows chain(5000);
    for (int64_t row = 0; row < 5000; ++row)
      for (int64_t column = std::max<int64_t>(0, row - 3); column < std::min<int64_t>(5000, row + 4); ++column)
        chain[static_cast<size_t>(row)].push_back(column);
    const DeviceCsr<double> chain_device(ctx, with_values<double>(random, chain, form), KKC_INDEX_32_32, 0);
    CHECK(plan_factors(form, ctx, chain_device, R"({"implementation": "gpu_programs"})", none.out()) ==
          KKC_STATUS_NOT_SUPPORTED);
    CHECK_THAT(kkc_last_error(), ContainsSubstring("takes levels of 4 rows or more in the mean"));
    ok(plan_factors(form, ctx, A_device, "{}", other.out()));
    Matrix F;
    ok(kkc_plan_create_output(other, F.out()));
    REQUIRE(outcome(form, ctx, other, A_device, F).status == KKC_STATUS_SUCCESS);
    CHECK(largest_residual(A, download<double>(ctx, F), form) < 1e-11);
  });
}
