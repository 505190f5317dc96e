//! Few digits, and numbers of single precision: vector units keep short words in 32-bit lanes and read and write f32 by
//! registers, and must return what the scalar unit makes of the same numbers in double precision.
//!
//! A result of at most five digits is exact in f64 before its last rounding, so that rounding it to f32 afterwards is the
//! one rounding that f32 results have.

use crate::common_arrays::available_substrates;
use num_complex::Complex;
use ozfft::{Accuracy, CpuUnit, Direction, Engine, Layout, Planner, Problem, Products};
use ozfft_testkit::oracle::inputs::Generator;

const SEED: u64 = 0x7a3f_19c4_55d2_0be1;

/// Accuracies of five digits and fewer.
const ACCURACIES: [Accuracy; 5] = [
    Accuracy::Single,
    Accuracy::Target(1e-5),
    Accuracy::Target(1e-3),
    Accuracy::Target(1e-2),
    Accuracy::Target(0.5),
];

/// One step of every fold, two and three steps, Bluestein, several passes.
const LENGTHS: [usize; 13] = [2, 4, 8, 15, 24, 64, 66, 131, 240, 1000, 1024, 2048, 4096];

/// Below, at and above the lanes of every unit.
const BATCH: usize = 11;

/// Lines of very different sizes: from subnormal numbers to such as overflow, zeros, a spike, and one that is not finite.
fn lines(n: usize, generator: &mut Generator) -> Vec<Complex<f32>> {
    let mut numbers = Vec::new();
    for line in 0..BATCH {
        let exponent = [0, -147, -130, -126, -60, 0, 5, 80, 118, 124, 0][line];
        let scale = f64::from(exponent).exp2();
        for i in 0..n {
            let value = generator.uniform_complex();
            let small = if line == 5 && i > 0 { 0.0 } else { 1.0 };
            let part = |x: f64| (x * scale * small) as f32;
            numbers.push(Complex::new(part(value.re), part(value.im)));
        }
    }
    // A real line, an imaginary one, and one with an infinity.
    for i in 0..n {
        numbers[6 * n + i].im = 0.0;
        numbers[7 * n + i].re = 0.0;
    }
    numbers[10 * n + n / 2].re = f32::INFINITY;
    numbers
}

fn problem(n: usize, accuracy: Accuracy, direction: Direction, products: Products) -> Problem {
    Problem::complex(&[n])
        .batch(BATCH)
        .engine(Engine::Digits)
        .accuracy(accuracy)
        .direction(direction)
        .products(products)
        .threads(1)
}

fn bits(values: &[Complex<f32>]) -> Vec<[u32; 2]> {
    // Every NaN is as good as another.
    let part = |x: f32| if x.is_nan() { !0 } else { x.to_bits() };
    values.iter().map(|z| [part(z.re), part(z.im)]).collect()
}

#[test]
fn single_precision_has_the_bits_of_double_precision_rounded_once() {
    println!("seed {SEED:#x}");
    let mut generator = Generator::new(SEED);
    let (singles, doubles) = (Planner::<f32>::new(), Planner::<f64>::new());
    let mut seen = [0; 6];
    for n in LENGTHS {
        let input = lines(n, &mut generator);
        let wide: Vec<Complex<f64>> = input
            .iter()
            .map(|z| Complex::new(f64::from(z.re), f64::from(z.im)))
            .collect();
        for (turn, accuracy) in ACCURACIES.into_iter().enumerate() {
            let direction = [Direction::Forward, Direction::Inverse][(turn + n / 2) % 2];
            let products = [Products::Truncated, Products::Exact][turn % 3 / 2];
            let problem = problem(n, accuracy, direction, products);
            let reference = problem.clone().substrate(CpuUnit::Scalar);
            let plan = doubles
                .plan(&reference)
                .unwrap_or_else(|error| panic!("{reference:?}: {error}"));
            let mut exact = vec![Complex::default(); wide.len()];
            plan.process_outofplace(&wide, &mut exact)
                .unwrap_or_else(|error| panic!("{reference:?}: {error}"));
            let right: Vec<Complex<f32>> = exact
                .iter()
                .map(|z| Complex::new(z.re as f32, z.im as f32))
                .collect();
            for &substrate in available_substrates() {
                let problem = problem.clone().substrate(substrate);
                let single = singles
                    .plan(&problem)
                    .unwrap_or_else(|error| panic!("{problem:?}: {error}"));
                if single.recipe() != plan.recipe() {
                    // The last rounding may ask for another digit.
                    continue;
                }
                let digits = single.recipe().map_or(0, |recipe| recipe.digits.data);
                assert!((2..=5).contains(&digits), "{problem:?}: {digits} digits");
                seen[digits as usize] += 1;
                let mut output = input.clone();
                single
                    .process(&mut output)
                    .unwrap_or_else(|error| panic!("{problem:?}: {error}"));
                assert_eq!(bits(&output), bits(&right), "{problem:?}");
                // Lines side by side: element after element of all of them.
                let layout = Layout::strided(&[BATCH as isize], 1);
                let strided = problem
                    .clone()
                    .input_layout(layout.clone())
                    .output_layout(layout);
                let plan = singles
                    .plan(&strided)
                    .unwrap_or_else(|error| panic!("{strided:?}: {error}"));
                let mut output: Vec<Complex<f32>> = (0..n * BATCH)
                    .map(|at| input[at % BATCH * n + at / BATCH])
                    .collect();
                plan.process(&mut output)
                    .unwrap_or_else(|error| panic!("{strided:?}: {error}"));
                let output: Vec<Complex<f32>> = (0..n * BATCH)
                    .map(|at| output[at % n * BATCH + at / n])
                    .collect();
                assert_eq!(bits(&output), bits(&right), "{strided:?}");
            }
        }
    }
    println!("plans of 2, 3, 4 and 5 digits: {:?}", &seen[2..]);
    assert!(seen[2..].iter().all(|&count| count > 0), "{seen:?}");
}

#[test]
fn real_lines_of_single_precision_are_read_and_written_as_complex_ones() {
    println!("seed {SEED:#x}");
    let mut generator = Generator::new(SEED);
    let planner = Planner::<f32>::new();
    let (mut compared, mut other_digits) = (0, 0);
    for n in [8, 15, 64, 130, 1024, 2048] {
        let numbers: Vec<f32> = (0..BATCH * n).map(|_| generator.uniform() as f32).collect();
        let complex: Vec<Complex<f32>> = numbers.iter().map(|&x| Complex::new(x, 0.0)).collect();
        // Five digits, four and three.
        for accuracy in [ACCURACIES[0], ACCURACIES[1], ACCURACIES[3]] {
            for &substrate in available_substrates() {
                let setting = |problem: Problem| {
                    problem
                        .batch(BATCH)
                        .engine(Engine::Digits)
                        .accuracy(accuracy)
                        .substrate(substrate)
                        .threads(1)
                };
                let plan = |problem: Problem| {
                    planner
                        .plan(&problem)
                        .unwrap_or_else(|error| panic!("{problem:?}: {error}"))
                };
                let whole = plan(setting(Problem::complex(&[n])));
                let mut spectrum = complex.clone();
                whole
                    .process(&mut spectrum)
                    .unwrap_or_else(|error| panic!("{n}: {error}"));
                let forward = plan(setting(Problem::real_to_complex(&[n])));
                // The bound of a half-spectrum is another one, so that an error may take other digits.
                if forward.recipe() != whole.recipe() {
                    other_digits += 1;
                    continue;
                }
                compared += 1;
                let half = n / 2 + 1;
                let mut found = vec![Complex::default(); BATCH * half];
                forward
                    .process_real_to_complex(&numbers, &mut found)
                    .unwrap_or_else(|error| panic!("{n}: {error}"));
                for line in 0..BATCH {
                    assert_eq!(
                        bits(&found[line * half..][..half]),
                        bits(&spectrum[line * n..][..half]),
                        "{n} {accuracy:?} {substrate:?}, line {line}"
                    );
                }
                // Back: the real parts of the inverse transform of the whole spectrum.
                let mut hermitian = Vec::new();
                for line in 0..BATCH {
                    let half = &mut found[line * half..][..half];
                    half[0].im = 0.0;
                    if n % 2 == 0 {
                        half[n / 2].im = 0.0;
                    }
                    hermitian.extend((0..n).map(|i| {
                        if 2 * i <= n {
                            half[i]
                        } else {
                            half[n - i].conj()
                        }
                    }));
                }
                let inverse = setting(Problem::complex(&[n])).direction(Direction::Inverse);
                plan(inverse)
                    .process(&mut hermitian)
                    .unwrap_or_else(|error| panic!("{n}: {error}"));
                let mut back = vec![0.0; BATCH * n];
                plan(setting(Problem::complex_to_real(&[n])))
                    .process_complex_to_real(&found, &mut back)
                    .unwrap_or_else(|error| panic!("{n}: {error}"));
                let reals =
                    |numbers: &[f32]| -> Vec<u32> { numbers.iter().map(|x| x.to_bits()).collect() };
                let right: Vec<f32> = hermitian.iter().map(|z| z.re).collect();
                assert_eq!(
                    reals(&back),
                    reals(&right),
                    "{n} {accuracy:?} {substrate:?}"
                );
            }
        }
    }
    println!("{compared} compared, {other_digits} with other digits");
    assert!(compared > 5 * other_digits, "{compared} of {other_digits}");
}
