//! A launch as data: which kernel, how many blocks of how many threads, and its arguments, whatever their type.

use crate::executor::cuda::program::task::{Arrays, KernelArgs};
use std::fmt;
use std::mem::MaybeUninit;

/// Bytes of the largest arguments, those of lines of the engine ntt.
const MAX_BYTES: usize = 2048;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Bytes(MaybeUninit<[u8; MAX_BYTES]>);

/// Arguments of any kernel. They are copied with a launch: memory of their own would cost more than that.
#[derive(Clone, Copy)]
pub(crate) struct Arguments {
    bytes: Bytes,
    /// For these arguments alone.
    resolve: unsafe fn(*mut u8, &Arrays),
    #[cfg(test)]
    of: std::any::TypeId,
}

impl Arguments {
    fn new<T: KernelArgs>(arguments: T) -> Self {
        const { assert!(size_of::<T>() <= MAX_BYTES && align_of::<T>() <= align_of::<Bytes>()) };
        /// # Safety
        /// The pointer is to a `T` that nothing else uses.
        unsafe fn resolve<T: KernelArgs>(arguments: *mut u8, arrays: &Arrays) {
            // SAFETY: the caller's promise.
            unsafe { (*arguments.cast::<T>()).resolve(arrays) }
        }
        let mut bytes = Bytes(MaybeUninit::uninit());
        // SAFETY: there is room, and the place is aligned, as was asserted.
        unsafe { bytes.0.as_mut_ptr().cast::<T>().write(arguments) };
        Arguments {
            bytes,
            resolve: resolve::<T>,
            #[cfg(test)]
            of: std::any::TypeId::of::<T>(),
        }
    }

    /// Where a kernel's parameters are read from.
    pub(crate) fn pointer(&self) -> *const std::ffi::c_void {
        self.bytes.0.as_ptr().cast()
    }

    /// The arguments, if they are of this type.
    #[cfg(test)]
    pub(crate) fn get<T: KernelArgs>(&self) -> Option<&T> {
        // SAFETY: written as a `T`, which stays one whatever is resolved.
        (self.of == std::any::TypeId::of::<T>()).then(|| unsafe { &*self.pointer().cast() })
    }
}

impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arguments").finish_non_exhaustive()
    }
}

/// A launch, complete but for the queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Launch {
    pub(crate) kernel: &'static str,
    pub(crate) blocks: u64,
    /// Of a block.
    pub(crate) threads: u32,
    pub(crate) shared_bytes: usize,
    pub(crate) arguments: Arguments,
}

impl Launch {
    pub(crate) fn new<T: KernelArgs>(
        kernel: &'static str,
        (blocks, threads): (u64, u32),
        shared_bytes: usize,
        arguments: T,
    ) -> Self {
        Launch {
            kernel,
            blocks,
            threads,
            shared_bytes,
            arguments: Arguments::new(arguments),
        }
    }

    /// Of one of the general kernels that need no shared memory.
    pub(crate) fn general<T: KernelArgs>(kernel: &'static str, blocks: u64, arguments: T) -> Self {
        let threads = ozfft_kernels::GENERAL_THREADS;
        Launch::new(kernel, (blocks, threads), 0, arguments)
    }

    /// With the arrays of a call.
    pub(crate) fn resolved(&self, arrays: &Arrays) -> Self {
        let mut launch = *self;
        let arguments = &mut launch.arguments;
        // SAFETY: the function of the arguments' own type, which are this launch's alone.
        unsafe { (arguments.resolve)(arguments.bytes.0.as_mut_ptr().cast(), arrays) };
        launch
    }
}

/// A kernel of the template that a machine is ready to launch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TemplateKernel {
    pub(crate) name: &'static str,
    pub(crate) threads: u32,
    /// Blocks that a multiprocessor has room for.
    pub(crate) blocks_each: usize,
    /// Where it had to be compiled.
    pub(crate) compilation: Option<Compilation>,
}

/// What a compilation took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compilation {
    pub(crate) seconds: f64,
    /// Whether the kernel is on disk for the next plan.
    pub(crate) kept: bool,
}
