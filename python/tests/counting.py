"""Counts, at the end of a run of pytest, what was computed here: a test suite that passes proves nothing about ozfft
unless ozfft was called. ``OZFFT_COUNTS`` names the file that the counts go to."""

import json
import os

from ozfft import _ozfft

results = {"passed": 0, "failed": 0, "skipped": 0, "xfailed": 0}
declined = {}


def decline(name):
    declined[name] = declined.get(name, 0) + 1


def pytest_runtest_logreport(report):
    if report.when == "call" or (report.when == "setup" and report.outcome != "passed"):
        outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
        results[outcome] += 1


def pytest_sessionfinish(session):
    if "OZFFT_COUNTS" in os.environ:
        counts = {**results, "executions": _ozfft.executions(), "declined": sum(declined.values())}
        with open(os.environ["OZFFT_COUNTS"], "w") as file:
            json.dump(counts, file)
