//! What a small DFT in digits leaves out, as a linear map of the data's low digits, and the data that make it largest.
//!
//! A step of `n` points folds its column into sums and differences of pairs, and multiplies them by a cosine and a sine
//! matrix. Matrix digit `i` (0 is the leading one) misses the last `c = i - (diagonals - data digits)` digits of a folded
//! word: what is left out is linear in those digits, and a column's error is
//!
//! ```text
//! DFT(rounding errors of quantising) - dropped(low digits) + (matrix rounding) * data
//! ```
//!
//! Everything here is in units of the words, in plain double precision: an aim need not be exact.

use super::Aim;
use crate::oracle::inputs::Generator;
use crate::oracle::roots::root_of_unity;
use num_complex::Complex;

type Point = Complex<f64>;

/// Largest digit whose negative is a digit as well.
pub(super) const DIGIT: f64 = 127.0;

/// The first step of a block, as a map.
pub(super) struct StepModel {
    pub(super) n: usize,
    /// Pairs are `j` and `n-1-j`, and the exponents `(j + 1/2)·k`; else `j` and `n-j`, and `j·k`.
    shifted: bool,
    /// Low digits of a word that some matrix digit misses.
    pub(super) levels: usize,
    cosine: Matrix,
    sine: Matrix,
    roots: Vec<Point>,
}

/// One of the two matrices: what it makes of low digits, and its rounding errors.
struct Matrix {
    slots: usize,
    /// For every row, slot and level: what a digit of one leaves out of the row's sum.
    dropped: Vec<f64>,
    /// For every row and slot: how far the entry is off.
    rounding: Vec<f64>,
}

/// Signs of all low digits: of every slot and level, of the sums, then of the differences, real and imaginary.
#[derive(Clone)]
pub(super) struct LowDigits {
    cosine: Vec<Point>,
    sine: Vec<Point>,
}

/// A column that is aimed: signs of low digits, and of the rounding errors of quantising.
#[derive(Clone)]
pub(super) struct AimedColumn {
    pub(super) low: LowDigits,
    pub(super) ties: Vec<Point>,
    /// The square of the error's norm that the map predicts, over all outputs.
    pub(super) energy: f64,
}

/// +1 or -1.
fn sign(value: f64) -> f64 {
    if value < 0.0 { -1.0 } else { 1.0 }
}

fn signs(value: Point, real: bool) -> Point {
    let imaginary = if real { 0.0 } else { sign(value.im) };
    Point::new(sign(value.re), imaginary)
}

fn energy(values: &[Point]) -> f64 {
    values.iter().map(Point::norm_sqr).sum()
}

impl Matrix {
    /// From the angle of every row and slot, in units of half an n-th of a turn.
    fn new(
        slots: usize,
        aim: &Aim,
        levels: usize,
        angle: impl Fn(usize, usize) -> usize,
        is_sine: bool,
    ) -> Matrix {
        let period = 2 * aim.first;
        let one = DIGIT * 256f64.powi(aim.matrix_digits as i32 - 1);
        let first = (aim.diagonals + 1).saturating_sub(aim.data_digits);
        let mut matrix = Matrix {
            slots,
            dropped: Vec::new(),
            rounding: Vec::new(),
        };
        for row in 0..slots {
            for slot in 0..slots {
                let root = root_of_unity(angle(slot, row) % period, period);
                // Roots turn clockwise: the sine is the imaginary part of the other one.
                let value = if is_sine { root.conj().im } else { root.re };
                let scaled = value * one.into();
                // Both parts of the product are integers and fractions of their own, so nothing is lost.
                let high = scaled.hi.round();
                let rest = (scaled.hi - high) + scaled.lo;
                let entry = high as i128 + rest.round() as i128;
                matrix.rounding.push((rest.round() - rest) / one);
                let digits = balanced_digits(entry, aim.matrix_digits);
                for level in 0..levels {
                    let missing = (first..aim.matrix_digits)
                        .filter(|&i| (i - first) as usize >= level)
                        .map(|i| {
                            let weight = 256f64.powi((aim.matrix_digits - 1 - i) as i32);
                            f64::from(digits[i as usize]) * weight
                        });
                    let missing: f64 = missing.sum();
                    matrix
                        .dropped
                        .push(missing * 256f64.powi(level as i32) * DIGIT / one);
                }
            }
        }
        matrix
    }

    fn product(&self, table: &[f64], levels: usize, data: &[Point]) -> Vec<Point> {
        let width = self.slots * levels;
        (0..self.slots)
            .map(|row| {
                let entries = &table[row * width..][..width];
                entries.iter().zip(data).map(|(&g, &x)| x * g).sum()
            })
            .collect()
    }

    fn transposed(&self, table: &[f64], levels: usize, sums: &[Point]) -> Vec<Point> {
        let width = self.slots * levels;
        (0..width)
            .map(|place| {
                sums.iter()
                    .enumerate()
                    .map(|(row, &sum)| sum * table[row * width + place])
                    .sum()
            })
            .collect()
    }
}

/// Balanced base-256 digits, the leading one first.
fn balanced_digits(entry: i128, count: u32) -> Vec<i32> {
    let mut digits = vec![0; count as usize];
    let mut rest = entry;
    for digit in digits.iter_mut().rev() {
        let low = (rest + 128).rem_euclid(256) - 128;
        *digit = low as i32;
        rest = (rest - low) / 256;
    }
    assert_eq!(rest, 0, "{count} digits do not hold {entry}");
    digits
}

impl StepModel {
    /// The first step of the aim's blocks.
    pub(super) fn new(aim: &Aim) -> StepModel {
        let n = aim.first;
        let unit = n == 2 || n == 4;
        let shifted = !unit && n.is_multiple_of(2);
        let levels = if unit { 0 } else { aim.levels() };
        let half = n / 2;
        let or_half = |index: usize| if index == 0 { half } else { index };
        let (cosine, sine) = if shifted {
            (
                Matrix::new(half, aim, levels, |j, k| (2 * j + 1) * k, false),
                Matrix::new(half, aim, levels, |j, k| (2 * j + 1) * or_half(k), true),
            )
        } else {
            let sines = (n - 1) / 2;
            (
                Matrix::new(half + 1, aim, levels, |j, k| 2 * j * k, false),
                Matrix::new(sines, aim, levels, |j, k| 2 * (j + 1) * (k + 1), true),
            )
        };
        let root = |p: usize| root_of_unity(p, 2 * n).to_complex();
        StepModel {
            n,
            shifted,
            levels,
            cosine,
            sine,
            roots: (0..2 * n).map(root).collect(),
        }
    }

    /// Sums and differences of pairs that a column is made of: places of `cosine` and `sine` slots with the indices
    /// of their pair. Elements that are alone have no second index.
    pub(super) fn pairs(&self) -> Vec<(usize, Option<usize>, usize, Option<usize>)> {
        let (n, half) = (self.n, self.n / 2);
        if self.shifted {
            return (0..half)
                .map(|j| (j, Some(j), j, Some(n - 1 - j)))
                .collect();
        }
        let alone = std::iter::once((0, None, 0, None));
        let paired = (1..n.div_ceil(2)).map(|j| (j, Some(j - 1), j, Some(n - j)));
        let middle = n.is_multiple_of(2).then_some((half, None, half, None));
        alone.chain(paired).chain(middle).collect()
    }

    fn exponent(&self, j: usize, k: usize) -> usize {
        (2 * j + usize::from(self.shifted)) * k % (2 * self.n)
    }

    /// The step itself.
    fn transform(&self, column: &[Point]) -> Vec<Point> {
        let output = |k| {
            let terms = column.iter().enumerate();
            terms
                .map(|(j, &x)| x * self.roots[self.exponent(j, k)])
                .sum()
        };
        (0..self.n).map(output).collect()
    }

    /// Its adjoint.
    fn adjoint(&self, outputs: &[Point]) -> Vec<Point> {
        let input = |j| {
            let terms = outputs.iter().enumerate();
            terms
                .map(|(k, &y)| y * self.roots[self.exponent(j, k)].conj())
                .sum()
        };
        (0..self.n).map(input).collect()
    }

    /// Outputs from cosine and sine sums: `C - iS`, and for the other one of two `C + iS`, negated after a shift.
    fn outputs(&self, cosine: &[Point], sine: &[Point]) -> Vec<Point> {
        let (n, i) = (self.n, Point::i());
        let partner = if self.shifted { -1.0 } else { 1.0 };
        let mut outputs = vec![Point::new(0.0, 0.0); n];
        for (k, &sum) in cosine.iter().enumerate() {
            outputs[k] += sum;
            if k > 0 && 2 * k != n {
                outputs[n - k] += sum * partner;
            }
        }
        for (row, &sum) in sine.iter().enumerate() {
            let k = self.sine_output(row);
            outputs[k] -= i * sum;
            if 2 * k != n {
                outputs[n - k] += i * sum * partner;
            }
        }
        outputs
    }

    fn sine_output(&self, row: usize) -> usize {
        match (self.shifted, row) {
            (true, 0) => self.n / 2,
            (true, row) => row,
            (false, row) => row + 1,
        }
    }

    /// The adjoint of [`Self::outputs`].
    fn sums(&self, outputs: &[Point]) -> (Vec<Point>, Vec<Point>) {
        let (n, i) = (self.n, Point::i());
        let partner = if self.shifted { -1.0 } else { 1.0 };
        let cosine = |k: usize| {
            let other = if k > 0 && 2 * k != n {
                outputs[n - k] * partner
            } else {
                Point::new(0.0, 0.0)
            };
            outputs[k] + other
        };
        let sine = |row: usize| {
            let k = self.sine_output(row);
            let other = if 2 * k != n {
                outputs[n - k] * partner
            } else {
                Point::new(0.0, 0.0)
            };
            i * (outputs[k] - other)
        };
        (
            (0..self.cosine.slots).map(cosine).collect(),
            (0..self.sine.slots).map(sine).collect(),
        )
    }

    fn dropped(&self, low: &LowDigits) -> Vec<Point> {
        let levels = self.levels;
        self.outputs(
            &self
                .cosine
                .product(&self.cosine.dropped, levels, &low.cosine),
            &self.sine.product(&self.sine.dropped, levels, &low.sine),
        )
    }

    /// A column whose errors are as large as alternating maximisation makes them from a random start: every low digit
    /// below `levels` at an extreme, and with `ties` every number half a unit off its word.
    pub(super) fn aim(
        &self,
        levels: usize,
        ties: bool,
        real: bool,
        generator: &mut Generator,
    ) -> AimedColumn {
        let levels = levels.min(self.levels);
        // Digits from `levels` on are zero.
        let mask = |place: usize| f64::from(u8::from(place % self.levels.max(1) < levels));
        let mut random = |count: usize| -> Vec<Point> {
            (0..count)
                .map(|_| signs(generator.uniform_complex(), real))
                .collect()
        };
        let masked = |mut values: Vec<Point>| {
            for (place, value) in values.iter_mut().enumerate() {
                *value *= mask(place);
            }
            values
        };
        let mut low = LowDigits {
            cosine: masked(random(self.cosine.slots * self.levels)),
            sine: masked(random(self.sine.slots * self.levels)),
        };
        let mut halves: Vec<Point> = random(self.n).iter().map(|&s| s * 0.5).collect();
        if !ties {
            halves.fill(Point::new(0.0, 0.0));
        }
        let mut best: Option<AimedColumn> = None;
        loop {
            let dropped = self.dropped(&low);
            if ties {
                // Every choice of signs has the same norm, so that only the angle to the rest counts.
                let wanted = self.adjoint(&dropped);
                let moved = halves.iter_mut().zip(wanted);
                moved.for_each(|(half, wanted)| *half = signs(-wanted, real) * 0.5);
            }
            let error: Vec<Point> = self
                .transform(&halves)
                .iter()
                .zip(&dropped)
                .map(|(&a, &b)| a - b)
                .collect();
            let energy = energy(&error);
            if best.as_ref().is_some_and(|best| best.energy >= energy) {
                break;
            }
            best = Some(AimedColumn {
                low: low.clone(),
                ties: halves.clone(),
                energy,
            });
            if levels == 0 {
                break;
            }
            let (cosine, sine) = self.sums(&error);
            let turned =
                |wanted: Vec<Point>| masked(wanted.into_iter().map(|x| signs(-x, real)).collect());
            low = LowDigits {
                cosine: turned(
                    self.cosine
                        .transposed(&self.cosine.dropped, self.levels, &cosine),
                ),
                sine: turned(self.sine.transposed(&self.sine.dropped, self.levels, &sine)),
            };
        }
        best.unwrap_or_else(|| unreachable!("the first round is always better than none"))
    }

    /// The best of several starts.
    pub(super) fn best_aim(
        &self,
        (levels, ties, real): (usize, bool, bool),
        starts: usize,
        generator: &mut Generator,
    ) -> AimedColumn {
        (0..starts.max(1))
            .map(|_| self.aim(levels, ties, real, generator))
            .reduce(|best, other| {
                if other.energy > best.energy {
                    other
                } else {
                    best
                }
            })
            .unwrap_or_else(|| unreachable!("at least one start"))
    }

    /// The word of a sum or a difference: its low digits, each ±127 or 0.
    fn low_word(&self, digits: &[Point], slot: usize) -> (i128, i128) {
        let levels = &digits[slot * self.levels..][..self.levels];
        levels.iter().rev().fold((0, 0), |(re, im), digit| {
            (
                256 * re + (DIGIT * digit.re) as i128,
                256 * im + (DIGIT * digit.im) as i128,
            )
        })
    }

    /// The low words of a column's sums and differences, real and imaginary parts, pair by pair as in [`Self::pairs`].
    pub(super) fn low_words(&self, low: &LowDigits) -> Vec<[(i128, i128); 2]> {
        self.pairs()
            .iter()
            .map(|&(cosine, sine, ..)| {
                [
                    self.low_word(&low.cosine, cosine),
                    sine.map_or((0, 0), |slot| self.low_word(&low.sine, slot)),
                ]
            })
            .collect()
    }

    /// Sums and differences of a column's pairs, slot by slot.
    fn folded(&self, column: &[Point]) -> (Vec<Point>, Vec<Point>) {
        let zero = Point::new(0.0, 0.0);
        let (mut cosine, mut sine) = (vec![zero; self.cosine.slots], vec![zero; self.sine.slots]);
        for (sum, difference, a, b) in self.pairs() {
            cosine[sum] = column[a] + b.map_or(zero, |b| column[b]);
            if let (Some(difference), Some(b)) = (difference, b) {
                sine[difference] = column[a] - column[b];
            }
        }
        (cosine, sine)
    }

    /// The column of norm 1 that the matrices' rounding makes the most of: the leading singular vector, by iteration.
    pub(super) fn most_rounded(&self, real: bool, generator: &mut Generator) -> Vec<Point> {
        const ITERATIONS: usize = 60;
        let mut column: Vec<Point> = (0..self.n).map(|_| generator.uniform_complex()).collect();
        for _ in 0..ITERATIONS {
            if real {
                column.iter_mut().for_each(|value| value.im = 0.0);
            }
            let norm = energy(&column).sqrt();
            if norm == 0.0 {
                break;
            }
            column.iter_mut().for_each(|value| *value /= norm);
            let (cosine, sine) = self.folded(&column);
            let error = self.outputs(
                &self.cosine.product(&self.cosine.rounding, 1, &cosine),
                &self.sine.product(&self.sine.rounding, 1, &sine),
            );
            let (cosine, sine) = self.sums(&error);
            let cosine = self.cosine.transposed(&self.cosine.rounding, 1, &cosine);
            let sine = self.sine.transposed(&self.sine.rounding, 1, &sine);
            let old = column.clone();
            for (sum, difference, a, b) in self.pairs() {
                let other = difference.map_or(Point::new(0.0, 0.0), |slot| sine[slot]);
                column[a] = cosine[sum] + other;
                if let Some(b) = b {
                    column[b] = cosine[sum] - other;
                }
            }
            // Entries of unit steps are exact.
            if energy(&column) == 0.0 {
                return old;
            }
        }
        column
    }

    /// For every pair, whether its large part shall be in the sum or in the difference, and the signs of both parts: so
    /// that what the matrices' rounding makes of equal magnitudes is large.
    pub(super) fn high_parts(&self, real: bool, generator: &mut Generator) -> Vec<[Point; 2]> {
        let zero = Point::new(0.0, 0.0);
        let pairs = self.pairs();
        let place = |pair: &(usize, Option<usize>, usize, Option<usize>), is_sine: bool| {
            if is_sine { pair.1 } else { Some(pair.0) }
        };
        let mut highs: Vec<[Point; 2]> = pairs
            .iter()
            .map(|pair| {
                let part = signs(generator.uniform_complex(), real);
                let in_sine = pair.1.is_some() && generator.below(2) == 1;
                if in_sine { [zero, part] } else { [part, zero] }
            })
            .collect();
        for _ in 0..8 {
            let (mut cosine, mut sine) =
                (vec![zero; self.cosine.slots], vec![zero; self.sine.slots]);
            for (pair, high) in pairs.iter().zip(&highs) {
                cosine[pair.0] = high[0];
                if let Some(slot) = pair.1 {
                    sine[slot] = high[1];
                }
            }
            let error = self.outputs(
                &self.cosine.product(&self.cosine.rounding, 1, &cosine),
                &self.sine.product(&self.sine.rounding, 1, &sine),
            );
            let (cosine, sine) = self.sums(&error);
            let wanted = [
                self.cosine.transposed(&self.cosine.rounding, 1, &cosine),
                self.sine.transposed(&self.sine.rounding, 1, &sine),
            ];
            for (pair, high) in pairs.iter().zip(&mut highs) {
                let gain = |is_sine: bool| {
                    place(pair, is_sine).map_or(zero, |slot| wanted[usize::from(is_sine)][slot])
                };
                let size = |x: Point| x.re.abs() + if real { 0.0 } else { x.im.abs() };
                let in_sine = pair.1.is_some() && size(gain(true)) > size(gain(false));
                let part = signs(gain(in_sine), real);
                *high = if in_sine { [zero, part] } else { [part, zero] };
            }
        }
        highs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::attack::Numbers;

    fn aim(first: usize) -> Aim {
        Aim {
            length: first,
            block: first,
            first,
            convolution: None,
            data_digits: 8,
            matrix_digits: 7,
            diagonals: 8,
            numbers: Numbers::Complex,
            conjugated: false,
        }
    }

    #[test]
    fn folded_sums_are_the_step() {
        for n in [3, 5, 6, 8, 15, 16, 25, 32] {
            let model = StepModel::new(&aim(n));
            let mut generator = Generator::new(n as u64);
            let column: Vec<Point> = (0..n).map(|_| generator.uniform_complex()).collect();
            let (cosine, sine) = model.folded(&column);
            // Entries from the roots themselves.
            let entry = |slot: usize, row: usize, is_sine: bool| {
                let or_half = |k: usize| if k == 0 { n / 2 } else { k };
                let angle = match (model.shifted, is_sine) {
                    (true, false) => (2 * slot + 1) * row,
                    (true, true) => (2 * slot + 1) * or_half(row),
                    (false, false) => 2 * slot * row,
                    (false, true) => 2 * (slot + 1) * (row + 1),
                };
                let root = root_of_unity(angle % (2 * n), 2 * n).to_complex();
                if is_sine { -root.im } else { root.re }
            };
            let product = |matrix: &Matrix, data: &[Point], is_sine: bool| -> Vec<Point> {
                (0..matrix.slots)
                    .map(|row| {
                        let terms = data.iter().enumerate();
                        terms.map(|(slot, &x)| x * entry(slot, row, is_sine)).sum()
                    })
                    .collect()
            };
            let outputs = model.outputs(
                &product(&model.cosine, &cosine, false),
                &product(&model.sine, &sine, true),
            );
            for (a, b) in outputs.iter().zip(model.transform(&column)) {
                assert!((a - b).norm() < 1e-13 * n as f64, "{n}: {a} {b}");
            }
        }
    }

    #[test]
    fn adjoints_are_adjoint() {
        let model = StepModel::new(&aim(12));
        let mut generator = Generator::new(5);
        let mut random = |count: usize| -> Vec<Point> {
            (0..count).map(|_| generator.uniform_complex()).collect()
        };
        let dot = |a: &[Point], b: &[Point]| -> Point {
            a.iter().zip(b).map(|(x, y)| x.conj() * y).sum()
        };
        let (outputs, column) = (random(12), random(12));
        let (cosine, sine) = (random(6), random(6));
        let difference =
            dot(&model.transform(&column), &outputs) - dot(&column, &model.adjoint(&outputs));
        assert!(difference.norm() < 1e-12);
        let (cosine_sums, sine_sums) = model.sums(&outputs);
        let difference = dot(&model.outputs(&cosine, &sine), &outputs)
            - dot(&cosine, &cosine_sums)
            - dot(&sine, &sine_sums);
        assert!(difference.norm() < 1e-12);
    }

    #[test]
    fn an_aimed_column_is_worse_than_a_random_one() {
        let model = StepModel::new(&aim(32));
        let mut generator = Generator::new(1);
        let aimed = model.best_aim((6, true, false), 20, &mut generator);
        let chosen = |generator: &mut Generator| {
            let low = LowDigits {
                cosine: (0..16 * 6).map(|_| generator.uniform_complex()).collect(),
                sine: (0..16 * 6).map(|_| generator.uniform_complex()).collect(),
            };
            energy(&model.dropped(&low))
        };
        let random: f64 = (0..50).map(|_| chosen(&mut generator)).sum::<f64>() / 50.0;
        assert!(aimed.energy > 4.0 * random, "{} {random}", aimed.energy);
    }
}
