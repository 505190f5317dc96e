//! Everything that a plan depends on, as Python passes it.

use crate::options;
use ozfft::{FftError, Kind, Layout, Problem};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Parameters of a plan, as Python passes them.
#[derive(Clone, PartialEq, Eq, Hash, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Key {
    /// `c2c`, `r2c` or `c2r`; or a cosine or sine transform ([`options::cosine`]).
    pub(crate) kind: String,
    /// `f8` or `f4`: the real type beneath.
    pub(crate) precision: String,
    /// The real array's for real transforms.
    shape: Vec<usize>,
    axes: Vec<usize>,
    direction: String,
    norm: String,
    /// Strides in elements, and how many of them lie before the first one.
    input: (Vec<isize>, usize),
    output: (Vec<isize>, usize),
    accuracy: String,
    engine: String,
    device: String,
    pub(crate) threads: usize,
}

impl Key {
    /// Reads one key, so that the names of its entries, which are made when they are first needed, are made before there are
    /// several threads: a child that is forked while one of them is being made would wait for it for ever.
    pub(crate) fn read_once(py: Python<'_>) -> PyResult<()> {
        let entries = PyDict::new(py);
        for name in [
            "kind",
            "precision",
            "direction",
            "norm",
            "accuracy",
            "engine",
            "device",
        ] {
            entries.set_item(name, "")?;
        }
        for name in ["shape", "axes"] {
            entries.set_item(name, (1,))?;
        }
        for name in ["input", "output"] {
            entries.set_item(name, ((1,), 0))?;
        }
        entries.set_item("threads", 1)?;
        entries.extract::<Key>().map(drop)
    }

    pub(crate) fn problem(&self) -> Result<Problem, FftError> {
        let shape = &self.shape;
        self.chosen(match options::kind(&self.kind)? {
            Kind::ComplexToComplex => Problem::complex(shape),
            Kind::RealToComplex => Problem::real_to_complex(shape),
            Kind::ComplexToReal => Problem::complex_to_real(shape),
        })
    }

    /// The arrays of a cosine or sine transform.
    pub(crate) fn arrays(&self) -> Result<Problem, FftError> {
        self.chosen(Problem::complex(&self.shape))
    }

    /// A problem with everything but the kind and the shape.
    fn chosen(&self, problem: Problem) -> Result<Problem, FftError> {
        let layout = |(strides, offset): &(Vec<isize>, usize)| {
            Layout::strided(strides, 0).with_offset(*offset)
        };
        Ok(problem
            .axes(&self.axes)
            .direction(options::direction(&self.direction)?)
            .norm(options::norm(&self.norm)?)
            .input_layout(layout(&self.input))
            .output_layout(layout(&self.output))
            .accuracy(options::accuracy(&self.accuracy)?)
            .engine(self.engine.parse()?)
            .device(options::device(&self.device)?)
            .threads(self.threads))
    }
}

pub(crate) fn no_precision(given: &str) -> FftError {
    FftError::Unsupported(format!("there is no precision {given:?}; give f8 or f4"))
}
