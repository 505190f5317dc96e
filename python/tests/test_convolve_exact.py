"""Exact convolutions against sums of Python's integers, and scipy's rules of shapes."""

import itertools
import random

import numpy as np
import pytest

import ozfft

SEED = 20261117
SHAPES = [
    ((50,), (3,), None), ((3,), (50,), None), ((400,), (5,), None), ((64,), (64,), None), ((1,), (1,), None),
    ((9, 8), (3, 4), None), ((30, 4), (3, 4), 0), ((30, 1), (3, 7), 0), ((1, 30), (7, 3), -1), ((6, 2, 7), (3, 2, 4), (0, 2)), ((6, 5), (1, 5), 1),
]  # fmt: skip


def direct(a, b):
    """All axes, by the definition, in Python's integers."""
    result = np.zeros([m + n - 1 for m, n in zip(a.shape, b.shape)], object)
    for place in itertools.product(*map(range, b.shape)):
        window = tuple(slice(k, k + n) for k, n in zip(place, a.shape))
        result[window] += a.astype(object) * int(b[place])
    return result


@pytest.mark.parametrize("first", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
@pytest.mark.parametrize("second", ["int8", "uint16"])
@pytest.mark.parametrize("lengths", [(1, 1), (5, 3), (100, 100), (7, 400), (300, 213)])
def test_all_types_at_their_extremes(first, second, lengths):
    rng = np.random.default_rng(SEED)
    draw = [
        lambda limits, n: rng.integers(limits.min, limits.max, n, endpoint=True),
        lambda limits, n: [limits.min] * n,
        lambda limits, n: [limits.max] * n,
    ]
    for choose in draw:
        a, b = (np.array(choose(np.iinfo(kind), n), kind) for kind, n in zip((first, second), lengths))
        result = ozfft.convolve_exact(a, b)
        assert result.dtype == (np.uint64 if a.dtype.kind == b.dtype.kind == "u" else np.int64)
        assert (result == direct(a, b)).all(), (SEED, first, second, lengths)


@pytest.mark.parametrize("bits", [1, 31, 64, 65, 200, 3000])
@pytest.mark.parametrize("lengths", [(1, 1), (2, 5), (40, 33), (200, 3)])
def test_python_integers_of_any_size(bits, lengths):
    rng = random.Random(SEED)
    draw = [lambda: rng.randint(-(2**bits), 2**bits), lambda: 2**bits - 1, lambda: -(2**bits), lambda: rng.choice([-1, 1]) * 2**bits]
    for choose in draw:
        a, b = (np.array([choose() for _ in range(n)] + [None], object)[:-1] for n in lengths)
        result = ozfft.convolve_exact(a, b)
        assert result.dtype == object and all(type(value) is int for value in result)
        assert result.tolist() == direct(a, b).tolist(), (SEED, bits, lengths)


def test_products_of_long_integers_are_pythons():
    rng = random.Random(SEED)
    for bits in (1, 64, 4000, 100_000):
        a, b = rng.getrandbits(bits), rng.getrandbits(2 * bits)
        assert ozfft.convolve_exact([a, 0], [-b])[0] == -a * b


@pytest.mark.parametrize("call", ["convolve", "correlate"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_shapes_and_modes_are_scipys(call, mode, shapes):
    signal = pytest.importorskip("scipy.signal")
    rng = np.random.default_rng(SEED)
    first, second, axes = shapes
    a, b = rng.integers(-9, 9, first), rng.integers(-9, 9, second)
    other = b if call == "convolve" else np.flip(b, axes if axes is None or isinstance(axes, tuple) else (axes,))
    ours = getattr(ozfft, call + "_exact")
    try:
        theirs = signal.fftconvolve(a.astype(float), other.astype(float), mode, axes)
    except ValueError:
        with pytest.raises(ValueError):
            ours(a, b, mode, axes)
        return
    for kind in (np.int64, object):
        result = ours(a.astype(kind), b, mode, axes)
        assert result.shape == theirs.shape and result.dtype == kind
        assert (result == theirs.round().astype(int)).all()
    if call == "correlate" and axes is None:
        assert (ours(a, b, mode) == signal.correlate(a, b, mode, "direct")).all()


def test_where_rounding_silently_fails():
    """What fftconvolve and rint return is wrong without a word; here it is right."""
    signal = pytest.importorskip("scipy.signal")
    rng = np.random.default_rng(SEED)
    a, b = (rng.integers(0, 2**24, 20_000) for _ in range(2))
    exact = ozfft.convolve_exact(a, b)
    rounded = np.rint(signal.fftconvolve(a.astype(float), b.astype(float))).astype(np.int64)
    assert (rounded != exact).sum() > 1000
    # One of the sums, by Python.
    k = 19_999
    assert int(exact[k]) == sum(int(x) * int(y) for x, y in zip(a, b[::-1]))


def test_results_that_might_not_fit_are_rejected_with_the_remedy():
    large = np.full(4, 2**62)
    with pytest.raises(ozfft.IntegerRangeError, match="dtype=object"):
        ozfft.convolve_exact(large, large)
    with pytest.raises(OverflowError):
        ozfft.convolve_exact([100], [100], dtype=np.int8)
    assert ozfft.convolve_exact(large, large, dtype=object)[3] == 4 * 2**124
    with pytest.raises(ozfft.IntegerRangeError, match="negative"):
        ozfft.convolve_exact([1], [-1], dtype=np.uint64)
    assert ozfft.convolve_exact([1, 2], [3], dtype=np.int16).dtype == np.int16


def test_what_is_not_exact_is_rejected_with_the_remedy():
    for bad in ([1.0], [1j], ["a"], [None], np.array([1.5, 2], object)):
        with pytest.raises(ozfft.DtypeError, match="integers"):
            ozfft.convolve_exact(bad, [1])
        with pytest.raises(TypeError):
            ozfft.correlate_exact([1], bad)
    with pytest.raises(ozfft.DtypeError, match="float64"):
        ozfft.convolve_exact([1], [1], dtype=float)
    with pytest.raises(ValueError, match="dimension"):
        ozfft.convolve_exact([1], [[1]])
    with pytest.raises(ValueError, match="'some'"):
        ozfft.convolve_exact([1], [1], "some")
    with pytest.raises(ozfft.DtypeError, match="float32"):
        ozfft.convolve_exact(np.ones(3, np.float32), [1])
    assert ozfft.convolve_exact([], [1]).size == 0
    # Of such a list numpy makes floating point.
    assert ozfft.convolve_exact([2**63, -1], [3])[0] == 3 * 2**63
    assert ozfft.convolve_exact([True, True], [1]).tolist() == [1, 1]
    assert ozfft.convolve_exact(3, 4) == 12


@pytest.mark.parametrize("shapes", [((50,), (20,)), ((5, 6), (3, 4)), ((4,), (4,))])
def test_all_routes_have_the_same_results(shapes):
    generator = np.random.default_rng(7)
    a, b = (generator.integers(-1000, 1000, shape) for shape in shapes)
    expected = ozfft.convolve_exact(a.astype(object), b.astype(object))
    for route in ["direct", "ntt", "digits", "pairs"]:
        result = ozfft.convolve_exact(a, b, route=route)
        assert result.dtype == np.int64 and (result == expected).all(), route
    assert (ozfft.correlate_exact(a, b, route="digits") == ozfft.correlate_exact(a, b)).all()


def test_a_route_that_is_not_proven_is_an_error_that_says_why():
    large = [2**30] * 4
    with pytest.raises(ozfft.UnsupportedError, match="digits is not proven"):
        ozfft.convolve_exact(large, large, dtype=np.int64, route="digits")
    assert ozfft.convolve_exact([2**28] * 4, [2**28] * 4, route="ntt")[3] == 4 * 2**56
    with pytest.raises(ValueError, match="routes are"):
        ozfft.convolve_exact([1], [1], route="fast")
    with pytest.raises(ozfft.UnsupportedError, match="Python's"):
        ozfft.convolve_exact([10**30], [1], route="ntt")


@pytest.mark.parametrize("route", [None, "direct", "ntt", "digits"])
def test_broadcast_arrays_are_convolved_at_once_or_each_with_its_own_proof(route):
    rng = np.random.default_rng(SEED)
    a, b, one = (rng.integers(-100, 100, shape) for shape in [(3, 4, 20), (3, 1, 7), (1, 1, 7)])
    for x, y in [(a, b), (b, a), (a, one), (one, a)]:
        result = ozfft.convolve_exact(x, y, axes=-1, route=route)
        for i, j in np.ndindex(3, 4):
            rows = (z[i % z.shape[0], j % z.shape[1]] for z in (x, y))
            assert (result[i, j] == direct(*rows)).all(), (SEED, route)
    # All of them together might have results of 2^80; each of them has not.
    large, small = np.array([[2**60, 0], [1, 2]]), np.array([[1, 3], [2**59, 5]])
    result = ozfft.convolve_exact(large, small, axes=1)
    assert result.tolist() == [[2**60, 3 * 2**60, 0], [2**59, 2**60 + 5, 10]]
    with pytest.raises(ozfft.IntegerRangeError, match="dtype=object"):
        ozfft.convolve_exact(large, large, axes=1)


def test_devices_are_found_or_refused_with_the_remedy():
    a, b = np.arange(-50, 350), np.arange(300)
    expected = ozfft.convolve_exact(a, b)
    for call in (ozfft.convolve_exact, ozfft.correlate_exact):
        for kind in (np.int64, object):
            assert (call(a.astype(kind), b, device="cpu") == call(a.astype(kind), b)).all()
            # No machine has so many GPUs, and most have none.
            with pytest.raises(ozfft.DeviceError):
                call(a.astype(kind), b, device="cuda:99")
            with pytest.raises(ozfft.UnsupportedError, match="cuda:1"):
                call(a.astype(kind), b, device="abacus")
    assert (ozfft.convolve_exact(a, b, device="auto") == expected).all()
    with ozfft.options(device="cuda:99"), pytest.raises(ozfft.DeviceError):
        ozfft.convolve_exact(a, b)
