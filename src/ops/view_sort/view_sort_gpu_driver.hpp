// What the drivers of view_sort on GPUs share.
#pragma once

#include <algorithm>
#include <bit>

#include "core/dispatch.hpp"
#include "view_sort_gpu_kernels.hpp"

namespace kkc::view_sort::gpu_parts {

/// Parts of a workspace, at multiples of 256 bytes.
class Parcels {
 public:
  size_t take(size_t bytes) {
    const size_t at = bytes_;
    bytes_ += (bytes + 255) / 256 * 256;
    return at;
  }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

template <class T>
T* line_of(const Lines& lines, int64_t line) {
  return static_cast<T*>(lines.data) + line * lines.line;
}

template <class W>
void move_line(Queue& queue, const W* from, int64_t from_step, W* to, int64_t to_step, int64_t n) {
  gpu::launch(queue, gpu::blocks_for(n, MoveLine<W>::threads), MoveLine<W>::threads, 0,
              MoveLine<W>{from, to, from_step, to_step, n});
}

/// to[i] = from[places[i]] for a line of values of any type, through `kept` where both are the same array or the output
/// has gaps.
template <class P>
void gather_values(Queue& queue, size_t bytes, const Lines& from, const Lines& to, int64_t line, const P* places,
                   int64_t n, void* kept) {
  dispatch_word(bytes, [&](auto word) {
    using W = decltype(word);
    const bool direct = from.data != to.data && to.step == 1;
    W* const target = direct ? line_of<W>(to, line) : static_cast<W*>(kept);
    gpu::launch(queue, gpu::blocks_for(n, 256), 256, 0,
                GatherLine<W, P>{line_of<const W>(from, line), places, target, from.step, n});
    if (!direct) move_line<W>(queue, target, 1, line_of<W>(to, line), to.step, n);
  });
}

template <class P>
void prepare_gather(Queue& queue, size_t bytes) {
  dispatch_word(bytes, [&](auto word) {
    using W = decltype(word);
    gpu::prepare<GatherLine<W, P>>(queue);
    gpu::prepare<MoveLine<W>>(queue);
  });
}

/// Calls make with the key's type: Typed<K>(desc, queue).
template <template <class> class Typed>
std::unique_ptr<Kernel> make_keyed(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch_scalar(AllElements{}, desc.key, [&](auto type) {
    kernel = std::make_unique<Typed<gpu::Element<typename decltype(type)::type>>>(desc, queue);
  });
  return kernel;
}

}  // namespace kkc::view_sort::gpu_parts
