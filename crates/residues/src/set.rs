//! The kinds of moduli.

use std::fmt;

/// The unit that the residues are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Set {
    /// Moduli of at most 256: a residue is a signed byte.
    Int8,
    /// Moduli whose residues are two digits of magnitude at most 16, which E4M3 holds exactly: squares up to 33², of whose
    /// four digit products one is a multiple of the modulus, then numbers of at most 511, for which Karatsuba's method saves one.
    Fp8,
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Set::Int8 => "int8",
            Set::Fp8 => "fp8",
        })
    }
}
