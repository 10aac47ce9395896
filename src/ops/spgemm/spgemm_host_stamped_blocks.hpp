// Columns of one row of C whose products lie close to each other, as those of unknowns of a point or of dense blocks
// do: the products' blocks of 64 columns (spgemm_host_blocks.hpp) leave each block and its bits once, vector registers
// put the blocks in order, and their bits become columns.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "ops/spgemm/spgemm_host_blocks.hpp"
#include "ops/spgemm/spgemm_host_stamped_columns.hpp"

namespace kkc::spgemm {

/// A block's stamp says which row met it last.
class StampedBlocks {
 public:
  /// Rows of so many products at most.
  static constexpr int64_t most_products = 1 << 15;

  explicit StampedBlocks(int64_t cols) : blocks_(static_cast<size_t>(cols / columns_of_block + 1)) {}

  /// Writes the columns of the rows of B that `row` reaches to `to` in ascending order, each once, and returns their
  /// number. `to` has room for as many as there are products, and lanes more. blocks: ColumnBlocks of B.
  template <class Row, class Blocks, class I>
  int64_t make(const Row& row, const Blocks& blocks, I* to) {
    ++stamp_;  // rows are fewer than stamps
    constexpr int64_t ahead = 4;
    int64_t met = 0;
    for (int64_t k = 0; k < row.size(); ++k) {
      if (k + ahead < row.size()) blocks.prefetch(row.column(k + ahead));
      blocks.each(row.column(k), [&](int64_t number, uint64_t bits) {
        if (met == std::ssize(met_)) met_.resize(2 * met_.size());
        Block& block = blocks_[static_cast<size_t>(number)];
        const bool fresh = block.stamp != stamp_;
        met_[static_cast<size_t>(met)] = static_cast<int32_t>(number);
        met += fresh ? 1 : 0;
        block = {(fresh ? 0 : block.bits) | bits, stamp_};
      });
    }
    StampedColumns::sort(met_.data(), met);
    int64_t count = 0;
    for (int64_t n = 0; n < met; ++n) {
      const int32_t number = met_[static_cast<size_t>(n)];
      count += write(number * columns_of_block, blocks_[static_cast<size_t>(number)].bits, to + count);
    }
    return count;
  }

 private:
  struct Block {
    uint64_t bits;
    uint32_t stamp;
  };

  /// The columns from `first` on that have a bit. Returns their number.
  template <class I>
  static int64_t write(int32_t first, uint64_t bits, I* to) {
    const int64_t count = std::popcount(bits);
#if defined(__AVX512F__)
    if constexpr (sizeof(I) == 4) {
      const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
      for (int32_t part = first; bits != 0; bits >>= 16, part += 16) {
        const auto here = static_cast<__mmask16>(bits);
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(here, _mm512_add_epi32(lanes, _mm512_set1_epi32(part))));
        to += std::popcount(static_cast<uint32_t>(here));
      }
      return count;
    }
#endif
    for (; bits != 0; bits &= bits - 1) *to++ = static_cast<I>(first + std::countr_zero(bits));
    return count;
  }

  std::vector<Block> blocks_;
  std::vector<int32_t> met_ = std::vector<int32_t>(256 + StampedColumns::lanes);
  uint32_t stamp_ = 0;
};

}  // namespace kkc::spgemm
