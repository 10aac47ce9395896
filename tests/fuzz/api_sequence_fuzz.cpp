// Random sequences of API calls: handles of every kind and state, sizes at the edges, small operands. Nothing may
// crash, leak or read out of bounds, and every refusal must carry a sentence.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "kkc.h"

namespace {

/// The fuzzer's bytes as a stream of decisions; zeros when they run out.
class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool empty() const { return at_ >= size_; }
  uint8_t byte() { return at_ < size_ ? data_[at_++] : 0; }
  int32_t below(int32_t n) { return byte() % n; }
  /// Mostly small, sometimes absurd.
  int64_t size() {
    static constexpr int64_t odd[] = {-1, INT64_MAX, INT64_MIN, int64_t{1} << 31, int64_t{1} << 62, 1000000007};
    const uint8_t b = byte();
    return b < 240 ? b % 9 : odd[b % 6];
  }

 private:
  const uint8_t* data_;
  size_t size_, at_ = 0;
};

struct World {
  std::vector<void*> handles{nullptr, &handles};
  // Arrays that outlive every object that borrows them.
  alignas(16) double numbers[256] = {};
  int32_t offsets[32] = {}, indices[64] = {};

  template <class Handle>
  Handle* pick(Bytes& in) {
    return static_cast<Handle*>(handles[static_cast<size_t>(in.byte()) % handles.size()]);
  }
  template <class Handle>
  void keep(kkc_status_t status, Handle* handle) {
    if ((status == KKC_STATUS_SUCCESS) != (handle != nullptr)) std::abort();
    if (handle != nullptr) handles.push_back(handle);
  }
};

void check(kkc_status_t status) {
  if (status != KKC_STATUS_SUCCESS && *kkc_last_error() == '\0') std::abort();
}

kkc_options_t* make_options(Bytes& in) {
  static constexpr const char* keys[] = {"implementation", "tuning",        "deterministic", "values", "transpose",
                                         "checked",        "max_workspace", "bogus",         "size",   "nx"};
  static constexpr const char* texts[] = {"reference", "measure", "kept", "small", "", "none"};
  kkc_options_t* options = nullptr;
  if (kkc_options_create(&options) != KKC_STATUS_SUCCESS) std::abort();
  for (int n = in.below(4); n > 0; --n) {
    const char* key = keys[in.below(10)];
    if (in.below(2) == 0)
      check(kkc_options_set_text(options, key, texts[in.below(6)]));
    else
      check(kkc_options_set_int(options, key, in.size()));
  }
  return options;
}

kkc_view_t* make_view(World& world, Bytes& in) {
  int64_t extents[8], strides[8];
  for (int64_t& e : extents) e = in.size() % 16;
  for (int64_t& s : strides) s = in.size() % 16;
  const int32_t rank = in.below(10) - 1;
  if (rank > 3)  // keeps allocations small; absurd sizes come with the lower ranks
    for (int64_t& e : extents) e %= 3;
  int64_t span = 1;
  for (int i = 0; i < rank && i < 8; ++i) span *= extents[i] < 0 ? 1 : (extents[i] > 0 ? extents[i] : 1);
  kkc_view_t* view = nullptr;
  const int32_t scalar = in.below(9), layout = in.below(5), space = 1 + in.below(2);
  auto* ctx = world.pick<kkc_context_t>(in);
  // Borrowed memory is only lent where it is large enough; templates have none.
  const bool lend = in.below(2) == 0 && layout != KKC_LAYOUT_STRIDED && span <= 100;
  kkc_status_t status;
  if (in.below(2) == 0)
    status = kkc_view_create(ctx, scalar, rank, extents, layout, space, &view);
  else if (in.below(2) == 0)
    status = kkc_view_wrap(ctx, scalar, rank, extents, layout, layout == KKC_LAYOUT_STRIDED ? strides : nullptr, space,
                           lend ? world.numbers : nullptr, &view);
  else
    status = kkc_view_wrap_const(ctx, scalar, rank, extents, layout, layout == KKC_LAYOUT_STRIDED ? strides : nullptr,
                                 space, lend ? world.numbers : nullptr, &view);
  check(status);
  world.keep(status, view);
  return view;
}

void make_matrix(World& world, Bytes& in) {
  kkc_matrix_t* A = nullptr;
  auto* ctx = world.pick<kkc_context_t>(in);
  const int32_t scalar = in.below(9);
  kkc_status_t status;
  if (in.below(2) == 0) {
    kkc_options_t* options = make_options(in);
    static constexpr const char* names[] = {"lap2d5", "identity", "band", "elas3", "nothing"};
    // Full sizes are the benchmarks' business.
    check(kkc_options_set_text(options, "size", "small"));
    const char* chosen = names[in.below(5)];
    const int32_t pair = in.below(5);
    status = kkc_matrix_generate(ctx, chosen, options, pair, scalar, &A);
    check(kkc_options_destroy(options));
  } else {
    for (int32_t& o : world.offsets) o = in.below(12);
    for (int32_t& i : world.indices) i = in.below(12) - 1;
    if (in.below(2) == 0)
      for (int i = 0; i < 32; ++i) world.offsets[i] = i;
    const int64_t rows = in.size() % 24, cols = in.size(), nnz = in.size() % 33;
    status = kkc_csr_create_copy(ctx, rows, cols, nnz, KKC_INDEX_32_32, scalar, in.below(3), world.offsets,
                                 world.indices, world.numbers, &A);
  }
  check(status);
  world.keep(status, A);
}

void step(World& world, Bytes& in) {
  const double alpha[2] = {1.5, 0.5}, beta[2] = {in.below(2) * 0.5, 0};
  switch (in.below(16)) {
    case 0: {
      kkc_context_t* ctx = nullptr;
      const kkc_status_t status =
          kkc_context_create(in.below(6), in.below(3) - 1, world.pick<kkc_allocator_t>(in), nullptr, &ctx);
      check(status);
      world.keep(status, ctx);
      break;
    }
    case 1:
    case 2:
    case 3: make_view(world, in); break;
    case 4:
    case 5: make_matrix(world, in); break;
    case 6:
    case 7: {
      kkc_plan_t* plan = nullptr;
      kkc_options_t* options = make_options(in);
      const kkc_status_t status = kkc_spmv_plan(
          world.pick<kkc_context_t>(in), in.below(6), world.pick<kkc_matrix_t>(in), world.pick<kkc_view_t>(in),
          world.pick<kkc_view_t>(in), in.below(2) == 0 ? options : nullptr, &plan);
      check(status);
      world.keep(status, plan);
      check(kkc_options_destroy(options));
      break;
    }
    case 8:
      check(kkc_spmv_execute(world.pick<kkc_plan_t>(in), alpha, world.pick<kkc_matrix_t>(in),
                             world.pick<kkc_view_t>(in), beta, world.pick<kkc_view_t>(in)));
      break;
    case 9: check(kkc_spmv_set_values(world.pick<kkc_plan_t>(in), world.pick<kkc_matrix_t>(in))); break;
    case 10: {
      int64_t begins[8], counts[8];
      for (int64_t& b : begins) b = in.size();
      for (int64_t& c : counts) c = in.size();
      kkc_view_t* sub = nullptr;
      const kkc_status_t status = kkc_view_sub(world.pick<kkc_view_t>(in), begins, counts, &sub);
      check(status);
      world.keep(status, sub);
      break;
    }
    case 11:
      check(kkc_view_copy(world.pick<kkc_context_t>(in), world.pick<kkc_view_t>(in), world.pick<kkc_view_t>(in)));
      break;
    case 12: check(kkc_view_fill(world.pick<kkc_context_t>(in), alpha, world.pick<kkc_view_t>(in))); break;
    case 13:
      check(kkc_axpby(world.pick<kkc_context_t>(in), alpha, world.pick<kkc_view_t>(in), beta,
                      world.pick<kkc_view_t>(in)));
      break;
    case 14:
      check(kkc_dot(world.pick<kkc_context_t>(in), in.below(3), world.pick<kkc_view_t>(in), world.pick<kkc_view_t>(in),
                    world.pick<kkc_view_t>(in)));
      check(kkc_norm2(world.pick<kkc_context_t>(in), world.pick<kkc_view_t>(in), world.pick<kkc_view_t>(in)));
      break;
    case 15: {
      const char* text = nullptr;
      int64_t where = 0, count = 0;
      kkc_matrix_properties_t properties = 0;
      void* victim = world.pick<void>(in);
      check(kkc_plan_info(static_cast<kkc_plan_t*>(victim), &text));
      check(kkc_matrix_info(static_cast<kkc_matrix_t*>(victim), &text));
      check(kkc_plan_check(static_cast<kkc_plan_t*>(victim), &where, &count));
      check(kkc_matrix_validate(static_cast<kkc_matrix_t*>(victim), &properties));
      // The handle stays in the list: later steps use it after its end.
      check(kkc_view_destroy(static_cast<kkc_view_t*>(victim)));
      check(kkc_plan_destroy(static_cast<kkc_plan_t*>(victim)));
      if (in.below(4) == 0) check(kkc_matrix_destroy(static_cast<kkc_matrix_t*>(victim)));
      if (in.below(16) == 0) check(kkc_context_destroy(static_cast<kkc_context_t*>(victim)));
      break;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  World world;
  Bytes in(data, size);
  kkc_context_t* ctx = nullptr;
  world.keep(kkc_context_create(KKC_DEVICE_SERIAL, 0, nullptr, nullptr, &ctx), ctx);
  for (int steps = 0; !in.empty() && steps < 64; ++steps) step(world, in);
  for (void* handle : world.handles) {
    kkc_view_destroy(static_cast<kkc_view_t*>(handle));
    kkc_matrix_destroy(static_cast<kkc_matrix_t*>(handle));
    kkc_plan_destroy(static_cast<kkc_plan_t*>(handle));
    kkc_context_destroy(static_cast<kkc_context_t*>(handle));
  }
  return 0;
}
