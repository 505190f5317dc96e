//! Proven bounds and expectations of the relative error, `‖computed - exact‖₂ / ‖exact‖₂` of a line.
//!
//! `u = 2^-24` is the relative error of one rounding to f32 (`2^-53` for f64). A DFT of `n` points is `√n` times a unitary
//! matrix, and so are all its steps, so relative errors of steps in sequence add: `(1 + a)(1 + b) - 1`.
//!
//! **Accumulation.** Let the outputs of a DFT be sums that are rounded one term after the other. After `t` terms the vector
//! of all outputs' partial sums is the DFT of the input's first terms alone: its norm is at most `√n·‖x‖`, because columns
//! of the matrix are orthogonal. A rounding of all partial sums errs by at most `u` of that. So a chain of `k` roundings
//! gives a relative error of at most `k·u`, to first order, and not `k·u·√n` as a bound for single outputs would give. What
//! follows to second order is covered by the factor `1 + k·u`. For tiles (see [`Order::Tiles`]) the two chains of 15
//! roundings start from zero and see the tile's share of the input only, so that `T` tiles give
//! `(15·√2 + 1)·√T + T` roundings by Cauchy and Schwarz.
//!
//! **Aligned sums** ([`Order::Aligned`]) of `T` blocks: every block's sum is cut off, which errs by at most `2u` of it, `T` times. Of
//! a block's products and the sum before it all but the largest are cut off by at most `2u·2^-g` of the largest, `d` times for `d`
//! products: at most that share of the sum before, or of the largest product, which is no larger than the block's share of
//! the input in both parts of all outputs. Together `2u·(T + d·2^-g·(T + √(2T)))`, again by Cauchy and Schwarz.
//!
//! **Entries.** A matrix `Ŵ = W - E` gives an error of `‖E‖₂/√n`. `E` has entries `e(jk mod n)`, cosines' errors even and
//! sines' errors odd in `jk`: the even and odd inputs are invariant, so the norm is the larger one of two symmetric matrices
//! of half the size, bounded by `‖A‖₂ <= ‖A^32‖_F^(1/32)`.
//!
//! **Splitting.** With parts `x_j` and partial sums `W_p` of the matrix' parts, what is computed is `Σ_j W_{s-j}·x_j`, so the
//! error is at most `Σ_j ‖W - W_{s-j}‖·‖x_j‖ + ‖W‖·‖x - Σ x_j‖`, where `‖x_j‖ <= 2^-8j·‖x‖` (`2^-11j` in f16).
//!
//! **Range of f16.** Lines are multiplied by a power of two that brings their largest part to `2^14`, and what comes out of the first
//! product is divided by `n1`: no part is then beyond `√2·2^15` but for rounding. Numbers that become subnormal are off by
//! `2^-25`, so that a line is off by `√(2n)·2^-39` of its norm, and by `√(2n·n1)·2^-39` between the products.
//!
//! **Rotations.** Roots are rounded (`u`), a complex product with fused operations errs by `2u` (each part is one rounded
//! product and one rounded sum): `3u`.
//!
//! **Small DFTs** are layers of sums (`u` each); 8 points have a factor `√½` in one layer more (`3u`: sum, product,
//! constant). Odd ones of `R = 2h+1` points are two sums of pairs, chains of `h` roundings, and constants with
//! `u·√(R/2)` (Frobenius).
//!
//! **Carried errors.** A layer adds at most `u` (a sum) or `2u` (a product) to what the second word holds, relative to the
//! number, and rounds the second word twice: after `L` layers the second word is at most `1.1·L·u`, and the errors add up to
//! at most `10·L²·u²`, plus the `u` of the last sum.
//!
//! **Bluestein's** convolution amplifies errors by at most the largest magnitude of the chirp's spectrum over `√n`, which is
//! known from the table.
//!
//! Lines are scaled so that their largest part is within `2^±41` of one; underflow then errs by less than `n²·2^-80`. Results
//! that are subnormal themselves are rounded to `2^-149` (`2^-1074`), which is no relative error and not part of the bound.

use crate::format::Format;
use crate::lanes::Scalar;
use crate::lines::LineRecipe;
use crate::matrices::Cut;
use crate::ozaki::products;
use crate::roots::{Real, root};
use crate::stockham::Step;
use crate::two_level;
use crate::unit::{Order, TILE};

/// Relative L2 error: for every line, and for random ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ErrorBudget {
    pub(crate) bound: f64,
    pub(crate) expected: f64,
}

const NONE: ErrorBudget = ErrorBudget {
    bound: 0.0,
    expected: 0.0,
};

/// Expected relative error of one rounding of random numbers, in units of the largest.
const ROUNDED_ONCE: f64 = 0.4236;

impl ErrorBudget {
    fn then(self, next: ErrorBudget) -> ErrorBudget {
        ErrorBudget {
            bound: self.bound + next.bound + self.bound * next.bound,
            expected: self.expected.hypot(next.expected),
        }
    }

    /// Layers of roundings, at most and as they add up for random numbers.
    fn roundings<S: Scalar>(most: f64, squares: f64) -> ErrorBudget {
        let u = S::UNIT_ROUNDOFF;
        ErrorBudget {
            bound: most * u * (1.0 + most * u),
            expected: ROUNDED_ONCE * u * squares.sqrt(),
        }
    }

    /// One more rounding to f32.
    pub(crate) fn rounded_to_f32(self) -> ErrorBudget {
        self.then(ErrorBudget::roundings::<f32>(1.0, 1.0))
    }

    /// What scaled lines may lose to underflow.
    fn with_underflow(self, n: usize) -> ErrorBudget {
        let n = n as f64;
        ErrorBudget {
            bound: self.bound + n * n * (-80f64).exp2(),
            ..self
        }
    }
}

/// A rotation by rounded roots.
fn rotation<S: Scalar>() -> ErrorBudget {
    ErrorBudget::roundings::<S>(3.0, 2.0)
}

/// The small DFT of a stage.
fn small<S: Scalar>(step: Step) -> ErrorBudget {
    match step {
        Step::Butterfly(2) => ErrorBudget::roundings::<S>(1.0, 1.0),
        Step::Butterfly(4) => ErrorBudget::roundings::<S>(2.0, 2.0),
        Step::Butterfly(8) => ErrorBudget::roundings::<S>(6.0, 3.75),
        Step::Butterfly(points) => {
            let (half, points) = ((points / 2) as f64, points as f64);
            ErrorBudget::roundings::<S>(2.0 + half + (points / 2.0).sqrt(), 2.5 + half / 2.0)
        }
        Step::Matrix(points) => {
            let points = points as f64;
            ErrorBudget::roundings::<S>(2.0 * (points - 1.0) + points.sqrt(), points)
        }
    }
}

fn stages<S: Scalar>(steps: &[Step]) -> ErrorBudget {
    let last = steps.len().saturating_sub(1);
    let each = steps.iter().enumerate().map(|(i, &step)| match i == last {
        true => small::<S>(step),
        false => small::<S>(step).then(rotation::<S>()),
    });
    each.fold(NONE, ErrorBudget::then)
}

/// Layers of sums, and twice those of products, for carried errors.
fn layers(steps: &[Step]) -> f64 {
    let of = |step: &Step| match step {
        Step::Butterfly(2) => 1,
        Step::Butterfly(4) => 2,
        Step::Butterfly(8) => 6,
        Step::Butterfly(points) => 2 + 3 * (points / 2),
        Step::Matrix(points) => 6 * points,
    };
    steps.iter().map(|step| of(step) as f64 + 3.0).sum()
}

/// Transforms over lanes. `largest` is that of a chirp's spectrum.
pub(crate) fn lines<S: Scalar>(
    n: usize,
    recipe: &LineRecipe,
    carried: bool,
    largest: Option<f64>,
) -> ErrorBudget {
    let points = n as f64;
    let u = S::UNIT_ROUNDOFF;
    let carried_errors = |layers: f64| ErrorBudget {
        bound: 10.0 * layers * layers * u * u,
        expected: layers * u * u,
    };
    let last = ErrorBudget::roundings::<S>(1.0, 1.0);
    let budget = match (recipe, carried) {
        _ if n == 1 => NONE,
        (LineRecipe::Gemm, false) => {
            ErrorBudget::roundings::<S>(2.0 * points + points.sqrt(), points + 1.0)
        }
        (LineRecipe::Gemm, true) => carried_errors(6.0 * points).then(last),
        (LineRecipe::Stages(steps), false) => stages::<S>(steps),
        (LineRecipe::Stages(steps), true) => carried_errors(layers(steps)).then(last),
        (LineRecipe::Bluestein(steps), _) => {
            let length: usize = steps.iter().map(|step| step.points()).product();
            let length = length as f64;
            let largest = largest.unwrap_or(f64::INFINITY) * (1.0 + 1e-6);
            // The table's error, every entry, relative to its largest.
            let table = stages::<f64>(steps);
            let table = ErrorBudget {
                bound: table.bound * (2.0 * points * length).sqrt() / largest,
                expected: table.expected,
            };
            let transform = if carried {
                carried_errors(layers(steps) + 10.0)
            } else {
                stages::<S>(steps)
            };
            let turn = if carried {
                carried_errors(3.0)
            } else {
                rotation::<S>()
            };
            let both = turn.then(transform).then(table).then(turn).then(transform);
            let amplified = ErrorBudget {
                bound: both.bound * (largest / points.sqrt()).max(1.0),
                expected: both.expected * (2.0 * points / length).sqrt(),
            };
            let all = amplified.then(turn);
            if carried { all.then(last) } else { all }
        }
    };
    budget.with_underflow(n)
}

/// The 2-norm of a symmetric matrix, from above, and its Frobenius norm.
fn norms(size: usize, entry: impl Fn(usize, usize) -> f64) -> (f64, f64) {
    let mut matrix: Vec<f64> = (0..size * size)
        .map(|place| entry(place / size, place % size))
        .collect();
    let frobenius = |matrix: &[f64]| matrix.iter().map(|x| x * x).sum::<f64>().sqrt();
    let first = frobenius(&matrix);
    if first == 0.0 {
        return (0.0, 0.0);
    }
    // The logarithm of what has been divided out, per power of the matrix.
    let mut logarithm = 0.0;
    let mut power = 1.0;
    for _ in 0..5 {
        let norm = frobenius(&matrix);
        logarithm += norm.ln() / power;
        matrix.iter_mut().for_each(|x| *x /= norm);
        let mut square = vec![0.0; size * size];
        for (row, square) in matrix.chunks_exact(size).zip(square.chunks_exact_mut(size)) {
            for (&factor, other) in row.iter().zip(matrix.chunks_exact(size)) {
                for (sum, other) in square.iter_mut().zip(other) {
                    *sum += factor * other;
                }
            }
        }
        matrix = square;
        power *= 2.0;
    }
    logarithm += frobenius(&matrix).ln() / power;
    // The powers themselves are rounded.
    (logarithm.exp() * (1.0 + 1e-6), first)
}

/// Norms of a matrix with entries `cos part - i·sin part` at `jk mod n`, relative to `√n`: 2-norm from above, and the root
/// mean square of its entries.
fn relative_norms(n: usize, entry: impl Fn(usize) -> (f64, f64)) -> (f64, f64) {
    let table: Vec<_> = (0..n).map(entry).collect();
    let alone = |j: usize| (2 * j).is_multiple_of(n);
    let weight = |j: usize| if alone(j) { 1.0 } else { 2f64.sqrt() };
    let half = n / 2 + 1;
    let (even, even_frobenius) = norms(half, |j, k| weight(j) * weight(k) * table[j * k % n].0);
    let (odd, odd_frobenius) = norms(half, |j, k| {
        if alone(j) || alone(k) {
            0.0
        } else {
            2.0 * table[j * k % n].1
        }
    });
    (
        even.max(odd) / (n as f64).sqrt(),
        even_frobenius.hypot(odd_frobenius) / n as f64,
    )
}

/// What is left of a matrix after some parts, and what the next part is: norms as above.
fn parts_of_matrix(
    n: usize,
    parts: &dyn Fn(Real) -> Vec<f64>,
    count: usize,
) -> Vec<[(f64, f64); 2]> {
    let table: Vec<_> = (0..n)
        .map(|t| {
            let root = root(t as u64, n as u64);
            (root, parts(root.re), parts(root.im))
        })
        .collect();
    let left = |value: Real, parts: &[f64]| parts.iter().fold(value, |rest, p| rest.minus(*p)).high;
    (0..=count)
        .map(|used| {
            let residual = relative_norms(n, |t| {
                let (root, re, im) = &table[t];
                (left(root.re, &re[..used]), left(root.im, &im[..used]))
            });
            let part = if used < count {
                relative_norms(n, |t| (table[t].1[used], table[t].2[used]))
            } else {
                (0.0, 0.0)
            };
            [residual, part]
        })
        .collect()
}

/// Roundings of a chain of `pairs` pairs: those that see the sum so far, those that see a tile alone, and both for random
/// numbers, whose sums grow with the root of their terms (sums of squares). What pads a tile is zero and rounds nothing.
fn chain(order: Order, pairs: usize) -> (f64, f64, f64) {
    let (products, tiles) = (2.0 * pairs as f64, pairs.div_ceil(TILE) as f64);
    let length = pairs.min(TILE) as f64;
    match order {
        Order::Pairs => (products, 0.0, products / 2.0),
        Order::Tiles => (
            tiles,
            ((length - 1.0) * 2f64.sqrt() + 1.0) * tiles.sqrt(),
            // Within a tile products of 16 bits meet in sums of 24, from zero: they seldom round.
            (tiles + 1.0) / 2.0,
        ),
        Order::Aligned { depth, guard_bits } => {
            let blocks = (products / depth as f64).ceil();
            let cut = depth as f64 * (-f64::from(guard_bits)).exp2();
            (
                2.0 * blocks * (1.0 + cut),
                2.0 * cut * (2.0 * blocks).sqrt(),
                // What is cut off is twice as much as rounding errs.
                2.0 * (blocks + 1.0),
            )
        }
    }
}

/// One product of `n` points, numbers in some parts.
fn product(n: usize, (format, parts): (Format, usize), order: Order) -> ErrorBudget {
    let unit = format.unit_roundoff();
    // An f32 has three parts and no more.
    let exact = parts == crate::ozaki::MOST_PARTS;
    if n == 1 {
        // One is a number of the format.
        let unit = unit.powi(parts as i32);
        return ErrorBudget {
            bound: if exact { 0.0 } else { unit },
            expected: if exact { 0.0 } else { ROUNDED_ONCE * unit },
        };
    }
    let slices = |value: Real| -> Vec<f64> {
        let slices = format.slices(value, parts).into_iter();
        slices
            .map(|slice| f64::from(format.to_f32(slice)))
            .collect()
    };
    let matrix = parts_of_matrix(n, &slices, parts);
    let data_left = |used: usize| match used {
        crate::ozaki::MOST_PARTS => 0.0,
        used => unit.powi(used as i32),
    };
    let part_of_data = |part: usize| data_left(part) * (1.0 + unit);
    // Every part leaves a random share of what the one before has left.
    let typically_left = |used: usize| data_left(used) * ROUNDED_ONCE.powi(used as i32);
    let mut bound = data_left(parts);
    let mut squares = typically_left(parts).powi(2);
    for data in 0..parts {
        let residual = matrix[parts - data][0];
        bound += residual.0 * part_of_data(data);
        squares += (residual.1 * typically_left(data)).powi(2);
    }
    let (along, within, typical) = chain(order, n);
    let u = f32::UNIT_ROUNDOFF;
    let mut so_far = 0.0;
    for (data, part) in products(parts) {
        let size = matrix[part][1].0 * part_of_data(data);
        so_far += size;
        // Aligned products are no larger than the largest entry says, which a norm may be below.
        let largest = match order {
            Order::Aligned { .. } => size.max(unit.powi(part as i32) * part_of_data(data)),
            Order::Pairs | Order::Tiles => size,
        };
        bound += u * (along * so_far + within * largest) * (1.0 + (along + 32.0) * u);
        squares += typical * (ROUNDED_ONCE * u * matrix[part][1].1 * typically_left(data)).powi(2);
    }
    ErrorBudget {
        bound,
        expected: squares.sqrt(),
    }
}

/// A transform on a matrix unit with numbers in parts.
pub(crate) fn dft_gemm(n: usize, numbers: (Format, usize), cut: Cut, order: Order) -> ErrorBudget {
    let budget = match cut {
        Cut::Whole => product(n, numbers, order),
        Cut::Blocks(n1, n2) => product(n1, numbers, order)
            .then(rotation::<f32>())
            .then(product(n2, numbers, order)),
    };
    let budget = budget.with_underflow(n);
    let between = match cut {
        Cut::Whole => 0.0,
        Cut::Blocks(n1, _) => (n1 as f64).sqrt(),
    };
    ErrorBudget {
        bound: match numbers.0 {
            Format::Bf16 => budget.bound,
            Format::Fp16 => {
                // A tenth more for what the first product errs by.
                budget.bound + (2.0 * n as f64).sqrt() * (1.0 + 1.1 * between) * (-39f64).exp2()
            }
        },
        ..budget
    }
}

/// One step of refinement with a way back in f32.
pub(crate) fn refined(n: usize, forward: ErrorBudget, back: ErrorBudget) -> ErrorBudget {
    let u = f32::UNIT_ROUNDOFF;
    // The residual: the error of the first result, that of the way back, and 1/n and the difference rounded.
    let residual = forward.bound;
    let of_residual = (back.bound + 3.0 * u) * (1.0 + forward.bound);
    ErrorBudget {
        bound: (of_residual + (residual + of_residual) * forward.bound + u) * (1.0 + 2.0 * u),
        expected: (forward.expected * forward.expected)
            .hypot(back.expected)
            .hypot(2.0 * ROUNDED_ONCE * u),
    }
    .with_underflow(n)
}

/// One product of `n` points in digits, for lines of `line` points under one exponent; `crest` is the power of two below the
/// largest number over the root mean square, for random lines.
fn digit_product(n: usize, line: usize, crest: f64) -> ErrorBudget {
    let count = two_level::DIGITS;
    let unit = (-31f64).exp2();
    let digits = |value: Real| -> Vec<f64> {
        let digits = two_level::entry_digits(value).into_iter().enumerate();
        digits
            .map(|(i, digit)| {
                f64::from(Format::Bf16.to_f32(digit)) * unit * (8.0 * (3 - i as i32) as f64).exp2()
            })
            .collect()
    };
    let matrix = parts_of_matrix(n, &digits, count);
    // A line of which one number is as large as its exponent says, all others as unlucky as they may be.
    let spread = (2.0 * line as f64).sqrt();
    let mut bound = spread * unit + matrix[count][0].0;
    let mut squares = (crest * 0.29 * unit * 2.0).powi(2) + matrix[count][0].1.powi(2);
    for data in 0..count {
        for [_, part] in &matrix[count - data..count] {
            // A digit of data is at most 128 in units of 2^(-7 - 8·data) of the exponent's power of two.
            let size = spread * (1.0 - 8.0 * data as f64).exp2();
            bound += part.0 * size;
            // Balanced digits have a root mean square of 73.9.
            let typical = crest * 0.577 * (1.0 - 8.0 * data as f64).exp2();
            squares += (part.1 * typical).powi(2);
        }
    }
    ErrorBudget {
        bound,
        expected: squares.sqrt(),
    }
}

/// A transform in digits, results in f64.
pub(crate) fn two_level(n: usize, cut: Cut) -> ErrorBudget {
    let last = ErrorBudget::roundings::<f64>(2.0, 2.0);
    // Of numbers uniform in ±1 the largest is nearly one, and the power of two below it one half; sums of them are normal, and the largest of 2n of those is
    // √(2·ln 2n) deviations, 1.44 times the power of two below it.
    let uniform = 0.5 * 3f64.sqrt();
    let normal = (2.0 * (2.0 * n as f64).ln()).sqrt() / 1.44;
    let budget = match cut {
        Cut::Whole => digit_product(n, n, uniform),
        Cut::Blocks(n1, n2) => digit_product(n1, n, uniform)
            .then(rotation::<f64>())
            .then(digit_product(n2, n, normal)),
    };
    budget.then(last).with_underflow(n)
}
