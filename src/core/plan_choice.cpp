#include "plan_choice.hpp"

#include <cstring>
#include <random>

namespace kkc {

Buffer random_numbers(const Context& context, Scalar scalar, int64_t count) {
  constexpr size_t chunk_bytes = size_t{1} << 20;
  std::mt19937_64 random(7);
  std::string chunk(chunk_bytes, '\0');
  const bool single = scalar == Scalar::f32 || scalar == Scalar::c64;
  for (size_t i = 0; i < chunk_bytes; i += single ? 4 : 8) {
    const double value = static_cast<double>(random() >> 11) * 0x1p-53 - 0.5;
    const float rounded = static_cast<float>(value);
    std::memcpy(&chunk[i], single ? static_cast<const void*>(&rounded) : &value, single ? 4 : 8);
  }
  Buffer buffer(context.memory(), own_space(context.device()), static_cast<size_t>(count) * size_of(scalar));
  for (size_t at = 0; at < buffer.bytes(); at += chunk_bytes)
    copy_and_wait(context.queue(), buffer.as<char>() + at, chunk.data(), std::min(chunk_bytes, buffer.bytes() - at));
  return buffer;
}

}  // namespace kkc
