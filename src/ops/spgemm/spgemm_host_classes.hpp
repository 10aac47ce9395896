// Rows of C that are alike: on grids, bands and their Galerkin products the rows of A reach rows of B of the same
// shapes at the same distances, so that C's columns and the places of all products are found once for a class of rows
// and only shifted for each of them. What the plan then keeps of a row is the number of its class. (Rows of like
// relative columns, as pattern-based formats of SpMV use them: Kourtis, Karakasis, Goumas, Koziris, "CSX", PPoPP'11,
// section 3; here for the product's rows.)
#pragma once

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "device/host_parallel.hpp"
#include "ops/spgemm/spgemm_host_left.hpp"

namespace kkc::spgemm {

/// Serial contexts have one thread, so that one instance serves both host devices.
struct AnyHost {
  static constexpr Device id = Device::openmp;
};

/// Calls f(worker, item) for items 0..items-1, handed out one by one; a worker is in one thread.
template <class F>
void deal(Queue& queue, int64_t items, const F& f) {
  std::atomic<int64_t> next{0};
  host_parts_checked<AnyHost>(queue, queue.concurrency(), [&](int64_t worker) {
    for (int64_t item = next++; item < items; item = next++) f(worker, item);
  });
}

inline constexpr int32_t no_class = -1;

/// Classes met so far.
struct Classes {
  std::vector<int64_t> members;  // one of each class
  std::unordered_multimap<uint64_t, int32_t> by_hash;

  template <class S>
  int32_t find(uint64_t h, int64_t item, const S& same) const {
    const auto [from, to] = by_hash.equal_range(h);
    for (auto at = from; at != to; ++at)
      if (same(members[static_cast<size_t>(at->second)], item)) return at->second;
    return no_class;
  }
  int32_t add(uint64_t h, int64_t item) {
    members.push_back(item);
    by_hash.emplace(h, static_cast<int32_t>(members.size()) - 1);
    return static_cast<int32_t>(members.size()) - 1;
  }
};

/// Numbers the classes of items 0..n-1: ids[i] = the class, or no_class past the first `most` classes or where most
/// items differ. Returns an item of each class. same(i, j) is an equivalence, hash(i) equal for equivalent items.
template <class Hash, class Same>
std::vector<int64_t> classify(Queue& queue, int64_t n, int32_t most, const Hash& hash, const Same& same, int32_t* ids) {
  const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(queue.concurrency(), n / 4096));
  std::vector<Classes> found(static_cast<size_t>(parts));
  host_parts_checked<AnyHost>(queue, parts, [&](int64_t part) {
    Classes& mine = found[static_cast<size_t>(part)];
    const int64_t begin = part_begin(n, parts, part), end = part_begin(n, parts, part + 1);
    int32_t last = no_class;
    for (int64_t i = begin; i < end; ++i) {
      if (i - begin == 4096 && mine.members.size() > 2048) {  // mostly different: not worth looking further
        mine = {};
        std::fill(ids + begin, ids + end, no_class);
        return;
      }
      if (last == no_class || !same(mine.members[static_cast<size_t>(last)], i)) {
        const uint64_t h = hash(i);
        last = mine.find(h, i, same);
        if (last == no_class && static_cast<int64_t>(mine.members.size()) < most) last = mine.add(h, i);
      }
      ids[i] = last;
    }
  });

  Classes all;
  std::vector<std::vector<int32_t>> renamed(static_cast<size_t>(parts));
  for (size_t part = 0; part < found.size(); ++part)
    for (const int64_t member : found[part].members) {
      const uint64_t h = hash(member);
      int32_t id = all.find(h, member, same);
      if (id == no_class && static_cast<int64_t>(all.members.size()) < most) id = all.add(h, member);
      renamed[part].push_back(id);
    }
  host_parts<AnyHost>(queue, parts, [&](int64_t part) {
    const auto& names = renamed[static_cast<size_t>(part)];
    for (int64_t i = part_begin(n, parts, part), end = part_begin(n, parts, part + 1); i < end; ++i)
      if (ids[i] != no_class) ids[i] = names[static_cast<size_t>(ids[i])];
  });
  return std::move(all.members);
}

/// The classes of C's rows. A row's columns are those of its class, shifted to the first column of the first row of B
/// that it reaches (`anchor`).
class RowClasses {
 public:
  static constexpr int32_t most_shapes = 4096, most_classes = 8192;
  static constexpr int64_t fewest_rows = 4, most_columns = 65535;

  struct Class {
    int64_t columns_at, columns;
    int64_t lengths_at;  // of the rows of B
    int64_t places_at;   // of runs of products
    int32_t run;         // products of a run, at consecutive places
  };
  std::vector<Class> classes;
  std::vector<int64_t> columns;  // relative to the anchor, sorted
  std::vector<int32_t> lengths;  // products of each entry of the left row
  std::vector<uint16_t> places;

  /// What decides of a row of B: its first column (-1: it is empty) and the class of its columns relative to that.
  template <class I>
  struct Head {
    I first;
    int32_t shape;
  };

  size_t bytes() const {
    return classes.size() * sizeof(Class) + columns.size() * sizeof(int64_t) + lengths.size() * sizeof(int32_t) +
           places.size() * sizeof(uint16_t);
  }

  template <class Row, class B>
  static int64_t anchor(const Row& row, const B& b) {
    for (int64_t k = 0; k < row.size(); ++k)
      if (const int64_t j = row.column(k), at = b.begin(j); at < b.end(j)) return b.column(at);
    return 0;
  }

  /// ids[row] = class or no_class; `shapes` and `heads`: room for as many as B has rows.
  template <class Left, class I, class O>
  void find(Queue& queue, const Left& left, const HostPatternRef<I, O>& B, int32_t* shapes, Head<I>* heads,
            int32_t* ids) {
    const auto mixed = [](uint64_t h, int64_t v) {
      h = (h ^ static_cast<uint64_t>(v)) * 0x9e3779b97f4a7c15u;
      return h ^ h >> 29;
    };
    classify(
        queue, B.rows, most_shapes,
        [&](int64_t j) {
          uint64_t h = 1;
          for (int64_t p = B.begin(j), end = B.end(j); p < end; ++p) h = mixed(h, B.column(p) - B.column(B.begin(j)));
          return h;
        },
        [&](int64_t i, int64_t j) {
          const int64_t p = B.begin(i), q = B.begin(j), n = B.end(i) - p;
          if (B.end(j) - q != n) return false;
          if (n == 0) return true;
          const int64_t shift = B.column(q) - B.column(p);
          bool equal = true;
          for (int64_t e = 0; e < n; ++e) equal &= B.column(q + e) - B.column(p + e) == shift;
          return equal;
        },
        shapes);

    const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(queue.concurrency(), B.rows / 4096));
    host_parts<AnyHost>(queue, parts, [&](int64_t part) {
      for (int64_t j = part_begin(B.rows, parts, part), end = part_begin(B.rows, parts, part + 1); j < end; ++j)
        heads[j] = {static_cast<I>(B.begin(j) < B.end(j) ? B.column(B.begin(j)) : -1), shapes[j]};
    });
    const auto members = classify(
        queue, left.rows(), most_classes,
        [&](int64_t i) {
          const auto row = left.row(i);
          uint64_t h = 2;
          int64_t origin = -1;
          for (int64_t k = 0; k < row.size(); ++k) {
            const Head<I> head = heads[row.column(k)];
            if (origin < 0) origin = head.first;
            h = mixed(mixed(h, head.shape), head.first < 0 ? 0 : head.first - origin);
          }
          return h;
        },
        [&](int64_t i, int64_t j) {
          const auto a = left.row(i), b = left.row(j);
          if (a.size() != b.size()) return false;
          if (a.size() == 0) return true;
          const int64_t shift = int64_t{heads[b.column(0)].first} - heads[a.column(0)].first;
          bool equal = true;
          for (int64_t k = 0; k < a.size(); ++k) {
            const int64_t p = a.column(k), q = b.column(k);
            const Head<I> x = heads[p], y = heads[q];
            // Rows of B without a class are like no other; empty ones lie nowhere.
            equal &=
                x.shape == y.shape && (x.shape != no_class || p == q) && (y.first - x.first == shift || y.first < 0);
          }
          return equal;
        },
        ids);
    keep_frequent(queue, left, B, members, ids);
  }

 private:
  /// Drops the classes of few rows and of too many columns; the others get their tables.
  template <class Left, class I, class O>
  void keep_frequent(Queue& queue, const Left& left, const HostPatternRef<I, O>& B, const std::vector<int64_t>& members,
                     int32_t* ids) {
    std::vector<int64_t> rows(members.size(), 0);
    for (int64_t i = 0; i < left.rows(); ++i)
      if (ids[i] != no_class) ++rows[static_cast<size_t>(ids[i])];
    std::vector<int32_t> names(members.size(), no_class);
    for (size_t c = 0; c < members.size(); ++c)
      if (rows[c] >= fewest_rows && add(left.row(members[c]), B)) names[c] = static_cast<int32_t>(classes.size()) - 1;
    const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(queue.concurrency(), left.rows() / 4096));
    host_parts<AnyHost>(queue, parts, [&](int64_t part) {
      for (int64_t i = part_begin(left.rows(), parts, part), end = part_begin(left.rows(), parts, part + 1); i < end;
           ++i)
        if (ids[i] != no_class) ids[i] = names[static_cast<size_t>(ids[i])];
    });
  }

  template <class Row, class B>
  bool add(const Row& row, const B& b) {
    const int64_t base = anchor(row, b);
    std::vector<int64_t> products, sorted;
    for (int64_t k = 0; k < row.size(); ++k)
      for (int64_t q = b.begin(row.column(k)), end = b.end(row.column(k)); q < end; ++q)
        products.push_back(b.column(q) - base);
    sorted = products;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    if (static_cast<int64_t>(sorted.size()) > most_columns) return false;
    std::vector<uint16_t> each(products.size());
    for (size_t p = 0; p < products.size(); ++p)
      each[p] = static_cast<uint16_t>(std::lower_bound(sorted.begin(), sorted.end(), products[p]) - sorted.begin());

    // Runs of consecutive places within a row of B: their lengths' common divisor is the length that all are cut to.
    int64_t common = 0, at = 0;
    for (int64_t k = 0; k < row.size(); ++k) {
      const int64_t end = at + b.end(row.column(k)) - b.begin(row.column(k));
      for (int64_t run = 1; at < end; ++at, ++run)
        if (at + 1 == end || each[static_cast<size_t>(at) + 1] != each[static_cast<size_t>(at)] + 1) {
          common = std::gcd(common, run);
          run = 0;
        }
    }
    int32_t run = 1;
    for (const int32_t length : {2, 3, 4, 6, 8, 9, 12, 16})
      if (common != 0 && common % length == 0) run = length;
    classes.push_back({static_cast<int64_t>(columns.size()), static_cast<int64_t>(sorted.size()),
                       static_cast<int64_t>(lengths.size()), static_cast<int64_t>(places.size()), run});
    columns.insert(columns.end(), sorted.begin(), sorted.end());
    for (int64_t k = 0; k < row.size(); ++k)
      lengths.push_back(static_cast<int32_t>(b.end(row.column(k)) - b.begin(row.column(k))));
    for (size_t p = 0; p < each.size(); p += static_cast<size_t>(run)) places.push_back(each[p]);
    return true;
  }
};

}  // namespace kkc::spgemm
