"""Hankel transforms: scipy's FFTLog, with its Fourier transforms computed here."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from ._errors import UnsupportedError


def _scipy() -> Any:
    try:
        import scipy.fft
    except ImportError as reason:
        raise UnsupportedError(
            f"Hankel transforms need the gamma function of scipy: {reason}; pip install scipy, or ozfft[scipy]"
        ) from None
    return scipy.fft


def _through_scipy(name: str, a: Any, *arguments: Any) -> Any:
    import ozfft

    scipy_fft = _scipy()
    # ozfft has no Hankel transform as a backend, so that scipy's own runs, and asks this backend for its Fourier transforms.
    with scipy_fft.set_backend(ozfft):
        return getattr(scipy_fft, name)(a, *arguments)


def fht(a: ArrayLike, dln: float, mu: float, offset: float = 0.0, bias: float = 0.0) -> NDArray[Any]:
    """The Hankel transform of samples at logarithmic distances (FFTLog).

    The coefficients are scipy's, and scipy has to be installed; the two Fourier transforms are ozfft's. Bits are therefore
    those of one version of scipy on one machine.

    Parameters
    ----------
    a : array_like
        Real samples, at points with equal ratios along the last axis.
    dln : float
        The logarithm of that ratio.
    mu : float
        Order of the Bessel function.
    offset : float, optional
        Offset of the logarithms of input and output points; :func:`fhtoffset` finds one that avoids ringing.
    bias : float, optional
        Exponent of the power law that is taken out before and put back after the transform.

    Returns
    -------
    real array
        The transform.

    See Also
    --------
    ifht, fhtoffset, scipy.fft.fht

    Examples
    --------
    >>> import numpy, ozfft
    >>> r = numpy.logspace(-7, 1, 128)
    >>> dln = numpy.log(r[1] / r[0])
    >>> a = r * numpy.exp(-r * r / 2)
    >>> there = ozfft.fht(a, dln, mu=0.0)
    >>> bool(numpy.allclose(ozfft.ifht(there, dln, mu=0.0), a))
    True
    """
    return _through_scipy("fht", a, dln, mu, offset, bias)


def ifht(A: ArrayLike, dln: float, mu: float, offset: float = 0.0, bias: float = 0.0) -> NDArray[Any]:
    """The inverse of :func:`fht`.

    Parameters
    ----------
    A : array_like
        Real samples, at points with equal ratios along the last axis.
    dln, mu, offset, bias : float
        As for :func:`fht`.

    Returns
    -------
    real array
        The samples that :func:`fht` was given.

    See Also
    --------
    fht, scipy.fft.ifht
    """
    return _through_scipy("ifht", A, dln, mu, offset, bias)


def fhtoffset(dln: float, mu: float, initial: float = 0.0, bias: float = 0.0) -> float:
    """The offset next to `initial` at which :func:`fht` does not ring; scipy's own.

    Parameters
    ----------
    dln, mu, bias : float
        As for :func:`fht`.
    initial : float, optional
        The offset that is wanted.

    Returns
    -------
    float
        The offset to pass.

    See Also
    --------
    fht, scipy.fft.fhtoffset
    """
    return _scipy().fhtoffset(dln, mu, initial, bias)
