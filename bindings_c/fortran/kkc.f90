! kkc for Fortran. `use kkc` gives every function of kkc.h under its own name, as a subroutine:
!
!   - arguments in C's order, outputs last; NULL-able handles (options, allocator) are optional and follow them;
!   - ierr comes last and is optional: without it a failure stops the program with the library's sentence;
!   - numbers may be of any floating kind: they become the element type of the views. Arrays are wrapped where they are
!     and must be contiguous and have the target attribute; their kind and shape say type and extents;
!   - texts are character(*), and character(:), allocatable where they are outputs;
!   - sizes may be default or 64-bit integers;
!   - every call that takes an address in C takes a type(c_ptr) here too, for GPU memory (c_loc: iso_c_binding).
!
! Compile kkc_c.f90, kkc_support.f90, kkc_calls.f90, kkc_arrays.f90 and this file, in this order; link with -lkkc.
!
! The kinds (c_double, c_int32_t, ...) come with the module. Functions as C has them are there as <name>_c.
module kkc
  use, intrinsic :: iso_c_binding, only: c_loc
  use kkc_c
  use kkc_support, only: kkc_status_name, kkc_last_error, kkc_version, report, c_text
  use kkc_calls
  use kkc_arrays
  implicit none
  public
  ! gfortran resolves generic names wrongly for a c_loc that comes from here: iso_c_binding has it.
  private :: c_loc
  private :: report, c_text
  private :: coefficient, view_scalar, matrix_scalar

  ! call kkc_view_fill(ctx, value, view [, ierr])
  interface kkc_view_fill
    module procedure fill_i32, fill_i64, fill_f32, fill_f64, fill_c64, fill_c128
  end interface
  ! call kkc_options_set(options, key, value [, ierr]) and the three names of C
  interface kkc_options_set_int
    module procedure set_i32, set_i64
  end interface
  interface kkc_options_set_real
    module procedure set_f32, set_f64
  end interface
  interface kkc_options_set
    module procedure set_i32, set_i64, set_f32, set_f64, kkc_options_set_text
  end interface
  ! call kkc_axpby(ctx, alpha, x, beta, y [, ierr])
  interface kkc_axpby
    module procedure axpby_f32, axpby_f64, axpby_c64, axpby_c128
  end interface
  ! call kkc_spmv_execute(plan, alpha, A, x, beta, y [, ierr])
  interface kkc_spmv_execute
    module procedure spmv_execute_f32, spmv_execute_f64, spmv_execute_c64, spmv_execute_c128
  end interface
  ! call kkc_spgemm_execute(plan, alpha, A, B, beta, C [, ierr])
  interface kkc_spgemm_execute
    module procedure spgemm_execute_f32, spgemm_execute_f64, spgemm_execute_c64, spgemm_execute_c128
  end interface
  ! call kkc_spgemm_jacobi_execute(plan, omega, A, B, C [, dinv] [, ierr])
  interface kkc_spgemm_jacobi_execute
    module procedure spgemm_jacobi_execute_f32, spgemm_jacobi_execute_f64, spgemm_jacobi_execute_c64, &
      spgemm_jacobi_execute_c128
  end interface
  ! call kkc_spadd_execute(plan, alpha, A, beta, B, C [, ierr])
  interface kkc_spadd_execute
    module procedure spadd_execute_f32, spadd_execute_f64, spadd_execute_c64, spadd_execute_c128
  end interface
  ! call kkc_sptrsv_execute(plan, alpha, A, b, x [, ierr])
  interface kkc_sptrsv_execute
    module procedure sptrsv_execute_f32, sptrsv_execute_f64, sptrsv_execute_c64, sptrsv_execute_c128
  end interface

contains

  ! ---- views ----

  ! Every output is optional; extents and strides come as long as the rank.
  subroutine kkc_view_get(view, scalar, rank, extents, strides, layout, space, data, ierr)
    type(kkc_view_t), intent(in) :: view
    integer(c_int32_t), intent(out), optional :: scalar, rank, layout, space
    integer(c_int64_t), allocatable, intent(out), optional :: extents(:), strides(:)
    type(c_ptr), intent(out), optional :: data
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int64_t) :: e(8), s(8)
    integer(c_int32_t) :: r, status
    status = kkc_view_get_c(view%handle, scalar, r, e, s, layout, space, data)
    if (status /= KKC_STATUS_SUCCESS) r = 0
    if (present(rank)) rank = r
    if (present(extents)) extents = e(1:r)
    if (present(strides)) strides = s(1:r)
    call report(status, ierr)
  end subroutine

  integer(c_int32_t) function view_scalar(view) result(scalar)
    type(kkc_view_t), intent(in) :: view
    if (kkc_view_get_c(view%handle, scalar) /= KKC_STATUS_SUCCESS) scalar = KKC_TYPE_F64 ! the call itself will refuse
  end function

  integer(c_int32_t) function matrix_scalar(A) result(scalar)
    type(kkc_matrix_t), intent(in) :: A
    if (kkc_csr_get_c(A%handle, scalar=scalar) /= KKC_STATUS_SUCCESS) scalar = KKC_TYPE_F64 ! the call itself will refuse
  end function

  ! A number as the bytes of an element type; integers keep all their bits.
  function coefficient(number, scalar, whole) result(bytes)
    complex(c_double_complex), intent(in) :: number
    integer(c_int32_t), intent(in) :: scalar
    integer(c_int64_t), intent(in), optional :: whole
    integer(c_int8_t) :: bytes(16)
    integer(c_int64_t) :: n
    bytes = 0
    n = 0
    if (present(whole)) then
      n = whole
    else if (scalar <= KKC_TYPE_I64) then
      n = int(number, c_int64_t)
    end if
    select case (scalar)
    case (KKC_TYPE_U8); bytes(1:8) = transfer(n, bytes, 8) ! little endian
    case (KKC_TYPE_I32); bytes(1:4) = transfer(int(n, c_int32_t), bytes, 4)
    case (KKC_TYPE_I64); bytes(1:8) = transfer(n, bytes, 8)
    case (KKC_TYPE_F32); bytes(1:4) = transfer(real(number, c_float), bytes, 4)
    case (KKC_TYPE_F64); bytes(1:8) = transfer(real(number, c_double), bytes, 8)
    case (KKC_TYPE_C64); bytes(1:8) = transfer(cmplx(number, kind=c_float_complex), bytes, 8)
    case default; bytes = transfer(number, bytes, 16)
    end select
  end function

  subroutine fill_i32(ctx, value, view, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(in) :: value
    type(kkc_view_t), intent(in) :: view
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: bytes(16)
    bytes = coefficient(cmplx(value, kind=c_double_complex), view_scalar(view), int(value, c_int64_t))
    call report(kkc_view_fill_c(ctx%handle, c_loc(bytes), view%handle), ierr)
  end subroutine

  subroutine fill_i64(ctx, value, view, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int64_t), intent(in) :: value
    type(kkc_view_t), intent(in) :: view
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: bytes(16)
    bytes = coefficient(cmplx(value, kind=c_double_complex), view_scalar(view), int(value, c_int64_t))
    call report(kkc_view_fill_c(ctx%handle, c_loc(bytes), view%handle), ierr)
  end subroutine

  subroutine fill_f32(ctx, value, view, ierr)
    type(kkc_context_t), intent(in) :: ctx
    real(c_float), intent(in) :: value
    type(kkc_view_t), intent(in) :: view
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: bytes(16)
    bytes = coefficient(cmplx(value, kind=c_double_complex), view_scalar(view))
    call report(kkc_view_fill_c(ctx%handle, c_loc(bytes), view%handle), ierr)
  end subroutine

  subroutine fill_f64(ctx, value, view, ierr)
    type(kkc_context_t), intent(in) :: ctx
    real(c_double), intent(in) :: value
    type(kkc_view_t), intent(in) :: view
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: bytes(16)
    bytes = coefficient(cmplx(value, kind=c_double_complex), view_scalar(view))
    call report(kkc_view_fill_c(ctx%handle, c_loc(bytes), view%handle), ierr)
  end subroutine

  subroutine fill_c64(ctx, value, view, ierr)
    type(kkc_context_t), intent(in) :: ctx
    complex(c_float_complex), intent(in) :: value
    type(kkc_view_t), intent(in) :: view
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: bytes(16)
    bytes = coefficient(cmplx(value, kind=c_double_complex), view_scalar(view))
    call report(kkc_view_fill_c(ctx%handle, c_loc(bytes), view%handle), ierr)
  end subroutine

  subroutine fill_c128(ctx, value, view, ierr)
    type(kkc_context_t), intent(in) :: ctx
    complex(c_double_complex), intent(in) :: value
    type(kkc_view_t), intent(in) :: view
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: bytes(16)
    bytes = coefficient(cmplx(value, kind=c_double_complex), view_scalar(view))
    call report(kkc_view_fill_c(ctx%handle, c_loc(bytes), view%handle), ierr)
  end subroutine

  ! ---- options ----

  subroutine set_i32(options, key, value, ierr)
    type(kkc_options_t), intent(in) :: options
    character(*), intent(in) :: key
    integer(c_int32_t), intent(in) :: value
    integer(c_int32_t), intent(out), optional :: ierr
    call report(kkc_options_set_int_c(options%handle, c_text(key), int(value, c_int64_t)), ierr)
  end subroutine

  subroutine set_i64(options, key, value, ierr)
    type(kkc_options_t), intent(in) :: options
    character(*), intent(in) :: key
    integer(c_int64_t), intent(in) :: value
    integer(c_int32_t), intent(out), optional :: ierr
    call report(kkc_options_set_int_c(options%handle, c_text(key), value), ierr)
  end subroutine

  subroutine set_f32(options, key, value, ierr)
    type(kkc_options_t), intent(in) :: options
    character(*), intent(in) :: key
    real(c_float), intent(in) :: value
    integer(c_int32_t), intent(out), optional :: ierr
    call report(kkc_options_set_real_c(options%handle, c_text(key), real(value, c_double)), ierr)
  end subroutine

  subroutine set_f64(options, key, value, ierr)
    type(kkc_options_t), intent(in) :: options
    character(*), intent(in) :: key
    real(c_double), intent(in) :: value
    integer(c_int32_t), intent(out), optional :: ierr
    call report(kkc_options_set_real_c(options%handle, c_text(key), value), ierr)
  end subroutine

  ! ---- operations ----

  subroutine axpby_f32(ctx, alpha, x, beta, y, ierr)
    type(kkc_context_t), intent(in) :: ctx
    real(c_float), intent(in) :: alpha, beta
    type(kkc_view_t), intent(in) :: x, y
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: a(16), b(16)
    a = coefficient(cmplx(alpha, kind=c_double_complex), view_scalar(y))
    b = coefficient(cmplx(beta, kind=c_double_complex), view_scalar(y))
    call report(kkc_axpby_c(ctx%handle, c_loc(a), x%handle, c_loc(b), y%handle), ierr)
  end subroutine

  subroutine axpby_f64(ctx, alpha, x, beta, y, ierr)
    type(kkc_context_t), intent(in) :: ctx
    real(c_double), intent(in) :: alpha, beta
    type(kkc_view_t), intent(in) :: x, y
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: a(16), b(16)
    a = coefficient(cmplx(alpha, kind=c_double_complex), view_scalar(y))
    b = coefficient(cmplx(beta, kind=c_double_complex), view_scalar(y))
    call report(kkc_axpby_c(ctx%handle, c_loc(a), x%handle, c_loc(b), y%handle), ierr)
  end subroutine

  subroutine axpby_c64(ctx, alpha, x, beta, y, ierr)
    type(kkc_context_t), intent(in) :: ctx
    complex(c_float_complex), intent(in) :: alpha, beta
    type(kkc_view_t), intent(in) :: x, y
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: a(16), b(16)
    a = coefficient(cmplx(alpha, kind=c_double_complex), view_scalar(y))
    b = coefficient(cmplx(beta, kind=c_double_complex), view_scalar(y))
    call report(kkc_axpby_c(ctx%handle, c_loc(a), x%handle, c_loc(b), y%handle), ierr)
  end subroutine

  subroutine axpby_c128(ctx, alpha, x, beta, y, ierr)
    type(kkc_context_t), intent(in) :: ctx
    complex(c_double_complex), intent(in) :: alpha, beta
    type(kkc_view_t), intent(in) :: x, y
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: a(16), b(16)
    a = coefficient(cmplx(alpha, kind=c_double_complex), view_scalar(y))
    b = coefficient(cmplx(beta, kind=c_double_complex), view_scalar(y))
    call report(kkc_axpby_c(ctx%handle, c_loc(a), x%handle, c_loc(b), y%handle), ierr)
  end subroutine

  subroutine spmv_execute_f32(plan, alpha, A, x, beta, y, ierr)
    type(kkc_plan_t), intent(in) :: plan
    real(c_float), intent(in) :: alpha, beta
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_view_t), intent(in) :: x, y
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: a_bytes(16), b_bytes(16)
    a_bytes = coefficient(cmplx(alpha, kind=c_double_complex), view_scalar(y))
    b_bytes = coefficient(cmplx(beta, kind=c_double_complex), view_scalar(y))
    call report(kkc_spmv_execute_c(plan%handle, c_loc(a_bytes), A%handle, x%handle, c_loc(b_bytes), y%handle), ierr)
  end subroutine

  subroutine spmv_execute_f64(plan, alpha, A, x, beta, y, ierr)
    type(kkc_plan_t), intent(in) :: plan
    real(c_double), intent(in) :: alpha, beta
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_view_t), intent(in) :: x, y
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: a_bytes(16), b_bytes(16)
    a_bytes = coefficient(cmplx(alpha, kind=c_double_complex), view_scalar(y))
    b_bytes = coefficient(cmplx(beta, kind=c_double_complex), view_scalar(y))
    call report(kkc_spmv_execute_c(plan%handle, c_loc(a_bytes), A%handle, x%handle, c_loc(b_bytes), y%handle), ierr)
  end subroutine

  subroutine spmv_execute_c64(plan, alpha, A, x, beta, y, ierr)
    type(kkc_plan_t), intent(in) :: plan
    complex(c_float_complex), intent(in) :: alpha, beta
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_view_t), intent(in) :: x, y
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: a_bytes(16), b_bytes(16)
    a_bytes = coefficient(cmplx(alpha, kind=c_double_complex), view_scalar(y))
    b_bytes = coefficient(cmplx(beta, kind=c_double_complex), view_scalar(y))
    call report(kkc_spmv_execute_c(plan%handle, c_loc(a_bytes), A%handle, x%handle, c_loc(b_bytes), y%handle), ierr)
  end subroutine

  subroutine spmv_execute_c128(plan, alpha, A, x, beta, y, ierr)
    type(kkc_plan_t), intent(in) :: plan
    complex(c_double_complex), intent(in) :: alpha, beta
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_view_t), intent(in) :: x, y
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: a_bytes(16), b_bytes(16)
    a_bytes = coefficient(cmplx(alpha, kind=c_double_complex), view_scalar(y))
    b_bytes = coefficient(cmplx(beta, kind=c_double_complex), view_scalar(y))
    call report(kkc_spmv_execute_c(plan%handle, c_loc(a_bytes), A%handle, x%handle, c_loc(b_bytes), y%handle), ierr)
  end subroutine

  subroutine spgemm_execute_f32(plan, alpha, A, B, beta, C, ierr)
    type(kkc_plan_t), intent(in) :: plan
    real(c_float), intent(in) :: alpha, beta
    type(kkc_matrix_t), intent(in) :: A, B, C
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: a_bytes(16), b_bytes(16)
    a_bytes = coefficient(cmplx(alpha, kind=c_double_complex), matrix_scalar(C))
    b_bytes = coefficient(cmplx(beta, kind=c_double_complex), matrix_scalar(C))
    call report(kkc_spgemm_execute_c(plan%handle, c_loc(a_bytes), A%handle, B%handle, c_loc(b_bytes), C%handle), ierr)
  end subroutine

  subroutine spgemm_execute_f64(plan, alpha, A, B, beta, C, ierr)
    type(kkc_plan_t), intent(in) :: plan
    real(c_double), intent(in) :: alpha, beta
    type(kkc_matrix_t), intent(in) :: A, B, C
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: a_bytes(16), b_bytes(16)
    a_bytes = coefficient(cmplx(alpha, kind=c_double_complex), matrix_scalar(C))
    b_bytes = coefficient(cmplx(beta, kind=c_double_complex), matrix_scalar(C))
    call report(kkc_spgemm_execute_c(plan%handle, c_loc(a_bytes), A%handle, B%handle, c_loc(b_bytes), C%handle), ierr)
  end subroutine

  subroutine spgemm_execute_c64(plan, alpha, A, B, beta, C, ierr)
    type(kkc_plan_t), intent(in) :: plan
    complex(c_float_complex), intent(in) :: alpha, beta
    type(kkc_matrix_t), intent(in) :: A, B, C
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: a_bytes(16), b_bytes(16)
    a_bytes = coefficient(cmplx(alpha, kind=c_double_complex), matrix_scalar(C))
    b_bytes = coefficient(cmplx(beta, kind=c_double_complex), matrix_scalar(C))
    call report(kkc_spgemm_execute_c(plan%handle, c_loc(a_bytes), A%handle, B%handle, c_loc(b_bytes), C%handle), ierr)
  end subroutine

  subroutine spgemm_execute_c128(plan, alpha, A, B, beta, C, ierr)
    type(kkc_plan_t), intent(in) :: plan
    complex(c_double_complex), intent(in) :: alpha, beta
    type(kkc_matrix_t), intent(in) :: A, B, C
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: a_bytes(16), b_bytes(16)
    a_bytes = coefficient(cmplx(alpha, kind=c_double_complex), matrix_scalar(C))
    b_bytes = coefficient(cmplx(beta, kind=c_double_complex), matrix_scalar(C))
    call report(kkc_spgemm_execute_c(plan%handle, c_loc(a_bytes), A%handle, B%handle, c_loc(b_bytes), C%handle), ierr)
  end subroutine

  subroutine spgemm_jacobi_execute_f32(plan, omega, A, B, C, dinv, ierr)
    type(kkc_plan_t), intent(in) :: plan
    real(c_float), intent(in) :: omega
    type(kkc_matrix_t), intent(in) :: A, B, C
    type(kkc_view_t), intent(in), optional :: dinv
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: bytes(16)
    bytes = coefficient(cmplx(omega, kind=c_double_complex), matrix_scalar(C))
    call kkc_spgemm_jacobi_execute(plan, c_loc(bytes), A, B, C, dinv, ierr)
  end subroutine

  subroutine spgemm_jacobi_execute_f64(plan, omega, A, B, C, dinv, ierr)
    type(kkc_plan_t), intent(in) :: plan
    real(c_double), intent(in) :: omega
    type(kkc_matrix_t), intent(in) :: A, B, C
    type(kkc_view_t), intent(in), optional :: dinv
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: bytes(16)
    bytes = coefficient(cmplx(omega, kind=c_double_complex), matrix_scalar(C))
    call kkc_spgemm_jacobi_execute(plan, c_loc(bytes), A, B, C, dinv, ierr)
  end subroutine

  subroutine spgemm_jacobi_execute_c64(plan, omega, A, B, C, dinv, ierr)
    type(kkc_plan_t), intent(in) :: plan
    complex(c_float_complex), intent(in) :: omega
    type(kkc_matrix_t), intent(in) :: A, B, C
    type(kkc_view_t), intent(in), optional :: dinv
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: bytes(16)
    bytes = coefficient(cmplx(omega, kind=c_double_complex), matrix_scalar(C))
    call kkc_spgemm_jacobi_execute(plan, c_loc(bytes), A, B, C, dinv, ierr)
  end subroutine

  subroutine spgemm_jacobi_execute_c128(plan, omega, A, B, C, dinv, ierr)
    type(kkc_plan_t), intent(in) :: plan
    complex(c_double_complex), intent(in) :: omega
    type(kkc_matrix_t), intent(in) :: A, B, C
    type(kkc_view_t), intent(in), optional :: dinv
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: bytes(16)
    bytes = coefficient(cmplx(omega, kind=c_double_complex), matrix_scalar(C))
    call kkc_spgemm_jacobi_execute(plan, c_loc(bytes), A, B, C, dinv, ierr)
  end subroutine

  subroutine spadd_execute_f32(plan, alpha, A, beta, B, C, ierr)
    type(kkc_plan_t), intent(in) :: plan
    real(c_float), intent(in) :: alpha, beta
    type(kkc_matrix_t), intent(in) :: A, B, C
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: a_bytes(16), b_bytes(16)
    a_bytes = coefficient(cmplx(alpha, kind=c_double_complex), matrix_scalar(C))
    b_bytes = coefficient(cmplx(beta, kind=c_double_complex), matrix_scalar(C))
    call report(kkc_spadd_execute_c(plan%handle, c_loc(a_bytes), A%handle, c_loc(b_bytes), B%handle, C%handle), ierr)
  end subroutine

  subroutine spadd_execute_f64(plan, alpha, A, beta, B, C, ierr)
    type(kkc_plan_t), intent(in) :: plan
    real(c_double), intent(in) :: alpha, beta
    type(kkc_matrix_t), intent(in) :: A, B, C
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: a_bytes(16), b_bytes(16)
    a_bytes = coefficient(cmplx(alpha, kind=c_double_complex), matrix_scalar(C))
    b_bytes = coefficient(cmplx(beta, kind=c_double_complex), matrix_scalar(C))
    call report(kkc_spadd_execute_c(plan%handle, c_loc(a_bytes), A%handle, c_loc(b_bytes), B%handle, C%handle), ierr)
  end subroutine

  subroutine spadd_execute_c64(plan, alpha, A, beta, B, C, ierr)
    type(kkc_plan_t), intent(in) :: plan
    complex(c_float_complex), intent(in) :: alpha, beta
    type(kkc_matrix_t), intent(in) :: A, B, C
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: a_bytes(16), b_bytes(16)
    a_bytes = coefficient(cmplx(alpha, kind=c_double_complex), matrix_scalar(C))
    b_bytes = coefficient(cmplx(beta, kind=c_double_complex), matrix_scalar(C))
    call report(kkc_spadd_execute_c(plan%handle, c_loc(a_bytes), A%handle, c_loc(b_bytes), B%handle, C%handle), ierr)
  end subroutine

  subroutine spadd_execute_c128(plan, alpha, A, beta, B, C, ierr)
    type(kkc_plan_t), intent(in) :: plan
    complex(c_double_complex), intent(in) :: alpha, beta
    type(kkc_matrix_t), intent(in) :: A, B, C
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: a_bytes(16), b_bytes(16)
    a_bytes = coefficient(cmplx(alpha, kind=c_double_complex), matrix_scalar(C))
    b_bytes = coefficient(cmplx(beta, kind=c_double_complex), matrix_scalar(C))
    call report(kkc_spadd_execute_c(plan%handle, c_loc(a_bytes), A%handle, c_loc(b_bytes), B%handle, C%handle), ierr)
  end subroutine

  subroutine sptrsv_execute_f32(plan, alpha, A, b, x, ierr)
    type(kkc_plan_t), intent(in) :: plan
    real(c_float), intent(in) :: alpha
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_view_t), intent(in) :: b, x
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: bytes(16)
    bytes = coefficient(cmplx(alpha, kind=c_double_complex), matrix_scalar(A))
    call report(kkc_sptrsv_execute_c(plan%handle, c_loc(bytes), A%handle, b%handle, x%handle), ierr)
  end subroutine

  subroutine sptrsv_execute_f64(plan, alpha, A, b, x, ierr)
    type(kkc_plan_t), intent(in) :: plan
    real(c_double), intent(in) :: alpha
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_view_t), intent(in) :: b, x
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: bytes(16)
    bytes = coefficient(cmplx(alpha, kind=c_double_complex), matrix_scalar(A))
    call report(kkc_sptrsv_execute_c(plan%handle, c_loc(bytes), A%handle, b%handle, x%handle), ierr)
  end subroutine

  subroutine sptrsv_execute_c64(plan, alpha, A, b, x, ierr)
    type(kkc_plan_t), intent(in) :: plan
    complex(c_float_complex), intent(in) :: alpha
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_view_t), intent(in) :: b, x
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: bytes(16)
    bytes = coefficient(cmplx(alpha, kind=c_double_complex), matrix_scalar(A))
    call report(kkc_sptrsv_execute_c(plan%handle, c_loc(bytes), A%handle, b%handle, x%handle), ierr)
  end subroutine

  subroutine sptrsv_execute_c128(plan, alpha, A, b, x, ierr)
    type(kkc_plan_t), intent(in) :: plan
    complex(c_double_complex), intent(in) :: alpha
    type(kkc_matrix_t), intent(in) :: A
    type(kkc_view_t), intent(in) :: b, x
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int8_t), target :: bytes(16)
    bytes = coefficient(cmplx(alpha, kind=c_double_complex), matrix_scalar(A))
    call report(kkc_sptrsv_execute_c(plan%handle, c_loc(bytes), A%handle, b%handle, x%handle), ierr)
  end subroutine

  ! What a plan decided, as JSON. kkc_plan_info does the same: both copy the text.
  subroutine kkc_plan_info_copy(plan, text, ierr)
    type(kkc_plan_t), intent(in) :: plan
    character(:), allocatable, intent(out) :: text
    integer(c_int32_t), intent(out), optional :: ierr
    call kkc_plan_info(plan, text, ierr)
  end subroutine

  ! ---- matrices ----

  ! Every output is optional.
  subroutine kkc_csr_get(A, rows, cols, nnz, index_pair, scalar, base, row_offsets, col_indices, values, ierr)
    type(kkc_matrix_t), intent(in) :: A
    integer(c_int64_t), intent(out), optional :: rows, cols, nnz
    integer(c_int32_t), intent(out), optional :: index_pair, scalar, base
    type(c_ptr), intent(out), optional :: row_offsets, col_indices, values
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    status = kkc_csr_get_c(A%handle, rows, cols, nnz, index_pair, scalar, base, row_offsets, col_indices, values)
    call report(status, ierr)
  end subroutine

  ! ---- solvers ----

  ! The norms of the residual before the first iteration and after each.
  subroutine kkc_krylov_history(plan, norms, ierr)
    type(kkc_plan_t), intent(in) :: plan
    real(c_double), allocatable, intent(out) :: norms(:)
    integer(c_int32_t), intent(out), optional :: ierr
    real(c_double) :: none(1)
    integer(c_int64_t) :: length, again
    integer(c_int32_t) :: status
    status = kkc_krylov_history_c(plan%handle, 0_c_int64_t, none, length)
    allocate (norms(length))
    if (length > 0) status = kkc_krylov_history_c(plan%handle, length, norms, again)
    call report(status, ierr)
  end subroutine

end module
