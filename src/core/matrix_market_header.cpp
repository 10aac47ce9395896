#include "matrix_market_header.hpp"

#include <algorithm>
#include <charconv>

namespace kkc {
namespace {

constexpr const char* formats[] = {"coordinate", "array"};
constexpr const char* fields[] = {"real", "complex", "integer", "pattern"};
constexpr const char* symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian"};

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t i = 0; i < line.size();) {
    if (is_blank(line[i])) {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < line.size() && !is_blank(line[end])) ++end;
    words.push_back(line.substr(i, end - i));
    i = end;
  }
  return words;
}

bool same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

template <class E, size_t N>
E choose(const TextReader& reader, std::string_view word, const char* what, const char* const (&choices)[N]) {
  std::string list;
  for (size_t i = 0; i < N; ++i) {
    if (same_word(word, choices[i])) return static_cast<E>(i);
    list += (i == 0 ? "" : ", ") + std::string(choices[i]);
  }
  reader.fail_at(1, cat("the ", what, " is ", quoted(word), ", expected one of ", list));
}

MarketHeader read_banner(TextReader& reader) {
  std::string_view line;
  if (!reader.next_line(line)) reader.fail_at(1, "the file is empty, expected %%MatrixMarket");
  const auto words = words_of(line);
  if (words.empty() || !same_word(words[0], "%%MatrixMarket"))
    reader.fail_at(1, cat("begins with ", quoted(line), ", expected %%MatrixMarket matrix"));
  if (words.size() != 5)
    reader.fail_at(1, cat("has ", words.size(), " words, expected 5: %%MatrixMarket matrix format field symmetry"));
  if (!same_word(words[1], "matrix")) reader.fail_at(1, cat("holds a ", quoted(words[1]), ", expected a matrix"));
  MarketHeader h{};
  h.format = choose<MarketFormat>(reader, words[2], "format", formats);
  h.field = choose<MarketField>(reader, words[3], "field", fields);
  h.symmetry = choose<MarketSymmetry>(reader, words[4], "symmetry", symmetries);
  if (h.format == MarketFormat::array && h.field == MarketField::pattern)
    reader.fail_at(1, "an array of field pattern does not exist");
  if (h.symmetry == MarketSymmetry::hermitian && h.field != MarketField::complex)
    reader.fail_at(1, cat("hermitian with field ", name(h.field), " does not exist, expected complex"));
  if (h.symmetry == MarketSymmetry::skew && h.field == MarketField::pattern)
    reader.fail_at(1, "skew-symmetric with field pattern does not exist");
  return h;
}

int64_t parse_size(const TextReader& reader, std::string_view word, const char* what) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  const int64_t line = reader.lines();
  if (code == std::errc::result_out_of_range)
    reader.fail_at(line, cat("the number of ", what, " is ", quoted(word), ", which is beyond 64 bits"));
  if (code != std::errc() || end != word.data() + word.size() || value < 0)
    reader.fail_at(line, cat("the number of ", what, " is ", quoted(word), ", expected a whole number from 0"));
  return value;
}

using Wide = unsigned __int128;

/// Entries that a file of array format lists: all, or those on and below (skew: below) the diagonal.
Wide array_entries(const MarketHeader& h) {
  const Wide n = static_cast<Wide>(h.rows);
  if (h.symmetry == MarketSymmetry::general) return n * static_cast<Wide>(h.cols);
  if (h.symmetry == MarketSymmetry::skew) return n == 0 ? 0 : n * (n - 1) / 2;
  return n * (n + 1) / 2;
}

}  // namespace

const char* name(MarketField field) { return fields[static_cast<int>(field)]; }
const char* name(MarketSymmetry symmetry) { return symmetries[static_cast<int>(symmetry)]; }

std::string quoted(std::string_view text) {
  std::string out(text.substr(0, 40));
  for (char& c : out)
    if (c < ' ' || c > '~') c = '?';
  return '"' + out + (text.size() > 40 ? "...\"" : "\"");
}

MarketHeader read_market_header(TextReader& reader) {
  MarketHeader h = read_banner(reader);
  std::vector<std::string_view> words;
  std::string_view line;
  do {
    if (!reader.next_line(line)) reader.fail_at(reader.lines() + 1, "the file ends before the line of sizes");
    words = words_of(line);
  } while (words.empty() || words[0][0] == '%');
  h.size_line = reader.lines();
  const bool coordinate = h.format == MarketFormat::coordinate;
  const size_t expected = coordinate ? 3 : 2;
  if (words.size() != expected)
    reader.fail_at(h.size_line, cat("has ", words.size(), " words, expected ", expected, ": rows, columns",
                                    coordinate ? ", entries" : ""));
  h.rows = parse_size(reader, words[0], "rows");
  h.cols = parse_size(reader, words[1], "columns");
  if (h.symmetry != MarketSymmetry::general && h.rows != h.cols)
    reader.fail_at(h.size_line, cat("announces a ", name(h.symmetry), " matrix of ", h.rows, " rows and ", h.cols,
                                    " columns, expected a square one"));
  if (coordinate) h.entries = parse_size(reader, words[2], "entries");
  const Wide entries = coordinate ? static_cast<Wide>(h.entries) : array_entries(h);
  if (coordinate && entries > 0 && (h.rows == 0 || h.cols == 0))
    reader.fail_at(h.size_line,
                   cat("announces ", h.entries, " entries in a matrix of ", h.rows, " rows and ", h.cols, " columns"));
  h.entries = entries > INT64_MAX ? INT64_MAX : static_cast<int64_t>(entries);
  return h;
}

void require_plausible(const TextReader& reader, const MarketHeader& h) {
  // Every number takes two bytes at least: a digit, and a blank or the line's end.
  const int indices = h.format == MarketFormat::coordinate ? 2 : 0;
  const int numbers = indices + (h.field == MarketField::complex ? 2 : h.field == MarketField::pattern ? 0 : 1);
  const Wide room = static_cast<Wide>(reader.most_bytes()) + 1;
  if (static_cast<Wide>(h.entries) > room / (2 * static_cast<Wide>(numbers)))
    reader.fail_at(h.size_line, cat("announces ", h.rows, " rows, ", h.cols, " columns",
                                    h.format == MarketFormat::coordinate ? cat(", ", h.entries, " entries") : "",
                                    ", more than a file of this size can hold"));
  // Row offsets are the one array that the number of entries does not bound.
  constexpr int64_t always_plausible = int64_t{1} << 27;
  if (h.rows > always_plausible && static_cast<Wide>(h.rows) / 1024 > room)
    reader.fail_at(h.size_line, cat("announces ", h.rows, " rows for ", h.entries,
                                    " entries, which is not plausible for a file of this size"));
}

}  // namespace kkc
