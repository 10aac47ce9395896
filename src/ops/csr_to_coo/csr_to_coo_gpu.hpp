// csr_to_coo, GPUs: a block finds the rows of its entries (device/gpu_rows.hpp).
#pragma once

#include "core/dispatch.hpp"
#include "device/gpu_rows.hpp"
#include "ops/csr_to_coo/csr_to_coo.hpp"

namespace kkc::csr_to_coo {
namespace gpu_parts {

inline void run(Queue& queue, const Args& args) {
  dispatch_index_pair(IndexPairs{}, args.A.pair, [&](auto pair) {
    using O = typename decltype(pair)::offset;
    const CsrRef& A = args.A;
    const auto expand = [&]<class Out>(Out* target) {
      gpu::expand_rows(queue, static_cast<const O*>(A.offsets), A.base, A.rows, A.nnz, target,
                       args.row_indices.strides[0]);
    };
    if (args.row_indices.scalar == Scalar::i32)
      expand(static_cast<int32_t*>(args.row_indices.data));
    else
      expand(static_cast<int64_t*>(args.row_indices.data));
  });
}

inline void prepare(Queue& queue) {
  gpu::prepare<gpu::ExpandRows<int32_t, int32_t>>(queue);
  gpu::prepare<gpu::ExpandRows<int64_t, int32_t>>(queue);
  gpu::prepare<gpu::ExpandRows<int32_t, int64_t>>(queue);
  gpu::prepare<gpu::ExpandRows<int64_t, int64_t>>(queue);
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu() {
  return {{"gpu", gpu_parts::prepare}, gpu_parts::run};
}

}  // namespace kkc::csr_to_coo
