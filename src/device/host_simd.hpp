// Vector width of the CPU level this build is for.
#pragma once

#include <cstddef>

namespace kkc {

#if defined(__AVX512F__)
inline constexpr size_t simd_bytes = 64;
#elif defined(__AVX__)
inline constexpr size_t simd_bytes = 32;
#else
inline constexpr size_t simd_bytes = 16;
#endif

}  // namespace kkc
