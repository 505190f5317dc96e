//! What numbers are to the kernel template, and what their digits are multiplied with.

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

    /// In words.
    pub(crate) fn description(self) -> String {
        match self {
            Number::Double => "f64".into(),
            Number::DoubleFp8 => "f64 in fp8".into(),
            Number::DoubleF16 => "f64 in f16".into(),
            Number::DoubleWgmma => "f64 by warpgroups".into(),
            Number::DoubleFewer { digits, diagonals } => {
                format!("f64 in {digits} digits, {diagonals} diagonals")
            }
            Number::Single => "f32".into(),
        }
    }

    /// The type of the kernels' source.
    pub(crate) fn type_name(self) -> String {
        match self {
            Number::Double => "bailey::Double".into(),
            Number::DoubleFp8 => "bailey::DoubleFp8".into(),
            Number::DoubleF16 => "bailey::DoubleF16".into(),
            Number::DoubleWgmma => "bailey::DoubleWgmma".into(),
            Number::DoubleFewer { digits, diagonals } => {
                format!("bailey::DoubleFewer<{digits}, {diagonals}>")
            }
            Number::Single => "bailey::Single".into(),
        }
    }

    /// As a last parameter of a shape, which is `Double` where there is none.
    pub(crate) fn last_parameter(self) -> String {
        match self {
            Number::Double => String::new(),
            _ => format!(", {}", self.type_name()),
        }
    }

    /// In names of kernels.
    pub(crate) fn prefix(self) -> String {
        match self {
            Number::Double => String::new(),
            Number::DoubleFp8 => "fp8_".into(),
            Number::DoubleF16 => "f16_".into(),
            Number::DoubleWgmma => "wgmma_".into(),
            Number::DoubleFewer { digits, diagonals } => format!("digits{digits}{diagonals}_"),
            Number::Single => "single_".into(),
        }
    }

    /// The header that declares it, where that is not the shape's own.
    pub(crate) const fn header(self) -> Option<&'static str> {
        match self {
            Number::Double => None,
            Number::DoubleFp8 => Some("block/bailey_fp8.cuh"),
            Number::DoubleF16 => Some("block/bailey_f16.cuh"),
            Number::DoubleWgmma => Some("block/bailey_wgmma.cuh"),
            Number::DoubleFewer { .. } => Some("block/bailey_fewer.cuh"),
            Number::Single => Some("block/bailey_single.cuh"),
        }
    }

    /// A source that needs that header.
    pub(crate) fn with_header(self, source: String) -> String {
        match self.header() {
            Some(header) => format!("#include \"{header}\"\n{source}"),
            None => source,
        }
    }
}
