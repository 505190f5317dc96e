"""Cosine and sine transforms, with the arguments of :mod:`scipy.fft`.

:mod:`ozfft._cosine_lines` transforms lines, and says how and how well. Here, scaling (``norm``) is one division by a correctly rounded
number, ``orthogonalize`` one product by the nearest double to √2 or √½.
"""

from __future__ import annotations

import math
import operator
from typing import Any, Optional, Sequence, Union

import numpy
from numpy.typing import ArrayLike, NDArray

from . import _duck
from ._arrays import is_torch, library_of, wanted_dtype
from ._calls import norm_name, shape_and_axes
from ._cosine_lines import transform_lines
from ._describe import described
from ._errors import UnsupportedError
from ._execute import fit
from ._options import Options, resolve
from ._types import Accuracy, Engine, Norm, RealType

# Numbers that are transformed at once, so that intermediates stay small.
_BLOCK = 1 << 17


def _lines(kind: int, odd: bool, array: numpy.ndarray, axis: int, options: Options) -> numpy.ndarray:
    """The transform of one axis of a real array, not scaled."""
    n = array.shape[axis]
    moved = numpy.moveaxis(array, axis, -1)
    lines = moved.reshape(-1, n)
    result = numpy.empty(lines.shape, lines.dtype)
    step = max(1, _BLOCK // n)
    for first in range(0, len(lines), step):
        some = slice(first, min(first + step, len(lines)))
        transform_lines(kind, odd, lines[some], result[some], options)
    placed = numpy.empty_like(array, subok=False)
    numpy.moveaxis(placed, axis, -1)[...] = result.reshape(moved.shape)
    return placed


def _ends(kind: int, odd: bool) -> tuple:
    """The places whose input is multiplied by √2, and those whose output is multiplied by √½, for an orthogonal matrix."""
    last = (-1,) if odd else (0,)
    return {
        1: ((), ()) if odd else ((0, -1), (0, -1)),
        2: ((), last),
        3: (last, ()),
        4: ((), ()),
    }[kind]


def _scale_places(array: numpy.ndarray, axis: int, places: Sequence[int], factor: float) -> numpy.ndarray:
    """A copy with some places along an axis multiplied."""
    if not places:
        return array
    scaled = array.copy()
    moved = numpy.moveaxis(scaled, axis, -1)
    for place in places:
        moved[..., place] *= array.dtype.type(factor)
    return scaled


def _logical_length(kind: int, odd: bool, n: int) -> int:
    """The number of points that norms speak of."""
    if kind != 1:
        return 2 * n
    return 2 * (n + 1) if odd else 2 * (n - 1)


def _real(
    array: numpy.ndarray, kind: int, odd: bool, axes: Sequence[int], norm: str, orthogonal: bool, options: Options
) -> numpy.ndarray:
    points = 1
    for axis in axes:
        before, after = _ends(kind, odd) if orthogonal else ((), ())
        array = _scale_places(array, axis, before, math.sqrt(2))
        points *= _logical_length(kind, odd, array.shape[axis])
        array = _lines(kind, odd, array, axis, options)
        array = _scale_places(array, axis, after, math.sqrt(0.5))
    if norm == "backward":
        return array
    divisor = math.sqrt(points) if norm == "ortho" else float(points)
    return numpy.divide(array, array.dtype.type(divisor))


_REVERSED = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _transformed(
    x: Any,
    kind: int,
    odd: bool,
    inverse: bool,
    lengths: Any,
    axes: Any,
    several: bool,
    norm: Optional[str],
    workers: Optional[int],
    orthogonalize: Optional[bool],
    accuracy: Union[str, float, None],
    engine: Optional[str],
    device: Optional[str],
) -> Any:
    options = resolve(accuracy, engine, device, workers)
    scaling = norm_name(norm)
    kind = operator.index(kind)
    if kind not in (1, 2, 3, 4):
        raise ValueError(f"invalid transform type {kind}; give 1, 2, 3 or 4")
    _duck.reject(x)
    library = library_of(x)
    if library.on_gpu:
        raise UnsupportedError(
            "cosine and sine transforms of arrays on a GPU are not there yet; copy the array to this machine's memory "
            '(with device="cuda" it is transformed on the GPU all the same)'
        )
    array = library.array(x)
    if several:
        sizes, numbered = shape_and_axes(array, lengths, axes)
        if not numbered:
            return x
    else:
        points = array.shape[axes]
        sizes, numbered = [points if lengths is None else operator.index(lengths)], [axes % array.ndim]
        if sizes[0] < 1:
            raise ValueError(f"invalid number of data points ({sizes[0]}) specified")
    shape = list(array.shape)
    for axis, n in zip(numbered, sizes):
        shape[axis] = n
    if kind == 1 and not odd and min(sizes) < 2:
        raise ValueError(f"DCT-I is not defined for size < 2; lengths {sizes} were given")
    is_complex = array.dtype.kind == "c"
    data = fit(library, array, shape)
    data = library.convert(data, wanted_dtype(data.dtype, not is_complex))
    if inverse:
        kind = {2: 3, 3: 2}.get(kind, kind)
        scaling = _REVERSED[scaling]
    orthogonal = scaling == "ortho" if orthogonalize is None else bool(orthogonalize)
    arguments = (kind, odd, numbered, scaling, orthogonal, options)
    if is_complex:
        result = numpy.empty(shape, data.dtype)
        result.real = _real(data.real, *arguments)
        result.imag = _real(data.imag, *arguments)
    else:
        result = _real(data, *arguments)
    torch = is_torch(library)
    return torch.from_numpy(numpy.ascontiguousarray(result)) if torch else result


@described(
    x="Real or complex data; real and imaginary parts are transformed each by itself",
    which="transform",
    default="that of `x`",
)
def dct(
    x: ArrayLike,
    type: RealType = 2,
    n: Optional[int] = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: Optional[int] = None,
    orthogonalize: Optional[bool] = None,
    *,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: Optional[str] = None,
) -> NDArray[Any]:
    """The cosine transform of one axis, of type 1, 2, 3 or 4.

    {parameters}

    Returns
    -------
    array
        The transform, of the type and precision of `x`.

    See Also
    --------
    idct, scipy.fft.dct

    Examples
    --------
    >>> import ozfft
    >>> ozfft.dct([1.0, 2.0, 3.0, 4.0])
    array([20.        , -6.30864406,  0.        , -0.44834153])
    """
    return _transformed(
        x, type, False, False, n, axis, False, norm, workers, orthogonalize, accuracy, engine, device
    )


@described(
    x="Real or complex data; real and imaginary parts are transformed each by itself",
    which="transform",
    default="those of `x`",
    axes="all by default, or the last ones where `s` is given",
)
def dctn(
    x: ArrayLike,
    type: RealType = 2,
    s: Union[int, Sequence[int], None] = None,
    axes: Union[int, Sequence[int], None] = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: Optional[int] = None,
    *,
    orthogonalize: Optional[bool] = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: Optional[str] = None,
) -> NDArray[Any]:
    """The cosine transform of several axes, all by default.

    {parameters}

    Returns
    -------
    array
        The transform, of the type and precision of `x`.

    See Also
    --------
    idctn, scipy.fft.dctn

    Examples
    --------
    >>> import ozfft
    >>> ozfft.dctn([[1.0, 2.0], [3.0, 4.0]]).round(6)
    array([[ 40.      ,  -5.656854],
           [-11.313708,   0.      ]])
    """
    return _transformed(
        x, type, False, False, s, axes, True, norm, workers, orthogonalize, accuracy, engine, device
    )


@described(
    x="Real or complex data; real and imaginary parts are transformed each by itself",
    which="transform",
    default="that of `x`",
)
def idct(
    x: ArrayLike,
    type: RealType = 2,
    n: Optional[int] = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: Optional[int] = None,
    orthogonalize: Optional[bool] = None,
    *,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: Optional[str] = None,
) -> NDArray[Any]:
    """The inverse of :func:`dct` of the same type.

    {parameters}

    Returns
    -------
    array
        The transform, of the type and precision of `x`.

    See Also
    --------
    dct, scipy.fft.idct

    Examples
    --------
    >>> import ozfft
    >>> ozfft.idct(ozfft.dct([1.0, 2.0, 3.0, 4.0])).round(12)
    array([1., 2., 3., 4.])
    """
    return _transformed(
        x, type, False, True, n, axis, False, norm, workers, orthogonalize, accuracy, engine, device
    )


@described(
    x="Real or complex data; real and imaginary parts are transformed each by itself",
    which="transform",
    default="those of `x`",
    axes="all by default, or the last ones where `s` is given",
)
def idctn(
    x: ArrayLike,
    type: RealType = 2,
    s: Union[int, Sequence[int], None] = None,
    axes: Union[int, Sequence[int], None] = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: Optional[int] = None,
    *,
    orthogonalize: Optional[bool] = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: Optional[str] = None,
) -> NDArray[Any]:
    """The inverse of :func:`dctn` of the same type.

    {parameters}

    Returns
    -------
    array
        The transform, of the type and precision of `x`.

    See Also
    --------
    dctn, scipy.fft.idctn

    Examples
    --------
    >>> import ozfft
    >>> ozfft.idctn(ozfft.dctn([[1.0, 2.0], [3.0, 4.0]])).round(12)
    array([[1., 2.],
           [3., 4.]])
    """
    return _transformed(
        x, type, False, True, s, axes, True, norm, workers, orthogonalize, accuracy, engine, device
    )


@described(
    x="Real or complex data; real and imaginary parts are transformed each by itself",
    which="transform",
    default="that of `x`",
)
def dst(
    x: ArrayLike,
    type: RealType = 2,
    n: Optional[int] = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: Optional[int] = None,
    orthogonalize: Optional[bool] = None,
    *,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: Optional[str] = None,
) -> NDArray[Any]:
    """The sine transform of one axis, of type 1, 2, 3 or 4.

    {parameters}

    Returns
    -------
    array
        The transform, of the type and precision of `x`.

    See Also
    --------
    idst, scipy.fft.dst

    Examples
    --------
    >>> import ozfft
    >>> ozfft.dst([1.0, 2.0, 3.0, 4.0]).round(6)
    array([13.06563 , -5.656854,  5.411961, -4.      ])
    """
    return _transformed(
        x, type, True, False, n, axis, False, norm, workers, orthogonalize, accuracy, engine, device
    )


@described(
    x="Real or complex data; real and imaginary parts are transformed each by itself",
    which="transform",
    default="those of `x`",
    axes="all by default, or the last ones where `s` is given",
)
def dstn(
    x: ArrayLike,
    type: RealType = 2,
    s: Union[int, Sequence[int], None] = None,
    axes: Union[int, Sequence[int], None] = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: Optional[int] = None,
    *,
    orthogonalize: Optional[bool] = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: Optional[str] = None,
) -> NDArray[Any]:
    """The sine transform of several axes, all by default.

    {parameters}

    Returns
    -------
    array
        The transform, of the type and precision of `x`.

    See Also
    --------
    idstn, scipy.fft.dstn

    Examples
    --------
    >>> import ozfft
    >>> ozfft.dstn([[1.0, 2.0], [3.0, 8.0]], norm="ortho").round(6)
    array([[ 7., -3.],
           [-4.,  2.]])
    """
    return _transformed(
        x, type, True, False, s, axes, True, norm, workers, orthogonalize, accuracy, engine, device
    )


@described(
    x="Real or complex data; real and imaginary parts are transformed each by itself",
    which="transform",
    default="that of `x`",
)
def idst(
    x: ArrayLike,
    type: RealType = 2,
    n: Optional[int] = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: Optional[int] = None,
    orthogonalize: Optional[bool] = None,
    *,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: Optional[str] = None,
) -> NDArray[Any]:
    """The inverse of :func:`dst` of the same type.

    {parameters}

    Returns
    -------
    array
        The transform, of the type and precision of `x`.

    See Also
    --------
    dst, scipy.fft.idst

    Examples
    --------
    >>> import ozfft
    >>> ozfft.idst(ozfft.dst([1.0, 2.0, 3.0, 4.0], type=1), type=1).round(12)
    array([1., 2., 3., 4.])
    """
    return _transformed(
        x, type, True, True, n, axis, False, norm, workers, orthogonalize, accuracy, engine, device
    )


@described(
    x="Real or complex data; real and imaginary parts are transformed each by itself",
    which="transform",
    default="those of `x`",
    axes="all by default, or the last ones where `s` is given",
)
def idstn(
    x: ArrayLike,
    type: RealType = 2,
    s: Union[int, Sequence[int], None] = None,
    axes: Union[int, Sequence[int], None] = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: Optional[int] = None,
    *,
    orthogonalize: Optional[bool] = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: Optional[str] = None,
) -> NDArray[Any]:
    """The inverse of :func:`dstn` of the same type.

    {parameters}

    Returns
    -------
    array
        The transform, of the type and precision of `x`.

    See Also
    --------
    dstn, scipy.fft.idstn

    Examples
    --------
    >>> import ozfft
    >>> ozfft.idstn(ozfft.dstn([[1.0, 2.0], [3.0, 4.0]])).round(12)
    array([[1., 2.],
           [3., 4.]])
    """
    return _transformed(
        x, type, True, True, s, axes, True, norm, workers, orthogonalize, accuracy, engine, device
    )
