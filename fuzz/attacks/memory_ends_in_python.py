"""The address space ends at every few megabytes: each call returns the right result or raises MemoryError, and the interpreter goes on.

Allocations that failed once ended it. seconds: 1500
"""

import os
import random
import resource
import sys

import numpy as np

import ozfft

STEPS = 40
RIGHT, REFUSED, WRONG = 0, 3, 4


def address_space():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def numbers(n):
    return np.random.default_rng(n).standard_normal(n)


def convolved(a, b):
    n = len(a) + len(b) - 1
    return np.fft.irfft(np.fft.rfft(a, n) * np.fft.rfft(b, n), n)


def cosine(x):
    """The transform of type 2, by numpy."""
    n = len(x)
    turned = np.exp(-0.5j * np.pi * np.arange(n) / n)
    return (np.fft.fft(np.concatenate([x, x[::-1]]))[:n] * turned).real


def by(engine, transform=ozfft.fft):
    def call(x):
        with ozfft.options(engine=engine):
            return transform(x)

    return call


integers = np.random.default_rng(1).integers(-999, 1000, 200_000)
# What is called, its arrays, what numpy says, and how many megabytes are scanned.
PROBLEMS = {
    "fft of 2^20": (ozfft.fft, (numbers(1 << 20),), np.fft.fft, 160),
    "fft of 2^20, two workers": (lambda x: ozfft.fft(x, workers=2), (numbers(1 << 20),), np.fft.fft, 160),
    "fft of a prime": (ozfft.fft, (numbers(250_007),), np.fft.fft, 160),
    "rfft of a prime": (ozfft.rfft, (numbers(500_009),), np.fft.rfft, 240),
    "dct": (ozfft.dct, (numbers(400_000),), cosine, 100),
    "fft2": (ozfft.fft2, (numbers(1 << 20).reshape(1024, 1024),), np.fft.fft2, 120),
    "convolve_exact": (ozfft.convolve_exact, (integers, integers), convolved, 120),
    "fftconvolve": (ozfft.fftconvolve, (numbers(200_000), numbers(100_003)), convolved, 100),
    "residues": (by("residues"), (numbers(1 << 18),), np.fft.fft, 80),
    "double": (by("double"), (numbers(60_013),), np.fft.fft, 200),
    "double of 2^17": (by("double"), (numbers(1 << 17),), np.fft.fft, 200),
    "native": (by("native"), (numbers(500_009),), np.fft.fft, 240),
    "native rfft": (by("native", ozfft.rfft), (numbers(1 << 20),), np.fft.rfft, 120),
}


def attempt(call, arrays, expected, room):
    """In a process of its own, with so many bytes more than it has."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    unlimited = (resource.RLIM_INFINITY,) * 2
    code, result, text = RIGHT, None, None
    try:
        resource.setrlimit(resource.RLIMIT_AS, (address_space() + room, resource.RLIM_INFINITY))
        try:
            result = call(*arrays)
        except MemoryError as error:
            resource.setrlimit(resource.RLIMIT_AS, unlimited)
            code = REFUSED
            # Those of Python and numpy have other texts.
            text = str(error) if isinstance(error, ozfft.OutOfMemoryError) else None
        resource.setrlimit(resource.RLIMIT_AS, unlimited)
        if text is not None and "ulimit -v" not in text:
            print(f"the limit that binds is not named: {text}", flush=True)
            code = WRONG
        if result is None:
            # When there is memory again, everything works.
            result = call(*arrays)
        if not np.linalg.norm(result - expected) <= 1e-9 * np.linalg.norm(expected):
            print("the result is wrong", flush=True)
            code = WRONG
    except BaseException as error:
        print(f"{type(error).__mro__}: {error}", flush=True)
        code = WRONG
    os._exit(code)


def main():
    words = sys.argv[1:]
    seed = int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}")
    jitter = random.Random(seed)
    failed = False
    for name, (call, arrays, reference, megabytes) in PROBLEMS.items():
        if words and not any(word in name for word in words):
            continue
        expected = reference(*arrays)
        codes = []
        for step in range(STEPS):
            room = int((step + jitter.random()) / STEPS * (megabytes << 20))
            code = attempt(call, arrays, expected, room)
            codes.append(code)
            if code not in (RIGHT, REFUSED):
                failed = True
                print(f"{name}, {room} bytes: exit status {code}", flush=True)
        print(f"{name}: {codes.count(RIGHT)} right, {codes.count(REFUSED)} refused of {STEPS}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
