// sptrsv on hosts: a number of each of eight neighbouring rows, in vectors as long as the processor's. g++ 12 keeps
// longer ones in memory, puts them together there element by element, and compares them one by one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "device/host_gather.hpp"

namespace kkc::sptrsv::host_levels_parts {

inline constexpr int group_rows = 8;

template <class S>
struct Group {
  static constexpr int lanes = std::min<int>(group_rows, static_cast<int>(simd_bytes / sizeof(S))),
                       parts = group_rows / lanes;
  using Part = Pack<S, lanes>;
  Part part[parts];

  [[gnu::always_inline]] S operator[](int i) const { return part[i / lanes][i % lanes]; }
  template <class F>
  [[gnu::always_inline]] void each(const F& f) {
    for (int p = 0; p < parts; ++p) f(part[p], p);
  }
  [[gnu::always_inline]] Group& operator*=(S factor) {
    each([&](Part & mine, int) __attribute__((always_inline)) { mine *= factor; });
    return *this;
  }
  [[gnu::always_inline]] Group& operator*=(const Group& other) {
    each([&](Part & mine, int p) __attribute__((always_inline)) { mine *= other.part[p]; });
    return *this;
  }
  [[gnu::always_inline]] Group& operator+=(const Group& other) {
    each([&](Part & mine, int p) __attribute__((always_inline)) { mine += other.part[p]; });
    return *this;
  }
  [[gnu::always_inline]] void subtract_product(const Group& a, const Group& b) {
    each([&](Part & mine, int p) __attribute__((always_inline)) { mine -= a.part[p] * b.part[p]; });
  }
  [[gnu::always_inline]] void invert() {
    each([](Part & mine, int) __attribute__((always_inline)) { mine = S{1} / mine; });
  }

  /// Of neighbours in order of steps: upwards from `from`, or downwards.
  template <bool ascending>
  [[gnu::always_inline]] void load(const S* from) {
    each([&](Part & mine, int p) __attribute__((always_inline)) {
      std::memcpy(&mine, ascending ? from + p * lanes : from - ((p + 1) * lanes - 1), sizeof mine);
      if constexpr (!ascending) turn(mine);
    });
  }
  template <bool ascending>
  [[gnu::always_inline]] void store(S* to) const {
    for (int p = 0; p < parts; ++p) {
      Part mine = part[p];
      if constexpr (!ascending) turn(mine);
      std::memcpy(ascending ? to + p * lanes : to - ((p + 1) * lanes - 1), &mine, sizeof mine);
    }
  }
  /// from[0], from[stride], ...
  [[gnu::always_inline]] void load_strided(const S* from, int64_t stride) {
    each([&](Part & mine, int p) __attribute__((always_inline)) {
      const S* const first = from + p * lanes * stride;
      [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
        mine = Part{first[i * stride]...};
      }
      (std::make_integer_sequence<int, lanes>{});
    });
  }

  /// from[at[0] + more], from[at[1] + more], ...
  template <class Index>
  [[gnu::always_inline]] void pick(const S* from, const Index* at, int64_t more) {
    each([&](Part & mine, int p) __attribute__((always_inline)) {
      const Index* const first = at + p * lanes;
      [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
        mine = Part{from[static_cast<int64_t>(first[i]) + more]...};
      }
      (std::make_integer_sequence<int, lanes>{});
    });
  }

  /// Bits of zeros.
  using Word = std::conditional_t<sizeof(S) == 8, uint64_t, uint32_t>;
  [[gnu::always_inline]] void note_zeros(Group<Word>& zeros) const {
    for (int p = 0; p < parts; ++p) {
      typename Group<Word>::Part bits;
      std::memcpy(&bits, &part[p], sizeof bits);
      bits += bits;  // without the sign
      zeros.part[p] |= ~(bits | -bits) >> (8 * sizeof(S) - 1);
    }
  }

 private:
  [[gnu::always_inline]] static void turn(Part& mine) {
    [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
      mine = __builtin_shufflevector(mine, mine, (lanes - 1 - i)...);
    }
    (std::make_integer_sequence<int, lanes>{});
  }
};

}  // namespace kkc::sptrsv::host_levels_parts
