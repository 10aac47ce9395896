#include "cusparse_factors.hpp"

#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <memory>

// cuSPARSE names no successor.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace kkc::bench::cusparse_factors {
namespace {

void must(cusparseStatus_t status, const char* call) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + cusparseGetErrorString(status));
}
void must(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}

struct Ilu {
  using Info = csrilu02Info_t;
  static constexpr auto create = cusparseCreateCsrilu02Info;
  static constexpr auto destroy = cusparseDestroyCsrilu02Info;
  static constexpr auto zero_pivot = cusparseXcsrilu02_zeroPivot;
};
struct Ic {
  using Info = csric02Info_t;
  static constexpr auto create = cusparseCreateCsric02Info;
  static constexpr auto destroy = cusparseDestroyCsric02Info;
  static constexpr auto zero_pivot = cusparseXcsric02_zeroPivot;
};

/// The calls for one kind of factors and one element type.
template <class Kind, class T>
struct Calls;
template <>
struct Calls<Ilu, float> {
  static constexpr auto buffer = cusparseScsrilu02_bufferSize;
  static constexpr auto analysis = cusparseScsrilu02_analysis;
  static constexpr auto factor = cusparseScsrilu02;
};
template <>
struct Calls<Ilu, double> {
  static constexpr auto buffer = cusparseDcsrilu02_bufferSize;
  static constexpr auto analysis = cusparseDcsrilu02_analysis;
  static constexpr auto factor = cusparseDcsrilu02;
};
template <>
struct Calls<Ilu, cuComplex> {
  static constexpr auto buffer = cusparseCcsrilu02_bufferSize;
  static constexpr auto analysis = cusparseCcsrilu02_analysis;
  static constexpr auto factor = cusparseCcsrilu02;
};
template <>
struct Calls<Ilu, cuDoubleComplex> {
  static constexpr auto buffer = cusparseZcsrilu02_bufferSize;
  static constexpr auto analysis = cusparseZcsrilu02_analysis;
  static constexpr auto factor = cusparseZcsrilu02;
};
template <>
struct Calls<Ic, float> {
  static constexpr auto buffer = cusparseScsric02_bufferSize;
  static constexpr auto analysis = cusparseScsric02_analysis;
  static constexpr auto factor = cusparseScsric02;
};
template <>
struct Calls<Ic, double> {
  static constexpr auto buffer = cusparseDcsric02_bufferSize;
  static constexpr auto analysis = cusparseDcsric02_analysis;
  static constexpr auto factor = cusparseDcsric02;
};
template <>
struct Calls<Ic, cuComplex> {
  static constexpr auto buffer = cusparseCcsric02_bufferSize;
  static constexpr auto analysis = cusparseCcsric02_analysis;
  static constexpr auto factor = cusparseCcsric02;
};
template <>
struct Calls<Ic, cuDoubleComplex> {
  static constexpr auto buffer = cusparseZcsric02_bufferSize;
  static constexpr auto analysis = cusparseZcsric02_analysis;
  static constexpr auto factor = cusparseZcsric02;
};

/// Factors in place, so that each numeric() begins with a copy of A's values.
template <class Kind, class T>
class Factors {
 public:
  Factors(const FactorProblem& p, cusparseSolvePolicy_t policy) : p_(p), policy_(policy) {
    must(cusparseCreate(&handle_), "cusparseCreate");
    must(cusparseSetStream(handle_, stream()), "cusparseSetStream");
    must(cusparseCreateMatDescr(&descr_), "cusparseCreateMatDescr");
    must(cusparseSetMatIndexBase(descr_, p.A.base == 0 ? CUSPARSE_INDEX_BASE_ZERO : CUSPARSE_INDEX_BASE_ONE),
         "cusparseSetMatIndexBase");
    must(cudaMalloc(&values_, static_cast<size_t>(p.A.nnz) * sizeof(T) + 1), "cudaMalloc");
    symbolic();
  }
  Factors(const Factors&) = delete;
  Factors& operator=(const Factors&) = delete;
  ~Factors() {
    forget();
    cudaFree(values_);
    if (descr_ != nullptr) cusparseDestroyMatDescr(descr_);
    if (handle_ != nullptr) cusparseDestroy(handle_);
  }

  /// With its buffer's allocation.
  void symbolic() {
    forget();
    must(Kind::create(&info_), "cusparse create info");
    int bytes = 0;
    must(Calls<Kind, T>::buffer(handle_, rows(), nnz(), descr_, values(), offsets(), indices(), info_, &bytes),
         "cusparse bufferSize");
    must(cudaMalloc(&buffer_, static_cast<size_t>(bytes) + 1), "cudaMalloc");
    must(Calls<Kind, T>::analysis(handle_, rows(), nnz(), descr_, static_cast<const T*>(p_.A.values), offsets(),
                                  indices(), info_, policy_, buffer_),
         "cusparse analysis");
  }
  void numeric() {
    must(cudaMemcpyAsync(values_, p_.A.values, static_cast<size_t>(p_.A.nnz) * sizeof(T), cudaMemcpyDeviceToDevice,
                         stream()),
         "cudaMemcpyAsync");
    must(
        Calls<Kind, T>::factor(handle_, rows(), nnz(), descr_, values(), offsets(), indices(), info_, policy_, buffer_),
        "cusparse factorization");
  }
  HostResult fetch() {
    int row = -1;
    if (Kind::zero_pivot(handle_, info_, &row) == CUSPARSE_STATUS_ZERO_PIVOT)
      throw std::runtime_error("zero pivot in row " + std::to_string(row));
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    download(host_offsets_, p_.A.offsets, static_cast<size_t>(p_.A.rows) + 1);
    download(host_indices_, p_.A.indices, static_cast<size_t>(p_.A.nnz));
    download(host_values_, values_, static_cast<size_t>(p_.A.nnz));
    if (p_.cholesky) keep_lower();
    return {p_.A.rows,
            static_cast<int64_t>(host_indices_.size()),
            4,
            4,
            p_.A.base,
            host_offsets_.data(),
            host_indices_.data(),
            host_values_.data()};
  }

 private:
  int rows() const { return static_cast<int>(p_.A.rows); }
  int nnz() const { return static_cast<int>(p_.A.nnz); }
  const int* offsets() const { return static_cast<const int*>(p_.A.offsets); }
  const int* indices() const { return static_cast<const int*>(p_.A.indices); }
  T* values() const { return static_cast<T*>(values_); }
  cudaStream_t stream() const { return static_cast<cudaStream_t>(p_.stream); }

  void forget() {
    if (info_ != nullptr) Kind::destroy(info_);
    info_ = nullptr;
    cudaFree(buffer_);
    buffer_ = nullptr;
  }
  template <class E>
  static void download(std::vector<E>& to, const void* from, size_t count) {
    to.resize(count);
    must(cudaMemcpy(to.data(), from, count * sizeof(E), cudaMemcpyDeviceToHost), "cudaMemcpy");
  }
  /// csric02 leaves A's upper triangle as it was.
  void keep_lower() {
    size_t kept = 0;
    int begin = 0;
    for (int i = 0; i < rows(); ++i) {
      const int end = host_offsets_[static_cast<size_t>(i) + 1] - p_.A.base;
      for (int k = begin; k < end; ++k) {
        const auto from = static_cast<size_t>(k);
        if (host_indices_[from] - p_.A.base > i) continue;
        host_indices_[kept] = host_indices_[from];
        host_values_[kept++] = host_values_[from];
      }
      begin = end;
      host_offsets_[static_cast<size_t>(i) + 1] = static_cast<int>(kept) + p_.A.base;
    }
    host_indices_.resize(kept);
    host_values_.resize(kept);
  }

  FactorProblem p_;
  cusparseSolvePolicy_t policy_;
  cusparseHandle_t handle_ = nullptr;
  cusparseMatDescr_t descr_ = nullptr;
  typename Kind::Info info_ = nullptr;
  void *values_ = nullptr, *buffer_ = nullptr;
  std::vector<int> host_offsets_, host_indices_;
  std::vector<T> host_values_;
};

template <class Kind, class T>
std::vector<TwoPhases> of_type(const FactorProblem& p) {
  std::vector<TwoPhases> list;
  const std::string name = p.cholesky ? "csric02" : "csrilu02";
  for (const auto& [policy, text] :
       {std::pair{CUSPARSE_SOLVE_POLICY_USE_LEVEL, ""}, std::pair{CUSPARSE_SOLVE_POLICY_NO_LEVEL, " without levels"}}) {
    const auto state = std::make_shared<Factors<Kind, T>>(p, policy);
    list.push_back({name + text, [state] { state->symbolic(); }, [state] { state->numeric(); },
                    [state] { return state->fetch(); }});
  }
  return list;
}

template <class Kind>
std::vector<TwoPhases> of_kind(const FactorProblem& p) {
  switch (p.scalar) {
    case KKC_TYPE_F32: return of_type<Kind, float>(p);
    case KKC_TYPE_F64: return of_type<Kind, double>(p);
    case KKC_TYPE_C64: return of_type<Kind, cuComplex>(p);
    default: return of_type<Kind, cuDoubleComplex>(p);
  }
}

}  // namespace

std::vector<TwoPhases> factors(const FactorProblem& p) {
  if (p.A.index != KKC_INDEX_32_32) throw NotTaken("csrilu02 and csric02 have 32-bit indices only");
  must(cudaSetDevice(p.device_id), "cudaSetDevice");
  return p.cholesky ? of_kind<Ic>(p) : of_kind<Ilu>(p);
}

}  // namespace kkc::bench::cusparse_factors
