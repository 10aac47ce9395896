// Contexts, memory, and handles that are not what they should be.
#include "support/catch.hpp"

#include <cstdlib>
#include <cstring>

#include "support/devices.hpp"
#include "support/handles.hpp"

using namespace kkc_test;

TEST_CASE("context: bad devices are refused", "[core][context]") {
  kkc_context_t* ctx = nullptr;
  int32_t count = 7;
  CHECK(kkc_context_create(0, 0, nullptr, nullptr, &ctx) == KKC_STATUS_INVALID_ARGUMENT);
  CHECK(kkc_context_create(99, 0, nullptr, nullptr, &ctx) == KKC_STATUS_INVALID_ARGUMENT);
  CHECK(kkc_context_create(-1, 0, nullptr, nullptr, &ctx) == KKC_STATUS_INVALID_ARGUMENT);
  CHECK(ctx == nullptr);
  CHECK(kkc_device_count(99, &count) == KKC_STATUS_INVALID_ARGUMENT);
  CHECK(count == 0);
  CHECK(kkc_device_count(KKC_DEVICE_SERIAL, nullptr) == KKC_STATUS_NULL_POINTER);
  for (const kkc_device_t device : devices()) {
    CHECK(kkc_context_create(device, 1000, nullptr, nullptr, &ctx) != KKC_STATUS_SUCCESS);
    CHECK(kkc_context_create(device, -1, nullptr, nullptr, &ctx) != KKC_STATUS_SUCCESS);
    CHECK(kkc_context_create(device, 0, nullptr, nullptr, nullptr) == KKC_STATUS_NULL_POINTER);
    CHECK(ctx == nullptr);
  }
}

TEST_CASE("context: memory comes aligned, goes back once, and copies", "[core][context]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    void *data = nullptr, *none = &data;
    ok(kkc_malloc(ctx, 100, &data));
    CHECK(reinterpret_cast<uintptr_t>(data) % 256 == 0);
    ok(kkc_malloc(ctx, 0, &none));
    CHECK(none == nullptr);
    CHECK(kkc_free(ctx, nullptr) == KKC_STATUS_SUCCESS);
    int elsewhere = 0;
    CHECK(kkc_free(ctx, &elsewhere) != KKC_STATUS_SUCCESS);
    CHECK(kkc_free(ctx, static_cast<char*>(data) + 8) != KKC_STATUS_SUCCESS);
    CHECK(kkc_free(ctx, data) == KKC_STATUS_SUCCESS);
    CHECK(kkc_free(ctx, data) != KKC_STATUS_SUCCESS);
    void* huge = &data;
    CHECK(kkc_malloc(ctx, SIZE_MAX / 2, &huge) == KKC_STATUS_OUT_OF_MEMORY);
    CHECK(huge == nullptr);
    CHECK(kkc_malloc(ctx, SIZE_MAX, &huge) == KKC_STATUS_OUT_OF_MEMORY);
    CHECK(kkc_malloc(ctx, 8, nullptr) == KKC_STATUS_NULL_POINTER);

    const std::vector<double> numbers{1, 2, 3};
    const Array<double> there(ctx, numbers);
    CHECK(there.get() == numbers);
    CHECK(kkc_copy(ctx, nullptr, numbers.data(), 8, KKC_COPY_HOST_TO_HOST) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_copy(ctx, nullptr, nullptr, 0, KKC_COPY_HOST_TO_HOST) == KKC_STATUS_SUCCESS);
    CHECK(kkc_copy(ctx, there.data(), numbers.data(), 8, 17) == KKC_STATUS_INVALID_ARGUMENT);
  }
}

TEST_CASE("context: memory that an allocator does not align is refused and goes back", "[core][context]") {
  int64_t live = 0;
  Allocator allocator;
  ok(kkc_allocator_create(
      [](void* user, size_t bytes, kkc_space_t, void*) -> void* {
        ++*static_cast<int64_t*>(user);
        return static_cast<char*>(std::malloc(bytes + 512)) + 1;
      },
      [](void* user, void* data, size_t, kkc_space_t, void*) {
        --*static_cast<int64_t*>(user);
        std::free(static_cast<char*>(data) - 1);
      },
      &live, allocator.out()));
  const Context ctx(KKC_DEVICE_SERIAL);
  kkc_context_t* made = ctx;
  CHECK(kkc_context_create(KKC_DEVICE_SERIAL, 0, allocator, nullptr, &made) == KKC_STATUS_INVALID_ARGUMENT);
  CHECK(made == nullptr);
  CHECK(live == 0);
}

TEST_CASE("context: handles that are not contexts are refused, never followed", "[core][context]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    Context ctx(device);
    Options options;
    const Array<double> data(ctx, size_t{4});
    const View view = wrap(ctx, data.data(), {4});
    const auto as_context = [](void* handle) { return static_cast<kkc_context_t*>(handle); };
    char random[64];
    std::memset(random, 0x5a, sizeof random);
    CHECK(kkc_context_synchronize(nullptr) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_context_synchronize(as_context(static_cast<kkc_view_t*>(view))) == KKC_STATUS_INVALID_HANDLE);
    CHECK(kkc_context_synchronize(as_context(static_cast<kkc_options_t*>(options))) == KKC_STATUS_INVALID_HANDLE);
    CHECK(kkc_context_synchronize(as_context(random)) == KKC_STATUS_INVALID_HANDLE);
    CHECK(kkc_context_synchronize(as_context(reinterpret_cast<void*>(uintptr_t{0xdeadbeef}))) ==
          KKC_STATUS_INVALID_HANDLE);
    CHECK(kkc_context_destroy(as_context(static_cast<kkc_view_t*>(view))) == KKC_STATUS_INVALID_HANDLE);
    CHECK(kkc_context_destroy(nullptr) == KKC_STATUS_SUCCESS);
    Context second(device);
    kkc_context_t* gone = second;
    second.reset();
    CHECK(kkc_context_synchronize(gone) == KKC_STATUS_INVALID_HANDLE);
    CHECK(kkc_context_destroy(gone) == KKC_STATUS_INVALID_HANDLE);
    CHECK(kkc_context_synchronize(ctx) == KKC_STATUS_SUCCESS);
  }
}

TEST_CASE("context: says what it is", "[core][context]") {
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    const char* json = nullptr;
    ok(kkc_context_info(ctx, &json));
    INFO(json);
    CHECK(std::string(json).find(name(device)) != std::string::npos);
    CHECK(std::string(json).find("\"kkc\"") != std::string::npos);
    CHECK(std::string(json).find("\"memory_bytes\"") != std::string::npos);
    if (!is_gpu(device)) CHECK(kkc_context_set_stream(ctx, nullptr) == KKC_STATUS_NOT_SUPPORTED);
  }
}

TEST_CASE("error: names and the last sentence", "[core][error]") {
  CHECK(std::string(kkc_status_name(KKC_STATUS_OVERFLOW)) == "KKC_STATUS_OVERFLOW");
  CHECK(std::string(kkc_status_name(55)) == "unknown status");
  CHECK(kkc_version() == KKC_VERSION_MAJOR * 10000 + KKC_VERSION_MINOR * 100 + KKC_VERSION_PATCH);
  CHECK(kkc_context_synchronize(nullptr) == KKC_STATUS_NULL_POINTER);
  const std::string sentence = kkc_last_error();
  CHECK(sentence.find("ctx") != std::string::npos);
  CHECK(kkc_context_destroy(nullptr) == KKC_STATUS_SUCCESS);
  CHECK(sentence == kkc_last_error());
}
