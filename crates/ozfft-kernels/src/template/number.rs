//! What numbers are, and what their digits are multiplied with.

/// What numbers are, and what their digits are multiplied with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Number {
    /// f64, in words of eight digits.
    Double,
    /// The same, their digits multiplied in fp8 (`bailey_fp8.cuh`): compute capability 8.9 and later.
    DoubleFp8,
    /// The same, their digits multiplied in f16 (`bailey_f16.cuh`).
    DoubleF16,
    /// The same, their digits multiplied in int8 by four warps together (`bailey_wgmma.cuh`): compute capability 9.0.
    DoubleWgmma,
    /// f64, in words of three to seven digits (`bailey_fewer.cuh`).
    DoubleFewer {
        /// Digits of a word.
        digits: u32,
        /// Diagonals of products: as many, or one more.
        diagonals: u32,
    },
    /// f32, in words of five digits (`bailey_single.cuh`).
    Single,
}

impl Number {
    /// Whether their digits are multiplied by `mma.sync` in int8: all kernels of the template have that.
    pub const fn is_usual(self) -> bool {
        matches!(
            self,
            Number::Double | Number::DoubleFewer { .. } | Number::Single
        )
    }

    /// Whether they are f32; else f64.
    pub const fn is_single(self) -> bool {
        matches!(self, Number::Single)
    }

    /// Digits of a word.
    pub const fn digits(self) -> u32 {
        match self {
            Number::Double | Number::DoubleFp8 | Number::DoubleF16 | Number::DoubleWgmma => 8,
            Number::DoubleFewer { digits, .. } => digits,
            Number::Single => 5,
        }
    }

    /// Diagonals of products, of those in int8.
    pub const fn diagonals(self) -> u32 {
        match self {
            Number::DoubleFewer { diagonals, .. } => diagonals,
            _ => self.digits(),
        }
    }

    /// f64 in words of so many digits, with as many diagonals.
    pub const fn fewer(digits: u32) -> Self {
        Number::DoubleFewer {
            digits,
            diagonals: digits,
        }
    }

    /// Warps that multiply together.
    pub(crate) const fn together(self) -> usize {
        match self {
            Number::DoubleWgmma => 4,
            _ => 1,
        }
    }

    /// In words, as a type of the kernels' source, in names of kernels, and the header that declares it, where that is not the
    /// family's own.
    #[rustfmt::skip]
    const fn names(self) -> (&'static str, &'static str, &'static str, Option<&'static str>) {
        match self {
            Number::Double => ("f64", "Double", "", None),
            Number::DoubleFp8 => ("f64 in fp8", "DoubleFp8", "fp8", Some("block/bailey_fp8.cuh")),
            Number::DoubleF16 => ("f64 in f16", "DoubleF16", "f16", Some("block/bailey_f16.cuh")),
            Number::DoubleWgmma => ("f64 by warpgroups", "DoubleWgmma", "wgmma", Some("block/bailey_wgmma.cuh")),
            Number::DoubleFewer { .. } => ("f64", "DoubleFewer", "digits", Some("block/bailey_fewer.cuh")),
            Number::Single => ("f32", "Single", "single", Some("block/bailey_single.cuh")),
        }
    }

    /// In words.
    pub(crate) fn description(self) -> String {
        let (words, ..) = self.names();
        match self {
            Number::DoubleFewer { digits, diagonals } => {
                format!("{words} in {digits} digits, {diagonals} diagonals")
            }
            _ => words.into(),
        }
    }

    /// The type of the kernels' source.
    pub(crate) fn type_name(self) -> String {
        let (_, name, ..) = self.names();
        match self {
            Number::DoubleFewer { digits, diagonals } => {
                format!("bailey::{name}<{digits}, {diagonals}>")
            }
            _ => format!("bailey::{name}"),
        }
    }

    /// In names of kernels.
    pub(crate) fn prefix(self) -> String {
        match (self, self.names().2) {
            (Number::Double, _) => String::new(),
            (Number::DoubleFewer { digits, diagonals }, name) => {
                format!("{name}{digits}{diagonals}_")
            }
            (_, name) => format!("{name}_"),
        }
    }

    /// The header that declares it, where that is not the family's own.
    pub(crate) const fn header(self) -> Option<&'static str> {
        self.names().3
    }
}
