//! Plans for either type of number.

use ozfft::Device;
use ozfft::dct::DctPlan;
use std::sync::Arc;

/// A Fourier transform.
#[derive(Clone)]
pub(crate) enum Planned {
    Double(Arc<ozfft::Plan<f64>>),
    Single(Arc<ozfft::Plan<f32>>),
}

/// The same expression for both types of numbers.
macro_rules! either {
    ($planned:expr, $plan:ident => $result:expr) => {
        match $planned {
            Planned::Double($plan) => $result,
            Planned::Single($plan) => $result,
        }
    };
}
pub(crate) use either;

impl Planned {
    pub(crate) fn device(&self) -> Device {
        either!(self, plan => plan.device())
    }

    /// About how many bytes its tables have.
    pub(crate) fn table_bytes(&self) -> usize {
        either!(self, plan => plan.table_bytes())
    }
}

/// A cosine or sine transform.
#[derive(Clone)]
pub(crate) enum Cosine {
    Double(Arc<DctPlan<f64>>),
    Single(Arc<DctPlan<f32>>),
}

impl Cosine {
    pub(crate) fn table_bytes(&self) -> usize {
        match self {
            Cosine::Double(plan) => plan.table_bytes(),
            Cosine::Single(plan) => plan.table_bytes(),
        }
    }
}
