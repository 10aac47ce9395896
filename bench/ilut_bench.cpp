// kkc_bench ilut: A ~ L U on a pattern chosen by size; the plan and execute, which makes L and U, apart. Beside the
// times stands how near L U is to A. --options gives fill, iterations and sweeps.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <utility>

#include "bench_factors.hpp"
#include "bench_matrix.hpp"
#include "bench_phases.hpp"

namespace kkc::bench {
namespace {

template <class T>
struct HostRows {
  explicit HostRows(const kkc_matrix_t* A) : arrays(arrays_of(A)) {}

  int64_t begin(int64_t row) const { return number(arrays.offsets, offset_bytes(arrays.index), row) - arrays.base; }
  int64_t column(int64_t p) const { return number(arrays.indices, ordinal_bytes(arrays.index), p) - arrays.base; }
  T value(int64_t p) const { return static_cast<const T*>(arrays.values)[p]; }

  CsrArrays arrays;

 private:
  static int64_t number(const void* array, int64_t bytes_each, int64_t i) {
    return bytes_each == 8 ? static_cast<const int64_t*>(array)[i] : static_cast<const int32_t*>(array)[i];
  }
};

/// Frobenius norm of L U - A beside A's, over a sample of rows.
template <class T>
double distance(const HostRows<T>& A, const HostRows<T>& L, const HostRows<T>& U) {
  std::vector<std::complex<double>> sums(static_cast<size_t>(A.arrays.rows));
  std::vector<int64_t> touched;
  double off = 0, all = 0;
  const int64_t step = std::max<int64_t>(1, A.arrays.rows / 20000);
  for (int64_t i = 0; i < A.arrays.rows; i += step) {
    const auto add = [&](int64_t j, std::complex<double> value) {
      sums[static_cast<size_t>(j)] += value;
      touched.push_back(j);
    };
    for (int64_t p = A.begin(i); p < A.begin(i + 1); ++p) {
      add(A.column(p), -std::complex<double>(A.value(p)));
      all += std::norm(std::complex<double>(A.value(p)));
    }
    for (int64_t q = U.begin(i); q < U.begin(i + 1); ++q) add(U.column(q), std::complex<double>(U.value(q)));
    for (int64_t p = L.begin(i); p < L.begin(i + 1); ++p)
      for (int64_t q = U.begin(L.column(p)); q < U.begin(L.column(p) + 1); ++q)
        add(U.column(q), std::complex<double>(L.value(p)) * std::complex<double>(U.value(q)));
    for (const int64_t j : touched) off += std::norm(std::exchange(sums[static_cast<size_t>(j)], {}));
    touched.clear();
  }
  return std::sqrt(off / all);
}

double distance(const kkc_matrix_t* A, const kkc_matrix_t* L, const kkc_matrix_t* U) {
  const auto of = [&]<class T>(T) { return distance(HostRows<T>(A), HostRows<T>(L), HostRows<T>(U)); };
  switch (arrays_of(A).scalar) {
    case KKC_TYPE_F32: return of(0.0f);
    case KKC_TYPE_F64: return of(0.0);
    case KKC_TYPE_C64: return of(std::complex<float>());
    default: return of(std::complex<double>());
  }
}

void run_case(Session& session, const Case& c, kkc_context_t* loader) {
  Bench& bench = session.bench(c.device, c.threads);
  kkc_context_t* const ctx = bench.ctx.get();
  const Matrix host = load_matrix(session, loader, c.matrix, c.index, c.scalar);
  Matrix copy;
  if (c.device != KKC_DEVICE_OPENMP) copy = make<Matrix>("kkc_matrix_copy", kkc_matrix_copy, ctx, host.get());
  kkc_matrix_t* const A = copy ? copy.get() : host.get();
  const CsrArrays a = arrays_of(A);
  Json& entry = session.add_case();
  std::vector<Contender> contenders;
  auto variants = session.arguments().options;
  if (variants.empty()) variants.push_back("");
  int64_t nnz = 0;
  for (const auto& text : variants) {
    struct Made {
      Options options;
      Plan plan;
      Matrix L, U;
    };
    const auto made = std::make_shared<Made>(Made{options_from(text), {}, {}, {}});
    Contender one;
    one.phases.symbolic = [=] {
      made->plan.reset();
      made->plan = make<Plan>("kkc_ilut_plan", kkc_ilut_plan, ctx, A, made->options.get());
    };
    one.phases.numeric = [=] {
      made->L.reset();
      made->U.reset();
      kkc_matrix_t *L = nullptr, *U = nullptr;
      check(kkc_ilut_execute(made->plan.get(), A, &L, &U), "kkc_ilut_execute");
      made->L.reset(L);
      made->U.reset(U);
    };
    one.phases.symbolic();
    one.phases.numeric();
    const Matrix L = make<Matrix>("kkc_matrix_copy", kkc_matrix_copy, loader, made->L.get()),
                 U = make<Matrix>("kkc_matrix_copy", kkc_matrix_copy, loader, made->U.get());
    const int64_t entries = arrays_of(L.get()).nnz + arrays_of(U.get()).nnz;
    if (nnz == 0) nnz = entries;
    const double off = distance(host.get(), L.get(), U.get());
    const char* info = nullptr;
    check(kkc_plan_info(made->plan.get(), &info), "kkc_plan_info");
    one.measured.details["plan"] = Json::parse(info, nullptr, false);
    one.measured.details["implementation"] = one.measured.details["plan"].value("implementation", "");
    one.measured.details["options"] = text.empty() ? "{}" : text;
    one.measured.details["distance"] = off;
    one.measured.name = "kkc (" + one.measured.details["implementation"].get<std::string>() + ")" + text;
    one.measured.is_kkc = true;
    char line[160];
    std::snprintf(line, sizeof line, "  %-40s %12lld entries, |LU - A| / |A| = %.3e", one.measured.name.c_str(),
                  static_cast<long long>(entries), off);
    session.print(line);
    contenders.push_back(std::move(one));
  }
  const int64_t bytes = (a.nnz + nnz) * scalar_bytes(c.scalar);  // A read and the factors written once
  entry["matrix"] = c.matrix;
  entry["rows"] = a.rows;
  entry["nnz_A"] = a.nnz;
  entry["nnz"] = nnz;
  entry["device"] = device_name(c.device);
  entry["threads"] = c.threads;
  entry["scalar"] = scalar_name(c.scalar);
  entry["index"] = index_name(c.index);
  measure_phases(session, bench, entry, "ilut", c,
                 std::to_string(a.rows) + " rows, " + std::to_string(a.nnz) + " nonzeros, " + std::to_string(nnz) +
                     " in the factors",
                 contenders, static_cast<double>(bytes), static_cast<double>(nnz), session.copies(bench, bytes) != 1);
}

}  // namespace

void ilut(Session& session) {
  each_factored(session, "ilut", [&](const Case& c, kkc_context_t* loader) { run_case(session, c, loader); });
}

}  // namespace kkc::bench
