// What one operation learned from the patterns, and how it chooses its implementation.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "context.hpp"

namespace kkc {

struct OutputPattern;

/// The operation's own part of a plan.
class PlanState {
 public:
  virtual ~PlanState() = default;
  virtual const char* operation() const = 0;
  virtual void describe(Info& info) const = 0;
  virtual size_t workspace_bytes() const { return 0; }
  /// Operations whose output is a matrix: its pattern.
  virtual const OutputPattern* output() const { return nullptr; }
  /// Numeric status of the executes since the last check: success, or one of 1xx with the first place and how often.
  virtual kkc_status_t check(Queue&, int64_t&, int64_t&) { return KKC_STATUS_SUCCESS; }
};

/// Implementation -> why it was not taken, in order of priority.
using PassedOver = std::vector<std::pair<std::string, std::string>>;

class Plan final : public Object {
 public:
  static constexpr Kind kind_tag = Kind::plan;
  Plan(std::shared_ptr<Context> context, std::unique_ptr<PlanState> state, PassedOver passed_over, double seconds);

  Context& context() const { return *context_; }
  std::string describe() const;  // JSON
  size_t workspace_bytes() const { return state_->workspace_bytes(); }
  const char* operation() const { return state_->operation(); }
  const OutputPattern* output() const { return state_->output(); }
  const PlanState& state() const { return *state_; }
  void* workspace() const { return given_ != nullptr ? given_ : workspace_.data(); }
  void set_workspace(void* given, size_t bytes);
  /// Blocks, returns and clears the numeric status, with the first place and how often; leaves both as they are
  /// on success.
  kkc_status_t check(int64_t& where, int64_t& count);

  /// The state, refused unless the plan is one of `State`'s operation.
  template <class State>
  State& as() const {
    require(std::string_view(state_->operation()) == State::name, KKC_STATUS_INVALID_HANDLE, "plan is a plan of ",
            state_->operation(), ", expected one of ", State::name);
    return static_cast<State&>(*state_);
  }

  std::string info_text;

 private:
  std::shared_ptr<Context> context_;
  std::unique_ptr<PlanState> state_;
  PassedOver passed_over_;
  double seconds_;
  Buffer workspace_;
  void* given_ = nullptr;
};

/// Options every plan takes, parsed.
struct PlanOptions {
  std::string implementation;  // "" when the plan chooses
  bool measure;
  bool deterministic;
  bool values_kept;
  bool device_scalars;
  bool checked;
  int64_t max_workspace;  // -1: no bound

  /// `own`: the operation's further keys. keeps_values: whether values = kept has a meaning; it is refused otherwise.
  PlanOptions(const Options& options, const char* function, std::vector<std::string> own, bool keeps_values = false);
};

/// The implementations that take a case in order of priority, and why the others do not. Refuses when none does, or
/// when the named one does not.
template <class Implementation, class Desc>
std::vector<const Implementation*> eligible(const DeviceTable& table, const char* operation, const PlanOptions& options,
                                            const Desc& desc, PassedOver& passed_over);

}  // namespace kkc

#include "plan_choice.hpp"
