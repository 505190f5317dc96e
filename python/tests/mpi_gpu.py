"""Distributed transforms of arrays in the memory of GPUs, against the same plans on processors, bit by bit.

    OZFFT_MPI_LIBRARY=target/release/libozfft_mpi_c.so PYTHONPATH=python mpirun -n 2 python3 python/tests/mpi_gpu.py

Needs an NVIDIA GPU, mpi4py, and a library with the feature cuda (`cargo build --release -p ozfft-mpi-c --features cuda`); no pytest. Ranks share GPU 0, or take
that of OZFFT_MPI_DEVICE. Arrays are the driver's, by `__cuda_array_interface__`, and CuPy's where it is installed. Prints how many results were compared, and fails where one differs.
"""

import ctypes
import os
import sys

import numpy as np
from mpi4py import MPI

from ozfft.mpi import DistributedError, DistributedPlan

SEED = 27
comm = MPI.COMM_WORLD
device = int(os.environ.get("OZFFT_MPI_DEVICE", "0"))


class Driver:
    """Memory of the CUDA driver, without any other library."""

    name = "driver"

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self.call("cuInit", ctypes.c_uint(0))
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), ctypes.c_int(device))
        self.context = context

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code != 0:
            raise RuntimeError(f"{name} returned {code}")

    def copy(self, name, *arguments):
        # The context need not be this thread's: plans set their own.
        self.call("cuCtxSetCurrent", self.context)
        self.call(name, *arguments)

    def put(self, x):
        return DriverArray(self, np.ascontiguousarray(x))

    def get(self, array):
        result = np.empty(array.shape, array.dtype)
        if result.size:
            self.copy("cuMemcpyDtoH_v2", ctypes.c_void_p(result.ctypes.data), ctypes.c_uint64(array.address), ctypes.c_size_t(result.nbytes))
        return result

    def empty(self, shape, dtype):
        # Not zeros: what is not written is seen.
        return self.put(np.full(shape, 7, dtype))


class DriverArray:
    """A C-ordered array in device memory."""

    def __init__(self, driver, x):
        address = ctypes.c_uint64()
        driver.copy("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(x.nbytes, 256)))
        self.driver, self.address, self.shape, self.dtype = driver, address.value, x.shape, x.dtype
        if x.nbytes:
            driver.copy("cuMemcpyHtoD_v2", address, ctypes.c_void_p(x.ctypes.data), ctypes.c_size_t(x.nbytes))

    def __del__(self):
        self.driver.copy("cuMemFree_v2", ctypes.c_uint64(self.address))

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "strides": None, "data": (self.address, False), "version": 3}


class Cupy:
    name = "CuPy"

    def __init__(self):
        import cupy

        self.module = cupy
        cupy.cuda.Device(device).use()
        cupy.zeros(1)

    def put(self, x):
        return self.module.asarray(x)

    def get(self, array):
        return self.module.asnumpy(array)

    def empty(self, shape, dtype):
        return self.module.full(shape, 7, dtype)


def libraries():
    """What arrays are made by; the same on all ranks."""
    found = [Driver()]
    try:
        found.append(Cupy())
    except Exception as reason:  # not installed, or for another driver
        if comm.rank == 0:
            print(f"without CuPy: {reason}")
    least = comm.allreduce(len(found), MPI.MIN)
    return found[:least]


CASES = [
    ((12, 10, 9), {}),
    ((12, 10, 9), {"inverse": True, "norm": "ortho", "permuted_output": True}),
    ((12, 10, 9), {"kind": "real_to_complex"}),
    ((12, 10, 9), {"kind": "complex_to_real"}),
    ((16, 12), {"dtype": np.float32}),
    ((9, 50), {"axes": [-1]}),
    ((64, 64, 64), {}),
    ((64, 64, 64), {"staged": True}),
    ((3000,), {}),
    ((2018,), {"kind": "complex_to_real"}),
]


def numbers(shape, options):
    source = np.random.default_rng(SEED)
    dtype, kind = options.get("dtype", np.float64), options.get("kind", "complex")
    reals = source.standard_normal(shape).astype(dtype)
    if kind == "real_to_complex":
        return reals
    if kind == "complex_to_real":
        return np.fft.rfftn(reals)
    return reals + 1j * source.standard_normal(shape).astype(dtype)


def differ(found, expected):
    same = found.shape == expected.shape and found.dtype == expected.dtype and found.tobytes() == expected.tobytes()
    return comm.allreduce(0 if same else 1)


def rejected(call):
    """Whether a call is an error on every rank."""
    try:
        call()
    except DistributedError:
        return comm.allreduce(1) == comm.size
    return comm.allreduce(0) == comm.size


compared, failures, messages = 0, [], set()
for library in libraries():
    for shape, options in CASES:
        plan = DistributedPlan(shape, comm, device=device, **options)
        without = {key: value for key, value in options.items() if key != "staged"}
        processor = DistributedPlan(shape, comm, **without)
        messages.add(plan.messages)
        held = np.ascontiguousarray(numbers(shape, options)[plan.input_box], plan.input_dtype)
        expected = processor(held)
        results = {"numpy": plan(held)}
        part, out = library.put(held), library.empty(plan.output_shape, plan.output_dtype)
        if plan(part, out=out) is None:
            failures.append(f"{library.name} {shape} {options}: no result")
        results["device"] = library.get(out)
        if library.name == "CuPy":
            results["new"] = library.get(plan(part))
        # A part is left as it was.
        results["part"], kept = library.get(part), held
        for name, found in results.items():
            compared += 1
            if differ(found, kept if name == "part" else expected):
                failures.append(f"{library.name} {shape} {options}: {name} differs")
        if "kind" not in options and comm.allreduce(held.size == expected.size, MPI.LAND):
            plan(part, out=part)
            compared += 1
            if differ(library.get(part).reshape(expected.shape), expected):
                failures.append(f"{library.name} {shape} {options}: in place differs")
    # What one rank gets wrong is an error of all of them, and the plan goes on.
    plan = DistributedPlan((6, 4), comm, device=device)
    last = comm.rank == comm.size - 1
    part = library.put(np.zeros(plan.input_shape, plan.input_dtype))
    out = library.empty(plan.output_shape, plan.output_dtype)
    wrong = {
        "shape": library.put(np.zeros((1, 1, 1), plan.input_dtype)),
        "type": library.put(np.zeros(plan.input_shape, np.float32)),
    }
    for name, array in wrong.items():
        if not rejected(lambda array=array: plan(array if last else part, out=out)):
            failures.append(f"{library.name}: a part of another {name} is no error on every rank")
    plan(part, out=out)
    compared += 1
    if differ(library.get(out), np.zeros(plan.output_shape, plan.output_dtype)):
        failures.append(f"{library.name}: after an error the plan differs")

if comm.rank == 0:
    print(f"{comm.size} ranks, messages {', '.join(sorted(messages))}: {compared} results compared (seed {SEED}), {len(failures)} failed")
    print("\n".join(failures))
sys.exit(1 if failures else 0)
