// Rows with a zero on the diagonal, counted by Kokkos kernels, and rows that have no diagonal entry. Kernels without
// Kokkos count in gpu_zero_rows.hpp.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <memory>

#include "core/memory.hpp"
#include "core/operands.hpp"
#include "core/queue.hpp"

namespace kkc {

class ZeroRows {
 public:
  /// The first row, and how many.
  struct Counter {
    long long first, count;

    KOKKOS_FUNCTION void note(long long row, long long rows = 1) {
      Kokkos::atomic_min(&first, row);
      Kokkos::atomic_add(&count, rows);
    }
  };

  ZeroRows(const std::shared_ptr<const Memory>& memory, Queue& queue)
      : counter_(memory, own_space(queue.device()), sizeof(Counter)) {
    clear(queue);
  }
  Counter* counter() const { return counter_.as<Counter>(); }

  /// Success, or ZERO_PIVOT with what was counted since the last call; blocks.
  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) {
    Counter found;
    queue.copy(&found, counter_.data(), sizeof found);
    queue.synchronize();
    if (found.count == 0) return KKC_STATUS_SUCCESS;
    where = found.first;
    count = found.count;
    clear(queue);
    return KKC_STATUS_ZERO_PIVOT;
  }

 private:
  void clear(Queue& queue) {
    const Counter none{INT64_MAX, 0};
    queue.copy(counter_.data(), &none, sizeof none);
    queue.synchronize();
  }

  Buffer counter_;
};

namespace zero_rows_parts {

template <class I, class O>
struct FirstMissing {
  const O* offsets;
  const I* indices;
  int32_t base;

  KOKKOS_FUNCTION void operator()(int64_t i, int64_t& first) const {
    for (int64_t p = offsets[i] - base; p < offsets[i + 1] - base; ++p)
      if (indices[p] - base == i) return;
    if (i < first) first = i;
  }
};

}  // namespace zero_rows_parts

/// The first row without a diagonal entry; at least A.rows when every row has one. Blocks.
template <class Dev, class I, class O>
int64_t first_without_diagonal(Queue& queue, const CsrRef& A) {
  if (A.rows == 0) return 0;
  using Policy = Kokkos::RangePolicy<typename Dev::exec, Kokkos::IndexType<int64_t>>;
  int64_t first = INT64_MAX;
  Kokkos::parallel_reduce(
      "kkc rows without diagonal", Policy(Dev::space(queue), 0, A.rows),
      zero_rows_parts::FirstMissing<I, O>{static_cast<const O*>(A.offsets), static_cast<const I*>(A.indices), A.base},
      Kokkos::Min<int64_t>(first));
  return first;
}

}  // namespace kkc
