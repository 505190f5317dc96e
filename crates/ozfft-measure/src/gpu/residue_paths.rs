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
    /// It has kernels for lines of 512 and 256 points, and not for those of 1024 alone.
    pub short: bool,
    pub numbers: Numbers,
}

/// Numbers that a path takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// Complex ones of f64.
    ComplexDoubles,
    /// Of f64, complex and real.
    Doubles,
    /// Of f32, complex and real.
    Singles,
}

/// What runs.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// A problem of the library.
    Engine(fn(Problem) -> Problem),
    /// A kernel in the place of that of `kulisch32`.
    Kernel(&'static str),
    /// Two redundant moduli, and a fault in one of so many sums, which they have to put right.
    Faults { one_in: u32 },
}

/// Decides in which sums faults are made.
const SEED_OF_FAULTS: u32 = 1;

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
            Run::Faults { one_in } => {
                let problem = by(problem, Method::Kulisch32, 2);
                let plan = planner.plan_residue_faults(&problem, SEED_OF_FAULTS, one_in);
                plan.map(Arc::new)
            }
        }
    }
}

/// Sums of a block of so many that get a fault, one in so many: the kernels number the sums of every block from zero (`with_fault` in
/// residue_redundant.cuh).
pub fn faults_of_block(sums: u32, one_in: u32) -> u64 {
    let is_bad = |number: &u32| mixed(SEED_OF_FAULTS, *number).is_multiple_of(one_in);
    (0..sums).filter(is_bad).count() as u64
}

/// As the kernels choose sums, and for nothing else.
fn mixed(seed: u32, number: u32) -> u32 {
    let x = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9));
    let x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    let x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

fn adaptive(problem: Problem) -> Problem {
    let options = ResidueOptions {
        adaptive: true,
        ..ResidueOptions::default()
    };
    problem.engine(Engine::Residues).residues(options)
}

fn by(problem: Problem, reconstruction: Method, redundancy: usize) -> Problem {
    let options = ResidueOptions {
        reconstruction,
        redundancy,
        ..ResidueOptions::default()
    };
    problem.engine(Engine::Residues).residues(options)
}

macro_rules! path {
    ($name:literal, $method:ident, $exact:literal, short: $short:literal) => {
        ResiduePath {
            name: $name,
            run: Run::Engine(|problem| by(problem, Method::$method, 0)),
            exact: $exact,
            short: $short,
            numbers: Numbers::ComplexDoubles,
        }
    };
    ($name:literal, $method:ident, $exact:literal, $substrate:ident) => {
        ResiduePath {
            name: $name,
            run: Run::Engine(|problem| {
                by(problem, Method::$method, 0).substrate(GpuUnit::$substrate)
            }),
            exact: $exact,
            short: false,
            numbers: Numbers::ComplexDoubles,
        }
    };
}

/// All of them.
pub const RESIDUE_PATHS: &[ResiduePath] = &[
    ResiduePath {
        name: "residues-garner-one-by-one",
        run: Run::Kernel("residues_garner_one_by_one"),
        exact: true,
        short: false,
        numbers: Numbers::ComplexDoubles,
    },
    path!("residues-garner", Garner, true, short: true),
    path!("residues-double", Double, false, short: true),
    path!("residues-sum2", Sum2, false, short: false),
    path!("residues-double-single", DoubleSingle, false, short: false),
    path!("residues-single-kahan", SingleKahan, false, short: false),
    path!("residues-kulisch32", Kulisch32, true, short: true),
    path!("residues-kulisch16", Kulisch16, true, short: true),
    path!("residues-kulisch8", Kulisch8, true, short: true),
    // Two redundant moduli: bad residues are found, and one of a sum put right.
    ResiduePath {
        name: "residues-redundant",
        run: Run::Engine(|problem| by(problem, Method::Kulisch32, 2)),
        exact: true,
        short: true,
        numbers: Numbers::ComplexDoubles,
    },
    ResiduePath {
        name: "residues-redundant-faults",
        run: Run::Faults { one_in: 100 },
        exact: true,
        short: true,
        numbers: Numbers::ComplexDoubles,
    },
    // As few moduli as the data need.
    ResiduePath {
        name: "residues-adaptive",
        run: Run::Engine(adaptive),
        exact: true,
        short: true,
        numbers: Numbers::Doubles,
    },
    path!("residues-bernstein-double", BernsteinDouble, false, short: false),
    path!("residues-fp8-kulisch32", Kulisch32, true, Fp8Wgmma),
    path!("residues-fp8-bands", Fp8Bands, true, Fp8Wgmma),
    // Two warpgroups to a line.
    ResiduePath {
        name: "residues-fp8-in-halves",
        run: Run::Kernel("residues_fp8_in_halves"),
        exact: true,
        short: false,
        numbers: Numbers::ComplexDoubles,
    },
    // The same, with moduli of up to 1089 and three products each.
    ResiduePath {
        name: "residues-fp8-karatsuba",
        run: Run::Kernel("residues_karatsuba_kulisch32"),
        exact: true,
        short: false,
        numbers: Numbers::ComplexDoubles,
    },
];

/// The first of them for other kinds and numbers: what is checked, and not compared with the paper.
pub const RESIDUE_PATHS_OF_KINDS: &[ResiduePath] = &[
    ResiduePath {
        name: "residues-real",
        run: Run::Engine(|problem| by(problem, Method::Kulisch32, 0)),
        exact: true,
        short: true,
        numbers: Numbers::Doubles,
    },
    ResiduePath {
        name: "residues-single",
        run: Run::Engine(|problem| by(problem, Method::Kulisch32, 0)),
        exact: true,
        short: true,
        numbers: Numbers::Singles,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_a_block_are_as_many_as_were_asked_for() {
        assert_eq!(faults_of_block(4096, 1), 4096);
        assert_eq!(faults_of_block(0, 100), 0);
        // An H200 put 726,663,168 right in six calls of three launches with 262,144 blocks of four lines, two parts of 1024 points in two steps each.
        let of_block = 726_663_168 / (6 * 3 * 262_144);
        assert_eq!(faults_of_block(4 * 4096, 100), of_block);
    }
}
