"""Linear systems, beside NumPy's dense solutions."""
import numpy as np
import pytest

import kkc

SIDE = 12
ROWS = SIDE * SIDE


def grid(ctx, shift=0.2, dtype=np.float64, upwind=0.0):
    """The 5-point grid plus a shift, and its dense matrix."""
    line = 2 * np.eye(SIDE) - (1 + upwind) * np.eye(SIDE, k=1) - (1 - upwind) * np.eye(SIDE, k=-1)
    dense = (np.kron(line, np.eye(SIDE)) + np.kron(np.eye(SIDE), line) + shift * np.eye(ROWS)).astype(dtype)
    return sparse(ctx, dense), dense


def sparse(ctx, dense):
    rows, columns = np.nonzero(dense)
    offsets = np.searchsorted(rows, np.arange(len(dense) + 1)).astype(np.int32)
    return ctx.csr_copy(row_offsets=offsets, col_indices=columns.astype(np.int32), values=dense[rows, columns],
                        shape=dense.shape)


@pytest.mark.parametrize("method", ["cg", "bicgstab", "gmres"])
def test_krylov_finds_numpys_solution(ctx, method):
    A, dense = grid(ctx, upwind=0.0 if method == "cg" else 0.3)
    b = np.random.default_rng(1).standard_normal(ROWS)
    plan = ctx.krylov_plan(A, method=method, tolerance=1e-10)
    expected = np.linalg.solve(dense, b)
    for kind in ("none", "jacobi"):
        plan.set_preconditioner(kind)
        x = plan.execute(A, ctx.array(b))
        assert np.allclose(x.numpy(), expected, rtol=1e-7, atol=1e-8)
    assert plan.iterations == len(plan.history) - 1 > 0
    assert plan.history[0] == pytest.approx(np.linalg.norm(b))
    assert plan.residual == plan.history[-1] <= 1.1e-10 * np.linalg.norm(b)
    info = plan.info
    assert info["method"] == method and info["preconditioner"] == "jacobi" and info["iterations"] == plan.iterations
    # The solution as the guess: nothing to do.
    plan.execute(A, ctx.array(b), x)
    assert plan.iterations == 0


def test_krylov_takes_a_python_function(ctx):
    A, dense = grid(ctx)
    b = ctx.array(np.ones(ROWS))
    plan = ctx.krylov_plan(A, tolerance=1e-10)
    plan.execute(A, b)
    plain, calls = plan.iterations, []

    def by_the_inverse(r, z):
        calls.append(r.shape)
        ctx.copy(ctx.array(np.linalg.solve(dense, r.numpy())), z)

    plan.set_preconditioner(by_the_inverse)
    x = plan.execute(A, b)
    assert plan.iterations <= 2 < plain and set(calls) == {(ROWS,)}
    assert np.allclose(x.numpy(), np.linalg.solve(dense, np.ones(ROWS)))

    def broken(r, z):
        raise RuntimeError("no preconditioner today")

    plan.set_preconditioner(broken)
    with pytest.raises(RuntimeError, match="no preconditioner today"):
        plan.execute(A, b)
    plan.set_preconditioner("none")
    plan.execute(A, b)
    assert plan.iterations == plain


def test_krylov_sentences(ctx):
    A, dense = grid(ctx)
    b = np.ones(ROWS)
    plan = ctx.krylov_plan(A, max_iterations=3)
    with pytest.raises(kkc.Refused, match="no result yet"):
        plan.iterations
    with pytest.raises(kkc.Failed, match="no convergence: after 3 iterations of cg"):
        plan.execute(A, ctx.array(b))
    assert plan.iterations == 3
    b[7] = np.nan
    with pytest.raises(kkc.Refused, match="b holds NaN or infinity in row 7"):
        plan.execute(A, ctx.array(b))
    b[7] = 1
    plan.set_preconditioner("jacobi")
    dense[5, 5] = 0
    singular = sparse(ctx, dense)
    with pytest.raises(kkc.Refused, match="A has no diagonal entry in row 5"):
        without = ctx.krylov_plan(singular, method="gmres")
        without.set_preconditioner("jacobi")
        without.execute(singular, ctx.array(b))
    with pytest.raises(ValueError, match="kind is 'ssor'"):
        plan.set_preconditioner("ssor")
    with pytest.raises(kkc.Failed, match="not Hermitian positive definite"):
        ctx.krylov_plan(singular).execute(sparse(ctx, -dense), ctx.array(b))

