// spadd, gpu_merge: tiles of the merge path to bits (spadd_gpu_merge_tile.hpp), C's pattern and values by gathering.
// Operands whose rows are not strictly ascending, or that are transposed, are read through a map of positions. The same
// bits run to run.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "core/dispatch.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_queue.hpp"
#include "device/gpu_read.hpp"
#include "spadd_gpu_merge_kernels.hpp"
#include "spadd_gpu_merge_memory.hpp"
#include "spadd_sources.hpp"

namespace kkc::spadd {

namespace gpu_parts {

/// Bytes of columns for as many entries as A and B have, up to which C's are written while A and B are merged. Where
/// much of it would be left over they are moved.
inline constexpr size_t most_room = size_t{256} << 20, most_left_over = size_t{1} << 20;

/// The plan data of both phases; knows no scalar.
template <class I, class O>
class Merge {
 public:
  Merge(const Desc& desc, Queue& queue)
      : A(desc.A), B(desc.B), rows_(desc.rows), cols_(desc.cols), pair_C_(desc.pair_C), memory_(desc.memory) {
    gpu::prepare<MergeTile<I, O>>(queue);
    // Patterns are looked at while they are merged. Before anything else reads one it is looked at as a whole.
    const bool as_they_are = !A.transposed() && !B.transposed() && desc.order != RowOrder::unsorted;
    if (as_they_are) run(queue);
    if (!as_they_are || (found_ & (found_offsets | found_range | found_disorder)) != 0) {
      good_ = good_pattern(queue, desc.A) && good_pattern(queue, desc.B);
      if (!good_) return;
    }
    if (!as_they_are) {
      for (Sources* x : {&A, &B})
        if (x->transposed())
          x->use(transposed_rows(queue, memory_, *x));
        else if (desc.order == RowOrder::unsorted)
          put_right(queue, memory_, *x);
      run(queue);
    }
    if ((found_ & found_disorder) != 0) {
      const int64_t bad_A = first_disorder(queue, A), bad_B = first_disorder(queue, B);
      require(bad_A >= 0 || bad_B >= 0, KKC_STATUS_INTERNAL, "spadd found rows out of order and in order");
      if (desc.order == RowOrder::sorted) {
        if (bad_A >= 0 && !A.transposed()) fail_not_sorted("A", bad_A);
        if (bad_B >= 0 && !B.transposed()) fail_not_sorted("B", bad_B);
      }
      if (bad_A >= 0) put_right(queue, memory_, A);
      if (bad_B >= 0) put_right(queue, memory_, B);
      run(queue);
    }
    require((found_ & ~found_gaps) == 0, KKC_STATUS_INTERNAL, "spadd found a good pattern bad");
  }

  /// False: an operand's pattern is none, and nothing else is known.
  bool good() const { return good_; }
  int64_t nnz() const { return nnz_; }
  int64_t tiles() const { return tiles_; }
  const Tiles& ref() const { return ref_; }
  size_t bytes() const { return data_.bytes() + A.bytes() + B.bytes(); }

  template <class J, class Q>
  Pattern write_pattern(Queue& queue) {
    const auto a = A.template rows<I, O>(), b = B.template rows<I, O>();
    bool enqueued = false;
    if (rows_ > 0 && (tiles_ == 0 || (found_ & found_gaps) != 0)) {
      const WriteOffsets<I, O, Q> write{
          a, b, rows_, A.entries() + B.entries(), tiles_, ref_, offsets_->template as<Q>()};
      gpu::launch_over(queue, rows_ + 1, write);
      enqueued = true;
    }
    const size_t bytes = static_cast<size_t>(nnz()) * sizeof(J);
    if (columns_ == nullptr) {
      columns_ = std::make_shared<const Buffer>(memory_, Space::device, bytes);
      const Gather<PickColumn<I, J>> gather{ref_, {a.columns, b.columns, a.base, b.base, columns_->template as<J>()}};
      gpu::launch(queue, gpu::blocks_for(tiles_, 1), gather.threads, 0, gather);
      enqueued = true;
    } else if (const size_t room = columns_->bytes(); room - bytes > std::max(most_left_over, room / 4)) {
      shrink(queue, bytes);
      enqueued = true;
    }
    // The operands' patterns are the caller's again when the plan is made.
    if (enqueued) queue.synchronize();
    A.forget_pattern();
    B.forget_pattern();
    return {std::move(offsets_), std::move(columns_)};
  }

  Sources A, B;

 private:
  /// Merges.
  void run(Queue& queue) {
    const auto a = A.template rows<I, O>(), b = B.template rows<I, O>();
    const int64_t end_a = A.entries(), end_b = B.entries();
    tiles_ = (end_a + end_b + tile_steps - 1) / tile_steps;
    const unsigned readers = std::clamp(gpu::blocks_for(std::max(rows_, tiles_), ReadOffsets<I, O>::threads), 1u,
                                        static_cast<unsigned>(2 * queue.concurrency()));
    size_t bytes = 0;
    const auto take = [&bytes](int64_t count, size_t each) {
      const size_t at = bytes;
      bytes += OneAllocation::room_for(static_cast<size_t>(count) * each);
      return at;
    };
    const size_t points_at = take(tiles_ + 1, sizeof(Point)), firsts_at = take(tiles_ + 1, sizeof(int64_t)),
                 words_at = take(tiles_ * tile_words, sizeof(Word)), bases_at = take(tiles_ * tile_words, sizeof(Base)),
                 counts_at = take(tiles_ + 2, sizeof(unsigned)),
                 groups_at = take(2 * LookBack::groups(tiles_), sizeof(unsigned long long)),
                 verdicts_at = take(readers, sizeof(unsigned));
    const size_t room = static_cast<size_t>(end_a + end_b) * ordinal_size(pair_C_);
    allocate(bytes, room <= most_room ? room : 0, room <= most_room);
    char* const data = data_.as<char>();
    auto* const points = reinterpret_cast<Point*>(data + points_at);
    auto* const firsts = reinterpret_cast<int64_t*>(data + firsts_at);
    auto* const words = reinterpret_cast<Word*>(data + words_at);
    auto* const bases = reinterpret_cast<Base*>(data + bases_at);
    auto* const counts = reinterpret_cast<unsigned*>(data + counts_at);
    auto* const groups = reinterpret_cast<unsigned long long*>(data + groups_at);
    auto* const verdicts = reinterpret_cast<unsigned*>(data + verdicts_at);
    auto* const ticket = counts + tiles_;
    // Kernels write the result where the host reads it: a copy would take as long as one of the short kernels.
    auto* const result = static_cast<volatile Result*>(static_cast<gpu::GpuQueue&>(queue).landing());
    result->nnz = 0;
    for (int kind = 0; kind < found_kinds; ++kind) result->found[kind] = 0;
    const Progress progress{{counts, groups, groups + LookBack::groups(tiles_)}, ticket, ticket + 1, result};
    ref_ = {points, firsts, words, bases};

    const ReadOffsets<I, O> read{a, b, rows_, end_a, end_b, tiles_, points, firsts + tiles_, progress, verdicts};
    gpu::launch(queue, readers, read.threads, 0, read);
    const FindPoints<I, O> find{a, b, rows_, tiles_, points, progress, verdicts, static_cast<int>(readers)};
    gpu::launch(queue, std::max(1u, gpu::blocks_for(tiles_, find.warps)), find.threads, 0, find);
    const bool wide_offsets = offset_size(pair_C_) == 8, wide_columns = ordinal_size(pair_C_) == 8;
    const MergeTile<I, O> merge{a,
                                b,
                                rows_,
                                end_a,
                                end_b,
                                tiles_,
                                static_cast<uint64_t>(cols_),
                                points,
                                words,
                                bases,
                                firsts,
                                progress,
                                {rows_ > 0 ? offsets_->data() : nullptr, columns_ ? columns_->data() : nullptr,
                                 wide_offsets, wide_columns, end_a + end_b}};
    gpu::launch(queue, gpu::blocks_for(tiles_, 1), merge.threads, 0, merge);
    queue.synchronize();
    nnz_ = result->nnz;
    found_ = 0;
    for (int kind = 0; kind < found_kinds; ++kind) found_ |= result->found[kind] << kind;
  }

  /// The plan data and C's arrays.
  void allocate(size_t data, size_t columns, bool has_columns) {
    const size_t offsets = rows_ > 0 ? static_cast<size_t>(rows_ + 1) * offset_size(pair_C_) : 0;
    data_ = Buffer();
    offsets_.reset();
    columns_.reset();
    const auto memory = std::make_shared<const OneAllocation>(
        memory_, OneAllocation::room_for(data) + OneAllocation::room_for(offsets) + OneAllocation::room_for(columns));
    data_ = Buffer(memory, Space::device, data);
    if (rows_ > 0) offsets_ = std::make_shared<const Buffer>(memory, Space::device, offsets);
    if (has_columns) columns_ = std::make_shared<const Buffer>(memory, Space::device, columns);
  }

  /// Moves all to an allocation with room for no more columns than C has.
  void shrink(Queue& queue, size_t columns) {
    const Buffer data(std::move(data_));
    const auto old_offsets = std::move(offsets_), old_columns = std::move(columns_);
    allocate(data.bytes(), columns, true);
    queue.copy(data_.data(), data.data(), data.bytes());
    if (old_offsets) queue.copy(offsets_->data(), old_offsets->data(), old_offsets->bytes());
    if (columns > 0) queue.copy(columns_->data(), old_columns->data(), columns);
    const auto moved = [&](auto* part) {
      return reinterpret_cast<decltype(part)>(data_.as<char>() +
                                              (reinterpret_cast<const char*>(part) - data.as<char>()));
    };
    ref_ = {moved(ref_.points), moved(ref_.firsts), moved(ref_.words), moved(ref_.bases)};
  }

  /// The operand's pattern as the caller gave it.
  static bool good_pattern(Queue& queue, const Operand& x) {
    const OperationTable* table = find_operation(queue.table(), "row_stats");
    require(table != nullptr && table->count > 0, KKC_STATUS_INTERNAL, "row_stats has no kernels");
    RowStats stats;
    const row_stats::Pass pass{x.matrix, false};
    static_cast<const row_stats::Implementation*>(table->entries[0])->run(queue, {&pass, 1}, &stats);
    return stats.first_bad_row < 0 && stats.first_bad_entry < 0;
  }

  /// The first row out of order, or -1.
  int64_t first_disorder(Queue& queue, const Sources& x) const {
    const Buffer found(Memory::in_order(memory_), Space::device, sizeof(unsigned long long));
    gpu::write(queue, found.data(), ~0ull);
    const FindDisorder<I, O> find{x.template rows<I, O>(), rows_, found.as<unsigned long long>()};
    const unsigned most = static_cast<unsigned>(16 * queue.concurrency());
    gpu::launch(queue, std::min(most, gpu::blocks_for(rows_, find.threads / 32)), find.threads, 0, find);
    const auto first = gpu::read_back<unsigned long long>(queue, found.data());
    return first == ~0ull ? -1 : static_cast<int64_t>(first);
  }

  int64_t rows_, cols_;
  IndexPair pair_C_;
  std::shared_ptr<const Memory> memory_;
  int64_t tiles_ = 0;
  int64_t nnz_ = 0;
  unsigned found_ = 0;
  Buffer data_;
  Tiles ref_{};
  std::shared_ptr<const Buffer> offsets_, columns_;  // C's, until they are given out
  bool good_ = true;
};

template <class T, class I, class O>
class MergeKernel final : public Kernel {
 public:
  MergeKernel(const Desc& desc, Queue& queue) : merge_(desc, queue), pair_C_(desc.pair_C) {
    if (!merge_.good()) return;
    if (merge_.A.mapped() || merge_.B.mapped())
      gpu::prepare<Gather<Through>>(queue);
    else
      gpu::prepare<Gather<Straight>>(queue);
  }

  int64_t nnz() const override { return merge_.nnz(); }
  bool good_patterns() const override { return merge_.good(); }

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
  return {{"gpu_merge"}, true, gpu_parts::unsupported, gpu_parts::make, true};
}

}  // namespace kkc::spadd
