//! The factor that a norm has for one axis.

use crate::problem::{Direction, Norm, Problem};
use crate::roots::{Fixed, nearest_inverse_sqrt};

/// The factor that one axis contributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Scaling {
    One,
    Inverse,
    InverseRoot,
}

impl Scaling {
    pub(crate) fn of(problem: &Problem) -> Scaling {
        match (problem.norm, problem.direction) {
            (Norm::Backward, Direction::Inverse) | (Norm::Forward, Direction::Forward) => {
                Scaling::Inverse
            }
            (Norm::Ortho, _) => Scaling::InverseRoot,
            _ => Scaling::One,
        }
    }

    /// Mantissa in (1/2, 1] and exponent.
    pub(crate) fn factor(self, n: usize) -> (Fixed, i32) {
        match self {
            Scaling::One => (Fixed::one(), 0),
            Scaling::Inverse => Fixed::inverse_mantissa(n as u64),
            Scaling::InverseRoot => Fixed::inverse_sqrt_mantissa(n as u64),
        }
    }

    /// The nearest double: one rounding, which bounds count.
    pub(crate) fn value(self, n: usize) -> f64 {
        match self {
            Scaling::One => 1.0,
            Scaling::Inverse => 1.0 / n as f64,
            Scaling::InverseRoot => nearest_inverse_sqrt(n as u64),
        }
    }
}
