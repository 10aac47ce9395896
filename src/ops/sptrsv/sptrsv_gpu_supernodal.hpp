// sptrsv, gpu_supernodal: under values = kept a triangle's supernodes are dense blocks, those on the diagonal inverted
// and the inverse applied to what lies outside (partitioned inverse: Alvarado, Schreiber, "Optimal parallel solution of
// sparse triangular systems", SIAM J. Sci. Comput. 14(2), 1993; supernodes: Yamazaki, Rajamanickam, Ellingwood,
// "Performance portable supernode-based sparse triangular solver for manycore architectures", ICPP 2020). Supernodes in
// the order of their levels go into one launch, numbers are their own flags as in gpu_sync_free. Supernodes are found
// on the host, by one thread.
#pragma once

#include <vector>

#include "ops/levels/levels_by_rows.hpp"
#include "ops/sptrsv/sptrsv_supernodes.hpp"
#include "sptrsv_gpu_parts.hpp"
#include "sptrsv_gpu_supernodal_kernels.hpp"

namespace kkc::sptrsv {
namespace gpu_parts {

/// What each step of op(T) needs. Blocks.
template <class I, class O>
StepPattern<I> step_pattern(const Desc& desc, Queue& queue) {
  const int64_t n = desc.A.rows;
  std::vector<O> offsets(static_cast<size_t>(n) + 1);
  std::vector<I> indices(static_cast<size_t>(desc.A.nnz));
  if (n > 0) queue.copy(offsets.data(), desc.A.offsets, offsets.size() * sizeof(O));
  if (!indices.empty()) queue.copy(indices.data(), desc.A.indices, indices.size() * sizeof(I));
  queue.synchronize();
  const bool lower = desc.uplo == Uplo::lower, ascending = solves_ascending(desc), turned = transposes(desc.op);
  const auto step_of = [&](int64_t i) { return ascending ? i : n - 1 - i; };
  int64_t missing = n;
  // f(step, step that it needs)
  const auto each = [&](const auto& f) {
    for (int64_t row = 0; row < n; ++row) {
      bool diagonal = false;
      for (auto p = static_cast<int64_t>(offsets[static_cast<size_t>(row)] - desc.A.base);
           p < static_cast<int64_t>(offsets[static_cast<size_t>(row) + 1] - desc.A.base); ++p) {
        const auto column = static_cast<int64_t>(indices[static_cast<size_t>(p)]) - desc.A.base;
        diagonal = diagonal || column == row;
        if (lower ? column < row : column > row)
          turned ? f(step_of(column), step_of(row)) : f(step_of(row), step_of(column));
      }
      if (!diagonal) missing = std::min(missing, row);
    }
  };
  StepPattern<I> M;
  M.offsets.assign(static_cast<size_t>(n) + 1, 0);
  each([&](int64_t step, int64_t) { ++M.offsets[static_cast<size_t>(step) + 1]; });
  refuse_missing(desc, missing);
  for (size_t i = 0; i < static_cast<size_t>(n); ++i) M.offsets[i + 1] += M.offsets[i];
  M.columns.resize(static_cast<size_t>(M.offsets.back()));
  std::vector<int64_t> next(M.offsets.begin(), M.offsets.end() - 1);
  each([&](int64_t step, int64_t other) {
    M.columns[static_cast<size_t>(next[static_cast<size_t>(step)]++)] = static_cast<I>(other);
  });
  // Strictly ascending.
  int64_t end = 0;
  for (int64_t step = 0; step < n; ++step) {
    const auto first = M.columns.begin() + M.offsets[static_cast<size_t>(step)],
               last = M.columns.begin() + next[static_cast<size_t>(step)];
    if (!std::is_sorted(first, last)) std::sort(first, last);
    M.offsets[static_cast<size_t>(step)] = end;
    end = std::unique_copy(first, last, M.columns.begin() + end) - M.columns.begin();
  }
  M.offsets[static_cast<size_t>(n)] = end;
  M.columns.resize(static_cast<size_t>(end));
  return M;
}

template <class T, class I, class O>
class GpuSupernodalKernel final : public Kernel {
  using ByRows = SolveSupernodesByRows<T, I>;
  using ByColumns = SolveSupernodesByColumns<T, I, O>;
  using Task = SupernodalTask<I>;

 public:
  GpuSupernodalKernel(const Desc& desc, Queue& queue)
      : n_(desc.A.rows),
        vectors_(desc.vectors),
        lower_(desc.uplo == Uplo::lower),
        transposed_(transposes(desc.op)),
        ascending_(solves_ascending(desc)),
        unit_(desc.diag == Diag::unit),
        conjugate_(conjugates(desc.op) && is_complex_scalar(desc.A.scalar)),
        pivots_(desc.memory, Space::device, sizeof(gpu::Zeros)),
        zeros_(desc.memory, queue) {
    const Supernodes<I> found = find_supernodes(step_pattern<I, O>(desc, queue), most_supernode_width);
    by_columns_ = found.by_columns;
    count_ = found.count();
    levels_ = found.levels;
    padding_ = found.nonzeros == 0 ? 0.0 : static_cast<double>(found.dense) / static_cast<double>(found.nonzeros) - 1.0;
    flags_each_ = by_columns_ ? static_cast<int64_t>(found.outer.size()) : n_;
    std::vector<Supernode<I>> nodes;
    for (int64_t s = 0; s < count_; ++s) {
      nodes.push_back({numbers_, found.outer_from[static_cast<size_t>(s)], found.first[static_cast<size_t>(s)],
                       static_cast<I>(found.width(s)), static_cast<I>(found.length(s))});
      numbers_ += found.width(s) * found.length(s);
    }
    std::vector<I> order(static_cast<size_t>(count_));
    const std::vector<int64_t> starts =
        levels::sort_by_level(found.level.data(), count_, std::max<int64_t>(1, levels_), order.data());
    const std::vector<Task> tasks = by_columns_ ? tasks_by_columns(nodes, order, starts) : tasks_by_rows(nodes, order);
    tasks_count_ = static_cast<int64_t>(tasks.size());

    nodes_ = on_device(desc, queue, nodes);
    owner_ = on_device(desc, queue, found.owner);
    outer_ = on_device(desc, queue, found.outer);
    tasks_ = on_device(desc, queue, tasks);
    // Whole words of Fill.
    blocks_ = device_array<uint4>(
        desc, (numbers_ * static_cast<int64_t>(sizeof(T)) + static_cast<int64_t>(sizeof(uint4)) - 1) /
                  static_cast<int64_t>(sizeof(uint4)));
    if (by_columns_) {
      // Where each step finds what to subtract.
      std::vector<O> from(static_cast<size_t>(n_) + 2, 0), gather(found.outer.size());
      for (const I step : found.outer) ++from[static_cast<size_t>(step) + 2];
      for (size_t i = 2; i < from.size(); ++i) from[i] = static_cast<O>(from[i] + from[i - 1]);
      for (size_t p = 0; p < gather.size(); ++p)
        gather[static_cast<size_t>(from[static_cast<size_t>(found.outer[p]) + 1]++)] = static_cast<O>(p);
      gather_from_ = on_device(desc, queue, from);
      gather_ = on_device(desc, queue, gather);
      gpu::prepare<ByColumns>(queue);
    } else {
      gpu::prepare<ByRows>(queue);
    }
    queue.synchronize();
    gpu::prepare<BeginSupernodal<T>>(queue);
    gpu::prepare<ForgetZeros>(queue);
    gpu::prepare<Fill>(queue);
    gpu::prepare<FillSupernodes<T, I, O>>(queue);
    gpu::prepare<InvertSupernodes<T, I>>(queue);
  }

  bool keeps_values() const override { return true; }

  void set_values(Queue& queue, const CsrRef& A) override {
    gpu::launch(queue, 1, 1, 0, ForgetZeros{pivots_.as<gpu::Zeros>()});
    const auto words = static_cast<int64_t>(blocks_.bytes() / sizeof(uint4));
    gpu::launch(queue, std::min(gpu::blocks_for(words, Fill::threads * 4), 4096u), Fill::threads, 0,
                Fill{blocks_.template as<uint4>(), words, 0});
    gpu::launch_over(
        queue, n_,
        FillSupernodes<T, I, O>{blocks(), static_cast<const O*>(A.offsets), static_cast<const I*>(A.indices),
                                static_cast<const T*>(A.values), n_, A.base, lower_, transposed_, ascending_, unit_,
                                conjugate_, pivots_.as<gpu::Zeros>()});
    gpu::launch(queue, gpu::blocks_for(count_, 1), InvertSupernodes<T, I>::threads, 0,
                InvertSupernodes<T, I>{blocks(), count_});
  }

  void execute(Queue& queue, const Args& args) override {
    char* const at = static_cast<char*>(args.workspace);
    const SupernodalWork<T> work{reinterpret_cast<unsigned*>(at), reinterpret_cast<T*>(at + alignment),
                                 reinterpret_cast<T*>(at + alignment) + n_ * vectors_, n_, flags_each_};
    const Operands<T> operands = operands_of<T>(args);
    using Begin = BeginSupernodal<T>;
    const int64_t most = std::max<int64_t>(1, std::max(n_, flags_each_) * vectors_);
    gpu::launch(queue, std::min(gpu::blocks_for(most, Begin::threads * 4), 4096u), Begin::threads, 0,
                Begin{work, operands, ascending_, pivots_.as<gpu::Zeros>(), zeros_.counter()});
    if (by_columns_)
      gpu::launch(
          queue, gpu::blocks_for(tasks_count_ / ByColumns::warps * vectors_, 1), ByColumns::threads, 0,
          ByColumns{blocks(), work, operands, tasks_.as<Task>(), gather_from_.as<O>(), gather_.as<O>(), ascending_});
    else
      gpu::launch(queue, gpu::blocks_for(tasks_count_ * vectors_, ByRows::warps), ByRows::threads, 0,
                  ByRows{blocks(), work, operands, tasks_.as<Task>(), tasks_count_, ascending_});
  }

  size_t workspace_bytes() const override {
    return alignment + static_cast<size_t>((n_ + flags_each_) * vectors_) * sizeof(T);
  }
  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    return zeros_.check(queue, where, count);
  }
  void describe(Info& info) const override {
    info.add("supernodes", count_);
    info.add("by", std::string(by_columns_ ? "columns" : "rows"));
    info.add("mean_width", static_cast<double>(n_) / static_cast<double>(std::max<int64_t>(1, count_)));
    info.add("padding", padding_);
    info.add("levels", levels_);
    info.add("rows_per_level", static_cast<double>(n_) / static_cast<double>(std::max<int64_t>(1, levels_)));
    info.add("plan_bytes", static_cast<int64_t>(nodes_.bytes() + owner_.bytes() + outer_.bytes() + tasks_.bytes() +
                                                blocks_.bytes() + gather_from_.bytes() + gather_.bytes()));
  }

 private:
  static constexpr size_t alignment = 256;

  template <class E>
  static Buffer on_device(const Desc& desc, Queue& queue, const std::vector<E>& list) {
    Buffer made(desc.memory, Space::device, list.size() * sizeof(E));
    if (!list.empty()) queue.copy(made.data(), list.data(), list.size() * sizeof(E));
    return made;
  }

  static std::vector<Task> tasks_by_rows(const std::vector<Supernode<I>>& nodes, const std::vector<I>& order) {
    std::vector<Task> tasks;
    for (const I node : order)
      for (I part = 0; part * ByRows::each < nodes[static_cast<size_t>(node)].width; ++part)
        tasks.push_back({node, part});
    return tasks;
  }

  static std::vector<Task> tasks_by_columns(const std::vector<Supernode<I>>& nodes, const std::vector<I>& order,
                                            const std::vector<int64_t>& starts) {
    std::vector<Task> tasks;
    for (size_t level = 0; level + 1 < starts.size(); ++level) {
      const auto each = [&](const auto& f) {
        for (int64_t at = starts[level]; at < starts[level + 1]; ++at) {
          const I node = order[static_cast<size_t>(at)];
          const Supernode<I>& s = nodes[static_cast<size_t>(node)];
          f(node, s, s.width <= ByColumns::narrow && s.length <= ByColumns::shortest);
        }
      };
      each([&](I node, const Supernode<I>& s, bool small) {
        for (I part = 0; !small && int64_t{part} * ByColumns::threads < s.length; ++part)
          tasks.insert(tasks.end(), ByColumns::warps, Task{node, part});
      });
      each([&](I node, const Supernode<I>&, bool small) {
        if (small) tasks.push_back({node, -1});
      });
      while (tasks.size() % ByColumns::warps != 0) tasks.push_back({-1, -1});
    }
    return tasks;
  }

  SupernodeBlocks<T, I> blocks() const {
    return {nodes_.as<Supernode<I>>(), owner_.as<I>(), outer_.as<I>(), blocks_.template as<T>(), by_columns_};
  }

  int64_t n_, vectors_, count_ = 0, levels_ = 0, numbers_ = 0, tasks_count_ = 0, flags_each_ = 0;
  double padding_ = 0;
  bool lower_, transposed_, ascending_, unit_, conjugate_, by_columns_ = false;
  Buffer nodes_, owner_, outer_, tasks_, blocks_, gather_from_, gather_, pivots_;
  gpu::ZeroRows zeros_;
};

inline std::unique_ptr<Kernel> make_supernodal(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  with_types(desc, [&]<class T, class I, class O>(T, I, O) {
    kernel = std::make_unique<GpuSupernodalKernel<T, I, O>>(desc, queue);
  });
  return kernel;
}

inline std::string supernodal_unsupported(const Desc& desc) {
  return desc.values_kept ? std::string() : "needs option values = kept";
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_supernodal() {
  return {{"gpu_supernodal"}, true, gpu_parts::supernodal_unsupported, gpu_parts::make_supernodal};
}

}  // namespace kkc::sptrsv
