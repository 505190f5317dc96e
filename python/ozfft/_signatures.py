"""How the transforms may be called, and what comes back, for type checkers; nothing here runs.

Results have the precision of their input: float16, float32 and complex64 give single precision; float64, complex128, integers and
Python's numbers give double precision. Arrays keep their number of dimensions. What is written to ``out`` is ``out``; arrays of CuPy and
PyTorch come back as what they are.
"""

from __future__ import annotations

from typing import Any, Optional, Protocol, Sequence, Tuple, TypeVar, Union, overload

import numpy
from numpy.typing import ArrayLike, NDArray

from ._options import Accuracy, Engine, Norm, RealType


class OnGpu(Protocol):
    """Arrays of CuPy and PyTorch."""

    @property
    def __cuda_array_interface__(self) -> Any: ...


Gpu = TypeVar("Gpu", bound=OnGpu)
Shape = TypeVar("Shape", bound=Tuple[int, ...])
Out = TypeVar("Out", bound=NDArray[Any])
Kept = TypeVar("Kept", numpy.float32, numpy.float64, numpy.complex64, numpy.complex128)

Single = Union[numpy.float16, numpy.float32, numpy.complex64]
Double = Union[numpy.float64, numpy.complex128, numpy.integer[Any], numpy.bool_]
Whole = Union[numpy.integer[Any], numpy.bool_]
Numbers = Union[complex, Sequence[complex], Sequence[Sequence[complex]], Sequence[Sequence[Sequence[complex]]]]
RealNumbers = Union[float, Sequence[float], Sequence[Sequence[float]], Sequence[Sequence[Sequence[float]]]]

# Lengths and axes of transforms of several axes.
Several = Union[int, Sequence[int], None]


class OneAxisToComplex(Protocol):
    """One axis, to complex numbers."""

    @overload
    def __call__(
        self,
        x: ArrayLike,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: Out,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> Out: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        x: numpy.ndarray[Shape, numpy.dtype[Single]],
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: None = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.complex64]]: ...
    @overload
    def __call__(
        self,
        x: numpy.ndarray[Shape, numpy.dtype[Double]],
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: None = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.complex128]]: ...
    @overload
    def __call__(
        self,
        x: Numbers,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: None = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> NDArray[numpy.complex128]: ...
    @overload
    def __call__(
        self,
        x: ArrayLike,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: Optional[NDArray[Any]] = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> NDArray[numpy.complexfloating[Any, Any]]: ...
    @overload
    def __call__(
        self,
        x: Gpu,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: Optional[Gpu] = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> Gpu: ...


class OneAxisToReal(Protocol):
    """One axis, to real numbers."""

    @overload
    def __call__(
        self,
        x: ArrayLike,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: Out,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> Out: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        x: numpy.ndarray[Shape, numpy.dtype[Single]],
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: None = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.float32]]: ...
    @overload
    def __call__(
        self,
        x: numpy.ndarray[Shape, numpy.dtype[Double]],
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: None = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.float64]]: ...
    @overload
    def __call__(
        self,
        x: Numbers,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: None = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> NDArray[numpy.float64]: ...
    @overload
    def __call__(
        self,
        x: ArrayLike,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: Optional[NDArray[Any]] = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> NDArray[numpy.floating[Any]]: ...
    @overload
    def __call__(
        self,
        x: Gpu,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: Optional[Gpu] = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> Gpu: ...


class ManyAxesToComplex(Protocol):
    """Several axes, to complex numbers."""

    @overload
    def __call__(
        self,
        x: ArrayLike,
        s: Several = ...,
        axes: Several = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: Out,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> Out: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        x: numpy.ndarray[Shape, numpy.dtype[Single]],
        s: Several = ...,
        axes: Several = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: None = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.complex64]]: ...
    @overload
    def __call__(
        self,
        x: numpy.ndarray[Shape, numpy.dtype[Double]],
        s: Several = ...,
        axes: Several = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: None = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.complex128]]: ...
    @overload
    def __call__(
        self,
        x: Numbers,
        s: Several = ...,
        axes: Several = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: None = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> NDArray[numpy.complex128]: ...
    @overload
    def __call__(
        self,
        x: ArrayLike,
        s: Several = ...,
        axes: Several = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: Optional[NDArray[Any]] = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> NDArray[numpy.complexfloating[Any, Any]]: ...
    @overload
    def __call__(
        self,
        x: Gpu,
        s: Several = ...,
        axes: Several = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: Optional[Gpu] = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> Gpu: ...


class ManyAxesToReal(Protocol):
    """Several axes, to real numbers."""

    @overload
    def __call__(
        self,
        x: ArrayLike,
        s: Several = ...,
        axes: Several = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: Out,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> Out: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        x: numpy.ndarray[Shape, numpy.dtype[Single]],
        s: Several = ...,
        axes: Several = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: None = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.float32]]: ...
    @overload
    def __call__(
        self,
        x: numpy.ndarray[Shape, numpy.dtype[Double]],
        s: Several = ...,
        axes: Several = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: None = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.float64]]: ...
    @overload
    def __call__(
        self,
        x: Numbers,
        s: Several = ...,
        axes: Several = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: None = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> NDArray[numpy.float64]: ...
    @overload
    def __call__(
        self,
        x: ArrayLike,
        s: Several = ...,
        axes: Several = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: Optional[NDArray[Any]] = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> NDArray[numpy.floating[Any]]: ...
    @overload
    def __call__(
        self,
        x: Gpu,
        s: Several = ...,
        axes: Several = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        plan: None = ...,
        out: Optional[Gpu] = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> Gpu: ...


class OneAxisCosine(Protocol):
    """Cosine and sine transforms of one axis."""

    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        x: numpy.ndarray[Shape, numpy.dtype[Kept]],
        type: RealType = ...,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        orthogonalize: Optional[bool] = ...,
        *,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[Kept]]: ...
    @overload
    def __call__(
        self,
        x: numpy.ndarray[Shape, numpy.dtype[numpy.float16]],
        type: RealType = ...,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        orthogonalize: Optional[bool] = ...,
        *,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.float32]]: ...
    @overload
    def __call__(
        self,
        x: numpy.ndarray[Shape, numpy.dtype[Whole]],
        type: RealType = ...,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        orthogonalize: Optional[bool] = ...,
        *,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.float64]]: ...
    @overload
    def __call__(
        self,
        x: RealNumbers,
        type: RealType = ...,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        orthogonalize: Optional[bool] = ...,
        *,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> NDArray[numpy.float64]: ...
    @overload
    def __call__(
        self,
        x: ArrayLike,
        type: RealType = ...,
        n: Optional[int] = ...,
        axis: int = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        orthogonalize: Optional[bool] = ...,
        *,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> NDArray[Any]: ...


class ManyAxesCosine(Protocol):
    """Cosine and sine transforms of several axes."""

    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        x: numpy.ndarray[Shape, numpy.dtype[Kept]],
        type: RealType = ...,
        s: Several = ...,
        axes: Several = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        orthogonalize: Optional[bool] = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[Kept]]: ...
    @overload
    def __call__(
        self,
        x: numpy.ndarray[Shape, numpy.dtype[numpy.float16]],
        type: RealType = ...,
        s: Several = ...,
        axes: Several = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        orthogonalize: Optional[bool] = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.float32]]: ...
    @overload
    def __call__(
        self,
        x: numpy.ndarray[Shape, numpy.dtype[Whole]],
        type: RealType = ...,
        s: Several = ...,
        axes: Several = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        orthogonalize: Optional[bool] = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> numpy.ndarray[Shape, numpy.dtype[numpy.float64]]: ...
    @overload
    def __call__(
        self,
        x: RealNumbers,
        type: RealType = ...,
        s: Several = ...,
        axes: Several = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        orthogonalize: Optional[bool] = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> NDArray[numpy.float64]: ...
    @overload
    def __call__(
        self,
        x: ArrayLike,
        type: RealType = ...,
        s: Several = ...,
        axes: Several = ...,
        norm: Norm = ...,
        overwrite_x: bool = ...,
        workers: Optional[int] = ...,
        *,
        orthogonalize: Optional[bool] = ...,
        accuracy: Accuracy = ...,
        engine: Engine = ...,
        device: Optional[str] = ...,
    ) -> NDArray[Any]: ...
