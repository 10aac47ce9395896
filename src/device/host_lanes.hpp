// Vectors of doubles as wide as this build's registers, loaded from floats or doubles.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "host_simd.hpp"

namespace kkc {

inline constexpr int lane_count = static_cast<int>(simd_bytes / sizeof(double));
typedef double Lanes __attribute__((vector_size(simd_bytes)));

inline Lanes load_lanes(const double* from) {
  Lanes v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}
inline Lanes load_lanes(const float* from) {
  typedef float Floats __attribute__((vector_size(simd_bytes / 2)));
  Floats v;
  std::memcpy(&v, from, sizeof(v));
  return __builtin_convertvector(v, Lanes);
}

/// Neighbours exchanged: (1, 0, 3, 2, ...).
template <int... lane>
inline Lanes swap_pairs(Lanes v, std::integer_sequence<int, lane...>) {
  return __builtin_shufflevector(v, v, (lane ^ 1)...);
}
inline Lanes swap_pairs(Lanes v) { return swap_pairs(v, std::make_integer_sequence<int, lane_count>{}); }

}  // namespace kkc
