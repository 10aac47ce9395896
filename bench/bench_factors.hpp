// Incomplete factorizations: ilu and ic.
#pragma once

#include "bench_session.hpp"

namespace kkc::bench {

/// Every case of --matrix etc.; NAME:laplacian is the graph Laplacian of NAME's pattern plus the identity.
void factor_cases(Session& session, bool cholesky);

}  // namespace kkc::bench
