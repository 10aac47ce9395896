// Memory that runs out: the n-th allocation through a context's allocator fails, for every n. The call says so, every
// object made before still works, and nothing leaks.
#include "support/catch.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "support/devices.hpp"
#include "support/oracle.hpp"

using namespace kkc_test;

namespace {

/// Gives out host memory until its allowance is spent.
struct Purse {
  std::atomic<int64_t> allowance{-1};  // allocations left; -1: no bound
  std::atomic<int64_t> blocks{0}, bytes{0}, served{0};

  static void* alloc(void* user, size_t size, kkc_space_t, void*) {
    Purse& purse = *static_cast<Purse*>(user);
    if (purse.allowance == 0) return nullptr;
    if (purse.allowance > 0) --purse.allowance;
    ++purse.blocks;
    ++purse.served;
    purse.bytes += static_cast<int64_t>(size);
    return std::aligned_alloc(256, (size + 255) / 256 * 256);
  }
  static void free(void* user, void* data, size_t size, kkc_space_t, void*) {
    Purse& purse = *static_cast<Purse*>(user);
    --purse.blocks;
    purse.bytes -= static_cast<int64_t>(size);
    std::free(data);
  }
};

/// A call that may allocate, by name.
struct Step {
  const char* name;
  std::function<kkc_status_t()> call;
};

}  // namespace

TEST_CASE("memory: every allocation may fail", "[core][memory]") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("kkc_out_of_memory_" + std::to_string(seed()));
  std::filesystem::create_directory(folder);
  const std::string matrix_file = (folder / "a.mtx").string(), view_file = (folder / "v.mtx").string();
  for (const kkc_device_t device : devices()) {
    if (is_gpu(device)) continue;  // the purse holds host memory
    Purse purse;
    Allocator allocator;
    ok(kkc_allocator_create(&Purse::alloc, &Purse::free, &purse, allocator.out()));
    int64_t failures = 0;
    bool complete = false;
    for (int64_t n = 0; !complete; ++n) {
      REQUIRE(n < 2000);
      INFO(name(device) << ", allocation " << n << " fails");
      {
        purse.allowance = n;
        Context ctx(device);  // replaced below by one with the allocator
        kkc_context_t* made = nullptr;
        const kkc_status_t created = kkc_context_create(device, 0, allocator, nullptr, &made);
        Handle<kkc_context_t, kkc_context_destroy> with(made);
        if (created != KKC_STATUS_SUCCESS) {
          CHECK(created == KKC_STATUS_OUT_OF_MEMORY);
          CHECK(made == nullptr);
          CHECK(std::string(kkc_last_error()) != "");
          ++failures;
          continue;
        }
        std::vector<int32_t> offsets, indices;
        std::vector<double> values;
        for (int32_t row = 0; row <= 64; ++row) offsets.push_back(2 * row);
        for (int32_t row = 0; row < 64; ++row)
          for (const int32_t column : {row, (row + 5) % 64}) {
            indices.push_back(column);
            values.push_back(row + column);
          }
        std::vector<double> x(64, 1), y(64);
        const int64_t extent = 64, two[] = {64, 3};
        const double one = 1, zero = 0;
        View x_view, y_view, created_view, mirror, dense, result, read_view, multi_x, multi_y;
        Matrix borrowed, copied, generated, laplacian, again, from_file;
        void* raw = nullptr;
        std::vector<Plan> plans(12);
        size_t next_plan = 0;
        std::vector<Step> steps{
            {"malloc", [&] { return kkc_malloc(with, 1000, &raw); }},
            {"view_wrap x",
             [&] {
               return kkc_view_wrap(with, KKC_TYPE_F64, 1, &extent, KKC_LAYOUT_LEFT, nullptr, KKC_SPACE_HOST, x.data(),
                                    x_view.out());
             }},
            {"view_wrap y",
             [&] {
               return kkc_view_wrap(with, KKC_TYPE_F64, 1, &extent, KKC_LAYOUT_LEFT, nullptr, KKC_SPACE_HOST, y.data(),
                                    y_view.out());
             }},
            {"view_create",
             [&] {
               return kkc_view_create(with, KKC_TYPE_F64, 2, two, KKC_LAYOUT_LEFT, KKC_SPACE_HOST, created_view.out());
             }},
            {"view_create",
             [&] {
               return kkc_view_create(with, KKC_TYPE_F64, 2, two, KKC_LAYOUT_LEFT, KKC_SPACE_HOST, multi_x.out());
             }},
            {"view_create",
             [&] {
               return kkc_view_create(with, KKC_TYPE_F64, 2, two, KKC_LAYOUT_LEFT, KKC_SPACE_HOST, multi_y.out());
             }},
            {"view_mirror", [&] { return kkc_view_mirror(with, created_view, KKC_SPACE_HOST, mirror.out()); }},
            {"view_fill", [&] { return kkc_view_fill(with, &one, created_view); }},
            {"view_fill", [&] { return kkc_view_fill(with, &one, multi_x); }},
            {"view_copy", [&] { return kkc_view_copy(with, created_view, mirror); }},
            {"result",
             [&] {
               return kkc_view_create(with, KKC_TYPE_F64, 0, nullptr, KKC_LAYOUT_LEFT, KKC_SPACE_HOST, result.out());
             }},
            {"dot", [&] { return kkc_dot(with, 0, x_view, x_view, result); }},
            {"norm2", [&] { return kkc_norm2(with, x_view, result); }},
            {"axpby", [&] { return kkc_axpby(with, &one, x_view, &zero, y_view); }},
            {"csr_create",
             [&] {
               return kkc_csr_create(with, 64, 64, 128, KKC_INDEX_32_32, KKC_TYPE_F64, 0, offsets.data(),
                                     indices.data(), values.data(), borrowed.out());
             }},
            {"csr_create_copy",
             [&] {
               return kkc_csr_create_copy(with, 64, 64, 128, KKC_INDEX_32_32, KKC_TYPE_F64, 0, offsets.data(),
                                          indices.data(), values.data(), copied.out());
             }},
            {"matrix_copy", [&] { return kkc_matrix_copy(with, copied, again.out()); }},
            {"matrix_generate",
             [&] {
               return kkc_matrix_generate(with, "lap2d5", Options(R"({"nx": 9, "ny": 7})"), KKC_INDEX_32_32,
                                          KKC_TYPE_F64, generated.out());
             }},
            {"matrix_laplacian", [&] { return kkc_matrix_laplacian(with, copied, 1.0, laplacian.out()); }},
            {"matrix_validate",
             [&] {
               kkc_matrix_properties_t properties = 0;
               return kkc_matrix_validate(copied, &properties);
             }},
            {"matrix_info",
             [&] {
               const char* json = nullptr;
               return kkc_matrix_info(copied, &json);
             }},
            {"matrix_write", [&] { return kkc_matrix_write(copied, matrix_file.c_str(), nullptr); }},
            {"matrix_read",
             [&] {
               return kkc_matrix_read(with, matrix_file.c_str(), KKC_INDEX_32_32, KKC_TYPE_F64, from_file.out());
             }},
            {"view_write", [&] { return kkc_view_write(with, multi_x, view_file.c_str()); }},
            {"view_read",
             [&] { return kkc_view_read(with, view_file.c_str(), KKC_TYPE_F64, KKC_LAYOUT_RIGHT, read_view.out()); }},
        };
        const auto plan_step = [&](kkc_op_t op, const char* options, bool multi) {
          const size_t at = next_plan++;
          steps.push_back({options, [&, op, options, multi, at] {
                             return kkc_spmv_plan(with, op, copied, multi ? multi_x : x_view, multi ? multi_y : y_view,
                                                  Options(options), plans[at].out());
                           }});
          steps.push_back({"set_values", [&, at, options] {
                             return std::string(options).find("kept") == std::string::npos
                                        ? KKC_STATUS_SUCCESS
                                        : kkc_spmv_set_values(plans[at], copied);
                           }});
          steps.push_back({"execute", [&, at, multi] {
                             return kkc_spmv_execute(plans[at], &one, copied, multi ? multi_x : x_view, &zero,
                                                     multi ? multi_y : y_view);
                           }});
        };
        plan_step(KKC_OP_NONE, "{}", false);
        plan_step(KKC_OP_NONE, "{}", true);
        plan_step(KKC_OP_TRANSPOSE, "{}", false);
        plan_step(KKC_OP_TRANSPOSE, R"({"implementation": "reference", "deterministic": 1})", false);
        plan_step(KKC_OP_NONE, R"({"values": "kept"})", false);
        plan_step(KKC_OP_TRANSPOSE, R"({"values": "kept", "transpose": "kept"})", false);
        plan_step(KKC_OP_TRANSPOSE, R"({"values": "kept", "transpose": "kept"})", true);
        plan_step(KKC_OP_NONE, R"({"checked": 1})", false);
        plan_step(KKC_OP_NONE, R"({"tuning": "measure"})", false);

        complete = true;
        for (const Step& step : steps) {
          kkc_status_t status = step.call();
          if (status == KKC_STATUS_SUCCESS) continue;
          INFO("step " << step.name << ": " << kkc_last_error());
          REQUIRE(status == KKC_STATUS_OUT_OF_MEMORY);
          REQUIRE(purse.allowance == 0);
          complete = false;
          ++failures;
          purse.allowance = -1;  // memory is back: the same call succeeds, and so does all that follows
          REQUIRE(step.call() == KKC_STATUS_SUCCESS);
        }
        // Still right after whatever failed.
        ok(kkc_spmv_execute(plans[0], &one, copied, x_view, &zero, y_view));
        for (int row = 0; row < 64; ++row)
          REQUIRE(y[static_cast<size_t>(row)] ==
                  values[2 * static_cast<size_t>(row)] + values[2 * static_cast<size_t>(row) + 1]);
        ok(kkc_free(with, raw));
      }
      CHECK(purse.blocks == 0);
      CHECK(purse.bytes == 0);
    }
    CHECK(failures > 10);
    CHECK(purse.served > 0);
  }
  std::filesystem::remove_all(folder);
}
