"""Preconditioned solvers: CG + IC(0), BiCGSTAB + ILU(0) and GMRES(50) + ILU(1) on lap3d27 or on the system of a file, to
1e-8; then new values of the same pattern with the same plans, and the sentences of what goes wrong.

  13_preconditioned_solver.py [matrix.mtx[.gz] or points a side] [--device serial|openmp|cuda|hip]"""
import argparse
import sys
import time

import kkc
import numpy as np

WAYS = {"CG + Jacobi": ("cg", "jacobi", {"max_iterations": 20000}), "CG + IC(0)": ("cg", "cholesky", {}),
        "BiCGSTAB + ILU(0)": ("bicgstab", 0, {}), "GMRES(50) + ILU(1)": ("gmres", 1, {"restart": 50})}


class Clock:
    """Milliseconds since the last question, with all that was enqueued."""

    def __init__(self, ctx):
        self.ctx, self.start = ctx, time.perf_counter()

    def __call__(self):
        self.ctx.synchronize()
        self.start, last = time.perf_counter(), self.start
        return 1e3 * (self.start - last)


class Way:
    """A method with its preconditioner; plans are made once."""

    def __init__(self, ctx, A, method, kind, options):
        self.solver = ctx.krylov_plan(A, method=method, **options)
        self.factorization = None
        if kind == "jacobi":
            self.solver.set_preconditioner(kind)
            return
        self.factorization = ctx.ic_plan(A) if kind == "cholesky" else ctx.ilu_plan(A, level=kind)
        self.factor = self.factorization.create_output()
        self.solver.set_preconditioner("cholesky" if kind == "cholesky" else "lu", self.factor)

    def factorize(self, A):
        if self.factorization is not None:
            self.factorization.execute(A, self.factor)
            self.factorization.check()


def system(ctx, what):
    """A file that is not symmetric with a dominant positive diagonal stands for the Laplacian of its pattern + I."""
    if what.isdigit():
        side = int(what)
        return ctx.matrix_generate("lap3d27", nx=side, ny=side, nz=side)
    A = ctx.matrix_read(what)
    info = A.info
    if info["hermitian"] and info["positive_diagonal"] and info["diagonal_dominance"] != "none":
        return A
    print("not known to be symmetric positive definite: the graph Laplacian of its pattern + I instead")
    return A.laplacian(1.0)


def sentences(ctx):
    """A singular pivot, a missing diagonal entry, a NaN."""
    def matrix(*rows):
        values = np.array(rows, float)
        at, columns = np.nonzero(values)
        offsets = np.searchsorted(at, np.arange(len(rows) + 1)).astype(np.int32)
        return ctx.csr_copy(row_offsets=offsets, col_indices=columns.astype(np.int32), values=values[at, columns],
                            shape=values.shape)

    def singular():
        A = matrix((1, 2), (2, 4))
        plan = ctx.ilu_plan(A)
        plan.execute(A)
        plan.check()

    def missing():
        ctx.ilu_plan(matrix((4, 1), (1, 0)))

    def nan():
        A = matrix((4, 1), (1, 4))
        ctx.krylov_plan(A).execute(A, ctx.array(np.array([1, np.nan])))

    for case in (singular, missing, nan):
        try:
            case()
        except kkc.Error as error:
            print(f"  {case.__name__}: {error}")
        else:
            return False
    return True


def main():
    parser = argparse.ArgumentParser(description="Preconditioned solvers")
    parser.add_argument("system", nargs="?", default="40")
    parser.add_argument("--device", default="openmp")
    arguments = parser.parse_args()
    with kkc.Context(arguments.device) as ctx:
        A = system(ctx, arguments.system)
        print(f"{A.rows} unknowns, {A.nnz} entries, on {arguments.device}")
        numbers = np.sin(np.arange(A.rows))
        known, d, b, r = ctx.array(numbers), ctx.array(1.5 + 0.5 * numbers), ctx.empty(A.rows), ctx.empty(A.rows)
        product, ways = ctx.spmv_plan(A), {}
        for new_values in (False, True):
            if new_values:
                print("\nNew values, the same plans:")
                ctx.scale(A, row_factors=d, col_factors=d)
            print(f"{'ms:':20}{'plans':>10}{'factors':>10}{'solve':>10}{'iterations':>12}{'residual':>12}")
            product.execute(A, known, b)
            for name, choice in WAYS.items():
                clock = Clock(ctx)
                if name not in ways:
                    ways[name] = Way(ctx, A, *choice)
                plans, way = clock(), ways[name]
                way.factorize(A)
                factors = clock()
                x = way.solver.execute(A, b)
                solve = clock()
                ctx.copy(b, r)
                product.execute(A, x, r, -1, 1)
                residual = ctx.norm2(r) / ctx.norm2(b)
                print(f"{name:20}{plans:10.2f}{factors:10.2f}{solve:10.2f}{way.solver.iterations:12}{residual:12.2e}")
                if not residual <= 1.1e-8:
                    return 1
        print("\nWhat is said about")
        return 0 if sentences(ctx) else 1


if __name__ == "__main__":
    sys.exit(main())
