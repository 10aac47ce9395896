"""Iterative solvers, and what preconditions them."""
from __future__ import annotations

import ctypes
from typing import Any, Callable

from . import _capi as c
from ._library import call
from ._objects import Handle, Matrix, Object, OptionValue, Plan, View, choose, options_of

PRECONDITIONERS = {"none": c.KKC_PRECONDITIONER_NONE, "jacobi": c.KKC_PRECONDITIONER_JACOBI,
                   "lu": c.KKC_PRECONDITIONER_LU, "cholesky": c.KKC_PRECONDITIONER_CHOLESKY}

OPS = {"N": c.KKC_OP_NONE, "T": c.KKC_OP_TRANSPOSE, "conj": c.KKC_OP_CONJUGATE, "H": c.KKC_OP_HERMITIAN}
TRIANGLES = {"lower": c.KKC_UPLO_LOWER, "upper": c.KKC_UPLO_UPPER}
DIAGONALS = {"stored": c.KKC_DIAG_STORED, "unit": c.KKC_DIAG_UNIT}


class KrylovPlan(Plan):
    """A plan of krylov."""

    _callback: Any = None
    _raised: BaseException | None = None

    def set_preconditioner(self, kind: str | int | Callable[[View, View], None], M: Matrix | None = None,
                           U: Matrix | None = None, **options: OptionValue) -> None:
        """The preconditioner of later executes: a kind ("lu": M holds both factors, or M and U one each; "cholesky": M is
        L), or a function that writes M^-1 r to z when it is called with the views r and z, which are valid during the call
        only. What it raises leaves execute. Options: of the triangular solves."""
        if not callable(kind):
            call("kkc_krylov_set_preconditioner", self, choose(kind, PRECONDITIONERS, "kind"), M, U, options_of(options))
            self._callback = None
            return
        apply = kind

        def run(_user: Any, r: int, z: int) -> int:
            try:
                apply(_Lent(self.context, ctypes.c_void_p(r)), _Lent(self.context, ctypes.c_void_p(z)))
            except BaseException as error:  # must not unwind through C; execute raises it again
                self._raised = error
                return c.KKC_STATUS_INTERNAL
            return c.KKC_STATUS_SUCCESS

        callback = c.PRECONDITIONER_FN(run)
        call("kkc_krylov_set_callback", self, callback, None)
        self._callback = callback  # the plan calls it for as long as it has it

    def execute(self, A: Matrix, b: Any, x: Any = None) -> Any:  # type: ignore[override]
        """Solves A x = b from the guess x, in place; without x from 0 into a new view. Returns x. Raises kkc.Failed with x
        as good as it got where the method does not converge or breaks down."""
        b_view = self.context.view(b)
        if x is None:
            x = self.context.empty(b_view.shape, b_view.info.scalar)
            self.context.fill(0, x)
        self._raised = None
        try:
            call("kkc_krylov_execute", self, A, b_view, self.context.view(x, output=True))
        except Exception:
            if self._raised is not None:
                raise self._raised
            raise
        return x

    @property
    def iterations(self) -> int:
        """Of the last execute."""
        count = ctypes.c_int64()
        call("kkc_krylov_result", self, None, count, None)
        return count.value

    @property
    def residual(self) -> float:
        """Norm of b - A x after the last execute."""
        norm = ctypes.c_double()
        call("kkc_krylov_result", self, None, None, norm)
        return norm.value

    @property
    def history(self) -> list[float]:
        """Norms of the residual of the last execute, before the first iteration and after each."""
        count = ctypes.c_int64()
        call("kkc_krylov_history", self, 0, None, count)
        norms = (ctypes.c_double * count.value)()
        call("kkc_krylov_history", self, count.value, norms, count)
        return list(norms)


class SptrsvPlan(Plan):
    """A plan of sptrsv."""

    def execute(self, A: Matrix, b: Any, x: Any = None, alpha: Any = 1) -> Any:  # type: ignore[override]
        """Solves op(T) x = alpha b; x may be b, without x a new view is made. Returns x. On a GPU check() tells of zeros on
        the diagonal."""
        b_view = self.context.view(b)
        if x is None:
            x = self.context.empty(b_view.shape, b_view.info.scalar, layout="left" if b_view.info.strides[0] == 1 else "right")
        factor, _ = self.context._coefficients(alpha, 0, A.scalar)
        call("kkc_sptrsv_execute", self, factor, A, b_view, self.context.view(x, output=True))
        return x

    def set_values(self, A: Matrix) -> None:
        """Only with values = "kept": takes over A's values."""
        call("kkc_sptrsv_set_values", self, A)


class FactorizationPlan(Plan):
    """A plan of ilu or ic."""

    def __init__(self, context: Any, handle: ctypes.c_void_p, function: str):
        super().__init__(context, handle)
        self._function = function

    def execute(self, A: Matrix, factor: Matrix | None = None) -> Matrix:  # type: ignore[override]
        """The factor's values for A's: LU in one matrix, or L. Without `factor` into a new matrix. Returns it. On a GPU
        check() tells of zero pivots."""
        factor = self.create_output() if factor is None else factor
        call(self._function, self, A, factor)
        return factor


class IlutPlan(Plan):
    """A plan of ilut."""

    def execute(self, A: Matrix) -> tuple[Matrix, Matrix]:  # type: ignore[override]
        """L and U, as matrices of their own: their patterns come from A's values."""
        L, U = ctypes.c_void_p(), ctypes.c_void_p()
        call("kkc_ilut_execute", self, A, ctypes.byref(L), ctypes.byref(U))
        return Matrix(self.context, L), Matrix(self.context, U)


class _Lent(View):
    """A view that belongs to a plan: this does not destroy it."""

    def _own(self, value: ctypes.c_void_p, owners: Any = None) -> None:
        self._handle = Handle(value, lambda _: 0, owners)


class Solvers(Object):
    """What Context inherits."""

    def krylov_plan(self, A: Matrix, b: Any = None, x: Any = None, **options: OptionValue) -> KrylovPlan:
        """Plans the solution of A x = b. b and x are templates of shape and memory; left out, they are contiguous vectors.
        Options: method = "cg", "bicgstab" or "gmres", restart, tolerance, convergence, max_iterations, guess, ..."""
        template = self._template  # type: ignore[attr-defined]
        b_view = template(A.rows, A.scalar) if b is None else self.view(b)  # type: ignore[attr-defined]
        x_view = template(A.rows, A.scalar) if x is None else self.view(x, output=True)  # type: ignore[attr-defined]
        handle = ctypes.c_void_p()
        call("kkc_krylov_plan", self, A, b_view, x_view, options_of(options), ctypes.byref(handle))
        return KrylovPlan(self, handle)

    def sptrsv_plan(self, A: Matrix, uplo: str | int = "lower", op: str | int = "N", diag: str | int = "stored",
                    b: Any = None, x: Any = None, **options: OptionValue) -> SptrsvPlan:
        """Plans op(T) x = alpha b for the triangle T of A; diag "unit": ones instead of A's diagonal. b and x are templates
        of shape and memory; left out, they are vectors. Options: implementation, values, ..."""
        template = self._template  # type: ignore[attr-defined]
        b_view = template(A.rows, A.scalar) if b is None else self.view(b)  # type: ignore[attr-defined]
        x_view = template(A.rows, A.scalar) if x is None else self.view(x, output=True)  # type: ignore[attr-defined]
        handle = ctypes.c_void_p()
        call("kkc_sptrsv_plan", self, choose(op, OPS, "op"), choose(uplo, TRIANGLES, "uplo"), choose(diag, DIAGONALS, "diag"),
             A, b_view, x_view, options_of(options), ctypes.byref(handle))
        return SptrsvPlan(self, handle)

    def ilu_plan(self, A: Matrix, **options: OptionValue) -> FactorizationPlan:
        """Plans A ~ L U in one matrix. Options: level, shift, pivot_boost, boost_value, missing_diagonal, base, ..."""
        handle = ctypes.c_void_p()
        call("kkc_ilu_plan", self, A, options_of(options), ctypes.byref(handle))
        return FactorizationPlan(self, handle, "kkc_ilu_execute")

    def ic_plan(self, A: Matrix, **options: OptionValue) -> FactorizationPlan:
        """Plans A ~ L L^H from A's lower triangle. Options: those of ilu_plan without level."""
        handle = ctypes.c_void_p()
        call("kkc_ic_plan", self, A, options_of(options), ctypes.byref(handle))
        return FactorizationPlan(self, handle, "kkc_ic_execute")

    def ilut_plan(self, A: Matrix, **options: OptionValue) -> IlutPlan:
        """Plans A ~ L U with the largest entries; execute finds which. Options: fill, iterations, sweeps, shift, ..."""
        handle = ctypes.c_void_p()
        call("kkc_ilut_plan", self, A, options_of(options), ctypes.byref(handle))
        return IlutPlan(self, handle)
