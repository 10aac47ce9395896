// spgemm_jacobi, reference: every device, type and case. A thread scales a row of A; spgemm's reference multiplies.
#pragma once

#include <Kokkos_Core.hpp>

#include "device/first_launch.hpp"
#include "device/zero_rows.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi_row.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi_scaled.hpp"

namespace kkc::spgemm_jacobi {

namespace reference_parts {

template <class E, class I, class O>
struct ScaleRow {
  const O* offsets;
  const I* indices;
  const E *values, *inverse;
  E* scaled;
  Factor<E> omega;
  int64_t inverse_stride;
  ZeroRows::Counter* zeros;
  int64_t rows;  // 0: return at once (a launch that only loads the kernel)
  int32_t base;

  KOKKOS_FUNCTION void operator()(int64_t i) const {
    if (i >= rows) return;
    const int64_t begin = offsets[i] - base, end = offsets[i + 1] - base;
    int64_t diagonal = -1;
    E d{};
    for (int64_t p = end - 1; p >= begin; --p)
      if (indices[p] - base == i) {
        diagonal = p;
        d = plus(d, values[p]);
      }
    if (inverse == nullptr && d == E{}) zeros->note(i);
    const E scale = jacobi_scale(omega.get(), inverse == nullptr ? inverse_of(d) : inverse[i * inverse_stride]);
    for (int64_t p = begin; p < end; ++p) {
      const E entry = times(scale, values[p]);
      scaled[p] = p == diagonal ? plus_one(entry) : entry;
    }
  }
};

template <class Dev, class E, class I, class O>
class Scaler {
  using Functor = ScaleRow<E, I, O>;
  static constexpr bool on_gpu = Dev::id == Device::cuda || Dev::id == Device::hip;

 public:
  Scaler(const Desc& desc, Queue& queue) : zeros_(desc.product.memory, queue) {
    const CsrRef& A = desc.product.A;
    refuse_missing(A, first_without_diagonal<Dev, I, O>(queue, A));
    if constexpr (on_gpu) {
      prepare_kokkos(Dev{});
      const auto turn = first_launches_take_turns();
      launch(queue, 1, Functor{});
    }
  }

  void scale(Queue& queue, const Args& args, void* values) {
    const CsrRef& A = args.A;
    launch(queue, A.rows,
           Functor{static_cast<const O*>(A.offsets), static_cast<const I*>(A.indices), static_cast<const E*>(A.values),
                   static_cast<const E*>(args.inverse), static_cast<E*>(values), factor<E>(args.omega),
                   args.inverse_stride, zeros_.counter(), A.rows, A.base});
    if constexpr (!on_gpu) {
      int64_t where = -1, count = 0;
      require(check(queue, where, count) == KKC_STATUS_SUCCESS, KKC_STATUS_ZERO_PIVOT, "A's diagonal is zero in row ",
              where, " (counted from 0), expected another value or D^-1 in dinv");
    }
  }

  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) { return zeros_.check(queue, where, count); }

 private:
  static void launch(Queue& queue, int64_t items, const Functor& functor) {
    using Policy = Kokkos::RangePolicy<typename Dev::exec, Kokkos::IndexType<int64_t>>;
    Kokkos::parallel_for("kkc spgemm_jacobi scale", Policy(Dev::space(queue), 0, items), functor);
  }

  ZeroRows zeros_;
};

template <class Dev>
std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  const std::string product = desc.product_name.empty() ? "reference" : desc.product_name;
  dispatch(desc.product.scalar(), desc.product.A.pair, [&](auto scalar, auto pair) {
    using E = Element<typename decltype(scalar)::type>;
    using P = decltype(pair);
    kernel =
        std::make_unique<ScaledKernel<Scaler<Dev, E, typename P::ordinal, typename P::offset>>>(desc, queue, product);
  });
  return kernel;
}

}  // namespace reference_parts

template <class Dev>
constexpr Implementation reference() {
  return {{"reference"}, true, scaled_unsupported, reference_parts::make<Dev>};
}

}  // namespace kkc::spgemm_jacobi
