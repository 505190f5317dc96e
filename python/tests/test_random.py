"""Random calls against numpy's own transforms in long double: arguments, shapes, views and types together."""

import numpy as np
import numpy.fft._pocketfft as numpys
import pytest

import ozfft

CASES = 400
ONE = {"fft": "c2c", "ifft": "c2c", "rfft": "r2c", "irfft": "c2r", "hfft": "c2r", "ihfft": "r2c"}
MANY = {"fftn": "c2c", "ifftn": "c2c", "rfftn": "r2c", "irfftn": "c2r", "fft2": "c2c", "rfft2": "r2c", "irfft2": "c2r"}
INVERSE = ("ifft", "irfft", "ihfft", "ifftn", "irfftn", "irfft2")


def view(rng, x):
    """The same numbers somewhere else: another order of axes, another direction, gaps."""
    order = rng.permutation(x.ndim)
    steps = [int(rng.choice([1, 1, 2, -1, -3])) for _ in range(x.ndim)]
    room = np.zeros([abs(step) * n for step, n in zip(np.take(steps, order), np.take(x.shape, order))], x.dtype)
    there = room.transpose(np.argsort(order))[tuple(slice(None, None, step) for step in steps)]
    there[...] = x
    return there


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long double is double here: there is no referee")
@pytest.mark.parametrize("seed", range(4))
def test_random_calls(seed):
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    for case in range(CASES // 4):
        name = str(rng.choice([*ONE, *MANY]))
        kind = {**ONE, **MANY}[name]
        rank = int(rng.integers(2 if name in MANY else 1, 4))
        shape = [int(n) for n in rng.choice([1, 2, 3, 4, 5, 8, 12, 17], rank)]
        norm = [None, "backward", "ortho", "forward"][rng.integers(4)]
        axes = [int(axis) for axis in rng.permutation(rank)[: rng.integers(1, rank + 1)]]
        if name in ONE or name.endswith("2"):
            axes = axes[:1] if name in ONE else [int(axis) for axis in rng.permutation(rank)[:2]]
        lengths = [int(n) for n in rng.choice([1, 2, 3, 6, 7, 10, 16, 31], len(axes))]
        single = bool(rng.integers(4) == 0)
        x = rng.standard_normal(shape)
        if kind != "r2c":
            x = x + 1j * rng.standard_normal(shape)
        if kind == "c2r" and name in MANY:
            # Half of the spectrum of a real array: with anything else several axes lose more than the bound speaks of.
            for axis, n in zip(axes, lengths):
                shape[axis] = n
            x = numpys.rfftn(rng.standard_normal(shape), axes=axes)
        x = x.astype({"r2c": np.float32}.get(kind, np.complex64)) if single else x
        negative = [axis - rank if rng.integers(2) else axis for axis in axes]
        arguments = {"n": lengths[0], "axis": negative[0]} if name in ONE else {"s": lengths, "axes": negative}
        what = f"seed {seed}, case {case}: {name} {x.dtype}{x.shape} {arguments} {norm}"

        exact = getattr(numpys, name)(x.astype(np.longdouble if kind == "r2c" else np.clongdouble), norm=norm, **arguments)
        result = getattr(ozfft.numpy_fft, name)(view(rng, x), norm=norm, **arguments)
        assert result.shape == exact.shape, what
        assert result.dtype.itemsize * 2 * (2 if single else 1) == exact.dtype.itemsize, what
        real_shape = list(x.shape)
        for axis, n in zip(axes, lengths):
            real_shape[axis] = n
        plan = ozfft.plan(
            real_shape,
            kind=kind,
            axes=axes,
            direction="inverse" if name in INVERSE else "forward",
            norm=norm,
            dtype=result.dtype,
        )
        size = float(np.linalg.norm(exact))
        error = float(np.linalg.norm(result - exact))
        # Long double's own error: 2^-63 for every step of a transform, of which there are at most six to an axis.
        assert error <= (plan.bound + 20 * len(axes) * 2.0**-63) * size, f"{what}: {error} of {size}"
        assert getattr(ozfft.numpy_fft, name)(x, norm=norm, **arguments).tobytes() == result.tobytes(), what
