// SuiteSparse:GraphBLAS: plus-times products of a copied matrix with full vectors.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <memory>

// Some of its declarations lack an extern "C" of their own.
extern "C" {
#include <GraphBLAS.h>
}

#include "peer.hpp"

namespace kkc::bench {
namespace {

void must(GrB_Info info, const char* call) {
  if (info != GrB_SUCCESS && info != GrB_NO_VALUE)
    throw std::runtime_error(std::string(call) + ": GrB_Info " + std::to_string(info));
}

struct Kind {
  GrB_Type type;
  GrB_Semiring semiring;
};

Kind kind_of(kkc_scalar_t scalar) {
  switch (scalar) {
    case KKC_TYPE_F32: return {GrB_FP32, GrB_PLUS_TIMES_SEMIRING_FP32};
    case KKC_TYPE_F64: return {GrB_FP64, GrB_PLUS_TIMES_SEMIRING_FP64};
    case KKC_TYPE_C64: return {GxB_FC32, GxB_PLUS_TIMES_FC32};
    default: return {GxB_FC64, GxB_PLUS_TIMES_FC64};
  }
}

size_t bytes_of(kkc_scalar_t scalar) { return scalar == KKC_TYPE_F32 ? 4 : scalar == KKC_TYPE_C128 ? 16 : 8; }

struct FreeMatrix {
  void operator()(GrB_Matrix A) const { GrB_Matrix_free(&A); }
};
using Matrix = std::shared_ptr<std::remove_pointer_t<GrB_Matrix>>;

Matrix own(GrB_Matrix A) { return Matrix(A, FreeMatrix{}); }

template <class I>
I* widened(const void* data, int64_t count, kkc_index_pair_t index, bool offsets, int32_t base) {
  auto* out = static_cast<I*>(std::malloc(static_cast<size_t>(std::max<int64_t>(count, 1)) * sizeof(I)));
  if (out == nullptr) throw std::bad_alloc();
  const bool narrow = index == KKC_INDEX_32_32 || (index == KKC_INDEX_32_64 && !offsets);
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<I>(narrow ? static_cast<const int32_t*>(data)[i] : static_cast<const int64_t*>(data)[i]) -
             static_cast<I>(base);
  return out;
}

void* cloned(const void* data, size_t bytes) {
  void* out = std::malloc(std::max<size_t>(bytes, 1));
  if (out == nullptr) throw std::bad_alloc();
  std::memcpy(out, data, bytes);
  return out;
}

Matrix sparse(const SparseOperand& p, const Kind& kind, kkc_scalar_t scalar) {
  auto* offsets = widened<GrB_Index>(p.offsets, p.rows + 1, p.index, true, p.base);
  auto* indices = widened<GrB_Index>(p.indices, p.nnz, p.index, false, p.base);
  const size_t bytes = static_cast<size_t>(p.nnz) * bytes_of(scalar);
  void* values = cloned(p.values, bytes);
  GrB_Matrix A = nullptr;
  must(GxB_Matrix_import_CSR(&A, kind.type, static_cast<GrB_Index>(p.rows), static_cast<GrB_Index>(p.cols), &offsets,
                             &indices, &values, static_cast<GrB_Index>(p.rows + 1) * sizeof(GrB_Index),
                             static_cast<GrB_Index>(std::max<int64_t>(p.nnz, 1)) * sizeof(GrB_Index),
                             std::max<size_t>(bytes, 1), false, false, nullptr),
       "GxB_Matrix_import_CSR");
  return own(A);
}

/// x as a full matrix in its own order; one vector is a matrix of one column.
Matrix dense(const SpmvProblem& p, const Kind& kind, const void* data, int64_t rows) {
  const size_t bytes = static_cast<size_t>(rows * p.vectors) * bytes_of(p.scalar);
  void* values = cloned(data, bytes);
  GrB_Matrix X = nullptr;
  const auto import = p.layout == KKC_LAYOUT_LEFT || p.vectors == 1 ? GxB_Matrix_import_FullC : GxB_Matrix_import_FullR;
  must(import(&X, kind.type, static_cast<GrB_Index>(rows), static_cast<GrB_Index>(p.vectors), &values, bytes, false,
              nullptr),
       "GxB_Matrix_import_Full");
  return own(X);
}

template <class T>
void extract(const SpmvProblem& p, GrB_Matrix Y,
             GrB_Info (*tuples)(GrB_Index*, GrB_Index*, T*, GrB_Index*, const GrB_Matrix)) {
  GrB_Index count = 0;
  must(GrB_Matrix_nvals(&count, Y), "GrB_Matrix_nvals");
  std::vector<GrB_Index> row(count), column(count);
  std::vector<T> value(count);
  must(tuples(row.data(), column.data(), value.data(), &count, Y), "GrB_Matrix_extractTuples");
  auto* y = static_cast<T*>(p.y);
  std::fill(y, y + p.y_rows() * p.vectors, T{});
  for (GrB_Index i = 0; i < count; ++i)
    y[p.layout == KKC_LAYOUT_LEFT ? column[i] * static_cast<GrB_Index>(p.ldy) + row[i]
                                  : row[i] * static_cast<GrB_Index>(p.ldy) + column[i]] = value[i];
}

/// A + B with the type's own plus; factors other than 1 would be operators of our making.
class Sum {
 public:
  explicit Sum(const SpaddProblem& p)
      : kind_(kind_of(p.scalar)), op_A_(p.op_A), A_(sparse(p.A, kind_, p.scalar)), B_(sparse(p.B, kind_, p.scalar)) {
    rows_ = p.op_A == KKC_OP_NONE ? p.A.rows : p.A.cols;
    cols_ = p.op_A == KKC_OP_NONE ? p.A.cols : p.A.rows;
    switch (p.scalar) {
      case KKC_TYPE_F32: plus_ = GrB_PLUS_FP32; break;
      case KKC_TYPE_F64: plus_ = GrB_PLUS_FP64; break;
      case KKC_TYPE_C64: plus_ = GxB_PLUS_FC32; break;
      default: plus_ = GxB_PLUS_FC64; break;
    }
  }
  Sum(const Sum&) = delete;
  Sum& operator=(const Sum&) = delete;
  ~Sum() { release(); }

  void run() {
    GrB_Matrix raw = nullptr;
    must(GrB_Matrix_new(&raw, kind_.type, static_cast<GrB_Index>(rows_), static_cast<GrB_Index>(cols_)),
         "GrB_Matrix_new");
    C_ = own(raw);
    must(GrB_Matrix_eWiseAdd_BinaryOp(raw, nullptr, nullptr, plus_, A_.get(), B_.get(),
                                      op_A_ == KKC_OP_NONE ? nullptr : GrB_DESC_T0),
         "GrB_eWiseAdd");
    must(GrB_Matrix_wait(raw, GrB_MATERIALIZE), "GrB_Matrix_wait");
  }

  HostResult fetch() {
    release();
    GrB_Matrix raw = nullptr;
    must(GrB_Matrix_dup(&raw, C_.get()), "GrB_Matrix_dup");
    GrB_Type type = nullptr;
    GrB_Index rows = 0, cols = 0, offsets_bytes = 0, indices_bytes = 0, values_bytes = 0;
    bool iso = false;
    must(GxB_Matrix_export_CSR(&raw, &type, &rows, &cols, &offsets_, &indices_, &values_, &offsets_bytes,
                               &indices_bytes, &values_bytes, &iso, nullptr, nullptr),
         "GxB_Matrix_export_CSR");
    if (iso) throw std::runtime_error("its result has one value for all entries");
    return {rows_, static_cast<int64_t>(offsets_[rows]), 8, 8, 0, offsets_, indices_, values_};
  }

 private:
  void release() {
    std::free(offsets_);
    std::free(indices_);
    std::free(values_);
    offsets_ = indices_ = nullptr;
    values_ = nullptr;
  }

  Kind kind_;
  kkc_op_t op_A_;
  GrB_BinaryOp plus_ = nullptr;
  int64_t rows_ = 0, cols_ = 0;
  Matrix A_, B_, C_;
  GrB_Index *offsets_ = nullptr, *indices_ = nullptr;
  void* values_ = nullptr;
};

class GraphBlas final : public Peer {
 public:
  GraphBlas() { must(GrB_init(GrB_NONBLOCKING), "GrB_init"); }
  std::string name() const override { return "graphblas"; }
  std::string version() const override {
    return "SuiteSparse " + std::to_string(GxB_IMPLEMENTATION_MAJOR) + "." + std::to_string(GxB_IMPLEMENTATION_MINOR) +
           "." + std::to_string(GxB_IMPLEMENTATION_SUB);
  }
  bool serves(kkc_device_t device) const override { return device == KKC_DEVICE_SERIAL || device == KKC_DEVICE_OPENMP; }

  std::vector<TwoPhases> spadd(const SpaddProblem& p) override {
    if (p.alpha != 1.0 || p.beta != 1.0) throw NotTaken("adds without coefficients");
    if (p.op_B != KKC_OP_NONE) throw NotTaken("this adapter transposes A only");
    must(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, p.threads), "GxB_Global_Option_set");
    const auto sum = std::make_shared<Sum>(p);
    return {{"", nullptr, [sum] { sum->run(); }, [sum] { return sum->fetch(); }}};
  }

  std::vector<Entrant> spmv(const SpmvProblem& p) override {
    const bool complex = p.scalar == KKC_TYPE_C64 || p.scalar == KKC_TYPE_C128;
    if (complex && p.op != KKC_OP_NONE && p.op != KKC_OP_TRANSPOSE) throw NotTaken("has no product with the conjugate");
    must(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, p.threads), "GxB_Global_Option_set");
    const Kind kind = kind_of(p.scalar);
    const auto start = std::chrono::steady_clock::now();
    const Matrix A = sparse({p.rows, p.cols, p.nnz, p.index, p.base, p.offsets, p.indices, p.values}, kind, p.scalar);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const Matrix X = dense(p, kind, p.x, p.x_rows());
    GrB_Matrix raw = nullptr;
    must(GrB_Matrix_new(&raw, kind.type, static_cast<GrB_Index>(p.y_rows()), static_cast<GrB_Index>(p.vectors)),
         "GrB_Matrix_new");
    must(
        GxB_Matrix_Option_set(raw, GxB_FORMAT, p.layout == KKC_LAYOUT_LEFT || p.vectors == 1 ? GxB_BY_COL : GxB_BY_ROW),
        "GxB_Matrix_Option_set");
    const Matrix Y = own(raw);
    const GrB_Descriptor how = p.transposed() ? GrB_DESC_T0 : nullptr;
    auto run = [=] {
      must(GrB_mxm(Y.get(), nullptr, nullptr, kind.semiring, A.get(), X.get(), how), "GrB_mxm");
      must(GrB_Matrix_wait(Y.get(), GrB_MATERIALIZE), "GrB_Matrix_wait");
    };
    auto fetch = [=] {
      switch (p.scalar) {
        case KKC_TYPE_F32: extract<float>(p, Y.get(), GrB_Matrix_extractTuples_FP32); break;
        case KKC_TYPE_F64: extract<double>(p, Y.get(), GrB_Matrix_extractTuples_FP64); break;
        case KKC_TYPE_C64: extract<GxB_FC32_t>(p, Y.get(), GxB_Matrix_extractTuples_FC32); break;
        default: extract<GxB_FC64_t>(p, Y.get(), GxB_Matrix_extractTuples_FC64); break;
      }
    };
    return {{"", false, seconds, run, fetch}};
  }

  std::vector<SpgemmEntrant> spgemm(const SpgemmProblem& p) override {
    must(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, p.threads), "GxB_Global_Option_set");
    const Kind kind = kind_of(p.scalar);
    const Matrix A = sparse(p.A, kind, p.scalar), B = sparse(p.B, kind, p.scalar);
    const auto C = std::make_shared<Matrix>();
    const GrB_Descriptor how = p.op_a == KKC_OP_TRANSPOSE   ? p.op_b == KKC_OP_TRANSPOSE ? GrB_DESC_T0T1 : GrB_DESC_T0
                               : p.op_b == KKC_OP_TRANSPOSE ? GrB_DESC_T1
                                                            : nullptr;
    const int64_t rows = p.op_a == KKC_OP_TRANSPOSE ? p.A.cols : p.A.rows,
                  cols = p.op_b == KKC_OP_TRANSPOSE ? p.B.rows : p.B.cols;
    SpgemmEntrant entrant;
    entrant.whole = [=] {
      C->reset();
      *C = by_rows(kind, rows, cols);
      must(GrB_mxm(C->get(), nullptr, nullptr, kind.semiring, A.get(), B.get(), how), "GrB_mxm");
      must(GrB_Matrix_wait(C->get(), GrB_MATERIALIZE), "GrB_Matrix_wait");
    };
    entrant.result = [=, this] { return unpacked(*C, rows, cols); };
    return {entrant};
  }

  /// A product, a product with a diagonal matrix and a sum.
  std::vector<SpgemmEntrant> spgemm_jacobi(const JacobiProblem& problem) override {
    const SpgemmProblem& p = problem.product;
    must(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, p.threads), "GxB_Global_Option_set");
    if (p.scalar != KKC_TYPE_F64) throw NotTaken("this adapter scales f64 matrices only");
    const Kind kind = kind_of(p.scalar);
    const Matrix A = sparse(p.A, kind, p.scalar), B = sparse(p.B, kind, p.scalar);
    const int64_t rows = p.A.rows, cols = p.B.cols;
    std::vector<int64_t> places(static_cast<size_t>(rows) + 1);
    std::vector<double> factors(static_cast<size_t>(rows));
    for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int64_t>(i);
    for (size_t i = 0; i < factors.size(); ++i)
      factors[i] = -problem.omega * static_cast<const double*>(problem.inverse)[i];
    const Matrix D =
        sparse({rows, rows, rows, KKC_INDEX_64_64, 0, places.data(), places.data(), factors.data()}, kind, p.scalar);
    const auto C = std::make_shared<Matrix>();
    SpgemmEntrant entrant;
    entrant.name = "mxm + scale + eWiseAdd";
    entrant.whole = [=] {
      C->reset();
      *C = by_rows(kind, rows, cols);
      const Matrix AB = by_rows(kind, rows, cols), scaled = by_rows(kind, rows, cols);
      must(GrB_mxm(AB.get(), nullptr, nullptr, kind.semiring, A.get(), B.get(), nullptr), "GrB_mxm");
      must(GrB_mxm(scaled.get(), nullptr, nullptr, kind.semiring, D.get(), AB.get(), nullptr), "GrB_mxm");
      must(GrB_Matrix_eWiseAdd_BinaryOp(C->get(), nullptr, nullptr, GrB_PLUS_FP64, B.get(), scaled.get(), nullptr),
           "GrB_eWiseAdd");
      must(GrB_Matrix_wait(C->get(), GrB_MATERIALIZE), "GrB_Matrix_wait");
    };
    entrant.result = [=, this] { return unpacked(*C, rows, cols); };
    return {entrant};
  }

 private:
  struct Unpacked {
    Unpacked(void* a, void* b, void* c) : arrays{a, b, c} {}
    Unpacked(const Unpacked&) = delete;
    ~Unpacked() {
      for (void* array : arrays) std::free(array);
    }
    void* arrays[3];
  };

  static Matrix by_rows(const Kind& kind, int64_t rows, int64_t cols) {
    GrB_Matrix raw = nullptr;
    must(GrB_Matrix_new(&raw, kind.type, static_cast<GrB_Index>(rows), static_cast<GrB_Index>(cols)), "GrB_Matrix_new");
    Matrix C = own(raw);
    must(GxB_Matrix_Option_set(raw, GxB_FORMAT, GxB_BY_ROW), "GxB_Matrix_Option_set");
    must(GxB_Matrix_Option_set(raw, GxB_SPARSITY_CONTROL, GxB_SPARSE), "GxB_Matrix_Option_set");
    return C;
  }

  /// The matrix's arrays, which it no longer has then.
  SparseOperand unpacked(const Matrix& C, int64_t rows, int64_t cols) {
    GrB_Index *offsets = nullptr, *indices = nullptr, offsets_bytes = 0, indices_bytes = 0, values_bytes = 0, count = 0;
    void* values = nullptr;
    bool iso = false, jumbled = false;
    must(GrB_Matrix_nvals(&count, C.get()), "GrB_Matrix_nvals");
    must(GxB_Matrix_unpack_CSR(C.get(), &offsets, &indices, &values, &offsets_bytes, &indices_bytes, &values_bytes,
                               &iso, &jumbled, nullptr),
         "GxB_Matrix_unpack_CSR");
    kept_ = std::make_shared<Unpacked>(offsets, indices, values);
    return {rows, cols, static_cast<int64_t>(count), KKC_INDEX_64_64, 0, offsets, indices, values};
  }

  std::shared_ptr<Unpacked> kept_;  // the last result, until the next
};

}  // namespace
}  // namespace kkc::bench

KKC_BENCH_EXPORT kkc::bench::Peer* kkc_bench_peer() { return new kkc::bench::GraphBlas; }
