//! What another machine needs to compute a mode as this crate does: how a length is factored, matrices in parts, rotations, and the
//! bound of the result. Everything is made from exact angles and rounded once.

use crate::bound;
use crate::dispatch::Table;
use crate::lanes::InstructionSet;
use crate::lines::bluestein::Bluestein;
use crate::lines::recipe::LineRecipe;
use crate::products::fp16_gemm::divisor;
use crate::products::matrices::{Cut, directed_root};
use crate::products::two_level;
use crate::unit::Order;
use crate::{Direction, Format, Mode};
use num_complex::Complex;

/// The two factors that a mode splits a length into by [`Table::Blocks`], if it does: `x[j1][j2]`, DFTs over `j1`, rotations, DFTs over
/// `j2`.
///
/// ```
/// use floats::{Mode, tables};
/// assert_eq!(tables::factors(1024, Mode::Ozaki), Some((32, 32)));
/// assert_eq!(tables::factors(64, Mode::Fp16), Some((8, 8)));
/// assert_eq!(tables::factors(1009, Mode::Bf16), None);
/// ```
pub fn factors(n: usize, mode: Mode) -> Option<(usize, usize)> {
    match Table::Blocks.cut(n, mode) {
        Some(Cut::Blocks(n1, n2)) => Some((n1, n2)),
        _ => None,
    }
}

/// `exp(∓2πi·t/n)` for `t` from 0 to `n - 1` as the mode multiplies it, part by part: real and imaginary part as bits of its
/// format. The matrix of a DFT of `n` points has the entry `j·k mod n` in row `k` and column `j`. Negated parts are parts of the
/// negated number.
///
/// ```
/// use floats::{Direction, Format, Mode, tables};
/// let parts = tables::roots(8, Mode::Ozaki, Direction::Forward);
/// let value = |part: usize| Format::Bf16.to_f32(parts[part][1].0);
/// assert!((f64::from(value(0)) + f64::from(value(1)) - 0.5f64.sqrt()).abs() < 2f64.powi(-17));
/// ```
pub fn roots(n: usize, mode: Mode, direction: Direction) -> Vec<Vec<(u16, u16)>> {
    let parts = mode.parts();
    let of = |value| match (mode, mode.format()) {
        (Mode::OzakiTwoLevel, _) => two_level::entry_digits(value),
        (_, Some(format)) => format.slices(value, parts),
        (_, None) => Vec::new(),
    };
    let all: Vec<_> = (0..n)
        .map(|t| {
            let root = directed_root(t, n, direction);
            (of(root.re), of(root.im))
        })
        .collect();
    (0..parts)
        .map(|part| all.iter().map(|(re, im)| (re[part], im[part])).collect())
        .collect()
}

/// What output `k1` of column `j2` is multiplied by between the products, in the order `[j2][k1]`. For modes in f16 it is also divided
/// by [`divided_by`], so that products fit.
pub fn rotations(n1: usize, n2: usize, mode: Mode, direction: Direction) -> Vec<Complex<f32>> {
    let by = 1.0 / divided_by(n1, mode) as f32;
    let roots =
        (0..n1 * n2).map(|place| directed_root(place / n1 * (place % n1), n1 * n2, direction));
    roots
        .map(|root| Complex::new(root.re.to_f32() * by, root.im.to_f32() * by))
        .collect()
}

/// The same as correctly rounded f64, for `ozaki_two_level`.
pub fn rotations_f64(n1: usize, n2: usize, direction: Direction) -> Vec<Complex<f64>> {
    let roots =
        (0..n1 * n2).map(|place| directed_root(place / n1 * (place % n1), n1 * n2, direction));
    roots
        .map(|root| Complex::new(root.re.high, root.im.high))
        .collect()
}

/// The power of two that [`rotations`] divide by.
pub fn divided_by(n1: usize, mode: Mode) -> usize {
    match mode.format() {
        Some(Format::Fp16) => divisor(n1),
        _ => 1,
    }
}

/// What the relative L2 error of a mode is at most, and about, on f32 data, where a unit adds in this order and the length has
/// [`factors`]. None where it has not, and for `bf16_refined` and modes without a matrix unit.
///
/// ```
/// use floats::unit::Order;
/// use floats::{Mode, tables};
/// let tensor_cores = Order::Aligned { depth: 16, guard_bits: 2 };
/// let (bound, expected) = tables::error(1024, Mode::Ozaki, tensor_cores).unwrap();
/// assert!(expected < bound && bound < 1e-4);
/// ```
pub fn error(n: usize, mode: Mode, order: Order) -> Option<(f64, f64)> {
    let (n1, n2) = factors(n, mode)?;
    let cut = Cut::Blocks(n1, n2);
    let budget = match (mode, mode.format()) {
        (Mode::Bf16Refined, _) | (_, None) => return None,
        (Mode::OzakiTwoLevel, _) => bound::two_level(n, cut).rounded_to_f32(),
        (_, Some(format)) => bound::dft_gemm(n, (format, mode.parts()), cut, order),
    };
    Some((budget.bound, budget.expected))
}

/// The same for `bf16_refined`, whose inverse in f32 is that of [`Table::Measured`].
///
/// ```
/// use floats::unit::Order;
/// use floats::{Mode, tables};
/// let tensor_cores = Order::Aligned { depth: 16, guard_bits: 2 };
/// let (refined, _) = tables::refined_error(1024, tensor_cores).unwrap();
/// assert!(refined < tables::error(1024, Mode::Bf16, tensor_cores).unwrap().0 / 50.0);
/// ```
pub fn refined_error(n: usize, order: Order) -> Option<(f64, f64)> {
    let (n1, n2) = factors(n, Mode::Bf16)?;
    let forward = bound::dft_gemm(n, (Format::Bf16, 1), Cut::Blocks(n1, n2), order);
    let recipe = Table::Measured.line_recipe(n, Mode::Fast);
    let stats = match &recipe {
        LineRecipe::Bluestein(steps) => {
            Some(Bluestein::<f32>::new(n, steps, InstructionSet::detect()).stats)
        }
        _ => None,
    };
    let back = bound::lines::<f32>(n, &recipe, false, stats);
    let budget = bound::refined(n, forward, back);
    Some((budget.bound, budget.expected))
}
