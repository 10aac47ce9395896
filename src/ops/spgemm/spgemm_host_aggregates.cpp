// spgemm, host_aggregates: B has at most one entry in a row (spgemm_host_aggregates.hpp).
#include "ops/spgemm/spgemm_host_aggregates.hpp"

#include "core/dispatch.hpp"
#include "ops/spgemm/spgemm_host_listed_rows.hpp"
#include "ops/spgemm/spgemm_host_short_rows.hpp"

namespace kkc::spgemm {
namespace {

template <class E, class I, class O>
class AggregatesKernel final : public Kernel {
  using Row = MarkedRow<E, I>;
  using Pattern = HostPatternRef<I, O>;

 public:
  AggregatesKernel(const Desc& desc, Queue& queue) {
    rows_.find(queue, desc);
    rows_.fill(queue, desc, output);
  }

  void execute(Queue& queue, const Args& args) override {
    if (rows_.full())
      run<true>(queue, args);
    else
      run<false>(queue, args);
  }

  void describe(Info& info) const override {
    info.add("products", rows_.products());
    info.add("compression",
             output.nnz == 0 ? 1.0 : static_cast<double>(rows_.products()) / static_cast<double>(output.nnz));
    info.add("plan_bytes", rows_.bytes());
    info.add("row_classes", rows_.row_classes());
    info.add("rows_in_classes", output.rows - rows_.rows_listed());
  }

 private:
  template <bool full>
  void run(Queue& queue, const Args& args) {
    const Pattern B(args.B);
    const auto* const b = static_cast<const E*>(args.B.values);
    const E alpha = factor<E>(args.alpha).get(), beta = factor<E>(args.beta).get();
    const bool scales_only = alpha == E{};
    const auto make_row = [=](int64_t, const Row& row, int64_t m, const E* old, E* c) {
      const size_t each = mark_bytes<E>(m);
      if (each == 1 && !scales_only) return masked<full>(row, B, b, alpha, beta, m, old, c);
      if (beta == E{})
        std::fill(c, c + m, E{});
      else
        for (int64_t p = 0; p < m; ++p) c[p] = times(beta, old[p]);
      if (scales_only) return;
      if (each == 2)
        placed<full, uint16_t>(row, B, b, alpha, c);
      else
        placed<full, uint32_t>(row, B, b, alpha, c);
    };
    const auto make_batch = [=](const RowBatch<E, I, O>& batch, const E* old, E* c) {
      const int64_t m = batch.ends[batch.last - batch.first - 1];
      if (beta == E{})
        std::fill(c, c + m, E{});
      else
        for (int64_t p = 0; p < m; ++p) c[p] = times(beta, old[p]);
      if (!scales_only)
        add_products<full>(
            batch, B, b, [alpha](E value) { return times(alpha, value); }, c);
    };
    auto* const c = static_cast<E*>(args.C);
    if constexpr (full && has_groups<E>) {
      if (beta == E{} && !scales_only)
        return rows_.run(queue, args.A, output, c, make_row, make_batch,
                         [=](int64_t i, const RowGroups<I, false>& all, const RowGroup& group, const E* a, E* to) {
                           make_group(all, group, alpha, a, b + i, to, [](auto sums, unsigned) { return sums; });
                         });
    }
    rows_.run(queue, args.A, output, c, make_row, make_batch);
  }

  template <bool full, class M>
  static void placed(const Row& row, const Pattern& B, const E* b, E alpha, E* c) {
    const auto add = [&](int64_t k) {
      const M place = row.template mark<M>(k);
      if (!full && place == no_place<M>) return;
      c[place] = plus(c[place], rounded(times(times(alpha, row.a[k]), single_entry<full>(B, b, row.column(k)))));
    };
    each_entry<full>(row, B, b, add);
  }

  template <bool full>
  static void masked([[maybe_unused]] const Row& row, [[maybe_unused]] const Pattern& B, [[maybe_unused]] const E* b,
                     [[maybe_unused]] E alpha, [[maybe_unused]] E beta, [[maybe_unused]] int64_t m,
                     [[maybe_unused]] const E* old, [[maybe_unused]] E* c) {
    using V = StepVector<E>;
    if constexpr (V::expands) {
      const unsigned inside = (1u << m) - 1;
      V sum = beta == E{} ? V::zero() : V::load(old, inside).times(beta);
      for (int64_t k = 0; k < row.n; ++k)
        sum.add(alpha * row.a[k] * single_entry<full>(B, b, row.column(k)), row.template mark<uint8_t>(k));
      sum.store(c, inside);
    }
  }

  AggregateRows<E, I, O, false> rows_;
};

std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.scalar(), desc.A.pair, [&](auto scalar, auto pair) {
    using P = decltype(pair);
    kernel = std::make_unique<
        AggregatesKernel<Element<typename decltype(scalar)::type>, typename P::ordinal, typename P::offset>>(desc,
                                                                                                             queue);
  });
  return kernel;
}

/// Whether host_binned lists products as it finds them, which is faster where rows of A are short, unless they are a
/// grid's.
bool lists_are_faster(const Desc& desc) {
  // Of A, that repay a look at some; entries of one that a thread may list.
  constexpr int64_t fewest_rows = 1024, longest_row = 1 << 16;
  if (desc.stored_A.offsets != nullptr) return false;  // a transpose that waits: there are no rows to look at
  if (is_complex_scalar(desc.scalar()) || desc.max_workspace >= 0 || desc.B.nnz != desc.B.rows ||
      desc.A.rows < fewest_rows || desc.A.nnz > most_kept_products || desc.rows_a.longest > longest_row)
    return false;
  bool faster = false;
  dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto pair) {
    using I = typename decltype(pair)::ordinal;
    using O = typename decltype(pair)::offset;
    const LeftPattern<I, O> left{HostPatternRef<I, O>(desc.A)};
    const HostPatternRef<I, O> B(desc.B);
    const auto bytes = static_cast<int64_t>(sizeof(I) + size_of(desc.scalar()));
    faster = ListedRows::suits<I>(desc.cols()) && are_short_and_alone(left, B, true) &&
             (desc.rows_a.longest <= ListedRows::most || are_in_short_rows(left.A, ListedRows::most)) &&
             FlatProducts::suits(desc.A.rows, sampled_entries(left.A, B, desc.A.nnz), desc.A.nnz, bytes, desc.A.nnz,
                                 desc.B.nnz);
  });
  return faster;
}

std::string unsupported(const Desc& desc) {
  if (desc.masked) return "takes no mask: its rows would be computed whole";
  std::string reason = not_aggregates(desc);
  if (reason.empty() && !desc.named && lists_are_faster(desc))
    reason = "rows of A are short: host_binned lists products";
  return reason;
}

}  // namespace

extern const Implementation host_aggregates_serial, host_aggregates_openmp;
const Implementation host_aggregates_serial = {{"host_aggregates"}, true, unsupported, make};
const Implementation host_aggregates_openmp = host_aggregates_serial;

}  // namespace kkc::spgemm
