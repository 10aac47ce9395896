// deal() and deal_in_order(): every item once, whatever the threads; the urgent ones first.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <vector>

#include "device/host_shared_parts.hpp"
#include "parts/parts_queue.hpp"
#include "support/catch.hpp"

using namespace kkc;

TEST_CASE("deal: every item is handed out once") {
  for (const int32_t threads : {1, 2, 3, 70})
    for (const int64_t items : {0, 1, 5, 64, 65, 1000})
      for (const int64_t urgent : {int64_t{0}, std::min<int64_t>(items, 3), items}) {
        INFO(threads << " threads, " << items << " items, " << urgent << " urgent");
        testing::PartsQueue queue(threads);
        std::vector<std::atomic<int>> times(static_cast<size_t>(items)), in_order(static_cast<size_t>(items));
        std::atomic<bool> known{true};
        deal(queue, items, urgent, [&](int64_t worker, int64_t item) {
          if (worker < 0 || worker >= std::min<int64_t>(threads, items)) known = false;
          ++times[static_cast<size_t>(item)];
        });
        deal_in_order(queue, items, [&](int64_t, int64_t item) { ++in_order[static_cast<size_t>(item)]; });
        CHECK(known);
        CHECK(std::all_of(times.begin(), times.end(), [](const auto& n) { return n == 1; }));
        CHECK(std::all_of(in_order.begin(), in_order.end(), [](const auto& n) { return n == 1; }));
      }
}

TEST_CASE("deal: one worker takes urgent items before the others") {
  testing::PartsQueue one(1);
  std::vector<int64_t> items;
  deal(one, 6, 2, [&](int64_t, int64_t item) { items.push_back(item); });
  CHECK(items == std::vector<int64_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("deal: the first failure goes on after all have ended") {
  for (const int32_t threads : {1, 4}) {
    testing::PartsQueue queue(threads);
    CHECK_THROWS_AS(deal(queue, 100,
                         [](int64_t, int64_t item) {
                           if (item == 37) throw std::bad_alloc();
                         }),
                    std::bad_alloc);
  }
}
