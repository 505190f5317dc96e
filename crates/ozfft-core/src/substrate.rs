//! The arithmetic units that multiply digit matrices: of processors and of GPUs, each kind in one list.

use std::fmt;
use std::str::FromStr;

/// The 8-bit matrix units of processors, one line each, the fastest first: [`Substrate::Auto`] takes the first that the machine has.
///
/// A line is the name of the variant and of the type in `matrix_unit/`, the lines that the unit transforms side by side, its name in options and
/// reports, the condition for compiling it, and what a processor without it lacks. All that must know every unit is made from here: the public
/// [`CpuUnit`], the dispatch in `matrix_unit/`, the transforms compiled for each unit in `transform/line.rs`, the conformance suites.
macro_rules! for_each_unit {
    ($use_list:ident) => {
        $use_list! {
            /// AMX: tiles of 16 × 64 bytes, 8 lines side by side. Linux grants the tiles on request; without them `Auto` takes the next
            /// best unit.
            Amx, 8, "amx", vector_unit, "AMX with 8-bit integers";
            /// AVX-512 VNNI: dot products of four bytes, 8 lines side by side.
            Avx512Vnni, 8, "avx512-vnni", vector_unit, "AVX-512 VNNI";
            /// AVX2 (with FMA): 16-bit multiply-add, 4 lines side by side.
            Avx2, 4, "avx2", vector_unit, "AVX2 with FMA";
            /// NEON dot product of 64-bit ARM: four bytes at a time, 2 lines side by side.
            NeonDot, 2, "neon-dot", neon_unit, "NEON dot product";
            /// Portable `i8 × i8 → i32` code.
            Scalar, 1, "scalar", all(), "integers";
            /// The same integers by 128-bit multiplication, without digits: slow, and what the digits are checked against.
            WideInteger, 1, "wide-integer", all(), "integers";
        }
    };
}
pub(crate) use for_each_unit;

/// An enum of units with their names.
macro_rules! named {
    (
        $(#[$attribute:meta])* $type:ident, $what:ident;
        $($(#[doc = $doc:literal])* $name:ident, $text:literal;)*
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $type {
            $($(#[doc = $doc])* $name,)*
        }

        impl $type {
            /// All of them.
            pub const ALL: &'static [$type] = &[$($type::$name),*];

            /// Its name, as options and reports spell it.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$name => $text,)*
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl From<$type> for Substrate {
            fn from(unit: $type) -> Substrate {
                Substrate::$what(unit)
            }
        }
    };
}

macro_rules! cpu_units {
    ($($(#[doc = $doc:literal])* $name:ident, $lanes:literal, $text:literal, $compiled:meta, $needs:literal;)*) => {
        named! {
            /// A matrix unit of a processor. All give the same bits.
            CpuUnit, Cpu;
            $($(#[doc = $doc])* $name, $text;)*
            /// For `Engine::Floats`: dot products of two bf16 numbers of AVX-512.
            Avx512Bf16, "avx512-bf16";
            /// For `Engine::Floats`: AMX tiles of bf16 numbers.
            AmxBf16, "amx-bf16";
        }

        impl CpuUnit {
            /// Those that multiply 8-bit integers, the fastest first.
            pub const INTEGERS: &'static [CpuUnit] = &[$(CpuUnit::$name),*];
        }
    };
}
for_each_unit!(cpu_units);

named! {
    /// A tensor instruction of NVIDIA's GPUs. All give the same bits.
    GpuUnit, Gpu;
    /// The 8-bit integer tensor instruction that every NVIDIA GPU since compute capability 8.0 has.
    Int8MmaSync, "int8-mma-sync";
    /// The 8-bit integer tensor instruction of compute capability 9.0.
    Int8Wgmma, "int8-wgmma";
    /// The 8-bit floating-point tensor instruction of compute capability 9.0, with digits of four bits: slower than
    /// [`GpuUnit::Int8Wgmma`], never chosen by `Auto`. `Engine::Residues` has it, too.
    Fp8Wgmma, "fp8-wgmma";
    /// The 8-bit floating-point tensor instruction that programs for NVIDIA's GPUs have since compute capability 8.9, with digits of four bits:
    /// `Engine::Digits` alone, never chosen by `Auto`. Compute capability 8.9 and 12.0 have machine code for it; on 9.0, 10.0
    /// and 10.3 the compiler makes it of products in f16, and it is slow.
    Fp8MmaSync, "fp8-mma-sync";
    /// The tensor instruction on f16 with sums in f32 that every NVIDIA GPU since compute capability 8.0 has, with digits as they are:
    /// `Engine::Digits` alone, never chosen by `Auto`. For GPUs whose 8-bit integers have been cut, and which have no other instruction for
    /// short numbers that is not made of this one.
    F16MmaSync, "f16-mma-sync";
}

/// The arithmetic unit that multiplies digit matrices: a kind of number, or a unit by name. All give the same bits.
///
/// ```
/// # use ozfft_core::substrate as ozfft;
/// use ozfft::{CpuUnit, Substrate};
/// assert_eq!("avx512-vnni".parse(), Ok(Substrate::Cpu(CpuUnit::Avx512Vnni)));
/// assert_eq!(Substrate::from(CpuUnit::Scalar).to_string(), "scalar");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "String", try_from = "String")
)]
#[non_exhaustive]
pub enum Substrate {
    /// The fastest unit that the device has.
    #[default]
    Auto,
    /// The same, named after what it multiplies: 8-bit integers.
    Int8,
    /// 8-bit floating-point numbers, for `Engine::Residues` alone: on the CPU on a simulated unit, whose
    /// accumulator keeps as few bits as Hopper's, on a GPU the same as [`GpuUnit::Fp8Wgmma`].
    Fp8,
    /// A unit of the processor.
    Cpu(CpuUnit),
    /// A unit of a GPU.
    Gpu(GpuUnit),
}

impl Substrate {
    /// All of them: the kinds of numbers, the units of processors, those of GPUs.
    pub fn all() -> impl Iterator<Item = Substrate> {
        let kinds = [Substrate::Auto, Substrate::Int8, Substrate::Fp8].into_iter();
        let processors = CpuUnit::ALL.iter().map(|&unit| Substrate::Cpu(unit));
        let gpus = GpuUnit::ALL.iter().map(|&unit| Substrate::Gpu(unit));
        kinds.chain(processors).chain(gpus)
    }

    /// Its name, as options and reports spell it.
    pub fn name(self) -> &'static str {
        match self {
            Substrate::Auto => "auto",
            Substrate::Int8 => "int8",
            Substrate::Fp8 => "fp8",
            Substrate::Cpu(unit) => unit.name(),
            Substrate::Gpu(unit) => unit.name(),
        }
    }
}

impl fmt::Display for Substrate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no substrate's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is no substrate; there are {}", Substrate::all().map(Substrate::name).collect::<Vec<_>>().join(", "))]
pub struct UnknownSubstrate {
    name: String,
}

impl FromStr for Substrate {
    type Err = UnknownSubstrate;

    fn from_str(name: &str) -> Result<Substrate, UnknownSubstrate> {
        let found = Substrate::all().find(|substrate| substrate.name() == name);
        found.ok_or_else(|| UnknownSubstrate {
            name: name.to_string(),
        })
    }
}

impl From<Substrate> for String {
    fn from(substrate: Substrate) -> String {
        substrate.name().to_string()
    }
}

impl TryFrom<String> for Substrate {
    type Error = UnknownSubstrate;

    fn try_from(name: String) -> Result<Substrate, UnknownSubstrate> {
        name.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_parse_to_their_substrate() {
        let names: HashSet<_> = Substrate::all().map(Substrate::name).collect();
        assert_eq!(names.len(), Substrate::all().count());
        for substrate in Substrate::all() {
            assert_eq!(substrate.name().parse(), Ok(substrate));
        }
        let error = "vnni".parse::<Substrate>().unwrap_err().to_string();
        assert!(
            error.starts_with("vnni is no substrate; there are auto, int8, fp8, amx, avx512-vnni")
        );
    }
}
