//! Which kernels measure what, and what their times mean.

use super::device::{Device, IterationTiming, Kernels};
use super::report::{Bandwidth, PipeRate, TensorRate};
use crate::gpu::DeviceFailure;

/// Steps of chains in an iteration of a thread, as `probe.cu` has them.
const STEPS_PER_ITERATION: u32 = 128;
/// Bytes that are copied, where the device has enough memory: many times what its caches hold.
const COPIED_BYTES: usize = 4 << 30;

/// A kernel of chains.
pub struct Pipe {
    kernel: &'static str,
    name: &'static str,
    instructions: u32,
}

const fn pipe(kernel: &'static str, name: &'static str) -> Pipe {
    Pipe {
        kernel,
        name,
        instructions: 1,
    }
}

/// All kernels of chains.
pub const PIPES: [Pipe; 15] = [
    pipe("probe_imad", "IMAD (32 bits)"),
    pipe("probe_imad_wide", "IMAD.WIDE (32 × 32 -> 64 bits)"),
    pipe("probe_imad_hi", "IMAD.HI"),
    pipe("probe_lop3", "LOP3"),
    pipe("probe_prmt", "PRMT"),
    pipe("probe_shf", "SHF"),
    pipe("probe_iadd3", "IADD3"),
    pipe("probe_imad_and_iadd3", "IMAD and IADD3 in turn"),
    Pipe {
        kernel: "probe_add_64",
        name: "64-bit add",
        instructions: 2,
    },
    pipe("probe_dp4a", "DP4A"),
    pipe("probe_ffma", "FFMA"),
    pipe("probe_fp64_dfma", "DFMA"),
    pipe("probe_fp64_from_s32", "I2F.F64.S32"),
    pipe("probe_fp64_from_s64", "I2F.F64.S64"),
    pipe("probe_fp64_to_s64", "F2I.S64.F64"),
];

/// A kernel of products of small matrices.
pub struct Tensor {
    kernel: &'static str,
    name: &'static str,
    left_operand: &'static str,
    /// Rows, columns and length of one product.
    shape: [u32; 3],
    products_per_iteration: u32,
    /// Warps that compute one product together.
    warps_per_product: u32,
    /// Warps on a multiprocessor, to be measured one after the other.
    warps: &'static [u32],
}

const fn mma_sync(kernel: &'static str, name: &'static str) -> Tensor {
    Tensor {
        kernel,
        name,
        left_operand: "registers",
        shape: [16, 8, 32],
        products_per_iteration: 32,
        warps_per_product: 1,
        warps: &[4, 8, 16],
    }
}

/// The two kernels of a shape: the left operand in shared memory and in registers. A wide product needs so many
/// registers that four warpgroups do not fit.
const fn wgmma(kernels: [&'static str; 2], name: &'static str, columns: u32) -> [Tensor; 2] {
    const fn one(
        kernel: &'static str,
        name: &'static str,
        left_operand: &'static str,
        columns: u32,
    ) -> Tensor {
        Tensor {
            kernel,
            name,
            left_operand,
            shape: [64, columns, 32],
            products_per_iteration: 2048 / columns,
            warps_per_product: 4,
            warps: if columns > 64 { &[4, 8] } else { &[4, 8, 16] },
        }
    }
    [
        one(kernels[0], name, "shared memory", columns),
        one(kernels[1], name, "registers", columns),
    ]
}

/// mma.sync on every GPU.
pub const MMA_SYNC_S8: Tensor = mma_sync("probe_mma_sync_s8", "mma.sync s8 m16n8k32");
/// mma.sync on GPUs of compute capability 8.9 and later.
pub const MMA_SYNC_E4M3: Tensor = mma_sync("probe_mma_sync_e4m3", "mma.sync e4m3 m16n8k32");
/// wgmma, on GPUs of compute capability 9.0.
pub const WGMMA: [[Tensor; 2]; 4] = [
    wgmma(
        [
            "probe_wgmma_s8_m64n256k32_shared",
            "probe_wgmma_s8_m64n256k32_registers",
        ],
        "wgmma s8 m64n256k32",
        256,
    ),
    wgmma(
        [
            "probe_wgmma_s8_m64n64k32_shared",
            "probe_wgmma_s8_m64n64k32_registers",
        ],
        "wgmma s8 m64n64k32",
        64,
    ),
    wgmma(
        [
            "probe_wgmma_s8_m64n32k32_shared",
            "probe_wgmma_s8_m64n32k32_registers",
        ],
        "wgmma s8 m64n32k32",
        32,
    ),
    wgmma(
        [
            "probe_wgmma_e4m3_m64n256k32_shared",
            "probe_wgmma_e4m3_m64n256k32_registers",
        ],
        "wgmma e4m3 m64n256k32",
        256,
    ),
];

/// Digits beyond those that can be measured would only make records hard to read.
fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale
}

/// Operations per second and multiprocessor, if each does this many in an iteration.
fn per_second(operations_per_iteration: f64, timing: &IterationTiming) -> f64 {
    operations_per_iteration * f64::from(timing.iterations) / timing.timing.median_seconds
}

/// Measures a pipe.
pub fn pipe_rate(
    device: &Device,
    kernels: &Kernels,
    pipe: &Pipe,
) -> Result<PipeRate, DeviceFailure> {
    let blocks = device.full_blocks_of_256();
    let timing = device.time_rate(&kernels.rate(pipe.kernel)?, blocks, 256)?;
    let threads = f64::from(blocks * 256);
    let rate = per_second(threads * f64::from(STEPS_PER_ITERATION), &timing);
    Ok(PipeRate {
        name: pipe.name.into(),
        instructions_per_operation: pipe.instructions,
        median_ms: rounded(timing.timing.median_seconds * 1e3, 4),
        runs: timing.timing.runs,
        tera_operations_per_second: rounded(
            rate * f64::from(device.facts.multiprocessors) * 1e-12,
            3,
        ),
        operations_per_clock_and_multiprocessor: rounded(rate / timing.clock_hertz, 2),
        clock_mhz: rounded(timing.clock_hertz * 1e-6, 0),
    })
}

/// Operations of all warps of a multiprocessor in an iteration.
fn operations(tensor: &Tensor, warps: u32) -> f64 {
    let product: f64 = tensor
        .shape
        .iter()
        .map(|&length| f64::from(length))
        .product();
    let products = tensor.products_per_iteration * (warps / tensor.warps_per_product);
    2.0 * product * f64::from(products)
}

/// Measures a tensor instruction with every number of warps.
pub fn tensor_rates(
    device: &Device,
    kernels: &Kernels,
    tensor: &Tensor,
) -> Result<Vec<TensorRate>, DeviceFailure> {
    let kernel = kernels.rate(tensor.kernel)?;
    let measure = |&warps: &u32| {
        let timing = device.time_rate(&kernel, 1, warps * 32)?;
        let rate = per_second(operations(tensor, warps), &timing);
        Ok(TensorRate {
            name: tensor.name.into(),
            left_operand: tensor.left_operand.into(),
            warps_per_multiprocessor: warps,
            median_ms: rounded(timing.timing.median_seconds * 1e3, 4),
            runs: timing.timing.runs,
            tera_operations_per_second: rounded(
                rate * f64::from(device.facts.multiprocessors) * 1e-12,
                1,
            ),
            operations_per_clock_and_multiprocessor: rounded(rate / timing.clock_hertz, 0),
            clock_mhz: rounded(timing.clock_hertz * 1e-6, 0),
        })
    };
    tensor.warps.iter().map(measure).collect()
}

/// Measures copies by the driver and by a kernel.
pub fn bandwidths(device: &Device, kernels: &Kernels) -> Result<Vec<Bandwidth>, DeviceFailure> {
    let kernel = kernels.copy("probe_copy")?;
    let (driver, own, bytes) = device.time_copies(&kernel, COPIED_BYTES)?;
    let named = [
        ("by the driver", driver),
        ("by a kernel, 16 bytes a thread", own),
    ];
    let bandwidth = |(name, timing): (&str, super::device::Timing)| Bandwidth {
        name: name.into(),
        bytes,
        median_ms: rounded(timing.median_seconds * 1e3, 4),
        runs: timing.runs,
        terabytes_per_second: rounded(2.0 * bytes as f64 / timing.median_seconds * 1e-12, 3),
    };
    Ok(named.map(bandwidth).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::tests::HOPPER_SOURCE;
    use ozfft_kernels::probe::{PROBE, PROBE_FP8};

    #[test]
    fn every_kernel_exists() {
        for pipe in &PIPES {
            assert!(
                PROBE.contains(&format!(".entry {}(", pipe.kernel)),
                "{}",
                pipe.kernel
            );
        }
        assert!(PROBE.contains(&format!(".entry {}(", MMA_SYNC_S8.kernel)));
        assert!(PROBE_FP8.contains(&format!(".entry {}(", MMA_SYNC_E4M3.kernel)));
        for tensor in WGMMA.iter().flatten() {
            // Machine code is compressed; `check` holds it to these lines.
            let expectation = format!("// expect: {} ", tensor.kernel);
            assert!(HOPPER_SOURCE.contains(&expectation), "{}", tensor.kernel);
        }
    }

    #[test]
    fn operations_count_multiplications_and_additions() {
        assert_eq!(operations(&MMA_SYNC_S8, 4), 4.0 * 32.0 * 8192.0);
        // Eight wide products of a warpgroup, two warpgroups.
        assert_eq!(operations(&WGMMA[0][0], 8), 16.0 * 1_048_576.0);
        assert_eq!(operations(&WGMMA[2][1], 16), 4.0 * 64.0 * 131_072.0);
    }

    #[test]
    fn rates_follow_from_times() {
        let timing = super::super::device::Timing {
            median_seconds: 0.5,
            runs: 7,
        };
        let timing = IterationTiming {
            timing,
            iterations: 100,
            clock_hertz: 1e9,
        };
        assert_eq!(per_second(10.0, &timing), 2000.0);
    }
}
