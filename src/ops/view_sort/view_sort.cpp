// view_sort: validation, choice of the implementation, and the plan's state.
#include "view_sort.hpp"

#include <chrono>
#include <optional>

#include "core/log.hpp"
#include "core/planned_matrix.hpp"
#include "core/strided.hpp"
#include "view_sort_plan.hpp"

namespace kkc::view_sort {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* names[4] = {"keys", "sorted_keys", "values", "sorted_values"};

Lines lines_of(const DenseRef& view, int32_t dim) {
  return {view.data, view.strides[dim], view.rank == 2 ? view.strides[1 - dim] : view.extents[0]};
}

const char* text(Payload payload) {
  switch (payload) {
    case Payload::none: return "none";
    case Payload::values: return "values";
    case Payload::places: return "places";
  }
  return "";
}

Desc describe_case(const Context& context, int32_t dim, const View* const (&views)[4], bool descending) {
  Queue& queue = context.queue();
  const auto& [keys, sorted_keys, values, sorted_values] = views;
  require(keys->rank() == 1 || keys->rank() == 2, KKC_STATUS_SIZE_MISMATCH, "keys has rank ", keys->rank(),
          ", expected 1 or 2");
  require(dim >= 0 && dim < keys->rank(), KKC_STATUS_INVALID_ARGUMENT, "dim is ", dim, ", expected 0 to ",
          keys->rank() - 1);
  require(sorted_keys != nullptr || sorted_values != nullptr, KKC_STATUS_NULL_POINTER,
          "sorted_keys and sorted_values are both NULL, expected at least one output");
  require(values == nullptr || sorted_values != nullptr, KKC_STATUS_NULL_POINTER,
          "sorted_values is NULL and values is not, expected a place for the sorted values");
  for (int i = 0; i < 4; ++i) {
    if (views[i] == nullptr) continue;
    require_usable(*views[i], queue, names[i]);
    require_same_shape(*keys, *views[i], "keys", names[i]);
  }
  for (const int i : {1, 3})
    if (views[i] != nullptr) require_output(*views[i], names[i]);
  if (sorted_keys != nullptr) require_same_type(*keys, *sorted_keys, "keys", "sorted_keys");
  if (values != nullptr) require_same_type(*values, *sorted_values, "values", "sorted_values");

  Desc desc{};
  desc.key = keys->scalar();
  desc.descending = descending;
  desc.length = keys->extent(dim);
  desc.lines = keys->rank() == 2 ? keys->extent(1 - dim) : 1;
  if (sorted_values != nullptr) {
    desc.value = sorted_values->scalar();
    desc.payload = values != nullptr ? Payload::values : Payload::places;
  }
  if (desc.payload == Payload::places) {
    require(desc.value == Scalar::i32 || desc.value == Scalar::i64, KKC_STATUS_TYPE_MISMATCH, "sorted_values holds ",
            name(desc.value), ", expected i32 or i64 for the places of keys (values is NULL)");
    require(desc.value == Scalar::i64 || desc.length <= INT32_MAX, KKC_STATUS_OVERFLOW, "sorted_values holds i32 and ",
            desc.length, " keys are sorted, expected i64 for places beyond ", INT32_MAX);
  }
  desc.keys_wanted = sorted_keys != nullptr;
  Lines* const seen[4] = {&desc.keys, &desc.sorted_keys, &desc.values, &desc.sorted_values};
  for (int i = 0; i < 4; ++i)
    if (views[i] != nullptr) *seen[i] = lines_of(views[i]->ref(), dim);
  desc.memory = context.memory();
  return desc;
}

std::string tuning_key(const Queue& queue, const Desc& d) {
  std::string key = cat("view_sort ", name(queue.device()), ' ', queue.concurrency(), ' ', name(d.key), ' ',
                        text(d.payload), ' ', d.payload == Payload::none ? "" : name(d.value), ' ', d.lines, 'x',
                        d.length, d.keys_wanted ? " keys" : "", " steps");
  for (const Lines* lines : {&d.keys, &d.sorted_keys, &d.values, &d.sorted_values})
    key += cat(' ', lines->step, ',', lines->line);
  return key;
}

/// Private operands for tuning = measure.
class Trial {
 public:
  Trial(const Context& context, const Desc& desc, const DenseRef (&planned)[4]) : context_(context) {
    args_ = {desc.keys, desc.sorted_keys, desc.values, desc.sorted_values, nullptr};
    Lines* const lines[4] = {&args_.keys, &args_.sorted_keys, &args_.values, &args_.sorted_values};
    for (int i = 0; i < 4; ++i) {
      if (planned[i].rank == 0) continue;
      // Any bits are a key of some kind; those of random numbers sort like real ones.
      const auto bytes = span_of(planned[i]) * static_cast<int64_t>(size_of(planned[i].scalar));
      memory_[i] = random_numbers(context, Scalar::f64, (bytes + 7) / 8);
      lines[i]->data = memory_[i].data();
    }
  }

  double seconds(Kernel& kernel) {
    Queue& queue = context_.queue();
    workspace_ = Buffer(context_.memory(), memory_[0].space(), kernel.workspace_bytes());
    args_.workspace = workspace_.data();
    double seconds = 0;
    queue.run([&] { seconds = fastest_seconds(queue, [&] { kernel.execute(queue, args_); }); });
    return seconds;
  }

 private:
  const Context& context_;
  Buffer memory_[4], workspace_;
  Args args_{};
};

}  // namespace

void State::describe(Info& info) const {
  info.add("implementation", std::string(implementation->name));
  info.add("why", why);
  info.add("deterministic", int64_t{implementation->deterministic});
  info.add("key", std::string(kkc::name(desc.key)));
  info.add("payload", std::string(text(desc.payload)));
  info.add("order", std::string(desc.descending ? "descending" : "ascending"));
  info.add("lines", desc.lines);
  info.add("length", desc.length);
  if (kernel != nullptr) kernel->describe(info);
}

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, int32_t dim, const View& keys, const View* sorted_keys,
                           const View* values, const View* sorted_values, const Options& options) {
  const auto start = Clock::now();
  const PlanOptions parsed(options, "kkc_view_sort_plan", {"order"});
  const bool descending = options.choice("order", {"ascending", "descending"}) == "descending";
  const View* const views[4] = {&keys, sorted_keys, values, sorted_values};
  Queue& queue = context->queue();
  auto state = std::make_unique<State>();
  state->desc = describe_case(*context, dim, views, descending);
  state->dim = dim;
  for (int i = 0; i < 4; ++i) {
    if (views[i] == nullptr) continue;
    state->in_use[i] = true;
    state->planned[i] = views[i]->ref();
    state->planned[i].data = nullptr;
  }
  PassedOver passed_over;
  const Desc& desc = state->desc;
  const auto takes = eligible<Implementation>(queue.table(), State::name, parsed, desc, passed_over);
  if (keys.count() == 0) {
    state->implementation = takes.front();
    state->why = "there is nothing to sort";
  } else {
    const Choice<Implementation, Kernel, Desc> choice(*context, State::name, parsed, desc, takes, passed_over);
    auto made = parsed.measure && takes.size() > 1
                    ? choice.measured(tuning_key(queue, desc),
                                      [trial = std::optional<Trial>(), &context, &state](Kernel& kernel) mutable {
                                        if (!trial) trial.emplace(*context, state->desc, state->planned);
                                        return trial->seconds(kernel);
                                      })
                    : choice.first();
    state->implementation = made.implementation;
    state->why = std::move(made.why);
    state->kernel = std::move(made.kernel);
  }
  log(LogLevel::info, "view_sort plan: ", state->implementation->name, " (", state->why, ")");
  for (Lines* lines : {&state->desc.keys, &state->desc.sorted_keys, &state->desc.values, &state->desc.sorted_values})
    lines->data = nullptr;
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return std::make_shared<Plan>(std::move(context), std::move(state), std::move(passed_over), seconds);
}

namespace {

void check_view(const View* v, bool in_use, const DenseRef& planned, Queue& queue, const char* argument) {
  if ((v != nullptr) != in_use)
    fail(KKC_STATUS_NULL_POINTER, argument, in_use ? " is NULL, expected a view" : " is a view, expected NULL",
         ", as planned");
  if (v == nullptr) return;
  require_as_planned(*v, planned, queue, argument);
}

}  // namespace

void execute(Plan& plan, const View& keys, View* sorted_keys, const View* values, View* sorted_values) {
  State& state = plan.as<State>();
  Queue& queue = plan.context().queue();
  const View* const views[4] = {&keys, sorted_keys, values, sorted_values};
  for (int i = 0; i < 4; ++i) check_view(views[i], state.in_use[i], state.planned[i], queue, names[i]);
  for (const int out : {1, 3}) {
    if (views[out] == nullptr) continue;
    require_output(*views[out], names[out]);
    for (int i = 0; i < 4; ++i)
      if (i != out && views[i] != nullptr && !(i + 1 == out && identical(views[i]->ref(), views[out]->ref())) &&
          overlap(views[i]->ref(), views[out]->ref()))
        fail(KKC_STATUS_INVALID_ARGUMENT, names[i], " and ", names[out], " overlap, expected ",
             i + 1 == out ? "the same elements or separate memory" : "separate memory");
  }
  if (keys.count() == 0) return;
  Args args{};
  args.keys = lines_of(keys.ref(), state.dim);
  if (sorted_keys != nullptr) args.sorted_keys = lines_of(sorted_keys->ref(), state.dim);
  if (values != nullptr) args.values = lines_of(values->ref(), state.dim);
  if (sorted_values != nullptr) args.sorted_values = lines_of(sorted_values->ref(), state.dim);
  args.workspace = plan.workspace();
  queue.run([&] { state.kernel->execute(queue, args); });
}

}  // namespace kkc::view_sort
