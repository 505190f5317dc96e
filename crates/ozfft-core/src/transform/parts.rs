//! Parts of one long line, for programs that divide it among processes: what is done to some columns or rows of its passes.

use crate::matrix_unit::{self, ListedUnit, MatrixUnit, Unit};
use crate::stages::numbers::{Elements, Input, Output, Reader, Writer};
use crate::stages::quantise::LineProperties;
use crate::substrate::for_each_unit;
use crate::transform::bluestein::Stored;
use crate::transform::line::{End, Floats, Line};
use crate::transform::passes::Passes;
use crate::transform::source::LineEnds;
use num_complex::Complex;
use std::ops::Range;

/// The numbers of a part of a long line, in an array of their own.
pub struct PartNumbers<'a> {
    pub numbers: Reader<'a>,
    pub elements: Elements,
    pub conjugate: bool,
}

/// So many outputs of a part of a long line, in an array of their own.
pub struct PartOutput<'a> {
    pub numbers: Writer<'a>,
    pub count: usize,
    pub real: bool,
    pub conjugate: bool,
}

/// What is done to a part of a long line. Columns go through all passes of a transform but the last, and rows through the last one. A convolution has two transforms.
pub enum PartStep<'a> {
    /// Columns, from numbers.
    Columns(PartNumbers<'a>),
    /// Rows of the first of two transforms, to products and their exponents.
    Products(Stored<'a>),
    /// Columns of the second, from products, and the exponents of all of them.
    ProductColumns(&'a [Complex<i64>], &'a [i32]),
    /// Rows, to numbers.
    Rows(PartOutput<'a>),
}

/// Some columns or rows of a line, whose words and exponents are stored. Returns what numbers have in common, where there are any.
fn run<const L: usize, U: MatrixUnit<L>>(
    line: &Line,
    unit: U,
    step: PartStep<'_>,
    range: Range<usize>,
    stored: Stored<'_>,
    memory: (&mut [u64], usize),
) -> LineProperties {
    let nothing = LineProperties::ZERO;
    match (line, step) {
        (Line::Passes(passes), PartStep::Columns(part)) => {
            let input = Input::<L>::part(part.numbers, part.elements, part.conjugate);
            let nowhere = Output::nothing();
            let ends: LineEnds<'_, L, U> = (&Floats(&input), &End(&nowhere));
            passes.run_first_half(unit, ends, range, stored, memory.0, memory.1)
        }
        (Line::Passes(passes), PartStep::Rows(part)) => {
            let output = Output::<L>::part(part.numbers, part.count, part.real, part.conjugate);
            let numbers = Input::nothing();
            let ends: LineEnds<'_, L, U> = (&Floats(&numbers), &End(&output));
            passes.run_second_half(unit, ends, range, stored, memory.0, memory.1);
            nothing
        }
        (Line::Bluestein(convolution), PartStep::Columns(part)) => {
            let input = Input::<L>::part(part.numbers, part.elements, part.conjugate);
            convolution.numbers_to_words(unit, &input, range, stored, memory)
        }
        (Line::Bluestein(convolution), PartStep::Products(products)) => {
            convolution.words_to_products(unit, range, (stored, products), memory);
            nothing
        }
        (Line::Bluestein(convolution), PartStep::ProductColumns(words, exponents)) => {
            let products = (words, exponents);
            convolution.products_to_words(unit, range, (products, stored), memory);
            nothing
        }
        (Line::Bluestein(convolution), PartStep::Rows(part)) => {
            let output = Output::<L>::part(part.numbers, part.count, part.real, part.conjugate);
            convolution.words_to_numbers(unit, &output, range, stored, memory);
            nothing
        }
        _ => unreachable!("one point has no passes, and only convolutions have products"),
    }
}

/// [`run`] for each unit, compiled once and here, as whole lines are.
macro_rules! compiled_once {
    ($($(#[doc = $doc:literal])* $name:ident, $lanes:literal, $text:literal, $compiled:meta, $needs:literal;)*) => {
        impl Line {
            /// Some columns or rows of a long line, whose words and exponents are stored, with workspace for so many threads. Returns what
            /// the numbers of columns have in common.
            pub fn run_part_on(
                &self,
                unit: Unit,
                step: PartStep<'_>,
                range: Range<usize>,
                stored: Stored<'_>,
                memory: (&mut [u64], usize),
            ) -> LineProperties {
                match unit {
                    $(
                        #[cfg($compiled)]
                        Unit::$name(unit) => {
                            run::<$lanes, _>(self, unit.transforming(), step, range, stored, memory)
                        }
                    )*
                    #[cfg(feature = "residues")]
                    Unit::Residues => unreachable!("parts of lines are for the engine digits"),
                }
            }
        }

        impl Passes {
            /// 64-bit words of workspace for a part of so many numbers.
            pub fn part_len_on(&self, unit: Unit, numbers: usize, workers: usize) -> usize {
                match unit {
                    $(
                        #[cfg($compiled)]
                        Unit::$name(_) => {
                            self.part_workspace_len::<$lanes, <matrix_unit::$name as ListedUnit>::Transforming>(numbers, workers)
                        }
                    )*
                    #[cfg(feature = "residues")]
                    Unit::Residues => unreachable!("parts of lines are for the engine digits"),
                }
            }
        }
    };
}
for_each_unit!(compiled_once);
