// spgemm, host_restriction: A uses each row of B about once, as the transposes of tentative prolongators do (the second
// half of a Galerkin product). One pass over the products finds C's columns and notes where each product goes; rows
// that are like others but for a shift of all columns share that. Rows of C of up to eight columns keep a mask for each
// entry of A, the columns of its row of B, and are summed in a vector register.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>
#include <variant>
#include <vector>

#include "core/dispatch.hpp"
#include "device/host_bucket_scattered.hpp"
#include "device/host_shared_parts.hpp"
#include "ops/spgemm/spgemm_host_dealt_restriction.hpp"
#include "ops/spgemm/spgemm_host_restriction_line.hpp"
#include "ops/spgemm/spgemm_host_restriction_symbolic.hpp"
#include "ops/spgemm/spgemm_host_steps.hpp"
#include "ops/spgemm/spgemm_host_stored_runs.hpp"

namespace kkc::spgemm {
namespace {

/// Source: where op(A)'s rows come from, TransposedPattern or StoredRuns.
template <class E, class I, class O, class Source>
class RestrictionKernel final : public Kernel {
  using Pattern = HostPatternRef<I, O>;
  using Rows = typename Source::Rows;
  using V = StepVector<E>;
  using Symbolic = RestrictionSymbolic<I, O, Rows, V::expands>;
  using U = std::make_unsigned_t<I>;
  using Found = FoundRows<I>;

 public:
  RestrictionKernel(const Desc& desc, Queue& queue) : source_(desc, queue) {
    const Rows A = source_.rows(desc);
    const Pattern B(desc.B);
    // Several for each thread, of less work where there is little.
    const int64_t work = desc.A.nnz + desc.A.rows, threads = queue.concurrency();
    const int64_t chunks =
        std::clamp<int64_t>(std::max(work / 4096, std::min(work / 512, 8 * threads)), 1, 16 * threads);
    first_.resize(static_cast<size_t>(chunks) + 1);
    kinds_ = host_array<uint32_t>(desc.memory, desc.A.rows);
    const Buffer shifts = host_array<U>(desc.memory, desc.A.rows);
    std::vector<Found> found(static_cast<size_t>(chunks));
    std::vector<ChunkSums> sums(static_cast<size_t>(chunks));
    std::vector<typename Symbolic::Worker> workers(static_cast<size_t>(queue.concurrency()));
    const Symbolic symbolic(A, B);
    found_in_.resize(static_cast<size_t>(chunks));
    deal(queue, chunks, [&](int64_t id, int64_t chunk) {
      const auto at = static_cast<size_t>(chunk);
      const int64_t end = A.first_row(chunks, chunk + 1);
      first_[at] = A.first_row(chunks, chunk);
      if (chunk + 1 == chunks) first_[at + 1] = end;
      const Found& in = symbolic.find(first_[at], end, workers[static_cast<size_t>(id)], kinds_.as<uint32_t>(),
                                      shifts.as<U>(), found[at], sums[at]);
      found_in_[at] = static_cast<uint32_t>(&in - found.data());
    });
    gather(desc, queue, found, sums, shifts.as<U>());
    // By several threads: many small arrays of other threads, or large ones.
    deal(queue, std::max(chunks, threads), [&](int64_t, int64_t at) {
      if (at < chunks) found[static_cast<size_t>(at)] = {};
      if (at < threads) workers[static_cast<size_t>(at)] = {};
    });
  }

  void execute(Queue& queue, const Args& args) override {
    const Pattern B(args.B);
    const Operands x{source_.rows(args),
                     static_cast<const E*>(args.A.values),
                     B,
                     static_cast<const E*>(args.B.values),
                     factor<E>(args.alpha).get(),
                     factor<E>(args.beta).get(),
                     whole_rows(B)};
    auto* const c = static_cast<E*>(args.C);
    deal(queue, static_cast<int64_t>(first_.size()) - 1, [&](int64_t, int64_t chunk) {
      if (offset_size(output.pair) == 8)
        make_rows(chunk, x, output.offsets->template as<int64_t>(), c);
      else
        make_rows(chunk, x, output.offsets->template as<int32_t>(), c);
    });
  }

  bool takes_positions() const override { return true; }

  void describe(Info& info) const override {
    info.add("products", products_);
    info.add("compression", output.nnz == 0 ? 1.0 : static_cast<double>(products_) / static_cast<double>(output.nnz));
    info.add("plan_bytes", static_cast<int64_t>(source_.bytes() + kinds_.bytes() + marks_at_.bytes() + marks_.bytes() +
                                                runs_.bytes() + laned_.size() + found_in_.size() * sizeof(uint32_t) +
                                                (first_.size() + kinds_at_.size()) * sizeof(int64_t)));
    info.add("row_classes", kinds_at_.back());
    info.add("rows_in_classes", output.rows - kinds_at_.back());
  }

 private:
  /// C's pattern and the marks from those of the chunks.
  void gather(const Desc& desc, Queue& queue, std::vector<Found>& found, const std::vector<ChunkSums>& sums,
              const U* shifts) {
    std::vector<int64_t> starts{0}, marks{0};
    kinds_at_.push_back(0);
    for (const ChunkSums& of : sums) {
      starts.push_back(starts.back() + of.entries);
      products_ += of.products;
    }
    for (const Found& f : found) {
      marks.push_back(marks.back() + static_cast<int64_t>(f.marks.size()));
      kinds_at_.push_back(kinds_at_.back() + static_cast<int64_t>(f.kinds.size()));
      laned_.push_back(f.laned ? 1 : 0);
    }
    allocate_output(desc, starts.back(), output);
    marks_ = host_array<std::byte>(desc.memory, marks.back());
    marks_at_ = host_array<int64_t>(desc.memory, kinds_at_.back());
    runs_ = host_array<uint8_t>(desc.memory, kinds_at_.back());
    deal(queue, static_cast<int64_t>(found.size()), [&](int64_t, int64_t chunk) {
      const auto at = static_cast<size_t>(chunk);
      const Found& f = found[at];
      std::copy(f.marks.begin(), f.marks.end(), marks_.as<std::byte>() + marks[at]);
      int64_t* marks_at = marks_at_.as<int64_t>() + kinds_at_[at];
      auto* run = runs_.as<uint8_t>() + kinds_at_[at];
      for (const auto& kind : f.kinds) {
        *marks_at++ = marks[at] + kind.marks_at;
        *run++ = kind.run;
      }
      const Found& of = found[found_in_[at]];
      if (offset_size(output.pair) == 8)
        write<int64_t>(of, chunk, starts[at], shifts);
      else
        write<int32_t>(of, chunk, starts[at], shifts);
    });
  }

  /// A chunk's part of C's pattern.
  template <class Q>
  void write(const Found& found, int64_t chunk, int64_t start, const U* shifts) const {
    Q* const offsets = output.offsets->template as<Q>();
    I* const indices = output.indices->template as<I>();
    const auto* const kinds = kinds_.as<uint32_t>();
    for (int64_t i = first_[static_cast<size_t>(chunk)], last = first_[static_cast<size_t>(chunk) + 1]; i < last; ++i) {
      const auto& kind = found.kinds[kinds[i]];
      offsets[i] = static_cast<Q>(start);
      copy_shifted(found.columns.data() + kind.columns_at, kind.columns, shifts[i], indices + start);
      start += kind.columns;
    }
    if (chunk + 2 == static_cast<int64_t>(first_.size())) offsets[output.rows] = static_cast<Q>(start);
  }

  struct Operands {
    const Rows A;
    const E* const a;
    const Pattern B;
    const E* const b;
    const E alpha, beta;
    const int64_t whole;  // whole_rows()
  };

  /// So many rows of B end where a vector can still be read.
  static int64_t whole_rows(const Pattern& B) {
    if (B.nnz < V::lanes) return 0;
    const O *const ends = B.offsets + 1, last = static_cast<O>(B.nnz - V::lanes + B.base);
    return std::upper_bound(ends, ends + B.rows, last) - ends;
  }

  template <class Q>
  void make_rows(int64_t chunk, const Operands& x, const Q* offsets, E* C) const {
    const auto at = static_cast<size_t>(chunk);
    const size_t in = found_in_[at];
    const auto* const kinds = kinds_.as<uint32_t>();
    const int64_t* const marks_at = marks_at_.as<int64_t>() + kinds_at_[in];
    const uint8_t* const runs = runs_.as<uint8_t>() + kinds_at_[in];
    const bool has_masks = V::expands && laned_[in] != 0 && x.alpha != E{};
    std::conditional_t<makes_lines, RestrictionLine<E>, std::monostate> line;
    for (int64_t i = first_[at], last = first_[at + 1]; i < last; ++i) {
      const int64_t begin = static_cast<int64_t>(offsets[i]), m = static_cast<int64_t>(offsets[i + 1]) - begin;
      const std::byte* const marks = marks_.as<std::byte>() + marks_at[kinds[i]];
      if constexpr (makes_lines)
        if (has_masks && m <= laned_columns) {
          const int64_t rows = make_line(line, i, last, x, m, C + begin, marks, kinds);
          if (rows > 0) {
            i += rows - 1;
            continue;
          }
        }
      if (has_masks && m <= laned_columns)
        laned(i, x, m, C + begin, marks);
      else
        longer(i, x, m, C + begin, marks, runs[kinds[i]]);
    }
  }

  static constexpr bool makes_lines = Rows::stored_runs && V::expands;

  /// Rows from row i on that follow each other along a line; so many, or 0.
  template <class Line>
  [[gnu::noinline]] static int64_t make_line(Line& line, int64_t i, int64_t last, const Operands& x, int64_t m, E* c,
                                             const std::byte* marks, const uint32_t* kinds) {
    constexpr int64_t fewest = Line::shortest - 1;
    if (last - i <= fewest || kinds[i + fewest] != kinds[i] || !line.prepare(x.A, i, marks)) return 0;
    if (x.A.joined(i, unshifted(kinds + i, kinds + i + 1, fewest, 0)) < fewest) return 0;
    int64_t rows = x.A.joined(i, unshifted(kinds + i, kinds + i + 1, last - i - 1, 0)) + 1;
    rows = line.begin(x.A, i, rows, x.whole, x.a, x.b, [&](int64_t j) { return x.B.begin(j); });
    for (int64_t row = 0; row < rows; ++row, c += m) line.make(x.alpha, x.beta, m, c);
    return std::max<int64_t>(rows, 0);
  }

  /// Rows of up to laned_columns columns, in a register.
  static void laned([[maybe_unused]] int64_t i, [[maybe_unused]] const Operands& x, [[maybe_unused]] int64_t m,
                    [[maybe_unused]] E* c, [[maybe_unused]] const std::byte* marks) {
    if constexpr (V::expands) {
      const E *const a = x.a, *const b = x.b, alpha = x.alpha;
      const Pattern& B = x.B;
      const unsigned inside = (1u << m) - 1;
      V sum = x.beta == E{} ? V::zero() : V::load(c, inside).times(x.beta);
      x.A.each_run(i, Ahead<I, O, E, E>{B, b, a}, [&](int64_t j, int64_t k, int64_t rows) {
        const E* from = b + B.begin(j);
        for (const E *factor = a + k, *end = factor + rows; factor < end; ++factor) {
          const auto mask = static_cast<unsigned>(*marks++);
          sum.add(alpha * *factor, from, mask);
          from += std::popcount(mask);
        }
      });
      sum.store(c, inside);
    }
  }

  [[gnu::noinline]] static void longer(int64_t i, const Operands& x, int64_t m, E* c, const std::byte* marks,
                                       uint8_t run) {
    if constexpr (V::expands)
      if (run == wide_masks && x.alpha != E{}) {
        constexpr int most = wide_columns / V::lanes;
        if (m <= most / 2 * V::lanes) return masked(vectors<most / 2>, i, x, m, c, marks);
        return masked(vectors<most>, i, x, m, c, marks);
      }
    if (x.beta == E{})
      std::fill(c, c + m, E{});
    else
      for (int64_t p = 0; p < m; ++p) c[p] = times(x.beta, c[p]);
    if (x.alpha == E{}) return;
    switch (run) {
      case 2: placed<2>(i, x, m, c, marks); break;
      case 3: placed<3>(i, x, m, c, marks); break;
      case 4: placed<4>(i, x, m, c, marks); break;
      default: placed<1>(i, x, m, c, marks);
    }
  }

  template <int count>
  static constexpr std::make_integer_sequence<int, count> vectors{};
  static constexpr unsigned all_lanes = (1u << V::lanes) - 1;

  /// Rows of up to wide_columns columns, in several registers, with a mask of four bytes for each row of B.
  template <int... vector>
  static void masked(std::integer_sequence<int, vector...>, int64_t i, const Operands& x, int64_t m, E* c,
                     const std::byte* marks) {
    const auto inside = [m](int v) {
      return static_cast<unsigned>(((uint64_t{1} << m) - 1) >> (v * V::lanes)) & all_lanes;
    };
    const E *const a = x.a, *const b = x.b, alpha = x.alpha;
    const Pattern& B = x.B;
    V sums[] = {x.beta == E{} ? V::zero() : V::load(c + vector * V::lanes, inside(vector)).times(x.beta)...};
    x.A.each_run(i, Ahead<I, O, E, E, true>{B, b, a}, [&](int64_t j, int64_t k, int64_t rows) {
      const E* from = b + B.begin(j);
      if (j + rows > x.whole) [[unlikely]] {
        std::array<V, sizeof...(vector)> careful = {sums[vector]...};
        add_careful(careful, a + k, rows, from, alpha, marks);
        ((sums[vector] = careful[vector]), ...);
      } else {
        for (int64_t row = 0; row < rows; ++row) {
          const uint32_t mask = mask_of(marks, row);
          const E with = alpha * a[k + row];
          (
              [&] {
                const unsigned lanes = mask >> (vector * V::lanes) & all_lanes;
                if (lanes == 0) return;
                sums[vector].add_spread(with, from, lanes);
                from += std::popcount(lanes);
              }(),
              ...);
        }
      }
      marks += static_cast<size_t>(rows) * sizeof(uint32_t);
    });
    (sums[vector].store(c + vector * V::lanes, inside(vector)), ...);
  }

  /// Reads no entry of B but those of its rows.
  template <size_t count>
  [[gnu::noinline]] static void add_careful(std::array<V, count>& sums, const E* factors, int64_t rows, const E* from,
                                            E alpha, const std::byte* marks) {
    for (int64_t row = 0; row < rows; ++row) {
      uint64_t mask = mask_of(marks, row);
      for (V& sum : sums) {
        const auto lanes = static_cast<unsigned>(mask) & all_lanes;
        sum.add(alpha * factors[row], from, lanes);
        from += std::popcount(lanes);
        mask >>= V::lanes;
      }
    }
  }

  static uint32_t mask_of(const std::byte* marks, int64_t row) {
    uint32_t mask = 0;
    std::memcpy(&mask, marks + static_cast<size_t>(row) * sizeof(mask), sizeof(mask));
    return mask;
  }

  template <int run>
  static void placed(int64_t i, const Operands& x, int64_t m, E* c, const std::byte* marks) {
    switch (place_bytes(m)) {
      case 1: placed<uint8_t, run>(i, x, c, marks); break;
      case 2: placed<uint16_t, run>(i, x, c, marks); break;
      default: placed<uint32_t, run>(i, x, c, marks);
    }
  }
  template <class M, int run>
  static void placed(int64_t i, const Operands& x, E* c, const std::byte* marks) {
    if constexpr (run == 1 && V::expands) return placed_side_by_side<M>(i, x, c, marks);
    constexpr bool long_rows = run > 1;  // of several unknowns
    const E *const a = x.a, *const b = x.b, alpha = x.alpha;
    const Pattern& B = x.B;
    x.A.each_run(i, Ahead<I, O, E, E, long_rows>{B, b, a}, [&](int64_t j, int64_t k, int64_t rows) {
      int64_t q = B.begin(j);
      for (const int64_t last = j + rows; j < last; ++j, ++k) {
        const E with = times(alpha, a[k]);
        for (const int64_t end = B.end(j); q < end; q += run, marks += sizeof(M)) {
          M place;
          std::memcpy(&place, marks, sizeof(M));
          E sums[run];
          for (int t = 0; t < run; ++t) sums[t] = added(with, b[q + t], c[place + t]);
          for (int t = 0; t < run; ++t) c[place + t] = sums[t];
        }
      }
    });
  }

  /// Where rows that are alike have masks, these are rows of their own, whose rows of B are of any short length: what
  /// their products need is put side by side without a loop over each row's entries, whose end the processor would have
  /// to guess.
  template <class M>
  static void placed_side_by_side(int64_t i, const Operands& x, E* c, const std::byte* marks) {
    constexpr int64_t at_once = 8, room = 256;
    const E *const a = x.a, *const b = x.b, alpha = x.alpha;
    const Pattern& B = x.B;
    alignas(64) E factors[room + at_once], values[room + at_once];
    int64_t count = 0;
    const auto add = [&] {
      for (int64_t k = 0; k < count; ++k) {
        M place;
        std::memcpy(&place, marks + static_cast<size_t>(k) * sizeof(M), sizeof(M));
        c[place] = added(factors[k], values[k], c[place]);
      }
      marks += static_cast<size_t>(count) * sizeof(M);
      count = 0;
    };
    x.A.each_run(i, Ahead<I, O, E, E, true>{B, b, a}, [&](int64_t j, int64_t k, int64_t rows) {
      int64_t q = B.begin(j);
      for (const int64_t last = j + rows; j < last; ++j, ++k) {
        const E with = times(alpha, a[k]);
        for (const int64_t end = B.end(j); q < end;) {
          if (count >= room) [[unlikely]]
            add();
          const int64_t some = std::min(end - q, at_once);
          std::fill_n(factors + count, at_once, with);
          if (q + at_once <= B.nnz) [[likely]]
            std::copy_n(b + q, at_once, values + count);
          else
            std::copy_n(b + q, some, values + count);
          count += some;
          q += some;
        }
      }
    });
    add();
  }

  Source source_;
  std::vector<int64_t> first_;      // rows of chunks, and all rows at the end
  std::vector<uint32_t> found_in_;  // of chunks: the one before, or itself, that has its kinds
  std::vector<int64_t> kinds_at_;   // of chunks
  std::vector<uint8_t> laned_;      // for each chunk: short rows have masks
  Buffer kinds_;                    // of each row, among those of its chunk
  Buffer marks_at_, marks_, runs_;  // of each kind
  int64_t products_ = 0;
};

std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.scalar(), desc.A.pair, [&](auto scalar, auto pair) {
    using P = decltype(pair);
    using I = typename P::ordinal;
    using O = typename P::offset;
    using E = Element<typename decltype(scalar)::type>;
    if (desc.stored_A.offsets == nullptr)
      kernel = std::make_unique<RestrictionKernel<E, I, O, TransposedPattern<I, O>>>(desc, queue);
    else if (DealtSample<I, O>::suits(desc.stored_A, desc.B))
      kernel = std::make_unique<DealtRestriction<E, I, O>>(desc, queue);
    else
      kernel = std::make_unique<RestrictionKernel<E, I, O, StoredRuns<I, O>>>(desc, queue);
  });
  return kernel;
}

/// One entry in every row, and products that are dealt or columns in an order in which a counting sort stays within the
/// caches.
bool transposes_itself(const Desc& desc) {
  if (desc.rows_a.shortest != 1 || desc.rows_a.longest != 1) return false;
  bool suits = false;
  dispatch_index_pair(IndexPairs{}, desc.stored_A.pair, [&](auto pair) {
    using I = typename decltype(pair)::ordinal;
    using O = typename decltype(pair)::offset;
    const HostPatternRef<I, O> A(desc.stored_A);
    suits = DealtSample<I, O>::suits(desc.stored_A, desc.B) ||
            !keys_scatter<O>(desc.memory->queue(), A.indices, A.nnz, A.cols);
  });
  return suits;
}

std::string unsupported(const Desc& desc) {
  if (desc.masked) return "takes no mask: its rows would be computed whole";
  if (desc.A.nnz > desc.A.cols) return "A uses rows of B more than once";
  if (desc.A.nnz < 2 * desc.A.rows) return "A has rows of few entries";
  return desc.cols() > desc.B.rows ? "B has more columns than rows" : "";
}

}  // namespace

extern const Implementation host_restriction_serial, host_restriction_openmp;
const Implementation host_restriction_serial = {{"host_restriction"}, true, unsupported, make, transposes_itself};
const Implementation host_restriction_openmp = host_restriction_serial;

}  // namespace kkc::spgemm
