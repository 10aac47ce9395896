#include "device/host_shared_parts.hpp"

#include <atomic>
#include <vector>

#include "parts/parts_queue.hpp"
#include "support/catch.hpp"

namespace {

using kkc::Host;
using kkc::SharedParts;
using kkc::testing::PartsQueue;

TEST_CASE("SharedParts runs each part once, time after time, whatever parts cost", "[parts]") {
  for (const int32_t concurrency : {1, 2, 5, 16})
    for (const int64_t parts : {0, 1, 3, 16, 80, 1001}) {
      INFO(parts << " parts, concurrency " << concurrency);
      PartsQueue queue(concurrency);
      SharedParts shared(parts, concurrency);
      std::vector<std::atomic<int>> runs(static_cast<size_t>(parts));
      for (int repeat = 1; repeat <= 5; ++repeat) {
        shared.run<Host>(queue, [&](int64_t part) {
          // The first block is slow, so that others take over.
          for (volatile int64_t i = 0; i < (part < parts / concurrency ? 20000 : 10);) i = i + 1;
          ++runs[static_cast<size_t>(part)];
        });
        int64_t as_often = 0;
        for (const auto& count : runs) as_often += count == repeat;
        REQUIRE(as_often == parts);
      }
    }
}

TEST_CASE("SharedParts runs inside a caller's parallel region, and of a smaller team", "[parts]") {
  PartsQueue queue(4);
  SharedParts shared(37, 6);
  std::vector<int> runs(37);
  shared.run<Host>(queue, [&](int64_t part) { ++runs[static_cast<size_t>(part)]; });
#pragma omp parallel num_threads(2)
#pragma omp single
  shared.run<Host>(queue, [&](int64_t part) { ++runs[static_cast<size_t>(part)]; });
  shared.run<Host>(queue, [&](int64_t part) { ++runs[static_cast<size_t>(part)]; });
  CHECK(runs == std::vector<int>(37, 3));
}

}  // namespace
