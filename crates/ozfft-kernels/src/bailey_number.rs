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
    /// f32, in words of five digits (`bailey_single.cuh`).
    Single,
}

impl Number {
    /// Whether their digits are multiplied by `mma.sync` in int8: all kernels of the template have that.
    pub const fn is_usual(self) -> bool {
        matches!(self, Number::Double | Number::Single)
    }

    /// Warps that multiply together.
    pub(crate) const fn together(self) -> usize {
        match self {
            Number::DoubleWgmma => 4,
            _ => 1,
        }
    }

    /// In words.
    pub(crate) const fn description(self) -> &'static str {
        match self {
            Number::Double => "f64",
            Number::DoubleFp8 => "f64 in fp8",
            Number::DoubleF16 => "f64 in f16",
            Number::DoubleWgmma => "f64 by warpgroups",
            Number::Single => "f32",
        }
    }

    /// The type of the kernels' source.
    pub(crate) const fn type_name(self) -> &'static str {
        match self {
            Number::Double => "bailey::Double",
            Number::DoubleFp8 => "bailey::DoubleFp8",
            Number::DoubleF16 => "bailey::DoubleF16",
            Number::DoubleWgmma => "bailey::DoubleWgmma",
            Number::Single => "bailey::Single",
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
    pub(crate) const fn prefix(self) -> &'static str {
        match self {
            Number::Double => "",
            Number::DoubleFp8 => "fp8_",
            Number::DoubleF16 => "f16_",
            Number::DoubleWgmma => "wgmma_",
            Number::Single => "single_",
        }
    }

    /// The header that declares it, where that is not the shape's own.
    pub(crate) const fn header(self) -> Option<&'static str> {
        match self {
            Number::Double => None,
            Number::DoubleFp8 => Some("bailey_fp8.cuh"),
            Number::DoubleF16 => Some("bailey_f16.cuh"),
            Number::DoubleWgmma => Some("bailey_wgmma.cuh"),
            Number::Single => Some("bailey_single.cuh"),
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
