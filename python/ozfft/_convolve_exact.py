"""Convolutions and correlations of integers that are exact: by number-theoretic transforms, or as products of long integers.

Numbers of at most 64 bits whose results fit 64 bits are convolved modulo primes. Everything else, Python's integers of any size among
it, becomes one product of two long integers: elements are written one behind the other with room for the largest result.
"""

from __future__ import annotations

import math
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import _duck, _ozfft
from ._calls import integers
from ._convolve import _axes, _cut, _swapped
from ._errors import DtypeError, IntegerRangeError, UnsupportedError
from ._libraries import library_of
from ._options import Mode, Route, get_workers, resolve

ROUTES = ("direct", "ntt", "digits", "pairs")


def _integers(x: Any, name: str) -> numpy.ndarray:
    """An array of numpy's integers or of Python's."""
    _duck.reject(x)
    if library_of(x).on_gpu:
        raise UnsupportedError(f"{name} is on a GPU; copy it to this machine's memory")
    array = numpy.asarray(x)
    if array.dtype.kind == "f" and not hasattr(x, "dtype"):
        # Of a list of integers around 2^63 numpy makes floating point.
        array = numpy.array(x, object)
    if array.dtype.kind == "b":
        return array.astype(numpy.int64)
    if array.dtype.kind in "iu":
        return array
    if array.dtype.kind == "O":
        values = array.reshape(-1).tolist()
        wrong = [value for value in values if not isinstance(value, (int, numpy.integer))]
        if not wrong:
            return numpy.array([int(value) for value in values] + [None], object)[:-1].reshape(array.shape)
        raise DtypeError(
            f"{name} holds {wrong[0]!r}, a {type(wrong[0]).__name__}; exact convolutions take integers: convert with astype(numpy.int64) what "
            "are integers, scale and round what are not, or use ozfft.fftconvolve, which has a small error"
        )
    raise DtypeError(
        f"{name} has the type {array.dtype}; exact convolutions take integers: convert with astype(numpy.int64) what are integers, "
        "scale and round what are not, or use ozfft.fftconvolve, which has a small error"
    )


def _result_type(a: numpy.ndarray, b: numpy.ndarray, dtype: Optional[DTypeLike]) -> numpy.dtype:
    if dtype is None:
        if "O" in (a.dtype.kind, b.dtype.kind):
            return numpy.dtype(object)
        unsigned = a.dtype.kind == "u" and b.dtype.kind == "u"
        return numpy.dtype(numpy.uint64 if unsigned else numpy.int64)
    asked = numpy.dtype(dtype)
    if asked.kind not in "iuO":
        raise DtypeError(f"results of the type {asked} are not exact; ask for integers, or for object: Python's integers of any size")
    return asked


def _spread(array: numpy.ndarray, whole: Sequence[int]) -> List[int]:
    """Python's integers of an array, in the places that they have in a larger one, up to the last."""
    larger = numpy.zeros(whole, object)
    larger[tuple(slice(0, length) for length in array.shape)] = array
    places = numpy.arange(larger.size).reshape(whole)
    last = int(places[tuple(length - 1 for length in array.shape)])
    return larger.reshape(-1)[: last + 1].tolist()


def _packed(numbers: Sequence[int], width: int) -> int:
    """The sum of numbers times powers of 256^width."""
    positive = b"".join((value if value > 0 else 0).to_bytes(width, "little") for value in numbers)
    negative = b"".join((-value if value < 0 else 0).to_bytes(width, "little") for value in numbers)
    return int.from_bytes(positive, "little") - int.from_bytes(negative, "little")


def _multiplied(a: int, b: int, device: str) -> int:
    def digits(x: int) -> bytes:
        return abs(x).to_bytes((x.bit_length() + 7) // 8, "little")

    product = int.from_bytes(_ozfft.multiply_bytes(digits(a), digits(b), device, get_workers()), "little")
    return -product if (a < 0) != (b < 0) else product


def _any_size(a: numpy.ndarray, b: numpy.ndarray, device: str) -> numpy.ndarray:
    """The whole convolution along all axes, of Python's integers."""
    whole = [first + second - 1 for first, second in zip(a.shape, b.shape)]
    first, second = _spread(a, whole), _spread(b, whole)
    largest = [max(abs(value) for value in numbers) for numbers in (first, second)]
    terms = 1
    for lengths in zip(a.shape, b.shape):
        terms *= min(lengths)
    # Every result is at most this, and one bit more holds its sign; a factor is not wider than the results either.
    width = (max(terms * largest[0] * largest[1], *largest).bit_length() + 1 + 7) // 8
    product = _multiplied(_packed(first, width), _packed(second, width), device)
    # Half of a place added to every result makes all of them positive, so that none borrows from the next.
    count = len(first) + len(second) - 1
    half = 1 << (8 * width - 1)
    halves = int.from_bytes(half.to_bytes(width, "little") * count, "little")
    places = (product + halves).to_bytes(width * count, "little")
    results = [int.from_bytes(places[k : k + width], "little") - half for k in range(0, width * count, width)]
    size = int(numpy.prod(whole))
    results += [0] * (size - count)
    # The last element keeps numpy from taking integers that fit for its own.
    return numpy.array(results + [None], object)[:-1].reshape(whole)


class _Choices(NamedTuple):
    """What computes, where, and the kind of the results: ``O``, ``i`` or ``u``."""

    kind: str
    route: Optional[str]
    device: str


def _of_64_bits(a: numpy.ndarray, b: numpy.ndarray, batch: int, choices: _Choices) -> numpy.ndarray:
    """Whole convolutions along all axes but the first, which counts them (or one second operand for all), of numbers of at most 64 bits with such
    results."""

    def given(x: numpy.ndarray) -> Tuple[bytes, bool, List[int]]:
        is_signed = x.dtype.kind == "i"
        return x.astype(numpy.int64 if is_signed else numpy.uint64).tobytes(), is_signed, list(x.shape[1:])

    signed = choices.kind == "i"
    whole = [first + second - 1 for first, second in zip(a.shape[1:], b.shape[1:])]
    try:
        results = _ozfft.convolve_integers(
            *given(a), *given(b), batch, signed, choices.route, choices.device, get_workers()
        )
    except IntegerRangeError as error:
        reason = str(error).partition(";")[0].replace(" i64 ", " int64 ").replace(" u64 ", " uint64 ")
        raise IntegerRangeError(f"{reason}; ask for dtype=object: Python's integers hold any result") from None
    return numpy.frombuffer(results, numpy.int64 if signed else numpy.uint64).reshape([batch, *whole]).copy()


def _whole(a: numpy.ndarray, b: numpy.ndarray, choices: _Choices) -> numpy.ndarray:
    """The whole convolution along all axes."""
    if choices.kind == "O":
        return _any_size(a, b, choices.device)
    return _of_64_bits(a[None], b[None], 1, choices)[0]


def _along(a: numpy.ndarray, b: numpy.ndarray, axes: Sequence[int], choices: _Choices) -> numpy.ndarray:
    """The whole convolution along some axes; along the others the arrays are broadcast."""
    others = [axis for axis in range(a.ndim) if axis not in axes]
    a, b = (numpy.moveaxis(x, others, range(len(others))) for x in (a, b))
    outer = numpy.broadcast_shapes(a.shape[: len(others)], b.shape[: len(others)])
    count = math.prod(outer)
    inner = tuple(first + second - 1 for first, second in zip(a.shape[len(others) :], b.shape[len(others) :]))

    def members(x: numpy.ndarray, is_one_for_all: bool) -> numpy.ndarray:
        shape = x.shape[len(others) :]
        x = x if is_one_for_all else numpy.broadcast_to(x, outer + shape)
        return x.reshape((-1, *shape))

    if choices.kind != "O" and count > 1:
        first, second = (b, a) if math.prod(a.shape[: len(others)]) == 1 else (a, b)
        is_shared = math.prod(second.shape[: len(others)]) == 1
        try:
            result = _of_64_bits(members(first, False), members(second, is_shared), count, choices)
            return numpy.moveaxis(result.reshape(outer + inner), range(len(others)), others)
        except (IntegerRangeError, UnsupportedError):
            # The largest numbers of all of them together may prove less than those of each.
            pass
    types = {"O": object, "i": numpy.int64, "u": numpy.uint64}
    result = numpy.empty(outer + inner, types[choices.kind])
    a, b = (numpy.broadcast_to(x, outer + x.shape[len(others) :]) for x in (a, b))
    for place in numpy.ndindex(*outer):
        result[place] = _whole(a[place], b[place], choices)
    return numpy.moveaxis(result, range(len(others)), others)


def _narrowed(result: numpy.ndarray, dtype: numpy.dtype) -> numpy.ndarray:
    if dtype.kind == "O" or result.dtype == dtype:
        return result
    limits = numpy.iinfo(dtype)
    if result.size and not (limits.min <= int(result.min()) and int(result.max()) <= limits.max):
        raise IntegerRangeError(
            f"results reach from {result.min()} to {result.max()}, which {dtype} does not hold; ask for a wider dtype"
        )
    return result.astype(dtype)


def convolve_exact(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: Mode = "full",
    axes: Union[int, Sequence[int], None] = None,
    *,
    dtype: Optional[DTypeLike] = None,
    route: Optional[Route] = None,
    device: Optional[str] = None,
) -> NDArray[Any]:
    """Convolves two arrays of integers exactly.

    No result is rounded: numbers of 64 bits are convolved by number-theoretic transforms modulo so many primes that their product is larger
    than any result, and Python's integers as one product of long integers. Where a type might not hold a result it is an error, and nothing
    is returned.

    Parameters
    ----------
    in1, in2 : array_like
        Integers of numpy, or Python's of any size (object arrays), of the same number of dimensions.
    mode : {"full", "same", "valid"}, optional
        The whole convolution (default), its middle part of the shape of `in1`, or the part that no padding has touched.
    axes : int or sequence of int, optional
        The axes that are convolved, all by default; along the others the arrays are broadcast.
    dtype : data-type, optional
        Type of the results: integers, or ``object`` for Python's. By default ``int64``, of two unsigned arrays ``uint64``, of Python's integers
        ``object``.
    route : {"direct", "ntt", "digits", "pairs"}, optional
        What computes: product by product, transforms modulo primes, or transforms in double or double-double precision whose rounding is proven
        to find the integers. By default products for short arrays and primes for all others. All routes have the same results. Python's
        integers have no choice.
    device : str, optional
        ``"cpu"`` (default), ``"cuda"`` or ``"cuda:1"`` for a GPU, ``"auto"`` for the first one where it is expected to be faster. On a GPU the route is ``"ntt"``
        unless ``"digits"`` is asked for; results are the same. Of Python's integers those products are computed there that are long enough for
        a transform.

    Returns
    -------
    array
        The convolution.

    Raises
    ------
    DtypeError
        If an array has no integers.
    IntegerRangeError
        If results might not fit their type.
    UnsupportedError
        If the route that was asked for is not proven for these arrays, or does not run on the GPU that was asked for.
    DeviceError
        If there is no such GPU, or it fails.

    See Also
    --------
    correlate_exact, fftconvolve

    Examples
    --------
    >>> import numpy, ozfft
    >>> ozfft.convolve_exact([1, 2, 3], [4, -5])
    array([  4,   3,   2, -15])

    Beyond 2^53 a rounded convolution in double precision is silently wrong:

    >>> numbers = numpy.full(1000, 2**26 - 1)
    >>> exact = ozfft.convolve_exact(numbers, numbers)
    >>> int(exact[999]) == 1000 * (2**26 - 1) ** 2
    True
    >>> rounded = numpy.fft.irfft(numpy.fft.rfft(numbers, 2000) ** 2, 2000).round().astype(int)
    >>> bool((rounded[:1999] == exact).all())
    False

    Python's integers, of any size:

    >>> ozfft.convolve_exact([10**30, 1], [10**30, -1])
    array([1000000000000000000000000000000000000000000000000000000000000, 0,
           -1], dtype=object)
    """
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"acceptable mode flags are 'valid', 'same', or 'full'; {mode!r} was given")
    if route is not None and route not in ROUTES:
        raise ValueError(f"routes are {', '.join(map(repr, ROUTES))}; {route!r} was given")
    a, b = _integers(in1, "in1"), _integers(in2, "in2")
    if a.ndim != b.ndim:
        raise ValueError(f"in1 and in2 should have the same dimensionality; they have {a.ndim} and {b.ndim} dimensions")
    result_type = _result_type(a, b, dtype)
    if a.size == 0 or b.size == 0:
        return numpy.array([], result_type)
    kind = result_type.kind
    if "O" in (a.dtype.kind, b.dtype.kind):
        kind = "O"
    if kind == "O":
        if route is not None:
            raise UnsupportedError(
                f"the route {route!r} takes numpy's integers, and these are Python's; leave it out, or ask for a dtype of at most 64 bits"
            )
        a, b = a.astype(object), b.astype(object)
    choices = _Choices(kind, route, resolve(device=device).device or "cpu")
    if a.ndim == 0:
        return _narrowed(_whole(a.reshape(1), b.reshape(1), choices), result_type).reshape(())
    numbered = _axes(a, b, axes)
    if _swapped(mode, a, b, numbered):
        a, b = b, a
    # Axes of one element are not among those, and broadcast would be taken one by one: the convolution is the same product.
    asked = range(a.ndim) if axes is None else sorted(axis % a.ndim for axis in integers(axes, "axes"))
    result = _along(a, b, list(asked), choices)
    return _narrowed(_cut(result, a.shape, b.shape, mode, numbered), result_type)


def correlate_exact(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: Mode = "full",
    axes: Union[int, Sequence[int], None] = None,
    *,
    dtype: Optional[DTypeLike] = None,
    route: Optional[Route] = None,
    device: Optional[str] = None,
) -> NDArray[Any]:
    """Correlates two arrays of integers exactly, with the order of results of :func:`scipy.signal.correlate`.

    Parameters
    ----------
    in1, in2 : array_like
        Integers of numpy, or Python's of any size (object arrays), of the same number of dimensions.
    mode : {"full", "same", "valid"}, optional
        The whole correlation (default), its middle part of the shape of `in1`, or the part that no padding has touched.
    axes : int or sequence of int, optional
        The axes that are correlated, all by default; along the others the arrays are broadcast.
    dtype : data-type, optional
        As for :func:`convolve_exact`.
    route : {"direct", "ntt", "digits", "pairs"}, optional
        As for :func:`convolve_exact`.
    device : str, optional
        As for :func:`convolve_exact`.

    Returns
    -------
    array
        The correlation.

    See Also
    --------
    convolve_exact, scipy.signal.correlate

    Examples
    --------
    >>> import ozfft
    >>> ozfft.correlate_exact([1, 2, 3], [0, 1])
    array([1, 2, 3, 0])
    """
    b = _integers(in2, "in2")
    reversed_axes = range(b.ndim) if axes is None else integers(axes, "axes")
    return convolve_exact(in1, numpy.flip(b, tuple(reversed_axes)), mode, axes, dtype=dtype, route=route, device=device)
