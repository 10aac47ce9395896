// ic: incomplete Cholesky factors, A ~ L L^H. The contract is ilu's, with Form::cholesky.
#pragma once

#include "ops/ilu/ilu.hpp"

namespace kkc::ic {

using ilu::Args;
using ilu::Desc;
using ilu::Implementation;
using ilu::Kernel;

}  // namespace kkc::ic
