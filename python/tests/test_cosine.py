"""Cosine and sine transforms against their definitions in long double, against scipy, and bit against bit."""

import numpy as np
import pytest

import ozfft

SEED = 20261116
KINDS = [(name, kind) for name in ("dct", "dst") for kind in (1, 2, 3, 4)]
UNIT = 2.0**-53


def numbers(*shape):
    print(f"seed {SEED}")
    return np.random.default_rng(SEED).standard_normal(shape)


def definition(name, kind, n):
    """The matrix of the transform as scipy's documentation has it, in long double."""
    pi = 4 * np.arctan(np.longdouble(1))
    k, j = np.arange(n)[:, None].astype(np.longdouble), np.arange(n)[None, :].astype(np.longdouble)
    if name == "dct":
        turn = {1: k * j / max(n - 1, 1), 2: k * (2 * j + 1) / (2 * n), 3: (2 * k + 1) * j / (2 * n)}
        turn[4] = (2 * k + 1) * (2 * j + 1) / (4 * n)
        matrix = 2 * np.cos(pi * turn[kind])
        # Terms at the ends of the symmetric array occur once.
        for place in {1: (0, -1), 3: (0,)}.get(kind, ()):
            matrix[:, place] /= 2
    else:
        turn = {1: (k + 1) * (j + 1) / (n + 1), 2: (k + 1) * (2 * j + 1) / (2 * n)}
        turn[3] = (2 * k + 1) * (j + 1) / (2 * n)
        turn[4] = (2 * k + 1) * (2 * j + 1) / (4 * n)
        matrix = 2 * np.sin(pi * turn[kind])
        if kind == 3:
            matrix[:, -1] /= 2
    return matrix


def longer(name, kind, n):
    return {1: 2 * (n - 1) if name == "dct" else 2 * (n + 1), 2: 4 * n, 3: 4 * n, 4: 8 * n}[kind]


@pytest.mark.parametrize("name, kind", KINDS)
@pytest.mark.parametrize("n", [2, 3, 4, 7, 16, 30, 61, 100])
def test_one_axis_is_within_twice_the_bound_of_the_longer_transform(name, kind, n):
    x = numbers(3, n)
    matrix = definition(name, kind, n)
    result = getattr(ozfft, name)(x, kind)
    plan = ozfft.plan(longer(name, kind, n), kind="r2c")
    assert plan.bound_is_proven
    for line, exact in zip(result, x.astype(np.longdouble) @ matrix.T):
        error = float(np.linalg.norm(line - exact) / np.linalg.norm(exact))
        assert error <= 2 * plan.bound + n * 2.0**-62


@pytest.mark.parametrize("name, kind", KINDS)
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("orthogonalize", [None, False, True])
def test_norms_and_orthogonality_are_scipys(name, kind, norm, orthogonalize):
    scipy_fft = pytest.importorskip("scipy.fft")
    for shape in ((5,), (3, 8), (4, 6, 3)):
        x = numbers(*shape)
        for prefix in ("", "i"):
            arguments = dict(type=kind, norm=norm, orthogonalize=orthogonalize)
            for axis in range(x.ndim):
                ours = getattr(ozfft, prefix + name)(x, axis=axis, **arguments)
                theirs = getattr(scipy_fft, prefix + name)(x, axis=axis, **arguments)
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-14 * abs(theirs).max())
            ours = getattr(ozfft, prefix + name + "n")(x, s=(4,), axes=(-1,), **arguments)
            theirs = getattr(scipy_fft, prefix + name + "n")(x, s=(4,), axes=(-1,), **arguments)
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-14 * abs(theirs).max())
        ours, theirs = getattr(ozfft, name + "n")(x, **arguments), getattr(scipy_fft, name + "n")(x, **arguments)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-14 * abs(theirs).max())


@pytest.mark.parametrize("name, kind", KINDS)
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_the_way_back_comes_back(name, kind, norm):
    x = numbers(6, 10)
    for suffix in ("", "n"):
        there = getattr(ozfft, name + suffix)(x, kind, norm=norm)
        back = getattr(ozfft, "i" + name + suffix)(there, kind, norm=norm)
        assert np.linalg.norm(back - x) <= 16 * UNIT * np.linalg.norm(x)


@pytest.mark.parametrize("name, kind", KINDS)
def test_an_orthogonal_transform_keeps_lengths(name, kind):
    x = numbers(32)
    there = getattr(ozfft, name)(x, kind, norm="ortho")
    assert abs(np.linalg.norm(there) - np.linalg.norm(x)) <= 16 * UNIT * np.linalg.norm(x)


@pytest.mark.parametrize("name, kind", KINDS)
def test_bits_depend_on_numbers_alone(name, kind):
    x = numbers(5, 6, 12)
    function = getattr(ozfft, name)
    for axis in range(3):
        expected = function(x, kind, axis=axis, norm="ortho").tobytes()
        assert function(np.asfortranarray(x), kind, axis=axis, norm="ortho", workers=2).tobytes() == expected
        assert function(x.astype(">f8"), kind, axis=axis, norm="ortho").tobytes() == expected
        one = np.take(x, [2], axis=(axis + 1) % 3)
        alone = function(one, kind, axis=axis, norm="ortho")
        assert alone.tobytes() == np.take(function(x, kind, axis=axis, norm="ortho"), [2], axis=(axis + 1) % 3).tobytes()
    several = getattr(ozfft, name + "n")(x, kind, axes=(0, 2))
    assert several.tobytes() == function(function(x, kind, axis=0), kind, axis=2).tobytes()


def test_long_stacks_are_cut_into_blocks_that_change_nothing(monkeypatch):
    from ozfft import _cosine

    x = numbers(50, 9)
    expected = ozfft.dct(x, 4).tobytes()
    monkeypatch.setattr(_cosine, "_BLOCK", 3 * 72 + 1)
    assert ozfft.dct(x, 4).tobytes() == expected


def test_types_and_layouts_come_back_as_they_are():
    x = numbers(4, 8)
    assert ozfft.dct(x.astype(np.float32)).dtype == np.float32
    assert ozfft.dct(x.astype(np.float16)).dtype == np.float32
    assert ozfft.dct(np.arange(8)).dtype == np.float64
    assert ozfft.dctn(np.asfortranarray(x)).flags.f_contiguous
    both = ozfft.dst(x + 1j * x[::-1], norm="ortho", orthogonalize=False)
    assert both.dtype == np.complex128
    assert both.real.tobytes() == ozfft.dst(x, norm="ortho", orthogonalize=False).tobytes()
    assert both.imag.tobytes() == ozfft.dst(x[::-1].copy(), norm="ortho", orthogonalize=False).tobytes()
    single = ozfft.dct(x.astype(np.float32))
    np.testing.assert_allclose(single, ozfft.dct(x), rtol=0, atol=2e-6 * abs(single).max())


def test_inputs_are_never_written_and_empty_stacks_come_back_empty():
    x = numbers(4, 8)
    kept = x.copy()
    x.flags.writeable = False
    for name, kind in KINDS:
        getattr(ozfft, name)(x, kind, norm="ortho", overwrite_x=True)
        assert (x == kept).all()
        assert getattr(ozfft, name)(np.zeros((0, 5)), kind).shape == (0, 5)
    assert ozfft.dctn(x, axes=()) is x


def test_not_finite_numbers_spoil_their_own_line_only():
    x = np.ones((3, 8))
    x[1, 2] = np.inf
    result = ozfft.dct(x, 3)
    assert np.isnan(result[1]).all() and np.isfinite(result[[0, 2]]).all()


def test_accuracy_and_engine_are_kept():
    x = numbers(3, 50)
    exact = x.astype(np.longdouble) @ definition("dct", 2, 50).T
    rough = ozfft.dct(x, accuracy=1e-6)
    error = float(np.linalg.norm(rough - exact) / np.linalg.norm(exact))
    assert 1e-13 < error < 2e-6
    assert np.allclose(ozfft.dct(x, engine="native"), ozfft.dct(x))
