// host_bucket and host_bucket_scattered: the stable counting sort of a plain loop, for any number of parts.
#include <random>

#include "device/host_bucket.hpp"
#include "device/host_bucket_scattered.hpp"
#include "parts/parts_queue.hpp"
#include "support/catch.hpp"

using namespace kkc;

namespace {

template <class O>
struct Dealt {
  std::vector<O> offsets, positions;
  std::vector<int32_t> companions;
  friend bool operator==(const Dealt&, const Dealt&) = default;
};

int32_t companion_of(int64_t entry) { return static_cast<int32_t>(7 * entry + 3); }

template <class O>
Dealt<O> plain(const std::vector<int32_t>& keys, int64_t base, int64_t buckets) {
  std::vector<std::vector<O>> of(static_cast<size_t>(buckets));
  for (size_t k = 0; k < keys.size(); ++k) of[static_cast<size_t>(keys[k] - base)].push_back(static_cast<O>(k));
  Dealt<O> d;
  d.offsets.push_back(0);
  for (const auto& entries : of) {
    for (const O entry : entries) {
      d.positions.push_back(entry);
      d.companions.push_back(companion_of(entry));
    }
    d.offsets.push_back(static_cast<O>(d.positions.size()));
  }
  return d;
}

template <class O>
void check(const std::vector<int32_t>& keys, int32_t base, int64_t buckets) {
  const auto n = static_cast<int64_t>(keys.size());
  const Dealt<O> expected = plain<O>(keys, base, buckets);
  for (const int64_t parts : {1, 2, 3, 7}) {
    testing::PartsQueue queue(static_cast<int32_t>(parts));
    const auto first = [&](int64_t part) { return part_begin(n, parts, part); };
    const auto empty = [&] {
      return Dealt<O>{std::vector<O>(static_cast<size_t>(buckets) + 1, O{-1}), std::vector<O>(keys.size(), O{-1}),
                      std::vector<int32_t>(keys.size())};
    };
    Dealt<O> direct = empty(), scattered = empty();
    host_bucket<Host>(queue, keys.data(), base, buckets, parts, direct.offsets.data(), first,
                      [&](int64_t part, auto&& next) {
                        for (int64_t k = first(part); k < first(part + 1); ++k) {
                          const auto to = static_cast<size_t>(next(k));
                          direct.positions[to] = static_cast<O>(k);
                          direct.companions[to] = companion_of(k);
                        }
                      });
    CHECK((direct == expected));
    if (buckets == 0) continue;
    std::vector<ScatteredItem<int32_t, O>> room(keys.size());
    host_bucket_scattered<Host>(queue, room.data(), keys.data(), int64_t{base}, buckets, n, parts,
                                scattered.offsets.data(), scattered.positions.data(), scattered.companions.data(),
                                [&](int64_t part, auto&& each) {
                                  for (int64_t k = first(part); k < first(part + 1); ++k) each(k, companion_of(k));
                                });
    CHECK((scattered == expected));
  }
}

}  // namespace

TEST_CASE("host_bucket: both ways are the stable counting sort", "[host_bucket]") {
  std::mt19937 random(17);
  for (const int64_t buckets : {1, 2, 31, 1000, 65536, 100000})
    for (const int64_t n : {0, 1, 100, 70000}) {
      INFO(buckets << " buckets, " << n << " entries");
      const int32_t base = static_cast<int32_t>(random() % 2);
      std::vector<int32_t> keys(static_cast<size_t>(n));
      for (int32_t& key : keys) key = base + static_cast<int32_t>(random() % static_cast<uint64_t>(buckets));
      check<int32_t>(keys, base, buckets);
      std::sort(keys.begin(), keys.end());
      check<int64_t>(keys, base, buckets);
    }
  check<int32_t>({}, 0, 0);
}

TEST_CASE("host_bucket: keys in no order are told from those in streams", "[host_bucket]") {
  constexpr int64_t n = 200000, buckets = 150000;
  std::mt19937 random(17);
  std::vector<int32_t> any(n), streams(n);
  for (int64_t k = 0; k < n; ++k) {
    any[static_cast<size_t>(k)] = static_cast<int32_t>(random() % buckets);
    streams[static_cast<size_t>(k)] = static_cast<int32_t>((k / 5 + k % 5 * 20000) % buckets);
  }
  for (const int32_t threads : {1, 3}) {
    testing::PartsQueue queue(threads);
    CHECK(keys_scatter<int32_t>(queue, any.data(), n, buckets));
    CHECK_FALSE(keys_scatter<int32_t>(queue, streams.data(), n, buckets));
    CHECK_FALSE(keys_scatter<int32_t>(queue, any.data(), n, 100));
  }
}
