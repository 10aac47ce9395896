// A or B as the merging implementations read it: its own arrays when its rows ascend strictly, else a pattern whose
// rows do and a map from its entries to the operand's values.
#pragma once

#include <memory>
#include <utility>

#include "ops/sort_rows/sort_rows.hpp"
#include "ops/transpose/transpose.hpp"
#include "spadd.hpp"
#include "spadd_merge_path.hpp"

namespace kkc::spadd {

/// A pattern, base 0, and where its entries' values lie. O is the offset type of the operand.
struct RowMap {
  int64_t nnz = 0;
  std::shared_ptr<const Buffer> offsets, indices;
  std::shared_ptr<const Buffer> positions;  // O; null: values lie in the order of the entries
  std::shared_ptr<const Buffer> starts;     // O[nnz + 1]: entry k is the sum of the values at positions starts[k] to
                                            // starts[k + 1] - 1; null: of the one at positions[k]
};

class Sources {
 public:
  explicit Sources(const Operand& x) : op_(x.op), matrix_(x.matrix) {}

  const CsrRef& matrix() const { return matrix_; }
  bool transposed() const { return transposes(op_); }
  bool conjugate() const { return conjugates(op_); }

  template <class I, class O>
  Rows<I, O> rows() const {
    if (mapped_) return {part<O>(map_.offsets), part<I>(map_.indices), 0};
    return {static_cast<const O*>(matrix_.offsets), static_cast<const I*>(matrix_.indices), matrix_.base};
  }
  /// The same as a matrix without values.
  CsrRef pattern() const {
    if (!mapped_)
      return {matrix_.pair, Scalar::none,    matrix_.base,    matrix_.rows, matrix_.cols,
              matrix_.nnz,  matrix_.offsets, matrix_.indices, nullptr};
    const bool turned = transposed();
    return {matrix_.pair,
            Scalar::none,
            0,
            turned ? matrix_.cols : matrix_.rows,
            turned ? matrix_.rows : matrix_.cols,
            map_.nnz,
            part<void>(map_.offsets),
            part<void>(map_.indices),
            nullptr};
  }
  int64_t entries() const { return mapped_ ? map_.nnz : matrix_.nnz; }

  bool mapped() const { return mapped_; }
  const RowMap& map() const { return map_; }
  void use(RowMap map) {
    map_ = std::move(map);
    mapped_ = true;
  }
  template <class O>
  const O* positions() const {
    return part<O>(map_.positions);
  }
  template <class O>
  const O* starts() const {
    return part<O>(map_.starts);
  }

  /// When merging is done: execute needs the map of values only.
  void forget_pattern() {
    map_.offsets.reset();
    map_.indices.reset();
    matrix_.offsets = matrix_.indices = matrix_.values = nullptr;
  }
  size_t bytes() const {
    size_t sum = 0;
    for (const auto* buffer : {&map_.positions, &map_.starts})
      if (*buffer) sum += (*buffer)->bytes();
    return sum;
  }
  const char* how() const { return !mapped_ ? "in order" : map_.starts ? "through sums" : "through positions"; }

 private:
  template <class T>
  static const T* part(const std::shared_ptr<const Buffer>& buffer) {
    return buffer ? buffer->as<const T>() : nullptr;
  }

  Op op_;
  CsrRef matrix_;
  bool mapped_ = false;
  RowMap map_;
};

/// The transpose's rows: sorted; entries of one place stand beside each other.
inline RowMap transposed_rows(Queue& queue, const std::shared_ptr<const Memory>& memory, const Sources& x) {
  EntryMap map = transpose::transposed_pattern(queue, memory, x.matrix());
  return {map.nnz, map.offsets, map.indices, map.positions, map.starts};
}

/// Reads the operand, or its map, through rows sorted and without duplicates.
inline void put_right(Queue& queue, const std::shared_ptr<const Memory>& memory, Sources& x) {
  const EntryMap map = sort_rows::sorted_pattern(queue, memory, x.pattern(), true);
  if (!map.positions && !map.starts) return;  // nothing was out of order
  require(!x.mapped() || !map.positions, KKC_STATUS_INTERNAL, "a transpose's rows are not sorted");
  x.use({map.nnz, map.offsets, map.indices, x.mapped() ? x.map().positions : map.positions, map.starts});
}

}  // namespace kkc::spadd
