// spmv, gpu_multi_transpose_pattern: the transposed product with many vectors where columns share patterns: each row of
// Y gathers its entries. No transpose, no atomics; the same bits run to run. Any strides.
#pragma once

#include "spmv_gpu_multi_transpose_kernels.hpp"
#include "spmv_gpu_pattern_plan.hpp"
#include "spmv_gpu_turned.hpp"

namespace kkc::spmv {
namespace gpu_parts {

template <class T, class I, class O>
class MultiTransposePatternKernel final : public Kernel {
 public:
  static constexpr int wide = pack_width<T>;
  template <int V>
  using Gather = MultiGather<T, O, V, 256>;

  MultiTransposePatternKernel(const Desc& desc, Queue& queue)
      : scaling_(queue),
        turned_(desc, queue, false),
        conjugate_(conjugates_values(desc)),
        count_(desc.vectors),
        mean_(mean_row(desc)),
        columns_(find_patterns<I, O>(desc, queue, true).columns),
        pitch_(columns_->longest() | 1) {
    while (height_ > 1 && shared_bytes() > gpu_tuning::gather_shared_bytes) height_ /= 2;
    gpu::prepare<Gather<wide>>(queue, shared_bytes());
    gpu::prepare<Gather<1>>(queue, shared_bytes());
  }

  void execute(Queue& queue, const Args& args) override {
    if (scaling_.suffices(args)) return scaling_.run(queue, args);
    T* turned = static_cast<T*>(args.workspace);
    Vectors<T> v;
    Coefficients<T> c;
    turned_.begin(queue, args, turned, v, c);
    if (fits_packs(v))
      gather<Gather<wide>>(queue, args, v, c);
    else
      gather<Gather<1>>(queue, args, v, c);
    turned_.end(queue, args, turned);
  }
  size_t workspace_bytes() const override { return static_cast<size_t>(turned_.elements()) * sizeof(T); }
  void describe(Info& info) const override {
    turned_.describe(info);
    columns_->describe(info);
  }

 private:
  size_t shared_bytes() const { return static_cast<size_t>(height_) * static_cast<size_t>(pitch_) * sizeof(T); }

  template <class F>
  void gather(Queue& queue, const Args& args, const Vectors<T>& v, const Coefficients<T>& c) const {
    const int lanes = vector_lanes_log2(count_, F::width, mean_);
    const dim3 grid(gpu::blocks_for(args.A.cols, height_), gpu::blocks_for(count_, int64_t{F::width} << lanes));
    gpu::launch(queue, grid, F::threads, shared_bytes(),
                F{rows_of<T, O>(args.A, conjugate_), args.A.cols, columns_->patterns(), v, c, lanes, height_, pitch_});
  }

  Scaling<T> scaling_;
  TurnedVectors<T> turned_;
  bool conjugate_;
  int64_t count_;
  double mean_;
  std::shared_ptr<const ColumnPatternPlan<I, O>> columns_;
  int32_t pitch_, height_ = 64;
};

inline std::string multi_transpose_pattern_unsupported(const Desc& desc) {
  if (!transposes(desc.op)) return "takes op T and H only";
  if (desc.vectors < 2 || desc.vectors > 65535) return "takes 2 to 65535 vectors";
  return no_patterns(desc, true);
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_multi_transpose_pattern() {
  return {{"gpu_multi_transpose_pattern"},
          true,
          gpu_parts::multi_transpose_pattern_unsupported,
          gpu_parts::make_typed<gpu_parts::MultiTransposePatternKernel>};
}

}  // namespace kkc::spmv
