//! E4M3 numbers, and a matrix unit that multiplies them as GPUs do.
//!
//! A tensor core adds products group by group. It aligns the products of a group, and the partial sum, to the largest
//! exponent among them, truncates below a number of bits, adds the rest as integers, and stores the sum
//! with a number of bits. So sums of integers are exact to a limit, and lose their last bits beyond. An [`Accumulator`] is
//! these numbers; the algorithm is one.
//!
//! What is known of them:
//!
//! - *Hopper* (`wgmma`, e4m3). Published: 14 bits of every product after alignment, 32 products at a time (DeepSeek-V3's
//!   technical report, section 3.5.2); 13 bits after the leading one in the register, the rest cut off (SageAttention 2);
//!   13 bits under the largest exponent of 32 products and the sum, products not normalised first (Khattak and Mikaitis,
//!   "Accurate models of NVIDIA tensor cores"). Whether a stored sum is truncated to 13 bits as well, they say differently: the
//!   first two say so, and the model published with the last keeps the carries of a group. Measured by us on an H200:
//!   [`Accumulator::HOPPER`] has the bits of all 573,440 sums that we took (`tests/fp8_measured.rs` has a sample); with the
//!   carries kept, 94,437 of them differ.
//! - *Ada* (`mma.sync`, e4m3). Published: the same 13 bits, 16 products at a time (SageAttention 2; Khattak and Mikaitis).
//!   That the stored sum is truncated as on Hopper is an assumption. The limit does not depend on it.
//! - *Blackwell* (`tcgen05`, e4m3). Published: 25 bits under the largest exponent of 32 products and the sum, then f32 by
//!   cutting (Khattak and Mikaitis; 25 bits also in DeepGEMM's issue 176). Not measured by us. The register has f32's 23
//!   bits, so two of the 25 help within a group only: integers are exact to 2^24, not 2^26.
//!
//! `mma.sync` with e4m3 on Hopper is none of these: it runs as FP16 instructions and is exact to 2^24 (measured).

use crate::COLUMNS;
use crate::error::ResidueError;
use std::fmt;

/// An 8-bit floating-point number with four bits of exponent and three of fraction. It has no infinities, and the two
/// codes that mean "no number" are no `E4m3`.
///
/// | integers | exact |
/// |---|---|
/// | to 16 | all |
/// | to 32 | even ones |
/// | to 64 | multiples of 4 |
/// | to 128 | multiples of 8 |
/// | to 256 | multiples of 16 |
/// | to 448 | multiples of 32 |
///
/// ```
/// use residues::fp8::E4m3;
/// assert_eq!(E4m3::from_integer(-15).map(E4m3::to_f32), Some(-15.0));
/// assert_eq!(E4m3::from_integer(17), None);
/// assert_eq!(E4m3::from_integer(18).map(E4m3::code), Some(0x59));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct E4m3(u8);

impl E4m3 {
    /// Zero.
    pub const ZERO: E4m3 = E4m3(0);
    /// The largest number.
    pub const LARGEST: i32 = 448;
    /// All integers up to this one are exact.
    pub const ALL_TO: i32 = 16;
    /// Numbers are multiples of two to this power.
    const UNIT: i32 = -9;
    /// The exponent of the smallest numbers, which have no leading one.
    const LEAST_EXPONENT: i32 = -6;

    /// The number of a code, unless it means "no number".
    pub const fn from_code(code: u8) -> Option<E4m3> {
        if code & 0x7f == 0x7f {
            None
        } else {
            Some(E4m3(code))
        }
    }

    /// Its code.
    pub const fn code(self) -> u8 {
        self.0
    }

    /// Whether an integer is one of these numbers.
    pub const fn holds(integer: i32) -> bool {
        let magnitude = integer.unsigned_abs();
        let length = 32 - magnitude.leading_zeros();
        magnitude <= E4m3::LARGEST as u32
            && (magnitude == 0 || length <= 4 + magnitude.trailing_zeros())
    }

    /// An integer, where it is one of these numbers.
    pub const fn from_integer(integer: i32) -> Option<E4m3> {
        E4m3::from_scaled(integer, 0)
    }

    /// `integer · 2^exponent`, where it is one of these numbers.
    pub const fn from_scaled(integer: i32, exponent: i32) -> Option<E4m3> {
        let magnitude = integer.unsigned_abs();
        if magnitude == 0 {
            return Some(E4m3::ZERO);
        }
        let sign = if integer < 0 { 0x80 } else { 0 };
        // The number in units of 2^-9, which all numbers are multiples of.
        let odd = magnitude >> magnitude.trailing_zeros();
        let shift = exponent - E4m3::UNIT + magnitude.trailing_zeros() as i32;
        if shift < 0 || odd > 15 || shift > 17 {
            return None;
        }
        let units = odd << shift;
        if units < 8 {
            return Some(E4m3(sign | units as u8));
        }
        let length = units.ilog2() - 2;
        if length > 15 {
            return None;
        }
        let code = (length << 3) as u8 | (units >> (length - 1) & 7) as u8;
        E4m3::from_code(sign | code)
    }

    /// As a float, which is exact.
    pub fn to_f32(self) -> f32 {
        self.units() as f32 / 512.0
    }

    /// The number in units of 2^-9.
    #[inline]
    const fn units(self) -> i32 {
        let (exponent, fraction) = ((self.0 >> 3 & 15) as i32, (self.0 & 7) as i32);
        let magnitude = if exponent == 0 {
            fraction
        } else {
            (8 + fraction) << (exponent - 1)
        };
        if self.0 & 0x80 == 0 {
            magnitude
        } else {
            -magnitude
        }
    }

    /// The exponent that hardware aligns by: that of the code, even if the number has no leading one.
    #[inline]
    const fn exponent(self) -> i32 {
        let exponent = (self.0 >> 3 & 15) as i32 - 7;
        if exponent < E4m3::LEAST_EXPONENT {
            E4m3::LEAST_EXPONENT
        } else {
            exponent
        }
    }
}

/// How a matrix unit adds up products of E4M3 numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accumulator {
    /// The hardware.
    pub name: &'static str,
    /// Products that are added at once, neighbours in the sum; groups are added one after the other.
    pub group: usize,
    /// Bits that are kept of every term below the leading bit of the largest exponent.
    pub aligned_bits: u32,
    /// Bits that are kept of a stored sum below its leading one; at most 23.
    pub stored_bits: u32,
    /// Treatment of the others.
    pub cut: Cut,
}

/// Treatment of bits that are not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// They are left out: rounding towards zero.
    Truncate,
    /// Rounding to the nearest, to even in the middle. No GPU known to us does this.
    Nearest,
}

impl Accumulator {
    /// NVIDIA's Hopper, `wgmma`. Measured.
    pub const HOPPER: Accumulator = Accumulator {
        name: "hopper",
        group: 32,
        aligned_bits: 13,
        stored_bits: 13,
        cut: Cut::Truncate,
    };
    /// NVIDIA's Ada, `mma.sync`. Published, not measured by us.
    pub const ADA: Accumulator = Accumulator {
        name: "ada",
        group: 16,
        aligned_bits: 13,
        stored_bits: 13,
        cut: Cut::Truncate,
    };
    /// NVIDIA's Blackwell, `tcgen05`. Published, not measured by us.
    pub const BLACKWELL: Accumulator = Accumulator {
        name: "blackwell",
        group: 32,
        aligned_bits: 25,
        stored_bits: 23,
        cut: Cut::Truncate,
    };
    /// All that are known.
    pub const ALL: [Accumulator; 3] = [
        Accumulator::HOPPER,
        Accumulator::ADA,
        Accumulator::BLACKWELL,
    ];

    /// A sum of integers is exact if their magnitudes add up to this or less; more generally, a sum of multiples of a power
    /// of two to so many times that power.
    ///
    /// With `b` bits kept, terms below `2^(b+1)` units lose nothing: the largest exponent is at most `b`, and what is cut
    /// off lies below the unit. Intermediate sums are no larger than the sum of magnitudes. One of exactly `2^(b+1)` is stored
    /// exactly, too, and what follows it can only be zeros.
    ///
    /// This holds for factors of 2^-6 and more. Smaller ones have no leading one and are aligned as if they were up to eight
    /// times as large. Nibbles whose codes are taken for numbers (0 to 15 times 2^-9) may still be multiplied with integers:
    /// these products are aligned at `2^(8-6)` at most, and with 13 bits and a unit of 2^-9 as much as 2^4 is harmless.
    pub const fn exact_to(&self) -> u64 {
        let bits = if self.aligned_bits < self.stored_bits {
            self.aligned_bits
        } else {
            self.stored_bits
        };
        2 << bits
    }

    /// Whether a sum of `depth` products of magnitude at most `product` is exact, or else the error that says so.
    pub fn demand(&self, depth: usize, product: u64) -> Result<(), ResidueError> {
        let largest = depth as u64 * product;
        if largest <= self.exact_to() {
            return Ok(());
        }
        Err(ResidueError::DepthBeyondExactness {
            unit: self.name,
            depth,
            largest,
            exact: self.exact_to(),
            most: (self.exact_to() / product) as usize,
        })
    }
}

impl fmt::Display for Accumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A matrix of E4M3 numbers, row by row.
#[derive(Debug, Clone)]
pub struct E4m3Matrix {
    rows: usize,
    depth: usize,
    entries: Vec<E4m3>,
    /// All entries as multiples of one power of two, where these are short.
    short: Option<Short>,
}

/// Numbers as short integers times `2^exponent`.
#[derive(Debug, Clone)]
struct Short {
    integers: Vec<i16>,
    exponent: i32,
    /// The largest exponent that hardware aligns one of them by.
    largest_exponent: i32,
    /// The largest magnitude.
    largest: i64,
}

/// The largest common factor of these numbers, as a power of two times 2^-9, and the largest of their exponents; nothing
/// if all are zero.
fn common_unit(numbers: impl Iterator<Item = E4m3>) -> Option<(u32, i32)> {
    let (mut bits, mut largest) = (0, i32::MIN);
    for number in numbers {
        let units = number.units();
        if units != 0 {
            bits |= units.unsigned_abs();
            largest = largest.max(number.exponent());
        }
    }
    (bits != 0).then(|| (bits.trailing_zeros(), largest))
}

impl E4m3Matrix {
    /// A matrix from its rows.
    pub fn new(rows: usize, depth: usize, entries: &[E4m3]) -> E4m3Matrix {
        assert_eq!(entries.len(), rows * depth, "one entry for every place");
        let (shift, largest_exponent) =
            common_unit(entries.iter().copied()).unwrap_or((0, E4m3::LEAST_EXPONENT));
        let integers: Option<Vec<i16>> = entries
            .iter()
            .map(|entry| i16::try_from(entry.units() >> shift).ok())
            .collect();
        let short = integers.map(|integers| Short {
            largest: integers
                .iter()
                .map(|x| i64::from(x.unsigned_abs()))
                .max()
                .unwrap_or(0),
            integers,
            exponent: E4m3::UNIT + shift as i32,
            largest_exponent,
        });
        E4m3Matrix {
            rows,
            depth,
            entries: entries.to_vec(),
            short,
        }
    }

    /// A matrix of integers, unless one of them is no E4M3 number.
    pub fn of_integers(rows: usize, depth: usize, entries: &[i32]) -> Option<E4m3Matrix> {
        let entries: Option<Vec<E4m3>> = entries.iter().map(|&x| E4m3::from_integer(x)).collect();
        entries.map(|entries| E4m3Matrix::new(rows, depth, &entries))
    }

    /// Its rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Its columns: the number of products in a sum.
    pub fn depth(&self) -> usize {
        self.depth
    }
}

/// A matrix unit for E4M3 numbers, simulated to the bit.
///
/// ```
/// use residues::COLUMNS;
/// use residues::fp8::{Accumulator, E4m3, E4m3Matrix, Fp8Unit};
/// let unit = Fp8Unit::new(Accumulator::HOPPER);
/// // 65 times 16·16 is beyond 2^14, and an odd sum that large loses its last bit.
/// let row: Vec<i32> = [16; 64].into_iter().chain([3]).collect();
/// let matrix = E4m3Matrix::of_integers(1, 65, &row).expect("all are E4M3 numbers");
/// let mut data = vec![[E4m3::from_integer(16).unwrap_or_default(); COLUMNS]; 65];
/// data[64] = [E4m3::from_integer(1).unwrap_or_default(); COLUMNS];
/// let mut sums = [[0.0; COLUMNS]];
/// unit.multiply(&matrix, &data, &mut sums);
/// assert_eq!(sums[0][0], 16386.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fp8Unit {
    accumulator: Accumulator,
}

/// The most products of a group.
const MOST_GROUP: usize = 32;
/// Fixed point of the sums of a group: products are multiples of 2^-18.
const PRODUCT_UNIT: i32 = 2 * E4m3::UNIT;

impl Fp8Unit {
    /// A unit with this accumulator.
    pub fn new(accumulator: Accumulator) -> Fp8Unit {
        assert!(
            (1..=MOST_GROUP).contains(&accumulator.group)
                && accumulator.stored_bits <= 23
                && accumulator.aligned_bits <= 30,
            "groups of 1 to 32 products, at most 23 stored bits and 30 aligned ones"
        );
        Fp8Unit { accumulator }
    }

    /// Precision of its sums.
    pub fn accumulator(&self) -> &Accumulator {
        &self.accumulator
    }

    /// `sums[row][column]` becomes what the hardware would make of `Σ matrix[row][k] · data[k][column]`. `data` has the
    /// matrix's depth, or more, and `sums` its rows.
    pub fn multiply(
        &self,
        matrix: &E4m3Matrix,
        data: &[[E4m3; COLUMNS]],
        sums: &mut [[f32; COLUMNS]],
    ) {
        let sums = &mut sums[..matrix.rows];
        sums.fill([0.0; COLUMNS]);
        let group = self.accumulator.group;
        for (number, data) in data[..matrix.depth].chunks(group).enumerate() {
            let from = number * group;
            let quick = matrix
                .short
                .as_ref()
                .and_then(|short| Quick::new(self, short, data));
            for (row, sums) in sums.iter_mut().enumerate() {
                let places = row * matrix.depth + from..row * matrix.depth + from + data.len();
                let done = quick
                    .as_ref()
                    .zip(matrix.short.as_ref())
                    .is_some_and(|(quick, short)| quick.add(&short.integers[places.clone()], sums));
                if !done {
                    self.add_group(&matrix.entries[places], data, sums);
                }
            }
        }
    }

    /// Adds a group of products to sums, by the definition.
    fn add_group(&self, row: &[E4m3], data: &[[E4m3; COLUMNS]], sums: &mut [f32; COLUMNS]) {
        let accumulator = &self.accumulator;
        for (column, sum) in sums.iter_mut().enumerate() {
            // A stored sum is a multiple of 2^-18, too: nothing is ever kept below that.
            let before = (f64::from(*sum) * f64::from(1 << -PRODUCT_UNIT)) as i64;
            let mut largest = exponent_of(before);
            for (&entry, data) in row.iter().zip(data) {
                if entry.units() != 0 && data[column].units() != 0 {
                    // Not that of the product, which may be one larger.
                    largest = largest.max(entry.exponent() + data[column].exponent());
                }
            }
            let shift = largest - accumulator.aligned_bits as i32 - PRODUCT_UNIT;
            let mut total = cut(before, shift, accumulator.cut);
            for (&entry, data) in row.iter().zip(data) {
                let product = i64::from(entry.units()) * i64::from(data[column].units());
                total += cut(product, shift, accumulator.cut);
            }
            let shift = exponent_of(total) - accumulator.stored_bits as i32 - PRODUCT_UNIT;
            let stored = cut(total, shift, accumulator.cut);
            // At most 24 bits: exact.
            *sum = (stored as f64 / f64::from(1 << -PRODUCT_UNIT)) as f32;
        }
    }
}

/// `2^exponent`, for exponents of products and their units.
#[inline]
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((127 + exponent) as u32) << 23)
}

/// The exponent of a number in units of 2^-18; far below all others for zero.
#[inline]
fn exponent_of(units: i64) -> i32 {
    match units.unsigned_abs().checked_ilog2() {
        None => -1000,
        Some(exponent) => exponent as i32 + PRODUCT_UNIT,
    }
}

/// The multiple of `2^shift` that `value` becomes.
#[inline]
fn cut(value: i64, shift: i32, how: Cut) -> i64 {
    if shift <= 0 {
        return value;
    }
    if shift > 62 {
        return 0;
    }
    let magnitude = value.unsigned_abs();
    let mut kept = magnitude >> shift;
    if how == Cut::Nearest {
        let rest = magnitude - (kept << shift);
        let half = 1 << (shift - 1);
        kept += u64::from(rest > half || (rest == half && kept & 1 == 1));
    }
    let kept = (kept << shift) as i64;
    if value < 0 { -kept } else { kept }
}

/// A group of data that loses no bit with any row of a matrix, as long as the sums before and after are small: the same
/// result as by the definition, in integers.
struct Quick {
    integers: [[i16; COLUMNS]; MOST_GROUP],
    /// Sums are multiples of `unit`; sums below `limit` units lose nothing.
    unit: f32,
    per_unit: f32,
    limit: i32,
}

impl Quick {
    #[inline]
    fn new(unit: &Fp8Unit, matrix: &Short, data: &[[E4m3; COLUMNS]]) -> Option<Quick> {
        let (shift, largest_exponent) =
            common_unit(data.iter().flatten().copied()).unwrap_or((0, E4m3::LEAST_EXPONENT));
        let exponent = matrix.exponent + E4m3::UNIT + shift as i32;
        let accumulator = &unit.accumulator;
        let bits = accumulator.aligned_bits.min(accumulator.stored_bits);
        // The products themselves are aligned without loss.
        if matrix.largest_exponent + largest_exponent - accumulator.aligned_bits as i32 > exponent {
            return None;
        }
        let mut integers = [[0; COLUMNS]; MOST_GROUP];
        let mut largest = 0;
        for (to, from) in integers.iter_mut().zip(data) {
            for (to, from) in to.iter_mut().zip(from) {
                *to = i16::try_from(from.units() >> shift).ok()?;
                largest = largest.max(i64::from(to.unsigned_abs()));
            }
        }
        let limit = 2i32 << bits.min(24);
        // Sums of a group and what was before them fit 32 bits.
        if MOST_GROUP as i64 * matrix.largest * largest + i64::from(limit) > i64::from(i32::MAX) {
            return None;
        }
        Some(Quick {
            integers,
            unit: power_of_two(exponent),
            per_unit: power_of_two(-exponent),
            limit,
        })
    }

    /// Adds a group of products, or returns false, with the sums as they were, where one may lose a bit.
    #[inline]
    fn add(&self, row: &[i16], sums: &mut [f32; COLUMNS]) -> bool {
        let mut totals = [0i32; COLUMNS];
        let mut fits = true;
        for (total, &sum) in totals.iter_mut().zip(sums.iter()) {
            // A power of two times a float: exact; a sum that is no multiple of the unit is left to the definition.
            let before = sum * self.per_unit;
            *total = before as i32;
            fits &= *total as f32 == before && total.unsigned_abs() < self.limit as u32;
        }
        for (&entry, data) in row.iter().zip(&self.integers) {
            for (total, &data) in totals.iter_mut().zip(data) {
                *total += i32::from(entry) * i32::from(data);
            }
        }
        for &total in &totals {
            fits &= total.unsigned_abs() < self.limit as u32;
        }
        if fits {
            for (sum, &total) in sums.iter_mut().zip(&totals) {
                *sum = total as f32 * self.unit;
            }
        }
        fits
    }
}
