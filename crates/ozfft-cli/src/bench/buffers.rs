//! The memory that all engines work in: the same for each, so that none has better pages or alignment.

use num_complex::Complex;
use ozfft::Kind;
use ozfft_measure::comparison::TestInput;
use ozfft_measure::failure::Failure;
use ozfft_measure::fftw::Arrays;

/// Bytes of a cache line, and of the widest vector: loads that straddle two lines cost twice as much.
const ALIGNMENT: usize = 64;

/// Doubles that begin at a cache line, read as reals or as complex numbers.
pub struct AlignedArray {
    memory: Vec<f64>,
    start: usize,
    length: usize,
}

impl AlignedArray {
    /// So many doubles, all 0.
    pub fn zeroed(length: usize) -> AlignedArray {
        let memory = vec![0.0; length + ALIGNMENT / size_of::<f64>()];
        let start = memory.as_ptr().align_offset(ALIGNMENT);
        AlignedArray {
            memory,
            start,
            length,
        }
    }

    pub fn reals(&self) -> &[f64] {
        &self.memory[self.start..][..self.length]
    }

    pub fn reals_mut(&mut self) -> &mut [f64] {
        &mut self.memory[self.start..][..self.length]
    }

    pub fn complex(&self) -> &[Complex<f64>] {
        bytemuck::cast_slice(self.reals())
    }

    pub fn complex_mut(&mut self) -> &mut [Complex<f64>] {
        bytemuck::cast_slice_mut(self.reals_mut())
    }
}

/// Input and output of all engines.
pub struct Buffers {
    /// What the input holds before a call: some engines use their input as scratch memory.
    values: Vec<f64>,
    pub input: AlignedArray,
    pub output: AlignedArray,
}

impl Buffers {
    /// For a batch of transforms. The input is not filled yet, because planning may overwrite it.
    pub fn new(arrays: &Arrays<'_>, seed: u64) -> Buffers {
        let (input, output) = arrays.lengths();
        Buffers {
            values: random_values(arrays, seed),
            input: AlignedArray::zeroed(input),
            output: AlignedArray::zeroed(output),
        }
    }

    /// Puts the random values into the input.
    pub fn refill(&mut self) {
        self.input.reals_mut().copy_from_slice(&self.values);
    }

    /// Input and output as doubles.
    pub fn reals_mut(&mut self) -> (&mut [f64], &mut [f64]) {
        (self.input.reals_mut(), self.output.reals_mut())
    }
}

/// Uniform values; half-spectra are such as real arrays have, because nothing else is a valid input.
fn random_values(arrays: &Arrays<'_>, seed: u64) -> Vec<f64> {
    match arrays.kind {
        Kind::ComplexToComplex | Kind::RealToComplex => {
            ozfft_testkit::oracle::inputs::uniform_real(arrays.lengths().0, seed)
        }
        Kind::ComplexToReal => {
            let half = |number: u64| {
                TestInput::Uniform.values(arrays.kind, arrays.shape, seed.wrapping_add(number))
            };
            let halves = (0..arrays.batch as u64).flat_map(half);
            halves.flat_map(|value| [value.re, value.im]).collect()
        }
    }
}

/// Computes the transform from the input to the output.
pub type Call<'a> = Box<dyn FnMut(&mut Buffers) -> Result<(), Failure> + 'a>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_begin_at_a_cache_line_and_are_as_long_as_asked() {
        for length in [0, 2, 14, 1000] {
            let mut array = AlignedArray::zeroed(length);
            assert_eq!(array.reals().len(), length);
            assert_eq!(array.complex_mut().len(), length / 2);
            assert_eq!(array.reals().as_ptr().align_offset(ALIGNMENT), 0);
        }
    }

    #[test]
    fn buffers_have_the_lengths_of_their_kind_and_can_be_refilled() {
        let lengths = |kind| {
            let arrays = Arrays {
                kind,
                shape: &[4, 6],
                batch: 3,
                interleaved: false,
            };
            let mut buffers = Buffers::new(&arrays, 1);
            buffers.refill();
            assert!(buffers.input.reals().iter().any(|&value| value != 0.0));
            (buffers.input.reals().len(), buffers.output.reals().len())
        };
        assert_eq!(lengths(Kind::ComplexToComplex), (2 * 72, 2 * 72));
        assert_eq!(lengths(Kind::RealToComplex), (72, 2 * 3 * 16));
        assert_eq!(lengths(Kind::ComplexToReal), (2 * 3 * 16, 72));
    }
}
