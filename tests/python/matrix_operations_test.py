"""Transposition, sorted rows, coordinates, diagonal and scaling, beside dense NumPy arrays."""
import numpy as np
import pytest

import kkc

ROWS, COLS = 40, 30


def unsorted(ctx):
    """Rows in no order with duplicates; and the entries on the host."""
    rng = np.random.default_rng(3)
    lengths = rng.integers(0, 9, ROWS)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    indices = rng.integers(0, COLS, offsets[-1]).astype(np.int32)
    values = rng.standard_normal(offsets[-1])
    A = ctx.csr_copy(row_offsets=offsets, col_indices=indices, values=values, shape=(ROWS, COLS))
    return A, np.repeat(np.arange(ROWS), lengths), indices, values


def dense_of(rows, cols, values, shape=(ROWS, COLS)):
    result = np.zeros(shape)
    np.add.at(result, (rows, cols), values)
    return result


def entries(A):
    """Rows, columns and values on the host."""
    offsets, indices, values = (np.array(a) for a in A.copy(kkc.Context("serial")).arrays())
    return np.repeat(np.arange(A.rows), np.diff(offsets)), indices, values


def dense(A):
    return dense_of(*entries(A), shape=A.shape)


def test_transpose_keeps_its_plan(ctx):
    A, *host = unsorted(ctx)
    expected = dense_of(*host).T
    plan = ctx.transpose_plan(A)
    C = plan.execute(A)
    ctx.synchronize()
    assert np.allclose(dense(C), expected)
    ctx.scale(A, row_factors=ctx.array(np.full(ROWS, 2.0)))
    assert plan.execute(A, C) is C
    ctx.synchronize()
    assert np.allclose(dense(C), 2 * expected)
    assert plan.info["operation"] == "transpose"
    with pytest.raises(kkc.Refused, match="C is 40 x 30"):
        plan.execute(A, A)


def test_sorted_rows(ctx):
    A, rows, cols, values = unsorted(ctx)
    plan = ctx.sort_rows_plan(A)
    C = plan.execute(A)
    order = plan.permutation().numpy()
    assert "sorted" in C.validate()
    assert np.array_equal(entries(C)[2], values[order])
    assert np.array_equal(order, np.lexsort((cols, rows)))
    merged = ctx.sort_rows_plan(A, duplicates="add")
    with pytest.raises(kkc.Refused, match="duplicates"):
        merged.permutation()
    C = merged.execute(A)
    ctx.synchronize()
    assert {"sorted", "no_duplicates"} <= C.validate()
    assert np.allclose(dense(C), dense_of(rows, cols, values))


def test_coordinates_and_back(ctx):
    A, rows, cols, values = unsorted(ctx)
    assert np.array_equal(ctx.csr_to_coo(A).numpy(), rows)
    turned = [ctx.array(a[::-1].copy()) for a in (rows, cols.astype(np.int64), values)]
    C = ctx.coo_to_csr_plan(ROWS, COLS, *turned[:2]).execute(turned[2])
    ctx.synchronize()
    assert np.allclose(dense(C), dense_of(rows, cols, values))
    with pytest.raises(kkc.Refused, match=r"row_indices\[\d+\] is"):
        ctx.coo_to_csr_plan(5, COLS, *turned[:2])


def test_diagonal_and_scale(ctx):
    A, *host = unsorted(ctx)
    assert np.allclose(ctx.diagonal(A).numpy(), dense_of(*host).diagonal())
    r, s = np.arange(float(ROWS)), np.arange(float(COLS))
    assert ctx.scale(A, ctx.array(r), ctx.array(s)) is A
    ctx.synchronize()
    assert np.allclose(dense(A), r[:, None] * dense_of(*host) * s)


def test_sums_of_rows_in_any_order(ctx):
    """Unsorted rows with duplicates: plus the transpose, and plus a shift of the diagonal."""
    rng = np.random.default_rng(5)
    n = 60
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 200, n))]).astype(np.int32)  # short rows and long ones
    A = ctx.csr_copy(row_offsets=offsets, col_indices=rng.integers(0, n, offsets[-1]).astype(np.int32),
                     values=rng.uniform(-1, 1, offsets[-1]), shape=(n, n))
    places = np.arange(n + 1, dtype=np.int32)
    unit = ctx.csr_copy(row_offsets=places, col_indices=places[:-1], values=np.ones(n), shape=(n, n))
    a = dense(A)
    for options in ({}, {"rows": "unsorted"}):
        plan = ctx.spadd_plan(A, A, op_B="T", **options)
        C = plan.execute(A, A, alpha=2, beta=-1)
        ctx.synchronize()
        assert np.allclose(dense(C), 2 * a - a.T)
        C = ctx.spadd_plan(A, unit, **options).execute(A, unit, beta=0.5)
        ctx.synchronize()
        assert np.allclose(dense(C), a + 0.5 * np.eye(n))
        assert {"sorted", "no_duplicates", "full_diagonal"} <= C.validate()
    with pytest.raises(kkc.Refused, match="A: row"):
        ctx.spadd_plan(A, unit, rows="sorted")


def test_compressed_columns(ctx):
    """Columns are the rows of the transpose: from rows and back, and from coordinates."""
    A, rows, cols, values = unsorted(ctx)
    by_columns = ctx.transpose_plan(A).execute(A)
    back = ctx.transpose_plan(by_columns).execute(by_columns)
    ctx.synchronize()
    assert np.allclose(dense(back), dense(A))
    turned = [ctx.array(a) for a in (cols, rows.astype(np.int32), values)]
    made = ctx.coo_to_csr_plan(COLS, ROWS, *turned[:2]).execute(turned[2])
    ctx.synchronize()
    assert np.allclose(dense(made), dense_of(rows, cols, values).T)
