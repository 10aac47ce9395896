// matrix_diagonal, hosts: every entry of the first min(rows, cols) rows is looked at once.
#pragma once

#include "core/dispatch.hpp"
#include "core/parts.hpp"
#include "device/host_pattern_ref.hpp"
#include "ops/matrix_diagonal/matrix_diagonal.hpp"

namespace kkc::matrix_diagonal {
namespace host_diagonal_parts {

template <class Dev, class T, class I, class O>
void run_typed(Queue& queue, const Args& args) {
  const HostPatternRef<I, O> A(args.A);
  const auto* const values = static_cast<const T*>(args.A.values);
  auto* const d = static_cast<T*>(args.d.data);
  const int64_t n = args.d.extents[0], stride = args.d.strides[0], parts = parts_for_items(queue, A.nnz + A.rows);
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    for (int64_t row = A.first_row(parts, part), last = std::min(n, A.first_row(parts, part + 1)); row < last; ++row) {
      const auto column = static_cast<I>(row + A.base);
      T sum{};
      bool found = false;
      for (int64_t p = A.begin(row), end = A.end(row); p < end; ++p)
        if (A.indices[p] == column) {
          sum = found ? plus(sum, values[p]) : values[p];
          found = true;
        }
      d[row * stride] = sum;
    }
  });
}

template <class Dev>
void run(Queue& queue, const Args& args) {
  dispatch(args.A.scalar, args.A.pair, [&]<class S, class P>(Type<S>, P) {
    run_typed<Dev, Element<S>, typename P::ordinal, typename P::offset>(queue, args);
  });
}

}  // namespace host_diagonal_parts

template <class Dev>
constexpr Implementation host() {
  return {{"host"}, host_diagonal_parts::run<Dev>};
}

}  // namespace kkc::matrix_diagonal
