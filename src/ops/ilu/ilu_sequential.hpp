// The references of ilu and ic: one thread takes one row after another, whatever the device.
#pragma once

#include <Kokkos_Core.hpp>

#include "core/dispatch.hpp"
#include "device/first_launch.hpp"
#include "ops/ilu/ilu_arithmetic.hpp"

namespace kkc::ilu::sequential {

template <class E, Form form, class I, class O>
struct FactorRows {
  using R = RealPart<E>;
  const O *offsets, *diagonal;
  const I* indices;
  ilu_pattern::ValueSource<O> source;
  const E* A;
  E* values;
  Rule<R> rule;
  Breakdown* found;
  int64_t rows;  // 0: return at once (a launch that only loads the kernel)

  KOKKOS_FUNCTION void operator()(int64_t) const {
    for (int64_t i = 0; i < rows; ++i) {
      for (O p = offsets[i]; p < offsets[i + 1]; ++p) values[p] = value_at(source, A, p);
      bool zero = false;
      if constexpr (form == Form::lu)
        eliminate(i);
      else
        subtract(i);
      R spoilt = 0;
      for (O p = offsets[i]; p < offsets[i + 1]; ++p) spoilt += not_finite(values[p]);
      const bool finite = spoilt == 0;
      E& pivot = values[diagonal[i]];
      if constexpr (form == Form::lu) {
        if (finite)
          pivot = lu_pivot(
              pivot, rule, [](R x) { return Kokkos::sqrt(x); }, zero);
      } else {
        const R d = real_part(pivot);
        pivot = from_real<E>(Kokkos::sqrt(finite ? cholesky_pivot(d, rule, zero) : d));
      }
      if (finite && !zero) continue;
      if (found->count == 0) {
        found->first = i;
        found->first_is_zero = zero;
      }
      ++found->count;
    }
  }

  /// Row i of L and U.
  KOKKOS_FUNCTION void eliminate(int64_t i) const {
    const O end = offsets[i + 1];
    values[diagonal[i]] = plus(values[diagonal[i]], from_real<E>(rule.shift));
    for (O p = offsets[i]; p < diagonal[i]; ++p) {
      const I k = indices[p];
      const E l = values[p] = quotient(values[p], values[diagonal[k]]);
      O t = p + 1;
      for (O q = diagonal[k] + 1; q < offsets[k + 1]; ++q) {
        while (t < end && indices[t] < indices[q]) ++t;
        if (t < end && indices[t] == indices[q]) values[t] = minus_product(values[t], l, values[q]);
      }
    }
  }

  /// Row i of Cholesky's L; its diagonal entry is left as the pivot.
  KOKKOS_FUNCTION void subtract(int64_t i) const {
    const O end = diagonal[i];
    R d = real_part(values[end]) + rule.shift;
    for (O p = offsets[i]; p < end; ++p) {
      const I k = indices[p];
      E l = values[p];
      O t = offsets[i];
      for (O q = offsets[k]; q < diagonal[k]; ++q) {
        while (t < p && indices[t] < indices[q]) ++t;
        if (t < p && indices[t] == indices[q]) l = minus_conjugate_product(l, values[t], values[q]);
      }
      l = values[p] = quotient(l, values[diagonal[k]]);
      d -= real_part(l) * real_part(l);
      if constexpr (has_parts<E>) d -= l.im * l.im;
    }
    values[end] = from_real<E>(d);
  }
};

template <class Dev, class E, Form form, class I, class O>
class SequentialKernel final : public Kernel {
  using Functor = FactorRows<E, form, I, O>;
  static constexpr bool on_gpu = Dev::id == Device::cuda || Dev::id == Device::hip;

 public:
  SequentialKernel(const Desc& desc, Queue& queue)
      : factors_(desc.factors), rule_(desc.pivots), found_(desc.memory, own_space(Dev::id), sizeof(Breakdown)) {
    clear(queue);
    if constexpr (on_gpu) {
      prepare_kokkos(Dev{});
      const auto turn = first_launches_take_turns();
      launch(queue, Functor{});
    }
  }

  void execute(Queue& queue, const Args& args) override {
    launch(queue, Functor{static_cast<const O*>(args.factors.offsets), factors_.diagonal->template as<O>(),
                          static_cast<const I*>(args.factors.indices), ilu_pattern::ValueSource<O>(factors_),
                          static_cast<const E*>(args.A.values), static_cast<E*>(const_cast<void*>(args.factors.values)),
                          rule_, found_.template as<Breakdown>(), args.factors.rows});
    if constexpr (!on_gpu) {
      const Breakdown found = *found_.template as<Breakdown>();
      clear(queue);
      refuse(found, form);
    }
  }

  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    Breakdown found;
    queue.copy(&found, found_.data(), sizeof found);
    queue.synchronize();
    if (found.count == 0) return KKC_STATUS_SUCCESS;
    clear(queue);
    where = found.first;
    count = found.count;
    return found.status();
  }

 private:
  void clear(Queue& queue) {
    const Breakdown none;
    queue.copy(found_.data(), &none, sizeof none);
    queue.synchronize();
  }

  static void launch(Queue& queue, const Functor& functor) {
    using Policy = Kokkos::RangePolicy<typename Dev::exec, Kokkos::IndexType<int64_t>>;
    Kokkos::parallel_for("kkc ilu reference", Policy(Dev::space(queue), 0, 1), functor);
  }

  FactorPattern factors_;
  Rule<RealPart<E>> rule_;
  Buffer found_;
};

template <class Dev, Form form>
std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.A.scalar, desc.A.pair, [&](auto scalar, auto pair) {
    using E = Element<typename decltype(scalar)::type>;
    using P = decltype(pair);
    kernel = std::make_unique<SequentialKernel<Dev, E, form, typename P::ordinal, typename P::offset>>(desc, queue);
  });
  return kernel;
}

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace kkc::ilu::sequential
