"""Transforms over several ranks by mpi4py-fft: prints, for every problem, the sum (SHA-256) of the whole result, and its relative
L2 difference from numpy's transform of the whole array. Run under mpirun by ../proof, with FFTW and with ozfft, on several
numbers of ranks: one sum for all of them means that the result does not depend on how it was divided.

    mpirun -n 4 /usr/bin/python3 distributed.py FFTW_MEASURE

The argument says how FFTW plans; FFTW_MEASURE is what mpi4py-fft does unless told otherwise.
"""
import hashlib
import sys

import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

# Shape, type of the numbers, and whether two axes are divided (pencils) or one (slabs). Ranks up to 8 divide all of them.
PROBLEMS = [
    ("c2c slabs", (24, 32, 40), "D", False),
    ("c2c pencils", (24, 32, 40), "D", True),
    ("r2c slabs", (32, 24, 36), "d", False),
    ("r2c pencils", (32, 24, 36), "d", True),
    ("c2c pencils single", (24, 32, 40), "F", True),
]
comm = MPI.COMM_WORLD
effort = sys.argv[1] if len(sys.argv) > 1 else "FFTW_MEASURE"


def whole(problem):
    name, shape, kind, _ = problem
    random = np.random.default_rng(20261116)
    array = random.uniform(-1, 1, shape) + (1j * random.uniform(-1, 1, shape) if kind in "DF" else 0)
    return array.astype(kind)


for problem in PROBLEMS:
    name, shape, kind, pencils = problem
    grid = [-1, 1, 1] if not pencils else None
    fft = PFFT(comm, shape, axes=(0, 1, 2), dtype=kind, grid=grid, planner_effort=effort)
    values = newDistArray(fft, False)
    values[:] = whole(problem)[fft.local_slice(False)]
    result = fft.forward(values, newDistArray(fft, True), normalize=False)
    parts = comm.gather((fft.local_slice(True), np.array(result)))
    if comm.rank == 0:
        total = np.zeros(fft.global_shape(True), dtype=result.dtype)
        for place, part in parts:
            total[place] = part
        exact = (np.fft.fftn if kind in "DF" else np.fft.rfftn)(whole(problem).astype("D" if kind in "DF" else "d"))
        error = np.linalg.norm(total - exact) / np.linalg.norm(exact)
        print(f"{name}, {hashlib.sha256(total.tobytes()).hexdigest()[:16]}, {error:.1e}", flush=True)
        if not error < (1e-5 if kind == "F" else 1e-13):
            print("the result is wrong", file=sys.stderr, flush=True)
            comm.Abort(1)
    fft.destroy()
