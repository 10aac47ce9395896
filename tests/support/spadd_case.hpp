// One sum of matrices through kkc.h, and what it must give.
#pragma once

#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/by_column.hpp"
#include "support/devices.hpp"
#include "support/oracle.hpp"
#include "support/output_case.hpp"

namespace kkc_test {

inline bool turns(kkc_op_t op) { return op == KKC_OP_TRANSPOSE || op == KKC_OP_HERMITIAN; }
inline bool conjugates(kkc_op_t op) { return op == KKC_OP_CONJUGATE || op == KKC_OP_HERMITIAN; }

/// What alpha op(A) + beta op(B) must be: the union of the patterns, each value with a bound of its error.
struct ExpectedSum {
  int64_t rows = 0, cols = 0;
  std::vector<int64_t> offsets{0}, indices;
  Expected values;
};

template <class T>
ExpectedSum expected_sum(kkc_op_t op_A, T alpha, const HostCsr<T>& A, kkc_op_t op_B, T beta, const HostCsr<T>& B) {
  struct Term {
    WideOf<T> sum{};
    long double magnitude = 0;
    int terms = 0;
  };
  ExpectedSum C;
  C.rows = turns(op_A) ? A.cols : A.rows;
  C.cols = turns(op_A) ? A.rows : A.cols;
  ByColumn<Term> sums;
  const auto add = [&](std::span<const std::pair<int64_t, size_t>> row, T factor, const HostCsr<T>& X, kkc_op_t op) {
    for (const auto& [column, place] : row) {
      Term& term = sums[column];
      if (factor == T{}) continue;
      const auto product = times(widen(factor), widen(X.values[place], conjugates(op)));
      term.sum += product;
      term.magnitude += magnitude(product);
      ++term.terms;
    }
  };
  const PlacesByRow rows_A(A, turns(op_A)), rows_B(B, turns(op_B));
  for (size_t row = 0; row < rows_A.size(); ++row) {
    add(rows_A[row], alpha, A, op_A);
    add(rows_B[row], beta, B, op_B);
    for (const auto& [column, term] : sums.in_order()) {
      C.indices.push_back(column);
      C.values.values.push_back(term.sum);
      C.values.bounds.push_back(term.magnitude * static_cast<long double>(term.terms + 8) * epsilon<T>);
    }
    sums.clear();
    C.offsets.push_back(static_cast<int64_t>(C.indices.size()));
  }
  return C;
}

template <class T>
struct SpaddCase {
  std::string implementation, rows;  // "": the plan's choice
  kkc_op_t op_A = KKC_OP_NONE, op_B = KKC_OP_NONE;
  kkc_index_pair_t pair = KKC_INDEX_32_32, pair_C = KKC_INDEX_32_32;
  int32_t base_A = 0, base_B = 0, base_C = 0;
  T alpha = T(1), beta = T(1);
  bool device_scalars = false, own_output = false;

  std::string options() const {
    std::ostringstream text;
    text << R"({"base": )" << base_C << R"(, "scalars": ")" << (device_scalars ? "device" : "host") << '"';
    if (!implementation.empty()) text << R"(, "implementation": ")" << implementation << '"';
    if (!rows.empty()) text << R"(, "rows": ")" << rows << '"';
    return text.str() + "}";
  }
  std::string text() const {
    std::ostringstream out;
    out << "ops " << op_A << ' ' << op_B << " pairs " << pair << ' ' << pair_C << " bases " << base_A << ' ' << base_B
        << " alpha " << alpha << " beta " << beta << (own_output ? " own output " : " ") << options();
    return out.str();
  }
};

/// "" when C is right; what is wrong; nothing when the implementation does not take the case. Executes for the values
/// given and once more for others of the same patterns.
template <class T>
std::optional<std::string> run_case(const Context& ctx, const SpaddCase<T>& c, HostCsr<T> A, HostCsr<T> B,
                                    Random& random) {
  constexpr auto nan = std::numeric_limits<typename RealOf<T>::type>::quiet_NaN();
  DeviceCsr<T> A_device(ctx, A, c.pair, c.base_A), B_device(ctx, B, c.pair, c.base_B);
  Plan plan;
  const kkc_status_t planned =
      kkc_spadd_plan(ctx, c.op_A, A_device, c.op_B, B_device, c.pair_C, Options(c.options()), plan.out());
  if (planned == KKC_STATUS_NOT_SUPPORTED && !c.implementation.empty() && std::string(kkc_last_error()).size() > 10)
    return std::nullopt;
  ok(planned);
  const ExpectedSum pattern = expected_sum<T>(c.op_A, c.alpha, A, c.op_B, c.beta, B);
  int64_t nnz = -1;
  ok(kkc_plan_output_nnz(plan, &nnz));
  if (nnz != static_cast<int64_t>(pattern.indices.size()))
    return "nnz " + std::to_string(nnz) + ", expected " + std::to_string(pattern.indices.size());
  std::optional<OutputCsr<T>> own;
  Matrix made;
  if (c.own_output) {
    own.emplace(ctx, pattern.rows, pattern.cols, nnz, c.pair_C, c.base_C);
    ok(kkc_plan_output_pattern(plan, *own));
  } else {
    ok(kkc_plan_create_output(plan, made.out()));
  }
  kkc_matrix_t* C = c.own_output ? static_cast<kkc_matrix_t*>(*own) : static_cast<kkc_matrix_t*>(made);

  const std::vector<T> coefficients{c.alpha, c.beta};
  const Array<T> on_device(ctx, coefficients);
  const T* scalars = c.device_scalars ? on_device.data() : coefficients.data();
  for (int repeat = 0; repeat < 2; ++repeat) {
    if (repeat == 1) {
      A.values = random_vector<T>(random, A.values.size());
      B.values = random_vector<T>(random, B.values.size());
    }
    // What a coefficient of 0 forbids to read is not a number.
    A_device.values().set(c.alpha == T{} ? std::vector<T>(A.values.size(), T(nan)) : A.values);
    B_device.values().set(c.beta == T{} ? std::vector<T>(B.values.size(), T(nan)) : B.values);
    ok(kkc_spadd_execute(plan, scalars, A_device, scalars + 1, B_device, C));
    ctx.synchronize();
    const HostCsr<T> got = download<T>(ctx, C);
    if (got.rows != pattern.rows || got.cols != pattern.cols) return "its shape is wrong";
    if (pattern.rows > 0 && got.offsets != pattern.offsets) return "its offsets are wrong";
    if (got.indices != pattern.indices) return "its columns are wrong";
    const std::string wrong = mismatch(
        repeat == 0 ? pattern.values : expected_sum<T>(c.op_A, c.alpha, A, c.op_B, c.beta, B).values, got.values);
    if (!wrong.empty()) return "execute " + std::to_string(repeat) + ": " + wrong;
  }
  return std::string();
}

}  // namespace kkc_test
