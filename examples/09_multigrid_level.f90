! One level of smoothed-aggregation multigrid: kkc_multigrid_level_fortran [points a side] [serial|openmp]
!
! From a Poisson matrix A and a tentative prolongator T (aggregates of 3 x 3 x 3 points):
!   P = (I - omega D^-1 A) T      spgemm_jacobi
!   A_c = P^T (A P)               spgemm, twice
! then the numeric phases again for new values of A: the plans are kept. A_c is checked by products with a vector.
program multigrid_level
  use kkc
  implicit none
  real(c_double), parameter :: omega = 2d0/3
  type(kkc_context_t) :: ctx
  type(kkc_options_t) :: size
  type(kkc_matrix_t) :: A, T, P, AP, coarse
  type(kkc_plan_t) :: smooth, times_P, galerkin
  integer(c_int32_t), allocatable, target :: offsets(:), columns(:)
  real(c_double), allocatable, target :: values(:)
  integer(c_int64_t) :: n, m, nnz, coarse_nnz, side, start
  integer :: round
  character(16) :: argument
  logical :: agrees

  side = 30
  argument = ""
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) side
    call get_command_argument(2, argument)
  end if
  call kkc_context_create(merge(KKC_DEVICE_SERIAL, KKC_DEVICE_OPENMP, argument == "serial"), 0, ctx)
  call kkc_options_create(size)
  call kkc_options_set(size, "nx", side)
  call kkc_options_set(size, "ny", side)
  call kkc_options_set(size, "nz", side)
  call kkc_matrix_generate(ctx, "lap3d7", KKC_INDEX_32_32, KKC_TYPE_F64, A, size)
  call kkc_csr_get(A, rows=n, nnz=nnz)
  call tentative()

  ! Symbolic, once. A plan's output is a matrix of the library; its values come with execute.
  print '(a)', "symbolic phases"
  call system_clock(start)
  call kkc_spgemm_jacobi_plan(ctx, A, T, KKC_INDEX_32_32, smooth)
  call kkc_plan_create_output(smooth, P)
  call report_phase("P = (I - omega D^-1 A) T")
  call kkc_spgemm_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, P, KKC_INDEX_32_32, times_P)
  call kkc_plan_create_output(times_P, AP)
  call report_phase("A P")
  call kkc_spgemm_plan(ctx, KKC_OP_TRANSPOSE, P, KKC_OP_NONE, AP, KKC_INDEX_32_32, galerkin)
  call kkc_plan_create_output(galerkin, coarse)
  call report_phase("P^T (A P)")

  agrees = .true.
  do round = 1, 2
    if (round == 1) then
      print '(a)', "numeric phases"
    else
      call change_values()
      print '(a)', "numeric phases for new values of A, same plans"
    end if
    call system_clock(start)
    call kkc_spgemm_jacobi_execute(smooth, omega, A, T, P)
    call report_phase("P = (I - omega D^-1 A) T")
    call kkc_spgemm_execute(times_P, 1d0, A, P, 0d0, AP)
    call report_phase("A P")
    call kkc_spgemm_execute(galerkin, 1d0, P, AP, 0d0, coarse)
    call report_phase("P^T (A P)")
    call check_coarse()
  end do
  call kkc_csr_get(coarse, rows=m, nnz=coarse_nnz)
  print '(4(a, i0), a)', "A: ", nnz, " entries, ", n, " rows; A_c: ", coarse_nnz, " entries, ", m, " rows"
  if (.not. agrees) error stop "The coarse matrix differs from its factors."
  print '(a)', "The coarse matrix agrees with its factors."

contains

  ! Each aggregate of 3 x 3 x 3 points is a column; a point's row holds one entry. T stands on these arrays.
  subroutine tentative()
    integer(c_int64_t) :: point, length
    integer(c_int32_t) :: row
    length = (side + 2)/3
    allocate (offsets(n + 1), columns(n), values(n))
    offsets = [(row, row=1, int(n, c_int32_t) + 1)] ! base 1
    do point = 0, n - 1
      columns(point + 1) = int((point/side**2/3*length + mod(point/side, side)/3)*length + mod(point, side)/3 + 1, c_int32_t)
    end do
    values = 1/sqrt(27d0)
    call kkc_csr_create(ctx, n, length**3, 1, offsets, columns, values, T)
  end subroutine

  ! What a phase took since `start`.
  subroutine report_phase(phase)
    character(*), intent(in) :: phase
    integer(c_int64_t) :: now, rate
    call system_clock(now, rate)
    print '(2x, a36, f10.3, a)', [character(36) :: phase], 1d3*real(now - start, c_double)/real(rate, c_double), " ms"
    call system_clock(start)
  end subroutine

  ! A's conductivity grows with the row: D A D with d_i = 1 + i / n, so that A stays symmetric.
  subroutine change_values()
    real(c_double), target :: d(n)
    type(kkc_view_t) :: d_view
    integer(c_int64_t) :: i
    d = [(1 + real(i, c_double)/real(n, c_double), i=0, n - 1)]
    call kkc_view_wrap(ctx, d, d_view)
    call kkc_matrix_scale(ctx, d_view, A, d_view)
    call kkc_view_destroy(d_view)
  end subroutine

  ! y = op(X) v
  subroutine multiply(op, X, v, y)
    integer(c_int32_t), intent(in) :: op
    type(kkc_matrix_t), intent(in) :: X
    real(c_double), intent(in), target :: v(:)
    real(c_double), intent(inout), target :: y(:)
    type(kkc_view_t) :: v_view, y_view
    type(kkc_plan_t) :: plan
    call kkc_view_wrap_const(ctx, v, v_view)
    call kkc_view_wrap(ctx, y, y_view)
    call kkc_spmv_plan(ctx, op, X, v_view, y_view, plan)
    call kkc_spmv_execute(plan, 1d0, X, v_view, 0d0, y_view)
    call kkc_plan_destroy(plan)
    call kkc_view_destroy(v_view)
    call kkc_view_destroy(y_view)
  end subroutine

  ! ||A_c v - P^T (A (P v))|| / ||A_c v||
  subroutine check_coarse()
    real(c_double), allocatable, target :: v(:), direct(:), stepwise(:), Pv(:), APv(:)
    real(c_double) :: error
    integer(c_int64_t) :: i
    call kkc_csr_get(coarse, rows=m)
    allocate (direct(m), stepwise(m), Pv(n), APv(n))
    v = [(sin(real(i, c_double)), i=0, m - 1)]
    call multiply(KKC_OP_NONE, coarse, v, direct)
    call multiply(KKC_OP_NONE, P, v, Pv)
    call multiply(KKC_OP_NONE, A, Pv, APv)
    call multiply(KKC_OP_TRANSPOSE, P, APv, stepwise)
    error = norm2(direct - stepwise)/norm2(direct)
    print '(2x, a, es8.1)', "||A_c v - P^T A P v|| / ||A_c v|| = ", error
    agrees = agrees .and. error < 1d-12
  end subroutine

end program
