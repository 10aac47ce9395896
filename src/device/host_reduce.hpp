// Sums over the rows of columns, on hosts: fixed blocks of rows, their sums added in order. The result depends on the
// shape alone, not on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/scratch.hpp"
#include "host_parallel.hpp"

namespace kkc {

/// Sum: a trivial type, zero when value-initialised, with add(). Kernel:
///   bool by_column                                    columns are runs: take one at a time
///   Sum column(c, first_row, last_row)                by_column
///   void rows(c, columns, first_row, last_row, Sum*)  else; sums of at most `wide` columns, zeroed
///   void finish(c, const Sum&)
template <class Dev, class Sum, class Kernel>
void host_reduce(Queue& queue, void* scratch, int64_t rows, int64_t columns, const Kernel& kernel) {
  constexpr int64_t wide = 64, most_blocks = 512, least_rows = 4096;
  constexpr int64_t capacity = static_cast<int64_t>((scratch_bytes - scratch_ticket_bytes) / sizeof(Sum));
  static_assert(wide * most_blocks <= capacity);
  Sum* const sums = reinterpret_cast<Sum*>(static_cast<char*>(scratch) + scratch_ticket_bytes);

  const int64_t block = std::max(least_rows, (rows + most_blocks - 1) / most_blocks);
  const int64_t blocks = (rows + block - 1) / block;
  for (int64_t first = 0; first < columns; first += wide) {
    const int64_t count = std::min(wide, columns - first);
    const int64_t items = kernel.by_column ? blocks * count : blocks;
    host_parts<Dev>(queue, items, [&](int64_t item) {
      const int64_t b = kernel.by_column ? item / count : item;
      const int64_t begin = b * block, end = std::min(rows, begin + block);
      if (kernel.by_column)
        sums[item] = kernel.column(first + item % count, begin, end);
      else
        kernel.rows(first, count, begin, end, sums + b * count);
    });
    for (int64_t c = 0; c < count; ++c) {
      Sum sum{};
      for (int64_t b = 0; b < blocks; ++b) sum.add(sums[b * count + c]);
      kernel.finish(first + c, sum);
    }
  }
}

}  // namespace kkc
