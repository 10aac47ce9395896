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

  ! From x = 0 to ||b - A x|| <= 1e-8 ||b||; b belongs to a random x, so that the error is known too.
  subroutine conjugate_gradients(A)
    type(kkc_matrix_t), intent(in) :: A
    real(c_double), allocatable, target :: known(:), b(:), x(:)
    real(c_double) :: residual
    integer(c_int64_t) :: iterations
    integer(c_int32_t) :: outcome
    type(kkc_view_t) :: known_view, b_view, x_view
    type(kkc_plan_t) :: product, solver
    type(kkc_options_t) :: options
    allocate (known(rows), b(rows), x(rows))
    call random_number(known)
    call kkc_view_wrap_const(ctx, known, known_view)
    call kkc_view_wrap(ctx, b, b_view)
    call kkc_view_wrap(ctx, x, x_view)
    call kkc_spmv_plan(ctx, KKC_OP_NONE, A, known_view, b_view, product)
    call kkc_spmv_execute(product, 1d0, A, known_view, 0d0, b_view)

    call kkc_options_from_json('{"method": "cg", "tolerance": 1e-8, "max_iterations": 10000, "guess": "zero"}', options)
    call kkc_krylov_plan(ctx, A, b_view, x_view, solver, options)
    call kkc_krylov_execute(solver, A, b_view, x_view)
    call kkc_krylov_result(solver, outcome, iterations, residual)
    print '(a, i0, a, es8.1)', "conjugate gradients: ", iterations, " iterations, error of x ", norm2(x - known)/norm2(known)
    if (residual > 1.1d-8*norm2(b)) error stop "not solved"
    call kkc_plan_destroy(product)
    call kkc_plan_destroy(solver)
    call kkc_options_destroy(options)
    call kkc_view_destroy(known_view)
    call kkc_view_destroy(b_view)
    call kkc_view_destroy(x_view)
  end subroutine

end program
