"""What mypy must accept, as a user would write it. It is not run."""

import numpy as np
from numpy.typing import NDArray

import ozfft


def power(signal: NDArray[np.float64]) -> NDArray[np.floating]:
    spectrum = ozfft.rfft(signal, norm="ortho", accuracy=1e-10, workers=-1)
    return np.abs(spectrum) ** 2


def filtered(field: NDArray[np.complex128]) -> NDArray[np.complexfloating]:
    plan: ozfft.Plan = ozfft.plan(field.shape, engine="digits")
    bound: float = plan.bound
    assert bound < 1e-14, plan.describe()
    with ozfft.options(accuracy="bits:40", device="auto"), ozfft.set_workers(2):
        return ozfft.ifftn(ozfft.fftn(field, s=(8, 8), axes=(0, 1)), out=field, overwrite_x=True)


def shifted(a: list[float]) -> NDArray[np.complexfloating]:
    try:
        return ozfft.fftshift(ozfft.numpy_fft.fft2([a, a], axes=(0, 1)))
    except (ozfft.DeviceError, ozfft.OzfftError) as error:
        raise SystemExit(str(error))
