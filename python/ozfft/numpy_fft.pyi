from numpy.fft import fftfreq as fftfreq, fftshift as fftshift, ifftshift as ifftshift, rfftfreq as rfftfreq

from ._numpy_signatures import NumpyManyAxesToComplex, NumpyManyAxesToReal, NumpyOneAxisToComplex, NumpyOneAxisToReal

__all__ = [
    "fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "rfftn", "irfftn", "rfft2", "irfft2", "fft2", "ifft2", "fftn",
    "ifftn", "fftshift", "ifftshift", "fftfreq", "rfftfreq",
]  # fmt: skip

fft: NumpyOneAxisToComplex
ifft: NumpyOneAxisToComplex
rfft: NumpyOneAxisToComplex
irfft: NumpyOneAxisToReal
hfft: NumpyOneAxisToReal
ihfft: NumpyOneAxisToComplex
fftn: NumpyManyAxesToComplex
fft2: NumpyManyAxesToComplex
ifftn: NumpyManyAxesToComplex
ifft2: NumpyManyAxesToComplex
rfftn: NumpyManyAxesToComplex
rfft2: NumpyManyAxesToComplex
irfftn: NumpyManyAxesToReal
irfft2: NumpyManyAxesToReal
