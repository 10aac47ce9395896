// view_sort, reference on hosts: the standard library sorts places, line after line; keys and values follow. What the
// tests compare the others with.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/dispatch.hpp"
#include "core/parts.hpp"
#include "view_sort.hpp"
#include "view_sort_order.hpp"

namespace kkc::view_sort {

namespace reference_parts {

template <class K>
class ReferenceKernel final : public Kernel {
 public:
  explicit ReferenceKernel(const Desc& desc) : desc_(desc) {}

  size_t workspace_bytes() const override {
    return static_cast<size_t>(desc_.length) * (sizeof(int64_t) + std::max(sizeof(K), size_of(desc_.value)));
  }

  void execute(Queue&, const Args& args) override {
    auto* const places = static_cast<int64_t*>(args.workspace);
    for (int64_t line = 0; line < desc_.lines; ++line) {
      const K* const keys = static_cast<const K*>(args.keys.data) + line * args.keys.line;
      const Order<K> order{desc_.descending};
      std::iota(places, places + desc_.length, int64_t{0});
      std::sort(places, places + desc_.length, [&](int64_t a, int64_t b) {
        const auto first = order.rank(keys[a * args.keys.step]), second = order.rank(keys[b * args.keys.step]);
        return first < second || (!(second < first) && a < b);
      });
      if (desc_.keys_wanted) follow(args.keys, args.sorted_keys, sizeof(K), line, places);
      if (desc_.payload == Payload::values)
        follow(args.values, args.sorted_values, size_of(desc_.value), line, places);
      else if (desc_.value == Scalar::i32)
        write_places<int32_t>(args.sorted_values, line, places);
      else if (desc_.payload == Payload::places)
        write_places<int64_t>(args.sorted_values, line, places);
    }
  }

 private:
  /// Through the workspace: both may be the same array.
  void follow(const Lines& from, const Lines& to, size_t bytes, int64_t line, const int64_t* places) const {
    char* const kept = reinterpret_cast<char*>(const_cast<int64_t*>(places) + desc_.length);
    const auto at = [&](const Lines& l, int64_t i) {
      return static_cast<char*>(l.data) + (line * l.line + i * l.step) * static_cast<int64_t>(bytes);
    };
    for (int64_t i = 0; i < desc_.length; ++i)
      std::memcpy(kept + static_cast<size_t>(i) * bytes, at(from, places[i]), bytes);
    for (int64_t i = 0; i < desc_.length; ++i) std::memcpy(at(to, i), kept + static_cast<size_t>(i) * bytes, bytes);
  }

  template <class Place>
  void write_places(const Lines& to, int64_t line, const int64_t* places) const {
    for (int64_t i = 0; i < desc_.length; ++i)
      static_cast<Place*>(to.data)[line * to.line + i * to.step] = static_cast<Place>(places[i]);
  }

  Desc desc_;
};

inline std::unique_ptr<Kernel> make(const Desc& desc, Queue&) {
  std::unique_ptr<Kernel> kernel;
  dispatch_scalar(AllElements{}, desc.key, [&](auto type) {
    kernel = std::make_unique<ReferenceKernel<Element<typename decltype(type)::type>>>(desc);
  });
  return kernel;
}

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace reference_parts

template <class Dev>
constexpr Implementation reference() {
  return {{"reference"}, true, reference_parts::unsupported, reference_parts::make};
}

}  // namespace kkc::view_sort
