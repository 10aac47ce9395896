// spgemm, gpu_hash: the numeric phase for c64 and c128.
#pragma once

#include "spgemm_gpu_hash.hpp"
#include "spgemm_gpu_hash_kernel.hpp"

namespace kkc::spgemm::gpu_parts {

std::unique_ptr<Kernel> make_complex(const Desc& desc, Queue& queue, Found found) {
  return make_kernel<c64, c128>(desc, queue, std::move(found));
}

}  // namespace kkc::spgemm::gpu_parts
