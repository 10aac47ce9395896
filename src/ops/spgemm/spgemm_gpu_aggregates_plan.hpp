// The plan of a product with a B of exactly one entry in every row: C's pattern, and what the kernels of
// spgemm_gpu_aggregates_kernels.hpp read. Knows no element type.
#pragma once

#include "device/gpu_rows.hpp"
#include "ops/spgemm/spgemm.hpp"
#include "spgemm_gpu_aggregates_describe.hpp"
#include "spgemm_gpu_symbolic.hpp"

namespace kkc::spgemm::gpu_parts {

struct AggregatePattern {
  OutputPattern output;
  int32_t longest = 0, longest_c = 0;      // rows of A and C
  bool missing = false, repeated = false;  // rows of A without and with several diagonal entries
  // Classes of rows.
  int32_t classes = 0, lanes_log2 = 0;
  bool walked = false;  // a thread a row: AggregateWalks
  Buffer class_of, entries, diagonals, walks, bits, walk_ends, ends, shares;
  // Without classes: the products of each entry.
  Buffer order, places, starts, row_of, diagonal, many, tile_rows, tile_entries;
  int64_t many_count = 0, tiles = 0;

  EntryProducts products() const {
    return {order.as<uint32_t>(), places.as<uint16_t>(), starts.as<int32_t>(), row_of.as<uint32_t>(),
            diagonal.as<int32_t>()};
  }
  int64_t bytes() const {
    size_t sum = 0;
    for (const Buffer* b : {&class_of, &entries, &diagonals, &walks, &bits, &walk_ends, &ends, &shares, &order, &places,
                            &starts, &row_of, &diagonal, &many, &tile_rows, &tile_entries})
      sum += b->bytes();
    return static_cast<int64_t>(sum);
  }
};

/// Why not, or "".
inline std::string not_single_entries(const Desc& desc) {
  if (desc.masked) return "takes no mask";
  if (desc.rows_b.longest > 1) return "B has rows of several entries";
  if (desc.B.nnz != desc.B.rows) return "B has rows without entries";
  if (std::max({desc.A.rows, desc.B.rows, desc.B.cols, desc.A.nnz}) >= INT32_MAX)
    return "takes fewer than 2^31 rows, columns and entries";
  if (const int64_t most = desc.A.nnz * 14 + desc.A.nnz / 32 + desc.A.rows * 4 + 64;
      desc.max_workspace >= 0 && most > desc.max_workspace)
    return cat("may keep ", most, " bytes, more than max_workspace");
  return "";
}

/// Rows that a thread walks: eight warps' rows fit shared memory, or there are at most 32 entries.
inline int32_t longest_walked(const Queue& queue, size_t element) {
  const size_t rows = 8 * 32, room = shared_room(queue) / 4 * 3;
  const auto most = static_cast<int32_t>(room / rows / element);
  return std::clamp(most, 32, longest_walked_row);
}

template <class I>
class AggregateSymbolic {
 public:
  /// Whether A's diagonal is wanted.
  AggregateSymbolic(Queue& queue, const Desc& desc, bool diagonal)
      : queue_(queue),
        desc_(desc),
        A_(pattern_of<I>(desc.A)),
        B_{static_cast<const I*>(desc.B.indices), desc.B.base},
        wants_diagonal_(diagonal),
        wide_(offset_size(desc.pair) == 8) {}

  AggregatePattern run() {
    OutputPattern& C = found_.output;
    C.pair = desc_.pair;
    C.rows = rows();
    C.cols = desc_.cols();
    offsets_ = std::make_shared<Buffer>(desc_.memory, Space::device,
                                        (static_cast<size_t>(rows() + 1) * offset_size(desc_.pair) + 7) / 8 * 8);
    found_.longest = static_cast<int32_t>(desc_.rows_a.longest);
    if (desc_.A.nnz == 0) {
      clear(queue_, *offsets_);
      found_.missing = rows() > 0;
      finish(0);
      return std::move(found_);
    }
    require_countable(C.cols, 0, C.pair, "C");
    if (!by_classes()) by_entries();
    return std::move(found_);
  }

 private:
  int64_t rows() const { return desc_.A.rows; }
  template <class X>
  Buffer array(int64_t count) const {
    return Buffer(Memory::in_order(desc_.memory), Space::device, (static_cast<size_t>(count) * sizeof(X) + 7) / 8 * 8);
  }
  AggregateState* state() const { return state_.template as<AggregateState>(); }

  /// C's arrays but for its columns, which are yet to be written.
  I* finish(int64_t nnz) {
    OutputPattern& C = found_.output;
    C.nnz = nnz;
    C.offsets = offsets_;
    C.indices = std::make_shared<const Buffer>(desc_.memory, Space::device,
                                               static_cast<size_t>(nnz) * ordinal_size(desc_.pair));
    return C.indices->template as<I>();
  }

  /// Calls f with an offset of C's type.
  template <class F>
  void with_offsets(const F& f) const {
    if (wide_)
      f(offsets_->template as<int64_t>());
    else
      f(offsets_->template as<int32_t>());
  }

  template <class T, int vector, class Source, class Target>
  static gpu::ScanTiles<T, Source, Target, vector> scan_of(const Source& source, const Target& target, T* total) {
    gpu::ScanTiles<T, Source, Target, vector> f{};
    f.source = source;
    f.target = target;
    f.carry = total;
    return f;
  }

  /// Makes C's offsets of its rows' lengths, of which lengths(offset's type) is the source, and returns the state then.
  template <class Lengths>
  AggregateState make_offsets(const Lengths& lengths) {
    AggregateState found{};
    with_offsets([&]<class O>(O* offsets) {
      found = gpu::launch_scan_and_read<AggregateState>(
          queue_,
          scan_of<O, 16 / static_cast<int>(sizeof(O))>(lengths(O{}), gpu::OffsetsTarget<O>{{offsets, 0}},
                                                       reinterpret_cast<O*>(&state()->entries)),
          rows(), state());
    });
    return found;
  }

  template <int most>
  void classify_few(const AggregateTable& table, const Buffer& bases) {
    launch_round(queue_, rows(),
                 ClassifyFewAggregates<I, most>{A_, B_, rows(), table, found_.class_of.template as<uint16_t>(),
                                                bases.as<int32_t>()});
  }
  void classify(int lanes, const AggregateTable& table, const Buffer& bases) {
    using F = ClassifyAggregates<I>;
    const F f{
        A_, B_, rows(), found_.longest, lanes, table, found_.class_of.template as<uint16_t>(), bases.as<int32_t>()};
    const auto blocks =
        std::min(gpu::blocks_for(rows() << lanes, F::threads), static_cast<unsigned>(16 * queue_.concurrency()));
    launch_blocks(queue_, blocks, f, F::shared_bytes(lanes, found_.longest));
  }

  bool by_classes() {
    const int32_t longest = found_.longest;
    // The state and the tables behind it are cleared together.
    constexpr int sample_places = 1 << SampledKinds::places_log2;
    const bool tries = longest <= longest_aggregate_row && rows() >= 2 * rows_of_aggregate_class;
    state_ = array<char>(sizeof(AggregateState) +
                         (tries ? (aggregate_places + sample_places) * sizeof(unsigned long long) : 0));
    clear(queue_, state_);
    if (!tries) return false;
    int lanes = 0;
    if (longest > 32)
      while ((32 >> lanes) > 1 && (32 >> lanes) * longest > staged_entries) ++lanes;
    auto* const words = reinterpret_cast<unsigned long long*>(state() + 1);
    const AggregateTable table{
        words, state(),
        static_cast<int32_t>(std::min<int64_t>(most_aggregate_classes, rows() / rows_of_aggregate_class))};
    found_.class_of = array<uint16_t>(rows());
    const Buffer bases = array<int32_t>(rows());
    // Rows of A that are alike may still meet aggregates in ways of their own; rows that are not are of classes of
    // their own.
    if (rows() > 4 * most_aggregate_classes)
      launch_over(queue_, int64_t{SampledKinds::rows} * 32,
                  SampleKinds<I>{A_, {words + aggregate_places, &state()->sampled_kinds, &state()->failed}});
    if (longest <= 4)
      classify_few<4>(table, bases);
    else if (longest <= 6)
      classify_few<6>(table, bases);
    else if (longest <= few_entries)
      classify_few<few_entries>(table, bases);
    else
      classify(lanes, table, bases);

    found_.walked = longest <= longest_walked(queue_, size_of(desc_.scalar()));
    const Buffer counts = array<int32_t>(aggregate_places), columns = array<int32_t>(aggregate_places * longest),
                 columns_at = array<int64_t>(aggregate_places);
    found_.entries = array<ClassEntry>(aggregate_places * class_pitch(longest) + entries_ahead);
    found_.diagonals = array<ClassDiagonal>(aggregate_places);
    if (found_.walked) {
      found_.walks = array<ClassWalk>(aggregate_places);
      found_.bits = array<WalkBits>(int64_t{aggregate_places} * words_of_walk(longest));
      found_.walk_ends = array<WalkEnds>(int64_t{aggregate_places} * longest + 1);
    } else {
      found_.ends = array<uint32_t>((int64_t{aggregate_places} << lanes) * ((longest + 31) / 32));
      found_.shares = array<ClassShare>(int64_t{aggregate_places} << lanes);
    }
    const DescribeClasses<I> describe{
        A_,
        B_,
        table,
        found_.class_of.template as<uint16_t>(),
        longest,
        lanes,
        found_.walked,
        {counts.as<int32_t>(), columns.as<int32_t>(), columns_at.as<int64_t>(),
         found_.entries.template as<ClassEntry>(), found_.diagonals.template as<ClassDiagonal>(),
         found_.walks.template as<ClassWalk>(), found_.bits.template as<WalkBits>(),
         found_.walk_ends.template as<WalkEnds>(), found_.ends.template as<uint32_t>(),
         found_.shares.template as<ClassShare>()}};
    launch_blocks(queue_, aggregate_places, describe, describe.shared_bytes());
    const AggregateState s = make_offsets([&]<class O>(O) {
      return ClassLengths<O>{found_.class_of.template as<uint16_t>(), counts.as<int32_t>()};
    });
    if (s.failed != 0) {
      for (Buffer* b : {&found_.class_of, &found_.entries, &found_.diagonals, &found_.walks, &found_.bits,
                        &found_.walk_ends, &found_.ends, &found_.shares})
        *b = Buffer();
      return false;
    }
    found_.classes = s.classes;
    found_.longest_c = s.longest;
    found_.missing = s.missing != 0;
    found_.repeated = s.repeated != 0;
    found_.lanes_log2 = lanes;
    const Offsets offsets{offsets_->data(), wide_, 0};
    I* const to = finish(static_cast<int64_t>(s.entries));
    const auto* const class_of = found_.class_of.template as<uint16_t>();
    if (found_.longest_c <= thread_rows_longest) {
      launch_over(queue_, rows(),
                  ShiftShortColumns<I>{class_of, bases.as<int32_t>(), columns_at.as<int64_t>(), columns.as<int32_t>(),
                                       offsets, to, rows(), found_.longest_c},
                  ShiftShortColumns<I>::shared_bytes(found_.longest_c));
      return true;
    }
    const int lanes_c = lanes_log2_for(found_.output.nnz, rows());
    launch_over(queue_, rows() << lanes_c,
                ShiftColumns<I>{class_of, bases.as<int32_t>(), columns_at.as<int64_t>(), columns.as<int32_t>(), offsets,
                                to, rows(), lanes_c});
    return true;
  }

  /// Each row's products in the order of C's entries, those of an entry in A's order.
  void by_entries() {
    const int64_t n = desc_.A.nnz;
    gpu::clear_words(queue_, state(), sizeof(AggregateState));
    const bool may_be_many = found_.longest > most_of_thread, has_longer = found_.longest > entries_of_tile,
               by_tiles = !has_longer || n <= most_beside_longer;
    if (by_tiles) find_tiles(n);
    if (may_be_many || !by_tiles) found_.order = array<uint32_t>(n);
    const Buffer met = array<uint32_t>(n), counts = array<int32_t>(rows());
    Buffer entry_of_diagonal;
    if (wants_diagonal_) {
      found_.diagonal = array<int32_t>(rows());
      entry_of_diagonal = array<int32_t>(rows());
      clear(queue_, found_.diagonal);
      clear(queue_, entry_of_diagonal);
    }
    order_rows(queue_, desc_.memory,
               RowsToOrder<I>{.A = A_, .B = B_, .entries = n, .longest = found_.longest, .cols = desc_.cols()},
               {.order = found_.order.template as<uint32_t>(),
                .places = found_.places.template as<uint16_t>(),
                .tiles = {A_.offsets, found_.tile_rows.template as<int32_t>()},
                .met = met.as<uint32_t>(),
                .counts = counts.as<int32_t>(),
                .diagonal = found_.diagonal.template as<int32_t>(),
                .entry_of_diagonal = entry_of_diagonal.as<int32_t>(),
                .state = state()});
    const auto nnz = static_cast<int64_t>(make_offsets([&]<class O>(O) {
                                            return gpu::RunSource<int32_t, O>{counts.as<int32_t>(), 0};
                                          }).entries);
    const Offsets offsets{offsets_->data(), wide_, 0};
    I* const columns = finish(nnz);
    found_.starts = array<int32_t>(nnz + 1);
    auto* const starts = found_.starts.template as<int32_t>();
    // Element by element, so that the lanes' entries of C are neighbours.
    gpu::launch_scan(queue_,
                     scan_of<int32_t, 1>(FirstProducts{met.as<uint32_t>()},
                                         PlaceFirstProducts<I>{met.as<uint32_t>(), columns, starts}, nullptr),
                     n);
    if (wants_diagonal_) {
      found_.row_of = array<uint32_t>(nnz);
      auto* const row_of = found_.row_of.template as<uint32_t>();
      with_offsets([&](const auto* of_c) { gpu::expand_rows(queue_, of_c, 0, rows(), nnz, row_of); });
      launch_over(queue_, rows(),
                  MarkDiagonalEntries{offsets, entry_of_diagonal.as<int32_t>(), rows(), row_of, state()});
    }
    if (by_tiles && has_longer) {
      found_.tile_entries = array<int32_t>(found_.tiles + 1);
      launch_over(queue_, found_.tiles + 1,
                  FindEntriesOfTiles{starts, nnz, found_.tiles, found_.tile_entries.template as<int32_t>()});
    }
    if (may_be_many) {
      using F = ListManyProducts;
      found_.many = array<int32_t>(n / most_of_thread + 1);
      launch_over(queue_, (nnz + F::items - 1) / F::items, F{starts, nnz, found_.many.template as<int32_t>(), state()});
    }
    if (wants_diagonal_ || may_be_many) {
      const auto s = read_back<AggregateState>(queue_, state());
      found_.many_count = s.many;
      found_.missing = s.missing != 0;
      found_.repeated = s.repeated != 0;
    }
    if (found_.tiles > 0 && !has_longer && found_.many_count == 0) found_.order = Buffer();
  }

  void find_tiles(int64_t entries) {
    found_.tiles = (entries + entries_of_tile - 1) / entries_of_tile;
    found_.tile_rows = array<int32_t>(found_.tiles + 1);
    found_.places = array<uint16_t>(entries);
    launch_over(queue_, found_.tiles + 1,
                FindTiles{A_.offsets, rows(), found_.tiles, found_.tile_rows.template as<int32_t>()});
  }

  Queue& queue_;
  const Desc& desc_;
  Pattern<I> A_;
  SingleEntries<I> B_;
  bool wants_diagonal_, wide_;
  AggregatePattern found_;
  std::shared_ptr<Buffer> offsets_;
  Buffer state_;
};

}  // namespace kkc::spgemm::gpu_parts
