// ilu_pattern: the pattern of incomplete factors and where their values come from. The symbolic phase of ilu and ic;
// no C API of its own.
#pragma once

#include <memory>
#include <vector>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "core/operands.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"

namespace kkc::ilu_pattern {

/// The pattern's arrays are valid during make() only.
struct Desc {
  CsrRef A;          // square; offsets and indices checked; values may be null
  int32_t level;     // entries up to this level of fill
  bool lower;        // only what lies below the diagonal and on it (level 0)
  bool add_missing;  // diagonal entries that A lacks, else they are refused
  std::shared_ptr<const Memory> memory;
};

/// Arrays lie in memory of the device; I and O are the types of A's pair; all count from 0.
struct FactorPattern {
  int64_t nnz = 0;
  std::shared_ptr<const Buffer> offsets;   // O[rows + 1], also for no rows
  std::shared_ptr<const Buffer> indices;   // I[nnz], rows ascend strictly
  std::shared_ptr<const Buffer> diagonal;  // O[rows]: place of (i, i)
  // Where the values come from: see ValueSource.
  std::shared_ptr<const Buffer> sources, positions, starts;

  int64_t bytes_beside_pattern() const {
    size_t bytes = 0;
    for (const auto& buffer : {diagonal, sources, positions, starts})
      if (buffer) bytes += buffer->bytes();
    return static_cast<int64_t>(bytes);
  }
};

/// What kernels read A's values through. Entry k of the factors is entry sources[k] of A with sorted rows (null: k
/// itself; -1: 0, filled in), and entry s of that one is entry positions[s] of A (null: s itself), or the sum of those
/// at positions[starts[s]] to positions[starts[s + 1] - 1].
template <class O>
struct ValueSource {
  const O *sources, *positions, *starts;

  explicit ValueSource(const FactorPattern& pattern)
      : sources(array(pattern.sources)), positions(array(pattern.positions)), starts(array(pattern.starts)) {}
  ValueSource() = default;

 private:
  static const O* array(const std::shared_ptr<const Buffer>& buffer) {
    return buffer ? buffer->template as<const O>() : nullptr;
  }
};

struct Implementation : Entry {
  /// May block. Refuses a row without a diagonal entry, and factors that A's index pair cannot count.
  FactorPattern (*make)(const Desc& desc, Queue& queue);
};

[[noreturn]] inline void fail_missing(int64_t row) {
  fail(KKC_STATUS_INVALID_ARGUMENT, "A has no diagonal entry in row ", row,
       " (counted from 0), expected one in every row, or option missing_diagonal = add");
}

}  // namespace kkc::ilu_pattern
