"""Run by test_mpi.py on several ranks: distributed transforms whose digests rank 0 prints, and errors that every rank raises."""

import hashlib
import sys

import numpy as np
from mpi4py import MPI

from ozfft.mpi import DistributedError, DistributedPlan
from ozfft import OzfftError

comm = MPI.COMM_WORLD


def whole(shape, kind, dtype):
    """The global input, the same on every rank."""
    source = np.random.default_rng(sum(shape))
    numbers = source.standard_normal(shape).astype(dtype)
    if kind == "real_to_complex":
        return numbers
    complexes = numbers + 1j * source.standard_normal(shape).astype(dtype)
    if kind in ("complex", "c2c"):
        return complexes
    return np.fft.rfftn(numbers).astype(complexes.dtype)


def digest(name, plan, out):
    """Collects a result on rank 0 and prints its digest."""
    parts = comm.gather((plan.output_box, out))
    if comm.rank == 0:
        shape = [max(box[axis].stop for box, _ in parts) for axis in range(len(plan.output_shape))]
        result = np.zeros(shape, plan.output_dtype)
        for box, part in parts:
            result[box] = part
        print("digest", name, hashlib.sha256(result.tobytes()).hexdigest(), flush=True)


for name, shape, options in [
    ("cube", (12, 10, 9), {}),
    ("ortho", (12, 10, 9), {"inverse": True, "norm": "ortho", "permuted_output": True}),
    ("real", (12, 10, 9), {"kind": "real_to_complex"}),
    ("back", (12, 10, 9), {"kind": "complex_to_real"}),
    ("single", (8, 7), {"dtype": np.float32}),
    ("rows", (9, 50), {"axes": [-1], "output_box": (slice(0, 9), slice(50 * comm.rank // comm.size, 50 * (comm.rank + 1) // comm.size))}),
    # In the words of ozfft.plan.
    ("line", (3000,), {"kind": "c2c", "workers": 2, "device": "cpu"}),
    ("prime", (2099,), {}),
    ("line_back", (3000,), {"kind": "complex_to_real"}),
]:
    plan = DistributedPlan(shape, comm, **options)
    given = whole(shape, options.get("kind", "complex"), options.get("dtype", np.float64))
    held = given[plan.input_box]
    assert held.shape == plan.input_shape
    out = plan(held)
    assert out.shape == plan.output_shape and out.dtype == plan.output_dtype
    assert 0 < plan.bound < 1e-6 and plan.bytes_sent == plan.bytes_per_call and plan.workspace_bytes >= 0
    assert f"{comm.size} ranks" in str(plan)
    digest(name, plan, out)
    if name == "cube":
        array = np.ascontiguousarray(held)
        assert plan(array, out=array) is not None and np.array_equal(array.reshape(out.shape), out)

# What one rank gets wrong is an error of all of them, and the plan goes on.
plan = DistributedPlan((6, 4), comm)
try:
    plan(np.zeros((1, 1, 1)) if comm.rank == comm.size - 1 else np.zeros(plan.input_shape))
except DistributedError:
    pass
else:
    sys.exit("no error")
plan(np.zeros(plan.input_shape))


class InDeviceMemory:
    """An array that says that it is in a GPU's memory."""

    def __init__(self, shape, typestr="<c16", strides=None):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "strides": strides, "data": (4096, False), "version": 3}


# A plan for processors takes none of those, and what is wrong with one of them is found before.
assert plan.messages == "processor"
shape = plan.input_shape
for array in [InDeviceMemory(shape), InDeviceMemory(shape, "<f8"), InDeviceMemory(shape, strides=(16, 16 * shape[0] + 16)), InDeviceMemory((1, 1, 1))]:
    try:
        plan(array, out=InDeviceMemory(plan.output_shape))
    except DistributedError:
        pass
    else:
        sys.exit("no error on device memory")
for options in [{"norm": "other"}, {"grid": [comm.size + 1]}, {"input_box": (slice(0, 5), slice(0, 4))}, {"memory_limit": 1}, {"device": 99}, {"device": -7}]:
    if options == {"memory_limit": 1} and comm.size == 1:
        continue
    try:
        # The last rank alone, where the mistake is one of Python's.
        wrong = "norm" not in options or comm.rank == comm.size - 1
        DistributedPlan((6, 4), comm, **(options if wrong else {}))
    except OzfftError:
        pass
    else:
        sys.exit(f"no error with {options}")
