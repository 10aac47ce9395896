"""The tour in Python: read or make a matrix, SpMV in every mode with one and with eight vectors against the reference,
conjugate gradients.   05_tour.py [matrix.mtx[.gz]] [--device serial|openmp|cuda|hip]"""
import argparse
import sys
import time

import kkc
import numpy as np


def random_view(ctx, rng, *shape):
    return ctx.array(rng.standard_normal(shape if shape[1:] != (1,) else shape[:1]))


def multiply(ctx, A, op, vectors, rng):
    """One line of the table; returns the error against the reference."""
    rows, cols = (A.cols, A.rows) if op in ("T", "H") else (A.rows, A.cols)
    x = random_view(ctx, rng, cols, vectors)
    y, expected = (random_view(ctx, rng, rows, vectors) for _ in range(2))
    plan = ctx.spmv_plan(A, x, y, op)
    plan.execute(A, x, y)
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        plan.execute(A, x, y)
        ctx.synchronize()
        seconds.append(time.perf_counter() - start)
    ctx.spmv_plan(A, x, expected, op, implementation="reference").execute(A, x, expected)
    scale = np.max(ctx.norm2(expected))
    ctx.axpby(-1, expected, 1, y)
    error = np.max(ctx.norm2(y)) / (scale or 1)
    info = plan.info
    print(f"{op:5} {vectors:7}  {info['implementation']:20} {1e3 * info['plan_seconds']:9.2f} "
          f"{1e3 * np.median(seconds):11.3f}  {error:.1e}")
    return error


def conjugate_gradients(ctx, A, rng):
    known = random_view(ctx, rng, A.rows)
    b = ctx.empty(A.rows)
    ctx.spmv_plan(A, known, b).execute(A, known, b)
    plan = ctx.krylov_plan(A, method="cg", tolerance=1e-8, max_iterations=10000)
    try:
        x = plan.execute(A, b)
    except kkc.Failed as failed:
        print(failed)
        return False
    ctx.axpby(-1, x, 1, known)
    print(f"conjugate gradients: {plan.iterations} iterations, error of x {ctx.norm2(known) / ctx.norm2(x):.1e}")
    return True


def main():
    parser = argparse.ArgumentParser(description="A tour of kkc")
    parser.add_argument("matrix", nargs="?")
    parser.add_argument("--device", default="openmp")
    arguments = parser.parse_args()
    rng = np.random.default_rng(1)
    with kkc.Context(arguments.device) as ctx:
        print(ctx.info)
        if arguments.matrix:
            A = ctx.matrix_read(arguments.matrix)
        else:
            A = ctx.matrix_generate("lap3d7", nx=40, ny=40, nz=40)
        print(A.info)
        print("op    vectors  implementation         plan ms  execute ms  error against the reference")
        errors = [multiply(ctx, A, op, vectors, rng) for vectors in (1, 8) for op in ("N", "T", "conj", "H")]
        if A.rows != A.cols:
            print("conjugate gradients: left out, the matrix is not square")
        elif not (A.info["hermitian"] and conjugate_gradients(ctx, A, rng)):
            print("the matrix is not symmetric positive definite: its graph Laplacian + I instead")
            if not conjugate_gradients(ctx, A.laplacian(1.0), rng):
                return 1
    return 0 if max(errors) < 1e-12 else 1


if __name__ == "__main__":
    sys.exit(main())
