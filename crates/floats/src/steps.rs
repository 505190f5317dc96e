//! Transforms without a matrix unit as data: operations and constants for another machine, which computes the same bits with them.
//!
//! Two arrays of [`LineProgram::length`] numbers take turns. A line is read into the first, its parts exchanged for an inverse transform and
//! back at the end. Every operation is that of the file it is named after (`stockham.rs`, `gemm.rs`, `bluestein.rs`), in the order of its
//! sums and with the same operations fused.

use crate::Mode;
use crate::dispatch::Table;
use crate::lanes::{InstructionSet, Scalar};
use crate::lines::bluestein::{Bluestein, convolution_length};
use crate::lines::gemm::Gemm;
pub use crate::lines::program::{LineProgram, Operation, ProgramStep};
use crate::lines::recipe::LineRecipe;
use crate::lines::stockham::Stockham;

/// The program of a length in the modes `fast`, `kahan` and `double`, forward. None for other modes, for lengths that the table does not have,
/// and where it has steps of 8 points by their matrix.
///
/// ```
/// use floats::steps::{Operation, program};
/// use floats::{Mode, Table};
/// let program = program(1024, Mode::Fast, Table::Measured).unwrap();
/// assert_eq!(program.steps.len(), 4);
/// let first = Operation::Butterfly { points: 8, stride: 1, groups: 128 };
/// assert_eq!(program.steps[0].operation, first);
/// ```
pub fn program(n: usize, mode: Mode, table: Table) -> Option<LineProgram> {
    match mode {
        Mode::Fast | Mode::Kahan => program_of::<f32>(n, mode, table),
        Mode::Double => program_of::<f64>(n, mode, table),
        _ => None,
    }
}

fn program_of<S: Scalar>(n: usize, mode: Mode, table: Table) -> Option<LineProgram> {
    table.find(n, mode)?;
    let mut program = LineProgram {
        length: n,
        ..LineProgram::default()
    };
    match table.line_recipe(n, mode) {
        LineRecipe::Gemm => Gemm::<S>::new(n).write(&mut program),
        LineRecipe::Stages(steps) => Stockham::<S>::new(&steps).write(&mut program)?,
        LineRecipe::Bluestein(steps) => {
            program.length = convolution_length(n);
            let set = InstructionSet::detect();
            Bluestein::<S>::new(n, &steps, set).write(&mut program)?;
        }
    }
    Some(program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, FloatPlan, Unit};
    use num_complex::Complex;
    use ozfft_testkit::oracle::inputs;

    type Number = Complex<f64>;

    /// The text above, carried out in f64 without care for the order of sums.
    fn run(program: &LineProgram, line: &[Number]) -> Vec<Number> {
        let mut from = vec![Number::default(); program.length];
        from[..line.len()].copy_from_slice(line);
        let swapped = |value: Number, swap: bool| match swap {
            true => Complex::new(value.im, value.re),
            false => value,
        };
        for step in &program.steps {
            let constant = |i: usize| {
                let [re, re_low, im, im_low] = program.constants[step.constants + i];
                Complex::new(re + re_low, im + im_low)
            };
            match step.operation {
                Operation::Butterfly {
                    points,
                    stride,
                    groups,
                } => {
                    let mut to = from.clone();
                    for p in 0..groups {
                        for q in 0..stride {
                            for k in 0..points {
                                let sum: Number = (0..points)
                                    .map(|i| {
                                        let turn = -std::f64::consts::TAU * (i * k % points) as f64
                                            / points as f64;
                                        from[q + stride * (p + groups * i)]
                                            * Complex::from_polar(1.0, turn)
                                    })
                                    .sum();
                                let by = match (k, p) {
                                    (0, _) | (_, 0) => Complex::new(1.0, 0.0),
                                    _ => constant((k - 1) * groups + p),
                                };
                                to[q + stride * (points * p + k)] = sum * by;
                            }
                        }
                    }
                    from = to;
                }
                Operation::Product => {
                    let n = program.length;
                    let of = |k: usize| (0..n).map(|j| from[j] * constant(j * k % n).conj()).sum();
                    from = (0..n).map(of).collect();
                }
                Operation::Multiply {
                    values,
                    swap,
                    zero_to,
                } => {
                    for (i, value) in from.iter_mut().enumerate().take(values) {
                        *value = swapped(swapped(*value, swap.0) * constant(i), swap.1);
                    }
                    from[values..zero_to.max(values)].fill(Number::default());
                }
            }
        }
        from.truncate(line.len());
        from
    }

    #[test]
    fn programs_are_transforms() {
        for mode in [Mode::Fast, Mode::Kahan, Mode::Double] {
            for n in [1, 2, 12, 13, 64, 77, 100, 17, 128] {
                let program = program(n, mode, Table::Measured).unwrap();
                let line = inputs::uniform_complex(n, 3);
                let ours = run(&program, &line);
                let plan = FloatPlan::new(n, Mode::Double, Direction::Forward, Unit::Scalar);
                let plan = plan.unwrap();
                let mut theirs = line;
                plan.process_f64(&mut theirs, &mut plan.workspace())
                    .unwrap();
                let difference: f64 = ours
                    .iter()
                    .zip(&theirs)
                    .map(|(a, b)| (a - b).norm_sqr())
                    .sum();
                let size: f64 = theirs.iter().map(|x| x.norm_sqr()).sum();
                // Constants of `fast` have 24 bits.
                let allowed = if mode == Mode::Fast { 1e-6 } else { 1e-13 };
                assert!(
                    difference.sqrt() <= allowed * size.sqrt(),
                    "{mode} {n}, seed 3"
                );
            }
        }
        let product = program(48, Mode::Fast, Table::Posted).unwrap();
        assert_eq!(product.steps[0].operation, Operation::Product);
        let line = inputs::uniform_complex(48, 4);
        let stages = program(48, Mode::Double, Table::Measured).unwrap();
        let (one, other) = (run(&product, &line), run(&stages, &line));
        let far = one.iter().zip(&other).any(|(a, b)| (a - b).norm() > 1e-5);
        assert!(!far, "seed 4");
        assert_eq!(program(512, Mode::Fast, Table::Posted), None);
        assert_eq!(program(64, Mode::Ozaki, Table::Measured), None);
    }
}
