// Fills on hosts: whole cache lines, past the caches for large views.
#pragma once

#include <algorithm>

#include "device/host_parallel.hpp"
#include "device/host_stream.hpp"
#include "view_fill_kernels.hpp"

namespace kkc::view_fill {

/// A run of bytes that begins with the pattern's first byte.
inline void fill_bytes(char* to, int64_t bytes, const Pattern& pattern, bool stream) {
  alignas(cache_line) char line[2 * cache_line];
  for (size_t k = 0; k < sizeof(line); k += sizeof(pattern.bytes))
    std::memcpy(line + k, pattern.bytes, sizeof(pattern.bytes));
  const int64_t size = static_cast<int64_t>(cache_line);
  const int64_t head =
      std::min(bytes, (size - static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % cache_line)) % size);
  std::memcpy(to, line, static_cast<size_t>(head));
  // The whole lines repeat the pattern from where the head left it.
  const char* const rest = line + head % static_cast<int64_t>(sizeof(pattern.bytes));
  int64_t k = head;
  if (stream)
    for (; k + size <= bytes; k += size) stream_line(to + k, rest);
  else
    for (; k + size <= bytes; k += size) std::memcpy(to + k, rest, cache_line);
  std::memcpy(to + k, rest, static_cast<size_t>(bytes - k));
}

template <class Dev>
void run_host(Queue& queue, void*, const Args& args) {
  const DenseRef* const arrays[1] = {&args.view};
  const Walk<1> walk = walk_of(arrays);
  const Pattern pattern = pattern_of(args);
  if (!walk.contiguous()) {
    fill_strided<Dev>(queue, walk, pattern, args.view.scalar, args.view.data);
    return;
  }
  char* const to = static_cast<char*>(args.view.data);
  const int64_t bytes = walk.count * static_cast<int64_t>(size_of(args.view.scalar));
  const bool stream = bytes >= stream_threshold_bytes;
  constexpr int64_t least = int64_t{1} << 16;
  const int64_t parts = std::min<int64_t>((bytes + least - 1) / least, Dev::threads(queue));
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    const auto border = [=](int64_t k) {
      const int64_t at = part_begin(bytes, parts, k);
      return k == parts ? at : at - at % static_cast<int64_t>(cache_line);
    };
    fill_bytes(to + border(part), border(part + 1) - border(part), pattern, stream);
    if (stream) stream_fence();
  });
}

template <class Dev>
constexpr Implementation host() {
  return {{"host"}, &run_host<Dev>};
}

}  // namespace kkc::view_fill
