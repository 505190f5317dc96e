"""Arrays on a GPU: CuPy, PyTorch, and the two protocols, against the processor's bits and against cuFFT.

    python3 python/tests/test_gpu.py            # needs an NVIDIA GPU, and CuPy or PyTorch; no pytest

Says what was left out where there is no GPU or no library.
"""

import ctypes
import os
import sys
import threading

import numpy as np

import ozfft
from ozfft import _ozfft

SEED = 5
SHAPES = [
    ((64, 1024), (1,)),
    ((3, 1000), (1,)),
    ((5, 1009), (1,)),
    ((7, 4096), (1,)),
    ((33, 7, 128), (0, 2)),
    ((64, 64, 64), (0, 1, 2)),
    ((256, 256), (0,)),
    ((1, 1), (1,)),
]
KINDS = {"fftn": "c", "ifftn": "c", "rfftn": "f", "irfftn": "c", "hfftn": "c", "ihfftn": "f"}


def numbers(shape, kind, size):
    rng = np.random.default_rng(SEED)
    x = rng.standard_normal(shape)
    if kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(f"{kind}{size * (2 if kind == 'c' else 1)}")


class Cupy:
    name = "CuPy"

    def __init__(self):
        import cupy

        self.module = cupy
        cupy.cuda.runtime.getDeviceCount()
        cupy.zeros(1)

    def put(self, x):
        return self.module.asarray(x)

    def get(self, x):
        return self.module.asnumpy(x)

    def empty(self, like):
        return self.module.empty(like.shape, like.dtype)

    def theirs(self, name, x, **arguments):
        return getattr(self.module.fft, name)(x, **arguments)

    def is_own(self, x):
        return isinstance(x, self.module.ndarray)

    def address(self, x):
        return x.data.ptr

    def stream(self):
        return self.module.cuda.Stream(non_blocking=True)

    def synchronize(self):
        self.module.cuda.Device().synchronize()

    def recorded(self, call):
        """The result of a call that is recorded and not done, and what does it."""
        stream = self.module.cuda.Stream(non_blocking=True)
        with stream:
            call()
            stream.begin_capture()
            result = call()
            graph = stream.end_capture()

        def run():
            self.synchronize()
            graph.launch(stream)
            stream.synchronize()

        return result, run

    def events(self):
        return [self.module.cuda.Event() for _ in range(2)]

    def elapsed(self, events):
        events[1].synchronize()
        return self.module.cuda.get_elapsed_time(*events)


class Torch:
    name = "PyTorch"

    def __init__(self):
        import torch

        self.module = torch
        torch.zeros(1, device="cuda")

    def put(self, x):
        return self.module.from_numpy(np.ascontiguousarray(x)).cuda()

    def get(self, x):
        return x.resolve_conj().cpu().numpy()

    def empty(self, like):
        return self.module.empty_like(self.put(like))

    def theirs(self, name, x, axes):
        return getattr(self.module.fft, name)(x, dim=axes)

    def is_own(self, x):
        return isinstance(x, self.module.Tensor) and x.is_cuda

    def address(self, x):
        return x.data_ptr()

    def stream(self):
        return self.module.cuda.stream(self.module.cuda.Stream())

    def synchronize(self):
        self.module.cuda.synchronize()

    def recorded(self, call):
        stream = self.module.cuda.Stream()
        with self.module.cuda.stream(stream):
            call()
        self.synchronize()
        graph = self.module.cuda.CUDAGraph()
        with self.module.cuda.graph(graph, stream=stream):
            result = call()

        def run():
            graph.replay()
            self.synchronize()

        return result, run

    def events(self):
        return [self.module.cuda.Event(enable_timing=True) for _ in range(2)]

    def elapsed(self, events):
        events[1].synchronize()
        return events[0].elapsed_time(events[1])


def check(condition, what):
    if not condition:
        raise SystemExit(f"FAILED: {what}")
    check.count += 1


check.count = 0


def compare_kinds(library):
    """Every kind, shape and precision: the processor's bits, and about cuFFT's numbers."""
    for shape, axes in SHAPES:
        for name, kind in KINDS.items():
            if name in ("irfftn", "hfftn") and shape[axes[-1]] == 1:
                continue
            for size in (8, 4):
                x = numbers(shape, kind, size)
                what = f"{library.name} {name} {shape} {axes} f{size}"
                if name in ("irfftn", "hfftn"):
                    # Any half-spectrum has the processor's bits; cuFFT has an answer only for those of real arrays.
                    found = library.get(getattr(ozfft, name)(library.put(x), axes=axes))
                    check(found.tobytes() == getattr(ozfft, name)(x, axes=axes).tobytes(), f"{what}: any half-spectrum")
                    x = ozfft.rfftn(numbers(shape, "f", size), axes=axes)
                expected = getattr(ozfft, name)(x, axes=axes)
                result = getattr(ozfft, name)(library.put(x), axes=axes)
                check(library.is_own(result), f"{what}: result is {type(result)}")
                found = library.get(result)
                check(found.dtype == expected.dtype and found.shape == expected.shape, f"{what}: {found.dtype} {found.shape}")
                check(found.tobytes() == np.ascontiguousarray(expected).tobytes(), f"{what}: other bits than the processor's")
                if hasattr(library.module.fft, name):
                    theirs = library.get(library.theirs(name, library.put(x), axes=axes))
                    difference = np.linalg.norm(theirs - found) / np.linalg.norm(found)
                    # cuFFT's own error, which grows with log n: a few units in the last place.
                    check(difference < 60 * np.finfo(found.dtype).eps, f"{what}: {difference:.1e} from cuFFT")


def layouts(library):
    x = numbers((48, 256), "c", 8)
    there = library.put(x)
    for what, view, same in [
        ("transposed", there.T, x.T),
        ("every other", there[::2, ::4], x[::2, ::4]),
        ("part", there[3:40, 16:], x[3:40, 16:]),
    ]:
        for axis in (0, 1):
            found = library.get(ozfft.fft(view, axis=axis))
            check(found.tobytes() == ozfft.fft(same, axis=axis).copy().tobytes(), f"{library.name} {what} axis {axis}")
    check(library.get(ozfft.fft(there, 100)).tobytes() == ozfft.fft(x, 100).tobytes(), "cropped")
    check(library.get(ozfft.fft(there, 300)).tobytes() == ozfft.fft(x, 300).tobytes(), "padded")
    if library.name == "CuPy":
        check(library.get(ozfft.fft(there[::-1])).tobytes() == ozfft.fft(x[::-1].copy()).tobytes(), "negative strides")
    else:
        check(library.get(ozfft.fft(there.conj())).tobytes() == ozfft.fft(x.conj()).tobytes(), "lazy conjugate")
        back = ozfft.fft(library.module.from_numpy(x.copy()))
        check(not back.is_cuda and back.numpy().tobytes() == ozfft.fft(x).tobytes(), "a tensor on the processor")


def no_copies(library):
    x = numbers((64, 1024), "c", 8)
    there, out = library.put(x), library.empty(x)
    expected = ozfft.fft(x).tobytes()
    check(ozfft.fft(there, out=out) is out and library.get(out).tobytes() == expected, "out")
    check(library.get(there).tobytes() == x.tobytes(), "the input is kept")
    again = ozfft.fft(there, overwrite_x=True)
    check(library.address(again) == library.address(there) and library.get(again).tobytes() == expected, "in place")


def streams(library):
    """Work in a stream of the caller's, behind work that takes a while."""
    x = numbers((4096, 1024), "c", 8)
    expected = ozfft.fft(2 * x).tobytes()
    there = library.put(x)
    library.synchronize()
    with library.stream():
        doubled = there
        for _ in range(50):
            doubled = doubled * 1.0
        result = ozfft.fft(doubled + there)
        found = library.get(result)
    check(found.tobytes() == expected, f"{library.name}: a stream of the caller's")


def threads(library):
    x = numbers((256, 1000), "c", 8)
    expected = ozfft.fft(x).tobytes()
    there = library.put(x)
    library.synchronize()
    wrong = []

    def work():
        for _ in range(10):
            if library.get(ozfft.fft(there)).tobytes() != expected:
                wrong.append(1)

    all_threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()
    check(not wrong, f"{library.name}: threads at once")


def graphs(library):
    """Calls in a graph that the caller records and repeats with other numbers, while other arrays come and go."""
    for shape, name in [((1024,), "fft"), ((5, 2048), "fft"), ((1 << 16,), "fft"), ((64, 48), "fftn"), ((4, 67), "fft"), ((3, 90), "rfft")]:
        function = getattr(ozfft, name)
        kind = "f" if name == "rfft" else "c"
        there = library.put(numbers(shape, kind, 8))
        library.synchronize()
        result, run = library.recorded(lambda: function(there))
        others = [library.put(np.full(size, 3.0)) for size in (1, 64, 512, 4096, 1 << 15, 1 << 18, 1 << 20) for _ in range(3)]
        for factor in (1.0, -0.5, 3.0):
            x = factor * numbers(shape, kind, 8)
            there[...] = library.put(x)
            run()
            expected = np.ascontiguousarray(function(x)).tobytes()
            check(library.get(result).tobytes() == expected, f"{library.name} {name} {shape}: a recorded call")
            # And calls outside of the recording are as before.
            check(library.get(function(there)).tobytes() == expected, f"{library.name} {name} {shape}: beside a graph")
        for other in others:
            check((library.get(other) == 3.0).all(), f"{library.name} {name} {shape}: a graph wrote to another array")


class Interface:
    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


class Exporter:
    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__(stream=stream)


def protocols(library):
    x = numbers((48, 250), "c", 8)
    expected = ozfft.fft(x).tobytes()
    for wrapper in (Interface, Exporter):
        source, out = library.put(x), library.empty(x)
        library.synchronize()
        wrapped = wrapper(out)
        check(ozfft.fft(wrapper(source), out=wrapped) is wrapped, wrapper.__name__)
        library.synchronize()
        check(library.get(out).tobytes() == expected, f"{library.name} by {wrapper.__name__}")


def host_arrays():
    x = numbers((64, 1024), "c", 8)
    check(ozfft.fft(x, device="cuda").tobytes() == ozfft.fft(x).tobytes(), "host arrays")
    check(ozfft.plan((64, 1024), axes=1, device="auto").device == "cuda:0", "auto")
    try:
        ozfft.fft(x, device="cuda:99")
    except ozfft.DeviceError:
        check(True, "")
    else:
        check(False, "device cuda:99 is no error")


def exact_convolutions():
    """By the GPU's kernels, against the processor: the same integers."""
    rng = np.random.default_rng(SEED)
    for shapes, axes in [(((3000,), (700,)), None), (((40, 50), (3, 5)), None), (((6, 500), (1, 300)), 1), (((1,), (1,)), None)]:
        a, b = (rng.integers(-(2**20), 2**20, shape) for shape in shapes)
        for kind in (np.int64, np.int32, object):
            for call in (ozfft.convolve_exact, ozfft.correlate_exact):
                expected = call(a.astype(kind), b, axes=axes)
                for route in (None, "ntt") if kind is not object else (None,):
                    found = call(a.astype(kind), b, axes=axes, route=route, device="cuda")
                    check((found == expected).all() and found.dtype == expected.dtype, f"{call.__name__} of {shapes}, {kind}")
    try:
        ozfft.convolve_exact([1, 2], [3], route="direct", device="cuda")
        check(False, "a route without kernels was taken")
    except ozfft.UnsupportedError as error:
        check("device=\"cpu\"" in str(error), str(error))
    x, y = numbers((50, 60), "f", 8), numbers((5, 6), "f", 8)
    on_gpu, here = (ozfft.fftconvolve(x, y, device=device, return_bound=True) for device in ("cuda", "cpu"))
    check(on_gpu[0].tobytes() == here[0].tobytes() and on_gpu[1] == here[1], "fftconvolve with its bound")


def times(library):
    """Milliseconds from one call in Python to the next, ten in a row, after warming up: the best of five rows."""
    print(f"\n{library.name}: ms from call to call, theirs (cuFFT) and ozfft")
    for shape, axes in [
        ((1 << 16, 1024), (1,)),
        ((512, 512, 512), (0, 1, 2)),
        ((64, 64, 64), (0, 1, 2)),
        ((1024, 1024), (0, 1)),
        ((64, 64), (0, 1)),
        ((1024,), (0,)),
    ]:
        x = library.put(numbers((1, shape[-1]), "c", 8))
        x = (x * library.put(np.ones(shape[:-1] + (1,)))).reshape(shape)
        took = []
        for call in (lambda: library.theirs("fftn", x, axes=axes), lambda: ozfft.fftn(x, axes=axes)):
            best = float("inf")
            for _ in range(6):
                events = library.events()
                events[0].record()
                for _ in range(10):
                    call()
                events[1].record()
                best = min(best, library.elapsed(events) / 10)
            took.append(best)
        print(f"  {str(shape):20} {took[0]:8.3f} {took[1]:8.3f}  ({took[1] / took[0]:.2f})")


def main():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError as reason:
        print(f"left out: no NVIDIA driver ({reason})")
        return
    print(f"ozfft {ozfft.__version__}, numpy {np.__version__}, seed {SEED}")
    host_arrays()
    exact_convolutions()
    for kind in (Cupy, Torch):
        try:
            library = kind()
        except Exception as reason:  # whatever keeps a library from working is no failure of ozfft
            print(f"left out: {kind.name} ({reason})")
            continue
        before = check.count, _ozfft.executions()
        for test in (compare_kinds, layouts, no_copies, streams, threads, graphs, protocols):
            test(library)
        print(f"{kind.name} {library.module.__version__}: {check.count - before[0]} checks, {_ozfft.executions() - before[1]} transforms")
        times(library)
    print(f"\nall {check.count} checks passed")


def test_gpu():
    """For pytest: the same, left out with a notice where there is no driver, or failed with OZFFT_REQUIRE=gpu."""
    import pytest

    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError as reason:
        # The same list of words as in the Rust tests.
        required = [word.strip() for word in os.environ.get("OZFFT_REQUIRE", "").split(",")]
        (pytest.fail if "gpu" in required else pytest.skip)(f"no NVIDIA driver ({reason})")
    main()


if __name__ == "__main__":
    sys.exit(main())
