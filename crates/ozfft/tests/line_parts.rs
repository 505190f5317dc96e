//! A long line in parts (`LineParts`) has the bits of the whole plan, however its columns and rows are divided.

use num_complex::Complex;
use ozfft::{Direction, FftError, Kind, LineParts, Norm, Planner, Problem, Real};
use ozfft_testkit::oracle::inputs::Generator;
use ozfft_testkit::problems::{Source, make_unusual, numbers, seed_of_case};
use ozfft_testkit::{Bits, assert_same_bits};
use std::ops::Range;

const SEED: u64 = 0x11e5;

/// A range of indices in at most three parts, some of them empty.
fn divided(source: &mut Generator, n: usize) -> Vec<Range<usize>> {
    let mut cuts = [0, source.below(n + 1), source.below(n + 1), n];
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// Columns of a matrix, row after row; the last row may be shorter.
fn columns_of<N: Copy>(matrix: &[N], width: usize, columns: &Range<usize>) -> Vec<N> {
    let part = |row: &[N]| row[columns.start.min(row.len())..columns.end.min(row.len())].to_vec();
    matrix.chunks(width).flat_map(part).collect()
}

fn put_columns<N: Copy>(part: &[N], matrix: &mut [N], width: usize, columns: &Range<usize>) {
    if columns.is_empty() {
        return;
    }
    for (row, part) in matrix.chunks_mut(width).zip(part.chunks(columns.len())) {
        row[columns.start..columns.start + part.len()].copy_from_slice(part);
    }
}

/// What processes do with parts of a line.
fn in_parts<T: Real + Default>(
    source: &mut Generator,
    parts: &LineParts<T>,
    input: &[Complex<T>],
) -> Vec<Complex<T>> {
    let (n, len, width, rows) = (
        parts.len(),
        parts.transform_len(),
        parts.columns(),
        parts.rows(),
    );
    let (zero, lines) = (Complex::new(0i64, 0), parts.exponents_of_a_column());
    let (mut words, mut exponents) = (vec![zero; len], vec![0; lines * width]);
    // Of a half-spectrum the numbers that the line's elements are or mirror.
    let line: Vec<Complex<T>> = match parts.kind() {
        Kind::ComplexToReal => (0..n).map(|j| input[j.min(n - j)]).collect(),
        _ => input.to_vec(),
    };
    let mut properties = 0;
    let of_columns = len / width;
    for columns in divided(source, width) {
        let held = columns_of(&line, width, &columns);
        assert_eq!(held.len(), parts.numbers_of_columns(&columns));
        let count = of_columns * columns.len();
        let mut own = (vec![zero; count], vec![0; lines * columns.len()]);
        let mut workspace = vec![0x5a5a_5a5a; parts.workspace_len(count)];
        let stored = (&mut own.0[..], &mut own.1[..]);
        let own_columns = columns.clone();
        properties |= match parts.kind() {
            Kind::RealToComplex => {
                let reals: Vec<T> = held.iter().map(|z| z.re).collect();
                parts.transform_columns_of_reals(&reals, own_columns, stored, &mut workspace)
            }
            Kind::ComplexToReal => {
                let mut held = held;
                let direct = (0..n).filter(|j| columns.contains(&(j % width)) && 2 * j <= n);
                assert_eq!(direct.count(), parts.numbers_of_half(&columns));
                parts.transform_columns_of_half_spectrum(
                    &mut held,
                    own_columns,
                    stored,
                    &mut workspace,
                )
            }
            Kind::ComplexToComplex => {
                parts.transform_columns(&held, own_columns, stored, &mut workspace)
            }
        }
        .expect("the first half");
        put_columns(&own.0, &mut words, width, &columns);
        put_columns(&own.1, &mut exponents, width, &columns);
    }
    if parts.is_convolution() {
        let of_rows = parts.exponents_of_a_row();
        let (mut products, mut of_products) = (vec![zero; len], vec![0; of_rows * rows]);
        for share in divided(source, rows) {
            let of_a_row = len / rows;
            let mut own = words[share.start * of_a_row..share.end * of_a_row].to_vec();
            let mut found = (vec![zero; own.len()], vec![0; of_rows * share.len()]);
            let mut workspace = vec![0x5a5a_5a5a; parts.workspace_len(own.len())];
            parts
                .transform_rows_to_products(
                    (&mut own, &mut exponents),
                    share.clone(),
                    (&mut found.0, &mut found.1),
                    &mut workspace,
                )
                .expect("products");
            put_columns(&found.0, &mut products, rows, &share);
            put_columns(&found.1, &mut of_products, rows, &share);
        }
        for columns in divided(source, width) {
            let held = columns_of(&products, width, &columns);
            let mut own = (vec![zero; held.len()], vec![0; lines * columns.len()]);
            let mut workspace = vec![0x5a5a_5a5a; parts.workspace_len(held.len())];
            let stored = (&mut own.0[..], &mut own.1[..]);
            parts
                .transform_columns_of_products(
                    (&held, &of_products),
                    columns.clone(),
                    stored,
                    &mut workspace,
                )
                .expect("the second transform");
            put_columns(&own.0, &mut words, width, &columns);
            put_columns(&own.1, &mut exponents, width, &columns);
        }
    }
    let mut output = vec![Complex::<T>::default(); n];
    for share in divided(source, rows) {
        // Rows of words are contiguous: all that has the same first digit.
        let of_a_row = len / rows;
        let mut own = words[share.start * of_a_row..share.end * of_a_row].to_vec();
        let mut found = vec![Complex::<T>::default(); parts.numbers_of_rows(&share)];
        let mut workspace = vec![0x5a5a_5a5a; parts.workspace_len(own.len())];
        let stored = (&mut own[..], &mut exponents[..]);
        let own_rows = share.clone();
        match parts.kind() {
            Kind::ComplexToReal => {
                let mut reals: Vec<T> = found.iter().map(|z| z.re).collect();
                let found_reals = (&mut reals[..], &mut workspace[..]);
                parts
                    .transform_rows_to_reals(
                        stored,
                        own_rows,
                        properties,
                        found_reals.0,
                        found_reals.1,
                    )
                    .expect("the second half");
                let numbers = found.iter_mut().zip(reals);
                numbers.for_each(|(number, real)| number.re = real);
            }
            _ => parts
                .transform_rows(stored, own_rows, properties, &mut found, &mut workspace)
                .expect("the second half"),
        }
        put_columns(&found, &mut output, rows, &share);
    }
    output
}

fn compare<T: Real + Default + Bits>(n: usize, case: u64, narrow: impl Fn(f64) -> T) {
    let seed = seed_of_case(SEED, case);
    let mut source = Generator::new(seed);
    let problem = match source.below(4) {
        0 => Problem::real_to_complex(&[n]),
        1 => Problem::complex_to_real(&[n]),
        _ => Problem::complex(&[n]).direction(match source.once_in(2) {
            true => Direction::Inverse,
            false => Direction::Forward,
        }),
    };
    let kind = problem.kind();
    let norms = [Norm::Backward, Norm::Ortho, Norm::Forward, Norm::Unscaled];
    let problem = problem
        .norm(source.pick(&norms))
        .threads(1 + source.below(2));
    let planner = Planner::<T>::new();
    let plan = planner.plan(&problem).expect("a plan");
    let parts = planner.line_parts(&plan).expect("several passes");
    let mut values = numbers(&mut source, problem.input_len());
    match source.below(5) {
        0 => make_unusual(&mut source, &mut values),
        1 => values.iter_mut().for_each(|z| z.im = 0.0),
        2 => values.iter_mut().for_each(|z| z.re = 0.0),
        _ => {}
    }
    if kind == Kind::RealToComplex {
        values.iter_mut().for_each(|z| z.im = 0.0);
    }
    let input: Vec<Complex<T>> = values
        .iter()
        .map(|z| Complex::new(narrow(z.re), narrow(z.im)))
        .collect();
    let mut found = in_parts(&mut source, &parts, &input);
    let mut expected = vec![Complex::<T>::default(); problem.output_len()];
    match kind {
        Kind::RealToComplex => {
            let reals: Vec<T> = input.iter().map(|z| z.re).collect();
            plan.process_real_to_complex(&reals, &mut expected)
                .expect("a transform");
        }
        Kind::ComplexToReal => {
            let mut reals = vec![T::default(); n];
            match plan.process_complex_to_real(&input, &mut reals) {
                // The output is complete: parts take such imaginary parts as 0, too.
                Ok(()) | Err(FftError::NotHermitian { .. }) => {}
                Err(error) => panic!("a transform: {error}"),
            }
            let numbers = expected.iter_mut().zip(reals);
            numbers.for_each(|(number, real)| number.re = real);
        }
        Kind::ComplexToComplex => plan
            .process_outofplace(&input, &mut expected)
            .expect("a transform"),
    }
    // Of a real line one process keeps half.
    found.truncate(expected.len());
    assert_same_bits(&expected, &found, seed, format!("case {case}: {problem:?}"));
}

#[test]
fn parts_of_a_long_line_have_the_bits_of_the_whole() {
    let lengths = [1025, 1152, 2048, 2187, 3000, 4096, 6000, 9261, 1 << 14];
    for case in 0..60 {
        let n = lengths[case as usize % lengths.len()];
        match case % 4 {
            3 => compare::<f32>(n, case, |x| x as f32),
            _ => compare::<f64>(n, case, |x| x),
        }
    }
    // Three passes.
    compare::<f64>(1 << 21, 60, |x| x);
}

#[test]
fn parts_of_a_long_convolution_have_the_bits_of_the_whole() {
    // Prime, and with an even or odd cofactor; convolutions of two passes, and of three.
    let lengths = [1031, 2018, 1139, 3 * 401, 2054, 4099];
    for case in 0..48 {
        let n = lengths[case as usize % lengths.len()];
        match case % 4 {
            3 => compare::<f32>(n, 100 + case, |x| x as f32),
            _ => compare::<f64>(n, 100 + case, |x| x),
        }
    }
    for case in 150..153 {
        compare::<f64>(140_009, case, |x| x);
    }
}

#[test]
fn lines_of_one_pass_and_several_axes_have_no_parts() {
    let planner = Planner::<f64>::new();
    for problem in [
        Problem::complex(&[1024]),
        Problem::complex(&[67]),
        Problem::complex(&[2048, 2]),
    ] {
        let plan = planner.plan(&problem).expect("a plan");
        assert!(planner.line_parts(&plan).is_none(), "{problem:?}");
    }
    let plan = planner.plan(&Problem::complex(&[2048])).expect("a plan");
    let parts = planner.line_parts(&plan).expect("two passes");
    let mut workspace = vec![0; parts.workspace_len(2048)];
    let columns = parts.columns();
    let error = parts.transform_columns(&[], 0..columns + 1, (&mut [], &mut []), &mut workspace);
    assert!(error.is_err_and(|error| error.to_string().contains("range")));
    let error = parts.transform_columns(&[], 0..columns, (&mut [], &mut []), &mut workspace);
    assert!(error.is_err());
    let error = parts.transform_columns_of_reals(&[], 0..0, (&mut [], &mut []), &mut workspace);
    assert!(matches!(error, Err(FftError::WrongKind { .. })));
    let products = (&mut [][..], &mut [][..]);
    let error =
        parts.transform_rows_to_products((&mut [], &mut []), 0..0, products, &mut workspace);
    assert!(error.is_err_and(|error| error.to_string().contains("no products")));
}
