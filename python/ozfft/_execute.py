"""From arrays to a plan and its execution: the one place that hands addresses to the extension."""

from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy

from . import _ozfft
from ._arrays import is_torch, output_dtype, wanted_dtype
from ._errors import DeviceError, DtypeError, LayoutError
from ._options import Options, processors


class Kind:
    """A kind of transform: what goes in and comes out, and the sign of the exponent."""

    def __init__(self, name: str, direction: str) -> None:
        self.name = name
        self.direction = direction
        self.real_in = name == "r2c"
        self.real_out = name == "c2r"


FFT = Kind("c2c", "forward")
IFFT = Kind("c2c", "inverse")
RFFT = Kind("r2c", "forward")
IHFFT = Kind("r2c", "inverse")
IRFFT = Kind("c2r", "inverse")
HFFT = Kind("c2r", "forward")


def key_of(
    kind: Kind,
    precision: str,
    shape: Sequence[int],
    axes: Sequence[int],
    norm: str,
    layouts: tuple,
    options: Options,
    device: str,
) -> dict:
    """What a plan depends on, by the names of the extension."""
    return {
        "kind": kind.name,
        "precision": precision,
        "shape": tuple(shape),
        "axes": tuple(axes),
        "direction": kind.direction,
        "norm": norm,
        "input": layouts[0],
        "output": layouts[1],
        "accuracy": options.accuracy,
        "engine": options.engine,
        "device": device,
        # More threads than processors wait for each other, and each of them takes memory. The bits are the same.
        "threads": min(options.workers, processors()),
    }


def halved(shape: Sequence[int], axes: Sequence[int]) -> tuple:
    """The shape of the half-spectrum of real arrays of `shape`."""
    half = list(shape)
    half[axes[-1]] = half[axes[-1]] // 2 + 1
    return tuple(half)


def fit(library: Any, x: Any, shape: Sequence[int]) -> Any:
    """`x` cropped (a view) and padded with zeros (a copy) to `shape`."""
    if tuple(x.shape) == tuple(shape):
        return x
    index = tuple(slice(0, min(have, want)) for have, want in zip(x.shape, shape))
    if all(have >= want for have, want in zip(x.shape, shape)):
        return library.cropped(x, index)
    return library.padded(x, shape, index)


def transform(
    kind: Kind,
    library: Any,
    given: Any,
    lengths: Sequence[int],
    axes: Sequence[int],
    norm: str,
    options: Options,
    *,
    overwrite: bool = False,
    out: Any = None,
) -> Any:
    """Transforms `axes` (not negative, each once) of an array of a library, cropped or padded to `lengths`, which are those
    of the real array for real transforms."""
    if kind.real_in and library.dtype(given).kind == "c":
        raise TypeError("x must be a real sequence")
    shape = list(given.shape)
    for axis, n in zip(axes, lengths):
        shape[axis] = int(n)
    input_shape = halved(shape, axes) if kind.real_out else tuple(shape)
    output_shape = halved(shape, axes) if kind.real_in else tuple(shape)

    data = fit(library, given, input_shape)
    data = library.convert(data, wanted_dtype(library.dtype(data), kind.real_in))
    # Memory that was made here may be written; a view of the caller's only if the caller says so.
    owned = data is not given and not library.shares(data, given)
    result_dtype = output_dtype(library.dtype(data), kind.real_out)

    target = _target(library, out, output_shape, result_dtype)
    if target is None:
        may_write = kind.name == "c2c" and (owned or overwrite) and library.writable(data)
        in_place = may_write and not _torn(library, data)
        target = data if in_place else library.empty(data, output_shape, result_dtype)
    elif library.shares(data, target) and not _same_place(library, data, target):
        data = library.copy(data)
    if 0 not in output_shape:
        _run(library, kind, data, target, shape, axes, norm, options)
    return _returned(library, out, target)


def copied(library: Any, x: Any, out: Any) -> Any:
    """`out` with the elements of `x`: its transform along no axis."""
    library.assign(_checked(library, out, tuple(x.shape), library.dtype(x)), x)
    return out


def _torn(library: Any, data: Any) -> bool:
    """Whether several elements may lie in one place, as in broadcast arrays and sliding windows, so that nothing may be written there."""
    memory = library.memory(data)
    reach = memory.itemsize
    for stride, n in sorted((abs(stride), n) for n, stride in zip(memory.shape, memory.strides) if n > 1):
        # Beyond all that the shorter strides reach, or else it is not known.
        if stride < reach:
            return True
        reach += stride * (n - 1)
    return False


def _same_place(library: Any, data: Any, target: Any) -> bool:
    return library.memory(data) == library.memory(target)


def _target(library: Any, out: Any, shape: tuple, dtype: numpy.dtype) -> Any:
    """The array that is computed into: `out` if it will do, a new one otherwise."""
    if out is None:
        return None
    target = _checked(library, out, shape, dtype)
    usable = library.convert(target, dtype)
    return usable if usable is target else None


def _checked(library: Any, out: Any, shape: tuple, dtype: numpy.dtype) -> Any:
    """`out` as an array of the library, if it can take a result of this shape and type."""
    if not hasattr(out, "shape") and not library.on_gpu:
        raise TypeError("return arrays must be of ArrayType")
    target = library.array(out)
    if tuple(target.shape) != tuple(shape):
        raise LayoutError(f"output array has wrong shape: {tuple(target.shape)} was given, {tuple(shape)} is needed")
    if not library.writable(target):
        raise LayoutError("output array is read-only")
    given = library.dtype(target)
    if not numpy.can_cast(dtype, given, casting="same_kind"):
        raise DtypeError(f"Cannot cast the result from {dtype!r} to {given!r} with casting rule 'same_kind'")
    return target


def _returned(library: Any, out: Any, target: Any) -> Any:
    if out is None:
        torch = is_torch(library)
        return torch.from_numpy(target) if torch else target
    written = library.array(out)
    # Results that the given array cannot take as they are (another type or byte order) come by a copy.
    if written is not target and not _same_place(library, written, target):
        library.assign(written, target)
    return out


def _run(
    library: Any, kind: Kind, data: Any, target: Any, shape: Sequence[int], axes: Sequence[int], norm: str, options: Options
) -> None:
    source, goal = library.memory(data), library.memory(target)
    precision = "f4" if library.dtype(data).str[1:] in ("c8", "f4") else "f8"
    layouts = (source.layout(), goal.layout())
    device = _device(library, data, options.device)
    plan = _ozfft.plan(key_of(kind, precision, shape, axes, norm, layouts, options, device))
    addresses = (source.low(), goal.low())
    if library.on_gpu:
        workspace, address = library.workspace(data, plan.device_workspace)
        stream = library.stream(data)
        plan.run_device(*addresses, address, stream)
        # Freed only after that: libraries give memory back in the order of the stream.
        library.keep_for_graph(stream, data, workspace)
    else:
        plan.run(*addresses)


def _device(library: Any, data: Any, asked: Optional[str]) -> str:
    if not library.on_gpu:
        return "cpu" if asked is None else asked
    here = f"cuda:{library.device(data)}"
    if asked in (None, "auto", here) or (asked == "cuda" and here == "cuda:0"):
        return here
    raise DeviceError(f"the array is on {here} and the device {asked} was asked for; move the array, or leave device out")
