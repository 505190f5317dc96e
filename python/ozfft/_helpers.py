"""Frequencies and shifts. They transform nothing, so they are numpy's own."""

from numpy.fft import fftfreq, fftshift, ifftshift, rfftfreq

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]
