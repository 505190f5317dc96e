//! Transforms of half-spectra of which a rule keeps some wave numbers alone, axis by axis: lines of zeros are not transformed, and lines that nobody will look at are not
//! computed. Every other line is the same line of the same transform, so that not a bit differs.
//!
//! Under the 2/3 rule a third of each axis is zero: of three axes of complex lines, complex lines and reals there remain four ninths, two thirds, and all.

use num_complex::Complex;
use ozfft::{AxisPlan, Device, Engine, FftError, Kind, Plan, Planner};
use rayon::prelude::*;
use std::sync::Arc;

type C = Complex<f64>;

/// Which wave numbers are kept along the second and the last axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    shape: [usize; 3],
    /// Indices along the second axis.
    second: Vec<usize>,
    /// Along the last axis these are the first ones, and perhaps some more.
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
            // Lines are transformed eight side by side.
            last: count.next_multiple_of(8).min(shape[2] / 2 + 1),
        })
    }

    fn half(&self) -> usize {
        self.shape[2] / 2 + 1
    }
}

/// Points of the transforms that are computed together: as many as stay in the caches. Fewer, and threads would wait for each other more often.
const POINTS_TOGETHER: usize = 1 << 18;

/// One direction of a batch of transforms, axis by axis.
pub struct KeptTransform {
    kept: Kept,
    /// Of as many members as are computed together.
    whole: Arc<Plan<f64>>,
    /// In the order of the whole plan's axes.
    axes: [AxisPlan<f64>; 3],
    workspace: Vec<u64>,
    /// Kept along both axes, along the last one, and whole rows, which are zero beyond in inverse transforms.
    packed: Vec<C>,
    middle: Vec<C>,
    rows: Vec<C>,
    powers: Vec<i32>,
}

impl KeptTransform {
    /// The transforms of a plan with such a batch; none where it is not of the engine digits on the processor, or has not three axes of the shape that is kept.
    pub fn new(
        plan: &Plan<f64>,
        kept: &Kept,
        batch: usize,
    ) -> Result<Option<KeptTransform>, FftError> {
        let most = (POINTS_TOGETHER / kept.shape.iter().product::<usize>()).max(1);
        let divides = |count: &usize| batch.is_multiple_of(*count);
        let together = (1..=most.min(batch)).rev().find(divides).unwrap_or(1);
        KeptTransform::of_some(plan, kept, together)
    }

    /// The same, so many members of the batch at a time.
    fn of_some(
        plan: &Plan<f64>,
        kept: &Kept,
        together: usize,
    ) -> Result<Option<KeptTransform>, FftError> {
        let problem = plan.problem();
        let order = match problem.kind() {
            Kind::ComplexToComplex => return Ok(None),
            Kind::RealToComplex => [2, 1, 0],
            Kind::ComplexToReal => [0, 1, 2],
        };
        let can = plan.engine() == Engine::Digits && plan.device() == Device::Cpu;
        if !can || problem.shape() != kept.shape || plan.axis_order() != order {
            return Ok(None);
        }
        let planner = Planner::<f64>::new();
        let [a, b, c] = kept.shape;
        let problem = problem.clone().engine(Engine::Digits).batch(together);
        let whole = planner.plan(&problem)?;
        let shape_of = |axis: usize| match axis {
            0 => [a, kept.second.len(), kept.last],
            1 => [a, b, kept.last],
            _ => [a, b, c],
        };
        let axis = |number: usize| planner.plan_axis(&whole, number, &shape_of(order[number]));
        let axes = [axis(0)?, axis(1)?, axis(2)?];
        let zeros = |count: usize| vec![C::new(0.0, 0.0); together * count];
        Ok(Some(KeptTransform {
            workspace: vec![0; axes.iter().map(AxisPlan::workspace_len).max().unwrap_or(0)],
            powers: vec![0; axes[0].transforms()],
            axes,
            packed: zeros(a * kept.second.len() * kept.last),
            middle: zeros(a * b * kept.last),
            rows: zeros(a * b * kept.half()),
            kept: kept.clone(),
            whole,
        }))
    }

    /// Half-spectra that are zero where nothing is kept, to reals.
    pub fn inverse(&mut self, spectra: &[C], fields: &mut [f64]) -> Result<(), FftError> {
        let spectra = spectra.chunks(self.rows.len());
        let fields = fields.chunks_mut(self.field_len());
        spectra
            .zip(fields)
            .try_for_each(|(spectra, fields)| self.inverse_together(spectra, fields))
    }

    /// Reals to half-spectra, of which what is not kept is of no meaning.
    pub fn forward(&mut self, fields: &[f64], spectra: &mut [C]) -> Result<(), FftError> {
        let fields = fields.chunks(self.field_len());
        let spectra = spectra.chunks_mut(self.rows.len());
        fields
            .zip(spectra)
            .try_for_each(|(fields, spectra)| self.forward_together(fields, spectra))
    }

    /// Points of what is computed together.
    fn field_len(&self) -> usize {
        self.rows.len() / self.kept.half() * self.kept.shape[2]
    }

    /// Powers between axes, from the largest exponents.
    fn find_powers(&mut self) {
        for power in &mut self.powers {
            *power = self.whole.power_between_axes(*power);
        }
    }

    fn inverse_together(&mut self, spectra: &[C], fields: &mut [f64]) -> Result<(), FftError> {
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
        self.find_powers();
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

    fn forward_together(&mut self, fields: &[f64], spectra: &mut [C]) -> Result<(), FftError> {
        let [_, b, _] = self.kept.shape;
        let (half, last) = (self.kept.half(), self.kept.last);
        self.axes[0].largest_exponents_of_reals(fields, &mut self.powers)?;
        self.find_powers();
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
        // One member of the batch at a time, and both. Twice: nothing is left over from the call before.
        for together in [1, batch] {
            let some = KeptTransform::of_some(&inverse, &kept, together).unwrap();
            let mut some = some.expect("digits");
            for _ in 0..2 {
                some.inverse(&spectra, &mut found).unwrap();
                let mut pairs = found.iter().zip(&expected);
                let same = pairs.all(|(x, y)| x.to_bits() == y.to_bits());
                assert!(same, "inverse, {together} together, seed {SEED}");
                found.fill(1.0);
            }
        }

        let mut whole = spectra.clone();
        forward
            .process_real_to_complex(&expected, &mut whole)
            .unwrap();
        for together in [1, batch] {
            let mut found = vec![C::new(0.0, 0.0); whole.len()];
            let some = KeptTransform::of_some(&forward, &kept, together).unwrap();
            some.expect("digits")
                .forward(&expected, &mut found)
                .unwrap();
            for (place, (x, y)) in found.iter().zip(&whole).enumerate() {
                let bits = |z: &C| [z.re.to_bits(), z.im.to_bits()];
                if second[place / half % b] && last[place % half] {
                    assert_eq!(bits(x), bits(y), "forward, place {place}, seed {SEED}");
                }
            }
        }
        // Other engines transform everything.
        let native = planner.plan(&Problem::real_to_complex(&shape).engine(Engine::Native));
        let native = KeptTransform::new(&native.unwrap(), &kept, 1).unwrap();
        assert!(native.is_none());
    }
}
