"""The functions of :mod:`numpy.fft`, with its arguments and its rules where they differ from scipy's.

>>> import numpy, ozfft.numpy_fft
>>> ozfft.numpy_fft.fft(numpy.ones(4))
array([4.+0.j, 0.+0.j, 0.+0.j, 0.+0.j])

Put in numpy's place, it computes the transforms of programs that cannot be changed:

>>> numpy.fft = ozfft.numpy_fft                                   # doctest: +SKIP

Long doubles, which ozfft would shorten, are left to numpy's own functions. Arrays with an ``__array_function__`` are asked, as
numpy asks them: quantities keep their units, and arrays of dask stay to be computed later.
"""

from __future__ import annotations

import functools
import inspect
import operator
import warnings
from typing import Any, Callable, Optional

import numpy
from numpy.lib.array_utils import normalize_axis_index

from . import _duck, _transforms
from ._arrays import NUMPY
from ._describe import described
from ._execute import FFT, HFFT, IFFT, IHFFT, IRFFT, RFFT, Kind, transform
from ._helpers import fftfreq, fftshift, ifftshift, rfftfreq
from ._libraries import is_longer_than_double, library_of
from ._options import resolve

__all__ = [
    "fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "rfftn", "irfftn", "rfft2", "irfft2", "fft2", "ifft2", "fftn",
    "ifftn", "fftshift", "ifftshift", "fftfreq", "rfftfreq",
]  # fmt: skip


# Numpy's own, as they were before anybody put this module in their place.
_NUMPY = {name: getattr(numpy.fft, name) for name in __all__}


def _norm(norm: Optional[str]) -> str:
    if norm is None:
        return "backward"
    if norm in ("backward", "ortho", "forward"):
        return norm
    raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')


def _documentation(name: str) -> str:
    """Of a function of this module: what it does, its parameters, and that it does the same as numpy's."""
    first = (getattr(_transforms, name).__doc__ or "").partition("\n")[0]
    half = "half of it along the last axis" if name.startswith(("rfft", "ihfft")) else "of the transform's lengths"
    return f"""{first}

    The arguments and rules are those of :func:`numpy.fft.{name}`.

    {{parameters}}

    Returns
    -------
    {"real" if name.startswith(("irfft", "hfft")) else "complex"} array
        The transform, {half}.

    Examples
    --------
    >>> import numpy, ozfft.numpy_fft
    >>> a = [[1.0, 2.0], [3.0, 4.0]]
    >>> bool(numpy.allclose(ozfft.numpy_fft.{name}(a), numpy.fft.{name}(a)))
    True
    """


def _asks(function: Callable) -> Callable:
    """Documents a function of this module, and makes it ask arrays that have a say in it."""
    name = function.__name__
    real_out = name.startswith(("irfft", "hfft"))
    function.__doc__ = _documentation(name)
    function = described(
        x="Real data" if name.startswith(("rfft", "ihfft")) else "Data, real or complex",
        which="transform",
        default="`2 * (m - 1)` for `m` numbers along the last axis given" if real_out else "as `a` has it",
        axes="the last two by default" if name.endswith("2") else "all by default",
    )(function)

    @functools.wraps(function)
    def asking(a, *args, **kwargs):
        out = kwargs.get("out", args[3] if len(args) > 3 else None)
        if not _duck.is_duck(a) and not _duck.is_duck(out):
            return function(a, *args, **kwargs)
        if out is None and _duck.is_dask(a):
            return _later(name, function, a, args, kwargs)
        known = _duck.NumpysFunction(name, asking, function)
        return _duck.ask(known, (a, out), (a, *args), kwargs)

    return asking


def _later(name: str, function: Callable, a: Any, args: tuple, kwargs: dict) -> Any:
    """The transform of an array of dask, which is computed later."""
    given = inspect.signature(function).bind(a, *args, **kwargs).arguments
    lengths, axes = (given.get(short, given.get(long)) for short, long in (("n", "s"), ("axis", "axes")))
    later = getattr(_transforms, name)
    return _duck.later(name, later, a, lengths, axes, given.get("norm"), resolve()._asdict())


def _read(a: Any) -> tuple:
    """The library of an array, and the array as that library has it. Only GPUs' arrays are not made numpy's."""
    library = library_of(a)
    return (library if library.on_gpu else NUMPY), library.array(a)


def _one(name: str, kind: Kind, a: Any, n: Optional[int], axis: int, norm: Optional[str], out: Any) -> Any:
    library, a = _read(a)
    if is_longer_than_double(a):
        # Two of them have no `out` in numpy.
        return _NUMPY[name](a, n, axis, norm, **({} if out is None else {"out": out}))
    if n is None:
        n = (a.shape[axis] - 1) * 2 if kind.real_out else a.shape[axis]
    n = operator.index(n)
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    scaling = _norm(norm)
    axis = normalize_axis_index(axis, a.ndim)
    return transform(kind, library, a, (n,), (axis,), scaling, resolve(), out=out)


def _shape_and_axes(a: Any, s: Any, axes: Any, halved: bool) -> tuple:
    """Lengths and axes as numpy reads them: axes may repeat, and two habits are warned of."""
    shapeless = s is None
    if shapeless:
        lengths = list(a.shape) if axes is None else [a.shape[axis] for axis in axes]
    else:
        lengths = list(s)
    if axes is None:
        if not shapeless:
            warnings.warn(
                "`axes` should not be `None` if `s` is not `None` (deprecated in NumPy 2.0); "
                "name the axes that `s` is meant for",
                DeprecationWarning,
                stacklevel=5,
            )
        axes = list(range(-len(lengths), 0))
    if len(lengths) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    if halved and shapeless:
        lengths[-1] = (a.shape[axes[-1]] - 1) * 2
    if None in lengths:
        warnings.warn(
            "Passing an array containing `None` values to `s` is deprecated in NumPy 2.0; give -1 or leave `s` out",
            DeprecationWarning,
            stacklevel=5,
        )
    for place, axis in enumerate(axes):
        default = a.shape[axis]
        if lengths[place] is None:
            last = halved and place == len(axes) - 1
            lengths[place] = (default - 1) * 2 if last else default
        elif lengths[place] == -1:
            lengths[place] = default
    return lengths, [normalize_axis_index(axis, a.ndim) for axis in axes]


def _many(name: str, kind: Kind, a: Any, s: Any, axes: Any, norm: Optional[str], out: Any) -> Any:
    library, a = _read(a)
    if is_longer_than_double(a):
        return _NUMPY[name](a, s, axes, norm, out)
    lengths, axes = _shape_and_axes(a, s, axes, kind.real_out)
    lengths = [operator.index(n) for n in lengths]
    if any(n < 1 for n in lengths):
        raise ValueError(f"Invalid number of FFT data points ({min(lengths)}) specified.")
    if not axes:
        if kind.name == "c2c":
            return a
        raise IndexError("list index out of range")
    if len(set(axes)) == len(axes):
        return transform(kind, library, a, lengths, axes, _norm(norm), resolve(), out=out)
    # An axis that is named twice is transformed twice: then it is one axis after the other, in numpy's order.
    options, scaling = resolve(), _norm(norm)
    whole = IFFT if kind.direction == "inverse" else FFT
    steps = list(zip(lengths, axes))
    if kind.real_out:
        for n, axis in steps[:-1]:
            a = transform(whole, library, a, (n,), (axis,), scaling, options)
        n, axis = steps[-1]
        return transform(kind, library, a, (n,), (axis,), scaling, options, out=out)
    for step, (n, axis) in enumerate(reversed(steps)):
        this = kind if step == 0 else whole
        a = transform(this, library, a, (n,), (axis,), scaling, options, out=out if step == len(steps) - 1 else None)
    return a


@_asks
def fft(a, n=None, axis=-1, norm=None, out=None):
    return _one("fft", FFT, a, n, axis, norm, out)


@_asks
def ifft(a, n=None, axis=-1, norm=None, out=None):
    return _one("ifft", IFFT, a, n, axis, norm, out)


@_asks
def rfft(a, n=None, axis=-1, norm=None, out=None):
    return _one("rfft", RFFT, a, n, axis, norm, out)


@_asks
def irfft(a, n=None, axis=-1, norm=None, out=None):
    return _one("irfft", IRFFT, a, n, axis, norm, out)


@_asks
def hfft(a, n=None, axis=-1, norm=None, out=None):
    return _one("hfft", HFFT, a, n, axis, norm, out)


@_asks
def ihfft(a, n=None, axis=-1, norm=None, out=None):
    return _one("ihfft", IHFFT, a, n, axis, norm, out)


@_asks
def fftn(a, s=None, axes=None, norm=None, out=None):
    return _many("fftn", FFT, a, s, axes, norm, out)


@_asks
def ifftn(a, s=None, axes=None, norm=None, out=None):
    return _many("ifftn", IFFT, a, s, axes, norm, out)


@_asks
def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return _many("fft2", FFT, a, s, axes, norm, out)


@_asks
def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return _many("ifft2", IFFT, a, s, axes, norm, out)


@_asks
def rfftn(a, s=None, axes=None, norm=None, out=None):
    return _many("rfftn", RFFT, a, s, axes, norm, out)


@_asks
def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return _many("rfft2", RFFT, a, s, axes, norm, out)


@_asks
def irfftn(a, s=None, axes=None, norm=None, out=None):
    return _many("irfftn", IRFFT, a, s, axes, norm, out)


@_asks
def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return _many("irfft2", IRFFT, a, s, axes, norm, out)
