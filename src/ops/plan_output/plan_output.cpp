#include "plan_output.hpp"

#include "core/output_pattern.hpp"
#include "core/plan.hpp"

namespace kkc::plan_output {
namespace {

void copy_shifted(Queue& queue, const void* destination, const void* source, size_t bytes_each, int64_t count,
                  int64_t shift) {
  if (count == 0) return;
  void* const target = const_cast<void*>(destination);
  const auto& kernels = only_implementation<Implementation>(queue, "plan_output");
  queue.run([&] {
    if (shift == 0)
      queue.copy(target, source, static_cast<size_t>(count) * bytes_each);
    else
      kernels.shift(queue, target, source, bytes_each, count, shift);
  });
}

void fill(Queue& queue, const OutputPattern& planned, const CsrRef& C) {
  const CsrRef from = planned.ref();
  if (C.rows == 0 && C.offsets != nullptr) {
    // The plan has no offsets for no rows; the caller's one says that nothing begins.
    const int64_t wide = C.base;
    const int32_t narrow = C.base;
    const bool is_wide = offset_size(C.pair) == 8;
    copy_and_wait(queue, const_cast<void*>(C.offsets), is_wide ? static_cast<const void*>(&wide) : &narrow,
                  offset_size(C.pair));
    return;
  }
  copy_shifted(queue, C.offsets, from.offsets, offset_size(C.pair), C.offsets == nullptr ? 0 : C.rows + 1, C.base);
  copy_shifted(queue, C.indices, from.indices, ordinal_size(C.pair), C.nnz, C.base);
}

/// C, with its values on pages that threads have not to share out while they make them.
std::shared_ptr<Matrix> with_pages(Queue& queue, std::shared_ptr<Matrix> C) {
  const auto& kernels = only_implementation<Implementation>(queue, "plan_output");
  const CsrRef& arrays = C->ref();
  if (kernels.touch != nullptr && arrays.values != nullptr)
    queue.run([&] {
      kernels.touch(queue, const_cast<void*>(arrays.values), static_cast<size_t>(arrays.nnz) * size_of(arrays.scalar));
    });
  return C;
}

}  // namespace

void write_pattern(const Plan& plan, Matrix& C) {
  const OutputPattern& planned = output_of(plan);
  Queue& queue = plan.context().queue();
  OutputPattern wanted = planned;
  if (C.ref().scalar == Scalar::none) wanted.scalar = Scalar::none;
  require_planned_output(C, wanted, queue, "C");
  require(C.pattern_is_own(), KKC_STATUS_WRONG_STATE,
          "C was made by kkc_plan_create_output and has its pattern, expected a matrix over the caller's arrays");
  fill(queue, planned, C.ref());
}

std::shared_ptr<Matrix> create(const Plan& plan) {
  const OutputPattern& planned = output_of(plan);
  const Context& context = plan.context();
  CsrRef sizes = planned.ref();
  sizes.base = planned.base;
  if (planned.base == 0 && planned.rows > 0)
    return with_pages(context.queue(), Matrix::create(context, sizes, planned.offsets, planned.indices));
  const auto C = Matrix::create(context, sizes, nullptr, nullptr);
  fill(context.queue(), planned, C->ref());
  return with_pages(context.queue(), C);
}

}  // namespace kkc::plan_output
