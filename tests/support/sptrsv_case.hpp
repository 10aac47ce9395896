// One triangular solve through kkc.h: random triangles of every depth, plan, execute, and the residual it must leave.
#pragma once

#include "support/plan_info.hpp"
#include "support/spmv_case.hpp"

namespace kkc_test {

enum class Depth { diagonal, chain, few, recent, levels, last_rows_dense, stencil, banded, blocks, dense };
inline constexpr Depth all_depths[] = {
    Depth::diagonal,        Depth::chain,   Depth::few,    Depth::recent, Depth::levels,
    Depth::last_rows_dense, Depth::stencil, Depth::banded, Depth::blocks, Depth::dense};

inline const char* name(Depth depth) {
  constexpr const char* names[] = {"diagonal",        "chain",   "few",    "recent", "levels",
                                   "last_rows_dense", "stencil", "banded", "blocks", "dense"};
  return names[static_cast<int>(depth)];
}

/// How a triangle is held.
struct Held {
  bool unsorted = false;     // rows in any order, some columns twice, the diagonal too
  bool full = false;         // entries of the other triangle beside it
  bool no_diagonal = false;  // under KKC_DIAG_UNIT: some rows lack theirs
};

namespace detail {

/// Columns left of the diagonal, ascending.
inline std::vector<int64_t> left_columns(Random& random, Depth depth, int64_t row, int64_t n) {
  std::vector<int64_t> columns;
  const auto offset = [&](int64_t distance) {
    if (distance > 0 && row >= distance) columns.push_back(row - distance);
  };
  switch (depth) {
    case Depth::diagonal: break;
    case Depth::chain: offset(1); break;
    case Depth::few:
      for (int64_t i = random_int(random, 0, 5); i > 0 && row > 0; --i)
        columns.push_back(random_int(random, 0, row - 1));
      break;
    case Depth::recent:
      for (int64_t i = random_int(random, 0, 3); i > 0; --i) offset(random_int(random, 1, 12));
      break;
    case Depth::levels: {  // five wide levels
      const int64_t width = std::max<int64_t>(1, n / 5), level = row / width;
      for (int64_t i = 0; i < 4 && level > 0; ++i) columns.push_back(random_int(random, 0, level * width - 1));
      break;
    }
    case Depth::last_rows_dense:
      if (row + 3 >= n)
        for (int64_t c = 0; c < row; ++c) columns.push_back(c);
      else if (random() % 2 == 0)
        offset(random_int(random, 1, 40));
      break;
    case Depth::stencil:
      for (const int64_t d : {57, 8}) offset(d);
      if (row % 8 != 0) offset(1);
      break;
    case Depth::banded:
      for (int64_t d = 1; d <= 9; ++d) offset(d);
      break;
    case Depth::blocks:
      for (const int64_t d : {30, 3, 0})
        for (int64_t i = 0; i < 3; ++i) offset(row % 3 + d - i);
      break;
    case Depth::dense:
      for (int64_t c = 0; c < row; ++c) columns.push_back(c);
      break;
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

template <class T>
T away_from_zero(Random& random) {
  const T value = random_value<T>(random);
  return value + T(std::real(value) < 0 ? -1 : 1);
}

}  // namespace detail

/// A square matrix whose triangle `uplo` is well conditioned, however deep; `left`: of each row the columns left of the
/// diagonal, ascending (upper: seen from the other end). What must not be read is NaN.
template <class T>
HostCsr<T> triangle_of(Random& random, const std::vector<std::vector<int64_t>>& left, kkc_uplo_t uplo, kkc_diag_t diag,
                       const Held& held) {
  const auto n = static_cast<int64_t>(left.size());
  struct Entry {
    int64_t column;
    T value;
  };
  std::vector<std::vector<Entry>> rows(static_cast<size_t>(n));
  std::vector<int64_t> in_column(static_cast<size_t>(n), 0);
  for (const auto& columns : left)
    for (const int64_t c : columns) ++in_column[static_cast<size_t>(c)];
  // Sums of rows and of columns off the diagonal stay below it.
  for (int64_t row = 0; row < n; ++row) {
    const auto& columns = left[static_cast<size_t>(row)];
    auto& entries = rows[static_cast<size_t>(row)];
    for (const int64_t c : columns) {
      const auto most = std::max<int64_t>(static_cast<int64_t>(columns.size()), in_column[static_cast<size_t>(c)]);
      entries.push_back({c, random_value<T>(random) / T(static_cast<typename RealOf<T>::type>(most + 1))});
    }
    if (diag == KKC_DIAG_STORED)
      entries.push_back({row, detail::away_from_zero<T>(random)});
    else if (!held.no_diagonal || random() % 2 == 0)
      entries.push_back({row, not_a_number<T>()});
    if (held.full)
      for (int64_t i = random_int(random, 0, 3); i > 0 && row + 1 < n; --i)
        entries.push_back({random_int(random, row + 1, n - 1), not_a_number<T>()});
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.column < b.column; });
    entries.erase(std::unique(entries.begin(), entries.end(),
                              [](const Entry& a, const Entry& b) { return a.column == b.column; }),
                  entries.end());
    if (held.unsorted) {
      if (!entries.empty() && random() % 2 == 0) {  // halves of one entry
        Entry& entry = entries[random() % entries.size()];
        entry.value /= T(2);
        entries.push_back(entry);
      }
      std::shuffle(entries.begin(), entries.end(), random);
    }
  }
  // The upper triangle is the lower one seen from the other end.
  HostCsr<T> A;
  A.rows = A.cols = n;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = uplo == KKC_UPLO_LOWER ? i : n - 1 - i;
    auto& entries = rows[static_cast<size_t>(row)];
    if (uplo == KKC_UPLO_UPPER) std::reverse(entries.begin(), entries.end());
    for (const Entry& e : entries) {
      A.indices.push_back(uplo == KKC_UPLO_LOWER ? e.column : n - 1 - e.column);
      A.values.push_back(e.value);
    }
    A.offsets.push_back(A.nnz());
  }
  return A;
}

template <class T>
HostCsr<T> random_triangle(Random& random, Depth depth, int64_t n, kkc_uplo_t uplo, kkc_diag_t diag, const Held& held) {
  std::vector<std::vector<int64_t>> left;
  for (int64_t row = 0; row < n; ++row) left.push_back(detail::left_columns(random, depth, row, n));
  return triangle_of<T>(random, left, uplo, diag, held);
}

template <class T>
struct SptrsvCase {
  std::string implementation;  // "": the library's choice
  kkc_op_t op = KKC_OP_NONE;
  kkc_uplo_t uplo = KKC_UPLO_LOWER;
  kkc_diag_t diag = KKC_DIAG_STORED;
  kkc_index_pair_t pair = KKC_INDEX_32_32;
  int32_t base = 0;
  Lie b_lie = Lie::vector, x_lie = Lie::vector;
  int64_t vectors = 1;
  T alpha{1};
  bool in_place = false, values_kept = false, device_scalars = false;

  /// Products with inverted blocks are stable as a whole, not row by row (Higham, Pothen, "Stability of the partitioned
  /// inverse method for parallel solution of sparse triangular systems", SIAM J. Sci. Comput. 15(1), 1994).
  bool stable_by_rows() const { return implementation.find("supernodal") == std::string::npos; }

  std::string options() const {
    std::ostringstream json;
    json << "{\"values\": \"" << (values_kept ? "kept" : "any") << "\", \"scalars\": \""
         << (device_scalars ? "device" : "host") << '"';
    if (!implementation.empty()) json << ", \"implementation\": \"" << implementation << '"';
    json << '}';
    return json.str();
  }
  std::string text() const {
    std::ostringstream out;
    out << "op " << op_name(op) << ", " << (uplo == KKC_UPLO_LOWER ? "lower" : "upper") << ", "
        << (diag == KKC_DIAG_STORED ? "stored" : "unit") << ", index pair " << pair << ", base " << base << ", b "
        << name(b_lie) << ", x " << name(x_lie) << ", vectors " << vectors << ", alpha " << alpha
        << (in_place ? ", in place, " : ", ") << options();
    return out.str();
  }
};

/// "" when op(T) x is alpha b but for what rounding may do to each element (Higham, "Accuracy and stability of
/// numerical algorithms", theorem 8.5), else the first row that is not.
template <class T>
std::string residual_mismatch(const SptrsvCase<T>& c, const HostCsr<T>& A, const T* b, const T* x) {
  const auto n = static_cast<size_t>(A.rows);
  const bool turned = is_transposed(c.op), conjugated = c.op == KKC_OP_CONJUGATE || c.op == KKC_OP_HERMITIAN;
  std::vector<WideOf<T>> sum(n);
  std::vector<long double> size(n, 0);
  std::vector<int64_t> terms(n, 0);
  const auto add = [&](size_t row, const WideOf<T>& term) {
    sum[row] += term;
    size[row] += magnitude(term);
    ++terms[row];
  };
  for (size_t row = 0; row < n && c.alpha != T{}; ++row) {
    if (c.diag == KKC_DIAG_UNIT) add(row, widen(x[row]));
    for (auto p = static_cast<size_t>(A.offsets[row]); p < static_cast<size_t>(A.offsets[row + 1]); ++p) {
      const auto column = static_cast<size_t>(A.indices[p]);
      if (column == row ? c.diag == KKC_DIAG_UNIT : (column < row) != (c.uplo == KKC_UPLO_LOWER)) continue;
      add(turned ? column : row, times(widen(A.values[p], conjugated), widen(x[turned ? row : column])));
    }
  }
  if (!c.stable_by_rows() && n > 0) {
    long double most = 0;
    for (size_t row = 0; row < n; ++row) most = std::max(most, size[row]);
    std::fill(size.begin(), size.end(), most);
  }
  for (size_t row = 0; row < n; ++row) {
    const auto right = c.alpha == T{} ? WideOf<T>{} : times(widen(c.alpha), widen(b[row]));
    const auto got = c.alpha == T{} ? widen(x[row]) : sum[row];
    const long double bound =
        2 * static_cast<long double>(terms[row] + 12) * epsilon<T> * (size[row] + magnitude(right));
    if (magnitude(got - right) <= bound) continue;
    std::ostringstream text;
    text.precision(17);
    text << "row " << row << " of op(T) x is " << got << ", expected " << right << " within " << bound;
    return text.str();
  }
  return {};
}

/// Runs the case and compares: nothing when the implementation does not take it, else "" or what is wrong. The plan
/// sees other values than execute, and executes see two sets of values. `info`: gets the plan's.
template <class T>
std::optional<std::string> run_case(const Context& ctx, const SptrsvCase<T>& c, HostCsr<T> A, Random& random,
                                    std::string* info = nullptr) {
  const int64_t n = A.rows;
  HostCsr<T> as_planned = A;
  std::fill(as_planned.values.begin(), as_planned.values.end(), not_a_number<T>());
  DeviceCsr<T> A_device(ctx, as_planned, c.pair, c.base);
  SpmvVectors<T> b(ctx, c.b_lie, n, c.vectors, c.in_place ? T(77) : not_a_number<T>());
  std::optional<SpmvVectors<T>> other;
  if (!c.in_place) other.emplace(ctx, c.x_lie, n, c.vectors, T(77));
  SpmvVectors<T>& x = c.in_place ? b : *other;
  Plan plan;
  const kkc_status_t planned =
      kkc_sptrsv_plan(ctx, c.op, c.uplo, c.diag, A_device, b, x, Options(c.options()), plan.out());
  if (planned == KKC_STATUS_NOT_SUPPORTED && !c.implementation.empty() && std::string(kkc_last_error()).size() > 10)
    return std::nullopt;
  ok(planned);
  if (info != nullptr) *info = info_of_plan(plan);
  const std::vector<T> coefficients{c.alpha};
  const Array<T> on_device(ctx, coefficients);
  const T* alpha = c.device_scalars ? on_device.data() : coefficients.data();
  for (int repeat = 0; repeat < 3; ++repeat) {
    if (repeat < 2) {  // new values; the third execute comes without
      for (T& v : A.values)
        if (repeat == 1) v *= T(2);
      if (c.alpha != T{}) A_device.values().set(A.values);
      if (c.values_kept) ok(kkc_sptrsv_set_values(plan, A_device));
    }
    std::vector<T> right = random_vector<T>(random, static_cast<size_t>(n * c.vectors));
    if (c.alpha == T{}) std::fill(right.begin(), right.end(), not_a_number<T>());
    b.set(right);
    if (!c.in_place) other->set(std::vector<T>(right.size(), not_a_number<T>()));
    ok(kkc_sptrsv_execute(plan, alpha, A_device, b, x));
    int64_t where = -1, count = 0;
    ok(kkc_plan_check(plan, &where, &count));
    const std::vector<T> solution = x.get();
    for (int64_t k = 0; k < c.vectors; ++k) {
      const std::string wrong = residual_mismatch(c, A, right.data() + k * n, solution.data() + k * n);
      if (!wrong.empty()) return "vector " + std::to_string(k) + ", execute " + std::to_string(repeat) + ": " + wrong;
    }
  }
  return std::string();
}

}  // namespace kkc_test
