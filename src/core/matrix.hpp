// A sparse matrix in compressed rows on one device, borrowed or owned.
#pragma once

#include <memory>
#include <string>

#include "context.hpp"
#include "host_matrix.hpp"
#include "operands.hpp"

namespace kkc {

class Matrix final : public Object {
 public:
  static constexpr Kind kind_tag = Kind::matrix;

  /// Borrows arrays of the context's device; on hosts the offsets are checked.
  static std::shared_ptr<Matrix> wrap(const Context& context, const CsrRef& arrays);
  /// Copies host arrays after checking them.
  static std::shared_ptr<Matrix> copy_of_host(const Context& context, const CsrRef& arrays);
  /// Takes over what a reader or generator made in host memory, or copies it to a GPU.
  static std::shared_ptr<Matrix> take(const Context& context, HostCsr&& made);
  std::shared_ptr<Matrix> copy(const Context& context) const;
  /// Borrows arrays whose pattern is not there yet: a plan's output.
  static std::shared_ptr<Matrix> wrap_output(const Context& context, const CsrRef& arrays);
  /// Values of its own beside a pattern that others share; with NULL for an array of the pattern, one of its own too.
  static std::shared_ptr<Matrix> create(const Context& context, const CsrRef& sizes,
                                        std::shared_ptr<const Buffer> offsets, std::shared_ptr<const Buffer> indices);

  const CsrRef& ref() const { return ref_; }
  Device device() const { return memory_->queue().device(); }
  int32_t device_id() const { return memory_->queue().device_id(); }
  const std::shared_ptr<const Memory>& memory() const { return memory_; }
  /// Its pattern may be written: no other matrix or plan shares it.
  bool pattern_is_own() const { return !shared_; }
  /// Names a pattern that is never written again: the buffer of its offsets; null for any other.
  std::shared_ptr<const Buffer> shared_offsets() const { return shared_ ? offsets_ : nullptr; }
  void set_pointers(const void* offsets, const void* indices, void* values);

  std::string info_text;

 private:
  Matrix(const Context& context, const CsrRef& ref) : Object(kind_tag), ref_(ref), memory_(context.memory()) {}
  /// What is not there yet.
  void allocate(const Context& context, Space space);
  void own_arrays();

  friend class HostPattern;
  CsrRef ref_;
  std::shared_ptr<const Memory> memory_;
  bool owned_ = false, shared_ = false;
  std::shared_ptr<const Buffer> offsets_, indices_;
  Buffer values_;
};

/// A matrix's arrays as host memory: themselves, or a copy that lives as long as this.
class HostPattern {
 public:
  explicit HostPattern(const Matrix& matrix, bool with_values = false);
  const CsrRef& ref() const { return ref_; }

 private:
  CsrRef ref_;
  std::unique_ptr<char[]> offsets_, indices_, values_;
};

void require_on_device(const Matrix& A, const Queue& queue, const char* argument);

/// Sizes, base and types as a caller gives them.
CsrRef valid_csr(int64_t rows, int64_t cols, int64_t nnz, int32_t index_pair, int32_t scalar, int32_t base,
                 const void* offsets, const void* indices, const void* values);
IndexPair valid_index_pair(int32_t pair, const char* argument = "index_pair");
Scalar valid_matrix_scalar(int32_t scalar);

constexpr size_t offsets_bytes(const CsrRef& A) { return static_cast<size_t>(A.rows + 1) * offset_size(A.pair); }
constexpr size_t indices_bytes(const CsrRef& A) { return static_cast<size_t>(A.nnz) * ordinal_size(A.pair); }
constexpr size_t values_bytes(const CsrRef& A) { return static_cast<size_t>(A.nnz) * size_of(A.scalar); }

/// Whether some byte belongs to the values of both.
bool values_overlap(const CsrRef& a, const CsrRef& b);

/// 64 bits that a changed offset or index changes; blocks, copies GPU patterns to the host.
uint64_t pattern_fingerprint(Queue& queue, const CsrRef& A);

}  // namespace kkc
