//! The paths, in the order of the table. To add one is a line here, or among the product's [`RESIDUE_PATHS`].

use ozfft::{Engine, GpuUnit, Problem, Products};
use ozfft_measure::gpu::{RESIDUE_PATHS, ResiduePath, Run};
use std::sync::LazyLock;

/// One path.
#[derive(Debug)]
pub struct Variant {
    pub name: &'static str,
    /// What the paper calls it, where it has a name for it.
    pub paper: &'static str,
    pub how: How,
}

/// What runs.
#[derive(Debug, Clone, Copy)]
pub enum How {
    CuFft,
    /// A problem of the library; `exact`: its bits must be those of the same problem on the CPU.
    Engine {
        apply: fn(Problem) -> Problem,
        exact: bool,
    },
    /// Something to be measured in the place of `kulisch32`; results of those that are not exact are void.
    Variant {
        run: Run,
        exact: bool,
    },
}

/// What the paper calls the product's paths by residues.
const PAPER: [(&str, &str); 11] = [
    ("residues-garner-one-by-one", "recursive Garner"),
    ("residues-double", "tc-Garner + fp64 sum"),
    ("residues-sum2", "tc-Garner + Sum2"),
    ("residues-double-single", "tc-Garner + double-fp32"),
    ("residues-single-kahan", "tc-Garner + fp32 + Kahan"),
    ("residues-kulisch32", "tc-Garner + Kulisch"),
    ("residues-kulisch16", "Kulisch, 16-bit words"),
    ("residues-kulisch8", "Kulisch, 8-bit words"),
    ("residues-bernstein-double", "Bernstein, fp64"),
    ("residues-fp8-bands", "fp8 only"),
    ("residues-fp8-karatsuba", "fp8, 3r + 1 products"),
];

impl From<&ResiduePath> for Variant {
    fn from(path: &ResiduePath) -> Variant {
        let paper = PAPER.iter().find(|(name, _)| *name == path.name);
        let exact = path.exact;
        Variant {
            name: path.name,
            paper: paper.map_or("", |(_, paper)| paper),
            how: match path.run {
                Run::Engine(apply) => How::Engine { apply, exact },
                run => How::Variant { run, exact },
            },
        }
    }
}

/// A path by residues, in integers or in fp8, with a stage left out.
fn without_stage(name: &'static str, kernel: &'static str) -> Variant {
    Variant {
        name,
        paper: "",
        how: How::Variant {
            run: Run::Kernel(kernel),
            exact: false,
        },
    }
}

fn digits(name: &'static str, apply: fn(Problem) -> Problem) -> Variant {
    Variant {
        name,
        paper: "",
        how: How::Engine { apply, exact: true },
    }
}

/// What stays when a stage of the path `residues-kulisch32` is left out: which, and what is left out.
pub const STAGES: [(&str, &str); 3] = [
    ("without-decomposition", "decomposition"),
    ("without-products", "products"),
    ("without-reconstruction", "reconstruction"),
];

pub static VARIANTS: LazyLock<Vec<Variant>> = LazyLock::new(|| {
    let mut variants = vec![Variant {
        name: "cufft",
        paper: "native FP64",
        how: How::CuFft,
    }];
    variants.extend(RESIDUE_PATHS.iter().map(Variant::from));
    variants.extend([
        without_stage(
            "fp8-without-decomposition",
            "residues_fp8_without_decomposition",
        ),
        without_stage("fp8-without-products", "residues_fp8_without_products"),
        without_stage(
            "fp8-without-reconstruction",
            "residues_fp8_without_reconstruction",
        ),
        without_stage(
            "karatsuba-without-decomposition",
            "residues_karatsuba_without_decomposition",
        ),
        without_stage(
            "karatsuba-without-products",
            "residues_karatsuba_without_products",
        ),
        without_stage(
            "karatsuba-without-reconstruction",
            "residues_karatsuba_without_reconstruction",
        ),
        without_stage("without-decomposition", "residues_without_decomposition"),
        without_stage("without-products", "residues_without_products"),
        without_stage("without-reconstruction", "residues_without_reconstruction"),
        digits("digits-exact", |problem| {
            problem.engine(Engine::Digits).products(Products::Exact)
        }),
        digits("digits-int8", |problem| problem.engine(Engine::Digits)),
        digits("digits-int8-integers-only", |problem| {
            problem.engine(Engine::Digits).integers_only(true)
        }),
        digits("digits-fp8", |problem| {
            problem.engine(Engine::Digits).substrate(GpuUnit::Fp8Wgmma)
        }),
    ]);
    variants
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_the_paper_is_of_a_path() {
        for (name, paper) in PAPER {
            assert!(
                VARIANTS
                    .iter()
                    .any(|variant| variant.name == name && variant.paper == paper),
                "{name}"
            );
        }
    }
}
