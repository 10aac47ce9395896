// Operations of two phases whose result is a matrix: what they and their peers take for each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench_matrix.hpp"

namespace kkc::bench {

/// A result in host memory, for fetch().
class HostCopy {
 public:
  /// Valid until the next call.
  HostResult of(const Bench& bench, const kkc_matrix_t* result);

 private:
  Context host_;
  Matrix copy_;
};

struct Contender {
  Measured measured;
  TwoPhases phases;
  std::vector<double> symbolic;  // seconds, a round each
};

/// Runs each once and leaves out peers whose result is wrong (a negative error), with a note; refuses such a kkc.
void drop_wrong(std::vector<Contender>& contenders, const std::string& matrix,
                const std::function<double(const HostResult&)>& error, Json& left_out);

/// Times the phases by themselves and reports both and their sum; `bytes` and `flops` are the numeric phase's.
void measure_phases(Session& session, Bench& bench, Json& entry, const std::string& operation, const Case& c,
                    const std::string& sizes, std::vector<Contender>& contenders, double bytes, double flops,
                    bool in_cache);

}  // namespace kkc::bench
