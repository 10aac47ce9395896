// spmv, gpu_compressed: row split over 16-bit column indices, each relative to the smallest column of its 32 rows: 10
// bytes a nonzero instead of 12 (delta indices: Kourtis, Goumas and Koziris, "Optimizing sparse matrix-vector
// multiplication using index and value compression", CF'08, section 4, with one base a group of rows instead of runs).
#pragma once

#include "spmv_gpu_row_split.hpp"

namespace kkc::spmv {
namespace gpu_parts {

template <class I, class O>
struct NearFindings final : Findings {
  Buffer near, bases;
  bool fits = false;

  NearFindings(const Desc& desc, Queue& queue)
      : near(device_array<uint16_t>(desc, desc.A.nnz)), bases(device_array<I>(desc, (desc.A.rows + 31) / 32)) {
    Buffer wide = device_array<int32_t>(desc, 1);
    fill_words(queue, wide, 0);
    CompressColumns<I, O> compress{offsets_of<O>(desc.A), columns_of<I>(desc.A), bases.as<I>(),
                                   near.as<uint16_t>(),   wide.as<int32_t>(),    1};
    // First some groups of rows: most matrices that do not fit are given up there.
    const unsigned all = gpu::blocks_for(desc.A.rows, 32);
    constexpr unsigned some = 128;
    if (all > 4 * some) {
      compress.every = static_cast<int32_t>(all / some);
      gpu::launch(queue, some, compress.threads, 0, compress);
      compress.every = 1;
    }
    gpu::launch(queue, std::min(all, static_cast<unsigned>(16 * queue.concurrency())), compress.threads, 0, compress);
    fits = read_back<int32_t>(queue, wide.data()) == 0;
  }
};

/// Once a plan.
template <class I, class O>
NearFindings<I, O>& find_near(const Desc& desc, Queue& queue) {
  auto& kept = desc.findings.compressed;
  if (kept == nullptr) kept = std::make_shared<NearFindings<I, O>>(desc, queue);
  return static_cast<NearFindings<I, O>&>(*kept);
}

template <class T, class I, class O>
class CompressedKernel final : public Kernel {
 public:
  CompressedKernel(const Desc& desc, Queue& queue)
      : scaling_(queue), launcher_(desc, queue), conjugate_(conjugates_values(desc)) {
    NearFindings<I, O>& found = find_near<I, O>(desc, queue);
    near_ = std::move(found.near);
    bases_ = std::move(found.bases);
    desc.findings.compressed = nullptr;
  }

  void execute(Queue& queue, const Args& args) override {
    if (scaling_.suffices(args)) return scaling_.run(queue, args);
    launcher_.run(queue, rows_of<T, O>(args.A, conjugate_),
                  NearColumns<I>{near_.template as<uint16_t>(), bases_.template as<I>()}, vectors_of<T>(args.x, args.y),
                  coefficients_of<T>(args));
  }
  void describe(Info& info) const override {
    info.add("lanes", int64_t{launcher_.lanes()});
    info.add("index_bits", int64_t{16});
    info.add("plan_bytes", static_cast<int64_t>(near_.bytes() + bases_.bytes()));
  }

 private:
  Scaling<T> scaling_;
  RowSplitLauncher<T, O, NearColumns<I>> launcher_;
  bool conjugate_;
  Buffer near_, bases_;
};

inline std::string compressed_unsupported(const Desc& desc) {
  if (std::string reason = row_split_unsupported(desc); !reason.empty()) return reason;
  if (desc.A.nnz == 0) return "there is nothing to compress";
  if (irregular(desc)) return "rows are too uneven";
  return refused(
      [&](Queue& queue) {
        bool fits = false;
        dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto p) {
          using P = decltype(p);
          fits = find_near<typename P::ordinal, typename P::offset>(desc, queue).fits;
        });
        return fits ? "" : "columns of 32 rows span more than 16 bits";
      },
      desc);
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_compressed() {
  return {
      {"gpu_compressed"}, true, gpu_parts::compressed_unsupported, gpu_parts::make_typed<gpu_parts::CompressedKernel>};
}

}  // namespace kkc::spmv
