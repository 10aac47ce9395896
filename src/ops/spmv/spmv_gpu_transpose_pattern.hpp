// spmv, gpu_transpose_pattern: the transposed product without transpose, atomics or workspace: columns name a list of
// (row - column, place in the row) in a small dictionary and gather their entries. The same bits run to run.
#pragma once

#include "spmv_gpu_pattern_plan.hpp"

namespace kkc::spmv {
namespace gpu_parts {

template <class T, class I, class O>
class TransposePatternKernel final : public Kernel {
 public:
  using Gather = ColumnPattern<T, O, sizeof(T) <= 4 ? 4 : 5>;

  TransposePatternKernel(const Desc& desc, Queue& queue)
      : scaling_(queue), conjugate_(conjugates_values(desc)), columns_(find_patterns<I, O>(desc, queue, true).columns) {
    gpu::prepare<Gather>(queue);
  }

  void execute(Queue& queue, const Args& args) override {
    if (scaling_.suffices(args)) return scaling_.run(queue, args);
    launch_over(queue, args.A.cols,
                Gather{rows_of<T, O>(args.A, conjugate_), args.A.cols, columns_->patterns(),
                       vectors_of<T>(args.x, args.y), coefficients_of<T>(args)});
  }
  void describe(Info& info) const override { columns_->describe(info); }

 private:
  Scaling<T> scaling_;
  bool conjugate_;
  std::shared_ptr<const ColumnPatternPlan<I, O>> columns_;
};

inline std::string transpose_pattern_unsupported(const Desc& desc) {
  if (!transposes(desc.op)) return "takes op T and H only";
  if (desc.vectors != 1) return "takes one vector only";
  if (!contiguous(desc.x) || !contiguous(desc.y)) return "takes no strided vectors";
  // A thread gathers a column, whatever its length.
  if (!desc.deterministic && desc.A.cols < gpu_tuning::fewest_gathered_columns &&
      static_cast<double>(desc.A.nnz) >= gpu_tuning::long_gathered_column * static_cast<double>(desc.A.cols))
    return "too few columns of many entries";
  return no_patterns(desc, true);
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_transpose_pattern() {
  return {{"gpu_transpose_pattern"},
          true,
          gpu_parts::transpose_pattern_unsupported,
          gpu_parts::make_typed<gpu_parts::TransposePatternKernel>};
}

}  // namespace kkc::spmv
