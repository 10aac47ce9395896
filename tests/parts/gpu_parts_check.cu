// Scans, selections, sorts and hash tables of src/device as kernels and drivers use them, on the first GPU. Exit
// status: 0 all passed, 1 some failed, 77 no GPU.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "device/gpu_bitonic.hpp"
#include "device/gpu_hash_accumulator.hpp"
#include "device/gpu_scan.hpp"
#include "device/gpu_select.hpp"
#include "device/gpu_sort.hpp"
#include "parts/parts_queue.hpp"

namespace kkc::testing {
namespace {

int checks = 0, failures = 0;

void expect(bool condition, const std::string& what) {
  ++checks;
  if (condition) return;
  if (++failures <= 20) std::printf("FAILED: %s\n", what.c_str());
}

/// Device memory for the length of a test.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(int64_t count) : count_(count) {
    gpu::check(cudaMalloc(&data_, std::max<size_t>(1, static_cast<size_t>(count) * sizeof(T))), "allocating");
    gpu::check(cudaMemset(data_, 0xa5, static_cast<size_t>(count) * sizeof(T)), "filling");
  }
  explicit OnDevice(const std::vector<T>& values) : OnDevice(static_cast<int64_t>(values.size())) {
    gpu::check(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "copying");
  }
  ~OnDevice() { cudaFree(data_); }
  OnDevice(const OnDevice&) = delete;
  T* data() const { return data_; }
  std::vector<T> read() const {
    std::vector<T> values(static_cast<size_t>(count_));
    gpu::check(cudaMemcpy(values.data(), data_, values.size() * sizeof(T), cudaMemcpyDeviceToHost), "reading");
    return values;
  }

 private:
  int64_t count_;
  T* data_ = nullptr;
};

class GpuPartsQueue final : public BasicPartsQueue<gpu::KeepingQueue> {
 public:
  using BasicPartsQueue::BasicPartsQueue;
  ~GpuPartsQueue() override { cudaFreeHost(watched_); }
  gpu::KeptWords& kept_words(gpu::KeptWords::Use use, size_t bytes) override {
    gpu::KeptWords& kept = kept_[use];
    if (bytes > kept.bytes) {
      memory_.push_back(std::make_unique<OnDevice<unsigned long long>>(static_cast<int64_t>(bytes / 8)));
      kept = {memory_.back()->data(), bytes, 0, 0};
    }
    return kept;
  }
  void read_words(void* destination, const void* source, size_t bytes) override {
    gpu::check(cudaMemcpy(destination, source, bytes, cudaMemcpyDeviceToHost), "reading");
  }
  void write_words(void* destination, const void* source, size_t bytes) override {
    gpu::check(cudaMemcpy(destination, source, bytes, cudaMemcpyHostToDevice), "writing");
  }
  gpu::Watched watch() override {
    if (watched_ == nullptr) gpu::check(cudaMallocHost(&watched_, 2 * most_read), "allocating");
    return {watched_, ++reads_};
  }
  void await(void* destination, size_t bytes) override {
    gpu::check(cudaDeviceSynchronize(), "waiting");
    for (size_t i = 0; i < bytes / sizeof(uint32_t); ++i) {
      expect(watched_[i] >> 32 == reads_, "a word has come");
      std::memcpy(static_cast<char*>(destination) + i * sizeof(uint32_t), &watched_[i], sizeof(uint32_t));
    }
  }

 private:
  gpu::WatchedWord* watched_ = nullptr;
  uint32_t reads_ = 0;
  gpu::KeptWords kept_[gpu::KeptWords::uses];
  std::vector<std::unique_ptr<OnDevice<unsigned long long>>> memory_;
};

std::mt19937_64 random_bits(20260101);

// ---- what the last block hands over ----

/// Adds up numbers below n.
struct AddUp {
  static constexpr int threads = 64;
  uint64_t n;
  unsigned long long* sum;

  __device__ void operator()() const {
    const uint64_t i = uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= n) return;  // before the others of its block
    atomicAdd(sum, static_cast<unsigned long long>(i));
  }
};

struct Number {
  static constexpr int threads = 32;
  uint32_t* numbers;
  __device__ void operator()() const {
    numbers[blockIdx.x * threads + threadIdx.x] = blockIdx.x * threads + threadIdx.x;
  }
};

void reads(Queue& queue) {
  for (const uint64_t n : {0u, 1u, 64u, 65u, 1000u, 300000u, 5000000u})
    for (int again = 0; again < 3; ++again) {
      const OnDevice<unsigned long long> sum(std::vector<unsigned long long>(1, 0));
      const auto found = gpu::launch_and_read<uint64_t>(queue, gpu::blocks_for(static_cast<int64_t>(n), AddUp::threads),
                                                        AddUp::threads, 0, AddUp{n, sum.data()}, sum.data());
      expect(n == 0 ? found == 0 : found == n * (n - 1) / 2, "what all have added, " + std::to_string(n));
    }
  constexpr size_t most = gpu::KeepingQueue::most_read / sizeof(uint32_t);
  const OnDevice<uint32_t> numbers(static_cast<int64_t>(most));
  const auto found = gpu::launch_and_read<std::array<uint32_t, most>>(queue, most / Number::threads, Number::threads, 0,
                                                                      Number{numbers.data()}, numbers.data());
  for (uint32_t i = 0; i < most; ++i) expect(found[i] == i, "as many words as can be read");
}

// ---- scan ----

template <class In, class Out>
void scan_case(Queue& queue, int64_t n, int shift, bool in_place, Out first) {
  std::vector<In> counts(static_cast<size_t>(n + shift));
  for (In& c : counts) c = static_cast<In>(random_bits() % 7);
  std::vector<Out> expected(static_cast<size_t>(n) + 1, first);
  for (int64_t i = 0; i < n; ++i)
    expected[static_cast<size_t>(i) + 1] =
        static_cast<Out>(expected[static_cast<size_t>(i)] + counts[static_cast<size_t>(i + shift)]);
  counts.push_back(0);
  const OnDevice<In> given(counts);
  const OnDevice<Out> other(n + 1 + shift);
  Out* const offsets = in_place ? reinterpret_cast<Out*>(given.data()) : other.data();
  gpu::exclusive_scan(queue, given.data() + shift, offsets + shift, n, first);
  std::vector<Out> found(static_cast<size_t>(n) + 1);
  cudaMemcpy(found.data(), offsets + shift, found.size() * sizeof(Out), cudaMemcpyDeviceToHost);
  expect(found == expected, "scan of " + std::to_string(n) + " elements of " + std::to_string(sizeof(In)) + " to " +
                                std::to_string(sizeof(Out)) + " bytes, shift " + std::to_string(shift) +
                                (in_place ? ", in place" : ""));
}

template <class In, class Out>
void scans(Queue& queue) {
  const int64_t tile = gpu::scan_tile<Out>;
  for (const int64_t n :
       {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{31}, int64_t{33}, tile - 1, tile, tile + 1, 2 * tile,
        128 * tile - 1, 128 * tile, 128 * tile + 1, 129 * tile, 257 * tile + 17, 1000 * tile})
    for (const int shift : {0, 1})
      for (const Out first : {Out{0}, Out{1}}) {
        scan_case<In, Out>(queue, n, shift, false, first);
        if constexpr (std::is_same_v<In, Out>) scan_case<In, Out>(queue, n, shift, true, first);
      }
}

/// Numbers of launches and tickets of blocks begin again once 32 bits no longer count them.
void scans_that_begin_again(Queue& queue) {
  const auto several = [&] {
    for (const int64_t tiles : {3, 200, 2, 5})
      scan_case<int32_t, int64_t>(queue, tiles * gpu::scan_tile<int64_t>, 0, false, 0);
  };
  gpu::KeptWords& kept = gpu::keeping(queue).kept_words(gpu::KeptWords::scans, 1);
  several();
  kept.number = UINT32_MAX - 2;
  several();
  expect(kept.number < UINT32_MAX - 2, "numbers of scans begin again");
  kept.tickets = UINT32_MAX - 100;
  expect(cudaMemcpy(kept.data, &kept.tickets, sizeof kept.tickets, cudaMemcpyHostToDevice) == cudaSuccess, "a ticket");
  several();
  expect(kept.tickets < UINT32_MAX - 100, "tickets of scans begin again");
}

// ---- sort ----

template <class Key, class Payload>
void sort_case(Queue& queue, int64_t n, int begin, int end, bool places, int64_t portion = gpu::radix_portion) {
  const Key mask = (end - begin >= static_cast<int>(8 * sizeof(Key)) ? ~Key{0} : (Key{1} << (end - begin)) - 1)
                   << begin;
  std::vector<Key> keys(static_cast<size_t>(n));
  for (Key& k : keys) k = static_cast<Key>(random_bits());
  if (n > 3) keys[static_cast<size_t>(n) - 1] = ~Key{0};
  std::vector<int64_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return (keys[static_cast<size_t>(a)] & mask) < (keys[static_cast<size_t>(b)] & mask);
  });
  const OnDevice<Key> first(keys), second(n);
  const OnDevice<unsigned char> scratch(static_cast<int64_t>(gpu::sort_scratch_bytes<Key, Payload>(n)));
  const std::string name = "sort of " + std::to_string(n) + " keys of " + std::to_string(sizeof(Key)) +
                           " bytes, bits " + std::to_string(begin) + " to " + std::to_string(end) +
                           (places ? ", places" : "");
  std::vector<Key> expected(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) expected[i] = keys[static_cast<size_t>(order[i])];
  if constexpr (std::is_same_v<Payload, gpu::NoPayload>) {
    const int where = gpu::sort_keys<Key>(queue, {first.data(), second.data()}, n, begin, end, scratch.data());
    expect((where == 0 ? first : second).read() == expected, name);
  } else {
    std::vector<Payload> values(keys.size()), expected_values(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) values[i] = static_cast<Payload>(places ? i : 3 * i + 1);
    for (size_t i = 0; i < keys.size(); ++i) expected_values[i] = values[static_cast<size_t>(order[i])];
    if (places) std::fill(values.begin(), values.end(), Payload{7});
    const OnDevice<Payload> values_first(values), values_second(n);
    int where = 0;
    if (portion == gpu::radix_portion) {
      where = gpu::sort_pairs<Key, Payload>(queue, {first.data(), second.data()},
                                            {values_first.data(), values_second.data()}, n, begin, end, scratch.data(),
                                            places ? gpu::PayloadIs::places : gpu::PayloadIs::given);
    } else {
      const int passes = gpu::radix_passes(begin, end);
      gpu::radix_sort<Key, Payload>(
          queue, gpu::BitDigits<Key>{begin, end}, passes, n, scratch.data(), gpu::counts_of_plans(queue),
          [&](int pass, bool output) {
            return (pass + output) % 2 == 0 ? gpu::RadixArrays<Key, Payload>{first.data(), values_first.data()}
                                            : gpu::RadixArrays<Key, Payload>{second.data(), values_second.data()};
          },
          portion);
      where = passes % 2;
    }
    expect((where == 0 ? first : second).read() == expected, name + ": keys");
    expect((where == 0 ? values_first : values_second).read() == expected_values, name + ": payload");
  }
}

template <class Key, class Payload>
void sorts(Queue& queue) {
  gpu::prepare_sort<Key, Payload>(queue);
  const int64_t tile = gpu::radix_tile<Key, Payload>;
  const int bits = static_cast<int>(8 * sizeof(Key));
  for (const int64_t n :
       {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{33}, tile - 1, tile, tile + 1, 3 * tile + 5, 300 * tile + 11}) {
    sort_case<Key, Payload>(queue, n, 0, bits, false);
    sort_case<Key, Payload>(queue, n, 0, 3, false);
    sort_case<Key, Payload>(queue, n, 5, 21, false);
    sort_case<Key, Payload>(queue, n, 0, 0, false);
    if (!std::is_same_v<Payload, gpu::NoPayload>) sort_case<Key, Payload>(queue, n, 0, 20, true);
  }
  for (const int64_t portion : {tile, 3 * tile + 1})
    sort_case<Key, Payload>(queue, 10 * tile + 77, 0, 20, false, portion);
}

// ---- bitonic ----

struct Pair {
  uint32_t key, place;
};
struct LessPair {
  __host__ __device__ bool operator()(const Pair& a, const Pair& b) const {
    return a.key < b.key || (a.key == b.key && a.place < b.place);
  }
};
struct LessKey {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

template <int per_lane, class T, class Less>
struct SortInRegisters {
  static constexpr int threads = 64;
  T* data;
  int lanes;
  __device__ void operator()() const {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1), group = static_cast<int>(threadIdx.x) / lanes;
    T x[per_lane];
    for (int e = 0; e < per_lane; ++e) x[e] = data[group * lanes * per_lane + e * lanes + lane];
    gpu::bitonic_sort(x, lanes, Less{});
    for (int e = 0; e < per_lane; ++e) data[group * lanes * per_lane + e * lanes + lane] = x[e];
  }
};

struct SortInShared {
  static constexpr int threads = 128;
  double* keys;
  int16_t* values;  // null: keys alone
  int count;
  __device__ void operator()() const {
    __shared__ double k[4096];
    __shared__ int16_t v[4096];
    for (int i = static_cast<int>(threadIdx.x); i < count; i += threads) {
      k[i] = keys[i];
      if (values != nullptr) v[i] = values[i];
    }
    if (values != nullptr)
      gpu::bitonic_sort_shared(k, v, count, LessKey{});
    else
      gpu::bitonic_sort_shared(k, count, LessKey{});
    for (int i = static_cast<int>(threadIdx.x); i < count; i += threads) {
      keys[i] = k[i];
      if (values != nullptr) values[i] = v[i];
    }
  }
};

template <int per_lane>
void bitonic_in_registers(Queue& queue) {
  for (int lanes = 2; lanes <= 32; lanes *= 2) {
    std::vector<Pair> pairs(static_cast<size_t>(64 * per_lane));
    std::vector<int64_t> numbers(pairs.size());
    for (size_t i = 0; i < pairs.size(); ++i) {
      pairs[i] = {static_cast<uint32_t>(random_bits() % 9), static_cast<uint32_t>(i)};
      numbers[i] = static_cast<int64_t>(random_bits());
    }
    const OnDevice<Pair> pairs_there(pairs);
    const OnDevice<int64_t> numbers_there(numbers);
    gpu::launch(queue, 1, 64, 0, SortInRegisters<per_lane, Pair, LessPair>{pairs_there.data(), lanes});
    gpu::launch(queue, 1, 64, 0, SortInRegisters<per_lane, int64_t, LessKey>{numbers_there.data(), lanes});
    for (size_t g = 0; g < pairs.size(); g += static_cast<size_t>(lanes * per_lane)) {
      std::sort(pairs.begin() + g, pairs.begin() + g + lanes * per_lane, LessPair{});
      std::sort(numbers.begin() + g, numbers.begin() + g + lanes * per_lane);
    }
    const auto found = pairs_there.read();
    bool same = true;
    for (size_t i = 0; i < pairs.size(); ++i)
      same = same && found[i].key == pairs[i].key && found[i].place == pairs[i].place;
    const std::string name =
        "bitonic sort, " + std::to_string(per_lane) + " a lane, " + std::to_string(lanes) + " lanes";
    expect(same, name);
    expect(numbers_there.read() == numbers, name + ", int64");
  }
}

template <int per_lane, class T>
struct SortRuns {
  static constexpr int threads = 64;
  T* data;
  __device__ void operator()() const {
    T* const mine = data + static_cast<int>(threadIdx.x) * per_lane;
    T x[per_lane];
    for (int e = 0; e < per_lane; ++e) x[e] = mine[e];
    gpu::sort_runs(x);
    for (int e = 0; e < per_lane; ++e) mine[e] = x[e];
  }
};

template <class T, int per_lane>
void sorted_runs(Queue& queue) {
  for (const T values : {T{3}, static_cast<T>(~T{0})}) {
    std::vector<T> numbers(static_cast<size_t>(64 * per_lane));
    for (T& number : numbers) number = static_cast<T>(random_bits()) % values;
    const OnDevice<T> there(numbers);
    gpu::launch(queue, 1, 64, 0, SortRuns<per_lane, T>{there.data()});
    std::sort(numbers.begin(), numbers.begin() + 32 * per_lane);
    std::sort(numbers.begin() + 32 * per_lane, numbers.end());
    expect(there.read() == numbers, "sort of runs, " + std::to_string(per_lane) + " a lane of " +
                                        std::to_string(sizeof(T)) + " bytes, below " + std::to_string(values));
  }
}

void bitonic_in_shared(Queue& queue) {
  for (int count = 1; count <= 4096; count *= 2) {
    std::vector<double> keys(static_cast<size_t>(count));
    std::vector<int16_t> values(keys.size());
    for (int i = 0; i < count; ++i) {
      keys[static_cast<size_t>(i)] = static_cast<double>(static_cast<int64_t>(random_bits()));
      values[static_cast<size_t>(i)] = static_cast<int16_t>(i);
    }
    const OnDevice<double> keys_there(keys), alone(keys);
    const OnDevice<int16_t> values_there(values);
    gpu::launch(queue, 1, 128, 0, SortInShared{keys_there.data(), values_there.data(), count});
    gpu::launch(queue, 1, 128, 0, SortInShared{alone.data(), nullptr, count});
    std::vector<double> expected = keys;
    std::sort(expected.begin(), expected.end());
    const auto found = keys_there.read();
    const auto found_values = values_there.read();
    bool follows = true;
    for (size_t i = 0; i < keys.size(); ++i)
      follows = follows && keys[static_cast<size_t>(found_values[i])] == found[i];
    const std::string name = "bitonic sort of " + std::to_string(count) + " in shared memory";
    expect(found == expected, name);
    expect(follows, name + ": values");
    expect(alone.read() == expected, name + ": keys alone");
  }
}

// ---- hash ----

/// A block a row of C: its warps take turns, the lanes of one run along one row of B.
template <class Key, int threads_in_block>
struct AccumulateRow {
  static constexpr int threads = threads_in_block;
  const int* starts;  // of `rows` rows of distinct keys
  const Key* keys;
  const double* values;
  int rows;
  uint32_t places;
  Key *found_keys, *inserted_keys;
  double* found_values;
  int* counts;  // entries, fresh inserts, keys found, keys that should not be there
  __device__ void operator()() const {
    __shared__ Key table_keys[1024], set_keys[1024];
    __shared__ double table_values[1024];
    __shared__ int cursor, set_cursor, fresh_inserts;
    const int thread = static_cast<int>(threadIdx.x);
    const gpu::HashAccumulator<Key, double> row{table_keys, table_values, places - 1};
    const gpu::HashAccumulator<Key, void> set{set_keys, nullptr, places - 1};
    row.clear(thread, threads);
    set.clear(thread, threads);
    if (thread == 0) cursor = set_cursor = fresh_inserts = 0;
    __syncthreads();
    for (int r = 0; r < rows; ++r) {
      for (int p = starts[r] + thread; p < starts[r + 1]; p += threads) row.add(keys[p], values[p]);
      __syncthreads();
    }
    for (int p = thread; p < starts[rows]; p += threads) {  // all rows at once: equal keys meet
      bool fresh;
      set.insert(keys[p], fresh);
      if (fresh) atomicAdd(&fresh_inserts, 1);
    }
    __syncthreads();
    for (int p = thread; p < starts[rows]; p += threads)
      if (set.find(keys[p]) >= 0) atomicAdd(&counts[2], 1);
    if (thread == 0 && set.find(static_cast<Key>(-7)) >= 0) atomicAdd(&counts[3], 1);
    row.compact(found_keys, found_values, &cursor, thread, threads);
    set.compact(inserted_keys, static_cast<int*>(nullptr), &set_cursor, thread, threads);
    __syncthreads();
    if (thread == 0) {
      counts[0] = cursor;
      counts[1] = set_cursor == fresh_inserts ? fresh_inserts : -1;
    }
  }
};

template <class Key, int threads>
void hashes(Queue& queue, int rows, int per_row, Key range, Key step) {
  std::vector<int> starts{0};
  std::vector<Key> keys;
  std::vector<double> values;
  std::map<Key, double> expected;
  for (int r = 0; r < rows; ++r) {
    std::map<Key, double> row;
    while (static_cast<int>(row.size()) < per_row)
      row[static_cast<Key>(random_bits() % static_cast<uint64_t>(range)) * step] =
          static_cast<double>(random_bits() % 97);
    for (const auto& [key, value] : row) {
      keys.push_back(key);
      values.push_back(value);
      expected[key] += value;
    }
    starts.push_back(static_cast<int>(keys.size()));
  }
  const OnDevice<int> starts_there(starts), counts(std::vector<int>(4, 0));
  const OnDevice<Key> keys_there(keys), found_keys(4096), inserted(4096);
  const OnDevice<double> values_there(values), found_values(4096);
  const uint32_t places = gpu::hash_capacity(static_cast<uint32_t>(expected.size()));
  const std::string name = "hash of " + std::to_string(rows) + " rows of " + std::to_string(per_row) + " keys of " +
                           std::to_string(sizeof(Key)) + " bytes, " + std::to_string(threads) + " threads";
  expect(places <= 1024, name + ": fits");
  gpu::launch(queue, 1, threads, 0,
              AccumulateRow<Key, threads>{starts_there.data(), keys_there.data(), values_there.data(), rows, places,
                                          found_keys.data(), inserted.data(), found_values.data(), counts.data()});
  const auto count = counts.read();
  expect(count[0] == static_cast<int>(expected.size()), name + ": entries");
  expect(count[1] == static_cast<int>(expected.size()), name + ": fresh inserts");
  expect(count[2] == static_cast<int>(keys.size()) && count[3] == 0, name + ": find");
  std::map<Key, double> found;
  const auto k = found_keys.read(), s = inserted.read();
  const auto v = found_values.read();
  for (int i = 0; i < count[0] && i < 4096; ++i) found[k[static_cast<size_t>(i)]] = v[static_cast<size_t>(i)];
  expect(found == expected, name + ": sums");
  bool all = true;
  for (int i = 0; i < count[1] && i < 4096; ++i) all = all && expected.count(s[static_cast<size_t>(i)]) == 1;
  expect(all, name + ": keys of the set");
}

/// A table without room says so.
struct Overfill {
  static constexpr int threads = 32;
  int* refused;
  __device__ void operator()() const {
    __shared__ int keys[8];
    __shared__ float values[8];
    const gpu::HashAccumulator<int, float> row{keys, values, 7};
    row.clear(static_cast<int>(threadIdx.x), 32);
    gpu::sync32();
    if (!row.add(static_cast<int>(threadIdx.x), 1.0f)) atomicAdd(refused, 1);
  }
};

// ---- selection ----

struct IsMultiple {
  int64_t of;
  __device__ bool operator()(int64_t i) const { return i % of == of - 1; }
};
struct ListItems {
  int64_t* list;
  __device__ void operator()(int32_t number, int64_t i) const { list[number] = i; }
};

void selections(Queue& queue) {
  for (const int64_t n : {1, 31, 32, 33, 255, 256, 257, 5000, 300000})
    for (const int64_t of : {1, 2, 31, 1000, 400000}) {
      std::vector<int64_t> expected;
      for (int64_t i = of - 1; i < n; i += of) expected.push_back(i);
      const int64_t words = (n + 31) / 32;
      const OnDevice<uint32_t> bits(words);
      const OnDevice<int32_t> counts(words), before(words + 1);
      const OnDevice<int64_t> list(std::ssize(expected));
      gpu::launch_over(queue, n, gpu::MarkWanted<IsMultiple>{{of}, n, bits.data(), counts.data()});
      gpu::exclusive_scan(queue, counts.data(), before.data(), words);
      gpu::launch_over(queue, n, gpu::TakeWanted<ListItems>{{list.data()}, n, bits.data(), before.data()});
      const std::string what = "selection of one in " + std::to_string(of) + " of " + std::to_string(n);
      expect(before.read().back() == std::ssize(expected), what + ": count");
      expect(list.read() == expected, what);
    }
}

int run() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    std::printf("skipped: no GPU\n");
    return 77;
  }
  int multiprocessors = 0;
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  GpuPartsQueue queue(multiprocessors, Device::cuda);
  reads(queue);
  scans<int32_t, int32_t>(queue);
  scans<int32_t, int64_t>(queue);
  scans<int64_t, int64_t>(queue);
  scans<int64_t, int32_t>(queue);
  scans_that_begin_again(queue);
  selections(queue);
  sorts<uint32_t, gpu::NoPayload>(queue);
  sorts<uint32_t, uint32_t>(queue);
  sorts<uint32_t, int64_t>(queue);
  sorts<uint64_t, gpu::NoPayload>(queue);
  sorts<uint64_t, int32_t>(queue);
  sorts<uint64_t, double>(queue);
  bitonic_in_registers<1>(queue);
  bitonic_in_registers<2>(queue);
  bitonic_in_registers<8>(queue);
  sorted_runs<uint32_t, 1>(queue);
  sorted_runs<uint32_t, 2>(queue);
  sorted_runs<uint32_t, 4>(queue);
  sorted_runs<uint32_t, 16>(queue);
  sorted_runs<uint32_t, 64>(queue);
  sorted_runs<uint64_t, 1>(queue);
  sorted_runs<uint64_t, 8>(queue);
  sorted_runs<uint64_t, 32>(queue);
  bitonic_in_shared(queue);
  hashes<int32_t, 32>(queue, 1, 1, 1, 1);
  hashes<int32_t, 32>(queue, 20, 30, 64, 1);
  hashes<int32_t, 32>(queue, 6, 100, 1000000000, 1);
  hashes<int32_t, 256>(queue, 40, 300, 600, 4096);
  hashes<int64_t, 32>(queue, 20, 30, 64, int64_t{1} << 33);
  hashes<int64_t, 256>(queue, 40, 300, 600, 1);
  const OnDevice<int> refused(std::vector<int>(1, 0));
  gpu::launch(queue, 1, 32, 0, Overfill{refused.data()});
  expect(refused.read()[0] == 24, "a full hash table refuses");
  expect(cudaDeviceSynchronize() == cudaSuccess, "the device is well");
  std::printf("%d of %d checks passed\n", checks - failures, checks);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kkc::testing

int main() { return kkc::testing::run(); }
