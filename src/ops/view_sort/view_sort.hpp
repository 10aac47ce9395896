// view_sort: stable sorts of a view or of each of its rows or columns. Contract of its implementations.
#pragma once

#include <memory>
#include <string>

#include "core/info.hpp"
#include "core/memory.hpp"
#include "core/operands.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"

namespace kkc::view_sort {

/// One array seen as lines that are sorted on their own: element i of line l is data[l line + i step].
struct Lines {
  void* data;  // may be null in a Desc
  int64_t step, line;

  /// Each line is a run and follows the one before.
  bool packed(int64_t length) const { return (step == 1 || length == 1) && line == length; }
};

/// What goes with the keys.
enum class Payload { none, values, places };

/// Everything an implementation may decide on.
struct Desc {
  Scalar key;
  Payload payload;
  Scalar value;  // of sorted_values; none without payload
  bool descending;
  bool keys_wanted;       // sorted_keys is there
  int64_t lines, length;  // not 0 in make()
  Lines keys, sorted_keys, values, sorted_values;
  std::shared_ptr<const Memory> memory;  // for plan data
};

/// sorted_keys may be keys, and sorted_values values; nothing else overlaps an output.
struct Args {
  Lines keys, sorted_keys, values, sorted_values;
  void* workspace;  // workspace_bytes() of device memory, or null
};

/// A plan's numeric part. Host kernels block; GPU kernels enqueue on the queue's stream and never allocate.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void execute(Queue& queue, const Args& args) = 0;
  virtual size_t workspace_bytes() const { return 0; }
  virtual void describe(Info&) const {}
};

struct Implementation : Entry {
  bool deterministic;  // the same bits run to run
  /// Why not, or "" when it takes the case.
  std::string (*unsupported)(const Desc& desc);
  std::unique_ptr<Kernel> (*make)(const Desc& desc, Queue& queue);
};

}  // namespace kkc::view_sort
