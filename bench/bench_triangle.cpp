#include "bench_triangle.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "superlu.hpp"

namespace kkc::bench {
namespace {

int64_t integer_at(const void* array, int64_t bytes_each, int64_t i) {
  if (bytes_each == 8) return static_cast<const int64_t*>(array)[i];
  return static_cast<const int32_t*>(array)[i];
}
double real_at(const void* array, kkc_scalar_t scalar, int64_t i) {
  if (scalar == KKC_TYPE_F32) return static_cast<const float*>(array)[i];
  return static_cast<const double*>(array)[i];
}

void append(std::vector<unsigned char>& array, int64_t bytes_each, int64_t value) {
  const auto narrow = static_cast<int32_t>(value);
  const size_t at = array.size();
  array.resize(at + static_cast<size_t>(bytes_each));
  std::memcpy(array.data() + at, bytes_each == 8 ? static_cast<const void*>(&value) : &narrow,
              static_cast<size_t>(bytes_each));
}

}  // namespace

HostTriangle triangle_of(const CsrArrays& A, bool lower, Diagonal kind) {
  if (A.rows != A.cols) throw std::runtime_error("is not square");
  if (A.scalar != KKC_TYPE_F32 && A.scalar != KKC_TYPE_F64) throw std::runtime_error("is measured for f32 and f64");
  const int64_t wide_offset = offset_bytes(A.index), wide_index = ordinal_bytes(A.index);
  HostTriangle T{A.index, A.scalar, lower, A.rows, 0, {}, {}, {}};
  std::vector<double> sums(static_cast<size_t>(A.rows), 0), columns(static_cast<size_t>(A.rows), 0);
  const auto each = [&](int64_t row, const auto& f) {
    int64_t last = -1;
    for (int64_t p = integer_at(A.offsets, wide_offset, row) - A.base;
         p < integer_at(A.offsets, wide_offset, row + 1) - A.base; ++p) {
      const int64_t column = integer_at(A.indices, wide_index, p) - A.base;
      if (column <= last) throw std::runtime_error("has unsorted rows");
      last = column;
      if (lower ? column <= row : column >= row) f(column, real_at(A.values, A.scalar, p));
    }
  };
  for (int64_t row = 0; row < A.rows; ++row)
    each(row, [&](int64_t column, double value) {
      if (column == row) return;
      sums[static_cast<size_t>(row)] += std::fabs(value);
      columns[static_cast<size_t>(column)] += std::fabs(value);
    });
  const auto room = static_cast<size_t>((A.nnz + A.rows) / 2 + A.rows);
  T.indices.reserve(room * static_cast<size_t>(wide_index));
  T.values.reserve(room * static_cast<size_t>(scalar_bytes(A.scalar)));
  const auto put = [&](int64_t column, double value) {
    append(T.indices, wide_index, column);
    const auto number = element(A.scalar, value);
    T.values.insert(T.values.end(), number.begin(), number.begin() + scalar_bytes(A.scalar));
    ++T.nnz;
  };
  append(T.offsets, wide_offset, 0);
  for (int64_t row = 0; row < A.rows; ++row) {
    const double least = 0.5 + std::max(sums[static_cast<size_t>(row)], columns[static_cast<size_t>(row)]);
    bool placed = false;
    const auto diagonal = [&](double value) {
      if (kind == Diagonal::dominant)
        put(row, value >= least ? value : least);
      else
        put(row, kind == Diagonal::ones ? 1.0 : value);
      placed = true;
    };
    each(row, [&](int64_t column, double value) {
      if (column == row) return diagonal(value);
      if (column > row && !placed) diagonal(0);
      put(column, value);
    });
    if (!placed) diagonal(0);
    append(T.offsets, wide_offset, T.nnz);
  }
  return T;
}

namespace {

CsrArrays arrays_of(const DirectFactor& F) {
  CsrArrays a;
  a.rows = a.cols = static_cast<int64_t>(F.offsets.size()) - 1;
  a.nnz = F.offsets.back();
  a.index = KKC_INDEX_32_64;
  a.offsets = F.offsets.data();
  a.indices = F.columns.data();
  a.values = const_cast<double*>(F.values.data());
  return a;
}

HostTriangle converted(HostTriangle T, kkc_index_pair_t index, kkc_scalar_t scalar) {
  if (T.index == index && T.scalar == scalar) return T;
  HostTriangle to{index, scalar, T.lower, T.rows, T.nnz, {}, {}, {}};
  if (offset_bytes(index) == 4 && T.nnz > INT32_MAX)
    throw std::runtime_error("has too many entries for 32-bit offsets");
  for (int64_t i = 0; i <= T.rows; ++i)
    append(to.offsets, offset_bytes(index), integer_at(T.offsets.data(), offset_bytes(T.index), i));
  for (int64_t p = 0; p < T.nnz; ++p) {
    append(to.indices, ordinal_bytes(index), integer_at(T.indices.data(), ordinal_bytes(T.index), p));
    const auto number = element(scalar, real_at(T.values.data(), T.scalar, p));
    to.values.insert(to.values.end(), number.begin(), number.begin() + scalar_bytes(scalar));
  }
  return to;
}

HostTriangle direct_factor(const Session& session, kkc_context_t* ctx, const std::string& name, bool lower,
                           kkc_index_pair_t index, kkc_scalar_t scalar) {
  std::string why_not;
  void* const module = open_module("kkc_bench_superlu.so", why_not);
  if (module == nullptr) throw std::runtime_error("SuperLU: " + why_not);
  const auto entry = reinterpret_cast<DirectFactorize (*)()>(dlsym(module, "kkc_bench_superlu"));
  if (entry == nullptr) throw std::runtime_error("SuperLU's module has no entry");
  // Both triangles of one matrix mostly follow one another.
  static std::string known;
  static DirectFactors factors;
  const std::string key = name + ' ' + session.arguments().size;
  if (key != known) {
    const Matrix A = load_matrix(session, ctx, name, KKC_INDEX_32_32, KKC_TYPE_F64, true);
    const CsrArrays a = bench::arrays_of(A.get());
    if (a.rows != a.cols || a.base != 0) throw std::runtime_error("is not square with base 0");
    known.clear();
    factors = entry()(a.rows, static_cast<const int32_t*>(a.offsets), static_cast<const int32_t*>(a.indices),
                      static_cast<const double*>(a.values));
    known = key;
  }
  return converted(triangle_of(arrays_of(lower ? factors.L : factors.U), lower, Diagonal::given), index, scalar);
}

}  // namespace

HostTriangle load_triangle(const Session& session, kkc_context_t* ctx, const std::string& name, bool lower,
                           kkc_index_pair_t index, kkc_scalar_t scalar) {
  const size_t colon = name.find(':');
  if (colon == std::string::npos)
    return triangle_of(arrays_of(load_matrix(session, ctx, name, index, scalar).get()), lower, Diagonal::dominant);
  const std::string factorization = name.substr(0, colon), of = name.substr(colon + 1);
  if (factorization == "superlu") return direct_factor(session, ctx, of, lower, index, scalar);
  if (factorization.rfind("ilu", 0) != 0)
    throw std::runtime_error(name + ": expected ilu0, ilu1, ... or superlu before the colon");
  const Matrix A = load_matrix(session, ctx, of, index, scalar, true);
  const auto options = options_from("{\"level\": " + factorization.substr(3) + "}");
  const Plan plan = make<Plan>("kkc_ilu_plan", kkc_ilu_plan, ctx, A.get(), options.get());
  const Matrix LU = make<Matrix>("kkc_plan_create_output", kkc_plan_create_output, plan.get());
  check(kkc_ilu_execute(plan.get(), A.get(), LU.get()), "kkc_ilu_execute");
  return triangle_of(arrays_of(LU.get()), lower, lower ? Diagonal::ones : Diagonal::given);
}

double solve_error(const HostTriangle& T, kkc_op_t op, int64_t vectors, const void* b, const void* x,
                   int64_t row_stride, int64_t vector_stride) {
  const int64_t wide_offset = offset_bytes(T.index), wide_index = ordinal_bytes(T.index);
  const double epsilon =
      T.scalar == KKC_TYPE_F32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  double worst = 0;
  std::vector<double> sum(static_cast<size_t>(T.rows)), weight(sum.size());
  std::vector<int64_t> terms(sum.size());
  for (int64_t k = 0; k < vectors; ++k) {
    const auto place = [&](int64_t row) { return row * row_stride + k * vector_stride; };
    for (int64_t row = 0; row < T.rows; ++row) {
      const double right = real_at(b, T.scalar, place(row));
      sum[static_cast<size_t>(row)] = -right;
      weight[static_cast<size_t>(row)] = std::fabs(right);
      terms[static_cast<size_t>(row)] = 8;
    }
    for (int64_t row = 0; row < T.rows; ++row)
      for (int64_t p = integer_at(T.offsets.data(), wide_offset, row);
           p < integer_at(T.offsets.data(), wide_offset, row + 1); ++p) {
        const int64_t column = integer_at(T.indices.data(), wide_index, p);
        const auto to = static_cast<size_t>(op == KKC_OP_NONE ? row : column);
        const double term =
            real_at(T.values.data(), T.scalar, p) * real_at(x, T.scalar, place(op == KKC_OP_NONE ? column : row));
        sum[to] += term;
        weight[to] += std::fabs(term);
        ++terms[to];
      }
    for (size_t i = 0; i < sum.size(); ++i) {
      const double error = std::fabs(sum[i]) / std::max(weight[i], std::numeric_limits<double>::min());
      if (!(error <= 2 * static_cast<double>(terms[i]) * epsilon)) return -1;
      worst = std::max(worst, error);
    }
  }
  return worst;
}

}  // namespace kkc::bench
