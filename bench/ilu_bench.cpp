// kkc_bench ilu: A ~ L U; the plan (symbolic phase) and new values (numeric phase) apart. --option gives levels of
// fill.
#include "bench_factors.hpp"

namespace kkc::bench {

void ilu(Session& session) { factor_cases(session, false); }

}  // namespace kkc::bench
