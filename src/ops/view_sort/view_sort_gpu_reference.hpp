// view_sort, reference on GPUs: a bitonic sort of places in global memory, one step a launch; keys and values follow.
#pragma once

#include "view_sort_gpu_driver.hpp"

namespace kkc::view_sort {
namespace gpu_parts {

template <class K>
class ReferenceKernel final : public Kernel {
 public:
  ReferenceKernel(const Desc& desc, Queue& queue)
      : desc_(desc), count_(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(desc.length)))) {
    places_ = parcels_.take(static_cast<size_t>(count_) * sizeof(int64_t));
    kept_ = parcels_.take(static_cast<size_t>(desc.length) * std::max(sizeof(K), size_of(desc.value)));
    gpu::prepare<ListPlaces>(queue);
    gpu::prepare<CompareStep<K>>(queue);
    prepare_gather<int64_t>(queue, sizeof(K));
    if (desc.payload == Payload::values) prepare_gather<int64_t>(queue, size_of(desc.value));
    gpu::prepare<WritePlaces<int32_t>>(queue);
    gpu::prepare<WritePlaces<int64_t>>(queue);
  }

  size_t workspace_bytes() const override { return parcels_.bytes(); }

  void execute(Queue& queue, const Args& args) override {
    auto* const places = reinterpret_cast<int64_t*>(static_cast<char*>(args.workspace) + places_);
    void* const kept = static_cast<char*>(args.workspace) + kept_;
    const int64_t n = desc_.length;
    for (int64_t line = 0; line < desc_.lines; ++line) {
      over(queue, count_, ListPlaces{places, count_});
      for (int64_t size = 2; size <= count_; size *= 2)
        for (int64_t stride = size / 2; stride > 0; stride /= 2)
          over(queue, count_ / 2,
               CompareStep<K>{{desc_.descending},
                              line_of<const K>(args.keys, line),
                              args.keys.step,
                              n,
                              places,
                              count_,
                              size,
                              stride});
      if (desc_.keys_wanted) gather_values(queue, sizeof(K), args.keys, args.sorted_keys, line, places, n, kept);
      if (desc_.payload == Payload::values)
        gather_values(queue, size_of(desc_.value), args.values, args.sorted_values, line, places, n, kept);
      else if (desc_.value == Scalar::i32)
        over(queue, n,
             WritePlaces<int32_t>{places, line_of<int32_t>(args.sorted_values, line), args.sorted_values.step, n});
      else if (desc_.payload == Payload::places)
        over(queue, n,
             WritePlaces<int64_t>{places, line_of<int64_t>(args.sorted_values, line), args.sorted_values.step, n});
    }
  }

 private:
  template <class F>
  static void over(Queue& queue, int64_t items, const F& f) {
    gpu::launch(queue, gpu::blocks_for(items, F::threads), F::threads, 0, f);
  }

  Desc desc_;
  int64_t count_;
  Parcels parcels_;
  size_t places_ = 0, kept_ = 0;
};

inline std::string reference_unsupported(const Desc&) { return {}; }

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_reference() {
  return {{"reference"}, true, gpu_parts::reference_unsupported, gpu_parts::make_keyed<gpu_parts::ReferenceKernel>};
}

}  // namespace kkc::view_sort
