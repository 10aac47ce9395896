#include "matrix.hpp"

#include <functional>
#include <limits>

#include "dispatch.hpp"
#include "matrix_properties.hpp"

namespace kkc {
namespace {

/// Host arrays: offsets run from base to nnz + base and never go backwards.
void check_offsets(const CsrRef& A) {
  if (A.rows == 0 && A.offsets == nullptr) return;
  dispatch_index_pair(AllIndexPairs{}, A.pair, [&](auto p) {
    using Offset = typename decltype(p)::offset;
    const auto* offsets = static_cast<const Offset*>(A.offsets);
    require(offsets[0] == A.base, KKC_STATUS_INVALID_ARGUMENT, "row_offsets[0] is ", offsets[0], ", expected the base ",
            A.base);
    bool monotone = true;
    for (int64_t i = 0; i < A.rows; ++i) monotone &= offsets[i] <= offsets[i + 1];
    for (int64_t i = 0; !monotone && i < A.rows; ++i)
      require(offsets[i] <= offsets[i + 1], KKC_STATUS_INVALID_ARGUMENT, "row_offsets go backwards at row ", i, ": ",
              offsets[i], " then ", offsets[i + 1], ", expected offsets that ascend");
    require(offsets[A.rows] == A.nnz + A.base, KKC_STATUS_INVALID_ARGUMENT, "row_offsets[", A.rows, "] is ",
            offsets[A.rows], ", expected nnz + base = ", A.nnz + A.base);
  });
}

void require_arrays(const CsrRef& A) {
  require(A.offsets != nullptr || A.rows == 0, KKC_STATUS_NULL_POINTER, "row_offsets is NULL, expected ", A.rows + 1,
          " offsets");
  require(A.indices != nullptr || A.nnz == 0, KKC_STATUS_NULL_POINTER, "col_indices is NULL, expected ", A.nnz,
          " indices");
  require(A.values != nullptr || A.nnz == 0 || A.scalar == Scalar::none, KKC_STATUS_NULL_POINTER,
          "values is NULL, expected ", A.nnz, " values of type ", name(A.scalar));
  require(reinterpret_cast<uintptr_t>(A.offsets) % offset_size(A.pair) == 0, KKC_STATUS_INVALID_ARGUMENT,
          "row_offsets is ", A.offsets, ", expected a multiple of ", offset_size(A.pair));
  require(reinterpret_cast<uintptr_t>(A.indices) % ordinal_size(A.pair) == 0, KKC_STATUS_INVALID_ARGUMENT,
          "col_indices is ", A.indices, ", expected a multiple of ", ordinal_size(A.pair));
  const size_t part = is_complex_scalar(A.scalar) ? size_of(A.scalar) / 2 : size_of(A.scalar);
  require(part == 0 || reinterpret_cast<uintptr_t>(A.values) % part == 0, KKC_STATUS_INVALID_ARGUMENT, "values is ",
          A.values, ", expected a multiple of ", part);
}

template <class T>
uint64_t mix(uint64_t hash, const void* data, int64_t n) {
  // Four independent chains of multiply and rotate (the construction of xxHash64): memory speed on a host core.
  constexpr uint64_t prime1 = 0x9e3779b185ebca87, prime2 = 0xc2b2ae3d27d4eb4f;
  const auto* values = static_cast<const T*>(data);
  uint64_t lanes[4] = {hash + prime1, hash + prime2, hash, hash - prime1};
  const auto step = [](uint64_t lane, uint64_t value) {
    lane += value * prime2;
    return ((lane << 31) | (lane >> 33)) * prime1;
  };
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int l = 0; l < 4; ++l) lanes[l] = step(lanes[l], static_cast<uint64_t>(values[i + l]));
  for (; i < n; ++i) lanes[0] = step(lanes[0], static_cast<uint64_t>(values[i]));
  for (int l = 0; l < 4; ++l) hash = step(hash ^ lanes[l], static_cast<uint64_t>(n));
  return hash;
}

std::unique_ptr<char[]> fetch(Queue& queue, const void* source, size_t bytes) {
  std::unique_ptr<char[]> copy(new char[bytes == 0 ? 1 : bytes]);
  copy_and_wait(queue, copy.get(), source, bytes);
  return copy;
}

}  // namespace

IndexPair valid_index_pair(int32_t pair, const char* argument) {
  require(pair >= KKC_INDEX_32_32 && pair <= KKC_INDEX_64_64, KKC_STATUS_INVALID_ARGUMENT, argument, " is ", pair,
          ", expected KKC_INDEX_32_32 (1), _32_64 (2) or _64_64 (3)");
  return static_cast<IndexPair>(pair);
}

Scalar valid_matrix_scalar(int32_t scalar) {
  require(scalar == KKC_TYPE_NONE || (scalar >= KKC_TYPE_F32 && scalar <= KKC_TYPE_C128), KKC_STATUS_INVALID_ARGUMENT,
          "scalar is ", scalar, ", expected KKC_TYPE_NONE (0), F32 (4), F64 (5), C64 (6) or C128 (7)");
  return static_cast<Scalar>(scalar);
}

CsrRef valid_csr(int64_t rows, int64_t cols, int64_t nnz, int32_t index_pair, int32_t scalar, int32_t base,
                 const void* offsets, const void* indices, const void* values) {
  require(rows >= 0, KKC_STATUS_INVALID_ARGUMENT, "rows is ", rows, ", expected 0 or more");
  require(cols >= 0, KKC_STATUS_INVALID_ARGUMENT, "cols is ", cols, ", expected 0 or more");
  require(nnz >= 0, KKC_STATUS_INVALID_ARGUMENT, "nnz is ", nnz, ", expected 0 or more");
  require(base == 0 || base == 1, KKC_STATUS_INVALID_ARGUMENT, "base is ", base, ", expected 0 or 1");
  const CsrRef A{
      valid_index_pair(index_pair), valid_matrix_scalar(scalar), base, rows, cols, nnz, offsets, indices, values};
  const int64_t most_index =
      ordinal_size(A.pair) == 4 ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max() / 16;
  const int64_t most_offset =
      offset_size(A.pair) == 4 ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max() / 16;
  require(rows < most_index, KKC_STATUS_OVERFLOW, "rows is ", rows, ", more than index pair ", name(A.pair), " counts");
  require(cols <= most_index - base, KKC_STATUS_OVERFLOW, "cols is ", cols, ", more than index pair ", name(A.pair),
          " counts");
  require(nnz <= most_offset - base, KKC_STATUS_OVERFLOW, "nnz is ", nnz, ", more than index pair ", name(A.pair),
          " counts");
  require(nnz == 0 || (rows > 0 && cols > 0), KKC_STATUS_INVALID_ARGUMENT, "nnz is ", nnz,
          ", expected 0 for a matrix of ", rows, " x ", cols);
  require_arrays(A);
  return A;
}

std::shared_ptr<Matrix> Matrix::wrap(const Context& context, const CsrRef& arrays) {
  if (is_host(context.device())) check_offsets(arrays);
  return std::shared_ptr<Matrix>(new Matrix(context, arrays));
}

std::shared_ptr<Matrix> Matrix::wrap_output(const Context& context, const CsrRef& arrays) {
  return std::shared_ptr<Matrix>(new Matrix(context, arrays));
}

std::shared_ptr<Matrix> Matrix::create(const Context& context, const CsrRef& sizes,
                                       std::shared_ptr<const Buffer> offsets, std::shared_ptr<const Buffer> indices) {
  std::shared_ptr<Matrix> matrix(new Matrix(context, sizes));
  matrix->shared_ = offsets != nullptr || indices != nullptr;
  matrix->offsets_ = std::move(offsets);
  matrix->indices_ = std::move(indices);
  matrix->allocate(context, own_space(context.device()));
  return matrix;
}

void Matrix::allocate(const Context& context, Space space) {
  if (!offsets_) {
    auto offsets = std::make_shared<Buffer>(context.memory(), space, offsets_bytes(ref_));
    if (ref_.rows == 0) {  // what is copied or planned may have none
      const int64_t wide = ref_.base;
      const bool is_wide = offset_size(ref_.pair) == 8;
      copy_and_wait(context.queue(), offsets->data(), is_wide ? static_cast<const void*>(&wide) : &ref_.base,
                    offset_size(ref_.pair));
    }
    offsets_ = std::move(offsets);
  }
  if (!indices_) indices_ = std::make_shared<Buffer>(context.memory(), space, indices_bytes(ref_));
  values_ = Buffer(context.memory(), space, values_bytes(ref_));
  own_arrays();
}

void Matrix::own_arrays() {
  ref_.offsets = offsets_->data();
  ref_.indices = indices_->data();
  ref_.values = values_.data();
  owned_ = true;
}

std::shared_ptr<Matrix> Matrix::copy_of_host(const Context& context, const CsrRef& arrays) {
  check_offsets(arrays);
  validate_matrix(arrays, context.memory());
  std::shared_ptr<Matrix> matrix(new Matrix(context, arrays));
  matrix->allocate(context, own_space(context.device()));
  Queue& queue = context.queue();
  if (arrays.rows > 0) copy_and_wait(queue, matrix->offsets_->data(), arrays.offsets, matrix->offsets_->bytes());
  copy_and_wait(queue, matrix->indices_->data(), arrays.indices, matrix->indices_->bytes());
  copy_and_wait(queue, matrix->values_.data(), arrays.values, matrix->values_.bytes());
  return matrix;
}

std::shared_ptr<Matrix> Matrix::take(const Context& context, HostCsr&& made) {
  std::shared_ptr<Matrix> matrix(new Matrix(context, made.ref()));
  if (is_host(context.device())) {
    matrix->offsets_ = std::make_shared<Buffer>(std::move(made.offsets));
    matrix->indices_ = std::make_shared<Buffer>(std::move(made.indices));
    matrix->values_ = std::move(made.values);
    matrix->own_arrays();
    return matrix;
  }
  matrix->allocate(context, Space::device);
  Queue& queue = context.queue();
  if (made.rows > 0) copy_and_wait(queue, matrix->offsets_->data(), made.offsets.data(), matrix->offsets_->bytes());
  copy_and_wait(queue, matrix->indices_->data(), made.indices.data(), matrix->indices_->bytes());
  copy_and_wait(queue, matrix->values_.data(), made.values.data(), matrix->values_.bytes());
  return matrix;
}

std::shared_ptr<Matrix> Matrix::copy(const Context& context) const {
  const HostPattern host(*this, true);
  return copy_of_host(context, host.ref());
}

void Matrix::set_pointers(const void* offsets, const void* indices, void* values) {
  require(!owned_, KKC_STATUS_WRONG_STATE, "A owns its arrays, expected a matrix made by kkc_csr_create");
  CsrRef changed = ref_;
  changed.offsets = offsets;
  changed.indices = indices;
  changed.values = values;
  require_arrays(changed);
  if (is_host(device())) check_offsets(changed);
  ref_ = changed;
}

HostPattern::HostPattern(const Matrix& matrix, bool with_values) : ref_(matrix.ref()) {
  Queue& queue = matrix.memory_->queue();
  if (is_host(queue.device())) return;
  if (ref_.rows > 0) offsets_ = fetch(queue, ref_.offsets, offsets_bytes(ref_));
  ref_.offsets = offsets_.get();  // NULL for no rows: the device's array is out of the host's reach
  indices_ = fetch(queue, ref_.indices, indices_bytes(ref_));
  ref_.indices = indices_.get();
  if (!with_values) return;
  values_ = fetch(queue, ref_.values, values_bytes(ref_));
  ref_.values = values_.get();
}

void require_on_device(const Matrix& A, const Queue& queue, const char* argument) {
  require(A.device() == queue.device() && A.device_id() == queue.device_id(), KKC_STATUS_TYPE_MISMATCH, argument,
          " belongs to device ", name(A.device()), " ", A.device_id(), ", expected the context's device ",
          name(queue.device()), " ", queue.device_id());
}

bool values_overlap(const CsrRef& a, const CsrRef& b) {
  const auto *x = static_cast<const char*>(a.values), *y = static_cast<const char*>(b.values);
  const std::less<const char*> before;
  return before(x, y + values_bytes(b)) && before(y, x + values_bytes(a));
}

uint64_t pattern_fingerprint(Queue& queue, const CsrRef& A) {
  std::unique_ptr<char[]> offsets, indices;
  CsrRef host = A;
  if (!is_host(queue.device())) {
    offsets = fetch(queue, A.offsets, A.rows == 0 ? 0 : offsets_bytes(A));
    indices = fetch(queue, A.indices, indices_bytes(A));
    host.offsets = offsets.get();
    host.indices = indices.get();
  }
  uint64_t hash = static_cast<uint64_t>(A.rows) * 31 + static_cast<uint64_t>(A.cols);
  dispatch_index_pair(AllIndexPairs{}, A.pair, [&](auto p) {
    using Pair = decltype(p);
    if (A.rows > 0) hash = mix<typename Pair::offset>(hash, host.offsets, A.rows + 1);
    hash = mix<typename Pair::ordinal>(hash, host.indices, A.nnz);
  });
  return hash;
}

}  // namespace kkc
