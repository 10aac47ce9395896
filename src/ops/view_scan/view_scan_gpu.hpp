// view_scan on GPUs. Runs: tiles that look back (device/gpu_scan.hpp); short ones a warp each. Anything else: panels of
// 32 lines side by side. Where the context's scratch holds too few tiles, one launch follows another and hands on the
// sums.
#pragma once

#include <algorithm>

#include "core/scratch.hpp"
#include "view_scan_gpu_kernels.hpp"

namespace kkc::view_scan {
namespace gpu_parts {

inline constexpr int64_t short_line = 1024;
inline constexpr int64_t few_lines = 8;  // panels would leave most lanes idle

/// Behind the tickets: sums handed from launch to launch (two sets), then words of tiles.
struct Scratch {
  static constexpr size_t carry_bytes = 2048;
  char* data;

  explicit Scratch(void* scratch) : data(static_cast<char*>(scratch) + scratch_ticket_bytes) {}
  template <class T>
  T* carries(int64_t which) const {
    return reinterpret_cast<T*>(data + which % 2 * (carry_bytes / 2));
  }
  void* words() const { return data + carry_bytes; }
  static constexpr int64_t word_count = static_cast<int64_t>((scratch_bytes - scratch_ticket_bytes - carry_bytes) / 8);
};

template <class T, class Source, class Target, int vector>
void scan_tiles(Queue& queue, const Scratch& scratch, const Source& source, const Target& target, const Lines& lines,
                bool inclusive) {
  using Scan = gpu::ScanTiles<T, Source, Target, vector>;
  constexpr int64_t tile = gpu::scan_tile<T>;
  constexpr int64_t most_tiles =
      (Scratch::word_count - 1) / gpu::scan_words<T> * gpu::scan_group / (gpu::scan_group + 1) - 1;
  const int64_t tiles = gpu::scan_tiles_of(lines.length, tile);
  Scan scan{};
  scan.inclusive = inclusive;
  const auto from = [&](int64_t line, int64_t element) {
    scan.source = source;
    scan.target = target;
    scan.source.data += line * lines.x_line + element * lines.x_step;
    scan.target.data += line * lines.y_line + element * lines.y_step;
  };
  if (tiles <= most_tiles) {
    const int64_t words = tiles == 1 ? 0 : static_cast<int64_t>(gpu::scan_scratch_bytes<T>(lines.length) / 8);
    const int64_t at_once = tiles == 1 ? int64_t{1} << 30 : Scratch::word_count / words;
    for (int64_t line = 0; line < lines.count; line += at_once) {
      from(line, 0);
      gpu::launch_scan(queue, scan, lines.length, std::min(at_once, lines.count - line), scratch.words());
    }
    return;
  }
  const int64_t chunk = most_tiles * tile;
  for (int64_t line = 0; line < lines.count; ++line)
    for (int64_t begin = 0, number = 0; begin < lines.length; begin += chunk, ++number) {
      from(line, begin);
      scan.base = begin == 0 ? nullptr : scratch.carries<T>(number);
      scan.carry = scratch.carries<T>(number + 1);
      gpu::launch_scan(queue, scan, std::min(chunk, lines.length - begin), 1, scratch.words());
    }
}

template <class In, class T>
void scan_panels(Queue& queue, const Scratch& scratch, const In* x, T* y, const Lines& lines, bool inclusive) {
  using Scan = ScanPanels<In, T>;
  constexpr int64_t words = 32 * gpu::scan_words<T>,
                    most_tiles = (Scratch::word_count - 1) / words * Scan::group / (Scan::group + 1) - 1;
  const int64_t all_tiles = gpu::scan_tiles_of(lines.length, Scan::height);
  const int64_t panels = (lines.count + 31) / 32;
  int64_t at_once = panels;  // panels of a launch
  if (all_tiles > most_tiles)
    at_once = 1;
  else if (all_tiles > 1)
    at_once = std::min(panels, most_tiles / (all_tiles + 1));
  at_once = std::max<int64_t>(at_once, 1);
  const int64_t chunk = std::min(lines.length, most_tiles * Scan::height);
  for (int64_t panel = 0; panel < panels; panel += at_once)
    for (int64_t begin = 0, number = 0; begin < lines.length; begin += chunk, ++number) {
      Scan scan{};
      scan.inclusive = inclusive;
      scan.x = x + panel * 32 * lines.x_line + begin * lines.x_step;
      scan.y = y + panel * 32 * lines.y_line + begin * lines.y_step;
      scan.lines = lines;
      scan.lines.count = std::min(at_once * 32, lines.count - panel * 32);
      scan.lines.length = std::min(chunk, lines.length - begin);
      const int64_t tiles = gpu::scan_tiles_of(scan.lines.length, Scan::height);
      const int64_t of_launch = std::min(at_once, panels - panel), groups = (tiles + Scan::group - 1) / Scan::group;
      scan.panels = static_cast<unsigned>(of_launch);
      scan.tiles = static_cast<unsigned>(tiles);
      scan.groups = static_cast<unsigned>(groups);
      if (lines.length > chunk) {
        scan.base = begin == 0 ? nullptr : scratch.carries<T>(number);
        scan.carry = scratch.carries<T>(number + 1);
      }
      if (tiles > 1) {
        auto* const all = static_cast<unsigned long long*>(scratch.words());
        gpu::clear_words(queue, all, static_cast<size_t>(1 + of_launch * (tiles + groups) * words) * 8);
        scan.words = {reinterpret_cast<unsigned*>(all), all + 1, all + 1 + of_launch * tiles * words};
      }
      gpu::launch(queue, gpu::blocks_for(of_launch * tiles, 1), Scan::threads, 0, scan);
    }
}

template <class In, class T, int vector>
using RunScan = gpu::ScanTiles<T, gpu::RunSource<In, T>, gpu::RunTarget<T>, vector>;
template <class In, class T>
using StridedScan = gpu::ScanTiles<T, StridedSource<In, T>, StridedTarget<T>, 1>;

template <class In, class T>
void scan_lines(Queue& queue, void* scratch_memory, const In* x, T* y, const Lines& lines, bool inclusive) {
  const Scratch scratch(scratch_memory);
  const bool runs = lines.x_step == 1 && lines.y_step == 1;
  if (!runs && lines.count >= few_lines) return scan_panels(queue, scratch, x, y, lines, inclusive);
  if (lines.count > 1 && (lines.length <= short_line ||
                          (lines.length <= gpu::scan_tile<T> && lines.count >= 8 * int64_t{queue.concurrency()}))) {
    const ScanShortLines<In, T> scan{x, y, lines, inclusive};
    gpu::launch(queue, gpu::blocks_for(lines.count, scan.threads / 32), scan.threads, 0, scan);
    return;
  }
  if (!runs)
    return scan_tiles<T, StridedSource<In, T>, StridedTarget<T>, 1>(queue, scratch, {x, lines.x_step, lines.x_line},
                                                                    {y, lines.y_step, lines.y_line}, lines, inclusive);
  constexpr int vector = gpu::scan_vector<In, T>;
  const auto aligned = [&](const void* data, size_t size, int64_t line) {
    const size_t bytes = std::min<size_t>(16, static_cast<size_t>(vector) * size);
    return reinterpret_cast<uintptr_t>(data) % bytes == 0 &&
           (lines.count == 1 || line * static_cast<int64_t>(size) % static_cast<int64_t>(bytes) == 0);
  };
  const gpu::RunSource<In, T> source{x, lines.x_line};
  const gpu::RunTarget<T> target{y, lines.y_line};
  if (aligned(x, sizeof(In), lines.x_line) && aligned(y, sizeof(T), lines.y_line))
    scan_tiles<T, gpu::RunSource<In, T>, gpu::RunTarget<T>, vector>(queue, scratch, source, target, lines, inclusive);
  else
    scan_tiles<T, gpu::RunSource<In, T>, gpu::RunTarget<T>, 1>(queue, scratch, source, target, lines, inclusive);
}

inline void run(Queue& queue, void* scratch, const Args& args) {
  dispatch_types(Pairs{}, args.x_type, args.y_type, [&](auto pair) {
    using In = gpu::Element<typename decltype(pair)::in>;
    using T = gpu::Element<typename decltype(pair)::sum>;
    scan_lines(queue, scratch, static_cast<const In*>(args.x), static_cast<T*>(args.y), args.lines, args.inclusive);
  });
}

inline void prepare(Queue& queue) {
  gpu::prepare<gpu::ClearWords>(queue);
  const auto one = [&]<class P>(Type<P>) {
    using In = gpu::Element<typename P::in>;
    using T = gpu::Element<typename P::sum>;
    gpu::prepare<RunScan<In, T, gpu::scan_vector<In, T>>>(queue);
    gpu::prepare<RunScan<In, T, 1>>(queue);
    gpu::prepare<StridedScan<In, T>>(queue);
    gpu::prepare<ScanShortLines<In, T>>(queue);
    gpu::prepare<ScanPanels<In, T>>(queue);
  };
  [&]<class... P>(TypeList<P...>) { (one(Type<P>{}), ...); }(Pairs{});
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu() {
  return {{"gpu", gpu_parts::prepare}, gpu_parts::run};
}

}  // namespace kkc::view_scan
