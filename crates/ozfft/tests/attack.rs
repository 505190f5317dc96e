//! Inputs that aim at the proven bound: counter-examples that once broke it, lines made for it, small cases in full, and
//! hill climbing. `OZFFT_EVERYTHING=1` (`./run-tests --everything`) takes longer ones.
//!
//! Bounds are never compared with themselves: errors are the oracle's. Seeds are fixed and appear in every message.

use crate::support::{
    PRODUCTS, Violations, Worst, complex, digits, everything, half, in_parallel, oracle_direction,
    plan, scale, transform, transform_real,
};
use num_complex::Complex;
use ozfft::{
    Accuracy, BlockRecipe, Direction, Kind, LineRecipe, Norm, Plan, Planner, Problem, Products,
};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::attack::{Aim, Found, Measured, Numbers, campaign, climb};
use ozfft_testkit::oracle::{ExactSpectrum, Scale, compare_scaled, dft, dft_axes, differences};

const NORMS: [Norm; 3] = [Norm::Backward, Norm::Ortho, Norm::Forward];
const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::Inverse];

/// What an attack on a plan of one axis has to know.
fn aim_of(plan: &Plan<f64>, direction: Direction) -> Aim {
    let recipe = plan.recipe().expect("digits have a recipe");
    let line = &recipe.axes[0].line;
    let points = |blocks: &[BlockRecipe]| blocks.iter().map(BlockRecipe::len).product();
    let (blocks, convolution) = match line {
        LineRecipe::Copy => panic!("nothing to attack in {plan}"),
        LineRecipe::Passes(blocks) => (blocks, None),
        LineRecipe::Bluestein { convolution, .. } => (convolution, Some(points(convolution))),
    };
    Aim {
        length: line.len(),
        block: blocks[0].len(),
        first: blocks[0].steps[0].n,
        convolution,
        data_digits: recipe.digits.data,
        matrix_digits: recipe.digits.matrix,
        diagonals: recipe.digits.diagonals,
        numbers: match plan.problem().kind() {
            Kind::ComplexToComplex => Numbers::Complex,
            Kind::RealToComplex => Numbers::Real,
            Kind::ComplexToReal => Numbers::Hermitian,
        },
        conjugated: direction == Direction::Inverse,
    }
}

/// Error over bound of one line, as the result is stored.
fn measure(
    plan: &Plan<f64>,
    line: &[Complex<f64>],
    scale: Scale,
    direction: Direction,
) -> Measured {
    let exact = dft(line, oracle_direction(direction));
    let (values, exact): (Vec<Complex<f64>>, ExactSpectrum) = match plan.problem().kind() {
        Kind::ComplexToComplex => (transform(plan, line), exact),
        Kind::RealToComplex => {
            let reals: Vec<f64> = line.iter().map(|value| value.re).collect();
            (transform_real(plan, &reals), half(&exact, &[line.len()]))
        }
        Kind::ComplexToReal => {
            let mut reals = vec![f64::NAN; line.len()];
            plan.process_complex_to_real(&line[..line.len() / 2 + 1], &mut reals)
                .unwrap_or_else(|error| panic!("{plan}: {error}"));
            let value = |&x: &f64| Complex::new(x, 0.0);
            (reals.iter().map(value).collect(), exact)
        }
    };
    Measured {
        ratio: compare_scaled(&values, &exact, scale).l2 / plan.bound(),
        errors: differences(&values, &exact, scale),
    }
}

/// All attacks on a problem of one axis; the worst is the last.
fn attack(
    planner: &Planner<f64>,
    problem: &Problem,
    (norm, direction): (Norm, Direction),
    (seed, steps): (u64, usize),
) -> Vec<Found> {
    let plan = plan(planner, problem);
    let aim = aim_of(&plan, direction);
    let scale = scale(norm, direction, aim.length);
    let mut measured = |line: &[Complex<f64>]| measure(&plan, line, scale, direction);
    campaign(&aim, seed, steps, &mut measured, &mut |_| {})
}

fn tied(magnitudes: [f64; 2]) -> [Complex<f64>; 2] {
    magnitudes.map(|x| Complex::new(x, x))
}

/// Two points whose quantising and rotation both err by half a unit: the norm's factor made the words smaller than the
/// unit that the bound had counted with.
fn holds_for_two_points(target: f64, input: [Complex<f64>; 2]) {
    let problem = complex(&[2])
        .norm(Norm::Ortho)
        .accuracy(Accuracy::Target(target));
    let plan = plan(&Planner::new(), &problem);
    let factor = Scale::OneOverSquareRoot(2);
    let error = measure(&plan, &input, factor, Direction::Forward).ratio * plan.bound();
    let bound = plan.bound();
    assert!(
        error <= bound && bound <= target,
        "{input:?}: {error:e}, {bound:e}, {target:e}"
    );
}

#[test]
fn a_rotation_that_makes_words_smaller_was_not_counted_for_two_digits() {
    holds_for_two_points(8.4e-4, tied([1014.4999, 1042.5]));
}

#[test]
fn a_rotation_that_makes_words_smaller_was_not_counted_for_three_digits() {
    holds_for_two_points(3.3e-6, tied([262_157.499_9, 262_145.499_9]));
}

/// The same inputs where the recipes that they broke still run.
#[test]
fn inputs_that_once_broke_the_bound_keep_it_under_the_same_recipes() {
    let planner = Planner::new();
    let mut worst: f64 = 0.0;
    for (digits, input) in [
        (2, tied([1014.4999, 1042.5])),
        (3, tied([262_157.499_9, 262_145.499_9])),
    ] {
        let recipes = (4..=40).map(Accuracy::Bits).map(|accuracy| {
            let problem = complex(&[2]).norm(Norm::Ortho).accuracy(accuracy);
            plan(&planner, &problem)
        });
        let mut same = recipes.filter(|plan| {
            let recipe = plan.recipe().expect("digits have a recipe");
            recipe.digits.data == digits
        });
        let plan = same.next().expect("a recipe of so many digits");
        let factor = Scale::OneOverSquareRoot(2);
        let ratio = measure(&plan, &input, factor, Direction::Forward).ratio;
        assert!(ratio <= 1.0, "{digits} digits: {ratio}");
        worst = worst.max(ratio);
    }
    println!("attack: counter-examples under their recipes: {worst:.4}");
    assert!(
        worst > 0.5,
        "they are no counter-examples any more: {worst}"
    );
}

/// Accuracies of few, some and many digits.
const ACCURACIES: [Accuracy; 4] = [
    Accuracy::Target(3e-2),
    Accuracy::Target(1e-3),
    Accuracy::Target(1e-6),
    Accuracy::Double,
];

#[test]
fn aimed_lines_stay_within_the_bound() {
    let violations = Violations::default();
    let nearest = Worst::none();
    let seed = 20_261_116;
    let mut cases = Vec::new();
    let short = [2, 3, 4, 5, 8, 30, 61, 64, 67, 256];
    let long = [16, 125, 720, 1000, 1009, 1024, 4096];
    let long = if everything() { &long[..] } else { &[] };
    for &length in short.iter().chain(long) {
        for accuracy in ACCURACIES {
            for products in PRODUCTS {
                cases.push((length, accuracy, products));
            }
        }
    }
    in_parallel(&cases, |planner, &(length, accuracy, products)| {
        let (real, back) = (length % 3 == 1, length % 2 == 1);
        let transforms = [
            (Problem::complex(&[length]), Direction::Forward, true),
            (Problem::complex(&[length]), Direction::Inverse, back),
            (
                Problem::real_to_complex(&[length]),
                Direction::Forward,
                real,
            ),
            (
                Problem::complex_to_real(&[length]),
                Direction::Inverse,
                real,
            ),
        ];
        for (problem, direction, wanted) in transforms {
            if !wanted && !everything() {
                continue;
            }
            let norm = NORMS[length % 3];
            let problem = digits(problem)
                .accuracy(accuracy)
                .products(products)
                .norm(norm);
            let problem = match problem.kind() {
                Kind::ComplexToComplex => problem.direction(direction),
                _ => problem,
            };
            let steps = if everything() { 2000 } else { 8 };
            let found = attack(planner, &problem, (norm, direction), (seed, steps));
            let worst = found.last().expect("at least one attack");
            let label = || format!("{problem:?}, seed {seed}: {}", worst.attack);
            violations.check(worst.ratio <= 1.0, || {
                format!("{}: error is {} of the bound", label(), worst.ratio)
            });
            Worst::note(&nearest, worst.ratio, label);
        }
    });
    Worst::print(&nearest, "attack: aimed lines: largest error/bound");
    violations.report();
}

/// An attack that has become blunt would find nothing wrong with a bound that is: these reach at least half of what they
/// reached when they were made.
#[test]
fn attacks_reach_half_of_their_recorded_ratio() {
    let seed = 1;
    let cases = [(1000, 0.2), (1024, 0.2), (4096, 0.1), (2, 0.5), (4, 0.5)];
    in_parallel(&cases, |planner, &(length, least)| {
        let found = attack(
            planner,
            &complex(&[length]),
            (Norm::Backward, Direction::Forward),
            (seed, 16),
        );
        let worst = found.last().expect("at least one attack");
        println!(
            "attack: {length} Double: {:.3} by {}",
            worst.ratio, worst.attack
        );
        // Two and four points in doubles are exact up to the last rounding, which the data may spare them.
        let few_digits = attack(
            planner,
            &complex(&[length]).accuracy(Accuracy::Target(1e-2)),
            (Norm::Backward, Direction::Forward),
            (seed, 16),
        );
        let few = few_digits.last().expect("at least one attack");
        println!("attack: {length} 1e-2: {:.3} by {}", few.ratio, few.attack);
        let reached = if length <= 4 { few.ratio } else { worst.ratio };
        assert!(
            reached >= least,
            "{length}, seed {seed}: {reached} below {least}"
        );
    });
}

#[test]
fn hill_climbing_stays_within_the_bound() {
    let violations = Violations::default();
    let nearest = Worst::none();
    let steps = if everything() { 200_000 } else { 2000 };
    let mut cases = Vec::new();
    for length in [2usize, 3, 4, 5, 6, 8] {
        for norm in NORMS {
            for accuracy in ACCURACIES {
                cases.push((length, norm, accuracy));
            }
        }
    }
    in_parallel(&cases, |planner, &(length, norm, accuracy)| {
        let seed = 77 + length as u64;
        for products in PRODUCTS {
            let direction = DIRECTIONS[length % 2];
            let problem = complex(&[length]).accuracy(accuracy).products(products);
            let plan = plan(planner, &problem.norm(norm).direction(direction));
            let aim = aim_of(&plan, direction);
            let filling = oracle::attack::Filling {
                levels: aim.levels(),
                ties: true,
                large_columns: 1,
            };
            let factor = scale(norm, direction, length);
            let climbed = climb(
                &aim.line(filling, seed),
                steps,
                seed,
                |line| aim.fit(line),
                |line| measure(&plan, line, factor, direction).ratio,
            );
            let label = || {
                format!("{length} {norm:?} {accuracy:?} {products:?} {direction:?}, seed {seed}")
            };
            violations.check(climbed.ratio <= 1.0, || {
                format!("{}: {} by {:?}", label(), climbed.ratio, climbed.line)
            });
            Worst::note(&nearest, climbed.ratio, label);
        }
    });
    Worst::print(&nearest, "attack: hill climbing: largest error/bound");
    violations.report();
}

/// Plans of two data digits for lines of `length` points, side by side, and their digits.
fn two_digits(
    planner: &Planner<f64>,
    shape: [usize; 2],
    norm: Norm,
    direction: Direction,
) -> Vec<std::sync::Arc<Plan<f64>>> {
    let mut plans: Vec<std::sync::Arc<Plan<f64>>> = Vec::new();
    for products in [Products::Truncated, Products::Exact] {
        for target in [3e-2, 1e-2, 4e-3, 2e-3, 1e-3] {
            let problem = complex(&shape).axes(&[1]).norm(norm).direction(direction);
            let problem = problem
                .accuracy(Accuracy::Target(target))
                .products(products);
            let Ok(plan) = planner.plan(&problem) else {
                continue;
            };
            let recipe = plan.recipe().expect("digits have a recipe");
            let known = plans.iter().any(|other| other.recipe() == plan.recipe());
            if recipe.digits.data == 2 && !known {
                plans.push(plan);
            }
        }
    }
    assert!(!plans.is_empty(), "no recipe of two digits for {shape:?}");
    plans
}

/// Largest error over bound among lines that lie side by side, each measured by itself.
fn worst_of_lines(
    plan: &Plan<f64>,
    lines: &[Complex<f64>],
    scale: Scale,
    direction: Direction,
) -> (f64, usize) {
    let shape = plan.problem().shape();
    let length = shape[1];
    let computed = transform(plan, lines);
    let exact = dft_axes(lines, shape, &[1], oracle_direction(direction));
    let errors = differences(&computed, &exact, scale);
    let factor = scale.factor().to_f64();
    let norm = |values: &mut dyn Iterator<Item = Complex<f64>>| -> f64 {
        values.map(|value| value.norm_sqr()).sum::<f64>().sqrt()
    };
    let ratio = |line: usize| {
        let places = line * length..(line + 1) * length;
        let error = norm(&mut errors[places.clone()].iter().copied());
        let value = norm(&mut exact.values[places].iter().map(|x| x.to_complex() * factor));
        if error == 0.0 {
            0.0
        } else {
            error / value / plan.bound()
        }
    };
    (0..shape[0])
        .map(|line| (ratio(line), line))
        .fold(
            (0.0, 0),
            |best, other| if other.0 > best.0 { other } else { best },
        )
}

/// Lines of a batch.
const BATCH: usize = 1 << 14;

/// Feeds batches of lines to every recipe of two digits, norm and direction.
fn check_all(length: usize, lines: impl Iterator<Item = Vec<Complex<f64>>>) {
    let planner = Planner::<f64>::new();
    let mut plans = Vec::new();
    for norm in NORMS {
        for direction in DIRECTIONS {
            for plan in two_digits(&planner, [BATCH, length], norm, direction) {
                plans.push((plan, norm, direction));
            }
        }
    }
    let nearest = Worst::none();
    let violations = Violations::default();
    let mut count = 0;
    let mut check = |batch: &mut Vec<Complex<f64>>| {
        count += batch.len() / length;
        // The last one is filled up with lines that it has.
        let first: Vec<Complex<f64>> = batch[..length].to_vec();
        while batch.len() < BATCH * length {
            batch.extend_from_slice(&first);
        }
        let batch: &[Complex<f64>] = batch;
        std::thread::scope(|scope| {
            for part in plans.chunks(plans.len().div_ceil(2)) {
                let (nearest, violations) = (&nearest, &violations);
                scope.spawn(move || {
                    for (plan, norm, direction) in part {
                        let factor = scale(*norm, *direction, length);
                        let (ratio, line) = worst_of_lines(plan, batch, factor, *direction);
                        let label = || {
                            let values = &batch[line * length..(line + 1) * length];
                            format!(
                                "{values:?} {norm:?} {direction:?} {}",
                                plan.recipe().expect("a recipe")
                            )
                        };
                        violations.check(ratio <= 1.0, || format!("{}: {ratio}", label()));
                        Worst::note(nearest, ratio, label);
                    }
                });
            }
        });
    };
    let mut batch = Vec::with_capacity(BATCH * length);
    for line in lines {
        batch.extend(line);
        if batch.len() == BATCH * length {
            check(&mut batch);
            batch.clear();
        }
    }
    if !batch.is_empty() {
        check(&mut batch);
    }
    println!(
        "attack: {count} lines of {length} points, {} plans",
        plans.len()
    );
    Worst::print(&nearest, "attack: two digits: largest error/bound");
    violations.report();
}

/// All lines of `length` points whose components are `middle` plus one of these offsets. The signs are those that a
/// transform of constant magnitude may have; others follow by symmetry.
fn grid(length: usize, middle: f64, offsets: &[f64]) -> impl Iterator<Item = Vec<Complex<f64>>> {
    let count = offsets.len().pow(2 * length as u32);
    (0..count).map(move |number| {
        let mut rest = number;
        let mut next = || {
            let offset = offsets[rest % offsets.len()];
            rest /= offsets.len();
            middle + offset
        };
        (0..length)
            .map(|j| {
                let sign = if (number + j) % 3 == 0 { -1.0 } else { 1.0 };
                Complex::new(sign * next(), next())
            })
            .collect()
    })
}

/// Just below a tie, in units of a word.
const BELOW: f64 = 0.499_999;

#[test]
fn two_points_of_two_digits_in_full() {
    // The unit is 1 while the column's components add up to 4096 at least. The first number stands at a tie on either
    // side, and the second, in full, at ties: what matters of others is their distance to one.
    let span = if everything() { 8192 } else { 24 };
    let lines = [1014.5, 1013.0 + BELOW, 700.5]
        .into_iter()
        .flat_map(move |first| {
            (0..4096).flat_map(move |u| {
                (u..(u + span).min(8192)).flat_map(move |v| {
                    [0.5, BELOW].map(|tie| {
                        let x = Complex::new(first, first);
                        vec![x, Complex::new(f64::from(u) + tie, f64::from(v) + tie)]
                    })
                })
            })
        });
    check_all(2, lines);
}

#[test]
fn two_points_of_two_digits_around_ties_and_extremes() {
    let few = [-9.5, -0.5, 0.0, BELOW, 0.5, 1.5, 18.5, 1024.5];
    let all = [
        -1023.5,
        -341.5,
        -27.5,
        -9.5,
        -1.0 - BELOW,
        -0.5,
        0.0,
        BELOW,
        0.5,
        1.0 + BELOW,
        7.25,
        18.5,
        127.5,
        1023.5,
        1024.5,
    ];
    let offsets = if everything() { &all[..] } else { &few[..] };
    check_all(2, grid(2, 1024.0, offsets));
}

#[test]
fn three_points_of_two_digits_around_ties_and_extremes() {
    let few = [-0.5, BELOW, 0.5, 21.5, 682.0 + BELOW];
    let all = [-10.5, -0.5, BELOW, 0.5, 1.5, 21.5, 340.5, 682.0 + BELOW];
    let offsets = if everything() { &all[..] } else { &few[..] };
    check_all(3, grid(3, 683.0, offsets));
}

#[test]
fn four_points_of_two_digits_around_ties_and_extremes() {
    let few = [-0.5, BELOW, 16.5];
    let all = [-0.5, BELOW, 0.5, 16.5, 511.5];
    let offsets = if everything() { &all[..] } else { &few[..] };
    check_all(4, grid(4, 512.0, offsets));
}
