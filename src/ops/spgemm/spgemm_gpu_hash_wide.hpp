// spgemm, gpu_hash: the symbolic phase for 64-bit column indices, where this build has them.
#pragma once

#include "spgemm_gpu_find.hpp"
#include "spgemm_gpu_hash.hpp"

namespace kkc::spgemm::gpu_parts {

Found find_wide(const Desc& desc, Queue& queue) {
  Found found;
  dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto pair) {
    using I = typename decltype(pair)::ordinal;
    if constexpr (sizeof(I) == 8) found = find<I>(desc, queue);
  });
  return found;
}

}  // namespace kkc::spgemm::gpu_parts
