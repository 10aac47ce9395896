// sort_rows, hosts: a row at a time, columns and places sorted as one number where they fit one.
#pragma once

#include <algorithm>
#include <atomic>
#include <type_traits>
#include <vector>

#include "core/dispatch.hpp"
#include "device/host_pattern_ref.hpp"
#include "device/host_scan.hpp"
#include "ops/sort_rows/sort_rows.hpp"

namespace kkc::sort_rows {
namespace host_sort_parts {

/// A column with its place in the row. Distinct, so any sort is stable.
template <class I>
struct Wide {
  I column;
  int64_t place;
  friend bool operator<(const Wide& a, const Wide& b) {
    return a.column != b.column ? a.column < b.column : a.place < b.place;
  }
};
struct Packed {
  uint64_t both;
  friend bool operator<(const Packed& a, const Packed& b) { return a.both < b.both; }
};
inline void set(Packed& e, int32_t column, int64_t place) {
  e.both = static_cast<uint64_t>(static_cast<uint32_t>(column)) << 32 | static_cast<uint32_t>(place);
}
template <class I>
void set(Wide<I>& e, I column, int64_t place) {
  e = {column, place};
}
inline int64_t column_of(const Packed& e) { return static_cast<int64_t>(e.both >> 32); }
inline int64_t place_of(const Packed& e) { return static_cast<int64_t>(e.both & 0xffffffffu); }
template <class I>
int64_t column_of(const Wide<I>& e) {
  return static_cast<int64_t>(e.column);
}
template <class I>
int64_t place_of(const Wide<I>& e) {
  return e.place;
}

/// n <= width: an entry's place is the number of those before it. No branches, and vectors across entries.
template <int width>
void sort_by_rank(Packed* e, int64_t n) {
  uint64_t entries[width], ranks[width] = {};
  for (int i = 0; i < width; ++i) entries[i] = i < n ? e[i].both : UINT64_MAX;
  for (int64_t k = 0; k < n; ++k) {
    const uint64_t other = entries[k];
    for (int i = 0; i < width; ++i) ranks[i] += other < entries[i] ? 1 : 0;
  }
  for (int64_t i = 0; i < n; ++i) e[ranks[i]].both = entries[i];
}

template <class E>
inline constexpr int64_t few = std::is_same_v<E, Packed> ? 64 : 32;

template <class E>
void sort_few(E* e, int64_t n) {
  if constexpr (std::is_same_v<E, Packed>) {
    if (n <= 8) return sort_by_rank<8>(e, n);
    if (n <= 16) return sort_by_rank<16>(e, n);
    if (n <= 32) return sort_by_rank<32>(e, n);
    return sort_by_rank<64>(e, n);
  } else {
    for (int64_t i = 1; i < n; ++i) {
      const E moved = e[i];
      int64_t k = i;
      for (; k > 0 && moved < e[k - 1]; --k) e[k] = e[k - 1];
      e[k] = moved;
    }
  }
}

/// Radix sort of columns from the least significant digit (Knuth, TAOCP 3, 5.2.5, algorithm R), stable; digits that all
/// columns share cost no pass. The entries are in the order of their places.
template <int bits, class E>
void sort_by_digits(E* e, E* other, int64_t n) {
  constexpr int64_t digits = int64_t{1} << bits;
  const auto column = [](const E& x) { return static_cast<uint64_t>(column_of(x)); };
  uint64_t differ = 0;
  for (int64_t i = 1; i < n; ++i) differ |= column(e[i]) ^ column(e[0]);
  E *from = e, *to = other;
  for (int shift = 0; shift < 63 && differ >> shift != 0; shift += bits) {
    if ((differ >> shift & (digits - 1)) == 0) continue;
    const auto digit = [&](const E& x) { return column(x) >> shift & (digits - 1); };
    int64_t next[digits] = {}, sum = 0;
    for (int64_t i = 0; i < n; ++i) ++next[digit(from[i])];
    for (int64_t& begin : next) {
      const int64_t count = begin;
      begin = sum;
      sum += count;
    }
    for (int64_t i = 0; i < n; ++i) to[next[digit(from[i])]++] = from[i];
    std::swap(from, to);
  }
  if (from != e) std::copy(from, from + n, e);
}

struct Order {
  bool sorted = true, strictly = true;
};

template <class Dev, class I, class O>
struct Sorter {
  HostPatternRef<I, O> A;
  const Desc& desc;
  Queue& queue;
  int64_t parts;

  Sorter(const Desc& d, Queue& q) : A(d.A), desc(d), queue(q), parts(parts_for_items(q, d.A.nnz + d.A.rows)) {}

  template <class F>
  void for_rows(const F& f) {
    host_parts_checked<Dev>(queue, parts,
                            [&](int64_t part) { f(A.first_row(parts, part), A.first_row(parts, part + 1)); });
  }

  Order order() {
    std::atomic<bool> sorted{true}, strictly{true};
    for_rows([&](int64_t first, int64_t last) {
      bool descends = false, equal = false;
      for (int64_t row = first; row < last && !(descends && equal); ++row)
        for (int64_t p = A.begin(row) + 1, end = A.end(row); p < end; ++p) {
          descends |= A.indices[p] < A.indices[p - 1];
          equal |= A.indices[p] == A.indices[p - 1];
        }
      if (descends) sorted = false;
      if (descends || equal) strictly = false;
    });
    return {sorted, strictly};
  }

  void copy_indices(I* indices) {
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      for (int64_t p = part_begin(A.nnz, parts, part), end = part_begin(A.nnz, parts, part + 1); p < end; ++p)
        indices[p] = static_cast<I>(A.column(p));
    });
  }

  void sort(I* indices, O* positions) {
    using E = std::conditional_t<sizeof(I) == 4, Packed, Wide<I>>;
    for_rows([&](int64_t first, int64_t last) {
      std::vector<E> entries, other;
      std::vector<Wide<I>> wide, other_wide;
      for (int64_t row = first; row < last; ++row) {
        const int64_t begin = A.begin(row), n = A.end(row) - begin;
        const auto through = [&](auto& e, auto& space) {
          e.resize(std::max(e.size(), static_cast<size_t>(n)));
          for (int64_t i = 0; i < n; ++i) set(e[static_cast<size_t>(i)], static_cast<I>(A.column(begin + i)), i);
          using Entry = typename std::remove_reference_t<decltype(e)>::value_type;
          if (n <= few<Entry>) {
            sort_few(e.data(), n);
          } else if (!std::is_sorted(e.data(), e.data() + n)) {
            space.resize(e.size());
            if (n < 2048)
              sort_by_digits<8>(e.data(), space.data(), n);
            else
              sort_by_digits<11>(e.data(), space.data(), n);
          }
          for (int64_t i = 0; i < n; ++i) {
            indices[begin + i] = static_cast<I>(column_of(e[static_cast<size_t>(i)]));
            positions[begin + i] = static_cast<O>(begin + place_of(e[static_cast<size_t>(i)]));
          }
        };
        if (n > int64_t{UINT32_MAX})
          through(wide, other_wide);
        else
          through(entries, other);
      }
    });
  }

  /// One entry of each run of equal columns in sorted rows.
  void merge(EntryMap& map) {
    const I* const sorted = map.indices->template as<I>();
    auto offsets = shared_array<O>(desc.memory, Space::host, A.rows + 1);
    O* const bounds = offsets->template as<O>();
    const auto begins_run = [&](int64_t p, int64_t begin) { return p == begin || sorted[p] != sorted[p - 1]; };
    for_rows([&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        O count = 0;
        for (int64_t p = A.begin(row), begin = p, end = A.end(row); p < end; ++p) count += begins_run(p, begin) ? 1 : 0;
        bounds[row] = count;
      }
    });
    map.nnz = host_exclusive_scan<Dev>(queue, bounds, bounds, A.rows);
    if (map.nnz == A.nnz) return;
    auto indices = shared_array<I>(desc.memory, Space::host, map.nnz);
    map.starts = shared_array<O>(desc.memory, Space::host, map.nnz + 1);
    I* const merged = indices->template as<I>();
    O* const starts = map.starts->template as<O>();
    for_rows([&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        auto to = static_cast<int64_t>(bounds[row]);
        for (int64_t p = A.begin(row), begin = p, end = A.end(row); p < end; ++p)
          if (begins_run(p, begin)) {
            merged[to] = sorted[p];
            starts[to++] = static_cast<O>(p);
          }
      }
    });
    starts[map.nnz] = static_cast<O>(A.nnz);
    map.offsets = std::move(offsets);
    map.indices = std::move(indices);
  }

  void run(EntryMap& map) {
    const Order order_of_A = order();
    map.offsets = shared_array<O>(desc.memory, Space::host, A.rows + 1);
    map.indices = shared_array<I>(desc.memory, Space::host, A.nnz);
    O* const offsets = map.offsets->template as<O>();
    offsets[0] = 0;
    for (int64_t row = 0; row < A.rows; ++row) offsets[row + 1] = static_cast<O>(A.end(row));
    if (order_of_A.sorted) {
      copy_indices(map.indices->template as<I>());
    } else {
      map.positions = shared_array<O>(desc.memory, Space::host, A.nnz);
      sort(map.indices->template as<I>(), map.positions->template as<O>());
    }
    if (desc.add_duplicates && !order_of_A.strictly) merge(map);
  }
};

template <class Dev>
std::unique_ptr<EntryMap> make(const Desc& desc, Queue& queue) {
  auto map = std::make_unique<EntryMap>();
  map->pair = desc.A.pair;
  map->rows = desc.A.rows;
  map->cols = desc.A.cols;
  map->nnz = map->sources = desc.A.nnz;
  dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto pair) {
    using P = decltype(pair);
    Sorter<Dev, typename P::ordinal, typename P::offset>(desc, queue).run(*map);
  });
  return map;
}

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace host_sort_parts

template <class Dev>
constexpr Implementation host() {
  return {{"host"}, true, host_sort_parts::unsupported, host_sort_parts::make<Dev>};
}

}  // namespace kkc::sort_rows
