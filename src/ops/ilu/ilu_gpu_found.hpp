// What GPU kernels of ilu and ic share: looking for a column, ending a row, and rows that broke down, counted until
// kkc_plan_check asks.
#pragma once

#include "core/memory.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_read.hpp"
#include "device/gpu_scalar.hpp"
#include "ops/ilu/ilu_arithmetic.hpp"

namespace kkc::ilu::gpu_parts {

/// Rows that broke down: twice the first one's number, and 1 more where its pivot was zero; how many.
struct Found {
  unsigned long long first, count;
};
inline constexpr Found none_found{~0ull, 0};

class FoundRows {
 public:
  FoundRows(const std::shared_ptr<const Memory>& memory, Queue& queue)
      : found_(Memory::in_order(memory), Space::device, sizeof(Found)) {
    clear(queue);
  }
  Found* counter() const { return found_.as<Found>(); }
  size_t bytes() const { return found_.bytes(); }

  /// As Kernel::check; blocks.
  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) {
    const auto found = gpu::read_back<Found>(queue, found_.data());
    if (found.count == 0) return KKC_STATUS_SUCCESS;
    clear(queue);
    where = static_cast<int64_t>(found.first / 2);
    count = static_cast<int64_t>(found.count);
    return found.first % 2 == 1 ? KKC_STATUS_ZERO_PIVOT : KKC_STATUS_BREAKDOWN;
  }

 private:
  void clear(Queue& queue) { gpu::write(queue, found_.data(), none_found); }

  Buffer found_;
};

/// Place in columns[low..high) of `column`, or -1.
template <class I>
__device__ inline int find_column(const I* columns, int low, int high, I column) {
  const int end = high;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (columns[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && columns[low] == column ? low : -1;
}

/// The pivot of row i, and a note where it is zero or the row is not finite.
template <class E, Form form, class I>
__device__ inline void finish_row(I i, E& pivot, bool finite, const Rule<RealPart<E>>& rule, Found* found) {
  bool zero = false;
  const auto root = [](RealPart<E> x) { return sqrt(x); };
  if constexpr (form == Form::lu) {
    if (finite) pivot = lu_pivot(pivot, rule, root, zero);
  } else {
    pivot = from_real<E>(root(finite ? cholesky_pivot(real_part(pivot), rule, zero) : real_part(pivot)));
  }
  if (finite && !zero) return;
  atomicMin(&found->first, 2 * static_cast<unsigned long long>(i) + (zero ? 1 : 0));
  atomicAdd(&found->count, 1ull);
}

}  // namespace kkc::ilu::gpu_parts
