"""kkc: performance-portable sparse, dense and graph kernels. See Context."""
from ._context import Context, device_count, implementations, supports, version
from ._failure import Error, Failed, Refused
from ._library import capi
from ._matrix_operations import ReorderPlan
from ._objects import Allocator, Matrix, Plan, SortPlan, View
from ._solvers import FactorizationPlan, IlutPlan, KrylovPlan, SptrsvPlan

__version__ = "0.1.0"
__all__ = ["Allocator", "Context", "Error", "Failed", "FactorizationPlan", "IlutPlan", "KrylovPlan", "Matrix", "Plan",
           "Refused", "ReorderPlan", "SortPlan", "SptrsvPlan", "View", "capi", "device_count", "implementations", "supports",
           "version"]
