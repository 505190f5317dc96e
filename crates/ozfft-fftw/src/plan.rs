//! The contents of a plan.

use crate::error::FftwError;
use crate::number::Number;
use crate::transforms::fourier::Fourier;
use crate::transforms::real_lines::RealToReal;
use crate::transforms::strides::Ends;
use ozfft::Kind;
use std::any::Any;

/// A plan of either precision: what a pointer that C holds leads to.
pub(crate) enum AnyPlan {
    Double(TypedPlan<f64>),
    Single(TypedPlan<f32>),
}

impl AnyPlan {
    pub(crate) fn precision(&self) -> &'static str {
        match self {
            AnyPlan::Double(_) => f64::PRECISION,
            AnyPlan::Single(_) => f32::PRECISION,
        }
    }

    /// The plan, if it is for these numbers.
    pub(crate) fn typed<T: Number>(&self) -> Option<&TypedPlan<T>> {
        let plan: &dyn Any = match self {
            AnyPlan::Double(plan) => plan,
            AnyPlan::Single(plan) => plan,
        };
        plan.downcast_ref()
    }
}

impl From<TypedPlan<f64>> for AnyPlan {
    fn from(plan: TypedPlan<f64>) -> Self {
        AnyPlan::Double(plan)
    }
}

impl From<TypedPlan<f32>> for AnyPlan {
    fn from(plan: TypedPlan<f32>) -> Self {
        AnyPlan::Single(plan)
    }
}

/// A plan for arrays of one type of numbers.
pub(crate) struct TypedPlan<T: Number> {
    pub(crate) work: Work<T>,
    /// The arrays that it was made for, for `fftw_execute`.
    pub(crate) input: Ends<T>,
    pub(crate) output: Ends<T>,
}

/// The operation of a plan.
pub(crate) enum Work<T: Number> {
    /// A complex or half-complex transform, or a copy where the rank is 0.
    Fourier(Fourier<T>),
    /// Real input and real output.
    RealToReal(RealToReal<T>),
}

impl<T: Number> TypedPlan<T> {
    /// Transforms these arrays, which are those of the plan or lie like them.
    ///
    /// # Safety
    /// Every element that the plan's lengths and strides describe may be read in the input and written in the output, and
    /// nobody else uses them meanwhile.
    pub(crate) unsafe fn execute(&self, input: Ends<T>, output: Ends<T>) -> Result<(), FftwError> {
        // SAFETY: the caller's promise.
        unsafe {
            match &self.work {
                Work::Fourier(work) => work.execute(input, output),
                Work::RealToReal(work) => work.execute(input, output),
            }
        }
    }

    /// The kind of a complex or half-complex transform.
    pub(crate) fn kind(&self) -> Option<Kind> {
        match &self.work {
            Work::Fourier(work) => Some(work.kind()),
            Work::RealToReal(_) => None,
        }
    }

    /// The error of a call that is for another kind of plan.
    pub(crate) fn other_kind(&self) -> FftwError {
        let planned = match self.kind() {
            Some(Kind::ComplexToComplex) => "complex",
            Some(Kind::RealToComplex) => "real-to-complex",
            Some(Kind::ComplexToReal) => "complex-to-real",
            None => "real-to-real",
        };
        FftwError::OtherKind { planned }
    }

    /// One line about it.
    pub(crate) fn summary(&self) -> String {
        match &self.work {
            Work::Fourier(work) => work.summary(),
            Work::RealToReal(work) => work.summary(),
        }
    }

    /// All that there is to say about it.
    pub(crate) fn describe(&self) -> String {
        match &self.work {
            Work::Fourier(work) => work.describe(),
            Work::RealToReal(work) => work.describe(),
        }
    }

    /// The customary 5 n log2 n of complex lines and half of it for real ones, over all axes.
    pub(crate) fn nominal_operations(&self) -> f64 {
        match &self.work {
            Work::Fourier(work) => work.nominal_operations(),
            Work::RealToReal(work) => work.nominal_operations(),
        }
    }
}
