"""Solves a sparse system by conjugate gradients."""
import kkc
import numpy as np

with kkc.Context("openmp") as ctx:
    A = ctx.matrix_generate("lap3d7", nx=80, ny=80, nz=80)  # or ctx.csr(A) of SciPy, ctx.matrix_read("A.mtx.gz")
    b = np.sin(np.arange(A.rows))
    x, r, p, q = np.zeros_like(b), b.copy(), b.copy(), np.empty_like(b)

    plan = ctx.spmv_plan(A, p, q)  # once for the pattern
    rho = ctx.dot(r, r)
    goal, iteration = 1e-16 * rho, 0
    while rho > goal and iteration < 10000:
        plan.execute(A, p, q)  # q = A p
        alpha = rho / ctx.dot(p, q)
        ctx.axpby(alpha, p, 1, x)  # x += alpha p
        ctx.axpby(-alpha, q, 1, r)  # r -= alpha q
        rho, old = ctx.dot(r, r), rho
        ctx.axpby(1, r, rho / old, p)  # p = r + beta p
        iteration += 1

    print(f"{A.rows} unknowns, {iteration} iterations, |b - A x| = {np.linalg.norm(b - A @ x):.1e}")
