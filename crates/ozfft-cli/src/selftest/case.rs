//! Random transforms, drawn so that seed and number give the same one everywhere.

use ozfft::{Accuracy, Direction, Engine, Kind, Norm, Problem, Products};
use ozfft_kernels::Elements;
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::problems::{self, Domain, Source, axes, seed_of_case};

// Not all of it is needed here.
#[allow(dead_code)]
mod conversion {
    ozfft_testkit::problem_conversion!(ozfft);
}
pub(super) use conversion::layout_of;
use conversion::{accuracy_of, direction_of, kind_of, norm_of, products_of};

/// Cases that share lengths and accuracies, and so a planner's tables: planning would take most of the time.
pub const GROUP: usize = 200;
/// Points of one array at most: small arrays find as much as large ones here, and sooner. One group in
/// [`LONG_GROUPS`] has longer lines.
const LARGEST_ARRAY: usize = 160;
const LARGEST_LONG_ARRAY: usize = 1100;
const LONG_GROUPS: usize = 16;
/// On GPUs one group in so many has arrays of up to [`LARGEST_GPU_ARRAY`] points: several passes, many blocks of threads.
const LARGE_GPU_GROUPS: usize = 8;
const LARGEST_GPU_ARRAY: usize = 1 << 16;
/// Lengths of such a group: one or several passes, powers of two or not, and a convolution.
const LARGE_LENGTHS: [usize; 10] = [16, 64, 100, 243, 512, 1000, 1024, 4096, 10_007, 65_536];

/// On GPUs one case in so many has an axis of a length with kernels of its own. Not all of these come in a layout that those
/// kernels take, or are left to them; [`TUNED_SHARE`] of all cases must be.
const TUNED_CASES: usize = 3;
/// Whether numbers are f32, and the accuracy, of such cases.
const TUNED_NUMBERS: [(bool, Accuracy); 6] = [
    (false, Accuracy::Double),
    (false, Accuracy::Double),
    (false, Accuracy::Double),
    (false, Accuracy::Single),
    (false, Accuracy::Target(1e-10)),
    (true, Accuracy::Single),
];
/// One case in so many runs on kernels of its own at least, where the GPU has them.
pub const TUNED_SHARE: usize = 5;
/// Points of one array of such a case at most.
const LARGEST_TUNED_ARRAY: usize = 1 << 17;

/// One transform.
#[derive(Debug, Clone)]
pub struct Case {
    pub number: usize,
    /// Made for the tuned kernels of GPUs.
    pub tuned: bool,
    /// Transforms may be of very different sizes, near the ends of the range, too: what computes is compared bit by bit.
    pub any_size: bool,
    pub kind: Kind,
    pub shape: Vec<usize>,
    pub axes: Vec<usize>,
    pub direction: Direction,
    pub norm: Norm,
    pub accuracy: Accuracy,
    pub products: Products,
    pub single_precision: bool,
    pub engine: Engine,
    /// Seed of the case's values and of its variants.
    pub seed: u64,
}

impl Case {
    /// The case of this number.
    pub fn draw(seed: u64, number: usize) -> Case {
        Case::of_group(&Group::draw(seed, number / GROUP), seed, number)
    }

    /// The case of this number for GPUs: some are larger, and some are made for tuned kernels.
    pub fn draw_for_gpu(seed: u64, number: usize) -> Case {
        if number % TUNED_CASES == TUNED_CASES - 1 {
            return Case::tuned(seed, number);
        }
        let mut group = Group::draw(seed, number / GROUP);
        if (number / GROUP) % LARGE_GPU_GROUPS == LARGE_GPU_GROUPS - 1 {
            group.lengths = LARGE_LENGTHS.to_vec();
            group.largest_array = LARGEST_GPU_ARRAY;
        }
        Case::of_group(&group, seed, number)
    }

    fn of_group(group: &Group, seed: u64, number: usize) -> Case {
        let mut generator = Generator::new(seed_of_case(seed, 2 * number as u64));
        let double = problems::Accuracy::Double;
        let domain = Domain {
            lengths: Some(&group.lengths),
            ranks: (1, 3),
            points: group.largest_array,
            accuracies: &[double, double, group.accuracy],
            exact_once_in: 3,
            // As FFTW has them.
            real_inverse: false,
        };
        let drawn = domain.draw(&mut generator);
        Case {
            number,
            tuned: false,
            any_size: true,
            kind: kind_of(drawn.kind),
            axes: drawn
                .axes
                .unwrap_or_else(|| (0..drawn.shape.len()).collect()),
            shape: drawn.shape,
            direction: direction_of(drawn.inverse),
            norm: norm_of(drawn.norm),
            accuracy: accuracy_of(drawn.accuracy),
            products: products_of(drawn.exact),
            single_precision: group.single_precision,
            engine: Engine::Digits,
            seed: generator.next_u64(),
        }
    }

    /// A case with an axis for which there are tuned kernels: of complex numbers, contiguous or strided, or the halved one of
    /// a real transform.
    fn tuned(seed: u64, number: usize) -> Case {
        let mut generator = Generator::new(seed_of_case(seed, 2 * number as u64));
        let (single_precision, accuracy) = generator.pick(&TUNED_NUMBERS);
        let lengths = tuned_lengths(Elements::Complex, single_precision, accuracy);
        let mut shape = vec![generator.pick(&lengths)];
        for _ in 0..generator.pick(&[0, 0, 1, 1, 2]) {
            let room = LARGEST_TUNED_ARRAY / shape.iter().product::<usize>();
            let length = match generator.below(6) {
                0 => generator.pick(&lengths),
                1 => 1 + generator.below(4),
                _ => 1 + generator.below(40),
            };
            // Transforms of two passes have tuned kernels where they are contiguous.
            let ends = shape.last().is_some_and(|&last| is_of_two_passes(last));
            let place = generator.below(shape.len() + usize::from(!ends));
            shape.insert(place, length.min(room).max(1));
        }
        let is_tuned = |&axis: &usize| lengths.contains(&shape[axis]);
        let mut axes = axes(&mut generator, shape.len());
        if !axes.iter().any(is_tuned) {
            axes.extend((0..shape.len()).find(is_tuned));
        }
        // The halved axis of a real transform has other kernels, for contiguous lines of a few lengths; else it needs one
        // besides.
        let last = shape.len() - 1;
        let halved_tuned = tuned_lengths(Elements::RealToComplex, single_precision, accuracy)
            .contains(&shape[last])
            && generator.below(4) != 0;
        let halved = if halved_tuned {
            axes.iter().position(|&axis| axis == last)
        } else {
            axes.iter().position(|axis| !is_tuned(axis))
        };
        let kinds = [
            Kind::ComplexToComplex,
            Kind::ComplexToComplex,
            Kind::RealToComplex,
            Kind::ComplexToReal,
        ];
        let kind = match halved {
            Some(place) => {
                let axis = axes.remove(place);
                axes.push(axis);
                generator.pick(if halved_tuned { &kinds[2..] } else { &kinds })
            }
            None => Kind::ComplexToComplex,
        };
        Case {
            number,
            tuned: true,
            any_size: true,
            kind,
            axes,
            shape,
            direction: direction(&mut generator, kind),
            norm: generator.pick(&NORMS),
            accuracy,
            products: Products::Truncated,
            single_precision,
            engine: Engine::Digits,
            seed: generator.next_u64(),
        }
    }

    /// The same case by another engine, as far as that has it: ntt always multiplies exactly, to one accuracy or another.
    pub fn by(self, engine: Engine) -> Case {
        match engine {
            Engine::Ntt => Case {
                engine,
                accuracy: Accuracy::Double,
                products: Products::Truncated,
                ..self
            },
            _ => self,
        }
    }

    /// The problem, with everything else as it comes by default.
    pub fn problem(&self) -> Problem {
        let problem = match self.kind {
            Kind::ComplexToComplex => Problem::complex(&self.shape),
            Kind::RealToComplex => Problem::real_to_complex(&self.shape),
            Kind::ComplexToReal => Problem::complex_to_real(&self.shape),
        };
        problem
            .axes(&self.axes)
            .direction(self.direction)
            .norm(self.norm)
            .accuracy(self.accuracy)
            .products(self.products)
            .engine(self.engine)
    }
}

/// What the cases of a group have in common.
struct Group {
    lengths: Vec<usize>,
    accuracy: problems::Accuracy,
    single_precision: bool,
    largest_array: usize,
}

impl Group {
    fn draw(seed: u64, number: usize) -> Group {
        let mut generator = Generator::new(seed_of_case(seed, 2 * number as u64 + 1));
        let long = generator.below(LONG_GROUPS) == 0;
        // Primes above the direct sizes go through a convolution.
        let primes: &[usize] = if long {
            &[211, 257, 331, 509, 521, 1009]
        } else {
            &[11, 37, 67, 79, 101, 131]
        };
        let lengths = vec![
            1 + generator.below(16),
            1 << generator.below(if long { 11 } else { 8 }),
            1 + generator.below(64),
            1 + generator.below(if long { 1000 } else { 150 }),
            generator.pick(primes),
        ];
        let single_precision = generator.below(4) == 0;
        // What single precision can represent is less than what digits can promise.
        let hardest = if single_precision { 18 } else { 44 };
        let accuracy = match generator.below(3) {
            0 if !single_precision => problems::Accuracy::Single,
            1 => problems::Accuracy::Target(
                (-(6.0 + generator.below(hardest - 6) as f64)).exp2() * 1.1,
            ),
            _ => problems::Accuracy::Bits(6 + generator.below(hardest - 6) as u32),
        };
        Group {
            lengths,
            accuracy,
            single_precision,
            largest_array: if long {
                LARGEST_LONG_ARRAY
            } else {
                LARGEST_ARRAY
            },
        }
    }
}

pub(super) const NORMS: [Norm; 4] = [Norm::Backward, Norm::Ortho, Norm::Forward, Norm::Unscaled];

pub(super) fn direction(generator: &mut Generator, kind: Kind) -> Direction {
    match kind {
        Kind::ComplexToComplex => generator.pick(&[Direction::Forward, Direction::Inverse]),
        Kind::RealToComplex => Direction::Forward,
        Kind::ComplexToReal => Direction::Inverse,
    }
}

/// Lengths of lines of such elements, f32 or f64, with kernels of their own for an accuracy.
fn tuned_lengths(elements: Elements, single_precision: bool, accuracy: Accuracy) -> Vec<usize> {
    let digits = match accuracy {
        Accuracy::Double => 8,
        Accuracy::Single => 5,
        _ => 6,
    };
    let wanted = (elements, single_precision, digits);
    let one_pass = ozfft_kernels::TUNED.iter();
    let one_pass = one_pass.filter(|shape| (shape.elements, shape.single, shape.digits) == wanted);
    let one_pass = one_pass.map(|shape| shape.first * shape.last);
    let two_passes = ozfft_kernels::TUNED_PASSES.iter();
    let two_passes = two_passes.filter(|_| wanted == (Elements::Complex, false, 8));
    let two_passes = two_passes.map(|shape| shape.passes.iter().product());
    one_pass.chain(two_passes).collect()
}

/// Whether the kernels of such lines are for contiguous ones alone.
fn is_of_two_passes(length: usize) -> bool {
    let mut shapes = ozfft_kernels::TUNED_PASSES.iter();
    shapes.any(|shape| shape.passes.iter().product::<usize>() == length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_third_case_for_gpus_has_an_axis_with_tuned_kernels() {
        let real_lengths = |case: &Case| {
            tuned_lengths(
                Elements::RealToComplex,
                case.single_precision,
                case.accuracy,
            )
        };
        let halved_fits = |case: &Case| {
            let last = case.shape.len() - 1;
            case.kind != Kind::ComplexToComplex
                && case.axes.last() == Some(&last)
                && real_lengths(case).contains(&case.shape[last])
        };
        let cases: Vec<Case> = (0..3000).map(|n| Case::draw_for_gpu(5, n)).collect();
        let tuned: Vec<&Case> = cases.iter().filter(|case| case.tuned).collect();
        assert_eq!(tuned.len(), 1000);
        for case in &tuned {
            case.problem().validate().expect("a problem");
            let points: usize = case.shape.iter().product();
            assert!(points <= LARGEST_TUNED_ARRAY, "{case:?}");
            let whole = match case.kind {
                Kind::ComplexToComplex => &case.axes[..],
                _ => &case.axes[..case.axes.len() - 1],
            };
            let lengths = tuned_lengths(Elements::Complex, case.single_precision, case.accuracy);
            let fits = |axis: &usize| lengths.contains(&case.shape[*axis]);
            assert!(halved_fits(case) || whole.iter().any(fits), "{case:?}");
        }
        let of = |wanted: &dyn Fn(&Case) -> bool| tuned.iter().filter(|case| wanted(case)).count();
        assert!(of(&|case| case.kind != Kind::ComplexToComplex) > 100);
        for kind in [Kind::RealToComplex, Kind::ComplexToReal] {
            assert!(of(&|case| case.kind == kind && halved_fits(case)) > 30);
        }
        assert!(of(&|case| case.shape.len() == 3) > 100);
        assert!(of(&|case| case.single_precision) > 100);
        assert!(of(&|case| !case.single_precision && case.accuracy != Accuracy::Double) > 200);
        assert!(of(&fits_in_the_middle) > 20);
        assert!(of(&|case| case.single_precision && fits_in_the_middle(case)) > 3);
        // The others are what they were before there were such cases.
        let other = Case::draw(5, 600);
        assert_eq!(format!("{other:?}"), format!("{:?}", cases[600]));
    }

    fn fits_in_the_middle(case: &Case) -> bool {
        let lengths = tuned_lengths(Elements::Complex, case.single_precision, case.accuracy);
        case.shape.len() == 3 && case.axes.contains(&1) && lengths.contains(&case.shape[1])
    }
}
