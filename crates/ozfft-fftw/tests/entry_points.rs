//! Every FFI entry point against the reference: the oracle's transforms, direct sums in double-double numbers, and values worked out by hand.
//! Tolerances are the proven bounds that the plans state.

mod common;

use common::{Api, Dim64, ESTIMATE, Plan, WISDOM_ONLY, bound_of};
use num_complex::Complex;
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::{Direction, DoubleDouble, compare, dft_nd, inputs, root_of_unity};
use std::ffi::{CStr, CString, c_int};
use std::ptr::null_mut;
use std::sync::Mutex;

type Z = Complex<f64>;

/// The number of threads and wisdom belong to the whole program: tests that change them do it one after the other.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn reals(values: &mut [Z]) -> *mut f64 {
    values.as_mut_ptr().cast()
}

fn direction(sign: c_int) -> Direction {
    match sign {
        -1 => Direction::Forward,
        _ => Direction::Inverse,
    }
}

/// Executes a plan once and gives it back; returns its bound.
fn run_once(api: &Api<f64>, plan: Plan) -> f64 {
    assert!(!plan.is_null(), "no plan");
    let bound = bound_of(&api.describe(plan));
    // SAFETY: the plan's arrays are alive in the caller.
    unsafe {
        (api.execute)(plan);
        (api.destroy_plan)(plan);
    }
    bound
}

#[test]
fn complex_transforms_keep_their_bound_in_both_directions_in_and_out_of_place() {
    let api = Api::<f64>::ours();
    let shapes: [&[c_int]; 6] = [&[1], &[12], &[131], &[8, 9], &[3, 5, 7], &[2, 3, 4, 5]];
    for (number, shape) in shapes.iter().enumerate() {
        let lengths: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
        let values = inputs::uniform_complex(lengths.iter().product(), number as u64);
        for sign in [-1, 1] {
            let exact = dft_nd(&values, &lengths, direction(sign));
            for in_place in [false, true] {
                let mut input = values.clone();
                let mut output = values.clone();
                let from = if in_place {
                    reals(&mut output)
                } else {
                    reals(&mut input)
                };
                let to = reals(&mut output);
                // SAFETY: arrays of the lengths that are given.
                let plan = unsafe {
                    match **shape {
                        [n] => (api.plan_dft_1d)(n, from, to, sign, ESTIMATE),
                        [a, b] => (api.plan_dft_2d)(a, b, from, to, sign, 0),
                        [a, b, c] => (api.plan_dft_3d)(a, b, c, from, to, sign, ESTIMATE),
                        _ => {
                            (api.plan_dft)(shape.len() as c_int, shape.as_ptr(), from, to, sign, 0)
                        }
                    }
                };
                let bound = run_once(&api, plan);
                let error = compare(&output, &exact).l2;
                assert!(
                    error <= bound,
                    "{shape:?} {sign} {in_place}: {error:e} over {bound:e}"
                );
                assert_eq!(input, values, "the input is left as it is");
            }
        }
    }
}

#[test]
fn real_transforms_round_trip_through_half_spectra_in_and_out_of_place() {
    let api = Api::<f64>::ours();
    let shapes: [&[c_int]; 6] = [&[1], &[10], &[15], &[6, 7], &[3, 4, 6], &[2, 3, 2, 5]];
    for (number, shape) in shapes.iter().enumerate() {
        let lengths: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
        let n = lengths[lengths.len() - 1];
        let (rows, half) = (lengths.iter().product::<usize>() / n, n / 2 + 1);
        let values = inputs::uniform_real(rows * n, number as u64);
        let whole = dft_nd(
            &inputs::complex_from_real(&values),
            &lengths,
            Direction::Forward,
        );
        let mut exact = whole.clone();
        exact.values = (0..rows)
            .flat_map(|row| whole.values[row * n..row * n + half].to_vec())
            .collect();
        for in_place in [false, true] {
            let stride = if in_place { 2 * half } else { n };
            let mut spectrum = vec![Z::new(0.0, 0.0); rows * half];
            let mut array = vec![0.0; rows * n];
            let (real, complex) = match in_place {
                true => (reals(&mut spectrum), reals(&mut spectrum)),
                false => (array.as_mut_ptr(), reals(&mut spectrum)),
            };
            // SAFETY: arrays of the lengths that are given, rows `stride` apart.
            unsafe {
                let put = |i: usize| real.add(i / n * stride + i % n);
                let plan = match **shape {
                    [n] => (api.plan_dft_r2c_1d)(n, real, complex, 0),
                    [a, b] => (api.plan_dft_r2c_2d)(a, b, real, complex, 0),
                    [a, b, c] => (api.plan_dft_r2c_3d)(a, b, c, real, complex, 0),
                    _ => (api.plan_dft_r2c)(shape.len() as c_int, shape.as_ptr(), real, complex, 0),
                };
                for (i, &value) in values.iter().enumerate() {
                    put(i).write(value);
                }
                let bound = run_once(&api, plan);
                let error = compare(&spectrum, &exact).l2;
                assert!(
                    error <= bound,
                    "{shape:?} {in_place}: {error:e} over {bound:e}"
                );
                let before = spectrum.clone();
                let plan = match **shape {
                    [n] => (api.plan_dft_c2r_1d)(n, complex, real, 0),
                    [a, b] => (api.plan_dft_c2r_2d)(a, b, complex, real, 0),
                    [a, b, c] => (api.plan_dft_c2r_3d)(a, b, c, complex, real, 0),
                    _ => (api.plan_dft_c2r)(shape.len() as c_int, shape.as_ptr(), complex, real, 0),
                };
                let inverse_bound = run_once(&api, plan);
                if !in_place {
                    assert_eq!(before, spectrum, "the half-spectrum is left as it is");
                }
                // There and back is the number of points; both errors are relative to the norm, at most √2 apart for halves.
                let points = values.len() as f64;
                let norm = values.iter().map(|x| x * x).sum::<f64>().sqrt();
                let difference = values
                    .iter()
                    .enumerate()
                    .map(|(i, x)| put(i).read() / points - x);
                let error = difference.map(|d| d * d).sum::<f64>().sqrt();
                let allowed = 2.0 * (bound + inverse_bound) * norm + 1e-16 * norm;
                assert!(
                    error <= allowed,
                    "{shape:?} {in_place}: {error:e} over {allowed:e}"
                );
            }
        }
    }
}

/// FFTW's manual, "what FFTW really computes", as sums.
fn real_transform(kind: c_int, line: &[f64]) -> Vec<DoubleDouble> {
    let n = line.len();
    let x = |j: usize| DoubleDouble::from(line[j]);
    // cos and sin of 2π times a fraction.
    let cos = |part: usize, whole: usize| root_of_unity(part % whole, whole).re;
    let sin = |part: usize, whole: usize| {
        let im = root_of_unity(part % whole, whole).im;
        // Whatever the sign of the oracle's roots is, a quarter turn has sine 1.
        if root_of_unity(1, 4).im.to_f64() > 0.0 {
            im
        } else {
            -im
        }
    };
    let two = DoubleDouble::from(2.0);
    let sum = |terms: &mut dyn Iterator<Item = DoubleDouble>| {
        terms.fold(DoubleDouble::from(0.0), |a, b| a + b)
    };
    let sign = |k: usize| DoubleDouble::from(if k.is_multiple_of(2) { 1.0 } else { -1.0 });
    (0..n)
        .map(|k| match kind {
            0 if k <= n / 2 => sum(&mut (0..n).map(|j| x(j) * cos(j * k, n))),
            0 => sum(&mut (0..n).map(|j| -(x(j) * sin(j * (n - k), n)))),
            1 => {
                let middle = if n.is_multiple_of(2) {
                    x(n / 2) * sign(k)
                } else {
                    DoubleDouble::from(0.0)
                };
                let others = (1..n.div_ceil(2))
                    .map(|j| two * (x(j) * cos(j * k, n) - x(n - j) * sin(j * k, n)));
                x(0) + middle + sum(&mut { others })
            }
            2 => sum(&mut (0..n).map(|j| x(j) * (cos(j * k, n) + sin(j * k, n)))),
            3 => {
                let inner = (1..n - 1).map(|j| two * x(j) * cos(j * k, 2 * (n - 1)));
                x(0) + sign(k) * x(n - 1) + sum(&mut { inner })
            }
            4 => x(0) + sum(&mut (1..n).map(|j| two * x(j) * cos(j * (2 * k + 1), 4 * n))),
            5 => sum(&mut (0..n).map(|j| two * x(j) * cos((2 * j + 1) * k, 4 * n))),
            6 => sum(&mut (0..n).map(|j| two * x(j) * cos((2 * j + 1) * (2 * k + 1), 8 * n))),
            7 => sum(&mut (0..n).map(|j| two * x(j) * sin((j + 1) * (k + 1), 2 * (n + 1)))),
            8 => {
                let inner = (0..n - 1).map(|j| two * x(j) * sin((j + 1) * (2 * k + 1), 4 * n));
                sign(k) * x(n - 1) + sum(&mut { inner })
            }
            9 => sum(&mut (0..n).map(|j| two * x(j) * sin((2 * j + 1) * (k + 1), 4 * n))),
            _ => sum(&mut (0..n).map(|j| two * x(j) * sin((2 * j + 1) * (2 * k + 1), 8 * n))),
        })
        .collect()
}

#[test]
fn every_real_to_real_kind_keeps_twice_the_bound_of_its_longer_transform() {
    let api = Api::<f64>::ours();
    for kind in 0..11 {
        for n in [1usize, 2, 3, 4, 5, 8, 13, 16, 30] {
            let values = inputs::uniform_real(n, 100 * n as u64 + kind as u64);
            let (mut input, mut output) = (values.clone(), vec![0.0; n]);
            // SAFETY: arrays of `n` numbers.
            let plan = unsafe {
                (api.plan_r2r_1d)(n as c_int, input.as_mut_ptr(), output.as_mut_ptr(), kind, 0)
            };
            if kind == 3 && n == 1 {
                assert!(plan.is_null(), "REDFT00 needs two points");
                continue;
            }
            let bound = 2.0 * run_once(&api, plan) + 0.5f64.powi(53);
            let exact = real_transform(kind, &values);
            let error = relative_error(&output, &exact);
            assert!(
                error <= bound,
                "kind {kind}, {n} points: {error:e} over {bound:e}"
            );
        }
    }
}

/// Relative L2 error of a result.
fn relative_error(output: &[f64], exact: &[DoubleDouble]) -> f64 {
    assert_eq!(output.len(), exact.len());
    let square = |x: f64| x * x;
    let norm = exact.iter().map(|x| square(x.to_f64())).sum::<f64>();
    let pairs = exact.iter().zip(output);
    let differences = pairs.map(|(x, &y)| square((*x - DoubleDouble::from(y)).to_f64()));
    (differences.sum::<f64>() / norm).sqrt()
}

/// The last block of lines, where it had fewer than the others, was given the arrays of a whole one, and the program ended. Both shapes
/// have such a block for every kind and axis.
#[test]
fn real_to_real_with_a_short_last_block_of_lines() {
    let api = Api::<f64>::ours();
    let (n, lines) = (100, 1000);
    for kind in 0..11 {
        let values = inputs::uniform_real(n * lines, kind as u64);
        let (mut input, mut output) = (values.clone(), vec![0.0; n * lines]);
        // SAFETY: arrays of so many lines.
        let plan = unsafe {
            let (from, to) = (input.as_mut_ptr(), output.as_mut_ptr());
            let (length, none) = (n as c_int, std::ptr::null());
            (api.plan_many_r2r)(
                1,
                &length,
                lines as c_int,
                from,
                none,
                1,
                length,
                to,
                none,
                1,
                length,
                &kind,
                0,
            )
        };
        let bound = 2.0 * run_once(&api, plan) + 0.5f64.powi(53);
        for line in [0, 81, 500, lines - 2, lines - 1] {
            let line = n * line..n * (line + 1);
            let error = relative_error(&output[line.clone()], &real_transform(kind, &values[line]));
            assert!(error <= bound, "kind {kind}: {error:e} over {bound:e}");
        }
    }
}

#[test]
fn real_to_real_in_two_dimensions_with_a_short_last_block_of_lines() {
    let api = Api::<f64>::ours();
    let n = 300;
    // Products of small integers are exact, and the transform of a product of lines is the product of theirs.
    let [rows, columns] = [7, 11].map(|prime| -> Vec<f64> {
        let residues = (0..n).map(|i| f64::from(i * i % prime));
        residues.collect()
    });
    for kind in 0..11 {
        let other = (kind + 3) % 11;
        let products = rows.iter().flat_map(|x| columns.iter().map(move |y| x * y));
        let mut array: Vec<f64> = products.collect();
        // SAFETY: so many rows and columns, in place.
        let plan = unsafe {
            let start = array.as_mut_ptr();
            (api.plan_r2r_2d)(n, n, start, start, kind, other, 0)
        };
        let bound = 3.0 * (2.0 * run_once(&api, plan) + 0.5f64.powi(53));
        let (left, right) = (real_transform(kind, &rows), real_transform(other, &columns));
        let products = left.iter().flat_map(|&x| right.iter().map(move |&y| x * y));
        let error = relative_error(&array, &products.collect::<Vec<_>>());
        assert!(error <= bound, "{kind}, {other}: {error:e} over {bound:e}");
    }
}

/// These kinds are twice too large before they are halved, and numbers above half of the largest became infinite.
#[test]
fn real_to_real_reaches_the_largest_numbers() {
    let api = Api::<f64>::ours();
    for kind in [4, 6, 8, 10] {
        for n in 1usize..=4 {
            for (place, large) in (0..n).flat_map(|j| [(j, 0.6), (j, 0.95), (j, -0.95)]) {
                let mut values = vec![0.0; n];
                values[place] = large;
                let exact = real_transform(kind, &values);
                let mut array: Vec<f64> = values.iter().map(|x| x * f64::MAX).collect();
                // SAFETY: `n` numbers, in place.
                let plan = unsafe {
                    let start = array.as_mut_ptr();
                    (api.plan_r2r_1d)(n as c_int, start, start, kind, 0)
                };
                let bound = 2.0 * run_once(&api, plan) + 0.5f64.powi(52);
                if exact.iter().any(|x| x.to_f64().abs() > 0.99) {
                    assert!(array.iter().all(|x| !x.is_nan()), "kind {kind}: {array:?}");
                    continue;
                }
                let scaled: Vec<f64> = array.iter().map(|x| x / f64::MAX).collect();
                let error = relative_error(&scaled, &exact);
                assert!(error <= bound, "kind {kind}, {values:?}: {array:?}");
            }
        }
    }
    // Halving comes last for all others: subnormal numbers keep their last bit.
    let mut array = [f64::from_bits(5)];
    // SAFETY: one number, in place.
    let plan = unsafe { (api.plan_r2r_1d)(1, array.as_mut_ptr(), array.as_mut_ptr(), 4, 0) };
    run_once(&api, plan);
    assert_eq!(array, [f64::from_bits(5)]);
}

#[test]
fn real_to_real_in_several_dimensions_is_the_composition_of_one_dimensional_ones() {
    let api = Api::<f64>::ours();
    let (shape, kinds) = ([3, 4, 5], [5, 7, 0]);
    let values = inputs::uniform_real(60, 5);
    let mut all = values.clone();
    // SAFETY: 60 numbers, in place.
    let plan = unsafe {
        (api.plan_r2r)(
            3,
            shape.as_ptr(),
            all.as_mut_ptr(),
            all.as_mut_ptr(),
            kinds.as_ptr(),
            0,
        )
    };
    run_once(&api, plan);
    let mut single = values;
    let loops = |a: Dim64, b: Dim64| [a, b];
    let dim = |n, stride| Dim64 {
        n,
        is: stride,
        os: stride,
    };
    // The last axis first, as the plan does it: then not a bit differs.
    for (axis, others, kind) in [
        (dim(5, 1), loops(dim(3, 20), dim(4, 5)), 0),
        (dim(4, 5), loops(dim(3, 20), dim(5, 1)), 7),
        (dim(3, 20), loops(dim(4, 5), dim(5, 1)), 5),
    ] {
        let array = single.as_mut_ptr();
        // SAFETY: dimensions of the same 60 numbers.
        let plan =
            unsafe { (api.plan_guru64_r2r)(1, &axis, 2, others.as_ptr(), array, array, &kind, 0) };
        run_once(&api, plan);
    }
    assert_eq!(all, single);
}

#[test]
fn strides_split_arrays_and_overlap_do_not_change_the_bits() {
    let api = Api::<f64>::ours();
    let _alone = alone();
    let values = inputs::uniform_complex(30, 9);
    let mut expected = values.clone();
    let planner = ozfft::Planner::<f64>::new();
    let problem = ozfft::Problem::complex(&[5, 6])
        .engine(ozfft::Engine::Digits)
        .norm(ozfft::Norm::Unscaled);
    planner
        .plan(&problem)
        .unwrap()
        .process(&mut expected)
        .unwrap();
    // Rows backwards, with gaps.
    let mut wide = vec![Z::new(7.0, 7.0); 5 * 20];
    let place = |i: usize| (4 - i / 6) * 20 + 3 * (i % 6);
    for (i, &value) in values.iter().enumerate() {
        wide[place(i)] = value;
    }
    let dims = [
        Dim64 {
            n: 5,
            is: -20,
            os: -20,
        },
        Dim64 { n: 6, is: 3, os: 3 },
    ];
    // SAFETY: the first element is that of the last row.
    let plan = unsafe {
        let start = reals(&mut wide).add(2 * 80);
        (api.plan_guru64_dft)(2, dims.as_ptr(), 0, std::ptr::null(), start, start, -1, 0)
    };
    run_once(&api, plan);
    assert!((0..30).all(|i| wide[place(i)] == expected[i]));
    let untouched = wide
        .iter()
        .filter(|&&value| value == Z::new(7.0, 7.0))
        .count();
    assert_eq!(untouched, 70);
    // Parts apart; exchanged parts are the other sign, tested by conjugation.
    let (mut re, mut im): (Vec<f64>, Vec<f64>) = values.iter().map(|z| (z.re, z.im)).unzip();
    let dims = [Dim64 { n: 5, is: 6, os: 6 }, Dim64 { n: 6, is: 1, os: 1 }];
    // SAFETY: 30 numbers each.
    let plan = unsafe {
        let (re, im) = (re.as_mut_ptr(), im.as_mut_ptr());
        (api.plan_guru64_split_dft)(2, dims.as_ptr(), 0, std::ptr::null(), re, im, re, im, 0)
    };
    run_once(&api, plan);
    assert!((0..30).all(|i| Z::new(re[i], im[i]) == expected[i]));
    // An output that begins in the middle of the input.
    let mut long = values.clone();
    long.resize(50, Z::new(0.0, 0.0));
    // SAFETY: 30 numbers from the first and from the eleventh on.
    let plan = unsafe {
        let start = reals(&mut long);
        (api.plan_dft_2d)(5, 6, start, start.add(20), -1, 0)
    };
    run_once(&api, plan);
    assert_eq!(&long[10..40], &expected[..]);
}

/// Threads that a process has.
#[cfg(target_os = "linux")]
fn threads_of_this_process() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn any_number_of_threads_gives_the_same_bits_and_pools_do_not_accumulate() {
    let api = Api::<f64>::ours();
    let _alone = alone();
    // Work for eight threads: long lines, which several threads share, and many short ones.
    for shape in [[1, 1 << 16], [256, 256]] {
        let values = inputs::uniform_complex(1 << 16, 31);
        let mut expected = Vec::new();
        // No more than 7, so that a machine with many processors keeps within the count below as well.
        for threads in [1, 2, 3, 4, 5, 6, 7, 3, 2] {
            let mut array = values.clone();
            // SAFETY: 65,536 numbers, in place.
            let plan = unsafe {
                (api.plan_with_nthreads)(threads);
                assert_eq!((api.planner_nthreads)(), threads);
                let start = reals(&mut array);
                (api.plan_dft_2d)(shape[0], shape[1], start, start, -1, ESTIMATE)
            };
            run_once(&api, plan);
            match threads {
                1 => expected = array,
                _ => assert!(array == expected, "{shape:?}, {threads} threads"),
            }
        }
    }
    #[cfg(target_os = "linux")]
    {
        // Former pools end on their own time. The tests beside this one have a thread each.
        let processors = std::thread::available_parallelism().map_or(1, |number| number.get());
        let allowed = 2 * processors.min(7) + 2 * processors + 4;
        let mut rounds = 0;
        while threads_of_this_process() > allowed && rounds < 100 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            rounds += 1;
        }
        let threads = threads_of_this_process();
        assert!(threads <= allowed, "{threads} threads are left");
    }
    // SAFETY: a number.
    unsafe { (api.plan_with_nthreads)(c_int::MAX) };
    let mut array = inputs::uniform_complex(1 << 16, 31);
    // SAFETY: 65,536 numbers, in place.
    let plan = unsafe {
        let start = reals(&mut array);
        (api.plan_dft_1d)(1 << 16, start, start, -1, ESTIMATE)
    };
    run_once(&api, plan);
    // SAFETY: a number.
    unsafe { (api.plan_with_nthreads)(1) };
}

#[test]
fn many_takes_columns_of_a_larger_array() {
    let api = Api::<f64>::ours();
    // Three transforms of 4 points, down the first three columns of a 4 × 7 array.
    let mut array: Vec<Z> = (0..28)
        .map(|i| Z::new(f64::from(i * i % 11), f64::from(i % 5)))
        .collect();
    let before = array.clone();
    let (n, embedding) = ([4], [4]);
    // SAFETY: within the 28 numbers.
    let plan = unsafe {
        let start = reals(&mut array);
        (api.plan_many_dft)(
            1,
            n.as_ptr(),
            3,
            start,
            embedding.as_ptr(),
            7,
            1,
            start,
            embedding.as_ptr(),
            7,
            1,
            -1,
            0,
        )
    };
    run_once(&api, plan);
    for column in 0..7 {
        let x = |row: usize| before[7 * row + column];
        for k in 0..4 {
            let turn = Z::new(0.0, -1.0);
            let exact: Z = (0..4).map(|j| x(j) * turn.powu((j * k) as u32)).sum();
            // Small integers: every sum is exact.
            let wanted = if column < 3 { exact } else { x(k) };
            assert_eq!(array[7 * k + column], wanted, "column {column}, row {k}");
        }
    }
}

#[test]
fn rank_0_copies_and_transposes_and_loops_of_0_do_nothing() {
    let api = Api::<f64>::ours();
    let mut array: Vec<Z> = (0..6)
        .map(|i| Z::new(f64::from(i), -f64::from(i)))
        .collect();
    // 2 × 3 becomes 3 × 2 in the same memory.
    let loops = [Dim64 { n: 2, is: 3, os: 1 }, Dim64 { n: 3, is: 1, os: 2 }];
    // SAFETY: six numbers.
    let plan = unsafe {
        let start = reals(&mut array);
        (api.plan_guru64_dft)(0, std::ptr::null(), 2, loops.as_ptr(), start, start, -1, 0)
    };
    run_once(&api, plan);
    let re: Vec<f64> = array.iter().map(|z| z.re).collect();
    assert_eq!(re, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    let nothing = Dim64 { n: 0, is: 1, os: 1 };
    let dim = Dim64 { n: 4, is: 1, os: 1 };
    // SAFETY: nothing is touched.
    let plan =
        unsafe { (api.plan_guru64_dft)(1, &dim, 1, &nothing, null_mut(), null_mut(), -1, 0) };
    run_once(&api, plan);
    // A half-spectrum of no dimension is the number itself.
    let (mut real, mut complex) = (3.0, Z::new(9.0, 9.0));
    // SAFETY: one number each.
    let plan = unsafe {
        let complex: *mut Z = &mut complex;
        (api.plan_guru64_dft_r2c)(
            0,
            std::ptr::null(),
            0,
            std::ptr::null(),
            &mut real,
            complex.cast(),
            0,
        )
    };
    run_once(&api, plan);
    assert_eq!(complex, Z::new(3.0, 0.0));
}

#[test]
fn new_array_execution_takes_any_address_and_many_threads() {
    let api = Api::<f64>::ours();
    let mut planned = vec![Z::new(0.0, 0.0); 210];
    // SAFETY: 210 numbers, in place.
    let plan = unsafe { (api.plan_dft_1d)(210, reals(&mut planned), reals(&mut planned), 1, 0) };
    let address = plan as usize;
    let expected: Vec<Vec<Z>> = (0..4)
        .map(|seed| {
            let mut values = inputs::uniform_complex(210, seed);
            // SAFETY: arrays as the plan's.
            unsafe { (api.execute_dft)(plan, reals(&mut values), reals(&mut values)) };
            let exact = oracle::dft(&inputs::uniform_complex(210, seed), Direction::Inverse);
            assert!(compare(&values, &exact).l2 <= bound_of(&api.describe(plan)));
            values
        })
        .collect();
    std::thread::scope(|scope| {
        for (seed, expected) in expected.iter().enumerate() {
            scope.spawn(move || {
                for _ in 0..20 {
                    // Out of place with a plan made in place, from an address that is no multiple of 8.
                    let values = inputs::uniform_complex(210, seed as u64);
                    let mut bytes = vec![0u8; 16 * 210 + 4];
                    let mut output = vec![Z::new(0.0, 0.0); 210];
                    // SAFETY: 210 numbers from the fifth byte on; plans may be executed by many threads.
                    unsafe {
                        let start = bytes.as_mut_ptr().add(4);
                        start.copy_from(values.as_ptr().cast(), 16 * 210);
                        (api.execute_dft)(address as Plan, start.cast(), reals(&mut output));
                    }
                    assert_eq!(&output, expected);
                }
            });
        }
    });
    // SAFETY: not used again.
    unsafe { (api.destroy_plan)(plan) };
}

#[test]
fn invalid_plans_are_null_and_destroying_null_is_harmless() {
    let api = Api::<f64>::ours();
    let mut values = [Z::new(1.0, 2.0); 4];
    let array = reals(&mut values);
    let huge = Dim64 {
        n: 1 << 40,
        is: 1,
        os: 1,
    };
    let far = Dim64 {
        n: 4,
        is: isize::MAX / 2,
        os: 1,
    };
    let dim = Dim64 { n: 4, is: 1, os: 1 };
    let none = std::ptr::null();
    // SAFETY: nothing is read or written where there is no plan, and null is rejected.
    unsafe {
        let rejected = [
            (api.plan_dft_1d)(0, array, array, -1, 0),
            (api.plan_dft_1d)(-4, array, array, -1, 0),
            (api.plan_dft_1d)(4, array, array, 3, 0),
            (api.plan_dft)(-1, none, array, array, -1, 0),
            (api.plan_dft)(2, none, array, array, -1, 0),
            (api.plan_dft)(c_int::MAX, [2, 2].as_ptr(), array, array, -1, 0),
            (api.plan_guru64_dft)(c_int::MAX, &dim, 0, std::ptr::null(), array, array, -1, 0),
            (api.plan_guru64_dft)(1, &dim, c_int::MAX, &dim, array, array, -1, 0),
            (api.plan_r2r_1d)(4, array, array, 11, 0),
            (api.plan_r2r_1d)(1, array, array, 3, 0),
            (api.plan_guru64_dft)(1, &huge, 0, std::ptr::null(), array, array, -1, 0),
            (api.plan_guru64_dft)(1, &far, 0, std::ptr::null(), array, array, -1, 0),
            (api.plan_many_dft)(
                1,
                [4].as_ptr(),
                -1,
                array,
                none,
                1,
                4,
                array,
                none,
                1,
                4,
                -1,
                0,
            ),
        ];
        for (number, plan) in rejected.iter().enumerate() {
            assert!(plan.is_null(), "rejection {number}");
        }
        (api.destroy_plan)(null_mut());
        // A plan without arrays is a plan, as with FFTW_ESTIMATE; only executing it needs them.
        let plan = (api.plan_dft_1d)(4, null_mut(), null_mut(), -1, ESTIMATE);
        assert!(!plan.is_null());
        (api.execute_dft)(plan, array, array);
        assert_eq!(values[0], Z::new(4.0, 8.0));
        (api.destroy_plan)(plan);
    }
}

/// 80 bytes a point were asked for, and 16 are used.
#[test]
fn memory_is_rejected_only_where_the_workspace_does_not_fit() {
    let api = Api::<f64>::ours();
    // SAFETY: the call takes a number and returns one.
    let memory = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) * libc::sysconf(libc::_SC_PAGESIZE) };
    let fits = 1isize << (memory / 24).ilog2();
    let plan = |n: isize| {
        let dim = Dim64 { n, is: 1, os: 1 };
        let (none, no_loops) = (null_mut(), std::ptr::null());
        // SAFETY: plans are made without arrays, and not executed.
        unsafe { (api.plan_guru64_dft)(1, &dim, 0, no_loops, none, none, -1, ESTIMATE) }
    };
    let planned = plan(fits);
    assert!(!planned.is_null(), "{fits} points on {memory} bytes");
    // SAFETY: not used again.
    unsafe { (api.destroy_plan)(planned) };
    assert!(plan(64 * fits).is_null());
}

/// Tables of a large prime take 64 bytes a point, and 16 were asked for: the program was killed.
#[test]
fn real_to_real_of_a_large_prime_is_rejected_where_its_tables_do_not_fit() {
    let api = Api::<f64>::ours();
    // SAFETY: the call takes a number and returns one.
    let memory = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) * libc::sysconf(libc::_SC_PAGESIZE) };
    let is_prime = |n: &isize| (2..=n.isqrt()).all(|factor| n % factor != 0);
    let from = memory as isize / 60;
    let prime = (from..).find(is_prime).expect("there is always one more");
    let dim = Dim64 {
        n: prime,
        is: 1,
        os: 1,
    };
    for kind in [0, 1, 2] {
        let (none, no_loops) = (null_mut(), std::ptr::null());
        // SAFETY: no plan is made.
        let plan = unsafe { (api.plan_guru64_r2r)(1, &dim, 0, no_loops, none, none, &kind, 0) };
        assert!(plan.is_null(), "{prime} points on {memory} bytes");
    }
}

/// The plan for overlapping arrays is made at execution, and asked for wisdom there: the program ended.
#[test]
fn plans_of_wisdom_only_take_new_arrays_that_overlap() {
    let api = Api::<f64>::ours();
    let _alone = alone();
    let values = inputs::uniform_complex(65, 65);
    let mut arrays = [values.clone(), values.clone(), values];
    let (n, start) = (64, arrays[0].as_mut_ptr().cast());
    // SAFETY: 64 numbers from the first, or to the second on, of 65.
    unsafe {
        let to = reals(&mut arrays[1]);
        (api.forget_wisdom)();
        (api.destroy_plan)((api.plan_dft_1d)(n, start, to, -1, ESTIMATE));
        let plan = (api.plan_dft_1d)(n, start, to, -1, WISDOM_ONLY);
        (api.execute_dft)(plan, start, to);
        let array = reals(&mut arrays[2]);
        (api.execute_dft)(plan, array, array.add(2));
        (api.destroy_plan)(plan);
    }
    assert_eq!(arrays[2][1..], arrays[1][..64]);
}

#[test]
fn wisdom_round_trips_and_that_of_fftw_is_ignored() {
    let api = Api::<f64>::ours();
    let _alone = alone();
    let mut values = vec![Z::new(0.0, 0.0); 360];
    let array = reals(&mut values);
    // SAFETY: 360 numbers; texts end in zero.
    unsafe {
        (api.forget_wisdom)();
        let plan = |flags| (api.plan_dft_1d)(360, array, array, -1, flags);
        assert!(plan(WISDOM_ONLY).is_null());
        (api.destroy_plan)(plan(ESTIMATE));
        let known = plan(WISDOM_ONLY);
        assert!(!known.is_null());
        (api.destroy_plan)(known);
        let text = (api.export_wisdom_to_string)();
        let saved = CStr::from_ptr(text).to_owned();
        libc::free(text.cast());
        (api.forget_wisdom)();
        assert!(plan(WISDOM_ONLY).is_null());
        assert_eq!((api.import_wisdom_from_string)(saved.as_ptr()), 1);
        let recalled = plan(WISDOM_ONLY);
        assert!(!recalled.is_null());
        assert!(api.describe(recalled).contains("recalled from wisdom"));
        (api.destroy_plan)(recalled);
        let foreign = CString::new("(fftw-3.3.10 fftw_wisdom #x0 #x0 #x0 #x0\n)\n").unwrap();
        assert_eq!((api.import_wisdom_from_string)(foreign.as_ptr()), 1);
        let nonsense = CString::new("nonsense").unwrap();
        assert_eq!((api.import_wisdom_from_string)(nonsense.as_ptr()), 0);
    }
}

#[test]
fn fortran_reverses_lengths() {
    let api = Api::<f64>::ours();
    let values = inputs::uniform_complex(12, 3);
    let (mut from, mut to) = (values.clone(), values.clone());
    // SAFETY: 12 numbers; everything by address.
    unsafe {
        let mut plan = null_mut();
        (api.fortran_plan_dft_2d)(
            &mut plan,
            &3,
            &4,
            reals(&mut from),
            reals(&mut to),
            &-1,
            &64,
        );
        (api.fortran_execute_dft)(&plan, reals(&mut from), reals(&mut to));
        (api.fortran_destroy_plan)(&mut plan);
    }
    // Fortran's 3 × 4 is C's 4 × 3.
    let exact = dft_nd(&values, &[4, 3], Direction::Forward);
    assert!(compare(&to, &exact).l2 < 1e-15);
}

/// A list that is null left fewer dimensions than the rank said, and memory beyond them was read.
#[test]
fn fortran_lists_that_are_null_give_no_plan() {
    let api = Api::<f64>::ours();
    let mut array = [0.0; 64];
    let start = array.as_mut_ptr();
    let (n, none) = ([2, 3], std::ptr::null());
    for lists in [
        [none, n.as_ptr(), n.as_ptr()],
        [n.as_ptr(), none, n.as_ptr()],
        [n.as_ptr(), n.as_ptr(), none],
    ] {
        let mut plan = start.cast();
        // SAFETY: nothing is read or written where there is no plan.
        unsafe {
            (api.fortran_plan_guru_dft_r2c)(
                &mut plan, &2, lists[0], lists[1], lists[2], &0, none, none, none, start, start,
                &64,
            );
        }
        assert!(plan.is_null());
    }
}
