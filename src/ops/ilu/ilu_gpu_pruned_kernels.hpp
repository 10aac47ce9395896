// Kernels of gpu_pruned: which entries of L are late, the factors without these, and the late ones when all of U is
// there. An entry of L is early if its row's diagonal entry, an entry right of it, or another early one is changed by
// the row that it stands for; else it is late. U, and early entries, depend on early entries alone.
#pragma once

#include <type_traits>

#include "device/gpu_warp.hpp"
#include "ops/ilu/ilu_gpu_sync_free_kernels.hpp"

namespace kkc::ilu::gpu_parts {

/// Of an entry of the factors: it is late; the rows that late or early ones before it stand for change it; it is on the
/// diagonal.
inline constexpr uint8_t late_bit = 1, changed_bit = 2, diagonal_bit = 4;

/// Of rows of more entries left of the diagonal none is late.
inline constexpr int most_left = 1 << 14;

/// What is found of all rows, or of a sample.
struct LateFacts {
  uint32_t needed, late, entries;  // of a sample: entries left of the diagonal, late ones of these, all
  uint32_t longest;                // row of the early factors
  unsigned long long changes;      // of late entries
  unsigned long long listed;       // of these changes
  unsigned long long early;        // entries of all rows
};

template <class I, class O>
struct FactorsPattern {
  const O *offsets, *diagonal;
  const I* indices;
};

/// What is taken from an entry: the value of `source`, a late or early one before it in its row, times that of
/// `factor`.
template <class O>
struct ListedChange {
  O source, factor;
};

/// Rows, `lanes` threads each, that have more than `above` and at most `most` entries left of the diagonal. A warp or
/// block looks for them among `each` rows, at most as many as it has lanes, `groups` apart, as long rows are often
/// neighbours.
template <class I, class O, int lanes>
struct LateRows {
  static constexpr int threads = lanes <= 32 ? 128 : lanes, lanes_a_row = lanes;
  FactorsPattern<I, O> factors;
  int64_t rows, groups, each;
  O above, most;
  uint8_t *flags, *meets;  // meets: entries whose rows may change entries left of the diagonal

 protected:
  struct Row {
    int64_t i;
    O first;
    int middle, count;  // entries left of the diagonal, all
    bool mine;
  };
  __device__ Row row(int64_t i, bool valid) const {
    const O first = valid ? factors.offsets[i] : O{}, left = valid ? factors.diagonal[i] - first : O{};
    const bool mine = valid && left > above && left <= most;
    return {i, first, mine ? static_cast<int>(left) : 0, mine ? static_cast<int>(factors.offsets[i + 1] - first) : 0,
            mine};
  }
  /// f(row) for those from `first` on that are these lanes'; fewer lanes than a warp's take one row, or none.
  template <class F>
  __device__ void each_row(int64_t first, const F& f) const {
    if constexpr (lanes < 32) {
      f(row(first, first < rows));
    } else {
      const int64_t own = first + lane() * groups;
      const uint32_t found = gpu::ballot32(lane() < each && row(own, own < rows).mine);
      const auto take = [&](int from, uint32_t mask) {
        for (; mask != 0; mask &= mask - 1) f(row(first + (from + __ffs(static_cast<int>(mask)) - 1) * groups, true));
      };
      if constexpr (lanes == 32) {
        take(0, found);
      } else {
        __shared__ uint32_t of_warps[lanes / 32];
        if (lane() % 32 == 0) of_warps[lane() / 32] = found;
        __syncthreads();
        for (int warp = 0; warp < lanes / 32; ++warp) take(32 * warp, of_warps[warp]);
      }
    }
  }
  __device__ static int64_t item() { return (int64_t{blockIdx.x} * threads + threadIdx.x) / lanes; }
  __device__ static int lane() { return static_cast<int>(threadIdx.x) & (lanes - 1); }

  enum class Met { nothing, something, enough };

  /// For each entry p left of the diagonal of which wanted(p): f(p, t, q) for each entry q, right of its diagonal, of
  /// the row that p stands for, whose column is that of entry t of this row, p < t < count; until it has met enough.
  /// Then ended(p, what was met). From the last entries on: those right of the diagonal are mostly enough.
  template <class Wanted, class F, class Ended>
  __device__ void meet(const I* columns, int middle, int count, const Wanted& wanted, const F& f,
                       const Ended& ended) const {
    for (int begin = lanes < 32 ? 0 : lane() & ~31; begin < middle; begin += lanes) {
      const int p = begin + (lanes < 32 ? lane() : lane() & 31);
      const bool mine = p < middle && wanted(p);
      const Part part = mine ? part_of(columns[p], p, count) : Part{};
      const bool is_long = lanes >= 32 && part.length > long_part;
      if (mine && !is_long) ended(p, meet_alone(columns, p, count, part, f));
      if constexpr (lanes >= 32)
        for (uint32_t left = gpu::ballot32(is_long); left != 0; left &= left - 1) {
          const int turn = __ffs(static_cast<int>(left)) - 1;
          const Part other{gpu::shuffle_from(part.from, turn, 32), gpu::shuffle_from(part.to, turn, 32), 0};
          const Met met = meet_together(columns, begin + turn, count, other, f);
          if ((lane() & 31) == 0) ended(begin + turn, met);
        }
    }
  }

  /// Of all lanes that walk rows together; what they wrote is seen then.
  __device__ static bool any(bool value) {
    if constexpr (lanes <= 32)
      return gpu::ballot32(value) != 0;
    else
      return __syncthreads_or(value ? 1 : 0) != 0;
  }
  __device__ static uint32_t sum(uint32_t value) {
    value = gpu::subgroup_sum(value, lanes <= 32 ? lanes : 32);
    if constexpr (lanes > 32) {
      __shared__ uint32_t all;
      __syncthreads();
      if (threadIdx.x == 0) all = 0;
      __syncthreads();
      if (threadIdx.x % 32 == 0) atomicAdd(&all, value);
      __syncthreads();
      value = all;
    }
    return value;
  }

 private:
  static constexpr int long_part = 32;  // columns to be looked for, from which on a warp does that

  /// What a row has right of its diagonal, and how many columns are looked for: those of the shorter row.
  struct Part {
    O from{}, to{};
    int length = 0;
  };
  __device__ Part part_of(I k, int p, int count) const {
    const O from = factors.diagonal[k] + 1, to = factors.offsets[k + 1];
    const int own = count - p - 1;
    return {from, to, to - from < static_cast<O>(own) ? static_cast<int>(to - from) : own};
  }
  template <class F>
  __device__ Met meet_alone(const I* columns, int p, int count, const Part& part, const F& f) const {
    Met met = Met::nothing;
    const auto met_at = [&](int t, O q) {
      const Met now = f(p, t, q);
      if (now != Met::nothing) met = now;
      return now == Met::enough;
    };
    if (part.to - part.from > static_cast<O>(count - p - 1)) {
      O high = part.to;
      for (int t = count - 1; t > p && high > part.from; --t) {
        const O q = lower(factors.indices, part.from, high, columns[t]);
        if (q < high && factors.indices[q] == columns[t] && met_at(t, q)) break;
        high = q;
      }
    } else {
      int high = count;
      for (O q = part.to; q-- > part.from && high > p + 1;) {
        const int t = lower(columns, p + 1, high, factors.indices[q]);
        if (t < high && columns[t] == factors.indices[q] && met_at(t, q)) break;
        high = t;
      }
    }
    return met;
  }
  template <class F>
  __device__ Met meet_together(const I* columns, int p, int count, const Part& part, const F& f) const {
    const bool by_own = part.to - part.from > static_cast<O>(count - p - 1);
    const O looks = by_own ? static_cast<O>(count - p - 1) : part.to - part.from;
    Met met = Met::nothing;
    for (O look = 0; look < looks; look += 32) {
      const O mine = looks - 1 - look - static_cast<O>(lane() & 31);
      int t = by_own ? p + 1 + static_cast<int>(mine) : count;
      O q = by_own ? part.to : part.from + mine;
      if (mine >= 0) {
        if (by_own)
          q = lower(factors.indices, part.from, part.to, columns[t]);
        else
          t = lower(columns, p + 1, count, factors.indices[q]);
      }
      const bool meets = mine >= 0 && t < count && q < part.to && columns[t] == factors.indices[q];
      const Met now = meets ? f(p, t, q) : Met::nothing;
      if (gpu::ballot32(now == Met::enough) != 0) return Met::enough;
      if (gpu::ballot32(now == Met::something) != 0) met = Met::something;
    }
    return met;
  }
  /// The first of the places low..high - 1, whose columns ascend, that is not below `column`; high if there is none.
  template <class P>
  __device__ static P lower(const I* columns, P low, P high, I column) {
    while (low < high) {
      const P at = low + (high - low) / 2;
      if (columns[at] < column)
        low = at + 1;
      else
        high = at;
    }
    return low;
  }
};

/// What starts beside the kernel before it, as the host has waited for all that it needs.
struct Beside {
  static constexpr bool runs_beside = true;
};
struct Behind {};

/// Sets the flags of entries up to the diagonal, at first to nothing meeting anything; others are zero.
template <class I, class O, int lanes, bool sampled>
struct FindLate : LateRows<I, O, lanes>, std::conditional_t<sampled, Behind, Beside> {
  using Base = LateRows<I, O, lanes>;
  using Met = typename Base::Met;
  using Row = typename Base::Row;
  static constexpr int64_t samples = 512;
  uint32_t* counts;  // early entries of each row
  LateFacts* facts;

  __device__ void operator()() const {
    const int64_t item = Base::item();
    if constexpr (sampled) {
      const int64_t stride = this->rows > samples ? this->rows / samples : 1;
      const auto shift = static_cast<int64_t>((static_cast<uint64_t>(item) * 0x9e3779b97f4a7c15u >> 33) %
                                              static_cast<uint64_t>(stride));
      find(this->row(item * stride + shift, item < samples && item * stride < this->rows));
    } else if (item < this->groups || lanes < 32) {
      this->each_row(item, [&](const Row& r) { find(r); });
    }
  }

 private:
  __device__ void find(const Row& r) const {
    const int lane = Base::lane();
    const I* const columns = this->factors.indices + r.first;
    uint8_t *const own = this->flags + r.first, *const own_meets = this->meets + r.first;

    const int middle = r.middle <= most_left ? r.middle : 0;
    if (middle == 0 && !sampled)
      for (int p = lane; p < r.middle; p += lanes) own[p] = 0;
    for (int p = lane; p < middle; p += lanes) own[p] = late_bit, own_meets[p] = 1;
    if (r.mine && lane == 0) own[r.middle] = diagonal_bit;
    Base::any(true);
    for (bool more = true; Base::any(more);) {
      more = false;
      this->meet(
          columns, middle, r.count, [&](int p) { return own[p] == late_bit && own_meets[p] != 0; },
          [&](int, int t, O) { return t >= middle || own[t] == 0 ? Met::enough : Met::something; },
          [&](int p, Met met) {
            own_meets[p] = met != Met::nothing ? 1 : 0;
            if (met != Met::enough) return;
            own[p] = 0;
            more = true;
          });
    }
    uint32_t late = 0, changes = 0;
    for (int p = lane; p < middle; p += lanes) late += own[p];
    late = Base::sum(late);
    if (late == 0)
      for (int p = lane; p < middle; p += lanes) own_meets[p] = 0;
    this->meet(
        columns, middle, middle, [&](int p) { return own_meets[p] != 0; },
        [&](int, int t, O) {
          if ((own[t] & late_bit) == 0) return Met::nothing;
          own[t] = late_bit | changed_bit;
          ++changes;
          return Met::something;
        },
        [&](int p, Met met) { own_meets[p] = met != Met::nothing ? 1 : 0; });
    changes = Base::sum(changes);
    if (!r.mine || lane != 0) return;
    if constexpr (sampled) {
      atomicAdd(&facts->needed, static_cast<uint32_t>(r.middle));
      atomicAdd(&facts->late, late);
      atomicAdd(&facts->entries, static_cast<uint32_t>(r.count));
      atomicAdd(&facts->changes, static_cast<unsigned long long>(changes));
    } else {
      const uint32_t early = static_cast<uint32_t>(r.count) - late;
      counts[r.i] = early;
      if (gpu::load_fresh(&facts->longest) < early) atomicMax(&facts->longest, early);
      if (changes > 0) atomicAdd(&facts->changes, static_cast<unsigned long long>(changes));
    }
  }
};

/// Lists the changes of late entries, in any order: keys, which say what is changed and by which entry's row, and the
/// factor.
template <class I, class O, int lanes>
struct ListChanges : LateRows<I, O, lanes>, Beside {
  using Base = LateRows<I, O, lanes>;
  using Met = typename Base::Met;
  int distance_bits;
  uint64_t* keys;
  O* of_factors;
  LateFacts* facts;

  __host__ __device__ static constexpr uint64_t key(uint64_t entry, uint64_t source, int bits) {
    return entry << bits | ((uint64_t{1} << bits) - 1 - (entry - source));
  }
  __host__ __device__ static constexpr uint64_t entry_of(uint64_t key, int bits) { return key >> bits; }
  __host__ __device__ static constexpr uint64_t source_of(uint64_t key, int bits) {
    return (key >> bits) - ((uint64_t{1} << bits) - 1 - (key & ((uint64_t{1} << bits) - 1)));
  }

  __device__ void operator()() const {
    const int64_t item = Base::item();
    if (item < this->groups || lanes < 32) this->each_row(item, [&](const typename Base::Row& r) { list(r); });
  }

 private:
  __device__ void list(const typename Base::Row& r) const {
    const I* const columns = this->factors.indices + r.first;
    const uint8_t* const own = this->flags + r.first;
    const uint8_t* const own_meets = this->meets + r.first;
    const int middle = r.middle <= most_left ? r.middle : 0;
    this->meet(
        columns, middle, middle, [&](int p) { return own_meets[p] != 0; },
        [&](int p, int t, O q) {
          if ((own[t] & late_bit) == 0) return Met::nothing;
          const unsigned long long at = atomicAdd(&facts->listed, 1ull);
          keys[at] = key(static_cast<uint64_t>(r.first + t), static_cast<uint64_t>(r.first + p), distance_bits);
          of_factors[at] = q;
          return Met::something;
        },
        [](int, Met) {});
  }
};

/// Whether a sorted change is the first of its entry.
struct IsFirstChange {
  const uint64_t* keys;
  int distance_bits;
  __device__ bool operator()(int64_t c) const {
    return c == 0 || keys[c] >> distance_bits != keys[c - 1] >> distance_bits;
  }
};
/// A late entry that is changed: its place in the factors, and its first change.
template <class O>
struct ChangedEntry {
  O entry, first;
};
template <class I, class O>
struct ListChangedEntries {
  const uint64_t* keys;
  int distance_bits;
  ChangedEntry<O>* list;
  __device__ void operator()(int32_t number, int64_t c) const {
    list[number] = {static_cast<O>(ListChanges<I, O, 8>::entry_of(keys[c], distance_bits)), static_cast<O>(c)};
  }
};
template <class I, class O>
struct SetChanges {
  static constexpr int threads = 256;
  const uint64_t* keys;
  const O* of_factors;
  int distance_bits;
  int64_t count;
  ListedChange<O>* changes;

  __device__ void operator()() const {
    const int64_t c = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (c < count)
      changes[c] = {static_cast<O>(ListChanges<I, O, 8>::source_of(keys[c], distance_bits)), of_factors[c]};
  }
};

/// A late entry that nothing changes: its place in the factors, and its pivot's among the early ones.
template <class O>
struct LateEntry {
  O entry, pivot;
};
/// In place of the pivot: the entry is one of ChangedEntry.
template <class O>
inline constexpr O no_pivot = -1;

/// Scanned for the places of early entries: one for each.
struct EarlyEntries {
  const uint8_t* flags;

  template <int vector, class O>
  __device__ void load(int64_t, int64_t i, O (&x)[vector]) const {
    struct alignas(vector) Flags {
      uint8_t of[vector];
    };
    const Flags all = *reinterpret_cast<const Flags*>(flags + i);
#pragma unroll
    for (int k = 0; k < vector; ++k) x[k] = (all.of[k] & late_bit) == 0 ? 1 : 0;
  }
};

/// The early factors' arrays but for the offsets, and the late entries, which are numbered by what lies before them and
/// is not early.
template <class I, class O>
struct SplitEntries {
  const uint8_t* flags;
  const I* all_indices;
  const O* all_sources;  // or null
  I* indices;
  O *diagonal, *entries, *sources;
  LateEntry<O>* late;

  template <int vector>
  __device__ void store(int64_t, int64_t i, const O (&x)[vector]) const {
#pragma unroll
    for (int k = 0; k < vector; ++k) {
      const int64_t e = i + k;
      const uint8_t flag = flags[e];
      const I column = all_indices[e];
      const O at = x[k];
      if ((flag & late_bit) != 0) {
        late[e - at] = {static_cast<O>(e), (flag & changed_bit) != 0 ? no_pivot<O> : static_cast<O>(column)};
        continue;
      }
      indices[at] = column;
      entries[at] = static_cast<O>(e);
      if (all_sources != nullptr) sources[at] = all_sources[e];
      if ((flag & diagonal_bit) != 0) diagonal[column] = at;
    }
  }
  __device__ void finish(int64_t, int64_t, const O&) const {}
};

/// In place of a late entry's column, where that pivot stands.
template <class O>
struct PlacePivots {
  static constexpr int threads = 256;
  LateEntry<O>* late;
  int64_t count;
  const O* diagonal;

  __device__ void operator()() const {
    const int64_t j = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (j < count && late[j].pivot != no_pivot<O>) late[j].pivot = diagonal[late[j].pivot];
  }
};

/// What both kernels below know of the case.
template <class E, class I, class O>
struct Completing {
  static constexpr int threads = 256;
  FactorsPattern<I, O> factors;
  int64_t rows;
  ilu_pattern::ValueSource<O> source;
  const E* A;
  E* values;
  Found* found;
  unsigned* ticket;

 protected:
  /// The row of an entry.
  __device__ int64_t row_of(O entry) const {
    int64_t low = 0, high = rows - 1;  // the last row that begins at this entry or before
    while (low < high) {
      const int64_t middle = (low + high + 1) / 2;
      if (factors.offsets[middle] <= entry)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }
  __device__ void note(int64_t row) const {
    atomicMin(&found->first, 2 * static_cast<unsigned long long>(row));
    atomicAdd(&found->count, 1ull);
  }
};

/// Early entries to their places, and late ones that nothing changes; the others are not written yet then.
template <class E, class I, class O>
struct CompleteEntries : Completing<E, I, O> {
  using Completing<E, I, O>::threads;
  const O *early_offsets, *entries;  // of early entries
  const LateEntry<O>* late;
  int64_t early_count, late_count;
  const E* early;

  __device__ void operator()() const {
    int64_t j = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (j == 0) *this->ticket = 0;
    if (j < early_count) {
      tell(this->values + entries[j], early[j]);
      return;
    }
    j -= early_count;
    if (j >= late_count) return;
    E* const to = this->values + late[j].entry;
    if (late[j].pivot == no_pivot<O>) {
      memset(to, 0xff, sizeof(E));
      return;
    }
    const E l = value(j);
    tell(to, l);
    if (not_finite(l) != 0) look(j);
  }

 private:
  __device__ E value(int64_t j) const {
    return quotient(value_at(this->source, this->A, late[j].entry), early[late[j].pivot]);
  }
  /// Notes a row at the first of its entries here that is not finite, if all early ones are: else it has been noted.
  __device__ void look(int64_t j) const {
    const int64_t row = this->row_of(late[j].entry);
    for (int64_t before = j; --before >= 0 && late[before].entry >= this->factors.offsets[row];)
      if (late[before].pivot != no_pivot<O> && not_finite(value(before)) != 0) return;
    for (O e = early_offsets[row]; e < early_offsets[row + 1]; ++e)
      if (not_finite(early[e]) != 0) return;
    this->note(row);
  }
};

/// Then the changed ones, a thread each, in their order: one waits for those before it in its row.
template <class E, class I, class O>
struct CompleteChanged : Completing<E, I, O> {
  using Completing<E, I, O>::threads;
  const ChangedEntry<O>* entries;
  const ListedChange<O>* changes;
  int64_t count, change_count;

  __device__ void operator()() const {
    __shared__ unsigned turn;
    if (threadIdx.x == 0) turn = atomicAdd(this->ticket, 1u);
    __syncthreads();
    const int64_t j = int64_t{turn} * threads + threadIdx.x;
    if (j >= count) return;
    const O entry = entries[j].entry, end = j + 1 < count ? entries[j + 1].first : static_cast<O>(change_count);
    E l = value_at(this->source, this->A, entry);
    const E pivot = this->values[this->factors.diagonal[this->factors.indices[entry]]];
    for (O c = entries[j].first; c < end; ++c) {
      const ListedChange<O> change = changes[c];
      l = minus_product(l, await(this->values + change.source), this->values[change.factor]);
    }
    l = quotient(l, pivot);
    tell(this->values + entry, l);
    if (not_finite(l) != 0) look(j);
  }

 private:
  /// Notes a row at the first of its entries here that is not finite, if all others are: else it has been noted.
  __device__ void look(int64_t j) const {
    const O entry = entries[j].entry;
    const int64_t row = this->row_of(entry);
    int64_t behind = j + 1;
    for (O e = this->factors.offsets[row]; e < this->factors.offsets[row + 1]; ++e) {
      if (behind < count && e == entries[behind].entry)
        ++behind;
      else if (e != entry && not_finite(await(this->values + e)) != 0)
        return;
    }
    this->note(row);
  }
};

}  // namespace kkc::ilu::gpu_parts
