"""Transforms of arrays that are divided among MPI ranks, with the bits of one process on any number of ranks.

Needs mpi4py and the library ``libozfft_mpi_c`` (``cargo build --release -p ozfft-mpi-c --features mpi``), which is searched for where
``OZFFT_MPI_LIBRARY`` says, then where the system finds libraries. It is linked with the MPI that it was built on, which must be mpi4py's.

::

    # mpirun -n 4 python3 -m mpi4py program.py     (with -m mpi4py an exception of one rank ends all of them)
    import numpy as np
    from mpi4py import MPI
    from ozfft.mpi import DistributedPlan

    plan = DistributedPlan((60, 48, 50), MPI.COMM_WORLD)
    part = np.ones(plan.input_shape, plan.input_dtype)    # whole[plan.input_box] of this rank
    spectrum = plan(part)                                 # whole spectrum[plan.output_box]; collective
"""

from __future__ import annotations

import ctypes
import operator
import os
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ._arrays import precision_of
from ._errors import AccuracyError, DeviceError, DtypeError, OzfftError, ShapeError, UnsupportedError
from ._options import count_workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

__all__ = ["DistributedError", "DistributedPlan"]


class DistributedError(OzfftError, RuntimeError):
    """A distributed transform that was not planned or not computed; where one rank fails, all ranks raise this."""


_SIZES = ctypes.POINTER(ctypes.c_size_t)


class _Problem(ctypes.Structure):
    """``ozfft_mpi_problem`` of ozfft_mpi.h."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("kind", ctypes.c_int),
        ("bytes", ctypes.c_int),
        ("inverse", ctypes.c_int),
        ("norm", ctypes.c_int),
        ("accuracy", ctypes.c_double),
        ("dimensions", ctypes.c_size_t),
        ("shape", _SIZES),
        ("axes_count", ctypes.c_size_t),
        ("axes", _SIZES),
        ("batch", ctypes.c_size_t),
        ("grid_count", ctypes.c_size_t),
        ("grid", _SIZES),
        ("input_low", _SIZES),
        ("input_high", _SIZES),
        ("output_low", _SIZES),
        ("output_high", _SIZES),
        ("permuted_input", ctypes.c_int),
        ("permuted_output", ctypes.c_int),
        ("strict", ctypes.c_int),
        ("threads", ctypes.c_int),
        ("memory_limit", ctypes.c_uint64),
        ("device", ctypes.c_int),
        ("staged", ctypes.c_int),
    ]


_library: ctypes.CDLL | None = None


def _loaded() -> ctypes.CDLL:
    """The library, which is loaded with the first plan."""
    global _library
    if _library is not None:
        return _library
    given = os.environ.get("OZFFT_MPI_LIBRARY")
    reasons = []
    for name in [given] if given else ["libozfft_mpi_c.so.0", "libozfft_mpi_c.so"]:
        try:
            library = ctypes.CDLL(name)
            break
        except OSError as reason:
            reasons.append(str(reason))
    else:
        raise UnsupportedError(
            "libozfft_mpi_c cannot be loaded: cargo build --release -p ozfft-mpi-c --features mpi makes it, and OZFFT_MPI_LIBRARY says where it is"
            f" ({'; '.join(reasons)})"
        )
    pointer, place = ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
    functions: dict[str, tuple[Any, list[Any]]] = {
        "defaults": (None, [ctypes.POINTER(_Problem), ctypes.c_size_t, _SIZES]),
        "create_at": (ctypes.c_int, [ctypes.POINTER(_Problem), pointer, place]),
        "execute": (ctypes.c_int, [pointer, pointer, pointer]),
        "execute_device": (ctypes.c_int, [pointer, pointer, pointer]),
        "refuse": (ctypes.c_int, [pointer, ctypes.c_char_p]),
        "destroy": (None, [pointer]),
        "input_box": (ctypes.c_int, [pointer, ctypes.c_int, _SIZES, _SIZES]),
        "output_box": (ctypes.c_int, [pointer, ctypes.c_int, _SIZES, _SIZES]),
        "bound": (ctypes.c_double, [pointer]),
        "bytes_per_call": (ctypes.c_uint64, [pointer]),
        "bytes_sent": (ctypes.c_uint64, [pointer]),
        "workspace_bytes": (ctypes.c_uint64, [pointer]),
        "messages": (ctypes.c_int, [pointer]),
        "describe": (ctypes.c_char_p, [pointer]),
        "last_error": (ctypes.c_char_p, []),
    }
    for name, (result, arguments) in functions.items():
        function = getattr(library, "ozfft_mpi_" + name)
        function.restype, function.argtypes = result, arguments
    _library = library
    return library


def _lengths(shape: Any) -> tuple[int, ...]:
    """The lengths of a shape, with the errors of :func:`ozfft.plan`."""
    try:
        lengths = tuple(operator.index(n) for n in (shape if hasattr(shape, "__iter__") else (shape,)))
    except TypeError:
        raise ShapeError(f"{shape!r} is no shape; give one length, or a tuple of lengths") from None
    if not lengths or any(n < 1 for n in lengths):
        raise ShapeError(f"shape {lengths} has no transform; give lengths of 1 or more")
    if any(n >= 1 << 63 for n in lengths):
        raise ShapeError(f"the array of shape {lengths} has more elements than can be addressed")
    return lengths


def _axes(axes: Any, rank: int) -> list[int]:
    """Axes counted from 0."""
    numbered = [operator.index(axis) for axis in (axes if hasattr(axes, "__iter__") else (axes,))]
    if any(not -rank <= axis < rank for axis in numbered):
        raise ShapeError(f"axes {tuple(numbered)} do not exist in an array of {rank} dimensions")
    if not numbered:
        raise ShapeError("axes () have no transform; give an axis, or leave axes out for all of them")
    return [axis % rank for axis in numbered]


def _accuracy(accuracy: Any) -> float:
    """The header's number of an accuracy, which is written as for :func:`ozfft.plan`."""
    named = {"double": 0.0, "single": -1.0}
    wrong = AccuracyError(f'accuracy {accuracy!r} is not usable; give a relative error between 0 and 1, "double", "single" or "bits:40"')
    if accuracy is None:
        return 0.0
    if isinstance(accuracy, str):
        if accuracy in named:
            return named[accuracy]
        try:
            digits = accuracy.removeprefix("bits:")
            number = float(accuracy) if digits == accuracy else 2.0 ** -int(digits)
        except (ValueError, OverflowError):
            raise wrong from None
    else:
        number = float(accuracy)
    if not 0.0 < number < 1.0:
        raise wrong
    return number


def _device(device: Any) -> int | None:
    """The number of a GPU, which may be named as for :func:`ozfft.plan`; none for the processor."""
    if device is None or device == "cpu":
        return None
    wrong = DeviceError(f'there is no device {device!r}; give the number of this rank\'s GPU, or "cuda:1" for 1, or None for the processor')
    if isinstance(device, str):
        name, _, digits = device.partition(":")
        if name != "cuda" or not (digits.isdecimal() or device == "cuda"):
            raise wrong
        device = int(digits or 0)
    number = operator.index(device)
    if not 0 <= number < 1 << 31:
        raise wrong
    return number


def _whole_number(value: Any, what: str, least: int, most: int) -> int:
    """An integer that the header's type holds; ctypes would cut it."""
    number = operator.index(value)
    if not least <= number <= most:
        raise UnsupportedError(f"{what} is a number from {least} to {most}, and {number} was given")
    return number


def _sizes(numbers: Sequence[int], what: str) -> ctypes.Array[ctypes.c_size_t]:
    sizes = [_whole_number(number, what, 0, (1 << 63) - 1) for number in numbers]
    return (ctypes.c_size_t * len(sizes))(*sizes)


def _box(part: Sequence[slice], shape: Sequence[int], what: str) -> list[ctypes.Array[ctypes.c_size_t]]:
    if len(part) != len(shape) or any(one.step not in (None, 1) for one in part):
        raise UnsupportedError(f"{what} is a slice of step 1 for each of {len(shape)} dimensions, and {part} was given")
    ranges = [one.indices(length) for one, length in zip(part, shape, strict=True)]
    return [_sizes([one[end] for one in ranges], what) for end in (0, 1)]


def _device_array(array: Any, dtype: np.dtype[Any], what: str) -> tuple[int, tuple[int, ...]]:
    """Address and shape of a C-ordered array in a GPU's memory."""
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        raise UnsupportedError(f"{what} is in a GPU's memory as the other array is, and {type(array).__name__} has no __cuda_array_interface__")
    shape = tuple(interface["shape"])
    if np.dtype(interface["typestr"]) != dtype:
        raise UnsupportedError(f"{what} has numbers of type {dtype}, and {np.dtype(interface['typestr'])} was given")
    strides, expected = interface.get("strides"), dtype.itemsize
    for length, stride in zip(reversed(shape), reversed(strides or ()), strict=bool(strides)):
        if length > 1 and stride != expected:
            raise UnsupportedError(f"{what} is C-ordered without gaps, and has the strides {tuple(strides)}; copy it first")
        expected *= length
    return int(interface["data"][0]), shape


def _wait_for(array: Any) -> None:
    """Waits for work on an array in the stream that it names, or in CuPy's present one."""
    stream = array.__cuda_array_interface__.get("stream")
    if stream is None and not type(array).__module__.startswith("cupy"):
        return
    import cupy

    named = cupy.cuda.get_current_stream() if stream is None else cupy.cuda.ExternalStream(0 if stream == 1 else stream)
    named.synchronize()


_NORMS = {"backward": 0, "ortho": 1, "forward": 2, "unscaled": 3, "none": 3}
_KINDS = {"complex": 0, "real_to_complex": 1, "complex_to_real": 2}
#: The names of :func:`ozfft.plan`.
_SHORT_KINDS = {"c2c": "complex", "r2c": "real_to_complex", "c2r": "complex_to_real"}


class DistributedPlan:
    """A transform of an array of ``shape`` that is divided among the ranks of a communicator of mpi4py.

    Planning and calling are collective. ``shape`` is the global array's, of real transforms that of the real array; ``dtype`` is the type of
    real numbers. ``grid``, boxes and permuted ends say how arrays are divided, and do not change bits: by default the first dimensions are,
    ``input_box`` and ``output_box`` are tuples of slices, one a dimension, and permuted ends are divided as it costs least. ``accuracy``
    is a relative error, ``"single"`` or ``"bits:40"``; ``memory_limit`` the bytes of workspace that this rank has room for, at least 1.
    The words of :func:`ozfft.plan` are understood as well: kinds ``"c2c"``, ``"r2c"`` and ``"c2r"``, and ``workers`` for ``threads``. The norm ``"none"`` is ``"unscaled"``.

    ``device`` is the number of this rank's GPU, or ``"cuda:1"``, where lines are transformed on GPUs (the library is built with ``--features cuda`` then); all ranks have one,
    or none does. Parts may then be CuPy arrays, or others with ``__cuda_array_interface__``, as well as numpy's. Messages are sent from the GPU's memory where
    MPI says that it takes device pointers, and through page-locked memory where it does not, or with ``staged``.
    """

    def __init__(
        self,
        shape: int | Sequence[int],
        comm: Any,
        *,
        kind: Literal["complex", "real_to_complex", "complex_to_real", "c2c", "r2c", "c2r"] = "complex",
        axes: int | Sequence[int] | None = None,
        inverse: bool = False,
        norm: Literal["backward", "ortho", "forward", "unscaled", "none"] = "backward",
        accuracy: float | str | None = None,
        dtype: npt.DTypeLike = np.float64,
        grid: Sequence[int] | None = None,
        input_box: Sequence[slice] | None = None,
        output_box: Sequence[slice] | None = None,
        permuted_input: bool = False,
        permuted_output: bool = False,
        strict: bool = False,
        threads: int | None = None,
        memory_limit: int | None = None,
        device: int | str | None = None,
        staged: bool = False,
        workers: int | None = None,
    ) -> None:
        from mpi4py import MPI

        self._plan: ctypes.c_void_p | None = None
        self._library, self._comm = _loaded(), comm
        plan, kept = ctypes.c_void_p(), list[Any]()

        def keep(sizes: ctypes.Array[ctypes.c_size_t]) -> Any:
            kept.append(sizes)
            return ctypes.cast(sizes, _SIZES)

        try:
            real, lengths = np.dtype(dtype), _lengths(shape)
            if real not in (np.float64, np.float32):
                raise UnsupportedError(f"dtype is that of real numbers, float64 or float32, and {real} was given")
            named: str = _SHORT_KINDS.get(kind, kind)
            if named not in _KINDS or norm not in _NORMS:
                raise UnsupportedError(
                    f"kind is one of {[*_KINDS, *_SHORT_KINDS]} and norm one of {list(_NORMS)}; {kind!r} and {norm!r} were given"
                )
            if threads is not None and workers is not None:
                raise UnsupportedError("threads and workers are the same; give one of them")
            counted = 1 if threads is None else threads
            if workers is not None:
                counted = count_workers(operator.index(workers))
            chosen = list(range(len(lengths))) if axes is None else _axes(axes, len(lengths))
            problem = _Problem()
            self._library.ozfft_mpi_defaults(ctypes.byref(problem), len(lengths), keep(_sizes(lengths, "shape")))
            problem.kind, problem.norm, problem.bytes = _KINDS[named], _NORMS[norm], real.itemsize
            problem.inverse, problem.strict, problem.staged = bool(inverse), bool(strict), bool(staged)
            problem.permuted_input, problem.permuted_output = bool(permuted_input), bool(permuted_output)
            problem.accuracy, problem.threads = _accuracy(accuracy), _whole_number(counted, "threads", 1, (1 << 31) - 1)
            if memory_limit is not None:
                problem.memory_limit = _whole_number(memory_limit, "memory_limit", 1, (1 << 64) - 1)
            number = _device(device)
            if number is not None:
                problem.device = number
            if axes is not None:
                problem.axes_count, problem.axes = len(chosen), keep(_sizes(chosen, "axes"))
            if grid is not None:
                problem.grid_count, problem.grid = len(grid), keep(_sizes(grid, "grid"))
            half = [n // 2 + 1 if chosen[-1:] == [axis] else n for axis, n in enumerate(lengths)]
            if input_box is not None:
                whole = half if named == "complex_to_real" else lengths
                problem.input_low, problem.input_high = map(keep, _box(input_box, whole, "input_box"))
            if output_box is not None:
                whole = half if named == "real_to_complex" else lengths
                problem.output_low, problem.output_high = map(keep, _box(output_box, whole, "output_box"))
        except Exception:
            # Whatever it is: the other ranks wait in planning, and are told.
            self._library.ozfft_mpi_create_at(None, MPI._addressof(comm), ctypes.byref(plan))
            raise
        self._expect(self._library.ozfft_mpi_create_at(ctypes.byref(problem), MPI._addressof(comm), ctypes.byref(plan)))
        self._plan = plan
        complex_type = np.dtype(np.complex128 if real == np.float64 else np.complex64)
        self._in_place = named == "complex"
        #: Types of the numbers that are read and written.
        self.input_dtype = real if named == "real_to_complex" else complex_type
        self.output_dtype = real if named == "complex_to_real" else complex_type
        self._dimensions = len(lengths)
        #: This rank's parts of the global arrays, as tuples of slices.
        self.input_box = self.input_box_of(comm.rank)
        self.output_box = self.output_box_of(comm.rank)
        #: Shapes of this rank's parts.
        self.input_shape = tuple(part.stop - part.start for part in self.input_box)
        self.output_shape = tuple(part.stop - part.start for part in self.output_box)

    def _expect(self, code: int) -> None:
        if code != 0:
            raise DistributedError(_loaded().ozfft_mpi_last_error().decode())

    def _box_of(self, function: Any, rank: int) -> tuple[slice, ...]:
        low, high = ((ctypes.c_size_t * self._dimensions)() for _ in range(2))
        self._expect(function(self._plan, rank, low, high))
        return tuple(slice(first, last) for first, last in zip(low, high, strict=True))

    def input_box_of(self, rank: int) -> tuple[slice, ...]:
        """The part of the input that a rank holds."""
        return self._box_of(self._library.ozfft_mpi_input_box, rank)

    def output_box_of(self, rank: int) -> tuple[slice, ...]:
        """The part of the output that a rank gets."""
        return self._box_of(self._library.ozfft_mpi_output_box, rank)

    def __call__(self, part: npt.ArrayLike, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """Transforms this rank's part; collective. ``out`` may be ``part`` itself where a complex array's parts have as many elements.

        A part in a GPU's memory gives a result there, in ``out``, or in an array of CuPy.
        """
        try:
            on_device = hasattr(part, "__cuda_array_interface__")
            arrays = None if on_device else self._on_processor(part, out)
        except Exception as reason:
            # Whatever it is: the other ranks wait in the call, and are told.
            self._refuse(str(reason) or type(reason).__name__)
            raise
        if arrays is None:
            return self._on_device(part, out)
        given, result = arrays
        self._expect(self._library.ozfft_mpi_execute(self._plan, given.ctypes.data, result.ctypes.data))
        return result.reshape(self.output_shape)

    def _refuse(self, reason: str) -> None:
        """Takes part in a call that this rank cannot make."""
        self._library.ozfft_mpi_refuse(self._plan, reason.encode(errors="replace"))

    def _on_processor(self, part: Any, out: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """This rank's part, and the array for the result."""
        array = np.asarray(part)
        # Long doubles are rejected as by ozfft.fft, and imaginary parts as by ozfft.rfft.
        if precision_of(array.dtype) == "f8" and array.dtype.kind in "fc" and precision_of(self.input_dtype) == "f4":
            raise DtypeError(
                f"this rank's part is of {array.dtype}, and the plan is for {self.input_dtype}, which has fewer digits; "
                f"give part.astype({str(self.input_dtype)!r}), or plan with dtype='float64'"
            )
        if array.dtype.kind == "c" and self.input_dtype.kind == "f":
            raise DtypeError(f"this rank's part is of {array.dtype}, and the plan is for real numbers; give its real part, or plan kind complex")
        given = np.require(array, self.input_dtype, ("C_CONTIGUOUS", "ALIGNED"))
        if given.shape != self.input_shape:
            raise DistributedError(f"this rank's part has the shape {self.input_shape}, and {given.shape} was given")
        if out is None:
            return given, np.empty(self.output_shape, self.output_dtype)
        usable = isinstance(out, np.ndarray) and out.dtype == self.output_dtype and out.flags.carray
        if not usable or out.size != np.prod(self.output_shape, dtype=int):
            raise DistributedError(f"out is a writeable, aligned, C-ordered array of {self.output_dtype} of shape {self.output_shape}")
        if out is not part and np.may_share_memory(out, given):
            given = given.copy()
        return given, out

    def _on_device(self, part: Any, out: Any) -> Any:
        """A part in a GPU's memory."""
        problem: str | None = None
        given: tuple[int, tuple[int, ...]] = (0, ())
        result = given
        try:
            if out is None:
                import cupy

                out = cupy.empty(self.output_shape, self.output_dtype)
            given = _device_array(part, self.input_dtype, "this rank's part")
            result = _device_array(out, self.output_dtype, "out")
            if given[1] != self.input_shape:
                problem = f"this rank's part has the shape {self.input_shape}, and {given[1]} was given"
            elif result[1] != self.output_shape and (out is not part or np.prod(result[1]) != np.prod(self.output_shape)):
                problem = f"out has the shape {self.output_shape}, and {result[1]} was given"
            for array in (part, out):
                _wait_for(array)
        except Exception as reason:
            problem = str(reason) or type(reason).__name__
        if problem is not None:
            self._refuse(problem)
            raise DistributedError(problem)
        self._expect(self._library.ozfft_mpi_execute_device(self._plan, given[0], result[0]))
        return out.reshape(self.output_shape) if result[1] != self.output_shape else out

    @property
    def messages(self) -> str:
        """How messages go: from the ``"processor"``, from the ``"device"``, or ``"staged"``, from the device through page-locked memory."""
        return ("processor", "device", "staged")[self._library.ozfft_mpi_messages(self._plan)]

    @property
    def bound(self) -> float:
        """Relative L2 error that no finite input exceeds."""
        return float(self._library.ozfft_mpi_bound(self._plan))

    @property
    def bytes_per_call(self) -> int:
        """Bytes that this rank sends to others in one call."""
        return int(self._library.ozfft_mpi_bytes_per_call(self._plan))

    @property
    def bytes_sent(self) -> int:
        """Bytes that it has sent so far."""
        return int(self._library.ozfft_mpi_bytes_sent(self._plan))

    @property
    def workspace_bytes(self) -> int:
        """Bytes of workspace on this rank."""
        return int(self._library.ozfft_mpi_workspace_bytes(self._plan))

    def __str__(self) -> str:
        text: bytes = self._library.ozfft_mpi_describe(self._plan)
        return text.decode()

    def __del__(self) -> None:
        plan, self._plan = getattr(self, "_plan", None), None
        if plan is not None:
            self._library.ozfft_mpi_destroy(plan)
