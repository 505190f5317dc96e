"""Convolutions against direct sums, and scipy's rules of shapes."""

import math
from fractions import Fraction

import numpy as np
import pytest
from exact import exact_parts, largest_error

import ozfft

SEED = 3
SHAPES = [
    ((50,), (3,), None), ((3,), (50,), None), ((400,), (5,), None), ((64,), (64,), None), ((1,), (1,), None),
    ((40, 30), (3, 4), None), ((300, 20), (3, 20), 0), ((300, 1), (3, 7), 0), ((1, 300), (7, 3), -1),
    ((300, 200), (5, 7), None), ((5, 200), (300, 7), None), ((200, 3, 200), (7, 3, 4), (0, 2)), ((6, 5), (1, 5), 1),
]  # fmt: skip


def numbers(shape, kind=float):
    rng = np.random.default_rng(SEED)
    x = rng.standard_normal(shape)
    return x + 1j * rng.standard_normal(shape) if kind is complex else x


def direct(a, b):
    """One axis, by its definition in long double."""
    result = np.zeros(len(a) + len(b) - 1, np.clongdouble)
    for place, value in enumerate(b):
        result[place : place + len(a)] += a.astype(np.clongdouble) * value
    return result


@pytest.mark.parametrize("name", ["fftconvolve", "oaconvolve"])
@pytest.mark.parametrize("kinds", [(float, float), (complex, float), (complex, complex)])
@pytest.mark.parametrize("lengths", [(1, 1), (5, 3), (100, 100), (1000, 7), (7, 1000), (4096, 33)])
def test_convolutions_match_direct_sums(name, kinds, lengths):
    a, b = (numbers(n, kind) for n, kind in zip(lengths, kinds))
    result = getattr(ozfft, name)(a, b)
    assert result.dtype == (complex if complex in kinds else float)
    scale = float(np.linalg.norm(a) * np.linalg.norm(b))
    assert np.abs(result - direct(a, b)).max() <= 1e-15 * scale


@pytest.mark.parametrize("name", ["fftconvolve", "oaconvolve"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_shapes_and_modes_are_scipys(name, mode, shapes):
    signal = pytest.importorskip("scipy.signal")
    first, second, axes = shapes
    a, b = numbers(first), numbers(second)
    try:
        theirs = getattr(signal, name)(a, b, mode, axes)
    except ValueError:
        with pytest.raises(ValueError):
            getattr(ozfft, name)(a, b, mode, axes)
        return
    ours = getattr(ozfft, name)(a, b, mode, axes)
    assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-14 * np.linalg.norm(a) * np.linalg.norm(b))


def test_single_precision_integers_and_scalars():
    a, b = numbers(40).astype(np.float32), numbers(5).astype(np.float32)
    assert ozfft.fftconvolve(a, b).dtype == np.float32
    whole = ozfft.fftconvolve(np.arange(10), np.arange(5))
    assert whole.dtype == np.float64 and (whole.round() == np.convolve(np.arange(10), np.arange(5))).all()
    assert ozfft.fftconvolve(3, 4) == 12
    assert ozfft.oaconvolve([], [1.0]).size == 0


def test_double_with_single_precision_is_convolved_in_double():
    """The single operand was transformed in single precision, and the result had its error."""
    for a, b in [(numbers(40), numbers(5).astype(np.float32)), (numbers(5).astype(np.complex64), numbers(40)), (np.arange(40), numbers(5).astype(np.float32))]:
        exact = np.convolve(a, b)
        for name in ("fftconvolve", "oaconvolve"):
            found = getattr(ozfft, name)(a, b)
            assert found.dtype == exact.dtype
            np.testing.assert_allclose(found, exact, rtol=0, atol=1e-15 * np.linalg.norm(a) * np.linalg.norm(b))


def test_bits_do_not_depend_on_workers_or_layout():
    a, b = numbers((60, 70)), numbers((5, 6))
    for name in ("fftconvolve", "oaconvolve"):
        expected = getattr(ozfft, name)(a, b).tobytes()
        assert getattr(ozfft, name)(np.asfortranarray(a), b[:, ::-1][:, ::-1], workers=2).tobytes() == expected


def test_products_of_spectra_are_rounded_separately():
    """A fused product has other bits, and whether numpy's is fused depends on the machine."""
    from ozfft._spectra import product as multiplied

    a, b = numbers(1000, complex), numbers(1000, complex)[::-1]
    product = multiplied(a, b)
    for place in range(0, 1000, 37):
        x, y = complex(a[place]), complex(b[place])
        assert product[place].real == x.real * y.real - x.imag * y.imag
        assert product[place].imag == x.real * y.imag + x.imag * y.real


def test_long_arrays_are_convolved_in_pieces():
    from ozfft._convolve import _block_length

    assert _block_length(1 << 20, 33) < 4096
    assert _block_length(64, 64) == 128


BOUNDED = [((1,), (1,)), ((5,), (3,)), ((100,), (100,)), ((1000,), (7,)), ((30, 40), (3, 5)), ((5, 6, 7), (2, 3, 4)), ((1, 9), (8, 1))]


@pytest.mark.parametrize("name", ["fftconvolve", "oaconvolve"])
@pytest.mark.parametrize("kinds", [("f8", "f8"), ("c16", "f8"), ("c16", "c16"), ("f4", "f4"), ("c8", "f4"), ("f4", "f8"), ("i4", "f8"), ("f2", "f4")])
@pytest.mark.parametrize("shapes", BOUNDED, ids=str)
def test_errors_stay_below_the_returned_bound(name, kinds, shapes):
    a, b = (
        (100 * numbers(shape, complex if kind[0] == "c" else float)).astype(kind) for shape, kind in zip(shapes, kinds)
    )
    call = getattr(ozfft, name)
    result, bound = call(a, b, return_bound=True)
    assert type(bound) is float and result.dtype == call(a, b).dtype
    # The bits do not depend on whether somebody wants to know.
    assert result.tobytes() == call(a, b).tobytes()
    error = largest_error(result, exact_parts(a, b))
    assert error <= Fraction(bound) * 2**2148, (SEED, error / 2**2148, bound)
    # And it says something.
    unit = 1e-6 if result.dtype in (np.float32, np.complex64) else 2e-15
    assert bound <= 20 * unit * math.prod(np.linalg.norm(np.ravel(x).astype(complex)) for x in (a, b))
    for mode in ("same", "valid"):
        try:
            part = call(a, b, mode)
        except ValueError:
            continue
        assert call(a, b, mode, return_bound=True)[0].tobytes() == part.tobytes()


ENDS = [5e-324, 1e-320, 2.2250738585072014e-308, 1e-200, 1.0, 1e200, 1.7e308]


@pytest.mark.parametrize("name", ["fftconvolve", "oaconvolve"])
@pytest.mark.parametrize("lengths", [(3, 5), (40, 3)])
def test_the_bound_holds_at_the_ends_of_the_range(name, lengths):
    finite = 0
    for first in ENDS:
        for second in ENDS:
            a, b = np.full(lengths[0], first), second * np.cos(np.arange(lengths[1]))
            a[1] = -5e-324
            with np.errstate(over="ignore", invalid="ignore"):
                result, bound = getattr(ozfft, name)(a, b, return_bound=True)
            if np.isfinite(bound):
                finite += 1
                assert largest_error(result, exact_parts(a, b)) <= Fraction(bound) * 2**2148, (first, second)
    assert finite > 35
    with np.errstate(over="ignore"):
        assert getattr(ozfft, name)(np.full(3, 1e300), np.full(3, 1e300), return_bound=True)[1] == np.inf


def test_bounds_of_broadcast_arrays_products_and_zeros():
    a, b = numbers((30, 20)), numbers((1, 6))
    result, bound = ozfft.fftconvolve(a, b, axes=1, return_bound=True)
    for row in range(30):
        assert largest_error(result[row], exact_parts(a[row], b[0])) <= Fraction(bound) * 2**2148
    for x, y in [(0.1, 0.3), (np.array([[0.1, 3.0]]), np.array([[7.7]])), (np.array([0.1 + 2j]), np.array([3 - 0.7j]))]:
        result, bound = ozfft.fftconvolve(x, y, return_bound=True)
        assert largest_error(result, exact_parts(np.atleast_1d(x), np.atleast_1d(y))) <= Fraction(bound) * 2**2148
        assert bound < 1e-13
    result, bound = ozfft.fftconvolve(3, 4, return_bound=True)
    assert result == 12 and 0 <= bound < 1e-14
    assert ozfft.fftconvolve(np.zeros(5), numbers(9), return_bound=True)[1] == 0
    assert ozfft.fftconvolve([], [1.0], return_bound=True)[1] == 0
    assert ozfft.fftconvolve([np.nan, 1], [1.0, 2], return_bound=True)[1] == np.inf
    assert ozfft.fftconvolve([np.inf, 1], [0.0, 0], return_bound=True)[1] == np.inf


NOWHERE_CONVOLVED = [((), ()), ((1,), (1,)), ((4,), (1,)), ((4, 1), (1, 3)), ((1, 1, 2), (1, 1, 1))]


@pytest.mark.parametrize("name", ["fftconvolve", "oaconvolve"])
@pytest.mark.parametrize("shapes", NOWHERE_CONVOLVED, ids=str)
def test_bounds_where_no_axis_is_convolved_were_negative_or_too_small(name, shapes):
    """The modulus of the smallest integers is negative, and numpy.multiply rounds integers beyond 2^53."""
    call = getattr(ozfft, name)
    smallest = [np.iinfo(kind).min for kind in ("i1", "i2", "i4")]
    operands = [np.full(shapes[0], value, kind) for value, kind in zip(smallest, ("i1", "i2", "i4"))]
    others = [np.full(shapes[1], value, kind) for value, kind in [(0.1, "f8"), (3, "f2"), (-128, "i1"), (0.1 - 0.7j, "c16"), (1 / 3, "f4"), (0, "f8"), (True, "?")]]
    for a in [*operands, np.full(shapes[0], 0.3 + 0.1j, "c8"), np.full(shapes[0], 1e-310), np.full(shapes[0], 3e-45, "f4")]:
        for b in others:
            result, bound = call(a, b, return_bound=True)
            assert result.tobytes() == call(a, b).tobytes()
            error = largest_error(result, exact_parts(a, b))
            assert 0 <= error <= Fraction(bound) * 2**2148, (a, b, bound)
            assert bound <= 1e-6 * float(np.abs(np.ravel(result)).max()) + 1.2e-44
    for large in (np.full(shapes[0], 2**53 + 1), np.full(shapes[0], -(2**63)), np.full(shapes[0], 2**70 + 1, object)):
        with pytest.raises(ozfft.UnsupportedError, match="beyond 2\\^53.*convolve_exact"):
            call(large, np.full(shapes[1], 0.1), return_bound=True)


def test_integers_are_multiplied_in_double_precision_where_no_axis_is_convolved():
    """They wrapped around: 2^30 times 4 was 0 in int32."""
    for shapes in NOWHERE_CONVOLVED:
        a, b = np.full(shapes[0], 2**30, np.int32), np.full(shapes[1], 4, np.int32)
        for result in (ozfft.fftconvolve(a, b), ozfft.oaconvolve(a, b)):
            assert result.dtype == np.float64 and (result == 2.0**32).all()
    assert ozfft.fftconvolve(np.float16(3), np.int8(-128)).dtype == np.float64
    assert ozfft.fftconvolve(np.float16(300), np.float16(300)) == np.float32(90000)
    with pytest.raises(ozfft.DtypeError):
        ozfft.fftconvolve(np.ones(1, np.longdouble), np.ones(1))


def test_bounds_of_products_whose_moduli_overflow_are_finite():
    a, b = np.array([1.7e308 + 1.7e308j]), np.array([0.5 + 0.1j])
    result, bound = ozfft.fftconvolve(a, b, return_bound=True)
    assert largest_error(result, exact_parts(a, b)) <= Fraction(bound) * 2**2148 < Fraction(1e293) * 2**2148


def test_bounds_that_are_not_proven_are_refused_with_the_remedy():
    with pytest.raises(ozfft.UnsupportedError, match="convolve_exact"):
        ozfft.fftconvolve([2**53 + 1, 1], [1, 2], return_bound=True)
    with pytest.raises(ozfft.UnsupportedError, match="convolve_exact"):
        ozfft.fftconvolve(2**62, 4, return_bound=True)
    with pytest.raises(ozfft.UnsupportedError, match="engine='digits'"):
        ozfft.fftconvolve(numbers(40), numbers(30), engine="native", return_bound=True)
