"""The C API: constants and prototypes of include/kkc.h, one line a function."""
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_double, c_int32, c_int64, c_size_t, c_void_p

KKC_STATUS_SUCCESS = 0
KKC_STATUS_NULL_POINTER = 1
KKC_STATUS_INVALID_HANDLE = 2
KKC_STATUS_INVALID_ARGUMENT = 3
KKC_STATUS_SIZE_MISMATCH = 4
KKC_STATUS_TYPE_MISMATCH = 5
KKC_STATUS_NOT_SUPPORTED = 6
KKC_STATUS_DEVICE_UNAVAILABLE = 7
KKC_STATUS_INDEX_OUT_OF_RANGE = 8
KKC_STATUS_NOT_SORTED = 9
KKC_STATUS_OVERFLOW = 10
KKC_STATUS_UNKNOWN_OPTION = 11
KKC_STATUS_PATTERN_CHANGED = 12
KKC_STATUS_WRONG_STATE = 13
KKC_STATUS_IO = 14
KKC_STATUS_PARSE = 15
KKC_STATUS_OUT_OF_MEMORY = 100
KKC_STATUS_ZERO_PIVOT = 101
KKC_STATUS_BREAKDOWN = 102
KKC_STATUS_NO_CONVERGENCE = 103
KKC_STATUS_BAD_INDEX = 104
KKC_STATUS_CAPACITY_EXCEEDED = 105
KKC_STATUS_VENDOR = 106
KKC_STATUS_DEVICE = 107
KKC_STATUS_INTERNAL = 108
KKC_DEVICE_SERIAL = 1
KKC_DEVICE_OPENMP = 2
KKC_DEVICE_CUDA = 3
KKC_DEVICE_HIP = 4
KKC_TYPE_NONE = 0
KKC_TYPE_U8 = 1
KKC_TYPE_I32 = 2
KKC_TYPE_I64 = 3
KKC_TYPE_F32 = 4
KKC_TYPE_F64 = 5
KKC_TYPE_C64 = 6
KKC_TYPE_C128 = 7
KKC_INDEX_32_32 = 1
KKC_INDEX_32_64 = 2
KKC_INDEX_64_64 = 3
KKC_LAYOUT_LEFT = 1
KKC_LAYOUT_RIGHT = 2
KKC_LAYOUT_STRIDED = 3
KKC_SPACE_HOST = 1
KKC_SPACE_DEVICE = 2
KKC_SPACE_PINNED = 3
KKC_SPACE_MANAGED = 4
KKC_OP_NONE = 1
KKC_OP_TRANSPOSE = 2
KKC_OP_CONJUGATE = 3
KKC_OP_HERMITIAN = 4
KKC_UPLO_LOWER = 1
KKC_UPLO_UPPER = 2
KKC_DIAG_STORED = 1
KKC_DIAG_UNIT = 2
KKC_COPY_HOST_TO_DEVICE = 1
KKC_COPY_DEVICE_TO_HOST = 2
KKC_COPY_DEVICE_TO_DEVICE = 3
KKC_COPY_HOST_TO_HOST = 4
KKC_MATRIX_SORTED = 1
KKC_MATRIX_NO_DUPLICATES = 2
KKC_MATRIX_FULL_DIAGONAL = 4
KKC_MATRIX_SYMMETRIC_PATTERN = 8
KKC_PRECONDITIONER_NONE = 1
KKC_PRECONDITIONER_JACOBI = 2
KKC_PRECONDITIONER_LU = 3
KKC_PRECONDITIONER_CHOLESKY = 4

# Short names for the table below. Handles and arrays travel as addresses.
_p, _pp = c_void_p, POINTER(c_void_p)
_i4, _i8, _n, _f8, _s = c_int32, c_int64, c_size_t, c_double, c_char_p
_pi4, _pi8, _pn, _ps, _pf8 = (POINTER(c_int32), POINTER(c_int64), POINTER(c_size_t), POINTER(c_char_p),
                              POINTER(c_double))

ALLOC_FN = CFUNCTYPE(_p, _p, _n, _i4, _p)
FREE_FN = CFUNCTYPE(None, _p, _p, _n, _i4, _p)
PRECONDITIONER_FN = CFUNCTYPE(_i4, _p, _p, _p)

#: name: (result, arguments)
PROTOTYPES = {
    "kkc_version": (_i4, []),
    "kkc_status_name": (_s, [_i4]),
    "kkc_last_error": (_s, []),
    "kkc_device_count": (_i4, [_i4, _pi4]),
    "kkc_context_create": (_i4, [_i4, _i4, _p, _p, _pp]),
    "kkc_context_destroy": (_i4, [_p]),
    "kkc_context_set_stream": (_i4, [_p, _p]),
    "kkc_context_synchronize": (_i4, [_p]),
    "kkc_context_info": (_i4, [_p, _ps]),
    "kkc_allocator_create": (_i4, [ALLOC_FN, FREE_FN, _p, _pp]),
    "kkc_allocator_destroy": (_i4, [_p]),
    "kkc_malloc": (_i4, [_p, _n, _pp]),
    "kkc_free": (_i4, [_p, _p]),
    "kkc_copy": (_i4, [_p, _p, _p, _n, _i4]),
    "kkc_options_create": (_i4, [_pp]),
    "kkc_options_destroy": (_i4, [_p]),
    "kkc_options_set_int": (_i4, [_p, _s, _i8]),
    "kkc_options_set_real": (_i4, [_p, _s, _f8]),
    "kkc_options_set_text": (_i4, [_p, _s, _s]),
    "kkc_options_from_json": (_i4, [_s, _pp]),
    "kkc_view_wrap": (_i4, [_p, _i4, _i4, _pi8, _i4, _pi8, _i4, _p, _pp]),
    "kkc_view_wrap_const": (_i4, [_p, _i4, _i4, _pi8, _i4, _pi8, _i4, _p, _pp]),
    "kkc_view_create": (_i4, [_p, _i4, _i4, _pi8, _i4, _i4, _pp]),
    "kkc_view_mirror": (_i4, [_p, _p, _i4, _pp]),
    "kkc_view_retain": (_i4, [_p, _pp]),
    "kkc_view_sub": (_i4, [_p, _pi8, _pi8, _pp]),
    "kkc_view_get": (_i4, [_p, _pi4, _pi4, _pi8, _pi8, _pi4, _pi4, _pp]),
    "kkc_view_set_pointer": (_i4, [_p, _p]),
    "kkc_view_copy": (_i4, [_p, _p, _p]),
    "kkc_view_fill": (_i4, [_p, _p, _p]),
    "kkc_view_destroy": (_i4, [_p]),
    "kkc_csr_create": (_i4, [_p, _i8, _i8, _i8, _i4, _i4, _i4, _p, _p, _p, _pp]),
    "kkc_csr_create_copy": (_i4, [_p, _i8, _i8, _i8, _i4, _i4, _i4, _p, _p, _p, _pp]),
    "kkc_csr_create_output": (_i4, [_p, _i8, _i8, _i8, _i4, _i4, _i4, _p, _p, _p, _pp]),
    "kkc_csr_set_pointers": (_i4, [_p, _p, _p, _p]),
    "kkc_csr_get": (_i4, [_p, _pi8, _pi8, _pi8, _pi4, _pi4, _pi4, _pp, _pp, _pp]),
    "kkc_matrix_copy": (_i4, [_p, _p, _pp]),
    "kkc_matrix_validate": (_i4, [_p, _pi4]),
    "kkc_matrix_info": (_i4, [_p, _ps]),
    "kkc_matrix_destroy": (_i4, [_p]),
    "kkc_matrix_read": (_i4, [_p, _s, _i4, _i4, _pp]),
    "kkc_matrix_write": (_i4, [_p, _s, _p]),
    "kkc_view_read": (_i4, [_p, _s, _i4, _i4, _pp]),
    "kkc_view_write": (_i4, [_p, _p, _s]),
    "kkc_matrix_generate": (_i4, [_p, _s, _p, _i4, _i4, _pp]),
    "kkc_matrix_laplacian": (_i4, [_p, _p, _f8, _pp]),
    "kkc_axpby": (_i4, [_p, _p, _p, _p, _p]),
    "kkc_dot": (_i4, [_p, _i4, _p, _p, _p]),
    "kkc_norm2": (_i4, [_p, _p, _p]),
    "kkc_query_support": (_i4, [_i4, _s, _i4, _i4, _pi4]),
    "kkc_implementation_count": (_i4, [_i4, _s, _pi4]),
    "kkc_implementation_name": (_i4, [_i4, _s, _i4, _ps]),
    "kkc_plan_info": (_i4, [_p, _ps]),
    "kkc_plan_info_copy": (_i4, [_p, _n, _p, _pn]),
    "kkc_plan_workspace_size": (_i4, [_p, _pn]),
    "kkc_plan_output_nnz": (_i4, [_p, _pi8]),
    "kkc_plan_output_pattern": (_i4, [_p, _p]),
    "kkc_plan_create_output": (_i4, [_p, _pp]),
    "kkc_plan_set_workspace": (_i4, [_p, _p, _n]),
    "kkc_plan_check": (_i4, [_p, _pi8, _pi8]),
    "kkc_plan_destroy": (_i4, [_p]),
    "kkc_tuning_export": (_i4, [_p, _ps]),
    "kkc_tuning_import": (_i4, [_p, _s]),
    "kkc_spmv_plan": (_i4, [_p, _i4, _p, _p, _p, _p, _pp]),
    "kkc_spmv_execute": (_i4, [_p, _p, _p, _p, _p, _p]),
    "kkc_spmv_set_values": (_i4, [_p, _p]),
    "kkc_transpose_plan": (_i4, [_p, _i4, _p, _i4, _p, _pp]),
    "kkc_transpose_execute": (_i4, [_p, _p, _p]),
    "kkc_spgemm_plan": (_i4, [_p, _i4, _p, _i4, _p, _p, _i4, _p, _pp]),
    "kkc_spgemm_execute": (_i4, [_p, _p, _p, _p, _p, _p]),
    "kkc_spgemm_jacobi_plan": (_i4, [_p, _p, _p, _i4, _p, _pp]),
    "kkc_spgemm_jacobi_execute": (_i4, [_p, _p, _p, _p, _p, _p]),
    "kkc_sort_rows_plan": (_i4, [_p, _p, _p, _pp]),
    "kkc_sort_rows_execute": (_i4, [_p, _p, _p]),
    "kkc_coo_to_csr_plan": (_i4, [_p, _i8, _i8, _i4, _p, _p, _i4, _i4, _p, _pp]),
    "kkc_coo_to_csr_execute": (_i4, [_p, _p, _p]),
    "kkc_csr_to_coo": (_i4, [_p, _p, _p]),
    "kkc_plan_output_permutation": (_i4, [_p, _p]),
    "kkc_matrix_diagonal": (_i4, [_p, _p, _p]),
    "kkc_matrix_scale": (_i4, [_p, _p, _p, _p]),
    "kkc_view_scan": (_i4, [_p, _i4, _i4, _p, _p]),
    "kkc_view_sort_plan": (_i4, [_p, _i4, _p, _p, _p, _p, _p, _pp]),
    "kkc_view_sort_execute": (_i4, [_p, _p, _p, _p, _p]),
    "kkc_spadd_plan": (_i4, [_p, _i4, _p, _i4, _p, _i4, _p, _pp]),
    "kkc_spadd_execute": (_i4, [_p, _p, _p, _p, _p, _p]),
    "kkc_sptrsv_plan": (_i4, [_p, _i4, _i4, _i4, _p, _p, _p, _p, _pp]),
    "kkc_sptrsv_execute": (_i4, [_p, _p, _p, _p, _p]),
    "kkc_sptrsv_set_values": (_i4, [_p, _p]),
    "kkc_ilu_plan": (_i4, [_p, _p, _p, _pp]),
    "kkc_ilu_execute": (_i4, [_p, _p, _p]),
    "kkc_ic_plan": (_i4, [_p, _p, _p, _pp]),
    "kkc_ic_execute": (_i4, [_p, _p, _p]),
    "kkc_krylov_plan": (_i4, [_p, _p, _p, _p, _p, _pp]),
    "kkc_krylov_set_preconditioner": (_i4, [_p, _i4, _p, _p, _p]),
    "kkc_krylov_set_callback": (_i4, [_p, PRECONDITIONER_FN, _p]),
    "kkc_krylov_execute": (_i4, [_p, _p, _p, _p]),
    "kkc_krylov_result": (_i4, [_p, _pi4, _pi8, _pf8]),
    "kkc_krylov_history": (_i4, [_p, _i8, _pf8, _pi8]),
    "kkc_ilut_plan": (_i4, [_p, _p, _p, _pp]),
    "kkc_ilut_execute": (_i4, [_p, _p, _pp, _pp]),
}
