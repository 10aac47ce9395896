"""Contexts, and everything done on them."""
from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Callable, Sequence

from . import _capi as c
from ._arrays import describe, layout_of, number, numbers, scalar_of, values_of
from ._library import call, capi
from ._matrix_operations import MatrixOperations
from ._objects import (INDEX_PAIRS, SPACES, Allocator, Matrix, OptionValue, Plan, SortPlan, SpaddPlan, SpgemmJacobiPlan, SpgemmPlan,
                       View, choose, int64s, options_of)
from ._solvers import OPS, Solvers

DEVICES = {"serial": c.KKC_DEVICE_SERIAL, "openmp": c.KKC_DEVICE_OPENMP, "cuda": c.KKC_DEVICE_CUDA, "hip": c.KKC_DEVICE_HIP}
LAYOUTS = {"left": c.KKC_LAYOUT_LEFT, "right": c.KKC_LAYOUT_RIGHT}
_PAIRS = {(c.KKC_TYPE_I32, c.KKC_TYPE_I32): c.KKC_INDEX_32_32, (c.KKC_TYPE_I32, c.KKC_TYPE_I64): c.KKC_INDEX_32_64,
          (c.KKC_TYPE_I64, c.KKC_TYPE_I64): c.KKC_INDEX_64_64}


class _CsrArrays:
    """Three arrays of a matrix, kept alive."""

    def __init__(self, row_offsets: Any, col_indices: Any, values: Any, space: int):
        infos = [None if a is None else a.info if isinstance(a, View) else describe(a)
                 for a in (row_offsets, col_indices, values)]
        for info in infos:
            if info is None:
                continue
            if len(info.shape) != 1 or layout_of(info.shape, info.strides) != c.KKC_LAYOUT_RIGHT:
                raise ValueError("the arrays of a matrix must be one-dimensional and without gaps")
            if space == c.KKC_SPACE_HOST and info.space == c.KKC_SPACE_DEVICE:
                raise ValueError("the arrays lie on a GPU, and this context is a host's")
            if space == c.KKC_SPACE_DEVICE and info.space == c.KKC_SPACE_HOST:
                raise ValueError("the arrays lie on the host, and this context is a GPU's: use csr_copy")
        offsets, indices, numbers_ = infos
        assert offsets is not None and indices is not None
        if (indices.scalar, offsets.scalar) not in _PAIRS:
            raise TypeError("col_indices and row_offsets must be integers of 32/32, 32/64 or 64/64 bits")
        if offsets.size < 1:
            raise ValueError("row_offsets is empty, expected rows + 1 entries")
        if numbers_ is not None and numbers_.size != indices.size:
            raise ValueError(f"values has {numbers_.size} entries and col_indices {indices.size}")
        self.infos = infos
        self.pair = _PAIRS[indices.scalar, offsets.scalar]
        self.scalar = c.KKC_TYPE_NONE if numbers_ is None else numbers_.scalar
        self.rows, self.nnz = offsets.size - 1, indices.size
        self.addresses = [0 if info is None else info.address for info in infos]


class Context(MatrixOperations, Solvers):
    """A device and its stream: Context("openmp"), Context("cuda", 0). Options as keywords, e.g. threads=4."""

    _kind = "context"

    def __init__(self, device: str | int = "openmp", device_id: int = 0, allocator: Allocator | None = None,
                 **options: OptionValue):
        self.device = choose(device, DEVICES, "device")
        self.on_host = self.device in (c.KKC_DEVICE_SERIAL, c.KKC_DEVICE_OPENMP)
        self.space = c.KKC_SPACE_HOST if self.on_host else c.KKC_SPACE_DEVICE
        self._device_scalars = options.get("scalars") == "device"
        self._results: dict[Any, View] = {}
        handle = ctypes.c_void_p()
        call("kkc_context_create", self.device, device_id, allocator, options_of(options), ctypes.byref(handle))
        self._own(handle, allocator)

    def close(self) -> None:
        self._results.clear()
        super().close()

    @property
    def info(self) -> dict[str, Any]:
        text = ctypes.c_char_p()
        call("kkc_context_info", self, ctypes.byref(text))
        return json.loads(text.value or b"{}")

    def set_stream(self, stream: int | None) -> None:
        """Later work goes to this cudaStream_t or hipStream_t (its address); None: the context's own."""
        call("kkc_context_set_stream", self, stream)

    def synchronize(self) -> None:
        call("kkc_context_synchronize", self)

    # ---- views ----

    def view(self, array: Any, output: bool = False) -> View:
        """A view over an array's own memory: NumPy, anything with __cuda_array_interface__, __array_interface__ or DLPack.
        A view is returned as it is. Read-only arrays give views that are refused as outputs."""
        if isinstance(array, View):
            return array
        info = describe(array)
        if output and info.readonly:
            raise ValueError("the array is read-only, and an output is needed")
        layout = layout_of(info.shape, info.strides)
        strides = int64s(info.strides or ()) if layout == c.KKC_LAYOUT_STRIDED else None
        handle = ctypes.c_void_p()
        call("kkc_view_wrap_const" if info.readonly else "kkc_view_wrap", self, info.scalar, len(info.shape),
             int64s(info.shape), layout, strides, info.space, info.address if info.size else None, ctypes.byref(handle))
        return View(self, handle, info.owner, info.readonly)

    def empty(self, shape: int | Sequence[int], dtype: Any = "f64", layout: str | int = "right",
              space: str | int | None = None) -> View:
        """A new view; its elements are not initialised. On a GPU in device memory unless said otherwise."""
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        handle = ctypes.c_void_p()
        call("kkc_view_create", self, scalar_of(dtype), len(shape), int64s(shape), choose(layout, LAYOUTS, "layout"),
             self.space if space is None else choose(space, SPACES, "space"), ctypes.byref(handle))
        return View(self, handle)

    def array(self, values: Any, **keywords: Any) -> View:
        """A new view with a copy of an array's elements."""
        source = self.view(values)
        info = source.info
        layout = layout_of(info.shape, info.strides)
        keywords.setdefault("layout", c.KKC_LAYOUT_RIGHT if layout == c.KKC_LAYOUT_STRIDED else layout)
        view = self.empty(info.shape, info.scalar, **keywords)
        self.copy(source, view)
        return view

    def copy(self, source: Any, destination: Any) -> Any:
        """destination = source, between any two layouts and spaces; returns destination."""
        call("kkc_view_copy", self, self.view(source), self.view(destination, output=True))
        return destination

    def fill(self, value: Any, view: Any) -> Any:
        """Every element = value; returns the view."""
        target = self.view(view, output=True)
        call("kkc_view_fill", self, ctypes.byref(number(value, target.info.scalar)), target)
        return view

    def view_read(self, path: str | os.PathLike, dtype: Any = "f64", layout: str | int = "left") -> View:
        """A dense rank-2 view from a Matrix Market file."""
        handle = ctypes.c_void_p()
        call("kkc_view_read", self, os.fsencode(path), scalar_of(dtype), choose(layout, LAYOUTS, "layout"),
             ctypes.byref(handle))
        return View(self, handle)

    # ---- matrices ----

    def _csr_arrays(self, row_offsets: Any, col_indices: Any, values: Any, copied: bool = False) -> _CsrArrays:
        return _CsrArrays(row_offsets, col_indices, values, c.KKC_SPACE_HOST if copied else self.space)

    def _csr(self, function: str, matrix: Any, row_offsets: Any, col_indices: Any, values: Any, shape: Any,
             base: int) -> Matrix:
        if matrix is not None:
            kind = getattr(matrix, "format", "csr" if hasattr(matrix, "indptr") else type(matrix).__name__)
            if kind != "csr":  # CSC shows the same names, and would be taken for its transpose
                raise TypeError(f"the matrix is of format {kind}, expected csr (SciPy and CuPy: matrix.tocsr())")
            row_offsets, col_indices, values, shape = matrix.indptr, matrix.indices, matrix.data, matrix.shape
        copied = function == "kkc_csr_create_copy"
        arrays = self._csr_arrays(row_offsets, col_indices, values, copied)
        rows, cols = (arrays.rows, 0) if shape is None else shape
        if shape is None or rows != arrays.rows:
            raise ValueError(f"shape is {shape}, expected ({arrays.rows}, columns) for row_offsets of {arrays.rows + 1} entries")
        handle = ctypes.c_void_p()
        call(function, self, rows, cols, arrays.nnz, arrays.pair, arrays.scalar, base, *arrays.addresses,
             ctypes.byref(handle))
        return Matrix(self, handle, None if copied else arrays)

    def csr(self, matrix: Any = None, *, row_offsets: Any = None, col_indices: Any = None, values: Any = None,
            shape: tuple[int, int] | None = None, base: int = 0) -> Matrix:
        """A matrix over arrays of the caller, without a copy: from anything with indptr, indices, data and shape
        (scipy.sparse.csr_matrix and csr_array, cupyx.scipy.sparse), or from the arrays."""
        return self._csr("kkc_csr_create", matrix, row_offsets, col_indices, values, shape, base)

    def csr_copy(self, matrix: Any = None, *, row_offsets: Any = None, col_indices: Any = None, values: Any = None,
                 shape: tuple[int, int] | None = None, base: int = 0) -> Matrix:
        """The same from host arrays, copied to this device."""
        return self._csr("kkc_csr_create_copy", matrix, row_offsets, col_indices, values, shape, base)

    def matrix_read(self, path: str | os.PathLike, dtype: Any = "f64", index_pair: str | int = "32_32") -> Matrix:
        """From a Matrix Market file, .mtx or .mtx.gz; dtype "none" reads the pattern."""
        handle = ctypes.c_void_p()
        call("kkc_matrix_read", self, os.fsencode(path), choose(index_pair, INDEX_PAIRS, "index_pair"), scalar_of(dtype),
             ctypes.byref(handle))
        return Matrix(self, handle)

    def matrix_generate(self, name: str, dtype: Any = "f64", index_pair: str | int = "32_32", **options: OptionValue) -> Matrix:
        """A test matrix by name; options nx, ny, nz, rows, seed, ..."""
        handle = ctypes.c_void_p()
        call("kkc_matrix_generate", self, name.encode(), options_of(options),
             choose(index_pair, INDEX_PAIRS, "index_pair"), scalar_of(dtype), ctypes.byref(handle))
        return Matrix(self, handle)

    # ---- operations ----

    def _coefficients(self, alpha: Any, beta: Any, scalar: int) -> tuple[Any, Any]:
        """Numbers as elements; under scalars = "device" addresses, views or arrays of one element."""

        def one(value: Any) -> Any:
            if isinstance(value, View) or hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack__"):
                info = value.info if isinstance(value, View) else describe(value)
                if info.scalar != scalar:
                    raise TypeError("the coefficient's type is not that of the operands")
                if info.size != 1:
                    raise ValueError(f"the coefficient has {info.size} elements, expected one")
                return ctypes.c_void_p(info.address)
            return ctypes.c_void_p(value) if self._device_scalars else ctypes.byref(number(value, scalar))

        return one(alpha), one(beta)

    def axpby(self, alpha: Any, x: Any, beta: Any, y: Any) -> Any:
        """y = alpha x + beta y; returns y."""
        x_view, y_view = self.view(x), self.view(y, output=True)
        a, b = self._coefficients(alpha, beta, y_view.info.scalar)
        call("kkc_axpby", self, a, x_view, b, y_view)
        return y

    def dot(self, x: Any, y: Any, conjugate: bool = False, out: Any = None) -> Any:
        """Sum of x_i y_i (conj(x_i) y_i): a number, or a list of one a column. With `out` (a view or array on the device)
        the result goes there, and the call only enqueues on a GPU."""
        x_view = self.view(x)
        y_view = self.view(y)

        def run(result: ctypes.c_void_p) -> None:
            call("kkc_dot", self, int(conjugate), x_view, y_view, result)

        return self._reduce(x_view, x_view.info.scalar, out, run)

    def norm2(self, x: Any, out: Any = None) -> Any:
        """sqrt of the sum of |x_i|^2, results as for dot."""
        x_view = self.view(x)
        real = {c.KKC_TYPE_C64: c.KKC_TYPE_F32, c.KKC_TYPE_C128: c.KKC_TYPE_F64}
        scalar = x_view.info.scalar

        def run(result: ctypes.c_void_p) -> None:
            call("kkc_norm2", self, x_view, result)

        return self._reduce(x_view, real.get(scalar, scalar), out, run)

    def scan(self, x: Any, y: Any = None, dim: int = 0, exclusive: bool = False) -> Any:
        """Prefix sums of x along dim; returns y (a new view when left out; x itself scans in place). Integers may widen."""
        x_view = self.view(x)
        if y is None:
            y = self.empty(x_view.shape, x_view.info.scalar)
        call("kkc_view_scan", self, int(exclusive), dim, x_view, self.view(y, output=True))
        return y

    def sort_plan(self, keys: Any, sorted_keys: Any = None, values: Any = None, sorted_values: Any = None, dim: int = 0,
                  **options: OptionValue) -> SortPlan:
        """Plans stable sorts along dim; all are templates, sorted_values without values receives places. Options: order,
        implementation, ..."""
        views = self._sort_views(keys, sorted_keys, values, sorted_values)
        handle = ctypes.c_void_p()
        call("kkc_view_sort_plan", self, dim, *views, options_of(options), ctypes.byref(handle))
        return SortPlan(self, handle)

    def _sort_views(self, keys: Any, sorted_keys: Any, values: Any, sorted_values: Any) -> list[View | None]:
        outputs = (False, True, False, True)
        return [None if a is None else self.view(a, output=out)
                for a, out in zip((keys, sorted_keys, values, sorted_values), outputs)]

    def _reduce(self, x: View, scalar: int, out: Any, run: Callable[[ctypes.c_void_p], None]) -> Any:
        if out is not None:
            run(self.view(out, output=True))
            return out
        columns = x.shape[1:]
        key = (scalar, columns)
        if key not in self._results:
            self._results[key] = self.empty(columns, scalar)
        result = self._results[key]
        run(result)
        buffer = numbers(scalar, columns[0] if columns else 1)
        host = ctypes.c_void_p()
        call("kkc_view_wrap", self, scalar, len(columns), int64s(columns), c.KKC_LAYOUT_RIGHT, None, c.KKC_SPACE_HOST,
             ctypes.addressof(buffer) if len(buffer) else None, ctypes.byref(host))
        with View(self, host) as target:
            call("kkc_view_copy", self, result, target)
            self.synchronize()
        values = values_of(buffer, scalar)
        return values if columns else values[0]

    def spmv_plan(self, A: Matrix, x: Any = None, y: Any = None, op: str | int = "N", **options: OptionValue) -> Plan:
        """Plans y = beta y + alpha op(A) x for A's pattern. x and y are templates of shape and memory; left out, they are
        vectors. Options: implementation, tuning, deterministic, values, transpose, ..."""
        op = choose(op, OPS, "op")
        turned = op in (c.KKC_OP_TRANSPOSE, c.KKC_OP_HERMITIAN)
        x_view = self._template(A.rows if turned else A.cols, A.scalar) if x is None else self.view(x)
        y_view = self._template(A.cols if turned else A.rows, A.scalar) if y is None else self.view(y, output=True)
        handle = ctypes.c_void_p()
        call("kkc_spmv_plan", self, op, A, x_view, y_view, options_of(options),
             ctypes.byref(handle))
        return Plan(self, handle)

    def spgemm_plan(self, A: Matrix, B: Matrix, op_A: str | int = "N", op_B: str | int = "N", mask: Matrix | None = None,
                    index_pair: str | int | None = None, **options: OptionValue) -> SpgemmPlan:
        """Plans C = alpha op_A(A) op_B(B) + beta C for the patterns of A and B, inside the mask's pattern if there is one.
        index_pair: of C, by default that of A. Options: sorted, base, max_workspace, ..."""
        pair = A.index_pair if index_pair is None else choose(index_pair, INDEX_PAIRS, "index_pair")
        handle = ctypes.c_void_p()
        call("kkc_spgemm_plan", self, choose(op_A, OPS, "op_A"), A, choose(op_B, OPS, "op_B"), B, mask, pair,
             options_of(options), ctypes.byref(handle))
        return SpgemmPlan(self, handle)

    def spgemm_jacobi_plan(self, A: Matrix, B: Matrix, index_pair: str | int | None = None,
                           **options: OptionValue) -> SpgemmJacobiPlan:
        """Plans C = (I - omega D^-1 A) B for the patterns of A and B; D is A's diagonal. index_pair: of C, by default that
        of A. Options: sorted, base, product, ..."""
        pair = A.index_pair if index_pair is None else choose(index_pair, INDEX_PAIRS, "index_pair")
        handle = ctypes.c_void_p()
        call("kkc_spgemm_jacobi_plan", self, A, B, pair, options_of(options), ctypes.byref(handle))
        return SpgemmJacobiPlan(self, handle)

    def spadd_plan(self, A: Matrix, B: Matrix, op_A: str | int = "N", op_B: str | int = "N",
                   index_pair: str | int | None = None, **options: OptionValue) -> SpaddPlan:
        """Plans C = alpha op_A(A) + beta op_B(B) for the patterns of A and B. index_pair: of C, by default that of A.
        Options: rows, base, ..."""
        pair = A.index_pair if index_pair is None else choose(index_pair, INDEX_PAIRS, "index_pair")
        handle = ctypes.c_void_p()
        call("kkc_spadd_plan", self, choose(op_A, OPS, "op_A"), A, choose(op_B, OPS, "op_B"), B, pair,
             options_of(options), ctypes.byref(handle))
        return SpaddPlan(self, handle)

    def _template(self, length: int, scalar: int) -> View:
        handle = ctypes.c_void_p()
        call("kkc_view_wrap", self, scalar, 1, int64s((length,)), c.KKC_LAYOUT_RIGHT, None, self.space, None,
             ctypes.byref(handle))
        return View(self, handle)

    # ---- tuning ----

    def tuning_export(self) -> str:
        """What tuning = "measure" found on this context, as JSON."""
        text = ctypes.c_char_p()
        call("kkc_tuning_export", self, ctypes.byref(text))
        return (text.value or b"").decode()

    def tuning_import(self, record: str) -> None:
        call("kkc_tuning_import", self, record.encode())


def version() -> tuple[int, int, int]:
    """Of the library at run time."""
    number_ = capi().kkc_version()
    return number_ // 10000, number_ // 100 % 100, number_ % 100


def device_count(device: str | int) -> int:
    """Usable devices of a kind; 0 without driver or module."""
    count = ctypes.c_int32()
    call("kkc_device_count", choose(device, DEVICES, "device"), count)
    return count.value


def supports(device: str | int, operation: str, dtype: Any = "f64", index_pair: str | int = "32_32") -> bool:
    """Whether an operation has kernels for these types on a device."""
    yes = ctypes.c_int32()
    call("kkc_query_support", choose(device, DEVICES, "device"), operation.encode(), choose(index_pair, INDEX_PAIRS, "index_pair"),
         scalar_of(dtype), yes)
    return bool(yes.value)


def implementations(device: str | int, operation: str) -> list[str]:
    """Implementations of an operation on a device, in order of priority, reference last."""
    device = choose(device, DEVICES, "device")
    count, name = ctypes.c_int32(), ctypes.c_char_p()
    call("kkc_implementation_count", device, operation.encode(), count)
    names = []
    for index in range(count.value):
        call("kkc_implementation_name", device, operation.encode(), index, ctypes.byref(name))
        names.append((name.value or b"").decode())
    return names
