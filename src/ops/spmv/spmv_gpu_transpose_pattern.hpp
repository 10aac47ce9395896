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
      : scaling_(queue), conjugate_(conjugates_values(desc)), plan_(desc, queue, true) {
    require(plan_.columns_known(), KKC_STATUS_NOT_SUPPORTED,
            "gpu_transpose_pattern: columns have too many different patterns, or a row names a column twice");
    gpu::prepare<Gather>(queue);
  }

  void execute(Queue& queue, const Args& args) override {
    if (scaling_.suffices(args)) return scaling_.run(queue, args);
    launch_over(queue, args.A.cols,
                Gather{rows_of<T, O>(args.A, conjugate_), args.A.cols, plan_.column_patterns(),
                       vectors_of<T>(args.x, args.y), coefficients_of<T>(args)});
  }
  void describe(Info& info) const override { plan_.describe(info); }

 private:
  Scaling<T> scaling_;
  bool conjugate_;
  PatternPlan<I, O> plan_;
};

inline std::string transpose_pattern_unsupported(const Desc& desc) {
  if (!transposes(desc.op)) return "takes op T and H only";
  if (desc.vectors != 1) return "takes one vector only";
  if (!contiguous(desc.x) || !contiguous(desc.y)) return "takes no strided vectors";
  if (std::string reason = no_patterns(desc); !reason.empty()) return reason;
  return refused(
      [&](Queue& queue) {
        bool known = false;
        dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto p) {
          using P = decltype(p);
          known = PatternPlan<typename P::ordinal, typename P::offset>(desc, queue, true).columns_known();
        });
        return known ? "" : "columns have too many different patterns, or a row names a column twice";
      },
      desc);
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
