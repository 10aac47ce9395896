#include "device/host_scan.hpp"

#include <numeric>
#include <random>
#include <vector>

#include "parts/parts_queue.hpp"
#include "support/catch.hpp"
#include "support/devices.hpp"

namespace {

using kkc::Host;
using kkc::host_exclusive_scan;
using kkc::testing::PartsQueue;

template <class In, class Out>
void check_scan(int32_t concurrency) {
  std::mt19937_64 random(kkc_test::seed());
  PartsQueue queue(concurrency);
  for (const int64_t n : {int64_t{0}, int64_t{1}, int64_t{2}, kkc::host_scan_grain - 1, 2 * kkc::host_scan_grain,
                          7 * kkc::host_scan_grain + 13}) {
    INFO(n << " elements, concurrency " << concurrency);
    std::vector<In> counts(static_cast<size_t>(n));
    for (In& c : counts) c = static_cast<In>(random() % 5);
    std::vector<Out> expected(counts.size() + 1, 1);
    for (size_t i = 0; i < counts.size(); ++i) expected[i + 1] = static_cast<Out>(expected[i] + counts[i]);
    std::vector<Out> offsets(counts.size() + 1, -1);
    const int64_t total = host_exclusive_scan<Host>(queue, counts.data(), offsets.data(), n, Out{1});
    CHECK(total == std::accumulate(counts.begin(), counts.end(), int64_t{0}));
    CHECK(offsets == expected);
    if constexpr (std::is_same_v<In, Out>) {
      std::vector<Out> in_place(counts.begin(), counts.end());
      in_place.push_back(77);
      host_exclusive_scan<Host>(queue, in_place.data(), in_place.data(), n, Out{1});
      CHECK(in_place == expected);
    }
  }
}

TEST_CASE("host_exclusive_scan makes offsets of counts", "[parts]") {
  for (const int32_t concurrency : {1, 2, 5, 300}) {
    check_scan<int32_t, int32_t>(concurrency);
    check_scan<int32_t, int64_t>(concurrency);
    check_scan<int64_t, int64_t>(concurrency);
    check_scan<int64_t, int32_t>(concurrency);
  }
}

TEST_CASE("host_exclusive_scan returns the total in 64 bits whatever the offsets hold", "[parts]") {
  PartsQueue queue(2);
  const std::vector<int32_t> counts(5, 2000000000);
  std::vector<int32_t> offsets(6);
  CHECK(host_exclusive_scan<Host>(queue, counts.data(), offsets.data(), 5) == 10000000000);
}

}  // namespace
