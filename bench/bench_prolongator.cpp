#include <algorithm>
#include <stdexcept>

#include "bench_product.hpp"

namespace kkc::bench {
namespace {

struct Aggregates {
  std::vector<int32_t> column;  // of each row
  int64_t count = 0;
};

/// 3 points a dimension; a column for each of a point's unknowns. The first point's neighbours tell the grid's extents:
/// points 0, 1, nx (and nx + 1), nx ny.
template <class I, class O>
Aggregates of_grid(const std::string& name, const CsrArrays& A) {
  const int64_t unknowns = name == "elas3" ? 3 : 1, points = A.rows / unknowns;
  const auto* indices = static_cast<const I*>(A.indices);
  std::vector<int64_t> near;
  for (O p = 0; p < static_cast<const O*>(A.offsets)[1] - A.base; ++p) near.push_back((indices[p] - A.base) / unknowns);
  near.erase(std::unique(near.begin(), near.end()), near.end());
  const int64_t nx = near.at(2), plane = name == "lap2d5" ? points : near.at(name == "lap3d7" ? 3 : 4);
  const int64_t coarse_x = (nx + 2) / 3, coarse_y = (plane / nx + 2) / 3, coarse_z = (points / plane + 2) / 3;
  Aggregates aggregates;
  for (int64_t row = 0; row < A.rows; ++row) {
    const int64_t point = row / unknowns, x = point % nx / 3, y = point / nx % (plane / nx) / 3, z = point / plane / 3;
    aggregates.column.push_back(static_cast<int32_t>(((z * coarse_y + y) * coarse_x + x) * unknowns + row % unknowns));
  }
  aggregates.count = coarse_x * coarse_y * coarse_z * unknowns;
  return aggregates;
}

/// 27 rows each, breadth first from the first row that is left; where a component ends, the next one goes on.
template <class I, class O>
Aggregates of_graph(const CsrArrays& A) {
  constexpr int64_t size = 27;
  const auto* offsets = static_cast<const O*>(A.offsets);
  const auto* indices = static_cast<const I*>(A.indices);
  Aggregates aggregates;
  aggregates.column.assign(static_cast<size_t>(A.rows), -1);
  std::vector<int64_t> members;
  int64_t first = 0, next = 0;  // the first row that may be left; the member whose neighbours come next
  const auto add = [&](int64_t row) {
    aggregates.column[static_cast<size_t>(row)] = static_cast<int32_t>(aggregates.count);
    members.push_back(row);
  };
  for (int64_t left = A.rows; left > 0; ++aggregates.count) {
    members.clear();
    next = 0;
    const auto want = static_cast<size_t>(std::min(size, left));
    while (members.size() < want) {
      if (next == static_cast<int64_t>(members.size())) {
        while (aggregates.column[static_cast<size_t>(first)] >= 0) ++first;
        add(first);
        continue;
      }
      const int64_t row = members[static_cast<size_t>(next++)];
      for (int64_t p = offsets[row] - A.base; p < offsets[row + 1] - A.base && members.size() < want; ++p)
        if (const int64_t neighbour = indices[p] - A.base; aggregates.column[static_cast<size_t>(neighbour)] < 0)
          add(neighbour);
    }
    left -= static_cast<int64_t>(want);
  }
  return aggregates;
}

}  // namespace

Matrix prolongator(kkc_context_t* ctx, const std::string& name, const CsrArrays& A) {
  if (A.rows != A.cols) throw std::runtime_error(name + ": aggregates need a square matrix");
  if (A.index == KKC_INDEX_64_64) throw std::runtime_error("prolongators have 32-bit columns");
  const bool grid = name == "lap2d5" || name == "lap3d7" || name == "lap3d27" || name == "elas3";
  const bool narrow = A.index == KKC_INDEX_32_32;
  const Aggregates aggregates = grid ? narrow ? of_grid<int32_t, int32_t>(name, A) : of_grid<int32_t, int64_t>(name, A)
                                : narrow ? of_graph<int32_t, int32_t>(A)
                                         : of_graph<int32_t, int64_t>(A);
  std::vector<int64_t> wide_offsets;
  std::vector<int32_t> offsets;
  for (int64_t row = 0; row <= A.rows; ++row) {
    wide_offsets.push_back(row);
    offsets.push_back(static_cast<int32_t>(row));
  }
  const auto values = random_vector(A.scalar, A.rows, 3);
  const void* starts = A.index == KKC_INDEX_32_32 ? static_cast<const void*>(offsets.data()) : wide_offsets.data();
  return make<Matrix>("kkc_csr_create_copy", kkc_csr_create_copy, ctx, A.rows, aggregates.count, A.rows, A.index,
                      A.scalar, 0, starts, aggregates.column.data(), values.data());
}

}  // namespace kkc::bench
