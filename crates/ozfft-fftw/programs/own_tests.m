% Octave's own tests of what is built on transforms, and its signal package's.
functions = {"fftconv", "fftfilt", "freqz", "periodogram", "sinetone", "spectral_adf", "detrend"};
if !isempty(pkg("list", "signal"))
  pkg load signal;
  functions = [functions, {"dct", "idct", "dct2", "idct2", "dst", "idst", "czt", "hilbert", "xcorr", "pwelch", "rceps", "cceps", "fht", "ifht"}];
end
passed = 0;  total = 0;  failed = "";
for i = 1:numel(functions)
  [n, nmax] = test(functions{i}, "quiet");
  if n != nmax, failed = [failed, " ", functions{i}]; end
  passed += n;  total += nmax;
end
printf("%d of %d of its own tests passed%s\n", passed, total, failed);
exit(passed != total);
