// What plans of operations with an EntryMap share: their state and the numeric phase.
#pragma once

#include <string>

#include "core/output_pattern.hpp"
#include "core/plan.hpp"
#include "ops/entry_map/entry_map.hpp"

namespace kkc::entry_map {

class MapState : public PlanState {
 public:
  void describe(Info& info) const override;
  const OutputPattern* output() const override { return &pattern_; }

  /// Takes over what an implementation made: the pattern with the index types of `pair`, base `base` for matrices that
  /// the library makes. Loads the kernels of gather().
  void adopt(const Context& context, EntryMap&& map, Scalar scalar, IndexPair pair, int32_t base);
  /// C's values from `values`, the input's; C is checked against the plan, `argument` names the input.
  void gather(const Context& context, const void* values, const Matrix& C, const char* argument) const;

  std::string implementation, why;
  bool deterministic = true;
  bool conjugate = false;

 private:
  OutputPattern pattern_;
  IndexPair positions_pair_ = IndexPair::i32_32;
  int64_t sources_ = 0;
  std::shared_ptr<const Buffer> positions_, starts_;
};

}  // namespace kkc::entry_map
