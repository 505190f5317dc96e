"""What mypy must accept, as a user would write it. It is not run."""

import numpy as np
from numpy.typing import NDArray

import ozfft
import ozfft.fft as fft
from ozfft.fft import dct, next_fast_len


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


def smoothed(image: NDArray[np.float64], plan: ozfft.Plan) -> NDArray[np.float64]:
    cosines = dct(image, type=2, n=next_fast_len(image.shape[0]), norm="ortho", orthogonalize=True)
    spectrum = fft.rfft2(fft.idctn(cosines, axes=(0, 1)))
    used: int = ozfft.plan_memory().bytes
    assert used >= 0 and plan == plan
    return ozfft.fftconvolve(fft.irfft2(spectrum), np.ones((3, 3)), mode="same", axes=(0, 1))


def loud(image: NDArray[np.float64]) -> None:
    fft.dct(image, norm="loud")  # type: ignore[call-overload]
    ozfft.rfft(image, norm="loud")  # type: ignore[call-overload]
    ozfft.fftconvolve(image, image, mode="some")  # type: ignore[call-overload]
