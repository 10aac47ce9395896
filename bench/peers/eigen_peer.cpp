// Eigen: a mapped row-major SparseMatrix times dense vectors.
#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <complex>
#include <memory>

#include "peer.hpp"

namespace kkc::bench {
namespace {

template <class T, class I, int Order>
std::function<void()> product(const SpmvProblem& p) {
  using Sparse = Eigen::Map<const Eigen::SparseMatrix<T, Eigen::RowMajor, I>>;
  using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>;
  return [p] {
    Eigen::setNbThreads(p.threads);
    const Sparse A(p.rows, p.cols, p.nnz, static_cast<const I*>(p.offsets), static_cast<const I*>(p.indices),
                   static_cast<const T*>(p.values));
    const auto multiply = [&](const auto& x, auto& y) {
      if (p.op == KKC_OP_NONE)
        y.noalias() = A * x;
      else if (p.op == KKC_OP_TRANSPOSE)
        y.noalias() = A.transpose() * x;
      else
        y.noalias() = A.adjoint() * x;
    };
    if (p.vectors == 1) {
      using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
      const Eigen::Map<const Vector> x(static_cast<const T*>(p.x), p.x_rows());
      Eigen::Map<Vector> y(static_cast<T*>(p.y), p.y_rows());
      multiply(x, y);
    } else {
      const Eigen::Map<const Dense> x(static_cast<const T*>(p.x), p.x_rows(), p.vectors);
      Eigen::Map<Dense> y(static_cast<T*>(p.y), p.y_rows(), p.vectors);
      multiply(x, y);
    }
  };
}

template <class T>
std::vector<Entrant> entrants(const SpmvProblem& p) {
  const bool left = p.layout == KKC_LAYOUT_LEFT;
  if (p.index == KKC_INDEX_32_32)
    return {{"", false, 0.0, left ? product<T, int32_t, Eigen::ColMajor>(p) : product<T, int32_t, Eigen::RowMajor>(p),
             nullptr}};
  return {{"", false, 0.0, left ? product<T, int64_t, Eigen::ColMajor>(p) : product<T, int64_t, Eigen::RowMajor>(p),
           nullptr}};
}

template <class T, class I>
using RowMajor = Eigen::SparseMatrix<T, Eigen::RowMajor, I>;

template <class T, class I>
Eigen::Map<const RowMajor<T, I>> mapped(const SparseOperand& A) {
  return {A.rows,
          A.cols,
          A.nnz,
          static_cast<const I*>(A.offsets),
          static_cast<const I*>(A.indices),
          static_cast<const T*>(A.values)};
}

template <class T, class I>
SparseOperand arrays_of(RowMajor<T, I>& C) {
  return {C.rows(),
          C.cols(),
          static_cast<int64_t>(C.nonZeros()),
          sizeof(I) == 4 ? KKC_INDEX_32_32 : KKC_INDEX_64_64,
          0,
          C.outerIndexPtr(),
          C.innerIndexPtr(),
          C.valuePtr()};
}

/// A row-major product of mapped matrices; Eigen has no symbolic phase of its own and one thread.
template <class T, class I>
SpgemmEntrant multiplication(const SpgemmProblem& p) {
  using Sparse = RowMajor<T, I>;
  const auto C = std::make_shared<Sparse>();
  SpgemmEntrant entrant;
  entrant.whole = [=] {
    *C = Sparse();
    const auto A = mapped<T, I>(p.A), B = mapped<T, I>(p.B);
    const bool ta = p.op_a == KKC_OP_TRANSPOSE, tb = p.op_b == KKC_OP_TRANSPOSE;
    if (!ta && !tb)
      *C = A * B;
    else if (ta && !tb)
      *C = Sparse(A.transpose()) * B;
    else if (!ta)
      *C = A * Sparse(B.transpose());
    else
      *C = Sparse(A.transpose()) * Sparse(B.transpose());
  };
  entrant.result = [=] { return arrays_of<T, I>(*C); };
  return entrant;
}

/// B - omega D^-1 (A B), the scaling and the sum in one expression.
template <class T, class I>
SpgemmEntrant jacobi(const JacobiProblem& p) {
  using Sparse = RowMajor<T, I>;
  const auto C = std::make_shared<Sparse>();
  SpgemmEntrant entrant;
  entrant.name = "multiply + scale and add";
  entrant.whole = [=] {
    *C = Sparse();
    const auto A = mapped<T, I>(p.product.A), B = mapped<T, I>(p.product.B);
    using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
    const Vector factors =
        static_cast<T>(p.omega) * Eigen::Map<const Vector>(static_cast<const T*>(p.inverse), p.product.A.rows);
    const Sparse AB = A * B;
    *C = B - factors.asDiagonal() * AB;
  };
  entrant.result = [=] { return arrays_of<T, I>(*C); };
  return entrant;
}

template <class T>
std::vector<SpgemmEntrant> jacobis(const JacobiProblem& p) {
  if (p.product.A.index == KKC_INDEX_32_32) return {jacobi<T, int32_t>(p)};
  return {jacobi<T, int64_t>(p)};
}

template <class T>
std::vector<SpgemmEntrant> multiplications(const SpgemmProblem& p) {
  if (p.A.index == KKC_INDEX_32_32) return {multiplication<T, int32_t>(p)};
  return {multiplication<T, int64_t>(p)};
}

template <class T>
TwoPhases addition(const SpaddProblem& p) {
  using Own = Eigen::SparseMatrix<T, Eigen::RowMajor, int32_t>;
  using Sparse = Eigen::Map<const Own>;
  const auto map = [](const SparseOperand& x) {
    return Sparse(x.rows, x.cols, x.nnz, static_cast<const int32_t*>(x.offsets), static_cast<const int32_t*>(x.indices),
                  static_cast<const T*>(x.values));
  };
  const auto sum = std::make_shared<Own>();
  const auto run = [p, map, sum] {
    const Sparse A = map(p.A), B = map(p.B);
    const T alpha(static_cast<typename Eigen::NumTraits<T>::Real>(p.alpha)),
        beta(static_cast<typename Eigen::NumTraits<T>::Real>(p.beta));
    if (p.op_A == KKC_OP_NONE)
      *sum = alpha * A + beta * B;
    else
      *sum = alpha * Own(A.transpose()) + beta * B;
  };
  const auto fetch = [sum] {
    sum->makeCompressed();
    return HostResult{sum->rows(),          sum->nonZeros(), 4, 4, 0, sum->outerIndexPtr(),
                      sum->innerIndexPtr(), sum->valuePtr()};
  };
  return {"", nullptr, run, fetch};
}

/// Substitution by one thread, in place on a copy of b.
template <class T, class I, int Order>
Entrant triangular(const SptrsvProblem& p) {
  using Sparse = Eigen::Map<const Eigen::SparseMatrix<T, Eigen::RowMajor, I>>;
  using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>;
  const auto run = [p] {
    const Sparse A(p.rows, p.rows, p.nnz, static_cast<const I*>(p.offsets), static_cast<const I*>(p.indices),
                   static_cast<const T*>(p.values));
    const auto solve = [&](auto&& x) {
      if (p.op == KKC_OP_NONE && p.lower)
        A.template triangularView<Eigen::Lower>().solveInPlace(x);
      else if (p.op == KKC_OP_NONE)
        A.template triangularView<Eigen::Upper>().solveInPlace(x);
      else if (p.lower)
        A.transpose().template triangularView<Eigen::Upper>().solveInPlace(x);
      else
        A.transpose().template triangularView<Eigen::Lower>().solveInPlace(x);
    };
    if (p.vectors == 1) {
      using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
      Eigen::Map<Vector> x(static_cast<T*>(p.x), p.rows);
      x = Eigen::Map<const Vector>(static_cast<const T*>(p.b), p.rows);
      solve(x);
    } else {
      Eigen::Map<Dense> x(static_cast<T*>(p.x), p.rows, p.vectors);
      x = Eigen::Map<const Dense>(static_cast<const T*>(p.b), p.rows, p.vectors);
      solve(x);
    }
  };
  return {"", false, 0.0, run, nullptr};
}

template <class T, class I>
std::vector<Entrant> triangulars(const SptrsvProblem& p) {
  if (p.layout == KKC_LAYOUT_LEFT) return {triangular<T, I, Eigen::ColMajor>(p)};
  return {triangular<T, I, Eigen::RowMajor>(p)};
}

class EigenPeer final : public Peer {
 public:
  std::string name() const override { return "eigen"; }
  std::string version() const override {
    return std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
           std::to_string(EIGEN_MINOR_VERSION);
  }
  bool serves(kkc_device_t device) const override { return device == KKC_DEVICE_SERIAL || device == KKC_DEVICE_OPENMP; }

  std::vector<TwoPhases> spadd(const SpaddProblem& p) override {
    if (p.index != KKC_INDEX_32_32) throw NotTaken("this adapter holds 32-bit indices only");
    if (p.op_B != KKC_OP_NONE) throw NotTaken("this adapter transposes A only");
    switch (p.scalar) {
      case KKC_TYPE_F32: return {addition<float>(p)};
      case KKC_TYPE_F64: return {addition<double>(p)};
      case KKC_TYPE_C64: return {addition<std::complex<float>>(p)};
      default: return {addition<std::complex<double>>(p)};
    }
  }

  std::vector<Entrant> spmv(const SpmvProblem& p) override {
    if (p.index == KKC_INDEX_32_64) throw NotTaken("offsets and indices are of one type");
    if (p.base != 0) throw NotTaken("indices start at 0");
    if (p.op == KKC_OP_CONJUGATE) throw NotTaken("the conjugate makes a copy");
    switch (p.scalar) {
      case KKC_TYPE_F32: return entrants<float>(p);
      case KKC_TYPE_F64: return entrants<double>(p);
      case KKC_TYPE_C64: return entrants<std::complex<float>>(p);
      default: return entrants<std::complex<double>>(p);
    }
  }

  std::vector<Entrant> sptrsv(const SptrsvProblem& p) override {
    if (p.index == KKC_INDEX_32_64) throw NotTaken("offsets and indices are of one type");
    if (p.index == KKC_INDEX_32_32)
      return p.scalar == KKC_TYPE_F32 ? triangulars<float, int32_t>(p) : triangulars<double, int32_t>(p);
    return p.scalar == KKC_TYPE_F32 ? triangulars<float, int64_t>(p) : triangulars<double, int64_t>(p);
  }

  std::vector<SpgemmEntrant> spgemm_jacobi(const JacobiProblem& p) override {
    require_known(p.product);
    switch (p.product.scalar) {
      case KKC_TYPE_F32: return jacobis<float>(p);
      case KKC_TYPE_F64: return jacobis<double>(p);
      default: throw NotTaken("this adapter multiplies real matrices only");
    }
  }

  std::vector<SpgemmEntrant> spgemm(const SpgemmProblem& p) override {
    require_known(p);
    switch (p.scalar) {
      case KKC_TYPE_F32: return multiplications<float>(p);
      case KKC_TYPE_F64: return multiplications<double>(p);
      default: throw NotTaken("this adapter multiplies real matrices only");
    }
  }

 private:
  static void require_known(const SpgemmProblem& p) {
    if (p.A.index == KKC_INDEX_32_64 || p.index_c != p.A.index) throw NotTaken("offsets and indices are of one type");
    if (p.A.base != 0 || p.B.base != 0) throw NotTaken("indices start at 0");
  }
};

}  // namespace
}  // namespace kkc::bench

KKC_BENCH_EXPORT kkc::bench::Peer* kkc_bench_peer() { return new kkc::bench::EigenPeer; }
