// kkc.h's handles with owners, for tests. Every call that must succeed goes through ok(), which throws the sentence.
#pragma once

#include <complex>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kkc.h"

namespace kkc_test {

inline void ok(kkc_status_t status) {
  if (status != KKC_STATUS_SUCCESS)
    throw std::runtime_error(std::string(kkc_status_name(status)) + ": " + kkc_last_error());
}

/// Owns one handle; converts to it where the API wants it.
template <class H, kkc_status_t (*Destroy)(H*)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(H* handle) : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() { Destroy(handle_); }
  operator H*() const { return handle_; }
  /// For the last argument of a creating function.
  H** out() { return &handle_; }
  void reset() { Destroy(std::exchange(handle_, nullptr)); }

 private:
  H* handle_ = nullptr;
};

using View = Handle<kkc_view_t, kkc_view_destroy>;
using Matrix = Handle<kkc_matrix_t, kkc_matrix_destroy>;
using Plan = Handle<kkc_plan_t, kkc_plan_destroy>;
using Allocator = Handle<kkc_allocator_t, kkc_allocator_destroy>;

class Options : public Handle<kkc_options_t, kkc_options_destroy> {
 public:
  /// From JSON; "" makes an empty set.
  Options(const std::string& json = "") {
    if (json.empty())
      ok(kkc_options_create(out()));
    else
      ok(kkc_options_from_json(json.c_str(), out()));
  }
};

class Context : public Handle<kkc_context_t, kkc_context_destroy> {
 public:
  explicit Context(kkc_device_t device, const std::string& options = "", kkc_allocator_t* allocator = nullptr)
      : device_(device) {
    ok(kkc_context_create(device, 0, allocator, Options(options), out()));
  }
  kkc_device_t device() const { return device_; }
  void synchronize() const { ok(kkc_context_synchronize(*this)); }

 private:
  kkc_device_t device_;
};

template <class T>
inline constexpr kkc_scalar_t scalar_tag = KKC_TYPE_NONE;
template <>
inline constexpr kkc_scalar_t scalar_tag<uint8_t> = KKC_TYPE_U8;
template <>
inline constexpr kkc_scalar_t scalar_tag<int32_t> = KKC_TYPE_I32;
template <>
inline constexpr kkc_scalar_t scalar_tag<int64_t> = KKC_TYPE_I64;
template <>
inline constexpr kkc_scalar_t scalar_tag<float> = KKC_TYPE_F32;
template <>
inline constexpr kkc_scalar_t scalar_tag<double> = KKC_TYPE_F64;
template <>
inline constexpr kkc_scalar_t scalar_tag<std::complex<float>> = KKC_TYPE_C64;
template <>
inline constexpr kkc_scalar_t scalar_tag<std::complex<double>> = KKC_TYPE_C128;

/// The space in which a context's kernels expect data.
inline kkc_space_t native_space(const Context& ctx) {
  return ctx.device() == KKC_DEVICE_SERIAL || ctx.device() == KKC_DEVICE_OPENMP ? KKC_SPACE_HOST : KKC_SPACE_DEVICE;
}

/// n elements of the context's device memory. The context must outlive it.
template <class T>
class Array {
 public:
  Array(const Context& ctx, size_t n) : ctx_(&ctx), size_(n) {
    void* data = nullptr;
    ok(kkc_malloc(ctx, n * sizeof(T), &data));
    data_ = static_cast<T*>(data);
  }
  Array(const Context& ctx, const std::vector<T>& from) : Array(ctx, from.size()) { set(from); }
  Array(Array&& other) noexcept : ctx_(other.ctx_), size_(other.size_), data_(std::exchange(other.data_, nullptr)) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(ctx_, other.ctx_);
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Array() { kkc_free(*ctx_, data_); }

  T* data() const { return data_; }
  size_t size() const { return size_; }

  void set(const std::vector<T>& from) const {
    if (size_ == 0) return;
    const bool gpu = native_space(*ctx_) == KKC_SPACE_DEVICE;
    ok(kkc_copy(*ctx_, data_, from.data(), size_ * sizeof(T), gpu ? KKC_COPY_HOST_TO_DEVICE : KKC_COPY_HOST_TO_HOST));
  }
  /// Waits for the context's work.
  std::vector<T> get() const {
    std::vector<T> to(size_);
    if (size_ == 0) return to;
    const bool gpu = native_space(*ctx_) == KKC_SPACE_DEVICE;
    ok(kkc_context_synchronize(*ctx_));
    ok(kkc_copy(*ctx_, to.data(), data_, size_ * sizeof(T), gpu ? KKC_COPY_DEVICE_TO_HOST : KKC_COPY_HOST_TO_HOST));
    return to;
  }

 private:
  const Context* ctx_;
  size_t size_ = 0;
  T* data_ = nullptr;
};

/// A view of `data` in the context's device memory. strides may be empty for left and right.
template <class T>
View wrap(const Context& ctx, T* data, const std::vector<int64_t>& extents, kkc_layout_t layout = KKC_LAYOUT_LEFT,
          const std::vector<int64_t>& strides = {}) {
  View view;
  ok(kkc_view_wrap(ctx, scalar_tag<T>, static_cast<int32_t>(extents.size()), extents.data(), layout,
                   strides.empty() ? nullptr : strides.data(), native_space(ctx), data, view.out()));
  return view;
}

}  // namespace kkc_test
