"""Arrays of other libraries as (address, type, shape, strides, space), by the protocols they offer."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from . import _capi as c

#: Element types by the name of array protocols (kind and bytes), and their C counterparts.
SCALARS = {"u1": c.KKC_TYPE_U8, "i4": c.KKC_TYPE_I32, "i8": c.KKC_TYPE_I64, "f4": c.KKC_TYPE_F32, "f8": c.KKC_TYPE_F64,
           "c8": c.KKC_TYPE_C64, "c16": c.KKC_TYPE_C128}
NAMES = {scalar: name for name, scalar in SCALARS.items()}
SIZES = {scalar: int(name[1:]) for name, scalar in SCALARS.items()}
_WORDS = {"none": 0, "u8": 1, "i32": 2, "i64": 3, "f32": 4, "f64": 5, "c64": 6, "c128": 7, "uint8": 1, "int32": 2, "int64": 3,
          "float32": 4, "float64": 5, "complex64": 6, "complex128": 7}


def scalar_of(dtype: Any) -> int:
    """A type's number: from a number, kkc's name ("f64"), NumPy's name, or anything with a .str or .name of NumPy's."""
    if isinstance(dtype, int) and not isinstance(dtype, bool):
        return dtype
    if dtype is float:
        return c.KKC_TYPE_F64
    if dtype is complex:
        return c.KKC_TYPE_C128
    text = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", str(dtype))
    text = text.rsplit(".", 1)[-1]
    if text in _WORDS:
        return _WORDS[text]
    if text.lstrip("<=|") in SCALARS:
        return SCALARS[text.lstrip("<=|")]
    raise TypeError(f"kkc has no element type {text}; it has {', '.join(list(_WORDS)[1:8])}")


@dataclass
class ArrayInfo:
    """What a view needs to know; `owner` keeps the memory alive."""

    address: int
    scalar: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None  # in elements; None: row-major without gaps
    space: int
    readonly: bool
    owner: Any

    @property
    def size(self) -> int:
        size = 1
        for extent in self.shape:
            size *= extent
        return size


def _from_interface(interface: dict, space: int, owner: Any) -> ArrayInfo:
    typestr = interface["typestr"]
    if typestr[0] == ">" or typestr[1:] not in SCALARS:
        raise TypeError(f"kkc has no element type {typestr}")
    scalar = SCALARS[typestr[1:]]
    address, readonly = interface["data"]
    strides = interface.get("strides")
    if strides is not None:
        size = SIZES[scalar]
        if any(stride % size for stride in strides):
            raise ValueError("the array's strides are not multiples of its element's size")
        strides = tuple(stride // size for stride in strides)
    return ArrayInfo(address or 0, scalar, tuple(interface["shape"]), strides, space, bool(readonly), owner)


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


# DLPack's device types: 1 host, 2 CUDA, 3 CUDA pinned, 10 ROCm, 11 ROCm pinned, 13 CUDA managed.
_DL_SPACES = {1: c.KKC_SPACE_HOST, 2: c.KKC_SPACE_DEVICE, 3: c.KKC_SPACE_PINNED, 10: c.KKC_SPACE_DEVICE, 11: c.KKC_SPACE_PINNED,
              13: c.KKC_SPACE_MANAGED}
_DL_CODES = {0: "i", 1: "u", 2: "f", 5: "c"}


def _from_dlpack(array: Any) -> ArrayInfo:
    device_type = array.__dlpack_device__()[0]
    # -1: the producer need not wait; kkc's calls go to the stream that the caller has chosen.
    capsule = array.__dlpack__(stream=-1) if device_type in (2, 13) else array.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _DLTensor.from_address(pointer(capsule, b"dltensor"))
    name = f"{_DL_CODES.get(tensor.code, '?')}{tensor.bits // 8}"
    if device_type not in _DL_SPACES or tensor.lanes != 1 or name not in SCALARS:
        raise TypeError(f"kkc takes no DLPack tensor of device type {device_type} and element type {name}")
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else None
    address = (tensor.data or 0) + tensor.byte_offset
    # The capsule stays as it is: its destructor releases the tensor when the owner lets go of it.
    return ArrayInfo(address, SCALARS[name], shape, strides, _DL_SPACES[device_type], False, (capsule, array))


def describe(array: Any) -> ArrayInfo:
    """Looks for __cuda_array_interface__, then __array_interface__, then DLPack."""
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        if interface.get("mask") is not None:
            raise TypeError("kkc takes no masked arrays")
        return _from_interface(interface, c.KKC_SPACE_DEVICE, array)
    interface = getattr(array, "__array_interface__", None)
    if interface is not None:
        return _from_interface(interface, c.KKC_SPACE_HOST, array)
    if hasattr(array, "__dlpack__"):
        return _from_dlpack(array)
    raise TypeError(f"{type(array).__name__} shows neither __cuda_array_interface__ nor __array_interface__ nor DLPack")


def layout_of(shape: tuple[int, ...], strides: tuple[int, ...] | None) -> int:
    """KKC_LAYOUT_RIGHT or _LEFT when the strides are those of an array without gaps, else _STRIDED."""
    if strides is None or 0 in shape:
        return c.KKC_LAYOUT_RIGHT

    def without_gaps(order: range) -> bool:
        expected = 1
        for i in order:
            if shape[i] != 1 and strides[i] != expected:
                return False
            expected *= shape[i]
        return True

    if without_gaps(range(len(shape) - 1, -1, -1)):
        return c.KKC_LAYOUT_RIGHT
    if without_gaps(range(len(shape))):
        return c.KKC_LAYOUT_LEFT
    return c.KKC_LAYOUT_STRIDED


_REAL = {c.KKC_TYPE_F32: ctypes.c_float, c.KKC_TYPE_F64: ctypes.c_double, c.KKC_TYPE_U8: ctypes.c_uint8,
         c.KKC_TYPE_I32: ctypes.c_int32, c.KKC_TYPE_I64: ctypes.c_int64}
_PART = {c.KKC_TYPE_C64: ctypes.c_float, c.KKC_TYPE_C128: ctypes.c_double}


def numbers(scalar: int, count: int) -> Any:
    """A ctypes array of `count` elements (complex ones are two parts each)."""
    return (_PART[scalar] * (2 * count))() if scalar in _PART else (_REAL[scalar] * count)()


def number(value: Any, scalar: int) -> Any:
    """A Python number as one element of ctypes."""
    if scalar in _PART:
        value = complex(value)
        return (_PART[scalar] * 2)(value.real, value.imag)
    if scalar not in (c.KKC_TYPE_U8, c.KKC_TYPE_I32, c.KKC_TYPE_I64):
        return _REAL[scalar](value)
    whole = _REAL[scalar](int(value))
    if whole.value != value:  # ctypes cuts off what does not fit
        raise ValueError(f"the number is {value!r}, which type {NAMES[scalar]} does not hold")
    return whole


def values_of(buffer: Any, scalar: int) -> list[Any]:
    """The elements of such a ctypes array as Python numbers."""
    if scalar in _PART:
        return [complex(buffer[i], buffer[i + 1]) for i in range(0, len(buffer), 2)]
    return list(buffer)
