// Timing of operations that go through a matrix once: matrix_diagonal, matrix_scale, csr_to_coo, coo_to_csr.
#pragma once

#include "bench_matrix.hpp"

namespace kkc::bench {

/// A case made ready: the matrix in the device's memory and how to look at what came out.
struct PassInput {
  Session& session;
  Bench& bench;
  const Case& c;
  kkc_matrix_t* A;
  CsrArrays arrays;  // A's
  Json& left_out;

  /// An array of the device's memory as it is now.
  std::vector<unsigned char> fetch(const void* from, int64_t bytes) const;
  View wrap(void* data, int64_t count, kkc_scalar_t type) const;
  PassProblem problem() const;  // without what the operation takes besides
};

/// Who runs, and what a run must move.
struct PassContenders {
  std::vector<Measured> measured;
  std::vector<Candidate> candidates;
  double bytes = 0.0;
  std::vector<std::shared_ptr<void>> kept;  // what the runs need

  void add_kkc(const std::string& name, double setup_seconds, std::function<void()> run);
  /// Those peers' entrants that give the right result, at which `right` looks; `wipe` clears the one before.
  void add_peers(const PassInput& input, const std::function<std::vector<Entrant>(Peer&)>& entrants_of,
                 const std::function<void()>& wipe, const std::function<bool()>& right);
};

/// The product of the axes matrix, device, threads, scalar, index.
void run_pass(Session& session, const char* name, const std::function<PassContenders(const PassInput&)>& make);

inline double as_double(kkc_scalar_t scalar, const unsigned char* element) {
  if (scalar == KKC_TYPE_F32 || scalar == KKC_TYPE_C64) return *reinterpret_cast<const float*>(element);
  return *reinterpret_cast<const double*>(element);
}
inline int64_t as_integer(bool wide, const void* array, int64_t k) {
  return wide ? static_cast<const int64_t*>(array)[k] : static_cast<const int32_t*>(array)[k];
}

}  // namespace kkc::bench
