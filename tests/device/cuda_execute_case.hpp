// One product on the GPU, as the checks in this folder make them: operands, plan, and a reference to compare with.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "support/handles.hpp"

namespace kkc_test {

inline void cuda_ok(cudaError_t status) {
  if (status != cudaSuccess)
    throw std::runtime_error(std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status));
}

struct Product {
  std::string implementation, matrix;
  kkc_op_t op;
  int64_t vectors;
  kkc_layout_t layout;

  std::string text() const {
    return implementation + " " + matrix + " op " + std::to_string(op) + " vectors " + std::to_string(vectors) +
           " layout " + std::to_string(layout);
  }
};

inline std::vector<double> waves(int64_t n, double phase) {
  std::vector<double> v(static_cast<size_t>(n));
  for (size_t i = 0; i < v.size(); ++i) v[i] = std::sin(phase + 0.37 * static_cast<double>(i % 1009));
  return v;
}

/// Operands of a product in f64 with 32-bit indices.
class Operands {
 public:
  Operands(const Context& ctx, const Product& p)
      : ctx_(ctx),
        A(generate(ctx, p.matrix)),
        n_(rows(A) * p.vectors),
        x_data(ctx, waves(n_, 0.1)),
        y_data(ctx, waves(n_, 0.7)),
        x(view(p, x_data)),
        y(view(p, y_data)) {}

  /// Empty when the implementation does not take the case.
  Plan plan(const Product& p) const {
    for (const char* more : {"", ", \"values\": \"kept\"", ", \"values\": \"kept\", \"transpose\": \"kept\""}) {
      Plan plan;
      const Options options("{\"implementation\": \"" + p.implementation + "\"" + more + "}");
      const kkc_status_t status = kkc_spmv_plan(ctx_, p.op, A, x, y, options, plan.out());
      if (status == KKC_STATUS_NOT_SUPPORTED) continue;
      ok(status);
      if (*more != '\0') ok(kkc_spmv_set_values(plan, A));
      return plan;
    }
    return {};
  }
  void execute(const Plan& plan) const {
    const double alpha = 1.5, beta = 0.5;
    ok(kkc_spmv_execute(plan, &alpha, A, x, &beta, y));
  }

  /// y after `times` products by the reference, from a fresh y. Restores y.
  std::vector<double> expected(const Product& p, int times) const {
    Product reference = p;
    reference.implementation = "reference";
    const Plan by = plan(reference);
    y_data.set(waves(n_, 0.7));
    for (int i = 0; i < times; ++i) execute(by);
    const std::vector<double> result = y_data.get();
    y_data.set(waves(n_, 0.7));
    return result;
  }

 private:
  static Matrix generate(const Context& ctx, const std::string& name) {
    Matrix A;
    ok(kkc_matrix_generate(ctx, name.c_str(), Options("{\"size\": \"small\"}"), KKC_INDEX_32_32, KKC_TYPE_F64,
                           A.out()));
    return A;
  }
  static int64_t rows(const Matrix& A) {
    int64_t n = 0;
    ok(kkc_csr_get(A, &n, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
    return n;
  }
  View view(const Product& p, const Array<double>& data) const {
    const int64_t n = n_ / p.vectors;
    return p.vectors == 1 ? wrap(ctx_, data.data(), {n}) : wrap(ctx_, data.data(), {n, p.vectors}, p.layout);
  }

  const Context& ctx_;

 public:
  Matrix A;

 private:
  int64_t n_;

 public:
  Array<double> x_data, y_data;
  View x, y;
};

inline double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0, scale = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(a[i] - b[i]);
    if (!(d <= most)) most = d;
    scale = std::max(scale, std::abs(b[i]));
  }
  return most / (scale > 0 ? scale : 1);
}

inline std::vector<std::string> implementations(const char* operation) {
  int32_t count = 0;
  ok(kkc_implementation_count(KKC_DEVICE_CUDA, operation, &count));
  std::vector<std::string> names;
  for (int32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    ok(kkc_implementation_name(KKC_DEVICE_CUDA, operation, i, &name));
    names.emplace_back(name);
  }
  return names;
}

inline std::vector<Product> all_products() {
  std::vector<Product> all;
  for (const std::string& implementation : implementations("spmv"))
    for (const char* matrix : {"lap3d7", "elas3", "rmat20"})
      for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE}) {
        all.push_back({implementation, matrix, op, 1, KKC_LAYOUT_LEFT});
        all.push_back({implementation, matrix, op, 8, KKC_LAYOUT_LEFT});
        all.push_back({implementation, matrix, op, 8, KKC_LAYOUT_RIGHT});
      }
  return all;
}

}  // namespace kkc_test
