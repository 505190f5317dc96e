//! Every function with a bound has an adversary: inputs that are aimed at it (subnormal, near overflow, of mixed sizes, one element) and an
//! exact result to compare with. A bound that is not in [`ADVERSARIES`] fails the test; those without an adversary elsewhere have it here.

use ozfft::convolution::{fftconvolve, fftconvolve_shaped};
use ozfft::dct::{DctKind, DctPlan};
use ozfft::{Norm, Planner, Problem, Real};
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::oracle::multiprecision::{
    Float, cosine_and_sine_of_turns, from_f64, scale_by_power_of_two,
};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const SEED: u64 = 20261119;
const PRECISION: usize = 256;

/// Public names with `bound` in them, by the file that has them, and the test that attacks what they bound.
const ADVERSARIES: &[(&str, &str, &str)] = &[
    (
        "exact-convolution/src/proof.rs bound",
        "exact-convolution/tests/exact.rs",
        "plans_prove_what_they_promise",
    ),
    (
        "floats/src/plan.rs bound",
        "floats/tests/accuracy.rs",
        "no_line_exceeds_the_bound_on_any_unit",
    ),
    (
        "floats/src/plan.rs bound_f64",
        "floats/tests/accuracy.rs",
        "f64_data_keep_the_bound_in_the_modes_that_take_them",
    ),
    (
        "floats/src/plan.rs bound_of_half",
        "ozfft/tests/floats.rs",
        "half_spectra_with_all_data_in_the_first_column_keep_the_bound_in_the_inverse",
    ),
    (
        "floats/src/plan.rs bound_of_half_f64",
        "ozfft/tests/floats.rs",
        "half_spectra_with_all_data_in_the_first_column_keep_the_bound_in_the_inverse",
    ),
    (
        "ozfft-mpi/src/plan/mod.rs bound",
        "ozfft-mpi/tests/ranks.rs",
        "random_problems_have_the_bits_of_one_process",
    ),
    (
        "ozfft/src/convolution/real.rs bound",
        "ozfft/tests/bounds.rs",
        "no_aimed_operands_exceed_the_bound_of_their_convolution",
    ),
    (
        "ozfft/src/dct/mod.rs bound",
        "ozfft/tests/bounds.rs",
        "no_aimed_line_exceeds_the_bound_of_its_cosine_or_sine_transform",
    ),
    (
        "ozfft/src/plan/choice.rs bound",
        "ozfft/tests/ladder.rs",
        "every_target_is_kept_by_both_engines_on_every_input",
    ),
    (
        "ozfft/src/plan/mod.rs bound",
        "ozfft/tests/attack.rs",
        "hill_climbing_stays_within_the_bound",
    ),
    (
        "ozfft-core/src/transform/budget.rs bound",
        "ozfft/tests/attack.rs",
        "aimed_lines_stay_within_the_bound",
    ),
    (
        "ozfft/src/wide/plan.rs bound",
        "ozfft/tests/wide.rs",
        "hard_inputs_keep_the_bound",
    ),
    (
        "residues/src/adaptive.rs bound",
        "residues/src/adaptive.rs",
        "a_million_columns_are_never_underestimated",
    ),
    (
        "residues/src/redundant.rs bound",
        "residues/tests/redundancy.rs",
        "any_of_the_moduli_hold_the_bound_and_fewer_would_not",
    ),
];

/// Bounds that pages have and no name.
const ON_PAGES: &[(&str, &str, &str, &str)] = &[
    (
        "docs/fftw.md",
        "the relative L2 error of one axis is at most 2β",
        "ozfft-fftw/tests/bounds.rs",
        "no_aimed_line_exceeds_the_bound_of_its_real_to_real_kind",
    ),
    (
        "docs/convolution.md",
        "where the bound is below one half, else an error",
        "ozfft/tests/convolution.rs",
        "integers_by_digits_are_those_of_exact_convolutions_or_not_proven",
    ),
];

/// Names with `bound` in them that are not numbers.
const NOT_BOUNDS: &[&str] = &["bound_is_proven", "bound_relative_to", "bound_text"];

/// Public functions and fields of a file with `bound` in their names.
fn bounds_of(file: &Path, found: &mut BTreeSet<String>) {
    let text = fs::read_to_string(file).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    for line in code.lines() {
        let Some(rest) = line.trim().strip_prefix("pub ") else {
            continue;
        };
        let rest = rest.trim_start_matches("const ");
        let (name, is_item) = match rest.strip_prefix("fn ") {
            Some(rest) => (rest, true),
            None => (rest, rest.contains(": ")),
        };
        let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
        let name = &name[..end.unwrap_or(name.len())];
        if is_item && name.contains("bound") && !NOT_BOUNDS.contains(&name) {
            let file = file.to_str().unwrap().replace('\\', "/");
            let (_, path) = file.rsplit_once("crates/").unwrap();
            found.insert(format!("{path} {name}"));
        }
    }
}

fn walk(folder: &Path, visit: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, visit);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            visit(&path);
        }
    }
}

#[test]
fn every_bound_has_an_adversary() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(crates).unwrap() {
        let (name, sources) = match entry.unwrap() {
            entry if entry.path().join("src").is_dir() => (entry.file_name(), entry.path()),
            _ => continue,
        };
        // What judges the others, and the programs that report their bounds.
        let reports = ["ozfft-testkit", "ozfft-cli", "ozfft-demo", "ozfft-measure"];
        if !reports.contains(&name.to_str().unwrap()) {
            walk(&sources.join("src"), &mut |file| {
                bounds_of(file, &mut found)
            });
        }
    }
    let listed: BTreeSet<_> = ADVERSARIES
        .iter()
        .map(|(item, ..)| item.to_string())
        .collect();
    assert_eq!(
        found, listed,
        "name the test that attacks it in ADVERSARIES"
    );
    let has = |file: &Path, words: &str| fs::read_to_string(file).unwrap().contains(words);
    for (item, file, test) in ADVERSARIES {
        assert!(
            has(&crates.join(file), &format!("fn {test}(")),
            "{item}: {file} has no {test}"
        );
    }
    for (page, words, file, test) in ON_PAGES {
        assert!(
            has(&crates.join("..").join(page), words),
            "{page} has no {words:?}"
        );
        assert!(
            has(&crates.join(file), &format!("fn {test}(")),
            "{page}: {file} has no {test}"
        );
    }
}

/// Lines that are aimed at a bound, each with its name, none with a number beyond the range.
fn aimed<T: Real>(generator: &mut Generator, n: usize) -> Vec<(&'static str, Vec<T>)> {
    let (lowest, top) = if T::IS_DOUBLE {
        (-1074, 1024)
    } else {
        (-149, 128)
    };
    let smallest = 2f64.powi(lowest / 2) * 2f64.powi(lowest - lowest / 2);
    let normal = 2f64.powi(2 - top);
    let largest = if T::IS_DOUBLE {
        f64::MAX
    } else {
        f64::from(f32::MAX)
    };
    let mut line = |make: &mut dyn FnMut(&mut Generator) -> f64| -> Vec<T> {
        (0..n).map(|_| T::narrow(make(generator))).collect()
    };
    fn sign(generator: &mut Generator) -> f64 {
        if generator.below(2) == 0 { 1.0 } else { -1.0 }
    }
    let mut spread = |low: i32, high: i32| {
        line(&mut |g| {
            let exponent = low + g.below((high - low) as usize) as i32;
            g.uniform() * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
        })
    };
    let (mixed, mixed_small) = (spread(lowest, top), spread(lowest, lowest + 80));
    let mut lines = vec![
        ("mixed", mixed),
        ("mixed, small", mixed_small),
        ("zeros", line(&mut |_| 0.0)),
        ("smallest", line(&mut |_| smallest)),
        ("smallest, signs", line(&mut |g| sign(g) * smallest)),
        (
            "subnormal",
            line(&mut |g| (g.uniform() * 1000.0).round() * smallest),
        ),
        (
            "smallest normal",
            line(&mut |g| sign(g) * normal * (1.5 + g.uniform() / 2.0)),
        ),
        ("small", line(&mut |g| g.uniform() * normal * 1e6)),
        ("largest", line(&mut |_| largest)),
        ("largest, signs", line(&mut |g| sign(g) * largest)),
        ("near overflow", line(&mut |_| 2f64.powi(top - 2))),
        ("ordinary", line(&mut |g| g.uniform())),
    ];
    let mut one = vec![T::narrow(smallest); n];
    one[0] = T::narrow(largest / 4.0);
    lines.push(("one large number", one));
    lines
}

/// Whether numbers are as near to the exact ones as a relative bound of the norm says, but for half of the smallest number in each that is
/// subnormal. Infinities are judged one by one.
fn expect_within<T: Real>(what: &str, found: &[T], exact: &[Float], bound: f64) {
    let zero = from_f64(0.0, PRECISION);
    let (mut error, mut size, mut subnormal) = (zero.clone(), zero.clone(), 0usize);
    let (lowest, top) = if T::IS_DOUBLE {
        (-1074, 1024)
    } else {
        (-149, 128)
    };
    for exact in exact {
        size += exact * exact;
    }
    let size = size.sqrt() * from_f64(bound, PRECISION);
    for (x, exact) in found.iter().zip(exact) {
        let x = x.widen();
        assert!(!x.is_nan(), "{what}");
        if x.is_infinite() {
            let magnitude = if x > 0.0 {
                exact.clone()
            } else {
                -exact.clone()
            };
            let beyond = scale_by_power_of_two(&from_f64(1.0, PRECISION), top);
            let unit = if T::IS_DOUBLE { 971 } else { 104 };
            let beyond = beyond - scale_by_power_of_two(&from_f64(1.0, PRECISION), unit);
            assert!(magnitude + &size >= beyond, "{what}");
            return;
        }
        let difference = from_f64(x, PRECISION) - exact;
        error += &difference * &difference;
        subnormal += usize::from(x.abs() < 2f64.powi(2 - top));
    }
    let step = scale_by_power_of_two(&from_f64((subnormal as f64).sqrt(), PRECISION), lowest - 1);
    let allowed = size + step;
    assert!(error.sqrt() <= allowed, "{what}, bound {bound:e}");
}

const KINDS: [DctKind; 8] = [
    DctKind::Dct1,
    DctKind::Dct2,
    DctKind::Dct3,
    DctKind::Dct4,
    DctKind::Dst1,
    DctKind::Dst2,
    DctKind::Dst3,
    DctKind::Dst4,
];

/// A row of the matrix by its definition in SciPy's documentation.
fn row(kind: DctKind, orthogonal: bool, k: usize, n: usize) -> Vec<Float> {
    use DctKind::*;
    let root = |number: f64| from_f64(number, PRECISION).sqrt();
    let entry = |j: usize| {
        let (numerator, denominator) = match kind {
            Dct1 => (k * j, 2 * (n - 1)),
            Dct2 => (k * (2 * j + 1), 4 * n),
            Dct3 => ((2 * k + 1) * j, 4 * n),
            Dct4 | Dst4 => ((2 * k + 1) * (2 * j + 1), 8 * n),
            Dst1 => ((k + 1) * (j + 1), 2 * (n + 1)),
            Dst2 => ((k + 1) * (2 * j + 1), 4 * n),
            Dst3 => ((2 * k + 1) * (j + 1), 4 * n),
        };
        let (cosine, sine) = cosine_and_sine_of_turns(numerator, denominator, PRECISION);
        let value = match kind {
            Dct1 | Dct2 | Dct3 | Dct4 => cosine,
            _ => sine,
        };
        let (first, last) = (|i: usize| i == 0, |i: usize| i == n - 1);
        let (single, last_half) = match kind {
            Dct1 => (first(j) || last(j), first(k) || last(k)),
            Dct2 => (false, first(k)),
            Dct3 => (first(j), false),
            Dst2 => (false, last(k)),
            Dst3 => (last(j), false),
            _ => (false, false),
        };
        let mut value = if single {
            value
        } else {
            value * from_f64(2.0, PRECISION)
        };
        if orthogonal && single {
            value *= root(2.0);
        }
        if orthogonal && last_half {
            value *= root(0.5);
        }
        value
    };
    (0..n).map(entry).collect()
}

fn attack_cosines<T: Real>(generator: &mut Generator) {
    let planner = Planner::<T>::new();
    let norms = [Norm::Backward, Norm::Ortho, Norm::Forward];
    for (number, kind) in KINDS.into_iter().enumerate() {
        for (place, n) in [1, 2, 3, 8, 9, 22].into_iter().enumerate() {
            if kind == DctKind::Dct1 && n < 2 {
                continue;
            }
            let norm = norms[(number + place) % 3];
            let orthogonal = (number + place) % 2 == 0;
            let problem = Problem::complex(&[n]).norm(norm);
            let plan = DctPlan::<T>::new(&planner, kind, orthogonal, &problem).unwrap();
            let points = match kind {
                DctKind::Dct1 => 2 * (n - 1),
                DctKind::Dst1 => 2 * (n + 1),
                _ => 2 * n,
            };
            let points = from_f64(points as f64, PRECISION);
            let divisor = match norm {
                Norm::Ortho => points.sqrt(),
                Norm::Forward => points,
                _ => from_f64(1.0, PRECISION),
            };
            let rows: Vec<_> = (0..n).map(|k| row(kind, orthogonal, k, n)).collect();
            for (name, line) in aimed::<T>(generator, n) {
                let mut result = vec![T::default(); n];
                plan.process(&line, &mut result).unwrap();
                let numbers: Vec<_> = line
                    .iter()
                    .map(|x| from_f64(x.widen(), PRECISION))
                    .collect();
                let sum = |row: &Vec<Float>| {
                    let products = row.iter().zip(&numbers).map(|(a, x)| a * x);
                    let zero = from_f64(0.0, PRECISION);
                    products.fold(zero, |sum, product| sum + product) / &divisor
                };
                let exact: Vec<_> = rows.iter().map(sum).collect();
                let what = format!(
                    "{kind:?}, {n} of {}, {norm:?}, {orthogonal}, {name}",
                    T::NAME
                );
                expect_within(&what, &result, &exact, plan.bound());
            }
        }
    }
}

#[test]
fn no_aimed_line_exceeds_the_bound_of_its_cosine_or_sine_transform() {
    println!("seed {SEED}");
    let mut generator = Generator::new(SEED);
    attack_cosines::<f64>(&mut generator);
    attack_cosines::<f32>(&mut generator);
}

#[test]
fn no_aimed_operands_exceed_the_bound_of_their_convolution() {
    println!("seed {SEED}");
    let mut generator = Generator::new(SEED);
    let mut finite = 0;
    for (first, second) in [(1, 1), (1, 5), (5, 3), (40, 3)] {
        for (name, a) in aimed::<f64>(&mut generator, first) {
            for (other, b) in aimed::<f64>(&mut generator, second) {
                let mut exact = vec![from_f64(0.0, 4300); first + second - 1];
                for (i, &x) in a.iter().enumerate() {
                    for (j, &y) in b.iter().enumerate() {
                        exact[i + j] += from_f64(x, 4300) * from_f64(y, 4300);
                    }
                }
                let line = fftconvolve(&a, &b).unwrap();
                let shaped = fftconvolve_shaped((&a, &[1, first]), (&b, &[1, second])).unwrap();
                for found in [line, shaped] {
                    if found.bound.is_infinite() {
                        continue;
                    }
                    finite += 1;
                    for (&value, exact) in found.values.iter().zip(&exact) {
                        let error = from_f64(value, 4300) - exact;
                        let bound = from_f64(found.bound, 4300);
                        let within = error <= bound && -error <= bound;
                        assert!(
                            within,
                            "{name} ({first}) * {other} ({second}): {:e}",
                            found.bound
                        );
                    }
                }
            }
        }
    }
    assert!(finite > 800, "{finite}");
}
