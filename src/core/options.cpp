#include "options.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace kkc {
namespace {

std::string show(const InfoValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return cat(*i);
  if (const auto* d = std::get_if<double>(&value)) return cat(*d);
  return cat('"', std::get<std::string>(value), '"');
}

template <class Range>
std::string join(const Range& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + std::string(name);
  return out;
}

}  // namespace

void Options::set(const char* key, InfoValue value) {
  require(key != nullptr, KKC_STATUS_NULL_POINTER, "key is NULL, expected text");
  require(*key != '\0', KKC_STATUS_INVALID_ARGUMENT, "key is empty, expected the name of an option");
  values_[key] = std::move(value);
}

std::shared_ptr<Options> Options::from_json(const char* text) {
  require(text != nullptr, KKC_STATUS_NULL_POINTER, "json is NULL, expected text");
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& e) {
    fail(KKC_STATUS_PARSE, "json is not valid JSON: ", e.what());
  }
  require(json.is_object(), KKC_STATUS_PARSE, "json is a JSON ", json.type_name(), ", expected an object");
  auto options = std::make_shared<Options>();
  // C's texts end at the first such character: a key or a text must not be cut there.
  const auto whole = [](const std::string& part) {
    require(part.find('\0') == std::string::npos, KKC_STATUS_PARSE, "json holds \"", part.c_str(),
            "\\u0000...\", expected keys and texts without the character 0");
  };
  for (const auto& [key, value] : json.items()) {
    whole(key);
    if (value.is_string()) whole(value.get<std::string>());
    if (value.is_string())
      options->set(key.c_str(), value.get<std::string>());
    else if (value.is_boolean())
      options->set(key.c_str(), int64_t{value.get<bool>()});
    else if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
      fail(KKC_STATUS_OVERFLOW, "json: option \"", key, "\" is ", value.get<uint64_t>(),
           ", which does not fit 64 signed bits");
    else if (value.is_number_integer())
      options->set(key.c_str(), value.get<int64_t>());
    else if (value.is_number_float())
      options->set(key.c_str(), value.get<double>());
    else
      fail(KKC_STATUS_PARSE, "json: option \"", key, "\" is of JSON type ", value.type_name(),
           ", expected a number, text, true or false");
  }
  return options;
}

void Options::allow_only(const char* function, const std::vector<std::string>& known) const {
  for (const auto& [key, value] : values_)
    if (std::find(known.begin(), known.end(), key) == known.end())
      fail(KKC_STATUS_UNKNOWN_OPTION, "options: ", function, " does not know \"", key, "\"; it knows ",
           known.empty() ? "none" : join(known));
}

int64_t Options::integer(const std::string& key, int64_t fallback) const {
  const auto it = values_.find(key);
  if (it == values_.end()) return fallback;
  if (const auto* i = std::get_if<int64_t>(&it->second)) return *i;
  if (const auto* d = std::get_if<double>(&it->second))
    if (std::nearbyint(*d) == *d && std::abs(*d) < 9e15) return static_cast<int64_t>(*d);
  fail(KKC_STATUS_INVALID_ARGUMENT, "options: \"", key, "\" is ", show(it->second), ", expected an integer");
}

int64_t Options::integer(const std::string& key, int64_t fallback, int64_t least, int64_t most) const {
  const int64_t value = integer(key, fallback);
  require(!has(key) || (value >= least && value <= most), KKC_STATUS_INVALID_ARGUMENT, "options: \"", key, "\" is ",
          value, ", expected ", least, " to ", most);
  return value;
}

double Options::real(const std::string& key, double fallback) const {
  const auto it = values_.find(key);
  if (it == values_.end()) return fallback;
  if (const auto* d = std::get_if<double>(&it->second)) return *d;
  if (const auto* i = std::get_if<int64_t>(&it->second)) return static_cast<double>(*i);
  fail(KKC_STATUS_INVALID_ARGUMENT, "options: \"", key, "\" is ", show(it->second), ", expected a number");
}

std::string Options::text(const std::string& key, const std::string& fallback) const {
  const auto it = values_.find(key);
  if (it == values_.end()) return fallback;
  if (const auto* s = std::get_if<std::string>(&it->second)) return *s;
  fail(KKC_STATUS_INVALID_ARGUMENT, "options: \"", key, "\" is ", show(it->second), ", expected text");
}

bool Options::flag(const std::string& key, bool fallback) const { return integer(key, fallback ? 1 : 0, 0, 1) != 0; }

std::string Options::choice(const std::string& key, std::initializer_list<const char*> choices) const {
  const std::string value = text(key, *choices.begin());
  for (const char* c : choices)
    if (value == c) return value;
  fail(KKC_STATUS_UNKNOWN_OPTION, "options: \"", key, "\" is \"", value, "\", expected one of ", join(choices));
}

std::shared_ptr<const Options> options_or_none(const void* handle) {
  if (handle == nullptr) return std::make_shared<Options>();
  return as<Options>(handle, "options");
}

}  // namespace kkc
