// spmv, gpu_row_staged: for even rows whose columns are far from one another: a block reads the entries of its rows as
// one run and adds their products in shared memory. Any strides.
#pragma once

#include "spmv_gpu_driver.hpp"
#include "spmv_gpu_row_staged_kernels.hpp"

namespace kkc::spmv {
namespace gpu_parts {

template <class T, class I, class O>
class RowStagedKernel final : public Kernel {
 public:
  using Multiply = RowStaged<T, I, O, 2>;

  RowStagedKernel(const Desc& desc, Queue& queue)
      : scaling_(queue),
        conjugate_(conjugates_values(desc)),
        rows_a_block_(static_cast<int32_t>(Multiply::capacity / desc.rows.longest)) {
    gpu::prepare<Multiply>(queue);
  }

  void execute(Queue& queue, const Args& args) override {
    if (scaling_.suffices(args)) return scaling_.run(queue, args);
    gpu::launch(queue, gpu::blocks_for(args.A.rows, rows_a_block_), Multiply::threads, 0,
                Multiply{rows_of<T, O>(args.A, conjugate_), columns_of<I>(args.A), vectors_of<T>(args.x, args.y),
                         coefficients_of<T>(args), rows_a_block_});
  }
  void describe(Info& info) const override { info.add("rows_a_block", int64_t{rows_a_block_}); }

 private:
  Scaling<T> scaling_;
  bool conjugate_;
  int32_t rows_a_block_;
};

inline std::string row_staged_unsupported(const Desc& desc) {
  if (std::string reason = not_one_vector(desc); !reason.empty()) return reason;
  const double mean = mean_row(desc), longest = static_cast<double>(desc.rows.longest);
  if (mean < gpu_tuning::staged_from_mean || mean > gpu_tuning::staged_to_mean) return "rows are too short or too long";
  if (longest > gpu_tuning::staged_unevenness * mean) return "rows are uneven";
  return "";
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_row_staged() {
  return {
      {"gpu_row_staged"}, true, gpu_parts::row_staged_unsupported, gpu_parts::make_typed<gpu_parts::RowStagedKernel>};
}

}  // namespace kkc::spmv
