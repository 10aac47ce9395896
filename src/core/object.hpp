// What every handle leads to, and the table of live handles.
#pragma once

#include <cstdint>
#include <memory>

#include "error.hpp"

namespace kkc {

enum class Kind : int32_t { context, allocator, options, view, matrix, plan };

const char* name(Kind);

/// Base of everything a caller holds a handle to. Objects that need one another hold std::shared_ptr.
class Object {
 public:
  explicit Object(Kind kind) : kind_(kind) {}
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

// A handle is a number that is never used twice, dressed as a pointer: looking it up is the only way to reach the
// object, so a destroyed, foreign or random handle cannot be followed (docs/adr/0002).

/// Publishes an object and returns its handle.
void* handle_create(std::shared_ptr<Object> object);

/// The live object of a handle, or null.
std::shared_ptr<Object> handle_find(const void* handle);

/// Withdraws the handle; null if it is not live or of another kind. The object dies with its last owner.
std::shared_ptr<Object> handle_remove(const void* handle, Kind kind);

[[noreturn]] void fail_handle(const void* handle, const char* argument, Kind expected, const Object* found);

/// The object behind a handle, or a refusal naming the argument. T::kind_tag says the kind.
template <class T>
std::shared_ptr<T> as(const void* handle, const char* argument) {
  auto object = handle_find(handle);
  if (!object || object->kind() != T::kind_tag) [[unlikely]]
    fail_handle(handle, argument, T::kind_tag, object.get());
  return std::static_pointer_cast<T>(std::move(object));
}

/// The same, where NULL is allowed.
template <class T>
std::shared_ptr<T> as_optional(const void* handle, const char* argument) {
  return handle == nullptr ? nullptr : as<T>(handle, argument);
}

}  // namespace kkc
