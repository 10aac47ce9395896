// ic, reference: one row after another, on every device by one thread (up-looking; Davis, "Direct Methods for Sparse
// Linear Systems", 2006, section 4.7, on a fixed pattern).
#pragma once

#include "ops/ic/ic.hpp"
#include "ops/ilu/ilu_sequential.hpp"

namespace kkc::ic {

template <class Dev>
constexpr Implementation reference() {
  return {{"reference"}, true, ilu::sequential::unsupported, ilu::sequential::make<Dev, ilu::Form::cholesky>};
}

}  // namespace kkc::ic
