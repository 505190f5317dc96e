"""Arrays that stand for more than their numbers: quantities with units, arrays that are computed later.

They say how numpy's functions treat them by ``__array_function__`` (NEP 18). A transform of such an array is dispatched as numpy
dispatches it, with one difference: where the array leaves the numbers to numpy, they are transformed here.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable, Sequence

import numpy

from ._errors import UnsupportedError

_NUMPYS = numpy.ndarray.__array_function__

# Functions of numpy.fft as they were before anybody put others in their place.
NAMES = (
    "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn".split()
)
_ORIGINAL = {name: getattr(numpy.fft, name) for name in NAMES}


def is_duck(x: Any) -> bool:
    """Whether `x` has an ``__array_function__`` that is not numpy's own. Arrays of CuPy, which ozfft reads itself, have one too."""
    kind = type(x)
    if kind is numpy.ndarray or kind is list:
        return False
    method = getattr(kind, "__array_function__", _NUMPYS)
    return method is not _NUMPYS and kind.__module__.partition(".")[0] != "cupy"


def reject(x: Any) -> None:
    """For calls that numpy has no function for, so that `x` cannot be asked."""
    if is_duck(x):
        kind = f"{type(x).__module__}.{type(x).__qualname__}"
        raise UnsupportedError(
            f"{kind} stands for more than its numbers (a unit, or a computation to come), which this transform would lose; "
            "pass plain numbers (for example quantity.value or array.compute()), or use a function that numpy.fft has as well"
        )


class NumpysFunction:
    """A function of numpy, as arrays of other libraries know it: equal to it, with its name, and computed here."""

    def __init__(self, name: str, function: Callable, implementation: Callable) -> None:
        self.original = _ORIGINAL[name]
        self.__name__ = name
        self.__qualname__ = name
        self.__module__ = "numpy.fft"
        self.__doc__ = self.original.__doc__
        self._function = function
        # What ndarray.__array_function__ calls when no array objects.
        self._implementation = implementation

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NumpysFunction):
            other = other.original
        return self.original is other

    def __hash__(self) -> int:
        return hash(self.original)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


def _ordered(arrays: Sequence[Any]) -> list:
    """One array of each type, subclasses before their bases, as NEP 18 asks them."""
    kinds: list = []
    ordered: list = []
    for array in arrays:
        if not hasattr(type(array), "__array_function__") or type(array) in kinds:
            continue
        place = next((i for i, kind in enumerate(kinds) if issubclass(type(array), kind)), len(kinds))
        kinds.insert(place, type(array))
        ordered.insert(place, array)
    return ordered


def ask(function: NumpysFunction, arrays: Sequence[Any], args: tuple, kwargs: dict) -> Any:
    """Puts a call to the arrays that have a say in it."""
    asked = _ordered(arrays)
    types = tuple(type(array) for array in asked)
    for array in asked:
        result = type(array).__array_function__(array, function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(
        f"no implementation found for 'numpy.fft.{function.__name__}' on types that implement __array_function__: {list(types)}"
    )


def is_dask(x: Any) -> bool:
    """Whether `x` is an array of dask."""
    if type(x).__module__.partition(".")[0] != "dask" or "dask.array" not in sys.modules:
        return False
    return isinstance(x, sys.modules["dask.array"].Array)


def later(name: str, function: Callable, x: Any, lengths: Any, axes: Any, norm: Any, chosen: dict) -> Any:
    """The transform of an array of dask, which stays an array of dask. `function` has scipy's arguments.

    Everything is chosen now: the blocks may be computed in another process, without this context.
    """
    from dask.array.fft import fft_wrap

    block = functools.partial(function, **chosen)
    # By these dask tells its kind and writes its documentation.
    block.__name__, block.__doc__ = name, None  # type: ignore[attr-defined]
    return fft_wrap(block, kind=name)(x, lengths, axes, norm)
