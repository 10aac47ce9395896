// Kernels of gpu_tables, for ilu and ic: as gpu_programs, but each row has a table of its own, which says of each four
// rows that it needs and each of its entries where the other factors of their products stand. A few long rows, and
// those that need such, may go without.
#pragma once

#include <type_traits>

#include "ops/ilu/ilu_gpu_programs_kernels.hpp"

namespace kkc::ilu::gpu_parts {

/// Needed rows of a word of the table: a byte each, how far from the diagonal entry of its row the number stands. That
/// is the needed row of lu, and of cholesky the row that the entry stands for.
inline constexpr int table_steps = 4;

/// Entries of a row that have words: cholesky's diagonal entry loses what the row itself has.
template <Form form>
__host__ __device__ constexpr int table_entries(int count, int middle) {
  return form == Form::lu ? count : middle;
}

/// Where the words of needed rows from `step` on begin in a row's table, a multiple of table_steps. The row's entries
/// before these have none: they come before what those rows change.
__host__ __device__ constexpr uint32_t table_words_before(uint32_t step, uint32_t entries) {
  const uint32_t words = step / table_steps;
  return words * entries - table_steps * (words * (words - 1) / 2);
}

inline constexpr int few_lanes = 32, many_lanes = 64;  // entries of rows with tables beside a few longer ones
inline constexpr int most_distance = 255;

struct alignas(8) TableFacts {
  int longest;  // row
  // Rows of more than few_lanes and many_lanes entries, and those without a table; entries that one of these, and that
  // all of them look at.
  unsigned over_few, over_many, others, heaviest;
  unsigned long long looks;
};

/// Words of each row's table, and how long rows are.
template <Form form, class I, class O>
struct CountTableWords {
  static constexpr int threads = 256;
  static constexpr uint32_t too_many = 1u << 30;
  FactorRows<I, O> rows;
  int64_t count;
  uint32_t* words;
  TableFacts* facts;  // zero at first

  __device__ void operator()() const {
    const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= count) return;
    const O entries = rows.offsets[i + 1] - rows.offsets[i], middle = rows.diagonal[i] - rows.offsets[i];
    const auto length = static_cast<int>(min(static_cast<O>(INT32_MAX), entries));
    if (gpu::load_fresh(&facts->longest) < length) atomicMax(&facts->longest, length);
    count_over(length > few_lanes, &facts->over_few);
    count_over(length > many_lanes, &facts->over_many);
    const auto steps = static_cast<uint32_t>((middle + table_steps - 1) / table_steps * table_steps);
    words[i] = entries > 4096 ? too_many
                              : table_words_before(steps, static_cast<uint32_t>(table_entries<form>(
                                                              static_cast<int>(entries), static_cast<int>(middle))));
  }

 private:
  /// Of the lanes that come here together, one counts.
  __device__ static void count_over(bool over, unsigned* counter) {
#if defined(__HIP__)
    if (over) atomicAdd(counter, 1u);
#else
    const unsigned here = __activemask(), all = __ballot_sync(here, over);
    if (over && (threadIdx.x & 31u) == static_cast<unsigned>(__ffs(static_cast<int>(all)) - 1))
      atomicAdd(counter, static_cast<unsigned>(__popc(all)));
#endif
  }
};

/// The same where rows of more than `limit` entries, and those that need rows too long for a table's bytes, have none.
/// Eight lanes a row.
template <Form form, class I, class O>
struct CountTableWordsBesideOthers {
  static constexpr int threads = 256, lanes = 8;
  FactorRows<I, O> rows;
  int64_t count;
  int limit;
  uint32_t* words;
  uint8_t* others;
  TableFacts* facts;

  __device__ void operator()() const {
    const int64_t i = (int64_t{blockIdx.x} * threads + threadIdx.x) / lanes;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const bool valid = i < count;
    const O first = valid ? rows.offsets[i] : O{}, diagonal = valid ? rows.diagonal[i] : O{};
    const O entries = valid ? rows.offsets[i + 1] - first : O{}, middle = diagonal - first;
    unsigned long long looks = 0;
    bool is_far = false;
    for (O p = static_cast<O>(lane); p < middle; p += lanes) {
      const I k = rows.indices[first + p];
      const O length =
          form == Form::lu ? rows.offsets[k + 1] - rows.diagonal[k] - 1 : rows.diagonal[k] - rows.offsets[k];
      is_far = is_far || length > most_distance;
      looks += static_cast<unsigned long long>(length);
    }
    looks = gpu::subgroup_sum(looks, lanes);
    const int far = gpu::subgroup_sum(is_far ? 1 : 0, lanes);
    const bool other = entries > static_cast<O>(limit) || far > 0;
    if (!valid || lane != 0) return;
    const auto steps = static_cast<uint32_t>((middle + table_steps - 1) / table_steps * table_steps);
    words[i] = other ? 0
                     : table_words_before(steps, static_cast<uint32_t>(table_entries<form>(static_cast<int>(entries),
                                                                                           static_cast<int>(middle))));
    others[i] = other ? 1 : 0;
    if (!other) return;
    atomicAdd(&facts->others, 1u);
    atomicMax(&facts->heaviest, static_cast<unsigned>(min(looks, static_cast<unsigned long long>(UINT32_MAX))));
    atomicAdd(&facts->looks, looks);
  }
};

/// marks[1 + level] = 1 for the levels of rows of more than `limit` entries, their number in marks[0]; zero at first.
template <class I, class O>
struct MarkLevelsOfLongerRows {
  static constexpr int threads = 256;
  const O* offsets;
  const I *order, *starts;  // of levels
  int64_t rows, levels;
  O limit;
  uint32_t* marks;

  __device__ void operator()() const {
    const int64_t position = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (position >= rows) return;
    const I i = order[position];
    if (offsets[i + 1] - offsets[i] <= limit) return;
    int64_t level = 0, end = levels;
    while (end - level > 1) {
      const int64_t middle = (level + end) / 2;
      (static_cast<int64_t>(starts[middle]) <= position ? level : end) = middle;
    }
    if (atomicExch(marks + 1 + level, 1u) == 0) atomicAdd(marks, 1u);
  }
};

struct IsOther {
  const uint8_t* others;
  __device__ bool operator()(int64_t i) const { return others[i] != 0; }
};

/// Of the records of rows without a table, where that would begin.
inline constexpr uint32_t without_table = UINT32_MAX;

/// Columns of a row in shared memory, and the places of those among its entries.
template <class I>
struct ColumnTable {
  using Word = std::conditional_t<sizeof(I) == 4, unsigned, unsigned long long>;
  struct Slot {
    I column;  // all ones: empty
    I place;
  };
  Slot* slots;
  uint32_t mask;

  /// A power of two.
  __host__ __device__ static constexpr int slots_for(int entries) {
    int slots = 32;
    while (slots < 4 * entries) slots *= 2;
    return slots;
  }
  /// All lanes of a warp together.
  __device__ void fill(const I* columns, int count) const {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    for (uint32_t at = static_cast<uint32_t>(lane); at <= mask; at += 32) slots[at].column = I{-1};
    gpu::sync32();
    for (int e = lane; e < count; e += 32) {
      uint32_t at = hash(columns[e]) & mask;
      while (atomicCAS(reinterpret_cast<Word*>(&slots[at].column), ~Word{0}, static_cast<Word>(columns[e])) != ~Word{0})
        at = (at + 1) & mask;
      slots[at].place = static_cast<I>(e);
    }
    gpu::sync32();
  }
  /// Or -1.
  __device__ int find(I column) const {
    uint32_t at = hash(column) & mask;
    Slot slot = slots[at];
    while (slot.column != column && slot.column != I{-1}) slot = slots[at = (at + 1) & mask];
    return slot.column == column ? static_cast<int>(slot.place) : -1;
  }

 private:
  __device__ static uint32_t hash(I column) {
    return static_cast<uint32_t>(static_cast<Word>(column)) * 0x9e3779b1u >> 16;
  }
};

/// A warp a row; eight lanes look through each of four needed rows. In shared memory, for each row, a table of its
/// columns and, of lu, `room` words.
template <Form form, class I, class O>
struct BuildTables {
  static constexpr int threads = 128, part_lanes = 32 / table_steps;
  FactorRows<I, O> rows;
  int64_t count;
  int room, slots;
  const int64_t* starts;
  uint32_t* words;
  const uint8_t* others;  // or null

  __host__ __device__ static constexpr size_t row_bytes(int room, int slots) {
    return (form == Form::lu ? static_cast<size_t>(room) * sizeof(uint32_t) : 0) +
           static_cast<size_t>(slots) * sizeof(typename ColumnTable<I>::Slot);
  }

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char shared[];
    const int64_t i = (int64_t{blockIdx.x} * threads + threadIdx.x) / 32;
    if (i >= count || (others != nullptr && others[i] != 0)) return;
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) / 32;
    auto* const mine = shared + static_cast<size_t>(warp) * row_bytes(room, slots);
    const O first = rows.offsets[i];
    const int middle = static_cast<int>(rows.diagonal[i] - first),
              entries = table_entries<form>(static_cast<int>(rows.offsets[i + 1] - first), middle);
    if (middle == 0) return;
    const ColumnTable<I> table{reinterpret_cast<typename ColumnTable<I>::Slot*>(mine),
                               static_cast<uint32_t>(ColumnTable<I>::slots_for(entries)) - 1};
    uint32_t* to = words + starts[i];
    auto* const word = reinterpret_cast<uint32_t*>(table.slots + slots);
    if constexpr (form == Form::lu)
      for (int e = lane; e < entries; e += 32) word[e] = 0;
    else
      for (int64_t w = lane; w < starts[i + 1] - starts[i]; w += 32) to[w] = 0;
    table.fill(rows.indices + first, entries);

    O diagonals{}, bounds{};  // of 32 needed rows, one a lane
    Part next;
    const auto load = [&](int begin) {  // for the needed row begin + lane / part_lanes
      if (begin >= middle) return;
      if (begin % 32 == 0 && begin + lane < middle) {
        const I k = rows.indices[first + begin + lane];
        diagonals = rows.diagonal[k];
        bounds = rows.offsets[form == Form::lu ? k + 1 : k];
      }
      const int step = begin + lane / part_lanes;
      next.diagonal = gpu::shuffle_from(diagonals, step & 31, 32);
      const O bound = gpu::shuffle_from(bounds, step & 31, 32);
      next.begin = form == Form::lu ? next.diagonal + 1 : bound;
      next.end = step >= middle ? next.begin : form == Form::lu ? bound : next.diagonal;
      next.begin += static_cast<O>(lane % part_lanes);
      next.column = next.begin < next.end ? rows.indices[next.begin] : I{};
    };
    load(0);
    for (int begin = 0; begin < middle; begin += table_steps) {
      const Part part = next;
      const int step = begin + lane / part_lanes;
      load(begin + table_steps);
      I column = part.column;
      for (O q = part.begin; q < part.end;) {
        if (const int place = table.find(column); place >= 0) {
          if constexpr (form == Form::lu)
            reinterpret_cast<uint8_t*>(word)[table_steps * place + lane / part_lanes] =
                static_cast<uint8_t>(q - part.diagonal);
          else
            reinterpret_cast<uint8_t*>(
                to + table_words_before(static_cast<uint32_t>(place), static_cast<uint32_t>(entries)) +
                (step - place / table_steps * table_steps))[place % table_steps] =
                static_cast<uint8_t>(part.diagonal - q);
        }
        q += part_lanes;
        if (q < part.end) column = rows.indices[q];
      }
      if constexpr (form == Form::lu) {
        gpu::sync32();
        for (int e = begin + lane; e < entries; e += 32) {
          to[e - begin] = word[e];
          word[e] = 0;
        }
        gpu::sync32();
        to += entries - begin;
      }
    }
  }

 private:
  /// Of a needed row, for a lane that looks through it: its diagonal entry, what to look at, and the first column.
  struct Part {
    O diagonal, begin, end;
    I column;
  };
};

/// What factors rows without a table, where there are such.
template <class E, Form form, class I, class O, bool beside_others>
struct OtherRows {};
template <class E, Form form, class I, class O>
struct OtherRows<E, form, I, O, true> {
  FactorSyncFree<E, form, I, O, false> others;
};

template <class E, Form form, class I, class O, bool beside_others>
struct TableFactors : ProgramFactors<E, I, O>, OtherRows<E, form, I, O, beside_others> {
  const I* indices;

  /// Until there are the numbers of four steps that `open` says, a bit for each step and slot from `c` on, and where
  /// one of the warp's lanes takes its own pivot now, those too. The warp waits together.
  template <int slots>
  __device__ void await(int c, uint32_t open, const uint32_t (&distances)[slots], const O (&from)[table_steps],
                        const O (&place)[slots], E (&u)[table_steps][slots], Pivot<E>& pivot, bool& lacks_pivot,
                        bool takes_pivot) const {
    do {
#pragma unroll
      for (int j = 0; j < table_steps; ++j)
#pragma unroll
        for (int q = c; q < slots; ++q)
          if ((open >> (j * slots + q) & 1u) != 0) {
            const auto distance = static_cast<O>(distances[q] >> (8 * j) & 255u);
            u[j][q] = gpu::load_fresh(this->values + (form == Form::lu ? from[j] + distance : place[q] - distance));
          }
      if (lacks_pivot) {
        const E there = gpu::load_fresh(this->values + place[c]);
        if (is_there(there)) {
          lacks_pivot = false;
          pivot.set(there);
        }
      }
#pragma unroll
      for (int j = 0; j < table_steps; ++j)
#pragma unroll
        for (int q = c; q < slots; ++q)
          if ((open >> (j * slots + q) & 1u) != 0 && is_there(u[j][q])) open &= ~(1u << (j * slots + q));
    } while (gpu::ballot32(open != 0 || (lacks_pivot && takes_pivot)) != 0);
  }

  /// Four steps, of the rows that are needed from `begin` on: they are those of lane `inner` of each `lanes`, which own
  /// a row of the warp's together, and of the lanes behind it, in slot c. All lanes of the warp take part.
  template <int lanes, int slots>
  __device__ void take_steps(int c, int inner, int begin, int middle, const uint32_t (&distances)[slots],
                             const O (&place)[slots], E (&w)[slots], Pivot<E>& pivot, bool& lacks_pivot) const {
    const int t = static_cast<int>(threadIdx.x) & (lanes - 1);
    O from[table_steps];
    E u[table_steps][slots];
    uint32_t used = 0;
#pragma unroll
    for (int j = 0; j < table_steps; ++j) {
      from[j] = gpu::shuffle_from(place[c], inner + j, lanes);
#pragma unroll
      for (int q = c; q < slots; ++q)
        if ((distances[q] >> (8 * j) & 255u) != 0) used |= 1u << (j * slots + q);
    }
    await(c, used, distances, from, place, u, pivot, lacks_pivot, t < inner + table_steps);
#pragma unroll
    for (int j = 0; j < table_steps; ++j) {
      if (lanes == 32 && begin + j >= middle) break;
      const E l = gpu::shuffle_from(pivot.divide(w[c]), inner + j, lanes);
      if (begin + j >= middle) continue;  // of this row, where the warp has several
      if (t == inner + j) w[c] = l;
#pragma unroll
      for (int q = c; q < slots; ++q)
        if ((used >> (j * slots + q) & 1u) != 0)
          w[q] = form == Form::lu ? minus_product(w[q], l, u[j][q]) : minus_conjugate_product(w[q], l, u[j][q]);
      if constexpr (form == Form::cholesky)
#pragma unroll
        for (int q = c; q < slots; ++q)
          if (t + lanes * q == middle) w[q] = from_real<E>(real_part(w[q]) - squared(l));
    }
  }

  /// A row of at most 32 `slots` entries, or one without a table, by a warp; lanes own every 32nd entry.
  template <int slots>
  __device__ void factor(const ProgramRow<I, O>& record) const {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    if constexpr (beside_others)
      if (record.start == without_table) {
        this->others.in_memory(record.row);
        return;
      }
    const int count = record.count, middle = record.middle, entries = table_entries<form>(count, middle);
    const uint32_t* const table = this->programs + record.start;
    O place[slots];  // of needed rows' pivots
    E w[slots];
#pragma unroll
    for (int q = 0; q < slots; ++q) {
      const int e = lane + 32 * q;
      place[q] = e < middle ? gpu::load_constant(this->diagonal + gpu::load_constant(indices + record.first + e)) : O{};
      w[q] = E{};
      if (e < count) w[q] = this->template value<form>(static_cast<O>(record.first + e), e == middle);
    }
    const auto load = [&](int begin, uint32_t(&to)[slots]) {
#pragma unroll
      for (int q = 0; q < slots; ++q)
        to[q] = begin < middle && lane + 32 * q >= begin && lane + 32 * q < entries
                    ? gpu::load_constant(
                          table + table_words_before(static_cast<uint32_t>(begin), static_cast<uint32_t>(entries)) +
                          (lane + 32 * q - begin))
                    : 0;
    };
    uint32_t next[slots];
    load(0, next);
#pragma unroll
    for (int c = 0; c < slots; ++c) {
      if (32 * c >= middle) break;
      Pivot<E> pivot{{}, {}, true};
      bool lacks_pivot = lane + 32 * c < middle;
      for (int inner = 0; inner < 32 && 32 * c + inner < middle; inner += table_steps) {
        const int begin = 32 * c + inner;
        uint32_t distances[slots];
#pragma unroll
        for (int q = 0; q < slots; ++q) distances[q] = next[q];
        load(begin + table_steps, next);
        this->template take_steps<32>(c, inner, begin, middle, distances, place, w, pivot, lacks_pivot);
      }
    }
    bool spoilt = false;
#pragma unroll
    for (int q = 0; q < slots; ++q) spoilt = spoilt || (lane + 32 * q < count && not_finite(w[q]) != 0);
    const bool finite = gpu::ballot32(spoilt) == 0;
#pragma unroll
    for (int q = 0; q < slots; ++q) {
      const int e = lane + 32 * q;
      if (e == middle) finish_row<E, form>(record.row, w[q], finite, this->rule, this->found);
      if (e < count) tell(this->values + record.first + e, w[q]);
    }
  }
};

/// A row a warp.
template <class E, Form form, class I, class O, int slots, bool beside_others>
struct FactorByTables : TableFactors<E, form, I, O, beside_others> {
  static constexpr int threads = 64;

  __device__ void operator()() const {
    __shared__ unsigned turn;
    if (const int64_t group = this->take_group(&turn); group < this->groups)
      this->template factor<slots>(this->records[group]);
  }
};

}  // namespace kkc::ilu::gpu_parts
