// cuSPARSE's generic SpMV and SpMM: every CSR algorithm, each without and with preprocessing.
#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <array>
#include <chrono>
#include <memory>
#include <type_traits>

#include "cusparse_factors.hpp"
#include "cusparse_reorder.hpp"
#include "cusparse_solve.hpp"
#include "cusparse_spgemm.hpp"
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

/// csrgeam2 for one element type.
template <class T>
struct Geam;
template <>
struct Geam<float> {
  static constexpr auto buffer = cusparseScsrgeam2_bufferSizeExt;
  static constexpr auto add = cusparseScsrgeam2;
};
template <>
struct Geam<double> {
  static constexpr auto buffer = cusparseDcsrgeam2_bufferSizeExt;
  static constexpr auto add = cusparseDcsrgeam2;
};
template <>
struct Geam<cuComplex> {
  static constexpr auto buffer = cusparseCcsrgeam2_bufferSizeExt;
  static constexpr auto add = cusparseCcsrgeam2;
};
template <>
struct Geam<cuDoubleComplex> {
  static constexpr auto buffer = cusparseZcsrgeam2_bufferSizeExt;
  static constexpr auto add = cusparseZcsrgeam2;
};

/// A csrgeam2 and its result.
template <class T>
class Sum {
 public:
  explicit Sum(const SpaddProblem& p) : p_(p) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      alpha_ = static_cast<T>(p.alpha);
      beta_ = static_cast<T>(p.beta);
    } else {
      alpha_.x = static_cast<decltype(alpha_.x)>(p.alpha);
      beta_.x = static_cast<decltype(beta_.x)>(p.beta);
    }
    must(cusparseCreate(&handle_), "cusparseCreate");
    must(cusparseSetStream(handle_, static_cast<cudaStream_t>(p.stream)), "cusparseSetStream");
    must(cusparseCreateMatDescr(&type_), "cusparseCreateMatDescr");
    must(cudaMalloc(&offsets_, static_cast<size_t>(p.A.rows + 1) * 4), "cudaMalloc");
    size_t bytes = 0;
    must(Geam<T>::buffer(handle_, rows(), cols(), &alpha_, type_, static_cast<int>(p.A.nnz), values(p.A), offsets(p.A),
                         indices(p.A), &beta_, type_, static_cast<int>(p.B.nnz), values(p.B), offsets(p.B),
                         indices(p.B), type_, nullptr, static_cast<int*>(offsets_), nullptr, &bytes),
         "cusparse csrgeam2_bufferSizeExt");
    must(cudaMalloc(&workspace_, bytes + 1), "cudaMalloc");
    symbolic();
    must(cudaMalloc(&indices_, static_cast<size_t>(nnz_) * 4 + 1), "cudaMalloc");
    must(cudaMalloc(&values_, static_cast<size_t>(nnz_) * sizeof(T) + 1), "cudaMalloc");
  }
  Sum(const Sum&) = delete;
  Sum& operator=(const Sum&) = delete;
  ~Sum() {
    for (void* memory : {offsets_, indices_, values_, workspace_}) cudaFree(memory);
    cusparseDestroyMatDescr(type_);
    cusparseDestroy(handle_);
  }

  void symbolic() {
    must(cusparseXcsrgeam2Nnz(handle_, rows(), cols(), type_, static_cast<int>(p_.A.nnz), offsets(p_.A), indices(p_.A),
                              type_, static_cast<int>(p_.B.nnz), offsets(p_.B), indices(p_.B), type_,
                              static_cast<int*>(offsets_), &nnz_, workspace_),
         "cusparseXcsrgeam2Nnz");
  }
  void numeric() {
    must(Geam<T>::add(handle_, rows(), cols(), &alpha_, type_, static_cast<int>(p_.A.nnz), values(p_.A), offsets(p_.A),
                      indices(p_.A), &beta_, type_, static_cast<int>(p_.B.nnz), values(p_.B), offsets(p_.B),
                      indices(p_.B), type_, static_cast<T*>(values_), static_cast<int*>(offsets_),
                      static_cast<int*>(indices_), workspace_),
         "cusparse csrgeam2");
  }
  HostResult fetch() {
    const auto down = [](std::vector<unsigned char>& to, const void* from, size_t bytes) {
      to.resize(bytes);
      must(cudaMemcpy(to.data(), from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    };
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    down(host_offsets_, offsets_, static_cast<size_t>(p_.A.rows + 1) * 4);
    down(host_indices_, indices_, static_cast<size_t>(nnz_) * 4);
    down(host_values_, values_, static_cast<size_t>(nnz_) * sizeof(T));
    return {p_.A.rows, nnz_, 4, 4, 0, host_offsets_.data(), host_indices_.data(), host_values_.data()};
  }

 private:
  int rows() const { return static_cast<int>(p_.A.rows); }
  int cols() const { return static_cast<int>(p_.A.cols); }
  static const int* offsets(const SparseOperand& x) { return static_cast<const int*>(x.offsets); }
  static const int* indices(const SparseOperand& x) { return static_cast<const int*>(x.indices); }
  static const T* values(const SparseOperand& x) { return static_cast<const T*>(x.values); }

  SpaddProblem p_;
  T alpha_{}, beta_{};
  cusparseHandle_t handle_ = nullptr;
  cusparseMatDescr_t type_ = nullptr;
  int nnz_ = 0;
  void *offsets_ = nullptr, *indices_ = nullptr, *values_ = nullptr, *workspace_ = nullptr;
  std::vector<unsigned char> host_offsets_, host_indices_, host_values_;
};

template <class T>
std::vector<TwoPhases> sum(const SpaddProblem& p) {
  const auto state = std::make_shared<Sum<T>>(p);
  return {
      {"csrgeam2", [state] { state->symbolic(); }, [state] { state->numeric(); }, [state] { return state->fetch(); }}};
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

  std::vector<TwoPhases> spadd(const SpaddProblem& p) override {
    if (p.index != KKC_INDEX_32_32) throw NotTaken("csrgeam2 has 32-bit indices only");
    if (p.op_A != KKC_OP_NONE || p.op_B != KKC_OP_NONE) throw NotTaken("csrgeam2 transposes nothing");
    must(cudaSetDevice(p.device_id), "cudaSetDevice");
    switch (p.scalar) {
      case KKC_TYPE_F32: return sum<float>(p);
      case KKC_TYPE_F64: return sum<double>(p);
      case KKC_TYPE_C64: return sum<cuComplex>(p);
      default: return sum<cuDoubleComplex>(p);
    }
  }

  std::vector<SpgemmEntrant> spgemm(const SpgemmProblem& p) override {
    must(cudaSetDevice(p.device_id), "cudaSetDevice");
    return cusparse_parts::spgemm_entrants(p);
  }

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
  std::vector<Entrant> sptrsv(const SptrsvProblem& p) override { return cusparse_solve::sptrsv(p); }
  std::vector<TwoPhases> factors(const FactorProblem& p) override { return cusparse_factors::factors(p); }
  std::vector<Entrant> transpose(const ReorderProblem& p) override { return cusparse_reorder::transpose(p); }
  std::vector<Entrant> sort_rows(const ReorderProblem& p) override { return cusparse_reorder::sort_rows(p); }
  std::vector<Entrant> coo_to_csr(const ReorderProblem& p) override { return cusparse_reorder::coo_to_csr(p); }
  std::vector<Entrant> csr_to_coo(const PassProblem& p) override { return cusparse_reorder::csr_to_coo(p); }
};

}  // namespace
}  // namespace kkc::bench

KKC_BENCH_EXPORT kkc::bench::Peer* kkc_bench_peer() { return new kkc::bench::CuSparse; }
