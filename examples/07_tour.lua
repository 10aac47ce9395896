-- The tour over plain dlopen: LuaJIT's ffi, no binding at all. It reads or makes a matrix, runs SpMV in every mode with
-- one and with eight vectors against the reference, and solves by conjugate gradients.
--
--   KKC_LIBRARY=/path/to/libkkc.so luajit 07_tour.lua [matrix.mtx[.gz]]
local ffi = require("ffi")

-- What is needed of kkc.h, as it stands there.
ffi.cdef [[
typedef int32_t kkc_status_t;
typedef struct kkc_context_s kkc_context_t;
typedef struct kkc_options_s kkc_options_t;
typedef struct kkc_view_s kkc_view_t;
typedef struct kkc_matrix_s kkc_matrix_t;
typedef struct kkc_plan_s kkc_plan_t;
const char *kkc_status_name(kkc_status_t status);
const char *kkc_last_error(void);
kkc_status_t kkc_context_create(int32_t device, int32_t device_id, void *allocator, const kkc_options_t *options, kkc_context_t **ctx);
kkc_status_t kkc_context_destroy(kkc_context_t *ctx);
kkc_status_t kkc_options_from_json(const char *json, kkc_options_t **options);
kkc_status_t kkc_options_destroy(kkc_options_t *options);
kkc_status_t kkc_view_wrap(kkc_context_t *ctx, int32_t scalar, int32_t rank, const int64_t *extents, int32_t layout,
                           const int64_t *strides, int32_t space, void *data, kkc_view_t **view);
kkc_status_t kkc_view_destroy(kkc_view_t *view);
kkc_status_t kkc_matrix_read(kkc_context_t *ctx, const char *path, int32_t index_pair, int32_t scalar, kkc_matrix_t **A);
kkc_status_t kkc_matrix_generate(kkc_context_t *ctx, const char *name, const kkc_options_t *options, int32_t index_pair,
                                 int32_t scalar, kkc_matrix_t **A);
kkc_status_t kkc_matrix_laplacian(kkc_context_t *ctx, const kkc_matrix_t *A, double shift, kkc_matrix_t **L);
kkc_status_t kkc_matrix_info(kkc_matrix_t *A, const char **json);
kkc_status_t kkc_matrix_destroy(kkc_matrix_t *A);
kkc_status_t kkc_csr_get(const kkc_matrix_t *A, int64_t *rows, int64_t *cols, int64_t *nnz, int32_t *index_pair,
                         int32_t *scalar, int32_t *base, const void **row_offsets, const void **col_indices, void **values);
kkc_status_t kkc_spmv_plan(kkc_context_t *ctx, int32_t op, const kkc_matrix_t *A, const kkc_view_t *x, const kkc_view_t *y,
                           const kkc_options_t *options, kkc_plan_t **plan);
kkc_status_t kkc_spmv_execute(kkc_plan_t *plan, const void *alpha, const kkc_matrix_t *A, const kkc_view_t *x,
                              const void *beta, kkc_view_t *y);
kkc_status_t kkc_krylov_plan(kkc_context_t *ctx, const kkc_matrix_t *A, const kkc_view_t *b, const kkc_view_t *x,
                             const kkc_options_t *options, kkc_plan_t **plan);
kkc_status_t kkc_krylov_execute(kkc_plan_t *plan, const kkc_matrix_t *A, const kkc_view_t *b, kkc_view_t *x);
kkc_status_t kkc_krylov_result(const kkc_plan_t *plan, int32_t *outcome, int64_t *iterations, double *residual);
kkc_status_t kkc_plan_info(kkc_plan_t *plan, const char **json);
kkc_status_t kkc_plan_destroy(kkc_plan_t *plan);
]]
local OPENMP, F64, INDEX_32_32, RIGHT, HOST = 2, 5, 1, 2, 1
local BREAKDOWN, NO_CONVERGENCE = 102, 103
local kkc = ffi.load(os.getenv("KKC_LIBRARY") or "kkc")

local function check(status)
  if status ~= 0 then
    error(ffi.string(kkc.kkc_status_name(status)) .. ": " .. ffi.string(kkc.kkc_last_error()), 2)
  end
end

-- Calls a function whose last argument is a handle to set.
local function make(kind, create, ...)
  local handle = ffi.new("kkc_" .. kind .. "_t *[1]")
  local arguments = { ... }
  arguments[select("#", ...) + 1] = handle
  check(create(unpack(arguments, 1, select("#", ...) + 1)))
  return handle[0]
end

local function number(value) return ffi.new("double[1]", value) end
local one, zero = number(1), number(0)

local ctx = make("context", kkc.kkc_context_create, OPENMP, 0, nil, nil)

-- An array of `rows` x `vectors` random numbers and the view over it. The view ends with the array.
local function array(rows, vectors)
  local data = ffi.new("double[?]", math.max(rows * vectors, 1))
  for i = 0, rows * vectors - 1 do data[i] = 2 * math.random() - 1 end
  local extents = ffi.new("int64_t[2]", rows, vectors)
  local view = make("view", kkc.kkc_view_wrap, ctx, F64, vectors == 1 and 1 or 2, extents, RIGHT, nil, HOST, data)
  return { data = data, view = view, size = rows * vectors }
end

local function release(...)
  for _, thing in ipairs { ... } do check(kkc.kkc_view_destroy(thing.view)) end
end

local function relative_difference(a, b)
  local difference, scale = 0, 0
  for i = 0, a.size - 1 do
    difference = difference + (a.data[i] - b.data[i]) ^ 2
    scale = scale + b.data[i] ^ 2
  end
  return math.sqrt(difference / math.max(scale, 1e-300))
end

local function sizes(A)
  local n = ffi.new("int64_t[3]")
  check(kkc.kkc_csr_get(A, n, n + 1, n + 2, nil, nil, nil, nil, nil, nil))
  return tonumber(n[0]), tonumber(n[1]), tonumber(n[2])
end

local function text_of(query, handle)
  local json = ffi.new("const char *[1]")
  check(query(handle, json))
  return ffi.string(json[0])
end

local function multiply(A, op, vectors)
  local rows, cols = sizes(A)
  if op % 2 == 0 then rows, cols = cols, rows end -- T is 2, H is 4
  local x, y, expected = array(cols, vectors), array(rows, vectors), array(rows, vectors)
  local plan = make("plan", kkc.kkc_spmv_plan, ctx, op, A, x.view, y.view, nil)
  check(kkc.kkc_spmv_execute(plan, one, A, x.view, zero, y.view))
  local options = make("options", kkc.kkc_options_from_json, '{"implementation": "reference"}')
  local reference = make("plan", kkc.kkc_spmv_plan, ctx, op, A, x.view, expected.view, options)
  check(kkc.kkc_spmv_execute(reference, one, A, x.view, zero, expected.view))
  local difference = relative_difference(y, expected)
  local name = text_of(kkc.kkc_plan_info, plan):match('"implementation":"([^"]*)"')
  print(("%-5s %7d  %-20s %.1e"):format(({ "N", "T", "conj", "H" })[op], vectors, name, difference))
  check(kkc.kkc_plan_destroy(plan))
  check(kkc.kkc_plan_destroy(reference))
  check(kkc.kkc_options_destroy(options))
  release(x, y, expected)
  return difference <= 1e-12
end

-- From x = 0 to ||b - A x|| <= 1e-8 ||b||. Returns false when A is not positive definite.
local function conjugate_gradients(A)
  local n = sizes(A)
  local known, b, x = array(n, 1), array(n, 1), array(n, 1)
  local plan = make("plan", kkc.kkc_spmv_plan, ctx, 1, A, known.view, b.view, nil)
  check(kkc.kkc_spmv_execute(plan, one, A, known.view, zero, b.view))

  local options = make("options", kkc.kkc_options_from_json,
    '{"method": "cg", "tolerance": 1e-8, "max_iterations": 10000, "guess": "zero"}')
  local solver = make("plan", kkc.kkc_krylov_plan, ctx, A, b.view, x.view, options)
  local status = kkc.kkc_krylov_execute(solver, A, b.view, x.view)
  local solved = status == 0
  if solved then
    local iterations = ffi.new("int64_t[1]")
    check(kkc.kkc_krylov_result(solver, nil, iterations, nil))
    print(("conjugate gradients: %d iterations, error of x %.1e"):format(tonumber(iterations[0]),
      relative_difference(x, known)))
  elseif status == BREAKDOWN or status == NO_CONVERGENCE then
    print(ffi.string(kkc.kkc_last_error()))
  else
    check(status)
  end
  check(kkc.kkc_plan_destroy(plan))
  check(kkc.kkc_plan_destroy(solver))
  check(kkc.kkc_options_destroy(options))
  release(known, b, x)
  return solved
end

math.randomseed(1)
local A
if arg[1] then
  A = make("matrix", kkc.kkc_matrix_read, ctx, arg[1], INDEX_32_32, F64)
else
  local options = make("options", kkc.kkc_options_from_json, '{"nx": 40, "ny": 40, "nz": 40}')
  A = make("matrix", kkc.kkc_matrix_generate, ctx, "lap3d7", options, INDEX_32_32, F64)
  check(kkc.kkc_options_destroy(options))
end
local info = text_of(kkc.kkc_matrix_info, A)
print(info)

print("op    vectors  implementation       error against the reference")
local good = true
for _, vectors in ipairs { 1, 8 } do
  for op = 1, 4 do good = multiply(A, op, vectors) and good end
end

local rows, cols = sizes(A)
if rows ~= cols then
  print("conjugate gradients: left out, the matrix is not square")
elseif not (info:find('"hermitian":1', 1, true) and conjugate_gradients(A)) then
  print("the matrix is not symmetric positive definite: its graph Laplacian + I instead")
  local L = make("matrix", kkc.kkc_matrix_laplacian, ctx, A, 1)
  good = conjugate_gradients(L) and good
  check(kkc.kkc_matrix_destroy(L))
end
check(kkc.kkc_matrix_destroy(A))
check(kkc.kkc_context_destroy(ctx))
os.exit(good and 0 or 1)
