// spgemm, gpu_hash: rows of C in shared memory: hash tables, bitmaps, product slots; rows of one class share their
// symbolic phase. Its phases are compiled in parts of their own (CMakeLists.txt).
#pragma once

#include "core/dispatch.hpp"
#include "ops/spgemm/spgemm.hpp"
#include "spgemm_gpu_symbolic.hpp"

namespace kkc::spgemm {
namespace gpu_parts {

Found find_narrow(const Desc& desc, Queue& queue);
Found find_wide(const Desc& desc, Queue& queue);
std::unique_ptr<Kernel> make_f32(const Desc& desc, Queue& queue, Found found);
std::unique_ptr<Kernel> make_f64(const Desc& desc, Queue& queue, Found found);
std::unique_ptr<Kernel> make_complex(const Desc& desc, Queue& queue, Found found);

inline std::string hash_unsupported(const Desc& desc) {
  size_t room = 0;
  Queue& queue = desc.memory->queue();
  queue.run([&] { room = shared_room(queue); });
  if (room < least_room) return cat("needs ", least_room, " bytes of shared memory in a block, the device has ", room);
  if (std::max({desc.rows(), desc.cols(), desc.A.cols}) >= INT32_MAX) return "takes fewer than 2^31 rows and columns";
  if (std::max(desc.rows_a.longest, desc.rows_b.longest) > INT32_MAX / 64) return "rows are too long";
  return "";
}

inline std::unique_ptr<Kernel> make_hash(const Desc& desc, Queue& queue) {
  Found found = ordinal_size(desc.A.pair) == 8 ? find_wide(desc, queue) : find_narrow(desc, queue);
  const auto make = desc.scalar() == Scalar::f32 ? make_f32 : desc.scalar() == Scalar::f64 ? make_f64 : make_complex;
  return make(desc, queue, std::move(found));
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_hash() {
  return {{"gpu_hash"}, true, gpu_parts::hash_unsupported, gpu_parts::make_hash};
}

}  // namespace kkc::spgemm
