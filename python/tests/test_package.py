"""The package as a program imports, saves and asks about it."""

import copy
import importlib
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest

import ozfft


def test_the_module_fft_can_be_imported_and_the_function_stays():
    import ozfft.fft as fft
    from ozfft.fft import dct, rfft
    from ozfft.fft import fft as function

    module = importlib.import_module("ozfft.fft")
    assert inspect.ismodule(module) and module.rfft is rfft is fft.rfft is ozfft.rfft
    assert fft.dct is dct and fft.next_fast_len(7) == 7
    assert fft is function is ozfft.fft is module.fft
    assert fft([1.0, 2.0]).tolist() == [3, -1]
    for name in module.__all__:
        assert getattr(fft, name) is getattr(module, name) is getattr(ozfft, name)
    assert fft.__name__ == "fft" and pickle.loads(pickle.dumps(fft)) is fft


def test_the_module_has_what_scipys_has():
    scipy_fft = pytest.importorskip("scipy.fft")
    import ozfft.fft as fft

    backends = {"set_backend", "skip_backend", "set_global_backend", "register_backend"}
    assert set(scipy_fft.__all__) - backends <= set(fft.__all__)
    for name in set(scipy_fft.__all__) & set(fft.__all__):
        theirs, ours = (inspect.signature(getattr(each, name)).parameters for each in (scipy_fft, fft))
        if name not in ("fftfreq", "rfftfreq", "fftshift", "ifftshift", "next_fast_len", "prev_fast_len"):
            shared = [parameter for parameter in ours if parameter in theirs]
            assert shared == list(theirs), name


def test_a_fresh_program_finds_the_module_first():
    for statement in (
        "import ozfft.fft as fft; fft.ifft([1.0]); fft([1.0])",
        "from ozfft.fft import fft, irfft; fft([1.0])",
        "from ozfft import fft; fft([1.0]); fft.fftfreq(4)",
        "import ozfft.fft; ozfft.fft([1.0]); ozfft.fft.rfft([1.0]); import scipy.fft; scipy.fft.set_backend(ozfft.fft)",
    ):
        subprocess.run([sys.executable, "-c", statement], check=True)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_plans_can_be_pickled(protocol):
    plan = ozfft.plan((6, 10), kind="r2c", axes=(-1, 0), norm="ortho", dtype=np.float32, accuracy=1e-5, workers=2)
    x = np.arange(60, dtype=np.float32).reshape(6, 10)
    for other in (pickle.loads(pickle.dumps(plan, protocol)), copy.copy(plan), copy.deepcopy(plan)):
        assert other == plan and hash(other) == hash(plan)
        assert other.describe() == plan.describe()
        assert other(x).tobytes() == plan(x).tobytes()
    assert plan != ozfft.plan((6, 10), kind="r2c") and plan != "plan"


def test_a_pickled_plan_does_not_follow_the_context_that_loads_it():
    saved = pickle.dumps(ozfft.plan(64))
    with ozfft.options(accuracy="single", engine="native"):
        assert pickle.loads(saved).engine == "digits"


def test_fast_lengths_are_the_nearest_with_small_factors():
    def is_fast(n):
        for prime in (2, 3, 5, 7, 11):
            while n % prime == 0:
                n //= prime
        return n == 1

    fast = [n for n in range(1, 3000) if is_fast(n)]
    for target in range(1, 2900):
        assert ozfft.next_fast_len(target) == next(n for n in fast if n >= target)
        assert ozfft.prev_fast_len(target) == max(n for n in fast if n <= target)
    assert ozfft.next_fast_len(2**40 + 1) >= 2**40 + 1
    assert ozfft.next_fast_len(np.int64(13), real=True) == 14


def test_hankel_transforms_are_scipys_on_ozffts_transforms():
    scipy_fft = pytest.importorskip("scipy.fft")
    from ozfft import _ozfft

    r = np.logspace(-4, 4, 64)
    a = r * np.exp(-r * r / 2)
    dln = np.log(r[1] / r[0])
    before = _ozfft.executions()
    for name in ("fht", "ifht"):
        for bias in (0.0, 0.1):
            offset = ozfft.fhtoffset(dln, 0.5, bias=bias)
            ours = getattr(ozfft, name)(a, dln, 0.5, offset=offset, bias=bias)
            theirs = getattr(scipy_fft, name)(a, dln, 0.5, offset=offset, bias=bias)
            np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-13 * abs(theirs).max())
    assert _ozfft.executions() == before + 8


def test_hankel_transforms_say_what_they_need(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.fft", None)
    with pytest.raises(ozfft.UnsupportedError, match="pip install"):
        ozfft.fht([1.0, 2.0], 0.1, 0.0)


def test_every_function_says_its_parameters_and_has_an_example():
    import ozfft.fft as fft

    others = {"fftfreq", "rfftfreq", "fftshift", "ifftshift", "set_workers", "get_workers"}
    functions = [getattr(fft, name) for name in set(fft.__all__) - others]
    functions += [getattr(ozfft.numpy_fft, name) for name in set(ozfft.numpy_fft.__all__) - others]
    for function in functions:
        name, text = function.__name__, inspect.getdoc(function)
        assert "Parameters\n----------\n" in text and "Returns\n-------\n" in text, name
        assert "{" not in text.replace('{"', "").replace("{1, 2", ""), f"{name}: a word is missing in its documentation"
        for parameter in inspect.signature(function).parameters:
            assert parameter in text, (name, parameter)


def test_the_package_reports_on_the_machine():
    done = subprocess.run([sys.executable, "-m", "ozfft"], capture_output=True, text=True, check=True)
    found = dict(line.split(None, 1) for line in done.stdout.splitlines())
    assert found["ozfft"].startswith(ozfft.__version__)
    assert found["numpy"] == np.__version__
    assert "scalar" in found["units"] and ozfft.plan(1024).substrate in found["units"]
    assert {"machine", "processor", "gpu", "compiler", "scipy", "torch", "cupy"} <= set(found)


def report(folder, **variables):
    """What a fresh interpreter with this folder of packages says of CUDA's compiler."""
    import os

    environment = {name: value for name, value in os.environ.items() if name != "OZFFT_NVRTC"}
    paths = [str(folder), environment.get("PYTHONPATH", "")]
    environment |= {"PYTHONPATH": os.pathsep.join(paths), **variables}
    done = subprocess.run([sys.executable, "-m", "ozfft"], capture_output=True, text=True, check=True, env=environment)
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("compiler "))
    return line.split(None, 1)[1]


@pytest.mark.parametrize("place", ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib", "torch/lib"])
def test_cudas_compiler_is_looked_for_among_the_packages_of_this_interpreter(tmp_path, place):
    """Only environments that had been activated were looked at: in a container's Python no kernel was compiled."""
    library = tmp_path / "packages" / place / "libnvrtc.so.13"
    library.parent.mkdir(parents=True)
    # No library of anybody's: it is found, and cannot be loaded.
    library.write_bytes(b"nothing")
    text = report(tmp_path / "packages")
    if text.startswith("NVRTC "):
        pytest.skip(f"this machine has one where it is looked for first: {text}")
    assert text.startswith("none: ") and str(library) in text and "pip install nvidia-cuda-nvrtc" in text


def test_a_compiler_that_is_off_or_missing_is_said_with_the_remedy(tmp_path):
    for variable, said in (("off", "OZFFT_NVRTC is off"), (str(tmp_path / "nothing.so"), "nothing.so")):
        text = report(tmp_path, OZFFT_NVRTC=variable)
        assert text.startswith("none: ") and said in text and "pip install nvidia-cuda-nvrtc" in text


def test_nothing_in_the_current_directory_is_loaded(tmp_path, monkeypatch):
    from ozfft import _compiler

    named = []
    monkeypatch.setattr(_compiler._ozfft, "look_for_compiler_in", named.extend, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), "/opt/packages"])
    _compiler.name_packages()
    assert named == ["/opt/packages"]
