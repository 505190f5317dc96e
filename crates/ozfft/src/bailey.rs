//! A line under one exponent: the loop over small DFT steps, with a rotation between them (Bailey's decomposition).
//!
//! With `N = n1·N'`, input index `N'·j1 + j'` and output index `k1 + n1·k'`, the first step transforms the columns
//! `j'`, a rotation follows, and the rest is a transform of length `N'` for every `k1`. All words are integers; what
//! rounds is the shift after a product and the rotation.
//!
//! Two symmetries are built into the *definition* of the result, so that real transforms can later skip half of the
//! work and still return the same bits:
//! - column `n1-k1` of the first step is computed as column `k1` of the conjugated input, so for real input the two
//!   are the same words;
//! - input column `N'-j'` is computed as column `j'` of the reversed and conjugated input, so for Hermitian input
//!   they are the same words.
//!
//! Both cost nothing but signs, and the first rotation table is a quarter of its size.

use crate::matrix_unit::{MatrixUnit, UnitScratch};
use crate::problem::Family;
use crate::quantise::Columns;
use crate::recipe::{BlockRecipe, Digits, Fold, StepRecipe};
use crate::reconstruct::round_shift;
use crate::roots::{self, Fixed};
use crate::tables::{StepMatrices, Tables, slots};
use crate::twiddle::Twiddle;
use crate::workspace::{Wide, take, wide_complex, words_for};
use num_complex::Complex;
use std::sync::Arc;

/// One step with its tables.
#[derive(Debug)]
struct Step {
    recipe: StepRecipe,
    /// Length of what follows: the elements of a column lie `inner` apart.
    inner: usize,
    /// None for unit steps, whose entries are 0 and ±1.
    matrices: Option<Arc<StepMatrices>>,
    /// Rotations after the step; empty after the last of several steps.
    rotations: Vec<Twiddle>,
    /// Entries per row of `rotations`.
    rotation_stride: usize,
    /// Mirrored columns of the first step change sign (when the next step's output is shifted by half a sample).
    mirror_negates: bool,
    /// Bits by which the sums are shifted down.
    product_shift: u32,
}

/// A planned line: steps and tables for one length.
#[derive(Debug)]
pub(crate) struct Block {
    n: usize,
    digits: Digits,
    family: Family,
    steps: Vec<Step>,
    /// First output index of every group of the last step, and whether the group is mirrored.
    groups: Vec<(usize, bool)>,
    /// An output is its wide integer times 2^(line exponent + this).
    exponent_offset: i32,
}

/// Scratch memory for one column of a step.
pub(crate) struct BlockScratch<'a> {
    column: &'a mut [Complex<i64>],
    folded: &'a mut [i64],
    planes: &'a mut [i8],
    diagonals: &'a mut [i32],
    /// Four stretches: cosine and sine sums of the real part, then of the imaginary part.
    sums: &'a mut [Wide],
}

/// The four sums that belong to one output: the products of cosine and sine with the real and imaginary parts.
#[derive(Clone, Copy)]
struct Quad {
    cosine_re: i128,
    sine_re: i128,
    cosine_im: i128,
    sine_im: i128,
    /// Bits still to be shifted off.
    shift: u32,
}

impl Quad {
    fn value(&self, re: i128, im: i128) -> Complex<i128> {
        Complex::new(round_shift(re, self.shift), round_shift(im, self.shift))
    }

    /// Output `k`: cosine minus i times sine.
    fn output(&self) -> Complex<i128> {
        self.value(self.cosine_re + self.sine_im, self.cosine_im - self.sine_re)
    }

    /// Output `k` of the conjugated input.
    fn output_of_conjugate(&self) -> Complex<i128> {
        self.value(
            self.cosine_re - self.sine_im,
            -self.cosine_im - self.sine_re,
        )
    }

    /// The output that shares its sums with `k`: `n-k`, or `n-1-k` after a frequency shift.
    fn partner(&self, fold: Fold) -> Complex<i128> {
        match fold {
            Fold::TimeShifted => self.value(
                self.sine_im - self.cosine_re,
                -self.cosine_im - self.sine_re,
            ),
            _ => self.value(self.cosine_re - self.sine_im, self.cosine_im + self.sine_re),
        }
    }
}

/// The row of the cosine and of the sine product that belong to output `k`, `0 <= k <= n/2`.
fn rows(step: &StepRecipe, k: usize) -> (Option<usize>, Option<usize>) {
    let n = step.n;
    match step.fold {
        Fold::Unit | Fold::Plain => (Some(k), (k > 0 && 2 * k < n).then(|| k - 1)),
        // The sine of k = n/2 sits in the row that k = 0 leaves free.
        Fold::TimeShifted if 2 * k == n => (None, Some(0)),
        Fold::TimeShifted => (Some(k), (k > 0).then_some(k)),
        Fold::FrequencyShifted => (Some(k), Some(k)),
    }
}

/// Folds a column into the inputs of the cosine products (`cosine`) and sine products (`sine`) for one component.
fn fold(step: &StepRecipe, component: impl Fn(usize) -> i64, cosine: &mut [i64], sine: &mut [i64]) {
    let n = step.n;
    match step.fold {
        Fold::Unit | Fold::Plain => {
            cosine[0] = component(0);
            for j in 1..n.div_ceil(2) {
                cosine[j] = component(j) + component(n - j);
                sine[j - 1] = component(j) - component(n - j);
            }
            if n.is_multiple_of(2) {
                cosine[n / 2] = component(n / 2);
            }
        }
        Fold::TimeShifted => {
            for j in 0..n / 2 {
                cosine[j] = component(j) + component(n - 1 - j);
                sine[j] = component(j) - component(n - 1 - j);
            }
        }
        Fold::FrequencyShifted => {
            cosine[0] = component(0);
            sine[0] = component(n / 2);
            for j in 1..n / 2 {
                cosine[j] = component(j) - component(n - j);
                sine[j] = component(j) + component(n - j);
            }
        }
    }
}

/// The sums of a unit step, by additions only: sizes 2 and 4.
fn unit_sums(
    n: usize,
    cosine: &[i64],
    sine: &[i64],
    cosine_sums: &mut [Wide],
    sine_sums: &mut [Wide],
) {
    let wide = |x: i64| i128::from(x);
    if n == 2 {
        cosine_sums[0] = (wide(cosine[0]) + wide(cosine[1])).into();
        cosine_sums[1] = (wide(cosine[0]) - wide(cosine[1])).into();
    } else {
        let outer = wide(cosine[0]) + wide(cosine[2]);
        cosine_sums[0] = (outer + wide(cosine[1])).into();
        cosine_sums[1] = (wide(cosine[0]) - wide(cosine[2])).into();
        cosine_sums[2] = (outer - wide(cosine[1])).into();
        sine_sums[0] = wide(sine[0]).into();
    }
}

impl Step {
    fn new(
        recipe: StepRecipe,
        inner: usize,
        first: bool,
        next: Option<&StepRecipe>,
        digits: Digits,
        scale: &Fixed,
        tables: &Tables,
    ) -> Step {
        let n = recipe.n;
        let unit = recipe.fold == Fold::Unit;
        // Rotation numerators over 2·n·inner: the index product, less this step's input shift, less the next
        // step's output shift.
        let length = (n * inner) as u64;
        let input_shift = u64::from(recipe.fold == Fold::TimeShifted);
        let output_shift = u64::from(next.is_some_and(|s| s.fold == Fold::FrequencyShifted));
        let (rows, rotation_stride) = if first {
            (n / 2 + 1, inner / 2 + 1)
        } else {
            (n, inner)
        };
        let one = Fixed::one();
        let scale = if first { scale } else { &one };
        let rotates = next.is_some() || (first && !(unit && scale.is_one()));
        let rotation = |k: u64, j: u64| {
            let numerator = i128::from(2 * j * k)
                - i128::from(input_shift * inner as u64 * k)
                - i128::from(output_shift * n as u64 * j);
            let p = numerator.rem_euclid(i128::from(2 * length)) as u64;
            let (re, im) = roots::twiddle(p, 2 * length, scale);
            Twiddle::new(re, im)
        };
        let rotations = if rotates {
            (0..rows as u64)
                .flat_map(|k| (0..rotation_stride as u64).map(move |j| (k, j)))
                .map(|(k, j)| rotation(k, j))
                .collect()
        } else {
            Vec::new()
        };
        Step {
            recipe,
            inner,
            matrices: tables.matrices(&recipe, digits),
            rotations,
            rotation_stride,
            mirror_negates: output_shift == 1,
            product_shift: recipe.shift + if unit { 0 } else { digits.product_shift() },
        }
    }

    /// Multiplies the gathered column by the step's matrices.
    fn multiply(&self, unit: &dyn MatrixUnit, digits: Digits, scratch: &mut BlockScratch<'_>) {
        let n = self.recipe.n;
        let column = &scratch.column[..n];
        let (cosine_slots, sine_slots) = slots(&self.recipe);
        let stretch = n / 2 + 1;
        for (part, sums) in scratch
            .sums
            .chunks_exact_mut(2 * stretch)
            .take(2)
            .enumerate()
        {
            let (cosine_sums, sine_sums) = sums.split_at_mut(stretch);
            let (cosine, rest) = scratch.folded.split_at_mut(cosine_slots);
            let sine = &mut rest[..sine_slots];
            if part == 0 {
                fold(&self.recipe, |j| column[j].re, cosine, sine);
            } else {
                fold(&self.recipe, |j| column[j].im, cosine, sine);
            }
            match &self.matrices {
                None => unit_sums(n, cosine, sine, cosine_sums, sine_sums),
                Some(matrices) => {
                    let mut memory = UnitScratch {
                        planes: scratch.planes,
                        diagonals: scratch.diagonals,
                    };
                    unit.multiply(&matrices.cosine, digits, cosine, &mut memory, cosine_sums);
                    unit.multiply(&matrices.sine, digits, sine, &mut memory, sine_sums);
                }
            }
        }
    }

    /// The sums that belong to output `k`. Truncated products are rounded one by one, exact ones after combining.
    fn quad(&self, k: usize, family: Family, sums: &[Wide]) -> Quad {
        let stretch = self.recipe.n / 2 + 1;
        let (cosine, sine) = rows(&self.recipe, k);
        let shift_now = match family {
            Family::Truncated => self.product_shift,
            Family::Exact => 0,
        };
        let at = |row: Option<usize>, part: usize| {
            row.map_or(0, |row| {
                round_shift(sums[part * stretch + row].get(), shift_now)
            })
        };
        Quad {
            cosine_re: at(cosine, 0),
            sine_re: at(sine, 1),
            cosine_im: at(cosine, 2),
            sine_im: at(sine, 3),
            shift: self.product_shift - shift_now,
        }
    }
}

/// A sum that is known to fit a word.
#[inline]
fn word(value: Complex<i128>) -> Complex<i64> {
    debug_assert!(
        value.re.unsigned_abs() < 1 << 62 && value.im.unsigned_abs() < 1 << 62,
        "head-room: {value} does not fit a word"
    );
    Complex::new(value.re as i64, value.im as i64)
}

fn conjugate(z: Complex<i64>) -> Complex<i64> {
    Complex::new(z.re, -z.im)
}

impl Block {
    /// Tables for a recipe. Outputs are scaled by `scale`, a factor in (1/2, 1].
    pub(crate) fn new(
        recipe: &BlockRecipe,
        digits: Digits,
        family: Family,
        scale: &Fixed,
        tables: &Tables,
    ) -> Block {
        let n = recipe.len();
        let count = recipe.steps.len();
        // A product comes out 127/128 times too large or small; the first rotation makes up for all steps.
        let compensation = Fixed::ratio(128, 127);
        let scale = recipe
            .steps
            .iter()
            .filter(|step| step.fold != Fold::Unit)
            .fold(scale.clone(), |scale, _| scale.multiply(&compensation));
        let mut inner = n;
        let steps: Vec<Step> = recipe
            .steps
            .iter()
            .enumerate()
            .map(|(i, &step)| {
                inner /= step.n;
                let next = recipe.steps.get(i + 1);
                Step::new(step, inner, i == 0, next, digits, &scale, tables)
            })
            .collect();
        let last = recipe.steps[count - 1].n;
        let groups = (0..n / last)
            .map(|group| {
                // Mixed-radix digits of the group are the output digits, the most significant first.
                let (mut rest, mut below) = (group, n / last);
                let (mut index, mut weight) = (0, 1);
                let mut mirrored = false;
                for (i, step) in recipe.steps[..count - 1].iter().enumerate() {
                    below /= step.n;
                    let mut k = rest / below;
                    rest %= below;
                    if i == 0 && 2 * k > step.n {
                        mirrored = true;
                        k = step.n - k;
                    }
                    index += weight * k;
                    weight *= step.n;
                }
                (index, mirrored)
            })
            .collect();
        let shifts: u32 = recipe.steps.iter().map(|s| s.shift).sum();
        Block {
            n,
            digits,
            family,
            steps,
            groups,
            exponent_offset: shifts as i32,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.n
    }

    pub(crate) fn exponent_offset(&self) -> i32 {
        self.exponent_offset
    }

    /// How the line is to be quantised.
    pub(crate) fn columns(&self) -> Columns {
        Columns {
            columns: self.steps[0].inner,
            word_bits: self.digits.word_bits(),
        }
    }

    fn largest_step(&self) -> usize {
        self.steps.iter().map(|s| s.recipe.n).max().unwrap_or(1)
    }

    /// 64-bit words of scratch memory.
    pub(crate) fn scratch_len(&self) -> usize {
        let n = self.largest_step();
        let stretch = n / 2 + 1;
        words_for::<Complex<i64>>(n)
            + words_for::<i64>(2 * stretch)
            + words_for::<i8>(stretch * self.digits.data as usize)
            + words_for::<i32>(self.digits.diagonals as usize)
            + words_for::<Wide>(4 * stretch)
    }

    /// Cuts the scratch memory off a workspace.
    pub(crate) fn scratch<'a>(&self, workspace: &mut &'a mut [u64]) -> BlockScratch<'a> {
        let n = self.largest_step();
        let stretch = n / 2 + 1;
        BlockScratch {
            column: take(workspace, n),
            folded: take(workspace, 2 * stretch),
            planes: take(workspace, stretch * self.digits.data as usize),
            diagonals: take(workspace, self.digits.diagonals as usize),
            sums: take(workspace, 4 * stretch),
        }
    }

    /// Transforms the words of a line; the outputs are wide integers in natural order. The words are used up.
    pub(crate) fn run(
        &self,
        unit: &dyn MatrixUnit,
        words: &mut [Complex<i64>],
        outputs: &mut [Complex<Wide>],
        scratch: &mut BlockScratch<'_>,
    ) {
        debug_assert!(words.len() == self.n && outputs.len() == self.n);
        let last = self.steps.len() - 1;
        if last == 0 {
            self.only_step(unit, words, outputs, scratch);
            return;
        }
        self.first_step(unit, words, scratch);
        for step in &self.steps[1..last] {
            self.middle_step(step, unit, words, scratch);
        }
        self.last_step(unit, words, outputs, scratch);
    }

    fn only_step(
        &self,
        unit: &dyn MatrixUnit,
        words: &[Complex<i64>],
        outputs: &mut [Complex<Wide>],
        scratch: &mut BlockScratch<'_>,
    ) {
        let (step, n) = (&self.steps[0], self.n);
        scratch.column[..n].copy_from_slice(words);
        step.multiply(unit, self.digits, scratch);
        let turn = |value: Complex<i128>, k: usize| match step.rotations.get(k) {
            None => value,
            Some(rotation) => {
                let turned = rotation.rotate(word(value));
                Complex::new(turned.re.into(), turned.im.into())
            }
        };
        for k in 0..=n / 2 {
            let quad = step.quad(k, self.family, scratch.sums);
            let value = turn(quad.output(), k);
            outputs[k] = wide_complex(value.re, value.im);
            if k > 0 && 2 * k < n {
                let mirrored = turn(quad.output_of_conjugate(), k);
                outputs[n - k] = wide_complex(mirrored.re, -mirrored.im);
            }
        }
    }

    fn first_step(
        &self,
        unit: &dyn MatrixUnit,
        words: &mut [Complex<i64>],
        scratch: &mut BlockScratch<'_>,
    ) {
        let step = &self.steps[0];
        let (n, inner) = (step.recipe.n, step.inner);
        for j in 0..inner {
            let mirrored = 2 * j > inner;
            for (i, slot) in scratch.column[..n].iter_mut().enumerate() {
                *slot = if mirrored {
                    conjugate(words[inner * (n - 1 - i) + j])
                } else {
                    words[inner * i + j]
                };
            }
            step.multiply(unit, self.digits, scratch);
            let source = if mirrored { inner - j } else { j };
            let turn = |value: Complex<i128>, k: usize| {
                let z = step.rotations[k * step.rotation_stride + source].rotate(word(value));
                match (mirrored, step.mirror_negates) {
                    (false, _) => z,
                    (true, false) => conjugate(z),
                    (true, true) => -conjugate(z),
                }
            };
            for k in 0..=n / 2 {
                let quad = step.quad(k, self.family, scratch.sums);
                words[k * inner + j] = turn(quad.output(), k);
                if k > 0 && 2 * k < n {
                    words[(n - k) * inner + j] = turn(quad.output_of_conjugate(), k);
                }
            }
        }
    }

    fn middle_step(
        &self,
        step: &Step,
        unit: &dyn MatrixUnit,
        words: &mut [Complex<i64>],
        scratch: &mut BlockScratch<'_>,
    ) {
        let (n, inner) = (step.recipe.n, step.inner);
        for group in words.chunks_exact_mut(n * inner) {
            for j in 0..inner {
                for (i, slot) in scratch.column[..n].iter_mut().enumerate() {
                    *slot = group[inner * i + j];
                }
                step.multiply(unit, self.digits, scratch);
                for k in 0..=n / 2 {
                    let quad = step.quad(k, self.family, scratch.sums);
                    group[k * inner + j] =
                        step.rotations[k * inner + j].rotate(word(quad.output()));
                    if k > 0 && 2 * k < n {
                        let k = n - k;
                        group[k * inner + j] = step.rotations[k * inner + j]
                            .rotate(word(quad.partner(step.recipe.fold)));
                    }
                }
            }
        }
    }

    fn last_step(
        &self,
        unit: &dyn MatrixUnit,
        words: &[Complex<i64>],
        outputs: &mut [Complex<Wide>],
        scratch: &mut BlockScratch<'_>,
    ) {
        let step = &self.steps[self.steps.len() - 1];
        let n = step.recipe.n;
        let shifted = step.recipe.fold == Fold::FrequencyShifted;
        let stride = self.n / n;
        for (group, &(start, mirrored)) in words.chunks_exact(n).zip(&self.groups) {
            scratch.column[..n].copy_from_slice(group);
            step.multiply(unit, self.digits, scratch);
            let mut store = |k: usize, value: Complex<i128>| {
                let index = start + stride * k;
                if mirrored {
                    outputs[self.n - index] = wide_complex(value.re, -value.im);
                } else {
                    outputs[index] = wide_complex(value.re, value.im);
                }
            };
            let pairs = if shifted { n / 2 } else { n / 2 + 1 };
            for k in 0..pairs {
                let quad = step.quad(k, self.family, scratch.sums);
                store(k, quad.output());
                if shifted {
                    store(n - 1 - k, quad.partner(step.recipe.fold));
                } else if k > 0 && 2 * k < n {
                    store(n - k, quad.partner(step.recipe.fold));
                }
            }
        }
    }
}
