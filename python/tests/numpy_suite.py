"""For pytest's ``-p``: numpy's own tests, with ozfft's functions in the place of numpy's."""

import functools

import numpy

import counting
import ozfft.numpy_fft
from ozfft._libraries import is_longer_than_double
from counting import *  # noqa: F403  (pytest looks for its hooks by name)



def counted(name):
    """ozfft's function, counting what it leaves to numpy."""
    function = getattr(ozfft.numpy_fft, name)

    @functools.wraps(function)
    def call(a, *args, **kwargs):
        if is_longer_than_double(a):
            counting.decline(name)
        return function(a, *args, **kwargs)

    return call


# Before any test is collected: tests name the functions in their parameters.
for name in ozfft.numpy_fft.__all__:
    setattr(numpy.fft, name, counted(name) if "shift" not in name and "freq" not in name else getattr(ozfft.numpy_fft, name))
