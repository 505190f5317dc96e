//! The table of counted instructions is that of the machine code, and says what the machine code must have.

use ozfft_kernels::instructions::of_a_point;
use ozfft_kernels::{RESIDUE_COUNTS, RESIDUE_IMAGE, RESIDUE_KERNELS, RESIDUE_VARIANTS};
use sha2::{Digest, Sha256};

#[test]
fn the_table_is_of_the_machine_code_that_is_committed() {
    let hash = Sha256::digest(RESIDUE_IMAGE);
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let table = include_str!("../src/step_instructions.csv");
    let recorded = table
        .lines()
        .find_map(|line| line.split("sha256 of ").nth(1));
    let recorded = recorded.and_then(|line| line.split(": ").nth(1));
    assert_eq!(recorded, Some(&*hash), "run crates/ozfft-kernels/count");
}

#[test]
fn every_kernel_multiplies_as_often_as_there_are_moduli() {
    let kernels = RESIDUE_KERNELS.map(|(_, kernel)| kernel);
    let products: usize = RESIDUE_COUNTS.iter().sum();
    for kernel in kernels.into_iter().chain(RESIDUE_VARIANTS) {
        let pipes = of_a_point(kernel).unwrap_or_else(|| panic!("{kernel} was not counted"));
        let of = |name: &str| {
            pipes
                .iter()
                .find(|(pipe, _)| *pipe == name)
                .map_or(0.0, |p| p.1)
        };
        // A product has 8 columns and 8 outputs of 32 points: 4 a modulus for the 256 points of a warp, half an instruction a point and modulus.
        let least = match kernel.contains("without_products") {
            true => 0.0,
            false => products as f64 / 2.0,
        };
        assert!(of("tensor") >= least, "{kernel}: {}", of("tensor"));
        let has_doubles = kernel.ends_with("_conversions");
        assert_eq!(of("fp64") > 0.0, has_doubles, "{kernel}");
    }
}
