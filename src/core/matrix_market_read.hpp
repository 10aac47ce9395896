// Matrix Market files (R. F. Boisvert, R. Pozo, K. Remington: The Matrix Market Exchange Formats, NISTIR 5935, 1996),
// plain or gzipped. Strict: what a file says must be so, and every refusal names file and line.
#pragma once

#include <string>
#include <string_view>

#include "host_matrix.hpp"

namespace kkc {

/// Reads any variant as a general matrix: rows sorted, mirrored entries present, duplicates added up in the order of
/// the file. Throws IO, PARSE, OVERFLOW, TYPE_MISMATCH (a complex file for a real scalar).
HostCsr read_matrix_market(const std::string& path, IndexPair pair, Scalar scalar,
                           const std::shared_ptr<const Memory>& memory);

/// Reads any variant as a dense array; absent entries are 0. `scalar` may be an integer type for integer and pattern
/// files.
HostDense read_matrix_market_dense(const std::string& path, Scalar scalar, Layout layout,
                                   const std::shared_ptr<const Memory>& memory);

/// The same from text in memory (plain or gzipped); `name` stands for the file in errors. Threads take blocks of about
/// `block_bytes` of text.
HostCsr parse_matrix_market(std::string_view text, const std::string& name, IndexPair pair, Scalar scalar,
                            const std::shared_ptr<const Memory>& memory, size_t block_bytes = size_t{1} << 20);
HostDense parse_matrix_market_dense(std::string_view text, const std::string& name, Scalar scalar, Layout layout,
                                    const std::shared_ptr<const Memory>& memory, size_t block_bytes = size_t{1} << 20);

}  // namespace kkc
