//! Which integers survive in sums of products of 8-bit floating-point numbers (e4m3).
//!
//! The products of small integers are exact, but tensor units keep few bits of their sums, fewer than the 24 of the
//! type they are returned in. Sums are compared with integers.

use super::report::{Exactness, ExactnessLimit};
use residues::fp8::E4m3;

/// Rows and columns of a tile.
pub const TILE: usize = 64;
/// Tiles in a comparison; models of units in the tests are slow.
const TILES: usize = if cfg!(test) { 1 } else { 16 };
/// Lengths of sums that are compared.
pub const LENGTHS: [usize; 6] = [32, 64, 96, 128, 256, 512];
/// The longest sums, which reach the limit of the type.
const LONGEST: usize = 512;
/// Bits of the significand of the sums' type: no limit can be larger.
const TYPE_BITS: u32 = 24;

/// How digits are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digits {
    /// All integers from -16 to 16 alike.
    Uniform,
    /// Three quarters are 16, the others uniform.
    MostlySixteen,
    /// All integers from 0 to 15 alike.
    Nibbles,
}

impl Digits {
    pub const ALL: [Digits; 3] = [Digits::Uniform, Digits::MostlySixteen, Digits::Nibbles];

    pub fn name(self) -> &'static str {
        match self {
            Digits::Uniform => "uniform in -16..16",
            Digits::MostlySixteen => "three quarters 16",
            Digits::Nibbles => "nibbles 0..15",
        }
    }

    fn draw(self, random: &mut Random) -> i16 {
        match self {
            Digits::Uniform => random.below(33) as i16 - 16,
            Digits::MostlySixteen if random.below(4) < 3 => 16,
            Digits::MostlySixteen => Digits::Uniform.draw(random),
            Digits::Nibbles => random.below(16) as i16,
        }
    }
}

/// Numbers that look random and are the same everywhere (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(value ^ (value >> 31)) * u128::from(limit)) >> 64) as u64
    }
}

/// The byte that means this integer in e4m3; none if it has more than four significant bits or is beyond 448.
fn e4m3(value: i16) -> Option<u8> {
    E4m3::from_integer(value.into()).map(E4m3::code)
}

/// Pairs of matrices of integers that e4m3 can represent: `left[tile][row][k]` and `right[tile][column][k]`.
pub struct Matrices {
    k: usize,
    left: Vec<i16>,
    right: Vec<i16>,
}

impl Matrices {
    /// Matrices of tiles of `TILE` rows each. `k` is a multiple of 32, the length of one instruction.
    fn new(k: usize, left: Vec<i16>, right: Vec<i16>) -> Matrices {
        assert!(k > 0 && k.is_multiple_of(32), "whole instructions");
        assert_eq!(left.len(), right.len(), "as many rows as columns");
        assert!(left.len().is_multiple_of(k * TILE), "whole tiles");
        Matrices { k, left, right }
    }

    fn random(digits: Digits, k: usize, random: &mut Random) -> Matrices {
        let mut draw = || (0..TILES * TILE * k).map(|_| digits.draw(random)).collect();
        let (left, right) = (draw(), draw());
        Matrices::new(k, left, right)
    }

    pub fn k(&self) -> usize {
        self.k
    }

    pub fn tiles(&self) -> usize {
        self.left.len() / (self.k * TILE)
    }

    pub fn left_bytes(&self) -> Vec<u8> {
        bytes(&self.left)
    }

    pub fn right_bytes(&self) -> Vec<u8> {
        bytes(&self.right)
    }

    /// Row and column of every sum, in the order of the sums.
    fn pairs(&self) -> impl Iterator<Item = (&[i16], &[i16])> {
        let tile = self.k * TILE;
        let tiles = self.left.chunks(tile).zip(self.right.chunks(tile));
        tiles.flat_map(move |(left, right)| {
            let columns = move |row| right.chunks(self.k).map(move |column| (row, column));
            left.chunks(self.k).flat_map(columns)
        })
    }

    fn exact_sums(&self) -> Vec<i32> {
        let sum = |(row, column): (&[i16], &[i16])| {
            let products = row.iter().zip(column);
            products.map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
        };
        self.pairs().map(sum).collect()
    }
}

fn bytes(values: &[i16]) -> Vec<u8> {
    let byte = |&value: &i16| e4m3(value).expect("only numbers of e4m3 are drawn");
    values.iter().map(byte).collect()
}

/// Wrong sums, and the largest exact one.
fn compare(matrices: &Matrices, sums: &[f32]) -> (usize, u32) {
    let exact = matrices.exact_sums();
    assert_eq!(exact.len(), sums.len(), "a sum for every pair");
    let pairs = exact.iter().zip(sums);
    let wrong = pairs.filter(|&(&exact, &sum)| f64::from(sum) != f64::from(exact));
    let largest = exact.iter().map(|sum| sum.unsigned_abs()).max();
    (wrong.count(), largest.unwrap_or(0))
}

/// Compares random sums of every kind and length.
pub fn comparisons<E>(
    instruction: &str,
    seed: u64,
    mut sums: impl FnMut(&Matrices) -> Result<Vec<f32>, E>,
) -> Result<Vec<Exactness>, E> {
    let mut random = Random(seed);
    let mut results = Vec::new();
    for digits in Digits::ALL {
        for k in LENGTHS {
            let matrices = Matrices::random(digits, k, &mut random);
            let (wrong, largest_sum) = compare(&matrices, &sums(&matrices)?);
            results.push(Exactness {
                instruction: instruction.into(),
                digits: digits.name().into(),
                k,
                sums: matrices.tiles() * TILE * TILE,
                wrong,
                largest_sum,
            });
        }
    }
    Ok(results)
}

/// Finds by bisection the largest p such that sums are exact whose partial sums are all below 2^p in magnitude. None:
/// not even 2^4.
pub fn limit<E>(
    instruction: &str,
    seed: u64,
    mut sums: impl FnMut(&Matrices) -> Result<Vec<f32>, E>,
) -> Result<ExactnessLimit, E> {
    let mut random = Random(seed);
    let mut is_exact = |bits: u32| -> Result<bool, E> {
        let matrices = climbing(bits, &mut random);
        Ok(compare(&matrices, &sums(&matrices)?).0 == 0)
    };
    let (mut exact, mut wrong) = (3, TYPE_BITS + 1);
    if is_exact(4)? {
        exact = 4;
        while wrong - exact > 1 {
            let middle = exact.midpoint(wrong);
            if is_exact(middle)? {
                exact = middle;
            } else {
                wrong = middle;
            }
        }
    }
    Ok(ExactnessLimit {
        instruction: instruction.into(),
        exact_below_power_of_two: (exact >= 4).then_some(exact),
        tested_up_to_power_of_two: TYPE_BITS,
    })
}

/// Sums that climb to a random height between 2^(bits-1) and 2^bits, then go up and down by ones: in whatever order an
/// instruction adds its 32 products, no partial sum reaches 2^bits. Columns differ by a sign.
fn climbing(bits: u32, random: &mut Random) -> Matrices {
    let limit = 1i32 << bits;
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for _ in 0..TILES * TILE {
        let height = limit / 2 + random.below(limit as u64 / 2) as i32;
        left.extend(climbing_row(height, limit, random));
        let sign = if random.below(2) == 0 { 1 } else { -1 };
        right.extend(climbing_factors().map(|factor| sign * factor));
    }
    Matrices::new(LONGEST, left, right)
}

/// Places of the hexadecimal digits of a height: how often each is repeated, what it is multiplied by in a row and in a
/// column. Neither factor may need more than e4m3 has, so large places are repeated.
const PLACES: [(usize, i16, i16); 6] = [
    (256, 16, 256),
    (16, 16, 256),
    (1, 16, 256),
    (1, 1, 256),
    (1, 1, 16),
    (1, 1, 1),
];
/// Where going up and down by ones begins: with an instruction of its own.
const STEPS_BEGIN: usize = 288;

fn climbing_factors() -> impl Iterator<Item = i16> {
    let climb = PLACES
        .iter()
        .flat_map(|&(repeated, _, factor)| std::iter::repeat_n(factor, repeated));
    climb.chain(std::iter::repeat(1)).take(LONGEST)
}

fn climbing_row(height: i32, limit: i32, random: &mut Random) -> Vec<i16> {
    let mut row = Vec::with_capacity(LONGEST);
    for (place, &(repeated, factor, _)) in PLACES.iter().enumerate() {
        let digit = (height >> (4 * (PLACES.len() - 1 - place)) & 15) as i16;
        row.extend(std::iter::repeat_n(digit * factor, repeated));
    }
    row.resize(STEPS_BEGIN, 0);
    let (mut highest, mut lowest) = (height, height);
    while row.len() < LONGEST {
        let step = match random.below(3) {
            0 if highest + 1 < limit => 1,
            1 if lowest - 1 > -limit => -1,
            _ => 0,
        };
        highest += i32::from(step).max(0);
        lowest += i32::from(step).min(0);
        row.push(step);
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tensor unit that aligns the products of an instruction and the sum so far to the largest of them, and cuts
    /// off all but this many bits.
    fn model(bits: u32) -> impl Fn(&Matrices) -> Result<Vec<f32>, std::convert::Infallible> {
        // What is kept are multiples of this, where the largest is so large.
        let unit = move |largest: i64| 1i64 << (largest.ilog2() + 1).saturating_sub(bits);
        let sum = move |(row, column): (&[i16], &[i16])| {
            // Plain loops without allocations, because tests run this unoptimised, millions of times.
            let mut sum = 0;
            for (row, column) in row.chunks(32).zip(column.chunks(32)) {
                let mut terms = [0i64; 33];
                let mut largest = sum.max(-sum).max(1);
                terms[32] = sum;
                let mut i = 0;
                while i < row.len() {
                    let term = i64::from(row[i]) * i64::from(column[i]);
                    terms[i] = term;
                    if term > largest {
                        largest = term;
                    } else if -term > largest {
                        largest = -term;
                    }
                    i += 1;
                }
                let kept = unit(largest);
                let mut total = 0;
                for term in terms {
                    total += term / kept * kept;
                }
                let kept = unit(total.abs().max(1));
                sum = total / kept * kept;
            }
            sum as f32
        };
        move |matrices| Ok(matrices.pairs().map(sum).collect())
    }

    #[test]
    fn integers_are_written_in_e4m3() {
        assert_eq!(e4m3(0), Some(0));
        assert_eq!(e4m3(1), Some(0x38));
        assert_eq!(e4m3(-1), Some(0xb8));
        assert_eq!(e4m3(15), Some(0x57));
        assert_eq!(e4m3(16), Some(0x58));
        assert_eq!(e4m3(240), Some(0x77));
        assert_eq!(e4m3(448), Some(0x7e));
        assert_eq!(e4m3(17), None);
        assert_eq!(e4m3(480), None);
    }

    #[test]
    fn the_limit_of_a_model_is_found() {
        // Widths between them differ in nothing but the height where sums go wrong.
        let everything = ozfft_testkit::everything();
        let widths: &[u32] = if everything {
            &[8, 13, 14, 22, 24]
        } else {
            &[8, 14, 24]
        };
        for &bits in widths {
            let Ok(limit) = limit("model", 1, model(bits));
            assert_eq!(limit.exact_below_power_of_two, Some(bits));
        }
        let Ok(limit) = limit("broken", 1, |matrices: &Matrices| {
            Ok::<_, std::convert::Infallible>(vec![0.5; matrices.tiles() * TILE * TILE])
        });
        assert_eq!(limit.exact_below_power_of_two, None);
    }

    #[test]
    fn climbing_sums_stay_below_their_limit() {
        for bits in [4, 9, 14, 24] {
            let matrices = climbing(bits, &mut Random(5));
            let exact = matrices.exact_sums();
            let largest = exact.iter().map(|sum| sum.abs()).max().unwrap_or(0);
            assert!(
                largest < 1 << bits && largest >= 1 << (bits - 1),
                "{bits}: {largest}"
            );
            assert!(exact.iter().any(|&sum| sum < 0) && exact.iter().any(|&sum| sum % 2 != 0));
            assert_eq!(matrices.left_bytes().len(), TILES * TILE * LONGEST);
        }
    }

    #[test]
    fn a_model_of_14_bits_fails_where_the_digits_make_large_sums() {
        let Ok(results) = comparisons("model", 7, model(14));
        assert_eq!(results.len(), Digits::ALL.len() * LENGTHS.len());
        for result in &results {
            let is_small = result.largest_sum < 1 << 13;
            assert!(!is_small || result.wrong == 0, "{result:?}");
            assert_eq!(result.sums, TILES * TILE * TILE);
        }
        let of = |digits: Digits, k: usize| {
            let found = results
                .iter()
                .find(|r| r.digits == digits.name() && r.k == k);
            found.expect("every kind and length").clone()
        };
        assert_eq!(of(Digits::Uniform, 512).wrong, 0);
        assert!(of(Digits::MostlySixteen, 128).wrong > 50 * TILES);
        assert!(of(Digits::Nibbles, 512).wrong > 3700 * TILES);
        // 64 · 12 · 12 is the mean of these sums.
        assert!((12_000..17_000).contains(&of(Digits::MostlySixteen, 64).largest_sum));
    }

    #[test]
    fn exact_sums_of_a_wide_accumulator_agree() {
        let Ok(results) = comparisons("model", 3, model(24));
        assert!(results.iter().all(|result| result.wrong == 0));
    }
}
