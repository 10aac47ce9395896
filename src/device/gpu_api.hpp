// The GPU runtime of this translation unit's vendor, and its errors as Error.
#pragma once

#if defined(__HIP__) || defined(__HIP_PLATFORM_AMD__)
#include "hip_api.hpp"
#else
#include "cuda_api.hpp"
#endif

#include "core/error.hpp"

namespace kkc::gpu {

/// Throws what the runtime says about `call`, which names the function that gave `status`.
inline void check(status_t status, const char* call) {
  if (status == success) [[likely]]
    return;
  static_cast<void>(last_error());
  fail(status == out_of_memory ? KKC_STATUS_OUT_OF_MEMORY : KKC_STATUS_DEVICE, call, ": ", error_name(status), " (",
       error_text(status), ")");
}

}  // namespace kkc::gpu
