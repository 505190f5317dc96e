//! Lines that are alone, or few, are transformed with their columns in the lanes of a vector (`transform/column_lanes.rs`); whole
//! batches with lines in them. Both have the same bits, on every unit.

use crate::common_arrays::{
    Sample, available_substrates, choose, collect, execute_any, positions, random_layout, spread,
    widths,
};
use ozfft::{Accuracy, Direction, Engine, Kind, Layout, Norm, Planner, Problem, Products};
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::{everything, same_bits};

const SEED: u64 = 0xfe_11e5;

/// A multiple of the lanes of every unit.
const BATCH: usize = 8;

/// Lengths whose prime factors are steps: all others are convolutions of such.
fn is_smooth(n: usize) -> bool {
    (2..=61).fold(n, |mut rest, p| {
        while rest.is_multiple_of(p) {
            rest /= p;
        }
        rest
    }) == 1
}

fn problem(kind: Kind, n: usize) -> Problem {
    let problem = match kind {
        Kind::ComplexToComplex => Problem::complex(&[n]),
        Kind::RealToComplex => Problem::real_to_complex(&[n]),
        Kind::ComplexToReal => Problem::complex_to_real(&[n]),
    };
    problem.engine(Engine::Digits).threads(1)
}

/// Numbers of a line: of one size, or of sizes near the ends of the range (`tiny`: all of them near its lower end); real, imaginary
/// or complex; zeros; now and then not finite.
fn line<T: Sample>(generator: &mut Generator, numbers: usize, width: usize, tiny: bool) -> Vec<T> {
    let (top, bottom) = match size_of::<T>() {
        4 => (126, -149),
        _ => (1022, -1074),
    };
    let exponent = match generator.below(8) {
        _ if tiny => bottom + generator.below(12) as i32,
        0 => top - generator.below(14) as i32,
        1 => bottom + generator.below(80) as i32,
        _ => generator.below(40) as i32 - 20,
    };
    // Of complex numbers, the parts that are left out.
    let without = match generator.below(6) {
        0 => Some(0),
        1 => Some(1),
        _ => None,
    };
    let spoilt = (generator.below(16) == 0).then(|| generator.below(numbers));
    let silent = generator.below(16) == 0;
    (0..numbers)
        .map(|i| {
            let x = generator.uniform();
            let half = exponent / 2;
            let x = x * f64::from(half).exp2() * f64::from(exponent - half).exp2();
            let left_out = silent || (width == 2 && without == Some(i % 2));
            T::from_double(match spoilt {
                Some(place) if place == i => f64::INFINITY,
                _ if left_out => 0.0 * x,
                _ => x,
            })
        })
        .collect()
}

/// Some lines of a batch alone, on every unit, in any layout, against the whole batch on the first of them.
fn check<T: Sample>(
    planner: &Planner<T>,
    generator: &mut Generator,
    problem: &Problem,
    tiny: bool,
) {
    let kind = problem.kind();
    let (in_width, out_width) = widths(kind);
    let (in_shape, out_shape) = (problem.input_shape(), problem.output_shape());
    let (reading, writing) = (in_shape[0] * in_width, out_shape[0] * out_width);
    let lines: Vec<Vec<T>> = (0..BATCH)
        .map(|_| line(generator, reading, in_width, tiny))
        .collect();
    let zero = T::from_double(0.0);
    // The unit with most lanes comes last.
    let units = available_substrates();
    let most = units.iter().rfind(|unit| unit.to_string() != "neon-dot");
    let whole = problem.clone().batch(BATCH);
    let whole = whole.substrate(*most.expect("a unit"));
    let plan = planner.plan(&whole).expect("a plan of a batch");
    let mut expected = vec![zero; BATCH * writing];
    execute_any(&plan, &lines.concat(), &mut expected).expect("a batch");
    for &unit in units {
        let few = 1 + generator.below(BATCH - 1);
        let first = generator.below(BATCH - few + 1);
        let single = problem.clone().substrate(unit).batch(few);
        let (read, written) = match generator.below(2) {
            0 => (
                Layout::contiguous(&in_shape),
                Layout::contiguous(&out_shape),
            ),
            _ => (
                random_layout(generator, &in_shape, few),
                random_layout(generator, &out_shape, few),
            ),
        };
        let (from, to) = (
            positions(&read, &in_shape, few),
            positions(&written, &out_shape, few),
        );
        let single = single.input_layout(read).output_layout(written);
        let plan = planner.plan(&single).expect("a plan of few lines");
        let input = lines[first..first + few].concat();
        let input = spread(&input, in_width, &from, single.input_len(), zero);
        let mut output = vec![zero; single.output_len() * out_width];
        execute_any(&plan, &input, &mut output).expect("few lines");
        let found = collect(&output, out_width, &to);
        let right = &expected[first * writing..][..few * writing];
        if let Err(difference) = same_bits(right, &found, SEED) {
            panic!("{few} lines from {first} on, {unit}, {single:?}: {difference}");
        }
    }
}

#[test]
fn few_lines_of_every_length_have_the_bits_of_a_batch() {
    println!("seed {SEED:#x}");
    let (mut doubles, mut singles) = (Planner::<f64>::new(), Planner::<f32>::new());
    let mut generator = Generator::new(SEED);
    // Some that are convolutions, and some of several passes.
    let others = [67, 127, 509, 1009, 2310, 4096, 10_000, 16_384];
    // Beyond 128 points every fourth, and all of them with `--everything`.
    let smooth = (2..=2048).filter(|&n| is_smooth(n)).enumerate();
    let lengths = smooth.filter(|&(place, n)| everything() || n <= 128 || place % 4 == 0);
    for n in lengths.map(|(_, n)| n).chain(others) {
        check(
            &doubles,
            &mut generator,
            &problem(Kind::ComplexToComplex, n),
            false,
        );
        let kinds = [
            Kind::ComplexToComplex,
            Kind::RealToComplex,
            Kind::ComplexToReal,
        ];
        let drawn = problem(choose(&mut generator, &kinds), n);
        let drawn = match drawn.kind() {
            Kind::ComplexToComplex if generator.below(2) == 0 => {
                drawn.direction(Direction::Inverse)
            }
            _ => drawn,
        };
        if generator.below(2) == 0 {
            let accuracies = [Accuracy::Single, Accuracy::Bits(12), Accuracy::Target(1e-3)];
            let accuracy = choose(&mut generator, &accuracies);
            check(&singles, &mut generator, &drawn.accuracy(accuracy), false);
        } else {
            let accuracies = [Accuracy::Double, Accuracy::Target(1e-10), Accuracy::Single];
            let products = [Products::Truncated, Products::Truncated, Products::Exact];
            let drawn = drawn
                .accuracy(choose(&mut generator, &accuracies))
                .products(choose(&mut generator, &products));
            check(&doubles, &mut generator, &drawn, false);
        }
        // Plans are kept until told otherwise.
        if n % 64 == 0 {
            (doubles, singles) = (Planner::new(), Planner::new());
        }
    }
}

// Mirrored outputs of a real line were negated as floating-point numbers: 0 for a small number that is rounded to it lost its sign.
#[test]
fn mirrored_outputs_that_underflow_keep_their_sign() {
    println!("seed {SEED:#x}");
    let (doubles, singles) = (Planner::<f64>::new(), Planner::<f32>::new());
    let mut generator = Generator::new(SEED);
    for n in [16, 24, 48, 64, 100, 128, 243, 256, 693, 1000, 1024] {
        for norm in [Norm::Backward, Norm::Forward] {
            let real = problem(Kind::RealToComplex, n).norm(norm);
            let complex = problem(Kind::ComplexToComplex, n).norm(norm);
            for _ in 0..4 {
                check(&doubles, &mut generator, &real, true);
                check(&singles, &mut generator, &real, true);
                check(&doubles, &mut generator, &complex, true);
            }
        }
    }
}
