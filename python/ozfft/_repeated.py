"""Calls that are made again: with an array of the same type, shape and place, and the same arguments.

Working out what a call means takes longer than a short transform. What was worked out is kept, by all that it depends on. Plans on the
processor are not, they are looked for in every call, as they may be evicted; plans on GPUs stay in any case.
"""

from __future__ import annotations

from typing import Any, Callable, Optional

import numpy

from . import _ozfft
from ._arrays import NUMPY, Cupy, Torch, precision_of
from ._execute import Kind, key_of
from ._options import Options

_NATIVE = {
    True: (numpy.dtype(numpy.float64), numpy.dtype(numpy.float32)),
    False: (numpy.dtype(numpy.complex128), numpy.dtype(numpy.complex64)),
}

# Programs transform arrays of few shapes many times.
_MOST = 1024
_known: dict[tuple, tuple] = {}


def _is_plain(x: numpy.ndarray) -> bool:
    flags = x.flags
    return flags.c_contiguous and flags.aligned


def _on_processor(call: tuple, x: numpy.ndarray) -> Any:
    known = _known.get((call, x.dtype, x.shape))
    if known is None or not _is_plain(x):
        return None
    prepared, shape, dtype = known
    result = numpy.empty(shape, dtype)
    prepared.run(x.__array_interface__["data"][0], result.__array_interface__["data"][0])
    return result


def _of_torch(library: Torch) -> Callable[[tuple, Any], Any]:
    """For tensors on GPUs. Which stream is the current one, and whether numbers lie as the tensor says, is asked in every call."""
    torch = library.torch
    empty = torch.empty
    byte = torch.uint8

    def again(call: tuple, x: Any) -> Any:
        device = x.device
        known = _known.get((call, x.dtype, x.shape, device, x.layout))
        if known is None or not x.is_contiguous() or x.requires_grad or x.is_conj() or x.is_neg():
            return None
        plan, shape, dtype, size = known
        result = empty(shape, dtype=dtype, device=device)
        workspace = empty(size, dtype=byte, device=device) if size else None
        address = workspace.data_ptr() if workspace is not None else 0
        plan.run_device(x.data_ptr(), result.data_ptr(), address, library.stream(x))
        return result

    return again


def _of_cupy(library: Cupy) -> Callable[[tuple, Any], Any]:
    """For arrays of CuPy on its current device, where it makes memory and has its current stream."""
    cupy = library.cupy
    empty = cupy.empty
    allocate = cupy.cuda.alloc
    current_stream = cupy.cuda.get_current_stream
    current_device = cupy.cuda.runtime.getDevice

    def again(call: tuple, x: Any) -> Any:
        memory = x.data
        device = memory.device_id
        known = _known.get((call, x.dtype, x.shape, device))
        if known is None or not x.flags.c_contiguous or device != current_device():
            return None
        plan, shape, dtype, size = known
        result = empty(shape, dtype)
        workspace = allocate(size) if size else None
        stream = int(current_stream().ptr)
        address = workspace.ptr if workspace is not None else 0
        plan.run_device(memory.ptr, result.data.ptr, address, stream)
        library.keep_for_graph(stream, workspace)
        return result

    return again


# How a call is made again with an array of a type; of libraries when they have been met.
_ways: dict[type, Callable[[tuple, Any], Any]] = {numpy.ndarray: _on_processor}


def may_repeat(x: Any) -> bool:
    """Whether calls with arrays of this type are remembered."""
    return type(x) in _ways


def meet(library: Any) -> None:
    """Remembers calls with the arrays of a library from now on, where that is known how."""
    if isinstance(library, Torch):
        _ways.setdefault(library.torch.Tensor, _of_torch(library))
    elif isinstance(library, Cupy):
        _ways.setdefault(library.cupy.ndarray, _of_cupy(library))


def repeated(call: tuple, x: Any) -> Any:
    """The result, or None where the call was not made before, or the array does not lie as it did."""
    return _ways[type(x)](call, x)


def remember(
    call: tuple, kind: Kind, library: Any, x: Any, result: Any, lengths: list, axes: Any, norm: str, options: Options
) -> None:
    """Keeps what a call has meant, where the array was transformed as it is, into a new one."""
    place = _place_of(library, x, result, options)
    if place is None:
        return
    dtype = library.dtype(x)
    if dtype not in _NATIVE[kind.real_in] or 0 in x.shape:
        return
    device, where = place
    shape = list(x.shape)
    for axis, n in zip(axes, lengths):
        shape[axis] = n
    layouts = (library.memory(x).layout(), library.memory(result).layout())
    key = key_of(kind, precision_of(dtype), shape, axes, norm, layouts, options, device)
    if len(_known) >= _MOST:
        _known.clear()
    entry: tuple
    if library is NUMPY:
        entry = (_ozfft.prepared(key), result.shape, result.dtype)
    else:
        plan = _ozfft.plan(key)
        entry = (plan, tuple(result.shape), result.dtype, plan.device_workspace)
    _known[(call, x.dtype, x.shape, *where)] = entry


def _place_of(library: Any, x: Any, result: Any, options: Options) -> Optional[tuple]:
    """The device, and what else calls are known by, of an array that lies as calls are remembered for."""
    if library is NUMPY:
        here = options.device in (None, "cpu") and _is_plain(x) and _is_plain(result)
        return ("cpu", ()) if here else None
    if not library.on_gpu or type(x) not in _ways:
        return None
    device = f"cuda:{library.device(x)}"
    if isinstance(library, Torch):
        lies = x.is_contiguous() and result.is_contiguous() and not (x.requires_grad or x.is_conj() or x.is_neg())
        return (device, (x.device, x.layout)) if lies else None
    lies = x.flags.c_contiguous and result.flags.c_contiguous
    return (device, (library.device(x),)) if lies else None
