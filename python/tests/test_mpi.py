"""Distributed transforms have the bits of one process on any number of ranks."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ozfft

pytest.importorskip("mpi4py")
if shutil.which("mpirun") is None or not os.environ.get("OZFFT_MPI_LIBRARY"):
    pytest.skip("mpirun and OZFFT_MPI_LIBRARY are needed", allow_module_level=True)


def numbers(shape, kind="complex", dtype=np.float64):
    source = np.random.default_rng(sum(shape))
    reals = source.standard_normal(shape).astype(dtype)
    if kind == "real":
        return reals
    complexes = reals + 1j * source.standard_normal(shape).astype(dtype)
    return complexes if kind == "complex" else np.fft.rfftn(reals).astype(complexes.dtype)


def expected():
    cube = (12, 10, 9)
    results = {
        "cube": ozfft.fftn(numbers(cube)),
        "ortho": ozfft.ifftn(numbers(cube), norm="ortho"),
        "real": ozfft.rfftn(numbers(cube, "real")),
        "back": ozfft.irfftn(numbers(cube, "half"), s=cube),
        "single": ozfft.fftn(numbers((8, 7), dtype=np.float32), accuracy="double"),
        "rows": ozfft.fft(numbers((9, 50)), axis=-1),
        "line": ozfft.fft(numbers((3000,))),
        "prime": ozfft.fft(numbers((2099,))),
        "line_back": ozfft.irfft(numbers((3000,), "half"), 3000),
    }
    return {name: hashlib.sha256(np.ascontiguousarray(result).tobytes()).hexdigest() for name, result in results.items()}


def run_on_ranks(ranks, name):
    """Runs a program of this folder; returns what it prints."""
    program = Path(__file__).with_name(name)
    command = ["mpirun", "--oversubscribe", "--allow-run-as-root", "-n", str(ranks), sys.executable, str(program)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks_have_the_bits_of_one_process(ranks):
    printed = run_on_ranks(ranks, "mpi_program.py")
    found = dict(line.split()[1:] for line in printed.splitlines() if line.startswith("digest"))
    assert found == expected()


def test_no_rank_waits_for_one_that_raised_before_the_call():
    assert run_on_ranks(2, "mpi_mistakes.py").splitlines() == ["told 0 1"]
