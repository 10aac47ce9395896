// The host_rows of ilu and ic: plan and execute.
#pragma once

#include <cstddef>
#include <new>

#include "core/dispatch.hpp"
#include "ilu_host_joint_rows.hpp"
#include "ilu_host_pairs_kernels.hpp"
#include "ilu_host_scheduler.hpp"
#include "ilu_host_spread_rows.hpp"

namespace kkc::ilu::host {

/// Below this many entries threads cost more than they bring.
inline constexpr int64_t least_entries_of_a_thread = 8192;

/// Pairs for each needed row, and bytes of the factors' values, from which on numbers are worth asking for ahead.
inline constexpr int64_t least_pairs_to_fetch = 4, least_bytes_to_fetch = int64_t{8} << 20;

template <class E, Form form, class I, class O>
class RowsKernel final : public Kernel {
 public:
  RowsKernel(const Desc& desc, Queue& queue)
      : factors_(desc.factors),
        rule_(desc.pivots),
        programs_(queue, form, Lanes<E, program_lanes>::registers, lower(desc)),
        joint_(form == Form::lu && programs_.empty() ? JointRows<I, O>(queue, lower(desc)) : JointRows<I, O>()),
        pairs_(programs_.empty() && joint_.empty() ? HostPairs<I, O>(queue, form, lower(desc)) : HostPairs<I, O>()),
        fetches_(2 * pairs_.count() >= least_pairs_to_fetch * (desc.factors.nnz - desc.A.rows) &&
                 desc.factors.nnz * static_cast<int64_t>(sizeof(E)) >= least_bytes_to_fetch),
        schedule_(schedule(desc, queue)),
        threads_(std::make_unique<PerThread[]>(static_cast<size_t>(schedule_.threads()))),
        places_(int64_t{programs_.most_vectors()} * program_lanes),
        numbers_bytes_(padded((programs_.panels() ? most_panel_rows : 1) * places_ * static_cast<int64_t>(sizeof(E)))),
        scratch_bytes_(numbers_bytes_ +
                       (programs_.panels() ? padded(places_ * static_cast<int64_t>(sizeof(const E*))) : 0)),
        scratch_(desc.memory, Space::host, static_cast<size_t>(schedule_.threads() * scratch_bytes_)),
        inverses_(desc.memory, Space::host,
                  programs_.panels() || (FactorRow<E, form, I, O>::by_inverses && !pairs_.empty())
                      ? static_cast<size_t>(desc.A.rows) * sizeof(E)
                      : 0),
        group_bytes_(padded(most_panel_rows * longest(desc, 2) * static_cast<int64_t>(sizeof(E)))),
        map_bytes_(needs_map(desc) ? padded(desc.A.rows * static_cast<int64_t>(joint_.empty() ? sizeof(E) : sizeof(I)))
                                   : 0),
        map_(desc.memory, Space::host, static_cast<size_t>(schedule_.threads() * (group_bytes_ + map_bytes_))) {
    if (map_bytes_ == 0) return;
    if (pairs_.empty() && joint_.empty()) spread_rows_ = desc.A.rows;
    host_parts<Host>(queue, schedule_.threads(),
                     [&](int64_t t) { std::memset(map_of<std::byte>(t), 0, static_cast<size_t>(map_bytes_)); });
  }

  void execute(Queue& queue, const Args& args) override {
    const auto row = FactorRow<E, form, I, O>::of(factors_, args, rule_,
                                                  inverses_.bytes() > 0 ? inverses_.template as<E>() : nullptr);
    for (int64_t t = 0; t < schedule_.threads(); ++t) threads_[static_cast<size_t>(t)].found = {};
    const FactorSpread<E, form, I, O> spread{row};
    if (!pairs_.empty()) {
      const FactorByPairs<E, form, I, O> by_pairs{row};
      const auto factor = [&](int64_t t, int64_t i) {
        Breakdown& found = threads_[static_cast<size_t>(t)].found;
        if (row.needs_none(i))
          row.alone(i, found);
        else if (const auto list = pairs_.of(i); list.known) [[likely]]
          by_pairs(i, list, found);
        else
          spread(i, map_of<E>(t), found);
      };
      if (fetches_)
        schedule_.run(queue, factor, FetchForPairs<E, form, I, O>{row});
      else
        schedule_.run(queue, factor);
    } else if (!joint_.empty()) {
      if constexpr (form == Form::lu) {
        const FactorByMap<E, I, O> by_map{row, joint_.left()};
        schedule_.run(queue, [&](int64_t t, int64_t g) {
          const int64_t i = joint_.first(g);
          by_map(i, joint_.first(g + 1) - i, map_of<I>(t), group_of(t), threads_[static_cast<size_t>(t)].found);
        });
      }
    } else if (programs_.empty()) {
      schedule_.run(queue,
                    [&](int64_t t, int64_t i) { spread(i, map_of<E>(t), threads_[static_cast<size_t>(t)].found); });
    } else {
      schedule_.run(queue, [&](int64_t t, int64_t i) {
        row.by_program(i, programs_.of(i), scratch_of(t), threads_[static_cast<size_t>(t)].found);
      });
    }
    Breakdown all;
    for (int64_t t = 0; t < schedule_.threads(); ++t) {
      const Breakdown& found = threads_[static_cast<size_t>(t)].found;
      all.count += found.count;
      if (found.first < all.first) {
        all.first = found.first;
        all.first_is_zero = found.first_is_zero;
      }
    }
    refuse(all, form);
  }

  int64_t plan_bytes() const override {
    return programs_.bytes() + joint_.bytes() + pairs_.bytes() + schedule_.bytes() +
           static_cast<int64_t>(scratch_.bytes() + inverses_.bytes() + map_.bytes());
  }
  void describe(Info& info) const override {
    info.add("threads", schedule_.threads());
    info.add("schedule", schedule_.why());
    info.add("granules", schedule_.granules());
    info.add("waits", schedule_.waits());
    info.add("estimated_efficiency", schedule_.efficiency());
    info.add("programs", programs_.count());
    info.add("pairs", pairs_.count());
    info.add("joint_rows", joint_.empty() ? int64_t{0} : joint_.count());
    info.add("spread_rows", spread_rows_);
  }

 private:
  struct alignas(128) PerThread {
    Breakdown found;
  };

  static LowerRows<I, O> lower(const Desc& desc) {
    return {desc.factors.offsets->template as<O>(), desc.factors.diagonal->template as<O>(),
            desc.factors.indices->template as<I>(), desc.A.rows};
  }

  HostSchedule schedule(const Desc& desc, Queue& queue) const {
    const int64_t threads = std::min<int64_t>(queue.concurrency(), desc.factors.nnz / least_entries_of_a_thread);
    if (!programs_.empty()) return host_schedule(queue, lower(desc), threads, {}, true);
    // An entry left of the diagonal takes as long as the row that it needs is.
    const double half =
        static_cast<double>(desc.factors.nnz) / static_cast<double>(2 * std::max<int64_t>(desc.A.rows, 1));
    if (!pairs_.empty())
      return host_schedule(queue, lower(desc), threads,
                           {15, 4 + 1.2 * static_cast<double>(pairs_.count()) /
                                        (half * static_cast<double>(std::max<int64_t>(desc.A.rows, 1)))},
                           false);
    if (joint_.empty()) return host_schedule(queue, lower(desc), threads, {25, 5 + half}, false);
    const typename JointRows<I, O>::Graph graph(queue, joint_, lower(desc));
    return host_schedule(queue, graph.rows(), threads, {25, 4 * half}, false);
  }
  /// Entries of a row of the longest of groups of so many rows and more.
  int64_t longest(const Desc& desc, int64_t least_rows) const {
    const LowerRows<I, O> rows = lower(desc);
    O most = 0;
    const int64_t groups = joint_.empty() ? least_rows > 1 ? 0 : rows.rows : joint_.count();
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t i = joint_.empty() ? g : joint_.first(g);
      if (joint_.empty() || joint_.first(g + 1) - i >= least_rows)
        most = std::max<O>(most, rows.offsets[i + 1] - rows.offsets[i]);
    }
    return most;
  }
  bool needs_map(const Desc& desc) const {
    if (!programs_.empty()) return false;
    if (!pairs_.empty()) return !pairs_.complete();
    return form == Form::cholesky || !joint_.empty() || longest(desc, 1) > HeldRows<E, I, O>::longest;
  }

  /// So that threads share no cache line.
  static int64_t padded(int64_t bytes) { return (bytes + 127) / 128 * 128; }

  RowScratch<E> scratch_of(int64_t t) {
    auto* const mine = scratch_.template as<std::byte>() + t * scratch_bytes_;
    return {reinterpret_cast<E*>(mine), reinterpret_cast<const E**>(mine + numbers_bytes_)};
  }

  /// Of joint rows a place for each column, of others a number.
  template <class T>
  T* map_of(int64_t t) {
    return reinterpret_cast<T*>(map_.template as<std::byte>() + t * (group_bytes_ + map_bytes_));
  }
  E* group_of(int64_t t) { return reinterpret_cast<E*>(map_of<std::byte>(t) + map_bytes_); }

  FactorPattern factors_;
  Rule<RealPart<E>> rule_;
  HostPrograms programs_;
  JointRows<I, O> joint_;  // of rows without programs
  HostPairs<I, O> pairs_;  // of rows without either
  bool fetches_;           // what they need
  HostSchedule schedule_;
  std::unique_ptr<PerThread[]> threads_;
  int64_t places_, numbers_bytes_, scratch_bytes_;  // of a thread
  Buffer scratch_, inverses_;
  int64_t group_bytes_, map_bytes_;  // of a thread
  Buffer map_;
  int64_t spread_rows_ = 0;
};

template <Form form>
std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.A.scalar, desc.A.pair, [&](auto scalar, auto pair) {
    using E = Element<typename decltype(scalar)::type>;
    using P = decltype(pair);
    kernel = std::make_unique<RowsKernel<E, form, typename P::ordinal, typename P::offset>>(desc, queue);
  });
  return kernel;
}

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace kkc::ilu::host
