// csr_to_coo, hosts: rows dealt by entries.
#pragma once

#include "core/dispatch.hpp"
#include "device/host_pattern_ref.hpp"
#include "ops/csr_to_coo/csr_to_coo.hpp"

namespace kkc::csr_to_coo {
namespace host_expand_parts {

template <class Dev, class Out, class I, class O>
void run_typed(Queue& queue, const Args& args) {
  const HostPatternRef<I, O> A(args.A);
  auto* const target = static_cast<Out*>(args.row_indices.data);
  const int64_t stride = args.row_indices.strides[0], parts = parts_for_items(queue, A.nnz + A.rows);
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    for (int64_t row = A.first_row(parts, part), last = A.first_row(parts, part + 1); row < last; ++row)
      for (int64_t p = A.begin(row), end = A.end(row); p < end; ++p)
        target[p * stride] = static_cast<Out>(row + A.base);
  });
}

template <class Dev>
void run(Queue& queue, const Args& args) {
  dispatch_index_pair(IndexPairs{}, args.A.pair, [&](auto pair) {
    using P = decltype(pair);
    if (args.row_indices.scalar == Scalar::i32)
      run_typed<Dev, int32_t, typename P::ordinal, typename P::offset>(queue, args);
    else
      run_typed<Dev, int64_t, typename P::ordinal, typename P::offset>(queue, args);
  });
}

}  // namespace host_expand_parts

template <class Dev>
constexpr Implementation host() {
  return {{"host"}, host_expand_parts::run<Dev>};
}

}  // namespace kkc::csr_to_coo
