// rocSPARSE, found at run time: without it the module works and its implementations say why they are refused.
#pragma once

#include <rocsparse/rocsparse.h>

#include <cstdint>
#include <string>

#include "core/operands.hpp"
#include "core/queue.hpp"

namespace kkc::rocsparse {

/// The functions that kkc calls, from librocsparse.so.0.
struct Library {
  decltype(&rocsparse_create_handle) create;
  decltype(&rocsparse_set_stream) set_stream;
  decltype(&rocsparse_create_csr_descr) create_csr;
  decltype(&rocsparse_csr_set_pointers) csr_set_pointers;
  decltype(&rocsparse_destroy_spmat_descr) destroy_sparse;
  decltype(&rocsparse_create_dnvec_descr) create_vector;
  decltype(&rocsparse_dnvec_set_values) vector_set_values;
  decltype(&rocsparse_destroy_dnvec_descr) destroy_vector;
  decltype(&rocsparse_create_dnmat_descr) create_dense;
  decltype(&rocsparse_dnmat_set_values) dense_set_values;
  decltype(&rocsparse_destroy_dnmat_descr) destroy_dense;
  decltype(&rocsparse_spmv) spmv;
  decltype(&rocsparse_spmm) spmm;
  decltype(&rocsparse_spmat_get_size) sparse_size;
  decltype(&rocsparse_spgemm) spgemm;
};

/// Null when it is not there; then `reason` says why.
const Library* library(std::string* reason = nullptr);

/// Throws KKC_STATUS_VENDOR with rocSPARSE's status.
void check(rocsparse_status status, const char* call);

rocsparse_datatype type_of(Scalar scalar);
rocsparse_operation operation_of(Op op);

/// A handle, for one user at a time; handles return to a stock.
class Handle {
 public:
  explicit Handle(const Queue& queue);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  /// The handle, working on the queue's current stream.
  rocsparse_handle on(const Queue& queue) const;

 private:
  int32_t device_;
  rocsparse_handle handle_;
};

class SparseMatrix {
 public:
  explicit SparseMatrix(const CsrRef& A);
  ~SparseMatrix();
  SparseMatrix(const SparseMatrix&) = delete;
  SparseMatrix& operator=(const SparseMatrix&) = delete;
  void set(const CsrRef& A) const;
  int64_t nnz() const;
  rocsparse_spmat_descr get() const { return descriptor_; }

 private:
  rocsparse_spmat_descr descriptor_ = nullptr;
};

/// Rank 1 with stride 1.
class Vector {
 public:
  explicit Vector(const DenseRef& v);
  ~Vector();
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;
  void set(const DenseRef& v) const;
  rocsparse_dnvec_descr get() const { return descriptor_; }

 private:
  rocsparse_dnvec_descr descriptor_ = nullptr;
};

/// Rank 2 with one unit stride.
class DenseMatrix {
 public:
  explicit DenseMatrix(const DenseRef& v);
  ~DenseMatrix();
  DenseMatrix(const DenseMatrix&) = delete;
  DenseMatrix& operator=(const DenseMatrix&) = delete;
  void set(const DenseRef& v) const;
  rocsparse_dnmat_descr get() const { return descriptor_; }

 private:
  rocsparse_dnmat_descr descriptor_ = nullptr;
};

}  // namespace kkc::rocsparse
