"""The module for programs that say ``from scipy import fft`` or ``import numpy.fft``: ``import ozfft.fft as fft``.

It has the functions of :mod:`scipy.fft`, with their arguments, and the convolutions of :mod:`scipy.signal` that are made of them.

>>> import ozfft.fft as fft
>>> fft.rfft([1.0, 2.0, 3.0, 4.0])
array([10.+0.j, -2.+2.j, -2.+0.j])
>>> from ozfft.fft import dct, next_fast_len
>>> next_fast_len(1009)
1024

``ozfft.fft`` is also the function of that name, and stays it: the function carries the names of this module.

>>> import ozfft
>>> ozfft.fft([1.0, 2.0])
array([ 3.+0.j, -1.+0.j])
>>> ozfft.fft.irfft is ozfft.irfft
True
"""

from ._backend import __ua_convert__, __ua_domain__, __ua_function__
from ._convolve import fftconvolve, oaconvolve
from ._cosine import dct, dctn, dst, dstn, idct, idctn, idst, idstn
from ._hankel import fht, fhtoffset, ifht
from ._helpers import fftfreq, fftshift, ifftshift, rfftfreq
from ._lengths import next_fast_len, prev_fast_len
from ._options import get_workers, set_workers
from ._transforms import (
    fft,
    fft2,
    fftn,
    hfft,
    hfft2,
    hfftn,
    ifft,
    ifft2,
    ifftn,
    ihfft,
    ihfft2,
    ihfftn,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftn,
)

__all__ = [
    "fft", "ifft", "fft2", "ifft2", "fftn", "ifftn",
    "rfft", "irfft", "rfft2", "irfft2", "rfftn", "irfftn",
    "hfft", "ihfft", "hfft2", "ihfft2", "hfftn", "ihfftn",
    "dct", "idct", "dst", "idst", "dctn", "idctn", "dstn", "idstn",
    "fht", "ifht", "fhtoffset", "fftconvolve", "oaconvolve",
    "fftfreq", "rfftfreq", "fftshift", "ifftshift", "next_fast_len", "prev_fast_len",
    "set_workers", "get_workers",
]  # fmt: skip

# `import ozfft.fft as fft` looks at the attribute of the package, which is the function; a module that can be called would do as
# well, but could not be pickled, inspected or wrapped as the function that it was.
for _name in [*__all__, "__all__", "__ua_convert__", "__ua_domain__", "__ua_function__"]:
    setattr(fft, _name, globals()[_name])
del _name
