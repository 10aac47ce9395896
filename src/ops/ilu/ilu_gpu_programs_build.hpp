// Programs of gpu_programs: for each step (entry left of the diagonal) and each entry of the row that the step
// changes, where the other factor of the product stands in its row, counted from that row's diagonal entry.
//
// lu: step s changes entry t by L(i, k_s) U(k_s, j_t), which stands in row k_s right of the diagonal. cholesky: by
// L(i, k_s) conj(L(k_t, k_s)), in row k_t left of the diagonal. Rows of at most 32 entries have short programs, a table
// of bytes for lanes that own an entry each; others have long ones, rounds of 32 products of one step.
#pragma once

#include "device/gpu_warp.hpp"
#include "ops/ilu/ilu_gpu_found.hpp"

namespace kkc::ilu::gpu_parts {

/// Words of a short program: `lanes` distances i - k, then for every `chunk` steps each lane's bytes.
constexpr int short_chunk(int lanes) { return lanes == 8 ? 4 : 8; }
constexpr int short_chunks(int lanes) { return (lanes - 1 + short_chunk(lanes) - 1) / short_chunk(lanes); }
constexpr int short_words(int lanes) { return lanes + short_chunks(lanes) * lanes * short_chunk(lanes) / 4; }

/// Words of a long program: the number of rounds, distances i - k, the steps of rounds, products of rounds.
inline constexpr int long_chunk = 8;                  // rounds at once
inline constexpr uint32_t begins_step = 0x80000000u;  // with a round's step
inline constexpr uint32_t no_product = 0xffffffffu;   // else entry t, and the distance from the diagonal << 16
__host__ __device__ constexpr int64_t steps_begin(int64_t middle) { return 4 + (middle + 3) / 4 * 4; }
__host__ __device__ constexpr int64_t products_begin(int64_t middle, int64_t rounds) {
  return steps_begin(middle) + (rounds + long_chunk - 1) / long_chunk * long_chunk;
}
__host__ __device__ constexpr int64_t long_words(int64_t middle, int64_t rounds) {
  return products_begin(middle, rounds) + 32 * rounds;
}

template <class I, class O>
struct FactorRows {
  const O *offsets, *diagonal;
  const I* indices;
};

/// Place of `column` in [low, end), or -1.
template <class I, class O>
__device__ inline O place_of(const I* indices, O low, O end, I column) {
  O high = end;
  while (low < high) {
    const O middle = low + (high - low) / 2;
    if (indices[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && indices[low] == column ? low : O{-1};
}

/// How far from its row's diagonal entry the number stands that step s needs to change entry t > s of the row that
/// begins at `first`; 0: it does not change it.
template <Form form, class I, class O>
__device__ inline uint32_t product_distance(const FactorRows<I, O>& rows, O first, int s, int t) {
  const I step = rows.indices[first + s], target = rows.indices[first + t];
  if constexpr (form == Form::lu) {
    const O at = rows.diagonal[step];
    const O found = place_of(rows.indices, static_cast<O>(at + 1), rows.offsets[step + 1], target);
    return found < 0 ? 0u : static_cast<uint32_t>(found - at);
  } else {
    const O at = rows.diagonal[target];
    const O found = place_of(rows.indices, rows.offsets[target], at, step);
    return found < 0 ? 0u : static_cast<uint32_t>(at - found);
  }
}

template <Form form, class I, class O>
struct BuildShort {
  static constexpr int threads = 128;
  FactorRows<I, O> rows;
  const int64_t* examples;  // a row of each program
  int32_t programs, lanes;
  uint32_t* words;

  __device__ void operator()() const {
    const int64_t n = (int64_t{blockIdx.x} * threads + threadIdx.x) / lanes;
    const int t = static_cast<int>(threadIdx.x) & (lanes - 1);
    if (n >= programs) return;
    const int64_t row = examples[n];
    const O first = rows.offsets[row];
    const int middle = static_cast<int>(rows.diagonal[row] - first);
    const int end = form == Form::lu ? static_cast<int>(rows.offsets[row + 1] - first) : middle;
    uint32_t* const program = words + n * short_words(lanes);
    program[t] = t < middle ? static_cast<uint32_t>(row - rows.indices[first + t]) : 0;
    const int each = short_chunk(lanes) / 4;
    for (int word = 0; word < short_chunks(lanes) * each; ++word) {
      uint32_t bytes = 0;
      for (int j = 0; j < 4; ++j)
        if (const int s = 4 * word + j; s < middle && s < t && t < end)
          bytes |= product_distance<form>(rows, first, s, t) << (8 * j);
      program[lanes + (word / each * lanes + t) * each + word % each] = bytes;
    }
  }
};

/// A warp a program. Without words it counts rounds, with them it writes.
template <Form form, class I, class O>
struct BuildLong {
  static constexpr int threads = 128;
  FactorRows<I, O> rows;
  const int64_t* examples;
  int32_t programs;
  int32_t* rounds;         // [programs]
  const uint32_t* starts;  // [programs]
  uint32_t* words;         // or null

  __device__ void operator()() const {
    const int64_t n = (int64_t{blockIdx.x} * threads + threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    if (n >= programs) return;
    const int64_t row = examples[n];
    const O first = rows.offsets[row];
    const int middle = static_cast<int>(rows.diagonal[row] - first);
    const int end = form == Form::lu ? static_cast<int>(rows.offsets[row + 1] - first) : middle;
    uint32_t *steps = nullptr, *products = nullptr;
    if (words != nullptr) {
      uint32_t* const program = words + starts[n];
      if (lane == 0) program[0] = static_cast<uint32_t>(rounds[n]);
      for (int s = lane; s < middle; s += 32) program[4 + s] = static_cast<uint32_t>(row - rows.indices[first + s]);
      steps = program + steps_begin(middle);
      products = program + products_begin(middle, rounds[n]);
    }
    int round = 0;
    for (int s = 0; s < middle; ++s) {
      int found = 0;
      for (int begin = s + 1; begin < end; begin += 32) {
        const int t = begin + lane;
        const uint32_t distance = t < end ? product_distance<form>(rows, first, s, t) : 0;
        const uint32_t here = gpu::ballot32(distance != 0);
        if (words != nullptr && distance != 0)
          products[32 * round + found + __popc(here & ((1u << lane) - 1))] = static_cast<uint32_t>(t) | distance << 16;
        found += __popc(here);
      }
      const int used = found <= 32 ? 1 : (found + 31) / 32;
      if (words != nullptr) {
        for (int k = found + lane; k < 32 * used; k += 32) products[32 * round + k] = no_product;
        for (int k = lane; k < used; k += 32) steps[round + k] = static_cast<uint32_t>(s) | (k == 0 ? begins_step : 0);
      }
      round += used;
    }
    if (words == nullptr && lane == 0) rounds[n] = round;
  }
};

/// A row as the kernels of execute find it, at its position in the order.
template <class I, class O>
struct alignas(16) ProgramRow {
  O first;         // entry
  I row;           // all ones: none here
  uint32_t start;  // of its program
  uint16_t middle, count;
};

/// Where a level begins, in the order and among the records.
struct LevelStart {
  int64_t rows, records;
};

/// The level of position p. Level: its `rows` are the positions before it.
template <class Level>
__device__ inline int64_t level_at(const Level* levels, int64_t count, int64_t p) {
  int64_t low = 0, high = count - 1;
  while (low < high) {
    const int64_t middle = (low + high + 1) / 2;
    if (levels[middle].rows <= p)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/// Records of all rows, and for each warp a gate: the place of a pivot some levels before its own. Until it is there
/// the warp's rows are hardly ready: they look there alone, and leave the memory to those whose turn it is.
template <class I, class O>
struct SetProgramRows {
  static constexpr int threads = 256, distance = 3;
  FactorRows<I, O> rows;
  const I* order;
  const LevelStart* levels;  // [count + 1]
  int64_t count, level_count;
  const int32_t* program_of;  // slots
  const uint32_t* start_of;   // [slots]
  int each;                   // rows a warp
  ProgramRow<I, O>* records;
  O* gates;  // or null

  __device__ void operator()() const {
    const int64_t p = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (p >= count) return;
    const int64_t low = level_at(levels, level_count, p);
    const I row = order[p];
    const O first = rows.offsets[row];
    const int64_t begin = levels[low].rows, to = levels[low].records + (p - begin);
    records[to] = {first, row, start_of[program_of[row]], static_cast<uint16_t>(rows.diagonal[row] - first),
                   static_cast<uint16_t>(rows.offsets[row + 1] - first)};
    if (gates == nullptr || to % each != 0) return;
    O gate = -1;
    if (low >= distance) {
      const int64_t width = levels[low + 1].rows - begin;
      const int64_t other = levels[low - distance].rows, other_width = levels[low - distance + 1].rows - other;
      const double share = static_cast<double>(p - begin) / static_cast<double>(width);
      gate = rows.diagonal[order[other +
                                 min(other_width - 1, static_cast<int64_t>(share * static_cast<double>(other_width)))]];
    }
    gates[to / each] = gate;
  }
};

}  // namespace kkc::ilu::gpu_parts
