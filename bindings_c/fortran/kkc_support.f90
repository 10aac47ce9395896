! Texts, errors and optional handles, shared by kkc_calls.f90 and kkc.f90.
module kkc_support
  use, intrinsic :: iso_c_binding
  use kkc_c
  implicit none
  private
  public :: kkc_status_name, kkc_last_error, kkc_version
  public :: report, refuse, c_text, fortran_text, address_of_options, address_of_allocator, &
    address_of_view, address_of_matrix

  ! A refusal that this module itself found, until the library's next failure.
  character(256), save :: own_sentence = ''
  !$omp threadprivate(own_sentence)

  interface
    pure function c_strlen(text) result(length) bind(c, name="strlen")
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  ! Version of the library at run time: major * 10000 + minor * 100 + patch.
  function kkc_version() result(version)
    integer(c_int32_t) :: version
    version = kkc_version_c()
  end function

  function kkc_status_name(status) result(text)
    integer(c_int32_t), intent(in) :: status
    character(:), allocatable :: text
    type(c_ptr) :: name
    name = kkc_status_name_c(status)
    text = fortran_text(name)
  end function

  ! The last failure of this thread as a sentence.
  function kkc_last_error() result(text)
    character(:), allocatable :: text
    type(c_ptr) :: sentence
    if (own_sentence /= '') then
      text = trim(own_sentence)
    else
      sentence = kkc_last_error_c()
      text = fortran_text(sentence)
    end if
  end function

  ! Hands a status to the caller's ierr; without one a failure stops the program with the sentence.
  subroutine report(status, ierr)
    integer(c_int32_t), intent(in) :: status
    integer(c_int32_t), intent(out), optional :: ierr
    if (status /= KKC_STATUS_SUCCESS) own_sentence = ''
    call hand_over(status, ierr)
  end subroutine

  subroutine refuse(status, sentence, ierr)
    integer(c_int32_t), intent(in) :: status
    character(*), intent(in) :: sentence
    integer(c_int32_t), intent(out), optional :: ierr
    own_sentence = sentence
    call hand_over(status, ierr)
  end subroutine

  subroutine hand_over(status, ierr)
    integer(c_int32_t), intent(in) :: status
    integer(c_int32_t), intent(out), optional :: ierr
    character(:), allocatable :: sentence
    if (present(ierr)) then
      ierr = status
    else if (status /= KKC_STATUS_SUCCESS) then
      sentence = kkc_status_name(status)//': '//kkc_last_error()
      error stop sentence
    end if
  end subroutine

  pure function c_text(text) result(res)
    character(*), intent(in) :: text
    character(len=len_trim(text) + 1, kind=c_char) :: res
    res = trim(text)//c_null_char
  end function

  function fortran_text(text) result(res)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: res
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    if (.not. c_associated(text)) then
      res = ''
      return
    end if
    call c_f_pointer(text, letters, [c_strlen(text)])
    allocate (character(len=size(letters)) :: res)
    do i = 1, size(letters)
      res(i:i) = letters(i)
    end do
  end function

  pure function address_of_options(options) result(address)
    type(kkc_options_t), intent(in), optional :: options
    type(c_ptr) :: address
    address = c_null_ptr
    if (present(options)) address = options%handle
  end function

  pure function address_of_allocator(allocator) result(address)
    type(kkc_allocator_t), intent(in), optional :: allocator
    type(c_ptr) :: address
    address = c_null_ptr
    if (present(allocator)) address = allocator%handle
  end function

  pure function address_of_view(view) result(address)
    type(kkc_view_t), intent(in), optional :: view
    type(c_ptr) :: address
    address = c_null_ptr
    if (present(view)) address = view%handle
  end function

  pure function address_of_matrix(matrix) result(address)
    type(kkc_matrix_t), intent(in), optional :: matrix
    type(c_ptr) :: address
    address = c_null_ptr
    if (present(matrix)) address = matrix%handle
  end function

end module
