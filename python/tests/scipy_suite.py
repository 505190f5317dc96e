"""For pytest's ``-p``: scipy's own tests, with ozfft as the backend of all calls."""

import multiprocessing

import scipy.fft
import scipy.fft._pocketfft
import scipy.fft._pocketfft.realtransforms

import counting
import ozfft
from ozfft._libraries import is_longer_than_double
from ozfft._backend import _FUNCTIONS
from counting import *  # noqa: F403  (pytest looks for its hooks by name)


class Counted:
    """ozfft, counting what it leaves to scipy."""

    __ua_domain__ = ozfft.__ua_domain__

    @staticmethod
    def __ua_convert__(dispatchables, coerce):
        values = ozfft.__ua_convert__(dispatchables, coerce)
        if values is NotImplemented:
            counting.decline("longdouble")
        return values

    @staticmethod
    def __ua_function__(method, args, kwargs):
        result = ozfft.__ua_function__(method, args, kwargs)
        if result is NotImplemented:
            counting.decline(method.__name__)
        return result


# A global backend takes the place of scipy's own, which has to be registered again for what ozfft leaves to it.
scipy.fft.set_global_backend(Counted)
scipy.fft.register_backend("scipy")


def instead(name, original):
    """The tests of ``_pocketfft`` call its functions, not scipy's; here they get ozfft's, with the same exception."""

    def function(*args, **kwargs):
        x = args[0] if args else kwargs["x"]
        if is_longer_than_double(x):
            counting.decline("longdouble")
            return original(*args, **kwargs)
        return getattr(ozfft, name)(*args, **kwargs)

    return function


for module in (scipy.fft._pocketfft, scipy.fft._pocketfft.realtransforms):
    for name in set(_FUNCTIONS) & set(dir(module)):
        setattr(module, name, instead(name, getattr(module, name)))


def pytest_collection_finish(session):
    # scipy's tests start processes afresh, which know nothing of this backend; forked ones do, and must not hang.
    multiprocessing.set_start_method("fork", force=True)
