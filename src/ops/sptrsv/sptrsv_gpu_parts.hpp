// What sptrsv's drivers on GPUs share: the triangle with its levels, operands as kernels take them.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>

#include "core/dispatch.hpp"
#include "device/gpu_launch.hpp"
#include "ops/levels/levels_gpu_find.hpp"
#include "ops/sptrsv/sptrsv.hpp"
#include "sptrsv_gpu_kernels.hpp"

namespace kkc::sptrsv::gpu_parts {

template <class T>
Buffer device_array(const Desc& desc, int64_t count) {
  return Buffer(desc.memory, Space::device, static_cast<size_t>(count) * sizeof(T));
}

/// A's triangle and its levels, or the transposed triangle's: then with a pattern of its own.
template <class I, class O>
class PlannedTriangle {
 public:
  PlannedTriangle(const Desc& desc, Queue& queue)
      : rows_(desc.A.rows),
        base_(desc.A.base),
        lower_(solves_ascending(desc)),
        unit_(desc.diag == Diag::unit),
        conjugate_(conjugates(desc.op) && is_complex_scalar(desc.A.scalar)) {
    if (!transposes(desc.op)) {
      levels_ = levels_of(desc, queue);
      return;
    }
    transposed_.emplace(queue, desc.memory, desc.A);
    base_ = 0;
    levels_ = levels::find(queue, {transposed_->ref(desc.A), lower_ ? Uplo::lower : Uplo::upper, false, desc.memory});
    refuse_missing(desc, levels_->missing);
  }

  template <class T>
  Triangle<T, I, O> with_values(const CsrRef& A) const {
    Triangle<T, I, O> t{};
    t.offsets = transposed_ ? transposed_->offsets.template as<O>() : static_cast<const O*>(A.offsets);
    t.indices = transposed_ ? transposed_->indices.template as<I>() : static_cast<const I*>(A.indices);
    t.diagonal = levels_->diagonal->template as<O>();
    t.positions = transposed_ ? transposed_->positions.template as<O>() : nullptr;
    t.values = static_cast<const T*>(A.values);
    t.rows = rows_;
    t.base = base_;
    t.lower = lower_;
    t.parted = levels_->parted;
    t.unit = unit_;
    t.conjugate = conjugate_;
    return t;
  }

  const Levels& levels() const { return *levels_; }
  /// Those of A itself, for other plans.
  std::shared_ptr<const Levels> shared_levels() const { return transposed_ ? nullptr : levels_; }
  size_t bytes() const {
    return levels_->order->bytes() + levels_->diagonal->bytes() +
           (levels_->device_starts ? levels_->device_starts->bytes() : 0) + (transposed_ ? transposed_->bytes() : 0);
  }

 private:
  int64_t rows_;
  int32_t base_;
  bool lower_, unit_, conjugate_;
  std::optional<levels::gpu_parts::TransposedPattern<I, O>> transposed_;
  std::shared_ptr<const Levels> levels_;
};

template <class T>
Operands<T> operands_of(const Args& args) {
  const auto stride = [](const DenseRef& v) { return v.rank == 2 ? v.strides[1] : 0; };
  return {static_cast<const T*>(args.b.data),
          static_cast<T*>(args.x.data),
          args.b.strides[0],
          stride(args.b),
          args.x.strides[0],
          stride(args.x),
          args.x.rank == 2 ? args.x.extents[1] : 1,
          factor<T>(args.alpha)};
}

/// The powers of two, of at most 32 lanes, by which a row's work is shared.
struct Lanes {
  int entries_log2, columns_log2;
  int log2() const { return entries_log2 + columns_log2; }
};
inline Lanes lanes_for(double entries_a_row, int64_t vectors) {
  const auto log2_of = [](double count) {
    return static_cast<int>(std::bit_width(static_cast<uint64_t>(std::max(0.0, count - 1))));
  };
  const int columns = std::min(5, log2_of(static_cast<double>(vectors)));
  return {std::min(5 - columns, log2_of(entries_a_row)), columns};
}

/// Calls make(T{}, I{}, O{}) for the case's types.
template <class F>
void with_types(const Desc& desc, const F& make) {
  dispatch(desc.A.scalar, desc.A.pair, [&](auto s, auto p) {
    using P = decltype(p);
    make(gpu::Element<typename decltype(s)::type>{}, typename P::ordinal{}, typename P::offset{});
  });
}

}  // namespace kkc::sptrsv::gpu_parts
