// view_scan: prefix sums of a view or of each of its rows or columns. Contract of its implementations.
#pragma once

#include "core/dispatch.hpp"
#include "core/operands.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"

namespace kkc {

class Context;
class View;

namespace view_scan {

/// Lines that are scanned on their own: element i of line l is x[l x_line + i x_step], and y likewise.
struct Lines {
  int64_t count, length;
  int64_t x_step, x_line, y_step, y_line;
};

/// At least one element. x and y are the same elements or do not overlap.
struct Args {
  Scalar x_type, y_type;  // a pair of Pairs
  const void* x;
  void* y;
  Lines lines;
  bool inclusive;
};

/// scratch: scratch_bytes of the context's device memory. Host kernels block; GPU kernels only enqueue on the queue's
/// stream, never allocate, and can be captured once Entry::prepare has run. The same bits in every run.
struct Implementation : Entry {
  void (*run)(Queue& queue, void* scratch, const Args& args);
};

/// Type of the elements read, and type in which sums are kept and written. Integers wrap around, hence unsigned sums.
template <class In, class Sum>
struct TypePair {
  using in = In;
  using sum = Sum;
};

namespace detail {
template <class... S>
TypeList<TypePair<uint8_t, uint8_t>, TypePair<int32_t, uint32_t>, TypePair<int64_t, uint64_t>,
         TypePair<uint8_t, uint32_t>, TypePair<uint8_t, uint64_t>, TypePair<int32_t, uint64_t>, TypePair<S, S>...>
    pairs_with(TypeList<S...>);
}  // namespace detail

using Pairs = decltype(detail::pairs_with(Scalars{}));

template <class Sum>
inline constexpr Scalar sum_scalar = scalar_of<Sum>;
template <>
inline constexpr Scalar sum_scalar<uint32_t> = Scalar::i32;
template <>
inline constexpr Scalar sum_scalar<uint64_t> = Scalar::i64;

/// Calls f(TypePair) for the types, or returns false when no pair has them.
template <class... P, class F>
bool dispatch_types(TypeList<P...>, Scalar x, Scalar y, F&& f) {
  return ((scalar_of<typename P::in> == x && sum_scalar<typename P::sum> == y ? (f(P{}), true) : false) || ...);
}

/// y = prefix sums of x along dimension dim; see kkc_view_scan.
void execute(Context& context, bool exclusive, int32_t dim, const View& x, View& y);

}  // namespace view_scan
}  // namespace kkc
