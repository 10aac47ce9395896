// spmv, gpu_multi_transpose_scatter: the transposed product with many vectors: y = beta y, then every entry adds its
// row of X to its row of Y atomically, lanes along the vectors. Vectors that lie one after the other are set side by
// side first, in workspace. Any strides. Sums depend on the order in which blocks run.
#pragma once

#include "spmv_gpu_multi_transpose_kernels.hpp"
#include "spmv_gpu_multi_windows.hpp"
#include "spmv_gpu_turned.hpp"

namespace kkc::spmv {
namespace gpu_parts {

template <class T, class I, class O>
class MultiTransposeScatterKernel final : public Kernel {
 public:
  /// Neighbouring lanes add to neighbouring elements, unless one operation adds 16 bytes.
  static constexpr int wide = sizeof(T) == 4 || (gpu::is_pair<T> && sizeof(T) == 8) ? pack_width<T> : 1;
  template <int V>
  using Scatter = MultiScatter<T, I, O, V, 128>;

  MultiTransposeScatterKernel(const Desc& desc, Queue& queue)
      : scaling_(queue),
        turned_(desc, queue, true),
        conjugate_(conjugates_values(desc)),
        count_(desc.vectors),
        mean_(mean_row(desc)),
        plan_(desc, queue, gpu_tuning::short_small, gpu_tuning::multi_segment, false),
        windows_(desc, queue, gpu_tuning::window_small) {
    gpu::prepare<Scatter<wide>>(queue, shared_bytes());
    gpu::prepare<Scatter<1>>(queue, shared_bytes());
  }

  void execute(Queue& queue, const Args& args) override {
    if (scaling_.suffices(args)) return scaling_.run(queue, args);
    T* turned = static_cast<T*>(args.workspace);
    Vectors<T> v;
    Coefficients<T> c;
    turned_.begin(queue, args, turned, v, c);
    if (turned_.turns_y())
      launch_over(queue, turned_.y_elements(), Scale<T>{v.y, turned_.y_elements(), 1, 1, 0, c.beta});
    else
      scaling_.run(queue, args);
    if (fits_packs(v))
      scatter<Scatter<wide>>(queue, args, v, c);
    else
      scatter<Scatter<1>>(queue, args, v, c);
    turned_.end(queue, args, turned);
  }
  size_t workspace_bytes() const override { return static_cast<size_t>(turned_.elements()) * sizeof(T); }
  void describe(Info& info) const override {
    turned_.describe(info);
    plan_.describe(info);
  }

 private:
  size_t shared_bytes() const { return windows_.stage_bytes(plan_.longs().longest_short, sizeof(T)); }

  template <class F>
  void scatter(Queue& queue, const Args& args, const Vectors<T>& v, const Coefficients<T>& c) const {
    if (args.A.rows == 0) return;
    const int lanes = vector_lanes_log2(count_, F::width, mean_);
    const dim3 grid(gpu::blocks_for(windows_.windows().count + plan_.longs().segments, 1),
                    gpu::blocks_for(count_, int64_t{F::width} << lanes));
    gpu::launch(queue, grid, F::threads, shared_bytes(),
                F{rows_of<T, O>(args.A, conjugate_), columns_of<I>(args.A), windows_.windows(), plan_.longs(), v,
                  c.alpha, lanes});
  }

  Scaling<T> scaling_;
  TurnedVectors<T> turned_;
  bool conjugate_;
  int64_t count_;
  double mean_;
  RowPlan<I, O> plan_;
  WindowPlan<I, O> windows_;
};

inline std::string multi_transpose_scatter_unsupported(const Desc& desc) {
  if (!transposes(desc.op)) return "takes op T and H only";
  if (desc.vectors == 1) return "takes many vectors";
  if (desc.vectors > 65535) return "takes at most 65535 vectors";
  if (!rows_fit_ordinal(desc)) return "more rows than the index type counts";
  return "";
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_multi_transpose_scatter() {
  return {{"gpu_multi_transpose_scatter"},
          false,
          gpu_parts::multi_transpose_scatter_unsupported,
          gpu_parts::make_typed<gpu_parts::MultiTransposeScatterKernel>};
}

}  // namespace kkc::spmv
