//! One suite for every matrix unit: the bits of the scalar unit, and the accuracy that the plan promises.
//!
//! A unit that this processor has not is skipped with a notice. Reference values come from the scalar unit on
//! contiguous arrays, and the errors are against the oracle, so that all units being wrong alike would show as well.

use crate::common_arrays::{
    Sample, available_substrates, collect, count, execute_any, positions, random_layout,
    random_values, requirement, spread, widths,
};
use crate::support::{GATE_L2, PRODUCTS, everything, half};
use num_complex::Complex;
use ozfft::{
    Accuracy, CpuUnit, Direction, Engine, Kind, Layout, Plan, Planner, Problem, Substrate,
};
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::{Generator, uniform_complex, uniform_real};
use ozfft_testkit::oracle::{Scale, compare, compare_f32, compare_scaled, dft, dft_nd};
use ozfft_testkit::{assert_same_bits, available};
use std::sync::Arc;

const SEED: u64 = 0x51de_0b7a_93c6_2f48;

/// Below, at and above the lanes of every unit, once and twice. Odd ones are shared by two threads; with the last, one thread has pairs of sets.
const BATCHES: [usize; 7] = [1, 3, 7, 8, 9, 17, 18];

const ACCURACIES: [Accuracy; 4] = [
    Accuracy::Double,
    Accuracy::Single,
    Accuracy::Target(1e-10),
    Accuracy::Target(1e-4),
];

/// In place of the last one, in turn: four digits, three, two.
const FEW_DIGITS: [f64; 3] = [1e-4, 1e-2, 0.5];

/// How the arrays lie.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Contiguous,
    /// One array's elements side by side with the others': lines that neighbour each other in memory.
    Interleaved,
    /// Gaps, negative strides, any order of the dimensions.
    Random,
    /// Over the input; for complex data only.
    InPlace,
    InPlaceInterleaved,
}

const FORMS: [Form; 5] = [
    Form::Contiguous,
    Form::Interleaved,
    Form::Random,
    Form::InPlace,
    Form::InPlaceInterleaved,
];

/// A unit under test, with a planner for each type and the numbers that variants are drawn with.
struct Bench {
    substrate: Substrate,
    name: &'static str,
    doubles: Planner<f64>,
    singles: Planner<f32>,
    generator: Generator,
    /// Counts through batches and forms, so that all of them meet all kinds of lengths.
    turn: usize,
    /// Counts through the kinds of transform.
    kind: usize,
    shapes: usize,
}

impl Bench {
    /// None, with a notice, where planning says that the unit is not there.
    fn new(substrate: Substrate, name: &'static str) -> Option<Bench> {
        let here = available_substrates().contains(&substrate);
        let reason = format!("this processor has no {name}, or the environment leaves it out");
        match requirement(substrate) {
            Some(requirement) => available(requirement, here.then_some(()).ok_or(reason))?,
            None => assert!(here, "{reason}"),
        }
        println!("{name}: seed {SEED:#x}");
        Some(Bench {
            substrate,
            name,
            doubles: Planner::new(),
            singles: Planner::new(),
            generator: Generator::new(SEED),
            turn: 0,
            kind: 0,
            shapes: 0,
        })
    }

    /// All kinds, directions, accuracies and products of a shape, in `variants` batches and forms each.
    fn shape(&mut self, shape: &[usize], batches: &[usize], variants: usize) {
        for products in PRODUCTS {
            for accuracy in ACCURACIES {
                let accuracy = match accuracy {
                    Accuracy::Target(1e-4) => Accuracy::Target(FEW_DIGITS[self.shapes % 3]),
                    accuracy => accuracy,
                };
                let kinds = [
                    Problem::complex(shape),
                    Problem::complex(shape).direction(Direction::Inverse),
                    Problem::real_to_complex(shape),
                    Problem::complex_to_real(shape),
                ];
                // Planning for a target weighs all recipes there are: one kind in turn instead of all four.
                self.kind += 1;
                let chosen = accuracy.target().map(|_| self.kind % kinds.len());
                for (kind, problem) in kinds.into_iter().enumerate() {
                    if chosen.is_some_and(|chosen| chosen != kind) {
                        continue;
                    }
                    let problem = problem
                        .products(products)
                        .accuracy(accuracy)
                        .engine(Engine::Digits);
                    // Numbers of single precision cannot keep 1e-10.
                    let singles_too = accuracy != Accuracy::Target(1e-10);
                    self.types(&problem, singles_too, batches, variants);
                }
            }
        }
        // Tables are shared by many lengths, but those of all lengths would fill the memory.
        self.shapes += 1;
        if self.shapes.is_multiple_of(8) {
            self.doubles.clear();
            self.singles.clear();
        }
    }

    fn types(&mut self, problem: &Problem, singles_too: bool, batches: &[usize], variants: usize) {
        let Bench {
            substrate,
            name,
            doubles,
            singles,
            generator,
            turn,
            ..
        } = self;
        let unit = (*substrate, *name);
        compare_bits::<f64>(doubles, unit, problem, batches, variants, generator, *turn);
        *turn += variants;
        if singles_too {
            compare_bits::<f32>(singles, unit, problem, batches, variants, generator, *turn);
            *turn += variants;
        }
    }
}

fn planned<T: Sample>(planner: &Planner<T>, problem: &Problem) -> Arc<Plan<T>> {
    planner
        .plan(problem)
        .unwrap_or_else(|error| panic!("{problem:?}: {error}"))
}

/// Input and output layout of a batch.
fn layouts(form: Form, problem: &Problem, batch: usize, generator: &mut Generator) -> [Layout; 2] {
    let lay = |shape: &[usize], generator: &mut Generator| match form {
        Form::Contiguous | Form::InPlace => Layout::contiguous(shape),
        Form::Random => random_layout(generator, shape, batch),
        Form::Interleaved | Form::InPlaceInterleaved => {
            let strides: Vec<isize> = (0..shape.len())
                .map(|axis| (batch * count(&shape[axis + 1..])) as isize)
                .collect();
            Layout::strided(&strides, 1)
        }
    };
    let input = lay(&problem.input_shape(), generator);
    [input, lay(&problem.output_shape(), generator)]
}

/// Batches in several forms on the unit, against one batch on the scalar unit.
fn compare_bits<T: Sample>(
    planner: &Planner<T>,
    (substrate, name): (Substrate, &str),
    problem: &Problem,
    batches: &[usize],
    variants: usize,
    generator: &mut Generator,
    turn: usize,
) {
    let kind = problem.kind();
    let (input_shape, output_shape) = (problem.input_shape(), problem.output_shape());
    let (input_width, output_width) = widths(kind);
    let cases: Vec<(usize, Form)> = (turn..turn + variants)
        .map(|turn| {
            let forms = if kind == Kind::ComplexToComplex { 5 } else { 3 };
            let batch = batches[turn % batches.len()];
            (batch, FORMS[turn / batches.len() % forms])
        })
        .collect();
    let most = cases.iter().map(|&(batch, _)| batch).max().unwrap_or(1);
    let zero = T::from_double(0.0);
    let values: Vec<T> = random_values(generator, most * count(&input_shape) * input_width);
    let mut expected = vec![zero; most * count(&output_shape) * output_width];
    let scalar = problem.clone().substrate(CpuUnit::Scalar).threads(1);
    let reference = planned(planner, &scalar.batch(most));
    execute_any(&reference, &values, &mut expected)
        .unwrap_or_else(|error| panic!("{problem:?}: {error}"));

    for (batch, form) in cases {
        let [input_layout, output_layout] = layouts(form, problem, batch, generator);
        let variant = problem
            .clone()
            .substrate(substrate)
            .threads(1 + batch % 2)
            .batch(batch)
            .input_layout(input_layout.clone())
            .output_layout(output_layout.clone());
        let plan = planned(planner, &variant);
        assert_eq!(plan.substrate(), name, "another unit runs: {variant:?}");
        assert_eq!(plan.recipe(), reference.recipe(), "{variant:?}");
        let filler = T::from_double(-777.0);
        let read = positions(&input_layout, &input_shape, batch);
        let written = positions(&output_layout, &output_shape, batch);
        let input = spread(
            &values[..batch * count(&input_shape) * input_width],
            input_width,
            &read,
            variant.input_len(),
            filler,
        );
        let in_place = matches!(form, Form::InPlace | Form::InPlaceInterleaved);
        let mut output = if in_place {
            input.clone()
        } else {
            vec![filler; variant.output_len() * output_width]
        };
        let outcome = if in_place {
            plan.process(bytemuck::cast_slice_mut(&mut output))
        } else {
            execute_any(&plan, &input, &mut output)
        };
        outcome.unwrap_or_else(|error| panic!("{variant:?}: {error}"));
        let found = collect(&output, output_width, &written);
        let right = &expected[..found.len()];
        assert_same_bits(
            right,
            &found,
            SEED,
            format_args!("{name} has other bits than scalar: {form:?}, {variant:?}"),
        );
    }
}

impl Bench {
    /// The reference itself, and the unit that differs from it in nothing but products: fewer lengths of them.
    fn has_one_lane(&self) -> bool {
        matches!(
            self.substrate,
            Substrate::Cpu(CpuUnit::Scalar) | Substrate::Cpu(CpuUnit::WideInteger)
        )
    }
}

fn short_lengths(mut bench: Bench) {
    let step = match bench.has_one_lane() {
        true if !everything() => 7,
        true => 3,
        false => 1,
    };
    // Beyond 64 points blocks have several steps: every second length.
    let thin = |n: &usize| everything() || *n <= 64 || n.is_multiple_of(2) || *n == 67 || *n == 127;
    for n in (1..=130).step_by(step).filter(thin) {
        bench.shape(&[n], &BATCHES, 1);
    }
}

fn long_lengths(mut bench: Bench) {
    if bench.has_one_lane() && !everything() {
        bench.shape(&[256], &BATCHES, 1);
        bench.shape(&[1009], &[1, 3], 1);
        bench.shape(&[4096], &[1], 1);
        return;
    }
    for n in [256, 1024] {
        bench.shape(&[n], &BATCHES, 1);
    }
    for n in [1000, 1009] {
        let batches = if everything() { &BATCHES[..] } else { &[1, 9] };
        bench.shape(&[n], batches, 1);
    }
    if bench.has_one_lane() {
        bench.shape(&[4096], &[1, 3], 1);
        return;
    }
    for n in [2048, 4096, 4099] {
        bench.shape(&[n], &[1, 9, 3], 1);
    }
    bench.shape(&[16384], &[1], 1);
}

fn arrays(mut bench: Bench) {
    let shapes: [&[usize]; 12] = [
        &[8, 8],
        &[16, 9],
        &[7, 64],
        &[33, 5],
        &[60, 24],
        &[2, 131],
        &[4, 4, 4],
        &[3, 16, 10],
        &[8, 7, 9],
        &[17, 1, 12],
        // Half-spectra of 9 and 18 columns: one or two lines of every row are left over.
        &[3, 12, 16],
        &[2, 48, 34],
    ];
    for shape in shapes {
        bench.shape(shape, &BATCHES, 1);
    }
}

/// Every batch in every form, for one length of every kind: steps with each fold, several steps, chirps, passes.
fn batches_and_forms(mut bench: Bench) {
    for n in [4, 15, 16, 30, 64, 131, 240, 1025] {
        for problem in [
            Problem::complex(&[n]),
            Problem::real_to_complex(&[n]),
            Problem::complex_to_real(&[n]),
        ] {
            let problem = problem.engine(Engine::Digits);
            let variants = BATCHES.len() * FORMS.len();
            bench.types(&problem, true, &BATCHES, variants);
        }
    }
}

/// Errors against the oracle: within the bound always, and within the gate for doubles of the full recipe.
fn accuracy(bench: Bench) {
    let forward = oracle::Direction::Forward;
    for n in [256, 1000, 1024, 4096, 1009] {
        let input = uniform_complex(n, n as u64);
        let exact = dft(&input, forward);
        let backward = dft(&input, oracle::Direction::Inverse);
        for products in PRODUCTS {
            for accuracy in ACCURACIES {
                let problem = Problem::complex(&[n])
                    .products(products)
                    .accuracy(accuracy)
                    .engine(Engine::Digits)
                    .substrate(bench.substrate);
                let plan = planned(&bench.doubles, &problem);
                let say = |what: &str, error: f64| {
                    format!("{}: {what} {error:.3e}, seed {n}: {plan}", bench.name)
                };
                let gate = match accuracy {
                    Accuracy::Double => plan.bound().min(GATE_L2),
                    _ => plan.bound(),
                };
                let mut data = input.clone();
                plan.process(&mut data).expect("a forward transform");
                let error = compare(&data, &exact).l2;
                assert!(error <= gate, "{}", say("forward", error));

                let inverse = problem.clone().direction(Direction::Inverse);
                let plan = planned(&bench.doubles, &inverse);
                let mut data = input.clone();
                plan.process(&mut data).expect("an inverse transform");
                let error = compare_scaled(&data, &backward, Scale::OneOverLength(n)).l2;
                assert!(error <= gate, "{}", say("inverse", error));
            }
        }
        let real = uniform_real(n, n as u64 + 1);
        let as_complex: Vec<Complex<f64>> = real.iter().map(|&x| Complex::new(x, 0.0)).collect();
        let exact = half(&dft(&as_complex, forward), &[n]);
        let problem = Problem::real_to_complex(&[n])
            .engine(Engine::Digits)
            .substrate(bench.substrate);
        let plan = planned(&bench.doubles, &problem);
        let mut output = vec![Complex::new(0.0, 0.0); n / 2 + 1];
        plan.process_real_to_complex(&real, &mut output)
            .expect("a real transform");
        let error = compare(&output, &exact).l2;
        assert!(
            error <= plan.bound().min(GATE_L2),
            "{}: real input of {n}: {error:.3e}",
            bench.name
        );
    }
    single_numbers_and_arrays(&bench);
}

fn single_numbers_and_arrays(bench: &Bench) {
    let forward = oracle::Direction::Forward;
    for shape in [&[60, 24][..], &[8, 7, 9], &[1000]] {
        let narrow: Vec<Complex<f32>> = uniform_complex(count(shape), 5)
            .iter()
            .map(|z| Complex::new(z.re as f32, z.im as f32))
            .collect();
        let wide: Vec<Complex<f64>> = narrow
            .iter()
            .map(|z| Complex::new(f64::from(z.re), f64::from(z.im)))
            .collect();
        let exact = dft_nd(&wide, shape, forward);
        for products in PRODUCTS {
            let problem = Problem::complex(shape)
                .products(products)
                .engine(Engine::Digits)
                .substrate(bench.substrate);
            let plan = planned(&bench.singles, &problem);
            let mut data = narrow.clone();
            plan.process(&mut data).expect("a transform");
            let error = compare_f32(&data, &exact, Scale::One).l2;
            assert!(error <= plan.bound(), "{shape:?} f32: {error:.3e}, {plan}");

            let plan = planned(&bench.doubles, &problem);
            let mut data = wide.clone();
            plan.process(&mut data).expect("a transform");
            let error = compare(&data, &exact).l2;
            assert!(error <= plan.bound(), "{shape:?}: {error:.3e}, {plan}");
        }
    }
}

/// Tiles where steps are long, vectors where they are short, unless a unit is asked for by name.
#[test]
fn auto_leaves_short_steps_to_vectors() {
    let [amx, vnni] = [CpuUnit::Amx, CpuUnit::Avx512Vnni].map(Substrate::from);
    let there = available_substrates();
    if !(there.contains(&amx) && there.contains(&vnni)) {
        println!("this processor has not both AMX and AVX-512 VNNI");
        return;
    }
    let planner = Planner::<f64>::new();
    for (shape, accuracy, auto) in [
        (&[64][..], Accuracy::Double, "avx512-vnni"),
        (&[128, 128, 128], Accuracy::Double, "avx512-vnni"),
        (&[1024], Accuracy::Double, "amx"),
        (&[64], Accuracy::Single, "amx"),
        (&[64, 1024], Accuracy::Double, "amx and avx512-vnni"),
    ] {
        let problem = Problem::complex(shape)
            .engine(Engine::Digits)
            .accuracy(accuracy)
            .batch(16);
        assert_eq!(planned(&planner, &problem).substrate(), auto, "{shape:?}");
        for (unit, name) in [(amx, "amx"), (vnni, "avx512-vnni")] {
            let named = planned(&planner, &problem.clone().substrate(unit));
            assert_eq!(named.substrate(), name, "{shape:?}");
        }
    }
}

/// The suite for one substrate.
macro_rules! conforms {
    ($module:ident, $substrate:expr, $name:literal) => {
        mod $module {
            use super::*;

            #[test]
            fn lengths_to_130_have_the_bits_of_scalar() {
                Bench::new($substrate, $name).map(short_lengths);
            }

            #[test]
            fn lengths_to_16384_have_the_bits_of_scalar() {
                Bench::new($substrate, $name).map(long_lengths);
            }

            #[test]
            fn arrays_have_the_bits_of_scalar() {
                Bench::new($substrate, $name).map(arrays);
            }

            #[test]
            fn every_batch_in_every_form_has_the_bits_of_scalar() {
                Bench::new($substrate, $name).map(batches_and_forms);
            }

            #[test]
            fn errors_stay_within_the_bound_and_the_gate() {
                Bench::new($substrate, $name).map(accuracy);
            }
        }
    };
}

conforms!(scalar, Substrate::Cpu(CpuUnit::Scalar), "scalar");
conforms!(
    wide_integer,
    Substrate::Cpu(CpuUnit::WideInteger),
    "wide-integer"
);
conforms!(avx2, Substrate::Cpu(CpuUnit::Avx2), "avx2");
conforms!(
    avx512_vnni,
    Substrate::Cpu(CpuUnit::Avx512Vnni),
    "avx512-vnni"
);
conforms!(amx, Substrate::Cpu(CpuUnit::Amx), "amx");
conforms!(neon_dot, Substrate::Cpu(CpuUnit::NeonDot), "neon-dot");
