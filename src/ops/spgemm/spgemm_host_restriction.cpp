// spgemm, host_restriction: A uses each row of B about once, as the transposes of tentative prolongators do (the second
// half of a Galerkin product). To look for like rows of B would cost more than to multiply: one pass over the products
// finds C's columns, by an array of places for all of them, and notes where each product goes. Rows of C of up to eight
// columns keep a mask for each entry of A, the columns of its row of B, and are summed in a vector register.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "core/dispatch.hpp"
#include "core/matrix_parallel.hpp"
#include "ops/spgemm/spgemm.hpp"
#include "ops/spgemm/spgemm_host_steps.hpp"

namespace kkc::spgemm {
namespace {

/// Columns of a row with masks.
constexpr int64_t laned_columns = 8;

/// Up to eight columns in a register, with their numbers.
///   unsigned where(column): a bit at the column's number, or none
///   unsigned where(from, count, ascend): those of up to eight columns; clears `ascend` unless they do
///   void add(number, column)
template <class I>
struct FewColumns;
#if defined(__AVX512F__)
template <>
struct FewColumns<int32_t> {
  using Bits = __mmask16;
  __m512i columns = _mm512_set1_epi32(-1);
  unsigned where(int32_t column) const { return _mm512_cmpeq_epi32_mask(columns, _mm512_set1_epi32(column)); }
  unsigned where(const int32_t* from, int64_t count, bool& ascend) const {
    const auto all = static_cast<Bits>((1u << count) - 1), pairs = static_cast<Bits>(all >> 1);
    const __m512i row = _mm512_mask_loadu_epi32(_mm512_set1_epi32(-2), all, from),
                  next = _mm512_maskz_loadu_epi32(pairs, from + 1);
    ascend &= _mm512_mask_cmplt_epi32_mask(pairs, row, next) == pairs;
    const auto of = [&](int q) {
      return _mm512_cmpeq_epi32_mask(columns,
                                     _mm512_maskz_permutexvar_epi32(static_cast<Bits>(-1), _mm512_set1_epi32(q), row));
    };
    unsigned bits = static_cast<Bits>(of(0) | of(1) | of(2) | of(3));
    if (count > 4) bits |= static_cast<Bits>(of(4) | of(5) | of(6) | of(7));
    return bits;
  }
  void add(uint32_t number, int32_t column) {
    columns = _mm512_mask_set1_epi32(columns, static_cast<Bits>(1u << number), column);
  }
};
template <>
struct FewColumns<int64_t> {
  using Bits = __mmask8;
  __m512i columns = _mm512_set1_epi64(-1);
  unsigned where(int64_t column) const { return _mm512_cmpeq_epi64_mask(columns, _mm512_set1_epi64(column)); }
  unsigned where(const int64_t* from, int64_t count, bool& ascend) const {
    const auto all = static_cast<Bits>((1u << count) - 1), pairs = static_cast<Bits>(all >> 1);
    const __m512i row = _mm512_mask_loadu_epi64(_mm512_set1_epi64(-2), all, from),
                  next = _mm512_maskz_loadu_epi64(pairs, from + 1);
    ascend &= _mm512_mask_cmplt_epi64_mask(pairs, row, next) == pairs;
    const auto of = [&](int q) {
      return _mm512_cmpeq_epi64_mask(columns,
                                     _mm512_maskz_permutexvar_epi64(static_cast<Bits>(-1), _mm512_set1_epi64(q), row));
    };
    unsigned bits = static_cast<Bits>(of(0) | of(1) | of(2) | of(3));
    if (count > 4) bits |= static_cast<Bits>(of(4) | of(5) | of(6) | of(7));
    return bits;
  }
  void add(uint32_t number, int64_t column) {
    columns = _mm512_mask_set1_epi64(columns, static_cast<Bits>(1u << number), column);
  }
};
#endif

template <class E, class I, class O>
class RestrictionKernel final : public Kernel {
  using Pattern = HostPatternRef<I, O>;
  using V = StepVector<E>;

 public:
  RestrictionKernel(const Desc& desc, Queue& queue) {
    const Pattern A(desc.A), B(desc.B);
    const int64_t chunks = std::clamp<int64_t>((A.nnz + A.rows) / 4096, 1, int64_t{16} * queue.concurrency());
    for (int64_t chunk = 0; chunk <= chunks; ++chunk) first_.push_back(A.first_row(chunks, chunk));
    std::vector<Found> found(static_cast<size_t>(chunks));
    std::vector<Worker> workers(static_cast<size_t>(queue.concurrency()));
    deal(queue, chunks, [&](int64_t id, int64_t chunk) {
      Worker& worker = workers[static_cast<size_t>(id)];
      worker.places.resize(static_cast<size_t>(B.cols), absent);
      worker.columns.resize(static_cast<size_t>(B.cols));
      Found& mine = found[static_cast<size_t>(chunk)];
      if constexpr (V::lanes > 0) {
        if (find_rows<true>(A, B, chunk, worker, mine)) return;
        mine = {};
      }
      find_rows<false>(A, B, chunk, worker, mine);
    });
    gather(desc, queue, found);
  }

  void execute(Queue& queue, const Args& args) override {
    const Pattern A(args.A), B(args.B);
    const Factors a{static_cast<const E*>(args.A.values), static_cast<const O*>(args.positions_A)};
    const auto* const b = static_cast<const E*>(args.B.values);
    const E alpha = factor<E>(args.alpha).get(), beta = factor<E>(args.beta).get();
    const bool wide = offset_size(output.pair) == 8;
    deal(queue, static_cast<int64_t>(first_.size()) - 1, [&](int64_t, int64_t chunk) {
      const auto c_at = [&](int64_t i) {
        return wide ? output.offsets->template as<int64_t>()[i] : int64_t{output.offsets->template as<int32_t>()[i]};
      };
      const auto at = static_cast<size_t>(chunk);
      const std::byte* marks = marks_.as<std::byte>() + marks_at_[at];
      for (int64_t i = first_[at], last = first_[at + 1]; i < last; ++i) {
        const int64_t m = c_at(i + 1) - c_at(i);
        E* const c = static_cast<E*>(args.C) + c_at(i);
        const Row row{A.begin(i), A.end(i)};
        if (laned_[at] != 0 && m <= laned_columns && alpha != E{}) {
          marks = laned(row, A, a, B, b, alpha, beta, m, c, marks);
          continue;
        }
        if (beta == E{})
          std::fill(c, c + m, E{});
        else
          for (int64_t p = 0; p < m; ++p) c[p] = times(beta, c[p]);
        if (alpha == E{}) continue;
        switch (place_bytes(m)) {
          case 1: marks = placed<uint8_t>(row, A, a, B, b, alpha, c, marks); break;
          case 2: marks = placed<uint16_t>(row, A, a, B, b, alpha, c, marks); break;
          default: marks = placed<uint32_t>(row, A, a, B, b, alpha, c, marks);
        }
      }
    });
  }

  bool takes_positions() const override { return true; }

  void describe(Info& info) const override {
    info.add("products", products_);
    info.add("compression", output.nnz == 0 ? 1.0 : static_cast<double>(products_) / static_cast<double>(output.nnz));
    info.add("plan_bytes", static_cast<int64_t>(marks_.bytes() + laned_.size() +
                                                (first_.size() + marks_at_.size()) * sizeof(int64_t)));
  }

 private:
  static constexpr uint32_t absent = std::numeric_limits<uint32_t>::max();

  /// A's values, in order or at their positions.
  struct Factors {
    const E* values;
    const O* positions;
    E operator[](int64_t k) const { return values[at(k)]; }
    int64_t at(int64_t k) const { return positions == nullptr ? k : static_cast<int64_t>(positions[k]); }
    [[gnu::always_inline]] void prefetch(const Pattern& A, int64_t k) const {
      __builtin_prefetch(values + at(std::min(k + 40, A.nnz - 1)));
    }
  };
  /// Entries begin..end-1 of A.
  struct Row {
    int64_t begin, end;
  };
  /// What a chunk's rows are.
  struct Found {
    std::vector<uint32_t> counts;
    std::vector<I> columns;
    std::vector<std::byte> marks;  // of each row: masks for A's entries, or places of the products
    int64_t products = 0;
    bool laned = false;
  };
  /// What a thread works with.
  struct Worker {
    std::vector<uint32_t> places;  // of columns; absent between two rows
    std::vector<I> columns;        // of a row
  };

  /// Bytes of a product's place in a row of so many columns.
  static constexpr size_t place_bytes(int64_t columns) {
    if (columns <= int64_t{std::numeric_limits<uint8_t>::max()} + 1) return 1;
    return columns <= int64_t{std::numeric_limits<uint16_t>::max()} + 1 ? 2 : 4;
  }

  /// The row of B of an entry of A some rows later: neither caches nor processors foresee it. `b`: its values, or null.
  [[gnu::always_inline]] static void prefetch(const Pattern& A, const Pattern& B, const E* b, int64_t k) {
    const int64_t last = A.nnz - 1, next = B.begin(A.column(std::min(k + 40, last)));
    __builtin_prefetch(B.offsets + A.column(std::min(k + 80, last)));
    if (b != nullptr)
      __builtin_prefetch(b + next);
    else
      __builtin_prefetch(B.indices + next);
  }

  /// `masks`: rows of few columns have masks; false where a row of B does not ascend strictly.
  template <bool masks>
  bool find_rows(const Pattern& A, const Pattern& B, int64_t chunk, Worker& worker, Found& found) const {
    found.laned = masks;
    I* const columns = worker.columns.data();
    const int64_t first = first_[static_cast<size_t>(chunk)], last = first_[static_cast<size_t>(chunk) + 1];
    found.counts.reserve(static_cast<size_t>(last - first));
    if (masks) found.marks.reserve(static_cast<size_t>(A.begin(last) - A.begin(first)));
    for (int64_t i = first; i < last; ++i) {
      const Row row{A.begin(i), A.end(i)};
      uint32_t m = 0;
      bool masked = false;
      if constexpr (masks) {
        const auto n = static_cast<size_t>(row.end - row.begin);
        const size_t marks_at = found.marks.size();
        found.marks.resize(marks_at + n);
        std::byte* const marks = found.marks.data() + marks_at;
        const Fit fit = mask_row(row, A, B, columns, m, marks, found.products);
        if (fit == Fit::unordered) return false;
        masked = fit == Fit::masks;
        if (masked)
          sort_masked(columns, m, marks, n);
        else
          found.marks.resize(marks_at);
      }
      if (!masked) m = place_row(row, A, B, worker, found);
      // Few columns without masks: a long row of B that holds columns twice.
      if (masks && !masked && m <= laned_columns) return false;
      found.counts.push_back(m);
      found.columns.insert(found.columns.end(), columns, columns + m);
    }
    return true;
  }

  enum class Fit { masks, longer, unordered };
  /// The columns in the order in which products meet them, and masks of them. Not for more columns than masks have, and
  /// rows of B that do not ascend.
  static Fit mask_row(Row row, Pattern A, Pattern B, I* columns, uint32_t& m, std::byte* marks, int64_t& products) {
    FewColumns<I> known;
    m = 0;
    int64_t sum = 0;
    for (int64_t k = row.begin; k < row.end; ++k) {
      prefetch(A, B, nullptr, k);
      const int64_t j = A.column(k), begin = B.begin(j), count = B.end(j) - begin;
      if (count > laned_columns) return Fit::longer;
      bool ascend = true;
      unsigned mask = known.where(B.indices + begin, count, ascend);
      if (std::popcount(mask) != count) {
        for (int64_t q = begin; q < begin + count; ++q) {
          if (known.where(B.indices[q]) != 0) continue;
          if (m == laned_columns) return Fit::longer;
          mask |= 1u << m;
          known.add(m, B.indices[q]);
          columns[m++] = static_cast<I>(B.column(q));
        }
        ascend &= std::popcount(mask) == count;  // no column twice
      }
      if (!ascend) return Fit::unordered;
      marks[k - row.begin] = static_cast<std::byte>(mask);
      sum += count;
    }
    products += sum;
    return Fit::masks;
  }

  /// The columns in order, and the places of the products.
  static uint32_t place_row(const Row& row, const Pattern& A, const Pattern& B, Worker& worker, Found& found) {
    uint32_t* const places = worker.places.data();
    I* const columns = worker.columns.data();
    uint32_t m = 0;
    int64_t products = 0;
    for (int64_t k = row.begin; k < row.end; ++k) {
      prefetch(A, B, nullptr, k);
      const int64_t begin = B.begin(A.column(k)), end = B.end(A.column(k));
      products += end - begin;
      for (int64_t q = begin; q < end; ++q) {
        uint32_t& place = places[B.column(q)];
        if (place != absent) continue;
        place = 0;
        columns[m++] = static_cast<I>(B.column(q));
      }
    }
    std::sort(columns, columns + m);
    for (uint32_t p = 0; p < m; ++p) places[columns[p]] = p;
    if (place_bytes(m) == 1)
      note_places<uint8_t>(row, A, B, places, products, found.marks);
    else if (place_bytes(m) == 2)
      note_places<uint16_t>(row, A, B, places, products, found.marks);
    else
      note_places<uint32_t>(row, A, B, places, products, found.marks);
    for (uint32_t p = 0; p < m; ++p) places[columns[p]] = absent;
    found.products += products;
    return m;
  }

  /// Puts the columns in order, and the bits of the masks with them.
  static void sort_masked(I* columns, uint32_t m, std::byte* marks, size_t n) {
    if (std::is_sorted(columns, columns + m)) return;
    unsigned bits[laned_columns] = {};  // where each bit goes
    for (uint32_t p = 0; p < m; ++p) {
      uint32_t smaller = 0;
      for (uint32_t q = 0; q < m; ++q) smaller += columns[q] < columns[p] ? 1 : 0;
      bits[p] = 1u << smaller;
    }
    uint8_t low[16] = {}, high[16] = {};  // of four bits together
    for (unsigned set = 1; set < 16; ++set) {
      const int lowest = std::countr_zero(set);
      low[set] = static_cast<uint8_t>(low[set & (set - 1)] | bits[lowest]);
      high[set] = static_cast<uint8_t>(high[set & (set - 1)] | bits[lowest + 4]);
    }
    for (size_t k = 0; k < n; ++k) {
      const auto mask = static_cast<unsigned>(marks[k]);
      marks[k] = static_cast<std::byte>(low[mask & 15] | high[mask >> 4]);
    }
    std::sort(columns, columns + m);
  }

  template <class M>
  static void note_places(const Row& row, const Pattern& A, const Pattern& B, const uint32_t* places, int64_t products,
                          std::vector<std::byte>& marks) {
    const size_t at = marks.size();
    marks.resize(at + static_cast<size_t>(products) * sizeof(M));
    std::byte* to = marks.data() + at;
    for (int64_t k = row.begin; k < row.end; ++k)
      for (int64_t q = B.begin(A.column(k)), end = B.end(A.column(k)); q < end; ++q, to += sizeof(M)) {
        const auto place = static_cast<M>(places[B.column(q)]);
        std::memcpy(to, &place, sizeof(M));
      }
  }

  /// C's pattern and the marks from those of the chunks.
  void gather(const Desc& desc, Queue& queue, std::vector<Found>& found) {
    std::vector<int64_t> starts{0};
    marks_at_.push_back(0);
    for (const Found& f : found) {
      starts.push_back(starts.back() + static_cast<int64_t>(f.columns.size()));
      marks_at_.push_back(marks_at_.back() + static_cast<int64_t>(f.marks.size()));
      laned_.push_back(f.laned ? 1 : 0);
      products_ += f.products;
    }
    allocate_output(desc, starts.back(), output);
    marks_ = host_array<std::byte>(desc.memory, marks_at_.back());
    if (offset_size(output.pair) == 8)
      write<int64_t>(queue, found, starts);
    else
      write<int32_t>(queue, found, starts);
  }

  template <class Q>
  void write(Queue& queue, std::vector<Found>& found, const std::vector<int64_t>& starts) {
    Q* const offsets = output.offsets->template as<Q>();
    deal(queue, static_cast<int64_t>(found.size()), [&](int64_t, int64_t chunk) {
      const auto at = static_cast<size_t>(chunk);
      Found& f = found[at];
      int64_t sum = starts[at], row = first_[at];
      std::copy(f.columns.begin(), f.columns.end(), output.indices->template as<I>() + sum);
      std::copy(f.marks.begin(), f.marks.end(), marks_.as<std::byte>() + marks_at_[at]);
      for (const uint32_t count : f.counts) {
        offsets[row++] = static_cast<Q>(sum);
        sum += count;
      }
      f = {};
    });
    offsets[output.rows] = static_cast<Q>(output.nnz);
  }

  static const std::byte* laned([[maybe_unused]] const Row& row, [[maybe_unused]] const Pattern& A,
                                [[maybe_unused]] const Factors& a, [[maybe_unused]] const Pattern& B,
                                [[maybe_unused]] const E* b, [[maybe_unused]] E alpha, [[maybe_unused]] E beta,
                                [[maybe_unused]] int64_t m, [[maybe_unused]] E* c, const std::byte* marks) {
    if constexpr (V::lanes > 0) {
      const unsigned inside = (1u << m) - 1;
      V sum = beta == E{} ? V::zero() : V::load(c, inside).times(beta);
      for (int64_t k = row.begin; k < row.end; ++k) {
        prefetch(A, B, b, k);
        a.prefetch(A, k);
        sum.add(alpha * a[k], b + B.begin(A.column(k)), static_cast<unsigned>(*marks++));
      }
      sum.store(c, inside);
    }
    return marks;
  }

  template <class M>
  static const std::byte* placed(const Row& row, const Pattern& A, const Factors& a, const Pattern& B, const E* b,
                                 E alpha, E* c, const std::byte* marks) {
    for (int64_t k = row.begin; k < row.end; ++k) {
      prefetch(A, B, b, k);
      a.prefetch(A, k);
      const E with = times(alpha, a[k]);
      for (int64_t q = B.begin(A.column(k)), end = B.end(A.column(k)); q < end; ++q, marks += sizeof(M)) {
        M place;
        std::memcpy(&place, marks, sizeof(M));
        c[place] = plus(c[place], times(with, b[q]));
      }
    }
    return marks;
  }

  std::vector<int64_t> first_;  // rows of chunks, and all rows at the end
  std::vector<int64_t> marks_at_;
  std::vector<uint8_t> laned_;  // for each chunk: short rows have masks
  Buffer marks_;
  int64_t products_ = 0;
};

std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.scalar(), desc.A.pair, [&](auto scalar, auto pair) {
    using P = decltype(pair);
    kernel = std::make_unique<
        RestrictionKernel<Element<typename decltype(scalar)::type>, typename P::ordinal, typename P::offset>>(desc,
                                                                                                              queue);
  });
  return kernel;
}

std::string unsupported(const Desc& desc) {
  if (desc.masked) return "takes no mask: its rows would be computed whole";
  if (desc.A.nnz > desc.A.cols) return "A uses rows of B more than once";
  if (desc.A.nnz < 2 * desc.A.rows) return "A has rows of few entries";
  return desc.cols() > desc.B.rows ? "B has more columns than rows" : "";
}

}  // namespace

extern const Implementation host_restriction_serial, host_restriction_openmp;
const Implementation host_restriction_serial = {{"host_restriction"}, true, unsupported, make};
const Implementation host_restriction_openmp = host_restriction_serial;

}  // namespace kkc::spgemm
