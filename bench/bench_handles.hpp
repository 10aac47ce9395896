// Owners for the handles of kkc.h, and its statuses as exceptions.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "kkc.h"

namespace kkc::bench {

inline void check(kkc_status_t status, const char* call) {
  if (status != KKC_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + kkc_status_name(status) + ": " + kkc_last_error());
}

template <class T, kkc_status_t (*destroy)(T*)>
struct Destroy {
  void operator()(T* handle) const { destroy(handle); }
};
template <class T, kkc_status_t (*destroy)(T*)>
using Handle = std::unique_ptr<T, Destroy<T, destroy>>;

using Context = Handle<kkc_context_t, kkc_context_destroy>;
using Options = Handle<kkc_options_t, kkc_options_destroy>;
using View = Handle<kkc_view_t, kkc_view_destroy>;
using Matrix = Handle<kkc_matrix_t, kkc_matrix_destroy>;
using Plan = Handle<kkc_plan_t, kkc_plan_destroy>;

/// make<Plan>("kkc_spmv_plan", kkc_spmv_plan, ctx, op, A, x, y, options): calls, checks, owns.
template <class Owner, class F, class... Args>
Owner make(const char* call, F&& function, Args&&... args) {
  typename Owner::element_type* handle = nullptr;
  check(function(args..., &handle), call);
  return Owner(handle);
}

inline Options options_from(const std::string& json) {
  return json.empty() ? Options() : make<Options>("kkc_options_from_json", kkc_options_from_json, json.c_str());
}

/// Memory of a context's device.
class DeviceArray {
 public:
  DeviceArray(kkc_context_t* ctx, size_t bytes) : ctx_(ctx), bytes_(bytes) {
    check(kkc_malloc(ctx, bytes, &data_), "kkc_malloc");
  }
  DeviceArray(DeviceArray&& other) noexcept : ctx_(other.ctx_), bytes_(other.bytes_), data_(other.data_) {
    other.data_ = nullptr;
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { kkc_free(ctx_, data_); }
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  void upload(const void* host) { check(kkc_copy(ctx_, data_, host, bytes_, KKC_COPY_HOST_TO_DEVICE), "kkc_copy"); }
  void download(void* host) const { check(kkc_copy(ctx_, host, data_, bytes_, KKC_COPY_DEVICE_TO_HOST), "kkc_copy"); }

 private:
  kkc_context_t* ctx_;
  size_t bytes_;
  void* data_ = nullptr;
};

}  // namespace kkc::bench
