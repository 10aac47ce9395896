// row_stats: seen through plans, which count rows and name the first bad column.
#include "support/catch.hpp"
#include "support/spmv_case.hpp"

using namespace kkc_test;

namespace {

/// Rows of 0, 1, 2, ... entries in turn, columns in range.
struct Ramp {
  std::vector<int32_t> offsets{0}, indices;
  static constexpr int32_t rows = 5000, cols = 64, period = 37;

  Ramp() {
    for (int32_t i = 0; i < rows; ++i) {
      for (int32_t k = 0; k < i % period; ++k) indices.push_back((i + k) % cols);
      offsets.push_back(static_cast<int32_t>(indices.size()));
    }
  }
};

}  // namespace

TEST_CASE("row_stats: plans know the longest row and find the first bad column anywhere", "[row_stats]") {
  const Ramp ramp;
  const auto nnz = static_cast<int64_t>(ramp.indices.size());
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    INFO(name(device));
    const Context ctx(device);
    const Array<int32_t> offsets(ctx, ramp.offsets), indices(ctx, ramp.indices);
    const Array<double> values(ctx, std::vector<double>(static_cast<size_t>(nnz), 1.0));
    const View x = wrap<double>(ctx, nullptr, {Ramp::cols}), y = wrap<double>(ctx, nullptr, {Ramp::rows});
    Matrix A;
    ok(kkc_csr_create(ctx, Ramp::rows, Ramp::cols, nnz, KKC_INDEX_32_32, KKC_TYPE_F64, 0, offsets.data(),
                      indices.data(), values.data(), A.out()));
    Plan plan;
    ok(kkc_spmv_plan(ctx, KKC_OP_NONE, A, x, y, nullptr, plan.out()));
    const char* json = nullptr;
    ok(kkc_plan_info(plan, &json));
    CHECK(std::string(json).find("\"longest_row\":36,") != std::string::npos);

    // One bad column at a time, and a second behind it that must not be the one named.
    for (const int64_t at : {int64_t{0}, int64_t{1}, int64_t{4095}, int64_t{4096}, nnz / 2, nnz - 2}) {
      std::vector<int32_t> bad = ramp.indices;
      bad[static_cast<size_t>(at)] = Ramp::cols;
      bad[static_cast<size_t>(nnz - 1)] = -1;
      indices.set(bad);
      Plan refused;
      CHECK(kkc_spmv_plan(ctx, KKC_OP_NONE, A, x, y, nullptr, refused.out()) == KKC_STATUS_INDEX_OUT_OF_RANGE);
      CHECK(std::string(kkc_last_error()).find("col_indices[" + std::to_string(at) + "] is 64") != std::string::npos);
    }
  }
}
