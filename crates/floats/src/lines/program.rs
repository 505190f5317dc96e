//! A transform as data for another machine; `steps.rs` says what a program means.

use crate::lanes::Scalar;
use crate::numbers::number::ComplexConstant;

/// What is done to all numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Small DFTs of `points` points and rotations after them, from one array to the other. For `p < groups` and `q < stride`: numbers
    /// `q + stride·(p + groups·i)` become `q + stride·(points·p + k)`. Constants: rotations of `k = 1` for all `p`, then those of `k = 2` and
    /// so on, which the group 0 has no use for; behind them what the small DFT needs: of 8 points the real part of the eighth root, of an odd
    /// number all roots.
    Butterfly {
        /// Points of a small DFT: 2, 4, 8, or an odd prime to 13.
        points: usize,
        /// Neighbours with the same rotations.
        stride: usize,
        /// Rotations.
        groups: usize,
    },
    /// The product with the whole matrix, from one array to the other. Constants: all roots.
    Product,
    /// Numbers times constants, in place.
    Multiply {
        /// How many.
        values: usize,
        /// Whether parts are exchanged before, and after.
        swap: (bool, bool),
        /// Numbers from `values` to this become zero.
        zero_to: usize,
    },
}

/// An operation and its constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramStep {
    /// What is done.
    pub operation: Operation,
    /// Where its constants begin.
    pub constants: usize,
}

/// The operations of one length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LineProgram {
    /// Numbers of an array: points of a line, or of the convolution.
    pub length: usize,
    /// In their order.
    pub steps: Vec<ProgramStep>,
    /// Complex numbers: the nearest of the mode to the real part and the nearest to what that leaves, then the same for the imaginary part.
    pub constants: Vec<[f64; 4]>,
}

impl LineProgram {
    pub(crate) fn push(&mut self, operation: Operation) {
        self.steps.push(ProgramStep {
            operation,
            constants: self.constants.len(),
        });
    }

    pub(crate) fn constant<S: Scalar>(&mut self, constant: ComplexConstant<S>) {
        let ComplexConstant { re, im } = constant;
        let all = [re.high, re.low, im.high, im.low];
        self.constants.push(all.map(S::to_f64));
    }
}
