// One sparse product through kkc.h: plan, C's pattern, execute, and what loops over the host's copies give.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

#include "support/by_column.hpp"
#include "support/devices.hpp"
#include "support/oracle.hpp"

namespace kkc_test {

/// An entry of a product in double precision, and the sum of its terms' sizes.
struct Sum {
  std::complex<double> value = 0;
  double size = 0;
  int64_t terms = 0;
};

template <class T>
std::complex<double> as_double(const T& value) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<double>(value);
  else
    return {static_cast<double>(value.real()), static_cast<double>(value.imag())};
}

inline bool transposed(kkc_op_t op) { return op == KKC_OP_TRANSPOSE || op == KKC_OP_HERMITIAN; }
inline bool conjugated(kkc_op_t op) { return op == KKC_OP_CONJUGATE || op == KKC_OP_HERMITIAN; }

inline constexpr kkc_op_t tested_ops[] = {KKC_OP_NONE, KKC_OP_TRANSPOSE, KKC_OP_CONJUGATE, KKC_OP_HERMITIAN};

struct OpEntry {
  int64_t column;
  std::complex<double> value;
  double size;
};

/// op(A) as rows, each in any order.
template <class T>
std::vector<std::vector<OpEntry>> rows_of_op(const HostCsr<T>& A, kkc_op_t op) {
  const PlacesByRow places(A, transposed(op));
  std::vector<std::vector<OpEntry>> rows(places.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    auto& row = rows[i];
    row.reserve(places[i].size());
    for (const auto& [column, place] : places[i]) {
      const auto value = as_double(A.values[place]);
      row.push_back({column, conjugated(op) ? std::conj(value) : value, magnitude(value)});
    }
  }
  return rows;
}

/// Rows by columns.
using ProductRows = std::vector<std::vector<std::pair<int64_t, Sum>>>;

inline void add_row(ByColumn<Sum>& sums, std::complex<double> factor, const std::vector<OpEntry>& row) {
  const double size = magnitude(factor);
  for (const OpEntry& entry : row) {
    Sum& sum = sums[entry.column];
    sum.value += times(factor, entry.value);
    sum.size += size * entry.size;
    ++sum.terms;
  }
}

/// The rows of op(A) op(B), inside the mask if there is one.
template <class T>
ProductRows product_rows(kkc_op_t op_a, const HostCsr<T>& A, kkc_op_t op_b, const HostCsr<T>& B,
                         const HostCsr<T>* mask) {
  const auto a = rows_of_op(A, op_a), b = rows_of_op(B, op_b);
  ByColumn<Sum> sums;
  ProductRows rows;
  for (size_t i = 0; i < a.size(); ++i) {
    for (const OpEntry& entry : a[i]) add_row(sums, entry.value, b[static_cast<size_t>(entry.column)]);
    auto& row = rows.emplace_back(sums.take());
    if (mask == nullptr) continue;
    std::vector<int64_t> kept(mask->indices.begin() + mask->offsets[i], mask->indices.begin() + mask->offsets[i + 1]);
    std::sort(kept.begin(), kept.end());
    std::erase_if(row, [&](const auto& sum) { return !std::binary_search(kept.begin(), kept.end(), sum.first); });
  }
  return rows;
}

/// Rows of (I - omega D^-1 A) B; `inverse`: that of D, or empty.
template <class T>
ProductRows jacobi_rows(const HostCsr<T>& A, const HostCsr<T>& B, T omega, const std::vector<T>& inverse) {
  const auto a = rows_of_op(A, KKC_OP_NONE), b = rows_of_op(B, KKC_OP_NONE);
  ByColumn<Sum> sums;
  ProductRows rows;
  for (size_t i = 0; i < a.size(); ++i) {
    std::complex<double> d = 0;
    for (const OpEntry& entry : a[i])
      if (entry.column == static_cast<int64_t>(i)) d += entry.value;
    const auto scale = -as_double(omega) * (inverse.empty() ? 1.0 / d : as_double(inverse[i]));
    add_row(sums, 1, b[i]);
    for (const OpEntry& entry : a[i]) add_row(sums, scale * entry.value, b[static_cast<size_t>(entry.column)]);
    rows.push_back(sums.take());
  }
  return rows;
}

template <class T>
struct SpgemmCase {
  std::string implementation;  // "" : the library's choice
  kkc_op_t op_a = KKC_OP_NONE, op_b = KKC_OP_NONE;
  kkc_index_pair_t pair = KKC_INDEX_32_32, pair_c = KKC_INDEX_32_32;
  int32_t base_a = 0, base_b = 0, base_c = 0;
  T alpha{1}, beta{0};
  bool sorted = true, device_scalars = false, deterministic = false;
  bool callers_arrays = false;  // C over the caller's arrays, else made by the library
  int64_t max_workspace = -1;

  std::string options() const {
    std::ostringstream json;
    json << "{\"base\": " << base_c << ", \"sorted\": " << sorted << ", \"deterministic\": " << deterministic
         << ", \"scalars\": \"" << (device_scalars ? "device" : "host") << '"';
    if (max_workspace >= 0) json << ", \"max_workspace\": " << max_workspace;
    if (!implementation.empty()) json << ", \"implementation\": \"" << implementation << '"';
    json << '}';
    return json.str();
  }
  std::string text() const {
    std::ostringstream out;
    out << "op_A " << op_a << ", op_B " << op_b << ", index pairs " << pair << ' ' << pair_c << ", bases " << base_a
        << ' ' << base_b << ", alpha " << alpha << ", beta " << beta << (callers_arrays ? ", caller's C, " : ", ")
        << options();
    return out.str();
  }
};

/// C's handle, over arrays of its own or of the library's.
template <class T>
class OutputMatrix {
 public:
  OutputMatrix(const Context& ctx, const SpgemmCase<T>& c, const Plan& plan, int64_t rows, int64_t cols)
      : ctx_(ctx), offsets_(ctx, 0), indices_(ctx, 0), values_(ctx, 0) {
    if (!c.callers_arrays) {
      ok(kkc_plan_create_output(plan, matrix_.out()));
      return;
    }
    int64_t nnz = -1;
    ok(kkc_plan_output_nnz(plan, &nnz));
    offsets_ = Array<unsigned char>(ctx, static_cast<size_t>(rows + 1) * (c.pair_c == KKC_INDEX_32_32 ? 4 : 8));
    indices_ = Array<unsigned char>(ctx, static_cast<size_t>(nnz) * (c.pair_c == KKC_INDEX_64_64 ? 8 : 4));
    values_ = Array<T>(ctx, static_cast<size_t>(nnz));
    ok(kkc_csr_create_output(ctx, rows, cols, nnz, c.pair_c, scalar_tag<T>, c.base_c, offsets_.data(), indices_.data(),
                             values_.data(), matrix_.out()));
    ok(kkc_plan_output_pattern(plan, matrix_));
  }
  operator kkc_matrix_t*() const { return matrix_; }

  void set(const std::vector<T>& values) const {
    void* data = nullptr;
    ok(kkc_csr_get(matrix_, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &data));
    const auto direction = native_space(ctx_) == KKC_SPACE_DEVICE ? KKC_COPY_HOST_TO_DEVICE : KKC_COPY_HOST_TO_HOST;
    if (!values.empty()) ok(kkc_copy(ctx_, data, values.data(), values.size() * sizeof(T), direction));
  }

 private:
  const Context& ctx_;
  Array<unsigned char> offsets_, indices_;
  Array<T> values_;
  Matrix matrix_;
};

/// "" or how two results differ: in their patterns, or values by more than `most` epsilons.
template <class T>
std::string difference(const HostCsr<T>& one, const HostCsr<T>& other, double most) {
  if (one.offsets != other.offsets) return "the rows have other lengths";
  if (one.indices != other.indices) return "the rows have other columns";
  const double bound = most * static_cast<double>(std::numeric_limits<typename RealOf<T>::type>::epsilon());
  for (size_t p = 0; p < one.values.size(); ++p) {
    const double apart = magnitude(as_double(one.values[p]) - as_double(other.values[p]));
    if (apart <= bound) continue;  // not of a NaN
    std::ostringstream out;
    out << "entry " << p << " is " << one.values[p] << ", and " << other.values[p];
    return out.str();
  }
  return "";
}

/// "" or what is wrong with C. `before`: its values before the execute, in C's order.
template <class T>
std::string wrong_product(const SpgemmCase<T>& c, const ProductRows& expected, const HostCsr<T>& C,
                          const std::vector<T>& before) {
  using R = typename RealOf<T>::type;
  const double size_of_alpha = magnitude(as_double(c.alpha));
  std::ostringstream out;
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto begin = static_cast<size_t>(C.offsets[i]), end = static_cast<size_t>(C.offsets[i + 1]);
    if (end - begin != expected[i].size()) {
      out << "row " << i << " has " << end - begin << " entries, expected " << expected[i].size();
      return out.str();
    }
    bool by_columns = true;
    for (size_t p = begin; p < end; ++p) {
      auto at = expected[i].begin() + static_cast<std::ptrdiff_t>(p - begin);
      if (at->first != C.indices[p]) {
        by_columns = false;
        at = std::lower_bound(expected[i].begin(), expected[i].end(), C.indices[p],
                              [](const auto& sum, int64_t column) { return sum.first < column; });
      }
      const bool unexpected = at == expected[i].end() || at->first != C.indices[p];
      if (unexpected || (c.sorted && !by_columns)) {
        out << "row " << i << " holds column " << C.indices[p] << (unexpected ? "" : " out of order");
        return out.str();
      }
      const bool overwrites = c.beta == T{};
      const auto old = overwrites ? 0 : times(as_double(c.beta), as_double(before[p]));
      const auto want = old + (c.alpha == T{} ? 0 : times(as_double(c.alpha), at->second.value));
      const double room = 4 * static_cast<double>(std::numeric_limits<R>::epsilon()) *
                          static_cast<double>(at->second.terms + 4) *
                          (magnitude(old) + size_of_alpha * at->second.size);
      const double error = magnitude(as_double(C.values[p]) - want);
      if (!(error <= room)) {
        out << "C(" << i << ", " << C.indices[p] << ") is " << C.values[p] << ", expected " << want << ", error "
            << error << " where " << room << " is allowed";
        return out.str();
      }
    }
    if (by_columns) continue;
    // As many entries as expected, each expected; a column twice would leave out another.
    std::vector<int64_t> columns(C.indices.begin() + static_cast<std::ptrdiff_t>(begin),
                                 C.indices.begin() + static_cast<std::ptrdiff_t>(end));
    std::sort(columns.begin(), columns.end());
    if (std::adjacent_find(columns.begin(), columns.end()) != columns.end()) {
      out << "row " << i << " holds a column twice";
      return out.str();
    }
  }
  return {};
}

/// Runs the case and compares: nothing when the implementation does not take it, else "" or what is wrong. The plan
/// sees NaN where execute sees numbers, so it must not have used them; what alpha = 0 or beta = 0 must not read is NaN.
/// `executes` times, with other values: plans keep nothing of the values of an execute. `bits`: the last C's values.
template <class T>
std::optional<std::string> run_case(const Context& ctx, const SpgemmCase<T>& c, HostCsr<T> A, HostCsr<T> B,
                                    const HostCsr<T>* mask, Random& random, std::vector<T>* bits = nullptr,
                                    int executes = 2) {
  const auto nan = T(std::numeric_limits<typename RealOf<T>::type>::quiet_NaN());
  const auto spoilt = [&](HostCsr<T> of) {
    std::fill(of.values.begin(), of.values.end(), nan);
    return of;
  };
  DeviceCsr<T> A_device(ctx, spoilt(A), c.pair, c.base_a), B_device(ctx, spoilt(B), c.pair, c.base_b);
  std::optional<DeviceCsr<T>> mask_device;
  if (mask != nullptr) mask_device.emplace(ctx, spoilt(*mask), c.pair, c.base_b);
  Plan plan;
  const kkc_status_t planned = kkc_spgemm_plan(ctx, c.op_a, A_device, c.op_b, B_device,
                                               mask_device ? static_cast<kkc_matrix_t*>(*mask_device) : nullptr,
                                               c.pair_c, Options(c.options()), plan.out());
  if (planned == KKC_STATUS_NOT_SUPPORTED && !c.implementation.empty() && std::string(kkc_last_error()).size() > 10)
    return std::nullopt;
  ok(planned);
  const int64_t rows = transposed(c.op_a) ? A.cols : A.rows, cols = transposed(c.op_b) ? B.rows : B.cols;
  const OutputMatrix<T> C(ctx, c, plan, rows, cols);
  const std::vector<T> coefficients{c.alpha, c.beta};
  const Array<T> on_device(ctx, coefficients);
  const T* scalars = c.device_scalars ? on_device.data() : coefficients.data();
  for (int repeat = 0; repeat < executes; ++repeat) {
    A.values = random_vector<T>(random, A.values.size());
    B.values = random_vector<T>(random, B.values.size());
    if (c.alpha != T{}) {
      A_device.values().set(A.values);
      B_device.values().set(B.values);
    }
    ok(kkc_context_synchronize(ctx));
    std::vector<T> before = random_vector<T>(random, download<T>(ctx, C).values.size());
    if (c.beta == T{}) std::fill(before.begin(), before.end(), nan);
    C.set(before);
    ok(kkc_spgemm_execute(plan, scalars, A_device, B_device, scalars + 1, C));
    ok(kkc_context_synchronize(ctx));
    const HostCsr<T> result = download<T>(ctx, C);
    if (result.rows != rows || result.cols != cols) return "C has another size";
    const std::string wrong = wrong_product(c, product_rows(c.op_a, A, c.op_b, B, mask), result, before);
    if (!wrong.empty()) return "execute " + std::to_string(repeat) + ": " + wrong;
    if (bits != nullptr) *bits = result.values;
  }
  return std::string();
}

/// Points in a row, each coupled to those up to `reach` away, with all pairs of `unknowns` unknowns a point.
template <class T = double>
HostCsr<T> coupled_points(Random& random, int64_t points, int64_t unknowns, int64_t reach) {
  HostCsr<T> A;
  A.rows = A.cols = points * unknowns;
  for (int64_t row = 0; row < A.rows; ++row) {
    const int64_t point = row / unknowns, first = std::max<int64_t>(0, point - reach),
                  last = std::min(points, point + reach + 1);
    for (int64_t j = first * unknowns; j < last * unknowns; ++j) A.indices.push_back(j);
    A.offsets.push_back(A.nnz());
  }
  A.values = random_vector<T>(random, A.indices.size());
  return A;
}

/// Lines of one row to twelve, whose rows have as many entries, the same but for a shift; from line to line the number
/// of entries changes. Columns lie behind the row in the first half of the matrix, in front of it in the other.
template <class T = double>
HostCsr<T> short_lines(Random& random, int64_t lines, int64_t entries) {
  HostCsr<T> A;
  std::vector<int64_t> lengths;
  for (int64_t line = 0; line < lines; ++line) lengths.push_back(line + 1 == lines ? 5 : random_int(random, 1, 12));
  for (const int64_t length : lengths) A.rows += length;
  A.cols = A.rows;
  int64_t row = 0;
  for (int64_t line = 0; line < lines; ++line)
    for (const int64_t end = row + lengths[static_cast<size_t>(line)]; row < end; ++row) {
      const int64_t n = std::min(entries + line % 2, A.rows / 2), first = 2 * row < A.rows ? row : row + 1 - n;
      for (int64_t k = 0; k < n; ++k) A.indices.push_back(first + k);
      A.offsets.push_back(A.nnz());
    }
  A.values = random_vector<T>(random, A.indices.size());
  return A;
}

/// A column for each `size` points in a row, which all their unknowns share.
template <class T = double>
HostCsr<T> point_aggregates(Random& random, int64_t points, int64_t unknowns, int64_t size) {
  HostCsr<T> P;
  P.rows = points * unknowns;
  P.cols = (points + size - 1) / size;
  for (int64_t row = 0; row < P.rows; ++row) {
    P.indices.push_back(row / unknowns / size);
    P.offsets.push_back(P.nnz());
  }
  P.values = random_vector<T>(random, P.indices.size());
  return P;
}

/// The pattern of A transposed, all values 1.
template <class T>
HostCsr<T> transpose_of(const HostCsr<T>& A) {
  HostCsr<T> turned;
  turned.rows = A.cols;
  turned.cols = A.rows;
  for (const auto& row : rows_of_op(A, KKC_OP_TRANSPOSE)) {
    for (const OpEntry& entry : row) turned.indices.push_back(entry.column);
    turned.offsets.push_back(turned.nnz());
  }
  turned.values.assign(turned.indices.size(), T(1));
  return turned;
}

}  // namespace kkc_test
