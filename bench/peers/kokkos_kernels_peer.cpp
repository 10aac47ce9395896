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
}  // namespace kokkos_kernels

namespace {

void start_kokkos(const SpmvProblem& p) {
  if (Kokkos::is_initialized()) return;
  Kokkos::InitializationSettings settings;
  settings.set_disable_warnings(true);
  if (p.threads > 0) settings.set_num_threads(p.threads);
  Kokkos::initialize(settings);
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
    start_kokkos(p);
    if (p.scalar == KKC_TYPE_F32) return kokkos_kernels::spmv<float>(p);
    if (p.scalar == KKC_TYPE_F64) return kokkos_kernels::spmv<double>(p);
    throw NotTaken("this adapter holds f32 and f64 only: each type takes minutes to compile");
  }
};

}  // namespace
}  // namespace kkc::bench

KKC_BENCH_EXPORT kkc::bench::Peer* kkc_bench_peer() { return new kkc::bench::KokkosKernels; }
