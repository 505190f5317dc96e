# The package fftw of R beside R's own fft.
library(fftw)
set.seed(20261116)
worst <- 0
results <- 0
for (n in c(2, 8, 15, 64, 97, 360, 1024)) {
    z <- complex(real = runif(n) - 0.5, imaginary = runif(n) - 0.5)
    x <- runif(n) - 0.5
    pairs <- list(
        list(FFT(z), fft(z)),
        list(IFFT(FFT(z)), z),
        list(FFT(x), fft(x))
    )
    for (pair in pairs) {
        worst <- max(worst, sqrt(sum(Mod(pair[[1]] - pair[[2]])^2) / sum(Mod(pair[[2]])^2)))
        results <- results + 1
    }
}
cat(results, "results of R's fftw beside R's own fft, largest relative difference", signif(worst, 2), "\n")
if (!(worst < 1e-14)) quit(status = 1)
