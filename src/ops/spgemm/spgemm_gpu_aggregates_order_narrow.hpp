// spgemm, gpu_aggregates: order_rows for 32-bit column indices.
#pragma once

#include "spgemm_gpu_aggregates_order.hpp"

namespace kkc::spgemm::gpu_parts {

void order_rows(Queue& queue, const std::shared_ptr<const Memory>& memory, const RowsToOrder<int32_t>& rows,
                const RowsByColumn& to) {
  RowOrder<int32_t>(queue, memory, rows).run(to);
}

}  // namespace kkc::spgemm::gpu_parts
