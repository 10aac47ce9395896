"""One level of smoothed-aggregation multigrid: 10_multigrid_level.py [points a side] [serial|openmp]

From a Poisson matrix A and a tentative prolongator T (aggregates of 3 x 3 x 3 points):
  P = (I - omega D^-1 A) T      spgemm_jacobi
  A_c = P^T (A P)               spgemm, twice
then the numeric phases again for new values of A: the plans are kept. A_c is checked by products with a vector.
"""
import sys
import time

import kkc
import numpy as np


def timed(phase, work):
    start = time.perf_counter()
    result = work()
    print(f"  {phase:36} {1e3 * (time.perf_counter() - start):9.3f} ms")
    return result


def planned(phase, plan):
    """A plan and a matrix of its output's pattern; its values come with execute."""
    return timed(phase, lambda: (made := plan(), made.create_output()))


def tentative(ctx, side):
    """Each aggregate of 3 x 3 x 3 points is a column; a point's row holds one entry."""
    coarse = (side + 2) // 3
    along = np.arange(side, dtype=np.int32) // 3
    z, y, x = np.meshgrid(along, along, along, indexing="ij")
    columns = ((z * coarse + y) * coarse + x).ravel()
    return ctx.csr_copy(row_offsets=np.arange(side**3 + 1, dtype=np.int32), col_indices=columns,
                        values=np.full(side**3, 27**-0.5), shape=(side**3, coarse**3))


def error_of(ctx, A, P, coarse):
    """||A_c v - P^T (A (P v))|| / ||A_c v||"""
    v = np.sin(np.arange(coarse.rows))
    direct, stepwise = coarse @ v, np.empty(coarse.rows)
    APv = A @ (P @ v)
    ctx.spmv_plan(P, APv, stepwise, op="T").execute(P, APv, stepwise)
    return np.linalg.norm(direct - stepwise) / np.linalg.norm(direct)


side = int(sys.argv[1]) if len(sys.argv) > 1 else 30
with kkc.Context(sys.argv[2] if len(sys.argv) > 2 else "openmp") as ctx:
    A = ctx.matrix_generate("lap3d7", nx=side, ny=side, nz=side)
    T = tentative(ctx, side)

    print("symbolic phases")  # once
    smooth, P = planned("P = (I - omega D^-1 A) T", lambda: ctx.spgemm_jacobi_plan(A, T))
    times_P, AP = planned("A P", lambda: ctx.spgemm_plan(A, P))
    galerkin, coarse = planned("P^T (A P)", lambda: ctx.spgemm_plan(P, AP, op_A="T"))

    for title in ("numeric phases", "numeric phases for new values of A, same plans"):
        if "new" in title:  # A's conductivity grows with the row: D A D, so that A stays symmetric
            d = 1 + np.arange(A.rows) / A.rows
            ctx.scale(A, d, d)
        print(title)
        timed("P = (I - omega D^-1 A) T", lambda: smooth.execute(A, T, P, omega=2 / 3))
        timed("A P", lambda: times_P.execute(A, P, AP))
        timed("P^T (A P)", lambda: galerkin.execute(P, AP, coarse))
        error = error_of(ctx, A, P, coarse)
        print(f"  ||A_c v - P^T A P v|| / ||A_c v|| = {error:.1e}")
        if not error < 1e-12:
            sys.exit("The coarse matrix differs from its factors.")
    print(f"A: {A.nnz} entries, {A.rows} rows; A_c: {coarse.nnz} entries, {coarse.rows} rows")
    print("The coarse matrix agrees with its factors.")
