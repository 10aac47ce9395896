// How plans choose: a walk down the table of implementations, or a race between those that take the case.
#pragma once

#include <algorithm>
#include <chrono>

#include "log.hpp"
#include "plan.hpp"

namespace kkc {

template <class Implementation, class Desc>
std::vector<const Implementation*> eligible(const DeviceTable& table, const char* operation, const PlanOptions& options,
                                            const Desc& desc, PassedOver& passed_over) {
  const OperationTable* known = find_operation(table, operation);
  require(known != nullptr, KKC_STATUS_NOT_SUPPORTED, operation, " has no kernels on this device");
  std::vector<const Implementation*> takes;
  std::string names;
  bool named_exists = options.implementation.empty();
  // Questions may cost a look at the pattern: they end where the answer is known.
  const bool one_suffices = !options.measure && options.max_workspace < 0;
  for (int32_t i = 0; i < known->count; ++i) {
    const auto* candidate = static_cast<const Implementation*>(known->entries[i]);
    names += cat(names.empty() ? "" : ", ", candidate->name);
    std::string reason;
    if (!options.implementation.empty() && options.implementation != candidate->name)
      reason = "another was named";
    else if (options.deterministic && !candidate->deterministic)
      reason = "not deterministic";
    else if (one_suffices && !takes.empty())
      reason = "lower priority";
    else
      reason = candidate->unsupported(desc);
    if (options.implementation == candidate->name) {
      named_exists = true;
      require(reason.empty(), KKC_STATUS_NOT_SUPPORTED, "implementation \"", candidate->name,
              "\" does not take this case: ", reason);
    }
    if (reason.empty())
      takes.push_back(candidate);
    else
      passed_over.emplace_back(candidate->name, reason);
  }
  require(named_exists, KKC_STATUS_UNKNOWN_OPTION, "options: \"implementation\" is \"", options.implementation,
          "\", expected one of ", names);
  if (takes.empty()) {
    std::string reasons;
    for (const auto& [implementation, reason] : passed_over)
      reasons += cat(reasons.empty() ? "" : "; ", implementation, ": ", reason);
    fail(KKC_STATUS_NOT_SUPPORTED, "no implementation of ", operation, " takes this case (", reasons, ")");
  }
  return takes;
}

/// An implementation with the kernel that it made for a plan, and why it was taken.
template <class Implementation, class Kernel>
struct Made {
  const Implementation* implementation = nullptr;
  std::unique_ptr<Kernel> kernel;
  std::string why;
};

/// Makes kernels of `takes` (not empty) until one is chosen. Kernel: what Implementation::make(desc, queue) returns a
/// unique_ptr of; it has workspace_bytes().
template <class Implementation, class Kernel, class Desc>
class Choice {
 public:
  using Chosen = Made<Implementation, Kernel>;

  Choice(Context& context, const char* operation, const PlanOptions& options, const Desc& desc,
         const std::vector<const Implementation*>& takes, PassedOver& passed_over)
      : context_(context),
        operation_(operation),
        options_(options),
        desc_(desc),
        takes_(takes),
        passed_over_(passed_over) {}

  /// The first whose workspace keeps within max_workspace, which shows once its kernel is made.
  Chosen first() const {
    std::string reason;
    for (size_t i = 0; i < takes_.size(); ++i) {
      Chosen made = make(*takes_[i], options_.implementation.empty() ? "first in order of priority that takes the case"
                                                                     : "named by the caller");
      reason = over_bound(*made.kernel);
      if (reason.empty()) {
        for (size_t k = i + 1; k < takes_.size(); ++k) passed_over_.emplace_back(takes_[k]->name, "lower priority");
        return made;
      }
      passed_over_.emplace_back(takes_[i]->name, reason);
    }
    fail(KKC_STATUS_NOT_SUPPORTED, "implementation \"", takes_.back()->name, "\" does not take this case: ", reason);
  }

  /// The fastest by seconds(kernel), or the one that the context remembers for `key`.
  template <class Seconds>
  Chosen measured(const std::string& key, Seconds&& seconds) const {
    if (const auto known = context_.tuning.find(key); known != context_.tuning.end())
      for (const Implementation* candidate : takes_)
        if (candidate->name == known->second) return make(*candidate, "measured before");
    Chosen best;
    double best_seconds = 0;
    const auto lost = [&](const char* name, double time) {
      passed_over_.emplace_back(name, cat("measured ", time * 1e6, " us"));
    };
    for (const Implementation* candidate : takes_) {
      Chosen made = make(*candidate, "");
      if (std::string reason = over_bound(*made.kernel); !reason.empty()) {
        passed_over_.emplace_back(candidate->name, std::move(reason));
        continue;
      }
      const double time = seconds(*made.kernel);
      log(LogLevel::info, operation_, " tuning: ", candidate->name, " ", time * 1e6, " us");
      if (best.implementation == nullptr || time < best_seconds) {
        if (best.implementation != nullptr) lost(best.implementation->name, best_seconds);
        best = std::move(made);
        best_seconds = time;
      } else {
        lost(candidate->name, time);
      }
    }
    require(best.implementation != nullptr, KKC_STATUS_NOT_SUPPORTED, "no implementation of ", operation_,
            " keeps within max_workspace, ", options_.max_workspace);
    best.why = cat("fastest of ", takes_.size(), " measured: ", best_seconds * 1e6, " us");
    context_.tuning[key] = best.implementation->name;
    return best;
  }

 private:
  Chosen make(const Implementation& implementation, std::string why) const {
    Queue& queue = context_.queue();
    Chosen made{&implementation, nullptr, std::move(why)};
    queue.run([&] { made.kernel = implementation.make(desc_, queue); });
    return made;
  }

  std::string over_bound(const Kernel& kernel) const {
    const size_t bytes = kernel.workspace_bytes();
    if (options_.max_workspace < 0 || bytes <= static_cast<size_t>(options_.max_workspace)) return {};
    return cat("needs ", bytes, " bytes of workspace, more than max_workspace, ", options_.max_workspace);
  }

  Context& context_;
  const char* operation_;
  const PlanOptions& options_;
  const Desc& desc_;
  const std::vector<const Implementation*>& takes_;
  PassedOver& passed_over_;
};

/// Device memory with numbers in [-0.5, 0.5) for tuning = measure: they time like real ones (zeros do not).
Buffer random_numbers(const Context& context, Scalar scalar, int64_t count);

/// Seconds of the fastest of several f(), each with all that it enqueues; f runs inside queue.run().
template <class F>
double fastest_seconds(Queue& queue, F&& f) {
  using Clock = std::chrono::steady_clock;
  double best = 1e300;
  for (int repeat = 0; repeat < 7; ++repeat) {
    queue.synchronize();
    const auto start = Clock::now();
    f();
    queue.synchronize();
    if (repeat >= 2) best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

}  // namespace kkc
