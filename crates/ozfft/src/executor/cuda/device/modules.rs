//! The modules of machine code that come with the library: their kernels, and what a launch must know of those.

use ozfft_kernels::{ResidueFp8, TunedSource};

/// A file of `ozfft-kernels/compiled`, loaded with the first of its kernels that a plan asks for.
pub(crate) struct Module {
    /// What the driver was asked to do where that fails.
    pub(crate) loading: &'static str,
    pub(crate) image: &'static [u8],
    pub(crate) kernels: Vec<&'static str>,
    /// So many of the kernels, the first ones, have blocks with more than 48 KB of shared memory.
    pub(crate) large: usize,
    /// Kernels wait for the launch before by themselves (`launches.cuh`), so that they may begin earlier.
    pub(crate) waits: bool,
}

macro_rules! module {
    ($name:literal, $image:expr, $kernels:expr) => {{
        let kernels: Vec<&'static str> = $kernels.into();
        Module {
            loading: concat!("loading the module ", $name),
            image: $image,
            large: kernels.len(),
            kernels,
            waits: false,
        }
    }};
}

/// That of the template's kernels which are compiled in advance; which those are the template says.
pub(crate) const TEMPLATE: usize = 0;

/// All modules that a device can load.
pub(crate) fn modules(is_hopper: bool) -> Vec<Module> {
    use ozfft_kernels::floats;
    let of_floats = |digits: bool| -> Vec<&'static str> {
        let kernels = floats::KERNELS.iter();
        let kernels = kernels.filter(|kernel| kernel.has_digits() == digits);
        kernels.map(|kernel| kernel.name).collect()
    };
    let products = [&of_floats(false)[..], &floats::PRODUCT_NAMES].concat();
    let steps = [floats::WHOLE_NAMES.as_flattened(), &floats::PHASE_NAMES].concat();
    let mut all = vec![
        module!("bailey_lines", ozfft_kernels::template::IMAGE, []),
        Module {
            large: 2,
            waits: true,
            ..module!(
                "general_block",
                ozfft_kernels::GENERAL,
                ozfft_kernels::GENERAL_NAMES
            )
        },
        Module {
            waits: true,
            ..module!(
                "truncated_block",
                ozfft_kernels::TRUNCATED_IMAGE,
                ozfft_kernels::TRUNCATED_NAMES
            )
        },
        Module {
            large: products.len() - floats::PRODUCT_NAMES.len(),
            ..module!("float_lines", floats::IMAGE, products)
        },
        module!("float_digits", floats::DIGITS_IMAGE, of_floats(true)),
        module!("float_steps", floats::STEPS_IMAGE, steps),
        of_exactness(module!(
            "f16_exactness",
            ozfft_kernels::F16_EXACTNESS.as_bytes(),
            [ozfft_kernels::F16_EXACTNESS_NAME]
        )),
        of_exactness(module!(
            "fp8_exactness_mma_sync",
            ozfft_kernels::FP8_MMA_SYNC_EXACTNESS.as_bytes(),
            [ozfft_kernels::FP8_MMA_SYNC_EXACTNESS_NAME]
        )),
    ];
    add_transforms_modulo_primes(&mut all);
    if is_hopper {
        add_residues(&mut all);
        add_tuned(&mut all);
        all.push(of_exactness(module!(
            "fp8_exactness",
            ozfft_kernels::FP8_EXACTNESS_IMAGE,
            [ozfft_kernels::FP8_EXACTNESS_NAME]
        )));
    }
    all
}

fn of_exactness(module: Module) -> Module {
    Module { large: 0, ..module }
}

#[allow(unused_variables, reason = "builds without any of them")]
fn add_transforms_modulo_primes(all: &mut Vec<Module>) {
    #[cfg(feature = "convolution")]
    all.push(Module {
        large: 0,
        ..module!(
            "ntt",
            ozfft_kernels::ntt::IMAGE,
            ozfft_kernels::ntt::names().collect::<Vec<_>>()
        )
    });
    #[cfg(any(feature = "convolution", feature = "ntt"))]
    all.push(Module {
        large: 0,
        ..module!(
            "ntt_batches",
            ozfft_kernels::ntt_batches::IMAGE,
            ozfft_kernels::ntt_batches::names().collect::<Vec<_>>()
        )
    });
    #[cfg(feature = "ntt")]
    all.push(Module {
        large: 0,
        ..module!(
            "ntt_fourier",
            ozfft_kernels::ntt_fourier::IMAGE,
            ozfft_kernels::ntt_fourier::names().collect::<Vec<_>>()
        )
    });
}

fn add_residues(all: &mut Vec<Module>) {
    let ways = ozfft_kernels::RESIDUE_KERNELS.map(|(_, kernel)| kernel);
    let short = ozfft_kernels::RESIDUE_SHORT_KERNELS.map(|[_, of_512, of_256]| [of_512, of_256]);
    let kinds = [
        ozfft_kernels::RESIDUE_REAL_KERNELS,
        ozfft_kernels::RESIDUE_SINGLE_KERNELS,
    ];
    all.extend([
        module!(
            "bailey_step_residues",
            ozfft_kernels::RESIDUE_IMAGE,
            [&ways[..], &ozfft_kernels::RESIDUE_VARIANTS].concat()
        ),
        module!(
            "bailey_step_residues_short",
            ozfft_kernels::RESIDUE_SHORT_IMAGE,
            short.as_flattened()
        ),
        module!(
            "bailey_step_residues_redundant",
            ozfft_kernels::RESIDUE_REDUNDANT_IMAGE,
            ozfft_kernels::RESIDUE_REDUNDANT_KERNELS
        ),
        module!(
            "bailey_step_residues_kinds",
            ozfft_kernels::RESIDUE_KINDS_IMAGE,
            kinds.as_flattened()
        ),
        module!(
            "bailey_step_residues_adaptive",
            ozfft_kernels::RESIDUE_ADAPTIVE_IMAGE,
            ozfft_kernels::RESIDUE_ADAPTIVE_KERNELS
        ),
        module!(
            "bailey_step_residues_fp8",
            ozfft_kernels::RESIDUE_FP8_IMAGE,
            [
                ResidueFp8::Nibbles.kernels(),
                ResidueFp8::NibblesInHalves.kernels()
            ]
            .concat()
        ),
        module!(
            "bailey_step_residues_karatsuba",
            ozfft_kernels::RESIDUE_KARATSUBA_IMAGE,
            ResidueFp8::Karatsuba.kernels()
        ),
    ]);
}

fn add_tuned(all: &mut Vec<Module>) {
    for source in TunedSource::ALL {
        let shapes = ozfft_kernels::TUNED.iter();
        let shapes = shapes.filter(|shape| shape.source == source);
        let kernels: Vec<&'static str> = shapes.flat_map(|shape| shape.kernels).copied().collect();
        let module = match source {
            TunedSource::Block => module!("tuned_block", source.image(), kernels),
            TunedSource::Mixed => module!("tuned_mixed", source.image(), kernels),
            TunedSource::Single => module!("tuned_single", source.image(), kernels),
            TunedSource::Few => module!("tuned_few", source.image(), kernels),
            TunedSource::RealToComplex => module!("tuned_r2c", source.image(), kernels),
            TunedSource::ComplexToReal => module!("tuned_c2r", source.image(), kernels),
        };
        all.push(Module {
            waits: true,
            ..module
        });
    }
    let passes = ozfft_kernels::TUNED_PASSES.iter();
    let passes: Vec<&'static str> = passes.flat_map(|shape| shape.kernels).collect();
    all.push(Module {
        waits: true,
        ..module!("tuned_passes", ozfft_kernels::TUNED_PASSES_IMAGE, passes)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    #[test]
    fn every_kernel_is_of_one_module_and_in_its_machine_code() {
        let mut seen = HashMap::new();
        for module in modules(true) {
            assert!(module.large <= module.kernels.len(), "{}", module.loading);
            // Fatbins are compressed.
            let is_compressed = module.image.starts_with(&0xba55_ed50_u32.to_le_bytes());
            for name in module.kernels {
                // Of f32 one kernel is with and without conversion instructions.
                let other = seen.insert(name, module.loading);
                assert!(other.is_none_or(|other| other == module.loading), "{name}");
                let holds = || {
                    module
                        .image
                        .windows(name.len())
                        .any(|at| at == name.as_bytes())
                };
                assert!(is_compressed || holds(), "{} has no {name}", module.loading);
            }
        }
        let of_any_gpu: HashSet<_> = modules(false)
            .into_iter()
            .flat_map(|module| module.kernels)
            .collect();
        assert!(of_any_gpu.len() > 50 && of_any_gpu.iter().all(|name| seen.contains_key(name)));
    }
}
