// The gpu_tables of ilu and ic: plan and execute, for devices on which the lanes of a warp make progress by themselves.
#pragma once

#include "device/gpu_scan.hpp"
#include "ilu_gpu_programs_factors.hpp"
#include "ilu_gpu_short_tables_kernels.hpp"

namespace kkc::ilu {
namespace gpu_parts {

inline constexpr int64_t longest_row_with_table = 192;
/// Of cholesky a row waits for all that it needs before it begins: so many rows of a level in the mean make up for
/// that.
inline constexpr int64_t least_level_of_cholesky = 512;
/// A row looks for its few entries sooner than it reads a table where few others are under way at once.
inline constexpr int64_t least_level_of_short_rows = 32, short_row_of_lu = 5;
/// What tables may take for an entry of the factors.
inline constexpr int64_t most_table_bytes = 48;

/// Tables beside longer rows: so few of these, so few without a table, and how much one of those may look at, which a
/// warp does, and all together for each entry of the factors.
inline constexpr int64_t rows_of_a_longer_one = 512, rows_of_another = 64, most_of_another = 4096, looks_an_entry = 2;

/// Rows that take as much longer if all have tables, of four or six entries of a lane, as a level with a row without
/// one does if it is waited for.
inline constexpr int64_t rows_of_a_level_of_four = 2000, rows_of_a_level_of_six = 800;

/// Four rows a warp, or eight: so many rows of a level and so few entries of a row in the mean, and so few in the
/// longest with a table.
inline constexpr int64_t least_level_of_four = 3000, row_of_four = 12, least_level_of_eight = 1024, row_of_eight = 4;
inline constexpr int longest_beside_several = 64;

/// Where the table of each row begins.
struct TableSpace {
  Buffer starts;  // int64_t[rows + 1], words
  int64_t words = 0;
  int longest = 0;  // row with a table
  Buffer others;    // uint8_t[rows], not 0: the row has none; or nothing
};

template <class I, class O>
FactorRows<I, O> rows_of_factors(const Desc& desc) {
  return {desc.factors.offsets->as<O>(), desc.factors.diagonal->as<O>(), desc.factors.indices->as<I>()};
}

/// How many levels have rows of more than `limit` entries.
inline int64_t levels_of_longer_rows(const Desc& desc, Queue& queue, int limit) {
  const std::shared_ptr<const Levels> levels = levels_of(desc, queue);
  const int64_t n = desc.A.rows;
  const Buffer marks(Memory::in_order(desc.memory), Space::device,
                     static_cast<size_t>(levels->count + 2) * sizeof(uint32_t));
  gpu::clear_words(queue, marks.data(), marks.bytes());
  dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto pair) {
    using P = decltype(pair);
    using I = typename P::ordinal;
    using O = typename P::offset;
    gpu::launch_over(queue, n,
                     MarkLevelsOfLongerRows<I, O>{desc.factors.offsets->as<O>(), levels->order->template as<I>(),
                                                  levels->device_starts->template as<I>(), n, levels->count,
                                                  static_cast<O>(limit), marks.as<uint32_t>()});
  });
  return gpu::read_back<uint32_t>(queue, marks.data());
}

/// Words of each row's table where a few rows have none, or nothing.
template <Form form>
Buffer words_beside_others(const Desc& desc, Queue& queue, TableFacts* facts, TableFacts found, TableSpace& space) {
  const int64_t n = desc.A.rows;
  if (found.longest <= many_lanes || found.over_many * rows_of_a_longer_one > n) return {};
  const int limit = found.over_few * rows_of_a_longer_one <= n ? few_lanes : many_lanes;
  if (found.longest <= longest_row_with_table &&
      n <= levels_of_longer_rows(desc, queue, limit) *
               (found.longest <= 4 * 32 ? rows_of_a_level_of_four : rows_of_a_level_of_six))
    return {};
  const auto array = [&](size_t bytes) { return Buffer(Memory::in_order(desc.memory), Space::device, bytes); };
  Buffer counts = array(static_cast<size_t>(n) * sizeof(uint32_t)), others = array(static_cast<size_t>(n + 7) / 8 * 8);
  dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto pair) {
    using P = decltype(pair);
    using Count = CountTableWordsBesideOthers<form, typename P::ordinal, typename P::offset>;
    gpu::launch(queue, gpu::blocks_for(n, Count::threads / Count::lanes), Count::threads, 0,
                Count{rows_of_factors<typename P::ordinal, typename P::offset>(desc), n, limit, counts.as<uint32_t>(),
                      others.as<uint8_t>(), facts});
  });
  found = gpu::read_back<TableFacts>(queue, facts);
  if (found.others * rows_of_another > n || found.heaviest > most_of_another ||
      found.looks > static_cast<unsigned long long>(looks_an_entry * desc.factors.nnz))
    return {};
  space.longest = limit;
  space.others = std::move(others);
  return counts;
}

template <Form form>
std::shared_ptr<const TableSpace> table_space(const Desc& desc, Queue& queue) {
  if (!desc.found_tables) {
    auto space = std::make_shared<TableSpace>();
    const int64_t n = desc.A.rows;
    const auto array = [&](size_t bytes) { return Buffer(Memory::in_order(desc.memory), Space::device, bytes); };
    struct Counted {
      int64_t words;
      TableFacts facts;
    };
    space->starts = array(static_cast<size_t>(n) * sizeof(int64_t) + sizeof(Counted));
    Buffer counts = array(static_cast<size_t>(n) * sizeof(uint32_t));
    auto* const starts = space->starts.as<int64_t>();
    auto* const facts = &reinterpret_cast<Counted*>(starts + n)->facts;  // read in one go
    gpu::clear_words(queue, facts, sizeof *facts);
    dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto pair) {
      using P = decltype(pair);
      using I = typename P::ordinal;
      using O = typename P::offset;
      gpu::launch_over(queue, n,
                       CountTableWords<form, I, O>{rows_of_factors<I, O>(desc), n, counts.as<uint32_t>(), facts});
    });
    const auto found = gpu::exclusive_scan_and_read<Counted>(queue, counts.as<uint32_t>(), starts, n, starts + n);
    space->words = found.words;
    space->longest = found.facts.longest;
    if (Buffer fewer = words_beside_others<form>(desc, queue, facts, found.facts, *space); fewer.data() != nullptr) {
      counts = std::move(fewer);
      space->words = gpu::exclusive_scan_total(queue, counts.as<uint32_t>(), starts, n);
    }
    desc.found_tables = std::move(space);
  }
  return std::static_pointer_cast<const TableSpace>(desc.found_tables);
}

template <class E, Form form, class I, class O>
class TablesKernel final : public Kernel {
 public:
  TablesKernel(const Desc& desc, Queue& queue)
      : factors_(desc.factors),
        rule_(desc.pivots),
        found_(desc.memory, queue),
        levels_(levels_of(desc, queue)),
        rows_(desc.A.rows) {
    const std::shared_ptr<const TableSpace> space = table_space<form>(desc, queue);
    longest_ = space->longest;
    const auto pays = [&](int64_t least_level, int64_t row) {
      return longest_ <= longest_beside_several && rows_ >= least_level * levels_->count &&
             desc.factors.nnz <= row * rows_;
    };
    lanes_log2_ = pays(least_level_of_eight, row_of_eight) ? 2 : pays(least_level_of_four, row_of_four) ? 3 : 5;
    build_tables(desc, queue, *space);
    gpu::prepare<BeginPrograms>(queue);
    with_slots([&]<class Functor>(Functor) { gpu::prepare<Functor>(queue); });
  }

  void execute(Queue& queue, const Args& args) override {
    const auto common = program_factors<E, I, O>(factors_, rule_, found_, records_, words_, groups_, args);
    begin_programs(queue, common.values, args.factors.nnz, common.ticket);
    with_slots([&]<class Functor>(Functor functor) {
      static_cast<ProgramFactors<E, I, O>&>(functor) = common;
      functor.indices = static_cast<const I*>(args.factors.indices);
      if constexpr (requires { functor.others; }) set_case(functor.others, factors_, rule_, found_, others_, args);
      gpu::launch(queue, gpu::blocks_for(groups_, Functor::threads / 32), Functor::threads, 0, functor);
    });
  }

  size_t workspace_bytes() const override { return ticket_bytes + static_cast<size_t>(others_.entries()) * sizeof(E); }
  int64_t plan_bytes() const override {
    return static_cast<int64_t>(levels_->order->bytes() + levels_->diagonal->bytes() + found_.bytes() +
                                records_.bytes() + words_.bytes() + others_.bytes());
  }
  std::shared_ptr<const Levels> levels() const override { return levels_; }
  void describe(Info& info) const override {
    info.add("levels", levels_->count);
    info.add("table_bytes", static_cast<int64_t>(words_.bytes()));
    info.add("longest_row", int64_t{longest_});
    info.add("rows_without_table", others_.count());
    info.add("lanes_a_row", int64_t{1} << lanes_log2_);
  }
  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    return found_.check(queue, where, count);
  }

 private:
  template <class F>
  void with_slots(const F& f) const {
    if (lanes_log2_ == 2 && others_.count() > 0)
      f(FactorShortByTables<E, form, I, O, 2, true>{});
    else if (lanes_log2_ == 2)
      f(FactorShortByTables<E, form, I, O, 2, false>{});
    else if (lanes_log2_ == 3 && others_.count() > 0)
      f(FactorShortByTables<E, form, I, O, 3, true>{});
    else if (lanes_log2_ == 3)
      f(FactorShortByTables<E, form, I, O, 3, false>{});
    else if (others_.count() > 0 && longest_ <= 32)
      f(FactorByTables<E, form, I, O, 1, true>{});
    else if (others_.count() > 0)
      f(FactorByTables<E, form, I, O, 2, true>{});
    else if (longest_ <= 32)
      f(FactorByTables<E, form, I, O, 1, false>{});
    else if (longest_ <= 64)
      f(FactorByTables<E, form, I, O, 2, false>{});
    else if (longest_ <= 128)
      f(FactorByTables<E, form, I, O, 4, false>{});
    else
      f(FactorByTables<E, form, I, O, 6, false>{});
  }

  template <class X>
  static Buffer device_array(const Desc& desc, size_t count) {
    return Buffer(Memory::in_order(desc.memory), Space::device, count * sizeof(X));
  }

  void build_tables(const Desc& desc, Queue& queue, const TableSpace& space) {
    const FactorRows<I, O> rows = rows_of_factors<I, O>(desc);
    const auto* const without = space.others.data() != nullptr ? space.others.template as<uint8_t>() : nullptr;
    const auto* const starts = space.starts.template as<int64_t>();
    words_ = device_array<uint32_t>(desc, static_cast<size_t>(space.words));
    using Build = BuildTables<form, I, O>;
    const int room = (longest_ + 3) / 4 * 4, slots = ColumnTable<I>::slots_for(longest_);
    const size_t shared = Build::row_bytes(room, slots) * (Build::threads / 32);
    gpu::prepare<Build>(queue, shared);
    gpu::launch(queue, gpu::blocks_for(rows_, Build::threads / 32), Build::threads, shared,
                Build{rows, rows_, room, slots, starts, words_.template as<uint32_t>(), without});

    set_records(desc, queue, rows, starts, without);
    if (without != nullptr) others_ = WorkspaceRows<I, O>(desc, queue, IsOther{without});
  }

  /// Levels begin at whole warps. Blocks.
  void set_records(const Desc& desc, Queue& queue, const FactorRows<I, O>& rows, const int64_t* starts,
                   const uint8_t* others) {
    const int each = 32 >> lanes_log2_, limit = 2 << lanes_log2_;
    const I* const order = levels_->order->template as<I>();
    const auto level_count = static_cast<size_t>(levels_->count);
    const bool some_alone = each > 1 && (others != nullptr || longest_ > limit);
    const Buffer before = device_array<int64_t>(desc, some_alone ? static_cast<size_t>(rows_) + 1 : 0);
    std::vector<int64_t> alone(level_count + 1);
    if (some_alone) {
      const Buffer counts = device_array<uint32_t>(desc, static_cast<size_t>(rows_)),
                   of_levels = device_array<int64_t>(desc, alone.size());
      gpu::launch_over(queue, rows_,
                       CountAlone<I, O>{{rows, others, static_cast<O>(limit)}, order, rows_, counts.as<uint32_t>()});
      gpu::exclusive_scan(queue, counts.as<uint32_t>(), before.as<int64_t>(), rows_);
      gpu::launch_over(queue, static_cast<int64_t>(alone.size()),
                       CountAloneOfLevels<I>{before.as<int64_t>(), levels_->device_starts->template as<I>(),
                                             static_cast<int64_t>(alone.size()), of_levels.as<int64_t>()});
      queue.copy(alone.data(), of_levels.data(), of_levels.bytes());
    }
    std::vector<TableLevel> levels(level_count + 1);
    for (size_t l = 1; l <= level_count; ++l) {
      const int64_t own = alone[l] - alone[l - 1], shared = levels_->starts[l] - levels_->starts[l - 1] - own;
      levels[l] = {levels_->starts[l], levels[l - 1].records + (own + (shared + each - 1) / each) * each, alone[l]};
    }
    const int64_t records = levels.back().records;
    groups_ = records / each;
    const Buffer device_levels = device_array<TableLevel>(desc, levels.size()),
                 ticket = device_array<char>(desc, ticket_bytes);
    queue.copy(device_levels.data(), levels.data(), device_levels.bytes());
    records_ = device_array<ProgramRow<I, O>>(desc, static_cast<size_t>(records));
    if (records > rows_)
      begin_programs(queue, records_.template as<uint32_t>(), static_cast<int64_t>(records_.bytes() / sizeof(uint32_t)),
                     ticket.template as<unsigned>());
    gpu::launch_over(queue, rows_,
                     SetTableRows<I, O>{rows, order, device_levels.template as<TableLevel>(), rows_, levels_->count,
                                        starts, some_alone ? before.as<int64_t>() : nullptr, others, each,
                                        records_.template as<ProgramRow<I, O>>()});
  }

  FactorPattern factors_;
  Rule<RealPart<E>> rule_;
  FoundRows found_;
  std::shared_ptr<const Levels> levels_;
  int64_t rows_;
  int64_t groups_ = 0;  // warps' rows
  int longest_ = 0, lanes_log2_ = 5;
  Buffer words_, records_;
  WorkspaceRows<I, O> others_;  // without a table
};

template <Form form>
std::unique_ptr<Kernel> make_tables(const Desc& desc, Queue& queue) {
  return make_kernel<TablesKernel, form>(desc, queue);
}

/// Finds levels and the tables' size.
template <Form form>
std::string tables_unsupported(const Desc& desc) {
  if (desc.A.rows == 0) return "there are no rows";
  return reason_of(desc, [&](Queue& queue) -> std::string {
    const bool are_short = desc.factors.nnz < short_row_of_lu * desc.A.rows;
    std::string narrow = narrow_levels(desc, queue,
                                       form == Form::cholesky ? least_level_of_cholesky
                                       : are_short            ? least_level_of_short_rows
                                                              : least_level_for<form>(desc));
    if (!narrow.empty()) return narrow;
    if (std::string reason = inodes_unsupported<form>(desc, queue); !reason.empty()) return reason;
    const std::shared_ptr<const TableSpace> space = table_space<form>(desc, queue);
    const int64_t bytes = 4 * space->words;
    if (space->longest > longest_row_with_table)
      return cat("takes rows of at most ", longest_row_with_table, " entries, but for few, the factors have one of ",
                 space->longest);
    if (bytes > most_table_bytes * desc.factors.nnz || bytes >= 4 * int64_t{UINT32_MAX})
      return cat("its tables would take ", bytes, " bytes, expected at most ", most_table_bytes,
                 " for each entry of the factors, and 16 GiB");
    return {};
  });
}

}  // namespace gpu_parts
}  // namespace kkc::ilu
