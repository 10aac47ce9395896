// C's pattern on GPUs, for column indices of one width.
#pragma once

#include "ops/spgemm/spgemm.hpp"
#include "spgemm_gpu_symbolic.hpp"

namespace kkc::spgemm::gpu_parts {

template <class Left, class I>
bool ascends(Queue& queue, const Problem<Left, I>& problem, const Pattern<I>& mask, int64_t nnz) {
  if (mask.rows == 0) return true;
  Buffer broken = problem.template array<int32_t>(2);
  clear(queue, broken);
  check_ascending(queue, mask, nnz, broken.as<int32_t>());
  return read_back<int32_t>(queue, broken.data()) == 0;
}

template <class I>
Found find(const Desc& desc, Queue& queue) {
  using Left = PlainLeft<I>;
  const Problem<Left, I> problem{{pattern_of<I>(desc.A), nullptr},
                                 {pattern_of<I>(desc.B)},
                                 desc.rows(),
                                 desc.cols(),
                                 desc.A.nnz,
                                 desc.B.nnz,
                                 desc.rows_a.longest,
                                 desc.rows_b.longest,
                                 desc.pair,
                                 size_of(desc.scalar()),
                                 desc.max_workspace,
                                 desc.sorted,
                                 desc.memory,
                                 {desc.positions_A, offset_size(desc.A.pair) == 8, 0},
                                 {desc.positions_B, offset_size(desc.B.pair) == 8, 0}};
  if (!desc.masked) return Symbolic<Left, I>(queue, problem).run();
  const Pattern<I> mask = pattern_of<I>(desc.mask);
  if (ascends(queue, problem, mask, desc.mask.nnz)) return Symbolic<Left, I>(queue, problem).run(mask, desc.mask.nnz);
  // Once in order it can be read like any other.
  using Unit = UnitLeft<I>;
  const Problem<Unit, I> sort{{},        {mask},    desc.rows(), desc.cols(), desc.rows(), desc.mask.nnz, 1,
                              INT32_MAX, desc.pair, 0,           0,           true,        desc.memory};
  const Found sorted = Symbolic<Unit, I>(queue, sort).run();
  return Symbolic<Left, I>(queue, problem).run(pattern_of<I>(sorted.output.ref()), sorted.output.nnz);
}

}  // namespace kkc::spgemm::gpu_parts
