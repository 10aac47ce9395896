// spgemm_jacobi, reference: every device, type and case. A thread scales a row of A; spgemm's reference multiplies.
#pragma once

#include <Kokkos_Core.hpp>

#include "device/first_launch.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi_row.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi_scaled.hpp"

namespace kkc::spgemm_jacobi {

namespace reference_parts {

/// Rows with a zero diagonal: the first, and how many.
struct Zeros {
  long long first, count;
};
inline constexpr Zeros no_zeros{INT64_MAX, 0};

template <class E, class I, class O>
struct ScaleRow {
  const O* offsets;
  const I* indices;
  const E *values, *inverse;
  E* scaled;
  Factor<E> omega;
  int64_t inverse_stride;
  Zeros* zeros;
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
    if (inverse == nullptr && d == E{}) {
      Kokkos::atomic_min(&zeros->first, static_cast<long long>(i));
      Kokkos::atomic_add(&zeros->count, 1LL);
    }
    const E scale = jacobi_scale(omega.get(), inverse == nullptr ? inverse_of(d) : inverse[i * inverse_stride]);
    for (int64_t p = begin; p < end; ++p) {
      const E entry = times(scale, values[p]);
      scaled[p] = p == diagonal ? plus_one(entry) : entry;
    }
  }
};

/// The first row without a diagonal entry.
template <class I, class O>
struct FirstMissing {
  const O* offsets;
  const I* indices;
  int32_t base;

  KOKKOS_FUNCTION void operator()(int64_t i, int64_t& first) const {
    for (int64_t p = offsets[i] - base; p < offsets[i + 1] - base; ++p)
      if (indices[p] - base == i) return;
    if (i < first) first = i;
  }
};

template <class Dev, class E, class I, class O>
class Scaler {
  using Functor = ScaleRow<E, I, O>;
  static constexpr bool on_gpu = Dev::id == Device::cuda || Dev::id == Device::hip;

 public:
  Scaler(const Desc& desc, Queue& queue) : zeros_(desc.product.memory, own_space(queue.device()), sizeof(Zeros)) {
    const CsrRef& A = desc.product.A;
    refuse_missing(A, first_missing(queue, A));
    clear(queue);
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
                   args.inverse_stride, zeros_.as<Zeros>(), A.rows, A.base});
    if constexpr (!on_gpu) {
      int64_t where = -1, count = 0;
      require(check(queue, where, count) == KKC_STATUS_SUCCESS, KKC_STATUS_ZERO_PIVOT, "A's diagonal is zero in row ",
              where, " (counted from 0), expected another value or D^-1 in dinv");
    }
  }

  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) {
    Zeros found;
    queue.copy(&found, zeros_.data(), sizeof found);
    queue.synchronize();
    if (found.count == 0) return KKC_STATUS_SUCCESS;
    where = found.first;
    count = found.count;
    clear(queue);
    return KKC_STATUS_ZERO_PIVOT;
  }

 private:
  void clear(Queue& queue) {
    queue.copy(zeros_.data(), &no_zeros, sizeof no_zeros);
    queue.synchronize();
  }

  static int64_t first_missing(Queue& queue, const CsrRef& A) {
    if (A.rows == 0) return 0;
    using Policy = Kokkos::RangePolicy<typename Dev::exec, Kokkos::IndexType<int64_t>>;
    int64_t first = INT64_MAX;
    Kokkos::parallel_reduce(
        "kkc spgemm_jacobi diagonal", Policy(Dev::space(queue), 0, A.rows),
        FirstMissing<I, O>{static_cast<const O*>(A.offsets), static_cast<const I*>(A.indices), A.base},
        Kokkos::Min<int64_t>(first));
    return first;
  }

  static void launch(Queue& queue, int64_t items, const Functor& functor) {
    using Policy = Kokkos::RangePolicy<typename Dev::exec, Kokkos::IndexType<int64_t>>;
    Kokkos::parallel_for("kkc spgemm_jacobi scale", Policy(Dev::space(queue), 0, items), functor);
  }

  Buffer zeros_;
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
