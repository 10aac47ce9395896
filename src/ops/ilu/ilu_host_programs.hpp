// What factoring a row does, found once for all rows that look alike: rows are alike when their columns lie at the same
// distances from the diagonal and the rows that they need are alike in turn, as on grids. A program lists, for each
// entry (i, k) left of the diagonal, the runs of columns that rows i and k share. Kept where it is small beside A.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "device/host_parallel.hpp"
#include "ilu_host_panels.hpp"
#include "ops/ilu/ilu.hpp"

namespace kkc::ilu {

/// Neighbouring columns that both rows hold: lanes [lane, lane + count) of the row's vector that begins at `target`,
/// and the same lanes of what begins at `source` of row k, counted from k's diagonal entry (cholesky: from its first).
struct ProgramRun {
  int32_t source;
  uint16_t target;
  uint8_t lane, count;
};
/// Entry (i, k): its place among the row's vectors, k = i - back, and its runs.
struct ProgramStep {
  int32_t place, back, runs;
};
/// Neighbouring columns of the row itself, in a vector of their own (cholesky; lu has panels).
struct ProgramVector {
  int32_t entry, count;
};
struct ProgramHeader {
  int32_t rows;  // 0; else a PanelHeader's
  int32_t steps, vectors, diagonal, entries;
};

class HostPrograms {
 public:
  template <class I, class O>
  HostPrograms(Queue& queue, Form form, bool vectors, const LowerRows<I, O>& lower);

  bool empty() const { return of_row_.empty(); }
  int64_t bytes() const { return static_cast<int64_t>(of_row_.size() * 4 + words_.size() * 4); }
  int64_t count() const { return count_; }
  /// Vectors of a row's (cholesky), of a panel's rows left of the diagonal (lu).
  int32_t most_vectors() const { return most_vectors_; }
  bool panels() const { return panels_; }
  /// Null for a row of a panel that an earlier row begins.
  const int32_t* of(int64_t row) const {
    const uint32_t word = of_row_[static_cast<size_t>(row)];
    return word == in_panel ? nullptr : words_.data() + word;
  }

 private:
  static constexpr uint32_t in_panel = UINT32_MAX;
  static size_t at(int64_t i) { return static_cast<size_t>(i); }

  /// Rows of one part, with words of its own.
  struct Part {
    std::vector<int32_t> words;
    int64_t count = 0;
    bool failed = false;
  };

  template <class I, class O>
  static std::vector<uint32_t> classes_of(Queue& queue, const LowerRows<I, O>& lower, int64_t parts);
  template <class I, class O>
  static bool worth_vectors(Form form, const LowerRows<I, O>& lower, int64_t i);
  template <class I, class O>
  static bool make_program(Form form, bool vectors, const LowerRows<I, O>& lower, int64_t i,
                           std::vector<int32_t>& words);

  std::vector<uint32_t> of_row_;
  std::vector<int32_t> words_;
  int64_t count_ = 0;
  int32_t most_vectors_ = 0;
  bool panels_ = false;
};

namespace program_parts {

inline uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ (hash >> 29);
}

/// Whether rows i and j hold columns at the same distances from themselves.
template <class I, class O>
bool alike(const LowerRows<I, O>& lower, int64_t i, int64_t j) {
  const O first_i = lower.offsets[i], first_j = lower.offsets[j];
  const O count = lower.offsets[i + 1] - first_i;
  if (lower.offsets[j + 1] - first_j != count) return false;
  const auto shift = static_cast<I>(i - j);
  I differs = 0;
  for (O k = 0; k < count; ++k) differs |= lower.indices[first_i + k] - lower.indices[first_j + k] - shift;
  return differs == 0;
}

}  // namespace program_parts

/// Each row's class, or nothing where there are too many of them. Classes are numbered from 0.
template <class I, class O>
std::vector<uint32_t> HostPrograms::classes_of(Queue& queue, const LowerRows<I, O>& lower, int64_t parts) {
  using namespace program_parts;
  constexpr size_t most = 4096;
  struct Known {
    std::unordered_multimap<uint64_t, uint32_t> ids;
    std::vector<int64_t> examples;
    bool failed = false;
  };
  const auto hash_of = [&](int64_t i) {
    uint64_t hash = 1;
    for (O p = lower.offsets[i]; p < lower.offsets[i + 1]; ++p)
      hash = mixed(hash, static_cast<uint64_t>(int64_t{lower.indices[p]} - i));
    return hash;
  };
  const auto id_of = [&](Known& known, int64_t i) {
    const uint64_t hash = hash_of(i);
    const auto [begin, end] = known.ids.equal_range(hash);
    for (auto it = begin; it != end; ++it)
      if (alike(lower, known.examples[it->second], i)) return it->second;
    const auto id = static_cast<uint32_t>(known.examples.size());
    known.ids.emplace(hash, id);
    known.examples.push_back(i);
    return id;
  };
  std::vector<uint32_t> classes(at(lower.rows));
  std::vector<Known> local(at(parts));
  host_parts_checked<Host>(queue, parts, [&](int64_t part) {
    Known& known = local[at(part)];
    const int64_t begin = part_begin(lower.rows, parts, part), end = part_begin(lower.rows, parts, part + 1);
    for (int64_t i = begin; i < end; ++i) {
      classes[at(i)] = i > begin && alike(lower, i - 1, i) ? classes[at(i - 1)] : id_of(known, i);
      if (known.examples.size() > most ||
          (known.examples.size() > 64 && int64_t(known.examples.size()) * 4 > i - begin)) {
        known.failed = true;
        return;
      }
    }
  });
  Known all;
  std::vector<std::vector<uint32_t>> global(at(parts));
  for (size_t part = 0; part < local.size(); ++part) {
    if (local[part].failed) return {};
    for (const int64_t example : local[part].examples) global[part].push_back(id_of(all, example));
  }
  if (all.examples.size() > most) return {};
  host_parts<Host>(queue, parts, [&](int64_t part) {
    for (int64_t i = part_begin(lower.rows, parts, part); i < part_begin(lower.rows, parts, part + 1); ++i)
      classes[at(i)] = global[at(part)][classes[at(i)]];
  });
  return classes;
}

/// Whether a row has neighbouring columns enough for vectors of its own; of few needed rows the next row waits longer
/// for a vector that was stored than for numbers.
template <class I, class O>
bool HostPrograms::worth_vectors(Form form, const LowerRows<I, O>& lower, int64_t i) {
  const O first = lower.offsets[i], end = form == Form::lu ? lower.offsets[i + 1] : lower.diagonal[i] + 1;
  constexpr int64_t few = 16;
  if (form == Form::lu && lower.diagonal[i] - first <= few) return false;
  int64_t runs = 0;
  for (O p = first; p < end; ++p) runs += p == first || lower.indices[p] != lower.indices[p - 1] + 1;
  return 2 * runs < int64_t{end - first};
}

/// Appends row i's program, in vectors or in place; false when it does not fit its numbers.
template <class I, class O>
bool HostPrograms::make_program(Form form, bool in_vectors, const LowerRows<I, O>& lower, int64_t i,
                                std::vector<int32_t>& words) {
  const O first = lower.offsets[i], end = form == Form::lu ? lower.offsets[i + 1] : lower.diagonal[i] + 1;
  const auto append = [&](const auto& what) { append_words(words, what); };
  // Columns that follow one another share vectors.
  std::vector<ProgramVector> vectors;
  std::vector<int32_t> places(at(end - first));
  for (O p = first; p < end; ++p) {
    if (!in_vectors) {
      places[at(p - first)] = static_cast<int32_t>(p - first);
      continue;
    }
    const bool joins =
        p > first && lower.indices[p] == lower.indices[p - 1] + 1 && vectors.back().count < program_lanes;
    if (!joins) vectors.push_back({static_cast<int32_t>(p - first), 0});
    places[at(p - first)] = (static_cast<int32_t>(vectors.size()) - 1) * program_lanes + vectors.back().count++;
  }
  if (vectors.size() * program_lanes > UINT16_MAX || end - first > UINT16_MAX) return false;
  append(ProgramHeader{0, static_cast<int32_t>(lower.diagonal[i] - first), static_cast<int32_t>(vectors.size()),
                       places[at(lower.diagonal[i] - first)], static_cast<int32_t>(end - first)});
  for (const ProgramVector& vector : vectors) append(vector);
  for (O p = first; p < lower.diagonal[i]; ++p) {
    const auto k = static_cast<int64_t>(lower.indices[p]);
    if (i - k > INT32_MAX) return false;
    // lu: what lies right of k in both rows; cholesky: what lies left of k in both.
    const O from = form == Form::lu ? lower.diagonal[k] : lower.offsets[k];
    const O k_begin = form == Form::lu ? from + 1 : from,
            k_end = form == Form::lu ? lower.offsets[k + 1] : lower.diagonal[k];
    const O i_begin = form == Form::lu ? p + 1 : first, i_end = form == Form::lu ? end : p;
    const size_t step = words.size();
    append(ProgramStep{places[at(p - first)], static_cast<int32_t>(i - k), 0});
    int32_t runs = 0;
    ProgramRun run{};
    for (O q = k_begin, t = i_begin; q < k_end && t < i_end;) {
      if (lower.indices[q] < lower.indices[t]) {
        ++q;
      } else if (lower.indices[t] < lower.indices[q]) {
        ++t;
      } else {
        const int32_t place = places[at(t - first)];
        // In place a run's first entry is its lane 0; vectors have lanes of their own.
        const bool follows = run.count > 0 && run.count < UINT8_MAX && run.target + run.count == place &&
                             run.source + run.count == q - from;
        const int32_t lane = in_vectors ? place % program_lanes : follows ? run.count : 0;
        const int64_t source = int64_t{q - from} - lane;
        if (source > INT32_MAX) return false;
        if (run.count > 0 && run.target == place - lane && run.source == source && run.lane + run.count == lane) {
          ++run.count;
        } else {
          if (run.count > 0) append(run);
          run = {static_cast<int32_t>(source), static_cast<uint16_t>(place - lane), static_cast<uint8_t>(lane), 1};
          ++runs;
        }
        ++q;
        ++t;
      }
    }
    if (run.count > 0) append(run);
    std::memcpy(words.data() + step + offsetof(ProgramStep, runs) / 4, &runs, 4);
  }
  return true;
}

template <class I, class O>
HostPrograms::HostPrograms(Queue& queue, Form form, bool vectors, const LowerRows<I, O>& lower) {
  const int64_t n = lower.rows, nnz = n == 0 ? 0 : int64_t{lower.offsets[n]} - lower.offsets[0];
  if (n == 0) return;
  const int64_t parts = std::clamp<int64_t>(n / 8192, 1, queue.concurrency());
  const std::vector<uint32_t> classes = classes_of(queue, lower, parts);
  if (classes.empty()) return;
  of_row_.resize(at(n));
  std::vector<Part> made(at(parts));
  const size_t most_words = at(4 * nnz / parts + 65536);
  host_parts_checked<Host>(queue, parts, [&](int64_t part) {
    Part& mine = made[at(part)];
    struct Example {
      int64_t row;
      int32_t rows;
      uint32_t word;
    };
    std::unordered_map<uint64_t, std::vector<Example>> known;
    const auto same_needs = [&](int64_t i, int64_t j) {
      if (classes[at(i)] != classes[at(j)]) return false;
      const O count = lower.diagonal[i] - lower.offsets[i];
      for (O p = 0; p < count; ++p)
        if (classes[static_cast<size_t>(lower.indices[lower.offsets[i] + p])] !=
            classes[static_cast<size_t>(lower.indices[lower.offsets[j] + p])])
          return false;
      return true;
    };
    const int64_t begin = part_begin(n, parts, part), end = part_begin(n, parts, part + 1);
    int64_t last = -1;
    int32_t rows = 1, last_rows = 0;
    bool by_vectors = false;
    for (int64_t i = begin; i < end; i += rows) {
      if (last < 0 || classes[at(last)] != classes[at(i)]) by_vectors = vectors && worth_vectors(form, lower, i);
      const bool panel = by_vectors && form == Form::lu;
      rows = panel ? panel_rows(lower, i, std::min<int64_t>(most_panel_rows, end - i)) : 1;
      std::fill_n(of_row_.begin() + i, rows, in_panel);
      if (rows == last_rows && same_needs(last, i)) {
        of_row_[at(i)] = of_row_[at(last)];
        last = i;
        continue;
      }
      last = i;
      last_rows = rows;
      uint64_t hash = program_parts::mixed(static_cast<uint64_t>(rows), classes[at(i)]);
      for (O p = lower.offsets[i]; p < lower.diagonal[i]; ++p)
        hash = program_parts::mixed(hash, classes[static_cast<size_t>(lower.indices[p])]);
      auto& examples = known[hash];
      const auto match = std::find_if(examples.begin(), examples.end(),
                                      [&](const Example& e) { return e.rows == rows && same_needs(e.row, i); });
      if (match != examples.end()) {
        of_row_[at(i)] = match->word;
        continue;
      }
      const auto word = static_cast<uint32_t>(mine.words.size());
      const bool fits =
          mine.words.size() <= most_words &&
          (panel ? make_panel(lower, i, rows, mine.words) : make_program(form, by_vectors, lower, i, mine.words));
      if (!fits) {
        mine.failed = true;
        return;
      }
      ++mine.count;
      examples.push_back({i, rows, word});
      of_row_[at(i)] = word;
    }
  });
  std::vector<size_t> firsts{0};
  bool failed = false;
  for (const Part& part : made) {
    firsts.push_back(firsts.back() + part.words.size());
    count_ += part.count;
    failed = failed || part.failed;
  }
  if (failed || firsts.back() >= in_panel) {
    of_row_ = {};
    count_ = 0;
    return;
  }
  words_.resize(firsts.back());
  for (size_t part = 0; part < made.size(); ++part)
    std::copy(made[part].words.begin(), made[part].words.end(), words_.begin() + static_cast<int64_t>(firsts[part]));
  host_parts<Host>(queue, parts, [&](int64_t part) {
    for (int64_t i = part_begin(n, parts, part); i < part_begin(n, parts, part + 1); ++i)
      if (of_row_[at(i)] != in_panel) of_row_[at(i)] += static_cast<uint32_t>(firsts[at(part)]);
  });
  uint32_t last = in_panel;
  for (const uint32_t word : of_row_) {
    if (word == last || word == in_panel) continue;
    last = word;
    PanelHeader panel;
    ProgramHeader header;
    take(words_.data() + word, panel);
    panels_ = panels_ || panel.rows > 0;
    if (panel.rows == 0) take(words_.data() + word, header);
    most_vectors_ = std::max(most_vectors_, panel.rows > 0 ? panel.left : header.vectors);
  }
}

}  // namespace kkc::ilu
