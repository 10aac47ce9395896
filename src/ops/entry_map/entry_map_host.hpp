// entry_map, hosts.
#pragma once

#include "core/dispatch.hpp"
#include "core/parts.hpp"
#include "device/host_gather.hpp"
#include "device/host_pattern_ref.hpp"
#include "device/host_stream.hpp"
#include "ops/entry_map/entry_map.hpp"

namespace kkc::entry_map {
namespace host_map_parts {

template <class R>
R conjugated(R v) {
  return v;
}
template <class R>
Parts<R> conjugated(Parts<R> v) {
  return {v.re, -v.im};
}

/// target[k] = f(k) for k = begin..end - 1; large results pass by the caches.
template <class T, class F>
void fill(T* target, int64_t begin, int64_t end, bool streamed, const F& f) {
  if (!streamed) {
    for (int64_t k = begin; k < end; ++k) target[k] = f(k);
    return;
  }
  constexpr int64_t block = 512;
  alignas(cache_line) T results[block];
  for (int64_t k = begin; k < end; k += block) {
    const int64_t n = std::min(block, end - k);
    for (int64_t i = 0; i < n; ++i) results[i] = f(k + i);
    stream_out(target + k, results, static_cast<size_t>(n) * sizeof(T));
  }
  stream_fence();
}

template <class Dev, class T, class O>
void gather_typed(Queue& queue, const Args& args) {
  const auto* const source = static_cast<const T*>(args.source);
  const auto* const positions = static_cast<const O*>(args.positions);
  const auto* const starts = static_cast<const O*>(args.starts);
  auto* const target = static_cast<T*>(args.target);
  const int64_t sources = starts != nullptr ? static_cast<int64_t>(starts[args.count]) : args.count;
  const bool streamed = args.count * static_cast<int64_t>(sizeof(T)) >= stream_threshold_bytes;
  const int64_t parts = parts_for_items(queue, args.count);
  const auto each = [&](const auto& f) {
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      fill(target, part_begin(args.count, parts, part), part_begin(args.count, parts, part + 1), streamed, f);
    });
  };
  const auto through = [&](const auto& place) {
    if (starts != nullptr)
      each([&](int64_t k) {
        T sum = source[place(static_cast<int64_t>(starts[k]))];
        for (int64_t s = static_cast<int64_t>(starts[k]) + 1; s < static_cast<int64_t>(starts[k + 1]); ++s)
          sum = plus(sum, source[place(s)]);
        return args.conjugate ? conjugated(sum) : sum;
      });
    else if (args.conjugate)
      each([&](int64_t k) { return conjugated(source[place(k)]); });
    else
      each([&](int64_t k) { return source[place(k)]; });
  };
  if (positions != nullptr)
    through([&](int64_t s) {
      constexpr int64_t ahead = 64;
      if (s + ahead < sources) prefetch(source + positions[s + ahead]);
      return static_cast<int64_t>(positions[s]);
    });
  else
    through([](int64_t s) { return s; });
}

template <class Dev>
void gather(Queue& queue, const Args& args) {
  dispatch_scalar(Scalars{}, args.scalar, [&]<class S>(Type<S>) {
    if (offset_size(args.pair) == 4)
      gather_typed<Dev, Element<S>, int32_t>(queue, args);
    else
      gather_typed<Dev, Element<S>, int64_t>(queue, args);
  });
}

template <class Dev>
void convert(Queue& queue, void* target, size_t target_bytes_each, const void* source, size_t source_bytes_each,
             int64_t count) {
  const int64_t parts = parts_for_items(queue, count);
  const auto typed = [&]<class To, class From>(To* to, const From* from) {
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      for (int64_t i = part_begin(count, parts, part), end = part_begin(count, parts, part + 1); i < end; ++i)
        to[i] = static_cast<To>(from == nullptr ? i : static_cast<int64_t>(from[i]));
    });
  };
  const auto from_either = [&]<class To>(To* to) {
    if (source_bytes_each == 4)
      typed(to, static_cast<const int32_t*>(source));
    else
      typed(to, static_cast<const int64_t*>(source));
  };
  if (target_bytes_each == 4)
    from_either(static_cast<int32_t*>(target));
  else
    from_either(static_cast<int64_t*>(target));
}

inline void prepare_gather(Queue&, Scalar, IndexPair) {}

}  // namespace host_map_parts

template <class Dev>
constexpr Implementation host() {
  return {{"host"}, host_map_parts::prepare_gather, host_map_parts::gather<Dev>, host_map_parts::convert<Dev>};
}

}  // namespace kkc::entry_map
