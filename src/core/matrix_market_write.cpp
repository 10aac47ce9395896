#include "matrix_market_write.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>

#include "dispatch.hpp"
#include "matrix_coordinates.hpp"
#include "matrix_market_header.hpp"
#include "matrix_parallel.hpp"
#include "matrix_properties.hpp"
#include "options.hpp"

namespace kkc {
namespace {

/// A file that takes its name only once it is complete: written beside, then renamed.
class NewFile {
 public:
  explicit NewFile(const std::string& path) : path_(path) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const auto status = fs::status(path, ignored);
    require(!fs::exists(status) || fs::is_regular_file(status), KKC_STATUS_IO, "path: ", path,
            " exists and is not a regular file");
    // Through a symbolic link the file that it names is replaced, not the link.
    target_ = fs::is_symlink(fs::symlink_status(path, ignored)) && fs::exists(status) ? fs::canonical(path, ignored)
                                                                                      : fs::path(path);
    static std::atomic<unsigned> count{0};
    do {
      beside_ = target_.parent_path() / cat(".kkc-", ::getpid(), "-", ++count, ".tmp");
      descriptor_ = ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor_ < 0 && errno == EEXIST);
    require(descriptor_ >= 0, KKC_STATUS_IO, "path: cannot write ", path, ": ", std::strerror(errno));
  }
  ~NewFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!complete_) ::unlink(beside_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(const std::string& bytes) {
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t n = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
      require(n >= 0 || errno == EINTR, KKC_STATUS_IO, "path: cannot write ", path_, ": ", std::strerror(errno));
      if (n > 0) done += static_cast<size_t>(n);
    }
  }

  void complete() {
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    require(closed == 0, KKC_STATUS_IO, "path: cannot write ", path_, ": ", std::strerror(errno));
    require(::rename(beside_.c_str(), target_.c_str()) == 0, KKC_STATUS_IO, "path: cannot replace ", path_, ": ",
            std::strerror(errno));
    complete_ = true;
  }

 private:
  const std::string path_;
  std::filesystem::path target_, beside_;
  int descriptor_ = -1;
  bool complete_ = false;
};

/// One gzip member.
std::string gzip_member(std::string_view text) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16, memory_level = 8;
  require(
      deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, memory_level, Z_DEFAULT_STRATEGY) == Z_OK,
      KKC_STATUS_OUT_OF_MEMORY, "no memory left to compress with");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, deflateEnd);
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  require(deflate(&stream, Z_FINISH) == Z_STREAM_END, KKC_STATUS_INTERNAL, "zlib did not end its stream");
  out.resize(out.size() - stream.avail_out);
  return out;
}

/// As members that follow one another (RFC 1952), each of a size that zlib counts: threads compress apart.
std::string gzipped(std::string_view text) {
  constexpr size_t most = size_t{1} << 30;
  std::string out = gzip_member(text.substr(0, most));
  for (size_t begin = most; begin < text.size(); begin += most) out += gzip_member(text.substr(begin, most));
  return out;
}

/// Writes header and then items 0..count-1, each turned into text by format(item, text).
template <class Format>
void write_file(const std::string& path, const std::string& header, int64_t count, int64_t items_a_block, int threads,
                const Format& format) {
  const bool zip = path.size() >= 3 && path.compare(path.size() - 3, 3, ".gz") == 0;
  NewFile file(path);
  file.write(zip ? gzipped(header) : header);
  const int64_t blocks = (count + items_a_block - 1) / items_a_block;
  std::vector<std::string> texts(static_cast<size_t>(part_count(threads, blocks, 1)));
  for (int64_t first = 0; first < blocks; first += static_cast<int64_t>(texts.size())) {
    run_parts(static_cast<int>(texts.size()), [&](int part) {
      std::string& text = texts[static_cast<size_t>(part)];
      text.clear();
      const int64_t begin = std::min(count, (first + part) * items_a_block),
                    end = std::min(count, begin + items_a_block);
      for (int64_t item = begin; item < end; ++item) format(item, text);
      if (zip && !text.empty()) text = gzipped(text);
    });
    for (const std::string& text : texts) file.write(text);
  }
  file.complete();
}

class NumberWriter {
 public:
  /// precision 0: as few digits as read back to the same bits.
  explicit NumberWriter(int precision) : precision_(precision) {}

  template <class T>
  void operator()(std::string& text, const T& v) const {
    if constexpr (is_complex<T>) {
      number(text, v.real());
      text += ' ';
      number(text, v.imag());
    } else {
      number(text, v);
    }
  }

 private:
  template <class T>
  void number(std::string& text, T v) const {
    char digits[64];
    std::to_chars_result end;
    if constexpr (std::is_integral_v<T>)
      end = std::to_chars(digits, digits + sizeof digits, int64_t{v});
    else if (precision_ == 0)
      end = std::to_chars(digits, digits + sizeof digits, v);
    else
      end = std::to_chars(digits, digits + sizeof digits, v, std::chars_format::scientific, precision_ - 1);
    text.append(digits, end.ptr);
  }
  int precision_;
};

void append_index(std::string& text, int64_t v) {
  char digits[24];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, v).ptr);
  text += ' ';
}

template <class T>
MarketField field_of() {
  if constexpr (std::is_same_v<T, NoValue>)
    return MarketField::pattern;
  else
    return is_complex<T> ? MarketField::complex : std::is_integral_v<T> ? MarketField::integer : MarketField::real;
}

std::string banner(const char* format, MarketField field, MarketSymmetry symmetry, const std::string& comment) {
  std::string text = cat("%%MatrixMarket matrix ", format, " ", name(field), " ", name(symmetry), "\n");
  for (size_t begin = 0; begin < comment.size();) {
    const size_t end = std::min(comment.find('\n', begin), comment.size());
    text += "% " + comment.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return text;
}

/// The value that must stand at (i, j) when `v` stands at (j, i).
template <class V>
V image(const V& v, MarketSymmetry symmetry) {
  if (symmetry == MarketSymmetry::skew) return -v;
  if constexpr (is_complex<V>)
    if (symmetry == MarketSymmetry::hermitian) return std::conj(v);
  return v;
}

template <class I, class O, class V>
class CsrWriter {
 public:
  CsrWriter(const CsrRef& a, int threads)
      : a_(a),
        offsets_(static_cast<const O*>(a.offsets)),
        indices_(static_cast<const I*>(a.indices)),
        values_(static_cast<const V*>(a.values)),
        threads_(threads) {}

  /// Rows sorted, no duplicates. Throws, naming an entry without its counterpart.
  void require_symmetry(MarketSymmetry symmetry) const {
    const int parts = part_count(threads_, a_.nnz, 1 << 16);
    run_parts(parts, [&](int part) {
      const Range r = rows_of<O>(offsets_, a_.rows, static_cast<O>(a_.base), part, parts);
      for (int64_t i = r.begin; i < r.end; ++i)
        for (int64_t k = begin(i); k < begin(i + 1); ++k)
          if (!has_image(i, k, symmetry)) [[unlikely]]
            fail(KKC_STATUS_INVALID_ARGUMENT, "options: \"symmetry\" is \"",
                 symmetry == MarketSymmetry::skew ? "skew" : name(symmetry), "\", which A is not: entry (", i, ", ",
                 col(k), ") has no counterpart");
    });
  }

  void write(const std::string& path, MarketSymmetry symmetry, int precision, const std::string& comment) const {
    const NumberWriter number(precision);
    const std::string header =
        banner("coordinate", field_of<V>(), symmetry, comment) + cat(a_.rows, " ", a_.cols, " ", count(symmetry), "\n");
    // Blocks of about 32000 entries.
    const int64_t rows_a_block =
        a_.nnz == 0 ? std::max<int64_t>(a_.rows, 1) : std::max<int64_t>(1, a_.rows * 32768 / a_.nnz);
    write_file(path, header, a_.rows, rows_a_block, threads_, [&](int64_t i, std::string& text) {
      for (int64_t k = begin(i); k < begin(i + 1); ++k) {
        if (!listed(i, col(k), symmetry)) continue;
        append_index(text, i + 1);
        append_index(text, col(k) + 1);
        if constexpr (std::is_same_v<V, NoValue>)
          text.pop_back();
        else
          number(text, values_[k]);
        text += '\n';
      }
    });
  }

 private:
  int64_t begin(int64_t i) const { return static_cast<int64_t>(offsets_[i]) - a_.base; }
  int64_t col(int64_t k) const { return static_cast<int64_t>(indices_[k]) - a_.base; }

  static bool listed(int64_t i, int64_t j, MarketSymmetry symmetry) {
    return symmetry == MarketSymmetry::general || (symmetry == MarketSymmetry::skew ? j < i : j <= i);
  }

  int64_t count(MarketSymmetry symmetry) const {
    if (symmetry == MarketSymmetry::general) return a_.nnz;
    int64_t n = 0;
    for (int64_t i = 0; i < a_.rows; ++i)
      for (int64_t k = begin(i); k < begin(i + 1); ++k) n += listed(i, col(k), symmetry);
    return n;
  }

  bool has_image(int64_t i, int64_t k, MarketSymmetry symmetry) const {
    const int64_t j = col(k);
    const I *const first = indices_ + begin(j), *const last = indices_ + begin(j + 1);
    const I wanted = static_cast<I>(i + a_.base);
    const I* const at = std::lower_bound(first, last, wanted);
    if (at == last || *at != wanted) return false;
    if constexpr (std::is_same_v<V, NoValue>)
      return true;
    else
      return values_[k] == image(values_[at - indices_], symmetry);
  }

  const CsrRef& a_;
  const O* const offsets_;
  const I* const indices_;
  const V* const values_;
  const int threads_;
};

}  // namespace

void write_matrix_market(const CsrRef& a, const std::string& path, const Options& options,
                         const std::shared_ptr<const Memory>& memory) {
  options.allow_only("kkc_matrix_write", {"symmetry", "precision", "comment"});
  const std::string wanted = options.choice("symmetry", {"general", "symmetric", "skew", "hermitian"});
  MarketSymmetry symmetry = wanted == "general"     ? MarketSymmetry::general
                            : wanted == "symmetric" ? MarketSymmetry::symmetric
                            : wanted == "skew"      ? MarketSymmetry::skew
                                                    : MarketSymmetry::hermitian;
  const int precision = static_cast<int>(options.integer("precision", 0, 1, 40));
  const std::string comment = options.text("comment", "");
  const bool general = symmetry == MarketSymmetry::general;
  require(general || a.rows == a.cols, KKC_STATUS_INVALID_ARGUMENT, "options: \"symmetry\" is \"", wanted,
          "\", but A has ", a.rows, " rows and ", a.cols, " columns");
  require(symmetry != MarketSymmetry::skew || a.scalar != Scalar::none, KKC_STATUS_INVALID_ARGUMENT,
          "options: \"symmetry\" is \"skew\", but A has no values");
  // The format knows hermitian for complex values only; for others it is the same as symmetric.
  if (symmetry == MarketSymmetry::hermitian && !is_complex_scalar(a.scalar)) symmetry = MarketSymmetry::symmetric;
  const auto found = validate_matrix(a, memory);
  const bool clean = (found & KKC_MATRIX_SORTED) != 0 && (found & KKC_MATRIX_NO_DUPLICATES) != 0;
  HostCsr sorted;
  if (!general && !clean) sorted = sorted_csr(a, memory);
  const CsrRef ref = general || clean ? a : sorted.ref();
  const auto write = [&](auto s, auto p) {
    const CsrWriter<typename decltype(p)::ordinal, typename decltype(p)::offset, typename decltype(s)::type> writer(
        ref, host_threads(*memory));
    if (!general) writer.require_symmetry(symmetry);
    writer.write(path, symmetry, precision, comment);
  };
  dispatch_index_pair(IndexPairs{}, a.pair, [&](auto p) {
    if (a.scalar == Scalar::none)
      write(Type<NoValue>{}, p);
    else
      dispatch_scalar(Scalars{}, a.scalar, [&](auto s) { write(s, p); });
  });
}

void write_matrix_market_dense(const DenseRef& a, const std::string& path,
                               const std::shared_ptr<const Memory>& memory) {
  require(a.rank == 1 || a.rank == 2, KKC_STATUS_INVALID_ARGUMENT, "view has rank ", a.rank, ", expected 1 or 2");
  const int64_t rows = a.extents[0], cols = a.rank == 2 ? a.extents[1] : 1;
  dispatch_scalar(AllElements{}, a.scalar, [&](auto s) {
    using T = typename decltype(s)::type;
    const T* const data = static_cast<const T*>(a.data);
    const int64_t row_stride = a.strides[0], col_stride = a.rank == 2 ? a.strides[1] : 0;
    const NumberWriter number(0);
    const std::string header = banner("array", field_of<T>(), MarketSymmetry::general, "") + cat(rows, " ", cols, "\n");
    write_file(path, header, rows * cols, 1 << 16, host_threads(*memory), [&](int64_t k, std::string& text) {
      number(text, data[k % rows * row_stride + k / rows * col_stride]);
      text += '\n';
    });
  });
}

}  // namespace kkc
