// Programs of a pattern on a GPU, for its plan: found, counted and written on the device; the host numbers them.
#pragma once

#include <algorithm>
#include <vector>

#include "core/dispatch.hpp"
#include "device/gpu_read.hpp"
#include "ilu_gpu_programs_build.hpp"
#include "ilu_gpu_programs_rows.hpp"

namespace kkc::ilu::gpu_parts {

inline constexpr int64_t most_programs = 512;
inline constexpr int32_t longest_short_row = 32;
inline constexpr int64_t longest_of_one_lane = 16;  // the plan looks at longer rows with several
inline constexpr int64_t fewest_sampled = 4096;     // rows: of fewer, many may be at a border

struct Programs {
  std::string unsupported;  // why there are none, or ""
  int64_t count = 0;
  int32_t longest = 0, longest_lower = 0;  // rows
  int32_t lanes = 0;                       // of a short row; 0: programs are long
  Buffer words, of_row, starts;            // of_row: int32_t slots; starts: uint32_t[table_slots], first words

  size_t bytes() const { return words.bytes() + of_row.bytes() + starts.bytes(); }
};

/// Shared by so many rows, and so small beside the pattern, that caches hold them.
inline int64_t programs_at_most(int64_t rows) { return std::min(most_programs, 256 + rows / 8); }
inline int64_t program_words_at_most(int64_t nnz) {
  return std::min<int64_t>(int64_t{16} << 20, (int64_t{1} << 20) + nnz);
}

template <Form form, class I, class O>
void build_programs(Queue& queue, const Desc& desc, const RowCensus& census, const RowTable& table,
                    Programs& programs) {
  const FactorRows<I, O> rows{desc.factors.offsets->as<O>(), desc.factors.diagonal->as<O>(),
                              desc.factors.indices->as<I>()};
  std::vector<unsigned long long> keys(table_slots);
  std::vector<int64_t> in_slots(table_slots), examples;
  queue.copy(keys.data(), table.keys, keys.size() * sizeof keys[0]);
  queue.copy(in_slots.data(), table.rows, in_slots.size() * sizeof in_slots[0]);
  std::vector<uint32_t> slots, starts(table_slots);
  for (uint32_t slot = 0; slot < table_slots; ++slot)
    if (keys[slot] != ~0ull) {
      slots.push_back(slot);
      examples.push_back(in_slots[slot]);
    }
  programs.count = static_cast<int64_t>(examples.size());
  const auto count = static_cast<int32_t>(examples.size());
  Buffer device_examples(Memory::in_order(desc.memory), Space::device, examples.size() * sizeof(int64_t));
  queue.copy(device_examples.data(), examples.data(), device_examples.bytes());
  const auto* const from = device_examples.as<int64_t>();

  programs.lanes = census.longest <= 8 ? 8 : census.longest <= 16 ? 16 : census.longest <= longest_short_row ? 32 : 0;
  std::vector<int32_t> rounds(examples.size());
  Buffer device_rounds, firsts;
  BuildLong<form, I, O> build_long{rows, from, count, nullptr, nullptr, nullptr};
  if (programs.lanes == 0) {
    device_rounds = Buffer(Memory::in_order(desc.memory), Space::device, rounds.size() * sizeof(int32_t));
    build_long.rounds = device_rounds.as<int32_t>();
    gpu::launch_over(queue, int64_t{count} * 32, build_long);
    queue.copy(rounds.data(), device_rounds.data(), device_rounds.bytes());
  }
  int64_t words = 0;
  std::vector<uint32_t> of_programs(examples.size());
  const int64_t most_words = program_words_at_most(desc.factors.nnz);
  for (size_t n = 0; n < examples.size() && words <= most_words; ++n) {
    of_programs[n] = starts[slots[n]] = static_cast<uint32_t>(words);
    // No row's lower part is longer than the longest.
    words +=
        programs.lanes > 0 ? short_words(programs.lanes) : (long_words(census.longest_lower, rounds[n]) + 3) / 4 * 4;
  }
  if (words > most_words) {
    programs.unsupported =
        cat("the programs of rows that differ would take more than ", most_words * 4, " bytes, expected fewer");
    return;
  }
  programs.starts = Buffer(Memory::in_order(desc.memory), Space::device, starts.size() * sizeof(uint32_t));
  queue.copy(programs.starts.data(), starts.data(), programs.starts.bytes());
  programs.words = Buffer(Memory::in_order(desc.memory), Space::device, static_cast<size_t>(words) * sizeof(uint32_t));
  if (programs.lanes > 0) {
    gpu::launch_over(queue, int64_t{count} * programs.lanes,
                     BuildShort<form, I, O>{rows, from, count, programs.lanes, programs.words.as<uint32_t>()});
  } else {
    firsts = Buffer(Memory::in_order(desc.memory), Space::device, of_programs.size() * sizeof(uint32_t));
    queue.copy(firsts.data(), of_programs.data(), firsts.bytes());
    build_long.starts = firsts.as<uint32_t>();
    build_long.words = programs.words.as<uint32_t>();
    gpu::launch_over(queue, int64_t{count} * 32, build_long);
  }
}

template <Form form, class I, class O>
void find_programs(Queue& queue, const Desc& desc, Programs& programs) {
  const int64_t rows = desc.A.rows;
  constexpr size_t keys_bytes = table_slots * sizeof(unsigned long long), rows_bytes = table_slots * sizeof(int64_t);
  Buffer tables(Memory::in_order(desc.memory), Space::device, 2 * (keys_bytes + rows_bytes) + sizeof(RowCensus));
  Buffer kind_of(Memory::in_order(desc.memory), Space::device, static_cast<size_t>(rows) * sizeof(int32_t));
  programs.of_row = Buffer(Memory::in_order(desc.memory), Space::device, static_cast<size_t>(rows) * sizeof(int32_t));
  char* const begin = tables.as<char>();
  const auto table = [&](size_t n) {
    char* const at = begin + n * (keys_bytes + rows_bytes);
    return RowTable{reinterpret_cast<unsigned long long*>(at), reinterpret_cast<int64_t*>(at + keys_bytes)};
  };
  auto* const device_census = reinterpret_cast<RowCensus*>(begin + 2 * (keys_bytes + rows_bytes));
  const int lanes = desc.longest_row <= longest_of_one_lane ? 1 : 8;
  RowCensus census{};
  gpu::launch(queue, 64, ClearTables::threads, 0, ClearTables{table(0).keys, table(1).keys, device_census});
  const AlikeRows<I, O> alike{desc.factors.offsets->as<O>(),
                              desc.factors.diagonal->as<O>(),
                              desc.factors.indices->as<I>(),
                              rows,
                              lanes,
                              device_census,
                              static_cast<int32_t>(programs_at_most(rows)),
                              table(0),
                              table(1),
                              kind_of.as<int32_t>(),
                              programs.of_row.as<int32_t>()};
  const auto over_rows = [&]<class Functor>(const Functor& functor) {
    const int resident = gpu::prepare<Functor>(queue).blocks_per_sm * queue.concurrency();
    const unsigned blocks = std::min(gpu::blocks_for(rows, Functor::threads / lanes), static_cast<unsigned>(resident));
    gpu::launch(queue, blocks, Functor::threads, 0, functor);
  };
  using Sample = SampleKinds<I, O>;
  if (rows >= fewest_sampled) gpu::launch(queue, 1, Sample::threads, 0, Sample{alike});
  over_rows(FindKinds<I, O>{alike});
  over_rows(FindPrograms<I, O>{alike});
  over_rows(ComparePrograms<I, O>{alike});
  census = gpu::read_back<RowCensus>(queue, device_census);
  if (census.too_many != 0)
    programs.unsupported =
        cat("too many rows are eliminated in different ways, expected ", programs_at_most(rows), " at most");
  else if (census.differs != 0)
    programs.unsupported = "rows that differ have hashes in common";
  programs.longest = census.longest;
  programs.longest_lower = census.longest_lower;
  if (programs.unsupported.empty()) build_programs<form, I, O>(queue, desc, census, table(1), programs);
}

}  // namespace kkc::ilu::gpu_parts
