// Dense arrays of any layout on a device, with their whole memory (gaps too) kept on the host.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "support/devices.hpp"
#include "support/handles.hpp"
#include "support/host_csr.hpp"

namespace kkc_test {

using Extents = std::vector<int64_t>;

inline int64_t count_of(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>{});
}

/// Calls f(index) for every multi-index below extents.
template <class F>
void for_each_index(const Extents& extents, const F& f) {
  Extents index(extents.size(), 0);
  for (int64_t left = count_of(extents); left > 0; --left) {
    f(index);
    for (size_t d = 0; d < extents.size(); ++d) {
      if (++index[d] < extents[d]) break;
      index[d] = 0;
    }
  }
}

template <class T>
T random_element(Random& random) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(random());
  else
    return random_value<T>(random);
}

/// Where the elements lie: strides, and the place of the first.
struct Placement {
  Extents strides;
  int64_t offset = 0, size = 0;

  int64_t at(const Extents& index) const {
    int64_t place = offset;
    for (size_t d = 0; d < index.size(); ++d) place += index[d] * strides[d];
    return place;
  }
};

/// Dimensions in the given order of strides, `gap` places left out after each, every step times `least`.
inline Placement place(const Extents& extents, const std::vector<int>& order, int64_t gap = 0, int64_t least = 1,
                       int64_t offset = 0) {
  Placement p{Extents(extents.size()), offset, 0};
  int64_t stride = least;
  for (const int d : order) {
    p.strides[static_cast<size_t>(d)] = stride;
    stride = stride * std::max<int64_t>(extents[static_cast<size_t>(d)], 1) + gap;
  }
  p.size = offset + stride + 8;
  return p;
}

inline std::vector<int> left_order(size_t rank) {
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}
inline std::vector<int> right_order(size_t rank) {
  auto order = left_order(rank);
  std::reverse(order.begin(), order.end());
  return order;
}

/// Any order, gaps, steps and first place.
inline Placement random_placement(Random& random, const Extents& extents) {
  auto order = left_order(extents.size());
  std::shuffle(order.begin(), order.end(), random);
  return place(extents, order, random() % 3 == 0 ? random_int(random, 1, 5) : 0, random() % 5 == 0 ? 2 : 1,
               random_int(random, 0, 3));
}

template <class T>
struct Dense {
  Extents extents;
  Placement placement;
  std::vector<T> memory;
  Array<T> array;
  View view;

  Dense(const Context& ctx, Random& random, const Extents& shape, const Placement& where)
      : extents(shape),
        placement(where),
        memory(make_memory(random, where.size)),
        array(ctx, memory),
        view(wrap(ctx, array.data() + where.offset, extents, KKC_LAYOUT_STRIDED, where.strides)) {}

  T& operator()(const Extents& index) { return memory[static_cast<size_t>(placement.at(index))]; }
  const T& operator()(const Extents& index) const { return memory[static_cast<size_t>(placement.at(index))]; }
  /// What the device holds now.
  std::vector<T> fetch() const { return array.get(); }

 private:
  static std::vector<T> make_memory(Random& random, int64_t size) {
    std::vector<T> all(static_cast<size_t>(size));
    for (T& e : all) e = random_element<T>(random);
    return all;
  }
};

/// Same bytes: NaN equals itself.
template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

inline std::string text(const Extents& numbers) {
  std::string out;
  for (const int64_t n : numbers) out += (out.empty() ? "" : " x ") + std::to_string(n);
  return out.empty() ? "rank 0" : out;
}

}  // namespace kkc_test
