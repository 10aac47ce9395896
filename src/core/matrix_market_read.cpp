#include "matrix_market_read.hpp"

#include <charconv>
#include <cmath>
#include <tuple>

#include "dispatch.hpp"
#include "matrix_coordinates.hpp"
#include "matrix_market_header.hpp"
#include "matrix_parallel.hpp"

namespace kkc {
namespace {

constexpr size_t file_block_bytes = size_t{1} << 20;

inline const char* skip_blanks(const char* p) {
  while (*p == ' ' || *p == '\t' || *p == '\r') ++p;
  return p;
}

/// What a value's text becomes: the wanted type; for patterns a type that holds any value, to be checked and dropped.
template <class T>
struct ParsedAs {
  using type = T;
};
template <>
struct ParsedAs<NoValue> {
  using type = c128;
};

// The parsers return where they stopped, or null. from_chars knows no locale and no plus sign.

template <class R>
const char* parse_real(const char* p, const char* end, R& v) {
  if (*p == '+' && *++p == '-') return nullptr;
  const auto [stop, code] = std::from_chars(p, end, v);
  if (code == std::errc()) return stop;
  if (code != std::errc::result_out_of_range) return nullptr;
  long double wide = 0;  // tells too small, which becomes 0, from too large
  if (std::from_chars(p, stop, wide).ec != std::errc()) return nullptr;
  if (std::abs(wide) > 1) return nullptr;
  v = static_cast<R>(wide);
  return stop;
}

template <class T>
const char* parse_integer(const char* p, const char* end, T& v) {
  if (*p == '+' && *++p == '-') return nullptr;
  int64_t wide = 0;
  const auto [stop, code] = std::from_chars(p, end, wide);
  if (code != std::errc()) return nullptr;
  v = static_cast<T>(wide);
  if constexpr (std::is_integral_v<T>)
    if (static_cast<int64_t>(v) != wide) return nullptr;
  return stop;
}

template <class P>
const char* parse_value(MarketField field, const char* p, const char* end, P& v) {
  if constexpr (std::is_integral_v<P>) {
    return parse_integer(p, end, v);
  } else {
    Real<P> re{};
    p = field == MarketField::integer ? parse_integer(p, end, re) : parse_real(p, end, re);
    v = P(re);
    if constexpr (is_complex<P>) {
      if (field != MarketField::complex || p == nullptr) return p;
      Real<P> im{};
      p = parse_real(skip_blanks(p), end, im);
      v = P(re, im);
    }
    return p;
  }
}

/// Takes entries with any number of threads; entry k of the file is put once.
template <class I, class T>
struct CoordinateSink {
  I* rows;
  I* cols;
  T* values;
  template <class P>
  void put(int64_t k, int64_t i, int64_t j, const P& v) const {
    rows[k] = static_cast<I>(i);
    cols[k] = static_cast<I>(j);
    if constexpr (!std::is_same_v<T, NoValue>) values[k] = v;
  }
};

/// Which place an array file's k-th entry fills: column by column, from the row that the symmetry says.
class ArrayOrder {
 public:
  explicit ArrayOrder(const MarketHeader& h) : rows_(h.rows), symmetry_(h.symmetry) {}
  int64_t first_row(int64_t j) const {
    return symmetry_ == MarketSymmetry::general ? 0 : symmetry_ == MarketSymmetry::skew ? j + 1 : j;
  }
  /// Row and column of entry k, which must exist.
  std::pair<int64_t, int64_t> place(int64_t k) const {
    if (symmetry_ == MarketSymmetry::general) return {k % rows_, k / rows_};
    int64_t low = 0, high = rows_ - 1;
    while (low < high) {
      const int64_t middle = low + (high - low + 1) / 2;
      if (begin(middle) <= static_cast<unsigned __int128>(k))
        low = middle;
      else
        high = middle - 1;
    }
    return {first_row(low) + k - static_cast<int64_t>(begin(low)), low};
  }

 private:
  /// Number of the first entry of column j of a triangle.
  unsigned __int128 begin(int64_t j) const {
    const auto longest = static_cast<unsigned __int128>(symmetry_ == MarketSymmetry::skew ? rows_ - 1 : rows_);
    const auto c = static_cast<unsigned __int128>(j);
    return c == 0 ? 0 : c * longest - c * (c - 1) / 2;
  }
  const int64_t rows_;
  const MarketSymmetry symmetry_;
};

/// Reads the entries of a file into a sink that takes values of type T.
template <class T, class Sink>
class EntryParser {
 public:
  using P = typename ParsedAs<T>::type;
  EntryParser(TextReader& reader, const MarketHeader& header, const Sink& sink)
      : reader_(reader), h_(header), sink_(sink) {}

  void run(int threads) {
    std::mutex mutex;
    std::exception_ptr first;
    int64_t first_line = INT64_MAX;
    run_parts(threads, [&](int) {
      TextBlock block;
      block.line = INT64_MAX - 1;  // a failure to get the next block comes after those inside blocks
      try {
        while (reader_.next_block(block)) {
          h_.format == MarketFormat::coordinate ? parse_coordinates(block) : parse_array(block);
          block.line = INT64_MAX - 1;
        }
      } catch (...) {
        reader_.stop();
        std::lock_guard lock(mutex);
        if (block.line < first_line) {
          first_line = block.line;
          first = std::current_exception();
        }
      }
    });
    if (first) std::rethrow_exception(first);
    if (reader_.entries() < h_.entries)
      reader_.fail_at(reader_.lines(), cat("the file ends after ", reader_.entries(), " of the ", h_.entries,
                                           " entries that line ", h_.size_line, " announces"));
  }

 private:
  // A line is blank, or one entry. All lines end in '\n', which ends every number too. Blocks behind the first surplus
  // line may be read before the thread that has that line refuses it.
  void parse_coordinates(const TextBlock& block) const {
    const char* p = block.text.data();
    const char* const end = p + block.size;
    int64_t k = block.entry;
    for (int64_t line = block.line; p != end; ++line, ++p) {
      p = skip_blanks(p);
      if (*p == '\n') continue;
      if (k >= h_.entries) fail_surplus(line);
      int64_t i = 0, j = 0;
      p = index(p, h_.rows, "row", line, i);
      p = index(skip_blanks(p), h_.cols, "column", line, j);
      P v = P(1);
      if (h_.field != MarketField::pattern) p = value(skip_blanks(p), end, line, v);
      p = line_end(p, line);
      if (h_.symmetry != MarketSymmetry::general) check_symmetry(i, j, v, line);
      sink_.put(k++, i, j, v);
    }
  }

  void parse_array(const TextBlock& block) const {
    const ArrayOrder order(h_);
    const char* p = block.text.data();
    const char* const end = p + block.size;
    int64_t k = block.entry, i = 0, j = 0;
    if (k < h_.entries) std::tie(i, j) = order.place(k);
    for (int64_t line = block.line; p != end; ++line, ++p) {
      p = skip_blanks(p);
      if (*p == '\n') continue;
      if (k >= h_.entries) fail_surplus(line);
      P v{};
      p = line_end(value(p, end, line, v), line);
      if (h_.symmetry != MarketSymmetry::general) check_symmetry(i, j, v, line);
      sink_.put(k++, i, j, v);
      if (++i == h_.rows) i = order.first_row(++j);
    }
  }

  const char* index(const char* p, int64_t most, const char* what, int64_t line, int64_t& value) const {
    const char* const stop = parse_count(p, value);
    if (stop == nullptr || (*stop > ' ' || *stop < 0))
      fail_word(p, line, cat(what, " index"), cat("a whole number from 1 to ", most));
    if (value < 1 || value > most) [[unlikely]]
      reader_.fail_at(line, cat(what, " index is ", value, ", expected 1 to ", most));
    --value;
    return stop;
  }

  const char* value(const char* p, const char* end, int64_t line, P& v) const {
    const char* const stop = parse_value(h_.field, p, end, v);
    if (stop == nullptr || (*stop > ' ' || *stop < 0)) fail_value(p, end, line);
    return stop;
  }

  const char* line_end(const char* p, int64_t line) const {
    p = skip_blanks(p);
    if (*p != '\n') fail_word(p, line, "after the entry there", "the end of the line");
    return p;
  }

  void check_symmetry(int64_t i, int64_t j, const P& v, int64_t line) const {
    if (j > i) [[unlikely]]
      reader_.fail_at(line, cat("entry (", i + 1, ", ", j + 1, ") lies above the diagonal, which a ", name(h_.symmetry),
                                " file does not list"));
    if (i != j) return;
    if (h_.symmetry == MarketSymmetry::skew && v != P{}) [[unlikely]]
      reader_.fail_at(line, cat("entry (", i + 1, ", ", j + 1, ") of a skew-symmetric matrix is not 0"));
    if constexpr (is_complex<P>)
      if (h_.symmetry == MarketSymmetry::hermitian && v.imag() != 0) [[unlikely]]
        reader_.fail_at(line, cat("entry (", i + 1, ", ", j + 1, ") of a hermitian matrix is not real"));
  }

  [[noreturn]] void fail_surplus(int64_t line) const {
    reader_.fail_at(line, cat("a further entry, after the ", h_.entries, " that line ", h_.size_line, " announces"));
  }

  [[noreturn]] void fail_word(const char* p, int64_t line, const std::string& what, const std::string& expected) const {
    const char* end = p;
    while (*end != '\n' && *end != ' ' && *end != '\t' && *end != '\r') ++end;
    const auto word = p == end ? std::string("missing") : quoted({p, static_cast<size_t>(end - p)});
    reader_.fail_at(line, cat(what, " is ", word, ", expected ", expected));
  }

  [[noreturn]] void fail_value(const char* p, const char* end, int64_t line) const {
    const char* const type = name(scalar_of<P>);
    if (h_.field == MarketField::complex) {
      P v{};
      const char* const stop = parse_value(MarketField::real, p, end, v);
      if (stop != nullptr && (*stop == ' ' || *stop == '\t' || *stop == '\r' || *stop == '\n'))
        fail_word(skip_blanks(stop), line, "the imaginary part", cat("a real number that fits ", type));
      fail_word(p, line, "the real part", cat("a real number that fits ", type));
    }
    fail_word(p, line, "the value",
              cat(h_.field == MarketField::integer ? "an integer" : "a real number", " that fits ", type));
  }

  TextReader& reader_;
  const MarketHeader& h_;
  const Sink& sink_;
};

int threads_for(const TextReader& reader, size_t block_bytes, const Memory& memory) {
  return part_count(host_threads(memory), reader.most_bytes(), static_cast<int64_t>(block_bytes));
}

Mirror mirror_of(MarketSymmetry symmetry) {
  switch (symmetry) {
    case MarketSymmetry::general: return Mirror::none;
    case MarketSymmetry::symmetric: return Mirror::same;
    case MarketSymmetry::skew: return Mirror::negated;
    case MarketSymmetry::hermitian: return Mirror::conjugated;
  }
  return Mirror::none;
}

void require_type(const std::string& name, const MarketHeader& h, Scalar scalar) {
  require(h.field != MarketField::complex || is_complex_scalar(scalar) || scalar == Scalar::none,
          KKC_STATUS_TYPE_MISMATCH, "scalar is ", kkc::name(scalar), ", expected c64 or c128: ", name,
          " line 1 says that the values are complex");
  require(h.field != MarketField::real || is_floating(scalar) || scalar == Scalar::none, KKC_STATUS_TYPE_MISMATCH,
          "scalar is ", kkc::name(scalar), ", expected f32, f64, c64 or c128: ", name,
          " line 1 says that the values are real");
}

/// The entries as the file lists them, one place after another.
struct ListedEntries {
  Buffer rows, cols, values;
};

template <class T, class I>
ListedEntries list_entries(TextReader& reader, const MarketHeader& h, int threads,
                           const std::shared_ptr<const Memory>& memory) {
  ListedEntries list;
  list.rows = host_array<I>(memory, h.entries);
  list.cols = host_array<I>(memory, h.entries);
  if constexpr (!std::is_same_v<T, NoValue>) list.values = host_array<T>(memory, h.entries);
  const CoordinateSink<I, T> sink{list.rows.template as<I>(), list.cols.template as<I>(), list.values.template as<T>()};
  EntryParser<T, CoordinateSink<I, T>>(reader, h, sink).run(threads);
  return list;
}

HostCsr read_csr(std::unique_ptr<TextSource> source, const std::string& name, IndexPair pair, Scalar scalar,
                 const std::shared_ptr<const Memory>& memory, size_t block_bytes) {
  TextReader reader(std::move(source), name, block_bytes);
  const MarketHeader h = read_market_header(reader);
  require_type(name, h, scalar);
  const std::string what = cat(name, " line ", h.size_line, ": the matrix");
  require_fits(what.c_str(), h.rows, h.cols, pair);
  require_plausible(reader, h);
  require_entries_fit(what.c_str(), static_cast<unsigned __int128>(h.entries), pair);
  const int threads = threads_for(reader, block_bytes, *memory);
  ListedEntries list;
  const auto read = [&](auto s) {
    using T = typename decltype(s)::type;
    list = pair == IndexPair::i64_64 ? list_entries<T, int64_t>(reader, h, threads, memory)
                                     : list_entries<T, int32_t>(reader, h, threads, memory);
  };
  if (scalar == Scalar::none)
    read(Type<NoValue>{});
  else
    dispatch_scalar(Scalars{}, scalar, read);
  return csr_from_coordinates(
      {pair, scalar, h.rows, h.cols, h.entries, list.rows.data(), list.cols.data(), list.values.data()},
      mirror_of(h.symmetry), memory);
}

/// What stands at (j, i) in a dense array; refuses what the type cannot hold.
template <class T>
T mirrored(const T& v, MarketSymmetry symmetry, const std::string& name) {
  if constexpr (std::is_integral_v<T>) {
    T negated{};
    if (symmetry != MarketSymmetry::skew) return v;
    require(!__builtin_sub_overflow(T{0}, v, &negated), KKC_STATUS_OVERFLOW, name, ": the value ", int64_t{v},
            " of a skew-symmetric matrix has no negative in ", kkc::name(scalar_of<T>));
    return negated;
  } else {
    if (symmetry == MarketSymmetry::skew) return -v;
    if constexpr (is_complex<T>)
      if (symmetry == MarketSymmetry::hermitian) return std::conj(v);
    return v;
  }
}

/// Writes each entry of an array file, which names every place once, where it belongs.
template <class T>
struct DenseSink {
  T* data;
  int64_t row_stride, col_stride;
  MarketSymmetry symmetry;
  const std::string& name;
  void put(int64_t, int64_t i, int64_t j, const T& v) const {
    data[i * row_stride + j * col_stride] = v;
    if (symmetry != MarketSymmetry::general && i != j)
      data[j * row_stride + i * col_stride] = mirrored(v, symmetry, name);
  }
};

template <class T>
void add_to(T& place, const T& v, const std::string& name) {
  if constexpr (std::is_integral_v<T>)
    require(!__builtin_add_overflow(place, v, &place), KKC_STATUS_OVERFLOW, name,
            ": the sum of duplicate entries does not fit ", kkc::name(scalar_of<T>));
  else
    place += v;
}

template <class T>
void fill_dense(TextReader& reader, const MarketHeader& h, const std::string& name, int threads,
                const std::shared_ptr<const Memory>& memory, HostDense& out) {
  const auto places = static_cast<unsigned __int128>(h.rows) * static_cast<unsigned __int128>(h.cols);
  require(places <= static_cast<unsigned __int128>(PTRDIFF_MAX) / sizeof(T), KKC_STATUS_OVERFLOW, name, " line ",
          h.size_line, ": a dense array of ", h.rows, " rows and ", h.cols, " columns is beyond 64 bits");
  const bool left = out.layout == Layout::left;
  const int64_t row_stride = left ? 1 : h.cols, col_stride = left ? h.rows : 1;
  const auto count = static_cast<int64_t>(places);
  if (h.format == MarketFormat::array) {
    out.data = host_array<T>(memory, count);
    T* const data = out.data.template as<T>();
    // Only a skew file leaves places out: the diagonal.
    if (h.symmetry == MarketSymmetry::skew) std::fill_n(data, count, T{});
    const DenseSink<T> sink{data, row_stride, col_stride, h.symmetry, name};
    EntryParser<T, DenseSink<T>>(reader, h, sink).run(threads);
    return;
  }
  const ListedEntries list = list_entries<T, int64_t>(reader, h, threads, memory);
  out.data = host_array<T>(memory, count);
  T* const data = out.data.template as<T>();
  std::fill_n(data, count, T{});
  for (int64_t k = 0; k < h.entries; ++k) {
    const int64_t i = list.rows.as<int64_t>()[k], j = list.cols.as<int64_t>()[k];
    const T v = list.values.as<T>()[k];
    add_to(data[i * row_stride + j * col_stride], v, name);
    if (h.symmetry != MarketSymmetry::general && i != j)
      add_to(data[j * row_stride + i * col_stride], mirrored(v, h.symmetry, name), name);
  }
}

HostDense read_dense(std::unique_ptr<TextSource> source, const std::string& name, Scalar scalar, Layout layout,
                     const std::shared_ptr<const Memory>& memory, size_t block_bytes) {
  require(scalar != Scalar::none, KKC_STATUS_INVALID_ARGUMENT, "scalar is KKC_TYPE_NONE, expected a type with values");
  require(layout != Layout::strided, KKC_STATUS_INVALID_ARGUMENT, "layout is strided, expected left or right");
  TextReader reader(std::move(source), name, block_bytes);
  const MarketHeader h = read_market_header(reader);
  require_type(name, h, scalar);
  require_plausible(reader, h);
  HostDense out;
  out.scalar = scalar;
  out.layout = layout;
  out.rows = h.rows;
  out.cols = h.cols;
  const int threads = threads_for(reader, block_bytes, *memory);
  dispatch_scalar(AllElements{}, scalar,
                  [&](auto s) { fill_dense<typename decltype(s)::type>(reader, h, name, threads, memory, out); });
  return out;
}

}  // namespace

HostCsr read_matrix_market(const std::string& path, IndexPair pair, Scalar scalar,
                           const std::shared_ptr<const Memory>& memory) {
  return read_csr(open_text_file(path), path, pair, scalar, memory, file_block_bytes);
}

HostDense read_matrix_market_dense(const std::string& path, Scalar scalar, Layout layout,
                                   const std::shared_ptr<const Memory>& memory) {
  return read_dense(open_text_file(path), path, scalar, layout, memory, file_block_bytes);
}

HostCsr parse_matrix_market(std::string_view text, const std::string& name, IndexPair pair, Scalar scalar,
                            const std::shared_ptr<const Memory>& memory, size_t block_bytes) {
  return read_csr(open_text_memory(text), name, pair, scalar, memory, block_bytes);
}

HostDense parse_matrix_market_dense(std::string_view text, const std::string& name, Scalar scalar, Layout layout,
                                    const std::shared_ptr<const Memory>& memory, size_t block_bytes) {
  return read_dense(open_text_memory(text), name, scalar, layout, memory, block_bytes);
}

}  // namespace kkc
