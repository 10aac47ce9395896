// row_stats: one pass over a CSR pattern that checks it and counts its rows' lengths.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/operands.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"

namespace kkc {

struct RowStats {
  int64_t shortest, longest;
  int64_t empty;
  /// histogram[i]: rows with 2^(i-1) < length <= 2^i; [0]: length 0 or 1.
  int64_t histogram[40];
  /// Nonzeros in the rows of each class.
  int64_t nonzeros[40];
  int64_t first_bad_row;    // offsets go backwards or leave 0..nnz after this row; -1: none
  int64_t first_bad_entry;  // a column outside 0..cols-1; -1: none
};

namespace row_stats {

/// Matrices that a pass looks at together.
inline constexpr size_t most_matrices = 4;

struct Pass {
  CsrRef matrix;
  bool offsets_only;  // columns are known to be good
};

struct Implementation : Entry {
  /// Blocks once for all of the at most most_matrices matrices. A bad entry need not be looked for where offsets are
  /// bad.
  void (*run)(Queue& queue, std::span<const Pass> passes, RowStats* stats);
};

}  // namespace row_stats

class Context;

/// For plans: one pass over A's pattern that refuses offsets and columns out of order or range, naming `argument`.
RowStats checked_row_stats(const Context& context, const CsrRef& A, const char* argument);

/// A matrix and its name in sentences. offsets_only: its columns are known to be good.
struct NamedPattern {
  CsrRef matrix;
  const char* argument;
  bool offsets_only = false;
};
/// The same for several matrices, waiting once.
std::vector<RowStats> checked_row_stats(const Context& context, std::span<const NamedPattern> patterns);

}  // namespace kkc
