"""What type checkers know of results: their precision, and how many dimensions they have. It is not run."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import ozfft
import ozfft.fft as module
from ozfft import numpy_fft

Line = np.ndarray[tuple[int], np.dtype[np.float64]]
SinglePlane = np.ndarray[tuple[int, int], np.dtype[np.float32]]


def precision(f4: NDArray[np.float32], f8: NDArray[np.float64], c8: NDArray[np.complex64], c16: NDArray[np.complex128]) -> None:
    assert_type(ozfft.fft(f4), NDArray[np.complex64])
    assert_type(ozfft.fft(c8, 16, norm="ortho"), NDArray[np.complex64])
    assert_type(ozfft.fft(f8), NDArray[np.complex128])
    assert_type(ozfft.ifftn(c16, axes=(0, 1), workers=-1), NDArray[np.complex128])
    assert_type(ozfft.rfft2(f4, accuracy="single"), NDArray[np.complex64])
    assert_type(ozfft.irfft(c8), NDArray[np.float32])
    assert_type(ozfft.irfft2(c16, s=8), NDArray[np.float64])
    assert_type(ozfft.hfftn(c16), NDArray[np.float64])
    assert_type(module.ihfft(f4), NDArray[np.complex64])


def other_numbers(whole: NDArray[np.int32], half: NDArray[np.float16]) -> None:
    assert_type(ozfft.fft(whole), NDArray[np.complex128])
    assert_type(ozfft.rfft(half), NDArray[np.complex64])
    assert_type(ozfft.fft([1, 2.5, 3j]), NDArray[np.complex128])
    assert_type(ozfft.irfftn([[1.0, 2.0], [3.0, 4.0]]), NDArray[np.float64])
    assert_type(ozfft.dct(half), NDArray[np.float32])
    assert_type(ozfft.dct(whole), NDArray[np.float64])
    assert_type(ozfft.dst([1.0, 2.0]), NDArray[np.float64])


def dimensions(line: Line, plane: SinglePlane) -> None:
    assert_type(ozfft.fft(line), np.ndarray[tuple[int], np.dtype[np.complex128]])
    assert_type(ozfft.rfft2(plane), np.ndarray[tuple[int, int], np.dtype[np.complex64]])
    assert_type(ozfft.irfftn(ozfft.rfftn(plane)), SinglePlane)
    assert_type(ozfft.dctn(plane, 3), SinglePlane)
    assert_type(numpy_fft.fft(line), np.ndarray[tuple[int], np.dtype[np.complex128]])


def kinds_of_their_own(f4: NDArray[np.float32], f8: NDArray[np.float64], c8: NDArray[np.complex64]) -> None:
    assert_type(ozfft.dct(f4, 4, norm="ortho"), NDArray[np.float32])
    assert_type(ozfft.idstn(c8, orthogonalize=False), NDArray[np.complex64])
    assert_type(ozfft.dst(f8), NDArray[np.float64])


def out_is_what_comes_back(f8: NDArray[np.float64], narrow: NDArray[np.complex64]) -> None:
    assert_type(ozfft.fft(f8, out=narrow), NDArray[np.complex64])
    assert_type(numpy_fft.rfft(f8, out=narrow), NDArray[np.complex64])


def numpys_arguments(f4: NDArray[np.float32], c16: NDArray[np.complex128]) -> None:
    assert_type(numpy_fft.fft2(f4, axes=(0, 1)), NDArray[np.complex64])
    assert_type(numpy_fft.irfftn(c16, (4, None), (0, 1), "ortho"), NDArray[np.float64])


def what_is_rejected(f8: NDArray[np.float64]) -> None:
    ozfft.fft(f8, norm="loud")  # type: ignore[call-overload]
    ozfft.fft(f8, axis="last")  # type: ignore[call-overload]
    ozfft.dct(f8, 5)  # type: ignore[call-overload]
    numpy_fft.fft(f8, workers=2)  # type: ignore[call-overload]


def bounds(line: Line) -> None:
    assert_type(ozfft.fftconvolve(line, line), NDArray[Any])
    assert_type(ozfft.fftconvolve(line, line, return_bound=True), tuple[NDArray[Any], float])
    assert_type(ozfft.oaconvolve(line, line, "same", return_bound=True), tuple[NDArray[Any], float])
