"""Errors, options, and the two interfaces for programs that do not use ozfft directly."""

import subprocess
import sys

import numpy as np
import pytest

import ozfft
from ozfft import _ozfft

X = np.arange(24.0).reshape(4, 6)


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: ozfft.fft(X, engine="abacus"), ozfft.UnsupportedError, "abacus"),
        (lambda: ozfft.fft(X, accuracy="perfect"), ozfft.UnsupportedError, "bits:40"),
        (lambda: ozfft.fft(X, accuracy=1e-30), ozfft.AccuracyError, "1e-30"),
        (lambda: ozfft.fft(X, accuracy="bits:99"), ozfft.AccuracyError, "53"),
        (lambda: ozfft.fft(X, device="abacus"), ozfft.UnsupportedError, "cuda"),
        (lambda: ozfft.fft(X, norm="loud"), ValueError, "Invalid norm value 'loud'"),
        (lambda: ozfft.plan(8, norm="none"), ValueError, '"forward" or "unscaled"'),
        (lambda: ozfft.fft(X, workers=0), ValueError, "workers must not be zero"),
        (lambda: ozfft.fft(X, workers=-10000), ValueError, "out of range"),
        (lambda: ozfft.fft(X, plan=ozfft.plan(4)), NotImplementedError, "precomputed plan"),
        (lambda: ozfft.fft(X, axis=2), IndexError, None),
        (lambda: ozfft.fftn(X, axes=(0, 0)), ValueError, "unique"),
        (lambda: ozfft.fftn(X, axes=(0, 5)), ValueError, "dimensionality"),
        (lambda: ozfft.fftn(X, s=(1, 2, 3)), ValueError, "more axes"),
        (lambda: ozfft.fftn(X, s=(2.5, 2)), ValueError, "integers"),
        (lambda: ozfft.rfft(X + 0j), TypeError, "real sequence"),
        (lambda: ozfft.rfftn(X, axes=()), ValueError, "at least 1 axis"),
        (lambda: ozfft.fft(["one", "two"]), ValueError, None),
        (lambda: ozfft.plan((4, 0)), ozfft.ShapeError, "1 or more"),
        (lambda: ozfft.plan((4, 4), axes=(0, 0)), ozfft.ShapeError, "twice"),
        (lambda: ozfft.plan((4, 4), axes=3), ozfft.ShapeError, "2 dimensions"),
        (lambda: ozfft.plan((4,), kind="r2r"), ozfft.UnsupportedError, "r2r"),
        (lambda: ozfft.plan((4,))(X), ozfft.ShapeError, "shape"),
        (lambda: ozfft.plan((4, 6))(X.astype("f4")), ozfft.UnsupportedError, "precision"),
        (lambda: ozfft.plan("eight"), ozfft.ShapeError, "eight"),
        (lambda: ozfft.plan(2**64), ozfft.ShapeError, "18446744073709551616.*shorter"),
        (lambda: ozfft.plan(8, device=""), ozfft.UnsupportedError, 'device ""; give cpu'),
        (lambda: ozfft.fft(X, device=""), ozfft.UnsupportedError, 'device ""; give cpu'),
        (lambda: ozfft.fftn(X, axes=(), out=np.empty((2, 2))), ozfft.LayoutError, "wrong shape"),
        (lambda: ozfft.numpy_fft.fft(X, norm="loud"), ValueError, "Invalid norm value"),
        (lambda: ozfft.numpy_fft.fft(X, axis=2), IndexError, None),
        (lambda: ozfft.numpy_fft.fftn(X, s=(2,), axes=(0, 1)), ValueError, "different lengths"),
        (lambda: ozfft.numpy_fft.rfft(X + 0j), TypeError, "real"),
        (lambda: ozfft.numpy_fft.fft(X, n=2.7), TypeError, "'float' object cannot be interpreted as an integer"),
        (lambda: ozfft.numpy_fft.fftn(X, s=(2.7, 2), axes=(0, 1)), TypeError, "interpreted as an integer"),
        (lambda: ozfft.fft(X, n=2.7), TypeError, "interpreted as an integer"),
        (lambda: ozfft.dct(X, type=5), ValueError, "transform type 5; give 1, 2, 3 or 4"),
        (lambda: ozfft.dct(X[:1], type=1, axis=0), ValueError, "not defined for size < 2"),
        (lambda: ozfft.dct(X, n=0), ValueError, "invalid number of data points"),
        (lambda: ozfft.dst(X, norm="loud"), ValueError, "Invalid norm value 'loud'"),
        (lambda: ozfft.dctn(X, axes=(0, 0)), ValueError, "unique"),
        (lambda: ozfft.dct(X.astype(np.clongdouble)), ozfft.DtypeError, "convert it to float64 or complex128"),
        (lambda: ozfft.fftconvolve(X, X[0]), ValueError, "2 and 1 dimensions"),
        (lambda: ozfft.fftconvolve(X, X, "some"), ValueError, "'valid', 'same', or 'full'; 'some'"),
        (lambda: ozfft.fftconvolve(X, X.T, "valid"), ValueError, "at least as large"),
        (lambda: ozfft.oaconvolve(X, X.T, axes=0), ValueError, "incompatible shapes"),
        (lambda: ozfft.next_fast_len(0), ValueError, "positive"),
        (lambda: ozfft.next_fast_len(2.5), TypeError, "integer"),
        (lambda: ozfft.set_plan_memory(-1), ValueError, "0 or more"),
    ],
)
def test_errors_have_their_type_and_say_what_was_given(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_a_transform_along_no_axis_is_written_to_out():
    """It returned the input, and left out as it was."""
    for out in (np.full(X.shape, 7.0), np.full(X.shape, 7j)):
        assert ozfft.fftn(X, axes=(), out=out) is out
        assert (out == X).all()
    assert ozfft.fftn(X, axes=()) is X


@pytest.mark.parametrize("window", [2, 4])
def test_overwriting_arrays_that_overlap_themselves_is_declined(window):
    """overwrite_x is a permission: windows over one line have no room for their spectra."""
    line = np.arange(12) + 1j
    windows = np.lib.stride_tricks.sliding_window_view(line, window, writeable=True)
    expected = ozfft.fft(windows.copy())
    assert ozfft.fft(windows, overwrite_x=True).tobytes() == expected.tobytes()
    assert (line == np.arange(12) + 1j).all()
    # Strided arrays that do not are overwritten.
    for x in (np.ones((4, 6), complex), np.ones((6, 4), complex).T, np.ones((8, 12), complex)[::2, ::-2]):
        assert np.shares_memory(ozfft.fft(x, overwrite_x=True), x)


def test_every_error_is_a_value_error():
    errors = [value for value in vars(ozfft).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert len(errors) == 9
    assert all(issubclass(error, ValueError) and issubclass(error, ozfft.OzfftError) for error in errors)


def test_options_hold_within_their_block_and_in_their_thread():
    assert ozfft.get_workers() == 1
    with ozfft.options(engine="native", accuracy=1e-9), ozfft.set_workers(2):
        assert ozfft.get_workers() == 2
        assert ozfft.plan(64).engine == "native"
        assert ozfft.plan(64, engine="digits").engine == "digits"
    assert ozfft.plan(64).engine == "digits"
    assert ozfft.get_workers() == 1


def test_a_plan_says_what_runs():
    plan = ozfft.plan((16, 30), kind="r2c", dtype=np.float32, accuracy="single")
    assert (plan.input_shape, plan.output_shape) == ((16, 30), (16, 16))
    assert (plan.input_dtype, plan.output_dtype) == (np.float32, np.complex64)
    assert plan.device == "cpu" and plan.engine == "digits" and plan.bound_is_proven
    assert 0 < plan.expected <= plan.bound < 1e-5
    assert "why:" in plan.describe() and "digits" in repr(plan)


def test_a_printed_bound_is_not_below_the_bound():
    """``repr`` and ``python -m ozfft`` rounded bounds to the nearest text."""
    for points in (8, 64, 100, 1009, 1024, 4096):
        plan = ozfft.plan(points)
        printed = float(repr(plan).rpartition("bound ")[2].rstrip(">"))
        assert plan.bound <= printed <= 1.1 * plan.bound


def test_scipy_calls_ozfft():
    scipy_fft = pytest.importorskip("scipy.fft")
    before = _ozfft.executions()
    with scipy_fft.set_backend(ozfft):
        for name in ("fft", "ifft2", "rfftn", "ihfft", "hfftn"):
            assert getattr(scipy_fft, name)(X).tobytes() == getattr(ozfft, name)(X).tobytes()
        assert _ozfft.executions() == before + 10
        assert scipy_fft.dct(X).tobytes() == ozfft.dct(X).tobytes()
        assert scipy_fft.idstn(X, 4, norm="ortho").tobytes() == ozfft.idstn(X, 4, norm="ortho").tobytes()
        assert scipy_fft.fft(X.tolist(), workers=2).tobytes() == ozfft.fft(X).tobytes()
        with ozfft.options(accuracy="single"):
            assert scipy_fft.fft(X).tobytes() == ozfft.fft(X, accuracy="single").tobytes()
    signal = pytest.importorskip("scipy.signal")
    with scipy_fft.set_backend(ozfft, only=True):
        before = _ozfft.executions()
        signal.fftconvolve(X, X)
        assert _ozfft.executions() > before


def test_the_numpy_interface_follows_numpys_rules():
    x = X + 1j
    twice = ozfft.numpy_fft.fftn(x, axes=(0, 0))
    assert twice.tobytes() == ozfft.fft(ozfft.fft(x, axis=0), axis=0).tobytes()
    with pytest.warns(DeprecationWarning, match="`axes` should not be `None`"):
        assert ozfft.numpy_fft.fftn(x, s=(2, 3)).shape == (2, 3)
    assert ozfft.numpy_fft.fft(a=x, out=None).tobytes() == ozfft.fft(x).tobytes()


def test_threads_of_a_pool_do_not_inherit_the_backend_and_those_of_a_global_one_do():
    """scipy's rule, which docs/python.md warns of: this fails when scipy changes it."""
    pytest.importorskip("scipy.fft")
    program = """
import concurrent.futures, numpy, scipy.fft, ozfft
from ozfft import _ozfft

x = numpy.arange(8.0)
with concurrent.futures.ThreadPoolExecutor(1) as pool:
    with scipy.fft.set_backend(ozfft):
        pool.submit(scipy.fft.fft, x).result()
        assert _ozfft.executions() == 0
    scipy.fft.set_global_backend(ozfft)
    pool.submit(scipy.fft.fft, x).result()
    assert _ozfft.executions() == 1
"""
    subprocess.run([sys.executable, "-c", program], check=True)
