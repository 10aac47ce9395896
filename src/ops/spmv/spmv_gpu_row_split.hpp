// spmv, gpu_row_split: a row for 1 to 32 lanes of a warp, chosen by the mean length of rows. Any strides.
#pragma once

#include "spmv_gpu_driver.hpp"
#include "spmv_gpu_row_split_kernels.hpp"

namespace kkc::spmv {
namespace gpu_parts {

/// Runs RowSplit with any source of columns.
template <class T, class O, class Columns>
class RowSplitLauncher {
 public:
  RowSplitLauncher(const Desc& desc, Queue& queue)
      : shape_(gpu_tuning::shape_of_rows(mean_row(desc))), unit_(contiguous(desc.x) && contiguous(desc.y)) {
    with_kernel([&]<class F>(Type<F>) { gpu::prepare<F>(queue); });
  }

  void run(Queue& queue, const Rows<T, O>& A, const Columns& columns, const Vectors<T>& v,
           const Coefficients<T>& c) const {
    with_kernel([&]<class F>(Type<F>) { launch_over(queue, A.rows * F::lanes, F{A, columns, v, c}); });
  }

  int lanes() const { return 1 << gpu_tuning::shapes[shape_].lanes_log2; }

 private:
  template <class F>
  void with_kernel(F&& f) const {
    with_shape(shape_, [&](auto shape) {
      constexpr gpu_tuning::Shape s = gpu_tuning::shapes[decltype(shape)::value];
      if (unit_)
        f(Type<RowSplit<T, O, Columns, true, s.lanes_log2, s.batch>>{});
      else
        f(Type<RowSplit<T, O, Columns, false, s.lanes_log2, s.batch>>{});
    });
  }

  int shape_;
  bool unit_;
};

template <class T, class I, class O>
class RowSplitKernel final : public Kernel {
 public:
  RowSplitKernel(const Desc& desc, Queue& queue)
      : scaling_(queue), launcher_(desc, queue), conjugate_(conjugates_values(desc)) {}

  void execute(Queue& queue, const Args& args) override {
    if (scaling_.suffices(args)) return scaling_.run(queue, args);
    launcher_.run(queue, rows_of<T, O>(args.A, conjugate_), columns_of<I>(args.A), vectors_of<T>(args.x, args.y),
                  coefficients_of<T>(args));
  }
  void describe(Info& info) const override { info.add("lanes", int64_t{launcher_.lanes()}); }

 private:
  Scaling<T> scaling_;
  RowSplitLauncher<T, O, PlainColumns<I>> launcher_;
  bool conjugate_;
};

inline std::string row_split_unsupported(const Desc& desc) {
  if (std::string reason = not_one_vector(desc); !reason.empty()) return reason;
  if (desc.rows.longest > (1 << 30)) return "a row has more than 2^30 entries";
  return "";
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_row_split() {
  return {{"gpu_row_split"}, true, gpu_parts::row_split_unsupported, gpu_parts::make_typed<gpu_parts::RowSplitKernel>};
}

}  // namespace kkc::spmv
