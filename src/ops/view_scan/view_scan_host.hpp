// view_scan on hosts. Few and long lines: blocks are summed, then scanned behind the sums of those before; one thread
// scans each block right after it has summed it, from the cache. Many lines: each on its own, neighbours side by side.
// How a line is cut depends on the shape alone: the same bits for every number of threads.
#pragma once

#include <algorithm>

#include "core/parts.hpp"
#include "core/scratch.hpp"
#include "device/host_parallel.hpp"
#include "view_scan.hpp"
#include "view_scan_host_kernels.hpp"

namespace kkc::view_scan {

namespace host_parts_of_scan {

inline constexpr int64_t least_block = 4096;  // elements that stay in the first-level cache between sum and scan
inline constexpr int64_t many_lines = 64;
inline constexpr int width = 16;

template <class Dev, bool inclusive, class In, class T>
void scan_long_line(Queue& queue, void* scratch, const In* x, int64_t x_step, T* y, int64_t y_step, int64_t length) {
  constexpr int64_t most_blocks = static_cast<int64_t>((scratch_bytes - scratch_ticket_bytes) / sizeof(T)) - 1;
  T* const sums = reinterpret_cast<T*>(static_cast<char*>(scratch) + scratch_ticket_bytes);
  const int64_t each = std::max(least_block, (length + most_blocks - 1) / most_blocks);
  const int64_t blocks = (length + each - 1) / each;
  const auto sum = [&](int64_t b) {
    return run_sum<In, T>(x + b * each * x_step, x_step, std::min(each, length - b * each));
  };
  const auto scan = [&](int64_t b, const T& before) {
    run_scan<inclusive>(x + b * each * x_step, x_step, y + b * each * y_step, y_step, std::min(each, length - b * each),
                        before);
  };
  const int64_t parts = std::min<int64_t>(Dev::threads(queue), blocks);
  T before{};
  if (parts == 1) {
    for (int64_t b = 0; b < blocks; ++b) {
      const T after = sum_of(before, sum(b));  // before the scan, which may overwrite x
      scan(b, before);
      before = after;
    }
    return;
  }
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    for (int64_t b = part_begin(blocks, parts, part); b < part_begin(blocks, parts, part + 1); ++b) sums[b] = sum(b);
  });
  for (int64_t b = 0; b < blocks; ++b) {
    const T after = sum_of(before, sums[b]);
    sums[b] = before;
    before = after;
  }
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    for (int64_t b = part_begin(blocks, parts, part); b < part_begin(blocks, parts, part + 1); ++b) scan(b, sums[b]);
  });
}

template <class Dev, bool inclusive, class In, class T>
void scan_lines(Queue& queue, void* scratch, const In* x, T* y, const Lines& lines) {
  if (lines.count < many_lines && lines.length >= 2 * least_block) {
    for (int64_t l = 0; l < lines.count; ++l)
      scan_long_line<Dev, inclusive>(queue, scratch, x + l * lines.x_line, lines.x_step, y + l * lines.y_line,
                                     lines.y_step, lines.length);
    return;
  }
  const bool runs = lines.x_step == 1 && lines.y_step == 1;
  const int64_t side = runs ? 1 : width, panels = (lines.count + side - 1) / side;
  const int64_t parts = lines.count * lines.length < least_block ? 1 : std::min<int64_t>(Dev::threads(queue), panels);
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    for (int64_t p = part_begin(panels, parts, part); p < part_begin(panels, parts, part + 1); ++p) {
      const In* const from = x + p * side * lines.x_line;
      T* const to = y + p * side * lines.y_line;
      if (runs)
        run_scan<inclusive>(from, 1, to, 1, lines.length, T{});
      else
        scan_panel<inclusive, width>(from, lines.x_step, lines.x_line, to, lines.y_step, lines.y_line, lines.length,
                                     std::min(side, lines.count - p * side));
    }
  });
}

}  // namespace host_parts_of_scan

template <class Dev>
void run_host(Queue& queue, void* scratch, const Args& args) {
  dispatch_types(Pairs{}, args.x_type, args.y_type, [&](auto pair) {
    using In = Element<typename decltype(pair)::in>;
    using T = Element<typename decltype(pair)::sum>;
    const In* const x = static_cast<const In*>(args.x);
    T* const y = static_cast<T*>(args.y);
    if (args.inclusive)
      host_parts_of_scan::scan_lines<Dev, true>(queue, scratch, x, y, args.lines);
    else
      host_parts_of_scan::scan_lines<Dev, false>(queue, scratch, x, y, args.lines);
  });
}

template <class Dev>
constexpr Implementation host() {
  return {{"host"}, &run_host<Dev>};
}

}  // namespace kkc::view_scan
