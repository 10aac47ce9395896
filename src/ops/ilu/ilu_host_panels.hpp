// Programs of panels: up to four neighbouring rows with the same columns, e.g. of one point's unknowns, are eliminated
// together, a vector of neighbouring columns after the other. A vector takes in everything that rows before the panel's
// subtract from it while it is in registers, so that nothing waits for numbers just stored.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "ilu_host_schedule.hpp"

namespace kkc::ilu {

inline constexpr int32_t program_lanes = 8, most_panel_rows = 4;

template <class W>
void append_words(std::vector<int32_t>& words, const W& what) {
  const size_t from = words.size();
  words.resize(from + sizeof what / 4);
  std::memcpy(words.data() + from, &what, sizeof what);
}
template <class W>
const int32_t* take(const int32_t* words, W& what) {
  std::memcpy(&what, words, sizeof what);
  return words + sizeof what / sizeof *words;
}

/// `left` of the vectors lie left of the diagonal; the next one begins with it and holds the panel's own columns.
struct PanelHeader {
  int32_t rows, left, vectors;
};
/// Entries [entry, entry + count) of each of the panel's rows; then come `runs` PanelRuns and, left of the diagonal, a
/// PanelPivot for each entry.
struct PanelVector {
  int32_t entry, count, runs;
};
/// What lanes `mask` lose to row k: its numbers from `source` after its diagonal entry on (where lane 0 would be),
/// times the panel's entries (i, k), which have place `place` among the vectors left of the diagonal.
struct PanelRun {
  int32_t source;
  uint16_t place;
  uint16_t mask;
};
/// Entries (i, k) of the panel's rows, k = i - back for the first of them, and the runs of their own vector.
struct PanelPivot {
  int32_t back, runs;
};

/// How many rows from i on, at most `most`, have the same columns.
template <class I, class O>
int32_t panel_rows(const LowerRows<I, O>& lower, int64_t i, int64_t most) {
  const O first = lower.offsets[i], count = lower.offsets[i + 1] - first;
  int32_t rows = 1;
  for (; rows < most; ++rows) {
    const O other = lower.offsets[i + rows];
    if (lower.offsets[i + rows + 1] - other != count ||
        !std::equal(lower.indices + first, lower.indices + first + count, lower.indices + other))
      break;
  }
  return rows;
}

/// Appends the program of the panel of `rows` rows from i on; false when it does not fit its numbers.
template <class I, class O>
bool make_panel(const LowerRows<I, O>& lower, int64_t i, int32_t rows, std::vector<int32_t>& words) {
  const O first = lower.offsets[i], diagonal = lower.diagonal[i], end = lower.offsets[i + 1];
  struct Vector {
    PanelVector is;
    std::vector<PanelRun> runs;
  };
  std::vector<Vector> vectors;
  std::vector<int32_t> places(static_cast<size_t>(end - first));
  const auto place = [&](O p) { return places[static_cast<size_t>(p - first)]; };
  int32_t left = 0;
  for (O p = first; p < end; ++p) {
    const bool joins = p > first && p != diagonal && lower.indices[p] == lower.indices[p - 1] + 1 &&
                       vectors.back().is.count < program_lanes;
    if (!joins) vectors.push_back({{static_cast<int32_t>(p - first), 0, 0}, {}});
    if (p < diagonal) left = static_cast<int32_t>(vectors.size());
    places[static_cast<size_t>(p - first)] =
        (static_cast<int32_t>(vectors.size()) - 1) * program_lanes + vectors.back().is.count++;
  }
  if (vectors.size() * program_lanes > UINT16_MAX) return false;
  std::vector<std::vector<PanelRun>> own(static_cast<size_t>(diagonal - first));
  for (O p = first; p < diagonal; ++p) {
    const auto k = static_cast<int64_t>(lower.indices[p]);
    if (i - k > INT32_MAX) return false;
    const O from = lower.diagonal[k];
    for (O q = from + 1, t = p + 1; q < lower.offsets[k + 1] && t < end;) {
      if (lower.indices[q] == lower.indices[t]) {
        const int32_t vector = place(t) / program_lanes, lane = place(t) % program_lanes;
        const int64_t source = int64_t{q - from} - lane;
        if (source > INT32_MAX) return false;
        auto& runs = vector == place(p) / program_lanes ? own[static_cast<size_t>(p - first)]
                                                        : vectors[static_cast<size_t>(vector)].runs;
        const auto bit = static_cast<uint16_t>(1u << lane);
        if (!runs.empty() && runs.back().place == place(p) && runs.back().source == source)
          runs.back().mask = static_cast<uint16_t>(runs.back().mask | bit);
        else
          runs.push_back({static_cast<int32_t>(source), static_cast<uint16_t>(place(p)), bit});
      }
      const bool next_q = lower.indices[q] <= lower.indices[t], next_t = lower.indices[t] <= lower.indices[q];
      q += next_q;
      t += next_t;
    }
  }
  append_words(words, PanelHeader{rows, left, static_cast<int32_t>(vectors.size())});
  for (size_t v = 0; v < vectors.size(); ++v) {
    PanelVector& is = vectors[v].is;
    is.runs = static_cast<int32_t>(vectors[v].runs.size());
    append_words(words, is);
    for (const PanelRun& run : vectors[v].runs) append_words(words, run);
    if (static_cast<int32_t>(v) >= left) continue;
    for (int32_t e = is.entry; e < is.entry + is.count; ++e) {
      const auto& runs = own[static_cast<size_t>(e)];
      append_words(words, PanelPivot{static_cast<int32_t>(i - int64_t{lower.indices[first + static_cast<O>(e)]}),
                                     static_cast<int32_t>(runs.size())});
      for (const PanelRun& run : runs) append_words(words, run);
    }
  }
  return true;
}

}  // namespace kkc::ilu
