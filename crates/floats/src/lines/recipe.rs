//! Which algorithm a line has, and its stages.

use std::fmt;

/// An algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Path {
    /// One product with the DFT matrix.
    DftGemm,
    /// Two products, with the matrices of two factors.
    Blocks,
    /// Stages of 8 points.
    Radix8,
    /// Stages of 4 points.
    Radix4,
    /// Stages of 8 and 4 points.
    Mixed,
    /// Stages of 2, 3, 5, 7, 11, 13 points among others.
    Butterfly,
    /// A convolution with a chirp.
    Bluestein,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Path::DftGemm => "DFT-GEMM",
            Path::Blocks => "DFT-GEMM in two blocks",
            Path::Radix8 => "Stockham radix 8",
            Path::Radix4 => "Stockham radix 4",
            Path::Mixed => "Stockham mixed [8^a, 4^b]",
            Path::Butterfly => "butterfly",
            Path::Bluestein => "Bluestein",
        })
    }
}

/// What a plan makes of a length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LineRecipe {
    Gemm,
    Stages(Vec<Step>),
    /// With the steps of the convolution.
    Bluestein(Vec<Step>),
}

/// How a stage computes its small DFTs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// 2, 4 or 8 points by sums and differences, odd primes to 13 by cosines and sines of pairs.
    Butterfly(usize),
    /// 8 points as a product with their matrix, as on a matrix unit.
    Matrix(usize),
}

impl Step {
    /// Points of its small DFTs.
    pub const fn points(self) -> usize {
        match self {
            Step::Butterfly(points) | Step::Matrix(points) => points,
        }
    }
}
