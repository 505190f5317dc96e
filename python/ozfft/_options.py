"""What a call may choose beyond numpy's and scipy's arguments, and where the defaults come from."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import operator
import os
from typing import Iterator, Literal, NamedTuple, Optional, Union

# Types of arguments, for the stubs and for programs that annotate theirs.
Norm = Optional[Literal["backward", "ortho", "forward"]]
Accuracy = Union[str, float, None]
Engine = Optional[str]
Mode = Literal["full", "same", "valid"]
Route = Literal["direct", "ntt", "digits", "pairs"]
RealType = Literal[1, 2, 3, 4]


class Options(NamedTuple):
    """The choices of a call, all of them made."""

    accuracy: str
    engine: str
    device: Optional[str]
    workers: int


_DEFAULT = Options(accuracy="double", engine="digits", device=None, workers=1)

# A context variable: contexts of other threads and of other coroutines have defaults of their own.
_current: contextvars.ContextVar[Options] = contextvars.ContextVar("ozfft_options", default=_DEFAULT)


@functools.lru_cache(maxsize=1)
def processors() -> int:
    """The number of processors, as scipy counts them."""
    return os.cpu_count() or 1


def count_workers(workers: int) -> int:
    """The number of threads that scipy would take for `workers`: -1 is all processors, -2 all but one."""
    if workers < 0:
        if workers < -processors():
            raise ValueError(
                f"workers value out of range; got {workers}, must not be less than {-processors()}"
            )
        return workers + 1 + processors()
    if workers == 0:
        raise ValueError("workers must not be zero")
    return workers


def resolve(
    accuracy: Union[str, float, None] = None,
    engine: Optional[str] = None,
    device: Optional[str] = None,
    workers: Optional[int] = None,
) -> Options:
    """Fills in what was not chosen from the context."""
    now = _current.get()
    if accuracy is None and engine is None and device is None and workers is None:
        return now
    return Options(
        accuracy=now.accuracy if accuracy is None else _accuracy_text(accuracy),
        engine=now.engine if engine is None else str(engine),
        device=now.device if device is None else str(device),
        workers=now.workers if workers is None else count_workers(operator.index(workers)),
    )


def _accuracy_text(accuracy: Union[str, float]) -> str:
    return accuracy if isinstance(accuracy, str) else repr(float(accuracy))


@contextlib.contextmanager
def options(
    *,
    accuracy: Union[str, float, None] = None,
    engine: Optional[str] = None,
    device: Optional[str] = None,
    workers: Optional[int] = None,
) -> Iterator[None]:
    """Choices for all calls within a ``with`` block, also for those that come through scipy.

    >>> import numpy, ozfft, scipy.fft
    >>> signal = numpy.arange(8.0)
    >>> with ozfft.options(accuracy="bits:40"), scipy.fft.set_backend(ozfft):
    ...     spectrum = scipy.fft.rfft(signal)
    >>> spectrum[0]
    np.complex128(28+0j)
    """
    token = _current.set(resolve(accuracy, engine, device, workers))
    try:
        yield
    finally:
        _current.reset(token)


@contextlib.contextmanager
def set_workers(workers: int) -> Iterator[None]:
    """The default of ``workers`` within a ``with`` block, counted as in scipy. The bits do not depend on it.

    >>> import ozfft
    >>> with ozfft.set_workers(2):
    ...     ozfft.get_workers()
    2
    """
    with options(workers=workers):
        yield


def get_workers() -> int:
    """The default of ``workers`` here: 1 by default.

    >>> import ozfft
    >>> ozfft.get_workers()
    1
    """
    return _current.get().workers
