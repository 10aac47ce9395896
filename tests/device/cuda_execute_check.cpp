// Execute on a GPU only enqueues, and its very first call can be captured in a graph; memory lives as long as enqueued
// work needs it; the caller's CUDA state stays as it is.
//
//   cuda_execute_check calls | capture | memory          exit status 77: no GPU, module or CUPTI
#include <dlfcn.h>

#include <atomic>
#include <functional>
#include <thread>

#include "device/cuda_callbacks.hpp"
#include "device/cuda_execute_case.hpp"
#include "device/cuda_other_case.hpp"
#include "support/program.hpp"

namespace {

using namespace kkc_test;

int failures = 0;

void check(bool condition, const std::string& what) {
  if (condition) return;
  ++failures;
  std::printf("FAILED: %s\n", what.c_str());
}

std::string join(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

/// A stream of the caller's.
struct Stream {
  Stream() { cuda_ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream); }
  cudaStream_t stream = nullptr;
};

/// What is captured while it lives; launch() replays it.
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    cuda_ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  }
  void end() {
    cudaGraph_t graph = nullptr;
    cuda_ok(cudaStreamEndCapture(stream_, &graph));
    cuda_ok(cudaGraphInstantiate(&executable_, graph, 0));
    cuda_ok(cudaGraphDestroy(graph));
  }
  void launch() const { cuda_ok(cudaGraphLaunch(executable_, stream_)); }
  ~Capture() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
  }

 private:
  cudaStream_t stream_;
  cudaGraphExec_t executable_ = nullptr;
};

// ---- calls ----

void check_no_calls(const std::string& what, const std::function<void()>& execute) {
  watch_calls();
  execute();
  const std::vector<std::string> calls = watched_calls();
  check(calls.empty(), what + " calls " + join(calls));
}

void check_one_call_operations(const Context& ctx, kkc_layout_t layout) {
  constexpr int64_t rows = 5000, columns = 6;
  const Array<double> a(ctx, waves(rows * columns, 0.3)), b(ctx, waves(rows * columns, 0.9)), sums(ctx, columns);
  const View x = wrap(ctx, a.data(), {rows, columns}, layout), y = wrap(ctx, b.data(), {rows, columns}, layout);
  const View other =
      wrap(ctx, b.data(), {rows, columns}, layout == KKC_LAYOUT_LEFT ? KKC_LAYOUT_RIGHT : KKC_LAYOUT_LEFT);
  const View result = wrap(ctx, sums.data(), {columns});
  const double alpha = 1.25, beta = -0.5;
  const std::string where = " layout " + std::to_string(layout);
  check_no_calls("axpby" + where, [&] { ok(kkc_axpby(ctx, &alpha, x, &beta, y)); });
  check_no_calls("dot" + where, [&] { ok(kkc_dot(ctx, 1, x, y, result)); });
  check_no_calls("norm2" + where, [&] { ok(kkc_norm2(ctx, x, result)); });
  check_no_calls("view_copy" + where, [&] { ok(kkc_view_copy(ctx, x, y)); });
  check_no_calls("view_copy across layouts" + where, [&] { ok(kkc_view_copy(ctx, x, other)); });
  check_no_calls("view_fill" + where, [&] { ok(kkc_view_fill(ctx, &alpha, y)); });
  ctx.synchronize();
}

int run_calls() {
  if (!open_callbacks()) {
    std::printf("CUPTI is not there\n");
    return 77;
  }
  watch_calls();
  void* seen = nullptr;
  cuda_ok(cudaMalloc(&seen, 1024));
  const std::vector<std::string> calls = watched_calls();
  check(!calls.empty(), "a deliberate cudaMalloc is not seen");
  std::printf("a deliberate cudaMalloc is seen as %s\n", join(calls).c_str());
  cuda_ok(cudaFree(seen));

  const Context ctx(KKC_DEVICE_CUDA);
  for (const kkc_layout_t layout : {KKC_LAYOUT_LEFT, KKC_LAYOUT_RIGHT}) check_one_call_operations(ctx, layout);
  int taken = 0;
  for (const Product& p : all_products()) {
    const Operands operands(ctx, p);
    const Plan plan = operands.plan(p);
    if (plan == nullptr) continue;
    ++taken;
    ctx.synchronize();
    for (int i = 0; i < 2; ++i)
      check_no_calls(p.text() + " execute " + std::to_string(i + 1), [&] { operands.execute(plan); });
    ctx.synchronize();
  }
  for (const OtherCase& c : all_other_cases()) {
    const OtherOperands operands(ctx, c);
    if (!operands.taken()) continue;
    ++taken;
    ctx.synchronize();
    for (int i = 0; i < 2; ++i)
      check_no_calls(c.text() + " execute " + std::to_string(i + 1), [&] { operands.execute(); });
    ctx.synchronize();
  }
  std::printf("%d cases executed\n", taken);
  return 0;
}

// ---- capture ----

int capture_product(const Product& p) {
  const Stream mine;
  const Context ctx(KKC_DEVICE_CUDA);
  ok(kkc_context_set_stream(ctx, mine.stream));
  const Operands operands(ctx, p);
  const Plan plan = operands.plan(p);
  if (plan == nullptr) return 77;
  ctx.synchronize();
  Capture capture(mine.stream);
  operands.execute(plan);
  capture.end();
  capture.launch();
  capture.launch();
  const std::vector<double> twice = operands.y_data.get();
  const double error = difference(twice, operands.expected(p, 2));
  std::printf("%s: %.1e\n", p.text().c_str(), error);
  return error < 1e-12 ? 0 : 1;
}

int capture_one_call(const std::string& operation) {
  const Stream mine;
  const Context ctx(KKC_DEVICE_CUDA);
  ok(kkc_context_set_stream(ctx, mine.stream));
  constexpr int64_t rows = 20000, columns = 3;
  const std::vector<double> x_host = waves(rows * columns, 0.3), y_host = waves(rows * columns, 0.9);
  const Array<double> a(ctx, x_host), b(ctx, y_host), sums(ctx, std::vector<double>(columns, -1));
  const View x = wrap(ctx, a.data(), {rows, columns}), y = wrap(ctx, b.data(), {rows, columns}),
             result = wrap(ctx, sums.data(), {columns});
  const double alpha = 1.25, beta = -0.5;
  const auto run = [&] {
    if (operation == "axpby") ok(kkc_axpby(ctx, &alpha, x, &beta, y));
    if (operation == "dot") ok(kkc_dot(ctx, 0, x, y, result));
    if (operation == "norm2") ok(kkc_norm2(ctx, x, result));
    if (operation == "view_copy") ok(kkc_view_copy(ctx, x, y));
    if (operation == "view_fill") ok(kkc_view_fill(ctx, &alpha, y));
  };
  ctx.synchronize();
  Capture capture(mine.stream);
  run();
  capture.end();
  capture.launch();
  capture.launch();
  const std::vector<double> y_replayed = b.get(), sums_replayed = sums.get();
  b.set(y_host);
  run();
  run();
  const double error = std::max(difference(y_replayed, b.get()), difference(sums_replayed, sums.get()));
  std::printf("%s: %.1e\n", operation.c_str(), error);
  return error == 0 ? 0 : 1;
}

int capture_other(const OtherCase& c) {
  const Stream mine;
  const Context ctx(KKC_DEVICE_CUDA);
  ok(kkc_context_set_stream(ctx, mine.stream));
  const OtherOperands operands(ctx, c);
  if (!operands.taken()) return 77;
  ctx.synchronize();
  Capture capture(mine.stream);
  operands.execute();
  capture.end();
  capture.launch();
  capture.launch();
  const std::vector<double> replayed = operands.result();
  operands.reset();
  operands.execute();
  operands.execute();
  const double error = difference(replayed, operands.result());
  std::printf("%s: %.1e\n", c.text().c_str(), error);
  return error < 1e-12 ? 0 : 1;
}

/// Each case in a fresh process, some at a time.
int run_capture() {
  const std::string self = (program_folder() / "cuda_execute_check").string();
  std::vector<std::vector<std::string>> commands;
  for (const char* operation : {"axpby", "dot", "norm2", "view_copy", "view_fill"})
    commands.push_back({self, "capture-one-call", operation});
  for (const Product& p : all_products())
    commands.push_back({self, "capture-product", p.implementation, p.matrix, std::to_string(p.op),
                        std::to_string(p.vectors), std::to_string(p.layout)});
  for (const OtherCase& c : all_other_cases())
    commands.push_back({self, "capture-other", c.operation, c.implementation, c.matrix});
  std::vector<Outcome> outcomes(commands.size());
  std::atomic<size_t> next{0};
  std::vector<std::thread> workers;
  for (int i = 0; i < 6; ++i)
    workers.emplace_back([&] {
      for (size_t k; (k = next++) < commands.size();) {
        if (k % 50 == 0) std::printf("%zu of %zu\n", k, commands.size());
        outcomes[k] = run_program(commands[k]);
      }
    });
  for (std::thread& worker : workers) worker.join();
  int taken = 0;
  for (size_t k = 0; k < commands.size(); ++k) {
    const Outcome& outcome = outcomes[k];
    if (outcome.status == 77) continue;
    ++taken;
    check(outcome.status == 0, join({commands[k].begin() + 1, commands[k].end()}) + ": " + outcome.output +
                                   " (status " + std::to_string(outcome.status) + ")");
  }
  check(taken > 20, "only " + std::to_string(taken) + " first executes were captured");
  std::printf("%d first executes captured and replayed\n", taken);
  return 0;
}

// ---- memory and state ----

const Product plain{"reference", "lap3d7", KKC_OP_NONE, 1, KKC_LAYOUT_LEFT};

void check_callers_context() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  const auto current = reinterpret_cast<int (*)(void**)>(dlsym(driver, "cuCtxGetCurrent"));
  std::thread([&] {
    void* before = nullptr;
    current(&before);
    const Context ctx(KKC_DEVICE_CUDA);
    const Operands operands(ctx, plain);
    operands.execute(operands.plan(plain));
    ctx.synchronize();
    void* after = nullptr;
    current(&after);
    check(before == after, "the thread's CUDA context changed");
    int device = -1;
    cuda_ok(cudaGetDevice(&device));
    check(device == 0, "the thread's device is " + std::to_string(device));
  }).join();
}

/// x and its matrix go away while work that reads them is enqueued; their memory must not be handed out before.
void check_free_behind_work() {
  const Context ctx(KKC_DEVICE_CUDA), other(KKC_DEVICE_CUDA);
  constexpr int64_t n = int64_t{1} << 25;
  const double one = 1, five = 5, zero = 0;
  View y;
  ok(kkc_view_create(ctx, KKC_TYPE_F64, 1, &n, KKC_LAYOUT_LEFT, KKC_SPACE_DEVICE, y.out()));
  ok(kkc_view_fill(ctx, &zero, y));
  {
    View x;
    ok(kkc_view_create(ctx, KKC_TYPE_F64, 1, &n, KKC_LAYOUT_LEFT, KKC_SPACE_DEVICE, x.out()));
    ok(kkc_view_fill(ctx, &one, x));
    for (int i = 0; i < 60; ++i) ok(kkc_axpby(ctx, &one, x, &one, y));
  }
  for (int i = 0; i < 3; ++i) {
    View z;
    ok(kkc_view_create(other, KKC_TYPE_F64, 1, &n, KKC_LAYOUT_LEFT, KKC_SPACE_DEVICE, z.out()));
    ok(kkc_view_fill(other, &five, z));
  }
  double sum = 0;
  Array<double> result(ctx, 1);
  const View scalar = wrap(ctx, result.data(), {});
  ok(kkc_norm2(ctx, y, scalar));
  sum = result.get()[0];
  check(std::abs(sum - 60 * std::sqrt(static_cast<double>(n))) < 1e-6 * sum,
        "memory was handed out while work still read it: " + std::to_string(sum));
}

void check_set_stream() {
  const Context ctx(KKC_DEVICE_CUDA);
  const Stream a, b;
  const Operands operands(ctx, plain);
  const Plan plan = operands.plan(plain);
  const std::vector<double> expected = operands.expected(plain, 90);
  for (int i = 0; i < 30; ++i) {
    for (const cudaStream_t stream : {a.stream, static_cast<cudaStream_t>(nullptr), b.stream}) {
      ok(kkc_context_set_stream(ctx, stream));
      operands.execute(plan);
    }
  }
  check(difference(operands.y_data.get(), expected) < 1e-12, "work on changed streams is out of order");
  {
    const Stream brief;
    ok(kkc_context_set_stream(ctx, brief.stream));
    operands.execute(plan);
  }
  // The stream is gone, its work is not: frees, other streams and the context's end find it by its event.
  void* some = nullptr;
  ok(kkc_malloc(ctx, 1 << 20, &some));
  ok(kkc_free(ctx, some));
  ok(kkc_context_set_stream(ctx, nullptr));
  operands.execute(plan);
  const std::vector<double> after = operands.y_data.get();
  check(difference(after, operands.expected(plain, 92)) < 1e-12, "work after a stream's end is wrong");
  check(kkc_context_set_stream(ctx, cudaStreamPerThread) == KKC_STATUS_INVALID_ARGUMENT,
        "the per-thread stream is taken");
  ok(kkc_context_set_stream(ctx, nullptr));
}

void check_during_capture() {
  const Context ctx(KKC_DEVICE_CUDA), other(KKC_DEVICE_CUDA);
  const Stream mine;
  ok(kkc_context_set_stream(ctx, mine.stream));
  const Operands operands(ctx, plain);
  const Plan plan = operands.plan(plain);
  const std::vector<double> expected = operands.expected(plain, 2);
  void *before = nullptr, *during = nullptr;
  ok(kkc_malloc(ctx, 1 << 20, &before));
  ctx.synchronize();
  Capture capture(mine.stream);
  ok(kkc_context_set_stream(ctx, mine.stream));  // as wrappers do before every call
  operands.execute(plan);
  ok(kkc_free(ctx, before));
  ok(kkc_malloc(ctx, 1 << 20, &during));
  ok(kkc_free(ctx, during));
  double word = 0;
  check(kkc_copy(ctx, &word, operands.y_data.data(), sizeof word, KKC_COPY_DEVICE_TO_HOST) == KKC_STATUS_WRONG_STATE,
        "a blocking copy is taken during capture");
  check(kkc_context_synchronize(ctx) == KKC_STATUS_WRONG_STATE, "synchronize is taken during capture");
  // Other threads go on as if nothing were.
  std::thread([&] {
    const Operands elsewhere(other, plain);
    const Plan its = elsewhere.plan(plain);
    const std::vector<double> result = elsewhere.expected(plain, 1);
    elsewhere.execute(its);
    check(difference(elsewhere.y_data.get(), result) == 0, "another thread's product is wrong during capture");
  }).join();
  capture.end();
  capture.launch();
  capture.launch();
  check(difference(operands.y_data.get(), expected) < 1e-12, "a graph captured between other calls is wrong");
}

/// The stream is being captured when the context gets it.
void check_late_stream() {
  const Context ctx(KKC_DEVICE_CUDA);
  const Operands operands(ctx, plain);
  for (const std::string& implementation : implementations("spmv")) {
    const Stream mine;
    Product p = plain;
    p.implementation = implementation;
    const Plan plan = operands.plan(p);
    if (plan == nullptr) continue;
    const std::vector<double> expected = operands.expected(p, 1);
    ctx.synchronize();
    Capture capture(mine.stream);
    ok(kkc_context_set_stream(ctx, mine.stream));
    const double alpha = 1.5, beta = 0.5;
    const kkc_status_t status = kkc_spmv_execute(plan, &alpha, operands.A, operands.x, &beta, operands.y);
    capture.end();
    if (status == KKC_STATUS_SUCCESS) capture.launch();
    if (status == KKC_STATUS_SUCCESS)
      check(difference(operands.y_data.get(), expected) < 1e-12,
            implementation + " on a stream that was being captured is wrong");
    else
      check(status == KKC_STATUS_WRONG_STATE,
            implementation + " on a stream that was being captured: " + kkc_last_error());
    ok(kkc_context_set_stream(ctx, nullptr));
  }
}

void check_spaces() {
  const Context ctx(KKC_DEVICE_CUDA);
  void* none = nullptr;
  check(kkc_malloc(ctx, size_t{1} << 50, &none) == KKC_STATUS_OUT_OF_MEMORY && none == nullptr,
        "2^50 bytes are not refused");
  for (const kkc_space_t space : {KKC_SPACE_PINNED, KKC_SPACE_MANAGED}) {
    constexpr int64_t n = 100000;
    const double three = 3;
    for (int i = 0; i < 5; ++i) {
      View x;
      ok(kkc_view_create(ctx, KKC_TYPE_F64, 1, &n, KKC_LAYOUT_LEFT, space, x.out()));
      ok(kkc_view_fill(ctx, &three, x));
      Array<double> result(ctx, 1);
      ok(kkc_norm2(ctx, x, wrap(ctx, result.data(), {})));
      check(std::abs(result.get()[0] - 3 * std::sqrt(static_cast<double>(n))) < 1e-9,
            "space " + std::to_string(space) + " holds something else");
    }
  }
  int32_t gpus = 0;
  ok(kkc_device_count(KKC_DEVICE_CUDA, &gpus));
  if (gpus < 2) return;
  Matrix A, B;
  Context second(KKC_DEVICE_CUDA);
  second.reset();
  ok(kkc_context_create(KKC_DEVICE_CUDA, 1, nullptr, nullptr, second.out()));
  ok(kkc_matrix_generate(ctx, "lap3d7", Options("{\"size\": \"small\"}"), KKC_INDEX_32_32, KKC_TYPE_F64, A.out()));
  ok(kkc_matrix_copy(second, A, B.out()));
  kkc_matrix_properties_t a = 0, b = -1;
  ok(kkc_matrix_validate(A, &a));
  ok(kkc_matrix_validate(B, &b));
  check(a == b, "a matrix copied to another GPU differs");
  const Operands there(second, plain);
  const Plan plan = there.plan(plain);
  const std::vector<double> expected = there.expected(plain, 1);
  there.execute(plan);
  check(difference(there.y_data.get(), expected) == 0, "a product on the second GPU is wrong");
  std::printf("two GPUs\n");
}

int run_memory() {
  check_callers_context();
  check_free_behind_work();
  check_set_stream();
  check_during_capture();
  check_late_stream();
  check_spaces();
  return 0;
}

int run(const std::vector<std::string>& arguments) {
  const std::string part = arguments.empty() ? "" : arguments[0];
  int32_t gpus = 0;
  ok(kkc_device_count(KKC_DEVICE_CUDA, &gpus));
  if (gpus == 0) {
    std::printf("there is no GPU, or no module for it\n");
    return 77;
  }
  if (part == "calls") return run_calls();
  if (part == "capture") return run_capture();
  if (part == "memory") return run_memory();
  if (part == "capture-one-call") return capture_one_call(arguments.at(1));
  if (part == "capture-product")
    return capture_product({arguments.at(1), arguments.at(2), std::stoi(arguments.at(3)), std::stoll(arguments.at(4)),
                            std::stoi(arguments.at(5))});
  if (part == "capture-other") return capture_other({arguments.at(1), arguments.at(2), arguments.at(3)});
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  int status = 1;
  try {
    status = run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
  }
  return failures > 0 ? 1 : status;
}
