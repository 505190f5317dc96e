//! RustFFT and RealFFT as they are, without the library around them: a batch of lines.

use super::buffers::{Buffers, Call};
use num_complex::Complex;
use ozfft::{Kind, Real};
use ozfft_measure::failure::Failure;
use rayon::prelude::*;
use realfft::FftError;

/// Plans a transform of lines. The input is used as scratch memory, which is what these libraries are fastest with.
pub fn transform(kind: Kind, length: usize, batch: usize, threads: usize) -> Call<'static> {
    let half = length / 2 + 1;
    // Neither library has threads of its own: each thread is given a part of the batch.
    let lines = batch.div_ceil(threads);
    let scratch_of =
        |length: usize| vec![vec![Complex::new(0.0, 0.0); length]; batch.div_ceil(lines)];
    match kind {
        Kind::ComplexToComplex => {
            let fft = f64::native_complex(length);
            let mut scratch = scratch_of(fft.get_outofplace_scratch_len());
            Box::new(move |Buffers { input, output, .. }| {
                let input = (input.complex_mut(), lines * length);
                let output = (output.complex_mut(), lines * length);
                in_parts(input, output, &mut scratch, |input, output, scratch| {
                    fft.process_outofplace_with_scratch(input, output, scratch);
                    Ok(())
                })
            })
        }
        Kind::RealToComplex => {
            let fft = f64::native_real_to_complex(length);
            let mut scratch = scratch_of(fft.get_scratch_len());
            Box::new(move |Buffers { input, output, .. }| {
                let input = (input.reals_mut(), lines * length);
                let output = (output.complex_mut(), lines * half);
                in_parts(input, output, &mut scratch, |input, output, scratch| {
                    let mut pairs = input.chunks_mut(length).zip(output.chunks_mut(half));
                    pairs.try_for_each(|(from, to)| fft.process_with_scratch(from, to, scratch))
                })
            })
        }
        Kind::ComplexToReal => {
            let fft = f64::native_complex_to_real(length);
            let mut scratch = scratch_of(fft.get_scratch_len());
            Box::new(move |Buffers { input, output, .. }| {
                let input = (input.complex_mut(), lines * half);
                let output = (output.reals_mut(), lines * length);
                in_parts(input, output, &mut scratch, |input, output, scratch| {
                    let mut pairs = input.chunks_mut(half).zip(output.chunks_mut(length));
                    pairs.try_for_each(|(from, to)| fft.process_with_scratch(from, to, scratch))
                })
            })
        }
    }
}

/// Gives each thread its part of input, output and scratch memory. Arrays come with the length of a part.
fn in_parts<I: Send, O: Send>(
    (input, input_part): (&mut [I], usize),
    (output, output_part): (&mut [O], usize),
    scratch: &mut [Vec<Complex<f64>>],
    work: impl Fn(&mut [I], &mut [O], &mut [Complex<f64>]) -> Result<(), FftError> + Sync,
) -> Result<(), Failure> {
    let outcome = match scratch {
        // Without the thread pool, whose bookkeeping would count where the transform is short.
        [scratch] => work(input, output, scratch),
        _ => input
            .par_chunks_mut(input_part)
            .zip(output.par_chunks_mut(output_part))
            .zip(scratch)
            .try_for_each(|((input, output), scratch)| work(input, output, scratch)),
    };
    outcome.map_err(|error| Failure::Check(format!("RealFFT rejects the input: {error}")))
}
