#include "matrix_properties.hpp"

#include <cmath>
#include <cstdlib>

#include "dispatch.hpp"
#include "matrix_coordinates.hpp"
#include "matrix_parallel.hpp"

namespace kkc {
namespace {

constexpr int64_t grain = 1 << 16;

template <class I, class O>
struct Pattern {
  explicit Pattern(const CsrRef& a)
      : rows(a.rows), cols(a.cols), base(a.base), offsets(static_cast<const O*>(a.offsets)), indices(static_cast<const I*>(a.indices)) {}

  int64_t begin(int64_t i) const { return static_cast<int64_t>(offsets[i]) - base; }
  int64_t end(int64_t i) const { return begin(i + 1); }
  /// Wraps around for indices that are far out of range.
  int64_t col(int64_t k) const {
    return static_cast<int64_t>(static_cast<uint64_t>(indices[k]) - static_cast<uint64_t>(base));
  }

  /// Place of (i, j) in a sorted row, or -1.
  int64_t find(int64_t i, int64_t j) const {
    const I *const first = indices + begin(i), *const last = indices + end(i);
    const I wanted = static_cast<I>(j + base);
    const I* const at = std::lower_bound(first, last, wanted);
    return at != last && *at == wanted ? at - indices : -1;
  }

  int64_t rows, cols, base;
  const O* offsets;
  const I* indices;
};

/// Splits rows so that parts have about as many entries, and adds up what each part finds.
template <class Found, class I, class O, class F>
Found over_rows(const Pattern<I, O>& p, int threads, F f) {
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
void require_offsets(const CsrRef& a, const Pattern<I, O>& p, int threads) {
  if (a.rows == 0) {
    require(a.nnz == 0, KKC_STATUS_INVALID_ARGUMENT, "nnz is ", a.nnz, ", expected 0 for a matrix without rows");
    if (a.offsets == nullptr) return;
  }
  require(p.offsets[0] == p.base, KKC_STATUS_INVALID_ARGUMENT, "row_offsets[0] is ", p.offsets[0], ", expected the base ", p.base);
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
    require(i < 0, KKC_STATUS_INVALID_ARGUMENT, "row_offsets go backwards at row ", i, ": ", i < 0 ? O{} : p.offsets[i], " then ",
            i < 0 ? O{} : p.offsets[i + 1], ", expected offsets that ascend");
  require(p.offsets[a.rows] == a.nnz + p.base, KKC_STATUS_INVALID_ARGUMENT, "row_offsets[", a.rows, "] is ", p.offsets[a.rows],
          ", expected nnz + base = ", a.nnz + p.base);
}

/// What one pass over the rows tells.
struct RowFacts {
  bool sorted = true, unique = true;
  int64_t diagonals = 0;           // rows with (i, i)
  int64_t below = 0, above = 0;    // entries on either side of the diagonal
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
RowFacts row_facts(const Pattern<I, O>& p, int threads) {
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

struct AllOf {
  bool value = true;
  void add(const AllOf& o) { value &= o.value; }
};

/// Whether each entry above the diagonal has its mirror image. Rows sorted, without duplicates: then as many entries
/// below as above make the pattern symmetric.
template <class I, class O>
bool mirrored_pattern(const Pattern<I, O>& p, const RowFacts& facts, int threads) {
  if (p.rows != p.cols || facts.below != facts.above) return false;
  return over_rows<AllOf>(p, threads, [&](Range r, AllOf& all) {
           for (int64_t i = r.begin; i < r.end && all.value; ++i)
             for (int64_t k = p.begin(i); k < p.end(i) && all.value; ++k)
               if (const int64_t j = p.col(k); j > i) all.value = p.find(j, i) >= 0;
         }).value;
}

/// A valid matrix, and one with the same entries whose rows are sorted and without duplicates.
template <class I, class O>
class Checked {
 public:
  Checked(const CsrRef& a, bool with_values, const std::shared_ptr<const Memory>& memory)
      : threads_(host_threads(*memory)), given_(a), facts_(check(a, Pattern<I, O>(a), threads_)) {
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
  Pattern<I, O> pattern() const { return Pattern<I, O>(given_); }
  const RowFacts& facts() const { return facts_; }  // of the matrix as it was given
  int threads() const { return threads_; }

  kkc_matrix_properties_t properties() const {
    const CsrRef& a = given_;
    kkc_matrix_properties_t bits = 0;
    if (facts_.sorted) bits |= KKC_MATRIX_SORTED;
    if (facts_.unique) bits |= KKC_MATRIX_NO_DUPLICATES;
    if (a.rows == a.cols && facts_.diagonals == a.rows) bits |= KKC_MATRIX_FULL_DIAGONAL;
    if (mirrored_pattern(pattern(), clean_facts_, threads_)) bits |= KKC_MATRIX_SYMMETRIC_PATTERN;
    return bits;
  }

 private:
  static RowFacts check(const CsrRef& a, const Pattern<I, O>& p, int threads) {
    require_offsets(a, p, threads);
    if (a.rows == 0) return {};
    const RowFacts f = row_facts(p, threads);
    require(f.bad_row < 0, KKC_STATUS_INDEX_OUT_OF_RANGE, "row ", f.bad_row, " has column index ", f.bad_col, ", expected ", a.base,
            " to ", a.cols - 1 + a.base);
    return f;
  }

  const int threads_;
  CsrRef given_;
  RowFacts facts_, clean_facts_;
  HostCsr copy_;
};

struct ValueFacts {
  bool symmetric = true, hermitian = true, skew = true;
  bool weakly = true, strictly = true, positive = true;
  void add(const ValueFacts& o) {
    symmetric &= o.symmetric;
    hermitian &= o.hermitian;
    skew &= o.skew;
    weakly &= o.weakly;
    strictly &= o.strictly;
    positive &= o.positive;
  }
};

template <class V>
V conjugate(const V& v) {
  if constexpr (is_complex<V>)
    return std::conj(v);
  else
    return v;
}

template <class V, class I, class O>
ValueFacts value_facts(const Pattern<I, O>& p, const V* values, int threads) {
  return over_rows<ValueFacts>(p, threads, [&](Range r, ValueFacts& f) {
    for (int64_t i = r.begin; i < r.end; ++i) {
      double others = 0, diagonal = 0;
      bool positive = false;
      for (int64_t k = p.begin(i); k < p.end(i); ++k) {
        const int64_t j = p.col(k);
        const V v = values[k];
        if (j == i) {
          diagonal = std::abs(v);
          positive = std::real(v) > 0 && std::imag(v) == 0;
        } else {
          others += std::abs(v);
        }
        if (j < i || !(f.symmetric || f.hermitian || f.skew)) continue;
        const int64_t other = p.find(j, i);
        const V w = other < 0 ? V{} : values[other];
        f.symmetric &= other >= 0 && v == w;
        f.hermitian &= other >= 0 && v == conjugate(w);
        f.skew &= other >= 0 && v == -w;
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
    ValueFacts values;
    if (a.scalar == Scalar::none) {
      values.symmetric = values.hermitian = symmetric_pattern;
      values.skew = values.weakly = values.strictly = values.positive = false;
    } else {
      dispatch_scalar(AllScalars{}, a.scalar, [&](auto s) {
        using V = typename decltype(s)::type;
        values = value_facts(checked.pattern(), static_cast<const V*>(checked.clean().values), checked.threads());
      });
      values.symmetric &= symmetric_pattern;
      values.hermitian &= symmetric_pattern;
      values.skew &= symmetric_pattern;
    }
    info.add("symmetry", std::string(values.symmetric ? "symmetric" : values.hermitian ? "hermitian" : values.skew ? "skew" : "general"));
    info.add("hermitian", int64_t{values.hermitian});
    info.add("positive_diagonal", int64_t{square && values.positive});
    info.add("diagonal_dominance", std::string(!square || !values.weakly ? "none" : values.strictly ? "strict" : "weak"));
  });
  return info;
}

}  // namespace kkc
