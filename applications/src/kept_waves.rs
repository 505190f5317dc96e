//! Transforms of half-spectra of which a rule keeps some wave numbers alone, axis by axis: lines of zeros are not transformed, and lines that nobody will look at are not
//! computed. Every other line is the same line of the same transform, so that not a bit differs.
//!
//! Under the 2/3 rule a third of each axis is zero: of three axes of complex lines, complex lines and reals there remain four ninths, two thirds, and all.

use num_complex::Complex;
use ozfft::{AxisPlan, FftError, Plan, Planner};
use rayon::prelude::*;

type C = Complex<f64>;

/// Which wave numbers are kept along the second and the last axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    shape: [usize; 3],
    /// Indices along the second axis.
    second: Vec<usize>,
    /// Along the last axis these are the first ones.
    last: usize,
}

impl Kept {
    /// By which indices a rule keeps along the second axis, and along the last one, of a half-spectrum; none where those of the last axis are not the first.
    pub fn new(shape: [usize; 3], second: &[bool], last: &[bool]) -> Option<Kept> {
        let count = last.iter().take_while(|&&keep| keep).count();
        let all = second.len() == shape[1] && last.len() == shape[2] / 2 + 1;
        let fits = all && count > 0 && !last[count..].contains(&true);
        fits.then(|| Kept {
            shape,
            second: (0..second.len()).filter(|&index| second[index]).collect(),
            last: count,
        })
    }

    fn half(&self) -> usize {
        self.shape[2] / 2 + 1
    }
}

/// The axes of one direction, and what lies between them.
pub struct KeptTransform {
    kept: Kept,
    /// In the order of the whole plan's axes.
    axes: [AxisPlan<f64>; 3],
    workspace: Vec<u64>,
    /// Kept along both axes, along the last one, and whole rows, which are zero beyond.
    packed: Vec<C>,
    middle: Vec<C>,
    rows: Vec<C>,
    powers: Vec<i32>,
}

impl KeptTransform {
    /// For a plan of three axes of the engine digits on the processor.
    pub fn new(whole: &Plan<f64>, kept: Kept, batch: usize) -> Result<KeptTransform, FftError> {
        let planner = Planner::<f64>::new();
        let [a, b, c] = kept.shape;
        let order = whole.axis_order();
        let shape_of = |axis: usize| match axis {
            0 => [a, kept.second.len(), kept.last],
            1 => [a, b, kept.last],
            _ => [a, b, c],
        };
        let axis = |number: usize| planner.plan_axis(whole, number, &shape_of(order[number]));
        let axes = [axis(0)?, axis(1)?, axis(2)?];
        let zeros = |count: usize| vec![C::new(0.0, 0.0); batch * count];
        Ok(KeptTransform {
            workspace: vec![0; axes.iter().map(AxisPlan::workspace_len).max().unwrap_or(0)],
            powers: vec![0; axes[0].transforms()],
            axes,
            packed: zeros(a * kept.second.len() * kept.last),
            middle: zeros(a * b * kept.last),
            rows: zeros(a * b * kept.half()),
            kept,
        })
    }

    fn find_powers(&mut self, whole: &Plan<f64>) {
        for power in &mut self.powers {
            *power = whole.power_between_axes(*power);
        }
    }

    /// Half-spectra that are zero where nothing is kept, to reals.
    pub fn inverse(
        &mut self,
        whole: &Plan<f64>,
        spectra: &[C],
        fields: &mut [f64],
    ) -> Result<(), FftError> {
        let [_, b, _] = self.kept.shape;
        let (half, last) = (self.kept.half(), self.kept.last);
        let second = &self.kept.second;
        // Planes of equal indices along the first axis and in the batch.
        let planes = self.packed.par_chunks_mut(second.len() * last);
        planes
            .zip(spectra.par_chunks(b * half))
            .for_each(|(packed, spectrum)| {
                for (row, &index) in packed.chunks_mut(last).zip(second) {
                    row.copy_from_slice(&spectrum[index * half..][..last]);
                }
            });
        self.axes[0].largest_exponents(&self.packed, &mut self.powers)?;
        self.find_powers(whole);
        self.axes[0].process(&mut self.packed, &self.powers, &mut self.workspace)?;
        let second = &self.kept.second;
        let planes = self.middle.par_chunks_mut(b * last);
        planes
            .zip(self.packed.par_chunks(second.len() * last))
            .for_each(|(middle, packed)| {
                middle.fill(C::new(0.0, 0.0));
                for (row, &index) in packed.chunks(last).zip(second) {
                    middle[index * last..][..last].copy_from_slice(row);
                }
            });
        self.axes[1].process(&mut self.middle, &self.powers, &mut self.workspace)?;
        let rows = self.rows.par_chunks_mut(b * half);
        rows.zip(self.middle.par_chunks(b * last))
            .for_each(|(rows, middle)| {
                for (row, middle) in rows.chunks_mut(half).zip(middle.chunks(last)) {
                    row[..last].copy_from_slice(middle);
                }
            });
        let (powers, workspace) = (&self.powers, &mut self.workspace);
        self.axes[2].process_complex_to_real(&self.rows, fields, powers, workspace)
    }

    /// Reals to half-spectra, of which all that is not kept stays as it is.
    pub fn forward(
        &mut self,
        whole: &Plan<f64>,
        fields: &[f64],
        spectra: &mut [C],
    ) -> Result<(), FftError> {
        let [_, b, _] = self.kept.shape;
        let (half, last) = (self.kept.half(), self.kept.last);
        self.axes[0].largest_exponents_of_reals(fields, &mut self.powers)?;
        self.find_powers(whole);
        let (powers, workspace) = (&self.powers, &mut self.workspace);
        self.axes[0].process_real_to_complex(fields, &mut self.rows, powers, workspace)?;
        let middle = self.middle.par_chunks_mut(b * last);
        middle
            .zip(self.rows.par_chunks(b * half))
            .for_each(|(middle, rows)| {
                for (row, middle) in rows.chunks(half).zip(middle.chunks_mut(last)) {
                    middle.copy_from_slice(&row[..last]);
                }
            });
        self.axes[1].process(&mut self.middle, &self.powers, &mut self.workspace)?;
        let second = &self.kept.second;
        let planes = self.packed.par_chunks_mut(second.len() * last);
        planes
            .zip(self.middle.par_chunks(b * last))
            .for_each(|(packed, middle)| {
                for (row, &index) in packed.chunks_mut(last).zip(second) {
                    row.copy_from_slice(&middle[index * last..][..last]);
                }
            });
        self.axes[2].process(&mut self.packed, &self.powers, &mut self.workspace)?;
        let second = &self.kept.second;
        let planes = self.packed.par_chunks(second.len() * last);
        planes
            .zip(spectra.par_chunks_mut(b * half))
            .for_each(|(packed, spectrum)| {
                for (row, &index) in packed.chunks(last).zip(second) {
                    spectrum[index * half..][..last].copy_from_slice(row);
                }
            });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ozfft::Problem;
    use ozfft_testkit::oracle::inputs::Generator;

    #[test]
    fn both_directions_have_the_bits_of_the_whole() {
        const SEED: u64 = 64;
        let mut generator = Generator::new(SEED);
        let mut random = || (generator.next_u64() as i64) as f64 / (1u64 << 40) as f64;
        let shape = [12, 10, 14];
        let [a, b, c] = shape;
        let keep = |index: usize, n: usize| 3 * index.min(n - index) < n;
        let second: Vec<bool> = (0..b).map(|index| keep(index, b)).collect();
        let last: Vec<bool> = (0..=c / 2).map(|index| keep(index, c)).collect();
        let kept = Kept::new(shape, &second, &last).expect("the first ones");
        let (batch, half) = (2, c / 2 + 1);
        let planner = Planner::<f64>::new();
        let inverse = Problem::complex_to_real(&shape).batch(batch);
        let inverse = planner.plan(&inverse).unwrap();
        let forward = planner
            .plan(&Problem::real_to_complex(&shape).batch(batch))
            .unwrap();

        let mut spectra = vec![C::new(0.0, 0.0); batch * a * b * half];
        for (place, value) in spectra.iter_mut().enumerate() {
            let (x, y, z) = (place / (b * half) % a, place / half % b, place % half);
            if keep(x, a) && second[y] && last[z] {
                *value = C::new(random(), if z == 0 { 0.0 } else { random() });
            }
        }
        let mut expected = vec![0.0; batch * a * b * c];
        inverse
            .process_complex_to_real(&spectra, &mut expected)
            .unwrap();
        let mut found = vec![1.0; expected.len()];
        let mut pruned = KeptTransform::new(&inverse, kept.clone(), batch).unwrap();
        // Twice: nothing is left over from the call before.
        for _ in 0..2 {
            pruned.inverse(&inverse, &spectra, &mut found).unwrap();
            let same = found
                .iter()
                .zip(&expected)
                .all(|(x, y)| x.to_bits() == y.to_bits());
            assert!(same, "inverse, seed {SEED}");
        }

        let mut whole = spectra.clone();
        forward
            .process_real_to_complex(&expected, &mut whole)
            .unwrap();
        let mut found = vec![C::new(0.0, 0.0); whole.len()];
        let mut pruned = KeptTransform::new(&forward, kept, batch).unwrap();
        pruned.forward(&forward, &expected, &mut found).unwrap();
        for (place, (x, y)) in found.iter().zip(&whole).enumerate() {
            let bits = |z: &C| [z.re.to_bits(), z.im.to_bits()];
            if second[place / half % b] && last[place % half] {
                assert_eq!(bits(x), bits(y), "forward, place {place}, seed {SEED}");
            }
        }
    }
}
