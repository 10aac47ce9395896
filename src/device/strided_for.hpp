// An elementwise operation on N arrays of one shape with any strides, as one Kokkos pattern for all devices.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "core/queue.hpp"
#include "core/strided.hpp"
#include "device/first_launch.hpp"

namespace kkc {

/// One item is `inner` neighbours along the fastest dimension: 1 on GPUs, where threads are neighbours; many on hosts.
/// Index is uint32_t below 2^31 items, where divisions become multiplications.
template <int N, class Index, class Op>
struct StridedFor {
  Op op;
  int32_t rank;
  int64_t inner;
  int64_t extent;          // of the fastest dimension
  Index parts[walk_rank];  // [0]: items along the fastest dimension; [d]: extents
  Divider dividers[walk_rank];
  int64_t strides[N][walk_rank];

  KOKKOS_FUNCTION Index divide(Index n, int d) const {
    if constexpr (std::is_same_v<Index, uint32_t>)
      return dividers[d].quotient(n);
    else
      return n / parts[d];
  }

  KOKKOS_FUNCTION void operator()(int64_t item) const {
    if (parts[0] == 0) return;  // only loads the kernel
    Index rest = static_cast<Index>(item);
    int64_t offsets[N] = {}, first = 0;
    for (int d = 0; d < rank; ++d) {
      Index index = rest;
      if (d + 1 < rank) {
        const Index next = divide(rest, d);
        index = rest - next * parts[d];
        rest = next;
      }
      const int64_t at = d == 0 ? (first = static_cast<int64_t>(index) * inner) : static_cast<int64_t>(index);
      for (int n = 0; n < N; ++n) offsets[n] += at * strides[n][d];
    }
    KOKKOS_IF_ON_DEVICE((op(offsets);))
    KOKKOS_IF_ON_HOST((run_inner(offsets, first);))
  }

  /// Hosts: a run of neighbours; an Op with row() takes unit strides at once.
  void run_inner(int64_t (&offsets)[N], int64_t first) const {
    const int64_t count = extent - first < inner ? extent - first : inner;
    if constexpr (requires { op.row(offsets, count); }) {
      bool unit = true;
      for (int n = 0; n < N; ++n) unit = unit && strides[n][0] == 1;
      if (unit) {
        op.row(offsets, count);
        return;
      }
    }
    for (int64_t i = 0; i < count; ++i) {
      op(offsets);
      for (int n = 0; n < N; ++n) offsets[n] += strides[n][0];
    }
  }
};

template <class Exec, class Index, int N, class Op>
void run_strided_for(const Exec& space, const Walk<N>& walk, int64_t inner, const Op& op) {
  StridedFor<N, Index, Op> f{op, walk.rank, inner, walk.rank == 0 ? 1 : walk.extents[0], {}, {}, {}};
  static_assert(sizeof(f) + 64 <= 512, "larger closures make Kokkos wait for the device");
  if (walk.rank == 0) f.parts[0] = 1;
  int64_t items = 1;
  for (int d = 0; d < walk.rank; ++d) {
    const int64_t parts = d == 0 ? (walk.extents[0] + inner - 1) / inner : walk.extents[d];
    items *= parts;
    f.parts[d] = static_cast<Index>(parts);
    if constexpr (std::is_same_v<Index, uint32_t>) f.dividers[d] = Divider(static_cast<uint32_t>(parts));
    for (int n = 0; n < N; ++n) f.strides[n][d] = walk.strides[n][d];
  }
  Kokkos::parallel_for(Kokkos::RangePolicy<Exec, Kokkos::IndexType<int64_t>>(space, 0, items), f);
}

/// Calls op(offsets) for every element; offsets[n] counts elements of array n.
template <class Dev, int N, class Op>
void strided_for(Queue& queue, const Walk<N>& walk, const Op& op) {
  constexpr bool host = Kokkos::SpaceAccessibility<typename Dev::exec, Kokkos::HostSpace>::accessible;
  const auto& space = Dev::space(queue);
  // Hosts: long runs, but enough of them for all threads.
  int64_t inner = 1;
  if (host && walk.rank > 0) {
    inner = 4096;
    const int64_t share = walk.count / (8 * int64_t{queue.concurrency()}) + 1;
    if (inner > share) inner = share;
    if (inner > walk.extents[0]) inner = walk.extents[0];
  }
  if (walk.count < (int64_t{1} << 31))
    run_strided_for<typename Dev::exec, uint32_t>(space, walk, inner, op);
  else
    run_strided_for<typename Dev::exec, uint64_t>(space, walk, inner, op);
}

/// Loads the kernels that strided_for launches: the first launch would otherwise do so, which a stream capture forbids.
template <class Dev, int N, class Op>
void prepare_strided_for(Queue& queue) {
  const auto turn = first_launches_take_turns();
  const auto launch = [&]<class Index>(Index) {
    const StridedFor<N, Index, Op> f{};
    Kokkos::parallel_for(Kokkos::RangePolicy<typename Dev::exec, Kokkos::IndexType<int64_t>>(Dev::space(queue), 0, 1),
                         f);
  };
  launch(uint32_t{});
  launch(uint64_t{});
}

}  // namespace kkc
