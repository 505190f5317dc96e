//! Arrays that lie between each other.

mod common;

use common::{Api, Dim64, ESTIMATE, Plan, bound_of};
use num_complex::Complex;
use ozfft_testkit::oracle::{Direction, compare, dft_nd, inputs};
use std::ffi::c_int;

/// Executes a plan once and gives it back.
fn run_once(plan: Plan) {
    let api = Api::<f64>::ours();
    assert!(!plan.is_null(), "no plan");
    // SAFETY: the plan's arrays are alive in the caller.
    unsafe {
        (api.execute)(plan);
        (api.destroy_plan)(plan);
    }
}

/// Arrays that alternate element by element, as bands of MPB do: lines that lie side by side are numbered one after the other. Every
/// array has the bits that it has alone, also the one whose numbers are so large that it is scaled between its axes.
#[test]
fn arrays_that_alternate_have_the_bits_of_arrays_alone_and_are_numbered_as_they_lie() {
    const COUNT: usize = 5;
    // 2 to the powers 1018 and -1030.
    const LARGE: f64 = f64::from_bits((1023 + 1018) << 52);
    const SMALL: f64 = f64::from_bits(1 << 44);
    let (rows, columns) = (6, 10);
    let half = columns / 2 + 1;
    let api = Api::<f64>::ours();
    let scales = [1.0, LARGE, 0.0, SMALL, -1.0];
    let line = inputs::uniform_real(2 * rows * columns * COUNT, 5);
    let dims = |from: usize, to: usize| {
        let dim = |n: usize, is: usize, os: usize| Dim64 {
            n: n as isize,
            is: (is * COUNT) as isize,
            os: (os * COUNT) as isize,
        };
        [dim(rows, from, to), dim(columns, 1, 1)]
    };
    let alternating = Dim64 {
        n: COUNT as isize,
        is: 1,
        os: 1,
    };
    // Real numbers of an element, and elements of a row, of the input and of the output.
    let kinds = [
        ((2, columns), (2, columns)),
        ((1, columns), (2, half)),
        ((2, half), (1, columns)),
    ];
    for (kind, ((in_parts, from), (out_parts, to))) in kinds.into_iter().enumerate() {
        let plan_of =
            |dims: &[Dim64; 2], loops: &[Dim64], input: &mut [f64], output: &mut [f64]| {
                let (rank, dims, count, loops) = (2, dims.as_ptr(), loops.len(), loops.as_ptr());
                let (input, output, count) =
                    (input.as_mut_ptr(), output.as_mut_ptr(), count as c_int);
                // SAFETY: arrays of the lengths and strides that are given.
                unsafe {
                    match kind {
                        0 => (api.plan_guru64_dft)(
                            rank, dims, count, loops, input, output, -1, ESTIMATE,
                        ),
                        1 => (api.plan_guru64_dft_r2c)(
                            rank, dims, count, loops, input, output, ESTIMATE,
                        ),
                        _ => (api.plan_guru64_dft_c2r)(
                            rank, dims, count, loops, input, output, ESTIMATE,
                        ),
                    }
                }
            };
        // Element `i` of array `member`, and its part.
        let place = |parts: usize, i: usize, member: usize, part: usize| {
            (i * COUNT + member) * parts + part
        };
        let mut input = vec![0.0; rows * from * COUNT * in_parts];
        let mut output = vec![0.0; rows * to * COUNT * out_parts];
        for (member, scale) in scales.iter().enumerate() {
            for i in 0..rows * from * in_parts {
                input[place(in_parts, i / in_parts, member, i % in_parts)] =
                    scale * line[i * COUNT + member];
            }
        }
        let before = input.clone();
        let plan = plan_of(&dims(from, to), &[alternating], &mut input, &mut output);
        let described = api.describe(plan);
        assert!(
            described.contains(&format!("[{rows}, {columns}, {COUNT}], axes [0, 1]")),
            "{described}"
        );
        let bound = bound_of(&described);
        run_once(plan);
        assert_eq!(input, before, "the input is left as it is");
        for member in 0..COUNT {
            let mut alone: Vec<f64> = (0..rows * from * in_parts)
                .map(|i| input[place(in_parts, i / in_parts, member, i % in_parts)])
                .collect();
            let mut expected = vec![0.0; rows * to * out_parts];
            let contiguous = [
                Dim64 {
                    n: rows as isize,
                    is: from as isize,
                    os: to as isize,
                },
                Dim64 {
                    n: columns as isize,
                    is: 1,
                    os: 1,
                },
            ];
            run_once(plan_of(&contiguous, &[], &mut alone, &mut expected));
            for (i, &value) in expected.iter().enumerate() {
                let found = output[place(out_parts, i / out_parts, member, i % out_parts)];
                assert_eq!(
                    found.to_bits(),
                    value.to_bits(),
                    "kind {kind}, array {member}, number {i}"
                );
            }
            if kind == 0 && member == 0 {
                let complex = |numbers: &[f64]| -> Vec<Complex<f64>> {
                    let pairs = numbers.chunks_exact(2);
                    pairs.map(|pair| Complex::new(pair[0], pair[1])).collect()
                };
                let exact = dft_nd(&complex(&alone), &[rows, columns], Direction::Forward);
                assert!(compare(&complex(&expected), &exact).l2 <= bound);
            }
            let largest = expected
                .iter()
                .fold(0.0, |largest: f64, &x| largest.max(x.abs()));
            assert!(largest.is_finite() && (largest > 0.0) == (scales[member] != 0.0));
        }
    }
}
