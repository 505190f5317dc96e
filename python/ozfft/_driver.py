"""Memory of a GPU straight from NVIDIA's driver, for arrays whose library cannot be asked for any."""

from __future__ import annotations

import ctypes
from typing import Any

from ._errors import DeviceError


def _driver() -> ctypes.CDLL:
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError as reason:
        raise DeviceError(f"no GPU can be used: {reason}; install NVIDIA's driver") from None


def _check(driver: ctypes.CDLL, action: str, code: int) -> None:
    if code:
        name = ctypes.c_char_p()
        driver.cuGetErrorName(code, ctypes.byref(name))
        text = name.value.decode() if name.value else "unknown error"
        raise DeviceError(f"{action} failed: {text} ({code})")


_DEVICE_ORDINAL = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL


def device_of(address: int) -> int:
    """The number of the GPU whose memory is at this address; 0 where the driver cannot say, as for arrays without elements."""
    try:
        driver = _driver()
    except DeviceError:
        return 0
    number = ctypes.c_int(0)
    code = driver.cuInit(0) or driver.cuPointerGetAttribute(ctypes.byref(number), _DEVICE_ORDINAL, ctypes.c_uint64(address))
    return 0 if code else max(number.value, 0)


def is_recorded(device: int, stream: int) -> bool:
    """Whether somebody records what is put into a stream; the default one, 0 and 1, cannot be recorded."""
    if stream in (0, 1):
        return False
    driver = _driver()
    status = ctypes.c_int(0)
    with _Entered(driver, device):
        code = driver.cuStreamIsCapturing(ctypes.c_void_p(stream), ctypes.byref(status))
    return code == 0 and status.value != 0


class _Entered:
    """The device's primary context, which libraries share, current on this thread within a ``with`` block."""

    def __init__(self, driver: ctypes.CDLL, device: int) -> None:
        self.driver = driver
        self.device = device

    def __enter__(self) -> None:
        _check(self.driver, "starting the driver", self.driver.cuInit(0))
        context = ctypes.c_void_p()
        retained = self.driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), self.device)
        _check(self.driver, "opening the device", retained)
        _check(self.driver, "entering the device", self.driver.cuCtxPushCurrent_v2(context))

    def __exit__(self, *_: Any) -> None:
        self.driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
        self.driver.cuDevicePrimaryCtxRelease_v2(self.device)


class DeviceMemory:
    """Bytes on a device."""

    def __init__(self, device: int, size: int) -> None:
        self.driver = _driver()
        self.device = device
        self.size = size
        address = ctypes.c_uint64()
        with _Entered(self.driver, device):
            allocated = self.driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size))
            _check(self.driver, f"allocating {size} bytes on the GPU", allocated)
        self.address = address.value

    def free(self) -> None:
        """Gives the memory back, after the work that uses it: the device is waited for."""
        with _Entered(self.driver, self.device):
            _check(self.driver, "waiting for the device", self.driver.cuCtxSynchronize())
            _check(self.driver, "freeing memory", self.driver.cuMemFree_v2(ctypes.c_uint64(self.address)))
