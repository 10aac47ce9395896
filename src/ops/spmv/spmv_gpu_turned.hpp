// Vectors that lie one after the other are set side by side in workspace, where lanes read whole lines, and results of
// many vectors are turned back.
#pragma once

#include "spmv_gpu_driver.hpp"
#include "spmv_gpu_multi_col_kernels.hpp"

namespace kkc::spmv::gpu_parts {

/// What of a product with many vectors passes through workspace.
template <class T>
class TurnedVectors {
 public:
  /// always_y: y is needed side by side whatever the number of vectors.
  TurnedVectors(const Desc& desc, Queue& queue, bool always_y)
      : count_(desc.vectors),
        x_rows_(desc.x.extents[0]),
        y_rows_(desc.y.extents[0]),
        turns_x_(count_ > 1 && desc.x.strides[1] != 1 && x_rows_ > 1 && allowed(desc)),
        turns_y_(always_y ? count_ > 1 && desc.y.strides[1] != 1 && y_rows_ > 1 && allowed(desc)
                          : turns_x_ && desc.y.strides[1] != 1 && count_ >= gpu_tuning::turn_result_from) {
    gpu::prepare<TurnVectors<T>>(queue);
  }

  int64_t elements() const { return (turns_x_ ? padded(x_rows_ * count_) : 0) + (turns_y_ ? padded(y_elements()) : 0); }
  int64_t y_elements() const { return y_rows_ * count_; }
  bool turns_x() const { return turns_x_; }
  bool turns_y() const { return turns_y_; }
  static int64_t padded(int64_t elements) { return (elements + 31) / 32 * 32; }

  /// The operands that the product shall work on; workspace has room for elements(). The turned y is not filled; alpha
  /// stays the product's, which may have to read nothing, beta is end()'s.
  void begin(Queue& queue, const Args& args, T* workspace, Vectors<T>& v, Coefficients<T>& c) const {
    v = vectors_of<T>(args.x, args.y);
    c = coefficients_of<T>(args);
    if (turns_x_) {
      turn(queue, TurnVectors<T>{v.x, workspace, x_rows_, count_, v.x_row, v.x_vector, 0, false, c});
      v.x = workspace;
      v.x_row = count_;
      v.x_vector = 1;
    }
    if (turns_y_) {
      v.y = turned_y(workspace);
      v.y_row = count_;
      v.y_vector = 1;
      c.beta = {T{}, nullptr};
    }
  }
  void end(Queue& queue, const Args& args, T* workspace) const {
    if (!turns_y_) return;
    const Vectors<T> out = vectors_of<T>(args.x, args.y);
    turn(queue, TurnVectors<T>{turned_y(workspace),
                               out.y,
                               y_rows_,
                               count_,
                               out.y_row,
                               out.y_vector,
                               0,
                               true,
                               {{one(), nullptr}, coefficients_of<T>(args).beta}});
  }
  void describe(Info& info) const {
    info.add("turns_x", int64_t{turns_x_});
    info.add("turns_y", int64_t{turns_y_});
  }

 private:
  T* turned_y(T* workspace) const { return workspace + (turns_x_ ? padded(x_rows_ * count_) : 0); }
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
  bool allowed(const Desc& desc) const {
    const int64_t bytes = static_cast<int64_t>(sizeof(T)) * count_ * (x_rows_ + y_rows_);
    return desc.max_workspace < 0 || bytes <= desc.max_workspace / 2;
  }

  int64_t count_, x_rows_, y_rows_;
  bool turns_x_, turns_y_;
};

/// Elements of 16 bytes.
template <class T>
inline constexpr int pack_width = sizeof(T) >= 16 ? 1 : static_cast<int>(16 / sizeof(T));

/// Whether kernels may read and write 16 bytes at once.
template <class T>
bool fits_packs(const Vectors<T>& v) {
  constexpr int wide = pack_width<T>;
  const auto whole = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; };
  return wide > 1 && v.count % wide == 0 && v.x_vector == 1 && v.x_row % wide == 0 && whole(v.x) &&
         (v.y_vector != 1 || (v.y_row % wide == 0 && whole(v.y)));
}

/// Lanes of a row, `width` vectors each.
inline int vector_lanes_log2(int64_t count, int width, double mean) {
  int log2 = 0;
  while (log2 < gpu_tuning::most_vector_lanes_log2(mean) && (int64_t{width} << log2) < count) ++log2;
  return log2;
}

}  // namespace kkc::spmv::gpu_parts
