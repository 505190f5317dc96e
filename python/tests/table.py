"""Prints the counts that ``counting.py`` wrote, and fails where something failed or ozfft did not compute."""

import json
import pathlib
import sys

NAMES = {
    "own": "tests of this package",
    "examples": "examples in docstrings and docs/python.md",
    "numpy": "numpy.fft's own tests",
    "scipy": "scipy.fft's own tests",
}

folder = pathlib.Path(sys.argv[1])
columns = ("passed", "failed", "skipped", "xfailed", "executions", "declined")
heads = ("passed", "failed", "skipped", "xfailed", "by ozfft", "left to the original")
print(f"{'':42}" + "".join(f"{head:>10}" for head in heads[:-1]) + "  " + heads[-1])
good = True
for name in sys.argv[2:]:
    path = folder / f"{name}.json"
    counts = json.loads(path.read_text()) if path.exists() else dict.fromkeys(columns, 0)
    print(f"{NAMES[name]:42}" + "".join(f"{counts[column]:>10}" for column in columns))
    good &= counts["failed"] == 0 and counts["passed"] > 0 and counts["executions"] > 0
sys.exit(0 if good else "a suite failed, or did not run, or was not computed by ozfft")
