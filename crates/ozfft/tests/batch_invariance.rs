//! Every transform is scaled between its axes by itself (docs/numerics.md, section 4): what lies beside it in a batch, or along an
//! axis that is not transformed, changes none of its bits; and numbers near the ends of the range keep their accuracy.

use crate::common_arrays::{
    Sample, available_substrates, bits, choose, collect, count, direction_of, execute_any, kind_of,
    norm_of, positions, products_of, random_layout, run_cases, scale, spread, unravel, widths,
};
use num_complex::Complex;
use ozfft::{
    Accuracy, Direction, DoubleDouble, Engine, Kind, Layout, Mode, Norm, Planner, Problem,
    Products, Real, Substrate, WidePlanner,
};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::{Generator, scaled_by_power_of_two, uniform_complex};
use ozfft_testkit::oracle::{compare, compare_f32, compare_scaled, dft_nd};
use ozfft_testkit::problems::{Domain, Source};
use ozfft_testkit::{Bits, assert_same_bits, same_bits};

const SEED: u64 = 0xc0_4a91;

fn narrowed(values: &[Complex<f64>]) -> Vec<Complex<f32>> {
    let narrow = |z: &Complex<f64>| Complex::new(z.re as f32, z.im as f32);
    values.iter().map(narrow).collect()
}

fn widened(values: &[Complex<f32>]) -> Vec<Complex<f64>> {
    let widen = |z: &Complex<f32>| Complex::new(z.re.into(), z.im.into());
    values.iter().map(widen).collect()
}

/// A number times a power of two that may be out of reach of one factor.
fn times_power(value: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    value * f64::from(half).exp2() * f64::from(exponent - half).exp2()
}

/// Complex transforms in a batch, and each alone, on the same plan but for the batch.
#[allow(clippy::type_complexity)]
fn in_a_batch_and_alone<T: Real>(
    problem: &Problem,
    members: &[Vec<Complex<T>>],
) -> (Vec<Vec<Complex<T>>>, Vec<Vec<Complex<T>>>, f64) {
    let planner = Planner::<T>::new();
    let points = members[0].len();
    let batched = planner
        .plan(&problem.clone().batch(members.len()))
        .expect("a plan");
    let single = planner.plan(problem).expect("a plan");
    let mut together = members.concat();
    batched.process(&mut together).expect("a batch");
    let alone = members.iter().map(|member| {
        let mut member = member.clone();
        single.process(&mut member).expect("one array");
        member
    });
    let alone = alone.collect();
    let together = together.chunks(points).map(<[_]>::to_vec).collect();
    (together, alone, batched.bound())
}

fn assert_same<T: Real + Bits>(
    together: &[Vec<Complex<T>>],
    alone: &[Vec<Complex<T>>],
    what: &str,
) {
    for (number, (one, other)) in together.iter().zip(alone).enumerate() {
        assert_same_bits(other, one, SEED, format_args!("{what}: member {number}"));
    }
}

#[test]
fn small_numbers_beside_large_ones_keep_bits_and_accuracy() {
    // 64 × 64 numbers of size 2^-1015 lost bits, and their accuracy, beside numbers of 1e306.
    let small = scaled_by_power_of_two(&uniform_complex(64 * 64, SEED), -1015);
    let large: Vec<_> = uniform_complex(64 * 64, SEED + 1)
        .iter()
        .map(|z| z * 1e306)
        .collect();
    for substrate in available_substrates() {
        let problem = Problem::complex(&[64, 64]).engine(Engine::Digits);
        let problem = problem.substrate(*substrate).threads(1);
        let members = [small.clone(), large.clone()];
        let (together, alone, bound) = in_a_batch_and_alone(&problem, &members);
        assert_same(&together, &alone, &format!("{substrate:?}"));
        for (result, member) in together.iter().zip(&members) {
            let exact = dft_nd(member, &[64, 64], oracle::Direction::Forward);
            let error = compare(result, &exact).l2;
            assert!(
                error <= bound,
                "{substrate:?}: {error:.3e} above {bound:.3e}"
            );
        }
    }
}

#[test]
fn the_smallest_number_beside_the_largest_is_not_lost() {
    let members: Vec<Vec<Complex<f64>>> = [1e308, 5e-324, 0.0, -5e-324, -f64::MAX]
        .map(|x| vec![Complex::new(x, x)])
        .to_vec();
    let problem = Problem::complex(&[1, 1]).engine(Engine::Digits);
    let (together, alone, _) = in_a_batch_and_alone(&problem, &members);
    assert_same(&together, &alone, "one point");
    assert!(bits(&together.concat()) == bits(&members.concat()));
    let members: Vec<Vec<Complex<f32>>> = [3e38, 1e-45, 0.0, -1e-45]
        .map(|x| vec![Complex::new(x, x)])
        .to_vec();
    let (together, alone, _) = in_a_batch_and_alone(&problem, &members);
    assert_same(&together, &alone, "one point of f32");
    assert!(bits(&together.concat()) == bits(&members.concat()));
}

#[test]
fn small_numbers_of_f32_beside_large_ones_keep_bits_and_accuracy() {
    let shape = [32, 32, 32];
    let uniform = uniform_complex(32 * 32 * 32, SEED);
    let members = [
        narrowed(&scaled_by_power_of_two(&uniform, -125)),
        narrowed(&scaled_by_power_of_two(&uniform, 111)),
    ];
    for engine in [Engine::Digits, Engine::Floats(Mode::Fast)] {
        let problem = Problem::complex(&shape).engine(engine).threads(1);
        let (together, alone, bound) = in_a_batch_and_alone(&problem, &members);
        assert_same(&together, &alone, &format!("{engine:?}"));
        for (result, member) in together.iter().zip(&members) {
            let exact = dft_nd(&widened(member), &shape, oracle::Direction::Forward);
            let error = compare_f32(result, &exact, oracle::Scale::One).l2;
            assert!(error <= bound, "{engine:?}: {error:.3e} above {bound:.3e}");
        }
    }
}

#[test]
fn ten_axes_have_the_same_bits_in_a_batch() {
    let uniform = uniform_complex(1 << 10, SEED);
    let exponents = [-1015, 1000, -1070, 0, 1013];
    let members = exponents.map(|exponent| scaled_by_power_of_two(&uniform, exponent));
    let problem = Problem::complex(&[2; 10]).engine(Engine::Digits).threads(1);
    let (together, alone, bound) = in_a_batch_and_alone(&problem, &members);
    assert_same(&together, &alone, "ten axes");
    for (result, member) in together.iter().zip(&members) {
        let exact = dft_nd(member, &[2; 10], oracle::Direction::Forward);
        assert!(compare(result, &exact).l2 <= bound);
    }
}

/// Alternating signs along the first axis: the last pass makes one large number of all that lies between the axes.
fn alternating(shape: [usize; 2], exponent: i32) -> Vec<Complex<f64>> {
    let row = uniform_complex(shape[1], SEED);
    let element = |place: usize| {
        let sign = if (place / shape[1]).is_multiple_of(2) {
            1.0
        } else {
            -1.0
        };
        let scaled = |x: f64| times_power(sign * x, exponent);
        let z = row[place % shape[1]];
        Complex::new(scaled(z.re), scaled(z.im))
    };
    (0..count(&shape)).map(element).collect()
}

const NORMS: [Norm; 4] = [Norm::Backward, Norm::Ortho, Norm::Forward, Norm::Unscaled];

#[test]
fn numbers_between_axes_are_not_subnormal_where_outputs_are_not() {
    let shape = [131_072, 8];
    let planner = Planner::<f64>::new();
    for (norm, exponent) in [
        (Norm::Backward, -1030),
        (Norm::Ortho, -1027),
        (Norm::Forward, -1016),
        (Norm::Backward, -1037),
    ] {
        let input = alternating(shape, exponent);
        let problem = Problem::complex(&shape).engine(Engine::Digits).norm(norm);
        let plan = planner.plan(&problem).expect("a plan");
        let mut output = input.clone();
        plan.process(&mut output).expect("a transform");
        let exact = dft_nd(&input, &shape, oracle::Direction::Forward);
        let factor = scale(norm, Direction::Forward, input.len());
        let (error, bound) = (compare_scaled(&output, &exact, factor).l2, plan.bound());
        println!("{norm:?} 2^{exponent}: {error:.3e} of {bound:.3e}");
        assert!(
            error <= bound,
            "{norm:?} 2^{exponent}: {error:.3e} above {bound:.3e}"
        );
    }
}

#[test]
fn numbers_of_f32_between_axes_are_not_subnormal_where_outputs_are_not() {
    let shape = [16_384, 16];
    let planner = Planner::<f32>::new();
    for engine in [Engine::Digits, Engine::Floats(Mode::Fast)] {
        for (norm, exponent) in [
            (Norm::Backward, -132),
            (Norm::Ortho, -129),
            (Norm::Forward, -121),
            (Norm::Backward, -138),
        ] {
            let input = narrowed(&alternating(shape, exponent));
            let problem = Problem::complex(&shape).engine(engine).norm(norm);
            let plan = planner.plan(&problem).expect("a plan");
            let mut output = input.clone();
            plan.process(&mut output).expect("a transform");
            let exact = dft_nd(&widened(&input), &shape, oracle::Direction::Forward);
            let factor = scale(norm, Direction::Forward, input.len());
            let (error, bound) = (compare_f32(&output, &exact, factor).l2, plan.bound());
            println!("{engine:?} {norm:?} 2^{exponent}: {error:.3e} of {bound:.3e}");
            assert!(
                error <= bound,
                "{engine:?} {norm:?} 2^{exponent}: {error:.3e} above {bound:.3e}"
            );
        }
    }
}

/// Exponents of all sizes, those near the ends of the range and near every change of the scale above all.
fn random_exponent<T: Sample>(generator: &mut Generator, points: usize) -> Option<i32> {
    let (top, bottom, spare) = match size_of::<T>() {
        4 => (128, -149, 30),
        _ => (1024, -1074, 64),
    };
    let growth = points.next_power_of_two().trailing_zeros() as i32 + 1;
    let near = |generator: &mut Generator, exponent: i32| exponent + generator.below(5) as i32 - 2;
    Some(match generator.below(8) {
        0 => return None,
        1 => near(generator, top - growth),
        2 => near(generator, bottom + spare + growth),
        3 => bottom + generator.below(12) as i32,
        4 => top - generator.below(8) as i32,
        5 => near(generator, 0),
        _ => bottom + generator.below((top - bottom) as usize) as i32,
    })
}

/// Which transform every element of arrays of this shape belongs to, in C order, batch outermost.
fn transforms_of(shape: &[usize], axes: &[usize], batch: usize) -> Vec<usize> {
    let per_array = count(shape);
    let number = |element: usize| {
        let index = unravel(element % per_array, shape);
        let others = (0..shape.len()).filter(|axis| !axes.contains(axis));
        others.fold(element / per_array, |number, axis| {
            number * shape[axis] + index[axis]
        })
    };
    (0..batch * per_array).map(number).collect()
}

/// What determines bits, but for the numbers.
#[derive(Debug, Clone)]
struct Case {
    kind: Kind,
    shape: Vec<usize>,
    axes: Vec<usize>,
    direction: Direction,
    norm: Norm,
    engine: Engine,
    accuracy: Accuracy,
    products: Products,
    substrate: Substrate,
}

impl Case {
    /// Two axes or more are transformed, most of the time, and some are not; lengths with one step, several, Bluestein, and
    /// several passes.
    fn draw(generator: &mut Generator) -> Case {
        let domain = Domain {
            ranks: (2, 4),
            points: 1300,
            ..Domain::usual(false)
        };
        let drawn = domain.draw(generator);
        let rank = drawn.shape.len();
        let mut axes: Vec<usize> = (0..rank).collect();
        generator.shuffle(&mut axes);
        axes.truncate((2 + generator.below(rank)).min(rank));
        Case {
            kind: kind_of(drawn.kind),
            shape: drawn.shape,
            axes,
            direction: direction_of(drawn.inverse),
            norm: norm_of(drawn.norm),
            engine: Engine::Digits,
            accuracy: Accuracy::Double,
            products: products_of(drawn.exact),
            substrate: choose(generator, available_substrates()),
        }
    }

    fn problem(&self, shape: &[usize]) -> Problem {
        let problem = match self.kind {
            Kind::ComplexToComplex => Problem::complex(shape),
            Kind::RealToComplex => Problem::real_to_complex(shape),
            Kind::ComplexToReal => Problem::complex_to_real(shape),
        };
        problem
            .axes(&self.axes)
            .direction(self.direction)
            .norm(self.norm)
            .engine(self.engine)
            .accuracy(self.accuracy)
            .products(self.products)
            .substrate(self.substrate)
    }
}

/// A problem whose transforms are of very different sizes, in any layout, against each transform alone.
fn check_batch_invariance<T: Sample>(
    planner: &Planner<T>,
    generator: &mut Generator,
    case: &Case,
) -> Result<(), String> {
    let Case {
        kind, shape, axes, ..
    } = case;
    let (kind, problem) = (*kind, case.problem(shape));
    let points: usize = axes.iter().map(|&axis| shape[axis]).product();
    let batch = 1 + generator.below(5);
    let alone_shape: Vec<usize> = (0..shape.len())
        .map(|axis| if axes.contains(&axis) { shape[axis] } else { 1 })
        .collect();
    let (in_width, out_width) = widths(kind);
    let (in_shape, out_shape) = (problem.input_shape(), problem.output_shape());
    let owners = transforms_of(&in_shape, axes, batch);
    let transforms = owners.iter().max().expect("an element") + 1;
    let sizes: Vec<Option<i32>> = (0..transforms)
        .map(|_| random_exponent::<T>(generator, points))
        .collect();
    let spoilt = (generator.below(4) == 0).then(|| generator.below(transforms));
    let mut values = Vec::with_capacity(owners.len() * in_width);
    for &owner in &owners {
        for _ in 0..in_width {
            let x = generator.uniform();
            let value = sizes[owner].map_or(0.0, |exponent| times_power(x, exponent));
            values.push(T::from_double(if value.is_finite() { value } else { x }));
        }
    }
    if let Some(spoilt) = spoilt {
        let place = owners.iter().position(|&owner| owner == spoilt);
        values[place.expect("an element") * in_width] = T::from_double(f64::NAN);
    }
    let threads = 1 + generator.below(3);
    let laid_out = problem.clone().batch(batch).threads(threads);
    let in_place = kind == Kind::ComplexToComplex && generator.below(3) == 0;
    let (from, to) = match generator.below(3) {
        0 => (
            Layout::contiguous(&in_shape),
            Layout::contiguous(&out_shape),
        ),
        _ => (
            random_layout(generator, &in_shape, batch),
            random_layout(generator, &out_shape, batch),
        ),
    };
    let to = if in_place { from.clone() } else { to };
    let laid_out = laid_out
        .input_layout(from.clone())
        .output_layout(to.clone());
    let describe =
        |error: &dyn std::fmt::Display| format!("{laid_out:?}, sizes {sizes:?}: {error}");
    let plan = planner.plan(&laid_out).map_err(|error| describe(&error))?;
    let (read, written) = (
        positions(&from, &in_shape, batch),
        positions(&to, &out_shape, batch),
    );
    let filler = T::from_double(0.5);
    let input = spread(&values, in_width, &read, laid_out.input_len(), filler);
    let output = if in_place {
        let mut buffer = input;
        let outcome = plan.process(bytemuck::cast_slice_mut(&mut buffer));
        outcome.map_err(|error| describe(&error))?;
        buffer
    } else {
        let mut output = vec![filler; laid_out.output_len() * out_width];
        execute_any(&plan, &input, &mut output).map_err(|error| describe(&error))?;
        output
    };
    let results = collect(&output, out_width, &written);
    let result_owners = transforms_of(&out_shape, axes, batch);
    let alone = planner
        .plan(&case.problem(&alone_shape).threads(1))
        .map_err(|error| describe(&error))?;
    let of = |owners: &[usize], numbers: &[T], width: usize, transform: usize| -> Vec<T> {
        let own = owners
            .iter()
            .enumerate()
            .filter(|(_, owner)| **owner == transform);
        own.flat_map(|(element, _)| numbers[element * width..][..width].iter().copied())
            .collect()
    };
    for transform in 0..transforms {
        let input = of(&owners, &values, in_width, transform);
        let found = of(&result_owners, &results, out_width, transform);
        let mut expected = vec![filler; found.len()];
        execute_any(&alone, &input, &mut expected).map_err(|error| describe(&error))?;
        same_bits(&expected, &found, SEED)
            .map_err(|difference| describe(&format!("transform {transform}: {difference}")))?;
    }
    Ok(())
}

#[test]
fn digits_have_the_same_bits_in_a_batch_as_alone() {
    let accuracies = [
        Accuracy::Double,
        Accuracy::Double,
        Accuracy::Single,
        Accuracy::Target(1e-10),
        Accuracy::Bits(16),
    ];
    run_cases(
        (300, SEED),
        |planner, generator| {
            let mut case = Case::draw(generator);
            case.accuracy = choose(generator, &[Accuracy::Single, Accuracy::Bits(12)]);
            check_batch_invariance(planner, generator, &case)
        },
        |planner, generator| {
            let mut case = Case::draw(generator);
            case.accuracy = choose(generator, &accuracies);
            check_batch_invariance(planner, generator, &case)
        },
    );
}

#[test]
fn floats_have_the_same_bits_in_a_batch_as_alone() {
    let draw = |generator: &mut Generator| {
        let mut case = Case::draw(generator);
        case.engine = Engine::Floats(choose(generator, &Mode::ALL));
        case.substrate = Substrate::Auto;
        case.products = Products::Truncated;
        case.accuracy = Accuracy::Target(0.9);
        case
    };
    run_cases(
        (120, SEED),
        |planner, generator| {
            let case = draw(generator);
            check_batch_invariance(planner, generator, &case)
        },
        |planner, generator| {
            let case = draw(generator);
            check_batch_invariance(planner, generator, &case)
        },
    );
}

#[test]
fn double_doubles_have_the_same_bits_in_a_batch_as_alone() {
    println!("seed {SEED:#x}");
    let planner = WidePlanner::new();
    let mut generator = Generator::new(SEED);
    for shape in [&[1, 1][..], &[5, 8], &[2; 6], &[131, 3], &[6, 2, 7]] {
        for direction in [Direction::Forward, Direction::Inverse] {
            let points = count(shape);
            let exponents = [-1015, 1023, 0, -1073, -940, 1010, -960];
            let members: Vec<Vec<Complex<DoubleDouble>>> = exponents
                .iter()
                .map(|&exponent| {
                    let mut number = || {
                        let high = times_power(generator.uniform(), exponent);
                        DoubleDouble::new(high, high * generator.uniform() * 2f64.powi(-53))
                    };
                    (0..points)
                        .map(|_| Complex::new(number(), number()))
                        .collect()
                })
                .collect();
            let norm = choose(&mut generator, &NORMS);
            let problem = Problem::complex(shape).direction(direction).norm(norm);
            let batched = planner.plan(&problem.clone().batch(members.len())).unwrap();
            let single = planner.plan(&problem).unwrap();
            let mut together = members.concat();
            batched.process(&mut together).unwrap();
            let parts = |values: &[Complex<DoubleDouble>]| -> Vec<u64> {
                let numbers = values.iter().flat_map(|z| [z.re, z.im]);
                numbers
                    .flat_map(|x| [x.high.to_bits(), x.low.to_bits()])
                    .collect()
            };
            for (number, member) in members.iter().enumerate() {
                let mut alone = member.clone();
                single.process(&mut alone).unwrap();
                let found = &together[number * points..][..points];
                assert!(
                    parts(found) == parts(&alone),
                    "{shape:?} {direction:?} {norm:?}, 2^{}",
                    exponents[number]
                );
                if points == 1 {
                    assert_eq!(found, member, "one point is itself");
                }
            }
        }
    }
}

/// Numbers that keep all their bits times powers of two: multiples of 2^-10.
fn coarse(points: usize) -> Vec<Complex<f64>> {
    let round = |x: f64| (x * 1024.0).round() / 1024.0;
    let coarse = |z: &Complex<f64>| Complex::new(round(z.re), round(z.im));
    uniform_complex(points, SEED).iter().map(coarse).collect()
}

#[test]
fn powers_of_two_commute_with_transforms_of_several_axes() {
    let shape = [16, 12];
    let base = coarse(count(&shape));
    let planner = Planner::<f64>::new();
    for norm in NORMS {
        let problem = Problem::complex(&shape).engine(Engine::Digits).norm(norm);
        let plan = planner.plan(&problem).expect("a plan");
        let transform = |exponent: i32| {
            let mut data = scaled_by_power_of_two(&base, exponent);
            plan.process(&mut data).expect("a transform");
            data
        };
        let expected = transform(0);
        for exponent in (-998..=1015).step_by(3) {
            let scaled = scaled_by_power_of_two(&expected, exponent);
            assert!(
                bits(&scaled) == bits(&transform(exponent)),
                "{norm:?} 2^{exponent}"
            );
        }
    }
    let singles = Planner::<f32>::new();
    let problem = Problem::complex(&shape).engine(Engine::Digits);
    let plan = singles.plan(&problem).expect("a plan");
    let transform = |exponent: i32| {
        let mut data = narrowed(&scaled_by_power_of_two(&base, exponent));
        plan.process(&mut data).expect("a transform");
        data
    };
    let expected = widened(&transform(0));
    for exponent in -110..=119 {
        let scaled = narrowed(&scaled_by_power_of_two(&expected, exponent));
        assert!(
            bits(&scaled) == bits(&transform(exponent)),
            "f32 2^{exponent}"
        );
    }
}

#[test]
fn low_parts_of_double_doubles_between_axes_are_not_subnormal_where_outputs_are_not() {
    // Alternating signs along the first axis: 512 times what is rounded between the axes.
    let shape = [512, 4];
    let base = alternating(shape, 0);
    let plan = WidePlanner::new()
        .plan(&Problem::complex(&shape))
        .expect("a plan");
    let transform = |exponent: i32| {
        let pair = |x: f64| DoubleDouble::from(times_power(x, exponent));
        let pairs = base.iter().map(|z| Complex::new(pair(z.re), pair(z.im)));
        let mut pairs: Vec<_> = pairs.collect();
        plan.process(&mut pairs).expect("a transform");
        pairs
    };
    let expected = transform(0);
    for exponent in [-900, -950, -985, -1000] {
        // The rounding of a low part here, and of what it is compared with.
        let most = 2.0 * f64::from_bits(1);
        for (one, other) in expected.iter().zip(transform(exponent)) {
            for (x, y) in [(one.re, other.re), (one.im, other.im)] {
                let high = times_power(x.high, exponent) - y.high;
                let difference = high + (times_power(x.low, exponent) - y.low);
                assert!(difference.abs() <= most, "2^{exponent}: {difference:e}");
            }
        }
    }
}
