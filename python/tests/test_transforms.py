"""Transforms against direct sums in long double, which share nothing with the library."""

import numpy as np
import pytest

import ozfft

SEED = 20261116
KINDS = {
    "fft": (-1, False, False),
    "ifft": (1, False, False),
    "rfft": (-1, True, False),
    "ihfft": (1, True, False),
    "irfft": (1, False, True),
    "hfft": (-1, False, True),
}


def generator():
    print(f"seed {SEED}")
    return np.random.default_rng(SEED)


def complex_numbers(rng, shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def direct(x, sign, axis):
    """The sums that define the transform of one axis, in long double."""
    n = x.shape[axis]
    steps = np.outer(np.arange(n), np.arange(n)) % n
    turn = 8 * np.arctan(np.longdouble(1)) * steps.astype(np.longdouble) / n
    matrix = np.cos(turn) + sign * 1j * np.sin(turn)
    return np.moveaxis(np.tensordot(matrix, np.asarray(x, np.clongdouble), axes=(1, axis)), 0, axis)


def whole_spectrum(half, n):
    """The n numbers of which the given ones are the first half, the others conjugates. Along the last axis."""
    whole = np.zeros((*half.shape[:-1], n), np.clongdouble)
    whole[..., : n // 2 + 1] = half[..., : n // 2 + 1]
    whole[..., 0] = whole[..., 0].real
    if n % 2 == 0:
        whole[..., n // 2] = whole[..., n // 2].real
    for k in range(1, (n + 1) // 2):
        whole[..., n - k] = np.conj(whole[..., k])
    return whole


def expected_of(name, x, n):
    sign, real_in, real_out = KINDS[name]
    if real_out:
        return direct(whole_spectrum(x, n), sign, -1).real
    y = direct(x, sign, -1)
    return y[..., : n // 2 + 1] if real_in else y


def relative_error(result, exact):
    return float(np.linalg.norm(result - exact) / np.linalg.norm(exact))


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 8, 17, 30, 64, 101, 120])
def test_one_axis_is_within_its_proven_bound_of_the_definition(name, n):
    sign, real_in, real_out = KINDS[name]
    rng = generator()
    x = rng.standard_normal((3, n)) if real_in else complex_numbers(rng, (3, n // 2 + 1 if real_out else n))
    result = getattr(ozfft, name)(x, n, norm="forward" if sign == 1 else "backward")
    plan = ozfft.plan(
        (3, n),
        axes=1,
        kind="r2c" if real_in else "c2r" if real_out else "c2c",
        direction="forward" if sign == -1 else "inverse",
        norm="unscaled",
    )
    assert plan.bound_is_proven
    # Each line has the bound; long double leaves n 2^-63 in the sums that it is compared with.
    for line, exact in zip(result, expected_of(name, x, n)):
        assert relative_error(line, exact) <= plan.bound + n * 2.0**-62
    assert plan(x).tobytes() == result.tobytes()


@pytest.mark.parametrize("norm, factor", [(None, 1), ("backward", 1), ("ortho", 24**-0.5), ("forward", 1 / 24)])
def test_norms_scale_as_numpy_says(norm, factor):
    x = complex_numbers(generator(), 24)
    exact = direct(x, -1, 0)
    assert relative_error(ozfft.fft(x, norm=norm), exact * np.longdouble(factor)) < 4e-16
    assert relative_error(ozfft.ifft(ozfft.fft(x, norm=norm), norm=norm), x) < 8e-16


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn", "fft2", "rfft2", "hfft2"])
def test_several_axes_are_the_composition_of_single_axes(name):
    """Bit for bit, which is the library's own promise between one axis and the next."""
    rng = generator()
    base = name[:-1]
    sign, real_in, real_out = KINDS[base]
    x = rng.standard_normal((6, 5, 8)) if real_in else complex_numbers(rng, (6, 5, 8))
    whole = ozfft.fft if sign == -1 else ozfft.ifft
    if real_out:
        steps = getattr(ozfft, base)(whole(x, axis=1), axis=2)
    else:
        steps = whole(getattr(ozfft, base)(x, axis=2), axis=1)
    together = getattr(ozfft, name)(x, axes=(1, 2))
    assert together.shape == steps.shape
    assert together.tobytes() == steps.tobytes()


def test_lengths_crop_and_pad():
    x = complex_numbers(generator(), (4, 9))
    padded = np.concatenate([x, np.zeros((4, 7))], axis=1)
    assert ozfft.fft(x, 16).tobytes() == ozfft.fft(padded).tobytes()
    assert ozfft.fft(x, 5).tobytes() == ozfft.fft(np.ascontiguousarray(x[:, :5])).tobytes()
    both = ozfft.fftn(x, s=(6, 5))
    assert both.tobytes() == ozfft.fftn(np.concatenate([x[:, :5], np.zeros((2, 5))])).tobytes()
    assert ozfft.irfft(x, 7).shape == (4, 7)
    assert ozfft.fftn(x, s=(-1, 5), axes=(0, 1)).shape == (4, 5)


@pytest.mark.parametrize(
    "given, computed",
    [
        ("c16", "c16"), ("c8", "c8"), ("f8", "c16"), ("f4", "c8"), ("f2", "c8"), ("i4", "c16"), ("u1", "c16"),
        ("?", "c16"), (">c16", "c16"), (">f4", "c8"),
    ],  # fmt: skip
)
def test_types_are_those_of_scipy(given, computed):
    scipy_fft = pytest.importorskip("scipy.fft")
    x = np.arange(12).reshape(3, 4).astype(given)
    result = ozfft.fft(x)
    assert result.dtype == np.dtype(computed) == scipy_fft.fft(x).dtype
    np.testing.assert_allclose(result, scipy_fft.fft(x.astype(x.dtype.newbyteorder("="))), rtol=1e-6)


def test_long_double_is_rejected_and_left_to_other_libraries():
    x = np.arange(4, dtype=np.longdouble)
    if x.dtype.itemsize == 8:
        pytest.skip("long double is double here")
    with pytest.raises(ozfft.DtypeError, match="more digits"):
        ozfft.fft(x)
    assert ozfft.numpy_fft.fft(x).dtype == np.clongdouble
    scipy_fft = pytest.importorskip("scipy.fft")
    with scipy_fft.set_backend(ozfft):
        assert scipy_fft.fft(x).dtype == np.clongdouble
        assert scipy_fft.fft([x, x]).dtype == np.clongdouble


@pytest.mark.parametrize("accuracy", ["double", "single", 1e-3, 1e-10, "1e-12", "bits:40"])
def test_accuracy_is_kept(accuracy):
    x = complex_numbers(generator(), (5, 96))
    plan = ozfft.plan(x.shape, axes=1, accuracy=accuracy)
    exact = direct(x, -1, 1)
    assert relative_error(plan(x), exact) <= plan.bound + 96 * 2.0**-62
    if isinstance(accuracy, float):
        assert plan.bound <= accuracy


def test_empty_arrays_come_back_empty_and_empty_lines_are_rejected():
    assert ozfft.fft(np.zeros((0, 5))).shape == (0, 5)
    assert ozfft.rfftn(np.zeros((0, 4, 6)), axes=(1, 2)).shape == (0, 4, 4)
    assert ozfft.irfft(np.zeros((3, 0, 5)), axis=2).shape == (3, 0, 8)
    for call in (lambda: ozfft.fft([]), lambda: ozfft.fft([1.0], 0), lambda: ozfft.irfft([1.0]), lambda: ozfft.fftn([[]])):
        with pytest.raises(ValueError, match="invalid number of data points"):
            call()
    assert ozfft.fft([], 4).tolist() == [0, 0, 0, 0]


def test_nonfinite_numbers_affect_only_their_own_line():
    x = np.ones((3, 8))
    x[1, 2] = np.nan
    result = ozfft.fft(x)
    assert np.isnan(result[1]).all()
    assert result[[0, 2]].tolist() == ozfft.fft(np.ones((2, 8))).tolist()


FIRST_ANSWERS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")


def test_calls_that_are_made_again_have_the_results_of_the_first():
    """What a call means is kept after the first; the first is one with out=, which never is."""
    rng = generator()
    for name in FIRST_ANSWERS:
        function = getattr(ozfft, name)
        for precision in "f4", "f8":
            for shape in (12,), (5, 6), (2, 1, 9):
                if name.endswith("2") and len(shape) < 2:
                    continue
                given = rng.standard_normal(shape).astype(precision)
                if name not in ("rfft", "ihfft", "rfft2", "rfftn"):
                    given = given + given.dtype.type(2) * 1j * given[::-1]
                for arguments in {}, {"norm": "ortho"}, {"workers": 2}, {"accuracy": "single"}:
                    first = function(given, **arguments)
                    out = np.empty_like(first)
                    function(given, out=out, **arguments)
                    for laid in (
                        given,
                        given.copy(),
                        np.asfortranarray(given),
                        np.repeat(given, 2, axis=-1)[..., ::2],
                        given[::-1].copy()[::-1],
                        given.astype(given.dtype.newbyteorder()),
                    ):
                        again = function(laid, **arguments)
                        assert again.dtype == out.dtype and again.tobytes() == out.tobytes(), (name, precision, shape, arguments)
                        assert not np.shares_memory(again, laid)


def test_arguments_that_are_equal_to_others_are_not_taken_for_them():
    x = np.ones((3, 4), complex)
    for _ in range(3):
        ozfft.fft(x, axis=1)
        ozfft.fftn(x, axes=(1,))
    with pytest.raises(TypeError):
        ozfft.fft(x, axis=1.0)
    with pytest.raises((TypeError, ValueError)):
        ozfft.fftn(x, axes=(1.0,))
    with pytest.raises(ValueError, match="norm"):
        ozfft.fft(x, norm=["ortho"])


def test_plans_of_calls_that_are_made_again_are_forgotten_with_the_others():
    x = np.ones(48, complex)
    first = ozfft.fft(x)
    ozfft.fft(x)
    ozfft.clear_plans()
    assert ozfft.plan_memory()[0] == 0
    assert ozfft.fft(x).tobytes() == first.tobytes()
    assert ozfft.plan_memory()[0] == 1
