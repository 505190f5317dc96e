//! The libraries as C programs see them: their names, header, examples, numbers and bad arguments.

#[path = "../../kulisch/tests/common/mod.rs"]
mod common;

use common::{
    Direction, Generator, double_quotient, exact_dot, expected_dot, expected_sum, multiple,
};
use libloading::Library;
use num_bigint::{BigInt, BigUint};
use ozfft_testkit::{Requirement, available};
use std::collections::BTreeSet;
use std::ffi::{c_char, c_int};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

type Reduction = unsafe extern "C" fn(isize, *const f64, isize) -> f64;
type Dot = unsafe extern "C" fn(isize, *const f64, isize, *const f64, isize) -> f64;
type Gemv = unsafe extern "C" fn(
    c_char,
    c_char,
    isize,
    isize,
    f64,
    *const f64,
    isize,
    *const f64,
    isize,
    f64,
    *mut f64,
    isize,
) -> c_int;

/// The libraries, in the folder above the tests. Tests do not link them, so that cargo builds them only when asked.
fn beside(name: &str) -> PathBuf {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let test = std::env::current_exe().expect("a test has a path");
        let folder = test.ancestors().nth(2).expect("target/PROFILE");
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--lib", "--manifest-path"]);
        build.arg(format!("{CRATE}/Cargo.toml"));
        build
            .arg("--target-dir")
            .arg(folder.parent().expect("target"));
        if folder.ends_with("release") {
            build.arg("--release");
        }
        let status = build.status().expect("cargo runs");
        assert!(status.success(), "cargo build -p kulisch-c: {status}");
        folder.to_path_buf()
    });
    let path = FOLDER.join(name);
    assert!(path.exists(), "{} is not there", path.display());
    path
}

fn open() -> Library {
    // SAFETY: it has no initialisers of its own.
    unsafe { Library::new(beside("libkulisch.so")) }.expect("the library")
}

fn get<T: Copy>(library: &Library, name: &str) -> T {
    // SAFETY: the types above are those of the header.
    *unsafe { library.get::<T>(name) }.expect("a function")
}

/// Numbers of a vector, so far apart, with other numbers between, and where it begins.
fn spread(generator: &mut Generator, numbers: &[f64], step: isize) -> Vec<f64> {
    let apart = step.unsigned_abs();
    let mut memory = generator.numbers(numbers.len() * apart + 1);
    for (index, number) in numbers.iter().enumerate() {
        let place = if step > 0 {
            index
        } else {
            numbers.len() - 1 - index
        };
        memory[place * apart] = *number;
    }
    memory
}

#[test]
fn the_header_declares_what_the_library_defines() {
    let output = Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(beside("libkulisch.so"))
        .output();
    let Some(output) = available(Requirement::Compiler, output) else {
        return;
    };
    let text = String::from_utf8(output.stdout).expect("text");
    let names = text
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2));
    let defined: BTreeSet<&str> = names.collect();
    let header =
        std::fs::read_to_string(Path::new(CRATE).join("include/kulisch.h")).expect("a header");
    // Declarations have the name before a parenthesis; comments do not.
    let words = header.split(|sign: char| !(sign.is_alphanumeric() || sign == '_' || sign == '('));
    let declared = words
        .filter_map(|word| word.split_once('('))
        .map(|(name, _)| name);
    let declared: BTreeSet<&str> = declared
        .filter(|name| name.starts_with("kulisch_"))
        .collect();
    assert_eq!(declared, defined);
}

#[test]
fn strided_reductions_have_the_bits_of_big_integers() {
    let library = open();
    let (sum, asum): (Reduction, Reduction) = (
        get(&library, "kulisch_dsum"),
        get(&library, "kulisch_dasum"),
    );
    let (norm, dot): (Reduction, Dot) = (
        get(&library, "kulisch_dnrm2"),
        get(&library, "kulisch_ddot"),
    );
    let seed = 20261117;
    println!("seed {seed}");
    let mut generator = Generator::new(seed);
    for case in 0..400 {
        let count = generator.below(200);
        let (x, y) = (generator.numbers(count), generator.numbers(count));
        let (a, b) = ([1, 2, -1, -3][case % 4], [1, -2, 5][case % 3]);
        let (left, right) = (spread(&mut generator, &x, a), spread(&mut generator, &y, b));
        let n = count as isize;
        // SAFETY: vectors of n numbers.
        let found = unsafe {
            [
                sum(n, left.as_ptr(), a),
                asum(n, left.as_ptr(), a),
                norm(n, left.as_ptr(), a),
                dot(n, left.as_ptr(), a, right.as_ptr(), b),
            ]
        };
        let magnitudes: Vec<f64> = x.iter().map(|x| x.abs()).collect();
        let expected = [
            expected_sum(&x, Direction::Nearest),
            expected_sum(&magnitudes, Direction::Nearest),
            common::double_square_root(&exact_dot(&x, &x)),
            expected_dot(&x, &y, Direction::Nearest),
        ];
        assert_eq!(
            found.map(f64::to_bits),
            expected.map(f64::to_bits),
            "case {case}"
        );
    }
}

#[test]
fn matrices_by_rows_and_columns_are_multiplied_with_one_rounding() {
    let library = open();
    let gemv: Gemv = get(&library, "kulisch_dgemv");
    let seed = 42;
    println!("seed {seed}");
    let mut generator = Generator::new(seed);
    for case in 0..300 {
        let (m, n) = (generator.below(20), 1 + generator.below(30));
        let transposed = case % 2 == 1;
        let by_rows = case % 4 < 2;
        let (rows, columns) = if transposed { (n, m) } else { (m, n) };
        let matrix = generator.numbers(rows * columns);
        let lda = if by_rows { n } else { m }.max(1) + case % 3;
        let mut memory = generator.numbers(lda * m.max(n) + 1);
        for row in 0..rows {
            for column in 0..columns {
                let (i, j) = if transposed {
                    (column, row)
                } else {
                    (row, column)
                };
                let place = if by_rows { i * lda + j } else { j * lda + i };
                memory[place] = matrix[row * columns + column];
            }
        }
        let (x, before) = (generator.numbers(columns), generator.numbers(rows));
        let (incx, incy) = ([1, -2][case % 2], [1, 3, -1][case % 3]);
        let (alpha, beta) = (
            [1.0, 0.1, -3e200][case % 3],
            [0.0, 1.0, 0.3, -1e-300][case % 4],
        );
        let vector = spread(&mut generator, &x, incx);
        let mut y = spread(&mut generator, &before, incy);
        let (order, trans) = (
            if by_rows { b'r' } else { b'C' },
            if transposed { b'T' } else { b'n' },
        );
        // SAFETY: arrays of these sizes.
        let status = unsafe {
            gemv(
                order as c_char,
                trans as c_char,
                m as isize,
                n as isize,
                alpha,
                memory.as_ptr(),
                lda as isize,
                vector.as_ptr(),
                incx,
                beta,
                y.as_mut_ptr(),
                incy,
            )
        };
        assert_eq!(status, 0, "case {case}");
        for row in 0..rows {
            let sum = exact_dot(&matrix[row * columns..][..columns], &x);
            let total: BigInt =
                multiple(alpha) * sum + ((multiple(beta) * multiple(before[row])) << 1074);
            let expected = double_quotient(&total, &(BigUint::from(1u32) << 1074u32));
            let place = if incy > 0 { row } else { rows - 1 - row } * incy.unsigned_abs();
            // Signs of zeros are tested where sums are.
            let same =
                y[place].to_bits() == expected.to_bits() || (y[place] == 0.0 && expected == 0.0);
            assert!(
                same,
                "case {case}, row {row}: {:e} instead of {expected:e}",
                y[place]
            );
        }
    }
}

#[test]
fn bad_arguments_are_named_and_nothing_is_written() {
    let library = open();
    let gemv: Gemv = get(&library, "kulisch_dgemv");
    let (matrix, vector) = ([1.0; 6], [1.0; 3]);
    let call =
        |order: u8, trans: u8, (m, n): (isize, isize), lda: isize, (incx, incy): (isize, isize)| {
            let mut y = [7.0; 3];
            // SAFETY: the arrays are large enough for whatever these arguments could mean.
            let status = unsafe {
                gemv(
                    order as c_char,
                    trans as c_char,
                    m,
                    n,
                    2.0,
                    matrix.as_ptr(),
                    lda,
                    vector.as_ptr(),
                    incx,
                    0.5,
                    y.as_mut_ptr(),
                    incy,
                )
            };
            assert_eq!(y, [7.0; 3]);
            status
        };
    assert_eq!(call(b'x', b'n', (2, 3), 3, (1, 1)), 1);
    assert_eq!(call(b'r', b'x', (2, 3), 3, (1, 1)), 2);
    assert_eq!(call(b'r', b'n', (-1, 3), 3, (1, 1)), 3);
    assert_eq!(call(b'r', b'n', (2, -1), 3, (1, 1)), 4);
    assert_eq!(call(b'r', b'n', (2, 3), 2, (1, 1)), 7);
    assert_eq!(call(b'c', b'n', (2, 3), 1, (1, 1)), 7);
    assert_eq!(call(b'r', b'n', (2, 3), 3, (0, 1)), 9);
    assert_eq!(call(b'r', b'n', (2, 3), 3, (1, 0)), 12);
    assert_eq!(call(b'r', b'n', (0, 3), 3, (1, 1)), 0);
}

/// Numbers that are multiplied by zero are not read: NaN among them does not count.
#[test]
fn factors_of_zero_leave_operands_alone() {
    let library = open();
    let gemv: Gemv = get(&library, "kulisch_dgemv");
    let (nan, ones) = ([f64::NAN; 2], [1.0; 2]);
    let mut y = [f64::NAN];
    let call = |alpha: f64, matrix: &[f64; 2], beta: f64, y: &mut [f64; 1]| {
        // SAFETY: a matrix of one row.
        let status = unsafe {
            gemv(
                b'r' as c_char,
                b'n' as c_char,
                1,
                2,
                alpha,
                matrix.as_ptr(),
                2,
                ones.as_ptr(),
                1,
                beta,
                y.as_mut_ptr(),
                1,
            )
        };
        assert_eq!(status, 0);
    };
    call(2.0, &ones, 0.0, &mut y);
    assert_eq!(y, [4.0]);
    call(0.0, &nan, 0.5, &mut y);
    assert_eq!(y, [2.0]);
    call(1.0, &nan, 0.0, &mut y);
    assert!(y[0].is_nan());
}

/// Compiles a C program with the library, shared or static, and returns what it writes.
fn output_of(source: &str, shared: bool) -> Option<String> {
    let name = source.replace(['/', '.'], "-");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{shared}"));
    let mut compiler = Command::new("cc");
    compiler
        .args([
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-O1",
            "-frounding-math",
            "-I",
        ])
        .arg(Path::new(CRATE).join("include"))
        .arg(Path::new(CRATE).join(source))
        .arg(beside(if shared {
            "libkulisch.so"
        } else {
            "libkulisch.a"
        }))
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program);
    let compiled = available(Requirement::Compiler, compiler.output())?;
    assert!(
        compiled.status.success(),
        "{}",
        String::from_utf8_lossy(&compiled.stderr)
    );
    let mut run = Command::new(&program);
    // Programs ask for the name that the library has when it is installed.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-library"));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::copy(beside("libkulisch.so"), folder.join("libkulisch.so.0")).expect("a copy");
    let output = run
        .env("LD_LIBRARY_PATH", &folder)
        .output()
        .expect("the program runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(String::from_utf8(output.stdout).expect("text"))
}

#[test]
fn the_example_is_compiled_and_gives_the_same_bits_with_both_libraries() {
    for shared in [true, false] {
        let Some(output) = output_of("examples/sums.c", shared) else {
            return;
        };
        // 499500 is what is left of the large numbers; one and the other order.
        let line = |name: &str| {
            let found = output.lines().find_map(|line| line.strip_prefix(name));
            found
                .unwrap_or_else(|| panic!("no {name} in {output}"))
                .trim()
                .to_string()
        };
        let x: Vec<f64> = (0..1000)
            .map(|i| if i % 2 == 0 { 1e16 } else { -1e16 } + f64::from(i))
            .collect();
        let y: Vec<f64> = (0..1000).map(|i| 1.0 / f64::from(1 + i)).collect();
        let hexadecimal = |text: &str| parsed(text).to_bits();
        let sum = expected_sum(&x, Direction::Nearest).to_bits();
        for name in ["exact forward", "exact backward", "merged"] {
            assert_eq!(hexadecimal(&line(name)), sum, "{name}");
        }
        let dot = expected_dot(&x, &y, Direction::Nearest).to_bits();
        assert_eq!(hexadecimal(&line("dot")), dot);
        // 2·1 - 0.5 and 2·6 - 0.5.
        assert_eq!(line("gemv"), "0x1.8p+0 0x1.7p+3; 0x1.8p+0 0x1.7p+3");
    }
}

/// A number as `%a` writes it.
fn parsed(text: &str) -> f64 {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (digits, power) = text
        .strip_prefix("0x")
        .and_then(|rest| rest.split_once('p'))
        .expect("a number");
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let value = u64::from_str_radix(&format!("{whole}{fraction}"), 16).expect("digits");
    let power: i32 = power.parse().expect("a power");
    let magnitude = value as f64 * 2f64.powi(power - 4 * fraction.len() as i32);
    if negative { -magnitude } else { magnitude }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn the_caller_s_floating_point_environment_is_put_aside_and_restored() {
    let Some(output) = output_of("tests/environment.c", true) else {
        return;
    };
    // The smallest double twice; 1 + 1e-30 to nearest; 1·tiny + 1e-30·tiny to nearest; no error; rounding upwards and both flags as before.
    assert_eq!(
        output,
        "0x0.0000000000002p-1022 0x1p+0 0x0.0000000000001p-1022 0 c040\n"
    );
}
