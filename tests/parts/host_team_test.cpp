#include "device/host_team.hpp"

#include <atomic>
#include <vector>

#include "parts/parts_queue.hpp"
#include "support/catch.hpp"

namespace {

using kkc::Host;
using kkc::testing::PartsQueue;

TEST_CASE("host_team runs as many threads as asked for at the same time, or none", "[parts]") {
  PartsQueue queue(4);
  for (const int threads : {1, 2, 3, 4}) {
    std::vector<int> runs(4);
    std::atomic<int> begun{0};
    REQUIRE(kkc::host_team<Host>(queue, threads, [&](int thread) {
      ++runs[static_cast<size_t>(thread)];
      ++begun;
      kkc::wait_until([&] { return begun.load() == threads; });
    }));
    for (int thread = 0; thread < 4; ++thread) CHECK(runs[static_cast<size_t>(thread)] == (thread < threads ? 1 : 0));
  }
  const auto never = [](int) { FAIL("called"); };
  CHECK_FALSE(kkc::host_team<Host>(queue, 5, never));
#pragma omp parallel num_threads(2)
#pragma omp single
  CHECK_FALSE(kkc::host_team<Host>(queue, 2, never));
}

TEST_CASE("a team of few threads ends none of the others", "[parts]") {
  constexpr int concurrency = 4;
  PartsQueue queue(concurrency);
  // Of each thread of the team; a new thread begins at 1, whatever its name.
  const auto regions = [&] {
    std::vector<int> counts(concurrency);
    kkc::host_parts<Host>(queue, concurrency, [&](int64_t part) {
      thread_local int count = 0;
      counts[static_cast<size_t>(part)] = ++count;
    });
    return counts;
  };
  const std::vector<int> before = regions();
  int times = 0;
  for (const int few : {1, 2, 3}) {
    REQUIRE(kkc::host_team<Host>(queue, few, [](int) {}));
    kkc::host_two_phases<Host>(
        queue, few, [](int64_t) {}, [](int64_t) {});
    std::vector<int> expected = before;
    ++times;
    for (int& count : expected) count += times;
    CHECK(regions() == expected);
  }
}

}  // namespace
