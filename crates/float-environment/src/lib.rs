//! The caller's floating-point environment, saved while a library computes and restored afterwards.
//!
//! Programs may set the direction of rounding, have subnormal numbers flushed to zero on input or output, and have exceptions stop the
//! program; threads inherit all of that from the thread that started them. Rust assumes the default environment, and results that are
//! specified to the bit depend on it. [`DefaultEnvironment`] puts the default in force (round to nearest, subnormal numbers kept, exceptions
//! masked) and, when it is dropped, also while unwinding, the caller's again.
//!
//! On x86-64 it is the register MXCSR, on 64-bit ARM it is FPCR. The register is written only where it differs from the
//! default; sticky flags, which say what has happened, do not count as a difference, and a computation may leave some raised.
//! On other targets, and under Miri, nothing is done: there the environment must be the default one.
//!
//! ```
//! let third = float_environment::with_default(|| 1.0 / 3.0);
//! assert_eq!(third, 0.333_333_333_333_333_3);
//! ```

#![no_std]
#![warn(missing_docs)]

#[cfg(target_arch = "x86_64")]
mod tiles;

use core::marker::PhantomData;
#[cfg(target_arch = "x86_64")]
pub use tiles::amx_tiles_are_granted;

/// The register of the target: how it is read and written, and which of its bits decide results.
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod register {
    use core::arch::asm;

    pub(super) type Value = u32;

    /// Rounding, masks, subnormal operands and results; all but the six sticky flags.
    pub(super) const CONTROL: Value = 0xffc0;
    /// All exceptions masked.
    pub(super) const DEFAULT: Value = 0x1f80;

    #[inline(always)]
    pub(super) fn read() -> Value {
        let mut value = 0;
        // SAFETY: stores the register, which every x86-64 processor has, in memory that is ours.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags));
        }
        value
    }

    /// # Safety
    /// Code that follows must be able to run under `value`: Rust's is compiled for the default, so that another value may be
    /// put in force only where it was before.
    #[inline(always)]
    pub(super) unsafe fn write(value: Value) {
        // SAFETY: bits that the processor does not have are never set: they come from itself, or are the default's.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags));
        }
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod register {
    use core::arch::asm;

    pub(super) type Value = u64;

    /// Alternative handling (bits 0 to 2), traps (8 to 12 and 15), flushing of half precision (19), rounding (22 and 23),
    /// flushing (24), default NaN (25) and alternative half precision (26). Sticky flags are in a register of their own.
    pub(super) const CONTROL: Value = 0x07c8_9f07;
    pub(super) const DEFAULT: Value = 0;

    #[inline(always)]
    pub(super) fn read() -> Value {
        let value;
        // SAFETY: reads a register that programs may read.
        unsafe { asm!("mrs {}, fpcr", out(reg) value, options(nostack, preserves_flags)) };
        value
    }

    /// # Safety
    /// As on x86-64.
    #[inline(always)]
    pub(super) unsafe fn write(value: Value) {
        // SAFETY: writes a register that programs may write.
        unsafe { asm!("msr fpcr, {}", in(reg) value, options(nostack, preserves_flags)) };
    }
}

#[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
mod register {
    pub(super) type Value = u32;
    pub(super) const CONTROL: Value = 0;
    pub(super) const DEFAULT: Value = 0;

    pub(super) fn read() -> Value {
        DEFAULT
    }

    /// # Safety
    /// Does nothing.
    pub(super) unsafe fn write(_: Value) {}
}

/// The default environment is in force on this thread as long as this lives.
///
/// The compiler does not know that arithmetic depends on it: what is computed from memory that is read while it lives, and
/// stored before it is dropped, is computed under it; for values in registers take [`with_default`].
#[must_use = "the caller's environment is back as soon as this is dropped"]
#[derive(Debug)]
pub struct DefaultEnvironment {
    /// The caller's, where it is another one.
    before: Option<register::Value>,
    /// It belongs to the thread whose register was changed.
    this_thread: PhantomData<*mut ()>,
}

impl DefaultEnvironment {
    /// Puts the default environment in force.
    #[inline]
    pub fn enter() -> DefaultEnvironment {
        let value = register::read();
        let differs = value & register::CONTROL != register::DEFAULT;
        if differs {
            // SAFETY: the default, which Rust's code is compiled for, and the flags as they are.
            unsafe { register::write(value & !register::CONTROL | register::DEFAULT) };
        }
        DefaultEnvironment {
            before: differs.then_some(value),
            this_thread: PhantomData,
        }
    }
}

impl Drop for DefaultEnvironment {
    #[inline]
    fn drop(&mut self) {
        if let Some(value) = self.before {
            // SAFETY: it was in force before.
            unsafe { register::write(value) };
        }
    }
}

/// Runs `work` in the default environment. Neither what it takes along nor what it returns is computed outside of it.
#[inline]
pub fn with_default<R>(work: impl FnOnce() -> R) -> R {
    let _environment = DefaultEnvironment::enter();
    core::hint::black_box(core::hint::black_box(work)())
}
