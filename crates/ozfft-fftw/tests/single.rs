//! Single precision: the functions of `fftwf_` against the oracle, within the bounds that the plans state; and against the Rust
//! library, bit by bit.

mod common;

use common::{Api, ESTIMATE, Plan, bound_of};
use num_complex::Complex;
use ozfft_testkit::oracle::{Direction, compare, dft_nd, inputs};
use std::ffi::c_int;

fn run_once(api: &Api<f32>, plan: Plan) -> f64 {
    assert!(!plan.is_null(), "no plan");
    let bound = bound_of(&api.describe(plan));
    // SAFETY: the plan's arrays are alive in the caller.
    unsafe {
        (api.execute)(plan);
        (api.destroy_plan)(plan);
    }
    bound
}

fn single(values: &[Complex<f64>]) -> Vec<Complex<f32>> {
    let narrow = |z: &Complex<f64>| Complex::new(z.re as f32, z.im as f32);
    values.iter().map(narrow).collect()
}

fn double(values: &[Complex<f32>]) -> Vec<Complex<f64>> {
    let wide = |z: &Complex<f32>| Complex::new(z.re.into(), z.im.into());
    values.iter().map(wide).collect()
}

#[test]
fn complex_transforms_keep_the_bound_of_single_precision_and_have_the_rust_library_s_bits() {
    let api = Api::<f32>::ours();
    for shape in [&[1][..], &[16], &[131], &[12, 9], &[3, 5, 7]] {
        let lengths: Vec<usize> = shape.iter().map(|&n: &c_int| n as usize).collect();
        let values = single(&inputs::uniform_complex(lengths.iter().product(), 40));
        let exact = dft_nd(&double(&values), &lengths, Direction::Inverse);
        let (mut input, mut output) = (values.clone(), values.clone());
        // SAFETY: arrays of these lengths.
        let plan = unsafe {
            (api.plan_dft)(
                shape.len() as c_int,
                shape.as_ptr(),
                input.as_mut_ptr().cast(),
                output.as_mut_ptr().cast(),
                1,
                ESTIMATE,
            )
        };
        let bound = run_once(&api, plan);
        let error = compare(&double(&output), &exact).l2;
        assert!(error <= bound, "{shape:?}: {error:e} over {bound:e}");
        if lengths != [1] {
            assert!(
                (1e-8..1e-6).contains(&bound),
                "{shape:?}: {bound:e} is no bound of single precision"
            );
            let problem = ozfft::Problem::complex(&lengths)
                .direction(ozfft::Direction::Inverse)
                .norm(ozfft::Norm::Unscaled)
                .accuracy(ozfft::Accuracy::Single)
                .engine(ozfft::Engine::Digits);
            let mut expected = values.clone();
            let plan = ozfft::Planner::<f32>::new().plan(&problem).unwrap();
            plan.process(&mut expected).unwrap();
            assert_eq!(output, expected, "{shape:?}");
        }
        assert_eq!(input, values, "the input is left as it is");
    }
}

#[test]
fn real_transforms_round_trip_in_and_out_of_place() {
    let api = Api::<f32>::ours();
    let (rows, columns, half) = (6, 15, 8);
    let values: Vec<f32> = inputs::uniform_real(rows * columns, 41)
        .iter()
        .map(|&x| x as f32)
        .collect();
    for in_place in [false, true] {
        let stride = if in_place { 2 * half } else { columns };
        let mut spectrum = vec![Complex::new(0f32, 0.0); rows * half];
        let mut array = vec![0f32; rows * columns];
        let complex: *mut f32 = spectrum.as_mut_ptr().cast();
        let real = if in_place {
            complex
        } else {
            array.as_mut_ptr()
        };
        // SAFETY: arrays of these lengths, rows `stride` apart.
        unsafe {
            let place = |i: usize| real.add(i / columns * stride + i % columns);
            let (a, b) = (rows as c_int, columns as c_int);
            let there = (api.plan_dft_r2c_2d)(a, b, real, complex, ESTIMATE);
            let back = (api.plan_dft_c2r_2d)(a, b, complex, real, ESTIMATE);
            for (i, &value) in values.iter().enumerate() {
                place(i).write(value);
            }
            let bound = run_once(&api, there) + run_once(&api, back);
            let square = |x: f64| x * x;
            let norm = values.iter().map(|&x| square(x.into())).sum::<f64>().sqrt();
            let error = values.iter().enumerate().map(|(i, &x)| {
                square(f64::from(place(i).read()) / (rows * columns) as f64 - f64::from(x))
            });
            let error = error.sum::<f64>().sqrt();
            assert!(error <= 2.0 * bound * norm, "{in_place}: {error:e}");
        }
    }
}

#[test]
fn cosine_transforms_of_ones_and_fortran_s_names() {
    let api = Api::<f32>::ours();
    let mut line = [1f32; 6];
    let start = line.as_mut_ptr();
    // SAFETY: six numbers, in place.
    let plan = unsafe { (api.plan_r2r_1d)(6, start, start, 5, ESTIMATE) };
    run_once(&api, plan);
    assert_eq!(line, [12.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let mut array: Vec<Complex<f32>> = (0..12).map(|i| Complex::new(i as f32, 0.0)).collect();
    // SAFETY: twelve numbers; everything by address.
    unsafe {
        let start: *mut f32 = array.as_mut_ptr().cast();
        let mut plan = std::ptr::null_mut();
        (api.fortran_plan_dft_2d)(&mut plan, &3, &4, start, start, &-1, &64);
        (api.fortran_execute)(&plan);
        (api.fortran_destroy_plan)(&mut plan);
    }
    // Sums of small integers are exact; Fortran's 3 × 4 is C's 4 × 3.
    assert_eq!(array[0], Complex::new(66.0, 0.0));
    assert_eq!(array[3], Complex::new(-18.0, 18.0));
}

#[test]
fn wisdom_of_one_precision_is_not_the_other_s() {
    let (single, double) = (Api::<f32>::ours(), Api::<f64>::ours());
    // SAFETY: texts end in zero and are ours to give back; the plan is not executed.
    unsafe {
        let none = std::ptr::null_mut();
        let plan = (single.plan_dft_1d)(90, none, none, -1, ESTIMATE);
        let text = (single.export_wisdom_to_string)();
        assert_eq!((single.import_wisdom_from_string)(text), 1);
        assert_eq!((double.import_wisdom_from_string)(text), 0);
        libc::free(text.cast());
        (single.destroy_plan)(plan);
    }
}
