// Contenders of benchmarks over lines of a view: kkc beside the peers that take the case.
#pragma once

#include <cstring>
#include <memory>

#include "bench_dense.hpp"

namespace kkc::bench {

/// Lines run along the last dimension of a row-major view, or along the only one.
inline LinesProblem lines_of(const Bench& bench, const DenseCase& c, const DenseArray& x, const DenseArray& y,
                             int32_t* places) {
  const int64_t n = c.extents.back();
  return {c.device, bench.stream,    c.threads,       c.scalar, n == 0 ? 0 : c.count() / n,
          n,        x.memory.data(), y.memory.data(), places};
}

/// What each entrant of the peers leaves in y must be `expected`, for the first copy of the data.
inline void add_peers(Session& session, Bench& bench, const DenseCase& c, DenseContenders& made,
                      const std::vector<LinesProblem>& problems,
                      std::vector<Entrant> (Peer::*operation)(const LinesProblem&),
                      const std::function<void(const char*)>& check_result) {
  for (Peer* peer : session.peers(c.device)) {
    try {
      std::vector<Candidate> candidates;
      for (const LinesProblem& problem : problems) {
        const auto entrants = (peer->*operation)(problem);
        for (size_t e = 0; e < entrants.size(); ++e) {
          if (candidates.size() <= e) candidates.push_back({entrants[e].name, {}});
          candidates[e].runs.push_back(entrants[e].run);
        }
      }
      for (Candidate& candidate : candidates) {
        candidate.runs[0]();
        bench.timer->synchronize();
        check_result(candidate.name.c_str());
        made.candidates.push_back(std::move(candidate));
        made.is_kkc.push_back(false);
      }
    } catch (const NotTaken& reason) {
      session.print(peer->name() + " is left out: " + reason.what());
    }
  }
}

template <class F>
void with_real(kkc_scalar_t scalar, F&& f) {
  if (scalar == KKC_TYPE_F32) return f(float{});
  if (scalar == KKC_TYPE_F64) return f(double{});
  throw std::runtime_error("is measured for f32 and f64");
}

}  // namespace kkc::bench
