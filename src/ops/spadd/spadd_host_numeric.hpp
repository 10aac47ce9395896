// What host_merge does with the bits: C's columns and values in one pass over A, B and C. With AVX-512 an expansion
// puts the next entries of A, and of B, to the places of a vector that their bits name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/parts.hpp"
#include "device/host_stream.hpp"
#include "spadd_host_bits.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace kkc::spadd::host {

template <class E>
E conjugated(const E& e, bool conjugate) {
  if constexpr (std::is_floating_point_v<E>)
    return e;
  else
    return {e.re, conjugate ? -e.im : e.im};
}

/// Room for the values that a word of entries takes, and for what a vector reads behind them.
inline constexpr int buffered = 64 + 16;

/// Values in the order in which they are added.
template <class E>
class InOrder {
 public:
  InOrder(const E* values, int64_t from, int64_t count, bool conjugate)
      : next_(values + from), end_(values + count), conjugate_(conjugate) {}
  E take() { return conjugated(*next_++, conjugate_); }
  void skip() { ++next_; }
  /// The next n <= 64, where whole vectors can be read: in `buffer` near the end of the array.
  const E* next(int n, E* buffer) {
    const E* const from = next_;
    next_ += n;
    return end_ - from >= buffered ? from : std::copy(from, next_, buffer) - n;
  }

 private:
  const E *next_, *end_;
  bool conjugate_;
};

/// Values in another order, or several to be added up first: entry k is the sum of the values at positions starts[k] to
/// starts[k + 1] - 1, or the one at positions[k].
template <class E, class O>
class Mapped {
 public:
  Mapped(const E* values, const O* positions, const O* starts, int64_t from, bool conjugate)
      : values_(values), positions_(positions), starts_(starts), next_(from), conjugate_(conjugate) {}
  E take() {
    const int64_t k = next_++;
    return starts_ == nullptr ? conjugated(values_[positions_[k]], conjugate_) : sum(k);
  }
  void skip() { ++next_; }
  const E* next(int n, E* buffer) {
    if (starts_ == nullptr)
      for (int k = 0; k < n; ++k) buffer[k] = conjugated(values_[positions_[next_ + k]], conjugate_);
    else
      for (int k = 0; k < n; ++k) buffer[k] = sum(next_ + k);
    next_ += n;
    return buffer;
  }

 private:
  E sum(int64_t k) const {
    E total{};
    for (O p = starts_[k]; p < starts_[k + 1]; ++p)
      total = plus(total, conjugated(values_[positions_ == nullptr ? p : positions_[p]], conjugate_));
    return total;
  }

  const E* values_;
  const O *positions_, *starts_;
  int64_t next_;
  bool conjugate_;
};

/// alpha a + beta b; a coefficient of 0 reads nothing.
template <class E, class SourceA, class SourceB>
struct Addition {
  E alpha, beta;
  bool reads_a, reads_b;
  SourceA a;
  SourceB b;

  static constexpr bool vectors =
#if defined(__AVX512F__)
      std::is_floating_point_v<E>;
#else
      false;
#endif

  E one(bool has_a, bool has_b) {
    E sum{};
    if (has_a) {
      if (reads_a)
        sum = times(alpha, a.take());
      else
        a.skip();
    }
    if (has_b) {
      if (reads_b)
        sum = plus(sum, times(beta, b.take()));
      else
        b.skip();
    }
    return sum;
  }

  void some(Word w, int n, E* to) {
    for (int k = 0; k < n; ++k) to[k] = one((w.a >> k & 1) != 0, (w.b >> k & 1) != 0);
  }

  /// 64 entries.
  void word(Word w, E* to) {
    if constexpr (vectors) {
      if (reads_a && reads_b) {
        E buffer_a[buffered], buffer_b[buffered];
        const E* const from_a = a.next(__builtin_popcountll(w.a), buffer_a);
        return add_vectors(w, from_a, b.next(__builtin_popcountll(w.b), buffer_b), to);
      }
    }
    if (w.b == 0 && reads_a) {
      for (int k = 0; k < 64; ++k) to[k] = times(alpha, a.take());
    } else if (w.a == 0 && reads_b) {
      for (int k = 0; k < 64; ++k) to[k] = times(beta, b.take());
    } else {
      some(w, 64, to);
    }
  }

#if defined(__AVX512F__)
  void add_vectors(Word w, const double* from_a, const double* from_b, double* to) const {
    const __m512d factor_a = _mm512_set1_pd(alpha), factor_b = _mm512_set1_pd(beta);
    for (int k = 0; k < 64; k += 8) {
      const auto mask_a = static_cast<__mmask8>(w.a >> k), mask_b = static_cast<__mmask8>(w.b >> k);
      const __m512d x = _mm512_maskz_expand_pd(mask_a, _mm512_loadu_pd(from_a)),
                    y = _mm512_maskz_expand_pd(mask_b, _mm512_loadu_pd(from_b));
      from_a += __builtin_popcount(mask_a);
      from_b += __builtin_popcount(mask_b);
      const __m512d scaled = _mm512_maskz_mul_pd(mask_a, factor_a, x);
      _mm512_storeu_pd(to + k, _mm512_mask3_fmadd_pd(factor_b, y, scaled, mask_b));
    }
  }
  void add_vectors(Word w, const float* from_a, const float* from_b, float* to) const {
    const __m512 factor_a = _mm512_set1_ps(alpha), factor_b = _mm512_set1_ps(beta);
    for (int k = 0; k < 64; k += 16) {
      const auto mask_a = static_cast<__mmask16>(w.a >> k), mask_b = static_cast<__mmask16>(w.b >> k);
      const __m512 x = _mm512_maskz_expand_ps(mask_a, _mm512_loadu_ps(from_a)),
                   y = _mm512_maskz_expand_ps(mask_b, _mm512_loadu_ps(from_b));
      from_a += __builtin_popcount(mask_a);
      from_b += __builtin_popcount(mask_b);
      const __m512 scaled = _mm512_maskz_mul_ps(mask_a, factor_a, x);
      _mm512_storeu_ps(to + k, _mm512_mask3_fmadd_ps(factor_b, y, scaled, mask_b));
    }
  }
#endif
};

/// C's columns, base 0.
template <class I, class J>
struct Columns {
  const I *a, *a_end, *b, *b_end;
  I base_a, base_b;

  J one(bool has_a, bool has_b) {
    const I column = has_a ? *a - base_a : *b - base_b;
    a += has_a;
    b += has_b;
    return static_cast<J>(column);
  }

  void some(Word w, int n, J* to) {
    for (int k = 0; k < n; ++k) to[k] = one((w.a >> k & 1) != 0, (w.b >> k & 1) != 0);
  }

  void word(Word w, J* to) {
#if defined(__AVX512F__)
    if constexpr (sizeof(I) == 4 && sizeof(J) == 4)
      if (a_end - a >= 64 && b_end - b >= 64) {
        const __m512i shift_a = _mm512_set1_epi32(base_a), shift_b = _mm512_set1_epi32(base_b);
        for (int k = 0; k < 64; k += 16) {
          const auto mask_a = static_cast<__mmask16>(w.a >> k), mask_b = static_cast<__mmask16>(w.b >> k);
          const __m512i x = _mm512_sub_epi32(_mm512_loadu_si512(a), shift_a),
                        y = _mm512_sub_epi32(_mm512_loadu_si512(b), shift_b);
          _mm512_storeu_si512(to + k, _mm512_mask_expand_epi32(_mm512_maskz_expand_epi32(mask_a, x), mask_b, y));
          a += __builtin_popcount(mask_a);
          b += __builtin_popcount(mask_b);
        }
        return;
      }
#endif
    some(w, 64, to);
  }
};

/// Runs `make` (Addition or Columns) over `count` entries of C from `to` on; large results bypass the caches.
template <class T, class Make>
void run_words(const Word* words, int64_t count, T* to, bool stream, Make make) {
  Make made = make;  // what no store to `to` can change
  int64_t done = 0;
  int shift = 0;
  const auto address = reinterpret_cast<uintptr_t>(to);
  stream = stream && address % sizeof(T) == 0 && cache_line % sizeof(T) == 0;
  if (stream) {
    // Up to the next cache line, so that lines are streamed whole.
    done = std::min(static_cast<int64_t>((cache_line - address % cache_line) % cache_line / sizeof(T)), count);
    shift = static_cast<int>(done);
    made.some(*words, shift, to);
  }
  const auto from_bit = [&](const Word* w) {
    return shift == 0 ? *w : Word{w[0].a >> shift | w[1].a << (64 - shift), w[0].b >> shift | w[1].b << (64 - shift)};
  };
  if (stream) {
    alignas(cache_line) T line[64];
    for (; done + 64 <= count; done += 64) {
      made.word(from_bit(words++), line);
      for (size_t k = 0; k < 64; k += cache_line / sizeof(T)) stream_line(to + done + k, line + k);
    }
    stream_fence();
  } else {
    for (; done + 64 <= count; done += 64) made.word(from_bit(words++), to + done);
  }
  if (done < count) made.some(from_bit(words), static_cast<int>(count - done), to + done);
}

}  // namespace kkc::spadd::host
