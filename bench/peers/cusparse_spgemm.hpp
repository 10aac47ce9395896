// cuSPARSE's sparse products: SpGEMMreuse, whose symbolic phase is kept, and SpGEMM's one-shot algorithms. Buffers come
// from the device's stream-ordered pool, which keeps what is freed: allocation is as cheap for it as for kkc.
#pragma once

#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "peer.hpp"

namespace kkc::bench::cusparse_parts {

inline void must(cusparseStatus_t status, const char* call) {
  if (status == CUSPARSE_STATUS_NOT_SUPPORTED || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES)
    throw NotTaken(std::string(call) + ": " + cusparseGetErrorString(status));
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + cusparseGetErrorString(status));
}
inline void must(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw NotTaken(std::string(call) + ": " + cudaGetErrorString(status));
}

/// One product: descriptors, buffers, C. Made anew by each whole().
class Spgemm {
 public:
  Spgemm(const SpgemmProblem& p, cusparseSpGEMMAlg_t algorithm, bool reuse)
      : p_(p),
        a_{p.A, p.op_a != KKC_OP_NONE},
        b_{p.B, p.op_b != KKC_OP_NONE},
        algorithm_(algorithm),
        reuse_(reuse),
        stream_(static_cast<cudaStream_t>(p.stream)) {
    cudaMemPool_t pool = nullptr;
    must(cudaDeviceGetDefaultMemPool(&pool, p.device_id), "cudaDeviceGetDefaultMemPool");
    uint64_t all = ~uint64_t{0};
    must(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "cudaMemPoolSetAttribute");
    must(cusparseCreate(&handle_), "cusparseCreate");
    must(cusparseSetStream(handle_, stream_), "cusparseSetStream");
    if (p.scalar == KKC_TYPE_F32 || p.scalar == KKC_TYPE_C64)
      *reinterpret_cast<float*>(one_) = 1.0f;
    else
      *reinterpret_cast<double*>(one_) = 1.0;
  }
  Spgemm(const Spgemm&) = delete;
  Spgemm& operator=(const Spgemm&) = delete;
  ~Spgemm() {
    drop();
    cusparseDestroy(handle_);
    cudaStreamSynchronize(stream_);
    cudaMemPool_t pool = nullptr;  // the next contender wants the memory
    if (cudaDeviceGetDefaultMemPool(&pool, p_.device_id) == cudaSuccess) cudaMemPoolTrimTo(pool, 0);
  }

  void whole() {
    drop();
    const SparseOperand A = as_multiplied(a_), B = as_multiplied(b_);
    must(cusparseSpGEMM_createDescr(&descriptor_), "cusparseSpGEMM_createDescr");
    create(A_, A.rows, A.cols, A.nnz, A.offsets, A.indices, A.values, A.index, A.base);
    create(B_, B.rows, B.cols, B.nnz, B.offsets, B.indices, B.values, B.index, B.base);
    create(C_, A.rows, B.cols, 0, nullptr, nullptr, nullptr, A.index, 0);
    rows_ = A.rows;
    cols_ = B.cols;
    offsets_ = allocate(static_cast<size_t>(A.rows + 1) * (A.index == KKC_INDEX_32_32 ? 4 : 8), false);
    if (reuse_)
      plan_reuse();
    else
      one_shot();
  }
  void numeric() {
    for (Operand* operand : {&a_, &b_})
      if (operand->transposed) convert(*operand);
    multiply();
  }
  SparseOperand result() const { return {rows_, cols_, nnz_, p_.A.index, 0, offsets_, indices_, values_}; }
  size_t workspace_bytes() const { return most_; }

 private:
  static constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

  /// A stored matrix, and its transpose once it is there.
  struct Operand {
    SparseOperand stored;
    bool transposed;
    void *offsets = nullptr, *indices = nullptr, *values = nullptr, *buffer = nullptr;
  };

  SparseOperand as_multiplied(Operand& operand) {
    const SparseOperand& A = operand.stored;
    if (!operand.transposed) return A;
    const auto nnz = static_cast<size_t>(A.nnz);
    operand.offsets = allocate(static_cast<size_t>(A.cols + 1) * 4);
    operand.indices = allocate(nnz * 4);
    operand.values = allocate(nnz * element());
    size_t bytes = 0;
    must(cusparseCsr2cscEx2_bufferSize(handle_, static_cast<int>(A.rows), static_cast<int>(A.cols),
                                       static_cast<int>(A.nnz), A.values, static_cast<const int*>(A.offsets),
                                       static_cast<const int*>(A.indices), operand.values,
                                       static_cast<int*>(operand.offsets), static_cast<int*>(operand.indices), type(),
                                       CUSPARSE_ACTION_NUMERIC, base(A), CUSPARSE_CSR2CSC_ALG_DEFAULT, &bytes),
         "cusparseCsr2cscEx2_bufferSize");
    operand.buffer = allocate(bytes);
    convert(operand);
    return {A.cols, A.rows, A.nnz, A.index, A.base, operand.offsets, operand.indices, operand.values};
  }
  /// cuSPARSE's way to the values of a transpose, too.
  void convert(const Operand& operand) const {
    const SparseOperand& A = operand.stored;
    must(cusparseCsr2cscEx2(handle_, static_cast<int>(A.rows), static_cast<int>(A.cols), static_cast<int>(A.nnz),
                            A.values, static_cast<const int*>(A.offsets), static_cast<const int*>(A.indices),
                            operand.values, static_cast<int*>(operand.offsets), static_cast<int*>(operand.indices),
                            type(), CUSPARSE_ACTION_NUMERIC, base(A), CUSPARSE_CSR2CSC_ALG_DEFAULT, operand.buffer),
         "cusparseCsr2cscEx2");
  }
  static cusparseIndexBase_t base(const SparseOperand& A) {
    return A.base == 0 ? CUSPARSE_INDEX_BASE_ZERO : CUSPARSE_INDEX_BASE_ONE;
  }
  void multiply() {
    must(cusparseSpGEMMreuse_compute(handle_, plain, plain, one_, A_, B_, zero_, C_, type(), algorithm_, descriptor_),
         "cusparseSpGEMMreuse_compute");
  }
  struct Block {
    void* data;
    size_t bytes;
    bool counted;
  };

  void* allocate(size_t bytes, bool counted = true) {
    void* data = nullptr;
    if (bytes > 0) must(cudaMallocAsync(&data, bytes, stream_), "cudaMallocAsync");
    blocks_.push_back({data, bytes, counted});
    if (counted) most_ = std::max(most_, held_ += bytes);
    return data;
  }
  void release(void* data) {
    const auto block = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& b) { return b.data == data; });
    if (data == nullptr || block == blocks_.end()) return;
    if (block->counted) held_ -= block->bytes;
    cudaFreeAsync(data, stream_);
    blocks_.erase(block);
  }
  void drop() {
    while (!blocks_.empty()) {
      if (blocks_.back().data != nullptr) cudaFreeAsync(blocks_.back().data, stream_);
      blocks_.pop_back();
    }
    held_ = most_ = 0;
    for (cusparseSpMatDescr_t* matrix : {&A_, &B_, &C_}) {
      if (*matrix != nullptr) cusparseDestroySpMat(*matrix);
      *matrix = nullptr;
    }
    if (descriptor_ != nullptr) cusparseSpGEMM_destroyDescr(descriptor_);
    descriptor_ = nullptr;
  }

  void create(cusparseSpMatDescr_t& matrix, int64_t rows, int64_t cols, int64_t nnz, const void* offsets,
              const void* indices, void* values, kkc_index_pair_t index, int32_t base) const {
    const auto wide = [](bool is) { return is ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I; };
    must(cusparseCreateCsr(&matrix, rows, cols, nnz, const_cast<void*>(offsets), const_cast<void*>(indices), values,
                           wide(index != KKC_INDEX_32_32), wide(index == KKC_INDEX_64_64),
                           base == 0 ? CUSPARSE_INDEX_BASE_ZERO : CUSPARSE_INDEX_BASE_ONE, type()),
         "cusparseCreateCsr");
  }
  cudaDataType type() const {
    switch (p_.scalar) {
      case KKC_TYPE_F32: return CUDA_R_32F;
      case KKC_TYPE_F64: return CUDA_R_64F;
      case KKC_TYPE_C64: return CUDA_C_32F;
      default: return CUDA_C_64F;
    }
  }
  size_t element() const {
    switch (p_.scalar) {
      case KKC_TYPE_F32: return 4;
      case KKC_TYPE_C128: return 16;
      default: return 8;
    }
  }
  void make_c() {
    int64_t rows = 0, cols = 0;
    must(cusparseSpMatGetSize(C_, &rows, &cols, &nnz_), "cusparseSpMatGetSize");
    indices_ = allocate(static_cast<size_t>(nnz_) * (p_.A.index == KKC_INDEX_64_64 ? 8 : 4), false);
    values_ = allocate(static_cast<size_t>(nnz_) * element(), false);
    must(cusparseCsrSetPointers(C_, offsets_, indices_, values_), "cusparseCsrSetPointers");
  }

  void plan_reuse() {
    size_t bytes[5] = {};
    must(cusparseSpGEMMreuse_workEstimation(handle_, plain, plain, A_, B_, C_, algorithm_, descriptor_, &bytes[0],
                                            nullptr),
         "cusparseSpGEMMreuse_workEstimation");
    void* const first = allocate(bytes[0]);
    must(cusparseSpGEMMreuse_workEstimation(handle_, plain, plain, A_, B_, C_, algorithm_, descriptor_, &bytes[0],
                                            first),
         "cusparseSpGEMMreuse_workEstimation");
    must(cusparseSpGEMMreuse_nnz(handle_, plain, plain, A_, B_, C_, algorithm_, descriptor_, &bytes[1], nullptr,
                                 &bytes[2], nullptr, &bytes[3], nullptr),
         "cusparseSpGEMMreuse_nnz");
    void *const second = allocate(bytes[1]), *const third = allocate(bytes[2]), *const fourth = allocate(bytes[3]);
    must(cusparseSpGEMMreuse_nnz(handle_, plain, plain, A_, B_, C_, algorithm_, descriptor_, &bytes[1], second,
                                 &bytes[2], third, &bytes[3], fourth),
         "cusparseSpGEMMreuse_nnz");
    release(first);
    release(second);
    make_c();
    must(cusparseSpGEMMreuse_copy(handle_, plain, plain, A_, B_, C_, algorithm_, descriptor_, &bytes[4], nullptr),
         "cusparseSpGEMMreuse_copy");
    void* const fifth = allocate(bytes[4]);
    must(cusparseSpGEMMreuse_copy(handle_, plain, plain, A_, B_, C_, algorithm_, descriptor_, &bytes[4], fifth),
         "cusparseSpGEMMreuse_copy");
    release(third);
    multiply();
  }

  void one_shot() {
    size_t bytes[3] = {};
    const auto estimate = [&](void* buffer) {
      must(cusparseSpGEMM_workEstimation(handle_, plain, plain, one_, A_, B_, zero_, C_, type(), algorithm_,
                                         descriptor_, &bytes[0], buffer),
           "cusparseSpGEMM_workEstimation");
    };
    estimate(nullptr);
    estimate(allocate(bytes[0]));
    if (algorithm_ != CUSPARSE_SPGEMM_ALG1) {
      const float chunk = 0.2f;
      const auto memory = [&](void* buffer) {
        must(cusparseSpGEMM_estimateMemory(handle_, plain, plain, one_, A_, B_, zero_, C_, type(), algorithm_,
                                           descriptor_, chunk, &bytes[1], buffer,
                                           buffer != nullptr ? &bytes[2] : nullptr),
             "cusparseSpGEMM_estimateMemory");
      };
      memory(nullptr);
      void* const buffer = allocate(bytes[1]);
      memory(buffer);
      release(buffer);
    }
    const auto compute = [&](void* buffer) {
      must(cusparseSpGEMM_compute(handle_, plain, plain, one_, A_, B_, zero_, C_, type(), algorithm_, descriptor_,
                                  &bytes[2], buffer),
           "cusparseSpGEMM_compute");
    };
    if (algorithm_ == CUSPARSE_SPGEMM_ALG1) compute(nullptr);
    compute(allocate(bytes[2]));
    make_c();
    must(cusparseSpGEMM_copy(handle_, plain, plain, one_, A_, B_, zero_, C_, type(), algorithm_, descriptor_),
         "cusparseSpGEMM_copy");
  }

  SpgemmProblem p_;
  Operand a_, b_;
  int64_t rows_ = 0, cols_ = 0;  // of C
  cusparseSpGEMMAlg_t algorithm_;
  bool reuse_;
  cudaStream_t stream_;
  cusparseHandle_t handle_ = nullptr;
  cusparseSpGEMMDescr_t descriptor_ = nullptr;
  cusparseSpMatDescr_t A_ = nullptr, B_ = nullptr, C_ = nullptr;
  alignas(16) unsigned char one_[16] = {}, zero_[16] = {};
  std::vector<Block> blocks_;
  size_t held_ = 0, most_ = 0;
  void *offsets_ = nullptr, *indices_ = nullptr, *values_ = nullptr;
  int64_t nnz_ = 0;
};

/// The contenders share one place, so that only the one that ran last holds memory.
inline std::vector<SpgemmEntrant> spgemm_entrants(const SpgemmProblem& p) {
  const bool converts = p.op_a != KKC_OP_NONE || p.op_b != KKC_OP_NONE;
  if (converts && p.A.index != KKC_INDEX_32_32) throw NotTaken("csr2csc takes 32-bit indices only");
  if (p.A.index == KKC_INDEX_32_64) throw NotTaken("takes no 64-bit offsets with 32-bit columns");
  struct Place {
    std::string name;
    std::unique_ptr<Spgemm> product;
  };
  const auto place = std::make_shared<Place>();
  const auto entrant = [&](const std::string& name, cusparseSpGEMMAlg_t algorithm, bool reuse) {
    SpgemmEntrant e;
    e.name = converts ? name + " (with csr2csc)" : name;
    e.converts = converts;
    e.whole = [place, p, name, algorithm, reuse] {
      if (!place->product || place->name != name) {
        place->product.reset();
        place->product = std::make_unique<Spgemm>(p, algorithm, reuse);
        place->name = name;
      }
      place->product->whole();
    };
    if (reuse) e.numeric = [place] { place->product->numeric(); };
    e.result = [place] { return place->product->result(); };
    e.workspace_bytes = [place] { return place->product->workspace_bytes(); };
    return e;
  };
  return {entrant("SpGEMMreuse", CUSPARSE_SPGEMM_DEFAULT, true), entrant("ALG1", CUSPARSE_SPGEMM_ALG1, false),
          entrant("ALG2", CUSPARSE_SPGEMM_ALG2, false), entrant("ALG3", CUSPARSE_SPGEMM_ALG3, false)};
}

}  // namespace kkc::bench::cusparse_parts
