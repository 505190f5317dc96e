//! Hill climbing: change a line a little, keep what is worse.

use crate::oracle::inputs::Generator;
use num_complex::Complex;

type Point = Complex<f64>;

/// Where hill climbing has come to.
#[derive(Clone, Debug)]
pub struct Climbed {
    /// What was climbed: error over bound.
    pub ratio: f64,
    /// The line that has it.
    pub line: Vec<Point>,
    /// Lines that were looked at.
    pub tried: usize,
    /// Those of them that were better than all before.
    pub accepted: usize,
}

/// Climbs from a line for a fixed number of steps. The unit of the line's words is 1: every step changes up to four
/// components by units, half units and the last bits around ties, or by up to a half of themselves, negates them, or exchanges them with others; `fit` then
/// makes the line a legal one again. Equal seeds climb equally.
///
/// ```
/// use num_complex::Complex;
/// use ozfft_testkit::oracle::attack::climb;
/// let start = [Complex::new(3.0, 0.0); 4];
/// let climbed = climb(&start, 200, 7, |_| {}, |line| line.iter().map(|x| x.re).sum());
/// assert!(climbed.ratio > 12.0);
/// ```
pub fn climb(
    start: &[Point],
    steps: usize,
    seed: u64,
    fit: impl Fn(&mut [Point]),
    mut value: impl FnMut(&[Point]) -> f64,
) -> Climbed {
    let mut generator = Generator::new(seed);
    let mut best = Climbed {
        ratio: value(start),
        line: start.to_vec(),
        tried: 1,
        accepted: 0,
    };
    if start.is_empty() {
        return best;
    }
    for _ in 0..steps {
        let mut line = best.line.clone();
        for _ in 0..1 + generator.below(4) {
            change(&mut line, &mut generator);
        }
        fit(&mut line);
        let ratio = value(&line);
        best.tried += 1;
        // Sideways steps lead off plateaus.
        if ratio >= best.ratio {
            best.accepted += usize::from(ratio > best.ratio);
            best.ratio = ratio;
            best.line = line;
        }
    }
    best
}

fn change(line: &mut [Point], generator: &mut Generator) {
    let place = generator.below(line.len());
    let other = generator.below(line.len());
    let imaginary = generator.below(2) == 1;
    let part = |value: Point| if imaginary { value.im } else { value.re };
    let old = part(line[place]);
    let sign = if generator.below(2) == 0 { 1.0 } else { -1.0 };
    let new = match generator.below(9) {
        0 => old + sign,
        1 => old + sign * 0.5,
        // A tie, and the last number on its other side.
        2 => old.trunc() + 0.5f64.copysign(old),
        3 => (old.trunc() + 0.5f64.copysign(old)).next_down(),
        4 => old + sign * 256f64.powi(generator.below(3) as i32),
        5 => -old,
        7 => old * (1.0 + 0.5 * generator.uniform()),
        6 => old + sign * generator.below(16) as f64,
        _ => {
            line.swap(place, other);
            return;
        }
    };
    if imaginary {
        line[place].im = new;
    } else {
        line[place].re = new;
    }
}
