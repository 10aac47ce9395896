// Dense Matrix Market files to and from views of any device.
#pragma once

#include <string>

#include "view.hpp"

namespace kkc {

std::shared_ptr<View> read_dense(const Context& context, const std::string& path, int32_t scalar, int32_t layout);
void write_dense(const Context& context, const View& view, const std::string& path);

}  // namespace kkc
