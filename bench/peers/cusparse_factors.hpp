// cuSPARSE's ILU(0) and IC(0), csrilu02 and csric02, with its two policies.
#pragma once

#include <vector>

#include "peer.hpp"

namespace kkc::bench::cusparse_factors {

std::vector<TwoPhases> factors(const FactorProblem& p);

}  // namespace kkc::bench::cusparse_factors
