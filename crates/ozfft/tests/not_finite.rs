//! NaN and infinity, bit for bit, as docs/numerics.md specifies: one NaN for everything, on every unit, in every layout.

use crate::common_arrays::{
    Sample, available_substrates, bits, collect, count, execute_any, positions, random_layout,
    random_values, spread, widths,
};
use crate::support::everything;
use num_complex::Complex;
use ozfft::{
    Accuracy, Direction, DoubleDouble, Engine, Kind, Layout, Mode, Norm, Planner, Problem, Real,
    WidePlanner,
};
use ozfft_testkit::Bits;
use ozfft_testkit::oracle::inputs::Generator;

const SEED: u64 = 0x4e61_4e00;

/// A number type with its NaN and whatever is not finite.
trait NotFinite: Sample {
    const NAN: Self;
    fn poisons() -> Vec<Self>;
}

impl NotFinite for f64 {
    const NAN: f64 = f64::from_bits(0x7ff8_0000_0000_0000);
    fn poisons() -> Vec<f64> {
        // Quiet, signalling, negative, with payloads; infinities.
        let patterns = [
            0x7ff8_0000_0000_0000u64,
            0x7ff0_0000_0000_0001,
            0xfff4_0000_dead_beef,
            0xffff_ffff_ffff_ffff,
            0x7ff0_0000_0000_0000,
            0xfff0_0000_0000_0000,
        ];
        patterns.map(f64::from_bits).to_vec()
    }
}

impl NotFinite for f32 {
    const NAN: f32 = f32::from_bits(0x7fc0_0000);
    fn poisons() -> Vec<f32> {
        let patterns = [
            0x7fc0_0000u32,
            0x7f80_0001,
            0xffa0_beef,
            0xffff_ffff,
            0x7f80_0000,
            0xff80_0000,
        ];
        patterns.map(f32::from_bits).to_vec()
    }
}

/// One point, unit steps, one step, two, a convolution, several passes; the same as axes.
const SHAPES: [&[usize]; 13] = [
    &[1],
    &[2],
    &[4],
    &[16],
    &[15],
    &[60],
    &[67],
    &[1030],
    &[1206],
    &[6, 10],
    &[1, 5],
    &[5, 1],
    &[2, 3, 4],
];

fn of_kind(kind: Kind, shape: &[usize]) -> Problem {
    match kind {
        Kind::ComplexToComplex => Problem::complex(shape),
        Kind::RealToComplex => Problem::real_to_complex(shape),
        Kind::ComplexToReal => Problem::complex_to_real(shape),
    }
}

const KINDS: [Kind; 3] = [
    Kind::ComplexToComplex,
    Kind::RealToComplex,
    Kind::ComplexToReal,
];

/// Elements of a batch one after the other; side by side; with gaps, in any order.
fn layouts(generator: &mut Generator, shape: &[usize], batch: usize) -> [Layout; 3] {
    let mut stride = batch;
    let mut strides: Vec<isize> = shape
        .iter()
        .rev()
        .map(|&n| {
            let own = stride as isize;
            stride *= n;
            own
        })
        .collect();
    strides.reverse();
    [
        Layout::contiguous(shape),
        Layout::strided(&strides, 1),
        random_layout(generator, shape, batch),
    ]
}

/// Poisons one transform of a batch: all of its output is the NaN, the other transforms and the gaps keep their bits.
fn check<T: NotFinite>(planner: &Planner<T>, problem: &Problem, generator: &mut Generator) {
    const BATCH: usize = 3;
    let mark = T::from_double(77.25);
    let (input_shape, output_shape) = (problem.input_shape(), problem.output_shape());
    let (width_in, width_out) = widths(problem.kind());
    let (read, write) = (
        count(&input_shape) * width_in,
        count(&output_shape) * width_out,
    );
    let inputs = layouts(generator, &input_shape, BATCH);
    let outputs = layouts(generator, &output_shape, BATCH);
    let clean: Vec<T> = random_values(generator, BATCH * read);
    for (layout, (from, to)) in inputs.into_iter().zip(outputs).enumerate() {
        let places = positions(&from, &input_shape, BATCH);
        let targets = positions(&to, &output_shape, BATCH);
        let problem = problem
            .clone()
            .batch(BATCH)
            .input_layout(from)
            .output_layout(to);
        let plan = planner
            .plan(&problem)
            .unwrap_or_else(|error| panic!("{problem:?}: {error}"));
        let ones = vec![1u8; BATCH * write];
        let run = |values: &[T]| {
            let input = spread(values, width_in, &places, problem.input_len(), T::NAN);
            let mut output = vec![mark; problem.output_len() * width_out];
            execute_any(&plan, &input, &mut output).unwrap();
            let found = collect(&output, width_out, &targets);
            let written = spread(&ones, width_out, &targets, problem.output_len(), 0u8);
            let untouched = output.iter().zip(written);
            let untouched = untouched.filter(|(_, written)| *written == 0);
            assert!(
                untouched.into_iter().all(|(gap, _)| gap.same(mark)),
                "{problem:?}"
            );
            found
        };
        let wanted = run(&clean);
        // Every poison meets every layout in some problem; all of them in each where there is time.
        let turn = problem.shape().iter().sum::<usize>() + layout;
        let poisons = T::poisons().into_iter().enumerate();
        for (_, poison) in poisons.filter(|(number, _)| number % 3 == turn % 3 || everything()) {
            let mut values = clean.clone();
            // The first number and the imaginary part that counts as zero are places of their own.
            let at = match generator.below(4) {
                0 => 0,
                1 => 1.min(read - 1),
                _ => generator.below(read),
            };
            values[read + at] = poison;
            let found = run(&values);
            let label = || format!("{poison:?} at {at}\n{problem:?}\n{plan}");
            assert!(
                found[write..2 * write].iter().all(|x| x.same(T::NAN)),
                "{}",
                label()
            );
            assert!(
                bits(&found[..write]) == bits(&wanted[..write]),
                "{}",
                label()
            );
            assert!(
                bits(&found[2 * write..]) == bits(&wanted[2 * write..]),
                "{}",
                label()
            );
        }
    }
}

fn check_units<T: NotFinite>(accuracies: &[Accuracy]) {
    println!("seed {SEED:#x}");
    let mut generator = Generator::new(SEED);
    for &substrate in available_substrates() {
        let planner = Planner::<T>::new();
        for (turn, shape) in SHAPES.into_iter().enumerate() {
            for kind in KINDS {
                let norms = [Norm::Backward, Norm::Ortho, Norm::Forward];
                let directions = [Direction::Forward, Direction::Inverse];
                let problem = of_kind(kind, shape)
                    .engine(Engine::Digits)
                    .substrate(substrate)
                    .accuracy(accuracies[turn % accuracies.len()])
                    .norm(norms[turn % 3])
                    .threads(1 + turn % 2);
                for direction in directions {
                    check(
                        &planner,
                        &problem.clone().direction(direction),
                        &mut generator,
                    );
                }
            }
        }
    }
}

#[test]
fn digits_have_one_nan_in_f64() {
    check_units::<f64>(&[Accuracy::Double, Accuracy::Target(1e-3), Accuracy::Single]);
}

#[test]
fn digits_have_one_nan_in_f32() {
    check_units::<f32>(&[Accuracy::Single, Accuracy::Target(1e-3)]);
}

#[test]
fn residues_ntt_and_modes_have_the_same_nan() {
    let mut generator = Generator::new(SEED + 1);
    let (doubles, singles) = (Planner::<f64>::new(), Planner::<f32>::new());
    for shape in [&[1][..], &[16], &[60], &[67], &[6, 10], &[5, 1]] {
        for kind in KINDS {
            for engine in [Engine::Residues, Engine::Ntt] {
                let problem = of_kind(kind, shape).engine(engine);
                check(&doubles, &problem, &mut generator);
            }
            for mode in Mode::ALL {
                let problem = of_kind(kind, shape)
                    .engine(Engine::Floats(mode))
                    .accuracy(Accuracy::Single)
                    .norm(Norm::Ortho);
                check(&doubles, &problem, &mut generator);
                check(&singles, &problem, &mut generator);
            }
        }
    }
}

#[test]
fn in_place_calls_have_the_same_nan() {
    for n in [1usize, 12, 67, 1030] {
        let layout = Layout::padded_real(&[n]);
        let problem = Problem::real_to_complex(&[n])
            .engine(Engine::Digits)
            .input_layout(layout);
        let plan = Planner::<f64>::new().plan(&problem).unwrap();
        let mut buffer = vec![Complex::new(0.25, 0.5); n / 2 + 1];
        buffer[0].re = f64::poisons()[2];
        plan.process_real_in_place(&mut buffer).unwrap();
        let nan = |z: &Complex<f64>| z.re.same(NotFinite::NAN) && z.im.same(NotFinite::NAN);
        assert!(buffer.iter().all(nan), "{n}");
        let problem = Problem::complex(&[n]).engine(Engine::Digits);
        let plan = Planner::<f64>::new().plan(&problem).unwrap();
        let mut buffer = vec![Complex::new(0.25, 0.5); n];
        buffer[n - 1].im = f64::poisons()[5];
        plan.process(&mut buffer).unwrap();
        assert!(buffer.iter().all(nan), "{n}");
    }
}

#[test]
fn both_parts_of_a_double_double_are_nan() {
    let planner = WidePlanner::new();
    let one = Complex::new(DoubleDouble::from(1.0), DoubleDouble::new(0.5, 1e-20));
    for shape in [&[1][..], &[12], &[67], &[1030], &[3, 4], &[1, 5]] {
        for direction in [Direction::Forward, Direction::Inverse] {
            let problem = Problem::complex(shape).batch(2).direction(direction);
            let plan = planner.plan(&problem).unwrap();
            let points = count(shape);
            let clean = vec![one; 2 * points];
            let mut wanted = clean.clone();
            plan.process(&mut wanted).unwrap();
            for (turn, poison) in f64::poisons().into_iter().enumerate() {
                let mut data = clean.clone();
                let place = &mut data[points + turn % points];
                match turn % 4 {
                    0 => place.re.high = poison,
                    1 => place.re.low = poison,
                    2 => place.im.high = poison,
                    _ => place.im.low = poison,
                }
                plan.process(&mut data).unwrap();
                assert!(bits(&data[..points]) == bits(&wanted[..points]));
                let numbers: &[f64] = bytemuck::cast_slice(&data[points..]);
                assert!(
                    numbers.iter().all(|x| x.same(NotFinite::NAN)),
                    "{shape:?} {direction:?}"
                );
            }
        }
    }
}

fn overflowing<T: NotFinite>(largest: T) {
    let planner = Planner::<T>::new();
    let zero = T::from_double(0.0);
    for &substrate in available_substrates() {
        for n in [2usize, 16, 60, 67, 1030] {
            let problem = Problem::complex(&[n])
                .engine(Engine::Digits)
                .substrate(substrate);
            let plan = planner.plan(&problem).unwrap();
            for (re, im) in [(1.0, -1.0), (-1.0, 1.0), (-1.0, 0.0), (0.0, -1.0)] {
                let signed = |sign: f64| T::from_double(sign * largest.to_double());
                let mut data = vec![Complex::new(signed(re), signed(im)); n];
                plan.process(&mut data).unwrap();
                let wanted = |sign: f64| match sign {
                    0.0 => zero,
                    _ => T::from_double(sign * f64::INFINITY),
                };
                // The sum of all overflows, part by part; what is left over elsewhere is an error within the bound.
                assert!(data[0].re.same(wanted(re)), "{n}, {}: {re}", T::NAME);
                assert!(data[0].im.same(wanted(im)), "{n}, {}: {im}", T::NAME);
                let finite =
                    |z: &Complex<T>| z.re.to_double().is_finite() && z.im.to_double().is_finite();
                assert!(data[1..].iter().all(finite), "{n}, {}", T::NAME);
            }
        }
    }
}

#[test]
fn overflow_is_an_infinity_of_the_right_sign_in_each_part() {
    overflowing(f64::MAX);
    overflowing(f32::MAX);
}

/// Zeros come out positive; a negative number that is too small for the type becomes the negative zero.
#[test]
fn zeros_are_positive_unless_a_negative_number_was_rounded_to_them() {
    fn zeros<T: NotFinite + Real>(least: T) {
        let planner = Planner::<T>::new();
        for &substrate in available_substrates() {
            for n in [4usize, 16, 60, 67, 1030] {
                let digits = Problem::complex(&[n])
                    .engine(Engine::Digits)
                    .substrate(substrate);
                let zero = T::from_double(-0.0);
                let plan = planner.plan(&digits).unwrap();
                let mut data = vec![Complex::new(zero, zero); n];
                plan.process(&mut data).unwrap();
                let positive = |z: &Complex<T>| bits(&[*z]).iter().all(|&byte| byte == 0);
                assert!(data.iter().all(positive), "{n}");
                // A lone number's share of 1/n is far below the least one.
                let plan = planner.plan(&digits.norm(Norm::Forward)).unwrap();
                let minus = T::from_double(-least.to_double());
                let mut data = vec![Complex::new(T::from_double(0.0), T::from_double(0.0)); n];
                data[0].re = minus;
                plan.process(&mut data).unwrap();
                assert!(
                    data.iter().all(|z| z.re.same(zero)),
                    "{n}, {}: {:?}",
                    T::NAME,
                    data[0]
                );
            }
        }
    }
    zeros(f64::from_bits(1));
    zeros(f32::from_bits(1));
}
