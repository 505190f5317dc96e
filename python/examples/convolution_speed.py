"""Times of real and of exact convolutions beside scipy, one worker, as a table in Markdown.

    python python/examples/convolution_speed.py

Processor time of all threads, the least of several calls. scipy rounds its transforms; the last column is how many of its results are wrong once they
are rounded to integers, where the operands are integers.
"""

import time

import numpy as np
import scipy.signal

import ozfft

SHAPES = [((1000,), (100,)), ((100_000,), (100_000,)), ((1_000_000,), (1000,)), ((512, 512), (31, 31)), ((128, 128, 128), (9, 9, 9))]
BITS = 22


def least(call, seconds=1.5):
    """Seconds of the fastest of at least three calls."""
    call()
    best, spent, calls = float("inf"), 0.0, 0
    while spent < seconds or calls < 3:
        before = time.process_time()
        call()
        took = time.process_time() - before
        best, spent, calls = min(best, took), spent + took, calls + 1
    return best


def text(seconds):
    return f"{seconds * 1e6:.0f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


print("| shapes | scipy `fftconvolve` | ozfft `fftconvolve` | with its bound | ratio | `convolve_exact`, 22 bits | over scipy | scipy's wrong integers |")
print("|---" * 8 + "|")
rng = np.random.default_rng(1)
for first, second in SHAPES:
    a, b = rng.standard_normal(first), rng.standard_normal(second)
    i, j = (rng.integers(-(1 << BITS), 1 << BITS, shape) for shape in (first, second))
    scipys = least(lambda: scipy.signal.fftconvolve(a, b))
    ours = least(lambda: ozfft.fftconvolve(a, b, workers=1))
    bounded = least(lambda: ozfft.fftconvolve(a, b, workers=1, return_bound=True))
    exact = least(lambda: ozfft.convolve_exact(i, j))
    rounded = np.rint(scipy.signal.fftconvolve(i.astype(float), j.astype(float)))
    wrong = np.count_nonzero(rounded != ozfft.convolve_exact(i, j).astype(float))
    shapes = " * ".join("×".join(map(str, shape)) for shape in (first, second))
    print(f"| {shapes} | {text(scipys)} | {text(ours)} | {text(bounded)} | {ours / scipys:.1f} | {text(exact)} | {exact / scipys:.1f} | {wrong} of {rounded.size} |", flush=True)
