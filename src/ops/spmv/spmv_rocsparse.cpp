// spmv, rocsparse: AMD's library (rocsparse_spmv and rocsparse_spmm). Its stream algorithm is taken, for the adaptive
// one keeps pointers into the arrays that it analysed.
#include <memory>

#include "ops/spmv/spmv_vendor.hpp"
#include "vendor/rocsparse/rocsparse.hpp"

namespace kkc::spmv {
namespace {

template <class Operand>
class RocsparseKernel final : public Kernel {
 public:
  RocsparseKernel(const Desc& desc, Queue& queue)
      : library_(*rocsparse::library()),
        scalar_(desc.A.scalar),
        op_(rocsparse::operation_of(plain_op(desc))),
        type_(rocsparse::type_of(desc.A.scalar)),
        handle_(queue),
        trial_(std::make_unique<Trial>(desc)),
        A_(trial_->A),
        x_(trial_->x),
        y_(trial_->y) {
    prepare_scale(queue, desc.y);
    const void *no = zero(scalar_), *yes = one(scalar_);
    size_t bytes = 0;
    step(queue, yes, no, rocsparse_spmm_stage_buffer_size, &bytes, nullptr);
    buffer_ = Buffer(desc.memory, Space::device, bytes == 0 ? 256 : bytes);
    if constexpr (!single) step(queue, yes, no, rocsparse_spmm_stage_preprocess, &bytes, buffer_.data());
    // Loads every kernel that execute may choose: 0 and 1 have their own.
    const void* two = spmv::two(scalar_);
    for (const void* alpha : {yes, two})
      for (const void* beta : {no, yes, two}) compute(queue, alpha, beta);
    trial_.reset();
  }

  void execute(Queue& queue, const Args& args) override {
    if (is_zero(args.alpha, scalar_)) return scale(queue, args.beta, args.y);
    A_.set(args.A);
    x_.set(args.x);
    y_.set(args.y);
    compute(queue, args.alpha.pointer, args.beta.pointer);
  }

  void describe(Info& info) const override {
    info.add("rocsparse_buffer_bytes", static_cast<int64_t>(buffer_.bytes()));
  }

 private:
  static constexpr bool single = std::is_same_v<Operand, rocsparse::Vector>;

  void step(Queue& queue, const void* alpha, const void* beta, rocsparse_spmm_stage stage, size_t* bytes,
            void* buffer) {
    const rocsparse_handle handle = handle_.on(queue);
    if constexpr (single)
      rocsparse::check(library_.spmv(handle, op_, alpha, A_.get(), x_.get(), beta, y_.get(), type_,
                                     rocsparse_spmv_alg_csr_stream, bytes, buffer),
                       "rocsparse_spmv");
    else
      rocsparse::check(library_.spmm(handle, op_, rocsparse_operation_none, alpha, A_.get(), x_.get(), beta, y_.get(),
                                     type_, rocsparse_spmm_alg_default, stage, bytes, buffer),
                       "rocsparse_spmm");
  }

  void compute(Queue& queue, const void* alpha, const void* beta) {
    size_t bytes = buffer_.bytes();
    step(queue, alpha, beta, rocsparse_spmm_stage_compute, &bytes, buffer_.data());
  }

  const rocsparse::Library& library_;
  Scalar scalar_;
  rocsparse_operation op_;
  rocsparse_datatype type_;
  rocsparse::Handle handle_;
  std::unique_ptr<Trial> trial_;
  rocsparse::SparseMatrix A_;
  Operand x_, y_;
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
  if (rocsparse::library(&reason) == nullptr) return reason;
  if (desc.x.rank == 2 && desc.vectors > 1 && panel_of(desc.x).by_rows != panel_of(desc.y).by_rows)
    return "rocSPARSE takes x and y in the same order only";
  return vendor_unsupported(desc, "rocSPARSE");
}

std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  if (desc.A.nnz == 0 || desc.vectors == 0) return std::make_unique<EmptyKernel>(desc, queue);
  if (desc.x.rank == 1) return std::make_unique<RocsparseKernel<rocsparse::Vector>>(desc, queue);
  return std::make_unique<RocsparseKernel<rocsparse::DenseMatrix>>(desc, queue);
}

}  // namespace

#ifndef __HIP_DEVICE_COMPILE__  // clang would put constants into device code, and the host's functions with them
extern const Implementation rocsparse_hip;
const Implementation rocsparse_hip = {{"rocsparse"}, false, &unsupported, &make};
#endif

}  // namespace kkc::spmv
