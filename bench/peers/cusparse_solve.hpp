// cuSPARSE's triangular solves. Their analysis copies the values.
#pragma once

#include <vector>

#include "peer.hpp"

namespace kkc::bench::cusparse_solve {

std::vector<Entrant> sptrsv(const SptrsvProblem& p);

}  // namespace kkc::bench::cusparse_solve
