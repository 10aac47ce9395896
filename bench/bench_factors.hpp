// Incomplete factorizations: ilu, ic and ilut.
#pragma once

#include <functional>

#include "bench_session.hpp"

namespace kkc::bench {

/// Every case of --matrix etc.; `loader` is a context of the host.
void each_factored(Session& session, const char* operation,
                   const std::function<void(const Case& c, kkc_context_t* loader)>& run);

/// ilu or ic for every case.
void factor_cases(Session& session, bool cholesky);

}  // namespace kkc::bench
