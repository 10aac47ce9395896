// Sparse matrices in plain host vectors, random ones, and their copies on devices.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "support/handles.hpp"

namespace kkc_test {

/// Base 0, 64-bit indices, whatever the device's copy will have.
template <class T>
struct HostCsr {
  int64_t rows = 0, cols = 0;
  std::vector<int64_t> offsets{0};
  std::vector<int64_t> indices;
  std::vector<T> values;
  int64_t nnz() const { return static_cast<int64_t>(indices.size()); }
};

/// Rows of given columns, with values to be overwritten.
template <class T = double>
HostCsr<T> from_rows(int64_t cols, const std::vector<std::vector<int64_t>>& rows) {
  HostCsr<T> A;
  A.rows = static_cast<int64_t>(rows.size());
  A.cols = cols;
  A.offsets.assign(1, 0);
  for (const auto& row : rows) {
    A.indices.insert(A.indices.end(), row.begin(), row.end());
    A.offsets.push_back(static_cast<int64_t>(A.indices.size()));
  }
  A.values.resize(A.indices.size());
  return A;
}

using Random = std::mt19937_64;

/// Uniform in [-1, 1), parts alike.
template <class T>
T random_value(Random& random) {
  const auto real = [&] { return static_cast<double>(random() >> 11) * 0x1p-52 - 1.0; };
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(real());
  } else {
    using R = typename T::value_type;
    const auto re = static_cast<R>(real());
    return T(re, static_cast<R>(real()));
  }
}

/// 0, 1, -1 or any number: coefficients whose special cases have code of their own.
template <class T>
T any_coefficient(Random& random) {
  switch (random() % 5) {
    case 0: return T(0);
    case 1: return T(1);
    case 2: return T(-1);
    default: return random_value<T>(random);
  }
}

template <class T>
std::vector<T> random_vector(Random& random, size_t n) {
  std::vector<T> v(n);
  for (T& e : v) e = random_value<T>(random);
  return v;
}

inline int64_t random_int(Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
}

/// How the rows of a random matrix look.
enum class Shape { few, empty_rows, dense_row, power_law, banded, stencil, blocks, unsorted_duplicates, no_entries };
inline constexpr Shape all_shapes[] = {
    Shape::few,     Shape::empty_rows, Shape::dense_row,           Shape::power_law, Shape::banded,
    Shape::stencil, Shape::blocks,     Shape::unsorted_duplicates, Shape::no_entries};

inline const char* name(Shape shape) {
  constexpr const char* names[] = {"few",     "empty_rows", "dense_row",           "power_law", "banded",
                                   "stencil", "blocks",     "unsorted_duplicates", "no_entries"};
  return names[static_cast<int>(shape)];
}

namespace detail {

/// Columns of one row; sorted and distinct unless the shape says otherwise.
inline std::vector<int64_t> random_columns(Random& random, Shape shape, int64_t row, int64_t rows, int64_t cols) {
  std::vector<int64_t> columns;
  const auto any = [&](int64_t n) {
    for (int64_t i = 0; i < n; ++i) columns.push_back(random_int(random, 0, cols - 1));
  };
  const auto offset = [&](int64_t distance) {
    if (row + distance >= 0 && row + distance < cols) columns.push_back(row + distance);
  };
  switch (shape) {
    case Shape::few: any(random_int(random, 0, 9)); break;
    case Shape::empty_rows:
      if (random() % 4 == 0) any(random_int(random, 1, 12));
      break;
    case Shape::dense_row:
      if (row == rows / 3) {
        columns.resize(static_cast<size_t>(cols));
        std::iota(columns.begin(), columns.end(), int64_t{0});
      } else {
        any(2);
      }
      break;
    case Shape::power_law:
      any(std::min<int64_t>(cols, int64_t{1} << std::min<int>(__builtin_ctzll(random() | (1ull << 40)), 14)));
      break;
    case Shape::banded:
      for (int64_t d = -4; d <= 4; ++d) offset(d);
      break;
    case Shape::stencil:
      for (const int64_t d : {-57, -8, -1, 0, 1, 8, 57}) offset(d);
      break;
    case Shape::blocks:
      for (const int64_t d : {-30, -3, 0, 3, 30})
        for (int64_t i = 0; i < 3; ++i) offset(d - row % 3 + i);
      break;
    case Shape::unsorted_duplicates:
      any(random_int(random, 0, 20));
      if (!columns.empty()) columns.push_back(columns.front());
      return columns;
    case Shape::no_entries: break;
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

}  // namespace detail

template <class T>
HostCsr<T> random_csr(Random& random, Shape shape, int64_t rows, int64_t cols) {
  HostCsr<T> A;
  A.rows = rows;
  A.cols = cols;
  for (int64_t row = 0; row < rows; ++row) {
    if (cols > 0) {
      const auto columns = detail::random_columns(random, shape, row, rows, cols);
      A.indices.insert(A.indices.end(), columns.begin(), columns.end());
    }
    A.offsets.push_back(A.nnz());
  }
  A.values = random_vector<T>(random, A.indices.size());
  return A;
}

inline constexpr kkc_index_pair_t all_index_pairs[] = {KKC_INDEX_32_32, KKC_INDEX_32_64, KKC_INDEX_64_64};

/// Whether this build has kernels of `operation` for the types.
inline bool supported(kkc_device_t device, const char* operation, kkc_index_pair_t pair, kkc_scalar_t scalar) {
  int32_t yes = 0;
  return kkc_query_support(device, operation, pair, scalar, &yes) == KKC_STATUS_SUCCESS && yes != 0;
}

/// Any of the index pairs for which this build has kernels of `operation` for T.
template <class T>
kkc_index_pair_t any_pair(Random& random, kkc_device_t device, const char* operation) {
  std::vector<kkc_index_pair_t> pairs;
  for (const kkc_index_pair_t pair : all_index_pairs)
    if (supported(device, operation, pair, scalar_tag<T>)) pairs.push_back(pair);
  return pairs[random() % pairs.size()];
}

/// Names of an operation's implementations on a device, in order of priority.
inline std::vector<std::string> implementations(kkc_device_t device, const char* operation) {
  int32_t count = 0;
  ok(kkc_implementation_count(device, operation, &count));
  std::vector<std::string> names;
  for (int32_t i = 0; i < count; ++i) {
    const char* text = nullptr;
    ok(kkc_implementation_name(device, operation, i, &text));
    names.emplace_back(text);
  }
  return names;
}

/// Whether this build has kernels for T at all: a reduced one lacks some element types.
template <class T>
bool has_kernels(kkc_device_t device, const char* operation = "axpby") {
  for (const kkc_index_pair_t pair : all_index_pairs)
    if (supported(device, operation, pair, scalar_tag<T>)) return true;
  return false;
}

/// A copy in a context's device memory, borrowed by a matrix handle. The arrays can be spoiled and restored.
template <class T>
class DeviceCsr {
 public:
  DeviceCsr(const Context& ctx, const HostCsr<T>& A, kkc_index_pair_t pair, int32_t base)
      : offsets_(ctx, narrowed(A.offsets, pair != KKC_INDEX_32_32, base)),
        indices_(ctx, narrowed(A.indices, pair == KKC_INDEX_64_64, base)),
        values_(ctx, A.values) {
    ok(kkc_csr_create(ctx, A.rows, A.cols, A.nnz(), pair, scalar_tag<T>, base, offsets_.data(), indices_.data(),
                      values_.data(), matrix_.out()));
  }
  operator kkc_matrix_t*() const { return matrix_; }
  Array<T>& values() { return values_; }
  void* offsets() const { return offsets_.data(); }
  void* indices() const { return indices_.data(); }

 private:
  static std::vector<unsigned char> narrowed(const std::vector<int64_t>& from, bool wide, int32_t base) {
    std::vector<unsigned char> to(from.size() * (wide ? 8 : 4));
    for (size_t i = 0; i < from.size(); ++i) {
      const int64_t entry = from[i] + base;
      const auto small = static_cast<int32_t>(entry);
      if (wide)
        std::memcpy(&to[i * 8], &entry, 8);
      else
        std::memcpy(&to[i * 4], &small, 4);
    }
    return to;
  }
  Array<unsigned char> offsets_, indices_;
  Array<T> values_;
  Matrix matrix_;
};

/// Any matrix handle's arrays, copied to the host.
template <class T>
HostCsr<T> download(const Context& ctx, const kkc_matrix_t* matrix) {
  HostCsr<T> A;
  int64_t nnz = 0;
  kkc_index_pair_t pair = 0;
  int32_t base = 0;
  const void *offsets = nullptr, *indices = nullptr;
  void* values = nullptr;
  ok(kkc_csr_get(matrix, &A.rows, &A.cols, &nnz, &pair, nullptr, &base, &offsets, &indices, &values));
  const kkc_direction_t direction =
      native_space(ctx) == KKC_SPACE_DEVICE ? KKC_COPY_DEVICE_TO_HOST : KKC_COPY_HOST_TO_HOST;
  const auto widened = [&](const void* from, size_t n, bool wide) {
    std::vector<int64_t> to(n);
    std::vector<int32_t> small(wide ? 0 : n);
    if (n > 0)
      ok(kkc_copy(ctx, wide ? static_cast<void*>(to.data()) : small.data(), from, n * (wide ? 8 : 4), direction));
    if (!wide) std::copy(small.begin(), small.end(), to.begin());
    for (int64_t& e : to) e -= base;
    return to;
  };
  A.offsets = offsets != nullptr ? widened(offsets, static_cast<size_t>(A.rows) + 1, pair != KKC_INDEX_32_32)
                                 : std::vector<int64_t>{};
  A.indices = widened(indices, static_cast<size_t>(nnz), pair == KKC_INDEX_64_64);
  A.values.resize(static_cast<size_t>(nnz));
  if (nnz > 0 && values != nullptr) ok(kkc_copy(ctx, A.values.data(), values, A.values.size() * sizeof(T), direction));
  return A;
}

}  // namespace kkc_test
