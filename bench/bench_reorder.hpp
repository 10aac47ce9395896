// Timing of operations that put a matrix's entries into another order: transpose, sort_rows.
#pragma once

#include "bench_matrix.hpp"

namespace kkc::bench {

/// What such an operation is, for kkc and its peers.
struct Reorder {
  const char* name;
  bool transposed;  // C has A's columns as rows
  bool shuffled;    // rows of the loaded matrix are put into no order first
  std::function<Plan(kkc_context_t*, kkc_matrix_t*, const kkc_options_t*)> plan;
  kkc_status_t (*execute)(kkc_plan_t*, const kkc_matrix_t*, kkc_matrix_t*);
  std::vector<Entrant> (Peer::*peer)(const ReorderProblem&);
};

/// The product of the axes matrix, device, threads, scalar, index.
void run_reorder(Session& session, const Reorder& reorder);

}  // namespace kkc::bench
