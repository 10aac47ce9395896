// Kokkos Kernels on Kokkos' default device: compiled once for OpenMP, once for CUDA.
#include <KokkosKernels_config.h>

#include <Kokkos_Core.hpp>

#include "peer.hpp"

namespace kkc::bench {

namespace kokkos_kernels {
template <class T>
std::vector<Entrant> spmv(const SpmvProblem& p);
extern template std::vector<Entrant> spmv<float>(const SpmvProblem&);
extern template std::vector<Entrant> spmv<double>(const SpmvProblem&);
extern template std::vector<Entrant> spmv<Kokkos::complex<float>>(const SpmvProblem&);
template <class T>
std::vector<Entrant> sptrsv(const SptrsvProblem& p);
extern template std::vector<Entrant> sptrsv<float>(const SptrsvProblem&);
extern template std::vector<Entrant> sptrsv<double>(const SptrsvProblem&);
template <class T>
std::vector<TwoPhases> spadd(const SpaddProblem& p);
extern template std::vector<TwoPhases> spadd<float>(const SpaddProblem&);
extern template std::vector<TwoPhases> spadd<double>(const SpaddProblem&);
template <class T>
std::vector<SpgemmEntrant> spgemm(const SpgemmProblem& p);
extern template std::vector<SpgemmEntrant> spgemm<float>(const SpgemmProblem&);
extern template std::vector<SpgemmEntrant> spgemm<double>(const SpgemmProblem&);
template <class T>
std::vector<SpgemmEntrant> spgemm_jacobi(const JacobiProblem& p);
extern template std::vector<SpgemmEntrant> spgemm_jacobi<float>(const JacobiProblem&);
extern template std::vector<SpgemmEntrant> spgemm_jacobi<double>(const JacobiProblem&);
}  // namespace kokkos_kernels

namespace {

constexpr const char* two_types = "this adapter holds f32 and f64 only: each type takes minutes to compile";

void start_kokkos(int32_t threads) {
  if (Kokkos::is_initialized()) return;
  Kokkos::InitializationSettings settings;
  settings.set_disable_warnings(true);
  if (threads > 0) settings.set_num_threads(threads);
  Kokkos::initialize(settings);
}

/// For what runs on Kokkos' default instance alone.
void require_default_instance(int32_t threads) {
  start_kokkos(threads);
  if (threads > 0 && Kokkos::DefaultExecutionSpace().concurrency() != threads)
    throw NotTaken("runs with the number of threads of the program's first case only");
}

class KokkosKernels final : public Peer {
 public:
  std::string name() const override { return "kokkos_kernels"; }
  std::string version() const override {
    return std::to_string(KOKKOSKERNELS_VERSION_MAJOR) + "." + std::to_string(KOKKOSKERNELS_VERSION_MINOR) + "." +
           std::to_string(KOKKOSKERNELS_VERSION_PATCH) + " on Kokkos " + std::to_string(KOKKOS_VERSION / 10000) + "." +
           std::to_string(KOKKOS_VERSION / 100 % 100) + "." + std::to_string(KOKKOS_VERSION % 100);
  }
  bool serves(kkc_device_t device) const override {
#if defined(KOKKOS_ENABLE_CUDA)
    return device == KKC_DEVICE_CUDA;
#else
    return device == KKC_DEVICE_OPENMP;
#endif
  }

  std::vector<Entrant> spmv(const SpmvProblem& p) override {
    if (p.index != KKC_INDEX_32_32) throw NotTaken("this adapter holds 32-bit indices only");
    if (p.base != 0) throw NotTaken("indices start at 0");
    start_kokkos(p.threads);
    if (p.scalar == KKC_TYPE_F32) return kokkos_kernels::spmv<float>(p);
    if (p.scalar == KKC_TYPE_F64) return kokkos_kernels::spmv<double>(p);
    if (p.scalar == KKC_TYPE_C64) return kokkos_kernels::spmv<Kokkos::complex<float>>(p);
    throw NotTaken("this adapter holds f32, f64 and c64 only: each type takes minutes to compile");
  }

  std::vector<Entrant> sptrsv(const SptrsvProblem& p) override {
    if (p.index != KKC_INDEX_32_32) throw NotTaken("this adapter holds 32-bit indices only");
    if (p.op != KKC_OP_NONE) throw NotTaken("solves with no transpose");
    if (p.vectors != 1) throw NotTaken("solves for one vector");
    require_default_instance(p.threads);
    if (p.scalar == KKC_TYPE_F32) return kokkos_kernels::sptrsv<float>(p);
    return kokkos_kernels::sptrsv<double>(p);
  }

  std::vector<TwoPhases> spadd(const SpaddProblem& p) override {
    if (p.index != KKC_INDEX_32_32) throw NotTaken("this adapter holds 32-bit indices only");
    if (p.op_A != KKC_OP_NONE || p.op_B != KKC_OP_NONE) throw NotTaken("adds no transposes");
    require_default_instance(p.threads);
    if (p.scalar == KKC_TYPE_F32) return kokkos_kernels::spadd<float>(p);
    if (p.scalar == KKC_TYPE_F64) return kokkos_kernels::spadd<double>(p);
    throw NotTaken(two_types);
  }

  std::vector<SpgemmEntrant> spgemm(const SpgemmProblem& p) override {
    for (const kkc_index_pair_t index : {p.A.index, p.B.index, p.index_c})
      if (index != KKC_INDEX_32_32) throw NotTaken("this adapter holds 32-bit indices only");
    if (p.A.base != 0 || p.B.base != 0) throw NotTaken("indices start at 0");
    if (p.op_a != KKC_OP_NONE || p.op_b != KKC_OP_NONE) throw NotTaken("multiplies no transpose");
    require_default_instance(p.threads);
    if (p.scalar == KKC_TYPE_F32) return kokkos_kernels::spgemm<float>(p);
    if (p.scalar == KKC_TYPE_F64) return kokkos_kernels::spgemm<double>(p);
    throw NotTaken(two_types);
  }

  std::vector<SpgemmEntrant> spgemm_jacobi(const JacobiProblem& p) override {
    for (const kkc_index_pair_t index : {p.product.A.index, p.product.B.index, p.product.index_c})
      if (index != KKC_INDEX_32_32) throw NotTaken("this adapter holds 32-bit indices only");
    require_default_instance(p.product.threads);
    if (p.product.scalar == KKC_TYPE_F32) return kokkos_kernels::spgemm_jacobi<float>(p);
    if (p.product.scalar == KKC_TYPE_F64) return kokkos_kernels::spgemm_jacobi<double>(p);
    throw NotTaken(two_types);
  }
};

}  // namespace
}  // namespace kkc::bench

KKC_BENCH_EXPORT kkc::bench::Peer* kkc_bench_peer() { return new kkc::bench::KokkosKernels; }
