//! Properties of a GPU reported by the driver, and its clocks.
#![allow(unsafe_code)]

use cudarc::driver::sys::CUdevice_attribute as Attribute;
use cudarc::driver::{CudaContext, DriverError, sys};
use serde::{Deserialize, Serialize};
use std::process::Command;
use std::sync::Arc;

/// Properties of the device reported by the driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFacts {
    pub name: String,
    pub compute_capability: String,
    pub multiprocessors: u32,
    /// The highest clock that the device is sold with.
    pub clock_mhz: u32,
    pub memory_clock_mhz: u32,
    pub memory_bus_bits: u32,
    pub memory_bytes: usize,
    pub l2_bytes: u32,
    pub shared_bytes_per_multiprocessor: u32,
    pub shared_bytes_per_block: u32,
    pub registers_per_multiprocessor: u32,
    pub threads_per_multiprocessor: u32,
    /// The release of the driver, where the system reports it.
    pub driver: Option<String>,
    /// The CUDA version of the driver.
    pub cuda: String,
}

impl std::fmt::Display for DeviceFacts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let gib = |bytes: usize| bytes as f64 / f64::from(1 << 30);
        let kib = |bytes: u32| bytes / 1024;
        write!(
            f,
            "{}, compute capability {}, {} multiprocessors at up to {} MHz\n\
         memory {:.1} GiB, {} bits at {} MHz; L2 {:.0} MiB\n\
         per multiprocessor: {} KiB of shared memory ({} KiB a block), {} registers, {} threads\n\
         driver {}, CUDA {}",
            self.name,
            self.compute_capability,
            self.multiprocessors,
            self.clock_mhz,
            gib(self.memory_bytes),
            self.memory_bus_bits,
            self.memory_clock_mhz,
            f64::from(self.l2_bytes) / f64::from(1 << 20),
            kib(self.shared_bytes_per_multiprocessor),
            kib(self.shared_bytes_per_block),
            self.registers_per_multiprocessor,
            self.threads_per_multiprocessor,
            self.driver.as_deref().unwrap_or("of unknown release"),
            self.cuda,
        )
    }
}

/// Asks the driver; also returns the compute capability.
pub fn facts(context: &Arc<CudaContext>) -> Result<(DeviceFacts, (i32, i32)), DriverError> {
    let number = |attribute: Attribute| -> Result<u32, DriverError> {
        let value = context.attribute(attribute)?;
        Ok(u32::try_from(value).unwrap_or(0))
    };
    let (major, minor) = context.compute_capability()?;
    let mut version = 0;
    // SAFETY: the function writes one integer.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result()?;
    let facts = DeviceFacts {
        name: context.name()?,
        compute_capability: format!("{major}.{minor}"),
        multiprocessors: number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        clock_mhz: number(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)? / 1000,
        memory_clock_mhz: number(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)? / 1000,
        memory_bus_bits: number(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?,
        memory_bytes: context.total_mem()?,
        l2_bytes: number(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?,
        shared_bytes_per_multiprocessor: number(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
        )?,
        shared_bytes_per_block: number(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        )?,
        registers_per_multiprocessor: number(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
        )?,
        threads_per_multiprocessor: number(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
        )?,
        driver: driver_release(),
        cuda: format!("{}.{}", version / 1000, version % 1000 / 10),
    };
    Ok((facts, (major, minor)))
}

/// The release of the driver, such as 580.95.05, where the system reports it.
fn driver_release() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    release_in(&text)
}

/// The first word of numbers and points.
fn release_in(text: &str) -> Option<String> {
    let is_release =
        |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.split_whitespace().find(is_release).map(String::from)
}

/// Clocks and power at one moment, where NVIDIA's tool reports them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// Of the multiprocessors, of the memory, the power drawn and the temperature, with units.
    pub text: String,
    /// What the text has, in the tool's names.
    pub fields: String,
}

const CLOCK_FIELDS: &str =
    "clocks.sm,clocks.mem,power.draw,temperature.gpu,clocks_event_reasons.active";

/// The clocks now; nothing where the tool is not installed.
pub fn clocks_now(ordinal: usize) -> Option<Clocks> {
    let output = Command::new("nvidia-smi")
        .arg(format!("--id={ordinal}"))
        .arg(format!("--query-gpu={CLOCK_FIELDS}"))
        .arg("--format=csv,noheader")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| Clocks {
        text: text.trim().to_string(),
        fields: CLOCK_FIELDS.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_found_in_what_the_kernel_module_says() {
        let text = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs)\n";
        assert_eq!(release_in(text).as_deref(), Some("580.95.05"));
        assert_eq!(release_in("no numbers"), None);
    }
}
