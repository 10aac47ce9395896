// gpu_sync_free, many short rows a level: unknowns numbered by their position in the order, and a list of the columns
// of the triangle's rows in that numbering and order. What is solved at one time lies side by side, where those who
// wait for it ask for it (the permuted system of Anderson, Saad, "Solving sparse triangular linear systems on parallel
// computers", Int. J. High Speed Comput. 1(1), 1989, section 4; here without a copy of the values).
#pragma once

#include <cmath>

#include "device/gpu_scan.hpp"
#include "sptrsv_gpu_parts.hpp"
#include "sptrsv_gpu_sync_free_kernels.hpp"
#include "sptrsv_gpu_sync_free_rows.hpp"

namespace kkc::sptrsv {
namespace gpu_parts {

/// The rows of each level in the opposite order: those that are read from the end of an upper triangle are solved
/// first.
template <class I>
struct TurnLevels {
  static constexpr int threads = 256;
  const I *order, *starts;
  int64_t rows, levels;
  I* turned;

  __device__ void operator()() const {
    const int64_t p = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (p >= rows) return;
    const int64_t l = last_begun(starts, levels, p);
    turned[starts[l] + (starts[l + 1] - 1 - p)] = order[p];
  }
};

/// counts[p]: entries of the row at position p.
template <class T, class I, class O>
struct CountRow {
  static constexpr int threads = 256;
  Triangle<T, I, O> A;
  const I* order;
  O* counts;

  __device__ void operator()() const {
    const int64_t p = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (p < A.rows) counts[p] = record_of(A, order[p]).count;
  }
};

/// Records with begins[p] in place of counts, one more behind the last, and the list of columns. A row for `lanes`.
template <class T, class I, class O>
struct Relabel {
  static constexpr int threads = 256, lanes = 4;
  Triangle<T, I, O> A;
  const I *order, *places;
  const O* begins;
  Record<I, O>* records;
  I* columns;

  __device__ void operator()() const {
    const int64_t thread = int64_t{blockIdx.x} * threads + threadIdx.x, p = thread / lanes;
    const int e = static_cast<int>(thread % lanes);
    if (p > A.rows) return;
    Record<I, O> record = p < A.rows ? record_of(A, order[p]) : Record<I, O>{};
    const O count = record.count;
    record.count = begins[p];
    if (e == 0) records[p] = record;
    for (O k = static_cast<O>(e); k < count; k += lanes) {
      const O place = A.lower ? static_cast<O>(record.from + k) : static_cast<O>(record.from - k);
      columns[record.count + k] = places[A.indices[place] - static_cast<I>(A.base)];
    }
  }
};

template <class I, class O>
struct Relabelled {
  Buffer records, columns;

  template <class T>
  void make(const Desc& desc, Queue& queue, const Triangle<T, I, O>& A, const Levels& levels) {
    const int64_t n = A.rows;
    const I* order = levels.order->template as<I>();
    const Buffer turned = device_array<I>(desc, A.lower ? 0 : n);
    if (!A.lower) {
      gpu::launch_over(queue, n,
                       TurnLevels<I>{order, levels.device_starts->template as<I>(), n, levels.count, turned.as<I>()});
      order = turned.as<I>();
    }
    const Buffer begins = device_array<O>(desc, n + 1), places = device_array<I>(desc, n);
    gpu::launch_over(queue, n, CountRow<T, I, O>{A, order, begins.as<O>()});
    gpu::exclusive_scan<O, O>(queue, begins.as<O>(), begins.as<O>(), n);
    gpu::launch_over(queue, n, Invert<I>{order, n, places.as<I>()});
    records = device_array<Record<I, O>>(desc, n + 1);
    columns = device_array<I>(desc, std::llround(levels.entries_a_row * static_cast<double>(n)));
    using Make = Relabel<T, I, O>;
    gpu::launch_over(queue, (n + 1) * Make::lanes,
                     Make{A, order, places.as<I>(), begins.as<O>(), records.as<Record<I, O>>(), columns.as<I>()});
  }
};

}  // namespace gpu_parts
}  // namespace kkc::sptrsv
