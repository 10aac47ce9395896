// The dictionaries of row and column patterns of a plan, and the question whether a matrix has them.
#pragma once

#include "spmv_gpu_driver.hpp"
#include "spmv_gpu_pattern_plan_kernels.hpp"

namespace kkc::spmv::gpu_parts {

inline int pattern_lanes_log2(const Desc& desc) {
  const double mean = mean_row(desc);
  return mean > 48 ? 3 : mean > 12 ? 2 : 0;
}

/// A grid that stays on the device, whose turns keep their place in matrices of 2, 3, 4 or 6 unknowns a node.
inline unsigned resident_grid(const Queue& queue, int64_t turns) {
  constexpr int64_t unknowns = 12;
  const int64_t most = 6 * int64_t{queue.concurrency()};
  return static_cast<unsigned>(turns < most ? turns : std::max(most / unknowns, int64_t{1}) * unknowns);
}

/// Rows' patterns: known() tells whether there are few enough.
template <class I, class O>
class RowPatterns {
 public:
  RowPatterns(const Desc& desc, Queue& queue) {
    const int64_t rows = desc.A.rows;
    Parts parts;
    const size_t table_at = parts.add<PatternTable>(1), zero_bytes = parts.bytes(),
                 groups_at = parts.add<RowGroup>((rows + 31) / 32), starts_at = parts.add<int32_t>(pattern_slots),
                 lengths_at = parts.add<int32_t>(pattern_slots), relative_at = parts.add<int32_t>(max_relative),
                 ids_at = parts.add<uint16_t>(rows);
    arrays_ = Buffer(Memory::in_order(desc.memory), Space::device, parts.bytes());
    fill_words(queue, arrays_, 0, zero_bytes);
    char* data = arrays_.as<char>();
    table_ = reinterpret_cast<PatternTable*>(data + table_at);
    auto* groups = reinterpret_cast<RowGroup*>(data + groups_at);
    auto* starts = reinterpret_cast<int32_t*>(data + starts_at);
    auto* lengths = reinterpret_cast<int32_t*>(data + lengths_at);
    auto* relative = reinterpret_cast<int32_t*>(data + relative_at);
    auto* ids = reinterpret_cast<uint16_t*>(data + ids_at);
    patterns_ = {groups, ids, starts, relative};
    FindPatterns<I, O> find{offsets_of<O>(desc.A), columns_of<I>(desc.A), table_, ids, pattern_lanes_log2(desc), true};
    const int64_t turns = gpu::blocks_for(rows << find.lanes_log2, find.threads);
    // First some rows: most matrices without patterns are given up there, and the others' table is nearly full.
    constexpr unsigned some = 64;
    if (turns > 4 * some) gpu::launch(queue, some, find.threads, 0, find);
    find.sample = false;
    gpu::launch(queue, resident_grid(queue, turns), find.threads, 0, find);
    launch_over(queue, rows, DescribeRows<I, O>{find.A, find.columns, table_, ids, groups, starts, lengths, relative});
    facts_ = read_back<PatternFacts>(queue, &table_->facts);
  }

  bool known() const { return facts_.abandoned == 0; }
  bool complete() const { return known() && facts_.left_out == 0; }
  const Patterns& patterns() const { return patterns_; }
  const PatternTable* table() const { return table_; }
  void describe(Info& info) const {
    info.add("patterns", int64_t{facts_.patterns});
    info.add("plan_bytes", static_cast<int64_t>(arrays_.bytes()));
  }

 private:
  Buffer arrays_;
  PatternTable* table_ = nullptr;
  Patterns patterns_{};
  PatternFacts facts_{};
};

/// Columns' patterns, from the rows'.
template <class I, class O>
class ColumnPatternPlan {
 public:
  ColumnPatternPlan(const Desc& desc, Queue& queue, const RowPatterns<I, O>& rows) {
    const int64_t cols = desc.A.cols;
    Parts parts;
    const size_t table_at = parts.add<PatternTable>(1), zero_bytes = parts.bytes(),
                 starts_at = parts.add<int32_t>(pattern_slots), lengths_at = parts.add<int32_t>(pattern_slots),
                 entries_at = parts.add<ColumnEntry>(max_relative), ids_at = parts.add<uint16_t>(cols);
    arrays_ = Buffer(Memory::in_order(desc.memory), Space::device, parts.bytes());
    char* data = arrays_.as<char>();
    auto* table = reinterpret_cast<PatternTable*>(data + table_at);
    auto* starts = reinterpret_cast<int32_t*>(data + starts_at);
    auto* lengths = reinterpret_cast<int32_t*>(data + lengths_at);
    auto* entries = reinterpret_cast<ColumnEntry*>(data + entries_at);
    auto* ids = reinterpret_cast<uint16_t*>(data + ids_at);
    patterns_ = {ids, starts, lengths, entries};
    Parts temporary;
    const size_t known_at = temporary.add<DiagonalTable>(1), known_bytes = temporary.bytes(),
                 positions_at = temporary.add<int16_t>(int64_t{pattern_slots} * max_diagonals);
    const Buffer scratch(Memory::in_order(desc.memory), Space::device, temporary.bytes());
    auto* known = reinterpret_cast<DiagonalTable*>(scratch.as<char>() + known_at);
    auto* positions = reinterpret_cast<int16_t*>(scratch.as<char>() + positions_at);
    fill_words(queue, arrays_, 0, zero_bytes);
    fill_words(queue, scratch, 0, known_bytes);
    const Patterns& of_rows = rows.patterns();
    const ColumnReader reader{of_rows.ids, positions, known, desc.A.rows};
    gpu::launch(queue, 1, CollectDiagonals::threads, 0, CollectDiagonals{rows.table(), of_rows.relative, known});
    gpu::launch(queue, pattern_slots, PlacePatterns::threads, 0,
                PlacePatterns{rows.table(), of_rows.relative, known, positions});
    gpu::launch(queue, resident_grid(queue, gpu::blocks_for(cols, FindColumns::threads)), FindColumns::threads, 0,
                FindColumns{reader, rows.table(), table, ids, cols});
    gpu::launch(queue, pattern_slots, CopyColumns::threads, 0, CopyColumns{reader, table, starts, lengths, entries});
    const auto found = read_back<DiagonalTable>(queue, known);
    facts_ = read_back<PatternFacts>(queue, &table->facts);
    known_ = rows.complete() && found.count > 0 && found.repeated == 0 && facts_.abandoned == 0;
  }

  bool known() const { return known_; }
  int32_t longest() const { return facts_.longest; }
  const ColumnPatterns& patterns() const { return patterns_; }
  void describe(Info& info) const {
    info.add("patterns", int64_t{facts_.patterns});
    info.add("plan_bytes", static_cast<int64_t>(arrays_.bytes()));
  }

 private:
  Buffer arrays_;
  ColumnPatterns patterns_{};
  PatternFacts facts_{};
  bool known_ = false;
};

// ---- what a plan's candidates share ----

template <class I, class O>
struct PatternFindings final : Findings {
  std::string no_rows, no_columns;  // why not
  std::shared_ptr<const RowPatterns<I, O>> rows;
  std::shared_ptr<const ColumnPatternPlan<I, O>> columns;
};

/// Rows' patterns are looked for once a plan; columns' only when asked.
template <class I, class O>
const PatternFindings<I, O>& find_patterns(const Desc& desc, Queue& queue, bool with_columns) {
  auto& kept = desc.findings.patterns;
  if (kept == nullptr) {
    auto found = std::make_shared<PatternFindings<I, O>>();
    auto rows = std::make_shared<const RowPatterns<I, O>>(desc, queue);
    if (rows->known())
      found->rows = std::move(rows);
    else
      found->no_rows = "rows have too many different patterns";
    kept = std::move(found);
  }
  auto& found = static_cast<PatternFindings<I, O>&>(*kept);
  if (with_columns && found.columns == nullptr && found.no_columns.empty()) {
    std::shared_ptr<const ColumnPatternPlan<I, O>> columns;
    if (found.rows != nullptr) columns = std::make_shared<const ColumnPatternPlan<I, O>>(desc, queue, *found.rows);
    if (columns != nullptr && columns->known())
      found.columns = std::move(columns);
    else
      found.no_columns = found.rows == nullptr
                             ? found.no_rows
                             : "columns have too many different patterns, or a row names a column twice";
  }
  return found;
}

/// "", or why the matrix has no dictionary of patterns.
inline std::string no_patterns(const Desc& desc, bool of_columns = false) {
  if (desc.A.nnz == 0) return "there is nothing to look up";
  if (desc.rows.longest > longest_pattern || irregular(desc)) return "rows are too uneven";
  if (desc.A.rows > most_items || desc.A.cols > most_items) return "there are too many rows or columns";
  return refused(
      [&](Queue& queue) {
        std::string reason;
        dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto p) {
          using P = decltype(p);
          const auto& found = find_patterns<typename P::ordinal, typename P::offset>(desc, queue, of_columns);
          reason = of_columns ? found.no_columns : found.no_rows;
        });
        return reason;
      },
      desc);
}

}  // namespace kkc::spmv::gpu_parts
