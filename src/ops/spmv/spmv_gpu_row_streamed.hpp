// spmv, gpu_row_streamed: for uneven, mostly short rows: tiles of whole rows whose entries a block reads as one run and
// adds up in shared memory; long rows are cut into segments whose sums are added in order. Any strides.
#pragma once

#include "spmv_gpu_compressed.hpp"
#include "spmv_gpu_driver.hpp"
#include "spmv_gpu_row_streamed_kernels.hpp"

namespace kkc::spmv {
namespace gpu_parts {

template <class T, class I, class O>
class RowStreamedKernel final : public Kernel {
 public:
  using Multiply = RowStreamed<T, I, O>;

  RowStreamedKernel(const Desc& desc, Queue& queue)
      : scaling_(queue),
        conjugate_(conjugates_values(desc)),
        tiles_(gpu::blocks_for(desc.A.rows + desc.A.nnz + 1, Multiply::capacity)),
        plan_(desc, queue, Multiply::longest_short, gpu_tuning::streamed_segment, false, 0,
              tiles_ * sizeof(Tile<I, O>)) {
    require(int64_t{tiles_} + plan_.longs().segments <= std::numeric_limits<int32_t>::max(), KKC_STATUS_NOT_SUPPORTED,
            "too many rows for one launch");
    // Without rows there are no offsets to search, and nothing is executed.
    if (desc.A.rows > 0) {
      const FindTiles<I, O> find{offsets_of<O>(desc.A), tiles(), tiles_, Multiply::capacity, Multiply::longest_short};
      gpu::launch(queue, gpu::blocks_for(tiles_, find.tiles_a_block), find.threads, 0, find);
    }
    gpu::prepare<Multiply>(queue);
  }

  void execute(Queue& queue, const Args& args) override {
    if (scaling_.suffices(args)) return scaling_.run(queue, args);
    const LongRows<I>& longs = plan_.longs();
    gpu::launch(queue, static_cast<unsigned>(longs.segments) + tiles_, Multiply::threads, 0,
                Multiply{rows_of<T, O>(args.A, conjugate_), columns_of<I>(args.A), tiles(), longs,
                         static_cast<T*>(args.workspace), vectors_of<T>(args.x, args.y), coefficients_of<T>(args)});
  }
  size_t workspace_bytes() const override { return static_cast<size_t>(plan_.longs().segments) * sizeof(T); }
  void describe(Info& info) const override {
    info.add("tiles", int64_t{tiles_});
    plan_.describe(info);
  }

 private:
  Tile<I, O>* tiles() const { return reinterpret_cast<Tile<I, O>*>(plan_.others()); }

  Scaling<T> scaling_;
  bool conjugate_;
  unsigned tiles_;
  RowPlan<I, O> plan_;
};

/// Entries in rows that are cut, against all.
inline double share_of_long_rows(const Desc& desc) {
  int64_t entries = 0;
  for (int i = 0; i < 40; ++i)
    if (int64_t{1} << i > gpu_tuning::streamed_longest_row) entries += desc.rows.nonzeros[i];
  return desc.A.nnz == 0 ? 0 : static_cast<double>(entries) / static_cast<double>(desc.A.nnz);
}

inline std::string row_streamed_unsupported(const Desc& desc) {
  if (std::string reason = not_one_vector(desc); !reason.empty()) return reason;
  if (!rows_fit_ordinal(desc)) return "more rows than the index type counts";
  if (desc.rows.longest > (1 << 30)) return "a row has more than 2^30 entries";
  if (share_of_long_rows(desc) > gpu_tuning::streamed_long_share) return "long rows hold too many entries";
  if (irregular(desc)) return "";
  const double mean = mean_row(desc);
  if (mean >= gpu_tuning::streamed_short_mean &&
      static_cast<double>(desc.rows.longest) <= gpu_tuning::streamed_unevenness * mean)
    return "rows are even";
  if (compressed_unsupported(desc).empty()) return "columns fit 16 bits, which gpu_compressed reads";
  return "";
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_row_streamed() {
  return {{"gpu_row_streamed"},
          true,
          gpu_parts::row_streamed_unsupported,
          gpu_parts::make_typed<gpu_parts::RowStreamedKernel>};
}

}  // namespace kkc::spmv
