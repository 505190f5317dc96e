//! One long line: split into a matrix whose columns are transformed lane by lane.

use crate::oracle::bluestein::LineBluestein;
use crate::oracle::dispatch::{Kernel, dispatch};
use crate::oracle::double_double::{ComplexDoubleDouble, ExactProduct};
use crate::oracle::factor::balanced_split;
use crate::oracle::lanes::{ComplexLanes, LANES, LanePlan, LaneScratch};
use crate::oracle::roots::Roots;
use rayon::prelude::*;

/// Lengths up to this are summed by their definition.
const LARGEST_DIRECT: usize = 24;
/// Fewer lines than this are transformed one by one: empty lanes would cost more than they save.
const FEWEST_LANES: usize = 6;
/// Longer lines are transformed one by one: [`LANES`] of them side by side would leave the cache.
const LONGEST_IN_LANES: usize = 1 << 13;
/// Smaller transforms stay on one thread.
const SMALLEST_PARALLEL: usize = 1 << 14;

/// A forward transform of one line of a fixed length.
pub(crate) struct LinePlan {
    length: usize,
    method: Method,
}

enum Method {
    Direct(Roots),
    Matrix {
        first: ColumnPlan,
        second: ColumnPlan,
        roots: Roots,
    },
    Convolution(LineBluestein),
}

impl LinePlan {
    pub(crate) fn new(length: usize) -> Self {
        assert!(length > 0, "the DFT of an empty line is not defined");
        let (rows, columns) = balanced_split(length);
        let method = if length <= LARGEST_DIRECT {
            Method::Direct(Roots::new(length))
        } else if rows == 1 {
            Method::Convolution(LineBluestein::new(length))
        } else {
            Method::Matrix {
                first: ColumnPlan::new(rows, columns),
                second: ColumnPlan::new(columns, rows),
                roots: Roots::new(length),
            }
        };
        Self { length, method }
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Transforms `data` in place.
    pub(crate) fn run(&self, data: &mut [ComplexDoubleDouble]) {
        assert_eq!(data.len(), self.length);
        match &self.method {
            Method::Direct(roots) => dispatch(Direct {
                data,
                roots: roots.table(),
            }),
            Method::Convolution(convolution) => convolution.run(data),
            Method::Matrix {
                first,
                second,
                roots,
            } => {
                // Input j = j1 * columns + j2, output k = k1 + rows * k2: columns over j1, the roots with
                // exponent j2 * k1, then columns over j2. Each step transposes as it goes.
                let mut transposed = vec![ComplexDoubleDouble::ZERO; self.length];
                first.run(data, &mut transposed, Some(roots));
                second.run(&transposed, data, None);
                transpose(data, &mut transposed, first.length());
                data.copy_from_slice(&transposed);
            }
        }
    }
}

/// Writes the matrix `source` of the given number of rows to `target`, columns first.
pub(crate) fn transpose(
    source: &[ComplexDoubleDouble],
    target: &mut [ComplexDoubleDouble],
    rows: usize,
) {
    let columns = source.len() / rows;
    // Blocks of a few columns, so that a cache line of the source is used up while it is there.
    let block = |(index, chunk): (usize, &mut [ComplexDoubleDouble])| {
        let first_column = index * LANES;
        for row in 0..rows {
            for (offset, line) in chunk.chunks_exact_mut(rows).enumerate() {
                line[row] = source[row * columns + first_column + offset];
            }
        }
    };
    if source.len() < SMALLEST_PARALLEL {
        target.chunks_mut(rows * LANES).enumerate().for_each(block);
    } else {
        target
            .par_chunks_mut(rows * LANES)
            .enumerate()
            .for_each(block);
    }
}

/// A forward transform along the columns of a matrix.
pub(crate) enum ColumnPlan {
    Lanes(Box<LanePlan>),
    Lines(Box<LinePlan>),
}

impl ColumnPlan {
    /// For columns of the given length, `batch` of them in all.
    pub(crate) fn new(length: usize, batch: usize) -> Self {
        if batch >= FEWEST_LANES && length <= LONGEST_IN_LANES {
            Self::Lanes(Box::new(LanePlan::new(length)))
        } else {
            Self::Lines(Box::new(LinePlan::new(length)))
        }
    }

    fn length(&self) -> usize {
        match self {
            Self::Lanes(plan) => plan.length(),
            Self::Lines(plan) => plan.length(),
        }
    }

    /// Transforms the columns of `source`, seen as `[length][batch]`, into the rows of `target`, that is
    /// `[batch][length]`. With `twiddles`, output `k` of column `c` is multiplied by the root with exponent
    /// `k * c`.
    pub(crate) fn run(
        &self,
        source: &[ComplexDoubleDouble],
        target: &mut [ComplexDoubleDouble],
        twiddles: Option<&Roots>,
    ) {
        assert_eq!(source.len(), target.len());
        let length = self.length();
        let parallel = source.len() >= SMALLEST_PARALLEL;
        match self {
            Self::Lanes(plan) => {
                let initial = || (vec![ComplexLanes::ZERO; length], LaneScratch::default());
                let step =
                    |(data, scratch): &mut (Vec<ComplexLanes>, LaneScratch),
                     (index, rows): (usize, &mut [ComplexDoubleDouble])| {
                        let first_column = index * LANES;
                        gather(source, data, first_column, rows.len() / length);
                        plan.run(data, scratch);
                        dispatch(Scatter {
                            data,
                            rows,
                            first_column,
                            twiddles,
                        });
                    };
                if parallel {
                    target
                        .par_chunks_mut(LANES * length)
                        .enumerate()
                        .for_each_init(initial, step);
                } else {
                    let mut scratch = initial();
                    for chunk in target.chunks_mut(LANES * length).enumerate() {
                        step(&mut scratch, chunk);
                    }
                }
            }
            Self::Lines(plan) => {
                let batch = source.len() / length;
                let step = |(column, row): (usize, &mut [ComplexDoubleDouble])| {
                    for (index, value) in row.iter_mut().enumerate() {
                        *value = source[index * batch + column];
                    }
                    plan.run(row);
                    if let Some(roots) = twiddles {
                        dispatch(Twiddle { row, column, roots });
                    }
                };
                if parallel {
                    target.par_chunks_mut(length).enumerate().for_each(step);
                } else {
                    target.chunks_mut(length).enumerate().for_each(step);
                }
            }
        }
    }
}

/// Copies adjacent columns into the lanes; lanes without a column become zero.
fn gather(
    source: &[ComplexDoubleDouble],
    data: &mut [ComplexLanes],
    first_column: usize,
    columns: usize,
) {
    let batch = source.len() / data.len();
    for (row, lanes) in source.chunks_exact(batch).zip(data) {
        if columns < LANES {
            *lanes = ComplexLanes::ZERO;
        }
        for (lane, &value) in row[first_column..first_column + columns].iter().enumerate() {
            lanes.set(lane, value);
        }
    }
}

/// Copies lanes to rows, and multiplies by the roots.
struct Scatter<'a> {
    data: &'a [ComplexLanes],
    rows: &'a mut [ComplexDoubleDouble],
    first_column: usize,
    twiddles: Option<&'a Roots>,
}

impl Kernel for Scatter<'_> {
    type Output = ();

    #[inline(always)]
    fn run<P: ExactProduct>(self) {
        for (lane, row) in self.rows.chunks_exact_mut(self.data.len()).enumerate() {
            for (value, lanes) in row.iter_mut().zip(self.data) {
                *value = lanes.get(lane);
            }
            if let Some(roots) = self.twiddles {
                (Twiddle {
                    row,
                    column: self.first_column + lane,
                    roots,
                })
                .run::<P>();
            }
        }
    }
}

/// Multiplies element `k` of a row by the root with exponent `k * column`.
struct Twiddle<'a> {
    row: &'a mut [ComplexDoubleDouble],
    column: usize,
    roots: &'a Roots,
}

impl Kernel for Twiddle<'_> {
    type Output = ();

    #[inline(always)]
    fn run<P: ExactProduct>(self) {
        for (index, value) in self.row.iter_mut().enumerate() {
            *value = value.times::<P>(self.roots.get_with::<P>(index * self.column));
        }
    }
}

/// The definition, for a handful of points.
struct Direct<'a> {
    data: &'a mut [ComplexDoubleDouble],
    roots: &'a [ComplexDoubleDouble],
}

impl Kernel for Direct<'_> {
    type Output = ();

    #[inline(always)]
    fn run<P: ExactProduct>(self) {
        let length = self.data.len();
        let mut input = [ComplexDoubleDouble::ZERO; LARGEST_DIRECT];
        input[..length].copy_from_slice(self.data);
        for (output, value) in self.data.iter_mut().enumerate() {
            let mut exponent = 0;
            let mut sum = ComplexDoubleDouble::ZERO;
            for term in &input[..length] {
                sum = sum.plus(term.times::<P>(self.roots[exponent]));
                exponent += output;
                if exponent >= length {
                    exponent -= length;
                }
            }
            *value = sum;
        }
    }
}
