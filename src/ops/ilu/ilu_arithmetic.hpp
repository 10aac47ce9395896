// Arithmetic of incomplete factors: numbers of hosts and of Kokkos kernels (core/parts.hpp), or any type with the same
// members, e.g. those of raw GPU kernels.
#pragma once

#include <type_traits>

#include "core/parts.hpp"
#include "ops/ilu/ilu.hpp"

namespace kkc::ilu {

template <class E>
inline constexpr bool has_parts = !std::is_floating_point_v<E>;

template <class E>
constexpr auto real_part(const E& a) {
  if constexpr (has_parts<E>)
    return a.re;
  else
    return a;
}
template <class E>
using RealPart = decltype(real_part(E{}));

template <class E>
constexpr E from_real(RealPart<E> a) {
  if constexpr (has_parts<E>)
    return {a, 0};
  else
    return a;
}

/// c - a b
template <class E>
constexpr E minus_product(const E& c, const E& a, const E& b) {
  if constexpr (has_parts<E>)
    return {c.re - a.re * b.re + a.im * b.im, c.im - a.re * b.im - a.im * b.re};
  else
    return c - a * b;
}

/// c - a conj(b)
template <class E>
constexpr E minus_conjugate_product(const E& c, const E& a, const E& b) {
  if constexpr (has_parts<E>)
    return {c.re - a.re * b.re - a.im * b.im, c.im + a.re * b.im - a.im * b.re};
  else
    return c - a * b;
}

template <class E>
constexpr E quotient(const E& a, const E& b) {
  if constexpr (has_parts<E>) {
    const auto scale = b.re * b.re + b.im * b.im;
    return {(a.re * b.re + a.im * b.im) / scale, (a.im * b.re - a.re * b.im) / scale};
  } else {
    return a / b;
  }
}
template <class E>
constexpr E scaled(const E& a, RealPart<E> factor) {
  if constexpr (has_parts<E>)
    return {a.re * factor, a.im * factor};
  else
    return a * factor;
}

/// 0 where a is finite, else NaN: a sum of these is 0 exactly when all are.
template <class E>
constexpr RealPart<E> not_finite(const E& a) {
  if constexpr (has_parts<E>)
    return (a.re - a.re) + (a.im - a.im);
  else
    return a - a;
}

/// PivotRule with numbers of the element type.
template <class R>
struct Rule {
  R shift, threshold, value;

  explicit Rule(const PivotRule& rule)
      : shift(static_cast<R>(rule.shift)),
        threshold(static_cast<R>(rule.threshold)),
        value(static_cast<R>(rule.value)) {}
  Rule() = default;
};

/// A finite pivot of U after the rule; `zero`: it is 1 in place of 0. Sqrt: the square root of this code's device.
template <class E, class Sqrt>
constexpr E lu_pivot(const E& u, const Rule<RealPart<E>>& rule, Sqrt&& sqrt, bool& zero) {
  using R = RealPart<E>;
  zero = false;
  R size{};
  if constexpr (has_parts<E>)
    size = sqrt(u.re * u.re + u.im * u.im);
  else
    size = u < 0 ? -u : u;
  if (size < rule.threshold) {
    if constexpr (has_parts<E>)
      return size == 0 ? from_real<E>(rule.value) : scaled(u, rule.value / size);
    else
      return u < 0 ? -rule.value : rule.value;
  }
  zero = size == 0;
  return zero ? from_real<E>(1) : u;
}

/// The same for the square of L's diagonal entry.
template <class R>
constexpr R cholesky_pivot(R d, const Rule<R>& rule, bool& zero) {
  zero = false;
  if (rule.threshold > 0 && d < rule.threshold) return rule.value;
  zero = !(d > 0);
  return zero ? R{1} : d;
}

/// Entry k of the factors before anything is eliminated.
template <class E, class O>
constexpr E value_at(const ilu_pattern::ValueSource<O>& source, const E* values, O k) {
  const O s = source.sources != nullptr ? source.sources[k] : k;
  if (s < 0) return E{};
  if (source.starts == nullptr) return values[source.positions != nullptr ? source.positions[s] : s];
  E sum{};
  for (O p = source.starts[s]; p < source.starts[s + 1]; ++p) {
    const E& next = values[source.positions != nullptr ? source.positions[p] : p];
    if constexpr (has_parts<E>)
      sum = {sum.re + next.re, sum.im + next.im};
    else
      sum += next;
  }
  return sum;
}

}  // namespace kkc::ilu
