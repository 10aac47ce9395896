// spgemm_jacobi, host_aggregates: B has at most one entry in a row, as tentative prolongators have (Vanek, Mandel,
// Brezina, Computing 56, 1996, section 5: unknowns of one aggregate share a column). A row of C then has a value for
// each aggregate that A's row meets, and each entry of A adds to one of them. The plan keeps which: a place, or for up
// to eight columns a mask with one bit, so that a row is summed in vector registers without a store between two
// additions to one value.
#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "core/dispatch.hpp"
#include "core/matrix_parallel.hpp"
#include "device/host_stream.hpp"
#include "ops/spgemm/spgemm_host_classes.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi_first_row.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi_row.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace kkc::spgemm_jacobi {
namespace {

/// Rows of so few columns have masks.
constexpr int64_t lanes = 8;
/// Rows of so many columns are summed in several copies, so that additions to one value do not wait for each other.
constexpr int64_t copied_columns = 64, copies = 4;

template <class E>
constexpr bool has_masks =
#if defined(__AVX512F__)
    std::is_floating_point_v<E>;
#else
    false;
#endif

/// Bytes of a mark in a row of so many columns.
template <class E>
constexpr size_t mark_bytes(int64_t columns) {
  if (has_masks<E> && columns <= lanes) return 1;
  return columns < std::numeric_limits<uint16_t>::max() ? 2 : 4;
}

#if defined(__AVX512F__)
/// Sums of up to `lanes` columns.
template <class T>
struct Lanes;
template <>
struct Lanes<double> {
  using type = __m512d;
  static type add_product(uint8_t mask, double x, double y, type sum) {
    return _mm512_mask3_fmadd_pd(_mm512_set1_pd(x), _mm512_set1_pd(y), sum, mask);
  }
  static void store(double* c, int64_t m, double scale, type sum, uint8_t own, double b) {
    const auto all = static_cast<__mmask8>((1u << m) - 1);
    _mm512_mask_storeu_pd(c, all,
                          _mm512_fmadd_pd(_mm512_set1_pd(scale), sum, _mm512_maskz_mov_pd(own, _mm512_set1_pd(b))));
  }
};
template <>
struct Lanes<float> {
  using type = __m512;
  static type add_product(uint8_t mask, float x, float y, type sum) {
    return _mm512_mask3_fmadd_ps(_mm512_set1_ps(x), _mm512_set1_ps(y), sum, mask);
  }
  static void store(float* c, int64_t m, float scale, type sum, uint8_t own, float b) {
    const auto all = static_cast<__mmask16>((1u << m) - 1);
    _mm512_mask_storeu_ps(c, all,
                          _mm512_fmadd_ps(_mm512_set1_ps(scale), sum, _mm512_maskz_mov_ps(own, _mm512_set1_ps(b))));
  }
};
#endif

/// A mark in memory of any alignment.
template <class M>
M mark_at(const std::byte* marks, int64_t k) {
  M mark;
  std::memcpy(&mark, marks + static_cast<size_t>(k) * sizeof(M), sizeof(M));
  return mark;
}

template <class E, class I, class O>
class AggregatesKernel final : public Kernel {
  using Pattern = HostPatternRef<I, O>;
  /// Entry of B's row without an entry.
  template <class M>
  static constexpr M none = std::numeric_limits<M>::max();

 public:
  AggregatesKernel(const Desc& desc, Queue& queue) : full_(desc.product.B.nnz == desc.product.B.rows) {
    const Pattern A(desc.product.A), B(desc.product.B);
    const int64_t chunks = std::max<int64_t>(1, std::min<int64_t>(16 * queue.concurrency(), (A.nnz + A.rows) / 4096));
    for (int64_t chunk = 0; chunk <= chunks; ++chunk) first_.push_back(A.first_row(chunks, chunk));
    std::vector<Found> found(static_cast<size_t>(chunks));
    const FirstRow missing;
    std::vector<Worker> workers(static_cast<size_t>(queue.concurrency()));
    spgemm::deal(queue, chunks, [&](int64_t id, int64_t chunk) {
      Worker& worker = workers[static_cast<size_t>(id)];
      if (worker.places.empty()) worker.places.assign(static_cast<size_t>(B.cols), none<uint32_t>);
      const int64_t bad = find(A, B, first_row(chunk), first_row(chunk + 1), worker, found[static_cast<size_t>(chunk)]);
      if (bad >= 0) missing.note(bad);
    });
    refuse_missing(desc.product.A, missing.value());
    gather(desc, queue, found);
  }

  void execute(Queue& queue, const Args& args) override {
    const FirstRow zeros;
    if (full_)
      run<true>(queue, args, zeros);
    else
      run<false>(queue, args, zeros);
    refuse_zero_diagonal(zeros);
  }

  OutputPattern& output() override { return output_; }
  void describe(Info& info) const override {
    info.add("products", products_);
    info.add("plan_bytes", static_cast<int64_t>(marks_.bytes() + (first_.size() + marks_at_.size()) * sizeof(int64_t)));
  }

 private:
  /// What a chunk's rows are.
  struct Found {
    std::vector<uint32_t> counts;
    std::vector<I> columns;
    std::vector<std::byte> marks;  // of each row: of B's own row, then of A's entries
    int64_t products = 0;
  };

  int64_t first_row(int64_t chunk) const { return first_[static_cast<size_t>(chunk)]; }

  /// A row's columns, its marks, and what they follow from: the aggregates of B's own row and of A's entries, relative
  /// to the first of them. On grids a few such rows come again and again.
  struct Known {
    std::vector<int64_t> from, columns;
    std::vector<std::byte> marks;
  };
  static constexpr size_t known_rows = 256;
  static constexpr int64_t longest_known = 256;

  /// What a thread works with.
  struct Worker {
    std::vector<uint32_t> places;     // of columns; none between two rows
    std::vector<int64_t> aggregates;  // of B's own row and of A's entries; -1: no entry
    std::vector<Known> known = std::vector<Known>(known_rows);
    Known one;  // a row that is not kept
  };

  /// Returns the first row without a diagonal entry, or -1.
  int64_t find(const Pattern& A, const Pattern& B, int64_t first, int64_t last, Worker& worker, Found& found) const {
    for (int64_t i = first; i < last; ++i) {
      const int64_t begin = A.begin(i), n = A.end(i) - begin;
      worker.aggregates.resize(static_cast<size_t>(n) + 1);
      int64_t* const aggregates = worker.aggregates.data();
      const auto aggregate = [&](int64_t j) {
        return full_ ? B.column(j) : B.begin(j) < B.end(j) ? B.column(B.begin(j)) : -1;
      };
      aggregates[0] = aggregate(i);
      bool diagonal = false;
      for (int64_t k = 0; k < n; ++k) {
        const int64_t j = A.column(begin + k);
        diagonal |= j == i;
        aggregates[k + 1] = aggregate(j);
      }
      if (!diagonal) return i;
      // Rows of B without an entry have no distance to others.
      const bool shifted = full_ && n <= longest_known;
      const int64_t origin = shifted ? aggregates[0] : 0;
      Known* row = &worker.one;
      if (shifted) {
        uint64_t hash = 0;
        for (int64_t k = 0; k <= n; ++k) {
          aggregates[k] -= origin;
          hash = (hash ^ static_cast<uint64_t>(aggregates[k])) * 0x9e3779b97f4a7c15u;
        }
        row = &worker.known[(hash >> 48) % known_rows];
      }
      if (!shifted || row->from != worker.aggregates) describe_row(worker, origin, *row);
      for (int64_t k = 0; k <= n; ++k) found.products += k > 0 && aggregates[k] + origin >= 0 ? 1 : 0;
      const size_t at = found.columns.size();
      found.columns.resize(at + row->columns.size());
      for (size_t p = 0; p < row->columns.size(); ++p) found.columns[at + p] = static_cast<I>(row->columns[p] + origin);
      found.marks.insert(found.marks.end(), row->marks.begin(), row->marks.end());
      found.counts.push_back(static_cast<uint32_t>(row->columns.size()));
    }
    return -1;
  }

  /// The row of worker.aggregates, which count from `origin`.
  static void describe_row(Worker& worker, int64_t origin, Known& row) {
    row.from = worker.aggregates;
    row.columns.clear();
    uint32_t* const places = worker.places.data() + origin;
    for (const int64_t g : row.from) {
      if (g + origin < 0 || places[g] != none<uint32_t>) continue;
      places[g] = 0;
      row.columns.push_back(g);
    }
    std::sort(row.columns.begin(), row.columns.end());
    for (size_t place = 0; place < row.columns.size(); ++place)
      places[row.columns[place]] = static_cast<uint32_t>(place);
    const size_t each = row.columns.empty() ? 0 : mark_bytes<E>(static_cast<int64_t>(row.columns.size()));
    row.marks.resize(each * row.from.size());
    std::byte* to = row.marks.data();
    for (const int64_t g : row.from) {
      const uint32_t place = g + origin < 0 ? none<uint32_t> : places[g];
      const auto narrow = static_cast<uint16_t>(place);
      const auto mask = static_cast<uint8_t>(place < lanes ? 1u << place : 0);
      const void* mark = &place;
      if (each == 1) mark = &mask;
      if (each == 2) mark = &narrow;
      std::memcpy(to, mark, each);
      to += each;
    }
    for (const int64_t g : row.columns) places[g] = none<uint32_t>;
  }

  /// C's pattern and the marks from those of the chunks.
  void gather(const Desc& desc, Queue& queue, std::vector<Found>& found) {
    std::vector<int64_t> starts{0};
    marks_at_.push_back(0);
    products_ = 0;
    for (const Found& f : found) {
      starts.push_back(starts.back() + static_cast<int64_t>(f.columns.size()));
      marks_at_.push_back(marks_at_.back() + static_cast<int64_t>(f.marks.size()));
      products_ += f.products;
    }
    output_.pair = desc.product.pair;
    output_.scalar = desc.product.scalar();
    output_.rows = desc.product.A.rows;
    output_.cols = desc.product.B.cols;
    output_.nnz = starts.back();
    require_countable(output_.cols, output_.nnz, output_.pair, "C");
    const auto array = [&](int64_t count, size_t each) {
      return std::make_shared<const Buffer>(desc.product.memory, Space::host, static_cast<size_t>(count) * each);
    };
    output_.offsets = array(output_.rows + 1, offset_size(output_.pair));
    output_.indices = array(output_.nnz, sizeof(I));
    marks_ = host_array<std::byte>(desc.product.memory, marks_at_.back());
    if (offset_size(output_.pair) == 8)
      write<int64_t>(queue, found, starts);
    else
      write<int32_t>(queue, found, starts);
  }

  template <class Q>
  void write(Queue& queue, std::vector<Found>& found, const std::vector<int64_t>& starts) {
    Q* const offsets = output_.offsets->template as<Q>();
    spgemm::deal(queue, static_cast<int64_t>(found.size()), [&](int64_t, int64_t chunk) {
      Found& f = found[static_cast<size_t>(chunk)];
      int64_t sum = starts[static_cast<size_t>(chunk)], row = first_row(chunk);
      std::copy(f.columns.begin(), f.columns.end(), output_.indices->template as<I>() + sum);
      std::copy(f.marks.begin(), f.marks.end(), marks_.as<std::byte>() + marks_at_[static_cast<size_t>(chunk)]);
      for (const uint32_t count : f.counts) {
        offsets[row++] = static_cast<Q>(sum);
        sum += count;
      }
      f = {};
    });
    offsets[output_.rows] = static_cast<Q>(output_.nnz);
  }

  /// A row of A with what belongs to it.
  struct Row {
    const E* a;
    const I* columns;
    int64_t n, base;
    const std::byte* marks;
    int64_t column(int64_t k) const { return static_cast<int64_t>(columns[k]) - base; }
  };

  /// B's entry in row j; any where there is none.
  template <bool full>
  static E entry(const Pattern& B, const E* b, int64_t j) {
    if constexpr (full) return b[j];
    return b[std::min(B.begin(j), B.nnz - 1)];
  }

  template <bool full>
  void run(Queue& queue, const Args& args, const FirstRow& zeros) const {
    const Pattern A(args.A), B(args.B);
    const auto *a = static_cast<const E*>(args.A.values), *b = static_cast<const E*>(args.B.values);
    const auto* inverse = static_cast<const E*>(args.inverse);
    const E omega = factor<E>(args.omega).get();
    E* const c = static_cast<E*>(args.C);
    const CsrRef C = output_.ref();
    const bool wide = offset_size(C.pair) == 8,
               streamed = C.nnz * static_cast<int64_t>(sizeof(E)) >= stream_threshold_bytes;
    const auto start = [&](int64_t i) {
      return wide ? static_cast<const int64_t*>(C.offsets)[i] : int64_t{static_cast<const int32_t*>(C.offsets)[i]};
    };
    spgemm::deal(queue, static_cast<int64_t>(first_.size()) - 1, [&](int64_t, int64_t chunk) {
      const std::byte* marks = marks_.as<std::byte>() + marks_at_[static_cast<size_t>(chunk)];
      // Rows leave a block that stays in the innermost cache together.
      constexpr int64_t room = 8192 / sizeof(E);
      alignas(cache_line) E block[room];
      int64_t filled = 0, from = start(first_row(chunk));
      for (int64_t i = first_row(chunk), last = first_row(chunk + 1); i < last; ++i) {
        const int64_t begin = A.begin(i), at = start(i), m = start(i + 1) - at;
        const Row row{a + begin, A.indices + begin, A.end(i) - begin, A.base, marks};
        E scale{};
        if (inverse != nullptr) {
          scale = inverse[i * args.inverse_stride];
        } else {
          E d{};
          for (int64_t k = 0; k < row.n; ++k)
            if (row.column(k) == i) d = plus(d, row.a[k]);
          if (d == E{}) zeros.note(i);
          scale = inverse_of(d);
        }
        scale = jacobi_scale(omega, scale);
        if (m == 0) continue;
        const bool direct = !streamed || m > room;
        if (!direct && filled + m > room) {
          stream_out(c + from, block, static_cast<size_t>(filled) * sizeof(E));
          filled = 0;
        }
        if (filled == 0) from = at;
        E* const to = direct ? c + at : block + filled;
        if (direct && filled > 0) {
          stream_out(c + from, block, static_cast<size_t>(filled) * sizeof(E));
          filled = 0;
        }
        const size_t each = mark_bytes<E>(m);
        if (each == 1)
          masked<full>(row, B, b, i, scale, m, to);
        else if (each == 2)
          placed<full, uint16_t>(row, B, b, i, scale, m, to);
        else
          placed<full, uint32_t>(row, B, b, i, scale, m, to);
        marks += each * static_cast<size_t>(row.n + 1);
        if (!direct) filled += m;
      }
      stream_out(c + from, block, static_cast<size_t>(filled) * sizeof(E));
      if (streamed) stream_fence();
    });
  }

  /// C's row is B's own plus scale times the sums.
  template <bool full, class M>
  static void placed(const Row& row, const Pattern& B, const E* b, int64_t i, E scale, int64_t m, E* c) {
    E copied[copies][copied_columns];
    const bool several = m <= copied_columns;
    if (several)
      for (auto& sums : copied) std::fill(sums, sums + m, E{});
    else
      std::fill(c, c + m, E{});
    const auto add = [&](int64_t k, E* sums) {
      const M place = mark_at<M>(row.marks, k + 1);
      if (!full && place == none<M>) return;
      sums[place] = plus(sums[place], times(row.a[k], entry<full>(B, b, row.column(k))));
    };
    int64_t k = 0;
    if (several)
      for (; k + copies <= row.n; k += copies)
        for (int64_t copy = 0; copy < copies; ++copy) add(k + copy, copied[copy]);
    for (; k < row.n; ++k) add(k, several ? copied[0] : c);
    for (int64_t p = 0; several && p < m; ++p)
      c[p] = plus(plus(copied[0][p], copied[1][p]), plus(copied[2][p], copied[3][p]));
    for (int64_t p = 0; p < m; ++p) c[p] = times(scale, c[p]);
    if (const M own = mark_at<M>(row.marks, 0); own != none<M>) c[own] = plus(c[own], entry<full>(B, b, i));
  }

  template <bool full>
  static void masked(const Row& row, const Pattern& B, const E* b, int64_t i, E scale, int64_t m, E* c) {
#if defined(__AVX512F__)
    if constexpr (has_masks<E>) {
      using V = Lanes<E>;
      const auto* marks = reinterpret_cast<const uint8_t*>(row.marks);
      typename V::type sums[copies] = {};
      const auto add = [&](int64_t k, typename V::type& sum) {
        sum = V::add_product(marks[k + 1], row.a[k], entry<full>(B, b, row.column(k)), sum);
      };
      int64_t k = 0;
      for (; k + copies <= row.n; k += copies)
        for (int64_t copy = 0; copy < copies; ++copy) add(k + copy, sums[copy]);
      for (int64_t copy = 0; k < row.n; ++k, ++copy) add(k, sums[copy]);
      V::store(c, m, scale, (sums[0] + sums[1]) + (sums[2] + sums[3]), marks[0], entry<full>(B, b, i));
    }
#endif
  }

  bool full_;                   // every row of B has its entry
  std::vector<int64_t> first_;  // rows of chunks, and all rows at the end
  std::vector<int64_t> marks_at_;
  Buffer marks_;
  int64_t products_ = 0;
  OutputPattern output_;
};

std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.product.scalar(), desc.product.A.pair, [&](auto scalar, auto pair) {
    using P = decltype(pair);
    kernel = std::make_unique<
        AggregatesKernel<Element<typename decltype(scalar)::type>, typename P::ordinal, typename P::offset>>(desc,
                                                                                                             queue);
  });
  return kernel;
}

std::string unsupported(const Desc& desc) {
  if (!desc.product_name.empty()) return "option \"product\" names an implementation of spgemm";
  if (desc.product.rows_b.longest > 1) return "B has rows of several entries";
  return desc.product.B.cols > desc.product.B.rows ? "B has more columns than rows" : "";
}

}  // namespace

extern const Implementation host_aggregates_serial, host_aggregates_openmp;
const Implementation host_aggregates_serial = {{"host_aggregates"}, true, unsupported, make};
const Implementation host_aggregates_openmp = host_aggregates_serial;

}  // namespace kkc::spgemm_jacobi
