"""From the arguments of :mod:`scipy.fft`'s functions to a transform of an array, with scipy's defaults and errors."""

from __future__ import annotations

import operator
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

from . import _duck
from ._execute import Kind, copied, transform
from ._libraries import library_of
from ._options import Options, resolve
from ._repeated import may_repeat, remember, repeated

_NORMS = {None: "backward", "backward": "backward", "ortho": "ortho", "forward": "forward"}


def norm_name(norm: Optional[str]) -> str:
    try:
        return _NORMS[norm]
    except (KeyError, TypeError):
        raise ValueError(f'Invalid norm value {norm!r}, should be "backward", "ortho" or "forward"') from None


def integers(values: Any, name: str) -> List[int]:
    """One integer or several, as a list."""
    try:
        return [operator.index(values)]
    except TypeError:
        pass
    try:
        return [operator.index(value) for value in values]
    except TypeError as error:
        raise ValueError(f"{name} must be a scalar or iterable of integers") from error


def _reject_plan(plan: Any) -> None:
    if plan is not None:
        raise NotImplementedError(
            "Passing a precomputed plan is not yet supported by scipy.fft functions; plans of ozfft.plan are called themselves"
        )


def _asked(function: Callable[..., Any], x: Any, arguments: tuple, out: Any, options: Options) -> Any:
    """The transform of an array that has a say in it; see :mod:`ozfft._duck`."""
    name = function.__name__
    if name not in _duck.NAMES:
        _duck.reject(x)
        _duck.reject(out)
    chosen = options._asdict()
    if out is None and _duck.is_dask(x):
        lengths, axes, norm = arguments
        return _duck.later(name, function, x, lengths, axes, norm, chosen)

    def implementation(x: Any, *args: Any, **kwargs: Any) -> Any:
        return function(x, *args, **chosen, **kwargs)

    known = _duck.NumpysFunction(name, implementation, implementation)
    return _duck.ask(known, (x, out), (x, *arguments), {} if out is None else {"out": out})


def one_axis(
    function: Callable[..., Any],
    kind: Kind,
    x: Any,
    n: Optional[int],
    axis: int,
    norm: Optional[str],
    overwrite_x: bool,
    workers: Optional[int],
    plan: Any,
    out: Any,
    accuracy: Union[str, float, None],
    engine: Optional[str],
    device: Optional[str],
) -> Any:
    _reject_plan(plan)
    options = resolve(accuracy, engine, device, workers)
    call = None
    # Of these types only: 1.0 and True are equal to 1, and mean something else, or an error.
    plain = may_repeat(x) and type(axis) is int and (norm is None or type(norm) is str)
    if plain and n is None and out is None and not overwrite_x:
        call = (kind, axis, norm, options)
        result = repeated(call, x)
        if result is not None:
            return result
    scaling = norm_name(norm)
    if _duck.is_duck(x) or _duck.is_duck(out):
        return _asked(function, x, (n, axis, norm), out, options)
    library = library_of(x)
    array = library.array(x)
    rank = array.ndim
    points = array.shape[axis]
    if n is not None:
        n = operator.index(n)
    else:
        n = (points - 1) * 2 if kind.real_out else points
    if n < 1:
        raise ValueError(f"invalid number of data points ({n}) specified")
    result = transform(kind, library, array, (n,), (axis % rank,), scaling, options, overwrite=overwrite_x, out=out)
    if call is not None:
        remember(call, kind, library, x, result, [n], (axis % rank,), scaling, options)
    return result


def shape_and_axes(array: Any, s: Any, axes: Any) -> Tuple[List[int], List[int]]:
    """Lengths and axes of an n-dimensional transform, as scipy reads them."""
    rank = array.ndim
    if axes is not None:
        axes = [axis + rank if axis < 0 else axis for axis in integers(axes, "axes")]
        if any(axis >= rank or axis < 0 for axis in axes):
            raise ValueError("axes exceeds dimensionality of input")
        if len(set(axes)) != len(axes):
            raise ValueError("all axes must be unique")
    if s is None:
        axes = list(range(rank)) if axes is None else axes
        lengths = [array.shape[axis] for axis in axes]
    else:
        lengths = integers(s, "shape")
        if axes and len(axes) != len(lengths):
            raise ValueError("when given, axes and shape arguments have to be of the same length")
        if axes is None:
            if len(lengths) > rank:
                raise ValueError("shape requires more axes than are present")
            axes = list(range(rank - len(lengths), rank))
        lengths = [array.shape[axis] if n == -1 else n for n, axis in zip(lengths, axes)]
    if any(n < 1 for n in lengths):
        raise ValueError(f"invalid number of data points ({lengths}) specified")
    return lengths, axes


def many_axes(
    function: Callable[..., Any],
    kind: Kind,
    x: Any,
    s: Union[int, Sequence[int], None],
    axes: Union[int, Sequence[int], None],
    norm: Optional[str],
    overwrite_x: bool,
    workers: Optional[int],
    plan: Any,
    out: Any,
    accuracy: Union[str, float, None],
    engine: Optional[str],
    device: Optional[str],
) -> Any:
    _reject_plan(plan)
    options = resolve(accuracy, engine, device, workers)
    call = None
    plain = may_repeat(x) and (norm is None or type(norm) is str)
    known = axes is None or (type(axes) is tuple and all(type(axis) is int for axis in axes))
    if plain and known and s is None and out is None and not overwrite_x:
        call = (kind, axes, norm, options)
        result = repeated(call, x)
        if result is not None:
            return result
    if _duck.is_duck(x) or _duck.is_duck(out):
        return _asked(function, x, (s, axes, norm), out, options)
    library = library_of(x)
    array = library.array(x)
    lengths, numbered = shape_and_axes(array, s, axes)
    scaling = norm_name(norm)
    if not numbered:
        if kind.name == "c2c":
            return x if out is None else copied(library, array, out)
        raise ValueError("at least 1 axis must be transformed")
    if kind.real_out and s is None:
        lengths[-1] = (array.shape[numbered[-1]] - 1) * 2
        if lengths[-1] < 1:
            raise ValueError(f"invalid number of data points ({lengths[-1]}) specified")
    result = transform(kind, library, array, lengths, numbered, scaling, options, overwrite=overwrite_x, out=out)
    if call is not None:
        remember(call, kind, library, x, result, lengths, tuple(numbered), scaling, options)
    return result
