// gpu_sync_free, matrices much of which lies in long rows, or with a row of very many entries: such a row is cut into
// segments, each summed by a warp of its own as soon as the unknowns it needs are there, and the row adds up its
// segments' sums, as if they were unknowns. The entries nearest to the diagonal, whose unknowns are solved last, stay
// the row's own: no warp stands in between. A segment's turn is at the beginning of the level behind that of its last
// unknown, whatever the level of its row; where most levels before the first such row are chains'
// (sptrsv_gpu_chains.hpp), behind these.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>

#include "device/gpu_scan.hpp"
#include "device/gpu_sort.hpp"
#include "sptrsv_gpu_chains.hpp"
#include "sptrsv_gpu_parts.hpp"
#include "sptrsv_gpu_sync_free_kernels.hpp"
#include "sptrsv_gpu_sync_free_rows.hpp"

namespace kkc::sptrsv {
namespace gpu_parts {

namespace segment_tuning {
inline constexpr int64_t length = segment_length, long_row = gpu_parts::long_row;  // longer rows are cut
inline constexpr double share = 0.3;  // of the triangle's entries in such rows, at least
// Or a row of so many entries, where the few lanes that a short row has would take longer for it than a warp for each
// row, and levels are not so narrow that chains pay.
inline constexpr int64_t lone_row = 2048, rows_an_entry = 350, level_rows = 16;
}  // namespace segment_tuning

struct LongRows {
  unsigned long long entries, longest, behind;  // behind: rows at and after the first one's position
};

/// counts[p]: segments of the row at position p, whose last entries are left to it; found: of all rows with segments.
template <class T, class I, class O>
struct CountSegments {
  static constexpr int threads = 256;
  Triangle<T, I, O> A;
  const I* order;
  I* counts;
  LongRows* found;  // zero at first

  __device__ void operator()() const {
    const int64_t p = int64_t{blockIdx.x} * threads + threadIdx.x;
    unsigned long long mine = 0;
    if (p < A.rows) {
      const Span<O> span = span_of(A, order[p]);
      const int64_t count = static_cast<int64_t>(span.to) - static_cast<int64_t>(span.from);
      const bool is_long = count > segment_tuning::long_row;
      counts[p] = static_cast<I>(is_long ? (count - 1) / segment_tuning::length : 0);
      if (is_long) mine = static_cast<unsigned long long>(count);
    }
    if (mine != 0) {
      atomicMax(&found->longest, mine);
      atomicMax(&found->behind, static_cast<unsigned long long>(A.rows - p));
    }
    mine = gpu::subgroup_sum(mine, 32);
    if ((threadIdx.x & 31u) == 0 && mine != 0) atomicAdd(&found->entries, mine);
  }
};

/// Where the segments of each position's row begin among all segments, and of what they consist.
template <class T, class I, class O>
struct SegmentTable {
  Triangle<T, I, O> A;
  const I *order, *firsts;  // firsts[p + 1] - firsts[p] segments at position p

  __device__ Record<I, O> record(int64_t segment) const {
    const int64_t low =
        last_begun(firsts, A.rows, segment);  // the last position whose first segment is at most this one
    const Span<O> span = span_of(A, order[low]);
    const auto skipped = static_cast<O>((segment - firsts[low]) * segment_tuning::length);
    return {static_cast<I>(A.rows + segment),
            A.lower ? static_cast<O>(span.from + skipped) : static_cast<O>(span.to - 1 - skipped),
            static_cast<O>(segment_tuning::length), O{-1}};
  }
};

/// turns[s]: the first position of the level behind that of segment s's last unknown, `least` or more. A warp a
/// segment.
template <class T, class I, class O>
struct SetSegmentTurns {
  static constexpr int threads = 256;
  SegmentTable<T, I, O> table;
  const I *places, *starts;
  int64_t levels, segments, least;
  std::make_unsigned_t<I>* turns;

  __device__ void operator()() const {
    const int64_t s = (int64_t{blockIdx.x} * threads + threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    if (s >= segments) return;
    const Triangle<T, I, O>& A = table.A;
    const Record<I, O> record = table.record(s);
    I last = 0;
    for (O k = static_cast<O>(lane); k < record.count; k += 32) {
      const O place = A.lower ? static_cast<O>(record.from + k) : static_cast<O>(record.from - k);
      last = max(last, places[A.indices[place] - static_cast<I>(A.base)]);
    }
    for (int mask = 16; mask > 0; mask >>= 1) last = max(last, gpu::shuffle_xor(last, mask, 32));
    if (lane != 0) return;
    const int64_t low = last_begun(starts, levels, last);
    turns[s] = static_cast<std::make_unsigned_t<I>>(max(int64_t{starts[low + 1]}, least));
  }
};

/// Rows and segments in the order of their turns: thread r the r-th segment, thread segments + p the row at position p.
template <class T, class I, class O>
struct SetTurnRecords {
  static constexpr int threads = 256;
  SegmentTable<T, I, O> table;
  const std::make_unsigned_t<I>* turns;  // ascending
  const I* segment;                      // whose turn that is
  int64_t segments;
  Record<I, O>* records;

  __device__ void operator()() const {
    const int64_t thread = int64_t{blockIdx.x} * threads + threadIdx.x, p = thread - segments;
    if (p < 0) {
      records[static_cast<int64_t>(turns[thread]) + thread] = table.record(segment[thread]);
      return;
    }
    if (p >= table.A.rows) return;
    int64_t low = 0, high = segments;  // segments before position p
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (static_cast<int64_t>(turns[middle]) <= p)
        low = middle + 1;
      else
        high = middle;
    }
    const I first = table.firsts[p];
    Record<I, O> record = record_of(table.A, table.order[p]);
    if (table.firsts[p + 1] != first) {
      record.from = static_cast<O>(first);
      record.count = static_cast<O>(-record.count);
    }
    records[p + low] = record;
  }
};

/// Records of rows and segments; none where few entries lie in long rows.
template <class T, class I, class O>
class Segments {
 public:
  Segments() = default;
  Segments(const Desc& desc, Queue& queue, const Triangle<T, I, O>& A, const Levels& levels) {
    const int64_t n = A.rows;
    const bool may_be_long = transposes(desc.op) || desc.rows.longest > segment_tuning::long_row;
    if (n == 0 || desc.vectors != 1 || !A.parted || !may_be_long) return;
    const I* const order = levels.order->template as<I>();
    const Buffer counts = device_array<I>(desc, n), firsts = device_array<I>(desc, n + 1),
                 long_rows = device_array<LongRows>(desc, 1);
    gpu::clear_words(queue, long_rows.data(), long_rows.bytes());
    gpu::launch_over(queue, n, CountSegments<T, I, O>{A, order, counts.as<I>(), long_rows.as<LongRows>()});
    const auto found = gpu::read_back<LongRows>(queue, long_rows.data());
    if (found.entries == 0) return;
    const auto level =
        std::upper_bound(levels.starts.begin(), levels.starts.end(), n - static_cast<int64_t>(found.behind)) -
        levels.starts.begin() - 1;
    const bool chained = mostly_chained(levels, level);
    if (!pay(found, levels, n, chained)) return;
    count_ = static_cast<int64_t>(gpu::exclusive_scan_total<I, I>(queue, counts.as<I>(), firsts.as<I>(), n));
    if (count_ > std::numeric_limits<I>::max() - n) {  // segments are numbered behind the unknowns
      count_ = 0;
      return;
    }
    if (chained) first_level_ = level;
    using Key = std::make_unsigned_t<I>;
    const SegmentTable<T, I, O> table{A, order, firsts.as<I>()};
    const Buffer places = device_array<I>(desc, n), turns = device_array<Key>(desc, count_),
                 other_turns = device_array<Key>(desc, count_), segment = device_array<I>(desc, count_),
                 other_segment = device_array<I>(desc, count_),
                 scratch(Memory::in_order(desc.memory), Space::device, gpu::sort_scratch_bytes<Key, I>(count_));
    gpu::launch_over(queue, n, Invert<I>{order, n, places.as<I>()});
    gpu::launch_over(
        queue, count_ * 32,
        SetSegmentTurns<T, I, O>{table, places.as<I>(), levels.device_starts->template as<I>(), levels.count, count_,
                                 levels.starts[static_cast<size_t>(first_level_)], turns.as<Key>()});
    gpu::prepare_sort<Key, I>(queue);
    const int where = gpu::sort_pairs<Key, I>(
        queue, {turns.as<Key>(), other_turns.as<Key>()}, {segment.as<I>(), other_segment.as<I>()}, count_, 0,
        std::bit_width(static_cast<uint64_t>(n)), scratch.data(), gpu::PayloadIs::places);
    records_ = device_array<Record<I, O>>(desc, n + count_);
    gpu::launch_over(queue, n + count_,
                     SetTurnRecords<T, I, O>{table, (where == 0 ? turns : other_turns).template as<Key>(),
                                             (where == 0 ? segment : other_segment).template as<I>(), count_,
                                             records_.as<Record<I, O>>()});
  }

  int64_t count() const { return count_; }
  /// None before it, and chains pay for those levels.
  int64_t first_level() const { return first_level_; }
  Buffer& records() { return records_; }

  /// chained: the levels before the first long row are chains'.
  static bool pay(const LongRows& found, const Levels& levels, int64_t rows, bool chained) {
    using namespace segment_tuning;
    const auto longest = static_cast<int64_t>(found.longest);
    const bool lone =
        longest >= lone_row && longest * rows_an_entry >= rows && (chained || rows >= level_rows * levels.count);
    return lone || static_cast<double>(found.entries) >= share * levels.entries_a_row * static_cast<double>(rows);
  }

 private:
  int64_t count_ = 0, first_level_ = 0;
  Buffer records_;
};

}  // namespace gpu_parts
}  // namespace kkc::sptrsv
