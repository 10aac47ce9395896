"""What contexts make: views, matrices and plans, with the ownership of their handles."""
from __future__ import annotations

import ctypes
import json
import numbers
import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Sequence, Union

from . import _capi as c
from ._arrays import NAMES, SIZES, ArrayInfo, describe
from ._library import call, capi, failure

if TYPE_CHECKING:
    from ._context import Context

_PROPERTIES = {"sorted": c.KKC_MATRIX_SORTED, "no_duplicates": c.KKC_MATRIX_NO_DUPLICATES,
               "full_diagonal": c.KKC_MATRIX_FULL_DIAGONAL, "symmetric_pattern": c.KKC_MATRIX_SYMMETRIC_PATTERN}

OptionValue = Union[int, float, str]

INDEX_PAIRS = {"32_32": c.KKC_INDEX_32_32, "32_64": c.KKC_INDEX_32_64, "64_64": c.KKC_INDEX_64_64}
SPACES = {"host": c.KKC_SPACE_HOST, "device": c.KKC_SPACE_DEVICE, "pinned": c.KKC_SPACE_PINNED, "managed": c.KKC_SPACE_MANAGED}


def choose(value: Any, names: Mapping[str, int], what: str) -> int:
    if isinstance(value, int):
        return value
    if value not in names:
        raise ValueError(f"{what} is {value!r}, expected one of {', '.join(names)}")
    return names[value]


def int64s(values: Iterable[int]) -> Any:
    values = [int(v) for v in values]
    return (ctypes.c_int64 * max(len(values), 1))(*values)


class Handle:
    """Owns a handle: destroyed with its last reference."""

    __slots__ = ("value", "_destroy", "_owners")

    def __init__(self, value: ctypes.c_void_p, destroy: Callable[[ctypes.c_void_p], int], owners: Any = None):
        self.value, self._destroy, self._owners = value, destroy, owners

    def __del__(self) -> None:
        if getattr(self, "value", None):  # a copy that could not be made has none
            self._destroy(self.value)


class Object:
    """Base of everything with a handle; a context manager."""

    _kind = ""
    _handle: Handle | None = None

    def _own(self, value: ctypes.c_void_p, owners: Any = None) -> None:
        self._handle = Handle(value, getattr(capi(), f"kkc_{self._kind}_destroy"), owners)

    @property
    def handle(self) -> ctypes.c_void_p:
        """For calls through kkc.capi()."""
        if self._handle is None:
            raise ValueError(f"this {self._kind} is closed")
        return self._handle.value

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        """ctypes keeps the object alive while a call runs."""
        return self.handle

    def close(self) -> None:
        """Ends the object. Memory that arrays made from it still use stays until they are gone."""
        self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Options(Object):
    _kind = "options"

    def __init__(self, values: Mapping[str, OptionValue]):
        handle = ctypes.c_void_p()
        call("kkc_options_create", ctypes.byref(handle))
        self._own(handle)
        for key, value in values.items():
            name = key.encode()
            if isinstance(value, str):
                call("kkc_options_set_text", handle, name, value.encode())
            elif isinstance(value, numbers.Integral) or type(value).__name__ in ("bool", "bool_"):  # NumPy's is no Integral
                call("kkc_options_set_int", handle, name, int(value))
            elif hasattr(value, "__float__"):  # Real of any library, e.g. numpy.float32, Decimal
                call("kkc_options_set_real", handle, name, float(value))
            else:
                raise TypeError(f"option {key} is {value!r}, expected a number, True, False or text")


def options_of(values: Mapping[str, OptionValue]) -> Options | None:
    return Options(values) if values else None


class Allocator(Object):
    """The caller's memory functions: alloc(bytes, space, stream) -> address or 0, free(address, bytes, space, stream)."""

    _kind = "allocator"

    def __init__(self, alloc: Callable[[int, int, int], int], free: Callable[[int, int, int, int], None]):
        functions = (c.ALLOC_FN(lambda _, size, space, stream: alloc(size, space, stream or 0) or None),
                     c.FREE_FN(lambda _, address, size, space, stream: free(address, size, space, stream or 0)))
        handle = ctypes.c_void_p()
        call("kkc_allocator_create", *functions, None, ctypes.byref(handle))
        self._own(handle, functions)


class Memory:
    """An array over memory of kkc, by the array protocols; keeps its owner alive."""

    def __init__(self, info: ArrayInfo):
        self._owner = info.owner
        typestr = NAMES[info.scalar]
        size = SIZES[info.scalar]
        interface = {"shape": info.shape, "typestr": ("|" if size == 1 else "<") + typestr, "version": 3,
                     "strides": None if info.strides is None else tuple(s * size for s in info.strides),
                     "data": (info.address, info.readonly)}
        if info.space == c.KKC_SPACE_DEVICE:
            self.__cuda_array_interface__ = interface
        else:
            self.__array_interface__ = interface


class View(Object):
    """A dense array. Host views show __array_interface__, device views __cuda_array_interface__."""

    _kind = "view"

    def __init__(self, context: Context, handle: ctypes.c_void_p, owners: Any = None, readonly: bool = False):
        self.context = context
        self.readonly = readonly
        self._own(handle, owners)

    @property
    def info(self) -> ArrayInfo:
        """What kkc_view_get tells."""
        scalar, rank, layout, space = (ctypes.c_int32() for _ in range(4))
        extents, strides, data = (ctypes.c_int64 * 8)(), (ctypes.c_int64 * 8)(), ctypes.c_void_p()
        call("kkc_view_get", self, scalar, rank, extents, strides, layout, space, data)
        return ArrayInfo(data.value or 0, scalar.value, tuple(extents[:rank.value]), tuple(strides[:rank.value]), space.value,
                         self.readonly, self._handle)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.info.shape

    @property
    def __array_interface__(self) -> dict:
        return self._shown("__array_interface__")

    @property
    def __cuda_array_interface__(self) -> dict:
        return self._shown("__cuda_array_interface__")

    def _shown(self, protocol: str) -> dict:
        memory = Memory(self.info)
        if protocol not in memory.__dict__:
            raise AttributeError(f"the memory of this view is not shown by {protocol}")
        return memory.__dict__[protocol]

    def numpy(self) -> Any:
        """The NumPy array over a host view's memory, without a copy; another space is copied."""
        import numpy
        if self.info.space == c.KKC_SPACE_DEVICE:
            with self.mirror("host") as mirror:
                self.context.copy(self, mirror)
                return mirror.numpy()
        info = self.info
        return numpy.asarray(Memory(info)) if info.size else numpy.empty(info.shape, NAMES[info.scalar])

    def sub(self, begins: Sequence[int], counts: Sequence[int]) -> View:
        """Part of this view: counts[i] elements from begins[i]; -1 keeps index begins[i] and drops the dimension."""
        rank = len(self.shape)
        if len(begins) != rank or len(counts) != rank:
            raise ValueError(f"begins and counts need {rank} entries")
        handle = ctypes.c_void_p()
        call("kkc_view_sub", self, int64s(begins), int64s(counts), ctypes.byref(handle))
        return View(self.context, handle, self._handle, self.readonly)

    def mirror(self, space: str | int = "host") -> View:
        """A new view of the same type, shape and order; its elements are not copied."""
        handle = ctypes.c_void_p()
        call("kkc_view_mirror", self.context, self, choose(space, SPACES, "space"), ctypes.byref(handle))
        return View(self.context, handle)

    def retain(self) -> View:
        """A second handle on the same memory and shape."""
        handle = ctypes.c_void_p()
        call("kkc_view_retain", self, ctypes.byref(handle))
        return View(self.context, handle, self._handle, self.readonly)

    def set_pointer(self, address: int) -> None:
        """Lets a wrapped view point elsewhere, same shape."""
        call("kkc_view_set_pointer", self, address)

    def write(self, path: str | os.PathLike) -> None:
        """To a Matrix Market file in array format."""
        call("kkc_view_write", self.context, self, os.fsencode(path))


class Matrix(Object):
    """A compressed sparse row matrix. `A @ x` plans once for each type and shape of x."""

    _kind = "matrix"

    def __init__(self, context: Context, handle: ctypes.c_void_p, owners: Any = None):
        self.context = context
        self._own(handle, owners)
        rows, cols, nnz = (ctypes.c_int64() for _ in range(3))
        pair, scalar, base = (ctypes.c_int32() for _ in range(3))
        call("kkc_csr_get", handle, rows, cols, nnz, pair, scalar, base, None, None, None)
        self.rows, self.cols, self.nnz = rows.value, cols.value, nnz.value
        self.index_pair, self.scalar, self.base = pair.value, scalar.value, base.value
        self._plans: dict[Any, Plan] = {}

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self.cols

    @property
    def info(self) -> dict[str, Any]:
        text = ctypes.c_char_p()
        call("kkc_matrix_info", self, ctypes.byref(text))
        return json.loads(text.value or b"{}")

    def validate(self) -> set[str]:
        """Checks the pattern; the properties that hold."""
        bits = ctypes.c_int32()
        call("kkc_matrix_validate", self, bits)
        return {name for name, bit in _PROPERTIES.items() if bits.value & bit}

    def arrays(self) -> tuple[Any, Any, Any]:
        """row_offsets, col_indices and values (None for a pattern) where they are: NumPy arrays on hosts, objects with
        __cuda_array_interface__ on GPUs."""
        offsets, indices, values = (ctypes.c_void_p() for _ in range(3))
        call("kkc_csr_get", self, None, None, None, None, None, None, offsets, indices, values)
        ordinal = c.KKC_TYPE_I64 if self.index_pair == c.KKC_INDEX_64_64 else c.KKC_TYPE_I32
        offset = c.KKC_TYPE_I32 if self.index_pair == c.KKC_INDEX_32_32 else c.KKC_TYPE_I64

        def shown(address: ctypes.c_void_p, scalar: int, count: int) -> Any:
            space = c.KKC_SPACE_HOST if self.context.on_host else c.KKC_SPACE_DEVICE
            memory = Memory(ArrayInfo(address.value or 0, scalar, (count,), None, space, False, self._handle))
            if not self.context.on_host:
                return memory
            import numpy
            return numpy.asarray(memory) if address.value and count else numpy.zeros(count, NAMES[scalar])

        return (shown(offsets, offset, self.rows + 1), shown(indices, ordinal, self.nnz),
                None if self.scalar == c.KKC_TYPE_NONE else shown(values, self.scalar, self.nnz))

    def scipy(self) -> Any:
        """The scipy.sparse.csr_matrix over the same memory (a host matrix of base 0; a pattern gets ones)."""
        import numpy
        import scipy.sparse
        if self.base != 0 or not self.context.on_host:
            raise ValueError("SciPy takes matrices in host memory that count from 0")
        offsets, indices, values = self.arrays()
        if values is None:
            values = numpy.ones(self.nnz)
        result = scipy.sparse.csr_matrix(self.shape, dtype=values.dtype)
        result.indptr, result.indices, result.data = offsets, indices, values
        return result

    def set_arrays(self, row_offsets: Any, col_indices: Any, values: Any = None) -> None:
        """Lets a borrowed matrix use other arrays of the same sizes and types."""
        infos = self.context._csr_arrays(row_offsets, col_indices, values)
        if infos.pair != self.index_pair or infos.scalar != self.scalar:
            raise TypeError("the types of the arrays are not those of the matrix")
        if infos.nnz != self.nnz or infos.rows != self.rows:
            raise ValueError("the lengths of the arrays are not those of the matrix")
        call("kkc_csr_set_pointers", self, *infos.addresses)
        assert self._handle is not None
        self._handle._owners = infos
        self._plans.clear()  # the pattern may be another

    def copy(self, context: Context | None = None) -> Matrix:
        """A copy, on another context's device if one is given."""
        context = context or self.context
        handle = ctypes.c_void_p()
        call("kkc_matrix_copy", context, self, ctypes.byref(handle))
        return Matrix(context, handle)

    def laplacian(self, shift: float = 1.0) -> Matrix:
        """The graph Laplacian of the pattern + shift I."""
        handle = ctypes.c_void_p()
        call("kkc_matrix_laplacian", self.context, self, shift, ctypes.byref(handle))
        return Matrix(self.context, handle)

    def write(self, path: str | os.PathLike, **options: OptionValue) -> None:
        """To a Matrix Market file; options symmetry, precision, comment."""
        call("kkc_matrix_write", self, os.fsencode(path), options_of(options))

    def __matmul__(self, x: Any) -> Any:
        info = x.info if isinstance(x, View) else describe(x)
        x_view = self.context.view(x)
        y = self.context.empty((self.rows,) + info.shape[1:], self.scalar)
        key = (info.scalar, info.shape, info.strides, info.space)
        if key not in self._plans:
            self._plans[key] = self.context.spmv_plan(self, x_view, y)
        self._plans[key].execute(self, x_view, y)
        return y.numpy() if self.context.on_host and not isinstance(x, View) else y


class Plan(Object):
    """What an operation learned from a pattern."""

    _kind = "plan"

    def __init__(self, context: Context, handle: ctypes.c_void_p):
        self.context = context
        self._own(handle)

    @property
    def info(self) -> dict[str, Any]:
        text = ctypes.c_char_p()
        call("kkc_plan_info", self, ctypes.byref(text))
        return json.loads(text.value or b"{}")

    def execute(self, A: Matrix, x: Any, y: Any, alpha: Any = 1, beta: Any = 0) -> Any:
        """y = beta y + alpha op(A) x; returns y. Arrays become views for the call; give views to save that time."""
        x_view, y_view = self.context.view(x), self.context.view(y, output=True)
        a, b = self.context._coefficients(alpha, beta, A.scalar)
        call("kkc_spmv_execute", self, a, A, x_view, b, y_view)
        return y

    def set_values(self, A: Matrix) -> None:
        """Only with values = "kept": takes over A's values."""
        call("kkc_spmv_set_values", self, A)

    def check(self) -> None:
        """Waits; raises kkc.Failed when an execute since the last check met data it could not handle."""
        where, count = ctypes.c_int64(), ctypes.c_int64()
        status = capi().kkc_plan_check(self, where, count)
        if status != 0:
            error = failure(status)
            error.where, error.count = where.value, count.value  # type: ignore[attr-defined]
            raise error

    @property
    def output_nnz(self) -> int:
        """Entries of the output matrix, for operations that have one."""
        nnz = ctypes.c_int64()
        call("kkc_plan_output_nnz", self, nnz)
        return nnz.value

    def create_output(self) -> Matrix:
        """A matrix of the planned output's pattern; its values are not initialised."""
        handle = ctypes.c_void_p()
        call("kkc_plan_create_output", self, handle)
        return Matrix(self.context, handle)

    @property
    def workspace_size(self) -> int:
        size = ctypes.c_size_t()
        call("kkc_plan_workspace_size", self, size)
        return size.value

    def set_workspace(self, address: int | None, size: int = 0) -> None:
        """The caller's memory, kept alive by the caller; None goes back to the plan's."""
        call("kkc_plan_set_workspace", self, address, size)


class SortPlan(Plan):
    """How views of one shape are sorted."""

    def sort(self, keys: Any, sorted_keys: Any = None, values: Any = None, sorted_values: Any = None) -> None:
        """Sorts into sorted_keys and sorted_values; None where the plan was given None. In place where an output is its
        input."""
        call("kkc_view_sort_execute", self, *self.context._sort_views(keys, sorted_keys, values, sorted_values))


class SpgemmPlan(Plan):
    """A plan of spgemm."""

    def execute(self, A: Matrix, B: Matrix, C: Matrix | None = None, alpha: Any = 1,  # type: ignore[override]
                beta: Any = 0) -> Matrix:
        """C = alpha op_A(A) op_B(B) + beta C; without C into a new matrix. Returns C."""
        if C is None:
            if not isinstance(beta, (int, float, complex)) or beta != 0:
                raise ValueError("beta needs a C whose values it scales")
            C = self.create_output()
        a, b = self.context._coefficients(alpha, beta, A.scalar)
        call("kkc_spgemm_execute", self, a, A, B, b, C)
        return C


class SpgemmJacobiPlan(Plan):
    """A plan of spgemm_jacobi."""

    def execute(self, A: Matrix, B: Matrix, C: Matrix | None = None, omega: Any = 1,  # type: ignore[override]
                dinv: Any = None) -> Matrix:
        """C = (I - omega D^-1 A) B; dinv: D^-1 as a vector, by default from A's diagonal. Without C into a new matrix.
        Returns C."""
        C = self.create_output() if C is None else C
        factor, _ = self.context._coefficients(omega, 0, A.scalar)
        call("kkc_spgemm_jacobi_execute", self, factor, None if dinv is None else self.context.view(dinv), A, B, C)
        return C


class SpaddPlan(Plan):
    """A plan of spadd."""

    def execute(self, A: Matrix, B: Matrix, C: Matrix | None = None, alpha: Any = 1,  # type: ignore[override]
                beta: Any = 1) -> Matrix:
        """C = alpha op_A(A) + beta op_B(B); without C into a new matrix. Returns C."""
        C = self.create_output() if C is None else C
        a, b = self.context._coefficients(alpha, beta, A.scalar)
        call("kkc_spadd_execute", self, a, A, b, B, C)
        return C
