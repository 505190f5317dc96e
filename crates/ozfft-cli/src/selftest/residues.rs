//! Random transforms by the residues engine of a GPU: every path that it has. Exact ones must have the bits of exact digits on the
//! processor; the others must stay within their bounds, and outside of the transform's elements nothing may change.

use super::bits::{Computed, Values, Variant as Layouts, element, input_values};
use super::case::{Case, NORMS, direction};
use num_complex::Complex;
use ozfft::{
    Accuracy, Device, Engine, FftError, Kind, Layout, Plan, Planner, Problem, Products, Real,
    Substrate,
};
use ozfft_measure::gpu::{Numbers, RESIDUE_PATHS, RESIDUE_PATHS_OF_KINDS, ResiduePath, Run};
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::problems::{Source, seed_of_case};
use ozfft_testkit::{Bits, same_bits};
use std::sync::Arc;

/// Points of the lines that some kernels take, and of those that all take.
const POINTS: [usize; 3] = [256, 512, 1024];
const ALL_TAKE: usize = 1024;
/// Lines of an array at most, but for one case in [`SQUARES`] that has two axes of such lengths.
const MOST_LINES: usize = 24;
const SQUARES: usize = 64;

/// One transform and the path that it takes.
pub struct ResidueCase {
    pub case: Case,
    path: &'static ResiduePath,
}

/// The paths that are checked, in turn; in integers only those that are exact.
fn paths(integers_only: bool) -> Vec<&'static ResiduePath> {
    let checked = |path: &&ResiduePath| path.exact || !integers_only;
    let paths = RESIDUE_PATHS.iter().chain(RESIDUE_PATHS_OF_KINDS);
    paths.filter(checked).collect()
}

impl ResidueCase {
    /// The case of this number.
    pub fn draw(seed: u64, number: usize, integers_only: bool) -> ResidueCase {
        let paths = paths(integers_only);
        // Cases of all engines have the residues' ones at regular distances, which must not leave out paths.
        let path = paths[(seed_of_case(seed, 3 * number as u64 + 2) % paths.len() as u64) as usize];
        let mut generator = Generator::new(seed_of_case(seed, 2 * number as u64));
        let length = |generator: &mut Generator| match path.short {
            true => generator.pick(&POINTS),
            false => ALL_TAKE,
        };
        let mut shape = vec![length(&mut generator)];
        let rank = generator.pick(&[1, 2, 2, 2, 3, 3]);
        let mut lines = 1;
        while shape.len() < rank {
            let length = 1 + generator.below(MOST_LINES / lines);
            lines *= length;
            shape.insert(generator.below(shape.len() + 1), length);
        }
        if rank > 1 && generator.below(SQUARES) == 0 {
            shape = vec![length(&mut generator), length(&mut generator)];
        }
        let mut axes: Vec<usize> = (0..shape.len())
            .filter(|&axis| POINTS.contains(&shape[axis]))
            .collect();
        generator.shuffle(&mut axes);
        axes.truncate(1 + generator.below(axes.len()));
        let kind = match path.numbers {
            Numbers::ComplexDoubles => Kind::ComplexToComplex,
            _ => generator.pick(&[
                Kind::ComplexToComplex,
                Kind::RealToComplex,
                Kind::ComplexToReal,
            ]),
        };
        let single_precision = path.numbers == Numbers::Singles;
        let case = Case {
            number,
            // Numbers near the ends of the range are rounded where no relative bound holds.
            tuned: path.exact,
            any_size: path.exact,
            kind,
            axes,
            shape,
            direction: direction(&mut generator, kind),
            norm: generator.pick(&NORMS),
            accuracy: match single_precision {
                true => Accuracy::Single,
                false => Accuracy::Double,
            },
            products: Products::Exact,
            single_precision,
            engine: Engine::Digits,
            seed: generator.next_u64(),
        };
        ResidueCase { case, path }
    }

    pub fn path(&self) -> &'static str {
        self.path.name
    }

    /// Computes the case on the processor and on a device. Returns what multiplied there; the error names case, path and the first difference.
    pub fn check(
        &self,
        planners: &(Planner<f64>, Planner<f32>),
        device: Device,
        integers_only: bool,
    ) -> Result<Computed, String> {
        let on_device = |problem: &Problem| {
            let problem = problem.clone().device(device);
            problem.integers_only(integers_only)
        };
        match (self.case.single_precision, self.path.run) {
            (true, Run::Engine(apply)) => self.check_numbers(&planners.1, |problem| {
                planners.1.plan(&apply(on_device(problem)))
            }),
            (true, _) => Err(format!("{} takes no f32", self.path.name)),
            (false, run) => self.check_numbers(&planners.0, |problem| {
                run.plan(&planners.0, on_device(problem))
            }),
        }
    }

    fn check_numbers<T: Real + Bits>(
        &self,
        planner: &Planner<T>,
        plan: impl Fn(&Problem) -> Result<Arc<Plan<T>>, FftError>,
    ) -> Result<Computed, String> {
        let case = &self.case;
        let mut generator = Generator::new(case.seed);
        let input = input_values(case, &case.problem(), &mut generator);
        let (layouts, _) = Layouts::draw_tuned(case, &mut generator);
        let problem = layouts.problem(case).threads(1);
        let describe = |error: &dyn std::fmt::Display| {
            let path = self.path.name;
            format!(
                "case {}, {path}, {case:?} as {layouts:?}: {error}",
                case.number
            )
        };
        let buffer = layouts.spread(&problem, &input, case);
        let compute = || -> Result<_, FftError> {
            let digits = problem.clone().engine(Engine::Digits);
            let on_processor = planner.plan(&digits.substrate(Substrate::Auto))?;
            let on_device = plan(&problem)?;
            let expected = layouts.execute(case, &on_processor, buffer.clone())?;
            let found = layouts.execute(case, &on_device, buffer.clone())?;
            Ok((on_processor, on_device, expected, found))
        };
        let (on_processor, on_device, expected, found) =
            compute().map_err(|error| describe(&error))?;
        let difference = match (&expected, &found) {
            (Values::Complex(expected), Values::Complex(found)) if !self.path.exact => {
                let widened = |numbers: &[Complex<T>]| -> Vec<Complex<f64>> {
                    let numbers = numbers.iter();
                    let wide = numbers.map(|z| Complex::new(z.re.widen(), z.im.widen()));
                    wide.collect()
                };
                let bounds = (on_processor.bound(), on_device.bound());
                let layout = layouts.output.as_ref();
                above_bound(
                    (&widened(expected), &widened(found)),
                    (&problem, layout, layouts.batch),
                    bounds,
                )
            }
            (Values::Complex(expected), Values::Complex(found)) => {
                let compared = same_bits(expected, found, case.seed);
                compared.err().map(|difference| difference.to_string())
            }
            (Values::Real(expected), Values::Real(found)) => {
                let compared = same_bits(expected, found, case.seed);
                compared.err().map(|difference| difference.to_string())
            }
            _ => Some("one result is real, the other complex".into()),
        };
        match difference {
            None => Ok(Computed {
                substrate: on_device.substrate(),
                integers_only: on_device.integers_only(),
            }),
            Some(difference) => Err(describe(&difference)),
        }
    }
}

/// What is wrong with a result that may differ: every array may be off by both bounds together, and everything around the arrays must be untouched.
///
/// With a result `e` that is within `b` of the true one `t`, and `f` within `c`: |f - e| <= (b + c)·|t|, and |t| <= |e| / (1 - b).
fn above_bound(
    (expected, found): (&[Complex<f64>], &[Complex<f64>]),
    (problem, layout, batch): (&Problem, Option<&Layout>, usize),
    (own, other): (f64, f64),
) -> Option<String> {
    let shape = problem.output_shape();
    let contiguous = Layout::contiguous(&shape);
    let layout = layout.unwrap_or(&contiguous);
    let count: usize = shape.iter().product();
    let mut outside = vec![true; expected.len()];
    for array in 0..batch {
        let (mut off, mut whole) = (0.0, 0.0);
        for flat in 0..count {
            let place = element(layout, &shape, array, flat);
            outside[place] = false;
            off += (expected[place] - found[place]).norm_sqr();
            whole += expected[place].norm_sqr();
        }
        let (off, allowed) = (off.sqrt(), (own + other) / (1.0 - own) * whole.sqrt());
        // A NaN is above, too.
        if off.is_nan() || off > allowed {
            return Some(format!(
                "array {array} is off by {off:e}, and {allowed:e} is allowed"
            ));
        }
    }
    let mut pairs = expected.iter().zip(found).zip(outside).enumerate();
    let changed =
        pairs.find(|(_, ((expected, found), outside))| *outside && !expected.same(**found));
    changed.map(|(place, ((expected, found), _))| {
        format!("element {place} is of no array, and {expected:?} became {found:?}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn cases_take_all_paths_layouts_and_ranks_and_are_valid() {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut strided, mut squares, mut deep, mut mixed) = (0, 0, 0, 0);
        let mut lengths: BTreeMap<usize, usize> = BTreeMap::new();
        for number in 0..2000 {
            // As among other cases: at a distance.
            let drawn = ResidueCase::draw(7, 15 * number + 1, false);
            let case = &drawn.case;
            case.problem().validate().expect("a problem");
            for &axis in &case.axes {
                let points = case.shape[axis];
                let taken = POINTS.contains(&points) && (drawn.path.short || points == ALL_TAKE);
                assert!(taken, "{}: {points}", drawn.path());
                *lengths.entry(points).or_insert(0) += 1;
            }
            *counts.entry(drawn.path()).or_insert(0) += 1;
            let last = case.shape.len() - 1;
            strided += usize::from(case.axes[0] != last);
            let square = case.shape.iter().filter(|&n| POINTS.contains(n)).count() == 2;
            squares += usize::from(square);
            mixed += usize::from(square && case.shape[0] != case.shape[1]);
            deep += usize::from(case.shape.len() == 3);
        }
        let all = paths(false);
        assert!(all.len() >= 10);
        for path in all {
            let count = counts.get(path.name).copied().unwrap_or(0);
            assert!(count > 50, "{}: {count} of 2000 cases", path.name);
        }
        assert!(strided > 500 && deep > 300, "{strided}, {deep}");
        assert!(
            (5..80).contains(&squares) && mixed > 0,
            "{squares}, {mixed}"
        );
        assert!(POINTS.iter().all(|n| lengths[n] > 100), "{lengths:?}");
    }

    #[test]
    fn in_integers_only_no_path_rounds() {
        assert!(paths(true).iter().all(|path| path.exact));
        assert!(paths(true).len() < paths(false).len());
        assert!(
            paths(false)
                .iter()
                .all(|path| path.name.starts_with("residues-"))
        );
    }

    #[test]
    fn cases_compare_the_stated_results() {
        // On the processor, whose residues have the bits of digits, too; kernels to be measured and substrates of GPUs are not there.
        let planners = (Planner::new(), Planner::new());
        let (mut exact, mut bounded) = (0, 0);
        let everything = ozfft_testkit::everything();
        for number in 0..40 {
            if !everything && exact >= 5 && bounded >= 5 {
                break;
            }
            let drawn = ResidueCase::draw(3, number, false);
            let points: usize = drawn.case.shape.iter().product();
            let large = points > ALL_TAKE * MOST_LINES;
            if large || !matches!(drawn.path.run, Run::Engine(_)) {
                continue;
            }
            match drawn.check(&planners, Device::Cpu, false) {
                Err(text) if text.contains("needs a GPU") || text.contains("fp8") => continue,
                other => other.expect("equal bits, or within the bound"),
            };
            match drawn.path.exact {
                true => exact += 1,
                false => bounded += 1,
            }
        }
        assert!(exact >= 5 && bounded >= 5, "{exact}, {bounded}");
    }

    #[test]
    fn errors_above_the_bound_and_changes_around_arrays_are_found() {
        let problem = Problem::complex(&[3]).batch(2);
        let layout = Layout::strided(&[1], 4);
        let whole = (&problem, Some(&layout), 2);
        let expected = vec![Complex::new(3.0, 4.0); 7];
        let judge = |found: &[Complex<f64>]| above_bound((&expected, found), whole, (0.0, 1e-3));
        assert_eq!(judge(&expected), None);
        let with = |place: usize, by: f64| {
            let mut found = expected.clone();
            found[place].re += by;
            judge(&found)
        };
        // An array's norm is 5·√3 = 8.66.
        assert_eq!(with(5, 0.0086), None);
        assert!(with(5, 0.0087).is_some_and(|text| text.contains("array 1")));
        assert!(with(0, f64::NAN).is_some_and(|text| text.contains("array 0")));
        assert!(with(3, 1e-15).is_some_and(|text| text.contains("element 3")));
    }
}
