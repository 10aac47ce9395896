// cuSPARSE's conversion to compressed columns and its sort of rows. Both find the pattern anew in every call.
#pragma once

#include <vector>

#include "peer.hpp"

namespace kkc::bench::cusparse_reorder {

std::vector<Entrant> transpose(const ReorderProblem& p);
std::vector<Entrant> sort_rows(const ReorderProblem& p);

}  // namespace kkc::bench::cusparse_reorder
