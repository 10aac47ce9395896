// ilu, host_rows: rows in blocks or levels that threads take point-to-point (ilu_host_schedule.hpp), by programs where
// rows are alike (ilu_host_programs.hpp).
#pragma once

#include "ops/ilu/ilu_host_factors.hpp"

namespace kkc::ilu {

template <class Dev>
constexpr Implementation host_rows() {
  return {{"host_rows"}, true, host::unsupported, host::make<Form::lu>};
}

}  // namespace kkc::ilu
