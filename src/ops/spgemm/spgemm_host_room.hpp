// What a plan of the host kernels of spgemm keeps room for beside C's pattern, once that is known: places of products
// that an execute notes, lists of them, or groups of B's columns.
#pragma once

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "device/host_shared_parts.hpp"
#include "device/host_stream.hpp"
#include "ops/spgemm/spgemm.hpp"
#include "ops/spgemm/spgemm_host_chunks.hpp"
#include "ops/spgemm/spgemm_host_plan.hpp"
#include "ops/spgemm/spgemm_host_steps.hpp"

namespace kkc::spgemm {

template <class Left, class I, class O>
class HostRoom {
  using B = HostPatternRef<I, O>;

 public:
  /// may_list: products may be listed, and C's rows are sorted.
  HostRoom(Queue& queue, const Desc& desc, const Left& left, const B& b, bool may_list, const FreeProducts& free,
           HostPlan& plan)
      : queue_(queue), desc_(desc), left_(left), B_(b), may_list_(may_list), free_(free), plan_(plan) {}

  bool suits_lists(int64_t rows, int64_t entries, int64_t products) const {
    const auto bytes = static_cast<int64_t>(sizeof(I) + size_of(desc_.scalar()));
    return FlatProducts::suits(rows, entries, products, bytes, desc_.A.nnz, B_.nnz);
  }

  /// Entries of A before each chunk, and of all.
  std::vector<int64_t> left_entries() const {
    std::vector<int64_t> entries;
    for (const int64_t row : plan_.chunks) entries.push_back(left_.A.begin(row));
    return entries;
  }

  /// Room for places to be noted: 2 bytes a product, no more than C's bytes.
  template <class OC>
  void make(const OutputPattern& C) {
    const int64_t chunks = plan_.chunk_count(), value = static_cast<int64_t>(size_of(desc_.scalar()));
    const auto* const offsets = C.offsets->template as<OC>();
    const auto* const kinds = plan_.kinds.as<int32_t>();
    const auto* const of_free = free_.of_rows.as<int64_t>();
    const bool streamed = C.nnz * value >= stream_threshold_bytes;
    bool notes = plan_.choice == HostChoice::binned && !desc_.masked && desc_.max_workspace < 0;
    std::vector<int64_t> starts(static_cast<size_t>(chunks) + 1, 0), placed(static_cast<size_t>(chunks), 0),
        noted(static_cast<size_t>(chunks), 0), entries = starts, all = starts;
    deal(queue_, chunks, [&](int64_t, int64_t chunk) {
      const auto at = static_cast<size_t>(chunk);
      int64_t longest_placed = 0, longest_noted = 0, products = 0, of_all = 0;
      for (int64_t i = plan_.chunks[at]; i < plan_.chunks[at + 1]; ++i) {
        of_all += kinds[i] >= 0 ? plan_.classes.classes[static_cast<size_t>(kinds[i])].products : of_free[i];
        if (kinds[i] >= 0) continue;
        const auto columns = static_cast<int64_t>(offsets[i + 1] - offsets[i]);
        if (kinds[i] == row_placed) longest_placed = std::max(longest_placed, columns);
        if (!notes || !is_noted(kinds[i], columns)) continue;
        longest_noted = std::max(longest_noted, columns);
        products += of_free[i];
      }
      placed[at] = longest_placed;
      noted[at] = longest_noted;
      starts[at + 1] = products;
      all[at + 1] = of_all;
      entries[at + 1] = static_cast<int64_t>(offsets[plan_.chunks[at + 1]] - offsets[plan_.chunks[at]]);
    });
    for (auto* const sums : {&starts, &entries, &all}) std::partial_sum(sums->begin(), sums->end(), sums->begin());
    // Of rows without places of their products, or almost.
    const int64_t unplaced =
        plan_.rows_of[-row_hash - 1] + plan_.rows_of[-row_dense - 1] > 0 ? free_.all - plan_.placed : 0;
    const bool lists = notes && lists_products(C, all.back());
    if (notes && !lists && unplaced > 0) find_groups(C, unplaced);
    if (lists) {
      try {
        std::vector<int64_t> later(all.size());
        for (size_t c = 0; c < all.size(); ++c) later[c] = all[c] - entries[c];
        plan_.flat.make_room(desc_.memory, all, left_entries(), free_.longest_left);
        plan_.flat.make_later_room(desc_.memory, later);
        notes = false;
      } catch (const Error&) {  // no memory left: rows are made without
      }
    }
    notes = notes && !plan_.groups.used() && starts.back() > 0 &&
            2 * starts.back() <= C.nnz * (static_cast<int64_t>(sizeof(I)) + value);
    if (notes) {
      try {
        plan_.noted = host_array<uint16_t>(desc_.memory, starts.back());
        plan_.chunk_noted = std::move(starts);
      } catch (const Error&) {  // no memory left: rows are made without
        notes = false;
      }
    }
    for (const auto* longest : {&placed, &noted})
      for (const int64_t columns : *longest)
        if ((notes || longest == &placed) && streamed && columns * value > static_cast<int64_t>(made_bytes))
          plan_.longest_apart = std::max(plan_.longest_apart, columns);
    // Not for a few rows: they do not repay a look at all of B.
    if (notes || 4 * (plan_.placed + unplaced) > B_.nnz) plan_.distinct = has_distinct_rows();
  }

 private:
  /// Whether lists of all products, once they are there, are faster than rows, of which vectors make those of classes.
  bool lists_products(const OutputPattern& C, int64_t products) const {
    return may_list_ && C.nnz > 0 && 2 * free_.all >= products && suits_lists(C.rows, C.nnz, products);
  }

  /// Groups of B's columns, if the products that they would make repay it and sums of all columns take little memory
  /// beside C.
  void find_groups(const OutputPattern& C, int64_t products) {
    const StepShape shape = step_shape(desc_.scalar());
    if (!shape.gaps || products < 4 * B_.nnz ||
        ColumnGroups::padded(desc_.cols(), shape.lanes) * queue_.concurrency() > C.nnz)
      return;
    try {
      plan_.groups.find(queue_, desc_.memory, left_, B_, shape.lanes);
    } catch (const Error&) {  // no memory left: rows are made without
    }
  }

  bool has_distinct_rows() const {
    std::atomic<bool> distinct{true};
    constexpr int64_t worth_a_thread = 8192;
    const int64_t parts = parts_for_items(queue_, B_.nnz + B_.rows, worth_a_thread);
    host_parts<Host>(queue_, parts, [&](int64_t part) {
      bool all = true;
      for (int64_t j = B_.first_row(parts, part), end = B_.first_row(parts, part + 1); j < end && all; ++j)
        all = B_.ascends(j);
      if (!all) distinct = false;
    });
    return distinct;
  }

  Queue& queue_;
  const Desc& desc_;
  const Left& left_;
  const B& B_;
  bool may_list_;
  const FreeProducts& free_;
  HostPlan& plan_;
};

}  // namespace kkc::spgemm
