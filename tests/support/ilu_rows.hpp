// Rows that are alike or not, and checks of what ilu and ic make of them.
#pragma once

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/ilu_case.hpp"

namespace kkc_test {

using Rows = std::vector<std::vector<int64_t>>;

inline void put_in_order(std::vector<int64_t>& columns) {
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
}

/// Columns of a box of points with `unknowns` each; `box`: a point's neighbours are 26, not 6.
inline Rows grid(int64_t nx, int64_t ny, int64_t nz, bool box, int64_t unknowns = 1) {
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
inline Rows lower_heavy(Random& random, int64_t n, int64_t most) {
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
inline Rows points(Random& random, int64_t count, int64_t unknowns, int64_t neighbours) {
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
inline double largest_residual(const HostCsr<double>& A, const HostCsr<double>& F, Form form) {
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

/// Whether an implementation takes some patterns only: rows alike, levels that are wide.
inline bool is_choosy(const std::string& implementation) {
  return implementation == "gpu_programs" || implementation == "gpu_tables" || implementation == "gpu_few_levels" ||
         implementation == "gpu_band" || implementation == "gpu_pruned" || implementation == "host_pruned";
}

/// Makes a plan and its output; false where a choosy implementation does not take the pattern.
inline bool plan_where_taken(const Context& ctx, Form form, const std::string& implementation,
                             const DeviceCsr<double>& A, Plan& plan, Matrix& F) {
  const kkc_status_t planned =
      plan_factors(form, ctx, A, R"({"implementation": ")" + implementation + "\"}", plan.out());
  if (planned == KKC_STATUS_NOT_SUPPORTED && is_choosy(implementation)) return false;
  ok(planned);
  ok(kkc_plan_create_output(plan, F.out()));
  return true;
}

/// A bound of that residual, for entries as with_values() has them.
inline double largest_rounding(const HostCsr<double>& A) {
  double largest = 0;
  for (const double value : A.values) largest = std::max(largest, std::abs(value));
  return std::max(1e-11, 1e-15 * largest);
}

/// Executes give factors of A, with the same bits each time.
inline void check_executes(const Context& ctx, Form form, const Plan& plan, const HostCsr<double>& A,
                           const DeviceCsr<double>& A_device, const Matrix& F, int executes) {
  std::vector<double> first;
  for (int execute = 0; execute < executes; ++execute) {
    REQUIRE(outcome(form, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
    const HostCsr<double> got = download<double>(ctx, F);
    CHECK(largest_residual(A, got, form) < largest_rounding(A));
    if (execute == 0) first = got.values;
    CHECK(std::memcmp(got.values.data(), first.data(), first.size() * sizeof(double)) == 0);
  }
}

/// Rows of zeros and of NaNs, one at a time; by default of a matrix of 630 rows.
inline void check_breakdowns(const Context& ctx, Form form, const std::string& implementation, const Rows& rows,
                             const std::vector<int64_t>& spoilt = {0, 1, 2, 3, 100, 101, 629}) {
  Random random(seed());
  const HostCsr<double> A = with_values<double>(random, rows, form);
  DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
  Plan plan;
  Matrix F;
  if (!plan_where_taken(ctx, form, implementation, A_device, plan, F)) return;
  for (const int64_t row : spoilt)
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
  CHECK(largest_residual(A, download<double>(ctx, F), form) < largest_rounding(A));
}

}  // namespace kkc_test
