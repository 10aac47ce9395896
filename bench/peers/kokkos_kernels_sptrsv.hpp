// Kokkos Kernels' triangular solve for one element type: level scheduling with a team for each row (that with a thread
// a row, SEQLVLSCHD_RP, gives wrong results on OpenMP). Its symbolic phase finds the levels and reads no values.
#pragma once

#include "kokkos_kernels_prelude.hpp"

#include <KokkosSparse_sptrsv.hpp>
#include <chrono>
#include <memory>

namespace kkc::bench::kokkos_kernels {

template <class T>
class Triangle {
 public:
  explicit Triangle(const SptrsvProblem& p)
      : exec_(on_stream(p.stream)),
        offsets_(static_cast<const int32_t*>(p.offsets), static_cast<size_t>(p.rows + 1)),
        indices_(static_cast<const int32_t*>(p.indices), static_cast<size_t>(p.nnz)),
        values_(static_cast<const T*>(p.values), static_cast<size_t>(p.nnz)),
        b_(static_cast<const T*>(p.b), static_cast<size_t>(p.rows)),
        x_(static_cast<T*>(p.x), static_cast<size_t>(p.rows)) {
    handle_.create_sptrsv_handle(KokkosSparse::Experimental::SPTRSVAlgorithm::SEQLVLSCHD_TP1,
                                 static_cast<int32_t>(p.rows), p.lower);
    KokkosSparse::Experimental::sptrsv_symbolic(exec_, &handle_, offsets_, indices_, values_);
    exec_.fence();
  }
  void solve() {
    KokkosSparse::Experimental::sptrsv_solve(exec_, &handle_, offsets_, indices_, values_, b_, x_);
#if !defined(KOKKOS_ENABLE_CUDA)
    exec_.fence();
#endif
  }

 private:
  using Handle = KokkosKernels::Experimental::KokkosKernelsHandle<int32_t, int32_t, T, Exec, Space, Space>;
  Exec exec_;
  Borrowed<int32_t> offsets_, indices_;
  Borrowed<T> values_, b_;
  Kokkos::View<T*, Kokkos::LayoutLeft, DeviceType, Unmanaged> x_;
  Handle handle_;
};

template <class T>
std::vector<Entrant> sptrsv(const SptrsvProblem& p) {
  const auto start = std::chrono::steady_clock::now();
  const auto triangle = std::make_shared<Triangle<T>>(p);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {{"", false, seconds, [triangle] { triangle->solve(); }, nullptr}};
}

}  // namespace kkc::bench::kokkos_kernels
