// spgemm, rocsparse: AMD's library (rocsparse_spgemm, whose numeric stage runs alone). It is given no C to add: the sum
// that it would offer wants C's pattern before it has found it. Its numeric stage sorts rows by length anew each time
// and reads the counts back, so execute blocks for a moment and cannot be captured; rows of more than 4096 entries, for
// which it allocates, are refused.
#include <memory>

#include "ops/spgemm/spgemm_vendor.hpp"
#include "vendor/rocsparse/rocsparse.hpp"

namespace kkc::spgemm {
namespace {

using namespace vendor_parts;

/// C = sums + beta C
template <class S>
struct AddScaled {
  static constexpr int threads = 256;
  const S* sums;
  S* C;
  int64_t count;
  S beta;

  __device__ void operator()() const {
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x; i < count;
         i += static_cast<int64_t>(gridDim.x) * threads)
      C[i] = gpu::multiply_add(beta, C[i], sums[i]);
  }
};

template <class F>
void with_element(Scalar scalar, const F& f) {
  dispatch_scalar(Scalars{}, scalar, [&](auto s) { f(gpu::Element<typename decltype(s)::type>{}); });
}

class RocsparseKernel final : public Kernel {
 public:
  RocsparseKernel(const Desc& desc, Queue& queue, int64_t products)
      : library_(*rocsparse::library()),
        type_(rocsparse::type_of(desc.scalar())),
        products_(products),
        handle_(queue),
        pattern_A_(desc, queue, desc.A),
        pattern_B_(desc, queue, desc.B),
        offsets_(std::make_shared<const Buffer>(cleared(desc, queue, offsets_bytes(desc)))),
        A_(pattern_A_.with(nullptr)),
        B_(pattern_B_.with(nullptr)),
        C_(unknown(desc, *offsets_)) {
    const Buffer a = trial_values(desc, queue, desc.A.nnz), b = trial_values(desc, queue, desc.B.nnz);
    A_.set(pattern_A_.with(a.data()));
    B_.set(pattern_B_.with(b.data()));
    const void* const one = spmv::one(desc.scalar());
    size_t bytes = 0;
    step(queue, one, rocsparse_spgemm_stage_buffer_size, &bytes, nullptr);
    buffer_ = Buffer(desc.memory, Space::device, std::max(bytes, memory_alignment));
    step(queue, one, rocsparse_spgemm_stage_nnz, &bytes, buffer_.data());
    output = output_of(desc, offsets_, C_.nnz());

    const Buffer c = trial_values(desc, queue, output.nnz);
    set_values(c.data());
    step(queue, one, rocsparse_spgemm_stage_symbolic, &bytes, buffer_.data());
    require_order(desc, queue, output, "rocSPARSE");
    // Loads every kernel that execute may choose.
    spmv::prepare_scale(queue, values_of(output.scalar, output.nnz, c.data()));
    with_element(output.scalar, [&]<class S>(S) { gpu::prepare<AddScaled<S>>(queue); });
    for (const void* alpha : {one, spmv::two(desc.scalar())}) compute(queue, alpha);
    queue.synchronize();
  }

  void execute(Queue& queue, const Args& args) override {
    if (spmv::is_zero(args.alpha, output.scalar))
      return spmv::scale(queue, args.beta, values_of(output.scalar, output.nnz, args.C));
    const bool adds = !spmv::is_zero(args.beta, output.scalar);
    A_.set(pattern_A_.with(args.A.values));
    B_.set(pattern_B_.with(args.B.values));
    set_values(adds ? args.workspace : args.C);
    compute(queue, args.alpha.pointer);
    if (!adds) return;
    with_element(output.scalar, [&]<class S>(S) {
      const AddScaled<S> f{static_cast<const S*>(args.workspace), static_cast<S*>(args.C), output.nnz,
                           factor<S>(args.beta).value};
      gpu::launch(queue, std::min(gpu::blocks_for(output.nnz, f.threads), 65536u), f.threads, 0, f);
    });
  }

  size_t workspace_bytes() const override { return static_cast<size_t>(output.nnz) * size_of(output.scalar); }

  void describe(Info& info) const override {
    info.add("products", products_);
    info.add("plan_bytes", static_cast<int64_t>(pattern_A_.bytes() + pattern_B_.bytes() + buffer_.bytes()));
    info.add("rocsparse_buffer_bytes", static_cast<int64_t>(buffer_.bytes()));
  }

 private:
  /// C before its pattern is known.
  static CsrRef unknown(const Desc& desc, const Buffer& offsets) {
    return {desc.pair, desc.scalar(), 0, desc.rows(), desc.cols(), 0, offsets.data(), nullptr, nullptr};
  }

  void set_values(void* values) const {
    CsrRef C = output.ref();
    C.values = values;
    C_.set(C);
  }

  void step(const Queue& queue, const void* alpha, rocsparse_spgemm_stage stage, size_t* bytes, void* buffer) const {
    rocsparse::check(library_.spgemm(handle_.on(queue), rocsparse_operation_none, rocsparse_operation_none, alpha,
                                     A_.get(), B_.get(), nullptr, C_.get(), C_.get(), type_,
                                     rocsparse_spgemm_alg_default, stage, bytes, buffer),
                     "rocsparse_spgemm");
  }
  void compute(const Queue& queue, const void* alpha) const {
    size_t bytes = buffer_.bytes();
    step(queue, alpha, rocsparse_spgemm_stage_numeric, &bytes, buffer_.data());
  }

  const rocsparse::Library& library_;
  rocsparse_datatype type_;
  int64_t products_;
  rocsparse::Handle handle_;
  KeptPattern pattern_A_, pattern_B_;
  std::shared_ptr<const Buffer> offsets_;
  Buffer buffer_;
  rocsparse::SparseMatrix A_, B_, C_;
};

std::string unsupported(const Desc& desc) {
  constexpr int64_t longest = 4096;
  std::string reason;
  if (rocsparse::library(&reason) == nullptr) return reason;
  return vendor_unsupported(desc, "rocSPARSE", [&](const Look& look) {
    const int64_t most = std::min<int64_t>(look.most, desc.cols());
    if (most > longest)
      return cat("rocSPARSE allocates for rows of more than ", longest, " entries, a row of C may have ", most);
    if (offset_size(desc.pair) == 4 && look.products >= INT32_MAX)
      return cat("rocSPARSE counts C's entries in 32 bits, there are ", look.products, " products");
    return std::string();
  });
}

std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  const Look look = look_at(desc, queue);
  if (look.products == 0) return std::make_unique<EmptyKernel>(desc, queue);
  return std::make_unique<RocsparseKernel>(desc, queue, look.products);
}

}  // namespace

#ifndef __HIP_DEVICE_COMPILE__  // clang would put constants into device code, and the host's functions with them
extern const Implementation rocsparse_hip;
const Implementation rocsparse_hip = {{"rocsparse"}, false, &unsupported, &make};
#endif

}  // namespace kkc::spgemm
