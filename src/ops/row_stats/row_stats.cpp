#include "row_stats.hpp"

#include <array>

#include "core/context.hpp"

namespace kkc {
namespace {

int64_t entry_at(Queue& queue, const void* array, size_t bytes_each, int64_t i) {
  int64_t wide = 0;
  int32_t narrow = 0;
  void* target = bytes_each == 8 ? static_cast<void*>(&wide) : &narrow;
  copy_and_wait(queue, target, static_cast<const char*>(array) + static_cast<size_t>(i) * bytes_each, bytes_each);
  return bytes_each == 8 ? wide : narrow;
}

void require_good(Queue& queue, const RowStats& rows, const CsrRef& A, const char* argument) {
  if (rows.first_bad_row >= 0) {
    const int64_t i = rows.first_bad_row;
    fail(KKC_STATUS_INVALID_ARGUMENT, argument, ": row_offsets are ",
         entry_at(queue, A.offsets, offset_size(A.pair), i), " and ",
         entry_at(queue, A.offsets, offset_size(A.pair), i + 1), " around row ", i, ", expected them to ascend from ",
         A.base, " to ", A.nnz + A.base);
  }
  if (rows.first_bad_entry >= 0) {
    const int64_t i = rows.first_bad_entry;
    fail(KKC_STATUS_INDEX_OUT_OF_RANGE, argument, ": col_indices[", i, "] is ",
         entry_at(queue, A.indices, ordinal_size(A.pair), i), ", expected ", A.base, " to ", A.cols - 1 + A.base);
  }
}

}  // namespace

std::vector<RowStats> checked_row_stats(const Context& context, std::span<const NamedPattern> patterns) {
  Queue& queue = context.queue();
  const auto& pass = only_implementation<row_stats::Implementation>(queue, "row_stats");
  std::vector<row_stats::Pass> passes;
  for (const NamedPattern& pattern : patterns) passes.push_back({pattern.matrix, pattern.offsets_only});
  std::vector<RowStats> stats(patterns.size());
  queue.run([&] { pass.run(queue, passes, stats.data()); });
  for (size_t i = 0; i < patterns.size(); ++i) require_good(queue, stats[i], patterns[i].matrix, patterns[i].argument);
  return stats;
}

RowStats checked_row_stats(const Context& context, const CsrRef& A, const char* argument) {
  return checked_row_stats(context, std::array{NamedPattern{A, argument}}).front();
}

}  // namespace kkc
