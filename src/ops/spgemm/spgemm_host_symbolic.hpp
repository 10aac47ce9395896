// The symbolic phase of spgemm on hosts: C's pattern, and how the numeric phase treats each of its rows. Rows of a
// class (spgemm_host_classes.hpp) take the class's columns; of the others a bitmap with coarser levels collects the
// columns of all products (Gustavson, "Two fast algorithms for sparse matrices", ACM TOMS 4(3), 1978; the levels spare
// the sort of a hash's columns). Two passes: rows' columns, each chunk's in memory of its own (or, where that would be
// much, their number alone), then C's arrays; or one where nearly all products of a row have columns of their own, so
// that their number is known well enough.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/matrix_parallel.hpp"
#include "device/host_pages.hpp"
#include "device/host_shared_parts.hpp"
#include "device/host_stream.hpp"
#include "ops/spgemm/spgemm.hpp"
#include "ops/spgemm/spgemm_host_chunks.hpp"
#include "ops/spgemm/spgemm_host_classes.hpp"
#include "ops/spgemm/spgemm_host_plan.hpp"
#include "ops/spgemm/spgemm_host_room.hpp"
#include "ops/spgemm/spgemm_host_row_columns.hpp"
#include "ops/spgemm/spgemm_host_short_rows.hpp"
#include "ops/spgemm/spgemm_host_steps.hpp"
#include "ops/spgemm/spgemm_host_turns.hpp"

namespace kkc::spgemm {

/// Rows with fewer columns find their places by hash, in the innermost cache.
inline constexpr int64_t hash_columns = 1024;
/// Accumulators of so few bytes stay in a core's cache: no hash is better.
inline constexpr int64_t small_accumulator_bytes = 256 << 10;

template <class Left, class I, class O>
class HostSymbolic {
  using B = HostPatternRef<I, O>;
  using Worker = RowWorker<I>;

 public:
  /// may_list: execute's left operand is A, and may have its products listed.
  HostSymbolic(Queue& queue, const Desc& desc, const Left& left, HostChoice choice, bool may_list = false)
      : queue_(queue),
        desc_(desc),
        left_(left),
        B_(desc.B),
        may_list_(may_list),
        single_(desc.rows_b.longest == 1 && B_.nnz == B_.rows),
        row_columns_(left, B_, mask_, blocks_, single_) {
    plan_.choice = choice;
    plan_.masked = desc.masked;
    if (desc.masked) mask_.emplace(desc.mask);
  }

  /// Fills `C` and returns the plan.
  HostPlan run(OutputPattern& C) {
    const int64_t rows = left_.rows();
    plan_.kinds = host_array<int32_t>(desc_.memory, rows);
    kinds_ = plan_.kinds.as<int32_t>();
    if (plan_.choice == HostChoice::binned && !desc_.masked && !lists_short_rows()) {
      const Buffer heads = host_array<RowClasses::Head<I>>(desc_.memory, B_.rows);
      const Buffer follow = host_array<uint16_t>(desc_.memory, B_.rows);
      stretches_ = host_array<uint16_t>(desc_.memory, rows);
      plan_.classes.find(queue_, left_, B_, step_shape(desc_.scalar()),
                         {heads.as<RowClasses::Head<I>>(), follow.as<uint16_t>()}, kinds_, stretches_.as<uint16_t>());
    } else {
      fill_parts(queue_, kinds_, rows, no_class);
    }
    free_ = cut_chunks(
        queue_, desc_.memory, left_, B_, single_, [this](int64_t i, int64_t limit) { return end_of_class(i, limit); },
        plan_);
    keeps_ = keeps_columns();
    lists_ = lists_now();
    stamps_ = StampedColumns::suits<I>() && keeps_ && 4 * free_.in_short_rows >= free_.all;
    if (!mask_ && plan_.choice != HostChoice::dense && !lists_) make_blocks();
    // Slices need sorted rows; whole words of columns come out sorted anyway.
    unsorted_ = !desc_.sorted && !mask_ && desc_.max_workspace < 0 && !blocks_ && !stamps_ && !lists_;
    const bool wide = offset_size(desc_.pair) == 8;
    if (one_pass_suffices()) {
      wide ? make_rows<int64_t>(C) : make_rows<int32_t>(C);
    } else {
      count_rows();
      allocate(C);
      wide ? fill<int64_t>(C) : fill<int32_t>(C);
    }
    if (!lists_) wide ? room().template make<int64_t>(C) : room().template make<int32_t>(C);
    return std::move(plan_);
  }

 private:
  const RowClasses::Class& class_of(int64_t i) const { return plan_.classes.classes[static_cast<size_t>(kinds_[i])]; }

  /// Of the rows of the class of row i, one past the last that follows it at once, each one column to the right.
  int64_t end_of_class(int64_t i, int64_t limit) const { return std::min(limit, i + stretches_.as<uint16_t>()[i]); }

  /// Of row i, which has no class.
  int64_t products_of_free(int64_t i) const { return free_.of_rows.as<int64_t>()[i]; }

  bool may_keep() const {
    return !mask_ && desc_.max_workspace < 0 && free_.all > 0 && free_.all <= most_kept_products;
  }
  /// Whether the first pass may keep columns until C is allocated, and threads may have a list of all columns: not
  /// where that would be much, or more than the products themselves.
  bool keeps_columns() const {
    constexpr int64_t few_columns = 1 << 16;
    return may_keep() && (desc_.cols() <= few_columns || desc_.cols() <= 2 * free_.all / queue_.concurrency());
  }

  /// B's columns by blocks, if the products of rows without a class that use them repay it.
  void make_blocks() {
    constexpr double least_entries = 2, least_of_stamped = 4;  // of a block
    constexpr int64_t repaid = 4;
    if (B_.nnz == 0 || free_.all < repaid * B_.nnz) return;
    const double entries = entries_of_block<columns_of_block>(queue_, left_, B_);
    by_blocks_ = StampedColumns::suits<I>() && keeps_ && entries >= least_of_stamped;
    const int64_t products = free_.all - (stamps_ && !by_blocks_ ? free_.in_short_rows : 0);
    if (entries >= least_entries && products >= repaid * B_.nnz) blocks_.emplace(queue_, desc_.memory, B_);
  }

  /// How a row of no class is treated: from its products and its columns.
  int32_t kind_of(int64_t i, int64_t products, int64_t columns) const {
    if (columns == 0) return row_empty;
    if (plan_.choice == HostChoice::hash || mask_) return row_hash;
    if (plan_.choice == HostChoice::dense) return row_dense;
    if (products == columns && left_.row(i).size() == 1 && (unsorted_ || B_.ascends(left_.row(i).column(0))))
      return row_copied;
    // Places cost 2 bytes a product: no more than C's row itself costs in columns.
    if (products <= 2 * columns && columns <= RowClasses::most_columns) return row_placed;
    const bool small = desc_.cols() * static_cast<int64_t>(size_of(desc_.scalar())) <= small_accumulator_bytes;
    return columns <= hash_columns && !small ? row_hash : row_dense;
  }

  std::vector<std::unique_ptr<Worker>> workers() const {
    return std::vector<std::unique_ptr<Worker>>(static_cast<size_t>(queue_.concurrency()));
  }
  Worker& worker_of(std::vector<std::unique_ptr<Worker>>& all, int64_t worker) const {
    auto& mine = all[static_cast<size_t>(worker)];
    if (!mine) mine = std::make_unique<Worker>(desc_.cols(), desc_.masked);
    return *mine;
  }

  void count_rows() {
    const int64_t chunks = plan_.chunk_count();
    counts_ = host_array<I>(desc_.memory, left_.rows());
    auto* const counts = counts_.as<I>();
    plan_.chunk_places.assign(static_cast<size_t>(chunks) + 1, 0);
    starts_.assign(static_cast<size_t>(chunks) + 1, 0);
    std::vector<int64_t> products(static_cast<size_t>(chunks), 0);
    auto all = workers();
    if (lists_ || (keeps_ && !unsorted_)) kept_.emplace(desc_.memory, free_.of_chunks, queue_.concurrency());
    const bool copies = kept_ && plan_.choice == HostChoice::binned;
    deal(queue_, chunks, std::ssize(plan_.heavy), [&](int64_t id, int64_t turn) {
      const int64_t chunk = plan_.chunk_of(turn);
      Worker& worker = worker_of(all, id);
      int64_t placed = 0, done = 0, entries = 0;
      KeptColumns<I>* const kept = kept_ ? &kept_->begin(id, chunk) : nullptr;
      const int64_t first = plan_.chunks[static_cast<size_t>(chunk)],
                    last = plan_.chunks[static_cast<size_t>(chunk) + 1];
      if (lists_) {
        plan_.flat.with_left([&](auto left) {
          row_columns_.keep_listed(
              first, last, [this](int64_t i) { return products_of_free(i); }, worker, counts,
              plan_.flat.of_chunk<decltype(left)>(chunk), keeps_, *kept);
        });
        for (int64_t i = first; i < last; ++i) {
          kinds_[i] = counts[i] == 0 ? row_empty : row_placed;
          ++worker.rows_of[-kinds_[i] - 1];
        }
        placed = kept->placed;
        entries = kept->entries;
      }
      for (int64_t i = lists_ ? last : first; i < last; ++i) {
        if (kinds_[i] != no_class) {
          const int64_t like = end_of_class(i, last);
          entries += (like - i) * class_of(i).columns;
          worker.rows_in_classes += like - i;
          i = like - 1;
          continue;
        }
        const auto row = left_.row(i);
        const bool single = copies && row.size() == 1;
        if (single) {
          if (const int64_t count = row_columns_.keep_copied(i, *kept); count >= 0) {
            counts[i] = static_cast<I>(count);
            kinds_[i] = count == 0 ? row_empty : row_copied;
            ++worker.rows_of[-kinds_[i] - 1];
            entries += count;
            continue;
          }
        }
        const int64_t in_row = unsorted_ || stamps_ || by_blocks_ ? products_of_free(i) : 0;
        const bool by_blocks = by_blocks_ && in_row <= StampedBlocks::most_products;
        const bool stamped = stamps_ && in_row <= StampedColumns::most_products;
        const bool sorted = stamped && worker.few_meet && SortedProducts::takes<I>(in_row, B_.cols);
        const int64_t met = unsorted_ || stamped || by_blocks ? in_row : row_columns_.collect(i, worker);
        const int64_t columns = unsorted_   ? row_columns_.count_met(i, met, worker)
                                : sorted    ? row_columns_.keep_sorted(i, in_row, *kept)
                                : by_blocks ? row_columns_.keep_stamped_blocks(i, worker, *kept)
                                : stamped   ? row_columns_.keep_stamped(i, worker, *kept)
                                : kept      ? row_columns_.keep_columns(worker, *kept)
                                            : worker.columns.clear();
        counts[i] = static_cast<I>(columns);
        entries += columns;
        kinds_[i] = kind_of(i, met, columns);
        if (stamped) worker.few_meet = in_row <= 2 * columns;
        if (kept && kinds_[i] == row_placed) {
          if (sorted)
            kept->placed += met;
          else
            row_columns_.keep_places(i, columns, worker, *kept);
        }
        ++worker.rows_of[-kinds_[i] - 1];
        if (kinds_[i] == row_placed) placed += met;
        if (kinds_[i] == row_hash) worker.longest_hash = std::max(worker.longest_hash, columns);
        done += met;
      }
      if (kept) kept_->end(id, *kept);
      plan_.chunk_places[static_cast<size_t>(chunk) + 1] = placed;
      starts_[static_cast<size_t>(chunk) + 1] = entries;
      products[static_cast<size_t>(chunk)] = done;
    });
    add_up(all);
    std::partial_sum(plan_.chunk_places.begin(), plan_.chunk_places.end(), plan_.chunk_places.begin());
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    if (mask_) plan_.products = std::accumulate(products.begin(), products.end(), int64_t{0});
  }

  void add_up(const std::vector<std::unique_ptr<Worker>>& all) {
    for (const auto& worker : all) {
      if (!worker) continue;
      for (int kind = 0; kind < 5; ++kind) plan_.rows_of[kind] += worker->rows_of[kind];
      plan_.rows_in_classes += worker->rows_in_classes;
      plan_.longest_hash = std::max(plan_.longest_hash, worker->longest_hash);
    }
  }

  /// Whether in a sample of rows fewer than one product in 64 has a column that its row has already: C may be
  /// allocated for all products then.
  bool one_pass_suffices() {
    if (mask_ || unsorted_ || lists_ || blocks_ || free_.all < plan_.products) return false;
    if (plan_.products < one_pass_products ||
        (offset_size(desc_.pair) == 4 && plan_.products >= std::numeric_limits<int32_t>::max()))
      return false;
    const Met met = sample_rows(plan_.products);
    return 64 * (met.products - met.columns) < met.products;
  }

  /// Whether lists make rows as fast as classes would, by a sample.
  bool lists_short_rows() const {
    return may_list_ && ListedRows::suits<I>(desc_.cols()) && desc_.max_workspace < 0 &&
           are_short_and_alone(left_, B_, single_);
  }

  /// Products and columns of a few rows from all over, without a class and of `longest` products at most.
  struct Met {
    int64_t products = 0, columns = 0;
  };
  Met sample_rows(int64_t longest) const {
    const int64_t rows = left_.rows();
    Worker worker(desc_.cols(), false);
    constexpr int64_t fewest = 16, most = 256;  // of few and long rows a small part
    Met met;
    for (int64_t sample = 0, samples = std::min(rows, std::clamp(rows / 32, fewest, most)); sample < samples;
         ++sample) {
      const int64_t i = part_begin(rows, samples, sample);
      if (products_of_free(i) > longest) continue;
      met.products += row_columns_.collect(i, worker);
      met.columns += worker.columns.clear();
      // No more of them need be seen.
      if (met.products > few_sampled && 8 * (met.products - met.columns) > met.products) break;
    }
    return met;
  }

  /// Both passes in one: blocks of rows are made in a thread's memory and copied when the sizes before are known.
  template <class OC>
  void make_rows(OutputPattern& C) {
    allocate_output(desc_, plan_.products, C);
    plan_.places = host_array<uint16_t>(desc_.memory, plan_.choice == HostChoice::binned ? plan_.products : 0);
    touch_pages(queue_, plan_.places.data(), plan_.places.bytes());
    auto* const offsets = C.offsets->template as<OC>();
    auto* const indices = C.indices->template as<I>();
    const int64_t each = std::max<int64_t>(1, block_products * left_.rows() / plan_.products);
    std::vector<std::pair<int64_t, int64_t>> blocks;  // first row and chunk
    for (int64_t chunk = 0; chunk < plan_.chunk_count(); ++chunk)
      for (int64_t i = plan_.chunks[static_cast<size_t>(chunk)]; i < plan_.chunks[static_cast<size_t>(chunk) + 1];
           i += each)
        blocks.emplace_back(i, chunk);
    const auto count = static_cast<int64_t>(blocks.size());
    plan_.chunk_places.assign(plan_.chunks.size(), 0);
    const bool streamed = plan_.products * static_cast<int64_t>(sizeof(I)) >= stream_threshold_bytes;
    auto all = workers();
    Turns<2> turns;
    deal_in_order(queue_, count, [&](int64_t id, int64_t block) {
      if (turns.failed()) return;
      try {
        Worker& worker = worker_of(all, id);
        const auto [first, chunk] = blocks[static_cast<size_t>(block)];
        const int64_t end = std::min(first + each, plan_.chunks[static_cast<size_t>(chunk) + 1]);
        const auto [entries, placed] = make_block(first, end, worker);
        typename Turns<2>::Sums before;
        if (!turns.take(block, {entries, placed}, before)) return;
        if (first == plan_.chunks[static_cast<size_t>(chunk)])
          plan_.chunk_places[static_cast<size_t>(chunk)] = before[1];
        copy_out(indices + before[0], worker.met.data(), entries, streamed);
        copy_out(plan_.places.as<uint16_t>() + before[1], worker.places.data(), placed, streamed);
        if (streamed) stream_fence();
        OC start = static_cast<OC>(before[0]);
        for (int64_t i = first; i < end; ++i) {
          offsets[i] = start;
          start = static_cast<OC>(before[0] + worker.ends[static_cast<size_t>(i - first)]);
        }
      } catch (...) {
        turns.fail();
        throw;
      }
    });
    add_up(all);
    C.nnz = turns.sums()[0];
    offsets[C.rows] = static_cast<OC>(C.nnz);
    plan_.placed = plan_.chunk_places.back() = turns.sums()[1];
    if (plan_.placed < plan_.products / 4 * 3) {  // rows of other kinds
      Buffer fewer = host_array<uint16_t>(desc_.memory, plan_.placed);
      std::copy_n(plan_.places.as<uint16_t>(), plan_.placed, fewer.as<uint16_t>());
      plan_.places = std::move(fewer);
    }
  }

  /// Rows first..end-1 in the worker's memory. Returns their entries and the products that have places.
  std::pair<int64_t, int64_t> make_block(int64_t first, int64_t end, Worker& worker) const {
    worker.ends.clear();
    int64_t entries = 0, placed = 0;
    const auto has_room = [](auto& array, int64_t size) {
      if (array.size() < static_cast<size_t>(size)) array.resize(static_cast<size_t>(size));
    };
    for (int64_t i = first; i < end; ++i) {
      int64_t products = products_of_free(i), columns = 0;
      has_room(worker.met, entries + std::min(products, desc_.cols()));
      I* target = worker.met.data() + entries;
      const bool sorts = SortedColumns::takes(products, desc_.cols());
      if (sorts) {
        has_room(worker.places, placed + products);
        if (!worker.sorted) worker.sorted.emplace(desc_.cols());
        if (i + 1 < left_.rows()) SortedColumns::fetch(left_.row(i + 1), B_);
        columns = worker.sorted->make(left_.row(i), B_, products, target, worker.places.data() + placed);
      } else {
        row_columns_.collect(i, worker);
        columns = worker.columns.rank();
      }
      kinds_[i] = kind_of(i, products, columns);
      ++worker.rows_of[-kinds_[i] - 1];
      if (kinds_[i] == row_hash) worker.longest_hash = std::max(worker.longest_hash, columns);
      if (kinds_[i] == row_placed) {
        if (!sorts) {
          has_room(worker.places, placed + products);
          row_columns_.note_places(i, worker.columns, worker.places.data() + placed);
        }
        placed += products;
      }
      if (!sorts) worker.columns.drain([&](int64_t column) { *target++ = static_cast<I>(column); });
      entries += columns;
      worker.ends.push_back(entries);
    }
    return {entries, placed};
  }

  void allocate(OutputPattern& C) {
    allocate_output(desc_, starts_.back(), C);
    if (lists_) {
      plan_.flat.make_later_room(desc_.memory, plan_.chunk_places);
      plan_.flat.set_known();
      return;
    }
    plan_.placed = plan_.chunk_places.back();
    plan_.places = host_array<uint16_t>(desc_.memory, plan_.placed);
  }

  template <class OC>
  void fill(const OutputPattern& C) {
    auto* const offsets = C.offsets->template as<OC>();
    auto* const indices = C.indices->template as<I>();
    const auto* const counts = counts_.as<I>();
    offsets[C.rows] = static_cast<OC>(C.nnz);
    const bool streamed = C.nnz * static_cast<int64_t>(sizeof(I)) >= stream_threshold_bytes;
    auto all = workers();
    deal(queue_, plan_.chunk_count(), [&](int64_t id, int64_t chunk) {
      Worker& worker = worker_of(all, id);
      uint16_t* places = lists_ ? plan_.flat.later(chunk)
                                : plan_.places.as<uint16_t>() + plan_.chunk_places[static_cast<size_t>(chunk)];
      const KeptColumns<I> kept = kept_ ? kept_->of(chunk) : KeptColumns<I>{};
      const I* next_kept = kept.columns;
      std::copy_n(kept.places, kept.placed, places);
      // Rows of classes are made in a block that stays in the innermost cache, by whole vectors, and leave it together.
      constexpr int64_t vector = RowClasses::column_padding, room = block_bytes / sizeof(I);
      alignas(cache_line) I block[room + vector];
      int64_t filled = 0, at = starts_[static_cast<size_t>(chunk)];
      const auto flush = [&] {
        copy_out(indices + at - filled, block, filled, streamed);
        filled = 0;
      };
      const int64_t last = plan_.chunks[static_cast<size_t>(chunk) + 1];
      for (int64_t i = plan_.chunks[static_cast<size_t>(chunk)]; i < last; ++i) {
        offsets[i] = static_cast<OC>(at);
        if (kinds_[i] >= 0) {
          const RowClasses::Class& of = class_of(i);
          const int32_t* const relative = plan_.classes.columns.data() + of.columns_at;
          auto anchor = static_cast<I>(RowClasses::anchor(left_.row(i), B_));
          const bool in_block = of.columns <= room;
          if (!in_block) flush();
          for (const int64_t like = end_of_class(i, last);; ++anchor) {
            if (!in_block) {
              for (int64_t p = 0; p < of.columns; ++p) indices[at + p] = static_cast<I>(relative[p] + anchor);
            } else {
              if (filled + of.columns > room) flush();
              for (int64_t p = 0; p < of.columns; p += vector)
                for (int64_t lane = p; lane < p + vector; ++lane)
                  block[filled + lane] = static_cast<I>(relative[lane] + anchor);
              filled += of.columns;
            }
            at += of.columns;
            if (i + 1 == like) break;
            offsets[++i] = static_cast<OC>(at);
          }
          continue;
        }
        flush();
        I* target = indices + at;
        at += counts[i];
        if (next_kept != nullptr) {  // with the rows behind it
          for (; i + 1 < last && kinds_[i + 1] < 0; at += counts[++i]) offsets[i + 1] = static_cast<OC>(at);
          const I* const first = std::exchange(next_kept, next_kept + (indices + at - target));
          copy_out(target, first, next_kept - first, streamed);
          continue;
        }
        if (kinds_[i] == row_empty) continue;
        if (unsorted_) {
          places = row_columns_.fill_met(i, target, worker, kinds_[i] == row_placed, places);
          continue;
        }
        row_columns_.collect(i, worker);
        if (kinds_[i] == row_placed) {
          worker.columns.rank();
          places = row_columns_.note_places(i, worker.columns, places);
        }
        if (!worker.columns.is_full(counts[i])) {
          worker.columns.drain([&](int64_t column) { *target++ = static_cast<I>(column); });
          continue;
        }
        const auto count = static_cast<size_t>(counts[i]);
        if (worker.met.size() < count + ColumnSet::more_room) worker.met.resize(count + ColumnSet::more_room);
        worker.columns.drain_to(worker.met.data());
        stream_out(target, worker.met.data(), count * sizeof(I));
      }
      flush();
      if (streamed) stream_fence();
    });
    counts_ = Buffer();
    kept_.reset();
    if (lists_) std::fill(plan_.chunk_places.begin(), plan_.chunk_places.end(), 0);
  }

  template <class T>
  static void copy_out(T* to, const T* from, int64_t count, bool streamed) {
    if (streamed)
      stream_out(to, from, static_cast<size_t>(count) * sizeof(T));
    else
      std::copy_n(from, count, to);
  }

  /// Whether all products are listed as they are found: the first execute gains what lists take to be written.
  bool lists_now() {
    if (!may_list_ || !may_keep() || plan_.choice != HostChoice::binned || !plan_.classes.classes.empty() ||
        !ListedRows::suits<I>(desc_.cols()))
      return false;
    // One thread lists a row, for longer than it takes to find its columns.
    constexpr int64_t long_row = 1 << 17;
    if (free_.longest > long_row && 2 * queue_.concurrency() * free_.longest > free_.all) return false;
    const Met met = sample_rows(StampedColumns::most_products);
    const double entries = static_cast<double>(met.columns) / static_cast<double>(std::max<int64_t>(met.products, 1)) *
                           static_cast<double>(plan_.products);
    if (!room().suits_lists(left_.rows(), static_cast<int64_t>(entries), plan_.products)) return false;
    std::vector<int64_t> products(plan_.chunks.size(), 0);
    std::partial_sum(free_.of_chunks.begin(), free_.of_chunks.end(), products.begin() + 1);
    try {
      plan_.flat.make_room(desc_.memory, products, room().left_entries(), free_.longest_left);
      return true;
    } catch (const Error&) {  // no memory left: rows are made without
      return false;
    }
  }
  HostRoom<Left, I, O> room() { return {queue_, desc_, left_, B_, may_list_ && !unsorted_, free_, plan_}; }

  static constexpr size_t block_bytes = 8192;
  static constexpr int64_t one_pass_products = 1 << 16, block_products = 32768;  // of C and of a block of rows
  static constexpr int64_t few_sampled = 1024;

  Queue& queue_;
  const Desc& desc_;
  const Left& left_;
  B B_;
  bool may_list_, single_;
  std::optional<B> mask_;
  HostPlan plan_;
  int32_t* kinds_ = nullptr;
  std::optional<ColumnBlocks<I, O>> blocks_;
  RowColumns<Left, I, O> row_columns_;
  bool unsorted_ = false, keeps_ = false;
  bool lists_ = false;      // products are listed in the first pass
  bool stamps_ = false;     // short rows without a class are collected by stamps
  bool by_blocks_ = false;  // all but very long rows are, by blocks
  FreeProducts free_;
  std::optional<KeptChunks<I>> kept_;  // between the passes; none: the second one finds columns anew
  Buffer stretches_;                   // uint16_t: RowClasses::find()
  Buffer counts_;                      // I: columns of the rows without a class
  std::vector<int64_t> starts_;        // where the chunks' entries begin
};

}  // namespace kkc::spgemm
