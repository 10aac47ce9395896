#include "rocsparse.hpp"

#include <dlfcn.h>

#include <mutex>
#include <vector>

#include "vendor/vendor_panel.hpp"

namespace kkc::rocsparse {
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
  void* handle = dlopen("librocsparse.so.0", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    found.reason = cat("rocSPARSE is not there: ", why == nullptr ? "librocsparse.so.0" : why);
    return found;
  }
  Library& f = found.functions;
  found.complete =
      find(handle, "rocsparse_create_handle", f.create) && find(handle, "rocsparse_set_stream", f.set_stream) &&
      find(handle, "rocsparse_create_csr_descr", f.create_csr) &&
      find(handle, "rocsparse_csr_set_pointers", f.csr_set_pointers) &&
      find(handle, "rocsparse_destroy_spmat_descr", f.destroy_sparse) &&
      find(handle, "rocsparse_create_dnvec_descr", f.create_vector) &&
      find(handle, "rocsparse_dnvec_set_values", f.vector_set_values) &&
      find(handle, "rocsparse_destroy_dnvec_descr", f.destroy_vector) &&
      find(handle, "rocsparse_create_dnmat_descr", f.create_dense) &&
      find(handle, "rocsparse_dnmat_set_values", f.dense_set_values) &&
      find(handle, "rocsparse_destroy_dnmat_descr", f.destroy_dense) && find(handle, "rocsparse_spmv", f.spmv) &&
      find(handle, "rocsparse_spmm", f.spmm) && find(handle, "rocsparse_spmat_get_size", f.sparse_size) &&
      find(handle, "rocsparse_spgemm", f.spgemm);
  if (!found.complete) found.reason = "this librocsparse.so.0 lacks functions that kkc needs";
  return found;
}

const Found& found() {
  static const auto* only = new Found(open_library());
  return *only;
}

const Library& functions() { return found().functions; }

struct Idle {
  int32_t device;
  rocsparse_handle handle;
};
struct Stock {
  std::mutex mutex;
  std::vector<Idle> idle;
};
Stock& stock() {
  static auto* only = new Stock;
  return *only;
}

rocsparse_indextype index_type(size_t bytes) { return bytes == 8 ? rocsparse_indextype_i64 : rocsparse_indextype_i32; }

}  // namespace

const Library* library(std::string* reason) {
  if (reason != nullptr) *reason = found().reason;
  return found().complete ? &found().functions : nullptr;
}

void check(rocsparse_status status, const char* call) {
  if (status == rocsparse_status_success) return;
  fail(status == rocsparse_status_memory_error ? KKC_STATUS_OUT_OF_MEMORY : KKC_STATUS_VENDOR, call,
       ": rocSPARSE status ", static_cast<int>(status));
}

rocsparse_datatype type_of(Scalar scalar) {
  switch (scalar) {
    case Scalar::f32: return rocsparse_datatype_f32_r;
    case Scalar::f64: return rocsparse_datatype_f64_r;
    case Scalar::c64: return rocsparse_datatype_f32_c;
    case Scalar::c128: return rocsparse_datatype_f64_c;
    default: break;
  }
  fail(KKC_STATUS_NOT_SUPPORTED, "rocSPARSE has no type for ", name(scalar));
}

rocsparse_operation operation_of(Op op) {
  if (op == Op::transpose) return rocsparse_operation_transpose;
  return op == Op::hermitian ? rocsparse_operation_conjugate_transpose : rocsparse_operation_none;
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
  check(functions().create(&handle_), "rocsparse_create_handle");
}

Handle::~Handle() {
  Stock& all = stock();
  std::lock_guard lock(all.mutex);
  all.idle.push_back({device_, handle_});
}

rocsparse_handle Handle::on(const Queue& queue) const {
  check(functions().set_stream(handle_, static_cast<hipStream_t>(queue.stream())), "rocsparse_set_stream");
  return handle_;
}

SparseMatrix::SparseMatrix(const CsrRef& A) {
  check(functions().create_csr(&descriptor_, A.rows, A.cols, A.nnz, const_cast<void*>(A.offsets),
                               const_cast<void*>(A.indices), const_cast<void*>(A.values),
                               index_type(offset_size(A.pair)), index_type(ordinal_size(A.pair)),
                               A.base == 0 ? rocsparse_index_base_zero : rocsparse_index_base_one, type_of(A.scalar)),
        "rocsparse_create_csr_descr");
}
SparseMatrix::~SparseMatrix() { functions().destroy_sparse(descriptor_); }
void SparseMatrix::set(const CsrRef& A) const {
  check(functions().csr_set_pointers(descriptor_, const_cast<void*>(A.offsets), const_cast<void*>(A.indices),
                                     const_cast<void*>(A.values)),
        "rocsparse_csr_set_pointers");
}

int64_t SparseMatrix::nnz() const {
  int64_t rows = 0, cols = 0, nnz = 0;
  check(functions().sparse_size(descriptor_, &rows, &cols, &nnz), "rocsparse_spmat_get_size");
  return nnz;
}

Vector::Vector(const DenseRef& v) {
  check(functions().create_vector(&descriptor_, v.extents[0], v.data, type_of(v.scalar)),
        "rocsparse_create_dnvec_descr");
}
Vector::~Vector() { functions().destroy_vector(descriptor_); }
void Vector::set(const DenseRef& v) const {
  check(functions().vector_set_values(descriptor_, v.data), "rocsparse_dnvec_set_values");
}

DenseMatrix::DenseMatrix(const DenseRef& v) {
  const Panel panel = panel_of(v);
  check(functions().create_dense(&descriptor_, panel.rows, panel.cols, panel.leading, v.data, type_of(v.scalar),
                                 panel.by_rows ? rocsparse_order_row : rocsparse_order_column),
        "rocsparse_create_dnmat_descr");
}
DenseMatrix::~DenseMatrix() { functions().destroy_dense(descriptor_); }
void DenseMatrix::set(const DenseRef& v) const {
  check(functions().dense_set_values(descriptor_, v.data), "rocsparse_dnmat_set_values");
}

}  // namespace kkc::rocsparse
