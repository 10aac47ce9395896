#include "view_copy.hpp"

#include "core/context.hpp"
#include "core/strided.hpp"
#include "core/view.hpp"

namespace kkc::view_copy {
namespace {

/// Host memory is the same for all devices; any other belongs to one.
void require_reachable(const View& view, const Queue& queue, const char* argument) {
  if (view.space() != Space::host) require_on_device(view, queue, argument);
}

void run(Queue& queue, void* scratch, const DenseRef& source, const DenseRef& destination) {
  const auto& copy = only_implementation<Implementation>(queue, "view_copy");
  queue.run([&] { copy.run(queue, scratch, {source, destination}); });
}

/// The array's shape and order without gaps, in other memory.
DenseRef packed(const DenseRef& array, void* data) {
  DenseRef result = array;
  result.data = data;
  bool placed[max_rank] = {};
  int64_t stride = 1;
  for (int k = 0; k < array.rank; ++k) {
    int next = -1;
    for (int d = 0; d < array.rank; ++d)
      if (!placed[d] && (next < 0 || array.strides[d] < array.strides[next] ||
                         (array.strides[d] == array.strides[next] && array.extents[d] < array.extents[next])))
        next = d;
    placed[next] = true;
    result.strides[next] = stride;
    stride *= array.extents[next];
  }
  return result;
}

/// Whether both lie in memory in the same way, so that bytes can be copied at once.
bool same_bytes(const DenseRef& a, const DenseRef& b) {
  const DenseRef* const arrays[2] = {&a, &b};
  return walk_of(arrays).contiguous();
}

/// Host memory on one side that the device cannot read. The host's side travels as it lies, without gaps; the device
/// changes the order.
void run_staged(Context& context, const View& source, const View& destination) {
  Queue& queue = context.queue();
  const size_t bytes = static_cast<size_t>(source.count()) * size_of(source.scalar());
  const auto buffer = [&](Space space) { return Buffer(context.memory(), space, bytes); };
  const auto host_run = [](const DenseRef& from, const DenseRef& to) {
    Backend& hosts = backend(Device::serial);
    std::shared_ptr<Queue> host;
    hosts.run([&] { host = hosts.open(0, {}); });
    run(*host, nullptr, from, to);
  };
  const DenseRef& from = source.ref();
  const DenseRef& to = destination.ref();

  if (same_bytes(to, from)) {
    copy_and_wait(queue, to.data, from.data, bytes);
    return;
  }
  const bool from_device = queue.reads(source.space()), to_device = queue.reads(destination.space());
  if (!from_device && !to_device) {
    queue.run([&] { queue.synchronize(); });
    host_run(from, to);
    return;
  }
  const DenseRef& host = from_device ? to : from;
  const bool gaps = !same_bytes(host, packed(host, nullptr));
  const Buffer host_buffer = gaps ? buffer(Space::host) : Buffer();
  const DenseRef host_side = gaps ? packed(host, host_buffer.data()) : host;
  const bool direct = same_bytes(from_device ? from : to, host_side);
  const Buffer device_buffer = direct ? Buffer() : buffer(Space::device);
  const DenseRef device_side = direct ? (from_device ? from : to) : packed(host, device_buffer.data());

  if (from_device) {
    if (!direct) run(queue, context.scratch(), from, device_side);
    copy_and_wait(queue, host_side.data, device_side.data, bytes);
    if (gaps) host_run(host_side, to);
  } else {
    if (gaps) host_run(from, host_side);
    copy_and_wait(queue, device_side.data, host_side.data, bytes);
    if (!direct) run(queue, context.scratch(), device_side, to);
    queue.run([&] { queue.synchronize(); });
  }
}

}  // namespace

void execute(Context& context, const View& source, View& destination) {
  Queue& queue = context.queue();
  require_reachable(source, queue, "source");
  require_reachable(destination, queue, "destination");
  require_output(destination, "destination");
  require_same_shape(source, destination, "source", "destination");
  require_same_type(source, destination, "source", "destination");
  require_data(source, "source");
  require_data(destination, "destination");
  if (source.count() == 0) return;
  require(!overlap(source.ref(), destination.ref()), KKC_STATUS_INVALID_ARGUMENT,
          "source and destination overlap in memory, expected separate elements");
  if (queue.reads(source.space()) && queue.reads(destination.space()))
    run(queue, context.scratch(), source.ref(), destination.ref());
  else
    run_staged(context, source, destination);
}

}  // namespace kkc::view_copy
