// The plan data of host_merge: for each of C's entries a bit that says whether A has it and one for B, 64 entries to a
// pair of words. A part of the work reads A, B and the bits in order, so that the numeric phase needs no positions.
#pragma once

#include <cstdint>

namespace kkc::spadd::host {

/// Bits of 64 entries of C.
struct Word {
  uint64_t a, b;
};

constexpr uint64_t low_bits(int n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

/// Appends bits to words.
class BitSink {
 public:
  explicit BitSink(Word* to) : to_(to), begin_(to) {}
  /// n entries, 0 <= n <= 64; bits from n on are 0.
  void append(uint64_t a, uint64_t b, int n) {
    word_.a |= a << fill_;
    word_.b |= b << fill_;
    fill_ += n;
    if (fill_ < 64) return;
    *to_++ = word_;
    fill_ -= 64;
    const int used = n - fill_;  // 1..64
    word_ = used == 64 ? Word{0, 0} : Word{a >> used, b >> used};
  }
  /// n entries of one matrix.
  void append_run(bool a, bool b, int64_t n) {
    for (; n > 0; n -= 64) {
      const int some = n < 64 ? static_cast<int>(n) : 64;
      append(a ? low_bits(some) : 0, b ? low_bits(some) : 0, some);
    }
  }
  int64_t count() const { return (to_ - begin_) * 64 + fill_; }
  /// Writes what is left and a word of zeros, which readers of shifted bits touch.
  void finish() {
    if (fill_ > 0) *to_++ = word_;
    *to_ = {0, 0};
  }

 private:
  Word* to_;
  Word* begin_;
  Word word_{0, 0};
  int fill_ = 0;
};

/// Words that `entries` of A and B may take, finish() included.
constexpr int64_t words_for(int64_t entries) { return (entries + 63) / 64 + 1; }

}  // namespace kkc::spadd::host
