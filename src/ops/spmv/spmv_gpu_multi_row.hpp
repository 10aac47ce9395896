// spmv, gpu_multi_row: many vectors. The entries of a window of rows pass through shared memory; lanes of a row take 16
// bytes of each row of X. Vectors that lie one after the other are set side by side first, in workspace. Any strides.
#pragma once

#include "spmv_gpu_driver.hpp"
#include "spmv_gpu_multi_col_kernels.hpp"
#include "spmv_gpu_multi_row_kernels.hpp"

namespace kkc::spmv {
namespace gpu_parts {

template <class T, class I, class O>
class MultiRowKernel final : public Kernel {
 public:
  static constexpr int wide = sizeof(T) >= 16 ? 1 : static_cast<int>(16 / sizeof(T));

  MultiRowKernel(const Desc& desc, Queue& queue)
      : scaling_(queue),
        conjugate_(conjugates_values(desc)),
        count_(desc.vectors),
        rows_(desc.A.rows),
        cols_(desc.A.cols),
        turns_x_(count_ > 1 && desc.x.strides[1] != 1 && cols_ > 1 && workspace_allowed(desc)),
        turns_y_(turns_x_ && desc.y.strides[1] != 1 && count_ >= gpu_tuning::turn_result_from),
        aligned_(count_ % wide == 0),
        large_(lanes_log2(wide, mean_row(desc)) >= gpu_tuning::large_from_lanes_log2),
        roomy_(gpu_tuning::large_windows(lanes_log2(wide, mean_row(desc)), desc.rows.longest)),
        mean_(mean_row(desc)),
        plan_(desc, queue, roomy_ ? gpu_tuning::short_large : gpu_tuning::short_small, gpu_tuning::multi_segment,
              false) {
    windows_.capacity = roomy_ ? gpu_tuning::window_large : gpu_tuning::window_small;
    windows_.count = (desc.A.nnz + rows_) / windows_.capacity + 1;
    starts_ = device_array<I>(desc, windows_.count + 1);
    windows_.starts = starts_.template as<I>();
    if (rows_ > 0)  // without rows there may be no offsets
      launch_over(
          queue, rows_ + 1,
          FindWindows<I, O>{offsets_of<O>(desc.A), starts_.template as<I>(), windows_.count, windows_.capacity});
    gpu::prepare<AddSegments<T, I, O>>(queue);
    gpu::prepare<TurnVectors<T>>(queue);
    with_kernel(true, [&]<class F>(Type<F>) { gpu::prepare<F>(queue, shared_bytes<F>()); });
    with_kernel(false, [&]<class F>(Type<F>) { gpu::prepare<F>(queue, shared_bytes<F>()); });
  }

  void execute(Queue& queue, const Args& args) override {
    if (count_ == 0 || rows_ == 0) return;
    if (scaling_.suffices(args)) return scaling_.run(queue, args);
    Vectors<T> v = vectors_of<T>(args.x, args.y);
    Coefficients<T> c = coefficients_of<T>(args);
    T* partial = static_cast<T*>(args.workspace);
    T* turned_x = partial + partial_elements();
    T* turned_y = turned_x + (turns_x_ ? padded(cols_ * count_) : 0);
    if (turns_x_) {
      turn(queue, TurnVectors<T>{v.x, turned_x, cols_, count_, v.x_row, v.x_vector, 0, false, c});
      v.x = turned_x;
      v.x_row = count_;
      v.x_vector = 1;
    }
    if (turns_y_) {
      v.y = turned_y;
      v.y_row = count_;
      v.y_vector = 1;
      c = {{one(), nullptr}, {T{}, nullptr}};
    }
    with_kernel(fits_packs(v), [&]<class F>(Type<F>) { multiply_all<F>(queue, args, v, c, partial); });
    if (turns_y_) {
      const Vectors<T> out = vectors_of<T>(args.x, args.y);
      turn(queue,
           TurnVectors<T>{turned_y, out.y, rows_, count_, out.y_row, out.y_vector, 0, true, coefficients_of<T>(args)});
    }
  }

  size_t workspace_bytes() const override {
    return static_cast<size_t>(partial_elements() + (turns_x_ ? padded(cols_ * count_) : 0) +
                               (turns_y_ ? padded(rows_ * count_) : 0)) *
           sizeof(T);
  }
  void describe(Info& info) const override {
    info.add("turns_x", int64_t{turns_x_});
    info.add("turns_y", int64_t{turns_y_});
    plan_.describe(info);
  }

 private:
  /// Kernels read and write 16 bytes at once where strides and pointers allow.
  bool fits_packs(const Vectors<T>& v) const {
    const auto whole = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; };
    return wide > 1 && aligned_ && v.x_vector == 1 && v.x_row % wide == 0 && whole(v.x) &&
           (v.y_vector != 1 || (v.y_row % wide == 0 && whole(v.y)));
  }

  int lanes_log2(int width, double mean) const {
    int log2 = 0;
    while (log2 < gpu_tuning::most_vector_lanes_log2(mean) && (int64_t{width} << log2) < count_) ++log2;
    return log2;
  }

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
    const size_t stage = static_cast<size_t>(windows_.capacity + plan_.longs().longest_short) * (sizeof(T) + sizeof(I));
    return std::max(stage, static_cast<size_t>(F::threads) * F::width * sizeof(T));
  }

  template <class F>
  void multiply_all(Queue& queue, const Args& args, const Vectors<T>& v, const Coefficients<T>& c, T* partial) const {
    const int lanes = lanes_log2(F::width, mean_);
    const auto& longs = plan_.longs();
    const dim3 grid(gpu::blocks_for(windows_.count + longs.segments, 1),
                    gpu::blocks_for(count_, int64_t{F::width} << lanes));
    const Rows<T, O> A = rows_of<T, O>(args.A, conjugate_);
    gpu::launch(queue, grid, F::threads, shared_bytes<F>(),
                F{A, columns_of<I>(args.A), windows_, longs, partial, v, c, lanes});
    launch_over(queue, longs.count * count_ * 32, AddSegments<T, I, O>{A, longs, partial, v, c});
  }

  void turn(Queue& queue, TurnVectors<T> f) const {
    while (f.columns_log2 < 5 && (int64_t{1} << f.columns_log2) < count_) ++f.columns_log2;
    const dim3 grid(gpu::blocks_for(f.rows, f.elements >> f.columns_log2),
                    gpu::blocks_for(count_, int64_t{1} << f.columns_log2));
    gpu::launch(queue, grid, f.threads, 0, f);
  }

  static T one() {
    if constexpr (gpu::is_pair<T>)
      return T{1, 0};
    else
      return T{1};
  }
  static int64_t padded(int64_t elements) { return (elements + 31) / 32 * 32; }
  int64_t partial_elements() const { return padded(plan_.longs().segments * count_); }
  bool workspace_allowed(const Desc& desc) const {
    const int64_t bytes = static_cast<int64_t>(sizeof(T)) * count_ * (cols_ + rows_);
    return desc.max_workspace < 0 || bytes <= desc.max_workspace / 2;
  }

  Scaling<T> scaling_;
  bool conjugate_;
  int64_t count_, rows_, cols_;
  bool turns_x_, turns_y_, aligned_, large_, roomy_;
  double mean_;
  RowPlan<I, O> plan_;
  Buffer starts_;
  Windows<I> windows_{};
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
