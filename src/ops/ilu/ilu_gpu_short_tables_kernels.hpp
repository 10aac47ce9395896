// Kernel of gpu_tables, for ilu and ic, where rows are short and levels wide: as FactorByTables, but several rows a
// warp, all of one level, so that they may wait together.
#pragma once

#include "ops/ilu/ilu_gpu_tables_kernels.hpp"

namespace kkc::ilu::gpu_parts {

/// Of the second record of a group: the first one's row has the warp for itself.
inline constexpr int alone_mark = -2;

/// Of rows without a table, or of more than `limit` entries, which have a warp for themselves.
template <class I, class O>
struct IsAlone {
  FactorRows<I, O> rows;
  const uint8_t* others;  // or null
  O limit;

  __device__ bool operator()(I row) const {
    return rows.offsets[row + 1] - rows.offsets[row] > limit || (others != nullptr && others[row] != 0);
  }
};

/// Of each position of the order, 1 or 0.
template <class I, class O>
struct CountAlone {
  static constexpr int threads = 256;
  IsAlone<I, O> is_alone;
  const I* order;
  int64_t count;
  uint32_t* counts;

  __device__ void operator()() const {
    const int64_t p = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (p < count) counts[p] = is_alone(order[p]) ? 1 : 0;
  }
};

/// to[l]: of the positions before level l.
template <class I>
struct CountAloneOfLevels {
  static constexpr int threads = 256;
  const int64_t* before;  // exclusive sums
  const I* starts;
  int64_t count;
  int64_t* to;

  __device__ void operator()() const {
    const int64_t l = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (l < count) to[l] = before[starts[l]];
  }
};

/// Where a level begins: positions, records, and rows for themselves before it.
struct TableLevel {
  int64_t rows, records, alone;
};

/// Records of all rows: of each level those for themselves, each with a group of its own, then the others, `each` a
/// group.
template <class I, class O>
struct SetTableRows {
  static constexpr int threads = 256;
  FactorRows<I, O> rows;
  const I* order;
  const TableLevel* levels;  // [level_count + 1]
  int64_t count, level_count;
  const int64_t *starts, *before;  // before: as above, or null: no row is alone
  const uint8_t* others;           // or null
  int each;
  ProgramRow<I, O>* records;  // row -1 at first

  __device__ void operator()() const {
    const int64_t p = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (p >= count) return;
    const int64_t low = level_at(levels, level_count, p);
    const I row = order[p];
    const O first = rows.offsets[row];
    const bool has_table = others == nullptr || others[row] == 0;
    const TableLevel level = levels[low];
    int64_t to = level.records + (p - level.rows);
    if (before != nullptr) {
      const int64_t of_level = before[p] - level.alone;
      if (before[p + 1] != before[p]) {
        to = level.records + of_level * each;
        records[to + 1].row = static_cast<I>(alone_mark);
      } else {
        to = level.records + (levels[low + 1].alone - level.alone) * each + (p - level.rows - of_level);
      }
    }
    records[to] = {first, row, has_table ? static_cast<uint32_t>(starts[row]) : without_table,
                   static_cast<uint16_t>(rows.diagonal[row] - first),
                   static_cast<uint16_t>(rows.offsets[row + 1] - first)};
  }
};

/// Rows of at most `slots` << lanes_log2 entries, `1 << lanes_log2` lanes for each, which own every so many entries;
/// and those that have a warp for themselves.
template <class E, Form form, class I, class O, int lanes_log2, bool beside_others>
struct FactorShortByTables : TableFactors<E, form, I, O, beside_others> {
  static constexpr int threads = 128, lanes = 1 << lanes_log2, each = 32 / lanes, slots = 2;

  __device__ void operator()() const {
    __shared__ unsigned turn;
    const int64_t group = this->take_group(&turn);
    if (group >= this->groups) return;
    const ProgramRow<I, O>* const records = this->records + group * each;
    if (records[1].row == alone_mark)
      this->template factor<2>(records[0]);
    else
      factor_together(records);
  }

 private:
  __device__ void factor_together(const ProgramRow<I, O>* records) const {
    const int lane = static_cast<int>(threadIdx.x) & 31, t = lane & (lanes - 1);
    const ProgramRow<I, O> record = records[lane >> lanes_log2];
    const bool valid = record.row >= 0;
    const int count = valid ? record.count : 0, middle = valid ? record.middle : 0,
              entries = table_entries<form>(count, middle);
    const uint32_t* const table = this->programs + (valid ? record.start : 0);
    O place[slots];  // of needed rows' pivots
    E w[slots];
#pragma unroll
    for (int q = 0; q < slots; ++q) {
      const int e = t + lanes * q;
      place[q] =
          e < middle ? gpu::load_constant(this->diagonal + gpu::load_constant(this->indices + record.first + e)) : O{};
      w[q] = E{};
      if (e < count) w[q] = this->template value<form>(static_cast<O>(record.first + e), e == middle);
    }
    int most = middle;  // of the warp's rows
    for (int mask = lanes; mask < 32; mask <<= 1) most = max(most, gpu::shuffle_xor(most, mask, 32));
#pragma unroll
    for (int c = 0; c < slots; ++c) {
      if (lanes * c >= most) break;
      Pivot<E> pivot{{}, {}, true};
      bool lacks_pivot = t + lanes * c < middle;
      for (int inner = 0; inner < lanes && lanes * c + inner < most; inner += table_steps) {
        const int begin = lanes * c + inner;
        uint32_t distances[slots];
#pragma unroll
        for (int q = 0; q < slots; ++q) {
          const int e = t + lanes * q;
          distances[q] =
              begin < middle && e >= begin && e < entries
                  ? gpu::load_constant(
                        table + table_words_before(static_cast<uint32_t>(begin), static_cast<uint32_t>(entries)) +
                        (e - begin))
                  : 0;
        }
        this->template take_steps<lanes>(c, inner, begin, middle, distances, place, w, pivot, lacks_pivot);
      }
    }
    bool spoilt = false;
#pragma unroll
    for (int q = 0; q < slots; ++q) spoilt = spoilt || (t + lanes * q < count && not_finite(w[q]) != 0);
    const uint32_t of_row = ((1u << lanes) - 1) << (lane & ~(lanes - 1));
    const bool finite = (gpu::ballot32(spoilt) & of_row) == 0;
#pragma unroll
    for (int q = 0; q < slots; ++q) {
      const int e = t + lanes * q;
      if (valid && e == middle) finish_row<E, form>(record.row, w[q], finite, this->rule, this->found);
      if (e < count) tell(this->values + record.first + e, w[q]);
    }
  }
};

}  // namespace kkc::ilu::gpu_parts
