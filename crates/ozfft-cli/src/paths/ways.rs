//! The paths, in the order of the table. To add one is a line here.

use ozfft::{Engine, Family, Problem, ResidueOptions, Substrate};
use residues::reconstruct::Method;

/// One path.
pub struct Way {
    pub name: &'static str,
    /// What the paper calls it, where it has a name for it.
    pub paper: &'static str,
    pub how: How,
}

/// What runs.
#[derive(Clone, Copy)]
pub enum How {
    CuFft,
    /// A problem of the library; `exact`: its bits must be those of the same problem on the processor.
    Engine {
        apply: fn(Problem) -> Problem,
        exact: bool,
    },
    /// A kernel in the place of that of `kulisch32`; results of those that are not exact are void.
    Variant {
        kernel: &'static str,
        exact: bool,
    },
}

fn by(problem: Problem, reconstruction: Method) -> Problem {
    let options = ResidueOptions {
        reconstruction,
        ..ResidueOptions::default()
    };
    problem.engine(Engine::Residues).residues(options)
}

macro_rules! residues {
    ($name:literal, $paper:literal, $method:ident, $exact:literal) => {
        Way {
            name: $name,
            paper: $paper,
            how: How::Engine {
                apply: |problem| by(problem, Method::$method),
                exact: $exact,
            },
        }
    };
}

macro_rules! digits {
    ($name:literal, $apply:expr) => {
        Way {
            name: $name,
            paper: "",
            how: How::Engine {
                apply: $apply,
                exact: true,
            },
        }
    };
}

/// What stays when a stage of the path `residues-kulisch32` is left out: which, and what is left out.
pub const STAGES: [(&str, &str); 3] = [
    ("without-decomposition", "decomposition"),
    ("without-products", "products"),
    ("without-reconstruction", "reconstruction"),
];

pub const WAYS: &[Way] = &[
    Way {
        name: "cufft",
        paper: "native FP64",
        how: How::CuFft,
    },
    Way {
        name: "residues-garner-one-by-one",
        paper: "recursive Garner",
        how: How::Variant {
            kernel: "residues_garner_one_by_one",
            exact: true,
        },
    },
    residues!("residues-garner", "", Garner, true),
    residues!("residues-double", "tc-Garner + fp64 sum", Double, false),
    residues!("residues-sum2", "tc-Garner + Sum2", Sum2, false),
    residues!(
        "residues-double-single",
        "tc-Garner + double-fp32",
        DoubleSingle,
        false
    ),
    residues!(
        "residues-single-kahan",
        "tc-Garner + fp32 + Kahan",
        SingleKahan,
        false
    ),
    residues!("residues-kulisch32", "tc-Garner + Kulisch", Kulisch32, true),
    residues!(
        "residues-kulisch16",
        "Kulisch, 16-bit words",
        Kulisch16,
        true
    ),
    residues!("residues-kulisch8", "Kulisch, 8-bit words", Kulisch8, true),
    residues!(
        "residues-bernstein-double",
        "Bernstein, fp64",
        BernsteinDouble,
        false
    ),
    Way {
        name: "residues-fp8-kulisch32",
        paper: "",
        how: How::Engine {
            apply: |problem| by(problem, Method::Kulisch32).substrate(Substrate::Fp8Wgmma),
            exact: true,
        },
    },
    Way {
        name: "residues-fp8-bands",
        paper: "fp8 only",
        how: How::Engine {
            apply: |problem| by(problem, Method::Fp8Bands).substrate(Substrate::Fp8Wgmma),
            exact: true,
        },
    },
    Way {
        name: "fp8-without-decomposition",
        paper: "",
        how: How::Variant {
            kernel: "residues_fp8_without_decomposition",
            exact: false,
        },
    },
    Way {
        name: "fp8-without-products",
        paper: "",
        how: How::Variant {
            kernel: "residues_fp8_without_products",
            exact: false,
        },
    },
    Way {
        name: "fp8-without-reconstruction",
        paper: "",
        how: How::Variant {
            kernel: "residues_fp8_without_reconstruction",
            exact: false,
        },
    },
    Way {
        name: "without-decomposition",
        paper: "",
        how: How::Variant {
            kernel: "residues_without_decomposition",
            exact: false,
        },
    },
    Way {
        name: "without-products",
        paper: "",
        how: How::Variant {
            kernel: "residues_without_products",
            exact: false,
        },
    },
    Way {
        name: "without-reconstruction",
        paper: "",
        how: How::Variant {
            kernel: "residues_without_reconstruction",
            exact: false,
        },
    },
    digits!("digits-exact", |problem| problem
        .engine(Engine::Digits)
        .family(Family::Exact)),
    digits!("digits-int8", |problem| problem.engine(Engine::Digits)),
    digits!("digits-int8-integers-only", |problem| problem
        .engine(Engine::Digits)
        .integers_only(true)),
    digits!("digits-fp8", |problem| problem
        .engine(Engine::Digits)
        .substrate(Substrate::Fp8Wgmma)),
];
