//! Transforms of very different sizes side by side under the emulator, against the portable unit: each is scaled between its
//! axes by itself, whichever kernels run the first axis, the last, and those between.

use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::tests::tuned_tests::{NORMS, SEED};
use crate::executor::cuda::tests::{Bench, Style, everything, numbers, same};
use crate::kind::Kind;
use crate::problem::{Accuracy, Direction, Engine, Problem};
use crate::sample::Real;
use crate::substrate::{GpuUnit, Substrate};
use crate::{Layout, Plan, Planner};
use num_complex::Complex;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How many kinds of transforms there are below.
const KINDS: usize = 12;

/// Exponents of numbers: near the largest, near the smallest, and small but normal.
fn ends<T: Real>() -> [i32; 3] {
    if T::IS_DOUBLE {
        [1015, -1073, -1000]
    } else {
        [122, -148, -120]
    }
}

/// A transform's numbers, as lines of the axis that is transformed first: what tuned kernels take, what they leave, and both.
fn change<T: Real>(kind: usize, line: usize, index: usize, number: &mut Complex<T>) {
    let [large, least, small] = ends::<T>();
    let scaled = |z: Complex<T>, exponent: i32| {
        // A power of two that may be out of reach of one factor.
        let half = exponent / 2;
        let (one, two) = (f64::from(half).exp2(), f64::from(exponent - half).exp2());
        let part = |x: T| T::narrow(x.widen() * one * two);
        Complex::new(part(z.re), part(z.im))
    };
    let zero = Complex::new(T::narrow(0.0), T::narrow(0.0));
    *number = match kind % KINDS {
        // All small: scaled up. All large: scaled down.
        1 => scaled(*number, small),
        2 => scaled(*number, large),
        // One large number, and all other lines are usual ones.
        3 if line == 1 && index == 1 => scaled(*number, large),
        // Zeros but for one line of small numbers.
        4 if line == 1 => scaled(*number, small),
        4 => zero,
        // Usual lines that are not looked at beside one of small numbers, the last or the first.
        5 if line == 1 => scaled(*number, small),
        6 if line != 0 => scaled(*number, small),
        7 => zero,
        // Large and small, zeros as well.
        8 if line == 0 => scaled(*number, large),
        8 if line.is_multiple_of(2) => zero,
        8 => scaled(*number, small),
        // The smallest there are.
        9 => scaled(*number, least),
        // Results that overflow, to either side.
        10 => scaled(
            Complex::new(
                T::narrow(if index.is_multiple_of(2) { -1.0 } else { 0.5 }),
                number.im,
            ),
            T::LARGEST_EXPONENT - 1,
        ),
        // A transform that is spoilt.
        11 if index == 0 => Complex::new(T::narrow(f64::NAN), number.im),
        _ => *number,
    };
}

/// Arrays of these lengths, of which those along `axes` are transformed, the last first: every transform of another kind.
fn arrays<T: Real>(shape: &[usize], axes: &[usize], batch: usize, seed: u64) -> Vec<Complex<T>> {
    let per_array: usize = shape.iter().product();
    let first = *axes.last().expect("an axis");
    let mut all = numbers::<T>(per_array * batch, Style::Uniform, seed);
    for (place, number) in all.iter_mut().enumerate() {
        let (mut transform, mut line, mut index) = (place / per_array, 0, 0);
        let mut inner = per_array;
        for (axis, &n) in shape.iter().enumerate() {
            inner /= n;
            let at = place / inner % n;
            match axes.contains(&axis) {
                false => transform = transform * n + at,
                true if axis == first => index = at,
                true => line = line * n + at,
            }
        }
        change(transform, line, index, number);
    }
    all
}

fn emulator(tuned: bool) -> Arc<Emulator> {
    println!("seed {SEED:#x}");
    Arc::new(match tuned {
        true => Emulator::with_tuned_kernels(),
        false => Emulator::default(),
    })
}

/// Complex arrays. Returns the substrate.
fn check<T: Real>(
    bench: &mut Bench<T>,
    (shape, axes, batch): (&[usize], &[usize], usize),
    integers_only: &[bool],
    vary: impl Fn(Problem) -> Problem,
) -> &'static str {
    let problem = vary(Problem::complex(shape).axes(axes).batch(batch));
    let seed = SEED ^ (bench.cases as u64 + 1);
    let input = arrays(shape, axes, batch, seed);
    bench.check_numbers(&problem, &input, integers_only)
}

#[test]
fn portable_kernels_scale_every_transform_by_itself() {
    let mut doubles = Bench::<f64>::on(emulator(false));
    let mut singles = Bench::<f32>::on(emulator(false));
    let directions = [Direction::Forward, Direction::Inverse];
    for (number, case) in [
        (&[1, 1][..], &[0, 1][..], 13),
        (&[6, 5], &[0, 1], 12),
        (&[8, 4], &[1, 0], 24),
        (&[2, 2, 2, 2], &[0, 1, 2, 3], 12),
        // Axes that are not transformed, outside, between and inside; 32 neighbours in one transform, and not.
        (&[6, 3, 5], &[1, 2], 2),
        (&[4, 6, 8], &[0, 2], 2),
        (&[4, 5, 13], &[0, 1], 1),
        (&[12, 2, 32], &[1, 2], 1),
        // Bluestein's, two passes in one launch, and in several.
        (&[67, 3], &[0, 1], 12),
        (&[3, 67], &[0, 1], 12),
        (&[2, 1200], &[0, 1], 12),
        (&[1200, 2], &[0, 1], 12),
        (&[1, 8192, 2], &[1, 2], 4),
    ]
    .into_iter()
    .enumerate()
    {
        let vary = |problem: Problem| {
            let direction = directions[number % 2];
            problem.norm(NORMS[number % 4]).direction(direction)
        };
        check(&mut doubles, case, &[false], vary);
        check(&mut singles, case, &[false], vary);
        let few = |problem| vary(problem).accuracy(Accuracy::Single);
        check(&mut doubles, case, &[false], few);
        check(&mut singles, case, &[false], few);
    }
    println!("{} cases", doubles.cases + singles.cases);
}

/// Contiguous and strided lines of one block, and transforms of two passes, as the first axis and as the last.
const TUNED_CASES: [(&[usize], &[usize], usize); 9] = [
    (&[3, 256], &[0, 1], KINDS),
    (&[256, 3], &[0, 1], KINDS),
    (&[2, 256, 4], &[0, 1, 2], KINDS),
    (&[256, 4, 2], &[0, 2], 3),
    (&[12, 2, 256], &[1, 2], 1),
    (&[256, 3, 4], &[1, 0], 3),
    (&[4, 256], &[1, 0], KINDS),
    (&[256, 256], &[0, 1], 2),
    // One transform: the kernel of the last axis looks its scale up.
    (&[256, 256], &[0, 1], 1),
];

#[test]
fn tuned_kernels_scale_every_transform_by_itself() {
    let emulator = emulator(true);
    let mut bench = Bench::<f64>::on(Arc::<Emulator>::clone(&emulator));
    let directions = [Direction::Forward, Direction::Inverse];
    for (number, case) in TUNED_CASES.into_iter().enumerate() {
        let vary = |problem: Problem| {
            let direction = directions[number % 2];
            problem.norm(NORMS[number % 4]).direction(direction)
        };
        let conversions: &[bool] = match number % 2 {
            _ if everything() => &[true, false],
            0 => &[true],
            _ => &[false],
        };
        let substrate = check(&mut bench, case, conversions, vary);
        assert!(substrate.starts_with("int8-wgmma"), "{case:?}: {substrate}");
        if number % 2 == 1 && !everything() {
            continue;
        }
        let few = |problem| vary(problem).accuracy(Accuracy::Single);
        let substrate = check(&mut bench, case, &[false], few);
        assert!(substrate.starts_with("int8-wgmma"), "{case:?}: {substrate}");
    }
    for case in [
        (&[3, 4096][..], &[0, 1][..], KINDS),
        (&[3, 4096], &[1, 0], 3),
        (&[4, 192], &[0, 1], KINDS),
        (&[192, 4], &[0, 1], KINDS),
    ] {
        let substrate = check(&mut bench, case, &[false], |problem| problem);
        assert!(substrate.starts_with("int8-wgmma"), "{case:?}: {substrate}");
    }
    let fp8 = |problem: Problem| problem.substrate(GpuUnit::Fp8Wgmma);
    let substrate = check(&mut bench, (&[256, 256], &[0, 1], 2), &[false], fp8);
    assert_eq!(substrate, "fp8-wgmma");
    assert!(emulator.lines_left.load(Ordering::Relaxed) > 0);
    println!("{} cases", bench.cases);
}

#[test]
fn tuned_kernels_of_f32_scale_every_transform_by_itself() {
    let emulator = emulator(true);
    let mut bench = Bench::<f32>::on(Arc::<Emulator>::clone(&emulator));
    for (number, case) in TUNED_CASES.into_iter().enumerate() {
        let vary = |problem: Problem| {
            let problem = problem.accuracy(Accuracy::Single);
            problem.norm(NORMS[number % 4])
        };
        check(&mut bench, case, &[true], vary);
    }
    assert!(emulator.lines_left.load(Ordering::Relaxed) > 0);
    println!("{} cases", bench.cases);
}

/// One finite number near overflow among usual ones: what the tuned kernel has stored is scaled afterwards. (Tests that had an
/// infinity beside it compared NaN with NaN.)
#[test]
fn usual_lines_of_f32_are_scaled_where_one_number_is_large() {
    let mut bench = Bench::<f32>::on(emulator(true));
    for shape in [&[256, 256][..], &[4, 256], &[256, 4]] {
        let mut input = numbers::<f32>(shape.iter().product(), Style::Uniform, SEED);
        let middle = input.len() / 2;
        input[middle].re = 3e38;
        let problem = Problem::complex(shape).accuracy(Accuracy::Single);
        let substrate = bench.check_numbers(&problem, &input, &[true]);
        assert!(substrate.starts_with("int8-wgmma"), "{substrate}");
    }
}

/// Real arrays and half-spectra: transforms of all kinds, in place as well.
#[test]
fn real_transforms_are_scaled_by_themselves() {
    let machine = emulator(true);
    let planner = Planner::<f64>::new();
    for (shape, axes, batch) in [
        (&[3, 256][..], &[0, 1][..], KINDS),
        (&[256, 256], &[0, 1], 4),
        (&[4, 3, 256], &[1, 2], 3),
        (&[6, 10], &[0, 1], KINDS),
        (&[6, 10, 4], &[0, 1], 3),
    ] {
        for kind in [Kind::RealToComplex, Kind::ComplexToReal] {
            let problem = match kind {
                Kind::RealToComplex => Problem::real_to_complex(shape),
                _ => Problem::complex_to_real(shape),
            };
            let problem = problem.axes(axes).batch(batch).engine(Engine::Digits);
            let padded = axes.last() == Some(&(shape.len() - 1));
            let mut layouts = vec![problem.clone()];
            if padded {
                let padded = Layout::padded_real(shape);
                layouts.push(match kind {
                    Kind::RealToComplex => problem.input_layout(padded),
                    _ => problem.output_layout(padded),
                });
            }
            for (in_place, problem) in layouts.into_iter().enumerate() {
                let in_place = in_place == 1;
                let problem = problem.threads(1);
                let on_processor = problem.clone().substrate(Substrate::Auto);
                let expected = planner.plan(&on_processor).unwrap();
                let machine: Arc<dyn crate::executor::cuda::device::machine::Machine> =
                    Arc::<Emulator>::clone(&machine);
                let plan = planner.plan_on(&problem, &machine).unwrap();
                // In a half-spectrum as well as in an array the kinds are those of its own lines.
                let (first, other) = match kind {
                    Kind::RealToComplex => (axes[1], axes[0]),
                    _ => (axes[0], axes[1]),
                };
                let in_shape = match kind {
                    Kind::RealToComplex if in_place => {
                        let mut padded = shape.to_vec();
                        padded[first] = 2 * (padded[first] / 2 + 1);
                        padded
                    }
                    _ => problem.input_shape(),
                };
                let input = arrays::<f64>(&in_shape, &[other, first], batch, SEED);
                let transform = |plan: &Plan<f64>| -> Vec<Complex<f64>> {
                    let complex = match kind {
                        Kind::RealToComplex => problem.output_len(),
                        _ => problem.input_len(),
                    };
                    let mut array = vec![Complex::new(0.5, 0.25); complex];
                    let reals: Vec<f64> = input.iter().map(|z| z.re).collect();
                    match (kind, in_place) {
                        (Kind::RealToComplex, false) => {
                            plan.process_real_to_complex(&reals, &mut array).unwrap();
                        }
                        (Kind::RealToComplex, true) => {
                            array = bytemuck::cast_slice(&reals).to_vec();
                            plan.process_real_in_place(&mut array).unwrap();
                        }
                        (_, false) => {
                            let output: &mut [f64] = bytemuck::cast_slice_mut(&mut array);
                            let output = &mut output[..problem.output_len()];
                            drop(plan.process_complex_to_real(&input, output));
                        }
                        (_, true) => {
                            array.clone_from(&input);
                            drop(plan.process_complex_to_real_in_place(&mut array));
                        }
                    }
                    array
                };
                let (expected, found) = (transform(&expected), transform(&plan));
                same(
                    bytemuck::cast_slice(&expected),
                    bytemuck::cast_slice(&found),
                    &format!("{problem:?} on {plan}"),
                );
            }
        }
    }
    assert!(machine.lines_left.load(Ordering::Relaxed) > 0);
}
