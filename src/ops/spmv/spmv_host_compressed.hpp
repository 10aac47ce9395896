// spmv, host_compressed: the plan replaces the indices of neighbouring rows with equal relative columns by one list of
// offsets (as in Willcock and Lumsdaine, "Accelerating sparse matrix computations via data compression", ICS'06); other
// rows are read as they lie. Values stay the caller's: eight rows (four without AVX-512) are turned in registers, so
// that one vector of x serves them. The same bits run to run.
#pragma once

#include "device/host_shared_parts.hpp"
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

/// Columns of eight rows of eight entries: neighbours, pairs of neighbours and halves exchanged.
template <class P>
[[gnu::always_inline]] inline void turn(P (&m)[8]) {
  P a[8], b[8];
  for (int i = 0; i < 8; i += 2) {
    a[i] = __builtin_shufflevector(m[i], m[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    a[i + 1] = __builtin_shufflevector(m[i], m[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i = 0; i < 8; i += 4)
    for (int k = 0; k < 2; ++k) {
      b[i + k] = __builtin_shufflevector(a[i + k], a[i + k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      b[i + k + 2] = __builtin_shufflevector(a[i + k], a[i + k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int k = 0; k < 4; ++k) {
    m[k] = __builtin_shufflevector(b[k], b[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    m[k + 4] = __builtin_shufflevector(b[k], b[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/// Eight rows of `length` entries, length = Rest mod 8, from `values` on, and x from the first row's number on. Reads
/// up to seven values behind the last row. Lines are asked for in between: all at once they fill the processor's queue.
template <int Rest, class R, class I>
[[gnu::always_inline]] inline void eight_rows(const R* values, const I* columns, int64_t length, const R* x,
                                              Pack<R, 8>& sum) {
  Pack<R, 8> rows[8], other{}, v;
  const char* ahead = reinterpret_cast<const char*>(values) + row_product::value_bytes_ahead;
  const auto add = [&](int64_t first, int count) __attribute__((always_inline)) {
    for (int r = 0; r < 8; ++r) load(rows[r], values + r * length + first);
    turn(rows);
    for (int k = 0; k < count; ++k) {
      prefetch(ahead);
      ahead += 8 * sizeof(R);
      load(v, x + columns[first + k]);
      (k % 2 == 0 ? sum : other) += rows[k] * v;
    }
  };
  sum = Pack<R, 8>{};
  int64_t i = 0;
  for (; i + 8 <= length; i += 8) add(i, 8);
  if constexpr (Rest > 0) add(i, Rest);
  sum += other;
}

template <class Dev, class S, class I, class O>
class CompressedKernel final : public Kernel {
  using Matrix = HostCsr<S, I, O>;

 public:
  CompressedKernel(const Desc& desc, Queue& queue) : conjugate_(conjugates(desc.op)) {
    const Matrix A(desc.A);
    const int64_t parts = shared_parts_for(A, queue);
    const std::vector<int64_t> cuts = group_cuts(A, parts);
    parts_.resize(static_cast<size_t>(parts));
    turns_ = SharedParts(parts, parts_for(A, queue));
    host_parts_checked<Dev>(queue, parts, [&](int64_t p) {
      Part& part = parts_[static_cast<size_t>(p)];
      part.runs = find_runs(A, cuts[static_cast<size_t>(p)], cuts[static_cast<size_t>(p) + 1]);
      for (const GroupRun& run : part.runs) keep_columns(A, run, part.columns);
    });
  }

  void execute(Queue& queue, const Args& args) override {
    const Matrix csr(args.A);
    const Update<S> by(args.alpha, args.beta);
    if (is_zero(by.alpha)) return scale_all<Dev>(queue, args.y, by);
    const Vectors v{vector_of<S>(args.x, 0), vector_of<S>(args.y, 0), args.y.strides[0]};
    turns_.run<Dev>(queue, [&](int64_t p) {
      const Matrix A = csr;
      const Update<S> update = by;
      const Part& part = parts_[static_cast<size_t>(p)];
      const I* columns = part.columns.data();
      for (const GroupRun& run : part.runs) {
        if (!run.alike) {
          columns = other_rows(A, columns, run, update, v);
          continue;
        }
        prefetch(columns + run.length);
        prefetch(columns + run.length + 64 / sizeof(I));
        if constexpr (!is_real<S>)
          rows_one_by_one(A, columns, run.row, run.row + run.rows, run.length, update, v);
        else if constexpr (simd_bytes >= 64)
          by_eight(A, columns, run, update, v);
        else
          by_four(A, columns, run, update, v);
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
    // One list of offsets for a run that is alike, else each row's length and columns: copies, since a jump into the
    // matrix's own indices would wait for memory.
    std::vector<I> columns;
  };
  struct Vectors {
    const S* x;
    S* y;
    int64_t y_stride;
  };

  void by_eight(const Matrix& A, const I* columns, const GroupRun& run, const Update<S>& update,
                const Vectors& v) const {
    switch (run.length % 8) {
      case 0: return by_eight<0>(A, columns, run, update, v);
      case 1: return by_eight<1>(A, columns, run, update, v);
      case 2: return by_eight<2>(A, columns, run, update, v);
      case 3: return by_eight<3>(A, columns, run, update, v);
      case 4: return by_eight<4>(A, columns, run, update, v);
      case 5: return by_eight<5>(A, columns, run, update, v);
      case 6: return by_eight<6>(A, columns, run, update, v);
      default: return by_eight<7>(A, columns, run, update, v);
    }
  }
  template <int Rest>
  void by_eight(const Matrix& A, const I* columns, const GroupRun& run, const Update<S>& update,
                const Vectors& v) const {
    const int64_t end = run.row + run.rows;
    int64_t row = run.row, entry = A.begin(row);
    for (; row < end && entry + 8 * run.length + 7 <= A.nnz; row += 8, entry += 8 * run.length) {
      Pack<S, 8> sum;
      eight_rows<Rest>(A.values + entry, columns, run.length, v.x + row, sum);
      update_packed(update, sum, v.y + row * v.y_stride, v.y_stride);
    }
    rows_one_by_one(A, columns, row, end, run.length, update, v);
  }

  void by_four(const Matrix& A, const I* columns, const GroupRun& run, const Update<S>& update,
               const Vectors& v) const {
    const S* values = A.values + A.begin(run.row);
    for (int64_t row = run.row; row < run.row + run.rows; row += 4, values += 4 * run.length) {
      Pack<S, 4> sum;
      four_rows(values, columns, run.length, v.x + row, sum);
      for (int i = 0; i < 4; ++i) update(v.y[(row + i) * v.y_stride], sum[i]);
    }
  }

  void rows_one_by_one(const Matrix& A, const I* columns, int64_t row, int64_t end, int64_t length,
                       const Update<S>& update, const Vectors& v) const {
    for (; row < end; ++row)
      update(v.y[row * v.y_stride],
             row_product::any_row(A.values + A.begin(row), columns, v.x + row, 0, length, conjugate_));
  }

  /// Gives the place behind the run's columns.
  const I* other_rows(const Matrix& A, const I* columns, const GroupRun& run, const Update<S>& update,
                      const Vectors& v) const {
    const S* values = A.values + A.begin(run.row);
    for (int64_t row = run.row; row < run.row + run.rows; ++row) {
      const auto length = static_cast<int64_t>(*columns++);
      update(v.y[row * v.y_stride], row_product::any_row(values, columns, v.x, 0, length, conjugate_));
      values += length;
      columns += length;
    }
    return columns;
  }

  static void keep_columns(const Matrix& A, const GroupRun& run, std::vector<I>& columns) {
    if (run.alike) {
      for (int64_t i = 0; i < run.length; ++i)
        columns.push_back(static_cast<I>(A.column(A.begin(run.row) + i) - run.row));
      return;
    }
    for (int64_t row = run.row; row < run.row + run.rows; ++row) {
      columns.push_back(static_cast<I>(A.begin(row + 1) - A.begin(row)));
      for (int64_t entry = A.begin(row); entry < A.begin(row + 1); ++entry)
        columns.push_back(static_cast<I>(A.column(entry)));
    }
  }

  bool conjugate_;
  std::vector<Part> parts_;
  SharedParts turns_;
};

inline std::string unsupported(const Desc& desc) {
  if (std::string refusal = group_refusal(desc); !refusal.empty()) return refusal;
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
