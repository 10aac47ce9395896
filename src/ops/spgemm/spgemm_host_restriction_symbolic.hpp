// Columns of C's rows and places of their products for host_restriction, a chunk of rows at a time. A row is first
// compared with the one that followed last time, then with those of its hash: on grids a few kinds of rows come again
// and again, shifted, and share the places of their products (spgemm_host_aggregates.hpp does the same). Others are
// collected in a bitmap of columns, or by marks of a byte; rows of up to eight columns get a mask for each row of B.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "ops/spgemm/spgemm_host_classes.hpp"
#include "ops/spgemm/spgemm_host_columns.hpp"
#include "ops/spgemm/spgemm_host_few_columns.hpp"
#include "ops/spgemm/spgemm_host_restriction_rows.hpp"
#include "ops/spgemm/spgemm_host_unlike_rows.hpp"

namespace kkc::spgemm {

/// Columns of a row with a mask of a byte for each row of B, and of one with masks of four bytes.
inline constexpr int64_t laned_columns = 8, wide_columns = 32;

/// FoundRows::Kind::run of rows with masks of four bytes.
inline constexpr uint8_t wide_masks = 0;

/// Bytes that what several threads write to must lie apart: processors fetch cache lines in pairs.
inline constexpr size_t written_apart = 128;

/// What the rows of some chunks are, all found by one thread; others write to their own at the same time.
template <class I>
struct alignas(written_apart) FoundRows {
  struct Kind {
    int64_t columns_at, marks_at, products;
    int64_t columns;
    // Products that each place stands for: columns that follow each other, as a point's unknowns. Or wide_masks.
    uint8_t run = 1;
  };
  std::vector<Kind> kinds;
  std::vector<I> columns;              // of each kind's first row
  std::vector<std::byte> marks;        // of each kind: masks for op(A)'s entries, or places of the products
  bool laned = false, longer = false;  // short rows have masks; the row before was too long for them
};

/// Of a chunk's rows of C.
struct ChunkSums {
  int64_t entries = 0, products = 0;
};

/// with_masks: rows of few columns get masks, if they can.
template <class I, class O, class Rows, bool with_masks>
class RestrictionSymbolic {
  using Pattern = HostPatternRef<I, O>;
  using U = std::make_unsigned_t<I>;
  using Found = FoundRows<I>;

 public:
  /// What a thread works with.
  struct alignas(written_apart) Worker {
    std::optional<ColumnSet> columns;     // of a row, once one needs them
    std::optional<UnlikeRows<I>> unlike;  // the same, of rows of few products
    std::vector<I> products;              // their columns, of the row
    Classes known;                        // of rows in `found` that were looked at
    std::vector<uint32_t> kinds;          // theirs
    Found* found = nullptr;               // where rows of the next chunk go, if any were found
    void forget() {
      known = {};
      kinds.clear();
      found = nullptr;
    }
    int64_t tried = most_tried;  // of the next chunk that looks
    int64_t unlooked = 0;        // rows before it
  };

  RestrictionSymbolic(const Rows& A, const Pattern& B) : A_(A), B_(B) {}

  /// kinds[i] and shifts[i] for rows begin..end-1: the kind of row i and how far its columns lie from that kind's,
  /// which is in `fresh` or, so that threads find kinds once and have few arrays, where the thread found those of a
  /// chunk before. Returns where.
  Found& find(int64_t begin, int64_t end, Worker& worker, uint32_t* kinds, U* shifts, Found& fresh,
              ChunkSums& sums) const {
    Found& found = worker.found != nullptr ? *worker.found : fresh;
    if (find<with_masks>(begin, end, worker, kinds, shifts, found, sums)) {
      worker.found = &found;
      if (worker.kinds.size() >= most_shared || found.marks.size() >= most_marks) worker.forget();
      return found;
    }
    fresh = {};  // a row of B does not ascend strictly
    worker.forget();
    find<false>(begin, end, worker, kinds, shifts, fresh, sums);
    worker.forget();
    return fresh;
  }

 private:
  /// `masks`: rows of few columns have masks; false where a row of B does not ascend strictly.
  template <bool masks>
  bool find(int64_t begin, int64_t end, Worker& worker, uint32_t* kinds, U* shifts, Found& found,
            ChunkSums& sums) const {
    found.laned = masks;
    Classes& known = worker.known;
    const auto before_chunk = static_cast<int64_t>(found.kinds.size());
    Foreseen foreseen;
    bool looks = worker.unlooked <= 0;
    int64_t entries = 0, products = 0, stretch = 1;
    for (int64_t i = begin; i < end; ++i) {
      U shift = 0;
      if constexpr (Rows::stored_runs)
        if (looks) fetch(i, std::min(i + stretch, end - 1));
      auto kind = static_cast<uint32_t>(found.kinds.size());
      if (looks && unlike(i - begin, static_cast<int64_t>(kind) - before_chunk, worker.tried)) {
        looks = false;
        worker.unlooked = unlooked_rows;
      }
      if (looks) {
        const int32_t id = foreseen.find(
            known, i, [this](int64_t row) { return hash(row); },
            [&](int64_t member, int64_t row) { return like(member, row, shift); });
        if (static_cast<size_t>(id) == worker.kinds.size()) {
          worker.kinds.push_back(kind);
          shift = 0;
        } else {
          kind = worker.kinds[static_cast<size_t>(id)];
        }
      }
      if (kind == found.kinds.size() && !add_kind<masks>(i, looks, worker, found)) return false;
      kinds[i] = kind;
      shifts[i] = shift;
      int64_t rows = 1;
      if constexpr (Rows::stored_runs)
        if (looks) {
          rows += repeat(i, 1, end, kinds, shifts);
          // A point's unknowns have the same columns; those of the next point come after all of them.
          if (rows > 1 && rows <= most_unknowns) rows += repeat(i, rows, end, kinds, shifts);
        }
      stretch = rows;
      entries += rows * found.kinds[kind].columns;
      products += rows * found.kinds[kind].products;
      i += rows - 1;
    }
    sums = {entries, products};
    worker.tried = looks ? most_tried : fewest_tried;
    worker.unlooked -= end - begin;
    return true;
  }

  /// Rows of a chunk after which it shows whether they are alike: then no more than half may be of new kinds, three
  /// quarters before. Few where those of the thread's chunk before were not.
  static constexpr int64_t most_tried = 128, fewest_tried = 16;
  static bool unlike(int64_t rows, int64_t fresh, int64_t tried) {
    return rows >= tried ? 2 * fresh > rows : rows >= fewest_tried && 4 * fresh > 3 * rows;
  }
  /// Rows of a thread behind unlike ones that are taken for such.
  static constexpr int64_t unlooked_rows = 128;
  /// Kinds that chunks share, and bytes of marks: larger arrays would be moved too often.
  static constexpr size_t most_shared = 4096, most_marks = size_t{1} << 20;
  /// Rows that are compared at once.
  static constexpr int64_t at_once = 64;
  /// Products of a row whose columns are collected as they are met, with places of two bytes.
  static constexpr int64_t most_met = 4096;
  /// Rows of a point that are looked for.
  static constexpr int64_t most_unknowns = 8;

  /// How many rows behind i + lag - 1 are like the row `lag` before. Notes their kinds and shifts.
  int64_t repeat(int64_t i, int64_t lag, int64_t end, uint32_t* kinds, U* shifts) const {
    U by = 0;
    const int64_t first = i + lag, rows = continued(i, lag, std::min(end - first, at_once), by);
    for (int64_t row = first; row < first + rows; ++row) {
      kinds[row] = kinds[row - lag];
      shifts[row] = static_cast<U>(shifts[row - lag] + by);
    }
    return rows;
  }

  /// Where row i's runs begin in B's columns, and row `next`'s in its offsets: each run is another place in memory, and
  /// comparing would wait for one after the other. Inlined at once, like prefetch().
  [[gnu::always_inline]] void fetch(int64_t i, int64_t next) const {
    constexpr int64_t line = 64 / sizeof(I), lines = 4;
    RowRun run{};
    for (auto runs = A_.runs(i); runs.next(run);) {
      const I* const columns = B_.indices + B_.begin(run.first);
      for (int64_t l = 0; l < lines; ++l) __builtin_prefetch(columns + l * line);
    }
    for (auto runs = A_.runs(next); runs.next(run);) {
      __builtin_prefetch(B_.offsets + run.first);
      __builtin_prefetch(B_.offsets + run.first + line);
    }
  }

  /// Whether row i meets the columns of row j, shifted, in the same order.
  [[gnu::always_inline]] bool like(int64_t j, int64_t i, U& shift) const {
    const O* const offsets = B_.offsets;
    const I* const indices = B_.indices;
    auto left = A_.runs(j), right = A_.runs(i);
    RowRun p{}, q{};
    bool met = false;
    U apart = 0;
    while (left.next(p)) {
      if (!right.next(q) || q.count != p.count) return false;
      const O *const from = offsets + p.first, *const to = offsets + q.first;
      const int64_t begin = static_cast<int64_t>(from[0]) - B_.base, at = static_cast<int64_t>(to[0]) - B_.base,
                    n = static_cast<int64_t>(from[p.count]) - from[0];
      if (unshifted(from + 1, to + 1, p.count, static_cast<std::make_unsigned_t<O>>(at - begin)) < p.count)
        return false;
      if (n == 0) continue;
      if (!met) apart = static_cast<U>(static_cast<U>(indices[at]) - static_cast<U>(indices[begin]));
      met = true;
      if (unshifted(indices + begin, indices + at, n, apart) < n) return false;
    }
    shift = apart;
    return !right.next(q);
  }

  /// How many of `most` rows behind row i + lag - 1, whole groups of `lag`, are like the row `lag` before, with columns
  /// `by` further: along a line of a grid, whole stretches of B repeat what lies one point of C before.
  int64_t continued(int64_t i, int64_t lag, int64_t most, U& by) const {
    const O* const offsets = B_.offsets;
    const I* const indices = B_.indices;
    int64_t apart = 0, groups = A_.continued(i, lag, most, apart) / lag;
    if (groups == 0) return 0;
    bool met = false;
    A_.each_range(i, lag, apart, [&](int64_t first) {
      groups = std::min(groups, (B_.rows - first) / apart - 1);
      if (groups <= 0) return;
      const O* const from = offsets + first;
      const int64_t begin = static_cast<int64_t>(from[0]) - B_.base, n = static_cast<int64_t>(from[apart]) - from[0];
      groups = unshifted(from + 1, from + 1 + apart, groups * apart, static_cast<std::make_unsigned_t<O>>(n)) / apart;
      if (groups == 0 || n == 0) return;
      if (!met) by = static_cast<U>(static_cast<U>(indices[begin + n]) - static_cast<U>(indices[begin]));
      met = true;
      groups = unshifted(indices + begin, indices + begin + n, groups * n, by) / n;
    });
    return std::max<int64_t>(groups, 0) * lag;
  }

  /// Of rows that are alike the same: their runs and, each with a weight of its own, how far the columns of these lie
  /// apart. (Of many rows whose runs only begin and end alike each would be compared with all before it.)
  uint64_t hash(int64_t i) const {
    uint64_t h = 1;
    const auto mix = [&h](int64_t v) {
      h = (h ^ static_cast<uint64_t>(v)) * 0x9e3779b97f4a7c15u;
      h ^= h >> 29;
    };
    int64_t origin = -1;
    RowRun run{};
    for (auto runs = A_.runs(i); runs.next(run);) {
      const int64_t begin = B_.begin(run.first), end = B_.begin(run.first + run.count);
      mix(run.count);
      mix(end - begin);
      if (begin == end) continue;
      if (origin < 0) origin = B_.column(begin);
      mix(B_.column(begin) - origin);
      U sum = 0;
      const U first = static_cast<U>(B_.indices[begin]);
      for (int64_t q = begin; q < end; ++q)
        sum += (static_cast<U>(B_.indices[q]) - first) * static_cast<U>(2 * (q - begin) + 1);
      mix(static_cast<int64_t>(sum));
    }
    return h;
  }

  /// A kind of which row i is the first. `shared`: others of it are looked for.
  template <bool masks>
  bool add_kind(int64_t i, bool shared, Worker& worker, Found& found) const {
    typename Found::Kind kind{static_cast<int64_t>(found.columns.size()), static_cast<int64_t>(found.marks.size()), 0,
                              0, 1};
    const auto undo = [&] {
      found.columns.resize(static_cast<size_t>(kind.columns_at));
      found.marks.resize(static_cast<size_t>(kind.marks_at));
    };
    Fit fit = Fit::longer;
    // Behind a long row another one is expected.
    const bool expects_masks = masks && !found.longer;
    if constexpr (masks)
      if (expects_masks) fit = mask_row(i, found, kind.products);
    if (fit == Fit::longer) {
      undo();
      kind.products = place_row(i, masks && shared, worker, found, kind.run);
      if constexpr (masks)
        if (static_cast<int64_t>(found.columns.size()) - kind.columns_at <= laned_columns) {
          if (expects_masks) return false;  // few columns without masks: a long row of B that holds columns twice
          undo();
          kind.run = 1;
          fit = mask_row(i, found, kind.products);
          if (fit == Fit::longer) return false;
        }
    }
    if (fit == Fit::unordered) return false;
    found.longer = fit == Fit::longer;
    kind.columns = static_cast<int64_t>(found.columns.size()) - kind.columns_at;
    found.kinds.push_back(kind);
    return true;
  }

  enum class Fit { masks, longer, unordered };
  /// Adds the columns in order, and masks of them. Not for more columns than masks have, and rows of B that do not
  /// ascend.
  Fit mask_row(int64_t i, Found& found, int64_t& products) const {
    FewColumns<I> known;
    I columns[laned_columns];
    uint32_t m = 0;
    const size_t marks_at = found.marks.size();
    Fit fit = Fit::masks;
    int64_t sum = 0;
    A_.each(i, later(), [&](int64_t j, int64_t) {
      const int64_t begin = B_.begin(j), count = B_.end(j) - begin;
      if (count > laned_columns) {
        fit = Fit::longer;
        return false;
      }
      bool ascend = true;
      unsigned mask = known.where(B_.indices + begin, count, ascend);
      if (std::popcount(mask) != count) {
        for (int64_t q = begin; q < begin + count; ++q) {
          if (known.where(B_.indices[q]) != 0) continue;
          if (m == laned_columns) {
            fit = Fit::longer;
            return false;
          }
          mask |= 1u << m;
          known.add(m, B_.indices[q]);
          columns[m++] = static_cast<I>(B_.column(q));
        }
        ascend &= std::popcount(mask) == count;  // no column twice
      }
      if (!ascend) {
        fit = Fit::unordered;
        return false;
      }
      found.marks.push_back(static_cast<std::byte>(mask));
      sum += count;
      return true;
    });
    if (fit != Fit::masks) return fit;
    products = sum;
    sort_masked(columns, m, found.marks, marks_at);
    found.columns.insert(found.columns.end(), columns, columns + m);
    return fit;
  }

  /// Puts the columns in order, and the bits of the masks from `at` on with them.
  static void sort_masked(I* columns, uint32_t m, std::vector<std::byte>& marks, size_t at) {
    if (std::is_sorted(columns, columns + m)) return;
    I sorted[laned_columns];
    unsigned bits[laned_columns] = {};  // where each bit goes
    for (uint32_t p = 0; p < m; ++p) {
      uint32_t smaller = 0;
      for (uint32_t q = 0; q < m; ++q) smaller += columns[q] < columns[p] ? 1 : 0;
      bits[p] = 1u << smaller;
      sorted[smaller] = columns[p];
    }
    uint8_t low[16] = {}, high[16] = {};  // of four bits together
    for (unsigned set = 1; set < 16; ++set) {
      const int lowest = std::countr_zero(set);
      low[set] = static_cast<uint8_t>(low[set & (set - 1)] | bits[lowest]);
      high[set] = static_cast<uint8_t>(high[set & (set - 1)] | bits[lowest + 4]);
    }
    for (; at < marks.size(); ++at) {
      const auto mask = static_cast<unsigned>(marks[at]);
      marks[at] = static_cast<std::byte>(low[mask & 15] | high[mask >> 4]);
    }
    std::copy(sorted, sorted + m, columns);
  }

  /// How many columns follow each other everywhere in the rows of B.
  uint8_t run_of(int64_t i) const {
    for (const int64_t length : {4, 3, 2}) {
      bool runs = true;
      RowRun run{};
      for (auto all = A_.runs(i); runs && all.next(run);)
        for (int64_t j = run.first; runs && j < run.first + run.count; ++j) {
          const int64_t begin = B_.begin(j), count = B_.end(j) - begin;
          runs = count % length == 0;
          for (int64_t q = 0; runs && q < count; ++q)
            runs = q % length == 0 || B_.indices[begin + q] == B_.indices[begin + q - 1] + 1;
        }
      if (runs) return static_cast<uint8_t>(length);
    }
    return 1;
  }

  /// Adds the columns in order and the places of the products, of each `length` one. Returns the products. `wide`: few
  /// columns get masks, if they can. (Rows of their own would have the processor guess their masks.)
  int64_t place_row(int64_t i, bool wide, Worker& worker, Found& found, uint8_t& length) const {
    int64_t products = 0;
    RowRun run{};
    for (auto runs = A_.runs(i); runs.next(run);) products += B_.begin(run.first + run.count) - B_.begin(run.first);
    if (!wide && products <= most_met) {
      meet_row(i, products, worker, found, length);
      return products;
    }
    if (!worker.columns) worker.columns.emplace(B_.cols);
    ColumnSet& columns = *worker.columns;
    switch (columns.expect(products)) {
      case ColumnSet::Visits::levels: insert<ColumnSet::Visits::levels>(i, columns); break;
      case ColumnSet::Visits::groups: insert<ColumnSet::Visits::groups>(i, columns); break;
      case ColumnSet::Visits::words: insert<ColumnSet::Visits::words>(i, columns);
    }
    const int64_t count = columns.rank();
    if (wide && count <= wide_columns && note_masks(i, columns, found.marks)) {
      length = wide_masks;
    } else {
      length = run_of(i);
      switch (place_bytes(count)) {
        case 1: note_places<uint8_t>(i, columns, products, length, found.marks); break;
        case 2: note_places<uint16_t>(i, columns, products, length, found.marks); break;
        default: note_places<uint32_t>(i, columns, products, length, found.marks);
      }
    }
    columns.drain([&](int64_t column) { found.columns.push_back(static_cast<I>(column)); });
    return products;
  }

  /// place_row() for few products, without masks.
  void meet_row(int64_t i, int64_t products, Worker& worker, Found& found, uint8_t& length) const {
    constexpr int64_t at_once = 8;
    worker.products.resize(static_cast<size_t>(most_met + at_once + UnlikeRows<I>::more_room));
    // Rows of B are short: their columns are copied side by side without a loop over each row's.
    I* to = worker.products.data();
    A_.each_run(i, later(), [&](int64_t j, int64_t, int64_t rows) {
      const int64_t end = B_.begin(j + rows);
      int64_t q = B_.begin(j);
      for (; q < end && q + at_once <= B_.nnz; q += at_once, to += at_once)
        std::memcpy(to, B_.indices + q, at_once * sizeof(I));  // below AVX-512 std::copy_n calls a function
      for (; q < end; ++q) *to++ = B_.indices[q];
      to += end - q;
    });
    const I* const columns = worker.products.data();
    length = products > 1 && columns[0] + 1 == columns[1] ? run_of(i) : 1;
    if (!worker.unlike) worker.unlike.emplace(B_.cols);
    worker.unlike->collect(columns, products, static_cast<I>(B_.base), length, found.columns, found.marks);
  }

  template <ColumnSet::Visits visits>
  void insert(int64_t i, ColumnSet& columns) const {
    A_.each(i, later(), [&](int64_t j, int64_t) {
      for (int64_t q = B_.begin(j), end = B_.end(j); q < end; ++q) columns.insert<visits>(B_.column(q));
      return true;
    });
  }

  /// The columns of each row of B as bits; false, and nothing is noted, where one does not ascend strictly.
  bool note_masks(int64_t i, const ColumnSet& columns, std::vector<std::byte>& marks) const {
    const size_t at = marks.size();
    RowRun run{};
    for (auto runs = A_.runs(i); runs.next(run);)
      for (int64_t j = run.first; j < run.first + run.count; ++j) {
        uint32_t mask = 0;
        for (int64_t q = B_.begin(j), end = B_.end(j); q < end; ++q) {
          const uint32_t bit = uint32_t{1} << columns.place(B_.column(q));
          if (bit <= mask) {
            marks.resize(at);
            return false;
          }
          mask |= bit;
        }
        marks.resize(marks.size() + sizeof(mask));
        std::memcpy(marks.data() + marks.size() - sizeof(mask), &mask, sizeof(mask));
      }
    return true;
  }

  template <class M>
  void note_places(int64_t i, const ColumnSet& columns, int64_t products, int64_t length,
                   std::vector<std::byte>& marks) const {
    const size_t at = marks.size();
    marks.resize(at + static_cast<size_t>(products / length) * sizeof(M));
    std::byte* to = marks.data() + at;
    RowRun run{};
    for (auto runs = A_.runs(i); runs.next(run);)
      for (int64_t q = B_.begin(run.first), end = B_.begin(run.first + run.count); q < end;
           q += length, to += sizeof(M)) {
        const auto place = static_cast<M>(columns.place(B_.column(q)));
        std::memcpy(to, &place, sizeof(M));
      }
  }

  Ahead<I, O, I, I> later() const { return {B_, B_.indices, nullptr}; }

  const Rows A_;
  const Pattern B_;
};

}  // namespace kkc::spgemm
