//! The definition: exact products and sums in f32, in one of the orders.
//!
//! In the order of pairs and of tiles, as in both instructions' documentation, sums are rounded to the nearest, subnormal
//! factors count as zero and subnormal sums become zero. A product and the sum that it goes to are one fused operation.
//! Aligned sums keep subnormal numbers.

use super::{MatrixUnit, Order, Shape, TILE, Term};
use crate::Format;
use crate::lanes::{InstructionSet, Task, Vectors};
use crate::numbers::bf16;

/// Plain code that adds in a given order.
#[derive(Debug, Clone, Copy)]
pub struct Scalar {
    order: Order,
    format: Format,
    set: InstructionSet,
}

impl Scalar {
    /// A unit that multiplies bf16 numbers and adds in the given order.
    pub fn new(order: Order) -> Scalar {
        Scalar {
            order,
            format: Format::Bf16,
            set: InstructionSet::detect(),
        }
    }

    /// The same for f16 numbers.
    pub fn fp16(order: Order) -> Scalar {
        Scalar {
            format: Format::Fp16,
            ..Scalar::new(order)
        }
    }
}

/// Subnormal numbers become zero; their sign stays.
#[inline(always)]
fn without_subnormal(value: f32) -> f32 {
    if value.is_subnormal() {
        0f32.copysign(value)
    } else {
        value
    }
}

/// `a · b + c`, rounded once, without subnormal numbers on either side.
#[inline(always)]
fn fused(a: f32, b: f32, c: f32) -> f32 {
    let (a, b) = (without_subnormal(a), without_subnormal(b));
    let sum = a.mul_add(b, c);
    if sum.abs() > f32::MIN_POSITIVE {
        return sum;
    }
    // Whether a sum is subnormal is asked after it was rounded to 24 bits whatever its exponent: some that are subnormal
    // by that round up to the smallest normal number. Sums this small are exact in f64.
    let exact = f64::from(a) * f64::from(b) + f64::from(c);
    let smallest = f64::from(f32::MIN_POSITIVE);
    if exact.abs() < smallest * (1.0 - (-25f64).exp2()) {
        0f32.copysign(sum)
    } else {
        sum
    }
}

/// Cut off to a multiple of a power of two, towards zero.
fn cut_off(value: f64, place: i32) -> f64 {
    let unit = f64::from(place).exp2();
    (value / unit).trunc() * unit
}

/// The exponent of a number that is not zero.
fn exponent(value: f64) -> i32 {
    (value.to_bits() >> 52 & 0x7ff) as i32 - 1023
}

/// Products and a sum, aligned to the largest: see [`Order::Aligned`]. Everything is exact in f64 but where it is truncated.
fn aligned(products: impl Iterator<Item = f64> + Clone, sum: f32, guard_bits: u32) -> f32 {
    let sum = f64::from(sum);
    let largest = products.clone().fold(sum.abs(), |largest, product| {
        if product.abs() > largest {
            product.abs()
        } else {
            largest
        }
    });
    if largest == 0.0 {
        return 0.0;
    }
    if !largest.is_finite() {
        return products.fold(sum, |sum, product| sum + product) as f32;
    }
    let place = exponent(largest) - 23 - guard_bits as i32;
    let total = products.fold(cut_off(sum, place), |sum, product| {
        sum + cut_off(product, place)
    });
    if total == 0.0 {
        return 0.0;
    }
    cut_off(total, place.max(exponent(total) - 23)) as f32
}

impl Scalar {
    /// One sum, over the terms' pairs in turn.
    #[inline(always)]
    fn sum(self, shape: &Shape, terms: &[Term<'_>], row: usize, column: usize) -> f32 {
        let mut sum = 0f32;
        for term in terms {
            let left = &term.left[row * shape.left_pitch..][..shape.pairs];
            let right = |pair: usize| bf16::unpair(term.right[pair * shape.right_pitch + column]);
            let values = |pair: usize| {
                let (left, right) = (bf16::unpair(left[pair]), right(pair));
                let both = |l: u16, r: u16| (self.format.to_f32(l), self.format.to_f32(r));
                (both(left.0, right.0), both(left.1, right.1))
            };
            match self.order {
                Order::Pairs => {
                    for pair in 0..shape.pairs {
                        let (first, second) = values(pair);
                        sum = fused(second.0, second.1, sum);
                        sum = fused(first.0, first.1, sum);
                    }
                }
                Order::Tiles => {
                    for tile in (0..shape.pairs).step_by(TILE) {
                        let (mut firsts, mut seconds) = (0f32, 0f32);
                        for pair in tile..tile + TILE {
                            let (first, second) = values(pair);
                            firsts = fused(first.0, first.1, firsts);
                            seconds = fused(second.0, second.1, seconds);
                        }
                        let both = without_subnormal(firsts + seconds);
                        sum = without_subnormal(sum + both);
                    }
                }
                Order::Aligned { depth, guard_bits } => {
                    let all = 2 * shape.pairs;
                    for start in (0..all).step_by(depth) {
                        let product = |place: usize| {
                            let (first, second) = values(place / 2);
                            let (l, r) = if place.is_multiple_of(2) {
                                first
                            } else {
                                second
                            };
                            f64::from(l) * f64::from(r)
                        };
                        let places = start..(start + depth).min(all);
                        sum = aligned(places.map(product), sum, guard_bits);
                    }
                }
            }
        }
        sum
    }
}

impl MatrixUnit for Scalar {
    fn name(&self) -> &str {
        match (self.order, self.format) {
            (Order::Pairs, Format::Bf16) => "scalar",
            (Order::Tiles, Format::Bf16) => "scalar_tiles",
            (Order::Aligned { .. }, Format::Bf16) => "scalar_aligned",
            (Order::Pairs, Format::Fp16) => "scalar_fp16",
            (Order::Tiles, Format::Fp16) => "scalar_fp16_tiles",
            (Order::Aligned { .. }, Format::Fp16) => "scalar_fp16_aligned",
        }
    }

    fn format(&self) -> Format {
        self.format
    }

    fn order(&self) -> Order {
        self.order
    }

    fn multiply(&self, shape: &Shape, terms: &[Term<'_>], sums: &mut [f32]) {
        shape.check(terms, sums);
        self.set.enter(Product {
            unit: self,
            shape,
            terms,
            sums,
        });
    }
}

/// Where the processor has fused operations, they are used.
struct Product<'a> {
    unit: &'a Scalar,
    shape: &'a Shape,
    terms: &'a [Term<'a>],
    sums: &'a mut [f32],
}

impl Task for Product<'_> {
    #[inline(always)]
    fn run<V: Vectors>(self) {
        let shape = self.shape;
        for row in 0..shape.rows {
            let sums = &mut self.sums[row * shape.sums_pitch..][..shape.columns];
            for (column, sum) in sums.iter_mut().enumerate() {
                *sum = self.unit.sum(shape, self.terms, row, column);
            }
        }
    }
}
