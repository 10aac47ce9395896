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
  return Buffer(Memory::in_order(desc.memory), Space::device, static_cast<size_t>(count) * sizeof(T));
}

/// What a plan knows of its triangle without its arrays.
struct Shape {
  explicit Shape(const Desc& desc)
      : rows(desc.A.rows),
        base(desc.A.base),
        lower(solves_ascending(desc)),
        unit(desc.diag == Diag::unit),
        conjugate(conjugates(desc.op) && is_complex_scalar(desc.A.scalar)) {}

  /// A's own.
  template <class T, class I, class O>
  Triangle<T, I, O> with_values(const CsrRef& A, const O* diagonal, bool parted) const {
    Triangle<T, I, O> t{};
    t.offsets = static_cast<const O*>(A.offsets);
    t.indices = static_cast<const I*>(A.indices);
    t.diagonal = diagonal;
    t.values = static_cast<const T*>(A.values);
    t.rows = rows;
    t.base = base;
    t.lower = lower;
    t.parted = parted;
    t.unit = unit;
    t.conjugate = conjugate;
    return t;
  }

  int64_t rows;
  int32_t base;
  bool lower, unit, conjugate;
};

/// A workspace of tickets, then `numbers`, each its own flag: whole pieces for forget_all.
inline size_t flagged_bytes(size_t ticket_bytes, int64_t numbers, size_t each) {
  const size_t bytes = ticket_bytes + static_cast<size_t>(numbers) * each;
  return (bytes + sizeof(uint4) - 1) / sizeof(uint4) * sizeof(uint4);
}
inline void forget_all(Queue& queue, void* workspace, size_t bytes) {
  const auto words = static_cast<int64_t>(bytes / sizeof(uint4));
  gpu::launch(queue, std::min(gpu::blocks_for(words, Fill::threads * 4), 4096u), Fill::threads, 0,
              Fill{static_cast<uint4*>(workspace), words, ~0u});
}

/// A's triangle and its levels, or the transposed triangle's: then with a pattern of its own.
template <class I, class O>
class PlannedTriangle {
 public:
  PlannedTriangle(const Desc& desc, Queue& queue) : shape_(desc) {
    if (!transposes(desc.op)) {
      levels_ = levels_of(desc, queue);
      return;
    }
    transposed_.emplace(queue, desc.memory, desc.A);
    shape_.base = 0;
    levels_ =
        levels::find(queue, {transposed_->ref(desc.A), shape_.lower ? Uplo::lower : Uplo::upper, false, desc.memory});
    refuse_missing(desc, levels_->missing);
  }

  template <class T>
  Triangle<T, I, O> with_values(const CsrRef& A) const {
    auto t = shape_.template with_values<T, I, O>(A, levels_->diagonal->template as<O>(), levels_->parted);
    if (transposed_) {
      t.offsets = transposed_->offsets.template as<O>();
      t.indices = transposed_->indices.template as<I>();
      t.positions = transposed_->positions.template as<O>();
    }
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
  Shape shape_;
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
