//! Options that several commands share, and their conversion to a [`Problem`].

use crate::failure::Failure;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use ozfft::{
    Accuracy, CpuUnit, Device, Direction, Engine, FftError, FloatError, Kind, Method, Mode, Norm,
    Problem, Products, ResidueOptions, Substrate,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Where the factor 1/n goes, by numpy's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NormName {
    /// Forward unscaled, inverse by 1/n
    Backward,
    /// Both by 1/sqrt(n)
    Ortho,
    /// Forward by 1/n, inverse unscaled
    Forward,
    /// Never scaled
    Unscaled,
}

impl NormName {
    /// The name, as the options spell it.
    pub fn text(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().into())
    }
}

/// The engines whose bits are the same everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// 8-bit digits, exact integers, proven bound
    Digits,
    /// Residues modulo 8-bit numbers, reconstructed by the Chinese remainder theorem; with --device cuda
    Residues,
    /// Bluestein's algorithm with an exact convolution
    Ntt,
}

/// How much of the digit product is formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProductsName {
    /// Only what the accuracy needs
    Truncated,
    /// All of it
    Exact,
}

/// Reads the name of what multiplies the digits; help and completion list all names.
pub fn substrate_parser() -> impl TypedValueParser<Value = Substrate> {
    let names = Substrate::all().map(Substrate::name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Substrate>())
}

/// Several substrates on the command line: `all`, which has `auto` too, or names joined by commas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubstrateList(pub Vec<Substrate>);

/// Reads `all`, `auto` or `scalar,wide-integer`.
pub fn parse_substrates(text: &str) -> Result<SubstrateList, String> {
    let every = || CpuUnit::INTEGERS.iter().map(|&unit| Substrate::Cpu(unit));
    if text == "all" {
        return Ok(SubstrateList(every().chain([Substrate::Auto]).collect()));
    }
    let read = |name: &str| name.trim().parse::<Substrate>();
    let substrates: Result<Vec<_>, _> = text.split(',').map(read).collect();
    substrates.map(SubstrateList).map_err(|_| {
        let known: Vec<_> = every().map(Substrate::name).collect();
        format!(
            "{text:?} is not a list of substrates; give all, auto, or some of {} joined by commas",
            known.join(", ")
        )
    })
}

/// Reads `cpu`, `auto`, `cuda` or `cuda:1`.
pub fn parse_device(text: &str) -> Result<Device, String> {
    let number = |text: &str| text.parse().ok().map(Device::Cuda);
    let device = match text {
        "cpu" => Some(Device::Cpu),
        "auto" => Some(Device::Auto),
        "cuda" => Some(Device::Cuda(0)),
        _ => text.strip_prefix("cuda:").and_then(number),
    };
    device.ok_or_else(|| format!("{text:?} is not a device; give cpu, auto, cuda or cuda:1"))
}

/// The kinds of transform, by their usual short names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KindName {
    /// Complex to complex
    C2c,
    /// Real to half-spectrum
    R2c,
    /// Half-spectrum to real
    C2r,
}

impl From<KindName> for Kind {
    fn from(name: KindName) -> Kind {
        match name {
            KindName::C2c => Kind::ComplexToComplex,
            KindName::R2c => Kind::RealToComplex,
            KindName::C2r => Kind::ComplexToReal,
        }
    }
}

/// The name of an engine, as the options spell it.
pub fn engine_name(engine: Engine) -> &'static str {
    engine.name()
}

/// Reads `auto`, `digits`, `residues`, `native`, or a mode in floating point.
pub fn parse_engine(text: &str) -> Result<Engine, String> {
    text.parse().map_err(|error: FftError| error.to_string())
}

/// Reads a mode in floating point alone.
fn parse_mode(text: &str) -> Result<Mode, String> {
    text.parse().map_err(|error: FloatError| error.to_string())
}

/// How much of the product is formed, as the options spell it.
pub fn products_name(products: Products) -> &'static str {
    match products {
        Products::Truncated => "truncated",
        Products::Exact => "exact",
    }
}

/// An accuracy as the options spell it.
pub fn accuracy_text(accuracy: Accuracy) -> String {
    match accuracy {
        Accuracy::Double => "double".into(),
        Accuracy::Single => "single".into(),
        Accuracy::Target(target) => format!("{target:e}"),
        Accuracy::Bits(bits) => format!("bits:{bits}"),
    }
}

/// Reads `double`, `single`, `1e-12` or `bits:40`. Whether the number is usable is for the library to say.
pub fn parse_accuracy(text: &str) -> Result<Accuracy, String> {
    let unreadable = || {
        format!(
            "{text:?} is not an accuracy; give double, single, a relative error such as 1e-12, or bits:40"
        )
    };
    match text {
        "double" => Ok(Accuracy::Double),
        "single" => Ok(Accuracy::Single),
        _ => match text.strip_prefix("bits:") {
            Some(bits) => bits.parse().map(Accuracy::Bits).map_err(|_| unreadable()),
            None => text.parse().map(Accuracy::Target).map_err(|_| unreadable()),
        },
    }
}

/// Longest time that a measurement can be given: a week, in seconds.
const MOST_SECONDS: f64 = 604_800.0;

/// Reads a time in seconds.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok();
    let seconds = seconds.filter(|seconds| (0.0..=MOST_SECONDS).contains(seconds));
    seconds.ok_or_else(|| {
        format!("{text:?} is not a time in seconds, such as 0.5, of {MOST_SECONDS} or less")
    })
}

/// The same as a duration.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    parse_seconds(text).map(Duration::from_secs_f64)
}

/// Most threads that can be asked for: more than any machine has, and fewer than take the system's last.
const MOST_THREADS: usize = 4096;

/// Reads a number of threads. That 0 are too few is for the library to say.
pub fn parse_threads(text: &str) -> Result<usize, String> {
    let threads = text.parse().ok().filter(|&threads| threads <= MOST_THREADS);
    threads.ok_or_else(|| {
        format!(
            "{text:?} is not a number of threads that can be started; give {MOST_THREADS} or fewer"
        )
    })
}

/// Reads a number of arrays. That 0 are too few is for the library to say.
pub fn parse_batch(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| {
        format!("{text:?} is not a number of arrays; give a whole number, such as 1000")
    })
}

/// Most lengths of a shape, as in numpy 2.
const MOST_AXES: usize = 64;

/// A shape on the command line: `1024` or `64x64x64`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape(pub Vec<usize>);

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&shape_text(&self.0))
    }
}

/// A shape as the options spell it.
pub fn shape_text(shape: &[usize]) -> String {
    let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
    lengths.join("x")
}

/// Reads `64x64x64`; an `X` or `×` will do as well.
pub fn parse_shape(text: &str) -> Result<Shape, String> {
    let lengths = text.split(['x', 'X', '×']);
    if lengths.clone().nth(MOST_AXES).is_some() {
        return Err(format!(
            "this shape has more than {MOST_AXES} lengths, which no array has"
        ));
    }
    lengths
        .map(str::parse)
        .collect::<Result<Vec<usize>, _>>()
        .map(Shape)
        .map_err(|_| {
            format!("{text:?} is not a shape; give lengths joined by x, such as 1024 or 64x64x64")
        })
}

/// The axes in a list such as `0,2`; negative ones count from the end, as in numpy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisList(Vec<isize>);

pub fn parse_axes(text: &str) -> Result<AxisList, String> {
    text.split(',')
        .map(|axis| axis.trim().parse())
        .collect::<Result<Vec<isize>, _>>()
        .map(AxisList)
        .map_err(|_| {
            format!("{text:?} is not a list of axes; give numbers joined by commas, such as 0,2")
        })
}

impl AxisList {
    /// Counts the axes from 0.
    pub fn resolve(&self, rank: usize) -> Result<Vec<usize>, Failure> {
        self.0
            .iter()
            .map(|&axis| {
                let resolved = if axis < 0 { axis + rank as isize } else { axis };
                usize::try_from(resolved).map_err(|_| {
                    Failure::Usage(format!(
                        "axis {axis} does not exist in an array of rank {rank}; the first is {} or 0",
                        -(rank as isize)
                    ))
                })
            })
            .collect()
    }
}

/// A reconstruction method by its name.
fn parse_method(text: &str) -> Result<Method, String> {
    text.parse().map_err(|_| {
        let names: Vec<String> = Method::ALL.iter().map(ToString::to_string).collect();
        format!(
            "{text:?} is no reconstruction method; give one of {}",
            names.join(", ")
        )
    })
}

/// Choices of the engine residues.
#[derive(Debug, Clone, Args)]
pub struct ResidueArguments {
    /// With --engine residues: method of reconstruction [default: kulisch32]
    #[arg(long, value_name = "METHOD", value_parser = parse_method)]
    pub reconstruct: Option<Method>,
    /// With --engine residues: so many moduli more than needed; as many bad residues are found, half as many corrected
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub redundancy: usize,
    /// With --engine residues: as few moduli as the data need, and with --accuracy 1e-9 as few bits
    #[arg(long)]
    pub adaptive: bool,
    /// With --adaptive: leave transforms that need more bits than there are to the native engine
    #[arg(long)]
    pub native_fallback: bool,
}

impl ResidueArguments {
    /// The library's options.
    pub fn options(&self) -> ResidueOptions {
        let default = ResidueOptions::default();
        ResidueOptions {
            reconstruction: self.reconstruct.unwrap_or(default.reconstruction),
            redundancy: self.redundancy,
            adaptive: self.adaptive,
            native_fallback: self.native_fallback,
        }
    }
}

/// How the transform is computed.
#[derive(Debug, Clone, Args)]
pub struct EngineOptions {
    /// Relative error wanted: double, single, a number such as 1e-12, or bits:40
    #[arg(long, value_parser = parse_accuracy, default_value = "double")]
    pub accuracy: Accuracy,
    /// How much of the digit product is formed
    #[arg(long, alias = "recipe", value_enum, default_value = "truncated")]
    pub products: ProductsName,
    /// The matrix unit that multiplies the digits; the bits do not depend on it
    #[arg(long, value_parser = substrate_parser(), default_value = "auto")]
    pub substrate: Substrate,
    /// Where it runs: cpu, cuda, cuda:1 for the second GPU, or auto; the bits do not depend on it
    #[arg(long, value_parser = parse_device, default_value = "cpu")]
    pub device: Device,
    /// On a GPU, take kernels without any floating-point instruction; the bits do not depend on it
    #[arg(long)]
    pub integers_only: bool,
    #[command(flatten)]
    pub residues: ResidueArguments,
    /// Where the factor 1/n goes
    #[arg(long, value_enum, default_value = "backward")]
    pub norm: NormName,
    /// Number of threads [default: all cores]; the bits do not depend on it
    #[arg(long, value_parser = parse_threads)]
    pub threads: Option<usize>,
}

impl EngineOptions {
    /// Adds these options to a problem.
    pub fn apply(&self, problem: Problem) -> Problem {
        let problem = problem
            .accuracy(self.accuracy)
            .products(self.products())
            .substrate(self.substrate)
            .device(self.device)
            .integers_only(self.integers_only)
            .residues(self.residues.options())
            .norm(self.norm());
        match self.threads {
            Some(threads) => problem.threads(threads),
            None => problem,
        }
    }

    /// How much of the product is asked for.
    pub fn products(&self) -> Products {
        match self.products {
            ProductsName::Truncated => Products::Truncated,
            ProductsName::Exact => Products::Exact,
        }
    }

    /// The scaling asked for.
    pub fn norm(&self) -> Norm {
        match self.norm {
            NormName::Backward => Norm::Backward,
            NormName::Ortho => Norm::Ortho,
            NormName::Forward => Norm::Forward,
            NormName::Unscaled => Norm::Unscaled,
        }
    }

    /// The number of threads asked for, or all that there are.
    pub fn threads_used(&self) -> usize {
        self.threads.unwrap_or_else(rayon::current_num_threads)
    }

    /// A plan only divides the work; the threads that take it up are rayon's, so there must be as many of them.
    pub fn start_threads(&self) -> Result<(), Failure> {
        let pool = rayon::ThreadPoolBuilder::new();
        if let Some(threads @ 1..) = self.threads {
            return Ok(pool.num_threads(threads).build_global()?);
        }
        // Rayon's own start panics where the system starts no thread; that there is a pool already has no such reason.
        match pool.build_global() {
            Err(error) if std::error::Error::source(&error).is_some() => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// Options of the commands that transform what the user names.
#[derive(Debug, Clone, Args)]
pub struct TransformOptions {
    #[command(flatten)]
    pub computing: EngineOptions,
    /// Transform back: exp(+2 pi i jk/n)
    #[arg(long)]
    pub inverse: bool,
    /// Transform only these axes, such as 0,2 or -1 [default: all]
    #[arg(long, value_parser = parse_axes, allow_hyphen_values = true)]
    pub axes: Option<AxisList>,
    /// The engine: auto, digits, residues, ntt, native, or a mode in floating point (bf16, fp16, bf16_refined, ozaki,
    /// fp16_ozaki, ozaki_hq, fast, kahan, ozaki_two_level, double)
    #[arg(long, value_parser = parse_engine, default_value = "digits")]
    pub engine: Engine,
    /// A mode in floating point, by its name; the same as --engine
    #[arg(long, value_parser = parse_mode, conflicts_with = "engine")]
    pub mode: Option<Mode>,
    /// Reject NaN and infinity and, where one axis is transformed, half-spectra that no real array has
    #[arg(long)]
    pub strict: bool,
    /// Ask for bits that are the same on every machine
    #[arg(long)]
    pub reproducible: bool,
}

impl TransformOptions {
    /// The selected axes of an array of this rank.
    pub fn resolved_axes(&self, rank: usize) -> Result<Vec<usize>, Failure> {
        match &self.axes {
            Some(axes) => axes.resolve(rank),
            None => Ok((0..rank).collect()),
        }
    }

    /// The engine asked for; an error where another option asks for what it does not have, which would be ignored silently.
    fn engine(&self) -> Result<Engine, Failure> {
        let engine = self.mode.map_or(self.engine, Engine::Floats);
        if engine == Engine::Native && self.computing.products == ProductsName::Exact {
            return Err(Failure::Usage(
                "--products says how much of digit products is formed, and the engine native has none; leave it out, or take --engine digits".into(),
            ));
        }
        if engine == Engine::Native && self.computing.substrate != Substrate::Auto {
            return Err(Failure::Usage(
                "--substrate is the unit that multiplies digits, and the engine native has none; leave it out, or take --engine digits".into(),
            ));
        }
        Ok(engine)
    }

    /// The problem of this kind and shape.
    pub fn problem(&self, kind: Kind, shape: &[usize]) -> Result<Problem, Failure> {
        let problem = match kind {
            Kind::ComplexToComplex => Problem::complex(shape),
            Kind::RealToComplex => Problem::real_to_complex(shape),
            Kind::ComplexToReal => Problem::complex_to_real(shape),
        };
        // Complex-to-real is the inverse already, as long as the direction is not named.
        let problem = match (kind, self.inverse) {
            (Kind::ComplexToComplex, true) => problem.direction(Direction::Inverse),
            (Kind::RealToComplex, true) => {
                return Err(Failure::Usage(
                    "a transform of real input is forward; leave out --inverse, or give --kind c2r"
                        .into(),
                ));
            }
            _ => problem,
        };
        let problem = self
            .computing
            .apply(problem)
            .engine(self.engine()?)
            .axes(&self.resolved_axes(shape.len())?)
            .strict(self.strict)
            .reproducible(self.reproducible);
        // Checked here so that nothing below can stumble over an axis that does not exist.
        problem.validate()?;
        Ok(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracies_shapes_and_axes_are_read_as_documented() {
        assert_eq!(parse_accuracy("bits:40"), Ok(Accuracy::Bits(40)));
        assert_eq!(parse_accuracy("1e-12"), Ok(Accuracy::Target(1e-12)));
        assert!(parse_accuracy("tight").is_err_and(|message| message.contains("tight")));
        assert_eq!(parse_batch("1000"), Ok(1000));
        assert!(parse_batch("1e9").is_err_and(|message| message.contains("\"1e9\"")));
        assert_eq!(parse_shape("64x3"), Ok(Shape(vec![64, 3])));
        assert!(parse_shape("64x").is_err());
        assert!(parse_shape(&["1"; MOST_AXES].join("x")).is_ok());
        assert!(parse_shape(&["1"; MOST_AXES + 1].join("x")).is_err());
        let axes = parse_axes("0,-1").expect("a list");
        assert_eq!(axes.resolve(3).expect("both exist"), [0, 2]);
        assert!(parse_axes("-4").expect("a list").resolve(3).is_err());
    }

    #[test]
    fn invalid_times_are_rejected() {
        assert_eq!(parse_seconds("0.5"), Ok(0.5));
        assert_eq!(parse_duration("0"), Ok(Duration::ZERO));
        for wrong in ["NaN", "inf", "-1", "-0.001", "1e300", "", "soon"] {
            let message = parse_seconds(wrong).expect_err("no time");
            assert!(message.contains(wrong), "{message}");
        }
    }

    #[test]
    fn devices_are_read_by_their_names() {
        assert_eq!(parse_device("cpu"), Ok(Device::Cpu));
        assert_eq!(parse_device("auto"), Ok(Device::Auto));
        assert_eq!(parse_device("cuda"), Ok(Device::Cuda(0)));
        assert_eq!(parse_device("cuda:3"), Ok(Device::Cuda(3)));
        assert!(parse_device("cuda:").is_err() && parse_device("gpu").is_err());
    }

    #[test]
    fn substrates_are_parsed_from_the_names_they_print() {
        let read = |text: &str| parse_substrates(text).expect("a list").0;
        assert_eq!(read("auto"), [Substrate::Auto]);
        assert_eq!(
            read("wide-integer, scalar"),
            [CpuUnit::WideInteger.into(), CpuUnit::Scalar.into()]
        );
        let all = read("all");
        assert!(all.contains(&CpuUnit::Scalar.into()) && all.contains(&Substrate::Auto));
        let names: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(read(&names.join(",")), all);
        let message = parse_substrates("scalar,abacus").expect_err("there is no such unit");
        assert!(
            message.contains("abacus") && message.contains("wide-integer"),
            "{message}"
        );
        assert!(parse_substrates("").is_err());
    }
}
