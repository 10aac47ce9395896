// The sentence of this thread's last failure, in fixed storage: remembering never allocates.
#pragma once

namespace kkc {

void remember_error(const char* text) noexcept;
const char* last_error() noexcept;

}  // namespace kkc
