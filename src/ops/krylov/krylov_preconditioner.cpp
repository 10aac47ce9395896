// krylov: the preconditioners that a plan may have.
#include "core/dispatch.hpp"
#include "krylov_plan.hpp"
#include "ops/sptrsv/sptrsv_plan.hpp"

namespace kkc::krylov {
namespace {

/// The caller's function, which gets handles of views over the plan's vectors.
class Callback final : public Preconditioner {
 public:
  Callback(const Context& context, const State& state, kkc_preconditioner_fn function, void* user)
      : function_(function), user_(user), r_(context, state, true), z_(context, state, false) {}

  void apply(void* r, void* z) override {
    r_.view->set_pointer(r);
    z_.view->set_pointer(z);
    const kkc_status_t status =
        function_(user_, static_cast<const kkc_view_t*>(r_.handle), static_cast<kkc_view_t*>(z_.handle));
    require(status == KKC_STATUS_SUCCESS, KKC_STATUS_BREAKDOWN, "the preconditioner's callback returned ", status, " (",
            kkc_status_name(status), "), expected 0");
  }
  void describe(Info& info) const override { info.add("preconditioner", std::string("callback")); }

 private:
  struct Published {
    Published(const Context& context, const State& state, bool read_only)
        : view(View::wrap(context, static_cast<int32_t>(state.scalar), 1, &state.n, KKC_LAYOUT_LEFT, nullptr,
                          static_cast<int32_t>(own_space(context.device())), nullptr, read_only)),
          handle(handle_create(view)) {}
    ~Published() { handle_remove(handle, Kind::view); }
    Published(const Published&) = delete;
    Published& operator=(const Published&) = delete;
    std::shared_ptr<View> view;
    void* handle;
  };

  kkc_preconditioner_fn function_;
  void* user_;
  Published r_, z_;
};

/// Of plans of sptrsv: on hosts values are kept unless the caller says otherwise. Taking them over costs each execute
/// as much as two to five solves, which one to three applications save (docs/ops/krylov.md).
Options solve_options(const Context& context, const Options& given) {
  Options options(given);
  if (is_host(context.device()) && !options.has("values")) options.set("values", std::string("kept"));
  return options;
}

/// Two triangular solves, with factors that the plan keeps alive.
class Factors final : public Preconditioner {
 public:
  Factors(const State& state, bool cholesky, std::shared_ptr<Matrix> M, std::shared_ptr<Matrix> U, const Options& given)
      : context_(state.context),
        n_(state.n),
        scalar_(state.scalar),
        cholesky_(cholesky),
        M_(std::move(M)),
        U_(std::move(U)) {
    const Options options = solve_options(*context_, given);
    keeps_values_ = options.choice("values", {"any", "kept"}) == "kept";
    const auto side = View::wrap(*context_, static_cast<int32_t>(scalar_), 1, &n_, KKC_LAYOUT_LEFT, nullptr,
                                 static_cast<int32_t>(own_space(context_->device())), nullptr, false);
    lower_ =
        sptrsv::plan(context_, Op::none, Uplo::lower, cholesky ? Diag::stored : Diag::unit, *M_, *side, *side, options);
    upper_ = cholesky ? sptrsv::plan(context_, Op::hermitian, Uplo::lower, Diag::stored, *M_, *side, *side, options)
                      : sptrsv::plan(context_, Op::none, Uplo::upper, Diag::stored, upper(), *side, *side, options);
    dispatch_scalar(AllScalars{}, scalar_, [&]<class T>(Type<T>) { *reinterpret_cast<T*>(one_) = T(1); });
  }

  std::vector<Factor> factors() const override {
    if (U_ == nullptr) return {{M_.get(), "M", true}};
    return {{M_.get(), "M", false}, {U_.get(), "U", true}};
  }
  void begin() override {
    if (!keeps_values_) return;
    sptrsv::set_values(*lower_, *M_);
    sptrsv::set_values(*upper_, upper());
  }
  void apply(void* r, void* z) override {
    Queue& queue = context_->queue();
    queue.run([&] {
      solve(queue, *lower_, *M_, r, z);
      solve(queue, *upper_, upper(), z, z);
    });
  }
  void describe(Info& info) const override {
    info.add("preconditioner", std::string(cholesky_ ? "cholesky" : "lu"));
    info.add("lower_solve", std::string(lower_->as<sptrsv::State>().implementation->name));
    info.add("upper_solve", std::string(upper_->as<sptrsv::State>().implementation->name));
  }

 private:
  const Matrix& upper() const { return U_ != nullptr ? *U_ : *M_; }
  DenseRef vector(void* data) const {
    DenseRef v{};
    v.scalar = scalar_;
    v.rank = 1;
    v.extents[0] = n_;
    v.strides[0] = 1;
    v.data = data;
    return v;
  }
  void solve(Queue& queue, Plan& plan, const Matrix& A, void* b, void* x) const {
    plan.as<sptrsv::State>().kernel->execute(queue, {{one_, false}, A.ref(), vector(b), vector(x), plan.workspace()});
  }

  std::shared_ptr<Context> context_;
  int64_t n_;
  Scalar scalar_;
  bool cholesky_, keeps_values_;
  std::shared_ptr<Matrix> M_, U_;
  std::shared_ptr<Plan> lower_, upper_;
  alignas(16) char one_[16] = {};
};

void check_factor(const State& state, const Matrix* matrix, const char* argument) {
  require(matrix != nullptr, KKC_STATUS_NULL_POINTER, argument, " is NULL, expected a factor");
  const CsrRef& a = matrix->ref();
  if (a.rows != state.n || a.cols != state.n)
    fail(KKC_STATUS_SIZE_MISMATCH, argument, " is ", a.rows, " x ", a.cols, ", expected the size of A, ", state.n,
         " x ", state.n);
  require(a.scalar == state.scalar, KKC_STATUS_TYPE_MISMATCH, argument, " holds ", name(a.scalar),
          ", expected the type of A, ", name(state.scalar));
}

State& idle(Plan& plan) {
  State& state = plan.as<State>();
  require(!state.running, KKC_STATUS_WRONG_STATE,
          "plan is executing, expected no use of it by its preconditioner's callback");
  return state;
}

void clear(State& state) {
  state.preconditioner.reset();
  state.inverse = Buffer();
  state.jacobi = false;
}

}  // namespace

void set_preconditioner(Plan& plan, int32_t kind, std::shared_ptr<Matrix> M, std::shared_ptr<Matrix> U,
                        const Options& options) {
  State& state = idle(plan);
  require(kind >= KKC_PRECONDITIONER_NONE && kind <= KKC_PRECONDITIONER_CHOLESKY, KKC_STATUS_INVALID_ARGUMENT,
          "kind is ", kind, ", expected KKC_PRECONDITIONER_NONE (1), _JACOBI (2), _LU (3) or _CHOLESKY (4)");
  const bool factors = kind == KKC_PRECONDITIONER_LU || kind == KKC_PRECONDITIONER_CHOLESKY;
  require((M == nullptr || factors) && (U == nullptr || kind == KKC_PRECONDITIONER_LU), KKC_STATUS_INVALID_ARGUMENT,
          factors || M == nullptr ? "U" : "M", " is given, expected NULL for this kind of preconditioner");
  if (factors) {
    check_factor(state, M.get(), "M");
    if (U != nullptr) check_factor(state, U.get(), "U");
    auto made =
        std::make_unique<Factors>(state, kind == KKC_PRECONDITIONER_CHOLESKY, std::move(M), std::move(U), options);
    clear(state);
    state.preconditioner = std::move(made);
    return;
  }
  options.allow_only("kkc_krylov_set_preconditioner", {});
  clear(state);
  if (kind == KKC_PRECONDITIONER_NONE) return;
  state.inverse = Buffer(state.context->memory(), own_space(state.context->device()),
                         static_cast<size_t>(state.n) * size_of(state.scalar));
  state.jacobi = true;
}

void set_callback(Plan& plan, kkc_preconditioner_fn function, void* user) {
  State& state = idle(plan);
  require(function != nullptr, KKC_STATUS_NULL_POINTER, "apply is NULL, expected a function");
  auto callback = std::make_unique<Callback>(plan.context(), state, function, user);
  clear(state);
  state.preconditioner = std::move(callback);
}

}  // namespace kkc::krylov
