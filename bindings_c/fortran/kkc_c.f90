! Written by tools/gen_fortran from include/kkc.h: constants, handles and every function as C has it.
module kkc_c
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_double_complex, c_float, c_float_complex, c_funptr, &
    c_int8_t, c_int32_t, c_int64_t, c_null_char, c_null_ptr, c_ptr, c_size_t, c_associated
  implicit none
  public

  integer(c_int32_t), parameter :: KKC_STATUS_SUCCESS = 0
  integer(c_int32_t), parameter :: KKC_STATUS_NULL_POINTER = 1
  integer(c_int32_t), parameter :: KKC_STATUS_INVALID_HANDLE = 2
  integer(c_int32_t), parameter :: KKC_STATUS_INVALID_ARGUMENT = 3
  integer(c_int32_t), parameter :: KKC_STATUS_SIZE_MISMATCH = 4
  integer(c_int32_t), parameter :: KKC_STATUS_TYPE_MISMATCH = 5
  integer(c_int32_t), parameter :: KKC_STATUS_NOT_SUPPORTED = 6
  integer(c_int32_t), parameter :: KKC_STATUS_DEVICE_UNAVAILABLE = 7
  integer(c_int32_t), parameter :: KKC_STATUS_INDEX_OUT_OF_RANGE = 8
  integer(c_int32_t), parameter :: KKC_STATUS_NOT_SORTED = 9
  integer(c_int32_t), parameter :: KKC_STATUS_OVERFLOW = 10
  integer(c_int32_t), parameter :: KKC_STATUS_UNKNOWN_OPTION = 11
  integer(c_int32_t), parameter :: KKC_STATUS_PATTERN_CHANGED = 12
  integer(c_int32_t), parameter :: KKC_STATUS_WRONG_STATE = 13
  integer(c_int32_t), parameter :: KKC_STATUS_IO = 14
  integer(c_int32_t), parameter :: KKC_STATUS_PARSE = 15
  integer(c_int32_t), parameter :: KKC_STATUS_OUT_OF_MEMORY = 100
  integer(c_int32_t), parameter :: KKC_STATUS_ZERO_PIVOT = 101
  integer(c_int32_t), parameter :: KKC_STATUS_BREAKDOWN = 102
  integer(c_int32_t), parameter :: KKC_STATUS_NO_CONVERGENCE = 103
  integer(c_int32_t), parameter :: KKC_STATUS_BAD_INDEX = 104
  integer(c_int32_t), parameter :: KKC_STATUS_CAPACITY_EXCEEDED = 105
  integer(c_int32_t), parameter :: KKC_STATUS_VENDOR = 106
  integer(c_int32_t), parameter :: KKC_STATUS_DEVICE = 107
  integer(c_int32_t), parameter :: KKC_STATUS_INTERNAL = 108
  integer(c_int32_t), parameter :: KKC_DEVICE_SERIAL = 1
  integer(c_int32_t), parameter :: KKC_DEVICE_OPENMP = 2
  integer(c_int32_t), parameter :: KKC_DEVICE_CUDA = 3
  integer(c_int32_t), parameter :: KKC_DEVICE_HIP = 4
  integer(c_int32_t), parameter :: KKC_TYPE_NONE = 0
  integer(c_int32_t), parameter :: KKC_TYPE_U8 = 1
  integer(c_int32_t), parameter :: KKC_TYPE_I32 = 2
  integer(c_int32_t), parameter :: KKC_TYPE_I64 = 3
  integer(c_int32_t), parameter :: KKC_TYPE_F32 = 4
  integer(c_int32_t), parameter :: KKC_TYPE_F64 = 5
  integer(c_int32_t), parameter :: KKC_TYPE_C64 = 6
  integer(c_int32_t), parameter :: KKC_TYPE_C128 = 7
  integer(c_int32_t), parameter :: KKC_INDEX_32_32 = 1
  integer(c_int32_t), parameter :: KKC_INDEX_32_64 = 2
  integer(c_int32_t), parameter :: KKC_INDEX_64_64 = 3
  integer(c_int32_t), parameter :: KKC_LAYOUT_LEFT = 1
  integer(c_int32_t), parameter :: KKC_LAYOUT_RIGHT = 2
  integer(c_int32_t), parameter :: KKC_LAYOUT_STRIDED = 3
  integer(c_int32_t), parameter :: KKC_SPACE_HOST = 1
  integer(c_int32_t), parameter :: KKC_SPACE_DEVICE = 2
  integer(c_int32_t), parameter :: KKC_SPACE_PINNED = 3
  integer(c_int32_t), parameter :: KKC_SPACE_MANAGED = 4
  integer(c_int32_t), parameter :: KKC_OP_NONE = 1
  integer(c_int32_t), parameter :: KKC_OP_TRANSPOSE = 2
  integer(c_int32_t), parameter :: KKC_OP_CONJUGATE = 3
  integer(c_int32_t), parameter :: KKC_OP_HERMITIAN = 4
  integer(c_int32_t), parameter :: KKC_UPLO_LOWER = 1
  integer(c_int32_t), parameter :: KKC_UPLO_UPPER = 2
  integer(c_int32_t), parameter :: KKC_DIAG_STORED = 1
  integer(c_int32_t), parameter :: KKC_DIAG_UNIT = 2
  integer(c_int32_t), parameter :: KKC_COPY_HOST_TO_DEVICE = 1
  integer(c_int32_t), parameter :: KKC_COPY_DEVICE_TO_HOST = 2
  integer(c_int32_t), parameter :: KKC_COPY_DEVICE_TO_DEVICE = 3
  integer(c_int32_t), parameter :: KKC_COPY_HOST_TO_HOST = 4
  integer(c_int32_t), parameter :: KKC_MATRIX_SORTED = 1
  integer(c_int32_t), parameter :: KKC_MATRIX_NO_DUPLICATES = 2
  integer(c_int32_t), parameter :: KKC_MATRIX_FULL_DIAGONAL = 4
  integer(c_int32_t), parameter :: KKC_MATRIX_SYMMETRIC_PATTERN = 8
  integer(c_int32_t), parameter :: KKC_PRECONDITIONER_NONE = 1
  integer(c_int32_t), parameter :: KKC_PRECONDITIONER_JACOBI = 2
  integer(c_int32_t), parameter :: KKC_PRECONDITIONER_LU = 3
  integer(c_int32_t), parameter :: KKC_PRECONDITIONER_CHOLESKY = 4

  type, bind(c) :: kkc_context_t
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, bind(c) :: kkc_allocator_t
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, bind(c) :: kkc_options_t
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, bind(c) :: kkc_view_t
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, bind(c) :: kkc_matrix_t
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, bind(c) :: kkc_plan_t
    type(c_ptr) :: handle = c_null_ptr
  end type

  interface
    function kkc_version_c() result(res) bind(c, name="kkc_version")
      import
      integer(c_int32_t) :: res
    end function
    function kkc_status_name_c(status) result(res) bind(c, name="kkc_status_name")
      import
      integer(c_int32_t), value :: status
      type(c_ptr) :: res
    end function
    function kkc_last_error_c() result(res) bind(c, name="kkc_last_error")
      import
      type(c_ptr) :: res
    end function
    function kkc_device_count_c(device, count) result(res) bind(c, name="kkc_device_count")
      import
      integer(c_int32_t), value :: device
      integer(c_int32_t), intent(out), optional :: count
      integer(c_int32_t) :: res
    end function
    function kkc_context_create_c(device, device_id, allocator, options, ctx) result(res) bind(c, &
      name="kkc_context_create")
      import
      integer(c_int32_t), value :: device, device_id
      type(c_ptr), value :: allocator, options
      type(c_ptr), intent(out), optional :: ctx
      integer(c_int32_t) :: res
    end function
    function kkc_context_destroy_c(ctx) result(res) bind(c, name="kkc_context_destroy")
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t) :: res
    end function
    function kkc_context_set_stream_c(ctx, stream) result(res) bind(c, name="kkc_context_set_stream")
      import
      type(c_ptr), value :: ctx, stream
      integer(c_int32_t) :: res
    end function
    function kkc_context_synchronize_c(ctx) result(res) bind(c, name="kkc_context_synchronize")
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t) :: res
    end function
    function kkc_context_info_c(ctx, json) result(res) bind(c, name="kkc_context_info")
      import
      type(c_ptr), value :: ctx
      type(c_ptr), intent(out) :: json
      integer(c_int32_t) :: res
    end function
    function kkc_allocator_create_c(alloc, free, user, allocator) result(res) bind(c, name="kkc_allocator_create")
      import
      type(c_funptr), value :: alloc, free
      type(c_ptr), value :: user
      type(c_ptr), intent(out), optional :: allocator
      integer(c_int32_t) :: res
    end function
    function kkc_allocator_destroy_c(allocator) result(res) bind(c, name="kkc_allocator_destroy")
      import
      type(c_ptr), value :: allocator
      integer(c_int32_t) :: res
    end function
    function kkc_malloc_c(ctx, bytes, ptr) result(res) bind(c, name="kkc_malloc")
      import
      type(c_ptr), value :: ctx
      integer(c_size_t), value :: bytes
      type(c_ptr), intent(out), optional :: ptr
      integer(c_int32_t) :: res
    end function
    function kkc_free_c(ctx, ptr) result(res) bind(c, name="kkc_free")
      import
      type(c_ptr), value :: ctx, ptr
      integer(c_int32_t) :: res
    end function
    function kkc_copy_c(ctx, dst, src, bytes, direction) result(res) bind(c, name="kkc_copy")
      import
      type(c_ptr), value :: ctx, dst, src
      integer(c_size_t), value :: bytes
      integer(c_int32_t), value :: direction
      integer(c_int32_t) :: res
    end function
    function kkc_options_create_c(options) result(res) bind(c, name="kkc_options_create")
      import
      type(c_ptr), intent(out), optional :: options
      integer(c_int32_t) :: res
    end function
    function kkc_options_destroy_c(options) result(res) bind(c, name="kkc_options_destroy")
      import
      type(c_ptr), value :: options
      integer(c_int32_t) :: res
    end function
    function kkc_options_set_int_c(options, key, value) result(res) bind(c, name="kkc_options_set_int")
      import
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: key(*)
      integer(c_int64_t), value :: value
      integer(c_int32_t) :: res
    end function
    function kkc_options_set_real_c(options, key, value) result(res) bind(c, name="kkc_options_set_real")
      import
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: key(*)
      real(c_double), value :: value
      integer(c_int32_t) :: res
    end function
    function kkc_options_set_text_c(options, key, value) result(res) bind(c, name="kkc_options_set_text")
      import
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: key(*), value(*)
      integer(c_int32_t) :: res
    end function
    function kkc_options_from_json_c(json, options) result(res) bind(c, name="kkc_options_from_json")
      import
      character(kind=c_char), intent(in) :: json(*)
      type(c_ptr), intent(out), optional :: options
      integer(c_int32_t) :: res
    end function
    function kkc_view_wrap_c(ctx, scalar, rank, extents, layout, strides, space, data, view) result(res) bind(c, &
      name="kkc_view_wrap")
      import
      type(c_ptr), value :: ctx, data
      integer(c_int32_t), value :: scalar, rank, layout, space
      integer(c_int64_t), intent(in), optional :: extents(*), strides(*)
      type(c_ptr), intent(out), optional :: view
      integer(c_int32_t) :: res
    end function
    function kkc_view_wrap_const_c(ctx, scalar, rank, extents, layout, strides, space, data, &
      view) result(res) bind(c, name="kkc_view_wrap_const")
      import
      type(c_ptr), value :: ctx, data
      integer(c_int32_t), value :: scalar, rank, layout, space
      integer(c_int64_t), intent(in), optional :: extents(*), strides(*)
      type(c_ptr), intent(out), optional :: view
      integer(c_int32_t) :: res
    end function
    function kkc_view_create_c(ctx, scalar, rank, extents, layout, space, view) result(res) bind(c, &
      name="kkc_view_create")
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: scalar, rank, layout, space
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), intent(out), optional :: view
      integer(c_int32_t) :: res
    end function
    function kkc_view_mirror_c(ctx, view, space, mirror) result(res) bind(c, name="kkc_view_mirror")
      import
      type(c_ptr), value :: ctx, view
      integer(c_int32_t), value :: space
      type(c_ptr), intent(out), optional :: mirror
      integer(c_int32_t) :: res
    end function
    function kkc_view_retain_c(view, same) result(res) bind(c, name="kkc_view_retain")
      import
      type(c_ptr), value :: view
      type(c_ptr), intent(out), optional :: same
      integer(c_int32_t) :: res
    end function
    function kkc_view_sub_c(view, begins, counts, sub) result(res) bind(c, name="kkc_view_sub")
      import
      type(c_ptr), value :: view
      integer(c_int64_t), intent(in), optional :: begins(*), counts(*)
      type(c_ptr), intent(out), optional :: sub
      integer(c_int32_t) :: res
    end function
    function kkc_view_get_c(view, scalar, rank, extents, strides, layout, space, data) result(res) bind(c, &
      name="kkc_view_get")
      import
      type(c_ptr), value :: view
      integer(c_int32_t), intent(out), optional :: scalar, rank, layout, space
      integer(c_int64_t), intent(out), optional :: extents(*), strides(*)
      type(c_ptr), intent(out), optional :: data
      integer(c_int32_t) :: res
    end function
    function kkc_view_set_pointer_c(view, data) result(res) bind(c, name="kkc_view_set_pointer")
      import
      type(c_ptr), value :: view, data
      integer(c_int32_t) :: res
    end function
    function kkc_view_copy_c(ctx, source, destination) result(res) bind(c, name="kkc_view_copy")
      import
      type(c_ptr), value :: ctx, source, destination
      integer(c_int32_t) :: res
    end function
    function kkc_view_fill_c(ctx, value, view) result(res) bind(c, name="kkc_view_fill")
      import
      type(c_ptr), value :: ctx, value, view
      integer(c_int32_t) :: res
    end function
    function kkc_view_destroy_c(view) result(res) bind(c, name="kkc_view_destroy")
      import
      type(c_ptr), value :: view
      integer(c_int32_t) :: res
    end function
    function kkc_csr_create_c(ctx, rows, cols, nnz, index_pair, scalar, base, row_offsets, col_indices, values, &
      A) result(res) bind(c, name="kkc_csr_create")
      import
      type(c_ptr), value :: ctx, row_offsets, col_indices, values
      integer(c_int64_t), value :: rows, cols, nnz
      integer(c_int32_t), value :: index_pair, scalar, base
      type(c_ptr), intent(out), optional :: A
      integer(c_int32_t) :: res
    end function
    function kkc_csr_create_copy_c(ctx, rows, cols, nnz, index_pair, scalar, base, row_offsets, col_indices, &
      values, A) result(res) bind(c, name="kkc_csr_create_copy")
      import
      type(c_ptr), value :: ctx, row_offsets, col_indices, values
      integer(c_int64_t), value :: rows, cols, nnz
      integer(c_int32_t), value :: index_pair, scalar, base
      type(c_ptr), intent(out), optional :: A
      integer(c_int32_t) :: res
    end function
    function kkc_csr_create_output_c(ctx, rows, cols, nnz, index_pair, scalar, base, row_offsets, col_indices, &
      values, C) result(res) bind(c, name="kkc_csr_create_output")
      import
      type(c_ptr), value :: ctx, row_offsets, col_indices, values
      integer(c_int64_t), value :: rows, cols, nnz
      integer(c_int32_t), value :: index_pair, scalar, base
      type(c_ptr), intent(out), optional :: C
      integer(c_int32_t) :: res
    end function
    function kkc_csr_set_pointers_c(A, row_offsets, col_indices, values) result(res) bind(c, &
      name="kkc_csr_set_pointers")
      import
      type(c_ptr), value :: A, row_offsets, col_indices, values
      integer(c_int32_t) :: res
    end function
    function kkc_csr_get_c(A, rows, cols, nnz, index_pair, scalar, base, row_offsets, col_indices, &
      values) result(res) bind(c, name="kkc_csr_get")
      import
      type(c_ptr), value :: A
      integer(c_int64_t), intent(out), optional :: rows, cols, nnz
      integer(c_int32_t), intent(out), optional :: index_pair, scalar, base
      type(c_ptr), intent(out), optional :: row_offsets, col_indices, values
      integer(c_int32_t) :: res
    end function
    function kkc_matrix_copy_c(ctx, A, copy) result(res) bind(c, name="kkc_matrix_copy")
      import
      type(c_ptr), value :: ctx, A
      type(c_ptr), intent(out), optional :: copy
      integer(c_int32_t) :: res
    end function
    function kkc_matrix_validate_c(A, properties) result(res) bind(c, name="kkc_matrix_validate")
      import
      type(c_ptr), value :: A
      integer(c_int32_t), intent(out), optional :: properties
      integer(c_int32_t) :: res
    end function
    function kkc_matrix_info_c(A, json) result(res) bind(c, name="kkc_matrix_info")
      import
      type(c_ptr), value :: A
      type(c_ptr), intent(out) :: json
      integer(c_int32_t) :: res
    end function
    function kkc_matrix_destroy_c(A) result(res) bind(c, name="kkc_matrix_destroy")
      import
      type(c_ptr), value :: A
      integer(c_int32_t) :: res
    end function
    function kkc_matrix_read_c(ctx, path, index_pair, scalar, A) result(res) bind(c, name="kkc_matrix_read")
      import
      type(c_ptr), value :: ctx
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int32_t), value :: index_pair, scalar
      type(c_ptr), intent(out), optional :: A
      integer(c_int32_t) :: res
    end function
    function kkc_matrix_write_c(A, path, options) result(res) bind(c, name="kkc_matrix_write")
      import
      type(c_ptr), value :: A, options
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int32_t) :: res
    end function
    function kkc_view_read_c(ctx, path, scalar, layout, view) result(res) bind(c, name="kkc_view_read")
      import
      type(c_ptr), value :: ctx
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int32_t), value :: scalar, layout
      type(c_ptr), intent(out), optional :: view
      integer(c_int32_t) :: res
    end function
    function kkc_view_write_c(ctx, view, path) result(res) bind(c, name="kkc_view_write")
      import
      type(c_ptr), value :: ctx, view
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int32_t) :: res
    end function
    function kkc_matrix_generate_c(ctx, name, options, index_pair, scalar, A) result(res) bind(c, &
      name="kkc_matrix_generate")
      import
      type(c_ptr), value :: ctx, options
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t), value :: index_pair, scalar
      type(c_ptr), intent(out), optional :: A
      integer(c_int32_t) :: res
    end function
    function kkc_matrix_laplacian_c(ctx, A, shift, L) result(res) bind(c, name="kkc_matrix_laplacian")
      import
      type(c_ptr), value :: ctx, A
      real(c_double), value :: shift
      type(c_ptr), intent(out), optional :: L
      integer(c_int32_t) :: res
    end function
    function kkc_axpby_c(ctx, alpha, x, beta, y) result(res) bind(c, name="kkc_axpby")
      import
      type(c_ptr), value :: ctx, alpha, x, beta, y
      integer(c_int32_t) :: res
    end function
    function kkc_dot_c(ctx, conjugate, x, y, result) result(res) bind(c, name="kkc_dot")
      import
      type(c_ptr), value :: ctx, x, y, result
      integer(c_int32_t), value :: conjugate
      integer(c_int32_t) :: res
    end function
    function kkc_norm2_c(ctx, x, result) result(res) bind(c, name="kkc_norm2")
      import
      type(c_ptr), value :: ctx, x, result
      integer(c_int32_t) :: res
    end function
    function kkc_query_support_c(device, operation, index_pair, scalar, yes) result(res) bind(c, &
      name="kkc_query_support")
      import
      integer(c_int32_t), value :: device, index_pair, scalar
      character(kind=c_char), intent(in) :: operation(*)
      integer(c_int32_t), intent(out), optional :: yes
      integer(c_int32_t) :: res
    end function
    function kkc_implementation_count_c(device, operation, count) result(res) bind(c, name="kkc_implementation_count")
      import
      integer(c_int32_t), value :: device
      character(kind=c_char), intent(in) :: operation(*)
      integer(c_int32_t), intent(out), optional :: count
      integer(c_int32_t) :: res
    end function
    function kkc_implementation_name_c(device, operation, index, name) result(res) bind(c, &
      name="kkc_implementation_name")
      import
      integer(c_int32_t), value :: device, index
      character(kind=c_char), intent(in) :: operation(*)
      type(c_ptr), intent(out) :: name
      integer(c_int32_t) :: res
    end function
    function kkc_plan_info_c(plan, json) result(res) bind(c, name="kkc_plan_info")
      import
      type(c_ptr), value :: plan
      type(c_ptr), intent(out) :: json
      integer(c_int32_t) :: res
    end function
    function kkc_plan_info_copy_c(plan, capacity, buffer, length) result(res) bind(c, name="kkc_plan_info_copy")
      import
      type(c_ptr), value :: plan
      integer(c_size_t), value :: capacity
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), intent(out), optional :: length
      integer(c_int32_t) :: res
    end function
    function kkc_plan_workspace_size_c(plan, bytes) result(res) bind(c, name="kkc_plan_workspace_size")
      import
      type(c_ptr), value :: plan
      integer(c_size_t), intent(out), optional :: bytes
      integer(c_int32_t) :: res
    end function
    function kkc_plan_set_workspace_c(plan, ptr, bytes) result(res) bind(c, name="kkc_plan_set_workspace")
      import
      type(c_ptr), value :: plan, ptr
      integer(c_size_t), value :: bytes
      integer(c_int32_t) :: res
    end function
    function kkc_plan_check_c(plan, where, count) result(res) bind(c, name="kkc_plan_check")
      import
      type(c_ptr), value :: plan
      integer(c_int64_t), intent(out), optional :: where, count
      integer(c_int32_t) :: res
    end function
    function kkc_plan_output_nnz_c(plan, nnz) result(res) bind(c, name="kkc_plan_output_nnz")
      import
      type(c_ptr), value :: plan
      integer(c_int64_t), intent(out), optional :: nnz
      integer(c_int32_t) :: res
    end function
    function kkc_plan_output_pattern_c(plan, C) result(res) bind(c, name="kkc_plan_output_pattern")
      import
      type(c_ptr), value :: plan, C
      integer(c_int32_t) :: res
    end function
    function kkc_plan_create_output_c(plan, C) result(res) bind(c, name="kkc_plan_create_output")
      import
      type(c_ptr), value :: plan
      type(c_ptr), intent(out), optional :: C
      integer(c_int32_t) :: res
    end function
    function kkc_plan_destroy_c(plan) result(res) bind(c, name="kkc_plan_destroy")
      import
      type(c_ptr), value :: plan
      integer(c_int32_t) :: res
    end function
    function kkc_tuning_export_c(ctx, json) result(res) bind(c, name="kkc_tuning_export")
      import
      type(c_ptr), value :: ctx
      type(c_ptr), intent(out) :: json
      integer(c_int32_t) :: res
    end function
    function kkc_tuning_import_c(ctx, json) result(res) bind(c, name="kkc_tuning_import")
      import
      type(c_ptr), value :: ctx
      character(kind=c_char), intent(in) :: json(*)
      integer(c_int32_t) :: res
    end function
    function kkc_spmv_plan_c(ctx, op, A, x, y, options, plan) result(res) bind(c, name="kkc_spmv_plan")
      import
      type(c_ptr), value :: ctx, A, x, y, options
      integer(c_int32_t), value :: op
      type(c_ptr), intent(out), optional :: plan
      integer(c_int32_t) :: res
    end function
    function kkc_spmv_execute_c(plan, alpha, A, x, beta, y) result(res) bind(c, name="kkc_spmv_execute")
      import
      type(c_ptr), value :: plan, alpha, A, x, beta, y
      integer(c_int32_t) :: res
    end function
    function kkc_spmv_set_values_c(plan, A) result(res) bind(c, name="kkc_spmv_set_values")
      import
      type(c_ptr), value :: plan, A
      integer(c_int32_t) :: res
    end function
    function kkc_view_scan_c(ctx, exclusive, dim, x, y) result(res) bind(c, name="kkc_view_scan")
      import
      type(c_ptr), value :: ctx, x, y
      integer(c_int32_t), value :: exclusive, dim
      integer(c_int32_t) :: res
    end function
    function kkc_view_sort_plan_c(ctx, dim, keys, sorted_keys, values, sorted_values, options, &
      plan) result(res) bind(c, name="kkc_view_sort_plan")
      import
      type(c_ptr), value :: ctx, keys, sorted_keys, values, sorted_values, options
      integer(c_int32_t), value :: dim
      type(c_ptr), intent(out), optional :: plan
      integer(c_int32_t) :: res
    end function
    function kkc_view_sort_execute_c(plan, keys, sorted_keys, values, sorted_values) result(res) bind(c, &
      name="kkc_view_sort_execute")
      import
      type(c_ptr), value :: plan, keys, sorted_keys, values, sorted_values
      integer(c_int32_t) :: res
    end function
    function kkc_transpose_plan_c(ctx, op, A, index_pair, options, plan) result(res) bind(c, &
      name="kkc_transpose_plan")
      import
      type(c_ptr), value :: ctx, A, options
      integer(c_int32_t), value :: op, index_pair
      type(c_ptr), intent(out), optional :: plan
      integer(c_int32_t) :: res
    end function
    function kkc_transpose_execute_c(plan, A, C) result(res) bind(c, name="kkc_transpose_execute")
      import
      type(c_ptr), value :: plan, A, C
      integer(c_int32_t) :: res
    end function
    function kkc_sort_rows_plan_c(ctx, A, options, plan) result(res) bind(c, name="kkc_sort_rows_plan")
      import
      type(c_ptr), value :: ctx, A, options
      type(c_ptr), intent(out), optional :: plan
      integer(c_int32_t) :: res
    end function
    function kkc_sort_rows_execute_c(plan, A, C) result(res) bind(c, name="kkc_sort_rows_execute")
      import
      type(c_ptr), value :: plan, A, C
      integer(c_int32_t) :: res
    end function
    function kkc_coo_to_csr_plan_c(ctx, rows, cols, base, row_indices, col_indices, index_pair, scalar, options, &
      plan) result(res) bind(c, name="kkc_coo_to_csr_plan")
      import
      type(c_ptr), value :: ctx, row_indices, col_indices, options
      integer(c_int64_t), value :: rows, cols
      integer(c_int32_t), value :: base, index_pair, scalar
      type(c_ptr), intent(out), optional :: plan
      integer(c_int32_t) :: res
    end function
    function kkc_coo_to_csr_execute_c(plan, values, C) result(res) bind(c, name="kkc_coo_to_csr_execute")
      import
      type(c_ptr), value :: plan, values, C
      integer(c_int32_t) :: res
    end function
    function kkc_csr_to_coo_c(ctx, A, row_indices) result(res) bind(c, name="kkc_csr_to_coo")
      import
      type(c_ptr), value :: ctx, A, row_indices
      integer(c_int32_t) :: res
    end function
    function kkc_plan_output_permutation_c(plan, permutation) result(res) bind(c, name="kkc_plan_output_permutation")
      import
      type(c_ptr), value :: plan, permutation
      integer(c_int32_t) :: res
    end function
    function kkc_matrix_diagonal_c(ctx, A, d) result(res) bind(c, name="kkc_matrix_diagonal")
      import
      type(c_ptr), value :: ctx, A, d
      integer(c_int32_t) :: res
    end function
    function kkc_matrix_scale_c(ctx, row_factors, A, col_factors) result(res) bind(c, name="kkc_matrix_scale")
      import
      type(c_ptr), value :: ctx, row_factors, A, col_factors
      integer(c_int32_t) :: res
    end function
    function kkc_spgemm_plan_c(ctx, op_A, A, op_B, B, mask, index_pair_C, options, plan) result(res) bind(c, &
      name="kkc_spgemm_plan")
      import
      type(c_ptr), value :: ctx, A, B, mask, options
      integer(c_int32_t), value :: op_A, op_B, index_pair_C
      type(c_ptr), intent(out), optional :: plan
      integer(c_int32_t) :: res
    end function
    function kkc_spgemm_execute_c(plan, alpha, A, B, beta, C) result(res) bind(c, name="kkc_spgemm_execute")
      import
      type(c_ptr), value :: plan, alpha, A, B, beta, C
      integer(c_int32_t) :: res
    end function
    function kkc_spgemm_jacobi_plan_c(ctx, A, B, index_pair_C, options, plan) result(res) bind(c, &
      name="kkc_spgemm_jacobi_plan")
      import
      type(c_ptr), value :: ctx, A, B, options
      integer(c_int32_t), value :: index_pair_C
      type(c_ptr), intent(out), optional :: plan
      integer(c_int32_t) :: res
    end function
    function kkc_spgemm_jacobi_execute_c(plan, omega, dinv, A, B, C) result(res) bind(c, &
      name="kkc_spgemm_jacobi_execute")
      import
      type(c_ptr), value :: plan, omega, dinv, A, B, C
      integer(c_int32_t) :: res
    end function
    function kkc_spadd_plan_c(ctx, op_A, A, op_B, B, index_pair_C, options, plan) result(res) bind(c, &
      name="kkc_spadd_plan")
      import
      type(c_ptr), value :: ctx, A, B, options
      integer(c_int32_t), value :: op_A, op_B, index_pair_C
      type(c_ptr), intent(out), optional :: plan
      integer(c_int32_t) :: res
    end function
    function kkc_spadd_execute_c(plan, alpha, A, beta, B, C) result(res) bind(c, name="kkc_spadd_execute")
      import
      type(c_ptr), value :: plan, alpha, A, beta, B, C
      integer(c_int32_t) :: res
    end function
    function kkc_sptrsv_plan_c(ctx, op, uplo, diag, A, b, x, options, plan) result(res) bind(c, &
      name="kkc_sptrsv_plan")
      import
      type(c_ptr), value :: ctx, A, b, x, options
      integer(c_int32_t), value :: op, uplo, diag
      type(c_ptr), intent(out), optional :: plan
      integer(c_int32_t) :: res
    end function
    function kkc_sptrsv_execute_c(plan, alpha, A, b, x) result(res) bind(c, name="kkc_sptrsv_execute")
      import
      type(c_ptr), value :: plan, alpha, A, b, x
      integer(c_int32_t) :: res
    end function
    function kkc_sptrsv_set_values_c(plan, A) result(res) bind(c, name="kkc_sptrsv_set_values")
      import
      type(c_ptr), value :: plan, A
      integer(c_int32_t) :: res
    end function
    function kkc_ilu_plan_c(ctx, A, options, plan) result(res) bind(c, name="kkc_ilu_plan")
      import
      type(c_ptr), value :: ctx, A, options
      type(c_ptr), intent(out), optional :: plan
      integer(c_int32_t) :: res
    end function
    function kkc_ilu_execute_c(plan, A, LU) result(res) bind(c, name="kkc_ilu_execute")
      import
      type(c_ptr), value :: plan, A, LU
      integer(c_int32_t) :: res
    end function
    function kkc_ic_plan_c(ctx, A, options, plan) result(res) bind(c, name="kkc_ic_plan")
      import
      type(c_ptr), value :: ctx, A, options
      type(c_ptr), intent(out), optional :: plan
      integer(c_int32_t) :: res
    end function
    function kkc_ic_execute_c(plan, A, L) result(res) bind(c, name="kkc_ic_execute")
      import
      type(c_ptr), value :: plan, A, L
      integer(c_int32_t) :: res
    end function
    function kkc_ilut_plan_c(ctx, A, options, plan) result(res) bind(c, name="kkc_ilut_plan")
      import
      type(c_ptr), value :: ctx, A, options
      type(c_ptr), intent(out), optional :: plan
      integer(c_int32_t) :: res
    end function
    function kkc_ilut_execute_c(plan, A, L, U) result(res) bind(c, name="kkc_ilut_execute")
      import
      type(c_ptr), value :: plan, A
      type(c_ptr), intent(out), optional :: L, U
      integer(c_int32_t) :: res
    end function
    function kkc_krylov_plan_c(ctx, A, b, x, options, plan) result(res) bind(c, name="kkc_krylov_plan")
      import
      type(c_ptr), value :: ctx, A, b, x, options
      type(c_ptr), intent(out), optional :: plan
      integer(c_int32_t) :: res
    end function
    function kkc_krylov_set_preconditioner_c(plan, kind, M, U, options) result(res) bind(c, &
      name="kkc_krylov_set_preconditioner")
      import
      type(c_ptr), value :: plan, M, U, options
      integer(c_int32_t), value :: kind
      integer(c_int32_t) :: res
    end function
    function kkc_krylov_set_callback_c(plan, apply, user) result(res) bind(c, name="kkc_krylov_set_callback")
      import
      type(c_ptr), value :: plan, user
      type(c_funptr), value :: apply
      integer(c_int32_t) :: res
    end function
    function kkc_krylov_execute_c(plan, A, b, x) result(res) bind(c, name="kkc_krylov_execute")
      import
      type(c_ptr), value :: plan, A, b, x
      integer(c_int32_t) :: res
    end function
    function kkc_krylov_result_c(plan, outcome, iterations, residual) result(res) bind(c, name="kkc_krylov_result")
      import
      type(c_ptr), value :: plan
      integer(c_int32_t), intent(out), optional :: outcome
      integer(c_int64_t), intent(out), optional :: iterations
      real(c_double), intent(out), optional :: residual
      integer(c_int32_t) :: res
    end function
    function kkc_krylov_history_c(plan, capacity, norms, count) result(res) bind(c, name="kkc_krylov_history")
      import
      type(c_ptr), value :: plan
      integer(c_int64_t), value :: capacity
      real(c_double), intent(out), optional :: norms(*)
      integer(c_int64_t), intent(out), optional :: count
      integer(c_int32_t) :: res
    end function
  end interface
end module
