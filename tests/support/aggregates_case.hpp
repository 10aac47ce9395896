// Products with aggregates on hosts.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/spgemm_case.hpp"

namespace kkc_test {

/// Rows of one entry in any column, of none with a probability of `empty` in 100.
template <class T>
HostCsr<T> aggregates(Random& random, int64_t rows, int64_t cols, uint64_t empty) {
  HostCsr<T> P;
  P.rows = rows;
  P.cols = cols;
  for (int64_t row = 0; row < rows; ++row) {
    if (cols > 0 && random() % 100 >= empty) P.indices.push_back(random_int(random, 0, cols - 1));
    P.offsets.push_back(P.nnz());
  }
  P.values = random_vector<T>(random, P.indices.size());
  return P;
}

/// A grid of five points a row and aggregates of 3 x 2 points, like from line to line but for one row.
enum class Unlike { nothing, column_of_A, short_row_of_A, double_entry_of_A, row_of_B, off_diagonal_order };
inline constexpr Unlike all_unlike[] = {Unlike::nothing,           Unlike::column_of_A, Unlike::short_row_of_A,
                                        Unlike::double_entry_of_A, Unlike::row_of_B,    Unlike::off_diagonal_order};
template <class T>
std::pair<HostCsr<T>, HostCsr<T>> grid_and_boxes(Random& random, int64_t across, int64_t lines, Unlike unlike) {
  HostCsr<T> A, B;
  A.rows = A.cols = B.rows = across * lines;
  B.cols = (across + 2) / 3 * ((lines + 1) / 2);
  const int64_t at = random_int(random, 0, A.rows - 1);
  for (int64_t i = 0; i < A.rows; ++i) {
    const int64_t x = i % across, y = i / across;
    if (y > 0) A.indices.push_back(i - across);
    if (x > 0) A.indices.push_back(i - 1);
    A.indices.push_back(i);
    if (x + 1 < across) A.indices.push_back(i + 1);
    if (y + 1 < lines) A.indices.push_back(i + across);
    const auto first = static_cast<size_t>(A.offsets.back());
    const size_t other = A.indices[first] == i ? first + 1 : first;
    if (i == at && unlike == Unlike::column_of_A) A.indices[other] = random_int(random, 0, A.cols - 1);
    if (i == at && unlike == Unlike::short_row_of_A) A.indices.erase(A.indices.begin() + static_cast<int64_t>(other));
    if (i == at && unlike == Unlike::double_entry_of_A) A.indices.push_back(A.indices[other]);
    if (i == at && unlike == Unlike::off_diagonal_order) std::swap(A.indices[first], A.indices.back());
    A.offsets.push_back(A.nnz());
    B.indices.push_back(x / 3 + (across + 2) / 3 * (y / 2));
    if (i == at && unlike == Unlike::row_of_B) B.indices.back() = random_int(random, 0, B.cols - 1);
    B.offsets.push_back(B.nnz());
  }
  A.values = random_vector<T>(random, A.indices.size());
  B.values = random_vector<T>(random, B.indices.size());
  return {A, B};
}

template <class T>
inline constexpr const HostCsr<T>* no_mask = nullptr;

/// Hosts whose build has T.
template <class T>
std::vector<std::pair<kkc_device_t, std::string>> hosts() {
  std::vector<std::pair<kkc_device_t, std::string>> all;
  for (const kkc_device_t device : devices()) {
    if (is_gpu(device)) continue;
    bool any = false;
    for (const kkc_index_pair_t pair : all_index_pairs) any |= supported(device, "spgemm", pair, scalar_tag<T>);
    if (!any) continue;
    all.emplace_back(device, "");
    if (device == KKC_DEVICE_OPENMP) all.emplace_back(device, R"({"threads": 3})");
  }
  return all;
}

}  // namespace kkc_test
