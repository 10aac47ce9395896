#include "catalogue.hpp"

#include "log.hpp"

namespace kkc {
namespace {

void require_known(const char* operation) {
  require(operation != nullptr, KKC_STATUS_NULL_POINTER, "operation is NULL, expected a name such as \"spmv\"");
  // Every operation has its reference on the Serial device.
  const DeviceTable& all = backend(Device::serial).table();
  if (find_operation(all, operation) != nullptr) return;
  std::string known;
  for (int32_t i = 0; i < all.count; ++i) known += cat(i == 0 ? "" : ", ", all.operations[i].operation);
  fail(KKC_STATUS_INVALID_ARGUMENT, "operation is \"", operation, "\", expected one of ", known);
}

template <class... Ts>
uint32_t bit_of(TypeList<Ts...>, Scalar scalar) {
  uint32_t bit = 1, found = 0;
  ((scalar_of<Ts> == scalar ? found = bit : 0u, bit <<= 1), ...);
  return found;
}

template <class... Ps>
uint32_t bit_of(TypeList<Ps...>, IndexPair pair) {
  uint32_t bit = 1, found = 0;
  ((index_pair_of<Ps> == pair ? found = bit : 0u, bit <<= 1), ...);
  return found;
}

}  // namespace

int32_t device_count(Device device) {
  try {
    return backend(device).count();
  } catch (const Error& e) {
    if (e.status() != KKC_STATUS_DEVICE_UNAVAILABLE) throw;
    log(LogLevel::info, "device ", name(device), ": ", e.what());
    return 0;
  }
}

const OperationTable& implementations_of(Device device, const char* operation) {
  require_known(operation);
  const OperationTable* table = find_operation(backend(device).table(), operation);
  require(table != nullptr, KKC_STATUS_NOT_SUPPORTED, "operation \"", operation, "\" has no kernels on device ",
          name(device));
  return *table;
}

bool supports(Device device, const char* operation, int32_t index_pair, int32_t scalar) {
  require_known(operation);
  const IndexPair pair = valid_index_pair(index_pair);
  const Scalar element = valid_matrix_scalar(scalar);
  if (device_count(device) == 0) return false;
  const DeviceTable& table = backend(device).table();
  return find_operation(table, operation) != nullptr && (table.scalar_mask & bit_of(AllScalars{}, element)) != 0 &&
         (table.index_pair_mask & bit_of(AllIndexPairs{}, pair)) != 0;
}

}  // namespace kkc
