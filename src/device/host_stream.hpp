// Stores that bypass the caches, for results too large to be read again soon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace kkc {

/// Results from this size on are streamed past the caches.
inline constexpr int64_t stream_threshold_bytes = int64_t{8} << 20;

inline constexpr size_t cache_line = 64;

/// One cache line to an aligned place.
inline void stream_line(void* to, const void* from) {
#if defined(__AVX512F__)
  _mm512_stream_si512(static_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(__AVX__)
  for (int k = 0; k < 2; ++k)
    _mm256_stream_si256(static_cast<__m256i*>(to) + k, _mm256_loadu_si256(static_cast<const __m256i*>(from) + k));
#elif defined(__SSE2__)
  for (int k = 0; k < 4; ++k)
    _mm_stream_si128(static_cast<__m128i*>(to) + k, _mm_loadu_si128(static_cast<const __m128i*>(from) + k));
#else
  std::memcpy(to, from, cache_line);
#endif
}

/// Copies bytes; whole lines of the destination are streamed.
inline void stream_out(void* destination, const void* source, size_t bytes) {
  char* to = static_cast<char*>(destination);
  const char* from = static_cast<const char*>(source);
  const size_t head = (cache_line - reinterpret_cast<uintptr_t>(to) % cache_line) % cache_line;
  if (head + cache_line > bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);
    return;
  }
  if (head != 0) std::memcpy(to, from, head);
  size_t k = head;
  for (; k + cache_line <= bytes; k += cache_line) stream_line(to + k, from + k);
  if (k != bytes) std::memcpy(to + k, from + k, bytes - k);
}

/// Makes streamed stores visible in order: at the end of every work item that streams.
inline void stream_fence() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace kkc
