//! The table of counted instructions is that of the machine code, and says what the machine code must have.

use ozfft_kernels::instructions::of_a_point;
use ozfft_kernels::{
    RESIDUE_ADAPTIVE_IMAGE, RESIDUE_ADAPTIVE_KERNELS, RESIDUE_COUNTS, RESIDUE_IMAGE,
    RESIDUE_KERNELS, RESIDUE_KINDS_IMAGE, RESIDUE_MODULI, RESIDUE_REAL_KERNELS,
    RESIDUE_REDUNDANT_IMAGE, RESIDUE_REDUNDANT_KERNELS, RESIDUE_REDUNDANT_MODULI,
    RESIDUE_SHORT_IMAGE, RESIDUE_SHORT_KERNELS, RESIDUE_SINGLE_COUNTS, RESIDUE_SINGLE_KERNELS,
    RESIDUE_VARIANTS,
};
use sha2::{Digest, Sha256};

#[test]
fn the_table_is_of_the_machine_code_that_is_committed() {
    let table = include_str!("../src/step_instructions.csv");
    let recorded = table
        .lines()
        .filter_map(|line| line.split("sha256 of ").nth(1)?.split(": ").nth(1));
    let images = [
        RESIDUE_IMAGE,
        RESIDUE_ADAPTIVE_IMAGE,
        RESIDUE_KINDS_IMAGE,
        RESIDUE_REDUNDANT_IMAGE,
        RESIDUE_SHORT_IMAGE,
    ];
    let expected = images.map(|image| {
        let hash = Sha256::digest(image);
        let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        hash
    });
    assert!(recorded.eq(expected), "run crates/ozfft-kernels/count");
}

#[test]
fn every_kernel_multiplies_as_often_as_there_are_moduli() {
    let usual: usize = RESIDUE_COUNTS.iter().sum();
    let redundant = 2 * (RESIDUE_MODULI.len() + RESIDUE_REDUNDANT_MODULI.len());
    let kernels = RESIDUE_KERNELS.map(|(_, kernel)| kernel).into_iter();
    let kernels = kernels.chain(RESIDUE_VARIANTS);
    let kernels = kernels.chain(RESIDUE_SHORT_KERNELS.as_flattened().iter().copied());
    let kernels = kernels.chain(RESIDUE_REAL_KERNELS);
    let kernels = kernels.chain(RESIDUE_ADAPTIVE_KERNELS);
    let kernels = kernels.map(|kernel| (kernel, usual));
    let single: usize = RESIDUE_SINGLE_COUNTS.iter().sum();
    let kernels = kernels.chain(RESIDUE_SINGLE_KERNELS.map(|kernel| (kernel, single)));
    let watched = RESIDUE_REDUNDANT_KERNELS.map(|kernel| (kernel, redundant));
    for (kernel, products) in kernels.chain(watched) {
        let pipes = of_a_point(kernel).unwrap_or_else(|| panic!("{kernel} was not counted"));
        let of = |name: &str| {
            pipes
                .iter()
                .find(|(pipe, _)| *pipe == name)
                .map_or(0.0, |p| p.1)
        };
        // A product has 8 columns and 8 outputs of 32 points: 4 a modulus for the 256 points of a warp, half an instruction a point and modulus. Of 16
        // points there are 2 for 128.
        let least = match kernel.contains("without_products") {
            true => 0.0,
            false => products as f64 / 2.0,
        };
        assert!(of("tensor") >= least, "{kernel}: {}", of("tensor"));
        let has_doubles = kernel.ends_with("_conversions");
        assert_eq!(of("fp64") > 0.0, has_doubles, "{kernel}");
    }
}

#[test]
fn short_lines_take_hardly_more_instructions_a_point_than_long_ones() {
    let all = |kernel: &str| -> f64 {
        let pipes = of_a_point(kernel).unwrap_or_else(|| panic!("{kernel} was not counted"));
        pipes.iter().map(|(_, count)| count).sum()
    };
    let others = [
        RESIDUE_REAL_KERNELS,
        RESIDUE_SINGLE_KERNELS,
        RESIDUE_ADAPTIVE_KERNELS,
    ];
    for [long, of_512, of_256] in RESIDUE_SHORT_KERNELS.into_iter().chain(others) {
        for short in [of_512, of_256] {
            let ratio = all(short) / all(long);
            assert!(ratio < 1.05, "{short}: {ratio}");
        }
    }
}
