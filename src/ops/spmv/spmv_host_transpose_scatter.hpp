// spmv, host_transpose_scatter: op T and H from A as it lies. Each thread adds its rows into columns of its own; a
// column range is as wide as the thread's rows reach, so grids and bands need little more than y itself. The ranges
// are then added in the order of the threads: the same bits run to run. (Privatised scatter with column ranges:
// Buluc, Fineman, Frigo, Gilbert, Leiserson, "Parallel sparse matrix-vector and matrix-transpose-vector
// multiplication", SPAA'09, discusses the alternatives.)
#pragma once

#include "ops/spmv/spmv_host_rows.hpp"

namespace kkc::spmv {

namespace host_transpose_scatter_parts {

template <class Dev, class S, class I, class O>
class ScatterKernel final : public Kernel {
 public:
  ScatterKernel(const Desc& desc, Queue& queue) : conjugate_(conjugates(desc.op)) {
    const HostCsr<S, I, O> A(desc.A);
    follow_ = is_real<S> && columns_follow(A);
    cuts_ = balanced_cuts(A, parts_for(A, queue), true);
    const auto parts = static_cast<int64_t>(cuts_.size()) - 1;
    ranges_.resize(static_cast<size_t>(parts));
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      const auto p = static_cast<size_t>(part);
      I low = std::numeric_limits<I>::max(), high = std::numeric_limits<I>::min();
      for (int64_t e = cuts_[p].entry; e < cuts_[p + 1].entry; ++e) {
        low = std::min(low, A.indices[e]);
        high = std::max(high, A.indices[e]);
      }
      if (low <= high) ranges_[p] = {static_cast<int64_t>(low) - A.base, static_cast<int64_t>(high) - A.base + 1, 0};
    });
    for (Range& range : ranges_) {
      range.at = places_;
      places_ += (range.end - range.begin + 15) / 16 * 16;
    }
  }

  size_t workspace_bytes() const override { return static_cast<size_t>(places_) * sizeof(S); }

  void execute(Queue& queue, const Args& args) override {
    const HostCsr<S, I, O> A(args.A);
    const Update<S> update(args.alpha, args.beta);
    if (is_zero(update.alpha) || A.nnz == 0) return scale_all<Dev>(queue, args.y, update);
    for (int64_t k = 0; k < (args.y.rank == 2 ? args.y.extents[1] : 1); ++k) {
      S* const sums = static_cast<S*>(args.workspace);
      const S* x = vector_of<S>(args.x, k);
      const int64_t x_stride = args.x.strides[0];
      host_parts<Dev>(queue, static_cast<int64_t>(ranges_.size()),
                      [&](int64_t part) { scatter(A, static_cast<size_t>(part), x, x_stride, sums); });
      gather_sums(queue, A.cols, update, sums, vector_of<S>(args.y, k), args.y.strides[0]);
    }
  }

  void describe(Info& info) const override {
    info.add("parts", static_cast<int64_t>(ranges_.size()));
    info.add("private_columns", places_);
  }

 private:
  /// Columns that a part adds to, and where its sums lie.
  struct Range {
    int64_t begin = 0, end = 0, at = 0;
  };

  /// sums += value factor for entries that follow one another.
  static void add_followers(const S* values, S factor, S* sums) {
    for (int i = 0; i < 16; i += 8) {
      Pack<S, 8> v, w;
      load(v, values + i);
      load(w, sums + i);
      w += v * factor;
      store(w, sums + i);
    }
  }

  /// The part's rows, and pieces of rows.
  void scatter(const HostCsr<S, I, O>& csr, size_t part, const S* x, int64_t x_stride, S* sums) const {
    const HostCsr<S, I, O> A = csr;
    const Range range = ranges_[part];
    const Cut from = cuts_[part], to = cuts_[part + 1];
    const bool conjugate = conjugate_, follow = follow_;
    std::fill_n(sums + range.at, range.end - range.begin, S{});
    row_product::Stream<S, I> stream(A.indices, A.values, from.entry);
    const int64_t shift = range.at - range.begin - static_cast<int64_t>(A.base);
    int64_t begin = from.entry;
    for (int64_t row = from.row; begin < to.entry; ++row) {
      const int64_t end = std::min(A.begin(row + 1), to.entry);
      stream.reach(begin, end);
      const S factor = x[row * x_stride];
      int64_t p = begin;
      if constexpr (is_real<S>)
        for (; follow && p + 16 <= end && row_product::consecutive(A.indices + p); p += 16)
          add_followers(A.values + p, factor, sums + static_cast<int64_t>(A.indices[p]) + shift);
      if constexpr (is_real<S>)
        for (; p + 4 <= end; p += 4) {
          const S a = A.values[p] * factor, b = A.values[p + 1] * factor, c = A.values[p + 2] * factor,
                  d = A.values[p + 3] * factor;
          S* const columns = sums + shift;
          columns[A.indices[p]] += a;
          columns[A.indices[p + 1]] += b;
          columns[A.indices[p + 2]] += c;
          columns[A.indices[p + 3]] += d;
        }
      for (; p < end; ++p) {
        S& sum = sums[static_cast<int64_t>(A.indices[p]) + shift];
        if constexpr (is_real<S>)
          sum += A.values[p] * factor;
        else
          sum = plus(sum, times(conjugate ? S{A.values[p].re, -A.values[p].im} : A.values[p], factor));
      }
      begin = end;
    }
  }

  /// y = alpha (sum of the parts' sums) + beta y, a block of columns at a time.
  void gather_sums(Queue& queue, int64_t cols, const Update<S>& update, const S* sums, S* y, int64_t y_stride) const {
    constexpr int64_t block = 1024;
    const auto parts = static_cast<int64_t>(ranges_.size());
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      S total[block];
      const int64_t last = part_begin(cols, parts, part + 1);
      for (int64_t begin = part_begin(cols, parts, part); begin < last; begin += block) {
        const int64_t end = std::min(begin + block, last);
        std::fill_n(total, end - begin, S{});
        for (const Range& range : ranges_) {
          const int64_t b = std::max(begin, range.begin), e = std::min(end, range.end);
          const S* from = sums + range.at - range.begin;
          for (int64_t c = b; c < e; ++c) total[c - begin] = plus(total[c - begin], from[c]);
        }
        for (int64_t c = begin; c < end; ++c) update(y[c * y_stride], total[c - begin]);
      }
    });
  }

  bool conjugate_, follow_;
  std::vector<Cut> cuts_;
  std::vector<Range> ranges_;
  int64_t places_ = 0;
};

inline std::string unsupported(const Desc& desc) {
  if (!transposes(desc.op)) return "op is not a transposed one";
  return {};
}

}  // namespace host_transpose_scatter_parts

template <class Dev>
constexpr Implementation host_transpose_scatter() {
  return {{"host_transpose_scatter"},
          true,
          host_transpose_scatter_parts::unsupported,
          make_typed<Dev, host_transpose_scatter_parts::ScatterKernel>};
}

}  // namespace kkc::spmv
