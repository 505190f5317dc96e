"""How the transforms of :mod:`ozfft.numpy_fft` may be called, for type checkers; nothing here runs."""

from __future__ import annotations

from typing import Any, Optional, Protocol, Sequence, overload

import numpy
from numpy.typing import ArrayLike, NDArray

from ._signatures import Double, Numbers, Out, Shape, Single
from ._options import Norm


class NumpyOneAxisToComplex(Protocol):
    """One axis, to complex numbers, with numpy's arguments."""

    @overload
    def __call__(
        self,
        a: ArrayLike,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        *,
        out: Out,
    ) -> Out: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        a: numpy.ndarray[Shape, numpy.dtype[Single]],
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        out: None = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.complex64]]: ...
    @overload
    def __call__(
        self,
        a: numpy.ndarray[Shape, numpy.dtype[Double]],
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        out: None = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.complex128]]: ...
    @overload
    def __call__(
        self,
        a: Numbers,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        out: None = ...,
    ) -> NDArray[numpy.complex128]: ...
    @overload
    def __call__(
        self,
        a: ArrayLike,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        out: Optional[NDArray[Any]] = ...,
    ) -> NDArray[numpy.complexfloating[Any, Any]]: ...


class NumpyOneAxisToReal(Protocol):
    """One axis, to real numbers, with numpy's arguments."""

    @overload
    def __call__(
        self,
        a: ArrayLike,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        *,
        out: Out,
    ) -> Out: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        a: numpy.ndarray[Shape, numpy.dtype[Single]],
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        out: None = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.float32]]: ...
    @overload
    def __call__(
        self,
        a: numpy.ndarray[Shape, numpy.dtype[Double]],
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        out: None = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.float64]]: ...
    @overload
    def __call__(
        self,
        a: Numbers,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        out: None = ...,
    ) -> NDArray[numpy.float64]: ...
    @overload
    def __call__(
        self,
        a: ArrayLike,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        out: Optional[NDArray[Any]] = ...,
    ) -> NDArray[numpy.floating[Any]]: ...


class NumpyManyAxesToComplex(Protocol):
    """Several axes, to complex numbers, with numpy's arguments."""

    @overload
    def __call__(
        self,
        a: ArrayLike,
        s: Optional[Sequence[Optional[int]]] = ...,
        axes: Optional[Sequence[int]] = ...,
        norm: Norm = ...,
        *,
        out: Out,
    ) -> Out: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        a: numpy.ndarray[Shape, numpy.dtype[Single]],
        s: Optional[Sequence[Optional[int]]] = ...,
        axes: Optional[Sequence[int]] = ...,
        norm: Norm = ...,
        out: None = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.complex64]]: ...
    @overload
    def __call__(
        self,
        a: numpy.ndarray[Shape, numpy.dtype[Double]],
        s: Optional[Sequence[Optional[int]]] = ...,
        axes: Optional[Sequence[int]] = ...,
        norm: Norm = ...,
        out: None = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.complex128]]: ...
    @overload
    def __call__(
        self,
        a: Numbers,
        s: Optional[Sequence[Optional[int]]] = ...,
        axes: Optional[Sequence[int]] = ...,
        norm: Norm = ...,
        out: None = ...,
    ) -> NDArray[numpy.complex128]: ...
    @overload
    def __call__(
        self,
        a: ArrayLike,
        s: Optional[Sequence[Optional[int]]] = ...,
        axes: Optional[Sequence[int]] = ...,
        norm: Norm = ...,
        out: Optional[NDArray[Any]] = ...,
    ) -> NDArray[numpy.complexfloating[Any, Any]]: ...


class NumpyManyAxesToReal(Protocol):
    """Several axes, to real numbers, with numpy's arguments."""

    @overload
    def __call__(
        self,
        a: ArrayLike,
        s: Optional[Sequence[Optional[int]]] = ...,
        axes: Optional[Sequence[int]] = ...,
        norm: Norm = ...,
        *,
        out: Out,
    ) -> Out: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        a: numpy.ndarray[Shape, numpy.dtype[Single]],
        s: Optional[Sequence[Optional[int]]] = ...,
        axes: Optional[Sequence[int]] = ...,
        norm: Norm = ...,
        out: None = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.float32]]: ...
    @overload
    def __call__(
        self,
        a: numpy.ndarray[Shape, numpy.dtype[Double]],
        s: Optional[Sequence[Optional[int]]] = ...,
        axes: Optional[Sequence[int]] = ...,
        norm: Norm = ...,
        out: None = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.float64]]: ...
    @overload
    def __call__(
        self,
        a: Numbers,
        s: Optional[Sequence[Optional[int]]] = ...,
        axes: Optional[Sequence[int]] = ...,
        norm: Norm = ...,
        out: None = ...,
    ) -> NDArray[numpy.float64]: ...
    @overload
    def __call__(
        self,
        a: ArrayLike,
        s: Optional[Sequence[Optional[int]]] = ...,
        axes: Optional[Sequence[int]] = ...,
        norm: Norm = ...,
        out: Optional[NDArray[Any]] = ...,
    ) -> NDArray[numpy.floating[Any]]: ...
