"""The exact results that adversaries compare with: Python's integers, and no function of ozfft, numpy's transforms or the platform.

A double is an integer times 2^-1074; a cosine is an integer of `BITS` bits. So transforms and convolutions of any finite numbers are
sums of products of integers, whatever their size.
"""

import functools
import math
from fractions import Fraction

import numpy as np

BITS = 240
GUARD = 40


def in_smallest(x):
    """Numbers, exactly, as Python's integers in units of the smallest double."""
    units = [int(Fraction(float(value)) * 2**1074) for value in np.ravel(x)]
    return np.array(units + [None], object)[:-1].reshape(np.shape(x))


@functools.cache
def two_pi():
    """2π in units of 2^-(BITS + GUARD), by Machin's formula."""

    def arctangent_of_inverse(x):
        power = total = (1 << (BITS + 2 * GUARD)) // x
        k, sign = 1, 1
        while power:
            power //= x * x
            k, sign = k + 2, -sign
            total += sign * (power // k)
        return total

    return (32 * arctangent_of_inverse(5) - 8 * arctangent_of_inverse(239)) >> GUARD


@functools.cache
def cosine(numerator, denominator):
    """cos(2π · numerator / denominator) in units of 2^-BITS, less than a unit off."""
    numerator %= denominator
    if 2 * numerator > denominator:
        return cosine(denominator - numerator, denominator)
    if 4 * numerator > denominator:
        return -cosine(denominator - 2 * numerator, 2 * denominator)
    angle = two_pi() * numerator // denominator
    term, total, k = 1 << (BITS + GUARD), 0, 0
    while term:
        total += term if k % 4 == 0 else -term
        term = ((term * angle >> (BITS + GUARD)) * angle >> (BITS + GUARD)) // ((k + 1) * (k + 2))
        k += 2
    return total >> GUARD


def sine(numerator, denominator):
    return cosine(4 * numerator - denominator, 4 * denominator)


def root(number):
    """The square root of a fraction in units of 2^-BITS."""
    number = Fraction(number)
    return math.isqrt((number.numerator << 2 * BITS) // number.denominator)


@functools.cache
def trigonometric(name, kind, n, orthogonal=False):
    """The matrix of a cosine or sine transform as scipy's documentation has it, in units of 2^-BITS."""
    turn = {
        ("dct", 1): lambda k, j: (k * j, 2 * (n - 1)),
        ("dct", 2): lambda k, j: (k * (2 * j + 1), 4 * n),
        ("dct", 3): lambda k, j: ((2 * k + 1) * j, 4 * n),
        ("dct", 4): lambda k, j: ((2 * k + 1) * (2 * j + 1), 8 * n),
        ("dst", 1): lambda k, j: ((k + 1) * (j + 1), 2 * (n + 1)),
        ("dst", 2): lambda k, j: ((k + 1) * (2 * j + 1), 4 * n),
        ("dst", 3): lambda k, j: ((2 * k + 1) * (j + 1), 4 * n),
        ("dst", 4): lambda k, j: ((2 * k + 1) * (2 * j + 1), 8 * n),
    }[name, kind]
    value = cosine if name == "dct" else sine
    matrix = np.array([[2 * value(*turn(k, j)) for j in range(n)] for k in range(n)], object)
    # Terms at the ends of the symmetric array occur once.
    ends = {("dct", 1): (0, -1), ("dct", 3): (0,), ("dst", 3): (-1,)}.get((name, kind), ())
    for place in ends:
        matrix[:, place] //= 2
    if orthogonal:
        for place in ends:
            matrix[:, place] = matrix[:, place] * root(2) >> BITS
        for place in {("dct", 1): (0, -1), ("dct", 2): (0,), ("dst", 2): (-1,)}.get((name, kind), ()):
            matrix[place] = matrix[place] * root(Fraction(1, 2)) >> BITS
    return matrix


def along(matrix, x, axis):
    """A matrix times an array of integers along an axis; units multiply."""
    return np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)


@functools.cache
def fourier(n, sign=-1):
    """The matrices of cosines and of `sign` times sines of a Fourier transform."""
    cosines = [[cosine(j * k, n) for j in range(n)] for k in range(n)]
    sines = [[sign * sine(j * k, n) for j in range(n)] for k in range(n)]
    return np.array(cosines, object), np.array(sines, object)


def fourier_along(x, axes, sign=-1):
    """The Fourier transform of (real, imaginary) arrays of integers along some axes, in units that are smaller by BITS for each."""
    real, imaginary = x
    for axis in axes:
        c, s = fourier(real.shape[axis], sign)
        real, imaginary = (
            along(c, real, axis) - along(s, imaginary, axis),
            along(c, imaginary, axis) + along(s, real, axis),
        )
    return real, imaginary


def norm_of(integers):
    """The Euclidean norm of integers, rounded up."""
    return math.isqrt(sum(int(x) ** 2 for x in np.ravel(integers))) + 1


def exact_parts(a, b):
    """The whole convolution along all axes in units of the smallest double squared, real and imaginary parts."""

    def whole(x, y):
        result = np.zeros([m + n - 1 for m, n in zip(x.shape, y.shape)], object)
        for place in np.ndindex(*y.shape):
            result[tuple(slice(k, k + n) for k, n in zip(place, x.shape))] += x * y[place]
        return result

    (p, q), (r, s) = ((in_smallest(np.real(x)), in_smallest(np.imag(x))) for x in (a, b))
    return whole(p, r) - whole(q, s), whole(p, s) + whole(q, r)


def largest_error(result, parts):
    """Of all elements, in modulus, in units of the smallest double squared, rounded up."""
    ours = (in_smallest(np.real(result)) * 2**1074, in_smallest(np.imag(result)) * 2**1074)
    squares = (ours[0] - parts[0]) ** 2 + (ours[1] - parts[1]) ** 2
    return max(math.isqrt(square) + 1 if square else 0 for square in np.ravel(squares))


def excess(result, exact, units, bound, what):
    """Whether a result is as near to the exact one, which is in units of 2^-units, as a relative bound of its norm says: not at all beyond
    it, but that every subnormal number may be half of the smallest one off. Infinities are judged one by one.
    """
    parts = [result.real, result.imag] if result.dtype.kind == "c" else [result]
    limits = np.finfo(result.dtype)
    if result.dtype.kind != "c":
        exact = (exact,)
    size = Fraction(norm_of(exact))
    allowed = Fraction(bound) * size
    error, subnormal = 0, 0
    for ours, true in zip(parts, exact):
        for x, y in zip(np.ravel(ours), np.ravel(true)):
            assert not np.isnan(x), what
            if np.isinf(x):
                assert (x > 0) == (y > 0) and abs(int(y)) + allowed >= Fraction(float(limits.max)) * 2**units, what
                return
            error += (int(Fraction(float(x)) * 2**units) - int(y)) ** 2
            subnormal += abs(float(x)) < float(limits.tiny)
    half_step = Fraction(float(limits.smallest_subnormal)) / 2 * 2**units
    allowed += half_step * (math.isqrt(subnormal * 2**40) + 1) / 2**20 + 2
    found = Fraction(math.isqrt(error) + 1)
    assert found <= allowed, (what, float(found / allowed), bound)
