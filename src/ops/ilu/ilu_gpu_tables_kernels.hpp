// Kernels of gpu_tables, for ilu: as gpu_programs, but each row has a table of its own, which says of each four rows
// that it needs and each of its entries where the other factors of their products stand.
#pragma once

#include <type_traits>

#include "ops/ilu/ilu_gpu_programs_kernels.hpp"

namespace kkc::ilu::gpu_parts {

/// Needed rows of a word of the table: a byte each, how far from the needed row's diagonal entry the number stands.
inline constexpr int table_steps = 4;

/// Where the words of needed rows from `step` on begin in a row's table, a multiple of table_steps. The row's entries
/// before these have none: they come before what those rows change.
__host__ __device__ constexpr uint32_t table_words_before(uint32_t step, uint32_t entries) {
  const uint32_t words = step / table_steps;
  return words * entries - table_steps * (words * (words - 1) / 2);
}

/// Words of each row's table.
template <class I, class O>
struct CountTableWords {
  static constexpr int threads = 256;
  FactorRows<I, O> rows;
  int64_t count;
  uint32_t* words;

  __device__ void operator()() const {
    const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= count) return;
    const auto middle = static_cast<uint32_t>(rows.diagonal[i] - rows.offsets[i]),
               entries = static_cast<uint32_t>(rows.offsets[i + 1] - rows.offsets[i]);
    words[i] = table_words_before((middle + table_steps - 1) / table_steps * table_steps, entries);
  }
};

/// A warp a row. In shared memory, for each, `room` words and a hash table of `slots` columns.
template <class I, class O>
struct BuildTables {
  static constexpr int threads = 128;
  FactorRows<I, O> rows;
  int64_t count;
  int room, slots;
  const int64_t* starts;
  uint32_t* words;

  struct Slot {
    I column;  // all ones: empty
    I place;
  };
  /// A power of two.
  __host__ __device__ static constexpr int slots_for(int entries) {
    int slots = 32;
    while (slots < 4 * entries) slots *= 2;
    return slots;
  }
  __host__ __device__ static constexpr size_t row_bytes(int room, int slots) {
    return static_cast<size_t>(room) * sizeof(uint32_t) + static_cast<size_t>(slots) * sizeof(Slot);
  }

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char shared[];
    const int64_t i = (int64_t{blockIdx.x} * threads + threadIdx.x) / 32;
    if (i >= count) return;
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) / 32;
    auto* const table = reinterpret_cast<Slot*>(shared + static_cast<size_t>(warp) * row_bytes(room, slots));
    auto* const word = reinterpret_cast<uint32_t*>(table + slots);
    auto* const bytes = reinterpret_cast<uint8_t*>(word);
    const O first = rows.offsets[i];
    const int entries = static_cast<int>(rows.offsets[i + 1] - first),
              middle = static_cast<int>(rows.diagonal[i] - first);
    if (middle == 0) return;
    const uint32_t mask = static_cast<uint32_t>(slots_for(entries)) - 1;
    for (uint32_t at = static_cast<uint32_t>(lane); at <= mask; at += 32) table[at].column = I{-1};
    for (int e = lane; e < entries; e += 32) word[e] = 0;
    gpu::sync32();
    for (int e = lane; e < entries; e += 32) insert(table, mask, rows.indices[first + e], e);
    gpu::sync32();

    uint32_t* to = words + starts[i];
    O diagonals{}, ends{};  // of 32 needed rows, one a lane
    Part next;
    const auto load = [&](int begin) {  // for the needed row begin + lane / part_lanes
      if (begin >= middle) return;
      if (begin % 32 == 0 && begin + lane < middle) {
        const I k = rows.indices[first + begin + lane];
        diagonals = rows.diagonal[k];
        ends = rows.offsets[k + 1];
      }
      const int step = begin + lane / part_lanes;
      next.diagonal = gpu::shuffle_from(diagonals, step & 31, 32);
      next.end = gpu::shuffle_from(ends, step & 31, 32);
      if (step >= middle) next.end = 0;
      const O q = next.diagonal + 1 + static_cast<O>(lane % part_lanes);
      next.column = q < next.end ? rows.indices[q] : I{};
    };
    load(0);
    for (int begin = 0; begin < middle; begin += table_steps) {
      const Part part = next;
      load(begin + table_steps);
      I column = part.column;
      for (O q = part.diagonal + 1 + static_cast<O>(lane % part_lanes); q < part.end;) {
        const int place = find(table, mask, column);
        if (place >= 0) bytes[table_steps * place + lane / part_lanes] = static_cast<uint8_t>(q - part.diagonal);
        q += part_lanes;
        if (q < part.end) column = rows.indices[q];
      }
      gpu::sync32();
      for (int e = begin + lane; e < entries; e += 32) {
        to[e - begin] = word[e];
        word[e] = 0;
      }
      gpu::sync32();
      to += entries - begin;
    }
  }

 private:
  using Word = std::conditional_t<sizeof(I) == 4, unsigned, unsigned long long>;
  static constexpr int part_lanes = 32 / table_steps;
  /// Of a needed row, for the lanes that look through it: its diagonal entry and end, and a column for each.
  struct Part {
    O diagonal, end;
    I column;
  };

  __device__ static uint32_t hash(I column) {
    return static_cast<uint32_t>(static_cast<Word>(column)) * 0x9e3779b1u >> 16;
  }
  __device__ static void insert(Slot* table, uint32_t mask, I column, int place) {
    uint32_t at = hash(column) & mask;
    while (atomicCAS(reinterpret_cast<Word*>(&table[at].column), ~Word{0}, static_cast<Word>(column)) != ~Word{0})
      at = (at + 1) & mask;
    table[at].place = static_cast<I>(place);
  }
  __device__ static int find(const Slot* table, uint32_t mask, I column) {
    uint32_t at = hash(column) & mask;
    Slot slot = table[at];
    while (slot.column != column && slot.column != I{-1}) slot = table[at = (at + 1) & mask];
    return slot.column == column ? static_cast<int>(slot.place) : -1;
  }
};

/// Rows of at most 32 `slots` entries, a warp for each; lanes own every 32nd entry.
template <class E, class I, class O, int slots>
struct FactorByTables : ProgramFactors<E, I, O> {
  static constexpr int threads = 64, each = 1;
  const I* indices;

  __device__ void operator()() const {
    __shared__ unsigned turn;
    const int64_t group = this->take_group(&turn);
    if (group >= this->groups) return;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const ProgramRow<I, O> record = this->records[group];
    const int count = record.count, middle = record.middle;
    const uint32_t* const table = this->programs + record.start;
    O place[slots];  // of needed rows' pivots
    E w[slots];
#pragma unroll
    for (int q = 0; q < slots; ++q) {
      const int e = lane + 32 * q;
      place[q] = e < middle ? gpu::load_constant(this->diagonal + gpu::load_constant(indices + record.first + e)) : O{};
      w[q] = E{};
      if (e < count) w[q] = this->template value<Form::lu>(static_cast<O>(record.first + e), e == middle);
    }
    const auto load = [&](int begin, uint32_t(&to)[slots]) {
#pragma unroll
      for (int q = 0; q < slots; ++q)
        to[q] = begin < middle && lane + 32 * q >= begin && lane + 32 * q < count
                    ? gpu::load_constant(
                          table + table_words_before(static_cast<uint32_t>(begin), static_cast<uint32_t>(count)) +
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
        O from[table_steps];
        E u[table_steps][slots];
        uint32_t used = 0;
#pragma unroll
        for (int q = 0; q < slots; ++q) distances[q] = next[q];
        load(begin + table_steps, next);
#pragma unroll
        for (int j = 0; j < table_steps; ++j) {
          from[j] = gpu::shuffle_from(place[c], inner + j, 32);
#pragma unroll
          for (int q = c; q < slots; ++q)
            if ((distances[q] >> (8 * j) & 255u) != 0) used |= 1u << (j * slots + q);
        }
        uint32_t open = used;
        do {
#pragma unroll
          for (int j = 0; j < table_steps; ++j)
#pragma unroll
            for (int q = c; q < slots; ++q)
              if ((open >> (j * slots + q) & 1u) != 0)
                u[j][q] = gpu::load_fresh(this->values + (from[j] + static_cast<O>(distances[q] >> (8 * j) & 255u)));
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
        } while (gpu::ballot32(open != 0 || (lacks_pivot && lane < inner + table_steps)) != 0);
#pragma unroll
        for (int j = 0; j < table_steps; ++j) {
          if (begin + j >= middle) break;
          const E l = gpu::shuffle_from(pivot.divide(w[c]), inner + j, 32);
          if (lane == inner + j) w[c] = l;
#pragma unroll
          for (int q = c; q < slots; ++q)
            if ((used >> (j * slots + q) & 1u) != 0) w[q] = minus_product(w[q], l, u[j][q]);
        }
      }
    }
    bool spoilt = false;
#pragma unroll
    for (int q = 0; q < slots; ++q) spoilt = spoilt || (lane + 32 * q < count && not_finite(w[q]) != 0);
    const bool finite = gpu::ballot32(spoilt) == 0;
#pragma unroll
    for (int q = 0; q < slots; ++q) {
      const int e = lane + 32 * q;
      if (e == middle) finish_row<E, Form::lu>(record.row, w[q], finite, this->rule, this->found);
      if (e < count) tell(this->values + record.first + e, w[q]);
    }
  }
};

}  // namespace kkc::ilu::gpu_parts
