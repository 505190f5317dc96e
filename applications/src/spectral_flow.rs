//! Incompressible flow in a periodic box by a pseudo-spectral method: what happens between transforms, for all of the box or for the
//! part of it that one rank holds.
//!
//! ∂u/∂t = P(u × ω) - νk²u in wave numbers, with P the projection onto fields without divergence; the product u × ω is formed at points
//! of space. Aliases are removed by the 2/3 rule, time is advanced by the classical Runge–Kutta method of order four. Every number is
//! computed from those at the same wave number or point, so how the box is divided changes no bit of them.

#![allow(
    clippy::needless_range_loop,
    reason = "several arrays are indexed at once"
)]

use crate::device_flow::WaveNumbers;
use crate::ewald_sum::cross;
use crate::kept_waves::Kept;
use crate::splines::frequency;
use crate::transforms::RealTransform;
use num_complex::Complex;
use ozfft_measure::failure::Failure;
use rayon::prelude::*;
use std::ops::Range;

type C = Complex<f64>;

/// Transforms of three fields to half-spectra, and of six half-spectra to fields, divided by the number of points.
pub trait FieldTransform {
    /// Three real arrays, one after the other, to their half-spectra.
    fn forward(&mut self, fields: &[f64], spectra: &mut [C]) -> Result<(), Failure>;

    /// Six half-spectra, one after the other, to real arrays.
    fn inverse(&mut self, spectra: &[C], fields: &mut [f64]) -> Result<(), Failure>;
}

impl FieldTransform for RealTransform {
    fn forward(&mut self, fields: &[f64], spectra: &mut [C]) -> Result<(), Failure> {
        Ok(RealTransform::forward(self, fields, spectra)?)
    }

    fn inverse(&mut self, spectra: &[C], fields: &mut [f64]) -> Result<(), Failure> {
        Ok(RealTransform::inverse(self, spectra, fields)?)
    }
}

/// Indices along three axes.
pub type Box3 = [Range<usize>; 3];

/// The part of the arrays that a solver holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Of fields.
    pub fields: Box3,
    /// Of half-spectra.
    pub spectra: Box3,
}

impl Part {
    /// All of a box with so many points.
    pub fn whole(shape: [usize; 3]) -> Part {
        let [a, b, c] = shape;
        Part {
            fields: shape.map(|n| 0..n),
            spectra: [0..a, 0..b, 0..c / 2 + 1],
        }
    }
}

/// Splits an array into as many equal parts.
pub fn parts<const PARTS: usize, T>(array: &[T]) -> [&[T]; PARTS] {
    let length = array.len() / PARTS;
    std::array::from_fn(|part| &array[part * length..(part + 1) * length])
}

fn parts_mut<const PARTS: usize, T>(mut array: &mut [T]) -> [&mut [T]; PARTS] {
    let length = array.len() / PARTS;
    std::array::from_fn(|_| {
        let (part, rest) = std::mem::take(&mut array).split_at_mut(length);
        array = rest;
        part
    })
}

/// The equations at the wave numbers of a part.
#[derive(Debug)]
pub struct Equations {
    /// Points of the whole box.
    pub shape: [usize; 3],
    /// Viscosity.
    pub viscosity: f64,
    /// Wave numbers of the part along each axis, and whether the 2/3 rule keeps them.
    pub waves: WaveNumbers,
}

/// Sums over all wave numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Kinetic energy ⟨u²⟩/2.
    pub energy: f64,
    /// Enstrophy ⟨ω²⟩/2.
    pub enstrophy: f64,
}

impl Equations {
    fn new(shape: [usize; 3], viscosity: f64, part: &Part) -> Equations {
        let waves = [0, 1, 2].map(|axis| {
            let wave = |index| {
                let k = frequency(index, shape[axis]);
                // Sums of two kept wave numbers have no alias among the kept ones.
                (k as f64, 3 * k.unsigned_abs() < shape[axis] as u64)
            };
            part.spectra[axis].clone().map(wave).collect()
        });
        Equations {
            shape,
            viscosity,
            waves,
        }
    }

    /// The wave numbers that are not always zero, of the whole box. None where the vortex has wave numbers at time zero that the 2/3 rule does not keep.
    pub fn kept(&self) -> Option<Kept> {
        let keeps = |axis: usize| -> Vec<bool> {
            let waves = self.waves[axis].iter();
            waves.map(|&(_, keep)| keep).collect()
        };
        // It has wave numbers of 1 along every axis.
        let begins_inside = self.shape.iter().all(|&n| n > 3);
        begins_inside.then(|| Kept::new(self.shape, &keeps(1), &keeps(2)))?
    }

    /// Points of the whole box.
    fn all_points(&self) -> usize {
        self.shape.iter().product()
    }

    /// Entries of a half-spectrum with the same wave number along the first axis.
    fn plane(&self) -> usize {
        self.waves[1].len() * self.waves[2].len()
    }

    /// Visits the wave numbers of a plane: position in it, wave number, whether it is kept.
    fn for_each_wave(&self, plane: usize, mut visit: impl FnMut(usize, [f64; 3], bool)) {
        let (kx, keep_x) = self.waves[0][plane];
        let mut place = 0;
        for &(ky, keep_y) in &self.waves[1] {
            for &(kz, keep_z) in &self.waves[2] {
                visit(place, [kx, ky, kz], keep_x && keep_y && keep_z);
                place += 1;
            }
        }
    }

    /// The Taylor–Green vortex at time zero. Its coefficients are exact.
    pub fn taylor_green(&self) -> Vec<C> {
        let plane = self.plane();
        let mut state = vec![C::new(0.0, 0.0); 3 * self.waves[0].len() * plane];
        let eighth = self.all_points() as f64 / 8.0;
        let [u, v, _] = parts_mut::<3, _>(&mut state);
        for number in 0..self.waves[0].len() {
            self.for_each_wave(number, |place, k, _| {
                if k.iter().all(|k| k.abs() == 1.0) {
                    // sin x is -i/2 at k = 1 and i/2 at -1, cos x is 1/2 at both.
                    u[number * plane + place] = C::new(0.0, -eighth * k[0]);
                    v[number * plane + place] = C::new(0.0, eighth * k[1]);
                }
            });
        }
        state
    }

    /// The vorticity of a velocity.
    fn curl(&self, velocity: &[C], vorticity: &mut [C]) {
        let plane = self.plane().max(1);
        let [u, v, w] = parts::<3, _>(velocity).map(|part| part.par_chunks(plane));
        let [a, b, c] = parts_mut::<3, _>(vorticity).map(|part| part.par_chunks_mut(plane));
        (u, v, w, a, b, c)
            .into_par_iter()
            .enumerate()
            .for_each(|(number, (u, v, w, a, b, c))| {
                self.for_each_wave(number, |place, [kx, ky, kz], _| {
                    let (u, v, w) = (u[place], v[place], w[place]);
                    a[place] = times_i(w * ky - v * kz);
                    b[place] = times_i(u * kz - w * kx);
                    c[place] = times_i(v * kx - u * ky);
                });
            });
    }

    /// The rate of change in the place of the spectra of u × ω.
    fn project(&self, velocity: &[C], rates: &mut [C]) {
        let plane = self.plane().max(1);
        let [u, v, w] = parts::<3, _>(velocity).map(|part| part.par_chunks(plane));
        let [a, b, c] = parts_mut::<3, _>(rates).map(|part| part.par_chunks_mut(plane));
        (u, v, w, a, b, c)
            .into_par_iter()
            .enumerate()
            .for_each(|(number, (u, v, w, a, b, c))| {
                self.for_each_wave(number, |place, k, keep| {
                    let product = [a[place], b[place], c[place]];
                    let velocity = [u[place], v[place], w[place]];
                    [a[place], b[place], c[place]] = if keep {
                        self.projected(k, product, velocity)
                    } else {
                        [C::new(0.0, 0.0); 3]
                    };
                });
            });
    }

    /// Removes the gradient from u × ω, which the pressure balances, and adds friction.
    fn projected(&self, k: [f64; 3], product: [C; 3], velocity: [C; 3]) -> [C; 3] {
        let square = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
        if square == 0.0 {
            return product;
        }
        let along = (product[0] * k[0] + product[1] * k[1] + product[2] * k[2]) / square;
        let friction = self.viscosity * square;
        [0, 1, 2].map(|axis| product[axis] - along * k[axis] - velocity[axis] * friction)
    }

    /// Energy and enstrophy; planes are summed one by one, then in their order, so that threads do not matter.
    pub fn moments(&self, state: &[C]) -> Moments {
        self.total_moments(&self.plane_moments(state))
    }

    fn plane_moments(&self, state: &[C]) -> Vec<[f64; 2]> {
        let plane = self.plane().max(1);
        let [u, v, w] = parts::<3, _>(state).map(|part| part.par_chunks(plane));
        (u, v, w)
            .into_par_iter()
            .enumerate()
            .map(|(number, (u, v, w))| {
                let mut sums = [0.0; 2];
                self.for_each_wave(number, |place, [kx, ky, kz], _| {
                    let square = u[place].norm_sqr() + v[place].norm_sqr() + w[place].norm_sqr();
                    // Half of the sum, and an entry with kz > 0 stands for two.
                    let share = if kz == 0.0 { 0.5 * square } else { square };
                    sums[0] += share;
                    sums[1] += share * (kx * kx + ky * ky + kz * kz);
                });
                sums
            })
            .collect()
    }

    /// Energy and enstrophy from the sums of planes.
    pub fn total_moments(&self, planes: &[[f64; 2]]) -> Moments {
        let points = self.all_points() as f64;
        let scale = 1.0 / (points * points);
        let total = |which: usize| planes.iter().map(|sums| sums[which]).sum::<f64>() * scale;
        Moments {
            energy: total(0),
            enstrophy: total(1),
        }
    }
}

/// The right-hand side of the equations, and the memory that it needs.
pub struct Solver<T> {
    /// At the wave numbers of this part.
    pub equations: Equations,
    /// Between them and points of space.
    pub transform: T,
    /// Half-spectra of velocity and vorticity; then of the rate of change.
    spectra: Vec<C>,
    /// The same at points of space; then u × ω.
    fields: Vec<f64>,
}

impl<T: FieldTransform> Solver<T> {
    /// For a part of a box with so many points, whose arrays the transform takes.
    pub fn new(shape: [usize; 3], viscosity: f64, transform: T, part: &Part) -> Solver<T> {
        let volume = |part: &Box3| part.iter().map(|range| range.len()).product::<usize>();
        Solver {
            equations: Equations::new(shape, viscosity, part),
            transform,
            spectra: vec![C::new(0.0, 0.0); 6 * volume(&part.spectra)],
            fields: vec![0.0; 6 * volume(&part.fields)],
        }
    }

    /// The rate of change of a velocity, left in the first three spectra.
    fn rate(&mut self, state: &[C]) -> Result<(), Failure> {
        let (velocity, vorticity) = self.spectra.split_at_mut(state.len());
        velocity.copy_from_slice(state);
        self.equations.curl(state, vorticity);
        self.transform.inverse(&self.spectra, &mut self.fields)?;
        let half = self.fields.len() / 2;
        let (velocity, vorticity) = self.fields.split_at_mut(half);
        let [u, v, w] = parts_mut::<3, _>(velocity).map(|part| part.par_chunks_mut(CHUNK));
        let [a, b, c] = parts::<3, _>(vorticity).map(|part| part.par_chunks(CHUNK));
        (u, v, w, a, b, c)
            .into_par_iter()
            .for_each(|(u, v, w, a, b, c)| {
                for place in 0..u.len() {
                    let velocity = [u[place], v[place], w[place]];
                    let vorticity = [a[place], b[place], c[place]];
                    [u[place], v[place], w[place]] = cross(velocity, vorticity);
                }
            });
        let rates = &mut self.spectra[..state.len()];
        self.transform.forward(velocity, rates)?;
        self.equations.project(state, rates);
        Ok(())
    }

    /// One step of the classical Runge–Kutta method.
    pub fn step(&mut self, state: &mut Vec<C>, stage: &mut [C], step: f64) -> Result<(), Failure> {
        let mut sum = state.clone();
        let weights = [step / 6.0, step / 3.0, step / 3.0, step / 6.0];
        let advances = [step / 2.0, step / 2.0, step, 0.0];
        stage.copy_from_slice(state);
        for (weight, advance) in weights.into_iter().zip(advances) {
            self.rate(stage)?;
            let rates = self.spectra[..state.len()].par_iter();
            (
                sum.par_iter_mut(),
                stage.par_iter_mut(),
                state.par_iter(),
                rates,
            )
                .into_par_iter()
                .for_each(|(sum, stage, state, rate)| {
                    *sum += rate * weight;
                    *stage = state + rate * advance;
                });
        }
        *state = sum;
        Ok(())
    }

    /// The velocity at points of space, one component after the other.
    pub fn velocity(&mut self, state: &[C]) -> Result<&[f64], Failure> {
        let length = state.len();
        self.spectra[..length].copy_from_slice(state);
        self.spectra[length..].fill(C::new(0.0, 0.0));
        self.transform.inverse(&self.spectra, &mut self.fields)?;
        Ok(&self.fields[..self.fields.len() / 2])
    }
}

/// Points that one thread takes at a time.
const CHUNK: usize = 4096;

fn times_i(value: C) -> C {
    C::new(-value.im, value.re)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Computing;
    use std::collections::HashMap;

    type Whole = Solver<RealTransform>;

    fn solver(shape: [usize; 3], viscosity: f64) -> Whole {
        let transform = RealTransform::new(&Computing::default(), &shape, (3, 6));
        let transform = transform.expect("a plan");
        Solver::new(shape, viscosity, transform, &Part::whole(shape))
    }

    fn advance(solver: &mut Whole, state: &mut Vec<C>, time: f64, steps: usize) {
        let mut stage = state.clone();
        for _ in 0..steps {
            let step = time / steps as f64;
            solver.step(state, &mut stage, step).expect("a step");
        }
    }

    #[test]
    fn the_vortex_begins_with_its_energy_and_enstrophy() {
        let solver = solver([16, 12, 10], 0.1);
        let moments = solver.equations.moments(&solver.equations.taylor_green());
        // ⟨u²⟩/2 = 2·(1/8)/2 and 3 times that; sums of eight equal numbers.
        assert!((moments.energy - 0.125).abs() < 1e-15);
        assert!((moments.enstrophy - 0.375).abs() < 1e-15);
    }

    #[test]
    fn rates_are_those_of_the_convolution_over_kept_wave_numbers() {
        // -(u·∇)u summed wave number by wave number, without transforms, aliases or the rotational form.
        let mut solver = solver([10, 12, 9], 0.03);
        let mut state = solver.equations.taylor_green();
        // Two steps fill all wave numbers that symmetry allows.
        advance(&mut solver, &mut state, 1.0, 2);
        let points = solver.equations.all_points() as f64;
        let mut modes: HashMap<[i64; 3], [C; 3]> = HashMap::new();
        let plane = solver.equations.plane();
        for number in 0..solver.equations.shape[0] {
            solver.equations.for_each_wave(number, |place, k, keep| {
                if keep {
                    let at = number * plane + place;
                    let u = parts::<3, _>(&state).map(|part| part[at] / points);
                    let k = k.map(|x| x as i64);
                    modes.insert(k, u);
                    modes.insert(k.map(|x| -x), u.map(|x| x.conj()));
                }
            });
        }
        let scale = modes
            .values()
            .flatten()
            .map(|u| u.norm())
            .fold(0.0, f64::max);
        assert!(
            modes
                .values()
                .filter(|u| u[0].norm() > 1e-6 * scale)
                .count()
                > 20
        );
        solver.rate(&state).expect("a rate");
        for (&k, velocity) in modes.iter().filter(|(k, _)| k[2] >= 0) {
            let mut sum = [C::new(0.0, 0.0); 3];
            for (&p, a) in &modes {
                let q = [0, 1, 2].map(|axis| k[axis] - p[axis]);
                if let Some(b) = modes.get(&q) {
                    let q = q.map(|x| x as f64);
                    let along = a[0] * q[0] + a[1] * q[1] + a[2] * q[2];
                    for axis in 0..3 {
                        sum[axis] -= times_i(along * b[axis]);
                    }
                }
            }
            let wave = k.map(|x| x as f64);
            let expected = solver.equations.projected(wave, sum, *velocity);
            let index =
                |axis: usize| k[axis].rem_euclid(solver.equations.shape[axis] as i64) as usize;
            let (half, n) = (solver.equations.shape[2] / 2 + 1, solver.equations.shape[1]);
            let at = (index(0) * n + index(1)) * half + index(2);
            let found = parts::<6, _>(&solver.spectra).map(|part| part[at] / points);
            for axis in 0..3 {
                let error = (found[axis] - expected[axis]).norm();
                // A few hundred products of wave numbers up to 4.
                assert!(error < 1e-14, "{k:?}: {error}");
            }
        }
    }

    #[test]
    fn beltrami_flows_decay_exponentially() {
        // Where ω = u the product u × ω vanishes: Arnold's, Beltrami's and Childress' flow decays as exp(-νt).
        let mut solver = solver([8, 8, 8], 0.5);
        let mut state = vec![C::new(0.0, 0.0); solver.spectra.len() / 2];
        let half = solver.equations.all_points() as f64 / 2.0;
        let (n, h) = (8, 5);
        let index = |x: usize, y: usize, z: usize| (x * n + y) * h + z;
        let (sine, cosine) = (C::new(0.0, -half), C::new(half, 0.0));
        let [u, v, w] = parts_mut::<3, _>(&mut state);
        // u = sin z + cos y, v = sin x + cos z, w = sin y + cos x.
        (u[index(0, 0, 1)], v[index(0, 0, 1)]) = (sine, cosine);
        (v[index(1, 0, 0)], v[index(7, 0, 0)]) = (sine, sine.conj());
        (w[index(1, 0, 0)], w[index(7, 0, 0)]) = (cosine, cosine);
        (w[index(0, 1, 0)], w[index(0, 7, 0)]) = (sine, sine.conj());
        (u[index(0, 1, 0)], u[index(0, 7, 0)]) = (cosine, cosine);
        let before = solver.equations.moments(&state);
        assert!((before.energy - 1.5).abs() < 1e-14 && (before.enstrophy - 1.5).abs() < 1e-14);
        let (time, steps) = (1.0, 20);
        advance(&mut solver, &mut state, time, steps);
        let after = solver.equations.moments(&state).energy / before.energy;
        let exact = (-2.0 * 0.5 * time).exp();
        // (νh)^5/120 a step, twice for the square.
        let truncation = 2.0 * 20.0 * (0.5_f64 / 20.0).powi(5) / 120.0;
        assert!(
            (after - exact).abs() < 1.1 * truncation * exact,
            "{after} {exact}"
        );
    }

    #[test]
    fn without_friction_the_energy_error_falls_with_the_order_of_the_integrator() {
        let error = |steps: usize| {
            let mut solver = solver([16; 3], 0.0);
            let mut state = solver.equations.taylor_green();
            let before = solver.equations.moments(&state).energy;
            advance(&mut solver, &mut state, 3.0, steps);
            (solver.equations.moments(&state).energy - before).abs() / before
        };
        let (coarse, fine) = (error(30), error(60));
        // Order four of the solution, five of quantities that the equations conserve.
        let order = (coarse / fine).log2();
        assert!((3.8..5.5).contains(&order), "{coarse} {fine} {order}");
        assert!(fine < 1e-5);
    }

    #[test]
    fn lines_of_zeros_that_are_left_out_change_no_bit() {
        let shape = [12, 10, 14];
        let mut plain = solver(shape, 0.02);
        let mut sparing = solver(shape, 0.02);
        let kept = sparing.equations.kept().expect("longer than three");
        sparing.transform = sparing.transform.keep(&kept).expect("plans");
        let mut states = [(); 2].map(|()| plain.equations.taylor_green());
        for (solver, state) in [&mut plain, &mut sparing].into_iter().zip(&mut states) {
            advance(solver, state, 1.0, 3);
        }
        let pair = |z: &C| [z.re.to_bits(), z.im.to_bits()];
        let [expected, found] = states.each_ref().map(|state| state.iter().map(pair));
        assert!(expected.eq(found), "wave numbers");
        let expected = plain.velocity(&states[0]).expect("a velocity");
        let found = sparing.velocity(&states[1]).expect("a velocity");
        let bits = |x: &f64| x.to_bits();
        assert!(
            expected.iter().map(bits).eq(found.iter().map(bits)),
            "points"
        );
        // Three points along an axis keep the mean alone, and the vortex has waves of one period.
        assert!(solver([8, 3, 8], 0.1).equations.kept().is_none());
    }

    /// Transforms of the whole box, of which a solver sees a part: an independent way to divide it.
    struct Window {
        whole: RealTransform,
        shape: [usize; 3],
        part: Part,
        /// What the other parts hold, as the whole solver has it.
        fields: Vec<f64>,
        spectra: Vec<C>,
    }

    /// Copies a part from an array of several components to another of the same part alone, or back.
    fn copy<N: Copy>(whole: &mut [N], part: &mut [N], shape: [usize; 3], held: &Box3, back: bool) {
        let points = shape.iter().product::<usize>();
        let mut next = 0;
        for member in 0..whole.len() / points {
            for i in held[0].clone() {
                for j in held[1].clone() {
                    for k in held[2].clone() {
                        let at = member * points + (i * shape[1] + j) * shape[2] + k;
                        match back {
                            true => whole[at] = part[next],
                            false => part[next] = whole[at],
                        }
                        next += 1;
                    }
                }
            }
        }
        assert_eq!(next, part.len());
    }

    impl FieldTransform for Window {
        fn forward(&mut self, fields: &[f64], spectra: &mut [C]) -> Result<(), Failure> {
            let mut own = fields.to_vec();
            copy(
                &mut self.fields,
                &mut own,
                self.shape,
                &self.part.fields,
                true,
            );
            let [a, b, c] = self.shape;
            let mut found = vec![C::new(0.0, 0.0); 3 * a * b * (c / 2 + 1)];
            self.whole.forward(&self.fields, &mut found)?;
            copy(
                &mut found,
                spectra,
                [a, b, c / 2 + 1],
                &self.part.spectra,
                false,
            );
            Ok(())
        }

        fn inverse(&mut self, spectra: &[C], fields: &mut [f64]) -> Result<(), Failure> {
            let [a, b, c] = self.shape;
            let mut own = spectra.to_vec();
            let half = [a, b, c / 2 + 1];
            copy(&mut self.spectra, &mut own, half, &self.part.spectra, true);
            let mut found = vec![0.0; 6 * a * b * c];
            self.whole.inverse(&self.spectra, &mut found)?;
            copy(&mut found, fields, self.shape, &self.part.fields, false);
            Ok(())
        }
    }

    #[test]
    fn a_part_has_the_rates_of_the_whole() {
        let shape = [8, 6, 10];
        let mut whole = solver(shape, 0.02);
        let mut state = whole.equations.taylor_green();
        advance(&mut whole, &mut state, 0.5, 2);
        // What the other parts contribute: all spectra, and u × ω at all points.
        whole.rate(&state).expect("a rate");
        let rates = whole.spectra[..state.len()].to_vec();
        let products = whole.fields[..whole.fields.len() / 2].to_vec();
        let mut vorticity = vec![C::new(0.0, 0.0); state.len()];
        whole.equations.curl(&state, &mut vorticity);
        for part in [
            Part {
                fields: [2..5, 0..6, 0..10],
                spectra: [0..8, 1..4, 0..6],
            },
            Part {
                fields: [0..8, 3..3, 0..10],
                spectra: [7..8, 0..6, 2..3],
            },
        ] {
            let half = [8, 6, 6];
            let window = Window {
                whole: solver(shape, 0.02).transform,
                shape,
                part: part.clone(),
                fields: products.clone(),
                spectra: [&state[..], &vorticity].concat(),
            };
            let mut divided = Solver::new(shape, 0.02, window, &part);
            let held = divided.spectra.len() / 2;
            let (mut own, mut expected) = (vec![C::default(); held], vec![C::default(); held]);
            copy(&mut state.clone(), &mut own, half, &part.spectra, false);
            copy(
                &mut rates.clone(),
                &mut expected,
                half,
                &part.spectra,
                false,
            );
            divided.rate(&own).expect("a rate");
            let bits = |values: &[C]| -> Vec<[u64; 2]> {
                let pair = |z: &C| [z.re.to_bits(), z.im.to_bits()];
                values.iter().map(pair).collect()
            };
            assert_eq!(bits(&divided.spectra[..held]), bits(&expected));
        }
    }
}
