! Views and matrices over Fortran arrays: the kinds and shapes of the arrays say types and extents (see kkc.f90).
module kkc_arrays
  use, intrinsic :: iso_c_binding
  use kkc_c
  use kkc_support, only: report, refuse
  implicit none
  private
  public :: kkc_view_wrap, kkc_view_wrap_const, kkc_view_create, kkc_view_sub
  public :: kkc_csr_create, kkc_csr_create_copy, kkc_csr_set_pointers

  ! call kkc_view_wrap(ctx, array, view [, space, ierr]): layout left. Rank 0 (a scalar variable) to 8.
  interface kkc_view_wrap
    module procedure wrap_u8, wrap_i32, wrap_i64, wrap_f32, wrap_f64, wrap_c64, wrap_c128, wrap_ptr
  end interface
  ! The same for arrays that are only read.
  interface kkc_view_wrap_const
    module procedure wrap_const_u8, wrap_const_i32, wrap_const_i64, wrap_const_f32, wrap_const_f64, wrap_const_c64, &
      wrap_const_c128, wrap_const_ptr
  end interface
  ! call kkc_view_create(ctx, scalar, extents, layout, space, view [, ierr])
  interface kkc_view_create
    module procedure view_create_i32, view_create_i64
  end interface
  interface kkc_view_sub
    module procedure view_sub_i32, view_sub_i64
  end interface
  ! call kkc_csr_create(ctx, rows, cols, base, row_offsets, col_indices, values, A [, ierr]) borrows the arrays;
  ! kkc_csr_create_copy copies them. A pattern leaves values away: (..., row_offsets, col_indices, A=A). The kinds of
  ! the arrays choose element type and index pair.
  interface kkc_csr_create
    module procedure csr_create_i32, csr_create_i64
  end interface
  interface kkc_csr_create_copy
    module procedure csr_create_copy_i32, csr_create_copy_i64
  end interface
  interface kkc_csr_set_pointers
    module procedure csr_set_arrays
  end interface

contains

  ! ---- views ----

  subroutine wrap_any(ctx, scalar, array, constant, view, space, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(in) :: scalar
    type(*), intent(in), target :: array(..)
    logical, intent(in) :: constant
    type(kkc_view_t), intent(out) :: view
    integer(c_int32_t), intent(in), optional :: space
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: where, status
    integer(c_int64_t) :: extents(15)
    type(c_ptr) :: address
    where = KKC_SPACE_HOST
    if (present(space)) where = space
    if (.not. is_contiguous(array)) then
      call refuse(KKC_STATUS_INVALID_ARGUMENT, 'array is not contiguous: pass its address and strides to kkc_view_wrap', ierr)
      return
    end if
    extents(1:rank(array)) = shape(array, kind=c_int64_t)
    address = c_null_ptr
    if (all(extents(1:rank(array)) > 0)) address = c_loc(array)
    if (constant) then
      status = kkc_view_wrap_const_c(ctx%handle, scalar, int(rank(array), c_int32_t), extents, KKC_LAYOUT_LEFT, &
        space=where, data=address, view=view%handle)
    else
      status = kkc_view_wrap_c(ctx%handle, scalar, int(rank(array), c_int32_t), extents, KKC_LAYOUT_LEFT, &
        space=where, data=address, view=view%handle)
    end if
    call report(status, ierr)
  end subroutine

  subroutine wrap_u8(ctx, array, view, space, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int8_t), intent(inout), target :: array(..)
    type(kkc_view_t), intent(out) :: view
    integer(c_int32_t), intent(in), optional :: space
    integer(c_int32_t), intent(out), optional :: ierr
    call wrap_any(ctx, KKC_TYPE_U8, array, .false., view, space, ierr)
  end subroutine

  subroutine wrap_i32(ctx, array, view, space, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(inout), target :: array(..)
    type(kkc_view_t), intent(out) :: view
    integer(c_int32_t), intent(in), optional :: space
    integer(c_int32_t), intent(out), optional :: ierr
    call wrap_any(ctx, KKC_TYPE_I32, array, .false., view, space, ierr)
  end subroutine

  subroutine wrap_i64(ctx, array, view, space, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int64_t), intent(inout), target :: array(..)
    type(kkc_view_t), intent(out) :: view
    integer(c_int32_t), intent(in), optional :: space
    integer(c_int32_t), intent(out), optional :: ierr
    call wrap_any(ctx, KKC_TYPE_I64, array, .false., view, space, ierr)
  end subroutine

  subroutine wrap_f32(ctx, array, view, space, ierr)
    type(kkc_context_t), intent(in) :: ctx
    real(c_float), intent(inout), target :: array(..)
    type(kkc_view_t), intent(out) :: view
    integer(c_int32_t), intent(in), optional :: space
    integer(c_int32_t), intent(out), optional :: ierr
    call wrap_any(ctx, KKC_TYPE_F32, array, .false., view, space, ierr)
  end subroutine

  subroutine wrap_f64(ctx, array, view, space, ierr)
    type(kkc_context_t), intent(in) :: ctx
    real(c_double), intent(inout), target :: array(..)
    type(kkc_view_t), intent(out) :: view
    integer(c_int32_t), intent(in), optional :: space
    integer(c_int32_t), intent(out), optional :: ierr
    call wrap_any(ctx, KKC_TYPE_F64, array, .false., view, space, ierr)
  end subroutine

  subroutine wrap_c64(ctx, array, view, space, ierr)
    type(kkc_context_t), intent(in) :: ctx
    complex(c_float_complex), intent(inout), target :: array(..)
    type(kkc_view_t), intent(out) :: view
    integer(c_int32_t), intent(in), optional :: space
    integer(c_int32_t), intent(out), optional :: ierr
    call wrap_any(ctx, KKC_TYPE_C64, array, .false., view, space, ierr)
  end subroutine

  subroutine wrap_c128(ctx, array, view, space, ierr)
    type(kkc_context_t), intent(in) :: ctx
    complex(c_double_complex), intent(inout), target :: array(..)
    type(kkc_view_t), intent(out) :: view
    integer(c_int32_t), intent(in), optional :: space
    integer(c_int32_t), intent(out), optional :: ierr
    call wrap_any(ctx, KKC_TYPE_C128, array, .false., view, space, ierr)
  end subroutine

  ! As in C, for memory that Fortran does not see as an array.
  subroutine wrap_ptr(ctx, scalar, extents, layout, space, data, view, strides, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(in) :: scalar, layout, space
    integer(c_int64_t), intent(in) :: extents(:)
    type(c_ptr), intent(in) :: data
    type(kkc_view_t), intent(out) :: view
    integer(c_int64_t), intent(in), optional :: strides(:)
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    if (present(strides)) then
      if (size(strides) /= size(extents)) then
        call refuse(KKC_STATUS_SIZE_MISMATCH, 'strides and extents differ in length', ierr)
        return
      end if
    end if
    status = kkc_view_wrap_c(ctx%handle, scalar, size(extents, kind=c_int32_t), extents, layout, strides, space, data, &
      view%handle)
    call report(status, ierr)
  end subroutine

  subroutine wrap_const_u8(ctx, array, view, space, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int8_t), intent(in), target :: array(..)
    type(kkc_view_t), intent(out) :: view
    integer(c_int32_t), intent(in), optional :: space
    integer(c_int32_t), intent(out), optional :: ierr
    call wrap_any(ctx, KKC_TYPE_U8, array, .true., view, space, ierr)
  end subroutine

  subroutine wrap_const_i32(ctx, array, view, space, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(in), target :: array(..)
    type(kkc_view_t), intent(out) :: view
    integer(c_int32_t), intent(in), optional :: space
    integer(c_int32_t), intent(out), optional :: ierr
    call wrap_any(ctx, KKC_TYPE_I32, array, .true., view, space, ierr)
  end subroutine

  subroutine wrap_const_i64(ctx, array, view, space, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int64_t), intent(in), target :: array(..)
    type(kkc_view_t), intent(out) :: view
    integer(c_int32_t), intent(in), optional :: space
    integer(c_int32_t), intent(out), optional :: ierr
    call wrap_any(ctx, KKC_TYPE_I64, array, .true., view, space, ierr)
  end subroutine

  subroutine wrap_const_f32(ctx, array, view, space, ierr)
    type(kkc_context_t), intent(in) :: ctx
    real(c_float), intent(in), target :: array(..)
    type(kkc_view_t), intent(out) :: view
    integer(c_int32_t), intent(in), optional :: space
    integer(c_int32_t), intent(out), optional :: ierr
    call wrap_any(ctx, KKC_TYPE_F32, array, .true., view, space, ierr)
  end subroutine

  subroutine wrap_const_f64(ctx, array, view, space, ierr)
    type(kkc_context_t), intent(in) :: ctx
    real(c_double), intent(in), target :: array(..)
    type(kkc_view_t), intent(out) :: view
    integer(c_int32_t), intent(in), optional :: space
    integer(c_int32_t), intent(out), optional :: ierr
    call wrap_any(ctx, KKC_TYPE_F64, array, .true., view, space, ierr)
  end subroutine

  subroutine wrap_const_c64(ctx, array, view, space, ierr)
    type(kkc_context_t), intent(in) :: ctx
    complex(c_float_complex), intent(in), target :: array(..)
    type(kkc_view_t), intent(out) :: view
    integer(c_int32_t), intent(in), optional :: space
    integer(c_int32_t), intent(out), optional :: ierr
    call wrap_any(ctx, KKC_TYPE_C64, array, .true., view, space, ierr)
  end subroutine

  subroutine wrap_const_c128(ctx, array, view, space, ierr)
    type(kkc_context_t), intent(in) :: ctx
    complex(c_double_complex), intent(in), target :: array(..)
    type(kkc_view_t), intent(out) :: view
    integer(c_int32_t), intent(in), optional :: space
    integer(c_int32_t), intent(out), optional :: ierr
    call wrap_any(ctx, KKC_TYPE_C128, array, .true., view, space, ierr)
  end subroutine

  ! As in C, for memory that Fortran does not see as an array.
  subroutine wrap_const_ptr(ctx, scalar, extents, layout, space, data, view, strides, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(in) :: scalar, layout, space
    integer(c_int64_t), intent(in) :: extents(:)
    type(c_ptr), intent(in) :: data
    type(kkc_view_t), intent(out) :: view
    integer(c_int64_t), intent(in), optional :: strides(:)
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: status
    if (present(strides)) then
      if (size(strides) /= size(extents)) then
        call refuse(KKC_STATUS_SIZE_MISMATCH, 'strides and extents differ in length', ierr)
        return
      end if
    end if
    status = kkc_view_wrap_const_c(ctx%handle, scalar, size(extents, kind=c_int32_t), extents, layout, strides, space, data, &
      view%handle)
    call report(status, ierr)
  end subroutine

  subroutine view_create_i64(ctx, scalar, extents, layout, space, view, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(in) :: scalar, layout, space
    integer(c_int64_t), intent(in) :: extents(:)
    type(kkc_view_t), intent(out) :: view
    integer(c_int32_t), intent(out), optional :: ierr
    call report(kkc_view_create_c(ctx%handle, scalar, size(extents, kind=c_int32_t), extents, layout, space, view%handle), ierr)
  end subroutine

  subroutine view_create_i32(ctx, scalar, extents, layout, space, view, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(in) :: scalar, extents(:), layout, space
    type(kkc_view_t), intent(out) :: view
    integer(c_int32_t), intent(out), optional :: ierr
    call view_create_i64(ctx, scalar, int(extents, c_int64_t), layout, space, view, ierr)
  end subroutine

  ! begins count from 0; counts = -1 drops the dimension.
  subroutine view_sub_i64(view, begins, counts, sub, ierr)
    type(kkc_view_t), intent(in) :: view
    integer(c_int64_t), intent(in) :: begins(:), counts(:)
    type(kkc_view_t), intent(out) :: sub
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: rank, status
    status = kkc_view_get_c(view%handle, rank=rank)
    if (status == KKC_STATUS_SUCCESS .and. (size(begins) /= rank .or. size(counts) /= rank)) then
      call refuse(KKC_STATUS_SIZE_MISMATCH, 'begins and counts need one entry for every dimension of the view', ierr)
      return
    end if
    if (status == KKC_STATUS_SUCCESS) status = kkc_view_sub_c(view%handle, begins, counts, sub%handle)
    call report(status, ierr)
  end subroutine

  subroutine view_sub_i32(view, begins, counts, sub, ierr)
    type(kkc_view_t), intent(in) :: view
    integer(c_int32_t), intent(in) :: begins(:), counts(:)
    type(kkc_view_t), intent(out) :: sub
    integer(c_int32_t), intent(out), optional :: ierr
    call view_sub_i64(view, int(begins, c_int64_t), int(counts, c_int64_t), sub, ierr)
  end subroutine

  ! ---- matrices ----

  ! The tag of an array's kind; -1 for kinds that kkc does not have.
  integer(c_int32_t) function type_of(array) result(scalar)
    class(*), intent(in) :: array(:)
    select type (array)
    type is (integer(c_int32_t)); scalar = KKC_TYPE_I32
    type is (integer(c_int64_t)); scalar = KKC_TYPE_I64
    type is (real(c_float)); scalar = KKC_TYPE_F32
    type is (real(c_double)); scalar = KKC_TYPE_F64
    type is (complex(c_float_complex)); scalar = KKC_TYPE_C64
    type is (complex(c_double_complex)); scalar = KKC_TYPE_C128
    class default; scalar = -1
    end select
  end function

  type(c_ptr) function address_of_array(array) result(address)
    type(*), intent(in), target :: array(:)
    address = c_null_ptr
    if (size(array) > 0) address = c_loc(array)
  end function

  ! gfortran answers is_contiguous wrongly for class(*).
  logical function without_gaps(array)
    type(*), intent(in) :: array(:)
    without_gaps = is_contiguous(array)
  end function

  integer(c_int32_t) function index_pair_of(row_offsets, col_indices) result(pair)
    class(*), intent(in) :: row_offsets(:), col_indices(:)
    integer(c_int32_t) :: offset, ordinal
    offset = type_of(row_offsets)
    ordinal = type_of(col_indices)
    pair = -1
    if (ordinal == KKC_TYPE_I32 .and. offset == KKC_TYPE_I32) pair = KKC_INDEX_32_32
    if (ordinal == KKC_TYPE_I32 .and. offset == KKC_TYPE_I64) pair = KKC_INDEX_32_64
    if (ordinal == KKC_TYPE_I64 .and. offset == KKC_TYPE_I64) pair = KKC_INDEX_64_64
  end function

  ! Refuses arrays that the library could not check itself, because it sees addresses only.
  logical function check_arrays(rows, row_offsets, col_indices, values, ierr) result(good)
    integer(c_int64_t), intent(in) :: rows
    class(*), intent(in) :: row_offsets(:), col_indices(:)
    class(*), intent(in), optional :: values(:)
    integer(c_int32_t), intent(out), optional :: ierr
    logical :: contiguous
    good = .false.
    contiguous = without_gaps(row_offsets) .and. without_gaps(col_indices)
    if (present(values)) contiguous = contiguous .and. without_gaps(values)
    if (.not. contiguous) then
      call refuse(KKC_STATUS_INVALID_ARGUMENT, 'row_offsets, col_indices and values must be contiguous', ierr)
      return
    end if
    if (index_pair_of(row_offsets, col_indices) < 0) then
      call refuse(KKC_STATUS_TYPE_MISMATCH, 'col_indices and row_offsets must be integers of 32/32, 32/64 or 64/64 bits', ierr)
      return
    end if
    if (rows > 0 .and. size(row_offsets, kind=c_int64_t) /= rows + 1) then
      call refuse(KKC_STATUS_SIZE_MISMATCH, 'row_offsets needs rows + 1 entries', ierr)
      return
    end if
    if (present(values)) then
      if (type_of(values) < KKC_TYPE_F32) then
        call refuse(KKC_STATUS_TYPE_MISMATCH, 'values must be real or complex, of 32 or 64 bits a part', ierr)
        return
      end if
      if (size(values, kind=c_int64_t) /= size(col_indices, kind=c_int64_t)) then
        call refuse(KKC_STATUS_SIZE_MISMATCH, 'values and col_indices differ in length', ierr)
        return
      end if
    end if
    good = .true.
  end function

  subroutine csr_create_i64(ctx, rows, cols, base, row_offsets, col_indices, values, A, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int64_t), intent(in) :: rows, cols
    integer(c_int32_t), intent(in) :: base
    class(*), intent(in), target :: row_offsets(:), col_indices(:)
    class(*), intent(in), target, optional :: values(:)
    type(kkc_matrix_t), intent(out) :: A
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: scalar, status
    type(c_ptr) :: address
    if (.not. check_arrays(rows, row_offsets, col_indices, values, ierr)) return
    scalar = KKC_TYPE_NONE
    address = c_null_ptr
    if (present(values)) then
      scalar = type_of(values)
      address = address_of_array(values)
    end if
    status = kkc_csr_create_c(ctx%handle, rows, cols, size(col_indices, kind=c_int64_t), &
      index_pair_of(row_offsets, col_indices), scalar, base, address_of_array(row_offsets), &
      address_of_array(col_indices), address, A%handle)
    call report(status, ierr)
  end subroutine

  subroutine csr_create_i32(ctx, rows, cols, base, row_offsets, col_indices, values, A, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(in) :: rows, cols, base
    class(*), intent(in), target :: row_offsets(:), col_indices(:)
    class(*), intent(in), target, optional :: values(:)
    type(kkc_matrix_t), intent(out) :: A
    integer(c_int32_t), intent(out), optional :: ierr
    call csr_create_i64(ctx, int(rows, c_int64_t), int(cols, c_int64_t), base, row_offsets, col_indices, values, A, ierr)
  end subroutine

  subroutine csr_create_copy_i64(ctx, rows, cols, base, row_offsets, col_indices, values, A, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int64_t), intent(in) :: rows, cols
    integer(c_int32_t), intent(in) :: base
    class(*), intent(in), target :: row_offsets(:), col_indices(:)
    class(*), intent(in), target, optional :: values(:)
    type(kkc_matrix_t), intent(out) :: A
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int32_t) :: scalar, status
    type(c_ptr) :: address
    if (.not. check_arrays(rows, row_offsets, col_indices, values, ierr)) return
    scalar = KKC_TYPE_NONE
    address = c_null_ptr
    if (present(values)) then
      scalar = type_of(values)
      address = address_of_array(values)
    end if
    status = kkc_csr_create_copy_c(ctx%handle, rows, cols, size(col_indices, kind=c_int64_t), &
      index_pair_of(row_offsets, col_indices), scalar, base, address_of_array(row_offsets), &
      address_of_array(col_indices), address, A%handle)
    call report(status, ierr)
  end subroutine

  subroutine csr_create_copy_i32(ctx, rows, cols, base, row_offsets, col_indices, values, A, ierr)
    type(kkc_context_t), intent(in) :: ctx
    integer(c_int32_t), intent(in) :: rows, cols, base
    class(*), intent(in), target :: row_offsets(:), col_indices(:)
    class(*), intent(in), target, optional :: values(:)
    type(kkc_matrix_t), intent(out) :: A
    integer(c_int32_t), intent(out), optional :: ierr
    call csr_create_copy_i64(ctx, int(rows, c_int64_t), int(cols, c_int64_t), base, row_offsets, col_indices, values, A, ierr)
  end subroutine

  ! The arrays must have the kinds and lengths that A has.
  subroutine csr_set_arrays(A, row_offsets, col_indices, values, ierr)
    type(kkc_matrix_t), intent(in) :: A
    class(*), intent(in), target :: row_offsets(:), col_indices(:)
    class(*), intent(in), target, optional :: values(:)
    integer(c_int32_t), intent(out), optional :: ierr
    integer(c_int64_t) :: rows, nnz
    integer(c_int32_t) :: pair, scalar, expected, status
    type(c_ptr) :: address
    status = kkc_csr_get_c(A%handle, rows, nnz=nnz, index_pair=pair, scalar=scalar)
    if (status /= KKC_STATUS_SUCCESS) then
      call report(status, ierr)
      return
    end if
    if (.not. check_arrays(rows, row_offsets, col_indices, values, ierr)) return
    expected = KKC_TYPE_NONE
    address = c_null_ptr
    if (present(values)) then
      expected = type_of(values)
      address = address_of_array(values)
    end if
    if (index_pair_of(row_offsets, col_indices) /= pair) expected = -1
    if (expected /= scalar) then
      call refuse(KKC_STATUS_TYPE_MISMATCH, 'the kinds of the arrays are not those of the matrix', ierr)
    else if (size(col_indices, kind=c_int64_t) /= nnz) then
      call refuse(KKC_STATUS_SIZE_MISMATCH, 'col_indices is not as long as the matrix has nonzeros', ierr)
    else
      call report(kkc_csr_set_pointers_c(A%handle, address_of_array(row_offsets), address_of_array(col_indices), address), ierr)
    end if
  end subroutine

end module
