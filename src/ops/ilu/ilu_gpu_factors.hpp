// The gpu_sync_free of ilu and ic: plan and execute, for devices on which the lanes of a warp make progress by
// themselves.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "core/dispatch.hpp"
#include "device/gpu_select.hpp"
#include "ilu_gpu_inodes.hpp"
#include "ilu_gpu_pattern.hpp"
#include "ilu_gpu_sync_free_blocks.hpp"
#include "ilu_gpu_sync_free_kernels.hpp"
#include "ilu_gpu_wide_rows_kernels.hpp"
#include "ops/transpose/transpose.hpp"

namespace kkc::ilu {
namespace gpu_parts {

inline constexpr size_t ticket_bytes = 256;          // of the workspace
inline constexpr size_t most_shared = 96 << 10;      // of a block
inline constexpr int most_warps = 8, few_warps = 2;  // of a block; it ends with its last row
// Entries of a row in shared memory where others do not fit.
inline constexpr int32_t room_beside_long_rows = 1024;
inline constexpr int64_t rows_of_a_long_one = 16;

/// Of shared memory, for a row of the factors.
constexpr size_t row_bytes(int64_t entries, size_t entry_bytes) {
  return static_cast<size_t>((entries + 1) / 2 * 2) * entry_bytes;
}

/// Rows that lie in the workspace, behind the ticket, while they are factored.
template <class I, class O>
class WorkspaceRows {
 public:
  WorkspaceRows() = default;
  /// Those whose number `chosen` takes on the device. Blocks.
  template <class Chosen>
  WorkspaceRows(const Desc& desc, Queue& queue, const Chosen& chosen) {
    using Long = LongRow<I, O>;
    const auto array = [&](size_t bytes) {
      return Buffer(Memory::in_order(desc.memory), Space::device, (bytes + 7) / 8 * 8);
    };
    const gpu::Selection selection(queue, desc.memory, desc.A.rows, chosen);
    std::vector<Long> found(static_cast<size_t>(selection.count()));
    const Buffer list = array(found.size() * sizeof(Long));
    selection.each(ListLongRows<I, O>{desc.factors.offsets->as<O>(), list.as<Long>()});
    queue.copy(found.data(), list.data(), found.size() * sizeof(Long));
    std::vector<I> rows;
    std::vector<O> begins;
    for (const Long& row : found) {
      rows.push_back(row.row);
      begins.push_back(static_cast<O>(entries_));
      entries_ += static_cast<int64_t>(row.entries);
    }
    count_ = static_cast<int64_t>(rows.size());
    rows_ = array(rows.size() * sizeof(I));
    begins_ = array(begins.size() * sizeof(O));
    queue.copy(rows_.data(), rows.data(), rows.size() * sizeof(I));
    queue.copy(begins_.data(), begins.data(), begins.size() * sizeof(O));
  }

  LongRows<I, O> view() const { return {rows_.as<I>(), begins_.as<O>(), static_cast<int>(count_)}; }
  int64_t count() const { return count_; }
  int64_t entries() const { return entries_; }
  size_t bytes() const { return rows_.bytes() + begins_.bytes(); }

 private:
  Buffer rows_, begins_;
  int64_t count_ = 0, entries_ = 0;
};

/// What a FactorSyncFree reads and writes of the case and of its rows in the workspace.
template <class E, Form form, class I, class O, bool chains>
void set_case(FactorSyncFree<E, form, I, O, chains>& functor, const FactorPattern& factors,
              const Rule<RealPart<E>>& rule, const FoundRows& found, const WorkspaceRows<I, O>& long_rows,
              const Args& args) {
  functor.offsets = static_cast<const O*>(args.factors.offsets);
  functor.diagonal = factors.diagonal->as<O>();
  functor.indices = static_cast<const I*>(args.factors.indices);
  functor.source = ilu_pattern::ValueSource<O>(factors);
  functor.A = static_cast<const E*>(args.A.values);
  functor.values = static_cast<E*>(const_cast<void*>(args.factors.values));
  functor.rule = rule;
  functor.found = found.counter();
  functor.rows = args.factors.rows;
  functor.long_rows = long_rows.view();
  functor.long_values = reinterpret_cast<E*>(static_cast<char*>(args.workspace) + ticket_bytes);
}

template <class E, Form form, class I, class O>
class SyncFreeKernel final : public Kernel {
  using Blocks = FactorByBlocks<E, form, I, O, false>;

 public:
  SyncFreeKernel(const Desc& desc, Queue& queue)
      : factors_(desc.factors),
        rule_(desc.pivots),
        found_(desc.memory, queue),
        rows_(desc.A.rows),
        longest_row_(desc.longest_row) {
    levels_ = levels_of(desc, queue);
    if (const int64_t part = mean_part<form>(desc);
        part >= part_of_chains || (part >= wide_part && rows_ >= least_level_of_wide * levels_->count)) {
      at_once_ = part >= wider_part ? 4 : 2;
      alike_ = inodes_of<form>(desc, queue);
    }
    constexpr size_t entry_bytes = sizeof(E) + sizeof(I);
    room_ = static_cast<int32_t>((desc.longest_row + 1) / 2 * 2);
    if (desc.longest_row > longest_without_blocks &&
        (at_once_ == 1 || desc.longest_row * rows_ > far_longer * desc.factors.nnz))
      find_tasks(desc, queue);
    if (task_count_ > 0) {
      if constexpr (form == Form::lu)
        columns_ = transpose::transposed_pattern(queue, desc.memory, pattern_of_factors(desc));
      find_long_rows(desc, queue, room_beside_blocks);
    } else if (desc.longest_row > room_beside_few) {
      find_long_rows(desc, queue, room_beside_few);
      if (long_rows_.count() * rows_of_a_long_one > desc.A.rows) {
        long_rows_ = {};
        room_ = static_cast<int32_t>((desc.longest_row + 1) / 2 * 2);
        if (row_bytes(desc.longest_row, entry_bytes) > most_shared) find_long_rows(desc, queue, room_beside_long_rows);
      }
    }
    together_ = form == Form::lu && goes_together(desc, queue);
    const size_t bytes = row_bytes(room_, entry_bytes);
    warps_ = static_cast<int>(std::clamp<size_t>(most_shared / std::max<size_t>(bytes, 1), 1, few_warps));
    if (task_count_ > 0) warps_ = warps_of_tasks;
    shared_bytes_ =
        bytes * static_cast<size_t>(warps_) + (task_count_ > 0 ? Blocks::filter_words * sizeof(uint32_t) : 0);
    gpu::prepare<Begin>(queue);
    with_functor([&]<class Functor>(Functor) { gpu::prepare<Functor>(queue, shared_bytes_); });
  }

  void execute(Queue& queue, const Args& args) override {
    E* const values = static_cast<E*>(const_cast<void*>(args.factors.values));
    auto* const ticket = static_cast<unsigned*>(args.workspace);
    const int64_t words = args.factors.nnz * static_cast<int64_t>(sizeof(E) / sizeof(uint32_t));
    gpu::launch(queue, std::min(gpu::blocks_for(words, Begin::threads * 4), 4096u), Begin::threads, 0,
                Begin{reinterpret_cast<uint32_t*>(values), words, ticket});
    with_functor([&]<class Functor>(Functor functor) {
      set(functor, args);
      const unsigned blocks =
          task_count_ > 0 ? static_cast<unsigned>(task_count_) : gpu::blocks_for(args.factors.rows, warps_);
      gpu::launch(queue, blocks, static_cast<unsigned>(warps_ * 32), shared_bytes_, functor);
    });
  }

  size_t workspace_bytes() const override {
    return ticket_bytes + static_cast<size_t>(long_rows_.entries()) * sizeof(E);
  }
  int64_t plan_bytes() const override {
    return static_cast<int64_t>(levels_->order->bytes() + levels_->diagonal->bytes() + found_.bytes() +
                                long_rows_.bytes() + tasks_.bytes() + columns_bytes() +
                                (alike_ != nullptr ? alike_->bits.bytes() : 0));
  }
  std::shared_ptr<const Levels> levels() const override { return levels_; }
  void describe(Info& info) const override {
    info.add("levels", levels_->count);
    info.add("warps_a_block", int64_t{warps_});
    info.add("longest_row", longest_row_);
    info.add("long_rows", long_rows_.count());
    info.add("rows_by_blocks", heavy_count_);
    info.add("entries_a_lane", int64_t{at_once_});
  }

  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    return found_.check(queue, where, count);
  }

 private:
  // Rows a level and entries a row in the mean, see goes_together().
  static constexpr int64_t wide_level = 256, short_row = 10, wider = 4;
  static constexpr uint32_t needed_of_a_meeting = 4;
  // Rows a level in the mean, up to which most rows wait for the last that they need.
  static constexpr int64_t level_of_chains = 200;
  // Rows a level in the mean where several entries of a lane are taken at once, entries that a row loses in the mean
  // where they are whatever the levels, and where these are four.
  static constexpr int64_t least_level_of_wide = 4, part_of_chains = 48, wider_part = 96;
  static constexpr int64_t far_longer = 16;  // than the mean
  // Entries of a row: where none has more, blocks take none.
  static constexpr int64_t longest_without_blocks = form == Form::lu ? 256 : 1024;
  // Entries of a row in shared memory where few rows are longer: the less room a row takes, the more rows there are at
  // once.
  static constexpr int32_t room_beside_few = form == Form::lu ? 512 : 256;
  // The same where blocks take some rows.
  static constexpr int32_t room_beside_blocks = 192;
  // A row that looks through eight times as many entries of needed rows is for a block; where few rows do, so is one
  // that looks through more than this; where most rows do, none is. Neither is one of long rows, unless it is far
  // longer.
  static constexpr int64_t least_heavy = 2048, rows_of_a_heavy_one = 64, rows_of_an_even_one = 2;
  static constexpr int warps_of_tasks = Blocks::threads / 32;

  size_t columns_bytes() const {
    size_t bytes = 0;
    for (const auto& array : {columns_.offsets, columns_.indices, columns_.positions})
      if (array != nullptr) bytes += array->bytes();
    return bytes;
  }

  /// f with the kernel that this case has.
  template <class F>
  void with_functor(const F& f) const {
    const auto with = [&]<bool chains>(std::bool_constant<chains>) {
      if (task_count_ > 0)
        f(FactorByBlocks<E, form, I, O, chains>{});
      else if (at_once_ == 4)
        f(FactorWideRows<E, form, I, O, 4>{});
      else if (at_once_ == 2)
        f(FactorWideRows<E, form, I, O, 2>{});
      else
        f(FactorSyncFree<E, form, I, O, chains>{});
    };
    if (form == Form::lu && rows_ <= level_of_chains * levels_->count)
      with(std::bool_constant<form == Form::lu>{});
    else
      with(std::false_type{});
  }

  template <class X>
  void set(X& functor, const Args& args) const {
    set_case(functor, factors_, rule_, found_, long_rows_, args);
    functor.order = levels_->order->template as<I>();
    functor.ticket = static_cast<unsigned*>(args.workspace);
    functor.room = room_;
    functor.together = together_;
    if constexpr (requires { functor.alike; }) functor.alike = alike_->bits.template as<uint32_t>();
    if constexpr (requires { functor.tasks; }) {
      functor.tasks = tasks_.as<int64_t>();
      if constexpr (form == Form::lu)
        functor.columns_of_factors = {columns_.offsets->template as<O>(), columns_.indices->template as<I>(),
                                      columns_.positions->template as<O>()};
    }
  }

  /// Whether rows lose to up to 32 others at once: what they need is mostly there, and one pass of a warp's lanes takes
  /// all products; or longer rows, of which hardly any column is met.
  bool goes_together(const Desc& desc, Queue& queue) const {
    const int64_t rows = desc.A.rows, wide = levels_->count * wide_level, nnz = desc.factors.nnz;
    if (wide <= rows && nnz <= short_row * rows) return true;
    if (wide * wider > rows || nnz > short_row * wider * rows) return false;
    using Count = CountMeetings<I, O>;
    const Buffer counts = device_array<uint32_t>(desc, 2);
    gpu::clear_words(queue, counts.data(), counts.bytes());
    gpu::launch(queue, gpu::blocks_for(Count::most * 32, Count::threads), Count::threads, 0,
                Count{desc.factors.offsets->template as<O>(), desc.factors.diagonal->template as<O>(),
                      desc.factors.indices->template as<I>(), rows, counts.as<uint32_t>()});
    const auto found = gpu::read_back<std::array<uint32_t, 2>>(queue, counts.data());
    return found[1] * needed_of_a_meeting <= found[0];
  }

  template <class X>
  static Buffer device_array(const Desc& desc, size_t count) {
    return Buffer(Memory::in_order(desc.memory), Space::device, (count * sizeof(X) + 7) / 8 * 8);
  }

  /// Rows that look through very much, each for a block, and the others between them, where there are such. Blocks.
  void find_tasks(const Desc& desc, Queue& queue) {
    using Find = FindHeavyRows<form, I, O>;
    const int64_t n = desc.A.rows;
    const Buffer flags = device_array<uint8_t>(desc, static_cast<size_t>(n)),
                 counts = device_array<uint32_t>(desc, Find::steps);
    gpu::clear_words(queue, counts.data(), counts.bytes());
    gpu::launch(queue, gpu::blocks_for(n, Find::threads / 32), Find::threads, 0,
                Find{desc.factors.offsets->template as<O>(), desc.factors.diagonal->template as<O>(),
                     desc.factors.indices->template as<I>(), levels_->order->template as<I>(), n, least_heavy,
                     flags.as<uint8_t>(), counts.as<uint32_t>()});
    const auto above = gpu::read_back<std::array<uint32_t, Find::steps>>(queue, counts.data());
    int least = 0;  // weight of rows for blocks
    while (++least < Find::steps && above[static_cast<size_t>(least) - 1] * rows_of_a_heavy_one > n) {
    }
    const int64_t found = above[static_cast<size_t>(least) - 1];
    if (found == 0 || found * rows_of_an_even_one > n) return;
    std::vector<I> heavy(static_cast<size_t>(found));  // their places in the order
    heavy_count_ = static_cast<int64_t>(heavy.size());
    const Buffer list = device_array<I>(desc, heavy.size());
    gpu::Selection(queue, desc.memory, n, IsHeavyRow{flags.as<uint8_t>(), least}).each(ListHeavyRows<I>{list.as<I>()});
    queue.copy(heavy.data(), list.data(), heavy.size() * sizeof(I));
    std::vector<int64_t> tasks;
    tasks.reserve(2 * heavy.size() + static_cast<size_t>(n / warps_of_tasks) + 2);
    int64_t position = 0;
    const auto add_others = [&](int64_t end) {
      for (; position < end; position += warps_of_tasks) tasks.push_back(2 * position);
    };
    for (const int64_t alone : heavy) {
      add_others(alone);
      tasks.push_back(2 * alone + 1);
      position = alone + 1;
    }
    add_others(n);
    task_count_ = static_cast<int64_t>(tasks.size());
    tasks.push_back(2 * n);
    tasks_ = device_array<int64_t>(desc, tasks.size());
    queue.copy(tasks_.data(), tasks.data(), tasks.size() * sizeof(int64_t));
  }

  /// Those that have more entries than there is `room` for. Blocks.
  void find_long_rows(const Desc& desc, Queue& queue, int32_t room) {
    room_ = room;
    long_rows_ =
        WorkspaceRows<I, O>(desc, queue, IsLongRow<O>{desc.factors.offsets->template as<O>(), static_cast<O>(room_)});
  }

  FactorPattern factors_;
  Rule<RealPart<E>> rule_;
  FoundRows found_;
  std::shared_ptr<const Levels> levels_;
  int64_t rows_, longest_row_;
  int64_t heavy_count_ = 0, task_count_ = 0;  // rows and blocks, where some rows are for blocks
  WorkspaceRows<I, O> long_rows_;
  Buffer tasks_;
  std::shared_ptr<const Inodes> alike_;  // where at_once_ > 1
  EntryMap columns_;                     // of lu, where some rows are for blocks
  int32_t room_ = 0;
  bool together_ = false;
  int at_once_ = 1;  // entries of a lane
  int warps_ = 1;
  size_t shared_bytes_ = 0;
};

template <Form form>
std::unique_ptr<Kernel> make_sync_free(const Desc& desc, Queue& queue) {
  return make_kernel<SyncFreeKernel, form>(desc, queue);
}

/// Where a row has no room in shared memory.
inline std::string long_rows_unsupported(const Desc& desc) {
  if (desc.A.rows == 0) return "there are no rows";
  const size_t entry_bytes = size_of(desc.A.scalar) + ordinal_size(desc.A.pair);
  if (row_bytes(desc.longest_row, entry_bytes) > most_shared)
    return cat("takes rows of at most ", most_shared / entry_bytes, " entries, the factors may have one of ",
               desc.longest_row);
  return {};
}

inline std::string sync_free_unsupported(const Desc& desc) { return desc.A.rows == 0 ? "there are no rows" : ""; }

}  // namespace gpu_parts
}  // namespace kkc::ilu
