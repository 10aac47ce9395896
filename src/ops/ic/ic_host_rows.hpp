// ic, host_rows: ilu's, with another form of factors.
#pragma once

#include "ops/ic/ic.hpp"
#include "ops/ilu/ilu_host_factors.hpp"

namespace kkc::ic {

template <class Dev>
constexpr Implementation host_rows() {
  return {{"host_rows"}, true, ilu::host::unsupported, ilu::host::make<ilu::Form::cholesky>};
}

}  // namespace kkc::ic
