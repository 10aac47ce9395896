// spadd, reference: each of C's entries knows the entries of A and B that it is the sum of. The lists are made on the
// host, one row after another; every type, op, order of rows and device. What the tests compare the others with.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "core/dispatch.hpp"
#include "core/parts.hpp"
#include "device/first_launch.hpp"
#include "spadd.hpp"

namespace kkc::spadd {

namespace reference_parts {

/// Where an entry comes from: matrix 0 is A, 1 is B.
struct Source {
  int64_t column, entry;
  int matrix;
};

/// The entries that C's entries are the sums of: [firsts[k], firsts[k + 1]) of sources, A's before B's from middles[k]
/// on, each in the order of the entries.
struct Lists {
  std::vector<int64_t> offsets, columns, firsts, middles, sources;
};

template <class E>
KOKKOS_INLINE_FUNCTION E conjugated(const E& e, bool conjugate) {
  if constexpr (std::is_floating_point_v<E>)
    return e;
  else
    return {e.re, conjugate ? -e.im : e.im};
}

/// Item: an entry of C.
template <class E>
struct Sum {
  const int64_t *firsts, *middles, *sources;
  const E *A, *B;
  E* C;
  Factor<E> alpha, beta;
  bool conjugate_A, conjugate_B;
  int64_t items;  // 0: return at once (a launch that only loads the kernel)

  KOKKOS_FUNCTION static E part(const E& factor, const E* values, bool conjugate, const int64_t* begin,
                                const int64_t* end) {
    E sum{};
    if (factor == E{}) return sum;
    for (const int64_t* s = begin; s < end; ++s) sum = plus(sum, conjugated(values[*s], conjugate));
    return times(factor, sum);
  }

  KOKKOS_FUNCTION void operator()(int64_t k) const {
    if (k >= items) return;
    C[k] = plus(part(alpha.get(), A, conjugate_A, sources + firsts[k], sources + middles[k]),
                part(beta.get(), B, conjugate_B, sources + middles[k], sources + firsts[k + 1]));
  }
};

/// An array of a queue's device, on the host.
template <class T>
std::vector<T> fetched(Queue& queue, const void* from, int64_t count) {
  std::vector<T> to(static_cast<size_t>(count));
  if (count > 0) queue.copy(to.data(), from, to.size() * sizeof(T));
  queue.synchronize();
  return to;
}

/// Adds a matrix's entries to the rows of op(matrix).
inline void collect(Queue& queue, const Operand& x, int which, std::vector<std::vector<Source>>& rows) {
  const CsrRef& A = x.matrix;
  if (A.nnz == 0) return;
  dispatch_index_pair(AllIndexPairs{}, A.pair, [&](auto pair) {
    using Pair = decltype(pair);
    const auto offsets = fetched<typename Pair::offset>(queue, A.offsets, A.rows + 1);
    const auto indices = fetched<typename Pair::ordinal>(queue, A.indices, A.nnz);
    for (int64_t row = 0; row < A.rows; ++row)
      for (int64_t p = int64_t{offsets[static_cast<size_t>(row)]} - A.base;
           p < int64_t{offsets[static_cast<size_t>(row) + 1]} - A.base; ++p) {
        const int64_t column = int64_t{indices[static_cast<size_t>(p)]} - A.base;
        if (transposes(x.op))
          rows[static_cast<size_t>(column)].push_back({row, p, which});
        else
          rows[static_cast<size_t>(row)].push_back({column, p, which});
      }
  });
}

inline void require_ascending(const std::vector<Source>& row, int64_t number, const char* argument, int which) {
  int64_t last = -1;
  for (const Source& s : row) {
    if (s.matrix != which) continue;
    if (s.column <= last) fail_not_sorted(argument, number);
    last = s.column;
  }
}

inline Lists lists_of(Queue& queue, const Desc& desc) {
  std::vector<std::vector<Source>> rows(static_cast<size_t>(desc.rows));
  collect(queue, desc.A, 0, rows);
  collect(queue, desc.B, 1, rows);
  Lists lists;
  lists.offsets.push_back(0);
  for (size_t i = 0; i < rows.size(); ++i) {
    auto& row = rows[i];
    if (desc.order == RowOrder::sorted) {
      if (!transposes(desc.A.op)) require_ascending(row, static_cast<int64_t>(i), "A", 0);
      if (!transposes(desc.B.op)) require_ascending(row, static_cast<int64_t>(i), "B", 1);
    }
    std::stable_sort(row.begin(), row.end(), [](const Source& a, const Source& b) {
      return a.column != b.column ? a.column < b.column : a.matrix < b.matrix;
    });
    for (size_t k = 0; k < row.size();) {
      lists.columns.push_back(row[k].column);
      lists.firsts.push_back(static_cast<int64_t>(lists.sources.size()));
      for (int which = 0; which < 2; ++which) {
        if (which == 1) lists.middles.push_back(static_cast<int64_t>(lists.sources.size()));
        for (; k < row.size() && row[k].column == lists.columns.back() && row[k].matrix == which; ++k)
          lists.sources.push_back(row[k].entry);
      }
    }
    lists.offsets.push_back(static_cast<int64_t>(lists.columns.size()));
  }
  lists.firsts.push_back(static_cast<int64_t>(lists.sources.size()));
  return lists;
}

template <class Dev, class E>
class ReferenceKernel final : public Kernel {
 public:
  ReferenceKernel(const Desc& desc, Queue& queue)
      : conjugate_A_(conjugates(desc.A.op)),
        conjugate_B_(conjugates(desc.B.op)),
        pair_C_(desc.pair_C),
        memory_(desc.memory),
        lists_(lists_of(queue, desc)),
        nnz_(static_cast<int64_t>(lists_.columns.size())) {
    // The first launch of a kernel may synchronise, which a graph capture forbids: it happens here, with no items.
    if constexpr (Dev::id == Device::cuda || Dev::id == Device::hip) {
      const auto turn = first_launches_take_turns();
      prepare_kokkos(Dev{});
      launch(queue, 1, Sum<E>{});
    }
  }

  int64_t nnz() const override { return nnz_; }

  void execute(Queue& queue, const Args& args) override {
    launch(queue, nnz_,
           Sum<E>{firsts_.as<int64_t>(), middles_.as<int64_t>(), sources_.as<int64_t>(),
                  static_cast<const E*>(args.A.values), static_cast<const E*>(args.B.values),
                  static_cast<E*>(const_cast<void*>(args.C.values)), factor<E>(args.alpha), factor<E>(args.beta),
                  conjugate_A_, conjugate_B_, nnz_});
  }

 private:
  static void launch(Queue& queue, int64_t items, const Sum<E>& sum) {
    using Policy = Kokkos::RangePolicy<typename Dev::exec, Kokkos::IndexType<int64_t>>;
    Kokkos::parallel_for("kkc spadd reference", Policy(Dev::space(queue), 0, items), sum);
  }

  template <class T>
  Buffer uploaded(Queue& queue, const std::vector<int64_t>& from) const {
    const std::vector<T> narrow(from.begin(), from.end());
    Buffer to(memory_, own_space(Dev::id), narrow.size() * sizeof(T));
    if (to.bytes() > 0) queue.copy(to.data(), narrow.data(), to.bytes());
    queue.synchronize();
    return to;
  }

  Pattern write_pattern(Queue& queue) override {
    firsts_ = uploaded<int64_t>(queue, lists_.firsts);
    middles_ = uploaded<int64_t>(queue, lists_.middles);
    sources_ = uploaded<int64_t>(queue, lists_.sources);
    Pattern pattern;
    dispatch_index_pair(AllIndexPairs{}, pair_C_, [&](auto pair) {
      using Pair = decltype(pair);
      if (lists_.offsets.size() > 1)
        pattern.offsets = std::make_shared<Buffer>(uploaded<typename Pair::offset>(queue, lists_.offsets));
      pattern.indices = std::make_shared<Buffer>(uploaded<typename Pair::ordinal>(queue, lists_.columns));
    });
    lists_ = {};
    return pattern;
  }

  bool conjugate_A_, conjugate_B_;
  IndexPair pair_C_;
  std::shared_ptr<const Memory> memory_;
  Lists lists_;  // until the pattern is written
  int64_t nnz_;
  Buffer firsts_, middles_, sources_;
};

template <class Dev>
std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch_scalar(Scalars{}, desc.A.matrix.scalar, [&](auto scalar) {
    kernel = std::make_unique<ReferenceKernel<Dev, Element<typename decltype(scalar)::type>>>(desc, queue);
  });
  return kernel;
}

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace reference_parts

template <class Dev>
constexpr Implementation reference() {
  return {{"reference"}, true, reference_parts::unsupported, reference_parts::make<Dev>};
}

}  // namespace kkc::spadd
