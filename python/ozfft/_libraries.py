"""Which library an array is of."""

from __future__ import annotations

import sys
from typing import Any

import numpy

from . import _duck
from ._arrays import NUMPY, Cupy, Torch, TorchOnProcessor
from ._errors import DeviceError
from ._foreign import Foreign
from ._repeated import meet

_loaded: dict = {}


def _load(name: str, library: type) -> Any:
    if name not in _loaded:
        _loaded[name] = library()
        meet(_loaded[name])
    return _loaded[name]


def library_of(x: Any) -> Any:
    """The library that an array is of."""
    kind = type(x)
    if kind is numpy.ndarray or isinstance(x, (list, tuple, int, float, complex)):
        return NUMPY
    if isinstance(x, numpy.ndarray):
        _duck.reject(x)
        return NUMPY
    package = kind.__module__.partition(".")[0]
    if package == "torch" and "torch" in sys.modules:
        if x.device.type == "cuda":
            return _load("torch", Torch)
        if x.device.type == "cpu":
            return _load("torch on the processor", TorchOnProcessor)
        raise DeviceError(f"tensors on {x.device} cannot be transformed; move it to the device cpu or cuda")
    if package == "cupy" and "cupy" in sys.modules:
        return _load("cupy", Cupy)
    if Foreign.knows(x):
        return _load("foreign", Foreign)
    _duck.reject(x)
    return NUMPY


def is_longer_than_double(x: Any) -> bool:
    """Whether `x` is an array of long doubles, where they are more than doubles."""
    dtype = getattr(x, "dtype", None)
    if dtype is None and not _duck.is_duck(x) and library_of(x) is NUMPY:
        dtype = numpy.asarray(x).dtype
    return isinstance(dtype, numpy.dtype) and dtype.kind in "fc" and dtype.itemsize > (16 if dtype.kind == "c" else 8)
