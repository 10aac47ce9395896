// kkc_bench ic: A ~ L L^H; the plan (symbolic phase) and new values (numeric phase) apart.
#include "bench_factors.hpp"

namespace kkc::bench {

void ic(Session& session) { factor_cases(session, true); }

}  // namespace kkc::bench
