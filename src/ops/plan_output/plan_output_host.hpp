// plan_output, hosts.
#pragma once

#include "device/host_pages.hpp"
#include "device/host_parallel.hpp"
#include "plan_output.hpp"

namespace kkc::plan_output {
namespace host_parts_of_output {

template <class Dev, class I>
void shift_each(Queue& queue, void* destination, const void* source, int64_t count, int64_t shift) {
  const int64_t parts = queue.concurrency();
  auto* const to = static_cast<I*>(destination);
  const auto* const from = static_cast<const I*>(source);
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    const int64_t end = part_begin(count, parts, part + 1);
    for (int64_t i = part_begin(count, parts, part); i < end; ++i) to[i] = from[i] + static_cast<I>(shift);
  });
}

template <class Dev>
void shift(Queue& queue, void* destination, const void* source, size_t bytes_each, int64_t count, int64_t by) {
  const auto f = bytes_each == 4 ? shift_each<Dev, int32_t> : shift_each<Dev, int64_t>;
  f(queue, destination, source, count, by);
}

}  // namespace host_parts_of_output

template <class Dev>
constexpr Implementation host() {
  return {{"host"}, host_parts_of_output::shift<Dev>, touch_pages};
}

}  // namespace kkc::plan_output
