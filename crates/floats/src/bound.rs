//! Proven bounds and expectations of the relative error, `‖computed - exact‖₂ / ‖exact‖₂` of a line.
//!
//! The proofs are in `docs/ladder.md`, section "Bounds, line by line": lines B1 to B19, each with its place here, and every place
//! here names its lines. `tests/referee.rs` derives every bound once more, from the lines alone.

use crate::lanes::Scalar;
use crate::lines::bluestein::SpectrumStats;
use crate::lines::recipe::{LineRecipe, Step};
use crate::numbers::format::Format;
use crate::numbers::roots::{Real, root};
use crate::products::fp16_gemm::divisor;
use crate::products::matrices::Cut;
use crate::products::ozaki::products;
use crate::products::two_level;
use crate::unit::{Order, TILE};
use std::collections::HashMap;
use std::f64::consts::SQRT_2;
use std::sync::{Mutex, PoisonError};

/// Relative L2 error: for every line, and for random ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ErrorBudget {
    pub(crate) bound: f64,
    pub(crate) expected: f64,
    /// Of the bound what the last rounding of every number by itself adds.
    last: f64,
}

const NONE: ErrorBudget = ErrorBudget::new(0.0, 0.0);

/// Expected relative error of one rounding of random numbers, in units of the largest.
const ROUNDED_ONCE: f64 = 0.4236;

impl ErrorBudget {
    const fn new(bound: f64, expected: f64) -> ErrorBudget {
        ErrorBudget {
            bound,
            expected,
            last: 0.0,
        }
    }

    /// Steps in sequence (B1).
    fn then(self, next: ErrorBudget) -> ErrorBudget {
        ErrorBudget::new(
            self.bound + next.bound + self.bound * next.bound,
            self.expected.hypot(next.expected),
        )
    }

    /// Layers of roundings, at most (B2) and as they add up for random numbers.
    fn roundings<S: Scalar>(most: f64, squares: f64) -> ErrorBudget {
        let u = S::UNIT_ROUNDOFF;
        ErrorBudget::new(
            most * u * (1.0 + most * u),
            ROUNDED_ONCE * u * squares.sqrt(),
        )
    }

    /// One rounding more, of every number by itself (B18).
    fn rounded_to<S: Scalar>(self) -> ErrorBudget {
        let last = ErrorBudget::roundings::<S>(1.0, 1.0);
        ErrorBudget {
            last: last.bound,
            ..self.then(last)
        }
    }

    /// One more rounding to f32 (B18).
    pub(crate) fn rounded_to_f32(self) -> ErrorBudget {
        self.rounded_to::<f32>()
    }

    /// The bound where half a spectrum is kept, which may carry all of the error and half of the squares: `√2` on
    /// everything before the last rounding (B18).
    pub(crate) fn half_spectrum(self) -> f64 {
        let before = (self.bound - self.last) / (1.0 + self.last);
        let before = SQRT_2 * before * EVALUATED;
        before + self.last + before * self.last
    }

    /// What scaled lines may lose to underflow (B17), and what this calculation itself may (B19).
    fn with_underflow<S: Scalar>(self, n: usize) -> ErrorBudget {
        let n = n as f64;
        // Of f64 nothing is left to lose, but a bound of zero would promise bits.
        let smallest = if S::UNIT_ROUNDOFF == f32::UNIT_ROUNDOFF {
            -80f64
        } else {
            -900f64
        };
        ErrorBudget {
            bound: (self.bound + n * n * smallest.exp2()) * EVALUATED,
            ..self
        }
    }
}

/// Bounds are calculated in f64, by some hundred operations (B19).
const EVALUATED: f64 = 1.0 + 1.0 / (1u64 << 40) as f64;

/// A rotation by rounded roots (B6).
fn rotation<S: Scalar>() -> ErrorBudget {
    ErrorBudget::roundings::<S>(3.0, 2.0)
}

/// The small DFT of a stage: sums and differences (B5), folded chains (B4), or a product with the matrix (B3).
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

/// Stages, all but the last with their rotations (B7).
fn stages<S: Scalar>(steps: &[Step]) -> ErrorBudget {
    let last = steps.len().saturating_sub(1);
    let each = steps.iter().enumerate().map(|(i, &step)| match i == last {
        true => small::<S>(step),
        false => small::<S>(step).then(rotation::<S>()),
    });
    each.fold(NONE, ErrorBudget::then)
}

/// Layers as carried errors count them (B9): one for a sum, three for a rotation.
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

/// Steps whose errors are carried, as so many layers (B9).
fn carried_errors<S: Scalar>(layers: f64) -> ErrorBudget {
    let u = S::UNIT_ROUNDOFF;
    ErrorBudget::new(10.0 * layers * layers * u * u, layers * u * u)
}

/// The table of Bluestein's convolution, every entry, relative to the largest one (B10).
fn table(n: usize, steps: &[Step], stats: SpectrumStats) -> ErrorBudget {
    let length: usize = steps.iter().map(|step| step.points()).product();
    // The carried transform is off by this much at most; its chirp has second words from the start, as after one layer.
    let carried = carried_errors::<f64>(layers(steps) + 1.0).bound;
    let carried = carried * (2.0 * n as f64 * length as f64).sqrt();
    // Of the f64 transform of a rounded chirp, for random errors.
    let expected = ErrorBudget::roundings::<f64>(1.0, 1.0).then(stages::<f64>(steps));
    ErrorBudget::new(
        (stats.distance + carried) / stats.largest,
        expected.expected,
    )
}

/// Transforms over lanes. The spectrum is that of a chirp.
pub(crate) fn lines<S: Scalar>(
    n: usize,
    recipe: &LineRecipe,
    carried: bool,
    spectrum: Option<SpectrumStats>,
) -> ErrorBudget {
    let points = n as f64;
    let budget = match (recipe, carried) {
        _ if n == 1 => NONE,
        // B3.
        (LineRecipe::Gemm, false) => {
            ErrorBudget::roundings::<S>(2.0 * points + points.sqrt(), points + 1.0)
        }
        (LineRecipe::Gemm, true) => carried_errors::<S>(6.0 * points).rounded_to::<S>(),
        (LineRecipe::Stages(steps), false) => stages::<S>(steps),
        (LineRecipe::Stages(steps), true) => carried_errors::<S>(layers(steps)).rounded_to::<S>(),
        // B10.
        (LineRecipe::Bluestein(steps), _) => {
            let length: usize = steps.iter().map(|step| step.points()).product();
            let length = length as f64;
            let stats = spectrum.expect("a plan has measured the table");
            let table = table(n, steps, stats);
            let largest = stats.largest * (1.0 + 1e-6);
            let amplified = |budget: ErrorBudget| {
                ErrorBudget::new(
                    budget.bound * (largest / points.sqrt()).max(1.0),
                    budget.expected * (2.0 * points / length).sqrt(),
                )
            };
            if carried {
                // Second words go on from one step to the next, so that layers are counted together.
                let all = carried_errors::<S>(2.0 * layers(steps) + 9.0).then(table);
                amplified(all).rounded_to::<S>()
            } else {
                let (rotated, transform) = (rotation::<S>(), stages::<S>(steps));
                let both = rotated
                    .then(transform)
                    .then(table)
                    .then(rotated)
                    .then(transform);
                amplified(both).then(rotated)
            }
        }
    };
    budget.with_underflow::<S>(n)
}

/// The 2-norm of a symmetric matrix, from above (B11), and its Frobenius norm.
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
/// mean square of its entries (B11).
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

/// The parts that numbers are split into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Pieces {
    /// Numbers of a format, each the nearest to what the ones before leave.
    Parts(Format),
    /// Digits of 8 bits.
    Digits,
}

impl Pieces {
    /// The first `count` pieces of an entry.
    fn of(self, value: Real, count: usize) -> Vec<f64> {
        match self {
            Pieces::Parts(format) => {
                let slices = format.slices(value, count).into_iter();
                slices
                    .map(|slice| f64::from(format.to_f32(slice)))
                    .collect()
            }
            Pieces::Digits => {
                let unit = (-31f64).exp2();
                let digits = two_level::entry_digits(value).into_iter().enumerate();
                digits
                    .take(count)
                    .map(|(i, digit)| {
                        let weight = unit * (8.0 * (3 - i as i32) as f64).exp2();
                        f64::from(Format::Bf16.to_f32(digit)) * weight
                    })
                    .collect()
            }
        }
    }
}

/// Which matrix is meant: what some pieces leave of the DFT's, or the piece that follows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Which {
    Left,
    Next,
}

/// Norms, as above, of what the first `used` pieces leave of a matrix, or of the piece after them. They take longer to find than all
/// else that a plan needs, and few are ever asked for: blocks end at 256 points. So they are kept.
fn piece_norms(n: usize, pieces: Pieces, used: usize, which: Which) -> (f64, f64) {
    type Known = HashMap<(usize, Pieces, usize, Which), (f64, f64)>;
    static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
    let key = (n, pieces, used, which);
    let lock = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&norms) = lock().get_or_insert_default().get(&key) {
        return norms;
    }
    let entry = |value: Real| match which {
        Which::Left => {
            let parts = pieces.of(value, used).into_iter();
            parts.fold(value, Real::minus).high
        }
        Which::Next => pieces.of(value, used + 1)[used],
    };
    let norms = relative_norms(n, |t| {
        let root = root(t as u64, n as u64);
        (entry(root.re), entry(root.im))
    });
    lock().get_or_insert_default().insert(key, norms);
    norms
}

/// Roundings of a chain of `pairs` pairs: those that see the sum so far, those that see a tile alone, and both for random
/// numbers, whose sums grow with the root of their terms (sums of squares). What pads a tile is zero and rounds nothing (B13).
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
                // Truncation errs by twice as much as rounding.
                2.0 * (blocks + 1.0),
            )
        }
    }
}

/// One product of `n` points, numbers in some parts: B12 and B13.
fn product(n: usize, (format, parts): (Format, usize), order: Order) -> ErrorBudget {
    let unit = format.unit_roundoff();
    // An f32 has three parts and no more.
    let exact = parts == crate::products::ozaki::MOST_PARTS;
    if n == 1 {
        // One is a number of the format.
        let unit = unit.powi(parts as i32);
        return match exact {
            true => NONE,
            false => ErrorBudget::new(unit, ROUNDED_ONCE * unit),
        };
    }
    let left = |used: usize| piece_norms(n, Pieces::Parts(format), used, Which::Left);
    let piece = |part: usize| piece_norms(n, Pieces::Parts(format), part, Which::Next);
    let data_left = |used: usize| match used {
        crate::products::ozaki::MOST_PARTS => 0.0,
        used => unit.powi(used as i32),
    };
    let part_of_data = |part: usize| data_left(part) * (1.0 + unit);
    // Every part leaves a random share of what the one before has left.
    let typically_left = |used: usize| data_left(used) * ROUNDED_ONCE.powi(used as i32);
    let mut bound = data_left(parts);
    let mut squares = typically_left(parts).powi(2);
    for data in 0..parts {
        let left = left(parts - data);
        bound += left.0 * part_of_data(data);
        squares += (left.1 * typically_left(data)).powi(2);
    }
    let (along, within, typical) = chain(order, n);
    let u = f32::UNIT_ROUNDOFF;
    // (1 + u)^along - 1, from above.
    let growth = (along * u).exp_m1();
    let (mut so_far, mut sums) = (0.0, 0.0);
    for (data, part) in products(parts) {
        let piece = piece(part);
        let size = piece.0 * part_of_data(data);
        so_far += size;
        // Aligned products are no larger than the largest entry says, which a norm may be below.
        let largest = match order {
            Order::Aligned { .. } => size.max(unit.powi(part as i32) * part_of_data(data)),
            Order::Pairs | Order::Tiles => size,
        };
        let in_tiles = u * within * largest * (1.0 + 33.0 * u);
        sums = (1.0 + growth) * (sums + in_tiles) + growth * so_far;
        squares += typical * (ROUNDED_ONCE * u * piece.1 * typically_left(data)).powi(2);
    }
    ErrorBudget::new(bound + sums, squares.sqrt())
}

/// A transform on a matrix unit with numbers in parts.
pub(crate) fn dft_gemm(n: usize, numbers: (Format, usize), cut: Cut, order: Order) -> ErrorBudget {
    let budget = match cut {
        Cut::Whole => product(n, numbers, order),
        Cut::Blocks(n1, n2) => product(n1, numbers, order)
            .then(rotation::<f32>())
            .then(product(n2, numbers, order)),
    };
    // B14. A tenth more for what steps before and after err by.
    let between = match cut {
        Cut::Whole => 0.0,
        Cut::Blocks(n1, _) => divisor(n1) as f64 / (n1 as f64).sqrt(),
    };
    let subnormal = match numbers.0 {
        Format::Bf16 => 0.0,
        Format::Fp16 => 1.1 * (2.0 * n as f64).sqrt() * (1.0 + between) * (-39f64).exp2(),
    };
    ErrorBudget {
        bound: budget.bound + subnormal,
        ..budget
    }
    .with_underflow::<f32>(n)
}

/// One step of refinement with an inverse in f32 (B15).
pub(crate) fn refined(n: usize, forward: ErrorBudget, back: ErrorBudget) -> ErrorBudget {
    let u = f32::UNIT_ROUNDOFF;
    // The residual: the error of the first result, that of the inverse, and 1/n and the difference rounded.
    let residual = forward.bound;
    let of_residual = (back.bound + 3.0 * u) * (1.0 + forward.bound);
    ErrorBudget::new(
        (of_residual + (residual + of_residual) * forward.bound + u) * (1.0 + 2.0 * u),
        (forward.expected * forward.expected)
            .hypot(back.expected)
            .hypot(2.0 * ROUNDED_ONCE * u),
    )
    .with_underflow::<f32>(n)
}

/// One product of `n` points in digits, for lines of `line` points under one exponent (B16); `crest` is the power of two below the
/// largest number over the root mean square, for random lines.
fn digit_product(n: usize, line: usize, crest: f64) -> ErrorBudget {
    let count = two_level::DIGITS;
    let unit = (-31f64).exp2();
    let left = piece_norms(n, Pieces::Digits, count, Which::Left);
    // A line of which one number is as large as its exponent says, all others as unlucky as they may be.
    let spread = (2.0 * line as f64).sqrt();
    let mut bound = spread * unit + left.0 * (1.0 + spread * unit);
    let mut squares = (crest * 0.29 * unit * 2.0).powi(2) + left.1.powi(2);
    for data in 0..count {
        for part in count - data..count {
            let piece = piece_norms(n, Pieces::Digits, part, Which::Next);
            // A digit of data is at most 128 in units of 2^(-7 - 8·data) of the exponent's power of two.
            let size = spread * (1.0 - 8.0 * data as f64).exp2();
            bound += piece.0 * size;
            // Balanced digits have a root mean square of 73.9.
            let typical = crest * 0.577 * (1.0 - 8.0 * data as f64).exp2();
            squares += (piece.1 * typical).powi(2);
        }
    }
    ErrorBudget::new(bound, squares.sqrt())
}

/// A transform in digits, results in f64 (B16).
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
    budget.then(last).with_underflow::<f64>(n)
}
