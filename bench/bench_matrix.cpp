#include "bench_matrix.hpp"

#include <cmath>
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

/// Options of the generator for about so many rows: grids as long as wide.
void set_rows(kkc_options_t* options, const std::string& name, int64_t rows) {
  const auto set = [&](const char* key, double value) {
    check(kkc_options_set_int(options, key, std::max<int64_t>(1, std::llround(value))), "kkc_options_set_int");
  };
  const auto n = static_cast<double>(rows);
  if (name == "lap2d5") {
    for (const char* key : {"nx", "ny"}) set(key, std::sqrt(n));
  } else if (name == "lap3d7" || name == "lap3d27" || name == "elas3") {
    for (const char* key : {"nx", "ny", "nz"}) set(key, std::cbrt(name == "elas3" ? n / 3 : n));
  } else if (name.rfind("rmat", 0) == 0) {
    set("scale", std::log2(n));
  } else {
    set("rows", n);
  }
}

}  // namespace

std::string family_of(const std::string& name) { return name.substr(0, name.find('@')); }

CsrArrays arrays_of(const kkc_matrix_t* A) {
  CsrArrays a;
  check(kkc_csr_get(A, &a.rows, &a.cols, &a.nnz, &a.index, &a.scalar, &a.base, &a.offsets, &a.indices, &a.values),
        "kkc_csr_get");
  return a;
}

Matrix load_matrix(const Session& session, kkc_context_t* ctx, const std::string& name, kkc_index_pair_t index,
                   kkc_scalar_t scalar, bool dominant) {
  namespace fs = std::filesystem;
  const std::string suffix = ":laplacian";
  if (name.size() > suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0) {
    const Matrix A = load_matrix(session, ctx, name.substr(0, name.size() - suffix.size()), index, scalar);
    return make<Matrix>("kkc_matrix_laplacian", kkc_matrix_laplacian, ctx, A.get(), 1.0);
  }
  if (name.find(".mtx") != std::string::npos) {
    fs::path path = name;
    const char* folder = std::getenv("KKC_DATA_DIR");
    if (!fs::exists(path) && folder != nullptr) path = fs::path(folder) / name;
    return make<Matrix>("kkc_matrix_read", kkc_matrix_read, ctx, path.c_str(), index, scalar);
  }
  auto options = make<Options>("kkc_options_create", kkc_options_create);
  check(kkc_options_set_text(options.get(), "size", session.arguments().size.c_str()), "kkc_options_set_text");
  if (dominant) check(kkc_options_set_text(options.get(), "diagonal", "dominant"), "kkc_options_set_text");
  const std::string family = family_of(name);
  if (family != name) {
    char* end = nullptr;
    const char* const text = name.c_str() + family.size() + 1;
    const long long rows = std::strtoll(text, &end, 10);
    if (end == text || *end != 0 || rows < 1) throw std::runtime_error(name + ": expected a number of rows after @");
    set_rows(options.get(), family, rows);
  }
  return make<Matrix>("kkc_matrix_generate", kkc_matrix_generate, ctx, family.c_str(), options.get(), index, scalar);
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
