#include "bench_factors.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "bench_matrix.hpp"
#include "bench_phases.hpp"

namespace kkc::bench {
namespace {

/// A matrix in host memory, base 0, with sorted rows.
template <class T>
struct Rows {
  std::vector<int64_t> offsets, indices;
  const T* values = nullptr;

  Rows(int64_t rows, int64_t nnz, int64_t offset_bytes, int64_t index_bytes, int32_t base, const void* from_offsets,
       const void* from_indices, const void* from_values)
      : offsets(widened(from_offsets, offset_bytes, rows + 1, base)),
        indices(widened(from_indices, index_bytes, nnz, base)),
        values(static_cast<const T*>(from_values)) {}

  int64_t count() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t begin(int64_t row) const { return offsets[static_cast<size_t>(row)]; }
  int64_t column(int64_t p) const { return indices[static_cast<size_t>(p)]; }
  /// First entry of the row whose column is not below `column`.
  int64_t find(int64_t row, int64_t column) const {
    return std::lower_bound(indices.begin() + begin(row), indices.begin() + begin(row + 1), column) - indices.begin();
  }

 private:
  static std::vector<int64_t> widened(const void* from, int64_t bytes_each, int64_t n, int32_t base) {
    std::vector<int64_t> to(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i)
      to[static_cast<size_t>(i)] =
          (bytes_each == 8 ? static_cast<const int64_t*>(from)[i] : static_cast<const int32_t*>(from)[i]) - base;
    return to;
  }
};

double conjugate(double a) { return a; }
float conjugate(float a) { return a; }
template <class R>
std::complex<R> conjugate(std::complex<R> a) {
  return std::conj(a);
}

/// The largest difference between the product of the factors and A on their pattern, beside A's largest value, over a
/// sample of rows; negative when it is wrong.
template <class T>
double residual(const Rows<T>& A, const Rows<T>& F, bool cholesky, double scale) {
  constexpr int64_t step = 7;
  double worst = 0.0;
#pragma omp parallel for schedule(dynamic, 64) reduction(max : worst)
  for (int64_t i = 0; i < A.count(); i += step) {
    std::vector<T> sums(static_cast<size_t>(F.begin(i + 1) - F.begin(i)));
    for (int64_t p = F.begin(i); p < F.begin(i + 1) && F.column(p) <= i; ++p) {
      const int64_t k = F.column(p);
      if (cholesky) {
        T sum{};
        for (int64_t q = F.begin(k), t = F.begin(i); q < F.begin(k + 1) && t <= p;) {
          const int64_t a = F.column(t), b = F.column(q);
          if (a == b) sum += F.values[t] * conjugate(F.values[q]);
          t += a <= b;
          q += b <= a;
        }
        sums[static_cast<size_t>(p - F.begin(i))] = sum;
        continue;
      }
      const T l = k == i ? T(1) : F.values[p];
      for (int64_t q = F.find(k, k), t = p; q < F.begin(k + 1) && t < F.begin(i + 1);) {
        const int64_t a = F.column(t), b = F.column(q);
        if (a == b) sums[static_cast<size_t>(t - F.begin(i))] += l * F.values[q];
        t += a <= b;
        q += b <= a;
      }
    }
    for (int64_t p = F.begin(i); p < F.begin(i + 1); ++p) {
      const int64_t at = A.find(i, F.column(p));
      const T expected = at < A.begin(i + 1) && A.column(at) == F.column(p) ? A.values[at] : T{};
      const double off = std::abs(sums[static_cast<size_t>(p - F.begin(i))] - expected) / scale;
      worst = std::max(worst, off == off ? off : 1e300);
    }
  }
  const double most = sizeof(T) == 4 || std::is_same_v<T, std::complex<float>> ? 1e-4 : 1e-11;
  return worst <= most ? worst : -1.0;
}

class Oracle {
 public:
  Oracle(const CsrArrays& A, bool cholesky) : A_(A), cholesky_(cholesky) {}

  double error(const HostResult& F) const {
    switch (A_.scalar) {
      case KKC_TYPE_F32: return error_of<float>(F);
      case KKC_TYPE_F64: return error_of<double>(F);
      case KKC_TYPE_C64: return error_of<std::complex<float>>(F);
      default: return error_of<std::complex<double>>(F);
    }
  }

 private:
  template <class T>
  double error_of(const HostResult& F) const {
    if (F.rows != A_.rows) return -1.0;
    double scale = 0.0;
    for (int64_t k = 0; k < A_.nnz; ++k) scale = std::max<double>(scale, std::abs(static_cast<const T*>(A_.values)[k]));
    const Rows<T> A(A_.rows, A_.nnz, offset_bytes(A_.index), ordinal_bytes(A_.index), A_.base, A_.offsets, A_.indices,
                    A_.values);
    return residual(A, Rows<T>(F.rows, F.nnz, F.offset_bytes, F.index_bytes, F.base, F.offsets, F.indices, F.values),
                    cholesky_, scale);
  }

  CsrArrays A_;
  bool cholesky_;
};

/// kkc as a contender: each symbolic() plans anew.
class Ours {
 public:
  Ours(Bench& bench, bool cholesky, kkc_matrix_t* A, const std::string& options)
      : bench_(bench), cholesky_(cholesky), A_(A), options_(options_from(options)) {
    symbolic();
    F_ = make<Matrix>("kkc_plan_create_output", kkc_plan_create_output, plan_.get());
  }

  void symbolic() {
    plan_.reset();  // the library's memory for the last plan is free again, as in an application that plans anew
    if (cholesky_)
      plan_ = make<Plan>("kkc_ic_plan", kkc_ic_plan, bench_.ctx.get(), A_, options_.get());
    else
      plan_ = make<Plan>("kkc_ilu_plan", kkc_ilu_plan, bench_.ctx.get(), A_, options_.get());
  }
  void numeric() {
    check((cholesky_ ? kkc_ic_execute : kkc_ilu_execute)(plan_.get(), A_, F_.get()), "kkc_ilu_execute");
  }
  HostResult fetch() {
    check(kkc_context_synchronize(bench_.ctx.get()), "kkc_context_synchronize");
    int64_t where = 0, count = 0;
    check(kkc_plan_check(plan_.get(), &where, &count), "kkc_plan_check");
    return on_host_.of(bench_, F_.get());
  }
  int64_t nnz() const { return arrays_of(F_.get()).nnz; }
  Json info() const { return plan_info(plan_.get()); }

 private:
  Bench& bench_;
  bool cholesky_;
  kkc_matrix_t* A_;
  Options options_;
  Plan plan_;
  Matrix F_;
  HostCopy on_host_;
};

void run_case(Session& session, const Case& c, kkc_context_t* loader, bool cholesky) {
  Bench& bench = session.bench(c.device, c.threads);
  const Matrix host = load_matrix(session, loader, c.matrix, c.index, c.scalar, true);
  const Oracle oracle(arrays_of(host.get()), cholesky);
  Matrix copy;
  if (c.device != KKC_DEVICE_OPENMP)
    copy = make<Matrix>("kkc_matrix_copy", kkc_matrix_copy, bench.ctx.get(), host.get());
  kkc_matrix_t* const A = copy ? copy.get() : host.get();
  const CsrArrays a = arrays_of(A);

  Json& entry = session.add_case();
  auto& left_out = entry["left_out"] = Json::object();
  std::vector<Contender> contenders;
  auto variants = session.arguments().options;
  if (variants.empty()) variants.push_back("");
  int64_t nnz = 0;
  for (const auto& options : variants) {
    Contender one;
    const auto ours = std::make_shared<Ours>(bench, cholesky, A, options);
    one.measured.details["plan"] = ours->info();
    one.measured.details["implementation"] = one.measured.details["plan"].value("implementation", "");
    one.measured.details["options"] = options.empty() ? "{}" : options;
    one.measured.name =
        options.empty() ? "kkc (" + one.measured.details["implementation"].get<std::string>() + ")" : "kkc " + options;
    one.measured.is_kkc = true;
    one.phases = {"", [ours] { ours->symbolic(); }, [ours] { ours->numeric(); }, [ours] { return ours->fetch(); }};
    if (nnz == 0) nnz = ours->nnz();
    contenders.push_back(std::move(one));
  }
  const FactorProblem problem{c.device,
                              0,
                              bench.stream,
                              c.threads,
                              c.scalar,
                              cholesky,
                              {a.rows, a.cols, a.nnz, a.index, a.base, a.offsets, a.indices, a.values}};
  for (Peer* peer : session.peers(c.device)) {
    try {
      for (auto& phases : peer->factors(problem)) {
        Contender one;
        one.measured.name = peer->name() + (phases.name.empty() ? "" : " " + phases.name);
        one.measured.details["peer"] = peer->name();
        one.phases = std::move(phases);
        contenders.push_back(std::move(one));
      }
    } catch (const std::exception& error) {
      left_out[peer->name()] = error.what();
    }
  }
  // A's values are read once, the factors' written once and read where other rows need them: counted once.
  const int64_t bytes = (a.nnz + 2 * nnz) * scalar_bytes(c.scalar);
  entry["matrix"] = c.matrix;
  entry["rows"] = a.rows;
  entry["nnz_A"] = a.nnz;
  entry["nnz"] = nnz;
  entry["device"] = device_name(c.device);
  entry["threads"] = c.threads;
  entry["scalar"] = scalar_name(c.scalar);
  entry["index"] = index_name(c.index);
  drop_wrong(
      contenders, c.matrix, [&](const HostResult& F) { return oracle.error(F); }, left_out);
  measure_phases(session, bench, entry, cholesky ? "ic" : "ilu", c,
                 std::to_string(a.rows) + " rows, " + std::to_string(a.nnz) + " nonzeros, " + std::to_string(nnz) +
                     " in the factors",
                 contenders, static_cast<double>(bytes), static_cast<double>(nnz), session.copies(bench, bytes) != 1);
}

}  // namespace

void each_factored(Session& session, const char* operation,
                   const std::function<void(const Case& c, kkc_context_t* loader)>& run) {
  const Arguments& a = session.arguments();
  const auto loader = make<Context>("kkc_context_create", kkc_context_create, KKC_DEVICE_OPENMP, 0, nullptr, nullptr);
  for (const auto& matrix : a.matrices)
    for (const auto& scalar : a.scalars)
      for (const auto& index : a.indices)
        for (const auto& device : a.devices)
          for (const int32_t threads : a.threads) {
            const kkc_device_t on = device_of(device);
            const Case c{matrix,      on, scalar_of(scalar), index_of(index),
                         KKC_OP_NONE, 1,  KKC_LAYOUT_RIGHT,  session.threads_on(on, threads)};
            session.attempt(std::string(operation) + " " + matrix + " " + scalar + " on " + device,
                            [&] { run(c, loader.get()); });
          }
}

void factor_cases(Session& session, bool cholesky) {
  each_factored(session, cholesky ? "ic" : "ilu",
                [&](const Case& c, kkc_context_t* loader) { run_case(session, c, loader, cholesky); });
}

}  // namespace kkc::bench
