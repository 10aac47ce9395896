// cuSPARSE, found at run time: without it the module works and its implementations say why they are refused.
#pragma once

#include <cusparse.h>

#include <cstdint>
#include <string>
#include <utility>

#include "core/operands.hpp"
#include "core/queue.hpp"

namespace kkc::cusparse {

/// The functions that kkc calls, from libcusparse.so.12.
struct Library {
  decltype(&cusparseCreate) create;
  decltype(&cusparseDestroy) destroy;
  decltype(&cusparseGetErrorString) error_string;
  decltype(&cusparseSetStream) set_stream;
  decltype(&cusparseCreateCsr) create_csr;
  decltype(&cusparseCsrSetPointers) csr_set_pointers;
  decltype(&cusparseDestroySpMat) destroy_sparse;
  decltype(&cusparseCreateDnVec) create_vector;
  decltype(&cusparseDnVecSetValues) vector_set_values;
  decltype(&cusparseDestroyDnVec) destroy_vector;
  decltype(&cusparseCreateDnMat) create_dense;
  decltype(&cusparseDnMatSetValues) dense_set_values;
  decltype(&cusparseDestroyDnMat) destroy_dense;
  decltype(&cusparseSpMV_bufferSize) spmv_buffer_size;
  decltype(&cusparseSpMV_preprocess) spmv_preprocess;  // null before CUDA 12.4
  decltype(&cusparseSpMV) spmv;
  decltype(&cusparseSpMM_bufferSize) spmm_buffer_size;
  decltype(&cusparseSpMM_preprocess) spmm_preprocess;
  decltype(&cusparseSpMM) spmm;
  decltype(&cusparseSpMatGetSize) sparse_size;
  decltype(&cusparseSpGEMM_createDescr) create_product;
  decltype(&cusparseSpGEMM_destroyDescr) destroy_product;
  decltype(&cusparseSpGEMMreuse_workEstimation) product_estimate;
  decltype(&cusparseSpGEMMreuse_nnz) product_nnz;
  decltype(&cusparseSpGEMMreuse_copy) product_copy;
  decltype(&cusparseSpGEMMreuse_compute) product_compute;
  decltype(&cusparseSpMatSetAttribute) sparse_set_attribute;
  decltype(&cusparseSpSV_createDescr) create_spsv;
  decltype(&cusparseSpSV_destroyDescr) destroy_spsv;
  decltype(&cusparseSpSV_bufferSize) spsv_buffer_size;
  decltype(&cusparseSpSV_analysis) spsv_analysis;
  decltype(&cusparseSpSV_solve) spsv_solve;
  decltype(&cusparseSpSV_updateMatrix) spsv_update;  // null before CUDA 12.1
  decltype(&cusparseSpSM_createDescr) create_spsm;
  decltype(&cusparseSpSM_destroyDescr) destroy_spsm;
  decltype(&cusparseSpSM_bufferSize) spsm_buffer_size;
  decltype(&cusparseSpSM_analysis) spsm_analysis;
  decltype(&cusparseSpSM_solve) spsm_solve;
  decltype(&cusparseSpSM_updateMatrix) spsm_update;  // null before CUDA 12.4

  bool solves_triangles() const { return spsv_update != nullptr && spsm_update != nullptr; }
};

/// Null when it is not there; then `reason` says why.
const Library* library(std::string* reason = nullptr);

/// Throws KKC_STATUS_VENDOR with what cuSPARSE says.
void check(cusparseStatus_t status, const char* call);

cudaDataType type_of(Scalar scalar);
cusparseOperation_t operation_of(Op op);

/// A handle, for one user at a time; handles return to a stock, for making one costs milliseconds.
class Handle {
 public:
  explicit Handle(const Queue& queue);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  /// The handle, working on the queue's current stream.
  cusparseHandle_t on(const Queue& queue) const;

 private:
  int32_t device_;
  cusparseHandle_t handle_;
};

class SparseMatrix {
 public:
  explicit SparseMatrix(const CsrRef& A);
  ~SparseMatrix();
  SparseMatrix(const SparseMatrix&) = delete;
  SparseMatrix& operator=(const SparseMatrix&) = delete;
  void set(const CsrRef& A) const;
  /// For solves: the triangle that they read.
  void set_triangle(Uplo uplo, Diag diag) const;
  int64_t nnz() const;
  cusparseSpMatDescr_t get() const { return descriptor_; }

 private:
  cusparseSpMatDescr_t descriptor_ = nullptr;
};

/// What cuSPARSE keeps of a sparse product between its phases.
class Product {
 public:
  Product();
  ~Product();
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  cusparseSpGEMMDescr_t get() const { return descriptor_; }

 private:
  cusparseSpGEMMDescr_t descriptor_ = nullptr;
};

/// Rank 1 with stride 1.
class Vector {
 public:
  explicit Vector(const DenseRef& v);
  ~Vector();
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;
  void set(const DenseRef& v) const;
  cusparseDnVecDescr_t get() const { return descriptor_; }

 private:
  cusparseDnVecDescr_t descriptor_ = nullptr;
};

/// Rank 2 with one unit stride.
class DenseMatrix {
 public:
  explicit DenseMatrix(const DenseRef& v);
  ~DenseMatrix();
  DenseMatrix(const DenseMatrix&) = delete;
  DenseMatrix& operator=(const DenseMatrix&) = delete;
  void set(const DenseRef& v) const;
  cusparseDnMatDescr_t get() const { return descriptor_; }

 private:
  cusparseDnMatDescr_t descriptor_ = nullptr;
};

/// What cuSPARSE keeps of a triangular solve with one right-hand side: the analysis, and A's values as of update().
class TriangularVector {
 public:
  TriangularVector();
  ~TriangularVector();
  TriangularVector(const TriangularVector&) = delete;
  TriangularVector& operator=(const TriangularVector&) = delete;
  size_t buffer_bytes(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha, const SparseMatrix& A,
                      const Vector& b, const Vector& x, cudaDataType type) const;
  void analyse(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha, const SparseMatrix& A,
               const Vector& b, const Vector& x, cudaDataType type, void* buffer) const;
  void update(cusparseHandle_t handle, void* values) const;
  void solve(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha, const SparseMatrix& A, const Vector& b,
             const Vector& x, cudaDataType type) const;

 private:
  cusparseSpSVDescr_t descriptor_ = nullptr;
};

/// The same with several.
class TriangularMatrix {
 public:
  TriangularMatrix();
  ~TriangularMatrix();
  TriangularMatrix(const TriangularMatrix&) = delete;
  TriangularMatrix& operator=(const TriangularMatrix&) = delete;
  size_t buffer_bytes(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha, const SparseMatrix& A,
                      const DenseMatrix& b, const DenseMatrix& x, cudaDataType type) const;
  void analyse(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha, const SparseMatrix& A,
               const DenseMatrix& b, const DenseMatrix& x, cudaDataType type, void* buffer) const;
  void update(cusparseHandle_t handle, void* values) const;
  void solve(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha, const SparseMatrix& A,
             const DenseMatrix& b, const DenseMatrix& x, cudaDataType type) const;

 private:
  cusparseSpSMDescr_t descriptor_ = nullptr;
};

}  // namespace kkc::cusparse
