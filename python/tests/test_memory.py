"""Where arrays lie changes neither bits nor anything else."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import ozfft

SEED = 7


def numbers(*shape):
    print(f"seed {SEED}")
    rng = np.random.default_rng(SEED)
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def unaligned(x):
    """The same numbers in a field of packed records: one byte off."""
    records = np.zeros(x.shape, np.dtype([("gap", "i1"), ("number", x.dtype)]))
    records["number"] = x
    return records["number"]


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


LAYOUTS = {
    "fortran": np.asfortranarray,
    "transposed": lambda x: np.ascontiguousarray(x.transpose(2, 0, 1)).transpose(1, 2, 0),
    "reversed": lambda x: np.ascontiguousarray(x[::-1, :, ::-1])[::-1, :, ::-1],
    "every other": lambda x: np.repeat(np.repeat(x, 2, axis=2), 3, axis=0)[::3, :, ::2],
    "read-only": read_only,
    "other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "unaligned": unaligned,
    "real part of complex": lambda x: x if x.dtype.kind == "c" else (x + 1j).real,
    "a subclass": np.ma.masked_array,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["fft", "ifft", "fftn", "rfft", "rfftn", "irfft", "irfftn", "hfft", "ihfft"])
def test_bits_do_not_depend_on_the_layout(name, layout):
    x = numbers(6, 5, 8)
    if name in ("rfft", "rfftn", "ihfft"):
        x = x.real.copy()
    there = LAYOUTS[layout](x)
    before = there.tobytes()
    for each in range(3):
        arguments = {"axes": (each, 1)} if name.endswith("n") and each != 1 else {} if name.endswith("n") else {"axis": each}
        assert getattr(ozfft, name)(there, **arguments).tobytes() == getattr(ozfft, name)(x, **arguments).tobytes()
    assert there.tobytes() == before


def test_broadcast_arrays_are_read_and_never_written():
    x = np.broadcast_to(numbers(8), (4, 8))
    result = ozfft.fft(x, overwrite_x=True)
    assert all(line.tobytes() == ozfft.fft(x[0]).tobytes() for line in result)
    torn = np.lib.stride_tricks.as_strided(numbers(8), (4, 8), (0, 16))
    assert torn.flags.writeable
    assert ozfft.fft(torn, overwrite_x=True).tobytes() == result.tobytes()


def test_results_lie_like_their_input():
    x = np.asfortranarray(numbers(6, 5, 8))
    assert ozfft.fft(x).flags.f_contiguous
    assert ozfft.fft(x.copy("C")).flags.c_contiguous


def test_overwriting_happens_where_it_is_allowed_and_nowhere_else():
    x = numbers(6, 8)
    kept = x.copy()
    expected = ozfft.fft(x)
    assert (x == kept).all()
    assert np.shares_memory(ozfft.fft(x, overwrite_x=True), x)
    assert (x == expected).all()
    frozen = read_only(kept)
    assert (ozfft.fft(frozen, overwrite_x=True) == expected).all() and (frozen == kept).all()


def test_out_takes_any_layout_and_may_be_the_input():
    x = numbers(6, 8)
    expected = ozfft.fft(x)
    for out in (np.empty((6, 8), complex), np.empty((8, 6), complex).T, np.empty((12, 16), complex)[::-2, ::2]):
        assert ozfft.fft(x, out=out) is out
        assert (out == expected).all()
    narrow = np.empty((6, 8), np.complex64)
    assert ozfft.fft(x, out=narrow) is narrow and (narrow == expected.astype(np.complex64)).all()
    same = x.copy()
    assert (ozfft.fft(same, out=same) == expected).all()
    # More lines than are read at once, so that some would be overwritten before they are read.
    tall = numbers(100, 8)
    overlapping = np.concatenate([tall, tall])
    assert ozfft.fft(overlapping[:100], out=overlapping[3:103]).tobytes() == ozfft.fft(tall).tobytes()
    gaps = np.full((6, 16), 7 + 7j)
    ozfft.fft(x, out=gaps[:, ::2])
    assert (gaps[:, 1::2] == 7 + 7j).all()


@pytest.mark.parametrize(
    "out, error",
    [
        (np.empty((3, 8), complex), ozfft.LayoutError),
        (np.empty((6, 8)), TypeError),
        (read_only(np.empty((6, 8), complex)), ozfft.LayoutError),
        ("array", TypeError),
    ],
)
def test_unsuitable_out_arrays_are_rejected(out, error):
    with pytest.raises(error):
        ozfft.fft(numbers(6, 8), out=out)


@pytest.mark.parametrize("shape", [(64, 32), (1, 4096), (1, 1 << 15), (3, 1009)])
def test_bits_do_not_depend_on_the_number_of_workers(shape):
    x = numbers(*shape)
    alone = ozfft.fft(x)
    for workers in (2, 3, -1):
        assert ozfft.fft(x, workers=workers).tobytes() == alone.tobytes()


def test_threads_may_call_at_once():
    x = numbers(40, 101)
    expected = ozfft.fft(x).tobytes()
    ozfft.clear_plans()
    differing = []

    def work(workers):
        for _ in range(5):
            if ozfft.fft(x, workers=workers).tobytes() != expected:
                differing.append(workers)

    threads = [threading.Thread(target=work, args=(1 + number % 3,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not differing


def _child(x):
    return ozfft.fft(x, workers=2).tobytes(), ozfft.fft(x).tobytes()


def test_forked_processes_compute():
    """A child has none of its parent's threads: it would wait for them for ever."""
    x = numbers(64, 128)
    expected = ozfft.fft(x, workers=2).tobytes()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for results in pool.map(_child, [x] * 4):
            assert results == (expected, expected)
    assert ozfft.fft(x, workers=2).tobytes() == expected


def test_other_threads_run_meanwhile():
    """The interpreter's lock is released: a second thread counts while this one transforms."""
    x = numbers(16, 4096)
    out = np.empty_like(x)
    planned = ozfft.plan(x.shape, axes=1)._planned
    running, counted = threading.Event(), [0]

    def count():
        running.set()
        while running.is_set():
            counted[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    thread.start()
    running.wait()
    # From here on this thread keeps the lock unless it gives it away.
    sys.setswitchinterval(1000.0)
    try:
        for _ in range(1000):
            before = counted[0]
            planned.run(x.ctypes.data, out.ctypes.data)
            after = counted[0]
            if after > before:
                break
    finally:
        sys.setswitchinterval(interval)
        running.clear()
        thread.join()
    assert after > before


def test_plans_are_cached_and_cleared():
    ozfft.clear_plans()
    assert ozfft.plan_memory()[:2] == (0, 0)
    for n in range(1, 600):
        ozfft.plan(n, engine="native")
    count, size, limit = ozfft.plan_memory()
    assert count == 599 and 0 < size <= limit
    ozfft.plan(599, engine="native")
    assert ozfft.plan_memory().plans == count


@pytest.fixture
def little_memory():
    ozfft.clear_plans()
    limit = ozfft.plan_memory().limit
    ozfft.set_plan_memory(1 << 20)
    yield
    ozfft.set_plan_memory(limit)
    ozfft.clear_plans()


def test_the_least_recently_used_plans_are_evicted_first(little_memory):
    ozfft.plan(7)
    for n in range(16, 400):
        before = ozfft.plan_memory().plans
        ozfft.plan(7)
        assert ozfft.plan_memory().plans == before, "the plan for 7 points was evicted, though it is used again and again"
        ozfft.plan(n)
        count, size, limit = ozfft.plan_memory()
        assert size <= limit == 1 << 20
    assert 1 < count < 380
    ozfft.plan(399)
    assert ozfft.plan_memory().plans == count
    ozfft.plan(16)
    assert ozfft.plan_memory().plans != count, "the oldest plan was still there"


def test_plans_outlive_eviction(little_memory):
    x = numbers(64)
    plan = ozfft.plan(64)
    expected = plan(x).tobytes()
    ozfft.set_plan_memory(0)
    assert ozfft.plan_memory()[:2] == (0, 0)
    assert plan(x).tobytes() == expected == ozfft.fft(x).tobytes()
    assert ozfft.plan_memory().plans == 0


@pytest.mark.parametrize("workers", [2**31 - 1, 2**63, 2**70])
def test_any_number_of_workers_is_accepted(workers):
    x = numbers(64, 32)
    assert ozfft.fft(x, workers=workers).tobytes() == ozfft.fft(x).tobytes()
    with ozfft.set_workers(workers):
        assert ozfft.get_workers() == workers
        assert ozfft.plan(64)(x[:, 0].repeat(2)[:64]).shape == (64,)


FORK_WHILE_STARTING = """
import os, sys, threading, time
import numpy as np
import ozfft

x = np.arange(4096.0).reshape(64, 64)
delay = float(sys.argv[1])
thread = threading.Thread(target=lambda: ozfft.fft(x, workers=2))
thread.start()
time.sleep(delay)
child = os.fork()
if child == 0:
    ozfft.fft(x, workers=2)
    os._exit(0)
end = time.monotonic() + 60
while True:
    done, status = os.waitpid(child, os.WNOHANG)
    if done:
        break
    if time.monotonic() > end:
        os.kill(child, 9)
        os.waitpid(child, 0)
        sys.exit("the child hangs")
    time.sleep(0.001)
thread.join()
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.parametrize("delay", [0, 0.0002, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016])
def test_a_fork_while_the_first_threads_start_does_not_hang_the_child(delay):
    """The child once waited for what a thread of its parent was initialising."""
    done = subprocess.run([sys.executable, "-c", FORK_WHILE_STARTING, str(delay)], timeout=120, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_forks_while_threads_transform_leave_children_that_compute():
    x = numbers(16, 1000)
    expected = ozfft.fft(x).tobytes()
    stop, differing = threading.Event(), []

    def work(workers):
        n = 16
        while not stop.is_set():
            if ozfft.fft(x, workers=workers).tobytes() != expected:
                differing.append(workers)
            # A new plan each time, so that there is planning to be interrupted.
            ozfft.plan(n, workers=workers)
            n += 1

    threads = [threading.Thread(target=work, args=(workers,)) for workers in (1, 2)]
    for thread in threads:
        thread.start()
    try:
        with warnings.catch_warnings():
            # Python warns of forks in programs with threads.
            warnings.simplefilter("ignore", DeprecationWarning)
            for _ in range(20):
                child = os.fork()
                if child == 0:
                    os._exit(0 if ozfft.fft(x, workers=2).tobytes() == expected else 1)
                _, status = os.waitpid(child, 0)
                assert os.waitstatus_to_exitcode(status) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not differing


def _limit(_):
    return ozfft.plan_memory().limit


def test_a_forked_child_keeps_to_the_limit_of_its_parent(little_memory):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map(_limit, [None]) == [1 << 20]


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
def test_one_pool_serves_all_counts_of_workers():
    """Each count once had threads of its own."""
    x = numbers(64, 64)
    ozfft.fft(x, workers=2)
    before = len(os.listdir("/proc/self/task"))
    for workers in range(2, 40):
        ozfft.fft(x, workers=workers)
    assert len(os.listdir("/proc/self/task")) == before
