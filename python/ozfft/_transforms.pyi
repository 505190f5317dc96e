from typing import Any, Protocol, Sequence, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._types import Accuracy, Engine, Norm

class _OnGpu(Protocol):
    """Arrays of CuPy and PyTorch, which come back as what they are."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

_Gpu = TypeVar("_Gpu", bound=_OnGpu)

@overload
def fft(
    x: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: NDArray[Any] | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> NDArray[np.complexfloating[Any, Any]]: ...
@overload
def fft(
    x: _Gpu,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: _Gpu | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> _Gpu: ...
@overload
def ifft(
    x: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: NDArray[Any] | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> NDArray[np.complexfloating[Any, Any]]: ...
@overload
def ifft(
    x: _Gpu,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: _Gpu | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> _Gpu: ...
@overload
def rfft(
    x: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: NDArray[Any] | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> NDArray[np.complexfloating[Any, Any]]: ...
@overload
def rfft(
    x: _Gpu,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: _Gpu | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> _Gpu: ...
@overload
def irfft(
    x: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: NDArray[Any] | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> NDArray[np.floating[Any]]: ...
@overload
def irfft(
    x: _Gpu,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: _Gpu | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> _Gpu: ...
@overload
def hfft(
    x: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: NDArray[Any] | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> NDArray[np.floating[Any]]: ...
@overload
def hfft(
    x: _Gpu,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: _Gpu | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> _Gpu: ...
@overload
def ihfft(
    x: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: NDArray[Any] | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> NDArray[np.complexfloating[Any, Any]]: ...
@overload
def ihfft(
    x: _Gpu,
    n: int | None = None,
    axis: int = -1,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: _Gpu | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> _Gpu: ...
@overload
def fftn(
    x: ArrayLike,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: NDArray[Any] | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> NDArray[np.complexfloating[Any, Any]]: ...
@overload
def fftn(
    x: _Gpu,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: _Gpu | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> _Gpu: ...
@overload
def fft2(
    x: ArrayLike,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: NDArray[Any] | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> NDArray[np.complexfloating[Any, Any]]: ...
@overload
def fft2(
    x: _Gpu,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: _Gpu | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> _Gpu: ...
@overload
def ifftn(
    x: ArrayLike,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: NDArray[Any] | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> NDArray[np.complexfloating[Any, Any]]: ...
@overload
def ifftn(
    x: _Gpu,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: _Gpu | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> _Gpu: ...
@overload
def ifft2(
    x: ArrayLike,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: NDArray[Any] | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> NDArray[np.complexfloating[Any, Any]]: ...
@overload
def ifft2(
    x: _Gpu,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: _Gpu | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> _Gpu: ...
@overload
def rfftn(
    x: ArrayLike,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: NDArray[Any] | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> NDArray[np.complexfloating[Any, Any]]: ...
@overload
def rfftn(
    x: _Gpu,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: _Gpu | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> _Gpu: ...
@overload
def rfft2(
    x: ArrayLike,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: NDArray[Any] | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> NDArray[np.complexfloating[Any, Any]]: ...
@overload
def rfft2(
    x: _Gpu,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: _Gpu | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> _Gpu: ...
@overload
def irfftn(
    x: ArrayLike,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: NDArray[Any] | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> NDArray[np.floating[Any]]: ...
@overload
def irfftn(
    x: _Gpu,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: _Gpu | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> _Gpu: ...
@overload
def irfft2(
    x: ArrayLike,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: NDArray[Any] | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> NDArray[np.floating[Any]]: ...
@overload
def irfft2(
    x: _Gpu,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: _Gpu | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> _Gpu: ...
@overload
def hfftn(
    x: ArrayLike,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: NDArray[Any] | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> NDArray[np.floating[Any]]: ...
@overload
def hfftn(
    x: _Gpu,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: _Gpu | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> _Gpu: ...
@overload
def hfft2(
    x: ArrayLike,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: NDArray[Any] | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> NDArray[np.floating[Any]]: ...
@overload
def hfft2(
    x: _Gpu,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: _Gpu | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> _Gpu: ...
@overload
def ihfftn(
    x: ArrayLike,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: NDArray[Any] | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> NDArray[np.complexfloating[Any, Any]]: ...
@overload
def ihfftn(
    x: _Gpu,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: _Gpu | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> _Gpu: ...
@overload
def ihfft2(
    x: ArrayLike,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: NDArray[Any] | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> NDArray[np.complexfloating[Any, Any]]: ...
@overload
def ihfft2(
    x: _Gpu,
    s: int | Sequence[int] | None = None,
    axes: int | Sequence[int] | None = (-2, -1),
    norm: Norm = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: None = None,
    out: _Gpu | None = None,
    accuracy: Accuracy = None,
    engine: Engine = None,
    device: str | None = None,
) -> _Gpu: ...
