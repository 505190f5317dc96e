//! One 1-D transform of any length over the caller's numbers.

#[cfg(neon_unit)]
use crate::matrix_unit::NeonDot;
#[cfg(feature = "residues")]
use crate::matrix_unit::ResidueNumbers;
#[cfg(vector_unit)]
use crate::matrix_unit::{Amx, Avx2Integers, Avx512Vnni};
use crate::matrix_unit::{MatrixUnit, Scalar, WideInteger};
use crate::recipe::LineRecipe;
use crate::roots::Fixed;
use crate::simd::{HalfRow, Point, Row, Vectors};
use crate::stages::lines::Lines;
use crate::stages::numbers::{Elements, Input, Output, Reader};
use crate::stages::outputs::WideOutputs;
use crate::stages::quantise::{Columns, Quantised, Words, quantise_floats};
use crate::stages::quantise_single::quantise_singles;
use crate::transform::bailey::Block;
use crate::transform::bluestein::Bluestein;
use crate::transform::passes::Passes;
use crate::transform::source::{Sink, Source};
use crate::transform::tables::Setting;
use num_complex::Complex;

/// A planned line.
#[derive(Debug)]
pub(crate) enum Line {
    Copy,
    Passes(Passes),
    Bluestein(Box<Bluestein>),
}

impl Line {
    /// Tables for a recipe; outputs are scaled by `scale · 2^scale_exponent`.
    pub(crate) fn new(
        recipe: &LineRecipe,
        scale: &Fixed,
        scale_exponent: i32,
        setting: Setting<'_>,
    ) -> Line {
        match recipe {
            LineRecipe::Copy => Line::Copy,
            LineRecipe::Passes(blocks) => {
                Line::Passes(Passes::new(blocks, scale, scale_exponent, setting))
            }
            LineRecipe::Bluestein { n, convolution } => Line::Bluestein(Box::new(Bluestein::new(
                *n,
                convolution,
                scale,
                scale_exponent,
                setting,
            ))),
        }
    }

    /// How a line that is quantised as a whole is quantised.
    pub(crate) fn columns(&self) -> Option<Columns> {
        match self {
            Line::Passes(passes) if passes.is_one_block() => Some(passes.blocks()[0].columns()),
            _ => None,
        }
    }

    /// Bytes of its tables.
    pub(crate) fn table_bytes(&self) -> usize {
        match self {
            Line::Copy => 0,
            Line::Passes(passes) => passes.table_bytes(),
            Line::Bluestein(bluestein) => bluestein.table_bytes(),
        }
    }

    /// Whether one transform is worth several threads.
    pub(crate) fn is_large(&self) -> bool {
        match self {
            Line::Copy => false,
            Line::Passes(passes) => passes.is_large(),
            Line::Bluestein(bluestein) => bluestein.is_large(),
        }
    }

    /// Number of lines that are transformed side by side by a unit with `lanes` lanes.
    pub(crate) fn lines_at_once(&self, lanes: usize) -> usize {
        let one_block = match self {
            Line::Copy => true,
            Line::Passes(passes) => passes.is_one_block(),
            Line::Bluestein(bluestein) => bluestein.is_one_block(),
        };
        if one_block { lanes } else { 1 }
    }

    /// 64-bit words of workspace for one call by `workers` threads.
    fn words<const L: usize, U: MatrixUnit<L>>(&self, workers: usize) -> usize {
        match self {
            Line::Copy => 0,
            Line::Passes(passes) => passes.workspace_len::<L, U>(workers),
            Line::Bluestein(bluestein) => bluestein.workspace_len::<L, U>(workers),
        }
    }

    /// Transforms `active` lines; a line with a NaN or an infinity becomes all NaN.
    ///
    /// The functions that follow are this one for each unit, compiled once and here: callers are generic over the
    /// number type, and would otherwise compile it again in every crate that uses a plan.
    fn run<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        input: &Input<'_, L>,
        output: &Output<'_, L>,
        active: usize,
        workspace: &mut [u64],
        workers: usize,
    ) {
        let (floats, end) = (Floats(input), End(output));
        let outcome = match self {
            Line::Copy => {
                copy(input, output, active);
                Ok(())
            }
            // Asked first, and a constant: other units are not compiled for short lanes at all.
            Line::Passes(passes) if U::SHORT && passes.is_short() => {
                passes.run_short(unit, input, output, active, workspace);
                Ok(())
            }
            Line::Passes(passes) => passes.run(unit, &floats, &end, active, workspace, workers),
            Line::Bluestein(bluestein) => {
                bluestein.run(unit, input, output, active, workspace, workers)
            }
        };
        if outcome.is_err() {
            output.fill_nan(0);
        }
    }
}

macro_rules! compiled_once {
    ($($name:ident, $unit:ty, $lanes:expr;)*) => {
        impl Line {$(
            #[inline(never)]
            pub(crate) fn $name(
                &self,
                unit: $unit,
                input: &Input<'_, { $lanes }>,
                output: &Output<'_, { $lanes }>,
                active: usize,
                workspace: &mut [u64],
                workers: usize,
            ) {
                self.run(unit, input, output, active, workspace, workers);
            }
        )*}
    };
}
compiled_once! {
    run_scalar, Scalar, 1;
    run_wide_integer, WideInteger, 1;
}
#[cfg(feature = "residues")]
compiled_once! {
    run_residues, ResidueNumbers, 1;
}
#[cfg(neon_unit)]
compiled_once! {
    run_neon_dot, NeonDot, 2;
}
#[cfg(vector_unit)]
compiled_once! {
    run_avx2, Avx2Integers, 4;
    run_avx512_vnni, Avx512Vnni, 8;
    run_amx, Amx, 8;
}

impl Line {
    /// 64-bit words of workspace for one call by `workers` threads on a unit.
    pub(crate) fn workspace_len(&self, unit: crate::matrix_unit::Unit, workers: usize) -> usize {
        use crate::matrix_unit::Unit;
        match unit {
            Unit::Scalar => self.words::<1, Scalar>(workers),
            Unit::WideInteger => self.words::<1, WideInteger>(workers),
            #[cfg(feature = "residues")]
            Unit::Residues => self.words::<1, ResidueNumbers>(workers),
            #[cfg(neon_unit)]
            Unit::NeonDot(_) => self.words::<2, NeonDot>(workers),
            #[cfg(vector_unit)]
            Unit::Avx2(_) => self.words::<4, Avx2Integers>(workers),
            #[cfg(vector_unit)]
            Unit::Avx512Vnni(_) => self.words::<8, Avx512Vnni>(workers),
            #[cfg(vector_unit)]
            Unit::Amx(_) => self.words::<8, Amx>(workers),
        }
    }
}

/// A transform of one point is the point, and no norm scales it. Adding 0 takes the sign off a zero.
fn copy<const L: usize>(input: &Input<'_, L>, output: &Output<'_, L>, active: usize) {
    for lane in 0..active {
        let value = input.element(lane, 0);
        if value.re.is_finite() && value.im.is_finite() {
            let scale = f64::from(output.bias[lane]).exp2();
            let value = if output.conjugate {
                value.conj()
            } else {
                value
            };
            output.put(lane, 0, value * scale + Complex::new(0.0, 0.0));
        } else {
            output.fill_nan(lane);
        }
    }
}

/// The caller's numbers as a source of words.
struct Floats<'a, const L: usize>(&'a Input<'a, L>);

impl<const L: usize> Source<L> for Floats<'_, L> {
    #[inline(always)]
    fn quantise<V: Vectors<L>>(
        &self,
        lines: &Lines<L>,
        block: &Block,
        points: &mut [Point<L>],
        exponents: &mut [Row<L>],
    ) -> Quantised<L> {
        let (grid, shape) = (block.input(), block.columns());
        let found = if let Reader::Single(_) = self.0.numbers {
            // A row of exponents is as large as a row of single-precision numbers, and there are no exponents yet.
            let panel: &mut [HalfRow<L>] = bytemuck::cast_slice_mut(exponents);
            self.0.gather_singles::<V>(lines, grid, panel);
            quantise_singles::<L, V>(panel, points, grid, shape)
        } else {
            self.0.gather::<V>(lines, usize::MAX, grid, points);
            quantise_floats::<L, V>(points, grid, shape)
        };
        known_symmetry(found, self.0, block)
    }
}

/// What is known of the words of a half-spectrum: one block holds the whole line; of a longer one it holds every so many
/// elements.
pub(crate) fn known_symmetry<const L: usize>(
    found: Quantised<L>,
    input: &Input<'_, L>,
    block: &Block,
) -> Quantised<L> {
    if input.elements == Elements::Half(block.len()) {
        let words = Words::Hermitian;
        return Quantised { words, ..found };
    }
    found
}

/// The caller's array as the end of the way.
struct End<'a, const L: usize>(&'a Output<'a, L>);

impl<const L: usize> Sink<L> for End<'_, L> {
    fn floats(&self) -> Option<&Output<'_, L>> {
        Some(self.0)
    }

    fn accept<V: Vectors<L>>(
        &self,
        _: &Lines<L>,
        _: &WideOutputs<'_, L>,
        _: &Quantised<L>,
        _: &mut [Point<L>],
    ) {
        unreachable!("the caller's array takes floating-point numbers")
    }
}
