// The Matrix Market reader, called below the C boundary so that it takes text from memory and cuts it anywhere. The
// first byte chooses types, blocks and threads, the rest is the file. What is read must be a sorted matrix without
// duplicates, whatever the blocks and threads; what is refused must carry a sentence.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "core/matrix_market_read.hpp"

namespace {

using namespace kkc;

/// Host memory in small pieces only, and any number of threads.
class FuzzQueue final : public Queue {
 public:
  int32_t threads = 1;
  Device device() const override { return Device::serial; }
  int32_t device_id() const override { return 0; }
  const DeviceTable& table() const override { std::abort(); }
  int32_t concurrency() const override { return threads; }
  bool reads(Space) const override { return true; }
  void* allocate(Space, size_t bytes) override {
    return bytes > (size_t{1} << 22) ? nullptr : ::operator new (bytes, std::align_val_t{memory_alignment});
  }
  void deallocate(Space, void* data, size_t) noexcept override {
    ::operator delete (data, std::align_val_t{memory_alignment});
  }
  void copy(void* destination, const void* source, size_t bytes) override { std::memcpy(destination, source, bytes); }
  void synchronize() override {}
  void set_stream(void*) override {}
  void* stream() const override { return nullptr; }
  void describe(Info&) const override {}

 private:
  void enter(Thunk thunk, void* argument, Failure&) const override { thunk(argument); }
};

void must(bool condition) {
  if (!condition) std::abort();
}

/// What a call gave, as bytes that can be compared.
struct Outcome {
  kkc_status_t status = KKC_STATUS_SUCCESS;
  std::string bytes;
  bool operator==(const Outcome&) const = default;
};

void append(std::string& bytes, const Buffer& buffer, size_t used) {
  if (used > 0) bytes.append(static_cast<const char*>(buffer.data()), used);
}

template <class I, class O>
void check_rows(const HostCsr& a) {
  const O* const offsets = a.offsets.as<O>();
  const I* const indices = a.indices.as<I>();
  must(offsets[0] == 0 && offsets[a.rows] == a.nnz);
  for (int64_t i = 0; i < a.rows; ++i) {
    must(offsets[i] <= offsets[i + 1]);
    for (O k = offsets[i]; k < offsets[i + 1]; ++k)
      must(indices[k] < a.cols && (k > offsets[i] ? indices[k - 1] < indices[k] : indices[k] >= 0));
  }
}

template <class Call>
Outcome outcome(const Call& call) {
  Outcome out;
  try {
    out.bytes = call();
  } catch (const Error& e) {
    out.status = e.status();
    out.bytes = e.what();
    must(!out.bytes.empty());
    must(out.status == KKC_STATUS_PARSE || out.status == KKC_STATUS_OVERFLOW ||
         out.status == KKC_STATUS_TYPE_MISMATCH || out.status == KKC_STATUS_OUT_OF_MEMORY ||
         out.status == KKC_STATUS_NOT_SUPPORTED);
  }
  return out;
}

Outcome read(std::string_view text, bool dense, int types, size_t block, int threads) {
  static const auto queue = std::make_shared<FuzzQueue>();
  static const auto memory = std::make_shared<const Memory>(queue, nullptr);
  queue->threads = threads;
  if (dense) {
    constexpr Scalar elements[] = {Scalar::u8, Scalar::i32, Scalar::i64, Scalar::f64};
    return outcome([&] {
      const HostDense d = parse_matrix_market_dense(text, "file", elements[types],
                                                    types % 2 == 0 ? Layout::left : Layout::right, memory, block);
      std::string bytes = cat(d.rows, "x", d.cols, ":");
      append(bytes, d.data, static_cast<size_t>(d.rows * d.cols) * size_of(d.scalar));
      return bytes;
    });
  }
  constexpr Scalar scalars[] = {Scalar::none, Scalar::f32, Scalar::f64, Scalar::c128};
  const Scalar scalar = scalars[types];
  const IndexPair pair = types == 1 ? IndexPair::i64_64 : IndexPair::i32_32;
  return outcome([&] {
    const HostCsr a = parse_matrix_market(text, "file", pair, scalar, memory, block);
    pair == IndexPair::i64_64 ? check_rows<int64_t, int64_t>(a) : check_rows<int32_t, int32_t>(a);
    std::string bytes = cat(a.rows, "x", a.cols, ":");
    append(bytes, a.offsets, static_cast<size_t>(a.rows + 1) * offset_size(pair));
    append(bytes, a.indices, static_cast<size_t>(a.nnz) * ordinal_size(pair));
    append(bytes, a.values, static_cast<size_t>(a.nnz) * size_of(scalar));
    return bytes;
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t choice = data[0];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool dense = (choice & 1) != 0;
  const int types = (choice >> 1) & 3;
  const Outcome whole = read(text, dense, types, size_t{1} << 16, 1);
  constexpr size_t blocks[] = {1, 7, 32, 100};
  const Outcome cut = read(text, dense, types, blocks[(choice >> 3) & 3], (choice & 32) != 0 ? 3 : 1);
  // How much of a damaged gzip member was read before the damage shows depends on the blocks.
  const bool zipped = text.substr(0, 2) == "\x1f\x8b";
  must(zipped ? (whole.status == KKC_STATUS_SUCCESS) == (cut.status == KKC_STATUS_SUCCESS) : whole == cut);
  return 0;
}
