// Products with aggregates on hosts.
#pragma once

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
