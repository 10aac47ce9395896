// spgemm_jacobi through spgemm: the entries of I - omega D^-1 A are written to the workspace, in A's pattern, and an
// implementation of spgemm multiplies them with B. What it costs beside the product is one pass over A.
#pragma once

#include "core/dispatch.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi.hpp"

namespace kkc::spgemm_jacobi {

/// The first implementation of spgemm that takes the product (of the name that was asked for), or null with the reason.
inline const spgemm::Implementation* product_of(const DeviceTable& table, const spgemm::Desc& desc,
                                                const std::string& name, std::string& reason) {
  const OperationTable* known = find_operation(table, "spgemm");
  reason = name.empty() ? "no implementation of spgemm takes the product" : "spgemm has no implementation " + name;
  for (int32_t i = 0; known != nullptr && i < known->count; ++i) {
    const auto* candidate = static_cast<const spgemm::Implementation*>(known->entries[i]);
    if (!name.empty() && name != candidate->name) continue;
    std::string why =
        desc.deterministic && !candidate->deterministic ? "not deterministic" : candidate->unsupported(desc);
    if (why.empty()) return candidate;
    if (!name.empty()) reason = "spgemm's " + name + ": " + why;
  }
  return nullptr;
}

/// Scaler<Dev>: what a device does with A's rows.
///   void check(const CsrRef& A): refuses rows without a diagonal entry
///   void scale(Queue&, const Args&, void* values): values of I - omega D^-1 A
///   kkc_status_t check(Queue&, where, count): as Kernel's
template <class Scaler>
class ScaledKernel final : public Kernel {
 public:
  ScaledKernel(const Desc& desc, Queue& queue, const std::string& name)
      : scaler_(desc, queue), own_bytes_(rounded(values_bytes_of(desc.product.A))) {
    spgemm::Desc product = desc.product;
    if (product.max_workspace >= 0) {
      require(own_bytes_ <= static_cast<size_t>(product.max_workspace), KKC_STATUS_NOT_SUPPORTED,
              "the scaled entries of A need ", own_bytes_, " bytes of workspace, more than max_workspace, ",
              product.max_workspace);
      product.max_workspace -= static_cast<int64_t>(own_bytes_);
    }
    std::string reason;
    const auto* const chosen = product_of(queue.table(), product, name, reason);
    require(chosen != nullptr, KKC_STATUS_NOT_SUPPORTED, reason);
    name_ = chosen->name;
    kernel_ = chosen->make(product, queue);
    dispatch_scalar(AllScalars{}, product.scalar(), [&](auto type) {
      using T = typename decltype(type)::type;
      *reinterpret_cast<T*>(one_) = T(1);
      *reinterpret_cast<T*>(zero_) = T(0);
    });
  }

  void execute(Queue& queue, const Args& args) override {
    scaler_.scale(queue, args, args.workspace);
    spgemm::Args product{};
    product.alpha = {one_, false};
    product.beta = {zero_, false};
    product.A = args.A;
    product.A.values = args.workspace;
    product.B = args.B;
    product.C = args.C;
    product.workspace = static_cast<char*>(args.workspace) + own_bytes_;
    kernel_->execute(queue, product);
  }

  OutputPattern& output() override { return kernel_->output; }
  size_t workspace_bytes() const override { return own_bytes_ + kernel_->workspace_bytes(); }
  void describe(Info& info) const override {
    info.add("product", name_);
    kernel_->describe(info);
  }
  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    return scaler_.check(queue, where, count);
  }

 private:
  static size_t values_bytes_of(const CsrRef& A) { return static_cast<size_t>(A.nnz) * size_of(A.scalar); }
  static size_t rounded(size_t bytes) { return (bytes + memory_alignment - 1) / memory_alignment * memory_alignment; }

  Scaler scaler_;
  size_t own_bytes_;
  std::string name_;
  std::unique_ptr<spgemm::Kernel> kernel_;
  alignas(16) char one_[16] = {}, zero_[16] = {};
};

inline std::string scaled_unsupported(const Desc&) { return {}; }

}  // namespace kkc::spgemm_jacobi
