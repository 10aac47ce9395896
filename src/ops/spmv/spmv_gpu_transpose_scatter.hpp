// spmv, gpu_transpose_scatter: y = beta y, then every entry of A is added to y atomically; rows are binned by length.
// Where rows are very uneven the columns of the most entries are summed in shared memory first; where neighbouring rows
// share columns, a warp's rows are added up first. Any strides. Sums depend on the order in which blocks run.
#pragma once

#include "spmv_gpu_driver.hpp"

namespace kkc::spmv {
namespace gpu_parts {

/// The columns that hold most entries, and the matrix's columns with these renamed, in memory of a RowPlan's.
template <class I>
class HubPlan {
 public:
  /// capacity: how many there may be; 0: they are not looked for.
  HubPlan(const Desc& desc, int32_t capacity) : capacity_(capacity) {
    if (capacity == 0) return;
    facts_at_ = zeros_.add<HubFacts>(1);
    classes_at_ = zeros_.add<int32_t>(count_classes);
    counts_at_ = zeros_.add<int32_t>(desc.A.cols);
    names_at_ = others_.add<I>(desc.A.cols);
    hubs_at_ = others_.add<I>(capacity);
    slots_at_ = others_.add<I>(desc.A.nnz);
  }
  size_t zero_bytes() const { return zeros_.bytes(); }
  size_t other_bytes() const { return others_.bytes(); }

  /// Blocks.
  void find(const Desc& desc, Queue& queue, char* zeros, char* others) {
    if (capacity_ == 0) return;
    const PlainColumns<I> columns = columns_of<I>(desc.A);
    const int64_t nnz = desc.A.nnz, cols = desc.A.cols;
    auto* facts = reinterpret_cast<HubFacts*>(zeros + facts_at_);
    auto* histogram = reinterpret_cast<int32_t*>(zeros + classes_at_);
    auto* counts = reinterpret_cast<int32_t*>(zeros + counts_at_);
    auto* names = reinterpret_cast<I*>(others + names_at_);
    auto* hubs = reinterpret_cast<I*>(others + hubs_at_);
    auto* slots = reinterpret_cast<I*>(others + slots_at_);
    // A sample: a sum that is kept in the wrong place costs time only.
    const int64_t every = gpu_tuning::hub_sample_every(nnz);
    const double share = gpu_tuning::hub_share * static_cast<double>(nnz) / static_cast<double>(every);
    const auto least = static_cast<unsigned long long>(share) + 1;
    gpu::launch(queue,
                std::min(static_cast<unsigned>(8 * queue.concurrency()),
                         gpu::blocks_for(nnz, every * CountColumns<I>::threads)),
                CountColumns<I>::threads, 0, CountColumns<I>{columns, nnz, every, counts});
    gpu::launch(queue,
                std::min(static_cast<unsigned>(2 * queue.concurrency()),
                         gpu::blocks_for(cols, int64_t{4} * ClassifyColumns::threads)),
                ClassifyColumns::threads, 0, ClassifyColumns{counts, cols, histogram, capacity_, facts});
    launch_over(queue, cols, NameHubs<I>{counts, cols, names, hubs, facts});
    const RenameColumns<I> rename{columns, nnz, names, facts, least, slots};
    gpu::launch(queue, gpu::blocks_for(nnz, int64_t{rename.threads} * rename.batch), rename.threads, 0, rename);
    const auto found = read_back<HubFacts>(queue, facts);
    if (found.used > 0 && found.entries >= least) hubs_ = {slots, hubs, found.used};
  }
  const Hubs<I>& hubs() const { return hubs_; }

 private:
  int32_t capacity_;
  Parts zeros_, others_;
  size_t facts_at_ = 0, classes_at_ = 0, counts_at_ = 0, names_at_ = 0, hubs_at_ = 0, slots_at_ = 0;
  Hubs<I> hubs_{};
};

template <class T, class I, class O>
class TransposeScatterKernel final : public Kernel {
 public:
  using Plain = ScatterBinned<T, I, O, false, 2, 256>;
  using Together = ScatterBinned<T, I, O, false, 4, 256, true>;
  using Gathering = ScatterBinned<T, I, O, true, 4, 1024>;
  using GatheringFew = ScatterBinned<T, I, O, true, 4, 256>;  // fewer threads take turns at a hub

  TransposeScatterKernel(const Desc& desc, Queue& queue)
      : scaling_(queue),
        conjugate_(conjugates_values(desc)),
        hubs_(desc, most_hubs(desc, queue)),
        plan_(desc, queue, gpu_tuning::longest_short_row, 2 * gpu_tuning::row_segment, true,
              hubs_.zero_bytes() + sizeof(Likeness), hubs_.other_bytes()),
        mean_(mean_row(desc)),
        entries_a_lane_(gpu_tuning::scattered_entries_a_lane(mean_row(desc), irregular(desc))) {
    hubs_.find(desc, queue, plan_.zeros(), plan_.others());
    if (hubs_.other_bytes() > 0 && hubs_.hubs().count == 0)  // a plan without their room
      plan_ = {desc, queue, gpu_tuning::longest_short_row, 2 * gpu_tuning::row_segment, true, sizeof(Likeness)};
    if (hubs_.hubs().count > 0) {
      shared_bytes_ = static_cast<size_t>(hubs_.hubs().count) * sizeof(T);
      is_small_ = is_small(desc, queue);
      resident_ =
          (is_small_ ? gpu::prepare<GatheringFew>(queue, shared_bytes_) : gpu::prepare<Gathering>(queue, shared_bytes_))
              .blocks_per_sm *
          queue.concurrency();
    } else if (neighbours_alike(desc, queue)) {
      together_ = true;
      gpu::prepare<Together>(queue);
    } else {
      gpu::prepare<Plain>(queue);
    }
  }

  void execute(Queue& queue, const Args& args) override {
    scaling_.run(queue, args);
    if (scaling_.suffices(args)) return;
    if (shared_bytes_ > 0 && is_small_)
      scatter<GatheringFew>(queue, args);
    else if (shared_bytes_ > 0)
      scatter<Gathering>(queue, args);
    else if (together_)
      scatter<Together>(queue, args);
    else
      scatter<Plain>(queue, args);
  }
  void describe(Info& info) const override {
    plan_.describe(info);
    info.add("hub_columns", int64_t{hubs_.hubs().count});
    info.add("rows_alike", int64_t{together_});
  }

 private:
  static int32_t most_hubs(const Desc& desc, const Queue& queue) {
    const bool uneven = static_cast<double>(desc.rows.longest) > gpu_tuning::hubs_from_factor * mean_row(desc);
    if (!uneven || desc.A.nnz == 0 || !counts<int32_t>(desc.A.cols)) return 0;
    int room = 0;
    gpu::check(gpu::largest_shared(room, queue.device_id()), "reading the shared memory's size");
    const int32_t most = std::min(gpu_tuning::hub_capacity, (room - 1024) / static_cast<int32_t>(sizeof(T)));
    if (!is_small(desc, queue)) return most;
    // Each block adds all of its sums to y in the end, which are to be few beside its entries.
    const int64_t blocks = std::min<int64_t>(queue.concurrency(), desc.A.nnz / 1024 + 1);
    return static_cast<int32_t>(std::min<int64_t>(most, desc.A.nnz / (gpu_tuning::entries_of_a_hub * blocks)));
  }
  static bool is_small(const Desc& desc, const Queue& queue) {
    return desc.A.nnz <= gpu_tuning::entries_of_few_blocks * queue.concurrency();
  }
  /// Blocks.
  bool neighbours_alike(const Desc& desc, Queue& queue) const {
    if (mean_row(desc) < gpu_tuning::alike_from_mean) return false;
    auto* likeness = reinterpret_cast<Likeness*>(plan_.zeros());
    const int64_t every = std::max<int64_t>(1, desc.A.rows / gpu_tuning::alike_sample);
    launch_over(queue, gpu::blocks_for(desc.A.rows, every),
                CompareNeighbours<I, O>{offsets_of<O>(desc.A), columns_of<I>(desc.A), every, likeness});
    const auto found = read_back<Likeness>(queue, likeness);
    return found.same_column > gpu_tuning::alike_share * found.compared;
  }
  template <class F>
  void scatter(Queue& queue, const Args& args) const {
    F f{rows_of<T, O>(args.A, conjugate_),
        columns_of<I>(args.A),
        plan_.permutation(),
        plan_.longs(),
        hubs_.hubs(),
        vectors_of<T>(args.x, args.y),
        factor<T>(args.alpha),
        0,
        0,
        {}};
    f.blocks = together_ ? plan_.place(f, gpu_tuning::alike_entries_a_lane(mean_), gpu_tuning::alike_lanes_log2)
                         : plan_.place(f, entries_a_lane_);
    const unsigned grid = resident_ > 0 ? std::min(f.blocks, static_cast<unsigned>(resident_)) : f.blocks;
    gpu::launch(queue, grid, F::threads, shared_bytes_, f);
  }

  Scaling<T> scaling_;
  bool conjugate_;
  HubPlan<I> hubs_;  // before plan_, which has its arrays
  RowPlan<I, O> plan_;
  size_t shared_bytes_ = 0;
  int resident_ = 0;
  bool together_ = false, is_small_ = false;
  double mean_;
  int entries_a_lane_;
};

inline std::string transpose_scatter_unsupported(const Desc& desc) {
  if (!transposes(desc.op)) return "takes op T and H only";
  if (desc.vectors != 1) return "takes one vector only";
  if (!rows_fit_ordinal(desc)) return "more rows than the index type counts";
  return "";
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_transpose_scatter() {
  return {{"gpu_transpose_scatter"},
          false,
          gpu_parts::transpose_scatter_unsupported,
          gpu_parts::make_typed<gpu_parts::TransposeScatterKernel>};
}

}  // namespace kkc::spmv
