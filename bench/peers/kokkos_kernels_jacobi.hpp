// Kokkos Kernels' Jacobi-fused product for one element type: spgemm's symbolic phase, spgemm_jacobi as the numeric one.
#pragma once

#include "kokkos_kernels_prelude.hpp"

#include <KokkosSparse_spgemm.hpp>
#include <KokkosSparse_spgemm_jacobi.hpp>
#include <memory>

namespace kkc::bench::kokkos_kernels {

template <class T>
class Jacobi {
 public:
  explicit Jacobi(const JacobiProblem& p)
      : p_(p),
        A_(p.product.A),
        B_(p.product.B),
        inverse_(static_cast<const T*>(p.inverse), static_cast<size_t>(p.product.A.rows), 1),
        rows_(static_cast<int32_t>(p.product.A.rows)),
        cols_(static_cast<int32_t>(p.product.B.cols)) {}

  void whole() {
    indices_ = {};
    values_ = {};
    offsets_ = Own<int32_t>("offsets", static_cast<size_t>(rows_) + 1);
    handle_.create_spgemm_handle(KokkosSparse::SPGEMM_KK);
    KokkosSparse::Experimental::spgemm_symbolic(&handle_, rows_, rows_, cols_, A_.offsets, A_.indices, false,
                                                B_.offsets, B_.indices, false, offsets_);
    const auto nnz = static_cast<size_t>(handle_.get_spgemm_handle()->get_c_nnz());
    indices_ = Own<int32_t>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "indices"), nnz);
    values_ = Own<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "values"), nnz);
    numeric();
  }

  void numeric() {
    KokkosSparse::Experimental::spgemm_jacobi(&handle_, rows_, rows_, cols_, A_.offsets, A_.indices, A_.values, false,
                                              B_.offsets, B_.indices, B_.values, false, offsets_, indices_, values_,
                                              static_cast<T>(p_.omega), inverse_);
    Exec().fence();
  }

  SparseOperand result() const {
    return {p_.product.A.rows,
            p_.product.B.cols,
            static_cast<int64_t>(indices_.extent(0)),
            KKC_INDEX_32_32,
            0,
            offsets_.data(),
            indices_.data(),
            values_.data()};
  }

 private:
  template <class V>
  using Own = Kokkos::View<V*, Kokkos::LayoutLeft, DeviceType>;

  JacobiProblem p_;
  KokkosKernels::Experimental::KokkosKernelsHandle<int32_t, int32_t, T, Exec, Space, Space> handle_;
  Arrays<T> A_, B_;
  Kokkos::View<const T**, Kokkos::LayoutLeft, DeviceType, Unmanaged> inverse_;
  Own<int32_t> offsets_, indices_;
  Own<T> values_;
  int32_t rows_, cols_;
};

template <class T>
std::vector<SpgemmEntrant> spgemm_jacobi(const JacobiProblem& p) {
  const auto jacobi = std::make_shared<Jacobi<T>>(p);
  SpgemmEntrant entrant;
  entrant.whole = [jacobi] { jacobi->whole(); };
  entrant.numeric = [jacobi] { jacobi->numeric(); };
  entrant.result = [jacobi] { return jacobi->result(); };
  return {entrant};
}

}  // namespace kkc::bench::kokkos_kernels
