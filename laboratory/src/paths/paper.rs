//! What the paper projects for paths on a B300, 1024³ points: wall times of its Figure 1 and section 5.4, bits of its Figure 2 and appendix C.
//! Projections, to be told apart from what is measured wherever both are shown.
//!
//! "FP8 is All You Need (Part 2)", arXiv:2606.23698v2.

/// A path of the paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Projection {
    pub milliseconds: f64,
    /// Of the mantissa.
    pub bits: f64,
}

/// The machine that all are for.
pub const MACHINE: &str = "B300";
/// What its memory would take at least, in milliseconds.
pub const ROOF_MS: f64 = 12.9;
/// Bits of what the paper calls full double precision.
const FULL: f64 = 53.0;
/// Names as `variants.rs` gives them, milliseconds, bits. Ranges are given by their middle.
const PROJECTIONS: [(&str, f64, f64); 10] = [
    ("native FP64", 124.0, FULL),
    ("recursive Garner", 260.0, FULL),
    ("tc-Garner + fp64 sum", 163.0, FULL),
    ("tc-Garner + Sum2", 60.0, FULL),
    ("tc-Garner + double-fp32", 30.0, 48.0),
    ("tc-Garner + fp32 + Kahan", 14.0, 18.0),
    ("tc-Garner + Kulisch", 18.0, FULL),
    ("Kulisch, 16-bit words", 13.5, FULL),
    ("Kulisch, 8-bit words", 14.0, FULL),
    ("Bernstein, fp64", 180.0, FULL),
];

/// What the paper projects for a path of this name, if it does.
pub fn projection(name: &str) -> Option<Projection> {
    let mut named = PROJECTIONS.iter().filter(|(known, ..)| *known == name);
    named
        .next()
        .map(|&(_, milliseconds, bits)| Projection { milliseconds, bits })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::variants::VARIANTS;

    #[test]
    fn every_projection_belongs_to_a_path() {
        for (name, ..) in PROJECTIONS {
            assert!(
                VARIANTS.iter().any(|variant| variant.paper == name),
                "{name}"
            );
        }
        assert_eq!(projection(""), None);
    }
}
