"""Plans: a transform that is described once, asked about, and called many times."""

from __future__ import annotations

import decimal
import operator
from typing import Any, Literal, NamedTuple, Optional, Sequence, Tuple, Union

import numpy

from . import _ozfft
from ._arrays import contiguous_strides, precision_of
from ._calls import norm_name
from ._errors import ShapeError, UnsupportedError
from ._execute import FFT, HFFT, IFFT, IHFFT, IRFFT, RFFT, halved, key_of, transform
from ._libraries import library_of
from ._options import Options, resolve

_KINDS = {
    ("c2c", "forward"): FFT,
    ("c2c", "inverse"): IFFT,
    ("r2c", "forward"): RFFT,
    ("r2c", "inverse"): IHFFT,
    ("c2r", "forward"): HFFT,
    ("c2r", "inverse"): IRFFT,
}


def bound_text(bound: float) -> str:
    """A bound in two decimal digits, rounded up: read again it is never below the bound, as the nearest text may be.

    >>> bound_text(1.684e-15), bound_text(1.7e-15), bound_text(9.91e-16)
    ('1.7e-15', '1.7e-15', '1.0e-15')
    """
    nearest = f"{bound:.1e}"
    if not float(nearest) < bound:
        return nearest
    above = decimal.Context(prec=2, rounding=decimal.ROUND_CEILING).create_decimal_from_float(bound)
    return f"{float(above):.1e}"


class Plan:
    """A planned transform; made by :func:`plan`.

    Calling it transforms an array of its input's shape, of any strides, of numpy, CuPy or PyTorch. A plan may be used
    by several threads at once, and pickled: the description is saved, and the process that loads it plans again.

    >>> import numpy, ozfft, pickle
    >>> plan = ozfft.plan((4, 6), kind="r2c")
    >>> copy = pickle.loads(pickle.dumps(plan))
    >>> copy == plan, copy(numpy.ones((4, 6)))[0, 0]
    (True, np.complex128(24+0j))
    """

    def __init__(self, kind: Any, shape: tuple, axes: tuple, norm: str, precision: str, options: Any) -> None:
        self._kind = kind
        self._shape = shape
        self._axes = axes
        self._norm = norm
        self._precision = precision
        self._options = options
        layouts = tuple(_contiguous_layout(each) for each in (self.input_shape, self.output_shape))
        device = "cpu" if options.device is None else options.device
        self._planned = _ozfft.plan(key_of(kind, precision, shape, axes, norm, layouts, options, device))

    @property
    def input_shape(self) -> Tuple[int, ...]:
        """The shape of arrays that it takes."""
        return halved(self._shape, self._axes) if self._kind.real_out else self._shape

    @property
    def output_shape(self) -> Tuple[int, ...]:
        """The shape of arrays that it returns."""
        return halved(self._shape, self._axes) if self._kind.real_in else self._shape

    @property
    def input_dtype(self) -> numpy.dtype:
        """The type of numbers that it takes; others are converted."""
        return numpy.dtype(("f" if self._kind.real_in else "c") + str(self._size * (1 if self._kind.real_in else 2)))

    @property
    def output_dtype(self) -> numpy.dtype:
        """The type of numbers that it returns."""
        return numpy.dtype(("f" if self._kind.real_out else "c") + str(self._size * (1 if self._kind.real_out else 2)))

    @property
    def _size(self) -> int:
        return int(self._precision[1:])

    @property
    def bound(self) -> float:
        """Relative L2 error that no finite input exceeds (where ``bound_is_proven``; else what is to be expected).

        It holds for each transform of a batch by itself, as long as no output overflows or is subnormal, and is relative to
        the norm of the result; of ``irfftn`` over several axes, to the norm of the half-spectrum as given, which is the same
        unless no real array has that half-spectrum. docs/numerics.md, section 9, says exactly what is promised.
        """
        return self._planned.bound

    @property
    def bound_is_proven(self) -> bool:
        """Whether there is a proof of the bound."""
        return self._planned.bound_is_proven

    @property
    def accuracy_is_proven(self) -> bool:
        """Whether it is proven that every input keeps the error that was asked for."""
        return self._planned.accuracy_is_proven

    @property
    def expected(self) -> float:
        """Relative L2 error to expect of random input."""
        return self._planned.expected

    @property
    def engine(self) -> str:
        """The engine that runs: never ``auto``."""
        return self._planned.engine

    @property
    def substrate(self) -> str:
        """The unit that multiplies."""
        return self._planned.substrate

    @property
    def device(self) -> str:
        """The device that runs: never ``auto``."""
        return self._planned.device

    def describe(self) -> str:
        """Steps, digits, unit, bound, workspace, and why they were chosen."""
        return self._planned.describe()

    def _description(self) -> tuple:
        return (self._kind.name, self._kind.direction, self._shape, self._axes, self._norm, self._precision, self._options)

    def __reduce__(self) -> tuple:
        return _planned_again, self._description()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Plan):
            return NotImplemented
        return self._description() == other._description()

    def __hash__(self) -> int:
        return hash(self._description())

    def __repr__(self) -> str:
        return f"<ozfft.Plan {self._kind.name} {self._kind.direction} {self._shape}, {self.engine}, bound {bound_text(self.bound)}>"

    def __call__(self, x: Any, *, out: Any = None, overwrite_x: bool = False) -> Any:
        """Transforms an array.

        Parameters
        ----------
        x : array
            Of the shape `input_shape` and of the precision of `input_dtype`.
        out : array, optional
            The array that the result goes to, of any strides; it may be `x`.
        overwrite_x : bool, optional
            Whether the memory of `x` may be used for the result.

        Returns
        -------
        array
            Of the shape `output_shape` and the type `output_dtype`.
        """
        library = library_of(x)
        array = library.array(x)
        if tuple(array.shape) != self.input_shape:
            raise ShapeError(f"the plan is for arrays of shape {self.input_shape}, {tuple(array.shape)} was given")
        given = library.dtype(array)
        if precision_of(given) != self._precision:
            raise UnsupportedError(
                f"the plan is for {self.input_dtype}, and {given} is transformed in another precision; "
                "convert the array, or plan with its dtype"
            )
        lengths = [self._shape[axis] for axis in self._axes]
        return transform(
            self._kind, library, array, lengths, self._axes, self._norm, self._options, overwrite=overwrite_x, out=out
        )


def _planned_again(
    kind: str, direction: str, shape: tuple, axes: tuple, norm: str, precision: str, options: tuple
) -> Plan:
    """A plan from its description; for pickles."""
    return Plan(_KINDS[kind, direction], shape, axes, norm, precision, Options(*options))


def _contiguous_layout(shape: Sequence[int]) -> tuple:
    return contiguous_strides(shape, 1), 0


def plan(
    shape: Union[int, Sequence[int]],
    *,
    kind: Literal["c2c", "r2c", "c2r"] = "c2c",
    axes: Union[int, Sequence[int], None] = None,
    direction: Optional[Literal["forward", "inverse"]] = None,
    norm: Optional[Literal["backward", "ortho", "forward", "unscaled"]] = None,
    dtype: Any = numpy.float64,
    accuracy: Union[str, float, None] = None,
    engine: Optional[str] = None,
    device: Optional[str] = None,
    workers: Optional[int] = None,
) -> Plan:
    """Plans a transform of arrays of one shape, to be asked about and called.

    Parameters
    ----------
    shape : int or sequence of int
        The shape of the arrays; the real array's for real transforms.
    kind : {"c2c", "r2c", "c2r"}, optional
        What goes in and comes out, real or complex numbers.
    axes : int or sequence of int, optional
        The axes that are transformed; all by default.
    direction : {"forward", "inverse"}, optional
        The sign of the exponent; by default forward, and inverse for "c2r".
    norm : {"backward", "ortho", "forward", "unscaled"}, optional
        Which direction is scaled; "backward" by default.
    dtype : dtype, optional
        Any type of the precision that is meant; double precision by default.
    accuracy, engine, device, workers : optional
        As for :func:`fft`.

    Returns
    -------
    Plan
        With its bound, its description, and itself to be called.

    Examples
    --------
    >>> import numpy, ozfft
    >>> plan = ozfft.plan((64, 64), accuracy=1e-10)
    >>> plan.bound < 1e-10, plan.bound_is_proven
    (True, True)
    >>> plan.describe().splitlines()[0]
    'complex-to-complex [64, 64], axes [0, 1], batch 1, Forward, norm Backward, device cpu, 1 threads'
    >>> plan(numpy.ones((64, 64)))[0, 0]
    np.complex128(4096+0j)
    """
    try:
        lengths = tuple(operator.index(n) for n in (shape if hasattr(shape, "__iter__") else (shape,)))
    except TypeError:
        raise ShapeError(f"{shape!r} is no shape; give one length, or a tuple of lengths") from None
    if direction is None:
        direction = "inverse" if kind == "c2r" else "forward"
    if (kind, direction) not in _KINDS:
        raise UnsupportedError(
            f"there is no transform {kind!r}, {direction!r}; give c2c, r2c or c2r, and forward or inverse"
        )
    rank = len(lengths)
    if axes is None:
        numbered = tuple(range(rank))
    else:
        numbered = tuple(operator.index(axis) for axis in (axes if hasattr(axes, "__iter__") else (axes,)))
        if any(not -rank <= axis < rank for axis in numbered):
            raise ShapeError(f"axes {numbered} do not exist in an array of {rank} dimensions")
        numbered = tuple(axis % rank for axis in numbered)
    if not lengths or not numbered or any(n < 1 for n in lengths):
        raise ShapeError(f"shape {lengths} with axes {numbered} has no transform; give lengths of 1 or more, and an axis")
    if any(n >= 1 << 63 for n in lengths):
        raise ShapeError(f"the array of shape {lengths} has more elements than can be addressed; give shorter lengths")
    try:
        name = "unscaled" if norm == "unscaled" else norm_name(norm)
    except ValueError:
        raise ValueError(f'Invalid norm value {norm!r}, should be "backward", "ortho", "forward" or "unscaled"') from None
    options = resolve(accuracy, engine, device, workers)
    precision = precision_of(numpy.dtype(dtype))
    return Plan(_KINDS[kind, direction], lengths, numbered, name, precision, options)


def clear_plans() -> None:
    """Forgets plans and tables of the processor. Those of GPUs stay, because streams may still be at work with them.

    >>> import ozfft
    >>> ozfft.clear_plans()
    """
    _ozfft.clear_plans()


class PlanMemory(NamedTuple):
    """What cached plans hold; see :func:`plan_memory`."""

    plans: int
    bytes: int
    limit: int


def plan_memory() -> PlanMemory:
    """How many plans are cached, their estimated bytes, and the limit.

    Beyond the limit, the least recently used plans are evicted; plans for GPUs stay, and are not counted in
    the bytes. Bytes are those of tables, about: tables of one length are shared between plans, and counted for each.

    Returns
    -------
    PlanMemory
        A named tuple of `plans`, `bytes` and `limit`.

    Examples
    --------
    >>> import ozfft
    >>> ozfft.plan_memory().limit
    268435456
    """
    return PlanMemory(*_ozfft.plan_memory())


def set_plan_memory(limit: int) -> None:
    """Sets the most bytes that cached plans may hold; 256 MiB by default. 0 caches nothing.

    Parameters
    ----------
    limit : int
        Bytes.

    Examples
    --------
    >>> import ozfft
    >>> ozfft.set_plan_memory(64 << 20)
    >>> ozfft.plan_memory().limit
    67108864
    >>> ozfft.set_plan_memory(256 << 20)
    """
    number = operator.index(limit)
    if number < 0:
        raise ValueError(f"{number} bytes are no memory; give 0 or more")
    _ozfft.set_plan_memory(min(number, 1 << 62))
