// cuSPARSE's generic SpMV and SpMM: every CSR algorithm, each without and with preprocessing.
#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <array>
#include <chrono>
#include <memory>

#include "cusparse_reorder.hpp"
#include "peer.hpp"

namespace kkc::bench {
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

/// One or zero of any type: real parts of both widths at offset 0.
struct Factor {
  std::array<unsigned char, 16> bytes{};
  Factor(kkc_scalar_t scalar, double value) {
    if (scalar == KKC_TYPE_F32 || scalar == KKC_TYPE_C64)
      *reinterpret_cast<float*>(bytes.data()) = static_cast<float>(value);
    else
      *reinterpret_cast<double*>(bytes.data()) = value;
  }
};

/// Descriptors and workspace of one entrant.
struct State {
  cusparseHandle_t handle = nullptr;
  cusparseSpMatDescr_t A = nullptr;
  cusparseDnVecDescr_t x = nullptr, y = nullptr;
  cusparseDnMatDescr_t X = nullptr, Y = nullptr;
  void* workspace = nullptr;
  alignas(16) Factor one, zero;

  explicit State(const SpmvProblem& p) : one(p.scalar, 1.0), zero(p.scalar, 0.0) {
    const auto wide = [](bool is) { return is ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I; };
    const cudaDataType type = type_of(p.scalar);
    must(cusparseCreate(&handle), "cusparseCreate");
    must(cusparseSetStream(handle, static_cast<cudaStream_t>(p.stream)), "cusparseSetStream");
    must(cusparseCreateCsr(&A, p.rows, p.cols, p.nnz, const_cast<void*>(p.offsets), const_cast<void*>(p.indices),
                           p.values, wide(p.index != KKC_INDEX_32_32), wide(p.index == KKC_INDEX_64_64),
                           p.base == 0 ? CUSPARSE_INDEX_BASE_ZERO : CUSPARSE_INDEX_BASE_ONE, type),
         "cusparseCreateCsr");
    if (p.vectors == 1) {
      must(cusparseCreateDnVec(&x, p.x_rows(), const_cast<void*>(p.x), type), "cusparseCreateDnVec");
      must(cusparseCreateDnVec(&y, p.y_rows(), p.y, type), "cusparseCreateDnVec");
    } else {
      const auto order = p.layout == KKC_LAYOUT_LEFT ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW;
      must(cusparseCreateDnMat(&X, p.x_rows(), p.vectors, p.ldx, const_cast<void*>(p.x), type, order),
           "cusparseCreateDnMat");
      must(cusparseCreateDnMat(&Y, p.y_rows(), p.vectors, p.ldy, p.y, type, order), "cusparseCreateDnMat");
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    cudaFree(workspace);
    if (x != nullptr) cusparseDestroyDnVec(x);
    if (y != nullptr) cusparseDestroyDnVec(y);
    if (X != nullptr) cusparseDestroyDnMat(X);
    if (Y != nullptr) cusparseDestroyDnMat(Y);
    if (A != nullptr) cusparseDestroySpMat(A);
    if (handle != nullptr) cusparseDestroy(handle);
  }
};

template <class Size, class Prepare, class Run>
Entrant entrant(const SpmvProblem& p, std::string name, bool prepared, Size size, Prepare prepare, Run run) {
  const auto state = std::make_shared<State>(p);
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const auto start = std::chrono::steady_clock::now();
  size_t bytes = 0;
  size(*state, &bytes);
  if (bytes > 0) must(cudaMalloc(&state->workspace, bytes), "cudaMalloc");
  if (prepared) prepare(*state);
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {std::move(name) + (prepared ? " preprocessed" : ""), false, seconds, [state, run] { run(*state); }, nullptr};
}

class CuSparse final : public Peer {
 public:
  std::string name() const override { return "cusparse"; }
  std::string version() const override {
    int part[3] = {};
    cusparseGetProperty(MAJOR_VERSION, &part[0]);
    cusparseGetProperty(MINOR_VERSION, &part[1]);
    cusparseGetProperty(PATCH_LEVEL, &part[2]);
    return std::to_string(part[0]) + "." + std::to_string(part[1]) + "." + std::to_string(part[2]);
  }
  bool serves(kkc_device_t device) const override { return device == KKC_DEVICE_CUDA; }

  std::vector<Entrant> spmv(const SpmvProblem& p) override {
    if (p.op == KKC_OP_CONJUGATE) throw NotTaken("has no product with the conjugate");
    must(cudaSetDevice(p.device_id), "cudaSetDevice");
    const auto op = p.op == KKC_OP_NONE        ? CUSPARSE_OPERATION_NON_TRANSPOSE
                    : p.op == KKC_OP_TRANSPOSE ? CUSPARSE_OPERATION_TRANSPOSE
                                               : CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
    const cudaDataType type = type_of(p.scalar);
    std::vector<Entrant> list;
    std::string last;
    const auto attempt = [&](auto&& make) {
      try {
        list.push_back(make());
      } catch (const NotTaken& reason) {
        last = reason.what();
      }
    };
    const std::pair<const char*, cusparseSpMVAlg_t> vector_algorithms[] = {{"CSR_ALG1", CUSPARSE_SPMV_CSR_ALG1},
                                                                           {"CSR_ALG2", CUSPARSE_SPMV_CSR_ALG2}};
    const std::pair<const char*, cusparseSpMMAlg_t> matrix_algorithms[] = {{"CSR_ALG1", CUSPARSE_SPMM_CSR_ALG1},
                                                                           {"CSR_ALG2", CUSPARSE_SPMM_CSR_ALG2},
                                                                           {"CSR_ALG3", CUSPARSE_SPMM_CSR_ALG3}};
    for (const bool prepared : {false, true}) {
      if (p.vectors == 1)
        for (const auto& [name, algorithm] : vector_algorithms)
          attempt([&, name = name, algorithm = algorithm] {
            return entrant(
                p, name, prepared,
                [=](State& s, size_t* n) {
                  must(cusparseSpMV_bufferSize(s.handle, op, &s.one, s.A, s.x, &s.zero, s.y, type, algorithm, n),
                       "cusparseSpMV_bufferSize");
                },
                [=](State& s) {
                  must(cusparseSpMV_preprocess(s.handle, op, &s.one, s.A, s.x, &s.zero, s.y, type, algorithm,
                                               s.workspace),
                       "cusparseSpMV_preprocess");
                },
                [=](State& s) {
                  must(cusparseSpMV(s.handle, op, &s.one, s.A, s.x, &s.zero, s.y, type, algorithm, s.workspace),
                       "cusparseSpMV");
                });
          });
      else
        for (const auto& [name, algorithm] : matrix_algorithms) {
          if (p.op != KKC_OP_NONE && algorithm == CUSPARSE_SPMM_CSR_ALG3) continue;  // refused, with words on stdout
          attempt([&, name = name, algorithm = algorithm] {
            constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
            return entrant(
                p, name, prepared,
                [=](State& s, size_t* n) {
                  must(cusparseSpMM_bufferSize(s.handle, op, plain, &s.one, s.A, s.X, &s.zero, s.Y, type, algorithm, n),
                       "cusparseSpMM_bufferSize");
                },
                [=](State& s) {
                  must(cusparseSpMM_preprocess(s.handle, op, plain, &s.one, s.A, s.X, &s.zero, s.Y, type, algorithm,
                                               s.workspace),
                       "cusparseSpMM_preprocess");
                },
                [=](State& s) {
                  must(cusparseSpMM(s.handle, op, plain, &s.one, s.A, s.X, &s.zero, s.Y, type, algorithm, s.workspace),
                       "cusparseSpMM");
                });
          });
        }
    }
    if (list.empty()) throw NotTaken(last);
    return list;
  }
  std::vector<Entrant> transpose(const ReorderProblem& p) override { return cusparse_reorder::transpose(p); }
  std::vector<Entrant> sort_rows(const ReorderProblem& p) override { return cusparse_reorder::sort_rows(p); }
};

}  // namespace
}  // namespace kkc::bench

KKC_BENCH_EXPORT kkc::bench::Peer* kkc_bench_peer() { return new kkc::bench::CuSparse; }
