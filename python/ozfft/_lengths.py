"""Lengths that are transformed fast."""

from __future__ import annotations

import functools
import operator

# Steps of up to 64 points are one product with a matrix each; lengths without larger prime factors than these have steps
# of a good size to choose from. Lengths with a prime factor above 64 go through convolutions, at four to six times the work.
_PRIMES = (2, 3, 5, 7, 11)


def _positive(target: int) -> int:
    number = operator.index(target)
    if number < 1:
        raise ValueError(f"Target length must be positive; {number} was given")
    return number


def _is_fast(n: int) -> bool:
    for prime in _PRIMES:
        while n % prime == 0:
            n //= prime
    return n == 1


@functools.lru_cache(maxsize=1024)
def _products(limit: int) -> tuple:
    """The products of the primes but 2, up to `limit`."""
    found = [1]
    for prime in _PRIMES[1:]:
        for n in found:
            if n * prime <= limit:
                found.append(n * prime)
    return tuple(found)


def next_fast_len(target: int, real: bool = False) -> int:
    """The smallest length from `target` on that is transformed fast: one without prime factors above 11.

    Parameters
    ----------
    target : int
        A length of 1 or more.
    real : bool, optional
        Whether the transform is real; the lengths are the same.

    Returns
    -------
    int
        The length to pad to.

    See Also
    --------
    prev_fast_len

    Examples
    --------
    >>> import ozfft
    >>> ozfft.next_fast_len(1009), ozfft.next_fast_len(1024)
    (1024, 1024)
    """
    number = _positive(target)
    if _is_fast(number):
        return number
    best = 1 << (number - 1).bit_length()
    for odd in _products(1 << (number.bit_length())):
        # The smallest power of 2 that makes this product long enough.
        candidate = odd << max(0, (-(-number // odd) - 1).bit_length())
        if number <= candidate < best:
            best = candidate
    return best


def prev_fast_len(target: int, real: bool = False) -> int:
    """The largest length up to `target` that is transformed fast: one without prime factors above 11.

    Parameters
    ----------
    target : int
        A length of 1 or more.
    real : bool, optional
        Whether the transform is real; the lengths are the same.

    Returns
    -------
    int
        The length to crop to.

    See Also
    --------
    next_fast_len

    Examples
    --------
    >>> import ozfft
    >>> ozfft.prev_fast_len(1009)
    1008
    """
    number = _positive(target)
    best = 1
    for odd in _products(1 << (number.bit_length())):
        if odd <= number:
            best = max(best, odd << ((number // odd).bit_length() - 1))
    return best
