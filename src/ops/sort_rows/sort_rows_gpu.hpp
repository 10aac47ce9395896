// sort_rows, GPUs: rows by length. Short ones are sorted by subgroups of a warp in registers, medium ones by a block in
// shared memory (both bitonic; Batcher 1968), the entries of all long ones by one radix sort. Binning by length: Hou,
// Liu, Wang, Feng, "Fast segmented sort on GPUs", ICS'17.
#pragma once

#include <bit>

#include "core/dispatch.hpp"
#include "device/gpu_scan.hpp"
#include "device/gpu_sort.hpp"
#include "ops/sort_rows/sort_rows.hpp"
#include "ops/sort_rows/sort_rows_gpu_kernels.hpp"

namespace kkc::sort_rows {
namespace gpu_parts {

template <class I, class O>
class Sorter {
 public:
  Sorter(const Desc& desc, Queue& queue)
      : desc_(desc),
        queue_(queue),
        A_{static_cast<const O*>(desc.A.offsets), static_cast<const I*>(desc.A.indices), desc.A.base, desc.A.rows,
           desc.A.nnz},
        counts_memory_(desc.memory, Space::device, sizeof(Counts)) {}

  void run(EntryMap& map) {
    map.offsets = shared_array<O>(desc_.memory, Space::device, A_.rows + 1);
    map.indices = shared_array<I>(desc_.memory, Space::device, A_.nnz);
    O* const offsets = map.offsets->template as<O>();
    I* const indices = map.indices->template as<I>();
    if (A_.rows > 0) {
      over(A_.rows + 1, FromBase<O>{A_.offsets, static_cast<O>(A_.base), A_.rows + 1, offsets});
    } else {
      const O zero = 0;
      queue_.copy(offsets, &zero, sizeof zero);
    }
    if (A_.nnz == 0) return;
    const Counts counts = look();
    if (counts.descents == 0) {
      over(A_.nnz, FromBase<I>{A_.indices, static_cast<I>(A_.base), A_.nnz, indices});
    } else {
      map.positions = shared_array<O>(desc_.memory, Space::device, A_.nnz);
      sort(counts, {indices, map.positions->template as<O>()});
    }
    if (desc_.add_duplicates && (counts.descents != 0 || counts.equals != 0)) merge(map);
  }

 private:
  Counts look() {
    auto* const counts = counts_memory_.template as<Counts>();
    const auto most = static_cast<unsigned>(16 * queue_.concurrency());
    gpu::launch(queue_, 1, StartCounts::threads, 0, StartCounts{counts});
    const CountNeighbours<I, O> neighbours{A_, counts};
    gpu::launch(queue_, std::min(most, gpu::blocks_for(A_.nnz, neighbours.threads)), neighbours.threads, 0, neighbours);
    const CountRows<I, O> rows{A_, counts};
    gpu::launch(queue_, std::min(most, gpu::blocks_for(A_.rows, rows.threads)), rows.threads, 0, rows);
    return gpu::read_back<Counts>(queue_, counts);
  }

  void sort(const Counts& counts, const Target<I, O>& target) {
    in_registers<8, 1>(counts, 0, target, nullptr);
    in_registers<16, 1>(counts, 1, target, nullptr);
    in_registers<32, 1>(counts, 2, target, nullptr);
    int64_t listed = 0;
    for (int c = first_listed; c < classes; ++c) listed += static_cast<int64_t>(counts.rows[c]);
    if (listed == 0) return;
    const Buffer lists = array<I>(listed);
    ListRows<I, O> list{A_, counts_memory_.template as<Counts>(), {}};
    I* next = lists.template as<I>();
    for (int c = first_listed; c < classes; ++c) {
      list.lists[c] = next;
      next += counts.rows[c];
    }
    over(A_.rows, list);
    in_registers<32, 4>(counts, 3, target, list.lists[3]);
    in_shared<class_most(4)>(counts, 4, target, list.lists[4]);
    in_shared<class_most(5)>(counts, 5, target, list.lists[5]);
    if (counts.rows[6] > 0)
      sort_long(target, list.lists[6], static_cast<int64_t>(counts.rows[6]), static_cast<int64_t>(counts.long_entries));
  }

  template <int lanes, int per_lane>
  void in_registers(const Counts& counts, int c, const Target<I, O>& target, const I* list) {
    if (counts.rows[c] == 0) return;
    using Kernel = SortInRegisters<I, O, lanes, per_lane>;
    const int64_t rows = list != nullptr ? static_cast<int64_t>(counts.rows[c]) : A_.rows;
    const int64_t least = c == 0 ? 1 : class_most(c - 1) + 1;
    gpu::launch(queue_, gpu::blocks_for(rows, Kernel::threads / lanes), Kernel::threads, 0,
                Kernel{A_, target, list, rows, least});
  }

  template <int64_t most>
  void in_shared(const Counts& counts, int c, const Target<I, O>& target, const I* list) {
    if (counts.rows[c] == 0) return;
    using Kernel = SortInShared<I, O, static_cast<int>(most)>;
    gpu::prepare<Kernel>(queue_, Kernel::shared_bytes);
    gpu::launch(queue_, static_cast<unsigned>(counts.rows[c]), Kernel::threads, Kernel::shared_bytes,
                Kernel{A_, target, list});
  }

  /// Entries sorted by (row, column).
  void sort_long(const Target<I, O>& target, const I* list, int64_t rows, int64_t entries) {
    using Key = LongKey<I>;
    require(rows <= int64_t{UINT32_MAX}, KKC_STATUS_NOT_SUPPORTED, "A has ", rows, " rows of more than ",
            class_most(classes - 2), " entries, more than can be sorted at once");
    const Buffer bounds = array<O>(rows + 1), keys = array<Key>(entries), other_keys = array<Key>(entries),
                 places = array<O>(entries), other_places = array<O>(entries);
    over(rows, LongLengths<I, O>{A_, list, rows, bounds.template as<O>()});
    gpu::exclusive_scan(queue_, bounds.template as<O>(), bounds.template as<O>(), rows);
    over(entries, LongKeys<I, O>{A_, list, bounds.template as<O>(), rows, entries, keys.template as<Key>()});
    const auto bytes_of = [](int64_t most) -> int {
      return most <= 0 ? 0 : static_cast<int>((std::bit_width(static_cast<uint64_t>(most)) + 7) / 8);
    };
    const LongDigits<I> digits{bytes_of(desc_.A.cols - 1)};
    const int passes = std::max(1, digits.column_passes + bytes_of(rows - 1));
    const Buffer scratch = array<char>(static_cast<int64_t>(gpu::sort_scratch_bytes<Key, O>(entries)));
    const auto route = [&](int pass, bool output) -> gpu::RadixArrays<Key, O> {
      if (pass == 0 && !output) return {keys.template as<Key>(), nullptr};
      return (pass + (output ? 1 : 0)) % 2 == 0
                 ? gpu::RadixArrays<Key, O>{keys.template as<Key>(), places.template as<O>()}
                 : gpu::RadixArrays<Key, O>{other_keys.template as<Key>(), other_places.template as<O>()};
    };
    gpu::prepare_sort<Key, O, LongDigits<I>>(queue_);
    gpu::radix_sort<Key, O>(queue_, digits, passes, entries, scratch.data(), gpu::counts_of_plans(queue_), route);
    const bool other = passes % 2 != 0;
    over(entries, StoreLong<I, O>{A_, target, list, bounds.template as<O>(), entries,
                                  (other ? other_keys : keys).template as<Key>(),
                                  (other ? other_places : places).template as<O>()});
  }

  void merge(EntryMap& map) {
    const I* const indices = map.indices->template as<I>();
    const O* const offsets = map.offsets->template as<O>();
    const Buffer marks = array<int32_t>(A_.nnz), places = array<O>(A_.nnz + 1);
    over(A_.nnz, MarkRuns<I>{indices, A_.nnz, marks.template as<int32_t>()});
    over(A_.rows, MarkRows<O>{offsets, A_.rows, marks.template as<int32_t>()});
    const O total = gpu::exclusive_scan_total(queue_, marks.template as<int32_t>(), places.template as<O>(), A_.nnz);
    if (total == A_.nnz) return;
    map.nnz = total;
    auto merged_offsets = shared_array<O>(desc_.memory, Space::device, A_.rows + 1);
    auto merged = shared_array<I>(desc_.memory, Space::device, map.nnz);
    map.starts = shared_array<O>(desc_.memory, Space::device, map.nnz + 1);
    over(A_.nnz + A_.rows + 1,
         MergeRuns<I, O>{indices, offsets, marks.template as<int32_t>(), places.template as<O>(), A_.nnz, A_.rows,
                         merged->template as<I>(), map.starts->template as<O>(), merged_offsets->template as<O>()});
    map.offsets = std::move(merged_offsets);
    map.indices = std::move(merged);
  }

  template <class T>
  Buffer array(int64_t count) const {
    return Buffer(Memory::in_order(desc_.memory), Space::device, static_cast<size_t>(count) * sizeof(T));
  }
  template <class F>
  void over(int64_t items, const F& f) {
    gpu::launch(queue_, gpu::blocks_for(items, F::threads), F::threads, 0, f);
  }

  const Desc& desc_;
  Queue& queue_;
  Pattern<I, O> A_;
  Buffer counts_memory_;
};

inline std::unique_ptr<EntryMap> make(const Desc& desc, Queue& queue) {
  auto map = std::make_unique<EntryMap>();
  map->pair = desc.A.pair;
  map->rows = desc.A.rows;
  map->cols = desc.A.cols;
  map->nnz = map->sources = desc.A.nnz;
  dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto pair) {
    using P = decltype(pair);
    Sorter<typename P::ordinal, typename P::offset>(desc, queue).run(*map);
  });
  return map;
}

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu() {
  return {{"gpu"}, true, gpu_parts::unsupported, gpu_parts::make};
}

}  // namespace kkc::sort_rows
