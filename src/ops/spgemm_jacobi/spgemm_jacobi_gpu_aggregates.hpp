// spgemm_jacobi, gpu_aggregates: B has exactly one entry in every row. The kernels of spgemm's gpu_aggregates with a
// factor for each row: row i of C is -omega d_i^-1 (A B)(i, :) + B(i, :), and B(i, :) falls on an entry that the plan
// knows. One pass over A.
#pragma once

#include "core/dispatch.hpp"
#include "ops/spgemm/spgemm_gpu_aggregates_numeric.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi_gpu_scaled.hpp"

namespace kkc::spgemm_jacobi {
namespace gpu_parts {

/// A row's factor.
template <class T>
struct JacobiScale {
  static constexpr bool scales = true;
  const T* inverse;  // null: of A's diagonal
  int64_t stride;
  Factor<T> omega;
  Zeros* zeros;

  __device__ T of(int64_t i, const T& diagonal, bool note) const {
    if (note && inverse == nullptr && gpu::is_zero(diagonal)) zeros->note(i);
    return negative(gpu::multiply(omega.get(), inverse == nullptr ? inverse_of(diagonal) : inverse[i * stride]));
  }
};

template <class T, class I>
class AggregatesKernel final : public Kernel {
 public:
  AggregatesKernel(const Desc& desc, ZeroRows zeros, Queue& queue, spgemm::gpu_parts::AggregatePattern found)
      : zeros_(std::move(zeros)), products_(desc.product.A.nnz), product_(queue, std::move(found)) {
    output_ = product_.found().output;
    output_.scalar = desc.product.scalar();
  }

  void execute(Queue& queue, const Args& args) override {
    const JacobiScale<T> scale{static_cast<const T*>(args.inverse), args.inverse_stride, factor<T>(args.omega),
                               zeros_.counter()};
    product_.run(queue, args.A, args.B, {static_cast<T*>(args.C), {}, {one<T>(), nullptr}, {T{}, nullptr}}, scale);
  }
  OutputPattern& output() override { return output_; }
  void describe(Info& info) const override {
    spgemm::gpu_parts::describe_aggregates(info, product_.found(), products_);
  }
  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    return zeros_.check(queue, where, count);
  }

 private:
  ZeroRows zeros_;
  OutputPattern output_;
  int64_t products_;
  spgemm::gpu_parts::AggregateProduct<T, I, JacobiScale<T>> product_;
};

inline std::string aggregates_unsupported(const Desc& desc) {
  if (!desc.product_name.empty()) return "multiplies itself, not by an implementation of spgemm";
  return spgemm::gpu_parts::not_single_entries(desc.product);
}

inline std::unique_ptr<Kernel> make_aggregates(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.product.scalar(), desc.product.A.pair, [&](auto scalar, auto pair) {
    using T = gpu::Element<typename decltype(scalar)::type>;
    using P = decltype(pair);
    using I = typename P::ordinal;
    ZeroRows zeros(desc, queue);
    auto found = spgemm::gpu_parts::AggregateSymbolic<I>(queue, desc.product, true).run();
    if (found.missing) zeros.refuse_rows_without_diagonal<I, typename P::offset>(desc.product.A, queue);
    if (!found.repeated)
      kernel = std::make_unique<AggregatesKernel<T, I>>(desc, std::move(zeros), queue, std::move(found));
  });
  // A row's diagonal that stands in several entries has no place of its own.
  return kernel != nullptr ? std::move(kernel) : make(desc, queue);
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_aggregates() {
  return {{"gpu_aggregates"}, true, gpu_parts::aggregates_unsupported, gpu_parts::make_aggregates};
}

}  // namespace kkc::spgemm_jacobi
