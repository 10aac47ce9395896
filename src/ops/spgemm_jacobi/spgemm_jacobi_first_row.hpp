// The first of the rows that threads note.
#pragma once

#include <atomic>
#include <cstdint>

namespace kkc::spgemm_jacobi {

class FirstRow {
 public:
  void note(int64_t row) const {
    int64_t known = row_.load(std::memory_order_relaxed);
    while (row < known && !row_.compare_exchange_weak(known, row)) continue;
  }
  int64_t value() const { return row_.load(); }

 private:
  mutable std::atomic<int64_t> row_{INT64_MAX};
};

inline void refuse_zero_diagonal(const FirstRow& zeros) {
  require(zeros.value() == INT64_MAX, KKC_STATUS_ZERO_PIVOT, "A's diagonal is zero in row ", zeros.value(),
          " (counted from 0), expected another value or D^-1 in dinv");
}

}  // namespace kkc::spgemm_jacobi
