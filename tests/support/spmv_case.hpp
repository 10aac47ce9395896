// One product through kkc.h: memory with gaps that must stay untouched, plan, execute, and what it must give.
#pragma once

#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "support/devices.hpp"
#include "support/oracle.hpp"

namespace kkc_test {

/// How a vector or multi-vector lies in memory.
enum class Lie { vector, strided_vector, left, left_padded, right, right_padded, strided };
inline constexpr Lie all_lies[] = {Lie::vector, Lie::strided_vector, Lie::left,   Lie::left_padded,
                                   Lie::right,  Lie::right_padded,   Lie::strided};

inline const char* name(Lie lie) {
  constexpr const char* names[] = {"vector", "strided_vector", "left",   "left_padded",
                                   "right",  "right_padded",   "strided"};
  return names[static_cast<int>(lie)];
}
inline bool is_vector(Lie lie) { return lie == Lie::vector || lie == Lie::strided_vector; }

template <class T>
T not_a_number() {
  return T(std::numeric_limits<typename RealOf<T>::type>::quiet_NaN());
}

/// rows x vectors elements somewhere in an array whose gaps hold `gap`.
template <class T>
class SpmvVectors {
 public:
  SpmvVectors(const Context& ctx, Lie lie, int64_t rows, int64_t vectors, T gap)
      : rows_(rows), vectors_(vectors), gap_(gap), lie_(lie), array_(ctx, 0) {
    switch (lie) {
      case Lie::vector: row_ = 1; break;
      case Lie::strided_vector: row_ = 3; break;
      case Lie::left: row_ = 1, vector_ = std::max<int64_t>(rows, 1); break;
      case Lie::left_padded: row_ = 1, vector_ = rows + 5; break;
      case Lie::right: row_ = std::max<int64_t>(vectors, 1), vector_ = 1; break;
      case Lie::right_padded: row_ = vectors + 3, vector_ = 1; break;
      case Lie::strided: row_ = 2 * vectors + 1, vector_ = 2; break;
    }
    const int64_t span = rows * vectors == 0 ? 0 : (rows - 1) * row_ + (vectors - 1) * vector_ + 1;
    host_.assign(static_cast<size_t>(span), gap);
    array_ = Array<T>(ctx, host_.size());
    const bool one = is_vector(lie);
    const std::vector<int64_t> extents = one ? std::vector{rows} : std::vector{rows, vectors};
    const std::vector<int64_t> strides = one ? std::vector{row_} : std::vector{row_, vector_};
    const kkc_layout_t layout = lie == Lie::strided || lie == Lie::strided_vector ? KKC_LAYOUT_STRIDED
                                : lie == Lie::right || lie == Lie::right_padded   ? KKC_LAYOUT_RIGHT
                                                                                  : KKC_LAYOUT_LEFT;
    const bool plain = lie == Lie::vector || lie == Lie::left || lie == Lie::right;
    view_ = wrap(ctx, array_.data(), extents, layout, plain ? std::vector<int64_t>{} : strides);
  }
  operator kkc_view_t*() const { return view_; }

  /// vectors x rows numbers, one vector after the other.
  void set(const std::vector<T>& columns) {
    for (int64_t k = 0; k < vectors_; ++k)
      for (int64_t i = 0; i < rows_; ++i) host_[at(i, k)] = columns[static_cast<size_t>(k * rows_ + i)];
    array_.set(host_);
  }
  std::vector<T> get() {
    const std::vector<T> now = array_.get();
    std::vector<T> columns;
    columns.reserve(static_cast<size_t>(rows_ * vectors_));
    std::vector<bool> ours(now.size(), false);
    for (int64_t k = 0; k < vectors_; ++k)
      for (int64_t i = 0; i < rows_; ++i) {
        columns.push_back(now[at(i, k)]);
        ours[at(i, k)] = true;
      }
    for (size_t i = 0; i < now.size(); ++i)
      if (!ours[i] && now[i] != gap_) throw std::runtime_error("an element between the vectors was written");
    return columns;
  }

 private:
  size_t at(int64_t row, int64_t vector) const { return static_cast<size_t>(row * row_ + vector * vector_); }
  int64_t rows_, vectors_, row_ = 1, vector_ = 0;
  T gap_;
  Lie lie_;
  std::vector<T> host_;
  Array<T> array_;
  View view_;
};

inline const char* op_name(kkc_op_t op) {
  constexpr const char* names[] = {"", "N", "T", "conj", "H"};
  return names[op];
}
inline constexpr kkc_op_t all_ops[] = {KKC_OP_NONE, KKC_OP_TRANSPOSE, KKC_OP_CONJUGATE, KKC_OP_HERMITIAN};
inline bool is_transposed(kkc_op_t op) { return op == KKC_OP_TRANSPOSE || op == KKC_OP_HERMITIAN; }

template <class T>
struct SpmvCase {
  std::string implementation;  // "" : the library's choice
  kkc_op_t op = KKC_OP_NONE;
  kkc_index_pair_t pair = KKC_INDEX_32_32;
  int32_t base = 0;
  Lie x_lie = Lie::vector, y_lie = Lie::vector;
  int64_t vectors = 1;
  T alpha{1}, beta{0};
  bool values_kept = false, transpose_kept = false, device_scalars = false, deterministic = false;

  std::string options() const {
    std::ostringstream json;
    json << "{\"values\": \"" << (values_kept || transpose_kept ? "kept" : "any") << "\", \"transpose\": \""
         << (transpose_kept ? "kept" : "none") << "\", \"scalars\": \"" << (device_scalars ? "device" : "host")
         << "\", \"deterministic\": " << deterministic;
    if (!implementation.empty()) json << ", \"implementation\": \"" << implementation << '"';
    json << '}';
    return json.str();
  }
  std::string text() const {
    std::ostringstream out;
    out << "op " << op_name(op) << ", index pair " << pair << ", base " << base << ", x " << name(x_lie) << ", y "
        << name(y_lie) << ", vectors " << vectors << ", alpha " << alpha << ", beta " << beta << ", " << options();
    return out.str();
  }
};

/// Runs the case and compares: nothing when the implementation does not take it, else "" or what is wrong. The plan
/// sees other values than execute, so it must not have used them; what alpha = 0 or beta = 0 must not read is NaN.
template <class T>
std::optional<std::string> run_case(const Context& ctx, const SpmvCase<T>& c, const HostCsr<T>& A, Random& random) {
  const int64_t x_rows = is_transposed(c.op) ? A.rows : A.cols, y_rows = is_transposed(c.op) ? A.cols : A.rows;
  std::vector<T> x_host = random_vector<T>(random, static_cast<size_t>(x_rows * c.vectors));
  std::vector<T> y_host = random_vector<T>(random, static_cast<size_t>(y_rows * c.vectors));
  HostCsr<T> as_planned = A;
  std::fill(as_planned.values.begin(), as_planned.values.end(), not_a_number<T>());
  std::vector<T> values = A.values;
  if (c.alpha == T{}) {
    std::fill(x_host.begin(), x_host.end(), not_a_number<T>());
    std::fill(values.begin(), values.end(), not_a_number<T>());
  }
  if (c.beta == T{}) std::fill(y_host.begin(), y_host.end(), not_a_number<T>());

  DeviceCsr<T> A_device(ctx, as_planned, c.pair, c.base);
  SpmvVectors<T> x(ctx, c.x_lie, x_rows, c.vectors, not_a_number<T>()), y(ctx, c.y_lie, y_rows, c.vectors, T(77));
  x.set(x_host);
  y.set(y_host);
  Plan plan;
  const kkc_status_t planned = kkc_spmv_plan(ctx, c.op, A_device, x, y, Options(c.options()), plan.out());
  if (planned == KKC_STATUS_NOT_SUPPORTED && !c.implementation.empty() && std::string(kkc_last_error()).size() > 10)
    return std::nullopt;
  ok(planned);
  if (c.alpha != T{}) A_device.values().set(values);
  if (c.values_kept || c.transpose_kept) ok(kkc_spmv_set_values(plan, A_device));
  const std::vector<T> coefficients{c.alpha, c.beta};
  const Array<T> on_device(ctx, coefficients);
  const T* scalars = c.device_scalars ? on_device.data() : coefficients.data();
  // Twice: plans keep nothing from an execute. The second starts from the first's result unless beta is 0.
  std::vector<T> before = y_host;
  for (int repeat = 0; repeat < 2; ++repeat) {
    ok(kkc_spmv_execute(plan, scalars, A_device, x, scalars + 1, y));
    const std::vector<T> after = y.get();
    for (int64_t k = 0; k < c.vectors; ++k) {
      const auto part = [&](const std::vector<T>& of, int64_t rows) {
        return std::vector<T>(of.begin() + k * rows, of.begin() + (k + 1) * rows);
      };
      const Expected expected = spmv_expected<T>(c.op, c.alpha, A, part(x_host, x_rows), c.beta, part(before, y_rows));
      const std::string wrong = mismatch(expected, part(after, y_rows));
      if (!wrong.empty()) return "vector " + std::to_string(k) + ", execute " + std::to_string(repeat) + ": " + wrong;
    }
    before = after;
  }
  return std::string();
}

}  // namespace kkc_test
