//! Roots of unity to full double-double accuracy.
//!
//! The angle is an exact fraction of a turn, so it is reduced in integers: to an octant, then to the nearest
//! 1024th of a turn. The roots at those 129 grid points come from multiprecision arithmetic, once per process; the
//! remaining angle is below 0.0031, where a handful of Taylor terms is exact for our purpose.

use crate::oracle::double_double::{Baseline, ComplexDoubleDouble, DoubleDouble, ExactProduct};
use crate::oracle::multiprecision;
use std::sync::OnceLock;

/// Largest order of a root: keeps every integer of the reduction below 2^53.
pub const LARGEST_ORDER: usize = 1 << 40;

/// Grid points per octant.
const GRID_POINTS: i64 = 128;
/// Taylor terms kept beyond the leading one: the next would be below 1e-38.
const TAYLOR_TERMS: usize = 5;
/// Orders up to this get a table with every root.
const FULL_TABLE: usize = 1 << 16;

/// What the evaluation of a root needs, computed once.
struct RootGrid {
    /// `cos + i sin` of `node / 1024` turns.
    roots: Vec<ComplexDoubleDouble>,
    pi: DoubleDouble,
    /// `(-1)^m / (2m + 1)!` for m from 1.
    sine: [DoubleDouble; TAYLOR_TERMS],
    /// `(-1)^m / (2m)!` for m from 1.
    cosine: [DoubleDouble; TAYLOR_TERMS],
}

fn root_grid() -> &'static RootGrid {
    static GRID_CELL: OnceLock<RootGrid> = OnceLock::new();
    GRID_CELL.get_or_init(|| {
        // 256 bits: more than twice what is kept.
        let precision = 256;
        let roots = (0..=GRID_POINTS as usize)
            .map(|node| {
                let (cosine, sine) =
                    multiprecision::cosine_and_sine_of_turns(node, 1024, precision);
                ComplexDoubleDouble::new(
                    multiprecision::to_double_double(&cosine),
                    multiprecision::to_double_double(&sine),
                )
            })
            .collect();
        let reciprocal_factorial = |order: usize| {
            let factorial: f64 = (1..=order).map(|factor| factor as f64).product(); // at most 11!, exact
            DoubleDouble::ONE / DoubleDouble::from(factorial)
        };
        let signed = |term: usize, value: DoubleDouble| {
            if term.is_multiple_of(2) {
                -value
            } else {
                value
            }
        };
        RootGrid {
            roots,
            pi: multiprecision::to_double_double(&multiprecision::pi(precision)),
            sine: core::array::from_fn(|term| signed(term, reciprocal_factorial(2 * term + 3))),
            cosine: core::array::from_fn(|term| signed(term, reciprocal_factorial(2 * term + 2))),
        }
    })
}

/// `cos + i sin` of `numerator / (8 * order)` turns, for `0 <= numerator <= order`: the first octant.
fn first_octant(numerator: usize, order: usize) -> ComplexDoubleDouble {
    let grid = root_grid();
    let (numerator, order) = (numerator as i64, order as i64);
    let scaled = GRID_POINTS * numerator;
    let node = (2 * scaled + order) / (2 * order);
    let base = grid.roots[node as usize];
    // The rest of the angle is (scaled - node * order) / (1024 * order) turns, an exact fraction.
    let rest = scaled - node * order;
    if rest == 0 {
        return base;
    }
    let angle =
        grid.pi.times_f64::<Baseline>(rest as f64) / DoubleDouble::from(512.0 * order as f64);
    let square = angle * angle;
    let series = |coefficients: &[DoubleDouble; TAYLOR_TERMS]| {
        coefficients
            .iter()
            .rev()
            .fold(DoubleDouble::ZERO, |sum, &coefficient| {
                sum * square + coefficient
            })
            * square
    };
    let sine = angle + angle * series(&grid.sine);
    let cosine_less_one = series(&grid.cosine);
    // Adding a small correction to the node keeps the error at that of the node itself.
    base + base * ComplexDoubleDouble::new(cosine_less_one, sine)
}

/// Splits `exponent / order` turns into the octant (0..8) and the numerator within it, counted from the nearest
/// axis, as [`first_octant`] wants it.
#[inline(always)]
fn reduce(exponent: usize, order: usize) -> (usize, usize) {
    let eighths = 8 * exponent;
    let octant = eighths / order;
    let rest = eighths - octant * order;
    (
        octant,
        if octant.is_multiple_of(2) {
            rest
        } else {
            order - rest
        },
    )
}

/// Turns `cos + i sin` of the reduced angle into `exp(-i angle)` of the full one.
#[inline(always)]
fn unfold(octant: usize, reduced: ComplexDoubleDouble) -> ComplexDoubleDouble {
    let (cosine, sine) = (reduced.re, reduced.im);
    let (re, im) = match octant {
        0 => (cosine, sine.negated()),
        1 => (sine, cosine.negated()),
        2 => (sine.negated(), cosine.negated()),
        3 => (cosine.negated(), sine.negated()),
        4 => (cosine.negated(), sine),
        5 => (sine.negated(), cosine),
        6 => (sine, cosine),
        _ => (cosine, sine),
    };
    ComplexDoubleDouble { re, im }
}

/// The root of unity `exp(-2 pi i * exponent / order)`, right to about 1e-32.
///
/// # Panics
/// If `order` is zero or above [`LARGEST_ORDER`].
///
/// ```
/// let root = ozfft_testkit::oracle::root_of_unity(3, 4);
/// assert_eq!(root.to_complex(), num_complex::Complex::new(0.0, 1.0));
/// ```
pub fn root_of_unity(exponent: usize, order: usize) -> ComplexDoubleDouble {
    assert!(
        (1..=LARGEST_ORDER).contains(&order),
        "order {order} of a root of unity is outside 1..=2^40"
    );
    let (octant, numerator) = reduce(exponent % order, order);
    unfold(octant, first_octant(numerator, order))
}

/// All roots `exp(-2 pi i * exponent / order)` of one order: as a table while that is small, as products of two
/// tables of square-root size beyond.
///
/// ```
/// let roots = ozfft_testkit::oracle::Roots::new(1_000_003);
/// let error = roots.get(123_456) - ozfft_testkit::oracle::root_of_unity(123_456, 1_000_003);
/// assert!(error.norm_sqr().to_f64() < 1e-62);
/// ```
pub struct Roots {
    order: usize,
    /// Every root, where the order is small enough; otherwise empty.
    table: Vec<ComplexDoubleDouble>,
    /// First-octant roots of the low digit of the numerator.
    fine: Vec<ComplexDoubleDouble>,
    /// First-octant roots of the high digit of the numerator.
    coarse: Vec<ComplexDoubleDouble>,
    shift: u32,
}

impl Roots {
    /// Prepares the roots of the given order.
    ///
    /// # Panics
    /// If `order` is zero or above [`LARGEST_ORDER`].
    pub fn new(order: usize) -> Self {
        assert!(
            (1..=LARGEST_ORDER).contains(&order),
            "order {order} of a root of unity is outside 1..=2^40"
        );
        let mut roots = Self {
            order,
            table: Vec::new(),
            fine: Vec::new(),
            coarse: Vec::new(),
            shift: 0,
        };
        if order <= 256 {
            roots.table = (0..order)
                .map(|exponent| root_of_unity(exponent, order))
                .collect();
            return roots;
        }
        roots.shift = order.ilog2() / 2;
        roots.fine = (0..1 << roots.shift)
            .map(|digit| first_octant(digit, order))
            .collect();
        roots.coarse = (0..=order >> roots.shift)
            .map(|digit| first_octant(digit << roots.shift, order))
            .collect();
        if order <= FULL_TABLE {
            roots.table = crate::oracle::dispatch::dispatch(FillTable { roots: &roots });
        }
        roots
    }

    /// The order these are roots of.
    pub fn order(&self) -> usize {
        self.order
    }

    /// `exp(-2 pi i * exponent / order)`.
    pub fn get(&self, exponent: usize) -> ComplexDoubleDouble {
        self.get_with::<Baseline>(exponent % self.order)
    }

    /// As [`Roots::get`], inside a dispatched loop and for an exponent already below the order.
    #[inline(always)]
    pub(crate) fn get_with<P: ExactProduct>(&self, exponent: usize) -> ComplexDoubleDouble {
        if let Some(&root) = self.table.get(exponent) {
            return root;
        }
        let (octant, numerator) = reduce(exponent, self.order);
        let low = self.fine[numerator & ((1 << self.shift) - 1)];
        let high = self.coarse[numerator >> self.shift];
        unfold(octant, high.times::<P>(low))
    }

    /// The whole table.
    ///
    /// # Panics
    /// If the order is too large for one.
    #[inline(always)]
    pub(crate) fn table(&self) -> &[ComplexDoubleDouble] {
        assert!(
            !self.table.is_empty(),
            "no table for roots of order {}",
            self.order
        );
        &self.table
    }
}

/// Multiplies out the full table from the two small ones.
struct FillTable<'a> {
    roots: &'a Roots,
}

impl crate::oracle::dispatch::Kernel for FillTable<'_> {
    type Output = Vec<ComplexDoubleDouble>;

    #[inline(always)]
    fn run<P: ExactProduct>(self) -> Self::Output {
        (0..self.roots.order)
            .map(|exponent| self.roots.get_with::<P>(exponent))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::multiprecision::{cosine_and_sine_of_turns, to_double_double};

    fn error(computed: ComplexDoubleDouble, exponent: usize, order: usize) -> f64 {
        let (cosine, sine) = cosine_and_sine_of_turns(exponent, order, 256);
        let exact = ComplexDoubleDouble::new(to_double_double(&cosine), -to_double_double(&sine));
        (computed - exact).norm_sqr().to_f64().sqrt()
    }

    #[test]
    fn roots_agree_with_multiprecision() {
        for order in 1..=40 {
            for exponent in 0..order {
                assert!(
                    error(root_of_unity(exponent, order), exponent, order) < 2e-32,
                    "{exponent}/{order}"
                );
            }
        }
        let mut worst: f64 = 0.0;
        for order in [257, 4093, 65_536, 100_003, 1 << 22, 1_000_003] {
            let roots = Roots::new(order);
            for step in 0..40 {
                let exponent = (step * 0x9E37_79B9 + step) % order;
                worst = worst.max(error(roots.get(exponent), exponent, order));
                assert!(
                    error(root_of_unity(exponent, order), exponent, order) < 2e-32,
                    "{exponent}/{order}"
                );
            }
        }
        assert!(worst < 6e-32, "table roots are off by {worst:e}");
        for exponent in [1, 12_345_678_901, (1 << 39) + 1, (1 << 40) - 1] {
            assert!(error(root_of_unity(exponent, 1 << 40), exponent, 1 << 40) < 2e-32);
        }
    }

    #[test]
    fn quarter_turns_are_exact() {
        let one = DoubleDouble::ONE;
        let zero = DoubleDouble::ZERO;
        assert_eq!(root_of_unity(0, 12), ComplexDoubleDouble::new(one, zero));
        assert_eq!(root_of_unity(3, 12), ComplexDoubleDouble::new(zero, -one));
        assert_eq!(root_of_unity(6, 12), ComplexDoubleDouble::new(-one, zero));
        assert_eq!(root_of_unity(9, 12), ComplexDoubleDouble::new(zero, one));
        let diagonal = root_of_unity(1, 8);
        assert_eq!(diagonal.re, -diagonal.im);
    }
}
