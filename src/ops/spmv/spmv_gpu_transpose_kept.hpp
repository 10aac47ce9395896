// spmv, gpu_transpose_kept: the plan keeps the transpose (options values = kept, transpose = kept) and any kernel for
// op N runs on it. The transpose comes from a stable radix sort of the entries by column; the sorted places stay, so
// that set_values is one gather.
#pragma once

#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "spmv_gpu_driver.hpp"
#include "spmv_gpu_transpose_kept_kernels.hpp"
#include "spmv_transposed.hpp"

namespace kkc::spmv {
namespace gpu_parts {

template <class T, class I, class O>
class TransposeKeptKernel final : public Kernel {
 public:
  using Key = std::make_unsigned_t<I>;

  TransposeKeptKernel(const Desc& desc, Queue& queue)
      : scaling_(queue),
        nnz_(desc.A.nnz),
        offsets_(device_array<O>(desc, desc.A.cols + 1)),
        indices_(device_array<I>(desc, nnz_)),
        places_(device_array<O>(desc, nnz_)),
        values_(device_array<T>(desc, nnz_)) {
    transpose_pattern(desc, queue);
    gpu::prepare<GatherValues<T, O>>(queue);
    transpose_ = {desc.A.pair,     desc.A.scalar, 0, desc.A.cols, desc.A.rows, nnz_, offsets_.data(),
                  indices_.data(), values_.data()};
    inner_ = kernel_for_transpose(desc, transpose_, false, queue);
  }

  void execute(Queue& queue, const Args& args) override {
    if (scaling_.suffices(args)) return scaling_.run(queue, args);
    Args kept = args;
    kept.A = transpose_;
    inner_.kernel->execute(queue, kept);
  }
  void set_values(Queue& queue, const CsrRef& A) override {
    launch_over(
        queue, nnz_,
        GatherValues<T, O>{static_cast<const T*>(A.values), places_.template as<O>(), values_.template as<T>(), nnz_});
  }
  bool keeps_values() const override { return true; }
  size_t workspace_bytes() const override { return inner_.kernel->workspace_bytes(); }
  void describe(Info& info) const override {
    info.add("kernel", std::string(inner_.name));
    inner_.kernel->describe(info);
    info.add("kept_bytes",
             static_cast<int64_t>(offsets_.bytes() + indices_.bytes() + places_.bytes() + values_.bytes()));
  }

 private:
  void transpose_pattern(const Desc& desc, Queue& queue) {
    Buffer keys = device_array<Key>(desc, nnz_), sorted_keys = device_array<Key>(desc, nnz_),
           places = device_array<O>(desc, nnz_);
    launch_over(queue, nnz_, ListEntries<I, O, Key>{columns_of<I>(desc.A), nnz_, keys.as<Key>(), places.as<O>()});
    if (nnz_ > 0) {
      const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<uint64_t>(desc.A.cols - 1))));
      size_t bytes = 0;
      const auto sort = [&](void* scratch) {
        gpu::check(
            cub::DeviceRadixSort::SortPairs(scratch, bytes, keys.as<Key>(), sorted_keys.as<Key>(), places.as<O>(),
                                            places_.template as<O>(), nnz_, 0, bits, gpu::stream_of(queue)),
            "sorting the entries by column");
      };
      sort(nullptr);
      const Buffer scratch(Memory::in_order(desc.memory), Space::device, std::max<size_t>(bytes, 1));
      sort(scratch.data());
    }
    launch_over(queue, nnz_ + 1,
                BuildTranspose<I, O, Key>{offsets_of<O>(desc.A), sorted_keys.as<Key>(), places_.template as<O>(), nnz_,
                                          desc.A.cols, offsets_.template as<O>(), indices_.template as<I>()});
  }

  Scaling<T> scaling_;
  int64_t nnz_;
  Buffer offsets_, indices_, places_, values_;
  CsrRef transpose_{};
  InnerKernel inner_;
};

inline std::string transpose_kept_unsupported(const Desc& desc) {
  if (!desc.transpose_kept || !desc.values_kept) return "needs options transpose = kept and values = kept";
  if (!transposes(desc.op)) return "takes op T and H only";
  if (!rows_fit_ordinal(desc)) return "more rows than the index type counts";
  return "";
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_transpose_kept() {
  return {{"gpu_transpose_kept"},
          true,
          gpu_parts::transpose_kept_unsupported,
          gpu_parts::make_typed<gpu_parts::TransposeKeptKernel>};
}

}  // namespace kkc::spmv
