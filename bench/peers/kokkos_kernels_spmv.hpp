// Kokkos Kernels' SpMV for one element type; CMake writes a unit for each, since one takes minutes to compile.
#pragma once

#include "kokkos_kernels_prelude.hpp"

#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv.hpp>
#include <memory>
#include <type_traits>

namespace kkc::bench {

namespace kokkos_kernels {

inline Exec instance(const SpmvProblem& p) {
#if defined(KOKKOS_ENABLE_CUDA)
  return on_stream(p.stream);
#else
  return Exec().concurrency() == p.threads ? Exec() : Exec(p.threads);
#endif
}

template <class T, class V>
Entrant entrant(const SpmvProblem& p, const char* name, KokkosSparse::SPMVAlgorithm algorithm, const V& x, const V& y) {
  using Matrix = KokkosSparse::CrsMatrix<T, int32_t, DeviceType, void, int32_t>;
  using Handle = KokkosSparse::SPMVHandle<Exec, Matrix, V, V>;
  const typename Matrix::row_map_type::non_const_type offsets(static_cast<int32_t*>(const_cast<void*>(p.offsets)),
                                                              static_cast<size_t>(p.rows + 1));
  const typename Matrix::index_type indices(static_cast<int32_t*>(const_cast<void*>(p.indices)),
                                            static_cast<size_t>(p.nnz));
  const typename Matrix::values_type values(static_cast<T*>(p.values), static_cast<size_t>(p.nnz));
  const Matrix A("A", static_cast<int32_t>(p.rows), static_cast<int32_t>(p.cols), p.nnz, values, offsets, indices);
  const auto handle = std::make_shared<Handle>(algorithm);
  const char* mode = p.op == KKC_OP_NONE ? "N" : p.op == KKC_OP_TRANSPOSE ? "T" : p.op == KKC_OP_CONJUGATE ? "C" : "H";
  return {name, false, 0.0,
          [exec = instance(p), handle, mode, A, x, y] {
            KokkosSparse::spmv(exec, handle.get(), mode, T(1), A, x, T(0), y);
          },
          nullptr};
}

template <class T, class V>
std::vector<Entrant> algorithms(const SpmvProblem& p, const V& x, const V& y) {
  std::vector<Entrant> list{entrant<T>(p, "", KokkosSparse::SPMV_DEFAULT, x, y)};
  if (p.vectors == 1 && p.op == KKC_OP_NONE)
    list.push_back(entrant<T>(p, "merge path", KokkosSparse::SPMV_NATIVE_MERGE_PATH, x, y));
  return list;
}

template <class T, class Layout>
std::vector<Entrant> many(const SpmvProblem& p) {
  using V = Kokkos::View<T**, Layout, DeviceType, Unmanaged>;
  const auto k = static_cast<size_t>(p.vectors);
  const V x(static_cast<T*>(const_cast<void*>(p.x)), static_cast<size_t>(p.x_rows()), k);
  const V y(static_cast<T*>(p.y), static_cast<size_t>(p.y_rows()), k);
  return algorithms<T>(p, x, y);
}

template <class T>
std::vector<Entrant> spmv(const SpmvProblem& p) {
  if (p.vectors > 1)
    return p.layout == KKC_LAYOUT_LEFT ? many<T, Kokkos::LayoutLeft>(p) : many<T, Kokkos::LayoutRight>(p);
  using V = Kokkos::View<T*, Kokkos::LayoutLeft, DeviceType, Unmanaged>;
  const V x(static_cast<T*>(const_cast<void*>(p.x)), static_cast<size_t>(p.x_rows()));
  const V y(static_cast<T*>(p.y), static_cast<size_t>(p.y_rows()));
  return algorithms<T>(p, x, y);
}

}  // namespace kokkos_kernels
}  // namespace kkc::bench
