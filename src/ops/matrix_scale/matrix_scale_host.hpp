// matrix_scale, hosts: rows dealt by entries.
#pragma once

#include "core/dispatch.hpp"
#include "core/parts.hpp"
#include "device/host_pattern_ref.hpp"
#include "ops/matrix_scale/matrix_scale.hpp"

namespace kkc::matrix_scale {
namespace host_scale_parts {

template <class Dev, class T, class I, class O>
void run_typed(Queue& queue, const Args& args) {
  const HostPatternRef<I, O> A(args.A);
  auto* const values = static_cast<T*>(args.values);
  const auto* const r = static_cast<const T*>(args.row_factors.data);
  const auto* const c = static_cast<const T*>(args.col_factors.data);
  const int64_t r_stride = args.row_factors.strides[0], c_stride = args.col_factors.strides[0];
  const int64_t parts = parts_for_items(queue, A.nnz + A.rows);
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    for (int64_t row = A.first_row(parts, part), last = A.first_row(parts, part + 1); row < last; ++row) {
      const int64_t begin = A.begin(row), end = A.end(row);
      if (r != nullptr) {
        const T factor = r[row * r_stride];
        for (int64_t p = begin; p < end; ++p) values[p] = times(factor, values[p]);
      }
      if (c != nullptr)
        for (int64_t p = begin; p < end; ++p) values[p] = times(values[p], c[A.column(p) * c_stride]);
    }
  });
}

template <class Dev>
void run(Queue& queue, const Args& args) {
  dispatch(args.A.scalar, args.A.pair, [&]<class S, class P>(Type<S>, P) {
    run_typed<Dev, Element<S>, typename P::ordinal, typename P::offset>(queue, args);
  });
}

}  // namespace host_scale_parts

template <class Dev>
constexpr Implementation host() {
  return {{"host"}, host_scale_parts::run<Dev>};
}

}  // namespace kkc::matrix_scale
