// gpu_sync_free: how many lanes share a row, and how far ahead of their turn warps wait, by the shape of a triangle.
#pragma once

#include <algorithm>

#include "sptrsv_gpu_parts.hpp"
#include "sptrsv_gpu_sync_free_rows.hpp"

namespace kkc::sptrsv {
namespace gpu_parts {

namespace sync_free_tuning {
inline constexpr int near_gate = 4;                // levels that a warp's gate lies before its rows
inline constexpr int far_gate = 8;                 // where levels are narrow
inline constexpr double narrow_mean = 512;         // rows a level, at most
inline constexpr unsigned chain_nap = 100;         // nanoseconds between looks at it in a chain
inline constexpr double uneven = 8;                // of the width of a row's level, or of the longest row, by the mean
inline constexpr double many_rows = 4096;          // of a level: more than wait at once
inline constexpr double least_relabelled = 0.75;   // entries of a row, from which numbering by position pays
inline constexpr int64_t one_after_the_other = 3;  // levels that gain nothing from it
}  // namespace sync_free_tuning

/// Of SolveRows: what was fastest on an H200 for grids and their ILU(1) factors (2 to 89 entries a row), random rows
/// and skewed ones. gate_distance: 0 without gates.
struct RowVariant {
  int lanes_log2, batch, gate_distance;
  RowKind kind = RowKind::plain;
};

/// Of so few entries in the mean that a row has `least` lanes: more where, of few levels, one long row would take
/// longer than all others do with more.
inline int lanes_beside_long_row(const Desc& desc, const Levels& levels, int least) {
  constexpr int64_t few_levels = 16;
  constexpr double rows_an_entry = 80'000;  // lanes that take as long as an entry of one lane
  if (transposes(desc.op) || levels.count > few_levels) return least;
  int best = least;
  const auto cost = [&](int log2) {
    return static_cast<double>(desc.rows.longest) / (1 << log2) +
           static_cast<double>(desc.A.rows) * (1 << log2) / rows_an_entry;
  };
  for (int log2 = least + 1; log2 <= 5; ++log2)
    if (cost(log2) < cost(best)) best = log2;
  return best;
}

inline RowVariant row_variant(const Desc& desc, const Levels& levels, bool segmented) {
  using namespace sync_free_tuning;
  if (segmented) return {5, 4, 0, RowKind::segmented};
  double squares = 0;
  for (int64_t l = 0; l < levels.count; ++l) {
    const auto width = static_cast<double>(levels.starts[size_t(l) + 1] - levels.starts[size_t(l)]);
    squares += width * width;
  }
  const double entries = levels.entries_a_row, rows = static_cast<double>(std::max<int64_t>(1, levels.rows));
  const double mean = rows / static_cast<double>(std::max<int64_t>(1, levels.count));
  const bool alike =
      !transposes(desc.op) && static_cast<double>(desc.rows.longest) * rows <= uneven * static_cast<double>(desc.A.nnz);
  const bool gated = alike || squares / rows <= uneven * mean;
  if (!gated && entries > 4) return {5, 4, 0};
  const int distance = !gated ? 0 : mean <= narrow_mean ? far_gate : near_gate;
  if (entries >= least_relabelled && entries <= 4 && mean >= many_rows && levels.count > one_after_the_other)
    return {entries <= 2 ? 1 : 2, 1, distance, RowKind::relabelled};
  if (entries <= 4) return {lanes_beside_long_row(desc, levels, entries <= 2 ? 1 : 2), 1, distance};
  if (entries <= 20 && mean >= many_rows) return {entries <= 8 ? 2 : 3, 1, distance, RowKind::relabelled};
  if (entries <= 8) return {3, 1, distance};
  if (entries <= 16) return {4, 1, distance};
  if (entries <= 48) return {5, 1, distance};
  return {5, 2, distance};
}

template <class T, class I, class O, class F>
void with_row_kernel(const RowVariant& variant, const F& f) {
  const auto is = [&](int lanes_log2, int batch, RowKind kind) {
    return variant.lanes_log2 == lanes_log2 && variant.batch == batch && variant.kind == kind;
  };
  if (is(1, 1, RowKind::plain))
    f(SolveRows<T, I, O, 1, 1>{});
  else if (is(2, 1, RowKind::plain))
    f(SolveRows<T, I, O, 2, 1>{});
  else if (is(1, 1, RowKind::relabelled))
    f(SolveRows<T, I, O, 1, 1, RowKind::relabelled>{});
  else if (is(2, 1, RowKind::relabelled))
    f(SolveRows<T, I, O, 2, 1, RowKind::relabelled>{});
  else if (is(3, 1, RowKind::relabelled))
    f(SolveRows<T, I, O, 3, 1, RowKind::relabelled>{});
  else if (is(3, 1, RowKind::plain))
    f(SolveRows<T, I, O, 3, 1>{});
  else if (is(4, 1, RowKind::plain))
    f(SolveRows<T, I, O, 4, 1>{});
  else if (is(5, 1, RowKind::plain))
    f(SolveRows<T, I, O, 5, 1>{});
  else if (is(5, 2, RowKind::plain))
    f(SolveRows<T, I, O, 5, 2>{});
  else if (is(5, 4, RowKind::plain))
    f(SolveRows<T, I, O, 5, 4>{});
  else
    f(SolveRows<T, I, O, 5, 4, RowKind::segmented>{});
}

}  // namespace gpu_parts
}  // namespace kkc::sptrsv
