// Patterns of the test matrices, each made in place.
#pragma once

#include "host_matrix.hpp"

namespace kkc {

/// Points nx x ny x nz, x fastest; `unknowns` rows a point, all coupled with all of the point and of its neighbours.
/// Neighbours: along the axes (star), or all of the 3 x 3 x 3 points around (box).
struct Grid {
  int64_t nx, ny, nz;
  bool box;
  int unknowns;
};

HostCsr grid_pattern(const Grid& grid, IndexPair pair, const std::shared_ptr<const Memory>& memory);

/// Diagonals first..last of a square matrix.
HostCsr band_pattern(int64_t rows, int64_t first, int64_t last, IndexPair pair,
                     const std::shared_ptr<const Memory>& memory);

/// First row, first column and diagonal.
HostCsr arrow_pattern(int64_t rows, IndexPair pair, const std::shared_ptr<const Memory>& memory);

/// What entries drawn at random are drawn for.
struct RandomShape {
  uint64_t seed;
  bool symmetric;  // (j, i) with each (i, j)
  bool diagonal;   // every (i, i)
};

/// 2^scale vertices, `edges` edges for each; R-MAT (Chakrabarti, Zhan, Faloutsos: SDM 2004) with probabilities 0.57,
/// 0.19, 0.19, 0.05, duplicates merged.
HostCsr rmat_pattern(int64_t scale, int64_t edges, const RandomShape& shape, IndexPair pair,
                     const std::shared_ptr<const Memory>& memory);

/// `per_row` columns drawn for each row, duplicates merged.
HostCsr random_pattern(int64_t rows, int64_t cols, int64_t per_row, const RandomShape& shape, IndexPair pair,
                       const std::shared_ptr<const Memory>& memory);

}  // namespace kkc
