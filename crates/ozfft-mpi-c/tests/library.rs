//! The library as C programs see it: the header, and the example on several ranks, whose digests are those of one process.

#[path = "../../ozfft-mpi/tests/support/mod.rs"]
mod support;

use num_complex::Complex;
use ozfft::{Accuracy, Direction, Norm, Planner, Problem};
use ozfft_testkit::{Requirement, available};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::program_on_ranks;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// The folder of this test, where cargo puts the library that it is linked with.
fn folder() -> PathBuf {
    // Linked in, so that cargo builds it.
    let _ = ozfft_mpi_c::ozfft_mpi_last_error();
    let test = std::env::current_exe().expect("a test has a path");
    test.parent().expect("a folder").to_path_buf()
}

#[test]
fn the_header_declares_what_the_library_defines() {
    let output = Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(folder().join("libozfft_mpi_c.so"))
        .output();
    let Some(output) = available(Requirement::Compiler, output) else {
        return;
    };
    let text = String::from_utf8(output.stdout).expect("text");
    let names = text
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2));
    let defined: BTreeSet<&str> = names.filter(|name| name.starts_with("ozfft_")).collect();
    let header =
        std::fs::read_to_string(Path::new(CRATE).join("include/ozfft_mpi.h")).expect("a header");
    // Comments name some of them, without arguments.
    let words = header.split(|sign: char| !(sign.is_alphanumeric() || sign == '_' || sign == '('));
    let declared = words
        .filter_map(|word| word.split_once('('))
        .map(|(name, _)| name);
    let declared: BTreeSet<&str> = declared
        .filter(|name| name.starts_with("ozfft_mpi_"))
        .collect();
    assert_eq!(declared, defined);
}

/// "*plan is null on failure", and errors that are found at once left it as it was.
#[test]
fn the_plan_is_null_where_a_communicator_or_mpi_itself_is_missing() {
    let word = 0u64;
    let communicators = [std::ptr::null(), (&raw const word).cast()];
    for communicator in communicators {
        let mut plan = std::ptr::dangling_mut();
        // SAFETY: the first is rejected as null; MPI is not running here, so the other one is not read.
        let code =
            unsafe { ozfft_mpi_c::ozfft_mpi_create_at(std::ptr::null(), communicator, &mut plan) };
        assert_eq!(code, 1);
        assert!(plan.is_null());
    }
}

/// The numbers of the example.
fn value(index: u64) -> f64 {
    let mut x = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / 9007199254740992.0 - 0.5
}

fn digest(numbers: &[Complex<f64>]) -> String {
    let bytes = numbers
        .iter()
        .flat_map(|z| [z.re, z.im])
        .flat_map(f64::to_ne_bytes);
    let digest = bytes.fold(0xcbf2_9ce4_8422_2325u64, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{digest:016x}")
}

fn complex(problem: Problem) -> String {
    let plan = Planner::<f64>::new().plan(&problem).expect("a plan");
    let value = |i: usize| Complex::new(value(2 * i as u64), value(2 * i as u64 + 1));
    let mut numbers: Vec<_> = (0..problem.input_len()).map(value).collect();
    plan.process(&mut numbers).expect("a transform");
    digest(&numbers)
}

fn real(problem: Problem) -> String {
    let plan = Planner::<f64>::new().plan(&problem).expect("a plan");
    let numbers: Vec<f64> = (0..problem.input_len()).map(|i| value(i as u64)).collect();
    let mut half = vec![Complex::default(); problem.output_len()];
    plan.process_real_to_complex(&numbers, &mut half)
        .expect("a transform");
    digest(&half)
}

#[test]
fn the_example_has_the_bits_of_one_process_on_any_number_of_ranks() {
    let folder = folder();
    let program = folder.join("ozfft_mpi_c_example");
    // That of another MPI, where the library was built on it.
    let compiler = std::env::var("MPICC").unwrap_or("mpicc".into());
    let compiled = Command::new(compiler)
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1"])
        .arg(format!("-I{CRATE}/include"))
        .arg(format!("{CRATE}/examples/transform.c"))
        .arg(folder.join("libozfft_mpi_c.so"))
        .arg(format!("-Wl,-rpath,{}", folder.display()))
        .arg("-o")
        .arg(&program)
        .output();
    let Some(compiled) = available(Requirement::Mpi, compiled) else {
        return;
    };
    let complaints = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{complaints}");
    // The library's own name is not that of the file.
    let _ = std::os::unix::fs::symlink("libozfft_mpi_c.so", folder.join("libozfft_mpi_c.so.0"));
    let cube = Problem::complex(&[12, 10, 9]);
    let expected = [
        ("complex", complex(cube.clone())),
        ("single", complex(cube.clone().accuracy(Accuracy::Single))),
        (
            "real",
            real(Problem::real_to_complex(&[12, 10, 9]).norm(Norm::Ortho)),
        ),
        ("boxes", complex(cube)),
        (
            "lines",
            complex(
                Problem::complex(&[3000])
                    .batch(5)
                    .direction(Direction::Inverse),
            ),
        ),
    ];
    for ranks in [1, 2, 4] {
        let program = program.to_str().expect("a path in UTF-8");
        let Some((status, text)) = program_on_ranks(ranks, program, &[]) else {
            return;
        };
        assert!(status.success(), "{ranks} ranks: {status}\n{text}");
        for (name, digest) in &expected {
            let line = text.lines().find(|line| line.starts_with(name));
            let line = line.unwrap_or_else(|| panic!("{name} is missing\n{text}"));
            assert!(
                line.contains(digest),
                "{ranks} ranks: {line}, and one process has {digest}"
            );
        }
    }
}

/// heFFTe's back end of this library, where heFFTe is installed: the program that prints digests, where the order of dimensions is fixed.
#[test]
fn heffte_has_the_bits_of_one_process_on_any_number_of_ranks() {
    let root = std::env::var("HEFFTE_ROOT").unwrap_or("/usr/local".into());
    let headers = format!("-I{root}/include");
    let found = Command::new("mpicxx")
        .args([&headers, "-E", "-include", "heffte.h", "-x", "c++"])
        .arg("/dev/null")
        .output();
    let found = match found {
        Ok(output) if output.status.success() => Ok(()),
        Ok(_) => Err(format!(
            "no heffte.h in {root}/include; HEFFTE_ROOT may name another folder"
        )),
        Err(error) => Err(format!("mpicxx: {error}")),
    };
    if available(Requirement::Heffte, found).is_none() {
        return;
    }
    let folder = folder();
    let program = folder.join("ozfft_heffte_ranks");
    let compiled = Command::new("mpicxx")
        .args(["-std=c++11", "-Wall", "-Wextra", "-O1", "-DOZFFT_ALONE"])
        .arg(format!("-I{CRATE}/include"))
        .arg(headers)
        .arg(format!("{CRATE}/examples/heffte_ranks.cpp"))
        .arg(folder.join("libozfft_mpi_c.so"))
        .arg(format!("-L{root}/lib"))
        .arg(format!("-Wl,-rpath,{},-rpath,{root}/lib", folder.display()))
        .args(["-lheffte", "-o"])
        .arg(&program)
        .output()
        .expect("a compiler");
    let complaints = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{complaints}");
    let _ = std::os::unix::fs::symlink("libozfft_mpi_c.so", folder.join("libozfft_mpi_c.so.0"));
    // heFFTe's first dimension is the last one of C.
    let expected = [
        ("complex", complex(Problem::complex(&[9, 10, 12]))),
        ("real", real(Problem::real_to_complex(&[9, 10, 12]))),
    ];
    let mut back = BTreeSet::new();
    for ranks in [1, 2, 3, 4] {
        let program = program.to_str().expect("a path in UTF-8");
        let arguments = ["digests", "12", "10", "9"];
        let Some((status, text)) = program_on_ranks(ranks, program, &arguments) else {
            return;
        };
        assert!(status.success(), "{ranks} ranks: {status}\n{text}");
        for boxes in ["slabs", "pencils", "contiguous", "strided"] {
            let digest_of = |kind: &str| {
                let start = format!("ozfft\t{boxes}\t{kind}\t");
                let found = text.lines().find_map(|line| line.strip_prefix(&start));
                found.unwrap_or_else(|| panic!("{start} is missing\n{text}"))
            };
            for (kind, digest) in &expected {
                assert_eq!(digest_of(kind), digest, "{ranks} ranks, {boxes}, {kind}");
            }
            let kinds = ["complex backward", "real backward"];
            back.insert(kinds.map(|kind| digest_of(kind).to_string()));
        }
    }
    assert_eq!(back.len(), 1, "backward: {back:?}");
}
