//! Requests that make no sense: a typed error that names the value and the remedy, and nothing written.

use crate::common_arrays::{ComplexDouble, plan, planner};
use num_complex::Complex;
use ozfft::{Accuracy, Buffer, Engine, FftError, Kind, Layout, Problem};

const MARK: ComplexDouble = Complex::new(77.25, -3.5);

fn digits(shape: &[usize]) -> Problem {
    Problem::complex(shape).engine(Engine::Digits)
}

/// The error of planning, whose text must hold all of `said`.
fn rejected(problem: &Problem, said: &[&str]) -> FftError {
    let error = match planner().plan(problem) {
        Ok(_) => panic!("planned: {problem:?}"),
        Err(error) => error,
    };
    assert_eq!(
        format!("{:?}", problem.validate().unwrap_err()),
        format!("{error:?}")
    );
    let text = error.to_string();
    for part in said {
        assert!(text.contains(part), "{text:?} does not say {part:?}");
    }
    error
}

#[test]
fn shapes_axes_batches_and_threads_that_make_no_sense_are_typed_errors() {
    let is = |problem: Problem, said: &[&str], wanted: FftError| {
        assert_eq!(rejected(&problem, said), wanted);
    };
    is(
        digits(&[]).axes(&[0]),
        &["empty", "at least one"],
        FftError::EmptyShape,
    );
    for (shape, axis) in [(&[0][..], 0), (&[4, 0], 1), (&[0, 4], 0)] {
        let text = axis.to_string();
        let wanted = FftError::EmptyDimension { axis };
        is(digits(shape), &[&text, "at least one"], wanted);
    }
    let none = FftError::NoAxes { rank: 2 };
    is(digits(&[4, 4]).axes(&[]), &["2", "at least one"], none);
    let twice = FftError::DuplicateAxis { axis: 1 };
    is(digits(&[4, 4]).axes(&[1, 0, 1]), &["1", "once"], twice);
    let missing = FftError::AxisOutOfRange { axis: 2, rank: 2 };
    is(digits(&[4, 4]).axes(&[0, 2]), &["2", "from 0"], missing);
    is(
        digits(&[4]).batch(0),
        &["0", "at least one"],
        FftError::EmptyBatch,
    );
    is(
        digits(&[4]).threads(0),
        &["0", "1 or more"],
        FftError::ZeroThreads,
    );
    for (shape, batch) in [
        (vec![usize::MAX], 1),
        (vec![1 << 32, 1 << 32], 1),
        (vec![8], usize::MAX),
    ] {
        let wanted = FftError::TooLarge {
            shape: shape.clone(),
            batch,
        };
        let text = batch.to_string();
        is(digits(&shape).batch(batch), &[&text, "addressed"], wanted);
    }
}

#[test]
fn layouts_that_make_no_sense_are_typed_errors() {
    let wrong_count = Layout::strided(&[1], 16);
    for buffer in [Buffer::Input, Buffer::Output] {
        let problem = match buffer {
            Buffer::Input => digits(&[4, 4]).input_layout(wrong_count.clone()),
            _ => digits(&[4, 4]).output_layout(wrong_count.clone()),
        };
        let wanted = FftError::StrideCount {
            buffer,
            expected: 2,
            given: 1,
        };
        assert_eq!(rejected(&problem, &["1", "2", "one per"]), wanted);

        let backwards = Layout::strided(&[-3], -20).with_offset(5);
        let problem = match buffer {
            Buffer::Input => digits(&[4]).batch(2).input_layout(backwards),
            _ => digits(&[4]).batch(2).output_layout(backwards),
        };
        let wanted = FftError::NegativeIndex { buffer, before: 29 };
        assert_eq!(rejected(&problem, &["29", "offset"]), wanted);
    }
    for (strides, distance) in [([4, 0], 16), ([2, 1], 16), ([4, 1], 8), ([4, 1], 0)] {
        let problem = digits(&[4, 4])
            .batch(2)
            .output_layout(Layout::strided(&strides, distance));
        let wanted = FftError::OverlappingOutput {
            strides: strides.to_vec(),
            distance,
        };
        let text = distance.to_string();
        assert_eq!(rejected(&problem, &[&text, "spread"]), wanted);
    }
}

#[test]
fn accuracies_that_make_no_sense_are_typed_errors() {
    for accuracy in [
        Accuracy::Target(0.0),
        Accuracy::Target(-1e-3),
        Accuracy::Target(1.0),
        Accuracy::Target(f64::NAN),
        Accuracy::Target(f64::INFINITY),
        Accuracy::Bits(0),
        Accuracy::Bits(54),
        Accuracy::Bits(u32::MAX),
    ] {
        let error = rejected(&digits(&[8]).accuracy(accuracy), &["between 0 and 1"]);
        assert!(matches!(error, FftError::InvalidAccuracy { .. }));
    }
    let error = planner()
        .plan(&digits(&[8]).accuracy(Accuracy::Target(1e-30)))
        .unwrap_err();
    assert!(
        matches!(error, FftError::AccuracyUnreachable { asked, best } if asked == 1e-30 && best > asked)
    );
    assert!(error.to_string().contains("1e-30"), "{error}");
}

#[test]
fn buffers_that_are_too_short_are_named_with_both_lengths_and_nothing_is_written() {
    let layout = Layout::strided(&[2], 20).with_offset(3);
    let problem = digits(&[10]).batch(2).output_layout(layout);
    let made = plan(&problem);
    assert_eq!((problem.input_len(), problem.output_len()), (20, 42));
    let (input, mut output) = (vec![MARK; 20], vec![MARK; 42]);
    let mut workspace = vec![7; made.workspace_len()];
    let wrong = |buffer, expected, given| {
        Err(FftError::BufferLength {
            buffer,
            expected,
            given,
        })
    };
    let outcome = made.process_outofplace(&input[1..], &mut output);
    assert_eq!(outcome, wrong(Buffer::Input, 20, 19));
    let text = outcome.unwrap_err().to_string();
    assert!(text.contains("input") && text.contains("19") && text.contains("20"));
    let outcome = made.process_outofplace(&input, &mut output[..41]);
    assert_eq!(outcome, wrong(Buffer::Output, 42, 41));
    let length = workspace.len();
    assert!(length > 0);
    let outcome = made.process_outofplace_with_workspace(&input, &mut output, &mut workspace[1..]);
    assert_eq!(outcome, wrong(Buffer::Workspace, length, length - 1));
    assert!(output.iter().all(|&z| z == MARK));

    let mut short = vec![MARK; 9];
    let outcome = plan(&digits(&[10])).process(&mut short);
    assert_eq!(outcome, wrong(Buffer::Output, 10, 9));
    assert!(short.iter().all(|&z| z == MARK));
    let forward = Problem::real_to_complex(&[10]).engine(Engine::Digits);
    let outcome = plan(&forward).process_real_to_complex(&[0.0; 9], &mut output);
    assert_eq!(outcome, wrong(Buffer::Input, 10, 9));
    let outcome = plan(&forward).process_real_to_complex(&[0.0; 10], &mut output[..5]);
    assert_eq!(outcome, wrong(Buffer::Output, 6, 5));
    let back = Problem::complex_to_real(&[10]).engine(Engine::Digits);
    let mut real = [5.0; 10];
    let outcome = plan(&back).process_complex_to_real(&input[..5], &mut real);
    assert_eq!(outcome, wrong(Buffer::Input, 6, 5));
    let outcome = plan(&back).process_complex_to_real(&input[..6], &mut real[..9]);
    assert_eq!(outcome, wrong(Buffer::Output, 10, 9));
    assert_eq!(plan(&back).problem().kind(), Kind::ComplexToReal);
    assert!(real.iter().all(|&x| x == 5.0) && output.iter().all(|&z| z == MARK));
}

#[test]
fn more_threads_than_any_machine_has_are_an_error_or_work_but_never_a_panic() {
    // Workspace grows with the threads: its length must not overflow.
    for threads in [1000, usize::MAX / 4, usize::MAX] {
        let outcome = planner().plan(&digits(&[64]).threads(threads));
        if let Ok(made) = outcome {
            assert!(made.workspace_len() > 0);
        }
    }
}

#[test]
fn lengths_of_a_problem_that_makes_no_sense_do_not_panic() {
    // `validate` is what rejects; asking for a length first is allowed.
    let problem = Problem::real_to_complex(&[4]).axes(&[3]);
    assert!(std::panic::catch_unwind(|| problem.output_len()).is_ok());
}

#[test]
fn a_prime_length_near_a_thousand_million_is_rejected_and_does_not_panic() {
    // 2^29 + 11 is prime; its convolution would have more than 2^30 points.
    let n = (1 << 29) + 11;
    let Err(error) = planner().plan(&digits(&[n])) else {
        panic!("the table of this convolution is not computed");
    };
    let message = error.to_string();
    let said = [n.to_string(), "pad the line".into()];
    assert!(said.iter().all(|part| message.contains(part)), "{message}");
}

/// Tables and results were made for the shape before anybody looked at the input: a wrong shape ended the process.
#[test]
fn functions_compare_lengths_before_they_make_anything() {
    let huge = [1 << 40];
    let one = [Complex::new(1.0, 0.0)];
    let of_complex = [ozfft::fftn(&one, &huge), ozfft::ifftn(&one, &huge)];
    for found in of_complex.into_iter().chain([ozfft::rfftn(&[1.0], &huge)]) {
        let expected = FftError::BufferLength {
            buffer: Buffer::Input,
            expected: 1 << 40,
            given: 1,
        };
        assert_eq!(found, Err(expected));
    }
    for found in [ozfft::irfftn(&one, &huge), ozfft::irfft(&one, 1 << 40)] {
        assert!(matches!(found, Err(FftError::BufferLength { .. })));
    }
}
