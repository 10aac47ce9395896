// spmv, reference: plain CSR loops on every device, every type, layout, stride and coefficient. What the tests
// compare the other implementations with. Row sums follow the order of the entries; the transposed product adds
// atomically, or through a transposed map of positions when the same bits are asked for (counting sort: Gustavson,
// "Two fast algorithms for sparse matrices", ACM TOMS 4(3), 1978, section 3).
#pragma once

#include <Kokkos_Core.hpp>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "core/dispatch.hpp"
#include "device/first_launch.hpp"
#include "ops/spmv/spmv.hpp"

namespace kkc::spmv {

namespace reference_parts {

template <class T>
struct Kokkosian {
  using type = T;
};
template <class T>
struct Kokkosian<std::complex<T>> {
  using type = Kokkos::complex<T>;
};

template <class S>
KOKKOS_INLINE_FUNCTION S conjugated(const S& s, bool conjugate) {
  if constexpr (std::is_floating_point_v<S>)
    return s;
  else
    return conjugate ? Kokkos::conj(s) : s;
}

/// Both vectors, or multi-vectors, of one product.
template <class S>
struct Vectors {
  const S* x;
  S* y;
  int64_t x_row, x_vector, y_row, y_vector;
  int64_t count;
  int64_t items;  // 0: return at once (a launch that only loads the kernel)
};

/// Item: a row and a vector.
template <class S, class I, class O>
struct Rows {
  Vectors<S> v;
  const O* offsets;
  const I* indices;
  const S* values;
  O base;
  bool conjugate;
  Factor<S> alpha, beta;

  KOKKOS_FUNCTION void operator()(int64_t item) const {
    if (item >= v.items) return;
    const int64_t row = item / v.count, k = item - row * v.count;
    const S a = alpha.get(), b = beta.get();
    S sum{};
    if (a != S{}) {
      const S* x = v.x + k * v.x_vector;
      for (O p = offsets[row] - base; p < offsets[row + 1] - base; ++p)
        sum += conjugated(values[p], conjugate) * x[(indices[p] - static_cast<I>(base)) * v.x_row];
    }
    S& y = v.y[row * v.y_row + k * v.y_vector];
    y = b == S{} ? a * sum : b * y + a * sum;
  }
};

/// Item: a column and a vector, y = beta y. Sign and NaN of y vanish for beta = 0.
template <class S>
struct Scale {
  Vectors<S> v;
  Factor<S> beta;

  KOKKOS_FUNCTION void operator()(int64_t item) const {
    if (item >= v.items) return;
    const int64_t row = item / v.count, k = item - row * v.count;
    const S b = beta.get();
    S& y = v.y[row * v.y_row + k * v.y_vector];
    y = b == S{} ? S{} : b * y;
  }
};

/// Item: a row of A and a vector; y += alpha op(A) x. Several rows may hold a column, hence atomics; the parts of
/// complex numbers are added apart, because a whole one would take a lock.
template <class S, class I, class O, bool Atomic>
struct Scatter {
  Vectors<S> v;
  const O* offsets;
  const I* indices;
  const S* values;
  O base;
  bool conjugate;
  Factor<S> alpha;

  KOKKOS_FUNCTION static void add(S* y, const S& term) {
    if constexpr (!Atomic) {
      *y += term;
    } else if constexpr (std::is_floating_point_v<S>) {
      Kokkos::atomic_add(y, term);
    } else {
      using R = typename S::value_type;
      R* parts = reinterpret_cast<R*>(y);
      Kokkos::atomic_add(parts, term.real());
      Kokkos::atomic_add(parts + 1, term.imag());
    }
  }

  KOKKOS_FUNCTION void operator()(int64_t item) const {
    if (item >= v.items) return;
    const S a = alpha.get();
    if (a == S{}) return;
    const int64_t row = item / v.count, k = item - row * v.count;
    const S ax = a * v.x[row * v.x_row + k * v.x_vector];
    S* y = v.y + k * v.y_vector;
    for (O p = offsets[row] - base; p < offsets[row + 1] - base; ++p)
      add(y + (indices[p] - static_cast<I>(base)) * v.y_row, conjugated(values[p], conjugate) * ax);
  }
};

/// Item: a column of A and a vector; reads the column's entries through the plan's map, in the order of the rows.
template <class S, class I, class O>
struct Columns {
  Vectors<S> v;
  const O* starts;     // per column
  const O* positions;  // entry of A
  const I* rows;       // its row
  const S* values;
  bool conjugate;
  Factor<S> alpha, beta;

  KOKKOS_FUNCTION void operator()(int64_t item) const {
    if (item >= v.items) return;
    const int64_t column = item / v.count, k = item - column * v.count;
    const S a = alpha.get(), b = beta.get();
    S sum{};
    if (a != S{}) {
      const S* x = v.x + k * v.x_vector;
      for (O q = starts[column]; q < starts[column + 1]; ++q)
        sum += conjugated(values[positions[q]], conjugate) * x[rows[q] * v.x_row];
    }
    S& y = v.y[column * v.y_row + k * v.y_vector];
    y = b == S{} ? a * sum : b * y + a * sum;
  }
};

template <class Dev, class T, class I, class O>
class ReferenceKernel final : public Kernel {
  using S = typename Kokkosian<T>::type;
  using Policy = Kokkos::RangePolicy<typename Dev::exec, Kokkos::IndexType<int64_t>>;
  static constexpr bool on_host = Dev::id == Device::serial || Dev::id == Device::openmp;
  static constexpr bool atomic = Dev::id != Device::serial;

 public:
  ReferenceKernel(const Desc& desc, Queue& queue) : op_(desc.op) {
    if (transposes(op_) && desc.deterministic && atomic) map_columns(desc, queue);
    // The first launch of a kernel may synchronise, which a graph capture forbids: it happens here, with no items.
    if constexpr (!on_host) {
      const auto turn = first_launches_take_turns();
      const T one(1);
      Args args{};
      args.alpha = args.beta = {&one, false};
      args.A = desc.A;
      args.x = desc.x;
      args.y = desc.y;
      launch(queue, args, 0);
    }
  }

  void execute(Queue& queue, const Args& args) override { launch(queue, args, 1); }

  void describe(Info& info) const override {
    if (!transposes(op_)) return;
    const bool positions = starts_.data() != nullptr;
    info.add("transposed_by", std::string(positions ? "positions" : atomic ? "atomics" : "scatter"));
    info.add("deterministic", int64_t{positions || !atomic});
  }

 private:
  void map_columns(const Desc& desc, Queue& queue) {
    const CsrRef& A = desc.A;
    std::vector<O> offsets_copy, starts(static_cast<size_t>(A.cols) + 2, 0);
    std::vector<I> indices_copy;
    const O* offsets = static_cast<const O*>(A.offsets);
    const I* indices = static_cast<const I*>(A.indices);
    if constexpr (!on_host) {
      offsets_copy.resize(static_cast<size_t>(A.rows) + 1);
      indices_copy.resize(static_cast<size_t>(A.nnz));
      if (A.rows > 0) queue.copy(offsets_copy.data(), offsets, offsets_copy.size() * sizeof(O));
      if (A.nnz > 0) queue.copy(indices_copy.data(), indices, indices_copy.size() * sizeof(I));
      offsets = offsets_copy.data();
      indices = indices_copy.data();
    }
    const O base = static_cast<O>(A.base);
    std::vector<O> positions(static_cast<size_t>(A.nnz));
    std::vector<I> rows(static_cast<size_t>(A.nnz));
    for (int64_t p = 0; p < A.nnz; ++p) ++starts[static_cast<size_t>(indices[p] - A.base) + 2];
    for (size_t c = 2; c < starts.size(); ++c) starts[c] += starts[c - 1];
    for (int64_t row = 0; row < A.rows; ++row)
      for (O p = offsets[row] - base; p < offsets[row + 1] - base; ++p) {
        const auto q = static_cast<size_t>(starts[static_cast<size_t>(indices[p] - A.base) + 1]++);
        positions[q] = p;
        rows[q] = static_cast<I>(row);
      }
    starts.pop_back();
    starts_ = keep(desc, queue, starts);
    positions_ = keep(desc, queue, positions);
    rows_ = keep(desc, queue, rows);
    queue.synchronize();
  }

  template <class U>
  static Buffer keep(const Desc& desc, Queue& queue, const std::vector<U>& from) {
    Buffer to(desc.memory, on_host ? Space::host : Space::device, from.size() * sizeof(U));
    if (!from.empty()) queue.copy(to.data(), from.data(), to.bytes());
    return to;
  }

  template <class F>
  static void run(Queue& queue, int64_t items, bool real, F f) {
    f.v.items = real ? items : 0;
    items = real ? items : 1;
    if (items > 0) Kokkos::parallel_for(Policy(Dev::space(queue), 0, items), f);
  }

  void launch(Queue& queue, const Args& args, bool real) const {
    const CsrRef& A = args.A;
    const auto* offsets = static_cast<const O*>(A.offsets);
    const auto* indices = static_cast<const I*>(A.indices);
    const auto* values = static_cast<const S*>(A.values);
    const bool conjugate = conjugates(op_);
    const Factor<S> alpha = factor<S>(args.alpha), beta = factor<S>(args.beta);
    const int64_t k = args.y.rank == 2 ? args.y.extents[1] : 1;
    Vectors<S> v{static_cast<const S*>(args.x.data),
                 static_cast<S*>(args.y.data),
                 args.x.strides[0],
                 args.x.rank == 2 ? args.x.strides[1] : 0,
                 args.y.strides[0],
                 args.y.rank == 2 ? args.y.strides[1] : 0,
                 k,
                 0};
    const O base = static_cast<O>(A.base);
    if (!transposes(op_)) {
      run(queue, A.rows * k, real, Rows<S, I, O>{v, offsets, indices, values, base, conjugate, alpha, beta});
    } else if (starts_.data() != nullptr) {
      run(queue, A.cols * k, real,
          Columns<S, I, O>{v, starts_.as<O>(), positions_.as<O>(), rows_.as<I>(), values, conjugate, alpha, beta});
    } else {
      run(queue, A.cols * k, real, Scale<S>{v, beta});
      if (real && args.alpha.known_to_be(T{})) return;
      run(queue, A.rows * k, real, Scatter<S, I, O, atomic>{v, offsets, indices, values, base, conjugate, alpha});
    }
  }

  Op op_;
  Buffer starts_, positions_, rows_;  // deterministic transposed product
};

template <class Dev>
std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.A.scalar, desc.A.pair, [&](auto scalar, auto pair) {
    using P = decltype(pair);
    kernel = std::make_unique<
        ReferenceKernel<Dev, typename decltype(scalar)::type, typename P::ordinal, typename P::offset>>(desc, queue);
  });
  return kernel;
}

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace reference_parts

template <class Dev>
constexpr Implementation reference() {
  return {{"reference"}, true, reference_parts::unsupported, reference_parts::make<Dev>};
}

}  // namespace kkc::spmv
