//! The native engine over several axes: lines where they are, side by side, in panels and in slabs of the array, on any number of
//! threads.

use crate::common_arrays::{
    Sample, bits, collect, count, execute_any, hermitian_extension, positions, random_layout,
    random_values, referee_direction, scale, spread, unravel, widths,
};
use num_complex::Complex;
use ozfft::{Direction, Engine, FftError, Kind, Layout, Norm, Planner, Problem};
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::oracle::{DoubleDouble, compare_scaled, dft_axes};

/// Lengths with a step of their own for every radix, lines that fill no vector, panel or slab, lengths that have to be RustFFT's (22,
/// 37), and axes of one point.
const SHAPES: [&[usize]; 14] = [
    &[24, 24, 24],
    &[20, 9, 35],
    &[3, 65, 50],
    &[7, 16, 1, 13],
    &[22, 37, 6],
    &[100, 33],
    &[48, 31],
    &[33, 48],
    &[1, 128, 5],
    &[128, 1, 9],
    &[2, 2, 2],
    &[2048, 3],
    &[4116, 2],
    &[64, 64, 17],
];

fn problem(kind: Kind, shape: &[usize]) -> Problem {
    match kind {
        Kind::ComplexToComplex => Problem::complex(shape),
        Kind::RealToComplex => Problem::real_to_complex(shape),
        Kind::ComplexToReal => Problem::complex_to_real(shape),
    }
    .norm(Norm::Ortho)
    .engine(Engine::Native)
}

/// A problem with its layouts and values.
struct Case<T> {
    problem: Problem,
    batch: usize,
    layouts: (Layout, Layout),
    values: Vec<T>,
}

impl<T: Sample> Case<T> {
    fn new(problem: &Problem, batch: usize, strided: bool, generator: &mut Generator) -> Self {
        let shapes = (problem.input_shape(), problem.output_shape());
        let mut layout = |shape: &[usize]| match strided {
            true => random_layout(generator, shape, batch),
            false => Layout::contiguous(shape),
        };
        let layouts = (layout(&shapes.0), layout(&shapes.1));
        let width = widths(problem.kind()).0;
        let problem = problem.clone().batch(batch);
        Case {
            problem: match strided {
                true => problem
                    .input_layout(layouts.0.clone())
                    .output_layout(layouts.1.clone()),
                false => problem,
            },
            batch,
            layouts,
            values: random_values(generator, batch * count(&shapes.0) * width),
        }
    }

    /// The results of so many threads, in C order.
    fn transformed(&self, threads: usize) -> Vec<T> {
        let problem = self.problem.clone().threads(threads);
        let plan = Planner::<T>::new().plan(&problem).expect("a plan");
        assert_eq!(plan.engine(), Engine::Native);
        let (input_width, output_width) = widths(problem.kind());
        let read = positions(&self.layouts.0, &problem.input_shape(), self.batch);
        let written = positions(&self.layouts.1, &problem.output_shape(), self.batch);
        let nan = T::from_double(f64::NAN);
        let input = spread(&self.values, input_width, &read, problem.input_len(), nan);
        let mut output = vec![nan; problem.output_len() * output_width];
        execute_any(&plan, &input, &mut output).expect("a transform");
        collect(&output, output_width, &written)
    }

    /// Relative L2 errors of the arrays of the batch.
    fn errors(&self, results: &[T]) -> Vec<f64> {
        let problem = &self.problem;
        let (shape, kind) = (problem.shape(), problem.kind());
        let axes: Vec<usize> = (0..shape.len()).collect();
        let (input_width, output_width) = widths(kind);
        let direction = match kind {
            Kind::ComplexToReal => Direction::Inverse,
            _ => Direction::Forward,
        };
        let complex = |numbers: &[T], width: usize| -> Vec<Complex<f64>> {
            let parts = numbers.chunks_exact(width);
            let value = |parts: &[T]| {
                let im = parts.get(1).map_or(0.0, |im| im.to_double());
                Complex::new(parts[0].to_double(), im)
            };
            parts.map(value).collect()
        };
        let given = self.values.chunks_exact(self.values.len() / self.batch);
        let found = results.chunks_exact(results.len() / self.batch);
        given
            .zip(found)
            .map(|(given, found)| {
                let given = complex(given, input_width);
                let whole = match kind {
                    Kind::ComplexToReal => hermitian_extension(&given, shape, &axes),
                    _ => given,
                };
                let mut exact = dft_axes(&whole, shape, &axes, referee_direction(direction));
                match kind {
                    Kind::ComplexToComplex => {}
                    Kind::ComplexToReal => exact
                        .values
                        .iter_mut()
                        .for_each(|z| z.im = DoubleDouble::default()),
                    Kind::RealToComplex => {
                        let mut element = 0;
                        exact.values.retain(|_| {
                            let index = unravel(element, shape);
                            element += 1;
                            2 * index[shape.len() - 1] <= shape[shape.len() - 1]
                        });
                    }
                }
                let found = complex(found, output_width);
                let scale = scale(Norm::Ortho, direction, problem.points());
                compare_scaled(&found, &exact, scale).l2
            })
            .collect()
    }
}

const KINDS: [Kind; 3] = [
    Kind::ComplexToComplex,
    Kind::RealToComplex,
    Kind::ComplexToReal,
];

/// Native errors are measured: random half-spectra, whose result may be a part of what goes in, have the largest ones.
fn agrees_with_the_oracle<T: Sample>(limit: f64) {
    let mut generator = Generator::new(24);
    for shape in SHAPES {
        for kind in KINDS {
            for (batch, strided) in [(1, false), (3, false), (2, true)] {
                let case = Case::<T>::new(&problem(kind, shape), batch, strided, &mut generator);
                let results = case.transformed(1);
                for error in case.errors(&results) {
                    assert!(error < limit, "{:?}: {error:e}", case.problem);
                }
                for threads in [2, 3] {
                    let others = case.transformed(threads);
                    assert_eq!(
                        bits(&results),
                        bits(&others),
                        "{threads} threads, {:?}",
                        case.problem
                    );
                }
            }
        }
    }
}

#[test]
fn doubles_of_any_shape_agree_with_the_oracle_and_have_the_same_bits_on_any_number_of_threads() {
    agrees_with_the_oracle::<f64>(3e-15);
}

#[test]
fn singles_of_any_shape_agree_with_the_oracle_and_have_the_same_bits_on_any_number_of_threads() {
    agrees_with_the_oracle::<f32>(2e-6);
}

#[test]
fn an_array_larger_than_caches_agrees_with_the_oracle() {
    let problem = problem(Kind::ComplexToComplex, &[64, 64, 65]);
    let case = Case::<f64>::new(&problem, 1, false, &mut Generator::new(1));
    let results = case.transformed(1);
    assert!(case.errors(&results)[0] < 2e-15);
    assert_eq!(bits(&results), bits(&case.transformed(2)));
}

fn is_the_same_in_any_batch_and_in_place<T: Sample>() {
    let mut generator = Generator::new(7);
    for shape in SHAPES {
        let problem = Problem::complex(shape)
            .direction(Direction::Inverse)
            .engine(Engine::Native);
        let points = count(shape);
        let members: Vec<T> = random_values(&mut generator, 5 * 2 * points);
        let members: &[Complex<T>] = bytemuck::cast_slice(&members);
        let planner = Planner::<T>::new();
        let alone = planner.plan(&problem).expect("a plan");
        let mut expected = members.to_vec();
        for member in expected.chunks_exact_mut(points) {
            alone.process(member).expect("one array");
        }
        for batch in [5, 2, 1] {
            let plan = planner.plan(&problem.clone().batch(batch)).expect("a plan");
            let members = &members[..batch * points];
            let mut in_place = members.to_vec();
            plan.process(&mut in_place).expect("a batch");
            assert_eq!(
                bits(&in_place),
                bits(&expected[..batch * points]),
                "{shape:?}"
            );
            let mut elsewhere =
                vec![Complex::new(T::from_double(0.0), T::from_double(0.0)); members.len()];
            plan.process_outofplace(members, &mut elsewhere)
                .expect("a batch");
            assert_eq!(bits(&elsewhere), bits(&in_place), "{shape:?}");
        }
    }
}

#[test]
fn doubles_have_the_same_bits_in_any_batch_and_in_place() {
    is_the_same_in_any_batch_and_in_place::<f64>();
}

#[test]
fn singles_have_the_same_bits_in_any_batch_and_in_place() {
    is_the_same_in_any_batch_and_in_place::<f32>();
}

/// Lines of 1 to 9 arrays, side by side as along a strided axis: some fill a vector, others do not.
#[test]
fn a_line_has_the_same_bits_in_any_lane() {
    let mut generator = Generator::new(3);
    for n in [8, 30, 37, 128] {
        let values: Vec<f64> = random_values(&mut generator, 2 * 9 * n);
        let values: &[Complex<f64>] = bytemuck::cast_slice(&values);
        let transformed = |batch: usize| {
            let interleaved = Layout::strided(&[batch as isize], 1);
            let problem = Problem::complex(&[n])
                .batch(batch)
                .input_layout(interleaved.clone())
                .output_layout(interleaved)
                .engine(Engine::Native);
            let mut lines: Vec<_> = (0..n)
                .flat_map(|i| (0..batch).map(move |line| values[line * n + i]))
                .collect();
            let plan = Planner::<f64>::new().plan(&problem).expect("a plan");
            plan.process(&mut lines).expect("a batch");
            move |line: usize| -> Vec<_> { (0..n).map(|i| lines[i * batch + line]).collect() }
        };
        let all = transformed(9);
        for batch in 2..9 {
            let some = transformed(batch);
            for line in 0..batch {
                assert_eq!(
                    bits(&all(line)),
                    bits(&some(line)),
                    "{line} of {batch}, {n}"
                );
            }
        }
    }
}

/// RustFFT ended the program here: its tables are allocated without a way to fail.
#[test]
fn a_native_line_whose_tables_cannot_be_allocated_is_an_error_and_no_abort() {
    for shape in [&[1 << 44][..], &[2, (1 << 44) - 17], &[1 << 44, 1]] {
        let problem = Problem::complex(shape).engine(Engine::Native);
        let planned = Planner::<f64>::new().plan(&problem);
        assert!(
            matches!(planned, Err(FftError::Memory(_))),
            "{shape:?}: {planned:?}"
        );
    }
}
