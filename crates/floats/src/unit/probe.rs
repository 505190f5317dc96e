//! The accumulation probe: how a unit rounds products and sums, measured on the unit itself.
//!
//! Splitting numbers into several short parts gains accuracy only where products are kept whole until they are added. A
//! unit that rounds them before (as Trainium was found to do, after its FFT had been announced with another error) gives
//! the accuracy of plain bf16 for any number of parts, and nothing fails. So a unit is asked, before a mode is offered.

use super::finding::WHOLE_SUM;
use super::{Alignment, Finding, MatrixUnit, Rounding, Shape, TILE, Term};
use crate::Format;
use crate::numbers::bf16;
use float_environment::DefaultEnvironment;

/// Products whose sum is asked for at one place: pairs of factors, each at a place of the depth.
struct Question<'a> {
    unit: &'a dyn MatrixUnit,
    left: Vec<u32>,
    right: Vec<u32>,
    sums: Vec<f32>,
}

/// Tiles of the depth: one would not show how tiles are combined.
const PAIRS: usize = 2 * TILE;
const SHAPE: Shape = Shape {
    rows: TILE,
    pairs: PAIRS,
    columns: TILE,
    left_pitch: PAIRS,
    right_pitch: TILE,
    sums_pitch: TILE,
};

fn set(format: Format, word: &mut u32, half: usize, value: f32) {
    let number = format.round(value);
    debug_assert_eq!(format.to_f32(number), value, "a number of the format");
    let (first, second) = bf16::unpair(*word);
    *word = match half {
        0 => bf16::pair(number, second),
        _ => bf16::pair(first, number),
    };
}

/// A power of two and a sign as two factors that every format has.
fn power(place: usize, k: i32, sign: f32) -> (usize, f32, f32) {
    let power = |k: i32| (k as f32).exp2();
    (place, sign * power(k / 2), power(k - k / 2))
}

impl Question<'_> {
    fn new(unit: &dyn MatrixUnit) -> Question<'_> {
        Question {
            unit,
            left: vec![0; TILE * PAIRS],
            right: vec![0; PAIRS * TILE],
            sums: vec![0.0; TILE * TILE],
        }
    }

    /// The sum of some products, each at a place of the depth (0 to 63), in one row and column.
    fn ask(&mut self, products: &[(usize, f32, f32)]) -> f32 {
        const ROW: usize = 5;
        const COLUMN: usize = 11;
        self.left.fill(0);
        self.right.fill(0);
        for &(place, a, b) in products {
            let format = self.unit.format();
            let right = place / 2 * TILE + COLUMN;
            set(
                format,
                &mut self.left[ROW * PAIRS + place / 2],
                place % 2,
                a,
            );
            set(format, &mut self.right[right], place % 2, b);
        }
        let term = Term {
            left: &self.left,
            right: &self.right,
        };
        self.sums.fill(f32::NAN);
        self.unit.multiply(&SHAPE, &[term], &mut self.sums);
        self.sums[ROW * TILE + COLUMN]
    }

    /// All sums of a product of small integers.
    fn integers_are_right(&mut self) -> bool {
        let format = self.unit.format();
        let mut state = 0x9e37_79b9u32;
        let mut small = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as i32 % 8
        };
        // Small enough for bf16 sums as well: what is asked here is that every product arrives.
        let left: Vec<[i32; 2]> = (0..TILE * PAIRS)
            .map(|_| [small() - 3, small() - 3])
            .collect();
        let right: Vec<[i32; 2]> = (0..PAIRS * TILE)
            .map(|_| [small() - 3, small() - 3])
            .collect();
        let used = |pair: usize, other: usize| (pair + 3 * other).is_multiple_of(11);
        // Every other pair in a second term, so that a unit that loses terms is found as well.
        let mut second = vec![0; TILE * PAIRS];
        self.left.fill(0);
        for (place, value) in left.iter().enumerate() {
            let pair = place % PAIRS;
            if !used(pair, place / PAIRS) {
                continue;
            }
            let term = if pair.is_multiple_of(2) {
                &mut self.left
            } else {
                &mut second
            };
            for (half, &value) in value.iter().enumerate() {
                set(format, &mut term[place], half, value as f32);
            }
        }
        for (word, value) in self.right.iter_mut().zip(&right) {
            for (half, &value) in value.iter().enumerate() {
                set(format, word, half, value as f32);
            }
        }
        let terms = [&self.left, &second].map(|left| Term {
            left,
            right: &self.right,
        });
        self.sums.fill(f32::NAN);
        self.unit.multiply(&SHAPE, &terms, &mut self.sums);
        (0..TILE).all(|row| {
            (0..TILE).all(|column| {
                let exact: i32 = (0..PAIRS)
                    .filter(|&pair| used(pair, row))
                    .map(|pair| {
                        let (l, r) = (left[row * PAIRS + pair], right[pair * TILE + column]);
                        l[0] * r[0] + l[1] * r[1]
                    })
                    .sum();
                self.sums[row * TILE + column] == exact as f32
            })
        })
    }
}

/// Places of the depth for two products: one pair, the two halves of a tile, two tiles, and each in reverse order.
const PLACES: [(usize, usize); 6] = [(0, 1), (1, 0), (2, 4), (4, 2), (3, 40), (40, 3)];

/// Asks a unit what it does.
///
/// ```
/// use floats::unit::{Order, Rounding, Scalar, probe};
/// let finding = probe(&Scalar::new(Order::Pairs));
/// assert_eq!((finding.product_bits, finding.sum_bits), (Some(16), 24));
/// assert_eq!(finding.rounding, Rounding::Nearest);
/// ```
pub fn probe(unit: &dyn MatrixUnit) -> Finding {
    let _environment = DefaultEnvironment::enter();
    let mut question = Question::new(unit);
    let integers_right = question.integers_are_right();

    // 2^k + 1 for ever larger k: the sum has k + 1 bits, and both products have one.
    let mut sum_bits = 1;
    for k in 1..WHOLE_SUM as i32 {
        let large = (k as f32).exp2();
        let kept = PLACES.iter().all(|&(one, two)| {
            let mut sum = |sign: f32| question.ask(&[power(one, k, sign), (two, sign, 1.0)]);
            sum(1.0) == large + 1.0 && sum(-1.0) == -large - 1.0
        });
        if !kept {
            break;
        }
        sum_bits = k as u32 + 1;
    }

    // (1 + 2^-a)(1 + 2^-b) = 1 + 2^-a + 2^-b + 2^-(a+b): subtract all but the last, in products that need few bits.
    let format = unit.format();
    let whole = 2 * format.bits();
    let mut product_bits = whole;
    for last in (6..=whole as i32 - 2).rev() {
        let (a, b) = (last / 2, last - last / 2);
        let small = |k: i32| (-k as f32).exp2();
        let kept = PLACES.iter().all(|&(one, two)| {
            let third = (one.max(two) + 5) % (2 * PAIRS);
            let rest = question.ask(&[
                (one, 1.0 + small(a), 1.0 + small(b)),
                (two, -1.0 - small(a), 1.0),
                (third, -small(b), 1.0),
            ]);
            rest == small(a + b)
        });
        if kept {
            break;
        }
        // The leading bit and a + b more were needed.
        product_bits = (a + b) as u32;
    }

    // 2^b + x, where the sums have b bits and so a spacing of 2 there: nearest, below and above the middle and on it.
    let large = (sum_bits as f32).exp2();
    let (mut nearest, mut truncated) = (true, true);
    for (x, to_nearest, towards_zero) in [
        (0.5, 0.0, 0.0),
        (1.0, 0.0, 0.0),
        (1.5, 2.0, 0.0),
        (3.0, 4.0, 2.0),
    ] {
        for sign in [1.0, -1.0] {
            for &(one, two) in &PLACES {
                let products = [power(one, sum_bits as i32, sign), (two, sign * x, 1.0)];
                let sum = question.ask(&products);
                nearest &= sum == sign * (large + to_nearest);
                truncated &= sum == sign * (large + towards_zero);
            }
        }
    }
    let rounding = match (nearest, truncated) {
        (true, _) => Rounding::Nearest,
        (_, true) => Rounding::Truncated,
        _ => Rounding::Other,
    };

    // Units flush subnormal numbers of their own kind: f16 has few exponents, and no product of it is a subnormal f32.
    let (subnormal, large, products) = match format {
        Format::Bf16 => ((-130f32).exp2(), 16384.0, Some((-70f32).exp2())),
        Format::Fp16 => ((-20f32).exp2(), 1024.0, None),
    };
    Finding {
        format,
        product_bits: (sum_bits >= whole).then_some(product_bits),
        sum_bits,
        rounding,
        flushes_factors: question.ask(&[(0, subnormal, large)]) == 0.0
            || question.ask(&[(0, large, subnormal)]) == 0.0,
        flushes_sums: products.is_some_and(|small| question.ask(&[(0, small, small)]) == 0.0),
        integers_right,
        alignment: (rounding == Rounding::Truncated).then(|| alignment(&mut question, sum_bits)),
    }
}

/// What a unit that truncates aligns: two large products take each other off, and a small one beside them is there or not.
fn alignment(question: &mut Question<'_>, sum_bits: u32) -> Alignment {
    let large = sum_bits as i32;
    let mut beside = |[one, two, three]: [usize; 3], small: i32| {
        let products = [
            power(one, large, 1.0),
            power(two, large, -1.0),
            power(three, small, 1.0),
        ];
        question.ask(&products) == (small as f32).exp2()
    };
    // Far below, a product is lost wherever it meets the large ones, and kept where it comes later.
    let all = 2 * PAIRS;
    let lost = (2..all)
        .filter(|&place| !beside([0, 1, place], -20))
        .count();
    // The last place of an f32 of this exponent is 2.
    let trials = [[0, 1, 2], [2, 0, 1], [1, 2, 0], [5, 3, 4]];
    let mut guard_bits = |places: [usize; 3]| {
        let kept = (0..=20)
            .take_while(|&bits| beside(places, 1 - bits))
            .count();
        kept.saturating_sub(1) as u32
    };
    Alignment {
        depth: lost + 2,
        guard_bits: trials.into_iter().map(&mut guard_bits).min().unwrap_or(0),
    }
}
