// CUB as a peer: DeviceScan, DeviceRadixSort, DeviceSegmentedSort.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <memory>
#include <numeric>

#include "peer.hpp"

namespace kkc::bench {
namespace {

void must(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}

/// Device memory of an entrant.
class Memory {
 public:
  explicit Memory(size_t bytes) { must(cudaMalloc(&data_, std::max<size_t>(bytes, 1)), "cudaMalloc"); }
  ~Memory() { cudaFree(data_); }
  Memory(const Memory&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

/// call(scratch, bytes): asked for the bytes first, then run with them.
template <class Call>
Entrant entrant(const std::string& name, const Call& call) {
  size_t bytes = 0;
  must(call(nullptr, bytes), name.c_str());
  auto scratch = std::make_shared<Memory>(bytes);
  return {name,
          false,
          0,
          [=] {
            size_t room = bytes;
            must(call(scratch->data(), room), name.c_str());
          },
          {}};
}

template <class T>
std::vector<Entrant> scan_of(const LinesProblem& p) {
  if (p.lines > 1) throw NotTaken("scans one line");
  return {entrant("cub::DeviceScan", [p](void* scratch, size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(scratch, bytes, static_cast<const T*>(p.x), static_cast<T*>(p.y), p.n,
                                         static_cast<cudaStream_t>(p.stream));
  })};
}

template <class T>
std::vector<Entrant> sort_of(const LinesProblem& p) {
  const auto* const x = static_cast<const T*>(p.x);
  auto* const y = static_cast<T*>(p.y);
  const auto stream = static_cast<cudaStream_t>(p.stream);
  // The places 0, 1, ... of each line, and where lines begin.
  std::vector<int32_t> places;
  if (p.places != nullptr) {
    places.resize(static_cast<size_t>(p.lines * p.n));
    for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int32_t>(static_cast<int64_t>(i) % p.n);
  }
  std::vector<int64_t> begins;
  if (p.lines > 1)
    for (int64_t l = 0; l <= p.lines; ++l) begins.push_back(l * p.n);
  auto from = std::make_shared<Memory>(places.size() * sizeof(int32_t));
  auto offsets = std::make_shared<Memory>(begins.size() * sizeof(int64_t));
  must(cudaMemcpy(from->data(), places.data(), places.size() * sizeof(int32_t), cudaMemcpyHostToDevice), "cudaMemcpy");
  must(cudaMemcpy(offsets->data(), begins.data(), begins.size() * sizeof(int64_t), cudaMemcpyHostToDevice),
       "cudaMemcpy");
  const auto* const in = static_cast<const int32_t*>(from->data());
  const auto* const at = static_cast<const int64_t*>(offsets->data());
  const auto keep = std::make_pair(from, offsets);
  if (p.lines > 1)
    return {entrant("cub::DeviceSegmentedSort", [=](void* scratch, size_t& bytes) {
      static_cast<void>(keep);
      return p.places != nullptr ? cub::DeviceSegmentedSort::StableSortPairs(scratch, bytes, x, y, in, p.places,
                                                                             p.lines * p.n, p.lines, at, at + 1, stream)
                                 : cub::DeviceSegmentedSort::StableSortKeys(scratch, bytes, x, y, p.lines * p.n,
                                                                            p.lines, at, at + 1, stream);
    })};
  return {entrant("cub::DeviceRadixSort", [=](void* scratch, size_t& bytes) {
    static_cast<void>(keep);
    return p.places != nullptr
               ? cub::DeviceRadixSort::SortPairs(scratch, bytes, x, y, in, p.places, p.n, 0, 8 * sizeof(T), stream)
               : cub::DeviceRadixSort::SortKeys(scratch, bytes, x, y, p.n, 0, 8 * sizeof(T), stream);
  })};
}

class CubPeer final : public Peer {
 public:
  std::string name() const override { return "cub"; }
  std::string version() const override { return "CUB " + std::to_string(CUB_VERSION); }
  bool serves(kkc_device_t device) const override { return device == KKC_DEVICE_CUDA; }
  std::vector<Entrant> view_scan(const LinesProblem& p) override {
    return p.scalar == KKC_TYPE_F64 ? scan_of<double>(p) : scan_of<float>(p);
  }
  std::vector<Entrant> view_sort(const LinesProblem& p) override {
    return p.scalar == KKC_TYPE_F64 ? sort_of<double>(p) : sort_of<float>(p);
  }
};

}  // namespace
}  // namespace kkc::bench

KKC_BENCH_EXPORT kkc::bench::Peer* kkc_bench_peer() { return new kkc::bench::CubPeer; }
