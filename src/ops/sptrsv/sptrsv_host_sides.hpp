// sptrsv, hosts: right-hand sides and unknowns, a few vectors at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "ops/sptrsv/sptrsv.hpp"

namespace kkc::sptrsv {

inline constexpr int most_vectors = 8;

/// Both sides of a solve, with strides.
template <class S>
struct Sides {
  const S* b;
  S* x;
  int64_t b_row, b_vector, x_row, x_vector;
};

template <class S>
Sides<S> sides_of(const Args& args) {
  return {static_cast<const S*>(args.b.data),
          static_cast<S*>(args.x.data),
          args.b.strides[0],
          args.b.rank == 2 ? args.b.strides[1] : 0,
          args.x.strides[0],
          args.x.rank == 2 ? args.x.strides[1] : 0};
}

template <class S>
void fill_with_zeros(const Sides<S>& sides, int64_t rows, int64_t vectors) {
  for (int64_t k = 0; k < vectors; ++k)
    for (int64_t row = 0; row < rows; ++row) sides.x[row * sides.x_row + k * sides.x_vector] = S{};
}

/// f(K, sides, count) for at most most_vectors of the vectors at once. K: their number where it is 1 or most_vectors,
/// else 0.
template <class S, class F>
void each_few_vectors(Sides<S> sides, int64_t vectors, const F& f) {
  for (int64_t k = 0; k < vectors; k += most_vectors) {
    const auto count = static_cast<int>(std::min<int64_t>(most_vectors, vectors - k));
    if (count == 1)
      f(std::integral_constant<int, 1>(), sides, 1);
    else if (count == most_vectors)
      f(std::integral_constant<int, most_vectors>(), sides, count);
    else
      f(std::integral_constant<int, 0>(), sides, count);
    sides.b += most_vectors * sides.b_vector;
    sides.x += most_vectors * sides.x_vector;
  }
}

}  // namespace kkc::sptrsv
