// Ranges of rows of C with about as many products, for threads to take one after the other
// (spgemm_host_symbolic.hpp).
#pragma once

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/parts.hpp"
#include "device/host_parallel.hpp"
#include "ops/spgemm/spgemm_host_left.hpp"
#include "ops/spgemm/spgemm_host_plan.hpp"
#include "ops/spgemm/spgemm_host_stamped_columns.hpp"

namespace kkc::spgemm {

/// Products of the rows without a class.
struct FreeProducts {
  Buffer of_rows;                  // int64_t
  std::vector<int64_t> of_chunks;  // sums
  int64_t all = 0, in_short_rows = 0;
  int64_t longest = 0;       // of a row
  int64_t longest_left = 0;  // row of the left operand, where it is longer than most_together
};

inline constexpr int64_t most_together = 2048;  // entries of the left operand

/// Products of the rows first..end-1, unless `left` has no arrays or these rows are long. No loop ends with a row.
/// single: every row of B has one entry.
template <class Left, class I, class O>
bool count_together(const Left& left, const HostPatternRef<I, O>& B, bool single, int64_t first, int64_t end,
                    int64_t* of_rows) {
  if constexpr (std::is_same_v<Left, LeftPattern<I, O>>) {
    if (single) {
      for (int64_t i = first; i < end; ++i) of_rows[i] = left.A.end(i) - left.A.begin(i);
      return true;
    }
    const int64_t begin = left.A.begin(first), count = left.A.begin(end) - begin;
    if (count > most_together) return false;
    int64_t before[most_together + 1];  // products of the entries before
    before[0] = 0;
    for (int64_t p = 0; p < count; ++p) {
      const int64_t j = left.A.column(begin + p);
      before[p + 1] = before[p] + (B.end(j) - B.begin(j));
    }
    for (int64_t i = first; i < end; ++i) of_rows[i] = before[left.A.end(i) - begin] - before[left.A.begin(i) - begin];
    return true;
  } else {
    return false;
  }
}

/// Counts all products and cuts C's rows into plan.chunks, between blocks of a few rows each. plan.kinds: the rows'
/// classes; single: every row of B has one entry; end_of_class(i, limit): one past the rows that follow row i in its
/// class, below the limit.
template <class Left, class I, class O, class EndOfClass>
FreeProducts cut_chunks(Queue& queue, const std::shared_ptr<const Memory>& memory, const Left& left,
                        const HostPatternRef<I, O>& B, bool single, const EndOfClass& end_of_class, HostPlan& plan) {
  constexpr int64_t fewest_products = 2048, enough_products = 16384;  // of a chunk: less is not worth a thread's turn
  constexpr int64_t long_row = 4096;                                  // entries of A: more are for all threads
  const int64_t rows = left.rows(), most = int64_t{64} * queue.concurrency();
  // Of many rows no blocks of hardly any: one thread adds up what lies in others' caches.
  const int64_t each = std::clamp<int64_t>(rows / (8 * most),
                                           rows < 2048    ? 1
                                           : rows < 16384 ? 4
                                                          : 8,
                                           256),
                blocks = (rows + each - 1) / each;
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
    int64_t products = 0, free = 0, in_short_rows = 0, longest = 0, longest_left = 0;
    void add_free(int64_t of_row) {
      products += of_row;
      free += of_row;
      if (of_row <= StampedColumns::most_products) in_short_rows += of_row;
      longest = std::max(longest, of_row);
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
      const int64_t begin = b * each, end = std::min(rows, begin + each);
      if (plan.classes.classes.empty() && count_together(left, B, single, begin, end, of_rows)) {
        for (int64_t i = begin; i < end; ++i) {
          block.add_free(of_rows[i]);
          if (single) block.longest_left = std::max(block.longest_left, of_rows[i]);
        }
        work[static_cast<size_t>(b)] = block;
        continue;
      }
      for (int64_t i = begin; i < end;) {
        if (kinds[i] != no_class) {
          const int64_t like = end_of_class(i, end);
          block.products += (like - i) * products_of_class(i);
          i = like;
          continue;
        }
        const auto row = left.row(i);
        block.longest_left = std::max(block.longest_left, row.size());
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
    free.longest = std::max(free.longest, block.longest);
    free.longest_left = std::max(free.longest_left, block.longest_left);
  }

  // Few for each thread where there are not enough for more.
  const int64_t all = plan.products + rows,
                fewest = std::clamp(all / (4 * queue.concurrency()), fewest_products, enough_products),
                share = std::max(all / std::clamp<int64_t>(rows / 16, 1, most) + 1, fewest);
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
