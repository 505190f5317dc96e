"""Convolutions against direct sums, and scipy's rules of shapes."""

import numpy as np
import pytest

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
    from ozfft._convolve import _product

    a, b = numbers(1000, complex), numbers(1000, complex)[::-1]
    product = _product(a, b)
    for place in range(0, 1000, 37):
        x, y = complex(a[place]), complex(b[place])
        assert product[place].real == x.real * y.real - x.imag * y.imag
        assert product[place].imag == x.real * y.imag + x.imag * y.real


def test_long_arrays_are_convolved_in_pieces():
    from ozfft._convolve import _block_length

    assert _block_length(1 << 20, 33) < 4096
    assert _block_length(64, 64) == 128
