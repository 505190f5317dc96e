//! A distributed problem: that of one process, and how its arrays are divided.

use crate::error::DistributedError;
use crate::index_box::{BoxError, IndexBox, Side, check_boxes};
use crate::route::{End, Ends, Route, Stage};
use ozfft::{
    Accuracy, Device, Direction, Engine, FftError, Kind, Norm, Problem, Products, Substrate,
};

/// Where one end of a transform lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wish {
    /// As the planner divides arrays: along their first dimensions.
    Natural,
    /// Wherever the fewest bytes are sent.
    Permuted,
    /// This rank's box.
    Box(IndexBox),
}

/// A transform over all axes of an array, or some of them, that is divided among the ranks of a communicator.
///
/// A rank transforms whole lines along an axis. Of an array of one dimension the lines of a batch are dealt out to the ranks, and one long line is divided by
/// its passes (the six-step way: columns of a matrix, then rows), or those of its convolution (lengths with a prime factor above 64). A line of one pass (up to 1024 points; on GPUs any)
/// is gathered on one rank, which needs memory for all of it: [`DistributedProblem::memory_limit`] turns a lack of memory into an error.
///
/// ```
/// use ozfft::{Direction, Norm};
/// use ozfft_mpi::DistributedProblem;
/// let problem = DistributedProblem::complex(&[60, 48, 50])
///     .direction(Direction::Inverse)
///     .norm(Norm::Ortho)
///     .grid(&[2, 3]);
/// assert!(problem.validate(6).is_ok());
/// assert!(problem.validate(8).is_err());
/// ```
#[derive(Debug, Clone)]
pub struct DistributedProblem {
    /// Of contiguous arrays.
    pub(crate) whole: Problem,
    axes: Vec<usize>,
    pub(crate) batch: usize,
    pub(crate) engine: Engine,
    pub(crate) strict: bool,
    grid: Option<Vec<usize>>,
    pub(crate) input: Wish,
    pub(crate) output: Wish,
    /// What the ranks must agree on, in words.
    options: (Direction, Norm, Accuracy, Products),
    pub(crate) threads: usize,
    substrate: Substrate,
    pub(crate) device: Device,
    pub(crate) staged: bool,
    pub(crate) memory_limit: Option<u64>,
    pub(crate) pieces: Option<usize>,
    shared_memory: bool,
    /// The first dimension that is divided naturally: 0, and 1 where lines are rows.
    first_divided: usize,
}

impl DistributedProblem {
    fn new(whole: Problem, direction: Direction) -> Self {
        DistributedProblem {
            axes: (0..whole.shape().len()).collect(),
            whole,
            batch: 1,
            engine: Engine::Digits,
            strict: false,
            grid: None,
            input: Wish::Natural,
            output: Wish::Natural,
            options: (
                direction,
                Norm::Backward,
                Accuracy::Double,
                Products::Truncated,
            ),
            threads: 1,
            substrate: Substrate::Auto,
            device: Device::Cpu,
            staged: false,
            memory_limit: None,
            pieces: None,
            shared_memory: false,
            first_divided: 0,
        }
    }

    /// Forward complex-to-complex transform of an array of this shape, all ranks' parts together.
    pub fn complex(shape: &[usize]) -> Self {
        Self::new(Problem::complex(shape), Direction::Forward)
    }

    /// Forward transform of real data; `shape` is the real array's, and the output has `n/2 + 1` points along the last axis.
    pub fn real_to_complex(shape: &[usize]) -> Self {
        Self::new(Problem::real_to_complex(shape), Direction::Forward)
    }

    /// Inverse transform to real data; `shape` is the real array's.
    pub fn complex_to_real(shape: &[usize]) -> Self {
        Self::new(Problem::complex_to_real(shape), Direction::Inverse)
    }

    /// Transforms only these axes, all by default; of a real transform the last one named is halved. Every index of the other axes is a
    /// transform by itself, and ranks need not exchange along them.
    pub fn axes(mut self, axes: &[usize]) -> Self {
        self.axes = axes.to_vec();
        self.whole = self.whole.axes(axes);
        self
    }

    /// Sets the sign of the exponent.
    pub fn direction(mut self, direction: Direction) -> Self {
        self.options.0 = direction;
        self
    }

    /// Sets the scaling; [`Norm::Backward`] by default.
    pub fn norm(mut self, norm: Norm) -> Self {
        self.options.1 = norm;
        self
    }

    /// Sets the accuracy; [`Accuracy::Double`] by default.
    pub fn accuracy(mut self, accuracy: Accuracy) -> Self {
        self.options.2 = accuracy;
        self
    }

    /// How much of the digit product is formed.
    pub fn products(mut self, products: Products) -> Self {
        self.options.3 = products;
        self
    }

    /// Sets the engine; only [`Engine::Digits`], the default, has bits that do not depend on how an array is divided.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// Where this rank's lines are transformed: [`Device::Cpu`], the default, or a GPU, of which ranks may have different numbers, or share one. All ranks have one,
    /// or none does. Arrays are then in the GPU's memory for `DistributedPlan::process_device`, and other calls copy them there and back. Needs the feature `cuda`.
    ///
    /// ```
    /// use ozfft::Device;
    /// use ozfft_mpi::DistributedProblem;
    /// let problem = DistributedProblem::complex(&[60, 48, 50]).device(Device::Cuda(0));
    /// assert!(problem.validate(2).is_ok());
    /// assert!(problem.device(Device::Auto).validate(2).is_err());
    /// ```
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// On GPUs messages go through page-locked memory of the processor also where MPI takes device pointers, which is asked otherwise. Ranks may differ.
    pub fn staged(mut self, staged: bool) -> Self {
        self.staged = staged;
        self
    }

    /// The matrix unit that multiplies; ranks may have different ones.
    pub fn substrate(mut self, substrate: Substrate) -> Self {
        self.substrate = substrate;
        self
    }

    /// So many arrays; a rank holds the same box of each of them, one after the other.
    pub fn batch(mut self, batch: usize) -> Self {
        self.batch = batch;
        self
    }

    /// With `strict`, a NaN or infinity on any rank is an error on all of them before anything is written.
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Threads of this rank, 1 by default; ranks may have different numbers.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// The most workspace, in bytes, that this rank has room for; a plan that needs more is [`DistributedError::Memory`] on every rank.
    /// Ranks may have different limits.
    pub fn memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit = Some(bytes);
        self
    }

    /// Every exchange is made in so many pieces, as far as arrays have as many indices: while one is on its way, the next one is transformed and packed. The plan
    /// chooses by what is sent where no number is given. The bits do not depend on it, and workspace is less with more of them.
    ///
    /// ```
    /// use ozfft_mpi::DistributedProblem;
    /// let problem = DistributedProblem::complex(&[60, 48, 50]).pieces(4);
    /// assert!(problem.validate(2).is_ok());
    /// assert!(problem.pieces(0).validate(2).is_err());
    /// ```
    pub fn pieces(mut self, pieces: usize) -> Self {
        self.pieces = Some(pieces);
        self
    }

    /// Whether ranks of one node read each other's pieces in memory that they share, in the place of messages; on processors, where all ranks are on one node. It halves the copies, and was slower where
    /// it was measured, so messages are sent unless it is asked for. The bits do not depend on it.
    ///
    /// ```
    /// use ozfft_mpi::DistributedProblem;
    /// let problem = DistributedProblem::complex(&[256, 256, 256]).shared_memory(true);
    /// assert!(problem.validate(2).is_ok());
    /// ```
    pub fn shared_memory(mut self, shared: bool) -> Self {
        self.shared_memory = shared;
        self
    }

    /// Whether memory is to be shared where it can be; the same on all ranks.
    pub(crate) fn wants_shared_memory(&self, ranks: usize) -> bool {
        ranks > 1 && self.device == Device::Cpu && self.shared_memory
    }

    /// The process grid: one number for slabs, two for pencils, in general fewer than the array has dimensions. The planner chooses one
    /// where none is given. The bits do not depend on it.
    pub fn grid(mut self, grid: &[usize]) -> Self {
        self.grid = Some(grid.to_vec());
        self
    }

    /// This rank's part of the input. All ranks give one, or none does.
    pub fn input_box(mut self, part: IndexBox) -> Self {
        self.input = Wish::Box(part);
        self
    }

    /// This rank's part of the output. All ranks give one, or none does.
    pub fn output_box(mut self, part: IndexBox) -> Self {
        self.output = Wish::Box(part);
        self
    }

    /// Takes the input divided as the first axis needs it, which may spare an exchange.
    pub fn permuted_input(mut self) -> Self {
        self.input = Wish::Permuted;
        self
    }

    /// Leaves the output divided as the last axis leaves it, which spares an exchange. Parts of arrays of one dimension are ranges, whatever is asked for here:
    /// write lines as rows of an array, with [`DistributedProblem::axes`], to have whole ones.
    pub fn permuted_output(mut self) -> Self {
        self.output = Wish::Permuted;
        self
    }

    /// The problem of one process whose bits this one has.
    pub fn whole(&self) -> Problem {
        let (direction, norm, accuracy, products) = self.options;
        self.whole
            .clone()
            .direction(direction)
            .norm(norm)
            .accuracy(accuracy)
            .products(products)
            .engine(self.engine)
            .batch(self.batch)
            .strict(self.strict)
            .substrate(match self.substrate {
                // Of parts; the whole is planned for the processor.
                Substrate::Gpu(_) if self.device != Device::Cpu => Substrate::Auto,
                substrate => substrate,
            })
            .threads(self.threads)
    }

    /// The unit that multiplies on a GPU.
    pub(crate) fn device_substrate(&self) -> Substrate {
        match self.substrate {
            Substrate::Gpu(unit) => Substrate::Gpu(unit),
            _ => Substrate::Auto,
        }
    }

    /// What all ranks must agree on, in words.
    pub(crate) fn agreement(&self, numbers: &str) -> String {
        let wish = |wish: &Wish| match wish {
            Wish::Natural => "natural".to_string(),
            Wish::Permuted => "permuted".into(),
            Wish::Box(part) => {
                let dimensions = (part.low().len(), part.high().len());
                format!("boxes of {} to {} indices", dimensions.0, dimensions.1)
            }
        };
        let (direction, norm, accuracy, products) = self.options;
        format!(
            "{} {numbers} {:?} axes {:?} batch {} {direction:?} {norm:?} {accuracy:?} {products:?} engine {} strict {} on {} grid {:?} pieces {:?} shared memory {:?} input {} output {} (ozfft-mpi {})",
            self.whole.kind(),
            self.whole.shape(),
            self.axes,
            self.batch,
            self.engine,
            self.strict,
            match self.device {
                Device::Cuda(_) => "GPUs",
                _ => "processors",
            },
            self.grid,
            self.pieces,
            self.shared_memory,
            wish(&self.input),
            wish(&self.output),
            env!("CARGO_PKG_VERSION"),
        )
    }

    /// Checks what can be checked without the other ranks' boxes.
    pub fn validate(&self, ranks: usize) -> Result<(), DistributedError> {
        self.whole().validate()?;
        if self.engine != Engine::Digits {
            return Err(FftError::Unsupported(format!(
                "distributed transforms take the engine digits, whose bits do not depend on how an array is divided, and this problem has {}; leave it out",
                self.engine
            ))
            .into());
        }
        if self.device == Device::Auto {
            return Err(FftError::Unsupported(
                "every rank must have a GPU, or none, and the device auto does not say which; take cpu, or cuda and a number".into(),
            )
            .into());
        }
        if self.pieces == Some(0) {
            return Err(DistributedError::Pieces { pieces: 0 });
        }
        let dimensions = self.whole.shape().len();
        for (side, wish) in [(Side::Input, &self.input), (Side::Output, &self.output)] {
            if let Wish::Box(part) = wish
                && (part.low().len() != dimensions || part.high().len() != dimensions)
            {
                return Err(BoxError::Dimensions {
                    side,
                    given: part.clone(),
                    dimensions,
                }
                .into());
            }
        }
        if let Some(grid) = &self.grid {
            let parts = grid.iter().filter(|parts| **parts > 1).count();
            let product = grid.iter().try_fold(1usize, |all, &n| all.checked_mul(n));
            if product != Some(ranks) || parts >= dimensions.max(2) {
                return Err(DistributedError::Grid {
                    grid: grid.clone(),
                    ranks,
                    dimensions,
                });
            }
        }
        Ok(())
    }

    /// The same of at least two dimensions, for the planner: a batch of lines is an array of rows, of which only whole ones are transformed.
    pub(crate) fn of_rows(&self) -> DistributedProblem {
        if !self.is_one_line() {
            return self.clone();
        }
        let (batch, n) = (self.batch, self.whole.shape()[0]);
        let row = |wish: &Wish| match wish {
            Wish::Box(part) => Wish::Box(part.with_first(batch)),
            Wish::Natural | Wish::Permuted => Wish::Natural,
        };
        let shape = [batch, n];
        let whole = match self.whole.kind() {
            Kind::ComplexToComplex => Problem::complex(&shape),
            Kind::RealToComplex => Problem::real_to_complex(&shape),
            Kind::ComplexToReal => Problem::complex_to_real(&shape),
        };
        DistributedProblem {
            whole: whole.axes(&[1]),
            axes: vec![1],
            batch: 1,
            input: row(&self.input),
            output: row(&self.output),
            first_divided: 1,
            ..self.clone()
        }
    }

    /// Whether arrays have one dimension.
    pub(crate) fn is_one_line(&self) -> bool {
        self.whole.shape().len() == 1
    }

    /// The arrays between the axes, in this order.
    pub(crate) fn stages(&self, order: &[usize]) -> Vec<Stage> {
        let (first, last) = (0, order.len() - 1);
        let mut shape = self.whole.input_shape();
        let stage = |(number, &axis): (usize, &usize)| {
            let shape_before = shape.clone();
            let n = self.whole.shape()[axis];
            let complex = match self.whole.kind() {
                Kind::RealToComplex if number == first => {
                    shape[axis] = n / 2 + 1;
                    (false, true)
                }
                Kind::ComplexToReal if number == last => {
                    shape[axis] = n;
                    (true, false)
                }
                _ => (true, true),
            };
            Stage {
                axis,
                shape_before,
                shape_after: shape.clone(),
                complex,
            }
        };
        order.iter().enumerate().map(stage).collect()
    }

    /// Whether every rank's boxes, where there are any, make up the arrays.
    pub(crate) fn check_boxes(
        &self,
        input: Option<&[IndexBox]>,
        output: Option<&[IndexBox]>,
    ) -> Result<(), DistributedError> {
        if let Some(boxes) = input {
            check_boxes(Side::Input, &self.whole.input_shape(), boxes)?;
        }
        if let Some(boxes) = output {
            check_boxes(Side::Output, &self.whole.output_shape(), boxes)?;
        }
        Ok(())
    }

    /// The way through the transform, given every rank's boxes where there are any; they have been checked.
    pub(crate) fn route(
        &self,
        order: &[usize],
        ranks: usize,
        (input, output): (Option<Vec<IndexBox>>, Option<Vec<IndexBox>>),
    ) -> Route {
        let end = |wish: &Wish, boxes: Option<Vec<IndexBox>>| match (boxes, wish) {
            (Some(boxes), _) => End::Boxes(boxes),
            (None, Wish::Permuted) => End::Free,
            (None, _) => End::Natural(self.first_divided),
        };
        let ends = Ends {
            input: end(&self.input, input),
            output: end(&self.output, output),
        };
        Route::new(&self.stages(order), &ends, self.grid.as_deref(), ranks)
    }
}
