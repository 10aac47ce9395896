#include "matrix_market_text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace kkc {
namespace {

constexpr size_t longest_line = size_t{1} << 20;

/// A file descriptor that closes itself.
class File final : public TextSource {
 public:
  explicit File(const std::string& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    require(descriptor_ >= 0, KKC_STATUS_IO, "path: cannot open ", path, ": ", std::strerror(errno));
    struct stat status;
    if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
      ::close(descriptor_);
      fail(KKC_STATUS_IO, "path: ", path, " is not a regular file");
    }
    bytes_ = status.st_size;
  }
  ~File() override { ::close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  size_t read(char* to, size_t n) override {
    for (;;) {
      const ssize_t got = ::read(descriptor_, to, n);
      if (got >= 0) return static_cast<size_t>(got);
      require(errno == EINTR, KKC_STATUS_IO, "path: cannot read ", path_, ": ", std::strerror(errno));
    }
  }
  int64_t most_bytes() const override { return bytes_; }

 private:
  const std::string path_;
  const int descriptor_;
  int64_t bytes_ = 0;
};

class Text final : public TextSource {
 public:
  explicit Text(std::string_view text) : text_(text) {}
  size_t read(char* to, size_t n) override {
    n = std::min(n, text_.size());
    std::copy_n(text_.data(), n, to);
    text_.remove_prefix(n);
    return n;
  }
  int64_t most_bytes() const override { return static_cast<int64_t>(text_.size()); }

 private:
  std::string_view text_;
};

/// Passes plain bytes through and inflates gzipped ones (RFC 1952: any number of members), told by the first two.
class Gunzip final : public TextSource {
 public:
  explicit Gunzip(std::unique_ptr<TextSource> source)
      : source_(std::move(source)),
        bytes_(source_->most_bytes()),
        input_(static_cast<size_t>(std::clamp<int64_t>(bytes_, 2, input_bytes))) {
    while (left_ < 2 && refill()) {
    }
    zipped_ = left_ >= 2 && is_magic();
    if (zipped_)
      require(inflateInit2(&stream_, gzip_window) == Z_OK, KKC_STATUS_OUT_OF_MEMORY,
              "no memory left to decompress with");
  }
  ~Gunzip() override {
    if (zipped_) inflateEnd(&stream_);
  }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  size_t read(char* to, size_t n) override {
    if (!zipped_) {
      if (left_ == 0) return source_->read(to, n);
      n = std::min(n, left_);
      std::copy_n(at(), n, to);
      take(n);
      return n;
    }
    n = std::min(n, size_t{1} << 30);  // zlib counts in 32 bits
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(n);
    while (stream_.avail_out == n && !ended_) step();
    return n - stream_.avail_out;
  }

  int64_t most_bytes() const override {
    constexpr int64_t most_ratio = 1032;  // zlib's technical notes: deflate cannot do better
    if (!zipped_) return bytes_;
    return bytes_ > INT64_MAX / most_ratio ? INT64_MAX : bytes_ * most_ratio;
  }

 private:
  static constexpr int64_t input_bytes = int64_t{1} << 18;
  static constexpr int gzip_window = 15 + 16;

  const char* at() const { return input_.data() + begin_; }
  bool is_magic() const { return at()[0] == '\x1f' && at()[1] == '\x8b'; }
  void take(size_t n) {
    begin_ += n;
    left_ -= n;
  }
  /// Reads more input behind what is left.
  bool refill() {
    std::copy_n(at(), left_, input_.data());
    begin_ = 0;
    const size_t got = source_->read(input_.data() + left_, input_.size() - left_);
    left_ += got;
    return got > 0;
  }

  void step() {
    if (left_ == 0 && !refill()) fail(KKC_STATUS_PARSE, "the compressed data end early");
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data() + begin_);
    stream_.avail_in = static_cast<uInt>(left_);
    const int code = inflate(&stream_, Z_NO_FLUSH);
    take(left_ - stream_.avail_in);
    if (code == Z_STREAM_END)
      next_member();
    else if (code == Z_MEM_ERROR)
      fail(KKC_STATUS_OUT_OF_MEMORY, "no memory left to decompress with");
    else if (code != Z_OK && code != Z_BUF_ERROR)
      fail(KKC_STATUS_PARSE,
           "the compressed data are damaged: ", stream_.msg != nullptr ? stream_.msg : "unknown error");
  }

  void next_member() {
    while (left_ < 2 && refill()) {
    }
    ended_ = left_ == 0;
    if (ended_) return;
    require(left_ >= 2 && is_magic(), KKC_STATUS_PARSE, "bytes that are not gzip follow the compressed data");
    require(inflateReset(&stream_) == Z_OK, KKC_STATUS_INTERNAL, "zlib refused to begin the next member");
  }

  std::unique_ptr<TextSource> source_;
  const int64_t bytes_;
  std::vector<char> input_;
  size_t begin_ = 0, left_ = 0;
  z_stream stream_{};
  bool zipped_ = false, ended_ = false;
};

/// '\n' in [text, text + n), counted in bytes so that the loop becomes SIMD.
int64_t count_lines(const char* text, size_t n) {
  int64_t lines = 0;
  size_t i = 0;
  for (; i + 128 <= n; i += 128) {
    uint8_t some = 0;
    for (size_t k = 0; k < 128; ++k) some = static_cast<uint8_t>(some + (text[i + k] == '\n'));
    lines += some;
  }
  for (; i < n; ++i) lines += text[i] == '\n';
  return lines;
}

/// Whether a line may be blank: one that ends in a blank, or is empty.
bool may_have_blank_lines(const char* text, size_t n) {
  if (n > 0 && text[0] == '\n') return true;
  uint8_t any = 0;
  for (size_t i = 1; i < n; ++i) any |= static_cast<uint8_t>((text[i] == '\n') & (text[i - 1] <= ' '));
  return any != 0;
}

int64_t count_blank_lines(const char* text, size_t n) {
  int64_t blank_lines = 0;
  bool blank = true;
  for (size_t i = 0; i < n; ++i) {
    const char c = text[i];
    if (c == '\n') {
      blank_lines += blank;
      blank = true;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      blank = false;
    }
  }
  return blank_lines;
}

}  // namespace

std::unique_ptr<TextSource> open_text_file(const std::string& path) {
  return std::make_unique<Gunzip>(std::make_unique<File>(path));
}

std::unique_ptr<TextSource> open_text_memory(std::string_view text) {
  return std::make_unique<Gunzip>(std::make_unique<Text>(text));
}

TextReader::TextReader(std::unique_ptr<TextSource> source, std::string name, size_t block_bytes)
    : source_(std::move(source)), name_(std::move(name)), block_bytes_(std::max<size_t>(block_bytes, 1)) {}

void TextReader::fail_at(int64_t line, const std::string& text) const {
  fail(KKC_STATUS_PARSE, name_, " line ", line, ": ", text);
}

bool TextReader::extend(std::vector<char>& to, size_t& size, size_t n) {
  if (ended_) return false;
  if (to.size() < size + n + 1) to.resize(size + n + 1);  // and room for the end of the last line
  size_t got = 0;
  try {
    got = source_->read(to.data() + size, n);
  } catch (const Error& e) {
    if (e.status() != KKC_STATUS_PARSE) throw;
    fail(KKC_STATUS_PARSE, name_, " after line ", lines_, ": ", e.what());
  }
  size += got;
  ended_ = got == 0;
  if (ended_ && size > 0 && to[size - 1] != '\n') to[size++] = '\n';
  return true;
}

bool TextReader::next_line(std::string_view& line) {
  size_t searched = begin_;
  for (;;) {
    if (searched < end_) {
      if (const void* found = std::memchr(rest_.data() + searched, '\n', end_ - searched)) {
        const size_t end = static_cast<size_t>(static_cast<const char*>(found) - rest_.data());
        line = {rest_.data() + begin_, end - begin_};
        begin_ = end + 1;
        ++lines_;
        return true;
      }
    }
    searched = end_;
    if (end_ - begin_ > longest_line) fail_at(lines_ + 1, cat("the line is longer than ", longest_line, " bytes"));
    if (!extend(rest_, end_, std::min(block_bytes_, size_t{1} << 16))) return false;
    if (ended_ && begin_ == end_) return false;
  }
}

bool TextReader::next_block(TextBlock& block) {
  std::lock_guard lock(mutex_);
  try {
    return cut_block(block);
  } catch (...) {
    end();
    throw;
  }
}

bool TextReader::cut_block(TextBlock& block) {
  // What was read beyond the last block comes first.
  block.size = end_ - begin_;
  if (block.text.size() < block.size + 1) block.text.resize(block.size + 1);
  std::copy_n(rest_.data() + begin_, block.size, block.text.data());
  begin_ = end_ = 0;
  size_t cut = 0;  // one past the last '\n'
  for (size_t searched = 0;;) {
    const void* const found =
        block.size > searched ? ::memrchr(block.text.data() + searched, '\n', block.size - searched) : nullptr;
    if (found != nullptr) cut = static_cast<size_t>(static_cast<const char*>(found) - block.text.data()) + 1;
    if (ended_ || (cut > 0 && block.size >= block_bytes_)) break;
    if (cut == 0 && block.size > longest_line)
      fail_at(lines_ + 1, cat("the line is longer than ", longest_line, " bytes"));
    searched = block.size;
    extend(block.text, block.size, block_bytes_);
  }
  if (rest_.size() < block.size - cut) rest_.resize(block.size - cut);
  end_ = block.size - cut;
  std::copy_n(block.text.data() + cut, end_, rest_.data());
  block.size = cut;
  if (cut == 0) return false;

  const int64_t lines = count_lines(block.text.data(), cut);
  block.line = lines_ + 1;
  block.entry = entries_;
  block.entries = lines;
  if (may_have_blank_lines(block.text.data(), cut)) block.entries -= count_blank_lines(block.text.data(), cut);
  lines_ += lines;
  entries_ += block.entries;
  return true;
}

void TextReader::stop() {
  std::lock_guard lock(mutex_);
  end();
}

void TextReader::end() {
  begin_ = end_ = 0;
  ended_ = true;
}

}  // namespace kkc
