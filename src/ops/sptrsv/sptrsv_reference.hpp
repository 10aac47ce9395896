// sptrsv, reference: substitution row by row, a thread for each vector, on every device, every type, layout and stride.
// The transposed solve goes through the rows too and subtracts each unknown from those that follow, in place.
#pragma once

#include <Kokkos_Core.hpp>
#include <type_traits>

#include "core/dispatch.hpp"
#include "core/parts.hpp"
#include "device/first_launch.hpp"
#include "device/zero_rows.hpp"
#include "ops/sptrsv/sptrsv.hpp"

namespace kkc::sptrsv {

namespace reference_parts {

template <class R>
KOKKOS_INLINE_FUNCTION R conjugated(R v, bool) {
  return v;
}
template <class R>
KOKKOS_INLINE_FUNCTION Parts<R> conjugated(Parts<R> v, bool conjugate) {
  return {v.re, conjugate ? -v.im : v.im};
}
template <class R>
KOKKOS_INLINE_FUNCTION R minus(R a, R b) {
  return a - b;
}
template <class R>
KOKKOS_INLINE_FUNCTION Parts<R> minus(Parts<R> a, Parts<R> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class R>
KOKKOS_INLINE_FUNCTION R quotient(R a, R b) {
  return a / b;
}
/// Scaled, so that squares neither overflow nor vanish (R. L. Smith, Comm. ACM 5(8), 1962, algorithm 116).
template <class R>
KOKKOS_INLINE_FUNCTION Parts<R> quotient(Parts<R> a, Parts<R> b) {
  if (Kokkos::abs(b.re) >= Kokkos::abs(b.im)) {
    const R ratio = b.im / b.re, scale = b.re + b.im * ratio;
    return {(a.re + a.im * ratio) / scale, (a.im - a.re * ratio) / scale};
  }
  const R ratio = b.re / b.im, scale = b.re * ratio + b.im;
  return {(a.re * ratio + a.im) / scale, (a.im * ratio - a.re) / scale};
}

template <class E, class I, class O>
struct Substitution {
  const O* offsets;
  const I* indices;
  const E* values;
  const E* b;
  E* x;
  int64_t b_row, b_vector, x_row, x_vector;
  int64_t rows, vectors;  // 0 vectors: return at once (a launch that only loads the kernel)
  Factor<E> alpha;
  ZeroRows::Counter* zeros;
  O base;
  bool lower, transposed, conjugate, unit;

  KOKKOS_FUNCTION void operator()(int64_t k) const {
    if (k >= vectors) return;
    const E factor = alpha.get();
    const E* from = b + k * b_vector;
    E* to = x + k * x_vector;
    if (factor == E{}) {
      for (int64_t row = 0; row < rows; ++row) to[row * x_row] = E{};
      return;
    }
    if (transposed)
      for (int64_t row = 0; row < rows; ++row) to[row * x_row] = times(factor, from[row * b_row]);
    const bool ascending = lower != transposed;
    long long zero_count = 0, first_zero = INT64_MAX;
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t row = ascending ? i : rows - 1 - i;
      E diagonal{}, value = transposed ? to[row * x_row] : times(factor, from[row * b_row]);
      each(row, [&](int64_t column, const E& a) {
        if (column == row)
          diagonal = plus(diagonal, a);
        else if (!transposed)
          value = minus(value, times(a, to[column * x_row]));
      });
      if (!unit) {
        if (diagonal == E{}) {
          ++zero_count;
          if (row < first_zero) first_zero = row;
        }
        value = quotient(value, diagonal);
      }
      to[row * x_row] = value;
      if (transposed)
        each(row, [&](int64_t column, const E& a) {
          if (column != row) to[column * x_row] = minus(to[column * x_row], times(a, value));
        });
    }
    if (zero_count > 0 && k == 0) zeros->note(first_zero, zero_count);
  }

  /// f(column, value) for the triangle's entries of a row.
  template <class F>
  KOKKOS_FUNCTION void each(int64_t row, const F& f) const {
    for (int64_t p = offsets[row] - base; p < offsets[row + 1] - base; ++p) {
      const auto column = static_cast<int64_t>(indices[p] - static_cast<I>(base));
      if (column == row ? !unit : (column < row) == lower) f(column, conjugated(values[p], conjugate));
    }
  }
};

template <class Dev, class E, class I, class O>
class ReferenceKernel final : public Kernel {
  using Functor = Substitution<E, I, O>;
  static constexpr bool on_gpu = Dev::id == Device::cuda || Dev::id == Device::hip;

 public:
  ReferenceKernel(const Desc& desc, Queue& queue)
      : op_(desc.op), lower_(desc.uplo == Uplo::lower), unit_(desc.diag == Diag::unit), zeros_(desc.memory, queue) {
    if (!unit_) refuse_missing(desc, first_without_diagonal<Dev, I, O>(queue, desc.A));
    if constexpr (on_gpu) {
      prepare_kokkos(Dev{});
      const auto turn = first_launches_take_turns();
      launch(queue, 1, Functor{});
    }
  }

  void execute(Queue& queue, const Args& args) override {
    const CsrRef& A = args.A;
    const int64_t vectors = args.x.rank == 2 ? args.x.extents[1] : 1;
    launch(queue, vectors,
           Functor{static_cast<const O*>(A.offsets), static_cast<const I*>(A.indices), static_cast<const E*>(A.values),
                   static_cast<const E*>(args.b.data), static_cast<E*>(args.x.data), args.b.strides[0],
                   args.b.rank == 2 ? args.b.strides[1] : 0, args.x.strides[0],
                   args.x.rank == 2 ? args.x.strides[1] : 0, A.rows, vectors, factor<E>(args.alpha), zeros_.counter(),
                   static_cast<O>(A.base), lower_, transposes(op_), conjugates(op_), unit_});
    if constexpr (!on_gpu) {
      int64_t where = -1, count = 0;
      if (check(queue, where, count) != KKC_STATUS_SUCCESS) refuse_zero(where, A.rows);
    }
  }

  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    return zeros_.check(queue, where, count);
  }

 private:
  static void launch(Queue& queue, int64_t items, const Functor& functor) {
    using Policy = Kokkos::RangePolicy<typename Dev::exec, Kokkos::IndexType<int64_t>>;
    Kokkos::parallel_for("kkc sptrsv reference", Policy(Dev::space(queue), 0, items), functor);
  }

  Op op_;
  bool lower_, unit_;
  ZeroRows zeros_;
};

template <class Dev>
std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.A.scalar, desc.A.pair, [&](auto scalar, auto pair) {
    using P = decltype(pair);
    kernel = std::make_unique<
        ReferenceKernel<Dev, Element<typename decltype(scalar)::type>, typename P::ordinal, typename P::offset>>(desc,
                                                                                                                 queue);
  });
  return kernel;
}

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace reference_parts

template <class Dev>
constexpr Implementation reference() {
  return {{"reference"}, true, reference_parts::unsupported, reference_parts::make<Dev>};
}

}  // namespace kkc::sptrsv
