// Kernels of gpu_programs, for ilu and ic: as gpu_sync_free, numbers of the factors are their own flags, but which of
// them a row needs is known from its program: they are asked for together, not looked for.
#pragma once

#include "ops/ilu/ilu_gpu_programs_build.hpp"
#include "ops/ilu/ilu_gpu_sync_free_kernels.hpp"

namespace kkc::ilu::gpu_parts {

/// Every bit set, and the ticket at zero.
struct BeginPrograms {
  static constexpr int threads = 256;
  uint32_t* values;
  int64_t words;
  unsigned* ticket;

  __device__ void operator()() const {
    const int64_t step = int64_t{gridDim.x} * threads, begin = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (begin == 0) *ticket = 0;
    const int64_t head = min(words, static_cast<int64_t>((0 - reinterpret_cast<uintptr_t>(values)) % 16 / 4));
    const int64_t quads = (words - head) / 4, tail = head + 4 * quads;
    auto* const aligned = reinterpret_cast<uint4*>(values + head);
    for (int64_t k = begin; k < quads; k += step) aligned[k] = {~0u, ~0u, ~0u, ~0u};
    if (begin < head) values[begin] = ~0u;
    if (tail + begin < words) values[tail + begin] = ~0u;
  }
};

/// a / pivot with the pivot's reciprocal at hand, unless that has overflowed.
template <class E>
struct Pivot {
  E value, inverse;
  bool plain;

  __device__ void set(const E& pivot) {
    value = pivot;
    inverse = quotient(from_real<E>(1), pivot);
    plain = not_finite(inverse) == 0;
  }
  __device__ E divide(const E& a) const { return plain ? gpu::multiply(a, inverse) : quotient(a, value); }
};

template <class E>
__device__ inline RealPart<E> squared(const E& a) {
  if constexpr (gpu::is_pair<E>)
    return a.re * a.re + a.im * a.im;
  else
    return a * a;
}

/// What both kernels read and write.
template <class E, class I, class O>
struct ProgramFactors {
  using R = RealPart<E>;
  const ProgramRow<I, O>* records;
  const uint32_t* programs;
  const O* diagonal;
  ilu_pattern::ValueSource<O> source;
  const E* A;
  E* values;
  Rule<R> rule;
  Found* found;
  unsigned* ticket;
  int64_t groups;  // warps' rows

  /// The calling warp's; at most the number of groups where there is none.
  __device__ int64_t take_group(unsigned* shared_turn) const {
    if (threadIdx.x == 0) *shared_turn = atomicAdd(ticket, 1u);
    __syncthreads();
    return (int64_t{*shared_turn} * blockDim.x + threadIdx.x) / 32;
  }
  template <Form form>
  __device__ E value(O entry, bool is_diagonal) const {
    E a = value_at(source, A, entry);
    if (!is_diagonal) return a;
    if constexpr (form == Form::cholesky) a = from_real<E>(real_part(a));
    return gpu::add(a, from_real<E>(rule.shift));
  }
};

/// Rows of at most `lanes` entries, a lane for each. Rows of a warp are of one level.
template <class E, Form form, class I, class O, int lanes_log2>
struct FactorShortRows : ProgramFactors<E, I, O> {
  static constexpr int threads = 128, lanes = 1 << lanes_log2, each = 32 / lanes;
  static constexpr int chunk = short_chunk(lanes);
  const O* gates;  // or null

  __device__ void operator()() const {
    __shared__ unsigned turn;
    const int64_t group = this->take_group(&turn);
    if (group >= this->groups) return;
    const int lane = static_cast<int>(threadIdx.x) & 31, t = lane & (lanes - 1);
    const ProgramRow<I, O> record = this->records[group * each + (lane >> lanes_log2)];
    const bool valid = record.row >= 0;
    const int count = valid ? record.count : 0, middle = valid ? record.middle : 0;
    const uint32_t* const program = this->programs + (valid ? record.start : 0);
    O place{};
    if (t < middle)
      place = gpu::load_constant(this->diagonal + (record.row - static_cast<I>(gpu::load_constant(program + t))));
    E w{};
    if (t < count) w = this->template value<form>(static_cast<O>(record.first + t), t == middle);
    int most = middle;  // of the warp's rows
    for (int mask = lanes; mask < 32; mask <<= 1) most = max(most, gpu::shuffle_xor(most, mask, 32));
    wait_at_gate(group);

    Pivot<E> pivot{{}, {}, true};
    bool lacks_pivot = t < middle;
    for (int begin = 0; begin < most; begin += chunk) {
      uint32_t distances[chunk / 4];
#pragma unroll
      for (int word = 0; word < chunk / 4; ++word)
        distances[word] = gpu::load_constant(program + lanes + (begin / chunk * lanes + t) * (chunk / 4) + word);
      O at[chunk];
      E u[chunk];
      uint32_t used = 0;
#pragma unroll
      for (int j = 0; j < chunk; ++j) {
        const O from = form == Form::lu ? gpu::shuffle_from(place, (begin + j) & (lanes - 1), lanes) : place;
        const auto distance = static_cast<O>(distances[j / 4] >> (8 * (j % 4)) & 255u);
        at[j] = form == Form::lu ? from + distance : from - distance;
        if (valid && distance != 0) used |= 1u << j;
      }
      uint32_t open = used;
      do {
#pragma unroll
        for (int j = 0; j < chunk; ++j)
          if ((open >> j & 1u) != 0) u[j] = gpu::load_fresh(this->values + at[j]);
        if (lacks_pivot) {
          const E there = gpu::load_fresh(this->values + place);
          if (is_there(there)) {
            lacks_pivot = false;
            pivot.set(there);
          }
        }
#pragma unroll
        for (int j = 0; j < chunk; ++j)
          if ((open >> j & 1u) != 0 && is_there(u[j])) open &= ~(1u << j);
      } while (gpu::ballot32(open != 0 || (lacks_pivot && t < begin + chunk)) != 0);
#pragma unroll
      for (int j = 0; j < chunk; ++j) {
        const int s = begin + j;
        if (s >= most) break;
        const E l = gpu::shuffle_from(pivot.divide(w), s & (lanes - 1), lanes);
        if (s >= middle) continue;
        if (t == s) w = l;
        if constexpr (form == Form::lu) {
          if ((used >> j & 1u) != 0) w = minus_product(w, l, u[j]);
        } else {
          if ((used >> j & 1u) != 0) w = minus_conjugate_product(w, l, u[j]);
          if (t == middle) w = from_real<E>(real_part(w) - squared(l));
        }
      }
    }
    const bool spoilt = t < count && not_finite(w) != 0;
    const uint32_t of_row = lanes == 32 ? ~0u : ((1u << lanes) - 1) << (lane & ~(lanes - 1));
    const bool finite = (gpu::ballot32(spoilt) & of_row) == 0;
    if (valid && t == middle) finish_row<E, form>(record.row, w, finite, this->rule, this->found);
    if (t < count) tell(this->values + record.first + t, w);
  }

 private:
  __device__ void wait_at_gate(int64_t group) const {
    const O gate = gates != nullptr ? gpu::load_constant(gates + group) : O{-1};
    if (gate >= 0) static_cast<void>(await_real(reinterpret_cast<const RealPart<E>*>(this->values + gate)));
  }
};

/// Rows of any length that fits shared memory, a warp for each.
template <class E, Form form, class I, class O>
struct FactorLongRows : ProgramFactors<E, I, O> {
  static constexpr int threads = 256, chunk = long_chunk, each = 1;
  using R = RealPart<E>;
  E* inverses;               // [rows] of pivots, flags of their own
  int32_t room, lower_room;  // entries of a row, and of its part below the diagonal, in shared memory

  __host__ __device__ static constexpr size_t row_bytes(int64_t room, int64_t lower_room) {
    return static_cast<size_t>(room) * sizeof(E) + static_cast<size_t>(lower_room) * (sizeof(O) + sizeof(I));
  }

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ unsigned turn;
    const int64_t group = this->take_group(&turn);
    if (group >= this->groups) return;
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) / 32;
    E* const row = reinterpret_cast<E*>(shared + static_cast<size_t>(warp) * row_bytes(room, lower_room));
    O* const places = reinterpret_cast<O*>(row + room);           // of pivots
    I* const needed = reinterpret_cast<I*>(places + lower_room);  // rows
    const ProgramRow<I, O> record = this->records[group];
    const int count = record.count, middle = record.middle;
    const uint32_t* const program = this->programs + record.start;
    const int rounds = static_cast<int>(gpu::load_constant(program));
    for (int e = lane; e < middle; e += 32) {
      const I k = record.row - static_cast<I>(gpu::load_constant(program + 4 + e));
      needed[e] = k;
      places[e] = gpu::load_constant(this->diagonal + k);
    }
    for (int e = lane; e < count; e += 32)
      row[e] = this->template value<form>(static_cast<O>(record.first + e), e == middle);
    gpu::sync32();

    const uint32_t *const steps = program + steps_begin(middle), *const products =
                                                                     program + products_begin(middle, rounds) + lane;
    R square = 0, spoilt = 0;
    E l{};
    for (int begin = 0; begin < rounds; begin += chunk) {
      uint32_t step[chunk], product[chunk], used = 0;
      E u[chunk], inverse[chunk];
      O at[chunk];
      I k[chunk];
#pragma unroll
      for (int j = 0; j < chunk; ++j) {
        step[j] = 0;
        product[j] = no_product;
        if (begin + j < rounds) {
          step[j] = gpu::load_constant(steps + begin + j);
          product[j] = gpu::load_constant(products + 32 * (begin + j));
        }
      }
#pragma unroll
      for (int j = 0; j < chunk; ++j) {
        const uint32_t s = step[j] & ~begins_step, t = product[j] & 0xffffu;
        const auto distance = static_cast<O>(product[j] >> 16);
        if (product[j] != no_product) {
          at[j] = form == Form::lu ? places[s] + distance : places[t] - distance;
          used |= 1u << j;
        }
        if ((step[j] & begins_step) != 0) {
          k[j] = needed[s];
          used |= 1u << (chunk + j);
        }
      }
      uint32_t open = used;
      do {
#pragma unroll
        for (int j = 0; j < chunk; ++j) {
          if ((open >> j & 1u) != 0) u[j] = gpu::load_fresh(this->values + at[j]);
          if ((open >> (chunk + j) & 1u) != 0) inverse[j] = gpu::load_fresh(inverses + k[j]);
        }
#pragma unroll
        for (int j = 0; j < chunk; ++j) {
          if ((open >> j & 1u) != 0 && is_there(u[j])) open &= ~(1u << j);
          if ((open >> (chunk + j) & 1u) != 0 && is_there(inverse[j])) open &= ~(1u << (chunk + j));
        }
      } while (gpu::ballot32(open != 0) != 0);
#pragma unroll
      for (int j = 0; j < chunk; ++j) {
        if (begin + j >= rounds) break;
        const uint32_t s = step[j] & ~begins_step, t = product[j] & 0xffffu;
        if ((step[j] & begins_step) != 0) {
          l = not_finite(inverse[j]) == 0 ? gpu::multiply(row[s], inverse[j])
                                          : quotient(row[s], await(this->values + places[s]));
          spoilt += not_finite(l);
          if constexpr (form == Form::cholesky) square += squared(l);
          if (lane == 0) tell(this->values + record.first + static_cast<O>(s), l);
        }
        if ((used >> j & 1u) != 0)
          row[t] = form == Form::lu ? minus_product(row[t], l, u[j]) : minus_conjugate_product(row[t], l, u[j]);
        gpu::sync32();
      }
    }
    E last{};
    const auto tell_pivot = [&] {
      tell(this->values + record.first + static_cast<O>(middle), last);
      tell(inverses + record.row, quotient(from_real<E>(1), last));
    };
    // What others wait for first.
    bool told = false;
    if constexpr (form == Form::cholesky) {
      if (lane == 0) last = from_real<E>(real_part(row[middle]) - square);
      spoilt += not_finite(last);
    } else {
      for (int e = middle + 1 + lane; e < count; e += 32) tell(this->values + record.first + static_cast<O>(e), row[e]);
      if (lane == 0) {
        last = row[middle];
        told = is_kept(last, this->rule);
        if (told) tell_pivot();
      }
      for (int e = middle + lane; e < count; e += 32) spoilt += not_finite(row[e]);
    }
    const bool finite = gpu::ballot32(spoilt != 0) == 0;
    if (lane != 0) return;
    finish_row<E, form>(record.row, last, finite, this->rule, this->found);
    if (!told) tell_pivot();
  }
};

}  // namespace kkc::ilu::gpu_parts
