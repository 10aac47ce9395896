"""Operations whose output is a matrix in another order, and the diagonal and scaling of one."""
from __future__ import annotations

import ctypes
from typing import Any

from . import _capi as c
from ._arrays import scalar_of
from ._library import call
from ._objects import INDEX_PAIRS, Matrix, Object, OptionValue, Plan, View, choose, options_of


class ReorderPlan(Plan):
    """A plan of transpose, sort_rows or coo_to_csr."""

    def __init__(self, context: Any, handle: ctypes.c_void_p, function: str):
        super().__init__(context, handle)
        self._function = function

    def execute(self, source: Any, C: Matrix | None = None) -> Matrix:  # type: ignore[override]
        """C's values from `source`: a matrix of the planned pattern, for coo_to_csr the entries' values (None for a
        pattern). Without C a new matrix is made. Returns C."""
        if C is None:
            C = self.create_output()
        if self._function == "kkc_coo_to_csr_execute" and source is not None:
            source = self.context.view(source)
        call(self._function, self, source, C)
        return C

    def permutation(self, out: Any = None) -> Any:
        """Place of the source's entry that becomes each entry of C, counted from 0. Not of plans with duplicates =
        "add", the default of coo_to_csr_plan."""
        if out is None:
            out = self.context.empty(self.output_nnz, "i64")
        call("kkc_plan_output_permutation", self, self.context.view(out, output=True))
        return out


class MatrixOperations(Object):
    """What Context inherits."""

    def transpose_plan(self, A: Matrix, op: str | int = "T", index_pair: str | int | None = None,
                       **options: OptionValue) -> ReorderPlan:
        """Plans C = A^T (op "T") or A^H (op "H"); C's arrays are A's compressed sparse columns. Option: base."""
        op = choose(op, {"T": c.KKC_OP_TRANSPOSE, "H": c.KKC_OP_HERMITIAN}, "op")
        pair = A.index_pair if index_pair is None else choose(index_pair, INDEX_PAIRS, "index_pair")
        handle = ctypes.c_void_p()
        call("kkc_transpose_plan", self, op, A, pair, options_of(options), ctypes.byref(handle))
        return ReorderPlan(self, handle, "kkc_transpose_execute")

    def sort_rows_plan(self, A: Matrix, **options: OptionValue) -> ReorderPlan:
        """Plans C = A with sorted rows. Options: duplicates = "keep" or "add", base."""
        handle = ctypes.c_void_p()
        call("kkc_sort_rows_plan", self, A, options_of(options), ctypes.byref(handle))
        return ReorderPlan(self, handle, "kkc_sort_rows_execute")

    def coo_to_csr_plan(self, rows: int, cols: int, row_indices: Any, col_indices: Any, dtype: Any = "f64",
                        index_pair: str | int = "32_32", index_base: int = 0, **options: OptionValue) -> ReorderPlan:
        """Plans the CSR matrix of coordinates in any order; dtype None: a pattern. Options: duplicates = "add" or "keep",
        base."""
        row_view, col_view = self.view(row_indices), self.view(col_indices)  # type: ignore[attr-defined]
        handle = ctypes.c_void_p()
        call("kkc_coo_to_csr_plan", self, rows, cols, index_base, row_view, col_view,
             choose(index_pair, INDEX_PAIRS, "index_pair"), c.KKC_TYPE_NONE if dtype is None else scalar_of(dtype),
             options_of(options), ctypes.byref(handle))
        return ReorderPlan(self, handle, "kkc_coo_to_csr_execute")

    def csr_to_coo(self, A: Matrix, row_indices: Any = None) -> Any:
        """The row of each entry, counted from A's base; columns and values are A's arrays."""
        if row_indices is None:
            row_indices = self.empty(A.nnz, "i64")  # type: ignore[attr-defined]
        call("kkc_csr_to_coo", self, A, self.view(row_indices, output=True))  # type: ignore[attr-defined]
        return row_indices

    def diagonal(self, A: Matrix, d: Any = None) -> Any:
        """d_i = A(i, i): 0 where there is none, the sum where there are several."""
        if d is None:
            d = self.empty(min(A.rows, A.cols), A.scalar)  # type: ignore[attr-defined]
        call("kkc_matrix_diagonal", self, A, self.view(d, output=True))  # type: ignore[attr-defined]
        return d

    def scale(self, A: Matrix, row_factors: Any = None, col_factors: Any = None) -> Matrix:
        """A = diag(row_factors) A diag(col_factors) in place; returns A."""
        def view(factors: Any) -> View | None:
            return None if factors is None else self.view(factors)  # type: ignore[attr-defined]

        r, s = view(row_factors), view(col_factors)
        call("kkc_matrix_scale", self, r, A, s)
        return A
