// The order of keys as unsigned numbers: what radix sorts take digits of and comparisons compare.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace kkc::view_sort {

/// Unsigned number of T's size in the same order: -0 like 0, NaN above everything.
template <class T>
constexpr auto ordered(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
    if (value != value) return static_cast<Bits>(~Bits{0});
    const Bits bits = std::bit_cast<Bits>(value == 0 ? T{0} : value);
    return static_cast<Bits>((bits & sign) != 0 ? ~bits : bits | sign);
  } else if constexpr (std::is_signed_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    return static_cast<Bits>(static_cast<Bits>(value) ^ (Bits{1} << (8 * sizeof(T) - 1)));
  } else {
    return value;
  }
}

/// Two parts compared one after the other.
template <class Part>
struct RankPair {
  Part high, low;
  friend constexpr bool operator<(const RankPair& a, const RankPair& b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
  }
};

/// Order of keys: numbers, or pairs re, im compared one after the other. Equal keys have the same rank.
template <class T>
struct Order {
  bool descending;

  static constexpr bool is_pair = requires(T key) { key.re; };
  /// Bytes of a key, each a digit; the first ones matter least.
  static constexpr int digits = static_cast<int>(sizeof(T));

  constexpr auto rank(const T& key) const {
    if constexpr (is_pair)
      return RankPair<decltype(ordered(key.re))>{turned(ordered(key.re)), turned(ordered(key.im))};
    else
      return turned(ordered(key));
  }

  constexpr unsigned digit(const T& key, int which) const {
    unsigned byte;
    if constexpr (is_pair) {
      constexpr int half = digits / 2;
      const auto part = ordered(which < half ? key.im : key.re);
      byte = static_cast<unsigned>(part >> (8 * (which < half ? which : which - half))) & 255u;
    } else {
      byte = static_cast<unsigned>(ordered(key) >> (8 * which)) & 255u;
    }
    return descending ? 255u - byte : byte;
  }

 private:
  template <class Bits>
  constexpr Bits turned(Bits bits) const {
    return descending ? static_cast<Bits>(~bits) : bits;
  }
};

}  // namespace kkc::view_sort
