// spmv, gpu_transpose_scatter: y = beta y, then every entry of A is added to y atomically; rows are binned by length.
// Where rows are very uneven the columns of the most entries are summed in shared memory first. Any strides. Sums
// depend on the order in which blocks run.
#pragma once

#include "spmv_gpu_driver.hpp"

namespace kkc::spmv {
namespace gpu_parts {

/// The columns that hold most entries, and the matrix's columns with these renamed.
template <class I>
class HubPlan {
 public:
  HubPlan() = default;
  HubPlan(const Desc& desc, Queue& queue, int32_t capacity) {
    const PlainColumns<I> columns = columns_of<I>(desc.A);
    const int64_t nnz = desc.A.nnz, cols = desc.A.cols;
    // What must be zero comes first.
    Parts parts;
    const size_t facts_at = parts.add<HubFacts>(1), classes_at = parts.add<int32_t>(count_classes),
                 counts_at = parts.add<int32_t>(cols), zero_bytes = parts.bytes(), names_at = parts.add<I>(cols),
                 hubs_at = parts.add<I>(capacity);
    const Buffer scratch(desc.memory, Space::device, parts.bytes());
    fill_words(queue, scratch, 0, zero_bytes);
    char* data = scratch.as<char>();
    auto* facts = reinterpret_cast<HubFacts*>(data + facts_at);
    auto* histogram = reinterpret_cast<int32_t*>(data + classes_at);
    auto* counts = reinterpret_cast<int32_t*>(data + counts_at);
    auto* names = reinterpret_cast<I*>(data + names_at);
    auto* hubs = reinterpret_cast<I*>(data + hubs_at);
    const unsigned grid = static_cast<unsigned>(8 * queue.concurrency());
    // A sample: a sum that is kept in the wrong place costs time only.
    const int64_t every = std::max<int64_t>(1, nnz / gpu_tuning::hub_sample);
    gpu::launch(queue, std::min(grid, gpu::blocks_for(nnz, every * CountColumns<I>::threads)), CountColumns<I>::threads,
                0, CountColumns<I>{columns, nnz, every, counts});
    gpu::launch(queue, grid, ClassifyColumns::threads, 0, ClassifyColumns{counts, cols, histogram});
    gpu::launch(queue, 1, ChooseHubs::threads, 0, ChooseHubs{histogram, capacity, facts});
    launch_over(queue, cols, NameHubs<I>{counts, cols, names, hubs, facts});
    const auto found = read_back<HubFacts>(queue, facts);
    const double entries = static_cast<double>(found.entries) * static_cast<double>(every);
    if (found.used == 0 || entries < gpu_tuning::hub_share * static_cast<double>(nnz)) return;
    count_ = found.used;
    slots_ = device_array<I>(desc, nnz);
    hubs_ = device_array<I>(desc, count_);
    queue.copy(hubs_.data(), hubs, hubs_.bytes());
    launch_over(queue, nnz, RenameColumns<I>{columns, nnz, names, slots_.template as<I>()});
  }
  Hubs<I> hubs() const { return {slots_.template as<I>(), hubs_.template as<I>(), count_}; }

 private:
  Buffer slots_, hubs_;
  int32_t count_ = 0;
};

template <class T, class I, class O>
class TransposeScatterKernel final : public Kernel {
 public:
  using Plain = ScatterBinned<T, I, O, false, 2, 256>;
  using Gathering = ScatterBinned<T, I, O, true, 4, 1024>;

  TransposeScatterKernel(const Desc& desc, Queue& queue)
      : scaling_(queue),
        conjugate_(conjugates_values(desc)),
        plan_(desc, queue, gpu_tuning::longest_short_row, 2 * gpu_tuning::row_segment, true),
        entries_a_lane_(gpu_tuning::scattered_entries_a_lane(mean_row(desc), irregular(desc))) {
    const bool uneven = static_cast<double>(desc.rows.longest) > gpu_tuning::hubs_from_factor * mean_row(desc);
    if (uneven && desc.A.nnz > 0 && counts<int32_t>(desc.A.cols)) {
      int room = 0;
      gpu::check(gpu::largest_shared(room, queue.device_id()), "reading the shared memory's size");
      hubs_ =
          HubPlan<I>(desc, queue, std::min(gpu_tuning::hub_capacity, (room - 1024) / static_cast<int32_t>(sizeof(T))));
    }
    if (hubs_.hubs().count > 0) {
      shared_bytes_ = static_cast<size_t>(hubs_.hubs().count) * sizeof(T);
      resident_ = gpu::prepare<Gathering>(queue, shared_bytes_).blocks_per_sm * queue.concurrency();
    } else {
      gpu::prepare<Plain>(queue);
    }
  }

  void execute(Queue& queue, const Args& args) override {
    scaling_.run(queue, args);
    if (scaling_.suffices(args)) return;
    if (shared_bytes_ > 0)
      scatter<Gathering>(queue, args);
    else
      scatter<Plain>(queue, args);
  }
  void describe(Info& info) const override {
    plan_.describe(info);
    info.add("hub_columns", int64_t{hubs_.hubs().count});
  }

 private:
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
    f.blocks = plan_.place(f, entries_a_lane_);
    const unsigned grid = resident_ > 0 ? std::min(f.blocks, static_cast<unsigned>(resident_)) : f.blocks;
    gpu::launch(queue, grid, F::threads, shared_bytes_, f);
  }

  Scaling<T> scaling_;
  bool conjugate_;
  RowPlan<I, O> plan_;
  HubPlan<I> hubs_;
  size_t shared_bytes_ = 0;
  int resident_ = 0;
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
