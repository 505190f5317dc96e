//! Beside the real FFTW, where it is installed: what it plans must be planned here, with results within both bounds; and what it
//! rejects for reasons of sense must be rejected.

#[path = "../examples/fuzz/cases.rs"]
mod cases;
mod common;

use common::{Api, ESTIMATE, Plan};
use ozfft_testkit::oracle::inputs;
use ozfft_testkit::{Requirement, available};
use std::ffi::{c_int, c_uint};
use std::ptr::null_mut;

/// Both libraries, or a notice. FFTW makes plans on one thread at a time, so tests hold the lock meanwhile.
fn both() -> Option<(Api<f64>, Api<f64>, std::sync::MutexGuard<'static, ()>)> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let guard = ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let real = Api::<f64>::real();
    let real = real.ok_or("libfftw3.so.3 or libfftw3_threads.so.3 cannot be loaded");
    let real = available(Requirement::Fftw, real)?;
    Some((Api::<f64>::ours(), real, guard))
}

#[test]
fn random_guru_plans_agree_and_write_nothing_else() {
    let Some((ours, real, _alone)) = both() else {
        return;
    };
    let counts = cases::fuzz(2000, 20_261_116, &ours, &real);
    println!("agreed, only ours, not asked, FFTW contradicts itself, neither: {counts:?}");
    assert!(counts[0] > 1300, "most plans are plans of both");
}

#[test]
fn random_guru_plans_in_single_precision_agree_and_write_nothing_else() {
    let Some((_, _, _alone)) = both() else {
        return;
    };
    let real = Api::<f32>::real();
    let real = real.ok_or("libfftw3f.so.3 or libfftw3f_threads.so.3 cannot be loaded");
    let Some(real) = available(Requirement::Fftw, real) else {
        return;
    };
    let counts = cases::fuzz(2000, 20_261_117, &Api::<f32>::ours(), &real);
    println!("agreed, only ours, not asked, FFTW contradicts itself, neither: {counts:?}");
    assert!(counts[0] > 1300, "most plans are plans of both");
}

/// Plans with arrays of 64 complex numbers, makes no use of them, and says whether there is a plan.
fn planned(api: &Api<f64>, make: &dyn Fn(&Api<f64>, *mut f64, *mut f64) -> Plan) -> bool {
    let (mut a, mut b) = (vec![0.0; 128], vec![0.0; 128]);
    let plan = make(api, a.as_mut_ptr(), b.as_mut_ptr());
    // SAFETY: a plan of this library.
    unsafe { (api.destroy_plan)(plan) };
    !plan.is_null()
}

#[test]
fn odd_lengths_counts_and_ranks_are_taken_or_rejected_alike() {
    let Some((ours, real, _alone)) = both() else {
        return;
    };
    type Make<'a> = Box<dyn Fn(&Api<f64>, *mut f64, *mut f64) -> Plan + 'a>;
    let lengths: Vec<c_int> = vec![-1, 0, 1, 2, 5];
    let mut makes: Vec<(String, Make)> = Vec::new();
    for &n in &lengths {
        // SAFETY: for all of these: arrays are large enough for every length, and plans are not executed.
        makes.push((
            format!("1d {n}"),
            Box::new(move |d, a, b| unsafe { (d.plan_dft_1d)(n, a, b, -1, ESTIMATE) }),
        ));
        makes.push((
            format!("r2c {n}"),
            Box::new(move |d, a, b| unsafe { (d.plan_dft_r2c_1d)(n, a, b, ESTIMATE) }),
        ));
        makes.push((
            format!("c2r {n}"),
            Box::new(move |d, a, b| unsafe { (d.plan_dft_c2r_1d)(n, a, b, ESTIMATE) }),
        ));
        for kind in 0..11 {
            makes.push((
                format!("r2r {n} {kind}"),
                Box::new(move |d, a, b| unsafe { (d.plan_r2r_1d)(n, a, b, kind, ESTIMATE) }),
            ));
        }
        for count in [-1, 0, 1, 3] {
            makes.push((
                format!("many {n} x {count}"),
                Box::new(move |d, a, b| unsafe {
                    let none = std::ptr::null();
                    (d.plan_many_dft)(1, &n, count, a, none, 1, 5, b, none, 1, 5, 1, ESTIMATE)
                }),
            ));
            makes.push((
                format!("guru {n} x {count}"),
                Box::new(move |d, a, b| unsafe {
                    let dim = common::Dim64 {
                        n: n as isize,
                        is: 1,
                        os: 1,
                    };
                    let many = common::Dim64 {
                        n: count as isize,
                        is: 5,
                        os: 5,
                    };
                    (d.plan_guru64_dft)(1, &dim, 1, &many, a, b, 1, ESTIMATE)
                }),
            ));
        }
    }
    for rank in [-1, 0, 2] {
        makes.push((
            format!("rank {rank}"),
            Box::new(move |d, a, b| unsafe {
                (d.plan_dft)(rank, [2, 3].as_ptr(), a, b, -1, ESTIMATE)
            }),
        ));
    }
    makes.push((
        "no arrays".into(),
        Box::new(|d, _, _| unsafe { (d.plan_dft_1d)(8, null_mut(), null_mut(), -1, ESTIMATE) }),
    ));
    for (name, make) in &makes {
        assert_eq!(planned(&ours, make), planned(&real, make), "{name}");
    }
}

/// Executes the same calls on both libraries and compares all doubles of the output.
fn compare_calls(
    name: &str,
    ours: &Api<f64>,
    real: &Api<f64>,
    make: &dyn Fn(&Api<f64>, *mut f64, *mut f64) -> Plan,
) {
    let results = [ours, real].map(|api| {
        let mut input = inputs::uniform_real(400, 77);
        let mut output = vec![0.25; 400];
        let plan = make(api, input.as_mut_ptr(), output.as_mut_ptr());
        assert!(!plan.is_null(), "{name}: no plan");
        // SAFETY: the plan's arrays.
        unsafe {
            (api.execute)(plan);
            (api.destroy_plan)(plan);
        }
        output
    });
    let norm = results[1].iter().map(|x| x * x).sum::<f64>().sqrt();
    let error = results[0]
        .iter()
        .zip(&results[1])
        .map(|(a, b)| (a - b) * (a - b))
        .sum::<f64>()
        .sqrt();
    // Lengths of these calls are below 16 along an axis: bounds of both are well below 1e-14.
    assert!(error <= 2e-14 * norm, "{name}: {error:e} of {norm:e}");
}

#[test]
fn embeddings_and_fortran_mean_the_same() {
    let Some((ours, real, _alone)) = both() else {
        return;
    };
    let flags = ESTIMATE as c_int;
    // SAFETY: for all of these: at most 400 doubles are described.
    compare_calls("many, embedded", &ours, &real, &|d, a, b| unsafe {
        let (n, from, to) = ([3, 4], [5, 6], [4, 7]);
        (d.plan_many_dft)(
            2,
            n.as_ptr(),
            2,
            a,
            from.as_ptr(),
            2,
            1,
            b,
            to.as_ptr(),
            1,
            60,
            -1,
            ESTIMATE,
        )
    });
    compare_calls("many r2c, embedded", &ours, &real, &|d, a, b| unsafe {
        let (n, from, to) = ([3, 5], [4, 6], [3, 4]);
        (d.plan_many_dft_r2c)(
            2,
            n.as_ptr(),
            3,
            a,
            from.as_ptr(),
            3,
            1,
            b,
            to.as_ptr(),
            2,
            30,
            ESTIMATE,
        )
    });
    compare_calls("many r2c, not embedded", &ours, &real, &|d, a, b| unsafe {
        let (n, none) = ([3, 5], std::ptr::null());
        (d.plan_many_dft_r2c)(2, n.as_ptr(), 3, a, none, 2, 40, b, none, 1, 20, ESTIMATE)
    });
    compare_calls("many c2r, not embedded", &ours, &real, &|d, a, b| unsafe {
        let (n, none) = ([3, 6], std::ptr::null());
        (d.plan_many_dft_c2r)(2, n.as_ptr(), 2, a, none, 1, 15, b, none, 2, 50, ESTIMATE)
    });
    compare_calls("many r2r", &ours, &real, &|d, a, b| unsafe {
        let (n, kinds, none) = ([4, 5], [5, 8], std::ptr::null());
        (d.plan_many_r2r)(
            2,
            n.as_ptr(),
            3,
            a,
            none,
            1,
            20,
            b,
            none,
            3,
            1,
            kinds.as_ptr(),
            ESTIMATE,
        )
    });
    compare_calls("r2r, three dimensions", &ours, &real, &|d, a, b| unsafe {
        (d.plan_r2r_3d)(3, 4, 5, a, b, 4, 10, 2, ESTIMATE)
    });
    compare_calls("r2r, two dimensions", &ours, &real, &|d, a, b| unsafe {
        (d.plan_r2r_2d)(6, 7, a, b, 1, 3, ESTIMATE)
    });
    compare_calls("Fortran, two dimensions", &ours, &real, &|d, a, b| unsafe {
        let mut plan = null_mut();
        (d.fortran_plan_dft_2d)(&mut plan, &5, &7, a, b, &1, &flags);
        plan
    });
    compare_calls("Fortran, real", &ours, &real, &|d, a, b| unsafe {
        let mut plan = null_mut();
        (d.fortran_plan_dft_r2c)(&mut plan, &3, [3, 4, 5].as_ptr(), a, b, &flags);
        plan
    });
    compare_calls("Fortran, many", &ours, &real, &|d, a, b| unsafe {
        let (mut plan, n, from, to) = (null_mut(), [3, 4], [5, 6], [4, 7]);
        (d.fortran_plan_many_dft)(
            &mut plan,
            &2,
            n.as_ptr(),
            &2,
            a,
            from.as_ptr(),
            &2,
            &1,
            b,
            to.as_ptr(),
            &1,
            &60,
            &-1,
            &flags,
        );
        plan
    });
    compare_calls("Fortran, guru", &ours, &real, &|d, a, b| unsafe {
        let (mut plan, n, is, os) = (null_mut(), [3, 6], [6, 1], [4, 1]);
        let (m, mis, mos) = ([2], [30], [20]);
        (d.fortran_plan_guru_dft_r2c)(
            &mut plan,
            &2,
            n.as_ptr(),
            is.as_ptr(),
            os.as_ptr(),
            &1,
            m.as_ptr(),
            mis.as_ptr(),
            mos.as_ptr(),
            a,
            b,
            &flags,
        );
        plan
    });
    compare_calls("Fortran, r2r", &ours, &real, &|d, a, b| unsafe {
        let mut plan = null_mut();
        (d.fortran_plan_r2r_2d)(&mut plan, &5, &4, a, b, &5, &9, &flags);
        plan
    });
    let _: c_uint = ESTIMATE;
}

#[test]
fn half_spectra_of_no_real_array_are_transformed_alike() {
    let Some((ours, real, _alone)) = both() else {
        return;
    };
    // Random numbers in all places: the imaginary parts that a real array cannot have count for nothing in both libraries.
    // SAFETY: at most 400 doubles are described.
    for (a_length, b_length) in [(1, 8), (4, 6), (5, 7)] {
        compare_calls("c2r", &ours, &real, &|d, a, b| unsafe {
            (d.plan_dft_c2r_2d)(a_length, b_length, a, b, ESTIMATE)
        });
    }
}
