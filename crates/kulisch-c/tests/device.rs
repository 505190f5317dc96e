//! The header for CUDA: what it is made of, that nvcc compiles the example, and the bits of its sums under the emulator.

#[path = "../../kulisch/tests/common/mod.rs"]
mod common;

use common::{Direction, Generator, expected_dot, expected_sum};
use ozfft_testkit::{Requirement, available, nvcc};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn the_header_is_made_of_the_kernels_sources() {
    let output = Command::new(Path::new(CRATE).join("generate"))
        .arg("--check")
        .output()
        .expect("python3");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn nvcc_compiles_the_example_for_old_and_new_gpus() {
    let Some(nvcc) = available(Requirement::Nvrtc, nvcc()) else {
        return;
    };
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sums.o");
    let output = Command::new(nvcc)
        .args([
            "-std=c++17",
            "-Werror",
            "all-warnings",
            "-gencode",
            "arch=compute_80,code=sm_80",
            "-gencode",
            "arch=compute_90,code=sm_90",
            "-I",
        ])
        .arg(Path::new(CRATE).join("include"))
        .arg("-c")
        .arg(Path::new(CRATE).join("examples/sums.cu"))
        .arg("-o")
        .arg(&object)
        .output()
        .expect("nvcc runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(object.exists());
}

/// A case for emulated.cpp, and what comes out.
struct Case {
    x: Vec<f64>,
    y: Option<Vec<f64>>,
    blocks: u64,
    expected: f64,
}

fn cases() -> Vec<Case> {
    let seed = 20261117;
    println!("seed {seed}");
    let mut generator = Generator::new(seed);
    let mut cases = Vec::new();
    for case in 0..120u64 {
        let count = [0, 1, 31, 33, 700, 9000][case as usize % 6] + generator.below(40);
        let count = if case < 2 { 0 } else { count };
        let (x, y) = (generator.numbers(count), generator.numbers(count));
        let blocks = 1 + case % 3;
        cases.push(match case % 2 {
            0 => Case {
                expected: expected_sum(&x, Direction::Nearest),
                x,
                y: None,
                blocks,
            },
            _ => Case {
                expected: expected_dot(&x, &y, Direction::Nearest),
                x,
                y: Some(y),
                blocks,
            },
        });
    }
    let infinity = f64::INFINITY;
    for (x, expected) in [
        (vec![1.0, infinity, 2.0], infinity),
        (vec![-infinity, 1e300], -infinity),
        (vec![infinity, -infinity], f64::NAN),
        (vec![-0.0, -0.0], -0.0),
        (vec![-0.0, 0.0], 0.0),
    ] {
        cases.push(Case {
            x,
            y: None,
            blocks: 2,
            expected,
        });
    }
    cases
}

#[test]
fn sums_of_warps_and_grids_have_the_bits_of_big_integers() {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulated");
    let mut compiler = Command::new("c++");
    compiler.args([
        "-std=c++17",
        "-O2",
        "-fwrapv",
        "-ffp-contract=off",
        "-U_FORTIFY_SOURCE",
        "-Wno-unknown-pragmas",
    ]);
    for folder in ["cuda", "../ozfft-kernels/cuda"] {
        compiler.arg("-I").arg(Path::new(CRATE).join(folder));
    }
    compiler
        .arg(Path::new(CRATE).join("tests/emulated.cpp"))
        .arg("-o")
        .arg(&program);
    let Some(compiled) = available(Requirement::Compiler, compiler.output()) else {
        return;
    };
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    let cases = cases();
    let mut run = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut input = Vec::new();
    for case in &cases {
        let head = [
            case.x.len() as u64,
            case.blocks,
            u64::from(case.y.is_some()),
        ];
        input.extend(head.into_iter().flat_map(u64::to_ne_bytes));
        let numbers = case.x.iter().chain(case.y.iter().flatten());
        input.extend(numbers.flat_map(|number| number.to_ne_bytes()));
    }
    let mut to = run.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || to.write_all(&input));
    let output = run.wait_with_output().expect("the program ends");
    writer
        .join()
        .expect("a thread")
        .expect("all cases are read");
    assert!(output.status.success());
    let results: Vec<u64> = output
        .stdout
        .chunks_exact(8)
        .map(|bytes| u64::from_ne_bytes(bytes.try_into().expect("eight bytes")))
        .collect();
    assert_eq!(results.len(), 3 * cases.len());
    for (number, (found, case)) in results.chunks_exact(3).zip(&cases).enumerate() {
        assert_eq!(
            found,
            [case.expected.to_bits(); 3],
            "case {number}, {} numbers",
            case.x.len()
        );
    }
}
