//! The method of conjugate gradients, whose every number is specified to the bit: products of the matrix by residues or by digits, exact dot products, and
//! one fused multiply-add for every element of a vector. So the history of residuals is the same for any number of threads, and on a GPU.

use crate::digits::{Products, multiply_sparse};
use crate::error::OzakiError;
use crate::reconstruction::PhaseB;
use crate::scheme::Scheme;
use crate::sparse::SparseMatrix;
use std::time::{Duration, Instant};

/// The vectors of a solver, wherever they are: the solution `x`, the residual `r`, the direction `p`, and `q = A·p`. In the beginning `x` is
/// zero, and `r` and `p` are the right-hand side.
pub trait Vectors {
    /// What can go wrong.
    type Error;
    /// `q = A·p`.
    fn multiply(&mut self) -> Result<(), Self::Error>;
    /// `p · q`, rounded once.
    fn curvature(&mut self) -> Result<f64, Self::Error>;
    /// `r · r`, rounded once.
    fn square(&mut self) -> Result<f64, Self::Error>;
    /// `x = fma(step, p, x)` and `r = fma(-step, q, r)`.
    fn advance(&mut self, step: f64) -> Result<(), Self::Error>;
    /// `p = fma(factor, p, r)`.
    fn turn(&mut self, factor: f64) -> Result<(), Self::Error>;
}

/// What a solver did.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    /// Norms of the residual after every iteration, relative to that of the right-hand side.
    pub history: Vec<f64>,
    /// Whether the last of them is as small as was asked for.
    pub converged: bool,
}

/// Iterates until the residual is at most `tolerance` times the right-hand side, or so many times.
pub fn solve<V: Vectors>(vectors: &mut V, tolerance: f64, most: usize) -> Result<Course, V::Error> {
    let first = vectors.square()?;
    let mut square = first;
    let mut course = Course {
        history: Vec::new(),
        converged: first == 0.0,
    };
    while !course.converged && course.history.len() < most {
        vectors.multiply()?;
        let curvature = vectors.curvature()?;
        vectors.advance(square / curvature)?;
        let next = vectors.square()?;
        let norm = (next / first).sqrt();
        course.history.push(norm);
        course.converged = norm <= tolerance;
        // A direction that breaks down is left to the caller, who sees that it has not converged.
        if norm.is_nan() {
            break;
        }
        vectors.turn(next / square)?;
        square = next;
    }
    Ok(course)
}

/// FNV-1a of the bits of numbers, the lowest byte first: equal digests, equal bits, for all that is likely.
///
/// ```
/// use ozaki::conjugate_gradient::digest;
/// assert_eq!(digest(&[]), 0xcbf2_9ce4_8422_2325);
/// assert_ne!(digest(&[0.0]), digest(&[-0.0]));
/// ```
pub fn digest(values: &[f64]) -> u64 {
    let bytes = values
        .iter()
        .flat_map(|value| value.to_bits().to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// What a matrix is multiplied by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Residues.
    Residues(PhaseB),
    /// Digits. Where all products are formed the bits are those of residues.
    Digits(Products),
}

/// The vectors in this machine's memory.
#[derive(Debug)]
pub struct OnProcessor<'a> {
    scheme: &'a Scheme,
    by: By,
    matrix: SparseMatrix<'a>,
    threads: usize,
    /// The solution so far.
    pub x: Vec<f64>,
    r: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
}

impl<'a> OnProcessor<'a> {
    /// For a square matrix and a right-hand side.
    pub fn new(
        scheme: &'a Scheme,
        by: By,
        matrix: SparseMatrix<'a>,
        right: &[f64],
        threads: usize,
    ) -> Result<OnProcessor<'a>, OzakiError> {
        OzakiError::check("the right-hand side", right.len(), Some(matrix.rows()))?;
        OzakiError::check("a row", matrix.width(), Some(matrix.rows()))?;
        scheme.demand(matrix.longest_row())?;
        Ok(OnProcessor {
            scheme,
            by,
            matrix,
            threads,
            x: vec![0.0; right.len()],
            r: right.to_vec(),
            p: right.to_vec(),
            q: vec![0.0; right.len()],
        })
    }
}

fn dot(left: &[f64], right: &[f64], threads: usize) -> Result<f64, OzakiError> {
    kulisch::parallel::dot(left, right, threads).map_err(|_| OzakiError::Length {
        what: "a vector",
        given: left.len(),
        needed: right.len(),
    })
}

impl Vectors for OnProcessor<'_> {
    type Error = OzakiError;

    fn multiply(&mut self) -> Result<(), OzakiError> {
        let (scheme, threads) = (self.scheme, self.threads);
        match self.by {
            By::Residues(phase_b) => {
                self.matrix
                    .multiply_vector(scheme, phase_b, &self.p, &mut self.q, threads)
            }
            By::Digits(products) => multiply_sparse(
                scheme,
                products,
                &self.matrix,
                &self.p,
                &mut self.q,
                threads,
            ),
        }
    }

    fn curvature(&mut self) -> Result<f64, OzakiError> {
        dot(&self.p, &self.q, self.threads)
    }

    fn square(&mut self) -> Result<f64, OzakiError> {
        dot(&self.r, &self.r, self.threads)
    }

    fn advance(&mut self, step: f64) -> Result<(), OzakiError> {
        for (x, p) in self.x.iter_mut().zip(&self.p) {
            *x = step.mul_add(*p, *x);
        }
        for (r, q) in self.r.iter_mut().zip(&self.q) {
            *r = (-step).mul_add(*q, *r);
        }
        Ok(())
    }

    fn turn(&mut self, factor: f64) -> Result<(), OzakiError> {
        for (p, r) in self.p.iter_mut().zip(&self.r) {
            *p = factor.mul_add(*p, *r);
        }
        Ok(())
    }
}

/// The vectors of a conventional solver in this machine's memory: products of the matrix in f64, and dot products in f64 or exact.
#[derive(Debug)]
pub struct InDoubles<'a> {
    matrix: SparseMatrix<'a>,
    exact_dots: bool,
    x: Vec<f64>,
    r: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
}

impl<'a> InDoubles<'a> {
    /// For a square matrix and a right-hand side.
    pub fn new(
        matrix: SparseMatrix<'a>,
        right: &[f64],
        exact_dots: bool,
    ) -> Result<InDoubles<'a>, OzakiError> {
        OzakiError::check("the right-hand side", right.len(), Some(matrix.rows()))?;
        OzakiError::check("a row", matrix.width(), Some(matrix.rows()))?;
        Ok(InDoubles {
            matrix,
            exact_dots,
            x: vec![0.0; right.len()],
            r: right.to_vec(),
            p: right.to_vec(),
            q: vec![0.0; right.len()],
        })
    }

    fn dot(&self, left: &[f64], right: &[f64]) -> Result<f64, OzakiError> {
        if self.exact_dots {
            return dot(left, right, 1);
        }
        // Sixteen sums side by side, as compilers and libraries have them.
        let mut sums = [0.0; 16];
        let (left, left_rest) = left.as_chunks::<16>();
        let (right, right_rest) = right.as_chunks::<16>();
        for (left, right) in left.iter().zip(right) {
            for (sum, (a, b)) in sums.iter_mut().zip(left.iter().zip(right)) {
                *sum += a * b;
            }
        }
        let rest = left_rest.iter().zip(right_rest).map(|(a, b)| a * b);
        Ok(sums.iter().sum::<f64>() + rest.sum::<f64>())
    }
}

impl Vectors for InDoubles<'_> {
    type Error = OzakiError;

    fn multiply(&mut self) -> Result<(), OzakiError> {
        let (starts, columns, values) = self.matrix.parts();
        for (to, ends) in self.q.iter_mut().zip(starts.windows(2)) {
            let row = ends[0] as usize..ends[1] as usize;
            let entries = columns[row.clone()].iter().zip(&values[row]);
            *to = entries
                .map(|(&column, value)| value * self.p[column as usize])
                .sum();
        }
        Ok(())
    }

    fn curvature(&mut self) -> Result<f64, OzakiError> {
        self.dot(&self.p, &self.q)
    }

    fn square(&mut self) -> Result<f64, OzakiError> {
        self.dot(&self.r, &self.r)
    }

    fn advance(&mut self, step: f64) -> Result<(), OzakiError> {
        for (x, p) in self.x.iter_mut().zip(&self.p) {
            *x += step * p;
        }
        for (r, q) in self.r.iter_mut().zip(&self.q) {
            *r -= step * q;
        }
        Ok(())
    }

    fn turn(&mut self, factor: f64) -> Result<(), OzakiError> {
        for (p, r) in self.p.iter_mut().zip(&self.r) {
            *p = factor * *p + r;
        }
        Ok(())
    }
}

/// The operations of [`Vectors`].
#[derive(Debug, Clone, Copy)]
enum Operation {
    Multiply,
    Curvature,
    Square,
    Advance,
    Turn,
}

/// Any vectors, with the shortest time that each of their operations has taken: all iterations do the same work, so what is longer was spent on something else.
#[derive(Debug)]
pub struct Timed<V> {
    vectors: V,
    shortest: [Duration; 5],
}

impl<V: Vectors> Timed<V> {
    /// Nothing has been timed so far. The vectors' operations must have ended when they return.
    pub fn new(vectors: V) -> Self {
        Timed {
            vectors,
            shortest: [Duration::MAX; 5],
        }
    }

    /// Other vectors of the same problem, to which the shortest times so far apply, too.
    pub fn again(self, vectors: V) -> Self {
        Timed { vectors, ..self }
    }

    fn seconds(&self, operations: &[Operation]) -> f64 {
        let times = operations.iter().map(|&operation| {
            let time = self.shortest[operation as usize];
            time.as_secs_f64()
        });
        times.sum()
    }

    /// Seconds of an iteration, after at least one.
    pub fn iteration(&self) -> f64 {
        let others = [Operation::Multiply, Operation::Advance, Operation::Turn];
        self.dots() + self.seconds(&others)
    }

    /// Seconds of its dot products. Over those of the iteration they are f as the paper has it.
    pub fn dots(&self) -> f64 {
        self.seconds(&[Operation::Curvature, Operation::Square])
    }

    fn timed<R>(&mut self, operation: Operation, work: impl FnOnce(&mut V) -> R) -> R {
        let begin = Instant::now();
        let result = work(&mut self.vectors);
        let shortest = &mut self.shortest[operation as usize];
        *shortest = begin.elapsed().min(*shortest);
        result
    }
}

impl<V: Vectors> Vectors for Timed<V> {
    type Error = V::Error;

    fn multiply(&mut self) -> Result<(), V::Error> {
        self.timed(Operation::Multiply, V::multiply)
    }

    fn curvature(&mut self) -> Result<f64, V::Error> {
        self.timed(Operation::Curvature, V::curvature)
    }

    fn square(&mut self) -> Result<f64, V::Error> {
        self.timed(Operation::Square, V::square)
    }

    fn advance(&mut self, step: f64) -> Result<(), V::Error> {
        self.timed(Operation::Advance, |vectors| vectors.advance(step))
    }

    fn turn(&mut self, factor: f64) -> Result<(), V::Error> {
        self.timed(Operation::Turn, |vectors| vectors.turn(factor))
    }
}
