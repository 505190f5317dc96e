//! Lines along an axis of a part, on the processor or on a GPU.

use crate::device::GpuLines;
use ozfft::{AxisPlan, Real};

/// A plan for lines, by where they are computed.
pub(super) enum Lines<T: Real> {
    Processor(Box<AxisPlan<T>>),
    Gpu(Box<dyn GpuLines<T>>),
}

impl<T: Real> Lines<T> {
    /// 64-bit words of workspace, of the memory that the lines are in.
    pub(super) fn workspace_len(&self) -> usize {
        match self {
            Lines::Processor(plan) => plan.workspace_len(),
            Lines::Gpu(plan) => plan.workspace_bytes().div_ceil(8),
        }
    }

    pub(super) fn transforms(&self) -> usize {
        match self {
            Lines::Processor(plan) => plan.transforms(),
            Lines::Gpu(plan) => plan.transforms(),
        }
    }

    /// Of the powers of all transforms, those of the ones that this part has some of; zeros where there are none.
    pub(super) fn own_powers(&self, transforms: &[usize], powers: &[i32]) -> Vec<i32> {
        match powers.is_empty() {
            true => vec![0; self.transforms()],
            false => transforms.iter().map(|&number| powers[number]).collect(),
        }
    }

    pub(super) fn on_processor(&self) -> &AxisPlan<T> {
        match self {
            Lines::Processor(plan) => plan,
            Lines::Gpu(_) => unreachable!("a plan has one kind of lines"),
        }
    }

    pub(super) fn on_gpu(&self) -> &dyn GpuLines<T> {
        match self {
            Lines::Gpu(plan) => &**plan,
            Lines::Processor(_) => unreachable!("a plan has one kind of lines"),
        }
    }
}
