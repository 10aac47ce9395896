// What can only be seen from a process of its own: how libkkc behaves when it is opened and closed by hand, after a
// fork, from inside a caller's parallel region, and when modules are missing or wrong.
//
//   device_probe MODE LIBRARY DEVICE     0: as it should be; 77: the device is not there; else a sentence on stdout
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "kkc.h"

namespace {

struct Library {
  explicit Library(const char* path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) throw std::runtime_error(dlerror());
    find(context_create, "kkc_context_create");
    find(context_destroy, "kkc_context_destroy");
    find(context_synchronize, "kkc_context_synchronize");
    find(device_count, "kkc_device_count");
    find(last_error, "kkc_last_error");
    find(matrix_generate, "kkc_matrix_generate");
    find(matrix_destroy, "kkc_matrix_destroy");
    find(view_create, "kkc_view_create");
    find(view_destroy, "kkc_view_destroy");
    find(view_fill, "kkc_view_fill");
    find(view_get, "kkc_view_get");
    find(spmv_plan, "kkc_spmv_plan");
    find(spmv_execute, "kkc_spmv_execute");
    find(plan_destroy, "kkc_plan_destroy");
    find(copy, "kkc_copy");
  }
  template <class F>
  void find(F& function, const char* name) const {
    function = reinterpret_cast<F>(dlsym(handle, name));
    if (function == nullptr) throw std::runtime_error(std::string("no ") + name);
  }
  void close() { dlclose(handle); }

  void* handle;
  decltype(&kkc_context_create) context_create;
  decltype(&kkc_context_destroy) context_destroy;
  decltype(&kkc_context_synchronize) context_synchronize;
  decltype(&kkc_device_count) device_count;
  decltype(&kkc_last_error) last_error;
  decltype(&kkc_matrix_generate) matrix_generate;
  decltype(&kkc_matrix_destroy) matrix_destroy;
  decltype(&kkc_view_create) view_create;
  decltype(&kkc_view_destroy) view_destroy;
  decltype(&kkc_view_fill) view_fill;
  decltype(&kkc_view_get) view_get;
  decltype(&kkc_spmv_plan) spmv_plan;
  decltype(&kkc_spmv_execute) spmv_execute;
  decltype(&kkc_plan_destroy) plan_destroy;
  decltype(&kkc_copy) copy;
};

void expect(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

void ok(const Library& kkc, kkc_status_t status) { expect(status == KKC_STATUS_SUCCESS, kkc.last_error()); }

/// Plans and executes a product with the identity: 2 I 3 = 6.
void use(const Library& kkc, kkc_device_t device) {
  kkc_context_t* ctx = nullptr;
  ok(kkc, kkc.context_create(device, 0, nullptr, nullptr, &ctx));
  kkc_matrix_t* A = nullptr;
  ok(kkc, kkc.matrix_generate(ctx, "identity", nullptr, KKC_INDEX_32_32, KKC_TYPE_F64, &A));
  const bool gpu = device == KKC_DEVICE_CUDA || device == KKC_DEVICE_HIP;
  const kkc_space_t space = gpu ? KKC_SPACE_DEVICE : KKC_SPACE_HOST;
  decltype(&kkc_csr_get) csr_get;
  kkc.find(csr_get, "kkc_csr_get");
  int64_t n = 0;
  ok(kkc, csr_get(A, &n, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
  kkc_view_t *x = nullptr, *y = nullptr;
  ok(kkc, kkc.view_create(ctx, KKC_TYPE_F64, 1, &n, KKC_LAYOUT_LEFT, space, &x));
  ok(kkc, kkc.view_create(ctx, KKC_TYPE_F64, 1, &n, KKC_LAYOUT_LEFT, space, &y));
  const double three = 3, two = 2, zero = 0;
  ok(kkc, kkc.view_fill(ctx, &three, x));
  kkc_plan_t* plan = nullptr;
  ok(kkc, kkc.spmv_plan(ctx, KKC_OP_NONE, A, x, y, nullptr, &plan));
  ok(kkc, kkc.spmv_execute(plan, &two, A, x, &zero, y));
  ok(kkc, kkc.context_synchronize(ctx));
  void* data = nullptr;
  ok(kkc, kkc.view_get(y, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &data));
  double first = 0;
  ok(kkc, kkc.copy(ctx, &first, data, sizeof first, gpu ? KKC_COPY_DEVICE_TO_HOST : KKC_COPY_HOST_TO_HOST));
  expect(first == 6, "2 I 3 is " + std::to_string(first));
  ok(kkc, kkc.plan_destroy(plan));
  ok(kkc, kkc.view_destroy(x));
  ok(kkc, kkc.view_destroy(y));
  ok(kkc, kkc.matrix_destroy(A));
  ok(kkc, kkc.context_destroy(ctx));
}

void run_twice(const char* path, kkc_device_t device) {
  for (int i = 0; i < 2; ++i) {
    Library kkc(path);
    use(kkc, device);
    kkc.close();
  }
}

/// In the child every use is refused, and it ends as any process does.
void run_fork(const char* path, kkc_device_t device) {
  Library kkc(path);
  kkc_context_t* ctx = nullptr;
  ok(kkc, kkc.context_create(device, 0, nullptr, nullptr, &ctx));
  const pid_t child = fork();
  if (child == 0) {
    kkc_context_t* another = nullptr;
    const kkc_status_t create = kkc.context_create(device, 0, nullptr, nullptr, &another);
    const kkc_status_t wait = kkc.context_synchronize(ctx);
    kkc.context_destroy(ctx);
    if (create != KKC_STATUS_WRONG_STATE || wait != KKC_STATUS_WRONG_STATE) {
      std::printf("in the child: create gives %d, synchronize %d\n", create, wait);
      std::exit(1);
    }
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with status " + std::to_string(status));
  ok(kkc, kkc.context_destroy(ctx));
  use(kkc, device);
}

void run_in_parallel_region(const char* path, kkc_device_t device) {
  Library kkc(path);
  std::string failure;
#pragma omp parallel num_threads(4)
  {
    try {
      use(kkc, device);
    } catch (const std::exception& error) {
#pragma omp critical
      failure = error.what();
    }
  }
  expect(failure.empty(), failure);
  use(kkc, device);
}

/// Prints why the device is refused; the caller looks at the sentence.
void run_refused(const char* path, kkc_device_t device) {
  Library kkc(path);
  int32_t count = -1;
  ok(kkc, kkc.device_count(device, &count));
  expect(count == 0, "kkc_device_count gives " + std::to_string(count));
  kkc_context_t* ctx = nullptr;
  const kkc_status_t status = kkc.context_create(device, 0, nullptr, nullptr, &ctx);
  expect(status == KKC_STATUS_DEVICE_UNAVAILABLE && ctx == nullptr,
         "kkc_context_create gives " + std::to_string(status));
  std::printf("%s\n", kkc.last_error());
  use(kkc, KKC_DEVICE_SERIAL);
}

/// Contexts, matrices and plans that are still alive at exit.
void run_leave_open(const char* path, kkc_device_t device) {
  Library kkc(path);
  kkc_context_t* ctx = nullptr;
  ok(kkc, kkc.context_create(device, 0, nullptr, nullptr, &ctx));
  kkc_matrix_t* A = nullptr;
  ok(kkc, kkc.matrix_generate(ctx, "identity", nullptr, KKC_INDEX_32_32, KKC_TYPE_F64, &A));
  use(kkc, device);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string mode = argv[1];
  const auto device = static_cast<kkc_device_t>(std::atoi(argv[3]));
  try {
    if (mode == "refused") {
      run_refused(argv[2], device);
      return 0;
    }
    if (device == KKC_DEVICE_CUDA || device == KKC_DEVICE_HIP) {
      // Asked in a child: the first use must be the one that is tested.
      const pid_t child = fork();
      if (child == 0) {
        Library kkc(argv[2]);
        int32_t count = 0;
        kkc.device_count(device, &count);
        _exit(count > 0 ? 0 : 77);
      }
      int status = 0;
      waitpid(child, &status, 0);
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
    if (mode == "twice")
      run_twice(argv[2], device);
    else if (mode == "fork")
      run_fork(argv[2], device);
    else if (mode == "parallel")
      run_in_parallel_region(argv[2], device);
    else if (mode == "leave_open")
      run_leave_open(argv[2], device);
    else
      return 2;
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
  return 0;
}
