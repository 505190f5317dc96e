//! Conjugate gradients with all vectors on a GPU: the processor's bits.
#![allow(unsafe_code)]

use super::kernels::{Blocks, DOT_NAME, Kernels};
use super::vectors::{Matrix, Pipeline, Vectors as DeviceVectors};
use crate::failure::Failure;
use crate::linear_algebra::problems::right_hand_side;
use crate::linear_algebra::processor::{self, MOST_ITERATIONS, TOLERANCE};
use crate::linear_algebra::{Solved, rejected};
use crate::sums::cuda::reductions::upload;
use ozaki::conjugate_gradient::{Vectors, digest, solve};
use ozaki::poisson::Poisson;
use ozaki::{PhaseB, Scheme};
use ozfft_kernels::{kulisch, ozaki as kernels};
use ozfft_measure::gpu::Memory;
use std::time::Instant;

/// The vectors in the device's memory.
struct OnDevice<'a> {
    kernels: &'a Kernels<'a>,
    pipeline: Pipeline,
    unknowns: usize,
    x: u64,
    r: u64,
    p: u64,
    q: u64,
    total: u64,
    sum: Memory,
}

impl OnDevice<'_> {
    fn dot(&self, left: u64, right: u64) -> Result<f64, Failure> {
        let task = kulisch::Reduction {
            left,
            right,
            count: self.unknowns as u64,
            result: self.sum.range(0, 8)?,
            total: self.total,
        };
        let blocks = self.unknowns.div_ceil(kulisch::BLOCK_NUMBERS) as u64;
        let blocks = Blocks::AtMost(blocks.min(u64::from(kulisch::MOST_BLOCKS)));
        // SAFETY: the vectors have so many numbers, and the memory is alive.
        unsafe { self.kernels.launch(DOT_NAME, &task, blocks) }?;
        self.kernels.wait()?;
        let mut sum = [0.0];
        self.sum.download(0, &mut sum)?;
        Ok(sum[0])
    }

    fn multiply_add(&self, factor: f64, x: u64, y: u64, to: u64) -> Result<(), Failure> {
        let task = kernels::MultiplyAddTask {
            x,
            y,
            to,
            factor,
            count: self.unknowns as u64,
        };
        let blocks = self.unknowns.div_ceil(kernels::THREADS as usize) as u64;
        let blocks = Blocks::AtMost(blocks);
        // SAFETY: as above; every number is read before it is written, by the same thread.
        unsafe {
            self.kernels
                .launch(kernels::MULTIPLY_ADD_NAME, &task, blocks)
        }
    }
}

impl Vectors for OnDevice<'_> {
    type Error = Failure;

    fn multiply(&mut self) -> Result<(), Failure> {
        // SAFETY: the matrix and the vectors are those that the pipeline was made with.
        unsafe { self.pipeline.queue(self.kernels, PhaseB::Integers as usize) }
    }

    fn curvature(&mut self) -> Result<f64, Failure> {
        self.dot(self.p, self.q)
    }

    fn square(&mut self) -> Result<f64, Failure> {
        self.dot(self.r, self.r)
    }

    fn advance(&mut self, step: f64) -> Result<(), Failure> {
        self.multiply_add(step, self.p, self.x, self.x)?;
        self.multiply_add(-step, self.q, self.r, self.r)
    }

    fn turn(&mut self, factor: f64) -> Result<(), Failure> {
        self.multiply_add(factor, self.p, self.r, self.p)
    }
}

/// Solves on the device, and on the processor a smaller problem first, whose residuals must have the same bits.
pub fn measure(
    kernels: &Kernels<'_>,
    scheme: &Scheme,
    side: usize,
    threads: usize,
) -> Result<Option<Solved>, Failure> {
    const COMPARED_SIDE: usize = 20;
    let Some((_, history)) = on_device(kernels, scheme, side.min(COMPARED_SIDE))? else {
        return Ok(None);
    };
    let (_, expected) = processor::solver(
        scheme,
        side.min(COMPARED_SIDE),
        processor::BY_RESIDUES,
        threads,
    )?;
    if digest(&history) != digest(&expected) {
        return Err(Failure::Check(format!(
            "solver, {} moduli: residuals on the GPU do not have the processor's bits",
            scheme.moduli().len()
        )));
    }
    let solved = on_device(kernels, scheme, side)?.map(|(solved, _)| Solved {
        equal_bits: Some(expected.len()),
        ..solved
    });
    Ok(solved)
}

fn on_device(
    kernels: &Kernels<'_>,
    scheme: &Scheme,
    side: usize,
) -> Result<Option<(Solved, Vec<f64>)>, Failure> {
    let poisson = Poisson::cube(side);
    let matrix = poisson.matrix().map_err(rejected)?;
    let unknowns = matrix.rows();
    let right = right_hand_side(unknowns);
    let gpu = kernels.gpu;
    let (_starts, row_starts) = upload(gpu, &poisson.row_starts)?;
    let (_columns, columns) = upload(gpu, &poisson.columns)?;
    let (_values, values) = upload(gpu, &poisson.values)?;
    let (x_memory, x) = upload(gpu, &vec![0.0f64; unknowns])?;
    let (_r, r) = upload(gpu, &right)?;
    let (_p, p) = upload(gpu, &right)?;
    let (_q, q) = upload(gpu, &vec![0.0f64; unknowns])?;
    let (_total, total) = upload(gpu, &vec![0u8; kulisch::TOTAL_BYTES])?;
    let place = Matrix {
        values,
        sparse: Some((row_starts, columns)),
        rows: unknowns,
        length: 0,
        rows_of_vector: unknowns,
        entries: poisson.values.len(),
    };
    let vector = DeviceVectors {
        values: p,
        length: unknowns,
        count: 1,
    };
    let Some((pipeline, _memory)) = Pipeline::new(kernels, scheme, &place, &vector, q)? else {
        return Ok(None);
    };
    let mut vectors = OnDevice {
        kernels,
        pipeline,
        unknowns,
        x,
        r,
        p,
        q,
        total,
        sum: Memory::new(&gpu.context, 8)?,
    };
    let begin = Instant::now();
    let course = solve(&mut vectors, TOLERANCE, MOST_ITERATIONS);
    // Whatever failed: nothing may run any more when the vectors are given back.
    let waited = kernels.wait();
    let course = course?;
    waited?;
    let seconds = begin.elapsed().as_secs_f64();
    let mut solution = vec![0.0; unknowns];
    x_memory.download(0, &mut solution)?;
    let solved = Solved {
        operation: "solver",
        data: format!("{side}³, 7 points"),
        unknowns,
        moduli: scheme.moduli().len(),
        bits: scheme.bits(),
        method: "the GPU",
        threads: None,
        tolerance: TOLERANCE,
        iterations: course.history.len(),
        converged: course.converged,
        last_residual: course.history.last().copied().unwrap_or(0.0),
        history_digest: format!("{:016x}", digest(&course.history)),
        solution_digest: format!("{:016x}", digest(&solution)),
        seconds,
        equal_bits: None,
    };
    Ok(Some((solved, course.history)))
}
