from ._signatures import ManyAxesToComplex, ManyAxesToReal, OneAxisToComplex, OneAxisToReal

fft: OneAxisToComplex
ifft: OneAxisToComplex
rfft: OneAxisToComplex
irfft: OneAxisToReal
hfft: OneAxisToReal
ihfft: OneAxisToComplex
fftn: ManyAxesToComplex
fft2: ManyAxesToComplex
ifftn: ManyAxesToComplex
ifft2: ManyAxesToComplex
rfftn: ManyAxesToComplex
rfft2: ManyAxesToComplex
irfftn: ManyAxesToReal
irfft2: ManyAxesToReal
hfftn: ManyAxesToReal
hfft2: ManyAxesToReal
ihfftn: ManyAxesToComplex
ihfft2: ManyAxesToComplex
