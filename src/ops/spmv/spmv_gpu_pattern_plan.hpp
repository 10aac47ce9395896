// The dictionaries of row and column patterns of a plan, and the question whether a matrix has them.
#pragma once

#include <cstddef>

#include "spmv_gpu_driver.hpp"
#include "spmv_gpu_pattern_plan_kernels.hpp"

namespace kkc::spmv::gpu_parts {

inline int hash_lanes_log2(const Desc& desc) {
  const double mean = mean_row(desc);
  return mean > 48 ? 4 : mean > 12 ? 2 : 0;
}

/// Hashes rows into the table: first some, which suffices to give most matrices without patterns up.
template <class I, class O>
void hash_rows(const Desc& desc, Queue& queue, const Buffer& table, const Buffer& slots) {
  fill_words(queue, table, 0);
  HashRows<I, O> hash{offsets_of<O>(desc.A), columns_of<I>(desc.A), table.as<PatternTable>(),
                      slots.as<uint16_t>(),  hash_lanes_log2(desc), 1};
  const unsigned all = gpu::blocks_for(desc.A.rows << hash.lanes_log2, hash.threads);
  constexpr unsigned some = 64;
  if (all > 4 * some) {
    hash.every = static_cast<int32_t>(all / some);
    gpu::launch(queue, some, hash.threads, 0, hash);
    hash.every = 1;
  }
  gpu::launch(queue, all, hash.threads, 0, hash);
}

/// What the host needs of a table.
struct PatternFacts {
  unsigned long long left_out;
  int32_t abandoned, used, patterns, relative, longest;
};

inline PatternFacts facts_of(Queue& queue, const Buffer& table) {
  static_assert(offsetof(PatternTable, longest) + 4 - offsetof(PatternTable, left_out) <= sizeof(PatternFacts));
  PatternFacts facts{};
  queue.copy(&facts, table.as<char>() + offsetof(PatternTable, left_out),
             offsetof(PatternTable, longest) + 4 - offsetof(PatternTable, left_out));
  queue.synchronize();
  return facts;
}

/// Rows' patterns, and columns' patterns too when asked for.
template <class I, class O>
class PatternPlan {
 public:
  PatternPlan(const Desc& desc, Queue& queue, bool with_columns) {
    const int64_t rows = desc.A.rows, cols = desc.A.cols;
    table_ = device_array<PatternTable>(desc, 1);
    ids_ = device_array<uint16_t>(desc, rows);
    groups_ = device_array<RowGroup>(desc, (rows + 31) / 32);
    lists_ = device_array<int32_t>(desc, 2 * pattern_slots);
    relative_ = device_array<int32_t>(desc, max_relative);
    PatternTable* table = table_.as<PatternTable>();
    int32_t *starts = lists_.as<int32_t>(), *lengths = starts + pattern_slots;
    const Offsets<O> A = offsets_of<O>(desc.A);
    const PlainColumns<I> columns = columns_of<I>(desc.A);
    hash_rows<I, O>(desc, queue, table_, ids_);
    gpu::launch(queue, 1, CopyPatterns<I, O>::threads, 0,
                CopyPatterns<I, O>{A, columns, table, starts, lengths, relative_.as<int32_t>()});
    launch_over(queue, rows,
                CheckPatterns<I, O>{A, columns, table, relative_.as<int32_t>(), ids_.as<uint16_t>(),
                                    groups_.as<RowGroup>(), hash_lanes_log2(desc)});
    if (with_columns) {
      Buffer diagonals = device_array<DiagonalTable>(desc, 1),
             positions = device_array<int32_t>(desc, max_patterns * max_diagonals);
      column_table_ = device_array<PatternTable>(desc, 1);
      column_ids_ = device_array<uint16_t>(desc, cols);
      column_lists_ = device_array<int32_t>(desc, 2 * pattern_slots);
      entries_ = device_array<ColumnEntry>(desc, max_relative);
      fill_words(queue, diagonals, 0);
      fill_words(queue, positions, 0xffffffffu);
      fill_words(queue, column_table_, 0);
      auto* known = diagonals.as<DiagonalTable>();
      const ColumnReader reader{ids_.as<uint16_t>(), positions.as<int32_t>(), known, rows};
      PatternTable* column_table = column_table_.as<PatternTable>();
      int32_t* column_starts = column_lists_.as<int32_t>();
      gpu::launch(queue, 1, CollectDiagonals::threads, 0, CollectDiagonals{table, relative_.as<int32_t>(), known});
      gpu::launch(queue, max_patterns, PlacePatterns::threads, 0,
                  PlacePatterns{table, starts, lengths, relative_.as<int32_t>(), known, positions.as<int32_t>()});
      launch_over(queue, cols, HashColumns{reader, column_table, column_ids_.as<uint16_t>(), cols});
      gpu::launch(
          queue, 1, CopyColumns::threads, 0,
          CopyColumns{reader, column_table, column_starts, column_starts + pattern_slots, entries_.as<ColumnEntry>()});
      launch_over(queue, cols,
                  CheckColumns{reader, column_table, entries_.as<ColumnEntry>(), column_ids_.as<uint16_t>(), cols});
      const auto table_facts = read_back<DiagonalTable>(queue, known);
      columns_known_ =
          table_facts.count > 0 && table_facts.repeated == 0 && facts_of(queue, column_table_).abandoned == 0;
    }
    facts_ = facts_of(queue, table_);
  }

  bool columns_known() const { return columns_known_ && facts_.abandoned == 0 && facts_.left_out == 0; }
  const PatternFacts& facts() const { return facts_; }

  Patterns patterns() const {
    return {groups_.as<RowGroup>(), ids_.as<uint16_t>(), lists_.as<int32_t>(), relative_.as<int32_t>()};
  }
  ColumnPatterns column_patterns() const {
    return {column_ids_.as<uint16_t>(), column_lists_.as<int32_t>(), column_lists_.as<int32_t>() + pattern_slots,
            entries_.as<ColumnEntry>()};
  }

  void describe(Info& info) const {
    info.add("patterns", int64_t{facts_.patterns});
    info.add("plan_bytes", static_cast<int64_t>(table_.bytes() + ids_.bytes() + groups_.bytes() + lists_.bytes() +
                                                relative_.bytes() + column_table_.bytes() + column_ids_.bytes() +
                                                column_lists_.bytes() + entries_.bytes()));
  }

 private:
  Buffer table_, ids_, groups_, lists_, relative_;
  Buffer column_table_, column_ids_, column_lists_, entries_;
  PatternFacts facts_{};
  bool columns_known_ = false;
};

/// "", or why the matrix has no dictionary of row patterns. One look at the columns, short where there is none.
inline std::string no_patterns(const Desc& desc) {
  if (desc.A.nnz == 0) return "there is nothing to look up";
  if (desc.rows.longest > longest_pattern || irregular(desc)) return "rows are too uneven";
  return refused(
      [&](Queue& queue) {
        Buffer table = device_array<PatternTable>(desc, 1), slots = device_array<uint16_t>(desc, desc.A.rows);
        dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto p) {
          using P = decltype(p);
          hash_rows<typename P::ordinal, typename P::offset>(desc, queue, table, slots);
        });
        return facts_of(queue, table).abandoned == 0 ? "" : "rows have too many different patterns";
      },
      desc);
}

}  // namespace kkc::spmv::gpu_parts
