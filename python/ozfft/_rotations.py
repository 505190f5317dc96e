"""Tables of cosines and sines with the same bits on every machine.

A few hundred roots of unity are computed in whole-number arithmetic, to 120 bits and more. All others are products of two of those, in
pairs of doubles: products and sums that are each correctly rounded, in a fixed order, without fused operations and without the
platform's functions. Every entry is off by no more than `HALF_UNIT` of its own size, which is half a unit in the last place and a
millionth of that: nearly all are the nearest doubles.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from typing import Any, Callable, Hashable, List, Tuple

import numpy

HALF_UNIT = 2.0**-53 * (1 + 1e-6)
_BITS = 192
# Dekker's constant: splits 53 bits into 26 and 26.
_SPLIT = 2.0**27 + 1


def _quarter_pi() -> int:
    """π/4 in units of 2^-_BITS, by Machin's formula; a few units off."""

    def arctangent_of_inverse(x: int) -> int:
        power = total = (1 << (_BITS + 16)) // x
        k, sign = 1, 1
        while power:
            power //= x * x
            k, sign = k + 2, -sign
            total += sign * (power // k)
        return total

    return (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239)) >> 16


_QUARTER_PI = _quarter_pi()


def _cosine_sine(numerator: int, denominator: int) -> Tuple[int, int]:
    """cos and sin of `2π · numerator / denominator`, an angle from 0 to a quarter turn, in units of 2^-_BITS; a hundred units off
    at most."""
    swap = 8 * numerator > denominator
    if swap:
        # A quarter turn less the angle; both with four times the denominator.
        numerator, denominator = denominator - 4 * numerator, 4 * denominator
    angle = 8 * numerator * _QUARTER_PI // denominator
    cosine, sine = 0, 0
    # The terms x^k / k! of both series, in turn.
    term, k = 1 << _BITS, 0
    while term:
        cosine += term if k % 4 == 0 else -term
        sine_term = (term * angle >> _BITS) // (k + 1)
        sine += sine_term if k % 4 == 0 else -sine_term
        term = (sine_term * angle >> _BITS) // (k + 2)
        k += 2
    return (sine, cosine) if swap else (cosine, sine)


def _pair(number: int) -> Tuple[float, float]:
    """The nearest double and the nearest double to the rest. Whole numbers become doubles correctly rounded everywhere."""
    high = float(number)
    low = float(number - int(high))
    return math.ldexp(high, -_BITS), math.ldexp(low, -_BITS)


def _pairs(numerators: List[int], denominator: int) -> numpy.ndarray:
    """Four rows: cosines, high and low, and sines, high and low."""
    rows = []
    for numerator in numerators:
        cosine, sine = _cosine_sine(numerator, denominator)
        rows.append(_pair(cosine) + _pair(sine))
    return numpy.array(rows).T


def _exact_product(a: numpy.ndarray, b: numpy.ndarray) -> Tuple[numpy.ndarray, numpy.ndarray]:
    """The rounded product, and what was rounded off."""
    product = a * b
    big = _SPLIT * a
    a_high = big - (big - a)
    a_low = a - a_high
    big = _SPLIT * b
    b_high = big - (big - b)
    b_low = b - b_high
    rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, rest


def _sum_of_products(a: Any, b: Any, c: Any, d: Any) -> numpy.ndarray:
    """`a · b + c · d` of pairs, rounded to doubles."""
    first, first_rest = _exact_product(a[0], b[0])
    second, second_rest = _exact_product(c[0], d[0])
    total = first + second
    back = total - first
    rest = (first - (total - back)) + (second - back)
    small = (a[0] * b[1] + a[1] * b[0]) + (c[0] * d[1] + c[1] * d[0])
    return total + (rest + ((first_rest + second_rest) + small))


def _make(first: int, step: int, count: int, denominator: int) -> Tuple[numpy.ndarray, numpy.ndarray]:
    """cos and sin of `2π · (first + step · k) / denominator` for `k < count`, angles from 0 to a quarter turn."""
    fine = 1 << ((count - 1).bit_length() + 1) // 2
    coarse = -(-count // fine)
    # The last coarse angles are within a quarter turn, as those of the table are.
    large = _pairs([step * fine * i for i in range(coarse)], denominator)[:, :, None]
    small = _pairs([first + step * j for j in range(fine)], denominator)[:, None, :]
    c, s, cosine, sine = large[:2], large[2:], small[:2], small[2:]
    minus_s = -s
    cosines = _sum_of_products(c, cosine, minus_s, sine).reshape(-1)[:count]
    sines = _sum_of_products(s, cosine, c, sine).reshape(-1)[:count]
    table = numpy.ascontiguousarray(cosines), numpy.ascontiguousarray(sines)
    for each in table:
        each.flags.writeable = False
    return table


class _Kept:
    """Cache of tables, the least recently used evicted first."""

    def __init__(self) -> None:
        self.limit = 64 << 20
        self.renew()

    def renew(self) -> None:
        """Begins anew, in a forked process: another thread of its parent may have held the lock."""
        self.lock = threading.Lock()
        self.tables: OrderedDict[Hashable, Tuple[numpy.ndarray, ...]] = OrderedDict()
        self.bytes = 0

    def get(self, key: Hashable, make: Callable[[], Tuple[numpy.ndarray, ...]]) -> Tuple[numpy.ndarray, ...]:
        with self.lock:
            if key in self.tables:
                self.tables.move_to_end(key)
                return self.tables[key]
        # Made without the lock: long ones take a while.
        made = make()
        size = _size(made)
        with self.lock:
            if size <= self.limit and key not in self.tables:
                self.tables[key] = made
                self.bytes += size
                self._shrink(self.limit)
        return made

    def set_limit(self, limit: int) -> None:
        with self.lock:
            self.limit = limit
            self._shrink(limit)

    def clear(self) -> None:
        with self.lock:
            self._shrink(0)

    def _shrink(self, limit: int) -> None:
        while self.bytes > limit:
            self.bytes -= _size(self.tables.popitem(last=False)[1])


def _size(arrays: Tuple[numpy.ndarray, ...]) -> int:
    return sum(array.nbytes for array in arrays)


kept = _Kept()


def quarter_steps(n: int) -> Tuple[numpy.ndarray, ...]:
    """cos and sin of `π k / 2n` for `k` from 0 to `n // 2`."""
    return kept.get(("quarter", n), lambda: _make(0, 1, n // 2 + 1, 4 * n))


def odd_sixteenths(n: int) -> Tuple[numpy.ndarray, ...]:
    """cos and sin of `π (8 k + 1) / 8n` for `k < n / 2`, `n` even."""
    return kept.get(("sixteenth", n), lambda: _make(1, 8, n // 2, 16 * n))
