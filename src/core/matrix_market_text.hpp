// Text of a Matrix Market file, plain or gzipped, handed out in blocks of whole lines.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "error.hpp"

namespace kkc {

/// Bytes in order, decompressed.
class TextSource {
 public:
  virtual ~TextSource() = default;
  /// Up to n bytes; 0 only at the end. Throws IO, PARSE (damaged compression).
  virtual size_t read(char* to, size_t n) = 0;
  /// No more bytes than these can come, as far as the file's size tells.
  virtual int64_t most_bytes() const = 0;
};

std::unique_ptr<TextSource> open_text_file(const std::string& path);
std::unique_ptr<TextSource> open_text_memory(std::string_view text);

/// Whole lines, each ended by '\n'.
struct TextBlock {
  std::vector<char> text;
  size_t size = 0;
  int64_t line = 0;   // number of the first line, from 1
  int64_t entry = 0;  // non-blank lines handed out in blocks before
  int64_t entries = 0;
};

/// Cuts a source into lines (for the header) and then into blocks, which any number of threads may take.
class TextReader {
 public:
  TextReader(std::unique_ptr<TextSource> source, std::string name, size_t block_bytes);

  /// The next line without its end; false at the end of the text. Valid until the next call.
  bool next_line(std::string_view& line);
  /// The next block; false at the end. Thread-safe.
  bool next_block(TextBlock& block);
  /// From now on there are no more blocks. Thread-safe.
  void stop();

  int64_t lines() const { return lines_; }      // handed out
  int64_t entries() const { return entries_; }  // non-blank lines handed out in blocks
  int64_t most_bytes() const { return source_->most_bytes(); }

  [[noreturn]] void fail_at(int64_t line, const std::string& text) const;

 private:
  /// Appends up to n bytes to `to`; false at the end.
  bool extend(std::vector<char>& to, size_t& size, size_t n);
  bool cut_block(TextBlock& block);
  void end();

  std::unique_ptr<TextSource> source_;
  const std::string name_;
  const size_t block_bytes_;
  std::mutex mutex_;
  std::vector<char> rest_;  // read, not handed out: [begin_, end_)
  size_t begin_ = 0, end_ = 0;
  bool ended_ = false;
  int64_t lines_ = 0, entries_ = 0;
};

}  // namespace kkc
