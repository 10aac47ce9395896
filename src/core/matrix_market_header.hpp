// The first lines of a Matrix Market file: banner, comments, sizes.
#pragma once

#include <cstdint>

#include "matrix_market_text.hpp"

namespace kkc {

enum class MarketFormat { coordinate, array };
enum class MarketField { real, complex, integer, pattern };
enum class MarketSymmetry { general, symmetric, skew, hermitian };

struct MarketHeader {
  MarketFormat format;
  MarketField field;
  MarketSymmetry symmetry;
  int64_t rows, cols;
  int64_t entries;    // that the file lists
  int64_t size_line;  // where it says so
};

const char* name(MarketField);
const char* name(MarketSymmetry);

/// Reads and checks the header.
MarketHeader read_market_header(TextReader& reader);

/// Refuses more rows and entries than a file of this size can be about: to be asked before anything is allocated.
void require_plausible(const TextReader& reader, const MarketHeader& header);

/// At most the beginning of a text that a file holds, printable, in quotes.
std::string quoted(std::string_view text);

/// The number at p; null when there is none, or one of more than 18 digits.
inline const char* parse_count(const char* p, int64_t& value) {
  const char* const first = p;
  uint64_t v = 0;
  for (; static_cast<unsigned char>(*p - '0') < 10; ++p) v = 10 * v + static_cast<unsigned char>(*p - '0');
  value = static_cast<int64_t>(v);
  return p != first && p - first <= 18 ? p : nullptr;
}

}  // namespace kkc
