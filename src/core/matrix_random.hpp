// Numbered random draws that are the same on every machine: std::mt19937_64 is, the library's distributions are not.
#pragma once

#include <cstdint>
#include <random>

namespace kkc {

enum class Stream : uint64_t { pattern = 0, values = 1 };

/// Draw number n of a stream, for n from `first` on, in order. Blocks of 2^16 draws have engines of their own, so that
/// threads can begin anywhere.
class Draws {
 public:
  Draws(uint64_t seed, Stream stream, uint64_t first)
      : seed_(seed + static_cast<uint64_t>(stream) * stream_step), block_(first / block_draws) {
    open();
    left_ -= first % block_draws;
    engine_.discard(first % block_draws);
  }

  uint64_t next() {
    if (left_ == 0) [[unlikely]] {
      ++block_;
      open();
    }
    --left_;
    return engine_();
  }

 private:
  static constexpr uint64_t block_draws = uint64_t{1} << 16;
  static constexpr uint64_t stream_step = 0xd1b54a32d192ed03;
  static constexpr uint64_t block_step = 0x9e3779b97f4a7c15;

  void open() {
    engine_.seed(seed_ + block_ * block_step);
    left_ = block_draws;
  }

  std::mt19937_64 engine_;
  uint64_t seed_, block_, left_ = 0;
};

/// A whole number below n.
inline int64_t below(uint64_t draw, int64_t n) {
  return static_cast<int64_t>(
      static_cast<uint64_t>((static_cast<unsigned __int128>(draw) * static_cast<uint64_t>(n)) >> 64));
}

/// In [-0.5, 0.5), without rounding.
template <class R>
R centred(uint64_t draw) {
  if constexpr (sizeof(R) == 4)
    return static_cast<R>(static_cast<double>(draw >> 40) * 0x1p-24 - 0.5);
  else
    return static_cast<R>(static_cast<double>(draw >> 11) * 0x1p-53 - 0.5);
}

}  // namespace kkc
