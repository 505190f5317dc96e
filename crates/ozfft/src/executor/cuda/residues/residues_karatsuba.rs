//! Tables of the kernels with the moduli of Ozaki's scheme II in fp8 (`bailey_step_residues_karatsuba.cu`), and the proof that none of their sums
//! exceeds what the tensor instruction keeps exact.
//!
//! A residue, of the data and of the matrix, is two digits of magnitude at most 16. The kernels multiply words by a number for every modulus
//! (`RESIDUE_KARATSUBA_SCALES`), so the matrix is divided by it. Residues of sums are two bytes without signs; each has weights of its own, that of the upper one
//! 256 times that of the lower.

use crate::error::FftError;
use crate::executor::cuda::residues::residues_fp8::{
    COMMON, POINTS, demand, entry, operand, words_of,
};
use crate::recipe::Digits;
use crate::stages::residue_products::largest_sum;
use crate::transform::step::Step;
use ozfft_kernels::{
    RESIDUE_KARATSUBA_COUNTS, RESIDUE_KARATSUBA_PRODUCT_BYTES, RESIDUE_KARATSUBA_SCALES,
};
use residues::fp8_products::Split;
use residues::reconstruct::weights::{balanced, centred, fraction, weight};
use residues::{I256, Moduli, ResidueError, Set, U256, residue_of};

/// The largest magnitude of a data digit.
const LARGEST_DIGIT: i64 = 16;
/// The largest magnitude of a data residue that is two digits to the base 16.
const LARGEST_RESIDUE: i64 = 256;
/// The largest sums from which the kernels find a residue: `LARGEST` of `SumResidue`, for squares and for others. Those have 1.5·2^23 modulo m in
/// addition, and something between 0 and m is taken off.
const LARGEST_OF_SQUARE: i64 = 1 << 20;
const LARGEST_OF_OTHER: i64 = 1 << 21;
/// What a float of integers has room for: three sums are put together in f32, one after the other.
const LARGEST_IN_FLOAT: i64 = 1 << 22;

/// Bits of the weights' fractions, in two bytes.
const FRACTION_BITS: u32 = 15;
/// Bytes of a row, in two planes: two of each of seven moduli, and two that mean nothing.
const ROW_BYTES: usize = 32;
const PLANE_BYTES: usize = 16;
const PLANE_MODULI: usize = 7;
/// Bits of the words that integers are put together in.
const INTEGER_BITS: u32 = 128;

/// The tables of step `number`: `products` and the slices of `karatsuba::Weights` (`residue_karatsuba.cuh`).
pub(crate) fn tables(step: &Step, number: usize, digits: Digits) -> Result<Vec<u32>, FftError> {
    let moduli = Moduli::first(Set::Fp8, RESIDUE_KARATSUBA_COUNTS[number])?;
    let bound = largest_sum(&step.recipe, number == 0, digits) + U256::from(COMMON);
    let mut bytes = Vec::new();
    for (&modulus, scale) in moduli.values().iter().zip(RESIDUE_KARATSUBA_SCALES) {
        products(step, digits, (modulus, scale), &mut bytes)?;
    }
    bytes.resize(RESIDUE_KARATSUBA_PRODUCT_BYTES, 0);
    let mut words = words_of(&bytes);
    words.extend(slices(&moduli, bound)?);
    Ok(words)
}

/// The number whose product with `x` is 1 modulo `modulus`.
fn inverse(x: u16, modulus: u16) -> i64 {
    let is_it = |&y: &i64| y * i64::from(x) % i64::from(modulus) == 1;
    (1..i64::from(modulus))
        .find(is_it)
        .expect("scales and moduli are coprime")
}

/// A matrix entry over the scale, modulo a modulus.
fn residue(entry: i64, (modulus, scale): (u16, u16)) -> i64 {
    let scaled = I256::from(entry) * I256::from(inverse(scale, modulus));
    i64::from(residue_of(scaled, modulus))
}

/// A matrix entry modulo a modulus, and its digits.
#[derive(Debug, Clone, Copy)]
struct Entry {
    residue: i64,
    higher: i64,
    lower: i64,
}

/// A modulus' matrices: of all outputs the higher digits, then the lower ones, and, unless it is a square, their sums; each as the tensor
/// instruction's second operand.
fn products(
    step: &Step,
    digits: Digits,
    modulus: (u16, u16),
    bytes: &mut Vec<u8>,
) -> Result<(), FftError> {
    let split = Split::of(modulus.0);
    let columns: Vec<[Entry; POINTS]> = (0..POINTS)
        .map(|column| {
            std::array::from_fn(|k| {
                let residue = residue(entry(step, digits, column, k), modulus);
                let (higher, lower) = split.digits(residue as i32);
                Entry {
                    residue,
                    higher: higher.into(),
                    lower: lower.into(),
                }
            })
        })
        .collect();
    check(&columns, split, modulus.0)?;
    let parts = match split {
        Split::Square { .. } => 2,
        Split::Karatsuba => 3,
    };
    operand(parts * POINTS, bytes, |column, k| {
        let Entry { higher, lower, .. } = columns[column % POINTS][k];
        [higher, lower, higher + lower][column / POINTS]
    });
    Ok(())
}

/// That all sums of a modulus are exact, whatever residues the data have: in the tensor unit, as floats while they are put together, and in the end.
fn check(columns: &[[Entry; POINTS]], split: Split, modulus: u16) -> Result<i64, FftError> {
    let mut all = 0;
    for column in columns {
        let sum = |of: fn(&Entry) -> i64| -> i64 { column.iter().map(|x| of(x).abs()).sum() };
        let higher = LARGEST_DIGIT * sum(|entry| entry.higher);
        let lower = LARGEST_DIGIT * sum(|entry| entry.lower);
        let both = LARGEST_DIGIT * sum(|entry| entry.higher + entry.lower);
        let more = i64::from(modulus);
        match split {
            // Two products add up to the first sum.
            Split::Square { root } => {
                let first = higher + lower;
                all = all.max(first);
                demand(
                    first,
                    i64::from(root) * first + lower + more,
                    LARGEST_OF_SQUARE,
                )?;
            }
            Split::Karatsuba => {
                let largest = higher.max(lower).max(both);
                all = all.max(largest);
                let on_the_way = 240 * higher + 15 * lower + 16 * both;
                demand(largest, on_the_way + more, LARGEST_IN_FLOAT)?;
                let residues = sum(|entry| entry.residue);
                demand(largest, LARGEST_RESIDUE * residues + more, LARGEST_OF_OTHER)?;
            }
        }
    }
    Ok(all)
}

/// Where the lower byte of a residue lies in a row; the upper one is the next.
fn place_of(number: usize) -> usize {
    number / PLANE_MODULI * PLANE_BYTES + number % PLANE_MODULI * 2
}

/// The weights of the bytes of a row, and the largest that each byte may be.
fn weights(moduli: &Moduli) -> Vec<(I256, u64)> {
    let product = moduli.product();
    let mut weights = vec![(I256::ZERO, 0); ROW_BYTES];
    for (number, &modulus) in moduli.values().iter().enumerate() {
        let lower = weight(moduli, number);
        // Residues modulo 1024 are all 16 bits of a sum.
        let upper = match modulus % 2 {
            0 => 255,
            _ => (modulus - 1) >> 8,
        };
        let place = place_of(number);
        weights[place] = (centred(lower, product), 255);
        weights[place + 1] = (centred(lower << 8, product), upper.into());
    }
    weights
}

/// `PlaneSlices` for every lane, then `PlaneQuotient`. A lane `4g + t` has, of bytes `4t` to `4t + 3` of both planes, slices `4⌊g/2⌋ + g mod 2` and the next but one, a
/// byte of the fractions, and the product's word `t`.
fn slices(moduli: &Moduli, bound: U256) -> Result<Vec<u32>, ResidueError> {
    moduli.demand(bound)?;
    let product = moduli.product();
    let weights = weights(moduli);
    // Fractions of the product, to the nearest, and what they are off: see reconstruct/slices.rs of the crate `residues`.
    let (mut off, mut all) = (U256::ZERO, 0);
    let fractions: Vec<Vec<i32>> = weights
        .iter()
        .map(|&(weight, largest)| {
            let (fraction, rest) = fraction(weight, FRACTION_BITS, product);
            off += rest * U256::from(largest);
            all += largest;
            let (bytes, rest) = balanced(fraction, 8, 2);
            assert_eq!(rest, 0, "fractions fit two bytes");
            bytes
        })
        .collect();
    assert!(
        off << 1 < (product - (bound << 1)) << FRACTION_BITS,
        "two bytes of the fractions tell how often the product comes off"
    );
    // Digits of weights are at most 128, four of them in a window below 129·2^24; weights at most half the product, whose words are at most 2^31.
    assert!(
        all * (129 << 24) + all * (1 << 30) < 1 << 44,
        "windows have no signs"
    );
    // Integers are put together modulo 2^128, which is enough for what they are in the end; the product and weights may be larger.
    assert!(bound < U256::ONE << (INTEGER_BITS - 1));
    let bytes: Vec<Vec<i32>> = weights.iter().map(|w| balanced(w.0, 8, 16).0).collect();
    let (product, _) = balanced(product.as_i256(), 32, 4);
    let lanes = (0..32).map(|lane| (lane / 4, lane % 4));
    let of = |columns: &[Vec<i32>], t: usize, place: usize| {
        [0, 1].map(|plane| {
            u32::from_le_bytes(std::array::from_fn(|j| {
                columns[PLANE_BYTES * plane + 4 * t + j][place] as u8
            }))
        })
    };
    let mut words = Vec::new();
    for (g, t) in lanes.clone() {
        let slice = 4 * (g / 2) + g % 2;
        words.extend(of(&bytes, t, slice));
        words.extend(of(&bytes, t, slice + 2));
    }
    for (g, t) in lanes {
        words.extend(of(&fractions, t, g % 2));
        words.extend([product[t] as u32, 0]);
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::cuda::tables::fp8::e4m3;
    use crate::executor::cuda::tables::tuned_tables::tests::{block, random_words};
    use crate::transform::tables::Tables;
    use ozfft_kernels::{RESIDUE_KARATSUBA_DIGIT_BYTES, RESIDUE_KARATSUBA_MODULI};
    use residues::fp8::E4m3;

    const DIGITS: Digits = Digits::DOUBLE;

    /// The digit at place `k` of a column of a matrix that begins at `start`.
    fn digit(bytes: &[u8], start: usize, column: usize, k: usize) -> i64 {
        let code = bytes[start + column / 8 * 256 + k / 16 * 128 + column % 8 * 16 + k % 16];
        E4m3::from_code(code).unwrap().to_f32() as i64
    }

    fn matrix_start(number: usize) -> usize {
        let digits = (0..number).map(|i| if i < 6 { 2 } else { 3 });
        digits.sum::<usize>() * RESIDUE_KARATSUBA_DIGIT_BYTES
    }

    /// What the kernel's sums of an output come to: `words` times the scale in digits to a base, by all products that the formula has and not by three.
    fn combined(bytes: &[u8], number: usize, column: usize, row: &[i64; POINTS]) -> i64 {
        let (modulus, scale) = (
            i64::from(RESIDUE_KARATSUBA_MODULI[number]),
            i64::from(RESIDUE_KARATSUBA_SCALES[number]),
        );
        let start = matrix_start(number);
        let base = i64::from(Split::of(modulus as u16).base());
        let terms = row.iter().enumerate().map(|(k, &word)| {
            let data = (word % modulus * scale).rem_euclid(modulus);
            let higher = digit(bytes, start, column, k);
            let lower = digit(bytes, start + RESIDUE_KARATSUBA_DIGIT_BYTES, column, k);
            if number >= 6 {
                let both = digit(bytes, start + 2 * RESIDUE_KARATSUBA_DIGIT_BYTES, column, k);
                assert_eq!(both, higher + lower);
            }
            data * (base * higher + lower)
        });
        let sum: i64 = terms.sum();
        sum.rem_euclid(modulus)
    }

    /// The integer that the slices give back from its residues, as the kernels put it together: modulo 2^128.
    fn put_together(words: &[u32], residues: &[i64]) -> i128 {
        let mut row = [0i64; ROW_BYTES];
        for (number, residue) in residues.iter().enumerate() {
            row[place_of(number)] = residue & 255;
            row[place_of(number) + 1] = residue >> 8;
        }
        let byte = |word: u32, j: usize| i64::from(word.to_le_bytes()[j] as i8);
        // The sum of column g of what lanes 4g to 4g + 3 have at these places of their entries.
        let sum = |table: usize, place: usize, g: usize| -> i64 {
            let terms = (0..4).flat_map(|t| (0..2).map(move |plane| (t, plane)));
            terms
                .map(|(t, plane)| {
                    let word = words[table + 4 * (4 * g + t) + place + plane];
                    (0..4)
                        .map(|j| row[PLANE_BYTES * plane + 4 * t + j] * byte(word, j))
                        .sum::<i64>()
                })
                .sum()
        };
        let times = (256 * sum(128, 0, 1) + sum(128, 0, 0) + (1 << 14)) >> 15;
        let mut integer = 0i128;
        for t in 0..4 {
            let slices = [
                sum(0, 0, 2 * t),
                sum(0, 0, 2 * t + 1),
                sum(0, 2, 2 * t),
                sum(0, 2, 2 * t + 1),
            ];
            let product = words[128 + 4 * t + 2] as i32;
            let mut window = -i128::from(times) * i128::from(product);
            for (i, slice) in slices.into_iter().enumerate() {
                window += i128::from(slice) << (8 * i);
            }
            assert!(window.abs() < 1 << 44);
            integer = integer.wrapping_add(window << (32 * t));
        }
        integer
    }

    /// Big integers are the referee: a step's sums, from the table's bytes alone.
    #[test]
    fn tables_give_the_residues_of_exact_sums_and_those_the_sums_again() {
        let tables_of_plans = Tables::default();
        let mut state = 92u64;
        for (number, step) in block(1024, &tables_of_plans).steps().iter().enumerate() {
            let words = tables(step, number, DIGITS).unwrap();
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let count = RESIDUE_KARATSUBA_COUNTS[number];
            let slices = &words[RESIDUE_KARATSUBA_PRODUCT_BYTES / 4..];
            assert_eq!(slices.len(), 32 * 8);
            // Far below what columns of words add up to.
            let row: [i64; POINTS] = random_words(&mut state, POINTS).try_into().unwrap();
            let row = row.map(|word| word >> 8);
            for column in 0..POINTS {
                let terms = (0..POINTS)
                    .map(|k| I256::from(entry(step, DIGITS, column, k)) * I256::from(row[k]));
                let exact: I256 = terms.sum();
                let residues: Vec<i64> = (0..count)
                    .map(|number| combined(&bytes, number, column, &row))
                    .collect();
                for (&residue, modulus) in residues.iter().zip(RESIDUE_KARATSUBA_MODULI) {
                    let expected = exact.rem_euclid(I256::from(modulus)).as_i64();
                    assert_eq!(residue, expected, "output {column} modulo {modulus}");
                }
                assert_eq!(put_together(slices, &residues), exact.as_i128());
                let mut wrong = residues;
                wrong[5] ^= 1;
                assert_ne!(put_together(slices, &wrong), exact.as_i128());
            }
        }
    }

    #[test]
    fn no_sum_exceeds_what_is_exact_and_larger_ones_are_refused() {
        let tables_of_plans = Tables::default();
        for step in block(1024, &tables_of_plans).steps() {
            for modulus in RESIDUE_KARATSUBA_MODULI
                .into_iter()
                .zip(RESIDUE_KARATSUBA_SCALES)
            {
                products(step, DIGITS, modulus, &mut Vec::new()).unwrap();
            }
        }
        // Digits of 16 throughout are just what a sum of two products may have.
        let square = Split::of(1089);
        let entries = |base: i64, higher: i64, lower: i64| {
            let residue = base * higher + lower;
            [[Entry {
                residue,
                higher,
                lower,
            }; POINTS]]
        };
        let all = |digit: i64| entries(33, digit, digit);
        assert_eq!(check(&all(16), square, 1089).unwrap(), 1 << 14);
        assert!(matches!(
            check(&all(17), square, 1089).unwrap_err(),
            FftError::Fp8SumsTooLarge { largest: 17408, .. }
        ));
        // Those of opposite signs have no sum at all.
        let other = |digit: i64| entries(16, digit, -digit);
        assert_eq!(check(&other(16), Split::Karatsuba, 511).unwrap(), 8192);
        assert!(check(&other(33), Split::Karatsuba, 511).is_err());
    }

    #[test]
    fn moduli_are_those_of_the_crate_and_their_digits_numbers_of_e4m3() {
        let moduli = Moduli::first(Set::Fp8, RESIDUE_KARATSUBA_MODULI.len()).unwrap();
        assert_eq!(moduli.values(), RESIDUE_KARATSUBA_MODULI);
        for modulus in RESIDUE_KARATSUBA_MODULI {
            let split = Split::of(modulus);
            for residue in -i32::from(modulus / 2)..=i32::from((modulus - 1) / 2) {
                let (higher, lower) = split.digits(residue);
                for digit in [higher, lower] {
                    let number = E4m3::from_code(e4m3(digit.into())).unwrap();
                    assert_eq!(number.to_f32(), digit as f32);
                }
            }
        }
    }
}
