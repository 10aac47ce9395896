// row_stats: one pass over a CSR pattern that checks it and counts its rows' lengths.
#pragma once

#include <cstdint>

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

struct Implementation : Entry {
  /// Blocks. Reads offsets, and indices unless `offsets_only`; indices are not read when offsets are bad.
  RowStats (*run)(Queue& queue, const CsrRef& A, bool offsets_only);
};

}  // namespace row_stats

class Context;

/// For plans: one pass over A's pattern that refuses offsets and columns out of order or range, naming `argument`.
RowStats checked_row_stats(const Context& context, const CsrRef& A, const char* argument);

}  // namespace kkc
