// A set of "key" = value in text; checked by the call that uses it.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "info.hpp"
#include "object.hpp"

namespace kkc {

class Options final : public Object {
 public:
  static constexpr Kind kind_tag = Kind::options;
  Options() : Object(kind_tag) {}
  Options(const Options& other) : Object(kind_tag), values_(other.values_) {}

  void set(const char* key, InfoValue value);
  static std::shared_ptr<Options> from_json(const char* text);

  /// Refuses keys that are not among `known`, with the list.
  void allow_only(const char* function, const std::vector<std::string>& known) const;

  bool has(const std::string& key) const { return values_.count(key) != 0; }
  // Values, or `fallback` when the key is not set; another type of value is refused.
  int64_t integer(const std::string& key, int64_t fallback) const;
  int64_t integer(const std::string& key, int64_t fallback, int64_t least, int64_t most) const;
  double real(const std::string& key, double fallback) const;
  std::string text(const std::string& key, const std::string& fallback) const;
  bool flag(const std::string& key, bool fallback) const;
  /// One of `choices`; the first is the fallback.
  std::string choice(const std::string& key, std::initializer_list<const char*> choices) const;

  const std::map<std::string, InfoValue>& values() const { return values_; }

 private:
  std::map<std::string, InfoValue> values_;
};

/// The caller's set, or an empty one for NULL.
std::shared_ptr<const Options> options_or_none(const void* handle);

}  // namespace kkc
