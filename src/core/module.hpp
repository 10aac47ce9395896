// The border between libkkc and a GPU module: one C function. Only libkkc and modules of one build meet here.
#pragma once

#include "queue.hpp"

namespace kkc {

/// What a module may ask of the core that opened it.
struct CoreTable {
  bool (*in_forked_child)() noexcept;
};

/// kkc_module_entry: compares build ids before it looks at anything else, then gives its backend, which lives as long
/// as the process. Else returns a status and writes a sentence of at most `capacity` bytes with the final 0.
using ModuleEntry = kkc_status_t (*)(const char* build_id, const CoreTable* core, Backend** backend, char* text,
                                     size_t capacity);
inline constexpr char module_entry_name[] = "kkc_module_entry";

}  // namespace kkc
