#include "strided.hpp"

#include <algorithm>

namespace kkc {
namespace {

/// A stride in bytes that one or both arrays have, and the range of its multiples in a difference of addresses.
struct Term {
  int64_t stride, low, high;
};

struct Search {
  Term terms[2 * max_rank];
  int count = 0;
  int64_t below[2 * max_rank + 1], above[2 * max_rank + 1];  // reach of terms[k..]
  int64_t size_a, size_b;
  int steps = 4096;

  void add(int64_t stride, int64_t low, int64_t high) {
    for (int k = 0; k < count; ++k)
      if (terms[k].stride == stride) {
        terms[k].low += low;
        terms[k].high += high;
        return;
      }
    terms[count++] = {stride, low, high};
  }

  /// Whether address(a) - address(b) = difference + (multiples of terms[k..]) can lie in (-size_a, size_b).
  bool possible(int k, int64_t difference) {
    if (--steps < 0) return true;
    if (difference + above[k] <= -size_a || difference + below[k] >= size_b) return false;
    if (k == count) return true;
    const auto floor_div = [](int64_t n, int64_t d) { return n / d - (n % d < 0 ? 1 : 0); };
    const Term& t = terms[k];
    const int64_t first = std::max(t.low, floor_div(-size_a - above[k + 1] - difference, t.stride));
    const int64_t last = std::min(t.high, floor_div(size_b - below[k + 1] - difference, t.stride) + 1);
    for (int64_t v = first; v <= last; ++v)
      if (possible(k + 1, difference + v * t.stride)) return true;
    return false;
  }
};

}  // namespace

bool overlap(const DenseRef& a, const DenseRef& b) {
  const int64_t span_a = span_of(a), span_b = span_of(b);
  if (span_a == 0 || span_b == 0 || a.data == nullptr || b.data == nullptr) return false;
  Search search{};
  search.size_a = static_cast<int64_t>(size_of(a.scalar));
  search.size_b = static_cast<int64_t>(size_of(b.scalar));
  const char* const begin_a = static_cast<const char*>(a.data);
  const char* const begin_b = static_cast<const char*>(b.data);
  const int64_t difference = begin_a - begin_b;
  if (difference >= span_b * search.size_b || -difference >= span_a * search.size_a) return false;

  for (int d = 0; d < a.rank; ++d)
    if (a.extents[d] > 1 && a.strides[d] != 0) search.add(a.strides[d] * search.size_a, 0, a.extents[d] - 1);
  for (int d = 0; d < b.rank; ++d)
    if (b.extents[d] > 1 && b.strides[d] != 0) search.add(b.strides[d] * search.size_b, 1 - b.extents[d], 0);
  std::sort(search.terms, search.terms + search.count,
            [](const Term& x, const Term& y) { return x.stride > y.stride; });
  search.below[search.count] = search.above[search.count] = 0;
  for (int k = search.count - 1; k >= 0; --k) {
    search.below[k] = search.below[k + 1] + search.terms[k].low * search.terms[k].stride;
    search.above[k] = search.above[k + 1] + search.terms[k].high * search.terms[k].stride;
  }
  return search.possible(0, difference);
}

}  // namespace kkc
