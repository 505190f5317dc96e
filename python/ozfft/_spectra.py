"""Products of spectra, and a proven bound of the error of the convolution that they are made for.

Spectra are multiplied in separate real products and sums: numpy's complex product is fused on some machines and not on others,
and would give other bits there.
"""

from __future__ import annotations

import math
from typing import Any, List, Optional, Sequence, Tuple

import numpy

from . import _ozfft
from ._arrays import precision_of
from ._errors import UnsupportedError
from ._plan import Plan, plan
from ._transforms import fftn, ifftn, irfftn, rfftn


def product(a: numpy.ndarray, b: numpy.ndarray) -> numpy.ndarray:
    """Elementwise, each operation correctly rounded."""
    if a.dtype.kind != "c" or b.dtype.kind != "c":
        return numpy.multiply(a, b)
    result = numpy.empty(numpy.broadcast_shapes(a.shape, b.shape), numpy.result_type(a, b))
    result.real = a.real * b.real - a.imag * b.imag
    result.imag = a.real * b.imag + a.imag * b.real
    return result


def by_spectra(
    first: numpy.ndarray, second: numpy.ndarray, lengths: Sequence[int], axes: Sequence[int], wants_bound: bool
) -> Tuple[numpy.ndarray, Optional[float]]:
    """The cyclic convolution of two arrays, padded to `lengths` along `axes`, in the wider of their precisions; and a bound, if it is wanted."""
    first, second = _as_floats(first, second, wants_bound)
    is_complex = first.dtype.kind == "c" or second.dtype.kind == "c"
    if wants_bound:
        return _with_bound(first, second, lengths, axes, is_complex)
    there: Any = fftn if is_complex else rfftn
    back: Any = ifftn if is_complex else irfftn
    spectra = product(there(first, lengths, axes), there(second, lengths, axes))
    return back(spectra, lengths, axes), None


def products(first: numpy.ndarray, second: numpy.ndarray, wants_bound: bool) -> Tuple[numpy.ndarray, Optional[float]]:
    """The convolution along no axis: products of elements, in the precision of every other convolution; and a bound, if it is wanted.

    Let u be the relative error of a rounding, and s the smallest number above zero. A rounding is off by at most u times its result, or by s/2
    where that is subnormal; sums of subnormal numbers are exact. A complex product has three roundings in each part.
    """
    first, second = _as_floats(first, second, wants_bound)
    result = product(first, second)
    if not wants_bound:
        return result, None
    limits = numpy.finfo(result.dtype)
    unit = float(limits.eps) / 2

    def error(*rounded: Any) -> Any:
        return sum(unit * numpy.abs(x).astype(numpy.float64) for x in rounded)

    if first.dtype.kind == second.dtype.kind == "c":
        a, b, c, d = first.real, first.imag, second.real, second.imag
        moduli = numpy.hypot(error(a * c, b * d, result.real), error(a * d, b * c, result.imag))
    else:
        moduli = numpy.hypot(error(result.real), error(result.imag))
    # Beyond s/2 for each rounding, the rest of 8 s is for sums that are smaller than normal numbers in the line above.
    bound = float(moduli.max()) * (1 + 1e-10) + 8 * float(limits.smallest_subnormal)
    is_zero = not first.any() or not second.any()
    return result, _if_finite(result, 0.0 if is_zero else bound)


def _as_floats(first: numpy.ndarray, second: numpy.ndarray, exactly: bool) -> Tuple[numpy.ndarray, numpy.ndarray]:
    """Both operands in the wider of their precisions; `exactly` refuses numbers that it does not hold."""
    real: Any = numpy.float32 if precision_of(first.dtype) == precision_of(second.dtype) == "f4" else numpy.float64
    converted = []
    for number, x in enumerate((first, second), 1):
        floats = x.astype(numpy.result_type(real, numpy.complex64) if x.dtype.kind == "c" else real, copy=False)
        if exactly and not _is_exact(x, floats):
            raise UnsupportedError(
                f"in{number} has integers beyond 2^53, or other numbers that double precision rounds before they are convolved; use "
                "ozfft.convolve_exact for integers, or convert the array to float64 for a bound of the convolution of the rounded numbers"
            )
        converted.append(floats)
    return converted[0], converted[1]


def _is_exact(x: numpy.ndarray, floats: numpy.ndarray) -> bool:
    """Whether no number was rounded, of an array as it was given and in double precision."""
    if x.dtype.kind in "iu":
        return max(int(x.max()), -int(x.min())) <= 1 << 53
    # Python compares numbers of different types exactly.
    return x.dtype.kind in "bfc" or bool((floats.astype(object) == x.astype(object)).all())


def bound_of_sums(bound: float, result: numpy.ndarray) -> float:
    """Of sums of at most two numbers with this bound each."""
    unit = float(numpy.finfo(result.dtype).eps) / 2
    return _if_finite(result, (2 * bound + unit * float(numpy.abs(result).max())) * (1 + 1e-10))


def _if_finite(result: numpy.ndarray, bound: float) -> float:
    return bound if numpy.isfinite(result).all() and math.isfinite(bound) else math.inf


def _parts(x: numpy.ndarray) -> numpy.ndarray:
    """Real and imaginary parts of a contiguous array as real numbers, in its memory."""
    return x.view(x.real.dtype)


def _scaled(x: numpy.ndarray) -> Tuple[numpy.ndarray, int, float]:
    """The array times a power of two that brings its largest part between 1 and 2; the power's exponent, negated; and the largest part."""
    largest = float(numpy.abs(_parts(x)).max())
    exponent = math.frexp(largest)[1] - 1 if math.isfinite(largest) and largest else 0
    scaled = numpy.empty_like(x)
    numpy.ldexp(_parts(x), -exponent, out=_parts(scaled))
    return scaled, exponent, largest


def _planned(kind: str, direction: str, shape: Sequence[int], axes: Sequence[int], real: numpy.dtype) -> Plan:
    made = plan(tuple(shape), kind=kind, direction=direction, axes=tuple(axes), dtype=real)  # type: ignore[arg-type]
    if not made.bound_is_proven:
        raise UnsupportedError(
            f"the engine {made.engine} has no proven bound for {tuple(shape)}; take engine='digits', or leave return_bound out"
        )
    return made


def _with_bound(
    first: numpy.ndarray, second: numpy.ndarray, lengths: Sequence[int], axes: Sequence[int], is_complex: bool
) -> Tuple[numpy.ndarray, float]:
    """As the extension proves it (`error_of_product` in crates/ozfft/src/convolution/real.rs) for operands whose largest part is from 1 to 2.

    Powers of two change no bits in the middle of the range; at its ends they keep spectra within it. The bound is that of the largest norms
    and moduli among all convolutions side by side, so it holds for each.
    """
    real: Any = numpy.dtype(precision_of(first.dtype))
    kind = numpy.result_type(real, numpy.complex64) if is_complex else real
    limits = numpy.finfo(real)
    unit = float(numpy.finfo(numpy.float64).eps) / 2
    power, is_zero, is_finite = 0, False, True
    operands, spectra, shapes = [], [], []
    for x in (first, second):
        scaled, exponent, largest = _scaled(numpy.ascontiguousarray(x, kind))
        power += exponent
        is_zero, is_finite = is_zero or largest == 0, is_finite and math.isfinite(largest)
        shape: List[int] = list(x.shape)
        for axis, length in zip(axes, lengths):
            shape[axis] = length
        padded = numpy.zeros(shape, kind)
        padded[tuple(slice(0, length) for length in x.shape)] = scaled
        there = _planned("c2c" if is_complex else "r2c", "forward", shape, axes, real)
        spectrum = there(padded)
        squares = _squares(scaled).sum(axis=tuple(axes), dtype=numpy.float64)
        count = 2 * scaled.size // squares.size
        norm = math.sqrt(float(squares.max())) * (1 + (2 * count + 100) * unit)
        peak = math.sqrt(float(_squares(spectrum).max())) * (1 + 100 * unit)
        operands.append((norm, peak, there.bound))
        spectra.append(spectrum)
        shapes.append(shape)
    whole = numpy.broadcast_shapes(*map(tuple, shapes))
    back = _planned("c2c" if is_complex else "c2r", "inverse", whole, axes, real)
    result = back(product(*spectra))
    numpy.ldexp(_parts(result), power, out=_parts(result))
    if is_zero and is_finite:
        return result, 0.0
    if not is_finite:
        return result, math.inf
    bound = _ozfft.error_of_spectra(
        math.prod(lengths), operands[0], operands[1], back.bound, 2 * float(limits.eps), float(limits.tiny)
    )
    try:
        bound = math.ldexp(bound, power)
    except OverflowError:
        return result, math.inf
    # The result, and the bound itself, may each be off by the smallest number where they are below the normal ones.
    return result, _if_finite(result, bound * (1 + 8 * unit) + 4 * float(limits.smallest_subnormal))


def _squares(x: numpy.ndarray) -> numpy.ndarray:
    """Squared moduli, in double precision."""
    squares = x.real.astype(numpy.float64) ** 2
    return squares + x.imag.astype(numpy.float64) ** 2 if x.dtype.kind == "c" else squares
