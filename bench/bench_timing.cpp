#include "bench_timing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace kkc::bench {

double wall_seconds(const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double HostTimer::seconds(const std::function<void()>& work) { return wall_seconds(work); }

Quartiles quartiles(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const auto at = [&](double q) {
    const double place = q * static_cast<double>(samples.size() - 1);
    const auto below = static_cast<size_t>(place);
    const auto above = std::min(below + 1, samples.size() - 1);
    return samples[below] + (place - static_cast<double>(below)) * (samples[above] - samples[below]);
  };
  return {at(0.5), at(0.25), at(0.75), samples.front()};
}

Rounds interleave(Timer& timer, std::vector<Candidate>& candidates, int rounds, double batch_seconds) {
  std::vector<size_t> next(candidates.size(), 0);
  const auto turn = [&](size_t k, int calls) {
    auto& candidate = candidates[k];
    return timer.seconds([&] {
      for (int i = 0; i < calls; ++i) candidate.runs[next[k]++ % candidate.runs.size()]();
    });
  };
  std::vector<int> calls(candidates.size(), 1);
  for (size_t k = 0; k < candidates.size(); ++k) {
    turn(k, static_cast<int>(candidates[k].runs.size()));  // every copy once, unmeasured
    int probe = 1;
    double taken = turn(k, probe);
    while (taken < 0.25 * batch_seconds && probe < 100000) taken = turn(k, probe *= 2);
    calls[k] = std::max(1, static_cast<int>(std::lround(batch_seconds * probe / std::max(taken, 1e-9))));
  }
  Rounds result(candidates.size(), std::vector<double>(static_cast<size_t>(rounds)));
  for (int r = 0; r < rounds; ++r)
    for (size_t k = 0; k < candidates.size(); ++k) result[k][static_cast<size_t>(r)] = turn(k, calls[k]) / calls[k];
  return result;
}

Quartiles ratio(const std::vector<double>& numerator, const std::vector<double>& denominator) {
  std::vector<double> ratios(numerator.size());
  for (size_t r = 0; r < ratios.size(); ++r) ratios[r] = numerator[r] / denominator[r];
  auto result = quartiles(ratios);
  return result;
}

}  // namespace kkc::bench
