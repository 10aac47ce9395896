// The factors' pattern on GPUs, and its levels, which what looks at implementations finds once for all of them.
#pragma once

#include "core/dispatch.hpp"
#include "device/gpu_scalar.hpp"
#include "ops/ilu/ilu.hpp"
#include "ops/levels/levels.hpp"

namespace kkc::ilu::gpu_parts {

/// The pattern of the factors.
inline CsrRef pattern_of_factors(const Desc& desc) {
  return {desc.A.pair,
          desc.A.scalar,
          0,
          desc.A.rows,
          desc.A.rows,
          desc.factors.nnz,
          desc.factors.offsets->data(),
          desc.factors.indices->data(),
          nullptr};
}

/// Levels of the factors' rows.
inline const std::shared_ptr<const Levels>& levels_of(const Desc& desc, Queue& queue) {
  if (!desc.levels) desc.levels = levels::find(queue, {pattern_of_factors(desc), Uplo::lower, false, desc.memory});
  return desc.levels;
}

/// Why patterns of narrower levels than `least` rows in the mean are not taken, or nothing. Finds levels.
inline std::string narrow_levels(const Desc& desc, Queue& queue, int64_t least) {
  const int64_t levels = levels_of(desc, queue)->count;
  if (desc.A.rows >= least * levels) return {};
  return cat("takes levels of ", least, " rows or more in the mean, ", desc.A.rows, " rows have ", levels);
}

/// What `reason`, a function of the device's queue, says against a pattern, or nothing.
template <class F>
std::string reason_of(const Desc& desc, const F& reason) {
  Queue& queue = desc.memory->queue();
  std::string given;
  try {
    queue.run([&] { given = reason(queue); });
  } catch (const Error& error) {
    given = cat("looking at its rows failed: ", error.what());
  }
  return given;
}

/// Made<E, form, I, O>(desc, queue, more...) for the types of the case.
template <template <class, Form, class, class> class Made, Form form, class... More>
std::unique_ptr<Kernel> make_kernel(const Desc& desc, Queue& queue, const More&... more) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.A.scalar, desc.A.pair, [&](auto scalar, auto pair) {
    using E = gpu::Element<typename decltype(scalar)::type>;
    using P = decltype(pair);
    kernel = std::make_unique<Made<E, form, typename P::ordinal, typename P::offset>>(desc, queue, more...);
  });
  return kernel;
}

}  // namespace kkc::ilu::gpu_parts
