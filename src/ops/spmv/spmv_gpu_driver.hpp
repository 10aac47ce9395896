// What the host drivers of the GPU kernels share: operands as kernels take them, plan data, launches.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "core/dispatch.hpp"
#include "core/memory.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_read.hpp"
#include "ops/spmv/spmv.hpp"
#include "spmv_gpu_plan_kernels.hpp"
#include "spmv_gpu_tuning.hpp"

namespace kkc::spmv::gpu_parts {

template <class T>
Buffer device_array(const Desc& desc, int64_t count) {
  return Buffer(Memory::in_order(desc.memory), Space::device, static_cast<size_t>(count) * sizeof(T));
}

using gpu::launch_over;
using gpu::read_back;

/// Fills device memory with copies of a word.
struct FillWords {
  static constexpr int threads = 256;
  uint32_t* words;
  int64_t count;
  uint32_t value;

  __device__ void operator()() const {
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x; i < count;
         i += static_cast<int64_t>(gridDim.x) * threads)
      words[i] = value;
  }
};

inline void fill_words(Queue& queue, const Buffer& buffer, uint32_t value, size_t bytes) {
  const int64_t count = static_cast<int64_t>(bytes / 4);
  gpu::launch(queue, std::min(gpu::blocks_for(count, 1024), 4096u), FillWords::threads, 0,
              FillWords{buffer.as<uint32_t>(), count, value});
}

inline void fill_words(Queue& queue, const Buffer& buffer, uint32_t value) {
  fill_words(queue, buffer, value, buffer.bytes());
}

/// Places of several arrays in one allocation: allocations cost more than kernels' launches.
class Parts {
 public:
  template <class T>
  size_t add(int64_t count) {
    const size_t at = bytes_;
    bytes_ += (static_cast<size_t>(count) * sizeof(T) + 255) / 256 * 256;
    return at;
  }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

// ---- operands ----

inline bool conjugates_values(const Desc& desc) { return conjugates(desc.op) && is_complex_scalar(desc.A.scalar); }

template <class T, class O>
Rows<T, O> rows_of(const CsrRef& A, bool conjugate) {
  return {static_cast<const O*>(A.offsets), static_cast<const T*>(A.values), A.rows, A.base, conjugate};
}
template <class O>
Offsets<O> offsets_of(const CsrRef& A) {
  return {static_cast<const O*>(A.offsets), A.rows, A.base};
}
template <class I>
PlainColumns<I> columns_of(const CsrRef& A) {
  return {static_cast<const I*>(A.indices), A.base};
}
template <class T>
Vectors<T> vectors_of(const DenseRef& x, const DenseRef& y) {
  return {static_cast<const T*>(x.data),
          static_cast<T*>(y.data),
          x.strides[0],
          x.rank == 2 ? x.strides[1] : 0,
          y.strides[0],
          y.rank == 2 ? y.strides[1] : 0,
          x.rank == 2 ? x.extents[1] : 1};
}
template <class T>
Coefficients<T> coefficients_of(const Args& args) {
  return {factor<T>(args.alpha), factor<T>(args.beta)};
}

inline bool contiguous(const DenseRef& v) { return v.extents[0] <= 1 || v.strides[0] == 1; }

inline double mean_row(const Desc& desc) {
  return desc.A.rows == 0 ? 0 : static_cast<double>(desc.A.nnz) / static_cast<double>(desc.A.rows);
}

inline bool irregular(const Desc& desc) {
  return desc.rows.longest > gpu_tuning::irregular_length &&
         static_cast<double>(desc.rows.longest) > gpu_tuning::irregular_factor * mean_row(desc);
}

// ---- reasons ----

/// What none of the kernels with one vector of N takes.
inline std::string not_one_vector(const Desc& desc) {
  if (transposes(desc.op)) return "takes op N and conj only";
  if (desc.vectors != 1) return "takes one vector only";
  return "";
}

/// Asks the device: `ask(queue)` gives the reason. What fails there is a reason too.
template <class F>
std::string refused(const F& ask, const Desc& desc) {
  std::string reason;
  try {
    Queue& queue = desc.memory->queue();
    queue.run([&] { reason = ask(queue); });
  } catch (const Error& error) {
    reason = error.what();
  }
  return reason;
}

template <class Index>
bool counts(int64_t number) {
  return number <= std::numeric_limits<Index>::max();
}
inline bool rows_fit_ordinal(const Desc& desc) {
  return ordinal_size(desc.A.pair) == 8 || (counts<int32_t>(desc.A.rows) && counts<int32_t>(desc.A.cols));
}

// ---- kernels ----

/// y = beta y; what remains of a product when the host knows that alpha is 0.
template <class T>
class Scaling {
 public:
  explicit Scaling(const Queue& queue) { gpu::prepare<Scale<T>>(queue); }

  void run(Queue& queue, const Args& args) const {
    const DenseRef& y = args.y;
    const int64_t count = y.rank == 2 ? y.extents[1] : 1;
    if (!args.beta.on_device && is_one(factor<T>(args.beta).value)) return;
    launch_over(queue, y.extents[0] * count,
                Scale<T>{static_cast<T*>(y.data), y.extents[0], count, y.strides[0], y.rank == 2 ? y.strides[1] : 0,
                         factor<T>(args.beta)});
  }
  /// Whether the product is only that.
  bool suffices(const Args& args) const { return !args.alpha.on_device && gpu::is_zero(factor<T>(args.alpha).value); }

 private:
  static bool is_one(const T& a) {
    if constexpr (gpu::is_pair<T>)
      return a.re == 1 && a.im == 0;
    else
      return a == 1;
  }
};

/// Chooses the kernel's types: Typed<T, I, O>(desc, queue).
template <template <class, class, class> class Typed>
std::unique_ptr<Kernel> make_typed(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.A.scalar, desc.A.pair, [&](auto s, auto p) {
    using T = gpu::Element<typename decltype(s)::type>;
    using P = decltype(p);
    kernel = std::make_unique<Typed<T, typename P::ordinal, typename P::offset>>(desc, queue);
  });
  return kernel;
}

/// Calls f(std::integral_constant<int, i>) for the shape at run time.
template <class F, int... i>
void with_shape(int shape, F&& f, std::integer_sequence<int, i...>) {
  static_cast<void>(((shape == i ? (f(std::integral_constant<int, i>{}), true) : false) || ...));
}
template <class F>
void with_shape(int shape, F&& f) {
  with_shape(shape, std::forward<F>(f), std::make_integer_sequence<int, gpu_tuning::shape_count>{});
}

/// Long rows and bins of rows, found on the device; how many there are is known from the histogram.
template <class I, class O>
class RowPlan {
 public:
  /// With room for `others` bytes beside its own arrays and, where there are bins, `zeros` that are zero.
  RowPlan(const Desc& desc, Queue& queue, int32_t longest_short, int32_t segment, bool with_bins, size_t zeros = 0,
          size_t others = 0) {
    const RowStats& rows = desc.rows;
    int64_t long_count = 0, long_entries = 0;
    SortedRows<I, O> sort{};
    sort.A = offsets_of<O>(desc.A);
    sort.longest_short = longest_short;
    sort.segment = segment;
    int64_t first = 0;
    // Classes 0..2 (up to 4 entries), then one bin each up to 256, then the rest.
    for (int i = 0; i < 40; ++i) {
      const int64_t upper = int64_t{1} << i;
      if (upper > longest_short) {
        long_count += rows.histogram[i];
        long_entries += rows.nonzeros[i];
        continue;
      }
      const int b = i <= 2 ? 0 : std::min(i - 2, max_bins - 1);
      if (b >= sort.bin_count) sort.first[b] = first;
      sort.bin_count = b + 1;
      sort.longest[b] = static_cast<int32_t>(upper);
      bins_[b].first = sort.first[b];
      bins_[b].count += rows.histogram[i];
      first += rows.histogram[i];
    }
    bin_count_ = sort.bin_count;
    longest_ = std::to_array(sort.longest);
    if (!with_bins) sort.bin_count = 0;
    require(long_count + long_entries / segment <= std::numeric_limits<int32_t>::max() / 2, KKC_STATUS_NOT_SUPPORTED,
            "too many long rows");
    longs_.count = static_cast<int32_t>(long_count);
    longs_.segments = static_cast<int32_t>(long_entries / segment + long_count);
    longs_.segment = segment;
    longs_.longest_short = longest_short;
    const bool sorts = long_count > 0 || with_bins;
    if (!sorts && others == 0) return;
    // One allocation; what must be zero comes first.
    Parts parts;
    const size_t cursors = parts.add<unsigned long long>(max_bins), counts = parts.add<int32_t>(2),
                 tickets = parts.add<uint32_t>(long_count), owners = parts.add<int32_t>(longs_.segments),
                 zeros_at = parts.add<char>(static_cast<int64_t>(zeros)), zero_bytes = parts.bytes(),
                 rows_at = parts.add<I>(long_count), firsts = parts.add<int32_t>(long_count),
                 permutation = parts.add<I>(with_bins ? first : 0),
                 others_at = parts.add<char>(static_cast<int64_t>(others));
    arrays_ = Buffer(Memory::in_order(desc.memory), Space::device, parts.bytes());
    char* data = arrays_.as<char>();
    zeros_ = data + zeros_at;
    others_ = data + others_at;
    if (!sorts) return;
    fill_words(queue, arrays_, 0, zero_bytes);
    permutation_ = with_bins ? reinterpret_cast<I*>(data + permutation) : nullptr;
    sort.permutation = permutation_;
    sort.cursors = reinterpret_cast<unsigned long long*>(data + cursors);
    sort.counts = reinterpret_cast<int32_t*>(data + counts);
    sort.rows = reinterpret_cast<I*>(data + rows_at);
    sort.firsts = reinterpret_cast<int32_t*>(data + firsts);
    sort.owners = reinterpret_cast<int32_t*>(data + owners);
    const auto look = [&]<class Sort>(const Sort& all) {
      gpu::launch(queue, gpu::blocks_for(desc.A.rows, all.rows_a_block), all.threads, 0, all);
    };
    // One row a thread where there are too few to fill the device otherwise.
    if (desc.A.rows < gpu_tuning::sorted_in_turns)
      look(SortRows<I, O, 1>{sort});
    else
      look(SortRows<I, O, 4>{sort});
    longs_.rows = sort.rows;
    longs_.firsts = sort.firsts;
    longs_.owners = sort.owners;
    longs_.tickets = reinterpret_cast<uint32_t*>(data + tickets);
  }

  const LongRows<I>& longs() const { return longs_; }
  const I* permutation() const { return permutation_; }
  char* zeros() const { return zeros_; }
  char* others() const { return others_; }

  /// Bins, longest rows first, behind the segments' blocks; returns the number of blocks.
  template <class F>
  uint32_t place(F& f, int entries_a_lane = gpu_tuning::entries_a_lane, int most_lanes_log2 = 5) const {
    f.bin_count = 0;
    int64_t block = longs_.segments;
    for (int b = bin_count_ - 1; b >= 0; --b) {
      if (bins_[b].count == 0) continue;
      Bin bin = bins_[b];
      bin.first_block = static_cast<uint32_t>(block);
      bin.lanes_log2 = 0;
      while (bin.lanes_log2 < most_lanes_log2 && longest_[b] >> bin.lanes_log2 > entries_a_lane) ++bin.lanes_log2;
      block += gpu::blocks_for(bin.count << bin.lanes_log2, F::threads);
      f.bins[f.bin_count++] = bin;
    }
    require(block <= std::numeric_limits<int32_t>::max(), KKC_STATUS_NOT_SUPPORTED, "too many rows for one launch");
    return static_cast<uint32_t>(block);
  }

  void describe(Info& info) const {
    info.add("long_rows", int64_t{longs_.count});
    info.add("segments", int64_t{longs_.segments});
  }

 private:
  Buffer arrays_;
  char *zeros_ = nullptr, *others_ = nullptr;
  I* permutation_ = nullptr;
  LongRows<I> longs_{};
  std::array<Bin, max_bins> bins_{};
  std::array<int32_t, max_bins> longest_{};
  int bin_count_ = 0;
};

}  // namespace kkc::spmv::gpu_parts
