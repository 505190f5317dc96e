"""Where memory ends, calls raise MemoryError: some steps of the attacks in fuzz/attacks."""

import importlib.util
import pathlib
import subprocess
import sys
import warnings

import numpy as np
import pytest

import ozfft

ATTACKS = pathlib.Path(__file__).parents[2] / "fuzz" / "attacks"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space are Linux's")


def attack(name):
    specification = importlib.util.spec_from_file_location(name, ATTACKS / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["rfft of a prime", "fft2", "convolve_exact", "residues", "native"])
def test_an_address_space_that_ends_is_a_memory_error(name):
    memory = attack("memory_ends_in_python")
    call, arrays, reference, _ = memory.PROBLEMS[name]
    expected = reference(*arrays)
    with warnings.catch_warnings():
        # Python warns of forks in programs with threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        codes = [memory.attempt(call, arrays, expected, megabytes << 20) for megabytes in (0, 1, 5, 11, 23, 47, 1000)]
    assert set(codes) <= {memory.RIGHT, memory.REFUSED}, codes
    assert memory.REFUSED in codes and codes[-1] == memory.RIGHT, codes


def test_the_error_is_a_memory_error_and_says_what_is_missing():
    assert issubclass(ozfft.OutOfMemoryError, MemoryError)
    # More than any machine has, in a view of one number.
    endless = np.broadcast_to(np.float64(1.0), (1 << 46,))
    with pytest.raises(MemoryError):
        ozfft.fft(endless)


def test_the_interpreter_ends_while_threads_transform():
    program = [sys.executable, ATTACKS / "exit_with_threads_inside.py"]
    done = subprocess.run(program, timeout=300, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
