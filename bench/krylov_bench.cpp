// kkc_bench krylov: a system solved to 1e-8 from x = 0 by each method and preconditioner. Matrices get a dominant
// diagonal (generated ones; files are taken as they are and must be solvable). Beside it conjugate gradients by kkc's
// own public calls, an operation each. Set-up: all plans and the factorization; times are of whole executes.
#include <cmath>
#include <functional>
#include <memory>

#include "bench_matrix.hpp"
#include "bench_session.hpp"

namespace kkc::bench {
namespace {

struct Way {
  const char* name;
  const char* method;
  enum { none, jacobi, ic, ilu } kind;
  int level;
};
constexpr Way ways[] = {{"cg", "cg", Way::none, 0},
                        {"cg + jacobi", "cg", Way::jacobi, 0},
                        {"cg + ic(0)", "cg", Way::ic, 0},
                        {"bicgstab", "bicgstab", Way::none, 0},
                        {"bicgstab + ilu(0)", "bicgstab", Way::ilu, 0},
                        {"gmres(50)", "gmres", Way::none, 0},
                        {"gmres(50) + ilu(1)", "gmres", Way::ilu, 1}};

Matrix load(const Session& session, kkc_context_t* loader, const Case& c) {
  if (c.matrix.find(".mtx") == std::string::npos && c.matrix.find('@') == std::string::npos &&
      (c.matrix.rfind("rmat", 0) == 0 || c.matrix.rfind("rand", 0) == 0 || c.matrix.rfind("band", 0) == 0)) {
    const auto options = make<Options>("kkc_options_create", kkc_options_create);
    check(kkc_options_set_text(options.get(), "size", session.arguments().size.c_str()), "kkc_options_set_text");
    check(kkc_options_set_text(options.get(), "diagonal", "dominant"), "kkc_options_set_text");
    return make<Matrix>("kkc_matrix_generate", kkc_matrix_generate, loader, c.matrix.c_str(), options.get(), c.index,
                        c.scalar);
  }
  return load_matrix(session, loader, c.matrix, c.index, c.scalar);
}

/// A vector in the device's memory.
struct Vector {
  DeviceArray memory;
  View view;

  Vector(const Bench& bench, const Case& c, int64_t rows, uint64_t seed)
      : memory(bench.ctx.get(), static_cast<size_t>(rows * scalar_bytes(c.scalar))),
        view(make<View>("kkc_view_wrap", kkc_view_wrap, bench.ctx.get(), c.scalar, 1, &rows, KKC_LAYOUT_RIGHT, nullptr,
                        on_gpu(c.device) ? KKC_SPACE_DEVICE : KKC_SPACE_HOST, memory.data())) {
    memory.upload(random_vector(c.scalar, rows, seed).data());
  }
};

/// What one way needs to run again and again.
struct Solver {
  Plan factorization, plan;
  Matrix factor;
  int64_t iterations = 0;
};

std::shared_ptr<Solver> prepare(const Bench& bench, const Case& c, kkc_matrix_t* A, const Vector& b, const Vector& x,
                                const Way& way) {
  auto solver = std::make_shared<Solver>();
  kkc_context_t* const ctx = bench.ctx.get();
  if (way.kind == Way::ic || way.kind == Way::ilu) {
    const Options options = options_from(way.kind == Way::ic ? "" : "{\"level\": " + std::to_string(way.level) + "}");
    solver->factorization = way.kind == Way::ic ? make<Plan>("kkc_ic_plan", kkc_ic_plan, ctx, A, options.get())
                                                : make<Plan>("kkc_ilu_plan", kkc_ilu_plan, ctx, A, options.get());
    solver->factor = make<Matrix>("kkc_plan_create_output", kkc_plan_create_output, solver->factorization.get());
    if (way.kind == Way::ic)
      check(kkc_ic_execute(solver->factorization.get(), A, solver->factor.get()), "kkc_ic_execute");
    else
      check(kkc_ilu_execute(solver->factorization.get(), A, solver->factor.get()), "kkc_ilu_execute");
    int64_t where = 0, count = 0;
    check(kkc_plan_check(solver->factorization.get(), &where, &count), "factorization");
  }
  const std::string single = c.scalar == KKC_TYPE_F32 || c.scalar == KKC_TYPE_C64 ? "1e-5" : "1e-8";
  const Options options =
      options_from(std::string("{\"method\": \"") + way.method + "\", \"restart\": 50, \"guess\": " +
                   "\"zero\", \"max_iterations\": 20000, \"tolerance\": " + single + "}");
  solver->plan = make<Plan>("kkc_krylov_plan", kkc_krylov_plan, ctx, A, b.view.get(), x.view.get(), options.get());
  constexpr kkc_preconditioner_t kinds[] = {KKC_PRECONDITIONER_NONE, KKC_PRECONDITIONER_JACOBI,
                                            KKC_PRECONDITIONER_CHOLESKY, KKC_PRECONDITIONER_LU};
  check(kkc_krylov_set_preconditioner(solver->plan.get(), kinds[way.kind], solver->factor.get(), nullptr, nullptr),
        "kkc_krylov_set_preconditioner");
  return solver;
}

/// Hestenes and Stiefel by public calls on vectors of f64; numbers come to the host where they are used.
class PublicCalls {
 public:
  PublicCalls(const Bench& bench, const Case& c, kkc_matrix_t* A, const Vector& b, const Vector& x, int64_t rows)
      : ctx_(bench.ctx.get()),
        A_(A),
        b_(b.view.get()),
        x_(x.view.get()),
        r_(bench, c, rows, 1),
        p_(bench, c, rows, 1),
        q_(bench, c, rows, 1),
        number_(ctx_, sizeof(double)),
        result_(make<View>("kkc_view_wrap", kkc_view_wrap, ctx_, KKC_TYPE_F64, 0, nullptr, KKC_LAYOUT_RIGHT, nullptr,
                           on_gpu(c.device) ? KKC_SPACE_DEVICE : KKC_SPACE_HOST, number_.data())),
        product_(
            make<Plan>("kkc_spmv_plan", kkc_spmv_plan, ctx_, KKC_OP_NONE, A, p_.view.get(), q_.view.get(), nullptr)) {}

  int64_t solve() {
    check(kkc_view_fill(ctx_, &zero_, x_), "kkc_view_fill");
    check(kkc_view_copy(ctx_, b_, r_.view.get()), "kkc_view_copy");
    check(kkc_view_copy(ctx_, b_, p_.view.get()), "kkc_view_copy");
    double rho = dot(r_, r_);
    const double goal = 1e-16 * rho;
    int64_t iteration = 0;
    for (; rho > goal && iteration < 20000; ++iteration) {
      check(kkc_spmv_execute(product_.get(), &one_, A_, p_.view.get(), &zero_, q_.view.get()), "kkc_spmv_execute");
      const double alpha = rho / dot(p_, q_), minus_alpha = -alpha;
      check(kkc_axpby(ctx_, &alpha, p_.view.get(), &one_, x_), "kkc_axpby");
      check(kkc_axpby(ctx_, &minus_alpha, q_.view.get(), &one_, r_.view.get()), "kkc_axpby");
      const double next = dot(r_, r_), beta = next / rho;
      check(kkc_axpby(ctx_, &one_, r_.view.get(), &beta, p_.view.get()), "kkc_axpby");
      rho = next;
    }
    return iteration;
  }

 private:
  double dot(const Vector& u, const Vector& v) {
    double value = 0;
    check(kkc_dot(ctx_, 0, u.view.get(), v.view.get(), result_.get()), "kkc_dot");
    number_.download(&value);
    return value;
  }
  kkc_context_t* ctx_;
  kkc_matrix_t* A_;
  kkc_view_t *b_, *x_;
  Vector r_, p_, q_;
  DeviceArray number_;
  View result_;
  Plan product_;
  double one_ = 1, zero_ = 0;
};

void run_case(Session& session, const Case& c, const std::string& title) {
  Bench& bench = session.bench(c.device, c.threads);
  const auto loader = make<Context>("kkc_context_create", kkc_context_create, KKC_DEVICE_OPENMP, 0, nullptr, nullptr);
  const Matrix loaded = load(session, loader.get(), c);
  const Matrix copy = make<Matrix>("kkc_matrix_copy", kkc_matrix_copy, bench.ctx.get(), loaded.get());
  kkc_matrix_t* const A = copy.get();
  const CsrArrays a = arrays_of(A);
  const Vector b(bench, c, a.rows, 7), x(bench, c, a.rows, 8);
  const char* text = nullptr;
  check(kkc_matrix_info(loaded.get(), &text), "kkc_matrix_info");
  const Json facts = Json::parse(text, nullptr, false);
  const bool positive = facts.value("hermitian", 0) != 0 && facts.value("positive_diagonal", 0) != 0;

  Json& entry = session.add_case();
  entry["operation"] = "krylov";
  entry["matrix"] = c.matrix;
  entry["device"] = device_name(c.device);
  entry["threads"] = c.threads;
  entry["scalar"] = scalar_name(c.scalar);
  entry["index"] = index_name(c.index);
  entry["rows"] = a.rows;
  entry["nnz"] = a.nnz;

  std::vector<Measured> measured;
  std::vector<Candidate> candidates;
  const auto add = [&](const std::string& name, bool is_kkc, double setup, int64_t iterations,
                       std::function<void()> run) {
    Measured one;
    one.name = name + ": " + std::to_string(iterations) + " iterations";
    one.is_kkc = is_kkc;
    one.setup_seconds = setup;
    one.details["iterations"] = iterations;
    measured.push_back(one);
    candidates.push_back({one.name, {std::move(run)}});
  };
  for (const Way& way : ways) {
    if (std::string(way.method) == "cg" && !positive) continue;
    std::shared_ptr<Solver> solver;
    const double setup = wall_seconds([&] {
      solver = prepare(bench, c, A, b, x, way);
      bench.timer->synchronize();
    });
    const auto run = [solver, A, b = b.view.get(), x = x.view.get()] {
      check(kkc_krylov_execute(solver->plan.get(), A, b, x), "kkc_krylov_execute");
    };
    // A method that does not solve the system is named and left out: the others go on.
    if (kkc_krylov_execute(solver->plan.get(), A, b.view.get(), x.view.get()) != KKC_STATUS_SUCCESS) {
      session.print(title + ", " + way.name + ": " + kkc_last_error());
      entry["failed"][way.name] = kkc_last_error();
      continue;
    }
    check(kkc_krylov_result(solver->plan.get(), nullptr, &solver->iterations, nullptr), "kkc_krylov_result");
    add(way.name, true, setup, solver->iterations, run);
    if (way.kind == Way::none && std::string(way.method) == "cg" && c.scalar == KKC_TYPE_F64) {
      const auto steps = std::make_shared<PublicCalls>(bench, c, A, b, x, a.rows);
      add("cg by public calls", false, 0.0, steps->solve(), [steps] { steps->solve(); });
    }
  }
  const Rounds rounds = interleave(*bench.timer, candidates, session.arguments().repeat, 0.0);
  for (size_t k = 0; k < measured.size(); ++k) {
    measured[k].rounds = rounds[k];
    measured[k].details["seconds_an_iteration"] =
        quartiles(rounds[k]).median / static_cast<double>(std::max<int64_t>(1, measured[k].details["iterations"]));
  }
  report(session, bench, entry, title, measured, 0.0, 0.0, false);
}

}  // namespace

void krylov(Session& session) {
  const Arguments& arguments = session.arguments();
  for (const auto& matrix : arguments.matrices)
    for (const auto& device : arguments.devices)
      for (const int32_t threads : arguments.threads)
        for (const auto& scalar : arguments.scalars)
          for (const auto& index : arguments.indices) {
            Case c{matrix, device_of(device), scalar_of(scalar), index_of(index), KKC_OP_NONE, 1, KKC_LAYOUT_RIGHT, 0};
            c.threads = session.threads_on(c.device, threads);
            const std::string title = "krylov " + matrix + " " + scalar + " " + index + " on " + device +
                                      (c.threads > 0 ? " x" + std::to_string(c.threads) : "");
            session.attempt(title, [&] { run_case(session, c, title); });
          }
}

}  // namespace kkc::bench
