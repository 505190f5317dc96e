from typing import Any, Sequence

import numpy as np
from numpy.fft import fftfreq as fftfreq, fftshift as fftshift, ifftshift as ifftshift, rfftfreq as rfftfreq
from numpy.typing import ArrayLike, NDArray

from ._types import Norm

__all__ = [
    "fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "rfftn", "irfftn", "rfft2", "irfft2", "fft2", "ifft2", "fftn",
    "ifftn", "fftshift", "ifftshift", "fftfreq", "rfftfreq",
]  # fmt: skip

_Complex = NDArray[np.complexfloating[Any, Any]]
_Real = NDArray[np.floating[Any]]

def fft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: NDArray[Any] | None = None
) -> _Complex: ...
def ifft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: NDArray[Any] | None = None
) -> _Complex: ...
def rfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: NDArray[Any] | None = None
) -> _Complex: ...
def irfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: NDArray[Any] | None = None
) -> _Real: ...
def hfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: NDArray[Any] | None = None
) -> _Real: ...
def ihfft(
    a: ArrayLike, n: int | None = None, axis: int = -1, norm: Norm = None, out: NDArray[Any] | None = None
) -> _Complex: ...
def fftn(
    a: ArrayLike,
    s: Sequence[int | None] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = None,
    out: NDArray[Any] | None = None,
) -> _Complex: ...
def fft2(
    a: ArrayLike,
    s: Sequence[int | None] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    out: NDArray[Any] | None = None,
) -> _Complex: ...
def ifftn(
    a: ArrayLike,
    s: Sequence[int | None] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = None,
    out: NDArray[Any] | None = None,
) -> _Complex: ...
def ifft2(
    a: ArrayLike,
    s: Sequence[int | None] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    out: NDArray[Any] | None = None,
) -> _Complex: ...
def rfftn(
    a: ArrayLike,
    s: Sequence[int | None] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = None,
    out: NDArray[Any] | None = None,
) -> _Complex: ...
def rfft2(
    a: ArrayLike,
    s: Sequence[int | None] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    out: NDArray[Any] | None = None,
) -> _Complex: ...
def irfftn(
    a: ArrayLike,
    s: Sequence[int | None] | None = None,
    axes: Sequence[int] | None = None,
    norm: Norm = None,
    out: NDArray[Any] | None = None,
) -> _Real: ...
def irfft2(
    a: ArrayLike,
    s: Sequence[int | None] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    out: NDArray[Any] | None = None,
) -> _Real: ...
