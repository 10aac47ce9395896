// spgemm, gpu_hash: rows of C in shared memory: hash tables, bitmaps, product slots; rows of one class share their
// symbolic phase.
#pragma once

#include "core/dispatch.hpp"
#include "ops/spgemm/spgemm.hpp"
#include "spgemm_gpu_numeric.hpp"

namespace kkc::spgemm {
namespace gpu_parts {

inline Offsets offsets_of(const CsrRef& A) { return {A.offsets, offset_size(A.pair) == 8, A.base}; }
template <class I>
Pattern<I> pattern_of(const CsrRef& A) {
  return {offsets_of(A), static_cast<const I*>(A.indices), A.rows};
}

template <class Left, class I>
bool ascends(Queue& queue, const Problem<Left, I>& problem, const Pattern<I>& mask, int64_t nnz) {
  if (mask.rows == 0) return true;
  Buffer broken = problem.template array<int32_t>(2);
  clear(queue, broken);
  const int lanes = lanes_log2_for(nnz, mask.rows);
  launch_over(queue, mask.rows << lanes, CheckAscending<I>{mask, lanes, broken.as<int32_t>()});
  return read_back<int32_t>(queue, broken.data()) == 0;
}

template <class I>
Found find(const Desc& desc, Queue& queue) {
  using Left = PlainLeft<I>;
  const Problem<Left, I> problem{{pattern_of<I>(desc.A), nullptr},
                                 {pattern_of<I>(desc.B)},
                                 desc.rows(),
                                 desc.cols(),
                                 desc.A.nnz,
                                 desc.B.nnz,
                                 desc.pair,
                                 size_of(desc.scalar()),
                                 desc.max_workspace,
                                 desc.memory};
  if (!desc.masked) return Symbolic<Left, I>(queue, problem).run();
  const Pattern<I> mask = pattern_of<I>(desc.mask);
  if (ascends(queue, problem, mask, desc.mask.nnz)) return Symbolic<Left, I>(queue, problem).run(mask, desc.mask.nnz);
  // Once in order it can be read like any other.
  using Unit = UnitLeft<I>;
  const Problem<Unit, I> sort{{},        {mask}, desc.rows(), desc.cols(), desc.rows(), desc.mask.nnz,
                              desc.pair, 0,      0,           desc.memory};
  const Found sorted = Symbolic<Unit, I>(queue, sort).run();
  return Symbolic<Left, I>(queue, problem).run(pattern_of<I>(sorted.output.ref()), sorted.output.nnz);
}

template <class T, class I>
class HashKernel final : public Kernel {
 public:
  using Left = PlainLeftValues<T, I>;

  HashKernel(const Desc& desc, Queue& queue) : numeric_(queue, find<I>(desc, queue), desc.A.nnz) {
    output = numeric_.found().output;
    output.scalar = desc.scalar();
  }

  void execute(Queue& queue, const Args& args) override {
    numeric_.run(queue, Left{{pattern_of<I>(args.A), nullptr}, static_cast<const T*>(args.A.values)},
                 {pattern_of<I>(args.B), static_cast<const T*>(args.B.values)},
                 {static_cast<T*>(args.C), {}, factor<T>(args.alpha), factor<T>(args.beta)});
  }
  void describe(Info& info) const override {
    const Found& found = numeric_.found();
    info.add("products", found.products);
    info.add("plan_bytes", static_cast<int64_t>(numeric_.plan_bytes()));
    info.add("row_classes", int64_t{found.classes});
    info.add("keeps_slots", int64_t{found.slots.data() != nullptr});
    info.add("longest_row", int64_t{found.longest});
  }

 private:
  Numeric<Left, T, I> numeric_;
};

inline std::string hash_unsupported(const Desc& desc) {
  constexpr int largest_block = 200 * 1024;  // of the kernels here
  int shared = 0;
  if (gpu::largest_shared(shared, desc.memory->queue().device_id()) != gpu::success || shared < largest_block)
    return cat("needs ", largest_block, " bytes of shared memory in a block, the device has ", shared);
  if (std::max({desc.rows(), desc.cols(), desc.A.cols}) >= INT32_MAX) return "takes fewer than 2^31 rows and columns";
  if (std::max(desc.rows_a.longest, desc.rows_b.longest) > INT32_MAX / 64) return "rows are too long";
  return "";
}

inline std::unique_ptr<Kernel> make_hash(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch_scalar(Scalars{}, desc.scalar(), [&](auto s) {
    using T = gpu::Element<typename decltype(s)::type>;
    if (ordinal_size(desc.A.pair) == 8)
      kernel = std::make_unique<HashKernel<T, int64_t>>(desc, queue);
    else
      kernel = std::make_unique<HashKernel<T, int32_t>>(desc, queue);
  });
  return kernel;
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_hash() {
  return {{"gpu_hash"}, true, gpu_parts::hash_unsupported, gpu_parts::make_hash};
}

}  // namespace kkc::spgemm
