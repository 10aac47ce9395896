! Solves A x = b by conjugate gradients.
program solve
  use kkc
  implicit none
  type(kkc_context_t) :: ctx
  type(kkc_options_t) :: size, options
  type(kkc_matrix_t) :: A
  type(kkc_view_t) :: b_view, x_view
  type(kkc_plan_t) :: plan
  real(c_double), allocatable, target :: b(:), x(:)
  real(c_double) :: residual
  integer(c_int64_t) :: n, i, iterations
  integer(c_int32_t) :: outcome

  call kkc_context_create(KKC_DEVICE_OPENMP, 0, ctx)
  call kkc_options_from_json('{"nx": 80, "ny": 80, "nz": 80}', size)
  call kkc_matrix_generate(ctx, "lap3d7", KKC_INDEX_32_32, KKC_TYPE_F64, A, size) ! or kkc_csr_create, on your arrays
  call kkc_csr_get(A, rows=n)
  allocate (b(n), x(n))
  b = [(sin(real(i, c_double)), i=0, n - 1)]
  x = 0

  call kkc_view_wrap_const(ctx, b, b_view) ! views are your arrays, where they are
  call kkc_view_wrap(ctx, x, x_view)

  ! A plan is made once for the pattern of A; execute, as often as A's values or b change.
  call kkc_options_from_json('{"method": "cg", "tolerance": 1e-8}', options)
  call kkc_krylov_plan(ctx, A, b_view, x_view, plan, options)
  call kkc_krylov_set_preconditioner(plan, KKC_PRECONDITIONER_JACOBI)
  call kkc_krylov_execute(plan, A, b_view, x_view)
  call kkc_krylov_result(plan, outcome, iterations, residual)
  print '(i0, a, i0, a, es8.1)', n, " unknowns, ", iterations, " iterations, |b - A x| = ", residual

  call kkc_plan_destroy(plan)
  call kkc_view_destroy(b_view)
  call kkc_view_destroy(x_view)
  call kkc_matrix_destroy(A)
  call kkc_options_destroy(size)
  call kkc_options_destroy(options)
  call kkc_context_destroy(ctx)
end program
