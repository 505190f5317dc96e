"""Arrays on GPUs without a GPU: everything up to the call that would launch.

The fake libraries' "device memory" is this machine's, and the fake plan transforms it here, so that results are right only
if addresses, strides, offsets, types and shapes are.
"""

import contextlib
import ctypes
import sys
import types
from typing import NamedTuple

import numpy as np
import pytest

import ozfft
from ozfft import _calls, _driver, _execute, _foreign, _libraries, _ozfft, _repeated


@pytest.fixture
def launches(monkeypatch):
    """Plans for a GPU run on the processor, and what they were asked for is written down."""
    recorded = []

    class FakePlan:
        device_workspace = 4096

        def __init__(self, key):
            self.key = key
            self.plan = _ozfft.plan({**key, "device": "cpu"})

        def run_device(self, source, goal, workspace, stream):
            recorded.append({**self.key, "addresses": (source, goal), "workspace": workspace, "stream": stream})
            self.plan.run(source, goal)

    def plan(key):
        return FakePlan(key) if key["device"].startswith("cuda") else _ozfft.plan(key)

    fake = types.SimpleNamespace(plan=plan, prepared=_ozfft.prepared)
    monkeypatch.setattr(_execute, "_ozfft", fake)
    monkeypatch.setattr(_repeated, "_ozfft", fake)
    # The types of the fake libraries are forgotten with them.
    monkeypatch.setattr(_repeated, "_ways", dict(_repeated._ways))
    monkeypatch.setattr(_repeated, "_known", {})
    monkeypatch.setattr(_libraries, "_loaded", {})
    monkeypatch.setattr(_foreign, "is_recorded", lambda device, stream: False)
    monkeypatch.setattr(_foreign, "DeviceMemory", lambda device, size: types.SimpleNamespace(size=size, address=256))
    return recorded


class Device(NamedTuple):
    """A GPU, as PyTorch says it."""

    type: str
    index: int


class FakeArray:
    """What CuPy's and PyTorch's arrays have in common: memory of numpy, which nobody may look at but through them."""

    def __init__(self, memory):
        self.memory = memory

    shape = property(lambda self: self.memory.shape)
    ndim = property(lambda self: self.memory.ndim)

    def __getitem__(self, index):
        return type(self)(self.memory[index])

    def __setitem__(self, index, value):
        self.memory[index] = value.memory

    def __array__(self, *_, **__):
        raise TypeError("this array is on a GPU")


@pytest.fixture
def cupy(monkeypatch):
    module = types.ModuleType("cupy")

    class ndarray(FakeArray):
        dtype = property(lambda self: self.memory.dtype)
        strides = property(lambda self: self.memory.strides)
        itemsize = property(lambda self: self.memory.itemsize)
        data = property(lambda self: types.SimpleNamespace(ptr=self.memory.ctypes.data, device_id=self.device.id))
        flags = property(lambda self: types.SimpleNamespace(c_contiguous=self.memory.flags.c_contiguous))
        device = types.SimpleNamespace(id=1)

        def astype(self, dtype, copy=True):
            return self if dtype == self.dtype and not copy else ndarray(self.memory.astype(dtype))

        def copy(self):
            return ndarray(self.memory.copy())

    ndarray.__module__ = "cupy"
    module.ndarray = ndarray
    module.empty = lambda shape, dtype: ndarray(np.empty(shape, dtype))
    module.zeros = lambda shape, dtype: ndarray(np.zeros(shape, dtype))
    module.copyto = lambda out, result, casting: np.copyto(out.memory, result.memory, casting=casting)
    module.cuda = types.SimpleNamespace(
        Device=lambda number: contextlib.nullcontext(),
        get_current_stream=lambda: types.SimpleNamespace(ptr=module.stream),
        alloc=lambda size: types.SimpleNamespace(ptr=512, size=size),
        runtime=types.SimpleNamespace(getDevice=lambda: module.current, streamIsCapturing=lambda stream: stream == module.captured),
    )
    module.stream, module.captured, module.current = 77, None, 1
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


@pytest.fixture
def torch(monkeypatch):
    module = types.ModuleType("torch")
    names = "complex64 complex128 float16 float32 float64 bool uint8 int8 int16 int32 int64".split()
    for name in names + ["bfloat16"]:
        setattr(module, name, f"torch.{name}")
    module.strided, module.sparse_coo = "torch.strided", "torch.sparse_coo"
    numpy_types = {f"torch.{name}": np.dtype(name) for name in names}

    class Tensor(FakeArray):
        device = Device("cuda", 0)
        is_conj = is_neg = lambda self: False
        requires_grad = False
        layout = module.strided
        resolved = 0

        @property
        def dtype(self):
            return f"torch.{self.memory.dtype.name}"

        def resolve_conj(self):
            Tensor.resolved += 1
            return self

        def resolve_neg(self):
            return self

        def numpy(self):
            if self.dtype not in numpy_types:
                raise TypeError("Got unsupported ScalarType")
            return self.memory

        def to(self, dtype):
            return self if dtype == self.dtype else Tensor(self.memory.astype(numpy_types[dtype]))

        def stride(self):
            return tuple(stride // self.memory.itemsize for stride in self.memory.strides)

        def is_contiguous(self):
            return self.memory.flags.c_contiguous

        def element_size(self):
            return self.memory.itemsize

        def data_ptr(self):
            return self.memory.ctypes.data

        def clone(self):
            return Tensor(self.memory.copy())

        def copy_(self, other):
            self.memory[...] = other.memory

    Tensor.__module__ = "torch"
    module.Tensor = Tensor
    module.empty = lambda shape, dtype, device: Tensor(np.empty(shape, numpy_types[dtype]))
    module.zeros = lambda shape, dtype, device: Tensor(np.zeros(shape, numpy_types[dtype]))
    module.stream = 78
    module.cuda = types.SimpleNamespace(current_stream=lambda device: types.SimpleNamespace(cuda_stream=module.stream))
    module._C = types.SimpleNamespace()
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


def numbers(*shape):
    rng = np.random.default_rng(11)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


CALLS = {
    "fft": lambda wrap, x: ozfft.fft(wrap(x)),
    "strided": lambda wrap, x: ozfft.fft(wrap(x)[::2, ::-1]) if wrap is not None else ozfft.fft(x[::2, ::-1]),
    "cropped and padded": lambda wrap, x: ozfft.fftn(wrap(x), s=(4, 9)),
    "cropped": lambda wrap, x: ozfft.ifft(wrap(x), 5),
    "real": lambda wrap, x: ozfft.rfft2(wrap(x.real.copy())),
    "to real": lambda wrap, x: ozfft.irfft(wrap(x), 7, axis=0),
    "single": lambda wrap, x: ozfft.fft(wrap(x.astype(np.complex64)), norm="ortho"),
    "integers": lambda wrap, x: ozfft.fft(wrap(x.real.astype(np.int32))),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_results_have_the_library_of_their_input(request, launches, library, call):
    module = request.getfixturevalue(library)
    array = module.ndarray if library == "cupy" else module.Tensor
    x = numbers(6, 8)
    if library == "torch" and call == "strided":
        pytest.skip("tensors have no negative strides")
    expected = CALLS[call](lambda x: x, x)
    launched = len(launches)
    result = CALLS[call](array, x)
    assert isinstance(result, array)
    assert result.memory.dtype == expected.dtype and result.memory.tobytes() == expected.tobytes()
    (launch,) = launches[launched:]
    assert launch["stream"] == (77 if library == "cupy" else 78)
    assert launch["device"] == ("cuda:1" if library == "cupy" else "cuda:0")
    assert launch["workspace"] != 0


def test_nothing_is_copied(launches, cupy):
    x = cupy.ndarray(numbers(6, 8).T)
    out = cupy.ndarray(np.empty((8, 6), complex))
    expected = ozfft.fft(x.memory)
    assert ozfft.fft(x, out=out) is out
    assert launches[-1]["addresses"] == (x.memory.ctypes.data, out.memory.ctypes.data)
    assert launches[-1]["input"] == ((1, 8), 0) and launches[-1]["output"] == ((6, 1), 0)
    assert (out.memory == expected).all()
    assert ozfft.fft(x, overwrite_x=True) is x
    assert (x.memory == expected).all()
    assert len(set(launches[-1]["addresses"])) == 1


REPEATED = {
    "fft": (ozfft.fft, {}, "c16"),
    "ifft": (ozfft.ifft, {"axis": 0, "norm": "ortho"}, "c8"),
    "rfft": (ozfft.rfft, {"axis": -1}, "f8"),
    "irfft": (ozfft.irfft, {}, "c16"),
    "fftn": (ozfft.fftn, {}, "c16"),
    "rfft2": (ozfft.rfft2, {}, "f4"),
    "irfftn": (ozfft.irfftn, {"axes": (1, 0)}, "c16"),
}


@pytest.mark.parametrize("name", REPEATED)
@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_repeated_calls_go_straight_to_the_plan(request, monkeypatch, launches, library, name):
    module = request.getfixturevalue(library)
    array = module.ndarray if library == "cupy" else module.Tensor
    function, arguments, dtype = REPEATED[name]
    rng = np.random.default_rng(5)

    def check():
        memory = rng.standard_normal((6, 8)).astype(dtype)
        before = memory.tobytes()
        expected = function(memory, **arguments)
        launched = len(launches)
        result = function(array(memory), **arguments)
        (launch,) = launches[launched:]
        assert type(result) is array and memory.tobytes() == before
        assert result.memory.dtype == expected.dtype and result.memory.shape == expected.shape
        assert result.memory.tobytes() == expected.tobytes()
        assert launch["addresses"] == (memory.ctypes.data, result.memory.ctypes.data)
        assert launch["device"] == ("cuda:1" if library == "cupy" else "cuda:0")
        assert launch["stream"] == module.stream and launch["workspace"] != 0

    # The library is met, then the call is remembered.
    check()
    check()
    known = len(_repeated._known)
    worked_out = []
    original = _calls.transform

    def transform(kind, library, *rest, **options):
        worked_out.append(library.on_gpu)
        return original(kind, library, *rest, **options)

    monkeypatch.setattr(_calls, "transform", transform)
    for module.stream in (81, 0, 82):
        check()
    assert True not in worked_out
    assert len(_repeated._known) == known


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_calls_that_are_not_the_same_are_worked_out(request, launches, library):
    module = request.getfixturevalue(library)
    array = module.ndarray if library == "cupy" else module.Tensor
    x = numbers(8, 8)
    for _ in range(3):
        ozfft.fft(array(x))
    for memory in (x.T, x[:, ::2], x[:4], x.astype(np.complex64), x.real.copy(), x[:0]):
        for _ in range(2):
            expected = ozfft.fft(memory) if memory.size else memory
            assert ozfft.fft(array(memory)).memory.tobytes() == np.ascontiguousarray(expected).tobytes()
    with ozfft.options(accuracy="single"):
        ozfft.fft(array(x))
    assert launches[-1]["accuracy"] == "single"
    ozfft.fft(array(x))
    assert launches[-1]["accuracy"] == "double"
    ozfft.fft(array(x), norm="ortho")
    assert launches[-1]["norm"] == "ortho"
    result = ozfft.fft(array(x), overwrite_x=True)
    assert len(set(launches[-1]["addresses"])) == 1 and result.memory.tobytes() == ozfft.fft(numbers(8, 8)).tobytes()
    with pytest.raises(ozfft.DeviceError, match="the array is on cuda"):
        ozfft.fft(array(x), device="cpu")


def test_tensors_that_have_changed_are_worked_out(launches, torch):
    x = numbers(8)
    for _ in range(3):
        ozfft.fft(torch.Tensor(x))
    tensor = torch.Tensor(x)
    tensor.is_conj = lambda: True
    resolved = torch.Tensor.resolved
    ozfft.fft(tensor)
    assert torch.Tensor.resolved == resolved + 1
    tensor = torch.Tensor(x)
    tensor.requires_grad = True
    with pytest.raises(ozfft.DeviceError, match="detach"):
        ozfft.fft(tensor)
    torch.Tensor.device = Device("cuda", 1)
    ozfft.fft(torch.Tensor(x))
    assert launches[-1]["device"] == "cuda:1"
    # A tensor of this machine's memory has a type that is known by now.
    torch.Tensor.device = Device("cpu", 0)
    torch.from_numpy = torch.Tensor
    for _ in range(3):
        assert ozfft.fft(torch.Tensor(x)).memory.tobytes() == ozfft.fft(x).tobytes()


def test_torchs_stream_is_asked_the_short_way_where_there_is_one(launches, torch):
    torch._C._cuda_getCurrentRawStream = lambda index: 90 + index
    for _ in range(3):
        ozfft.fft(torch.Tensor(numbers(8)))
        assert launches[-1]["stream"] == 90


def test_an_array_on_another_device_than_cupys_is_worked_out(launches, cupy):
    x = numbers(8)
    for _ in range(3):
        ozfft.fft(cupy.ndarray(x))
    cupy.current = 0
    entered = []
    cupy.cuda.Device = lambda number: entered.append(number) or contextlib.nullcontext()
    assert ozfft.fft(cupy.ndarray(x)).memory.tobytes() == ozfft.fft(x).tobytes()
    assert set(entered) == {1}


def test_memory_in_recorded_graphs_is_not_given_back(launches, cupy):
    """CuPy's pool gave the workspace of a recorded call to the next array, which the graph wrote to whenever it ran."""
    x = numbers(6, 8)
    for _ in range(3):
        ozfft.fft(cupy.ndarray(x))
    kept = _libraries._loaded["cupy"].in_graphs
    assert kept == []
    cupy.captured = cupy.stream
    ozfft.fft(cupy.ndarray(x))
    ((workspace,),) = kept
    assert workspace.size == 4096
    # Worked out anew, and with numbers that had to be converted.
    ozfft.fft(cupy.ndarray(x.real.copy()), axis=0)
    (data, workspace) = kept[1]
    assert data.memory.dtype == np.complex128 and workspace.memory.nbytes == 4096
    cupy.cuda.runtime.streamIsCapturing = lambda stream: pytest.fail("the default stream cannot be recorded")
    cupy.stream = 0
    ozfft.fft(cupy.ndarray(x))
    assert len(kept) == 2


def test_unknown_libraries_have_no_memory_for_graphs(launches, monkeypatch):
    monkeypatch.setattr(_foreign, "is_recorded", lambda device, stream: stream == 5)
    x, out = numbers(8), np.empty(8, complex)
    ozfft.fft(Interface(x, stream=6), out=Interface(out))
    launched = len(launches)
    with pytest.raises(ozfft.DeviceError, match="recorded.*CuPy or PyTorch"):
        ozfft.fft(Interface(x, stream=5), out=Interface(out))
    assert len(launches) == launched


def test_the_driver_is_asked_whether_a_stream_is_recorded(monkeypatch):
    def status(stream, place):
        place._obj.value = int(stream.value == 5)
        return 0

    names = "cuInit cuDevicePrimaryCtxRetain cuCtxPushCurrent_v2 cuCtxPopCurrent_v2 cuDevicePrimaryCtxRelease_v2".split()
    driver = types.SimpleNamespace(cuStreamIsCapturing=status, **{name: lambda *_: 0 for name in names})
    monkeypatch.setattr(_driver, "_driver", lambda: driver)
    assert _driver.is_recorded(0, 5) and not _driver.is_recorded(0, 6)
    monkeypatch.setattr(_driver, "_driver", lambda: pytest.fail("the default stream cannot be recorded"))
    assert not _driver.is_recorded(0, 0) and not _driver.is_recorded(0, 1)


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_numpys_functions_take_arrays_on_gpus_as_well(request, launches, library):
    module = request.getfixturevalue(library)
    array = module.ndarray if library == "cupy" else module.Tensor
    if library == "cupy":
        # Its arrays have a say in numpy's functions, and would compute themselves.
        array.__array_function__ = lambda *_: pytest.fail("somebody else was asked to compute")
    x = numbers(6, 8)
    for name, arguments in (("fft", {"n": 5}), ("ifft2", {}), ("fftn", {"axes": (0, 0)})):
        result = getattr(ozfft.numpy_fft, name)(array(x), **arguments)
        assert isinstance(result, array)
        assert result.memory.tobytes() == getattr(ozfft.numpy_fft, name)(x, **arguments).tobytes()


@pytest.mark.parametrize("device", ["cuda", "cpu"])
def test_tensors_that_numpy_cannot_read_are_rejected_in_ozffts_words(launches, torch, device):
    torch.Tensor.device = Device(device, 0)
    tensor = torch.Tensor(numbers(8))
    tensor.requires_grad = True
    for module in (ozfft, ozfft.numpy_fft):
        with pytest.raises(ozfft.DeviceError, match="detach"):
            module.fft(tensor)
    sparse = torch.Tensor(numbers(8))
    sparse.layout = torch.sparse_coo
    with pytest.raises(ozfft.LayoutError, match="to_dense"):
        ozfft.fft(sparse)
    brain = torch.Tensor(np.zeros(8))
    torch.Tensor.dtype = property(lambda self: torch.bfloat16)
    with pytest.raises(ozfft.DtypeError, match="bfloat16.*torch.float32"):
        ozfft.fft(brain)
    torch.Tensor.device = Device("meta", 0)
    with pytest.raises(ozfft.DeviceError, match="cpu or cuda"):
        ozfft.fft(brain)


@pytest.mark.parametrize("call", [lambda x: ozfft.dct(x), lambda x: ozfft.fftconvolve(x, x), lambda x: ozfft.dstn(x)])
def test_unsupported_options_for_gpu_arrays_are_reported(launches, cupy, call):
    with pytest.raises(ozfft.UnsupportedError, match="GPU.*copy"):
        call(cupy.ndarray(np.ones((4, 4))))


def test_tensors_with_gradients_and_other_types_are_rejected(launches, torch):
    tensor = torch.Tensor(numbers(8))
    tensor.requires_grad = True
    with pytest.raises(ozfft.DeviceError, match="detach"):
        ozfft.fft(tensor)
    half = torch.Tensor(np.zeros(8))
    type(half).dtype = property(lambda self: torch.bfloat16)
    with pytest.raises(ozfft.DtypeError, match="bfloat16"):
        ozfft.fft(half)


def test_the_device_is_the_arrays(launches, cupy):
    with pytest.raises(ozfft.DeviceError, match="cuda:1"):
        ozfft.fft(cupy.ndarray(numbers(8)), device="cpu")
    ozfft.fft(cupy.ndarray(numbers(8)), device="auto")


class Interface:
    """An array of an unknown library with ``__cuda_array_interface__``."""

    def __init__(self, memory, stream=None, strides=True):
        self.memory = memory
        address, read_only = memory.__array_interface__["data"]
        self.__cuda_array_interface__ = {
            "shape": memory.shape,
            "typestr": memory.dtype.str,
            "data": (address, read_only),
            "strides": memory.strides if strides else None,
            "stream": stream,
            "version": 3,
        }


class Exporter:
    """An array of an unknown library with ``__dlpack__``. numpy makes the capsule; the device is changed in it."""

    def __init__(self, memory, number=2):
        self.memory = memory
        self.number = number
        self.asked = None

    def __dlpack_device__(self):
        return (2, self.number)

    def __dlpack__(self, stream=None):
        self.asked = stream
        capsule = self.memory.__dlpack__()
        tensor = _foreign._Tensor.from_address(_foreign._capsule_pointer(capsule, b"dltensor"))
        tensor.device.type, tensor.device.number = 2, self.number
        return capsule


def test_unknown_libraries_by_cuda_array_interface(launches):
    x = numbers(6, 8)
    for source in (Interface(x, stream=5, strides=False), Interface(x[::2, ::-1], stream=2), Interface(x.T)):
        out = np.empty(source.memory.shape, complex)
        wrapped = Interface(out)
        assert ozfft.fft(source, out=wrapped) is wrapped
        assert out.tobytes() == ozfft.fft(source.memory).tobytes()
        assert launches[-1]["stream"] == (source.__cuda_array_interface__["stream"] or 0)
        assert launches[-1]["workspace"] == 256


def test_the_device_of_a_cuda_array_interface_is_that_of_its_memory(launches, monkeypatch):
    """It was GPU 0 for every array."""
    x, out = numbers(8), np.empty(8, complex)
    addresses = [array.__array_interface__["data"][0] for array in (x, out)]

    def attribute(place, which, address):
        assert which == 9 and address.value in addresses
        place._obj.value = 3
        return 0

    driver = types.SimpleNamespace(cuInit=lambda flags: 0, cuPointerGetAttribute=attribute)
    monkeypatch.setattr(_driver, "_driver", lambda: driver)
    ozfft.fft(Interface(x), out=Interface(out))
    assert launches[-1]["device"] == "cuda:3"
    with pytest.raises(ozfft.DeviceError, match="the array is on cuda:3"):
        ozfft.fft(Interface(x), out=Interface(out), device="cuda:1")
    # What the driver does not know is taken for the first GPU's.
    driver.cuPointerGetAttribute = lambda place, which, address: 1
    ozfft.fft(Interface(x), out=Interface(out))
    assert launches[-1]["device"] == "cuda:0"


def test_arrays_of_unknown_libraries_are_cropped_where_they_lie(launches):
    x, out = numbers(6, 8), np.empty((6, 5), complex)
    ozfft.fft(Interface(x), 5, out=Interface(out))
    assert out.tobytes() == ozfft.fft(x, 5).tobytes()


def test_unknown_libraries_by_dlpack(launches):
    x = numbers(6, 8)
    for memory in (x, x[:, ::2], x.real.copy(), x.astype(np.complex64)):
        source = Exporter(memory)
        function = ozfft.fft if memory.dtype.kind == "c" else ozfft.rfft
        expected = function(memory)
        out = Exporter(np.empty_like(expected))
        assert function(source, out=out) is out
        assert out.memory.tobytes() == expected.tobytes()
        assert source.asked == 1 and launches[-1]["stream"] == 0
        assert launches[-1]["device"] == "cuda:2"


def test_unsupported_options_for_unknown_libraries_are_reported(launches):
    x = numbers(6, 8)
    for call, error, text in [
        (lambda: ozfft.fft(Interface(x)), ozfft.LayoutError, r"pass out=.*\(6, 8\).*complex128"),
        (lambda: ozfft.fft(Interface(x), 9, out=Interface(np.empty((6, 9), complex))), ozfft.LayoutError, "padded"),
        (lambda: ozfft.fft(Interface(x.real), out=Interface(x)), ozfft.DtypeError, "complex128 is needed"),
        (lambda: ozfft.fft(Interface(x), out=Interface(np.empty((6, 7), complex))), ozfft.LayoutError, "wrong shape"),
        (lambda: ozfft.fft(Exporter(np.zeros(4, np.int16))), ozfft.DtypeError, "DLPack"),
    ]:
        with pytest.raises(error, match=text):
            call()


def test_without_a_driver_the_error_says_so():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        pass
    else:
        pytest.skip("there is a driver: test_gpu.py does the rest")
    x = numbers(8)
    with pytest.raises(ozfft.DeviceError, match="driver"):
        ozfft.fft(Interface(x), out=Interface(x.copy()))
    with pytest.raises(ozfft.DeviceError, match="driver"):
        ozfft.fft(x, device="cuda")
    assert ozfft.plan(8, device="auto").device == "cpu"
