// Timing side by side: every candidate in turn, round after round, so that a disturbance meets all of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace kkc::bench {

/// Seconds that enqueued or executed work takes on a device.
class Timer {
 public:
  virtual ~Timer() = default;
  virtual double seconds(const std::function<void()>& work) = 0;
  virtual void synchronize() = 0;
};

class HostTimer final : public Timer {
 public:
  double seconds(const std::function<void()>& work) override;
  void synchronize() override {}
};

/// Wall-clock seconds of host work.
double wall_seconds(const std::function<void()>& work);

struct Candidate {
  std::string name;
  std::vector<std::function<void()>> runs;  // one per copy of the data; calls go round them
};

struct Quartiles {
  double median = 0.0, lower = 0.0, upper = 0.0, best = 0.0;
};

Quartiles quartiles(std::vector<double> samples);

/// Rounds of seconds per call: [candidate][round].
using Rounds = std::vector<std::vector<double>>;

/// Runs A B C A B C ... `rounds` times; a turn is as many calls as fill batch_seconds. Warms up first.
Rounds interleave(Timer& timer, std::vector<Candidate>& candidates, int rounds, double batch_seconds);

/// Of numerator[r] / denominator[r], round by round.
Quartiles ratio(const std::vector<double>& numerator, const std::vector<double>& denominator);

}  // namespace kkc::bench
