"""ozfft as a backend of :mod:`scipy.fft`: ``scipy.fft.set_backend(ozfft)``.

What ozfft does not have (cosine, sine and Hankel transforms, long double) is left to the next backend, which is scipy's
own unless another one is set.
"""

from __future__ import annotations

from typing import Any

from . import _transforms
from ._arrays import is_longer_than_double

__ua_domain__ = "numpy.scipy.fft"

_FUNCTIONS = {
    name: getattr(_transforms, name)
    for name in (
        "fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn "
        "hfft ihfft hfft2 ihfft2 hfftn ihfftn"
    ).split()
}


def __ua_convert__(dispatchables: Any, coerce: bool) -> Any:
    """Arrays are taken as they are, whatever library they are of; long double is declined."""
    values = [dispatchable.value for dispatchable in dispatchables]
    if any(is_longer_than_double(value) for value in values):
        return NotImplemented
    return values


def __ua_function__(method: Any, args: tuple, kwargs: dict) -> Any:
    function = _FUNCTIONS.get(method.__name__)
    if function is None:
        return NotImplemented
    # The sixth argument is `workers`; where it is not given, scipy's own default counts.
    if len(args) < 6 and kwargs.get("workers") is None:
        from scipy.fft import get_workers

        kwargs = {**kwargs, "workers": get_workers()}
    return function(*args, **kwargs)
