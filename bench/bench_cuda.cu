// The benchmark's clock and bandwidth on an NVIDIA GPU: events on a stream of its own.
#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>

#include "bench_gpu.hpp"

namespace kkc::bench {
namespace {

void must(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}

constexpr int block = 256;

__global__ void read_kernel(const double4_32a* a, int64_t n, double* sink) {
  double sum = 0.0;
  for (int64_t i = blockIdx.x * int64_t{block} + threadIdx.x; i < n; i += int64_t{gridDim.x} * block) {
    const double4_32a v = a[i];
    sum += (v.x + v.y) + (v.z + v.w);
  }
  if (sum == 12345.678) *sink = sum;  // never, but the compiler cannot know
}

__global__ void copy_kernel(double2* a, const double2* b, int64_t n) {
  for (int64_t i = blockIdx.x * int64_t{block} + threadIdx.x; i < n; i += int64_t{gridDim.x} * block) a[i] = b[i];
}

__global__ void triad_kernel(double2* a, const double2* b, const double2* c, double s, int64_t n) {
  for (int64_t i = blockIdx.x * int64_t{block} + threadIdx.x; i < n; i += int64_t{gridDim.x} * block)
    a[i] = make_double2(b[i].x + s * c[i].x, b[i].y + s * c[i].y);
}

struct Array {
  void* data = nullptr;
  explicit Array(size_t bytes) {
    must(cudaMalloc(&data, bytes), "cudaMalloc");
    must(cudaMemset(data, 0, bytes), "cudaMemset");
  }
  ~Array() { cudaFree(data); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
};

class CudaGpu final : public Gpu {
 public:
  explicit CudaGpu(int32_t device_id) : device_(device_id) {
    must(cudaSetDevice(device_), "cudaSetDevice");
    must(cudaGetDeviceProperties(&properties_, device_), "cudaGetDeviceProperties");
    must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    must(cudaEventCreate(&start_), "cudaEventCreate");
    must(cudaEventCreate(&stop_), "cudaEventCreate");
  }
  // The stream and the events stay: contexts may still use them when the program ends.

  double seconds(const std::function<void()>& work) override {
    must(cudaEventRecord(start_, stream_), "cudaEventRecord");
    work();
    must(cudaEventRecord(stop_, stream_), "cudaEventRecord");
    must(cudaEventSynchronize(stop_), "cudaEventSynchronize");
    float milliseconds = 0.0f;
    must(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime");
    return milliseconds * 1e-3;
  }
  void synchronize() override { must(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }
  std::string name() const override { return properties_.name; }
  std::string runtime() const override {
    int runtime = 0, driver = 0;
    cudaRuntimeGetVersion(&runtime);
    cudaDriverGetVersion(&driver);
    const auto text = [](int v) { return std::to_string(v / 1000) + "." + std::to_string(v / 10 % 100); };
    return "CUDA run-time " + text(runtime) + ", driver " + text(driver);
  }
  int64_t last_level_cache() const override { return properties_.l2CacheSize; }
  void* stream() const override { return stream_; }

  Bandwidth bandwidth() override {
    constexpr size_t bytes = size_t{1} << 30;
    const Array a(bytes), b(bytes), c(bytes);
    const int64_t pairs = bytes / sizeof(double2), quads = bytes / sizeof(double4_32a);
    const auto rate = [&](double moved, const std::function<void()>& work) {
      work();
      double least = 1e30;
      for (int pass = 0; pass < 10; ++pass) least = std::min(least, seconds(work));
      must(cudaGetLastError(), "bandwidth kernel");
      return moved / least * 1e-9;
    };
    Bandwidth best;
    const auto size = static_cast<double>(bytes);
    best.copy = rate(2 * size, [&] {
      must(cudaMemcpyAsync(a.data, b.data, bytes, cudaMemcpyDeviceToDevice, stream_), "cudaMemcpyAsync");
    });
    for (const int waves : {8, 16, 64, 256}) {
      const int grid = properties_.multiProcessorCount * waves;
      auto* to = static_cast<double2*>(a.data);
      const auto* from = static_cast<const double2*>(b.data);
      const auto* more = static_cast<const double2*>(c.data);
      best.copy =
          std::max(best.copy, rate(2 * size, [&] { copy_kernel<<<grid, block, 0, stream_>>>(to, from, pairs); }));
      best.triad = std::max(
          best.triad, rate(3 * size, [&] { triad_kernel<<<grid, block, 0, stream_>>>(to, from, more, 3.0, pairs); }));
      best.read = std::max(best.read, rate(size, [&] {
                             read_kernel<<<grid, block, 0, stream_>>>(static_cast<const double4_32a*>(b.data), quads,
                                                                      static_cast<double*>(a.data));
                           }));
    }
    return best;
  }

 private:
  int32_t device_;
  cudaDeviceProp properties_{};
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

}  // namespace
}  // namespace kkc::bench

extern "C" __attribute__((visibility("default"))) kkc::bench::Gpu* kkc_bench_gpu(int32_t device_id) {
  return new kkc::bench::CudaGpu(device_id);
}
