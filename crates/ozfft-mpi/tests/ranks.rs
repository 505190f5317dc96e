//! Distributed transforms on several ranks: the bits of one process, and errors that every rank gets.

mod support;

use mpi::collective::SystemOperation;
use mpi::topology::{Color, SimpleCommunicator};
use mpi::traits::*;
use num_complex::Complex;
use ozfft::{Accuracy, FftError, Norm, Planner, Problem};
use ozfft_measure::arrays::digest;
use ozfft_mpi::{BoxError, DistributedError, DistributedPlan, DistributedProblem, IndexBox};
use ozfft_testkit::assert_same_bits;
use ozfft_testkit::oracle::inputs::uniform_complex;
use serde_json::Value;
use std::collections::BTreeSet;
use support::{on_ranks, on_ranks_judged, program_on_ranks};

const SHAPE: [usize; 3] = [6, 10, 9];
const PROGRAM: &str = env!("CARGO_BIN_EXE_ozfft-mpi");

/// The part of a whole array that a box is, in C order.
fn part(whole: &[Complex<f64>], held: &IndexBox) -> Vec<Complex<f64>> {
    let [_, n1, n2] = SHAPE;
    let (low, high) = (held.low(), held.high());
    let mut found = Vec::new();
    for i in low[0]..high[0] {
        for j in low[1]..high[1] {
            let row = (i * n1 + j) * n2;
            found.extend_from_slice(&whole[row + low[2]..row + high[2]]);
        }
    }
    found
}

/// The input, and what one process makes of it.
fn in_one_process() -> (Vec<Complex<f64>>, Vec<Complex<f64>>) {
    let input = uniform_complex(SHAPE.iter().product(), 7);
    let mut output = input.clone();
    let plan = Planner::<f64>::new()
        .plan(&Problem::complex(&SHAPE))
        .expect("a plan");
    plan.process(&mut output).expect("a transform");
    (input, output)
}

/// A plan transforms, and has the bits of one process.
fn expect_bits(plan: &DistributedPlan<f64>) {
    let (input, expected) = in_one_process();
    let held = part(&input, plan.input_box());
    let before = plan.bytes_sent();
    let mut found = vec![Complex::default(); plan.output_len()];
    plan.process_outofplace(&held, &mut found)
        .expect("a transform");
    assert_same_bits(&part(&expected, plan.output_box()), &found, 7, plan);
    assert_eq!(plan.bytes_sent() - before, plan.bytes_per_call());
}

fn error_of<T>(result: Result<T, DistributedError>) -> DistributedError {
    match result {
        Ok(_) => panic!("no error"),
        Err(error) => error,
    }
}

#[test]
fn mismatched_problems_fail_on_every_rank() {
    on_ranks("mismatched_problems_fail_on_every_rank", 4, |world| {
        let usual = DistributedProblem::complex(&SHAPE);
        let others = [
            usual.clone().norm(Norm::Ortho),
            usual.clone().batch(2),
            usual.clone().strict(true),
            usual.clone().grid(&[4]),
            usual.clone().pieces(3),
            usual.clone().permuted_output(),
            usual.clone().input_box(IndexBox::whole(&SHAPE)),
            DistributedProblem::complex(&[6, 10]),
            DistributedProblem::real_to_complex(&SHAPE),
        ];
        for other in others {
            let problem = if world.rank() == 2 { &other } else { &usual };
            let error = error_of(DistributedPlan::<f64>::new(problem, world));
            let DistributedError::Mismatch { rank, first, other } = &error else {
                panic!("{error}");
            };
            assert_eq!(*rank, 2, "{error}");
            assert_ne!(first, other);
        }
        // Another type of numbers.
        let error = match world.rank() {
            3 => error_of(DistributedPlan::<f32>::new(&usual, world)),
            _ => error_of(DistributedPlan::<f64>::new(&usual, world)),
        };
        assert!(
            matches!(error, DistributedError::Mismatch { rank: 3, .. }),
            "{error}"
        );
        // Threads and units are each rank's own affair.
        let own = usual.threads(1 + world.rank() as usize % 2);
        expect_bits(&DistributedPlan::new(&own, world).expect("a plan"));
    });
}

#[test]
fn boxes_with_gaps_or_overlaps_fail_on_every_rank() {
    on_ranks(
        "boxes_with_gaps_or_overlaps_fail_on_every_rank",
        3,
        |world| {
            let rank = world.rank() as usize;
            let problem = DistributedProblem::complex(&SHAPE);
            let rows = |low: usize, high: usize| IndexBox::new(&[low, 0, 0], &[high, 10, 9]);
            let thirds = [rows(0, 2), rows(2, 4), rows(4, 6)];
            let plan = |input: &IndexBox, output: &IndexBox| {
                let problem = problem.clone().input_box(input.clone());
                DistributedPlan::<f64>::new(&problem.output_box(output.clone()), world)
            };
            let gap = [rows(0, 2), rows(2, 3), rows(4, 6)];
            let error = error_of(plan(&gap[rank], &thirds[rank]));
            assert!(
                matches!(
                    error,
                    DistributedError::Boxes(BoxError::Gap { missing: 90, .. })
                ),
                "{error}"
            );
            let overlap = [rows(0, 2), rows(2, 5), rows(4, 6)];
            let error = error_of(plan(&thirds[rank], &overlap[rank]));
            assert!(
                matches!(
                    error,
                    DistributedError::Boxes(BoxError::Overlap { ranks: (1, 2), .. })
                ),
                "{error}"
            );
            let outside = [rows(0, 2), rows(2, 4), rows(4, 7)];
            let error = error_of(plan(&outside[rank], &thirds[rank]));
            assert!(
                matches!(
                    error,
                    DistributedError::Boxes(BoxError::Outside { rank: 2, .. })
                ),
                "{error}"
            );
            let flat = IndexBox::new(&[0], &[6]);
            let error = error_of(plan(&flat, &thirds[rank]));
            assert!(
                matches!(error, DistributedError::Boxes(BoxError::Dimensions { .. })),
                "{error}"
            );
            expect_bits(&plan(&thirds[rank], &thirds[(rank + 1) % 3]).expect("a plan"));
        },
    );
}

#[test]
fn a_rank_that_errs_fails_all_and_nothing_is_written() {
    on_ranks(
        "a_rank_that_errs_fails_all_and_nothing_is_written",
        4,
        |world| {
            let plan = DistributedPlan::<f64>::new(
                &DistributedProblem::complex(&SHAPE).strict(true),
                world,
            )
            .expect("a plan");
            let (input, _) = in_one_process();
            let held = part(&input, plan.input_box());
            let untouched = vec![Complex::new(3.5, -1.0); plan.output_len()];
            let fail = |held: &[Complex<f64>], workspace: usize, culprit: i32| {
                let mut output = untouched.clone();
                let mut workspace = vec![0; workspace];
                let result =
                    plan.process_outofplace_with_workspace(held, &mut output, &mut workspace);
                let error = error_of(result);
                assert_eq!(output, untouched);
                match &error {
                    DistributedError::OnRank { rank, message } if world.rank() != culprit => {
                        assert_eq!(*rank, culprit as usize);
                        assert!(!message.is_empty());
                    }
                    DistributedError::Transform(_) if world.rank() == culprit => {}
                    _ => panic!("{error}"),
                }
                error
            };
            let mut bad = held.clone();
            if world.rank() == 1 {
                bad[3].im = f64::NAN;
                let error = fail(&bad, plan.workspace_len(), 1);
                assert!(
                    matches!(
                        error,
                        DistributedError::Transform(FftError::NotFinite { index: 3, .. })
                    ),
                    "{error}"
                );
            } else {
                fail(&bad, plan.workspace_len(), 1);
            }
            let short = held.len() - usize::from(world.rank() == 2);
            fail(&held[..short], plan.workspace_len(), 2);
            fail(
                &held,
                plan.workspace_len() - usize::from(world.rank() == 3),
                3,
            );
            // The wrong call, by all of them.
            let mut reals = vec![0.0; plan.output_len()];
            assert!(plan.process_complex_to_real(&held, &mut reals).is_err());
            expect_bits(&plan);
        },
    );
}

#[test]
fn problems_that_cannot_be_divided_are_rejected_with_a_remedy() {
    on_ranks(
        "problems_that_cannot_be_divided_are_rejected_with_a_remedy",
        2,
        |world| {
            let message = |problem: &DistributedProblem| {
                error_of(DistributedPlan::<f64>::new(problem, world)).to_string()
            };
            let line = DistributedProblem::complex(&[64]).memory_limit(1024);
            assert!(message(&line).contains("one rank, which holds all of it"));
            let cube = DistributedProblem::complex(&SHAPE);
            assert!(message(&cube.clone().grid(&[3])).contains("product is 2"));
            assert!(
                message(&DistributedProblem::complex(&[4, 4]).grid(&[2, 2])).contains("[2, 2]")
            );
            assert!(message(&cube.clone().engine(ozfft::Engine::Native)).contains("native"));
            assert!(message(&DistributedProblem::complex(&[4, 0])).contains("length 0"));
            assert!(message(&cube.clone().pieces(0)).contains("give 1 or more"));
            // More ranks than there are rows: some have nothing.
            let flat = DistributedProblem::complex(&[1, 5]);
            let plan = DistributedPlan::<f64>::new(&flat, world).expect("a plan");
            let mut buffer = vec![Complex::new(1.0, 0.0); plan.input_len()];
            plan.process(&mut buffer).expect("a transform");
            assert_eq!(buffer.len(), if world.rank() == 0 { 0 } else { 5 });
        },
    );
}

/// A rank's parts of all lines.
fn ranges<N: Copy>(all: &[N], n: usize, part: &IndexBox) -> Vec<N> {
    let parts = all
        .chunks(n)
        .map(|line| &line[part.low()[0]..part.high()[0]]);
    parts.collect::<Vec<_>>().concat()
}

/// A plan of lines transforms, and has the bits of one process.
fn expect_bits_of_lines(plan: &DistributedPlan<f64>, batch: usize) {
    let n = plan.whole().problem().shape()[0];
    let input = uniform_complex(n * batch, 3);
    let mut expected = input.clone();
    plan.whole().process(&mut expected).expect("a transform");
    let held = ranges(&input, n, plan.input_box());
    let mut found = vec![Complex::default(); plan.output_len()];
    plan.process_outofplace(&held, &mut found)
        .expect("a transform");
    assert_same_bits(&ranges(&expected, n, plan.output_box()), &found, 3, plan);
    assert_eq!(plan.bytes_sent(), plan.bytes_per_call());
}

#[test]
fn lines_are_dealt_out_divided_by_passes_or_gathered_within_their_memory() {
    on_ranks(
        "lines_are_dealt_out_divided_by_passes_or_gathered_within_their_memory",
        3,
        |world| {
            let (rank, ranks) = (world.rank() as usize, world.size() as usize);
            // Two passes, a batch of them, a convolution, one pass, which is gathered.
            for (n, batch, exchanges) in [(3000, 1, 4), (3000, 7, 2), (2018, 1, 6), (1000, 1, 2)] {
                let problem = DistributedProblem::complex(&[n]).batch(batch);
                let plan = DistributedPlan::<f64>::new(&problem, world).expect("a plan");
                assert_eq!(plan.input_box().low(), [n * rank / ranks]);
                assert_eq!(plan.exchanges().len(), exchanges, "{plan}");
                expect_bits_of_lines(&plan, batch);
                // A limit below what the busiest rank needs fails on all of them, and names it.
                let least = 8 * plan.workspace_len() as u64;
                let mut most = 0u64;
                world.all_reduce_into(&least, &mut most, SystemOperation::max());
                let limited = |bytes| {
                    let problem = problem.clone().memory_limit(bytes);
                    DistributedPlan::<f64>::new(&problem, world)
                };
                assert!(limited(most).is_ok());
                match error_of(limited(most - 1)) {
                    DistributedError::Memory { bytes, limit, .. } => {
                        assert_eq!((bytes, limit), (most, most - 1));
                    }
                    DistributedError::OnRank { message, .. } => {
                        assert!(message.contains(&most.to_string()), "{message}");
                    }
                    other => panic!("{other}"),
                }
            }
            // Ranges of any length, from one rank to another.
            let cuts = [0, 7, 2500, 3000];
            let range = |i: usize| IndexBox::new(&[cuts[i]], &[cuts[i + 1]]);
            let problem = DistributedProblem::complex(&[3000])
                .input_box(range(rank))
                .output_box(range((rank + 1) % 3));
            let plan = DistributedPlan::new(&problem, world).expect("a plan");
            expect_bits_of_lines(&plan, 1);
            // No rank has memory for the whole line: of two passes, and of a convolution.
            for n in [1 << 16, 65537] {
                let problem = DistributedProblem::complex(&[n]).pieces(16);
                let plan = DistributedPlan::<f64>::new(&problem, world).expect("a plan");
                let whole = plan.whole().workspace_len();
                assert!(
                    plan.workspace_len() < whole * 2 / 3,
                    "{plan}: {whole} words"
                );
                expect_bits_of_lines(&plan, 1);
            }
        },
    );
}

#[test]
fn half_spectra_of_long_lines_are_divided_to_and_from_reals() {
    on_ranks(
        "half_spectra_of_long_lines_are_divided_to_and_from_reals",
        3,
        |world| {
            let rank = world.rank() as usize;
            // Two passes of an even and an odd length, and convolutions of both.
            for n in [4096, 2187, 2018, 2099] {
                for pieces in [1, 3] {
                    // Ranges of any length, one of them of one number.
                    let cuts = [0, 1, n / 3, n / 2 + 1];
                    let own = IndexBox::new(&[cuts[rank]], &[cuts[rank + 1]]);
                    let problem = DistributedProblem::complex_to_real(&[n])
                        .input_box(own.clone())
                        .pieces(pieces);
                    let plan = DistributedPlan::<f64>::new(&problem, world).expect("a plan");
                    assert!(plan.exchanges().len() >= 4, "{plan}");
                    let mut spectrum = uniform_complex(n / 2 + 1, n as u64);
                    // Not of a real array: left out, in one process, too.
                    spectrum[0].im = if n == 2018 { 3.0 } else { 0.0 };
                    if n % 2 == 0 && n != 4096 {
                        spectrum[n / 2].im = -2.0;
                    }
                    let mut expected = vec![0.0; n];
                    let done = plan
                        .whole()
                        .process_complex_to_real(&spectrum, &mut expected);
                    assert!(
                        matches!(done, Ok(()) | Err(FftError::NotHermitian { .. })),
                        "{done:?}"
                    );
                    let held = ranges(&spectrum, n / 2 + 1, plan.input_box());
                    let mut found = vec![1.0; plan.output_len()];
                    plan.process_complex_to_real(&held, &mut found)
                        .expect("a transform");
                    assert_same_bits(&ranges(&expected, n, plan.output_box()), &found, 0, &plan);
                    assert_eq!(plan.bytes_sent(), plan.bytes_per_call());
                    // A NaN where no number is read makes all of the line NaN, as in one process.
                    let mut held = held;
                    if rank == 0 {
                        held[0].im = f64::NAN;
                    }
                    plan.process_complex_to_real(&held, &mut found)
                        .expect("a transform");
                    assert!(found.iter().all(|x| x.is_nan()));

                    let problem = DistributedProblem::real_to_complex(&[n])
                        .output_box(own)
                        .pieces(pieces);
                    let plan = DistributedPlan::<f64>::new(&problem, world).expect("a plan");
                    let mut halves = vec![Complex::default(); n / 2 + 1];
                    plan.whole()
                        .process_real_to_complex(&expected, &mut halves)
                        .expect("a transform");
                    let held = ranges(&expected, n, plan.input_box());
                    let mut found = vec![Complex::default(); plan.output_len()];
                    plan.process_real_to_complex(&held, &mut found)
                        .expect("a transform");
                    let wanted = ranges(&halves, n / 2 + 1, plan.output_box());
                    assert_same_bits(&wanted, &found, 0, &plan);
                }
            }
        },
    );
}

#[test]
fn pieces_in_shared_memory_keep_the_bits_and_plans_are_dropped_in_any_order() {
    on_ranks(
        "pieces_in_shared_memory_keep_the_bits_and_plans_are_dropped_in_any_order",
        4,
        |world| {
            let planner = Planner::<f64>::new();
            let shared = |pieces: usize, grid: &[usize]| {
                let problem = DistributedProblem::complex(&SHAPE).grid(grid);
                let problem = problem.shared_memory(true).pieces(pieces);
                let plan = DistributedPlan::with_planner(&problem, world, &planner);
                let plan = plan.expect("a plan");
                assert!(
                    plan.to_string().contains("ranks of one node share"),
                    "{plan}"
                );
                plan
            };
            // Several at a time, whose memory must not be one; larger ones after smaller ones.
            for round in 0..3 {
                let plans = [shared(5, &[4]), shared(3, &[2, 2]), shared(1 + round, &[4])];
                for _ in 0..2 {
                    plans.iter().for_each(expect_bits);
                }
                assert!(plans.iter().all(|plan| plan.shared_bytes() > 0));
                let mut plans = plans.into_iter();
                match world.rank() % 2 {
                    0 => plans.for_each(drop),
                    _ => while plans.next_back().is_some() {},
                }
            }
            // Of some of the ranks, of half of them each, while others have theirs.
            let half = world.split_by_color(Color::with_value(world.rank() / 2));
            let half = half.expect("a communicator");
            let problem = DistributedProblem::complex(&SHAPE)
                .shared_memory(true)
                .pieces(2);
            let plan = DistributedPlan::with_planner(&problem, &half, &planner).expect("a plan");
            expect_bits(&plan);
            expect_bits(&shared(2, &[4]));
            // Small arrays are sent, if nothing is said.
            let problem = DistributedProblem::complex(&SHAPE);
            let plan = DistributedPlan::with_planner(&problem, world, &planner).expect("a plan");
            assert_eq!(plan.shared_bytes(), 0);
        },
    );
}

#[test]
fn axes_that_are_not_transformed_need_no_exchange() {
    on_ranks(
        "axes_that_are_not_transformed_need_no_exchange",
        2,
        |world| {
            let problem = DistributedProblem::real_to_complex(&SHAPE).axes(&[1, 2]);
            let plan = DistributedPlan::<f64>::new(&problem, world).expect("a plan");
            assert!(plan.exchanges().is_empty(), "{plan}");
            let error = error_of(DistributedPlan::<f64>::new(
                &DistributedProblem::complex(&SHAPE).axes(&[3]),
                world,
            ));
            assert!(error.to_string().contains("axis 3"), "{error}");
        },
    );
}

#[test]
fn a_rank_that_dies_ends_all_ranks() {
    let test = "a_rank_that_dies_ends_all_ranks";
    let body = |world: &SimpleCommunicator| {
        let plan = DistributedPlan::<f64>::new(&DistributedProblem::complex(&SHAPE), world)
            .expect("a plan");
        if world.rank() == 1 {
            std::process::abort();
        }
        let mut buffer = vec![Complex::default(); plan.input_len()];
        plan.process(&mut buffer).expect("never");
    };
    on_ranks_judged(test, 3, body, |status, text| {
        assert!(!status.success(), "{text}")
    });
}

#[test]
fn sub_communicators_transform_by_themselves() {
    on_ranks("sub_communicators_transform_by_themselves", 5, |world| {
        // Two ranks and three, at the same time.
        let half = world
            .split_by_color(Color::with_value(world.rank() % 2))
            .expect("a color");
        let plan =
            DistributedPlan::new(&DistributedProblem::complex(&SHAPE), &half).expect("a plan");
        assert_eq!(plan.grid(), [half.size() as usize]);
        expect_bits(&plan);
    });
}

#[test]
fn plans_may_be_dropped_after_mpi_is_finalised() {
    let test = "plans_may_be_dropped_after_mpi_is_finalised";
    let mut kept = None;
    on_ranks(test, 2, |world| {
        let plan =
            DistributedPlan::new(&DistributedProblem::complex(&SHAPE), world).expect("a plan");
        expect_bits(&plan);
        kept = Some(plan);
    });
    drop(kept);
}

#[test]
fn exchanges_send_what_slabs_and_pencils_must() {
    on_ranks("exchanges_send_what_slabs_and_pencils_must", 4, |world| {
        let all = |problem: DistributedProblem| {
            let plan = DistributedPlan::new(&problem, world).expect("a plan");
            expect_bits(&plan);
            let bytes = plan
                .exchanges()
                .iter()
                .map(|exchange| exchange.bytes_of_all);
            bytes.collect::<Vec<_>>()
        };
        let problem = DistributedProblem::complex(&SHAPE);
        let points = SHAPE.iter().product::<usize>() as u64;
        // In groups of two about half of the array leaves its rank.
        let bytes = all(problem.clone().grid(&[2, 2]).permuted_output());
        assert_eq!(bytes.len(), 2);
        let half: u64 = 16 * (6 * 10 * 9) / 2;
        assert!(
            bytes
                .iter()
                .all(|bytes| bytes.abs_diff(half) <= 16 * 6 * 10),
            "{bytes:?}"
        );
        // Slabs: all but what stays.
        let bytes = all(problem.grid(&[4]).permuted_output());
        let rows = [1u64, 2, 1, 2];
        let columns = [2u64, 3, 2, 3];
        let stays: u64 = rows
            .iter()
            .zip(columns)
            .map(|(rows, columns)| rows * columns * 9)
            .sum();
        assert_eq!(bytes, [16 * (points - stays)]);
    });
}

#[test]
fn any_number_of_pieces_has_the_same_bits_and_bytes() {
    on_ranks(
        "any_number_of_pieces_has_the_same_bits_and_bytes",
        4,
        |world| {
            for grid in [&[4][..], &[2, 2]] {
                let mut bytes = None;
                for pieces in [1, 2, 3, 7, 100] {
                    let problem = DistributedProblem::complex(&SHAPE)
                        .grid(grid)
                        .pieces(pieces);
                    let plan = DistributedPlan::new(&problem, world).expect("a plan");
                    let made = plan.exchanges().iter().map(|exchange| exchange.pieces);
                    assert!(made.clone().all(|made| made <= pieces), "{plan}");
                    assert!(pieces == 1 || made.max() > Some(1), "{plan}");
                    expect_bits(&plan);
                    let predicted = plan.bytes_per_call();
                    assert_eq!(*bytes.get_or_insert(predicted), predicted);
                    // In place, twice: no piece of the first call is left.
                    let (input, expected) = in_one_process();
                    for _ in 0..2 {
                        let mut buffer = part(&input, plan.input_box());
                        plan.process(&mut buffer).expect("a transform");
                        assert_same_bits(&part(&expected, plan.output_box()), &buffer, 7, &plan);
                    }
                    let times = plan.times();
                    assert!(times.transforms > 0.0 && times.packing > 0.0 && times.exchange > 0.0);
                }
            }
        },
    );
}

#[test]
fn a_large_array_takes_an_array_of_workspace_and_pieces() {
    on_ranks(
        "a_large_array_takes_an_array_of_workspace_and_pieces",
        2,
        |world| {
            // 4 megabytes a rank.
            let problem = DistributedProblem::complex(&[64, 64, 128]);
            let shared = problem.clone().shared_memory(true);
            let shared = DistributedPlan::<f64>::new(&shared, world).expect("a plan");
            let plan = DistributedPlan::<f64>::new(&problem, world).expect("a plan");
            assert!(
                plan.exchanges().iter().all(|exchange| exchange.pieces == 4),
                "{plan}"
            );
            let array = 2 * plan.input_len();
            // A piece that is transformed, and two that are sent and received: half of each stays.
            let pieces = array / 4 + 4 * array / 8;
            let lines = plan.workspace_len() - array - pieces;
            assert!(lines < array / 4, "{plan}");
            // Three pieces in shared memory, and none elsewhere but one between two axes.
            assert_eq!(
                (plan.shared_bytes(), shared.shared_bytes()),
                (0, 8 * 3 * array / 4)
            );
            let lines = shared.workspace_len() - array - array / 4;
            assert!(lines < array / 4, "{shared}");
            let held = uniform_complex(plan.input_len(), 4);
            let [mut one, mut other] =
                [(); 2].map(|()| vec![Complex::default(); plan.output_len()]);
            plan.process_outofplace(&held, &mut one)
                .expect("a transform");
            shared
                .process_outofplace(&held, &mut other)
                .expect("a transform");
            assert_same_bits(&one, &other, 4, &shared);
        },
    );
}

/// Subnormal ones as well, which `powi` is not promised to reach.
fn power_of_two(exponent: i32) -> f64 {
    2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
}

#[test]
fn words_are_sent_where_they_have_few_digits_and_keep_the_bits() {
    on_ranks(
        "words_are_sent_where_they_have_few_digits_and_keep_the_bits",
        3,
        |world| {
            let planner = Planner::<f64>::new();
            let accuracies = [1e-2, 1e-4, 1e-6, 1e-9, 1e-11, 1e-13].map(Accuracy::Target);
            let mut all = BTreeSet::new();
            for accuracy in accuracies
                .into_iter()
                .chain([Accuracy::Single, Accuracy::Double])
            {
                let problem = DistributedProblem::complex(&SHAPE)
                    .accuracy(accuracy)
                    .pieces(2);
                let plan =
                    DistributedPlan::with_planner(&problem, world, &planner).expect("a plan");
                let recipe = plan.whole().recipe().expect("a recipe");
                let bytes = match recipe.digits.data {
                    2 => 3,
                    digits => digits as usize,
                };
                all.insert(bytes);
                // To the output numbers go as they are.
                let sent: Vec<usize> = plan
                    .exchanges()
                    .iter()
                    .map(|exchange| exchange.bytes_of_a_real)
                    .collect();
                assert_eq!(sent, [bytes, 8], "{plan}");
                for seed in 0..20 {
                    let mut input = uniform_complex(SHAPE.iter().product(), seed);
                    // Numbers far apart, down to subnormal ones, in lines of their own and beside others.
                    let spread = |(i, z): (usize, &mut Complex<f64>)| {
                        let power = [0, -12, -21, -22, -30, -38, -45, -1040][(i + i / 9) % 8];
                        *z *= power_of_two(power);
                    };
                    match seed % 4 {
                        0 => {}
                        1 => input.iter_mut().enumerate().for_each(spread),
                        2 => input.iter_mut().for_each(|z| *z *= power_of_two(-1050)),
                        _ => input[17].re = f64::INFINITY,
                    }
                    let mut expected = input.clone();
                    plan.whole().process(&mut expected).expect("a transform");
                    let mut found = vec![Complex::default(); plan.output_len()];
                    plan.process_outofplace(&part(&input, plan.input_box()), &mut found)
                        .expect("a transform");
                    assert_same_bits(&part(&expected, plan.output_box()), &found, seed, &plan);
                }
                assert_eq!(plan.bytes_sent(), 20 * plan.bytes_per_call());
            }
            assert!(
                all.is_superset(&BTreeSet::from([3, 4, 5, 6, 7, 8])),
                "{all:?}"
            );
        },
    );
}

#[test]
fn the_program_times_lines_packing_and_exchange_apart() {
    let arguments = [
        "bench",
        "--shape",
        "24x20x18",
        "--pieces",
        "3",
        "--one-piece",
        "--repeats",
        "2",
        "--json",
    ];
    let Some((status, text)) = program_on_ranks(2, PROGRAM, &arguments) else {
        return;
    };
    assert!(status.success(), "{text}");
    let line = text.lines().find(|line| line.starts_with('{'));
    let timed: Value = serde_json::from_str(line.expect("an object")).expect("JSON");
    assert_eq!(timed["pieces"].as_u64(), Some(3));
    let number = |key: &str| {
        timed[key]
            .as_f64()
            .unwrap_or_else(|| panic!("{key}: {timed}"))
    };
    for key in ["transform_seconds", "packing_seconds", "exchange_seconds"] {
        assert!(
            number(key) > 0.0 && number(key) <= number("shortest_seconds"),
            "{key}: {timed}"
        );
    }
    assert!(number("one_piece_seconds") >= number("shortest_one_piece_seconds"));
    assert!(number("one_piece_exchange_seconds") > 0.0);
}

#[test]
fn the_program_prints_one_digest_on_any_number_of_ranks_and_the_keys_of_one_process() {
    let shape = "12x10x9";
    for (real, arguments) in [(false, &[][..]), (true, &["--real"][..])] {
        let problem = match real {
            false => Problem::complex(&[12, 10, 9]),
            true => Problem::real_to_complex(&[12, 10, 9]),
        };
        let plan = Planner::<f64>::new().plan(&problem).expect("a plan");
        let input = uniform_complex(12 * 10 * 9, 5);
        let mut output = vec![Complex::default(); problem.output_len()];
        match real {
            false => plan
                .process_outofplace(&input, &mut output)
                .expect("a transform"),
            true => {
                let reals: Vec<f64> = input.iter().map(|value| value.re).collect();
                plan.process_real_to_complex(&reals, &mut output)
                    .expect("a transform");
            }
        }
        let expected = digest(&output);
        for (ranks, grid) in [(1, None), (2, None), (3, None), (4, Some("2x2"))] {
            let mut all = vec!["accuracy", "--shape", shape, "--seed", "5", "--json"];
            all.extend(grid.into_iter().flat_map(|grid| ["--grid", grid]));
            all.extend(arguments);
            let Some((status, text)) = program_on_ranks(ranks, PROGRAM, &all) else {
                return;
            };
            assert!(status.success(), "{text}");
            let line = text
                .lines()
                .find(|line| line.starts_with('{'))
                .expect("an object");
            let row: Value = serde_json::from_str(line).expect("JSON");
            assert_eq!(
                row["sha256"].as_str(),
                Some(expected.as_str()),
                "{ranks} ranks"
            );
            assert_eq!(row["ranks"].as_u64(), Some(ranks as u64));
            assert_eq!(row["within_bound"].as_bool(), Some(true));
            assert_eq!(row["bytes_sent"], row["bytes_predicted"]);
            assert_eq!(row["bytes_sent"].as_u64() == Some(0), ranks == 1);
            for key in [
                "l2",
                "linf",
                "bound",
                "expected",
                "native_l2",
                "floor_l2",
                "recipe_steps",
                "seconds",
            ] {
                assert!(!row[key].is_null(), "{key}");
            }
        }
    }
}

#[test]
fn the_program_tells_wrong_options_once_and_ends() {
    let cases = [
        (
            2,
            &["accuracy", "--shape", "8x8", "--grid", "3"][..],
            "product is 2",
        ),
        (
            2,
            &["accuracy", "--shape", "8x8", "--engine", "native"],
            "engine digits",
        ),
        (
            2,
            &["accuracy", "--shape", "8x8", "--sampled", "5"],
            "one process",
        ),
        (
            2,
            &["selftest", "--cases", "1", "--device", "auto", "--staged"],
            "every rank must have a GPU, or none",
        ),
        (
            2,
            &["bench", "--shape", "8x8", "--staged", "--device", "cuda:99"],
            "GPU",
        ),
    ];
    for (ranks, arguments, expected) in cases {
        let Some((status, text)) = program_on_ranks(ranks, PROGRAM, arguments) else {
            return;
        };
        assert!(!status.success(), "{text}");
        assert_eq!(text.matches(expected).count(), 1, "{text}");
    }
}

#[test]
fn random_problems_have_the_bits_of_one_process() {
    for ranks in [1, 2, 3, 4, 5] {
        let arguments = ["selftest", "--cases", "40", "--seed", "11", "--json"];
        let Some((status, text)) = program_on_ranks(ranks, PROGRAM, &arguments) else {
            return;
        };
        assert!(status.success(), "{text}");
        let line = text
            .lines()
            .find(|line| line.starts_with('{'))
            .expect("an object");
        let summary: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(summary["compared"].as_u64(), Some(80), "{text}");
        assert_eq!(summary["differing"].as_u64(), Some(0), "{text}");
        // Exchanges in several pieces, and of numbers in fewer bytes, are among them.
        let among =
            |key: &str, least| summary[key].as_u64() >= Some(if ranks > 1 { least } else { 0 });
        assert!(among("pieces", 5) && among("short", 5), "{text}");
        assert!(among("shared", 5), "{text}");
        // So are lines that are divided: of convolutions, and of half-spectra to reals.
        assert!(
            among("divided_lines", 5) && among("convolutions", 2),
            "{text}"
        );
        assert!(among("half_spectra", 2), "{text}");
    }
}
