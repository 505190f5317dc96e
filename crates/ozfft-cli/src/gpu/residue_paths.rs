//! What the residues engine has on a GPU: every method of reconstruction, in integers and in fp8. To add one is a line here.

use ozfft::{Engine, FftError, GpuUnit, Method, Plan, Planner, Problem, ResidueOptions};
use std::sync::Arc;

/// A transform by residues.
#[derive(Debug, Clone, Copy)]
pub struct ResiduePath {
    pub name: &'static str,
    pub run: Run,
    /// Its bits must be those of exact digits on the CPU.
    pub exact: bool,
}

/// What runs.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// A problem of the library.
    Engine(fn(Problem) -> Problem),
    /// A kernel in the place of that of `kulisch32`.
    Kernel(&'static str),
}

impl Run {
    /// Plans a complex problem.
    pub fn plan(
        self,
        planner: &Planner<f64>,
        problem: Problem,
    ) -> Result<Arc<Plan<f64>>, FftError> {
        match self {
            Run::Engine(apply) => planner.plan(&apply(problem)),
            Run::Kernel(kernel) => planner.plan_residue_variant(&problem, kernel).map(Arc::new),
        }
    }
}

fn by(problem: Problem, reconstruction: Method) -> Problem {
    let options = ResidueOptions {
        reconstruction,
        ..ResidueOptions::default()
    };
    problem.engine(Engine::Residues).residues(options)
}

macro_rules! path {
    ($name:literal, $method:ident, $exact:literal) => {
        ResiduePath {
            name: $name,
            run: Run::Engine(|problem| by(problem, Method::$method)),
            exact: $exact,
        }
    };
    ($name:literal, $method:ident, $exact:literal, $substrate:ident) => {
        ResiduePath {
            name: $name,
            run: Run::Engine(|problem| by(problem, Method::$method).substrate(GpuUnit::$substrate)),
            exact: $exact,
        }
    };
}

/// All of them.
pub const RESIDUE_PATHS: &[ResiduePath] = &[
    ResiduePath {
        name: "residues-garner-one-by-one",
        run: Run::Kernel("residues_garner_one_by_one"),
        exact: true,
    },
    path!("residues-garner", Garner, true),
    path!("residues-double", Double, false),
    path!("residues-sum2", Sum2, false),
    path!("residues-double-single", DoubleSingle, false),
    path!("residues-single-kahan", SingleKahan, false),
    path!("residues-kulisch32", Kulisch32, true),
    path!("residues-kulisch16", Kulisch16, true),
    path!("residues-kulisch8", Kulisch8, true),
    path!("residues-bernstein-double", BernsteinDouble, false),
    path!("residues-fp8-kulisch32", Kulisch32, true, Fp8Wgmma),
    path!("residues-fp8-bands", Fp8Bands, true, Fp8Wgmma),
    // Two warpgroups to a line.
    ResiduePath {
        name: "residues-fp8-in-halves",
        run: Run::Kernel("residues_fp8_in_halves"),
        exact: true,
    },
    // The same, with moduli of up to 1089 and three products each.
    ResiduePath {
        name: "residues-fp8-karatsuba",
        run: Run::Kernel("residues_karatsuba_kulisch32"),
        exact: true,
    },
];
