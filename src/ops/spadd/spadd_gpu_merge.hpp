// spadd, gpu_merge: tiles of the merge path to bits (spadd_gpu_merge_kernels.hpp), C's pattern and values by gathering.
// Operands whose rows are not strictly ascending, or that are transposed, are read through a map of positions. The same
// bits run to run.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "core/dispatch.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_scan.hpp"
#include "spadd_gpu_merge_kernels.hpp"
#include "spadd_sources.hpp"

namespace kkc::spadd {

namespace gpu_parts {

template <class T>
Buffer device_array(const std::shared_ptr<const Memory>& memory, int64_t count) {
  return Buffer(memory, Space::device, static_cast<size_t>(count) * sizeof(T));
}

/// The plan data of both phases; knows no scalar.
template <class I, class O>
class Merge {
 public:
  Merge(const Desc& desc, Queue& queue) : A(desc.A), B(desc.B), rows_(desc.rows), memory_(desc.memory) {
    gpu::prepare<FindPoints<I, O>>(queue);
    gpu::prepare<MergeTile<I, O>>(queue);
    gpu::prepare<FindDisorder<I, O>>(queue);
    gpu::prepare_scan<int32_t, int64_t>(queue);
    for (Sources* x : {&A, &B})
      if (x->transposed())
        x->use(transposed_rows(queue, memory_, *x));
      else if (desc.order == RowOrder::unsorted)
        put_right(queue, memory_, *x);
    if (run(queue)) return;
    // The rows are looked at while they are merged; what is out of order is put right and merged again.
    const int64_t bad_A = first_disorder(queue, A), bad_B = first_disorder(queue, B);
    require(bad_A >= 0 || bad_B >= 0, KKC_STATUS_INTERNAL, "spadd found rows out of order and in order");
    if (desc.order == RowOrder::sorted) fail_not_sorted(bad_A >= 0 ? "A" : "B", bad_A >= 0 ? bad_A : bad_B);
    if (bad_A >= 0) put_right(queue, memory_, A);
    if (bad_B >= 0) put_right(queue, memory_, B);
    require(run(queue), KKC_STATUS_INTERNAL, "spadd sorted rows that are out of order");
  }

  int64_t nnz() const { return nnz_; }
  int64_t tiles() const { return tiles_; }
  Tiles ref() const { return {points_.as<Point>(), firsts_.as<int64_t>(), words_.as<Word>(), bases_.as<Base>()}; }
  size_t bytes() const {
    return points_.bytes() + firsts_.bytes() + words_.bytes() + bases_.bytes() + A.bytes() + B.bytes();
  }

  template <class J, class Q>
  Pattern write_pattern(Queue& queue) {
    Pattern pattern;
    const auto a = A.template rows<I, O>(), b = B.template rows<I, O>();
    if (rows_ > 0) {
      pattern.offsets = std::make_shared<const Buffer>(device_array<Q>(memory_, rows_ + 1));
      const WriteOffsets<I, O, Q> offsets{
          a, b, rows_, A.entries() + B.entries(), tiles_, ref(), pattern.offsets->template as<Q>()};
      gpu::launch(queue, gpu::blocks_for(rows_ + 1, offsets.threads), offsets.threads, 0, offsets);
    }
    pattern.indices = std::make_shared<const Buffer>(device_array<J>(memory_, nnz_));
    const Gather<PickColumn<I, J>> columns{ref(),
                                           {a.columns, b.columns, a.base, b.base, pattern.indices->template as<J>()}};
    gpu::launch(queue, gpu::blocks_for(tiles_, 1), columns.threads, 0, columns);
    // The operands' patterns are the caller's again when the plan is made.
    queue.synchronize();
    A.forget_pattern();
    B.forget_pattern();
    return pattern;
  }

  Sources A, B;

 private:
  /// False: a row is out of order.
  bool run(Queue& queue) {
    const auto a = A.template rows<I, O>(), b = B.template rows<I, O>();
    const int64_t end_a = A.entries(), end_b = B.entries();
    tiles_ = (end_a + end_b + tile_steps - 1) / tile_steps;
    points_ = device_array<Point>(memory_, tiles_ + 1);
    firsts_ = device_array<int64_t>(memory_, tiles_ + 1);
    words_ = device_array<Word>(memory_, tiles_ * tile_words);
    bases_ = device_array<Base>(memory_, tiles_ * tile_words);
    const Buffer counts = device_array<int32_t>(memory_, tiles_), disorder = device_array<int64_t>(memory_, 1),
                 scratch(memory_, Space::device, gpu::scan_scratch_bytes<int64_t>(tiles_));
    const int64_t none = 0;
    queue.copy(disorder.data(), &none, sizeof none);
    const FindPoints<I, O> find{a, b, rows_, end_a, end_b, tiles_, points_.as<Point>()};
    gpu::launch(queue, gpu::blocks_for(tiles_ + 1, find.threads), find.threads, 0, find);
    const MergeTile<I, O> merge{a,
                                b,
                                rows_,
                                points_.as<Point>(),
                                words_.as<Word>(),
                                bases_.as<Base>(),
                                counts.as<int32_t>(),
                                disorder.as<int32_t>()};
    gpu::launch(queue, gpu::blocks_for(tiles_, 1), merge.threads, 0, merge);
    gpu::exclusive_scan(queue, counts.as<int32_t>(), firsts_.as<int64_t>(), tiles_, scratch.data());
    int32_t down = 0;
    queue.copy(&nnz_, firsts_.as<int64_t>() + tiles_, sizeof nnz_);
    queue.copy(&down, disorder.data(), sizeof down);
    queue.synchronize();
    return down == 0;
  }

  /// The first row out of order, or -1.
  int64_t first_disorder(Queue& queue, const Sources& x) const {
    unsigned long long first = ~0ull;
    const Buffer found = device_array<unsigned long long>(memory_, 1);
    queue.copy(found.data(), &first, sizeof first);
    const FindDisorder<I, O> find{x.template rows<I, O>(), rows_, found.as<unsigned long long>()};
    const unsigned most = static_cast<unsigned>(16 * queue.concurrency());
    gpu::launch(queue, std::min(most, gpu::blocks_for(rows_, find.threads / 32)), find.threads, 0, find);
    queue.copy(&first, found.data(), sizeof first);
    queue.synchronize();
    return first == ~0ull ? -1 : static_cast<int64_t>(first);
  }

  int64_t rows_;
  std::shared_ptr<const Memory> memory_;
  int64_t tiles_ = 0, nnz_ = 0;
  Buffer points_, firsts_, words_, bases_;
};

template <class T, class I, class O>
class MergeKernel final : public Kernel {
 public:
  MergeKernel(const Desc& desc, Queue& queue) : merge_(desc, queue), pair_C_(desc.pair_C) {
    if (merge_.A.mapped() || merge_.B.mapped())
      gpu::prepare<Gather<Through>>(queue);
    else
      gpu::prepare<Gather<Straight>>(queue);
  }

  int64_t nnz() const override { return merge_.nnz(); }

  void execute(Queue& queue, const Args& args) override {
    const auto *a = static_cast<const T*>(args.A.values), *b = static_cast<const T*>(args.B.values);
    auto* const c = static_cast<T*>(const_cast<void*>(args.C.values));
    const Sources &A = merge_.A, &B = merge_.B;
    if (A.mapped() || B.mapped())
      launch(queue, Through{{a, A.conjugate(), A.positions<O>(), A.starts<O>()},
                            {b, B.conjugate(), B.positions<O>(), B.starts<O>()},
                            factor<T>(args.alpha),
                            factor<T>(args.beta),
                            c});
    else
      launch(queue, Straight{{a, A.conjugate()}, {b, B.conjugate()}, factor<T>(args.alpha), factor<T>(args.beta), c});
  }

  void describe(Info& info) const override {
    info.add("tiles", merge_.tiles());
    info.add("plan_bytes", static_cast<int64_t>(merge_.bytes()));
    info.add("A_read", std::string(merge_.A.how()));
    info.add("B_read", std::string(merge_.B.how()));
  }

 private:
  using Straight = AddValues<T, InOrder<T>, InOrder<T>>;
  using Through = AddValues<T, Mapped<T, O>, Mapped<T, O>>;

  template <class Pick>
  void launch(Queue& queue, const Pick& pick) const {
    const Gather<Pick> gather{merge_.ref(), pick};
    gpu::launch(queue, static_cast<unsigned>(merge_.tiles()), gather.threads, 0, gather);
  }

  Pattern write_pattern(Queue& queue) override {
    Pattern pattern;
    dispatch_index_pair(AllIndexPairs{}, pair_C_, [&](auto pair) {
      using P = decltype(pair);
      pattern = merge_.template write_pattern<typename P::ordinal, typename P::offset>(queue);
    });
    return pattern;
  }

  Merge<I, O> merge_;
  IndexPair pair_C_;
};

inline std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.A.matrix.scalar, desc.A.matrix.pair, [&](auto scalar, auto pair) {
    using P = decltype(pair);
    using T = gpu::Element<typename decltype(scalar)::type>;
    kernel = std::make_unique<MergeKernel<T, typename P::ordinal, typename P::offset>>(desc, queue);
  });
  return kernel;
}

inline std::string unsupported(const Desc& desc) {
  if ((desc.A.matrix.nnz + desc.B.matrix.nnz) / tile_steps >= std::numeric_limits<int32_t>::max())
    return "A and B have too many entries for one launch";
  return {};
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_merge() {
  return {{"gpu_merge"}, true, gpu_parts::unsupported, gpu_parts::make};
}

}  // namespace kkc::spadd
