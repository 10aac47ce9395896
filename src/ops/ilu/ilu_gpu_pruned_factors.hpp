// The gpu_pruned of ilu: plan and execute. Another implementation factors the rows without their late entries, whose
// levels may be far fewer; then these are found, none of which waits for another row.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "device/gpu_scan.hpp"
#include "device/gpu_select.hpp"
#include "device/gpu_sort.hpp"
#include "ilu_gpu_pattern.hpp"
#include "ilu_gpu_pruned_kernels.hpp"

namespace kkc::ilu {
namespace gpu_parts {

inline constexpr const char* pruned_name = "gpu_pruned";
inline constexpr size_t pruned_ticket_bytes = 256;  // of the workspace

/// One of so many of a sample's entries left of the diagonal must be late; or one of many, if that makes levels few, or
/// levels remain so narrow that what is done beside them costs next to nothing.
inline constexpr uint32_t entries_of_a_late_one = 4, entries_of_a_rare_one = 64;
inline constexpr int64_t narrow_level = 256, fewer_levels = 2;
/// Entries left of the diagonal that eight lanes look at, and a warp; of more a block.
inline constexpr int64_t left_of_eight_lanes = 32, left_of_warp = 128;
/// With fewer warps or blocks each takes one row.
inline constexpr int64_t busy_warps = 8192, busy_blocks = 1024;
/// Late entries may be changed once for so many entries of the factors; twice as often in a sample.
inline constexpr int64_t entries_of_a_change = 2, sample_slack = 2;

template <class I, class O>
FactorsPattern<I, O> factors_of(const FactorPattern& factors) {
  return {factors.offsets->as<const O>(), factors.diagonal->as<const O>(), factors.indices->as<const I>()};
}

/// The factors in two parts.
struct SplitPattern {
  FactorPattern early;
  int64_t longest = 0;                    // early row
  std::shared_ptr<const Buffer> entries;  // O[early.nnz]: their places in the factors
  Buffer late;                            // LateEntry[late_count]
  int64_t late_count = 0;
  Buffer changed, changes;  // ChangedEntry[changed_count], ListedChange[change_count]
  int64_t changed_count = 0, change_count = 0;
  std::shared_ptr<const Levels> levels;  // of early entries, if they have been found

  size_t bytes() const {
    size_t sum = late.bytes() + changed.bytes() + changes.bytes();
    for (const auto& array : {early.offsets, early.indices, early.diagonal, entries}) sum += array->bytes();
    return sum + (early.sources != entries ? early.sources->bytes() : 0);
  }
};

template <class X>
Buffer pruned_array(const Desc& desc, int64_t count) {
  return Buffer(Memory::in_order(desc.memory), Space::device, (static_cast<size_t>(count) * sizeof(X) + 7) / 8 * 8);
}

/// Finds a SplitPattern. Blocks.
template <class I, class O>
class Split {
 public:
  Split(const Desc& desc, Queue& queue)
      : desc_(desc),
        queue_(queue),
        rows_(desc.A.rows),
        nnz_(desc.factors.nnz),
        factors_(factors_of<I, O>(desc.factors)),
        found_(array<char>(first_flag + nnz_)),
        meets_(array<uint8_t>(nnz_)) {}

  /// Entries of a sample, all of them and late ones.
  LateFacts sampled() { return desc_.longest_row > left_of_warp ? sampled_by<256>() : sampled_by<32>(); }

  /// Nothing where late entries are changed too often. Behind sampled(), which clears what both fill.
  std::shared_ptr<SplitPattern> run() {
    const Buffer counts = array<uint32_t>(rows_);
    each([&]<int lanes>(const LateRows<I, O, lanes>& some) {
      using Find = FindLate<I, O, lanes, false>;
      launch(Find{{some}, {}, counts.as<uint32_t>(), facts()});
    });
    auto offsets = shared<O>(rows_ + 1);
    LateFacts all{};
    gpu::with_offset_scan(counts.as<uint32_t>(), offsets->template as<O>(), O{0}, [&](auto scan) {
      scan.carry = reinterpret_cast<O*>(&facts()->early);
      all = gpu::launch_scan_and_read<LateFacts>(queue_, scan, rows_, facts());
    });
    const auto early = static_cast<int64_t>(all.early);
    auto found = std::make_shared<SplitPattern>();
    found->change_count = static_cast<int64_t>(all.changes);
    if (found->change_count * entries_of_a_change > nnz_) return nullptr;
    found->early.nnz = early;
    found->longest = all.longest;
    found->late_count = nnz_ - early;
    found->late = array<LateEntry<O>>(found->late_count);
    set_arrays(std::move(offsets), *found);
    if (found->change_count > 0) list_changes(*found);
    return found;
  }

 private:
  /// `lanes` threads a row.
  template <int lanes>
  LateFacts sampled_by() {
    using Sample = FindLate<I, O, lanes, true>;
    gpu::clear_words(queue_, found_.data(), found_.bytes());
    return gpu::launch_and_read<LateFacts>(
        queue_, gpu::blocks_for(Sample::samples, Sample::threads / lanes), Sample::threads, 0,
        Sample{{rows_of<lanes>(1, -1, nnz_)}, {}, nullptr, facts() + 1}, facts() + 1);
  }
  template <class X>
  Buffer array(int64_t count) const {
    return pruned_array<X>(desc_, count);
  }
  template <class X>
  std::shared_ptr<Buffer> shared(int64_t count) const {
    return std::make_shared<Buffer>(array<X>(count));
  }
  /// Of all rows, and behind it of a sample.
  LateFacts* facts() const { return found_.as<LateFacts>(); }
  uint8_t* flags() const { return found_.as<uint8_t>() + first_flag; }

  template <int lanes>
  LateRows<I, O, lanes> rows_of(int64_t each, int64_t above, int64_t most) const {
    return {factors_,
            rows_,
            (rows_ + each - 1) / each,
            each,
            static_cast<O>(above),
            static_cast<O>(most),
            flags(),
            meets_.template as<uint8_t>()};
  }
  /// f for rows of each length.
  template <class F>
  void each(const F& f) const {
    f(rows_of<8>(1, -1, left_of_eight_lanes));
    if (desc_.longest_row > left_of_eight_lanes)
      f(rows_of<32>(std::clamp<int64_t>(rows_ / busy_warps, 1, 32), left_of_eight_lanes, left_of_warp));
    if (desc_.longest_row > left_of_warp)
      f(rows_of<256>(std::clamp<int64_t>(rows_ / busy_blocks, 1, 256), left_of_warp, nnz_));
  }
  template <class F>
  void launch(const F& f) const {
    gpu::launch(queue_, gpu::blocks_for(f.groups, F::threads / F::lanes_a_row), F::threads, 0, f);
  }

  void set_arrays(std::shared_ptr<Buffer> offsets, SplitPattern& found) const {
    auto indices = shared<I>(found.early.nnz), diagonal = shared<O>(rows_), entries = shared<O>(found.early.nnz);
    const auto& all_sources = desc_.factors.sources;
    auto sources = all_sources != nullptr ? shared<O>(found.early.nnz) : entries;
    auto* const late = found.late.template as<LateEntry<O>>();
    gpu::ScanTiles<O, EarlyEntries, SplitEntries<I, O>, 4> split{};
    split.source = {flags()};
    split.target = {flags(),
                    factors_.indices,
                    all_sources != nullptr ? all_sources->template as<const O>() : nullptr,
                    indices->template as<I>(),
                    diagonal->template as<O>(),
                    entries->template as<O>(),
                    sources->template as<O>(),
                    late};
    gpu::launch_scan(queue_, split, nnz_);
    gpu::launch_over(queue_, found.late_count, PlacePivots<O>{late, found.late_count, diagonal->template as<O>()});
    found.early.offsets = std::move(offsets);
    found.early.indices = std::move(indices);
    found.early.diagonal = std::move(diagonal);
    found.early.positions = desc_.factors.positions;
    found.early.starts = desc_.factors.starts;
    found.early.sources = std::move(sources);
    found.entries = std::move(entries);
  }

  /// By entry, and those of one ascending by their sources.
  void list_changes(SplitPattern& found) const {
    const int64_t n = found.change_count;
    const int distance_bits = std::bit_width(static_cast<uint64_t>(std::min<int64_t>(desc_.longest_row, most_left))),
              bits = std::bit_width(static_cast<uint64_t>(nnz_)) + distance_bits;
    const std::array<Buffer, 2> keys{array<uint64_t>(n), array<uint64_t>(n)}, of_factors{array<O>(n), array<O>(n)};
    each([&]<int lanes>(const LateRows<I, O, lanes>& some) {
      launch(
          ListChanges<I, O, lanes>{{some}, {}, distance_bits, keys[0].as<uint64_t>(), of_factors[0].as<O>(), facts()});
    });
    const Buffer scratch = array<char>(static_cast<int64_t>(gpu::sort_scratch_bytes<uint64_t, Payload>(n)));
    const auto where = static_cast<size_t>(gpu::sort_pairs<uint64_t, Payload>(
        queue_, {keys[0].as<uint64_t>(), keys[1].as<uint64_t>()},
        {of_factors[0].as<Payload>(), of_factors[1].as<Payload>()}, n, 0, bits, scratch.data()));
    const auto* const sorted = keys[where].template as<uint64_t>();
    found.changes = array<ListedChange<O>>(n);
    gpu::launch_over(queue_, n,
                     SetChanges<I, O>{sorted, of_factors[where].template as<O>(), distance_bits, n,
                                      found.changes.template as<ListedChange<O>>()});
    const gpu::Selection firsts(queue_, desc_.memory, n, IsFirstChange{sorted, distance_bits});
    found.changed_count = firsts.count();
    found.changed = array<ChangedEntry<O>>(found.changed_count);
    firsts.each(ListChangedEntries<I, O>{sorted, distance_bits, found.changed.template as<ChangedEntry<O>>()});
  }
  using Payload = std::conditional_t<sizeof(O) == 4, uint32_t, uint64_t>;

  const Desc& desc_;
  Queue& queue_;
  int64_t rows_, nnz_;
  FactorsPattern<I, O> factors_;
  static constexpr int64_t first_flag = 2 * sizeof(LateFacts);
  Buffer found_, meets_;  // LateFacts[2] and flags
};

/// The case without late entries.
inline Desc early_desc(const Desc& desc, const SplitPattern& split) {
  Desc early{desc.form, desc.A, split.early, split.longest, desc.pivots, desc.memory};
  early.levels = split.levels;
  return early;
}

/// The first other implementation that takes the case; the reference is one. Where levels are narrow, one that waits
/// for a row's needed ones one after the other, as they come.
inline const Implementation& other_implementation(Queue& queue, const Desc& desc) {
  constexpr std::string_view waiting_for_several[] = {"gpu_programs", "gpu_tables"};
  constexpr int64_t least_level_of_these = 16;
  const bool is_narrow = desc.A.rows < least_level_of_these * levels_of(desc, queue)->count;
  const OperationTable& known = *find_operation(queue.table(), "ilu");
  const Implementation* chosen = nullptr;
  for (int32_t i = 0; chosen == nullptr && i < known.count; ++i) {
    const auto& candidate = static_cast<const Implementation&>(*known.entries[i]);
    const bool waits = std::ranges::find(waiting_for_several, candidate.name) != std::end(waiting_for_several);
    if (candidate.name != std::string_view(pruned_name) && !(is_narrow && waits) && candidate.unsupported(desc).empty())
      chosen = &candidate;
  }
  require(chosen != nullptr, KKC_STATUS_NOT_SUPPORTED, "no implementation of ilu takes the early entries");
  return *chosen;
}

template <class E, Form, class I, class O>
class PrunedKernel final : public Kernel {
 public:
  PrunedKernel(const Desc& desc, Queue& queue, std::shared_ptr<const SplitPattern> split)
      : factors_(desc.factors), split_(std::move(split)), found_(desc.memory, queue), rows_(desc.A.rows) {
    const Desc early = early_desc(desc, *split_);
    const Implementation& other = other_implementation(queue, early);
    name_ = other.name;
    kernel_ = other.make(early, queue);
    gpu::prepare<CompleteEntries<E, I, O>>(queue);
    gpu::prepare<CompleteChanged<E, I, O>>(queue);
  }

  void execute(Queue& queue, const Args& args) override {
    auto* const ticket = static_cast<unsigned*>(args.workspace);
    E* const early = reinterpret_cast<E*>(static_cast<char*>(args.workspace) + pruned_ticket_bytes);
    Args others{args.A, args.factors, reinterpret_cast<char*>(early) + early_bytes()};
    others.factors.nnz = split_->early.nnz;
    others.factors.offsets = split_->early.offsets->data();
    others.factors.indices = split_->early.indices->data();
    others.factors.values = early;
    kernel_->execute(queue, others);

    const Completing<E, I, O> common{factors_of<I, O>(factors_),
                                     rows_,
                                     ilu_pattern::ValueSource<O>(factors_),
                                     static_cast<const E*>(args.A.values),
                                     static_cast<E*>(const_cast<void*>(args.factors.values)),
                                     found_.counter(),
                                     ticket};
    gpu::launch_over(queue, factors_.nnz,
                     CompleteEntries<E, I, O>{
                         common, split_->early.offsets->template as<const O>(), split_->entries->template as<const O>(),
                         split_->late.template as<LateEntry<O>>(), split_->early.nnz, split_->late_count, early});
    if (split_->changed_count > 0)
      gpu::launch_over(queue, split_->changed_count,
                       CompleteChanged<E, I, O>{common, split_->changed.template as<ChangedEntry<O>>(),
                                                split_->changes.template as<ListedChange<O>>(), split_->changed_count,
                                                split_->change_count});
  }

  size_t workspace_bytes() const override { return pruned_ticket_bytes + early_bytes() + kernel_->workspace_bytes(); }
  int64_t plan_bytes() const override {
    return static_cast<int64_t>(split_->bytes() + found_.bytes()) + kernel_->plan_bytes();
  }
  void describe(Info& info) const override {
    info.add("early_entries", split_->early.nnz);
    info.add("late_entries", split_->late_count);
    info.add("changed_late_entries", split_->changed_count);
    info.add("early_implementation", std::string(name_));
    kernel_->describe(info);
  }
  /// A row whose pivot was zero and whose late entries are not finite counts twice.
  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    int64_t row = 0, rows = 0, late_row = 0, late_rows = 0;
    const kkc_status_t status = kernel_->check(queue, row, rows), late = found_.check(queue, late_row, late_rows);
    count = rows + late_rows;
    const bool is_late = late_rows > 0 && (rows == 0 || late_row <= row);
    where = is_late ? late_row : row;
    return is_late ? late : status;
  }

 private:
  size_t early_bytes() const { return (static_cast<size_t>(split_->early.nnz) * sizeof(E) + 255) / 256 * 256; }

  FactorPattern factors_;
  std::shared_ptr<const SplitPattern> split_;
  FoundRows found_;
  int64_t rows_;
  const char* name_ = "";
  std::unique_ptr<Kernel> kernel_;
};

inline std::unique_ptr<Kernel> make_pruned(const Desc& desc, Queue& queue) {
  return make_kernel<PrunedKernel, Form::lu>(desc, queue,
                                             std::static_pointer_cast<const SplitPattern>(desc.found_split));
}

/// Looks at a sample of rows, and where that has late entries enough, at all; where it has few, at levels.
inline std::string pruned_unsupported(const Desc& desc) {
  if (desc.A.rows == 0) return "there are no rows";
  return reason_of(desc, [&](Queue& queue) -> std::string {
    std::shared_ptr<SplitPattern> found;
    LateFacts sampled{};
    dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto pair) {
      Split<typename decltype(pair)::ordinal, typename decltype(pair)::offset> split(desc, queue);
      sampled = split.sampled();
      if (sampled.late > 0 && sampled.late >= sampled.needed / entries_of_a_rare_one &&
          sampled.changes * entries_of_a_change <= sample_slack * sampled.entries)
        found = split.run();
    });
    if (found == nullptr)
      return cat("takes patterns where one of ", entries_of_a_rare_one, " entries left of the diagonal, in a sample ",
                 sampled.late, " of ", sampled.needed,
                 ", is not needed by its row's others, and such entries are changed once for each ",
                 entries_of_a_change, " entries of the factors at most");
    if (sampled.late < sampled.needed / entries_of_a_late_one) {
      const Desc early = early_desc(desc, *found);
      const int64_t levels = levels_of(early, queue)->count;
      found->levels = early.levels;
      if (desc.A.rows > narrow_level * levels && levels_of(desc, queue)->count < fewer_levels * levels)
        return cat(
            "takes patterns where one of ", entries_of_a_late_one,
            " entries left of the diagonal is not needed by its row's others, or where levels without these are ",
            "few, a sample has ", sampled.late, " of ", sampled.needed, ", levels are ", levels, " and ",
            desc.levels->count);
    }
    desc.found_split = std::move(found);
    return {};
  });
}

}  // namespace gpu_parts
}  // namespace kkc::ilu
