"""Contexts, views, matrices and plans from Python."""
import ctypes
import gc
import json
import weakref

import kkc
import numpy as np
import pytest

ELEMENTS = ["uint8", "int32", "int64", "float32", "float64", "complex64", "complex128"]


def small(ctx, name="lap3d7", **options):
    return ctx.matrix_generate(name, **{"nx": 6, "ny": 5, "nz": 4, **options})


# ---- errors ----

def test_refusal_carries_status_name_and_sentence(ctx):
    with pytest.raises(kkc.Refused) as caught:
        small(ctx, colour="blue")
    assert caught.value.name == "KKC_STATUS_UNKNOWN_OPTION" and caught.value.status == 11
    assert "colour" in caught.value.sentence and "nx" in caught.value.sentence
    assert isinstance(caught.value, kkc.Error)


def test_closed_object_is_refused(ctx):
    with small(ctx) as A:
        pass
    with pytest.raises(ValueError, match="closed"):
        A.info


def test_unknown_names_are_listed():
    with pytest.raises(ValueError, match="serial, openmp, cuda, hip"):
        kkc.Context("toaster")


def test_missing_file(ctx):
    with pytest.raises(kkc.Refused, match="nowhere.mtx"):
        ctx.matrix_read("nowhere.mtx")


def test_library_wide_questions():
    assert kkc.device_count("serial") == 1
    assert kkc.implementations("serial", "spmv")[-1] == "reference"
    assert kkc.supports("serial", "spmv", "f64", "32_32")
    with pytest.raises(kkc.Refused, match="spmv"):
        kkc.implementations("serial", "spvm")


# ---- views ----

@pytest.mark.parametrize("dtype", ELEMENTS)
@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 3, 4, 2)])
def test_host_array_is_wrapped_where_it_is(host, dtype, shape):
    a = np.zeros(shape, dtype)
    view = host.view(a)
    assert view.shape == shape and view.info.address == a.ctypes.data
    host.fill(3, view)
    assert (a == 3).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_layouts_and_strides(ctx, order):
    a = np.asarray(np.arange(60.0).reshape(5, 12), order=order)
    for part in (a, a[1:4], a[:, 2:7], a[::2, ::3], a.T):
        copy = ctx.array(np.ascontiguousarray(part))
        back = np.zeros(part.shape)
        ctx.copy(copy, back)
        ctx.synchronize()
        assert (back == part).all()
    target = np.zeros((10, 24), order=order)
    ctx.copy(ctx.array(a), target[::2, ::2])
    ctx.synchronize()
    assert (target[::2, ::2] == a).all() and target.sum() == a.sum()


@pytest.mark.parametrize("dim", [0, 1])
def test_scan(ctx, dim):
    a = np.arange(12, dtype="int32").reshape(3, 4)
    x = ctx.array(a)
    assert (ctx.scan(x, dim=dim).numpy() == a.cumsum(axis=dim)).all()
    wide = ctx.scan(x, ctx.empty(a.shape, "i64"), dim=dim, exclusive=True)
    assert (wide.numpy() == a.cumsum(axis=dim) - a).all()
    assert ctx.scan(x, x, dim=dim) is x
    assert (x.numpy() == a.cumsum(axis=dim)).all()


def test_sort(ctx):
    a = np.array([[3.0, -1.0, np.nan, -0.0, 0.0], [2.0, 2.0, 1.0, np.inf, -np.inf]])
    for name in kkc.implementations(ctx.device, "view_sort"):
        keys, places = ctx.array(a), ctx.empty(a.shape, "i32")
        plan = ctx.sort_plan(keys, keys, None, places, dim=1, order="descending", implementation=name)
        plan.sort(keys, keys, None, places)
        assert (places.numpy() == [[2, 0, 3, 4, 1], [3, 0, 1, 2, 4]]).all(), name
        assert np.array_equal(keys.numpy(), [[np.nan, 3, 0, 0, -1], [np.inf, 2, 2, 1, -np.inf]], equal_nan=True)
        values = ctx.array(np.arange(10.0).reshape(2, 5))
        plan = ctx.sort_plan(places, None, values, values, dim=1)
        plan.sort(places, None, values, values)
        assert (values.numpy() == [[1, 4, 0, 2, 3], [6, 7, 8, 5, 9]]).all()


def test_read_only_array_is_no_output(host):
    a = np.ones(3)
    a.flags.writeable = False
    assert host.dot(a, a) == 3
    with pytest.raises(ValueError, match="read-only"):
        host.fill(0, a)
    view = host.view(a)
    with pytest.raises(kkc.Refused):
        host.fill(0, view)


def test_unknown_element_type(host):
    with pytest.raises(TypeError, match="f2"):
        host.view(np.zeros(3, "float16"))
    with pytest.raises(TypeError, match="str"):
        host.view("text")


def test_created_view_is_shown_to_numpy_without_a_copy(host):
    view = host.fill(2.5, host.empty((3, 2), "f32", layout="left"))
    a = view.numpy()
    assert a.dtype == np.float32 and a.flags.f_contiguous and (a == 2.5).all()
    host.fill(1, view)
    assert (a == 1).all()
    assert np.asarray(view).ctypes.data == view.info.address


def test_numpy_array_outlives_its_view(host):
    view = host.fill(7, host.empty(1000))
    a = view.numpy()
    view.close()
    del view
    gc.collect()
    host.fill(0, host.empty(1000))
    assert (a == 7).all()


def test_view_keeps_the_array_alive(host):
    class Array(np.ndarray):
        pass

    a = np.ones(4).view(Array)
    alive = weakref.ref(a)
    view = host.view(a)
    del a
    gc.collect()
    assert alive() is not None and host.norm2(view) == 2
    del view
    gc.collect()
    assert alive() is None


def test_sub_view_and_mirror(ctx):
    view = ctx.array(np.arange(12.0).reshape(3, 4))
    assert (view.sub((1, 0), (-1, 4)).numpy() == [4, 5, 6, 7]).all()
    assert (view.sub((0, 1), (3, 2)).numpy() == [[1, 2], [5, 6], [9, 10]]).all()
    assert view.mirror("host").shape == (3, 4)
    with pytest.raises(ValueError):
        view.sub((0,), (1,))


class Dlpack:
    """Offers DLPack only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.skipif(not hasattr(np.ndarray, "__dlpack__"), reason="this NumPy has no DLPack")
def test_dlpack(host):
    a = np.arange(12.0).reshape(3, 4)
    view = host.view(Dlpack(a))
    assert view.info.address == a.ctypes.data and view.shape == (3, 4)
    assert host.norm2(host.view(Dlpack(a.ravel()))) == pytest.approx(np.linalg.norm(a))
    assert host.view(Dlpack(a[::2, 1:])).info.strides == (8, 1)


def test_cuda_array_interface_is_read(host):
    class Device:
        __cuda_array_interface__ = {"shape": (3, 2), "typestr": "<f4", "data": (0x7000_0000_0000, True), "version": 3,
                                    "strides": (4, 12)}

    from kkc._arrays import describe, layout_of
    info = describe(Device())
    assert info.address == 0x7000_0000_0000 and info.readonly and info.shape == (3, 2) and info.strides == (1, 3)
    assert layout_of(info.shape, info.strides) == 1
    with pytest.raises(kkc.Refused):
        host.view(Device())


def test_view_files(ctx, tmp_path):
    a = np.array([[1.0, 0.1], [-3.0, 1e-300]])
    ctx.array(a).write(tmp_path / "dense.mtx")
    assert (ctx.view_read(tmp_path / "dense.mtx").numpy() == a).all()


# ---- matrices ----

def test_scipy_matrix_is_borrowed(host):
    sparse = pytest.importorskip("scipy.sparse")
    S = sparse.random(50, 30, 0.2, format="csr", random_state=1)
    A = host.csr(S)
    assert A.shape == (50, 30) and A.nnz == S.nnz
    assert [a.ctypes.data for a in A.arrays()] == [a.ctypes.data for a in (S.indptr, S.indices, S.data)]
    x = np.linspace(0, 1, 30)
    assert np.allclose(A @ x, S @ x)
    S.data *= 2
    assert np.allclose(A @ x, S @ x)


def test_matrix_becomes_scipy_without_a_copy(host):
    pytest.importorskip("scipy")
    A = small(host)
    S = A.scipy()
    assert S.shape == A.shape and S.data.ctypes.data == A.arrays()[2].ctypes.data
    A.close()
    del A
    gc.collect()
    assert S.sum() == pytest.approx(0.5 * S.shape[0])


def test_matrix_on_any_device(ctx):
    sparse = pytest.importorskip("scipy.sparse")
    S = sparse.random(40, 40, 0.1, format="csr", random_state=2)
    A = ctx.csr_copy(S)
    x = ctx.array(np.arange(40.0))
    assert np.allclose((A @ x).numpy(), S @ np.arange(40.0))


def test_matrix_from_arrays_that_count_from_one(host):
    A = host.csr(row_offsets=np.array([1, 3, 4], "i4"), col_indices=np.array([1, 3, 2], "i4"), values=np.array([10.0, 20, 30]),
                 shape=(2, 3), base=1)
    assert (A @ np.array([1.0, 2, 3]) == [70, 60]).all()
    A.set_arrays(np.array([1, 3, 4], "i4"), np.array([1, 3, 2], "i4"), np.array([1.0, 1, 1]))
    gc.collect()
    assert (A @ np.array([1.0, 2, 3]) == [4, 2]).all()
    with pytest.raises(TypeError):
        A.set_arrays(np.array([1, 3, 4], "i4"), np.array([1, 3, 2], "i4"), np.array([1, 1, 1], "f4"))


@pytest.mark.parametrize("arrays, error", [
    (dict(row_offsets=np.array([0, 1], "i4"), col_indices=np.array([0], "i8"), values=np.ones(1), shape=(1, 1)), TypeError),
    (dict(row_offsets=np.array([0, 1], "i4"), col_indices=np.array([0], "i4"), values=np.ones(2), shape=(1, 1)), ValueError),
    (dict(row_offsets=np.array([0, 1], "i4"), col_indices=np.array([0], "i4"), values=np.ones(1), shape=(2, 1)), ValueError),
    (dict(row_offsets=np.array([0, 2], "i4"), col_indices=np.array([0, 0, 1], "i4")[::2], values=np.ones(2), shape=(1, 2)), ValueError),
    (dict(row_offsets=np.array([0, 5], "i4"), col_indices=np.array([0], "i4"), values=np.ones(1), shape=(1, 1)), kkc.Refused),
])
def test_bad_arrays_are_refused(host, arrays, error):
    with pytest.raises(error):
        host.csr(**arrays)


def test_facts(ctx):
    A = small(ctx)
    assert A.info["symmetric_pattern"] == 1 and A.info["rows"] == 120
    assert A.validate() == {"sorted", "no_duplicates", "full_diagonal", "symmetric_pattern"}
    assert A.copy().nnz == A.nnz
    L = A.laplacian(1.0)
    ones = ctx.fill(1.0, ctx.empty(L.cols))
    assert np.allclose((L @ ones).numpy(), 1)


def test_matrix_files(ctx, tmp_path):
    A = small(ctx)
    A.write(tmp_path / "a.mtx.gz", symmetry="symmetric", comment="from a test")
    B = ctx.matrix_read(tmp_path / "a.mtx.gz")
    assert B.nnz == A.nnz
    x = ctx.array(np.arange(120.0))
    assert ((A @ x).numpy() == (B @ x).numpy()).all()
    assert ctx.matrix_read(tmp_path / "a.mtx.gz", dtype="none").scalar == 0


# ---- operations ----

@pytest.mark.parametrize("shape", [(50,), (50, 3)])
def test_dot_norm_and_axpby(ctx, shape):
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal(shape), rng.standard_normal(shape)
    x, y = ctx.array(a), ctx.array(b)
    assert np.allclose(ctx.dot(x, y), (a * b).sum(0))
    assert np.allclose(ctx.norm2(x), np.linalg.norm(a, axis=0))
    out = ctx.empty(shape[1:])
    assert ctx.dot(x, y, out=out) is out and np.allclose(out.numpy(), (a * b).sum(0))
    ctx.axpby(2, x, -1, y)
    assert np.allclose(y.numpy(), 2 * a - b)


@pytest.mark.skipif(not kkc.supports("serial", "spmv", "c128"), reason="this build has no c128 kernels")
def test_complex(ctx):
    a = np.array([1 + 2j, 3 - 1j])
    x = ctx.array(a)
    assert ctx.dot(x, x) == pytest.approx((a * a).sum())
    assert ctx.dot(x, x, conjugate=True) == pytest.approx(15)
    assert ctx.norm2(x) == pytest.approx(15 ** 0.5)
    ctx.axpby(1j, x, 0, x)
    assert np.allclose(x.numpy(), 1j * a)


@pytest.mark.parametrize("op", ["N", "T", "conj", "H"])
@pytest.mark.parametrize("vectors", [1, 3])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_implementation(ctx, op, vectors, order):
    A = ctx.matrix_generate("rand", rows=60, cols=40, per_row=5)
    dense = np.zeros(A.shape)
    host = kkc.Context("serial")
    offsets, indices, values = A.copy(host).arrays()
    for i in range(A.rows):
        np.add.at(dense[i], indices[offsets[i]:offsets[i + 1]], values[offsets[i]:offsets[i + 1]])
    if op in ("T", "H"):
        dense = dense.T
    rng = np.random.default_rng(4)
    shape = (vectors,) if vectors > 1 else ()
    a = np.asarray(rng.standard_normal((dense.shape[1],) + shape), order=order)
    b = np.asarray(rng.standard_normal((dense.shape[0],) + shape), order=order)
    x = ctx.array(a)
    taken = 0
    for name in kkc.implementations(ctx.device, "spmv"):
        y = ctx.array(b)
        try:
            plan = ctx.spmv_plan(A, x, y, op, implementation=name)
        except kkc.Refused as error:
            assert error.name == "KKC_STATUS_NOT_SUPPORTED"
            continue
        taken += 1
        plan.execute(A, x, y, alpha=2, beta=-0.5)
        assert np.allclose(y.numpy(), 2 * dense @ a - 0.5 * b), name
        plan.check()
    assert taken > 0


def test_plan(ctx):
    A = small(ctx)
    plan = ctx.spmv_plan(A, implementation="reference")
    info = plan.info
    assert info["implementation"] == "reference" and info["operation"] == "spmv"
    assert plan.workspace_size >= 0
    with pytest.raises(kkc.Refused, match="x"):
        plan.execute(A, ctx.empty(7), ctx.empty(A.rows))


def test_arrays_work_in_place_of_views(host):
    A = small(host)
    x, y = np.ones(A.cols), np.empty(A.rows)
    assert host.spmv_plan(A, x, y).execute(A, x, y) is y
    assert np.allclose(y, 0.5)


def test_tuning_record(ctx):
    record = ctx.tuning_export()
    json.loads(record)
    ctx.tuning_import(record)
    with pytest.raises(kkc.Refused):
        ctx.tuning_import("no record")


# ---- lifetimes ----

def test_objects_end_in_any_order():
    ctx = kkc.Context("serial")
    A = small(ctx)
    plan = ctx.spmv_plan(A)
    x, y = ctx.empty(A.cols), ctx.empty(A.rows)
    ctx.fill(1, x)
    ctx.close()
    plan.execute(A, x, y)
    assert np.allclose(y.numpy(), 0.5)
    for thing in (plan, A, y, x):
        thing.close()


def test_spadd_of_a_matrix_and_its_transpose():
    def dense(X):
        offsets, columns, values = X.arrays()
        full = np.zeros(X.shape)
        for row in range(X.rows):
            for k in range(offsets[row] - X.base, offsets[row + 1] - X.base):
                full[row, columns[k] - X.base] += values[k]
        return full

    with kkc.Context("serial") as ctx:
        A = ctx.matrix_generate("rand", rows=40, cols=40, per_row=4)
        plan = ctx.spadd_plan(A, A, op_A="T", base=1)
        C = plan.execute(A, A, alpha=2, beta=-1)
        assert plan.info["operation"] == "spadd" and plan.output_nnz == C.nnz and C.base == 1
        assert np.allclose(dense(C), 2 * dense(A).T - dense(A))
        assert plan.execute(A, A, C, beta=0) is C
        assert np.allclose(dense(C), dense(A).T)
        with pytest.raises(kkc.Refused):
            ctx.spadd_plan(A, A, rows="tidy")


def test_jacobi_step_on_a_matrix(host):
    pytest.importorskip("scipy")
    A = host.matrix_generate("rand", rows=30, cols=30, per_row=4, diagonal="dominant")
    B = host.matrix_generate("rand", rows=30, cols=8, per_row=2)
    a, b = A.scipy().toarray(), B.scipy().toarray()
    plan = host.spgemm_jacobi_plan(A, B)
    C = plan.execute(A, B, omega=0.5)
    assert plan.info["operation"] == "spgemm_jacobi" and plan.output_nnz == C.nnz
    np.testing.assert_allclose(C.scipy().toarray(), b - 0.5 * (a @ b) / a.diagonal()[:, None], atol=1e-13)
    inverse = np.linspace(1, 2, 30)
    assert plan.execute(A, B, C, omega=2, dinv=inverse) is C
    np.testing.assert_allclose(C.scipy().toarray(), b - 2 * inverse[:, None] * (a @ b), atol=1e-11)
    host.scale(A, np.zeros(30))
    with pytest.raises(kkc.Failed) as error:
        plan.execute(A, B, C)
    assert error.value.name == "KKC_STATUS_ZERO_PIVOT"


def test_allocator_serves_the_context():
    libc = ctypes.CDLL(None)
    libc.aligned_alloc.restype, libc.aligned_alloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t] * 2
    libc.free.argtypes = [ctypes.c_void_p]
    live = {}

    def alloc(size, space, stream):
        address = libc.aligned_alloc(256, (size + 255) // 256 * 256)
        live[address] = size
        return address

    def free(address, size, space, stream):
        assert live.pop(address) == size
        libc.free(address)

    with kkc.Context("serial", allocator=kkc.Allocator(alloc, free)) as ctx:
        with ctx.empty(1000) as view:
            assert view.info.address in live
        small(ctx).close()
    gc.collect()
    assert not live


def test_product_of_sparse_matrices(host):
    A = host.matrix_generate("lap2d5", nx=7, ny=5)
    dense = A.scipy().toarray()
    plan = host.spgemm_plan(A, A, op_B="T")
    C = plan.execute(A, A, alpha=2)
    assert plan.info["products"] >= plan.output_nnz == C.nnz
    np.testing.assert_allclose(C.scipy().toarray(), 2 * dense @ dense.T)
    plan.execute(A, A, C, alpha=-1, beta=0.5)
    np.testing.assert_allclose(C.scipy().toarray(), 0, atol=1e-12)
    with host.spgemm_plan(A, A, mask=A) as masked:
        np.testing.assert_allclose(masked.execute(A, A).scipy().toarray(), dense @ dense * (dense != 0))
    with pytest.raises(ValueError, match="beta"):
        plan.execute(A, A, beta=1)


def test_out_of_memory_is_a_failure():
    def nothing(size, space, stream):
        return 0

    try:
        ctx = kkc.Context("serial", allocator=kkc.Allocator(nothing, lambda *_: None))
        ctx.empty(1000)
    except kkc.Failed as error:
        assert error.name == "KKC_STATUS_OUT_OF_MEMORY"
    else:
        pytest.fail("an allocator without memory was not noticed")


# ---- what would go wrong without a word ----

def test_only_compressed_rows_are_taken_as_rows(host):
    sparse = pytest.importorskip("scipy.sparse")
    S = sparse.csr_matrix(np.array([[1.0, 2.0], [0.0, 3.0]]))
    assert (host.csr(S) @ np.ones(2) == [3, 3]).all()
    for other in (S.tocsc(), S.tocoo(), S.tobsr(), S.toarray()):
        for take in (host.csr, host.csr_copy):
            with pytest.raises(TypeError, match="expected csr"):
                take(other)


def test_product_after_set_arrays_is_of_the_new_pattern(ctx):
    if not ctx.on_host:
        pytest.skip("arrays of the host")
    n = 3000
    generator = np.random.default_rng(1)
    lengths = generator.integers(0, 12, n)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype("int32")
    nnz = int(offsets[-1])
    columns = generator.integers(0, n, nnz, "int32")
    A = ctx.csr(row_offsets=offsets, col_indices=columns, values=np.ones(nnz), shape=(n, n))
    assert (A @ np.ones(n) == lengths).all()
    last = np.zeros(n + 1, "int32")
    last[-1] = nnz
    A.set_arrays(last, columns, np.ones(nnz))
    y = A @ np.ones(n)
    assert y[-1] == nnz and (y[:-1] == 0).all()


def test_numbers_of_other_types_as_options(host):
    from decimal import Decimal
    A = host.csr_copy(row_offsets=np.array([0, 1], "int32"), col_indices=np.zeros(1, "int32"), values=np.ones(1), shape=(1, 1))
    for shift in (0.5, np.float32(0.5), np.float64(0.5), np.float16(0.5), Decimal("0.5")):
        assert host.ilu_plan(A, shift=shift).execute(A).arrays()[2][0] == 1.5
    for level in (1, np.int32(1), np.uint8(1), True, np.bool_(True)):
        assert host.ilu_plan(A, level=level).info["level"] == 1
    for nothing in (None, b"reference", [1]):
        with pytest.raises(TypeError, match="option implementation"):
            host.spmv_plan(A, implementation=nothing)


def test_numbers_that_an_integer_view_does_not_hold(host):
    for dtype, number in (("uint8", 300), ("uint8", -1), ("int32", 2**40), ("int32", 1.7), ("int64", 2**63)):
        a = np.zeros(2, dtype)
        with pytest.raises(ValueError, match="does not hold"):
            host.fill(number, a)
        assert (a == 0).all()
    assert (host.fill(3.0, np.zeros(2, "int32")) == 3).all()


def test_coefficient_is_one_number(host):
    x = np.ones(3)
    assert (host.axpby(np.array(2.0), x, 0, x.copy()) == 2).all()
    with pytest.raises(ValueError, match="2 elements"):
        host.axpby(np.array([2.0, 3.0]), x, 0, x.copy())


def test_read_only_memory_stays_read_only(host):
    view = host.view(np.broadcast_to(1.0, 6))
    for part in (view, view.sub([1], [2]), view.retain()):
        assert not part.numpy().flags.writeable
    assert host.view(np.ones(2)).numpy().flags.writeable
