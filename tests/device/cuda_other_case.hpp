// Executes of the operations beside spmv on the GPU, as the checks in this folder make them.
#pragma once

#include <functional>
#include <memory>

#include "device/cuda_execute_case.hpp"

namespace kkc_test {

/// matrix: a generated one of its small size, or NAME@N: of N rows, for R-MAT of scale N.
struct OtherCase {
  std::string operation, implementation, matrix;
  std::string text() const { return operation + ' ' + implementation + ' ' + matrix; }
};

/// What one case needs, alive until its work is done.
class OtherOperands {
 public:
  OtherOperands(const Context& ctx, const OtherCase& c) : ctx_(ctx), options_(json(c)), A_(generate(c.matrix)) {
    int64_t cols = 0, nnz = 0;
    ok(kkc_csr_get(A_, &rows_, &cols, &nnz, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
    const std::string rows = "\"rows\": " + std::to_string(rows_);
    if (c.operation == "spgemm") taken_ = spgemm(KKC_OP_NONE, A_);
    if (c.operation == "spgemm op T") taken_ = spgemm(KKC_OP_TRANSPOSE, A_);
    if (c.operation == "spgemm identity") {
      B_ = generate("identity", rows);
      taken_ = spgemm(KKC_OP_NONE, B_);
    }
    if (c.operation == "spgemm one a row") {
      B_ = generate("rand30", rows + ", \"per_row\": 1, \"cols\": " + std::to_string(rows_ / 5));
      taken_ = spgemm(KKC_OP_NONE, B_);
    }
    if (c.operation == "spgemm wide") {
      B_ = generate("rand30", rows + ", \"cols\": 700000");
      taken_ = spgemm(KKC_OP_NONE, B_);
    }
    if (c.operation == "spgemm_jacobi") taken_ = jacobi(A_);
    if (c.operation == "spgemm_jacobi identity") {
      B_ = generate("identity", rows);
      taken_ = jacobi(B_);
    }
    if (c.operation == "spadd") taken_ = spadd(KKC_OP_TRANSPOSE);
    if (c.operation == "spadd op N") taken_ = spadd(KKC_OP_NONE);
    if (c.operation == "sptrsv") taken_ = sptrsv(KKC_OP_NONE);
    if (c.operation == "sptrsv op T") taken_ = sptrsv(KKC_OP_TRANSPOSE);
    if (c.operation == "transpose") taken_ = transpose();
    if (c.operation == "sort_rows") taken_ = sort_rows();
    if (c.operation == "view_sort") taken_ = view_sort();
    if (c.operation == "view_scan") taken_ = view_scan();
    if (c.operation == "matrix_scale") taken_ = matrix_scale();
    if (c.operation == "matrix_diagonal") taken_ = matrix_diagonal();
    if (c.operation == "csr_to_coo") taken_ = csr_to_coo(nnz);
    if (taken_) reset();
  }
  /// Whether the implementation takes the case.
  bool taken() const { return taken_; }
  void execute() const { execute_(); }
  std::vector<double> result() const {
    std::vector<double> values(size_);
    ctx_.synchronize();
    ok(kkc_copy(ctx_, values.data(), output_, size_ * sizeof(double), KKC_COPY_DEVICE_TO_HOST));
    return values;
  }
  /// The output as it was before the first execute.
  void reset() const {
    const std::vector<double> values = waves(static_cast<int64_t>(size_), 0.4);
    ctx_.synchronize();
    ok(kkc_copy(ctx_, output_, values.data(), size_ * sizeof(double), KKC_COPY_HOST_TO_DEVICE));
  }

 private:
  static std::string json(const OtherCase& c) {
    return c.implementation.empty() ? "{}" : R"({"implementation": ")" + c.implementation + "\"}";
  }
  Matrix generate(const std::string& text) const {
    const size_t at = text.find('@');
    if (at == std::string::npos) return generate(text, R"("size": "small")");
    const char* const key = text.starts_with("rmat") ? "\"scale\": " : "\"rows\": ";
    return generate(text.substr(0, at), key + text.substr(at + 1));
  }
  Matrix generate(const std::string& name, const std::string& options) const {
    Matrix A;
    ok(kkc_matrix_generate(ctx_, name.c_str(), Options('{' + options + '}'), KKC_INDEX_32_32, KKC_TYPE_F64, A.out()));
    return A;
  }
  static bool planned(kkc_status_t status) {
    if (status == KKC_STATUS_NOT_SUPPORTED) return false;
    ok(status);
    return true;
  }
  void output_of_plan() {
    ok(kkc_plan_create_output(plan_, C_.out()));
    output_of(C_);
  }
  void output_of(const Matrix& C) {
    int64_t nnz = 0;
    void* values = nullptr;
    ok(kkc_csr_get(C, nullptr, nullptr, &nnz, nullptr, nullptr, nullptr, nullptr, nullptr, &values));
    size_ = static_cast<size_t>(nnz);
    output_ = static_cast<double*>(values);
  }
  View input(int64_t n) {
    arrays_.push_back(std::make_unique<Array<double>>(ctx_, waves(n, 0.2)));
    return wrap(ctx_, arrays_.back()->data(), {n});
  }
  View output(int64_t n) {
    View view = input(n);
    size_ = static_cast<size_t>(n);
    output_ = arrays_.back()->data();
    return view;
  }

  bool spgemm(kkc_op_t op, const Matrix& B) {
    if (!planned(kkc_spgemm_plan(ctx_, op, A_, KKC_OP_NONE, B, nullptr, KKC_INDEX_32_32, options_, plan_.out())))
      return false;
    output_of_plan();
    execute_ = [this, &B] { ok(kkc_spgemm_execute(plan_, &alpha_, A_, B, &beta_, C_)); };
    return true;
  }
  bool jacobi(const Matrix& B) {
    if (!planned(kkc_spgemm_jacobi_plan(ctx_, A_, B, KKC_INDEX_32_32, options_, plan_.out()))) return false;
    output_of_plan();
    execute_ = [this, &B] { ok(kkc_spgemm_jacobi_execute(plan_, &alpha_, nullptr, A_, B, C_)); };
    return true;
  }
  bool spadd(kkc_op_t op) {
    if (!planned(kkc_spadd_plan(ctx_, KKC_OP_NONE, A_, op, A_, KKC_INDEX_32_32, options_, plan_.out()))) return false;
    output_of_plan();
    execute_ = [this] { ok(kkc_spadd_execute(plan_, &alpha_, A_, &beta_, A_, C_)); };
    return true;
  }
  bool sptrsv(kkc_op_t op) {
    x_ = input(rows_);
    y_ = output(rows_);
    if (!planned(kkc_sptrsv_plan(ctx_, op, KKC_UPLO_LOWER, KKC_DIAG_STORED, A_, x_, y_, options_, plan_.out())))
      return false;
    execute_ = [this] { ok(kkc_sptrsv_execute(plan_, &alpha_, A_, x_, y_)); };
    return true;
  }
  bool transpose() {
    if (!planned(kkc_transpose_plan(ctx_, KKC_OP_TRANSPOSE, A_, KKC_INDEX_32_32, options_, plan_.out()))) return false;
    output_of_plan();
    execute_ = [this] { ok(kkc_transpose_execute(plan_, A_, C_)); };
    return true;
  }
  bool sort_rows() {
    if (!planned(kkc_sort_rows_plan(ctx_, A_, options_, plan_.out()))) return false;
    output_of_plan();
    execute_ = [this] { ok(kkc_sort_rows_execute(plan_, A_, C_)); };
    return true;
  }
  bool view_sort() {
    x_ = input(40000);
    y_ = output(40000);
    if (!planned(kkc_view_sort_plan(ctx_, 0, x_, y_, nullptr, nullptr, options_, plan_.out()))) return false;
    execute_ = [this] { ok(kkc_view_sort_execute(plan_, x_, y_, nullptr, nullptr)); };
    return true;
  }
  bool view_scan() {
    x_ = input(40000);
    y_ = output(40000);
    execute_ = [this] { ok(kkc_view_scan(ctx_, 0, 0, x_, y_)); };
    return true;
  }
  bool matrix_scale() {
    x_ = input(rows_);
    output_of(A_);
    execute_ = [this] { ok(kkc_matrix_scale(ctx_, x_, A_, x_)); };
    return true;
  }
  bool matrix_diagonal() {
    y_ = output(rows_);
    execute_ = [this] { ok(kkc_matrix_diagonal(ctx_, A_, y_)); };
    return true;
  }
  bool csr_to_coo(int64_t nnz) {
    // Pairs of row numbers, read back as doubles: compared for equality only.
    const View bytes = output((nnz + 1) / 2);
    y_ = wrap(ctx_, reinterpret_cast<int32_t*>(output_), {nnz});
    execute_ = [this] { ok(kkc_csr_to_coo(ctx_, A_, y_)); };
    return true;
  }

  const Context& ctx_;
  Options options_;
  Matrix A_, B_, C_;
  Plan plan_;
  std::vector<std::unique_ptr<Array<double>>> arrays_;
  View x_, y_;
  double alpha_ = 1.5, beta_ = 0.5;
  int64_t rows_ = 0;
  bool taken_ = false;
  std::function<void()> execute_;
  double* output_ = nullptr;
  size_t size_ = 0;
};

inline std::vector<OtherCase> all_other_cases() {
  std::vector<OtherCase> all;
  const auto add = [&](const char* operation, const char* registered, const std::vector<std::string>& matrices) {
    for (const std::string& implementation : implementations(registered))
      for (const std::string& matrix : matrices) all.push_back({operation, implementation, matrix});
  };
  add("spgemm", "spgemm", {"lap3d7", "elas3", "rmat20"});
  add("spgemm op T", "spgemm", {"lap3d7", "rmat20"});
  add("spgemm identity", "spgemm", {"lap3d7", "elas3"});
  add("spgemm one a row", "spgemm", {"rmat20"});
  add("spgemm_jacobi", "spgemm_jacobi", {"lap3d7", "elas3"});
  add("spgemm_jacobi identity", "spgemm_jacobi", {"lap3d7", "elas3"});
  add("spadd", "spadd", {"lap3d7", "rmat20"});
  add("spadd op N", "spadd", {"lap3d7", "rmat20"});
  add("sptrsv", "sptrsv", {"lap3d7", "band"});
  add("sptrsv op T", "sptrsv", {"lap3d27"});
  add("view_sort", "view_sort", {"lap3d7"});
  // Pieces of rows that keep slots, and whole rows as pieces; rows so long are seconds of work for the reference.
  all.push_back({"spgemm", "gpu_hash", "rmat20@13"});
  all.push_back({"spgemm wide", "gpu_hash", "rand30@2500"});
  for (const char* operation : {"transpose", "sort_rows", "view_scan", "matrix_scale", "matrix_diagonal", "csr_to_coo"})
    all.push_back({operation, "", "rmat20"});
  return all;
}

}  // namespace kkc_test
