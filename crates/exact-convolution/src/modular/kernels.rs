//! The loops over vectors, written once for every instruction set. They are inlined into functions with its features (`unit.rs`), closures
//! included, which carry an attribute for it: what is not inlined has none of the instructions.
//!
//! A *row* is one vector of residues: coefficients of `x^0 … x^(L-1)`, L being the number of lanes. With `y = x^L` rows are the coefficients of
//! a polynomial in `y`, and transforms act on rows: every lane does the same, with the same roots, and nothing moves between lanes. What
//! is left at the end are products of rows modulo `x^L - root`, L products for every coefficient in short sums.
//!
//! A transform is a tree of remainders. Node k of a level is the ring modulo `y^h - s`, with `s = r²`, and splits into those modulo `y^(h/2) - r` and
//! `y^(h/2) + r`: nodes 2k and 2k + 1 of the next level. `r` is entry k of one table for all levels (`roots.rs`), the same for all rows of a node.
//!
//! Ranges: between forward passes residues are below 4p, between inverse ones below 2p; products accept any 32-bit number.

use crate::modular::lanes::Lanes;
use crate::modular::prime::{Factor, Prime};
use crate::modular::roots::inverse_root;

/// Rows whose products are formed while those before are on their way to memory.
const ROWS_TOGETHER: usize = 4;
/// Lanes of the widest vector.
const MOST_LANES: usize = 16;

/// A prime and its double in all lanes.
#[derive(Clone, Copy)]
struct Modulus<L: Lanes> {
    lanes: L,
    prime: L::Vector,
    twice: L::Vector,
}

impl<L: Lanes> Modulus<L> {
    #[inline(always)]
    fn new(lanes: L, prime: &Prime) -> Self {
        Modulus {
            lanes,
            prime: lanes.splat(prime.value),
            twice: lanes.splat(2 * prime.value),
        }
    }

    /// Below 2p, from below 4p.
    #[inline(always)]
    fn halve_range(&self, x: L::Vector) -> L::Vector {
        self.lanes.least(x, self.lanes.subtract(x, self.twice))
    }

    /// Below p, from below 2p.
    #[inline(always)]
    fn reduce_once(&self, x: L::Vector) -> L::Vector {
        self.lanes.least(x, self.lanes.subtract(x, self.prime))
    }

    /// Below p, from below 4p.
    #[inline(always)]
    fn reduce_twice(&self, x: L::Vector) -> L::Vector {
        self.reduce_once(self.halve_range(x))
    }

    /// Below p, from any number: 2^32 < 8p.
    #[inline(always)]
    fn reduce(&self, x: L::Vector) -> L::Vector {
        let four_times = self.lanes.add(self.twice, self.twice);
        self.reduce_twice(self.lanes.least(x, self.lanes.subtract(x, four_times)))
    }

    /// Below p, from between -p and p.
    #[inline(always)]
    fn lift(&self, x: L::Vector) -> L::Vector {
        self.lanes.least(x, self.lanes.add(x, self.prime))
    }

    #[inline(always)]
    fn times(&self, x: L::Vector, factor: &SplatFactor<L>) -> L::Vector {
        self.lanes
            .product(x, factor.scaled, factor.quotient, self.prime)
    }

    /// `sum + factor·number`, below p, from a sum of at most p and any numbers.
    #[inline(always)]
    fn plus_product(&self, sum: L::Vector, numbers: &[u32], factor: &SplatFactor<L>) -> L::Vector {
        let product = self.lift(self.times(self.lanes.load(numbers), factor));
        self.reduce_once(self.lanes.add(sum, product))
    }

    /// `(a + r·b, a - r·b)`: below 4p, from below 4p.
    #[inline(always)]
    fn butterfly(
        &self,
        a: L::Vector,
        b: L::Vector,
        root: &SplatFactor<L>,
    ) -> (L::Vector, L::Vector) {
        let lanes = self.lanes;
        let a = lanes.add(self.halve_range(a), self.prime);
        let product = self.times(b, root);
        (lanes.add(a, product), lanes.subtract(a, product))
    }

    /// `(a + b, (b - a)·r)`: below 2p, from below 2p.
    #[inline(always)]
    fn inverse_butterfly(
        &self,
        a: L::Vector,
        b: L::Vector,
        root: &SplatFactor<L>,
    ) -> (L::Vector, L::Vector) {
        let lanes = self.lanes;
        let sum = self.halve_range(lanes.add(a, b));
        let difference = lanes.subtract(lanes.add(b, self.twice), a);
        (sum, lanes.add(self.times(difference, root), self.prime))
    }
}

#[derive(Clone, Copy)]
struct SplatFactor<L: Lanes> {
    scaled: L::Vector,
    quotient: L::Vector,
}

impl<L: Lanes> SplatFactor<L> {
    #[inline(always)]
    fn new(lanes: L, factor: Factor) -> Self {
        SplatFactor {
            scaled: lanes.splat(factor.scaled),
            quotient: lanes.splat(factor.quotient),
        }
    }
}

/// Calls `work` with corresponding rows of the four quarters of a node.
#[inline(always)]
fn for_quarters<L: Lanes>(
    lanes: L,
    data: &mut [u32],
    work: impl Fn([L::Vector; 4]) -> [L::Vector; 4],
) {
    let quarter = data.len() / 4;
    let (low, high) = data.split_at_mut(2 * quarter);
    let (first, second) = low.split_at_mut(quarter);
    let (third, fourth) = high.split_at_mut(quarter);
    let rows = first
        .chunks_exact_mut(L::COUNT)
        .zip(second.chunks_exact_mut(L::COUNT))
        .zip(third.chunks_exact_mut(L::COUNT))
        .zip(fourth.chunks_exact_mut(L::COUNT));
    for (((first, second), third), fourth) in rows {
        let input = [
            lanes.load(first),
            lanes.load(second),
            lanes.load(third),
            lanes.load(fourth),
        ];
        let output = work(input);
        lanes.store(first, output[0]);
        lanes.store(second, output[1]);
        lanes.store(third, output[2]);
        lanes.store(fourth, output[3]);
    }
}

/// The same for halves.
#[inline(always)]
fn for_halves<L: Lanes>(
    lanes: L,
    data: &mut [u32],
    work: impl Fn(L::Vector, L::Vector) -> (L::Vector, L::Vector),
) {
    let (first, second) = data.split_at_mut(data.len() / 2);
    let rows = first
        .chunks_exact_mut(L::COUNT)
        .zip(second.chunks_exact_mut(L::COUNT));
    for (first, second) in rows {
        let (a, b) = work(lanes.load(first), lanes.load(second));
        lanes.store(first, a);
        lanes.store(second, b);
    }
}

/// Two levels below one node.
#[inline(always)]
pub(crate) fn forward_node<L: Lanes>(
    lanes: L,
    prime: &Prime,
    roots: &[Factor],
    node: usize,
    data: &mut [u32],
) {
    let modulus = Modulus::new(lanes, prime);
    let upper = SplatFactor::new(lanes, roots[node]);
    let left = SplatFactor::new(lanes, roots[2 * node]);
    let right = SplatFactor::new(lanes, roots[2 * node + 1]);
    for_quarters(
        lanes,
        data,
        #[inline(always)]
        |[a, b, c, d]| {
            let (a, c) = modulus.butterfly(a, c, &upper);
            let (b, d) = modulus.butterfly(b, d, &upper);
            let (a, b) = modulus.butterfly(a, b, &left);
            let (c, d) = modulus.butterfly(c, d, &right);
            [a, b, c, d]
        },
    );
}

/// Two levels below one node, back.
#[inline(always)]
pub(crate) fn inverse_node<L: Lanes>(
    lanes: L,
    prime: &Prime,
    roots: &[Factor],
    node: usize,
    data: &mut [u32],
) {
    let modulus = Modulus::new(lanes, prime);
    let upper = SplatFactor::new(lanes, inverse_root(prime, roots, node));
    let left = SplatFactor::new(lanes, inverse_root(prime, roots, 2 * node));
    let right = SplatFactor::new(lanes, inverse_root(prime, roots, 2 * node + 1));
    for_quarters(
        lanes,
        data,
        #[inline(always)]
        |[a, b, c, d]| {
            let (a, b) = modulus.inverse_butterfly(a, b, &left);
            let (c, d) = modulus.inverse_butterfly(c, d, &right);
            let (a, c) = modulus.inverse_butterfly(a, c, &upper);
            let (b, d) = modulus.inverse_butterfly(b, d, &upper);
            [a, b, c, d]
        },
    );
}

/// All levels below one node, level by level: for data that the first cache holds.
#[inline(always)]
pub(crate) fn forward_block<L: Lanes>(
    lanes: L,
    prime: &Prime,
    roots: &[Factor],
    node: usize,
    data: &mut [u32],
) {
    let rows = data.len() / L::COUNT;
    let modulus = Modulus::new(lanes, prime);
    let mut nodes = 1;
    if rows.trailing_zeros() % 2 == 1 {
        let root = SplatFactor::new(lanes, roots[node]);
        for_halves(
            lanes,
            data,
            #[inline(always)]
            |a, b| modulus.butterfly(a, b, &root),
        );
        nodes = 2;
    }
    while nodes < rows {
        let length = data.len() / nodes;
        for (k, part) in data.chunks_exact_mut(length).enumerate() {
            forward_node(lanes, prime, roots, node * nodes + k, part);
        }
        nodes *= 4;
    }
}

/// All levels below one node, back.
#[inline(always)]
pub(crate) fn inverse_block<L: Lanes>(
    lanes: L,
    prime: &Prime,
    roots: &[Factor],
    node: usize,
    data: &mut [u32],
) {
    let rows = data.len() / L::COUNT;
    let modulus = Modulus::new(lanes, prime);
    let mut nodes = rows;
    while nodes >= 4 {
        nodes /= 4;
        let length = data.len() / nodes;
        for (k, part) in data.chunks_exact_mut(length).enumerate() {
            inverse_node(lanes, prime, roots, node * nodes + k, part);
        }
    }
    if nodes == 2 {
        let root = SplatFactor::new(lanes, inverse_root(prime, roots, node));
        for_halves(
            lanes,
            data,
            #[inline(always)]
            |a, b| modulus.inverse_butterfly(a, b, &root),
        );
    }
}

/// Products of rows of `a` with those of `b` (without it: their squares), each modulo `x^L - s`, divided by 2^32; below p, from below 4p.
///
/// `first` is the number of the first row among the leaves of the tree, where rows 2k and 2k + 1 have `s = ±r` with entry k of the table.
#[inline(always)]
pub(crate) fn row_products<L: Lanes>(
    lanes: L,
    prime: &Prime,
    roots: &[Factor],
    first: usize,
    a: &mut [u32],
    b: Option<&[u32]>,
) {
    let modulus = Modulus::new(lanes, prime);
    let inverse = lanes.splat(prime.inverse);
    // Of each row the numbers of `a`; and those of `b`, which those that have wrapped around stand before.
    let mut left = [0; ROWS_TOGETHER * MOST_LANES];
    let mut right = [0; ROWS_TOGETHER * 2 * MOST_LANES];
    let group = ROWS_TOGETHER * L::COUNT;
    for (number, rows) in a.chunks_mut(group).enumerate() {
        let factors = match b {
            Some(b) => &b[number * group..][..rows.len()],
            None => &*rows,
        };
        for (k, (row, factor)) in rows
            .chunks_exact(L::COUNT)
            .zip(factors.chunks_exact(L::COUNT))
            .enumerate()
        {
            let leaf = first + number * ROWS_TOGETHER + k;
            let root = SplatFactor::new(lanes, roots[leaf / 2]);
            let factor = modulus.reduce_twice(lanes.load(factor));
            let wrapped = modulus.times(factor, &root);
            let wrapped = match leaf % 2 {
                0 => modulus.lift(wrapped),
                _ => modulus.lift(lanes.subtract(lanes.splat(0), wrapped)),
            };
            lanes.store(
                &mut left[k * L::COUNT..],
                modulus.reduce_twice(lanes.load(row)),
            );
            lanes.store(&mut right[2 * k * L::COUNT..], wrapped);
            lanes.store(&mut right[(2 * k + 1) * L::COUNT..], factor);
        }
        for (k, row) in rows.chunks_exact_mut(L::COUNT).enumerate() {
            let left = &left[k * L::COUNT..][..L::COUNT];
            let right = &right[2 * k * L::COUNT..][..2 * L::COUNT];
            let mut sums = lanes.no_sums();
            for lane in 0..L::COUNT {
                let shifted = lanes.load(&right[L::COUNT - lane..]);
                sums = lanes.accumulate(sums, lanes.splat(left[lane]), shifted);
            }
            // At most 16 products below p², p < 2^30: the high halves are below 4p.
            let (high, multiple) = lanes.halves(sums, inverse, modulus.prime);
            let result = modulus.lift(lanes.subtract(modulus.reduce_twice(high), multiple));
            lanes.store(row, result);
        }
    }
}

/// `target + factor·source`; targets below p, sources any numbers.
#[inline(always)]
pub(crate) fn add_multiple<L: Lanes>(
    lanes: L,
    prime: &Prime,
    factor: Factor,
    target: &mut [u32],
    source: &[u32],
) {
    let modulus = Modulus::new(lanes, prime);
    let factor = SplatFactor::new(lanes, factor);
    let rows = target
        .chunks_exact_mut(L::COUNT)
        .zip(source.chunks_exact(L::COUNT));
    for (target, source) in rows {
        let product = modulus.lift(modulus.times(lanes.load(source), &factor));
        let sum = lanes.add(lanes.load(target), product);
        lanes.store(target, modulus.reduce_once(sum));
    }
}

/// `factor·data`, below p, from any numbers.
#[inline(always)]
pub(crate) fn scale<L: Lanes>(lanes: L, prime: &Prime, factor: Factor, data: &mut [u32]) {
    let modulus = Modulus::new(lanes, prime);
    let factor = SplatFactor::new(lanes, factor);
    for row in data.chunks_exact_mut(L::COUNT) {
        let product = modulus.times(lanes.load(row), &factor);
        lanes.store(row, modulus.lift(product));
    }
}

/// A step of Garner's algorithm: `(target - digit)·factor`; targets below p, digits below 2p.
#[inline(always)]
pub(crate) fn garner_step<L: Lanes>(
    lanes: L,
    prime: &Prime,
    factor: Factor,
    target: &mut [u32],
    digits: &[u32],
) {
    let modulus = Modulus::new(lanes, prime);
    let factor = SplatFactor::new(lanes, factor);
    let rows = target
        .chunks_exact_mut(L::COUNT)
        .zip(digits.chunks_exact(L::COUNT));
    for (target, digits) in rows {
        let digits = modulus.reduce_once(lanes.load(digits));
        let difference = lanes.subtract(lanes.load(target), digits);
        let difference = lanes.add(difference, modulus.prime);
        lanes.store(target, modulus.lift(modulus.times(difference, &factor)));
    }
}

/// Residues of 32-bit numbers, in whole rows; the last one may be shorter.
#[inline(always)]
pub(crate) fn reduce<L: Lanes>(lanes: L, prime: &Prime, numbers: &[u32], residues: &mut [u32]) {
    let modulus = Modulus::new(lanes, prime);
    let whole = numbers.chunks_exact(L::COUNT);
    let rest = whole.remainder();
    let mut rows = residues.chunks_exact_mut(L::COUNT);
    for (numbers, residues) in whole.zip(&mut rows) {
        lanes.store(residues, modulus.reduce(lanes.load(numbers)));
    }
    if !rest.is_empty() {
        let mut last = [0; MOST_LANES];
        last[..rest.len()].copy_from_slice(rest);
        let last = modulus.reduce(lanes.load(&last));
        if let Some(residues) = rows.next() {
            lanes.store(residues, last);
        }
    }
}

/// Residues of `number - bias` for 64-bit numbers; `fold` is 2^32 and `bias` that of the bias modulo the prime.
#[inline(always)]
pub(crate) fn reduce_wide<L: Lanes>(
    lanes: L,
    prime: &Prime,
    fold: Factor,
    bias: u32,
    numbers: &[u64],
    residues: &mut [u32],
) {
    let modulus = Modulus::new(lanes, prime);
    let fold = SplatFactor::new(lanes, fold);
    let bias = lanes.splat(prime.value - bias);
    for (numbers, residues) in numbers
        .chunks(L::COUNT)
        .zip(residues.chunks_exact_mut(L::COUNT))
    {
        let (mut low, mut high) = ([0; MOST_LANES], [0; MOST_LANES]);
        for (lane, &number) in numbers.iter().enumerate() {
            (low[lane], high[lane]) = (number as u32, (number >> 32) as u32);
        }
        let low = modulus.reduce(lanes.load(&low));
        let high = modulus.lift(modulus.times(lanes.load(&high), &fold));
        let sum = modulus.reduce_once(lanes.add(low, high));
        let sum = modulus.reduce_once(lanes.add(sum, bias));
        lanes.store(residues, sum);
        // Nothing stands behind the last number.
        residues[numbers.len()..].fill(0);
    }
}

/// What [`gaussian_images`] needs to know of a prime: factors of the limbs of a Gaussian integer, and the residue that is subtracted from each part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GaussianLimbs {
    /// 2^32 and 2^64, of the real part's higher limbs.
    pub(crate) real: [Factor; 2],
    /// 1, 2^32 and 2^64 times the root of -1, of the imaginary part's limbs.
    pub(crate) imaginary: [Factor; 3],
    /// The bias, and the bias times the root of -1, below the prime.
    pub(crate) biases: [u32; 2],
}

/// Both images of Gaussian integers `a + b·i`: `a + ι·b` and `a - ι·b`, ι a root of -1. Parts are biased integers of three limbs, the real part's
/// first, lowest limbs first, in whole rows.
#[inline(always)]
pub(crate) fn gaussian_images<L: Lanes>(
    lanes: L,
    prime: &Prime,
    limbs: &GaussianLimbs,
    numbers: [&[u32]; 6],
    plus: &mut [u32],
    minus: &mut [u32],
) {
    let modulus = Modulus::new(lanes, prime);
    let real = [
        SplatFactor::new(lanes, limbs.real[0]),
        SplatFactor::new(lanes, limbs.real[1]),
    ];
    let imaginary = [
        SplatFactor::new(lanes, limbs.imaginary[0]),
        SplatFactor::new(lanes, limbs.imaginary[1]),
        SplatFactor::new(lanes, limbs.imaginary[2]),
    ];
    let real_bias = lanes.splat(prime.value - limbs.biases[0]);
    let imaginary_bias = lanes.splat(prime.value - limbs.biases[1]);
    let rows = plus
        .chunks_exact_mut(L::COUNT)
        .zip(minus.chunks_exact_mut(L::COUNT));
    for (row, (plus, minus)) in rows.enumerate() {
        let at = row * L::COUNT;
        let re = modulus.reduce(lanes.load(&numbers[0][at..]));
        let re = modulus.plus_product(re, &numbers[1][at..], &real[0]);
        let re = modulus.plus_product(re, &numbers[2][at..], &real[1]);
        let re = modulus.reduce_once(lanes.add(re, real_bias));
        let im = modulus.plus_product(imaginary_bias, &numbers[3][at..], &imaginary[0]);
        let im = modulus.plus_product(im, &numbers[4][at..], &imaginary[1]);
        let im = modulus.plus_product(im, &numbers[5][at..], &imaginary[2]);
        lanes.store(plus, modulus.reduce_once(lanes.add(re, im)));
        lanes.store(minus, modulus.lift(lanes.subtract(re, im)));
    }
}

/// From halves of both images, below p, to the parts, below p: the sum, and the difference times `turned`, which is 1/ι.
#[inline(always)]
pub(crate) fn gaussian_parts<L: Lanes>(
    lanes: L,
    prime: &Prime,
    turned: Factor,
    plus: &mut [u32],
    minus: &mut [u32],
) {
    let modulus = Modulus::new(lanes, prime);
    let turned = SplatFactor::new(lanes, turned);
    let rows = plus
        .chunks_exact_mut(L::COUNT)
        .zip(minus.chunks_exact_mut(L::COUNT));
    for (plus, minus) in rows {
        let (a, b) = (lanes.load(plus), lanes.load(minus));
        lanes.store(plus, modulus.reduce_once(lanes.add(a, b)));
        let difference = modulus.lift(lanes.subtract(a, b));
        lanes.store(minus, modulus.lift(modulus.times(difference, &turned)));
    }
}
