//! The vector instructions of this machine, for arithmetic in floating point: transforms in digits have those of their matrix unit.

#[cfg(vector_unit)]
use super::{Avx2, Avx512};
use super::{Floats, Portable};

/// What is compiled for every instruction set.
pub trait LaneTask {
    /// # Safety
    /// The processor has the instructions of `V`.
    unsafe fn run<const L: usize, V: Floats<L>>(self);
}

/// Instructions that this machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instructions {
    #[cfg(vector_unit)]
    Avx512,
    #[cfg(vector_unit)]
    Avx2,
    Portable,
}

impl Instructions {
    /// All that this machine has, the fastest first.
    pub fn available() -> Vec<Instructions> {
        let mut all = Vec::new();
        #[cfg(vector_unit)]
        {
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512cd");
            if has_avx512 {
                all.push(Instructions::Avx512);
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                all.push(Instructions::Avx2);
            }
        }
        all.push(Instructions::Portable);
        all
    }

    /// Lines side by side.
    #[inline]
    pub fn lanes(self) -> usize {
        match self {
            #[cfg(vector_unit)]
            Instructions::Avx512 => 8,
            _ => 4,
        }
    }

    /// Runs a task in these instructions.
    ///
    /// # Safety
    /// They are some of [`Instructions::available`].
    #[inline]
    pub unsafe fn enter(self, task: impl LaneTask) {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                #[cfg(vector_unit)]
                Instructions::Avx512 => enter_avx512(task),
                #[cfg(vector_unit)]
                Instructions::Avx2 => enter_avx2(task),
                Instructions::Portable => task.run::<4, Portable>(),
            }
        }
    }
}

#[cfg(vector_unit)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512cd")]
unsafe fn enter_avx512(task: impl LaneTask) {
    // SAFETY: the caller's promise.
    unsafe { task.run::<8, Avx512>() }
}

#[cfg(vector_unit)]
#[target_feature(enable = "avx2,fma")]
unsafe fn enter_avx2(task: impl LaneTask) {
    // SAFETY: the caller's promise.
    unsafe { task.run::<4, Avx2>() }
}
