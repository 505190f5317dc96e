% Transforms of Octave on fixed inputs; the results go to the file that PROOF_FILE names.
pkg_signal = !isempty(pkg("list", "signal"));
if pkg_signal, pkg load signal; end
rand("twister", 1:10);
complex_of = @(varargin) rand(varargin{:}) - 0.5 + 1i * (rand(varargin{:}) - 0.5);
results = struct();
for n = [1 2 7 64 100 131 1000 1009 4096 30030]
  x = complex_of(n, 1);  r = rand(n, 1);
  results.(sprintf("fft_%d", n)) = fft(x);
  results.(sprintf("ifft_%d", n)) = ifft(x);
  results.(sprintf("real_fft_%d", n)) = fft(r);
  results.(sprintf("real_ifft_%d", n)) = ifft(fft(r));
end
m = complex_of(30, 41);  a = rand(12, 15, 10);  c = complex_of(12, 15, 10);
results.columns = fft(m);          results.rows = fft(m, [], 2);
results.padded = fft(m, 64);       results.cut = ifft(m, 16, 2);
results.fft2 = fft2(m);            results.ifft2 = ifft2(m);
results.real_fft2 = fft2(real(m)); results.fft2_padded = fft2(m, 32, 48);
results.fftn = fftn(a);            results.ifftn = ifftn(c);
results.fftn_complex = fftn(c);    results.middle = fft(c, [], 2);
results.fftconv = fftconv(rand(300, 1), rand(77, 1));
results.fftfilt = fftfilt(rand(20, 1), rand(500, 3));
results.freqz = freqz(rand(8, 1), 1, 128);
results.periodogram = periodogram(rand(256, 1));
if pkg_signal
  results.hilbert = hilbert(rand(120, 1));
  results.dct = dct(rand(90, 1));
  results.idct = idct(rand(90, 1));
  results.xcorr = xcorr(rand(60, 1), rand(60, 1));
end
save("-binary", getenv("PROOF_FILE"), "results");
