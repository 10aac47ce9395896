"""Solves A x = b by conjugate gradients."""
import kkc
import numpy as np

with kkc.Context("openmp") as ctx:
    A = ctx.matrix_generate("lap3d7", nx=80, ny=80, nz=80)  # or ctx.csr(A) of SciPy, ctx.matrix_read("A.mtx.gz")
    b = np.sin(np.arange(A.rows))
    x = np.zeros_like(b)

    # A plan is made once for the pattern of A; execute, as often as A's values or b change.
    plan = ctx.krylov_plan(A, method="cg", tolerance=1e-8)
    plan.set_preconditioner("jacobi")
    plan.execute(A, b, x)
    print(f"{A.rows} unknowns, {plan.iterations} iterations, |b - A x| = {np.linalg.norm(b - A @ x):.1e}")
