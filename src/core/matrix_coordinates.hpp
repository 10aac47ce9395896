// Entries in any order (coordinates) to CSR: a stable counting sort by row, then a merge of duplicates.
#pragma once

#include <limits>

#include "host_matrix.hpp"

namespace kkc {

/// Stands for the values of a pattern.
struct NoValue {};

/// `count` entries (row, column, value) in host memory; indices are of the pair's ordinal type and count from 0.
struct CoordinateRef {
  IndexPair pair;
  Scalar scalar;
  int64_t rows, cols, count;
  const void* row_indices;
  const void* col_indices;
  const void* values;
};

/// What stands at (j, i) when (i, j), i != j, is given.
enum class Mirror { none, same, negated, conjugated };

/// Rows sorted, mirrored entries added, duplicates added up in the order given. Throws OVERFLOW with the number when
/// the entries before merging do not fit the offsets.
HostCsr csr_from_coordinates(const CoordinateRef& entries, Mirror mirror, const std::shared_ptr<const Memory>& memory);

/// The same matrix, base 0, rows sorted, duplicates added up. `a` must be valid.
HostCsr sorted_csr(const CsrRef& a, const std::shared_ptr<const Memory>& memory);

/// Refuses sizes beyond the pair's types, naming the number; `what` begins the sentence.
void require_fits(const char* what, int64_t rows, int64_t cols, IndexPair pair);
void require_entries_fit(const char* what, unsigned __int128 entries, IndexPair pair);

}  // namespace kkc
