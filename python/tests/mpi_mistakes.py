"""Run by test_mpi.py on several ranks: what one rank alone gets wrong is an error of every rank, and no rank waits for ever."""

import signal
import sys

import numpy as np
from mpi4py import MPI

import ozfft
from ozfft.mpi import DistributedPlan

# A rank that waits ends, and mpirun ends the others.
signal.alarm(60)
comm = MPI.COMM_WORLD


def of_every_rank(what, call):
    """Expects an error on every rank."""
    try:
        call()
    except Exception:
        return
    sys.exit(f"rank {comm.rank}: no error with {what}")


class Broken:
    """An array that cannot even be asked what it is."""

    @property
    def __cuda_array_interface__(self):
        raise RuntimeError("no such thing")


class BrokenOnDevice:
    """An array in a GPU's memory whose description is none."""

    __cuda_array_interface__ = {"version": 3}


for wrong in range(comm.size):
    mine = comm.rank == wrong
    for name, mistake in [
        ("threads", "2"),
        ("accuracy", [1]),
        ("memory_limit", "all"),
        ("device", "gpu"),
        ("device", "cuda:"),
        ("workers", 0),
        ("axes", [None]),
        ("axes", 5.5),
        ("grid", 7),
        ("input_box", 3),
        ("dtype", "no type"),
        ("norm", ["ortho"]),
        ("inverse", np.ones(2)),
    ]:
        options = {name: mistake} if mine else {}
        of_every_rank((name, mistake), lambda: DistributedPlan((8, 8), comm, **options))
    of_every_rank("shape", lambda: DistributedPlan(("x", 8) if mine else (8, 8), comm))
    of_every_rank("no shape", lambda: DistributedPlan(None if mine else (8, 8), comm))

    plan = DistributedPlan((8, 8), comm)
    part = np.ones(plan.input_shape, complex)
    for mistake in ["abc", [[1], [2, 3]], None, Broken(), BrokenOnDevice(), np.full(plan.input_shape, "x")]:
        of_every_rank(mistake, lambda: plan(mistake if mine else part))
    for mistake in [[1], "abc", np.zeros(3), 5]:
        of_every_rank(("out", mistake), lambda: plan(part, out=mistake if mine else None))
    # The plan goes on.
    assert np.abs(plan(part)).max() in (0, 64)


def rejected(error, call):
    """Expects this error, of a mistake that every rank makes."""
    try:
        call()
    except error:
        return
    sys.exit(f"rank {comm.rank}: no {error.__name__}")


# Values that were taken for others, silently.
for error, shape, options in [
    (ozfft.ShapeError, (4, 6), {"axes": ()}),
    (ozfft.ShapeError, (4, 6), {"axes": (-3,)}),
    (ozfft.ShapeError, (4.7, 6.2), {}),
    (ozfft.ShapeError, ("4", "6"), {}),
    (ozfft.ShapeError, (2**64 + 8,), {}),
    (ozfft.ShapeError, (), {}),
    (ozfft.AccuracyError, (64,), {"accuracy": -1.0}),
    (ozfft.AccuracyError, (64,), {"accuracy": 0}),
    (ozfft.AccuracyError, (64,), {"accuracy": "perfect"}),
    (ozfft.UnsupportedError, (64,), {"memory_limit": 0}),
    (ozfft.UnsupportedError, (64,), {"memory_limit": 2**64}),
    (ozfft.UnsupportedError, (64,), {"memory_limit": -1}),
    (ozfft.UnsupportedError, (64,), {"threads": 2**32 + 1}),
    (ozfft.UnsupportedError, (64,), {"threads": 0}),
    (ozfft.UnsupportedError, (64,), {"grid": (2**64 + comm.size,)}),
    (ozfft.DeviceError, (64,), {"device": 2**32 - 1}),
    (ozfft.DeviceError, (64,), {"device": -1}),
]:
    rejected(error, lambda: DistributedPlan(shape, comm, **options))
plan = DistributedPlan(8, comm, dtype="float32")
rejected(ozfft.DtypeError, lambda: plan(np.ones(plan.input_shape, complex)))
rejected(ozfft.DtypeError, lambda: plan(np.ones(plan.input_shape)))
plan(np.ones(plan.input_shape, "f4"))
plan(np.ones(plan.input_shape, int))
plan = DistributedPlan(8, comm, kind="real_to_complex")
rejected(ozfft.DtypeError, lambda: plan(np.full(plan.input_shape, 1 + 5j)))
if np.dtype(np.longdouble).itemsize > 8:
    rejected(ozfft.DtypeError, lambda: plan(np.full(plan.input_shape, np.longdouble(1) / 3)))
assert plan(np.ones(plan.input_shape, np.float32)).dtype == complex
assert DistributedPlan(64, comm, accuracy="single").bound > 1e-12 > DistributedPlan(64, comm, accuracy="double", axes=0).bound

# Collective calls mean other things on a communicator of two groups: results were wrong.
if comm.size > 1:
    group = comm.Split(comm.rank % 2)
    both = group.Create_intercomm(0, comm, 1 - comm.rank % 2)
    rejected(ozfft.mpi.DistributedError, lambda: DistributedPlan((8, 8), both))
    both.Free()
    group.Free()

# Arrays at odd addresses are copied.
plan = DistributedPlan((8, 8), comm)
odd = np.zeros(16 * plan.input_shape[0] * plan.input_shape[1] + 1, np.uint8)[1:].view(complex).reshape(plan.input_shape)
odd[...] = 1
assert np.abs(plan(odd)).max() in (0, 64)
rejected(ozfft.mpi.DistributedError, lambda: plan(odd, out=odd))

told = comm.gather(comm.rank)
if comm.rank == 0:
    print("told", *told, flush=True)
