// ilut, gpu_sweeps: ParILUT (Anzt et al., "ParILUT - a parallel threshold ILU for GPUs", IPDPS 2019) step for step as
// the reference does it: sweeps take the values of the sweep before, so that every run gives the same bits. Candidates
// are sorted unions of rows, thresholds come from counts of sizes by their first and second byte (a radix select).
// Candidates are bounded as the reference bounds them, but nothing is done for that where no row has so many.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "core/dispatch.hpp"
#include "device/gpu_bucket.hpp"
#include "device/gpu_rows.hpp"
#include "device/gpu_scan.hpp"
#include "ilut_gpu_bound_kernels.hpp"
#include "ilut_gpu_kernels.hpp"
#include "ops/ilu_pattern/ilu_pattern_gpu_rows.hpp"
#include "ops/ilut/ilut.hpp"

namespace kkc::ilut {
namespace gpu_parts {

using ilu_pattern::gpu_parts::DeviceRows;
using ilu_pattern::gpu_parts::RowUnions;

template <class E, class I, class O>
class SweepsKernel final : public Kernel {
 public:
  explicit SweepsKernel(const Desc& desc)
      : start_(desc.start),
        rule_(desc.pivots),
        fill_(desc.fill),
        iterations_(desc.iterations),
        sweeps_(desc.sweeps),
        pair_(desc.A.pair),
        scalar_(desc.A.scalar),
        rows_(desc.A.rows),
        memory_(desc.memory) {}

  Factors execute(Queue& queue, const CsrRef& A) override { return Run(*this, queue).factors(A); }

 private:
  // Rows of L of more than so many times the candidates of a row: sweeps go along them or along U's column.
  static constexpr int64_t long_row_factor = 4;
  static constexpr int64_t blocks_of_long_rows = 4096;
  // Rows of U of more than so many times what they offer are copied without what they withhold.
  static constexpr int64_t scan_costs = 16;
  // Candidates that are stored at once: so many times the entries of A and of the factors, or so many.
  static constexpr int64_t stored_factor = 16, stored_at_least = int64_t{1} << 22;

  /// Rows of L that are longer than that, and the factors by columns.
  struct LongRows {
    Buffer list, column_offsets, column_places, column_rows;
    int64_t count;
  };
  /// L left of the diagonal, U from it on.
  struct Entries {
    DeviceRows<I> rows;
    Buffer row_of, values;
    RowSizes sizes{};
    mutable std::shared_ptr<const LongRows> long_rows;  // made when they are needed
  };
  /// Candidates would take too much memory at once.
  struct TooMany {};

  class Run {
   public:
    Run(const SweepsKernel& kernel, Queue& queue)
        : k_(kernel), queue_(queue), unions_(queue, kernel.memory_, kernel.rows_) {}

    Factors factors(const CsrRef& A) {
      take_start(A);
      Entries f = first();
      const auto lower = static_cast<int64_t>(f.sizes.lower);
      const int64_t most_L = most(lower), most_U = most(f.rows.nnz - lower - k_.rows_);
      of_row_ = most_candidates(std::max(most_L, most_U), k_.rows_);
      if (longest_U(f) > of_row_) f.sizes = measured(excess(f.rows.view(), {}, of_row_));
      for (int32_t k = 0; k < k_.iterations_; ++k) {
        f = with_candidates(f);
        sweep(f);
        drop(f, most_L, most_U);
        sweep(f);
      }
      for (int32_t k = 0; k < k_.sweeps_; ++k) sweep(f);
      refuse(f);
      return split(f);
    }

   private:
    template <class T>
    Buffer array(int64_t count) const {
      return Buffer(Memory::in_order(k_.memory_), Space::device, static_cast<size_t>(count) * sizeof(T));
    }
    template <class T>
    std::shared_ptr<const Buffer> shared(int64_t count) const {
      return shared_array<T>(k_.memory_, Space::device, count);
    }
    Buffer rows_of(const DeviceRows<I>& rows) const {
      Buffer row_of = array<I>(rows.nnz);
      gpu::expand_rows(queue_, rows.offsets->template as<const int64_t>(), 0, rows.rows, rows.nnz,
                       row_of.template as<I>());
      return row_of;
    }
    int64_t most(int64_t entries) const {
      const double bound = std::floor(k_.fill_ * static_cast<double>(entries));
      return bound < 9e18 ? static_cast<int64_t>(bound) : INT64_MAX;
    }

    /// A's values, shifted, on the start pattern.
    void take_start(const CsrRef& A) {
      const int64_t n = k_.rows_, nnz = k_.start_.nnz;
      a_.rows.rows = n;
      a_.rows.nnz = nnz;
      a_.rows.offsets = widened(*k_.start_.offsets, n + 1);
      a_.rows.diagonal = widened(*k_.start_.diagonal, n);
      a_.rows.columns = k_.start_.indices;
      a_.row_of = rows_of(a_.rows);
      a_.values = array<E>(nnz);
      gpu::launch_over(queue_, nnz,
                       PickValues<E, O>{ilu_pattern::ValueSource<O>(k_.start_), static_cast<const E*>(A.values), nnz,
                                        a_.values.template as<E>()});
      gpu::launch_over(
          queue_, n,
          ShiftDiagonal<E>{a_.rows.view().diagonal, n, ilu::from_real<E>(k_.rule_.shift), a_.values.template as<E>()});
    }
    std::shared_ptr<const Buffer> widened(const Buffer& from, int64_t count) const {
      auto to = shared<int64_t>(count);
      gpu::launch_over(queue_, count,
                       ilu_pattern::gpu_parts::Convert<int64_t, O>{from.as<O>(), count, to->template as<int64_t>()});
      return to;
    }

    static int64_t longest_U(const Entries& f) { return static_cast<int64_t>(f.sizes.longest[1]); }
    int64_t long_row() const { return long_row_factor * of_row_; }

    Entries first() const {
      Entries f;
      f.rows = a_.rows;
      f.row_of = rows_of(a_.rows);
      f.values = array<E>(a_.rows.nnz);
      f.sizes = measured(excess(f.rows.view(), {}, 0));
      gpu::launch_over(queue_, f.rows.nnz,
                       FirstFactors<E, I>{a_.rows.view(), a_.values.template as<E>(), f.row_of.template as<I>(),
                                          f.rows.nnz, k_.rule_, f.values.template as<E>()});
      return f;
    }

    /// New values on the pattern of `to`, which may be that of f. With own and withheld: see SweepArrays.
    Buffer swept(const Entries& f, const DeviceRows<I>& to, const Buffer& row_of, const uint8_t* own = nullptr,
                 const uint8_t* withheld = nullptr) const {
      Buffer values = array<E>(to.nnz);
      const SweepArrays<E, I> arrays{a_.rows.view(),
                                     f.rows.view(),
                                     a_.values.template as<E>(),
                                     f.values.template as<E>(),
                                     to.columns->template as<I>(),
                                     row_of.template as<I>(),
                                     to.nnz,
                                     k_.rule_,
                                     values.template as<E>(),
                                     own,
                                     withheld};
      const bool has_long = static_cast<int64_t>(f.sizes.longest[0]) > long_row();
      if (!has_long && withheld == nullptr) {
        gpu::launch_over(queue_, to.nnz, Sweep<E, I, false>{arrays, 0});
        return values;
      }
      gpu::launch_over(queue_, to.nnz, Sweep<E, I, true>{arrays, long_row()});
      if (!has_long) return values;
      const LongRows& rows = long_rows(f);
      const auto blocks = std::max<int64_t>(1, blocks_of_long_rows / rows.count);
      using Kernel = SweepLong<E, I>;
      gpu::launch(queue_, gpu::blocks_for(rows.count * blocks, 1), Kernel::threads, 0,
                  Kernel{arrays, to.offsets->template as<int64_t>(), rows.list.template as<int64_t>(),
                         static_cast<unsigned>(blocks), rows.column_offsets.template as<int64_t>(),
                         rows.column_places.template as<int64_t>(), rows.column_rows.template as<I>()});
      return values;
    }
    void sweep(Entries& f) const { f.values = swept(f, f.rows, f.row_of); }

    const LongRows& long_rows(const Entries& f) const {
      if (f.long_rows) return *f.long_rows;
      auto made = std::make_shared<LongRows>();
      made->list = listed(excess(f.rows.view(), {}, long_row()), 0, 0, &made->count);
      made->column_offsets = array<int64_t>(k_.rows_ + 1);
      made->column_places = array<int64_t>(f.rows.nnz);
      made->column_rows = array<I>(f.rows.nnz);
      gpu::bucket(queue_, k_.memory_, f.rows.columns->template as<const I>(), 0, k_.rows_, f.rows.nnz,
                  made->column_offsets.template as<int64_t>(), made->column_places.template as<int64_t>());
      gpu::pick(queue_, f.row_of.template as<const I>(), made->column_places.template as<const int64_t>(), f.rows.nnz,
                made->column_rows.template as<I>(), I{0});
      f.long_rows = std::move(made);
      return *f.long_rows;
    }

    static Excess<I> excess(const RowsView<I>& rows, const std::array<RowsView<I>, 2>& known, int64_t most) {
      return {rows, {known[0], known[1]}, most};
    }
    RowSizes measured(const Excess<I>& excess) const {
      const Buffer sizes = array<RowSizes>(1);
      gpu::clear_words(queue_, sizes.data(), sizes.bytes());
      using Measure = MeasureRows<I>;
      gpu::launch(queue_, std::min(gpu::blocks_for(k_.rows_, Measure::threads), 1024u), Measure::threads, 0,
                  Measure{excess, k_.rows_, sizes.as<RowSizes>()});
      return gpu::read_back<RowSizes>(queue_, sizes.data());
    }
    /// The triangles first..last of rows for which excess is, see ListRows.
    Buffer listed(const Excess<I>& excess, int first, int last, int64_t* count = nullptr) const {
      const Buffer counted = array<unsigned long long>(1);
      gpu::clear_words(queue_, counted.data(), counted.bytes());
      Buffer list = array<int64_t>(k_.rows_ * (last - first + 1));
      gpu::launch_over(
          queue_, k_.rows_,
          ListRows<I>{excess, k_.rows_, first, last, list.template as<int64_t>(), counted.as<unsigned long long>()});
      if (count != nullptr) *count = static_cast<int64_t>(gpu::read_back<unsigned long long>(queue_, counted.data()));
      return list;
    }
    /// Of the `count` triangles first..1 of rows of f for which excess is: marks their own entries and the largest
    /// others as kept, the rest as 1 - kept.
    void mark_largest(const Entries& f, const Excess<I>& excess, int first, unsigned long long count,
                      const uint8_t* own, uint8_t kept, uint8_t* marks) const {
      const Buffer list = listed(excess, first, 1);
      using Kernel = MarkLargest<E, I>;
      gpu::launch(queue_, gpu::blocks_for(static_cast<int64_t>(count), 1), Kernel::threads, 0,
                  Kernel{f.rows.view(), f.values.template as<E>(), own, list.template as<int64_t>(),
                         static_cast<unsigned>(excess.most), kept, marks});
    }
    Buffer bytes(int64_t count, uint8_t value) const {
      Buffer made = array<uint8_t>(count);
      gpu::launch_over(queue_, count, FillBytes{made.template as<uint8_t>(), count, value});
      return made;
    }
    void mark_own(const Entries& f, const Excess<I>& known, uint8_t* own, uint8_t* keep) const {
      gpu::launch_over(
          queue_, f.rows.nnz,
          MarkOwn<I>{known, f.rows.columns->template as<I>(), f.row_of.template as<I>(), f.rows.nnz, own, keep});
    }

    /// A sweep over the entries of f and A and over the largest `of_row_` that L U has beside them in each row of
    /// either triangle, long rows of U giving their largest only.
    Entries with_candidates(const Entries& f) const {
      Buffer withheld;  // of f's entries
      if (longest_U(f) > of_row_) {
        withheld = bytes(f.rows.nnz, 0);
        mark_largest(f, excess(f.rows.view(), {}, of_row_), 1, f.sizes.long_U, nullptr, 0,
                     withheld.template as<uint8_t>());
      }
      if (longest_U(f) <= scan_costs * of_row_) {
        try {
          RowsView<I> offering = f.rows.view();
          offering.levels = withheld.template as<uint8_t>();  // fill comes of entries of level 0
          Entries to;
          to.rows = united(f, offering, a_.rows.view(), 0);
          to.row_of = rows_of(to.rows);
          return bounded(f, std::move(to), {f.rows.view(), a_.rows.view()}, withheld);
        } catch (const TooMany&) {
        }
      }
      return with_candidates_in_pieces(f, withheld);
    }

    /// The same from copies of U's rows without what they withhold; candidates of some rows join what earlier rows got.
    Entries with_candidates_in_pieces(const Entries& f, const Buffer& withheld) const {
      const int64_t n = k_.rows_;
      const DeviceRows<I> own = unions_.make({f.rows.view(), a_.rows.view(), false, 0}, false, [](int64_t) {});
      const Buffer keep = array<uint8_t>(f.rows.nnz);
      Entries to;
      to.rows = own;
      for (int64_t begin = 0, step = n; begin < n;) {
        const int64_t end = std::min(n, begin + step);
        gpu::launch_over(queue_, f.rows.nnz,
                         KeepOffered<I>{f.rows.columns->template as<I>(), f.row_of.template as<I>(), f.rows.nnz, begin,
                                        end, withheld.template as<uint8_t>(), keep.as<uint8_t>()});
        const Entries from = compacted(f, keep);
        Entries next;
        try {
          next.rows = united(f, from.rows.view(), to.rows.view(), end - begin == 1 ? -1 : to.rows.nnz);
        } catch (const TooMany&) {
          step = (end - begin + 1) / 2;
          continue;
        }
        next.row_of = rows_of(next.rows);
        to = bounded(f, std::move(next), {own.view(), {}}, withheld);
        begin = end;
      }
      return to;
    }

    /// Values of the entries `to`, and of those that the `known` matrices lack only the largest of each row.
    Entries bounded(const Entries& f, Entries to, const std::array<RowsView<I>, 2>& known,
                    const Buffer& withheld) const {
      const Excess<I> over = excess(to.rows.view(), known, of_row_);
      to.sizes = measured(over);
      const bool limits = withheld.data() != nullptr;
      Buffer own, keep;
      if (limits) {
        own = array<uint8_t>(to.rows.nnz);
        mark_own(to, over, own.template as<uint8_t>(), nullptr);
      }
      to.values = swept(f, to.rows, to.row_of, own.template as<uint8_t>(), withheld.template as<uint8_t>());
      if (to.sizes.over == 0) return to;
      if (limits) {
        keep = bytes(to.rows.nnz, 1);
      } else {
        own = array<uint8_t>(to.rows.nnz);
        keep = array<uint8_t>(to.rows.nnz);
        mark_own(to, over, own.template as<uint8_t>(), keep.template as<uint8_t>());
      }
      mark_largest(to, over, 0, to.sizes.over, own.template as<uint8_t>(), 1, keep.template as<uint8_t>());
      return compacted(to, keep);
    }
    /// Columns of `more` and of products of `from`; throws TooMany where they are too many beside `expected`, unless
    /// that is negative.
    DeviceRows<I> united(const Entries& f, const RowsView<I>& from, const RowsView<I>& more, int64_t expected) const {
      const int64_t most = expected + std::max(stored_at_least, stored_factor * (f.rows.nnz + a_.rows.nnz));
      return unions_.make({from, more, false, 1}, false, [&](int64_t entries) {
        if (expected >= 0 && entries > most) throw TooMany{};
      });
    }
    /// Keeps the largest entries, at most so many of each triangle, and the diagonal.
    void drop(Entries& f, int64_t most_L, int64_t most_U) const {
      const auto lower = static_cast<int64_t>(f.sizes.lower);
      if (lower <= most_L && f.rows.nnz - lower - k_.rows_ <= most_U) return;
      const Buffer counts = array<unsigned long long>(2 * 512), sizes = array<LeastSizes>(1),
                   keep = array<uint8_t>(f.rows.nnz);
      gpu::clear_words(queue_, counts.data(), counts.bytes());
      const E* const values = f.values.template as<E>();
      const I *const columns = f.rows.columns->template as<I>(), *const row_of = f.row_of.template as<I>();
      using Count = CountSizes<E, I>;
      for (const bool second : {false, true}) {
        auto* const counted = counts.as<unsigned long long>() + (second ? 512 : 0);
        gpu::launch(queue_, std::min(gpu::blocks_for(f.rows.nnz, Count::threads * 16), 2048u), Count::threads, 0,
                    Count{values, columns, row_of, f.rows.nnz, second ? sizes.as<LeastSizes>() : nullptr, counted});
        gpu::launch(queue_, 1, ChooseSizes::threads, 0,
                    ChooseSizes{counted,
                                {static_cast<unsigned long long>(most_L), static_cast<unsigned long long>(most_U)},
                                second,
                                sizes.as<LeastSizes>()});
      }
      gpu::launch_over(queue_, f.rows.nnz,
                       MarkKept<E, I>{values, columns, row_of, f.rows.nnz, sizes.as<LeastSizes>(), keep.as<uint8_t>()});
      f = compacted(f, keep);
    }

    /// The entries with keep[p] = 1, among them the diagonal.
    Entries compacted(const Entries& f, const Buffer& keep) const {
      const int64_t count = f.rows.nnz, n = k_.rows_;
      const Buffer places = array<int64_t>(count + 1);
      gpu::exclusive_scan(queue_, keep.as<uint8_t>(), places.as<int64_t>(), count);
      Entries to;
      to.rows.rows = n;
      to.rows.offsets = shared<int64_t>(n + 1);
      to.rows.diagonal = shared<int64_t>(n);
      const RowsView<I> from = f.rows.view();
      auto *const offsets = to.rows.offsets->template as<int64_t>(), *const diagonal =
                                                                         to.rows.diagonal->template as<int64_t>();
      gpu::launch_over(queue_, n + 1, MoveBounds{places.as<int64_t>(), from.offsets, n + 1, offsets});
      gpu::launch_over(queue_, n, MoveBounds{places.as<int64_t>(), from.diagonal, n, diagonal});
      to.sizes = measured(excess({offsets, diagonal, nullptr, nullptr}, {}, of_row_));
      to.rows.nnz = static_cast<int64_t>(to.sizes.entries);
      to.rows.columns = shared<I>(to.rows.nnz);
      to.row_of = array<I>(to.rows.nnz);
      to.values = array<E>(to.rows.nnz);
      gpu::launch_over(queue_, count,
                       MoveKept<E, I>{places.as<int64_t>(), f.values.template as<E>(), from.columns,
                                      f.row_of.template as<I>(), count, to.values.template as<E>(),
                                      to.rows.columns->template as<I>(), to.row_of.template as<I>()});
      return to;
    }

    void refuse(const Entries& f) const {
      const Buffer first = array<unsigned long long>(1);
      const unsigned long long none = ~0ull;
      queue_.copy(first.data(), &none, sizeof none);
      gpu::launch_over(queue_, f.rows.nnz,
                       FindBroken<E, I>{f.values.template as<E>(), f.rows.columns->template as<I>(),
                                        f.row_of.template as<I>(), f.rows.nnz, first.as<unsigned long long>()});
      const auto found = gpu::read_back<unsigned long long>(queue_, first.data());
      if (found != none) ilu::refuse({static_cast<int64_t>(found / 2), 1, found % 2 == 0}, ilu::Form::lu);
    }

    /// Entries of L before each row, and all of them last.
    Buffer lower_offsets(const DeviceRows<I>& rows) const {
      const int64_t n = k_.rows_;
      const Buffer counts = array<int32_t>(n);
      Buffer lower = array<int64_t>(n + 1);
      gpu::launch_over(queue_, n, CountLower{rows.view().offsets, rows.view().diagonal, n, counts.as<int32_t>()});
      gpu::exclusive_scan(queue_, counts.as<int32_t>(), lower.as<int64_t>(), n);
      return lower;
    }
    Factors split(const Entries& f) const {
      const int64_t n = k_.rows_;
      const Buffer lower = lower_offsets(f.rows);
      const auto nnz_L = gpu::read_back<int64_t>(queue_, lower.as<int64_t>() + n);
      Factors made{triangle(nnz_L), triangle(f.rows.nnz - nnz_L)};
      gpu::launch_over(queue_, n + 1,
                       SplitOffsets<O>{f.rows.view().offsets, lower.as<int64_t>(), n + 1,
                                       made.L.offsets.template as<O>(), made.U.offsets.template as<O>()});
      gpu::launch_over(
          queue_, f.rows.nnz,
          SplitEntries<E, I>{f.rows.view(), lower.as<int64_t>(), f.values.template as<E>(), f.row_of.template as<I>(),
                             f.rows.nnz, made.L.indices.template as<I>(), made.U.indices.template as<I>(),
                             made.L.values.template as<E>(), made.U.values.template as<E>()});
      queue_.synchronize();
      return made;
    }
    HostCsr triangle(int64_t nnz) const {
      if (sizeof(O) == 4)
        require(nnz < std::numeric_limits<int32_t>::max(), KKC_STATUS_OVERFLOW, "a factor has ", nnz,
                " entries, more than A's index pair counts");
      HostCsr to;
      to.pair = k_.pair_;
      to.scalar = k_.scalar_;
      to.rows = to.cols = k_.rows_;
      to.nnz = nnz;
      to.offsets = array<O>(k_.rows_ + 1);
      to.indices = array<I>(nnz);
      to.values = array<E>(nnz);
      return to;
    }

    const SweepsKernel& k_;
    Queue& queue_;
    RowUnions<I> unions_;
    Entries a_;           // A on the start pattern
    int64_t of_row_ = 0;  // candidates that each triangle of a row gets at most, and that a row of U offers
  };

  ilu_pattern::FactorPattern start_;
  ilu::Rule<RealPart<E>> rule_;
  double fill_;
  int32_t iterations_, sweeps_;
  IndexPair pair_;
  Scalar scalar_;
  int64_t rows_;
  std::shared_ptr<const Memory> memory_;
};

inline std::unique_ptr<Kernel> make_sweeps(const Desc& desc, Queue&) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.A.scalar, desc.A.pair, [&](auto scalar, auto pair) {
    using E = gpu::Element<typename decltype(scalar)::type>;
    using P = decltype(pair);
    kernel = std::make_unique<SweepsKernel<E, typename P::ordinal, typename P::offset>>(desc);
  });
  return kernel;
}

inline std::string sweeps_unsupported(const Desc&) { return {}; }

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_sweeps() {
  return {{"gpu_sweeps"}, true, gpu_parts::sweeps_unsupported, gpu_parts::make_sweeps};
}

}  // namespace kkc::ilut
