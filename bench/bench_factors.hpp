// Incomplete factorizations: ilu, ic and ilut.
#pragma once

#include <functional>

#include "bench_session.hpp"

namespace kkc::bench {

/// The case's matrix; NAME:laplacian is the graph Laplacian of NAME's pattern plus the identity.
Matrix load_factored(const Session& session, kkc_context_t* ctx, const Case& c);

/// Every case of --matrix etc.; `loader` is a context of the host.
void each_factored(Session& session, const char* operation,
                   const std::function<void(const Case& c, kkc_context_t* loader)>& run);

/// ilu or ic for every case.
void factor_cases(Session& session, bool cholesky);

}  // namespace kkc::bench
