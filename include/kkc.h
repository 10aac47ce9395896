/* kkc: performance-portable sparse, dense and graph kernels behind a C ABI.
 *
 * Licensed under the Apache License v2.0 with LLVM Exceptions (see LICENSE).
 *
 * Reading guide
 *   1 version and errors  6 views                   11 plans               16 spgemm_jacobi
 *   2 types               7 matrices                12 spmv                17 spadd
 *   3 contexts            8 matrix files            13 scans, sorts        18 sptrsv
 *   4 memory              9 generated matrices      14 matrices            19 ilu, ic, ilut
 *   5 options            10 calls without plan      15 spgemm              20 krylov
 *
 * Conventions, which hold for every function unless its contract says otherwise
 *   - Every function returns a status. 0 is success. 1..99: the call was refused and nothing was changed. 100 and
 *     up: execution failed; outputs are undefined, every handle can still be destroyed. kkc_last_error() says in a
 *     sentence what was wrong.
 *   - Outputs come last and are set on every path: NULL or 0 on failure. NULL where a handle or an output is needed
 *     is refused (KKC_STATUS_NULL_POINTER); destroying NULL succeeds. A destroyed, foreign or random handle is
 *     refused (KKC_STATUS_INVALID_HANDLE), never followed.
 *   - Arrays are borrowed unless the name says copy: they must outlive the object and stay where they are. No plan
 *     points into a caller's arrays after planning.
 *   - Extents, counts and strides are int64_t and count elements; sizes in bytes are size_t.
 *   - "Host device" is KKC_DEVICE_SERIAL or KKC_DEVICE_OPENMP: calls block. "GPU" is KKC_DEVICE_CUDA or
 *     KKC_DEVICE_HIP: calls that execute only enqueue on the context's stream.
 *   - Matrices and views belong to a device, not to a context: every context of the same device may use them, from
 *     any number of threads that only read them. A context is used by one thread at a time.
 *   - Handles may be destroyed in any order: objects keep alive what they need.
 *   - All functions are available since version 0.1.0 unless stated.
 */
#ifndef KKC_H
#define KKC_H

#include <stddef.h>
#include <stdint.h>

#define KKC_VERSION_MAJOR 0
#define KKC_VERSION_MINOR 1
#define KKC_VERSION_PATCH 0

#if defined(__GNUC__)
#define KKC_API __attribute__((visibility("default")))
#else
#define KKC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1. version and errors ------------------------------------------------------------------------------------ */

typedef int32_t kkc_status_t;
enum {
  KKC_STATUS_SUCCESS = 0,
  /* Refused: nothing was changed. */
  KKC_STATUS_NULL_POINTER = 1,
  KKC_STATUS_INVALID_HANDLE = 2,
  KKC_STATUS_INVALID_ARGUMENT = 3,
  KKC_STATUS_SIZE_MISMATCH = 4,
  KKC_STATUS_TYPE_MISMATCH = 5,
  KKC_STATUS_NOT_SUPPORTED = 6,
  KKC_STATUS_DEVICE_UNAVAILABLE = 7,
  KKC_STATUS_INDEX_OUT_OF_RANGE = 8,
  KKC_STATUS_NOT_SORTED = 9,
  KKC_STATUS_OVERFLOW = 10, /* a result does not fit the index type; the sentence says the number */
  KKC_STATUS_UNKNOWN_OPTION = 11,
  KKC_STATUS_PATTERN_CHANGED = 12,
  KKC_STATUS_WRONG_STATE = 13,
  KKC_STATUS_IO = 14,
  KKC_STATUS_PARSE = 15,
  /* Failed: outputs are undefined. */
  KKC_STATUS_OUT_OF_MEMORY = 100,
  KKC_STATUS_ZERO_PIVOT = 101,
  KKC_STATUS_BREAKDOWN = 102,
  KKC_STATUS_NO_CONVERGENCE = 103,
  KKC_STATUS_BAD_INDEX = 104,
  KKC_STATUS_CAPACITY_EXCEEDED = 105,
  KKC_STATUS_VENDOR = 106,
  KKC_STATUS_DEVICE = 107,
  KKC_STATUS_INTERNAL = 108
};

/* Version of the library at run time: major * 10000 + minor * 100 + patch. */
KKC_API int32_t kkc_version(void);

/* Name of a status, e.g. "KKC_STATUS_OVERFLOW"; "unknown status" for any other number. Static storage. */
KKC_API const char *kkc_status_name(kkc_status_t status);

/* The last failure of this thread as a sentence naming the argument, what it was and what was expected; "" when
 * there was none. Valid until this thread's next failing call. Successful calls leave it as it is. */
KKC_API const char *kkc_last_error(void);

/* ---- 2. types ------------------------------------------------------------------------------------------------- */

typedef int32_t kkc_device_t;
enum { KKC_DEVICE_SERIAL = 1, KKC_DEVICE_OPENMP = 2, KKC_DEVICE_CUDA = 3, KKC_DEVICE_HIP = 4 };

/* Element types. c64 and c128 are pairs (real, imaginary) of f32 and f64. Matrices hold f32, f64, c64, c128 or no
 * values (KKC_TYPE_NONE: a pattern, a graph); views hold any but KKC_TYPE_NONE. */
typedef int32_t kkc_scalar_t;
enum {
  KKC_TYPE_NONE = 0,
  KKC_TYPE_U8 = 1,
  KKC_TYPE_I32 = 2,
  KKC_TYPE_I64 = 3,
  KKC_TYPE_F32 = 4,
  KKC_TYPE_F64 = 5,
  KKC_TYPE_C64 = 6,
  KKC_TYPE_C128 = 7
};

/* Bits of column indices / of row offsets. */
typedef int32_t kkc_index_pair_t;
enum { KKC_INDEX_32_32 = 1, KKC_INDEX_32_64 = 2, KKC_INDEX_64_64 = 3 };

/* Left: first extent contiguous (column-major, Fortran). Right: last extent contiguous (row-major, C). Strided: any
 * non-negative strides. */
typedef int32_t kkc_layout_t;
enum { KKC_LAYOUT_LEFT = 1, KKC_LAYOUT_RIGHT = 2, KKC_LAYOUT_STRIDED = 3 };

typedef int32_t kkc_space_t;
enum { KKC_SPACE_HOST = 1, KKC_SPACE_DEVICE = 2, KKC_SPACE_PINNED = 3, KKC_SPACE_MANAGED = 4 };

typedef int32_t kkc_op_t;
enum { KKC_OP_NONE = 1, KKC_OP_TRANSPOSE = 2, KKC_OP_CONJUGATE = 3, KKC_OP_HERMITIAN = 4 };

/* Triangle of a matrix: (i, j) with j <= i or with j >= i, whatever op is applied to it afterwards. */
typedef int32_t kkc_uplo_t;
enum { KKC_UPLO_LOWER = 1, KKC_UPLO_UPPER = 2 };

/* The triangle's diagonal: as stored, or ones, whatever is stored there. */
typedef int32_t kkc_diag_t;
enum { KKC_DIAG_STORED = 1, KKC_DIAG_UNIT = 2 };

typedef int32_t kkc_direction_t;
enum {
  KKC_COPY_HOST_TO_DEVICE = 1,
  KKC_COPY_DEVICE_TO_HOST = 2,
  KKC_COPY_DEVICE_TO_DEVICE = 3,
  KKC_COPY_HOST_TO_HOST = 4
};

typedef struct kkc_context_s kkc_context_t;     /* a device and its stream */
typedef struct kkc_allocator_s kkc_allocator_t; /* the caller's memory functions */
typedef struct kkc_options_s kkc_options_t;     /* keys and values in text */
typedef struct kkc_view_s kkc_view_t;           /* dense array, rank 0 to 8 */
typedef struct kkc_matrix_s kkc_matrix_t;       /* sparse matrix or graph */
typedef struct kkc_plan_s kkc_plan_t;           /* what one operation learned from the patterns */

/* ---- 3. contexts ---------------------------------------------------------------------------------------------- */

/* Number of usable devices of a kind: 1 for host devices; for GPUs those that the driver shows and a module of this
 * library serves (0 without driver or module: not an error). Refused: invalid device. */
KKC_API kkc_status_t kkc_device_count(kkc_device_t device, int32_t *count);

/* A device ready for work. `allocator` (or NULL) serves every allocation made through this context; options (or
 * NULL): "threads" (openmp: 1..; default: the run-time's), "stream" is set by kkc_context_set_stream, "scalars" =
 * host|device says where axpby's coefficients lie. Loads the GPU module on first use and blocks. Refused: invalid
 * device, device_id outside 0..count-1, unknown option, KKC_STATUS_DEVICE_UNAVAILABLE (module missing, of another
 * build, or without a usable GPU: the sentence says which). First use from inside an OpenMP parallel region works;
 * such calls run with one thread. After a fork that follows the first use every call in the child is refused. */
KKC_API kkc_status_t kkc_context_create(kkc_device_t device, int32_t device_id, kkc_allocator_t *allocator,
                                        const kkc_options_t *options, kkc_context_t **ctx);
KKC_API kkc_status_t kkc_context_destroy(kkc_context_t *ctx);

/* Later work goes to `stream` (cudaStream_t or hipStream_t; NULL: the context's own) and waits for the context's
 * earlier work. Does not block. Refused: host devices. */
KKC_API kkc_status_t kkc_context_set_stream(kkc_context_t *ctx, void *stream);

/* Blocks until all work of this context is done. */
KKC_API kkc_status_t kkc_context_synchronize(kkc_context_t *ctx);

/* JSON about the context: device, device_id, name, threads or multiprocessors, memory, module, kkc version, scalars,
 * index pairs, SIMD width. The text belongs to `ctx` until the next such call on it. */
KKC_API kkc_status_t kkc_context_info(kkc_context_t *ctx, const char **json);

/* ---- 4. memory ------------------------------------------------------------------------------------------------ */

/* alloc returns at least `bytes` bytes at a multiple of 256 in `space`, or NULL; `stream` is the context's (NULL on
 * hosts). Both functions may be called from any thread that uses a context. Work enqueued
 * on `stream` may still use what free gets: free behind it (as cudaFreeAsync does) or wait. */
typedef void *(*kkc_alloc_fn)(void *user, size_t bytes, kkc_space_t space, void *stream);
typedef void (*kkc_free_fn)(void *user, void *ptr, size_t bytes, kkc_space_t space, void *stream);

KKC_API kkc_status_t kkc_allocator_create(kkc_alloc_fn alloc, kkc_free_fn free, void *user,
                                          kkc_allocator_t **allocator);
KKC_API kkc_status_t kkc_allocator_destroy(kkc_allocator_t *allocator);

/* Memory of the context's device (host memory for host devices), at a multiple of 256 bytes. 0 bytes give NULL. May
 * block. Failed: KKC_STATUS_OUT_OF_MEMORY. kkc_free of NULL succeeds; of a pointer that kkc_malloc did not give for
 * this device is refused. kkc_free does not block; it waits for enqueued work in the background. */
KKC_API kkc_status_t kkc_malloc(kkc_context_t *ctx, size_t bytes, void **ptr);
KKC_API kkc_status_t kkc_free(kkc_context_t *ctx, void *ptr);

/* Copies bytes between arrays that do not overlap. Blocks unless both lie on the device. */
KKC_API kkc_status_t kkc_copy(kkc_context_t *ctx, void *dst, const void *src, size_t bytes, kkc_direction_t direction);

/* ---- 5. options ----------------------------------------------------------------------------------------------- */

/* A set of "key" = value; values are integers, reals or text. Keys are checked by the call that uses them: unknown
 * keys and values are refused with the list of those that exist. Setting a key again replaces its value. The set is
 * copied by the call that uses it. */
KKC_API kkc_status_t kkc_options_create(kkc_options_t **options);
KKC_API kkc_status_t kkc_options_destroy(kkc_options_t *options);
KKC_API kkc_status_t kkc_options_set_int(kkc_options_t *options, const char *key, int64_t value);
KKC_API kkc_status_t kkc_options_set_real(kkc_options_t *options, const char *key, double value);
KKC_API kkc_status_t kkc_options_set_text(kkc_options_t *options, const char *key, const char *value);

/* From one flat JSON object; true and false become 1 and 0. Refused: KKC_STATUS_PARSE with the position; arrays,
 * objects and null as values. */
KKC_API kkc_status_t kkc_options_from_json(const char *json, kkc_options_t **options);

/* ---- 6. views ------------------------------------------------------------------------------------------------- */

/* Wraps the caller's memory: `rank` 0..8, `extents` (rank of them, >= 0; NULL for rank 0), `strides` in elements for
 * KKC_LAYOUT_STRIDED (for left and right NULL, or strides of that order, e.g. a leading dimension). `space` says
 * where `data` lies: host devices take KKC_SPACE_HOST; GPUs take all four, but execute only on what the device can
 * read. `data` may be NULL for zero elements and for templates that only a plan sees. Refused: negative or
 * overflowing extents and strides, strides under which two elements share a place (writable views). */
KKC_API kkc_status_t kkc_view_wrap(kkc_context_t *ctx, kkc_scalar_t scalar, int32_t rank, const int64_t *extents,
                                   kkc_layout_t layout, const int64_t *strides, kkc_space_t space, void *data,
                                   kkc_view_t **view);
/* The same for memory that is only read: refused where an output is expected. */
KKC_API kkc_status_t kkc_view_wrap_const(kkc_context_t *ctx, kkc_scalar_t scalar, int32_t rank, const int64_t *extents,
                                         kkc_layout_t layout, const int64_t *strides, kkc_space_t space,
                                         const void *data, kkc_view_t **view);

/* Allocates a contiguous view (layout left or right). Elements are not initialised. */
KKC_API kkc_status_t kkc_view_create(kkc_context_t *ctx, kkc_scalar_t scalar, int32_t rank, const int64_t *extents,
                                     kkc_layout_t layout, kkc_space_t space, kkc_view_t **view);

/* A new contiguous view of the same type, shape and order in `space` of ctx's device. Elements are not copied. */
KKC_API kkc_status_t kkc_view_mirror(kkc_context_t *ctx, const kkc_view_t *view, kkc_space_t space,
                                     kkc_view_t **mirror);

/* A second handle on the same memory and shape. */
KKC_API kkc_status_t kkc_view_retain(kkc_view_t *view, kkc_view_t **same);

/* A view of part of another's memory: dimension i keeps `counts[i]` elements from `begins[i]` on; counts[i] = -1
 * keeps none and drops the dimension at index begins[i]. Refused: outside the extents. */
KKC_API kkc_status_t kkc_view_sub(kkc_view_t *view, const int64_t *begins, const int64_t *counts, kkc_view_t **sub);

/* Reads what a view is; any output may be NULL. extents and strides need room for rank entries (8 always do). */
KKC_API kkc_status_t kkc_view_get(const kkc_view_t *view, kkc_scalar_t *scalar, int32_t *rank, int64_t *extents,
                                  int64_t *strides, kkc_layout_t *layout, kkc_space_t *space, void **data);

/* Lets a wrapped view point elsewhere, same shape. Refused: allocated views. */
KKC_API kkc_status_t kkc_view_set_pointer(kkc_view_t *view, void *data);

/* destination = source, element by element: same shape and element type, any two layouts and spaces. Blocks when one
 * side is not readable by ctx's device; else only enqueues on a GPU. Overlapping memory is refused. */
KKC_API kkc_status_t kkc_view_copy(kkc_context_t *ctx, const kkc_view_t *source, kkc_view_t *destination);

/* Every element = *value (host memory, of the view's type). */
KKC_API kkc_status_t kkc_view_fill(kkc_context_t *ctx, const void *value, kkc_view_t *view);

KKC_API kkc_status_t kkc_view_destroy(kkc_view_t *view);

/* ---- 7. matrices ---------------------------------------------------------------------------------------------- */

/* A compressed sparse row matrix over the caller's arrays in ctx's device memory: row_offsets[rows + 1],
 * col_indices[nnz], values[nnz] (NULL with KKC_TYPE_NONE); types by index_pair and scalar; base 0 or 1 counts
 * offsets and indices. Rows need not be sorted. Host devices check the offsets here; plans and
 * kkc_matrix_validate check all. Arrays may be NULL when they have no entries (row_offsets too when rows = 0).
 * Refused: negative or overflowing sizes, bad base, offsets that do not run from base to nnz + base. */
KKC_API kkc_status_t kkc_csr_create(kkc_context_t *ctx, int64_t rows, int64_t cols, int64_t nnz,
                                    kkc_index_pair_t index_pair, kkc_scalar_t scalar, int32_t base,
                                    const void *row_offsets, const void *col_indices, void *values, kkc_matrix_t **A);

/* The same from host arrays, copied to ctx's device. Offsets and indices are checked. Blocks. */
KKC_API kkc_status_t kkc_csr_create_copy(kkc_context_t *ctx, int64_t rows, int64_t cols, int64_t nnz,
                                         kkc_index_pair_t index_pair, kkc_scalar_t scalar, int32_t base,
                                         const void *row_offsets, const void *col_indices, const void *values,
                                         kkc_matrix_t **A);

/* A matrix for the output of a plan, over arrays whose pattern is not there yet: kkc_plan_output_pattern fills
 * row_offsets and col_indices, the plan's execute the values. Nothing is read here. Sizes and NULL as for
 * kkc_csr_create. Since 0.1.0. */
KKC_API kkc_status_t kkc_csr_create_output(kkc_context_t *ctx, int64_t rows, int64_t cols, int64_t nnz,
                                           kkc_index_pair_t index_pair, kkc_scalar_t scalar, int32_t base,
                                           void *row_offsets, void *col_indices, void *values, kkc_matrix_t **C);

/* Lets a borrowed matrix use other arrays of the same sizes and types. Refused: matrices that own their arrays. */
KKC_API kkc_status_t kkc_csr_set_pointers(kkc_matrix_t *A, const void *row_offsets, const void *col_indices,
                                          void *values);

/* Reads what a matrix is; any output may be NULL. The arrays lie in the matrix's device memory. */
KKC_API kkc_status_t kkc_csr_get(const kkc_matrix_t *A, int64_t *rows, int64_t *cols, int64_t *nnz,
                                 kkc_index_pair_t *index_pair, kkc_scalar_t *scalar, int32_t *base,
                                 const void **row_offsets, const void **col_indices, void **values);

/* A copy on ctx's device, which may be another than A's. Blocks. */
KKC_API kkc_status_t kkc_matrix_copy(kkc_context_t *ctx, const kkc_matrix_t *A, kkc_matrix_t **copy);

/* Bits that kkc_matrix_validate reports. */
typedef int32_t kkc_matrix_properties_t;
enum {
  KKC_MATRIX_SORTED = 1,           /* every row's columns ascend (not strictly) */
  KKC_MATRIX_NO_DUPLICATES = 2,    /* no column twice in a row */
  KKC_MATRIX_FULL_DIAGONAL = 4,    /* square, and (i, i) is present for every row i */
  KKC_MATRIX_SYMMETRIC_PATTERN = 8 /* square, and (i, j) is present whenever (j, i) is */
};

/* Checks that offsets are monotone and indices in range, and finds the properties. Reads the pattern only; copies it
 * to the host for GPU matrices; blocks. Refused: KKC_STATUS_INVALID_ARGUMENT (offsets) or
 * KKC_STATUS_INDEX_OUT_OF_RANGE, each with row and value. */
KKC_API kkc_status_t kkc_matrix_validate(const kkc_matrix_t *A, kkc_matrix_properties_t *properties);

/* JSON of what kkc_matrix_validate finds, and rows, cols, nnz, types, shortest, longest and mean row, empty rows,
 * bandwidth, symmetry of values, diagonal dominance. Reads values too. Text belongs to A until the next such call. */
KKC_API kkc_status_t kkc_matrix_info(kkc_matrix_t *A, const char **json);

KKC_API kkc_status_t kkc_matrix_destroy(kkc_matrix_t *A);

/* ---- 8. matrix files ------------------------------------------------------------------------------------------ */

/* Reads a Matrix Market file (.mtx or .mtx.gz; coordinate or array; real, complex, integer, pattern; general,
 * symmetric, skew-symmetric, hermitian) as a general matrix of the wanted types: rows sorted, mirrored entries
 * present, duplicates added up. Integers and pattern entries (1) become the scalar; complex files need a complex
 * scalar; KKC_TYPE_NONE reads the pattern. Blocks. Refused: KKC_STATUS_IO, KKC_STATUS_PARSE with file and line,
 * KKC_STATUS_OVERFLOW. */
KKC_API kkc_status_t kkc_matrix_read(kkc_context_t *ctx, const char *path, kkc_index_pair_t index_pair,
                                     kkc_scalar_t scalar, kkc_matrix_t **A);

/* Writes coordinate format, gzipped when the path ends in .gz. Options (or NULL): "symmetry" =
 * general|symmetric|skew|hermitian (only the lower triangle is written; refused when A is not so), "precision" =
 * digits (default: enough to read the same bits), "comment" = text. Blocks. */
KKC_API kkc_status_t kkc_matrix_write(const kkc_matrix_t *A, const char *path, const kkc_options_t *options);

/* A dense rank-2 view from an array or coordinate file, and back (array format). Blocks. */
KKC_API kkc_status_t kkc_view_read(kkc_context_t *ctx, const char *path, kkc_scalar_t scalar, kkc_layout_t layout,
                                   kkc_view_t **view);
KKC_API kkc_status_t kkc_view_write(kkc_context_t *ctx, const kkc_view_t *view, const char *path);

/* ---- 9. generated matrices ------------------------------------------------------------------------------------ */

/* A test matrix by name, the same on every device and machine: "lap2d5", "lap3d7", "lap3d27", "elas3", "rmat",
 * "rand", "band", "arrow", "identity", and the fixed sizes "rmat17", "rmat18", "rmat19", "rmat20", "rmat17s",
 * "rmat20s", "rand30". Options (or NULL): "size" = small|full; "nx", "ny", "nz"; "rows", "cols", "per_row", "scale",
 * "edges", "diagonals"; "seed"; "symmetric" = 0|1; "diagonal" = natural|dominant (dominant: solvable). Blocks.
 * Refused: unknown name (with the list), unknown option, KKC_STATUS_OVERFLOW. docs/matrices.md defines each. */
KKC_API kkc_status_t kkc_matrix_generate(kkc_context_t *ctx, const char *name, const kkc_options_t *options,
                                         kkc_index_pair_t index_pair, kkc_scalar_t scalar, kkc_matrix_t **A);

/* The graph Laplacian of A's pattern (symmetrised, diagonal ignored) plus `shift` on the diagonal: symmetric
 * positive definite for shift > 0. A square. Types are A's (f64 for a pattern). Blocks. */
KKC_API kkc_status_t kkc_matrix_laplacian(kkc_context_t *ctx, const kkc_matrix_t *A, double shift, kkc_matrix_t **L);

/* ---- 10. operations without a plan ---------------------------------------------------------------------------- */

/* y = alpha x + beta y for equal shapes of any rank, floating types and layouts. alpha and beta are of the element
 * type, in host memory (device memory under the context's option scalars = device). beta = 0 never reads y, alpha =
 * 0 never reads x. x may be y. */
KKC_API kkc_status_t kkc_axpby(kkc_context_t *ctx, const void *alpha, const kkc_view_t *x, const void *beta,
                               kkc_view_t *y);

/* result = sum of x_i y_i (conjugate = 1: conj(x_i) y_i). Vectors of rank 1 give a rank-0 view; multi-vectors
 * (rank 2) give rank 1: one number a column. result has the element type. On a GPU result lies in memory that the
 * device can write and the call only enqueues; on hosts it blocks. The same bits run to run. */
KKC_API kkc_status_t kkc_dot(kkc_context_t *ctx, int32_t conjugate, const kkc_view_t *x, const kkc_view_t *y,
                             kkc_view_t *result);

/* result = sqrt(sum of |x_i|^2), shapes as for kkc_dot; result is of the real type (f32 for c64, f64 for c128). */
KKC_API kkc_status_t kkc_norm2(kkc_context_t *ctx, const kkc_view_t *x, kkc_view_t *result);

/* ---- 11. plans ------------------------------------------------------------------------------------------------ */

/* Options that every plan takes: "implementation" = a name (kkc_implementation_name), "tuning" = auto|measure,
 * "deterministic" = 0|1, "values" = any|kept (kept: by plans of spmv, sptrsv and krylov; KKC_STATUS_NOT_SUPPORTED
 * from others), "scalars" = host|device, "checked" = 0|1 (execute compares the patterns of its matrices, C's too, with
 * the planned ones and refuses another with KKC_STATUS_PATTERN_CHANGED: blocks on GPUs), "max_workspace" = bytes. */

/* Whether `operation` ("spmv", ...) has kernels for these types on the device. Refused: unknown operation (with the
 * list). A device that is not there gives 0. */
KKC_API kkc_status_t kkc_query_support(kkc_device_t device, const char *operation, kkc_index_pair_t index_pair,
                                       kkc_scalar_t scalar, int32_t *yes);

/* The implementations of an operation on a device, in order of priority; the last one is the reference. Names have
 * static storage. */
KKC_API kkc_status_t kkc_implementation_count(kkc_device_t device, const char *operation, int32_t *count);
KKC_API kkc_status_t kkc_implementation_name(kkc_device_t device, const char *operation, int32_t index,
                                             const char **name);

/* JSON of what the plan decided: operation, implementation, device, types, sizes, workspace_bytes, plan_seconds,
 * passed_over (implementation: reason), and what the implementation adds. Text belongs to the plan until the next
 * such call on it. The second form writes at most `capacity` bytes with the final 0 and gives the length without it. */
KKC_API kkc_status_t kkc_plan_info(kkc_plan_t *plan, const char **json);
KKC_API kkc_status_t kkc_plan_info_copy(kkc_plan_t *plan, size_t capacity, char *buffer, size_t *length);

/* Workspace that execute needs (bytes of device memory, possibly 0), and the caller's own for it, at a multiple of
 * 256; NULL with 0 goes back to the plan's. Plan data are not workspace. */
KKC_API kkc_status_t kkc_plan_workspace_size(const kkc_plan_t *plan, size_t *bytes);
KKC_API kkc_status_t kkc_plan_set_workspace(kkc_plan_t *plan, void *ptr, size_t bytes);

/* Blocks, returns and clears the plan's numeric status: success or one of 1xx, the first place (row or item, -1 for
 * none) and how often. */
KKC_API kkc_status_t kkc_plan_check(kkc_plan_t *plan, int64_t *where, int64_t *count);

/* Operations whose output is a matrix C: its number of entries; C's pattern written to a matrix of these sizes and
 * types (kkc_csr_create_output, or kkc_csr_create over arrays that may be written; index base 0 or 1; its type may be
 * KKC_TYPE_NONE); or a new matrix with that pattern, its values not initialised, its index base option "base" of the
 * plan (default: that of A). A new matrix shares the plan's copy of the pattern where the bases allow it. The pattern
 * is there at once on hosts and behind the context's enqueued work on GPUs; kkc_plan_create_output may block. Refused:
 * plans of operations without an output matrix, a C of other sizes, types or device. */
KKC_API kkc_status_t kkc_plan_output_nnz(const kkc_plan_t *plan, int64_t *nnz);
KKC_API kkc_status_t kkc_plan_output_pattern(const kkc_plan_t *plan, kkc_matrix_t *C);
KKC_API kkc_status_t kkc_plan_create_output(const kkc_plan_t *plan, kkc_matrix_t **C);

KKC_API kkc_status_t kkc_plan_destroy(kkc_plan_t *plan);

/* What tuning = measure found on this context, as JSON, and back: a later process need not measure. Text belongs to
 * ctx until the next such call on it. */
KKC_API kkc_status_t kkc_tuning_export(kkc_context_t *ctx, const char **json);
KKC_API kkc_status_t kkc_tuning_import(kkc_context_t *ctx, const char *json);

/* ---- 12. spmv: y = beta y + alpha op(A) x --------------------------------------------------------------------- */

/* Plans the product for A's pattern. x and y are templates of type, rank 1 (vector) or 2 (multi-vector: rows x
 * vectors), shape, layout, strides and space; their data may be NULL. Reads the pattern, never the values, unless
 * values = kept. Offsets and indices are checked. Further options: "transpose" = none|kept (a transposed copy for
 * op T and H; needs values = kept). May block. Refused: mismatched types, shapes, devices; an implementation that
 * does not take the case, with its reason. */
KKC_API kkc_status_t kkc_spmv_plan(kkc_context_t *ctx, kkc_op_t op, const kkc_matrix_t *A, const kkc_view_t *x,
                                   const kkc_view_t *y, const kkc_options_t *options, kkc_plan_t **plan);

/* Executes for any A, x, y of the planned pattern, types, shapes, layouts and spaces. alpha and beta are of the
 * element type (host memory, device memory under scalars = device). beta = 0 never reads y; alpha = 0 never reads A
 * or x. On GPUs c64 and c128 arrays lie at multiples of 8 and 16 bytes. Refused: x and y overlap; anything that differs
 * from the plan; KKC_STATUS_WRONG_STATE when values = kept and kkc_spmv_set_values has not been called. Never
 * allocates; on a GPU only enqueues. */
KKC_API kkc_status_t kkc_spmv_execute(kkc_plan_t *plan, const void *alpha, const kkc_matrix_t *A, const kkc_view_t *x,
                                      const void *beta, kkc_view_t *y);

/* Only with values = kept: takes over A's values; needed before the first execute and after each change. */
KKC_API kkc_status_t kkc_spmv_set_values(kkc_plan_t *plan, const kkc_matrix_t *A);

/* ---- 13. prefix sums and sorts of views ----------------------------------------------------------------------- */

/* y = prefix sums of x: y_i = x_0 + ... + x_i, with exclusive = 1 y_i = x_0 + ... + x_(i-1) and y_0 = 0. x and y have
 * one shape of rank 1 (dim = 0) or rank 2 (dim = 0: down each column, 1: along each row), any layouts; x may be y. Any
 * element type; y has that of x, or i32 or i64 where x holds u8, i64 where x holds i32. Integers wrap around. Sums of
 * floating types are not added from left to right, but have the same bits in every run; on hosts also for every number
 * of threads. On GPUs c64 and c128 arrays lie at multiples of 8 and 16 bytes. Never allocates; blocks on hosts, on a
 * GPU only enqueues. Refused: exclusive not 0 or 1, dim outside the rank, other shapes or types, views that overlap
 * without being the same. Since 0.1.0. */
KKC_API kkc_status_t kkc_view_scan(kkc_context_t *ctx, int32_t exclusive, int32_t dim, const kkc_view_t *x,
                                   kkc_view_t *y);

/* Plans stable sorts of `keys` along dim: rank 1 (dim = 0), or rank 2 (dim = 0: each column by itself, 1: each row).
 * All views are templates of one shape: types, strides and spaces count, their data may be NULL and is not read.
 * sorted_keys has the type of keys; NULL when only the order is wanted. sorted_values receives what belongs to each
 * sorted key: the element of `values` (any element type) at the key's place or, with values = NULL, that place itself
 * (i32 or i64, counted from 0 along dim); NULL sorts keys alone. Keys of any element type; option "order" =
 * ascending|descending. NaN counts as greater than every number and -0 as 0; complex keys compare by real, then by
 * imaginary part; equal keys keep their order, also when descending. May block. Refused: rank, dim, shapes and types
 * that differ, places that i32 does not count, both outputs NULL, values without sorted_values; an implementation that
 * does not take the case, with its reason. Since 0.1.0. */
KKC_API kkc_status_t kkc_view_sort_plan(kkc_context_t *ctx, int32_t dim, const kkc_view_t *keys,
                                        const kkc_view_t *sorted_keys, const kkc_view_t *values,
                                        const kkc_view_t *sorted_values, const kkc_options_t *options,
                                        kkc_plan_t **plan);

/* Sorts views of the planned shape, types, strides and spaces; NULL where the plan was given NULL. sorted_keys may be
 * keys, sorted_values may be values; other overlaps with an output are refused. On GPUs c64 and c128 arrays lie at
 * multiples of 8 and 16 bytes. Never allocates; blocks on hosts, on a GPU only enqueues. The same bits in every run.
 * Since 0.1.0. */
KKC_API kkc_status_t kkc_view_sort_execute(kkc_plan_t *plan, const kkc_view_t *keys, kkc_view_t *sorted_keys,
                                           const kkc_view_t *values, kkc_view_t *sorted_values);

/* ---- 14. operations on matrices -------------------------------------------------------------------------------- */

/* C = A^T (op T) or A^H (op H). The plan finds C's pattern and where its entries lie in A, once for a pattern; execute
 * then moves the values as often as they change. Every row of C ascends by A's rows; entries of one place keep A's
 * order, so no entry is added to another. A's rows need not be sorted. A's arrays read by columns (compressed sparse
 * columns, CSC) are C's: C's row_offsets, col_indices and values are the column offsets, row indices and values of A;
 * a matrix in CSC is wrapped as the CSR matrix of its transpose, and its transpose is its CSR. C is of index_pair,
 * which may differ from A's. Reads the pattern, never the values; offsets and indices are checked. Options: those of
 * every plan and "base" = 0|1, that of matrices made by kkc_plan_create_output (default: A's). Blocks. The same bits
 * run to run. Refused: another op; a matrix of another device; KKC_STATUS_OVERFLOW where index_pair cannot count C.
 * Since 0.1.0. */
KKC_API kkc_status_t kkc_transpose_plan(kkc_context_t *ctx, kkc_op_t op, const kkc_matrix_t *A,
                                        kkc_index_pair_t index_pair, const kkc_options_t *options, kkc_plan_t **plan);

/* C's values for any A of the planned pattern and types; C is of the planned output's sizes and types
 * (kkc_plan_create_output, kkc_plan_output_pattern), its pattern is not read but for "checked". No values to make for
 * KKC_TYPE_NONE. On GPUs c64 and c128 arrays lie at multiples of 8 and 16 bytes. Refused: anything that differs from
 * the plan; values of A and C that overlap. Never allocates; on a GPU only enqueues, but for "checked". Since 0.1.0. */
KKC_API kkc_status_t kkc_transpose_execute(kkc_plan_t *plan, const kkc_matrix_t *A, kkc_matrix_t *C);
/* C = A with every row sorted by column, stable. Option "duplicates" = keep|add (default keep): add makes one entry of
 * those of one place, their sum in A's order; C's rows then ascend strictly. The plan finds C's pattern and where its
 * entries lie in A; a sorted A costs a copy of its pattern. C is of A's index types. Reads the pattern, never the
 * values; offsets and indices are checked. Further options: those of every plan and "base" = 0|1, that of matrices made
 * by kkc_plan_create_output (default: A's). Blocks. The same bits run to run. Since 0.1.0. */
KKC_API kkc_status_t kkc_sort_rows_plan(kkc_context_t *ctx, const kkc_matrix_t *A, const kkc_options_t *options,
                                        kkc_plan_t **plan);

/* C's values for any A of the planned pattern and types; otherwise as kkc_transpose_execute. Since 0.1.0. */
KKC_API kkc_status_t kkc_sort_rows_execute(kkc_plan_t *plan, const kkc_matrix_t *A, kkc_matrix_t *C);

/* The CSR matrix C of coordinates (COO) in any order: entry k lies in row row_indices[k] and column col_indices[k],
 * counted from `base`. Both are views of one length, rank 1, any stride, i32 or i64, in memory of ctx's device. C's
 * rows are sorted, stable; option "duplicates" = add|keep (default add): entries of one place become their sum in the
 * order given. C is rows x cols, of index_pair and `scalar` (KKC_TYPE_NONE: a pattern). Further options: those of every
 * plan and "base" = 0|1, that of matrices made by kkc_plan_create_output (default: `base`). Reads the coordinates,
 * which no plan keeps. Blocks. The same bits run to run. Refused: KKC_STATUS_INDEX_OUT_OF_RANGE with the first
 * coordinate outside the matrix; KKC_STATUS_OVERFLOW where index_pair cannot count C. Since 0.1.0. */
KKC_API kkc_status_t kkc_coo_to_csr_plan(kkc_context_t *ctx, int64_t rows, int64_t cols, int32_t base,
                                         const kkc_view_t *row_indices, const kkc_view_t *col_indices,
                                         kkc_index_pair_t index_pair, kkc_scalar_t scalar, const kkc_options_t *options,
                                         kkc_plan_t **plan);

/* C's values from those of the coordinates, in their order: a view of rank 1, stride 1 and the planned type (not read
 * for KKC_TYPE_NONE). Otherwise as kkc_transpose_execute. Since 0.1.0. */
KKC_API kkc_status_t kkc_coo_to_csr_execute(kkc_plan_t *plan, const kkc_view_t *values, kkc_matrix_t *C);

/* The coordinates of a CSR matrix: row_indices[k] = row of entry k, counted from A's base. Its columns and values are
 * A's arrays. row_indices is a view of rank 1, any stride, i32 or i64, with nnz elements. Reads A's offsets, which must
 * be valid. On a GPU only enqueues; never allocates. Refused: another shape or type; i32 where it cannot count A's
 * rows. Since 0.1.0. */
KKC_API kkc_status_t kkc_csr_to_coo(kkc_context_t *ctx, const kkc_matrix_t *A, kkc_view_t *row_indices);

/* Plans of this section: permutation[k] = place, counted from 0, of the input's entry that becomes entry k of C. A view
 * of rank 1, stride 1, with nnz(C) elements, i64, or i32 where all fit. On a GPU only enqueues. Refused: plans that add
 * duplicates (duplicates = add, kkc_coo_to_csr_plan's default), also where there are none; other operations' plans.
 * Since 0.1.0. */
KKC_API kkc_status_t kkc_plan_output_permutation(const kkc_plan_t *plan, kkc_view_t *permutation);

/* d_i = A(i, i) for i = 0..min(rows, cols) - 1: 0 where there is no such entry, the sum where there are several. d is a
 * view of rank 1, any stride and A's type. Reads A's arrays, which must be valid. On a GPU only enqueues; never
 * allocates. The same bits run to run. Since 0.1.0. */
KKC_API kkc_status_t kkc_matrix_diagonal(kkc_context_t *ctx, const kkc_matrix_t *A, kkc_view_t *d);

/* A = diag(row_factors) A diag(col_factors) in place: a_ij = (r_i a_ij) c_j. Factors are views of rank 1, any stride
 * and A's type, with as many elements as A has rows and columns; NULL for one of them leaves its side out and reads
 * nothing. Reads A's pattern, which must be valid. On a GPU only enqueues; never allocates. Refused: NULL for both;
 * factors that overlap A's values. Since 0.1.0. */
KKC_API kkc_status_t kkc_matrix_scale(kkc_context_t *ctx, const kkc_view_t *row_factors, kkc_matrix_t *A,
                                      const kkc_view_t *col_factors);

/* ---- 15. spgemm: C = alpha op(A) op(B) + beta C ---------------------------------------------------------------- */

/* Plans the product for the patterns of A and B (the symbolic phase) and finds C's pattern: see kkc_plan_output_nnz,
 * _pattern and kkc_plan_create_output. A and B are of one index pair and element type; op_B(B) has as many rows as
 * op_A(A) has columns; either may be the other. Rows need not be sorted and may hold a column twice: products simply
 * add up. C's rows hold each column once, sorted; entries whose values cancel or are zero stay. mask: NULL, or a matrix
 * of C's size and A's index pair, with or without values: C then has only entries that are in mask's pattern too (what
 * it holds twice counts once), and no other is computed. index_pair_C: column indices as wide as those of A; its
 * offsets may be wider. Reads patterns, never values; offsets and indices are checked. Further options: "sorted" =
 * 1|0 (0: C's rows may be in any order), "base" = 0|1 (of C from kkc_plan_create_output; default: that of A). Blocks.
 * Under "max_workspace" execute may go through C in slices; the result has the same bits. kkc_plan_info adds products
 * (scalar multiplications), nnz (of C) and plan_bytes (memory that the plan keeps beside C's pattern). Refused:
 * mismatched types, shapes, devices; an implementation that does not take the case, with its reason;
 * KKC_STATUS_OVERFLOW when index_pair_C cannot count C's entries or columns, with the number. */
KKC_API kkc_status_t kkc_spgemm_plan(kkc_context_t *ctx, kkc_op_t op_A, const kkc_matrix_t *A, kkc_op_t op_B,
                                     const kkc_matrix_t *B, const kkc_matrix_t *mask, kkc_index_pair_t index_pair_C,
                                     const kkc_options_t *options, kkc_plan_t **plan);

/* Executes for any A and B of the planned patterns and types: C's values = alpha op_A(A) op_B(B) + beta C's values. C
 * has the planned pattern: it is from kkc_plan_create_output, or kkc_plan_output_pattern filled it; without "checked"
 * its offsets and indices are not read. alpha and beta are of the element type (host memory, device memory under
 * scalars = device). beta = 0 never reads C's values; alpha = 0 never reads A or B. C's values overlap neither A's nor
 * B's. Any base. On GPUs c64 and c128 arrays lie at multiples of 8 and 16 bytes. A or B of the planned sizes but of
 * another pattern gives undefined values or reads outside the arrays; "checked" = 1 refuses it, and a C of another
 * pattern (KKC_STATUS_PATTERN_CHANGED). Never allocates; on a GPU only enqueues, but for "checked". */
KKC_API kkc_status_t kkc_spgemm_execute(kkc_plan_t *plan, const void *alpha, const kkc_matrix_t *A,
                                        const kkc_matrix_t *B, const void *beta, kkc_matrix_t *C);

/* ---- 16. spgemm_jacobi: C = (I - omega D^-1 A) B ---------------------------------------------------------------- */

/* Plans a Jacobi step on the columns of B, e.g. the smoothing of a tentative prolongator, without A B as a matrix of
 * its own. D is A's diagonal. A is square, B has as many rows; both are of one index pair and element type,
 * index_pair_C as for kkc_spgemm_plan, and C's pattern is that of A B: rows sorted, each column once. Rows of A and B
 * may be unsorted and hold a column twice: such entries add up, on A's diagonal too. Reads patterns, never values;
 * offsets and indices are checked. Further options: "sorted" and "base" as for kkc_spgemm_plan; "product" = an
 * implementation of spgemm, for those that go through one. Blocks. kkc_plan_info adds products and plan_bytes. Refused:
 * mismatched types, shapes, devices; a row of A without a diagonal entry, with its number; KKC_STATUS_OVERFLOW when
 * index_pair_C cannot count C's entries or columns, with the number. Since 0.1.0. */
KKC_API kkc_status_t kkc_spgemm_jacobi_plan(kkc_context_t *ctx, const kkc_matrix_t *A, const kkc_matrix_t *B,
                                            kkc_index_pair_t index_pair_C, const kkc_options_t *options,
                                            kkc_plan_t **plan);

/* Executes for any A and B of the planned patterns and types; C has the planned pattern, which is not read but for
 * "checked", and its values are not read either. omega is of the element type (host memory, device memory under scalars
 * = device). dinv: the diagonal of D^-1 as a vector of A's element type (rank 1, any stride, in memory that the device
 * reads), or NULL: from A's diagonal. A zero diagonal is then KKC_STATUS_ZERO_PIVOT with its row: from this call on
 * hosts, from kkc_plan_check on GPUs (the first row, and how many); where C has no entries no values are read. C's
 * values overlap neither A's nor B's. On GPUs c64 and c128 arrays lie at multiples of 8 and 16 bytes. Refused: anything
 * that differs from the plan. Never allocates; blocks on hosts, on a GPU only enqueues, but for "checked". Since
 * 0.1.0. */
KKC_API kkc_status_t kkc_spgemm_jacobi_execute(kkc_plan_t *plan, const void *omega, const kkc_view_t *dinv,
                                               const kkc_matrix_t *A, const kkc_matrix_t *B, kkc_matrix_t *C);

/* ---- 17. spadd: C = alpha op(A) + beta op(B) ------------------------------------------------------------------- */

/* Plans the sum for the patterns of A and B: of the same types, shapes that fit under op. Rows may be unsorted and hold
 * a column twice (such entries are added up). C's pattern is the union: rows sorted, each column once, no entry dropped
 * whatever its value; index_pair_C may be any. Further options: "rows" = detect|sorted|unsorted, what is known of A's
 * and B's rows: nothing, that they ascend strictly (else KKC_STATUS_NOT_SORTED with matrix and row; no order of a
 * transposed operand's rows matters to C, so that theirs is not looked at), that they do not; "base". Reads patterns
 * only, and checks them. Blocks. Refused otherwise: as by kkc_spgemm_plan. Since 0.1.0. */
KKC_API kkc_status_t kkc_spadd_plan(kkc_context_t *ctx, kkc_op_t op_A, const kkc_matrix_t *A, kkc_op_t op_B,
                                    const kkc_matrix_t *B, kkc_index_pair_t index_pair_C, const kkc_options_t *options,
                                    kkc_plan_t **plan);

/* C's values for any A and B of the planned patterns and types; C has the planned pattern, which is not read but for
 * "checked". Its values overlap neither A's nor B's. alpha, beta and refusals as for kkc_spgemm_execute; alpha = 0
 * never reads A's values, beta = 0 never B's. The same bits run to run. Never allocates; on a GPU only enqueues, but
 * for "checked". Since 0.1.0. */
KKC_API kkc_status_t kkc_spadd_execute(kkc_plan_t *plan, const void *alpha, const kkc_matrix_t *A, const void *beta,
                                       const kkc_matrix_t *B, kkc_matrix_t *C);

/* ---- 18. sptrsv: op(T) x = alpha b for a triangle T of A ------------------------------------------------------- */

/* Plans the solve for A's pattern. A is square; T is the triangle `uplo` of it, with its diagonal (KKC_DIAG_STORED) or
 * with ones there (KKC_DIAG_UNIT); entries outside T, and the diagonal under KKC_DIAG_UNIT, are never read. So one
 * matrix may hold both factors of an incomplete factorization. Rows may be unsorted and hold a column twice: such
 * entries add up, on the diagonal too. b and x are templates of type, rank 1 (vector) or 2 (rows x vectors), shape,
 * layout, strides and space; both have A's rows and as many vectors; their data may be NULL. Reads the pattern, never
 * the values, and checks offsets and indices. May block. kkc_plan_info adds what the implementation found, e.g. levels
 * and rows per level. Refused: mismatched types, shapes, devices; a row without a diagonal entry under KKC_DIAG_STORED,
 * with its number (KKC_STATUS_INVALID_ARGUMENT); an implementation that does not take the case, with its reason. Since
 * 0.1.0. */
KKC_API kkc_status_t kkc_sptrsv_plan(kkc_context_t *ctx, kkc_op_t op, kkc_uplo_t uplo, kkc_diag_t diag,
                                     const kkc_matrix_t *A, const kkc_view_t *b, const kkc_view_t *x,
                                     const kkc_options_t *options, kkc_plan_t **plan);

/* Solves for any A, b, x of the planned pattern, types, shapes, layouts and spaces; new values need no new plan. x may
 * be b: the same elements at the same places; other overlaps are refused. alpha is of the element type (host memory,
 * device memory under scalars = device); alpha = 0 gives x = 0 and reads neither A nor b. A diagonal element that is
 * zero is KKC_STATUS_ZERO_PIVOT with its row, counted from 0: from this call on hosts (the first row), from
 * kkc_plan_check on GPUs (the first row, and how many); x is then undefined. The same bits run to run unless
 * kkc_plan_info says otherwise. On GPUs c64 and c128 arrays lie at multiples of 8 and 16 bytes. Refused: anything that
 * differs from the plan; KKC_STATUS_WRONG_STATE when values = kept and kkc_sptrsv_set_values has not been called. Never
 * allocates; blocks on hosts, on a GPU only enqueues. Since 0.1.0. */
KKC_API kkc_status_t kkc_sptrsv_execute(kkc_plan_t *plan, const void *alpha, const kkc_matrix_t *A, const kkc_view_t *b,
                                        kkc_view_t *x);

/* Only with values = kept: takes over A's values; needed before the first execute and after each change. Zeros on the
 * diagonal are reported by the executes that follow. Never allocates; blocks on hosts, on a GPU only enqueues. Since
 * 0.1.0. */
KKC_API kkc_status_t kkc_sptrsv_set_values(kkc_plan_t *plan, const kkc_matrix_t *A);

/* ---- 19. ilu, ic, ilut: incomplete factorizations --------------------------------------------------------------- */

/* Plans A ~ L U on a fixed pattern (A square): finds the pattern of LU, one matrix with L strictly below the diagonal
 * (its unit diagonal is not stored) and U on and above it: see kkc_plan_output_nnz, _pattern and
 * kkc_plan_create_output; kkc_sptrsv_plan takes it as lower with a unit diagonal and as upper. Option "level" = 0..255
 * (default 0): entries up to that level of fill, ILU(k); 0 is A's pattern. A's rows may be unsorted and hold a column
 * twice (such entries add up); LU's rows ascend strictly. LU is of A's types. Further options: "missing_diagonal" =
 * refuse|add, for a row of A without a diagonal entry (add: it counts as 0); "shift" = s (real): A + s I is factored;
 * "pivot_boost" = t >= 0 (real, default 0: none): a pivot of absolute value below t becomes "boost_value" (real, > 0,
 * default t) times its sign (complex: its phase; 0: +1); "base" = 0|1 of LU (default: A's). Reads the pattern, never
 * the values; offsets and indices are checked. Blocks. kkc_plan_info adds nnz (of LU) and plan_bytes. Refused: A not
 * square or without values; a missing diagonal entry, with its row; KKC_STATUS_OVERFLOW where A's index pair cannot
 * count LU's entries, with the number; an implementation that does not take the case, with its reason. Since 0.1.0. */
KKC_API kkc_status_t kkc_ilu_plan(kkc_context_t *ctx, const kkc_matrix_t *A, const kkc_options_t *options,
                                  kkc_plan_t **plan);

/* LU's values for any A of the planned pattern and types; LU has the planned pattern, which is not read but for
 * "checked". A pivot that is zero is KKC_STATUS_ZERO_PIVOT with its row (counted from 0); an entry of LU that is not
 * finite (a NaN or an infinity in A, or overflow) is KKC_STATUS_BREAKDOWN with its row: from this call on hosts, from
 * kkc_plan_check on GPUs (the first such row, and how many; the work always ends). LU's values do not overlap A's. On
 * GPUs c64 and c128 arrays lie at multiples of 8 and 16 bytes. Refused: anything that differs from the plan. The same
 * bits run to run. Never allocates; blocks on hosts, on a GPU only enqueues, but for "checked". Since 0.1.0. */
KKC_API kkc_status_t kkc_ilu_execute(kkc_plan_t *plan, const kkc_matrix_t *A, kkc_matrix_t *LU);

/* Plans A ~ L L^H on the pattern of A's lower triangle, IC(0): A is symmetric (complex types: hermitian), and only its
 * diagonal and what lies below are read. The output is L, lower with its diagonal stored; kkc_sptrsv_plan takes it with
 * op N and H. Options and refusals as for kkc_ilu_plan, without "level"; a pivot here is the square of L's diagonal
 * entry, and one below t becomes boost_value. Since 0.1.0. */
KKC_API kkc_status_t kkc_ic_plan(kkc_context_t *ctx, const kkc_matrix_t *A, const kkc_options_t *options,
                                 kkc_plan_t **plan);

/* L's values for any A of the planned pattern and types; the imaginary parts of A's diagonal are not read. A pivot that
 * is zero or negative is KKC_STATUS_ZERO_PIVOT with its row; otherwise as kkc_ilu_execute. Since 0.1.0. */
KKC_API kkc_status_t kkc_ic_execute(kkc_plan_t *plan, const kkc_matrix_t *A, kkc_matrix_t *L);

/* Plans A ~ L U on a pattern that is found from the size of the entries, ILUT, by parallel fixed-point iterations
 * (ParILUT). Options: "fill" = f (real, default 2): L and U each keep at most f times the entries that A has on their
 * side of the diagonal (U its diagonal too); "iterations" (default 5), which add the entries that L U - A asks for and
 * drop the smallest; "sweeps" (default 3) over the last pattern; "missing_diagonal", "shift", "pivot_boost" and
 * "boost_value" as for kkc_ilu_plan, whose refusals these are too. Since 0.1.0. */
KKC_API kkc_status_t kkc_ilut_plan(kkc_context_t *ctx, const kkc_matrix_t *A, const kkc_options_t *options,
                                   kkc_plan_t **plan);

/* New matrices L (strictly lower; its unit diagonal is not stored) and U (upper with its diagonal) for any A of the
 * planned pattern and types: rows ascend strictly, base 0, A's types. Both belong to the caller. Allocates; blocks.
 * Zero pivots and entries that are not finite as for kkc_ilu_execute; no matrix is made then. The same bits run to run.
 * Since 0.1.0. */
KKC_API kkc_status_t kkc_ilut_execute(kkc_plan_t *plan, const kkc_matrix_t *A, kkc_matrix_t **L, kkc_matrix_t **U);

/* ---- 20. krylov: A x = b by conjugate gradients, BiCGSTAB or GMRES ---------------------------------------------- */

/* How a plan's preconditioner M is made. It is applied such that residuals are b - A x for every method. */
typedef int32_t kkc_preconditioner_t;
enum {
  KKC_PRECONDITIONER_NONE = 1,
  KKC_PRECONDITIONER_JACOBI = 2,  /* A's diagonal */
  KKC_PRECONDITIONER_LU = 3,      /* L U: L's diagonal is 1 and not read */
  KKC_PRECONDITIONER_CHOLESKY = 4 /* L L^H */
};

/* z = M^-1 r, as the caller makes it: r and z are views of rank 1, stride 1 and A's type in memory of the plan's
 * device, which belong to the plan and are valid during the call. On a GPU the work is enqueued on the context's
 * stream. Any function of this library may be called on the plan's context but those of the plan itself. 0 is success;
 * any other number ends kkc_krylov_execute with KKC_STATUS_BREAKDOWN, unless b - A x met the bound before (gmres: after
 * one more call, which brings x up to date; where that fails, too, x is that of the last restart). Since 0.1.0. */
typedef kkc_status_t (*kkc_preconditioner_fn)(void *user, const kkc_view_t *r, kkc_view_t *z);

/* Plans the solution of A x = b for a square A of any pattern; b and x are templates of rank 1, any stride and A's
 * type. Reads A's pattern, never the values, unless values = kept. Further options: "method" = cg|bicgstab|gmres (cg: A
 * Hermitian positive definite), "restart" = 1..1000 (gmres: most basis vectors, default 30), "tolerance" = a number
 * above 0 (default 1e-8; f32 and c64: 1e-5), "convergence" = relative|absolute (the norm of b - A x is at most
 * tolerance times that of b, or tolerance), "max_iterations" (default 1000), "guess" = given|zero (x is read, or not),
 * "product" = an implementation of spmv, "check_every" = iterations between two looks of the host at the residual
 * (default 1, on GPUs 8; no iteration's result depends on it). values = kept: the product keeps A's values, taken over
 * by each execute. The workspace holds the method's vectors: 4 of A's rows for cg, 8 for bicgstab, restart + 2 for
 * gmres, and one more where x is not contiguous; besides, less than 64 KiB (gmres: 16 restart^2 bytes more), whatever
 * max_iterations is. Refused: as by kkc_spmv_plan. Since 0.1.0. */
KKC_API kkc_status_t kkc_krylov_plan(kkc_context_t *ctx, const kkc_matrix_t *A, const kkc_view_t *b,
                                     const kkc_view_t *x, const kkc_options_t *options, kkc_plan_t **plan);

/* The preconditioner of later executes; a new plan has none. KKC_PRECONDITIONER_JACOBI: the diagonal of the A that
 * execute is given. _LU: M holds L strictly below its diagonal and U on and above it, as kkc_ilu_plan makes it, and U
 * is NULL; or M is L and U is U. _CHOLESKY: M is L. Both are of A's size and type, sorted or not, and are solved with
 * by plans of sptrsv that this call makes from their patterns, with `options`; under values = kept, which is what hosts
 * take where `options` do not say, each execute takes over their values. The plan keeps M and U alive and reads the
 * values that they have when execute is called: new ones need no new call. M, U and options are NULL where they have no
 * use. May allocate and block. Refused: as by kkc_sptrsv_plan. Since 0.1.0. */
KKC_API kkc_status_t kkc_krylov_set_preconditioner(kkc_plan_t *plan, kkc_preconditioner_t kind, const kkc_matrix_t *M,
                                                   const kkc_matrix_t *U, const kkc_options_t *options);

/* The same by the caller's function, which gets `user`; both must outlive their use by the plan. Since 0.1.0. */
KKC_API kkc_status_t kkc_krylov_set_callback(kkc_plan_t *plan, kkc_preconditioner_fn apply, void *user);

/* Solves A x = b for any A, b and x of the planned pattern, types, shapes and strides. x is the initial guess and
 * receives the solution; it does not overlap b. Blocks, also on GPUs; never allocates device memory. Before it
 * succeeds, b - A x is computed anew, and the method started again where rounding made the recurrence's residual too
 * small: a solution's b - A x meets the bound itself. Systems with numbers whose squares leave the range of double are
 * scaled by powers of two meanwhile. Refused, x unchanged: NaN or infinity in A, b, x or a factor, with its row; a row
 * without diagonal entry (jacobi); anything that differs from the plan. Failed with x as good as it got (bicgstab:
 * that of the least residual; 0 where it left the range of its type): KKC_STATUS_NO_CONVERGENCE, KKC_STATUS_BREAKDOWN
 * of the method with the reason. KKC_STATUS_ZERO_PIVOT: a zero on the diagonal of A (jacobi) or of a factor, x
 * unchanged. The same bits run to run where the product has them. Since 0.1.0. */
KKC_API kkc_status_t kkc_krylov_execute(kkc_plan_t *plan, const kkc_matrix_t *A, const kkc_view_t *b, kkc_view_t *x);

/* How the last execute ended: its status, iterations (a product with A each, two for bicgstab), and the norm of the
 * residual; any output may be NULL. Refused: KKC_STATUS_WRONG_STATE before the first execute. Since 0.1.0. */
KKC_API kkc_status_t kkc_krylov_result(const kkc_plan_t *plan, kkc_status_t *outcome, int64_t *iterations,
                                       double *residual);

/* Norms of the residual of the last execute, before the first iteration and after each: `count` = iterations + 1, of
 * which the first `capacity` are written to `norms` (host memory; NULL with 0). They are kept in host memory, 8 bytes
 * an iteration that was made. Since 0.1.0. */
KKC_API kkc_status_t kkc_krylov_history(const kkc_plan_t *plan, int64_t capacity, double *norms, int64_t *count);

#ifdef __cplusplus
}
#endif

#endif /* KKC_H */
