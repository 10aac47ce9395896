// view_sort, gpu_radix: one line after the other by device/gpu_sort.hpp's radix sort over the bytes of the keys' order.
#pragma once

#include "device/gpu_sort.hpp"
#include "view_sort_gpu_driver.hpp"

namespace kkc::view_sort {
namespace gpu_parts {

template <class K, class C>
class RadixKernel final : public Kernel {
  static constexpr bool carries = gpu::has_payload<C>;
  static constexpr int passes = Order<K>::digits;

 public:
  RadixKernel(const Desc& desc, Queue& queue)
      : desc_(desc),
        gathers_(carried_by(desc) == Carried::places && desc.payload == Payload::values),
        own_keys_(!desc.keys_wanted || desc.sorted_keys.step != 1),
        own_carried_(gathers_ || desc.sorted_values.step != 1) {
    const auto n = static_cast<size_t>(desc.length);
    other_keys_ = parcels_.take(n * sizeof(K));
    out_keys_ = parcels_.take(own_keys_ ? n * sizeof(K) : 0);
    if constexpr (carries) {
      other_carried_ = parcels_.take(n * sizeof(C));
      out_carried_ = parcels_.take(own_carried_ ? n * sizeof(C) : 0);
    }
    kept_ = parcels_.take(gathers_ ? n * size_of(desc.value) : 0);
    scratch_ = parcels_.take(gpu::sort_scratch_bytes<K, C>(desc.length));
    gpu::prepare_sort<K, C, KeyDigits<K>>(queue);
    gpu::prepare<MoveLine<K>>(queue);
    if constexpr (carries) {
      gpu::prepare<MoveLine<C>>(queue);
      if (gathers_) prepare_gather<C>(queue, size_of(desc.value));
    }
  }

  size_t workspace_bytes() const override { return parcels_.bytes(); }

  void execute(Queue& queue, const Args& args) override {
    for (int64_t line = 0; line < desc_.lines; ++line) sort_line(queue, args, line);
  }

  void describe(Info& info) const override { info.add("passes", int64_t{passes}); }

 private:
  void sort_line(Queue& queue, const Args& args, int64_t line) const {
    char* const memory = static_cast<char*>(args.workspace);
    const int64_t n = desc_.length;
    Route<K> keys{line_of<const K>(args.keys, line), args.keys.step, nullptr,
                  reinterpret_cast<K*>(memory + other_keys_), passes};
    keys.out = own_keys_ ? reinterpret_cast<K*>(memory + out_keys_) : line_of<K>(args.sorted_keys, line);
    if (keys.copies_first()) move_line(queue, keys.in, keys.step, keys.copy(), 1, n);
    Route<C> carried{};
    if constexpr (carries) {
      carried.passes = passes;
      carried.step = args.values.step;
      if (carried_by(desc_) == Carried::values) carried.in = line_of<const C>(args.values, line);
      carried.other = reinterpret_cast<C*>(memory + other_carried_);
      carried.out = own_carried_ ? reinterpret_cast<C*>(memory + out_carried_) : line_of<C>(args.sorted_values, line);
      if (carried.copies_first()) move_line(queue, carried.in, carried.step, carried.copy(), 1, n);
    }
    const auto route = [&](int pass, bool output) {
      gpu::RadixArrays<K, C> arrays{};
      arrays.keys = output ? keys.target(pass) : const_cast<K*>(keys.source(pass));
      if constexpr (carries) arrays.payload = output ? carried.target(pass) : const_cast<C*>(carried.source(pass));
      return arrays;
    };
    gpu::radix_sort<K, C>(queue, KeyDigits<K>{{desc_.descending}}, passes, n, memory + scratch_, {}, route);
    if (desc_.keys_wanted && own_keys_)
      move_line<K>(queue, keys.out, 1, line_of<K>(args.sorted_keys, line), args.sorted_keys.step, n);
    if constexpr (carries) {
      if (gathers_)
        gather_values(queue, size_of(desc_.value), args.values, args.sorted_values, line, carried.out, n,
                      memory + kept_);
      else if (own_carried_)
        move_line<C>(queue, carried.out, 1, line_of<C>(args.sorted_values, line), args.sorted_values.step, n);
    }
  }

  Desc desc_;
  bool gathers_, own_keys_, own_carried_;  // own: what the last pass writes lies in the workspace
  Parcels parcels_;
  size_t other_keys_ = 0, out_keys_ = 0, other_carried_ = 0, out_carried_ = 0, kept_ = 0, scratch_ = 0;
};

template <class K>
std::unique_ptr<Kernel> radix_of(const Desc& desc, Queue& queue) {
  switch (carried_bytes(desc)) {
    case 0: return std::make_unique<RadixKernel<K, gpu::NoPayload>>(desc, queue);
    case 4: return std::make_unique<RadixKernel<K, uint32_t>>(desc, queue);
    default: return std::make_unique<RadixKernel<K, uint64_t>>(desc, queue);
  }
}

inline std::unique_ptr<Kernel> make_radix(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch_scalar(AllElements{}, desc.key,
                  [&](auto type) { kernel = radix_of<gpu::Element<typename decltype(type)::type>>(desc, queue); });
  return kernel;
}

inline std::string radix_unsupported(const Desc&) { return {}; }

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_radix() {
  return {{"gpu_radix"}, true, gpu_parts::radix_unsupported, gpu_parts::make_radix};
}

}  // namespace kkc::view_sort
