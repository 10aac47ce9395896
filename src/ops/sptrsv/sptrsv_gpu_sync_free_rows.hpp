// Kernel of gpu_sync_free for one right-hand side and parted rows: what RowSolver does in the fewest instructions,
// since warps that wait take turns at issuing them (Liu et al., "A synchronization-free algorithm for parallel sparse
// triangular solves", Euro-Par 2016, section 3).
#pragma once

#include "sptrsv_gpu_kernels.hpp"
#include "sptrsv_gpu_row_estimate.hpp"

namespace kkc::sptrsv::gpu_parts {

/// What a position of the order stands for, in one load.
template <class I, class O>
struct alignas(16) Record {
  I row;
  /// from: the entry farthest from the diagonal. count < 0: segments, of which `from` is the first; relabelled rows:
  /// where their columns begin.
  O from, count, diagonal;
};

template <class T, class I, class O>
__device__ inline Record<I, O> record_of(const Triangle<T, I, O>& A, I row) {
  const Span<O> span = span_of(A, row);
  return {row, A.lower ? span.from : static_cast<O>(span.to - 1), static_cast<O>(span.to - span.from), span.diagonal};
}

template <class T, class I, class O>
struct SetRecords {
  static constexpr int threads = 256;
  Triangle<T, I, O> A;
  const I* order;
  Record<I, O>* records;

  __device__ void operator()() const {
    const int64_t p = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (p < A.rows) records[p] = record_of(A, order[p]);
  }
};

enum class RowKind { plain, segmented, relabelled };

/// Rows of one right-hand side, by warps.
template <class T, class I, class O>
struct RowWork {
  Triangle<T, I, O> A;  // parted
  Operands<T> operands;
  T* work;  // [rows], then sums of segments, ones at first
  gpu::Zeros* zeros;

  /// The rows that records[first .. end_record - 1] stand for, as many as a warp has room for: one for each
  /// `1 << lanes_log2` lanes, each of which has `batch` entries under way and adds them up in their order: the same
  /// bits in every run. All lanes of the warp call. Records of `segmented` may be segments of rows
  /// (sptrsv_gpu_segments.hpp), `relabelled` ones number unknowns by position (sptrsv_gpu_relabelled.hpp).
  template <int lanes_log2, int batch, RowKind kind>
  __device__ void solve(const Record<I, O>* records, int64_t first, int64_t end_record, const I* columns_by_position,
                        I gate) const {
    constexpr bool segmented = kind == RowKind::segmented, relabelled = kind == RowKind::relabelled;
    constexpr int lanes = 1 << lanes_log2;
    const int lane = static_cast<int>(threadIdx.x) & 31, e = lane & (lanes - 1);
    const int64_t position = first + (lane >> lanes_log2);
    const bool valid = position < end_record, writes = valid && e == 0;
    const T alpha = operands.alpha.get();
    const bool trivial = gpu::is_zero(alpha);  // reads nothing, and waits for nothing
    const Record<I, O> record = valid ? records[position] : Record<I, O>{};
    const bool segment = segmented && record.row >= A.rows;
    O count = trivial ? O{0} : record.count, from = record.from, parts = 0;
    if (relabelled && valid && !trivial) count = static_cast<O>(records[position + 1].count - record.count);
    if (segmented && record.count < 0 && !trivial) {  // segments' sums, then the row's own entries
      parts = static_cast<O>((-record.count - 1) / segment_length);
      const O own = static_cast<O>(-record.count - parts * segment_length);
      count = static_cast<O>(parts + own);
      const O d = record.diagonal, behind = d < 0 ? static_cast<O>(~d) : static_cast<O>(d + 1);
      from = A.lower ? static_cast<O>((d < 0 ? ~d : d) - count) : static_cast<O>(behind - 1 + count);
    }

    I columns[batch];
    T values[batch], known[batch], sum{};
    O next = static_cast<O>(e);
    int have = 0, taken = 0;
    const auto load = [&] {
      have = taken = 0;
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        forget(known[u]);
        if (next < count) {
          if (segmented && next < parts) {
            columns[u] = static_cast<I>(A.rows + record.from + next);
            values[u] = one<T>();
          } else {
            const O place = A.lower ? static_cast<O>(from + next) : static_cast<O>(from - next);
            columns[u] = relabelled ? gpu::load_constant(columns_by_position + record.count + next)
                                    : gpu::load_constant(A.indices + place) - static_cast<I>(A.base);
            values[u] = A.value(place);
          }
          have = u + 1;
          next += static_cast<O>(lanes);
        }
      }
    };
    load();
    T right{}, inverse = one<T>();
    bool zero = false;
    if (writes && !trivial && !segment) {
      right = gpu::multiply(alpha, operands.b[record.row * operands.b_row]);
      if (!A.unit) {
        const T diagonal = A.value(record.diagonal);
        zero = gpu::is_zero(diagonal);
        inverse = reciprocal(diagonal);
      }
    }
    if (gate >= 0 && !trivial)
      while (absent(gpu::load_fresh(work + gate))) {
      }

    constexpr uint32_t starts = lanes == 1    ? ~0u
                                : lanes == 2  ? 0x55555555u
                                : lanes == 4  ? 0x11111111u
                                : lanes == 8  ? 0x01010101u
                                : lanes == 16 ? 0x00010001u
                                              : 1u;
    uint32_t finished = 0;  // first lanes of rows
    while (finished != starts) {
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (u < have && absent(known[u])) known[u] = gpu::load_fresh(work + columns[u]);
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (u == taken && u < have && !absent(known[u])) {
          sum = gpu::multiply_add(values[u], known[u], sum);
          ++taken;
        }
      if (taken == have && next < count) load();
      uint32_t full = gpu::ballot32(taken == have);
#pragma unroll
      for (int by = 1; by < lanes; by <<= 1) full &= full >> by;
      const uint32_t now = full & starts & ~finished;
      if (now == 0) continue;
      finished |= now;
      const T total = gpu::subgroup_sum(sum, lanes);
      if (!writes || (now >> lane & 1u) == 0) continue;
      if (segment) {
        publish(work + record.row, total);
        continue;
      }
      const T x = gpu::multiply(subtract(right, total), inverse);
      if constexpr (relabelled)
        publish(work + position, x);
      else
        publish(work + record.row, x);
      operands.x[record.row * operands.x_row] = x;
      if (zero) zeros->note(record.row);
    }
  }
};

/// Rows in the order of their levels, `each` a warp. Blocks take tickets, as SolveSyncFree's do.
template <class T, class I, class O, int lanes_log2, int batch, RowKind kind = RowKind::plain>
struct SolveRows {
  static constexpr bool relabelled = kind == RowKind::relabelled;
  // Where levels are wide blocks follow each other so fast that they wait for tickets: fewer of them.
  static constexpr int threads = relabelled && lanes_log2 > 2 ? 256 : 128;
  static constexpr int warps = threads / 32, each = 32 >> lanes_log2;
  static constexpr int blocks_per_sm = (sizeof(T) > 8 || sizeof(O) > 4 ? 8 : batch > 2 ? 10 : 12) * 128 / threads;
  RowWork<T, I, O> rows;
  const Record<I, O>* records;
  const I* columns_by_position;  // of relabelled rows
  const I* gates;                // or null
  int64_t first_position, end_position;
  unsigned* ticket;  // ~0 at first

  __device__ void operator()() const {
    const int64_t group = take_turn(ticket, warps);
    const int64_t first = first_position + group * each;
    if (first >= end_position) return;
    rows.template solve<lanes_log2, batch, kind>(records, first, end_position, columns_by_position,
                                                 gates != nullptr ? gates[group] : I{-1});
  }
};

/// What a warp of SolveUnlikeRows takes, in one load.
template <class I>
struct alignas(2 * sizeof(I)) Turn {
  I what;  // the first of the short rows; ~i: long row or segment i
  I gate;  // or -1
};

/// Rows of unlike lengths: a short one for `1 << lanes_log2` lanes, a long one, or a segment of it, for a warp, in the
/// order of `turns` (sptrsv_gpu_unlike_rows.hpp).
template <class T, class I, class O, int lanes_log2>
struct SolveUnlikeRows {
  static constexpr int threads = 128, warps = threads / 32;
  static constexpr int blocks_per_sm = sizeof(T) > 8 || sizeof(O) > 4 ? 8 : 10;
  RowWork<T, I, O> rows;
  const Record<I, O>*short_rows, *long_rows;
  const Turn<I>* turns;
  int64_t turn_count, short_count;
  unsigned* ticket;  // ~0 at first

  __device__ void operator()() const {
    const int64_t t = take_turn(ticket, warps);
    if (t >= turn_count) return;
    const Turn<I> turn = turns[t];
    if (turn.what >= 0) {
      rows.template solve<lanes_log2, 1, RowKind::plain>(short_rows, turn.what, short_count, nullptr, turn.gate);
    } else {
      const int64_t item = ~turn.what;
      rows.template solve<5, 4, RowKind::segmented>(long_rows, item, item + 1, nullptr, turn.gate);
    }
  }
};

}  // namespace kkc::sptrsv::gpu_parts
