// Incomplete factorizations through kkc.h, and what they must give: patterns by dense loops, values by their residual.
#pragma once

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "support/devices.hpp"
#include "support/oracle.hpp"
#include "support/output_case.hpp"

namespace kkc_test {

enum class Form { lu, cholesky };

inline const char* name(Form form) { return form == Form::lu ? "ilu" : "ic"; }

/// Entries of one place added up, found by row and column.
class DenseEntries {
 public:
  explicit DenseEntries(int64_t n) : n(n), places_(static_cast<size_t>(n * n), -1) {}
  bool stored(int64_t i, int64_t j) const { return place(i, j) >= 0; }
  Wide value(int64_t i, int64_t j) const { return stored(i, j) ? entry(i, j).value : Wide{}; }
  long double size(int64_t i, int64_t j) const { return stored(i, j) ? entry(i, j).size : 0; }
  void add(int64_t i, int64_t j, const Wide& value) {
    int32_t& place = places_[static_cast<size_t>(i * n + j)];
    if (place < 0) {
      place = static_cast<int32_t>(entries_.size());
      entries_.emplace_back();
    }
    Entry& entry = entries_[static_cast<size_t>(place)];
    entry.value += value;
    entry.size += magnitude(value);
  }

  const int64_t n;

 private:
  struct Entry {
    Wide value;
    long double size = 0;
  };
  int32_t place(int64_t i, int64_t j) const { return places_[static_cast<size_t>(i * n + j)]; }
  const Entry& entry(int64_t i, int64_t j) const { return entries_[static_cast<size_t>(place(i, j))]; }

  std::vector<int32_t> places_;
  std::vector<Entry> entries_;
};

template <class T>
DenseEntries dense(const HostCsr<T>& A) {
  DenseEntries D(A.rows);
  for (int64_t i = 0; i < A.rows; ++i)
    for (auto p = static_cast<size_t>(A.offsets[static_cast<size_t>(i)]);
         p < static_cast<size_t>(A.offsets[static_cast<size_t>(i) + 1]); ++p)
      D.add(i, A.indices[p], wide(A.values[p]));
  return D;
}

/// Pattern of the factors by rows, by Saad's loop over levels of fill.
inline std::vector<std::vector<int64_t>> expected_rows(const DenseEntries& A, Form form, int level) {
  constexpr int none = 1 << 20;
  const int64_t n = A.n;
  const auto at = [n](int64_t i, int64_t j) { return static_cast<size_t>(i * n + j); };
  std::vector<int> levels(static_cast<size_t>(n * n), none);
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j)
      if (i == j || A.stored(i, j)) levels[at(i, j)] = 0;
    for (int64_t k = 0; k < i; ++k) {
      if (levels[at(i, k)] > level) continue;
      for (const int64_t j : rows[static_cast<size_t>(k)])
        if (j > k) levels[at(i, j)] = std::min(levels[at(i, j)], levels[at(i, k)] + levels[at(k, j)] + 1);
    }
    for (int64_t j = 0; j < n; ++j)
      if (levels[at(i, j)] <= level) rows[static_cast<size_t>(i)].push_back(j);
  }
  if (form == Form::cholesky)
    for (int64_t i = 0; i < n; ++i) std::erase_if(rows[static_cast<size_t>(i)], [i](int64_t j) { return j > i; });
  return rows;
}

/// "" when the product of the factors is A + shift I on their pattern, each entry within what rounding may make.
template <class T>
std::string wrong_residual(const DenseEntries& A, const HostCsr<T>& F, Form form, double shift) {
  const DenseEntries D = dense(F);
  for (int64_t i = 0; i < A.n; ++i) {
    const auto begin = static_cast<size_t>(F.offsets[static_cast<size_t>(i)]),
               end = static_cast<size_t>(F.offsets[static_cast<size_t>(i) + 1]);
    for (size_t p = begin; p < end; ++p) {
      const int64_t j = F.indices[p];
      Wide sum{};
      long double size = A.size(i, j) + (i == j ? std::abs(static_cast<long double>(shift)) : 0);
      int terms = 8;
      const auto add = [&](const Wide& a, const Wide& b) {
        const Wide product = times(a, b);
        sum += product;
        size += magnitude(product);
        ++terms;
      };
      for (size_t q = begin; q < end; ++q) {
        const int64_t k = F.indices[q];
        if (form == Form::lu && k < std::min(i, j) && D.stored(k, j)) add(wide(F.values[q]), D.value(k, j));
        if (form == Form::cholesky && k <= j && D.stored(j, k)) add(wide(F.values[q]), std::conj(D.value(j, k)));
      }
      if (form == Form::lu) add(wide(F.values[p]), i <= j ? Wide(1) : D.value(j, j));
      Wide target = A.value(i, j);
      if (form == Form::cholesky && i == j) target = target.real();
      if (i == j) target += static_cast<long double>(shift);
      const long double bound = size * static_cast<long double>(terms) * 4 * epsilon<T>;
      if (magnitude(sum - target) <= bound) continue;
      std::ostringstream text;
      text.precision(17);
      text << "entry (" << i << ", " << j << ") of the product is " << sum << ", expected " << target << " within "
           << bound;
      return text.str();
    }
  }
  return {};
}

/// A square matrix that factors well: a diagonal entry in every row (one of `missing` rows excepted), larger than the
/// others of its row together. For cholesky the upper triangle mirrors the lower one.
template <class T>
HostCsr<T> factorable(Random& random, Shape shape, int64_t n, Form form, int64_t missing = -1) {
  const HostCsr<T> from = random_csr<T>(random, shape, n, n);
  std::vector<std::vector<std::pair<int64_t, T>>> rows(static_cast<size_t>(n));
  std::vector<long double> sums(static_cast<size_t>(n), 1);
  for (int64_t i = 0; i < n; ++i)
    for (auto p = static_cast<size_t>(from.offsets[static_cast<size_t>(i)]);
         p < static_cast<size_t>(from.offsets[static_cast<size_t>(i) + 1]); ++p) {
      const int64_t j = from.indices[p];
      if (j == i || (form == Form::cholesky && j > i)) continue;
      rows[static_cast<size_t>(i)].push_back({j, from.values[p]});
      sums[static_cast<size_t>(i)] += magnitude(wide(from.values[p]));
      if (form == Form::lu) continue;
      if constexpr (std::is_floating_point_v<T>)
        rows[static_cast<size_t>(j)].push_back({i, from.values[p]});
      else
        rows[static_cast<size_t>(j)].push_back({i, std::conj(from.values[p])});
      sums[static_cast<size_t>(j)] += magnitude(wide(from.values[p]));
    }
  const bool sorted = shape != Shape::unsorted_duplicates;
  HostCsr<T> A;
  A.rows = A.cols = n;
  using R = typename RealOf<T>::type;
  for (int64_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    const auto diagonal = T(static_cast<R>(sums[static_cast<size_t>(i)] * (form == Form::lu && i % 3 == 1 ? -2 : 2)));
    if (i != missing && sorted) row.push_back({i, diagonal});
    if (i != missing && !sorted) {
      row.insert(row.begin() + random_int(random, 0, static_cast<int64_t>(row.size())), {i, diagonal / R(2)});
      row.push_back({i, diagonal / R(2)});
    }
    if (sorted) std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [column, value] : row) {
      A.indices.push_back(column);
      A.values.push_back(value);
    }
    A.offsets.push_back(A.nnz());
  }
  return A;
}

inline kkc_status_t plan_factors(Form form, kkc_context_t* ctx, kkc_matrix_t* A, const std::string& options,
                                 kkc_plan_t** plan) {
  return (form == Form::lu ? kkc_ilu_plan : kkc_ic_plan)(ctx, A, Options(options), plan);
}
inline kkc_status_t execute_factors(Form form, kkc_plan_t* plan, kkc_matrix_t* A, kkc_matrix_t* F) {
  return (form == Form::lu ? kkc_ilu_execute : kkc_ic_execute)(plan, A, F);
}

/// How an execute ended, wherever the device tells it.
struct Outcome {
  kkc_status_t status;
  int64_t row;           // GPUs: of kkc_plan_check; hosts: -1
  std::string sentence;  // hosts
};
inline Outcome outcome(Form form, const Context& ctx, kkc_plan_t* plan, kkc_matrix_t* A, kkc_matrix_t* F) {
  const kkc_status_t status = execute_factors(form, plan, A, F);
  if (!is_gpu(ctx.device())) return {status, -1, status == KKC_STATUS_SUCCESS ? "" : kkc_last_error()};
  ok(status);
  int64_t row = -1, count = 0;
  const kkc_status_t found = kkc_plan_check(plan, &row, &count);
  return {found, row, ""};
}

template <class T>
struct FactorCase {
  Form form = Form::lu;
  std::string implementation, further;  // further options, each behind ", "
  kkc_index_pair_t pair = KKC_INDEX_32_32;
  int32_t base_A = 0, base_F = 0;
  int level = 0;
  double shift = 0;
  bool own_output = false;

  std::string options() const {
    std::ostringstream text;
    text << R"({"base": )" << base_F << R"(, "shift": )" << shift;
    if (form == Form::lu) text << R"(, "level": )" << level;
    if (!implementation.empty()) text << R"(, "implementation": ")" << implementation << '"';
    return text.str() + further + "}";
  }
};

/// "" when the factors are right; what is wrong; nothing when the implementation does not take the case. Executes for
/// the values given and once more for others on the same pattern.
template <class T>
std::optional<std::string> run_case(const Context& ctx, const FactorCase<T>& c, HostCsr<T> A) {
  using R = typename RealOf<T>::type;
  DeviceCsr<T> A_device(ctx, A, c.pair, c.base_A);
  Plan plan;
  const kkc_status_t planned = plan_factors(c.form, ctx, A_device, c.options(), plan.out());
  if (planned == KKC_STATUS_NOT_SUPPORTED && !c.implementation.empty() && std::string(kkc_last_error()).size() > 10)
    return std::nullopt;
  ok(planned);
  const auto rows = expected_rows(dense(A), c.form, c.level);
  std::vector<int64_t> offsets{0}, indices;
  for (const auto& row : rows) {
    indices.insert(indices.end(), row.begin(), row.end());
    offsets.push_back(static_cast<int64_t>(indices.size()));
  }
  int64_t nnz = -1;
  ok(kkc_plan_output_nnz(plan, &nnz));
  if (nnz != static_cast<int64_t>(indices.size()))
    return "nnz " + std::to_string(nnz) + ", expected " + std::to_string(indices.size());
  std::optional<OutputCsr<T>> own;
  Matrix made;
  if (c.own_output) {
    own.emplace(ctx, A.rows, A.rows, nnz, c.pair, c.base_F);
    ok(kkc_plan_output_pattern(plan, *own));
  } else {
    ok(kkc_plan_create_output(plan, made.out()));
  }
  kkc_matrix_t* F = c.own_output ? static_cast<kkc_matrix_t*>(*own) : static_cast<kkc_matrix_t*>(made);
  for (int repeat = 0; repeat < 2; ++repeat) {
    if (repeat == 1)
      for (T& value : A.values) value *= R(1.75);
    std::vector<T> given = A.values;
    if (c.form == Form::cholesky)  // what must not be read is not a number
      for (int64_t i = 0; i < A.rows; ++i)
        for (auto p = static_cast<size_t>(A.offsets[static_cast<size_t>(i)]);
             p < static_cast<size_t>(A.offsets[static_cast<size_t>(i) + 1]); ++p) {
          constexpr R nan = std::numeric_limits<R>::quiet_NaN();
          if (A.indices[p] > i) given[p] = T(nan);
          if constexpr (!std::is_floating_point_v<T>)
            if (A.indices[p] == i) given[p] = T(A.values[p].real(), nan);
        }
    A_device.values().set(given);
    const Outcome end = outcome(c.form, ctx, plan, A_device, F);
    if (end.status != KKC_STATUS_SUCCESS)
      return "execute " + std::to_string(repeat) + " ends with status " + std::to_string(end.status) + ", row " +
             std::to_string(end.row) + " " + end.sentence;
    const HostCsr<T> got = download<T>(ctx, F);
    if (A.rows > 0 && got.offsets != offsets) return "its offsets are wrong";
    if (got.indices != indices) return "its columns are wrong";
    const std::string wrong = wrong_residual(dense(A), got, c.form, c.shift);
    if (!wrong.empty()) return "execute " + std::to_string(repeat) + ": " + wrong;
  }
  return std::string();
}

}  // namespace kkc_test
