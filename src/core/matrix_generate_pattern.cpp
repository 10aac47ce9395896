#include "matrix_generate_pattern.hpp"

#include "dispatch.hpp"
#include "matrix_coordinates.hpp"
#include "matrix_parallel.hpp"
#include "matrix_random.hpp"

namespace kkc {
namespace {

constexpr int64_t grain = 1 << 14;

using Wide = unsigned __int128;

/// Room for a pattern whose rows' lengths the caller fills in.
template <class I, class O>
HostCsr begin_pattern(int64_t rows, int64_t cols, IndexPair pair, const std::shared_ptr<const Memory>& memory) {
  HostCsr out;
  out.pair = pair;
  out.rows = rows;
  out.cols = cols;
  out.offsets = host_array<O>(memory, rows + 1);
  return out;
}

/// length(i) gives the entries of row i; fill(i, columns) writes them.
template <class Length, class Fill>
HostCsr by_rows(int64_t rows, Wide entries, IndexPair pair, const std::shared_ptr<const Memory>& memory,
                const Length& length, const Fill& fill) {
  require_fits("the matrix", rows, rows, pair);
  require_entries_fit("the matrix", entries, pair);
  HostCsr out;
  dispatch_index_pair(IndexPairs{}, pair, [&](auto p) {
    using I = typename decltype(p)::ordinal;
    using O = typename decltype(p)::offset;
    const int threads = host_threads(*memory);
    out = begin_pattern<I, O>(rows, rows, pair, memory);
    O* const offsets = out.offsets.template as<O>();
    const int parts = part_count(threads, rows, grain);
    run_parts(parts, [&](int part) {
      const Range r = part_of(rows, part, parts);
      for (int64_t i = r.begin; i < r.end; ++i) offsets[i] = static_cast<O>(length(i));
    });
    counts_to_offsets(offsets, rows, offsets, threads);
    out.nnz = offsets[rows];
    out.indices = host_array<I>(memory, out.nnz);
    I* const indices = out.indices.template as<I>();
    const int fill_parts = part_count(threads, out.nnz, grain);
    run_parts(fill_parts, [&](int part) {
      const Range r = rows_of<O>(offsets, rows, O{0}, part, fill_parts);
      for (int64_t i = r.begin; i < r.end; ++i) fill(i, indices + offsets[i]);
    });
  });
  return out;
}

/// Points within reach of x along an axis of n.
struct Reach {
  Reach(int64_t x, int64_t n) : low(x > 0 ? -1 : 0), high(x + 1 < n ? 1 : 0) {}
  int count() const { return high - low + 1; }
  int low, high;
};

/// Coordinate triple stream for random patterns, mirrored and merged by the caller.
template <class Draw>
HostCsr from_draws(int64_t rows, int64_t cols, int64_t count, const RandomShape& shape, IndexPair pair,
                   const std::shared_ptr<const Memory>& memory, const Draw& draw) {
  HostCsr out;
  dispatch_index_pair(IndexPairs{}, pair, [&](auto p) {
    using I = typename decltype(p)::ordinal;
    const int64_t diagonals = shape.diagonal ? rows : 0;
    const Buffer row_indices = host_array<I>(memory, count + diagonals),
                 col_indices = host_array<I>(memory, count + diagonals);
    I* const r = row_indices.as<I>();
    I* const c = col_indices.as<I>();
    const int parts = part_count(host_threads(*memory), count, grain);
    run_parts(parts, [&](int part) {
      const Range range = part_of(count, part, parts);
      draw(range, r, c);
    });
    for (int64_t i = 0; i < diagonals; ++i) r[count + i] = c[count + i] = static_cast<I>(i);
    out = csr_from_coordinates({pair, Scalar::none, rows, cols, count + diagonals, r, c, nullptr},
                               shape.symmetric ? Mirror::same : Mirror::none, memory);
  });
  return out;
}

/// Refuses counts of draws that may not fit once they are entries.
void require_draws_fit(int64_t rows, int64_t cols, Wide draws, const RandomShape& shape, IndexPair pair) {
  require(!(shape.symmetric || shape.diagonal) || rows == cols, KKC_STATUS_INVALID_ARGUMENT, "options: rows is ", rows,
          " and cols is ", cols, ", expected a square matrix for symmetric = 1 and diagonal = dominant");
  require_fits("the matrix", rows, cols, pair);
  require_entries_fit("the matrix, before duplicates are merged,",
                      draws * (shape.symmetric ? 2 : 1) + (shape.diagonal ? static_cast<Wide>(rows) : 0), pair);
}

}  // namespace

HostCsr grid_pattern(const Grid& g, IndexPair pair, const std::shared_ptr<const Memory>& memory) {
  constexpr int64_t most = int64_t{1} << 40;
  const Wide points = static_cast<Wide>(g.nx) * static_cast<Wide>(g.ny) * static_cast<Wide>(g.nz);
  require(g.nx <= most && g.ny <= most && g.nz <= most && points <= static_cast<Wide>(INT64_MAX / 1024),
          KKC_STATUS_OVERFLOW, "the grid of ", g.nx, " x ", g.ny, " x ", g.nz, " points is beyond 64 bits");
  const auto along = [](int64_t n) {
    return n == 0 ? Wide{0} : 3 * static_cast<Wide>(n) - 2;
  };  // neighbours and itself, summed
  const auto axis = [&](int64_t n) {
    return n == 0 ? Wide{0} : points / static_cast<Wide>(n) * static_cast<Wide>(2 * n - 2);
  };
  const Wide pairs = g.box ? along(g.nx) * along(g.ny) * along(g.nz) : points + axis(g.nx) + axis(g.ny) + axis(g.nz);
  const int u = g.unknowns;
  const Wide entries = pairs * static_cast<Wide>(u * u);
  const int64_t rows = static_cast<int64_t>(points) * u;
  return by_rows(
      rows, entries, pair, memory,
      [&](int64_t row) {
        const int64_t point = row / u;
        const Reach x(point % g.nx, g.nx), y(point / g.nx % g.ny, g.ny), z(point / g.nx / g.ny, g.nz);
        return u * (g.box ? x.count() * y.count() * z.count() : x.count() + y.count() + z.count() - 2);
      },
      [&](int64_t row, auto* columns) {
        using I = std::remove_pointer_t<decltype(columns)>;
        const int64_t point = row / u;
        const Reach x(point % g.nx, g.nx), y(point / g.nx % g.ny, g.ny), z(point / g.nx / g.ny, g.nz);
        for (int dz = z.low; dz <= z.high; ++dz)
          for (int dy = y.low; dy <= y.high; ++dy)
            for (int dx = x.low; dx <= x.high; ++dx) {
              if (!g.box && (dx != 0) + (dy != 0) + (dz != 0) > 1) continue;
              const int64_t other = point + dx + g.nx * (dy + g.ny * dz);
              for (int k = 0; k < u; ++k) *columns++ = static_cast<I>(other * u + k);
            }
      });
}

HostCsr band_pattern(int64_t rows, int64_t first, int64_t last, IndexPair pair,
                     const std::shared_ptr<const Memory>& memory) {
  const auto begin = [&](int64_t i) { return std::max<int64_t>(0, i + first); };
  const auto end = [&](int64_t i) { return std::min(rows, i + last + 1); };
  Wide entries = 0;
  for (int64_t d = std::max(first, -rows); d <= std::min(last, rows); ++d)
    entries += static_cast<Wide>(rows - std::abs(d));
  return by_rows(
      rows, entries, pair, memory, [&](int64_t i) { return std::max<int64_t>(0, end(i) - begin(i)); },
      [&](int64_t i, auto* columns) {
        using I = std::remove_pointer_t<decltype(columns)>;
        for (int64_t j = begin(i); j < end(i); ++j) *columns++ = static_cast<I>(j);
      });
}

HostCsr arrow_pattern(int64_t rows, IndexPair pair, const std::shared_ptr<const Memory>& memory) {
  const Wide entries = rows == 0 ? 0 : 3 * static_cast<Wide>(rows) - 2;
  return by_rows(
      rows, entries, pair, memory, [&](int64_t i) { return i == 0 ? rows : 2; },
      [&](int64_t i, auto* columns) {
        using I = std::remove_pointer_t<decltype(columns)>;
        if (i == 0) {
          for (int64_t j = 0; j < rows; ++j) columns[j] = static_cast<I>(j);
        } else {
          columns[0] = I{0};
          columns[1] = static_cast<I>(i);
        }
      });
}

HostCsr rmat_pattern(int64_t scale, int64_t edges, const RandomShape& shape, IndexPair pair,
                     const std::shared_ptr<const Memory>& memory) {
  const int64_t vertices = int64_t{1} << scale;
  const Wide draws = static_cast<Wide>(vertices) * static_cast<Wide>(edges);
  require_draws_fit(vertices, vertices, draws, shape, pair);
  // 0.57, 0.57 + 0.19 and 0.57 + 0.19 + 0.19 of 2^32.
  constexpr uint32_t upper_left = 2448131359, upper = 3264175145, all_but_last = 4080218931;
  const int64_t draws_an_edge = (scale + 1) / 2;
  return from_draws(vertices, vertices, static_cast<int64_t>(draws), shape, pair, memory,
                    [&](Range range, auto* rows, auto* cols) {
                      using I = std::remove_pointer_t<decltype(rows)>;
                      Draws random(shape.seed, Stream::pattern, static_cast<uint64_t>(range.begin * draws_an_edge));
                      for (int64_t e = range.begin; e < range.end; ++e) {
                        uint64_t row = 0, col = 0;
                        const auto descend = [&](uint32_t u) {
                          row = 2 * row + (u >= upper);
                          col = 2 * col + ((u >= upper_left) ^ (u >= upper) ^ (u >= all_but_last));
                        };
                        int64_t level = 0;
                        for (; level + 2 <= scale; level += 2) {
                          const uint64_t draw = random.next();
                          descend(static_cast<uint32_t>(draw));
                          descend(static_cast<uint32_t>(draw >> 32));
                        }
                        if (level < scale) descend(static_cast<uint32_t>(random.next()));
                        rows[e] = static_cast<I>(row);
                        cols[e] = static_cast<I>(col);
                      }
                    });
}

HostCsr random_pattern(int64_t rows, int64_t cols, int64_t per_row, const RandomShape& shape, IndexPair pair,
                       const std::shared_ptr<const Memory>& memory) {
  const Wide draws = cols == 0 ? Wide{0} : static_cast<Wide>(rows) * static_cast<Wide>(per_row);
  require_draws_fit(rows, cols, draws, shape, pair);
  return from_draws(rows, cols, static_cast<int64_t>(draws), shape, pair, memory, [&](Range range, auto* r, auto* c) {
    using I = std::remove_pointer_t<decltype(r)>;
    Draws random(shape.seed, Stream::pattern, static_cast<uint64_t>(range.begin));
    for (int64_t k = range.begin; k < range.end; ++k) {
      r[k] = static_cast<I>(k / per_row);
      c[k] = static_cast<I>(below(random.next(), cols));
    }
  });
}

}  // namespace kkc
