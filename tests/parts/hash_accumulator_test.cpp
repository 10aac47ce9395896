#include "device/hash_accumulator.hpp"

#include <complex>
#include <map>
#include <random>
#include <vector>

#include "support/catch.hpp"
#include "support/devices.hpp"

namespace {

using kkc::HashAccumulator;

template <class Key, class Value>
void check_rows(Key range, Key step, int adds) {
  std::mt19937_64 random(kkc_test::seed());
  HashAccumulator<Key, Value> row(adds);
  REQUIRE(row.capacity() >= adds);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::map<Key, Value> expected;
    std::vector<Key> order;
    for (int i = 0; i < adds; ++i) {
      const Key key = static_cast<Key>(random() % static_cast<uint64_t>(range)) * step;
      const Value value = static_cast<Value>(static_cast<double>(random() % 1000));
      if (expected.count(key) == 0) order.push_back(key);
      expected[key] += value;
      row.add(key, value);
    }
    REQUIRE(row.size() == static_cast<int64_t>(expected.size()));
    size_t at = 0;
    row.for_each([&](Key key, const Value& value) {
      CHECK(key == order[at++]);
      CHECK(value == expected[key]);
    });
    std::vector<Key> keys(order.size());
    row.keys(keys.data());
    CHECK(keys == order);
    for (const auto& [key, value] : expected) REQUIRE((row.find(key) != nullptr && *row.find(key) == value));
    CHECK(row.find(range * step) == nullptr);
    row.clear();
    CHECK(row.size() == 0);
    CHECK(row.find(order.front()) == nullptr);
  }
}

TEST_CASE("HashAccumulator sums by key, in order of first insertion", "[parts]") {
  check_rows<int32_t, double>(1, 1, 1);
  check_rows<int32_t, double>(50, 1, 200);
  check_rows<int32_t, float>(1000000, 1, 300);
  check_rows<int32_t, double>(300, 4096, 300);  // keys of equal low bits
  check_rows<int64_t, std::complex<double>>(1000, int64_t{1} << 40, 500);
}

TEST_CASE("HashAccumulator takes negative keys and keys alone", "[parts]") {
  HashAccumulator<int32_t, double> row(4);
  CHECK(row.insert(-1));
  CHECK(row.insert(2147483647));
  CHECK_FALSE(row.insert(-1));
  CHECK(row.size() == 2);
}

TEST_CASE("HashAccumulator stays correct when it holds as many keys as it can", "[parts]") {
  HashAccumulator<int64_t, int64_t> row(100);
  for (int64_t key = 0; key < row.capacity(); ++key) row.add(7 * key, key);
  for (int64_t key = 0; key < row.capacity(); ++key) row.add(7 * key, 1);
  CHECK(row.size() == row.capacity());
  for (int64_t key = 0; key < row.capacity(); ++key) CHECK(*row.find(7 * key) == key + 1);
}

}  // namespace
