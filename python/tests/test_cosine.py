"""Cosine and sine transforms against their definitions in long double, against scipy, and bit against bit."""

import hashlib
import warnings

import numpy as np
import pytest
from test_bounds_adversary import promised

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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name, kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 8, 9, 15, 16, 30, 61, 100, 255, 256, 499])
def test_every_line_is_within_its_bound(name, kind, n, dtype):
    if kind == 1 and name == "dct" and n < 2:
        pytest.skip("DCT-I needs two points")
    x = numbers(4, n).astype(dtype)
    x[1] *= dtype(1e-30)
    x[2] = (-1.0) ** np.arange(n)
    x[3] = 1
    bound = promised(name, kind, n, dtype)
    exacts = x.astype(np.longdouble) @ definition(name, kind, n).T
    for line, exact in zip(getattr(ozfft, name)(x, kind), exacts):
        assert float(np.linalg.norm(line - exact)) <= (bound + n * 2.0**-62) * float(np.linalg.norm(exact))


BITS = {
    ("dct", 1): "0eee69ec00615bef",
    ("dct", 2): "51e87b2d29c7e0cc",
    ("dct", 3): "5c17e7daf1794005",
    ("dct", 4): "bd3050f1dba49184",
    ("dst", 1): "5c82843a1f83d5af",
    ("dst", 2): "8768604035fe29fe",
    ("dst", 3): "a2814af2dd0ea71d",
    ("dst", 4): "f37f81c77cfe44fd",
}


@pytest.mark.parametrize("name, kind", KINDS)
def test_bits_are_those_of_every_machine(name, kind):
    sums = hashlib.sha256()
    for n in (2, 5, 12, 100, 243, 1024):
        # Whole numbers over a power of two, so that no function of this machine is in the input.
        x = np.array([(37 * k * k + 11 * k) % 1009 - 504 for k in range(3 * n)], np.float64).reshape(3, n) / 128
        sums.update(getattr(ozfft, name)(x, kind).astype("<f8").tobytes())
        sums.update(getattr(ozfft, name)(x.astype(np.float32), kind).astype("<f4").tobytes())
    assert sums.hexdigest()[:16] == BITS[name, kind]


def test_plans_are_cached_within_their_memory_limit():
    try:
        ozfft.clear_plans()
        before = ozfft.plan_memory()
        for _ in range(3):
            ozfft.dct(np.ones(4096))
        after = ozfft.plan_memory()
        # The tables of rotations alone have 32 KiB.
        assert after.plans == before.plans + 1 and after.bytes >= before.bytes + 2 * 8 * 2049
        ozfft.set_plan_memory(0)
        assert ozfft.dct(np.ones(64))[0] == 128 and ozfft.plan_memory().bytes == 0
    finally:
        ozfft.set_plan_memory(256 << 20)


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
def test_the_inverse_returns_the_input(name, kind, norm):
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


@pytest.mark.parametrize("name, kind", KINDS)
def test_long_stacks_are_cut_into_blocks_that_change_nothing(name, kind):
    # 2^17 numbers are transformed at once.
    x = numbers(20000, 9)
    whole = getattr(ozfft, name)(x, kind)
    for part in (slice(0, 7), slice(14560, 14570), slice(19990, 20000)):
        assert getattr(ozfft, name)(x[part], kind).tobytes() == whole[part].tobytes()


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("name, kind", KINDS)
def test_bits_do_not_depend_on_powers_of_two(name, kind, norm):
    """Types 3 and 4 lost digits of subnormal numbers, and types 1 to 3 overflowed though no result did."""
    for shape in ((64,), (9,), (5, 6)):
        x = numbers(*shape)
        call = getattr(ozfft, name + "n")
        expected = call(x, kind, norm=norm)
        for power in (-985, -960, 300, 1000):
            assert (np.ldexp(call(np.ldexp(x, power), kind, norm=norm), -power) == expected).all()


def test_errors_of_subnormal_inputs_stay_within_the_bound():
    """9 times the bound of type 3 at 2^20 points, and 4 times that of type 4 at 65536."""
    print(f"seed {SEED}")
    signs = np.random.default_rng(SEED).choice([-1.0, 1.0], 4096)
    for name, kind in KINDS:
        x = np.ldexp(getattr(ozfft, "i" + name)(signs, kind), -1020)
        # The same numbers, which lost digits, where none is subnormal.
        expected = getattr(ozfft, name)(np.ldexp(x, 1000), kind)
        assert (np.ldexp(getattr(ozfft, name)(x, kind), 1000) == expected).all()


def test_finite_results_of_large_numbers_are_finite():
    """The sums before the division by the norm overflowed."""
    assert ozfft.dct(np.full(5, 2.0**1022), type=1, norm="forward").tolist() == [2.0**1022, 0, 0, 0, 0]
    assert np.isfinite(ozfft.idct(np.full(4, 2.0**1022), type=3)).all()
    assert ozfft.dct(np.full(4, 2.0**1021), norm="ortho")[0] == 2.0**1022
    assert ozfft.dctn(np.full((4, 4), np.float32(2.0**126)), norm="forward")[0, 0] == 2.0**126
    assert (ozfft.dstn(np.full((3, 3), 5e-324)) == np.rint(ozfft.dstn(np.ones((3, 3)))) * 5e-324).all()


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


@pytest.mark.parametrize("name, kind", KINDS)
@pytest.mark.parametrize("n", [8, 9])
def test_nonfinite_numbers_affect_only_their_own_line(name, kind, n):
    x = np.ones((4, n))
    x[1, 2] = np.inf
    x[2, 3] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = getattr(ozfft, name)(x, kind)
    assert np.isnan(result[1:3]).all() and np.isfinite(result[[0, 3]]).all()


def test_accuracy_and_engine_are_kept():
    x = numbers(3, 50)
    exact = x.astype(np.longdouble) @ definition("dct", 2, 50).T
    rough = ozfft.dct(x, accuracy=1e-6)
    error = float(np.linalg.norm(rough - exact) / np.linalg.norm(exact))
    assert 1e-13 < error < 2e-6
    assert np.allclose(ozfft.dct(x, engine="native"), ozfft.dct(x))
