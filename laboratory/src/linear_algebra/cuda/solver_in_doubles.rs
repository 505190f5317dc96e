//! Conjugate gradients in f64 on a GPU, the matrix multiplied by cuSPARSE: how much of an iteration its dot products take, by cuBLAS and exact ones.
#![allow(unsafe_code)]

use super::kernels::{Blocks, DOT_NAME, Kernels, Work};
use crate::failure::Failure;
use crate::linear_algebra::problems::right_hand_side;
use crate::linear_algebra::processor::TIMED_ITERATIONS;
use crate::linear_algebra::{SolvedInDoubles, SolverTimes, rejected};
use crate::sums::cuda::libraries::{CuBlas, CuSparse, SparseAddresses, SparseProduct};
use crate::sums::cuda::reductions::upload;
use ozaki::conjugate_gradient::{Vectors, solve};
use ozaki::poisson::Poisson;
use ozfft_kernels::{kulisch, ozaki as kernels};
use ozfft_measure::gpu::Memory;
use std::time::Duration;

/// The libraries that an iteration in f64 needs.
pub struct Libraries<'a> {
    pub cublas: &'a CuBlas,
    pub cusparse: &'a CuSparse,
}

/// Everything in the device's memory.
struct OnDevice<'a> {
    kernels: &'a Kernels<'a>,
    libraries: &'a Libraries<'a>,
    product: &'a SparseProduct,
    buffer: u64,
    unknowns: usize,
    exact_dots: bool,
    x: u64,
    r: u64,
    p: u64,
    q: u64,
    total: u64,
    sum: &'a Memory,
}

impl OnDevice<'_> {
    fn queue_product(&self) -> Result<(), Failure> {
        // SAFETY: the buffer has the length that was asked for, and arrays outlive the stream's work.
        unsafe { self.libraries.cusparse.multiply(self.product, self.buffer) }
    }

    fn queue_dot(&self, left: u64, right: u64) -> Result<(), Failure> {
        let result = self.sum.range(0, 8)?;
        if !self.exact_dots {
            // SAFETY: the vectors have so many numbers, and the memory is alive.
            return unsafe {
                self.libraries
                    .cublas
                    .dot([left, right], self.unknowns, result)
            };
        }
        let task = kulisch::Reduction {
            left,
            right,
            count: self.unknowns as u64,
            result,
            total: self.total,
        };
        let blocks = self.unknowns.div_ceil(kulisch::BLOCK_NUMBERS) as u64;
        let blocks = Blocks::AtMost(blocks.min(u64::from(kulisch::MOST_BLOCKS)));
        // SAFETY: as above.
        unsafe { self.kernels.launch(DOT_NAME, &task, blocks) }
    }

    fn dot(&self, left: u64, right: u64) -> Result<f64, Failure> {
        self.queue_dot(left, right)?;
        self.kernels.wait()?;
        let mut sum = [0.0];
        self.sum.download(0, &mut sum)?;
        Ok(sum[0])
    }

    fn queue_advance(&self, step: f64) -> Result<(), Failure> {
        self.queue_multiply_add(step, self.p, self.x, self.x)?;
        self.queue_multiply_add(-step, self.q, self.r, self.r)
    }

    fn queue_turn(&self, factor: f64) -> Result<(), Failure> {
        self.queue_multiply_add(factor, self.p, self.r, self.p)
    }

    fn queue_multiply_add(&self, factor: f64, x: u64, y: u64, to: u64) -> Result<(), Failure> {
        let task = kernels::MultiplyAddTask {
            x,
            y,
            to,
            factor,
            count: self.unknowns as u64,
        };
        let blocks = self.unknowns.div_ceil(kernels::THREADS as usize) as u64;
        // SAFETY: as above; every number is read before it is written, by the same thread.
        unsafe {
            self.kernels
                .launch(kernels::MULTIPLY_ADD_NAME, &task, Blocks::AtMost(blocks))
        }
    }
}

impl Vectors for OnDevice<'_> {
    type Error = Failure;

    fn multiply(&mut self) -> Result<(), Failure> {
        self.queue_product()
    }

    fn curvature(&mut self) -> Result<f64, Failure> {
        self.dot(self.p, self.q)
    }

    fn square(&mut self) -> Result<f64, Failure> {
        self.dot(self.r, self.r)
    }

    fn advance(&mut self, step: f64) -> Result<(), Failure> {
        self.queue_advance(step)
    }

    fn turn(&mut self, factor: f64) -> Result<(), Failure> {
        self.queue_turn(factor)
    }
}

/// Some iterations, for their residuals, and then every operation of one by itself, between events: the operations in a row, without the host's waiting for
/// dot products, as solvers have them that keep the step on the device.
pub fn measure(
    kernels: &Kernels<'_>,
    libraries: &Libraries<'_>,
    side: usize,
    seconds: Duration,
) -> Result<SolvedInDoubles, Failure> {
    let poisson = Poisson::cube(side);
    let unknowns = poisson.matrix().map_err(rejected)?.rows();
    let right = right_hand_side(unknowns);
    let gpu = kernels.gpu;
    let (_starts, row_starts) = upload(gpu, &poisson.row_starts)?;
    let (_columns, columns) = upload(gpu, &poisson.columns)?;
    let (_values, values) = upload(gpu, &poisson.values)?;
    let solved = |exact_dots: bool| -> Result<SolverTimes, Failure> {
        let (_x, x) = upload(gpu, &vec![0.0f64; unknowns])?;
        let (_r, r) = upload(gpu, &right)?;
        let (_p, p) = upload(gpu, &right)?;
        let (_q, q) = upload(gpu, &vec![0.0f64; unknowns])?;
        let (_total, total) = upload(gpu, &vec![0u8; kulisch::TOTAL_BYTES])?;
        let sum = Memory::new(&gpu.context, 8)?;
        let addresses = SparseAddresses {
            row_starts,
            columns,
            values,
            vector: p,
            result: q,
            rows: unknowns,
            width: unknowns,
            entries: poisson.values.len(),
        };
        // SAFETY: the arrays have just been allocated with these lengths, and live beside the product.
        let (product, bytes) = unsafe { libraries.cusparse.product(&addresses) }?;
        let buffer = Memory::new(&gpu.context, bytes.max(1))?;
        let mut vectors = OnDevice {
            kernels,
            libraries,
            product: &product,
            buffer: buffer.range(0, 0)?,
            unknowns,
            exact_dots,
            x,
            r,
            p,
            q,
            total,
            sum: &sum,
        };
        let course = solve(&mut vectors, 0.0, TIMED_ITERATIONS);
        // Whatever failed: nothing may run any more when the vectors are given back.
        let waited = kernels.wait();
        let course = course?;
        waited?;
        let vectors = &vectors;
        // Factors of zero: numbers stay what they are, however often they are added.
        let mut works: [Box<Work<'_>>; 5] = [
            Box::new(|| vectors.queue_dot(p, q)),
            Box::new(|| vectors.queue_dot(r, r)),
            Box::new(|| vectors.queue_product()),
            Box::new(|| vectors.queue_advance(0.0)),
            Box::new(|| vectors.queue_turn(0.0)),
        ];
        let times = kernels.times(&mut works, seconds)?;
        let shortest: Vec<f64> = times.iter().map(|time| time.shortest).collect();
        let (dots, all) = (
            shortest[..2].iter().sum::<f64>(),
            shortest.iter().sum::<f64>(),
        );
        Ok(SolverTimes {
            iteration_seconds: all,
            share_of_dots: dots / all,
            last_residual: course.history.last().copied().unwrap_or(0.0),
        })
    };
    Ok(SolvedInDoubles {
        operation: "solver-in-doubles",
        data: format!("{side}³, 7 points"),
        unknowns,
        iterations: TIMED_ITERATIONS,
        plain: solved(false)?,
        exact: solved(true)?,
    })
}
