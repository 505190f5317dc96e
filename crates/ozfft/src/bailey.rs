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

use crate::lanes::{Row, WideRow, add, each, subtract};
use crate::matrix_unit::{self, MatrixUnit, PackedMatrix};
use crate::problem::Family;
use crate::quantise::Columns;
use crate::recipe::{BlockRecipe, Digits, Fold, StepRecipe};
use crate::reconstruct::round_limbs;
use crate::roots::{self, Fixed};
use crate::tables::{StepMatrices, Tables, slots};
use crate::twiddle::Twiddle;
use crate::workspace::{take, words_for};
use std::sync::Arc;

/// One step with its tables.
#[derive(Debug)]
struct Step {
    recipe: StepRecipe,
    /// Length of what follows: the elements of a column lie `inner` apart.
    inner: usize,
    /// None for unit steps, whose entries are 0 and ±1.
    matrices: Option<Matrices>,
    /// Rotations after the step; empty after the last of several steps.
    rotations: Vec<Twiddle>,
    /// Entries per row of `rotations`.
    rotation_stride: usize,
    /// Mirrored columns of the first step change sign (when the next step's output is shifted by half a sample).
    mirror_negates: bool,
    /// Bits by which the sums are shifted down.
    product_shift: u32,
}

/// Cosine and sine matrix, in digits and packed for the vector units.
#[derive(Debug)]
struct Matrices {
    digits: Arc<StepMatrices>,
    cosine: PackedMatrix,
    sine: PackedMatrix,
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

/// Complex words of `L` lines.
pub(crate) struct Panel<'a, const L: usize> {
    pub(crate) re: &'a mut [Row<L>],
    pub(crate) im: &'a mut [Row<L>],
}

impl<'a, const L: usize> Panel<'a, L> {
    /// 64-bit words that a panel of `n` elements takes.
    pub(crate) fn len(n: usize) -> usize {
        2 * words_for::<Row<L>>(n)
    }

    pub(crate) fn new(workspace: &mut &'a mut [u64], n: usize) -> Self {
        Panel {
            re: take(workspace, n),
            im: take(workspace, n),
        }
    }
}

/// Complex wide integers of `L` lines, normalised.
pub(crate) struct WidePanel<'a, const L: usize> {
    pub(crate) high: Panel<'a, L>,
    pub(crate) low: Panel<'a, L>,
}

impl<'a, const L: usize> WidePanel<'a, L> {
    /// 64-bit words that a panel of `n` elements takes.
    pub(crate) fn len(n: usize) -> usize {
        2 * Panel::<L>::len(n)
    }

    pub(crate) fn new(workspace: &mut &'a mut [u64], n: usize) -> Self {
        WidePanel {
            high: Panel::new(workspace, n),
            low: Panel::new(workspace, n),
        }
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, index: usize, re: &WideRow<L>, im: &WideRow<L>) {
        let (re, im) = (re.normalised(), im.normalised());
        self.high.re[index] = re.high;
        self.low.re[index] = re.low;
        self.high.im[index] = im.high;
        self.low.im[index] = im.low;
    }
}

/// Scratch memory for one column of a step.
pub(crate) struct BlockScratch<'a, const L: usize> {
    /// Cosine and sine inputs of the real part, then of the imaginary part.
    folded: &'a mut [Row<L>],
    bytes: &'a mut [i8],
    /// Four stretches: cosine and sine sums of the real part, then of the imaginary part.
    limbs: &'a mut [Row<L>],
}

/// The four rounded values that two outputs with the same cosine and sine sums are made of.
struct Quad<const L: usize> {
    /// Cosine of the real part plus, and minus, sine of the imaginary part.
    re_sum: WideRow<L>,
    re_difference: WideRow<L>,
    /// Sine of the real part plus, and minus, cosine of the imaginary part.
    im_sum: WideRow<L>,
    im_difference: WideRow<L>,
}

type WideComplex<const L: usize> = (WideRow<L>, WideRow<L>);

impl<const L: usize> Quad<L> {
    /// Output `k`: cosine minus i times sine.
    #[inline(always)]
    fn output(&self) -> WideComplex<L> {
        (self.re_sum, self.im_difference.negated())
    }

    /// Output `k` of the conjugated input.
    #[inline(always)]
    fn output_of_conjugate(&self) -> WideComplex<L> {
        (self.re_difference, self.im_sum.negated())
    }

    /// The output that shares its sums with `k`: `n-k`, or `n-1-k` after a frequency shift.
    #[inline(always)]
    fn partner(&self, fold: Fold) -> WideComplex<L> {
        match fold {
            Fold::TimeShifted => (self.re_difference.negated(), self.im_sum.negated()),
            _ => (self.re_difference, self.im_sum),
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
#[inline(always)]
fn fold<const L: usize>(
    step: &StepRecipe,
    component: impl Fn(usize) -> Row<L>,
    cosine: &mut [Row<L>],
    sine: &mut [Row<L>],
) {
    let n = step.n;
    match step.fold {
        Fold::Unit | Fold::Plain => {
            cosine[0] = component(0);
            for j in 1..n.div_ceil(2) {
                cosine[j] = add(&component(j), &component(n - j));
                sine[j - 1] = subtract(&component(j), &component(n - j));
            }
            if n.is_multiple_of(2) {
                cosine[n / 2] = component(n / 2);
            }
        }
        Fold::TimeShifted => {
            for j in 0..n / 2 {
                cosine[j] = add(&component(j), &component(n - 1 - j));
                sine[j] = subtract(&component(j), &component(n - 1 - j));
            }
        }
        Fold::FrequencyShifted => {
            cosine[0] = component(0);
            sine[0] = component(n / 2);
            for j in 1..n / 2 {
                cosine[j] = subtract(&component(j), &component(n - j));
                sine[j] = add(&component(j), &component(n - j));
            }
        }
    }
}

/// Row `k` of the cosine product of a unit step, by additions only: sizes 2 and 4.
#[inline(always)]
fn unit_cosine<const L: usize>(n: usize, k: usize, inputs: &[Row<L>]) -> WideRow<L> {
    let input = |i: usize| WideRow::from_words(&inputs[i]);
    match (n, k) {
        (2, 0) => input(0).plus(&input(1)),
        (2, _) => input(0).minus(&input(1)),
        (_, 0) => input(0).plus(&input(2)).plus(&input(1)),
        (_, 1) => input(0).minus(&input(2)),
        _ => input(0).plus(&input(2)).minus(&input(1)),
    }
}

/// `sums / 2^shift`, rounded, halves upwards.
#[inline(always)]
fn shifted<const L: usize>(sums: &WideRow<L>, shift: u32) -> WideRow<L> {
    if shift == 0 {
        return *sums;
    }
    // Below 2^88 in all, and the shift is that of a middle step of 2 or 4 points: the high part keeps its unit.
    let whole: [i128; L] = std::array::from_fn(|l| (sums.get(l) + (1 << (shift - 1))) >> shift);
    WideRow {
        high: each(|l| (whole[l] >> crate::lanes::LOW_BITS) as i64),
        low: each(|l| (whole[l] & ((1 << crate::lanes::LOW_BITS) - 1)) as i64),
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
            matrices: tables.matrices(&recipe, digits).map(|matrices| Matrices {
                cosine: PackedMatrix::new(&matrices.cosine, digits),
                sine: PackedMatrix::new(&matrices.sine, digits),
                digits: matrices,
            }),
            rotations,
            rotation_stride,
            mirror_negates: output_shift == 1,
            product_shift: recipe.shift + if unit { 0 } else { digits.product_shift() },
        }
    }

    /// Multiplies a column, given by its elements' real and imaginary rows, by the step's matrices.
    #[inline(always)]
    fn multiply<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        digits: Digits,
        re: impl Fn(usize) -> Row<L>,
        im: impl Fn(usize) -> Row<L>,
        scratch: &mut BlockScratch<'_, L>,
    ) {
        let (cosine_slots, sine_slots) = slots(&self.recipe);
        let stretch = self.recipe.n / 2 + 1;
        let (folded_re, folded_im) = scratch.folded.split_at_mut(2 * stretch);
        for (part, folded) in [folded_re, folded_im].into_iter().enumerate() {
            let (cosine, sine) = folded.split_at_mut(stretch);
            if part == 0 {
                fold(&self.recipe, &re, cosine, sine);
            } else {
                fold(&self.recipe, &im, cosine, sine);
            }
            let Some(matrices) = &self.matrices else {
                continue;
            };
            let count = digits.limbs();
            let limbs = &mut scratch.limbs[2 * part * stretch * count..];
            let (cosine_limbs, sine_limbs) = limbs.split_at_mut(stretch * count);
            unit.multiply(
                &matrices.digits.cosine,
                &matrices.cosine,
                digits,
                &cosine[..cosine_slots],
                scratch.bytes,
                &mut cosine_limbs[..cosine_slots * count],
            );
            unit.multiply(
                &matrices.digits.sine,
                &matrices.sine,
                digits,
                &sine[..sine_slots],
                scratch.bytes,
                &mut sine_limbs[..sine_slots * count],
            );
        }
    }

    /// The rounded values that belong to output `k`. Truncated products are rounded one by one, exact ones after
    /// combining.
    #[inline(always)]
    fn quad<const L: usize>(
        &self,
        k: usize,
        digits: Digits,
        family: Family,
        scratch: &BlockScratch<'_, L>,
    ) -> Quad<L> {
        let stretch = self.recipe.n / 2 + 1;
        let (cosine, sine) = rows(&self.recipe, k);
        if self.matrices.is_none() {
            let n = self.recipe.n;
            let folded = |part: usize| &scratch.folded[part * stretch..(part + 1) * stretch];
            let cosine = |part: usize| unit_cosine(n, k, folded(part));
            let sine = |part: usize| match sine {
                Some(row) => WideRow::from_words(&folded(part)[row]),
                None => WideRow::ZERO,
            };
            let (cosine_re, sine_re, cosine_im, sine_im) = (cosine(0), sine(1), cosine(2), sine(3));
            let shift = self.product_shift;
            return Quad {
                re_sum: shifted(&cosine_re.plus(&sine_im), shift),
                re_difference: shifted(&cosine_re.minus(&sine_im), shift),
                im_sum: shifted(&sine_re.plus(&cosine_im), shift),
                im_difference: shifted(&sine_re.minus(&cosine_im), shift),
            };
        }
        let count = digits.limbs();
        let limbs = |row: Option<usize>, part: usize| {
            row.map(|row| &scratch.limbs[(part * stretch + row) * count..][..count])
        };
        let (cosine_re, sine_re) = (limbs(cosine, 0), limbs(sine, 1));
        let (cosine_im, sine_im) = (limbs(cosine, 2), limbs(sine, 3));
        match family {
            Family::Truncated => {
                let round = |limbs: Option<&[Row<L>]>| {
                    limbs.map_or(WideRow::ZERO, |limbs| {
                        round_limbs(limbs, self.product_shift)
                    })
                };
                let (cosine_re, sine_re) = (round(cosine_re), round(sine_re));
                let (cosine_im, sine_im) = (round(cosine_im), round(sine_im));
                Quad {
                    re_sum: cosine_re.plus(&sine_im),
                    re_difference: cosine_re.minus(&sine_im),
                    im_sum: sine_re.plus(&cosine_im),
                    im_difference: sine_re.minus(&cosine_im),
                }
            }
            Family::Exact => {
                let combine = |a: Option<&[Row<L>]>, b: Option<&[Row<L>]>, minus: bool| {
                    let mut sum = [[0i64; L]; 4];
                    for (g, sum) in sum.iter_mut().enumerate().take(count) {
                        let a = a.map_or([0; L], |a| a[g]);
                        let b = b.map_or([0; L], |b| b[g]);
                        *sum = if minus { subtract(&a, &b) } else { add(&a, &b) };
                    }
                    round_limbs(&sum[..count], self.product_shift)
                };
                Quad {
                    re_sum: combine(cosine_re, sine_im, false),
                    re_difference: combine(cosine_re, sine_im, true),
                    im_sum: combine(sine_re, cosine_im, false),
                    im_difference: combine(sine_re, cosine_im, true),
                }
            }
        }
    }
}

#[inline(always)]
fn negated<const L: usize>(row: &Row<L>) -> Row<L> {
    each(|l| -row[l])
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
    pub(crate) fn scratch_len<const L: usize>(&self) -> usize {
        let stretch = self.largest_step() / 2 + 1;
        words_for::<Row<L>>(4 * stretch)
            + words_for::<i8>(matrix_unit::scratch_len(stretch, L))
            + words_for::<Row<L>>(4 * stretch * self.digits.limbs())
    }

    /// Cuts the scratch memory off a workspace.
    pub(crate) fn scratch<'a, const L: usize>(
        &self,
        workspace: &mut &'a mut [u64],
    ) -> BlockScratch<'a, L> {
        let stretch = self.largest_step() / 2 + 1;
        BlockScratch {
            folded: take(workspace, 4 * stretch),
            bytes: take(workspace, matrix_unit::scratch_len(stretch, L)),
            limbs: take(workspace, 4 * stretch * self.digits.limbs()),
        }
    }

    /// Transforms the words of `L` lines; the outputs are wide integers in natural order. The words are used up.
    #[inline(always)]
    pub(crate) fn run<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        words: &mut Panel<'_, L>,
        outputs: &mut WidePanel<'_, L>,
        scratch: &mut BlockScratch<'_, L>,
    ) {
        debug_assert!(words.re.len() == self.n && outputs.high.re.len() == self.n);
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

    #[inline(always)]
    fn only_step<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        words: &Panel<'_, L>,
        outputs: &mut WidePanel<'_, L>,
        scratch: &mut BlockScratch<'_, L>,
    ) {
        let (step, n) = (&self.steps[0], self.n);
        step.multiply(unit, self.digits, |i| words.re[i], |i| words.im[i], scratch);
        let turn = |(re, im): WideComplex<L>, k: usize| match step.rotations.get(k) {
            None => (re, im),
            Some(rotation) => {
                let (re, im) = rotation.rotate_row(&re.words(), &im.words());
                (WideRow::from_words(&re), WideRow::from_words(&im))
            }
        };
        for k in 0..=n / 2 {
            let quad = step.quad(k, self.digits, self.family, scratch);
            let (re, im) = turn(quad.output(), k);
            outputs.set(k, &re, &im);
            if k > 0 && 2 * k < n {
                let (re, im) = turn(quad.output_of_conjugate(), k);
                outputs.set(n - k, &re, &im.negated());
            }
        }
    }

    #[inline(always)]
    fn first_step<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        words: &mut Panel<'_, L>,
        scratch: &mut BlockScratch<'_, L>,
    ) {
        let step = &self.steps[0];
        let (n, inner) = (step.recipe.n, step.inner);
        for j in 0..inner {
            let mirrored = 2 * j > inner;
            if mirrored {
                let at = |i: usize| inner * (n - 1 - i) + j;
                let (re, im) = (|i| words.re[at(i)], |i| negated(&words.im[at(i)]));
                step.multiply(unit, self.digits, re, im, scratch);
            } else {
                let at = |i: usize| inner * i + j;
                let (re, im) = (|i| words.re[at(i)], |i| words.im[at(i)]);
                step.multiply(unit, self.digits, re, im, scratch);
            }
            let source = if mirrored { inner - j } else { j };
            let turn = |(re, im): WideComplex<L>, k: usize| {
                let rotation = &step.rotations[k * step.rotation_stride + source];
                let (re, im) = rotation.rotate_row(&re.words(), &im.words());
                match (mirrored, step.mirror_negates) {
                    (false, _) => (re, im),
                    (true, false) => (re, negated(&im)),
                    (true, true) => (negated(&re), im),
                }
            };
            for k in 0..=n / 2 {
                let quad = step.quad(k, self.digits, self.family, scratch);
                let place = k * inner + j;
                (words.re[place], words.im[place]) = turn(quad.output(), k);
                if k > 0 && 2 * k < n {
                    let place = (n - k) * inner + j;
                    (words.re[place], words.im[place]) = turn(quad.output_of_conjugate(), k);
                }
            }
        }
    }

    #[inline(always)]
    fn middle_step<const L: usize, U: MatrixUnit<L>>(
        &self,
        step: &Step,
        unit: U,
        words: &mut Panel<'_, L>,
        scratch: &mut BlockScratch<'_, L>,
    ) {
        let (n, inner) = (step.recipe.n, step.inner);
        for group in (0..self.n).step_by(n * inner) {
            for j in 0..inner {
                let at = |i: usize| group + inner * i + j;
                let (re, im) = (|i| words.re[at(i)], |i| words.im[at(i)]);
                step.multiply(unit, self.digits, re, im, scratch);
                let turn = |(re, im): WideComplex<L>, k: usize| {
                    step.rotations[k * inner + j].rotate_row(&re.words(), &im.words())
                };
                for k in 0..=n / 2 {
                    let quad = step.quad(k, self.digits, self.family, scratch);
                    (words.re[at(k)], words.im[at(k)]) = turn(quad.output(), k);
                    if k > 0 && 2 * k < n {
                        let k = n - k;
                        let partner = quad.partner(step.recipe.fold);
                        (words.re[at(k)], words.im[at(k)]) = turn(partner, k);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn last_step<const L: usize, U: MatrixUnit<L>>(
        &self,
        unit: U,
        words: &Panel<'_, L>,
        outputs: &mut WidePanel<'_, L>,
        scratch: &mut BlockScratch<'_, L>,
    ) {
        let step = &self.steps[self.steps.len() - 1];
        let n = step.recipe.n;
        let shifted = step.recipe.fold == Fold::FrequencyShifted;
        let stride = self.n / n;
        for (group, &(start, mirrored)) in self.groups.iter().enumerate() {
            let at = |i: usize| group * n + i;
            let (re, im) = (|i| words.re[at(i)], |i| words.im[at(i)]);
            step.multiply(unit, self.digits, re, im, scratch);
            let mut store = |k: usize, (re, im): WideComplex<L>| {
                let index = start + stride * k;
                if mirrored {
                    outputs.set(self.n - index, &re, &im.negated());
                } else {
                    outputs.set(index, &re, &im);
                }
            };
            let pairs = if shifted { n / 2 } else { n / 2 + 1 };
            for k in 0..pairs {
                let quad = step.quad(k, self.digits, self.family, scratch);
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
