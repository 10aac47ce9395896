// spmv, gpu_multi_col: vectors one after the other, read in place. For short rows whose neighbours have neighbouring
// columns, which the dictionary of row patterns shows.
#pragma once

#include "spmv_gpu_multi_col_kernels.hpp"
#include "spmv_gpu_pattern_plan.hpp"

namespace kkc::spmv {
namespace gpu_parts {

template <class T, class I, class O>
class MultiColKernel final : public Kernel {
 public:
  using Multiply = MultiCol<T, I, O, 4, 64>;

  MultiColKernel(const Desc& desc, Queue& queue)
      : scaling_(queue), conjugate_(conjugates_values(desc)), pitch_(static_cast<int32_t>(desc.rows.longest | 1)) {
    while (width_log2_ < 5 && (int64_t{1} << width_log2_) < desc.rows.longest) ++width_log2_;
    gpu::prepare<Multiply>(queue, shared_bytes());
  }

  void execute(Queue& queue, const Args& args) override {
    if (scaling_.suffices(args)) return scaling_.run(queue, args);
    launch_over(queue, args.A.rows,
                Multiply{rows_of<T, O>(args.A, conjugate_), columns_of<I>(args.A), vectors_of<T>(args.x, args.y),
                         coefficients_of<T>(args), pitch_, width_log2_},
                shared_bytes());
  }

 private:
  size_t shared_bytes() const {
    return static_cast<size_t>(Multiply::threads) * static_cast<size_t>(pitch_) * (sizeof(T) + sizeof(I));
  }

  Scaling<T> scaling_;
  bool conjugate_;
  int32_t pitch_, width_log2_ = 0;
};

inline std::string multi_col_unsupported(const Desc& desc) {
  if (transposes(desc.op)) return "takes op N and conj only";
  if (desc.vectors < 2) return "takes many vectors";
  if (!contiguous(desc.x) || !contiguous(desc.y)) return "takes vectors whose elements are contiguous";
  if (desc.x.strides[1] == 1 && desc.x.extents[0] > 1) return "takes vectors one after the other";
  if (desc.rows.longest > gpu_tuning::longest_column_row)
    return cat("takes rows of at most ", gpu_tuning::longest_column_row, " entries");
  return no_patterns(desc);
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_multi_col() {
  return {{"gpu_multi_col"}, true, gpu_parts::multi_col_unsupported, gpu_parts::make_typed<gpu_parts::MultiColKernel>};
}

}  // namespace kkc::spmv
