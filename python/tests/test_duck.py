"""Arrays that stand for more than their numbers keep it, or are rejected; they never lose it silently."""

import numpy as np
import pytest

import ozfft
from ozfft import _ozfft

NUMPYS = "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn".split()
X = np.arange(48.0).reshape(6, 8)


class Metres:
    """A unit of our own, as NEP 18 describes: it unwraps, calls, and wraps."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __array__(self, *_, **__):
        raise AssertionError("the unit was lost")

    def __array_function__(self, function, types, args, kwargs):
        if function not in [getattr(np.fft, name) for name in NUMPYS]:
            return NotImplemented
        assert function.__module__ == "numpy.fft" and Metres in types
        plain = [each.numbers if isinstance(each, Metres) else each for each in args]
        named = {name: each.numbers if isinstance(each, Metres) else each for name, each in kwargs.items()}
        return Metres(function(*plain, **named))


class Seconds(np.ndarray):
    """The same as a subclass of numpy's arrays, which leaves the rest to numpy."""

    def __array_function__(self, function, types, args, kwargs):
        plain = tuple(each.view(np.ndarray) if isinstance(each, Seconds) else each for each in args)
        return super().__array_function__(function, types, plain, kwargs).view(Seconds)


class Stubborn:
    def __array_function__(self, function, types, args, kwargs):
        return NotImplemented


@pytest.mark.parametrize("name", NUMPYS)
@pytest.mark.parametrize("module", [ozfft, ozfft.numpy_fft], ids=["ozfft", "numpy_fft"])
def test_array_function_is_called_and_computed_here(module, name):
    """``ozfft.numpy_fft`` once made plain arrays of everything."""
    function = getattr(module, name)
    expected = function(X, norm="ortho")
    before = _ozfft.executions()
    result = function(Metres(X), norm="ortho")
    assert isinstance(result, Metres) and result.numbers.tobytes() == expected.tobytes()
    kept = function(X.view(Seconds), norm="ortho")
    assert type(kept) is Seconds and kept.tobytes() == expected.tobytes()
    assert _ozfft.executions() == before + 2


def test_options_are_kept_through_array_function():
    result = ozfft.fft(Metres(X), 5, axis=0, accuracy="single", workers=2)
    assert result.numbers.tobytes() == ozfft.fft(X, 5, axis=0, accuracy="single").tobytes()


def test_out_is_asked_through_array_function():
    out = Metres(np.empty((6, 8), complex))
    for module in (ozfft, ozfft.numpy_fft):
        result = module.fft(X, out=out)
        assert isinstance(result, Metres) and out.numbers.tobytes() == ozfft.fft(X).tobytes()


def test_arrays_that_decline_are_an_error():
    with pytest.raises(TypeError, match="no implementation found for 'numpy.fft.fft'.*Stubborn"):
        ozfft.numpy_fft.fft(Stubborn())


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ozfft.dct(x),
        lambda x: ozfft.idstn(x),
        lambda x: ozfft.hfft2(x),
        lambda x: ozfft.fftconvolve(x, X),
        lambda x: ozfft.oaconvolve(X, x),
        lambda x: ozfft.plan(X.shape)(x),
    ],
)
@pytest.mark.parametrize("wrap", [Metres, lambda x: x.view(Seconds)], ids=["Metres", "Seconds"])
def test_functions_that_numpy_lacks_are_rejected(call, wrap):
    with pytest.raises(ozfft.UnsupportedError, match="pass plain numbers"):
        call(wrap(X))


def test_astropys_quantities_keep_their_units():
    units = pytest.importorskip("astropy.units")
    quantity = X * units.m
    for name in NUMPYS:
        for module in (ozfft, ozfft.numpy_fft):
            before = _ozfft.executions()
            result = getattr(module, name)(quantity)
            assert result.unit == units.m
            assert _ozfft.executions() == before + 1
            assert result.value.tobytes() == getattr(module, name)(X).tobytes()
    assert ozfft.numpy_fft.fft(quantity, 4, norm="forward").unit == units.m


def test_dask_arrays_stay_lazy():
    array = pytest.importorskip("dask.array")
    lazy = array.from_array(X, chunks=(2, 8))
    for module in (ozfft, ozfft.numpy_fft):
        for name, arguments in (("fft", {}), ("rfft", {"n": 6, "norm": "ortho"}), ("irfft", {"axis": 1}), ("hfft", {})):
            result = getattr(module, name)(lazy, **arguments)
            assert isinstance(result, array.Array)
            before = _ozfft.executions()
            computed = result.compute(scheduler="sync")
            assert _ozfft.executions() >= before + 3
            assert computed.tobytes() == getattr(module, name)(X, **arguments).tobytes()
    whole = array.from_array(X, chunks=X.shape)
    assert ozfft.numpy_fft.fft2(whole).compute().tobytes() == ozfft.fft2(X).tobytes()
    with pytest.raises(ValueError, match="rechunk"):
        ozfft.fft(lazy, axis=0)


def test_dask_blocks_are_computed_with_the_options_of_the_call():
    """Blocks run in threads of dask, which know nothing of this context."""
    array = pytest.importorskip("dask.array")
    lazy = array.from_array(X, chunks=(2, 8))
    with ozfft.options(accuracy="single"):
        results = [ozfft.fft(lazy), ozfft.numpy_fft.fft(lazy)]
    for result in results:
        assert result.compute().tobytes() == ozfft.fft(X, accuracy="single").tobytes()
    pickle = pytest.importorskip("cloudpickle")
    assert pickle.loads(pickle.dumps(results[0])).compute().tobytes() == ozfft.fft(X, accuracy="single").tobytes()


def test_through_scipy_arrays_are_converted_as_scipy_does():
    scipy_fft = pytest.importorskip("scipy.fft")
    units = pytest.importorskip("astropy.units")
    without = type(scipy_fft.fft(X * units.m))
    with scipy_fft.set_backend(ozfft):
        assert type(scipy_fft.fft(X * units.m)) is without is np.ndarray
