// spgemm, gpu_aggregates: order_rows for 64-bit column indices, where this build has them.
#pragma once

#include "core/dispatch.hpp"
#include "spgemm_gpu_aggregates_order.hpp"

namespace kkc::spgemm::gpu_parts {

void order_rows(Queue& queue, const std::shared_ptr<const Memory>& memory, const RowsToOrder<int64_t>& rows,
                const RowsByColumn& to) {
  dispatch_index_pair(IndexPairs{}, IndexPair::i64_64, [&](auto pair) {
    using I = typename decltype(pair)::ordinal;
    if constexpr (sizeof(I) == 8) RowOrder<I>(queue, memory, rows).run(to);
  });
}

}  // namespace kkc::spgemm::gpu_parts
