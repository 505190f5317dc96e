"""Cosine and sine transforms of lines, by one Fourier transform of about their length.

Types 2 and 3 are a real transform of the same length with the samples in another order, and a rotation of the half-spectrum after or
before it (Makhoul 1980). Type 4 of an even length is a complex transform of half the length between two rotations; of an odd length
a real transform of the same length in another order, whose real and imaginary parts are added and multiplied by √2. Type 1 is the real
transform of the longer, symmetric array that defines it. Sine transforms are cosine transforms of arrays in reverse order or with
alternating signs.

Rotations are separate products and sums of doubles, each correctly rounded, with tables that are the same everywhere
(:mod:`ozfft._rotations`), so the bits are the same on every machine. Single precision is rotated in double, and rounded once.

With β the bound of the inner transform and u = 2⁻⁵³, the relative L2 error of one line is at most (docs/python.md, too)

    type 1               √2 β        r2c of 2(n ∓ 1) points, whose half-spectrum it is
    type 2               √2 β + 4 u  r2c of n points
    type 3               β + 4 u     c2r of n points
    type 4, n even       β + 7 u     c2c of n / 2 points
    type 4, n odd        √2 β + 3 u  r2c of n points

A rotation of z: the table is off by u of its size, which is 1; the four products by u of theirs, together √2 u |z|; the two sums
by u of theirs, together u |z|: less than 3.5 u |z|. In types 2 and 4 (n odd) the error of the half-spectrum counts up to fourfold in the
energy of the result, and that is at least twice the energy of the whole spectrum, of which β speaks: hence √2.
Single precision adds 2⁻²⁴ for every rounding to f32 outside the transform: one in types 2 and 3, one in type 4 where n is odd, two where
it is even. All of this holds as long as no intermediate overflows or is subnormal; none is above √2 times the
largest of its line's samples and results.
"""

from __future__ import annotations

from typing import Tuple

import numpy

from ._arrays import NUMPY
from ._execute import FFT, IRFFT, RFFT, transform
from ._options import Options
from ._rotations import kept, odd_sixteenths, quarter_steps

_SQRT_2 = 1.4142135623730951


def inner_length(kind: int, odd: bool, n: int) -> int:
    """Points of the Fourier transform inside."""
    if kind == 1:
        return 2 * (n + 1) if odd else 2 * (n - 1)
    return n // 2 if kind == 4 and n % 2 == 0 else n


def transform_lines(kind: int, odd: bool, lines: numpy.ndarray, into: numpy.ndarray, options: Options) -> None:
    """Writes the transforms of `lines`, not scaled. `odd`: sines."""
    # Infinities and NaNs propagate without a warning: the whole line is NaN in the end.
    with numpy.errstate(all="ignore"):
        if kind == 1:
            _first(odd, lines, into, options)
        elif kind == 2:
            _second(odd, lines, into, options)
        elif kind == 3:
            _third(odd, lines, into, options)
        else:
            _fourth(odd, lines, into, options)


def _complex_type(lines: numpy.ndarray) -> numpy.dtype:
    return numpy.result_type(lines.dtype, numpy.complex64)


def _first(odd: bool, lines: numpy.ndarray, into: numpy.ndarray, options: Options) -> None:
    count, n = lines.shape
    length = inner_length(1, odd, n)
    whole = numpy.zeros((count, length), lines.dtype)
    if odd:
        whole[:, 1 : n + 1] = lines
        numpy.negative(lines[:, ::-1], out=whole[:, n + 2 :])
    else:
        whole[:, :n] = lines
        whole[:, n:] = lines[:, n - 2 : 0 : -1]
    spectra = transform(RFFT, NUMPY, whole, (length,), (1,), "backward", options)
    if odd:
        # Each number went in with the sign of the sine that the exponential subtracts.
        numpy.negative(spectra.imag[:, 1 : n + 1], out=into)
    else:
        into[...] = spectra.real


def _second(odd: bool, lines: numpy.ndarray, into: numpy.ndarray, options: Options) -> None:
    count, n = lines.shape
    half = (n + 1) // 2
    # Samples 0, 2, 4, … and then … 5, 3, 1; for sines, those with odd numbers negated, and the result in reverse.
    ordered = numpy.empty((count, n), lines.dtype)
    ordered[:, :half] = lines[:, ::2]
    back = ordered[:, half:][:, ::-1]
    if odd:
        numpy.negative(lines[:, 1::2], out=back)
        into = into[:, ::-1]
    else:
        back[...] = lines[:, 1::2]
    spectra = transform(RFFT, NUMPY, ordered, (n,), (1,), "backward", options)
    # Twice the rotated half-spectrum: its real parts, and its imaginary parts from the end.
    cosine, sine = (2 * table for table in quarter_steps(n))
    real, imaginary = spectra.real, spectra.imag
    into[:, : n // 2 + 1] = real * cosine + imaginary * sine
    if n > 2:
        inner = slice(1, half)
        into[:, : n // 2 : -1] = real[:, inner] * sine[inner] - imaginary[:, inner] * cosine[inner]


def _third(odd: bool, lines: numpy.ndarray, into: numpy.ndarray, options: Options) -> None:
    count, n = lines.shape
    half = (n + 1) // 2
    if odd:
        lines = lines[:, ::-1]
    # The half-spectrum of number k, (x[k] - i x[n - k]) rotated forward; there is no x[n].
    cosine, sine = quarter_steps(n)
    spectra = numpy.empty((count, n // 2 + 1), _complex_type(lines))
    spectra[:, 0] = lines[:, 0]
    if n > 1:
        near, far = lines[:, 1 : n // 2 + 1], lines[:, : half - 1 : -1]
        cosine, sine = cosine[1:], sine[1:]
        spectra.real[:, 1:] = near * cosine + far * sine
        spectra.imag[:, 1:] = near * sine - far * cosine
    # The inverse without its division.
    ordered = transform(IRFFT, NUMPY, spectra, (n,), (1,), "forward", options)
    into[:, ::2] = ordered[:, :half]
    back = ordered[:, half:][:, ::-1]
    if odd:
        numpy.negative(back, out=into[:, 1::2])
    else:
        into[:, 1::2] = back


def _fourth(odd: bool, lines: numpy.ndarray, into: numpy.ndarray, options: Options) -> None:
    n = lines.shape[1]
    if odd:
        lines = lines[:, ::-1]
    (_fourth_even if n % 2 == 0 else _fourth_odd)(lines, into, options)
    if odd:
        numpy.negative(into[:, 1::2], out=into[:, 1::2])


def _fourth_even(lines: numpy.ndarray, into: numpy.ndarray, options: Options) -> None:
    count, n = lines.shape
    cosine, sine = odd_sixteenths(n)
    near, far = lines[:, ::2], lines[:, ::-2]
    numbers = numpy.empty((count, n // 2), _complex_type(lines))
    numbers.real = near * cosine + far * sine
    numbers.imag = far * cosine - near * sine
    numbers = transform(FFT, NUMPY, numbers, (n // 2,), (1,), "backward", options, overwrite=True)
    cosine, sine = 2 * cosine, 2 * sine
    into[:, ::2] = numbers.real * cosine + numbers.imag * sine
    into[:, ::-2] = numbers.real * sine - numbers.imag * cosine


def _fourth_odd(lines: numpy.ndarray, into: numpy.ndarray, options: Options) -> None:
    n = lines.shape[1]
    chosen, negative, places, real_sign, imaginary_sign = kept.get(("odd", n), lambda: _order_of_odd(n))
    ordered = lines[:, chosen]
    numpy.negative(ordered, out=ordered, where=negative)
    spectra = transform(RFFT, NUMPY, ordered, (n,), (1,), "backward", options)
    # Signs are exact, and so is the conversion to doubles.
    total = spectra.real[:, places] * real_sign + spectra.imag[:, places] * imaginary_sign
    numpy.multiply(total, _SQRT_2, out=total)
    into[...] = total


def _order_of_odd(n: int) -> Tuple[numpy.ndarray, ...]:
    """Where type 4 of an odd length has its samples, and finds its results, in a real transform of the same length.

    The symmetric array of `8 n` points has x[j] at 2j + 1, is even, and changes its sign after `4 n`. Its numbers at odd places are
    known by those at places 1 mod 8, of which there is one for every remainder mod n, as n is odd: those are transformed. As
    n² = 1 mod 8, `1 / 8n = n / 8 - ((n² - 1) / 8) / n`, so that the number b of the long transform is number -b (n² - 1) / 8 of the
    short one, turned by n b eighths of a turn.
    """
    remainders = numpy.arange(n, dtype=numpy.int64)
    # Multiples of n² that are 1 mod 8 and 0 mod n, and the rest: 1 - n² is 0 mod 8 and 1 mod n.
    places = (n * n + remainders * ((1 - n * n) % (8 * n))) % (8 * n)
    places = numpy.minimum(places, 8 * n - places)
    negative = places > 2 * n
    places = numpy.where(negative, 4 * n - places, places)
    odd_numbers = 2 * remainders + 1
    results = (odd_numbers * (-((n * n - 1) // 8) % n)) % n
    mirrored = 2 * results > n
    results = numpy.where(mirrored, n - results, results)
    eighths = (odd_numbers * n) % 8
    real_sign = numpy.where((eighths == 1) | (eighths == 7), 1.0, -1.0)
    imaginary_sign = numpy.where(((eighths == 1) | (eighths == 3)) != mirrored, 1.0, -1.0)
    return (places - 1) // 2, negative, results, real_sign, imaginary_sign
