"""CUDA's compiler, which makes GPU kernels of lengths that were not compiled in advance, among the packages of this interpreter.

PyPI's package ``nvidia-cuda-nvrtc``, which PyTorch and CuPy bring along, puts it below the folder of all packages, wherever that is: an
environment that nobody has activated, a container's, the user's own.
"""

from __future__ import annotations

import os
import sys

from . import _ozfft


def name_packages() -> None:
    """Tells the library where packages are looked for; it looks there when a plan first needs the compiler."""
    here = os.path.realpath(os.curdir)
    # Nothing is loaded from the current directory, although modules are imported from there.
    folders = [os.path.realpath(folder) for folder in sys.path if folder]
    _ozfft.look_for_compiler_in([folder for folder in folders if folder != here])


def description() -> str:
    """Which compiler there is and where, or why none is found and how to get it."""
    found, text = _ozfft.compiler()
    return text if found else f"none: {text}"
