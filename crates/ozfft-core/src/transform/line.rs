//! One 1-D transform of any length over the caller's numbers.

use crate::matrix_unit::{self, ListedUnit, MatrixUnit, Unit};
use crate::portable::power_of_two;
use crate::recipe::LineRecipe;
use crate::roots::Fixed;
use crate::simd::{HalfRow, Point, Row, Vectors};
use crate::stages::half_spectra::half_columns;
use crate::stages::lines::Lines;
use crate::stages::numbers::{Elements, Input, Output, Reader};
use crate::stages::outputs::SETS;
use crate::stages::outputs::WideOutputs;
use crate::stages::quantise::{
    Columns, InputSymmetry, Quantised, quantise_floats, quantise_real_floats,
};
use crate::stages::quantise_single::quantise_singles;
use crate::substrate::for_each_unit;
use crate::transform::bailey::Block;
use crate::transform::bluestein::Bluestein;
use crate::transform::passes::{Ends, PAIR, Passes};
use crate::transform::source::{Sink, Source};
use crate::transform::tables::Setting;
use num_complex::Complex;

/// A planned line.
#[derive(Debug)]
pub enum Line {
    Copy,
    Passes(Passes),
    Bluestein(Box<Bluestein>),
}

impl Line {
    /// Tables for a recipe; outputs are scaled by `scale · 2^scale_exponent`.
    pub fn new(
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
    pub fn columns(&self) -> Option<Columns> {
        match self {
            Line::Passes(passes) if passes.is_one_block() => Some(passes.blocks()[0].columns()),
            _ => None,
        }
    }

    /// Bytes of its tables.
    pub fn table_bytes(&self) -> usize {
        match self {
            Line::Copy => 0,
            Line::Passes(passes) => passes.table_bytes(),
            Line::Bluestein(bluestein) => bluestein.table_bytes(),
        }
    }

    /// Whether one transform is worth several threads.
    #[inline]
    pub fn is_large(&self) -> bool {
        match self {
            Line::Copy => false,
            Line::Passes(passes) => passes.is_large(),
            Line::Bluestein(bluestein) => bluestein.is_large(),
        }
    }

    /// Number of lines that a unit transforms together, real ones perhaps in pairs of sets.
    #[inline]
    pub fn lines_at_once(&self, unit: Unit, in_pairs: bool) -> usize {
        let lanes = unit.lanes();
        let one_block = match self {
            Line::Copy => true,
            Line::Passes(passes) if lanes > 1 && passes.comes_in_sets(unit.is_row_by_row()) => {
                return SETS * lanes;
            }
            Line::Passes(passes) if lanes > 1 && in_pairs && passes.pairs_real_lines() => {
                return PAIR * lanes;
            }
            Line::Passes(passes) => passes.is_one_block(),
            Line::Bluestein(bluestein) => bluestein.is_one_block(),
        };
        if one_block { lanes } else { 1 }
    }

    /// Whether a few lines are transformed one by one.
    #[inline]
    pub fn goes_one_by_one(&self) -> bool {
        matches!(self, Line::Passes(passes) if passes.goes_one_by_one())
    }

    /// 64-bit words of workspace for one call by `workers` threads, where there are `lines` lines in all.
    fn words<const L: usize, U: MatrixUnit<L>>(&self, workers: usize, lines: usize) -> usize {
        match self {
            Line::Copy => 0,
            Line::Passes(passes) if passes.is_one_by_one::<L>(lines) => {
                passes.one_by_one_workspace_len::<L, U>()
            }
            Line::Passes(passes)
                if const { L > 1 } && lines > L && passes.comes_in_sets(U::ROW_BY_ROW) =>
            {
                let sets = passes.sets_workspace_len::<L, U>();
                sets.max(passes.workspace_len::<L, U>(workers))
            }
            Line::Passes(passes) => passes.workspace_len::<L, U>(workers),
            Line::Bluestein(bluestein) => bluestein.workspace_len::<L, U>(workers),
        }
    }

    /// The passes of a line that has several of them, or of its convolution.
    pub fn several_passes(&self) -> Option<&Passes> {
        let passes = match self {
            Line::Passes(passes) => passes,
            Line::Bluestein(bluestein) => bluestein.passes(),
            Line::Copy => return None,
        };
        (!passes.is_one_block()).then_some(passes)
    }

    /// Transforms several sets of lines, as [`Line::lines_at_once`] allows.
    fn run_sets<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        sets: usize,
        ends: &Ends<'_, L>,
        workspace: &mut [u64],
    ) {
        match self {
            Line::Passes(passes) if const { L > 1 } && passes.comes_in_sets(U::ROW_BY_ROW) => {
                passes.run_sets(unit, sets, ends, workspace);
            }
            Line::Passes(passes) if const { L > 1 } => {
                debug_assert_eq!(sets, PAIR);
                passes.run_real_pair(unit, ends, workspace);
            }
            _ => unreachable!("other lines are one set at a time"),
        }
    }

    /// Transforms `active` lines; a line with a NaN or an infinity becomes all NaN.
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
            Line::Passes(passes) if const { L > 1 } && passes.is_one_by_one::<L>(active) => {
                passes.run_one_by_one(unit, input, output, active, workspace);
                Ok(())
            }
            // Asked first, and a constant: other units are not compiled for short lanes at all.
            Line::Passes(passes) if U::SHORT && passes.is_short() => {
                passes.run_short(unit, input, output, active, workspace);
                Ok(())
            }
            Line::Passes(passes) => passes.run(unit, (&floats, &end), active, workspace, workers),
            Line::Bluestein(bluestein) => {
                bluestein.run(unit, input, output, active, workspace, workers)
            }
        };
        if outcome.is_err() {
            output.fill_nan(0);
        }
    }
}

/// Lines of the caller's arrays.
pub trait Connect {
    /// Lines that there are.
    fn count(&self) -> usize;

    /// Some of them.
    fn part(&self, first: usize, count: usize) -> Self;

    /// Calls `run` with the lines, `L` at most, of the input and of the output.
    fn connect<const L: usize>(&self, run: impl FnOnce(&Input<'_, L>, &Output<'_, L>));
}

/// [`Line::run`] for each unit, compiled once and here: callers are generic over the number type, and would otherwise compile it
/// again in every crate that uses a plan.
macro_rules! compiled_once {
    ($($(#[doc = $doc:literal])* $name:ident, $lanes:literal, $text:literal, $compiled:meta, $needs:literal;)*) => {
        #[allow(non_snake_case)]
        mod compiled {
            use super::*;
            $(
                #[cfg($compiled)]
                pub(super) mod $name {
                    use super::*;

                    pub(in super::super) type Unit = <matrix_unit::$name as ListedUnit>::Transforming;

                    #[inline(never)]
                    pub(in super::super) fn one_set(
                        line: &Line,
                        unit: Unit,
                        (input, output): (&Input<'_, $lanes>, &Output<'_, $lanes>),
                        active: usize,
                        workspace: &mut [u64],
                        workers: usize,
                    ) {
                        line.run(unit, input, output, active, workspace, workers);
                    }

                    #[inline(never)]
                    pub(in super::super) fn several_sets(
                        line: &Line,
                        unit: Unit,
                        sets: usize,
                        ends: &Ends<'_, $lanes>,
                        workspace: &mut [u64],
                    ) {
                        line.run_sets(unit, sets, ends, workspace);
                    }
                }
            )*
        }

        impl Line {
            /// Transforms these lines on a unit.
            pub fn run_on(
                &self,
                unit: Unit,
                lines: &impl Connect,
                workspace: &mut [u64],
                workers: usize,
            ) {
                let active = lines.count();
                match unit {
                    $(
                        #[cfg($compiled)]
                        Unit::$name(unit) if active > $lanes => {
                            let ends: &Ends<'_, $lanes> = &|set, run| {
                                let first = set * $lanes;
                                let part = lines.part(first, (active - first).min($lanes));
                                part.connect(|input, output| run(input, output, part.count()));
                            };
                            let sets = active.div_ceil($lanes);
                            compiled::$name::several_sets(self, unit.transforming(), sets, ends, workspace);
                        }
                        #[cfg($compiled)]
                        Unit::$name(unit) => lines.connect(|input, output| {
                            let ends = (input, output);
                            compiled::$name::one_set(self, unit.transforming(), ends, active, workspace, workers);
                        }),
                    )*
                    #[cfg(feature = "residues")]
                    Unit::Residues => lines.connect(|input, output| {
                        self.run_residues((input, output), active, workspace, workers);
                    }),
                }
            }

            /// 64-bit words of workspace for one call by `workers` threads on a unit, where there are `lines` lines in all.
            #[inline]
            pub fn workspace_len(&self, unit: Unit, workers: usize, lines: usize) -> usize {
                match unit {
                    $(
                        #[cfg($compiled)]
                        Unit::$name(_) => self.words::<$lanes, compiled::$name::Unit>(workers, lines),
                    )*
                    #[cfg(feature = "residues")]
                    Unit::Residues => self.words::<1, matrix_unit::ResidueNumbers>(workers, lines),
                }
            }
        }
    };
}
for_each_unit!(compiled_once);

#[cfg(feature = "residues")]
impl Line {
    #[inline(never)]
    fn run_residues(
        &self,
        (input, output): (&Input<'_, 1>, &Output<'_, 1>),
        active: usize,
        workspace: &mut [u64],
        workers: usize,
    ) {
        let unit = matrix_unit::ResidueNumbers;
        self.run(unit, input, output, active, workspace, workers);
    }
}

/// A transform of one point is the point, and no norm scales it. Adding 0 takes the sign off a zero.
fn copy<const L: usize>(input: &Input<'_, L>, output: &Output<'_, L>, active: usize) {
    for lane in 0..active {
        let value = input.element(lane, 0);
        if value.re.is_finite() && value.im.is_finite() {
            let scale = power_of_two(output.bias[lane]);
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
pub(crate) struct Floats<'a, const L: usize>(pub(crate) &'a Input<'a, L>);

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
            // A unit by the line's norm would need all of its numbers.
            let is_half = self.0.elements == Elements::Half(block.len());
            if is_half && grid.rows > 1 && shape.relative_unit.is_none() {
                let half = half_columns(grid);
                let columns = half.columns;
                let panel = (grid, columns);
                self.0.gather_half::<V>(lines, block.len(), panel, points);
                let found = quantise_floats::<L, V>(points, half, Columns { columns, ..shape });
                return known_symmetry(found, self.0, block);
            }
            self.0.gather::<V>(lines, usize::MAX, grid, points);
            match self.0.elements {
                Elements::Real => quantise_real_floats::<L, V>(points, grid, shape),
                _ => quantise_floats::<L, V>(points, grid, shape),
            }
        };
        known_symmetry(found, self.0, block)
    }
}

/// Symmetry of the words of a half-spectrum: one block holds the whole line; of a longer one it holds every so many
/// elements.
pub(crate) fn known_symmetry<const L: usize>(
    found: Quantised<L>,
    input: &Input<'_, L>,
    block: &Block,
) -> Quantised<L> {
    if input.elements == Elements::Half(block.len()) {
        let symmetry = InputSymmetry::Hermitian;
        return Quantised { symmetry, ..found };
    }
    found
}

/// The caller's array as the destination.
pub(crate) struct End<'a, const L: usize>(pub(crate) &'a Output<'a, L>);

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
