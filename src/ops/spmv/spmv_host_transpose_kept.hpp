// spmv, host_transpose_kept: op T and H through a transposed copy that the plan makes of the pattern, and set_values of
// the values; the product is then that of op N and conj, with the values laid out anew where rows are alike. Each
// thread counts the columns of its rows and places their entries behind those of earlier threads (Wang, Liu, Hou, Feng,
// "Parallel transposition of sparse matrices", ICS'16, ScanTrans), with counters for no more columns than the rows
// reach. The same bits run to run.
#pragma once

#include <numeric>

#include "ops/spmv/spmv_host_rows.hpp"
#include "ops/spmv/spmv_transposed.hpp"

namespace kkc::spmv {

namespace host_transpose_kept_parts {

template <class Dev, class S, class I, class O>
class TransposedKernel final : public Kernel {
 public:
  TransposedKernel(const Desc& desc, Queue& queue) : transposed_(desc.A) {
    const HostCsr<S, I, O> A(desc.A);
    offsets_ = Buffer(desc.memory, Space::host, static_cast<size_t>(A.cols + 1) * sizeof(O));
    indices_ = Buffer(desc.memory, Space::host, static_cast<size_t>(A.nnz) * sizeof(I));
    positions_ = Buffer(desc.memory, Space::host, static_cast<size_t>(A.nnz) * sizeof(O));
    values_ = Buffer(desc.memory, Space::host, static_cast<size_t>(A.nnz) * sizeof(S));
    transpose(A, queue);
    transposed_.rows = A.cols;
    transposed_.cols = A.rows;
    transposed_.base = 0;
    transposed_.offsets = offsets_.data();
    transposed_.indices = indices_.data();
    transposed_.values = values_.data();

    inner_ = kernel_for_transpose(desc, transposed_, true, queue);
  }

  bool keeps_values() const override { return true; }
  size_t workspace_bytes() const override { return inner_.kernel->workspace_bytes(); }

  void set_values(Queue& queue, const CsrRef& source) override {
    const HostCsr<S, I, O> A(source);
    const O* positions = positions_.as<O>();
    S* values = values_.as<S>();
    const int64_t parts = parts_for(A, queue);
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      for (int64_t p = part_begin(A.nnz, parts, part), end = part_begin(A.nnz, parts, part + 1); p < end; ++p)
        values[p] = A.values[positions[p]];
    });
    if (inner_.kernel->keeps_values()) inner_.kernel->set_values(queue, transposed_);
  }

  void execute(Queue& queue, const Args& args) override {
    Args inner = args;
    inner.A = transposed_;
    inner_.kernel->execute(queue, inner);
  }

  void describe(Info& info) const override {
    info.add("transposed_value_bytes", static_cast<int64_t>(values_.bytes()));
    info.add("transposed_index_bytes", static_cast<int64_t>(offsets_.bytes() + indices_.bytes() + positions_.bytes()));
    info.add("kernel", std::string(inner_.name));
    inner_.kernel->describe(info);
  }

 private:
  /// Where a part's entries of a column go next; columns begin..begin+next.size()-1.
  struct Counters {
    int64_t begin = 0;
    std::vector<O> next;
    int64_t end() const { return begin + static_cast<int64_t>(next.size()); }
  };

  void transpose(const HostCsr<S, I, O>& A, Queue& queue) {
    const int64_t parts = parts_for(A, queue);
    const std::vector<Cut> cuts = balanced_cuts(A, parts, false);
    std::vector<Counters> counters(static_cast<size_t>(parts));
    host_parts_checked<Dev>(queue, parts, [&](int64_t part) {
      count(A, cuts[static_cast<size_t>(part)], cuts[static_cast<size_t>(part) + 1],
            counters[static_cast<size_t>(part)]);
    });

    // Offsets: each part of the columns from 0, then moved behind the columns before.
    O* offsets = offsets_.as<O>();
    offsets[0] = 0;
    std::vector<O> totals(static_cast<size_t>(parts) + 1, 0);
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      O sum = 0;
      for (int64_t c = part_begin(A.cols, parts, part), end = part_begin(A.cols, parts, part + 1); c < end; ++c) {
        for (Counters& of : counters)
          if (c >= of.begin && c < of.end()) {
            O& slot = of.next[static_cast<size_t>(c - of.begin)];
            const O n = slot;
            slot = sum;
            sum += n;
          }
        offsets[c + 1] = sum;
      }
      totals[static_cast<size_t>(part) + 1] = sum;
    });
    std::partial_sum(totals.begin(), totals.end(), totals.begin());
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      const O shift = totals[static_cast<size_t>(part)];
      for (int64_t c = part_begin(A.cols, parts, part), end = part_begin(A.cols, parts, part + 1); c < end; ++c) {
        for (Counters& of : counters)
          if (c >= of.begin && c < of.end()) of.next[static_cast<size_t>(c - of.begin)] += shift;
        offsets[c + 1] += shift;
      }
    });

    I* rows = indices_.as<I>();
    O* positions = positions_.as<O>();
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      Counters& mine = counters[static_cast<size_t>(part)];
      for (int64_t row = cuts[static_cast<size_t>(part)].row; row < cuts[static_cast<size_t>(part) + 1].row; ++row)
        for (int64_t p = A.begin(row); p < A.begin(row + 1); ++p) {
          const O to = mine.next[static_cast<size_t>(A.column(p) - mine.begin)]++;
          rows[to] = static_cast<I>(row);
          positions[to] = static_cast<O>(p);
        }
    });
  }

  static void count(const HostCsr<S, I, O>& A, const Cut& from, const Cut& to, Counters& counters) {
    if (from.entry == to.entry) return;
    const auto [low, high] = std::minmax_element(A.indices + from.entry, A.indices + to.entry);
    counters.begin = static_cast<int64_t>(*low) - A.base;
    counters.next.assign(static_cast<size_t>(static_cast<int64_t>(*high) - A.base + 1 - counters.begin), 0);
    for (int64_t p = from.entry; p < to.entry; ++p) ++counters.next[static_cast<size_t>(A.column(p) - counters.begin)];
  }

  CsrRef transposed_;
  Buffer offsets_, indices_, positions_, values_;
  InnerKernel inner_;
};

inline std::string unsupported(const Desc& desc) {
  if (!transposes(desc.op)) return "op is not a transposed one";
  if (!desc.transpose_kept) return "needs option transpose = kept";
  return {};
}

}  // namespace host_transpose_kept_parts

template <class Dev>
constexpr Implementation host_transpose_kept() {
  return {{"host_transpose_kept"},
          true,
          host_transpose_kept_parts::unsupported,
          make_typed<Dev, host_transpose_kept_parts::TransposedKernel>};
}

}  // namespace kkc::spmv
