// oneMKL's inspector-executor sparse BLAS: the handle as created, and after mkl_sparse_optimize with hints.
#include <mkl.h>
#include <mkl_spblas.h>

#include <chrono>
#include <complex>
#include <memory>

#include "mkl_ilu.hpp"
#include "mkl_reorder.hpp"
#include "peer.hpp"

namespace kkc::bench {
namespace {

void must(sparse_status_t status, const char* call) {
  if (status == SPARSE_STATUS_NOT_SUPPORTED) throw NotTaken(std::string(call) + ": not supported");
  if (status != SPARSE_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": status " + std::to_string(status));
}

template <class T>
struct Calls;
template <>
struct Calls<float> {
  using value = float;
  static constexpr auto create = mkl_sparse_s_create_csr;
  static constexpr auto mv = mkl_sparse_s_mv;
  static constexpr auto mm = mkl_sparse_s_mm;
  static constexpr auto trsv = mkl_sparse_s_trsv;
  static constexpr auto trsm = mkl_sparse_s_trsm;
  static constexpr auto add = mkl_sparse_s_add;
  static constexpr auto export_csr = mkl_sparse_s_export_csr;
};
template <>
struct Calls<double> {
  using value = double;
  static constexpr auto create = mkl_sparse_d_create_csr;
  static constexpr auto mv = mkl_sparse_d_mv;
  static constexpr auto mm = mkl_sparse_d_mm;
  static constexpr auto trsv = mkl_sparse_d_trsv;
  static constexpr auto trsm = mkl_sparse_d_trsm;
  static constexpr auto add = mkl_sparse_d_add;
  static constexpr auto export_csr = mkl_sparse_d_export_csr;
};
template <>
struct Calls<std::complex<float>> {
  using value = MKL_Complex8;
  static constexpr auto create = mkl_sparse_c_create_csr;
  static constexpr auto mv = mkl_sparse_c_mv;
  static constexpr auto mm = mkl_sparse_c_mm;
  static constexpr auto trsv = mkl_sparse_c_trsv;
  static constexpr auto trsm = mkl_sparse_c_trsm;
  static constexpr auto add = mkl_sparse_c_add;
  static constexpr auto export_csr = mkl_sparse_c_export_csr;
};
template <>
struct Calls<std::complex<double>> {
  using value = MKL_Complex16;
  static constexpr auto create = mkl_sparse_z_create_csr;
  static constexpr auto mv = mkl_sparse_z_mv;
  static constexpr auto mm = mkl_sparse_z_mm;
  static constexpr auto trsv = mkl_sparse_z_trsv;
  static constexpr auto trsm = mkl_sparse_z_trsm;
  static constexpr auto add = mkl_sparse_z_add;
  static constexpr auto export_csr = mkl_sparse_z_export_csr;
};

template <class V>
V number(double re) {
  if constexpr (std::is_floating_point_v<V>)
    return static_cast<V>(re);
  else
    return V{static_cast<decltype(V::real)>(re), 0};
}

using Handle = std::shared_ptr<sparse_matrix>;

template <class T>
Entrant entrant(const SpmvProblem& p, bool optimize) {
  using C = Calls<T>;
  using V = typename C::value;
  const auto operation = p.op == KKC_OP_NONE        ? SPARSE_OPERATION_NON_TRANSPOSE
                         : p.op == KKC_OP_TRANSPOSE ? SPARSE_OPERATION_TRANSPOSE
                                                    : SPARSE_OPERATION_CONJUGATE_TRANSPOSE;
  const auto layout = p.layout == KKC_LAYOUT_LEFT ? SPARSE_LAYOUT_COLUMN_MAJOR : SPARSE_LAYOUT_ROW_MAJOR;
  const matrix_descr descr{SPARSE_MATRIX_TYPE_GENERAL, SPARSE_FILL_MODE_FULL, SPARSE_DIAG_NON_UNIT};
  const auto k = static_cast<MKL_INT>(p.vectors);
  auto* offsets = static_cast<MKL_INT*>(const_cast<void*>(p.offsets));
  auto* indices = static_cast<MKL_INT*>(const_cast<void*>(p.indices));
  mkl_set_num_threads(p.threads);
  const auto start = std::chrono::steady_clock::now();
  sparse_matrix_t raw = nullptr;
  must(C::create(&raw, p.base == 0 ? SPARSE_INDEX_BASE_ZERO : SPARSE_INDEX_BASE_ONE, static_cast<MKL_INT>(p.rows),
                 static_cast<MKL_INT>(p.cols), offsets, offsets + 1, indices, static_cast<V*>(p.values)),
       "mkl_sparse_create_csr");
  const Handle A(raw, mkl_sparse_destroy);
  if (optimize) {
    constexpr MKL_INT calls = 1000;
    if (k == 1)
      must(mkl_sparse_set_mv_hint(raw, operation, descr, calls), "mkl_sparse_set_mv_hint");
    else
      must(mkl_sparse_set_mm_hint(raw, operation, descr, layout, k, calls), "mkl_sparse_set_mm_hint");
    must(mkl_sparse_set_memory_hint(raw, SPARSE_MEMORY_AGGRESSIVE), "mkl_sparse_set_memory_hint");
    must(mkl_sparse_optimize(raw), "mkl_sparse_optimize");
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto* x = static_cast<const V*>(p.x);
  auto* y = static_cast<V*>(p.y);
  std::function<void()> run;
  if (k == 1)
    run = [=] { must(C::mv(operation, number<V>(1), A.get(), descr, x, number<V>(0), y), "mkl_sparse_mv"); };
  else
    run = [=, ldx = static_cast<MKL_INT>(p.ldx), ldy = static_cast<MKL_INT>(p.ldy)] {
      must(C::mm(operation, number<V>(1), A.get(), descr, layout, x, k, ldx, number<V>(0), y, ldy), "mkl_sparse_mm");
    };
  return {optimize ? "optimized" : "plain", optimize, seconds, run, nullptr};
}

template <class T>
std::vector<Entrant> both(const SpmvProblem& p) {
  return {entrant<T>(p, false), entrant<T>(p, true)};
}

/// trsv or trsm on the handle as created, or after mkl_sparse_optimize with hints.
template <class T>
Entrant triangular(const SptrsvProblem& p, bool optimize) {
  using C = Calls<T>;
  using V = typename C::value;
  const auto operation = p.op == KKC_OP_NONE ? SPARSE_OPERATION_NON_TRANSPOSE : SPARSE_OPERATION_TRANSPOSE;
  const auto layout = p.layout == KKC_LAYOUT_LEFT ? SPARSE_LAYOUT_COLUMN_MAJOR : SPARSE_LAYOUT_ROW_MAJOR;
  const matrix_descr descr{SPARSE_MATRIX_TYPE_TRIANGULAR, p.lower ? SPARSE_FILL_MODE_LOWER : SPARSE_FILL_MODE_UPPER,
                           SPARSE_DIAG_NON_UNIT};
  const auto k = static_cast<MKL_INT>(p.vectors), ld = static_cast<MKL_INT>(p.ld);
  auto* offsets = static_cast<MKL_INT*>(const_cast<void*>(p.offsets));
  auto* indices = static_cast<MKL_INT*>(const_cast<void*>(p.indices));
  mkl_set_num_threads(p.threads);
  const auto start = std::chrono::steady_clock::now();
  sparse_matrix_t raw = nullptr;
  must(C::create(&raw, SPARSE_INDEX_BASE_ZERO, static_cast<MKL_INT>(p.rows), static_cast<MKL_INT>(p.rows), offsets,
                 offsets + 1, indices, static_cast<V*>(p.values)),
       "mkl_sparse_create_csr");
  const Handle A(raw, mkl_sparse_destroy);
  if (optimize) {
    constexpr MKL_INT calls = 1000;
    if (k == 1)
      must(mkl_sparse_set_sv_hint(raw, operation, descr, calls), "mkl_sparse_set_sv_hint");
    else
      must(mkl_sparse_set_sm_hint(raw, operation, descr, layout, k, calls), "mkl_sparse_set_sm_hint");
    must(mkl_sparse_set_memory_hint(raw, SPARSE_MEMORY_AGGRESSIVE), "mkl_sparse_set_memory_hint");
    must(mkl_sparse_optimize(raw), "mkl_sparse_optimize");
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto* b = static_cast<const V*>(p.b);
  auto* x = static_cast<V*>(p.x);
  std::function<void()> run;
  if (k == 1)
    run = [=] { must(C::trsv(operation, number<V>(1), A.get(), descr, b, x), "mkl_sparse_trsv"); };
  else
    run = [=] { must(C::trsm(operation, number<V>(1), A.get(), descr, layout, b, k, ld, x, ld), "mkl_sparse_trsm"); };
  return {optimize ? "optimized" : "plain", optimize, seconds, run, nullptr};
}

template <class T>
Handle csr(const SparseOperand& A) {
  using C = Calls<T>;
  auto* offsets = static_cast<MKL_INT*>(const_cast<void*>(A.offsets));
  sparse_matrix_t raw = nullptr;
  must(C::create(&raw, A.base == 0 ? SPARSE_INDEX_BASE_ZERO : SPARSE_INDEX_BASE_ONE, static_cast<MKL_INT>(A.rows),
                 static_cast<MKL_INT>(A.cols), offsets, offsets + 1,
                 static_cast<MKL_INT*>(const_cast<void*>(A.indices)), static_cast<typename C::value*>(A.values)),
       "mkl_sparse_create_csr");
  return Handle(raw, mkl_sparse_destroy);
}

/// Arrays of a matrix that MKL made.
template <class T>
SparseOperand exported(const Handle& A) {
  sparse_index_base_t base = SPARSE_INDEX_BASE_ZERO;
  MKL_INT rows = 0, cols = 0, *begins = nullptr, *ends = nullptr, *indices = nullptr;
  typename Calls<T>::value* values = nullptr;
  must(Calls<T>::export_csr(A.get(), &base, &rows, &cols, &begins, &ends, &indices, &values), "mkl_sparse_export_csr");
  const int32_t first = base == SPARSE_INDEX_BASE_ZERO ? 0 : 1;
  return {rows, cols, rows == 0 ? 0 : ends[rows - 1] - first, KKC_INDEX_32_32, first, begins, indices, values};
}

/// mkl_sparse_sp2m in its two stages; finalize alone takes new values of A and B.
template <class T>
class Product {
 public:
  explicit Product(const SpgemmProblem& p) : p_(p), A_(csr<T>(p.A)), B_(csr<T>(p.B)) { mkl_set_num_threads(p.threads); }
  void count() {
    C_.reset();
    stage(SPARSE_STAGE_NNZ_COUNT);
  }
  void finalize() { stage(SPARSE_STAGE_FINALIZE_MULT); }
  void put_in_order() { must(mkl_sparse_order(C_.get()), "mkl_sparse_order"); }
  const Handle& B() const { return B_; }
  const Handle& C() const { return C_; }

 private:
  void stage(sparse_request_t request) {
    const auto how = [](kkc_op_t op) {
      return op == KKC_OP_NONE ? SPARSE_OPERATION_NON_TRANSPOSE : SPARSE_OPERATION_TRANSPOSE;
    };
    const matrix_descr descr{SPARSE_MATRIX_TYPE_GENERAL, SPARSE_FILL_MODE_FULL, SPARSE_DIAG_NON_UNIT};
    sparse_matrix_t raw = C_.get();
    must(mkl_sparse_sp2m(how(p_.op_a), descr, A_.get(), how(p_.op_b), descr, B_.get(), request, &raw),
         "mkl_sparse_sp2m");
    if (!C_) C_.reset(raw, mkl_sparse_destroy);
  }

  SpgemmProblem p_;
  Handle A_, B_, C_;
};

/// sp2m leaves C's rows in the order in which it met their columns; beside it the same with mkl_sparse_order, whose
/// order a later finalize keeps.
template <class T>
std::vector<SpgemmEntrant> sp2m(const SpgemmProblem& p) {
  const auto product = std::make_shared<Product<T>>(p);
  SpgemmEntrant as_met, ordered;
  as_met.whole = [=] {
    product->count();
    product->finalize();
  };
  as_met.numeric = [=] { product->finalize(); };
  as_met.result = [=] { return exported<T>(product->C()); };
  ordered.name = "with mkl_sparse_order";
  ordered.whole = [=] {
    as_met.whole();
    product->put_in_order();
  };
  ordered.numeric = as_met.numeric;
  ordered.result = as_met.result;
  return {as_met, ordered};
}

/// B - omega D^-1 A B: sp2m, a loop that scales its rows, add. The sum has no phases.
template <class T>
SpgemmEntrant jacobi(const JacobiProblem& p) {
  using C = Calls<T>;
  using V = typename C::value;
  const auto product = std::make_shared<Product<T>>(p.product);
  const auto sum = std::make_shared<Handle>();
  const auto numeric = [=] {
    product->finalize();
    const SparseOperand AB = exported<T>(product->C());
    const auto* begins = static_cast<const MKL_INT*>(AB.offsets);
    auto* values = static_cast<T*>(AB.values);
    const auto* inverse = static_cast<const T*>(p.inverse);
    const T factor(static_cast<decltype(std::abs(T{}))>(-p.omega));
#pragma omp parallel for schedule(static) num_threads(p.product.threads)
    for (int64_t i = 0; i < AB.rows; ++i)
      for (int64_t k = begins[i] - AB.base; k < begins[i + 1] - AB.base; ++k) values[k] *= factor * inverse[i];
    sum->reset();
    sparse_matrix_t raw = nullptr;
    must(C::add(SPARSE_OPERATION_NON_TRANSPOSE, product->C().get(), number<V>(1), product->B().get(), &raw),
         "mkl_sparse_add");
    *sum = Handle(raw, mkl_sparse_destroy);
  };
  SpgemmEntrant entrant;
  entrant.name = "sp2m + scale + add";
  entrant.whole = [=] {
    sum->reset();
    product->count();
    numeric();
  };
  entrant.numeric = numeric;
  entrant.result = [=] { return exported<T>(*sum); };
  return entrant;
}

/// C = alpha op(A) + B in one call: MKL has no phases.
template <class T>
TwoPhases addition(const SpaddProblem& p) {
  using C = Calls<T>;
  using V = typename C::value;
  mkl_set_num_threads(p.threads);
  const Handle A = csr<T>(p.A), B = csr<T>(p.B);
  const auto sum = std::make_shared<Handle>();
  const auto op = p.op_A == KKC_OP_NONE ? SPARSE_OPERATION_NON_TRANSPOSE : SPARSE_OPERATION_TRANSPOSE;
  const V alpha = number<V>(p.alpha);
  const auto run = [=] {
    sum->reset();
    sparse_matrix_t raw = nullptr;
    must(C::add(op, A.get(), alpha, B.get(), &raw), "mkl_sparse_add");
    *sum = Handle(raw, mkl_sparse_destroy);
  };
  const auto fetch = [=] {
    sparse_index_base_t base{};
    MKL_INT rows = 0, cols = 0, *begins = nullptr, *ends = nullptr, *indices = nullptr;
    V* values = nullptr;
    must(mkl_sparse_order(sum->get()), "mkl_sparse_order");
    must(C::export_csr(sum->get(), &base, &rows, &cols, &begins, &ends, &indices, &values), "mkl_sparse_export_csr");
    return HostResult{rows,  ends[rows - 1] - begins[0], sizeof(MKL_INT), sizeof(MKL_INT), begins[0], begins, indices,
                      values};
  };
  return {"add", nullptr, run, fetch};
}

class Mkl final : public Peer {
 public:
  std::string name() const override { return "mkl"; }
  std::string version() const override {
    MKLVersion v;
    mkl_get_version(&v);
    return std::to_string(v.MajorVersion) + "." + std::to_string(v.UpdateVersion);  // as Intel writes it
  }
  bool serves(kkc_device_t device) const override { return device == KKC_DEVICE_SERIAL || device == KKC_DEVICE_OPENMP; }

  std::vector<TwoPhases> spadd(const SpaddProblem& p) override {
    if (p.index != KKC_INDEX_32_32) throw NotTaken("the LP64 library has 32-bit indices only");
    if (p.op_B != KKC_OP_NONE || p.beta != 1.0) throw NotTaken("adds B as it is");
    switch (p.scalar) {
      case KKC_TYPE_F32: return {addition<float>(p)};
      case KKC_TYPE_F64: return {addition<double>(p)};
      case KKC_TYPE_C64: return {addition<std::complex<float>>(p)};
      default: return {addition<std::complex<double>>(p)};
    }
  }

  std::vector<TwoPhases> factors(const FactorProblem& p) override { return mkl_ilu::factors(p); }

  std::vector<Entrant> spmv(const SpmvProblem& p) override {
    if (p.index != KKC_INDEX_32_32) throw NotTaken("the LP64 library has 32-bit indices only");
    if (p.op == KKC_OP_CONJUGATE) throw NotTaken("has no product with the conjugate");
    switch (p.scalar) {
      case KKC_TYPE_F32: return both<float>(p);
      case KKC_TYPE_F64: return both<double>(p);
      case KKC_TYPE_C64: return both<std::complex<float>>(p);
      default: return both<std::complex<double>>(p);
    }
  }
  std::vector<Entrant> sptrsv(const SptrsvProblem& p) override {
    if (p.index != KKC_INDEX_32_32) throw NotTaken("the LP64 library has 32-bit indices only");
    if (p.scalar == KKC_TYPE_F32) return {triangular<float>(p, false), triangular<float>(p, true)};
    return {triangular<double>(p, false), triangular<double>(p, true)};
  }
  std::vector<Entrant> transpose(const ReorderProblem& p) override { return mkl_reorder::transpose(p); }
  std::vector<Entrant> sort_rows(const ReorderProblem& p) override { return mkl_reorder::sort_rows(p); }
  std::vector<Entrant> coo_to_csr(const ReorderProblem& p) override { return mkl_reorder::coo_to_csr(p); }

  std::vector<SpgemmEntrant> spgemm_jacobi(const JacobiProblem& p) override {
    require_narrow(p.product);
    switch (p.product.scalar) {
      case KKC_TYPE_F32: return {jacobi<float>(p)};
      case KKC_TYPE_F64: return {jacobi<double>(p)};
      case KKC_TYPE_C64: return {jacobi<std::complex<float>>(p)};
      default: return {jacobi<std::complex<double>>(p)};
    }
  }

  std::vector<SpgemmEntrant> spgemm(const SpgemmProblem& p) override {
    require_narrow(p);
    switch (p.scalar) {
      case KKC_TYPE_F32: return sp2m<float>(p);
      case KKC_TYPE_F64: return sp2m<double>(p);
      case KKC_TYPE_C64: return sp2m<std::complex<float>>(p);
      default: return sp2m<std::complex<double>>(p);
    }
  }

 private:
  static void require_narrow(const SpgemmProblem& p) {
    for (const kkc_index_pair_t index : {p.A.index, p.B.index, p.index_c})
      if (index != KKC_INDEX_32_32) throw NotTaken("the LP64 library has 32-bit indices only");
  }
};

}  // namespace
}  // namespace kkc::bench

KKC_BENCH_EXPORT kkc::bench::Peer* kkc_bench_peer() { return new kkc::bench::Mkl; }
