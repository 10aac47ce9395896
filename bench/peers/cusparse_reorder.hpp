// cuSPARSE's conversions to compressed columns, from and to coordinates, and its sort of rows. All find the pattern
// anew in every call.
#pragma once

#include <vector>

#include "peer.hpp"

namespace kkc::bench::cusparse_reorder {

std::vector<Entrant> transpose(const ReorderProblem& p);
std::vector<Entrant> sort_rows(const ReorderProblem& p);
std::vector<Entrant> coo_to_csr(const ReorderProblem& p);
std::vector<Entrant> csr_to_coo(const PassProblem& p);

}  // namespace kkc::bench::cusparse_reorder
