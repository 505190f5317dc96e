//! Input and output kinds of a transform.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// Which numbers go in and come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Kind {
    /// Complex in, complex out.
    ComplexToComplex,
    /// Real in, the non-redundant half `0..=n/2` of the last selected axis out.
    RealToComplex,
    /// The non-redundant half in, real out.
    ComplexToReal,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::ComplexToComplex => "complex-to-complex",
            Kind::RealToComplex => "real-to-complex",
            Kind::ComplexToReal => "complex-to-real",
        })
    }
}
