! Solves a sparse system by conjugate gradients.
program solve
  use kkc
  implicit none
  type(kkc_context_t) :: ctx
  type(kkc_options_t) :: size
  type(kkc_matrix_t) :: A
  type(kkc_plan_t) :: plan
  type(kkc_view_t) :: x_view, r_view, p_view, q_view, rho_view, next_view, curvature_view
  real(c_double), allocatable, target :: x(:), r(:), p(:), q(:)
  real(c_double), target :: rho, next, curvature
  real(c_double) :: goal, alpha
  integer(c_int64_t) :: n, i
  integer :: iteration

  call kkc_context_create(KKC_DEVICE_OPENMP, 0, ctx)
  call kkc_options_from_json('{"nx": 80, "ny": 80, "nz": 80}', size)
  call kkc_matrix_generate(ctx, "lap3d7", KKC_INDEX_32_32, KKC_TYPE_F64, A, size)
  call kkc_csr_get(A, rows=n)
  allocate (x(n), r(n), p(n), q(n))
  x = 0
  r = [(sin(real(i, c_double)), i=0, n - 1)] ! the right side
  p = r

  call kkc_view_wrap(ctx, x, x_view) ! views are your arrays, where they are
  call kkc_view_wrap(ctx, r, r_view)
  call kkc_view_wrap(ctx, p, p_view)
  call kkc_view_wrap(ctx, q, q_view)
  call kkc_view_wrap(ctx, rho, rho_view)
  call kkc_view_wrap(ctx, next, next_view)
  call kkc_view_wrap(ctx, curvature, curvature_view)

  call kkc_spmv_plan(ctx, KKC_OP_NONE, A, p_view, q_view, plan) ! once for the pattern
  call kkc_dot(ctx, 0, r_view, r_view, rho_view)
  goal = 1d-16*rho
  do iteration = 0, 9999
    if (rho <= goal) exit
    call kkc_spmv_execute(plan, 1d0, A, p_view, 0d0, q_view) ! q = A p
    call kkc_dot(ctx, 0, p_view, q_view, curvature_view)
    alpha = rho/curvature
    call kkc_axpby(ctx, alpha, p_view, 1d0, x_view)
    call kkc_axpby(ctx, -alpha, q_view, 1d0, r_view)
    call kkc_dot(ctx, 0, r_view, r_view, next_view)
    call kkc_axpby(ctx, 1d0, r_view, next/rho, p_view) ! p = r + beta p
    rho = next
  end do
  print '(i0, a, i0, a, es8.1)', n, " unknowns, ", iteration, " iterations, |b - A x| = ", sqrt(rho)
  if (rho > goal) error stop "not solved"
end program
