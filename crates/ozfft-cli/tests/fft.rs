//! `ozfft fft`, held against the oracle.

mod common;

use common::{directory, fail, json, number, ozfft, read, succeed, text, write};
use npyz::Order;
use num_complex::Complex;
use ozfft_testkit::oracle;
use ozfft_testkit::oracle::inputs::{uniform_complex, uniform_real};
use ozfft_testkit::oracle::{
    Direction, ExactSpectrum, Scale, compare_f32, compare_scaled, dft_axes, dft_nd, dft_real_nd,
};

type Field = Vec<Complex<f64>>;

/// Exchanges C and Fortran order of a two-dimensional array.
fn transposed<V: Copy>(values: &[V], rows: usize, columns: usize) -> Vec<V> {
    let place = |index: usize| values[index % rows * columns + index / rows];
    (0..rows * columns).map(place).collect()
}

/// The half over the last axis of a whole spectrum.
fn half(exact: &ExactSpectrum, last: usize) -> ExactSpectrum {
    let rows = exact.values.chunks(last);
    ExactSpectrum {
        values: rows.flat_map(|row| row[..last / 2 + 1].to_vec()).collect(),
        exponent: exact.exponent,
    }
}

#[test]
fn progress_is_not_shown_without_a_terminal() {
    let directory = directory("fft-silent");
    let (input, output) = (directory.join("in.npy"), directory.join("out.npy"));
    write(&input, &[64], Order::C, &uniform_complex(64, 1));
    // On a GPU where there is one; progress is for terminals.
    let options = ["--engine", "digits", "--device", "auto"];
    let run = ozfft(&[&["fft", text(&input), text(&output)][..], &options].concat());
    assert!(run.status.success() && run.stderr.is_empty(), "{run:?}");
}

#[test]
fn complex_arrays_in_both_orders() {
    let directory = directory("fft-complex");
    let (input, output) = (directory.join("in.npy"), directory.join("out.npy"));
    let values = uniform_complex(6 * 10, 1);
    let exact = dft_nd(&values, &[6, 10], Direction::Forward);
    let mut digests = Vec::new();
    for engine in ["digits", "native"] {
        for order in [Order::C, Order::Fortran] {
            let stored = match order {
                Order::C => values.clone(),
                Order::Fortran => transposed(&values, 6, 10),
            };
            write(&input, &[6, 10], order, &stored);
            let report = json(&[
                "fft",
                text(&input),
                text(&output),
                "--engine",
                engine,
                "--json",
            ]);
            assert_eq!(report.len(), 1);
            assert_eq!(report[0]["engine"], engine);
            let (shape, found_order, found): (_, _, Field) = read(&output);
            assert_eq!((shape, found_order), (vec![6, 10], order));
            let found = match order {
                Order::C => found,
                Order::Fortran => transposed(&found, 10, 6),
            };
            let error = oracle::compare(&found, &exact).l2;
            assert!(error < 1e-15, "{engine} {order:?} {error:e}");
            if engine == "digits" {
                assert!(error <= number(&report[0], "bound"));
                digests.push(report[0]["sha256"].clone());
            }
        }
    }
    assert_eq!(
        digests[0], digests[1],
        "the order does not change the values"
    );
}

#[test]
fn axes_norms_and_the_inverse() {
    let directory = directory("fft-axes");
    let (input, output) = (directory.join("in.npy"), directory.join("out.npy"));
    let back = directory.join("back.npy");
    let values = uniform_complex(4 * 5 * 6, 2);
    write(&input, &[4, 5, 6], Order::C, &values);
    let arguments = ["--engine", "digits", "--axes", "0,-1", "--norm", "ortho"];
    let forward = [&["fft", text(&input), text(&output)][..], &arguments].concat();
    let message = succeed(&forward);
    assert!(
        message.contains("digits") && message.contains("sha256"),
        "{message}"
    );
    let exact = dft_axes(&values, &[4, 5, 6], &[0, 2], Direction::Forward);
    let (_, _, found): (_, _, Field) = read(&output);
    assert!(compare_scaled(&found, &exact, Scale::OneOverSquareRoot(24)).l2 < 3e-16);
    let backward = [
        &["fft", text(&output), text(&back), "--inverse"][..],
        &arguments,
    ]
    .concat();
    succeed(&backward);
    let (_, _, returned): (_, _, Field) = read(&back);
    let exact = dft_axes(&found, &[4, 5, 6], &[0, 2], Direction::Inverse);
    assert!(compare_scaled(&returned, &exact, Scale::OneOverSquareRoot(24)).l2 < 3e-16);
    let apart = returned
        .iter()
        .zip(&values)
        .map(|(found, given)| (found - given).norm());
    assert!(apart.fold(0.0, f64::max) < 1e-14);
}

#[test]
fn real_arrays_to_half_spectra_and_back() {
    let directory = directory("fft-real");
    let (input, output) = (directory.join("in.npy"), directory.join("out.npy"));
    let back = directory.join("back.npy");
    for (last, options) in [(8, &[][..]), (7, &["--last", "7"][..])] {
        let values = uniform_real(5 * last, 3);
        write(&input, &[5, last as u64], Order::C, &values);
        succeed(&[
            "fft",
            text(&input),
            text(&output),
            "--real",
            "--engine",
            "digits",
        ]);
        let (shape, _, found): (_, _, Field) = read(&output);
        assert_eq!(shape, [5, last as u64 / 2 + 1]);
        let exact = dft_real_nd(&values, &[5, last], Direction::Forward);
        assert!(oracle::compare(&found, &half(&exact, last)).l2 < 3e-16);
        let inverse = ["fft", text(&output), text(&back), "--real", "--inverse"];
        succeed(&[&inverse[..], options].concat());
        let (shape, _, returned): (_, _, Vec<f64>) = read(&back);
        assert_eq!(shape, [5, last as u64]);
        let apart = returned
            .iter()
            .zip(&values)
            .map(|(found, given)| (found - given).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-14);
    }
    // Without --real the whole spectrum comes out.
    let values = uniform_real(12, 4);
    write(&input, &[12], Order::C, &values);
    succeed(&["fft", text(&input), text(&output)]);
    let (_, _, found): (_, _, Field) = read(&output);
    let exact = oracle::dft_real(&values, Direction::Forward);
    assert!(oracle::compare(&found, &exact).l2 < 1e-15);
}

#[test]
fn single_precision_stays_single() {
    let directory = directory("fft-single");
    let (input, output) = (directory.join("in.npy"), directory.join("out.npy"));
    let single: Vec<Complex<f32>> = uniform_complex(30, 5)
        .iter()
        .map(|value| Complex::new(value.re as f32, value.im as f32))
        .collect();
    let wide: Field = single
        .iter()
        .map(|value| Complex::new(value.re.into(), value.im.into()))
        .collect();
    write(&input, &[30], Order::C, &single);
    for engine in ["digits", "native"] {
        let report = json(&[
            "fft",
            text(&input),
            text(&output),
            "--engine",
            engine,
            "--json",
        ]);
        assert_eq!(report[0]["precision"], "single");
        let (_, _, found): (_, _, Vec<Complex<f32>>) = read(&output);
        let exact = oracle::dft(&wide, Direction::Forward);
        assert!(compare_f32(&found, &exact, Scale::One).l2 < 4e-7);
    }
}

#[test]
fn mistakes_are_named_and_write_nothing() {
    let directory = directory("fft-mistakes");
    let (input, output) = (directory.join("in.npy"), directory.join("out.npy"));
    let (from, to) = (text(&input), text(&output));
    let names = |arguments: &[&str], what: &str| {
        let message = fail(arguments);
        assert!(message.contains(what), "{arguments:?}: {message}");
        let left: Vec<_> = std::fs::read_dir(&directory)
            .expect("the directory is there")
            .map(|entry| entry.expect("an entry").file_name())
            .filter(|name| name != "in.npy")
            .collect();
        assert!(left.is_empty(), "{arguments:?} left {left:?}");
    };
    names(&["fft", from, to], "in.npy");
    std::fs::write(&input, "not an array").expect("a file");
    names(&["fft", from, to], "not an npy file");
    write(&input, &[4], Order::C, &[1i32, 2, 3, 4]);
    names(&["fft", from, to], "i4");
    write(&input, &[2, 2], Order::C, &[1.0, 2.0, 3.0, f64::NAN]);
    names(&["fft", from, to, "--axes", "0,2"], "axis 2");
    names(&["fft", from, to, "--axes", "-3"], "axis -3");
    names(&["fft", from, to, "--axes", "one"], "one");
    names(&["fft", from, to, "--accuracy", "tight"], "tight");
    names(&["fft", from, to, "--accuracy", "-1"], "-1");
    names(&["fft", from, to, "--accuracy", "bits:99"], "bits");
    names(&["fft", from, to, "--threads", "0"], "0 threads");
    names(&["fft", from, to, "--strict"], "NaN");
    names(&["fft", from, to, "--real", "--inverse"], "real");
    let nowhere = directory.join("missing").join("out.npy");
    names(&["fft", from, text(&nowhere)], "missing");
    // A file shorter than its header promises.
    write(&input, &[1000], Order::C, &[0.5; 1000]);
    let bytes = std::fs::read(&input).expect("the file");
    std::fs::write(&input, &bytes[..900]).expect("a shorter file");
    names(&["fft", from, to], "1000");
    write(&input, &[3], Order::C, &[Complex::new(1.0, 0.0); 3]);
    names(
        &["fft", from, to, "--real", "--inverse", "--last", "9"],
        "--last 4 or 5",
    );
    names(&["fft", from, to, "--real"], "leave out --real");
}

/// The remedy was one that fails with the same words.
#[test]
fn the_remedy_for_half_spectra_of_no_or_one_value_works() {
    let directory = directory("fft-short-half-spectra");
    let (input, output) = (directory.join("in.npy"), directory.join("out.npy"));
    let arguments = ["fft", text(&input), text(&output), "--real", "--inverse"];
    write(&input, &[2, 0], Order::C, &[] as &[Complex<f64>]);
    for last in [&[][..], &["--last", "1"]] {
        let message = fail(&[&arguments[..], last].concat());
        assert!(message.contains("at least 1 value"), "{message}");
    }
    write(&input, &[1], Order::C, &[Complex::new(1.0, 0.0)]);
    let message = fail(&arguments);
    assert!(message.contains("give --last 1\n"), "{message}");
    succeed(&[&arguments[..], &["--last", "1"]].concat());
}

/// Options that an engine does not have were ignored, and nobody was told.
#[test]
fn options_that_an_engine_by_name_does_not_have_are_rejected() {
    let plan = ["plan", "--shape", "16", "--engine"];
    for (engine, options, said) in [
        ("native", &["--reproducible"][..], "other bits"),
        ("bf16", &["--reproducible"], "the engine digits"),
        ("ozaki", &["--reproducible"], "ozaki"),
        ("native", &["--products", "exact"], "--products"),
        ("native", &["--substrate", "scalar"], "--substrate"),
    ] {
        let message = fail(&[&plan[..], &[engine], options].concat());
        assert!(message.contains(said), "{engine}, {options:?}: {message}");
    }
    for engine in ["digits", "ntt", "residues", "kahan", "double", "auto"] {
        succeed(&[&plan[..], &[engine, "--reproducible"]].concat());
    }
}

#[test]
fn a_half_spectrum_of_no_real_array_is_reported() {
    let directory = directory("fft-hermitian");
    let (input, output) = (directory.join("in.npy"), directory.join("out.npy"));
    write(&input, &[3], Order::C, &[Complex::new(1.0, 2.0); 3]);
    let arguments = ["fft", text(&input), text(&output), "--real", "--inverse"];
    let message = fail(&[&arguments[..], &["--strict"]].concat());
    assert!(
        message.contains("imaginary") && !output.exists(),
        "{message}"
    );
    assert!(
        message.contains("leave out --strict") && !message.contains("complete"),
        "{message}"
    );
    let run = ozfft(&arguments);
    assert!(run.status.success() && output.exists());
    assert!(String::from_utf8_lossy(&run.stderr).contains("warning"));
}

/// `ozfft plan` said it of the same problem, and `fft` did not.
#[test]
fn reports_say_what_the_bound_is_relative_to_and_how_it_was_computed() {
    let directory = directory("fft-report");
    let (input, output) = (directory.join("in.npy"), directory.join("out.npy"));
    write(&input, &[2, 3], Order::C, &[Complex::new(1.0, 0.0); 6]);
    let arguments = ["fft", text(&input), text(&output), "--real", "--inverse"];
    let said = succeed(&arguments);
    assert!(said.contains("unless no real array has"), "{said}");
    let options = ["--accuracy", "bits:40", "--threads", "2", "--norm", "ortho"];
    let report = &json(&[&arguments[..], &options, &["--json"]].concat())[0];
    let relative_to = report["bound_relative_to"].as_str();
    assert_eq!(relative_to, Some("the norm of the half-spectrum as given"));
    assert_eq!(report["axes"], serde_json::json!([0, 1]));
    assert_eq!(
        (&report["accuracy"], &report["norm"]),
        (&"bits:40".into(), &"ortho".into())
    );
    assert_eq!(
        (&report["device"], &report["threads"]),
        (&"cpu".into(), &2.into())
    );
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    // Along one axis the error is relative to the result.
    let said = succeed(&[&arguments[..], &["--axes", "1"]].concat());
    assert!(!said.contains("unless no real array has"), "{said}");
}
