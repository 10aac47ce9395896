// Classes of rows of so few entries that a thread holds a row in registers, and a warp the rows that it has met last in
// shared memory: most rows of a grid are told by these alone. Others go the way of the classes' other kernels.
#pragma once

#include <bit>

#include "spgemm_gpu_aggregates_plan_kernels.hpp"
#include "spgemm_gpu_class_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

inline constexpr int few_entries = 8;

/// What a warp has met last, each kind at one of two places.
template <class Kind, int places>
struct KnownKinds {
  static constexpr int places_log2 = std::bit_width(static_cast<unsigned>(places)) - 1;
  Kind kinds[places];
  int32_t answers[places];  // negative where nothing is

  __device__ void clear(int lane) {
    for (int p = lane; p < places; p += 32) answers[p] = -1;
    gpu::sync32();
  }
  /// Where the kind is; hash: 32 bits.
  __device__ int find(uint32_t hash, const Kind& kind) const {
    const int place = static_cast<int>(hash >> (32 - places_log2)), other = place ^ (places / 2);
    if (answers[place] >= 0 && kinds[place] == kind) return place;
    return answers[other] >= 0 && kinds[other] == kind ? other : -1;
  }
  /// All lanes of the warp take part: `unknown` ones have a kind that was not there, and its answer.
  __device__ void learn(bool unknown, uint32_t hash, const Kind& kind, int32_t answer, int lane) {
    for (uint32_t left = gpu::ballot32(unknown); left != 0;) {
      const int from = __ffs(static_cast<int>(left)) - 1;
      if (lane == from) {
        int place = static_cast<int>(hash >> (32 - places_log2));
        if (answers[place] >= 0) place ^= places / 2;
        kinds[place] = kind;
        answers[place] = answer;
      }
      left &= ~gpu::ballot32(hash == gpu::shuffle_from(hash, from, 32));
      gpu::sync32();
    }
  }
};

/// B's rows of up to `most` entries, 4 or 8. Rows that ascend by less than 2^20 columns from entry to entry, 2^16
/// behind the fourth, have a number that no other kind of row has.
template <class I, int most>
struct ClassifyFewEntries {
  static constexpr int threads = 128;
  using Staged = ClassifyShortRows<RightSignature<I>, 1>;
  Staged staged;

  struct Number {
    static constexpr int words = most > 4 ? 2 : 1, near_bits = 20, far_bits = 16;
    unsigned long long of[words];

    Number() = default;
    /// Zero where the row has none.
    __device__ Number(const int32_t (&columns)[most], int32_t length) {
      bool fits = length <= most;
      of[0] = static_cast<unsigned long long>(length + 1) << 3 * near_bits;
      if constexpr (words > 1) of[1] = 0;
#pragma unroll
      for (int k = 1; k < most; ++k) {
        const uint32_t step = static_cast<uint32_t>(columns[k]) - static_cast<uint32_t>(columns[k - 1]);
        if (k >= length) continue;
        fits = fits && step != 0 && step >> (k < 4 ? near_bits : far_bits) == 0;
        if (k < 4)
          of[0] |= static_cast<unsigned long long>(step) << (k - 1) * near_bits;
        else
          of[words - 1] |= static_cast<unsigned long long>(step) << (k - 4) * far_bits;
      }
      if (!fits) of[0] = 0;
    }
    __device__ bool exists() const { return of[0] != 0; }
    __device__ bool operator==(const Number& other) const {
      return of[0] == other.of[0] && of[words - 1] == other.of[words - 1];
    }
    __device__ uint32_t hash() const {
      return static_cast<uint32_t>(
          (of[0] + (words > 1 ? of[words - 1] * 0xbf58476d1ce4e5b9u : 0)) * 0x9e3779b97f4a7c15u >> 32);
    }
  };

  __device__ void operator()() const {
    __shared__ unsigned long long met[64];
    __shared__ KnownKinds<Number, 128> all_known[threads / 32];
    __shared__ int32_t slow[threads][most];  // rows that are classified as others are
    if (*staged.table.failed != 0) return;
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    auto& known = all_known[warp];
    known.clear(lane);
    if (threadIdx.x < 64) met[threadIdx.x] = 0;
    __syncthreads();
    bool failed = false;
    for (int64_t first = static_cast<int64_t>(blockIdx.x) * threads + warp * 32; first < staged.rows && !failed;
         first += static_cast<int64_t>(gridDim.x) * threads) {
      const bool has_failed = staged.table.has_failed();  // asked for here, looked at when it has come
      const int64_t i = first + lane;
      const bool inside = i < staged.rows;
      const int64_t begin = inside ? staged.signature.begin(i) : 0;
      const auto length = inside ? static_cast<int32_t>(staged.signature.begin(i + 1) - begin) : 0;
      int32_t columns[most];
#pragma unroll
      for (int k = 0; k < most; ++k) columns[k] = k < length ? staged.signature.staged(begin + k) : 0;
      const Number number(columns, length);
      const uint32_t hash = number.hash();
      const int at = inside && number.exists() ? known.find(hash, number) : -1;
      int32_t like = 0;
      if (at >= 0) {
        staged.classes[i] = {length > 0 ? columns[0] : nowhere, known.answers[at]};
      } else if (inside) {
        int32_t* const row = slow[threadIdx.x];
#pragma unroll
        for (int k = 0; k < most; ++k) row[k] = columns[k];
        like = staged.classify(i, row, length, met);
      }
      failed = gpu::ballot32(has_failed) != 0;
      const bool unknown = inside && at < 0 && number.exists();
      if (gpu::ballot32(unknown) != 0) known.learn(unknown, hash, number, like, lane);
    }
  }
};

/// What ClassifyAggregates does, for rows of up to `most` entries.
template <class I, int most>
struct ClassifyFewAggregates {
  static constexpr int threads = 128;
  static constexpr int32_t none = INT32_MIN;  // of an entry that is not there
  Pattern<I> A;
  SingleEntries<I> B;
  int64_t rows;
  AggregateTable table;
  uint16_t* classes;
  int32_t* bases;

  struct Row {
    Meeting of[most];
    __device__ bool operator==(const Row& other) const {
      bool alike = true;
#pragma unroll
      for (int k = 0; k < most; ++k) alike = alike && same(of[k], other.of[k]);
      return alike;
    }
  };

  __device__ void operator()() const {
    __shared__ KnownKinds<Row, 64> all_known[threads / 32];
    if (table.has_failed()) return;
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    auto& known = all_known[warp];
    known.clear(lane);
    bool failed = false;
    for (int64_t first = static_cast<int64_t>(blockIdx.x) * threads + warp * 32; first < rows && !failed;
         first += static_cast<int64_t>(gridDim.x) * threads) {
      const bool has_failed = table.has_failed();
      const int64_t i = first + lane;
      const bool inside = i < rows;
      const int64_t begin = inside ? A.begin(i) : 0;
      const auto length = inside ? static_cast<int32_t>(A.begin(i + 1) - begin) : 0;
      Row row;
#pragma unroll
      for (int k = 0; k < most; ++k) row.of[k].distance = k < length ? static_cast<int32_t>(A.column(begin + k)) : 0;
#pragma unroll
      for (int k = 0; k < most; ++k) row.of[k].column = k < length ? B.column(row.of[k].distance) : 0;
      const int32_t base = row.of[0].column;
      unsigned long long sum = 0;
#pragma unroll
      for (int k = 0; k < most; ++k) {
        Meeting& m = row.of[k];
        m = k < length ? Meeting{m.distance - static_cast<int32_t>(i), m.column - base} : Meeting{none, k};
        sum += mixed(k, m.distance, m.column);
      }
      auto hash = static_cast<uint32_t>(sum ^ sum >> 32) * 0x7feb352du;
      hash = (hash ^ hash >> 15) * 0x846ca68bu;
      hash ^= hash >> 16;
      const int at = inside ? known.find(hash, row) : -1;
      const int32_t place = at >= 0 ? known.answers[at] : inside ? find(i, hash, row, length) : 0;
      if (inside) {
        classes[i] = static_cast<uint16_t>(place);
        bases[i] = base;
      }
      failed = gpu::ballot32(has_failed) != 0;
      const bool unknown = inside && at < 0;
      if (gpu::ballot32(unknown) != 0) known.learn(unknown, hash, row, place, lane);
    }
  }

  __device__ static bool same(const Meeting& a, const Meeting& b) {
    return a.distance == b.distance && a.column == b.column;
  }

  __device__ int32_t find(int64_t i, uint32_t hash, const Row& row, int32_t length) const {
    const uint32_t tag = hash >> aggregate_places_log2;
    auto place = static_cast<int32_t>(hash & (aggregate_places - 1));
    for (int probe = 0;; ++probe, place = (place + 1) & (aggregate_places - 1)) {
      const unsigned long long there = table.claim(place, tag, i);
      if (AggregateTable::tag_of(there) == tag &&
          (AggregateTable::row_of(there) == i || equal(AggregateTable::row_of(there), row, length)))
        return AggregateTable::place_of(there);
      if (probe >= 4 && table.has_failed()) return 0;  // the table may be full
    }
  }

  __device__ bool equal(int64_t other, const Row& row, int32_t length) const {
    const int64_t begin = A.begin(other);
    if (A.begin(other + 1) - begin != length) return false;
    if (length == 0) return true;
    const int32_t shift = B.column(static_cast<int64_t>(A.column(begin)));
    bool alike = true;
#pragma unroll
    for (int k = 0; k < most; ++k) {
      if (k >= length) continue;
      const auto j = static_cast<int32_t>(A.column(begin + k));
      alike = alike && same({j - static_cast<int32_t>(other), B.column(j) - shift}, row.of[k]);
    }
    return alike;
  }
};

}  // namespace kkc::spgemm::gpu_parts
