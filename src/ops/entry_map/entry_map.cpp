#include "entry_map.hpp"

#include <limits>

#include "core/log.hpp"
#include "core/planned_matrix.hpp"
#include "entry_map_plan.hpp"

namespace kkc::entry_map {
namespace {

const Implementation& kernels_of(const Context& context) {
  return only_implementation<Implementation>(context.queue(), "entry_map");
}

/// The array itself where its elements have `to` bytes already.
std::shared_ptr<const Buffer> converted(const Context& context, const std::shared_ptr<const Buffer>& from,
                                        size_t from_bytes_each, size_t to_bytes_each) {
  if (from_bytes_each == to_bytes_each) return from;
  const size_t count = from->bytes() / from_bytes_each;
  auto to = std::make_shared<const Buffer>(context.memory(), own_space(context.device()), count * to_bytes_each);
  if (count > 0)
    context.queue().run([&] {
      kernels_of(context).convert(context.queue(), to->data(), to_bytes_each, from->data(), from_bytes_each,
                                  static_cast<int64_t>(count));
    });
  return to;
}

bool overlap(const void* a, size_t bytes_a, const void* b, size_t bytes_b) {
  const auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
  return first < second + bytes_b && second < first + bytes_a;
}

}  // namespace

void MapState::describe(Info& info) const {
  info.add("implementation", implementation_);
  info.add("why", why_);
  info.add("deterministic", int64_t{deterministic_});
  info.add("index_pair", std::string(name(pattern_.pair)));
  info.add("scalar", std::string(name(pattern_.scalar)));
  info.add("entries", sources_);
  info.add("output_rows", pattern_.rows);
  info.add("output_cols", pattern_.cols);
  info.add("output_nnz", pattern_.nnz);
  info.add("keeps_order", int64_t{positions_ == nullptr});
  size_t kept = pattern_.offsets->bytes() + pattern_.indices->bytes();
  for (const auto& array : {positions_, starts_})
    if (array) kept += array->bytes();
  info.add("kept_bytes", static_cast<int64_t>(kept));
}

void MapState::adopt(const Context& context, EntryMap&& map, Scalar scalar, IndexPair pair, int32_t base) {
  pattern_ = {pair, scalar, base, map.rows, map.cols, map.nnz, nullptr, nullptr};
  pattern_.offsets = converted(context, map.offsets, offset_size(map.pair), offset_size(pair));
  pattern_.indices = converted(context, map.indices, ordinal_size(map.pair), ordinal_size(pair));
  positions_pair_ = map.pair;
  sources_ = map.sources;
  positions_ = std::move(map.positions);
  starts_ = std::move(map.starts);
  if (scalar == Scalar::none) return;
  Queue& queue = context.queue();
  queue.run([&] { kernels_of(context).prepare_gather(queue, scalar, positions_pair_); });
}

// On the path of every execute.
void MapState::gather(const Context& context, const void* values, const Matrix& C, const char* argument) const {
  Queue& queue = context.queue();
  require_planned_output(C, pattern_, queue, "C");
  if (checked) require_planned_pattern(C, pattern_, queue, "C");
  if (pattern_.scalar == Scalar::none || pattern_.nnz == 0) return;
  const CsrRef& c = C.ref();
  require_alignment(c.values, c.scalar, queue, "C's values array");
  if (overlap(values, static_cast<size_t>(sources_) * size_of(c.scalar), c.values, values_bytes(c)))
    fail(KKC_STATUS_INVALID_ARGUMENT, argument, " and C overlap in memory, expected separate values");
  const Args args{c.scalar,
                  positions_pair_,
                  pattern_.nnz,
                  positions_ ? positions_->data() : nullptr,
                  starts_ ? starts_->data() : nullptr,
                  conjugate,
                  values,
                  const_cast<void*>(c.values)};
  const Implementation& kernels = kernels_of(context);
  queue.run([&] { kernels.gather(queue, args); });
}

void write_permutation(const Plan& plan, View& permutation) {
  const auto* const state = dynamic_cast<const MapState*>(&plan.state());
  if (state == nullptr)
    fail(KKC_STATUS_INVALID_HANDLE, "plan is a plan of ", plan.operation(),
         ", expected one of transpose, sort_rows or coo_to_csr");
  const Context& context = plan.context();
  Queue& queue = context.queue();
  require(
      !state->adds, KKC_STATUS_NOT_SUPPORTED,
      "plan adds up duplicates, so entries of its output may come from several of the input's, expected one made with "
      "duplicates = keep");
  require_usable(permutation, queue, "permutation");
  require_output(permutation, "permutation");
  const Scalar type = permutation.scalar();
  require(type == Scalar::i32 || type == Scalar::i64, KKC_STATUS_TYPE_MISMATCH, "permutation holds ", name(type),
          ", expected i32 or i64");
  const int64_t n = state->sources_;
  if (permutation.rank() != 1 || permutation.extent(0) != n)
    fail(KKC_STATUS_SIZE_MISMATCH, "permutation is ", permutation.shape(), " of rank ", permutation.rank(),
         ", expected rank 1 with ", n, " elements");
  require(n < 2 || permutation.ref().strides[0] == 1, KKC_STATUS_NOT_SUPPORTED, "permutation has stride ",
          permutation.ref().strides[0], ", expected 1");
  require(type == Scalar::i64 || n <= std::numeric_limits<int32_t>::max(), KKC_STATUS_OVERFLOW, "there are ", n,
          " entries, more than i32 counts");
  require_data(permutation, "permutation");
  if (n == 0) return;
  queue.run([&] {
    kernels_of(context).convert(queue, permutation.data(), size_of(type),
                                state->positions_ ? state->positions_->data() : nullptr,
                                offset_size(state->positions_pair_), n);
  });
}

std::shared_ptr<Plan> PlanTimer::finish(std::shared_ptr<Context> context, std::unique_ptr<MapState> state,
                                        PassedOver passed_over) const {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  state->log_choice();
  return std::make_shared<Plan>(std::move(context), std::move(state), std::move(passed_over), seconds);
}

void MapState::log_choice() const { log(LogLevel::info, operation(), " plan: ", implementation_, " (", why_, ")"); }

}  // namespace kkc::entry_map
