// A dense array of rank 0 to 8, borrowed or owned.
#pragma once

#include <array>
#include <memory>

#include "context.hpp"
#include "operands.hpp"

namespace kkc {

class View final : public Object {
 public:
  static constexpr Kind kind_tag = Kind::view;

  static std::shared_ptr<View> wrap(const Context& context, int32_t scalar, int32_t rank, const int64_t* extents,
                                    int32_t layout, const int64_t* strides, int32_t space, void* data, bool read_only);
  static std::shared_ptr<View> create(const Context& context, int32_t scalar, int32_t rank, const int64_t* extents,
                                      int32_t layout, int32_t space);
  std::shared_ptr<View> mirror(const Context& context, int32_t space) const;
  std::shared_ptr<View> retain() const { return std::shared_ptr<View>(new View(*this)); }
  std::shared_ptr<View> sub(const int64_t* begins, const int64_t* counts) const;

  const DenseRef& ref() const { return ref_; }
  Scalar scalar() const { return ref_.scalar; }
  int32_t rank() const { return ref_.rank; }
  int64_t extent(int i) const { return ref_.extents[i]; }
  int64_t count() const;
  Layout layout() const { return layout_; }
  Space space() const { return space_; }
  Device device() const { return device_; }
  int32_t device_id() const { return device_id_; }
  bool read_only() const { return read_only_; }
  void* data() const { return ref_.data; }
  void set_pointer(void* data);
  /// First byte and one past the last that elements occupy; equal when there are none.
  std::pair<uintptr_t, uintptr_t> bytes() const;
  std::string shape() const;  // "3 x 4"

 private:
  View(const Context& context, Scalar scalar, Layout layout, Space space, bool read_only);
  View(const View& other);

  DenseRef ref_{};
  Layout layout_;
  Space space_;
  Device device_;
  int32_t device_id_;
  bool read_only_;
  std::shared_ptr<Buffer> storage_;  // null: the caller's memory
};

// Checks that operations share; each names the argument.
void require_on_device(const View& view, const Queue& queue, const char* argument);
/// On the device, in memory that its kernels reach.
void require_usable(const View& view, const Queue& queue, const char* argument);
void require_output(const View& view, const char* argument);
void require_data(const View& view, const char* argument);
void require_same_shape(const View& a, const View& b, const char* name_a, const char* name_b);
void require_same_type(const View& a, const View& b, const char* name_a, const char* name_b);

Scalar valid_element(int32_t scalar, const char* argument);
Space valid_space(int32_t space, Device device);

}  // namespace kkc
