#include "cusparse.hpp"

#include <dlfcn.h>

#include <mutex>
#include <vector>

#include "vendor/vendor_panel.hpp"

namespace kkc::cusparse {
namespace {

struct Found {
  Library functions{};
  bool complete = false;
  std::string reason;
};

template <class F>
bool find(void* handle, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(handle, name));
  return function != nullptr;
}

Found open_library() {
  Found found;
  // The process may hold it already; else the loader's search path has it.
  void* handle = dlopen("libcusparse.so.12", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    found.reason = cat("cuSPARSE is not there: ", why == nullptr ? "libcusparse.so.12" : why);
    return found;
  }
  Library& f = found.functions;
  found.complete =
      find(handle, "cusparseCreate", f.create) && find(handle, "cusparseDestroy", f.destroy) &&
      find(handle, "cusparseGetErrorString", f.error_string) && find(handle, "cusparseSetStream", f.set_stream) &&
      find(handle, "cusparseCreateCsr", f.create_csr) && find(handle, "cusparseCsrSetPointers", f.csr_set_pointers) &&
      find(handle, "cusparseDestroySpMat", f.destroy_sparse) && find(handle, "cusparseCreateDnVec", f.create_vector) &&
      find(handle, "cusparseDnVecSetValues", f.vector_set_values) &&
      find(handle, "cusparseDestroyDnVec", f.destroy_vector) && find(handle, "cusparseCreateDnMat", f.create_dense) &&
      find(handle, "cusparseDnMatSetValues", f.dense_set_values) &&
      find(handle, "cusparseDestroyDnMat", f.destroy_dense) &&
      find(handle, "cusparseSpMV_bufferSize", f.spmv_buffer_size) && find(handle, "cusparseSpMV", f.spmv) &&
      find(handle, "cusparseSpMM_bufferSize", f.spmm_buffer_size) &&
      find(handle, "cusparseSpMM_preprocess", f.spmm_preprocess) && find(handle, "cusparseSpMM", f.spmm) &&
      find(handle, "cusparseSpMatGetSize", f.sparse_size) &&
      find(handle, "cusparseSpGEMM_createDescr", f.create_product) &&
      find(handle, "cusparseSpGEMM_destroyDescr", f.destroy_product) &&
      find(handle, "cusparseSpGEMMreuse_workEstimation", f.product_estimate) &&
      find(handle, "cusparseSpGEMMreuse_nnz", f.product_nnz) &&
      find(handle, "cusparseSpGEMMreuse_copy", f.product_copy) &&
      find(handle, "cusparseSpGEMMreuse_compute", f.product_compute) &&
      find(handle, "cusparseSpMatSetAttribute", f.sparse_set_attribute) &&
      find(handle, "cusparseSpSV_createDescr", f.create_spsv) &&
      find(handle, "cusparseSpSV_destroyDescr", f.destroy_spsv) &&
      find(handle, "cusparseSpSV_bufferSize", f.spsv_buffer_size) &&
      find(handle, "cusparseSpSV_analysis", f.spsv_analysis) && find(handle, "cusparseSpSV_solve", f.spsv_solve) &&
      find(handle, "cusparseSpSM_createDescr", f.create_spsm) &&
      find(handle, "cusparseSpSM_destroyDescr", f.destroy_spsm) &&
      find(handle, "cusparseSpSM_bufferSize", f.spsm_buffer_size) &&
      find(handle, "cusparseSpSM_analysis", f.spsm_analysis) && find(handle, "cusparseSpSM_solve", f.spsm_solve);
  find(handle, "cusparseSpSV_updateMatrix", f.spsv_update);
  find(handle, "cusparseSpSM_updateMatrix", f.spsm_update);
  find(handle, "cusparseSpMV_preprocess", f.spmv_preprocess);
  if (!found.complete) found.reason = "this libcusparse.so.12 lacks functions that kkc needs";
  return found;
}

const Found& found() {
  static const auto* only = new Found(open_library());
  return *only;
}

const Library& functions() { return found().functions; }

struct Idle {
  int32_t device;
  cusparseHandle_t handle;
};
struct Stock {
  std::mutex mutex;
  std::vector<Idle> idle;
};
Stock& stock() {
  static auto* only = new Stock;
  return *only;
}

cusparseIndexType_t index_type(size_t bytes) { return bytes == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I; }

// cuSPARSE refuses null arrays; what has no entries is never read.
void* some(const void* array) {
  static char nothing[16];
  return array == nullptr ? nothing : const_cast<void*>(array);
}

}  // namespace

const Library* library(std::string* reason) {
  if (reason != nullptr) *reason = found().reason;
  return found().complete ? &found().functions : nullptr;
}

void check(cusparseStatus_t status, const char* call) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  const char* text = functions().error_string(status);
  fail(status == CUSPARSE_STATUS_ALLOC_FAILED || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES
           ? KKC_STATUS_OUT_OF_MEMORY
           : KKC_STATUS_VENDOR,
       call, ": ", text == nullptr ? "unknown status" : text, " (", static_cast<int>(status), ")");
}

cudaDataType type_of(Scalar scalar) {
  switch (scalar) {
    case Scalar::f32: return CUDA_R_32F;
    case Scalar::f64: return CUDA_R_64F;
    case Scalar::c64: return CUDA_C_32F;
    case Scalar::c128: return CUDA_C_64F;
    default: break;
  }
  fail(KKC_STATUS_NOT_SUPPORTED, "cuSPARSE has no type for ", name(scalar));
}

cusparseOperation_t operation_of(Op op) {
  if (op == Op::transpose) return CUSPARSE_OPERATION_TRANSPOSE;
  return op == Op::hermitian ? CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
}

Handle::Handle(const Queue& queue) : device_(queue.device_id()), handle_(nullptr) {
  {
    Stock& all = stock();
    std::lock_guard lock(all.mutex);
    for (auto it = all.idle.begin(); it != all.idle.end(); ++it)
      if (it->device == device_) {
        handle_ = it->handle;
        all.idle.erase(it);
        return;
      }
  }
  check(functions().create(&handle_), "cusparseCreate");
}

Handle::~Handle() {
  Stock& all = stock();
  std::lock_guard lock(all.mutex);
  all.idle.push_back({device_, handle_});
}

cusparseHandle_t Handle::on(const Queue& queue) const {
  check(functions().set_stream(handle_, static_cast<cudaStream_t>(queue.stream())), "cusparseSetStream");
  return handle_;
}

SparseMatrix::SparseMatrix(const CsrRef& A) {
  check(functions().create_csr(&descriptor_, A.rows, A.cols, A.nnz, some(A.offsets), some(A.indices), some(A.values),
                               index_type(offset_size(A.pair)), index_type(ordinal_size(A.pair)),
                               A.base == 0 ? CUSPARSE_INDEX_BASE_ZERO : CUSPARSE_INDEX_BASE_ONE, type_of(A.scalar)),
        "cusparseCreateCsr");
}
SparseMatrix::~SparseMatrix() { functions().destroy_sparse(descriptor_); }
void SparseMatrix::set(const CsrRef& A) const {
  check(functions().csr_set_pointers(descriptor_, some(A.offsets), some(A.indices), some(A.values)),
        "cusparseCsrSetPointers");
}

void SparseMatrix::set_triangle(Uplo uplo, Diag diag) const {
  cusparseFillMode_t fill = uplo == Uplo::lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
  cusparseDiagType_t type = diag == Diag::unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
  check(functions().sparse_set_attribute(descriptor_, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill),
        "cusparseSpMatSetAttribute");
  check(functions().sparse_set_attribute(descriptor_, CUSPARSE_SPMAT_DIAG_TYPE, &type, sizeof type),
        "cusparseSpMatSetAttribute");
}

int64_t SparseMatrix::nnz() const {
  int64_t rows = 0, cols = 0, nnz = 0;
  check(functions().sparse_size(descriptor_, &rows, &cols, &nnz), "cusparseSpMatGetSize");
  return nnz;
}

Product::Product() { check(functions().create_product(&descriptor_), "cusparseSpGEMM_createDescr"); }
Product::~Product() { functions().destroy_product(descriptor_); }

Vector::Vector(const DenseRef& v) {
  check(functions().create_vector(&descriptor_, v.extents[0], some(v.data), type_of(v.scalar)), "cusparseCreateDnVec");
}
Vector::~Vector() { functions().destroy_vector(descriptor_); }
void Vector::set(const DenseRef& v) const {
  check(functions().vector_set_values(descriptor_, some(v.data)), "cusparseDnVecSetValues");
}

DenseMatrix::DenseMatrix(const DenseRef& v) {
  const Panel panel = panel_of(v);
  check(functions().create_dense(&descriptor_, panel.rows, panel.cols, panel.leading, some(v.data), type_of(v.scalar),
                                 panel.by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL),
        "cusparseCreateDnMat");
}
DenseMatrix::~DenseMatrix() { functions().destroy_dense(descriptor_); }
void DenseMatrix::set(const DenseRef& v) const {
  check(functions().dense_set_values(descriptor_, some(v.data)), "cusparseDnMatSetValues");
}

TriangularVector::TriangularVector() { check(functions().create_spsv(&descriptor_), "cusparseSpSV_createDescr"); }
TriangularVector::~TriangularVector() { functions().destroy_spsv(descriptor_); }
size_t TriangularVector::buffer_bytes(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                      const SparseMatrix& A, const Vector& b, const Vector& x,
                                      cudaDataType type) const {
  size_t bytes = 0;
  check(functions().spsv_buffer_size(handle, op, alpha, A.get(), b.get(), x.get(), type, CUSPARSE_SPSV_ALG_DEFAULT,
                                     descriptor_, &bytes),
        "cusparseSpSV_bufferSize");
  return bytes;
}
void TriangularVector::analyse(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                               const SparseMatrix& A, const Vector& b, const Vector& x, cudaDataType type,
                               void* buffer) const {
  check(functions().spsv_analysis(handle, op, alpha, A.get(), b.get(), x.get(), type, CUSPARSE_SPSV_ALG_DEFAULT,
                                  descriptor_, buffer),
        "cusparseSpSV_analysis");
}
void TriangularVector::update(cusparseHandle_t handle, void* values) const {
  check(functions().spsv_update(handle, descriptor_, values, CUSPARSE_SPSV_UPDATE_GENERAL),
        "cusparseSpSV_updateMatrix");
}
void TriangularVector::solve(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha, const SparseMatrix& A,
                             const Vector& b, const Vector& x, cudaDataType type) const {
  check(functions().spsv_solve(handle, op, alpha, A.get(), b.get(), x.get(), type, CUSPARSE_SPSV_ALG_DEFAULT,
                               descriptor_),
        "cusparseSpSV_solve");
}

TriangularMatrix::TriangularMatrix() { check(functions().create_spsm(&descriptor_), "cusparseSpSM_createDescr"); }
TriangularMatrix::~TriangularMatrix() { functions().destroy_spsm(descriptor_); }
size_t TriangularMatrix::buffer_bytes(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                                      const SparseMatrix& A, const DenseMatrix& b, const DenseMatrix& x,
                                      cudaDataType type) const {
  size_t bytes = 0;
  check(functions().spsm_buffer_size(handle, op, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, A.get(), b.get(), x.get(),
                                     type, CUSPARSE_SPSM_ALG_DEFAULT, descriptor_, &bytes),
        "cusparseSpSM_bufferSize");
  return bytes;
}
void TriangularMatrix::analyse(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                               const SparseMatrix& A, const DenseMatrix& b, const DenseMatrix& x, cudaDataType type,
                               void* buffer) const {
  check(functions().spsm_analysis(handle, op, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, A.get(), b.get(), x.get(), type,
                                  CUSPARSE_SPSM_ALG_DEFAULT, descriptor_, buffer),
        "cusparseSpSM_analysis");
}
void TriangularMatrix::update(cusparseHandle_t handle, void* values) const {
  check(functions().spsm_update(handle, descriptor_, values, CUSPARSE_SPSM_UPDATE_GENERAL),
        "cusparseSpSM_updateMatrix");
}
void TriangularMatrix::solve(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha, const SparseMatrix& A,
                             const DenseMatrix& b, const DenseMatrix& x, cudaDataType type) const {
  check(functions().spsm_solve(handle, op, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, A.get(), b.get(), x.get(), type,
                               CUSPARSE_SPSM_ALG_DEFAULT, descriptor_),
        "cusparseSpSM_solve");
}

}  // namespace kkc::cusparse
