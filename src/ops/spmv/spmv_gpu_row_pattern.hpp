// spmv, gpu_row_pattern: rows name a pattern of relative columns in a small dictionary; 8 bytes a nonzero (f64) are
// left to read. For grids and other matrices with few kinds of rows; values are arbitrary.
#pragma once

#include "spmv_gpu_pattern_plan.hpp"

namespace kkc::spmv {
namespace gpu_parts {

template <class T, class I, class O>
class RowPatternKernel final : public Kernel {
 public:
  RowPatternKernel(const Desc& desc, Queue& queue)
      : scaling_(queue),
        conjugate_(conjugates_values(desc)),
        shape_(gpu_tuning::shape_of_patterns(mean_row(desc))),
        rows_(find_patterns<I, O>(desc, queue, false).rows) {
    with_kernel([&]<class F>(Type<F>) { gpu::prepare<F>(queue); });
  }

  void execute(Queue& queue, const Args& args) override {
    if (scaling_.suffices(args)) return scaling_.run(queue, args);
    with_kernel([&]<class F>(Type<F>) {
      launch_over(queue, args.A.rows * F::lanes,
                  F{rows_of<T, O>(args.A, conjugate_), columns_of<I>(args.A), rows_->patterns(),
                    vectors_of<T>(args.x, args.y), coefficients_of<T>(args)});
    });
  }
  void describe(Info& info) const override {
    info.add("lanes", int64_t{1} << gpu_tuning::shapes[shape_].lanes_log2);
    rows_->describe(info);
  }

 private:
  template <class F>
  void with_kernel(F&& f) const {
    with_shape(shape_, [&](auto shape) {
      constexpr gpu_tuning::Shape s = gpu_tuning::shapes[decltype(shape)::value];
      f(Type<RowPattern<T, I, O, s.lanes_log2, s.batch>>{});
    });
  }

  Scaling<T> scaling_;
  bool conjugate_;
  int shape_;
  std::shared_ptr<const RowPatterns<I, O>> rows_;
};

inline std::string row_pattern_unsupported(const Desc& desc) {
  if (std::string reason = not_one_vector(desc); !reason.empty()) return reason;
  if (!contiguous(desc.x) || !contiguous(desc.y)) return "takes no strided vectors";
  return no_patterns(desc);
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_row_pattern() {
  return {{"gpu_row_pattern"},
          true,
          gpu_parts::row_pattern_unsupported,
          gpu_parts::make_typed<gpu_parts::RowPatternKernel>};
}

}  // namespace kkc::spmv
