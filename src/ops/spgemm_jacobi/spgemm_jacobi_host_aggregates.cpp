// spgemm_jacobi, host_aggregates: B has at most one entry in a row (ops/spgemm/spgemm_host_aggregates.hpp).
#include "core/dispatch.hpp"
#include "ops/spgemm/spgemm_host_aggregates.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi_first_row.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi_row.hpp"

namespace kkc::spgemm_jacobi {
namespace {

/// Rows of so many columns are summed in several copies, so that additions to one value do not wait for each other.
constexpr int64_t copied_columns = 64, copies = 4;

template <class E, class I, class O>
class AggregatesKernel final : public Kernel {
  using Row = spgemm::MarkedRow<E, I>;
  using Pattern = HostPatternRef<I, O>;

 public:
  AggregatesKernel(const Desc& desc, Queue& queue) {
    const int64_t missing = rows_.find(queue, desc.product);
    if (missing >= 0) refuse_missing(desc.product.A, missing);
    rows_.fill(queue, desc.product, output_);
  }

  void execute(Queue& queue, const Args& args) override {
    const FirstRow zeros;
    if (rows_.full())
      run<true>(queue, args, zeros);
    else
      run<false>(queue, args, zeros);
    refuse_zero_diagonal(zeros);
  }

  OutputPattern& output() override { return output_; }
  void describe(Info& info) const override {
    info.add("products", rows_.products());
    info.add("plan_bytes", rows_.bytes());
  }

 private:
  template <bool full>
  void run(Queue& queue, const Args& args, const FirstRow& zeros) const {
    const Pattern B(args.B);
    const auto* const b = static_cast<const E*>(args.B.values);
    const auto* const inverse = static_cast<const E*>(args.inverse);
    const int64_t stride = args.inverse_stride;
    const E omega = factor<E>(args.omega).get();
    rows_.run(queue, args.A, output_, static_cast<E*>(args.C),
              [=, &zeros](int64_t i, const Row& row, int64_t m, const E*, E* c) {
                E scale{};
                if (inverse != nullptr) {
                  scale = inverse[i * stride];
                } else {
                  E d{};
                  for (int64_t k = 0; k < row.n; ++k)
                    if (row.column(k) == i) d = plus(d, row.a[k]);
                  if (d == E{}) zeros.note(i);
                  scale = inverse_of(d);
                }
                scale = jacobi_scale(omega, scale);
                if (m == 0) return;
                const size_t each = spgemm::mark_bytes<E>(m);
                if (each == 1)
                  masked<full>(row, B, b, i, scale, m, c);
                else if (each == 2)
                  placed<full, uint16_t>(row, B, b, i, scale, m, c);
                else
                  placed<full, uint32_t>(row, B, b, i, scale, m, c);
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
      const M place = row.template mark<M>(k + 1);
      if (!full && place == spgemm::no_place<M>) return;
      sums[place] = plus(sums[place], times(row.a[k], spgemm::single_entry<full>(B, b, row.column(k))));
    };
    int64_t k = 0;
    if (several)
      for (; k + copies <= row.n; k += copies)
        for (int64_t copy = 0; copy < copies; ++copy) add(k + copy, copied[copy]);
    for (; k < row.n; ++k) add(k, several ? copied[0] : c);
    for (int64_t p = 0; several && p < m; ++p)
      c[p] = plus(plus(copied[0][p], copied[1][p]), plus(copied[2][p], copied[3][p]));
    for (int64_t p = 0; p < m; ++p) c[p] = times(scale, c[p]);
    if (const M own = row.template mark<M>(0); own != spgemm::no_place<M>)
      c[own] = plus(c[own], spgemm::single_entry<full>(B, b, i));
  }

  template <bool full>
  static void masked([[maybe_unused]] const Row& row, [[maybe_unused]] const Pattern& B, [[maybe_unused]] const E* b,
                     [[maybe_unused]] int64_t i, [[maybe_unused]] E scale, [[maybe_unused]] int64_t m,
                     [[maybe_unused]] E* c) {
    using V = spgemm::StepVector<E>;
    if constexpr (V::lanes > 0) {
      V sums[copies] = {V::zero(), V::zero(), V::zero(), V::zero()};
      const auto add = [&](int64_t k, V& sum) {
        sum.add(row.a[k], spgemm::single_entry<full>(B, b, row.column(k)), row.template mark<uint8_t>(k + 1));
      };
      int64_t k = 0;
      for (; k + copies <= row.n; k += copies)
        for (int64_t copy = 0; copy < copies; ++copy) add(k + copy, sums[copy]);
      for (int64_t copy = 0; k < row.n; ++k, ++copy) add(k, sums[copy]);
      V sum = sums[0].plus(sums[1]).plus(sums[2].plus(sums[3])).times(scale);
      sum.add(E{1}, spgemm::single_entry<full>(B, b, i), row.template mark<uint8_t>(0));
      sum.store(c, (1u << m) - 1);
    }
  }

  spgemm::AggregateRows<E, I, O, true> rows_;
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
  return spgemm::not_aggregates(desc.product);
}

}  // namespace

extern const Implementation host_aggregates_serial, host_aggregates_openmp;
const Implementation host_aggregates_serial = {{"host_aggregates"}, true, unsupported, make};
const Implementation host_aggregates_openmp = host_aggregates_serial;

}  // namespace kkc::spgemm_jacobi
