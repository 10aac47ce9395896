// Samples of rows of C of few products, for which lists of products are faster than what other rows are made by.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "device/host_pattern_ref.hpp"
#include "ops/spgemm/spgemm_host_left.hpp"

namespace kkc::spgemm {

/// Products whose columns a plan keeps from one pass to the next, or lists, at most.
inline constexpr int64_t most_kept_products = int64_t{1} << 28;

/// Sample s of `samples` from 0..count-1: one of each part, not all at the same place of a grid's lines.
inline int64_t sample_at(int64_t count, int64_t samples, int64_t s) {
  const int64_t begin = part_begin(count, samples, s), more = part_begin(count, samples, s + 1) - begin;
  const uint64_t any = (static_cast<uint64_t>(s) + 1) * 0x9e3779b97f4a7c15u >> 33;
  return begin + (more <= 0 ? 0 : static_cast<int64_t>(any % static_cast<uint64_t>(more)));
}

/// Whether rows have few products, and most are not the row before moved by one, whose classes would need less; or of
/// one entry in every row of B (`single`) so few that classes are no better.
template <class Left, class I, class O>
bool are_short_and_alone(const Left& left, const HostPatternRef<I, O>& B, bool single) {
  constexpr int64_t few = 8, sampled = 512;
  if (single && 2 * left.A.nnz <= 5 * left.rows()) return true;
  const int64_t rows = left.rows() - 1, samples = std::min(rows, sampled);
  int64_t products = 0, follow = 0;
  for (int64_t s = 0; s < samples; ++s) {
    const int64_t i = sample_at(rows, samples, s);
    const auto row = left.row(i), next = left.row(i + 1);
    bool moved = row.size() == next.size();
    for (int64_t k = 0; k < row.size(); ++k) {
      products += single ? 1 : B.end(row.column(k)) - B.begin(row.column(k));
      moved = moved && next.column(k) == row.column(k) + 1;
    }
    follow += moved ? 1 : 0;
  }
  return products <= few * samples && 8 * follow < 7 * samples;
}

/// Whether about seven of eight entries, by a sample, are in rows of at most `most` entries.
template <class I, class O>
bool are_in_short_rows(const HostPatternRef<I, O>& A, int64_t most) {
  constexpr int64_t sampled = 64;
  const int64_t samples = std::min(A.nnz, sampled);
  int64_t in_long = 0;
  for (int64_t s = 0; s < samples; ++s) {
    const int64_t row = A.row_of(sample_at(A.nnz, samples, s));
    in_long += A.end(row) - A.begin(row) > most ? 1 : 0;
  }
  return 8 * in_long <= samples;
}

/// About how many entries C has for `products` products, where every row of B has one entry.
template <class I, class O>
int64_t sampled_entries(const HostPatternRef<I, O>& A, const HostPatternRef<I, O>& B, int64_t products) {
  constexpr int64_t sampled = 64;
  const int64_t samples = std::min(A.rows, sampled);
  std::vector<I> columns;
  int64_t met = 0, entries = 0;
  for (int64_t s = 0; s < samples; ++s) {
    const int64_t i = sample_at(A.rows, samples, s);
    columns.clear();
    for (int64_t k = A.begin(i); k < A.end(i); ++k) columns.push_back(B.indices[A.column(k)]);
    std::sort(columns.begin(), columns.end());
    met += static_cast<int64_t>(columns.size());
    entries += std::unique(columns.begin(), columns.end()) - columns.begin();
  }
  return met == 0 ? 0 : products * entries / met;
}

}  // namespace kkc::spgemm
