// spgemm, host_binned, host_hash and host_dense: one kernel for both host devices, which treats each row as suits it
// (classes of like rows, copies, kept places, hash, dense accumulator: the last three as Nagasaka, Matsuoka, Azad,
// Buluc, "Performance optimization, modeling and analysis of sparse matrix-matrix products on multi-core and many-core
// processors", Parallel Computing 90, 2019, compares them) or all rows alike.
#include "ops/spgemm/spgemm_host_inode_kernel.hpp"
#include "ops/spgemm/spgemm_host_numeric.hpp"

#include "core/dispatch.hpp"

namespace kkc::spgemm {
namespace {

template <class E, class I, class O>
class HostKernel final : public Kernel {
 public:
  HostKernel(const Desc& desc, Queue& queue, HostChoice choice) {
    const LeftPattern<I, O> left{HostPatternRef<I, O>(desc.A)};
    // Of complex products compilers fuse which multiplication they like, so that bits would tell who made a row.
    constexpr bool may_list = std::is_floating_point_v<E>;
    plan_ = HostSymbolic<LeftPattern<I, O>, I, O>(queue, desc, left, choice, may_list).run(output);
    workspace_ = host_workspace<E, I>(plan_, desc.cols(), output.nnz, queue.concurrency(), desc.max_workspace);
  }

  void execute(Queue& queue, const Args& args) override {
    using Left = LeftValues<E, I, O>;
    const Left left{{HostPatternRef<I, O>(args.A)}, static_cast<const E*>(args.A.values), factor<E>(args.alpha).get()};
    HostNumeric<E, I, O, Left>(plan_, output, left, args, workspace_).run(queue);
  }

  size_t workspace_bytes() const override { return workspace_.each * static_cast<size_t>(workspace_.workers); }

  void describe(Info& info) const override {
    info.add("products", plan_.products);
    info.add("compression",
             output.nnz == 0 ? 1.0 : static_cast<double>(plan_.products) / static_cast<double>(output.nnz));
    info.add("plan_bytes", plan_.bytes());
    info.add("tiles", int64_t{0});
    info.add("row_classes", static_cast<int64_t>(plan_.classes.classes.size()));
    info.add("rows_in_classes", plan_.rows_in_classes);
    info.add("column_groups", plan_.groups.count());
    info.add("lists_products", int64_t{plan_.flat.has_room()});
    for (const auto& [kind, key] :
         {std::pair(row_empty, "rows_empty"), std::pair(row_copied, "rows_copied"),
          std::pair(row_placed, "rows_placed"), std::pair(row_hash, "rows_hash"), std::pair(row_dense, "rows_dense")})
      info.add(key, plan_.rows_of[-kind - 1]);
  }

 private:
  HostPlan plan_;
  HostWorkspace workspace_;
};

template <HostChoice choice>
std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.scalar(), desc.A.pair, [&](auto scalar, auto pair) {
    using P = decltype(pair);
    using E = Element<typename decltype(scalar)::type>;
    using I = typename P::ordinal;
    using O = typename P::offset;
    if constexpr (choice == HostChoice::binned) kernel = make_inodes<E, I, O>(desc, queue);
    if (!kernel) kernel = std::make_unique<HostKernel<E, I, O>>(desc, queue, choice);
  });
  return kernel;
}

std::string takes_all(const Desc&) { return {}; }
std::string takes_unmasked(const Desc& desc) {
  return desc.masked ? "takes no mask: its rows would be computed whole" : "";
}

}  // namespace

extern const Implementation host_binned_serial, host_binned_openmp, host_hash_serial, host_hash_openmp,
    host_dense_serial, host_dense_openmp;
const Implementation host_binned_serial = {{"host_binned"}, true, takes_all, make<HostChoice::binned>};
const Implementation host_binned_openmp = host_binned_serial;
const Implementation host_hash_serial = {{"host_hash"}, true, takes_all, make<HostChoice::hash>};
const Implementation host_hash_openmp = host_hash_serial;
const Implementation host_dense_serial = {{"host_dense"}, true, takes_unmasked, make<HostChoice::dense>};
const Implementation host_dense_openmp = host_dense_serial;

}  // namespace kkc::spgemm
