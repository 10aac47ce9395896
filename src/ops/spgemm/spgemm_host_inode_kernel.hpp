// host_binned where matrices have i-nodes: rows of A that follow each other and have the same columns are multiplied at
// once, by up to four rows of B that have the same columns too: a row of sums for each column of C, a lane of it for
// each row of A.
#pragma once

#include <atomic>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/host_shared_parts.hpp"
#include "ops/spgemm/spgemm_host_inodes.hpp"
#include "ops/spgemm/spgemm_host_symbolic.hpp"

namespace kkc::spgemm {

/// Adds H rows of B times their factors for W rows of C to the sums.
template <int W, int H, class E, class S>
void add_rows(const E (&factors)[most_deep][W], const E* b, int64_t stride, const S* slots, int64_t count, E* sums) {
  for (int64_t t = 0; t < count; ++t) {
    E* const at = sums + static_cast<int64_t>(slots[t]) * W;
    E sum[W];
    for (int r = 0; r < W; ++r) sum[r] = at[r];
    for (int q = 0; q < H; ++q) {
      const E x = b[q * stride + t];
      for (int r = 0; r < W; ++r) sum[r] = plus(sum[r], times(factors[q][r], x));
    }
    for (int r = 0; r < W; ++r) at[r] = sum[r];
  }
}

template <class E, class I, class O>
class InodeKernel final : public Kernel {
  using Pattern = HostPatternRef<I, O>;

 public:
  InodeKernel(const Desc& desc, Queue& queue, int64_t width)
      : width_(width), rows_(queue, desc.memory, Pattern(desc.A), Pattern(desc.B), width) {
    Desc reduced = desc;
    reduced.A.base = 0;
    reduced.A.rows = rows_.tiles();
    reduced.A.nnz = rows_.begin(rows_.tiles());
    reduced.A.offsets = rows_.offsets.data();
    reduced.A.indices = rows_.columns.data();
    OutputPattern tiles;
    {
      const LeftPattern<I, O> left{Pattern(reduced.A)};
      HostSymbolic<LeftPattern<I, O>, I, O>(queue, reduced, left, HostChoice::binned).run(tiles);
    }
    count(desc, queue);
    if (offset_size(desc.pair) == 8)
      make_output<int64_t>(desc, queue, tiles);
    else
      make_output<int32_t>(desc, queue, tiles);
    each_ = (static_cast<size_t>(longest_ * width_) * sizeof(E) + memory_alignment - 1) / memory_alignment *
            memory_alignment;
    sums_ = host_array<char>(desc.memory, static_cast<int64_t>(each_) * queue.concurrency());
  }

  void execute(Queue& queue, const Args& args) override {
    const auto with = [&](auto width, auto slot) {
      using S = decltype(slot);
      deal(queue, chunk_count(), [&](int64_t worker, int64_t chunk) {
        E* const sums = reinterpret_cast<E*>(sums_.template as<char>() + static_cast<size_t>(worker) * each_);
        if (offset_size(output.pair) == 8)
          make_tiles<decltype(width)::value, S, int64_t>(chunk, args, sums);
        else
          make_tiles<decltype(width)::value, S, int32_t>(chunk, args, sums);
      });
    };
    const auto wide = [&](auto width) { wide_slots() ? with(width, uint32_t{}) : with(width, uint16_t{}); };
    if (width_ == 4)
      wide(std::integral_constant<int, 4>{});
    else
      wide(std::integral_constant<int, 8>{});
  }

  void describe(Info& info) const override {
    info.add("products", products_);
    info.add("compression", output.nnz == 0 ? 1.0 : static_cast<double>(products_) / static_cast<double>(output.nnz));
    info.add("plan_bytes", static_cast<int64_t>(rows_.bytes() + slots_.bytes() + sums_.bytes() +
                                                (slots_at_.size() + chunks_.size()) * sizeof(int64_t)));
    info.add("tiles", rows_.tiles());
  }

 private:
  bool wide_slots() const { return longest_ > int64_t{std::numeric_limits<uint16_t>::max()} + 1; }
  int64_t chunk_count() const { return static_cast<int64_t>(chunks_.size()) - 1; }

  /// Products of tiles, and tiles dealt to chunks by these.
  void count(const Desc& desc, Queue& queue) {
    const Pattern A(desc.A), B(desc.B);
    const auto tiles = static_cast<size_t>(rows_.tiles());
    slots_at_.assign(tiles + 1, 0);
    const I* const columns = rows_.columns.template as<I>();
    std::atomic<int64_t> all{0};
    deal(queue, (rows_.tiles() + rows_of_part - 1) / rows_of_part, [&](int64_t, int64_t part) {
      int64_t of_part = 0;
      for (int64_t tile = part * rows_of_part; tile < std::min(rows_.tiles(), (part + 1) * rows_of_part); ++tile) {
        const auto t = static_cast<size_t>(tile);
        int64_t slots = 0, products = 0;
        for (int64_t e = rows_.begin(tile); e < rows_.begin(tile + 1); ++e) {
          const int64_t length = B.end(columns[e]) - B.begin(columns[e]);
          slots += length;
          products += length * deep_of(tile, e, A.end(rows_.firsts[t]) - A.begin(rows_.firsts[t]));
        }
        slots_at_[t + 1] = slots;
        of_part += products * (rows_.firsts[t + 1] - rows_.firsts[t]);
      }
      all += of_part;
    });
    products_ = all;
    for (size_t t = 0; t < tiles; ++t) slots_at_[t + 1] += slots_at_[t];
    const int64_t most = std::max<int64_t>(slots_at_.back() / (64 * queue.concurrency()), 4096);
    chunks_.push_back(0);
    for (size_t t = 1; t <= tiles; ++t)
      if (t == tiles || slots_at_[t] - slots_at_[static_cast<size_t>(chunks_.back())] >= most)
        chunks_.push_back(static_cast<int64_t>(t));
  }

  /// Rows of B of entry e of a tile whose rows of A have `length` entries.
  int64_t deep_of(int64_t tile, int64_t e, int64_t length) const {
    const auto* const entries = rows_.entries.template as<int32_t>();
    return (e + 1 < rows_.begin(tile + 1) ? entries[e + 1] : length) - entries[e];
  }

  /// C's pattern from that of the tiles, and the slots.
  template <class OC>
  void make_output(const Desc& desc, Queue& queue, const OutputPattern& tiles) {
    const OC* const from = tiles.offsets->template as<OC>();
    const I* const from_columns = tiles.indices->template as<I>();
    int64_t nnz = 0;
    for (int64_t t = 0; t < rows_.tiles(); ++t) {
      const int64_t length = from[t + 1] - from[t];
      longest_ = std::max(longest_, length);
      nnz += length * (rows_.firsts[static_cast<size_t>(t) + 1] - rows_.firsts[static_cast<size_t>(t)]);
    }
    allocate_output(desc, nnz, output);
    // Written once, by the plan that makes them.
    auto* const offsets = static_cast<OC*>(const_cast<void*>(output.offsets->data()));
    auto* const columns = static_cast<I*>(const_cast<void*>(output.indices->data()));
    offsets[0] = 0;
    for (int64_t t = 0; t < rows_.tiles(); ++t)
      for (int64_t i = rows_.firsts[static_cast<size_t>(t)]; i < rows_.firsts[static_cast<size_t>(t) + 1]; ++i)
        offsets[i + 1] = offsets[i] + (from[t + 1] - from[t]);
    slots_ = host_array<char>(desc.memory, slots_at_.back() * (wide_slots() ? 4 : 2));
    std::vector<Buffer> places(static_cast<size_t>(queue.concurrency()));
    const Pattern B(desc.B);
    deal(queue, chunk_count(), [&](int64_t worker, int64_t chunk) {
      Buffer& place = places[static_cast<size_t>(worker)];
      if (place.data() == nullptr) place = host_array<int32_t>(desc.memory, desc.cols());
      for (int64_t t = chunks_[static_cast<size_t>(chunk)]; t < chunks_[static_cast<size_t>(chunk) + 1]; ++t) {
        const I* const row = from_columns + from[t];
        const int64_t length = from[t + 1] - from[t];
        for (int64_t i = rows_.firsts[static_cast<size_t>(t)]; i < rows_.firsts[static_cast<size_t>(t) + 1]; ++i)
          std::copy(row, row + length, columns + offsets[i]);
        int32_t* const at = place.template as<int32_t>();
        for (int64_t j = 0; j < length; ++j) at[row[j]] = static_cast<int32_t>(j);
        if (wide_slots())
          find_slots<uint32_t>(t, B, at);
        else
          find_slots<uint16_t>(t, B, at);
      }
    });
  }

  template <class S>
  void find_slots(int64_t tile, const Pattern& B, const int32_t* place) {
    S* to = slots_.template as<S>() + slots_at_[static_cast<size_t>(tile)];
    const I* const columns = rows_.columns.template as<I>();
    for (int64_t e = rows_.begin(tile); e < rows_.begin(tile + 1); ++e)
      for (int64_t p = B.begin(columns[e]); p < B.end(columns[e]); ++p) *to++ = static_cast<S>(place[B.column(p)]);
  }

  template <int W, class S, class OC>
  void make_tiles(int64_t chunk, const Args& args, E* sums) const {
    const Pattern A(args.A), B(args.B);
    const auto* const a = static_cast<const E*>(args.A.values);
    const auto* const b = static_cast<const E*>(args.B.values);
    const E alpha = factor<E>(args.alpha).get(), beta = factor<E>(args.beta).get();
    const OC* const offsets = output.offsets->template as<OC>();
    const I* const columns = rows_.columns.template as<I>();
    const auto* const entries = rows_.entries.template as<int32_t>();
    for (int64_t t = chunks_[static_cast<size_t>(chunk)]; t < chunks_[static_cast<size_t>(chunk) + 1]; ++t) {
      const int64_t first = rows_.firsts[static_cast<size_t>(t)],
                    rows = rows_.firsts[static_cast<size_t>(t) + 1] - first,
                    length = static_cast<int64_t>(offsets[first + 1]) - static_cast<int64_t>(offsets[first]);
      E* const c = static_cast<E*>(args.C) + offsets[first];
      std::fill(sums, sums + length * W, E{});
      if (!(beta == E{}))
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t j = 0; j < length; ++j) sums[j * W + r] = times(beta, c[r * length + j]);
      if (!(alpha == E{})) {
        const int64_t of_a = A.begin(first), entries_a = A.end(first) - of_a;
        const S* slots = slots_.template as<S>() + slots_at_[static_cast<size_t>(t)];
        for (int64_t e = rows_.begin(t); e < rows_.begin(t + 1); ++e) {
          const int64_t begin = B.begin(columns[e]), count = B.end(columns[e]) - begin,
                        rows_b = deep_of(t, e, entries_a);
          E factors[most_deep][W]{};
          for (int64_t q = 0; q < rows_b; ++q)
            for (int64_t r = 0; r < rows; ++r) factors[q][r] = times(alpha, a[of_a + r * entries_a + entries[e] + q]);
          switch (rows_b) {
            case 1: add_rows<W, 1>(factors, b + begin, count, slots, count, sums); break;
            case 2: add_rows<W, 2>(factors, b + begin, count, slots, count, sums); break;
            case 3: add_rows<W, 3>(factors, b + begin, count, slots, count, sums); break;
            default: add_rows<W, 4>(factors, b + begin, count, slots, count, sums); break;
          }
          slots += count;
        }
      }
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t j = 0; j < length; ++j) c[r * length + j] = sums[j * W + r];
    }
  }

  int64_t width_;  // rows of a tile at most
  ReducedRows<I, O> rows_;
  std::vector<int64_t> slots_at_, chunks_;  // first slots of tiles; first tiles of chunks
  Buffer slots_, sums_;
  int64_t products_ = 0, longest_ = 0;  // longest row of C
  size_t each_ = 0;
};

/// Null where i-nodes are too few to be worth it, by samples of rows; where rows are of few kinds, whose classes keep
/// less and are as fast; under masks.
template <class E, class I, class O>
std::unique_ptr<Kernel> make_inodes(const Desc& desc, Queue& queue) {
  constexpr int64_t least_mean = 8;  // entries of a row of B
  constexpr double least_rows = 1.5, least_reduction = 1.7, least_rows_of_few_kinds = 8;
  if (desc.masked || desc.A.nnz == 0 || desc.B.nnz < least_mean * desc.B.rows ||
      desc.rows_a.longest > std::numeric_limits<int32_t>::max())
    return nullptr;
  const SampledNodes a = sample_nodes(queue, HostPatternRef<I, O>(desc.A));
  const double rows = a.rows_of_node();
  if (rows < least_rows || (rows < least_rows_of_few_kinds && 8 * a.kinds <= a.rows) ||
      rows * sample_nodes(queue, HostPatternRef<I, O>(desc.B)).rows_of_node() < least_reduction)
    return nullptr;
  return std::make_unique<InodeKernel<E, I, O>>(desc, queue, std::is_floating_point_v<E> && rows > 4 ? 8 : 4);
}

}  // namespace kkc::spgemm
