! The tour in Fortran: read or make a matrix, SpMV in every mode with one and with eight vectors against the reference,
! conjugate gradients.   kkc_tour_fortran [matrix.mtx[.gz]]
program tour
  use kkc
  implicit none
  type(kkc_context_t) :: ctx
  type(kkc_matrix_t) :: A, L
  type(kkc_options_t) :: options
  character(4096) :: path
  character(:), allocatable :: info
  character(4), parameter :: op_names(4) = ["N   ", "T   ", "conj", "H   "]
  integer(c_int64_t) :: rows, cols, nnz
  integer(c_int32_t) :: properties
  integer :: op, vectors

  call kkc_context_create(KKC_DEVICE_OPENMP, 0, ctx)
  if (command_argument_count() > 0) then
    call get_command_argument(1, path)
    call kkc_matrix_read(ctx, path, KKC_INDEX_32_32, KKC_TYPE_F64, A)
  else
    call kkc_options_create(options)
    call kkc_options_set(options, "nx", 40)
    call kkc_options_set(options, "ny", 40)
    call kkc_options_set(options, "nz", 40)
    call kkc_matrix_generate(ctx, "lap3d7", KKC_INDEX_32_32, KKC_TYPE_F64, A, options)
    call kkc_options_destroy(options)
  end if
  call kkc_csr_get(A, rows, cols, nnz)
  call kkc_matrix_info(A, info)
  print '(i0, a, i0, a, i0, a)', rows, " rows, ", cols, " columns, ", nnz, " nonzeros"
  print '(a)', info

  print '(a)', "op   vectors  error against the reference"
  do vectors = 1, 8, 7
    do op = KKC_OP_NONE, KKC_OP_HERMITIAN
      call multiply(op, vectors)
    end do
  end do

  if (rows /= cols) then
    print '(a)', "conjugate gradients: left out, the matrix is not square"
  else
    call kkc_matrix_validate(A, properties)
    if (command_argument_count() > 0 .or. iand(properties, KKC_MATRIX_SYMMETRIC_PATTERN) == 0) then
      print '(a)', "solving with the graph Laplacian of the file's pattern + I"
      call kkc_matrix_laplacian(ctx, A, 1d0, L)
      call conjugate_gradients(L)
      call kkc_matrix_destroy(L)
    else
      call conjugate_gradients(A)
    end if
  end if
  call kkc_matrix_destroy(A)
  call kkc_context_destroy(ctx)

contains

  subroutine multiply(op, vectors)
    integer, intent(in) :: op, vectors
    real(c_double), allocatable, target :: x(:, :), y(:, :), expected(:, :)
    type(kkc_view_t) :: x_view, y_view, expected_view
    type(kkc_plan_t) :: plan, reference
    real(c_double) :: error
    logical :: transposed
    transposed = op == KKC_OP_TRANSPOSE .or. op == KKC_OP_HERMITIAN
    allocate (x(merge(rows, cols, transposed), vectors))
    allocate (y(merge(cols, rows, transposed), vectors), source=0d0)
    allocate (expected, source=y)
    call random_number(x)
    call kkc_view_wrap_const(ctx, x, x_view)
    call kkc_view_wrap(ctx, y, y_view)
    call kkc_view_wrap(ctx, expected, expected_view)

    call kkc_spmv_plan(ctx, op, A, x_view, y_view, plan)
    call kkc_spmv_execute(plan, 1d0, A, x_view, 0d0, y_view)
    call kkc_options_from_json('{"implementation": "reference"}', options)
    call kkc_spmv_plan(ctx, op, A, x_view, expected_view, reference, options)
    call kkc_spmv_execute(reference, 1d0, A, x_view, 0d0, expected_view)
    error = norm2(y - expected)/max(norm2(expected), tiny(1d0))
    print '(a5, i7, es11.1)', op_names(op), vectors, error
    if (.not. error <= 1d-12) error stop "the product is wrong"

    call kkc_plan_destroy(plan)
    call kkc_plan_destroy(reference)
    call kkc_options_destroy(options)
    call kkc_view_destroy(x_view)
    call kkc_view_destroy(y_view)
    call kkc_view_destroy(expected_view)
  end subroutine

  subroutine conjugate_gradients(A)
    type(kkc_matrix_t), intent(in) :: A
    real(c_double), allocatable, target :: known(:), x(:), r(:), p(:), q(:)
    real(c_double), target :: rho, next, curvature
    real(c_double) :: goal
    type(kkc_view_t) :: known_view, x_view, r_view, p_view, q_view, rho_view, next_view, curvature_view
    type(kkc_plan_t) :: plan
    integer :: iteration
    allocate (known(rows), x(rows), r(rows), p(rows), q(rows))
    call random_number(known)
    x = 0
    call kkc_view_wrap_const(ctx, known, known_view)
    call kkc_view_wrap(ctx, x, x_view)
    call kkc_view_wrap(ctx, r, r_view)
    call kkc_view_wrap(ctx, p, p_view)
    call kkc_view_wrap(ctx, q, q_view)
    call kkc_view_wrap(ctx, rho, rho_view)
    call kkc_view_wrap(ctx, next, next_view)
    call kkc_view_wrap(ctx, curvature, curvature_view)
    call kkc_spmv_plan(ctx, KKC_OP_NONE, A, p_view, q_view, plan)

    call kkc_spmv_execute(plan, 1d0, A, known_view, 0d0, r_view) ! b = A known
    call kkc_view_copy(ctx, r_view, p_view)
    call kkc_dot(ctx, 0, r_view, r_view, rho_view)
    goal = 1d-16*rho
    do iteration = 0, 9999
      if (rho <= goal) exit
      call kkc_spmv_execute(plan, 1d0, A, p_view, 0d0, q_view)
      call kkc_dot(ctx, 0, p_view, q_view, curvature_view)
      call kkc_axpby(ctx, rho/curvature, p_view, 1d0, x_view)
      call kkc_axpby(ctx, -rho/curvature, q_view, 1d0, r_view)
      call kkc_dot(ctx, 0, r_view, r_view, next_view)
      call kkc_axpby(ctx, 1d0, r_view, next/rho, p_view)
      rho = next
    end do
    print '(a, i0, a, es8.1)', "conjugate gradients: ", iteration, " iterations, error of x ", norm2(x - known)/norm2(known)
    if (rho > goal) error stop "not solved"
    call kkc_plan_destroy(plan)
  end subroutine

end program
