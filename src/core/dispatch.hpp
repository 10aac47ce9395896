// Run-time tags to compile-time types: one fold over a type list.
#pragma once

#include "error.hpp"
#include "types.hpp"

namespace kkc {

/// Calls f(Type<T>{}) for the T of the list whose tag is `scalar`; refuses a type this build lacks.
template <class... Ts, class F>
void dispatch_scalar(TypeList<Ts...>, Scalar scalar, F&& f) {
  const bool found = ((scalar_of<Ts> == scalar ? (f(Type<Ts>{}), true) : false) || ...);
  require(found, KKC_STATUS_NOT_SUPPORTED, "element type ", static_cast<int>(scalar),
          " is not one that this build of kkc holds kernels for");
}

/// Calls f(Indices<I, O>{}) for the pair whose tag is `pair`.
template <class... Ps, class F>
void dispatch_index_pair(TypeList<Ps...>, IndexPair pair, F&& f) {
  const bool found = ((index_pair_of<Ps> == pair ? (f(Ps{}), true) : false) || ...);
  require(found, KKC_STATUS_NOT_SUPPORTED, "index pair ", static_cast<int>(pair),
          " is not one that this build of kkc holds kernels for");
}

/// Both at once, over what this build instantiates.
template <class F>
void dispatch(Scalar scalar, IndexPair pair, F&& f) {
  dispatch_scalar(Scalars{}, scalar,
                  [&](auto s) { dispatch_index_pair(IndexPairs{}, pair, [&](auto p) { f(s, p); }); });
}

}  // namespace kkc
