"""Every function with a documented or returned bound, and inputs that are aimed at it: subnormal, near overflow, of mixed sizes, the
smallest integers, one element, no dimension. Results are compared with exact integers (exact.py).

`ADVERSARIES` has all of these functions; a function or a row of the table in docs/python.md that is not in it fails the test.
"""

import inspect
import pathlib
import re
from fractions import Fraction

import numpy as np
import pytest
from exact import BITS, along, exact_parts, excess, fourier_along, in_smallest, largest_error, root, trigonometric

import ozfft
import ozfft.mpi

SEED = 20261119
UNIT = {"f4": 2.0**-24, "f8": 2.0**-53}


def generator(*more):
    print(f"seed {SEED}")
    return np.random.default_rng([SEED, *more])


def aimed(rng, shape, dtype):
    """Arrays of real numbers by name, of which the largest is never beyond the range."""
    limits = np.finfo(dtype)
    step, tiny, largest = (float(x) for x in (limits.smallest_subnormal, limits.tiny, limits.max))
    signs = rng.choice([-1.0, 1.0], shape)
    numbers = rng.uniform(-1, 1, shape)
    # Exponents of all sizes; numpy's ldexp rounds what is smaller than the smallest number.
    low, high = int(np.log2(step)), int(limits.maxexp) - 1
    arrays = {
        "zeros": np.zeros(shape),
        "smallest": np.full(shape, step),
        "smallest, signs": signs * step,
        "subnormal": np.rint(numbers * 1000) * step,
        "around the smallest normal number": signs * tiny * (1 + numbers / 2),
        "small": numbers * tiny * 2.0**20,
        "largest": np.full(shape, largest),
        "largest, signs": signs * largest,
        "near overflow": np.full(shape, 2.0 ** (high - 1)),
        "near overflow, signs": signs * 2.0 ** (high - 3),
        "mixed": np.ldexp(numbers, rng.integers(low, high, shape)),
        "mixed, subnormal": np.ldexp(numbers, rng.integers(low, low + 80, shape)),
        "ordinary": numbers,
    }
    one = np.full(shape, step)
    one[tuple(0 for _ in shape)] = largest / 4
    arrays["one large number"] = one
    with np.errstate(all="ignore"):
        return {name: array.astype(dtype) for name, array in arrays.items()}


def complex_of(rng, shape, dtype):
    return {
        name: (x + 1j * y).astype(np.result_type(dtype, np.complex64))
        for (name, x), y in zip(aimed(rng, shape, dtype).items(), aimed(rng, shape, dtype).values())
    }


def attack_convolutions(name):
    """All types, aimed; where an axis is convolved, where none is, and broadcast ones."""
    rng = generator(len(name))
    shapes = [((), ()), ((1,), (1,)), ((4, 1), (1, 3)), ((3,), (1,)), ((5,), (3,)), ((40,), (3,)), ((2, 3), (3, 2)), ((1, 6), (4, 6))]
    call, refused, finite = getattr(ozfft, name), 0, 0
    for case in range(600):
        operands = []
        for shape in shapes[case % len(shapes)]:
            dtype = np.dtype(str(rng.choice(["?", "i1", "i2", "i4", "i8", "u1", "u8", "f2", "f4", "f8", "c8", "c16", "O"])))
            if dtype.kind in "iu":
                ends = np.iinfo(dtype)
                choices = [ends.min, ends.max, ends.min // 2, 0, 1, min(2**53, ends.max), min(2**53 + 1, ends.max)]
                x = np.array(rng.choice(np.array(choices, object), shape)).astype(dtype)
            elif dtype.kind in "bO":
                x = np.array(rng.choice(np.array([False, True] if dtype.kind == "b" else [0, 2**53, -(2**70), 3], object), shape)).astype(dtype)
            else:
                made = aimed if dtype.kind == "f" else complex_of
                real = np.dtype(f"f{dtype.itemsize}" if dtype.kind == "f" else f"f{dtype.itemsize // 2}")
                arrays = made(rng, shape, np.dtype("f4") if real == np.float16 else real)
                with np.errstate(over="ignore"):
                    x = np.array(arrays[str(rng.choice(sorted(arrays)))]).astype(dtype)
            operands.append(x)
        what = f"{name}, seed {SEED}, case {case}: {operands}"
        with np.errstate(all="ignore"):
            try:
                result, bound = call(*operands, return_bound=True)
            except ozfft.UnsupportedError:
                refused += 1
                continue
        assert type(bound) is float and bound >= 0, what
        if not np.isfinite(bound):
            continue
        finite += 1
        # What was not refused is a double exactly.
        floats = [x if x.dtype.kind in "fc" else x.astype(float) for x in operands]
        error = largest_error(result, exact_parts(*floats))
        assert error <= Fraction(bound) * 2**2148, (what, error / 2**2148, bound)
    assert finite > 300 and refused > 10, (finite, refused)


# The rows of the table in docs/python.md: the kind of the inner transform; the factor of its bound; roundings of doubles; and of singles.
COSINES = {
    "1": ("r2c of 2(n-1) (DCT) or 2(n+1) (DST)", "√2 β", 2**0.5, 0, 0),
    "2": ("r2c of n", "√2 β + 4 u", 2**0.5, 4, 1),
    "3": ("c2r of n", "β + 4 u", 1, 4, 1),
    "4, n even": ("c2c of n/2", "β + 7 u", 1, 7, 2),
    "4, n odd": ("r2c of n", "√2 β + 3 u", 2**0.5, 3, 1),
}


def promised(name, kind, n, dtype, norm="backward", orthogonal=False):
    """The bound that docs/python.md has, of a line of a cosine or sine transform."""
    row = str(kind) if kind < 4 else "4, n even" if n % 2 == 0 else "4, n odd"
    inner, _, factor, doubles, singles = COSINES[row]
    points = {1: 2 * (n - 1) if name == "dct" else 2 * (n + 1), 4: n // 2 if n % 2 == 0 else n}.get(kind, n)
    plan = ozfft.plan(points, kind=inner[:3], dtype=dtype)
    assert plan.bound_is_proven
    unit = UNIT[np.dtype(dtype).str[1:]]
    bound = factor * plan.bound + doubles * UNIT["f8"] + (singles * unit if unit == UNIT["f4"] else 0)
    if orthogonal:
        bound = 2**0.5 * bound + 8 * unit
    return bound + (2 * unit if norm != "backward" else 0)


def condition(name, kind, orthogonal):
    """How much longer the matrix makes one vector than another."""
    return 1 if orthogonal else {1: 2 if name == "dct" else 1, 4: 1}.get(kind, 2**0.5)


CHOICES = [(None, None), ("ortho", None), ("forward", None), ("backward", True), ("ortho", False), ("forward", True)]


def attack_cosines(function):
    """All types, norms and precisions; of every line, and of every array of several axes."""
    name, inverse, several = re.search("d[cs]t", function)[0], function[0] == "i", function[-1] == "n"
    shapes = [(2, 3), (4, 5), (3, 1, 6)] if several else [(1,), (2,), (3,), (8,), (9,), (32,), (45,)]
    rng, case = generator(*function.encode()), 0
    for dtype in (np.float64, np.float32):
        for kind in (1, 2, 3, 4):
            for shape in shapes:
                if (name, kind) == ("dct", 1) and min(shape) < 2:
                    continue
                for what, x in aimed(rng, shape, dtype).items():
                    norm, orthogonalize = CHOICES[case % len(CHOICES)]
                    case += 1
                    result = getattr(ozfft, function)(x, kind, norm=norm, orthogonalize=orthogonalize)
                    assert result.dtype == dtype
                    expect_cosines(
                        f"{function} {kind} {shape} {np.dtype(dtype)} {norm} {orthogonalize}, {what}, seed {SEED}",
                        result, x, name, {2: 3, 3: 2}.get(kind, kind) if inverse else kind, inverse, norm or "backward", orthogonalize,
                    )  # fmt: skip


def expect_cosines(what, result, x, name, kind, inverse, norm, orthogonalize):
    orthogonal = norm == "ortho" if orthogonalize is None else orthogonalize
    if inverse:
        norm = {"backward": "forward", "forward": "backward"}.get(norm, norm)
    exact, points, bound = in_smallest(x), 1, 0.0
    for axis, n in enumerate(x.shape):
        exact = along(trigonometric(name, kind, n, orthogonal), exact, axis)
        points *= 2 * (n - 1 if name == "dct" else n + 1) if kind == 1 else 2 * n
        own = promised(name, kind, n, x.dtype, orthogonal=orthogonal)
        bound = own * (1 + bound) + condition(name, kind, orthogonal) * bound
    scale = {"backward": 1 << BITS, "ortho": root(Fraction(1, points)), "forward": (1 << BITS) // points}[norm]
    bound += 2 * UNIT[x.dtype.str[1:]] if norm != "backward" else 0
    excess(result, exact * scale, 1074 + BITS * (1 + x.ndim), bound, what)


def attack_plans(_):
    """Plans of all kinds, by the digits of the default and fewer."""
    rng, case = generator(1), 0
    for kind, shapes in [("c2c", [(1,), (2,), (7,), (12,), (31,), (3, 4)]), ("r2c", [(1,), (2,), (9,), (16,), (2, 5)]), ("c2r", [(1,), (2,), (9,), (16,)])]:
        for shape in shapes:
            for real in ("f8", "f4"):
                accuracy = ["double", "single", 1e-5][case % 3]
                norm = ["backward", "ortho", "forward", "unscaled"][case % 4]
                case += 1
                plan = ozfft.plan(shape, kind=kind, dtype=real, norm=norm, accuracy=accuracy)
                assert plan.bound_is_proven
                arrays = (aimed if kind == "r2c" else complex_of)(rng, plan.input_shape, np.dtype(real))
                for name, x in arrays.items():
                    if kind == "c2r":
                        # Imaginary parts that no real array has are taken as 0.
                        x.imag[[0, -1] if shape[0] % 2 == 0 else [0]] = 0
                    expect_spectrum(f"{kind} {shape} {real} {norm} {accuracy}, {name}, seed {SEED}", plan, plan(x), x, kind, shape, norm)


def expect_spectrum(what, plan, result, x, kind, shape, norm):
    parts, axes = (in_smallest(x.real), in_smallest(x.imag)), range(len(shape))
    if kind == "c2r":
        mirror = slice((shape[0] - 1) // 2, 0, -1)
        parts = np.append(parts[0], parts[0][mirror]), np.append(parts[1], -parts[1][mirror])
    exact = fourier_along(parts, axes, 1 if kind == "c2r" else -1)
    points = int(np.prod(shape))
    inverse = {"backward": "forward", "forward": "backward"}.get(norm, norm) if kind == "c2r" else norm
    scale = {"ortho": root(Fraction(1, points)), "forward": (1 << BITS) // points}.get(inverse, 1 << BITS)
    exact = tuple(part * scale for part in exact)
    if kind == "c2r":
        exact = exact[0]
    elif kind == "r2c":
        # The bound is of the half-spectrum as it is stored.
        exact = tuple(part[..., : shape[-1] // 2 + 1] for part in exact)
    excess(result, exact, 1074 + BITS * (1 + len(shape)), plan.bound, what)


# Who attacks what; or the test that holds it to something that is attacked here.
ADVERSARIES = {
    "fftconvolve": attack_convolutions,
    "oaconvolve": attack_convolutions,
    "dct": attack_cosines,
    "idct": attack_cosines,
    "dst": attack_cosines,
    "idst": attack_cosines,
    "dctn": attack_cosines,
    "idctn": attack_cosines,
    "dstn": attack_cosines,
    "idstn": attack_cosines,
    "Plan": attack_plans,
    "mpi.DistributedPlan": "test_mpi.py",
}


@pytest.mark.parametrize("name", [name for name, attack in ADVERSARIES.items() if callable(attack)])
def test_no_aimed_input_exceeds_a_bound(name):
    ADVERSARIES[name](name)


def test_every_function_with_a_bound_has_an_adversary():
    public = {name: getattr(ozfft, name) for name in ozfft.__all__}
    public.update({f"mpi.{name}": thing for name, thing in vars(ozfft.mpi).items() if inspect.isclass(thing) and thing.__module__ == "ozfft.mpi"})
    found = set()
    for name, thing in public.items():
        if inspect.isclass(thing) and hasattr(thing, "bound"):
            found.add(name)
        if inspect.isfunction(thing) and "return_bound" in inspect.signature(thing).parameters:
            found.add(name)
    page = (pathlib.Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    table = page[page.index("| type | inner transform | bound |") :].split("\n\n")[0]
    rows = re.findall(r"^\| ([1-4][^|]*?) \| ([^|]*?) \| ([^|]*?) \|", table, re.MULTILINE)
    assert {row: (inner, bound) for row, inner, bound in rows} == {row: values[:2] for row, values in COSINES.items()}
    found.update(name for name in public if re.fullmatch("i?d[cs]tn?", name))
    assert found == set(ADVERSARIES)
    tests = {path.name for path in pathlib.Path(__file__).parent.glob("test_*.py")}
    assert {attack for attack in ADVERSARIES.values() if isinstance(attack, str)} <= tests
