#include "device/host_pages.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "parts/parts_queue.hpp"
#include "support/catch.hpp"

namespace {

using kkc::touch_pages;
using kkc::testing::PartsQueue;

constexpr int64_t page = 4096, before = 100, behind = 5000;
constexpr char untouched = 7;

/// An array of so many bytes among others, touched.
std::vector<char> touched(int32_t concurrency, int64_t bytes) {
  std::vector<char> all(static_cast<size_t>(before + bytes + behind), untouched);
  PartsQueue queue(concurrency);
  touch_pages(queue, all.data() + before, static_cast<size_t>(bytes));
  return all;
}
bool is_untouched(const std::vector<char>& all, int64_t begin, int64_t end) {
  return std::all_of(all.begin() + begin, all.begin() + end, [](char byte) { return byte == untouched; });
}

TEST_CASE("touch_pages writes to each page of a large array, and to nothing else", "[parts]") {
  for (const int32_t concurrency : {4, 5, 16})
    for (const int64_t bytes : {int64_t{32} << 20, (int64_t{34} << 20) + 1, (int64_t{40} << 20) - 1}) {
      INFO(bytes << " bytes, concurrency " << concurrency);
      const auto all = touched(concurrency, bytes);
      CHECK(is_untouched(all, 0, before));
      CHECK(is_untouched(all, before + bytes, before + bytes + behind));
      int64_t missed = 0;
      for (int64_t at = 0; at < bytes; at += page)
        missed += is_untouched(all, before + at, before + std::min(bytes, at + page));
      CHECK(missed == 0);
    }
}

TEST_CASE("touch_pages leaves smaller arrays and few threads alone", "[parts]") {
  for (const auto& [concurrency, bytes] : {std::pair<int32_t, int64_t>{16, 0}, {16, 1 << 20}, {3, int64_t{40} << 20}}) {
    INFO(bytes << " bytes, concurrency " << concurrency);
    const auto all = touched(concurrency, bytes);
    CHECK(is_untouched(all, 0, before + bytes + behind));
  }
}

}  // namespace
