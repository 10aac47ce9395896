! Written by tools/gen_fortran from include/kkc.h: the functions as Fortran calls them (see kkc.f90).
module kkc_calls
  use kkc_c
  use kkc_support
  implicit none
  private

  public :: kkc_device_count
  public :: kkc_context_create
  public :: kkc_context_destroy
  public :: kkc_context_set_stream
  public :: kkc_context_synchronize
  public :: kkc_context_info
  public :: kkc_allocator_create
  public :: kkc_allocator_destroy
  public :: kkc_malloc
  public :: kkc_free
  public :: kkc_copy
  public :: kkc_options_create
  public :: kkc_options_destroy
  public :: kkc_options_set_text
  public :: kkc_options_from_json
  public :: kkc_view_mirror
  public :: kkc_view_retain
  public :: kkc_view_set_pointer
  public :: kkc_view_copy
  public :: kkc_view_fill
  public :: kkc_view_destroy
  public :: kkc_csr_create
  public :: kkc_csr_create_copy
  public :: kkc_csr_create_output
  public :: kkc_csr_set_pointers
  public :: kkc_matrix_copy
  public :: kkc_matrix_validate
  public :: kkc_matrix_info
  public :: kkc_matrix_destroy
  public :: kkc_matrix_read
  public :: kkc_matrix_write
  public :: kkc_view_read
  public :: kkc_view_write
  public :: kkc_matrix_generate
  public :: kkc_matrix_laplacian
  public :: kkc_axpby
  public :: kkc_dot
  public :: kkc_norm2
  public :: kkc_query_support
  public :: kkc_implementation_count
  public :: kkc_implementation_name
  public :: kkc_plan_info
  public :: kkc_plan_workspace_size
  public :: kkc_plan_set_workspace
  public :: kkc_plan_check
  public :: kkc_plan_output_nnz
  public :: kkc_plan_output_pattern
  public :: kkc_plan_create_output
  public :: kkc_plan_destroy
  public :: kkc_tuning_export
  public :: kkc_tuning_import
  public :: kkc_spmv_plan
  public :: kkc_spmv_execute
  public :: kkc_spmv_set_values
  public :: kkc_view_scan
  public :: kkc_view_sort_plan
  public :: kkc_view_sort_execute
  public :: kkc_transpose_plan
  public :: kkc_transpose_execute
  public :: kkc_sort_rows_plan
  public :: kkc_sort_rows_execute
  public :: kkc_coo_to_csr_plan
  public :: kkc_coo_to_csr_execute
  public :: kkc_csr_to_coo
  public :: kkc_plan_output_permutation
  public :: kkc_matrix_diagonal
  public :: kkc_matrix_scale
  public :: kkc_spgemm_plan
  public :: kkc_spgemm_execute
  public :: kkc_spgemm_jacobi_plan
  public :: kkc_spgemm_jacobi_execute
  public :: kkc_spadd_plan
  public :: kkc_spadd_execute
  public :: kkc_sptrsv_plan
  public :: kkc_sptrsv_execute
  public :: kkc_sptrsv_set_values
  public :: kkc_ilu_plan
  public :: kkc_ilu_execute
  public :: kkc_ic_plan
  public :: kkc_ic_execute
  public :: kkc_ilut_plan
  public :: kkc_ilut_execute
  public :: kkc_krylov_plan
  public :: kkc_krylov_set_preconditioner
  public :: kkc_krylov_set_callback
  public :: kkc_krylov_execute
  public :: kkc_krylov_result
  interface kkc_view_set_pointer
    module procedure kkc_view_set_pointer_ptr
  end interface
  interface kkc_view_fill
    module procedure kkc_view_fill_ptr
  end interface
  interface kkc_csr_create
    module procedure kkc_csr_create_ptr
  end interface
  interface kkc_csr_create_copy
    module procedure kkc_csr_create_copy_ptr
  end interface
  interface kkc_csr_create_output
    module procedure kkc_csr_create_output_ptr
  end interface
  interface kkc_csr_set_pointers
    module procedure kkc_csr_set_pointers_ptr
  end interface
  interface kkc_axpby
    module procedure kkc_axpby_ptr
  end interface
  interface kkc_spmv_execute
    module procedure kkc_spmv_execute_ptr
  end interface
  interface kkc_spgemm_execute
    module procedure kkc_spgemm_execute_ptr
  end interface
  interface kkc_spgemm_jacobi_execute
    module procedure kkc_spgemm_jacobi_execute_ptr
  end interface
  interface kkc_spadd_execute
    module procedure kkc_spadd_execute_ptr
  end interface
  interface kkc_sptrsv_execute
    module procedure kkc_sptrsv_execute_ptr
  end interface

contains

  subroutine kkc_device_count(device, count, ierr)
    integer(c_int32_t), intent(in) :: device
    integer(c_int32_t), intent(out) :: count
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_device_count_c(device, count)
    call report(status, ierr)
  end subroutine

  subroutine kkc_context_create(device, device_id, ctx, allocator, options, ierr)
    integer(c_int32_t), intent(in) :: device, device_id
    type(kkc_context_t), intent(out) :: ctx
    type(kkc_allocator_t), intent(in), optional :: allocator
    type(kkc_options_t), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_context_create_c(device, device_id, address_of_allocator(allocator), address_of_options(options), &
      ctx%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_context_destroy(ctx, ierr)
    type(kkc_context_t), intent(inout) :: ctx
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_context_destroy_c(ctx%handle)
    if (status == KKC_STATUS_SUCCESS) ctx%handle = c_null_ptr
    call report(status, ierr)
  end subroutine

  subroutine kkc_context_set_stream(ctx, stream, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(c_ptr), intent(in) :: stream
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_context_set_stream_c(ctx%handle, stream)
    call report(status, ierr)
  end subroutine

  subroutine kkc_context_synchronize(ctx, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_context_synchronize_c(ctx%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_context_info(ctx, json, ierr)
    type(kkc_context_t), intent(in) :: ctx
    character(:), allocatable, intent(out) :: json
    integer(c_int32_t), intent(out), optional :: ierr
    type(c_ptr) :: json_text
    integer(c_int32_t) :: status
    status = kkc_context_info_c(ctx%handle, json_text)
    json = fortran_text(json_text)
    call report(status, ierr)
  end subroutine

  subroutine kkc_allocator_create(alloc, free, user, allocator, ierr)
    type(c_funptr), intent(in) :: alloc, free
    type(c_ptr), intent(in) :: user
    type(kkc_allocator_t), intent(out) :: allocator
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_allocator_create_c(alloc, free, user, allocator%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_allocator_destroy(allocator, ierr)
    type(kkc_allocator_t), intent(inout) :: allocator
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_allocator_destroy_c(allocator%handle)
    if (status == KKC_STATUS_SUCCESS) allocator%handle = c_null_ptr
    call report(status, ierr)
  end subroutine

  subroutine kkc_malloc(ctx, bytes, ptr, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr), intent(out) :: ptr
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_malloc_c(ctx%handle, bytes, ptr)
    call report(status, ierr)
  end subroutine

  subroutine kkc_free(ctx, ptr, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(c_ptr), intent(in) :: ptr
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_free_c(ctx%handle, ptr)
    call report(status, ierr)
  end subroutine

  subroutine kkc_copy(ctx, dst, src, bytes, direction, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(c_ptr), intent(in) :: dst, src
    integer(c_size_t), intent(in) :: bytes
    integer(c_int32_t), intent(in) :: direction
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_copy_c(ctx%handle, dst, src, bytes, direction)
    call report(status, ierr)
  end subroutine

  subroutine kkc_options_create(options, ierr)
    type(kkc_options_t), intent(out) :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_options_create_c(options%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_options_destroy(options, ierr)
    type(kkc_options_t), intent(inout) :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_options_destroy_c(options%handle)
    if (status == KKC_STATUS_SUCCESS) options%handle = c_null_ptr
    call report(status, ierr)
  end subroutine

  subroutine kkc_options_set_text(options, key, value, ierr)
    type(kkc_options_t), intent(in) :: options
    character(*), intent(in) :: key, value
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_options_set_text_c(options%handle, c_text(key), c_text(value))
    call report(status, ierr)
  end subroutine

  subroutine kkc_options_from_json(json, options, ierr)
    character(*), intent(in) :: json
    type(kkc_options_t), intent(out) :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_options_from_json_c(c_text(json), options%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_view_mirror(ctx, view, space, mirror, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(kkc_view_t), intent(in) :: view
    integer(c_int32_t), intent(in) :: space
    type(kkc_view_t), intent(out) :: mirror
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_view_mirror_c(ctx%handle, view%handle, space, mirror%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_view_retain(view, same, ierr)
    type(kkc_view_t), intent(in) :: view
    type(kkc_view_t), intent(out) :: same
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_view_retain_c(view%handle, same%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_view_set_pointer_ptr(view, data, ierr)
    type(kkc_view_t), intent(in) :: view
    type(c_ptr), intent(in) :: data
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_view_set_pointer_c(view%handle, data)
    call report(status, ierr)
  end subroutine

  subroutine kkc_view_copy(ctx, source, destination, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(kkc_view_t), intent(in) :: source, destination
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_view_copy_c(ctx%handle, source%handle, destination%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_view_fill_ptr(ctx, value, view, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(c_ptr), intent(in) :: value
    type(kkc_view_t), intent(in) :: view
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_view_fill_c(ctx%handle, value, view%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_view_destroy(view, ierr)
    type(kkc_view_t), intent(inout) :: view
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_view_destroy_c(view%handle)
    if (status == KKC_STATUS_SUCCESS) view%handle = c_null_ptr
    call report(status, ierr)
  end subroutine

  subroutine kkc_csr_create_ptr(ctx, rows, cols, nnz, index_pair, scalar, base, row_offsets, col_indices, values, &
      A, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int64_t), intent(in) :: rows, cols, nnz
    integer(c_int32_t), intent(in) :: index_pair, scalar, base
    type(c_ptr), intent(in) :: row_offsets, col_indices, values
    type(kkc_matrix_t), intent(out) :: A
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_csr_create_c(ctx%handle, rows, cols, nnz, index_pair, scalar, base, row_offsets, col_indices, &
      values, A%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_csr_create_copy_ptr(ctx, rows, cols, nnz, index_pair, scalar, base, row_offsets, col_indices, &
      values, A, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int64_t), intent(in) :: rows, cols, nnz
    integer(c_int32_t), intent(in) :: index_pair, scalar, base
    type(c_ptr), intent(in) :: row_offsets, col_indices, values
    type(kkc_matrix_t), intent(out) :: A
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_csr_create_copy_c(ctx%handle, rows, cols, nnz, index_pair, scalar, base, row_offsets, col_indices, &
      values, A%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_csr_create_output_ptr(ctx, rows, cols, nnz, index_pair, scalar, base, row_offsets, col_indices, &
      values, C, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int64_t), intent(in) :: rows, cols, nnz
    integer(c_int32_t), intent(in) :: index_pair, scalar, base
    type(c_ptr), intent(in) :: row_offsets, col_indices, values
    type(kkc_matrix_t), intent(out) :: C
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_csr_create_output_c(ctx%handle, rows, cols, nnz, index_pair, scalar, base, row_offsets, &
      col_indices, values, C%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_csr_set_pointers_ptr(A, row_offsets, col_indices, values, ierr)
    type(kkc_matrix_t), intent(in) :: A
    type(c_ptr), intent(in) :: row_offsets, col_indices, values
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_csr_set_pointers_c(A%handle, row_offsets, col_indices, values)
    call report(status, ierr)
  end subroutine

  subroutine kkc_matrix_copy(ctx, A, copy, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_matrix_t), intent(out) :: copy
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_matrix_copy_c(ctx%handle, A%handle, copy%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_matrix_validate(A, properties, ierr)
    type(kkc_matrix_t), intent(in) :: A
    integer(c_int32_t), intent(out) :: properties
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_matrix_validate_c(A%handle, properties)
    call report(status, ierr)
  end subroutine

  subroutine kkc_matrix_info(A, json, ierr)
    type(kkc_matrix_t), intent(in) :: A
    character(:), allocatable, intent(out) :: json
    integer(c_int32_t), intent(out), optional :: ierr
    type(c_ptr) :: json_text
    integer(c_int32_t) :: status
    status = kkc_matrix_info_c(A%handle, json_text)
    json = fortran_text(json_text)
    call report(status, ierr)
  end subroutine

  subroutine kkc_matrix_destroy(A, ierr)
    type(kkc_matrix_t), intent(inout) :: A
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_matrix_destroy_c(A%handle)
    if (status == KKC_STATUS_SUCCESS) A%handle = c_null_ptr
    call report(status, ierr)
  end subroutine

  subroutine kkc_matrix_read(ctx, path, index_pair, scalar, A, ierr)
    type(kkc_context_t), intent(in) :: ctx
    character(*), intent(in) :: path
    integer(c_int32_t), intent(in) :: index_pair, scalar
    type(kkc_matrix_t), intent(out) :: A
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_matrix_read_c(ctx%handle, c_text(path), index_pair, scalar, A%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_matrix_write(A, path, options, ierr)
    type(kkc_matrix_t), intent(in) :: A
    character(*), intent(in) :: path
    type(kkc_options_t), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_matrix_write_c(A%handle, c_text(path), address_of_options(options))
    call report(status, ierr)
  end subroutine

  subroutine kkc_view_read(ctx, path, scalar, layout, view, ierr)
    type(kkc_context_t), intent(in) :: ctx
    character(*), intent(in) :: path
    integer(c_int32_t), intent(in) :: scalar, layout
    type(kkc_view_t), intent(out) :: view
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_view_read_c(ctx%handle, c_text(path), scalar, layout, view%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_view_write(ctx, view, path, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(kkc_view_t), intent(in) :: view
    character(*), intent(in) :: path
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_view_write_c(ctx%handle, view%handle, c_text(path))
    call report(status, ierr)
  end subroutine

  subroutine kkc_matrix_generate(ctx, name, index_pair, scalar, A, options, ierr)
    type(kkc_context_t), intent(in) :: ctx
    character(*), intent(in) :: name
    integer(c_int32_t), intent(in) :: index_pair, scalar
    type(kkc_matrix_t), intent(out) :: A
    type(kkc_options_t), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_matrix_generate_c(ctx%handle, c_text(name), address_of_options(options), index_pair, scalar, &
      A%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_matrix_laplacian(ctx, A, shift, L, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(kkc_matrix_t), intent(in) :: A
    real(c_double), intent(in) :: shift
    type(kkc_matrix_t), intent(out) :: L
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_matrix_laplacian_c(ctx%handle, A%handle, shift, L%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_axpby_ptr(ctx, alpha, x, beta, y, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(c_ptr), intent(in) :: alpha, beta
    type(kkc_view_t), intent(in) :: x, y
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_axpby_c(ctx%handle, alpha, x%handle, beta, y%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_dot(ctx, conjugate, x, y, result, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(in) :: conjugate
    type(kkc_view_t), intent(in) :: x, y, result
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_dot_c(ctx%handle, conjugate, x%handle, y%handle, result%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_norm2(ctx, x, result, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(kkc_view_t), intent(in) :: x, result
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_norm2_c(ctx%handle, x%handle, result%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_query_support(device, operation, index_pair, scalar, yes, ierr)
    integer(c_int32_t), intent(in) :: device, index_pair, scalar
    character(*), intent(in) :: operation
    integer(c_int32_t), intent(out) :: yes
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_query_support_c(device, c_text(operation), index_pair, scalar, yes)
    call report(status, ierr)
  end subroutine

  subroutine kkc_implementation_count(device, operation, count, ierr)
    integer(c_int32_t), intent(in) :: device
    character(*), intent(in) :: operation
    integer(c_int32_t), intent(out) :: count
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_implementation_count_c(device, c_text(operation), count)
    call report(status, ierr)
  end subroutine

  subroutine kkc_implementation_name(device, operation, index, name, ierr)
    integer(c_int32_t), intent(in) :: device, index
    character(*), intent(in) :: operation
    character(:), allocatable, intent(out) :: name
    integer(c_int32_t), intent(out), optional :: ierr
    type(c_ptr) :: name_text
    integer(c_int32_t) :: status
    status = kkc_implementation_name_c(device, c_text(operation), index, name_text)
    name = fortran_text(name_text)
    call report(status, ierr)
  end subroutine

  subroutine kkc_plan_info(plan, json, ierr)
    type(kkc_plan_t), intent(in) :: plan
    character(:), allocatable, intent(out) :: json
    integer(c_int32_t), intent(out), optional :: ierr
    type(c_ptr) :: json_text
    integer(c_int32_t) :: status
    status = kkc_plan_info_c(plan%handle, json_text)
    json = fortran_text(json_text)
    call report(status, ierr)
  end subroutine

  subroutine kkc_plan_workspace_size(plan, bytes, ierr)
    type(kkc_plan_t), intent(in) :: plan
    integer(c_size_t), intent(out) :: bytes
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_plan_workspace_size_c(plan%handle, bytes)
    call report(status, ierr)
  end subroutine

  subroutine kkc_plan_set_workspace(plan, ptr, bytes, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(c_ptr), intent(in) :: ptr
    integer(c_size_t), intent(in) :: bytes
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_plan_set_workspace_c(plan%handle, ptr, bytes)
    call report(status, ierr)
  end subroutine

  subroutine kkc_plan_check(plan, where, count, ierr)
    type(kkc_plan_t), intent(in) :: plan
    integer(c_int64_t), intent(out) :: where, count
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_plan_check_c(plan%handle, where, count)
    call report(status, ierr)
  end subroutine

  subroutine kkc_plan_output_nnz(plan, nnz, ierr)
    type(kkc_plan_t), intent(in) :: plan
    integer(c_int64_t), intent(out) :: nnz
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_plan_output_nnz_c(plan%handle, nnz)
    call report(status, ierr)
  end subroutine

  subroutine kkc_plan_output_pattern(plan, C, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(kkc_matrix_t), intent(in) :: C
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_plan_output_pattern_c(plan%handle, C%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_plan_create_output(plan, C, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(kkc_matrix_t), intent(out) :: C
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_plan_create_output_c(plan%handle, C%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_plan_destroy(plan, ierr)
    type(kkc_plan_t), intent(inout) :: plan
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_plan_destroy_c(plan%handle)
    if (status == KKC_STATUS_SUCCESS) plan%handle = c_null_ptr
    call report(status, ierr)
  end subroutine

  subroutine kkc_tuning_export(ctx, json, ierr)
    type(kkc_context_t), intent(in) :: ctx
    character(:), allocatable, intent(out) :: json
    integer(c_int32_t), intent(out), optional :: ierr
    type(c_ptr) :: json_text
    integer(c_int32_t) :: status
    status = kkc_tuning_export_c(ctx%handle, json_text)
    json = fortran_text(json_text)
    call report(status, ierr)
  end subroutine

  subroutine kkc_tuning_import(ctx, json, ierr)
    type(kkc_context_t), intent(in) :: ctx
    character(*), intent(in) :: json
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_tuning_import_c(ctx%handle, c_text(json))
    call report(status, ierr)
  end subroutine

  subroutine kkc_spmv_plan(ctx, op, A, x, y, plan, options, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(in) :: op
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_view_t), intent(in) :: x, y
    type(kkc_plan_t), intent(out) :: plan
    type(kkc_options_t), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_spmv_plan_c(ctx%handle, op, A%handle, x%handle, y%handle, address_of_options(options), plan%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_spmv_execute_ptr(plan, alpha, A, x, beta, y, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(c_ptr), intent(in) :: alpha, beta
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_view_t), intent(in) :: x, y
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_spmv_execute_c(plan%handle, alpha, A%handle, x%handle, beta, y%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_spmv_set_values(plan, A, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(kkc_matrix_t), intent(in) :: A
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_spmv_set_values_c(plan%handle, A%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_view_scan(ctx, exclusive, dim, x, y, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(in) :: exclusive, dim
    type(kkc_view_t), intent(in) :: x, y
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_view_scan_c(ctx%handle, exclusive, dim, x%handle, y%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_view_sort_plan(ctx, dim, keys, sorted_keys, values, sorted_values, plan, options, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(in) :: dim
    type(kkc_view_t), intent(in) :: keys, sorted_keys, values, sorted_values
    type(kkc_plan_t), intent(out) :: plan
    type(kkc_options_t), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_view_sort_plan_c(ctx%handle, dim, keys%handle, sorted_keys%handle, values%handle, &
      sorted_values%handle, address_of_options(options), plan%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_view_sort_execute(plan, keys, sorted_keys, values, sorted_values, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(kkc_view_t), intent(in) :: keys, sorted_keys, values, sorted_values
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_view_sort_execute_c(plan%handle, keys%handle, sorted_keys%handle, values%handle, &
      sorted_values%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_transpose_plan(ctx, op, A, index_pair, plan, options, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(in) :: op, index_pair
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_plan_t), intent(out) :: plan
    type(kkc_options_t), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_transpose_plan_c(ctx%handle, op, A%handle, index_pair, address_of_options(options), plan%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_transpose_execute(plan, A, C, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(kkc_matrix_t), intent(in) :: A, C
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_transpose_execute_c(plan%handle, A%handle, C%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_sort_rows_plan(ctx, A, plan, options, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_plan_t), intent(out) :: plan
    type(kkc_options_t), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_sort_rows_plan_c(ctx%handle, A%handle, address_of_options(options), plan%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_sort_rows_execute(plan, A, C, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(kkc_matrix_t), intent(in) :: A, C
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_sort_rows_execute_c(plan%handle, A%handle, C%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_coo_to_csr_plan(ctx, rows, cols, base, row_indices, col_indices, index_pair, scalar, plan, &
      options, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int64_t), intent(in) :: rows, cols
    integer(c_int32_t), intent(in) :: base, index_pair, scalar
    type(kkc_view_t), intent(in) :: row_indices, col_indices
    type(kkc_plan_t), intent(out) :: plan
    type(kkc_options_t), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_coo_to_csr_plan_c(ctx%handle, rows, cols, base, row_indices%handle, col_indices%handle, &
      index_pair, scalar, address_of_options(options), plan%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_coo_to_csr_execute(plan, values, C, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(kkc_view_t), intent(in) :: values
    type(kkc_matrix_t), intent(in) :: C
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_coo_to_csr_execute_c(plan%handle, values%handle, C%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_csr_to_coo(ctx, A, row_indices, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_view_t), intent(in) :: row_indices
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_csr_to_coo_c(ctx%handle, A%handle, row_indices%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_plan_output_permutation(plan, permutation, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(kkc_view_t), intent(in) :: permutation
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_plan_output_permutation_c(plan%handle, permutation%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_matrix_diagonal(ctx, A, d, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_view_t), intent(in) :: d
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_matrix_diagonal_c(ctx%handle, A%handle, d%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_matrix_scale(ctx, row_factors, A, col_factors, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(kkc_view_t), intent(in) :: row_factors, col_factors
    type(kkc_matrix_t), intent(in) :: A
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_matrix_scale_c(ctx%handle, row_factors%handle, A%handle, col_factors%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_spgemm_plan(ctx, op_A, A, op_B, B, index_pair_C, plan, mask, options, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(in) :: op_A, op_B, index_pair_C
    type(kkc_matrix_t), intent(in) :: A, B
    type(kkc_plan_t), intent(out) :: plan
    type(kkc_matrix_t), intent(in), optional :: mask
    type(kkc_options_t), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_spgemm_plan_c(ctx%handle, op_A, A%handle, op_B, B%handle, address_of_matrix(mask), index_pair_C, &
      address_of_options(options), plan%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_spgemm_execute_ptr(plan, alpha, A, B, beta, C, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(c_ptr), intent(in) :: alpha, beta
    type(kkc_matrix_t), intent(in) :: A, B, C
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_spgemm_execute_c(plan%handle, alpha, A%handle, B%handle, beta, C%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_spgemm_jacobi_plan(ctx, A, B, index_pair_C, plan, options, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(kkc_matrix_t), intent(in) :: A, B
    integer(c_int32_t), intent(in) :: index_pair_C
    type(kkc_plan_t), intent(out) :: plan
    type(kkc_options_t), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_spgemm_jacobi_plan_c(ctx%handle, A%handle, B%handle, index_pair_C, address_of_options(options), &
      plan%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_spgemm_jacobi_execute_ptr(plan, omega, A, B, C, dinv, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(c_ptr), intent(in) :: omega
    type(kkc_matrix_t), intent(in) :: A, B, C
    type(kkc_view_t), intent(in), optional :: dinv
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_spgemm_jacobi_execute_c(plan%handle, omega, address_of_view(dinv), A%handle, B%handle, C%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_spadd_plan(ctx, op_A, A, op_B, B, index_pair_C, plan, options, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(in) :: op_A, op_B, index_pair_C
    type(kkc_matrix_t), intent(in) :: A, B
    type(kkc_plan_t), intent(out) :: plan
    type(kkc_options_t), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_spadd_plan_c(ctx%handle, op_A, A%handle, op_B, B%handle, index_pair_C, &
      address_of_options(options), plan%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_spadd_execute_ptr(plan, alpha, A, beta, B, C, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(c_ptr), intent(in) :: alpha, beta
    type(kkc_matrix_t), intent(in) :: A, B, C
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_spadd_execute_c(plan%handle, alpha, A%handle, beta, B%handle, C%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_sptrsv_plan(ctx, op, uplo, diag, A, b, x, plan, options, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(in) :: op, uplo, diag
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_view_t), intent(in) :: b, x
    type(kkc_plan_t), intent(out) :: plan
    type(kkc_options_t), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_sptrsv_plan_c(ctx%handle, op, uplo, diag, A%handle, b%handle, x%handle, &
      address_of_options(options), plan%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_sptrsv_execute_ptr(plan, alpha, A, b, x, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(c_ptr), intent(in) :: alpha
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_view_t), intent(in) :: b, x
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_sptrsv_execute_c(plan%handle, alpha, A%handle, b%handle, x%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_sptrsv_set_values(plan, A, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(kkc_matrix_t), intent(in) :: A
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_sptrsv_set_values_c(plan%handle, A%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_ilu_plan(ctx, A, plan, options, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_plan_t), intent(out) :: plan
    type(kkc_options_t), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_ilu_plan_c(ctx%handle, A%handle, address_of_options(options), plan%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_ilu_execute(plan, A, LU, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(kkc_matrix_t), intent(in) :: A, LU
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_ilu_execute_c(plan%handle, A%handle, LU%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_ic_plan(ctx, A, plan, options, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_plan_t), intent(out) :: plan
    type(kkc_options_t), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_ic_plan_c(ctx%handle, A%handle, address_of_options(options), plan%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_ic_execute(plan, A, L, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(kkc_matrix_t), intent(in) :: A, L
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_ic_execute_c(plan%handle, A%handle, L%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_ilut_plan(ctx, A, plan, options, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_plan_t), intent(out) :: plan
    type(kkc_options_t), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_ilut_plan_c(ctx%handle, A%handle, address_of_options(options), plan%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_ilut_execute(plan, A, L, U, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_matrix_t), intent(out) :: L, U
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_ilut_execute_c(plan%handle, A%handle, L%handle, U%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_krylov_plan(ctx, A, b, x, plan, options, ierr)
    type(kkc_context_t), intent(in) :: ctx
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_view_t), intent(in) :: b, x
    type(kkc_plan_t), intent(out) :: plan
    type(kkc_options_t), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_krylov_plan_c(ctx%handle, A%handle, b%handle, x%handle, address_of_options(options), plan%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_krylov_set_preconditioner(plan, kind, M, U, options, ierr)
    type(kkc_plan_t), intent(in) :: plan
    integer(c_int32_t), intent(in) :: kind
    type(kkc_matrix_t), intent(in), optional :: M, U
    type(kkc_options_t), intent(in), optional :: options
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_krylov_set_preconditioner_c(plan%handle, kind, address_of_matrix(M), address_of_matrix(U), &
      address_of_options(options))
    call report(status, ierr)
  end subroutine

  subroutine kkc_krylov_set_callback(plan, apply, user, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(c_funptr), intent(in) :: apply
    type(c_ptr), intent(in) :: user
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_krylov_set_callback_c(plan%handle, apply, user)
    call report(status, ierr)
  end subroutine

  subroutine kkc_krylov_execute(plan, A, b, x, ierr)
    type(kkc_plan_t), intent(in) :: plan
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_view_t), intent(in) :: b, x
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_krylov_execute_c(plan%handle, A%handle, b%handle, x%handle)
    call report(status, ierr)
  end subroutine

  subroutine kkc_krylov_result(plan, outcome, iterations, residual, ierr)
    type(kkc_plan_t), intent(in) :: plan
    integer(c_int32_t), intent(out) :: outcome
    integer(c_int64_t), intent(out) :: iterations
    real(c_double), intent(out) :: residual
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_krylov_result_c(plan%handle, outcome, iterations, residual)
    call report(status, ierr)
  end subroutine

end module
