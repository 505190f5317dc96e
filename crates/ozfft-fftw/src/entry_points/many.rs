//! Many arrays at once, each possibly a part of a larger one; and what one array in C order is a case of.

use crate::arguments::{length, values_at};
use crate::entry_points::guru::{direction, plan_fourier, plan_real_to_real};
use crate::error::FftwError;
use crate::ffi::{PlanPointer, guard_plan};
use crate::number::Number;
use crate::plan::TypedPlan;
use crate::transforms::real_lines::RealKind;
use crate::transforms::strides::{Dimension, Ends};
use num_complex::Complex;
use ozfft::{Direction, Kind};
use std::ffi::{c_int, c_uint};

/// The arguments that all of these functions share.
pub(crate) struct Many<'a> {
    lengths: &'a [c_int],
    count: c_int,
    input: Embedding<'a>,
    output: Embedding<'a>,
}

/// How arrays lie, in elements.
#[derive(Clone, Copy)]
struct Embedding<'a> {
    /// Lengths of the larger array; without them, those of the array itself.
    lengths: Option<&'a [c_int]>,
    stride: c_int,
    distance: c_int,
}

/// What the elements of one side are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elements {
    Complex,
    Real,
    /// The numbers of a half-spectrum.
    Half,
    /// Reals in the place of their half-spectrum.
    PaddedReal,
}

impl<'a> Many<'a> {
    /// One array in C order.
    pub(crate) fn contiguous(lengths: &'a [c_int]) -> Self {
        let dense = Embedding {
            lengths: None,
            stride: 1,
            distance: 1,
        };
        Many {
            lengths,
            count: 1,
            input: dense,
            output: dense,
        }
    }

    /// # Safety
    /// Every pointer that is not null points to `rank` lengths.
    unsafe fn new(
        rank: c_int,
        n: *const c_int,
        count: c_int,
        (input, input_stride, input_distance): (*const c_int, c_int, c_int),
        (output, output_stride, output_distance): (*const c_int, c_int, c_int),
    ) -> Result<Self, FftwError> {
        // SAFETY: the caller's promise.
        let values = |what, start| unsafe { values_at(what, start, rank) };
        let embedding = |start: *const c_int| {
            let given = !start.is_null();
            given.then(|| values("the embedding", start)).transpose()
        };
        Ok(Many {
            lengths: values("the list of lengths", n)?,
            count,
            input: Embedding {
                lengths: embedding(input)?,
                stride: input_stride,
                distance: input_distance,
            },
            output: Embedding {
                lengths: embedding(output)?,
                stride: output_stride,
                distance: output_distance,
            },
        })
    }

    /// Transformed dimensions and the loop around them, in real numbers.
    fn dimensions(
        &self,
        input: Elements,
        output: Elements,
    ) -> Result<(Vec<Dimension>, Vec<Dimension>), FftwError> {
        let looped = Dimension {
            length: length("the number of transforms", self.count.into(), 0)?,
            input: reals(input, self.input.distance as isize)?,
            output: reals(output, self.output.distance as isize)?,
        };
        let from = self.strides(self.input, input)?;
        let to = self.strides(self.output, output)?;
        let mut transformed = Vec::new();
        for ((&n, input), output) in self.lengths.iter().zip(from).zip(to) {
            transformed.push(Dimension {
                length: length("a length", n.into(), 1)?,
                input,
                output,
            });
        }
        Ok((transformed, vec![looped]))
    }

    /// Strides of one side: each steps over the larger array's next dimension.
    fn strides(&self, side: Embedding<'_>, elements: Elements) -> Result<Vec<isize>, FftwError> {
        let mut strides = vec![0; self.lengths.len()];
        let mut stride = side.stride as isize;
        let last = self.lengths.len().wrapping_sub(1);
        for (axis, place) in strides.iter_mut().enumerate().rev() {
            *place = reals(elements, stride)?;
            let own = self.lengths[axis] as isize;
            let step = match side.lengths {
                Some(lengths) => lengths[axis] as isize,
                None if axis != last => own,
                None => match elements {
                    Elements::Complex | Elements::Real => own,
                    Elements::Half => own / 2 + 1,
                    Elements::PaddedReal => 2 * (own / 2 + 1),
                },
            };
            stride = stride.checked_mul(step).ok_or(FftwError::NotAddressable)?;
        }
        Ok(strides)
    }
}

/// Elements in real numbers.
fn reals(elements: Elements, stride: isize) -> Result<isize, FftwError> {
    let size = match elements {
        Elements::Complex | Elements::Half => 2,
        Elements::Real | Elements::PaddedReal => 1,
    };
    stride.checked_mul(size).ok_or(FftwError::NotAddressable)
}

/// Rows of reals are padded where they share the memory of their half-spectrum.
fn real_elements<T>(real: *mut T, half: *mut Complex<T>) -> Elements {
    if real == half.cast() {
        Elements::PaddedReal
    } else {
        Elements::Real
    }
}

pub(crate) fn plan_complex<T: Number>(
    many: &Many<'_>,
    input: *mut Complex<T>,
    output: *mut Complex<T>,
    sign: c_int,
    flags: c_uint,
) -> Result<TypedPlan<T>, FftwError> {
    plan_fourier(
        (Kind::ComplexToComplex, direction(sign)?),
        many.dimensions(Elements::Complex, Elements::Complex)?,
        (Ends::complex(input), Ends::complex(output)),
        flags,
    )
}

pub(crate) fn plan_real_to_complex<T: Number>(
    many: &Many<'_>,
    input: *mut T,
    output: *mut Complex<T>,
    flags: c_uint,
) -> Result<TypedPlan<T>, FftwError> {
    plan_fourier(
        (Kind::RealToComplex, Direction::Forward),
        many.dimensions(real_elements(input, output), Elements::Half)?,
        (Ends::real(input), Ends::complex(output)),
        flags,
    )
}

pub(crate) fn plan_complex_to_real<T: Number>(
    many: &Many<'_>,
    input: *mut Complex<T>,
    output: *mut T,
    flags: c_uint,
) -> Result<TypedPlan<T>, FftwError> {
    plan_fourier(
        (Kind::ComplexToReal, Direction::Inverse),
        many.dimensions(Elements::Half, real_elements(output, input))?,
        (Ends::complex(input), Ends::real(output)),
        flags,
    )
}

pub(crate) fn plan_real<T: Number>(
    many: &Many<'_>,
    input: *mut T,
    output: *mut T,
    kinds: &[c_int],
    flags: c_uint,
) -> Result<TypedPlan<T>, FftwError> {
    let (transformed, looped) = many.dimensions(Elements::Real, Elements::Real)?;
    let kinds = kinds.iter().map(|&kind| RealKind::try_from(kind));
    plan_real_to_real(
        (transformed, looped),
        kinds.collect::<Result<_, _>>()?,
        (Ends::real(input), Ends::real(output)),
        flags,
    )
}

macro_rules! many_entry_points {
    ($module:ident, $real:ty, $prefix:literal) => {
        /// The functions for arrays of one precision.
        pub mod $module {
            use super::*;

            /// Many complex transforms.
            #[unsafe(export_name = concat!($prefix, "plan_many_dft"))]
            pub unsafe extern "C" fn plan_many_dft(
                rank: c_int,
                n: *const c_int,
                howmany: c_int,
                input: *mut Complex<$real>,
                inembed: *const c_int,
                istride: c_int,
                idist: c_int,
                output: *mut Complex<$real>,
                onembed: *const c_int,
                ostride: c_int,
                odist: c_int,
                sign: c_int,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_many_dft"), || {
                    let (from, to) = ((inembed, istride, idist), (onembed, ostride, odist));
                    // SAFETY: FFTW's manual asks the caller for it.
                    let many = unsafe { Many::new(rank, n, howmany, from, to)? };
                    plan_complex(&many, input, output, sign, flags)
                })
            }

            /// Many real arrays to their half-spectra.
            #[unsafe(export_name = concat!($prefix, "plan_many_dft_r2c"))]
            pub unsafe extern "C" fn plan_many_dft_r2c(
                rank: c_int,
                n: *const c_int,
                howmany: c_int,
                input: *mut $real,
                inembed: *const c_int,
                istride: c_int,
                idist: c_int,
                output: *mut Complex<$real>,
                onembed: *const c_int,
                ostride: c_int,
                odist: c_int,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_many_dft_r2c"), || {
                    let (from, to) = ((inembed, istride, idist), (onembed, ostride, odist));
                    // SAFETY: FFTW's manual asks the caller for it.
                    let many = unsafe { Many::new(rank, n, howmany, from, to)? };
                    plan_real_to_complex(&many, input, output, flags)
                })
            }

            /// Many half-spectra to their real arrays.
            #[unsafe(export_name = concat!($prefix, "plan_many_dft_c2r"))]
            pub unsafe extern "C" fn plan_many_dft_c2r(
                rank: c_int,
                n: *const c_int,
                howmany: c_int,
                input: *mut Complex<$real>,
                inembed: *const c_int,
                istride: c_int,
                idist: c_int,
                output: *mut $real,
                onembed: *const c_int,
                ostride: c_int,
                odist: c_int,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_many_dft_c2r"), || {
                    let (from, to) = ((inembed, istride, idist), (onembed, ostride, odist));
                    // SAFETY: FFTW's manual asks the caller for it.
                    let many = unsafe { Many::new(rank, n, howmany, from, to)? };
                    plan_complex_to_real(&many, input, output, flags)
                })
            }

            /// Many real transforms of the kinds numbered in `fftw_r2r_kind`.
            #[unsafe(export_name = concat!($prefix, "plan_many_r2r"))]
            pub unsafe extern "C" fn plan_many_r2r(
                rank: c_int,
                n: *const c_int,
                howmany: c_int,
                input: *mut $real,
                inembed: *const c_int,
                istride: c_int,
                idist: c_int,
                output: *mut $real,
                onembed: *const c_int,
                ostride: c_int,
                odist: c_int,
                kind: *const c_int,
                flags: c_uint,
            ) -> PlanPointer {
                guard_plan(concat!($prefix, "plan_many_r2r"), || {
                    let (from, to) = ((inembed, istride, idist), (onembed, ostride, odist));
                    // SAFETY: FFTW's manual asks the caller for it.
                    let (many, kinds) = unsafe {
                        (
                            Many::new(rank, n, howmany, from, to)?,
                            values_at("the list of kinds", kind, rank)?,
                        )
                    };
                    plan_real(&many, input, output, kinds, flags)
                })
            }
        }
    };
}
many_entry_points!(double, f64, "fftw_");
many_entry_points!(single, f32, "fftwf_");
