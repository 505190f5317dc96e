"""Cosine and sine transforms, with the arguments of :mod:`scipy.fft`.

The extension computes them (crates/ozfft/src/dct says how, and how well), with scaling (``norm``) and ``orthogonalize``.
"""

from __future__ import annotations

import operator
from typing import Any, Optional, Sequence, Union

import numpy
from numpy.typing import ArrayLike, NDArray

from . import _duck, _ozfft
from ._arrays import NUMPY, is_torch, wanted_dtype
from ._calls import norm_name, shape_and_axes
from ._describe import described
from ._errors import UnsupportedError
from ._execute import Kind, fit, key_of
from ._libraries import library_of
from ._options import Accuracy, Engine, Norm, Options, RealType, resolve


def _real(
    x: numpy.ndarray, result: numpy.ndarray, kind: int, odd: bool, axes: Sequence[int], norm: str, orthogonal: bool, options: Options
) -> None:
    """Transforms an array of real numbers into another one, which has none of its memory."""
    source, goal = NUMPY.memory(x), NUMPY.memory(result)
    name = f"{'orthogonal ' if orthogonal else ''}{'dst' if odd else 'dct'}{kind}"
    layouts = (source.layout(), goal.layout())
    device = "cpu" if options.device is None else options.device
    key = key_of(Kind(name, "forward"), f"f{x.itemsize}", x.shape, axes, norm, layouts, options, device)
    _ozfft.cosine(key, source.low(), goal.low())


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
    result = numpy.empty_like(data, subok=False)
    parts = [(data.real, result.real), (data.imag, result.imag)] if is_complex else [(data, result)]
    for source, goal in parts if data.size else []:
        _real(source, goal, kind, odd, numbered, scaling, orthogonal, options)
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
