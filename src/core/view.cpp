#include "view.hpp"

#include <algorithm>
#include <map>

namespace kkc {
namespace {

int64_t multiply(int64_t a, int64_t b, const char* what) {
  int64_t product;
  require(!__builtin_mul_overflow(a, b, &product), KKC_STATUS_OVERFLOW, what, " overflows 64 bits (", a, " times ", b,
          ")");
  return product;
}

int64_t add(int64_t a, int64_t b, const char* what) {
  int64_t sum;
  require(!__builtin_add_overflow(a, b, &sum), KKC_STATUS_OVERFLOW, what, " overflows 64 bits (", a, " plus ", b, ")");
  return sum;
}

void set_extents(DenseRef& ref, int32_t rank, const int64_t* extents) {
  require(rank >= 0 && rank <= max_rank, KKC_STATUS_INVALID_ARGUMENT, "rank is ", rank, ", expected 0 to ", max_rank);
  require(rank == 0 || extents != nullptr, KKC_STATUS_NULL_POINTER, "extents is NULL, expected ", rank, " numbers");
  ref.rank = rank;
  for (int i = 0; i < rank; ++i) {
    require(extents[i] >= 0, KKC_STATUS_INVALID_ARGUMENT, "extents[", i, "] is ", extents[i], ", expected 0 or more");
    ref.extents[i] = extents[i];
  }
}

Layout valid_layout(int32_t layout) {
  require(layout >= KKC_LAYOUT_LEFT && layout <= KKC_LAYOUT_STRIDED, KKC_STATUS_INVALID_ARGUMENT, "layout is ", layout,
          ", expected KKC_LAYOUT_LEFT (1), _RIGHT (2) or _STRIDED (3)");
  return static_cast<Layout>(layout);
}

void set_packed_strides(DenseRef& ref, Layout layout) {
  int64_t stride = 1;
  for (int k = 0; k < ref.rank; ++k) {
    const int i = layout == Layout::left ? k : ref.rank - 1 - k;
    ref.strides[i] = stride;
    stride = multiply(stride, std::max<int64_t>(ref.extents[i], 1), "the number of elements");
  }
}

bool has_elements(const DenseRef& ref) {
  return std::all_of(ref.extents, ref.extents + ref.rank, [](int64_t e) { return e > 0; });
}

/// Elements from the first to one past the last place in memory; 0 when there are none.
int64_t span(const DenseRef& ref) {
  if (!has_elements(ref)) return 0;
  int64_t last = 0;
  for (int i = 0; i < ref.rank; ++i)
    last = add(last, multiply(ref.extents[i] - 1, ref.strides[i], "the view's span"), "the view's span");
  return add(last, 1, "the view's span");
}

/// Whether strides have the order of `layout`, possibly with leading dimensions.
bool ordered(const DenseRef& ref, Layout layout) {
  int64_t least = 1;
  for (int k = 0; k < ref.rank; ++k) {
    const int i = layout == Layout::left ? k : ref.rank - 1 - k;
    if (k == 0 ? ref.strides[i] != 1 && ref.extents[i] > 1 : ref.strides[i] < least) return false;
    least = multiply(std::max<int64_t>(ref.strides[i], 1), std::max<int64_t>(ref.extents[i], 1), "the view's span");
  }
  return true;
}

/// Sufficient for no two elements in one place: sorted by stride, each clears the span of those before it.
bool distinct(const DenseRef& ref) {
  std::multimap<int64_t, int64_t> by_stride;
  for (int i = 0; i < ref.rank; ++i)
    if (ref.extents[i] > 1) by_stride.emplace(ref.strides[i], ref.extents[i]);
  int64_t reach = 0;
  for (const auto& [stride, extent] : by_stride) {
    if (stride <= reach) return false;
    reach += (extent - 1) * stride;
  }
  return true;
}

size_t alignment(Scalar scalar) { return is_complex_scalar(scalar) ? size_of(scalar) / 2 : size_of(scalar); }

void require_addressable(const DenseRef& ref) {
  int64_t count = 1;
  for (int i = 0; i < ref.rank; ++i)
    count = multiply(count, std::max<int64_t>(ref.extents[i], 1), "the number of elements");
  multiply(span(ref), static_cast<int64_t>(size_of(ref.scalar)), "the view's size in bytes");
}

}  // namespace

Scalar valid_element(int32_t scalar, const char* argument) {
  require(scalar >= KKC_TYPE_U8 && scalar <= KKC_TYPE_C128, KKC_STATUS_INVALID_ARGUMENT, argument, " is ", scalar,
          ", expected KKC_TYPE_U8 (1) to KKC_TYPE_C128 (7)");
  return static_cast<Scalar>(scalar);
}

Space valid_space(int32_t space, Device device) {
  require(space >= KKC_SPACE_HOST && space <= KKC_SPACE_MANAGED, KKC_STATUS_INVALID_ARGUMENT, "space is ", space,
          ", expected KKC_SPACE_HOST (1), _DEVICE (2), _PINNED (3) or _MANAGED (4)");
  const bool host = is_host(device);
  require(!host || space == KKC_SPACE_HOST, KKC_STATUS_INVALID_ARGUMENT, "space is ", name(static_cast<Space>(space)),
          ", expected host for device ", name(device));
  return static_cast<Space>(space);
}

View::View(const Context& context, Scalar scalar, Layout layout, Space space, bool read_only)
    : Object(kind_tag),
      layout_(layout),
      space_(space),
      device_(context.device()),
      device_id_(context.queue().device_id()),
      read_only_(read_only) {
  ref_.scalar = scalar;
}

View::View(const View& other)
    : Object(kind_tag),
      ref_(other.ref_),
      layout_(other.layout_),
      space_(other.space_),
      device_(other.device_),
      device_id_(other.device_id_),
      read_only_(other.read_only_),
      storage_(other.storage_) {}

std::shared_ptr<View> View::wrap(const Context& context, int32_t scalar, int32_t rank, const int64_t* extents,
                                 int32_t layout, const int64_t* strides, int32_t space, void* data, bool read_only) {
  std::shared_ptr<View> view(new View(context, valid_element(scalar, "scalar"), valid_layout(layout),
                                      valid_space(space, context.device()), read_only));
  DenseRef& ref = view->ref_;
  set_extents(ref, rank, extents);
  if (strides == nullptr) {
    require(view->layout_ != Layout::strided || rank == 0, KKC_STATUS_NULL_POINTER, "strides is NULL, expected ", rank,
            " numbers for layout strided");
    set_packed_strides(ref, view->layout_);
  } else {
    for (int i = 0; i < rank; ++i) {
      require(strides[i] >= 0, KKC_STATUS_INVALID_ARGUMENT, "strides[", i, "] is ", strides[i], ", expected 0 or more");
      ref.strides[i] = strides[i];
    }
    require(view->layout_ == Layout::strided || ordered(ref, view->layout_), KKC_STATUS_INVALID_ARGUMENT,
            "strides are not in the order of layout ", name(view->layout_),
            ", expected 1 for the contiguous extent and at least "
            "the span of the inner extents for each outer one");
  }
  require_addressable(ref);
  require(read_only || !has_elements(ref) || distinct(ref), KKC_STATUS_INVALID_ARGUMENT,
          "strides let two elements share a place, expected distinct places in a view that may be written");
  require(reinterpret_cast<uintptr_t>(data) % alignment(ref.scalar) == 0, KKC_STATUS_INVALID_ARGUMENT, "data is ", data,
          ", expected an address aligned for type ", name(ref.scalar));
  ref.data = data;
  return view;
}

std::shared_ptr<View> View::create(const Context& context, int32_t scalar, int32_t rank, const int64_t* extents,
                                   int32_t layout, int32_t space) {
  std::shared_ptr<View> view(new View(context, valid_element(scalar, "scalar"), valid_layout(layout),
                                      valid_space(space, context.device()), false));
  require(view->layout_ != Layout::strided, KKC_STATUS_INVALID_ARGUMENT,
          "layout is strided, expected left or right for memory that kkc allocates");
  DenseRef& ref = view->ref_;
  set_extents(ref, rank, extents);
  set_packed_strides(ref, view->layout_);
  require_addressable(ref);
  view->storage_ =
      std::make_shared<Buffer>(context.memory(), view->space_, static_cast<size_t>(span(ref)) * size_of(ref.scalar));
  ref.data = view->storage_->data();
  return view;
}

std::shared_ptr<View> View::mirror(const Context& context, int32_t space) const {
  const bool left = layout_ == Layout::left ||
                    (layout_ == Layout::strided && ordered(ref_, Layout::left) && !ordered(ref_, Layout::right));
  return create(context, static_cast<int32_t>(ref_.scalar), ref_.rank, ref_.extents,
                left ? KKC_LAYOUT_LEFT : KKC_LAYOUT_RIGHT, space);
}

std::shared_ptr<View> View::sub(const int64_t* begins, const int64_t* counts) const {
  require(rank() == 0 || begins != nullptr, KKC_STATUS_NULL_POINTER, "begins is NULL, expected ", rank(), " numbers");
  require(rank() == 0 || counts != nullptr, KKC_STATUS_NULL_POINTER, "counts is NULL, expected ", rank(), " numbers");
  std::shared_ptr<View> part = retain();
  DenseRef& ref = part->ref_;
  uint64_t offset = 0;  // wraps around for strides of a view without elements, which may be anything
  ref.rank = 0;
  for (int i = 0; i < rank(); ++i) {
    const int64_t kept = counts[i] == -1 ? 1 : counts[i];
    require(counts[i] >= -1, KKC_STATUS_INVALID_ARGUMENT, "counts[", i, "] is ", counts[i], ", expected -1 or more");
    require(begins[i] >= 0 && begins[i] <= extent(i) && kept <= extent(i) - begins[i], KKC_STATUS_INDEX_OUT_OF_RANGE,
            "elements ", begins[i], " to ", begins[i], " + ", kept, " of dimension ", i, " lie outside its extent ",
            extent(i));
    offset += static_cast<uint64_t>(begins[i]) * static_cast<uint64_t>(ref_.strides[i]);
    if (counts[i] == -1) continue;
    ref.extents[ref.rank] = kept;
    ref.strides[ref.rank] = ref_.strides[i];
    ++ref.rank;
  }
  if (!ordered(ref, part->layout_)) part->layout_ = Layout::strided;
  if (ref.data != nullptr && has_elements(ref)) ref.data = static_cast<char*>(ref.data) + offset * size_of(ref.scalar);
  return part;
}

int64_t View::count() const {
  int64_t n = 1;
  for (int i = 0; i < rank(); ++i) n *= extent(i);
  return n;
}

void View::set_pointer(void* data) {
  require(!storage_, KKC_STATUS_WRONG_STATE, "view owns its memory, expected a wrapped view");
  require(reinterpret_cast<uintptr_t>(data) % alignment(ref_.scalar) == 0, KKC_STATUS_INVALID_ARGUMENT, "data is ",
          data, ", expected an address aligned for type ", name(ref_.scalar));
  ref_.data = data;
}

std::pair<uintptr_t, uintptr_t> View::bytes() const {
  const auto first = reinterpret_cast<uintptr_t>(ref_.data);
  return {first, first + static_cast<uintptr_t>(span(ref_)) * size_of(ref_.scalar)};
}

std::string View::shape() const {
  if (rank() == 0) return "rank 0";
  std::string text = cat(extent(0));
  for (int i = 1; i < rank(); ++i) text += cat(" x ", extent(i));
  return text;
}

void require_on_device(const View& view, const Queue& queue, const char* argument) {
  require(view.device() == queue.device() && view.device_id() == queue.device_id(), KKC_STATUS_TYPE_MISMATCH, argument,
          " belongs to device ", name(view.device()), " ", view.device_id(), ", expected the context's device ",
          name(queue.device()), " ", queue.device_id());
}

void require_usable(const View& view, const Queue& queue, const char* argument) {
  require_on_device(view, queue, argument);
  require(queue.reads(view.space()), KKC_STATUS_NOT_SUPPORTED, argument, " lies in space ", name(view.space()),
          ", which kernels of device ", name(queue.device()), " do not reach");
}

void require_output(const View& view, const char* argument) {
  require(!view.read_only(), KKC_STATUS_INVALID_ARGUMENT, argument,
          " was wrapped as const, expected a view that may be written");
}

// On the path of every execute: the sentence's parts are made only when it is needed.
void require_data(const View& view, const char* argument) {
  if (view.data() == nullptr && has_elements(view.ref()))
    fail(KKC_STATUS_NULL_POINTER, argument, " has no data (NULL), expected ", view.shape(), " elements");
}

void require_same_shape(const View& a, const View& b, const char* name_a, const char* name_b) {
  if (a.rank() != b.rank() || !std::equal(a.ref().extents, a.ref().extents + a.rank(), b.ref().extents))
    fail(KKC_STATUS_SIZE_MISMATCH, name_b, " is ", b.shape(), ", expected the shape of ", name_a, ", ", a.shape());
}

void require_same_type(const View& a, const View& b, const char* name_a, const char* name_b) {
  require(a.scalar() == b.scalar(), KKC_STATUS_TYPE_MISMATCH, name_b, " holds ", name(b.scalar()),
          ", expected the type of ", name_a, ", ", name(a.scalar()));
}

}  // namespace kkc
