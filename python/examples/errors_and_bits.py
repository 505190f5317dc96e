"""How large errors are, and that bits stay the same: a picture and a few lines, in a notebook's size.

    pip install matplotlib
    python python/examples/errors_and_bits.py errors.svg
"""

import hashlib
import sys

import numpy as np

import ozfft

rng = np.random.default_rng(1)


def error(result, exact):
    """Relative error of a whole transform."""
    return float(np.linalg.norm(result - exact) / np.linalg.norm(exact))


# 1. Errors over the length, against the same transform in long double (numpy has one, with 64 bits instead of 53).
lengths = [n for power in range(2, 15) for n in (2**power, 3 * 2 ** (power - 1))] + [1009, 2003, 10007]
lengths.sort()
curves = {"numpy": [], "ozfft": [], "ozfft, accuracy=1e-10": [], "proven bound": []}
for n in lengths:
    x = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    exact = np.fft.fft(x.astype(np.clongdouble))
    curves["numpy"].append(error(np.fft.fft(x), exact))
    curves["ozfft"].append(error(ozfft.fft(x), exact))
    curves["ozfft, accuracy=1e-10"].append(error(ozfft.fft(x, accuracy=1e-10), exact))
    curves["proven bound"].append(ozfft.plan(n).bound)
for name, values in curves.items():
    print(f"{name:24} {min(values):.1e} to {max(values):.1e}")

# 2. The same bits however the work is divided and wherever the numbers lie.
field = rng.standard_normal((48, 60, 64))
transforms = {
    "one worker": lambda: ozfft.fftn(field),
    "all workers": lambda: ozfft.fftn(field, workers=-1),
    "Fortran order": lambda: ozfft.fftn(np.asfortranarray(field)),
    "axis by axis": lambda: ozfft.fft(ozfft.fft(ozfft.fft(field, axis=2), axis=1), axis=0),
    "a slab at a time": lambda: ozfft.fft(np.stack([ozfft.fft2(slab) for slab in field]), axis=0),
    "numpy, axis by axis": lambda: np.fft.fft(np.fft.fft(np.fft.fft(field, axis=2), axis=1), axis=0),
    "numpy, other order": lambda: np.fft.fft(np.fft.fft(np.fft.fft(field, axis=0), axis=1), axis=2),
}
for name, transform in transforms.items():
    print(f"{name:24} {hashlib.sha256(np.ascontiguousarray(transform()).tobytes()).hexdigest()[:16]}")

# 3. The picture.
if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "ozfft", "font.size": 10})
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    styles = {"numpy": "C1o-", "ozfft": "C0o-", "ozfft, accuracy=1e-10": "C2o-", "proven bound": "k--"}
    for name, values in curves.items():
        axes.loglog(lengths, values, styles[name], label=name, markersize=3, linewidth=1)
    axes.set(xlabel="length", ylabel="relative L2 error", title="Errors of complex transforms, random data")
    axes.legend(loc="center right", bbox_to_anchor=(1, 0.68))
    axes.grid(alpha=0.3)
    figure.savefig(sys.argv[1], metadata={"Date": None} if sys.argv[1].endswith("svg") else None)
    print(f"written: {sys.argv[1]}")
