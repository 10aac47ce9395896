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


def entries(A):
    """A as a dense array on the host."""
    offsets, indices, values = (np.array(a) for a in A.copy(kkc.Context("serial")).arrays())
    dense = np.zeros(A.shape, values.dtype)
    dense[np.repeat(np.arange(A.rows), np.diff(offsets)), indices] = values
    return dense


@pytest.mark.parametrize("uplo, diag", [("lower", "stored"), ("upper", "stored"), ("lower", "unit"), ("upper", "unit")])
@pytest.mark.parametrize("op", ["N", "T", "H"])
def test_sptrsv_is_numpys_solve(ctx, uplo, diag, op):
    A, dense = grid(ctx, upwind=0.3)
    triangle = np.tril(dense) if uplo == "lower" else np.triu(dense)
    if diag == "unit":
        np.fill_diagonal(triangle, 1)
    b = np.random.default_rng(2).standard_normal((ROWS, 3))
    expected = np.linalg.solve(triangle if op == "N" else triangle.T, 2 * b)
    plan = ctx.sptrsv_plan(A, uplo, op, diag)
    x = plan.execute(A, ctx.array(b[:, 0].copy()), alpha=2)
    plan.check()
    # Ones on the diagonal make solutions grow: errors are relative to the largest.
    size = np.abs(expected).max()
    assert np.allclose(x.numpy(), expected[:, 0], rtol=0, atol=1e-10 * size)
    views = ctx.array(b), ctx.empty((ROWS, 3))
    many = ctx.sptrsv_plan(A, uplo, op, diag, *views)
    assert np.allclose(many.execute(A, *views, alpha=2).numpy(), expected, rtol=0, atol=1e-10 * size)
    assert plan.info["operation"] == "sptrsv"


def test_factorizations(ctx):
    A, dense = grid(ctx)
    pattern = dense != 0
    plan = ctx.ilu_plan(A)
    LU = entries(plan.execute(A))
    plan.check()
    product = (np.tril(LU, -1) + np.eye(ROWS)) @ np.triu(LU)
    assert np.allclose(product[pattern], dense[pattern]) and not (LU[~pattern]).any()
    L = entries(ctx.ic_plan(A).execute(A))
    assert np.allclose((L @ L.T)[pattern], dense[pattern])
    more = ctx.ilu_plan(A, level=ROWS)
    full = entries(more.execute(A))
    assert more.output_nnz > plan.output_nnz
    assert np.allclose((np.tril(full, -1) + np.eye(ROWS)) @ np.triu(full), dense)


def test_krylov_with_factors(ctx):
    A, dense = grid(ctx, shift=0.01)
    b = ctx.array(np.random.default_rng(3).standard_normal(ROWS))
    iterations = {}
    for method, kind, make in (("cg", "cholesky", ctx.ic_plan), ("bicgstab", "lu", ctx.ilu_plan), ("gmres", "lu", ctx.ilu_plan)):
        plan = ctx.krylov_plan(A, method=method, restart=100)
        plan.set_preconditioner("jacobi")
        plan.execute(A, b)
        iterations[method] = [plan.iterations]
        plan.set_preconditioner(kind, make(A).execute(A))
        x = plan.execute(A, b)
        iterations[method].append(plan.iterations)
        assert np.linalg.norm(b.numpy() - dense @ x.numpy()) <= 1.1e-8 * np.linalg.norm(b.numpy())
        assert plan.info["preconditioner"] == kind
    assert all(factors <= 0.6 * jacobi for jacobi, factors in iterations.values()), iterations


def test_krylov_with_factors_by_threshold(host):
    A, dense = grid(host, shift=0.01, upwind=0.2)
    b = host.array(np.ones(ROWS))
    plan = host.krylov_plan(A, method="bicgstab")
    plan.execute(A, b)
    plain = plan.iterations
    L, U = host.ilut_plan(A, fill=3.0).execute(A)
    assert not np.triu(entries(L)).any() and not np.tril(entries(U), -1).any()
    plan.set_preconditioner("lu", L, U)
    x = plan.execute(A, b)
    assert 2 * plan.iterations <= plain
    assert np.allclose(x.numpy(), np.linalg.solve(dense, np.ones(ROWS)), rtol=1e-5)


def test_singular_pivots_and_missing_diagonals(ctx):
    singular = sparse(ctx, np.array([[1.0, 2], [2, 4]]))
    with pytest.raises(kkc.Failed) as caught:
        plan = ctx.ilu_plan(singular)
        plan.execute(singular)
        plan.check()
    assert caught.value.status == 101
    missing = sparse(ctx, np.array([[4.0, 1], [1, 0]]))
    for make in (ctx.ilu_plan, ctx.ic_plan, ctx.sptrsv_plan):
        with pytest.raises(kkc.Refused, match="row 1"):
            make(missing)
