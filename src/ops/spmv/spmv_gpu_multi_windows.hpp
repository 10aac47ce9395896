// The windows of equal work of products with many vectors.
#pragma once

#include "spmv_gpu_driver.hpp"
#include "spmv_gpu_multi_row_kernels.hpp"

namespace kkc::spmv::gpu_parts {

template <class I, class O>
class WindowPlan {
 public:
  WindowPlan(const Desc& desc, Queue& queue, int32_t capacity) {
    windows_.capacity = capacity;
    windows_.count = (desc.A.nnz + desc.A.rows) / capacity + 1;
    starts_ = device_array<I>(desc, windows_.count + 1);
    windows_.starts = starts_.template as<I>();
    if (desc.A.rows > 0)  // without rows there may be no offsets
      launch_over(queue, desc.A.rows + 1,
                  FindWindows<I, O>{offsets_of<O>(desc.A), starts_.template as<I>(), windows_.count, capacity});
  }
  const Windows<I>& windows() const { return windows_; }
  /// Values and columns of a window's entries.
  size_t stage_bytes(int32_t longest_short, size_t value_bytes, const BankSpread& spread = BankSpread()) const {
    return static_cast<size_t>(spread(windows_.capacity + longest_short)) * (value_bytes + sizeof(I));
  }

 private:
  Buffer starts_;
  Windows<I> windows_{};
};

}  // namespace kkc::spmv::gpu_parts
