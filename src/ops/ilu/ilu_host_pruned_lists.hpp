// What host_pruned keeps: which entries of L are late, as gpu_pruned has them (docs/adr/0015), and lists of what
// execute does: rows with early entries by levels of these, late entries that nothing changes, and rows with others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/memory.hpp"
#include "device/host_parallel.hpp"
#include "device/host_scan.hpp"
#include "ilu_host_pairs.hpp"

namespace kkc::ilu::host {

/// Of an entry left of the diagonal: it is late; a row that is needed changes it; its row changes late entries.
inline constexpr uint8_t late_bit = 1, changed_bit = 2, changes_bit = 4;

/// What rows share with those that they need, and which of their entries are late.
template <class I, class O>
class LateFlags {
 public:
  LateFlags(const LowerRows<I, O>& rows, const HostPairs<I, O>& pairs, uint8_t* flags)
      : rows_(rows), pairs_(pairs), flags_(flags) {}

  /// Sets row i's; returns how many are late. Of rows whose pairs are not known none is.
  int64_t look(int64_t i) const {
    const O first = rows_.offsets[i], middle = rows_.diagonal[i];
    const auto list = pairs_.of(i);
    if (!list.known) {
      std::fill(flags_ + first, flags_ + middle, uint8_t{0});
      return 0;
    }
    const HostPair* end = list.pairs;
    for (O p = first; p < middle; ++p) end += list.counts[p - first];
    int64_t late = 0;
    for (O p = middle; p-- > first;) {
      const HostPair* const begin = end - list.counts[p - first];
      const bool counts = std::any_of(begin, end, [&](const HostPair& pair) {
        const O t = first + static_cast<O>(pair.own);
        return t >= middle || (flags_[t] & late_bit) == 0;
      });
      flags_[p] = counts ? 0 : late_bit;
      late += counts ? 0 : 1;
      end = begin;
    }
    return late;
  }
  /// Notes which of its late entries are changed, and by which; returns how often.
  int64_t look_at_changes(int64_t i) const {
    int64_t changes = 0;
    each_needed(i, [&](O p, const auto& each_met) {
      each_met([&](O t, O) {
        if (!is_late(i, t)) return;
        flags_[t] |= changed_bit;
        flags_[p] |= changes_bit;
        ++changes;
      });
    });
    return changes;
  }
  bool is_late(int64_t i, O t) const { return t < rows_.diagonal[i] && (flags_[t] & late_bit) != 0; }

  /// For each entry p left of row i's diagonal f(p, each_met); each_met(g) calls g(t, q) for the entries t of row i
  /// that entry q of the row in p's column changes.
  template <class F>
  void each_needed(int64_t i, const F& f) const {
    const O first = rows_.offsets[i], middle = rows_.diagonal[i];
    const auto list = pairs_.of(i);
    const HostPair* pair = list.pairs;
    for (O p = first; p < middle; ++p) {
      const auto k = static_cast<int64_t>(rows_.indices[p]);
      const HostPair* const begin = pair;
      if (list.known) pair += list.counts[p - first];
      f(p, [&](const auto& g) {
        if (!list.known)
          return each_shared(rows_.indices, static_cast<O>(p + 1), rows_.offsets[i + 1],
                             static_cast<O>(rows_.diagonal[k] + 1), rows_.offsets[k + 1], g);
        for (const HostPair* each = begin; each < pair; ++each)
          g(static_cast<O>(first + each->own), static_cast<O>(rows_.diagonal[k] + each->needed));
      });
    }
  }

 private:
  LowerRows<I, O> rows_;
  const HostPairs<I, O>& pairs_;
  uint8_t* flags_;
};

/// Whether a sample has late entries enough for the rest to be looked at: by columns, without pairs.
template <class I, class O>
bool has_late_entries(const LowerRows<I, O>& rows, int64_t entries_of_a_late_one) {
  constexpr int64_t samples = 512, most_left = 64;
  const int64_t stride = std::max<int64_t>(1, rows.rows / samples);
  int64_t needed = 0, late = 0;
  std::vector<uint8_t> is_late;
  for (int64_t s = 0; s < samples && s * stride < rows.rows; ++s) {
    const int64_t i = std::min(rows.rows - 1, s * stride + (s * 40503 >> 4) % stride);
    const O first = rows.offsets[i], middle = rows.diagonal[i], end = rows.offsets[i + 1];
    if (middle - first > most_left) continue;
    is_late.assign(static_cast<size_t>(end - first), 0);
    for (O p = middle; p-- > first;) {
      const auto k = static_cast<int64_t>(rows.indices[p]);
      const I *const begin = rows.indices + rows.diagonal[k] + 1, *const behind = rows.indices + rows.offsets[k + 1];
      bool counts = false;
      for (O t = p + 1; t < end && !counts; ++t)
        counts = is_late[static_cast<size_t>(t - first)] == 0 && std::binary_search(begin, behind, rows.indices[t]);
      is_late[static_cast<size_t>(p - first)] = counts ? 0 : 1;
      late += counts ? 0 : 1;
    }
    needed += middle - first;
  }
  return late * entries_of_a_late_one >= needed;
}

/// Rows, and for each what is done to it one after the other: an entry left of the diagonal and its pivot (or
/// `is_known`: it is complete), how many others it changes, and for each of these its place and the factor's.
template <class O>
struct StepLists {
  static constexpr O is_known = -1;
  Buffer rows, starts, words;  // int64_t[count], int64_t[count + 1], O[]
  int64_t count = 0;

  int64_t bytes() const { return static_cast<int64_t>(rows.bytes() + starts.bytes() + words.bytes()); }
};

template <class O>
struct PrunedLists {
  StepLists<O> early, changed;
  std::vector<int64_t> levels;  // where each level of the early ones' rows begins, and their end
  Buffer late, pivots;          // O[late_count]: unchanged late entries' places, and their pivots'
  int64_t late_count = 0, late_entries = 0;

  int64_t bytes() const {
    return early.bytes() + changed.bytes() + static_cast<int64_t>(late.bytes() + pivots.bytes());
  }
};

template <class I, class O>
class FindLists {
 public:
  static constexpr int64_t entries_of_a_late_one = 4;

  FindLists(Queue& queue, const std::shared_ptr<const Memory>& memory, const LowerRows<I, O>& rows, int64_t nnz)
      : queue_(queue),
        memory_(memory),
        rows_(rows),
        nnz_(nnz),
        parts_(std::clamp<int64_t>(nnz / 8192, 1, int64_t{16} * queue.concurrency())),
        pairs_(queue, Form::lu, rows),
        flags_(memory, Space::host, static_cast<size_t>(nnz)),
        late_(rows, pairs_, flags_.template as<uint8_t>()) {}

  /// Nothing where rows share very much, levels are too many, or late entries are changed too often.
  std::shared_ptr<PrunedLists<O>> run() {
    if (pairs_.empty()) return nullptr;
    std::vector<int64_t> late(static_cast<size_t>(parts_)), changes(late.size());
    each_part([&](int64_t part, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        if (const int64_t found = late_.look(i); found > 0) {
          late[static_cast<size_t>(part)] += found;
          changes[static_cast<size_t>(part)] += late_.look_at_changes(i);
        }
    });
    auto found = std::make_shared<PrunedLists<O>>();
    int64_t all_changes = 0;
    for (size_t part = 0; part < late.size(); ++part) {
      found->late_entries += late[part];
      all_changes += changes[part];
    }
    if (all_changes * entries_of_a_change > nnz_ || !list_early(*found)) return nullptr;
    list_steps(found->early, [this](int64_t i, const auto& emit) { early_steps(i, emit); });
    list_changed(found->changed);
    list_steps(found->changed, [this](int64_t i, const auto& emit) { changed_steps(i, emit); });
    list_late(*found);
    return found;
  }

 private:
  static constexpr int64_t entries_of_a_change = 2;
  // Levels of early entries: a barrier each.
  static constexpr int64_t most_levels = 64, rows_of_a_level = 512;

  template <class F>
  void each_part(const F& f) const {
    host_parts<Host>(queue_, parts_, [&](int64_t part) {
      f(part, part_begin(rows_.rows, parts_, part), part_begin(rows_.rows, parts_, part + 1));
    });
  }
  const uint8_t* flags() const { return flags_.template as<uint8_t>(); }
  template <class X>
  Buffer array(int64_t count) const {
    return Buffer(memory_, Space::host, static_cast<size_t>(count) * sizeof(X));
  }

  /// Rows with early entries by levels of these.
  bool list_early(PrunedLists<O>& found) const {
    std::vector<int32_t> level(static_cast<size_t>(rows_.rows));
    std::vector<int64_t> widths;
    const int64_t most = most_levels + rows_.rows / rows_of_a_level;
    for (int64_t i = 0; i < rows_.rows; ++i) {
      int32_t mine = 0;
      for (O p = rows_.offsets[i]; p < rows_.diagonal[i]; ++p)
        if ((flags()[p] & late_bit) == 0) mine = std::max(mine, level[static_cast<size_t>(rows_.indices[p])] + 1);
      level[static_cast<size_t>(i)] = mine;
      if (mine > most) return false;
      if (mine > std::ssize(widths)) widths.push_back(0);
      if (mine > 0) ++widths[static_cast<size_t>(mine) - 1];
    }
    found.levels = {0};
    for (const int64_t width : widths) found.levels.push_back(found.levels.back() + width);
    found.early.count = found.levels.back();
    found.early.rows = array<int64_t>(found.early.count);
    std::vector<int64_t> next(found.levels.begin(), found.levels.end() - 1);
    auto* const rows = found.early.rows.template as<int64_t>();
    for (int64_t i = 0; i < rows_.rows; ++i)
      if (const int32_t mine = level[static_cast<size_t>(i)]; mine > 0) rows[next[static_cast<size_t>(mine) - 1]++] = i;
    return true;
  }
  void list_changed(StepLists<O>& lists) const {
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < rows_.rows; ++i) {
      const auto* const begin = flags() + rows_.offsets[i];
      if (std::any_of(begin, flags() + rows_.diagonal[i], [](uint8_t f) { return (f & changed_bit) != 0; }))
        rows.push_back(i);
    }
    lists.count = std::ssize(rows);
    lists.rows = array<int64_t>(lists.count);
    std::copy(rows.begin(), rows.end(), lists.rows.template as<int64_t>());
  }

  template <class Emit>
  void early_steps(int64_t i, const Emit& emit) const {
    late_.each_needed(i, [&](O p, const auto& each_met) {
      if ((flags()[p] & late_bit) == 0)
        emit(p, rows_.diagonal[rows_.indices[p]], each_met, [&](O t) { return !late_.is_late(i, t); });
    });
  }
  template <class Emit>
  void changed_steps(int64_t i, const Emit& emit) const {
    late_.each_needed(i, [&](O p, const auto& each_met) {
      if ((flags()[p] & (changed_bit | changes_bit)) != 0)
        emit(p, (flags()[p] & changed_bit) != 0 ? rows_.diagonal[rows_.indices[p]] : StepLists<O>::is_known, each_met,
             [&](O t) { return late_.is_late(i, t); });
    });
  }

  /// steps(i, emit) calls emit(entry, pivot, each_met, wanted) for each step of row i, which changes those of the
  /// entries t met of which wanted(t) holds.
  template <class Steps>
  void list_steps(StepLists<O>& lists, const Steps& steps) const {
    lists.starts = array<int64_t>(lists.count + 1);
    auto* const starts = lists.starts.template as<int64_t>();
    const auto* const rows = lists.rows.template as<int64_t>();
    const auto each = [&](const auto& f) {
      host_parts<Host>(queue_, parts_, [&](int64_t part) {
        for (int64_t r = part_begin(lists.count, parts_, part), end = part_begin(lists.count, parts_, part + 1);
             r < end; ++r)
          f(r);
      });
    };
    each([&](int64_t r) {
      int64_t words = 0;
      steps(rows[r], [&](O, O, const auto& each_met, const auto& wanted) {
        words += 3;
        each_met([&](O t, O) { words += wanted(t) ? 2 : 0; });
      });
      starts[r] = words;
    });
    const int64_t all = host_exclusive_scan<Host>(queue_, starts, starts, lists.count);
    lists.words = array<O>(all);
    each([&](int64_t r) {
      O* to = lists.words.template as<O>() + starts[r];
      steps(rows[r], [&](O p, O pivot, const auto& each_met, const auto& wanted) {
        O* const head = to;
        to += 3;
        each_met([&](O t, O q) {
          if (!wanted(t)) return;
          *to++ = t;
          *to++ = q;
        });
        head[0] = p;
        head[1] = pivot;
        head[2] = static_cast<O>((to - head - 3) / 2);
      });
    });
  }

  void list_late(PrunedLists<O>& found) const {
    std::vector<int64_t> begins(static_cast<size_t>(parts_) + 1);
    const auto each = [&](const auto& f) {
      each_part([&](int64_t part, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          for (O p = rows_.offsets[i]; p < rows_.diagonal[i]; ++p)
            if ((flags()[p] & (late_bit | changed_bit)) == late_bit) f(part, p);
      });
    };
    each([&](int64_t part, O) { ++begins[static_cast<size_t>(part) + 1]; });
    for (size_t part = 0; part + 1 < begins.size(); ++part) begins[part + 1] += begins[part];
    found.late_count = begins.back();
    found.late = array<O>(found.late_count);
    found.pivots = array<O>(found.late_count);
    each([&](int64_t part, O p) {
      const int64_t at = begins[static_cast<size_t>(part)]++;
      found.late.template as<O>()[at] = p;
      found.pivots.template as<O>()[at] = rows_.diagonal[rows_.indices[p]];
    });
  }

  Queue& queue_;
  const std::shared_ptr<const Memory>& memory_;
  LowerRows<I, O> rows_;
  int64_t nnz_, parts_;
  HostPairs<I, O> pairs_;
  Buffer flags_;
  LateFlags<I, O> late_;
};

}  // namespace kkc::ilu::host
