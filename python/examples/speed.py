"""Times of whole calls beside numpy and scipy (pocketfft), one worker, as a table in Markdown.

    python python/examples/speed.py

Processor time of the calling thread, the least of several runs: other programs on the machine count as little as possible.
"""

import time

import numpy as np
import scipy.fft

import ozfft

CASES = [
    ("fft, 16 points", "fft", (16,), "f8"),
    ("fft, 1024 points", "fft", (1024,), "f8"),
    ("fft, 1024 lines of 1024 points", "fft", (1024, 1024), "f8"),
    ("fft, 10^6 points", "fft", (10**6,), "f8"),
    ("fft, 2^20 points", "fft", (1 << 20,), "f8"),
    ("fft, 10007 points (prime)", "fft", (10007,), "f8"),
    ("rfft, 1024 lines of 1000 points", "rfft", (1024, 1000), "f8"),
    ("fftn, 128 x 128 x 128", "fftn", (128, 128, 128), "f8"),
    ("fft2, 1024 x 1024", "fft2", (1024, 1024), "f8"),
    ("rfft2, 1000 x 1000", "rfft2", (1000, 1000), "f8"),
    ("rfft2 of float32, 1024 x 1024", "rfft2", (1024, 1024), "f4"),
]


def least(call, seconds=1.0):
    """Seconds of the fastest of many calls, in loops that are long enough for the clock."""
    for _ in range(20):  # a thread gets a pool of its own after some calls
        call()
        if time.thread_time() - least.began > 2:
            break
    loops, best, spent = 1, float("inf"), 0.0
    while spent < seconds or best == float("inf"):
        before = time.thread_time()
        for _ in range(loops):
            call()
        took = time.thread_time() - before
        spent += took
        if took < 1e-3 and loops < 10000:
            loops *= 2
            continue
        best = min(best, took / loops)
    return best


least.began = 0.0


def text(seconds):
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


libraries = {
    "numpy": lambda name, x: getattr(np.fft, name)(x),
    "scipy": lambda name, x: getattr(scipy.fft, name)(x),
    "ozfft": lambda name, x: getattr(ozfft, name)(x),
    'accuracy="single"': lambda name, x: getattr(ozfft, name)(x, accuracy="single"),
    'engine="native"': lambda name, x: getattr(ozfft, name)(x, engine="native"),
}
print("| call | " + " | ".join(libraries) + " | ozfft / numpy | ozfft / scipy |")
print("|---" * (len(libraries) + 3) + "|")
rng = np.random.default_rng(1)
for title, name, shape, real in CASES:
    x = rng.standard_normal(shape)
    if not name.startswith("r"):
        x = x + 1j * rng.standard_normal(shape)
    x = x.astype(np.dtype(real) if name.startswith("r") else np.result_type(real, "c8"))
    times = []
    for call in libraries.values():
        least.began = time.thread_time()
        times.append(least(lambda: call(name, x)))
    print(f"| {title} | " + " | ".join(text(seconds) for seconds in times) + f" | {times[2] / times[0]:.1f} | {times[2] / times[1]:.1f} |", flush=True)
