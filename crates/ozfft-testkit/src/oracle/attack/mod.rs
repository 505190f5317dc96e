//! Inputs that aim at an error bound, not at a transform's weak spots in general.
//!
//! A bound adds up worst cases: the unit of the words as coarse as it can be, every rounding at its largest, low digits
//! that truncated products leave out at their extremes, and all of it in one direction. Random and hard inputs come
//! nowhere near. These do, as far as the first step of the first block goes, which most of a bound is about:
//!
//! * one column carries nearly all of the norm, in equal magnitudes whose sum is just above a power of two, so that the
//!   unit is as coarse as it can be; all other columns hold little more than low digits;
//! * the low digits of folded words are ±127, their signs along the leading direction of what truncated products leave
//!   out ([`step`](self) has the map);
//! * or all columns lie along what the rounding of matrix entries makes most of;
//! * every number lies half a unit off its word, to the side where that adds to the rest;
//! * then whole columns, and then single numbers, are changed at random, and what is worse is kept.
//!
//! What is aimed at is told in plain numbers ([`Aim`]): sizes of steps, digits. Nothing here knows the library.

mod climb;
mod step;

use crate::oracle::inputs::Generator;
use crate::oracle::roots::root_of_unity;
use num_complex::Complex;
use step::{AimedColumn, StepModel};

pub use climb::{Climbed, climb};

type Point = Complex<f64>;

/// Random starts of one aimed column.
const STARTS: usize = 24;

/// What kind of numbers a line has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Any.
    Complex,
    /// Imaginary parts are zero.
    Real,
    /// Number `n - j` is the conjugate of number `j`.
    Hermitian,
}

/// The transform of one line that is aimed at, in digits of 8 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aim {
    /// Points of the line.
    pub length: usize,
    /// Points of the first block: those that share one exponent. The line, or the convolution, has a multiple of them.
    pub block: usize,
    /// Points of the block's first step; a divisor of `block`.
    pub first: usize,
    /// Where the line goes through a convolution with a chirp: the convolution's length.
    pub convolution: Option<usize>,
    /// Digits of a data word; it has three bits less than they.
    pub data_digits: u32,
    /// Digits of a matrix entry.
    pub matrix_digits: u32,
    /// Diagonals of the digit product that are formed.
    pub diagonals: u32,
    /// What kind of numbers.
    pub numbers: Numbers,
    /// Numbers are conjugated before and after the transform, as for an inverse one.
    pub conjugated: bool,
}

/// How a line is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filling {
    /// Low digits that are at their extremes.
    pub levels: usize,
    /// Numbers lie half a unit off their words.
    pub ties: bool,
    /// Columns that carry the norm.
    pub large_columns: usize,
}

/// A transform that has been measured.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Error over bound.
    pub ratio: f64,
    /// The error of every output of the line, in any unit; empty if it is not known. Of a half-spectrum, the half.
    pub errors: Vec<Point>,
}

/// The worst that one attack has found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Which one.
    pub attack: String,
    /// Error over bound.
    pub ratio: f64,
    /// The line that does it.
    pub line: Vec<Point>,
    /// Transforms that were measured for it.
    pub tried: usize,
}

impl Aim {
    /// Low digits of a word that some matrix digit misses.
    pub fn levels(&self) -> usize {
        let first = (self.diagonals + 1).saturating_sub(self.data_digits);
        let levels = self.matrix_digits.saturating_sub(first);
        levels.min(self.data_digits) as usize
    }

    /// Points of the transform that the blocks make up.
    fn whole(&self) -> usize {
        self.convolution.unwrap_or(self.length)
    }

    /// The sum of a column's magnitudes that makes the unit 1, at the least.
    fn column_sum(&self) -> f64 {
        f64::from(8 * self.data_digits - 4).exp2()
    }

    fn is_real(&self) -> bool {
        self.numbers == Numbers::Real
    }

    /// Columns of a block.
    fn columns(&self) -> usize {
        self.block / self.first
    }

    /// The fillings that are worth a try.
    fn fillings(&self) -> Vec<Filling> {
        let mut fillings = Vec::new();
        let columns = self.columns();
        let mut large: Vec<usize> = vec![1, columns.div_ceil(4), columns];
        large.dedup();
        for large_columns in large {
            for levels in 0..=self.levels() {
                for ties in [true, false] {
                    if ties || levels > 0 {
                        fillings.push(Filling {
                            levels,
                            ties,
                            large_columns,
                        });
                    }
                }
            }
        }
        fillings
    }

    /// A line that aims at the bound.
    pub fn line(&self, filling: Filling, seed: u64) -> Vec<Point> {
        let mut generator = Generator::new(seed);
        let model = StepModel::new(self);
        let kind = (filling.levels, filling.ties, self.is_real());
        let small = model.best_aim(kind, STARTS, &mut generator);
        let large = large_column(self, &model, filling, &small, &mut generator);
        let small = column_values(self, &model, &small, None);
        let columns = self.columns();
        let lines = self.whole() / self.block;
        let mut whole = vec![Point::new(0.0, 0.0); self.whole()];
        for place in 0..lines * columns {
            let is_large = place / lines < filling.large_columns;
            self.put(&mut whole, place, if is_large { &large } else { &small });
        }
        self.finished(&whole)
    }

    /// A line whose columns all lie along what the rounding of the first step's matrix entries makes most of, with the same
    /// sign or with random ones.
    pub fn along_matrix_rounding(&self, random_signs: bool, seed: u64) -> Vec<Point> {
        let mut generator = Generator::new(seed);
        let column = StepModel::new(self).most_rounded(self.is_real(), &mut generator);
        let sum: f64 = column.iter().map(|x| x.re.abs() + x.im.abs()).sum();
        // Just below the next power of two, where the unit is finest.
        let scale = 1.999 * self.column_sum() / sum;
        let mut whole = vec![Point::new(0.0, 0.0); self.whole()];
        for place in 0..self.whole() / self.first {
            let negative = random_signs && generator.below(2) == 1;
            let factor = if negative { -scale } else { scale };
            let values: Vec<Point> = column.iter().map(|&x| x * factor).collect();
            self.put(&mut whole, place, &values);
        }
        self.finished(&whole)
    }

    /// Puts a column of the first step in its place, mirrored where the transform mirrors it.
    fn put(&self, whole: &mut [Point], place: usize, column: &[Point]) {
        let (lines, columns) = (self.whole() / self.block, self.columns());
        let step = lines * columns;
        let number = place / lines;
        for (j, &value) in column.iter().enumerate() {
            if 2 * number > columns {
                whole[place + step * (self.first - 1 - j)] = value.conj();
            } else {
                whole[place + step * j] = value;
            }
        }
    }

    /// The caller's line, from what the blocks shall see.
    fn finished(&self, whole: &[Point]) -> Vec<Point> {
        let n = self.length;
        let mut line = whole[..n].to_vec();
        if self.convolution.is_some() {
            for (j, value) in line.iter_mut().enumerate() {
                let square = (j as u128 * j as u128 % (2 * n) as u128) as usize;
                *value *= root_of_unity(square, 2 * n).conj().to_complex();
            }
        }
        self.fit(&mut line);
        if self.conjugated {
            line.iter_mut().for_each(|value| *value = value.conj());
        }
        line
    }

    /// Makes the numbers of a line what they have to be.
    pub fn fit(&self, line: &mut [Point]) {
        let n = line.len();
        match self.numbers {
            Numbers::Complex => {}
            Numbers::Real => line.iter_mut().for_each(|value| value.im = 0.0),
            Numbers::Hermitian => {
                for j in 0..=n / 2 {
                    if j == (n - j) % n {
                        line[j].im = 0.0;
                    } else {
                        line[n - j] = line[j].conj();
                    }
                }
            }
        }
    }

    /// The square of the error that every column of the first step is responsible for: what follows it keeps norms.
    fn column_energies(&self, errors: &[Point]) -> Vec<f64> {
        let (n, first) = (self.length, self.first);
        let columns = n / first;
        let error = |k: usize| match errors.get(k) {
            Some(&error) => error,
            None => errors.get(n - k).map_or(Point::new(0.0, 0.0), Point::conj),
        };
        let mut energies = vec![0.0; columns];
        let roots: Vec<Point> = (0..columns)
            .map(|p| root_of_unity(p, columns).conj().to_complex())
            .collect();
        for row in 0..first {
            let values: Vec<Point> = (0..columns)
                .map(|k| {
                    let value = error(row + first * k);
                    if self.conjugated { value.conj() } else { value }
                })
                .collect();
            for (column, energy) in energies.iter_mut().enumerate() {
                let terms = values.iter().enumerate();
                let sum: Point = terms.map(|(k, &x)| x * roots[k * column % columns]).sum();
                *energy += sum.norm_sqr();
            }
        }
        energies
    }
}

/// A number that is rounded to `word` and lies as far from it as `offset` says: half a unit, or a little less where a half
/// would go to the other side. Where doubles are too coarse, the nearest one.
fn off_the_word(word: i128, offset: f64) -> f64 {
    let word = word as f64;
    let tie = word - offset;
    if offset == 0.0 || word.abs() >= 2f64.powi(51) {
        return word;
    }
    // Halves are rounded away from zero.
    if tie.round() == word {
        tie
    } else if offset > 0.0 {
        tie.next_up()
    } else {
        tie.next_down()
    }
}

/// The numbers of a column, with high parts added to sums and differences where there are some.
fn column_values(
    aim: &Aim,
    model: &StepModel,
    column: &AimedColumn,
    highs: Option<&[[(i128, i128); 2]]>,
) -> Vec<Point> {
    let low = model.low_words(&column.low);
    let mut values = vec![Point::new(0.0, 0.0); model.n];
    let mut set = |index: usize, (re, im): (i128, i128)| {
        let tie = column.ties[index];
        let imaginary = if aim.is_real() {
            0.0
        } else {
            off_the_word(im, tie.im)
        };
        values[index] = Point::new(off_the_word(re, tie.re), imaginary);
    };
    for (number, (_, _, a, b)) in model.pairs().into_iter().enumerate() {
        let with_high = |part: usize| {
            let (re, im) = low[number][part];
            let high = highs.map_or((0, 0), |highs| highs[number][part]);
            (re + high.0, im + high.1)
        };
        let (sum, difference) = (with_high(0), with_high(1));
        match b {
            None => set(a, sum),
            Some(b) => {
                let half = |x: i128, y: i128| (x + y).div_euclid(2);
                set(a, (half(sum.0, difference.0), half(sum.1, difference.1)));
                set(b, (half(sum.0, -difference.0), half(sum.1, -difference.1)));
            }
        }
    }
    values
}

/// The column that carries the norm: equal magnitudes whose sum is just enough for the unit 1.
fn large_column(
    aim: &Aim,
    model: &StepModel,
    filling: Filling,
    small: &AimedColumn,
    generator: &mut Generator,
) -> Vec<Point> {
    let wanted = aim.column_sum();
    let directions = model.high_parts(aim.is_real(), generator);
    // High parts leave low digits alone where words have room for both; else low digits go.
    let parts = if aim.is_real() { 1.0 } else { 2.0 };
    let even = wanted / (parts * model.n as f64);
    let mut column = small.clone();
    // Not so fine that doubles would not notice it in the sum.
    let noticed = (even.log2().floor() - 40.0).exp2();
    let mut grain = 256f64.powi(filling.levels as i32).max(2.0).max(noticed);
    if 4.0 * grain > even {
        let ties = (0, filling.ties, aim.is_real());
        column = model.aim(ties.0, ties.1, ties.2, generator);
        grain = noticed.max(2.0);
    }
    let pairs = model.pairs();
    let mut counts: Vec<f64> = pairs
        .iter()
        .map(|pair| {
            let share = if pair.3.is_some() { 2.0 * even } else { even };
            (share / grain - 1.0).floor().max(0.0)
        })
        .collect();
    let build = |counts: &[f64]| {
        let highs: Vec<[(i128, i128); 2]> = directions
            .iter()
            .zip(counts)
            .map(|(direction, count)| {
                let size = count * grain;
                direction.map(|part| ((part.re * size) as i128, (part.im * size) as i128))
            })
            .collect();
        column_values(aim, model, &column, Some(&highs))
    };
    let sum = |values: &[Point]| -> f64 {
        values
            .iter()
            .map(|value| value.re.abs() + value.im.abs())
            .sum()
    };
    let mut values = build(&counts);
    let mut next = 0;
    while sum(&values) < wanted {
        // Jumps first, so that few turns are needed.
        let missing = (wanted - sum(&values)) / (parts * grain * pairs.len() as f64);
        if missing > 1.0 {
            counts
                .iter_mut()
                .for_each(|count| *count += missing.floor());
        } else {
            counts[next % pairs.len()] += 1.0;
            next += 1;
        }
        values = build(&counts);
    }
    values
}

/// Replaces whole columns by newly aimed ones and keeps, column by column, what is worse: all of them are tried in one
/// transform, because what follows the first step keeps their errors apart.
fn climb_columns(
    aim: &Aim,
    filling: Filling,
    start: &[Point],
    rounds: usize,
    seed: u64,
    measure: &mut impl FnMut(&[Point]) -> Measured,
) -> Option<Climbed> {
    let mut generator = Generator::new(seed);
    let model = StepModel::new(aim);
    let places = aim.length / aim.first;
    let (lines, kind) = (
        aim.length / aim.block,
        (filling.levels, filling.ties, aim.is_real()),
    );
    let undo = |line: &[Point]| -> Vec<Point> {
        let conjugate = |value: &Point| if aim.conjugated { value.conj() } else { *value };
        line.iter().map(conjugate).collect()
    };
    let first = measure(start);
    if first.errors.is_empty() || aim.convolution.is_some() || aim.numbers == Numbers::Hermitian {
        return None;
    }
    let mut line = undo(start);
    let mut energies = aim.column_energies(&first.errors);
    let mut best = Climbed {
        ratio: first.ratio,
        line: start.to_vec(),
        tried: 1,
        accepted: 0,
    };
    for _ in 0..rounds {
        let mut candidate = line.clone();
        for place in 0..places {
            // Columns that carry the norm stay.
            if place / lines >= filling.large_columns {
                let aimed = model.aim(kind.0, kind.1, kind.2, &mut generator);
                let values = column_values(aim, &model, &aimed, None);
                aim.put(&mut candidate, place, &values);
            }
        }
        let measured = measure(&aim.finished(&candidate));
        best.tried += 1;
        let new = aim.column_energies(&measured.errors);
        for place in 0..places {
            if new[place] > energies[place] {
                energies[place] = new[place];
                for j in 0..aim.first {
                    let index = place + places * j;
                    line[index] = candidate[index];
                }
            }
        }
        let kept = aim.finished(&line);
        let measured = measure(&kept);
        best.tried += 1;
        if measured.ratio > best.ratio {
            best.ratio = measured.ratio;
            best.line = kept;
            best.accepted += 1;
        }
    }
    Some(best)
}

/// All attacks on one transform: aimed lines, columns chosen one by one, and hill climbing from the worst of them with so
/// many steps. `measure` takes a line; `tell` hears of every attack that has ended. The worst is the last of the list.
pub fn campaign(
    aim: &Aim,
    seed: u64,
    steps: usize,
    measure: &mut impl FnMut(&[Point]) -> Measured,
    tell: &mut impl FnMut(&Found),
) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut note = |attack: String, climbed: Climbed| {
        let one = Found {
            attack,
            ratio: climbed.ratio,
            line: climbed.line,
            tried: climbed.tried,
        };
        tell(&one);
        found.push(one);
    };
    let mut worst: Option<(Filling, Climbed)> = None;
    for filling in aim.fillings() {
        let line = aim.line(filling, seed);
        let climbed = Climbed {
            ratio: measure(&line).ratio,
            line,
            tried: 1,
            accepted: 0,
        };
        note(filling.to_string(), climbed.clone());
        if worst
            .as_ref()
            .is_none_or(|(_, worst)| climbed.ratio > worst.ratio)
        {
            worst = Some((filling, climbed));
        }
    }
    let Some((filling, mut best)) = worst else {
        unreachable!("there is always a filling");
    };
    let aimed = best.line.clone();
    let mut origin = filling.to_string();
    for random_signs in [false, true] {
        let line = aim.along_matrix_rounding(random_signs, seed);
        let climbed = Climbed {
            ratio: measure(&line).ratio,
            line,
            tried: 1,
            accepted: 0,
        };
        let signs = if random_signs {
            "random signs"
        } else {
            "one sign"
        };
        let name = format!("along the matrix's rounding, {signs}");
        note(name.clone(), climbed.clone());
        if climbed.ratio > best.ratio {
            (best, origin) = (climbed, name);
        }
    }
    // Every round takes two transforms, and columns cost as much as they bring.
    let rounds = (steps / 8).max(1);
    if aim.columns() * (aim.length / aim.block) > 1
        && let Some(climbed) = climb_columns(aim, filling, &aimed, rounds, seed, measure)
    {
        let name = format!("columns one by one, from {filling}");
        note(name.clone(), climbed.clone());
        if climbed.ratio > best.ratio {
            (best, origin) = (climbed, name);
        }
    }
    let fit = |line: &mut [Point]| aim.fit(line);
    let climbed = climb(&best.line, steps, seed, fit, |line| measure(line).ratio);
    note(format!("hill climbing from: {origin}"), climbed);
    found.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    found
}

impl core::fmt::Display for Filling {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let ties = if self.ties { "ties" } else { "no ties" };
        write!(
            formatter,
            "{} low digits, {ties}, {} large columns",
            self.levels, self.large_columns
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AIM: Aim = Aim {
        length: 1024,
        block: 1024,
        first: 32,
        convolution: None,
        data_digits: 8,
        matrix_digits: 7,
        diagonals: 8,
        numbers: Numbers::Complex,
        conjugated: false,
    };

    fn column_sums(aim: &Aim, line: &[Point]) -> Vec<f64> {
        let columns = aim.length / aim.first;
        (0..columns)
            .map(|column| {
                line[column..]
                    .iter()
                    .step_by(columns)
                    .map(|x| x.re.abs() + x.im.abs())
                    .sum()
            })
            .collect()
    }

    #[test]
    fn the_largest_column_sum_just_exceeds_the_aimed_one() {
        for (numbers, data_digits) in [
            (Numbers::Complex, 8),
            (Numbers::Real, 8),
            (Numbers::Complex, 3),
        ] {
            let aim = Aim {
                numbers,
                data_digits,
                matrix_digits: data_digits - 1,
                diagonals: data_digits,
                ..AIM
            };
            let filling = Filling {
                levels: aim.levels(),
                ties: true,
                large_columns: 1,
            };
            let sums = column_sums(&aim, &aim.line(filling, 3));
            let largest = sums.iter().copied().fold(0.0, f64::max);
            let excess = largest / aim.column_sum() - 1.0;
            assert!((0.0..0.05).contains(&excess), "{numbers:?}: {excess}");
            assert!(sums[1] < 0.6 * largest, "{numbers:?}: {sums:?}");
        }
    }

    #[test]
    fn a_large_column_of_any_digits_and_length_is_found() {
        // With grains below the precision of its sum it grew for ever.
        for data_digits in [2, 3, 8] {
            for first in [2, 3, 4, 16, 61] {
                for numbers in [Numbers::Complex, Numbers::Real, Numbers::Hermitian] {
                    let aim = Aim {
                        length: first,
                        block: first,
                        first,
                        data_digits,
                        matrix_digits: (data_digits - 1).max(2),
                        diagonals: data_digits,
                        numbers,
                        ..AIM
                    };
                    for filling in aim.fillings() {
                        let line = aim.line(filling, 1);
                        assert!(line.iter().all(|x| x.re.is_finite() && x.im.is_finite()));
                    }
                }
            }
        }
    }

    #[test]
    fn ties_are_rounded_to_their_words() {
        for word in [-300, -1, 0, 1, 2, 255] {
            for offset in [0.5, -0.5] {
                let number = off_the_word(word, offset);
                assert_eq!(number.round(), word as f64);
                assert!(((word as f64 - number) - offset).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn errors_are_attributed_to_the_columns_that_caused_them() {
        let aim = Aim {
            length: 60,
            block: 60,
            first: 15,
            ..AIM
        };
        let mut line = vec![Point::new(0.0, 0.0); 60];
        let mut generator = Generator::new(8);
        for value in line.iter_mut().skip(2).step_by(4) {
            *value = generator.uniform_complex();
        }
        let spectrum: Vec<Point> = crate::oracle::dft(&line, crate::oracle::Direction::Forward)
            .values
            .iter()
            .map(|value| value.to_complex())
            .collect();
        let energies = aim.column_energies(&spectrum);
        let total: f64 = energies.iter().sum();
        assert!(energies[2] > 0.999_999 * total, "{energies:?}");
    }
}
