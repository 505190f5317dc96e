"""Arrays of several libraries: what is needed of each to read, allocate and hand over memory.

A library answers a few questions and makes a few arrays; everything else is the same for all of them. What comes in is
what goes out: results are arrays of the library that the input is of.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, Optional, Sequence, Tuple

import numpy

from ._errors import DeviceError, DtypeError, LayoutError

# Real and complex types by the size of a real number: f4, f8.
_REAL: dict[str, numpy.dtype] = {"f4": numpy.dtype(numpy.float32), "f8": numpy.dtype(numpy.float64)}
_COMPLEX: dict[str, numpy.dtype] = {"f4": numpy.dtype(numpy.complex64), "f8": numpy.dtype(numpy.complex128)}


class Memory(NamedTuple):
    """Where the elements of an array lie. Strides are in bytes."""

    address: int
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    itemsize: int

    def layout(self) -> Tuple[Tuple[int, ...], int]:
        """Strides in elements, and the number of elements before the first one, because of negative strides."""
        return _layout(self.shape, self.strides, self.itemsize)

    def low(self) -> int:
        """The address of the lowest element."""
        return self.address - self.layout()[1] * self.itemsize


@functools.lru_cache(maxsize=4096)
def _layout(shape: Tuple[int, ...], byte_strides: Tuple[int, ...], itemsize: int) -> Tuple[Tuple[int, ...], int]:
    """See :meth:`Memory.layout`; programs transform arrays of few layouts many times.

    The stride of a dimension of one element means nothing; it is made to be what it would be in an array without gaps, so
    that equal arrays have equal layouts.
    """
    strides = []
    step = 1
    before = 0
    for n, stride in zip(reversed(shape), reversed(byte_strides)):
        stride = step if n == 1 else stride // itemsize
        strides.append(stride)
        step = stride * n
        if stride < 0:
            before -= stride * (n - 1)
    return tuple(reversed(strides)), before


def precision_of(dtype: numpy.dtype) -> str:
    """``f4`` or ``f8``: the type in which scipy and numpy transform numbers of this type."""
    name = dtype.str[1:]
    if name in ("c8", "f4", "f2"):
        return "f4"
    if name in ("c16", "f8") or dtype.kind in "biu":
        return "f8"
    if dtype.kind in "fc":
        raise DtypeError(
            f"{dtype} has more digits than double precision, which ozfft would lose; "
            "convert it to float64 or complex128, or take numpy.fft or scipy.fft"
        )
    # Objects and texts are numbers if numpy can make numbers of them.
    return "f8"


def wanted_dtype(dtype: numpy.dtype, real: bool) -> numpy.dtype:
    """The type that an input of `dtype` is transformed in."""
    return (_REAL if real else _COMPLEX)[precision_of(dtype)]


def output_dtype(input_dtype: numpy.dtype, real: bool) -> numpy.dtype:
    """The type of the result of an input of `input_dtype`, which is one of the four."""
    return (_REAL if real else _COMPLEX)["f4" if input_dtype.str[1:] in ("c8", "f4") else "f8"]


class Numpy:
    """Arrays of numpy, and everything that numpy makes an array of."""

    on_gpu = False

    def array(self, x: Any) -> numpy.ndarray:
        return numpy.asarray(x)

    def dtype(self, x: numpy.ndarray) -> numpy.dtype:
        return x.dtype

    def convert(self, x: numpy.ndarray, dtype: numpy.dtype) -> numpy.ndarray:
        """`x` itself if it is of this type, aligned, and in this machine's byte order; else a copy."""
        usable = x.flags.aligned and all(
            stride % x.itemsize == 0 for n, stride in zip(x.shape, x.strides) if n > 1
        )
        if x.dtype == dtype and usable:
            return x
        return x.astype(dtype, order="K", copy=True, subok=False)

    def empty(self, like: numpy.ndarray, shape: Sequence[int], dtype: numpy.dtype) -> numpy.ndarray:
        """Memory in the order of `like`."""
        return numpy.empty_like(like, dtype=dtype, shape=tuple(shape), subok=False)

    def cropped(self, x: numpy.ndarray, index: tuple) -> numpy.ndarray:
        return x[index]

    def padded(self, x: numpy.ndarray, shape: Sequence[int], index: tuple) -> numpy.ndarray:
        zeros = numpy.zeros_like(x, shape=tuple(shape), subok=False)
        zeros[index] = x[index]
        return zeros

    def memory(self, x: numpy.ndarray) -> Memory:
        return Memory(x.__array_interface__["data"][0], x.shape, x.strides, x.itemsize)

    def writable(self, x: numpy.ndarray) -> bool:
        return x.flags.writeable

    def shares(self, x: numpy.ndarray, out: numpy.ndarray) -> bool:
        return numpy.may_share_memory(x, out)

    def copy(self, x: numpy.ndarray) -> numpy.ndarray:
        return x.copy(order="K")

    def assign(self, out: numpy.ndarray, result: numpy.ndarray) -> None:
        numpy.copyto(out, result, casting="same_kind")


class Gpu:
    """What is the same for all libraries with arrays on GPUs."""

    on_gpu = True

    def memory(self, x: Any) -> Memory:
        raise NotImplementedError

    def cropped(self, x: Any, index: tuple) -> Any:
        return x[index]

    def shares(self, x: Any, out: Any) -> bool:
        """Whether the spans of memory of two arrays meet."""
        spans = []
        for memory in (self.memory(x), self.memory(out)):
            begin = memory.low()
            reach = sum(abs(stride) * (n - 1) for n, stride in zip(memory.shape, memory.strides))
            spans.append((begin, begin + reach + memory.itemsize))
        return spans[0][0] < spans[1][1] and spans[1][0] < spans[0][1]

    def keep_for_graph(self, stream: int, *memory: Any) -> None:
        """Keeps memory that a call has made for itself, where the stream is being recorded and the recording goes on to use it."""


def interface_memory(interface: dict) -> Memory:
    """The memory that a ``__cuda_array_interface__`` describes."""
    shape = tuple(interface["shape"])
    itemsize = numpy.dtype(interface["typestr"]).itemsize
    strides = interface.get("strides")
    if strides is None:
        strides = contiguous_strides(shape, itemsize)
    return Memory(interface["data"][0], shape, tuple(strides), itemsize)


def contiguous_strides(shape: Sequence[int], itemsize: int) -> Tuple[int, ...]:
    strides = []
    step = itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


class Cupy(Gpu):
    """Arrays of CuPy, in CuPy's current stream."""

    def __init__(self) -> None:
        import cupy

        self.cupy = cupy
        self.in_graphs: list = []

    def array(self, x: Any) -> Any:
        return x

    def dtype(self, x: Any) -> numpy.dtype:
        return numpy.dtype(x.dtype)

    def convert(self, x: Any, dtype: numpy.dtype) -> Any:
        return x.astype(dtype, copy=False)

    def empty(self, like: Any, shape: Sequence[int], dtype: numpy.dtype) -> Any:
        with self.cupy.cuda.Device(like.device.id):
            return self.cupy.empty(tuple(shape), dtype=dtype)

    def padded(self, x: Any, shape: Sequence[int], index: tuple) -> Any:
        with self.cupy.cuda.Device(x.device.id):
            zeros = self.cupy.zeros(tuple(shape), dtype=x.dtype)
            zeros[index] = x[index]
        return zeros

    def copy(self, x: Any) -> Any:
        return x.copy()

    def assign(self, out: Any, result: Any) -> None:
        self.cupy.copyto(out, result, casting="same_kind")

    def device(self, x: Any) -> int:
        return int(x.device.id)

    def stream(self, x: Any) -> int:
        with self.cupy.cuda.Device(x.device.id):
            return int(self.cupy.cuda.get_current_stream().ptr)

    def workspace(self, x: Any, size: int) -> Tuple[Any, int]:
        workspace = self.empty(x, (size,), numpy.dtype(numpy.uint8))
        return workspace, int(workspace.data.ptr)

    def keep_for_graph(self, stream: int, *memory: Any) -> None:
        # CuPy's pool would give it to somebody else, whose array the graph would write to. Nobody says when a graph is gone. (PyTorch has
        # a pool of its own for every graph; the default stream cannot be recorded.)
        if stream and self.cupy.cuda.runtime.streamIsCapturing(stream):
            self.in_graphs.append(memory)

    def memory(self, x: Any) -> Memory:
        return Memory(int(x.data.ptr), tuple(x.shape), tuple(x.strides), int(x.itemsize))

    def writable(self, x: Any) -> bool:
        return True


def readable_tensor(torch: Any, x: Any) -> Any:
    """A tensor whose numbers lie in memory as its strides say."""
    if x.requires_grad:
        raise DeviceError("ozfft computes no gradients; pass tensor.detach(), or take torch.fft where gradients are needed")
    if x.layout is not torch.strided:
        raise LayoutError(f"a tensor of layout {x.layout} cannot be transformed; pass tensor.to_dense()")
    # Conjugates and negatives are views that have not been computed yet.
    return x.resolve_conj().resolve_neg()


def reject_tensor_dtype(x: Any) -> None:
    raise DtypeError(f"{x.dtype} is not a type that ozfft transforms; convert it to torch.float32 or torch.float64")


class Torch(Gpu):
    """Tensors of PyTorch on a GPU, in PyTorch's current stream. Gradients are not passed on."""

    def __init__(self) -> None:
        import torch

        self.torch = torch
        self.dtypes = {
            torch.complex64: numpy.complex64,
            torch.complex128: numpy.complex128,
            torch.float16: numpy.float16,
            torch.float32: numpy.float32,
            torch.float64: numpy.float64,
            torch.bool: numpy.bool_,
            torch.uint8: numpy.uint8,
            torch.int8: numpy.int8,
            torch.int16: numpy.int16,
            torch.int32: numpy.int32,
            torch.int64: numpy.int64,
        }
        self.types = {numpy.dtype(value): key for key, value in self.dtypes.items()}
        # What current_stream asks, without making an object of it: the half of a call's microseconds there. Not a public name.
        self.raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)

    def array(self, x: Any) -> Any:
        return readable_tensor(self.torch, x)

    def dtype(self, x: Any) -> numpy.dtype:
        if x.dtype not in self.dtypes:
            reject_tensor_dtype(x)
        return numpy.dtype(self.dtypes[x.dtype])

    def convert(self, x: Any, dtype: numpy.dtype) -> Any:
        return x.to(self.types[dtype])

    def empty(self, like: Any, shape: Sequence[int], dtype: numpy.dtype) -> Any:
        return self.torch.empty(tuple(shape), dtype=self.types[dtype], device=like.device)

    def padded(self, x: Any, shape: Sequence[int], index: tuple) -> Any:
        zeros = self.torch.zeros(tuple(shape), dtype=x.dtype, device=x.device)
        zeros[index] = x[index]
        return zeros

    def copy(self, x: Any) -> Any:
        return x.clone()

    def assign(self, out: Any, result: Any) -> None:
        out.copy_(result)

    def device(self, x: Any) -> int:
        return int(x.device.index)

    def stream(self, x: Any) -> int:
        if self.raw_stream is not None:
            return int(self.raw_stream(x.device.index))
        return int(self.torch.cuda.current_stream(x.device).cuda_stream)

    def workspace(self, x: Any, size: int) -> Tuple[Any, int]:
        workspace = self.torch.empty(size, dtype=self.torch.uint8, device=x.device)
        return workspace, int(workspace.data_ptr())

    def memory(self, x: Any) -> Memory:
        itemsize = x.element_size()
        return Memory(x.data_ptr(), tuple(x.shape), tuple(stride * itemsize for stride in x.stride()), itemsize)

    def writable(self, x: Any) -> bool:
        return True


class TorchOnProcessor(Numpy):
    """Tensors of PyTorch in this machine's memory, which numpy can look at."""

    def __init__(self) -> None:
        import torch

        self.torch = torch

    def array(self, x: Any) -> numpy.ndarray:
        if isinstance(x, numpy.ndarray):
            return x
        tensor = readable_tensor(self.torch, x)
        try:
            return tensor.numpy()
        except TypeError:
            # Types that numpy does not have, bfloat16 among them.
            reject_tensor_dtype(tensor)
            raise


NUMPY = Numpy()


def is_torch(library: Any) -> Optional[Any]:
    """PyTorch itself, where results of numpy have to be made tensors of it."""
    return library.torch if isinstance(library, TorchOnProcessor) else None
