// y = alpha x + beta y for one element, for all devices.
#pragma once

#include "axpby.hpp"
#include "core/parts.hpp"
#include "device/host_each.hpp"
#include "device/strided_for.hpp"

namespace kkc::axpby {

/// T: an Element. A coefficient of zero means that its array is not read.
template <class T>
struct Combine {
  Factor<T> alpha, beta;
  const T* x;
  T* y;

  KOKKOS_FUNCTION void operator()(const int64_t (&offsets)[2]) const {
    const T a = alpha.get(), b = beta.get(), zero{};
    T value{};
    if (!(a == zero)) value = times(a, x[offsets[1]]);
    if (!(b == zero)) value = plus(value, times(b, y[offsets[0]]));
    y[offsets[0]] = value;
  }

  /// Hosts: a run of both.
  void row(const int64_t (&offsets)[2], int64_t count) const {
    combine_run(y + offsets[0], x + offsets[1], y + offsets[0], count);
  }

  /// to = alpha from_x + beta from_y; to may be from_y or from_x.
  void combine_run(T* to, const T* from_x, const T* from_y, int64_t count) const {
    const T a = alpha.get(), b = beta.get(), zero{};
    if (a == zero && b == zero) {
      for (int64_t i = 0; i < count; ++i) to[i] = zero;
    } else if (b == zero) {
      each_alone(count, [=](int64_t i) { to[i] = times(a, from_x[i]); });
    } else if (a == zero) {
      each_alone(count, [=](int64_t i) { to[i] = times(b, from_y[i]); });
    } else {
      each_alone(count, [=](int64_t i) { to[i] = plus(times(a, from_x[i]), times(b, from_y[i])); });
    }
  }
};

}  // namespace kkc::axpby
