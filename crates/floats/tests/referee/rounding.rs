//! Numbers in pieces, from their definitions: what a format holds, and the nearest of it.

use floats::Format;
use ozfft_testkit::oracle::DoubleDouble;

/// The parts that numbers are split into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pieces {
    Parts(Format),
    Digits,
}

/// Digits of the mode that has them.
pub const DIGITS: usize = 4;

/// The nearest integer, ties to even.
fn nearest_integer(value: DoubleDouble) -> f64 {
    let floor = value.to_f64().floor();
    // The high part may have been rounded up to an integer.
    let rest = value - DoubleDouble::from(floor);
    let (floor, rest) = if rest.to_f64() < 0.0 {
        (floor - 1.0, rest + DoubleDouble::from(1.0))
    } else {
        (floor, rest)
    };
    let half = (rest - DoubleDouble::from(0.5)).to_f64();
    let up = half > 0.0 || (half == 0.0 && floor % 2.0 != 0.0);
    floor + f64::from(u8::from(up))
}

fn exponent(value: f64) -> i32 {
    (value.abs().to_bits() >> 52) as i32 - 1023
}

/// The nearest number of a format to one that is not larger than it holds.
fn nearest(format: Format, value: DoubleDouble) -> f64 {
    if value.to_f64() == 0.0 {
        return 0.0;
    }
    let (bits, lowest) = match format {
        Format::Bf16 => (8, -133),
        Format::Fp16 => (11, -24),
    };
    // The spacing below the next power of two above: a high part that was rounded to a power of two has the finer one.
    let mut top = exponent(value.to_f64());
    let power = DoubleDouble::from(f64::from(top).exp2());
    if (value.abs() - power).to_f64() < 0.0 {
        top -= 1;
    }
    let spacing = (top - (bits - 1)).max(lowest);
    nearest_integer(value.scale_by_power_of_two(-spacing)) * f64::from(spacing).exp2()
}

/// The first pieces of a number of magnitude at most one, and what is left.
pub fn pieces_and_rest(pieces: Pieces, value: DoubleDouble, count: usize) -> (Vec<f64>, f64) {
    match pieces {
        Pieces::Parts(format) => {
            let mut rest = value;
            let mut parts = Vec::new();
            for _ in 0..count {
                let part = nearest(format, rest);
                rest = rest - DoubleDouble::from(part);
                parts.push(part);
            }
            (parts, rest.to_f64())
        }
        Pieces::Digits => {
            // Balanced digits of the nearest multiple of 2^-31, the highest first.
            let mut integer = nearest_integer(value.scale_by_power_of_two(31));
            let mut parts = Vec::new();
            let mut rest = value;
            for place in 0..count {
                let weight = f64::from(8 * (DIGITS - 1 - place) as i32).exp2();
                let digit = nearest_integer(DoubleDouble::from(integer / weight));
                integer -= digit * weight;
                let part = digit * weight * (-31f64).exp2();
                rest = rest - DoubleDouble::from(part);
                parts.push(part);
            }
            (parts, rest.to_f64())
        }
    }
}
