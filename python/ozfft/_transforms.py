"""The transforms of :mod:`scipy.fft`, with its arguments, defaults and errors."""

from __future__ import annotations

import operator
from typing import Any, List, Optional, Sequence, Tuple, Union

from ._arrays import library_of
from ._execute import FFT, HFFT, IFFT, IHFFT, IRFFT, RFFT, Kind, transform
from ._options import resolve

_NORMS = {None: "backward", "backward": "backward", "ortho": "ortho", "forward": "forward"}


def norm_name(norm: Optional[str]) -> str:
    try:
        return _NORMS[norm]
    except (KeyError, TypeError):
        raise ValueError(f'Invalid norm value {norm!r}, should be "backward", "ortho" or "forward"') from None


def integers(values: Any, name: str) -> List[int]:
    """One integer or several, as a list."""
    try:
        return [operator.index(values)]
    except TypeError:
        pass
    try:
        return [operator.index(value) for value in values]
    except TypeError as error:
        raise ValueError(f"{name} must be a scalar or iterable of integers") from error


def _refuse_plan(plan: Any) -> None:
    if plan is not None:
        raise NotImplementedError(
            "Passing a precomputed plan is not yet supported by scipy.fft functions; plans of ozfft.plan are called themselves"
        )


def _one(
    kind: Kind,
    x: Any,
    n: Optional[int],
    axis: int,
    norm: Optional[str],
    overwrite_x: bool,
    workers: Optional[int],
    plan: Any,
    out: Any,
    accuracy: Union[str, float, None],
    engine: Optional[str],
    device: Optional[str],
) -> Any:
    _refuse_plan(plan)
    library = library_of(x)
    array = library.array(x)
    options = resolve(accuracy, engine, device, workers)
    name = norm_name(norm)
    rank = array.ndim
    points = array.shape[axis]
    if n is not None:
        n = operator.index(n)
    else:
        n = (points - 1) * 2 if kind.real_out else points
    if n < 1:
        raise ValueError(f"invalid number of data points ({n}) specified")
    return transform(kind, library, array, (n,), (axis % rank,), name, options, overwrite=overwrite_x, out=out)


def shape_and_axes(array: Any, s: Any, axes: Any) -> Tuple[List[int], List[int]]:
    """Lengths and axes of an n-dimensional transform, as scipy reads them."""
    rank = array.ndim
    if axes is not None:
        axes = [axis + rank if axis < 0 else axis for axis in integers(axes, "axes")]
        if any(axis >= rank or axis < 0 for axis in axes):
            raise ValueError("axes exceeds dimensionality of input")
        if len(set(axes)) != len(axes):
            raise ValueError("all axes must be unique")
    if s is None:
        axes = list(range(rank)) if axes is None else axes
        lengths = [array.shape[axis] for axis in axes]
    else:
        lengths = integers(s, "shape")
        if axes and len(axes) != len(lengths):
            raise ValueError("when given, axes and shape arguments have to be of the same length")
        if axes is None:
            if len(lengths) > rank:
                raise ValueError("shape requires more axes than are present")
            axes = list(range(rank - len(lengths), rank))
        lengths = [array.shape[axis] if n == -1 else n for n, axis in zip(lengths, axes)]
    if any(n < 1 for n in lengths):
        raise ValueError(f"invalid number of data points ({lengths}) specified")
    return lengths, axes


def _many(
    kind: Kind,
    x: Any,
    s: Union[int, Sequence[int], None],
    axes: Union[int, Sequence[int], None],
    norm: Optional[str],
    overwrite_x: bool,
    workers: Optional[int],
    plan: Any,
    out: Any,
    accuracy: Union[str, float, None],
    engine: Optional[str],
    device: Optional[str],
) -> Any:
    _refuse_plan(plan)
    library = library_of(x)
    array = library.array(x)
    lengths, numbered = shape_and_axes(array, s, axes)
    options = resolve(accuracy, engine, device, workers)
    name = norm_name(norm)
    if not numbered:
        if kind.name == "c2c":
            return x
        raise ValueError("at least 1 axis must be transformed")
    if kind.real_out and s is None:
        lengths[-1] = (array.shape[numbered[-1]] - 1) * 2
        if lengths[-1] < 1:
            raise ValueError(f"invalid number of data points ({lengths[-1]}) specified")
    return transform(kind, library, array, lengths, numbered, name, options, overwrite=overwrite_x, out=out)


def fft(
    x,
    n=None,
    axis=-1,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """Transforms one axis of complex or real data.

    >>> import ozfft
    >>> ozfft.fft([1, 2, 3, 4])
    array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    """
    return _one(FFT, x, n, axis, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


def ifft(
    x,
    n=None,
    axis=-1,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The way back of :func:`fft`.

    >>> import ozfft
    >>> ozfft.ifft([10, -2 + 2j, -2, -2 - 2j])
    array([1.+0.j, 2.+0.j, 3.+0.j, 4.+0.j])
    """
    return _one(IFFT, x, n, axis, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


def rfft(
    x,
    n=None,
    axis=-1,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """Transforms one axis of real data to the half ``0 … n//2`` of its spectrum; the rest are conjugates.

    >>> import ozfft
    >>> ozfft.rfft([1, 2, 3, 4])
    array([10.+0.j, -2.+2.j, -2.+0.j])
    """
    return _one(RFFT, x, n, axis, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


def irfft(
    x,
    n=None,
    axis=-1,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The way back of :func:`rfft`. Odd lengths have to be given: ``n``.

    >>> import ozfft
    >>> ozfft.irfft([10, -2 + 2j, -2])
    array([1., 2., 3., 4.])
    """
    return _one(IRFFT, x, n, axis, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


def hfft(
    x,
    n=None,
    axis=-1,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The real spectrum of a signal of which the second half is the conjugate of the first.

    >>> import ozfft
    >>> ozfft.hfft([1, 2 + 1j, 3])
    array([ 8.,  0.,  0., -4.])
    """
    return _one(HFFT, x, n, axis, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


def ihfft(
    x,
    n=None,
    axis=-1,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The way back of :func:`hfft`.

    >>> import ozfft
    >>> ozfft.ihfft([8, 0, 0, -4])
    array([1.+0.j, 2.+1.j, 3.+0.j])
    """
    return _one(IHFFT, x, n, axis, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


def fftn(
    x,
    s=None,
    axes=None,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """Transforms several axes, all unless told.

    >>> import ozfft
    >>> ozfft.fftn([[1, 2], [3, 4]])
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]])
    """
    return _many(FFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


def ifftn(
    x,
    s=None,
    axes=None,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The way back of :func:`fftn`.

    >>> import ozfft
    >>> ozfft.ifftn([[10, -2], [-4, 0]])
    array([[1.+0.j, 2.+0.j],
           [3.+0.j, 4.+0.j]])
    """
    return _many(IFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


def fft2(
    x,
    s=None,
    axes=(-2, -1),
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """Transforms two axes, the last ones unless told.

    >>> import ozfft
    >>> ozfft.fft2([[1, 2], [3, 4]])
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]])
    """
    return _many(FFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


def ifft2(
    x,
    s=None,
    axes=(-2, -1),
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The way back of :func:`fft2`.

    >>> import ozfft
    >>> ozfft.ifft2([[10, -2], [-4, 0]])
    array([[1.+0.j, 2.+0.j],
           [3.+0.j, 4.+0.j]])
    """
    return _many(IFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


def rfftn(
    x,
    s=None,
    axes=None,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """Transforms several axes of real data; the last one of them is halved.

    >>> import ozfft
    >>> ozfft.rfftn([[1, 2, 3], [4, 5, 6]]).shape
    (2, 2)
    """
    return _many(RFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


def irfftn(
    x,
    s=None,
    axes=None,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The way back of :func:`rfftn`.

    >>> import ozfft
    >>> ozfft.irfftn(ozfft.rfftn([[1, 2], [3, 4]]))
    array([[1., 2.],
           [3., 4.]])
    """
    return _many(IRFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


def rfft2(
    x,
    s=None,
    axes=(-2, -1),
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """Transforms two axes of real data, the last ones unless told.

    >>> import ozfft
    >>> ozfft.rfft2([[1, 2, 3], [4, 5, 6]]).shape
    (2, 2)
    """
    return _many(RFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


def irfft2(
    x,
    s=None,
    axes=(-2, -1),
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The way back of :func:`rfft2`.

    >>> import ozfft
    >>> ozfft.irfft2(ozfft.rfft2([[1, 2], [3, 4]]))
    array([[1., 2.],
           [3., 4.]])
    """
    return _many(IRFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


def hfftn(
    x,
    s=None,
    axes=None,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The real spectrum of a field with the symmetry of conjugates; the last axis is halved.

    >>> import ozfft
    >>> ozfft.hfftn([[1, 2], [3, 4]])
    array([[10., -2.],
           [-4.,  0.]])
    """
    return _many(HFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


def ihfftn(
    x,
    s=None,
    axes=None,
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The way back of :func:`hfftn`.

    >>> import ozfft
    >>> ozfft.hfftn(ozfft.ihfftn([[1, 2], [3, 4]]))
    array([[1., 2.],
           [3., 4.]])
    """
    return _many(IHFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


def hfft2(
    x,
    s=None,
    axes=(-2, -1),
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The same as :func:`hfftn` for two axes.

    >>> import ozfft
    >>> ozfft.hfft2([[1, 2], [3, 4]])
    array([[10., -2.],
           [-4.,  0.]])
    """
    return _many(HFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)


def ihfft2(
    x,
    s=None,
    axes=(-2, -1),
    norm=None,
    overwrite_x=False,
    workers=None,
    *,
    plan=None,
    out=None,
    accuracy=None,
    engine=None,
    device=None,
):
    """The way back of :func:`hfft2`.

    >>> import ozfft
    >>> ozfft.hfft2(ozfft.ihfft2([[1, 2], [3, 4]]))
    array([[1., 2.],
           [3., 4.]])
    """
    return _many(IHFFT, x, s, axes, norm, overwrite_x, workers, plan, out, accuracy, engine, device)
