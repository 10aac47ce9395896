// A rank-2 view as vendor libraries want it: an order and a leading dimension.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/operands.hpp"

namespace kkc {

struct Panel {
  int64_t rows, cols, leading;
  bool by_rows;
  bool valid;  // false: neither dimension has stride 1, or lines overlap
};

inline Panel panel_of(const DenseRef& v) {
  const int64_t rows = v.extents[0], cols = v.extents[1];
  const bool unit_rows = rows <= 1 || v.strides[0] == 1, unit_cols = cols <= 1 || v.strides[1] == 1;
  Panel panel{rows, cols, 0, unit_cols && !unit_rows, unit_rows || unit_cols};
  const int64_t line = panel.by_rows ? cols : rows, lines = panel.by_rows ? rows : cols;
  const int64_t stride = panel.by_rows ? v.strides[0] : v.strides[1];
  panel.leading = lines <= 1 ? std::max<int64_t>(line, 1) : stride;
  panel.valid = panel.valid && panel.leading >= std::max<int64_t>(line, 1);
  return panel;
}

}  // namespace kkc
