//! What each way of computing a transform asks of the units of a machine.
//!
//! A path is bytes and a list of stages, each so much work on one unit. Floors and times follow from that alone. The same path has other
//! counts in mode *printed* (the paper's) and *corrected* (counted here); *measured* times are in [`crate::record`], not here.

use crate::error::RooflineError;
use crate::kernels::{Cube, bluestein_instructions, printed_products};
use crate::mode::Mode;
use crate::rate::Rate;
use serde::{Deserialize, Serialize};

/// A way of computing the transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// In double precision, on the units for it.
    Native,
    /// Residues, put together by Garner's recursion on integers.
    Garner,
    /// Residues, slices added in doubles.
    Fp64Sum,
    /// Residues, slices added in doubles with errors carried along.
    Sum2,
    /// Residues, slices added in pairs of floats.
    DoubleSingle,
    /// Residues, slices added in floats with Kahan's correction.
    SingleKahan,
    /// Residues, Bernstein's fractions in doubles.
    Bernstein,
    /// Residues, slices added in fixed point of 32-bit words.
    Kulisch32,
    /// The same in 16-bit words.
    Kulisch16,
    /// The same in 8-bit words.
    Kulisch8,
    /// Residues, slices added by the matrix unit for FP8.
    Fp8Only,
    /// Digits: no residues at all. Not in the paper.
    Digits,
    /// Bluestein's algorithm and number-theoretic transforms.
    BluesteinNtt,
}

impl Variant {
    /// All of them.
    pub const ALL: [Variant; 13] = [
        Variant::Native,
        Variant::Garner,
        Variant::Fp64Sum,
        Variant::Sum2,
        Variant::DoubleSingle,
        Variant::SingleKahan,
        Variant::Bernstein,
        Variant::Kulisch32,
        Variant::Kulisch16,
        Variant::Kulisch8,
        Variant::Fp8Only,
        Variant::Digits,
        Variant::BluesteinNtt,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Native => "native",
            Variant::Garner => "garner",
            Variant::Fp64Sum => "fp64-sum",
            Variant::Sum2 => "sum2",
            Variant::DoubleSingle => "double-single",
            Variant::SingleKahan => "single-kahan",
            Variant::Bernstein => "bernstein",
            Variant::Kulisch32 => "kulisch32",
            Variant::Kulisch16 => "kulisch16",
            Variant::Kulisch8 => "kulisch8",
            Variant::Fp8Only => "fp8-only",
            Variant::Digits => "digits",
            Variant::BluesteinNtt => "bluestein-ntt",
        }
    }

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Variant::Native => "native FP64",
            Variant::Garner => "residues, recursive Garner",
            Variant::Fp64Sum => "residues, sum in FP64",
            Variant::Sum2 => "residues, Sum2 in FP64",
            Variant::DoubleSingle => "residues, pairs of FP32",
            Variant::SingleKahan => "residues, FP32 and Kahan",
            Variant::Bernstein => "residues, Bernstein in FP64",
            Variant::Kulisch32 => "residues, Kulisch in 32-bit words",
            Variant::Kulisch16 => "residues, Kulisch in 16-bit words",
            Variant::Kulisch8 => "residues, Kulisch in 8-bit words",
            Variant::Fp8Only => "residues, Kulisch on FP8 units",
            Variant::Digits => "digits",
            Variant::BluesteinNtt => "Bluestein and NTTs",
        }
    }

    /// Whether its results have all bits of double precision.
    pub fn is_full_precision(self) -> bool {
        !matches!(
            self,
            Variant::DoubleSingle | Variant::SingleKahan | Variant::Bernstein
        )
    }
}

/// The unit that multiplies bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Substrate {
    /// E4M3 numbers.
    Fp8,
    /// Signed bytes.
    Int8,
}

impl Substrate {
    /// Both.
    pub const ALL: [Substrate; 2] = [Substrate::Fp8, Substrate::Int8];

    /// The rate that its products run at.
    pub fn rate(self) -> Rate {
        match self {
            Substrate::Fp8 => Rate::Fp8,
            Substrate::Int8 => Rate::Int8,
        }
    }

    /// Moduli of the first and of later steps that hold double precision, with the logarithm of their product (docs/residues.md has the proof).
    pub fn moduli(self) -> [(f64, f64); 2] {
        match self {
            Substrate::Fp8 => [(13.0, 120.8), (14.0, 129.7)],
            Substrate::Int8 => [(15.0, 117.8), (16.0, 125.4)],
        }
    }

    /// Products of bytes for one product of words: residues in E4M3 are two digits, multiplied with three products.
    pub fn products(self, moduli: f64) -> f64 {
        match self {
            Substrate::Fp8 => 3.0 * moduli,
            Substrate::Int8 => moduli,
        }
    }

    /// Bits of the modulus product that a slice of the weights has.
    pub fn slice_bits(self) -> f64 {
        match self {
            Substrate::Fp8 => 5.0,
            Substrate::Int8 => 8.0,
        }
    }

    /// Slices of weights as long as the moduli's product.
    pub fn slices(self, log2_product: f64) -> f64 {
        (log2_product / self.slice_bits()).ceil()
    }

    /// Multiply-adds of phase A for an output, as counted by `ozfft-lab reconstruct`: slices of weights, and some more that find the multiple of M.
    pub fn phase_a(self, moduli: f64, slices: f64) -> f64 {
        match self {
            Substrate::Fp8 => 2.0 * moduli * (slices + 5.0),
            Substrate::Int8 => moduli * (slices + 3.0),
        }
    }

    /// Integer operations that take the multiple of M off, counted likewise.
    pub fn multiple_of_modulus(self, slices: f64) -> f64 {
        match self {
            Substrate::Fp8 => 2.0 * slices + 10.0,
            Substrate::Int8 => 2.0 * slices + 6.0,
        }
    }
}

/// What a stage is for: equation 3 hides products behind memory, or memory behind products, and adds the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// αW.
    Product,
    /// γ n_out.
    Reconstruction,
    /// What the paper's model does not have.
    Beside,
}

/// Work on one unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stage {
    /// What is done.
    pub name: &'static str,
    /// What it is for.
    pub role: Role,
    /// The rate that it runs at.
    pub rate: Rate,
    /// Operations or instructions.
    pub work: f64,
}

/// A way of computing a cube in one of the modes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Path {
    /// Which way.
    pub way: Variant,
    /// Where products run; none for ways without.
    pub substrate: Option<Substrate>,
    /// Whose counts these are.
    pub mode: Mode,
    /// The transform.
    pub cube: Cube,
    /// Bytes of memory.
    pub bytes: f64,
    /// Integers that are reconstructed.
    pub outputs: f64,
    /// All work.
    pub stages: Vec<Stage>,
    /// What the counts rest on.
    pub assumptions: Vec<String>,
}

/// The paper's constants.
pub mod printed {
    /// Moduli.
    pub const MODULI: f64 = 12.0;
    /// Bits of a modulus.
    pub const MODULUS_BITS: f64 = 7.0;
    /// INT32 operations of a shifted addition.
    pub const OPERATIONS_PER_SLICE: f64 = 4.0;
    /// Integers reconstructed for each point of a cube.
    pub const OUTPUTS_PER_POINT: f64 = 18.0;
    /// Phase B on FP8 units, of phase A's work: the larger one of two figures.
    pub const SHARE_OF_PHASE_B: f64 = 0.4;
    /// What Barrett's reduction divides the integer rate by, once more.
    pub const BARRETT: f64 = 3.0;
    /// Throughput of 32, 16 and 8-bit words (Table 2).
    pub const THROUGHPUT: [(u32, f64); 3] = [(32, 1.0), (16, 1.2), (8, 1.1)];

    /// ⌈7r/8⌉.
    pub fn slices(moduli: f64) -> f64 {
        (MODULUS_BITS * moduli / 8.0).ceil()
    }
}

/// What was counted here.
pub mod counted {
    /// Integers reconstructed for each point of a cube: two a step, because products are combined as residues.
    pub const OUTPUTS_PER_POINT: f64 = 12.0;
    /// Operations on 32-bit words that add a slice (`ozfft-lab reconstruct`, 16 moduli of int8: 44 for 16).
    pub const OPERATIONS_PER_SLICE: f64 = 2.75;
    /// Operations of Garner's recursion over r², one reduction a digit (388 for 16).
    pub const GARNER: f64 = 388.0 / 256.0;
    /// Instructions on doubles that convert and add a slice (32 for 16), and of Sum2 (145 for 16).
    pub const DOUBLE_PER_SLICE: f64 = 2.0;
    /// See above.
    pub const SUM2_PER_SLICE: f64 = 145.0 / 16.0;
    /// Instructions on floats: pairs (192 for 16), Kahan (96 for 16).
    pub const DOUBLE_SINGLE_PER_SLICE: f64 = 12.0;
    /// See above.
    pub const KAHAN_PER_SLICE: f64 = 6.0;
    /// Instructions on doubles of Bernstein's fraction (52 for 16 moduli).
    pub const BERNSTEIN_PER_MODULUS: f64 = 3.25;
    /// Throughput of 32, 16 and 8-bit words on vectors of equal width, moduli of 7 bits.
    pub const THROUGHPUT: [(u32, f64); 3] = [(32, 1.0), (16, 0.98), (8, 0.64)];
    /// Bands in E4M3, 13 moduli and sums exact to 24 bits: integer operations that are left, and multiply-adds on the unit.
    pub const BANDS_INTEGERS: f64 = 128.0;
    /// See above.
    pub const BANDS_PRODUCTS: f64 = 54.0;
    /// Instructions of a point and axis besides reconstruction: 360 folding and decomposition, 320 products' residues and rotations, 130 reading,
    /// quantising and writing (machine code of `residues_kulisch32`, docs/gpu.md).
    pub const BESIDE_RECONSTRUCTION: f64 = 810.0;
    /// Truncated digits in int8: instructions of a point and axis on integers only, products of bytes for one of words.
    pub const DIGITS_INSTRUCTIONS: f64 = 230.0;
    /// See above.
    pub const DIGITS_PRODUCTS: f64 = 35.0;
    /// The same in FP8: instructions, and how much more work for the matrix unit. 340 were counted with conversions to doubles; without them the
    /// kernel takes 9 % longer.
    pub const DIGITS_FP8_INSTRUCTIONS: f64 = 370.0;
    /// See above.
    pub const DIGITS_FP8_PRODUCTS: f64 = 3.5;
}

/// A path, or none where a mode does not have it: the paper has no digits and runs all products on FP8; measured times are in records.
pub fn path(
    way: Variant,
    substrate: Substrate,
    mode: Mode,
    n: usize,
) -> Result<Option<Path>, RooflineError> {
    let cube = Cube::new(n)?;
    Ok(match mode {
        Mode::Printed if substrate == Substrate::Fp8 => printed_path(way, cube),
        Mode::Corrected => corrected_path(way, substrate, cube),
        Mode::Printed | Mode::Measured => None,
    })
}

/// All paths of a mode.
pub fn all(mode: Mode, n: usize) -> Result<Vec<Path>, RooflineError> {
    let mut paths = Vec::new();
    for way in Variant::ALL {
        for substrate in Substrate::ALL {
            paths.extend(path(way, substrate, mode, n)?);
        }
    }
    Ok(paths)
}

impl Path {
    /// Its way, and the unit of its products.
    pub fn title(&self) -> String {
        match (self.mode, self.substrate) {
            (Mode::Corrected, Some(Substrate::Fp8)) if self.way != Variant::Fp8Only => {
                format!("{}, products in FP8", self.way.title())
            }
            (Mode::Corrected, Some(Substrate::Int8)) => {
                format!("{}, products in INT8", self.way.title())
            }
            _ => self.way.title().into(),
        }
    }

    /// Operations a byte of memory on each unit, in the order of stages.
    pub fn intensities(&self) -> Vec<(Rate, f64)> {
        let mut sums: Vec<(Rate, f64)> = Vec::new();
        for stage in &self.stages {
            let share = stage.work / self.bytes;
            match sums.iter_mut().find(|(rate, _)| *rate == stage.rate) {
                Some((_, sum)) => *sum += share,
                None => sums.push((stage.rate, share)),
            }
        }
        sums
    }
}

fn native(cube: Cube, mode: Mode) -> Path {
    Path {
        way: Variant::Native,
        substrate: None,
        mode,
        cube,
        bytes: cube.bytes(),
        outputs: 0.0,
        stages: vec![Stage {
            name: "butterflies",
            role: Role::Product,
            rate: Rate::Fp64,
            work: cube.flops(),
        }],
        assumptions: vec![
            "5 N log2 N operations a line, at the rate of multiply-adds, although not all of them are".into(),
            "every point is read and written once for each axis".into(),
        ],
    }
}

fn printed_path(way: Variant, cube: Cube) -> Option<Path> {
    if way == Variant::Native {
        return Some(native(cube, Mode::Printed));
    }
    let r = printed::MODULI;
    let slices = printed::slices(r);
    let outputs = printed::OUTPUTS_PER_POINT * cube.points();
    let products = printed_products(cube, r);
    let phase_a = outputs * r * slices;
    let kulisch = printed::OPERATIONS_PER_SLICE * slices;
    let (rate, per_output) = match way {
        Variant::Garner => (Rate::Int32, printed::BARRETT * 2.5 * r * r),
        Variant::Fp64Sum => (Rate::Fp64, slices),
        Variant::Sum2 => (Rate::Fp64, 6.0 * slices),
        Variant::DoubleSingle => (Rate::Fp32, 7.0 * slices),
        Variant::SingleKahan => (Rate::Fp32, 4.0 * slices),
        Variant::Bernstein => (Rate::Fp64, r),
        Variant::Kulisch32 => (Rate::Int32, kulisch),
        Variant::Kulisch16 => (Rate::Int32, kulisch / printed::THROUGHPUT[1].1),
        Variant::Kulisch8 => (Rate::Int32, kulisch / printed::THROUGHPUT[2].1),
        Variant::Fp8Only => (
            Rate::Fp8,
            printed::SHARE_OF_PHASE_B * (products + phase_a) / outputs,
        ),
        Variant::Native | Variant::Digits | Variant::BluesteinNtt => return None,
    };
    let mut stages = vec![Stage {
        name: "Bailey's products",
        role: Role::Product,
        rate: Rate::Fp8,
        work: products,
    }];
    if !matches!(way, Variant::Garner | Variant::Bernstein) {
        stages.push(Stage {
            name: "phase A",
            role: Role::Product,
            rate: Rate::Fp8,
            work: phase_a,
        });
    }
    stages.push(Stage {
        name: match way {
            Variant::Garner => "Garner's recursion",
            _ => "phase B",
        },
        role: Role::Reconstruction,
        rate,
        work: outputs * per_output,
    });
    let mut assumptions = vec![
        format!("r = {r}, S = ⌈7r/8⌉ = {slices}, 3r + 1 products, 18 N³ outputs, β = 1"),
        "decomposition, quantising, rotating and reductions of sums are free".into(),
    ];
    match way {
        Variant::Garner => assumptions.push(
            "the integer rate is divided by 3 for Barrett's reductions, which 2.5 r² counts already".into(),
        ),
        Variant::Fp8Only => assumptions.push(format!(
            "phase B takes {} of phase A's work, at full efficiency of the matrix unit",
            printed::SHARE_OF_PHASE_B
        )),
        Variant::Kulisch16 | Variant::Kulisch8 => {
            assumptions.push("throughput of narrow words as in Table 2".into());
        }
        _ => {}
    }
    Some(Path {
        way,
        substrate: Some(Substrate::Fp8),
        mode: Mode::Printed,
        cube,
        bytes: cube.bytes(),
        outputs,
        stages,
        assumptions,
    })
}

fn corrected_path(way: Variant, substrate: Substrate, cube: Cube) -> Option<Path> {
    let beside = |name, work| Stage {
        name,
        role: Role::Beside,
        rate: Rate::IntegerInstructions,
        work,
    };
    let product = |name, work| Stage {
        name,
        role: Role::Product,
        rate: substrate.rate(),
        work,
    };
    let of_points_and_axes = 3.0 * cube.points();
    let with = |outputs, stages, assumptions: &[&str]| {
        Some(Path {
            way,
            substrate: Some(substrate),
            mode: Mode::Corrected,
            cube,
            bytes: cube.bytes(),
            outputs,
            stages,
            assumptions: assumptions.iter().map(|text| (*text).into()).collect(),
        })
    };
    match way {
        Variant::Native if substrate == Substrate::Fp8 => Some(native(cube, Mode::Corrected)),
        Variant::Native => None,
        Variant::BluesteinNtt if substrate == Substrate::Fp8 => {
            let work = bluestein_instructions(cube);
            let path = with(0.0, vec![beside("number-theoretic transforms", work)], &[
                "64 transforms modulo a 32-bit prime a line, of twice the length; 10 instructions a butterfly; splitting and recombining are free; \
                 a line stays on the chip",
            ]);
            path.map(|path| Path {
                substrate: None,
                ..path
            })
        }
        Variant::BluesteinNtt => None,
        Variant::Digits => {
            let (instructions, more) = match substrate {
                Substrate::Int8 => (counted::DIGITS_INSTRUCTIONS, 1.0),
                Substrate::Fp8 => (
                    counted::DIGITS_FP8_INSTRUCTIONS,
                    counted::DIGITS_FP8_PRODUCTS,
                ),
            };
            let operations =
                2.0 * cube.folded_multiply_adds() * counted::DIGITS_PRODUCTS * more;
            with(
                0.0,
                vec![
                    product("products of digits", operations),
                    beside("everything else", of_points_and_axes * instructions),
                ],
                &[
                    "35 products of bytes for one of words (3.5 times as many in FP8), complex products folded",
                    "230 instructions a point and axis in INT8, 370 in FP8, none of them on doubles: counted by ncu for axes of 1024 points (docs/gpu.md; in FP8 340 with conversions, and 9 % more time without)",
                ],
            )
        }
        _ => residues(way, substrate, cube, &product, &beside)
            .and_then(|(outputs, stages)| {
                with(
                    outputs,
                    stages,
                    &[
                        "13 and 14 moduli in FP8, 15 and 16 in INT8, as the steps of double precision need; S from log2 M; complex products folded; 12 N³ outputs",
                        "operations of a reconstruction as counted by `ozfft-lab reconstruct`, the multiple of M taken off in integers",
                        "810 instructions a point and axis for everything else: the machine code for axes of 1024 points in INT8 (docs/gpu.md)",
                    ],
                )
            }),
    }
}

/// Outputs and stages of a residue path. A cube has two kinds of steps, with their own moduli, and half of the outputs each.
fn residues(
    way: Variant,
    substrate: Substrate,
    cube: Cube,
    product: &dyn Fn(&'static str, f64) -> Stage,
    beside: &dyn Fn(&'static str, f64) -> Stage,
) -> Option<(f64, Vec<Stage>)> {
    if way == Variant::Fp8Only && substrate != Substrate::Fp8 {
        return None;
    }
    let outputs = counted::OUTPUTS_PER_POINT * cube.points();
    let steps = substrate.moduli();
    let sum = |of: &dyn Fn(f64, f64) -> f64| {
        let each = steps.map(|(moduli, log2)| of(moduli, substrate.slices(log2)));
        outputs / 2.0 * (each[0] + each[1])
    };
    let mean_products = (substrate.products(steps[0].0) + substrate.products(steps[1].0)) / 2.0;
    let operations = 2.0 * cube.folded_multiply_adds() * mean_products;
    let mut stages = vec![product("Bailey's products", operations)];
    let forward = !matches!(way, Variant::Garner | Variant::Bernstein);
    if forward {
        let phase_a = sum(&|moduli, slices| 2.0 * substrate.phase_a(moduli, slices));
        stages.push(product("phase A", phase_a));
        stages.push(Stage {
            name: "multiple of M",
            role: Role::Reconstruction,
            rate: Rate::IntegerInstructions,
            work: sum(&|_, slices| substrate.multiple_of_modulus(slices)),
        });
    }
    let narrow = |index: usize| counted::OPERATIONS_PER_SLICE / counted::THROUGHPUT[index].1;
    let floating = 2.0; // A rate in floating point counts an instruction as two operations.
    type PerOutput<'a> = &'a dyn Fn(f64, f64) -> f64;
    let (rate, per_output): (Rate, PerOutput) = match way {
        Variant::Garner => (Rate::IntegerInstructions, &|r, _| counted::GARNER * r * r),
        Variant::Fp64Sum => (Rate::Fp64, &|_, s| floating * counted::DOUBLE_PER_SLICE * s),
        Variant::Sum2 => (Rate::Fp64, &|_, s| floating * counted::SUM2_PER_SLICE * s),
        Variant::DoubleSingle => (Rate::Fp32, &|_, s| {
            floating * counted::DOUBLE_SINGLE_PER_SLICE * s
        }),
        Variant::SingleKahan => (Rate::Fp32, &|_, s| floating * counted::KAHAN_PER_SLICE * s),
        Variant::Bernstein => (Rate::Fp64, &|r, _| {
            floating * counted::BERNSTEIN_PER_MODULUS * r
        }),
        Variant::Kulisch32 => (Rate::IntegerInstructions, &|_, s| narrow(0) * s),
        Variant::Kulisch16 => (Rate::IntegerInstructions, &|_, s| narrow(1) * s),
        Variant::Kulisch8 => (Rate::IntegerInstructions, &|_, s| narrow(2) * s),
        Variant::Fp8Only => (Rate::IntegerInstructions, &|_, _| counted::BANDS_INTEGERS),
        Variant::Native | Variant::Digits | Variant::BluesteinNtt => return None,
    };
    stages.push(Stage {
        name: match way {
            Variant::Garner => "Garner's recursion",
            _ => "phase B",
        },
        role: Role::Reconstruction,
        rate,
        work: sum(per_output),
    });
    if way == Variant::Fp8Only {
        let bands = 2.0 * outputs * counted::BANDS_PRODUCTS;
        stages.push(product("phase B in bands", bands));
    }
    let rest = 3.0 * cube.points() * counted::BESIDE_RECONSTRUCTION;
    stages.push(beside("everything else", rest));
    Some((outputs, stages))
}
