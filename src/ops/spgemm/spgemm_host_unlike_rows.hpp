// Rows of C that are like no other, one at a time: which columns their products name, in order, and where each
// product's is among them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "ops/spgemm/spgemm_host_few_met.hpp"
#include "ops/spgemm/spgemm_host_marked_columns.hpp"
#include "ops/spgemm/spgemm_host_met_columns.hpp"
#include "ops/spgemm/spgemm_host_sorted_products.hpp"

namespace kkc::spgemm {

/// Bytes of a product's place in a row of so many columns.
constexpr size_t place_bytes(int64_t columns) {
  if (columns <= int64_t{std::numeric_limits<uint8_t>::max()} + 1) return 1;
  return columns <= int64_t{std::numeric_limits<uint16_t>::max()} + 1 ? 2 : 4;
}

/// A thread's; takes a few bytes a column of C.
template <class I>
class UnlikeRows {
 public:
  explicit UnlikeRows(int64_t cols) : cols_(cols) {}

  /// A row whose products name columns[k] - base, k = 0..products-1, behind which `more_room` are read: appends each of
  /// these once, in order, to `found` and the places of every `length`th product, of place_bytes(their number), to
  /// `places`. Returns the number.
  int64_t collect(const I* columns, int64_t products, I base, int64_t length, std::vector<I>& found,
                  std::vector<std::byte>& places) {
    if constexpr (FewMet::suits<I>())
      if (length == 1 && products > 0 && products <= FewMet::most_collected)
        return sort(columns, products, base, found, places);
    if (length == 1 && products > FewMet::most && products <= most_marked)
      if (const int64_t m = mark(columns, products, base, found, places); m > 0) return m;
#if defined(__AVX512F__) || defined(__AVX2__)
    if constexpr (ColumnVectors::suit<I>())
      if (length == 1 && products > FewMet::most && SortedProducts::takes<I>(products, cols_))
        return sort_products(columns, products, base, found, places);
#endif
    if (!met_) met_.emplace(cols_);
    auto row = met_->begin(products);
    for (int64_t k = 0; k < products; ++k) row.meet(static_cast<I>(columns[k] - base));
    const int64_t m = row.size();
    const size_t at = found.size();
    found.resize(at + static_cast<size_t>(std::max(m + MetColumns<I>::more_room, FewMet::most)));
    I* const sorted = found.data() + at;
    if constexpr (FewMet::suits<I>())
      if (length == 1 && m > 0 && m <= FewMet::most) {
        FewMet::sort(row.columns(), m, sorted);
        const size_t before = places.size(), count = static_cast<size_t>(products);
        places.resize(before + count + FewMet::margin);
        FewMet::place(columns, products, base, sorted, m, places.data() + before);
        places.resize(before + count);
        found.resize(at + static_cast<size_t>(m));
        return m;
      }
    met_->end(row, 0, sorted);
    found.resize(at + static_cast<size_t>(m));
    const auto place_of = [this, columns, base](int64_t k) {
      return met_->place_of(static_cast<I>(columns[k] - base));
    };
    switch (place_bytes(m)) {
      case 1: append<uint8_t>(products, length, place_of, places); break;
      case 2: append<uint16_t>(products, length, place_of, places); break;
      default: append<uint32_t>(products, length, place_of, places);
    }
    return m;
  }

  static constexpr int64_t more_room = SortedProducts::lanes;

 private:
  /// Products of a row whose columns may be marked: places have two bytes then.
  static constexpr int64_t most_marked = 4096;

  /// collect() of few products.
  static int64_t sort(const I* columns, int64_t products, I base, std::vector<I>& found,
                      std::vector<std::byte>& places) {
    const size_t at = found.size(), before = places.size(), count = static_cast<size_t>(products);
    found.resize(at + FewMet::most_collected + 1);
    I* const sorted = found.data() + at;
    const int64_t m = FewMet::collect_more(columns, products, sorted);
    for (int64_t p = 0; p < m; ++p) sorted[p] = static_cast<I>(sorted[p] - base);
    places.resize(before + count + FewMet::margin);
    FewMet::place(columns, products, base, sorted, m, places.data() + before);
    places.resize(before + count);
    found.resize(at + static_cast<size_t>(m));
    return m;
  }

#if defined(__AVX512F__) || defined(__AVX2__)
  /// collect() of more, for which registers are enough.
  static int64_t sort_products(const I* columns, int64_t products, I base, std::vector<I>& found,
                               std::vector<std::byte>& places) {
    constexpr int64_t room = SortedProducts::most + SortedProducts::lanes;
    alignas(64) I sorted[room];
    alignas(64) uint16_t noted[room];
    const int64_t m = SortedProducts::make(columns, base, products, sorted, noted);
    found.insert(found.end(), sorted, sorted + m);
    const size_t before = places.size();
    places.resize(before + static_cast<size_t>(products));
    std::byte* const to = places.data() + before;
    for (int64_t k = 0; k < products; ++k) to[k] = static_cast<std::byte>(noted[k]);
    return m;
  }
#endif

  /// collect() of columns that lie close enough to each other, else 0.
  int64_t mark(const I* columns, int64_t products, I base, std::vector<I>& found, std::vector<std::byte>& places) {
    using Marked = MarkedColumns<I>;
    I first = columns[0], last = columns[0];
    for (int64_t k = 1; k < products; ++k) {
      first = std::min(first, columns[k]);
      last = std::max(last, columns[k]);
    }
    if (!Marked::suits(products, first, last)) return 0;
    if (!marked_) marked_.emplace(cols_);
    collected_.resize(static_cast<size_t>(most_marked + Marked::more_room));
    const I* const collected = collected_.data();
    const int64_t m = marked_->collect(columns, products, base, static_cast<I>(first - base),
                                       static_cast<I>(last - base), collected_.data());
    found.insert(found.end(), collected, collected + m);
    if (place_bytes(m) == 1)
      append_marked<uint8_t>(columns, products, base, places);
    else
      append_marked<uint16_t>(columns, products, base, places);
    return m;
  }
  template <class M>
  void append_marked(const I* columns, int64_t products, I base, std::vector<std::byte>& places) {
    const size_t at = places.size(), bytes = static_cast<size_t>(products) * sizeof(M);
    places.resize(at + bytes + MarkedColumns<I>::more_room * sizeof(M));
    marked_->template place<M>(columns, products, base, places.data() + at);
    places.resize(at + bytes);
  }

  template <class M, class Place>
  static void append(int64_t products, int64_t length, const Place& place_of, std::vector<std::byte>& places) {
    const size_t at = places.size();
    places.resize(at + static_cast<size_t>(products / length) * sizeof(M));
    std::byte* to = places.data() + at;
    for (int64_t k = 0; k < products; k += length, to += sizeof(M)) {
      const auto place = static_cast<M>(place_of(k));
      std::memcpy(to, &place, sizeof(M));
    }
  }

  int64_t cols_;
  std::optional<MetColumns<I>> met_;
  std::optional<MarkedColumns<I>> marked_;
  std::vector<I> collected_;
};

}  // namespace kkc::spgemm
