// The host_pruned of ilu: plan and execute. Four phases, between which threads wait for each other: entries are copied,
// and pivots of rows without early entries are complete; rows with early ones, level by level; late entries that
// nothing changes, all at once; rows with changed ones. A breakdown is told by factoring row by row.
#pragma once

#include <atomic>
#include <string>

#include "core/dispatch.hpp"
#include "device/host_gather.hpp"
#include "device/host_team.hpp"
#include "ilu_host_pruned_lists.hpp"
#include "ilu_host_rows_kernels.hpp"

namespace kkc::ilu::host {

template <class E, class I, class O>
class PrunedKernel final : public Kernel {
  using R = RealPart<E>;
  using Rows = FactorRow<E, Form::lu, I, O>;

 public:
  PrunedKernel(const Desc& desc, Queue& queue, std::shared_ptr<const PrunedLists<O>> lists)
      : factors_(desc.factors),
        rule_(desc.pivots),
        lists_(std::move(lists)),
        rows_(desc.A.rows),
        threads_(std::clamp<int64_t>(desc.factors.nnz / entries_of_a_thread, 1, queue.concurrency())),
        is_busy_(desc.memory, Space::host, static_cast<size_t>(rows_)) {
    auto* const busy = is_busy_.template as<uint8_t>();
    std::fill(busy, busy + rows_, uint8_t{0});
    for (int64_t r = 0; r < lists_->early.count; ++r) busy[lists_->early.rows.template as<int64_t>()[r]] = 1;
  }

  void execute(Queue& queue, const Args& args) override {
    const Rows rows = Rows::of(factors_, args, rule_, nullptr);
    std::atomic<int64_t> reached{0};
    std::atomic<bool> is_good{true};
    const auto work = [&](int64_t t, int64_t threads) {
      int64_t waits = 0;
      const auto wait = [&] {
        waits += threads;
        reached.fetch_add(1, std::memory_order_acq_rel);
        wait_until([&] { return reached.load(std::memory_order_acquire) >= waits; });
      };
      const auto row_of = [&](int64_t part) {
        const auto entry = static_cast<O>(part_begin(args.factors.nnz, threads, part));
        return part == threads ? rows_ : std::lower_bound(rows.offsets, rows.offsets + rows_, entry) - rows.offsets;
      };
      bool good = copy(rows, row_of(t), row_of(t + 1));
      for (size_t l = 0; l + 1 < lists_->levels.size(); ++l) {
        wait();
        each(lists_->early, lists_->levels[l], lists_->levels[l + 1], t, threads,
             [&](int64_t i, const O* words, const O* end) {
               take(rows.values, words, end);
               good = finish(rows, i) && good;
             });
      }
      wait();
      good = divide(rows.values, part_begin(lists_->late_count, threads, t),
                    part_begin(lists_->late_count, threads, t + 1)) &&
             good;
      if (lists_->changed.count > 0) {
        wait();
        each(lists_->changed, 0, lists_->changed.count, t, threads, [&](int64_t i, const O* words, const O* end) {
          take(rows.values, words, end);
          good = all_finite(rows.values + rows.offsets[i], rows.diagonal[i] - rows.offsets[i]) && good;
        });
      }
      if (!good) is_good.store(false, std::memory_order_relaxed);
    };
    if (!host_team<Host>(queue, static_cast<int>(threads_), [&](int t) { work(t, threads_); })) work(0, 1);
    if (is_good.load(std::memory_order_relaxed)) return;
    Breakdown found;
    for (int64_t i = 0; i < rows_; ++i) rows.by_search(i, found);
    refuse(found, Form::lu);
  }

  int64_t plan_bytes() const override { return lists_->bytes() + static_cast<int64_t>(is_busy_.bytes()); }
  void describe(Info& info) const override {
    info.add("threads", threads_);
    info.add("levels", std::ssize(lists_->levels));
    info.add("early_entries", factors_.nnz - lists_->late_entries);
    info.add("late_entries", lists_->late_entries);
    info.add("rows_with_changed_late_entries", lists_->changed.count);
  }

 private:
  static constexpr int64_t entries_of_a_thread = 8192;

  /// Entries of rows begin..end - 1 before anything is eliminated. Whether all are finite, and pivots that are complete
  /// are not zero.
  bool copy(const Rows& rows, int64_t begin, int64_t end) const {
    constexpr int64_t entries_at_once = 2048;  // which stay in the nearest cache
    bool good = true;
    for (int64_t first = begin; first < end;) {
      const O from = rows.offsets[first];
      int64_t last = first + 1;
      while (last < end && rows.offsets[last + 1] - from <= entries_at_once) ++last;
      const O to = rows.offsets[last];
      if (rows.in_order)
        std::copy(rows.A + from, rows.A + to, rows.values + from);
      else
        for (O p = from; p < to; ++p) rows.values[p] = value_at(rows.source, rows.A, p);
      good = all_finite(rows.values + from, to - from) && good;
      for (int64_t i = first; i < last; ++i) {
        E& pivot = rows.values[rows.diagonal[i]];
        pivot = plus(pivot, from_real<E>(rule_.shift));
        if (is_busy_.template as<uint8_t>()[i] == 0) good = set_pivot(pivot) && good;
      }
      first = last;
    }
    return good;
  }

  bool set_pivot(E& pivot) const {
    bool zero = false;
    pivot = lu_pivot(
        pivot, rule_, [](R x) { return std::sqrt(x); }, zero);
    return !zero;
  }
  /// Row i, whose early entries are complete.
  bool finish(const Rows& rows, int64_t i) const {
    const O first = rows.offsets[i];
    return all_finite(rows.values + first, rows.offsets[i + 1] - first) && set_pivot(rows.values[rows.diagonal[i]]);
  }

  /// f for a thread's rows of begin..end - 1 of a list, about as many words for each thread.
  template <class F>
  void each(const StepLists<O>& lists, int64_t begin, int64_t end, int64_t t, int64_t threads, const F& f) const {
    const auto* const starts = lists.starts.template as<int64_t>();
    const auto place = [&](int64_t thread) {
      const int64_t word = starts[begin] + part_begin(starts[end] - starts[begin], threads, thread);
      return thread == threads ? end : std::lower_bound(starts + begin, starts + end, word) - starts;
    };
    const auto* const words = lists.words.template as<O>();
    for (int64_t r = place(t), last = place(t + 1); r < last; ++r)
      f(lists.rows.template as<int64_t>()[r], words + starts[r], words + starts[r + 1]);
  }

  static void take(E* values, const O* words, const O* end) {
    while (words < end) {
      E& entry = values[words[0]];
      if (words[1] != StepLists<O>::is_known) entry = quotient(entry, values[words[1]]);
      const E l = entry;
      const O* const next = words + 3 + 2 * words[2];
      for (words += 3; words < next; words += 2)
        values[words[0]] = minus_product(values[words[0]], l, values[words[1]]);
    }
  }

  /// Late entries begin..end - 1; whether they are finite.
  bool divide(E* values, int64_t begin, int64_t end) const {
    const O *const late = lists_->late.template as<O>(), *const pivots = lists_->pivots.template as<O>();
    int64_t j = begin;
    R spoilt = 0;
    if constexpr (!has_parts<E>) {
      constexpr int lanes = 8;
      Pack<E, lanes> all{};
      for (; j + lanes <= end; j += lanes) {
        Pack<E, lanes> l{}, u{};
        gather(l, values, late + j);
        gather(u, values, pivots + j);
        l /= u;
        all += l - l;
        for (int k = 0; k < lanes; ++k) values[late[j + k]] = l[k];
      }
      spoilt = sum_of<E>(all);
    }
    for (; j < end; ++j) {
      const E l = quotient(values[late[j]], values[pivots[j]]);
      values[late[j]] = l;
      spoilt += not_finite(l);
    }
    return spoilt == 0;
  }

  FactorPattern factors_;
  Rule<R> rule_;
  std::shared_ptr<const PrunedLists<O>> lists_;
  int64_t rows_, threads_;
  Buffer is_busy_;  // uint8_t[rows]: those with early entries
};

inline std::unique_ptr<Kernel> make_pruned(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.A.scalar, desc.A.pair, [&](auto scalar, auto pair) {
    using E = Element<typename decltype(scalar)::type>;
    using P = decltype(pair);
    using O = typename P::offset;
    kernel = std::make_unique<PrunedKernel<E, typename P::ordinal, O>>(
        desc, queue, std::static_pointer_cast<const PrunedLists<O>>(desc.found_split));
  });
  return kernel;
}

/// Looks at a sample of rows, and where that has late entries enough, at all.
inline std::string pruned_unsupported(const Desc& desc) {
  if (desc.A.rows == 0) return "there are no rows";
  Queue& queue = desc.memory->queue();
  bool is_worth = false;
  queue.run([&] {
    dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto pair) {
      using I = typename decltype(pair)::ordinal;
      using O = typename decltype(pair)::offset;
      const FactorPattern& factors = desc.factors;
      const LowerRows<I, O> rows{factors.offsets->template as<O>(), factors.diagonal->template as<O>(),
                                 factors.indices->template as<I>(), desc.A.rows};
      is_worth = has_late_entries(rows, FindLists<I, O>::entries_of_a_late_one);
      if (is_worth) desc.found_split = FindLists<I, O>(queue, desc.memory, rows, factors.nnz).run();
    });
  });
  if (!is_worth) return "takes patterns where, in a sample, one of 4 entries left of the diagonal is late";
  if (desc.found_split == nullptr)
    return "takes patterns with few levels of early entries, whose late ones are changed once for 2 entries at most";
  return {};
}

}  // namespace kkc::ilu::host
