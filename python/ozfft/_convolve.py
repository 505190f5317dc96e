"""Convolutions by transforms, with the arguments of :mod:`scipy.signal`."""

from __future__ import annotations

from typing import Any, Callable, List, Literal, Optional, Sequence, Tuple, Union, overload

import numpy
from numpy.typing import ArrayLike, NDArray

from . import _duck
from ._arrays import is_torch
from ._calls import integers
from ._errors import UnsupportedError
from ._lengths import next_fast_len
from ._libraries import library_of
from ._options import Accuracy, Engine, Mode, options
from ._spectra import bound_of_sums, by_spectra, products

# A whole convolution, and a bound of the error of every element, where it is wanted.
_Bounded = Tuple[numpy.ndarray, Optional[float]]


def _array(x: Any, what: str) -> Tuple[Any, numpy.ndarray]:
    _duck.reject(x)
    library = library_of(x)
    if library.on_gpu:
        raise UnsupportedError(
            f"{what} of arrays on a GPU are not there yet; copy them to this machine's memory, or multiply spectra of ozfft.rfftn"
        )
    return library, library.array(x)


def _axes(first: numpy.ndarray, second: numpy.ndarray, axes: Any) -> List[int]:
    """The axes along which both arrays have several points; along the others a convolution is a product."""
    rank = first.ndim
    if axes is None:
        numbered = list(range(rank))
    else:
        numbered = [axis + rank if axis < 0 else axis for axis in integers(axes, "axes")]
        if not numbered and rank:
            raise ValueError("when provided, axes cannot be empty")
        if any(not 0 <= axis < rank for axis in numbered):
            raise ValueError("axes exceeds dimensionality of input")
        if len(set(numbered)) != len(numbered):
            raise ValueError("all axes must be unique")
    for axis in range(rank):
        lengths = {first.shape[axis], second.shape[axis]}
        if axis not in numbered and len(lengths) > 1 and 1 not in lengths:
            raise ValueError(
                f"incompatible shapes for in1 and in2: {first.shape} and {second.shape} differ along axis {axis}, "
                "which is not convolved"
            )
    return sorted(axis for axis in numbered if first.shape[axis] != 1 and second.shape[axis] != 1)


def _swapped(mode: str, first: numpy.ndarray, second: numpy.ndarray, axes: Sequence[int]) -> bool:
    """Whether the second array is the larger one, in the mode that needs to know."""
    if mode != "valid" or not axes:
        return False
    larger = all(first.shape[axis] >= second.shape[axis] for axis in axes)
    smaller = all(second.shape[axis] >= first.shape[axis] for axis in axes)
    if not larger and not smaller:
        raise ValueError(
            "For 'valid' mode, one must be at least as large as the other in every dimension; "
            f"the shapes are {first.shape} and {second.shape}"
        )
    return not larger


def _cut(result: numpy.ndarray, shape: tuple, other: tuple, mode: str, axes: Sequence[int]) -> numpy.ndarray:
    """The part of a whole convolution that a mode asks for."""
    if mode == "full":
        return result
    index = [slice(None)] * result.ndim
    for axis in range(result.ndim) if mode == "same" else axes:
        length = shape[axis] if mode == "same" else shape[axis] - other[axis] + 1
        start = (result.shape[axis] - length) // 2
        index[axis] = slice(start, start + length)
    return result[tuple(index)].copy()


def _prepared(in1: Any, in2: Any, mode: str, axes: Any, what: str) -> Tuple[Any, Any, Any, Optional[List[int]]]:
    """Both arrays, the library of the first, and the axes; or, where there is nothing to convolve, an empty result instead of the first."""
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"acceptable mode flags are 'valid', 'same', or 'full'; {mode!r} was given")
    library, first = _array(in1, what)
    _, second = _array(in2, what)
    if first.ndim != second.ndim:
        raise ValueError(
            f"in1 and in2 should have the same dimensionality; they have {first.ndim} and {second.ndim} dimensions"
        )
    if first.ndim == 0:
        return library, first, second, []
    if first.size == 0 or second.size == 0:
        return library, numpy.array([]), None, None
    numbered = _axes(first, second, axes)
    if _swapped(mode, first, second, numbered):
        first, second = second, first
    return library, first, second, numbered


def _returned(library: Any, result: numpy.ndarray) -> Any:
    torch = is_torch(library)
    return torch.from_numpy(numpy.ascontiguousarray(result)) if torch else result


def _convolved(
    whole: Callable[[numpy.ndarray, numpy.ndarray, Sequence[int], bool], _Bounded],
    in1: Any,
    in2: Any,
    mode: str,
    axes: Any,
    wants_bound: bool,
    **choices: Any,
) -> Any:
    """The part of a whole convolution that a mode asks for, and its bound, if it is wanted."""
    library, first, second, numbered = _prepared(in1, in2, mode, axes, "convolutions")
    result: numpy.ndarray = first
    bound: Optional[float] = 0.0
    if numbered is not None:
        with options(**choices):
            result, bound = whole(first, second, numbered, wants_bound)
        result = _cut(result, first.shape, second.shape, mode, numbered)
    result = _returned(library, result)
    return (result, bound) if wants_bound else result


@overload
def fftconvolve(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: Mode = "full",
    axes: Union[int, Sequence[int], None] = None,
    *,
    workers: Optional[int] = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: Optional[str] = None,
    return_bound: Literal[False] = False,
) -> NDArray[Any]: ...
@overload
def fftconvolve(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: Mode = "full",
    axes: Union[int, Sequence[int], None] = None,
    *,
    workers: Optional[int] = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: Optional[str] = None,
    return_bound: Literal[True],
) -> Tuple[NDArray[Any], float]: ...
def fftconvolve(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: Mode = "full",
    axes: Union[int, Sequence[int], None] = None,
    *,
    workers: Optional[int] = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: Optional[str] = None,
    return_bound: bool = False,
) -> Union[NDArray[Any], Tuple[NDArray[Any], float]]:
    """Convolves two arrays by their spectra.

    The bits are the same on every machine: between the transforms there is one product of spectra, in correctly rounded
    operations. Integers are convolved in double precision, and so is single with double precision, also where no axis is
    convolved and the result is a product of elements.

    Parameters
    ----------
    in1, in2 : array_like
        Real or complex data of the same number of dimensions.
    mode : {"full", "same", "valid"}, optional
        The whole convolution (default), its middle part of the shape of `in1`, or the part that no padding has touched.
    axes : int or sequence of int, optional
        The axes that are convolved, all by default; along the others the arrays are broadcast.
    workers, accuracy, engine, device : optional
        As for :func:`ozfft.fftn`.
    return_bound : bool, optional
        Whether to return a bound as well.

    Returns
    -------
    array
        The convolution.
    bound : float
        With `return_bound`: no element is farther from the exact convolution of the numbers as they were given than this, in absolute terms (for complex
        ones in modulus), roundings and subnormal numbers included. Proven, for all engines that have a proof; infinite where something overflows.
        The elements are the same, but that operands near the ends of the range are scaled by powers of two, so that their spectra do not leave it.

    See Also
    --------
    oaconvolve, scipy.signal.fftconvolve

    Examples
    --------
    >>> import ozfft
    >>> ozfft.fftconvolve([1.0, 2.0, 3.0], [2.0, 1.0, 0.5]).round(12)
    array([2. , 5. , 8.5, 4. , 1.5])
    >>> ozfft.fftconvolve([1.0, 2.0, 3.0], [2.0, 1.0, 0.5], mode="same").round(12)
    array([5. , 8.5, 4. ])

    With a proof of how far an element may be off:

    >>> result, bound = ozfft.fftconvolve([1.0, 2.0, 3.0], [2.0, 1.0, 0.5], return_bound=True)
    >>> bool(abs(result[2] - 8.5) <= bound < 1e-13)
    True
    """
    return _convolved(
        _whole, in1, in2, mode, axes, return_bound, workers=workers, accuracy=accuracy, engine=engine, device=device
    )


def _whole(first: numpy.ndarray, second: numpy.ndarray, axes: Sequence[int], wants_bound: bool) -> _Bounded:
    """The whole convolution."""
    lengths = {axis: first.shape[axis] + second.shape[axis] - 1 for axis in axes}
    if not axes:
        return products(first, second, wants_bound)
    padded = [next_fast_len(lengths[axis]) for axis in axes]
    result, bound = by_spectra(first, second, padded, axes, wants_bound)
    index = [slice(None)] * result.ndim
    for axis in axes:
        index[axis] = slice(0, lengths[axis])
    return result[tuple(index)], bound


def _block_length(longer: int, shorter: int) -> int:
    """The length of transform at which a long array is convolved piece by piece with the least work, or at once.

    Whole numbers and one division, so that every machine chooses the same: the bits depend on it.
    """
    whole = next_fast_len(longer + shorter - 1)
    best, best_cost = whole, whole * whole.bit_length() / longer
    length = next_fast_len(2 * shorter)
    while length < whole:
        cost = length * length.bit_length() / (length - shorter + 1)
        if cost < best_cost:
            best, best_cost = length, cost
        length = next_fast_len(2 * length)
    return best


def _pieces(array: numpy.ndarray, axis: int, step: int) -> numpy.ndarray:
    """The array with one axis cut into pieces of `step`: an axis that counts them, and one along them."""
    count = -(-array.shape[axis] // step)
    missing = count * step - array.shape[axis]
    if missing:
        gap = list(array.shape)
        gap[axis] = missing
        array = numpy.concatenate([array, numpy.zeros(gap, array.dtype)], axis)
    return array.reshape(*array.shape[:axis], count, step, *array.shape[axis + 1 :])


def _overlapped(pieces: numpy.ndarray, axis: int, step: int) -> numpy.ndarray:
    """Pieces (counted by `axis`, along the next axis) put `step` apart, and added where they overlap: two at most."""
    moved = numpy.moveaxis(pieces, (axis, axis + 1), (-2, -1))
    *others, count, length = moved.shape
    result = numpy.zeros((*others, count + 1, step), pieces.dtype)
    result[..., :-1, :] = moved[..., :step]
    result[..., 1:, : length - step] += moved[..., step:]
    return numpy.moveaxis(result.reshape(*others, (count + 1) * step), -1, axis)


@overload
def oaconvolve(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: Mode = "full",
    axes: Union[int, Sequence[int], None] = None,
    *,
    workers: Optional[int] = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: Optional[str] = None,
    return_bound: Literal[False] = False,
) -> NDArray[Any]: ...
@overload
def oaconvolve(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: Mode = "full",
    axes: Union[int, Sequence[int], None] = None,
    *,
    workers: Optional[int] = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: Optional[str] = None,
    return_bound: Literal[True],
) -> Tuple[NDArray[Any], float]: ...
def oaconvolve(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: Mode = "full",
    axes: Union[int, Sequence[int], None] = None,
    *,
    workers: Optional[int] = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: Optional[str] = None,
    return_bound: bool = False,
) -> Union[NDArray[Any], Tuple[NDArray[Any], float]]:
    """Convolves a long array with a short one piece by piece (overlap and add).

    The same sums as :func:`fftconvolve`, in less time and memory where one array is much shorter than the other, with other
    roundings. The bits are the same on every machine.

    Parameters
    ----------
    in1, in2 : array_like
        Real or complex data of the same number of dimensions.
    mode : {"full", "same", "valid"}, optional
        The whole convolution (default), its middle part of the shape of `in1`, or the part that no padding has touched.
    axes : int or sequence of int, optional
        The axes that are convolved, all by default; along the others the arrays are broadcast.
    workers, accuracy, engine, device : optional
        As for :func:`ozfft.fftn`.
    return_bound : bool, optional
        Whether to return a bound as well.

    Returns
    -------
    array
        The convolution.
    bound : float
        With `return_bound`: no element is farther from the exact convolution of the numbers as they were given than this, in absolute terms (for complex
        ones in modulus), roundings and subnormal numbers included. Proven, for all engines that have a proof; infinite where something overflows.
        The elements are the same, but that operands near the ends of the range are scaled by powers of two, so that their spectra do not leave it.

    See Also
    --------
    fftconvolve, scipy.signal.oaconvolve

    Examples
    --------
    >>> import numpy, ozfft
    >>> long, short = numpy.arange(1000.0), numpy.array([1.0, -1.0])
    >>> ozfft.oaconvolve(long, short, mode="valid").round(9)[:4]
    array([1., 1., 1., 1.])
    """
    return _convolved(
        _piecewise, in1, in2, mode, axes, return_bound, workers=workers, accuracy=accuracy, engine=engine, device=device
    )


def _piecewise(first: numpy.ndarray, second: numpy.ndarray, axes: Sequence[int], wants_bound: bool) -> _Bounded:
    """The whole convolution, with the longer array of each axis in pieces where that is less work."""
    shapes = (first.shape, second.shape)
    lengths = {axis: shapes[0][axis] + shapes[1][axis] - 1 for axis in axes}
    blocks = {}
    for axis in axes:
        shorter, longer = sorted((shapes[0][axis], shapes[1][axis]))
        length = _block_length(longer, shorter)
        if length < lengths[axis]:
            blocks[axis] = (length, length - shorter + 1)
    if not blocks:
        return _whole(first, second, axes, wants_bound)
    # Axes that are cut become two; the last one first, so that those before it keep their numbers.
    for axis in sorted(blocks, reverse=True):
        step = blocks[axis][1]
        if first.shape[axis] >= second.shape[axis]:
            first, second = _pieces(first, axis, step), numpy.expand_dims(second, axis)
        else:
            first, second = numpy.expand_dims(first, axis), _pieces(second, axis, step)
    transformed, padded, place = [], [], {}
    for axis in range(len(shapes[0])):
        place[axis] = axis + sum(cut < axis for cut in blocks)
        if axis in blocks:
            transformed.append(place[axis] + 1)
            padded.append(blocks[axis][0])
        elif axis in axes:
            transformed.append(place[axis])
            padded.append(next_fast_len(lengths[axis]))
    result, bound = by_spectra(first, second, padded, transformed, wants_bound)
    for axis in sorted(blocks, reverse=True):
        result = _overlapped(result, place[axis], blocks[axis][1])
        bound = None if bound is None else bound_of_sums(bound, result)
    index = [slice(None)] * result.ndim
    for axis in axes:
        index[axis] = slice(0, lengths[axis])
    return result[tuple(index)], bound
