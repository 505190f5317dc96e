//! Sums and products of whatever the bytes say, in blocks, one by one, in parts and in another order: always the same
//! bits, and those of a big integer where all numbers are finite.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use kulisch::{Accumulator, Instructions};
use libfuzzer_sys::fuzz_target;
use num_bigint::BigInt;

#[derive(Debug, Arbitrary)]
struct Request {
    /// Raw bits of numbers: every NaN, infinity and subnormal can be reached.
    left: Vec<u64>,
    right: Vec<u64>,
    /// How often the arrays are repeated, so that blocks are full.
    repeated: u8,
    cut: u16,
    reversed: bool,
}

/// A finite number as a multiple of the smallest double.
fn multiple(value: f64) -> BigInt {
    let bits = value.to_bits();
    let (field, fraction) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
    let magnitude = match field {
        0 => BigInt::from(fraction),
        _ => BigInt::from(fraction | (1 << 52)) << (field - 1),
    };
    if value.is_sign_negative() { -magnitude } else { magnitude }
}

/// Whether a double is nearest to an exact sum in units of the square of the smallest double: no neighbour is nearer.
fn is_nearest(rounded: f64, exact: &BigInt) -> bool {
    let unit = |value: f64| multiple(value) << 1074u32;
    if rounded.is_infinite() {
        let limit: BigInt = (unit(f64::MAX) << 1u32) + unit(f64::MAX - f64::MAX.next_down());
        return &(if rounded > 0.0 { exact.clone() } else { -exact } << 1u32) >= &limit;
    }
    let distance = |value: f64| BigInt::from((unit(value) - exact).magnitude().clone());
    let own = distance(rounded);
    let even = rounded.to_bits() & 1 == 0;
    [rounded.next_up(), rounded.next_down()]
        .into_iter()
        .filter(|neighbour| neighbour.is_finite())
        .all(|neighbour| own < distance(neighbour) || (own == distance(neighbour) && even))
}

fuzz_target!(|data: &[u8]| {
    let Ok(request) = Request::arbitrary(&mut Unstructured::new(data)) else {
        return;
    };
    let length = request.left.len().min(request.right.len());
    let times = usize::from(request.repeated) + 1;
    let numbers = |bits: &[u64]| -> Vec<f64> {
        bits[..length].iter().cycle().take(length * times).map(|&bits| f64::from_bits(bits)).collect()
    };
    let (left, right) = (numbers(&request.left), numbers(&request.right));
    let sum = kulisch::sum(&left);
    let dot = kulisch::dot(&left, &right).expect("equal lengths");
    for instructions in Instructions::all_available() {
        let mut total = Accumulator::new();
        total.add_slice_with(instructions, &left).expect("available");
        assert_eq!(total.round().to_bits(), sum.to_bits());
        let mut total = Accumulator::new();
        total.add_products_with(instructions, &left, &right).expect("available");
        assert_eq!(total.round().to_bits(), dot.to_bits());
    }
    let cut = usize::from(request.cut).min(left.len());
    let mut order: Vec<usize> = (0..left.len()).collect();
    if request.reversed {
        order.reverse();
    }
    let (mut sums, mut dots) = (Accumulator::new(), Accumulator::new());
    for half in [&order[..cut], &order[cut..]] {
        let (mut part, mut products) = (Accumulator::new(), Accumulator::new());
        for &k in half {
            part.add(left[k]);
            products.add_product(left[k], right[k]);
        }
        sums.merge(&part);
        dots.merge(&products);
    }
    assert_eq!(sums.round().to_bits(), sum.to_bits());
    assert_eq!(dots.round().to_bits(), dot.to_bits());
    if left.iter().chain(&right).all(|value| value.is_finite()) {
        let exact: BigInt = left.iter().map(|&value| multiple(value)).sum();
        assert!(is_nearest(sum, &(exact << 1074u32)), "{sum:e} of {left:?}");
        let exact: BigInt = left.iter().zip(&right).map(|(&a, &b)| multiple(a) * multiple(b)).sum();
        assert!(is_nearest(dot, &exact), "{dot:e} of {left:?} and {right:?}");
    }
});
