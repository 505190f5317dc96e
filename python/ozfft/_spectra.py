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
    if wants_bound:
        _expect_exact_floats(first, second)
    if precision_of(first.dtype) != precision_of(second.dtype):
        first, second = (x.astype(numpy.result_type(x, numpy.float64)) for x in (first, second))
    is_complex = first.dtype.kind == "c" or second.dtype.kind == "c"
    if wants_bound:
        return _with_bound(first, second, lengths, axes, is_complex)
    there: Any = fftn if is_complex else rfftn
    back: Any = ifftn if is_complex else irfftn
    spectra = product(there(first, lengths, axes), there(second, lengths, axes))
    return back(spectra, lengths, axes), None


def products(first: numpy.ndarray, second: numpy.ndarray, wants_bound: bool) -> Tuple[numpy.ndarray, Optional[float]]:
    """The convolution along no axis."""
    result = product(first, second)
    if not wants_bound:
        return result, None
    if result.dtype.kind in "biu":
        largest = max(_largest_integer(first) * _largest_integer(second), 0)
        if result.dtype.kind != "b" and largest > numpy.iinfo(result.dtype).max:
            raise UnsupportedError(
                f"products may be as large as {largest}, which {result.dtype} does not hold; use ozfft.convolve_exact, or convert the arrays to float64"
            )
        return result, 0.0
    limits = numpy.finfo(result.dtype)
    moduli = numpy.abs(first).astype(numpy.float64) * numpy.abs(second).astype(numpy.float64)
    rounding = 4 if result.dtype.kind == "c" else 1
    bound = rounding * float(limits.eps) / 2 * float(moduli.max()) * (1 + 1e-10) + 4 * float(limits.smallest_subnormal)
    return result, _if_finite(result, bound)


def bound_of_sums(bound: float, result: numpy.ndarray) -> float:
    """Of sums of at most two numbers with this bound each."""
    unit = float(numpy.finfo(result.dtype).eps) / 2
    return _if_finite(result, (2 * bound + unit * float(numpy.abs(result).max())) * (1 + 1e-10))


def _if_finite(result: numpy.ndarray, bound: float) -> float:
    return bound if numpy.isfinite(result).all() and math.isfinite(bound) else math.inf


def _largest_integer(x: numpy.ndarray) -> int:
    return max(abs(int(x.max())), abs(int(x.min())))


def _expect_exact_floats(*operands: numpy.ndarray) -> None:
    for number, x in enumerate(operands, 1):
        if x.dtype.kind in "iu" and _largest_integer(x) > 1 << 53:
            raise UnsupportedError(
                f"in{number} has integers beyond 2^53, which double precision rounds before they are convolved; use ozfft.convolve_exact, or convert "
                "the array to float64 for a bound of the convolution of the rounded numbers"
            )


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
