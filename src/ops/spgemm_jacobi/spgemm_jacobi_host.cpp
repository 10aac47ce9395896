// spgemm_jacobi, host_fused: spgemm's host kernel over rows whose factors are those of I - omega D^-1 A, computed as
// they are used; nothing of A's size is written.
#include "core/dispatch.hpp"
#include "ops/spgemm/spgemm_host_numeric.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi_first_row.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi_row.hpp"

namespace kkc::spgemm_jacobi {
namespace {

using spgemm::LeftPattern;

template <class E, class I, class O>
struct JacobiRows {
  LeftPattern<I, O> pattern;
  const E* values;
  const E* inverse;
  int64_t inverse_stride;
  E omega;
  const FirstRow& zeros;

  struct Row : LeftPattern<I, O>::Row {
    const E* values;
    E scale;
    int64_t diagonal;
    E factor(int64_t k) const {
      const E scaled = times(scale, values[k]);
      return k == diagonal ? plus_one(scaled) : scaled;
    }
  };
  Row row(int64_t i) const {
    Row row{pattern.row(i), values + pattern.A.begin(i), E{}, -1};
    E d{};
    for (int64_t k = row.size() - 1; k >= 0; --k)
      if (row.column(k) == i) {
        row.diagonal = k;
        d = plus(d, row.values[k]);
      }
    if (inverse == nullptr && d == E{}) zeros.note(i);
    row.scale = jacobi_scale(omega, inverse == nullptr ? inverse_of(d) : inverse[i * inverse_stride]);
    return row;
  }
};

template <class I, class O>
int64_t first_without_diagonal(Queue& queue, const HostPatternRef<I, O>& A) {
  const FirstRow first;
  const int64_t parts = queue.concurrency();
  host_parts<Host>(queue, parts, [&](int64_t part) {
    for (int64_t i = part_begin(A.rows, parts, part), last = part_begin(A.rows, parts, part + 1); i < last; ++i) {
      bool found = false;
      for (int64_t p = A.begin(i), end = A.end(i); p < end && !found; ++p) found = A.column(p) == i;
      if (!found) return first.note(i);
    }
  });
  return first.value();
}

template <class E, class I, class O>
class FusedKernel final : public Kernel {
 public:
  FusedKernel(const Desc& desc, Queue& queue) {
    const LeftPattern<I, O> left{HostPatternRef<I, O>(desc.product.A)};
    refuse_missing(desc.product.A, first_without_diagonal(queue, left.A));
    plan_ = spgemm::HostSymbolic<LeftPattern<I, O>, I, O>(queue, desc.product, left, spgemm::HostChoice::binned)
                .run(output_);
    workspace_ = spgemm::host_workspace<E, I>(plan_, desc.product.cols(), output_.nnz, queue.concurrency(),
                                              desc.product.max_workspace);
  }

  void execute(Queue& queue, const Args& args) override {
    using Rows = JacobiRows<E, I, O>;
    const FirstRow zeros;
    const Rows left{{HostPatternRef<I, O>(args.A)},      static_cast<const E*>(args.A.values),
                    static_cast<const E*>(args.inverse), args.inverse_stride,
                    factor<E>(args.omega).get(),         zeros};
    const E one = plus_one(E{}), zero{};
    const spgemm::Args product{{&one, false}, {&zero, false}, args.A, args.B, args.C, args.workspace};
    spgemm::HostNumeric<E, I, O, Rows>(plan_, output_, left, product, workspace_).run(queue);
    refuse_zero_diagonal(zeros);
  }

  OutputPattern& output() override { return output_; }
  size_t workspace_bytes() const override { return workspace_.each * static_cast<size_t>(workspace_.workers); }
  void describe(Info& info) const override {
    info.add("products", plan_.products);
    info.add("plan_bytes", plan_.bytes());
    info.add("rows_in_classes", plan_.rows_in_classes);
  }

 private:
  OutputPattern output_;
  spgemm::HostPlan plan_;
  spgemm::HostWorkspace workspace_;
};

std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.product.scalar(), desc.product.A.pair, [&](auto scalar, auto pair) {
    using P = decltype(pair);
    kernel = std::make_unique<
        FusedKernel<Element<typename decltype(scalar)::type>, typename P::ordinal, typename P::offset>>(desc, queue);
  });
  return kernel;
}

std::string unsupported(const Desc& desc) {
  return desc.product_name.empty() ? "" : "option \"product\" names an implementation of spgemm";
}

}  // namespace

extern const Implementation host_fused_serial, host_fused_openmp;
const Implementation host_fused_serial = {{"host_fused"}, true, unsupported, make};
const Implementation host_fused_openmp = host_fused_serial;

}  // namespace kkc::spgemm_jacobi
