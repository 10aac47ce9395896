// gpu_sync_free, rows of unlike lengths: few lanes share a short row, as many as make the whole fastest by an estimate,
// and a row for which they would be too few has a warp, or, of more than 256 entries, warps for segments of it, too
// (sptrsv_gpu_segments.hpp). Warps take turns: at the beginning of each level the segments whose last unknown is of the
// level before, then the level's long rows, then its short ones.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "device/gpu_scan.hpp"
#include "sptrsv_gpu_chains.hpp"
#include "sptrsv_gpu_parts.hpp"
#include "sptrsv_gpu_row_estimate.hpp"
#include "sptrsv_gpu_row_variants.hpp"
#include "sptrsv_gpu_segments.hpp"
#include "sptrsv_gpu_sync_free_kernels.hpp"
#include "sptrsv_gpu_sync_free_rows.hpp"

namespace kkc::sptrsv {
namespace gpu_parts {

namespace unlike_tuning {
inline constexpr int64_t level_rows = 16;  // in the mean, at least
inline constexpr int64_t most_levels = 2048;
inline constexpr int least_lanes_log2 = 1, most_lanes_log2 = 4, most_limit_log2 = 6;
inline constexpr int least_limit_log2 = 3, least_limit_transposed_log2 = 2;
inline constexpr double gain = 0.85;          // of the estimate of what is taken otherwise, at most
inline constexpr double relabelled = 0.8;     // times that where unknowns are numbered by position
inline constexpr double worth_a_look = 0.64;  // of the time that a row has until its turn, for its entries
inline constexpr double chained_level = 0.3;  // microseconds
}  // namespace unlike_tuning

/// Rows and their entries by length: bin k for lengths that need k bits less one. A row without entries: bin 0.
struct RowLengths {
  static constexpr int bins = 32;
  unsigned long long rows[bins], entries[bins];
};
__host__ __device__ constexpr int length_bin(uint64_t count) {
  int bits = 0;
  for (uint64_t rest = count == 0 ? 0 : count - 1; rest != 0; rest >>= 1) ++bits;
  return bits < RowLengths::bins ? bits : RowLengths::bins - 1;
}

/// Lengths of rows by position of the order, of all, and the longest of each level's that has more than a few entries;
/// places[order[p]] = p.
template <class T, class I, class O>
struct LookAtLengths {
  static constexpr int threads = 256;
  Triangle<T, I, O> A;
  const I *order, *starts;
  int64_t levels;
  RowLengths* lengths;  // zero at first
  unsigned* longest;    // of levels, zero at first
  I* places;

  __device__ void operator()() const {
    __shared__ unsigned rows[RowLengths::bins];
    __shared__ unsigned long long entries[RowLengths::bins];
    for (int i = static_cast<int>(threadIdx.x); i < RowLengths::bins; i += threads) {
      rows[i] = 0;
      entries[i] = 0;
    }
    __syncthreads();
    const int64_t p = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (p < A.rows) {
      const I row = order[p];
      places[row] = static_cast<I>(p);
      const Span<O> span = span_of(A, row);
      const auto count = static_cast<uint64_t>(span.to - span.from);
      const int bin = length_bin(count);
      atomicAdd(&rows[bin], 1u);
      if (bin > 0) atomicAdd(&entries[bin], static_cast<unsigned long long>(count));
      if (count > 1) {
        unsigned* const place = longest + last_begun(starts, levels, p);
        const auto known = *static_cast<volatile unsigned*>(place);
        if (count > known) atomicMax(place, static_cast<unsigned>(count));
      }
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < RowLengths::bins; i += threads)
      if (rows[i] != 0) {
        atomicAdd(&lengths->rows[i], static_cast<unsigned long long>(rows[i]));
        atomicAdd(&lengths->entries[i], entries[i]);
      }
  }
};

/// Long rows in the upper half, what warps take of them in the lower.
struct Items {
  static constexpr unsigned long long row = 1ULL << 32;
  __host__ __device__ static int64_t rows_of(unsigned long long packed) { return static_cast<int64_t>(packed >> 32); }
  __host__ __device__ static int64_t items_of(unsigned long long packed) {
    return static_cast<int64_t>(packed & (row - 1));
  }
};

/// Of each position: 0 for a short row.
template <class T, class I, class O>
struct CountItems {
  static constexpr int threads = 256;
  Triangle<T, I, O> A;
  const I* order;
  int64_t limit;  // entries of a short row, at most
  unsigned long long* counts;

  __device__ void operator()() const {
    const int64_t p = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (p >= A.rows) return;
    const Span<O> span = span_of(A, order[p]);
    const int64_t count = static_cast<int64_t>(span.to) - static_cast<int64_t>(span.from);
    const int64_t segments = count > segment_tuning::long_row ? (count - 1) / segment_tuning::length : 0;
    counts[p] = count > limit ? Items::row + static_cast<unsigned long long>(segments) + 1 : 0;
  }
};

/// owners[i]: the position of item i's row.
template <class I>
struct SetOwners {
  static constexpr int threads = 256;
  const unsigned long long* before;  // exclusive sums of counts
  int64_t rows;
  I* owners;

  __device__ void operator()() const {
    const int64_t p = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (p >= rows) return;
    const int64_t first = Items::items_of(before[p]), end = Items::items_of(before[p + 1]);
    for (int64_t i = first; i < end; ++i) owners[i] = static_cast<I>(p);
  }
};

/// Records of items, whose turn each is: 2 l for a segment at the beginning of level l, 2 l + 1 for a row of it; and
/// how many items have each turn. A warp an item.
template <class T, class I, class O>
struct SetItems {
  static constexpr int threads = 256;
  Triangle<T, I, O> A;
  const I *order, *places, *starts, *owners;
  const unsigned long long* before;
  int64_t levels, items;
  Record<I, O>* records;
  unsigned *turns, *counts;  // counts: zero at first

  __device__ void operator()() const {
    const int64_t i = (int64_t{blockIdx.x} * threads + threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    if (i >= items) return;
    const I p = owners[i];
    const int64_t first = Items::items_of(before[p]), segments = Items::items_of(before[p + 1]) - first - 1;
    Record<I, O> record = record_of(A, order[p]);
    const bool whole = i - first == segments;
    int64_t last = p;
    if (whole) {
      if (segments > 0) {
        record.from = static_cast<O>(first);
        record.count = static_cast<O>(-record.count);
      }
    } else {
      const auto skipped = static_cast<O>((i - first) * segment_tuning::length);
      record = {static_cast<I>(A.rows + i), static_cast<O>(A.lower ? record.from + skipped : record.from - skipped),
                static_cast<O>(segment_tuning::length), O{-1}};
      I most = 0;
      for (O k = static_cast<O>(lane); k < record.count; k += 32) {
        const O place = A.lower ? static_cast<O>(record.from + k) : static_cast<O>(record.from - k);
        most = max(most, places[A.indices[place] - static_cast<I>(A.base)]);
      }
      for (int mask = 16; mask > 0; mask >>= 1) most = max(most, gpu::shuffle_xor(most, mask, 32));
      last = most;
    }
    if (lane != 0) return;
    const int64_t level = last_begun(starts, levels, last) + (whole ? 0 : 1);
    const auto turn = static_cast<unsigned>(2 * level + (whole ? 1 : 0));
    turns[i] = turn;
    records[i] = record;
    atomicAdd(&counts[turn], 1u);
  }
};

/// What all warps take: thread p the row at position p, if it is short, thread rows + i item i.
template <class T, class I, class O>
struct SetTurns {
  static constexpr int threads = 256;
  Triangle<T, I, O> A;
  const I *order, *starts;
  const unsigned long long* before;
  const unsigned *item_turns, *turn_starts;
  unsigned* counts;  // those of SetItems, zero in the end
  int64_t levels, items;
  int each, distance;
  Record<I, O>* short_rows;
  Turn<I>* turns;

  __device__ void operator()() const {
    const int64_t thread = int64_t{blockIdx.x} * threads + threadIdx.x, i = thread - A.rows;
    if (i >= items) return;
    if (i >= 0) {
      const unsigned turn = item_turns[i];
      const int64_t level = turn / 2, place = turn_starts[turn] + atomicSub(&counts[turn], 1u) - 1;
      turns[groups_before(level) + place] = {static_cast<I>(~i), gate_of(level, starts[level])};
      return;
    }
    if (before[thread + 1] != before[thread]) return;
    const int64_t rank = thread - Items::rows_of(before[thread]);
    short_rows[rank] = record_of(A, order[thread]);
    if (rank % each != 0) return;
    const int64_t group = rank / each;
    int64_t low = 0, high = levels - 1;  // the last level whose items come before the group
    while (low < high) {
      const int64_t middle = (low + high + 1) / 2;
      if (groups_before(middle) <= group)
        low = middle;
      else
        high = middle - 1;
    }
    turns[group + turn_starts[2 * low + 2]] = {static_cast<I>(rank),
                                               gate_of(last_begun(starts, levels, thread), thread)};
  }

 private:
  /// Of short rows before a level, the last of which may hold some of it.
  __device__ int64_t groups_before(int64_t level) const {
    const int64_t start = starts[level], shorts = start - Items::rows_of(before[start]);
    return (shorts + each - 1) / each;
  }
  __device__ I gate_of(int64_t level, int64_t position) const {
    return gate_before(order, starts, level, position, distance);
  }
};

/// Turns, and records of short rows, and of long ones and their segments; none where others are expected to be faster.
template <class T, class I, class O>
class UnlikeRows {
 public:
  UnlikeRows(const Desc& desc, Queue& queue, const Triangle<T, I, O>& A, const Levels& levels) {
    if (!takes(desc, A, levels)) return;
    const RowVariant variant = row_variant(desc, levels, false);
    const RowShare plain = row_share(variant, transposes(desc.op));
    if (!may_pay(desc, A, plain)) return;
    const bool relabelled = variant.kind == RowKind::relabelled && variant.gate_distance > 0;
    const Buffer places = device_array<I>(desc, A.rows);
    look(desc, queue, A, levels, plain, relabelled ? unlike_tuning::relabelled : 1, places.as<I>());
    if (taken()) lay_out(desc, queue, A, levels, places.as<I>());
  }

  bool taken() const { return lanes_log2_ >= 0; }
  /// At least as long as any row is.
  int64_t longest() const { return longest_; }
  int lanes_log2() const { return lanes_log2_; }
  /// Numbers behind the unknowns.
  int64_t sums() const { return items_; }
  int64_t long_rows() const { return long_count_; }
  size_t bytes() const { return short_rows_.bytes() + long_rows_.bytes() + turns_.bytes(); }

  void solve(Queue& queue, const RowWork<T, I, O>& work, unsigned* ticket) const {
    with_kernel([&]<class Rows>(Rows rows) {
      rows.rows = work;
      rows.short_rows = short_rows_.as<Record<I, O>>();
      rows.long_rows = long_rows_.as<Record<I, O>>();
      rows.turns = turns_.as<Turn<I>>();
      rows.turn_count = turn_count();
      rows.short_count = short_count_;
      rows.ticket = ticket;
      gpu::launch(queue, gpu::blocks_for(turn_count(), Rows::warps), Rows::threads, 0, rows);
    });
  }

 private:
  /// As others share the rows.
  static RowShare row_share(const RowVariant& variant, bool transposed) {
    return {int64_t{1} << variant.lanes_log2, variant.batch, INT64_MAX, 0, variant.gate_distance, transposed};
  }

  static bool takes(const Desc& desc, const Triangle<T, I, O>& A, const Levels& levels) {
    using namespace unlike_tuning;
    return A.rows > 0 && desc.vectors == 1 && A.parted && levels.count <= most_levels &&
           A.rows >= level_rows * levels.count && A.rows <= std::numeric_limits<int32_t>::max();
  }

  /// Whether a row's entries may take so long that lengths are worth a look.
  static bool may_pay(const Desc& desc, const Triangle<T, I, O>& A, const RowShare& plain) {
    using namespace unlike_tuning;
    const int64_t steps = transposes(desc.op) ? A.rows : desc.rows.longest / (plain.lanes * plain.batch);
    return static_cast<double>(steps) * estimate_tuning::step >
           worth_a_look * estimate_tuning::level * static_cast<double>(std::max<int64_t>(1, plain.gate));
  }

  /// Lengths of rows, and what to do with them. Blocks.
  void look(const Desc& desc, Queue& queue, const Triangle<T, I, O>& A, const Levels& levels, const RowShare& plain,
            double plain_share, I* places) {
    const int64_t n = A.rows, count = levels.count;
    const I *order = levels.order->template as<I>(), *starts = levels.device_starts->template as<I>();
    const size_t bytes = sizeof(RowLengths) + static_cast<size_t>(count) * sizeof(unsigned);
    const Buffer found = device_array<char>(desc, static_cast<int64_t>((bytes + 7) / 8 * 8));
    gpu::clear_words(queue, found.data(), found.bytes());
    auto* longest = reinterpret_cast<unsigned*>(found.as<char>() + sizeof(RowLengths));
    gpu::launch_over(queue, n,
                     LookAtLengths<T, I, O>{A, order, starts, count, found.as<RowLengths>(), longest, places});
    std::vector<char> told(bytes);
    queue.copy(told.data(), found.data(), bytes);
    std::vector<unsigned> longest_of_levels(static_cast<size_t>(count));
    RowLengths lengths;
    std::memcpy(&lengths, told.data(), sizeof lengths);
    std::memcpy(longest_of_levels.data(), told.data() + sizeof lengths, bytes - sizeof lengths);
    longest_ = std::max(1u, *std::max_element(longest_of_levels.begin(), longest_of_levels.end()));
    choose(lengths, longest_of_levels, levels, plain, plain_share);
  }

  /// Records and turns. Blocks.
  void lay_out(const Desc& desc, Queue& queue, const Triangle<T, I, O>& A, const Levels& levels, const I* places) {
    const int64_t n = A.rows, count = levels.count;
    const I *order = levels.order->template as<I>(), *starts = levels.device_starts->template as<I>();
    const Buffer counts = device_array<unsigned long long>(desc, n),
                 before = device_array<unsigned long long>(desc, n + 1);
    gpu::launch_over(queue, n,
                     CountItems<T, I, O>{A, order, int64_t{1} << limit_log2_, counts.as<unsigned long long>()});
    const auto total =
        gpu::exclusive_scan_total(queue, counts.as<unsigned long long>(), before.as<unsigned long long>(), n);
    long_count_ = Items::rows_of(total), items_ = Items::items_of(total), short_count_ = n - long_count_;
    if (items_ > std::numeric_limits<I>::max() - n) {  // segments are numbered behind the unknowns
      lanes_log2_ = -1;
      items_ = 0;
      return;
    }
    const int64_t turns = 2 * count;
    const Buffer owners = device_array<I>(desc, items_), item_turns = device_array<unsigned>(desc, items_),
                 turn_counts = device_array<unsigned>(desc, turns),
                 turn_starts = device_array<unsigned>(desc, turns + 1);
    short_rows_ = device_array<Record<I, O>>(desc, short_count_);
    long_rows_ = device_array<Record<I, O>>(desc, items_);
    turns_ = device_array<Turn<I>>(desc, turn_count());
    gpu::clear_words(queue, turn_counts.data(), turn_counts.bytes());
    gpu::launch_over(queue, n, SetOwners<I>{before.as<unsigned long long>(), n, owners.as<I>()});
    gpu::launch_over(
        queue, items_ * 32,
        SetItems<T, I, O>{A, order, places, starts, owners.as<I>(), before.as<unsigned long long>(), count, items_,
                          long_rows_.as<Record<I, O>>(), item_turns.as<unsigned>(), turn_counts.as<unsigned>()});
    gpu::exclusive_scan(queue, turn_counts.as<unsigned>(), turn_starts.as<unsigned>(), turns);
    gpu::launch_over(
        queue, n + items_,
        SetTurns<T, I, O>{A, order, starts, before.as<unsigned long long>(), item_turns.as<unsigned>(),
                          turn_starts.as<unsigned>(), turn_counts.as<unsigned>(), count, items_, each(),
                          sync_free_tuning::near_gate, short_rows_.as<Record<I, O>>(), turns_.as<Turn<I>>()});
    with_kernel([&]<class Rows>(Rows) { gpu::prepare<Rows>(queue); });
  }

  /// Lanes and the limit by which the estimate is least, if it is less than that of what is taken otherwise, which
  /// takes plain_share of its own.
  void choose(const RowLengths& lengths, const std::vector<unsigned>& longest, const Levels& levels,
              const RowShare& plain, double plain_share) {
    using namespace unlike_tuning;
    double chained_gain = 0;
    for (const SyncFreeRun& run : sync_free_runs(levels, levels.count))
      if (run.chain) chained_gain += static_cast<double>(run.levels) * (estimate_tuning::level - chained_level);
    const auto over = [&](const unsigned long long(&bins)[RowLengths::bins], int limit_log2) {
      double sum = 0;
      for (int k = limit_log2 + 1; k < RowLengths::bins; ++k) sum += static_cast<double>(bins[k]);
      return sum;
    };
    constexpr int segmented = length_bin(segment_tuning::long_row);
    const double segments = over(lengths.entries, segmented) / segment_tuning::length;
    const LongRows found{static_cast<unsigned long long>(over(lengths.entries, segmented)),
                         static_cast<unsigned long long>(longest_), 0};
    std::vector<double> room;
    const auto time_of = [&](const RowShare& share) { return estimate(levels.starts, longest, share, room); };
    double least = gain * (found.entries > 0 && Segments<T, I, O>::pay(found, levels, levels.rows, false)
                               ? time_of({32, 4, segment_tuning::long_row, segments, 0, plain.transposed})
                               : plain_share * time_of(plain) - chained_gain);
    const int least_limit = plain.transposed ? least_limit_transposed_log2 : least_limit_log2;
    for (int lanes_log2 = least_lanes_log2; lanes_log2 <= most_lanes_log2; ++lanes_log2)
      for (int limit_log2 = least_limit; limit_log2 <= most_limit_log2; ++limit_log2) {
        const double long_rows = over(lengths.rows, limit_log2);
        if (long_rows == 0) break;
        const double time = time_of({int64_t{1} << lanes_log2, 1, int64_t{1} << limit_log2, long_rows + segments,
                                     sync_free_tuning::near_gate, plain.transposed});
        if (time >= least) continue;
        least = time;
        lanes_log2_ = lanes_log2;
        limit_log2_ = limit_log2;
      }
  }

  int each() const { return 32 >> lanes_log2_; }
  int64_t turn_count() const { return (short_count_ + each() - 1) / each() + items_; }

  template <class F>
  void with_kernel(const F& f) const {
    switch (lanes_log2_) {
      case 1: return f(SolveUnlikeRows<T, I, O, 1>{});
      case 2: return f(SolveUnlikeRows<T, I, O, 2>{});
      case 3: return f(SolveUnlikeRows<T, I, O, 3>{});
      default: return f(SolveUnlikeRows<T, I, O, 4>{});
    }
  }

  int lanes_log2_ = -1, limit_log2_ = 0;
  int64_t longest_ = std::numeric_limits<int64_t>::max();
  int64_t short_count_ = 0, long_count_ = 0, items_ = 0;
  Buffer short_rows_, long_rows_, turns_;
};

}  // namespace gpu_parts
}  // namespace kkc::sptrsv
