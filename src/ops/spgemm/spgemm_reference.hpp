// spgemm, reference: every device, type and case; what the tests compare the others with. The plan finds C's rows one
// after the other on the host with a stamp for each column (Gustavson, "Two fast algorithms for sparse matrices", ACM
// TOMS 4(3), 1978, section 2); execute gives each thread a row and finds a product's place in it by binary search.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <vector>

#include "core/dispatch.hpp"
#include "core/parts.hpp"
#include "device/first_launch.hpp"
#include "ops/spgemm/spgemm.hpp"

namespace kkc::spgemm {

namespace reference_parts {

/// Item: a row of C. Products that the mask leaves out have no place.
template <class E, class I, class O>
struct Rows {
  const O *a_offsets, *b_offsets;
  const I *a_indices, *b_indices;
  const E *a_values, *b_values;
  const void* c_offsets;
  const I* c_indices;
  E* c_values;
  Factor<E> alpha, beta;
  int64_t rows;  // 0: return at once (a launch that only loads the kernel)
  int32_t a_base, b_base;
  bool wide;

  KOKKOS_FUNCTION int64_t c_begin(int64_t row) const {
    return wide ? static_cast<const int64_t*>(c_offsets)[row] : static_cast<const int32_t*>(c_offsets)[row];
  }

  KOKKOS_FUNCTION void operator()(int64_t row) const {
    if (row >= rows) return;
    const E a = alpha.get(), b = beta.get();
    const int64_t begin = c_begin(row), end = c_begin(row + 1);
    for (int64_t p = begin; p < end; ++p) c_values[p] = b == E{} ? E{} : times(b, c_values[p]);
    if (a == E{}) return;
    for (int64_t p = a_offsets[row] - a_base; p < a_offsets[row + 1] - a_base; ++p) {
      const E scaled = times(a, a_values[p]);
      const int64_t k = a_indices[p] - a_base;
      for (int64_t q = b_offsets[k] - b_base; q < b_offsets[k + 1] - b_base; ++q) {
        const int64_t column = b_indices[q] - b_base;
        int64_t low = begin, high = end;
        while (low < high) {
          const int64_t middle = low + (high - low) / 2;
          if (c_indices[middle] < column)
            low = middle + 1;
          else
            high = middle;
        }
        if (low < end && c_indices[low] == column) c_values[low] = plus(c_values[low], times(scaled, b_values[q]));
      }
    }
  }
};

/// A pattern in host memory: the matrix's own arrays, or a copy.
template <class I, class O>
class HostArrays {
 public:
  HostArrays(Queue& queue, const CsrRef& A) : base(A.base) {
    if (is_host(queue.device())) {
      offsets = static_cast<const O*>(A.offsets);
      indices = static_cast<const I*>(A.indices);
      return;
    }
    offsets_.resize(static_cast<size_t>(A.rows) + 1);
    indices_.resize(static_cast<size_t>(A.nnz));
    if (A.rows > 0) queue.copy(offsets_.data(), A.offsets, offsets_.size() * sizeof(O));
    if (A.nnz > 0) queue.copy(indices_.data(), A.indices, indices_.size() * sizeof(I));
    queue.synchronize();
    offsets = offsets_.data();
    indices = indices_.data();
  }
  /// f(column) for each entry of a row.
  template <class F>
  void each(int64_t row, const F& f) const {
    for (int64_t p = offsets[row] - base; p < offsets[row + 1] - base; ++p)
      f(static_cast<size_t>(indices[p] - static_cast<I>(base)));
  }

 private:
  int64_t base;
  const O* offsets = nullptr;
  const I* indices = nullptr;
  std::vector<O> offsets_;
  std::vector<I> indices_;
};

template <class I, class O>
class Symbolic {
 public:
  Symbolic(Queue& queue, const Desc& desc)
      : rows_(desc.rows()),
        A_(queue, desc.A),
        B_(queue, desc.B),
        stamps_(static_cast<size_t>(desc.cols()), desc.masked ? -1 : 0) {
    if (desc.masked) mask_ = std::make_unique<HostArrays<I, O>>(queue, desc.mask);
  }

  std::vector<int64_t> offsets{0};
  std::vector<I> indices;
  int64_t products = 0;

  void count() {
    offsets.reserve(static_cast<size_t>(rows_) + 1);
    for (int64_t row = 0; row < rows_; ++row) {
      int64_t length = 0;
      each_column(
          row, [&](size_t) { ++length; }, [&] { ++products; });
      offsets.push_back(offsets.back() + length);
    }
  }
  void fill() {
    indices.reserve(static_cast<size_t>(offsets.back()));
    for (int64_t row = 0; row < rows_; ++row) {
      const auto begin = static_cast<std::ptrdiff_t>(indices.size());
      each_column(
          row, [&](size_t column) { indices.push_back(static_cast<I>(column)); }, [] {});
      std::sort(indices.begin() + begin, indices.end());
    }
  }

 private:
  /// f(column) for each column of a row of C, once; product() for each scalar product. Stamps grow: 2 row + 1 and
  /// 2 row + 2 in the first walk, and further in the second; a column stamped with the lower is one that the mask lets
  /// in and that has not been met.
  template <class F, class P>
  void each_column(int64_t row, const F& f, const P& product) {
    const int64_t open = ++stamp_, met = ++stamp_;
    if (mask_) mask_->each(row, [&](size_t column) { stamps_[column] = open; });
    A_.each(row, [&](size_t k) {
      B_.each(static_cast<int64_t>(k), [&](size_t column) {
        int64_t& stamp = stamps_[column];
        if (mask_ && stamp < open) return;
        product();
        if (stamp == met) return;
        stamp = met;
        f(column);
      });
    });
  }

  int64_t rows_, stamp_ = 0;
  HostArrays<I, O> A_, B_;
  std::unique_ptr<HostArrays<I, O>> mask_;
  std::vector<int64_t> stamps_;
};

template <class T>
std::shared_ptr<const Buffer> keep(const Desc& desc, Queue& queue, const std::vector<T>& from) {
  auto to = std::make_shared<Buffer>(desc.memory, own_space(queue.device()), from.size() * sizeof(T));
  if (!from.empty()) queue.copy(to->data(), from.data(), to->bytes());
  queue.synchronize();
  return to;
}

template <class I, class O>
int64_t find_pattern(const Desc& desc, Queue& queue, OutputPattern& C) {
  Symbolic<I, O> symbolic(queue, desc);
  symbolic.count();
  C.pair = desc.pair;
  C.scalar = desc.scalar();
  C.rows = desc.rows();
  C.cols = desc.cols();
  C.nnz = symbolic.offsets.back();
  require_countable(C.cols, C.nnz, C.pair, "C");
  symbolic.fill();
  C.offsets = offset_size(C.pair) == 8
                  ? keep(desc, queue, symbolic.offsets)
                  : keep(desc, queue, std::vector<int32_t>(symbolic.offsets.begin(), symbolic.offsets.end()));
  C.indices = keep(desc, queue, symbolic.indices);
  return symbolic.products;
}

template <class Dev, class E, class I, class O>
class ReferenceKernel final : public Kernel {
  using Functor = Rows<E, I, O>;

 public:
  ReferenceKernel(const Desc& desc, Queue& queue) {
    products_ = find_pattern<I, O>(desc, queue, output);
    // The first launch of a kernel may synchronise, which a graph capture forbids: it happens here, with no items.
    if constexpr (Dev::id == Device::cuda || Dev::id == Device::hip) {
      prepare_kokkos(Dev{});
      const auto turn = first_launches_take_turns();
      launch(queue, 1, Functor{});
    }
  }

  void execute(Queue& queue, const Args& args) override {
    const CsrRef C = output.ref();
    launch(queue, C.rows,
           Functor{static_cast<const O*>(args.A.offsets), static_cast<const O*>(args.B.offsets),
                   static_cast<const I*>(args.A.indices), static_cast<const I*>(args.B.indices),
                   static_cast<const E*>(args.A.values), static_cast<const E*>(args.B.values), C.offsets,
                   static_cast<const I*>(C.indices), static_cast<E*>(args.C), factor<E>(args.alpha),
                   factor<E>(args.beta), C.rows, args.A.base, args.B.base, offset_size(C.pair) == 8});
  }

  void describe(Info& info) const override {
    info.add("products", products_);
    info.add("plan_bytes", int64_t{0});
  }

 private:
  static void launch(Queue& queue, int64_t items, const Functor& functor) {
    using Policy = Kokkos::RangePolicy<typename Dev::exec, Kokkos::IndexType<int64_t>>;
    Kokkos::parallel_for("kkc spgemm reference", Policy(Dev::space(queue), 0, items), functor);
  }

  int64_t products_ = 0;
};

template <class Dev>
std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.scalar(), desc.A.pair, [&](auto scalar, auto pair) {
    using E = Element<typename decltype(scalar)::type>;
    using P = decltype(pair);
    kernel = std::make_unique<ReferenceKernel<Dev, E, typename P::ordinal, typename P::offset>>(desc, queue);
  });
  return kernel;
}

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace reference_parts

template <class Dev>
constexpr Implementation reference() {
  return {{"reference"}, true, reference_parts::unsupported, reference_parts::make<Dev>};
}

}  // namespace kkc::spgemm
