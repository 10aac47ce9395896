// The kernel that a kept transpose is multiplied by, on hosts and GPUs.
#pragma once

#include <memory>

#include "ops/spmv/spmv.hpp"

namespace kkc::spmv {

struct InnerKernel {
  std::unique_ptr<Kernel> kernel;
  const char* name = "";
};

/// The first implementation for op N or conj that takes the transpose. values_kept: whether its kernel may hold values.
inline InnerKernel kernel_for_transpose(const Desc& desc, const CsrRef& transpose, bool values_kept, Queue& queue) {
  Desc inner = desc;
  inner.op = conjugates(desc.op) ? Op::conjugate : Op::none;
  inner.A = transpose;
  inner.values_kept = values_kept;
  inner.transpose_kept = false;
  inner.findings = {};
  const OperationTable& statistics = *find_operation(queue.table(), "row_stats");
  const row_stats::Pass pass{transpose, true};
  static_cast<const row_stats::Implementation*>(statistics.entries[0])->run(queue, std::span(&pass, 1), &inner.rows);
  const OperationTable& table = *find_operation(queue.table(), "spmv");
  for (int32_t i = 0; i < table.count; ++i) {
    const auto* candidate = static_cast<const Implementation*>(table.entries[i]);
    if ((desc.deterministic && !candidate->deterministic) || !candidate->unsupported(inner).empty()) continue;
    return {candidate->make(inner, queue), candidate->name};
  }
  fail(KKC_STATUS_NOT_SUPPORTED, "no implementation takes the transpose");
}

}  // namespace kkc::spmv
