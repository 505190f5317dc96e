//! A long line in parts (`LineParts`) has the bits of the whole plan, however its columns and rows are divided.

use num_complex::Complex;
use ozfft::{Direction, Kind, LineParts, Norm, Planner, Problem, Real};
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

/// Columns of a matrix, row after row.
fn columns_of<N: Copy>(matrix: &[N], width: usize, columns: &Range<usize>) -> Vec<N> {
    let rows = matrix.chunks(width);
    rows.flat_map(|row| row[columns.clone()].to_vec()).collect()
}

fn put_columns<N: Copy>(part: &[N], matrix: &mut [N], width: usize, columns: &Range<usize>) {
    if columns.is_empty() {
        return;
    }
    for (row, part) in matrix.chunks_mut(width).zip(part.chunks(columns.len())) {
        row[columns.clone()].copy_from_slice(part);
    }
}

/// What processes do with parts of a line.
fn in_parts<T: Real + Default>(
    source: &mut Generator,
    parts: &LineParts<T>,
    input: &[Complex<T>],
) -> Vec<Complex<T>> {
    let (n, width, rows) = (parts.len(), parts.columns(), parts.rows());
    let (zero, lines) = (Complex::new(0i64, 0), parts.exponents_of_a_column());
    let (mut words, mut exponents) = (vec![zero; n], vec![0; lines * width]);
    let mut properties = 0;
    for columns in divided(source, width) {
        let held = columns_of(input, width, &columns);
        let mut own = (vec![zero; held.len()], vec![0; lines * columns.len()]);
        let mut workspace = vec![0x5a5a_5a5a; parts.workspace_len(held.len())];
        let stored = (&mut own.0[..], &mut own.1[..]);
        properties |= match parts.kind() {
            Kind::RealToComplex => {
                let reals: Vec<T> = held.iter().map(|z| z.re).collect();
                parts.transform_columns_of_reals(&reals, columns.clone(), stored, &mut workspace)
            }
            _ => parts.transform_columns(&held, columns.clone(), stored, &mut workspace),
        }
        .expect("the first half");
        put_columns(&own.0, &mut words, width, &columns);
        put_columns(&own.1, &mut exponents, width, &columns);
    }
    let mut output = vec![Complex::<T>::default(); n];
    for share in divided(source, rows) {
        // Rows of words are contiguous: all that has the same first digit.
        let of_a_row = n / rows;
        let mut own = words[share.start * of_a_row..share.end * of_a_row].to_vec();
        let mut found = vec![Complex::<T>::default(); own.len()];
        let mut workspace = vec![0x5a5a_5a5a; parts.workspace_len(own.len())];
        let stored = (&mut own[..], &mut exponents[..]);
        parts
            .transform_rows(
                stored,
                share.clone(),
                properties,
                &mut found,
                &mut workspace,
            )
            .expect("the second half");
        put_columns(&found, &mut output, rows, &share);
    }
    output
}

fn compare<T: Real + Default + Bits>(n: usize, case: u64, narrow: impl Fn(f64) -> T) {
    let seed = seed_of_case(SEED, case);
    let mut source = Generator::new(seed);
    let real = source.once_in(3);
    let problem = match real {
        true => Problem::real_to_complex(&[n]),
        false => Problem::complex(&[n]).direction(match source.once_in(2) {
            true => Direction::Inverse,
            false => Direction::Forward,
        }),
    };
    let norms = [Norm::Backward, Norm::Ortho, Norm::Forward, Norm::Unscaled];
    let problem = problem
        .norm(source.pick(&norms))
        .threads(1 + source.below(2));
    let planner = Planner::<T>::new();
    let plan = planner.plan(&problem).expect("a plan");
    let parts = planner.line_parts(&plan).expect("several passes");
    let mut values = numbers(&mut source, n);
    match source.below(5) {
        0 => make_unusual(&mut source, &mut values),
        1 => values.iter_mut().for_each(|z| z.im = 0.0),
        2 => values.iter_mut().for_each(|z| z.re = 0.0),
        _ => {}
    }
    if real {
        values.iter_mut().for_each(|z| z.im = 0.0);
    }
    let input: Vec<Complex<T>> = values
        .iter()
        .map(|z| Complex::new(narrow(z.re), narrow(z.im)))
        .collect();
    let mut found = in_parts(&mut source, &parts, &input);
    let mut expected = vec![Complex::<T>::default(); problem.output_len()];
    match real {
        true => {
            let reals: Vec<T> = input.iter().map(|z| z.re).collect();
            plan.process_real_to_complex(&reals, &mut expected)
                .expect("a transform");
        }
        false => plan
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
fn lines_of_one_pass_or_of_a_convolution_and_several_axes_have_no_parts() {
    let planner = Planner::<f64>::new();
    for problem in [
        Problem::complex(&[1024]),
        Problem::complex(&[2018]),
        Problem::complex(&[2048, 2]),
        Problem::complex_to_real(&[2048]),
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
}
