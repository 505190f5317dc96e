"""``python -m ozfft``: what this installation is, and what it finds on this machine. For reports of problems as well."""

from __future__ import annotations

import ctypes
import importlib.metadata
import os
import platform
import sys
from typing import List, Tuple

import ozfft
from ozfft import _compiler, _ozfft
from ozfft._plan import bound_text

# Libraries whose arrays are transformed, or that ozfft can compute for.
_LIBRARIES = ("numpy", "scipy", "cupy", "torch", "dask", "astropy")


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def _version(name: str) -> str:
    """The version of a distribution; CuPy's has the version of CUDA in its name. Nothing is imported."""
    for distribution in importlib.metadata.distributions():
        found = (distribution.metadata["Name"] or "").lower()
        if found == name or (name == "cupy" and found.startswith("cupy-cuda")):
            return str(distribution.version)
    return "not installed"


def _gpus() -> List[str]:
    """The GPUs that NVIDIA's driver names, or why there are none."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return ["none (no NVIDIA driver)"]
    count = ctypes.c_int()
    code = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if code:
        return [f"none (the driver says error {code})"]
    names = []
    for number in range(count.value):
        device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        text = ctypes.create_string_buffer(256)
        driver.cuDeviceGet(ctypes.byref(device), number)
        driver.cuDeviceGetName(text, len(text), device)
        # The numbers of the attributes of the compute capability in cuda.h.
        driver.cuDeviceGetAttribute(ctypes.byref(major), 75, device)
        driver.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)
        capability = (major.value, minor.value)
        usable = "" if capability >= (8, 0) else ", too old for ozfft: 8.0 is needed"
        names.append(f"cuda:{number} {text.value.decode()} (compute capability {major.value}.{minor.value}{usable})")
    return names or ["none"]


def report() -> List[Tuple[str, str]]:
    """Pairs of a subject and what is known of it."""
    plan = ozfft.plan(1024)
    memory = ozfft.plan_memory()
    lines = [
        ("ozfft", f"{ozfft.__version__} in {os.path.dirname(os.path.abspath(ozfft.__file__))}"),
        ("python", f"{platform.python_version()} ({sys.executable})"),
        ("machine", f"{platform.machine()}, {platform.system()}, {' '.join(platform.libc_ver())}"),
        ("processor", f"{_processor()}, {os.cpu_count()} threads"),
        ("units", f"{', '.join(_ozfft.units())}; {plan.substrate} is taken"),
        ("bound", f"{bound_text(plan.bound)} for 1024 points in double precision"),
        ("plans", f"up to {memory.limit >> 20} MiB are cached"),
    ]
    lines += [("gpu", gpu) for gpu in _gpus()]
    lines += [("compiler", _compiler.description())]
    lines += [(name, _version(name)) for name in _LIBRARIES]
    lines += [(name, os.environ[name]) for name in sorted(os.environ) if name.startswith("OZFFT_")]
    return lines


def main() -> None:
    """Prints the report."""
    for subject, text in report():
        print(f"{subject:<10} {text}")


if __name__ == "__main__":
    main()
