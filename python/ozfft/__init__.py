"""Fourier transforms in exact 8-bit arithmetic: a proven error bound, and the same bits on every machine.

The functions have the names, arguments and rules of :mod:`scipy.fft`, and a few arguments more:

``out``
    the array that the result goes to
``accuracy``
    ``"double"`` (unless told), ``"single"``, a relative error such as ``1e-10``, or ``"bits:40"``
``engine``
    ``"digits"`` (unless told), ``"native"`` (fast floating point, no promise about bits), ``"auto"``, ``"residues"``
``device``
    ``"cpu"`` (unless told), ``"cuda"``, ``"cuda:1"``, ``"auto"``; arrays of CuPy and PyTorch stay where they are

>>> import numpy, ozfft
>>> signal = numpy.cos(2 * numpy.pi * 3 * numpy.arange(16) / 16)
>>> abs(ozfft.rfft(signal)).round(12)
array([0., 0., 0., 8., 0., 0., 0., 0., 0.])

As a backend of scipy, for programs that call :mod:`scipy.fft`:

>>> import scipy.fft
>>> with scipy.fft.set_backend(ozfft):
...     spectrum = scipy.fft.fft(signal)

:mod:`ozfft.numpy_fft` has the same transforms with the arguments and rules of :mod:`numpy.fft`.
"""

from . import numpy_fft
from ._backend import __ua_convert__, __ua_domain__, __ua_function__
from ._errors import (
    AccuracyError,
    DeviceError,
    DtypeError,
    LayoutError,
    OzfftError,
    ShapeError,
    UnsupportedError,
)
from ._helpers import fftfreq, fftshift, ifftshift, rfftfreq
from ._options import get_workers, options, set_workers
from ._ozfft import __version__
from ._plan import Plan, clear_plans, plan
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
    "fftfreq", "rfftfreq", "fftshift", "ifftshift",
    "plan", "Plan", "clear_plans", "options", "set_workers", "get_workers", "numpy_fft",
    "OzfftError", "ShapeError", "LayoutError", "AccuracyError", "UnsupportedError", "DtypeError",
    "DeviceError",
]  # fmt: skip
