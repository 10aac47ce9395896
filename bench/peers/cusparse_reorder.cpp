#include "cusparse_reorder.hpp"

#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <memory>

namespace kkc::bench::cusparse_reorder {
namespace {

void must(cusparseStatus_t status, const char* call) {
  if (status == CUSPARSE_STATUS_NOT_SUPPORTED) throw NotTaken(std::string(call) + ": not supported");
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + cusparseGetErrorString(status));
}
void must(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}

cudaDataType type_of(kkc_scalar_t scalar) {
  switch (scalar) {
    case KKC_TYPE_F32: return CUDA_R_32F;
    case KKC_TYPE_F64: return CUDA_R_64F;
    case KKC_TYPE_C64: return CUDA_C_32F;
    default: return CUDA_C_64F;
  }
}

struct State {
  cusparseHandle_t handle = nullptr;
  cusparseMatDescr_t descr = nullptr;
  cusparseSpVecDescr_t sorted = nullptr;
  cusparseDnVecDescr_t values = nullptr;
  void *workspace = nullptr, *permutation = nullptr, *rows = nullptr;

  template <class Problem>
  explicit State(const Problem& p) {
    must(cudaSetDevice(p.device_id), "cudaSetDevice");
    must(cusparseCreate(&handle), "cusparseCreate");
    must(cusparseSetStream(handle, static_cast<cudaStream_t>(p.stream)), "cusparseSetStream");
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    cudaFree(workspace);
    cudaFree(permutation);
    cudaFree(rows);
    if (sorted != nullptr) cusparseDestroySpVec(sorted);
    if (values != nullptr) cusparseDestroyDnVec(values);
    if (descr != nullptr) cusparseDestroyMatDescr(descr);
    if (handle != nullptr) cusparseDestroy(handle);
  }
};

}  // namespace

std::vector<Entrant> transpose(const ReorderProblem& p) {
  if (p.index != KKC_INDEX_32_32) throw NotTaken("csr2csc has 32-bit indices only");
  const auto rows = static_cast<int>(p.rows), cols = static_cast<int>(p.cols), nnz = static_cast<int>(p.nnz);
  const auto base = p.base == 0 ? CUSPARSE_INDEX_BASE_ZERO : CUSPARSE_INDEX_BASE_ONE;
  const auto* const offsets = static_cast<const int*>(p.offsets);
  const auto* const indices = static_cast<const int*>(p.indices);
  auto* const offsets_C = static_cast<int*>(p.offsets_C);
  auto* const indices_C = static_cast<int*>(p.indices_C);
  const cudaDataType type = type_of(p.scalar);
  constexpr auto algorithm = CUSPARSE_CSR2CSC_ALG_DEFAULT;
  const auto s = std::make_shared<State>(p);
  size_t bytes = 0;
  must(cusparseCsr2cscEx2_bufferSize(s->handle, rows, cols, nnz, p.values, offsets, indices, p.values_C, offsets_C,
                                     indices_C, type, CUSPARSE_ACTION_NUMERIC, base, algorithm, &bytes),
       "cusparseCsr2cscEx2_bufferSize");
  must(cudaMalloc(&s->workspace, bytes), "cudaMalloc");
  const auto run = [=] {
    must(cusparseCsr2cscEx2(s->handle, rows, cols, nnz, p.values, offsets, indices, p.values_C, offsets_C, indices_C,
                            type, CUSPARSE_ACTION_NUMERIC, base, algorithm, s->workspace),
         "cusparseCsr2cscEx2");
  };
  return {{"csr2csc", false, 0.0, run, nullptr}};
}

/// The sort works in place, so each call begins with a copy of the pattern: that copy is part of the time.
std::vector<Entrant> sort_rows(const ReorderProblem& p) {
  if (p.index != KKC_INDEX_32_32) throw NotTaken("csrsort has 32-bit indices only");
  const auto rows = static_cast<int>(p.rows), cols = static_cast<int>(p.cols), nnz = static_cast<int>(p.nnz);
  const auto base = p.base == 0 ? CUSPARSE_INDEX_BASE_ZERO : CUSPARSE_INDEX_BASE_ONE;
  const auto s = std::make_shared<State>(p);
  const auto* const offsets = static_cast<const int*>(p.offsets);
  auto* const indices_C = static_cast<int*>(p.indices_C);
  const cudaDataType type = type_of(p.scalar);
  must(cusparseCreateMatDescr(&s->descr), "cusparseCreateMatDescr");
  must(cusparseSetMatIndexBase(s->descr, base), "cusparseSetMatIndexBase");
  size_t bytes = 0;
  must(cusparseXcsrsort_bufferSizeExt(s->handle, rows, cols, nnz, offsets, static_cast<const int*>(p.indices), &bytes),
       "cusparseXcsrsort_bufferSizeExt");
  must(cudaMalloc(&s->workspace, bytes), "cudaMalloc");
  must(cudaMalloc(&s->permutation, static_cast<size_t>(nnz) * sizeof(int)), "cudaMalloc");
  auto* const permutation = static_cast<int*>(s->permutation);
  must(cusparseCreateSpVec(&s->sorted, p.nnz, p.nnz, permutation, p.values_C, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, type),
       "cusparseCreateSpVec");
  must(cusparseCreateDnVec(&s->values, p.nnz, const_cast<void*>(p.values), type), "cusparseCreateDnVec");
  const auto run = [=] {
    const auto stream = static_cast<cudaStream_t>(p.stream);
    must(cudaMemcpyAsync(p.offsets_C, p.offsets, (static_cast<size_t>(rows) + 1) * sizeof(int),
                         cudaMemcpyDeviceToDevice, stream),
         "cudaMemcpyAsync");
    must(
        cudaMemcpyAsync(indices_C, p.indices, static_cast<size_t>(nnz) * sizeof(int), cudaMemcpyDeviceToDevice, stream),
        "cudaMemcpyAsync");
    must(cusparseCreateIdentityPermutation(s->handle, nnz, permutation), "cusparseCreateIdentityPermutation");
    must(cusparseXcsrsort(s->handle, rows, cols, nnz, s->descr, offsets, indices_C, permutation, s->workspace),
         "cusparseXcsrsort");
    must(cusparseGather(s->handle, s->values, s->sorted), "cusparseGather");
  };
  return {{"csrsort, gather", false, 0.0, run, nullptr}};
}

/// The sort works in place, so each call begins with a copy of the coordinates: that copy is part of the time.
std::vector<Entrant> coo_to_csr(const ReorderProblem& p) {
  if (p.index != KKC_INDEX_32_32) throw NotTaken("coosort has 32-bit indices only");
  const auto rows = static_cast<int>(p.rows), cols = static_cast<int>(p.cols), nnz = static_cast<int>(p.nnz);
  const auto base = p.base == 0 ? CUSPARSE_INDEX_BASE_ZERO : CUSPARSE_INDEX_BASE_ONE;
  const auto s = std::make_shared<State>(p);
  auto* const indices_C = static_cast<int*>(p.indices_C);
  const cudaDataType type = type_of(p.scalar);
  const size_t index_bytes = static_cast<size_t>(nnz) * sizeof(int);
  size_t bytes = 0;
  must(cusparseXcoosort_bufferSizeExt(s->handle, rows, cols, nnz, static_cast<const int*>(p.row_indices),
                                      static_cast<const int*>(p.indices), &bytes),
       "cusparseXcoosort_bufferSizeExt");
  must(cudaMalloc(&s->workspace, bytes), "cudaMalloc");
  must(cudaMalloc(&s->permutation, index_bytes), "cudaMalloc");
  must(cudaMalloc(&s->rows, index_bytes), "cudaMalloc");
  auto *const permutation = static_cast<int*>(s->permutation), *const sorted_rows = static_cast<int*>(s->rows);
  must(cusparseCreateSpVec(&s->sorted, p.nnz, p.nnz, permutation, p.values_C, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, type),
       "cusparseCreateSpVec");
  must(cusparseCreateDnVec(&s->values, p.nnz, const_cast<void*>(p.values), type), "cusparseCreateDnVec");
  const auto run = [=] {
    const auto stream = static_cast<cudaStream_t>(p.stream);
    must(cudaMemcpyAsync(sorted_rows, p.row_indices, index_bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
    must(cudaMemcpyAsync(indices_C, p.indices, index_bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
    must(cusparseCreateIdentityPermutation(s->handle, nnz, permutation), "cusparseCreateIdentityPermutation");
    must(cusparseXcoosortByRow(s->handle, rows, cols, nnz, sorted_rows, indices_C, permutation, s->workspace),
         "cusparseXcoosortByRow");
    must(cusparseXcoo2csr(s->handle, sorted_rows, nnz, rows, static_cast<int*>(p.offsets_C), base), "cusparseXcoo2csr");
    must(cusparseGather(s->handle, s->values, s->sorted), "cusparseGather");
  };
  return {{"coosort, coo2csr, gather", false, 0.0, run, nullptr}};
}

std::vector<Entrant> csr_to_coo(const PassProblem& p) {
  if (p.index != KKC_INDEX_32_32) throw NotTaken("csr2coo has 32-bit indices only");
  const auto s = std::make_shared<State>(p);
  const auto base = p.base == 0 ? CUSPARSE_INDEX_BASE_ZERO : CUSPARSE_INDEX_BASE_ONE;
  const auto run = [=] {
    must(cusparseXcsr2coo(s->handle, static_cast<const int*>(p.offsets), static_cast<int>(p.nnz),
                          static_cast<int>(p.rows), static_cast<int*>(p.result), base),
         "cusparseXcsr2coo");
  };
  return {{"csr2coo", false, 0.0, run, nullptr}};
}

}  // namespace kkc::bench::cusparse_reorder
