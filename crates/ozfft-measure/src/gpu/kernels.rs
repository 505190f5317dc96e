//! What the driver says about kernels: registers, spills, and how many blocks a multiprocessor has room for.

use super::{DeviceFailure, Gpu, failed};
use cudarc::driver::sys::CUfunction_attribute_enum as Attribute;
use cudarc::nvrtc::Ptx;
use serde::{Deserialize, Serialize};

/// What a kernel takes of a multiprocessor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelFacts {
    pub kernel: String,
    pub registers: i32,
    /// Bytes of local memory of a thread: what registers did not suffice for.
    pub local_bytes: i32,
    pub threads: u32,
    pub shared_bytes: usize,
    pub blocks_per_multiprocessor: u32,
    /// Threads that run side by side, of those that a multiprocessor can have.
    pub occupancy: f64,
}

impl Gpu {
    /// Asks the driver about a kernel of machine code, launched with so many threads and so much shared memory.
    pub fn kernel_facts(
        &self,
        image: &[u8],
        (name, threads, shared_bytes): (&str, u32, usize),
    ) -> Result<KernelFacts, DeviceFailure> {
        let module = self.context.load_module(Ptx::from_binary(image.to_vec()));
        let module = module.map_err(failed("load kernels"))?;
        let function = module
            .load_function(name)
            .map_err(failed("find a kernel"))?;
        let not_described = failed("describe a kernel");
        let facts = || {
            let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            function.set_attribute(attribute, shared_bytes as i32)?;
            let blocks = function.occupancy_max_active_blocks_per_multiprocessor(
                threads,
                shared_bytes,
                None,
            )?;
            let most = self.facts.threads_per_multiprocessor;
            Ok(KernelFacts {
                kernel: name.into(),
                registers: function.num_regs()?,
                local_bytes: function.local_size_bytes()?,
                threads,
                shared_bytes,
                blocks_per_multiprocessor: blocks,
                occupancy: f64::from(blocks * threads) / f64::from(most),
            })
        };
        facts().map_err(not_described)
    }
}
