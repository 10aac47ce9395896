// spmv, gpu_multi_row: many vectors. The entries of a window of rows pass through shared memory; lanes of a row take 16
// bytes of each row of X. Vectors that lie one after the other are set side by side first, in workspace. Any strides.
#pragma once

#include "spmv_gpu_multi_windows.hpp"
#include "spmv_gpu_turned.hpp"

namespace kkc::spmv {
namespace gpu_parts {

template <class T, class I, class O>
class MultiRowKernel final : public Kernel {
 public:
  static constexpr int wide = pack_width<T>;

  MultiRowKernel(const Desc& desc, Queue& queue)
      : scaling_(queue),
        turned_(desc, queue, false),
        conjugate_(conjugates_values(desc)),
        count_(desc.vectors),
        rows_(desc.A.rows),
        large_(lanes_log2(wide, mean_row(desc)) >= gpu_tuning::large_from_lanes_log2),
        roomy_(gpu_tuning::large_windows(lanes_log2(wide, mean_row(desc)), desc.rows.longest)),
        mean_(mean_row(desc)),
        plan_(desc, queue, roomy_ ? gpu_tuning::short_large : gpu_tuning::short_small, gpu_tuning::multi_segment,
              false),
        windows_(desc, queue, roomy_ ? gpu_tuning::window_large : gpu_tuning::window_small),
        spread_(mean_ >= 0.75 * static_cast<double>(desc.rows.longest) ? desc.rows.longest : 1) {
    gpu::prepare<AddSegments<T, I, O>>(queue);
    with_kernel(true, [&]<class F>(Type<F>) { gpu::prepare<F>(queue, shared_bytes<F>()); });
    with_kernel(false, [&]<class F>(Type<F>) { gpu::prepare<F>(queue, shared_bytes<F>()); });
  }

  void execute(Queue& queue, const Args& args) override {
    if (count_ == 0 || rows_ == 0) return;
    if (scaling_.suffices(args)) return scaling_.run(queue, args);
    T* partial = static_cast<T*>(args.workspace);
    T* turned = partial + partial_elements();
    Vectors<T> v;
    Coefficients<T> c;
    turned_.begin(queue, args, turned, v, c);
    with_kernel(fits_packs(v), [&]<class F>(Type<F>) { multiply_all<F>(queue, args, v, c, partial); });
    turned_.end(queue, args, turned);
  }

  size_t workspace_bytes() const override {
    return static_cast<size_t>(partial_elements() + turned_.elements()) * sizeof(T);
  }
  void describe(Info& info) const override {
    turned_.describe(info);
    plan_.describe(info);
  }

 private:
  int lanes_log2(int width, double mean) const { return vector_lanes_log2(count_, width, mean); }

  template <class F>
  void with_kernel(bool packs, F&& f) const {
    if (large_) {
      if (packs) return f(Type<MultiRow<T, I, O, wide, 256, 4>>{});
      return f(Type<MultiRow<T, I, O, 1, 256, 4>>{});
    }
    if (packs) return f(Type<MultiRow<T, I, O, wide, 128, 4>>{});
    return f(Type<MultiRow<T, I, O, 1, 128, 4>>{});
  }

  template <class F>
  size_t shared_bytes() const {
    const size_t stage = windows_.stage_bytes(plan_.longs().longest_short, sizeof(T), spread_);
    return std::max(stage, static_cast<size_t>(F::threads) * F::width * sizeof(T));
  }

  template <class F>
  void multiply_all(Queue& queue, const Args& args, const Vectors<T>& v, const Coefficients<T>& c, T* partial) const {
    const int lanes = lanes_log2(F::width, mean_);
    const auto& longs = plan_.longs();
    const dim3 grid(gpu::blocks_for(windows_.windows().count + longs.segments, 1),
                    gpu::blocks_for(count_, int64_t{F::width} << lanes));
    const Rows<T, O> A = rows_of<T, O>(args.A, conjugate_);
    gpu::launch(queue, grid, F::threads, shared_bytes<F>(),
                F{A, columns_of<I>(args.A), windows_.windows(), longs, partial, v, c, lanes, spread_});
    launch_over(queue, longs.count * count_ * 32, AddSegments<T, I, O>{A, longs, partial, v, c});
  }

  int64_t partial_elements() const { return TurnedVectors<T>::padded(plan_.longs().segments * count_); }

  Scaling<T> scaling_;
  TurnedVectors<T> turned_;
  bool conjugate_;
  int64_t count_, rows_;
  bool large_, roomy_;
  double mean_;
  RowPlan<I, O> plan_;
  WindowPlan<I, O> windows_;
  BankSpread spread_;
};

inline std::string multi_row_unsupported(const Desc& desc) {
  if (transposes(desc.op)) return "takes op N and conj only";
  if (desc.vectors == 1) return "takes many vectors";
  if (desc.vectors > 65535) return "takes at most 65535 vectors";
  if (!rows_fit_ordinal(desc)) return "more rows than the index type counts";
  return "";
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_multi_row() {
  return {{"gpu_multi_row"}, true, gpu_parts::multi_row_unsupported, gpu_parts::make_typed<gpu_parts::MultiRowKernel>};
}

}  // namespace kkc::spmv
