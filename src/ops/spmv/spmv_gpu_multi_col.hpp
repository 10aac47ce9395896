// spmv, gpu_multi_col: vectors one after the other, read in place. For short rows whose neighbours have neighbouring
// columns, which a sample of the rows shows; the few long rows that may be among them are cut into segments.
#pragma once

#include "spmv_gpu_driver.hpp"
#include "spmv_gpu_multi_col_kernels.hpp"

namespace kkc::spmv {
namespace gpu_parts {

template <class T, class I, class O>
class MultiColKernel final : public Kernel {
 public:
  using Multiply = MultiCol<T, I, O, 4, 64>;
  using Segments = ColumnSegments<T, I, O, 4>;

  MultiColKernel(const Desc& desc, Queue& queue)
      : scaling_(queue),
        conjugate_(conjugates_values(desc)),
        vectors_(desc.vectors),
        longest_(static_cast<int32_t>(std::min(desc.rows.longest, int64_t{gpu_tuning::longest_column_row}))),
        plan_(desc, queue, gpu_tuning::longest_column_row, gpu_tuning::row_segment, false) {
    while (width_log2_ < 5 && (1 << width_log2_) < longest_) ++width_log2_;
    gpu::prepare<Multiply>(queue, shared_bytes());
    gpu::prepare<Segments>(queue);
    gpu::prepare<AddSegments<T, I, O>>(queue);
  }

  void execute(Queue& queue, const Args& args) override {
    if (scaling_.suffices(args)) return scaling_.run(queue, args);
    const Rows<T, O> A = rows_of<T, O>(args.A, conjugate_);
    const PlainColumns<I> columns = columns_of<I>(args.A);
    const Vectors<T> v = vectors_of<T>(args.x, args.y);
    const Coefficients<T> c = coefficients_of<T>(args);
    const auto& longs = plan_.longs();
    T* partial = static_cast<T*>(args.workspace);
    gpu::launch(queue, dim3(static_cast<unsigned>(longs.segments), gpu::blocks_for(v.count, Segments::slab)),
                Segments::threads, 0, Segments{A, columns, longs, partial, v, c.alpha});
    launch_over(queue, args.A.rows, Multiply{A, columns, v, c, longest_, longest_ | 1, width_log2_}, shared_bytes());
    launch_over(queue, longs.count * v.count * 32, AddSegments<T, I, O>{A, longs, partial, v, c});
  }
  size_t workspace_bytes() const override { return static_cast<size_t>(plan_.longs().segments * vectors_) * sizeof(T); }
  void describe(Info& info) const override { plan_.describe(info); }

 private:
  size_t shared_bytes() const {
    return static_cast<size_t>(Multiply::threads) * static_cast<size_t>(longest_ | 1) * (sizeof(T) + sizeof(I));
  }

  Scaling<T> scaling_;
  bool conjugate_;
  int64_t vectors_;
  int32_t longest_, width_log2_ = 0;
  RowPlan<I, O> plan_;
};

/// Whether neighbouring rows have neighbouring columns, of a sample.
template <class I, class O>
bool columns_are_near(const Desc& desc, Queue& queue) {
  Buffer spread = device_array<Spread>(desc, 1);
  fill_words(queue, spread, 0);
  const int64_t groups = (desc.A.rows + 31) / 32;
  const auto sector = static_cast<int32_t>(std::max<size_t>(32 / size_of(desc.A.scalar), 1));
  MeasureSpread<I, O> measure{offsets_of<O>(desc.A),
                              columns_of<I>(desc.A),
                              spread.as<Spread>(),
                              sector,
                              gpu_tuning::longest_column_row,
                              std::max<int64_t>(1, groups / 1024)};
  launch_over(queue, std::min<int64_t>(groups, 1024) * 32, measure);
  const auto found = read_back<Spread>(queue, spread.data());
  const double least = static_cast<double>(found.entries) / sector;
  return static_cast<double>(found.sectors) <= gpu_tuning::most_spread * least;
}

inline std::string multi_col_unsupported(const Desc& desc) {
  if (transposes(desc.op)) return "takes op N and conj only";
  if (desc.vectors < 2) return "takes many vectors";
  if (!contiguous(desc.x) || !contiguous(desc.y)) return "takes vectors whose elements are contiguous";
  if (desc.x.strides[1] == 1 && desc.x.extents[0] > 1) return "takes vectors one after the other";
  if (!rows_fit_ordinal(desc)) return "more rows than the index type counts";
  int64_t long_rows = 0, long_entries = 0;
  for (int i = 0; i < 40; ++i) {
    if (int64_t{1} << i <= gpu_tuning::longest_column_row) continue;
    long_rows += desc.rows.histogram[i];
    long_entries += desc.rows.nonzeros[i];
  }
  if (long_rows > desc.A.rows / 1024 || 2 * long_entries > desc.A.nnz)
    return cat("takes rows of at most ", gpu_tuning::longest_column_row, " entries, and few others");
  if (desc.A.nnz == 0) return "there is nothing to multiply";
  return refused(
      [&](Queue& queue) {
        bool near = false;
        dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto p) {
          using P = decltype(p);
          near = columns_are_near<typename P::ordinal, typename P::offset>(desc, queue);
        });
        return near ? "" : "neighbouring rows have columns far from one another";
      },
      desc);
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_multi_col() {
  return {{"gpu_multi_col"}, true, gpu_parts::multi_col_unsupported, gpu_parts::make_typed<gpu_parts::MultiColKernel>};
}

}  // namespace kkc::spmv
