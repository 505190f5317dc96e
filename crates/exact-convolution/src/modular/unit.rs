//! Which instructions compute. Results are exact, so they do not depend on it.

use crate::modular::kernels::{self, GaussianLimbs};
use crate::modular::lanes::Lanes;
use crate::modular::lanes::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::modular::lanes::{avx2::Avx2, avx512::Avx512};
use crate::modular::prime::{Factor, Prime};
use std::fmt;

/// An instruction set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// Plain arithmetic, of which the compiler makes what vectors the target has.
    Portable,
    /// Vectors of eight 32-bit numbers.
    Avx2,
    /// Vectors of sixteen 32-bit numbers.
    Avx512,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Unit {
    /// Its name in plans and reports.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Portable => "portable",
            Unit::Avx2 => "avx2",
            Unit::Avx512 => "avx512",
        }
    }

    /// Those of this machine, the fastest last.
    ///
    /// ```
    /// assert!(exact_convolution::Unit::available().contains(&exact_convolution::Unit::Portable));
    /// ```
    pub fn available() -> Vec<Unit> {
        let all = [Unit::Portable, Unit::Avx2, Unit::Avx512];
        all.into_iter().filter(|unit| unit.is_available()).collect()
    }

    /// The fastest one of this machine.
    pub fn best() -> Unit {
        let all = [Unit::Avx512, Unit::Avx2];
        let found = all.into_iter().find(|unit| unit.is_available());
        found.unwrap_or(Unit::Portable)
    }

    /// Whether this machine has it.
    pub fn is_available(self) -> bool {
        match self {
            Unit::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Unit::Avx2 => std::arch::is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Unit::Avx512 => std::arch::is_x86_feature_detected!("avx512f"),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// Numbers in a row.
    pub(crate) fn lanes(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Unit::Avx512 => Avx512::COUNT,
            _ => Portable::COUNT,
        }
    }
}

/// Makes a method of every kernel that runs it with the instructions of the unit.
macro_rules! kernels {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        impl Unit {$(
            pub(crate) fn $name(self, $($argument: $type),*) {
                #[cfg(target_arch = "x86_64")]
                {
                    #[target_feature(enable = "avx2")]
                    fn with_avx2(lanes: Avx2, $($argument: $type),*) {
                        kernels::$name(lanes, $($argument),*)
                    }
                    #[target_feature(enable = "avx512f")]
                    fn with_avx512(lanes: Avx512, $($argument: $type),*) {
                        kernels::$name(lanes, $($argument),*)
                    }
                    // SAFETY: the branch is taken only where the processor has the instructions; the answer is kept by the standard library.
                    match self {
                        Unit::Avx512 if self.is_available() => {
                            return unsafe { with_avx512(Avx512::new(), $($argument),*) };
                        }
                        Unit::Avx2 if self.is_available() => {
                            return unsafe { with_avx2(Avx2::new(), $($argument),*) };
                        }
                        _ => {}
                    }
                }
                assert_eq!(self, Unit::Portable, "{self} is not available here");
                kernels::$name(Portable, $($argument),*)
            }
        )*}
    };
}

kernels! {
    forward_node(prime: &Prime, roots: &[Factor], node: usize, data: &mut [u32]);
    inverse_node(prime: &Prime, roots: &[Factor], node: usize, data: &mut [u32]);
    forward_block(prime: &Prime, roots: &[Factor], node: usize, data: &mut [u32]);
    inverse_block(prime: &Prime, roots: &[Factor], node: usize, data: &mut [u32]);
    row_products(prime: &Prime, roots: &[Factor], first: usize, a: &mut [u32], b: Option<&[u32]>);
    add_multiple(prime: &Prime, factor: Factor, target: &mut [u32], source: &[u32]);
    scale(prime: &Prime, factor: Factor, data: &mut [u32]);
    garner_step(prime: &Prime, factor: Factor, target: &mut [u32], digits: &[u32]);
    reduce(prime: &Prime, numbers: &[u32], residues: &mut [u32]);
    reduce_wide(prime: &Prime, fold: Factor, bias: u32, numbers: &[u64], residues: &mut [u32]);
    gaussian_images(prime: &Prime, limbs: &GaussianLimbs, numbers: [&[u32]; 6], plus: &mut [u32], minus: &mut [u32]);
    gaussian_parts(prime: &Prime, turned: Factor, plus: &mut [u32], minus: &mut [u32]);
}
