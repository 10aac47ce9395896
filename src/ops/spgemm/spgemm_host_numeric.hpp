// The numeric phase of spgemm on hosts. Every way of finding a product's place adds the products of a row in the same
// order to beta times C's old value, so all of them, and slices of any size, give the same bits.
#pragma once

#include "device/host_shared_parts.hpp"
#include "device/host_stream.hpp"
#include "ops/spgemm/spgemm_host_alike_rows.hpp"
#include "ops/spgemm/spgemm_host_group_sums.hpp"
#include "ops/spgemm/spgemm_host_symbolic.hpp"
#include "ops/spgemm/spgemm_host_workspace.hpp"

namespace kkc::spgemm {

template <class E, class I, class O, class LeftRows>
class HostNumeric {
  using B = HostPatternRef<I, O>;

 public:
  HostNumeric(HostPlan& plan, const OutputPattern& output, const LeftRows& left, const Args& args,
              const HostWorkspace& workspace)
      : plan_(plan),
        left_(left),
        B_(args.B),
        b_(static_cast<const E*>(args.B.values)),
        ahead_(left.pattern.A, B_),
        C_(output.ref()),
        columns_(static_cast<const I*>(C_.indices)),
        c_(static_cast<E*>(args.C)),
        beta_(factor<E>(args.beta).get()),
        alpha_is_zero_(factor<E>(args.alpha).get() == E{}),
        workspace_(static_cast<char*>(args.workspace)),
        each_(workspace.each) {
    if (plan.noted.data() != nullptr && !alpha_is_zero_)
      noted_ = plan.executes >= noting_execute       ? Noted::known
               : plan.executes == noting_execute - 1 ? Noted::now
                                                     : Noted::none;
  }

  void run(Queue& queue) const {
    if (plan_.flat.known() && !alpha_is_zero_) return flat_products(queue);
    deal_rows(queue);
    if (alpha_is_zero_ || plan_.executes == noting_execute) return;
    if (++plan_.executes == noting_execute && plan_.flat.has_room()) note_flat_products(queue);
  }

 private:
  /// Whether the places of rows that is_noted() names are known, are noted by this run, or neither.
  enum class Noted { none, now, known };
  /// Of the products of the next rows.
  struct Places {
    const uint16_t* kept;
    uint16_t* noted;
  };

  bool streams() const { return C_.nnz * static_cast<int64_t>(sizeof(E)) >= stream_threshold_bytes; }

  /// f(worker, chunk, its first row, one past its last).
  template <class F>
  void each_chunk(Queue& queue, const F& f) const {
    deal(queue, plan_.chunk_count(), std::ssize(plan_.heavy), [&](int64_t worker, int64_t turn) {
      const int64_t chunk = plan_.chunk_of(turn);
      f(worker, chunk, plan_.chunks[static_cast<size_t>(chunk)], plan_.chunks[static_cast<size_t>(chunk) + 1]);
    });
  }
  void flat_products(Queue& queue) const {
    if constexpr (std::is_same_v<LeftRows, LeftValues<E, I, O>>)
      each_chunk(queue, [&](int64_t, int64_t chunk, int64_t first, int64_t last) {
        plan_.flat.multiply(chunk, start(first), start(last), left_.alpha, left_.values, b_, beta_, c_, streams());
      });
  }
  void note_flat_products(Queue& queue) const {
    if constexpr (std::is_same_v<LeftRows, LeftValues<E, I, O>>) {
      each_chunk(queue, [&](int64_t, int64_t chunk, int64_t first, int64_t last) {
        plan_.flat.note(chunk, first, last, left_.pattern.A, B_, columns_, [this](int64_t i) { return start(i); });
      });
      plan_.flat.set_known();
    }
  }

  void deal_rows(Queue& queue) const {
    const bool streamed = streams();
    each_chunk(queue, [&](int64_t worker, int64_t chunk, int64_t first, int64_t last) {
      void* const memory = workspace_ + static_cast<size_t>(worker) * each_;
      Places places{plan_.places.as<uint16_t>() + plan_.chunk_places[static_cast<size_t>(chunk)], nullptr};
      if (noted_ != Noted::none)
        places.noted = plan_.noted.as<uint16_t>() + plan_.chunk_noted[static_cast<size_t>(chunk)];
      // Rows are made in a block that stays in the innermost cache, and leave it by whole lines while the next are
      // made.
      alignas(cache_line) E block[made_bytes / sizeof(E)];
      int64_t filled = 0, from = 0;
      const auto leave = [&](int64_t count) {
        stream_out(c_ + from, block, static_cast<size_t>(count) * sizeof(E));
        std::copy(block + count, block + filled, block);
        from += count;
        filled -= count;
      };
      for (int64_t i = first; i < last;) {
        const int32_t kind = kind_of(i);
        const Alike alike = stepped(kind) ? alike_from(left_.pattern, plan_.kinds.as<int32_t>(), i, last) : Alike{};
        const int64_t rows = alike.rows(), begin = start(i), count = start(i + rows) - begin;
        const bool in_block = streamed && count + line <= static_cast<int64_t>(std::size(block));
        if (!in_block || filled + count + line > static_cast<int64_t>(std::size(block))) leave(filled);
        if (filled == 0) from = begin;
        const bool apart = streamed && !in_block && count <= plan_.longest_apart && has_places(kind, count) &&
                           static_cast<size_t>(count) * sizeof(E) <= each_;
        E* const c = in_block ? block + filled : apart ? static_cast<E*>(memory) : c_ + begin;
        if (rows > 1)
          like_rows(alike, i, begin, c);
        else if (kind == row_copied && !alpha_is_zero_)
          copied(i, left_.row(i), c_ + begin, c, count, in_block);
        else
          make_row(i, begin, count, c, places, memory);
        if (apart) stream_out(c_ + begin, c, static_cast<size_t>(count) * sizeof(E));
        if (in_block) {
          filled += count;
          const auto end = reinterpret_cast<uintptr_t>(c_ + from + filled);
          const auto after = static_cast<int64_t>(end % cache_line / sizeof(E));
          if (filled - after >= 64 * line) leave(filled - after);
        }
        i += rows;
      }
      leave(filled);
      if (streamed) stream_fence();
    });
  }

  static constexpr int64_t line = cache_line / sizeof(E);

  int64_t start(int64_t i) const {
    return offset_size(C_.pair) == 8 ? static_cast<const int64_t*>(C_.offsets)[i]
                                     : static_cast<const int32_t*>(C_.offsets)[i];
  }

  bool stepped(int32_t kind) const {
    return StepVector<E>::lanes > 0 && kind >= 0 && !alpha_is_zero_ &&
           plan_.classes.classes[static_cast<size_t>(kind)].stepped;
  }

  void like_rows(const Alike& alike, int64_t i, int64_t begin, E* c) const {
    if constexpr (StepVector<E>::lanes > 0) {
      bool made = false;
      switch (alike.points * 10 + alike.unknowns) {
        case 81: made = at_once<8, 1>(i, begin, c); break;
        case 41: made = at_once<4, 1>(i, begin, c); break;
        case 21: made = at_once<2, 1>(i, begin, c); break;
        case 22: made = at_once<2, 2>(i, begin, c); break;
        case 23: made = at_once<2, 3>(i, begin, c); break;
        case 24: made = at_once<2, 4>(i, begin, c); break;
        case 12: made = at_once<1, 2>(i, begin, c); break;
        case 13: made = at_once<1, 3>(i, begin, c); break;
        case 14: made = at_once<1, 4>(i, begin, c); break;
        default: made = at_once<1, 1>(i, begin, c);
      }
      if (made) return;
      const int64_t columns = class_of(i).columns;
      for (int64_t r = 0; r < alike.rows(); ++r) careful_row(i + r, begin + r * columns, c + r * columns);
    }
  }

  const RowClasses::Class& class_of(int64_t i) const {
    return plan_.classes.classes[static_cast<size_t>(plan_.kinds.as<int32_t>()[i])];
  }

  /// Factors of a row to `to`; zero in all lanes, if they are finite, is added to `zeros`.
  template <class V, class Row>
  static void copy_factors(const Row& row, E* to, V& zeros) {
    for (int64_t k = 0, n = row.size(); k < n; k += V::lanes) {
      const unsigned inside = first_lanes<V>(n - k);
      V factors;
      if constexpr (requires { row.template factors<V>(k, inside); }) {
        factors = row.template factors<V>(k, inside);
      } else {
        E some[V::lanes];
        for (int64_t e = k; e < std::min(n, k + V::lanes); ++e) some[e - k] = row.factor(e);
        factors = V::load(some, inside);
      }
      factors.store(to + k);
      zeros.add(E{}, factors);
    }
  }

  /// False where that takes more care.
  template <int points, int unknowns>
  [[gnu::noinline]] bool at_once(int64_t i, int64_t begin, E* c) const {
    using V = StepVector<E>;
    constexpr int rows = points * unknowns;
    const RowClasses::Class& of = class_of(i);
    StepRows<E, rows> left;
    const auto first = left_.pattern.row(i), next = left_.pattern.row(points == 2 ? i + unknowns : i);
    const int32_t* const lengths = plan_.classes.lengths.data() + of.lengths_at;
    int64_t earliest = B_.nnz, last = 0, before = 0;
    for (int64_t k = 0, n = first.size(); k < n; ++k) {
      const int64_t at = B_.begin(first.column(k)),
                    stride = points == 2 ? B_.begin(next.column(k)) - at : int64_t{lengths[k]};
      left.b[k] = b_ + at;
      left.strides[k] = stride;
      earliest = std::min({earliest, at, at + (points - 1) * stride});
      last = std::max({last, at, at + (points - 1) * stride});
      // What the next rows read beyond these, once for entries whose rows of B follow each other.
      if (points > 1 && stride == unknowns * lengths[k] && (k == 0 || at < before || at > before + stride))
        for (int64_t q = at + (points + 2) * stride, end = q + points * stride; q < end; q += line)
          __builtin_prefetch(b_ + q);
      before = at;
    }
    V zeros = V::zero();
    for (int r = 0; r < rows; ++r) copy_factors(left_.row(i + r), left.factors + r * step_pitch, zeros);
    // What a vector reads beside a row of B must be there; a factor that is not finite must not meet the zeros in it.
    if (earliest < V::read_before || last + of.longest + V::lanes > B_.nnz || !zeros.is_zero()) return false;
    if (of.half)
      make_stepped<StepMode{points, unknowns, true, false}>(plan_.classes, of, left, beta_, c_ + begin, c);
    else
      make_stepped<StepMode{points, unknowns, false, false}>(plan_.classes, of, left, beta_, c_ + begin, c);
    return true;
  }
  void careful_row(int64_t i, int64_t begin, E* c) const {
    StepRows<E, 1> left;
    const auto row = left_.row(i);
    for (int64_t k = 0; k < row.size(); ++k) {
      left.factors[k] = row.factor(k);
      left.b[k] = b_ + B_.begin(row.column(k));
    }
    make_stepped<StepMode{1, 1, false, true}>(plan_.classes, class_of(i), left, beta_, c_ + begin, c);
  }

  bool has_places(int32_t kind, int64_t count) const {
    return kind == row_placed || (noted_ != Noted::none && is_noted(kind, count));
  }
  int32_t kind_of(int64_t i) const { return plan_.kinds.as<int32_t>()[i]; }

  /// Row i of C, whose old values are at `begin`, into c. Of kind row_copied only where alpha is 0, see copied().
  void make_row(int64_t i, int64_t begin, int64_t count, E* c, Places& places, void* memory) const {
    const int32_t kind = kind_of(i);
    if (stepped(kind)) return like_rows({}, i, begin, c);
    const bool noted = noted_ != Noted::none && is_noted(kind, count);
    const auto row = left_.row(i);
    if constexpr (StepVector<E>::expands)
      if (plan_.groups.used() && (kind == row_hash || kind == row_dense) && !alpha_is_zero_)
        return make_by_groups(plan_.groups, row, B_, b_, beta_, c_ + begin, columns_ + begin, count,
                              static_cast<E*>(memory), c);
    if (noted_ == Noted::now && noted) note(row, kind, columns_ + begin, count, memory, places.noted);
    const bool summed = kind == row_dense || (kind == row_hash && sums_columns());
    const bool listed = (kind == row_hash || kind == row_dense) && !sums_columns() && lists_places(count);
    if (alpha_is_zero_ || !summed || noted || listed) scale(c_ + begin, c, count);
    if (alpha_is_zero_) return;
    if (noted) {
      places.noted = placed(i, row, c, places.noted);
      return;
    }
    if (listed) {
      const uint16_t* const place = list_places(columns_ + begin, count, memory);
      add_products(i, row, [c, place](int64_t column) -> E& { return c[place[column]]; });
      return;
    }
    if (summed) return dense(i, row, c_ + begin, c, columns_ + begin, count, memory);
    switch (kind) {
      case row_empty: break;
      case row_placed: places.kept = placed(i, row, c, places.kept); break;
      case row_hash: hashed(row, c, columns_ + begin, count, memory); break;
      default: of_class(row, plan_.classes.classes[static_cast<size_t>(kind)], c);
    }
  }

  E scaled(const E& old) const { return beta_ == E{} ? E{} : times(beta_, old); }
  void scale(const E* old, E* c, int64_t count) const {
    if (beta_ == E{})
      std::fill(c, c + count, E{});
    else
      for (int64_t p = 0; p < count; ++p) c[p] = times(beta_, old[p]);
  }

  static void add(E& sum, E a, E b) { sum = added(a, b, sum); }

  /// The lines of a row of B soon to be read: of long rows of A a later one, and where a still later one begins.
  template <class Row>
  [[gnu::always_inline]] void prefetch_row(const Row& row, int64_t k) const {
    const bool is_long = row.size() > 64;
    const int64_t next = k + (is_long ? 8 : 2);
    if (is_long && next + 8 < row.size()) __builtin_prefetch(B_.offsets + row.column(next + 8));
    if (next >= row.size()) return;
    const int64_t begin = B_.begin(row.column(next));
    __builtin_prefetch(b_ + begin);
    __builtin_prefetch(b_ + begin + 64 / sizeof(E));
    __builtin_prefetch(B_.indices + begin);
  }

  /// has_room: for a vector behind the row.
  template <class Row>
  void copied(int64_t i, const Row& row, const E* old, E* c, int64_t count, bool has_room) const {
    ahead_.of_row(i).fetch(row, 0, b_);
    const int64_t begin = B_.begin(row.column(0));
    const E* const b = b_ + begin;
    const E a = row.factor(0);
    if constexpr (StepVector<E>::lanes > 0) {
      using V = StepVector<E>;
      if (has_room && begin + count + V::lanes <= B_.nnz) {
        for (int64_t p = 0; p < count; p += V::lanes) {
          V sum = V::zero();
          if (beta_ != E{}) sum = V::load(old + p, first_lanes<V>(count - p)).times(beta_);
          sum.add(a, V::load(b + p));
          sum.store(c + p);
        }
        return;
      }
    }
    for (int64_t p = 0; p < count; ++p) c[p] = added(a, b[p], scaled(old[p]));
  }

  /// P: uint16_t, or const. Returns where the places of the next row are.
  template <class Row, class P>
  P* placed(int64_t i, const Row& row, E* c, P* places) const {
    const auto fetching = ahead_.of_row(i);
    constexpr int64_t ahead = 512 / sizeof(E), places_ahead = 512;
    for (int64_t k = 0; k < row.size(); ++k) {
      fetching.fetch(row, k, b_);
      if (k + 1 < row.size()) {  // what follows of the next row, up to where its own loop asks for lines
        const E* const next = b_ + B_.begin(row.column(k + 1));
        const int64_t size = std::min(B_.end(row.column(k + 1)) - B_.begin(row.column(k + 1)), ahead);
        for (int64_t e = 2 * line; e < size; e += line) __builtin_prefetch(next + e);
      }
      const int64_t begin = B_.begin(row.column(k)), count = B_.end(row.column(k)) - begin;
      const E* const b = b_ + begin;
      const E a = row.factor(k);
      int64_t q = 0;
      if (plan_.distinct)
        for (; q + 8 <= count; q += 8) {
          if (q + ahead < count) __builtin_prefetch(b + q + ahead);
          if (q % 32 == 0) __builtin_prefetch(places + q + places_ahead, 0, 0);  // once: past the outer caches
          E sums[8];
          for (int t = 0; t < 8; ++t) sums[t] = added(a, b[q + t], c[places[q + t]]);
          for (int t = 0; t < 8; ++t) c[places[q + t]] = sums[t];
        }
      for (; q < count; ++q) add(c[places[q]], a, b[q]);
      places += count;
    }
    return places;
  }

  /// Adds each product to sum_of(its column), four at once where a row of B has no column twice.
  template <class Row, class SumOf>
  [[gnu::always_inline]] void add_products(int64_t i, const Row& row, const SumOf& sum_of) const {
    const auto fetching = ahead_.of_row(i);
    constexpr int64_t ahead = 1024 / sizeof(E), column_line = 64 / sizeof(I);
    for (int64_t k = 0; k < row.size(); ++k) {
      fetching.fetch(row, k, b_, B_.indices);
      if (k + 1 < row.size()) {  // all lines of the next row: the processor would find its way from the third on
        const int64_t begin = B_.begin(row.column(k + 1)), size = std::min(B_.end(row.column(k + 1)) - begin, ahead);
        for (int64_t e = 2 * line; e < size; e += line) __builtin_prefetch(b_ + begin + e);
        for (int64_t e = column_line; e < size; e += column_line) __builtin_prefetch(B_.indices + begin + e);
      }
      const int64_t begin = B_.begin(row.column(k)), count = B_.end(row.column(k)) - begin;
      const I* const columns = B_.indices + begin;
      const E* const b = b_ + begin;
      const E a = row.factor(k);
      const auto of = [&](int64_t q) -> E& { return sum_of(static_cast<int64_t>(columns[q]) - B_.base); };
      int64_t q = 0;
      if (plan_.distinct)
        for (; q + 4 <= count; q += 4) {
          E sums[4];
          for (int t = 0; t < 4; ++t) sums[t] = added(a, b[q + t], of(q + t));
          for (int t = 0; t < 4; ++t) of(q + t) = sums[t];
        }
      for (; q < count; ++q) add(of(q), a, b[q]);
    }
  }

  /// Notes the places of the row's products; `memory` may be where its sums are made then.
  template <class Row>
  void note(const Row& row, int32_t kind, const I* columns, int64_t count, void* memory, uint16_t* places) const {
    const auto each_column = [&](const auto& place_of) {
      for (int64_t k = 0; k < row.size(); ++k)
        for (int64_t q = B_.begin(row.column(k)), end = B_.end(row.column(k)); q < end; ++q)
          *places++ = static_cast<uint16_t>(place_of(B_.column(q)));
    };
    if (kind == row_hash && !lists_places(count)) {
      const PlaceTable<I> table(memory, columns, 0, count);
      each_column([&](int64_t column) { return table.find(column); });
    } else {
      const uint16_t* const place = list_places(columns, count, memory);
      each_column([place](int64_t column) { return place[column]; });
    }
  }

  /// Whether rows that could be made by a list of places are made by a sum of each column.
  bool sums_columns() const {
    const size_t bytes = static_cast<size_t>(C_.cols) * sizeof(E);
    return plan_.choice == HostChoice::binned && !plan_.masked && bytes <= std::min(each_, most_column_sums);
  }
  /// Whether the workspace has room for a place for each column, and one can be numbered.
  bool lists_places(int64_t count) const {
    return plan_.choice == HostChoice::binned && !plan_.masked && each_ >= place_list_bytes(C_.cols) &&
           count <= int64_t{std::numeric_limits<uint16_t>::max()} + 1;
  }
  /// The places of a row's columns, by column; of others anything.
  static const uint16_t* list_places(const I* columns, int64_t count, void* memory) {
    auto* const place = static_cast<uint16_t*>(memory);
    for (int64_t p = 0; p < count; ++p) place[columns[p]] = static_cast<uint16_t>(p);
    return place;
  }

  template <class Row>
  void of_class(const Row& row, const RowClasses::Class& of, E* c) const {
    if (of.single) return singles(row, of, c);
    switch (of.run) {
      case 2: return runs<2>(row, of, c);
      case 3: return runs<3>(row, of, c);
      case 4: return runs<4>(row, of, c);
      case 6: return runs<6>(row, of, c);
      case 8: return runs<8>(row, of, c);
      case 9: return runs<9>(row, of, c);
      case 12: return runs<12>(row, of, c);
      case 16: return runs<16>(row, of, c);
      default: return runs<1>(row, of, c);
    }
  }

  /// Rows of B of one entry: column after column, so that sums stay in registers.
  template <class Row>
  void singles(const Row& row, const RowClasses::Class& of, E* c) const {
    const uint16_t* list = plan_.classes.places.data() + of.places_at;
    for (int64_t p = 0; p < of.columns; ++p) {
      E sum = c[p];
      for (const uint16_t* const end = list + 1 + *list; ++list < end;)
        add(sum, row.factor(*list), b_[B_.begin(row.column(*list))]);
      c[p] = sum;
    }
  }

  /// Runs of `length` products go to consecutive places.
  template <int length, class Row>
  void runs(const Row& row, const RowClasses::Class& of, E* __restrict c) const {
    const int32_t* const counts = plan_.classes.lengths.data() + of.lengths_at;
    const uint16_t* place = plan_.classes.places.data() + of.places_at;
    for (int64_t k = 0; k < row.size(); ++k) {
      const E* __restrict b = b_ + B_.begin(row.column(k));
      const E a = row.factor(k);
      for (const E* const end = b + counts[k]; b < end; b += length) {
        E* const to = c + *place++;
        E sums[length];
        for (int t = 0; t < length; ++t) sums[t] = added(a, b[t], to[t]);
        for (int t = 0; t < length; ++t) to[t] = sums[t];
      }
    }
  }

  /// Through a table of places, of as many columns at a time as the workspace takes; without any, by binary search.
  template <class Row>
  void hashed(const Row& row, E* c, const I* columns, int64_t count, void* memory) const {
    const int64_t most = PlaceTable<I>::columns_in(each_);
    if (most == 0) {
      each_product(row, [&](int64_t column, const E& a, const E& b) {
        const I* const at = std::lower_bound(columns, columns + count, static_cast<I>(column));
        if (at < columns + count && *at == column) add(c[at - columns], a, b);
      });
      return;
    }
    for (int64_t first = 0; first < count; first += most) {
      const PlaceTable<I> table(memory, columns, first, std::min(most, count - first));
      each_product(row, [&](int64_t column, const E& a, const E& b) {
        if (const int64_t place = table.find(column); place >= 0) add(c[place], a, b);
      });
    }
  }

  /// Through an accumulator for every column, or for as many at a time as the workspace takes.
  template <class Row>
  void dense(int64_t i, const Row& row, const E* old, E* c, const I* columns, int64_t count, void* memory) const {
    const auto width = static_cast<int64_t>(each_ / sizeof(E));
    if (width == 0) {
      scale(old, c, count);
      hashed(row, c, columns, count, memory);
      return;
    }
    auto* const sums = static_cast<E*>(memory);
    if (width >= C_.cols) {
      for (int64_t p = 0; p < count; ++p) sums[columns[p]] = scaled(old[p]);
      add_products(i, row, [sums](int64_t column) -> E& { return sums[column]; });
      for (int64_t p = 0; p < count; ++p) c[p] = sums[columns[p]];
      return;
    }
    for (int64_t first = 0; first < count;) {
      const auto from = static_cast<int64_t>(columns[first]);
      int64_t last = first;
      for (; last < count && columns[last] - from < width; ++last) sums[columns[last] - from] = scaled(old[last]);
      each_product(row, [&](int64_t column, const E& a, const E& b) {
        if (static_cast<uint64_t>(column - from) < static_cast<uint64_t>(width)) add(sums[column - from], a, b);
      });
      for (int64_t p = first; p < last; ++p) c[p] = sums[columns[p] - from];
      first = last;
    }
  }

  template <class Row, class F>
  void each_product(const Row& row, const F& f) const {
    for (int64_t k = 0; k < row.size(); ++k) {
      prefetch_row(row, k);
      const E a = row.factor(k);
      for (int64_t q = B_.begin(row.column(k)), end = B_.end(row.column(k)); q < end; ++q) f(B_.column(q), a, b_[q]);
    }
  }

  HostPlan& plan_;
  const LeftRows& left_;
  B B_;
  const E* b_;
  RowsAhead<I, O> ahead_;
  CsrRef C_;
  const I* columns_;
  E* c_;
  E beta_;
  bool alpha_is_zero_;
  char* workspace_;
  size_t each_;
  Noted noted_ = Noted::none;
};

}  // namespace kkc::spgemm
