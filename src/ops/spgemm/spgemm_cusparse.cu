// spgemm, cusparse: NVIDIA's library, for comparison and as a second opinion. cusparseSpGEMMreuse keeps its symbolic
// phase; the plan runs the numeric one on memory of its own, so that nothing is loaded later. cusparseSpGEMM (ALG1 to
// ALG3) is no implementation: it has no phase of its own for values, and each product of it allocates and blocks.
#include <memory>

#include "ops/spgemm/spgemm_vendor.hpp"
#include "vendor/cusparse/cusparse.hpp"

namespace kkc::spgemm {
namespace {

using namespace vendor_parts;

class CusparseKernel final : public Kernel {
 public:
  CusparseKernel(const Desc& desc, Queue& queue, int64_t products)
      : library_(*cusparse::library()),
        type_(cusparse::type_of(desc.scalar())),
        products_(products),
        handle_(queue),
        pattern_A_(desc, queue, desc.A),
        pattern_B_(desc, queue, desc.B),
        A_(pattern_A_.with(nullptr)),
        B_(pattern_B_.with(nullptr)),
        C_(unknown(desc)) {
    const Buffer a = trial_values(desc, queue, desc.A.nnz), b = trial_values(desc, queue, desc.B.nnz);
    A_.set(pattern_A_.with(a.data()));
    B_.set(pattern_B_.with(b.data()));
    const Buffer c = find_pattern(desc, queue);
    require_order(desc, queue, output, "cuSPARSE");
    load_kernels(queue, c);
  }

  void execute(Queue& queue, const Args& args) override {
    const DenseRef c = values_of(output.scalar, output.nnz, args.C);
    const bool reads = !spmv::is_zero(args.alpha, output.scalar);
    // cuSPARSE does not say whether it reads a C that beta = 0 discards.
    if (!reads || spmv::is_zero(args.beta, output.scalar)) spmv::scale(queue, args.beta, c);
    if (!reads) return;
    A_.set(pattern_A_.with(args.A.values));
    B_.set(pattern_B_.with(args.B.values));
    set_values(args.C);
    compute(queue, args.alpha.pointer, args.beta.pointer);
  }

  void describe(Info& info) const override {
    info.add("products", products_);
    info.add("plan_bytes", static_cast<int64_t>(pattern_A_.bytes() + pattern_B_.bytes() + buffer_bytes()));
    info.add("cusparse_buffer_bytes", static_cast<int64_t>(buffer_bytes()));
  }

 private:
  static constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr auto algorithm = CUSPARSE_SPGEMM_DEFAULT;

  /// C before its pattern is known.
  static CsrRef unknown(const Desc& desc) {
    return {desc.pair, desc.scalar(), 0, desc.rows(), desc.cols(), 0, nullptr, nullptr, nullptr};
  }
  /// Never empty: a null buffer asks for a size.
  static Buffer room(const Desc& desc, size_t bytes) {
    return Buffer(desc.memory, Space::device, std::max(bytes, memory_alignment));
  }
  size_t buffer_bytes() const { return products_buffer_.bytes() + places_buffer_.bytes(); }

  void set_values(void* values) const {
    CsrRef C = output.ref();
    C.values = values;
    C_.set(C);
  }

  /// Fills output; returns values for C that the trial may write to.
  Buffer find_pattern(const Desc& desc, Queue& queue) {
    const cusparseHandle_t handle = handle_.on(queue);
    size_t bytes[5] = {};
    const auto estimate = [&](void* buffer) {
      cusparse::check(library_.product_estimate(handle, plain, plain, A_.get(), B_.get(), C_.get(), algorithm,
                                                product_.get(), &bytes[0], buffer),
                      "cusparseSpGEMMreuse_workEstimation");
    };
    estimate(nullptr);
    Buffer estimated = room(desc, bytes[0]);
    estimate(estimated.data());

    const auto count = [&](void* second, void* third, void* fourth) {
      cusparse::check(library_.product_nnz(handle, plain, plain, A_.get(), B_.get(), C_.get(), algorithm,
                                           product_.get(), &bytes[1], second, &bytes[2], third, &bytes[3], fourth),
                      "cusparseSpGEMMreuse_nnz");
    };
    count(nullptr, nullptr, nullptr);
    Buffer counting = room(desc, bytes[1]), columns = room(desc, bytes[2]);
    products_buffer_ = room(desc, bytes[3]);
    count(counting.data(), columns.data(), products_buffer_.data());
    estimated = Buffer();
    counting = Buffer();

    output = output_of(desc, std::make_shared<const Buffer>(desc.memory, Space::device, offsets_bytes(desc)), C_.nnz());
    Buffer values = trial_values(desc, queue, output.nnz);
    set_values(values.data());
    const auto copy = [&](void* buffer) {
      cusparse::check(library_.product_copy(handle, plain, plain, A_.get(), B_.get(), C_.get(), algorithm,
                                            product_.get(), &bytes[4], buffer),
                      "cusparseSpGEMMreuse_copy");
    };
    copy(nullptr);
    places_buffer_ = room(desc, bytes[4]);
    copy(places_buffer_.data());
    queue.synchronize();  // the library's own streams may still read what goes now
    return values;
  }

  /// Every kernel that execute may choose: 0 and 1 have their own.
  void load_kernels(Queue& queue, const Buffer& c) {
    spmv::prepare_scale(queue, values_of(output.scalar, output.nnz, c.data()));
    const Scalar s = output.scalar;
    for (const void* alpha : {spmv::one(s), spmv::two(s)})
      for (const void* beta : {spmv::zero(s), spmv::one(s), spmv::two(s)}) compute(queue, alpha, beta);
    queue.synchronize();
  }

  void compute(const Queue& queue, const void* alpha, const void* beta) const {
    cusparse::check(library_.product_compute(handle_.on(queue), plain, plain, alpha, A_.get(), B_.get(), beta, C_.get(),
                                             type_, algorithm, product_.get()),
                    "cusparseSpGEMMreuse_compute");
  }

  const cusparse::Library& library_;
  cudaDataType type_;
  int64_t products_;
  cusparse::Handle handle_;
  KeptPattern pattern_A_, pattern_B_;
  Buffer products_buffer_, places_buffer_;  // the library's fourth and fifth, which its numeric phase reads
  cusparse::SparseMatrix A_, B_, C_;
  cusparse::Product product_;
};

std::string unsupported(const Desc& desc) {
  std::string reason;
  if (cusparse::library(&reason) == nullptr) return reason;
  if (desc.A.pair != IndexPair::i32_32) return "cuSPARSE keeps products of 32-bit indices only";
  return vendor_unsupported(desc, "cuSPARSE", [](const Look& look) {
    if (look.products < INT32_MAX) return std::string();
    return cat("cuSPARSE counts in 32 bits here, there are ", look.products, " products");
  });
}

std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  const Look look = look_at(desc, queue);
  if (look.products == 0) return std::make_unique<EmptyKernel>(desc, queue);
  return std::make_unique<CusparseKernel>(desc, queue, look.products);
}

}  // namespace

extern const Implementation cusparse_cuda;
const Implementation cusparse_cuda = {{"cusparse"}, false, &unsupported, &make};

}  // namespace kkc::spgemm
