// spmv, gpu_row_binned: rows sorted into bins by length, each with its own number of lanes; long rows are cut into
// segments whose sums are added in order. For matrices with uneven rows. Any strides.
#pragma once

#include "spmv_gpu_driver.hpp"

namespace kkc::spmv {
namespace gpu_parts {

template <class T, class I, class O>
class RowBinnedKernel final : public Kernel {
 public:
  RowBinnedKernel(const Desc& desc, Queue& queue)
      : scaling_(queue),
        conjugate_(conjugates_values(desc)),
        plan_(desc, queue, gpu_tuning::longest_short_row >> finer(desc), gpu_tuning::row_segment >> finer(desc), true) {
    gpu::prepare<RowBinned<T, I, O>>(queue);
  }

  void execute(Queue& queue, const Args& args) override {
    if (scaling_.suffices(args)) return scaling_.run(queue, args);
    T* partial = static_cast<T*>(args.workspace);
    const auto& longs = plan_.longs();
    RowBinned<T, I, O> f{rows_of<T, O>(args.A, conjugate_),
                         columns_of<I>(args.A),
                         plan_.permutation(),
                         longs,
                         partial,
                         vectors_of<T>(args.x, args.y),
                         coefficients_of<T>(args),
                         0,
                         {}};
    gpu::launch(queue, plan_.place(f), f.threads, 0, f);
  }
  size_t workspace_bytes() const override { return static_cast<size_t>(plan_.longs().segments) * sizeof(T); }
  void describe(Info& info) const override { plan_.describe(info); }

 private:
  /// log2 of how much shorter rows that are cut, and segments, are where few entries leave room for more blocks.
  static int finer(const Desc& desc) { return desc.A.nnz <= gpu_tuning::entries_of_fine_segments ? 1 : 0; }

  Scaling<T> scaling_;
  bool conjugate_;
  RowPlan<I, O> plan_;
};

inline std::string row_binned_unsupported(const Desc& desc) {
  if (std::string reason = not_one_vector(desc); !reason.empty()) return reason;
  if (!rows_fit_ordinal(desc)) return "more rows than the index type counts";
  if (!irregular(desc)) return "rows are even";
  return "";
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_row_binned() {
  return {
      {"gpu_row_binned"}, true, gpu_parts::row_binned_unsupported, gpu_parts::make_typed<gpu_parts::RowBinnedKernel>};
}

}  // namespace kkc::spmv
