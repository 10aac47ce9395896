// Facts that a plan or device tells about itself, in order; the core writes them as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kkc {

using InfoValue = std::variant<int64_t, double, std::string>;

class Info {
 public:
  void add(std::string key, int64_t value) { entries_.emplace_back(std::move(key), value); }
  void add(std::string key, double value) { entries_.emplace_back(std::move(key), value); }
  void add(std::string key, std::string value) { entries_.emplace_back(std::move(key), std::move(value)); }
  const std::vector<std::pair<std::string, InfoValue>>& entries() const { return entries_; }

 private:
  std::vector<std::pair<std::string, InfoValue>> entries_;
};

}  // namespace kkc
