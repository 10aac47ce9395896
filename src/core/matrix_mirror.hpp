// Walks over the entries of a sorted square matrix together with their mirror images.
#pragma once

#include <atomic>

#include "matrix_parallel.hpp"

namespace kkc {

/// Offsets and indices of a CSR matrix in host memory.
template <class I, class O>
struct CsrPattern {
  int64_t rows, cols, base;
  const O* offsets;
  const I* indices;

  int64_t begin(int64_t i) const { return static_cast<int64_t>(offsets[i]) - base; }
  int64_t end(int64_t i) const { return begin(i + 1); }
  /// Wraps around for indices that are far out of range.
  int64_t col(int64_t k) const {
    return static_cast<int64_t>(static_cast<uint64_t>(indices[k]) - static_cast<uint64_t>(base));
  }
};

/// Calls f(part, i, k, m) for each entry k of row i on or below the diagonal, where m is the place of its mirror image
/// (k itself on the diagonal). False, with some entries not visited, when an image is missing on either side of the
/// diagonal, or f says false. Rows sorted, without duplicates; f runs on several threads.
///
/// Row by row, the images of row j's entries (j, i) are the next ones above the diagonal of each row i: a cursor for
/// each row finds them without a search.
template <class I, class O, class F>
bool walk_mirrored(const CsrPattern<I, O>& p, int threads, const std::shared_ptr<const Memory>& memory, const F& f) {
  if (p.rows != p.cols) return false;
  if (p.rows == 0) return true;
  const int64_t nnz = p.begin(p.rows);
  // Cursors of all parts together stay smaller than the entries.
  const int parts = part_count(static_cast<int>(std::clamp<int64_t>(nnz / p.rows, 1, threads)), nnz, 1 << 16);
  const Buffer cursors = host_array<O>(memory, p.rows * parts);
  std::atomic<bool> all{true};
  std::atomic<int64_t> below{0}, above{0};
  run_parts(parts, [&](int part) {
    O* const next = cursors.as<O>() + p.rows * part;
    const Range range = rows_of<O>(p.offsets, p.rows, static_cast<O>(p.base), part, parts);
    for (int64_t i = 0; i < range.begin; ++i) {
      const I *const first = p.indices + p.begin(i), *const last = p.indices + p.end(i);
      next[i] = static_cast<O>(std::lower_bound(first, last, static_cast<I>(range.begin + p.base)) - p.indices);
    }
    int64_t mine = 0, others = 0;
    for (int64_t j = range.begin; j < range.end; ++j) {
      if (!all.load(std::memory_order_relaxed)) return;
      int64_t k = p.begin(j);
      const int64_t end = p.end(j);
      for (; k < end && p.col(k) <= j; ++k) {
        const int64_t i = p.col(k);
        int64_t image = k;
        if (i < j) {
          image = next[i]++;
          ++mine;
        }
        if ((i < j && (image >= p.end(i) || p.col(image) != j)) || !f(part, j, k, image)) {
          all = false;
          return;
        }
      }
      next[j] = static_cast<O>(k);
      others += end - k;
    }
    below += mine;
    above += others;
  });
  return all && below == above;
}

}  // namespace kkc
