// Kokkos Kernels' SpGEMM for one element type, in its two phases; rows of C come out unsorted.
#pragma once

#include "kokkos_kernels_prelude.hpp"

#include <KokkosSparse_spgemm.hpp>
#include <memory>

namespace kkc::bench::kokkos_kernels {

template <class T>
class Product {
 public:
  explicit Product(const SpgemmProblem& p) : p_(p), A_(p.A), B_(p.B) {}

  void whole() {
    indices_ = {};
    values_ = {};
    offsets_ = Own<int32_t>("offsets", static_cast<size_t>(p_.A.rows) + 1);
    handle_.create_spgemm_handle(KokkosSparse::SPGEMM_KK);
    KokkosSparse::Experimental::spgemm_symbolic(&handle_, rows(), inner(), cols(), A_.offsets, A_.indices, false,
                                                B_.offsets, B_.indices, false, offsets_);
    const auto nnz = static_cast<size_t>(handle_.get_spgemm_handle()->get_c_nnz());
    indices_ = Own<int32_t>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "indices"), nnz);
    values_ = Own<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "values"), nnz);
    numeric();
  }

  void numeric() {
    KokkosSparse::Experimental::spgemm_numeric(&handle_, rows(), inner(), cols(), A_.offsets, A_.indices, A_.values,
                                               false, B_.offsets, B_.indices, B_.values, false, offsets_, indices_,
                                               values_);
    Exec().fence();
  }

  SparseOperand result() const {
    return {
        p_.A.rows,       p_.B.cols,     static_cast<int64_t>(indices_.extent(0)), KKC_INDEX_32_32, 0, offsets_.data(),
        indices_.data(), values_.data()};
  }

 private:
  template <class V>
  using Own = Kokkos::View<V*, Kokkos::LayoutLeft, DeviceType>;

  int32_t rows() const { return static_cast<int32_t>(p_.A.rows); }
  int32_t inner() const { return static_cast<int32_t>(p_.A.cols); }
  int32_t cols() const { return static_cast<int32_t>(p_.B.cols); }

  SpgemmProblem p_;
  KokkosKernels::Experimental::KokkosKernelsHandle<int32_t, int32_t, T, Exec, Space, Space> handle_;
  Arrays<T> A_, B_;
  Own<int32_t> offsets_, indices_;
  Own<T> values_;
};

template <class T>
std::vector<SpgemmEntrant> spgemm(const SpgemmProblem& p) {
  const auto product = std::make_shared<Product<T>>(p);
  SpgemmEntrant entrant;
  entrant.whole = [product] { product->whole(); };
  entrant.numeric = [product] { product->numeric(); };
  entrant.result = [product] { return product->result(); };
  return {entrant};
}

}  // namespace kkc::bench::kokkos_kernels
