"""What the documentation of many functions has in common, written once."""

from __future__ import annotations

import inspect
from typing import Any, Callable, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

_TEXT = {
    "x": """x : array_like
    {x}. Arrays of numpy, CuPy and PyTorch, of any strides and byte order, and what numpy makes an array of. Single precision
    (float16, float32, complex64) is transformed in single precision, everything else in double precision; long doubles are
    rejected.""",
    "a": """a : array_like
    {x}. Arrays with a say in numpy's functions have it here as well; long doubles are left to numpy.""",
    "type": """type : {1, 2, 3, 4}, optional
    The kind of transform, as in scipy; 2 by default.""",
    "n": """n : int, optional
    Length of the {which}; longer input is cropped, shorter input is padded with zeros. By default, {default}.""",
    "axis": """axis : int, optional
    The axis that is transformed; the last one by default.""",
    "s": """s : int or sequence of int, optional
    Lengths of the {which} along `axes`; input is cropped or padded with zeros to them, -1 leaves a length as it is.
    By default, {default}.""",
    "axes": """axes : int or sequence of int, optional
    The axes that are transformed; {axes}.""",
    "norm": """norm : {"backward", "ortho", "forward"}, optional
    Which direction is scaled: the inverse one by the number of points ("backward", the default), both by its root
    ("ortho"), or the forward one ("forward").""",
    "overwrite_x": """overwrite_x : bool, optional
    Whether the memory of `x` may be used for the result.""",
    "workers": """workers : int, optional
    Threads that share the work; negative numbers count from the number of processors, -1 is all of them. The bits of the result
    do not depend on it.""",
    "orthogonalize": """orthogonalize : bool, optional
    Whether the first or last terms are scaled so that the matrix of the transform is orthogonal, as in scipy. By default, where
    `norm` is "ortho".""",
    "plan": """plan : None
    Here for the sake of scipy's signature; plans of :func:`ozfft.plan` are called themselves.""",
    "out": """out : array, optional
    The array that the result goes to, of any strides; it may be the input. By default, a new one.""",
    "accuracy": """accuracy : str or float, optional
    "double" (default), "single", a relative error such as 1e-10, or "bits:40". Fewer digits take less time.""",
    "engine": """engine : str, optional
    "digits" (default), "native" (RustFFT: no promise about bits), "auto", "residues", or "ntt".""",
    "device": """device : str, optional
    "cpu" (default), "cuda", "cuda:1" or "auto": where arrays in this machine's memory are transformed. Arrays on a GPU
    are transformed there.""",
}


def _indented(text: str, by: str) -> str:
    return "\n".join(by + line if line else line for line in text.splitlines())


def described(**words: str) -> Callable[[_Function], _Function]:
    """Puts the parameters of a function, with the given words in their places, where its documentation says ``{parameters}``."""

    def decorate(function: _Function) -> _Function:
        if function.__doc__:
            texts = []
            for name in inspect.signature(function).parameters:
                text = _TEXT[name]
                for word, value in words.items():
                    text = text.replace("{" + word + "}", value)
                texts.append(text)
            parameters = "Parameters\n----------\n" + "\n".join(texts)
            function.__doc__ = function.__doc__.replace("    {parameters}", _indented(parameters, "    "))
        return function

    return decorate
