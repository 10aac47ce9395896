// spmv, cusparse: NVIDIA's library (cusparseSpMV and cusparseSpMM with their preprocessing), for comparison and as a
// second opinion. The plan runs the library on memory of its own, so that nothing is analysed or loaded later.
#include <memory>

#include "ops/spmv/spmv_vendor.hpp"
#include "vendor/cusparse/cusparse.hpp"

namespace kkc::spmv {
namespace {

/// One vector.
struct Single {
  using Operand = cusparse::Vector;
  static constexpr cusparseSpMVAlg_t algorithm = CUSPARSE_SPMV_ALG_DEFAULT;
};

/// Many vectors.
struct Multiple {
  using Operand = cusparse::DenseMatrix;
};

cusparseSpMMAlg_t spmm_algorithm(const Desc& desc) {
  if (plain_op(desc) != Op::none) return CUSPARSE_SPMM_ALG_DEFAULT;
  return panel_of(desc.x).by_rows ? CUSPARSE_SPMM_CSR_ALG2 : CUSPARSE_SPMM_CSR_ALG1;
}

template <class Case>
class CusparseKernel final : public Kernel {
 public:
  CusparseKernel(const Desc& desc, Queue& queue)
      : library_(*cusparse::library()),
        scalar_(desc.A.scalar),
        op_(cusparse::operation_of(plain_op(desc))),
        type_(cusparse::type_of(desc.A.scalar)),
        handle_(queue),
        trial_(std::make_unique<Trial>(desc)),
        A_(trial_->A),
        x_(trial_->x),
        y_(trial_->y) {
    if constexpr (!single) algorithm_ = spmm_algorithm(desc);
    prepare_scale(queue, desc.y);
    plan(desc, queue);
    trial_.reset();
  }

  void execute(Queue& queue, const Args& args) override {
    if (is_zero(args.alpha, scalar_)) return scale(queue, args.beta, args.y);
    A_.set(args.A);
    x_.set(args.x);
    y_.set(args.y);
    run(queue, args.alpha.pointer, args.beta.pointer);
  }

  void describe(Info& info) const override { info.add("cusparse_buffer_bytes", static_cast<int64_t>(buffer_.bytes())); }

 private:
  static constexpr bool single = std::is_same_v<Case, Single>;

  void plan(const Desc& desc, Queue& queue) {
    const cusparseHandle_t handle = handle_.on(queue);
    const void *no = zero(scalar_), *yes = one(scalar_);
    size_t bytes = 0;
    if constexpr (single)
      cusparse::check(
          library_.spmv_buffer_size(handle, op_, yes, A_.get(), x_.get(), no, y_.get(), type_, Case::algorithm, &bytes),
          "cusparseSpMV_bufferSize");
    else
      cusparse::check(library_.spmm_buffer_size(handle, op_, CUSPARSE_OPERATION_NON_TRANSPOSE, yes, A_.get(), x_.get(),
                                                no, y_.get(), type_, algorithm_, &bytes),
                      "cusparseSpMM_bufferSize");
    // The analysis stays in it, so it is no workspace that others may use between two executes.
    buffer_ = Buffer(desc.memory, Space::device, bytes);
    if constexpr (single) {
      if (library_.spmv_preprocess != nullptr)
        cusparse::check(library_.spmv_preprocess(handle, op_, yes, A_.get(), x_.get(), no, y_.get(), type_,
                                                 Case::algorithm, buffer_.data()),
                        "cusparseSpMV_preprocess");
    } else {
      cusparse::check(library_.spmm_preprocess(handle, op_, CUSPARSE_OPERATION_NON_TRANSPOSE, yes, A_.get(), x_.get(),
                                               no, y_.get(), type_, algorithm_, buffer_.data()),
                      "cusparseSpMM_preprocess");
    }
    // Loads every kernel that execute may choose: 0 and 1 have their own.
    const void* two = spmv::two(scalar_);
    for (const void* alpha : {yes, two})
      for (const void* beta : {no, yes, two}) run(queue, alpha, beta);
  }

  void run(Queue& queue, const void* alpha, const void* beta) {
    const cusparseHandle_t handle = handle_.on(queue);
    if constexpr (single)
      cusparse::check(
          library_.spmv(handle, op_, alpha, A_.get(), x_.get(), beta, y_.get(), type_, Case::algorithm, buffer_.data()),
          "cusparseSpMV");
    else
      cusparse::check(library_.spmm(handle, op_, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, A_.get(), x_.get(), beta,
                                    y_.get(), type_, algorithm_, buffer_.data()),
                      "cusparseSpMM");
  }

  const cusparse::Library& library_;
  Scalar scalar_;
  cusparseOperation_t op_;
  cudaDataType type_;
  cusparseSpMMAlg_t algorithm_ = CUSPARSE_SPMM_ALG_DEFAULT;
  cusparse::Handle handle_;
  std::unique_ptr<Trial> trial_;
  cusparse::SparseMatrix A_;
  typename Case::Operand x_, y_;
  Buffer buffer_;
};

/// A without entries: y = beta y.
class EmptyKernel final : public Kernel {
 public:
  EmptyKernel(const Desc& desc, Queue& queue) { prepare_scale(queue, desc.y); }
  void execute(Queue& queue, const Args& args) override { scale(queue, args.beta, args.y); }
};

std::string unsupported(const Desc& desc) {
  std::string reason;
  if (cusparse::library(&reason) == nullptr) return reason;
  if (desc.A.pair == IndexPair::i32_64) return "cuSPARSE takes no 64-bit offsets with 32-bit columns";
  return vendor_unsupported(desc, "cuSPARSE");
}

std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  if (desc.A.nnz == 0 || desc.vectors == 0) return std::make_unique<EmptyKernel>(desc, queue);
  if (desc.x.rank == 1) return std::make_unique<CusparseKernel<Single>>(desc, queue);
  return std::make_unique<CusparseKernel<Multiple>>(desc, queue);
}

}  // namespace

extern const Implementation cusparse_cuda;
const Implementation cusparse_cuda = {{"cusparse"}, false, &unsupported, &make};

}  // namespace kkc::spmv
