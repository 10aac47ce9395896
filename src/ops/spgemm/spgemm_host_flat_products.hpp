// Products of rows so short that a row takes longer than they do: for each entry of C where the factors of its first
// product are, and the other products one behind the other, so that no loop ends after a few turns. (On GPUs:
// spgemm_gpu_listed_rows.hpp.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "device/host_pattern_ref.hpp"
#include "device/host_stream.hpp"
#include "ops/spgemm/spgemm_host_steps.hpp"

namespace kkc::spgemm {

/// Six bytes a product (eight where rows of A are very long), and two more for each that is not its entry's first.
class FlatProducts {
 public:
  /// Whole rows of a chunk that follow each other; a chunk's last one is empty.
  struct Block {
    int64_t first, left;     // entry of C, of the chunk's, and of A
    int64_t product, later;  // of the chunk's: those that are the first of their entry, in C's order, then the others
  };
  /// Lists of a chunk, to be written. L: uint16_t or uint32_t, with_left().
  template <class L>
  struct Lists {
    Block* block;
    uint32_t* b;   // entry of B
    L* a;          // and of A, from the block's on
    uint16_t* to;  // of the products that are not their entry's first: entry of C, from the block's on
  };
  /// A block ends with the row that gives it so many products or entries of A: its entries of C stay in the innermost
  /// cache.
  static constexpr int64_t products_of_block = 1024, left_of_block = 4096;
  /// Rows that are listed alone end the block before them: two blocks of so many products in the mean.
  static constexpr int64_t fewest_of_block = 128;
  /// Entries of a row of A, where two bytes count them, and of a part of a row of C, that fit with any others.
  static constexpr int64_t longest = 61000;
  static_assert(longest + left_of_block <= std::numeric_limits<uint16_t>::max());

  /// Numbers of columns by binary search, where there is no room for a table of them.
  template <class I>
  struct Search {
    const I* columns;
    int64_t count;
    int64_t operator[](I column) const { return std::lower_bound(columns, columns + count, column) - columns; }
  };

  /// Of so many entries of C, of `bytes` each, and products.
  static bool suits(int64_t rows, int64_t entries, int64_t products, int64_t bytes, int64_t nnz_a, int64_t nnz_b) {
    constexpr int64_t most_of_row = 96;  // products: of more, rows lose less time than lists take to be read
    return products <= most_of_row * rows && std::max(nnz_a, nnz_b) < std::numeric_limits<uint32_t>::max() &&
           list_bytes(entries, products) <= 3 * bytes * entries;
  }

  /// Room for chunks of so many products and entries of A (sums of those before, and of all), but for those that
  /// make_later_room() gives; none at all where there is no memory for it, which is thrown. longest_left: row of A.
  void make_room(const std::shared_ptr<const Memory>& memory, const std::vector<int64_t>& products,
                 const std::vector<int64_t>& left, int64_t longest_left) {
    std::vector<int64_t> blocks_of(products.size(), 0);
    for (size_t c = 0; c + 1 < products.size(); ++c)
      blocks_of[c + 1] = blocks_of[c] + (products[c + 1] - products[c]) / fewest_of_block +
                         (left[c + 1] - left[c]) / left_of_block + 2;
    wide_ = longest_left > longest;
    Buffer b = host_array<uint32_t>(memory, products.back()),
           a = wide_ ? host_array<uint32_t>(memory, products.back()) : host_array<uint16_t>(memory, products.back()),
           blocks = host_array<Block>(memory, blocks_of.back());
    b_ = std::move(b);
    a_ = std::move(a);
    blocks_ = std::move(blocks);
    blocks_of_ = std::move(blocks_of);
    products_of_ = products;
  }
  /// Of products that are not their entry's first.
  void make_later_room(const std::shared_ptr<const Memory>& memory, const std::vector<int64_t>& later) {
    to_ = host_array<uint16_t>(memory, later.back());
    later_of_ = later;
  }
  bool has_room() const { return !later_of_.empty(); }
  bool known() const { return known_; }
  void set_known() { known_ = true; }
  size_t bytes() const {
    return b_.bytes() + a_.bytes() + to_.bytes() + blocks_.bytes() +
           (blocks_of_.size() + products_of_.size() + later_of_.size()) * sizeof(int64_t);
  }

  /// f(L()) of the type that counts a block's entries of A.
  template <class F>
  void with_left(const F& f) const {
    if (wide_)
      f(uint32_t());
    else
      f(uint16_t());
  }
  /// to: null before there is room for it.
  template <class L>
  Lists<L> of_chunk(int64_t chunk) const {
    const auto c = static_cast<size_t>(chunk);
    return {blocks_.as<Block>() + blocks_of_[c], b_.as<uint32_t>() + products_of_[c], a_.as<L>() + products_of_[c],
            later_of_.empty() ? nullptr : later(chunk)};
  }
  uint16_t* later(int64_t chunk) const { return to_.as<uint16_t>() + later_of_[static_cast<size_t>(chunk)]; }

  /// Lists the products of the rows first..last-1, a chunk's, whose entries of C begin at start(i). Columns of C's rows
  /// ascend.
  template <class I, class O, class Start>
  void note(int64_t chunk, int64_t first, int64_t last, const HostPatternRef<I, O>& A, const HostPatternRef<I, O>& B,
            const I* columns, const Start& start) const {
    with_left([&](auto left) {
      auto lists = of_chunk<decltype(left)>(chunk);
      *lists.block = {0, A.begin(first), 0, 0};
      const int64_t before = start(first);
      note_rows(lists, first, last, A, B, columns + before, [&](int64_t i) { return start(i) - before; });
    });
  }

  /// The same of rows that follow those listed, whose entries of the chunk begin at start(i).
  template <class L, class I, class O, class Start>
  static void note_rows(Lists<L>& lists, int64_t first, int64_t last, const HostPatternRef<I, O>& A,
                        const HostPatternRef<I, O>& B, const I* columns, const Start& start) {
    for (int64_t i = first; i < last;) {
      Block* const block = lists.block;
      if (start(i + 1) - start(i) > longest) {
        note_row(lists, i, A, B, columns + start(i), start(i + 1) - start(i), [](const I* part, int64_t count) {
          return Search<I>{part, count};
        });
        ++i;
        continue;
      }
      int64_t products = 0, end = i;
      do
        for (int64_t p = A.begin(end); p < A.end(end); ++p) products += B.end(A.column(p)) - B.begin(A.column(p));
      while (++end < last && products < products_of_block && A.begin(end) - block->left < left_of_block &&
             start(end + 1) - start(end) <= longest);
      NewBlock made(lists, start(end) - block->first);
      for (; i < end; ++i)
        for (int64_t p = A.begin(i), row = start(i), row_end = start(i + 1); p < A.end(i); ++p) {
          int64_t next = row;  // where the last product's neighbour is
          for (int64_t j = A.column(p), q = B.begin(j); q < B.end(j); ++q, ++next) {
            const auto column = static_cast<I>(B.column(q));
            if (next == row_end || columns[next] != column)
              next = std::lower_bound(columns + row, columns + row_end, column) - columns;
            made.add(next - block->first, p, q);
          }
        }
      made.close(A.begin(end));
    }
  }

  /// The same of one row with these columns. place(part, count): an array with each column's number in a part of them.
  template <class L, class I, class O, class Place>
  static void note_row(Lists<L>& lists, int64_t i, const HostPatternRef<I, O>& A, const HostPatternRef<I, O>& B,
                       const I* columns, int64_t entries, const Place& place) {
    for (int64_t first = 0; first < entries; first += longest) {  // a block each
      const int64_t count = std::min(longest, entries - first);
      const I low = columns[first], high = columns[first + count - 1];
      const auto number = place(columns + first, count);
      NewBlock made(lists, count);
      for (int64_t p = A.begin(i); p < A.end(i); ++p)
        for (int64_t j = A.column(p), q = B.begin(j); q < B.end(j); ++q) {
          const auto column = static_cast<I>(B.column(q));
          if (column >= low && column <= high) made.add(number[column], p, q);
        }
      made.close(first + count < entries ? A.begin(i) : A.end(i));
    }
  }

  /// The entries first..end-1 of C, a chunk's: c = beta c + alpha a b, summed up as A's rows have the products.
  template <class E>
  void multiply(int64_t chunk, int64_t first, int64_t end, const E& alpha, const E* values_of_a, const E* values_of_b,
                const E& beta, E* c, bool streamed) const {
    with_left([&](auto left) {
      multiply(of_chunk<decltype(left)>(chunk), first, end, alpha, values_of_a, values_of_b, beta, c, streamed);
    });
  }

 private:
  template <class L, class E>
  static void multiply(const Lists<L>& lists, int64_t first, int64_t end, const E& alpha, const E* values_of_a,
                       const E* values_of_b, const E& beta, E* c, bool streamed) {
    alignas(cache_line) E made[2 * products_of_block];
    for (const Block* block = lists.block; first + block->first < end; ++block) {
      const int64_t count = block[1].first - block->first;
      const bool apart = streamed && count <= std::ssize(made);
      E* const old = c + first + block->first;
      E* const sums = apart ? made : old;
      const uint32_t* const b = lists.b + block->product;
      const L* const a = lists.a + block->product;
      const E* const left = values_of_a + block->left;
      const auto product = [&](int64_t p, const E& sum) {
        return added(times(alpha, left[a[p]]), values_of_b[b[p]], sum);
      };
      if (beta == E{})
        for (int64_t p = 0; p < count; ++p) sums[p] = product(p, E{});
      else
        for (int64_t p = 0; p < count; ++p) sums[p] = product(p, times(beta, old[p]));
      const uint16_t* const to = lists.to + block->later;
      for (int64_t k = 0, later = block[1].later - block->later; k < later; ++k)
        sums[to[k]] = product(count + k, sums[to[k]]);
      if (apart) stream_out(old, made, static_cast<size_t>(count) * sizeof(E));
    }
    if (streamed) stream_fence();
  }

  /// The block that lists.block begins, of so many entries of C, product by product.
  template <class L>
  class NewBlock {
   public:
    NewBlock(Lists<L>& lists, int64_t entries)
        : lists_(lists),
          b_(lists.b + lists.block->product),
          a_(lists.a + lists.block->product),
          to_(lists.to + lists.block->later),
          entries_(entries),
          end_(entries) {
      std::fill_n(b_, entries, none);
    }
    void add(int64_t entry, int64_t p, int64_t q) {
      if (b_[entry] != none) {
        to_[end_ - entries_] = static_cast<uint16_t>(entry);
        entry = end_++;
      }
      b_[entry] = static_cast<uint32_t>(q);
      a_[entry] = static_cast<L>(p - lists_.block->left);
    }
    void close(int64_t left) {
      const Block& block = *lists_.block;
      lists_.block[1] = {block.first + entries_, left, block.product + end_, block.later + end_ - entries_};
      ++lists_.block;
    }

   private:
    static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

    Lists<L>& lists_;
    uint32_t* b_;
    L* a_;
    uint16_t* to_;
    int64_t entries_, end_;  // of the products
  };

  static int64_t list_bytes(int64_t entries, int64_t products) {
    constexpr auto each = static_cast<int64_t>(sizeof(uint32_t) + sizeof(uint16_t));
    return products * each + (products - entries) * static_cast<int64_t>(sizeof(uint16_t));
  }

  Buffer b_, a_, to_, blocks_;
  std::vector<int64_t> blocks_of_, products_of_, later_of_;  // of chunks
  bool wide_ = false, known_ = false;
};

}  // namespace kkc::spgemm
