// Making, reading, writing and checking matrices when memory runs out: every allocation through the context's
// allocator fails once, nothing is left behind, and the next call works.
#include <atomic>
#include <cstdlib>

#include "support/catch.hpp"
#include "support/devices.hpp"
#include "support/files.hpp"
#include "support/host_csr.hpp"

using namespace kkc_test;

namespace {

/// Host memory that runs out at the n-th allocation.
struct Purse {
  std::atomic<int64_t> live{0}, count{0}, fail_at{-1};
};

void* take(void* user, size_t bytes, kkc_space_t, void*) {
  auto& purse = *static_cast<Purse*>(user);
  if (purse.count++ == purse.fail_at) return nullptr;
  purse.live += static_cast<int64_t>(bytes);
  return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
}

void give(void* user, void* data, size_t bytes, kkc_space_t, void*) {
  static_cast<Purse*>(user)->live -= static_cast<int64_t>(bytes);
  std::free(data);
}

}  // namespace

TEST_CASE("matrices: memory that runs out leaves nothing half-made") {
  if (!supported(KKC_DEVICE_SERIAL, "spmv", KKC_INDEX_32_32, KKC_TYPE_F64)) return;
  const TempDir dir;
  Purse purse;
  Allocator allocator;
  ok(kkc_allocator_create(take, give, &purse, allocator.out()));
  for (const kkc_device_t device : devices()) {
    if (is_gpu(device)) continue;
    const Context ctx(device, "", allocator);
    HostCsr<double> shuffled;
    shuffled.rows = shuffled.cols = 3;
    shuffled.offsets = {0, 3, 5, 7};
    shuffled.indices = {2, 1, 1, 0, 1, 2, 0};
    shuffled.values = {1, 2, 3, 5, 4, 6, 1};
    const DeviceCsr<double> matrix(ctx, shuffled, KKC_INDEX_32_32, 0);
    const std::string file =
        dir.file("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n3 1 2\n3 1 3\n2 2 2\n");
    const std::string array = dir.file("d.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n");
    const auto with_all = [&](const char* what, auto call) {
      const int64_t before = purse.live;
      purse.fail_at = -1;
      purse.count = 0;
      REQUIRE(call() == KKC_STATUS_SUCCESS);
      const int64_t allocations = purse.count;
      CHECK(purse.live == before);
      for (int64_t n = 0; n < allocations; ++n) {
        INFO(what << ", allocation " << n << " of " << allocations);
        purse.count = 0;
        purse.fail_at = n;
        CHECK(call() == KKC_STATUS_OUT_OF_MEMORY);
        CHECK(purse.live == before);
      }
      purse.fail_at = -1;
      CHECK(call() == KKC_STATUS_SUCCESS);
    };
    const auto making = [&](auto make) {
      return [&, make] {
        Matrix A;
        return make(A.out());
      };
    };
    with_all("read", making([&](kkc_matrix_t** A) {
               return kkc_matrix_read(ctx, file.c_str(), KKC_INDEX_32_32, KKC_TYPE_F64, A);
             }));
    with_all("generate", making([&](kkc_matrix_t** A) {
               return kkc_matrix_generate(ctx, "rmat", Options("{\"scale\": 5, \"symmetric\": 1}"), KKC_INDEX_32_32,
                                          KKC_TYPE_F64, A);
             }));
    with_all("laplacian", making([&](kkc_matrix_t** A) { return kkc_matrix_laplacian(ctx, matrix, 1, A); }));
    with_all("copy", making([&](kkc_matrix_t** A) { return kkc_matrix_copy(ctx, matrix, A); }));
    with_all("validate", [&] {
      kkc_matrix_properties_t properties = 0;
      return kkc_matrix_validate(matrix, &properties);
    });
    with_all("info", [&] {
      const char* json = nullptr;
      return kkc_matrix_info(matrix, &json);
    });
    with_all("write", [&] { return kkc_matrix_write(matrix, (dir / "w.mtx").c_str(), nullptr); });
    with_all("view_read", [&] {
      View view;
      return kkc_view_read(ctx, array.c_str(), KKC_TYPE_F64, KKC_LAYOUT_RIGHT, view.out());
    });
    CHECK(dir.names().size() == 3);
  }
}
