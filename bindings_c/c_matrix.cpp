// kkc.h sections 7 to 9: matrices, their files and generators.
#include "core/matrix.hpp"
#include "core/matrix_generate.hpp"
#include "core/matrix_laplacian.hpp"
#include "core/matrix_market_read.hpp"
#include "core/matrix_market_write.hpp"
#include "core/matrix_properties.hpp"
#include "core/view_files.hpp"
#include "guard.hpp"

using namespace kkc;

namespace {

/// A file's path, never null.
const char* checked_text(const char* text, const char* argument) {
  require(text != nullptr, KKC_STATUS_NULL_POINTER, argument, " is NULL, expected text");
  return text;
}

}  // namespace

extern "C" {

kkc_status_t kkc_csr_create(kkc_context_t* ctx, int64_t rows, int64_t cols, int64_t nnz, kkc_index_pair_t index_pair,
                            kkc_scalar_t scalar, int32_t base, const void* row_offsets, const void* col_indices,
                            void* values, kkc_matrix_t** A) {
  return guard(
      [&] {
        const auto context = as<Context>(ctx, "ctx");
        give(Matrix::wrap(*context,
                          valid_csr(rows, cols, nnz, index_pair, scalar, base, row_offsets, col_indices, values)),
             A);
      },
      out(A, "A"));
}

kkc_status_t kkc_csr_create_copy(kkc_context_t* ctx, int64_t rows, int64_t cols, int64_t nnz,
                                 kkc_index_pair_t index_pair, kkc_scalar_t scalar, int32_t base,
                                 const void* row_offsets, const void* col_indices, const void* values,
                                 kkc_matrix_t** A) {
  return guard(
      [&] {
        const auto context = as<Context>(ctx, "ctx");
        give(Matrix::copy_of_host(
                 *context, valid_csr(rows, cols, nnz, index_pair, scalar, base, row_offsets, col_indices, values)),
             A);
      },
      out(A, "A"));
}

kkc_status_t kkc_csr_create_output(kkc_context_t* ctx, int64_t rows, int64_t cols, int64_t nnz,
                                   kkc_index_pair_t index_pair, kkc_scalar_t scalar, int32_t base, void* row_offsets,
                                   void* col_indices, void* values, kkc_matrix_t** C) {
  return guard(
      [&] {
        const auto context = as<Context>(ctx, "ctx");
        give(Matrix::wrap_output(
                 *context, valid_csr(rows, cols, nnz, index_pair, scalar, base, row_offsets, col_indices, values)),
             C);
      },
      out(C, "C"));
}

kkc_status_t kkc_csr_set_pointers(kkc_matrix_t* A, const void* row_offsets, const void* col_indices, void* values) {
  return guard([&] { as<Matrix>(A, "A")->set_pointers(row_offsets, col_indices, values); });
}

kkc_status_t kkc_csr_get(const kkc_matrix_t* A, int64_t* rows, int64_t* cols, int64_t* nnz,
                         kkc_index_pair_t* index_pair, kkc_scalar_t* scalar, int32_t* base, const void** row_offsets,
                         const void** col_indices, void** values) {
  return guard(
      [&] {
        const CsrRef& a = as<Matrix>(A, "A")->ref();
        if (rows != nullptr) *rows = a.rows;
        if (cols != nullptr) *cols = a.cols;
        if (nnz != nullptr) *nnz = a.nnz;
        if (index_pair != nullptr) *index_pair = static_cast<kkc_index_pair_t>(a.pair);
        if (scalar != nullptr) *scalar = static_cast<kkc_scalar_t>(a.scalar);
        if (base != nullptr) *base = a.base;
        if (row_offsets != nullptr) *row_offsets = a.offsets;
        if (col_indices != nullptr) *col_indices = a.indices;
        if (values != nullptr) *values = const_cast<void*>(a.values);
      },
      optional_out(rows), optional_out(cols), optional_out(nnz), optional_out(index_pair), optional_out(scalar),
      optional_out(base), optional_out(row_offsets), optional_out(col_indices), optional_out(values));
}

kkc_status_t kkc_matrix_copy(kkc_context_t* ctx, const kkc_matrix_t* A, kkc_matrix_t** copy) {
  return guard(
      [&] {
        const auto context = as<Context>(ctx, "ctx");
        give(as<Matrix>(A, "A")->copy(*context), copy);
      },
      out(copy, "copy"));
}

kkc_status_t kkc_matrix_validate(const kkc_matrix_t* A, kkc_matrix_properties_t* properties) {
  return guard(
      [&] {
        const auto matrix = as<Matrix>(A, "A");
        *properties = validate_matrix(HostPattern(*matrix).ref(), matrix->memory());
      },
      out(properties, "properties"));
}

kkc_status_t kkc_matrix_info(kkc_matrix_t* A, const char** json) {
  return guard(
      [&] {
        const auto matrix = as<Matrix>(A, "A");
        matrix->info_text = to_json(describe_matrix(HostPattern(*matrix, true).ref(), matrix->memory()));
        *json = matrix->info_text.c_str();
      },
      out(json, "json"));
}

kkc_status_t kkc_matrix_destroy(kkc_matrix_t* A) { return destroy<Matrix>(A, "A"); }

kkc_status_t kkc_matrix_read(kkc_context_t* ctx, const char* path, kkc_index_pair_t index_pair, kkc_scalar_t scalar,
                             kkc_matrix_t** A) {
  return guard(
      [&] {
        const auto context = as<Context>(ctx, "ctx");
        give(Matrix::take(*context, read_matrix_market(checked_text(path, "path"), valid_index_pair(index_pair),
                                                       valid_matrix_scalar(scalar), context->memory())),
             A);
      },
      out(A, "A"));
}

kkc_status_t kkc_matrix_write(const kkc_matrix_t* A, const char* path, const kkc_options_t* options) {
  return guard([&] {
    const auto matrix = as<Matrix>(A, "A");
    const auto set = options_or_none(options);
    checked_text(path, "path");
    write_matrix_market(HostPattern(*matrix, true).ref(), path, *set, matrix->memory());
  });
}

kkc_status_t kkc_view_read(kkc_context_t* ctx, const char* path, kkc_scalar_t scalar, kkc_layout_t layout,
                           kkc_view_t** view) {
  return guard(
      [&] {
        const auto context = as<Context>(ctx, "ctx");
        give(read_dense(*context, checked_text(path, "path"), scalar, layout), view);
      },
      out(view, "view"));
}

kkc_status_t kkc_view_write(kkc_context_t* ctx, const kkc_view_t* view, const char* path) {
  return guard([&] {
    const auto context = as<Context>(ctx, "ctx");
    const auto dense = as<View>(view, "view");
    write_dense(*context, *dense, checked_text(path, "path"));
  });
}

kkc_status_t kkc_matrix_generate(kkc_context_t* ctx, const char* name, const kkc_options_t* options,
                                 kkc_index_pair_t index_pair, kkc_scalar_t scalar, kkc_matrix_t** A) {
  return guard(
      [&] {
        const auto context = as<Context>(ctx, "ctx");
        const auto set = options_or_none(options);
        give(Matrix::take(*context, generate_matrix(checked_text(name, "name"), *set, valid_index_pair(index_pair),
                                                    valid_matrix_scalar(scalar), context->memory())),
             A);
      },
      out(A, "A"));
}

kkc_status_t kkc_matrix_laplacian(kkc_context_t* ctx, const kkc_matrix_t* A, double shift, kkc_matrix_t** L) {
  return guard(
      [&] {
        const auto context = as<Context>(ctx, "ctx");
        const auto matrix = as<Matrix>(A, "A");
        give(Matrix::take(*context, matrix_laplacian(HostPattern(*matrix).ref(), shift, context->memory())), L);
      },
      out(L, "L"));
}

}  // extern "C"
