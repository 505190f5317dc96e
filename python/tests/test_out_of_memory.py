"""Where memory ends, calls raise MemoryError: some steps of the attacks in fuzz/attacks."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import ozfft

ATTACKS = pathlib.Path(__file__).parents[2] / "fuzz" / "attacks"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space are Linux's")


# In an interpreter of its own: this one has memory of earlier tests to spare.
PROGRAM = """
import sys
import memory_ends_in_python as memory

call, arrays, reference, _ = memory.PROBLEMS[sys.argv[1]]
expected = reference(*arrays)
codes = [memory.attempt(call, arrays, expected, megabytes << 20) for megabytes in (0, 1, 5, 11, 23, 47, 1000)]
assert set(codes) <= {memory.RIGHT, memory.REFUSED}, codes
assert memory.REFUSED in codes and codes[-1] == memory.RIGHT, codes
"""


@pytest.mark.parametrize("name", ["rfft of a prime", "fft2", "convolve_exact", "residues", "native"])
def test_an_address_space_that_ends_is_a_memory_error(name):
    path = os.pathsep.join([str(ATTACKS), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run([sys.executable, "-c", PROGRAM, name], env={**os.environ, "PYTHONPATH": path}, timeout=300, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


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
