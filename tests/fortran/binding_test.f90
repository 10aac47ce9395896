! The Fortran module: kinds, ranks, errors, optional arguments.
module binding_callbacks
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use kkc
  implicit none
  type(kkc_context_t) :: callback_ctx

contains

  ! z = r / 2; user: how often it was called.
  integer(c_int32_t) function halve(user, r, z) bind(c)
    type(c_ptr), value :: user, r, z
    integer(c_int32_t), pointer :: calls
    type(kkc_view_t) :: r_view, z_view
    call c_f_pointer(user, calls)
    calls = calls + 1
    r_view%handle = r
    z_view%handle = z
    call kkc_axpby(callback_ctx, 0.5d0, r_view, 0d0, z_view, halve)
  end function

end module

program binding_test
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_funloc, c_funptr, c_loc, c_ptr
  use kkc
  use binding_callbacks, only: callback_ctx, halve
  implicit none
  type(kkc_context_t) :: ctx
  integer :: failures = 0

  call expect(kkc_version() >= 100, "version")
  call kkc_context_create(KKC_DEVICE_SERIAL, 0, ctx)
  call test_errors()
  call test_wraps()
  call test_fill()
  call test_views()
  call test_options()
  call test_matrix_one_based()
  call test_spadd()
  call test_spgemm_jacobi()
  call test_krylov()
  call test_unsorted_rows()
  call test_coordinates()
  call test_matrix_refusals()
  call test_coefficients()
  call test_scans_and_sorts()
  call test_files()
  call kkc_context_destroy(ctx)
  call expect(.not. c_associated(ctx%handle), "destroy clears the handle")
  call kkc_context_destroy(ctx) ! NULL: succeeds
  if (failures > 0) error stop "some checks failed"
  print '(a)', "all checks passed"

contains

  subroutine expect(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    failures = failures + 1
    print '(2a)', "FAILED: ", what
  end subroutine

  subroutine test_errors()
    type(kkc_view_t) :: nothing, view
    type(kkc_context_t) :: wrong
    real(c_double), target :: wide(4, 6)
    integer(c_int32_t) :: ierr, count
    character(:), allocatable :: text
    call kkc_view_get(nothing, ierr=ierr)
    call expect(ierr == KKC_STATUS_NULL_POINTER, "NULL view is refused")
    call expect(kkc_status_name(ierr) == "KKC_STATUS_NULL_POINTER", "name of a status")
    text = kkc_last_error()
    call expect(index(text, "view") > 0, "the sentence names the argument")
    call kkc_context_create(17, 0, wrong, ierr=ierr)
    call expect(ierr == KKC_STATUS_INVALID_ARGUMENT, "unknown device is refused")
    call expect(.not. c_associated(wrong%handle), "outputs are NULL on failure")
    call kkc_view_wrap(ctx, wide(::2, ::3), view, ierr=ierr)
    call expect(ierr == KKC_STATUS_INVALID_ARGUMENT, "gaps in an array are refused")
    text = kkc_last_error()
    call expect(index(text, "contiguous") > 0, "a sentence of the module's own")
    call kkc_device_count(KKC_DEVICE_SERIAL, count)
    call expect(count == 1, "one serial device")
    call kkc_view_get(nothing, ierr=ierr)
    text = kkc_last_error()
    call expect(index(text, "contiguous") == 0, "the library's sentence replaces it")
  end subroutine

  subroutine test_wraps()
    type(kkc_view_t) :: view
    real(c_float), target :: f32(3)
    real(c_double), target :: f64(2, 3), number
    complex(c_float_complex), target :: c64(2, 2, 2)
    complex(c_double_complex), target :: c128(1, 2, 3, 4)
    integer(c_int32_t), target :: i32(5)
    integer(c_int64_t), target :: i64(2, 1, 1, 1, 1, 1, 1, 3), none(0, 4)
    integer(c_int8_t), target :: u8(7)
    call kkc_view_wrap(ctx, f32, view); call expect_view(view, KKC_TYPE_F32, [3_c_int64_t])
    call kkc_view_wrap(ctx, f64, view); call expect_view(view, KKC_TYPE_F64, [2_c_int64_t, 3_c_int64_t])
    call kkc_view_wrap(ctx, f64(:, 2:3), view); call expect_view(view, KKC_TYPE_F64, [2_c_int64_t, 2_c_int64_t])
    call kkc_view_wrap(ctx, number, view); call expect_view(view, KKC_TYPE_F64, [integer(c_int64_t) ::])
    call kkc_view_wrap(ctx, c64, view); call expect_view(view, KKC_TYPE_C64, int([2, 2, 2], c_int64_t))
    call kkc_view_wrap(ctx, c128, view); call expect_view(view, KKC_TYPE_C128, int([1, 2, 3, 4], c_int64_t))
    call kkc_view_wrap(ctx, i32, view); call expect_view(view, KKC_TYPE_I32, [5_c_int64_t])
    call kkc_view_wrap(ctx, i64, view); call expect_view(view, KKC_TYPE_I64, int([2, 1, 1, 1, 1, 1, 1, 3], c_int64_t))
    call kkc_view_wrap(ctx, none, view); call expect_view(view, KKC_TYPE_I64, int([0, 4], c_int64_t))
    call kkc_view_wrap_const(ctx, u8, view); call expect_view(view, KKC_TYPE_U8, [7_c_int64_t])
  end subroutine

  subroutine expect_view(view, scalar, extents)
    type(kkc_view_t), intent(inout) :: view
    integer(c_int32_t), intent(in) :: scalar
    integer(c_int64_t), intent(in) :: extents(:)
    integer(c_int32_t) :: found, rank
    integer(c_int64_t), allocatable :: e(:)
    character(40) :: what
    write (what, '(a, i0, a, i0)') "wrapped array of type ", scalar, ", rank ", size(extents)
    call kkc_view_get(view, scalar=found, rank=rank, extents=e)
    call expect(found == scalar .and. rank == size(extents), what)
    if (rank == size(extents)) call expect(all(e == extents), what)
    call kkc_view_destroy(view)
  end subroutine

  subroutine test_fill()
    type(kkc_view_t) :: view
    real(c_float), target :: f32(3)
    complex(c_double_complex), target :: c128(2)
    integer(c_int64_t), target :: i64(4)
    integer(c_int8_t), target :: u8(2)
    call kkc_view_wrap(ctx, f32, view)
    call kkc_view_fill(ctx, 1.5d0, view)
    call expect(all(f32 == 1.5), "a double fills a view of floats")
    call kkc_view_wrap(ctx, c128, view)
    call kkc_view_fill(ctx, (1., -2.), view)
    call expect(all(c128 == (1d0, -2d0)), "complex of either kind fills")
    call kkc_view_wrap(ctx, i64, view)
    call kkc_view_fill(ctx, 9007199254740993_c_int64_t, view)
    call expect(all(i64 == 9007199254740993_c_int64_t), "integers keep all bits")
    call kkc_view_wrap(ctx, u8, view)
    call kkc_view_fill(ctx, 7, view)
    call expect(all(u8 == 7), "bytes")
  end subroutine

  subroutine test_views()
    type(kkc_view_t) :: matrix, column, transposed, mirror
    real(c_double), target :: a(3, 2), b(3)
    type(kkc_view_t) :: b_view
    integer(c_int32_t) :: ierr
    a = reshape([1d0, 2d0, 3d0, 4d0, 5d0, 6d0], [3, 2])
    call kkc_view_wrap(ctx, a, matrix)
    call kkc_view_sub(matrix, [0, 1], [3, -1], column)
    call kkc_view_wrap(ctx, b, b_view)
    call kkc_view_copy(ctx, column, b_view)
    call expect(all(b == [4d0, 5d0, 6d0]), "second column")
    call kkc_view_sub(matrix, [0], [3], column, ierr)
    call expect(ierr == KKC_STATUS_SIZE_MISMATCH, "begins for another rank")
    call kkc_view_create(ctx, KKC_TYPE_F64, [3, 2], KKC_LAYOUT_RIGHT, KKC_SPACE_HOST, transposed)
    call kkc_view_copy(ctx, matrix, transposed)
    call kkc_view_mirror(ctx, transposed, KKC_SPACE_HOST, mirror)
    call kkc_view_copy(ctx, transposed, mirror)
    a = 0
    call kkc_view_copy(ctx, mirror, matrix)
    call expect(all(a == reshape([1d0, 2d0, 3d0, 4d0, 5d0, 6d0], [3, 2])), "through the other layout and back")
    call kkc_view_destroy(matrix)
    call kkc_view_destroy(transposed)
    call kkc_view_destroy(mirror)
  end subroutine

  subroutine test_options()
    type(kkc_options_t) :: options
    type(kkc_matrix_t) :: A
    integer(c_int32_t) :: ierr
    integer(c_int64_t) :: rows
    character(:), allocatable :: text
    call kkc_options_create(options)
    call kkc_options_set(options, "nx", 3)
    call kkc_options_set(options, "ny", 5_c_int64_t)
    call kkc_matrix_generate(ctx, "lap2d5", KKC_INDEX_32_32, KKC_TYPE_F64, A, options)
    call kkc_csr_get(A, rows)
    call expect(rows == 15, "options reach the generator")
    call kkc_matrix_destroy(A)
    call kkc_options_set(options, "colour", "blue")
    call kkc_matrix_generate(ctx, "lap2d5", KKC_INDEX_32_32, KKC_TYPE_F64, A, options, ierr)
    call expect(ierr == KKC_STATUS_UNKNOWN_OPTION, "unknown option is refused")
    text = kkc_last_error()
    call expect(index(text, "colour") > 0 .and. index(text, "nx") > 0, "the sentence lists the known options")
    call kkc_options_destroy(options)
    call kkc_options_from_json("{", options, ierr)
    call expect(ierr == KKC_STATUS_PARSE, "broken JSON is refused")
  end subroutine

  ! [1 0 1; 0 1 0] times its transpose, counted from 1.
  subroutine test_product(A)
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_matrix_t) :: C
    type(kkc_plan_t) :: plan
    integer(c_int32_t), target :: offsets(3), columns(2)
    real(c_double), target :: values(2) = [1d0, 1d0]
    integer(c_int64_t) :: nnz
    call kkc_spgemm_plan(ctx, KKC_OP_NONE, A, KKC_OP_TRANSPOSE, A, KKC_INDEX_32_32, plan)
    call kkc_plan_output_nnz(plan, nnz)
    call expect(nnz == 2, "entries of a product")
    call kkc_csr_create_output(ctx, 2_c_int64_t, 2_c_int64_t, nnz, KKC_INDEX_32_32, KKC_TYPE_F64, 1, c_loc(offsets), &
      c_loc(columns), c_loc(values), C)
    call kkc_plan_output_pattern(plan, C)
    call expect(all(offsets == [1, 2, 3]) .and. all(columns == [1, 2]), "pattern of a product")
    call kkc_spgemm_execute(plan, 2d0, A, A, 1d0, C)
    call expect(all(values == [5d0, 3d0]), "product of matrices added up")
    call kkc_matrix_destroy(C)
    call kkc_plan_destroy(plan)
  end subroutine

  ! The matrix [10 0 20; 0 30 0], counted from 1 as Fortran does.
  subroutine test_matrix_one_based()
    integer(c_int32_t), target :: offsets(3) = [1, 3, 4], columns(3) = [1, 3, 2]
    real(c_double), target :: values(3) = [10d0, 20d0, 30d0], others(3) = [1d0, 1d0, 1d0]
    real(c_double), target :: x(3) = [1d0, 2d0, 3d0], y(2), z(3)
    type(kkc_matrix_t) :: A, copy
    type(kkc_view_t) :: x_view, y_view, z_view
    type(kkc_plan_t) :: plan, transposed
    character(:), allocatable :: info
    integer(c_int32_t) :: base, properties
    call kkc_csr_create(ctx, 2, 3, 1, offsets, columns, values, A)
    call kkc_csr_get(A, base=base)
    call expect(base == 1, "base 1")
    call kkc_matrix_validate(A, properties)
    call expect(iand(properties, KKC_MATRIX_SORTED) /= 0, "rows are sorted")
    call kkc_view_wrap_const(ctx, x, x_view)
    call kkc_view_wrap(ctx, y, y_view)
    call kkc_view_wrap(ctx, z, z_view)
    call kkc_spmv_plan(ctx, KKC_OP_NONE, A, x_view, y_view, plan)
    call kkc_plan_info(plan, info)
    call expect(index(info, "spmv") > 0, "information of a plan")
    call kkc_spmv_execute(plan, 1d0, A, x_view, 0d0, y_view)
    call expect(all(y == [70d0, 60d0]), "product")
    call kkc_spmv_execute(plan, 2d0, A, x_view, 1d0, y_view)
    call expect(all(y == [210d0, 180d0]), "product added up")
    call kkc_csr_set_pointers(A, offsets, columns, others)
    call kkc_spmv_execute(plan, 1., A, x_view, 0., y_view)
    call expect(all(y == [4d0, 2d0]), "other values")
    call kkc_spmv_plan(ctx, KKC_OP_TRANSPOSE, A, y_view, z_view, transposed)
    call kkc_spmv_execute(transposed, 1d0, A, y_view, 0d0, z_view)
    call expect(all(z == [4d0, 2d0, 4d0]), "transposed product")
    call test_product(A)
    call kkc_csr_create_copy(ctx, 2, 3, 1, offsets, columns, A=copy)
    call test_matrix_operations(A, x_view)
    call kkc_matrix_info(copy, info)
    call expect(len(info) > 2, "information of a pattern")
    call kkc_matrix_destroy(copy)
    call kkc_plan_destroy(plan)
    call kkc_matrix_destroy(A)
  end subroutine

  ! A has the pattern above and values 1; x = [1 2 3].
  subroutine test_matrix_operations(A, x_view)
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_view_t), intent(in) :: x_view
    integer(c_int32_t), target :: rows(3)
    real(c_double), target :: d(2)
    real(c_double), pointer :: values(:)
    type(kkc_view_t) :: rows_view, d_view, none
    type(kkc_matrix_t) :: C
    type(kkc_plan_t) :: plan
    type(c_ptr) :: address
    integer(c_int32_t) :: ierr
    call kkc_view_wrap(ctx, rows, rows_view)
    call kkc_csr_to_coo(ctx, A, rows_view)
    call expect(all(rows == [1, 1, 2]), "rows of entries")
    call kkc_matrix_scale(ctx, none, A, x_view)
    call kkc_view_wrap(ctx, d, d_view)
    call kkc_matrix_diagonal(ctx, A, d_view)
    call expect(all(d == [1d0, 2d0]), "diagonal of a scaled matrix")
    call kkc_transpose_plan(ctx, KKC_OP_TRANSPOSE, A, KKC_INDEX_32_32, plan=plan)
    call kkc_plan_create_output(plan, C)
    call kkc_transpose_execute(plan, A, C)
    call kkc_csr_get(C, values=address)
    call c_f_pointer(address, values, [3])
    call expect(all(values == [1d0, 2d0, 3d0]), "transpose")
    call kkc_sort_rows_execute(plan, A, C, ierr)
    call expect(ierr == KKC_STATUS_INVALID_HANDLE, "a plan of another operation is refused")
    call kkc_matrix_destroy(C)
    call kkc_plan_destroy(plan)
  end subroutine

  subroutine test_spadd()
    integer(c_int32_t), target :: offsets(3) = [1, 3, 4], columns(3) = [1, 3, 2]
    real(c_double), target :: values(3) = [1d0, 2d0, 3d0]
    integer(c_int32_t), target :: other_offsets(3) = [1, 2, 4], other_columns(3) = [3, 1, 2]
    real(c_double), pointer :: sums(:)
    integer(c_int32_t), pointer :: found(:)
    type(c_ptr) :: sums_at, found_at
    type(kkc_matrix_t) :: A, B, C
    type(kkc_plan_t) :: plan
    integer(c_int64_t) :: nnz
    call kkc_csr_create(ctx, 2, 3, 1, offsets, columns, values, A)
    call kkc_csr_create(ctx, 2, 3, 1, other_offsets, other_columns, values, B)
    call kkc_spadd_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, B, KKC_INDEX_32_32, plan)
    call kkc_plan_output_nnz(plan, nnz)
    call expect(nnz == 4, "entries of a sum")
    call kkc_plan_create_output(plan, C)
    call kkc_spadd_execute(plan, 2d0, A, -1d0, B, C)
    call kkc_csr_get(C, col_indices=found_at, values=sums_at)
    call c_f_pointer(found_at, found, [4])
    call c_f_pointer(sums_at, sums, [4])
    call expect(all(found == [1, 3, 1, 2]), "columns of a sum count from 1")
    call expect(all(sums == [2d0, 3d0, -2d0, 3d0]), "values of a sum")
    call kkc_matrix_destroy(C)
    call kkc_plan_destroy(plan)
  end subroutine

  ! (I - omega D^-1 A) B for A = [2 1; -1 4] and B = [1; 2].
  subroutine test_spgemm_jacobi()
    integer(c_int32_t), target :: offsets(3) = [1, 3, 5], columns(4) = [1, 2, 1, 2]
    real(c_double), target :: values(4) = [2d0, 1d0, -1d0, 4d0], inverse(2) = [1d0, 2d0]
    integer(c_int32_t), target :: thin_offsets(3) = [1, 2, 3], thin_columns(2) = 1
    real(c_double), target :: thin_values(2) = [1d0, 2d0]
    type(kkc_matrix_t) :: A, B, C
    type(kkc_view_t) :: dinv
    type(kkc_plan_t) :: plan
    integer(c_int32_t) :: ierr
    call kkc_csr_create(ctx, 2, 2, 1, offsets, columns, values, A)
    call kkc_csr_create(ctx, 2, 1, 1, thin_offsets, thin_columns, thin_values, B)
    call kkc_spgemm_jacobi_plan(ctx, A, B, KKC_INDEX_32_32, plan)
    call kkc_plan_create_output(plan, C)
    call kkc_spgemm_jacobi_execute(plan, 0.5d0, A, B, C)
    call expect_entries(C, [1, 1], [0d0, 1.125d0], "a Jacobi step with A's diagonal")
    call kkc_view_wrap(ctx, inverse, dinv)
    call kkc_spgemm_jacobi_execute(plan, 0.5, A, B, C, dinv)
    call expect_entries(C, [1, 1], [-1d0, -5d0], "a Jacobi step with a given diagonal")
    values(4) = 0
    call kkc_spgemm_jacobi_execute(plan, 0.5d0, A, B, C, ierr=ierr)
    call expect(ierr == KKC_STATUS_ZERO_PIVOT, "a zero on the diagonal")
    call kkc_view_destroy(dinv)
    call kkc_matrix_destroy(C)
    call kkc_plan_destroy(plan)
  end subroutine

  ! [4 1 0; 1 4 1; 0 1 4] x = [6; 12; 14]: by every method, with a preconditioner of this program's own.
  subroutine test_krylov()
    integer(c_int32_t), target :: offsets(4) = [1, 3, 6, 8], columns(7) = [1, 2, 1, 2, 3, 2, 3]
    real(c_double), target :: values(7) = [4d0, 1d0, 1d0, 4d0, 1d0, 1d0, 4d0], b(3) = [6d0, 12d0, 14d0], x(3)
    integer(c_int32_t), target :: calls
    type(c_funptr) :: apply
    character(8), parameter :: methods(3) = [character(8) :: "cg", "bicgstab", "gmres"]
    real(c_double), allocatable :: norms(:)
    type(kkc_matrix_t) :: A
    type(kkc_view_t) :: b_view, x_view
    type(kkc_options_t) :: options
    type(kkc_plan_t) :: plan
    integer(c_int64_t) :: iterations
    real(c_double) :: residual
    integer(c_int32_t) :: ierr, outcome, m
    callback_ctx = ctx
    call kkc_csr_create(ctx, 3, 3, 1, offsets, columns, values, A)
    call kkc_view_wrap(ctx, b, b_view)
    call kkc_view_wrap(ctx, x, x_view)
    do m = 1, 3
      call kkc_options_create(options)
      call kkc_options_set(options, "method", trim(methods(m)))
      call kkc_krylov_plan(ctx, A, b_view, x_view, plan, options)
      calls = 0
      apply = c_funloc(halve)
      call kkc_krylov_set_callback(plan, apply, c_loc(calls))
      x = 0
      call kkc_krylov_execute(plan, A, b_view, x_view)
      call expect(all(abs(x - [1d0, 2d0, 3d0]) < 1d-6), "a system solved by " // methods(m))
      call kkc_krylov_result(plan, outcome, iterations, residual)
      call expect(outcome == KKC_STATUS_SUCCESS .and. iterations > 0 .and. calls >= iterations, "results of " // methods(m))
      call kkc_krylov_history(plan, norms)
      call expect(size(norms) == iterations + 1 .and. norms(size(norms)) == residual, "history of " // methods(m))
      call kkc_krylov_set_preconditioner(plan, KKC_PRECONDITIONER_JACOBI)
      b(2) = ieee_value(1d0, ieee_quiet_nan)
      call kkc_krylov_execute(plan, A, b_view, x_view, ierr)
      call expect(ierr == KKC_STATUS_INVALID_ARGUMENT .and. index(kkc_last_error(), "in row 1") > 0, "a NaN named")
      b(2) = 12
      call kkc_krylov_execute(plan, A, b_view, x_view)
      call kkc_plan_destroy(plan)
      call kkc_options_destroy(options)
    end do
    call kkc_view_destroy(b_view)
    call kkc_view_destroy(x_view)
    call kkc_matrix_destroy(A)
  end subroutine

  ! Rows [3 1 3] and [2 1]: put in order, and added to a transpose and to the identity as they are.
  subroutine test_unsorted_rows()
    integer(c_int32_t), target :: offsets(4) = [1, 4, 6, 6], columns(5) = [3, 1, 3, 2, 1]
    real(c_double), target :: values(5) = [1d0, 2d0, 3d0, 4d0, 5d0]
    integer(c_int32_t), target :: unit_offsets(4) = [1, 2, 3, 4], unit_columns(3) = [1, 2, 3]
    real(c_double), target :: ones(3) = 1d0
    type(kkc_matrix_t) :: A, I
    type(kkc_plan_t) :: plan
    type(kkc_options_t) :: options
    integer(c_int32_t) :: ierr
    call kkc_csr_create(ctx, 3, 3, 1, offsets, columns, values, A)
    call kkc_csr_create(ctx, 3, 3, 1, unit_offsets, unit_columns, ones, I)
    call kkc_sort_rows_plan(ctx, A, plan)
    call expect_sorted(plan, A, [1, 3, 3, 1, 2], [2d0, 1d0, 3d0, 5d0, 4d0], "sorted rows")
    call kkc_options_from_json('{"duplicates": "add"}', options)
    call kkc_sort_rows_plan(ctx, A, plan, options)
    call expect_sorted(plan, A, [1, 3, 1, 2], [2d0, 4d0, 5d0, 4d0], "sorted rows, duplicates added")
    call kkc_options_destroy(options)

    call kkc_spadd_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, I, KKC_INDEX_32_32, plan)
    call expect_sum(plan, A, I, [1, 3, 1, 2, 3], [12d0, 4d0, 5d0, 14d0, 10d0], "a shifted diagonal")
    call kkc_spadd_plan(ctx, KKC_OP_NONE, A, KKC_OP_TRANSPOSE, A, KKC_INDEX_32_32, plan)
    call expect_sum(plan, A, A, [1, 2, 3, 1, 2, 1], [22d0, 50d0, 4d0, 5d0, 44d0, 40d0], "a matrix and its transpose")
    call kkc_options_from_json('{"rows": "sorted"}', options)
    call kkc_spadd_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, I, KKC_INDEX_32_32, plan, options, ierr)
    call expect(ierr == KKC_STATUS_NOT_SORTED, "rows stated sorted")
    call kkc_options_destroy(options)
  end subroutine

  subroutine expect_entries(C, columns, values, what)
    type(kkc_matrix_t), intent(in) :: C
    integer, intent(in) :: columns(:)
    real(c_double), intent(in) :: values(:)
    character(*), intent(in) :: what
    integer(c_int64_t) :: nnz
    type(c_ptr) :: columns_at, values_at
    integer(c_int32_t), pointer :: found_columns(:)
    real(c_double), pointer :: found(:)
    call kkc_csr_get(C, nnz=nnz, col_indices=columns_at, values=values_at)
    call expect(nnz == size(values), what//": count")
    if (nnz /= size(values)) return
    call c_f_pointer(columns_at, found_columns, [nnz])
    call c_f_pointer(values_at, found, [nnz])
    call expect(all(found_columns == columns), what//": columns")
    call expect(all(found == values), what//": values")
  end subroutine

  subroutine expect_sorted(plan, A, columns, values, what)
    type(kkc_plan_t), intent(inout) :: plan
    type(kkc_matrix_t), intent(in) :: A
    integer, intent(in) :: columns(:)
    real(c_double), intent(in) :: values(:)
    character(*), intent(in) :: what
    type(kkc_matrix_t) :: C
    call kkc_plan_create_output(plan, C)
    call kkc_sort_rows_execute(plan, A, C)
    call expect_entries(C, columns, values, what)
    call kkc_matrix_destroy(C)
    call kkc_plan_destroy(plan)
  end subroutine

  ! A + 10 op(B)
  subroutine expect_sum(plan, A, B, columns, values, what)
    type(kkc_plan_t), intent(inout) :: plan
    type(kkc_matrix_t), intent(in) :: A, B
    integer, intent(in) :: columns(:)
    real(c_double), intent(in) :: values(:)
    character(*), intent(in) :: what
    type(kkc_matrix_t) :: C
    call kkc_plan_create_output(plan, C)
    call kkc_spadd_execute(plan, 1d0, A, 10d0, B, C)
    call expect_entries(C, columns, values, what)
    call kkc_matrix_destroy(C)
    call kkc_plan_destroy(plan)
  end subroutine

  ! Entries (2,1) = 1, (1,3) = 2, (2,1) = 3 to rows, and to columns as the rows of the transpose.
  subroutine test_coordinates()
    integer(c_int32_t), target :: rows(3) = [2, 1, 2], columns(3) = [1, 3, 1]
    real(c_double), target :: values(3) = [1d0, 2d0, 3d0]
    type(kkc_view_t) :: rows_view, columns_view, values_view
    type(kkc_matrix_t) :: C
    type(kkc_plan_t) :: plan
    call kkc_view_wrap(ctx, rows, rows_view)
    call kkc_view_wrap(ctx, columns, columns_view)
    call kkc_view_wrap(ctx, values, values_view)
    call kkc_coo_to_csr_plan(ctx, 2_c_int64_t, 3_c_int64_t, 1, rows_view, columns_view, KKC_INDEX_32_32, KKC_TYPE_F64, &
      plan)
    call kkc_plan_create_output(plan, C)
    call kkc_coo_to_csr_execute(plan, values_view, C)
    call expect_entries(C, [3, 1], [2d0, 4d0], "coordinates to rows")
    call kkc_matrix_destroy(C)
    call kkc_plan_destroy(plan)
    call kkc_coo_to_csr_plan(ctx, 3_c_int64_t, 2_c_int64_t, 1, columns_view, rows_view, KKC_INDEX_32_32, KKC_TYPE_F64, &
      plan)
    call kkc_plan_create_output(plan, C)
    call kkc_coo_to_csr_execute(plan, values_view, C)
    call expect_entries(C, [2, 1], [4d0, 2d0], "coordinates to columns")
    call kkc_matrix_destroy(C)
    call kkc_plan_destroy(plan)
  end subroutine

  subroutine test_matrix_refusals()
    integer(c_int32_t), target :: offsets(3) = [0, 2, 3], columns(6) = [0, 0, 2, 0, 1, 0]
    integer(c_int64_t), target :: wide_columns(3) = [0, 2, 1]
    real(c_double), target :: values(3) = 1d0
    type(kkc_matrix_t) :: A
    integer(c_int32_t) :: ierr
    call kkc_csr_create(ctx, 2, 3, 0, offsets, columns(::2), values, A, ierr)
    call expect(ierr == KKC_STATUS_INVALID_ARGUMENT, "gaps between column indices")
    call kkc_csr_create(ctx, 2, 3, 0, offsets, wide_columns, values, A, ierr)
    call expect(ierr == KKC_STATUS_TYPE_MISMATCH, "32-bit offsets with 64-bit columns")
    call kkc_csr_create(ctx, 2, 3, 0, offsets, columns(1:3), columns(4:6), A, ierr)
    call expect(ierr == KKC_STATUS_TYPE_MISMATCH, "integer values")
    call kkc_csr_create(ctx, 5, 3, 0, offsets, columns(1:3), values, A, ierr)
    call expect(ierr == KKC_STATUS_SIZE_MISMATCH, "too few offsets")
    call kkc_csr_create(ctx, 2, 3, 0, [0, 5, 3], columns(1:3), values, A, ierr)
    call expect(ierr == KKC_STATUS_INVALID_ARGUMENT, "offsets that go backwards")
  end subroutine

  subroutine test_coefficients()
    real(c_double), target :: x(2) = [1d0, 2d0], y(2) = [10d0, 20d0]
    type(kkc_view_t) :: x_view, y_view, result_view
    real(c_double), target :: length
    real(c_double), target :: minus_one = -1, one = 1
    call kkc_view_wrap_const(ctx, x, x_view)
    call kkc_view_wrap(ctx, y, y_view)
    call kkc_axpby(ctx, 2., x_view, 1., y_view)
    call expect(all(y == [12d0, 24d0]), "single coefficients on doubles")
    call kkc_axpby(ctx, c_loc(minus_one), x_view, c_loc(one), y_view)
    call expect(all(y == [11d0, 22d0]), "coefficients by address")
    call kkc_view_wrap(ctx, length, result_view)
    call kkc_norm2(ctx, x_view, result_view)
    call expect(abs(length - sqrt(5d0)) < 1d-15, "norm into a variable")
  end subroutine

  subroutine test_scans_and_sorts()
    integer(c_int32_t), target :: counts(4) = [3, 1, 2, 1], places(4)
    integer(c_int64_t), target :: offsets(4)
    type(kkc_view_t) :: counts_view, offsets_view, places_view, none
    type(kkc_plan_t) :: plan
    call kkc_view_wrap(ctx, counts, counts_view)
    call kkc_view_wrap(ctx, offsets, offsets_view)
    call kkc_view_wrap(ctx, places, places_view)
    call kkc_view_scan(ctx, 1, 0, counts_view, offsets_view)
    call expect(all(offsets == [0, 3, 4, 6]), "exclusive prefix sums")
    call kkc_view_sort_plan(ctx, 0, counts_view, counts_view, none, places_view, plan)
    call kkc_view_sort_execute(plan, counts_view, counts_view, none, places_view)
    call expect(all(counts == [1, 1, 2, 3]), "sorted keys")
    call expect(all(places == [1, 3, 2, 0]), "places of sorted keys")
    call kkc_plan_destroy(plan)
  end subroutine

  subroutine test_files()
    type(kkc_matrix_t) :: A, B
    type(kkc_options_t) :: options
    integer(c_int64_t) :: rows, cols, nnz
    integer(c_int32_t) :: ierr
    character(:), allocatable :: text
    call kkc_options_from_json('{"size": "small"}', options)
    call kkc_matrix_generate(ctx, "arrow", KKC_INDEX_32_32, KKC_TYPE_F64, A, options)
    call kkc_matrix_write(A, "fortran_arrow.mtx.gz")
    call kkc_matrix_read(ctx, "fortran_arrow.mtx.gz", KKC_INDEX_32_32, KKC_TYPE_F64, B)
    call kkc_csr_get(A, nnz=nnz)
    call kkc_csr_get(B, rows, cols, nnz)
    call expect(rows == cols .and. nnz > rows, "written and read back")
    call kkc_matrix_read(ctx, "no such file.mtx", KKC_INDEX_32_32, KKC_TYPE_F64, B, ierr)
    call expect(ierr == KKC_STATUS_IO, "missing file")
    text = kkc_last_error()
    call expect(index(text, "no such file.mtx") > 0, "the sentence names the file")
  end subroutine

end program
