// kkc_bench spgemm_jacobi: P = (I - omega D^-1 A) T for the tentative prolongator T of aggregates of about 27 rows.
// Beside it kkc's own product, scaling and sum, and peers by the same three steps. R-MAT matrices get a dominant
// diagonal, since some of their rows have no diagonal entry. All are given D^-1.
#include <memory>
#include <optional>

#include "bench_product.hpp"

namespace kkc::bench {
namespace {

constexpr double omega = 2.0 / 3.0;

Matrix load(const Session& session, kkc_context_t* loader, const Case& c) {
  if (c.matrix.rfind("rmat", 0) != 0) return load_matrix(session, loader, c.matrix, c.index, c.scalar);
  const auto options = make<Options>("kkc_options_create", kkc_options_create);
  check(kkc_options_set_text(options.get(), "size", session.arguments().size.c_str()), "kkc_options_set_text");
  check(kkc_options_set_text(options.get(), "diagonal", "dominant"), "kkc_options_set_text");
  return make<Matrix>("kkc_matrix_generate", kkc_matrix_generate, loader, c.matrix.c_str(), options.get(), c.index,
                      c.scalar);
}

/// The same by kkc's public operations: A B, its rows scaled, and the sum with B. Two plans.
class Steps {
 public:
  Steps(kkc_context_t* ctx, Timer* timer, const Case& c, kkc_matrix_t* A, kkc_matrix_t* B, kkc_view_t* inverse)
      : ctx_(ctx),
        timer_(timer),
        c_(c),
        A_(A),
        B_(B),
        inverse_(inverse),
        one_(element(c.scalar, 1.0)),
        zero_(element(c.scalar, 0.0)),
        factor_(element(c.scalar, -omega)) {}

  void whole() {
    for (Matrix* m : {&C_, &AB_}) m->reset();
    for (Plan* p : {&sum_, &product_}) p->reset();
    product_ = make<Plan>("kkc_spgemm_plan", kkc_spgemm_plan, ctx_, KKC_OP_NONE, A_, KKC_OP_NONE, B_, nullptr, c_.index,
                          nullptr);
    AB_ = make<Matrix>("kkc_plan_create_output", kkc_plan_create_output, product_.get());
    sum_ =
        make<Plan>("kkc_spadd_plan", kkc_spadd_plan, ctx_, KKC_OP_NONE, B_, KKC_OP_NONE, AB_.get(), c_.index, nullptr);
    C_ = make<Matrix>("kkc_plan_create_output", kkc_plan_create_output, sum_.get());
    numeric();
    timer_->synchronize();
  }
  void numeric() {
    check(kkc_spgemm_execute(product_.get(), one_.data(), A_, B_, zero_.data(), AB_.get()), "kkc_spgemm_execute");
    check(kkc_matrix_scale(ctx_, inverse_, AB_.get(), nullptr), "kkc_matrix_scale");
    check(kkc_spadd_execute(sum_.get(), one_.data(), B_, factor_.data(), AB_.get(), C_.get()), "kkc_spadd_execute");
  }
  SparseOperand result() const { return operand(C_.get()); }
  /// Both plans and A B.
  size_t bytes() const {
    size_t sum = 0;
    for (const Plan* plan : {&product_, &sum_}) {
      size_t workspace = 0;
      sum += plan_info(plan->get()).value("plan_bytes", size_t{0});
      check(kkc_plan_workspace_size(plan->get(), &workspace), "kkc_plan_workspace_size");
      sum += workspace;
    }
    const CsrArrays a = arrays_of(AB_.get());
    return sum + static_cast<size_t>(a.nnz * (scalar_bytes(a.scalar) + ordinal_bytes(a.index)) +
                                     (a.rows + 1) * offset_bytes(a.index));
  }

 private:
  kkc_context_t* ctx_;
  Timer* timer_;
  Case c_;
  kkc_matrix_t *A_, *B_;
  kkc_view_t* inverse_;
  std::array<unsigned char, 16> one_, zero_, factor_;
  Plan product_, sum_;
  Matrix AB_, C_;
};

/// Numbers as elements.
std::vector<unsigned char> elements(kkc_scalar_t scalar, const std::vector<Wide>& numbers) {
  std::vector<unsigned char> bytes;
  const auto size = static_cast<size_t>(scalar_bytes(scalar));
  for (const Wide& e : numbers) {
    const auto real = element(scalar, e.real()), imaginary = element(scalar, e.imag());
    bytes.insert(bytes.end(), real.begin(), real.begin() + static_cast<std::ptrdiff_t>(size));
    if (is_complex(scalar))
      std::copy_n(imaginary.begin(), size / 2, bytes.end() - static_cast<std::ptrdiff_t>(size / 2));
  }
  return bytes;
}

void run_case(Session& session, const Case& c, kkc_context_t* loader, const Matrix& loaded) {
  Bench& bench = session.bench(c.device, c.threads);
  kkc_context_t* const ctx = bench.ctx.get();
  const Matrix tentative = prolongator(loader, c.matrix, arrays_of(loaded.get()));
  Matrix device_a, device_b;
  kkc_matrix_t* const A = on_device(bench, c, loaded.get(), device_a);
  kkc_matrix_t* const B = on_device(bench, c, tentative.get(), device_b);
  const SparseOperand host_a = operand(loaded.get()), host_b = operand(tentative.get());

  std::vector<Wide> inverse = diagonal_of(host_a, c.scalar);
  for (Wide& d : inverse) d = 1.0 / d;
  const auto bytes = elements(c.scalar, inverse);
  std::optional<DeviceArray> on_gpu_memory;
  const void* data = bytes.data();
  if (on_gpu(c.device)) {
    on_gpu_memory.emplace(ctx, bytes.size());
    on_gpu_memory->upload(bytes.data());
    data = on_gpu_memory->data();
  }
  const auto view = make<View>("kkc_view_wrap_const", kkc_view_wrap_const, ctx, c.scalar, 1, &host_a.rows,
                               KKC_LAYOUT_RIGHT, nullptr, on_gpu(c.device) ? KKC_SPACE_DEVICE : KKC_SPACE_HOST, data);
  const auto factor = element(c.scalar, omega);

  ProductCase product;
  product.operation = "spgemm_jacobi";
  product.c = c;
  product.A = operand(A);
  product.B = operand(B);
  product.products = products_of(host_a, false, host_b, false);
  // A product and a sum each; a product for every entry of A.
  product.flops = static_cast<double>(2 * product.products + host_a.nnz) * (is_complex(c.scalar) ? 4.0 : 1.0);
  product.x = check_vector(host_b.cols);
  product.value = apply(host_b, c.scalar, false, false, product.x);
  product.weight = apply(host_b, c.scalar, false, true, magnitudes(product.x));
  const auto step = apply(host_a, c.scalar, false, false, product.value);
  const auto step_weight = apply(host_a, c.scalar, false, true, product.weight);
  for (size_t i = 0; i < step.size(); ++i) {
    product.value[i] -= omega * inverse[i] * step[i];
    product.weight[i] += omega * std::abs(inverse[i]) * step_weight[i];
  }
  product.plan = [&](kkc_options_t* options) {
    return make<Plan>("kkc_spgemm_jacobi_plan", kkc_spgemm_jacobi_plan, ctx, A, B, c.index, options);
  };
  product.execute = [&](kkc_plan_t* plan, kkc_matrix_t* C) {
    check(kkc_spgemm_jacobi_execute(plan, factor.data(), view.get(), A, B, C), "kkc_spgemm_jacobi_execute");
  };
  product.others = [&] {
    const auto steps = std::make_shared<Steps>(ctx, bench.timer, c, A, B, view.get());
    SpgemmEntrant entrant;
    entrant.name = "multiply + scale + add";
    entrant.whole = [steps] { steps->whole(); };
    entrant.numeric = [steps] { steps->numeric(); };
    entrant.result = [steps] { return steps->result(); };
    entrant.workspace_bytes = [steps] { return steps->bytes(); };
    return std::vector<SpgemmEntrant>{entrant};
  };
  product.entrants = [&](Peer& peer) {
    return peer.spgemm_jacobi(
        {{c.device, 0, bench.stream, c.threads, c.scalar, c.index, operand(A), operand(B), KKC_OP_NONE, KKC_OP_NONE},
         omega,
         data});
  };
  run_product(session, bench, product);
}

}  // namespace

void spgemm_jacobi(Session& session) {
  each_product_case(
      session, "spgemm_jacobi", {""}, [&](kkc_context_t* loader, const Case& c) { return load(session, loader, c); },
      [&](const Case& c, const std::string&, kkc_context_t* loader, const Matrix& loaded) {
        run_case(session, c, loader, loaded);
      });
}

}  // namespace kkc::bench
