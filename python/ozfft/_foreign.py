"""Arrays on GPUs of libraries that ozfft does not know, through the two protocols that all of them speak.

Such an array says where its memory is, but not how more of it is made: results go to an array that the caller gives
(``out=``), and the workspace is the driver's own memory, kept from call to call.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Sequence, Tuple

import numpy

from ._arrays import Gpu, Memory, contiguous_strides, interface_memory
from ._driver import DeviceMemory, device_of, is_recorded
from ._errors import DeviceError, DtypeError, LayoutError

# The numbers of DLPack's specification.
_CUDA = 2
_CUDA_MANAGED = 13
_TYPES = {(2, 32): "f4", (2, 64): "f8", (5, 64): "c8", (5, 128): "c16"}


class _Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("number", ctypes.c_int32)]


class _Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("rank", ctypes.c_int32),
        ("dtype", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class View:
    """An array as one of the two protocols describes it. Holds on to its owner."""

    def __init__(self, owner: Any, memory: Memory, dtype: numpy.dtype, device: int, stream: int, writable: bool) -> None:
        self.owner = owner
        self.memory = memory
        self.dtype = dtype
        self.device = device
        self.stream = stream
        self.writable = writable
        self.shape = memory.shape
        self.ndim = len(memory.shape)

    @classmethod
    def by_interface(cls, x: Any) -> "View":
        interface = x.__cuda_array_interface__
        address, read_only = interface["data"]
        # No stream, or none that is to be waited for: the default one, where everything is in order.
        stream = interface.get("stream") or 0
        dtype = numpy.dtype(interface["typestr"])
        # The protocol has no word for the device; the driver knows whose memory it is.
        return cls(x, interface_memory(interface), dtype, device_of(address), stream, not read_only)

    @classmethod
    def by_dlpack(cls, x: Any) -> "View":
        # 1 is the default stream: the owner makes that wait for whatever it has not finished.
        capsule = x.__dlpack__(stream=1)
        tensor = _Tensor.from_address(_capsule_pointer(capsule, b"dltensor"))
        kind = (tensor.dtype.code, tensor.dtype.bits)
        if kind not in _TYPES or tensor.dtype.lanes != 1:
            raise DtypeError(
                f"DLPack's type {kind} is not one that ozfft transforms; convert it to single or double precision"
            )
        dtype = numpy.dtype(_TYPES[kind])
        shape = tuple(tensor.shape[axis] for axis in range(tensor.rank))
        if tensor.strides:
            strides = tuple(tensor.strides[axis] * dtype.itemsize for axis in range(tensor.rank))
        else:
            strides = contiguous_strides(shape, dtype.itemsize)
        memory = Memory((tensor.data or 0) + tensor.byte_offset, shape, strides, dtype.itemsize)
        # The capsule is not consumed: it gives the memory back when this view is no longer needed.
        return cls((x, capsule), memory, dtype, tensor.device.number, 0, True)


class Foreign(Gpu):
    """Arrays that have ``__cuda_array_interface__`` or ``__dlpack__``."""

    def __init__(self) -> None:
        self.workspaces: dict = {}

    @staticmethod
    def knows(x: Any) -> bool:
        if hasattr(x, "__cuda_array_interface__"):
            return True
        if not hasattr(x, "__dlpack_device__"):
            return False
        return int(x.__dlpack_device__()[0]) in (_CUDA, _CUDA_MANAGED)

    def array(self, x: Any) -> View:
        if isinstance(x, View):
            return x
        return View.by_interface(x) if hasattr(x, "__cuda_array_interface__") else View.by_dlpack(x)

    def dtype(self, x: View) -> numpy.dtype:
        return x.dtype

    def convert(self, x: View, dtype: numpy.dtype) -> View:
        if x.dtype != dtype:
            raise DtypeError(
                f"{type(x.owner).__name__} holds {x.dtype} and {dtype} is needed; convert it with its own library"
            )
        return x

    def empty(self, like: View, shape: Sequence[int], dtype: numpy.dtype) -> Any:
        raise LayoutError(
            f"results on the GPU are made by the input's library, and how to ask this one is not known; "
            f"pass out=, an array of shape {tuple(shape)} and type {dtype}, or use CuPy or PyTorch"
        )

    def cropped(self, x: View, index: tuple) -> View:
        memory = x.memory._replace(shape=tuple(part.stop for part in index))
        return View(x.owner, memory, x.dtype, x.device, x.stream, x.writable)

    def padded(self, x: View, shape: Sequence[int], index: tuple) -> Any:
        raise LayoutError("arrays of this library cannot be padded here; pad them before the transform")

    def copy(self, x: View) -> Any:
        raise LayoutError("input and output share memory but are not the same array; pass another out=")

    def assign(self, out: Any, result: Any) -> None:
        raise DtypeError("out= has another type than the result; pass an array of the result's type")

    def memory(self, x: View) -> Memory:
        return x.memory

    def writable(self, x: View) -> bool:
        return x.writable

    def device(self, x: View) -> int:
        return x.device

    def stream(self, x: View) -> int:
        return x.stream

    def workspace(self, x: View, size: int) -> Tuple[Any, int]:
        if size == 0:
            return None, 0
        if is_recorded(x.device, x.stream):
            raise DeviceError(
                "the stream is being recorded, and memory of this library's arrays cannot be kept for the graph; "
                "take CuPy or PyTorch, whose memory can, or call outside of the recording"
            )
        # Calls in other streams, or of other threads, need memory of their own.
        key = (x.device, x.stream, threading.get_ident())
        held = self.workspaces.pop(key, None)
        if held is not None and held.size < size:
            held.free()
            held = None
        if held is None:
            held = DeviceMemory(x.device, size)
        self.workspaces[key] = held
        return held, held.address
