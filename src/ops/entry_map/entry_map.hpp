// entry_map: operations that put a matrix's entries into another order, or add some of them up, find the output's
// pattern and where its entries come from once; for new values the numeric phase is a gather, which is here.
#pragma once

#include <memory>

#include "core/memory.hpp"
#include "core/operands.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"

namespace kkc {

/// Arrays lie in memory of the device; I and O are the types of `pair`; all count from 0.
struct EntryMap {
  IndexPair pair = IndexPair::i32_32;
  int64_t rows = 0, cols = 0, nnz = 0;      // of the output
  int64_t sources = 0;                      // entries of the input
  std::shared_ptr<const Buffer> offsets;    // O[rows + 1]
  std::shared_ptr<const Buffer> indices;    // I[nnz]
  std::shared_ptr<const Buffer> positions;  // O[sources]: places of the input's entries; null: in their own order
  std::shared_ptr<const Buffer> starts;     // O[nnz + 1]: output entry k is the sum of positions starts[k] to
                                            // starts[k + 1] - 1, in this order; null: it is positions[k]

  /// Plans of such operations need no workspace.
  static constexpr size_t workspace_bytes() { return 0; }
};

/// Room for `count` elements, as an EntryMap shares it.
template <class T>
std::shared_ptr<const Buffer> shared_array(const std::shared_ptr<const Memory>& memory, Space space, int64_t count) {
  return std::make_shared<const Buffer>(memory, space, static_cast<size_t>(count) * sizeof(T));
}

namespace entry_map {

struct Args {
  Scalar scalar;
  IndexPair pair;                  // of positions and starts
  int64_t count;                   // of outputs
  const void *positions, *starts;  // or null, as above
  bool conjugate;
  const void* source;
  void* target;  // does not overlap source
};

struct Implementation : Entry {
  /// At plan time, for what gather() will be asked.
  void (*prepare_gather)(Queue& queue, Scalar scalar, IndexPair pair);
  /// Blocks on hosts, enqueues on GPUs.
  void (*gather)(Queue& queue, const Args& args);
  /// target[i] = source[i] for integers of 4 or 8 bytes that fit either; without a source: i. Blocks on hosts, enqueues
  /// on GPUs.
  void (*convert)(Queue& queue, void* target, size_t target_bytes_each, const void* source, size_t source_bytes_each,
                  int64_t count);
};

}  // namespace entry_map
}  // namespace kkc
