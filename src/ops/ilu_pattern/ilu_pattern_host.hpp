// ilu_pattern, hosts: rows are dealt to threads.
#pragma once

#include "core/dispatch.hpp"
#include "device/host_parallel.hpp"
#include "ops/ilu_pattern/ilu_pattern_fill.hpp"
#include "ops/sort_rows/sort_rows.hpp"

namespace kkc::ilu_pattern {
namespace host_parts_of_pattern {

template <class Dev>
struct Threads {
  Queue& queue;
  int64_t parts() const { return queue.concurrency(); }
  template <class F>
  void operator()(int64_t count, F&& f) const {
    host_parts_checked<Dev>(queue, count, f);
  }
};

/// The array with the element type of a kernel.
template <class To, class From>
std::shared_ptr<const Buffer> converted(Queue& queue, const Desc& desc, const std::vector<From>& from) {
  auto to = shared_array<To>(desc.memory, Space::host, static_cast<int64_t>(from.size()));
  To* const target = to->template as<To>();
  const auto count = static_cast<int64_t>(from.size());
  const int64_t parts = std::clamp<int64_t>(count / 65536, 1, queue.concurrency());
  host_parts<Host>(queue, parts, [&](int64_t part) {
    for (int64_t i = part_begin(count, parts, part); i < part_begin(count, parts, part + 1); ++i)
      target[i] = static_cast<To>(from[static_cast<size_t>(i)]);
  });
  return to;
}

template <class Dev, class I, class O>
FactorPattern make_typed(const Desc& desc, Queue& queue) {
  EntryMap sorted = sort_rows::sorted_pattern(queue, desc.memory, desc.A, true);
  FactorPattern made;
  made.positions = sorted.positions;
  made.starts = sorted.starts;
  const Threads<Dev> threads{queue};
  const Builder<I, O, Threads<Dev>> builder(desc, sorted.offsets->template as<O>(), sorted.indices->template as<I>(),
                                            threads);
  auto diagonal = shared_array<O>(desc.memory, Space::host, desc.A.rows);
  const int64_t missing = builder.find_diagonal(diagonal->template as<O>());
  if (missing >= 0 && !desc.add_missing) fail_missing(missing);
  if (missing < 0 && desc.level == 0 && !desc.lower) {
    made.nnz = sorted.nnz;
    made.offsets = sorted.offsets;
    made.indices = sorted.indices;
    made.diagonal = diagonal;
    return made;
  }
  const LeveledRows<I> rows = builder.build(diagonal->template as<O>());
  made.nnz = static_cast<int64_t>(rows.columns.size());
  made.offsets = converted<O>(queue, desc, rows.offsets);
  made.indices = converted<I>(queue, desc, rows.columns);
  made.diagonal = converted<O>(queue, desc, rows.diagonal);
  made.sources = shared_array<O>(desc.memory, Space::host, made.nnz);
  builder.find_sources(rows, made.sources->template as<O>());
  return made;
}

template <class Dev>
FactorPattern make(const Desc& desc, Queue& queue) {
  FactorPattern made;
  dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto pair) {
    using Pair = decltype(pair);
    made = make_typed<Dev, typename Pair::ordinal, typename Pair::offset>(desc, queue);
  });
  return made;
}

}  // namespace host_parts_of_pattern

template <class Dev>
constexpr Implementation host() {
  return {{"host"}, host_parts_of_pattern::make<Dev>};
}

}  // namespace kkc::ilu_pattern
