// ilu, reference: one row after another, on every device by one thread (row version of Gaussian elimination; Saad,
// "Iterative Methods for Sparse Linear Systems", 2nd edition, algorithm 10.4). What the tests compare others with.
#pragma once

#include "ops/ilu/ilu_sequential.hpp"

namespace kkc::ilu {

template <class Dev>
constexpr Implementation reference() {
  return {{"reference"}, true, sequential::unsupported, sequential::make<Dev, Form::lu>};
}

}  // namespace kkc::ilu
