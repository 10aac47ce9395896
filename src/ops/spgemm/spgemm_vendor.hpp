// What the adapters to cuSPARSE and rocSPARSE share: the cases that they take, patterns and trial values of a plan's
// own, C without entries.
#pragma once

#include <algorithm>
#include <string>

#include "core/dispatch.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_scan.hpp"
#include "ops/spgemm/spgemm.hpp"
#include "ops/spgemm/spgemm_gpu_plan_kernels.hpp"
#include "ops/spmv/spmv_vendor.hpp"

namespace kkc::spgemm {
namespace vendor_parts {

using gpu::launch_over;
using gpu::read_back;

/// What the patterns tell before a library sees them.
struct Look {
  int64_t products;
  int32_t most;  // products of a row, cut off at 2^31 - 1
  bool ordered;  // rows of A and B ascend strictly
};

/// f(I{}) for the type of column indices.
template <class F>
void with_ordinal(IndexPair pair, const F& f) {
  if (ordinal_size(pair) == 8)
    f(int64_t{});
  else
    f(int32_t{});
}

inline Buffer cleared(const Desc& desc, const Queue& queue, size_t bytes) {
  Buffer buffer(desc.memory, Space::device, (bytes + 7) / 8 * 8);
  gpu::clear_words(queue, buffer.data(), buffer.bytes());
  return buffer;
}

template <class I>
bool ascends(const Desc& desc, Queue& queue, const CsrRef& A) {
  if (A.rows == 0) return true;
  const Buffer broken = cleared(desc, queue, sizeof(int32_t));
  gpu_parts::check_ascending(queue, gpu_parts::pattern_of<I>(A), A.nnz, broken.as<int32_t>());
  return read_back<int32_t>(queue, broken.data()) == 0;
}

template <class I>
Look look_at(const Desc& desc, Queue& queue) {
  using namespace gpu_parts;
  Look look{0, 0, ascends<I>(desc, queue, desc.A) && ascends<I>(desc, queue, desc.B)};
  if (desc.rows() == 0) return look;
  const Buffer bounds(desc.memory, Space::device, static_cast<size_t>(desc.rows()) * sizeof(int32_t));
  const Buffer survey = cleared(desc, queue, sizeof(Survey));
  constexpr int lanes_log2 = 3;
  launch_over(queue, desc.rows() << lanes_log2,
              BoundRows<PlainLeft<I>, PlainRight<I>>{{pattern_of<I>(desc.A), nullptr},
                                                     {pattern_of<I>(desc.B)},
                                                     desc.rows(),
                                                     lanes_log2,
                                                     bounds.as<int32_t>(),
                                                     nullptr,
                                                     {}});
  const unsigned blocks = std::min(gpu::blocks_for(desc.rows(), 1024), static_cast<unsigned>(8 * queue.concurrency()));
  gpu::launch(queue, blocks, SurveyRows::threads, 0,
              SurveyRows{bounds.as<int32_t>(), nullptr, desc.rows(), {{}, 1}, 0, 0, survey.as<Survey>()});
  Survey found;
  queue.copy(&found, survey.data(), sizeof found);
  queue.synchronize();
  look.products = static_cast<int64_t>(found.total);
  look.most = found.largest;
  return look;
}

inline Look look_at(const Desc& desc, Queue& queue) {
  Look look{};
  with_ordinal(desc.A.pair, [&](auto i) { look = look_at<decltype(i)>(desc, queue); });
  return look;
}

/// Why a vendor library does not take the case, or "". limited(look) adds its own reasons.
template <class Limited>
std::string vendor_unsupported(const Desc& desc, const char* library, const Limited& limited) {
  if (desc.masked) return cat(library, " has no masks");
  if (desc.device_scalars) return cat(library, " reads A and B even when a coefficient on the device is 0");
  if (desc.pair != desc.A.pair)
    return cat(library, " wants C of the index pair of A, ", name(desc.A.pair), ", not ", name(desc.pair));
  Look look{};
  Queue& queue = desc.memory->queue();
  queue.run([&] { look = look_at(desc, queue); });
  if (!look.ordered) return cat(library, " is given rows only that are sorted and hold no column twice");
  return limited(look);
}

/// to[i] = from[i] - base
template <class X>
struct Rebase {
  static constexpr int threads = 256;
  const X* from;
  X* to;
  int64_t count;
  X base;

  __device__ void operator()() const {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i < count) to[i] = from[i] - base;
  }
};

template <class X>
Buffer rebased(const Desc& desc, const Queue& queue, const void* from, int64_t count, int32_t base) {
  Buffer to(desc.memory, Space::device, static_cast<size_t>(count) * sizeof(X));
  launch_over(queue, count, Rebase<X>{static_cast<const X*>(from), to.as<X>(), count, static_cast<X>(base)});
  return to;
}

/// A pattern of the plan's own, base 0: a library may keep pointers into what it analysed.
class KeptPattern {
 public:
  KeptPattern(const Desc& desc, const Queue& queue, const CsrRef& A) : A_(A) {
    const auto copy = [&](size_t width, const void* from, int64_t count) {
      return width == 8 ? rebased<int64_t>(desc, queue, from, count, A.base)
                        : rebased<int32_t>(desc, queue, from, count, A.base);
    };
    offsets_ = copy(offset_size(A.pair), A.offsets, A.rows + 1);
    indices_ = copy(ordinal_size(A.pair), A.indices, A.nnz);
    A_.base = 0;
    A_.offsets = offsets_.data();
    A_.indices = indices_.data();
    A_.values = nullptr;
  }
  CsrRef with(const void* values) const {
    CsrRef A = A_;
    A.values = values;
    return A;
  }
  size_t bytes() const { return offsets_.bytes() + indices_.bytes(); }

 private:
  CsrRef A_;
  Buffer offsets_, indices_;
};

/// Values to run a library once at plan time, which has none.
inline Buffer trial_values(const Desc& desc, const Queue& queue, int64_t nnz) {
  return cleared(desc, queue, static_cast<size_t>(nnz) * size_of(desc.scalar()));
}

/// C's values as a vector, for C = beta C.
inline DenseRef values_of(Scalar scalar, int64_t nnz, void* values) { return {scalar, 1, {nnz}, {1}, values}; }

inline OutputPattern output_of(const Desc& desc, std::shared_ptr<const Buffer> offsets, int64_t nnz) {
  require_countable(desc.cols(), nnz, desc.pair, "C");
  OutputPattern C;
  C.pair = desc.pair;
  C.scalar = desc.scalar();
  C.rows = desc.rows();
  C.cols = desc.cols();
  C.nnz = nnz;
  C.offsets = std::move(offsets);
  C.indices =
      std::make_shared<const Buffer>(desc.memory, Space::device, static_cast<size_t>(nnz) * ordinal_size(desc.pair));
  return C;
}

inline size_t offsets_bytes(const Desc& desc) { return static_cast<size_t>(desc.rows() + 1) * offset_size(desc.pair); }

/// The libraries' word for their C is checked once a plan.
inline void require_order(const Desc& desc, Queue& queue, const OutputPattern& C, const char* library) {
  if (!desc.sorted) return;
  bool ordered = false;
  with_ordinal(C.pair, [&](auto i) { ordered = ascends<decltype(i)>(desc, queue, C.ref()); });
  require(ordered, KKC_STATUS_VENDOR, library, " gave rows of C that are not sorted or hold a column twice");
}

/// C without entries.
class EmptyKernel final : public Kernel {
 public:
  EmptyKernel(const Desc& desc, const Queue& queue) {
    output = output_of(desc, std::make_shared<const Buffer>(cleared(desc, queue, offsets_bytes(desc))), 0);
  }
  void execute(Queue&, const Args&) override {}
  void describe(Info& info) const override {
    info.add("products", int64_t{0});
    info.add("plan_bytes", int64_t{0});
  }
};

}  // namespace vendor_parts
}  // namespace kkc::spgemm
