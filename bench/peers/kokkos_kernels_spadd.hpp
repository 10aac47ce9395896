// Kokkos Kernels' sum of sparse matrices for one element type: its symbolic phase counts and keeps nothing for sorted
// rows, its numeric phase writes columns and values.
#pragma once

#include "kokkos_kernels_prelude.hpp"

#include <KokkosSparse_spadd.hpp>
#include <memory>

namespace kkc::bench::kokkos_kernels {

template <class T>
class Sum {
 public:
  explicit Sum(const SpaddProblem& p)
      : p_(p),
        exec_(on_stream(p.stream)),
        A_(p.A),
        B_(p.B),
        offsets_("offsets", static_cast<size_t>(p.A.rows + 1)),
        rows_(static_cast<int32_t>(p.A.rows)),
        cols_(static_cast<int32_t>(p.A.cols)) {
    symbolic();
  }

  void symbolic() {
    handle_.create_spadd_handle(true, true);
    KokkosSparse::Experimental::spadd_symbolic(exec_, &handle_, rows_, cols_, A_.offsets, A_.indices, B_.offsets,
                                               B_.indices, offsets_);
    const auto nnz = static_cast<size_t>(handle_.get_spadd_handle()->get_c_nnz());
    if (nnz == indices_.extent(0)) return;
    indices_ = Own<int32_t>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "indices"), nnz);
    values_ = Own<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "values"), nnz);
  }

  void numeric() {
    KokkosSparse::Experimental::spadd_numeric(exec_, &handle_, rows_, cols_, A_.offsets, A_.indices, A_.values,
                                              static_cast<T>(p_.alpha), B_.offsets, B_.indices, B_.values,
                                              static_cast<T>(p_.beta), offsets_, indices_, values_);
  }

  HostResult fetch() {
    exec_.fence();
    const Kokkos::HostSpace host;
    host_offsets_ = Kokkos::create_mirror_view_and_copy(host, offsets_);
    host_indices_ = Kokkos::create_mirror_view_and_copy(host, indices_);
    host_values_ = Kokkos::create_mirror_view_and_copy(host, values_);
    return {p_.A.rows,
            static_cast<int64_t>(indices_.extent(0)),
            4,
            4,
            0,
            host_offsets_.data(),
            host_indices_.data(),
            host_values_.data()};
  }

 private:
  template <class V>
  using Own = Kokkos::View<V*, Kokkos::LayoutLeft, DeviceType>;

  SpaddProblem p_;
  Exec exec_;
  KokkosKernels::Experimental::KokkosKernelsHandle<int32_t, int32_t, T, Exec, Space, Space> handle_;
  Arrays<T> A_, B_;
  Own<int32_t> offsets_, indices_;
  Own<T> values_;
  typename Own<int32_t>::HostMirror host_offsets_, host_indices_;
  typename Own<T>::HostMirror host_values_;
  int32_t rows_, cols_;
};

template <class T>
std::vector<TwoPhases> spadd(const SpaddProblem& p) {
  const auto sum = std::make_shared<Sum<T>>(p);
  return {{"", [sum] { sum->symbolic(); }, [sum] { sum->numeric(); }, [sum] { return sum->fetch(); }}};
}

}  // namespace kkc::bench::kokkos_kernels
