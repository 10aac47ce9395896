// spmv: validation, choice of the implementation, and the plan's state.
#include "spmv.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>

#include "core/dispatch.hpp"
#include "core/log.hpp"
#include "core/strided.hpp"
#include "spmv_plan.hpp"

namespace kkc::spmv {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Rank 1 or 2 with `rows` rows; the argument's name is in the sentence.
void check_vector(const View& v, int64_t rows, const char* argument, const char* what) {
  require(v.rank() == 1 || v.rank() == 2, KKC_STATUS_SIZE_MISMATCH, argument, " has rank ", v.rank(),
          ", expected 1 or 2");
  if (v.extent(0) != rows)
    fail(KKC_STATUS_SIZE_MISMATCH, argument, " is ", v.shape(), ", expected ", rows, " rows, the number of ", what);
}

Desc describe_case(const Context& context, Op op, const Matrix& A, const View& x, const View& y,
                   const PlanOptions& options, bool transpose_kept) {
  Queue& queue = context.queue();
  const CsrRef& a = A.ref();
  require_on_device(A, queue, "A");
  require_usable(x, queue, "x");
  require_usable(y, queue, "y");
  require_output(y, "y");
  require(a.scalar != Scalar::none, KKC_STATUS_TYPE_MISMATCH,
          "A is a pattern without values, expected a matrix with values");
  require(x.scalar() == a.scalar, KKC_STATUS_TYPE_MISMATCH, "x holds ", name(x.scalar()), ", expected the type of A, ",
          name(a.scalar));
  require(y.scalar() == a.scalar, KKC_STATUS_TYPE_MISMATCH, "y holds ", name(y.scalar()), ", expected the type of A, ",
          name(a.scalar));
  const bool flipped = transposes(op);
  check_vector(x, flipped ? a.rows : a.cols, "x", flipped ? "A's rows" : "A's columns");
  check_vector(y, flipped ? a.cols : a.rows, "y", flipped ? "A's columns" : "A's rows");
  if (x.rank() != y.rank() || (x.rank() == 2 && x.extent(1) != y.extent(1)))
    fail(KKC_STATUS_SIZE_MISMATCH, "y is ", y.shape(), ", expected as many vectors as x, ", x.shape());
  require(!transpose_kept || options.values_kept, KKC_STATUS_INVALID_ARGUMENT,
          "options: \"transpose\" is kept, expected \"values\" = kept beside it");

  Desc desc{};
  desc.op = op;
  desc.A = a;
  desc.x = x.ref();
  desc.y = y.ref();
  desc.vectors = x.rank() == 2 ? x.extent(1) : 1;
  desc.deterministic = options.deterministic;
  desc.values_kept = options.values_kept;
  desc.transpose_kept = transpose_kept && flipped;
  desc.device_scalars = options.device_scalars;
  desc.max_workspace = options.max_workspace;
  desc.memory = context.memory();
  return desc;
}

int64_t entry_at(Queue& queue, const void* array, size_t bytes_each, int64_t i) {
  int64_t wide = 0;
  int32_t narrow = 0;
  void* target = bytes_each == 8 ? static_cast<void*>(&wide) : &narrow;
  copy_and_wait(queue, target, static_cast<const char*>(array) + static_cast<size_t>(i) * bytes_each, bytes_each);
  return bytes_each == 8 ? wide : narrow;
}

/// One pass over the rows: checks the pattern and counts the rows' lengths.
RowStats look_at_rows(const Context& context, const CsrRef& A) {
  Queue& queue = context.queue();
  const auto& pass = only_implementation<row_stats::Implementation>(queue, "row_stats");
  RowStats rows{};
  queue.run([&] { rows = pass.run(queue, A, false); });
  if (rows.first_bad_row >= 0) {
    const int64_t i = rows.first_bad_row;
    fail(KKC_STATUS_INVALID_ARGUMENT, "A: row_offsets are ", entry_at(queue, A.offsets, offset_size(A.pair), i),
         " and ", entry_at(queue, A.offsets, offset_size(A.pair), i + 1), " around row ", i,
         ", expected them to ascend from ", A.base, " to ", A.nnz + A.base);
  }
  if (rows.first_bad_entry >= 0) {
    const int64_t i = rows.first_bad_entry;
    fail(KKC_STATUS_INDEX_OUT_OF_RANGE, "A: col_indices[", i, "] is ",
         entry_at(queue, A.indices, ordinal_size(A.pair), i), ", expected ", A.base, " to ", A.cols - 1 + A.base);
  }
  return rows;
}

std::string tuning_key(const Queue& queue, const Desc& d) {
  uint64_t lengths = 0;
  for (int i = 0; i < 40; ++i) lengths = lengths * 1000003 + static_cast<uint64_t>(d.rows.nonzeros[i]);
  std::string key = cat("spmv ", name(queue.device()), ' ', queue.concurrency(), " op ", name(d.op), ' ',
                        name(d.A.pair), ' ', name(d.A.scalar), " base ", d.A.base, ' ', d.A.rows, 'x', d.A.cols,
                        " nnz ", d.A.nnz, " lengths ", lengths, " vectors ", d.vectors);
  for (const DenseRef* v : {&d.x, &d.y})
    for (int i = 0; i < v->rank; ++i) key += cat(i == 0 ? " strides " : ",", v->strides[i]);
  return key + cat(d.values_kept ? " kept" : "", d.transpose_kept ? " transposed" : "",
                   d.deterministic ? " deterministic" : "", d.device_scalars ? " device" : "",
                   d.max_workspace >= 0 ? cat(" workspace ", d.max_workspace) : "");
}

/// Device memory with numbers in [-0.5, 0.5), which time like real ones (zeros do not).
Buffer numbers(const Context& context, Scalar scalar, int64_t count) {
  constexpr size_t chunk_bytes = size_t{1} << 20;
  std::mt19937_64 random(7);
  std::string chunk(chunk_bytes, '\0');
  const bool single = scalar == Scalar::f32 || scalar == Scalar::c64;
  for (size_t i = 0; i < chunk_bytes; i += single ? 4 : 8) {
    const double value = static_cast<double>(random() >> 11) * 0x1p-53 - 0.5;
    const float rounded = static_cast<float>(value);
    std::memcpy(&chunk[i], single ? static_cast<const void*>(&rounded) : &value, single ? 4 : 8);
  }
  const bool host = context.device() == Device::serial || context.device() == Device::openmp;
  Buffer buffer(context.memory(), host ? Space::host : Space::device, static_cast<size_t>(count) * size_of(scalar));
  for (size_t at = 0; at < buffer.bytes(); at += chunk_bytes)
    copy_and_wait(context.queue(), buffer.as<char>() + at, chunk.data(), std::min(chunk_bytes, buffer.bytes() - at));
  return buffer;
}

/// Private operands on which tuning = measure times candidates: the caller's data are neither read nor written.
class Trial {
 public:
  Trial(const Context& context, const Desc& desc)
      : context_(context),
        values_(numbers(context, desc.A.scalar, desc.A.nnz)),
        x_(numbers(context, desc.A.scalar, span_of(desc.x))),
        y_(numbers(context, desc.A.scalar, span_of(desc.y))),
        coefficients_(numbers(context, desc.A.scalar, 2)),
        args_{coefficient(desc, 0), coefficient(desc, 1), desc.A, desc.x, desc.y, nullptr} {
    args_.A.values = values_.data();
    args_.x.data = x_.data();
    args_.y.data = y_.data();
  }

  double seconds(Kernel& kernel, bool keeps_values) {
    Queue& queue = context_.queue();
    workspace_ = Buffer(context_.memory(), values_.space(), kernel.workspace_bytes());
    args_.workspace = workspace_.data();
    double best = 1e300;
    queue.run([&] {
      if (keeps_values) kernel.set_values(queue, args_.A);
      for (int repeat = 0; repeat < 7; ++repeat) {
        queue.synchronize();
        const auto start = Clock::now();
        kernel.execute(queue, args_);
        queue.synchronize();
        if (repeat >= 2) best = std::min(best, seconds_since(start));
      }
    });
    return best;
  }

 private:
  Coefficient coefficient(const Desc& desc, int which) {
    if (desc.device_scalars) return {coefficients_.as<char>() + which * size_of(desc.A.scalar), true};
    return {host_coefficients_ + which * size_of(desc.A.scalar) / sizeof(double), false};
  }

  const Context& context_;
  Buffer values_, x_, y_, coefficients_, workspace_;
  double host_coefficients_[4] = {0.5, 0.25, 0.5, 0.25};
  Args args_;
};

struct Made {
  const Implementation* implementation = nullptr;
  std::unique_ptr<Kernel> kernel;
  std::string why;
};

Made make(Queue& queue, const Implementation& implementation, const Desc& desc, std::string why) {
  Made made{&implementation, nullptr, std::move(why)};
  queue.run([&] { made.kernel = implementation.make(desc, queue); });
  return made;
}

/// Why a kernel is not taken under option max_workspace, or "".
std::string over_bound(const Kernel& kernel, const Desc& desc) {
  const size_t bytes = kernel.workspace_bytes();
  if (desc.max_workspace < 0 || bytes <= static_cast<size_t>(desc.max_workspace)) return {};
  return cat("needs ", bytes, " bytes of workspace, more than max_workspace, ", desc.max_workspace);
}

/// The first candidate whose workspace keeps within the bound, which shows once its kernel is made.
Made make_first(Queue& queue, const Desc& desc, const std::vector<const Implementation*>& takes, const char* why,
                PassedOver& passed_over) {
  std::string reason;
  for (size_t i = 0; i < takes.size(); ++i) {
    Made made = make(queue, *takes[i], desc, why);
    reason = over_bound(*made.kernel, desc);
    if (reason.empty()) {
      for (size_t k = i + 1; k < takes.size(); ++k) passed_over.emplace_back(takes[k]->name, "lower priority");
      return made;
    }
    passed_over.emplace_back(takes[i]->name, reason);
  }
  fail(KKC_STATUS_NOT_SUPPORTED, "implementation \"", takes.back()->name, "\" does not take this case: ", reason);
}

Made measure(Context& context, const Desc& desc, const std::vector<const Implementation*>& takes,
             PassedOver& passed_over) {
  Queue& queue = context.queue();
  const std::string key = tuning_key(queue, desc);
  if (const auto known = context.tuning.find(key); known != context.tuning.end())
    for (const Implementation* candidate : takes)
      if (candidate->name == known->second) return make(queue, *candidate, desc, "measured before");
  Trial trial(context, desc);
  Made best;
  double best_seconds = 0;
  for (const Implementation* candidate : takes) {
    Made made = make(queue, *candidate, desc, "");
    if (std::string reason = over_bound(*made.kernel, desc); !reason.empty()) {
      passed_over.emplace_back(candidate->name, std::move(reason));
      continue;
    }
    const double seconds = trial.seconds(*made.kernel, made.kernel->keeps_values());
    log(LogLevel::info, "spmv tuning: ", candidate->name, " ", seconds * 1e6, " us");
    if (best.implementation == nullptr || seconds < best_seconds) {
      if (best.implementation != nullptr)
        passed_over.emplace_back(best.implementation->name, cat("measured ", best_seconds * 1e6, " us"));
      best = std::move(made);
      best_seconds = seconds;
    } else {
      passed_over.emplace_back(candidate->name, cat("measured ", seconds * 1e6, " us"));
    }
  }
  require(best.implementation != nullptr, KKC_STATUS_NOT_SUPPORTED, "no implementation of spmv keeps within ",
          "max_workspace, ", desc.max_workspace);
  best.why = cat("fastest of ", takes.size(), " measured: ", best_seconds * 1e6, " us");
  context.tuning[key] = best.implementation->name;
  return best;
}

}  // namespace

void State::describe(Info& info) const {
  info.add("implementation", std::string(implementation->name));
  info.add("why", why);
  info.add("deterministic", int64_t{implementation->deterministic});
  info.add("op", std::string(kkc::name(desc.op)));
  info.add("index_pair", std::string(kkc::name(desc.A.pair)));
  info.add("scalar", std::string(kkc::name(desc.A.scalar)));
  info.add("rows", desc.A.rows);
  info.add("cols", desc.A.cols);
  info.add("nnz", desc.A.nnz);
  info.add("vectors", desc.vectors);
  info.add("longest_row", desc.rows.longest);
  kernel->describe(info);
}

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, Op op, const Matrix& A, const View& x, const View& y,
                           const Options& options) {
  const auto start = Clock::now();
  const PlanOptions parsed(options, "kkc_spmv_plan", {"transpose"});
  const bool transpose_kept = options.choice("transpose", {"none", "kept"}) == "kept";
  Desc desc = describe_case(*context, op, A, x, y, parsed, transpose_kept);
  desc.rows = look_at_rows(*context, desc.A);

  Queue& queue = context->queue();
  PassedOver passed_over;
  const auto takes = eligible<Implementation>(queue.table(), "spmv", parsed, desc, passed_over);
  // Nothing is executed where y has no elements, so nothing is measured.
  Made made = parsed.measure && takes.size() > 1 && y.count() > 0
                  ? measure(*context, desc, takes, passed_over)
                  : make_first(queue, desc, takes,
                               parsed.implementation.empty() ? "first in order of priority that takes the case"
                                                             : "named by the caller",
                               passed_over);

  auto state = std::make_unique<State>();
  state->implementation = made.implementation;
  state->why = std::move(made.why);
  state->kernel = std::move(made.kernel);
  if (parsed.checked) state->fingerprint = pattern_fingerprint(queue, desc.A);
  state->checked = parsed.checked;
  state->desc = std::move(desc);
  state->desc.A.offsets = state->desc.A.indices = state->desc.A.values = nullptr;
  state->desc.x.data = state->desc.y.data = nullptr;
  log(LogLevel::info, "spmv plan: ", state->implementation->name, " (", state->why, ")");
  return std::make_shared<Plan>(std::move(context), std::move(state), std::move(passed_over), seconds_since(start));
}

namespace {

/// Kernels of GPUs load complex numbers whole; hosts need the alignment of their parts only.
void check_alignment(const void* data, Scalar scalar, const Queue& queue, const char* argument) {
  const bool host = queue.device() == Device::serial || queue.device() == Device::openmp;
  if (!host && reinterpret_cast<uintptr_t>(data) % size_of(scalar) != 0)
    fail(KKC_STATUS_INVALID_ARGUMENT, argument, " lies at ", data, ", expected a multiple of ", size_of(scalar),
         " bytes for ", name(scalar), " on device ", name(queue.device()));
}

/// On the path of every execute: sentences are made only when they are needed.
void check_matrix(const State& state, const Matrix& A, Queue& queue) {
  const CsrRef &is = A.ref(), &planned = state.desc.A;
  require_on_device(A, queue, "A");
  if (is.rows != planned.rows || is.cols != planned.cols || is.nnz != planned.nnz || is.base != planned.base)
    fail(KKC_STATUS_SIZE_MISMATCH, "A is ", is.rows, " x ", is.cols, " with ", is.nnz, " entries, base ", is.base,
         ", expected ", planned.rows, " x ", planned.cols, " with ", planned.nnz, " entries, base ", planned.base,
         ", as planned");
  if (is.pair != planned.pair || is.scalar != planned.scalar)
    fail(KKC_STATUS_TYPE_MISMATCH, "A is of index pair ", name(is.pair), " and type ", name(is.scalar), ", expected ",
         name(planned.pair), " and ", name(planned.scalar), ", as planned");
  check_alignment(is.values, is.scalar, queue, "A's values array");
  if (state.checked && pattern_fingerprint(queue, is) != state.fingerprint)
    fail(KKC_STATUS_PATTERN_CHANGED, "A has another pattern than the one planned (its offsets or indices changed)");
}

void check_vector(const View& v, const DenseRef& planned, Queue& queue, const char* argument) {
  require_usable(v, queue, argument);
  const DenseRef& is = v.ref();
  bool same = is.rank == planned.rank;
  for (int i = 0; same && i < is.rank; ++i) same = is.extents[i] == planned.extents[i];
  if (!same) fail(KKC_STATUS_SIZE_MISMATCH, argument, " is ", v.shape(), ", expected the shape planned");
  if (is.scalar != planned.scalar)
    fail(KKC_STATUS_TYPE_MISMATCH, argument, " holds ", name(is.scalar), ", expected ", name(planned.scalar),
         ", as planned");
  for (int i = 0; i < is.rank; ++i)
    if (is.strides[i] != planned.strides[i] && is.extents[i] > 1)
      fail(KKC_STATUS_SIZE_MISMATCH, argument, " has stride ", is.strides[i], " in dimension ", i, ", expected ",
           planned.strides[i], ", as planned");
  require_data(v, argument);
  check_alignment(is.data, is.scalar, queue, argument);
}

}  // namespace

void execute(Plan& plan, const void* alpha, const Matrix& A, const View& x, const void* beta, View& y) {
  State& state = plan.as<State>();
  Queue& queue = plan.context().queue();
  require(alpha != nullptr, KKC_STATUS_NULL_POINTER, "alpha is NULL, expected a scalar of the planned type");
  require(beta != nullptr, KKC_STATUS_NULL_POINTER, "beta is NULL, expected a scalar of the planned type");
  check_matrix(state, A, queue);
  check_vector(x, state.desc.x, queue, "x");
  check_vector(y, state.desc.y, queue, "y");
  require_output(y, "y");
  require(!overlap(x.ref(), y.ref()), KKC_STATUS_INVALID_ARGUMENT, "x and y overlap, expected separate memory");
  require(!state.desc.values_kept || state.values_set, KKC_STATUS_WRONG_STATE,
          "plan keeps values (option values = kept) and has none yet, expected kkc_spmv_set_values first");
  if (y.count() == 0) return;
  const Args args{{alpha, state.desc.device_scalars},
                  {beta, state.desc.device_scalars},
                  A.ref(),
                  x.ref(),
                  y.ref(),
                  plan.workspace()};
  queue.run([&] { state.kernel->execute(queue, args); });
}

void set_values(Plan& plan, const Matrix& A) {
  State& state = plan.as<State>();
  Queue& queue = plan.context().queue();
  require(state.desc.values_kept, KKC_STATUS_WRONG_STATE,
          "plan was made without option values = kept, expected a plan that keeps values");
  check_matrix(state, A, queue);
  queue.run([&] { state.kernel->set_values(queue, A.ref()); });
  state.values_set = true;
}

}  // namespace kkc::spmv
