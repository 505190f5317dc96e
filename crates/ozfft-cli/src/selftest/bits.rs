//! Equal bits: every case is computed plainly, and once more in a randomly drawn variant.

use super::case::{Case, layout_of};
use num_complex::Complex;
use ozfft::{
    Accuracy, CpuUnit, Device, Direction, Engine, FftError, Kind, Layout, Plan, Planner, Problem,
    Real, Substrate,
};
use ozfft_measure::arrays::unravel;
use ozfft_measure::gpu::{DRAWN_VARIANTS, VARIANTS};
use ozfft_testkit::oracle::inputs::{Generator, uniform_complex};
use ozfft_testkit::problems::{Source, Strides, make_unusual, numbers, seed_of_case};
use ozfft_testkit::{Bits, same_bits};
use rayon::ThreadPool;
use std::marker::PhantomData;

/// Arrays of more points than this come in small batches only.
const LARGEST_MANY: usize = 64;
/// What a GPU gives for more points than this is compared with the processor's fastest unit instead of the scalar one,
/// which has the same bits.
const LARGEST_SCALAR: usize = 1 << 12;
/// Points of all arrays of a case for tuned kernels at most.
const LARGEST_TUNED_CASE: usize = 1 << 17;

/// How the second computation differs from the plain one.
#[derive(Debug, Clone, Default)]
pub struct Variant {
    wide_integer: bool,
    threads: Option<usize>,
    pool: Option<usize>,
    pub(super) batch: usize,
    position: usize,
    /// Layouts of input and output where they are not contiguous.
    input: Option<Layout>,
    pub(super) output: Option<Layout>,
    in_place: bool,
    /// A real transform computed as a complex one, of which half is compared.
    as_complex: bool,
}

/// Real or complex numbers.
#[derive(Clone)]
pub(super) enum Values<T> {
    Real(Vec<T>),
    Complex(Vec<Complex<T>>),
}

/// Computes a case plainly and in a variant. The error names the variant and the first difference.
pub fn check<T: Real + Bits>(
    case: &Case,
    planner: &Planner<T>,
    pools: &[ThreadPool],
) -> Result<(), String> {
    let describe = |error: FftError| format!("case {}, {case:?}: {error}", case.number);
    let mut generator = Generator::new(case.seed);
    let plain = case.problem().threads(1);
    let input = input_values(case, &plain, &mut generator);
    let expected = execute(&*planner.plan(&plain).map_err(describe)?, &input).map_err(describe)?;
    let variant = Variant::draw(case, &plain, &mut generator, pools.len());
    let problem = variant.problem(case);
    let compute = || -> Result<Values<T>, FftError> {
        let plan = planner.plan(&problem)?;
        variant.execute(case, &plan, variant.spread(&problem, &input, case))
    };
    let found = match variant.pool {
        Some(index) => pools[index].install(compute),
        None => compute(),
    };
    let found =
        found.map_err(|error| format!("case {}, {case:?} as {variant:?}: {error}", case.number))?;
    let differing = match (&expected, &found) {
        (Values::Real(expected), Values::Real(found)) => {
            variant.first_difference(&plain, &problem, expected, found)
        }
        (Values::Complex(expected), Values::Complex(found)) => {
            variant.first_difference(&plain, &problem, expected, found)
        }
        _ => Some("one result is real, the other complex".into()),
    };
    match differing {
        None => Ok(()),
        Some(difference) => Err(format!(
            "case {}, {case:?} as {variant:?}: {difference}",
            case.number
        )),
    }
}

/// What computed a case on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Computed {
    pub substrate: &'static str,
    pub integers_only: bool,
}

/// Computes a case on the processor and on a GPU, and compares everything in the output arrays, gaps included. Returns what
/// multiplied on the GPU; the error names the variant and the first difference.
pub fn check_device<T: Real + Bits>(
    case: &Case,
    planner: &Planner<T>,
    (device, substrate): (Device, Option<Substrate>),
    integers_only: bool,
) -> Result<Computed, String> {
    let mut generator = Generator::new(case.seed);
    let input = input_values(case, &case.problem(), &mut generator);
    let (variant, wanted) = Variant::draw_for_gpu(case, &mut generator);
    let describe = |error: &dyn std::fmt::Display| {
        format!("case {}, {case:?} as {variant:?}: {error}", case.number)
    };
    let problem = variant.problem(case);
    let points = case.shape.iter().product::<usize>() * variant.batch;
    let unit = if points > LARGEST_SCALAR {
        Substrate::Auto
    } else {
        Substrate::Cpu(CpuUnit::Scalar)
    };
    let buffer = variant.spread(&problem, &input, case);
    let compute = || -> Result<_, FftError> {
        let on_processor = planner.plan(&problem.clone().substrate(unit))?;
        let problem = problem.clone().device(device);
        let plan = |problem: Problem| {
            planner.plan(&if integers_only {
                problem.integers_only(true)
            } else {
                problem
            })
        };
        let asked = match substrate {
            Some(substrate) => problem.clone().substrate(substrate),
            None => (VARIANTS[wanted].apply)(problem.clone()),
        };
        // Not every GPU and problem has every unit; the first entry is left to the planner and always there.
        let on_device = match plan(asked) {
            Err(FftError::Unsupported(_) | FftError::NoFp8 { .. }) => {
                plan((VARIANTS[0].apply)(problem.clone()))?
            }
            other => other?,
        };
        let expected = variant.execute(case, &on_processor, buffer.clone())?;
        let found = variant.execute(case, &on_device, buffer.clone())?;
        let computed = Computed {
            substrate: on_device.substrate(),
            integers_only: on_device.integers_only(),
        };
        Ok((expected, found, computed))
    };
    let (expected, found, computed) = compute().map_err(|error| describe(&error))?;
    let difference = match (&expected, &found) {
        (Values::Real(expected), Values::Real(found)) => same_bits(expected, found, case.seed),
        (Values::Complex(expected), Values::Complex(found)) => {
            same_bits(expected, found, case.seed)
        }
        _ => return Err(describe(&"one result is real, the other complex")),
    };
    match difference {
        Ok(()) => Ok(computed),
        Err(difference) => Err(describe(&format!("on {computed:?} {difference}"))),
    }
}

/// Values with few or many orders of magnitude, and some zeros.
pub(super) fn input_values<T: Real>(
    case: &Case,
    problem: &Problem,
    generator: &mut Generator,
) -> Values<T> {
    let count = problem.input_shape().iter().product();
    let mut values = numbers(generator, count);
    if case.tuned && generator.below(4) == 0 {
        make_unusual(generator, &mut values);
    }
    let sizes = Sizes::<T>::draw(case);
    for (flat, value) in values.iter_mut().enumerate() {
        *value = sizes.change(0, &unravel(flat, &problem.input_shape()), *value);
    }
    if case.kind == Kind::RealToComplex {
        Values::Real(values.iter().map(|value| T::narrow(value.re)).collect())
    } else {
        let narrow = |value: &Complex<f64>| Complex::new(T::narrow(value.re), T::narrow(value.im));
        Values::Complex(values.iter().map(narrow).collect())
    }
}

/// How large the transforms of a case are: of many cases all alike, of others each of another size, near both ends of the range
/// above all, or zero. Each is scaled by itself between its axes, which no neighbour may change.
struct Sizes<'a, T> {
    case: &'a Case,
    differ: bool,
    numbers: PhantomData<T>,
}

impl<'a, T: Real> Sizes<'a, T> {
    fn draw(case: &'a Case) -> Self {
        let mut generator = Generator::new(seed_of_case(case.seed, 2));
        Sizes {
            case,
            differ: case.any_size && case.axes.len() > 1 && generator.below(2) == 0,
            numbers: PhantomData,
        }
    }

    /// The number at these indices of an array of the batch, in the size of its transform.
    fn change(&self, array: usize, indices: &[usize], value: Complex<f64>) -> Complex<f64> {
        if !self.differ {
            return value;
        }
        let others = indices.iter().enumerate();
        let others = others.filter(|(axis, _)| !self.case.axes.contains(axis));
        let transform = others.fold(
            seed_of_case(self.case.seed, 3 + array as u64),
            |seed, (_, &index)| seed_of_case(seed, index as u64),
        );
        let mut generator = Generator::new(transform);
        let top = T::LARGEST_EXPONENT;
        let bottom = if T::IS_DOUBLE { -1074 } else { -149 };
        let exponent = match generator.below(6) {
            0 => return value,
            1 => return Complex::new(0.0, 0.0),
            2 => bottom + generator.below(100) as i32,
            3 => top - generator.below(40) as i32,
            _ => bottom + generator.below((top - bottom) as usize) as i32,
        };
        // In two factors: the power may be out of reach of one.
        let half = exponent / 2;
        let (one, two) = (f64::from(half).exp2(), f64::from(exponent - half).exp2());
        let scaled = value * one * two;
        let kept = [scaled.re, scaled.im].map(|x| T::narrow(x).widen().is_finite());
        if kept == [true; 2] { scaled } else { value }
    }
}

/// Half-spectra of random numbers are not those of real arrays; the output is complete when that is reported.
fn complete(outcome: Result<(), FftError>) -> Result<(), FftError> {
    match outcome {
        Err(FftError::NotHermitian { .. }) => Ok(()),
        other => other,
    }
}

/// Workspace in a state that would show if it were read before it is written.
fn workspace<T: Real>(plan: &Plan<T>) -> Vec<u64> {
    vec![0x7ff4_dead_beef_5a5a; plan.workspace_len()]
}

fn execute<T: Real>(plan: &Plan<T>, input: &Values<T>) -> Result<Values<T>, FftError> {
    let (problem, mut workspace) = (plan.problem(), workspace(plan));
    let one = T::narrow(1.0);
    let mut complex = vec![Complex::new(one, one); problem.output_len()];
    match (problem.kind(), input) {
        (Kind::ComplexToComplex, Values::Complex(values)) => {
            plan.process_outofplace_with_workspace(values, &mut complex, &mut workspace)?;
        }
        (Kind::RealToComplex, Values::Real(values)) => {
            plan.process_real_to_complex_with_workspace(values, &mut complex, &mut workspace)?;
        }
        (_, Values::Complex(values)) => {
            let mut real = vec![one; problem.output_len()];
            complete(plan.process_complex_to_real_with_workspace(
                values,
                &mut real,
                &mut workspace,
            ))?;
            return Ok(Values::Real(real));
        }
        (_, Values::Real(_)) => unreachable!("real values are made for real-to-complex only"),
    }
    Ok(Values::Complex(complex))
}

fn execute_in_place<T: Real>(plan: &Plan<T>, buffer: Values<T>) -> Result<Values<T>, FftError> {
    let Values::Complex(mut values) = buffer else {
        unreachable!("complex transforms are given complex values");
    };
    plan.process_with_workspace(&mut values, &mut workspace(plan))?;
    Ok(Values::Complex(values))
}

fn execute_real_in_place<T: Real>(
    plan: &Plan<T>,
    buffer: &Values<T>,
) -> Result<Values<T>, FftError> {
    let Values::Real(reals) = buffer else {
        unreachable!("real transforms are given real values");
    };
    let one = T::narrow(1.0);
    let mut values = vec![Complex::new(one, one); plan.problem().output_len()];
    for (index, &real) in reals.iter().enumerate() {
        let value = &mut values[index / 2];
        *(if index % 2 == 0 {
            &mut value.re
        } else {
            &mut value.im
        }) = real;
    }
    plan.process_real_in_place(&mut values)?;
    Ok(Values::Complex(values))
}

impl Variant {
    fn draw(case: &Case, plain: &Problem, generator: &mut Generator, pools: usize) -> Variant {
        let points: usize = case.shape.iter().product();
        // Seventeen long lines would take the time of a hundred other cases.
        let largest = if points > LARGEST_MANY { 2 } else { 17 };
        let batch = generator.pick(&[1, 1, 2, 3, 17]).min(largest);
        let mut variant = Variant {
            wide_integer: generator.below(2) == 0,
            threads: generator.pick(&[None, Some(1), Some(2), Some(3), Some(7)]),
            pool: (generator.below(4) == 0 && pools > 0).then(|| generator.below(pools)),
            batch,
            position: generator.below(batch),
            // An accuracy that is given may need more digits for half of a spectrum, and other recipes have other bits.
            as_complex: case.kind == Kind::RealToComplex
                && case.accuracy == Accuracy::Double
                && case.engine == Engine::Digits
                && generator.below(2) == 0,
            in_place: generator.below(3) == 0,
            ..Variant::default()
        };
        let last = case.shape.len() - 1;
        if case.kind == Kind::RealToComplex && !variant.as_complex && variant.in_place {
            variant.in_place = case.axes.last() == Some(&last);
            if variant.in_place {
                variant.input = Some(Layout::padded_real(&case.shape));
                return variant;
            }
        }
        let (read, written) = if variant.as_complex {
            (plain.shape().to_vec(), plain.shape().to_vec())
        } else {
            (plain.input_shape(), plain.output_shape())
        };
        variant.input = layout(generator, &read, batch);
        if variant.in_place && (case.kind == Kind::ComplexToComplex || variant.as_complex) {
            variant.output = variant.input.clone();
        } else {
            variant.in_place = false;
            variant.output = layout(generator, &written, batch);
        }
        variant
    }

    /// A variant for a GPU, and the index in `VARIANTS` that is asked for.
    fn draw_for_gpu(case: &Case, generator: &mut Generator) -> (Variant, usize) {
        if case.tuned {
            return Variant::draw_tuned(case, generator);
        }
        let mut variant = Variant::draw(case, &case.problem(), generator, 0);
        variant.wide_integer = false;
        let padded = variant.in_place && case.kind == Kind::RealToComplex && !variant.as_complex;
        let points: usize = case.shape.iter().product();
        if generator.below(4) == 0 && !padded && points <= LARGEST_MANY {
            // More arrays than one block of threads takes.
            (variant.input, variant.output) = (None, None);
            variant.batch = 100 + generator.below(1000);
        }
        (variant, generator.below(DRAWN_VARIANTS))
    }

    /// A variant that the tuned kernels support, most of the time: they take lines that are contiguous or side by side.
    pub(super) fn draw_tuned(case: &Case, generator: &mut Generator) -> (Variant, usize) {
        let points: usize = case.shape.iter().product();
        let most = (LARGEST_TUNED_CASE / points).max(1);
        let batch = generator.pick(&[1, 1, 2, 3, 9, 70]).min(most);
        let mut variant = Variant {
            threads: generator.pick(&[None, Some(1), Some(2)]),
            batch,
            position: generator.below(batch),
            in_place: case.kind == Kind::ComplexToComplex && generator.below(3) == 0,
            ..Variant::default()
        };
        let (read, written) = (case.problem().input_shape(), case.problem().output_shape());
        let halved_last = case.axes.last() == Some(&(case.shape.len() - 1));
        match generator.below(8) {
            // Real numbers and their half-spectrum in the same memory.
            0 | 1 if case.kind == Kind::RealToComplex && halved_last => {
                variant.in_place = true;
                variant.input = Some(Layout::padded_real(&case.shape));
            }
            0 => {
                variant.input = layout(generator, &read, batch);
                variant.output = layout(generator, &written, batch);
            }
            1 => {
                variant.input = Some(Layout::fortran(&read));
                variant.output = Some(Layout::fortran(&written));
            }
            2 | 3 => {}
            _ => {
                variant.input = Some(with_longer_rows(generator, &read));
                variant.output = Some(with_longer_rows(generator, &written));
            }
        }
        if variant.in_place && case.kind == Kind::ComplexToComplex {
            variant.output = variant.input.clone();
        }
        let general = |index: usize| VARIANTS[index].name == "int8-mma-sync";
        let wanted = generator.below(DRAWN_VARIANTS);
        // What portable kernels make of these lengths is of less interest here.
        let auto = general(wanted) && generator.below(4) != 0;
        (variant, if auto { 0 } else { wanted })
    }

    pub(super) fn problem(&self, case: &Case) -> Problem {
        let mut problem = if self.as_complex {
            let complex = Case {
                kind: Kind::ComplexToComplex,
                ..case.clone()
            };
            complex.problem().direction(Direction::Forward)
        } else {
            case.problem()
        };
        problem = problem.batch(self.batch);
        if self.wide_integer {
            problem = problem.substrate(match case.engine {
                Engine::Ntt => CpuUnit::Scalar,
                _ => CpuUnit::WideInteger,
            });
        }
        if let Some(threads) = self.threads {
            problem = problem.threads(threads);
        }
        if let Some(layout) = &self.input {
            problem = problem.input_layout(layout.clone());
        }
        if let Some(layout) = &self.output {
            problem = problem.output_layout(layout.clone());
        }
        problem
    }

    /// Runs a plan of this variant's problem.
    pub(super) fn execute<T: Real>(
        &self,
        case: &Case,
        plan: &Plan<T>,
        buffer: Values<T>,
    ) -> Result<Values<T>, FftError> {
        if self.in_place && case.kind == Kind::RealToComplex && !self.as_complex {
            execute_real_in_place(plan, &buffer)
        } else if self.in_place {
            execute_in_place(plan, buffer)
        } else {
            execute(plan, &buffer)
        }
    }

    /// The input in its layout, between other arrays of the batch and numbers that must not be read.
    pub(super) fn spread<T: Real>(
        &self,
        problem: &Problem,
        input: &Values<T>,
        case: &Case,
    ) -> Values<T> {
        let mut noise = uniform_complex(problem.input_len(), seed_of_case(case.seed, 1));
        let shape = problem.input_shape();
        let layout = self
            .input
            .clone()
            .unwrap_or_else(|| Layout::contiguous(&shape));
        let sizes = Sizes::<T>::draw(case);
        for array in (0..self.batch).filter(|_| sizes.differ) {
            for flat in 0..shape.iter().product() {
                let indices = unravel(flat, &shape);
                let number = &mut noise[position(&layout, &indices, array)];
                *number = sizes.change(array + 1, &indices, *number);
            }
        }
        let narrow = |value: &Complex<f64>| Complex::new(T::narrow(value.re), T::narrow(value.im));
        match input {
            Values::Real(values) if self.as_complex => {
                let mut buffer: Vec<_> = noise.iter().map(narrow).collect();
                for (flat, &value) in values.iter().enumerate() {
                    let place = element(&layout, &shape, self.position, flat);
                    buffer[place] = Complex::new(value, T::narrow(0.0));
                }
                Values::Complex(buffer)
            }
            Values::Real(values) => {
                let mut buffer: Vec<T> = noise.iter().map(|value| T::narrow(value.re)).collect();
                for (flat, &value) in values.iter().enumerate() {
                    buffer[element(&layout, &shape, self.position, flat)] = value;
                }
                Values::Real(buffer)
            }
            Values::Complex(values) => {
                let mut buffer: Vec<_> = noise.iter().map(narrow).collect();
                for (flat, &value) in values.iter().enumerate() {
                    buffer[element(&layout, &shape, self.position, flat)] = value;
                }
                Values::Complex(buffer)
            }
        }
    }

    fn first_difference<V: Bits>(
        &self,
        plain: &Problem,
        problem: &Problem,
        expected: &[V],
        found: &[V],
    ) -> Option<String> {
        let shape = problem.output_shape();
        let layout = self
            .output
            .clone()
            .unwrap_or_else(|| Layout::contiguous(&shape));
        let expected_shape = plain.output_shape();
        expected.iter().enumerate().find_map(|(flat, &value)| {
            // The same indices: the plain result may be the half of a whole spectrum.
            let indices = unravel(flat, &expected_shape);
            let place = position(&layout, &indices, self.position);
            let other = found[place];
            (!value.same(other)).then(|| {
                let (one, two) = (value.hex(), other.hex());
                format!("at {indices:?} {value:?} = {one} became {other:?} = {two}")
            })
        })
    }
}

pub(super) fn element(layout: &Layout, shape: &[usize], batch: usize, flat: usize) -> usize {
    position(layout, &unravel(flat, shape), batch)
}

fn position(layout: &Layout, indices: &[usize], batch: usize) -> usize {
    let steps = indices.iter().zip(layout.strides());
    let relative: isize = steps.map(|(&index, &stride)| index as isize * stride).sum();
    (layout.offset() as isize + relative + batch as isize * layout.distance()) as usize
}

/// Contiguous, Fortran order, or any nesting of the dimensions and the batch, with gaps, offset and reversed axes.
fn layout(generator: &mut Generator, shape: &[usize], batch: usize) -> Option<Layout> {
    let strides = Strides::draw_often_contiguous(generator, shape, batch)?;
    Some(layout_of(&strides))
}

/// C order with some elements between rows, and an offset.
fn with_longer_rows(generator: &mut Generator, shape: &[usize]) -> Layout {
    let mut longer = shape.to_vec();
    if let Some((last, _)) = longer.split_last_mut().filter(|_| shape.len() > 1) {
        *last += generator.below(4);
    }
    let rows = Layout::contiguous(&longer);
    let gap = if shape.len() == 1 {
        generator.below(4) as isize
    } else {
        0
    };
    Layout::strided(rows.strides(), rows.distance() + gap).with_offset(generator.below(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_flipped_bit_is_found_in_any_layout() {
        let plain = Problem::complex(&[4, 3]);
        let expected = uniform_complex(12, 1);
        for seed in 0..50 {
            let mut generator = Generator::new(seed);
            let variant = Variant {
                batch: 3,
                position: 1,
                output: layout(&mut generator, &[4, 3], 3),
                ..Variant::default()
            };
            let mut problem = Problem::complex(&[4, 3]).batch(3);
            if let Some(layout) = &variant.output {
                problem = problem.output_layout(layout.clone());
            }
            let shape = [4, 3];
            let used = variant
                .output
                .clone()
                .unwrap_or_else(|| Layout::contiguous(&shape));
            let mut found = vec![Complex::new(0.0, 0.0); problem.output_len()];
            for (flat, &value) in expected.iter().enumerate() {
                found[element(&used, &shape, 1, flat)] = value;
            }
            assert_eq!(
                variant.first_difference(&plain, &problem, &expected, &found),
                None
            );
            let place = element(&used, &shape, 1, generator.below(12));
            found[place].im = f64::from_bits(found[place].im.to_bits() ^ 1);
            assert!(
                variant
                    .first_difference(&plain, &problem, &expected, &found)
                    .is_some()
            );
        }
    }

    #[test]
    fn cases_for_gpus_compare_whole_arrays() {
        // On the processor, where there is no difference to find, and the units of GPUs are rejected.
        let planners = (Planner::<f64>::new(), Planner::<f32>::new());
        let mut largest = 0;
        for number in (0..200).step_by(7).chain((1400..1600).step_by(11)) {
            let case = Case::draw_for_gpu(3, number);
            largest = largest.max(case.shape.iter().product());
            let outcome = if case.single_precision {
                check_device(&case, &planners.1, (Device::Cpu, None), false)
            } else {
                check_device(&case, &planners.0, (Device::Cpu, None), false)
            };
            outcome.expect("equal bits");
        }
        assert!(largest > 10_000, "{largest}");
    }
}
