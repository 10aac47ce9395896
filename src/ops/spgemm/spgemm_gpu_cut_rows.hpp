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
  /// How many pieces f makes.
  int32_t count(ListPieces& f) {
    f.of_pieces = f.count == 0 ? 0 : read_back<int32_t>(queue_, list(f, nullptr).data());
    return f.of_pieces;
  }
  /// To `to`, unless it is null; returns the kernel's counters.
  Buffer list(ListPieces f, Piece* to) {
    Buffer counters = p_.template array<int32_t>(2);
    f.pieces = to;
    f.counters = counters.as<int32_t>();
    clear(queue_, counters);
    launch_over(queue_, f.count, f);
    return counters;
  }
  Pieces listed(ListPieces f) {
    Pieces pieces;
    pieces.count = count(f);
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
