//! Arrays for the tests: random layouts, values put where a layout says and taken back, bits compared.
//!
//! Positions are computed here from the definition in the documentation of `Layout`, not by the library.
#![allow(dead_code)] // Two programs use this, and one of them only a part.

use num_complex::Complex;
use ozfft::{
    CpuUnit, Direction, Engine, FftError, Kind, Layout, Norm, Plan, Planner, Problem, Real,
    Substrate,
};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::problems::{Domain, Source, Strides};
use ozfft_testkit::{Bits, Requirement};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

ozfft_testkit::problem_conversion!(ozfft);

pub type ComplexDouble = Complex<f64>;

/// The two sample types, made from the same random numbers.
pub trait Sample: Real + Bits {
    fn from_double(value: f64) -> Self;
    fn to_double(self) -> f64;
}

impl Sample for f64 {
    fn from_double(value: f64) -> Self {
        value
    }
    fn to_double(self) -> f64 {
        self
    }
}

impl Sample for f32 {
    fn from_double(value: f64) -> Self {
        value as f32
    }
    fn to_double(self) -> f64 {
        f64::from(self)
    }
}

/// One planner for all tests of a file, so that tables are built once.
pub fn planner() -> &'static Planner<f64> {
    static PLANNER: OnceLock<Planner<f64>> = OnceLock::new();
    PLANNER.get_or_init(Planner::new)
}

pub fn plan(problem: &Problem) -> Arc<Plan<f64>> {
    planner()
        .plan(problem)
        .unwrap_or_else(|error| panic!("{problem:?}: {error}"))
}

/// What a substrate needs of the processor; nothing where it runs everywhere.
pub fn requirement(substrate: Substrate) -> Option<Requirement> {
    match substrate {
        Substrate::Cpu(CpuUnit::Avx2) => Some(Requirement::Avx2),
        Substrate::Cpu(CpuUnit::Avx512Vnni) => Some(Requirement::Vnni),
        Substrate::Cpu(CpuUnit::Amx) => Some(Requirement::Amx),
        Substrate::Cpu(CpuUnit::NeonDot) => Some(Requirement::Neon),
        _ => None,
    }
}

/// Every substrate that planning does not call unsupported here, `Auto` not among them.
pub fn available_substrates() -> &'static [Substrate] {
    static AVAILABLE: OnceLock<Vec<Substrate>> = OnceLock::new();
    AVAILABLE.get_or_init(|| {
        let mut all = vec![
            Substrate::Cpu(CpuUnit::Scalar),
            Substrate::Cpu(CpuUnit::WideInteger),
            Substrate::Cpu(CpuUnit::Avx2),
            Substrate::Cpu(CpuUnit::Avx512Vnni),
            Substrate::Cpu(CpuUnit::Amx),
            Substrate::Cpu(CpuUnit::NeonDot),
        ];
        all.retain(|&substrate| {
            let problem = Problem::complex(&[8]).engine(Engine::Digits);
            match planner().plan(&problem.substrate(substrate)) {
                Ok(_) => true,
                Err(FftError::Unsupported(reason)) => {
                    println!("without {substrate:?}: {reason}");
                    false
                }
                Err(error) => panic!("{substrate:?}: {error}"),
            }
        });
        all
    })
}

/// The bytes, for comparisons that tell -0 from +0 and one NaN from another.
pub fn bits<T: bytemuck::Pod>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

pub fn count(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// Position in the buffer of every element, arrays of the batch one after the other, each in C order.
pub fn positions(layout: &Layout, shape: &[usize], batch: usize) -> Vec<usize> {
    let per_array = count(shape);
    (0..batch * per_array)
        .map(|element| {
            let mut rest = element % per_array;
            let mut place =
                layout.offset() as isize + (element / per_array) as isize * layout.distance();
            for (&n, &stride) in shape.iter().zip(layout.strides()).rev() {
                place += (rest % n) as isize * stride;
                rest /= n;
            }
            usize::try_from(place).expect("the layout leads before the buffer")
        })
        .collect()
}

/// A buffer of `length` elements of `width` numbers each: `values` at their positions, `filler` elsewhere.
pub fn spread<T: Copy>(
    values: &[T],
    width: usize,
    positions: &[usize],
    length: usize,
    filler: T,
) -> Vec<T> {
    let mut buffer = vec![filler; length * width];
    for (element, &place) in values.chunks_exact(width).zip(positions) {
        buffer[place * width..][..width].copy_from_slice(element);
    }
    buffer
}

/// The elements at these positions.
pub fn collect<T: Copy>(buffer: &[T], width: usize, positions: &[usize]) -> Vec<T> {
    positions
        .iter()
        .flat_map(|&place| buffer[place * width..][..width].iter().copied())
        .collect()
}

/// Numbers per element of the input and of the output.
pub fn widths(kind: Kind) -> (usize, usize) {
    match kind {
        Kind::ComplexToComplex => (2, 2),
        Kind::RealToComplex => (1, 2),
        Kind::ComplexToReal => (2, 1),
    }
}

/// Runs a plan of any kind out of place on plain numbers.
pub fn execute<T: Real>(plan: &Plan<T>, input: &[T], output: &mut [T]) -> Result<(), FftError> {
    match plan.problem().kind() {
        Kind::ComplexToComplex => plan.process_outofplace(
            bytemuck::cast_slice(input),
            bytemuck::cast_slice_mut(output),
        ),
        Kind::RealToComplex => {
            plan.process_real_to_complex(input, bytemuck::cast_slice_mut(output))
        }
        Kind::ComplexToReal => plan.process_complex_to_real(bytemuck::cast_slice(input), output),
    }
}

/// As `execute`; that a random half-spectrum is not Hermitian is no failure, the output is complete.
pub fn execute_any<T: Real>(plan: &Plan<T>, input: &[T], output: &mut [T]) -> Result<(), FftError> {
    match execute(plan, input, output) {
        Err(FftError::NotHermitian { .. }) => Ok(()),
        other => other,
    }
}

pub fn random_values<T: Sample>(generator: &mut Generator, count: usize) -> Vec<T> {
    (0..count)
        .map(|_| T::from_double(generator.uniform()))
        .collect()
}

pub fn random_layout(generator: &mut Generator, shape: &[usize], batch: usize) -> Layout {
    layout_of(&Strides::draw(generator, shape, batch))
}

pub fn choose<T: Copy>(generator: &mut Generator, choices: &[T]) -> T {
    generator.pick(choices)
}

/// A problem without layout, threads, substrate or batch: what alone may determine the bits.
pub fn random_problem<T: Sample>(generator: &mut Generator) -> Problem {
    problem_of(&Domain::usual(size_of::<T>() == 4).draw(generator))
}

/// All lines of one selected axis together give the factor of the whole transform.
pub fn scale(problem_norm: Norm, direction: Direction, points: usize) -> oracle::Scale {
    match (problem_norm, direction) {
        (Norm::Backward, Direction::Inverse) | (Norm::Forward, Direction::Forward) => {
            oracle::Scale::OneOverLength(points)
        }
        (Norm::Ortho, _) => oracle::Scale::OneOverSquareRoot(points),
        _ => oracle::Scale::One,
    }
}

pub fn referee_direction(direction: Direction) -> oracle::Direction {
    match direction {
        Direction::Forward => oracle::Direction::Forward,
        Direction::Inverse => oracle::Direction::Inverse,
    }
}

/// The whole spectrum of which a half is given along the last selected axis: the mirrored values are conjugates.
///
/// Along one axis imaginary parts at the first and middle frequency count as zero, as the library takes them.
pub fn hermitian_extension(
    half: &[ComplexDouble],
    shape: &[usize],
    axes: &[usize],
) -> Vec<ComplexDouble> {
    let halved = *axes.last().expect("an axis");
    let mut half_shape = shape.to_vec();
    half_shape[halved] = shape[halved] / 2 + 1;
    let flat = |index: &[usize]| {
        index
            .iter()
            .zip(&half_shape)
            .fold(0, |place, (&i, &n)| place * n + i)
    };
    (0..count(shape))
        .map(|element| {
            let mut index = unravel(element, shape);
            let mirrored = 2 * index[halved] > shape[halved];
            if mirrored {
                for &axis in axes {
                    index[axis] = (shape[axis] - index[axis]) % shape[axis];
                }
            }
            let alone = axes.len() == 1 && (2 * index[halved]).is_multiple_of(shape[halved]);
            let value = half[flat(&index)];
            match (alone, mirrored) {
                (true, _) => Complex::new(value.re, 0.0),
                (false, true) => value.conj(),
                (false, false) => value,
            }
        })
        .collect()
}

/// Index along every dimension of an element in C order.
pub fn unravel(element: usize, shape: &[usize]) -> Vec<usize> {
    let mut rest = element;
    let mut index = vec![0; shape.len()];
    for (place, &n) in index.iter_mut().zip(shape).rev() {
        *place = rest % n;
        rest /= n;
    }
    index
}

/// Runs cases on all processors, a quarter of them in `f32`, each with a generator of its own; says which of them gave a
/// reason to complain, and fails if any has.
pub fn run_cases(
    (cases, seed): (usize, u64),
    single: impl Fn(&Planner<f32>, &mut Generator) -> Result<(), String> + Sync,
    double: impl Fn(&Planner<f64>, &mut Generator) -> Result<(), String> + Sync,
) {
    println!("seed {seed:#x}");
    let (next, failures) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let (mut doubles, mut singles) = (Planner::<f64>::new(), Planner::<f32>::new());
                for turn in 0.. {
                    let case = next.fetch_add(1, Ordering::Relaxed);
                    if case >= cases {
                        break;
                    }
                    // Plans are kept until told otherwise; a fresh planner now and then bounds the search for them.
                    if turn % 512 == 511 {
                        (doubles, singles) = (Planner::new(), Planner::new());
                    }
                    let mut generator = Generator::new(seed.wrapping_add(case as u64));
                    let outcome = if generator.below(4) == 0 {
                        single(&singles, &mut generator)
                    } else {
                        double(&doubles, &mut generator)
                    };
                    if let Err(reason) = outcome {
                        failures.fetch_add(1, Ordering::Relaxed);
                        println!("case {case} of seed {seed:#x}: {reason}");
                    }
                }
            });
        }
    });
    let failures = failures.into_inner();
    assert_eq!(failures, 0, "of {cases} cases, seed {seed:#x}; see above");
}
