! Preconditioned solvers in Fortran: CG + IC(0), BiCGSTAB + ILU(0) and GMRES(50) + ILU(1) on lap3d27 or on the system of a
! file, to 1e-8; then new values of the same pattern with the same plans, and the sentences of what goes wrong.
!   kkc_preconditioned_solver_fortran [matrix.mtx[.gz] or points a side]
program preconditioned_solver
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use, intrinsic :: iso_fortran_env, only: int64
  use kkc
  implicit none
  type :: way_t
    character(20) :: name
    character(80) :: method
    character(16) :: fill = ""
    integer :: kind = KKC_PRECONDITIONER_JACOBI
    type(kkc_plan_t) :: factorization, solver
    type(kkc_matrix_t) :: factor
    logical :: planned = .false.
  end type
  type(kkc_context_t) :: ctx
  type(kkc_matrix_t) :: A
  type(kkc_plan_t) :: product
  type(kkc_view_t) :: known_view, b_view, x_view, d_view
  type(way_t) :: ways(4)
  real(c_double), allocatable, target :: known(:), b(:), x(:), d(:)
  integer(c_int64_t) :: rows, cols, nnz, i
  integer :: round, k

  call kkc_context_create(KKC_DEVICE_OPENMP, 0, ctx)
  call make_matrix(A)
  call kkc_csr_get(A, rows, cols, nnz)
  print '(i0, a, i0, a)', rows, " unknowns, ", nnz, " entries"
  allocate (known(rows), b(rows), x(rows), d(rows))
  known = [(sin(real(i, c_double)), i=0, rows - 1)]
  d = 1.5d0 + 0.5d0*known
  call kkc_view_wrap_const(ctx, known, known_view)
  call kkc_view_wrap_const(ctx, d, d_view)
  call kkc_view_wrap(ctx, b, b_view)
  call kkc_view_wrap(ctx, x, x_view)
  call kkc_spmv_plan(ctx, KKC_OP_NONE, A, x_view, b_view, product)

  ways(1) = way_t("CG + Jacobi", '{"method": "cg", "guess": "zero", "max_iterations": 20000}')
  ways(2) = way_t("CG + IC(0)", '{"method": "cg", "guess": "zero"}', "{}", KKC_PRECONDITIONER_CHOLESKY)
  ways(3) = way_t("BiCGSTAB + ILU(0)", '{"method": "bicgstab", "guess": "zero"}', '{"level": 0}', KKC_PRECONDITIONER_LU)
  ways(4) = way_t("GMRES(50) + ILU(1)", '{"method": "gmres", "restart": 50, "guess": "zero"}', '{"level": 1}', &
                  KKC_PRECONDITIONER_LU)
  do round = 1, 2
    if (round == 2) then
      print '(/, a)', "New values, the same plans:"
      call kkc_matrix_scale(ctx, d_view, A, d_view) ! D A D
    end if
    print '(a20, 3a12, 2a12)', "ms: ", "plans", "factors", "solve", "iterations", "residual"
    call kkc_spmv_execute(product, 1d0, A, known_view, 0d0, b_view)
    do k = 1, size(ways)
      call solve(ways(k))
    end do
  end do
  call show_sentences()

  do k = 1, size(ways)
    if (ways(k)%kind /= KKC_PRECONDITIONER_JACOBI) then
      call kkc_plan_destroy(ways(k)%factorization)
      call kkc_matrix_destroy(ways(k)%factor)
    end if
    call kkc_plan_destroy(ways(k)%solver)
  end do
  call kkc_plan_destroy(product)
  call kkc_view_destroy(known_view)
  call kkc_view_destroy(b_view)
  call kkc_view_destroy(x_view)
  call kkc_view_destroy(d_view)
  call kkc_matrix_destroy(A)
  call kkc_context_destroy(ctx)

contains

  real(c_double) function now()
    integer(int64) :: count, rate
    call system_clock(count, rate)
    now = 1d3*real(count, c_double)/real(rate, c_double)
  end function

  ! A file that is not symmetric with a dominant positive diagonal stands for the Laplacian of its pattern + I.
  subroutine make_matrix(A)
    type(kkc_matrix_t), intent(out) :: A
    type(kkc_matrix_t) :: file
    type(kkc_options_t) :: options
    character(4096) :: argument
    character(:), allocatable :: info
    integer :: side, status
    side = 40
    status = 0
    if (command_argument_count() > 0) then
      call get_command_argument(1, argument)
      read (argument, *, iostat=status) side
    end if
    if (status /= 0) then
      call kkc_matrix_read(ctx, argument, KKC_INDEX_32_32, KKC_TYPE_F64, A)
      call kkc_matrix_info(A, info)
      if (index(info, '"hermitian":1') > 0 .and. index(info, '"positive_diagonal":1') > 0 .and. &
          index(info, '"diagonal_dominance":"none"') == 0) return
      print '(a)', "not known to be symmetric positive definite: the graph Laplacian of its pattern + I instead"
      file = A
      call kkc_matrix_laplacian(ctx, file, 1d0, A)
      call kkc_matrix_destroy(file)
      return
    end if
    call kkc_options_create(options)
    call kkc_options_set(options, "nx", side)
    call kkc_options_set(options, "ny", side)
    call kkc_options_set(options, "nz", side)
    call kkc_matrix_generate(ctx, "lap3d27", KKC_INDEX_32_32, KKC_TYPE_F64, A, options)
    call kkc_options_destroy(options)
  end subroutine

  subroutine solve(way)
    type(way_t), intent(inout) :: way
    type(kkc_options_t) :: options
    real(c_double), allocatable, target :: r(:)
    type(kkc_view_t) :: r_view
    real(c_double) :: start, plans, numeric, seconds, residual
    integer(c_int64_t) :: iterations
    integer(c_int32_t) :: outcome
    plans = 0
    numeric = 0
    start = now()
    if (.not. way%planned) then
      call kkc_options_from_json(trim(way%method), options)
      call kkc_krylov_plan(ctx, A, b_view, x_view, way%solver, options)
      call kkc_options_destroy(options)
      if (way%kind == KKC_PRECONDITIONER_JACOBI) then
        call kkc_krylov_set_preconditioner(way%solver, way%kind)
      else
        call kkc_options_from_json(trim(way%fill), options)
        if (way%kind == KKC_PRECONDITIONER_CHOLESKY) then
          call kkc_ic_plan(ctx, A, way%factorization, options)
        else
          call kkc_ilu_plan(ctx, A, way%factorization, options)
        end if
        call kkc_options_destroy(options)
        call kkc_plan_create_output(way%factorization, way%factor)
        call kkc_krylov_set_preconditioner(way%solver, way%kind, way%factor)
      end if
      way%planned = .true.
      plans = now() - start
    end if
    start = now()
    if (way%kind == KKC_PRECONDITIONER_CHOLESKY) call kkc_ic_execute(way%factorization, A, way%factor)
    if (way%kind == KKC_PRECONDITIONER_LU) call kkc_ilu_execute(way%factorization, A, way%factor)
    if (way%kind /= KKC_PRECONDITIONER_JACOBI) numeric = now() - start
    start = now()
    call kkc_krylov_execute(way%solver, A, b_view, x_view)
    seconds = now() - start
    call kkc_krylov_result(way%solver, outcome, iterations, residual)

    r = b
    call kkc_view_wrap(ctx, r, r_view)
    call kkc_spmv_execute(product, -1d0, A, x_view, 1d0, r_view)
    call kkc_view_destroy(r_view)
    residual = norm2(r)/norm2(b)
    print '(a20, 3f12.2, i12, es12.2)', way%name, plans, numeric, seconds, iterations, residual
    if (.not. residual <= 1.1d-8) error stop "the residual is too large"
  end subroutine

  subroutine expect(failed, part)
    integer(c_int32_t), intent(in) :: failed
    character(*), intent(in) :: part
    print '(2a)', "  ", kkc_last_error()
    if (failed == KKC_STATUS_SUCCESS .or. index(kkc_last_error(), part) == 0) error stop "another sentence was expected"
  end subroutine

  subroutine show_sentences()
    integer(c_int32_t), target :: full(3) = [1, 3, 5], short_row(3) = [1, 3, 4], columns(4) = [1, 2, 1, 2]
    real(c_double), target :: singular(4) = [1d0, 2d0, 2d0, 4d0], good(4) = [4d0, 1d0, 1d0, 4d0], numbers(2), y(2) = 0
    type(kkc_matrix_t) :: S, M, G, LU
    type(kkc_view_t) :: numbers_view, y_view
    type(kkc_plan_t) :: plan, none
    integer(c_int32_t) :: ierr
    print '(/, a)', "What is said about a singular pivot, a missing diagonal entry and a NaN:"
    call kkc_csr_create(ctx, 2, 2, 1, full, columns, singular, S)
    call kkc_ilu_plan(ctx, S, plan)
    call kkc_plan_create_output(plan, LU)
    call kkc_ilu_execute(plan, S, LU, ierr)
    call expect(ierr, "row 1")
    call kkc_plan_destroy(plan)
    call kkc_csr_create(ctx, 2, 2, 1, short_row, columns(1:3), good(1:3), M)
    call kkc_ilu_plan(ctx, M, none, ierr=ierr)
    call expect(ierr, "row 1")
    numbers = [1d0, ieee_value(1d0, ieee_quiet_nan)]
    call kkc_csr_create(ctx, 2, 2, 1, full, columns, good, G)
    call kkc_view_wrap(ctx, numbers, numbers_view)
    call kkc_view_wrap(ctx, y, y_view)
    call kkc_krylov_plan(ctx, G, numbers_view, y_view, plan)
    call kkc_krylov_execute(plan, G, numbers_view, y_view, ierr)
    call expect(ierr, "b holds NaN or infinity in row 1")
    call kkc_plan_destroy(plan)
    call kkc_view_destroy(numbers_view)
    call kkc_view_destroy(y_view)
    call kkc_matrix_destroy(S)
    call kkc_matrix_destroy(M)
    call kkc_matrix_destroy(G)
    call kkc_matrix_destroy(LU)
  end subroutine

end program
