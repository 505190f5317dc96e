//! DFT matrices as operands of matrix units, and how a length is factored for them.

use crate::Direction;
use crate::aligned::Aligned;
use crate::numbers::bf16::pair;
use crate::numbers::roots::{Real, Root, root};
use crate::unit::TILE;

/// The next multiple of a tile.
pub(crate) const fn padded(count: usize) -> usize {
    count.next_multiple_of(TILE)
}

/// The longest DFT that is one product.
pub(crate) const LARGEST_BLOCK: usize = 256;

/// One product, or two with rotations between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// One product.
    Whole,
    /// Products with the matrices of both factors of the length.
    Blocks(usize, usize),
}

/// Multiplications of a cut: what a unit has to do.
fn work(first: usize, second: usize) -> usize {
    let (first, second) = (padded(first), padded(second));
    2 * first * first * second + 2 * second * second * first
}

/// The two factors, both no longer than a block, that need the fewest multiplications.
pub(crate) fn blocks(n: usize) -> Option<Cut> {
    (2..=n.min(LARGEST_BLOCK))
        .filter(|first| n.is_multiple_of(*first))
        .map(|first| (first, n / first))
        .filter(|&(_, second)| second > 1 && second <= LARGEST_BLOCK)
        // Of equal work the more even ones: fewer roundings in a chain.
        .min_by_key(|&(first, second)| (work(first, second), first.max(second)))
        .map(|(first, second)| Cut::Blocks(first, second))
}

/// `exp(∓2πi·p/q)`, minus for the forward direction.
pub(crate) fn directed_root(p: usize, q: usize, direction: Direction) -> Root {
    let p = p % q;
    root(
        match direction {
            Direction::Forward => q - p,
            Direction::Inverse => p,
        } as u64,
        q as u64,
    )
}

/// What a part of a number is as bf16: `parts` of every number.
pub(crate) type Parts<'a> = &'a dyn Fn(Real) -> Vec<u16>;

/// The real and imaginary output of one pair of inputs: `(re, -im)` and `(im, re)` of the root, part by part.
fn entries(root: Root, parts: Parts<'_>) -> (Vec<u32>, Vec<u32>) {
    let (re, im) = (parts(root.re), parts(root.im));
    // Rounding is symmetric, so a negated part is the part of the negated number.
    let negated = |part: u16| if part & 0x7fff == 0 { 0 } else { part ^ 0x8000 };
    let both = || re.iter().zip(&im);
    (
        both().map(|(&re, &im)| pair(re, negated(im))).collect(),
        both().map(|(&re, &im)| pair(im, re)).collect(),
    )
}

/// Arrays of zeros.
pub(crate) fn several(count: usize, length: usize) -> Vec<Vec<u32>> {
    (0..count).map(|_| vec![0; length]).collect()
}

/// The matrix as right factor, for data whose rows are lines: a pair of columns for every output, part by part.
pub(crate) fn right(n: usize, direction: Direction, parts: Parts<'_>) -> Vec<Aligned<u32>> {
    let count = parts(Real::default()).len();
    let (rows, columns) = (padded(n), padded(2 * n));
    let mut matrix = several(count, rows * columns);
    let roots: Vec<_> = (0..n)
        .map(|t| entries(directed_root(t, n, direction), parts))
        .collect();
    for j in 0..n {
        for k in 0..n {
            let (re, im) = &roots[j * k % n];
            for (part, matrix) in matrix.iter_mut().enumerate() {
                matrix[j * columns + 2 * k] = re[part];
                matrix[j * columns + 2 * k + 1] = im[part];
            }
        }
    }
    matrix
        .iter()
        .map(|part| Aligned::from_slice(part))
        .collect()
}

/// The matrix as left factor, for data whose columns are lines: a tile of real outputs, one of imaginary ones, in turn.
pub(crate) fn left(n: usize, direction: Direction, parts: Parts<'_>) -> Vec<Aligned<u32>> {
    let count = parts(Real::default()).len();
    let pairs = padded(n);
    let mut matrix = several(count, 2 * pairs * pairs);
    let roots: Vec<_> = (0..n)
        .map(|t| entries(directed_root(t, n, direction), parts))
        .collect();
    for k in 0..n {
        for j in 0..n {
            let (re, im) = &roots[j * k % n];
            for (part, matrix) in matrix.iter_mut().enumerate() {
                matrix[left_row(k) * pairs + j] = re[part];
                matrix[(left_row(k) + TILE) * pairs + j] = im[part];
            }
        }
    }
    matrix
        .iter()
        .map(|part| Aligned::from_slice(part))
        .collect()
}

/// The row of an output's real part in the product with a left matrix; its imaginary part is a tile further down.
#[inline(always)]
pub(crate) const fn left_row(k: usize) -> usize {
    k / TILE * 2 * TILE + k % TILE
}
