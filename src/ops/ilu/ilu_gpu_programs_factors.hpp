// The gpu_programs of ilu and ic: plan and execute, for devices on which the lanes of a warp make progress by
// themselves.
#pragma once

#include "ilu_gpu_factors.hpp"
#include "ilu_gpu_programs_find.hpp"
#include "ilu_gpu_programs_kernels.hpp"

namespace kkc::ilu {
namespace gpu_parts {

/// Beyond so many times the mean level's rows in the widest level, gates tell nothing.
inline constexpr int64_t uneven_levels = 8;

/// Every bit of `count` numbers set, and the ticket at zero.
template <class E>
void begin_programs(Queue& queue, E* values, int64_t count, unsigned* ticket) {
  const int64_t words = count * static_cast<int64_t>(sizeof(E) / sizeof(uint32_t));
  gpu::launch(queue, std::min(gpu::blocks_for(words, BeginPrograms::threads * 8), 4096u), BeginPrograms::threads, 0,
              BeginPrograms{reinterpret_cast<uint32_t*>(values), words, ticket});
}

template <class E, class I, class O>
ProgramFactors<E, I, O> program_factors(const FactorPattern& factors, const Rule<RealPart<E>>& rule,
                                        const FoundRows& found, const Buffer& records, const Buffer& programs,
                                        int64_t groups, const Args& args) {
  return {records.as<ProgramRow<I, O>>(),
          programs.as<uint32_t>(),
          factors.diagonal->as<O>(),
          ilu_pattern::ValueSource<O>(factors),
          static_cast<const E*>(args.A.values),
          static_cast<E*>(const_cast<void*>(args.factors.values)),
          rule,
          found.counter(),
          static_cast<unsigned*>(args.workspace),
          groups};
}

template <class E, Form form, class I, class O>
class ProgramsKernel final : public Kernel {
  using Long = FactorLongRows<E, form, I, O>;

 public:
  ProgramsKernel(const Desc& desc, Queue& queue, std::shared_ptr<const Programs> programs)
      : factors_(desc.factors), rule_(desc.pivots), found_(desc.memory, queue), programs_(std::move(programs)) {
    levels_ = levels_of(desc, queue);
    rows_ = desc.A.rows;
    const int each = programs_->lanes > 0 ? 32 / programs_->lanes : 1;
    set_records(desc, queue, each);
    gpu::prepare<BeginPrograms>(queue);
    if (programs_->lanes > 0) {
      with_short([&]<class Functor>(Functor) { gpu::prepare<Functor>(queue); });
    } else {
      room_ = (programs_->longest + 1) / 2 * 2;
      lower_room_ = (programs_->longest_lower + 3) / 4 * 4;
      const size_t bytes = Long::row_bytes(room_, lower_room_);
      warps_ = static_cast<int>(std::clamp<size_t>(most_shared / bytes, 1, most_warps));
      shared_bytes_ = bytes * static_cast<size_t>(warps_);
      gpu::prepare<Long>(queue, shared_bytes_);
    }
  }

  void execute(Queue& queue, const Args& args) override {
    const auto common = program_factors<E, I, O>(factors_, rule_, found_, records_, programs_->words, groups_, args);
    begin_programs(queue, common.values, args.factors.nnz, common.ticket);
    if (programs_->lanes > 0) {
      with_short([&]<class Functor>(Functor functor) {
        static_cast<ProgramFactors<E, I, O>&>(functor) = common;
        functor.gates = gates_.template as<O>();
        gpu::launch(queue, gpu::blocks_for(groups_, Functor::threads / 32), Functor::threads, 0, functor);
      });
      return;
    }
    E* const inverses = reinterpret_cast<E*>(static_cast<char*>(args.workspace) + ticket_bytes);
    begin_programs(queue, inverses, rows_, common.ticket);
    Long functor{};
    static_cast<ProgramFactors<E, I, O>&>(functor) = common;
    functor.inverses = inverses;
    functor.room = room_;
    functor.lower_room = lower_room_;
    gpu::launch(queue, gpu::blocks_for(groups_, warps_), static_cast<unsigned>(warps_ * 32), shared_bytes_, functor);
  }

  size_t workspace_bytes() const override {
    return ticket_bytes + (programs_->lanes > 0 ? 0 : static_cast<size_t>(rows_) * sizeof(E));
  }
  int64_t plan_bytes() const override {
    return static_cast<int64_t>(levels_->order->bytes() + levels_->diagonal->bytes() + found_.bytes() +
                                records_.bytes() + gates_.bytes() + programs_->bytes());
  }
  std::shared_ptr<const Levels> levels() const override { return levels_; }
  void describe(Info& info) const override {
    info.add("levels", levels_->count);
    info.add("programs", programs_->count);
    info.add("program_bytes", static_cast<int64_t>(programs_->words.bytes()));
    info.add("lanes_a_row", int64_t{programs_->lanes > 0 ? programs_->lanes : 32});
    info.add("longest_row", int64_t{programs_->longest});
  }
  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    return found_.check(queue, where, count);
  }

 private:
  template <class F>
  void with_short(const F& f) const {
    if (programs_->lanes == 8)
      f(FactorShortRows<E, form, I, O, 3>{});
    else if (programs_->lanes == 16)
      f(FactorShortRows<E, form, I, O, 4>{});
    else
      f(FactorShortRows<E, form, I, O, 5>{});
  }

  /// Levels begin at whole warps.
  void set_records(const Desc& desc, Queue& queue, int each) {
    std::vector<LevelStart> starts(static_cast<size_t>(levels_->count) + 1);
    int64_t widest = 0;
    for (size_t l = 0; l < starts.size(); ++l) {
      starts[l].rows = levels_->starts[l];
      if (l == 0) continue;
      const int64_t width = starts[l].rows - starts[l - 1].rows;
      starts[l].records = starts[l - 1].records + (width + each - 1) / each * each;
      widest = std::max(widest, width);
    }
    groups_ = starts.back().records / each;
    Buffer device_starts(Memory::in_order(desc.memory), Space::device, starts.size() * sizeof(LevelStart));
    queue.copy(device_starts.data(), starts.data(), device_starts.bytes());
    records_ = Buffer(Memory::in_order(desc.memory), Space::device,
                      static_cast<size_t>(groups_ * each) * sizeof(ProgramRow<I, O>));
    if (programs_->lanes > 0 && widest * levels_->count <= uneven_levels * rows_)
      gates_ = Buffer(Memory::in_order(desc.memory), Space::device, static_cast<size_t>(groups_) * sizeof(O));
    Buffer ticket(Memory::in_order(desc.memory), Space::device, ticket_bytes);
    if (each > 1)
      begin_programs(queue, records_.template as<uint32_t>(), static_cast<int64_t>(records_.bytes() / sizeof(uint32_t)),
                     ticket.template as<unsigned>());
    gpu::launch_over(
        queue, rows_,
        SetProgramRows<I, O>{{desc.factors.offsets->template as<O>(), desc.factors.diagonal->template as<O>(),
                              desc.factors.indices->template as<I>()},
                             levels_->order->template as<I>(),
                             device_starts.template as<LevelStart>(),
                             rows_,
                             levels_->count,
                             programs_->of_row.template as<int32_t>(),
                             programs_->starts.template as<uint32_t>(),
                             each,
                             records_.template as<ProgramRow<I, O>>(),
                             gates_.template as<O>()});
  }

  FactorPattern factors_;
  Rule<RealPart<E>> rule_;
  FoundRows found_;
  std::shared_ptr<const Programs> programs_;
  std::shared_ptr<const Levels> levels_;
  int64_t rows_ = 0, groups_ = 0;
  Buffer records_, gates_;
  int32_t room_ = 0, lower_room_ = 0;  // long rows
  int warps_ = 1;
  size_t shared_bytes_ = 0;
};

template <Form form>
std::shared_ptr<const Programs> programs_of(const Desc& desc, Queue& queue) {
  if (!desc.found) {
    auto programs = std::make_shared<Programs>();
    dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto pair) {
      using P = decltype(pair);
      find_programs<form, typename P::ordinal, typename P::offset>(queue, desc, *programs);
    });
    desc.found = std::move(programs);
  }
  return std::static_pointer_cast<const Programs>(desc.found);
}

template <Form form>
std::unique_ptr<Kernel> make_programs(const Desc& desc, Queue& queue) {
  return make_kernel<ProgramsKernel, form>(desc, queue, programs_of<form>(desc, queue));
}

/// Rows of one after the other would wait for all that a part of their program needs, not only for what is next. Rows
/// of lu of so many entries in the mean that have narrow levels are told sooner by gpu_sync_free.
template <Form form>
int64_t least_level_for(const Desc& desc) {
  constexpr int64_t least = 4, least_of_chains = 160, shortest = 6, longest = 12;
  const int64_t rows = desc.A.rows, entries = desc.factors.nnz;
  const bool chains = !desc.named && form == Form::lu && entries >= shortest * rows && entries <= longest * rows;
  return chains ? least_of_chains : least;
}

/// Finds levels and programs, since only they tell.
template <Form form>
std::string programs_unsupported(const Desc& desc) {
  if (desc.A.rows == 0) return "there are no rows";
  if (desc.A.rows > INT32_MAX) return cat("takes at most ", INT32_MAX, " rows, A has ", desc.A.rows);
  if (std::string reason = long_rows_unsupported(desc); !reason.empty()) return reason;
  // Their programs take longest to find, and save nothing.
  constexpr int64_t most = 224;
  if (desc.factors.nnz > most * desc.A.rows)
    return cat("takes rows of at most ", most, " entries on average, the factors have ", desc.factors.nnz, " in ",
               desc.A.rows);
  // Nor where rows are unlike each other.
  constexpr int64_t longer = 16;
  if (desc.longest_row > longer && desc.longest_row * desc.A.rows > longer * desc.factors.nnz)
    return cat("takes rows at most ", longer, " times as long as the mean, the factors may have one of ",
               desc.longest_row, " entries beside ", desc.factors.nnz, " in ", desc.A.rows, " rows");
  return reason_of(desc, [&](Queue& queue) {
    std::string reason = narrow_levels(desc, queue, least_level_for<form>(desc));
    if (reason.empty()) reason = inodes_unsupported<form>(desc, queue);
    return reason.empty() ? programs_of<form>(desc, queue)->unsupported : reason;
  });
}

}  // namespace gpu_parts
}  // namespace kkc::ilu
