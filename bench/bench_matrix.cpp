#include "bench_matrix.hpp"

#include <complex>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace kkc::bench {
namespace {

double uniform(uint64_t i) {  // splitmix64 [Steele, Lea, Flood, OOPSLA 2014]
  i = (i + 1) * 0x9e3779b97f4a7c15u;
  i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9u;
  i = (i ^ (i >> 27)) * 0x94d049bb133111ebu;
  i ^= i >> 31;
  return static_cast<double>(i >> 11) * 0x1p-52 - 1.0;
}

template <class T>
void fill(void* data, int64_t parts, uint64_t seed) {
  auto* out = static_cast<T*>(data);
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < parts; ++i) out[i] = static_cast<T>(uniform(static_cast<uint64_t>(i) + (seed << 40)));
}

}  // namespace

CsrArrays arrays_of(const kkc_matrix_t* A) {
  CsrArrays a;
  check(kkc_csr_get(A, &a.rows, &a.cols, &a.nnz, &a.index, &a.scalar, &a.base, &a.offsets, &a.indices, &a.values),
        "kkc_csr_get");
  return a;
}

Matrix load_matrix(const Session& session, kkc_context_t* ctx, const std::string& name, kkc_index_pair_t index,
                   kkc_scalar_t scalar) {
  namespace fs = std::filesystem;
  if (name.find(".mtx") != std::string::npos) {
    fs::path path = name;
    const char* folder = std::getenv("KKC_DATA_DIR");
    if (!fs::exists(path) && folder != nullptr) path = fs::path(folder) / name;
    return make<Matrix>("kkc_matrix_read", kkc_matrix_read, ctx, path.c_str(), index, scalar);
  }
  auto options = make<Options>("kkc_options_create", kkc_options_create);
  check(kkc_options_set_text(options.get(), "size", session.arguments().size.c_str()), "kkc_options_set_text");
  return make<Matrix>("kkc_matrix_generate", kkc_matrix_generate, ctx, name.c_str(), options.get(), index, scalar);
}

std::vector<unsigned char> random_vector(kkc_scalar_t scalar, int64_t count, uint64_t seed) {
  std::vector<unsigned char> bytes(static_cast<size_t>(count * scalar_bytes(scalar)));
  const int64_t parts = is_complex(scalar) ? 2 * count : count;
  if (scalar == KKC_TYPE_F32 || scalar == KKC_TYPE_C64)
    fill<float>(bytes.data(), parts, seed);
  else
    fill<double>(bytes.data(), parts, seed);
  return bytes;
}

std::array<unsigned char, 16> element(kkc_scalar_t scalar, double value) {
  std::array<unsigned char, 16> bytes{};
  const auto put = [&](auto number) { std::memcpy(bytes.data(), &number, sizeof number); };
  switch (scalar) {
    case KKC_TYPE_F32: put(static_cast<float>(value)); break;
    case KKC_TYPE_F64: put(value); break;
    case KKC_TYPE_C64: put(std::complex<float>(static_cast<float>(value))); break;
    default: put(std::complex<double>(value)); break;
  }
  return bytes;
}

}  // namespace kkc::bench
