// Ranges of rows of C with about as many products, for threads to take one after the other
// (spgemm_host_symbolic.hpp).
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/parts.hpp"
#include "device/host_parallel.hpp"
#include "ops/spgemm/spgemm_host_plan.hpp"
#include "ops/spgemm/spgemm_host_stamped_columns.hpp"

namespace kkc::spgemm {

/// Products of the rows without a class.
struct FreeProducts {
  Buffer of_rows;                  // int64_t
  std::vector<int64_t> of_chunks;  // sums
  int64_t all = 0, in_short_rows = 0;
};

/// Counts all products and cuts C's rows into plan.chunks, between blocks of a few rows each. plan.kinds: the rows'
/// classes; end_of_class(i, limit): one past the rows that follow row i in its class, below the limit.
template <class Left, class I, class O, class EndOfClass>
FreeProducts cut_chunks(Queue& queue, const std::shared_ptr<const Memory>& memory, const Left& left,
                        const HostPatternRef<I, O>& B, const EndOfClass& end_of_class, HostPlan& plan) {
  constexpr int64_t fewest_products = 16384;  // of a chunk: less is not worth a thread
  constexpr int64_t long_row = 4096;          // entries of A: more are for all threads
  const int64_t rows = left.rows(), most = int64_t{64} * queue.concurrency();
  const int64_t each = std::clamp<int64_t>(rows / (8 * most), 1, 256), blocks = (rows + each - 1) / each;
  const auto* const kinds = plan.kinds.as<int32_t>();
  const auto products_of_class = [&](int64_t i) {
    return plan.classes.classes[static_cast<size_t>(kinds[i])].products;
  };
  const auto count = [&](const auto& row, int64_t first, int64_t last) {
    int64_t products = 0;
    for (int64_t k = first; k < last; ++k) products += B.end(row.column(k)) - B.begin(row.column(k));
    return products;
  };
  struct Block {
    int64_t products = 0, free = 0, in_short_rows = 0;
    void add_free(int64_t of_row) {
      products += of_row;
      free += of_row;
      if (of_row <= StampedColumns::most_products) in_short_rows += of_row;
    }
  };
  std::vector<Block> work(static_cast<size_t>(blocks));
  FreeProducts free{host_array<int64_t>(memory, rows), {}};
  auto* const of_rows = free.of_rows.as<int64_t>();
  const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(queue.concurrency(), rows / 64));
  std::vector<std::vector<int64_t>> long_rows(static_cast<size_t>(parts));
  host_parts<Host>(queue, parts, [&](int64_t part) {
    for (int64_t b = part_begin(blocks, parts, part), last = part_begin(blocks, parts, part + 1); b < last; ++b) {
      Block block;
      for (int64_t i = b * each, end = std::min(rows, i + each); i < end;) {
        if (kinds[i] != no_class) {
          const int64_t like = end_of_class(i, end);
          block.products += (like - i) * products_of_class(i);
          i = like;
          continue;
        }
        const auto row = left.row(i);
        if (row.size() > long_row)
          long_rows[static_cast<size_t>(part)].push_back(i);
        else
          block.add_free(of_rows[i] = count(row, 0, row.size()));
        ++i;
      }
      work[static_cast<size_t>(b)] = block;
    }
  });
  std::vector<int64_t> longest;
  for (const auto& of_part : long_rows) longest.insert(longest.end(), of_part.begin(), of_part.end());
  if (!longest.empty()) {
    const int64_t threads = std::max(1, queue.concurrency());
    std::vector<std::vector<int64_t>> sums(static_cast<size_t>(threads));
    host_parts<Host>(queue, threads, [&](int64_t part) {
      std::vector<int64_t> mine;
      for (const int64_t i : longest) {
        const auto row = left.row(i);
        mine.push_back(count(row, part_begin(row.size(), threads, part), part_begin(row.size(), threads, part + 1)));
      }
      sums[static_cast<size_t>(part)] = std::move(mine);
    });
    for (size_t r = 0; r < longest.size(); ++r) {
      int64_t& products = of_rows[longest[r]] = 0;
      for (const auto& of_part : sums) products += of_part[r];
      work[static_cast<size_t>(longest[r] / each)].add_free(products);
    }
  }
  for (const Block& block : work) {
    plan.products += block.products;
    free.all += block.free;
    free.in_short_rows += block.in_short_rows;
  }

  const int64_t share = std::max((plan.products + rows) / std::clamp<int64_t>(rows / 16, 1, most) + 1, fewest_products);
  plan.chunks.push_back(0);
  int64_t sum = 0, of_chunk = 0;
  const auto add = [&](int64_t next, int64_t of, int64_t products, int64_t without_class) {  // `of` rows before `next`
    if (products > 2 * share) plan.heavy.push_back(plan.chunk_count());
    sum += products + of;
    of_chunk += without_class;
    if (sum < share && next < rows) return;
    plan.chunks.push_back(next);
    free.of_chunks.push_back(of_chunk);
    sum = of_chunk = 0;
  };
  for (int64_t b = 0; b < blocks; ++b) {
    const Block& block = work[static_cast<size_t>(b)];
    const int64_t next = std::min(rows, (b + 1) * each);
    if (block.products <= 2 * share) {
      add(next, next - b * each, block.products, block.free);
      continue;
    }
    for (int64_t i = b * each; i < next; ++i) {  // long rows often have long neighbours
      const bool classed = kinds[i] != no_class;
      const int64_t products = classed ? products_of_class(i) : of_rows[i];
      add(i + 1, 1, products, classed ? 0 : products);
    }
  }
  return free;
}

}  // namespace kkc::spgemm
