//! A [`Problem`] is pure data, checked by [`Problem::validate`], and the key of the plan cache.

use crate::error::{Buffer, FftError};
use crate::kind::Kind;
use crate::layout::Layout;
pub use crate::recipe::Products;
#[cfg(feature = "residues")]
pub use crate::stages::residue_products::ResidueOptions;
use crate::substrate::Substrate;
#[cfg(feature = "floats")]
use floats::Mode;
#[cfg(feature = "residues")]
use residues::reconstruct::Method;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// Sign of the exponent: `Forward` is `exp(-2πi jk/n)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Direction {
    /// `exp(-2πi jk/n)`.
    Forward,
    /// `exp(+2πi jk/n)`.
    Inverse,
}

/// Where the factor `1/n` goes, with the names numpy and scipy use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub enum Norm {
    /// Forward unscaled, inverse by `1/n`.
    Backward,
    /// Both by `1/√n`.
    Ortho,
    /// Forward by `1/n`, inverse unscaled.
    Forward,
    /// Neither is scaled, as in FFTW, cuFFT and RustFFT.
    Unscaled,
}

/// How accurate the result must be, as a relative L2 error of one whole transform.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub enum Accuracy {
    /// About a third of the work: 5 data digits, 4 matrix digits, 5 diagonals. For data known to single precision.
    Single,
    /// The full recipe: 8 data digits, 7 matrix digits, 8 diagonals.
    Double,
    /// A relative L2 error.
    Target(f64),
    /// `Target(2^-bits)`.
    Bits(u32),
}

/// A target that is not a number equals nothing, and no problem with one is planned.
impl Eq for Accuracy {}

impl std::hash::Hash for Accuracy {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Accuracy::Single | Accuracy::Double => {}
            // No zero is planned, so that equal numbers have equal bits.
            Accuracy::Target(target) => target.to_bits().hash(state),
            Accuracy::Bits(bits) => bits.hash(state),
        }
    }
}

impl Accuracy {
    /// The relative L2 error asked for; `None` for `Single` and `Double`, which name recipes.
    pub fn target(self) -> Option<f64> {
        match self {
            Accuracy::Single | Accuracy::Double => None,
            Accuracy::Target(t) => Some(t),
            Accuracy::Bits(bits) => Some((-f64::from(bits)).exp2()),
        }
    }

    fn validate(self) -> Result<(), FftError> {
        let usable = match self {
            Accuracy::Target(t) => t > 0.0 && t < 1.0,
            Accuracy::Bits(bits) => (1..=53).contains(&bits),
            Accuracy::Single | Accuracy::Double => true,
        };
        if usable {
            Ok(())
        } else {
            Err(FftError::InvalidAccuracy {
                given: self.target().unwrap_or(f64::NAN),
            })
        }
    }
}

/// The engine that computes a transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub enum Engine {
    /// 8-bit digits and exact integer arithmetic: reproducible bits, proven bound.
    Digits,
    /// Residues modulo several 8-bit numbers instead of digits, reconstructed by the Chinese remainder theorem (`ResidueOptions`):
    /// always the whole product, hence the bits of digits with [`Products::Exact`]. For comparison, for redundancy, and
    /// for what hardware offers next; slower than digits.
    Residues,
    /// Bluestein's algorithm with an exact convolution by number-theoretic transforms modulo primes of 30 bits (the feature `ntt`; on the processor):
    /// reproducible bits, proven bound, an error hardly above that of one rounding. For comparison; slower than digits.
    Ntt,
    /// RustFFT and RealFFT in floating point: fast, error measured but not proven.
    Native,
    /// Floating point in one of the crate `floats`' modes, from bf16 products on a matrix unit to f64: proven bound.
    /// The bits of `fast`, `kahan`, `ozaki_two_level` and `double` are the same on every processor; those of the other
    /// modes depend on the order in which the matrix unit adds.
    #[cfg(feature = "floats")]
    Floats(#[cfg_attr(feature = "serde", serde(with = "mode_name"))] Mode),
    /// Left to the planner: `Digits` when reproducible bits or a GPU are asked for. For an error as accuracy the fastest engine whose bound is proven and
    /// keeps it, of `Floats` and `Digits` ([`crate::Plan::choice`]); which one that is depends on the machine. Else `Native`.
    Auto,
}

impl Engine {
    /// Its name: `digits`, `residues`, `ntt`, `native`, `auto`, or that of a mode in floating point.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Digits => "digits",
            Engine::Residues => "residues",
            Engine::Ntt => "ntt",
            Engine::Native => "native",
            Engine::Auto => "auto",
            #[cfg(feature = "floats")]
            Engine::Floats(mode) => mode.name(),
        }
    }
}

impl std::fmt::Display for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Engine {
    type Err = FftError;

    /// `auto`, `digits`, `residues`, `ntt`, `native`, or a mode of the floats engine by its name.
    ///
    /// ```
    /// use ozfft::{Engine, Mode};
    /// assert_eq!("ozaki_hq".parse(), Ok(Engine::Floats(Mode::OzakiHq)));
    /// assert_eq!("digits".parse(), Ok(Engine::Digits));
    /// let rejected = "abacus".parse::<Engine>().unwrap_err();
    /// assert!(rejected.to_string().contains("abacus"));
    /// ```
    fn from_str(name: &str) -> Result<Engine, FftError> {
        let named = [
            Engine::Auto,
            Engine::Digits,
            Engine::Residues,
            Engine::Ntt,
            Engine::Native,
        ];
        if let Some(engine) = named.into_iter().find(|engine| engine.to_string() == name) {
            return Ok(engine);
        }
        #[cfg(feature = "floats")]
        if let Ok(mode) = name.parse() {
            return Ok(Engine::Floats(mode));
        }
        #[cfg(feature = "floats")]
        let modes = Mode::ALL.map(Mode::name).join(", ");
        #[cfg(not(feature = "floats"))]
        let modes = "those of the feature `floats`, which this build lacks";
        Err(FftError::Unsupported(format!(
            "there is no engine \"{name}\"; the engines are auto, digits, residues, ntt, native, and in floating point {modes}"
        )))
    }
}

/// Modes are saved by their names.
#[cfg(all(feature = "serde", feature = "floats"))]
mod mode_name {
    use floats::Mode;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(mode: &Mode, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(mode)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Mode, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// The same where there may be none.
#[cfg(all(feature = "serde", feature = "floats"))]
pub(crate) mod optional_mode {
    use floats::Mode;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(mode: &Option<Mode>, to: S) -> Result<S::Ok, S::Error> {
        mode.map(Mode::name).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Mode>, D::Error> {
        let name = Option::<String>::deserialize(from)?;
        let mode = name.map(|name| name.parse()).transpose();
        mode.map_err(D::Error::custom)
    }
}

/// Where a transform runs. The bits do not depend on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub enum Device {
    /// This machine's processor.
    #[default]
    Cpu,
    /// The NVIDIA GPU of this number; an error where there is none.
    Cuda(usize),
    /// The first GPU where there is one and the engine is [`Engine::Digits`], else the CPU; the plan reports which.
    Auto,
}

/// An address in a GPU's memory, as the driver gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DevicePointer(pub u64);

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Device::Cpu => f.write_str("cpu"),
            Device::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
            Device::Auto => f.write_str("auto"),
        }
    }
}

/// One transform, or a batch of equal ones.
///
/// ```
/// use ozfft::{Accuracy, Direction, Engine, Norm, Problem};
/// let problem = Problem::complex(&[64, 64])
///     .direction(Direction::Inverse)
///     .norm(Norm::Ortho)
///     .axes(&[1])
///     .accuracy(Accuracy::Target(1e-10))
///     .engine(Engine::Digits);
/// assert!(problem.validate().is_ok());
/// assert!(problem.axes(&[2]).validate().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Problem {
    pub(crate) kind: Kind,
    pub(crate) shape: Vec<usize>,
    pub(crate) axes: Vec<usize>,
    pub(crate) direction: Direction,
    pub(crate) norm: Norm,
    pub(crate) batch: usize,
    pub(crate) input: Option<Layout>,
    pub(crate) output: Option<Layout>,
    pub(crate) accuracy: Accuracy,
    pub(crate) engine: Engine,
    #[cfg_attr(feature = "serde", serde(rename = "family"))]
    pub(crate) products: Products,
    pub(crate) substrate: Substrate,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) device: Device,
    pub(crate) reproducible: bool,
    pub(crate) strict: bool,
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) integers_only: bool,
    #[cfg(feature = "residues")]
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) residues: ResidueOptions,
    pub(crate) threads: Option<usize>,
}

impl Problem {
    fn new(kind: Kind, shape: &[usize], direction: Direction) -> Self {
        Problem {
            kind,
            shape: shape.to_vec(),
            axes: (0..shape.len()).collect(),
            direction,
            norm: Norm::Backward,
            batch: 1,
            input: None,
            output: None,
            accuracy: Accuracy::Double,
            engine: Engine::Digits,
            products: Products::Truncated,
            substrate: Substrate::Auto,
            device: Device::Cpu,
            reproducible: false,
            strict: false,
            integers_only: false,
            #[cfg(feature = "residues")]
            residues: ResidueOptions::default(),
            threads: None,
        }
    }

    /// Forward complex-to-complex transform over all axes of a C-ordered array.
    pub fn complex(shape: &[usize]) -> Self {
        Self::new(Kind::ComplexToComplex, shape, Direction::Forward)
    }

    /// Forward transform of real data; `shape` is the real array's.
    ///
    /// The output has `n/2 + 1` points along the last selected axis.
    pub fn real_to_complex(shape: &[usize]) -> Self {
        Self::new(Kind::RealToComplex, shape, Direction::Forward)
    }

    /// Inverse transform to real data; `shape` is the real array's.
    pub fn complex_to_real(shape: &[usize]) -> Self {
        Self::new(Kind::ComplexToReal, shape, Direction::Inverse)
    }

    /// Transforms only these axes. For real transforms the last one named is the halved one.
    pub fn axes(mut self, axes: &[usize]) -> Self {
        self.axes = axes.to_vec();
        self
    }

    /// Sets the sign of the exponent.
    pub fn direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    /// Sets the scaling; [`Norm::Backward`] by default.
    pub fn norm(mut self, norm: Norm) -> Self {
        self.norm = norm;
        self
    }

    /// Transforms `batch` arrays of this shape, one after the other unless a layout says otherwise.
    pub fn batch(mut self, batch: usize) -> Self {
        self.batch = batch;
        self
    }

    /// Where the input's elements lie; contiguous C order by default.
    pub fn input_layout(mut self, layout: Layout) -> Self {
        self.input = Some(layout);
        self
    }

    /// Where the output's elements lie; contiguous C order by default.
    pub fn output_layout(mut self, layout: Layout) -> Self {
        self.output = Some(layout);
        self
    }

    /// The accuracy wanted; [`Accuracy::Double`] by default.
    pub fn accuracy(mut self, accuracy: Accuracy) -> Self {
        self.accuracy = accuracy;
        self
    }

    /// The engine; [`Engine::Digits`] by default.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// Truncated (the default) or exact digit products.
    pub fn products(mut self, products: Products) -> Self {
        self.products = products;
        self
    }

    /// The matrix unit of the digits engine. The bits do not depend on it.
    pub fn substrate(mut self, substrate: impl Into<Substrate>) -> Self {
        self.substrate = substrate.into();
        self
    }

    /// Where it runs; [`Device::Cpu`] by default. The bits do not depend on it.
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Asks for bits that do not depend on machine, threads, batch or layout: [`Engine::Auto`] takes `Digits` then, and an engine by name
    /// that has other bits on other machines is an error.
    pub fn reproducible(mut self, reproducible: bool) -> Self {
        self.reproducible = reproducible;
        self
    }

    /// With `strict`, a NaN or infinity in the input is an error before anything is written.
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// With `integers_only`, kernels on a GPU use no instruction with floating-point numbers at all, not even to convert
    /// them: for devices with little or no double-precision hardware. (On [`GpuUnit::Fp8Wgmma`](crate::GpuUnit::Fp8Wgmma), [`GpuUnit::Fp8MmaSync`](crate::GpuUnit::Fp8MmaSync) and [`GpuUnit::F16MmaSync`](crate::GpuUnit::F16MmaSync) none in double precision.)
    /// The bits do not depend on it.
    pub fn integers_only(mut self, integers_only: bool) -> Self {
        self.integers_only = integers_only;
        self
    }

    /// Options of the residues engine beyond the recipe.
    ///
    /// ```
    /// use ozfft::{Engine, Planner, Problem, ResidueOptions};
    /// let options = ResidueOptions {
    ///     redundancy: 2,
    ///     ..ResidueOptions::default()
    /// };
    /// let problem = Problem::complex(&[64]).engine(Engine::Residues).residues(options);
    /// let plan = Planner::<f64>::new().plan(&problem)?;
    /// assert!(plan.why().contains("2 of them redundant"));
    /// # Ok::<(), ozfft::FftError>(())
    /// ```
    #[cfg(feature = "residues")]
    pub fn residues(mut self, options: ResidueOptions) -> Self {
        self.residues = options;
        self
    }

    /// Number of threads; rayon's current number by default. A plan for one thread is made and runs on the caller's thread: no other is
    /// started on the processor. The bits do not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// The kind of transform.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Shape of the real (for real transforms) or complex array.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Number of points that one transform combines: the product of the selected axes' lengths.
    pub fn points(&self) -> usize {
        self.axes
            .iter()
            .filter_map(|&axis| self.shape.get(axis))
            .product()
    }

    /// Shape of the half-spectrum: `n/2 + 1` along the last selected axis.
    pub fn half_shape(&self) -> Vec<usize> {
        let mut half = self.shape.clone();
        // A problem that has not been validated may name an axis that is not there.
        if let Some(n) = self.axes.last().and_then(|&last| half.get_mut(last)) {
            *n = *n / 2 + 1;
        }
        half
    }

    /// Transforms in one array of the batch: one for every index of the axes that are not transformed.
    pub(crate) fn transforms_of_array(&self) -> usize {
        let lengths = self.shape.iter().enumerate();
        lengths
            .filter(|(axis, _)| !self.axes.contains(axis))
            .map(|(_, &n)| n)
            .product()
    }

    /// Shape of the array that is read.
    pub fn input_shape(&self) -> Vec<usize> {
        match self.kind {
            Kind::ComplexToReal => self.half_shape(),
            _ => self.shape.clone(),
        }
    }

    /// Shape of the array that is written.
    pub fn output_shape(&self) -> Vec<usize> {
        match self.kind {
            Kind::RealToComplex => self.half_shape(),
            _ => self.shape.clone(),
        }
    }

    /// The selected axes in the order in which they are transformed.
    pub(crate) fn order_of_axes(&self) -> Vec<usize> {
        match self.kind {
            // The halved axis comes last when its output is real, first otherwise.
            Kind::ComplexToReal => self.axes.clone(),
            _ => self.axes.iter().rev().copied().collect(),
        }
    }

    /// Bytes of an element of the input and of the output.
    pub(crate) fn element_sizes<T>(&self) -> (usize, usize) {
        let (real, complex) = (size_of::<T>(), 2 * size_of::<T>());
        match self.kind {
            Kind::ComplexToComplex => (complex, complex),
            Kind::RealToComplex => (real, complex),
            Kind::ComplexToReal => (complex, real),
        }
    }

    pub(crate) fn resolved_input(&self) -> Layout {
        self.input
            .clone()
            .unwrap_or_else(|| Layout::contiguous(&self.input_shape()))
    }

    pub(crate) fn resolved_output(&self) -> Layout {
        self.output
            .clone()
            .unwrap_or_else(|| Layout::contiguous(&self.output_shape()))
    }

    /// Whether an engine has the same bits everywhere, or is left to the planner.
    pub(crate) fn has_portable_bits(&self, engine: Engine) -> bool {
        match engine {
            Engine::Native => false,
            #[cfg(feature = "floats")]
            Engine::Floats(mode) => mode.has_portable_bits(),
            #[cfg(feature = "residues")]
            Engine::Residues => !self.residues.native_fallback,
            _ => true,
        }
    }

    /// Checks everything that can be checked before data is seen.
    pub fn validate(&self) -> Result<(), FftError> {
        if self.shape.is_empty() {
            return Err(FftError::EmptyShape);
        }
        if let Some(axis) = self.shape.iter().position(|&n| n == 0) {
            return Err(FftError::EmptyDimension { axis });
        }
        let rank = self.shape.len();
        if self.axes.is_empty() {
            return Err(FftError::NoAxes { rank });
        }
        for (position, &axis) in self.axes.iter().enumerate() {
            if axis >= rank {
                return Err(FftError::AxisOutOfRange { axis, rank });
            }
            if self.axes[..position].contains(&axis) {
                return Err(FftError::DuplicateAxis { axis });
            }
        }
        if self.batch == 0 {
            return Err(FftError::EmptyBatch);
        }
        if self.threads == Some(0) {
            return Err(FftError::ZeroThreads);
        }
        self.accuracy.validate()?;
        if self.reproducible && !self.has_portable_bits(self.engine) {
            return Err(FftError::NotReproducible {
                engine: self.engine.name(),
            });
        }
        #[cfg(feature = "residues")]
        self.validate_residues()?;
        let elements = self
            .shape
            .iter()
            .try_fold(self.batch, |total, &n| total.checked_mul(n))
            .and_then(|total| total.checked_mul(32));
        if elements.is_none_or(|bytes| bytes > isize::MAX as usize) {
            return Err(FftError::TooLarge {
                shape: self.shape.clone(),
                batch: self.batch,
            });
        }
        self.resolved_input()
            .validate(Buffer::Input, &self.input_shape(), self.batch)?;
        self.resolved_output()
            .validate(Buffer::Output, &self.output_shape(), self.batch)
    }

    /// Options of the residues engine that do not fit together, or another engine.
    #[cfg(feature = "residues")]
    fn validate_residues(&self) -> Result<(), FftError> {
        let options = self.residues;
        let reject = |reason: &str| Err(FftError::Unsupported(reason.into()));
        if self.engine != Engine::Residues {
            return if options == ResidueOptions::default() {
                Ok(())
            } else {
                reject(
                    "reconstruction, redundancy and adaptive moduli are choices of the residues engine; take the engine residues",
                )
            };
        }
        if options.redundancy > 0 && options.adaptive {
            return reject(
                "moduli are either redundant or as few as the data need; leave out redundancy or adaptive",
            );
        }
        if options.redundancy > 0 && options.reconstruction != Method::Kulisch32 {
            return reject(
                "redundant residues are put together by kulisch32; leave out the reconstruction or the redundancy",
            );
        }
        if options.native_fallback && !(options.adaptive && self.accuracy.target().is_some()) {
            return reject(
                "a line falls back to native where adaptive moduli cannot reach the accuracy; ask for adaptive and for a number as accuracy",
            );
        }
        Ok(())
    }

    /// Number of elements that the input buffer must have (real numbers for real input).
    pub fn input_len(&self) -> usize {
        self.resolved_input()
            .required_len(&self.input_shape(), self.batch)
    }

    /// Number of elements that the output buffer must have (real numbers for real output).
    pub fn output_len(&self) -> usize {
        self.resolved_output()
            .required_len(&self.output_shape(), self.batch)
    }
}
