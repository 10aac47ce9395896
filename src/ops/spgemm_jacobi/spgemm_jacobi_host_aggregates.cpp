// spgemm_jacobi, host_aggregates: B has at most one entry in a row (ops/spgemm/spgemm_host_aggregates.hpp).
#include <bit>

#include "core/dispatch.hpp"
#include "ops/spgemm/spgemm_host_aggregates.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi_first_row.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi_row.hpp"

namespace kkc::spgemm_jacobi {
namespace {

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
    const auto scale_of = [=, &zeros](int64_t i, const Row& row) {
      if (inverse != nullptr) return jacobi_scale(omega, inverse[i * stride]);
      E d{};
      for (int64_t k = 0; k < row.n; ++k)
        if (row.column(k) == i) d = plus(d, row.a[k]);
      if (d == E{}) zeros.note(i);
      return jacobi_scale(omega, inverse_of(d));
    };
    const auto make_row = [=](int64_t i, const Row& row, int64_t m, const E*, E* c) {
      const E scale = scale_of(i, row);
      if (m == 0) return;
      const size_t each = spgemm::mark_bytes<E>(m);
      if (each == 1)
        masked<full>(row, B, b, i, scale, m, c);
      else if (each == 2)
        placed<full, uint16_t>(row, B, b, i, scale, m, c);
      else
        placed<full, uint32_t>(row, B, b, i, scale, m, c);
    };
    const auto make_batch = [=](const spgemm::RowBatch<E, I, O>& batch, const E*, E* c) {
      E sums[spgemm::batch_room<E> + spgemm::batch_margin];
      std::fill(sums, sums + batch.ends[batch.last - batch.first - 1] + spgemm::batch_margin, E{});
      spgemm::add_products<full>(
          batch, B, b, [](E value) { return value; }, sums);
      int64_t at = 0;
      for (int64_t i = batch.first; i < batch.last; ++i) {
        const int64_t begin = batch.A.begin(i), end = batch.ends[i - batch.first];
        const E scale =
            scale_of(i, {batch.a + begin, batch.A.indices + begin, batch.A.end(i) - begin, -batch.A.base, nullptr});
        // As many as a vector has, without a loop for short rows; the next row overwrites what is too much.
        for (; at < end; at += spgemm::batch_margin)
          for (int64_t lane = 0; lane < spgemm::batch_margin; ++lane) c[at + lane] = times(scale, sums[at + lane]);
        at = end;
        const uint16_t own = batch.at(batch.own, i - batch.first);
        if (full || own != spgemm::no_place<uint16_t>) c[own] = plus(c[own], spgemm::single_entry<full>(B, b, i));
      }
    };
    auto* const c = static_cast<E*>(args.C);
    if constexpr (full && spgemm::has_groups<E>) {
      if (stride == 1 || inverse == nullptr)
        return rows_.run(
            queue, args.A, output_, c, make_row, make_batch,
            [=, &zeros](int64_t i, const spgemm::RowGroups<I, true>& all, const spgemm::RowGroup& group, const E* a,
                        E* to) { grouped(i, all, group, a, b + i, inverse, omega, zeros, to); });
    }
    rows_.run(queue, args.A, output_, c, make_row, make_batch);
  }

  static void grouped([[maybe_unused]] int64_t i, [[maybe_unused]] const spgemm::RowGroups<I, true>& all,
                      [[maybe_unused]] const spgemm::RowGroup& group, [[maybe_unused]] const E* a,
                      [[maybe_unused]] const E* b, [[maybe_unused]] const E* inverse, [[maybe_unused]] E omega,
                      [[maybe_unused]] const FirstRow& zeros, [[maybe_unused]] E* c) {
#if defined(__AVX512F__)
    if constexpr (spgemm::has_groups<E>) {
      const auto rows = static_cast<__mmask8>((1u << group.rows) - 1);
      __m512d scale;
      if (inverse != nullptr) {
        scale = _mm512_maskz_loadu_pd(rows, inverse + i);
      } else {
        const __m512d d = spgemm::group_diagonal(all, group, a);
        const unsigned zero = _mm512_mask_cmp_pd_mask(rows, d, _mm512_setzero_pd(), _CMP_EQ_OQ);
        if (zero != 0) zeros.note(i + std::countr_zero(zero));
        scale = _mm512_div_pd(_mm512_set1_pd(1), d);
      }
      scale = _mm512_mul_pd(_mm512_set1_pd(-omega), scale);
      const __m512d own = _mm512_maskz_loadu_pd(rows, b);
      spgemm::make_group(all, group, 1.0, a, b, c, [=](__m512d sums, unsigned its_own) {
        const __m512d scaled = _mm512_mul_pd(sums, scale);
        return _mm512_mask_add_pd(scaled, static_cast<__mmask8>(its_own), scaled, own);
      });
    }
#endif
  }

  /// C's row is B's own plus scale times the sums.
  template <bool full, class M>
  static void placed(const Row& row, const Pattern& B, const E* b, int64_t i, E scale, int64_t m, E* c) {
    std::fill(c, c + m, E{});
    const auto add = [&](int64_t k) {
      const M place = row.template mark<M>(k + 1);
      if (!full && place == spgemm::no_place<M>) return;
      const E product = times(row.a[k], spgemm::single_entry<full>(B, b, row.column(k)));
      c[place] = plus(c[place], spgemm::rounded(product));
    };
    spgemm::each_entry<full>(row, B, b, add);
    for (int64_t p = 0; p < m; ++p) c[p] = spgemm::rounded(times(scale, c[p]));
    if (const M own = row.template mark<M>(0); own != spgemm::no_place<M>)
      c[own] = plus(c[own], spgemm::single_entry<full>(B, b, i));
  }

  template <bool full>
  static void masked([[maybe_unused]] const Row& row, [[maybe_unused]] const Pattern& B, [[maybe_unused]] const E* b,
                     [[maybe_unused]] int64_t i, [[maybe_unused]] E scale, [[maybe_unused]] int64_t m,
                     [[maybe_unused]] E* c) {
    using V = spgemm::StepVector<E>;
    if constexpr (V::expands) {
      V sum = V::zero();
      for (int64_t k = 0; k < row.n; ++k)
        sum.add(row.a[k] * spgemm::single_entry<full>(B, b, row.column(k)), row.template mark<uint8_t>(k + 1));
      sum = sum.times(scale);
      sum.add(spgemm::single_entry<full>(B, b, i), row.template mark<uint8_t>(0));
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
