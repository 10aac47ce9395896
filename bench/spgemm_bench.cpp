// kkc_bench spgemm: products of sparse matrices. --op names them: N (A A), T (A A^T), AP and PtAP (A times a tentative
// prolongator, and the Galerkin product's second half).
#include "bench_product.hpp"

namespace kkc::bench {
namespace {

/// op(P) times what: AP itself, or P^T times AP.
Matrix multiplied(kkc_context_t* ctx, kkc_matrix_t* A, kkc_matrix_t* B, kkc_index_pair_t index, kkc_scalar_t scalar) {
  const auto plan =
      make<Plan>("kkc_spgemm_plan", kkc_spgemm_plan, ctx, KKC_OP_NONE, A, KKC_OP_NONE, B, nullptr, index, nullptr);
  Matrix C = make<Matrix>("kkc_plan_create_output", kkc_plan_create_output, plan.get());
  const auto one = element(scalar, 1.0), zero = element(scalar, 0.0);
  check(kkc_spgemm_execute(plan.get(), one.data(), A, B, zero.data(), C.get()), "kkc_spgemm_execute");
  return C;
}

Matrix transposed(kkc_context_t* ctx, kkc_matrix_t* A, kkc_index_pair_t index) {
  const auto plan = make<Plan>("kkc_transpose_plan", kkc_transpose_plan, ctx, KKC_OP_TRANSPOSE, A, index, nullptr);
  Matrix C = make<Matrix>("kkc_plan_create_output", kkc_plan_create_output, plan.get());
  check(kkc_transpose_execute(plan.get(), A, C.get()), "kkc_transpose_execute");
  check(kkc_context_synchronize(ctx), "kkc_context_synchronize");
  return C;
}

void run_case(Session& session, const Case& c, const std::string& op, kkc_context_t* loader, const Matrix& loaded) {
  Bench& bench = session.bench(c.device, c.threads);
  Matrix host_p, host_ap;
  kkc_matrix_t *left = loaded.get(), *right = loaded.get();
  if (op == "AP" || op == "PtAP") {
    host_p = prolongator(loader, family_of(c.matrix), arrays_of(loaded.get()));
    right = host_p.get();
    if (op == "PtAP") {
      host_ap = multiplied(loader, left, right, c.index, c.scalar);
      left = host_p.get();
      right = host_ap.get();
    }
  } else if (op != "N" && op != "T") {
    throw std::runtime_error("--op is " + op + ", expected N, T, AP or PtAP");
  }
  const bool ta = op == "PtAP", tb = op == "T";
  const kkc_op_t op_a = ta ? KKC_OP_TRANSPOSE : KKC_OP_NONE, op_b = tb ? KKC_OP_TRANSPOSE : KKC_OP_NONE;
  Matrix device_left, device_right;
  kkc_matrix_t* const A = on_device(bench, c, left, device_left);
  kkc_matrix_t* const B = right == left ? A : on_device(bench, c, right, device_right);
  const auto one = element(c.scalar, 1.0), zero = element(c.scalar, 0.0);
  const SparseOperand host_a = operand(left), host_b = operand(right);
  if ((ta ? host_a.rows : host_a.cols) != (tb ? host_b.cols : host_b.rows))
    throw std::runtime_error("--op is " + op + ", which takes square matrices");

  ProductCase product;
  product.operation = "spgemm";
  product.op = op;
  product.c = c;
  product.A = operand(A);
  product.B = operand(B);
  product.products = products_of(host_a, ta, host_b, tb);
  product.flops = static_cast<double>(product.products) * (is_complex(c.scalar) ? 8.0 : 2.0);
  product.x = check_vector(tb ? host_b.rows : host_b.cols);
  product.value = apply(host_a, c.scalar, ta, false, apply(host_b, c.scalar, tb, false, product.x));
  product.weight = apply(host_a, c.scalar, ta, true, apply(host_b, c.scalar, tb, true, magnitudes(product.x)));
  product.plan = [&](kkc_options_t* options) {
    return make<Plan>("kkc_spgemm_plan", kkc_spgemm_plan, bench.ctx.get(), op_a, A, op_b, B, nullptr, c.index, options);
  };
  product.execute = [&](kkc_plan_t* plan, kkc_matrix_t* C) {
    check(kkc_spgemm_execute(plan, one.data(), A, B, zero.data(), C), "kkc_spgemm_execute");
  };
  Matrix explicit_a, explicit_b;
  product.entrants = [&](Peer& peer) {
    SpgemmProblem problem{c.device, 0, bench.stream, c.threads, c.scalar, c.index, operand(A), operand(B), op_a, op_b};
    std::vector<SpgemmEntrant> all;
    try {
      all = peer.spgemm(problem);
    } catch (const NotTaken&) {
      if (!ta && !tb) throw;
    }
    if (!all.empty() && !all.front().converts) return all;
    // A peer that does not transpose is given the transpose, and the time to make it.
    if (ta && !explicit_a) explicit_a = transposed(bench.ctx.get(), A, c.index);
    if (tb && !explicit_b) explicit_b = transposed(bench.ctx.get(), B, c.index);
    if (ta) problem.A = operand(explicit_a.get());
    if (tb) problem.B = operand(explicit_b.get());
    problem.op_a = problem.op_b = KKC_OP_NONE;
    auto entrants = peer.spgemm(problem);
    for (auto& entrant : entrants)
      entrant.name += entrant.name.empty() ? "(given the transpose)" : " (given the transpose)";
    all.insert(all.end(), entrants.begin(), entrants.end());
    return all;
  };
  run_product(session, bench, product);
}

}  // namespace

void spgemm(Session& session) {
  each_product_case(
      session, "spgemm", session.arguments().ops,
      [&](kkc_context_t* loader, const Case& c) { return load_matrix(session, loader, c.matrix, c.index, c.scalar); },
      [&](const Case& c, const std::string& op, kkc_context_t* loader, const Matrix& loaded) {
        run_case(session, c, op, loader, loaded);
      });
}

}  // namespace kkc::bench
