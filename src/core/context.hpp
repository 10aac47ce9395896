// A device and its stream, with what one-call operations and tuning need.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "memory.hpp"
#include "options.hpp"

namespace kkc {

class Context final : public Object {
 public:
  static constexpr Kind kind_tag = Kind::context;
  Context(Device device, int32_t device_id, std::shared_ptr<Allocator> allocator, const Options& options);

  Queue& queue() const { return memory_->queue(); }
  Device device() const { return queue().device(); }
  const std::shared_ptr<const Memory>& memory() const { return memory_; }
  void* scratch() const { return scratch_.data(); }
  /// Option scalars = device: coefficients of one-call operations lie in device memory.
  bool device_scalars() const { return device_scalars_; }

  std::string describe() const;  // JSON

  /// tuning = measure: key of a case -> implementation that was fastest.
  std::map<std::string, std::string> tuning;
  /// Text last given out by kkc_context_info and kkc_tuning_export.
  std::string info_text, tuning_text;

 private:
  std::shared_ptr<const Memory> memory_;
  Buffer scratch_;
  bool device_scalars_;
};

/// The operation's table on the queue's device.
template <class Implementation>
const Implementation& only_implementation(const Queue& queue, const char* operation) {
  const OperationTable* table = find_operation(queue.table(), operation);
  require(table != nullptr && table->count > 0, KKC_STATUS_NOT_SUPPORTED, operation, " has no kernels on device ",
          name(queue.device()));
  return static_cast<const Implementation&>(*table->entries[0]);
}

/// Blocks until `bytes` bytes have been copied between any two places that the queue's device reaches.
void copy_and_wait(Queue& queue, void* destination, const void* source, size_t bytes);

std::string to_json(const Info& info);

std::string tuning_to_json(const Context& context);
void tuning_from_json(Context& context, const char* json);

Device valid_device(int32_t device, const char* argument);
/// `argument`: its name in the sentence, for functions that take several.
Op valid_op(int32_t op, const char* argument = "op");
Uplo valid_uplo(int32_t uplo);
Diag valid_diag(int32_t diag);

}  // namespace kkc
