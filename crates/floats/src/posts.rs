//! What trnfft's posts print, as data.

use crate::Mode;

/// An error that the posts print. Their norm is the largest error over the largest magnitude of one line of normal real
/// numbers, by their dispatch ([`crate::Table::Posted`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Printed {
    /// The mode.
    pub mode: Mode,
    /// Points of the line.
    pub n: usize,
    /// The error.
    pub error: f64,
}

const fn printed(mode: Mode, n: usize, error: f64) -> Printed {
    Printed { mode, n, error }
}

/// All of them.
pub const PRINTED: [Printed; 17] = [
    printed(Mode::Bf16, 64, 2.2e-3),
    printed(Mode::Bf16, 128, 3e-3),
    printed(Mode::Bf16, 256, 3.9e-3),
    printed(Mode::Bf16Refined, 256, 1e-6),
    printed(Mode::Ozaki, 64, 1.6e-5),
    printed(Mode::Ozaki, 128, 2.3e-5),
    printed(Mode::Ozaki, 256, 3.2e-5),
    printed(Mode::OzakiHq, 64, 1.4e-7),
    printed(Mode::OzakiTwoLevel, 256, 2e-10),
    printed(Mode::Fast, 256, 1.41e-6),
    printed(Mode::Fast, 512, 2.15e-6),
    printed(Mode::Fast, 1024, 2.04e-6),
    printed(Mode::Fast, 4096, 3.60e-6),
    printed(Mode::Kahan, 256, 1.92e-7),
    printed(Mode::Kahan, 512, 2.69e-7),
    printed(Mode::Kahan, 1024, 3.02e-7),
    printed(Mode::Kahan, 4096, 4.55e-7),
];

impl Printed {
    /// What is printed for a mode and a length.
    pub fn find(mode: Mode, n: usize) -> Option<Printed> {
        let mut all = PRINTED.into_iter();
        all.find(|printed| printed.mode == mode && printed.n == n)
    }

    /// *agrees*, within a factor of two, or *differs because*.
    ///
    /// ```
    /// use floats::{Mode, posts::Printed};
    /// let printed = Printed::find(Mode::Bf16, 64).expect("the posts have it");
    /// assert_eq!(printed.verdict(1.8e-3), "agrees");
    /// assert!(printed.verdict(1e-5).starts_with("differs because"));
    /// ```
    pub fn verdict(&self, found: f64) -> String {
        if (0.5..=2.0).contains(&(found / self.error)) {
            "agrees".into()
        } else {
            format!("differs because {}", self.because())
        }
    }

    /// Why it is not found here. Every reason is measured by the example `ladder` (`reasons`).
    fn because(&self) -> &'static str {
        match self.mode {
            Mode::Bf16 | Mode::Ozaki => {
                "theirs has f32 angles that reach 2π·n; entries are exact here (reason 1)"
            }
            Mode::Bf16Refined => {
                "theirs is a claim; a residual of 2e-3, transformed in bf16, leaves 2e-3 of itself (reason 2)"
            }
            Mode::OzakiHq => {
                "a matrix in two parts cannot give theirs, f32 butterflies do; three parts here (reason 3)"
            }
            Mode::OzakiTwoLevel => {
                "theirs is u^4 alone; digits under one exponent add the line's crest (1 to 2 bits)"
            }
            Mode::Fast => {
                "IEEE f32 gives 2e-7 for their very butterfly; it takes products with 3 to 4 bits fewer (reason 4)"
            }
            Mode::Kahan => {
                "theirs compensates products and rounds sums; sums are compensated here as well (reason 4)"
            }
            Mode::Fp16 | Mode::Fp16Ozaki | Mode::Double => "they print none",
        }
    }
}
