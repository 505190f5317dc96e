//! The kernels with products by residues under the emulator, with other numbers of lines in a block than suit, and in layouts that only
//! who asks for them meets: not a bit may differ from exact digits on the CPU.

use crate::executor::cuda::device::emulated::Emulator;
use crate::executor::cuda::device::machine::Machine;
use crate::executor::cuda::tests::{Style, numbers, same};
use crate::problem::{Engine, Problem, Products};
use crate::substrate::CpuUnit;
use crate::{FftError, Layout, Plan, Planner};
use num_complex::Complex;
use std::sync::Arc;

fn emulator() -> Arc<dyn Machine> {
    Arc::new(Emulator::with_tuned_kernels())
}

fn residues(problem: &Problem) -> Problem {
    problem
        .clone()
        .engine(Engine::Residues)
        .products(Products::Exact)
}

fn on_processor(planner: &Planner<f64>, problem: &Problem) -> Arc<Plan<f64>> {
    let digits = problem.clone().engine(Engine::Digits).threads(1);
    let digits = digits.products(Products::Exact).substrate(CpuUnit::Scalar);
    planner.plan(&digits).unwrap()
}

fn bytes(values: &[Complex<f64>]) -> &[u8] {
    bytemuck::cast_slice(values)
}

#[test]
fn any_number_of_lines_in_a_block_gives_the_same_bits() {
    let planner = Planner::<f64>::new();
    let layouts = [
        Problem::complex(&[9, 1024]).axes(&[1]),
        Problem::complex(&[1024, 9]).axes(&[0]),
    ];
    for (seed, problem) in (1..).zip(&layouts) {
        let input = numbers::<f64>(problem.input_len(), Style::Uniform, seed);
        let mut expected = input.clone();
        let plan = on_processor(&planner, problem);
        plan.process_outofplace(&input, &mut expected).unwrap();
        for (lines, threads) in [(1, 128), (2, 256), (8, 128)] {
            let plan = planner
                .plan_residue_tile_on(&residues(problem), (lines, threads), &emulator())
                .unwrap();
            let blocks: u64 = plan.device_grids().iter().map(|(_, blocks)| blocks).sum();
            assert_eq!(blocks, 9u64.div_ceil(lines), "{:?}", plan.device_grids());
            let mut got = input.clone();
            plan.process_outofplace(&input, &mut got).unwrap();
            let what = format!("{lines} lines, {threads} threads, seed {seed}: {problem:?}");
            same(bytes(&expected), bytes(&got), &what);
        }
    }
}

#[test]
fn lines_that_do_not_fit_a_block_are_refused_with_what_they_need() {
    let planner = Planner::<f64>::new();
    let problem = residues(&Problem::complex(&[64, 1024]).axes(&[1]));
    let refused = |lines, threads| match planner.plan_residue_tile_on(
        &problem,
        (lines, threads),
        &emulator(),
    ) {
        Err(FftError::Unsupported(text)) => text,
        Err(other) => panic!("{other}"),
        Ok(plan) => panic!("planned: {plan}"),
    };
    assert!(refused(64, 128).contains("bytes of shared memory"));
    assert!(refused(3, 128).contains("a power of two"));
    assert!(refused(0, 128).contains("a power of two"));
    for threads in [0, 16, 96, 512] {
        assert!(refused(2, threads).contains("from 32 to 256"));
    }
}

#[test]
fn layouts_with_gaps_offsets_and_reversed_axes_give_the_same_bits_in_place_too() {
    let planner = Planner::<f64>::new();
    // Rows of 1024 with gaps, backwards; columns between others; two arrays of a batch that interleave.
    let layouts = [
        (
            vec![3, 1024],
            vec![1],
            1,
            Layout::strided(&[1030, -1], 0).with_offset(1025),
        ),
        (
            vec![1024, 2],
            vec![0],
            1,
            Layout::strided(&[-5, 2], 0).with_offset(5 * 1023 + 1),
        ),
        (vec![1024], vec![0], 2, Layout::strided(&[2], 1)),
    ];
    for (seed, (shape, axes, batch, layout)) in (21..).zip(layouts) {
        let problem = Problem::complex(&shape).axes(&axes).batch(batch);
        let problem = problem.input_layout(layout.clone()).output_layout(layout);
        let input = numbers::<f64>(problem.input_len(), Style::Uniform, seed);
        let plan = planner.plan_on(&residues(&problem), &emulator()).unwrap();
        let digits = on_processor(&planner, &problem);
        let what = format!("seed {seed}: {problem:?}");
        let (mut expected, mut got) = (input.clone(), input.clone());
        digits.process_outofplace(&input, &mut expected).unwrap();
        plan.process_outofplace(&input, &mut got).unwrap();
        same(bytes(&expected), bytes(&got), &what);
        let mut got = input.clone();
        plan.process(&mut got).unwrap();
        same(bytes(&expected), bytes(&got), &what);
    }
}
