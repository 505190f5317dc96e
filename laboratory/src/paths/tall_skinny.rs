//! η_ts of the Ozaki-Bailey paper: how much of the tensor unit's rate in fp8 is left where products are tall and narrow, as those that put integers
//! together are. Their inner dimension is padded to 32 and their columns to a multiple of eight, and sums are used at once.

use super::delivered::Constant;
use ozfft_kernels::probe::{PROBE_HOPPER, TALL_SKINNY};
use ozfft_measure::gpu::DeviceFailure;
use ozfft_measure::probe::device::{Device, Kernels};

/// Rows of a product, and what its inner dimension is padded to.
const ROWS: f64 = 64.0;
const PADDED_INNER: f64 = 32.0;
/// Warpgroups of a block.
const WARPGROUPS: f64 = 4.0;
/// The paper's break-even: 0.3 and 0.4 over 2.68 (equation 22).
const BREAK_EVEN: [f64; 2] = [0.11, 0.15];

/// A kernel of `tall_skinny.cu`.
#[derive(Clone, Copy)]
struct Narrow {
    kernel: &'static str,
    /// Columns of its product.
    columns: u32,
    products_per_iteration: u32,
    /// Blocks of four warpgroups on a multiprocessor.
    blocks: u32,
}

const N8: Narrow = Narrow {
    kernel: "tall_skinny_n8",
    columns: 8,
    products_per_iteration: 4,
    blocks: 2,
};
const N16: Narrow = Narrow {
    kernel: "tall_skinny_n16",
    columns: 16,
    products_per_iteration: 4,
    blocks: 2,
};
const N16_BARE: Narrow = Narrow {
    kernel: "tall_skinny_n16_bare",
    columns: 16,
    products_per_iteration: 16,
    blocks: 1,
};
const N40: Narrow = Narrow {
    kernel: "tall_skinny_n40",
    columns: 40,
    products_per_iteration: 4,
    blocks: 1,
};

/// What somebody would use a product for: so many terms of so many columns.
struct Use {
    name: &'static str,
    narrow: Narrow,
    inner: u32,
    columns: u32,
    what: &'static str,
}

const fn slices(name: &'static str, narrow: Narrow, inner: u32) -> Use {
    Use {
        name,
        narrow,
        inner,
        // As the paper counts them, seven bits a modulus.
        columns: (7 * inner).div_ceil(8),
        what: "residues times slices of their weights",
    }
}

const USES: [Use; 8] = [
    slices("eta_ts.inner-11", N16, 11),
    slices("eta_ts.inner-12", N16, 12),
    slices("eta_ts.inner-13", N16, 13),
    slices("eta_ts.inner-14", N16, 14),
    Use {
        what: "the instruction alone, rows and sums left where they are",
        ..slices("eta_ts.bare.inner-11", N16_BARE, 11)
    },
    Use {
        name: "eta_ts.bands.inner-11",
        narrow: N8,
        inner: 11,
        columns: 5,
        what: "slices to five bands, the paper's phase B",
    },
    Use {
        name: "eta_ts.residues.inner-30",
        narrow: N40,
        inner: 30,
        columns: 32,
        what: "as residues_fp8_bands has it in first steps",
    },
    Use {
        name: "eta_ts.residues.inner-32",
        narrow: N40,
        inner: 32,
        columns: 34,
        what: "as residues_fp8_bands has it in second steps",
    },
];

impl Use {
    /// The share of a product's multiply-adds that is not padding.
    fn of_tile(&self) -> f64 {
        f64::from(self.inner * self.columns) / (PADDED_INNER * f64::from(self.narrow.columns))
    }
}

/// Measures all of them; nothing on devices without the instruction.
pub fn measure(ordinal: usize) -> Result<Vec<Constant>, DeviceFailure> {
    let device = Device::open(ordinal)?;
    if device.capability != (9, 0) {
        return Ok(Vec::new());
    }
    let peak = peak(&device)?;
    let kernels = device.load_machine_code(TALL_SKINNY)?;
    USES.iter()
        .map(|used| {
            let whole = rate(&device, &kernels, used.narrow)?;
            Ok(constant(used, whole, peak))
        })
        .collect()
}

/// Multiply-adds that a multiprocessor does in a second, padding included.
fn rate(device: &Device, kernels: &Kernels, narrow: Narrow) -> Result<f64, DeviceFailure> {
    let threads = 128 * WARPGROUPS as u32;
    let timing = device.time_rate(&kernels.rate(narrow.kernel)?, narrow.blocks, threads)?;
    let products = f64::from(narrow.products_per_iteration) * WARPGROUPS * f64::from(narrow.blocks);
    let terms = products * ROWS * f64::from(narrow.columns) * PADDED_INNER;
    Ok(terms * f64::from(timing.iterations) / timing.timing.median_seconds)
}

/// The most that the unit does: products of 256 columns, from shared memory or from registers, on two warpgroups.
fn peak(device: &Device) -> Result<f64, DeviceFailure> {
    let kernels = device.load_machine_code(PROBE_HOPPER)?;
    let mut best = 0f64;
    for kernel in [
        "probe_wgmma_e4m3_m64n256k32_shared",
        "probe_wgmma_e4m3_m64n256k32_registers",
    ] {
        let timing = device.time_rate(&kernels.rate(kernel)?, 1, 256)?;
        let terms = 2.0 * 8.0 * ROWS * 256.0 * PADDED_INNER;
        best = best.max(terms * f64::from(timing.iterations) / timing.timing.median_seconds);
    }
    Ok(best)
}

fn constant(used: &Use, whole: f64, peak: f64) -> Constant {
    Constant {
        name: used.name.into(),
        value: (whole / peak * used.of_tile() * 1e4).round() / 1e4,
        unit: "share".into(),
        definition: format!(
            "{}: {} terms of {} columns, padded to 32 of {}: {:.1} % of the tile, of the rate of m64n256k32",
            used.what,
            used.inner,
            used.columns,
            used.narrow.columns,
            100.0 * used.of_tile()
        ),
        command: "ozfft-lab paths".into(),
        kernel: Some(used.narrow.kernel.into()),
        range: None,
    }
}

/// All of them as lines, if there are any.
pub fn text(constants: &[Constant]) -> String {
    if constants.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "tall and narrow products in fp8, of the rate of wide ones (break-even of the paper's equation 22: {:.0} to {:.0} %)\n",
        100.0 * BREAK_EVEN[0],
        100.0 * BREAK_EVEN[1]
    );
    for constant in constants {
        text.push_str(&format!(
            "{}: {:.1} % ({})\n",
            constant.name,
            100.0 * constant.value,
            constant.definition
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn useful_terms_are_what_is_not_padding() {
        let [eleven, .., last] = &USES;
        assert_eq!((eleven.inner, eleven.columns), (11, 10));
        assert!((eleven.of_tile() - 110.0 / 512.0).abs() < 1e-12);
        assert!((last.of_tile() - 1088.0 / 1280.0).abs() < 1e-12);
        // At half the peak's rate, half of the tile's share is left.
        let constant = constant(eleven, 1e12, 2e12);
        assert_eq!(constant.value, 0.1074);
        let text = text(&[constant]);
        assert!(text.contains("eta_ts.inner-11: 10.7 %") && text.contains("11 to 15 %"));
    }
}
