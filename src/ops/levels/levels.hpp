// levels: order in which the rows of a triangle can be solved or factored. A row's level is one more than the highest
// of the rows it depends on, so that rows of a level are independent (Anderson, Saad, "Solving sparse triangular linear
// systems on parallel computers", Int. J. High Speed Comput. 1(1), 1989, section 4).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/dispatch.hpp"
#include "core/memory.hpp"
#include "core/operands.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"

namespace kkc {

/// Level structure of op(T), T a triangle of a square matrix. I and O are the types of the matrix' index pair. Arrays
/// lie in memory of the device, are never written again, and are shared by the plans that need them.
struct Levels {
  IndexPair pair = IndexPair::i32_32;
  Uplo uplo = Uplo::lower;
  /// Row j depends on row i where T holds (i, j): the solve with the transpose. Else where it holds (j, i).
  bool transposed = false;
  int64_t rows = 0, count = 0;          // count: of levels
  std::vector<int64_t> starts;          // count + 1, in host memory: level l is order[starts[l]] to before [l + 1]
  std::shared_ptr<const Buffer> order;  // I[rows]: rows by level, ascending inside a level
  std::shared_ptr<const Buffer> device_starts;  // GPUs: I[count + 1], starts in the device's memory; null on hosts
  /// GPUs: of the triangle without its diagonal, as near as a double comes where it is `parted`, else about; 0 on
  /// hosts.
  double entries_a_row = 0;
  /// O[rows]: place of each row's first diagonal entry, from 0; without one ~p (negative), where p is the place of the
  /// row's first entry right of the diagonal, or the row's end.
  std::shared_ptr<const Buffer> diagonal;
  int64_t missing = -1;  // the first row without a diagonal entry; -1: every row has one
  /// In every row the entries left of the diagonal come first, then at most one on it, then those right of it: the
  /// row's part below the diagonal ends at `diagonal`, the one above starts behind it. Rows that ascend strictly are
  /// so.
  bool parted = false;
};

/// Place of a row's diagonal entry, or the place where it would be.
constexpr int64_t diagonal_place(int64_t diagonal) { return diagonal < 0 ? ~diagonal : diagonal; }
/// First entry right of the diagonal in a parted row.
constexpr int64_t behind_diagonal(int64_t diagonal) { return diagonal < 0 ? ~diagonal : diagonal + 1; }

namespace levels {

struct Desc {
  CsrRef A;  // square; offsets and indices have been checked; values may be null
  Uplo uplo;
  bool transposed;
  std::shared_ptr<const Memory> memory;  // for the arrays
};

struct Implementation : Entry {
  /// Blocks. Call it inside Queue::run.
  std::shared_ptr<const Levels> (*find)(Queue& queue, const Desc& desc);
};

/// What implementations' find() share: f(I{}, O{}, levels) fills in what it finds.
template <class F>
std::shared_ptr<const Levels> find_typed(const Desc& desc, const F& f) {
  auto levels = std::make_shared<Levels>();
  levels->pair = desc.A.pair;
  levels->uplo = desc.uplo;
  levels->transposed = desc.transposed;
  levels->rows = desc.A.rows;
  dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto pair) {
    using P = decltype(pair);
    f(typename P::ordinal{}, typename P::offset{}, *levels);
  });
  return levels;
}

/// From within plans' make(), on any device.
inline std::shared_ptr<const Levels> find(Queue& queue, const Desc& desc) {
  const OperationTable* table = find_operation(queue.table(), "levels");
  require(table != nullptr && table->count > 0, KKC_STATUS_NOT_SUPPORTED, "levels has no kernels on this device");
  return static_cast<const Implementation&>(*table->entries[0]).find(queue, desc);
}

}  // namespace levels
}  // namespace kkc
