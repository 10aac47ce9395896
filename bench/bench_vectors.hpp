// Operations of a plan on a sparse matrix and vectors, on several copies of their data in turn: spmv, sptrsv.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench_session.hpp"

namespace kkc::bench {

/// One way to do the job, on every copy.
struct VectorContender {
  Measured measured;
  Candidate candidate;
  std::function<void()> fetch;
};

/// What kkc does with copy k of the data.
struct PlannedVectors {
  std::function<Plan(size_t k, kkc_options_t* options)> plan;
  std::function<void(kkc_plan_t*plan, size_t k)> set_values, execute;
};

/// kkc under the options `text`; plans as often as tells a warm plan's time from the first's.
VectorContender vector_contender(Bench& bench, size_t copies, const std::string& name, const std::string& text,
                                 const PlannedVectors& calls);

/// A peer; `entrants` are its ways for each copy.
std::vector<VectorContender> vector_contenders(Peer& peer, std::vector<std::vector<Entrant>> entrants);

/// Leaves out peers whose result is wrong (a negative error), with a note; refuses such a kkc.
void drop_wrong(std::vector<VectorContender>& contenders, const std::string& matrix,
                const std::function<double(const VectorContender&)>& error, Json& left_out);

/// Times the contenders in turn and reports them; `copies` is what Session::copies() asked for.
void measure_vectors(Session& session, Bench& bench, Json& entry, const std::string& operation, const Case& c,
                     int64_t rows, int64_t nnz, int copies, std::vector<VectorContender>& contenders, double bytes,
                     double flops);

}  // namespace kkc::bench
