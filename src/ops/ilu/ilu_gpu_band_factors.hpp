// The gpu_band of ilu and ic: plan and execute.
#pragma once

#include <algorithm>

#include "core/dispatch.hpp"
#include "device/gpu_scan.hpp"
#include "ilu_gpu_band_kernels.hpp"
#include "ilu_gpu_pattern.hpp"

namespace kkc::ilu {
namespace gpu_parts {

inline constexpr int widest_band = 64;
inline constexpr size_t most_band_bytes = 192 << 10, few_bytes = 256;  // of shared memory; what else a block has there
/// What a row of a band takes, and what waiting for a level takes elsewhere, ns on an H200.
inline constexpr int64_t band_row_ns = 220, pairs_a_ns = 8, level_ns = 800;

template <Form form>
std::shared_ptr<const BandWidth> band_width(const Desc& desc, Queue& queue) {
  if (!desc.found_band) {
    auto width = std::make_shared<BandWidth>();
    const Buffer device(Memory::in_order(desc.memory), Space::device, sizeof(BandWidth));
    gpu::clear_words(queue, device.data(), device.bytes());
    dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto pair) {
      using I = typename decltype(pair)::ordinal;
      using O = typename decltype(pair)::offset;
      using Measure = MeasureBand<form, I, O>;
      gpu::launch(
          queue, std::min(gpu::blocks_for(desc.A.rows, Measure::threads), 512u), Measure::threads, 0,
          Measure{desc.factors.offsets->as<O>(), desc.factors.indices->as<I>(), desc.A.rows, device.as<BandWidth>()});
    });
    *width = gpu::read_back<BandWidth>(queue, device.data());
    desc.found_band = std::move(width);
  }
  return std::static_pointer_cast<const BandWidth>(desc.found_band);
}

/// How a band lies in shared memory, and who eliminates.
struct BandShape {
  int lower, upper, each, stride, stage, eliminating;

  explicit BandShape(const BandWidth& width) : lower(width.lower), upper(std::max(width.upper, 1)) {
    const auto in_groups = [&](int of) { return (upper + of - 1) / of; };
    each = lower * in_groups(4) <= most_eliminating ? 4 : 8;
    // Even, so that neighbouring rows' diagonals lie in banks beside each other.
    stride = (lower + 1 + each * in_groups(each) + 1) / 2 * 2;
    stage = lower <= 32 ? 32 : 16;
    eliminating = (lower * in_groups(each) + 31) / 32 * 32;
  }
  size_t bytes(size_t element) const {
    return (static_cast<size_t>(held) * static_cast<size_t>(stride) + held) * element;
  }
  static constexpr int held = 128, most_eliminating = 512;
};

template <class E, Form form, class I, class O>
class BandKernel final : public Kernel {
 public:
  BandKernel(const Desc& desc, Queue& queue)
      : factors_(desc.factors),
        rule_(desc.pivots),
        found_(desc.memory, queue),
        levels_(levels_of(desc, queue)),
        shape_(*band_width<form>(desc, queue)) {
    with_each([&]<class Functor>(Functor) { gpu::prepare<Functor>(queue, shape_.bytes(sizeof(E))); });
  }

  void execute(Queue& queue, const Args& args) override {
    with_each([&]<class Functor>(Functor) {
      static_assert(Functor::held == BandShape::held);
      const Functor functor{static_cast<const O*>(args.factors.offsets),
                            factors_.diagonal->template as<O>(),
                            static_cast<const I*>(args.factors.indices),
                            ilu_pattern::ValueSource<O>(factors_),
                            static_cast<const E*>(args.A.values),
                            static_cast<E*>(const_cast<void*>(args.factors.values)),
                            rule_,
                            found_.counter(),
                            args.factors.rows,
                            shape_.lower,
                            shape_.upper,
                            shape_.stride,
                            shape_.stage,
                            shape_.eliminating};
      gpu::launch(queue, 1, static_cast<unsigned>(shape_.eliminating + 2 * Functor::moving), shape_.bytes(sizeof(E)),
                  functor);
    });
  }

  int64_t plan_bytes() const override {
    return static_cast<int64_t>(levels_->order->bytes() + levels_->diagonal->bytes() + found_.bytes());
  }
  std::shared_ptr<const Levels> levels() const override { return levels_; }
  void describe(Info& info) const override {
    info.add("levels", levels_->count);
    info.add("below_diagonal", int64_t{shape_.lower});
    info.add("right_of_diagonal", int64_t{form == Form::lu ? shape_.upper : 0});
  }
  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    return found_.check(queue, where, count);
  }

 private:
  template <class F>
  void with_each(const F& f) const {
    if (shape_.each == 4)
      f(FactorBand<E, form, I, O, 4>{});
    else
      f(FactorBand<E, form, I, O, 8>{});
  }

  FactorPattern factors_;
  Rule<RealPart<E>> rule_;
  FoundRows found_;
  std::shared_ptr<const Levels> levels_;
  BandShape shape_;
};

template <Form form>
std::unique_ptr<Kernel> make_band(const Desc& desc, Queue& queue) {
  return make_kernel<BandKernel, form>(desc, queue);
}

/// Finds levels where rows are short, and looks at rows where levels are narrow.
template <Form form>
std::string band_unsupported(const Desc& desc) {
  const int64_t rows = desc.A.rows;
  if (rows == 0) return "there are no rows";
  constexpr int longest = 2 * widest_band + 2;  // a bound of it counts a diagonal entry that may be missing
  if (desc.longest_row > longest)
    return cat("takes rows of at most ", longest, " entries, the factors may have one of ", desc.longest_row);
  return reason_of(desc, [&](Queue& queue) -> std::string {
    const int64_t levels = levels_of(desc, queue)->count;
    if (levels == 1 || rows * band_row_ns > levels * level_ns)
      return cat("takes narrow levels, ", rows, " rows have ", levels);
    const BandWidth width = *band_width<form>(desc, queue);
    if (const int widest = std::max(width.lower, width.upper); widest > widest_band)
      return cat("takes entries up to ", widest_band, " from the diagonal, there are some at ", widest);
    const BandShape shape(width);
    int room = 0;
    gpu::check(gpu::largest_shared(room, queue.device_id()), "reading the shared memory's size");
    const size_t most = std::min(most_band_bytes, static_cast<size_t>(room) - few_bytes);
    if (const size_t bytes = shape.bytes(size_of(desc.A.scalar)); bytes > most)
      return cat("takes bands of at most ", most, " bytes of shared memory, this one needs ", bytes);
    if (rows * (band_row_ns + shape.lower * shape.upper / pairs_a_ns) > levels * level_ns)
      return cat("takes narrow levels for a band of ", shape.lower, " and ", shape.upper, ", ", rows, " rows have ",
                 levels);
    return {};
  });
}

}  // namespace gpu_parts
}  // namespace kkc::ilu
