// spgemm, gpu_aggregates: B has exactly one entry in every row, as tentative prolongators have.
#pragma once

#include "core/dispatch.hpp"
#include "spgemm_gpu_aggregates_numeric.hpp"

namespace kkc::spgemm {
namespace gpu_parts {

template <class T, class I>
class AggregatesKernel final : public Kernel {
 public:
  AggregatesKernel(const Desc& desc, Queue& queue)
      : product_(queue, AggregateSymbolic<I>(queue, desc, false).run()), products_(desc.A.nnz) {
    output = product_.found().output;
    output.scalar = desc.scalar();
  }

  void execute(Queue& queue, const Args& args) override {
    product_.run(queue, args.A, args.B, {static_cast<T*>(args.C), {}, factor<T>(args.alpha), factor<T>(args.beta)}, {});
  }
  void describe(Info& info) const override { describe_aggregates(info, product_.found(), products_); }

 private:
  AggregateProduct<T, I, AsMultiplied<T>> product_;
  int64_t products_;
};

inline std::unique_ptr<Kernel> make_aggregates(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.scalar(), desc.A.pair, [&](auto scalar, auto pair) {
    using T = gpu::Element<typename decltype(scalar)::type>;
    kernel = std::make_unique<AggregatesKernel<T, typename decltype(pair)::ordinal>>(desc, queue);
  });
  return kernel;
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_aggregates() {
  return {{"gpu_aggregates"}, true, gpu_parts::not_single_entries, gpu_parts::make_aggregates};
}

}  // namespace kkc::spgemm
