// spmv, host_compressed: the plan replaces the indices of neighbouring rows with equal relative columns by one list of
// offsets (as in Willcock and Lumsdaine, "Accelerating sparse matrix computations via data compression", ICS'06); other
// rows are read as they lie. Values stay the caller's: four rows are turned in registers, so that one vector of x
// serves them. The same bits run to run.
#pragma once

#include "ops/spmv/spmv_host_groups.hpp"

namespace kkc::spmv {

namespace host_compressed_parts {

/// Four rows of `length` entries from `values` on, and x from the first row's number on.
template <class R, class I>
[[gnu::always_inline]] inline void four_rows(const R* values, const I* columns, int64_t length, const R* x,
                                             Pack<R, 4>& sum) {
  Pack<R, 4> a, b, c, d, v, other{};
  const auto add = [&](Pack<R, 4> & to, const Pack<R, 4>& entries, I column) __attribute__((always_inline)) {
    load(v, x + column);
    to += entries * v;
  };
  for (int64_t byte = 0; byte < 4 * length * static_cast<int64_t>(sizeof(R)); byte += 64)
    prefetch(reinterpret_cast<const char*>(values) + row_product::value_bytes_ahead + byte);
  sum = Pack<R, 4>{};
  int64_t i = 0;
  for (; i + 4 <= length; i += 4) {
    load(a, values + i);
    load(b, values + i + length);
    load(c, values + i + 2 * length);
    load(d, values + i + 3 * length);
    const Pack<R, 4> ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6),
                     ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7),
                     cd_even = __builtin_shufflevector(c, d, 0, 4, 2, 6),
                     cd_odd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    add(sum, __builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5), columns[i]);
    add(other, __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5), columns[i + 1]);
    add(sum, __builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7), columns[i + 2]);
    add(other, __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7), columns[i + 3]);
  }
  for (; i < length; ++i)
    add(sum, Pack<R, 4>{values[i], values[i + length], values[i + 2 * length], values[i + 3 * length]}, columns[i]);
  sum += other;
}

template <class Dev, class S, class I, class O>
class CompressedKernel final : public Kernel {
 public:
  CompressedKernel(const Desc& desc, Queue& queue) : conjugate_(conjugates(desc.op)) {
    const HostCsr<S, I, O> A(desc.A);
    const int64_t parts = parts_for(A, queue);
    const std::vector<int64_t> cuts = group_cuts(A, parts);
    parts_.resize(static_cast<size_t>(parts));
    host_parts_checked<Dev>(queue, parts, [&](int64_t p) {
      Part& part = parts_[static_cast<size_t>(p)];
      part.runs = find_runs(A, cuts[static_cast<size_t>(p)], cuts[static_cast<size_t>(p) + 1]);
      for (const GroupRun& run : part.runs)
        for (int64_t i = 0; i < run.length; ++i)
          part.columns.push_back(static_cast<I>(A.column(A.begin(run.row) + i) - run.row));
    });
  }

  void execute(Queue& queue, const Args& args) override {
    const HostCsr<S, I, O> csr(args.A);
    const Update<S> by(args.alpha, args.beta);
    if (is_zero(by.alpha)) return scale_all<Dev>(queue, args.y, by);
    const S* x = vector_of<S>(args.x, 0);
    S* y = vector_of<S>(args.y, 0);
    const int64_t y_stride = args.y.strides[0];
    host_parts<Dev>(queue, static_cast<int64_t>(parts_.size()), [&](int64_t p) {
      const HostCsr<S, I, O> A = csr;
      const Update<S> update = by;
      const Part& part = parts_[static_cast<size_t>(p)];
      const I* columns = part.columns.data();
      for (const GroupRun& run : part.runs) {
        if (run.alike)
          alike_rows(A.values + A.begin(run.row), columns, run, update, x, y, y_stride);
        else
          other_rows(A, run, update, x, y, y_stride);
        columns += run.length;
      }
    });
  }

  void describe(Info& info) const override {
    int64_t bytes = 0, alike = 0;
    for (const Part& part : parts_) {
      bytes += static_cast<int64_t>(part.columns.size() * sizeof(I) + part.runs.size() * sizeof(GroupRun));
      for (const GroupRun& run : part.runs) alike += run.alike ? run.rows : 0;
    }
    info.add("compressed_index_bytes", bytes);
    info.add("compressed_rows", alike);
  }

 private:
  struct Part {
    std::vector<GroupRun> runs;
    std::vector<I> columns;  // one list for each run that is alike
  };

  void alike_rows(const S* values, const I* columns, const GroupRun& run, const Update<S>& update, const S* x, S* y,
                  int64_t y_stride) const {
    if constexpr (is_real<S>) {
      Pack<S, 4> sum;
      for (int64_t row = run.row; row < run.row + run.rows; row += 4, values += 4 * run.length) {
        four_rows(values, columns, run.length, x + row, sum);
        for (int i = 0; i < 4; ++i) update(y[(row + i) * y_stride], sum[i]);
      }
    } else {
      for (int64_t row = run.row; row < run.row + run.rows; ++row, values += run.length) {
        for (int64_t byte = 0; byte < run.length * static_cast<int64_t>(sizeof(S)); byte += 64)
          prefetch(reinterpret_cast<const char*>(values) + row_product::value_bytes_ahead + byte);
        update(y[row * y_stride], row_product::plain_row(values, columns, x + row, 1, 0, run.length, conjugate_));
      }
    }
  }

  void other_rows(const HostCsr<S, I, O>& A, const GroupRun& run, const Update<S>& update, const S* x, S* y,
                  int64_t y_stride) const {
    row_product::Stream<S, I> stream(A.indices, A.values, A.begin(run.row));
    const S* x_based = based(x, A.base, A.nnz);
    for (int64_t row = run.row; row < run.row + run.rows; ++row) {
      const int64_t begin = A.begin(row), end = A.begin(row + 1);
      stream.reach(begin, end);
      update(y[row * y_stride], row_product::plain_row(A.values, A.indices, x_based, 1, begin, end, conjugate_));
    }
  }

  bool conjugate_;
  std::vector<Part> parts_;
};

inline std::string unsupported(const Desc& desc) {
  if (std::string refusal = group_refusal(desc); !refusal.empty()) return refusal;
  if (desc.A.nnz > 16 * desc.A.rows) return "rows are long: indices cost little, and are read in order";
  if (alike_share(desc.A) < 0.5) return "fewer than half of the groups of eight rows have the same relative columns";
  return {};
}

}  // namespace host_compressed_parts

template <class Dev>
constexpr Implementation host_compressed() {
  return {{"host_compressed"},
          true,
          host_compressed_parts::unsupported,
          make_typed<Dev, host_compressed_parts::CompressedKernel>};
}

}  // namespace kkc::spmv
