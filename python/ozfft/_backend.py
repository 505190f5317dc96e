"""ozfft as a backend of :mod:`scipy.fft`: ``scipy.fft.set_backend(ozfft)``.

What ozfft does not have (Hankel transforms, long double) is left to the next backend, which is scipy's own unless another one is
set; scipy's Hankel transforms in turn ask this one for their Fourier transforms.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy

from . import _cosine, _transforms
from ._duck import is_duck
from ._libraries import is_longer_than_double

__ua_domain__ = "numpy.scipy.fft"

_FUNCTIONS = {
    name: getattr(module, name)
    for module, names in (
        (
            _transforms,
            "fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft hfft2 ihfft2 hfftn ihfftn",
        ),
        (_cosine, "dct idct dst idst dctn idctn dstn idstn"),
    )
    for name in names.split()
}
_PLACE_OF_WORKERS = {name: list(inspect.signature(f).parameters).index("workers") for name, f in _FUNCTIONS.items()}


def __ua_convert__(dispatchables: Any, coerce: bool) -> Any:
    """Arrays are taken as they are, whatever library they are of; long double is declined."""
    values = [dispatchable.value for dispatchable in dispatchables]
    if any(is_longer_than_double(value) for value in values):
        return NotImplemented
    # scipy takes the plain numbers of quantities, and computes arrays of dask: programs that call scipy count on it.
    return [numpy.asarray(value) if is_duck(value) else value for value in values]


def __ua_function__(method: Any, args: tuple, kwargs: dict) -> Any:
    name = method.__name__
    function = _FUNCTIONS.get(name)
    if function is None:
        return NotImplemented
    # Where `workers` is not given, scipy's own default counts.
    if len(args) <= _PLACE_OF_WORKERS[name] and kwargs.get("workers") is None:
        from scipy.fft import get_workers

        kwargs = {**kwargs, "workers": get_workers()}
    return function(*args, **kwargs)
