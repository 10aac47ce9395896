// Rows in groups of eight neighbours that a vector takes at once. A group is alike when its rows have the same columns
// relative to their own number, as grids have: one list of offsets then stands for the indices of the whole group, and
// of every neighbouring group that has the same list.
#pragma once

#include "ops/spmv/spmv_host_rows.hpp"

namespace kkc::spmv {

inline constexpr int64_t group_rows = 8;

/// Groups one after the other. Alike: of one list of offsets. Else: rows of any kind, the last group may be short.
struct GroupRun {
  int64_t row, rows;
  int64_t length;  // entries of each row; 0 when not alike
  bool alike;
};

/// Whether `row` + 1 has the columns of `row`, each one further.
template <class S, class I, class O>
bool next_is_alike(const HostCsr<S, I, O>& A, int64_t row, int64_t begin, int64_t length) {
  if (A.begin(row + 2) - A.begin(row + 1) != length) return false;
  using U = std::make_unsigned_t<I>;
  const I *here = A.indices + begin, *next = here + length;
  U differs = 0;
  for (int64_t i = 0; i < length; ++i) differs |= (static_cast<U>(here[i]) + U{1}) ^ static_cast<U>(next[i]);
  return differs == 0;
}

/// Runs of rows begin..end-1. begin is a multiple of 8, and so is end unless it is the last row's.
template <class S, class I, class O>
std::vector<GroupRun> find_runs(const HostCsr<S, I, O>& A, int64_t begin, int64_t end) {
  std::vector<GroupRun> runs;
  bool joined = false;  // the group before is alike and goes on into this one
  for (int64_t row = begin; row < end; row += group_rows) {
    const int64_t last = std::min(row + group_rows, end), length = A.begin(row + 1) - A.begin(row);
    int64_t until = row;  // rows from `row` to here are alike; `last` is the next group's first
    while (length > 0 && until < last && until + 1 < end && next_is_alike(A, until, A.begin(until), length)) ++until;
    const bool alike = length > 0 && last - row == group_rows && until >= last - 1;
    if (!runs.empty() && runs.back().alike == alike && (!alike || joined))
      runs.back().rows += last - row;
    else
      runs.push_back({row, last - row, alike ? length : 0, alike});
    joined = alike && until == last;
  }
  return runs;
}

/// Share of sampled groups that are alike.
template <class S, class I, class O>
double alike_share(const HostCsr<S, I, O>& A) {
  constexpr int64_t samples = 512;
  const int64_t groups = A.rows / group_rows;
  if (groups == 0 || A.nnz == 0) return 0;
  const int64_t tries = std::min(samples, groups);
  int64_t alike = 0;
  for (int64_t i = 0; i < tries; ++i) {
    // Scattered: even steps would hit the same place of every line of a grid.
    const uint64_t place = static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u;
    const int64_t group = tries == groups ? i : static_cast<int64_t>(place % static_cast<uint64_t>(groups));
    const int64_t row = group * group_rows, length = A.begin(row + 1) - A.begin(row);
    bool all = length > 0;
    for (int64_t next = row; all && next + 1 < row + group_rows; ++next)
      all = next_is_alike(A, next, A.begin(next), length);
    alike += all;
  }
  return static_cast<double>(alike) / static_cast<double>(tries);
}

/// The share for the types of a case, whose values may be anything.
inline double alike_share(const CsrRef& A) {
  double share = 0;
  dispatch_index_pair(IndexPairs{}, A.pair, [&](auto pair) {
    using P = decltype(pair);
    share = alike_share(HostCsr<float, typename P::ordinal, typename P::offset>(A));
  });
  return share;
}

/// Cuts for groups: whole rows, at multiples of 8.
template <class S, class I, class O>
std::vector<int64_t> group_cuts(const HostCsr<S, I, O>& A, int64_t parts) {
  std::vector<int64_t> rows;
  for (const Cut& cut : balanced_cuts(A, parts, false))
    rows.push_back(cut.row == A.rows ? A.rows : cut.row / group_rows * group_rows);
  return rows;
}

/// What implementations for contiguous vectors do not take, or "".
inline std::string vector_refusal(const Desc& desc) {
  if (transposes(desc.op)) return "op is a transposed one";
  if (desc.vectors != 1) return "for one vector";
  if (desc.x.extents[0] > 1 && desc.x.strides[0] != 1) return "x is strided";
  if (desc.A.nnz == 0) return "A has no entries";
  return {};
}

/// What implementations by groups do not take, or "".
inline std::string group_refusal(const Desc& desc) {
  if (std::string refusal = vector_refusal(desc); !refusal.empty()) return refusal;
  if (desc.rows.longest > most_of_one_thread(desc.A.nnz)) return "a row is long enough to be shared by threads";
  return {};
}

}  // namespace kkc::spmv
