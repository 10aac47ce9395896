// oneMKL's ILU(0).
#pragma once

#include "peer.hpp"

namespace kkc::bench::mkl_ilu {

std::vector<TwoPhases> factors(const FactorProblem& p);

}  // namespace kkc::bench::mkl_ilu
