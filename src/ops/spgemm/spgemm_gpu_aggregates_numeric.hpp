// The numeric phase of a product with a B of exactly one entry in every row: which kernel runs.
#pragma once

#include "spgemm_gpu_aggregates_plan.hpp"

namespace kkc::spgemm::gpu_parts {

/// Scale: see AsMultiplied.
template <class T, class I, class Scale>
class AggregateProduct {
 public:
  AggregateProduct(Queue& queue, AggregatePattern found)
      : found_(std::move(found)), room_(static_cast<int64_t>(shared_room(queue))) {
    each_kernel({}, {}, {}, {},
                [&]<class F>(const F&, int64_t, int, size_t shared_bytes) { gpu::prepare<F>(queue, shared_bytes); });
  }

  void run(Queue& queue, const CsrRef& A, const CsrRef& B, Values<T> C, const Scale& scale) const {
    C.offsets = {found_.output.offsets->data(), offset_size(found_.output.pair) == 8, 0};
    each_kernel(A, B, C, scale, [&]<class F>(const F& f, int64_t blocks, int threads, size_t shared_bytes) {
      gpu::launch(queue, gpu::blocks_for(blocks, 1), static_cast<unsigned>(threads), shared_bytes, f);
    });
  }

  const AggregatePattern& found() const { return found_; }

 private:
  /// go(kernel, blocks, threads, shared_bytes)
  template <class Go>
  void each_kernel(const CsrRef& A, const CsrRef& B, const Values<T>& C, const Scale& scale, const Go& go) const {
    const int64_t rows = found_.output.rows, entries = found_.output.nnz;
    if (entries == 0) return;
    const auto *a = static_cast<const T*>(A.values), *b = static_cast<const T*>(B.values);
    const auto blocks = [](int64_t items, int64_t each) { return (items + each - 1) / each; };
    if (found_.classes == 0) {
      using F = GatherProducts<T, I, Scale>;
      const F each{a, static_cast<const I*>(A.indices), A.base, b, C, found_.products(), entries, scale};
      if (found_.tiles > 0) {
        using Tiles = TileProducts<T, I, Scale>;
        using Beside = TileProductsBesideLonger<T, I, Scale>;
        const Tiles tiles{each, {offsets_of(A), found_.tile_rows.template as<int32_t>()}};
        if (found_.longest <= entries_of_tile)
          go(tiles, found_.tiles, Tiles::threads, Tiles::shared_bytes(found_.longest));
        else
          go(Beside{tiles, found_.tile_entries.template as<int32_t>()}, found_.tiles, Beside::threads,
             size_t{Beside::shared_bytes});
      } else if (entries <= entries_that_fill) {
        using Few = GatherFewEntries<T, I, Scale>;
        go(Few{each.a, each.columns, each.base, each.b, each.C, each.products, entries, scale},
           blocks(entries, Few::tile), Few::threads, 0);
      } else {
        go(each, blocks(entries, F::tile), F::threads, 0);
      }
      if (found_.many_count > 0)
        go(GatherManyProducts<T, I, Scale>{each, found_.many.template as<int32_t>()}, found_.many_count, F::threads, 0);
      return;
    }
    const int32_t longest = found_.longest, longest_c = found_.longest_c;
    const auto* const classes = found_.class_of.template as<uint16_t>();
    const auto* const of_classes = found_.entries.template as<ClassEntry>();
    const auto* const diagonals = found_.diagonals.template as<ClassDiagonal>();
    if (found_.walked) {
      const auto walk = [&]<bool gaps, int batch>() {
        using F = AggregateWalks<T, Scale, gaps, batch>;
        const auto bytes = [&](int block) { return F::shared_bytes(block, longest, longest_c); };
        const int block = block_of(F::block_for(longest), bytes);
        go(F{offsets_of(A), a, b, C, classes, of_classes, found_.walks.template as<ClassWalk>(),
             found_.bits.template as<WalkBits>(), found_.walk_ends.template as<WalkEnds>(), rows, longest, longest_c,
             scale},
           blocks(rows, block), block, bytes(block));
      };
      const auto walk_in_batches = [&]<bool gaps>() {
        if (longest <= 32)
          walk.template operator()<gaps, 4>();
        else
          walk.template operator()<gaps, entries_ahead>();
      };
      if (longest % 2 == 0)
        walk_in_batches.template operator()<true>();
      else
        walk_in_batches.template operator()<false>();
      return;
    }
    using F = AggregateLongRows<T, Scale>;
    const int lanes = found_.lanes_log2;
    const auto bytes = [&](int block) { return F::shared_bytes(block, lanes, longest, longest_c); };
    const int block = block_of(F::threads, bytes);
    go(F{offsets_of(A), a, b, C, classes, of_classes, found_.ends.template as<uint32_t>(),
         found_.shares.template as<ClassShare>(), diagonals, rows, longest, longest_c, lanes, scale},
       blocks(rows << lanes, block), block, bytes(block));
  }

  template <class Bytes>
  int block_of(int threads, const Bytes& bytes) const {
    while (threads > 32 && static_cast<int64_t>(bytes(threads)) > room_) threads /= 2;
    return threads;
  }

  AggregatePattern found_;
  int64_t room_;  // of shared memory
};

inline void describe_aggregates(Info& info, const AggregatePattern& found, int64_t products) {
  info.add("products", products);
  info.add("plan_bytes", found.bytes());
  info.add("row_classes", int64_t{found.classes});
  info.add("longest_row", int64_t{found.longest_c});
}

}  // namespace kkc::spgemm::gpu_parts
