// The numeric phase of spgemm's gpu_hash as a plan keeps it.
#pragma once

#include "core/dispatch.hpp"
#include "ops/spgemm/spgemm.hpp"
#include "spgemm_gpu_numeric.hpp"

namespace kkc::spgemm::gpu_parts {

template <class T, class I>
class HashKernel final : public Kernel {
 public:
  using Left = PlainLeftValues<T, I>;

  HashKernel(const Desc& desc, Queue& queue, Found found) : numeric_(queue, std::move(found), desc.A.nnz) {
    output = numeric_.found().output;
    output.scalar = desc.scalar();
  }

  void execute(Queue& queue, const Args& args) override {
    numeric_.run(queue,
                 Left{{pattern_of<I>(args.A), nullptr},
                      static_cast<const T*>(args.A.values),
                      {args.positions_A, offset_size(args.A.pair) == 8, 0}},
                 {pattern_of<I>(args.B), static_cast<const T*>(args.B.values)},
                 {static_cast<T*>(args.C), {}, factor<T>(args.alpha), factor<T>(args.beta)});
  }
  /// Values out of order cost little where each is read once.
  bool takes_positions() const override {
    return numeric_.found().slots.data() != nullptr || numeric_.found().tiles.there();
  }
  bool knows_positions() const override { return numeric_.found().gathered.all(); }
  void describe(Info& info) const override {
    const Found& found = numeric_.found();
    info.add("products", found.products);
    info.add("plan_bytes", static_cast<int64_t>(numeric_.plan_bytes()));
    info.add("row_classes", int64_t{found.classes});
    info.add("keeps_slots", int64_t{found.slots.data() != nullptr || found.keeps_piece_slots()});
    info.add("ordered_products", int64_t{found.ordered()});
    info.add("one_pass", int64_t{found.one_pass});
    info.add("windows", int64_t{found.windows});
    info.add("tiles", found.tiles.count);
    info.add("pieces", found.slotted.pieces.count);
    info.add("longest_row", int64_t{std::max(found.longest, found.gathered.longest)});
    info.add("gathered_entries", found.gathered.entries);
  }

 private:
  Numeric<Left, T, I> numeric_;
};

/// For those of the types `Ts` that this build has.
template <class... Ts>
std::unique_ptr<Kernel> make_kernel(const Desc& desc, Queue& queue, Found found) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.scalar(), desc.A.pair, [&](auto s, auto pair) {
    using S = typename decltype(s)::type;
    using I = typename decltype(pair)::ordinal;
    if constexpr ((std::is_same_v<S, Ts> || ...))
      kernel = std::make_unique<HashKernel<gpu::Element<S>, I>>(desc, queue, std::move(found));
  });
  return kernel;
}

}  // namespace kkc::spgemm::gpu_parts
