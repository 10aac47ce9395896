// A hash table of sums, key -> value, with linear probing: accumulates one sparse row after another on a host thread
// (the accumulator of Nagasaka, Matsuoka, Azad, Buluc, "High-performance sparse matrix-matrix products on Intel KNL and
// multicore architectures", ICPP'18, section 4.2). gpu_hash_accumulator.hpp is the same for warps and blocks.
//
//   HashAccumulator<int32_t, double> row(most_keys);       // a plan makes one for each thread
//   row.add(key, value);  row.insert(key);                 // sums; symbolic: keys alone
//   row.for_each([&](int32_t key, double value) { ... });  // in order of first insertion
//   row.clear();                                           // time proportional to its keys
//
// Keys are any integers but the smallest, which marks an empty place. Nothing is allocated after construction.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "core/parts.hpp"

namespace kkc {

/// Places for so many keys: a power of two, at most half of them in use.
inline constexpr int64_t hash_places(int64_t keys) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(keys < 4 ? 8 : 2 * keys)));
}

/// Multiplicative hashing (Knuth, TAOCP 3, section 6.4): the product's high bits spread neighbouring keys.
template <class Key>
constexpr uint64_t hash_of(Key key) {
  return (static_cast<uint64_t>(key) * 0x9e3779b97f4a7c15u) >> 32;
}

template <class Key, class Value>
class HashAccumulator {
 public:
  static constexpr Key empty = std::numeric_limits<Key>::min();

  explicit HashAccumulator(int64_t most_keys)
      : mask_(static_cast<uint64_t>(hash_places(most_keys) - 1)),
        most_(hash_places(most_keys) / 2),
        keys_(std::make_unique_for_overwrite<Key[]>(mask_ + 1)),
        values_(std::make_unique_for_overwrite<Value[]>(mask_ + 1)),
        used_(std::make_unique_for_overwrite<int64_t[]>(static_cast<size_t>(most_))) {
    for (uint64_t i = 0; i <= mask_; ++i) keys_[i] = empty;
  }

  int64_t size() const { return size_; }
  /// Keys that it holds at most; the caller keeps to it.
  int64_t capacity() const { return most_; }

  /// Whether the key is new. Its value then is not set.
  bool insert(Key key) { return place_of(key).second; }

  void add(Key key, const Value& value) {
    const auto [place, fresh] = place_of(key);
    if (fresh)
      values_[place] = value;
    else
      values_[place] = plus(values_[place], value);
  }

  /// The sum of a key, or null.
  const Value* find(Key key) const {
    for (uint64_t place = hash_of(key) & mask_;; place = (place + 1) & mask_) {
      if (keys_[place] == key) return &values_[place];
      if (keys_[place] == empty) return nullptr;
    }
  }

  template <class F>
  void for_each(F&& f) const {
    for (int64_t i = 0; i < size_; ++i) {
      const auto place = static_cast<uint64_t>(used_[i]);
      f(keys_[place], values_[place]);
    }
  }
  /// The keys alone, in order of first insertion.
  void keys(Key* target) const {
    for (int64_t i = 0; i < size_; ++i) target[i] = keys_[static_cast<uint64_t>(used_[i])];
  }

  void clear() {
    for (int64_t i = 0; i < size_; ++i) keys_[static_cast<uint64_t>(used_[i])] = empty;
    size_ = 0;
  }

 private:
  std::pair<uint64_t, bool> place_of(Key key) {
    for (uint64_t place = hash_of(key) & mask_;; place = (place + 1) & mask_) {
      if (keys_[place] == key) return {place, false};
      if (keys_[place] == empty) {
        keys_[place] = key;
        used_[size_++] = static_cast<int64_t>(place);
        return {place, true};
      }
    }
  }

  uint64_t mask_;
  int64_t most_, size_ = 0;
  std::unique_ptr<Key[]> keys_;
  std::unique_ptr<Value[]> values_;
  std::unique_ptr<int64_t[]> used_;
};

}  // namespace kkc
