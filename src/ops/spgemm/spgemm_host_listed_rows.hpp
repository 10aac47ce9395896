// Rows of C of few products, found and listed at once (spgemm_host_flat_products.hpp): products of many rows one behind
// the other, put in order by vector registers as many whole rows at a time as have room there, so that no branch
// depends on how long a row is.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "ops/spgemm/spgemm_host_flat_products.hpp"
#include "ops/spgemm/spgemm_host_list_vectors.hpp"

namespace kkc::spgemm {

/// What a thread works with.
class ListedRows {
 public:
  static constexpr int64_t lanes = ColumnVectors::lanes, most = ColumnVectors::most;
  static constexpr int column_bits = 23;

  /// Whether this build lists such rows of C.
  template <class I>
  static constexpr bool suits([[maybe_unused]] int64_t cols) {
#if defined(__AVX512F__) || defined(__AVX2__)
    return ColumnVectors::suit<I>() && cols <= int64_t{1} << column_bits;
#else
    return false;
#endif
  }

#if defined(__AVX512F__) || defined(__AVX2__)
  /// Of rows first..last-1 of A, whose rows of C have `most` products at most, from `first` on those of a block.
  /// products(i): of row i; single: every row of B has one entry. Writes C's columns to `columns`, and to counts[i] how
  /// many row i has. Returns the row behind the block, which it closes.
  template <class L, class I, class O, class Products, class Ahead>
  int64_t list(int64_t first, int64_t last, const HostPatternRef<I, O>& A, const HostPatternRef<I, O>& B,
               const Products& products, bool single, const Ahead& ahead, I* columns, I* counts,
               FlatProducts::Lists<L>& lists) {
    std::fill(std::begin(begins_), std::end(begins_), uint8_t{0});
    int64_t row = first, count = 0;
    const int64_t left = lists.block->left;
    do {
      begins_[count] = 1;
      count += products(row);
    } while (++row < last && count < FlatProducts::products_of_block &&
             A.begin(row) - left < FlatProducts::left_of_block && products(row) <= most);
    begins_[count] = 1;
    if (single)
      collect_single(left, A.end(row - 1), A, B);
    else
      collect(left, A.end(row - 1), A, B, ahead);
    const Found found = sort_all(count, static_cast<int32_t>(B.base), columns);
    int64_t before = 0, at = 0;
    for (int64_t i = first; i < row; ++i) {
      at += products(i);
      counts[i] = static_cast<I>(ends_[at] - before);
      before = ends_[at];
    }
    FlatProducts::Block& block = *lists.block;
    std::copy_n(first_b_, found.entries, lists.b + block.product);
    std::copy_n(first_a_, found.entries, lists.a + block.product);
    std::copy_n(later_b_, found.later, lists.b + block.product + found.entries);
    std::copy_n(later_a_, found.later, lists.a + block.product + found.entries);
    std::copy_n(later_to_, found.later, lists.to + block.later);
    lists.block[1] = {block.first + found.entries, A.end(row - 1), block.product + count, block.later + found.later};
    ++lists.block;
    return row;
  }

 private:
  using Vectors = ListVectors;
  using V = Vectors::V;
  static constexpr int64_t room = FlatProducts::products_of_block + most + lanes;
  static constexpr int lane_bits = 4, number_bits = 8;

  struct Found {
    int64_t entries = 0, later = 0;
  };

  /// The columns and factors of the products of A's entries begin..end-1.
  template <class I, class O, class Ahead>
  void collect(int64_t begin, int64_t end, const HostPatternRef<I, O>& A, const HostPatternRef<I, O>& B,
               const Ahead& ahead) {
    int64_t count = 0;
    for (int64_t p = begin; p < end; ++p) {
      ahead(p);
      const int64_t j = A.column(p), q = B.begin(j), size = B.end(j) - q;
      const V a = Vectors::all_of(static_cast<int32_t>(p - begin));
      V b = Vectors::sum(Vectors::all_of(static_cast<int32_t>(q)), Vectors::iota());
      // Lanes behind a row are written again.
      Vectors::write(column_ + count,
                     q + lanes <= B.nnz ? Vectors::read(B.indices + q) : Vectors::read_some(B.indices + q, size));
      Vectors::write(b_ + count, b);
      Vectors::write(a_ + count, a);
      for (int64_t k = lanes; k < size; k += lanes) {
        b = Vectors::sum(b, Vectors::all_of(lanes));
        Vectors::write(column_ + count + k, Vectors::read_some(B.indices + q + k, size - k));
        Vectors::write(b_ + count + k, b);
        Vectors::write(a_ + count + k, a);
      }
      count += size;
    }
  }

  template <class I, class O>
  void collect_single(int64_t begin, int64_t end, const HostPatternRef<I, O>& A, const HostPatternRef<I, O>& B) {
    const V base = Vectors::all_of(static_cast<int32_t>(A.base));
    for (int64_t p = begin, count = 0; p < end; p += lanes, count += lanes) {
      const V j = Vectors::difference(Vectors::read_some(A.indices + p, end - p), base);
      Vectors::write(column_ + count, Vectors::picked(B.indices, j, Vectors::lanes_of(end - p)));
      Vectors::write(b_ + count, j);
      Vectors::write(a_ + count, Vectors::sum(Vectors::all_of(static_cast<int32_t>(count)), Vectors::iota()));
    }
  }

  /// Puts `count` products in order, of whole rows that fit into a vector at once.
  Found sort_all(int64_t count, int32_t base, int32_t* columns) {
    Found found;
    ends_[0] = 0;
    for (int64_t at = 0; at < count;) {
      const uint32_t begins = Vectors::set_bytes(begins_ + at + 1);
      if (begins != 0) {
        const int64_t taken = std::bit_width(begins);
        sort_group(at, taken, begins << 1 & Vectors::lanes_of(lanes), base, columns, found);
        at += taken;
        continue;
      }
      const auto* const next = static_cast<const uint8_t*>(std::memchr(begins_ + at + 1, 1, static_cast<size_t>(most)));
      const int64_t taken = next - (begins_ + at);
      Vectors::with_vectors(taken, [&](auto used) { sort_row<used()>(at, taken, base, columns, found); });
      at += taken;
    }
    return found;
  }

  /// begins: lanes where rows begin, but for the first one.
  void sort_group(int64_t at, int64_t count, uint32_t begins, int32_t base, int32_t* columns, Found& found) {
    const uint32_t inside = Vectors::lanes_of(count);
    const V column = Vectors::difference(Vectors::read(column_ + at), Vectors::all_of(base)),
            where = Vectors::either(Vectors::up<column_bits>(Vectors::counted(begins)), column);
    V key = Vectors::only(Vectors::either(Vectors::up<lane_bits>(where), Vectors::iota()), inside);
    Vectors::sort<1>(&key);
    const V number = Vectors::both(key, Vectors::all_of((1 << lane_bits) - 1));
    write_found(at, Vectors::down<lane_bits>(key), Vectors::all_of(-1), inside,
                Vectors::picked(Vectors::read(a_ + at), number), Vectors::picked(Vectors::read(b_ + at), number),
                columns, found);
  }

  template <int used>
  void sort_row(int64_t at, int64_t count, int32_t base, int32_t* columns, Found& found) {
    V key[used];
    for (int i = 0; i < used; ++i) {
      const V column = Vectors::difference(Vectors::read(column_ + at + i * lanes), Vectors::all_of(base)),
              number = Vectors::sum(Vectors::iota(), Vectors::all_of(static_cast<int32_t>(i * lanes)));
      key[i] = Vectors::only(Vectors::either(Vectors::up<number_bits>(column), number),
                             Vectors::lanes_of(count - i * lanes));
    }
    Vectors::sort<used>(key);
    V before = Vectors::all_of(-1);
    for (int i = 0; i < used && i * lanes < count; ++i) {
      const V number = Vectors::both(key[i], Vectors::all_of((1 << number_bits) - 1)),
              where = Vectors::down<number_bits>(key[i]);
      const uint32_t inside = Vectors::lanes_of(count - i * lanes);
      write_found(at + i * lanes, where, before, inside, Vectors::picked(a_ + at, number, inside),
                  Vectors::picked(b_ + at, number, inside), columns, found);
      before = where;
    }
  }

  /// Products in order. where: a row, or none, and its column; before: the last one's.
  void write_found(int64_t at, V where, V before, uint32_t inside, V a, V b, int32_t* columns, Found& found) {
    const uint32_t first = Vectors::changes(where, before) & inside, later = inside & ~first;
    const V end = Vectors::sum(Vectors::counted(first), Vectors::all_of(static_cast<int32_t>(found.entries)));
    Vectors::write_narrow(ends_ + at + 1, end);
    const V column = Vectors::both(where, Vectors::all_of((1 << column_bits) - 1));
    Vectors::write(columns + found.entries, Vectors::packed(column, first));
    Vectors::write(first_b_ + found.entries, Vectors::packed(b, first));
    Vectors::write_narrow(first_a_ + found.entries, Vectors::packed(a, first));
    found.entries += std::popcount(first);
    Vectors::write(later_b_ + found.later, Vectors::packed(b, later));
    Vectors::write_narrow(later_a_ + found.later, Vectors::packed(a, later));
    Vectors::write_narrow(later_to_ + found.later,
                          Vectors::packed(Vectors::difference(end, Vectors::all_of(1)), later));
    found.later += std::popcount(later);
  }

  int32_t column_[room], a_[room];
  uint32_t b_[room], first_b_[room], later_b_[room];
  uint16_t first_a_[room], later_a_[room], later_to_[room], ends_[room];  // ends: entries of the products before
  uint8_t begins_[room];                                                  // 1 where a row's products begin
#endif
};

}  // namespace kkc::spgemm
