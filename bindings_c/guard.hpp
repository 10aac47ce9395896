// The C boundary's one wrapper: exceptions become a status and a sentence, outputs are set on every path.
#pragma once

#include <exception>
#include <new>

#include "core/error.hpp"
#include "core/last_error.hpp"
#include "core/log.hpp"
#include "core/object.hpp"
#include "core/process.hpp"
#include "kkc.h"

namespace kkc {

/// An output argument: null (or 0) until the call succeeds.
template <class T>
struct Out {
  T* pointer;
  const char* argument;
  bool optional;

  void clear() const noexcept {
    if (pointer != nullptr) *pointer = T{};
  }
  void check() const {
    require(pointer != nullptr || optional, KKC_STATUS_NULL_POINTER, argument,
            " is NULL, expected a place for the result");
  }
};

template <class T>
Out<T> out(T* pointer, const char* argument) {
  return {pointer, argument, false};
}
template <class T>
Out<T> optional_out(T* pointer) {
  return {pointer, "", true};
}

inline kkc_status_t failed(kkc_status_t status, const char* text) noexcept {
  remember_error(text);
  if (logs(LogLevel::error)) log_line(LogLevel::error, last_error());
  return status;
}

template <class F, class... Outs>
kkc_status_t guard(F&& f, const Outs&... outs) noexcept {
  (outs.clear(), ...);
  if (in_forked_child())
    return failed(KKC_STATUS_WRONG_STATE,
                  "this process is a fork of one that had used kkc; expected fork before the first use, or exec");
  try {
    (outs.check(), ...);
    f();
    return KKC_STATUS_SUCCESS;
  } catch (const Error& e) {
    (outs.clear(), ...);
    return failed(e.status(), e.what());
  } catch (const std::bad_alloc&) {
    (outs.clear(), ...);
    return failed(KKC_STATUS_OUT_OF_MEMORY, "no host memory left");
  } catch (const std::exception& e) {
    (outs.clear(), ...);
    return failed(KKC_STATUS_INTERNAL, e.what());
  } catch (...) {
    (outs.clear(), ...);
    return failed(KKC_STATUS_INTERNAL, "an unknown exception reached the C boundary");
  }
}

/// Publishes an object as the caller's handle.
template <class Handle>
void give(std::shared_ptr<Object> object, Handle** handle) {
  *handle = static_cast<Handle*>(handle_create(std::move(object)));
}

/// Body of every destroy function: NULL succeeds.
template <class T>
kkc_status_t destroy(const void* handle, const char* argument) noexcept {
  return guard([&] {
    if (handle != nullptr && !handle_remove(handle, T::kind_tag))
      fail_handle(handle, argument, T::kind_tag, handle_find(handle).get());
  });
}

}  // namespace kkc
