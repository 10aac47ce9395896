#include "mkl_reorder.hpp"

#include <mkl.h>
#include <mkl_spblas.h>

#include <complex>
#include <cstring>
#include <memory>

namespace kkc::bench::mkl_reorder {
namespace {

void must(sparse_status_t status, const char* call) {
  if (status == SPARSE_STATUS_NOT_SUPPORTED) throw NotTaken(std::string(call) + ": not supported");
  if (status != SPARSE_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": status " + std::to_string(status));
}

struct Destroy {
  void operator()(sparse_matrix_t A) const { mkl_sparse_destroy(A); }
};
using Handle = std::unique_ptr<sparse_matrix, Destroy>;

template <class V>
struct Calls;
template <>
struct Calls<float> {
  static constexpr auto create = mkl_sparse_s_create_csr;
  static constexpr auto from_coordinates = mkl_sparse_s_create_coo;
  static constexpr auto arrays = mkl_sparse_s_export_csr;
};
template <>
struct Calls<double> {
  static constexpr auto create = mkl_sparse_d_create_csr;
  static constexpr auto from_coordinates = mkl_sparse_d_create_coo;
  static constexpr auto arrays = mkl_sparse_d_export_csr;
};
template <>
struct Calls<MKL_Complex8> {
  static constexpr auto create = mkl_sparse_c_create_csr;
  static constexpr auto from_coordinates = mkl_sparse_c_create_coo;
  static constexpr auto arrays = mkl_sparse_c_export_csr;
};
template <>
struct Calls<MKL_Complex16> {
  static constexpr auto create = mkl_sparse_z_create_csr;
  static constexpr auto from_coordinates = mkl_sparse_z_create_coo;
  static constexpr auto arrays = mkl_sparse_z_export_csr;
};

template <class V>
Handle handle(const ReorderProblem& p, const void* offsets, const void* indices, const void* values) {
  auto* const begin = static_cast<MKL_INT*>(const_cast<void*>(offsets));
  sparse_matrix_t raw = nullptr;
  must(Calls<V>::create(&raw, p.base == 0 ? SPARSE_INDEX_BASE_ZERO : SPARSE_INDEX_BASE_ONE,
                        static_cast<MKL_INT>(p.rows), static_cast<MKL_INT>(p.cols), begin, begin + 1,
                        static_cast<MKL_INT*>(const_cast<void*>(indices)), static_cast<V*>(const_cast<void*>(values))),
       "mkl_sparse_create_csr");
  return Handle(raw);
}

/// C's arrays from the library's own.
template <class V>
void fetch_typed(const ReorderProblem& p, sparse_matrix_t C, int64_t rows_C) {
  sparse_index_base_t base;
  MKL_INT rows = 0, cols = 0, *begin = nullptr, *end = nullptr, *indices = nullptr;
  V* values = nullptr;
  must(Calls<V>::arrays(C, &base, &rows, &cols, &begin, &end, &indices, &values), "mkl_sparse_export_csr");
  std::memcpy(p.offsets_C, begin, (static_cast<size_t>(rows_C) + 1) * sizeof(MKL_INT));
  std::memcpy(p.indices_C, indices, static_cast<size_t>(p.nnz) * sizeof(MKL_INT));
  std::memcpy(p.values_C, values, static_cast<size_t>(p.nnz) * sizeof(V));
}

template <class V>
std::vector<Entrant> transpose_typed(const ReorderProblem& p) {
  mkl_set_num_threads(p.threads);
  const std::shared_ptr<sparse_matrix> A = handle<V>(p, p.offsets, p.indices, p.values);
  const auto result = std::make_shared<Handle>();
  const auto run = [=] {
    result->reset();
    sparse_matrix_t raw = nullptr;
    must(mkl_sparse_convert_csr(A.get(), SPARSE_OPERATION_TRANSPOSE, &raw), "mkl_sparse_convert_csr");
    result->reset(raw);
  };
  return {{"convert_csr", false, 0.0, run, [=] { fetch_typed<V>(p, result->get(), p.cols); }}};
}

/// The order is made in place, so each call begins with a copy of the matrix: that copy, by all threads, is part of the
/// time.
template <class V>
std::vector<Entrant> sort_typed(const ReorderProblem& p) {
  mkl_set_num_threads(p.threads);
  const auto run = [=] {
    std::memcpy(p.offsets_C, p.offsets, (static_cast<size_t>(p.rows) + 1) * sizeof(MKL_INT));
#pragma omp parallel for num_threads(p.threads) schedule(static)
    for (int64_t k = 0; k < p.nnz; ++k) {
      static_cast<MKL_INT*>(p.indices_C)[k] = static_cast<const MKL_INT*>(p.indices)[k];
      static_cast<V*>(p.values_C)[k] = static_cast<const V*>(p.values)[k];
    }
    must(mkl_sparse_order(handle<V>(p, p.offsets_C, p.indices_C, p.values_C).get()), "mkl_sparse_order");
  };
  return {{"order", false, 0.0, run, nullptr}};
}

template <class V>
std::vector<Entrant> coo_typed(const ReorderProblem& p) {
  mkl_set_num_threads(p.threads);
  const auto indices = [](const void* of) { return static_cast<MKL_INT*>(const_cast<void*>(of)); };
  sparse_matrix_t coordinates = nullptr;
  must(Calls<V>::from_coordinates(&coordinates, p.base == 0 ? SPARSE_INDEX_BASE_ZERO : SPARSE_INDEX_BASE_ONE,
                                  static_cast<MKL_INT>(p.rows), static_cast<MKL_INT>(p.cols),
                                  static_cast<MKL_INT>(p.nnz), indices(p.row_indices), indices(p.indices),
                                  static_cast<V*>(const_cast<void*>(p.values))),
       "mkl_sparse_create_coo");
  const std::shared_ptr<sparse_matrix> A = Handle(coordinates);
  const auto result = std::make_shared<Handle>();
  const auto run = [=] {
    result->reset();
    sparse_matrix_t raw = nullptr;
    must(mkl_sparse_convert_csr(A.get(), SPARSE_OPERATION_NON_TRANSPOSE, &raw), "mkl_sparse_convert_csr");
    result->reset(raw);
    must(mkl_sparse_order(raw), "mkl_sparse_order");
  };
  return {{"convert_csr, order", false, 0.0, run, [=] { fetch_typed<V>(p, result->get(), p.rows); }}};
}

template <class F>
std::vector<Entrant> typed(const ReorderProblem& p, const F& f) {
  if (p.index != KKC_INDEX_32_32) throw NotTaken("the LP64 library has 32-bit indices only");
  switch (p.scalar) {
    case KKC_TYPE_F32: return f(float{});
    case KKC_TYPE_F64: return f(double{});
    case KKC_TYPE_C64: return f(MKL_Complex8{});
    default: return f(MKL_Complex16{});
  }
}

}  // namespace

std::vector<Entrant> transpose(const ReorderProblem& p) {
  return typed(p, [&]<class V>(V) { return transpose_typed<V>(p); });
}
std::vector<Entrant> sort_rows(const ReorderProblem& p) {
  return typed(p, [&]<class V>(V) { return sort_typed<V>(p); });
}

std::vector<Entrant> coo_to_csr(const ReorderProblem& p) {
  return typed(p, [&]<class V>(V) { return coo_typed<V>(p); });
}

}  // namespace kkc::bench::mkl_reorder
