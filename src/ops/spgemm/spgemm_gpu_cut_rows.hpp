// Long rows as lists of pieces, in the plan.
#pragma once

#include "spgemm_gpu_found.hpp"

namespace kkc::spgemm::gpu_parts {

template <class Problem>
class CutRows {
 public:
  CutRows(Queue& queue, const Problem& problem) : queue_(queue), p_(problem) {}

  static ListPieces cut(const int32_t* rows, int64_t count, const Buffer& sizes, int32_t capacity, int32_t products,
                        const Buffer& bounds) {
    return {rows, count, sizes.as<int32_t>(), bounds.as<int32_t>(), capacity, products, nullptr, 0, nullptr};
  }
  /// How many pieces each makes, to its of_pieces, in one wait.
  template <size_t n>
  void count(std::array<ListPieces, n>& cuts) {
    std::array<std::array<int32_t, 2>, n> counted;
    Buffer counters = p_.template array<int32_t>(2 * n);
    clear(queue_, counters);
    for (size_t i = 0; i < n; ++i) {
      cuts[i].pieces = nullptr;
      cuts[i].counters = counters.as<int32_t>() + 2 * i;
      launch_over(queue_, cuts[i].count, cuts[i]);
    }
    queue_.copy(&counted, counters.data(), sizeof counted);
    for (size_t i = 0; i < n; ++i) cuts[i].of_pieces = counted[i][0];
  }
  void list(ListPieces f, Piece* to) {
    Buffer counters = p_.template array<int32_t>(2);
    f.pieces = to;
    f.counters = counters.as<int32_t>();
    clear(queue_, counters);
    launch_over(queue_, f.count, f);
  }
  Pieces listed(ListPieces f) {
    Pieces pieces;
    if (f.count == 0) return pieces;
    std::array<ListPieces, 1> one{f};
    count(one);
    f = one[0];
    pieces.count = f.of_pieces;
    if (pieces.count == 0) return pieces;
    pieces.list = p_.template array<Piece>(pieces.count);
    list(f, pieces.list.template as<Piece>());
    return pieces;
  }

 private:
  Queue& queue_;
  const Problem& p_;
};

}  // namespace kkc::spgemm::gpu_parts
