// krylov, hosts: a block of rows is written and then, still in the first cache, multiplied and summed. Blocks depend on
// the shape alone, so the bits are the same for any number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "core/dispatch.hpp"
#include "core/scratch.hpp"
#include "device/host_each.hpp"
#include "device/host_parallel.hpp"
#include "krylov_steps.hpp"
#include "ops/dot/dot_host_kernels.hpp"

namespace kkc::krylov {
namespace host_steps {

inline double root(double a) { return std::sqrt(a); }

/// Sums of `columns` columns over fixed blocks of rows: body(first, count, sums) for chunks, then finish(c, sum).
template <class Dev, class Sum, class Body, class Finish>
void column_sums(Queue& queue, void* scratch, int64_t n, int64_t columns, int64_t chunk, const Body& body,
                 const Finish& finish) {
  constexpr int64_t most_blocks = 512, least_rows = 4096;
  const auto capacity = static_cast<int64_t>((scratch_bytes - scratch_ticket_bytes) / sizeof(Sum));
  const int64_t wanted = std::min(most_blocks, std::max<int64_t>(1, capacity / columns));
  const int64_t block = std::max(least_rows, (n + wanted - 1) / wanted), blocks = (n + block - 1) / block;
  Sum* const sums = reinterpret_cast<Sum*>(static_cast<char*>(scratch) + scratch_ticket_bytes);
  host_parts<Dev>(queue, blocks, [&](int64_t b) {
    Sum* const own = sums + b * columns;
    std::fill_n(own, columns, Sum{});
    for (int64_t i = b * block, last = std::min(n, i + block); i < last; i += chunk)
      body(i, std::min(chunk, last - i), own);
  });
  for (int64_t c = 0; c < columns; ++c) {
    Sum sum{};
    for (int64_t b = 0; b < blocks; ++b) sum.add(sums[b * columns + c]);
    finish(c, sum);
  }
}

/// Rows first..first + count - 1 of what a step writes.
template <class S>
void write(const S& step, int64_t first, int64_t count) {
  each_alone(count, [=](int64_t i) { step.element(first + i); });
}

template <class Dev, class S>
void run_step(Queue& queue, void* scratch, int64_t n, S step) {
  if (!step.active()) return;
  step.load();
  if constexpr (S::sums > 0) {
    constexpr int64_t chunk = 1024;
    column_sums<Dev, Sums<S::sums>>(
        queue, scratch, n, 1, chunk,
        [&](int64_t first, int64_t count, Sums<S::sums>* sums) {
          write(step, first, count);
          for (int k = 0; k < step.pairs(); ++k)
            sums->of[k].add(dot::run_dot(step.left(k) + first, step.right(k) + first, count, -1.0));
        },
        [&](int64_t, const Sums<S::sums>& sums) { step.finish(sums, &root); });
  } else {
    constexpr int64_t least = 16384;
    const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(queue.concurrency(), n / least));
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      const int64_t first = part_begin(n, parts, part);
      write(step, first, part_begin(n, parts, part + 1) - first);
    });
  }
}

/// The vectors of GMRES' basis, taken in chunks of rows: of many rows where each is read once, for the sake of long
/// streams; where it is read twice, of so few that those of all vectors stay in the second cache.
template <class T>
struct Basis {
  static constexpr int64_t cache_bytes = 192 << 10, least_rows = 256, most_rows = 4096;
  static constexpr int64_t rows_once = (16 << 10) / static_cast<int64_t>(sizeof(T));
  const T* vectors;
  int64_t stride, columns;
  const Number* factors;

  int64_t chunk() const {
    return std::clamp<int64_t>(cache_bytes / static_cast<int64_t>(sizeof(T)) / (columns + 1), least_rows, most_rows);
  }
  /// to += sum of sign factors_c vectors_c over rows first..first + count - 1.
  void add(T* to, int64_t first, int64_t count, double sign) const {
    int64_t c = 0;
    for (; c + 6 <= columns; c += 6) add_some<6>(to, c, first, count, sign);
    for (; c + 2 <= columns; c += 2) add_some<2>(to, c, first, count, sign);
    if (c < columns) add_some<1>(to, c, first, count, sign);
  }
  void dots(const T* w, int64_t first, int64_t count, Sum* sums) const {
    int64_t c = 0;
    if constexpr (std::is_floating_point_v<T>)
      for (; c + 4 <= columns; c += 4) four_dots(vectors + c * stride + first, w + first, count, sums + c);
    for (; c < columns; ++c) sums[c].add(dot::run_dot(vectors + c * stride + first, w + first, count, -1.0));
  }

 private:
  // Several vectors at a time: one after the other they come from memory at half its rate.
  template <int some>
  void add_some(T* to, int64_t c, int64_t first, int64_t count, double sign) const {
    std::array<T, some> by;
    for (int k = 0; k < some; ++k) by[k] = Made<T>::from({sign * factors[c + k].re, sign * factors[c + k].im});
    const T* const from = vectors + c * stride + first;
    each_alone(count, [=, step = stride](int64_t i) {
      T sum = times(by[0], from[i]);
#pragma GCC unroll 6
      for (int k = 1; k < some; ++k) sum = plus(sum, times(by[k], from[k * step + i]));
      to[i] = plus(to[i], sum);
    });
  }
  void four_dots(const T* x, const T* w, int64_t count, Sum* sums) const {
    Lanes s[4][2] = {};
    int64_t i = 0;
    for (; i + 2 * lane_count <= count; i += 2 * lane_count)
#pragma GCC unroll 2
      for (int k = 0; k < 2; ++k) {
        const int64_t at = i + k * lane_count;
        const Lanes other = load_lanes(w + at);
#pragma GCC unroll 4
        for (int c = 0; c < 4; ++c) s[c][k] += load_lanes(x + c * stride + at) * other;
      }
    for (int c = 0; c < 4; ++c) {
      const Lanes both = s[c][0] + s[c][1];
      for (int k = 0; k < lane_count; ++k) sums[c].re += both[k];
      for (int64_t rest = i; rest < count; ++rest) dot::accumulate(sums[c], x[c * stride + rest], w[rest], -1.0);
    }
  }
};

/// Classical Gram-Schmidt, twice: the second pass takes away what rounding left of the first (L. Giraud, J. Langou, M.
/// Rozloznik, J. van den Eshof, Numer. Math. 101 (2005)). The basis is read three times.
template <class Dev, class T>
void orthogonalize(Queue& queue, void* scratch, const Args& a) {
  const Basis<T> basis{static_cast<const T*>(a.basis), a.stride, a.columns, a.correction};
  T* const w = static_cast<T*>(a.basis) + a.stride * a.columns;
  const int64_t chunk = basis.chunk();
  if (a.columns > 0) {
    column_sums<Dev, Sum>(
        queue, scratch, a.n, a.columns, basis.rows_once,
        [&](int64_t first, int64_t count, Sum* sums) { basis.dots(w, first, count, sums); },
        [&](int64_t c, const Sum& sum) { a.hessenberg[c] = a.correction[c] = number(sum); });
    column_sums<Dev, Sum>(
        queue, scratch, a.n, a.columns, chunk,
        [&](int64_t first, int64_t count, Sum* sums) {
          basis.add(w + first, first, count, -1);
          basis.dots(w, first, count, sums);
        },
        [&](int64_t c, const Sum& sum) {
          a.correction[c] = number(sum);
          a.hessenberg[c].re += sum.re;
          a.hessenberg[c].im += sum.im;
        });
  }
  column_sums<Dev, Sum>(
      queue, scratch, a.n, 1, basis.rows_once,
      [&](int64_t first, int64_t count, Sum* sums) {
        basis.add(w + first, first, count, -1);
        sums->add(dot::run_dot(w + first, w + first, count, -1.0));
      },
      [&](int64_t, const Sum& sum) {
        const double norm = root(sum.re);
        a.hessenberg[a.columns] = {norm, 0};
        a.progress->scale = norm > 0 ? 1 / norm : 0;
      });
}

template <class Dev, class T>
void combine(Queue& queue, const Args& a) {
  const Basis<T> basis{static_cast<const T*>(a.basis), a.stride, a.columns, a.correction};
  const T* const inverse = static_cast<const T*>(a.inverse);
  T *const x = static_cast<T*>(a.x[0]), *const z = static_cast<T*>(a.z);
  const int64_t chunk = basis.rows_once, chunks = (a.n + chunk - 1) / chunk;
  host_parts<Dev>(queue, chunks, [&](int64_t part) {
    const int64_t first = part * chunk, count = std::min(chunk, a.n - first);
    if (inverse == nullptr && !a.external) return basis.add(x + first, first, count, 1);
    std::fill_n(z + first, count, T{});
    basis.add(z + first, first, count, 1);
    if (inverse != nullptr)
      each_alone(count, [=](int64_t k) {
        const int64_t i = first + k;
        x[i] = plus(x[i], times(inverse[i], z[i]));
      });
  });
}

template <class Dev>
void run(Queue& queue, void* scratch, Step step, const Args& args) {
  dispatch_scalar(Scalars{}, args.scalar, [&]<class S>(Type<S>) {
    using T = Element<S>;
    if (with_step<T>(step, args, [&](const auto& made) { run_step<Dev>(queue, scratch, args.n, made); })) return;
    if (step == Step::gmres_orthogonalize)
      orthogonalize<Dev, T>(queue, scratch, args);
    else
      combine<Dev, T>(queue, args);
  });
}

inline std::string unsupported(const Desc&) { return {}; }
inline void load(Queue&, Scalar) {}

}  // namespace host_steps

template <class Dev>
constexpr Implementation host_fused() {
  namespace parts = host_steps;
  return {{"host_fused"}, true, parts::unsupported, parts::load, parts::run<Dev>};
}

}  // namespace kkc::krylov
