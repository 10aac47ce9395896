// spgemm, gpu_hash: the numeric phase for f64.
#pragma once

#include "spgemm_gpu_hash.hpp"
#include "spgemm_gpu_hash_kernel.hpp"

namespace kkc::spgemm::gpu_parts {

std::unique_ptr<Kernel> make_f64(const Desc& desc, Queue& queue, Found found) {
  return make_kernel<double>(desc, queue, std::move(found));
}

}  // namespace kkc::spgemm::gpu_parts
