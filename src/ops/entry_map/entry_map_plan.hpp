// What plans of operations with an EntryMap share: their state and the numeric phase.
#pragma once

#include <chrono>
#include <string>

#include "core/output_pattern.hpp"
#include "core/plan.hpp"
#include "core/view.hpp"
#include "ops/entry_map/entry_map.hpp"

namespace kkc::entry_map {

class MapState : public PlanState {
 public:
  void describe(Info& info) const override;
  const OutputPattern* output() const override { return &pattern_; }

  /// Remembers what was chosen; its EntryMap goes to adopt().
  template <class Implementation>
  void chosen(const Made<Implementation, EntryMap>& made) {
    implementation_ = made.implementation->name;
    why_ = made.why;
    deterministic_ = made.implementation->deterministic;
  }
  void log_choice() const;
  /// Takes over what an implementation made: the pattern with the index types of `pair`, base `base` for matrices that
  /// the library makes. Loads the kernels of gather().
  void adopt(const Context& context, EntryMap&& map, Scalar scalar, IndexPair pair, int32_t base);
  /// C's values from `values`, the input's; C is checked against the plan, `argument` names the input.
  void gather(const Context& context, const void* values, const Matrix& C, const char* argument) const;

  bool conjugate = false;
  bool checked = false;  // executes compare C's pattern
  bool adds = false;     // entries of one place become one

 private:
  friend void write_permutation(const Plan& plan, View& permutation);
  std::string implementation_, why_;
  bool deterministic_ = true;
  OutputPattern pattern_;
  IndexPair positions_pair_ = IndexPair::i32_32;
  int64_t sources_ = 0;
  std::shared_ptr<const Buffer> positions_, starts_;
};

/// permutation[k] = place of the input's entry that becomes entry k of the output; refused for plans that add entries,
/// whether or not these have any to add. Blocks on hosts, enqueues on GPUs.
void write_permutation(const Plan& plan, View& permutation);

/// Begins with a plan's call and makes the plan at its end.
class PlanTimer {
 public:
  std::shared_ptr<Plan> finish(std::shared_ptr<Context> context, std::unique_ptr<MapState> state,
                               PassedOver passed_over) const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace kkc::entry_map
