// krylov, GPUs: a launch a step. Steps that end in numbers are sums whose last block makes the scalars of the next step
// in device memory (device/gpu_reduce.hpp), so nothing waits for the host.
#pragma once

#include "core/dispatch.hpp"
#include "device/gpu_reduce.hpp"
#include "krylov_steps.hpp"

namespace kkc::krylov {
namespace gpu_parts {

struct Root {
  __device__ double operator()(double a) const { return ::sqrt(a); }
};

template <class S>
struct Reduced {
  static constexpr int resident = 2, unroll = 4;
  S step;
  int64_t rows;

  __device__ Sums<S::sums> sum(int64_t, int64_t first, int64_t stride) const {
    Sums<S::sums> sums{};
    if (!step.active()) return sums;
    S own = step;
    own.load();
    const int pairs = own.pairs();
    for (int64_t i = first; i < rows; i += stride) {
      own.element(i);
#pragma unroll
      for (int k = 0; k < S::sums; ++k)
        if (k < pairs) dot::accumulate(sums.of[k], own.left(k)[i], own.right(k)[i], -1.0);
    }
    return sums;
  }
  __device__ void finish(int64_t, const Sums<S::sums>& sums) const {
    if (step.active()) step.finish(sums, Root{});
  }
};

template <class S>
struct Elements {
  static constexpr int threads = 256;
  S step;
  int64_t rows;

  __device__ void operator()() const {
    if (!step.active()) return;
    S own = step;
    own.load();
    const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < rows) own.element(i);
  }
};

template <class S>
void run_step(Queue& queue, void* scratch, int64_t n, const S& step) {
  if constexpr (S::sums > 0)
    gpu::reduce_columns<Sums<S::sums>>(queue, scratch, n, 1, true, 1, Reduced<S>{step, n});
  else
    gpu::launch_over(queue, n, Elements<S>{step, n});
}

template <class S>
void load_step(Queue& queue, const S&) {
  if constexpr (S::sums > 0)
    gpu::prepare<gpu::ReduceColumns<Sums<S::sums>, Reduced<S>>>(queue);
  else
    gpu::prepare<Elements<S>>(queue);
}

/// Coefficients of w along the basis, and what is left to take away.
template <class T>
struct Projection {
  static constexpr int resident = 2, unroll = gpu::streams_unroll<2>;
  const T *vectors, *w;
  int64_t stride, rows;
  Number *hessenberg, *correction;
  bool again;

  __device__ Sum sum(int64_t c, int64_t first, int64_t step) const {
    Sum sum{};
    gpu::for_streams<unroll>(gpu::Streams<2, T>{{vectors + c * stride, w}, {1, 1}}, rows, first, step,
                             [&](const T& a, const T& b) { dot::accumulate(sum, a, b, -1.0); });
    return sum;
  }
  __device__ void finish(int64_t c, const Sum& sum) const {
    correction[c] = number(sum);
    hessenberg[c] = again ? Number{hessenberg[c].re + sum.re, hessenberg[c].im + sum.im} : number(sum);
  }
};

/// Row i of the sum of factors_c vectors_c.
template <class T>
struct Combination {
  const T* vectors;
  int64_t stride, columns;
  const Number* factors;

  __device__ T at(int64_t i) const {
    T sum{};
#pragma unroll 4
    for (int64_t c = 0; c < columns; ++c) sum = plus(sum, times(Made<T>::from(factors[c]), vectors[c * stride + i]));
    return sum;
  }
};

template <class T>
struct Subtract {
  static constexpr int threads = 256;
  Combination<T> combination;
  T* w;
  int64_t rows;

  __device__ void operator()() const {
    const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < rows) w[i] = plus(w[i], times(Made<T>::from({-1, 0}), combination.at(i)));
  }
};

/// The same, with the norm of what is left.
template <class T>
struct SubtractLast {
  static constexpr int resident = 2, unroll = 4;
  Combination<T> combination;
  T* w;
  int64_t rows;
  Number* norm;
  Progress* s;

  __device__ Sum sum(int64_t, int64_t first, int64_t step) const {
    Sum sum{};
    for (int64_t i = first; i < rows; i += step) {
      const T left = plus(w[i], times(Made<T>::from({-1, 0}), combination.at(i)));
      w[i] = left;
      dot::accumulate(sum, left, left, -1.0);
    }
    return sum;
  }
  __device__ void finish(int64_t, const Sum& sum) const {
    const double length = ::sqrt(sum.re);
    *norm = {length, 0};
    s->scale = length > 0 ? 1 / length : 0;
  }
};

template <class T>
struct Combine {
  static constexpr int threads = 256;
  Combination<T> combination;
  const T* inverse;
  T* to;
  int64_t rows;
  bool add;

  __device__ void operator()() const {
    const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= rows) return;
    T sum = combination.at(i);
    if (inverse != nullptr) sum = times(inverse[i], sum);
    to[i] = add ? plus(to[i], sum) : sum;
  }
};

/// Classical Gram-Schmidt, twice: the second pass takes away what rounding left of the first (L. Giraud, J. Langou, M.
/// Rozloznik, J. van den Eshof, Numer. Math. 101 (2005)).
template <class T>
void orthogonalize(Queue& queue, void* scratch, const Args& a) {
  const T* const vectors = static_cast<const T*>(a.basis);
  T* const w = static_cast<T*>(a.basis) + a.stride * a.columns;
  const Combination<T> combination{vectors, a.stride, a.columns, a.correction};
  constexpr auto vector = static_cast<int64_t>(16 / sizeof(T));
  if (a.columns > 0) {
    Projection<T> projection{vectors, w, a.stride, a.n, a.hessenberg, a.correction, false};
    gpu::reduce_columns<Sum>(queue, scratch, a.n, a.columns, true, vector, projection);
    gpu::launch_over(queue, a.n, Subtract<T>{combination, w, a.n});
    projection.again = true;
    gpu::reduce_columns<Sum>(queue, scratch, a.n, a.columns, true, vector, projection);
  }
  gpu::reduce_columns<Sum>(queue, scratch, a.n, 1, true, 1,
                           SubtractLast<T>{combination, w, a.n, a.hessenberg + a.columns, a.progress});
}

template <class T>
void combine(Queue& queue, const Args& a) {
  const Combination<T> combination{static_cast<const T*>(a.basis), a.stride, a.columns, a.correction};
  gpu::launch_over(queue, a.n,
                   Combine<T>{combination, static_cast<const T*>(a.inverse), static_cast<T*>(a.external ? a.z : a.x[0]),
                              a.n, !a.external});
}

inline void run(Queue& queue, void* scratch, Step step, const Args& args) {
  dispatch_scalar(Scalars{}, args.scalar, [&]<class S>(Type<S>) {
    using T = Element<S>;
    if (with_step<T>(step, args, [&](const auto& made) { run_step(queue, scratch, args.n, made); })) return;
    if (step == Step::gmres_orthogonalize)
      orthogonalize<T>(queue, scratch, args);
    else
      combine<T>(queue, args);
  });
}

inline void load(Queue& queue, Scalar scalar) {
  dispatch_scalar(Scalars{}, scalar, [&]<class S>(Type<S>) {
    using T = Element<S>;
    for (int32_t step = 0; step <= static_cast<int32_t>(Step::add); ++step)
      with_step<T>(static_cast<Step>(step), Args{}, [&](const auto& made) { load_step(queue, made); });
    gpu::prepare<gpu::ReduceColumns<Sum, Projection<T>>>(queue);
    gpu::prepare<Subtract<T>>(queue);
    gpu::prepare<gpu::ReduceColumns<Sum, SubtractLast<T>>>(queue);
    gpu::prepare<Combine<T>>(queue);
  });
}

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_fused() {
  return {{"gpu_fused"}, true, gpu_parts::unsupported, gpu_parts::load, gpu_parts::run};
}

}  // namespace kkc::krylov
