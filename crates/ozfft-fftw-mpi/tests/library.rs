//! A program written for FFTW's interface for MPI, on several ranks: the bits of one process, and FFTW's own numbers within the bound.

#[path = "../../ozfft-mpi/tests/support/mod.rs"]
mod support;

use num_complex::Complex;
use ozfft::{Accuracy, Direction, Norm, Plan, Planner, Problem};
use ozfft_testkit::{Requirement, assert_same_bits, available};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use support::program_on_ranks;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// The folder of this test, where cargo puts the library that it is linked with.
fn folder() -> PathBuf {
    // Linked in, so that cargo builds it.
    let _ = ozfft_fftw_mpi::sizes::double::local_size_2d as *const ();
    let test = std::env::current_exe().expect("a test has a path");
    test.parent().expect("a folder").to_path_buf()
}

/// The program, linked with some libraries; none where there is no compiler for it or no FFTW.
fn compiled(name: &str, libraries: &[&str]) -> Option<PathBuf> {
    let folder = folder();
    // The library's own name is not that of the file.
    let _ = std::os::unix::fs::symlink(
        "libozfft_fftw_mpi.so",
        folder.join("libozfft_fftw_mpi.so.0"),
    );
    let program = folder.join(name);
    let compiled = Command::new("mpicc")
        .args(["-std=c99", "-Wall", "-O1"])
        .arg(format!("{CRATE}/tests/program.c"))
        .arg(format!("-L{}", folder.display()))
        .args(libraries)
        .arg(format!("-Wl,-rpath,{}", folder.display()))
        .arg("-o")
        .arg(&program)
        .output()
        .map_err(|error| error.to_string())
        .and_then(|output| match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        });
    available(Requirement::Mpi, compiled)?;
    Some(program)
}

/// Results of the program, by name.
type Results = BTreeMap<String, Vec<f64>>;

/// What the program prints about the ranks' parts, and its results.
fn results(program: &Path, ranks: usize) -> Option<(BTreeSet<String>, Results)> {
    let file = program.with_extension(format!("{ranks}.results"));
    let arguments = [file.to_str().expect("a path in UTF-8")];
    let (status, text) = program_on_ranks(
        ranks,
        program.to_str().expect("a path in UTF-8"),
        &arguments,
    )?;
    assert!(status.success(), "{ranks} ranks: {status}\n{text}");
    let bytes = std::fs::read(&file).expect("results");
    let mut numbers = bytes
        .chunks_exact(8)
        .map(|bytes| f64::from_ne_bytes(bytes.try_into().expect("eight bytes")));
    let mut found = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("result ")) {
        let words: Vec<&str> = line.split(' ').collect();
        let count: usize = words[2].parse().expect("a number");
        found.insert(words[1].to_owned(), numbers.by_ref().take(count).collect());
    }
    let held = text.lines().filter(|line| line.starts_with("holds "));
    Some((held.map(str::to_owned).collect(), found))
}

/// The numbers of the program.
fn value(index: u64) -> f64 {
    let mut x = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / 9007199254740992.0 - 0.5
}

fn parts(numbers: &[Complex<f64>]) -> Vec<f64> {
    numbers.iter().flat_map(|z| [z.re, z.im]).collect()
}

fn planned(problem: &Problem) -> std::sync::Arc<Plan<f64>> {
    Planner::new().plan(problem).expect("a plan")
}

/// What one process makes of the program's numbers, with the bound of its plan.
fn complex(problem: Problem) -> (Vec<f64>, f64) {
    let problem = problem.norm(Norm::Unscaled);
    let plan = planned(&problem);
    let number = |i: usize| Complex::new(value(2 * i as u64), value(2 * i as u64 + 1));
    let mut numbers: Vec<_> = (0..problem.input_len()).map(number).collect();
    plan.process(&mut numbers).expect("a transform");
    (parts(&numbers), plan.bound())
}

/// The same in single precision.
fn single(shape: &[usize]) -> (Vec<f64>, f64) {
    let problem = Problem::complex(shape)
        .norm(Norm::Unscaled)
        .accuracy(Accuracy::Single);
    let plan = Planner::<f32>::new().plan(&problem).expect("a plan");
    let number = |i: u64| value(i) as f32;
    let number = |i: usize| Complex::new(number(2 * i as u64), number(2 * i as u64 + 1));
    let mut numbers: Vec<_> = (0..problem.input_len()).map(number).collect();
    plan.process(&mut numbers).expect("a transform");
    let parts = numbers.iter().flat_map(|z| [z.re, z.im]);
    // FFTW's errors are those of single precision, too.
    (
        parts.map(f64::from).collect(),
        plan.bound() + 16.0 * f64::from(f32::EPSILON),
    )
}

/// The same of reals, and back again.
fn real(shape: &[usize]) -> [(Vec<f64>, f64); 2] {
    let forward = Problem::real_to_complex(shape).norm(Norm::Unscaled);
    let inverse = Problem::complex_to_real(shape).norm(Norm::Unscaled);
    let (there, back) = (planned(&forward), planned(&inverse));
    let reals: Vec<f64> = (0..forward.input_len()).map(|i| value(i as u64)).collect();
    let mut half = vec![Complex::default(); forward.output_len()];
    there
        .process_real_to_complex(&reals, &mut half)
        .expect("a transform");
    let mut again = vec![0.0; reals.len()];
    back.process_complex_to_real(&half, &mut again)
        .expect("a transform");
    [
        (parts(&half), there.bound()),
        (again, there.bound() + back.bound()),
    ]
}

fn expected() -> BTreeMap<&'static str, (Vec<f64>, f64)> {
    let (cube, square) = (Problem::complex(&[8, 6, 10]), Problem::complex(&[12, 9]));
    let interleaved = |count| Problem::complex(&[12, 9, count]).axes(&[0, 1]);
    let [half, half_back] = real(&[8, 6, 10]);
    let [transposed, transposed_back] = real(&[6, 5, 9]);
    BTreeMap::from([
        ("cube", complex(cube.clone())),
        (
            "transposed_out",
            complex(square.direction(Direction::Inverse)),
        ),
        ("transposed_in", complex(cube.clone())),
        (
            "transposed_both",
            complex(cube.direction(Direction::Inverse)),
        ),
        ("interleaved", complex(interleaved(3))),
        ("interleaved_blocks", complex(interleaved(2))),
        ("half", half),
        ("half_back", half_back),
        ("half_transposed", transposed),
        ("half_transposed_back", transposed_back),
        ("line", complex(Problem::complex(&[2000]))),
        ("fortran", complex(Problem::complex(&[12, 9]))),
        ("single", single(&[12, 9])),
    ])
}

/// The relative L2 distance.
fn distance(found: &[f64], expected: &[f64]) -> f64 {
    let squares = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>();
    let pairs = found.iter().zip(expected);
    (squares(&mut pairs.map(|(a, b)| a - b)) / squares(&mut expected.iter().copied())).sqrt()
}

#[test]
fn a_program_for_fftw_has_the_bits_of_one_process_and_fftws_numbers_within_the_bound() {
    let fftw = ["-lfftw3_mpi", "-lfftw3f_mpi", "-lfftw3", "-lfftw3f", "-lm"];
    let Some(theirs) = compiled("fftw_mpi_program_theirs", &fftw) else {
        return;
    };
    // FFTW itself has the plans of one process and the memory.
    let with_ours = ["-lozfft_fftw_mpi", "-lfftw3", "-lfftw3f", "-lm"];
    let ours = compiled("fftw_mpi_program_ours", &with_ours).expect("compiled with FFTW's");
    let expected = expected();
    for ranks in [1, 2, 3, 4] {
        let Some((held, found)) = results(&ours, ranks) else {
            return;
        };
        assert_eq!(found.len(), expected.len());
        for (name, (exact, _)) in &expected {
            assert_same_bits(exact, &found[*name], 0, format!("{name} on {ranks} ranks"));
        }
        let (held_by_theirs, of_theirs) = results(&theirs, ranks).expect("as above");
        assert_eq!(held, held_by_theirs, "{ranks} ranks");
        for (name, (exact, bound)) in &expected {
            // FFTW's own errors: far below this for so few points.
            let both = bound + 16.0 * f64::EPSILON;
            let distance = distance(&of_theirs[*name], exact);
            assert!(distance <= both, "{name}: {distance:e} above {both:e}");
        }
    }
}

#[test]
fn a_null_communicator_is_an_error_that_is_printed_and_no_plan() {
    let with_ours = ["-lozfft_fftw_mpi", "-lfftw3", "-lfftw3f", "-lm"];
    let Some(program) = compiled("fftw_mpi_program_no_communicator", &with_ours) else {
        return;
    };
    // Set for the ranks alone: other tests run at the same time.
    let program = program.to_str().expect("a path in UTF-8");
    let arguments = ["OZFFT_VERBOSE=1", program, "--no-communicator"];
    let Some((status, text)) = program_on_ranks(2, "env", &arguments) else {
        return;
    };
    assert!(status.success(), "{status}\n{text}");
    assert_eq!(
        text.matches("no communicator, no plan").count(),
        2,
        "{text}"
    );
    // Sizes, and three plans, on two ranks.
    let reason = "the communicator is MPI_COMM_NULL";
    assert_eq!(text.matches(reason).count(), 8, "{text}");
    assert!(text.contains("ozfft: fftwf_mpi_plan: no plan: "), "{text}");
    // Wrong numbers, divisions by 0 and sizes that had wrapped around.
    for (reason, count) in [
        ("(an intercommunicator)", 2),
        ("1 or more", 6),
        ("no memory holds", 2),
    ] {
        assert_eq!(text.matches(reason).count(), count, "{reason}: {text}");
    }
}

/// The next library was asked to destroy it, and read memory that was given back.
#[test]
fn a_plan_that_is_destroyed_twice_ends_the_program_with_a_message() {
    let with_ours = ["-lozfft_fftw_mpi", "-lfftw3", "-lfftw3f", "-lm"];
    let Some(program) = compiled("fftw_mpi_program_destroyed", &with_ours) else {
        return;
    };
    let program = program.to_str().expect("a path in UTF-8");
    let Some((status, text)) = program_on_ranks(1, program, &["--destroyed"]) else {
        return;
    };
    assert!(!status.success(), "{text}");
    let reason = "fftw_destroy_plan: the plan has been destroyed";
    assert!(text.contains(reason), "{text}");
}

#[test]
fn names_are_those_of_the_headers_without_real_to_real_and_transposes() {
    let names = |library: &Path| -> Result<BTreeSet<String>, String> {
        let output = Command::new("nm")
            .args(["-D", "--defined-only"])
            .arg(library)
            .output()
            .map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let names = text
            .lines()
            .filter_map(|line| line.split_whitespace().nth(2));
        let mpi = names.filter(|name| name.starts_with("fftw_mpi_"));
        Ok(mpi
            .map(|name| name.split('@').next().unwrap_or(name).to_owned())
            .collect())
    };
    let ours = names(&folder().join("libozfft_fftw_mpi.so"));
    let Some(ours) = available(Requirement::Compiler, ours) else {
        return;
    };
    let header = std::fs::read_to_string("/usr/include/fftw3-mpi.f03");
    let Some(header) = available(Requirement::Mpi, header) else {
        return;
    };
    // Fortran's interface names every function, with _f03 where it has a communicator.
    let declared = header
        .split("name='")
        .skip(1)
        .filter_map(|rest| rest.split('\'').next());
    let left_out = |name: &&str| {
        name.contains("r2r") || name.contains("transpose_f03") || name.ends_with("plan_transpose")
    };
    let missing: Vec<&str> = declared
        .filter(|name| name.starts_with("fftw_mpi_"))
        .filter(|name| !left_out(name))
        .filter(|name| !ours.contains(*name) || !ours.contains(name.trim_end_matches("_f03")))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
    assert!(ours.len() > 40, "{ours:?}");
}
