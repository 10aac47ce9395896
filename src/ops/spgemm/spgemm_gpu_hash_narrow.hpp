// spgemm, gpu_hash: the symbolic phase for 32-bit column indices.
#pragma once

#include "spgemm_gpu_find.hpp"
#include "spgemm_gpu_hash.hpp"

namespace kkc::spgemm::gpu_parts {

Found find_narrow(const Desc& desc, Queue& queue) { return find<int32_t>(desc, queue); }

}  // namespace kkc::spgemm::gpu_parts
