#include "matrix_properties.hpp"

#include <cmath>
#include <cstdlib>

#include "dispatch.hpp"
#include "matrix_coordinates.hpp"
#include "matrix_mirror.hpp"

namespace kkc {
namespace {

constexpr int64_t grain = 1 << 16;

template <class I, class O>
CsrPattern<I, O> pattern_of(const CsrRef& a) {
  return {a.rows, a.cols, a.base, static_cast<const O*>(a.offsets), static_cast<const I*>(a.indices)};
}

/// Splits rows so that parts have about as many entries, and adds up what each part finds.
template <class Found, class I, class O, class F>
Found over_rows(const CsrPattern<I, O>& p, int threads, F f) {
  const int64_t nnz = p.rows == 0 ? 0 : p.begin(p.rows);
  const int parts = part_count(threads, nnz + p.rows, grain);
  std::vector<Found> found(static_cast<size_t>(parts));
  run_parts(parts, [&](int part) {
    const Range r = rows_of<O>(p.offsets, p.rows, static_cast<O>(p.base), part, parts);
    Found mine;  // apart from the other parts' memory while it changes
    f(r, mine);
    found[static_cast<size_t>(part)] = mine;
  });
  Found all = found[0];
  for (size_t part = 1; part < found.size(); ++part) all.add(found[part]);
  return all;
}

template <class I, class O>
void require_offsets(const CsrRef& a, const CsrPattern<I, O>& p, int threads) {
  if (a.rows == 0) {
    require(a.nnz == 0, KKC_STATUS_INVALID_ARGUMENT, "nnz is ", a.nnz, ", expected 0 for a matrix without rows");
    if (a.offsets == nullptr) return;
  }
  require(p.offsets[0] == p.base, KKC_STATUS_INVALID_ARGUMENT, "row_offsets[0] is ", p.offsets[0],
          ", expected the base ", p.base);
  const int parts = part_count(threads, a.rows, grain);
  std::vector<int64_t> bad(static_cast<size_t>(parts), -1);
  run_parts(parts, [&](int part) {
    const Range r = part_of(a.rows, part, parts);
    int64_t first = -1;
    for (int64_t i = r.begin; i < r.end && first < 0; ++i)
      if (p.offsets[i] > p.offsets[i + 1]) first = i;
    bad[static_cast<size_t>(part)] = first;
  });
  for (const int64_t i : bad)
    require(i < 0, KKC_STATUS_INVALID_ARGUMENT, "row_offsets go backwards at row ", i, ": ", i < 0 ? O{} : p.offsets[i],
            " then ", i < 0 ? O{} : p.offsets[i + 1], ", expected offsets that ascend");
  require(p.offsets[a.rows] == a.nnz + p.base, KKC_STATUS_INVALID_ARGUMENT, "row_offsets[", a.rows, "] is ",
          p.offsets[a.rows], ", expected nnz + base = ", a.nnz + p.base);
}

/// What one pass over the rows tells.
struct RowFacts {
  bool sorted = true, unique = true;
  int64_t diagonals = 0;         // rows with (i, i)
  int64_t below = 0, above = 0;  // entries on either side of the diagonal
  int64_t bad_row = -1, bad_col = 0;
  int64_t shortest = INT64_MAX, longest = 0, empty = 0, lower_band = 0, upper_band = 0;

  void add(const RowFacts& o) {
    sorted &= o.sorted;
    unique &= o.unique;
    diagonals += o.diagonals;
    below += o.below;
    above += o.above;
    if (bad_row < 0) {
      bad_row = o.bad_row;
      bad_col = o.bad_col;
    }
    shortest = std::min(shortest, o.shortest);
    longest = std::max(longest, o.longest);
    empty += o.empty;
    lower_band = std::max(lower_band, o.lower_band);
    upper_band = std::max(upper_band, o.upper_band);
  }
};

template <class I, class O>
RowFacts row_facts(const CsrPattern<I, O>& p, int threads) {
  return over_rows<RowFacts>(p, threads, [&](Range r, RowFacts& f) {
    for (int64_t i = r.begin; i < r.end; ++i) {
      const int64_t begin = p.begin(i), end = p.end(i);
      bool diagonal = false;
      for (int64_t k = begin; k < end; ++k) {
        const int64_t j = p.col(k);
        if (static_cast<uint64_t>(j) >= static_cast<uint64_t>(p.cols)) [[unlikely]] {
          f.bad_row = i;
          f.bad_col = p.indices[k];
          return;
        }
        if (k > begin) {
          const int64_t before = p.col(k - 1);
          f.sorted &= before <= j;
          f.unique &= before != j;
        }
        diagonal |= j == i;
        f.below += j < i;
        f.above += j > i;
        f.lower_band = std::max(f.lower_band, i - j);
        f.upper_band = std::max(f.upper_band, j - i);
      }
      f.diagonals += diagonal;
      f.shortest = std::min(f.shortest, end - begin);
      f.longest = std::max(f.longest, end - begin);
      f.empty += begin == end;
    }
  });
}

/// A valid matrix, and one with the same entries whose rows are sorted and without duplicates.
template <class I, class O>
class Checked {
 public:
  Checked(const CsrRef& a, bool with_values, const std::shared_ptr<const Memory>& memory)
      : memory_(memory), threads_(host_threads(*memory)), given_(a), facts_(check(a, pattern_of<I, O>(a), threads_)) {
    if (facts_.sorted && facts_.unique) {
      clean_facts_ = facts_;
      return;
    }
    if (!with_values) given_.scalar = Scalar::none;
    copy_ = sorted_csr(given_, memory);
    const int64_t duplicates = given_.nnz - copy_.nnz;
    facts_.unique = duplicates == 0;
    given_ = copy_.ref();
    clean_facts_ = row_facts(pattern(), threads_);
  }

  const CsrRef& clean() const { return given_; }
  CsrPattern<I, O> pattern() const { return pattern_of<I, O>(given_); }
  const RowFacts& facts() const { return facts_; }  // of the matrix as it was given
  int threads() const { return threads_; }

  kkc_matrix_properties_t properties() const {
    const CsrRef& a = given_;
    kkc_matrix_properties_t bits = 0;
    if (facts_.sorted) bits |= KKC_MATRIX_SORTED;
    if (facts_.unique) bits |= KKC_MATRIX_NO_DUPLICATES;
    if (a.rows == a.cols && facts_.diagonals == a.rows) bits |= KKC_MATRIX_FULL_DIAGONAL;
    if (symmetric_pattern()) bits |= KKC_MATRIX_SYMMETRIC_PATTERN;
    return bits;
  }

 private:
  static RowFacts check(const CsrRef& a, const CsrPattern<I, O>& p, int threads) {
    require_offsets(a, p, threads);
    if (a.rows == 0) return {};
    const RowFacts f = row_facts(p, threads);
    require(f.bad_row < 0, KKC_STATUS_INDEX_OUT_OF_RANGE, "row ", f.bad_row, " has column index ", f.bad_col,
            ", expected ", a.base, " to ", a.cols - 1 + a.base);
    return f;
  }

  /// As many entries below the diagonal as above, and each of the former mirrored.
  bool symmetric_pattern() const {
    return clean_facts_.below == clean_facts_.above &&
           walk_mirrored(pattern(), threads_, memory_, [](int, int64_t, int64_t, int64_t) { return true; });
  }

  const std::shared_ptr<const Memory>& memory_;
  const int threads_;
  CsrRef given_;
  RowFacts facts_, clean_facts_;
  HostCsr copy_;
};

template <class V>
V conjugate(const V& v) {
  if constexpr (is_complex<V>)
    return std::conj(v);
  else
    return v;
}

/// How the values of mirrored entries compare.
struct Symmetry {
  bool symmetric = true, hermitian = true, skew = true;
};

template <class V, class I, class O>
Symmetry value_symmetry(const CsrPattern<I, O>& p, const V* values, int threads,
                        const std::shared_ptr<const Memory>& memory) {
  std::vector<Symmetry> found(static_cast<size_t>(threads));
  const bool mirrored = walk_mirrored(p, threads, memory, [&](int part, int64_t, int64_t k, int64_t image) {
    Symmetry& f = found[static_cast<size_t>(part)];
    const V v = values[k], w = values[image];
    f.symmetric &= v == w;
    f.hermitian &= v == conjugate(w);
    f.skew &= v == -w;
    return f.symmetric || f.hermitian || f.skew;
  });
  Symmetry all{mirrored, mirrored, mirrored};
  for (const Symmetry& f : found) {
    all.symmetric &= f.symmetric;
    all.hermitian &= f.hermitian;
    all.skew &= f.skew;
  }
  return all;
}

struct Dominance {
  bool weakly = true, strictly = true, positive = true;
  void add(const Dominance& o) {
    weakly &= o.weakly;
    strictly &= o.strictly;
    positive &= o.positive;
  }
};

template <class V, class I, class O>
Dominance dominance(const CsrPattern<I, O>& p, const V* values, int threads) {
  return over_rows<Dominance>(p, threads, [&](Range r, Dominance& f) {
    for (int64_t i = r.begin; i < r.end; ++i) {
      double others = 0, diagonal = 0;
      bool positive = false;
      for (int64_t k = p.begin(i); k < p.end(i); ++k) {
        const V v = values[k];
        if (p.col(k) == i) {
          diagonal = std::abs(v);
          positive = std::real(v) > 0 && std::imag(v) == 0;
        } else {
          others += std::abs(v);
        }
      }
      f.weakly &= diagonal >= others;
      f.strictly &= diagonal > others;
      f.positive &= positive;
    }
  });
}

}  // namespace

kkc_matrix_properties_t validate_matrix(const CsrRef& a, const std::shared_ptr<const Memory>& memory) {
  kkc_matrix_properties_t bits = 0;
  dispatch_index_pair(AllIndexPairs{}, a.pair, [&](auto p) {
    bits = Checked<typename decltype(p)::ordinal, typename decltype(p)::offset>(a, false, memory).properties();
  });
  return bits;
}

Info describe_matrix(const CsrRef& a, const std::shared_ptr<const Memory>& memory) {
  Info info;
  dispatch_index_pair(AllIndexPairs{}, a.pair, [&](auto p) {
    const Checked<typename decltype(p)::ordinal, typename decltype(p)::offset> checked(a, true, memory);
    const RowFacts& facts = checked.facts();
    const auto bits = checked.properties();
    const bool square = a.rows == a.cols;
    info.add("rows", a.rows);
    info.add("cols", a.cols);
    info.add("nnz", a.nnz);
    info.add("index_pair", std::string(name(a.pair)));
    info.add("scalar", std::string(name(a.scalar)));
    info.add("base", int64_t{a.base});
    info.add("shortest_row", a.rows == 0 ? int64_t{0} : facts.shortest);
    info.add("longest_row", facts.longest);
    info.add("mean_row", a.rows == 0 ? 0.0 : static_cast<double>(a.nnz) / static_cast<double>(a.rows));
    info.add("empty_rows", facts.empty);
    info.add("lower_bandwidth", facts.lower_band);
    info.add("upper_bandwidth", facts.upper_band);
    info.add("bandwidth", std::max(facts.lower_band, facts.upper_band));
    info.add("sorted", int64_t{(bits & KKC_MATRIX_SORTED) != 0});
    info.add("no_duplicates", int64_t{(bits & KKC_MATRIX_NO_DUPLICATES) != 0});
    info.add("full_diagonal", int64_t{(bits & KKC_MATRIX_FULL_DIAGONAL) != 0});
    const bool symmetric_pattern = (bits & KKC_MATRIX_SYMMETRIC_PATTERN) != 0;
    info.add("symmetric_pattern", int64_t{symmetric_pattern});
    Symmetry symmetry{symmetric_pattern, symmetric_pattern, false};
    Dominance rows{false, false, false};
    if (a.scalar != Scalar::none)
      dispatch_scalar(AllScalars{}, a.scalar, [&](auto s) {
        using V = typename decltype(s)::type;
        const V* const values = static_cast<const V*>(checked.clean().values);
        symmetry = {false, false, false};
        if (symmetric_pattern) symmetry = value_symmetry(checked.pattern(), values, checked.threads(), memory);
        if (square) rows = dominance(checked.pattern(), values, checked.threads());
      });
    info.add("symmetry", std::string(symmetry.symmetric   ? "symmetric"
                                     : symmetry.hermitian ? "hermitian"
                                     : symmetry.skew      ? "skew"
                                                          : "general"));
    info.add("hermitian", int64_t{symmetry.hermitian});
    info.add("positive_diagonal", int64_t{rows.positive});
    info.add("diagonal_dominance", std::string(rows.strictly ? "strict" : rows.weakly ? "weak" : "none"));
  });
  return info;
}

}  // namespace kkc
