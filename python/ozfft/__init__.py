"""Fourier transforms in exact 8-bit arithmetic: a proven error bound, and the same bits on every machine.

The functions have the names, arguments and rules of :mod:`scipy.fft`, and a few arguments more:

``out``
    the array that the result goes to
``accuracy``
    ``"double"`` (default), ``"single"``, a relative error such as ``1e-10``, or ``"bits:40"``
``engine``
    ``"digits"`` (default), ``"native"`` (fast floating point, no promise about bits), ``"auto"``, ``"residues"``, ``"ntt"``
``device``
    ``"cpu"`` (default), ``"cuda"``, ``"cuda:1"``, ``"auto"``; arrays of CuPy and PyTorch stay where they are

>>> import numpy, ozfft
>>> signal = numpy.cos(2 * numpy.pi * 3 * numpy.arange(16) / 16)
>>> abs(ozfft.rfft(signal)).round(12)
array([0., 0., 0., 8., 0., 0., 0., 0., 0.])

As a backend of scipy, for programs that call :mod:`scipy.fft`:

>>> import scipy.fft
>>> with scipy.fft.set_backend(ozfft):
...     spectrum = scipy.fft.fft(signal)

:mod:`ozfft.numpy_fft` has the same transforms with the arguments and rules of :mod:`numpy.fft`; :mod:`ozfft.fft` is the module
to import in the place of :mod:`scipy.fft`. ``python -m ozfft`` says what this machine has.
"""

import importlib as _importlib
import os as _os

from . import _compiler, _ozfft, numpy_fft
from ._backend import __ua_convert__, __ua_domain__, __ua_function__
from ._convolve import fftconvolve, oaconvolve
from ._convolve_exact import convolve_exact, correlate_exact
from ._cosine import dct, dctn, dst, dstn, idct, idctn, idst, idstn
from ._errors import (
    AccuracyError,
    DeviceError,
    DtypeError,
    IntegerRangeError,
    LayoutError,
    OutOfMemoryError,
    OzfftError,
    ShapeError,
    UnsupportedError,
)
from ._hankel import fht, fhtoffset, ifht
from ._helpers import fftfreq, fftshift, ifftshift, rfftfreq
from ._lengths import next_fast_len, prev_fast_len
from ._options import get_workers, options, set_workers
from ._ozfft import __version__
from ._plan import Plan, PlanMemory, clear_plans, plan, plan_memory, set_plan_memory
from ._transforms import (
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

# A process forks only when nothing is under way here; see python/src/gate.rs.
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(
        before=_ozfft.before_fork,
        after_in_parent=_ozfft.after_fork_in_parent,
        after_in_child=_ozfft.after_fork_in_child,
    )

# For GPU kernels of lengths that were not compiled in advance.
_compiler.name_packages()

# Importing the module binds its name in this package; the function takes it back, and carries the names of the module.
_importlib.import_module(".fft", __name__)
from ._transforms import fft  # noqa: E402

__all__ = [
    "fft", "ifft", "fft2", "ifft2", "fftn", "ifftn",
    "rfft", "irfft", "rfft2", "irfft2", "rfftn", "irfftn",
    "hfft", "ihfft", "hfft2", "ihfft2", "hfftn", "ihfftn",
    "dct", "idct", "dst", "idst", "dctn", "idctn", "dstn", "idstn",
    "fht", "ifht", "fhtoffset", "fftconvolve", "oaconvolve",
    "convolve_exact", "correlate_exact",
    "fftfreq", "rfftfreq", "fftshift", "ifftshift", "next_fast_len", "prev_fast_len",
    "plan", "Plan", "clear_plans", "plan_memory", "set_plan_memory", "PlanMemory",
    "options", "set_workers", "get_workers", "numpy_fft",
    "OzfftError", "ShapeError", "LayoutError", "AccuracyError", "UnsupportedError", "DtypeError",
    "DeviceError", "IntegerRangeError", "OutOfMemoryError",
]  # fmt: skip
