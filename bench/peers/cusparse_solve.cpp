#include "cusparse_solve.hpp"

#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <algorithm>
#include <chrono>
#include <memory>

namespace kkc::bench::cusparse_solve {
namespace {

void must(cusparseStatus_t status, const char* call) {
  if (status == CUSPARSE_STATUS_NOT_SUPPORTED) throw NotTaken(std::string(call) + ": not supported");
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + cusparseGetErrorString(status));
}
void must(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}

/// SpSV for one right-hand side, SpSM for several.
class Solve {
 public:
  explicit Solve(const SptrsvProblem& p)
      : op_(p.op == KKC_OP_NONE ? CUSPARSE_OPERATION_NON_TRANSPOSE : CUSPARSE_OPERATION_TRANSPOSE),
        type_(p.scalar == KKC_TYPE_F32 ? CUDA_R_32F : CUDA_R_64F),
        single_(p.vectors == 1) {
    const auto wide = [](bool is) { return is ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I; };
    must(cusparseCreate(&handle_), "cusparseCreate");
    must(cusparseSetStream(handle_, static_cast<cudaStream_t>(p.stream)), "cusparseSetStream");
    must(cusparseCreateCsr(&A_, p.rows, p.rows, p.nnz, const_cast<void*>(p.offsets), const_cast<void*>(p.indices),
                           p.values, wide(p.index != KKC_INDEX_32_32), wide(p.index == KKC_INDEX_64_64),
                           CUSPARSE_INDEX_BASE_ZERO, type_),
         "cusparseCreateCsr");
    auto fill = p.lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
    auto diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
    must(cusparseSpMatSetAttribute(A_, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill), "cusparseSpMatSetAttribute");
    must(cusparseSpMatSetAttribute(A_, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal),
         "cusparseSpMatSetAttribute");
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const auto start = std::chrono::steady_clock::now();
    size_t bytes = 0;
    if (single_) {
      must(cusparseCreateDnVec(&b_, p.rows, const_cast<void*>(p.b), type_), "cusparseCreateDnVec");
      must(cusparseCreateDnVec(&x_, p.rows, p.x, type_), "cusparseCreateDnVec");
      must(cusparseSpSV_createDescr(&sv_), "cusparseSpSV_createDescr");
      must(cusparseSpSV_bufferSize(handle_, op_, one(), A_, b_, x_, type_, CUSPARSE_SPSV_ALG_DEFAULT, sv_, &bytes),
           "cusparseSpSV_bufferSize");
      allocate(bytes);
      must(cusparseSpSV_analysis(handle_, op_, one(), A_, b_, x_, type_, CUSPARSE_SPSV_ALG_DEFAULT, sv_, buffer_),
           "cusparseSpSV_analysis");
    } else {
      const auto order = p.layout == KKC_LAYOUT_LEFT ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW;
      must(cusparseCreateDnMat(&B_, p.rows, p.vectors, p.ld, const_cast<void*>(p.b), type_, order),
           "cusparseCreateDnMat");
      must(cusparseCreateDnMat(&X_, p.rows, p.vectors, p.ld, p.x, type_, order), "cusparseCreateDnMat");
      must(cusparseSpSM_createDescr(&sm_), "cusparseSpSM_createDescr");
      must(cusparseSpSM_bufferSize(handle_, op_, plain, one(), A_, B_, X_, type_, CUSPARSE_SPSM_ALG_DEFAULT, sm_,
                                   &bytes),
           "cusparseSpSM_bufferSize");
      allocate(bytes);
      must(
          cusparseSpSM_analysis(handle_, op_, plain, one(), A_, B_, X_, type_, CUSPARSE_SPSM_ALG_DEFAULT, sm_, buffer_),
          "cusparseSpSM_analysis");
    }
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  ~Solve() {
    if (sv_ != nullptr) cusparseSpSV_destroyDescr(sv_);
    if (sm_ != nullptr) cusparseSpSM_destroyDescr(sm_);
    if (b_ != nullptr) cusparseDestroyDnVec(b_);
    if (x_ != nullptr) cusparseDestroyDnVec(x_);
    if (B_ != nullptr) cusparseDestroyDnMat(B_);
    if (X_ != nullptr) cusparseDestroyDnMat(X_);
    if (A_ != nullptr) cusparseDestroySpMat(A_);
    if (handle_ != nullptr) cusparseDestroy(handle_);
    cudaFree(buffer_);
  }
  Solve(const Solve&) = delete;
  Solve& operator=(const Solve&) = delete;

  size_t buffer_bytes() const { return bytes_; }
  /// Of the analysis, with its buffer's allocation.
  double seconds() const { return seconds_; }

  void run() const {
    if (single_)
      must(cusparseSpSV_solve(handle_, op_, one(), A_, b_, x_, type_, CUSPARSE_SPSV_ALG_DEFAULT, sv_),
           "cusparseSpSV_solve");
    else
      must(cusparseSpSM_solve(handle_, op_, plain, one(), A_, B_, X_, type_, CUSPARSE_SPSM_ALG_DEFAULT, sm_),
           "cusparseSpSM_solve");
  }

 private:
  static constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

  const void* one() const {
    static constexpr float narrow = 1;
    static constexpr double wide = 1;
    return type_ == CUDA_R_32F ? static_cast<const void*>(&narrow) : &wide;
  }
  void allocate(size_t bytes) {
    bytes_ = bytes;
    must(cudaMalloc(&buffer_, std::max<size_t>(bytes, 16)), "cudaMalloc");
  }

  cusparseOperation_t op_;
  cudaDataType type_;
  bool single_;
  size_t bytes_ = 0;
  double seconds_ = 0;
  void* buffer_ = nullptr;
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t A_ = nullptr;
  cusparseDnVecDescr_t b_ = nullptr, x_ = nullptr;
  cusparseDnMatDescr_t B_ = nullptr, X_ = nullptr;
  cusparseSpSVDescr_t sv_ = nullptr;
  cusparseSpSMDescr_t sm_ = nullptr;
};

}  // namespace

std::vector<Entrant> sptrsv(const SptrsvProblem& p) {
  // The first analysis of a process also loads the library's kernels.
  static_cast<void>(Solve(p));
  const auto solve = std::make_shared<Solve>(p);
  const std::string name = std::string(p.vectors == 1 ? "SpSV" : "SpSM") + ", buffer of " +
                           std::to_string((solve->buffer_bytes() + 500000) / 1000000) + " MB";
  return {{name, true, solve->seconds(), [solve] { solve->run(); }, nullptr}};
}

}  // namespace kkc::bench::cusparse_solve
